//! `partita generate` and `partita merge`: a table in, an ensemble out, in one go or in parts.

use std::path::{Path, PathBuf};

use partita::files;
use partita::generate::{Durable, Recipe};
use partita::{Clusters, Ensemble, Seed};
use serde_json::json;

use partita_app::{
    InputTable, Observer, ReadOptions, Stopwatch, VERSION, default_budget, hold_out, make_ensemble,
    merge_files,
};

use crate::args::{GenerateArgs, MergeArgs, recipe};
use crate::compute::Compute;
use crate::failure::Failure;
use crate::output::{check_outputs, print_json, say};
use crate::terminal::{Terminal, unless_interrupted};

pub(crate) fn generate(args: &GenerateArgs) -> Result<(), Failure> {
    let clusters = args
        .clusters
        .map(|clusters| Clusters::Exactly(clusters.get()));
    let mut compute = Compute::start(&args.compute)?;
    let (recipe, seed) = recipe(&args.recipe, clusters, args.table.input().usual_preset())?;
    if let (None, Some(seed)) = (args.compute.seed, seed) {
        compute.seed = seed;
    }
    if args.resume && args.part.is_none() && args.output.exists() {
        return nothing_left(args, &recipe, seed);
    }
    check_outputs(
        [&args.output].into_iter().chain(&args.held_out),
        [&args.table.table],
        args.out.force || args.resume,
    )?;
    let durable = part_file(args)?;
    let table = InputTable::read(&args.table.input(), compute.budget, compute.seed, &Terminal)?;
    for warning in [table.label_warning(), table.scale_warning(recipe.scale)]
        .into_iter()
        .flatten()
    {
        Terminal.warn(&format!("{}: {warning}", args.table.table.display()));
    }
    let stopwatch = Stopwatch::start();
    let made = make_ensemble(
        &table,
        &recipe,
        compute.seed,
        Some(&durable),
        compute.budget,
        &Terminal,
    )?;
    let (finished, asked, path) = (made.finished, made.asked, args.output.display());
    let part = durable.path.display();
    unless_interrupted(|| {
        format!(
            "{finished} of {asked} base clusterings are kept in {part}; the same command with --resume makes the others"
        )
    })?;
    if args.part.is_none() {
        write(args, &made.ensemble, table.label(), compute.seed)?;
        std::fs::remove_file(&durable.path)
            .map_err(|error| Failure::io(&durable.path, "be removed", error))?;
    }
    let resumed = if made.resumed > 0 {
        format!(", {} of them from before", made.resumed)
    } else {
        String::new()
    };
    say(&format!(
        "{finished} base clusterings of {} objects are in {path}{resumed}",
        made.ensemble.objects()
    ));
    if args.out.json {
        print_json(&json!({
            "n": made.ensemble.objects(),
            "base_clusterings": finished,
            "resumed": made.resumed,
            "seed": compute.seed.number(),
            "recipe": recipe,
            "spent": stopwatch.read(),
            "version": VERSION,
        }))?;
    }
    Ok(())
}

/// The ensemble, or its two parts where objects are held out.
fn write(
    args: &GenerateArgs,
    ensemble: &Ensemble,
    label: Option<&files::LabelColumn>,
    seed: Seed,
) -> Result<(), Failure> {
    let Some(held_out) = &args.held_out else {
        return Ok(files::write_ensemble(&args.output, ensemble, label)?);
    };
    let [(kept, label), (rest, other)] = hold_out(ensemble, label, args.held_out_share, seed)?;
    files::write_ensemble(&args.output, &kept, label.as_ref())?;
    files::write_ensemble(held_out, &rest, other.as_ref())?;
    say(&format!(
        "{} has the {} objects that are held out, {} the other {}",
        held_out.display(),
        rest.objects(),
        args.output.display(),
        kept.objects()
    ));
    Ok(())
}

/// The file that keeps finished base clusterings, made way for where the flags say so.
fn part_file(args: &GenerateArgs) -> Result<Durable, Failure> {
    let path = if args.part.is_some() {
        args.output.clone()
    } else {
        beside(&args.output)
    };
    let here = path.display();
    if path.exists() && args.out.force {
        std::fs::remove_file(&path).map_err(|error| Failure::io(&path, "be removed", error))?;
    } else if path.exists() && !args.resume {
        let kept = "holds what a run that was cut short has finished";
        return Err(Failure::input(format!(
            "{here}: {kept}; go on with --resume, or start again with --force"
        )));
    }
    let mut durable = Durable::new(&path);
    // A run that was killed before it made the file starts like any other.
    durable.resume = path.exists();
    durable.part = args.part.unwrap_or(durable.part);
    Ok(durable)
}

fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// `--resume` of a run that was finished: the ensemble must be the one that was asked for.
fn nothing_left(args: &GenerateArgs, recipe: &Recipe, seed: Option<Seed>) -> Result<(), Failure> {
    let loaded = files::read_ensemble(
        &args.output,
        &ReadOptions::default().within(default_budget()),
    )?;
    let path = args.output.display();
    let asked = args.compute.seed.map(Seed::new);
    let seed = asked.or(seed).unwrap_or(Seed::new(0));
    if loaded.ensemble.recipe() != Some(recipe.to_json(seed).as_str()) {
        return Err(Failure::input(format!(
            "{path}: is an ensemble of another recipe or seed; name another file"
        )));
    }
    // Killed between writing the ensemble and removing the part file.
    let part = beside(&args.output);
    if part.exists() {
        std::fs::remove_file(&part).map_err(|error| Failure::io(&part, "be removed", error))?;
    }
    say(&format!("{path} is finished; there is nothing left to do"));
    Ok(())
}

pub(crate) fn merge(args: &MergeArgs) -> Result<(), Failure> {
    let inputs: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    check_outputs([&args.output], &inputs, args.out.force)?;
    let merged = merge_files(&inputs, &args.read.options(default_budget()), &Terminal)?;
    files::write_ensemble(&args.output, &merged.ensemble, merged.truth.as_ref())?;
    say(&format!(
        "{} are in {}",
        merged.sentence(),
        args.output.display()
    ));
    if args.out.json {
        let (objects, made) = (merged.ensemble.objects(), merged.ensemble.bases().len());
        print_json(
            &json!({ "n": objects, "base_clusterings": made, "asked": merged.asked, "version": VERSION }),
        )?;
    }
    Ok(())
}
