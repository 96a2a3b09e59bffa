//! Label rows out of columns: encoding in parallel, and putting the codes of many columns and groups into rows.

use std::path::Path;

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble, EnsembleError, Label};
use rayon::prelude::*;
use tracing::debug_span;

use super::frame::Frame;
use crate::dictionary::Dictionary;
use crate::error::{Cell, FileError, Row, WrongValue};
use crate::format::reader::{Column, Form, Limit};
use crate::label_encoder::{Codes, EncodedArray, MISSING, check_clusters, encode};
use crate::words::{MissingCounts, MissingWords};

/// Rows that one thread puts together at once: they stay in its cache.
const ROWS: usize = 1 << 12;

/// The most clusters that leave one code of a byte for a missing label.
pub(crate) const MOST_BYTE_CLUSTERS: usize = 255;

/// A base clustering: the item of the file that holds it, and which column of the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) item: usize,
    pub(crate) inside: usize,
}

/// One item of one group, encoded.
#[derive(Debug)]
pub(crate) enum Encoded {
    Numbers(EncodedArray),
    /// A dictionary for every column.
    Texts(Vec<Dictionary>),
}

impl Encoded {
    fn rows(&self) -> usize {
        match self {
            Self::Numbers(array) => array.rows,
            Self::Texts(columns) => columns.first().map_or(0, |column| column.codes().len()),
        }
    }
}

/// The labels alone of an encoded item, without codes. Where labels are numbers, the first text of a column is not a label.
pub(crate) fn labels_alone(item: Encoded) -> EncodedArray {
    let codes = Codes::Places(Vec::new());
    match item {
        Encoded::Numbers(array) => EncodedArray { codes, ..array },
        Encoded::Texts(columns) => {
            let first = |column: &Dictionary| column.codes().iter().position(|&code| code == 0);
            EncodedArray {
                rows: columns.first().map_or(0, |column| column.codes().len()),
                columns: columns.len(),
                by_column: true,
                codes,
                labels: vec![Vec::new(); columns.len()],
                not_a_label: columns.iter().map(first).collect(),
            }
        }
    }
}

/// Labels of a column in the form in which they are encoded.
pub(crate) fn encoded(column: Column) -> Encoded {
    match column {
        Column::Labels(labels) => Encoded::Texts(vec![labels]),
        Column::Text(texts) => Encoded::Texts(vec![Dictionary::of_texts(texts)]),
        Column::Parsed { .. } => Encoded::Texts(vec![Dictionary::of_texts(column.into_texts())]),
        Column::Array(array) => encode(&array).map_or_else(
            || {
                let column = |column| {
                    Dictionary::of_texts(
                        (0..array.rows).map(|row| array.text(row, column)).collect(),
                    )
                };
                Encoded::Texts((0..array.columns).map(column).collect())
            },
            Encoded::Numbers,
        ),
    }
}

/// One item of a group, encoded.
pub(crate) fn read_one(
    frame: &Frame,
    group: usize,
    item: usize,
    limit: &Limit,
) -> Result<Encoded, FileError> {
    // The time of a span begins where it is made.
    if let Some(codes) = debug_span!("read").in_scope(|| frame.reader.codes(group, item))? {
        return Ok(
            debug_span!("encode").in_scope(|| Encoded::Numbers(EncodedArray::of_bytes(codes)))
        );
    }
    let column =
        debug_span!("read").in_scope(|| frame.reader.read_one(group, item, Form::Labels, limit))?;
    Ok(debug_span!("encode").in_scope(|| encoded(column)))
}

/// The different items that hold base clusterings, in order.
pub(crate) fn items(places: &[Place]) -> Vec<usize> {
    let mut items: Vec<usize> = places.iter().map(|place| place.item).collect();
    items.dedup();
    items
}

/// What `keep` keeps of all groups of all items, encoded in parallel; the first error in the order of items and groups is told.
pub(crate) fn read_encoded<T: Send>(
    frame: &Frame,
    items: &[usize],
    limit: &Limit,
    keep: impl Fn(Encoded) -> T + Sync,
) -> Result<Vec<Vec<T>>, FileError> {
    let groups = frame.extent.count();
    let units: Vec<(usize, usize)> = items
        .iter()
        .flat_map(|&item| (0..groups).map(move |group| (item, group)))
        .collect();
    let read = |&(item, group): &(usize, usize)| read_one(frame, group, item, limit).map(&keep);
    let read: Vec<Result<T, FileError>> = units.par_iter().map(read).collect();
    let mut read = read.into_iter();
    let of_item = |_| read.by_ref().take(groups).collect();
    items.iter().map(of_item).collect()
}

/// A base clustering and what is known of its labels.
pub(crate) struct EncodedBase {
    pub(crate) base: BaseClustering,
    /// Words for missing values that were found.
    pub(crate) missing: MissingCounts,
    /// The labels in order.
    labels: Vec<u64>,
    /// Its codes in every group, where they are not those of the items.
    own: Vec<EncodedArray>,
}

