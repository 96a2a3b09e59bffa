//! `partita align`: many runs in common columns and colours.

use std::path::Path;

use partita::files::write_ensemble;
use partita_app::{AlignInput, AlignedRuns, default_budget, file_and_column};

use crate::args::AlignArgs;
use crate::compute::start_threads;
use crate::failure::Failure;
use crate::output::{check_outputs_beside, may_fill, print, print_json, say};
use crate::terminal::{Terminal, unless_interrupted};

pub(crate) fn align(args: &AlignArgs) -> Result<(), Failure> {
    may_fill(&args.output, args.out.force)?;
    check_outputs_beside(
        &args.output,
        &AlignedRuns::FILES,
        &args.ensemble,
        args.runs.iter().chain(&args.populations),
        args.out.force,
    )?;
    start_threads(&args.threads)?;
    let read = args.read.options(default_budget());
    let of_file = |given: &Path| {
        let (file, column) = file_and_column(given);
        let mut options = read.clone();
        options.truth = column.into();
        (file, options)
    };
    let populations = args.populations.as_deref().map(of_file);
    let input = AlignInput {
        files: args.runs.clone(),
        read: read.clone(),
        similarity: args.similarity,
        populations,
    };
    let found = input.align(&Terminal)?;
    found.write(&args.output)?;
    if let Some(file) = &args.ensemble {
        write_ensemble(file, &found.ensemble()?, None)?;
    }
    if args.out.json {
        print_json(&found.to_json())?;
    } else {
        print(&format!("{}\n", found.sentence()))?;
        let runs = match found.runs.len() {
            1 => "1 run in common columns is".to_owned(),
            runs => format!("{runs} runs in common columns are"),
        };
        say(&format!("{runs} in {}", args.output.display()));
    }
    unless_interrupted(|| "everything is written".into())
}
