//! Plurality vote after optimal alignment.

use std::num::Saturating;

use partita_core::ndarray::Array2;
use partita_core::{
    BaseWeights, Capabilities, Ensemble, FitError, Method, MethodInfo, Monitor, Outcome, Partition, Problem,
    ProblemSize, Seed, SettingChoice, Settings, SoftPartition, Stopped, Weights,
};
use partita_metrics::{Alignment, Surplus, align_to, align_to_partition, best_reference};
use serde::{Deserialize, Serialize};

use crate::error::check;
use crate::{LabelMeansSettings, MedianError, kc};
use partita_kmeans::labels::base_weights;

/// Whose labels the base clusterings take before they vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// Those of the base clustering into exactly K clusters that overlaps most with all; where there is none, those
    /// of [`kc`].
    #[default]
    Overlap,
    /// Those of [`kc`].
    Kc,
}

/// Settings of [`plurality`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PluralitySettings {
    /// Whose labels the base clusterings take: overlap (those of the base clustering with K clusters that overlaps most with
    /// all), or kc.
    pub reference: Reference,
}

/// Facts about a vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VoteDiagnostics {
    /// The base clustering whose clusters were voted for, or `kc`.
    pub reference: String,
}

/// Every base clustering takes the labels of a reference by optimal matching, then objects go where most of their
/// labels say. The soft result is the share of the votes.
///
/// ```text
/// p_ik = Σ_u ω_u [code_u(ℓ_ui) = k] / Σ_u ω_u      over the base clusterings that label object i
/// ```
/// Clusters beyond the K of the reference vote for the cluster with which they share the most objects.
///
/// # Cost
/// O(n M) for the votes, O(n M E) to choose among E base clusterings with K clusters; n K numbers.
///
/// # Differences from the paper
/// An optimal matching to one reference where Dudoit and Fridlyand try all permutations; any number of clusters in
/// the base clusterings; missing labels; weights.
///
/// # Errors
/// [`MedianError`] if K is out of range, weights do not fit, or an object has no label.
///
/// # References
/// Dudoit, Fridlyand, *Bagging to improve the accuracy of a clustering procedure*, Bioinformatics 2003.
pub fn plurality(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &PluralitySettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<VoteDiagnostics>, MedianError> {
    let _span = tracing::info_span!("plurality", objects = ensemble.objects(), clusters).entered();
    check(ensemble, weights, clusters, settings)?;
    let exact = |u: usize| settings.reference == Reference::Overlap && live(ensemble, u) == clusters;
    let alignment = if let Some(reference) = best_reference(ensemble, weights, exact) {
        align_to(ensemble, reference, Surplus::Nearest).expect("the reference exists")
    } else {
        let partition = centre(ensemble, weights, clusters, seed, monitor)?;
        align_to_partition(ensemble, &partition, Surplus::Nearest).expect("they label the same objects")
    };
    let soft = votes(ensemble, &alignment, &base_weights(ensemble.bases(), weights), clusters);
    let reference = alignment.reference().map_or("kc", |u| ensemble.bases()[u].name()).to_owned();
    Ok(Outcome::soft(soft, Stopped::Exact).with(VoteDiagnostics { reference }))
}

/// The partition of [`kc`], a reference for base clusterings none of which will do.
pub(crate) fn centre(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<Partition, MedianError> {
    Ok(kc(ensemble, weights, clusters, seed, &LabelMeansSettings::default(), monitor)?.partition)
}

/// Clusters of a base clustering that have an object, if its numbers have no gaps; else one more than can be had.
pub(crate) fn live(ensemble: &Ensemble, base: usize) -> usize {
    let clusters = ensemble.bases()[base].clusters();
    let mut seen = vec![false; clusters];
    ensemble.column(base).flatten().for_each(|j| seen[j] = true);
    if seen.iter().all(|&seen| seen) { clusters } else { usize::MAX }
}

fn votes(ensemble: &Ensemble, alignment: &Alignment, trust: &[f64], clusters: usize) -> SoftPartition {
    let mut votes = Array2::<f64>::zeros((ensemble.objects(), clusters));
    for (i, mut row) in votes.outer_iter_mut().enumerate() {
        for (u, trust) in trust.iter().enumerate() {
            if let Some(j) = ensemble.label(i, u) {
                row[alignment.codes(u)[j] as usize] += trust;
            }
        }
        let sum = row.sum();
        row.mapv_inplace(|votes| votes / sum);
    }
    SoftPartition::new(votes).expect("shares of votes are on the simplex")
}

/// Bytes of a search for the reference, as kc makes it with its own defaults.
pub(crate) fn centre_bytes(size: &ProblemSize) -> Saturating<u64> {
    Saturating(crate::label_means::bytes(size, LabelMeansSettings::default().restarts.get()))
}

/// [`plurality`] as a method.
#[derive(Debug)]
pub struct Plurality;

/// Plurality vote after alignment, [`plurality`].
pub static PLURALITY: Plurality = Plurality;

static INFO: MethodInfo = MethodInfo {
    name: "plurality",
    family: "median",
    summary: "base clusterings take the labels of a reference and vote: the simplest soft consensus",
    reference: "Dudoit, Fridlyand, Bagging to improve the accuracy of a clustering procedure, Bioinformatics 2003",
    certainty: "share of the votes",
    time: "n M K",
    memory: "8 n K + 40 n bytes",
    remedy: "ask for fewer clusters",
    capabilities: Capabilities { soft: true, base_weights: Weights::Native, seeded: true, ..Capabilities::HARD_LABELS },
};

impl Method for Plurality {
    type Settings = PluralitySettings;
    type Diagnostics = VoteDiagnostics;
    type Error = FitError;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, _settings: &PluralitySettings) -> u64 {
        let [n, _, _, k] = size.saturating();
        (centre_bytes(size) + n * k * Saturating(16)).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &PluralitySettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<VoteDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(plurality(problem.ensemble, problem.weights, clusters, problem.seed, settings, monitor)?)
    }
}
