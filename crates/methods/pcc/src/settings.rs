//! Settings of the solvers.

use std::num::NonZeroU32;

use partita_core::{ProblemSize, SettingChoice, Settings, SettingsError};
use serde::{Deserialize, Serialize};

use crate::divergence::Divergence;

/// How the objective is minimised. All stop at points of the same kind, which one certificate checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Solver {
    /// Object after object takes a Newton step on the simplex; groups of objects in parallel. An iteration visits every
    /// object.
    #[default]
    Block,
    /// The papers' algorithm: the steepest exchange between two clusters of one object, with an exact step. An iteration
    /// is n steps.
    Greedy,
    /// All objects at once by the EM map of the mixture that KL is the likelihood of. KL only; slow near the end. A
    /// iteration is one map.
    Em,
    /// All objects at once by the growth transform of Baum and Eagon. L2 only; slow near the end. An iteration is one map.
    Growth,
}

/// What runs start from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StartFrom {
    /// What the evidence offers, and chance.
    #[default]
    Evidence,
    /// Equal rows alone, as Algorithm 1 writes it: a stationary point, where every solver ends at once.
    Uniform,
}

/// Settings of [`crate::pcc`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct PccSettings {
    /// How the objective is minimised: block (fast, parallel), greedy (the papers'), em (KL only) or growth (L2 only), both
    /// slow near the end.
    pub solver: Solver,
    /// Random initializations besides those made from the evidence; the lowest objective is kept. Unset: 12 up to 64
    /// objects, 3 up to 10,000, none beyond.
    ///
    /// They are drawn from Dirichlet(1). Beyond 10,000 objects the run starts from k-means on labels or from a base clustering alone,
    /// whichever has the lower objective.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: Option<NonZeroU32>,
    /// What runs start from: evidence (a tree, k-means++, base clusterings, and chance) or uniform (equal rows, the papers' own, which no
    /// step can leave). Probabilities that you give to start from come in the place of both.
    pub start: StartFrom,
    /// Stop when the relative violation of the optimality conditions is not above this (papers: τ, absolute).
    ///
    /// See [`crate::Measure`].
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
    /// Stop when the violation itself is not above this (papers: τ), in place of the relative `tolerance`. Unset: the relative one.
    #[setting(range = 0.0.., alias = "tau")]
    pub absolute_tolerance: Option<f64>,
    /// The most iterations of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: NonZeroU32,
    /// Pairs that are read of each object, on average, in a sample of all pairs; 0 reads all pairs. Unset: all up to 10,000 objects, 30 an object
    /// beyond.
    #[setting(range = 0..=1_000_000, alias = "partners")]
    pub pairs_per_object: Option<u32>,
    /// The share of all pairs that are read, in a sample; in place of `pairs_per_object`.
    #[setting(above = 0.0, range = ..=1.0)]
    pub pair_share: Option<f64>,
    /// The most clusters that are tried where K is not given. Unset: √n, but at most 20.
    #[setting(range = 1..=1_000_000, alias = "most")]
    pub max_clusters: Option<NonZeroU32>,
}

impl Default for PccSettings {
    fn default() -> Self {
        Self {
            solver: Solver::default(),
            restarts: None,
            start: StartFrom::default(),
            tolerance: 1e-5,
            absolute_tolerance: None,
            iterations: NonZeroU32::new(1000).expect("not 0"),
            pairs_per_object: None,
            pair_share: None,
            max_clusters: None,
        }
    }
}

/// The most clusters that are tried unless the settings say otherwise: √n, but not more than this.
const MOST: usize = 20;

/// Random starts unless the settings say otherwise, and those of few objects: the fewer there are, the more the places where single starts
/// end differ, and the less a start costs.
const RESTARTS: u32 = 3;
const RESTARTS_OF_FEW: (usize, u32) = (64, 12);

/// The most objects for which all pairs are read unless the settings say otherwise, and for which there are random starts.
pub(crate) const ALL_PAIRS: usize = 10_000;

impl PccSettings {
    /// Random starts for so many objects, where base clusterings can be started from or not.
    pub(crate) fn random(&self, objects: usize, bases: bool) -> u32 {
        let usual = match objects {
            few if few <= RESTARTS_OF_FEW.0 => RESTARTS_OF_FEW.1,
            many if many <= ALL_PAIRS || !bases => RESTARTS,
            _ => 0,
        };
        self.restarts.map_or(usual, NonZeroU32::get)
    }

    /// Refuses a solver that cannot work with the divergence.
    pub(crate) fn check_solver(&self, mixture: bool, squared: bool) -> Result<(), SettingsError> {
        let (name, reason) = match self.solver {
            Solver::Em if !mixture => ("em", "it reads KL as a likelihood; take divergence kl"),
            Solver::Growth if !squared => {
                ("growth", "it reads squared differences; take divergence l2")
            }
            _ => return Ok(()),
        };
        Err(SettingsError::value("solver", name, reason))
    }

    /// The same for a divergence by name.
    pub(crate) fn check_divergence(&self, divergence: Divergence) -> Result<(), SettingsError> {
        self.check_solver(divergence == Divergence::Kl, divergence == Divergence::L2)
    }

    /// The most clusters that are tried where K is not given.
    pub(crate) fn most_clusters(&self, objects: usize) -> usize {
        let usual = objects.isqrt().min(MOST);
        self.max_clusters
            .map_or(usual, |most| most.get() as usize)
            .clamp(1, objects)
    }

    /// The size of a problem in which K is at most what is tried.
    pub(crate) fn size(&self, size: &ProblemSize) -> ProblemSize {
        size.at_most(self.most_clusters(size.objects.max(1)))
    }

    /// Pairs that are drawn of those of so many objects, or none for all pairs.
    pub(crate) fn sampled(&self, objects: usize) -> Option<u64> {
        let n = objects as u64;
        let all = n * n.saturating_sub(1) / 2;
        let usual = if objects <= ALL_PAIRS { 0 } else { 30 };
        let partners = u64::from(self.pairs_per_object.unwrap_or(usual));
        let chosen = match self.pair_share {
            Some(share) => ((all as f64 * share).round() as u64).max(1),
            None if partners == 0 => all,
            None => (n * partners).div_ceil(2),
        };
        (chosen < all).then_some(chosen)
    }

    /// The same with the relative tolerance that the absolute one comes to, where violations are compared with so much.
    pub(crate) fn relative_to(&self, scale: f64) -> Self {
        let mut settings = self.clone();
        if let Some(absolute) = settings.absolute_tolerance.take() {
            settings.tolerance = absolute / scale;
        }
        settings
    }
}
