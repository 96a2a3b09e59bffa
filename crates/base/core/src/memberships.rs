//! Soft base clusterings: shares of an object in several clusters of one base clustering.

use std::cmp::Ordering;

use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

use crate::seed::mix;

/// Sums of shares that are off by no more are rounding of what wrote them.
pub const ROUNDED_SHARES: f64 = 1e-3;

/// The shares of n objects in J clusters: a row sums to 1, or is 0 where nothing is known of the object.
#[derive(Clone, Debug, PartialEq)]
#[doc(alias("Q matrix", "fuzzy membership", "soft labels"))]
pub struct Shares {
    rows: Array2<f64>,
    rescaled: usize,
}

/// Numbers that are not shares.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SharesError {
    /// A number that is not between 0 and 1.
    #[error("row {}, column {}: {value} is not a share between 0 and 1", .row + 1, .column + 1)]
    Share {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// The number.
        value: f64,
    },
    /// A row that is not a distribution.
    #[error("row {}: the shares sum to {sum:.6}, not to 1; divide every row by its sum", .row + 1)]
    Sum {
        /// The row, from 0.
        row: usize,
        /// The sum of its shares.
        sum: f64,
    },
}

impl Shares {
    /// Shares from n × J numbers. Rows whose sums are off by no more than the rounding of J printed numbers, half a unit of their last
    /// decimal each, are divided by their sums; so are those that are off by at most [`ROUNDED_SHARES`], which are counted. Rows of
    /// zeros stay.
    ///
    /// # Errors
    /// [`SharesError`] for the first number or row that does not fit.
    pub fn new(mut rows: Array2<f64>) -> Result<Self, SharesError> {
        let mut rescaled = 0;
        let rounding = rounding(&rows);
        for (row, mut shares) in rows.rows_mut().into_iter().enumerate() {
            let wrong = shares
                .iter()
                .position(|share| !(0.0..=1.0 + ROUNDED_SHARES).contains(share));
            if let Some(column) = wrong {
                return Err(SharesError::Share {
                    row,
                    column,
                    value: shares[column],
                });
            }
            let sum = shares.sum();
            if sum == 0.0 {
                continue;
            }
            let off = (sum - 1.0).abs();
            if off > ROUNDED_SHARES.max(rounding) {
                return Err(SharesError::Sum { row, sum });
            }
            if off > 1e-12 {
                rescaled += usize::from(off > rounding);
                shares /= sum;
            }
        }
        Ok(Self { rows, rescaled })
    }

    /// Shares of 1 in the clusters of these labels, none where a label is missing.
    pub fn of_labels(
        labels: impl ExactSizeIterator<Item = Option<usize>>,
        clusters: usize,
    ) -> Self {
        let mut rows = Array2::zeros((labels.len(), clusters));
        labels
            .enumerate()
            .filter_map(|(row, label)| Some((row, label?)))
            .for_each(|place| rows[place] = 1.0);
        Self { rows, rescaled: 0 }
    }

    /// Rows that are known to be shares.
    pub(crate) fn known(rows: Array2<f64>) -> Self {
        Self { rows, rescaled: 0 }
    }

    /// The shares, n × J.
    pub fn rows(&self) -> ArrayView2<'_, f64> {
        self.rows.view()
    }

    /// Rows whose sums were off by more than the rounding of printed numbers and at most [`ROUNDED_SHARES`].
    pub fn rescaled(&self) -> usize {
        self.rescaled
    }

    /// The rows at these places, in this order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            rows: self.rows.select(Axis(0), rows),
            rescaled: self.rescaled,
        }
    }
}

/// By how much a row may miss 1 because its numbers were printed with a few decimals, the same for all: half a unit of the last a number.
/// One decimal is what somebody wrote by hand, not a program; numbers of more than six are as good as exact.
fn rounding(rows: &Array2<f64>) -> f64 {
    let printed = |&digits: &i32| {
        let scale = 10_f64.powi(digits);
        // A number in single precision is off by 6e-8 of itself.
        let whole = |share: &f64| (share * scale - (share * scale).round()).abs() <= 1e-7 * scale;
        rows.iter().all(whole)
    };
    let unit = (2..=6)
        .find(printed)
        .map_or(0.0, |digits| 10_f64.powi(-digits));
    (0.5 * unit * rows.ncols() as f64).max(1e-9) * (1.0 + 1e-6)
}

/// The memberships of all objects in all base clusters: n sparse rows over ΣJ columns, the clusters of all base clusterings
/// numbered through. The shares of an object in one base clustering sum to 1; an object that a base clustering does not know
/// has no share there.
#[derive(Clone, Debug, PartialEq)]
pub struct Memberships {
    starts: Vec<usize>,
    clusters: Vec<u32>,
    shares: Vec<f64>,
}

impl Memberships {
    /// No rows yet.
    pub(crate) fn new() -> Self {
        Self {
            starts: vec![0],
            clusters: Vec::new(),
            shares: Vec::new(),
        }
    }

