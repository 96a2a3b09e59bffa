//! Sums over the memberships of all objects: means of matched columns, and products with them.

use partita_core::Memberships;
use partita_core::ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

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

/// The rows of a consensus, n × K, and what they cost.
pub(super) struct Means {
    pub(super) rows: Array2<f64>,
    pub(super) loss: f64,
    /// The mean over columns of the share of squares about the mean of the column that is left about the rows; 1 for a column in
    /// which all is equal. The loss is 0 where all base clusters share one column, and this is not.
    pub(super) unexplained: f64,
}

/// Weighted sums over objects and base clusterings: the loss, the weights, and for each of K columns the squares about the rows, the
/// shares and their squares.
struct ColumnSums {
    loss: f64,
    weight: f64,
    columns: Vec<[f64; 3]>,
}

impl ColumnSums {
    fn new(clusters: usize) -> Self {
        Self { loss: 0.0, weight: 0.0, columns: vec![[0.0; 3]; clusters] }
    }

    fn add(&mut self, other: &Self) {
        self.loss += other.loss;
        self.weight += other.weight;
        for (own, more) in self.columns.iter_mut().zip(&other.columns) {
            own.iter_mut().zip(more).for_each(|(own, more)| *own += more);
        }
    }

    fn unexplained(&self) -> f64 {
        let of_column = |&[within, shares, squares]: &[f64; 3]| {
            let all = squares - shares * shares / self.weight;
            if all > 1e-9 * self.weight { within / all } else { 1.0 }
        };
        self.columns.iter().map(of_column).sum::<f64>() / self.columns.len() as f64
    }
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
        Self { shares, offsets, base_of, base_weights, object_weights, clusters }
    }

    fn weight(&self, object: usize) -> f64 {
        self.object_weights.map_or(1.0, |weights| weights[object])
    }

    /// The clusters of one base clustering that an object has a share in, and the shares.
    pub(super) fn of_base(&self, object: usize, u: usize) -> impl Iterator<Item = (usize, f64)> {
        let (clusters, shares) = self.shares.row(object);
        let before = |end: usize| clusters.partition_point(|&c| (c as usize) < end);
        (before(self.offsets[u])..before(self.offsets[u + 1])).map(move |at| (clusters[at] as usize, shares[at]))
    }

    /// Adds the shares of an object to the columns in `codes`, weighted by their base clusterings. Gives the sum of the weights of
    /// the base clusterings that know it, and the weighted squares of its shares after those of one column are added.
    fn gather(&self, object: usize, codes: &[u32], row: &mut Gathered) -> (f64, f64) {
        let (clusters, shares) = self.shares.row(object);
        row.sums.fill(0.0);
        row.squares.fill(0.0);
        let (mut total, mut squares, mut at) = (0.0, 0.0, 0);
        while at < clusters.len() {
            let u = self.base_of[clusters[at] as usize];
            let weight = self.base_weights[u as usize];
            while at < clusters.len() && self.base_of[clusters[at] as usize] == u {
                let column = codes[clusters[at] as usize] as usize;
                if row.own[column] == 0.0 {
                    row.touched.push(column);
                }
                row.own[column] += shares[at];
                at += 1;
            }
            for column in row.touched.drain(..) {
                let share = std::mem::take(&mut row.own[column]);
                row.sums[column] += weight * share;
                row.squares[column] += weight * share * share;
                squares += weight * share * share;
            }
            total += weight;
        }
        (total, squares)
    }

    /// The rows that are closest to the memberships when base clusters go to these columns, and their loss. What goes to columns from
    /// K on is spread evenly; with `hard` every row is its largest entry.
    pub(super) fn means(&self, codes: &[u32], hard: bool) -> Means {
        let (n, k) = (self.shares.objects(), self.clusters);
        let wide = codes.iter().max().map_or(k, |&most| k.max(most as usize + 1));
        let mut rows = Array2::zeros((n, k));
        let piece = |(number, rows): (usize, &mut [f64])| {
            let (mut gathered, mut sums) = (Gathered::new(wide), ColumnSums::new(k));
            for (at, row) in rows.chunks_exact_mut(k).enumerate() {
                let object = number * PIECE + at;
                let (total, squares) = self.gather(object, codes, &mut gathered);
                closest(row, &gathered.sums, total, hard);
                gathered.add_to(&mut sums, row, (self.weight(object), total), squares);
            }
            sums
        };
        let values = rows.as_slice_mut().expect("a new array lies in rows");
        let pieces: Vec<ColumnSums> = values.par_chunks_mut(PIECE * k).enumerate().map(piece).collect();
        let mut all = ColumnSums::new(k);
        pieces.iter().for_each(|piece| all.add(piece));
        Means { rows, loss: all.loss, unexplained: all.unexplained() }
    }

    /// Σ_i w_i share_ic y_ik for every base cluster c and column k of `rows`.
    pub(super) fn products(&self, rows: ArrayView2<'_, f64>) -> Array2<f64> {
        let sums = self.pieces(|object, sums: &mut Array2<f64>| {
            let (clusters, shares) = self.shares.row(object);
            for (&cluster, &share) in clusters.iter().zip(shares) {
                sums.row_mut(cluster as usize).scaled_add(self.weight(object) * share, &rows.row(object));
            }
        });
        sums((self.base_of.len(), rows.ncols()))
    }

    /// [`products`](Self::products) of one base clustering.
    pub(super) fn base_products(&self, u: usize, rows: ArrayView2<'_, f64>) -> Array2<f64> {
        let start = self.offsets[u];
        let mut sums = Array2::zeros((self.offsets[u + 1] - start, rows.ncols()));
        for (object, row) in rows.outer_iter().enumerate() {
            for (cluster, share) in self.of_base(object, u) {
                sums.row_mut(cluster - start).scaled_add(self.weight(object) * share, &row);
            }
        }
        sums
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

    /// Sums over all objects, added piece by piece in their order.
    fn pieces(&self, add: impl Fn(usize, &mut Array2<f64>) + Sync) -> impl Fn((usize, usize)) -> Array2<f64> {
        move |shape| {
            let pieces: Vec<usize> = (0..self.shares.objects().div_ceil(PIECE)).collect();
            let mut total = Array2::zeros(shape);
            for some in pieces.chunks(2 * rayon::current_num_threads()) {
                let sum = |&piece: &usize| {
                    let mut sums = Array2::zeros(shape);
                    let objects = piece * PIECE..((piece + 1) * PIECE).min(self.shares.objects());
                    objects.for_each(|object| add(object, &mut sums));
                    sums
                };
                let sums: Vec<Array2<f64>> = some.par_iter().map(sum).collect();
                sums.iter().for_each(|sums| total += sums);
            }
            total
        }
    }
}

