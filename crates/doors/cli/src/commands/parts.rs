//! `partita distributed plan`, `run`, `merge`: one consensus by many tasks that share files.

use std::path::Path;

use partita::extend::SettingMap;
use partita::files::{Manifest, ManifestRows};
use partita::{MemoryBudget, Silent};
use partita_distributed::{Fold, Folded, KeptRows, PartDone, PartTask, PlanAsked, Stage, Waiting};
use serde_json::json;

use crate::args::{
    FoldArgs, MachineArgs, ManifestArgs, PartsAsked, PassArgs, arguments, weight_source,
};
use crate::compute::start_threads;
use crate::failure::Failure;
use crate::output::{answer, check_outputs, print_json, say, warn};
use crate::terminal::{Terminal, unless_interrupted};

fn start(machine: &MachineArgs) -> Result<MemoryBudget, Failure> {
    start_threads(&machine.threads)?;
    Ok(machine.budget())
}

pub(crate) fn plan(args: &ManifestArgs) -> Result<(), Failure> {
    check_outputs([&args.output], &args.files, args.force)?;
    let budget = start(&args.machine)?;
    if args.rows_per_part == 0 {
        return Err(Failure::input(
            "--rows-per-part is 0; a part has at least one row",
        ));
    }
    let folder = args.output.parent().unwrap_or(Path::new(""));
    let mut options = args.read.options(budget);
    options.data.clone_from(&args.columns);
    let (manifest, notes) = Manifest::of(&args.files, folder, &options, args.rows_per_part)?;
    notes.iter().for_each(|note| say(&format!("note: {note}")));
    manifest.write(&args.output)?;
    say(&format!(
        "{}: {} objects × {} base clusterings in {} files; parts: 0 to {}",
        args.output.display(),
        manifest.rows,
        manifest.bases.len(),
        manifest.files.len(),
        manifest.parts.len() - 1
    ));
    Ok(())
}

pub(crate) fn run_parts(args: &PassArgs) -> Result<(), Failure> {
    let budget = start(&args.machine)?;
    let last = match args.part.last {
        Some(last) => last,
        None => {
            ManifestRows::open(&args.manifest, budget)?
                .manifest()
                .parts
                .len()
                - 1
        }
    };
    let PartsAsked { first, .. } = args.part;
    if args.output.is_some() && first != last {
        return Err(Failure::input("-o names one file; give it with one part"));
    }
    for part in first..=last {
        let (manifest, job, output) =
            (args.manifest.clone(), args.job.clone(), args.output.clone());
        let task = PartTask {
            manifest,
            job,
            part,
            output,
            replace: args.force,
            budget,
            kept: KeptRows::Nowhere,
        };
        match task.run(&Terminal)? {
            PartDone::Written(path) => say(&format!("part {part}: {}", path.display())),
            PartDone::There(path) => say(&format!(
                "note: part {part} was done before: {}",
                path.display()
            )),
        }
        unless_interrupted(|| "parts that were finished are kept".into())?;
    }
    Ok(())
}

pub(crate) fn merge_parts(args: &FoldArgs) -> Result<(), Failure> {
    let budget = start(&args.machine)?;
    let settings = (!args.set.is_empty())
        .then(|| SettingMap::parse(&args.set))
        .transpose()?;
    let asked = PlanAsked {
        method: args.method.clone(),
        settings,
        clusters: args.clusters,
        seed: args.seed,
        base_weights: weight_source(args.base_weights.as_deref()),
        labels: args.labels,
    };
    let fold = Fold {
        manifest: args.manifest.clone(),
        folder: args.output.clone(),
        sums: args.sums.clone(),
        asked,
        report: !args.no_report,
        budget,
        arguments: arguments(),
    };
    // A fit that is replayed does not stop halfway: another number of rounds would be another fit.
    let folded = fold.run(&Silent)?;
    unless_interrupted(|| "what was folded is kept".into())?;
    match folded {
        Stage::Waiting(waiting) => next(&waiting, &args.manifest, args.json),
        Stage::Done(Folded { record, labels }) => {
            let folder = args.output.display();
            say(&format!(
                "{folder}: {} clusters; labels in {} files, record.json",
                record.methods[0].clusters,
                labels.len()
            ));
            if args.json {
                let labels: Vec<_> = labels
                    .iter()
                    .map(|file| file.display().to_string())
                    .collect();
                print_json(&json!({ "done": true, "labels": labels, "record": record }))
            } else {
                Ok(())
            }
        }
    }
}

/// Says what workers have to do with the parts of a manifest.
pub(crate) fn next(waiting: &Waiting, manifest: &Path, as_json: bool) -> Result<(), Failure> {
    let round = &waiting.round;
    let job = waiting.job.display();
    if waiting.missing.len() < waiting.parts {
        warn(&format!(
            "{round} lacks {}; run `partita distributed run` for them",
            waiting.missing_text()
        ));
    } else {
        let manifest = manifest.display();
        let last = waiting.parts - 1;
        say(&format!(
            "next is {round}: partita distributed run {manifest} --job {job} for the parts 0 to {last}"
        ));
    }
    answer(as_json, &waiting.to_json(), &format!("{job}\n"))
}
