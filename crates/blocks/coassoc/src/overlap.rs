//! The overlap table of base clusters: how many objects each two have in common, by one pass over label rows.

use std::ops::Range;

use partita_core::ndarray::{Array2, ArrayView2, Axis};
use partita_core::{
    BaseClustering, Entry, Mergeable, PassError, PassKind, PassRunner, ProblemSize, Row, RowBlock,
    RowPass, StoredRows, sums_under_way,
};
use serde::{Deserialize, Serialize};

/// Weight of the objects that each pair of base clusters shares, I = ZᵀWZ for one-hot labels Z: ΣJ × ΣJ, symmetric, with
/// the weight of each cluster on the diagonal and 0 between different clusters of one base clustering.
///
/// Much of consensus clustering needs no more than this table: the weights of locally weighted methods
/// ([`Overlap::cluster_weights`]), the cluster graph of bipartite cuts, meta-clustering, agreement of base clusterings.
///
/// ```
/// use partita_coassoc::Overlap;
/// use partita_core::{EnsembleBuilder, EnsembleRows, PassRunner, Silent};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut builder = EnsembleBuilder::new(3);
/// builder.push("a", [Some("x"), Some("x"), Some("y")])?;
/// builder.push("b", [Some(3), Some(4), None])?;
/// let ensemble = builder.finish()?;
/// let overlap = Overlap::count(&PassRunner::new(&EnsembleRows::new(&ensemble), &Silent))?;
/// assert_eq!(overlap.sizes(), [2.0, 1.0, 1.0, 1.0]); // a = x, a = y, b = 3, b = 4
/// assert_eq!(overlap.of_bases(0, 1), partita_core::ndarray::array![[1.0, 1.0], [0.0, 0.0]]);
/// assert_eq!(overlap.seen_by_both(0, 1), 2.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    table: Array2<f64>,
    offsets: Vec<usize>,
    first_unlabelled: Option<u64>,
}

impl Overlap {
    /// The number of objects that each pair of base clusters shares; rows with weights count as often as they say.
    ///
    /// # Cost
    /// O(n M²/2) time; ΣJ × ΣJ numbers, one table a thread.
    ///
    /// # Errors
    /// [`PassError`] when rows cannot be read or the monitor asks to stop.
    pub fn count(rows: &PassRunner<'_>) -> Result<Self, PassError> {
        let offsets = BaseClustering::offsets(rows.source().bases());
        let sum = rows.run(&CountPairs {
            offsets: offsets.clone(),
        })?;
        Ok(Self::of(sum, offsets))
    }

    /// The table of an ensemble that has grown: these rows and those of `more`, counted with the same base clusterings. Clusters may
    /// have been added at the end of each base clustering. `rows` is the number of rows that this table is of.
    ///
    /// # Errors
    /// [`OverlapError::Bases`] where a base clustering of `more` has fewer clusters than here, or there is another number of them.
    pub fn with_rows(&self, rows: u64, more: &Self) -> Result<Self, OverlapError> {
        let mut sum = self.widened(more.offsets())?;
        if more.offsets.len() != self.offsets.len() {
            return Err(OverlapError::Bases);
        }
        sum.table += &more.table;
        sum.first_unlabelled = self
            .first_unlabelled
            .or(more.first_unlabelled.map(|row| rows + row));
        Ok(sum)
    }

    /// The table of the same rows with base clusterings added after those counted here: only pairs with a new one are counted.
    ///
    /// # Cost
    /// O(n M M') time for M' new ones.
    ///
    /// # Errors
    /// [`OverlapError`] when rows cannot be read, or their first base clusterings are not these.
    pub fn with_bases(&self, rows: &PassRunner<'_>) -> Result<Self, OverlapError> {
        let offsets = BaseClustering::offsets(rows.source().bases());
        if !offsets.starts_with(&self.offsets) {
            return Err(OverlapError::Bases);
        }
        let (old, side) = (self.side(), offsets[offsets.len() - 1]);
        let counted = rows.run(&CountLines::new(offsets.clone(), (old..side).collect()))?;
        let mut grown = self.widened(&offsets)?;
        for (new, line) in (old..side).zip(counted.cells.chunks_exact(side)) {
            for (other, &cell) in line.iter().enumerate() {
                (grown.table[[new, other]], grown.table[[other, new]]) = (cell, cell);
            }
        }
        grown.first_unlabelled = counted.first_unlabelled;
        Ok(grown)
    }

