//! Rows as passes see them: labels of one byte, labels of two, or shares in base clusters.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::ops::Range;

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::row_hash::RowHash;
use crate::seed::mix;
use crate::{BaseClustering, Ensemble, Label, Memberships, StoredLabels};

/// What an object has in one base cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The base clustering.
    pub base: usize,
    /// The base cluster, where those of all base clusterings are numbered through.
    pub cluster: usize,
    /// How much of the object is in it: 1 for a label.
    pub share: f64,
}

/// One row: an object's labels, or its shares. A sum that is written over [`entries`](Self::entries) is one for both; for labels the
/// share is a constant, so that the compiler leaves the multiplication out.
pub trait Row<'a>: Copy + Send + Sync + PartialEq + 'a {
    /// How consecutive rows are stored.
    type Stored: Copy + Send + Sync + Debug;

    /// What the object has, in rising order of base clusters. The shares of one base clustering add up to 1; a base clustering that
    /// does not know the object has no entry. `offsets` says where the clusters of each base clustering start (M + 1 values).
    fn entries(self, offsets: &[usize]) -> impl Iterator<Item = Entry>;

    /// The row as words, the same for labels of one byte and of two: what rows are compared by and kept as.
    fn words(self) -> impl Iterator<Item = u16>;

    /// A hash of the row, which does not depend on the width of labels.
    fn hash(self, seed: u64) -> u64;

    /// Whether a base clustering knows the object.
    fn is_known_to(self, base: usize, offsets: &[usize]) -> bool;

    /// Number of rows stored.
    fn count(stored: Self::Stored, bases: usize) -> usize;

    /// One of the rows stored.
    fn at(stored: Self::Stored, bases: usize, row: usize) -> Self;

    /// Some of the rows stored.
    fn part(stored: Self::Stored, bases: usize, rows: Range<usize>) -> Self::Stored;

    /// The rows stored, for kernels of their own.
    fn any(stored: Self::Stored) -> StoredRows<'a>;

    /// The row to keep.
    fn key(self) -> RowKey {
        RowKey(self.words().collect())
    }

    /// The order of this row and one that was kept.
    fn compare(self, key: &RowKey) -> Ordering {
        self.words().cmp(key.0.iter().copied())
    }
}

/// Consecutive rows in the form in which they are stored.
#[derive(Clone, Copy, Debug)]
pub enum StoredRows<'a> {
    /// Labels of one byte, M a row.
    Bytes(&'a [u8]),
    /// Labels of two bytes, M a row.
    Words(&'a [u16]),
    /// Shares.
    Shares(ShareRows<'a>),
}

/// A row that is kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowKey(Vec<u16>);

/// The shares of one object: base clusters among all, rising, and the share in each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareRow<'a> {
    clusters: &'a [u32],
    shares: &'a [f64],
}

/// The shares of consecutive objects.
#[derive(Clone, Copy, Debug)]
pub struct ShareRows<'a> {
    /// Where each row starts, and the end of the last.
    starts: &'a [usize],
    clusters: &'a [u32],
    shares: &'a [f64],
}

