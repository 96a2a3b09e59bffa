//! NBCE-CVB as a method: its info and memory.

use partita_core::{
    Capabilities, FitError, Method, MethodInfo, Monitor, ProblemSize, RowFit, RowProblem,
};

use super::collapsed::{NbceCvbSettings, solve};
use crate::nbce::info::NBCE;
use crate::nbce::likelihood::NbceDiagnostics;
use crate::nbce::truncation::truncated;
use crate::shared::memory;

/// The method [`NBCE_CVB`].
#[derive(Debug)]
pub struct NbceCvb;

/// A Dirichlet-process mixture of label rows with at most K clusters, shares and label shares marginalised,
/// by a Taylor approximation of its variational update: of first order (CVB0), or with `order=second` of second.
///
/// ```text
/// γ_ik ∝ p(z_i = k | E N^{¬i}) Π_u (β + E N^{¬i}_{kuℓ(i,u)}) / (J_u β + E N^{¬i}_{ku})
/// ```
///
/// With `order=second` every ln(x + E N) that this is made of has the term −Var N / (2 (x + E N)²), where Var N = Σ γ (1 − γ) over the objects
/// that N counts, and every ln Γ of the objective the term ψ′ Var N / 2. The paper names this as better and leaves it to future work: for seven
/// objects with wide memberships the error of the update against enumeration is two thirds (β = 0.7) to a quarter (β = 3) of that of first
/// order, that of the objective a fortieth. With β far below 1 counts near 0 have no expansion, and runs may end without settling.
///
/// The expectations exclude the object itself; the product runs over the labels that are there. A base clustering of
/// weight ω is ω copies: the exponent of the factor of its labels, and ω times in the objective.
///
/// Memberships are no state: in every iteration those of a row are the ones that agree with the expected counts N of all rows, its own among
/// them,
///
/// ```text
/// γ_i = f(N − γ_i)        with the f above, by a few turns from γ_i = 0
/// ```
/// and N is their sum in the next. Where N no longer changes this is the fixed point that updates of memberships from iteration to iteration have.
///
/// | paper | here |
/// |---|---|
/// | γ | the soft result, n × K |
/// | `p_FSD`, `p_TSB` | `prior`: `symmetric`, `stick-breaking` |
/// | K, α0, β | the number of clusters asked for, `alpha0`, `beta` |
///
/// The objective reported is the log joint at expected counts plus the entropy of γ. It is an approximation, no
/// bound: the update need not ascend it, so starts are compared by it and convergence is judged by γ.
///
/// `Clusters::Auto` allows twice as many clusters as the largest base clustering has.
///
/// # Cost
/// O(distinct rows · M · K) time an iteration, about five times what one of [`NBCE_VB`](crate::NBCE_VB) takes (of second order, which needs
/// logarithms, several times that); tables of ΣJ K numbers a restart
/// and thread. Rows are not held but for a sample of 32,768 different ones, on which initializations compete.
///
/// # Differences from the paper
/// Eq. 10 lacks the δ: only the observed label's count is in the product. Stick-breaking is truncated at v_K = 1, so
/// that the first factor is absent for k = K. Missing labels drop out.
///
/// # References
/// Wang, Domeniconi, Laskey, *Nonparametric Bayesian clustering ensembles*, ECML PKDD 2010; Kurihara, Welling, Teh,
/// *Collapsed variational Dirichlet process mixture models*, IJCAI 2007.
#[doc(alias = "CVB0")]
#[doc(alias = "DPMM")]
pub static NBCE_CVB: NbceCvb = NbceCvb;

static INFO: MethodInfo = MethodInfo {
    name: "nbce-cvb",
    summary: "nonparametric mixture by collapsed variational inference: finds K itself, closer than plain variational",
    memory: "n M + restarts · (8 n K + 512 ΣJ K) bytes",
    remedy: "allow fewer clusters, set restarts lower, or take nbce-vb",
    capabilities: Capabilities {
        streams: true,
        ..NBCE.capabilities
    },
    ..NBCE
};

impl Method for NbceCvb {
    type Settings = NbceCvbSettings;
    type Diagnostics = NbceDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &NbceCvbSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<NbceDiagnostics>, FitError> {
        let clusters = truncated(&problem.size()).clusters;
        Ok(solve(problem, clusters, settings, monitor)?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &NbceCvbSettings) -> u64 {
        memory::row_fit_bytes(&truncated(size), settings.restarts)
    }
}
