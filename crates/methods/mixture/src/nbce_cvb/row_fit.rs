//! NBCE-CVB over label rows that are not held: one row pass a round.

use std::sync::Arc;

use partita_core::{
    BaseClustering, BaseWeights, Monitor, PassError, PassRunner, ProgressCounter, RowFit, Seed,
    Stopped,
};

use super::collapsed::{LEARN_EVERY, NbceCvbSettings, Oscillation, compete, reported};
use super::counts::Counts;
use super::memberships::{Memberships, objective};
use super::row_update::{Collapsed, Update};
use crate::error::MixtureError;
use crate::nbce::hyperparameters::{Hyperparameters, maximise_collapsed};
use crate::nbce::likelihood::{
    NbceDiagnostics, RowLikelihood, in_use_by_size, merged_model, places,
};
use crate::shared::kept::{Kept, KeptOf};
use crate::shared::log_probabilities::normalise_by_base;
use crate::shared::multi_start::{Run, best_of_sample};
use crate::shared::row_passes::Usage;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// [`nbce_cvb`](fn@crate::nbce_cvb) over label rows that are not held.
///
/// Memberships are no state: in every round those of a row are the ones that agree with the expected counts N of all rows, its own among them,
///
/// ```text
/// γ_i = f(N − γ_i)        with the f of nbce_cvb, by a few turns from γ_i = 0
/// ```
/// and N is their sum in the next. Where N no longer changes this is the fixed point that updates of memberships from round to round have.
/// Initializations compete on a sample of 32,768 different rows ([`RowSample`](partita_core::RowSample)), and the best goes on with all
/// rows. Where no more rows differ, the sample is all of them, and the best is the result.
///
/// # Cost
/// O(n M K) time a round, about five times what one of [`nbce_vb_rows`](crate::nbce_vb_rows) takes; the sample and a few tables of
/// ΣJ · K numbers a thread.
///
/// # Errors
/// As [`nbce_cvb`](fn@crate::nbce_cvb), and [`MixtureError::Pass`] when rows cannot be read.
pub fn nbce_cvb_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &NbceCvbSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<NbceDiagnostics>, MixtureError> {
    let bases = rows.source().bases();
    let _span = tracing::info_span!("nbce-cvb", rows = rows.source().rows(), clusters).entered();
    let offsets = BaseClustering::offsets(bases);
    let of_bases = (&offsets[..], weights.map(BaseWeights::copies));
    let progress = settings.limits().progress_of_finalists(monitor, 1);
    let (run, objective_by_restart) = best_of_sample(
        (rows, weights),
        (clusters, seed),
        settings,
        |sample| {
            let (best, objectives) = compete(sample, (clusters, seed), settings, &progress);
            (best.map(Expected::of), objectives)
        },
        |best| relax(rows, of_bases, best, settings, &progress),
    )?;
    let Expected {
        sums,
        hyperparameters,
    } = run.result;
    let Hyperparameters { alpha0, beta } = hyperparameters;
    let now = Counts::of(of_bases, &sums, hyperparameters, settings.prior);
    let last = rows.run(&Update {
        offsets: offsets.clone(),
        before: None,
        now: now.clone(),
    })?;
    let order = in_use_by_size(&last.sums.sizes, &last.chosen);
    let mut theta: Vec<f64> = sums.labels.iter().map(|count| beta + count).collect();
    normalise_by_base(&mut theta, &offsets, clusters);
    let model = merged_model(
        bases,
        &settings.prior.expected_shares(&sums.sizes, alpha0),
        &theta,
        &order,
    );
    let model = model.weighted(of_bases.1);
    let usage = Usage {
        offsets,
        logs: model.logs().clone(),
        base_weights: weights.map(|weights| weights.copies().to_vec()),
    };
    let used = rows.run(&usage)?;
    let likelihood = RowLikelihood {
        clusters_in_use: order.len(),
        log_likelihood: used.log_sum,
        perplexity: (-used.log_sum / used.labels).exp(),
        clusters_at_most: clusters,
    };
    let details = NbceDiagnostics {
        fit: likelihood,
        alpha0,
        beta,
        objective_by_restart,
    };
    let (place, places) = places(&order, clusters);
    let labels = Collapsed { counts: now, place };
    let mut fit = RowFit::new(places, run.stopped, labels, details);
    (fit.rounds, fit.objective) = (run.trace.len() as u64, Some(reported(run.trace)));
    fit.model = Some(Arc::new(model));
    Ok(fit)
}

/// What a fit is but for memberships, which follow from it.
struct Expected {
    sums: SufficientStatistics,
    hyperparameters: Hyperparameters,
}

impl Expected {
    fn of(
        Memberships {
            sums,
            hyperparameters,
            ..
        }: Memberships,
    ) -> Self {
        Self {
            sums,
            hyperparameters,
        }
    }
}

impl Kept for Expected {
    type Form = (SufficientStatistics, Hyperparameters);

    fn keep(self) -> Self::Form {
        (self.sums, self.hyperparameters)
    }

    fn open((sums, hyperparameters): Self::Form, of: &KeptOf<'_>) -> Option<Self> {
        of.fits(&sums.labels, None, &sums.sizes).then_some(Self {
            sums,
            hyperparameters,
        })
    }
}

