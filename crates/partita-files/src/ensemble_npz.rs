//! Ensembles in NPZ: an array `labels` (objects × base clusterings, −1 = missing) that NumPy can read, and beside it
//! `ensemble.json` with all that is not a number.

use std::path::Path;

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble, Label};
use serde::{Deserialize, Serialize};

use crate::archive::Archive;
use crate::coded::Number;
use crate::ensemble::{EnsembleOptions, LoadedEnsemble, check_budget};
use crate::ensemble_binary::from_arrays;
use crate::error::FileError;
use crate::labels::{LabelColumn, Labels};
use crate::npz::{Npz, NpzWriter};
use crate::raw::RawArray;
use crate::whole::write_whole;

const META: &str = "ensemble.json";
const FORMAT: &str = "partita ensemble 1";
const LABELS: &str = "labels";
const TRUTH: &str = "truth";

#[derive(Debug, Serialize, Deserialize)]
struct Meta {
    format: String,
    bases: Vec<Base>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    truth: Option<Base>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    objects: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recipe: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Base {
    name: String,
    values: Vec<String>,
}

pub(crate) fn write(path: &Path, ensemble: &Ensemble, truth: Option<&LabelColumn>) -> Result<(), FileError> {
    let coded = truth.map(coded_truth);
    let base = |base: &BaseClustering| Base { name: base.name().into(), values: base.values().to_vec() };
    let (truth, truth_codes) = coded.unzip();
    let meta = Meta {
        format: FORMAT.into(),
        bases: ensemble.bases().iter().map(base).collect(),
        truth,
        objects: ensemble.object_names().map(<[String]>::to_vec),
        recipe: ensemble.recipe().map(str::to_owned),
    };
    let meta = serde_json::to_vec(&meta).expect("texts are JSON");
    let shape = [ensemble.objects(), ensemble.bases().len()];
    let labels = || (0..shape[0]).flat_map(|i| (0..shape[1]).map(move |u| ensemble.label(i, u)));
    let most = ensemble.bases().iter().map(BaseClustering::clusters).max().unwrap_or(0);
    write_whole(path, |out| {
        let mut archive = NpzWriter::new(out);
        match most {
            0..=128 => archive.array(LABELS, &shape, labels().map(|label| label.map_or(-1, |j| j as i8)))?,
            129..=32_768 => archive.array(LABELS, &shape, labels().map(|label| label.map_or(-1, |j| j as i16)))?,
            _ => archive.array(LABELS, &shape, labels().map(|label| label.map_or(-1, |j| j as i32)))?,
        }
        if let Some(codes) = truth_codes {
            archive.array(TRUTH, &shape[..1], codes)?;
        }
        archive.bytes(META, &meta)?;
        archive.finish()
    })
}

/// The truth as numbers and the texts they stand for.
fn coded_truth(truth: &LabelColumn) -> (Base, Vec<i32>) {
    let mut values: Vec<&String> = truth.values.iter().flatten().collect();
    values.sort_unstable();
    values.dedup();
    let code =
        |value: &Option<String>| value.as_ref().map_or(-1, |v| values.partition_point(|known| *known < v) as i32);
    let codes = truth.values.iter().map(code).collect();
    (Base { name: truth.name.clone(), values: values.into_iter().cloned().collect() }, codes)
}

pub(crate) fn read(path: &Path, options: &EnsembleOptions) -> Result<LoadedEnsemble, FileError> {
    let mut archive = Npz::open(path)?;
    let Some(meta) = archive.bytes(META)? else { return from_arrays(&mut archive, options) };
    let unfit = |reason: String| unfit(path, &reason);
    let meta = parsed(path, &meta)?;
    let labels = archive.array(LABELS)?.ok_or_else(|| unfit(format!("there is no array '{LABELS}'")))?;
    check_budget(path, options.budget, (labels.rows() * labels.columns()) as u64 * 3)?;
    let truth = meta.truth.map(|base| truth(path, &mut archive, base)).transpose()?;
    if truth.as_ref().is_some_and(|truth| truth.values.len() != labels.rows()) {
        return Err(unfit("the truth has another length than the labels".into()));
    }
    let bases: Vec<_> = meta.bases.into_iter().map(|base| BaseClustering::new(base.name, base.values)).collect();
    let rows = rows(&labels, &bases).ok_or_else(|| unfit(format!("'{LABELS}' does not fit {META}")))?;
    let wrong = |source| FileError::Ensemble { path: path.into(), source };
    let mut ensemble = Ensemble::from_words(rows, bases).map_err(wrong)?;
    if let Some(objects) = meta.objects {
        ensemble = ensemble.with_object_names(objects).map_err(wrong)?;
    }
    if let Some(recipe) = meta.recipe {
        ensemble = ensemble.with_recipe(recipe);
    }
    Ok(LoadedEnsemble { ensemble, truth })
}

/// Stored labels from numbers, if every number is one.
fn rows(labels: &RawArray, bases: &[BaseClustering]) -> Option<Array2<u16>> {
    if labels.columns() != bases.len() {
        return None;
    }
    let mut rows = Array2::from_elem((labels.rows(), bases.len()), u16::MISSING);
    for ((i, u), stored) in rows.indexed_iter_mut() {
        *stored = match labels.label(i, u)? {
            Number::Missing => continue,
            Number::Label(label) if label < bases[u].clusters() as u64 => u16::of(label as usize),
            _ => return None,
        };
    }
    Some(rows)
}

/// The truth of an ensemble of ours, if the archive is one and has a truth.
pub(crate) fn read_truth(path: &Path, archive: &mut Npz<'_>) -> Result<Option<Labels>, FileError> {
    let Some(meta) = archive.bytes(META)? else { return Ok(None) };
    let meta = parsed(path, &meta)?;
    let Some(base) = meta.truth else { return Ok(None) };
    let column = truth(path, archive, base)?;
    let object_names = meta.objects.filter(|objects| objects.len() == column.values.len());
    Ok(Some(Labels { object_names, column }))
}

fn parsed(path: &Path, meta: &[u8]) -> Result<Meta, FileError> {
    let meta: Meta =
        serde_json::from_slice(meta).map_err(|error| unfit(path, &format!("{META} is damaged ({error})")))?;
    if meta.format == FORMAT {
        return Ok(meta);
    }
    Err(unfit(path, &format!("the format is '{}', not '{FORMAT}'", meta.format)))
}

fn unfit(path: &Path, reason: &str) -> FileError {
    FileError::damaged(path, format!("{reason}; generate the ensemble again"))
}

fn truth(path: &Path, archive: &mut Npz<'_>, base: Base) -> Result<LabelColumn, FileError> {
    let codes = archive.array(TRUTH)?.ok_or_else(|| unfit(path, &format!("there is no array '{TRUTH}'")))?;
    decoded_truth(base, &codes).ok_or_else(|| unfit(path, "the truth has a class without a name"))
}

fn decoded_truth(base: Base, codes: &RawArray) -> Option<LabelColumn> {
    let value = |i: usize| match codes.label(i, 0)? {
        Number::Missing => Some(None),
        Number::Label(code) => Some(Some(base.values.get(usize::try_from(code).ok()?)?.clone())),
        Number::NoLabel => None,
    };
    let values: Vec<Option<String>> = (0..codes.rows()).map(value).collect::<Option<_>>()?;
    Some(LabelColumn { name: base.name, values })
}