    /// Rows from their parts: `starts` has where each row starts and the end of the last, `clusters` rise within a base clustering.
    ///
    /// `offsets` has where the clusters of each base clustering start ([`Ensemble::offsets`](crate::Ensemble::offsets)). Returns
    /// `None` if the parts do not fit each other or these base clusterings.
    pub fn from_parts(
        starts: Vec<usize>,
        clusters: Vec<u32>,
        shares: Vec<f64>,
        offsets: &[usize],
    ) -> Option<Self> {
        let found = Self {
            starts,
            clusters,
            shares,
        };
        let fits = found.starts.first() == Some(&0)
            && found.starts.is_sorted()
            && found.starts.last() == Some(&found.clusters.len())
            && found.clusters.len() == found.shares.len();
        (fits && found.valid(offsets)).then_some(found)
    }

    /// Whether clusters rise and the shares of every base clustering are positive and sum to 1.
    fn valid(&self, offsets: &[usize]) -> bool {
        (0..self.objects()).all(|object| {
            let (own, shares) = self.row(object);
            let known = own
                .last()
                .is_none_or(|&c| (c as usize) < offsets.last().copied().unwrap_or(0));
            let rising = own.windows(2).all(|pair| pair[0] < pair[1]);
            known
                && rising
                && shares.iter().all(|share| *share > 0.0)
                && sums_are_one(own, shares, offsets)
        })
    }

