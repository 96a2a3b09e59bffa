//! The rows that are tested, their clusters, and the halves that they are in.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use partita_core::Seed;
use partita_core::ndarray::{Array2, ArrayView2, Axis, CowArray, Ix2};
use partita_spectral::principal_components;
use rand::RngExt;
use rand::seq::SliceRandom;

use crate::error::SignificanceError;

/// A row without a cluster.
pub(crate) const NONE: u32 = u32::MAX;

/// The rows of a table, with halvings that are stratified by cluster. Clusters are numbered in the order in which they first appear,
/// so that results do not depend on what labels are called.
pub(crate) struct Rows<'a> {
    /// As many columns as the table; with fewer complete rows than columns, their principal components.
    values: CowArray<'a, f64, Ix2>,
    /// The cluster of every row; [`NONE`] for rows without a label.
    pub(crate) cluster: Vec<u32>,
    /// The half of every row: bit h is halving h.
    halves: Vec<u32>,
    /// Rows without a missing value, rising.
    pub(crate) complete: Vec<u32>,
    /// The label of every cluster.
    pub(crate) labels: Vec<u32>,
    /// The rows of every cluster that have no missing value, rising.
    pub(crate) members: Vec<Vec<u32>>,
    /// Rows that have a missing value.
    pub(crate) incomplete: usize,
    /// Rows that have no missing value and no label.
    pub(crate) unlabelled: usize,
    /// Complete rows that have the numbers of an earlier one (by a hash of 64 bits).
    pub(crate) duplicates: usize,
    /// Columns of the table, d.
    pub(crate) dimensions: usize,
}

impl<'a> Rows<'a> {
    /// Sorts rows by cluster and draws the halvings.
    pub(crate) fn new(
        table: ArrayView2<'a, f64>,
        labels: &[Option<u32>],
        halvings: u32,
        seed: Seed,
    ) -> Result<Self, SignificanceError> {
        check(table, labels)?;
        let values = if table.is_standard_layout() {
            CowArray::from(table)
        } else {
            CowArray::from(table.as_standard_layout().into_owned())
        };
        let mut rows = Self {
            values,
            cluster: vec![NONE; labels.len()],
            halves: vec![0; labels.len()],
            complete: Vec::with_capacity(labels.len()),
            labels: Vec::new(),
            members: Vec::new(),
            incomplete: 0,
            unlabelled: 0,
            duplicates: 0,
            dimensions: table.ncols(),
        };
        rows.sort(labels);
        rows.halve(halvings, seed);
        rows.duplicates = rows.duplicates();
        Ok(rows)
    }

    /// Rows in more dimensions than there are rows lie in fewer: they are turned into these, which keeps all distances. Numbers whose products are
    /// beyond all bounds stay as they are.
    pub(crate) fn turn(&mut self) {
        if self.dimensions <= self.complete.len() || self.complete.is_empty() {
            return;
        }
        let complete: Vec<usize> = self.complete.iter().map(|&row| row as usize).collect();
        let complete = self.values.select(Axis(0), &complete);
        let Ok(turned) = principal_components(complete.view(), 1.0, 0) else {
            return;
        };
        let mut values = Array2::from_elem((self.cluster.len(), turned.ncols()), f64::NAN);
        for (&row, turned) in self.complete.iter().zip(turned.outer_iter()) {
            values.row_mut(row as usize).assign(&turned);
        }
        self.values = values.into();
    }

    fn sort(&mut self, labels: &[Option<u32>]) {
        let mut codes = BTreeMap::new();
        for (row, label) in labels.iter().enumerate() {
            let complete = self.row(row as u32).iter().all(|value| !value.is_nan());
            self.incomplete += usize::from(!complete);
            if complete {
                self.complete.push(row as u32);
            }
            let Some(label) = *label else {
                self.unlabelled += usize::from(complete);
                continue;
            };
            let known = self.labels.len();
            let cluster = *codes.entry(label).or_insert(known);
            if cluster == known {
                self.labels.push(label);
                self.members.push(Vec::new());
            }
            self.cluster[row] = cluster as u32;
            if complete {
                self.members[cluster].push(row as u32);
            }
        }
    }

    /// Half of the rows of every cluster, and of those without one, drawn for every halving; an odd row goes by a coin.
    fn halve(&mut self, halvings: u32, seed: Seed) {
        let unlabelled = self.complete.iter().copied();
        let unlabelled: Vec<u32> = unlabelled
            .filter(|&row| self.cluster[row as usize] == NONE)
            .collect();
        for members in self.members.iter().chain([&unlabelled]) {
            let Some(&first) = members.first() else {
                continue;
            };
            let mut drawn = members.clone();
            for halving in 0..halvings {
                let mut rng = seed.child(halving.into()).child(first.into()).rng();
                drawn.copy_from_slice(members);
                drawn.shuffle(&mut rng);
                let odd = drawn.len() % 2 == 1 && rng.random();
                for &row in &drawn[..drawn.len() / 2 + usize::from(odd)] {
                    self.halves[row as usize] |= 1 << halving;
                }
            }
        }
    }

    /// The numbers of a row.
    pub(crate) fn row(&self, row: u32) -> &[f64] {
        let columns = self.columns();
        let values = self.values.as_slice().unwrap_or_default();
        &values[row as usize * columns..][..columns]
    }

    /// Numbers of a row that are held: d or fewer.
    pub(crate) fn columns(&self) -> usize {
        self.values.ncols()
    }

    /// The half of a row in a halving, 0 or 1.
    pub(crate) fn half(&self, row: u32, halving: u32) -> u32 {
        self.halves[row as usize] >> halving & 1
    }

    fn duplicates(&self) -> usize {
        let hash = |&row: &u32| {
            let mut hasher = DefaultHasher::new();
            // Both zeros are one number.
            let bits = self.row(row).iter().map(|value| (value + 0.0).to_bits());
            bits.for_each(|bits| bits.hash(&mut hasher));
            hasher.finish()
        };
        let mut hashes: Vec<u64> = self.complete.iter().map(hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        self.complete.len() - hashes.len()
    }
}

fn check(table: ArrayView2<'_, f64>, labels: &[Option<u32>]) -> Result<(), SignificanceError> {
    let rows = table.nrows();
    if labels.len() != rows {
        let labels = labels.len();
        return Err(SignificanceError::Rows { labels, rows });
    }
    if table.ncols() == 0 {
        return Err(SignificanceError::NoColumns);
    }
    if rows >= NONE as usize {
        return Err(SignificanceError::TooManyRows { rows });
    }
    let infinite = table.indexed_iter().find(|(_, value)| value.is_infinite());
    match infinite {
        None => Ok(()),
        Some(((row, column), &value)) => Err(SignificanceError::Infinite {
            row: row + 1,
            column: column + 1,
            value,
        }),
    }
}
