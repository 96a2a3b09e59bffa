//! Ensembles from arrays.

use std::path::Path;

use partita_core::BaseClustering;

use crate::archive::{self, Archive, first_of, main_array};
use crate::coded::{Coded, Number, numeric_base};
use crate::ensemble::{EnsembleOptions, LoadedEnsemble, Role, assemble, check_budget, roles};
use crate::error::{FileError, Row};
use crate::input::Format;
use crate::labels_binary::{TRUTHS, column_of};
use crate::raw::RawArray;

/// What the base clusterings may be called in an archive, objects × base clusterings.
const MEMBERS: [&str; 3] = ["labels", "members", "ensemble"];

pub(crate) fn read(path: &Path, options: &EnsembleOptions) -> Result<LoadedEnsemble, FileError> {
    let format = Format::of(path)?;
    from_arrays(&mut *archive::open(path, format)?, options)
}

/// The ensemble in an archive of plain arrays.
pub(crate) fn from_arrays(archive: &mut dyn Archive, options: &EnsembleOptions) -> Result<LoadedEnsemble, FileError> {
    let path = archive.path().to_path_buf();
    let members = main_array(archive, &MEMBERS)?;
    check_budget(&path, options.budget, (members.rows() * members.columns()) as u64 * 4)?;
    let asked = options.truth.as_deref().filter(|name| archive.arrays().iter().any(|found| found == name));
    let truth = match asked {
        Some(name) => archive.array(name)?,
        None if options.truth.is_some() => None,
        None => first_of(archive, &TRUTHS)?,
    };
    // The whole list of names is the one the truth is looked for in, unless it is an array of its own.
    let options = if asked.is_some() { &EnsembleOptions { truth: None, ..options.clone() } } else { options };
    let names: Vec<String> = (1..=members.columns()).map(|position| position.to_string()).collect();
    let roles = roles(&path, &names, options)?;
    let mut loaded = LoadedEnsemble { ensemble: ensemble_of(&path, &members, &names, &roles)?, truth: None };
    if let Some(at) = roles.iter().position(|role| *role == Role::Truth) {
        let mut column = Coded::default();
        (0..members.rows()).for_each(|row| column.push(&members.text(row, at), Row::Row(row as u64 + 1)));
        loaded.truth = Some(column.column("label"));
    }
    if let Some(truth) = truth {
        loaded.truth = Some(column_of(&path, &truth, "label", Some(members.rows()))?);
    }
    Ok(loaded)
}

fn ensemble_of(
    path: &Path,
    members: &RawArray,
    names: &[String],
    roles: &[Role],
) -> Result<partita_core::Ensemble, FileError> {
    let bases = (0..members.columns()).filter(|&column| roles[column] == Role::Base);
    let bases = bases.map(|column| base_of(path, members, column, &names[column])).collect::<Result<_, _>>()?;
    assemble(path, members.rows(), bases)
}

fn base_of(
    path: &Path,
    members: &RawArray,
    column: usize,
    name: &str,
) -> Result<(BaseClustering, Vec<u16>), FileError> {
    let numbers: Option<Vec<Number>> = (0..members.rows()).map(|row| members.label(row, column)).collect();
    if let Some(numbers) = numbers {
        return numeric_base(path, name, &numbers, |row| members.text(row, column));
    }
    let mut labels = Coded::default();
    (0..members.rows()).for_each(|row| labels.push(&members.text(row, column), Row::Row(row as u64 + 1)));
    labels.base(path, name)
}
