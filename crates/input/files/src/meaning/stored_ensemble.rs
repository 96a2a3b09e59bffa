//! Ensembles of ours in NPZ: an array `labels` (objects × base clusterings, −1 = missing) that NumPy can read, and beside
//! it `ensemble.json` with all that is not a number.

use std::path::Path;

use partita_core::{BaseClustering, Ensemble, Memberships, option};
use serde::{Deserialize, Serialize};

use super::frame::Place;
use super::label_column::{self, LabelColumn};
use super::label_rows::{self, EncodedBase, EncodedItems, MOST_BYTE_CLUSTERS};
use super::read_options::{ReadOptions, Truth};
use super::roles::{ColumnRole, Reason, Role, Roles};
use crate::error::{FileError, Result};
use crate::format::reader::{Column, Form, Limit, Reader, first_of};
use crate::format::writer::{Array, Contents, Elements};
use crate::label_encoder::{Encoded, Labels};
use crate::label_number::LabelNumber;
use crate::typed_array::{Scalar, TypedArray};

/// The member that says how the arrays are meant.
pub(crate) const META: &str = "ensemble.json";
const FORMAT: &str = "partita ensemble 1";
const LABELS: &str = "labels";
const TRUTH: &str = "truth";
/// The shares of a soft ensemble as sparse rows (CSR): where the entries of each object start, the base cluster of each entry
/// (those of all base clusterings numbered through), and the share.
const SHARE_STARTS: &str = "share_starts";
const SHARE_CLUSTERS: &str = "share_clusters";
const SHARES: &str = "shares";

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

/// An ensemble as arrays.
pub(crate) fn contents<'a>(ensemble: &'a Ensemble, truth: Option<&LabelColumn>) -> Contents<'a> {
    let base = |base: &BaseClustering| Base {
        name: base.name().into(),
        values: base.values().to_vec(),
    };
    let (truth, truth_codes) = truth.map(coded_truth).unzip();
    let meta = Meta {
        format: FORMAT.into(),
        bases: ensemble.bases().iter().map(base).collect(),
        truth,
        objects: ensemble.object_names().map(<[String]>::to_vec),
        recipe: ensemble.recipe().map(str::to_owned),
    };
    let meta = serde_json::to_vec(&meta).expect("texts are JSON");
    let shape = [ensemble.objects(), ensemble.bases().len()];
    let labels = (0..shape[0]).flat_map(move |i| (0..shape[1]).map(move |u| ensemble.label(i, u)));
    let most = ensemble
        .bases()
        .iter()
        .map(BaseClustering::clusters)
        .max()
        .unwrap_or(0);
    let elements = match most {
        0..=128 => Elements::I8(Box::new(labels.map(|label| label.map_or(-1, |j| j as i8)))),
        129..=32_768 => Elements::I16(Box::new(labels.map(|label| label.map_or(-1, |j| j as i16)))),
        _ => Elements::I32(Box::new(labels.map(|label| label.map_or(-1, |j| j as i32)))),
    };
    let mut arrays = vec![(LABELS, Array::new(shape, elements))];
    if let Some(soft) = ensemble.memberships() {
        let (starts, clusters, shares) = soft.parts();
        let starts = starts.iter().map(|&start| start as i64);
        let clusters = clusters.iter().map(|&cluster| i64::from(cluster));
        arrays.push((
            SHARE_STARTS,
            Array::new([soft.objects() + 1], Elements::I64(Box::new(starts))),
        ));
        arrays.push((
            SHARE_CLUSTERS,
            Array::new([soft.len()], Elements::I64(Box::new(clusters))),
        ));
        arrays.push((SHARES, Array::floats([soft.len()], shares.iter().copied())));
    }
    if let Some(codes) = truth_codes {
        arrays.push((
            TRUTH,
            Array::new([shape[0]], Elements::I32(Box::new(codes.into_iter()))),
        ));
    }
    arrays.push((META, Array::bytes(meta)));
    Contents::Arrays(arrays)
}

/// The truth as numbers and the texts they stand for.
fn coded_truth(truth: &LabelColumn) -> (Base, Vec<i32>) {
    let mut values: Vec<&String> = truth.values.iter().flatten().collect();
    values.sort_unstable();
    values.dedup();
    let code = |value: &Option<String>| {
        value
            .as_ref()
            .map_or(-1, |v| values.partition_point(|known| *known < v) as i32)
    };
    let codes = truth.values.iter().map(code).collect();
    (
        Base {
            name: truth.name.clone(),
            values: values.into_iter().cloned().collect(),
        },
        codes,
    )
}

