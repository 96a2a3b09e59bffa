//! Average link of weighted objects from a condensed matrix, in its memory.

use partita_core::{Dendrogram, Silent};

use crate::LinkageError;
use crate::condensed::check;
use crate::merges::in_order;
use crate::nn_chain::{Chain, Clusters};

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
    let mut clusters = Condensed {
        cells: condensed,
        sizes: weights.to_vec(),
        alive: (0..objects).collect(),
    };
    let mut chain = Chain::new(objects);
    chain.follow(&mut clusters, &Silent)?;
    Ok(in_order(chain.merged, &vec![1; objects]))
}

/// A condensed matrix that shrinks in place.
struct Condensed {
    cells: Vec<f32>,
    /// Sums of weights.
    sizes: Vec<f64>,
    /// Clusters that are left, by their smallest object.
    alive: Vec<usize>,
}

impl Condensed {
    fn place(&self, a: usize, b: usize) -> usize {
        let low = a.min(b);
        let high = a.max(b);
        low * (2 * self.sizes.len() - low - 1) / 2 + (high - low - 1)
    }
}

impl Clusters for Condensed {
    fn alive(&self) -> usize {
        self.alive.len()
    }

    fn nearest_slot(&mut self, slot: u32, before: Option<u32>) -> u32 {
        let slot = slot as usize;
        let first = self.alive[usize::from(self.alive[0] == slot)];
        let mut nearest = before.map_or(first, |before| before as usize);
        let mut least = self.cells[self.place(slot, nearest)];
        for &other in self.alive.iter().filter(|&&other| other != slot) {
            let here = self.cells[self.place(slot, other)];
            if here < least {
                nearest = other;
                least = here;
            }
        }
        nearest as u32
    }

    fn merge(&mut self, a: u32, b: u32) -> f64 {
        let into = a as usize;
        let gone = b as usize;
        let height = f64::from(self.cells[self.place(into, gone)]);
        self.alive.retain(|&cluster| cluster != gone);
        let one = self.sizes[into];
        let other = self.sizes[gone];
        for &cluster in self.alive.iter().filter(|&&cluster| cluster != into) {
            let to = self.place(into, cluster);
            let from = self.place(gone, cluster);
            let sum = one * f64::from(self.cells[to]) + other * f64::from(self.cells[from]);
            self.cells[to] = (sum / (one + other)) as f32;
        }
        self.sizes[into] += other;
        height
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
        let length = link_weighted_f32(vec![1.0], &[1.0; 3]).unwrap_err();
        assert!(matches!(length, LinkageError::Length { .. }));
        let weights = link_weighted_f32(vec![1.0], &[1.0, 0.0]).unwrap_err();
        assert!(matches!(weights, LinkageError::Weights { .. }));
        assert_eq!(link_weighted_f32(vec![], &[2.0]).unwrap().merges(), []);
    }
}
