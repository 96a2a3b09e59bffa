//! `partita test`: which clusters are real.

use partita_app::{ClusterTestInput, file_and_column};

use crate::args::TestArgs;
use crate::compute::Compute;
use crate::failure::Failure;
use crate::output::{answer, check_outputs};
use crate::terminal::{Terminal, unless_interrupted};

pub(crate) fn test(args: &TestArgs) -> Result<(), Failure> {
    let labels = file_and_column(&args.labels).0;
    let inputs = [Some(&labels), args.table.as_ref()];
    let outputs = [args.output.as_ref(), args.tree.as_ref()];
    check_outputs(
        outputs.into_iter().flatten(),
        inputs.into_iter().flatten(),
        args.out.force,
    )?;
    let compute = Compute::start(&args.compute)?;
    let mut input = ClusterTestInput {
        labels: args.labels.clone(),
        table: args
            .read
            .input(args.table.as_deref().unwrap_or("".as_ref())),
        scale: args.scale,
        common: args.common,
        seed: compute.seed,
        budget: compute.budget,
        ..ClusterTestInput::default()
    };
    input.settings.alpha = args.alpha;
    input.settings.halvings = args.halvings;
    input.settings.merge_small = args.merge_small;
    let found = input.test(&Terminal)?;
    if let Some(path) = &args.output {
        found.write_labels(path)?;
    }
    if let Some(path) = &args.tree {
        found.write_tree(path)?;
    }
    answer(args.out.json, &found.to_json(), &found.to_text())?;
    unless_interrupted(|| "the test is complete".into())
}
