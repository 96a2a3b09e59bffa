//! BCE as a method: its info and memory.

use std::num::Saturating;

use partita_core::{
    BLOCK_ROWS, Capabilities, FitError, Method, MethodInfo, Monitor, ProblemSize, RowFit,
    RowProblem,
};

use super::variational_em::{BceDiagnostics, BceSettings, solve};
use crate::shared::info::MIXTURE;
use crate::shared::memory;

/// The method [`BCE`].
#[derive(Debug)]
pub struct Bce;

/// Mixed memberships: every object has a distribution over clusters, and every label draws its cluster from it.
///
/// ```text
/// π_i ~ Dir(α)   z_iu ~ π_i   ℓ_iu ~ θ_{z_iu u}       q(π_i) = Dir(γ_i)   q(z_iu) = φ_iu
/// φ_iuk ∝ θ_kuℓ exp(ψ(γ_ik) − ψ(Σγ_i))                γ_ik = α_k + Σ_u φ_iuk
/// ```
///
/// | paper | here |
/// |---|---|
/// | α, β | α, θ |
/// | γ | the soft result is γ_i / Σ γ_i |
///
/// Missing labels drop out; rows may have any weights. A label of a base
/// clustering of weight w counts as w labels. A row of shares of a soft base clustering is one label whose value is not known: it draws
/// one cluster, by the expected log likelihood Σ_j s_iuj ln θ_kuj. (Were each share a label of its own, with a cluster of its own, the
/// memberships would explain the shares and the clusters nothing.)
///
/// No γ is kept from one iteration to the next: the memberships of a row begin even in each, as those of new rows do under the saved model.
/// The bound may fall by what the inference of a row leaves open, which ends the fit.
///
/// # Cost
/// O(distinct rows · M · K) time for each of up to 100 iterations of γ within an iteration, in parallel over restarts and rows; tables of ΣJ K
/// numbers a restart and thread. Rows are not held but for a sample of 32,768 different ones, on which initializations compete.
///
/// # Differences from the paper
/// α is not learned unless asked for. Restarts from merged small clusters and from random memberships (as [`MM`](crate::MM)), and a
/// pseudo-count for label shares.
///
/// # References
/// Wang, Shan, Banerjee, *Bayesian cluster ensembles*, SDM 2009.
#[doc(alias = "Bayesian cluster ensemble")]
#[doc(alias = "latent Dirichlet allocation")]
pub static BCE: Bce = Bce;

static INFO: MethodInfo = MethodInfo {
    name: "bce",
    summary: "mixed memberships by variational EM: an object may belong to several clusters",
    reference: "Wang, Shan, Banerjee, Bayesian cluster ensembles, SDM 2009",
    time: "restarts · iterations · 20 n M K",
    memory: "n (M + 24 K) + restarts · (16 n K + 512 ΣJ K) bytes",
    remedy: "ask for fewer clusters, set restarts lower, or take mm",
    capabilities: Capabilities {
        streams: true,
        ..MIXTURE.capabilities
    },
    ..MIXTURE
};

impl Method for Bce {
    type Settings = BceSettings;
    type Diagnostics = BceDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &BceSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<BceDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(solve(problem, clusters, settings, monitor)?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &BceSettings) -> u64 {
        let [_, m, _, k] = size.saturating();
        let blocks = Saturating(rayon::current_num_threads() as u64 * BLOCK_ROWS);
        let inferred = blocks * (m * Saturating(2) + k * Saturating(16) + Saturating(200));
        memory::row_fit_bytes(size, settings.restarts).saturating_add(inferred.0)
    }
}
