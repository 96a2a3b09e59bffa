//! Results: hard and soft.

use ndarray::{Array2, ArrayView2};

/// A hard clustering of n objects into at most K clusters. Some clusters may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    labels: Vec<u32>,
    clusters: usize,
}

/// A soft clustering: n × K probabilities, rows on the simplex.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftPartition(Array2<f64>);

/// Numbers that are not a partition.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// A label points at no cluster.
    #[error("object {object} has label {label} but there are {clusters} clusters")]
    OutOfRange {
        /// Index of the object.
        object: usize,
        /// Its label.
        label: u32,
        /// Number of clusters.
        clusters: usize,
    },
    /// A row is not a probability distribution.
    #[error("row {row} is not on the simplex: smallest entry {smallest}, sum {sum}")]
    OffSimplex {
        /// Index of the row.
        row: usize,
        /// Its smallest entry.
        smallest: f64,
        /// Its sum.
        sum: f64,
    },
}

impl Partition {
    /// A partition from labels below `clusters`.
    ///
    /// # Errors
    /// [`PartitionError::OutOfRange`] for the first label that is not below `clusters`.
    pub fn new(labels: Vec<u32>, clusters: usize) -> Result<Self, PartitionError> {
        if let Some(object) = labels.iter().position(|&label| label as usize >= clusters) {
            return Err(PartitionError::OutOfRange {
                object,
                label: labels[object],
                clusters,
            });
        }
        Ok(Self { labels, clusters })
    }

    /// A partition from any values: clusters are numbered in the order of the values.
    pub fn from_values<T: Ord>(values: &[T]) -> Self {
        let mut distinct: Vec<&T> = values.iter().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let labels = values
            .iter()
            .map(|value| distinct.partition_point(|d| *d < value) as u32)
            .collect();
        Self {
            labels,
            clusters: distinct.len(),
        }
    }

    /// The same groups, numbered in the order in which they first appear, without empty ones.
    #[must_use]
    pub fn by_appearance(&self) -> Self {
        let mut names = vec![u32::MAX; self.clusters];
        let mut clusters = 0;
        let mut name = |label: u32| {
            let name = &mut names[label as usize];
            if *name == u32::MAX {
                *name = clusters;
                clusters += 1;
            }
            *name
        };
        let labels = self.labels.iter().map(|&label| name(label)).collect();
        Self {
            labels,
            clusters: clusters as usize,
        }
    }

    /// The label of every object, n values below [`clusters`](Self::clusters).
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The labels, without a copy.
    pub fn into_labels(self) -> Vec<u32> {
        self.labels
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.labels.len()
    }

    /// Number of clusters, K, empty ones included.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// Objects in each cluster, K values.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.clusters];
        self.labels
            .iter()
            .for_each(|&label| sizes[label as usize] += 1);
        sizes
    }

    /// Number of clusters that are not empty.
    pub fn live_clusters(&self) -> usize {
        self.sizes().iter().filter(|&&size| size > 0).count()
    }
}

impl SoftPartition {
    /// A soft partition from n × K probabilities; a row whose sum is off by more than rounding (1e-12) is rescaled.
    ///
    /// # Errors
    /// [`PartitionError::OffSimplex`] for the first row with an entry below 0, a sum that is off by more than
    /// 1e-6, or a number that is not finite.
    pub fn new(mut rows: Array2<f64>) -> Result<Self, PartitionError> {
        for (row, mut values) in rows.outer_iter_mut().enumerate() {
            let sum: f64 = values.iter().sum();
            let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
            if !((sum - 1.0).abs() <= 1e-6 && smallest >= 0.0) {
                return Err(PartitionError::OffSimplex { row, smallest, sum });
            }
            if (sum - 1.0).abs() > 1e-12 {
                values.mapv_inplace(|p| p / sum);
            }
        }
        Ok(Self(rows))
    }

    /// The soft partition that is certain of every label.
    pub fn of(partition: &Partition) -> Self {
        let mut rows = Array2::zeros((partition.objects(), partition.clusters()));
        for (mut row, &label) in rows.outer_iter_mut().zip(partition.labels()) {
            row[label as usize] = 1.0;
        }
        Self(rows)
    }

    /// The rows of these objects, in this order.
    ///
    /// # Panics
    /// If an object is out of range.
    #[must_use]
    pub fn selected(&self, objects: &[u32]) -> Self {
        let objects: Vec<usize> = objects.iter().map(|&i| i as usize).collect();
        Self(self.0.select(ndarray::Axis(0), &objects))
    }

    /// The probabilities, n × K.
    pub fn rows(&self) -> ArrayView2<'_, f64> {
        self.0.view()
    }

    /// The probabilities, n × K, without a copy.
    pub fn into_rows(self) -> Array2<f64> {
        self.0
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.0.nrows()
    }

    /// Number of clusters, K.
    pub fn clusters(&self) -> usize {
        self.0.ncols()
    }

    /// The most probable cluster of every object; ties go to the smaller number.
    pub fn hard(&self) -> Partition {
        let best = |row: ndarray::ArrayView1<'_, f64>| {
            (0..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best }) as u32
        };
        Partition {
            labels: self.0.outer_iter().map(best).collect(),
            clusters: self.clusters(),
        }
    }

    /// The probability of every object's most probable cluster, at most 1 where its row sums to a rounding more.
    pub fn largest(&self) -> Vec<f64> {
        self.0
            .outer_iter()
            .map(|row| row.iter().copied().fold(0.0, f64::max).min(1.0))
            .collect()
    }

    /// Entropy of every object's row, in nats: 0 = certain, ln K = no idea.
    pub fn entropy(&self) -> Vec<f64> {
        let term = |p: &f64| if *p > 0.0 { -p * p.ln() } else { 0.0 };
        self.0
            .outer_iter()
            .map(|row| row.iter().map(term).sum())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn partitions_are_checked_and_renumbered() {
        assert!(matches!(
            Partition::new(vec![0, 2], 2),
            Err(PartitionError::OutOfRange {
                object: 1,
                label: 2,
                ..
            })
        ));
        let partition = Partition::from_values(&["b", "a", "b"]);
        assert_eq!(
            (partition.labels(), partition.sizes()),
            (&[1, 0, 1][..], vec![1, 2])
        );
        let sparse = Partition::new(vec![5, 1, 5], 9).unwrap();
        assert_eq!(sparse.live_clusters(), 2);
        assert_eq!(
            sparse.by_appearance(),
            Partition::new(vec![0, 1, 0], 2).unwrap()
        );
    }

    #[test]
    fn ties_go_to_the_smaller_cluster() {
        let soft = SoftPartition::new(array![[0.5, 0.5], [0.2, 0.8]]).unwrap();
        assert_eq!(soft.hard().labels(), [0, 1]);
        assert_eq!(soft.largest(), [0.5, 0.8]);
        assert_eq!(soft.entropy()[0], std::f64::consts::LN_2);
    }

    #[test]
    fn rows_off_the_simplex_are_refused() {
        for bad in [
            array![[0.5, 0.6]],
            array![[1.5, -0.5]],
            array![[f64::NAN, 1.0]],
        ] {
            assert!(SoftPartition::new(bad).is_err());
        }
    }
}
