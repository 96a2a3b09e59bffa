//! A sample of label rows by their hashes: the same rows in whatever order they come and whoever holds them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use super::{
    Mergeable, PassError, PassRunner, Row, RowBlock, RowKey, RowPass, SourceError, sums_under_way,
};
use crate::seed::mix;
use crate::{BaseClustering, Ensemble, EnsembleError, ProblemSize, Seed};

/// Cells in which rows are counted to find those that occur often.
const CELLS: usize = 1 << 16;

/// Different label rows with weights that stand for all rows of a source.
///
/// ```text
/// c(r)     objects whose rows fall into the same one of 65,536 cells as r: at least as many as have r itself
/// rank(r)  hash(r, seed) / c(r), a number below 2^64 / c(r)        the smallest ranks are drawn
/// weight   n(r) / min(1, τ c(r) / 2^64)      n(r) objects with row r, counted; τ the smallest rank that is left out
/// ```
/// This is priority sampling in proportion to c: a row that very many objects have is always drawn, and sums over the sample are
/// estimates of sums over all objects without bias. Where no more rows differ than may be drawn, all are, with their numbers of
/// objects. Order, division and storage of the rows change nothing: what decides is a hash of the labels.
///
/// # References
/// N. Duffield, C. Lund, M. Thorup: Priority sampling for estimation of arbitrary subset sums, J. ACM 54(6), 2007.
#[doc(alias = "bottom-k")]
#[doc(alias = "coreset")]
#[doc(alias = "priority sampling")]
#[derive(Clone, Debug)]
pub struct RowSample {
    /// The rows, sorted by their labels.
    pub ensemble: Ensemble,
    /// Objects that each row stands for.
    pub weights: Vec<f64>,
    /// Whether these are all rows that differ. Weights are then whole numbers.
    pub whole: bool,
}

impl RowSample {
    /// Draws `most` different rows, and one more for each base clustering that labels none of those. Two passes, seldom three.
    ///
    /// # Cost
    /// O(n M) time; [`RowSample::bytes`] of memory.
    ///
    /// # Errors
    /// [`PassError`] when rows cannot be read, a base clustering labels nothing, or the monitor asks to stop.
    pub fn draw(rows: &PassRunner<'_>, most: usize, seed: Seed) -> Result<Self, PassError> {
        let bases = rows.source().bases();
        let hash = seed.number();
        let cells = rows.run(&CountCells(hash))?;
        let pass = SmallestRanks {
            hash,
            most: most.max(1),
            cells,
            limit: no_limit(),
        };
        let ranked = rows.run(&pass)?;
        let (mut drawn, whole) = pass.weighted(ranked);
        let shares = rows.source().are_shares();
        let offsets = BaseClustering::offsets(bases);
        let drawn_rows = RowKey::ensemble(&keys(&drawn), bases, shares);
        let unseen: Vec<usize> = (0..bases.len())
            .filter(|&u| drawn_rows.column(u).all(|label| label.is_none()))
            .collect();
        if !unseen.is_empty() {
            let pass = SmallestLabelled {
                hash,
                bases: unseen,
                offsets,
            };
            let found = rows.run(&pass)?;
            for (copies, &u) in found.0.into_iter().zip(&pass.bases) {
                let Some(copies) = copies else {
                    let name = bases[u].name().to_owned();
                    let reason = EnsembleError::AllMissing { name }.to_string();
                    return Err(SourceError { first: 0, reason }.into());
                };
                drawn.push(copies);
            }
        }
        drawn.sort_by(|a, b| a.row.cmp(&b.row));
        drawn.dedup_by(|a, b| a.row == b.row);
        Ok(Self {
            ensemble: RowKey::ensemble(&keys(&drawn), bases, shares),
            weights: drawn.iter().map(|copies| copies.count).collect(),
            whole,
        })
    }

    /// Bytes that drawing `most` rows holds at once, at most.
    pub fn bytes(size: &ProblemSize, most: u64) -> u64 {
        let bases = size.base_clusterings as u64;
        let row = bases.saturating_mul(2).saturating_add(120);
        let table = most
            .saturating_add(2)
            .min(size.objects as u64 + 1)
            .saturating_mul(row);
        (table.saturating_add(8 * CELLS as u64)).saturating_mul(sums_under_way(size.objects) + 1)
    }
}

/// The cell of a row with this hash.
fn cell(hash: u64) -> usize {
    mix(hash) as usize % CELLS
}

