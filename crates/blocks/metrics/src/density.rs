//! Density-based validity of a partition of table rows: whether clusters of any shape lie further from each other than the widest gap
//! inside them.

use partita_core::Partition;
use partita_core::ndarray::ArrayView2;

use crate::MetricsError;
use crate::contingency::check_sizes;

/// Mutual reachability of all pairs of rows of a table, from which partitions are rated. It is made once for many partitions.
///
/// ```text
/// core(i)      = distance of i to its p-th nearest other row
/// reach(i, j)  = max(distance(i, j), core(i), core(j))                                  0 for i = j
/// gap(c)       = longest edge of the minimum spanning tree of cluster c under reach
/// between(c)   = least reach of an object of c and one of another cluster
/// validity     = Σ_c n_c / n · (between(c) - gap(c)) / max(between(c), gap(c))          -1 to 1
/// ```
///
/// Above 0 clusters are separated more than they are torn, whatever their shape; tables without clusters lie well below, however
/// they are cut. A cluster of one object counts 0.
///
/// # References
/// D. Moulavi, P. A. Jaskowiak, R. J. G. B. Campello, A. Zimek, J. Sander: Density-based clustering validation, SDM 2014 (DBCV). It takes
/// another core distance, a mean over the cluster with powers of the dimension, and leaves ends of the tree out; the core distance here
/// is that of HDBSCAN*, and the value is the same for any scale of the table.
#[doc(alias = "DBCV")]
#[derive(Clone, Debug)]
pub struct DensityValidity {
    objects: usize,
    /// n × n, symmetric.
    reach: Vec<f64>,
}

