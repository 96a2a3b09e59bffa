//! Collapsed Gibbs sampling for NBCE: chains side by side, and one partition that stands for their draws.

use std::sync::Arc;

use partita_core::{
    Clusters, EnsembleRows, LabelRows, Monitor, Outcome, Partition, PassRunner, ProblemSize,
    ProgressCounter, Seed, Settings, Silent, Stopped, WeightedEnsemble,
};
use rayon::prelude::*;

use super::annealed::Annealing;
use super::chain_diagnostics::{NbceDraws, NbceGibbsDiagnostics, with_diagnostics};
use super::equal_rows::majority_by_row;
use super::gibbs_run::{Chain, GibbsRun, KeptDraw, gibbs_run};
use super::partition_loss::PartitionLoss;
use super::partition_samples::PartitionSamples;
use super::settings::{NbceGibbsSettings, Summary};
use crate::error::MixtureError;
use crate::nbce::hyperparameters::Hyperparameters;
use crate::nbce::likelihood::{likelihood, merged_model};
use crate::nbce::prior::NbcePrior;
use crate::nbce::truncation::number_by_size;
use crate::shared::held_rows::HeldRows;
use crate::shared::layout::BaseLayout;
use crate::shared::log_mean::{LogMean, RUNS};
use crate::shared::row_model::RowModel;
use crate::shared::row_passes::Places;
use crate::shared::shares::MixtureShares;

/// Steps that the greedy search may cost.
const SEARCH_EFFORT: usize = 2_000_000_000;

/// Draws partitions from the posterior of a Dirichlet-process mixture of label rows, all objects one by one.
///
/// ```text
/// p(z_i = k | …) ∝ p(z_i = k | z_¬i) Π_u (β + N^{¬i}_{kuℓ(i,u)}) / (J_u β + N^{¬i}_{ku})
/// ```
///
/// The product runs over the labels that are there. A base clustering of weight ω is ω copies: the exponent of
/// the factor of its labels. An object of weight w is w objects with its labels that
/// stay together, so that each factor x of its odds becomes Γ(x + w) / Γ(x), w being any number. After each sweep a few split–merge moves
/// (Dahl's) part or join whole clusters. Chains run in parallel; each has its own stream of chance.
///
/// # Cost
/// O(n · M · K) time a sweep and chain; with weights of objects, which need logarithms, 5 times as long where they are whole numbers up to
/// 8 and 17 times where they are not (3,000 × 30, K = 8). (ΣJ + 2 M) K numbers a chain and 4 n bytes a kept partition.
///
/// # Differences from the paper
/// Eq. 5 lacks the δ: only the observed label's count is in the product. Stick-breaking is truncated at v_K = 1, and
/// its density has the factor α0^{K−1}, without which α0 cannot be learned.
///
/// # Errors
/// [`MixtureError::Settings`] for α0 or β out of range; [`MixtureError::NoClusters`] for K = 0.
pub fn nbce_draws<'a>(
    of: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
    settings: &NbceGibbsSettings,
    monitor: &dyn Monitor,
) -> Result<NbceDraws, MixtureError> {
    let of: WeightedEnsemble<'_> = of.into();
    let ensemble = of.ensemble;
    let _span = tracing::info_span!("nbce-gibbs", objects = ensemble.objects(), clusters).entered();
    let size = ProblemSize::of(ensemble, Clusters::Exactly(clusters));
    if clusters == 0 {
        return Err(MixtureError::NoClusters);
    }
    settings.validate(&size)?;
    let length = u64::from(settings.burn_in) + u64::from(settings.sweeps.get());
    let progress = ProgressCounter::new(monitor, length * u64::from(settings.chains.get()));
    let weights = of.multiplicities().map(exact);
    let layout = BaseLayout::new(ensemble.bases(), of.base_copies());
    let rows = match &weights {
        Some(weights) => EnsembleRows::weighted(ensemble, weights),
        None => EnsembleRows::new(ensemble),
    };
    let rows = HeldRows {
        rows: rows.with_shares(),
        layout: &layout,
    };
    let soft = ensemble.memberships();
    let chain = |number: u32| {
        let chain = Chain { number, clusters };
        match ensemble.rows() {
            LabelRows::Bytes(labels) => {
                gibbs_run(rows, soft, labels, chain, seed, settings, &progress)
            }
            LabelRows::Words(labels) => {
                gibbs_run(rows, soft, labels, chain, seed, settings, &progress)
            }
        }
    };
    // Who asks to stop does not wait for chains that were not begun.
    let begun = |number: &u32| *number == 0 || !progress.was_stopped();
    let runs: Vec<GibbsRun> = (0..settings.chains.get())
        .into_par_iter()
        .filter(begun)
        .map(chain)
        .collect();
    let interrupted = runs.iter().any(|run| run.interrupted);
    let moved = runs.iter().map(|run| run.moved).sum();
    let kept: Vec<&KeptDraw> = runs.iter().flat_map(|run| &run.kept).collect();
    Ok(NbceDraws {
        kept: runs.iter().map(|run| run.kept.len()).collect(),
        samples: PartitionSamples::new(
            kept.iter().map(|kept| kept.partition.clone()).collect(),
            kept.iter().map(|kept| kept.log_joint).collect(),
        )
        .with_weights(weights),
        hyperparameters: kept
            .iter()
            .map(|kept| (kept.hyperparameters.alpha0, kept.hyperparameters.beta))
            .collect(),
        log_joint: runs.iter().map(|run| run.log_joint.clone()).collect(),
        moved,
        clusters: runs.into_iter().map(|run| run.clusters).collect(),
        stopped: if interrupted {
            Stopped::Interrupted
        } else {
            Stopped::IterationLimit
        },
    })
}

