//! `partita synth`: tables with known clusters.

use partita::files::{self, SynthSettings};
use partita::{Seed, SettingMap};

use crate::args::SynthArgs;
use crate::failure::Failure;
use crate::output::{check_outputs, say};

pub(crate) fn synth(args: &SynthArgs) -> Result<(), Failure> {
    check_outputs([Some(&args.output), args.soft.as_ref()].into_iter().flatten(), &[], args.force)?;
    let settings: SynthSettings = SettingMap::parse(&args.set)?.apply()?;
    let made = files::synthesise(&args.name, args.objects, Seed::new(args.seed), &settings)
        .map_err(|error| Failure::input(error.to_string()))?;
    if let Some(path) = &args.soft {
        let soft = made.soft.as_ref().ok_or_else(|| {
            Failure::input(format!("'{}' is not a mixture and has no true probabilities; leave --soft out", args.name))
        })?;
        files::write_soft(path, None, soft)?;
    }
    files::write_table(&args.output, &made.table)?;
    say(&format!("{} objects are in {}", made.table.values.nrows(), args.output.display()));
    Ok(())
}