impl<'a> ShareRows<'a> {
    /// The rows of some objects.
    pub(super) fn of(memberships: &'a Memberships, objects: Range<usize>) -> Self {
        let (starts, clusters, shares) = memberships.parts();
        Self {
            starts: &starts[objects.start..=objects.end],
            clusters,
            shares,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a, L: Label> Row<'a> for &'a [L] {
    type Stored = &'a [L];

    #[inline]
    fn entries(self, offsets: &[usize]) -> impl Iterator<Item = Entry> {
        let labels = self.iter().zip(offsets).enumerate();
        labels.filter_map(|(base, (label, offset))| {
            Some(Entry {
                base,
                cluster: offset + label.cluster()?,
                share: 1.0,
            })
        })
    }

    #[inline]
    fn words(self) -> impl Iterator<Item = u16> {
        self.iter()
            .map(|label| label.cluster().map_or(u16::MISSING, u16::of))
    }

    #[inline]
    fn hash(self, seed: u64) -> u64 {
        RowHash(seed).of(self)
    }

    fn is_known_to(self, base: usize, _: &[usize]) -> bool {
        self[base] != L::MISSING
    }

    #[inline]
    fn count(stored: &'a [L], bases: usize) -> usize {
        stored.len() / bases
    }

    #[inline]
    fn at(stored: &'a [L], bases: usize, row: usize) -> Self {
        &stored[row * bases..(row + 1) * bases]
    }

    #[inline]
    fn part(stored: &'a [L], bases: usize, rows: Range<usize>) -> &'a [L] {
        &stored[rows.start * bases..rows.end * bases]
    }

    #[inline]
    fn any(stored: &'a [L]) -> StoredRows<'a> {
        match L::stored(stored) {
            StoredLabels::Bytes(labels) => StoredRows::Bytes(labels),
            StoredLabels::Words(labels) => StoredRows::Words(labels),
        }
    }
}

impl<'a> Row<'a> for ShareRow<'a> {
    type Stored = ShareRows<'a>;

    #[inline]
    fn entries(self, offsets: &[usize]) -> impl Iterator<Item = Entry> {
        let mut base = 0;
        self.clusters
            .iter()
            .zip(self.shares)
            .map(move |(&cluster, &share)| {
                let cluster = cluster as usize;
                while cluster >= offsets[base + 1] {
                    base += 1;
                }
                Entry {
                    base,
                    cluster,
                    share,
                }
            })
    }

    fn words(self) -> impl Iterator<Item = u16> {
        let entries = self.clusters.iter().zip(self.shares);
        entries.flat_map(|(&cluster, share)| {
            let bits = share.to_bits();
            [
                (cluster >> 16) as u16,
                cluster as u16,
                (bits >> 48) as u16,
                (bits >> 32) as u16,
                (bits >> 16) as u16,
                bits as u16,
            ]
        })
    }

    fn hash(self, seed: u64) -> u64 {
        let entries = self.clusters.iter().zip(self.shares);
        entries.fold(seed, |hash, (&cluster, share)| {
            mix(mix(hash ^ u64::from(cluster)) ^ share.to_bits())
        })
    }

    fn is_known_to(self, base: usize, offsets: &[usize]) -> bool {
        self.entries(offsets).any(|entry| entry.base == base)
    }

    fn count(stored: ShareRows<'a>, _: usize) -> usize {
        stored.len()
    }

    fn at(stored: ShareRows<'a>, _: usize, row: usize) -> Self {
        let range = stored.starts[row]..stored.starts[row + 1];
        Self {
            clusters: &stored.clusters[range.clone()],
            shares: &stored.shares[range],
        }
    }

    fn part(stored: ShareRows<'a>, _: usize, rows: Range<usize>) -> ShareRows<'a> {
        ShareRows {
            starts: &stored.starts[rows.start..=rows.end],
            ..stored
        }
    }

    fn any(stored: ShareRows<'a>) -> StoredRows<'a> {
        StoredRows::Shares(stored)
    }
}

impl RowKey {
    /// What an object with this row has, as [`Row::entries`]; `shares` says whether it is a row of shares.
    pub fn entries(&self, shares: bool, offsets: &[usize]) -> Vec<Entry> {
        if !shares {
            return self.0.as_slice().entries(offsets).collect();
        }
        let entries = share_entries(&self.0).map(|(cluster, share)| {
            let cluster = cluster as usize;
            let base = offsets.partition_point(|&start| start <= cluster) - 1;
            Entry {
                base,
                cluster,
                share,
            }
        });
        entries.collect()
    }

    /// An ensemble of rows that were kept, of labels or of shares.
    pub(super) fn ensemble(rows: &[Self], bases: &[BaseClustering], shares: bool) -> Ensemble {
        if shares {
            let mut memberships = Memberships::new();
            for row in rows {
                memberships.push(share_entries(&row.0));
            }
            return Ensemble::of_known_memberships(memberships, bases.to_vec());
        }
        let labels = rows.iter().flat_map(|row| row.0.iter().copied()).collect();
        let labels = Array2::from_shape_vec((rows.len(), bases.len()), labels)
            .expect("a row has a label for every base clustering");
        Ensemble::from_known(labels, bases.to_vec())
    }
}

/// The entries of a row of shares from its words.
pub(super) fn share_entries(words: &[u16]) -> impl Iterator<Item = (u32, f64)> {
    let (entries, _) = words.as_chunks::<6>();
    entries.iter().map(|words| {
        let [high, low, bits @ ..] = words.map(u64::from);
        let bits = bits.iter().fold(0, |bits, word| bits << 16 | word);
        ((high << 16 | low) as u32, f64::from_bits(bits))
    })
}
