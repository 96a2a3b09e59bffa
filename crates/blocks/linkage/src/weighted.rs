//! Average link of weighted objects from a condensed matrix, in its memory: nearest-neighbour chain.

use partita_core::Dendrogram;

use crate::LinkageError;
use crate::condensed::check;
use crate::merges::{Merged, in_order};

/// The average-link tree of objects each of which stands for as many as its weight says: that of [`link_f32`](crate::link_f32) over the
/// objects that the weights stand for, above their merges at height 0 and but for rounding and ties. Sizes count objects, not weights.
///
/// # Errors
/// [`LinkageError`] if there is not one dissimilarity a pair, or one is negative or not finite, or not one positive weight an object.
///
/// # Cost
/// O(n²) time, no memory besides the matrix.
pub fn link_weighted_f32(condensed: Vec<f32>, weights: &[f64]) -> Result<Dendrogram, LinkageError> {
    let objects = weights.len();
    check(&condensed, objects, f64::from)?;
    if weights
        .iter()
        .any(|weight| !(*weight > 0.0 && weight.is_finite()))
    {
        return Err(LinkageError::Weights {
            found: weights.len(),
            objects,
        });
    }
    let mut clusters = Clusters {
        condensed,
        sizes: weights.to_vec(),
        alive: (0..objects).collect(),
    };
    let (mut chain, mut merged): (Vec<usize>, Vec<Merged>) = (Vec::new(), Vec::new());
    while clusters.alive.len() > 1 {
        let top = *chain.last().unwrap_or(&clusters.alive[0]);
        if chain.is_empty() {
            chain.push(top);
        }
        let before = chain.len().checked_sub(2).map(|at| chain[at]);
        let nearest = clusters.nearest(top, before);
        if before == Some(nearest) {
            merged.push(clusters.merge(top.min(nearest), top.max(nearest)));
            chain.truncate(chain.len() - 2);
        } else {
            chain.push(nearest);
        }
    }
    Ok(in_order(merged, &vec![1; objects]))
}

/// Clusters by their smallest object.
struct Clusters {
    condensed: Vec<f32>,
    /// Sums of weights.
    sizes: Vec<f64>,
    alive: Vec<usize>,
}

impl Clusters {
    fn place(&self, a: usize, b: usize) -> usize {
        let (i, j) = (a.min(b), a.max(b));
        i * (2 * self.sizes.len() - i - 1) / 2 + (j - i - 1)
    }

    /// The nearest to a cluster: of several the one given, or the first.
    fn nearest(&self, cluster: usize, preferred: Option<usize>) -> usize {
        let away = |other: usize| self.condensed[self.place(cluster, other)];
        let first = preferred.unwrap_or_else(|| self.alive[usize::from(self.alive[0] == cluster)]);
        let others = self.alive.iter().copied().filter(|&other| other != cluster);
        others
            .fold((first, away(first)), |best, other| {
                if away(other) < best.1 {
                    (other, away(other))
                } else {
                    best
                }
            })
            .0
    }

    /// The second cluster goes into the first.
    fn merge(&mut self, into: usize, gone: usize) -> Merged {
        let height = f64::from(self.condensed[self.place(into, gone)]);
        self.alive.retain(|&cluster| cluster != gone);
        let (one, other) = (self.sizes[into], self.sizes[gone]);
        for &cluster in self.alive.iter().filter(|&&cluster| cluster != into) {
            let (to, from) = (self.place(into, cluster), self.place(gone, cluster));
            let sum = one * f64::from(self.condensed[to]) + other * f64::from(self.condensed[from]);
            self.condensed[to] = (sum / (one + other)) as f32;
        }
        self.sizes[into] += other;
        Merged::new(into as u32, gone as u32, height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Linkage, cut, link_f32};
    use partita_core::Seed;
    use rand::RngExt;

    /// Dissimilarities of drawn points, in which no two are equal.
    fn drawn(order: &[usize], points: &[f32]) -> Vec<f32> {
        let at = |i: usize| points[order[i]];
        (0..order.len())
            .flat_map(|i| (i + 1..order.len()).map(move |j| (at(i) - at(j)).abs()))
            .collect()
    }

    #[test]
    fn the_tree_is_that_of_as_many_copies() {
        for seed in 0..100 {
            let mut rng = Seed::new(seed).rng();
            let objects: usize = rng.random_range(2..30);
            let points: Vec<f32> = (0..objects).map(|_| rng.random_range(0.0..1.0)).collect();
            let times: Vec<usize> = (0..objects).map(|_| rng.random_range(1..4)).collect();
            let all: Vec<usize> = times
                .iter()
                .enumerate()
                .flat_map(|(i, &times)| vec![i; times])
                .collect();
            let each: Vec<usize> = (0..objects).collect();
            let weights: Vec<f64> = times.iter().map(|&times| times as f64).collect();
            let tree = link_weighted_f32(drawn(&each, &points), &weights).unwrap();
            let copies = link_f32(drawn(&all, &points), all.len(), Linkage::Average).unwrap();
            for clusters in 1..=objects {
                let expected = cut(&copies, clusters);
                let firsts: Vec<u32> = (0..objects)
                    .map(|i| expected.labels()[all.iter().position(|&object| object == i).unwrap()])
                    .collect();
                let expected = partita_core::Partition::from_values(&firsts).by_appearance();
                assert_eq!(
                    cut(&tree, clusters).by_appearance(),
                    expected,
                    "seed {seed}, {clusters} of {objects}"
                );
            }
        }
    }

    #[test]
    fn what_makes_no_tree_is_refused() {
        assert_eq!(
            link_weighted_f32(vec![1.0], &[1.0; 3]),
            Err(LinkageError::Length {
                found: 1,
                objects: 3
            })
        );
        assert!(matches!(
            link_weighted_f32(vec![1.0], &[1.0, 0.0]),
            Err(LinkageError::Weights { .. })
        ));
        assert_eq!(link_weighted_f32(vec![], &[2.0]).unwrap().merges(), []);
    }
}
