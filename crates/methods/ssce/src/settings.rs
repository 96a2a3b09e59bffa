//! Settings of SSCE and SSCE-P.

use std::num::NonZeroU32;

use partita_core::{ProblemSize, SettingChoice, Settings, SettingsError};
use serde::{Deserialize, Serialize};

use crate::prior::RIDGE;

/// Settings of [`ssce`](crate::ssce) and [`ssce_p`](crate::ssce_p). Start from `default()` or [`SsceSettings::paper`]
/// and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[settings(check = Self::check_together)]
#[non_exhaustive]
pub struct SsceSettings {
    /// How strongly the classifiers are tied (paper: γ₁ = γ₂). Unset chooses it by how probable held-out labels are.
    ///
    /// Chosen is the strongest of 100, 10, 1, 0.1, 0.01 under which the consensus of some objects makes the base labels of others
    /// at most a quarter of a nat less probable than under the best one; no true label takes part. Of more than 20 base clusterings, 20
    /// have classifiers meanwhile.
    #[setting(above = 0.0, range = ..=1e100)]
    pub gamma: Option<f64>,
    /// How strongly they are tied by their covariance with each other (paper: γ₂), where that is another strength than `gamma` (then γ₁).
    #[setting(above = 0.0, range = ..=1e100)]
    pub gamma2: Option<f64>,
    /// The base clustering whose cluster names the others take, by its name. Unset takes the one that overlaps most with all.
    pub reference: Option<String>,
    /// Whether the names of clusters are optimised with the classifiers: base clusterings take those that their clusters have in the consensus,
    /// and classifiers learn these, as long as the objective falls. It takes up to ten times as long.
    pub joint_names: bool,
    /// Whether classifiers have an intercept.
    pub intercept: bool,
    /// What the column of the intercept holds, where all others are standardised: the larger, the less intercepts are held
    /// back.
    ///
    /// γ and `shrink` count the square of an intercept by 1 over the square of this, so that from 100 on it is next to free.
    #[setting(range = 1e-100..=1e100)]
    pub intercept_scaling: f64,
    /// Whether centre and covariance of the classifiers are the exact minimisers; if not, they are the paper's (eq. 11 and 12).
    pub exact: bool,
    /// What the diagonal of the covariance has more, times 1 over the number of base clusterings. The plain one has no inverse: 0 takes its
    /// pseudo-inverse, under which iterations need not lower the objective.
    #[setting(range = 0.0..=1e100)]
    pub ridge: f64,
    /// Weight of the squared centre, which keeps classifiers finite where clusters can be separated perfectly.
    #[setting(range = 0.0..=1e100)]
    pub shrink: f64,
    /// How classifiers, centre and covariance are found: by a few iterations of each in turn, or as the joint minimum.
    ///
    /// Stopped early, iterations in turn agree better with classes than the minimum, which goes far to repeat the base clusterings:
    /// see the documents of the crate.
    pub solver: Solver,
    /// The most iterations of classifiers, centre and covariance, or steps of descent to the joint minimum. Unset takes 5 iterations, or 10,000
    /// steps.
    #[setting(alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: Option<NonZeroU32>,
    /// Whether iterations in turn bring the classifiers to their minimum; if not, they go five steps of descent.
    pub converge: bool,
    /// Stop when an iteration gains at most this share of the objective. The joint minimum is there when the gradient has fallen to a millionth.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

/// How classifiers, centre and covariance are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Solver {
    /// Iterations of each in turn, from zero, as the paper has it.
    #[default]
    Alternating,
    /// L-BFGS over classifiers and centre, where the covariance is always the best one: the minimum of the objective.
    Joint,
}

impl Default for SsceSettings {
    fn default() -> Self {
        Self {
            gamma: None,
            gamma2: None,
            reference: None,
            joint_names: false,
            intercept: true,
            intercept_scaling: 1.0,
            exact: true,
            ridge: RIDGE,
            shrink: 1e-3,
            solver: Solver::Alternating,
            iterations: None,
            converge: false,
            tolerance: 1e-4,
        }
    }
}

impl SsceSettings {
    /// The choices of the paper: no intercept, the mean as μ, Ω by eq. 12, no weight of ‖μ‖².
    pub fn paper() -> Self {
        Self {
            intercept: false,
            exact: false,
            shrink: 0.0,
            iterations: NonZeroU32::new(30),
            ..Self::default()
        }
    }

    /// The joint minimum needs a covariance with an inverse.
    fn check_together(&self, _size: &ProblemSize) -> Result<(), SettingsError> {
        if self.solver == Solver::Joint && self.ridge == 0.0 {
            return Err(SettingsError::Unfit {
                name: "ridge",
                value: "0".into(),
                reason: "solver=joint needs a covariance with an inverse; take a ridge above 0, or solver=alternating".into(),
            });
        }
        Ok(())
    }

    /// The most fits, each with other names.
    pub(crate) fn fits(&self) -> u64 {
        if self.joint_names { 10 } else { 1 }
    }

    /// γ₁ and γ₂, where γ₁ is known.
    pub(crate) fn gammas(&self, gamma: f64) -> (f64, f64) {
        (gamma, self.gamma2.unwrap_or(gamma))
    }

    /// The most iterations of each in turn.
    pub(crate) fn alternating_iterations(&self) -> u32 {
        self.iterations.map_or(5, NonZeroU32::get)
    }

    /// The most steps to the joint minimum.
    pub(crate) fn joint_steps(&self) -> u32 {
        self.iterations.map_or(10_000, NonZeroU32::get)
    }

    /// What the column of the intercept holds, if there is one.
    pub(crate) fn constant(&self) -> Option<f64> {
        self.intercept.then_some(self.intercept_scaling)
    }
}