/// The weights in multiples of a unit that is so large that sums over all objects are exact: a cluster that lost its last object has no
/// weight, and none is negative. Whole numbers below 2²⁴ stay what they are.
fn exact(weights: &[f64]) -> Vec<f64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let unit = (largest.log2().floor() - 23.0).exp2();
    weights
        .iter()
        .map(|weight| (weight / unit).round().max(1.0) * unit)
        .collect()
}

/// The partition that stands for what was drawn, with all there is to say of the draws.
pub(super) fn solve<'a>(
    of: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
    settings: &NbceGibbsSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<NbceGibbsDiagnostics>, MixtureError> {
    let of: WeightedEnsemble<'_> = of.into();
    let ensemble = of.ensemble;
    let length = u64::from(settings.burn_in) + u64::from(settings.sweeps.get());
    let sweeps = length * u64::from(settings.chains.get());
    let annealed = u64::from(RUNS) * u64::from(settings.evidence);
    let progress = ProgressCounter::new(monitor, sweeps + annealed);
    let draws = nbce_draws(of, clusters, seed, settings, &progress.part(sweeps))?;
    let fragments = ensemble.fragments();
    let chosen = summarise(&draws.samples, clusters, settings)?;
    let weights = of.each_multiplicity();
    let hyperparameters = mean_hyperparameters(&draws);
    let partition = majority_by_row(&chosen, &weights, &fragments);
    let (partition, model) = fit(of, &partition, clusters, &draws, settings.prior);
    let mut outcome = Outcome::hard(partition, draws.stopped);
    let rows = EnsembleRows::from(of);
    let layout = BaseLayout::new(ensemble.bases(), of.base_copies());
    let fit = likelihood(
        &PassRunner::new(&rows, &Silent),
        layout,
        &model,
        outcome.partition.live_clusters(),
        clusters,
    )?;
    outcome.model = Some(Arc::new(model));
    let mut outcome = with_diagnostics(outcome, fit, draws, settings.burn_in);
    if settings.evidence > 0 && outcome.stopped != Stopped::Interrupted {
        let part = progress.part(annealed);
        outcome.details.evidence = evidence(of, clusters, seed, settings, hyperparameters, &part);
    }
    Ok(outcome)
}

/// p(labels) under the mean α0 and β of the draws.
fn evidence(
    of: WeightedEnsemble<'_>,
    clusters: usize,
    seed: Seed,
    settings: &NbceGibbsSettings,
    hyperparameters: Hyperparameters,
    monitor: &dyn Monitor,
) -> Option<LogMean> {
    let weights = of.multiplicities().map(exact);
    let layout = BaseLayout::new(of.ensemble.bases(), of.base_copies());
    let annealing = Annealing {
        layout: &layout,
        object_weights: weights.as_deref(),
        clusters,
        prior: settings.prior,
        hyperparameters,
        steps: settings.evidence,
    };
    let steps = u64::from(RUNS) * u64::from(settings.evidence);
    let progress = ProgressCounter::new(monitor, steps);
    let seed = seed.child(u64::MAX);
    match of.ensemble.rows() {
        LabelRows::Bytes(rows) => annealing.evidence(rows, seed, &progress),
        LabelRows::Words(rows) => annealing.evidence(rows, seed, &progress),
    }
}