    /// The same counts where each base clustering may have more clusters, and there may be more base clusterings.
    fn widened(&self, offsets: &[usize]) -> Result<Self, OverlapError> {
        let clusters = |offsets: &[usize], u: usize| offsets[u + 1] - offsets[u];
        let bases = self.offsets.len() - 1;
        if offsets.len() <= bases
            || (0..bases).any(|u| clusters(offsets, u) < clusters(&self.offsets, u))
        {
            return Err(OverlapError::Bases);
        }
        let place: Vec<usize> = (0..bases)
            .flat_map(|u| (0..clusters(&self.offsets, u)).map(move |j| offsets[u] + j))
            .collect();
        let side = offsets[offsets.len() - 1];
        let mut table = Array2::zeros((side, side));
        for ((a, b), count) in self.table.indexed_iter() {
            table[[place[a], place[b]]] = *count;
        }
        Ok(Self {
            table,
            offsets: offsets.to_vec(),
            first_unlabelled: self.first_unlabelled,
        })
    }

    /// A table that was counted before; none where it is not a table of base clusterings that start at these offsets.
    pub fn from_parts(
        table: Array2<f64>,
        offsets: Vec<usize>,
        first_unlabelled: Option<u64>,
    ) -> Option<Self> {
        let side = *offsets.last()?;
        let fits =
            offsets.first() == Some(&0) && offsets.is_sorted() && table.dim() == (side, side);
        let counts = |x: &f64| x.is_finite() && *x >= 0.0;
        (fits && table.iter().all(counts) && table == table.t()).then_some(Self {
            table,
            offsets,
            first_unlabelled,
        })
    }

    /// Bytes that [`Overlap::count`] holds at once, at most, whoever holds the rows.
    pub fn bytes(size: &ProblemSize) -> u64 {
        let side = size.base_clusters as u64;
        side.saturating_mul(side)
            .saturating_mul(8 * (sums_under_way(size.objects) + 1))
    }

    /// The same where every object is shared out among its base clusters: it counts its weight over the sum of the
    /// `strengths` of the clusters that it is in, one number a base cluster. This is the cluster graph of a transfer cut.
    ///
    /// # Cost
    /// As [`Overlap::count`], a few tables a thread: they are merged in an order that does not depend on threads.
    ///
    /// # Errors
    /// As [`Overlap::count`].
    ///
    /// # Panics
    /// If there is not one strength a base cluster.
    pub fn shared(rows: &PassRunner<'_>, strengths: &[f64]) -> Result<Self, PassError> {
        let offsets = BaseClustering::offsets(rows.source().bases());
        assert_eq!(
            strengths.len(),
            offsets[offsets.len() - 1],
            "one strength a base cluster"
        );
        let sum = rows.run(&SharePairs {
            offsets: offsets.clone(),
            strengths: strengths.to_vec(),
        })?;
        Ok(Self::of(sum, offsets))
    }

    /// The products of all shares of every object, also within a base clustering: ZᵀWZ for the shares Z. For labels it is
    /// [`Overlap::count`].
    ///
    /// # Errors
    /// As [`Overlap::count`].
    pub fn products(rows: &PassRunner<'_>) -> Result<Self, PassError> {
        let offsets = BaseClustering::offsets(rows.source().bases());
        let sum = rows.run(&SharePairs {
            offsets: offsets.clone(),
            strengths: Vec::new(),
        })?;
        Ok(Self::of(sum, offsets))
    }

