//! Base clusterings of a table, made in one go or kept in a part file as they are finished; part files and ensembles merged into one.

use std::path::Path;

use partita::extend::option;
use partita::files::{FileError, LabelColumn, ReadOptions};
use partita::generate::{
    Durable, Generated, Recipe, bytes, equal_rows, generate, generate_durable, is_part_file,
    merge_parts,
};
use partita::{Ensemble, MemoryBudget, Seed};
use serde::{Deserialize, Serialize};

use crate::error::AppError;
use crate::input::joined::load_ensembles;
use crate::input::table::InputTable;
use crate::observer::Observer;
use crate::seeds;

/// Nothing is said of base clusterings that take less memory.
const WORTH_KNOWING: u64 = 256 << 20;

/// What an ensemble says of its objects and base clusterings do not know; travels in part files.
#[derive(Default, Serialize, Deserialize)]
struct Note {
    objects: Option<Vec<String>>,
    label: Option<(String, Vec<Option<String>>)>,
    /// Objects with the same numbers.
    #[serde(default)]
    equal: Vec<Vec<u32>>,
}

/// An ensemble with the true labels of its objects, where they are known.
pub type Labelled = (Ensemble, Option<LabelColumn>);

/// A share of the objects held out: the ensemble of the others, and that of those, with their true labels. At least one object is in each.
///
/// # Errors
/// [`AppError`] for a share that is not between 0 and 1, and for fewer than two objects.
pub fn hold_out(
    ensemble: &Ensemble,
    label: Option<&LabelColumn>,
    share: f64,
    seed: Seed,
) -> Result<[Labelled; 2], AppError> {
    let objects = ensemble.objects();
    if !(share > 0.0 && share < 1.0) || objects < 2 {
        let flag = option("held-out-share");
        return Err(AppError::request(format!(
            "{share} of {objects} objects cannot be held out: {flag} is a share above 0 and below 1, of at least 2 objects"
        )));
    }
    let mut order: Vec<u32> = (0..objects as u32).collect();
    order.sort_by_key(|&object| seeds::held_out(seed).child(u64::from(object)).number());
    let kept = ((1.0 - share) * objects as f64).floor() as usize;
    let rest = order.split_off(kept.clamp(1, objects - 1));
    let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
    let part = |mut part: Vec<u32>| {
        part.sort_unstable();
        let label = label.map(|label| LabelColumn {
            name: label.name.clone(),
            values: part
                .iter()
                .map(|&i| label.values[i as usize].clone())
                .collect(),
        });
        (ensemble.select(&part, &bases), label)
    };
    Ok([part(order), part(rest)])
}

/// Makes the base clusterings of a table. Where `durable` names a part file, each is kept there once it is finished, and the file gets
/// the names of the objects and their true labels, for [`merge_files`]. Objects with the same numbers have the same labels.
///
/// # Errors
/// [`AppError::Generate`] for a recipe that cannot be followed, too little memory, or a part file of other work.
///
/// # Cost
/// That of the recipe's base clusterers.
pub fn make_ensemble(
    table: &InputTable<'_>,
    recipe: &Recipe,
    seed: Seed,
    durable: Option<&Durable>,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<Generated, AppError> {
    let (values, needed) = (table.view(), bytes(recipe, &table.view()));
    if needed > WORTH_KNOWING && needed <= budget.bytes() {
        observer.note(&format!(
            "{} base clusterings will take up to {}",
            recipe.runs(),
            MemoryBudget::new(needed)
        ));
    }
    let monitor = observer.begin("base clusterings");
    let equal = equal_rows(&values);
    let made = match durable {
        Some(durable) => {
            let mut durable = durable.clone();
            durable.note = note(table, &equal)?;
            generate_durable(values, recipe, seed, &durable, budget, &*monitor)?
        }
        None => generate(values, recipe, seed, budget, &*monitor)?,
    };
    let mut made = made.with_equal_rows(&equal)?;
    if let Some(names) = table.object_names() {
        made.ensemble = made.ensemble.with_object_names(names.clone())?;
    }
    Ok(made)
}

fn note(table: &InputTable<'_>, equal: &[Vec<u32>]) -> Result<String, AppError> {
    let label = table
        .label()
        .map(|label| (label.name.clone(), label.values.clone()));
    let note = serde_json::to_string(&Note {
        objects: table.object_names().cloned(),
        label,
        equal: equal.to_vec(),
    });
    note.map_err(|error| AppError::request(format!("names and labels cannot be kept: {error}")))
}

/// A share of a job, `I/OF` with I from 1, as its index from 0 and of how many.
///
/// # Errors
/// A text that says how to write it.
pub fn parse_part(text: &str) -> Result<(u32, u32), String> {
    let numbers = text
        .split_once('/')
        .and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
    match numbers {
        Some((index, of)) if (1..=of).contains(&index) => Ok((index - 1, of)),
        _ => Err("write which part of how many, such as 2/4".into()),
    }
}

/// One ensemble of several files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Merged {
    /// All base clusterings.
    pub ensemble: Ensemble,
    /// The true labels, where the files have them.
    pub truth: Option<LabelColumn>,
    /// How many base clusterings the recipe asks for, where the files are parts of one job.
    pub asked: Option<usize>,
}