/// Where the shares of an object are added up.
struct Gathered {
    /// The weighted sum of every column.
    sums: Vec<f64>,
    /// The weighted squares of every column.
    squares: Vec<f64>,
    own: Vec<f64>,
    touched: Vec<usize>,
}

impl Gathered {
    fn new(columns: usize) -> Self {
        let zeros = vec![0.0; columns];
        Self { sums: zeros.clone(), squares: zeros.clone(), own: zeros, touched: Vec::new() }
    }

    /// What an object of this weight costs where its row is `row`; `total` is the weight of the base clusterings that know it.
    fn add_to(&self, sums: &mut ColumnSums, row: &[f64], (weight, total): (f64, f64), squares: f64) {
        let own: f64 = row.iter().map(|y| y * y).sum();
        let both: f64 = row.iter().zip(&self.sums).map(|(y, sum)| y * sum).sum();
        sums.loss += weight * (total * own - 2.0 * both + squares).max(0.0);
        sums.weight += weight * total;
        for (k, (column, y)) in sums.columns.iter_mut().zip(row).enumerate() {
            let (shares, squares) = (self.sums[k], self.squares[k]);
            let within = (y * (total * y - 2.0 * shares) + squares).max(0.0);
            [within, shares, squares].iter().zip(column).for_each(|(more, own)| *own += weight * more);
        }
    }
}

/// The row on the simplex of K columns that is closest to `sums` / `total`.
fn closest(row: &mut [f64], sums: &[f64], total: f64, hard: bool) {
    let k = row.len();
    let beyond: f64 = sums[k..].iter().sum();
    row.iter_mut().zip(sums).for_each(|(y, sum)| *y = (sum + beyond / k as f64) / total);
    if hard {
        let best = (1..k).fold(0, |best, at| if row[at] > row[best] { at } else { best });
        row.fill(0.0);
        row[best] = 1.0;
    }
}

/// The mean of the base clusterings so far: sums of their shares by column, n × wide, and of the weights of those that know an object.
pub(super) struct RunningMean {
    sums: Array2<f64>,
    totals: Vec<f64>,
}

impl RunningMean {
    pub(super) fn new(objects: usize, wide: usize) -> Self {
        Self { sums: Array2::zeros((objects, wide)), totals: vec![0.0; objects] }
    }

    /// Adds a base clustering, and puts the means into the rows (n × K) of the objects that it knows.
    pub(super) fn add(&mut self, shares: &WeightedShares<'_>, u: usize, codes: &[u32], rows: &mut Array2<f64>) {
        let (weight, k) = (shares.base_weights[u], rows.ncols());
        for (object, mut row) in rows.outer_iter_mut().enumerate() {
            let mut known = false;
            for (cluster, share) in shares.of_base(object, u) {
                self.sums[[object, codes[cluster] as usize]] += weight * share;
                known = true;
            }
            if known {
                self.totals[object] += weight;
                let sums = self.sums.row(object);
                let beyond = sums.slice(s![k..]).sum() / k as f64;
                row.iter_mut().zip(sums).for_each(|(y, sum)| *y = (sum + beyond) / self.totals[object]);
            }
        }
    }
}