    /// Number of base clusters, ΣJ.
    fn side(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    fn of(sum: PairSums, offsets: Vec<usize>) -> Self {
        let side = offsets[offsets.len() - 1];
        let mut table =
            Array2::from_shape_vec((side, side), sum.cells).expect("a table of ΣJ lines");
        for a in 0..side {
            for b in 0..a {
                table[[a, b]] = table[[b, a]];
            }
        }
        Self {
            table,
            offsets,
            first_unlabelled: sum.first_unlabelled,
        }
    }

    /// The whole table, ΣJ × ΣJ.
    pub fn table(&self) -> ArrayView2<'_, f64> {
        self.table.view()
    }

    /// The whole table, without a copy.
    pub fn into_table(self) -> Array2<f64> {
        self.table
    }

    /// The table of two base clusterings, J_u × J_v: their contingency table.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn of_bases(&self, u: usize, v: usize) -> ArrayView2<'_, f64> {
        let lines = self.table.slice_axis(Axis(0), self.clusters(u).into());
        lines.slice_axis_move(Axis(1), self.clusters(v).into())
    }

    /// The weight of every base cluster.
    pub fn sizes(&self) -> Vec<f64> {
        self.table.diag().to_vec()
    }

    /// The weight of the objects that both base clusterings label.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn seen_by_both(&self, u: usize, v: usize) -> f64 {
        self.of_bases(u, v).sum()
    }

    /// Where the clusters of each base clustering start: M + 1 values.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Number of the first row without any label.
    pub fn first_unlabelled(&self) -> Option<u64> {
        self.first_unlabelled
    }

    fn clusters(&self, base: usize) -> Range<usize> {
        self.offsets[base]..self.offsets[base + 1]
    }
}

/// Why a table of overlaps cannot grow.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OverlapError {
    /// Other base clusterings than those of the table.
    #[error("the overlap table is of other base clusterings; count it again")]
    Bases,
    /// Rows that cannot be read, or the wish to stop.
    #[error(transparent)]
    Pass(#[from] PassError),
}

/// The passes of this crate.
pub const PASSES: &[PassKind] = &[
    PassKind::of::<CountPairs>(),
    PassKind::of::<SharePairs>(),
    PassKind::of::<CountLines>(),
];

/// Sums over pairs of base clusters, some lines of the table. Of a whole table those of different base clusterings in their order, and
/// the diagonal, are used.
#[derive(Serialize, Deserialize)]
pub(crate) struct PairSums {
    pub(crate) cells: Vec<f64>,
    pub(crate) first_unlabelled: Option<u64>,
}

impl PairSums {
    fn zero(lines: usize, offsets: &[usize]) -> Self {
        let side = offsets[offsets.len() - 1];
        // Written and not only reserved: pages that are read before they are written are mapped twice, and the second time every
        // thread of the process is interrupted.
        Self {
            cells: std::iter::repeat_n(0.0, lines * side).collect(),
            first_unlabelled: None,
        }
    }

    /// Those of all lines.
    fn whole(offsets: &[usize]) -> Self {
        Self::zero(offsets[offsets.len() - 1], offsets)
    }

    /// Writes the entries of a row, and its number where there are none.
    fn decode<'a, R: Row<'a>>(
        &mut self,
        number: u64,
        row: R,
        offsets: &[usize],
        entries: &mut Vec<Entry>,
    ) {
        entries.clear();
        entries.extend(row.entries(offsets));
        if entries.is_empty() {
            self.first_unlabelled.get_or_insert(number);
        }
    }
}

impl Mergeable for PairSums {
    fn merge(&mut self, other: Self) {
        self.cells
            .iter_mut()
            .zip(&other.cells)
            .for_each(|(sum, cell)| *sum += cell);
        self.first_unlabelled = self.first_unlabelled.or(other.first_unlabelled);
    }
}

/// Every object counts its weight.
#[derive(Serialize, Deserialize)]
struct CountPairs {
    offsets: Vec<usize>,
}