impl DensityValidity {
    /// From n rows of finite numbers; `neighbours` is p, at most n − 1 is taken.
    ///
    /// # Cost
    /// O(n² d) time, n² numbers.
    pub fn new(table: ArrayView2<'_, f64>, neighbours: usize) -> Self {
        let n = table.nrows();
        let mut reach = vec![0.0; n * n];
        for (i, one) in table.outer_iter().enumerate() {
            for (j, other) in table.outer_iter().enumerate().take(i) {
                let squares: f64 = one.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum();
                (reach[i * n + j], reach[j * n + i]) = (squares.sqrt(), squares.sqrt());
            }
        }
        let place = neighbours.min(n.saturating_sub(1));
        let core = |row: &[f64]| {
            let mut row = row.to_vec();
            // The row itself is nearest to itself.
            *row.select_nth_unstable_by(place, f64::total_cmp).1
        };
        let cores: Vec<f64> = reach.chunks(n.max(1)).map(core).collect();
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                reach[i * n + j] = reach[i * n + j].max(cores[i]).max(cores[j]);
            }
        }
        Self { objects: n, reach }
    }

    /// The validity of a partition of the rows, -1 to 1; 0 for one cluster.
    ///
    /// # Errors
    /// [`MetricsError::Sizes`] if it labels another number of objects.
    ///
    /// # Cost
    /// O(n²).
    pub fn of(&self, partition: &Partition) -> Result<f64, MetricsError> {
        check_sizes(partition.objects(), self.objects)?;
        let mut members = vec![Vec::new(); partition.clusters()];
        partition
            .labels()
            .iter()
            .enumerate()
            .for_each(|(i, &label)| members[label as usize].push(i));
        members.retain(|members| !members.is_empty());
        if members.len() < 2 {
            return Ok(0.0);
        }
        let between = self.between(partition);
        let rated = |members: &Vec<usize>| {
            let between = between[partition.labels()[members[0]] as usize];
            let gap = self.widest_gap(members);
            let largest = between.max(gap);
            if members.len() < 2 || largest <= 0.0 {
                0.0
            } else {
                (between - gap) / largest * members.len() as f64
            }
        };
        Ok(members.iter().map(rated).sum::<f64>() / self.objects as f64)
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.reach[i * self.objects..(i + 1) * self.objects]
    }

    /// Of every cluster the least reach to an object of another.
    fn between(&self, partition: &Partition) -> Vec<f64> {
        let labels = partition.labels();
        let mut least = vec![f64::INFINITY; partition.clusters()];
        for (i, &own) in labels.iter().enumerate() {
            let others = self
                .row(i)
                .iter()
                .zip(labels)
                .filter(|(_, label)| **label != own);
            let nearest = others.fold(f64::INFINITY, |nearest, (&reach, _)| nearest.min(reach));
            least[own as usize] = least[own as usize].min(nearest);
        }
        least
    }

    /// The longest edge of the minimum spanning tree of some objects, by Prim's algorithm.
    fn widest_gap(&self, members: &[usize]) -> f64 {
        let mut outside: Vec<(usize, f64)> = members.iter().map(|&i| (i, f64::INFINITY)).collect();
        let mut widest: f64 = 0.0;
        let Some((mut last, _)) = outside.pop() else {
            return 0.0;
        };
        while !outside.is_empty() {
            let row = self.row(last);
            let mut nearest = 0;
            for at in 0..outside.len() {
                outside[at].1 = outside[at].1.min(row[outside[at].0]);
                if outside[at].1 < outside[nearest].1 {
                    nearest = at;
                }
            }
            let (next, length) = outside.swap_remove(nearest);
            (last, widest) = (next, widest.max(length));
        }
        widest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::{Array2, array};

    fn validity(table: &Array2<f64>, neighbours: usize, labels: &[u32]) -> f64 {
        let partition = Partition::new(labels.to_vec(), 4).unwrap();
        DensityValidity::new(table.view(), neighbours)
            .of(&partition)
            .unwrap()
    }

    #[test]
    fn values_by_hand() {
        let line = array![[0.0], [1.0], [2.0], [10.0], [11.0], [13.0]];
        // Gaps 1 and 2, between 8: (7/8 + 6/8) / 2.
        assert!((validity(&line, 1, &[0, 0, 0, 2, 2, 2]) - 0.8125).abs() < 1e-12);
        // The second nearest: 2, 1, 2 and 3, 2, 3, so that gaps are 2 and 3.
        assert!((validity(&line, 2, &[0, 0, 0, 2, 2, 2]) - 0.6875).abs() < 1e-12);
        // Torn apart: gaps 1, 8 and 0, between 1, 1 and 2; one object counts 0.
        let torn = validity(&line, 1, &[0, 0, 1, 1, 1, 3]);
        assert!(
            (torn - (0.0 * 2.0 + (1.0 - 8.0) / 8.0 * 3.0) / 6.0).abs() < 1e-12,
            "{torn}"
        );
        assert_eq!(validity(&line, 1, &[1; 6]), 0.0);
        assert_eq!(
            validity(&array![[1.0], [1.0], [1.0], [1.0]], 5, &[0, 0, 1, 1]),
            0.0,
            "rows that are all equal"
        );
    }

    #[test]
    fn rings_are_valid_where_halves_of_them_are_not() {
        let ring = |radius: f64| {
            (0..40).map(move |i| (radius, f64::from(i) * std::f64::consts::TAU / 40.0))
        };
        let points: Vec<f64> = ring(1.0)
            .chain(ring(3.0))
            .flat_map(|(r, a)| [r * a.cos(), r * a.sin()])
            .collect();
        let table = Array2::from_shape_vec((80, 2), points).unwrap();
        let rings: Vec<u32> = (0..80).map(|i| i / 40).collect();
        let halves: Vec<u32> = (0..80).map(|i| i % 40 / 20).collect();
        for neighbours in [1, 2] {
            let (of_rings, of_halves) = (
                validity(&table, neighbours, &rings),
                validity(&table, neighbours, &halves),
            );
            assert!(of_rings > 0.5 && of_halves < 0.0, "{of_rings} {of_halves}");
        }
        let reversed: Vec<u32> = rings.iter().map(|label| 3 - label).collect();
        assert_eq!(
            validity(&table, 5, &rings),
            validity(&table, 5, &reversed),
            "names of clusters say nothing"
        );
        assert!(
            (validity(&(&table * 1e6), 5, &rings) - validity(&table, 5, &rings)).abs() < 1e-9,
            "nor does the scale"
        );
    }
}