/// Weights of rows by cell.
#[derive(Serialize, Deserialize)]
pub(super) struct CountCells(u64);

#[derive(Serialize, Deserialize)]
pub(super) struct Cells(Vec<f64>);

impl Mergeable for Cells {
    fn merge(&mut self, other: Self) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(sum, cell)| *sum += cell);
    }
}

impl RowPass for CountCells {
    type Sum = Cells;
    const KIND: &'static str = "core/count-cells";
    const EXACT: bool = true;

    fn zero(&self) -> Cells {
        Cells(vec![0.0; CELLS])
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Cells) {
        block
            .rows()
            .for_each(|(row, weight)| sum.0[cell(row.hash(self.0))] += weight);
    }
}

/// A label row and how many objects have it.
#[derive(Clone, Serialize, Deserialize)]
struct Copies {
    row: RowKey,
    hash: u64,
    count: f64,
}

impl Copies {
    fn of<'a, R: Row<'a>>(row: R, hash: u64, count: f64) -> Self {
        Self {
            row: row.key(),
            hash,
            count,
        }
    }
}

fn keys(drawn: &[Copies]) -> Vec<RowKey> {
    drawn.iter().map(|copies| copies.row.clone()).collect()
}

/// The rows of smallest rank, one more than asked for, with their numbers of objects.
#[derive(Serialize, Deserialize)]
pub(super) struct SmallestRanks {
    /// The seed of the hashes.
    hash: u64,
    most: usize,
    cells: Cells,
    /// No row of a larger rank is among them: what other workers have found spares this one the rows that it would drop.
    #[serde(skip, default = "no_limit")]
    limit: Arc<AtomicU64>,
}

fn no_limit() -> Arc<AtomicU64> {
    Arc::new(AtomicU64::new(u64::MAX))
}

/// Rows by rank. Rows that differ may have the same rank.
#[derive(Serialize, Deserialize)]
pub(super) struct Ranked {
    rows: BTreeMap<u64, Vec<Copies>>,
    count: usize,
    most: usize,
    #[serde(skip, default = "no_limit")]
    limit: Arc<AtomicU64>,
}

impl Ranked {
    fn add(
        &mut self,
        rank: u64,
        weight: f64,
        is: impl Fn(&RowKey) -> bool,
        copies: impl FnOnce() -> Copies,
    ) {
        let same_rank = self.rows.entry(rank).or_default();
        if let Some(copies) = same_rank.iter_mut().find(|copies| is(&copies.row)) {
            copies.count += weight;
            return;
        }
        same_rank.push(copies());
        self.count += 1;
        // More than the most and the first that is left out: the largest rank goes, once all of that rank can.
        while let Some(last) = self.rows.last_entry()
            && self.count - last.get().len() > self.most
        {
            self.count -= last.remove().len();
        }
        if self.count > self.most
            && let Some((&last, _)) = self.rows.last_key_value()
        {
            self.limit.fetch_min(last, Relaxed);
        }
    }
}

impl Mergeable for Ranked {
    fn merge(&mut self, other: Self) {
        for (rank, rows) in other.rows {
            for copies in rows {
                let is = |row: &RowKey| *row == copies.row;
                self.add(rank, copies.count, is, || copies.clone());
            }
        }
    }
}

impl SmallestRanks {
    /// Objects in the cell of a row, a whole number of at least 1.
    fn crowd(&self, hash: u64) -> u64 {
        (self.cells.0[cell(hash)] as u64).max(1)
    }

    /// The rows drawn, with the numbers of objects that they stand for, and whether they are all.
    fn weighted(&self, ranked: Ranked) -> (Vec<Copies>, bool) {
        let mut rows: Vec<(u64, Copies)> = Vec::with_capacity(ranked.count);
        for (rank, mut same) in ranked.rows {
            same.sort_by(|a, b| a.row.cmp(&b.row));
            rows.extend(same.into_iter().map(|copies| (rank, copies)));
        }
        let left_out = rows.get(self.most).map(|(rank, _)| *rank);
        rows.truncate(self.most);
        let Some(threshold) = left_out else {
            return (rows.into_iter().map(|(_, copies)| copies).collect(), true);
        };
        let weighted = rows.into_iter().map(|(_, copies)| {
            let crowd = self.crowd(copies.hash) as f64;
            let chance = (threshold.max(1) as f64 * crowd / 2f64.powi(64)).min(1.0);
            Copies {
                count: copies.count / chance,
                ..copies
            }
        });
        (weighted.collect(), false)
    }
}