impl RowPass for CountPairs {
    type Sum = PairSums;
    const KIND: &'static str = "coassoc/count-pairs";
    // Counts are whole numbers.
    const EXACT: bool = true;

    fn fits(&self, bases: &[BaseClustering]) -> bool {
        self.offsets == BaseClustering::offsets(bases)
    }

    fn zero(&self) -> PairSums {
        PairSums::whole(&self.offsets)
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut PairSums) {
        let base_weight = |_: &[Entry]| 1.0;
        match block.stored() {
            StoredRows::Shares(_) => add_products(block, &self.offsets, sum, false, base_weight),
            _ => add_pairs(block, &self.offsets, sum, |_, weight| weight),
        }
    }
}

/// Some lines of the table that [`CountPairs`] counts.
#[derive(Serialize, Deserialize)]
pub(crate) struct CountLines {
    offsets: Vec<usize>,
    /// Base clusters, rising.
    lines: Vec<usize>,
}

impl CountLines {
    pub(crate) fn new(offsets: Vec<usize>, lines: Vec<usize>) -> Self {
        Self { offsets, lines }
    }
}

impl RowPass for CountLines {
    type Sum = PairSums;
    const KIND: &'static str = "coassoc/count-lines";
    const EXACT: bool = true;

    fn fits(&self, bases: &[BaseClustering]) -> bool {
        let side = self.offsets.last().copied().unwrap_or(0);
        self.offsets == BaseClustering::offsets(bases)
            && self.lines.windows(2).all(|pair| pair[0] < pair[1])
            && self.lines.last().is_none_or(|&last| last < side)
    }

    fn zero(&self) -> PairSums {
        PairSums::zero(self.lines.len(), &self.offsets)
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut PairSums) {
        let side = self.offsets[self.offsets.len() - 1];
        let mut entries: Vec<Entry> = Vec::new();
        for (at, (row, weight)) in block.rows().enumerate() {
            sum.decode(block.first + at as u64, row, &self.offsets, &mut entries);
            for own in &entries {
                let Ok(at) = self.lines.binary_search(&own.cluster) else {
                    continue;
                };
                let line = &mut sum.cells[at * side..][..side];
                for other in &entries {
                    line[other.cluster] += pair_of(*own, *other) * weight;
                }
            }
        }
    }
}

/// Every object counts its weight over the strengths of its base clusters, or its weight alone where there are none.
#[derive(Serialize, Deserialize)]
struct SharePairs {
    offsets: Vec<usize>,
    strengths: Vec<f64>,
}

impl RowPass for SharePairs {
    type Sum = PairSums;
    const KIND: &'static str = "coassoc/share-pairs";
    const BLOCKS_A_SUM: u64 = 16;

    fn fits(&self, bases: &[BaseClustering]) -> bool {
        self.offsets == BaseClustering::offsets(bases)
    }

    fn zero(&self) -> PairSums {
        PairSums::whole(&self.offsets)
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut PairSums) {
        if let StoredRows::Shares(_) = block.stored() {
            let per_degree = |entries: &[Entry]| {
                if self.strengths.is_empty() {
                    return 1.0;
                }
                let strength = |entry: &Entry| entry.share * self.strengths[entry.cluster];
                1.0 / entries.iter().map(strength).sum::<f64>()
            };
            return add_products(block, &self.offsets, sum, true, per_degree);
        }
        add_pairs(block, &self.offsets, sum, |clusters, weight| {
            if self.strengths.is_empty() {
                return weight;
            }
            // As a product with the inverse, which the embedding takes too.
            weight
                * (1.0
                    / clusters
                        .iter()
                        .map(|&c| self.strengths[c as usize])
                        .sum::<f64>())
        });
    }
}

/// Rows that are decoded at a time: their clusters stay in the cache while the tables of all base clusterings pass by.
const DECODED: usize = 1024;