/// The ensemble that `meta` describes.
pub(crate) fn read(
    reader: &dyn Reader,
    meta: &[u8],
    options: &ReadOptions,
    limit: &Limit,
) -> Result<(Ensemble, Option<LabelColumn>, Roles)> {
    let path = reader.path();
    let unfit = |reason: String| unfit(path, &reason);
    let mut meta = parsed(path, meta)?;
    if options.truth == Truth::None {
        meta.truth = None;
    }
    let item = first_of(reader, &[LABELS])
        .ok_or_else(|| unfit(format!("there is no array '{LABELS}'")))?;
    let extent = reader.extent(item)?;
    let cells = extent.rows().saturating_mul(extent.columns as u64);
    let width = if meta
        .bases
        .iter()
        .all(|base| base.values.len() <= MOST_BYTE_CLUSTERS)
    {
        2
    } else {
        4
    };
    limit.check(
        path,
        cells.saturating_mul(width).saturating_add(extent.largest()),
    )?;
    let roles = roles(&meta);
    let truth = meta
        .truth
        .map(|base| truth(reader, base, limit))
        .transpose()?;
    if truth
        .as_ref()
        .is_some_and(|truth| truth.values.len() as u64 != extent.rows())
    {
        return Err(unfit("the truth has another length than the labels".into()));
    }
    let bases: Vec<_> = meta
        .bases
        .into_iter()
        .map(|base| BaseClustering::new(base.name, base.values))
        .collect();
    let labels = label_rows::encoded(reader.read_whole(item, Form::Labels, limit)?);
    let rows =
        ensemble(labels, bases).ok_or_else(|| unfit(format!("'{LABELS}' does not fit {META}")))?;
    let mut ensemble = rows.map_err(FileError::ensemble(path))?;
    if let Some(soft) = memberships(reader, &ensemble, limit)? {
        let bases = ensemble.bases().to_vec();
        ensemble = Ensemble::from_memberships(soft, bases).map_err(FileError::ensemble(path))?;
    }
    if let Some(objects) = meta.objects {
        ensemble = ensemble
            .with_object_names(objects)
            .map_err(FileError::ensemble(path))?;
    }
    if let Some(recipe) = meta.recipe {
        ensemble = ensemble.with_recipe(recipe);
    }
    if let Some(id) = &options.id {
        let reason = format!(
            "an ensemble of Partita has its names beside its labels; {} is for other files",
            option("id").naming(id)
        );
        return Err(FileError::damaged(path, reason));
    }
    if options.skip.is_empty() {
        Ok((ensemble, truth, roles))
    } else {
        without(path, &ensemble, truth, roles, options)
    }
}

/// The shares of a soft ensemble, if it is one.
fn memberships(
    reader: &dyn Reader,
    labels: &Ensemble,
    limit: &Limit,
) -> Result<Option<Memberships>> {
    let [Some(starts), Some(clusters), Some(shares)] =
        [SHARE_STARTS, SHARE_CLUSTERS, SHARES].map(|name| first_of(reader, &[name]))
    else {
        return Ok(None);
    };
    let rows =
        [starts, clusters, shares].map(|item| reader.extent(item).map(|extent| extent.rows()));
    let bytes = rows.into_iter().try_fold(0u64, |sum, rows| {
        Ok::<_, FileError>(sum.saturating_add(rows?))
    })?;
    limit.check(reader.path(), bytes.saturating_mul(16))?;
    let numbers = |item| match reader.read_whole(item, Form::NUMBERS, limit)? {
        Column::Array(array) if array.columns == 1 => Ok((0..array.rows)
            .filter_map(|row| array.scalar(row, 0))
            .collect()),
        _ => Ok::<Vec<Scalar>, FileError>(Vec::new()),
    };
    let whole = |number: Scalar| usize::try_from(number.float() as i64).unwrap_or(usize::MAX);
    let starts = numbers(starts)?.into_iter().map(whole).collect();
    let clusters = numbers(clusters)?
        .into_iter()
        .map(|number| u32::try_from(whole(number)).unwrap_or(u32::MAX))
        .collect();
    let shares = numbers(shares)?.into_iter().map(Scalar::float).collect();
    let found = Memberships::from_parts(starts, clusters, shares, &labels.offsets());
    let found = found.filter(|found| found.objects() == labels.objects());
    found
        .map(Some)
        .ok_or_else(|| unfit(reader.path(), &format!("'{SHARES}' does not fit {META}")))
}