impl Merged {
    /// What was merged, as a line.
    pub fn sentence(&self) -> String {
        let (objects, bases) = (self.ensemble.objects(), self.ensemble.bases().len());
        let of = self
            .asked
            .map_or_else(String::new, |asked| format!(" of {asked}"));
        format!("{bases}{of} base clusterings of {objects} objects")
    }
}

/// One ensemble of part files of one job (`partita generate --part`, or what a run that was cut short has finished), or of ensembles and
/// files of labels, whose base clusterings stand side by side as [`load_ensembles`] puts them.
///
/// # Errors
/// [`AppError::Generate`] for part files that are damaged or of several jobs; as [`load_ensembles`] for others; [`AppError::Content`] where
/// the files are of both kinds.
pub fn merge_files(
    files: &[&Path],
    read: &ReadOptions,
    observer: &dyn Observer,
) -> Result<Merged, AppError> {
    let parts = files.iter().filter(|file| is_part_file(file)).count();
    if parts == 0 {
        let (loaded, _) = load_ensembles(files, read, observer).map_err(unknown_file)?;
        return Ok(Merged {
            ensemble: loaded.ensemble,
            truth: loaded.truth,
            asked: None,
        });
    }
    if let (Some(other), true) = (files.iter().find(|file| !is_part_file(file)), parts > 0) {
        let reason = "is no part of a job, and other files are; merge the parts first, then their ensemble with this";
        return Err(AppError::content(other, reason));
    }
    merged_parts(files)
}

/// A file that is neither an ensemble nor a part file.
fn unknown_file(error: AppError) -> AppError {
    match error {
        AppError::File(FileError::Extension { path, known }) => {
            let parts = "nor does it begin as a part file does";
            AppError::content(
                &path,
                format!("no ensemble, whose name ends in {known}, {parts}; make it again"),
            )
        }
        other => other,
    }
}

fn merged_parts(files: &[&Path]) -> Result<Merged, AppError> {
    let (made, note) = merge_parts(files)?;
    let altered = |what: &str| AppError::content(files[0], format!("{what}; make it again"));
    // A part file without words is of a table without names.
    let note: Note = match &*note {
        "" => Note::default(),
        text => serde_json::from_str(text).map_err(|_| altered("another program wrote this"))?,
    };
    let objects = made.ensemble.objects() as u32;
    if note.equal.iter().flatten().any(|&object| object >= objects) {
        return Err(altered("was altered"));
    }
    let Generated {
        mut ensemble,
        asked,
        ..
    } = made.with_equal_rows(&note.equal)?;
    if let Some(names) = note.objects {
        ensemble = ensemble.with_object_names(names)?;
    }
    let truth = note
        .label
        .map(|(name, values)| LabelColumn { name, values });
    if truth
        .as_ref()
        .is_some_and(|truth| truth.values.len() != ensemble.objects())
    {
        return Err(altered("was altered"));
    }
    Ok(Merged {
        ensemble,
        truth,
        asked: Some(asked),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::EnsembleBuilder;

    #[test]
    fn parts_count_from_one() {
        assert_eq!(parse_part("2/4"), Ok((1, 4)));
        assert!(
            ["0/4", "5/4", "2", "a/b", "-1/3"]
                .iter()
                .all(|text| parse_part(text).is_err())
        );
    }

    /// Every object is in one of the two; a share that is none is refused.
    #[test]
    fn a_share_of_the_objects_is_held_out() {
        let mut builder = EnsembleBuilder::new(40);
        builder.push("a", (0..40).map(Some)).unwrap();
        let ensemble = builder.finish().unwrap();
        let [(kept, _), (rest, _)] = hold_out(&ensemble, None, 0.25, Seed::new(1)).unwrap();
        assert_eq!((kept.objects(), rest.objects()), (30, 10));
        let both = kept.column(0).chain(rest.column(0)).flatten();
        let mut all: Vec<usize> = both.collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..40));
        for share in [0.0, 1.0, f64::NAN] {
            assert!(hold_out(&ensemble, None, share, Seed::new(1)).is_err());
        }
    }
}
