//! Mean-field variational inference for NBCE: one pass an iteration.

use std::num::NonZeroU32;

use partita_core::{
    Monitor, Objective, PassError, PassRunner, ProgressCounter, RowFit, RowProblem, Seed, Sense,
    Settings,
};
use serde::{Deserialize, Serialize};

use super::posterior::{Posterior, advance};
use crate::error::MixtureError;
use crate::nbce::hyperparameters::{Hyperparameters, Learn};
use crate::nbce::likelihood::{NbceDiagnostics, NbceFound};
use crate::nbce::truncation::varied_statistics;
use crate::shared::expectation::expect;
use crate::shared::held_rows::HeldRows;
use crate::shared::layout::BaseLayout;
use crate::shared::multi_start::{Competition, Limits, MixtureFit, Run, ascend, best_fit};
use crate::shared::row_passes::{MostProbable, Usage};

/// Settings of [`NBCE_VB`](crate::NBCE_VB). Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NbceVbSettings {
    /// Concentration α0 of the Dirichlet process: more means more clusters.
    #[setting(range = 1e-20..=1e20)]
    pub alpha0: f64,
    /// Label pseudo-count β: below 1 wants pure clusters and finds many, 1 to 5 give class-like numbers.
    #[setting(range = 1e-20..=1e20)]
    pub beta: f64,
    /// Learn α0 and β: true under Gamma(1, 1), ml by maximum likelihood between 1e-4 and 1e4; the values above are where they start.
    ///
    /// Without a prior the likelihood may rise for ever, to pure clusters (beta) or to one (alpha0): what ran to a limit is said in a warning.
    pub learn: Learn,
    /// Independent initializations, of every four one by merging small clusters to K, K/2, K, K/4, … ones and three of memberships drawn
    /// at random. All run for 20 iterations, the best quarter goes on, and the highest bound is kept.
    ///
    /// Above 32,768 distinct rows they compete on a sample, and the best goes on with all rows.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// The most iterations of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: NonZeroU32,
    /// Stop when an iteration gains at most this share of the bound.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for NbceVbSettings {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self {
            alpha0: 1.0,
            beta: 1.0,
            learn: Learn::False,
            restarts: count(16),
            iterations: count(500),
            tolerance: 1e-6,
        }
    }
}

impl NbceVbSettings {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            restarts: self.restarts,
            iterations: self.iterations,
            tolerance: self.tolerance,
        }
    }
}

/// Variational inference over rows of one layout.
struct Variational<'a> {
    layout: &'a BaseLayout,
    clusters: usize,
    seed: Seed,
    settings: &'a NbceVbSettings,
}

impl MixtureFit for Variational<'_> {
    type State = Posterior;

    fn start(&self, rows: HeldRows<'_>, restart: u32) -> Posterior {
        let hyperparameters = Hyperparameters {
            alpha0: self.settings.alpha0,
            beta: self.settings.beta,
        };
        let sums = varied_statistics(rows, self.clusters, restart, self.seed);
        Posterior::of(sums, hyperparameters, self.layout)
    }

    fn ascend(
        &self,
        rows: &PassRunner<'_>,
        state: Posterior,
        limits: Limits,
        progress: &ProgressCounter<'_>,
    ) -> Result<Run<Posterior>, PassError> {
        ascend(state, limits, progress, |posterior| {
            iteration(rows, self.layout, posterior, self.settings.learn)
        })
    }

    fn fits(&self, state: &Posterior) -> bool {
        state.fits(self.layout, self.clusters)
    }
}

/// The bound at the best q(z) for `posterior` (plus the log densities of learned α0 and β), and the next posterior.
fn iteration(
    rows: &PassRunner<'_>,
    layout: &BaseLayout,
    posterior: &Posterior,
    learn: Learn,
) -> Result<(f64, Posterior), PassError> {
    let logs = posterior.logs.clone().weighted(layout);
    let sums = expect(rows, &layout.offsets, logs)?;
    Ok(advance(sums, posterior, layout, learn))
}