fn add_pairs<'a, R: Row<'a>>(
    block: &RowBlock<'a, R>,
    offsets: &[usize],
    sum: &mut PairSums,
    share: impl Fn(&[u32], f64) -> f64,
) {
    let (bases, side) = (block.bases, offsets[offsets.len() - 1]);
    let (mut clusters, mut ends, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for first in (0..block.len()).step_by(DECODED) {
        clusters.clear();
        ends.clear();
        shares.clear();
        for (at, (row, weight)) in block.rows().enumerate().skip(first).take(DECODED) {
            let start = clusters.len();
            clusters.extend(row.entries(offsets).map(|entry| entry.cluster as u32));
            if clusters.len() == start {
                sum.first_unlabelled.get_or_insert(block.first + at as u64);
            }
            ends.push(clusters.len());
            shares.push(share(&clusters[start..], weight));
        }
        add_decoded(&clusters, &ends, &shares, (bases, side), &mut sum.cells);
    }
}

/// What an object adds to a pair of base clusters: the product of its shares in clusters of different base clusterings, its share to
/// a cluster and itself, and nothing to two clusters of one base clustering.
fn pair_of(one: Entry, other: Entry) -> f64 {
    if one.base != other.base {
        one.share * other.share
    } else if one.cluster == other.cluster {
        one.share
    } else {
        0.0
    }
}

/// Adds the products of all shares of an object where `within` base clusterings they count too, else [`pair_of`] each two, times its
/// weight and `factor`.
fn add_products<'a, R: Row<'a>>(
    block: &RowBlock<'a, R>,
    offsets: &[usize],
    sum: &mut PairSums,
    within: bool,
    factor: impl Fn(&[Entry]) -> f64,
) {
    let side = offsets[offsets.len() - 1];
    let mut entries: Vec<Entry> = Vec::new();
    for (at, (row, weight)) in block.rows().enumerate() {
        sum.decode(block.first + at as u64, row, offsets, &mut entries);
        let weight = weight * factor(&entries);
        for (place, own) in entries.iter().enumerate() {
            let line = &mut sum.cells[own.cluster * side..][..side];
            for other in &entries[place..] {
                let product = if within {
                    own.share * other.share
                } else {
                    pair_of(*own, *other)
                };
                line[other.cluster] += weight * product;
            }
        }
    }
}

/// Adds rows, given by the ends of their clusters: pair by pair of places in the row, so that one strip of the table is
/// in use at a time.
fn add_decoded(
    clusters: &[u32],
    ends: &[usize],
    shares: &[f64],
    (bases, side): (usize, usize),
    cells: &mut [f64],
) {
    for place in 0..bases {
        let mut start = 0;
        for (&end, &share) in ends.iter().zip(shares) {
            let row = &clusters[start..end];
            start = end;
            let Some((&own, later)) = row.get(place..).and_then(<[u32]>::split_first) else {
                continue;
            };
            let line = &mut cells[own as usize * side..][..side];
            line[own as usize] += share;
            for &other in later {
                line[other as usize] += share;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::array;
    use partita_core::{Ensemble, EnsembleBuilder, EnsembleRows, Seed, Shares, Silent};
    use rand::RngExt;

    fn drawn(seed: u64, objects: usize) -> Ensemble {
        let mut rng = Seed::new(seed).rng();
        let mut builder = EnsembleBuilder::new(objects);
        for u in 0..5usize {
            let label = |_| (!rng.random_bool(0.2)).then(|| rng.random_range(0..3 + u as u32));
            let mut labels: Vec<Option<u32>> = (0..objects).map(label).collect();
            labels[u] = Some(0);
            builder
                .push_clusters(format!("u{u}"), labels, 3 + u)
                .unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn a_table_that_grows_is_the_one_that_is_counted_anew() {
        let count = |ensemble: &Ensemble| {
            let rows = EnsembleRows::new(ensemble).with_shares();
            Overlap::count(&PassRunner::new(&rows, &Silent)).unwrap()
        };
        for all in (0..10).map(|seed| drawn(seed, 700)).chain([shares()]) {
            let (objects, bases) = (all.objects() as u32, all.bases().len() as u32);
            let rows = |from: u32, to: u32| (from..to).collect::<Vec<_>>();
            let cold = count(&all);
            let old = all.select(&rows(0, objects), &rows(0, bases - 1));
            let source = EnsembleRows::new(&all).with_shares();
            let grown = count(&old).with_bases(&PassRunner::new(&source, &Silent));
            assert_eq!(grown.unwrap(), cold);
            let cut = objects / 2;
            let [first, last] = [rows(0, cut), rows(cut, objects)]
                .map(|part| count(&all.select(&part, &rows(0, bases))));
            assert_eq!(first.with_rows(u64::from(cut), &last).unwrap(), cold);
            assert_eq!(count(&old).with_rows(700, &last), Err(OverlapError::Bases));
            let again = Overlap::from_parts(
                cold.table().to_owned(),
                cold.offsets().to_vec(),
                cold.first_unlabelled(),
            );
            assert_eq!(again.unwrap(), cold);
        }
    }

    #[test]
    fn pairs_are_counted_as_an_outer_product_says() {
        for seed in 0..20 {
            let ensemble = drawn(seed, 3000);
            let weights: Vec<f64> = (0..3000).map(|i| f64::from(1 + i % 3)).collect();
            let source = EnsembleRows::weighted(&ensemble, &weights);
            let runner = PassRunner::new(&source, &Silent);
            let offsets = ensemble.offsets();
            let strengths: Vec<f64> = (0..offsets[5]).map(|c| 0.5 + (c % 4) as f64).collect();
            let mut counts = Array2::<f64>::zeros((offsets[5], offsets[5]));
            let mut shares = counts.clone();
            for (i, weight) in weights.iter().enumerate() {
                let own: Vec<usize> = (0..5)
                    .filter_map(|u| Some(ensemble.label(i, u)? + offsets[u]))
                    .collect();
                let degree: f64 = own.iter().map(|&c| strengths[c]).sum();
                for &a in &own {
                    for &b in &own {
                        counts[[a, b]] += weight;
                        shares[[a, b]] += weight / degree;
                    }
                }
            }
            let overlap = Overlap::count(&runner).unwrap();
            assert_eq!(overlap.table(), counts.view());
            assert_eq!(
                overlap.first_unlabelled(),
                ensemble.first_unlabelled().map(|i| i as u64)
            );
            let shared = Overlap::shared(&runner, &strengths).unwrap();
            assert!((&shared.table() - &shares).iter().all(|x| x.abs() < 1e-9));
        }
    }
    /// Three objects of shares in three base clusterings, the second of which does not know one of them.
    fn shares() -> Ensemble {
        let mut builder = EnsembleBuilder::new(3);
        let tables = [
            array![[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]],
            array![[0.5, 0.5], [0.0, 0.0], [0.0, 1.0]],
            array![[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]],
        ];
        for (u, table) in tables.into_iter().enumerate() {
            let values = vec!["0".to_owned(), "1".into()];
            let shares = Shares::new(table).unwrap();
            builder
                .push_soft(format!("u{u}"), values, &shares, 8)
                .unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn shares_are_multiplied_between_base_clusterings() {
        let ensemble = shares().select(&[0, 2], &[0, 1]);
        let source = EnsembleRows::weighted(&ensemble, &[2.0, 1.0]).with_shares();
        let runner = PassRunner::new(&source, &Silent);
        let expected = array![
            [1.0, 0.0, 0.25, 0.75],
            [0.0, 2.0, 0.75, 1.25],
            [0.25, 0.75, 1.0, 0.0],
            [0.75, 1.25, 0.0, 2.0]
        ];
        assert_eq!(Overlap::count(&runner).unwrap().table(), expected);
        let within = Overlap::products(&runner).unwrap();
        assert_eq!(
            within.of_bases(0, 0),
            array![[0.375, 0.625], [0.625, 1.375]]
        );
        assert_eq!(within.of_bases(0, 1), array![[0.25, 0.75], [0.75, 1.25]]);
    }
}
