//! p(labels) of NBCE by annealed importance sampling (Neal 2001): from partitions of the prior to those of the posterior.
//!
//! ```text
//! f_t(z) = p(z) p(labels | z)^τ_t        τ_0 = 0 < … < τ_T = 1
//! ln w   = Σ_t (τ_{t+1} − τ_t) ln p(labels | z_t)        z_t from z_{t−1} by a sweep that leaves f_t as it is
//! ```
//! The mean of w over runs is without bias. A power of the likelihood is that many copies of every base clustering.

use partita_core::ndarray::ArrayView2;
use partita_core::{Label, ProgressCounter, Seed, map_parallel};
use rand::{Rng, RngExt};

use super::gibbs_state::{GibbsState, index_at};
use crate::nbce::hyperparameters::Hyperparameters;
use crate::nbce::prior::{NbcePrior, log_labels};
use crate::shared::layout::BaseLayout;
use crate::shared::log_mean::{LogMean, RUNS, power};
use crate::shared::log_probabilities::normalise;

/// What is annealed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Annealing<'a> {
    pub(crate) layout: &'a BaseLayout,
    pub(crate) object_weights: Option<&'a [f64]>,
    pub(crate) clusters: usize,
    pub(crate) prior: NbcePrior,
    pub(crate) hyperparameters: Hyperparameters,
    /// Steps from prior to posterior.
    pub(crate) steps: u32,
}

impl Annealing<'_> {
    /// ln p(labels); none where it was interrupted.
    pub(crate) fn evidence<L: Label>(
        &self,
        rows: ArrayView2<'_, L>,
        seed: Seed,
        progress: &ProgressCounter<'_>,
    ) -> Option<LogMean> {
        let run = |run: u32| self.run(rows, seed.child(u64::from(run)), progress);
        let logs: Option<Vec<f64>> = map_parallel(0..RUNS, run).into_iter().collect();
        logs.map(|logs| LogMean::of(&logs))
    }

    /// The logarithm of the weight of one run.
    fn run<L: Label>(
        &self,
        rows: ArrayView2<'_, L>,
        seed: Seed,
        progress: &ProgressCounter<'_>,
    ) -> Option<f64> {
        let mut rng = seed.rng();
        let (mut z, mut log) = self.drawn(rows.nrows(), &mut rng);
        let mut layout = self.layout.clone();
        for step in 0..self.steps {
            let (now, next) = (power(step, self.steps), power(step + 1, self.steps));
            let copies = (0..layout.len()).map(|u| now * self.layout.copies_of(u));
            layout.copies = Some(copies.collect());
            let mut state = GibbsState::new(
                rows,
                &layout,
                self.object_weights,
                z,
                self.clusters,
                self.prior,
                self.hyperparameters,
            );
            // The first is from the prior as it is.
            if step > 0 {
                state.sweep(&mut rng);
            }
            log += (next - now) * log_labels(&state.counts, self.layout, self.hyperparameters.beta);
            z = state.z;
            progress.add(1);
            if progress.stopped() {
                return None;
            }
        }
        Some(log)
    }

    /// A partition from the prior, object by object, and ln p(z) − ln of the chance of drawing it: 0 but where objects have weights, which
    /// stay together.
    fn drawn(&self, objects: usize, rng: &mut impl Rng) -> (Vec<u32>, f64) {
        let alpha0 = self.hyperparameters.alpha0;
        let mut sizes = vec![0.0; self.clusters];
        let mut z = Vec::with_capacity(objects);
        let mut chance = 0.0;
        for object in 0..objects {
            let weight = self.object_weights.map_or(1.0, |weights| weights[object]);
            let mut shares = self.prior.log_shares(&sizes, weight, alpha0);
            normalise(&mut shares);
            let k = index_at(&shares, rng.random::<f64>());
            chance += shares[k].ln();
            sizes[k] += weight;
            z.push(k as u32);
        }
        (z, self.prior.log_partition(&sizes, alpha0) - chance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture::{self, Held};
    use partita_core::{LabelRows, Silent};

    /// Within three standard errors of the sum over all assignments of 6 to 8 objects, with weights of base clusterings and of objects.
    #[test]
    fn the_evidence_is_that_of_enumeration() {
        const CLUSTERS: usize = 3;
        let hyperparameters = Hyperparameters {
            alpha0: 0.8,
            beta: 0.3,
        };
        for seed in 0..6 {
            let prior = [NbcePrior::Symmetric, NbcePrior::StickBreaking][seed as usize % 2];
            let drawn = fixture::drawn(seed);
            let objects: Vec<u32> = (0..6 + seed as u32 % 3).collect();
            let bases: Vec<u32> = (0..drawn.bases().len() as u32).collect();
            let ensemble = drawn.select(&objects, &bases);
            let copies =
                (seed % 3 == 1).then(|| bases.iter().map(|&u| 0.5 + f64::from(u)).collect());
            let weights: Vec<f64> = objects.iter().map(|&i| f64::from(1 + i % 2)).collect();
            let weights = (seed % 3 == 2).then_some(&weights[..]);
            let held = Held::each(&ensemble)
                .with_copies(copies)
                .with_weights(weights);
            let joint = |code: usize| {
                let place = |&i: &u32| (code / CLUSTERS.pow(i) % CLUSTERS) as u32;
                let z: Vec<u32> = objects.iter().map(place).collect();
                let sums = held.rows().given_hard(&z, CLUSTERS);
                prior.log_partition(&sums.sizes, hyperparameters.alpha0)
                    + log_labels(&sums, &held.layout, hyperparameters.beta)
            };
            let all = 0..CLUSTERS.pow(objects.len() as u32);
            let exact = normalise(&mut all.map(joint).collect::<Vec<f64>>());
            let annealing = Annealing {
                layout: &held.layout,
                object_weights: weights,
                clusters: CLUSTERS,
                prior,
                hyperparameters,
                steps: 200,
            };
            let LabelRows::Bytes(rows) = ensemble.rows() else {
                panic!("few clusters")
            };
            let progress = ProgressCounter::new(&Silent, 1);
            let found = annealing
                .evidence(rows, Seed::new(seed), &progress)
                .unwrap();
            assert!(
                (found.value - exact).abs() <= 3.0 * found.standard_error
                    && found.standard_error < 0.3,
                "seed {seed}: {found:?} and {exact}"
            );
        }
    }
}
