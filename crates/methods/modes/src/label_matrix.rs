//! Base clusterings column by column, on distinct label rows with weights.

use partita_core::{BaseClustering, Ensemble};

/// Stands for a label that is missing.
pub(crate) const MISSING: u32 = u32::MAX;

/// The labels of M base clusterings over F distinct rows.
#[derive(Clone, Debug)]
pub(crate) struct LabelMatrix {
    /// F labels of every base clustering.
    pub(crate) columns: Vec<Vec<u32>>,
    /// Clusters of every base clustering.
    pub(crate) clusters: Vec<usize>,
    /// Objects of every row.
    pub(crate) weights: Vec<f64>,
}

impl LabelMatrix {
    /// The labels of an ensemble of distinct rows, which stand for so many objects each.
    pub(crate) fn new(rows: &Ensemble, weights: &[u32]) -> Self {
        let mut columns = Vec::new();
        for base in 0..rows.bases().len() {
            let labels = rows.column(base);
            columns.push(
                labels
                    .map(|label| label.map_or(MISSING, |label| label as u32))
                    .collect(),
            );
        }
        Self {
            columns,
            clusters: rows.bases().iter().map(BaseClustering::clusters).collect(),
            weights: weights.iter().map(|&weight| f64::from(weight)).collect(),
        }
    }

    /// At most so many of the rows, evenly spread, weighted so that they stand for as many objects.
    pub(crate) fn thinned(&self, most: usize) -> Self {
        let rows = self.weights.len();
        if rows <= most {
            return self.clone();
        }
        let kept: Vec<usize> = (0..most).map(|at| at * rows / most).collect();
        let all: f64 = self.weights.iter().sum();
        let some: f64 = kept.iter().map(|&row| self.weights[row]).sum();
        let columns = self.columns.iter();
        let weights = kept.iter().map(|&row| self.weights[row] * all / some);
        Self {
            columns: columns
                .map(|column| kept.iter().map(|&row| column[row]).collect())
                .collect(),
            clusters: self.clusters.clone(),
            weights: weights.collect(),
        }
    }

    pub(crate) fn bases(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn rows(&self) -> usize {
        self.weights.len()
    }

    /// Variation of information of two base clusterings over the objects that both label, in nats; none if there are none.
    pub(crate) fn distance(&self, a: usize, b: usize) -> Option<f64> {
        let columns = self.clusters[b];
        let mut table = vec![0.0; self.clusters[a] * columns];
        let pairs = self.columns[a].iter().zip(&self.columns[b]);
        for ((&x, &y), weight) in pairs.zip(&self.weights) {
            if x != MISSING && y != MISSING {
                table[x as usize * columns + y as usize] += weight;
            }
        }
        let total: f64 = table.iter().sum();
        let joint = entropy(table.iter().copied());
        let rows = table.chunks_exact(columns.max(1));
        let of_rows = entropy(rows.map(|row| row.iter().sum()));
        let sums = (0..columns).map(|j| table.iter().skip(j).step_by(columns).sum());
        let of_columns = entropy(sums);
        (total > 0.0).then(|| ((of_rows + of_columns - 2.0 * joint) / total).max(0.0))
    }
}

/// Σ s ln s over sums above 0.
fn entropy(sums: impl Iterator<Item = f64>) -> f64 {
    sums.filter(|&sum| sum > 0.0)
        .map(|sum| sum * sum.ln())
        .sum()
}
