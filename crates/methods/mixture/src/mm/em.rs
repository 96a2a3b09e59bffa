//! EM for a finite mixture of products of label distributions.

use std::num::NonZeroU32;
use std::sync::Arc;

use partita_core::ndarray::ArrayView2;
use partita_core::{
    Confusion, Monitor, Objective, Outcome, ProgressCounter, Seed, Sense, Settings, SoftPartition,
    WeightedEnsemble,
};
use serde::{Deserialize, Serialize};

use crate::error::MixtureError;
use crate::shared::initialization;
use crate::shared::multi_start::{Limits, Run, ascend, best_of_finalists, best_on};
use crate::shared::row_model::RowModel;
use crate::shared::sufficient_statistics::SufficientStatistics;
use crate::shared::weighted_rows::WeightedRows;

/// Settings of [`mm`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MmSettings {
    /// Independent initializations, of every four one by merging small clusters and three of memberships drawn at random. All run for
    /// 20 rounds, the best quarter goes on, and the highest objective is kept.
    ///
    /// Above 65,536 distinct rows they compete on a sample, and the best goes on with all rows.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// The most rounds of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter")]
    pub rounds: NonZeroU32,
    /// Stop when a round gains at most this share of the objective.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
    /// Labels added to every label value of every cluster; 0 is maximum likelihood.
    #[setting(range = 0.0..=1e100)]
    pub pseudo_count: f64,
    /// Labels of the same name are the same class in all base clusterings, as those of tools that name cell types are.
    ///
    /// The clusters are the classes that labels name, so that the number of clusters follows from the labels, and every base
    /// clustering has a confusion matrix (Dawid and Skene). Labels "unknown" and "unassigned" are taken as missing.
    pub named: bool,
    /// With named=true: an object is called unknown where its most probable class has less than this.
    #[setting(range = 0.0..=1.0)]
    pub threshold: f64,
}

/// Facts about a mixture.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MmDiagnostics {
    /// Log likelihood of the labels, nats.
    pub log_likelihood: f64,
    /// exp of the mean negative log likelihood of a label: how many values a label is as uncertain as.
    pub perplexity: f64,
    /// The objective that every initialization reached, on the rows on which they compete.
    pub objective_by_restart: Vec<f64>,
    /// Names of the classes, where labels name some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// How every base clustering calls objects of each class, where labels name classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confusion: Option<Vec<Confusion>>,
}

impl Default for MmSettings {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self {
            restarts: count(12),
            rounds: count(500),
            tolerance: 1e-7,
            pseudo_count: 0.1,
            named: false,
            threshold: 0.5,
        }
    }
}

impl MmSettings {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            restarts: self.restarts,
            rounds: self.rounds,
            tolerance: self.tolerance,
        }
    }
}

/// The mixture of `clusters` products of label distributions under which the rows are most probable.
///
/// ```text
/// maximise  Σ_i w_i ln Σ_k π_k Π_u θ_kuℓ(i,u)  +  c Σ_kuj ln θ_kuj
/// ```
///
/// | paper | here |
/// |---|---|
/// | α_m | π_k, share of a cluster |
/// | ϑ_mj(k) | θ_kuj, label shares within a cluster |
/// | `E[z_im]` | the soft result |
///
/// The product runs over the labels that are there. Where base clusterings have weights, ln θ_kuj counts as often as the weight of u
/// says, as if u were there so often: in the product, and with its pseudo-counts. The objective never falls from one round to the next. A cluster
/// may die; it keeps its number.
///
/// # Cost
/// O(distinct rows · M · K) time a round, in parallel over restarts and rows; 64 ΣJ K numbers a restart and n K for
/// the result.
///
/// # Differences from the paper
/// Starts by k-means++ into 8 K clusters that are merged to K by the likelihood a merge loses, and then moved (one run from a random start gives
/// the poor baselines of later papers, and k-means++ into K is little better), beside random ones, and a pseudo-count that keeps
/// labels that were not seen possible in held-out rows.
///
/// # Errors
/// [`MixtureError::Settings`] for a tolerance or pseudo-count that is negative or not finite, and
/// [`MixtureError::NoClusters`] for K = 0.
///
/// # References
/// Topchy, Jain, Punch, *A mixture model for clustering ensembles*, SDM 2004.
#[doc(alias = "latent class model")]
#[doc(alias = "expectation-maximization")]
#[doc(alias("SAME"))]
pub fn mm(
    rows: &WeightedRows<'_>,
    clusters: usize,
    seed: Seed,
    settings: &MmSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<MmDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("mm", rows = rows.weights().len(), clusters).entered();
    MixtureError::check(settings, &rows.size(clusters))?;
    let progress = settings.limits().progress_of_finalists(monitor, 1);
    let (run, objectives) = best_on(
        rows,
        seed,
        |rows| compete(rows, clusters, seed, settings, &progress),
        |model| ascend_on(rows, model, settings, &progress),
    );
    Ok(outcome(rows, run, objectives))
}

