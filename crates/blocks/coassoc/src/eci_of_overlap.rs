//! Ensemble-driven cluster index from the overlap table alone.

use partita_core::BaseWeights;
use rayon::prelude::*;

use crate::Overlap;
use crate::eci::{Tally, renew_trust, weighed};

impl Overlap {
    /// [`trusted_cluster_weights`](crate::trusted_cluster_weights) from the overlap table alone, to the same bits.
    ///
    /// # Cost
    /// O((ΣJ)² · rounds) time.
    ///
    /// # Panics
    /// If there is not one weight a base clustering.
    pub fn cluster_weights(
        &self,
        theta: f64,
        rounds: u32,
        weights: Option<&BaseWeights>,
    ) -> Vec<f64> {
        let given = weights.map(BaseWeights::as_slice);
        assert!(
            given.is_none_or(|given| given.len() + 1 == self.offsets().len()),
            "one weight a base clustering"
        );
        let sizes = self.sizes();
        let objects: Vec<Vec<f64>> = self
            .offsets()
            .windows(2)
            .map(|ends| sizes[ends[0]..ends[1]].to_vec())
            .collect();
        // The tallies without trust; entropies are found once.
        let pairs = self.entropies();
        let mut trust = vec![1.0; objects.len()];
        let mut weights = self.weights_under(&pairs, theta, &weighed(&trust, given));
        for _ in 0..rounds {
            renew_trust(&mut trust, &objects, &weights);
            weights = self.weights_under(&pairs, theta, &weighed(&trust, given));
        }
        weights
    }

    /// The tally of every base cluster (line) within every base clustering (column).
    fn entropies(&self) -> Vec<Vec<Tally>> {
        let table = self.table();
        let line = |cluster: usize| {
            let counts = table.row(cluster);
            let within =
                |ends: &[usize]| Tally::of(counts.iter().take(ends[1]).skip(ends[0]).copied());
            self.offsets().windows(2).map(within).collect()
        };
        (0..table.nrows()).into_par_iter().map(line).collect()
    }

    fn weights_under(&self, tallies: &[Vec<Tally>], theta: f64, trust: &[f64]) -> Vec<f64> {
        let sizes = self.sizes();
        let mut weights = Vec::with_capacity(sizes.len());
        for (v, ends) in self.offsets().windows(2).enumerate() {
            for cluster in ends[0]..ends[1] {
                // Added up as the tables of two base clusterings are: earlier ones, then the own and the later ones.
                let mut all = Tally::default();
                (0..v).for_each(|u| all.add(tallies[cluster][u].times(trust[u])));
                let mut later = Tally {
                    bits: 0.0,
                    seen: if sizes[cluster] > 0.0 { trust[v] } else { 0.0 },
                };
                (v + 1..trust.len()).for_each(|u| later.add(tallies[cluster][u].times(trust[u])));
                all.add(later);
                weights.push(all.index(theta));
            }
        }
        weights
    }
}
