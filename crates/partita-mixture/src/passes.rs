//! Row passes of mixtures: the E-step, who is whose most probable cluster, a sample to start on, and the labels.

use partita_core::{Assigned, Label, Mergeable, PassRunner, RowBlock, RowMap, RowPass, Seed};
use partita_core::{BaseClustering, Ensemble, ndarray::Array2};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::partial::Partial;
use crate::table::{LogTable, lines, normalise};
use crate::{MixtureError, Rows};

impl Mergeable for Partial {
    fn merge(&mut self, other: Self) {
        self.sizes.iter_mut().zip(&other.sizes).for_each(|(a, b)| *a += b);
        self.labels.iter_mut().zip(&other.labels).for_each(|(a, b)| *a += b);
        self.log_sum += other.log_sum;
    }
}

/// The E-step under a table of logarithms: expected sizes, label counts, and the log likelihood.
#[derive(Serialize, Deserialize)]
pub(crate) struct Expectation {
    pub(crate) offsets: Vec<usize>,
    pub(crate) table: LogTable,
}

impl RowPass for Expectation {
    type Sum = Partial;

    fn zero(&self) -> Partial {
        Partial::zero(self.offsets[self.offsets.len() - 1], self.table.clusters())
    }

    fn add<L: Label>(&self, block: &RowBlock<'_, L>, sum: &mut Partial) {
        let mut soft = vec![0.0; self.table.clusters()];
        for (row, weight) in block.rows() {
            self.table.score(lines(row, &self.offsets), &mut soft);
            let log = normalise(&mut soft);
            sum.log_sum += weight * log;
            if log > f64::NEG_INFINITY {
                soft.iter_mut().for_each(|p| *p *= weight);
                sum.add(lines(row, &self.offsets), &soft);
            }
        }
    }
}

/// Which clusters are in use under a table of logarithms.
#[derive(Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) offsets: Vec<usize>,
    pub(crate) table: LogTable,
}

/// What [`Usage`] finds.
pub(crate) struct Used {
    /// The expected weight of every cluster.
    pub(crate) sizes: Vec<f64>,
    /// Whether a cluster is some row's most probable one.
    pub(crate) chosen: Vec<bool>,
    /// Labels that are there, by weight.
    pub(crate) labels: f64,
}

impl Mergeable for Used {
    fn merge(&mut self, other: Self) {
        self.sizes.iter_mut().zip(&other.sizes).for_each(|(a, b)| *a += b);
        self.chosen.iter_mut().zip(&other.chosen).for_each(|(a, b)| *a |= b);
        self.labels += other.labels;
    }
}

impl RowPass for Usage {
    type Sum = Used;

    fn zero(&self) -> Used {
        let clusters = self.table.clusters();
        Used { sizes: vec![0.0; clusters], chosen: vec![false; clusters], labels: 0.0 }
    }

    fn add<L: Label>(&self, block: &RowBlock<'_, L>, sum: &mut Used) {
        let mut soft = vec![0.0; self.table.clusters()];
        for (row, weight) in block.rows() {
            self.table.score(lines(row, &self.offsets), &mut soft);
            normalise(&mut soft);
            sum.chosen[largest(&soft)] = true;
            sum.sizes.iter_mut().zip(&soft).for_each(|(size, p)| *size += weight * p);
            sum.labels += weight * lines(row, &self.offsets).count() as f64;
        }
    }
}

/// The most probable cluster of every row, when the probabilities under `table` are summed into the places of its
/// clusters.
pub(crate) struct MostProbable {
    pub(crate) offsets: Vec<usize>,
    pub(crate) table: LogTable,
    /// For every cluster of the table, its place in the result.
    pub(crate) place: Vec<usize>,
}

impl RowMap for MostProbable {
    type Out = Assigned;

    fn map<L: Label>(&self, block: &RowBlock<'_, L>) -> Assigned {
        let places = self.place.iter().max().map_or(1, |most| most + 1);
        let (mut scores, mut all) = (vec![0.0; self.table.clusters()], Vec::with_capacity(block.len() * places));
        let mut assigned = Assigned::default();
        for (row, _) in block.rows() {
            self.table.score(lines(row, &self.offsets), &mut scores);
            if normalise(&mut scores) == f64::NEG_INFINITY {
                scores.copy_from_slice(&self.table.prior);
                normalise(&mut scores);
            }
            let start = all.len();
            all.resize(start + places, 0.0);
            let soft: &mut [f64] = &mut all[start..];
            scores.iter().zip(&self.place).for_each(|(p, &place)| soft[place] += p);
            let best = largest(soft);
            assigned.labels.push(best as u32);
            assigned.certainty.push(soft[best].min(1.0));
        }
        assigned.soft = Some(all);
        assigned
    }
}

