//! Base clusterings column by column, on distinct label rows with weights.

use partita_core::Ensemble;

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
        let code = |label: Option<usize>| label.map_or(MISSING, |label| label as u32);
        let columns = (0..rows.bases().len())
            .map(|base| rows.column(base).map(code).collect())
            .collect();
        let clusters = rows
            .bases()
            .iter()
            .map(partita_core::BaseClustering::clusters)
            .collect();
        Self {
            columns,
            clusters,
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
        Self {
            columns: self
                .columns
                .iter()
                .map(|column| kept.iter().map(|&row| column[row]).collect())
                .collect(),
            clusters: self.clusters.clone(),
            weights: kept
                .iter()
                .map(|&row| self.weights[row] * all / some)
                .collect(),
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
        let (rows, columns) = (self.clusters[a], self.clusters[b]);
        let mut table = vec![0.0; rows * columns];
        for ((&x, &y), weight) in self.columns[a]
            .iter()
            .zip(&self.columns[b])
            .zip(&self.weights)
        {
            if x != MISSING && y != MISSING {
                table[x as usize * columns + y as usize] += weight;
            }
        }
        let entropy = |sums: &mut dyn Iterator<Item = f64>| {
            sums.filter(|&sum| sum > 0.0)
                .map(|sum| sum * sum.ln())
                .sum::<f64>()
        };
        let total: f64 = table.iter().sum();
        let joint = entropy(&mut table.iter().copied());
        let of_rows = entropy(
            &mut table
                .chunks_exact(columns.max(1))
                .map(|row| row.iter().sum()),
        );
        let of_columns =
            entropy(&mut (0..columns).map(|j| table.iter().skip(j).step_by(columns).sum()));
        (total > 0.0).then(|| ((of_rows + of_columns - 2.0 * joint) / total).max(0.0))
    }
}
