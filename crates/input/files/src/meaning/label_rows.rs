//! Label rows out of columns: encoding in parallel, and putting the codes of many columns and groups into rows.

use std::collections::HashMap;
use std::path::Path;

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble, EnsembleError, Label};
use rayon::prelude::*;
use tracing::debug_span;

use super::frame::{Frame, Place};
use crate::dictionary::Dictionary;
use crate::error::{Cell, FileError, Result, Row, WrongValue};
use crate::format::reader::{Column, Form, Limit};
use crate::label_encoder::{Codes, Encoded, Labels};
use crate::label_number::check_clusters;
use crate::words::{MissingCounts, MissingWords};

/// Rows that one thread puts together at once: they stay in its cache.
const ROWS: usize = 1 << 12;

/// The most clusters that leave one code of a byte for a missing label.
pub(crate) const MOST_BYTE_CLUSTERS: usize = 255;

/// A column of labels, encoded.
pub(crate) fn encoded(column: Column) -> Encoded {
    match column {
        Column::Codes(codes) => Encoded::of_bytes(codes),
        Column::Array(array) => Encoded::of_array(&array),
        other => Encoded::of_texts(vec![other.into_dictionary()]),
    }
}

/// One item of a group, encoded.
pub(crate) fn read_one(frame: &Frame, group: usize, item: usize, limit: &Limit) -> Result<Encoded> {
    // The time of a span begins where it is made.
    // Codes of numbers have none for −1.
    let free = frame.missing.is_empty();
    let form = if free { Form::Labels } else { Form::Codes };
    let column =
        debug_span!("read").in_scope(|| frame.reader.read_one(group, item, form, limit))?;
    Ok(debug_span!("encode").in_scope(|| match column {
        Column::Array(array) if free => {
            let columns = (0..array.columns).map(|at| Dictionary::of_texts(array.texts(at)));
            Encoded::of_texts(columns.collect())
        }
        column => encoded(column),
    }))
}

/// The items of a file that hold base clusterings, encoded, all groups of each.
pub(crate) struct EncodedItems {
    /// In ascending order: there may be a million.
    items: Vec<usize>,
    groups: Vec<Vec<Encoded>>,
}

impl EncodedItems {
    pub(crate) fn new(items: Vec<usize>, groups: Vec<Vec<Encoded>>) -> Self {
        Self { items, groups }
    }

    /// Reads all groups of the items in parallel and keeps of each what `keep` gives; the first error in the order of items and
    /// groups is told.
    pub(crate) fn read(
        frame: &Frame,
        items: Vec<usize>,
        limit: &Limit,
        keep: fn(Encoded) -> Encoded,
    ) -> Result<Self> {
        let groups = frame.extent.count();
        let read = (0..items.len() * groups).into_par_iter().map(|unit| {
            let item = items[unit / groups];
            read_one(frame, unit % groups, item, limit).map(keep)
        });
        let read: Vec<Result<Encoded>> = read.collect();
        let mut read = read.into_iter();
        let of_item = items.iter().map(|_| read.by_ref().take(groups).collect());
        let found = of_item.collect::<Result<_>>()?;
        Ok(Self::new(items, found))
    }

    /// All groups of the item that holds a base clustering.
    pub(crate) fn of(&self, place: Place) -> &[Encoded] {
        let at = self.items.binary_search(&place.item);
        at.map_or(&[], |at| &self.groups[at])
    }
}

/// A base clustering, and the cluster of every label.
pub(crate) struct EncodedBase {
    pub(crate) base: BaseClustering,
    place: Place,
    /// Words for missing values that were found.
    pub(crate) missing: MissingCounts,
    /// Labels that are numbers, in the order of their clusters.
    numbers: Vec<u64>,
    /// The clusters of labels that are texts.
    texts: HashMap<String, usize>,
}

impl EncodedBase {
    /// A base clustering of numbers whose clusters are these labels in order.
    pub(crate) fn of_labels(base: BaseClustering, place: Place, numbers: Vec<u64>) -> Self {
        Self {
            base,
            place,
            missing: MissingCounts::new(),
            numbers,
            texts: HashMap::new(),
        }
    }

    /// The base clustering in a column of all groups of an item; `shown` gives the text of a row.
    pub(crate) fn new(
        path: &Path,
        name: &str,
        place: Place,
        groups: &[Encoded],
        missing: &MissingWords,
        shown: &dyn Fn(usize) -> String,
    ) -> Result<Self> {
        let mut texts = groups
            .iter()
            .map(|group| matches!(group.labels[place.inside], Labels::Texts(_)));
        if texts.any(|is_text| is_text) {
            return Self::of_texts(path, name, place, groups, missing);
        }
        let labels = labels(path, name, groups, place.inside, shown)?;
        check_labels(path, name, labels.len())?;
        let names = labels.iter().map(ToString::to_string).collect();
        Ok(Self::of_labels(
            BaseClustering::new(name, names),
            place,
            labels,
        ))
    }

    fn of_texts(
        path: &Path,
        name: &str,
        place: Place,
        groups: &[Encoded],
        missing: &MissingWords,
    ) -> Result<Self> {
        let mut whole = Dictionary::default();
        let mut before = 0;
        for group in groups {
            let (Labels::Texts(words), Codes::Places(codes)) =
                (&group.labels[place.inside], &group.codes)
            else {
                let reason = format!("column '{name}' holds texts and numbers; write it again");
                return Err(FileError::damaged(path, reason));
            };
            let codes = &codes[place.inside * group.rows..][..group.rows];
            whole.append(words, codes, before);
            before += group.rows as u64;
        }
        let counts = whole.drop_words(missing);
        let (base, order) = whole.base(path, name, missing)?;
        check_labels(path, name, order.iter().flatten().count())?;
        let clusters = whole.values().iter().zip(order);
        let texts = clusters.filter_map(|(text, cluster)| Some((text.clone(), cluster?)));
        Ok(Self {
            missing: counts,
            texts: texts.collect(),
            ..Self::of_labels(base, place, Vec::new())
        })
    }
}

