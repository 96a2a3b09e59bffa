//! MM as a method: its info, memory and entry points.

use std::num::Saturating;

use partita_core::ndarray::ArrayView2;
use partita_core::{
    BaseClustering, Capabilities, ClusterNames, Clusters, FitError, Method, MethodInfo, Monitor,
    Outcome, Problem, ProblemSize, RowFit, RowProblem, SettingsError, WeightedEnsemble,
    fit_in_memory,
};

use super::em::{MmDiagnostics, MmSettings, go_on, solve};
use super::named::{self, fixed_clusters};
use crate::error::MixtureError;
use crate::shared::held_rows::{GivenMemberships, HeldRows};
use crate::shared::info::MIXTURE;
use crate::shared::layout::BaseLayout;
use crate::shared::shares::MixtureShares;
use crate::shared::{initialization, memory};

/// The method [`MM`].
#[derive(Debug)]
pub struct Mm;

/// The mixture of K products of label distributions under which the rows are most probable.
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
/// says, as if u were there so often: in the product, and with its pseudo-counts. The objective never falls from one iteration to the next. A cluster
/// may die; it keeps its number.
///
/// # Named labels
/// With `named` clusters are the classes that labels name: labels of the same name are the same class in
/// all base clusterings, and θ_u is the confusion matrix of base clustering u.
///
/// ```text
/// maximise  Σ_i w_i ln Σ_k π_k Π_u θ_ukℓ(i,u)  +  Σ_ukl (c + [k = l]) ln θ_ukl        k, l = 1..K names
/// ```
///
/// Starts from the shares of votes of every object, and has one run: `restarts` is not used. Labels that say "unknown" count as
/// missing. An object without any label that names a class gets equal probabilities.
/// One pseudo-label is on the diagonal of every confusion matrix, and the pseudo-count everywhere, which Dawid and Skene do without.
///
/// # Cost
/// O(distinct rows · M · K) time an iteration, in parallel over restarts and rows; tables of ΣJ K numbers a restart and thread. Rows are not
/// held but for a sample of 32,768 different ones, on which initializations compete.
///
/// # Differences from the paper
/// Starts by k-means++ into 8 K clusters that are merged to K by the likelihood a merge loses, and then moved (one run from a random start gives
/// the poor baselines of later papers, and k-means++ into K is little better), beside random ones, and a pseudo-count that keeps
/// labels that were not seen possible in held-out rows.
///
/// # References
/// Topchy, Jain, Punch, *A mixture model for clustering ensembles*, SDM 2004; Dawid, Skene, *Maximum likelihood
/// estimation of observer error-rates using the EM algorithm*, Applied Statistics 28, 1979.
#[doc(alias = "latent class model")]
#[doc(alias = "expectation-maximization")]
#[doc(alias("SAME"))]
#[doc(alias = "Dawid-Skene")]
#[doc(alias = "crowdsourcing")]
#[doc(alias = "confusion matrix")]
pub static MM: Mm = Mm;

static INFO: MethodInfo = MethodInfo {
    name: "mm",
    summary: "mixture of label distributions by EM: soft, fast, takes missing labels",
    reference: "Topchy, Jain, Punch, A mixture model for clustering ensembles, SDM 2004",
    capabilities: Capabilities {
        streams: true,
        ..MIXTURE.capabilities
    },
    ..MIXTURE
};

impl Method for Mm {
    type Settings = MmSettings;
    type Diagnostics = MmDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn fixed_clusters(&self, settings: &MmSettings, bases: &[BaseClustering]) -> Option<usize> {
        fixed_clusters(settings, bases)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &MmSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<MmDiagnostics>, FitError> {
        if !settings.named {
            return fit_in_memory(self, problem, settings, monitor);
        }
        let mut outcome = fit_in_memory(&InMemory::Named, problem, settings, monitor)?;
        let details = &outcome.details;
        if let (Some(names), Some(confusion)) = (&details.names, &details.confusion) {
            let (names, confusion) = (names.clone(), confusion.clone());
            outcome.names = Some(ClusterNames::new(names, settings.threshold, confusion));
        }
        Ok(outcome)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &MmSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<MmDiagnostics>, FitError> {
        if settings.named {
            let reason = "named labels are held in memory, not read block by block".into();
            return Err(SettingsError::Unfit {
                name: "named",
                value: "true".into(),
                reason,
            }
            .into());
        }
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(solve(problem, clusters, settings, monitor)?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &MmSettings) -> u64 {
        let [_, m, _, k] = size.saturating();
        let confusion = if settings.named {
            (m * k * k * Saturating(32)).0
        } else {
            0
        };
        memory::row_fit_bytes(size, settings.restarts).saturating_add(confusion)
    }
}

/// Ways of MM that there are in memory alone.
enum InMemory {
    /// Labels name classes.
    Named,
    /// From given shares.
    From(MixtureShares),
}

impl Method for InMemory {
    type Settings = MmSettings;
    type Diagnostics = MmDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &MmSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<MmDiagnostics>, FitError> {
        Ok(match self {
            Self::Named => named::solve(problem, settings, monitor)?,
            Self::From(start) => go_on(problem, start, settings, monitor)?,
        })
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &MmSettings) -> u64 {
        MM.row_bytes(size, settings)
    }
}

/// [`MM`] from given memberships: one run, in which clusters keep their numbers. Objects whose line is 0 say nothing at the start.
///
/// # Errors
/// [`MixtureError::NoClusters`] where there is not one cluster.
///
/// # Panics
/// If there is not one line of `memberships` an object.
#[doc(alias = "warm start")]
pub fn mm_from(
    ensemble: WeightedEnsemble<'_>,
    memberships: ArrayView2<'_, f64>,
    settings: &MmSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<MmDiagnostics>, FitError> {
    let WeightedEnsemble {
        ensemble,
        base_weights,
        object_weights,
    } = ensemble;
    let clusters = memberships.ncols();
    assert_eq!(
        memberships.nrows(),
        ensemble.objects(),
        "one line an object"
    );
    if clusters == 0 {
        return Err(MixtureError::NoClusters.into());
    }
    let mut problem = Problem::new(ensemble, Clusters::Exactly(clusters));
    problem.weights = base_weights;
    problem.object_weights = object_weights;
    let layout = BaseLayout::new(ensemble.bases(), problem.weighted().base_copies());
    let rows = HeldRows {
        rows: WeightedEnsemble::from(ensemble).into(),
        layout: &layout,
    };
    let lines = GivenMemberships::Lines(memberships.iter().copied().collect());
    let start = initialization::begun(&layout, &rows.given(lines, clusters));
    fit_in_memory(&InMemory::From(start), &problem, settings, monitor)
}