impl EncodedBase {
    /// A base clustering of numbers whose clusters are these labels in order.
    pub(crate) fn of_labels(base: BaseClustering, labels: Vec<u64>) -> Self {
        Self {
            base,
            missing: MissingCounts::new(),
            labels,
            own: Vec::new(),
        }
    }
}

/// The base clustering in a column of all groups of an item.
pub(crate) fn base(
    path: &Path,
    name: &str,
    groups: &[Encoded],
    inside: usize,
    missing: &MissingWords,
    shown: &dyn Fn(usize) -> String,
) -> Result<EncodedBase, FileError> {
    let numbers = groups.iter().map(|group| match group {
        Encoded::Numbers(array) => Some(array),
        Encoded::Texts(_) => None,
    });
    match numbers.collect::<Option<Vec<_>>>() {
        Some(arrays) => {
            let labels = labels(path, name, arrays.into_iter(), inside, shown)?;
            check_labels(path, name, labels.len())?;
            let names = labels.iter().map(ToString::to_string).collect();
            Ok(EncodedBase::of_labels(
                BaseClustering::new(name, names),
                labels,
            ))
        }
        None => base_of_texts(path, name, groups, inside, missing),
    }
}

/// The labels of a column of numbers in all groups of an item, in order.
///
/// # Errors
/// For the first number that is not a label; `shown` gives the text of a row.
pub(crate) fn labels<'a>(
    path: &Path,
    name: &str,
    groups: impl Iterator<Item = &'a EncodedArray>,
    inside: usize,
    shown: &dyn Fn(usize) -> String,
) -> Result<Vec<u64>, FileError> {
    let mut before = 0;
    let mut labels = Vec::new();
    for group in groups {
        if let Some(row) = group.not_a_label[inside] {
            let row = before + row;
            let cell = Cell::new(path, Row::Row(row as u64 + 1), name, shown(row));
            return Err(FileError::value(cell, WrongValue::NotALabel));
        }
        labels.extend_from_slice(&group.labels[inside]);
        before += group.rows;
    }
    Ok(sorted(labels.into_iter()))
}

/// Refuses base clusterings with too many clusters or none.
pub(crate) fn check_labels(path: &Path, name: &str, clusters: usize) -> Result<(), FileError> {
    check_clusters(path, name, clusters)?;
    if clusters > 0 {
        return Ok(());
    }
    Err(FileError::ensemble(path)(EnsembleError::AllMissing {
        name: name.into(),
    }))
}

pub(crate) fn sorted(labels: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut labels: Vec<u64> = labels.collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

fn base_of_texts(
    path: &Path,
    name: &str,
    groups: &[Encoded],
    inside: usize,
    missing: &MissingWords,
) -> Result<EncodedBase, FileError> {
    let mut whole = Dictionary::default();
    for group in groups {
        let Encoded::Texts(columns) = group else {
            return Err(FileError::damaged(
                path,
                format!("column '{name}' holds texts and numbers; write it again"),
            ));
        };
        let before = whole.codes().len();
        if before == 0 {
            whole = columns[inside].clone();
        } else {
            whole.append(&columns[inside], |row| Row::Row((before + row) as u64 + 1));
        }
    }
    let missing = whole.drop_words(missing);
    let (base, order) = whole.base(path, name)?;
    check_labels(path, name, order.iter().flatten().count())?;
    let clusters = base.clusters();
    let cluster = |&code: &u32| {
        let cluster = order.get(code as usize).copied().flatten();
        cluster.map_or(MISSING, |cluster| cluster as u32)
    };
    let mut codes = whole.codes();
    let mut own = Vec::with_capacity(groups.len());
    for group in groups {
        let (first, rest) = codes.split_at(group.rows());
        own.push(EncodedArray::of_clusters(
            first.iter().map(cluster).collect(),
            clusters,
        ));
        codes = rest;
    }
    Ok(EncodedBase {
        missing,
        own,
        ..EncodedBase::of_labels(base, (0..clusters as u64).collect())
    })
}

/// Where the codes of one base clustering in one group lie, and the label of every code.
struct CodeColumn<'a, L> {
    array: &'a EncodedArray,
    start: usize,
    step: usize,
    labels: Vec<L>,
}

impl<'a, L: Label> CodeColumn<'a, L> {
    fn new(base: &'a EncodedBase, group: usize, item: &'a Encoded, inside: usize) -> Option<Self> {
        let (array, inside) = match (base.own.get(group), item) {
            (Some(own), _) => (own, 0),
            (None, Encoded::Numbers(array)) => (array, inside),
            (None, Encoded::Texts(_)) => return None,
        };
        let own = &array.labels[inside];
        let cluster = |label: &u64| base.labels.binary_search(label).ok().map(L::of);
        let labels = match &array.codes {
            Codes::Bytes(_) => by_label(own, 1 << 8, cluster)?,
            Codes::Words(_) => by_label(own, 1 << 16, cluster)?,
            Codes::Places(_) => own.iter().map(cluster).collect::<Option<_>>()?,
        };
        let (start, step) = if array.by_column {
            (inside * array.rows, 1)
        } else {
            (inside, array.columns)
        };
        Some(Self {
            array,
            start,
            step,
            labels,
        })
    }

