//! `partita update`: base clusterings or objects are added to an ensemble.

use std::path::{Path, PathBuf};

use partita::files::{self, LabelFormat};
use partita::metrics::object_agreement;
use partita_app::{UpdateInput, Updated, default_budget, label_numbers, numbers_of};

use crate::args::UpdateArgs;
use crate::compute::start_threads;
use crate::failure::Failure;
use crate::output::{check_outputs, print_json, say};
use crate::terminal::{Terminal, unless_interrupted};

pub(crate) fn update(args: &UpdateArgs) -> Result<(), Failure> {
    let target = check_places(args)?;
    start_threads(&args.threads)?;
    let input = UpdateInput {
        ensemble: args.ensemble.clone(),
        add: args.add.clone(),
        read: args.read.options(default_budget()),
        adding: args.adding,
        overlap: args.overlap.clone(),
        warm_start: args.warm_start.clone(),
    };
    let updated = input.update(&Terminal)?;
    files::write_as_one(|| Ok(()), || write(args, target, &updated))?;
    say(&updated.sentence());
    if args.out.json {
        print_json(&updated.to_json())?;
    }
    unless_interrupted(|| "the ensemble is written".into())
}

/// Where the ensemble goes; refuses places that cannot be written to before anything is read.
fn check_places(args: &UpdateArgs) -> Result<&Path, Failure> {
    let here = args.ensemble.display();
    if args.output.is_none() && !args.out.force {
        return Err(Failure::input(format!(
            "{here}: would be replaced; name another place with -o, or give --force"
        )));
    }
    let read = [&args.ensemble, &args.add];
    let inputs: Vec<&PathBuf> = read.into_iter().chain(&args.warm_start).collect();
    let outputs = args.output.iter().chain(&args.labels);
    check_outputs(outputs, &inputs, args.out.force)?;
    args.labels.as_deref().map(LabelFormat::of).transpose()?;
    // The overlap table is an input too, and is replaced.
    check_outputs(args.overlap.as_ref(), &inputs, true)?;
    Ok(args.output.as_deref().unwrap_or(&args.ensemble))
}

fn write(args: &UpdateArgs, target: &Path, updated: &Updated) -> Result<(), Failure> {
    files::write_ensemble(target, &updated.ensemble, updated.truth.as_ref())?;
    if let (Some(path), Some(table)) = (&args.overlap, &updated.overlap) {
        table.write(path)?;
    }
    if let (Some(path), Some(outcome)) = (&args.labels, &updated.consensus) {
        let agreement = object_agreement(&updated.ensemble, &outcome.partition)
            .map_err(|error| Failure::input(error.to_string()))?;
        let probability = outcome.probability();
        let names = label_numbers(probability.is_some()).iter().copied();
        let numbers = numbers_of(&agreement, probability.as_deref());
        let numbers: Vec<_> = names.zip(numbers).collect();
        files::write_labels(
            path,
            updated.ensemble.object_names(),
            outcome.partition.labels(),
            &numbers,
        )?;
    }
    Ok(())
}