impl RowPass for SmallestRanks {
    type Sum = Ranked;
    const KIND: &'static str = "core/smallest-ranks";
    const EXACT: bool = true;

    fn zero(&self) -> Ranked {
        Ranked {
            rows: BTreeMap::new(),
            count: 0,
            most: self.most,
            limit: Arc::clone(&self.limit),
        }
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Ranked) {
        for (row, weight) in block.rows() {
            let hash = row.hash(self.hash);
            let rank = hash / self.crowd(hash);
            if rank <= self.limit.load(Relaxed) {
                let is = |key: &RowKey| row.compare(key).is_eq();
                sum.add(rank, weight, is, || Copies::of(row, hash, weight));
            }
        }
    }
}

/// For each of some base clusterings the row of smallest hash that it labels.
#[derive(Serialize, Deserialize)]
pub(super) struct SmallestLabelled {
    /// The seed of the hashes.
    hash: u64,
    bases: Vec<usize>,
    /// Where the clusters of every base clustering start.
    offsets: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Firsts(Vec<Option<Copies>>);

impl Firsts {
    fn add(&mut self, at: usize, copies: Copies) {
        match &mut self.0[at] {
            Some(best) if best.row == copies.row => best.count += copies.count,
            Some(best) if (best.hash, &best.row) <= (copies.hash, &copies.row) => {}
            found => *found = Some(copies),
        }
    }
}

impl Mergeable for Firsts {
    fn merge(&mut self, other: Self) {
        for (at, found) in other.0.into_iter().enumerate() {
            if let Some(copies) = found {
                self.add(at, copies);
            }
        }
    }
}

impl RowPass for SmallestLabelled {
    type Sum = Firsts;
    const KIND: &'static str = "core/smallest-labelled";
    const EXACT: bool = true;