/// The labels of a column of numbers in all groups of an item, in order.
///
/// # Errors
/// For the first number that is not a label; `shown` gives the text of a row.
pub(crate) fn labels(
    path: &Path,
    name: &str,
    groups: &[Encoded],
    inside: usize,
    shown: &dyn Fn(usize) -> String,
) -> Result<Vec<u64>> {
    let mut before = 0;
    let mut all = Vec::new();
    for group in groups {
        let found = &group.labels[inside];
        if let Some(row) = found.first_wrong() {
            let row = before + row;
            let cell = Cell::new(path, Row::Row(row as u64 + 1), name, shown(row));
            return Err(FileError::value(cell, WrongValue::NotALabel));
        }
        if let Labels::Numbers { labels, .. } = found {
            all.extend_from_slice(labels);
        }
        before += group.rows;
    }
    Ok(sorted(all))
}

/// Refuses base clusterings with too many clusters or none.
pub(crate) fn check_labels(path: &Path, name: &str, clusters: usize) -> Result<()> {
    check_clusters(path, name, clusters)?;
    if clusters > 0 {
        return Ok(());
    }
    let name = name.into();
    Err(FileError::ensemble(path)(EnsembleError::AllMissing {
        name,
    }))
}

pub(crate) fn sorted(mut labels: Vec<u64>) -> Vec<u64> {
    labels.sort_unstable();
    labels.dedup();
    labels
}

/// Where the codes of one base clustering in one group lie, and the label of every code.
struct CodeColumn<'a, L> {
    codes: &'a Codes,
    start: usize,
    step: usize,
    labels: Vec<L>,
}

impl<'a, L: Label> CodeColumn<'a, L> {
    /// None for a label that is not known.
    fn new(base: &'a EncodedBase, group: &'a Encoded) -> Option<Self> {
        let inside = base.place.inside;
        let cluster = |label: &u64| base.numbers.binary_search(label).ok().map(L::of);
        let labels = match (&group.codes, &group.labels[inside]) {
            (_, Labels::Texts(words)) => {
                let values = words.values().iter();
                let cluster =
                    |text: &String| base.texts.get(text).map_or(L::MISSING, |&own| L::of(own));
                values.map(cluster).collect()
            }
            (Codes::Bytes(_), Labels::Numbers { labels, .. }) => by_label(labels, 1 << 8, cluster)?,
            (Codes::Words(_), Labels::Numbers { labels, .. }) => {
                by_label(labels, 1 << 16, cluster)?
            }
            (Codes::Places(_), Labels::Numbers { labels, .. }) => {
                labels.iter().map(cluster).collect::<Option<_>>()?
            }
        };
        let (start, step) = if group.by_column {
            (inside * group.rows, 1)
        } else {
            (inside, group.columns)
        };
        Some(Self {
            codes: &group.codes,
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
        match self.codes {
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

/// Label rows, row by row. None for a label that is not known, and where columns differ in length.
pub(crate) fn rows<L: Label>(bases: &[EncodedBase], found: &EncodedItems) -> Option<Array2<L>> {
    let counts: Vec<usize> = found
        .groups
        .first()?
        .iter()
        .map(|group| group.rows)
        .collect();
    let mut columns = Vec::with_capacity(counts.len());
    for (group, &count) in counts.iter().enumerate() {
        let mut own = Vec::with_capacity(bases.len());
        for base in bases {
            let encoded = found.of(base.place).get(group)?;
            if encoded.rows != count {
                return None;
            }
            own.push(CodeColumn::<L>::new(base, encoded)?);
        }
        columns.push(own);
    }
    let mut rows = Array2::from_elem((counts.iter().sum(), bases.len()), L::of(0));
    let width = bases.len();
    let mut tasks = Vec::new();
    let mut rest = rows.as_slice_mut()?;
    for (columns, &count) in columns.iter().zip(&counts) {
        let (own, others) = rest.split_at_mut(count * width);
        let chunks = own.chunks_mut(ROWS * width).enumerate();
        tasks.extend(chunks.map(|(chunk, rows)| (columns, chunk * ROWS, rows)));
        rest = others;
    }
    tasks.into_par_iter().for_each(|(columns, first, rows)| {
        let _span = debug_span!("encode").entered();
        for (place, column) in columns.iter().enumerate() {
            column.put(first, rows, width, place);
        }
    });
    Some(rows)
}

/// The ensemble of encoded columns; none where they differ in length.
pub(crate) fn ensemble(
    bases: Vec<EncodedBase>,
    found: &EncodedItems,
) -> Option<Result<Ensemble, EnsembleError>> {
    let most = bases.iter().map(|base| base.base.clusters()).max()?;
    if most <= MOST_BYTE_CLUSTERS {
        let rows = rows::<u8>(&bases, found)?;
        return Some(Ensemble::from_bytes(rows, plain(bases)));
    }
    let rows = rows::<u16>(&bases, found)?;
    Some(Ensemble::from_words(rows, plain(bases)))
}

fn plain(bases: Vec<EncodedBase>) -> Vec<BaseClustering> {
    bases.into_iter().map(|base| base.base).collect()
}