    /// Puts the labels of `rows.len() / width` rows from `first` on into one place of each.
    fn put(&self, first: usize, rows: &mut [L], width: usize, place: usize) {
        let from = self.start + first * self.step;
        let out = rows[place..].iter_mut().step_by(width);
        let label = |code: usize| self.labels.get(code).copied().unwrap_or(L::MISSING);
        match &self.array.codes {
            Codes::Bytes(codes) => {
                let codes = codes[from..].iter().step_by(self.step);
                // Labels of all 256 codes: no code is out of range.
                if let Ok(labels) = <&[L; 256]>::try_from(&self.labels[..]) {
                    out.zip(codes)
                        .for_each(|(out, &code)| *out = labels[usize::from(code)]);
                }
            }
            Codes::Words(codes) => {
                let codes = codes[from..].iter().step_by(self.step);
                out.zip(codes)
                    .for_each(|(out, &code)| *out = label(usize::from(code)));
            }
            Codes::Places(codes) => {
                let codes = codes[from..].iter().step_by(self.step);
                out.zip(codes)
                    .for_each(|(out, &code)| *out = label(code as usize));
            }
        }
    }
}

/// The stored label of every code, where labels are their own codes; none for a label that is not known.
fn by_label<L: Label>(
    own: &[u64],
    codes: usize,
    cluster: impl Fn(&u64) -> Option<L>,
) -> Option<Vec<L>> {
    let mut labels = vec![L::MISSING; codes];
    for label in own {
        labels[*label as usize] = cluster(label)?;
    }
    Some(labels)
}

/// Label rows, row by row, of groups that are encoded by item: `found[item][group]`. None for a label that is not known.
pub(crate) fn rows<L: Label>(
    bases: &[EncodedBase],
    places: &[Place],
    items: &[usize],
    found: &[Vec<Encoded>],
) -> Option<Vec<L>> {
    let groups = found.first().map_or(0, Vec::len);
    let counts: Vec<usize> = (0..groups).map(|group| found[0][group].rows()).collect();
    let item_of = |place: &Place| {
        items
            .iter()
            .position(|&item| item == place.item)
            .unwrap_or(0)
    };
    let (mut before, mut columns) = (0, Vec::with_capacity(groups));
    for (group, &count) in counts.iter().enumerate() {
        let mut own = Vec::with_capacity(bases.len());
        for (base, place) in bases.iter().zip(places) {
            let encoded = &found[item_of(place)][group];
            if encoded.rows() != count {
                return None;
            }
            own.push(CodeColumn::<L>::new(base, group, encoded, place.inside)?);
        }
        columns.push(own);
        before += count;
    }
    let width = bases.len();
    let mut rows = vec![L::of(0); before * width];
    let mut tasks = Vec::new();
    let mut rest = &mut rows[..];
    for (columns, &count) in columns.iter().zip(&counts) {
        let (own, others) = rest.split_at_mut(count * width);
        tasks.extend(
            own.chunks_mut(ROWS * width)
                .enumerate()
                .map(|(chunk, rows)| (columns, chunk * ROWS, rows)),
        );
        rest = others;
    }
    tasks.into_par_iter().for_each(|(columns, first, rows)| {
        let _span = debug_span!("encode").entered();
        columns
            .iter()
            .enumerate()
            .for_each(|(place, column)| column.put(first, rows, width, place));
    });
    Some(rows)
}

/// The ensemble of encoded columns; none where they differ in length.
pub(crate) fn ensemble(
    bases: Vec<EncodedBase>,
    places: &[Place],
    items: &[usize],
    found: &[Vec<Encoded>],
) -> Option<Result<Ensemble, EnsembleError>> {
    let names = |bases: Vec<EncodedBase>| bases.into_iter().map(|base| base.base).collect();
    let width = bases.len().max(1);
    if bases
        .iter()
        .all(|base| base.base.clusters() <= MOST_BYTE_CLUSTERS)
    {
        let rows = rows::<u8>(&bases, places, items, found)?;
        let rows = Array2::from_shape_vec((rows.len() / width, bases.len()), rows).ok()?;
        return Some(Ensemble::from_bytes(rows, names(bases)));
    }
    let rows = rows::<u16>(&bases, places, items, found)?;
    let rows = Array2::from_shape_vec((rows.len() / width, bases.len()), rows).ok()?;
    Some(Ensemble::from_words(rows, names(bases)))
}