/// The fit from several initializations.
pub(super) fn solve(
    problem: &RowProblem<'_>,
    clusters: usize,
    settings: &NbceVbSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<NbceDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("nbce-vb", rows = problem.rows.rows(), clusters).entered();
    let layout = BaseLayout::of(problem);
    let fit = Variational {
        layout: &layout,
        clusters,
        seed: problem.seed,
        settings,
    };
    let Competition { best, objectives } =
        best_fit(&fit, problem, &layout, settings.limits(), monitor)?;
    let posterior = best.result;
    let shares = posterior.means(&layout);
    let logs = posterior.logs.weighted(&layout);
    let usage = Usage { layout, logs };
    let used = problem.passes().run(&usage)?;
    let Usage { layout, logs } = usage;
    let found = NbceFound {
        shares,
        sizes: used.sizes,
        chosen: used.chosen,
        hyperparameters: posterior.hyperparameters,
        learn: settings.learn,
        objective: Objective::of_trace(
            "lower bound on the log evidence, nats",
            Sense::Maximise,
            best.trace,
        ),
        stopped: best.stopped,
        objectives,
    };
    let offsets = layout.offsets.clone();
    found.fit(problem, layout, |places| MostProbable {
        offsets,
        logs,
        places,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NBCE_VB;
    use crate::nbce::prior::{NbcePrior, log_labels};
    use crate::shared::fixture::{self, Held};
    use crate::shared::held_rows::GivenMemberships;
    use crate::shared::initialization;
    use crate::shared::log_probabilities::{LogProbabilities, normalise};
    use crate::shared::row_passes::Places;
    use crate::shared::sufficient_statistics::SufficientStatistics;
    use partita_core::ndarray::{Array2, ArrayView2};
    use partita_core::{Assigned, Clusters, Ensemble, Method, Problem, Silent};

    /// The sums when rows have these memberships.
    fn given(held: &Held, soft: ArrayView2<'_, f64>) -> SufficientStatistics {
        let lines = GivenMemberships::Lines(soft.iter().copied().collect());
        held.rows().given(lines, soft.ncols())
    }

    /// The memberships of rows under these logarithms.
    fn memberships(held: &Held, logs: &LogProbabilities) -> Array2<f64> {
        let labels = MostProbable {
            offsets: held.layout.offsets.clone(),
            logs: logs.clone(),
            places: Places((0..logs.clusters()).collect()),
        };
        let mut soft = Vec::new();
        let take = &mut |_, assigned: Assigned| {
            soft.extend(assigned.soft.unwrap());
            Ok(())
        };
        held.rows().passes().each(&labels, take).unwrap();
        Array2::from_shape_vec((held.rows().len(), logs.clusters()), soft).unwrap()
    }

    /// The bound at any memberships, with the best q(π) and q(θ) for them.
    fn bound(held: &Held, soft: ArrayView2<'_, f64>, hyperparameters: Hyperparameters) -> f64 {
        let sums = given(held, soft);
        let posterior = Posterior::of(sums.clone(), hyperparameters, &held.layout);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let expected =
            dot(&sums.sizes, &posterior.logs.prior) + dot(&sums.labels, &posterior.logs.lines);
        let entropy: f64 = soft.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
        expected + entropy - posterior.divergence(&held.layout)
    }

    const HYPERPARAMETERS: Hyperparameters = Hyperparameters {
        alpha0: 0.8,
        beta: 0.3,
    };

    #[test]
    fn one_round_agrees_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let told = &fixtures["nbce_vb"];
        let held = Held::each(&ensemble);
        let soft = fixture::matrix(&told["R0"]);
        let posterior = Posterior::of(given(&held, soft.view()), HYPERPARAMETERS, &held.layout);
        let after = memberships(&held, &posterior.logs);
        let flat = |matrix: &Array2<f64>| matrix.iter().copied().collect::<Vec<_>>();
        fixture::assert_close(&flat(&after), &flat(&fixture::matrix(&told["R1"])));
        let found = [
            bound(&held, soft.view(), HYPERPARAMETERS),
            bound(&held, after.view(), HYPERPARAMETERS),
        ];
        fixture::assert_close(
            &found,
            &["elbo_at_R0", "elbo_after_update"].map(|name| told[name].as_f64().unwrap()),
        );
    }

    /// From one posterior a base clustering of weight 3 gives the bound and the next posterior of three copies, and rows with weights
    /// those of every row for itself; learned or not.
    #[test]
    fn a_weight_is_so_many_copies() {
        for seed in 0..20 {
            let ensemble = fixture::drawn(seed);
            let bases = ensemble.bases().len() as u32;
            let objects: Vec<u32> = (0..ensemble.objects() as u32).collect();
            let copied = ensemble.select(
                &objects,
                &[&[0, 0][..], &(0..bases).collect::<Vec<u32>>()].concat(),
            );
            let copies = (0..bases).map(|u| if u == 0 { 3.0 } else { 1.0 }).collect();
            let held = Held::of(&ensemble).with_copies(Some(copies));
            let nearest = initialization::kmeans_plus_plus(held.rows(), 3, Seed::new(seed));
            let start = |held: &Held, nearest: &[u32]| {
                let (rows, layout) = (held.rows(), &held.layout);
                let sums = rows.given_hard(nearest, 4);
                let posterior = Posterior::of(sums, HYPERPARAMETERS, layout);
                let iteration =
                    |from| iteration(&rows.passes(), layout, from, Learn::True).unwrap();
                let (bound, next) = iteration(&posterior);
                (bound, next.hyperparameters, iteration(&next).0)
            };
            let (one, learned, next) = start(&held, &nearest);
            let spread = ensemble.fragments().expand(&nearest);
            for (other, labels) in [
                (Held::of(&copied), &nearest),
                (Held::each(&copied), &spread),
            ] {
                let (other, expected, last) = start(&other, labels);
                assert!(
                    (one - other).abs() < 1e-10 * one.abs()
                        && (next - last).abs() < 1e-10 * next.abs(),
                    "seed {seed}"
                );
                assert!(learned.distance(&expected) < 1e-8, "seed {seed}");
            }
        }
    }

    /// With ln ρ in place of ψ(ρ) − ψ(Σρ), the update that the paper prints, the bound falls.
    #[test]
    fn the_printed_update_does_not_ascend() {
        let mut falls = 0;
        for seed in 0..50 {
            let held = Held::each(&fixture::drawn(seed));
            let nearest = initialization::kmeans_plus_plus(held.rows(), 4, Seed::new(seed));
            let mut sums = held.rows().given_hard(&nearest, 4);
            let mut before = f64::NEG_INFINITY;
            for _ in 0..20 {
                let mut posterior = Posterior::of(sums, HYPERPARAMETERS, &held.layout);
                posterior.logs.lines = posterior.labels.iter().map(|label| label.ln()).collect();
                let soft = memberships(&held, &posterior.logs);
                let after = bound(&held, soft.view(), HYPERPARAMETERS);
                falls += u32::from(after < before - 1e-3);
                before = after;
                sums = given(&held, soft.view());
            }
        }
        assert!(falls > 50, "the printed update fell {falls} times of 950");
    }

    /// ln p(labels), by all assignments of the objects.
    fn evidence(ensemble: &Ensemble, clusters: usize, hyperparameters: Hyperparameters) -> f64 {
        let held = Held::each(ensemble);
        let n = ensemble.objects() as u32;
        let joint = |code: usize| {
            let z: Vec<u32> = (0..n)
                .map(|i| (code / clusters.pow(i) % clusters) as u32)
                .collect();
            let sums = held.rows().given_hard(&z, clusters);
            NbcePrior::Symmetric.log_partition(&sums.sizes, hyperparameters.alpha0)
                + log_labels(&sums, &held.layout, hyperparameters.beta)
        };
        normalise(&mut (0..clusters.pow(n)).map(joint).collect::<Vec<f64>>())
    }

    #[test]
    fn the_bound_is_below_the_evidence() {
        for seed in 0..20 {
            let drawn = fixture::drawn(seed);
            let bases: Vec<u32> = (0..drawn.bases().len() as u32).collect();
            let ensemble = drawn.select(&[0, 1, 2, 3, 4, 5], &bases);
            let settings = NbceVbSettings {
                alpha0: 0.8,
                beta: 0.3,
                ..NbceVbSettings::default()
            };
            let problem = Problem::new(&ensemble, Clusters::Exactly(3)).seed(seed);
            let outcome = NBCE_VB.fit(&problem, &settings, &Silent).unwrap();
            let (bound, evidence) = (
                outcome.objective.unwrap().value,
                evidence(&ensemble, 3, HYPERPARAMETERS),
            );
            assert!(
                bound <= evidence && bound > evidence - 6.0,
                "seed {seed}: {bound} and {evidence}"
            );
        }
    }
}