/// Rounds until no membership changes, nor α0 and β where they are learned. Where rounds go to and fro, expected counts go half of the
/// way from then on.
fn relax(
    rows: &PassRunner<'_>,
    of_bases: (&[usize], Option<&[f64]>),
    Expected {
        mut sums,
        mut hyperparameters,
    }: Expected,
    settings: &NbceCvbSettings,
    progress: &ProgressCounter<'_>,
) -> Result<Run<Expected>, PassError> {
    let most = settings.rounds.get() as usize;
    let (mut trace, mut step, mut before) = (Vec::new(), 1.0, None);
    let mut oscillation = Oscillation::new(&sums);
    let stopped = loop {
        let now = Counts::of(of_bases, &sums, hyperparameters, settings.prior);
        let update = Update {
            offsets: of_bases.0.to_vec(),
            before: before.take(),
            now,
        };
        let found = rows.run(&update)?;
        let mut change = if update.before.is_some() {
            found.change / step
        } else {
            f64::INFINITY
        };
        before = Some(update.now);
        let still = change <= settings.tolerance;
        towards(&mut sums, &found.sums, step);
        if settings.learn && (still || trace.len() % LEARN_EVERY == LEARN_EVERY - 1) {
            let learned = maximise_collapsed(settings.prior, &sums, of_bases);
            change = change.max(learned.distance(&hyperparameters));
            hyperparameters = learned;
        }
        let by = (settings.prior, settings.learn);
        trace.push(objective(
            (&sums, found.sums.log_sum),
            of_bases,
            hyperparameters,
            by,
        ));
        progress.add(1);
        let stop = progress.stopped();
        if still && change <= settings.tolerance {
            break Stopped::Converged;
        }
        if oscillation.found(&sums) {
            step *= 0.5;
        }
        if stop {
            break Stopped::Interrupted;
        }
        if trace.len() == most {
            break Stopped::RoundLimit;
        }
    };
    progress.add((most - trace.len()) as u64);
    Ok(Run {
        result: Expected {
            sums,
            hyperparameters,
        },
        trace,
        stopped,
    })
}

/// Goes so much of the way to other counts.
fn towards(sums: &mut SufficientStatistics, to: &SufficientStatistics, step: f64) {
    let go = |own: &mut [f64], to: &[f64]| {
        own.iter_mut()
            .zip(to)
            .for_each(|(own, to)| *own += step * (to - *own));
    };
    if step == 1.0 {
        sums.clone_from(to);
    } else {
        go(&mut sums.sizes, &to.sizes);
        go(&mut sums.labels, &to.labels);
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use partita_core::ndarray::Array2;
    use partita_core::{EnsembleRows, Silent};

    use super::*;
    use crate::nbce::prior::NbcePrior;
    use crate::shared::{fixture, initialization, weighted_rows::WeightedRows};

    /// Rounds from the same clusters, by blocks: the sums at their end, and how far the update in memory moves memberships that agree with them.
    fn moved(
        seed: u64,
        settings: &NbceCvbSettings,
        base_weights: Option<&[f64]>,
    ) -> (Stopped, f64) {
        let ensemble = fixture::drawn(seed);
        let held =
            WeightedRows::unfolded(&ensemble).with_base_weights(base_weights.map(<[f64]>::to_vec));
        let start = held.given_hard(
            &initialization::kmeans_plus_plus(&held, 3, Seed::new(seed)),
            4,
        );
        let hyperparameters = Hyperparameters {
            alpha0: settings.alpha0,
            beta: settings.beta,
        };
        let (source, progress) = (
            EnsembleRows::new(&ensemble),
            settings.limits().progress(&Silent, 1),
        );
        let of_bases = (held.offsets(), held.base_weights());
        let expected = Expected {
            sums: start,
            hyperparameters,
        };
        let run = relax(
            &PassRunner::new(&source, &Silent),
            of_bases,
            expected,
            settings,
            &progress,
        )
        .unwrap();
        let Expected {
            sums,
            hyperparameters,
        } = run.result;
        let counts = Counts::of(of_bases, &sums, hyperparameters, settings.prior);
        let mut soft = Array2::zeros((ensemble.objects(), 4));
        let partita_core::LabelRows::Bytes(labels) = ensemble.rows() else {
            panic!("few clusters")
        };
        let mut scratch = crate::nbce_cvb::counts::SettleScratch::new(4);
        for (row, mut own) in labels.outer_iter().zip(soft.outer_iter_mut()) {
            let own = own.as_slice_mut().unwrap();
            counts.settle(row, 1.0, own, &mut scratch);
        }
        let mut state = Memberships::of_soft(&held, soft.view());
        state.hyperparameters = hyperparameters;
        (run.stopped, state.update(&held, settings.prior))
    }

    #[test]
    fn rounds_end_where_updates_of_memberships_move_nothing() {
        let mut converged = 0;
        for seed in 0..120 {
            let prior = [NbcePrior::Symmetric, NbcePrior::StickBreaking][seed as usize % 2];
            let (alpha0, beta) = (
                [0.5, 1.0, 3.0][seed as usize % 3],
                [0.2, 1.0][seed as usize / 2 % 2],
            );
            let rounds = NonZeroU32::new(3000).unwrap();
            let settings = NbceCvbSettings {
                prior,
                alpha0,
                beta,
                rounds,
                learn: seed % 5 == 0,
                ..NbceCvbSettings::default()
            };
            let weights: Vec<f64> = (0..fixture::drawn(seed).bases().len())
                .map(|u| 0.5 + u as f64)
                .collect();
            let (stopped, moved) = moved(seed, &settings, (seed % 3 == 1).then_some(&weights));
            converged += u32::from(stopped == Stopped::Converged);
            assert!(
                stopped != Stopped::Converged || moved < 20.0 * settings.tolerance,
                "seed {seed}: {moved}"
            );
        }
        assert!(converged >= 115, "{converged}");
    }
}
