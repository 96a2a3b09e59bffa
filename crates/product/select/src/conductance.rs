//! Conductance of clusters in the graph of nearest neighbours: whether a cluster is closed in itself.

use partita_core::Partition;
use partita_core::ndarray::ArrayView2;
use rayon::prelude::*;

/// The nearest neighbours of every object.
pub(crate) struct NearestNeighbours {
    /// Object after object.
    neighbours: Vec<u32>,
    each: usize,
}

impl NearestNeighbours {
    /// The nearest of a table (n × d), at most n − 1; of equal distances the first. O(n² d) time.
    pub(crate) fn new(table: ArrayView2<'_, f64>, each: usize) -> Self {
        let (objects, each) = (table.nrows(), each.min(table.nrows().saturating_sub(1)));
        let nearest = |i: usize| {
            let distance = |j: usize| -> f64 {
                table
                    .row(i)
                    .iter()
                    .zip(table.row(j))
                    .map(|(a, b)| (a - b) * (a - b))
                    .sum()
            };
            let mut others: Vec<(f64, u32)> = (0..objects)
                .filter(|&j| j != i)
                .map(|j| (distance(j), j as u32))
                .collect();
            if each < others.len() {
                others.select_nth_unstable_by(each, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            }
            others.into_iter().take(each).map(|(_, j)| j)
        };
        let neighbours: Vec<Vec<u32>> = (0..objects)
            .into_par_iter()
            .map(|i| nearest(i).collect())
            .collect();
        Self {
            neighbours: neighbours.concat(),
            each,
        }
    }

    /// The largest conductance of a cluster: the share of the links from its objects to their neighbours that lead out of it. 0 for clusters
    /// that nothing leads out of, 1 for a single object.
    pub(crate) fn conductance(&self, partition: &Partition) -> f64 {
        let labels = partition.labels();
        let mut links = vec![(0_usize, 0_usize); partition.clusters()];
        for (neighbours, &own) in self.neighbours.chunks(self.each.max(1)).zip(labels) {
            let (all, out) = &mut links[own as usize];
            *all += neighbours.len();
            *out += neighbours
                .iter()
                .filter(|&&j| labels[j as usize] != own)
                .count();
        }
        links
            .iter()
            .filter(|(all, _)| *all > 0)
            .map(|&(all, out)| out as f64 / all as f64)
            .fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::{Array2, array};

    #[test]
    fn values_by_hand() {
        // Two neighbours each: 0 → 1 2, 1 → 0 2, 2 → 1 0, 10 → 11 13, 11 → 10 13, 13 → 11 10.
        let table = array![[0.0], [1.0], [2.0], [10.0], [11.0], [13.0]];
        let graph = NearestNeighbours::new(table.view(), 2);
        let of = |labels: [u32; 6]| graph.conductance(&Partition::from_values(&labels));
        assert_eq!(of([0, 0, 0, 1, 1, 1]), 0.0);
        assert_eq!(of([0, 0, 0, 0, 0, 0]), 0.0);
        // Of four links of 0 and 1 two lead to 2, whose two lead to them.
        assert_eq!(of([0, 0, 1, 2, 2, 2]), 1.0);
        assert_eq!(of([0, 0, 1, 1, 1, 1]), 0.5);
    }

    #[test]
    fn few_objects_have_fewer_neighbours() {
        let partition = Partition::from_values(&[0, 1]);
        assert_eq!(
            NearestNeighbours::new(array![[0.0], [1.0]].view(), 5).conductance(&partition),
            1.0
        );
        let one = NearestNeighbours::new(Array2::zeros((1, 1)).view(), 5);
        assert_eq!(one.conductance(&Partition::from_values(&[0])), 0.0);
    }
}
