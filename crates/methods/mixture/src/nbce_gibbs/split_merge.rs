//! Split–merge moves of a Gibbs chain (Dahl).

use partita_core::Label;
use rand::{Rng, RngExt, seq::SliceRandom};
use statrs::function::gamma::ln_gamma;

use super::gibbs_state::GibbsState;
use crate::nbce::prior::log_rise;

/// The counts of one of two clusters that share some objects between them.
struct SideCounts {
    size: f64,
    /// ΣJ values.
    labels: Vec<f64>,
    /// M values.
    totals: Vec<f64>,
}

impl<L: Label> GibbsState<'_, L> {
    /// One split–merge move: two objects are drawn; if they share a cluster it is parted between them, if not their
    /// clusters are joined. Objects choose their side one after the other, each by the odds of its labels given those
    /// before, which makes proposals that single moves would take very long to reach. Leaves the posterior as it is;
    /// true when the move was taken.
    ///
    /// # Cost
    /// O(n + M · objects of the cluster + ΣJ).
    ///
    /// # References
    /// Dahl, *An improved merge-split sampler for conjugate Dirichlet process mixture models*, 2003.
    pub(crate) fn split_or_merge(&mut self, rng: &mut impl Rng) -> bool {
        let n = self.z.len();
        if n < 2 {
            return false;
        }
        let i = rng.random_range(0..n);
        let j = (i + rng.random_range(1..n)) % n;
        let (a, b) = (self.z[i], self.z[j]);
        let empty: Vec<u32> = (0..self.counts.sizes.len() as u32)
            .filter(|&k| self.counts.sizes[k as usize] == 0.0)
            .collect();
        let split = a == b;
        if split && empty.is_empty() {
            return false;
        }
        let other = if split {
            empty[rng.random_range(0..empty.len())]
        } else {
            b
        };
        let mut members: Vec<u32> = (0..n as u32)
            .filter(|&s| s as usize != i && s as usize != j && [a, b].contains(&self.z[s as usize]))
            .collect();
        members.shuffle(rng);
        let (sides, log_q, second) = self.allocate((i, j), &members, (!split).then_some(b), rng);
        let gain = self.gain_of_split(&sides, (a, other));
        // The way back from a merge goes through one more empty cluster.
        let slots = (empty.len() + usize::from(!split)) as f64;
        let log_odds = gain - log_q + slots.ln();
        let log_odds = if split { log_odds } else { -log_odds };
        let taken = (1.0 - rng.random::<f64>()).ln() < log_odds;
        if taken {
            let to = if split { other } else { a };
            let moved = members
                .iter()
                .zip(&second)
                .filter(|(_, second)| **second)
                .map(|(&s, _)| s as usize);
            moved.chain([j]).for_each(|s| self.reassign(s, to));
        }
        taken
    }

    /// Shares `members` between the sides of two objects, by chance or (with `given`) as they are: who is in that
    /// cluster is on the second side. Returns the sides, the log probability of this, and who is on the second side.
    fn allocate(
        &self,
        (i, j): (usize, usize),
        members: &[u32],
        given: Option<u32>,
        rng: &mut impl Rng,
    ) -> ([SideCounts; 2], f64, Vec<bool>) {
        let mut sides = [i, j].map(|object| {
            let (labels, totals) = (
                vec![0.0; self.layout.label_values()],
                vec![0.0; self.layout.len()],
            );
            let mut side = SideCounts {
                size: 0.0,
                labels,
                totals,
            };
            self.join(&mut side, object);
            side
        });
        let mut log_q = 0.0;
        let choose = |&s: &u32| {
            let odds =
                self.log_weight(&sides[1], s as usize) - self.log_weight(&sides[0], s as usize);
            // ln of the chances of the second side and the first.
            let chances = [-(1.0 + (-odds).exp()).ln(), -(1.0 + odds.exp()).ln()];
            let second = given.map_or_else(
                || rng.random::<f64>().ln() < chances[0],
                |b| self.z[s as usize] == b,
            );
            log_q += chances[usize::from(!second)];
            self.join(&mut sides[usize::from(second)], s as usize);
            second
        };
        let second = members.iter().map(choose).collect();
        (sides, log_q, second)
    }

    fn join(&self, side: &mut SideCounts, object: usize) {
        let weight = self.weight(object);
        side.size += weight;
        for (u, label) in self.rows.row(object).iter().enumerate() {
            if let Some(j) = label.cluster() {
                side.labels[self.layout.offsets[u] + j] += weight;
                side.totals[u] += weight;
            }
        }
    }

    /// ln of the size of a side times the probability of an object's labels, given those on it; of as many objects as it stands for.
    fn log_weight(&self, side: &SideCounts, object: usize) -> f64 {
        let (beta, weight) = (self.hyperparameters.beta, self.weight(object));
        let mut log = log_rise(side.size, weight);
        for (u, label) in self.rows.row(object).iter().enumerate() {
            if let Some(j) = label.cluster() {
                let (label, all) = (
                    beta + side.labels[self.layout.offsets[u] + j],
                    self.pseudo_totals[u] + side.totals[u],
                );
                let one = if weight == 1.0 {
                    (label / all).ln()
                } else {
                    log_rise(label, weight) - log_rise(all, weight)
                };
                log += self.layout.copies_of(u) * one;
            }
        }
        log
    }

    /// What ln p(z, labels) gains when the cluster of both sides is parted into `clusters`.
    fn gain_of_split(&self, [first, second]: &[SideCounts; 2], (a, b): (u32, u32)) -> f64 {
        let gain = |low: f64, x: f64, y: f64| {
            if x == 0.0 || y == 0.0 {
                return 0.0;
            }
            ln_gamma(low + x) + ln_gamma(low + y) - ln_gamma(low) - ln_gamma(low + x + y)
        };
        let beta = self.hyperparameters.beta;
        let weight = |u: usize| self.layout.copies_of(u);
        let of_base = |(u, ends): (usize, &[usize])| {
            let pairs = first.labels[ends[0]..ends[1]]
                .iter()
                .zip(&second.labels[ends[0]..ends[1]]);
            pairs.map(move |(&x, &y)| weight(u) * gain(beta, x, y))
        };
        let labels: f64 = self
            .layout
            .offsets
            .windows(2)
            .enumerate()
            .flat_map(of_base)
            .sum();
        let pairs = self
            .pseudo_totals
            .iter()
            .zip(first.totals.iter().zip(&second.totals))
            .enumerate();
        let totals: f64 = pairs
            .map(|(u, (&low, (&x, &y)))| weight(u) * gain(low, x, y))
            .sum();
        let mut sizes = self.counts.sizes.clone();
        (sizes[a as usize], sizes[b as usize]) = (first.size, second.size);
        let parted = self
            .prior
            .log_partition(&sizes, self.hyperparameters.alpha0);
        (sizes[a as usize], sizes[b as usize]) = (first.size + second.size, 0.0);
        labels - totals + parted
            - self
                .prior
                .log_partition(&sizes, self.hyperparameters.alpha0)
    }

    fn reassign(&mut self, object: usize, cluster: u32) {
        self.count(object, self.z[object] as usize, -1.0);
        self.z[object] = cluster;
        self.count(object, cluster as usize, 1.0);
    }
}