/// Objects on which starts are compared, where there are more.
const SAMPLE_ROWS: u64 = 32_768;

/// Rows of chosen numbers, and for every base clustering that labels none of them the first row that it labels.
#[derive(Serialize, Deserialize)]
struct Sample {
    bases: usize,
    chosen: Vec<u64>,
}

/// What [`Sample`] finds, in the order of the rows.
#[derive(Default)]
struct Sampled {
    rows: Vec<u16>,
    first_labelled: Vec<Option<Vec<u16>>>,
}

impl Mergeable for Sampled {
    fn merge(&mut self, other: Self) {
        self.rows.extend(other.rows);
        for (first, later) in self.first_labelled.iter_mut().zip(other.first_labelled) {
            *first = first.take().or(later);
        }
    }
}

impl RowPass for Sample {
    type Sum = Sampled;

    fn zero(&self) -> Sampled {
        Sampled { rows: Vec::new(), first_labelled: vec![None; self.bases] }
    }

    fn add<L: Label>(&self, block: &RowBlock<'_, L>, sum: &mut Sampled) {
        let wide = |row: &[L]| row.iter().map(|label| label.cluster().map_or(u16::MISSING, u16::of)).collect::<Vec<_>>();
        let (from, to) = (block.first, block.first + block.len() as u64);
        let bound = |row: u64| self.chosen.partition_point(|&chosen| chosen < row);
        let row = |number: u64| &block.labels[(number - from) as usize * block.bases..][..block.bases];
        self.chosen[bound(from)..bound(to)].iter().for_each(|&number| sum.rows.extend(wide(row(number))));
        for (u, first) in sum.first_labelled.iter_mut().enumerate().filter(|(_, first)| first.is_none()) {
            *first = block.rows().find(|(row, _)| row[u] != L::MISSING).map(|(row, _)| wide(row));
        }
    }
}

/// About `SAMPLE_ROWS` objects, one from each of as many equal strata, that stand for all.
pub(crate) fn sample(rows: &PassRunner<'_>, seed: Seed) -> Result<Rows<'static>, MixtureError> {
    let (objects, bases) = (rows.source().rows(), rows.source().bases());
    let strata = objects.min(SAMPLE_ROWS);
    let stratum = objects as f64 / strata as f64;
    let mut rng = seed.rng();
    let place = |s: u64| (((s as f64 + rng.random::<f64>()) * stratum) as u64).min(objects - 1);
    let chosen = if strata == objects { (0..objects).collect() } else { (0..strata).map(place).collect() };
    let sampled = rows.run(&Sample { bases: bases.len(), chosen })?;
    rows_of(sampled, bases, stratum)
}

fn rows_of(sampled: Sampled, bases: &[BaseClustering], stratum: f64) -> Result<Rows<'static>, MixtureError> {
    let Sampled { mut rows, first_labelled } = sampled;
    let mut weights = vec![stratum; rows.len() / bases.len()];
    let labels = |u: usize, rows: &[u16]| rows.iter().skip(u).step_by(bases.len()).any(|&label| label != u16::MISSING);
    let spare: Vec<Vec<u16>> =
        (first_labelled.into_iter().enumerate()).filter(|(u, _)| !labels(*u, &rows)).filter_map(|(_, row)| row).collect();
    for row in spare {
        rows.extend(row);
        weights.push(1.0);
    }
    let rows = Array2::from_shape_vec((weights.len(), bases.len()), rows).expect("rows of M labels");
    let ensemble = Ensemble::from_words(rows, bases.to_vec())?;
    Rows::weighted(&ensemble, &weights)
}

/// The place of the largest value; the first of equals.
pub(crate) fn largest(values: &[f64]) -> usize {
    (0..values.len()).fold(0, |best, k| if values[k] > values[best] { k } else { best })
}
