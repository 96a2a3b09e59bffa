//! `partita modes`: whether an ensemble holds more than one answer.

use partita_app::{FoundModes, ModesInput, TextTable, default_budget};

use crate::args::ModesArgs;
use crate::compute::start_threads;
use crate::failure::Failure;
use crate::output::{check_outputs_beside, may_fill, print, print_json};
use crate::terminal::{Terminal, unless_interrupted};

pub(crate) fn modes(args: &ModesArgs) -> Result<(), Failure> {
    if let Some(folder) = &args.output {
        may_fill(folder, args.out.force)?;
        let inputs = [&args.ensemble];
        check_outputs_beside(folder, &FoundModes::FILES, None, inputs, args.out.force)?;
    }
    start_threads(&args.threads)?;
    let input = ModesInput {
        file: args.ensemble.clone(),
        read: args.read.options(default_budget()),
    };
    let found = input.find(&Terminal)?;
    if let Some(folder) = &args.output {
        found.write(folder)?;
    }
    if args.out.json {
        print_json(&found.to_json())?;
    } else {
        let mut table = TextTable::new(["mode", "share", "clusters", "base clusterings"]);
        for (at, mode) in found.modes.modes.iter().enumerate() {
            let names: Vec<&str> = mode
                .members
                .iter()
                .map(|&base| found.ensemble.bases()[base].name())
                .collect();
            let shown = if names.len() > 6 {
                format!("{}, … ({})", names[..5].join(", "), names.len())
            } else {
                names.join(", ")
            };
            let share = format!("{:.3}", mode.share);
            table.row([
                (at + 1).to_string(),
                share,
                mode.partition.live_clusters().to_string(),
                shown,
            ]);
        }
        print(&format!("{}\n{}\n", table.render(), found.sentence()))?;
    }
    unless_interrupted(|| "the modes are complete".into())
}
