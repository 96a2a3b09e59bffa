//! Ensembles and tables that stay on the disk: readers of several groups of rows.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, GroupRows, Label, RowBlocks, SourceError};
use rayon::prelude::*;

use super::ensemble;
use super::frame::Frame;
use super::held_rows::{Held, Holding, LabelBlock, fit_bytes};
use super::label_column::LabelColumn;
use super::label_rows::{self, EncodedBase, EncodedItems};
use super::read_options::ReadOptions;
use super::roles::Roles;
use super::rules::Facts;
use super::soft_columns;
use super::{numbers, table};
use crate::error::{FileError, Result};
use crate::format::reader::{Layout, Limit};
use crate::format::{self, FORMATS};
use crate::label_encoder::Encoded;

/// An ensemble of whole numbers whose label rows are read group by group, when they are wanted, by any number of threads.
///
/// Clusters are numbered in the order of their labels, −1, NaN and nulls are missing: as
/// [`read_ensemble`](crate::read_ensemble) has it. Truth and names of objects, where there are some, are left out.
pub struct LabelGroups {
    columns: GroupedColumns,
    bases: Vec<BaseClustering>,
    encoded: Vec<EncodedBase>,
    rows: Vec<usize>,
    /// Groups that are held since they were first read, as far as there is room.
    held: Vec<OnceLock<Held>>,
    /// Room for more of them, which the files of a manifest share.
    holding: Arc<Holding>,
}

/// A file whose columns are base clusterings and whose rows are read in groups, before its labels are known.
pub(super) struct GroupedColumns {
    frame: Frame,
    limit: Limit,
    /// The items that hold them.
    items: Vec<usize>,
}

impl GroupedColumns {
    /// Opens a file; none for a format without groups, for shares instead of labels, and for arrays to be transposed.
    pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<Option<Self>> {
        if options.transpose
            || format::ancestry_files(path).is_some()
            || !format::of(FORMATS, path)?.grouped
        {
            return Ok(None);
        }
        let mut frame =
            ensemble::open_frame(ensemble::open_reader(FORMATS, path, options)?, options)?;
        if !soft_columns::mark(&mut frame, options).is_empty() {
            return Ok(None);
        }
        let limit = ensemble::limit(options.budget, 0);
        limit.check(path, frame.transient())?;
        let items = ensemble::items(&frame);
        Ok(Some(Self {
            frame,
            limit,
            items,
        }))
    }

    /// Names of the base clusterings.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.frame
            .roles
            .data()
            .into_iter()
            .map(|column| &self.frame.names[column])
    }

    /// The first column that holds words.
    pub(super) fn words(&self) -> Option<&str> {
        let mut data = self.frame.roles.data().into_iter();
        data.find(|&column| self.frame.reader.is_text(column))
            .map(|column| self.frame.names[column].as_str())
    }

    /// What every column was taken for.
    pub(super) fn roles(&self) -> &Roles {
        &self.frame.roles
    }

    /// Rows of every group.
    pub(super) fn rows(&self) -> Vec<usize> {
        self.frame.extent.groups.clone().unwrap_or_default()
    }

    /// The different labels of every base clustering in order.
    pub(super) fn distinct(&self) -> Result<Vec<Vec<u64>>> {
        let frame = &self.frame;
        let items = self.items.clone();
        let found = EncodedItems::read(frame, items, &self.limit, Encoded::without_codes)?;
        let columns = frame.roles.data().into_iter();
        let labels = columns.map(|column| {
            let place = frame.place(column);
            let shown = |row: usize| frame.value(column, row, &self.limit);
            let name = &frame.names[column];
            label_rows::labels(frame.path(), name, found.of(place), place.inside, &shown)
        });
        labels.collect()
    }
}

impl LabelGroups {
    /// Opens an ensemble and finds the clusters of every base clustering, in one pass over the file on all threads; none
    /// for a format without groups (text, NPZ, MAT), for labels that are words, and for arrays to be transposed.
    ///
    /// # Cost
    /// O(n M) time; one column of the largest group in memory (9 bytes a row) for every thread.
    ///
    /// # Errors
    /// [`FileError`] as [`read_ensemble`](crate::read_ensemble).
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Option<Self>, FileError> {
        let Some(columns) = GroupedColumns::open(path, options)? else {
            return Ok(None);
        };
        if columns.words().is_some() {
            return Ok(None);
        }
        let labels = columns.distinct()?;
        columns
            .names()
            .zip(&labels)
            .try_for_each(|(name, own)| label_rows::check_labels(path, name, own.len()))?;
        let mut groups = Self::of_labels(columns, labels, Arc::default());
        let objects = groups.rows.iter().sum();
        let roles = &groups.columns.frame.roles;
        let warnings = Facts {
            bases: &groups.bases,
            ..Facts::new(roles, options, objects)
        }
        .warnings();
        let roles = &mut groups.columns.frame.roles;
        roles.objects = objects as u64;
        roles.warnings.extend(warnings);
        Ok(Some(groups))
    }

    /// The label rows of columns whose labels are known; `holding` says what may be held.
    pub(super) fn of_labels(
        columns: GroupedColumns,
        labels: Vec<Vec<u64>>,
        holding: Arc<Holding>,
    ) -> Self {
        let mut bases = Vec::with_capacity(labels.len());
        let mut encoded = Vec::with_capacity(labels.len());
        for (column, labels) in columns.frame.roles.data().into_iter().zip(labels) {
            let names = labels.iter().map(ToString::to_string).collect();
            let base = BaseClustering::new(&columns.frame.names[column], names);
            bases.push(base.clone());
            encoded.push(EncodedBase::of_labels(
                base,
                columns.frame.place(column),
                labels,
            ));
        }
        let rows = columns.rows();
        let held = rows.iter().map(|_| OnceLock::new()).collect();
        Self {
            columns,
            bases,
            encoded,
            rows,
            held,
            holding,
        }
    }

