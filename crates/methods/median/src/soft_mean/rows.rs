//! Memberships of objects that are held: means of matched columns, and products with them.

use std::ops::Range;

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{Memberships, Mergeable, map_parallel};
use rayon::prelude::*;

use super::sums::{Gathered, MeanSums};

/// Objects whose sums are made by one thread in one piece, whatever the number of threads.
const PIECE: usize = 2048;

/// Memberships with what their base clusterings and objects count.
pub(super) struct WeightedShares<'a> {
    pub(super) shares: &'a Memberships,
    /// Where the clusters of each base clustering start.
    pub(super) offsets: Vec<usize>,
    /// The base clustering of every base cluster.
    base_of: Vec<u32>,
    pub(super) base_weights: Vec<f64>,
    object_weights: Option<&'a [f64]>,
    /// Clusters of the consensus, K.
    pub(super) clusters: usize,
}

impl<'a> WeightedShares<'a> {
    pub(super) fn new(
        shares: &'a Memberships,
        offsets: Vec<usize>,
        base_weights: Vec<f64>,
        object_weights: Option<&'a [f64]>,
        clusters: usize,
    ) -> Self {
        let of = |(u, ends): (usize, &[usize])| vec![u as u32; ends[1] - ends[0]];
        let base_of = offsets.windows(2).enumerate().flat_map(of).collect();
        Self {
            shares,
            offsets,
            base_of,
            base_weights,
            object_weights,
            clusters,
        }
    }

    fn weight(&self, object: usize) -> f64 {
        self.object_weights.map_or(1.0, |weights| weights[object])
    }

    /// The clusters of one base clustering that an object has a share in, and the shares.
    pub(super) fn of_base(&self, object: usize, u: usize) -> impl Iterator<Item = (usize, f64)> {
        let (clusters, shares) = self.shares.row(object);
        let before = |end: usize| clusters.partition_point(|&c| (c as usize) < end);
        (before(self.offsets[u])..before(self.offsets[u + 1]))
            .map(move |at| (clusters[at] as usize, shares[at]))
    }

    /// The base clusterings of an object, and the clusters that it has a share in.
    fn entries(&self, object: usize) -> impl Iterator<Item = (usize, usize, f64)> {
        let (clusters, shares) = self.shares.row(object);
        clusters
            .iter()
            .zip(shares)
            .map(|(&c, &share)| (self.base_of[c as usize] as usize, c as usize, share))
    }

    /// Sums over those rows; with `hard` every row is its largest entry.
    pub(super) fn sums(&self, codes: &[u32], hard: bool) -> MeanSums {
        let add = |objects: Range<usize>| {
            let mut sums = MeanSums::new(self.base_of.len(), self.clusters);
            let mut gathered = Gathered::new(codes, self.clusters);
            for object in objects {
                gathered.gather(self.entries(object), codes, &self.base_weights);
                sums.add(
                    &mut gathered,
                    self.entries(object),
                    self.weight(object),
                    hard,
                );
            }
            sums
        };
        self.pieces(MeanSums::new(self.base_of.len(), self.clusters), add)
    }

    /// Σ_c share_ic x_ck for every object i and column k of a `table` of base clusters.
    pub(super) fn gathered(&self, table: ArrayView2<'_, f64>) -> Array2<f64> {
        let width = table.ncols();
        let mut rows = Array2::zeros((self.shares.objects(), width));
        let values = rows.as_slice_mut().expect("a new array lies in rows");
        values
            .par_chunks_mut(PIECE * width)
            .enumerate()
            .for_each(|(number, rows)| {
                for (at, row) in rows.chunks_exact_mut(width).enumerate() {
                    let (clusters, shares) = self.shares.row(number * PIECE + at);
                    for (&cluster, share) in clusters.iter().zip(shares) {
                        row.iter_mut()
                            .zip(table.row(cluster as usize))
                            .for_each(|(sum, x)| *sum += share * x);
                    }
                }
            });
        rows
    }

    /// Σ_i w_i share_ic y_ik for every base cluster c and column k of `rows`.
    pub(super) fn products(&self, rows: ArrayView2<'_, f64>) -> Array2<f64> {
        let shape = (self.base_of.len(), rows.ncols());
        let add = |objects: Range<usize>| {
            let mut sums = Array2::zeros(shape);
            for object in objects {
                let (clusters, shares) = self.shares.row(object);
                for (&cluster, &share) in clusters.iter().zip(shares) {
                    sums.row_mut(cluster as usize)
                        .scaled_add(self.weight(object) * share, &rows.row(object));
                }
            }
            Products(sums)
        };
        self.pieces(Products(Array2::zeros(shape)), add).0
    }

    /// Σ_i w_i share_ic share_id for the clusters c and d of one base clustering.
    pub(super) fn co_shares(&self, u: usize) -> Array2<f64> {
        let (start, end) = (self.offsets[u], self.offsets[u + 1]);
        let mut table = Array2::zeros((end - start, end - start));
        for object in 0..self.shares.objects() {
            for (a, share) in self.of_base(object, u) {
                for (b, other) in self.of_base(object, u) {
                    table[[a - start, b - start]] += self.weight(object) * share * other;
                }
            }
        }
        table
    }

    /// Sums over all objects, added to `total` piece by piece in their order.
    fn pieces<T: Mergeable + Send>(
        &self,
        mut total: T,
        sum: impl Fn(Range<usize>) -> T + Sync,
    ) -> T {
        let objects = self.shares.objects();
        let pieces: Vec<usize> = (0..objects.div_ceil(PIECE)).collect();
        for some in pieces.chunks(2 * rayon::current_num_threads()) {
            let sum = |&piece: &usize| sum(piece * PIECE..((piece + 1) * PIECE).min(objects));
            map_parallel(some, sum)
                .into_iter()
                .for_each(|sum| total.merge(sum));
        }
        total
    }
}

struct Products(Array2<f64>);

impl Mergeable for Products {
    fn merge(&mut self, other: Self) {
        self.0 += &other.0;
    }
}