/// [`mm`] from given memberships: one run, in which clusters keep their numbers. Objects whose line is 0 say nothing at the start.
///
/// # Errors
/// As [`mm`].
///
/// # Panics
/// If there is not one line of `memberships` an object.
#[doc(alias = "warm start")]
pub fn mm_from(
    ensemble: WeightedEnsemble<'_>,
    memberships: ArrayView2<'_, f64>,
    settings: &MmSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<MmDiagnostics>, MixtureError> {
    let rows = WeightedRows::of_weighted(ensemble);
    MixtureError::check(settings, &rows.size(memberships.ncols()))?;
    let limits = Limits {
        restarts: NonZeroU32::MIN,
        ..settings.limits()
    };
    let start = initialization::model(
        &rows,
        &WeightedRows::unfolded(ensemble.ensemble).given_soft(memberships),
    );
    let run = ascend_on(&rows, start, settings, &limits.progress(monitor, 0));
    let objective = run.objective();
    Ok(outcome(&rows, run, vec![objective]))
}

/// The best of all initializations, and the objectives of all.
pub(crate) fn compete(
    rows: &WeightedRows<'_>,
    clusters: usize,
    seed: Seed,
    settings: &MmSettings,
    progress: &ProgressCounter<'_>,
) -> (Run<RowModel>, Vec<f64>) {
    best_of_finalists(
        settings.limits(),
        progress,
        |restart| {
            initialization::model(
                rows,
                &initialization::varied_statistics(rows, clusters, restart, seed),
            )
        },
        |start, limits| {
            ascend(start, limits, progress, |model| {
                round(rows, model, settings.pseudo_count)
            })
        },
    )
}

fn ascend_on(
    rows: &WeightedRows<'_>,
    start: RowModel,
    settings: &MmSettings,
    progress: &ProgressCounter<'_>,
) -> Run<RowModel> {
    ascend(start, settings.limits(), progress, |model| {
        round(rows, model, settings.pseudo_count)
    })
}

/// The objective at `model`, and the model after one round.
fn round(rows: &WeightedRows<'_>, model: &RowModel, pseudo_count: f64) -> (f64, RowModel) {
    advance(rows.expect(model.logs()), model, pseudo_count)
}

/// The same from what the rows expect.
pub(crate) fn advance(
    sums: SufficientStatistics,
    model: &RowModel,
    pseudo_count: f64,
) -> (f64, RowModel) {
    let prior = if pseudo_count > 0.0 {
        pseudo_count * model.logs().lines.iter().sum::<f64>()
    } else {
        0.0
    };
    let next = RowModel::of_sums(model.bases.clone(), &sums, |_| pseudo_count, 0.0)
        .weighted(model.base_weights());
    (sums.log_sum + prior, next)
}

fn outcome(
    rows: &WeightedRows<'_>,
    run: Run<RowModel>,
    objective_by_restart: Vec<f64>,
) -> Outcome<MmDiagnostics> {
    let model = run.result;
    let soft = rows.expand(rows.memberships(model.logs()));
    let log_likelihood = rows.expect(model.logs()).log_sum;
    let mut outcome = Outcome::soft(
        SoftPartition::new(soft).expect("normalised probabilities"),
        run.stopped,
    );
    outcome.rounds = run.trace.len() as u64;
    outcome.objective = Some(objective(run.trace));
    outcome.model = Some(Arc::new(model));
    let perplexity = (-log_likelihood / rows.labels()).exp();
    outcome.with(MmDiagnostics {
        log_likelihood,
        perplexity,
        objective_by_restart,
        names: None,
        confusion: None,
    })
}

pub(crate) fn objective(trace: Vec<f64>) -> Objective {
    let (name, sense) = ("log likelihood with pseudo-counts, nats", Sense::Maximise);
    Objective {
        name,
        sense,
        value: trace[trace.len() - 1],
        trace,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture;
    use partita_core::Silent;

    #[test]
    fn one_step_agrees_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let expected = &fixtures["mm"];
        let rows = WeightedRows::unfolded(&ensemble);
        let sums = rows.given_soft(fixture::matrix(&expected["R0"]).view());
        let model = RowModel::of_sums(ensemble.bases().to_vec(), &sums, |_| 0.0, 0.0);
        fixture::assert_close(model.prior(), &fixture::vector(&expected["pi"]));
        for (u, theta) in expected["theta"].as_array().unwrap().iter().enumerate() {
            let found = model
                .label_probabilities(u)
                .t()
                .iter()
                .copied()
                .collect::<Vec<_>>();
            fixture::assert_close(
                &found,
                &fixture::matrix(theta).iter().copied().collect::<Vec<_>>(),
            );
        }
        let logs = model.log_probabilities(&ensemble).unwrap();
        fixture::assert_close(&logs, &fixture::vector(&expected["loglik_per_object"]));
        let found = [
            round(&rows, &model, 0.0).0,
            model.perplexity(&ensemble).unwrap(),
            rows.labels(),
        ];
        let told =
            ["loglik", "perplexity", "n_labels"].map(|name| expected[name].as_f64().unwrap());
        fixture::assert_close(&found, &told);
    }

    #[test]
    fn the_objective_never_falls_and_repeated_rows_change_nothing() {
        for seed in 0..60 {
            let ensemble = fixture::drawn(seed);
            let settings = MmSettings {
                pseudo_count: [0.0, 0.1, 1.0][seed as usize % 3],
                ..MmSettings::default()
            };
            let fit =
                |rows: &WeightedRows<'_>| mm(rows, 3, Seed::new(seed), &settings, &Silent).unwrap();
            let outcome = fit(&WeightedRows::of(&ensemble));
            let trace = &outcome.objective.as_ref().unwrap().trace;
            assert!(
                trace
                    .windows(2)
                    .all(|pair| pair[1] >= pair[0] - 1e-9 * pair[0].abs()),
                "seed {seed}: {trace:?}"
            );

            let n = ensemble.objects() as u32;
            let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
            let twice = ensemble.select(&(0..2 * n).map(|i| i % n).collect::<Vec<_>>(), &bases);
            let again = fit(&WeightedRows::weighted(&twice, &vec![0.5; twice.objects()]).unwrap());
            assert_eq!(again.objective, outcome.objective);
            assert_eq!(
                again.partition.labels()[..n as usize],
                *outcome.partition.labels()
            );
        }
    }

    /// Merges alone lead to few different places; most of the other initializations lead elsewhere.
    #[test]
    fn initializations_end_in_different_places() {
        let mut builder = partita_core::EnsembleBuilder::new(80);
        for u in 0..6u64 {
            let label = |i: u64| Some(Seed::new(u).child(i).number() % 4);
            builder.push(format!("u{u}"), (0..80).map(label)).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let outcome = mm(
            &WeightedRows::of(&ensemble),
            4,
            Seed::new(1),
            &MmSettings::default(),
            &Silent,
        )
        .unwrap();
        let mut reached = outcome.details.objective_by_restart.clone();
        reached.sort_by(f64::total_cmp);
        reached.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
        assert!(reached.len() >= 9, "{reached:?}");
        assert_eq!(outcome.objective.unwrap().value, *reached.last().unwrap());
    }

    /// From the same model, distinct rows with weights and every row for itself give the same round.
    #[test]
    fn distinct_rows_are_exact() {
        for seed in 0..60 {
            let ensemble = fixture::drawn(seed);
            let rows = WeightedRows::of(&ensemble);
            let model = initialization::model(
                &rows,
                &initialization::random_statistics(&rows, 3, Seed::new(seed)),
            );
            let (folded, next) = round(&WeightedRows::of(&ensemble), &model, 0.1);
            let (each, other) = round(&WeightedRows::unfolded(&ensemble), &model, 0.1);
            assert!((folded - each).abs() < 1e-10 * each.abs());
            fixture::assert_close(&next.theta, &other.theta);
        }
    }
}