/// The same without the base clusterings that are to be left out.
fn without(
    path: &Path,
    ensemble: &Ensemble,
    truth: Option<LabelColumn>,
    mut roles: Roles,
    options: &ReadOptions,
) -> Result<(Ensemble, Option<LabelColumn>, Roles)> {
    let names: Vec<String> = ensemble
        .bases()
        .iter()
        .map(|base| base.name().to_owned())
        .collect();
    for skip in &options.skip {
        let at = super::roles::find(path, &names, skip)?;
        (roles.columns[at].role, roles.columns[at].reason) = (Role::Skipped, Reason::Asked);
    }
    let kept: Vec<u32> = roles.data().into_iter().map(|at| at as u32).collect();
    if kept.is_empty() {
        return Err(FileError::no_bases(path, names.len()));
    }
    let objects: Vec<u32> = (0..ensemble.objects() as u32).collect();
    Ok((ensemble.select(&objects, &kept), truth, roles))
}

fn roles(meta: &Meta) -> Roles {
    let role = |name: &str, role| ColumnRole::new(name, role, Reason::Rest);
    let columns = meta
        .bases
        .iter()
        .map(|base| role(&base.name, Role::Data))
        .collect();
    let truth = meta.truth.as_ref().map(|_| role(TRUTH, Role::Truth));
    let objects = meta.objects.as_ref().map(|_| role(META, Role::Objects));
    let arrays = std::iter::once(role(LABELS, Role::Data))
        .chain(truth)
        .chain(objects)
        .collect();
    Roles {
        columns,
        arrays,
        ..Roles::default()
    }
}

/// The ensemble of these labels, if every one of them is a cluster.
fn ensemble(
    labels: Encoded,
    bases: Vec<BaseClustering>,
) -> Option<Result<Ensemble, partita_core::EnsembleError>> {
    if labels.columns != bases.len() {
        return None;
    }
    let mut encoded = Vec::with_capacity(bases.len());
    for (inside, base) in bases.into_iter().enumerate() {
        let clusters = base.clusters() as u64;
        match &labels.labels[inside] {
            Labels::Numbers {
                labels,
                not_a_label: None,
            } if labels.iter().all(|&label| label < clusters) => {}
            _ => return None,
        }
        let place = Place { item: 0, inside };
        encoded.push(EncodedBase::of_labels(base, place, (0..clusters).collect()));
    }
    label_rows::ensemble(encoded, &EncodedItems::new(vec![0], vec![vec![labels]]))
}

/// The truth of an ensemble of ours, if it has one.
pub(crate) fn read_truth(
    reader: &dyn Reader,
    meta: &[u8],
    limit: &Limit,
) -> Result<Option<label_column::Labels>> {
    let meta = parsed(reader.path(), meta)?;
    let Some(base) = meta.truth else {
        return Ok(None);
    };
    let column = truth(reader, base, limit)?;
    let object_names = meta
        .objects
        .filter(|objects| objects.len() == column.values.len());
    Ok(Some(label_column::Labels {
        object_names,
        column,
    }))
}

fn parsed(path: &Path, meta: &[u8]) -> Result<Meta> {
    let meta: Meta = serde_json::from_slice(meta)
        .map_err(|error| unfit(path, &format!("{META} is damaged ({error})")))?;
    if meta.format == FORMAT {
        return Ok(meta);
    }
    Err(unfit(
        path,
        &format!("the format is '{}', not '{FORMAT}'", meta.format),
    ))
}

fn unfit(path: &Path, reason: &str) -> FileError {
    FileError::damaged(path, format!("{reason}; generate the ensemble again"))
}

fn truth(reader: &dyn Reader, base: Base, limit: &Limit) -> Result<LabelColumn> {
    let item = first_of(reader, &[TRUTH]);
    let item = item.ok_or_else(|| unfit(reader.path(), &format!("there is no array '{TRUTH}'")))?;
    let column = match reader.read_whole(item, Form::Labels, limit)? {
        Column::Array(codes) => decoded_truth(base, &codes),
        _ => None,
    };
    column.ok_or_else(|| unfit(reader.path(), "the truth has a class without a name"))
}

fn decoded_truth(base: Base, codes: &TypedArray) -> Option<LabelColumn> {
    let value = |row: usize| match codes.scalar(row, 0).map(LabelNumber::of)? {
        LabelNumber::Missing => Some(None),
        LabelNumber::Label(code) => {
            Some(Some(base.values.get(usize::try_from(code).ok()?)?.clone()))
        }
        LabelNumber::NotALabel => None,
    };
    let values: Vec<Option<String>> = (0..codes.rows).map(value).collect::<Option<_>>()?;
    Some(LabelColumn {
        name: base.name,
        values,
    })
}