    fn zero(&self) -> Firsts {
        Firsts(vec![None; self.bases.len()])
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Firsts) {
        for (row, weight) in block.rows() {
            let hash = row.hash(self.hash);
            for (at, &base) in self.bases.iter().enumerate() {
                let beyond = sum.0[at].as_ref().is_some_and(|best| best.hash < hash);
                if !beyond && row.is_known_to(base, &self.offsets) {
                    sum.add(at, Copies::of(row, hash, weight));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EnsembleRows, Label, LabelRows, Silent};
    use ndarray::Array2;
    use rand::{RngExt, seq::SliceRandom};

    fn bases(count: usize) -> Vec<BaseClustering> {
        (0..count)
            .map(|u| {
                BaseClustering::new(
                    format!("u{u}"),
                    (0..9).map(|j: u32| j.to_string()).collect(),
                )
            })
            .collect()
    }

    /// Half of the objects have one of four rows, the others any; the last base clustering labels one object.
    fn drawn(objects: usize) -> Ensemble {
        let mut rng = Seed::new(3).rng();
        let mut labels = Array2::from_elem((objects, 6), u8::MISSING);
        for (i, mut row) in labels.outer_iter_mut().enumerate() {
            (0..5).for_each(|u| {
                row[u] = if i % 2 == 0 {
                    (i / 2 % 4) as u8
                } else {
                    rng.random_range(0..9)
                }
            });
        }
        labels[[objects / 3, 5]] = 0;
        Ensemble::from_bytes(labels, bases(6)).unwrap()
    }

    fn rows(ensemble: &Ensemble) -> Vec<Vec<Option<usize>>> {
        let labels = |i| {
            (0..ensemble.bases().len())
                .map(|u| ensemble.label(i, u))
                .collect()
        };
        (0..ensemble.objects()).map(labels).collect()
    }

    #[test]
    fn order_and_width_of_labels_change_nothing() {
        let ensemble = drawn(30_000);
        let mut order: Vec<u32> = (0..30_000).collect();
        order.shuffle(&mut Seed::new(1).rng());
        let shuffled = ensemble.select(&order, &[0, 1, 2, 3, 4, 5]);
        let draw = |ensemble: &Ensemble, seed| {
            let sample = RowSample::draw(
                &PassRunner::new(&EnsembleRows::new(ensemble), &Silent),
                500,
                Seed::new(seed),
            )
            .unwrap();
            (rows(&sample.ensemble), sample.weights, sample.whole)
        };
        let first = draw(&ensemble, 1);
        assert_eq!(first, draw(&shuffled, 1));
        assert_ne!(first.0, draw(&ensemble, 2).0);
        assert!(
            !first.2 && (500..=501).contains(&first.0.len()),
            "{} rows",
            first.0.len()
        );
        assert!(
            first.0.iter().any(|row| row[5].is_some()),
            "every base clustering labels some row"
        );

        let LabelRows::Bytes(labels) = ensemble.rows() else {
            panic!("nine clusters fit a byte")
        };
        let wide = labels.mapv(|label| label.cluster().map_or(u16::MISSING, u16::of));
        let mut many = bases(5);
        many.push(BaseClustering::new(
            "u5",
            (0..300).map(|j: u32| j.to_string()).collect(),
        ));
        let wide = Ensemble::from_words(wide, many).unwrap();
        assert!(matches!(wide.rows(), LabelRows::Words(_)));
        assert_eq!(first, draw(&wide, 1));
    }

    /// What workers tell each other spares them rows, and never changes which are drawn.
    #[cfg(feature = "rayon")]
    #[test]
    fn threads_that_race_draw_the_same_rows() {
        let ensemble = drawn(30_000);
        let draw = || {
            let source = EnsembleRows::new(&ensemble);
            let sample =
                RowSample::draw(&PassRunner::new(&source, &Silent), 300, Seed::new(4)).unwrap();
            (rows(&sample.ensemble), sample.weights, sample.whole)
        };
        let pool = |threads| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
        };
        let alone = pool(1).install(draw);
        let many = pool(8);
        (0..40).for_each(|_| assert_eq!(many.install(draw), alone));
    }

    #[test]
    fn rows_of_many_objects_are_always_drawn_and_weights_estimate_all_objects() {
        let ensemble = drawn(30_000);
        let source = EnsembleRows::new(&ensemble);
        let (mut all, mut ones) = (0.0, 0.0);
        for seed in 0..20 {
            let sample =
                RowSample::draw(&PassRunner::new(&source, &Silent), 500, Seed::new(seed)).unwrap();
            let rows = rows(&sample.ensemble);
            for j in 0..4 {
                let often = [Some(j), Some(j), Some(j), Some(j), Some(j), None];
                let at = rows.iter().position(|row| *row == often).unwrap();
                assert!(
                    (3700.0..3800.0).contains(&sample.weights[at]),
                    "{}",
                    sample.weights[at]
                );
            }
            all += sample.weights.iter().sum::<f64>();
            ones += rows
                .iter()
                .zip(&sample.weights)
                .filter(|(row, _)| row[0] == Some(8))
                .map(|(_, w)| w)
                .sum::<f64>();
        }
        assert!((all / 20.0 / 30_000.0 - 1.0).abs() < 0.02, "{}", all / 20.0);
        let expected = ensemble.column(0).filter(|label| *label == Some(8)).count() as f64;
        assert!(
            (ones / 20.0 / expected - 1.0).abs() < 0.1,
            "{} for {expected}",
            ones / 20.0
        );
    }

    #[test]
    fn few_different_rows_are_all_drawn_with_their_numbers_of_objects() {
        let labels = Array2::from_shape_fn((5000, 2), |(i, u)| ((i % 7) * (u + 1) % 5) as u8);
        let ensemble = Ensemble::from_bytes(labels, bases(2)).unwrap();
        let weights: Vec<f64> = (0..5000).map(|i| f64::from(1 + i % 2)).collect();
        let source = EnsembleRows::weighted(&ensemble, &weights);
        for most in [5, 6, 1000] {
            let sample =
                RowSample::draw(&PassRunner::new(&source, &Silent), most, Seed::new(1)).unwrap();
            assert!(sample.whole);
            let all: Vec<_> = rows(&sample.ensemble);
            for (row, weight) in all.iter().zip(&sample.weights) {
                let same = rows(&ensemble)
                    .into_iter()
                    .zip(&weights)
                    .filter(|(other, _)| other == row);
                assert_eq!(*weight, same.map(|(_, weight)| weight).sum::<f64>());
            }
            assert_eq!(sample.weights.iter().sum::<f64>(), 7500.0);
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        }
        let one = RowSample::draw(&PassRunner::new(&source, &Silent), 4, Seed::new(1)).unwrap();
        assert!(!one.whole && one.weights.len() == 4);
    }
}
