//! The contingency table of two columns of labels that are not held: a pass over their rows, so that it runs wherever passes run.

use partita_core::{
    BaseClustering, Label, Mergeable, PassError, PassKind, PassRunner, Row, RowBlock, RowPass,
};
use serde::{Deserialize, Serialize};

use crate::{Contingency, MetricsError};

/// The passes of this crate.
pub const PASSES: &[PassKind] = &[PassKind::of::<CountBoth>()];

/// How often each pair of labels occurs in two columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowCounts {
    clusters: [usize; 2],
    /// K × L numbers.
    counts: Vec<u64>,
    /// Objects without a label in the second column.
    pub without_second: u64,
}

impl RowCounts {
    /// Counts the labels of two columns: the first and the second base clustering of rows that have no other.
    ///
    /// # Errors
    /// [`PassError`] when rows cannot be read, the monitor asks to stop, or there are not two base clusterings.
    ///
    /// # Cost
    /// O(n) time; memory for [`sums_under_way`](partita_core::sums_under_way) tables of K × L numbers.
    pub fn of(rows: &PassRunner<'_>) -> Result<Self, PassError> {
        match rows.source().bases() {
            [first, second] => rows.run(&CountBoth {
                clusters: [first.clusters(), second.clusters()],
            }),
            bases => Err(PassError::Parts(format!(
                "two base clusterings are counted, and there are {}",
                bases.len()
            ))),
        }
    }

    /// The table of the objects with both labels.
    ///
    /// # Errors
    /// [`MetricsError::Empty`] if there is none.
    pub fn table(&self) -> Result<Contingency, MetricsError> {
        let [rows, columns] = self.clusters;
        Contingency::of_counts(rows, columns, |row, column| {
            self.counts[row * columns + column]
        })
    }
}

impl Mergeable for RowCounts {
    fn merge(&mut self, other: Self) {
        self.counts
            .iter_mut()
            .zip(other.counts)
            .for_each(|(sum, count)| *sum += count);
        self.without_second += other.without_second;
    }
}

/// Counts pairs of labels.
#[derive(Serialize, Deserialize)]
struct CountBoth {
    /// K and L.
    clusters: [usize; 2],
}

impl RowPass for CountBoth {
    type Sum = RowCounts;
    const KIND: &'static str = "metrics/contingency";
    const EXACT: bool = true;

    fn fits(&self, bases: &[BaseClustering]) -> bool {
        bases.iter().map(BaseClustering::clusters).eq(self.clusters)
    }

    fn zero(&self) -> RowCounts {
        let [rows, columns] = self.clusters;
        RowCounts {
            clusters: self.clusters,
            counts: vec![0; rows * columns],
            without_second: 0,
        }
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut RowCounts) {
        for (row, _) in block.rows() {
            let mut labels = row.words().map(Label::cluster);
            match (labels.next().flatten(), labels.next().flatten()) {
                (Some(first), Some(second)) => sum.counts[first * self.clusters[1] + second] += 1,
                (_, None) => sum.without_second += 1,
                (None, Some(_)) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use partita_core::ndarray::Array2;
    use partita_core::{BaseClustering, Ensemble, EnsembleRows, Label, Seed, Silent};
    use rand::RngExt;

    use super::*;

    fn drawn(objects: usize, clusters: [u16; 2], missing: f64) -> Ensemble {
        let mut rng = Seed::new(objects as u64).rng();
        let labels = Array2::from_shape_fn((objects, 2), |(_, u)| {
            if rng.random_bool(missing) {
                u16::MISSING
            } else {
                rng.random_range(0..clusters[u])
            }
        });
        let base = |(u, &k): (usize, &u16)| {
            BaseClustering::new(
                format!("u{u}"),
                (0..k).map(|label| label.to_string()).collect(),
            )
        };
        Ensemble::from_words(labels, clusters.iter().enumerate().map(base).collect()).unwrap()
    }

    #[test]
    fn counts_are_those_of_the_table_of_an_ensemble() {
        for (objects, clusters, missing) in [
            (1, [2, 2], 0.0),
            (5000, [3, 400], 0.2),
            (20_000, [300, 2], 0.01),
        ] {
            let ensemble = drawn(objects, clusters, missing);
            let counts =
                RowCounts::of(&PassRunner::new(&EnsembleRows::new(&ensemble), &Silent)).unwrap();
            assert_eq!(counts.table(), Contingency::of_bases(&ensemble, 0, 1));
            let without = ensemble.column(1).filter(Option::is_none).count();
            assert_eq!(counts.without_second, without as u64);
        }
        // No object has both labels.
        let label = |(i, u): (usize, usize)| if i % 2 == u { 0 } else { u16::MISSING };
        let base = |name: &str| BaseClustering::new(name, vec!["0".into()]);
        let apart = Ensemble::from_words(
            Array2::from_shape_fn((10, 2), label),
            vec![base("u"), base("v")],
        )
        .unwrap();
        let counts = RowCounts::of(&PassRunner::new(&EnsembleRows::new(&apart), &Silent)).unwrap();
        assert_eq!(
            (counts.table(), counts.without_second),
            (Err(MetricsError::Empty), 5)
        );
    }

    #[test]
    fn another_number_of_base_clusterings_is_refused() {
        let ensemble = Ensemble::from_words(
            Array2::zeros((4, 3)),
            (0..3)
                .map(|u| BaseClustering::new(format!("u{u}"), vec!["0".into()]))
                .collect(),
        );
        let ensemble = ensemble.unwrap();
        let refused = RowCounts::of(&PassRunner::new(&EnsembleRows::new(&ensemble), &Silent));
        assert!(matches!(refused, Err(PassError::Parts(reason)) if reason.contains("there are 3")));
    }
}
