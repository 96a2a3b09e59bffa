//! NBCE-VB as a method: its info and memory.

use partita_core::{
    Capabilities, FitError, Method, MethodInfo, Monitor, ProblemSize, RowFit, RowProblem,
};

use super::variational::{NbceVbSettings, solve};
use crate::nbce::info::NBCE;
use crate::nbce::likelihood::NbceDiagnostics;
use crate::nbce::truncation::truncated;
use crate::shared::memory;

/// The method [`NBCE_VB`].
#[derive(Debug)]
pub struct NbceVb;

/// A Dirichlet-process mixture of label rows with at most K clusters, by a lower bound on the evidence.
///
/// ```text
/// π ~ Dir(α0/K, …)   θ_ku ~ Dir(β, …)   z_i ~ π   ℓ_iu ~ θ_{z_i u}      q(π) q(θ) q(z)
/// γ_ik ∝ exp( ψ(ξ_k) − ψ(Σξ) + Σ_u [ψ(ρ_kuℓ) − ψ(Σ_j ρ_kuj)] )
/// ξ_k = α0/K + Σ_i w_i γ_ik       ρ_kuj = β + Σ_i w_i γ_ik δ(ℓ_iu = j)
/// ```
///
/// | paper | here |
/// |---|---|
/// | γ | the soft result, n × K |
/// | ξ, ρ | Dirichlet parameters of cluster shares and label shares |
/// | K, α0, β | the number of clusters asked for, `alpha0`, `beta` |
///
/// The bound never falls. With learned α0 and β it is the bound plus their log prior densities. Clusters that stay
/// empty are reported as one last cluster, which stands for "none of these" in the saved model. Rows may have any
/// weights. A base clustering of weight ω is ω copies: the exponent of the factor of its labels, and ω times in the bound.
///
/// `Clusters::Auto` allows twice as many clusters as the largest base clustering has.
///
/// # Cost
/// O(distinct rows · M · K) time an iteration, in parallel over restarts and rows; tables of ΣJ K numbers a restart and thread. Memberships
/// are never held while the bound ascends, and rows but for a sample of 32,768 different ones, on which initializations compete.
///
/// # Differences from the paper
/// The printed update of γ has ln ρ where the bound wants ψ(ρ) − ψ(Σρ); the printed one is not an ascent step and
/// collapses clusters. Eq. 7 sums u over base clusterings, and adds E ln p(π). Missing labels drop out.
///
/// # References
/// Wang, Domeniconi, Laskey, *Nonparametric Bayesian clustering ensembles*, ECML PKDD 2010.
#[doc(alias = "Dirichlet process mixture")]
#[doc(alias = "DPMM")]
pub static NBCE_VB: NbceVb = NbceVb;

static INFO: MethodInfo = MethodInfo {
    name: "nbce-vb",
    summary: "nonparametric mixture by variational inference: finds K itself, fast, scales to millions of rows",
    remedy: "allow fewer clusters, or set restarts lower",
    capabilities: Capabilities {
        streams: true,
        ..NBCE.capabilities
    },
    ..NBCE
};

impl Method for NbceVb {
    type Settings = NbceVbSettings;
    type Diagnostics = NbceDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &NbceVbSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<NbceDiagnostics>, FitError> {
        let clusters = truncated(&problem.size()).clusters;
        Ok(solve(problem, clusters, settings, monitor)?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &NbceVbSettings) -> u64 {
        memory::row_fit_bytes(&truncated(size), settings.restarts)
    }
}
