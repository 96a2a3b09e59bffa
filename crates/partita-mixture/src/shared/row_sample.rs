//! A stratified sample of label rows that are not held, on which initializations compete.

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble, Label, Mergeable, PassRunner, RowBlock, RowPass, Seed};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::error::MixtureError;
use crate::shared::weighted_rows::WeightedRows;

/// Rows of chosen numbers, and for every base clustering that labels none of them the first row that it labels.
#[derive(Serialize, Deserialize)]
struct Sample {
    bases: usize,
    chosen: Vec<u64>,
}

/// What [`Sample`] finds, in the order of the rows.
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
        let wide =
            |row: &[L]| row.iter().map(|label| label.cluster().map_or(u16::MISSING, u16::of)).collect::<Vec<_>>();
        let (from, to) = (block.first, block.first + block.len() as u64);
        let bound = |row: u64| self.chosen.partition_point(|&chosen| chosen < row);
        let row = |number: u64| &block.labels[(number - from) as usize * block.bases..][..block.bases];
        self.chosen[bound(from)..bound(to)].iter().for_each(|&number| sum.rows.extend(wide(row(number))));
        for (u, first) in sum.first_labelled.iter_mut().enumerate().filter(|(_, first)| first.is_none()) {
            *first = block.rows().find(|(row, _)| row[u] != L::MISSING).map(|(row, _)| wide(row));
        }
    }
}

/// At most about `most` objects, one from each of as many equal strata, that stand for all.
pub(crate) fn sample(rows: &PassRunner<'_>, most: u64, seed: Seed) -> Result<WeightedRows<'static>, MixtureError> {
    let (objects, bases) = (rows.source().rows(), rows.source().bases());
    let strata = objects.min(most);
    let stratum = objects as f64 / strata as f64;
    let mut rng = seed.rng();
    let place = |s: u64| (((s as f64 + rng.random::<f64>()) * stratum) as u64).min(objects - 1);
    let chosen = if strata == objects { (0..objects).collect() } else { (0..strata).map(place).collect() };
    let sampled = rows.run(&Sample { bases: bases.len(), chosen })?;
    rows_of(sampled, bases, stratum)
}

fn rows_of(sampled: Sampled, bases: &[BaseClustering], stratum: f64) -> Result<WeightedRows<'static>, MixtureError> {
    let Sampled { mut rows, first_labelled } = sampled;
    let mut weights = vec![stratum; rows.len() / bases.len()];
    let labels = |u: usize, rows: &[u16]| rows.iter().skip(u).step_by(bases.len()).any(|&label| label != u16::MISSING);
    let spare: Vec<Vec<u16>> = (first_labelled.into_iter().enumerate())
        .filter(|(u, _)| !labels(*u, &rows))
        .filter_map(|(_, row)| row)
        .collect();
    for row in spare {
        rows.extend(row);
        weights.push(1.0);
    }
    let rows = Array2::from_shape_vec((weights.len(), bases.len()), rows).expect("rows of M labels");
    let ensemble = Ensemble::from_words(rows, bases.to_vec())?;
    WeightedRows::weighted(&ensemble, &weights)
}