    /// The same with every share in base cluster `c` times `factors[c]`: what counts so much of a label, whose shares no longer sum to 1.
    ///
    /// # Panics
    /// If there is not one factor a base cluster.
    #[must_use]
    pub fn scaled(mut self, factors: &[f64]) -> Self {
        self.shares
            .iter_mut()
            .zip(&self.clusters)
            .for_each(|(share, &c)| *share *= factors[c as usize]);
        self
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of shares above 0.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Whether there is no share at all.
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// The clusters that `object` has a share in, rising, and the shares.
    ///
    /// # Panics
    /// If `object` is out of range.
    pub fn row(&self, object: usize) -> (&[u32], &[f64]) {
        let range = self.starts[object]..self.starts[object + 1];
        (&self.clusters[range.clone()], &self.shares[range])
    }

    /// Where each row starts, the clusters, and the shares.
    pub fn parts(&self) -> (&[usize], &[u32], &[f64]) {
        (&self.starts, &self.clusters, &self.shares)
    }

    /// A hash of a row.
    pub(crate) fn hash(&self, object: usize) -> u64 {
        let (clusters, shares) = self.row(object);
        clusters
            .iter()
            .zip(shares)
            .fold(0, |hash, (&cluster, share)| {
                mix(mix(hash ^ u64::from(cluster)) ^ share.to_bits())
            })
    }

    /// An order of rows in which equal ones stand together.
    pub(crate) fn compare(&self, one: usize, other: usize) -> Ordering {
        let ((own, shares), (others, other_shares)) = (self.row(one), self.row(other));
        let of_shares = || {
            shares
                .iter()
                .map(|share| share.to_bits())
                .cmp(other_shares.iter().map(|share| share.to_bits()))
        };
        own.cmp(others).then_with(of_shares)
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = (u32, f64)>) {
        for (cluster, share) in row {
            self.clusters.push(cluster);
            self.shares.push(share);
        }
        self.starts.push(self.clusters.len());
    }

    /// Every row followed by that of `other`, whose clusters are numbered from `start`.
    pub(crate) fn beside(&self, other: &Self, start: u32) -> Self {
        let mut joined = Self::new();
        for object in 0..self.objects() {
            let ((own, shares), (others, other_shares)) = (self.row(object), other.row(object));
            let moved = others.iter().map(|&cluster| cluster + start);
            let clusters = own.iter().copied().chain(moved);
            joined.push(clusters.zip(shares.iter().chain(other_shares).copied()));
        }
        joined
    }

    /// Whether every share is 1, so that labels say the same.
    pub(crate) fn is_hard(&self) -> bool {
        self.shares.iter().all(|share| *share == 1.0)
    }

    /// The rows of these objects, with only the clusters of these base clusterings, which are numbered through anew.
    pub(crate) fn select(&self, objects: &[u32], bases: &[u32], offsets: &[usize]) -> Self {
        // Where the clusters of a base clustering start among the selected ones.
        let mut start = 0;
        let ranges: Vec<(std::ops::Range<usize>, usize)> = (bases.iter())
            .map(|&u| {
                let range = offsets[u as usize]..offsets[u as usize + 1];
                let own = start;
                start += range.len();
                (range, own)
            })
            .collect();
        let mut selected = Self::new();
        for &object in objects {
            let (clusters, shares) = self.row(object as usize);
            let of = |(range, own): &(std::ops::Range<usize>, usize)| {
                let first = clusters.partition_point(|&c| (c as usize) < range.start);
                let last = clusters.partition_point(|&c| (c as usize) < range.end);
                let (range, own) = (range.clone(), *own);
                (first..last).map(move |at| {
                    (
                        (clusters[at] as usize - range.start + own) as u32,
                        shares[at],
                    )
                })
            };
            selected.push(ranges.iter().flat_map(of));
        }
        selected
    }

    /// The same when the cluster with the number `c` is called `codes[c]`; clusters stay in their base clustering.
    #[cfg(feature = "methods")]
    pub(crate) fn recoded(&self, codes: &[u32]) -> Self {
        let mut recoded = Self::new();
        for object in 0..self.objects() {
            let (clusters, shares) = self.row(object);
            let mut row: Vec<(u32, f64)> = clusters
                .iter()
                .zip(shares)
                .map(|(&c, &share)| (codes[c as usize], share))
                .collect();
            row.sort_unstable_by_key(|&(c, _)| c);
            recoded.push(row);
        }
        recoded
    }
}

/// Whether the shares in every base clustering sum to 1 where there are some.
fn sums_are_one(clusters: &[u32], shares: &[f64], offsets: &[usize]) -> bool {
    let mut at = 0;
    while at < clusters.len() {
        let end = offsets[offsets.partition_point(|&start| start <= clusters[at] as usize)];
        let last = at + clusters[at..].partition_point(|&c| (c as usize) < end);
        if (shares[at..last].iter().sum::<f64>() - 1.0).abs() > 1e-9 {
            return false;
        }
        at = last;
    }
    true
}

/// The entries of a row of shares that are kept: at most `most`, the largest first, ties to the smaller cluster; then in the order
/// of clusters, divided by their sum. The second value is the share that was left out.
pub(crate) fn largest(shares: ArrayView1<'_, f64>, most: usize) -> (Vec<(usize, f64)>, f64) {
    let mut kept: Vec<(usize, f64)> = shares
        .iter()
        .copied()
        .enumerate()
        .filter(|&(_, share)| share > 0.0)
        .collect();
    if kept.len() <= most {
        return (kept, 0.0);
    }
    kept.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let lost: f64 = kept[most..].iter().map(|(_, share)| share).sum();
    kept.truncate(most);
    kept.sort_unstable_by_key(|&(cluster, _)| cluster);
    let sum: f64 = kept.iter().map(|(_, share)| share).sum();
    kept.iter_mut().for_each(|(_, share)| *share /= sum);
    (kept, lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn rows_that_are_not_shares_are_refused_and_rounded_ones_divided() {
        let shares = Shares::new(array![[0.5, 0.5], [0.0, 0.0], [0.3334, 0.6664]]).unwrap();
        assert_eq!(shares.rescaled(), 1);
        assert!((shares.rows().row(2).sum() - 1.0).abs() < 1e-15);
        assert_eq!(
            Shares::new(array![[0.5, 0.6]]),
            Err(SharesError::Sum { row: 0, sum: 1.1 })
        );
        assert_eq!(
            Shares::new(array![[1.0, -0.1]]),
            Err(SharesError::Share {
                row: 0,
                column: 1,
                value: -0.1
            })
        );
        assert!(matches!(
            Shares::new(array![[f64::NAN, 1.0]]),
            Err(SharesError::Share { column: 0, .. })
        ));
    }

    #[test]
    fn the_largest_shares_are_kept_in_the_order_of_clusters() {
        let (kept, lost) = largest(array![0.2, 0.1, 0.5, 0.2].view(), 2);
        assert_eq!(
            kept.iter().map(|(cluster, _)| *cluster).collect::<Vec<_>>(),
            [0, 2]
        );
        assert!((kept[1].1 - 0.5 / 0.7).abs() < 1e-15 && (lost - 0.3).abs() < 1e-15);
        assert_eq!(largest(array![0.0, 1.0].view(), 1), (vec![(1, 1.0)], 0.0));
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let parts = |starts: &[usize], clusters: &[u32], shares: &[f64]| {
            Memberships::from_parts(
                starts.to_vec(),
                clusters.to_vec(),
                shares.to_vec(),
                &[0, 2, 4],
            )
        };
        assert!(parts(&[0, 3], &[0, 1, 3], &[0.4, 0.6, 1.0]).is_some());
        assert!(
            parts(&[0, 1], &[3], &[1.0]).is_some(),
            "a base clustering may miss an object"
        );
        assert!(
            parts(&[0, 3], &[0, 1, 4], &[0.4, 0.6, 1.0]).is_none(),
            "no such cluster"
        );
        assert!(
            parts(&[0, 2], &[0, 1], &[0.4, 0.4]).is_none(),
            "not a distribution"
        );
        assert!(
            parts(&[0, 2], &[1, 0], &[0.4, 0.6]).is_none(),
            "not in order"
        );
        assert!(parts(&[0, 3], &[0, 1], &[0.4, 0.6]).is_none() && parts(&[], &[], &[]).is_none());
    }
}
