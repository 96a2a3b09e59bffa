//! `partita synth`: tables with known clusters.

use std::path::Path;

use partita::Seed;
use partita::extend::SettingMap;
use partita::files::{self, LabelColumn, Table};
use partita::synth::{Family, SynthSettings, Synthetic, draw_ensemble, families, synthesise};

use crate::args::SynthArgs;
use crate::failure::Failure;
use crate::output::{check_outputs, print, say};

pub(crate) fn synth(args: &SynthArgs) -> Result<(), Failure> {
    let (Some(name), Some(output)) = (&args.name, &args.output) else {
        return print(&list());
    };
    let outputs = [output].into_iter().chain(&args.soft).chain(&args.ensemble);
    check_outputs(outputs, None::<&Path>, args.force)?;
    let settings: SynthSettings = SettingMap::parse(&args.set)?.apply()?;
    let usual = families()
        .find(|family| family.name == name)
        .map_or(1, |family| family.objects);
    let made = synthesise(
        name,
        args.objects.unwrap_or(usual),
        Seed::new(args.seed),
        &settings,
    )
    .map_err(|error| Failure::input(error.to_string()))?;
    let soft = |flag: &str| {
        made.soft.as_ref().ok_or_else(|| {
            Failure::input(format!(
                "'{name}' is not a mixture and has no true probabilities; leave {flag} out"
            ))
        })
    };
    if let Some(path) = &args.soft {
        files::write_soft(path, None, soft("--soft")?.rows())?;
    }
    if let Some(path) = &args.ensemble {
        let seed = Seed::new(args.seed).child(DRAWS);
        let drawn = draw_ensemble(soft("--ensemble")?, args.draws as usize, seed);
        let drawn = drawn.map_err(|error| Failure::input(error.to_string()))?;
        files::write_ensemble(path, &drawn, None)?;
    }
    let table = table(made);
    files::write_table(output, &table)?;
    say(&format!(
        "{} objects are in {}",
        table.values.nrows(),
        output.display()
    ));
    Ok(())
}

/// The child of the seed that draws base clusterings: points are drawn from the seed itself and its first children.
const DRAWS: u64 = u64::MAX;

/// The points with their clusters as a column `label`.
fn table(made: Synthetic) -> Table {
    let values = made
        .labels
        .iter()
        .map(|label| label.map(|label| label.to_string()))
        .collect();
    let label = Some(LabelColumn {
        name: "label".into(),
        values,
    });
    Table {
        columns: made.columns,
        values: made.values,
        object_names: None,
        label,
        gaps: Vec::new(),
    }
}

/// All families, by group.
fn list() -> String {
    let mut all: Vec<&Family> = families().collect();
    all.sort_by_key(|family| family.group);
    let line = |family: &Family| {
        format!(
            "{:<20} {:<16} {:>6}  {}\n",
            family.name,
            family.group.name(),
            family.objects,
            family.about
        )
    };
    let heading = format!("{:<20} {:<16} {:>6}  {}\n", "family", "group", "n", "what");
    all.into_iter()
        .fold(heading, |text, family| text + &line(family))
}