    /// Holds groups in memory once [`RowBlocks::read`] has read them, up to so many bytes: a method that passes over the
    /// rows many times then decodes them once. The rows are the same.
    pub fn hold(&self, bytes: u64) {
        self.holding.allow(bytes);
    }

    /// Bytes that readers hold at once for what they are decoding.
    pub fn transient(&self) -> u64 {
        self.columns.frame.transient()
    }

    /// The base clusterings, M of them.
    pub fn bases(&self) -> &[BaseClustering] {
        &self.bases
    }

    /// What every column was taken for.
    pub fn roles(&self) -> &Roles {
        self.columns.roles()
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.rows.iter().sum()
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.rows.len()
    }

    /// Objects of a group.
    pub fn rows(&self, group: usize) -> usize {
        self.rows[group]
    }

    /// The label rows of a group in as many bytes a label as the ensemble in memory would have.
    ///
    /// # Errors
    /// [`FileError`] if the file is damaged or was changed since it was opened.
    pub fn block(&self, group: usize) -> Result<LabelBlock, FileError> {
        if fit_bytes(&self.bases) {
            self.decode(group).map(LabelBlock::Bytes)
        } else {
            self.decode(group).map(LabelBlock::Words)
        }
    }

    fn decode<L: Label>(&self, group: usize) -> Result<Array2<L>> {
        let GroupedColumns {
            frame,
            limit,
            items,
        } = &self.columns;
        let read = items
            .par_iter()
            .map(|&item| Ok(vec![label_rows::read_one(frame, group, item, limit)?]));
        let found: Vec<Result<Vec<Encoded>>> = read.collect();
        let found = found.into_iter().collect::<Result<_>>()?;
        let found = EncodedItems::new(items.clone(), found);
        label_rows::rows::<L>(&self.encoded, &found).ok_or_else(|| {
            FileError::damaged(
                frame.path(),
                "it was changed while it was read; start again",
            )
        })
    }
}

impl RowBlocks for LabelGroups {
    fn bases(&self) -> &[BaseClustering] {
        &self.bases
    }

    fn groups(&self) -> usize {
        self.rows.len()
    }

    fn rows_of(&self, group: usize) -> Range<u64> {
        let first: usize = self.rows[..group].iter().sum();
        first as u64..(first + self.rows[group]) as u64
    }

    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError> {
        if let Some(held) = self.held[group].get() {
            held.read(&self.holding, take);
            return Ok(());
        }
        let failed = |error: FileError| SourceError {
            first: self.rows_of(group).start,
            reason: error.to_string(),
        };
        let block = self.block(group).map_err(failed)?;
        block.hand_out(take);
        let bytes = Held::bytes(&self.bases, self.rows[group]);
        if self.holding.has_room(bytes) {
            // Another thread may have read it meanwhile: the same rows.
            let _ = self.held[group].set(Held::new(block, &self.bases));
        }
        Ok(())
    }
}

impl fmt::Debug for LabelGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LabelGroups")
            .field("path", &self.columns.frame.path())
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

/// A table whose numbers are read group by group, when they are wanted.
pub struct TableGroups {
    frame: Frame,
    limit: Limit,
    features: Vec<usize>,
    /// Names of the features, d of them.
    pub columns: Vec<String>,
    /// What the objects are called, n names.
    pub object_names: Option<Vec<String>>,
    /// The classes, where the file has them.
    pub label: Option<LabelColumn>,
}

impl TableGroups {
    /// Opens a table; none for a format without groups of columns (text, NPY, NPZ, MAT).
    ///
    /// # Errors
    /// [`FileError`] as [`read_table`](crate::read_table), but for numbers, which are not read yet.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Option<Self>, FileError> {
        if options.transpose || !format::of(FORMATS, path)?.grouped {
            return Ok(None);
        }
        let mut frame = table::open(FORMATS, path, options)?;
        if frame.reader.items().layout != Layout::Columns {
            return Ok(None);
        }
        let features = frame.roles.data();
        let limit = table::limit(options, 0);
        let (object_names, label) = table::words(&mut frame, &limit)?;
        let columns = table::names(&frame, &features);
        Ok(Some(Self {
            frame,
            limit,
            features,
            columns,
            object_names,
            label,
        }))
    }

    /// What every column was taken for.
    pub fn roles(&self) -> &Roles {
        &self.frame.roles
    }

    /// Rows and columns.
    pub fn dim(&self) -> (usize, usize) {
        (self.frame.extent.rows() as usize, self.columns.len())
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.frame.extent.count()
    }

    /// The numbers of a group, its rows × d.
    ///
    /// # Errors
    /// [`FileError`] names the row, the column and the value that is not a finite number.
    pub fn read(&self, group: usize) -> Result<Array2<f64>, FileError> {
        let numbers =
            numbers::group_numbers(&self.frame, group, &self.features, false, &self.limit)?;
        let shape = (numbers.len() / self.features.len(), self.features.len());
        Ok(Array2::from_shape_vec(shape, numbers).expect("every row has every feature"))
    }
}

impl fmt::Debug for TableGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableGroups")
            .field("path", &self.frame.path())
            .field("dim", &self.dim())
            .finish_non_exhaustive()
    }
}