/// The means of α0 and β over the draws.
fn mean_hyperparameters(draws: &NbceDraws) -> Hyperparameters {
    let mean = |pick: fn(&(f64, f64)) -> f64| {
        draws.hyperparameters.iter().map(pick).sum::<f64>() / draws.hyperparameters.len() as f64
    };
    Hyperparameters {
        alpha0: mean(|values| values.0),
        beta: mean(|values| values.1),
    }
}

fn summarise(
    samples: &PartitionSamples,
    clusters: usize,
    settings: &NbceGibbsSettings,
) -> Result<Partition, MixtureError> {
    let loss = match settings.summary {
        Summary::Map => return Ok(samples.samples()[samples.map()].clone()),
        Summary::AverageLink => return samples.average_link(PartitionLoss::Vi, clusters),
        Summary::Binder => PartitionLoss::Binder,
        Summary::Vi => PartitionLoss::Vi,
    };
    let best = &samples.samples()[samples.best(loss)];
    let effort = samples.samples().len() * best.objects() * clusters;
    Ok(if settings.search && effort <= SEARCH_EFFORT {
        samples.search(loss, best, clusters)
    } else {
        best.clone()
    })
}

/// The partition with its clusters by size, and the posterior mean model of it: expected shares, and label shares
/// with β added. Where K leaves clusters empty, they are a last one together.
fn fit(
    of: WeightedEnsemble<'_>,
    partition: &Partition,
    clusters: usize,
    draws: &NbceDraws,
    prior: NbcePrior,
) -> (Partition, RowModel) {
    let layout = BaseLayout::new(of.ensemble.bases(), of.base_copies());
    let rows = HeldRows {
        rows: EnsembleRows::from(of),
        layout: &layout,
    };
    let mut labels = partition.by_appearance().labels().to_vec();
    number_by_size(&mut labels, &rows.weights(), clusters);
    let Hyperparameters { alpha0, beta } = mean_hyperparameters(draws);
    let sums = rows.given_hard(&labels, clusters);
    let shares = MixtureShares {
        prior: prior.expected_shares(&sums.sizes, alpha0),
        theta: MixtureShares::of_sums(&sums, &layout, beta, 0.0).theta,
    };
    let live = sums.sizes.iter().filter(|size| **size > 0.0).count();
    let places = Places((0..clusters).map(|k| k.min(live)).collect());
    let model = merged_model(of.ensemble.bases(), &layout, &shares, &places);
    let partition =
        Partition::new(labels, model.clusters()).expect("labels are below the live clusters");
    (partition, model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nbce_gibbs::chain_diagnostics::top;
    use crate::shared::fixture;
    use partita_core::{Ensemble, EnsembleBuilder, Flow, SettingsError, Silent};
    use std::num::NonZeroU32;

    fn short() -> NbceGibbsSettings {
        let count = |number| NonZeroU32::new(number).unwrap();
        NbceGibbsSettings {
            burn_in: 50,
            sweeps: count(100),
            keep: count(20),
            ..NbceGibbsSettings::default()
        }
    }

    /// Four clear groups, 12 % of the labels wrong.
    fn groups() -> Ensemble {
        let mut builder = EnsembleBuilder::new(80);
        for u in 0..10 {
            let label = |i: u32| {
                if (i * 7 + u * 13).is_multiple_of(8) {
                    Some((i + u) % 4)
                } else {
                    Some(i % 4)
                }
            };
            builder.push(format!("u{u}"), (0..80).map(label)).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn every_summary_finds_clear_groups() {
        let (ensemble, truth) = (
            groups(),
            Partition::new((0..80).map(|i| i % 4).collect(), 4).unwrap(),
        );
        for summary in [
            Summary::Map,
            Summary::Binder,
            Summary::Vi,
            Summary::AverageLink,
        ] {
            for prior in [NbcePrior::Symmetric, NbcePrior::StickBreaking] {
                let settings = NbceGibbsSettings {
                    prior,
                    summary,
                    ..short()
                };
                let outcome = solve(&ensemble, 10, Seed::new(1), &settings, &Silent).unwrap();
                assert_eq!(
                    outcome.partition.by_appearance(),
                    truth,
                    "{summary:?} {prior:?}"
                );
                let memberships = outcome.posterior.expect("draws").memberships().largest();
                assert!(memberships.iter().sum::<f64>() > 72.0);
                assert_eq!(outcome.details.clusters_by_sweep.len(), 4);
            }
        }
    }

    /// Nothing is to be done.
    struct Nothing;

    impl Monitor for Nothing {
        fn tick(&self, done: u64, total: u64) -> Flow {
            panic!("{done} of {total} done")
        }
    }

    #[test]
    fn too_many_pairs_are_refused_before_anything_is_drawn() {
        let mut builder = EnsembleBuilder::new(20_001);
        builder.push("u", (0..20_001).map(|i| Some(i % 2))).unwrap();
        let settings = NbceGibbsSettings {
            summary: Summary::AverageLink,
            ..short()
        };
        let error = solve(
            &builder.finish().unwrap(),
            2,
            Seed::new(1),
            &settings,
            &Nothing,
        )
        .unwrap_err();
        assert!(
            matches!(
                error,
                MixtureError::Settings(SettingsError::Unfit {
                    name: "summary",
                    ..
                })
            ),
            "{error}"
        );
        assert!(error.to_string().contains("at most 20000"), "{error}");
    }

    #[test]
    fn learned_values_are_drawn_and_reported() {
        let settings = NbceGibbsSettings {
            learn: true,
            ..short()
        };
        let outcome = solve(&groups(), 10, Seed::new(2), &settings, &Silent).unwrap();
        let beta = outcome.details.beta;
        assert!(
            beta > 0.0 && beta < 1.0,
            "labels are mostly right: beta is small, not {beta}"
        );
    }

    #[test]
    fn short_chains_are_warned_of() {
        let count = |number| NonZeroU32::new(number).unwrap();
        let settings = NbceGibbsSettings {
            burn_in: 0,
            sweeps: count(8),
            keep: count(4),
            ..NbceGibbsSettings::default()
        };
        let outcome = solve(&fixture::drawn(5), 8, Seed::new(2), &settings, &Silent).unwrap();
        assert!(
            outcome
                .warnings
                .iter()
                .any(|warning| warning.contains("effective draws"))
        );
    }

    #[test]
    fn one_sweep_is_warned_of() {
        let one = NonZeroU32::new(1).unwrap();
        let settings = NbceGibbsSettings {
            burn_in: 0,
            sweeps: one,
            keep: one,
            ..NbceGibbsSettings::default()
        };
        let outcome = solve(&fixture::drawn(5), 8, Seed::new(2), &settings, &Silent).unwrap();
        let said = |words: &str| {
            outcome
                .warnings
                .iter()
                .any(|warning| warning.contains(words))
        };
        assert!(
            said("1 sweeps after the burn-in are too few") && said("only 4 kept draws"),
            "{:?}",
            outcome.warnings
        );
    }

    /// Wants to stop after so many ticks.
    struct After(u64);

    impl Monitor for After {
        fn tick(&self, done: u64, _total: u64) -> Flow {
            if done < self.0 {
                Flow::Continue
            } else {
                Flow::Stop
            }
        }
    }

    /// On one thread the first chain ends, the second is stopped on its way, and the others do not begin.
    #[test]
    fn chains_that_were_stopped_keep_their_own_draws() {
        let mut builder = EnsembleBuilder::new(60);
        for u in 0..4_u64 {
            let mut rng = Seed::new(u).rng();
            builder
                .push(
                    format!("u{u}"),
                    (0..60).map(|_| Some(rand::RngExt::random_range(&mut rng, 0..4_u32))),
                )
                .unwrap();
        }
        let (ensemble, settings) = (
            builder.finish().unwrap(),
            NbceGibbsSettings {
                search: false,
                ..short()
            },
        );
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let run = || {
            let fit =
                |monitor: &After| solve(&ensemble, 6, Seed::new(3), &settings, monitor).unwrap();
            let draws = nbce_draws(&ensemble, 6, Seed::new(3), &settings, &After(230)).unwrap();
            (fit(&After(230)).details, draws)
        };
        let (details, draws) = pool.install(run);
        assert_eq!(draws.kept, [20, 6]);
        assert_eq!(
            details
                .modes
                .iter()
                .map(|mode| mode.chains.len())
                .sum::<usize>(),
            2
        );
        assert!(
            details.modes.len() > 1,
            "labels are noise, chains cannot agree: {:?}",
            details.modes
        );
        for mode in &details.modes {
            let first = mode.chains[0];
            let start: usize = draws.kept[..first].iter().sum();
            let own = &draws.samples.log_joint()[start..start + draws.kept[first]];
            assert_eq!(
                mode.log_joint,
                top(own),
                "the best draw of chain {first} is its own"
            );
        }
    }
}
