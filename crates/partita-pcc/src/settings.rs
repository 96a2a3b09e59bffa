//! Settings of the solvers.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// How the objective is minimised. All stop at points of the same kind, which one certificate checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Solver {
    /// Object after object takes a Newton step on the simplex; groups of objects in parallel. A round visits every
    /// object.
    #[default]
    Block,
    /// The papers' algorithm: the steepest exchange between two clusters of one object, with an exact step. A round
    /// is n steps.
    Greedy,
    /// All objects at once by the EM map of the mixture that KL is the likelihood of. KL only; slow near the end. A
    /// round is one map.
    Em,
    /// All objects at once by the growth transform of Baum and Eagon. L2 only; slow near the end. A round is one map.
    Growth,
}

/// Settings of [`crate::pcc`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PccSettings {
    /// How the objective is minimised.
    pub solver: Solver,
    /// Random starts, drawn from Dirichlet(1), besides those made from the evidence. The lowest objective is kept. Unset: 3
    /// up to 10,000 objects; beyond, the run starts from the best base clustering alone, where there is one.
    pub restarts: Option<NonZeroU32>,
    /// Stop when the relative gap (see [`crate::Measure`]) is not above this (papers: τ, absolute).
    pub tolerance: f64,
    /// The most rounds of one start.
    pub rounds: NonZeroU32,
    /// Partners of an object, on average, in a sample of the pairs; 0 reads all pairs. Unset, all pairs are read up to
    /// 10,000 objects, and 30 partners beyond.
    pub partners: Option<u32>,
    /// The most clusters that are tried where K is not given. Unset: √n, but at most 20.
    pub most: Option<NonZeroU32>,
}

impl Default for PccSettings {
    fn default() -> Self {
        let number = |number| NonZeroU32::new(number).expect("not 0");
        Self {
            solver: Solver::default(),
            restarts: None,
            tolerance: 1e-5,
            rounds: number(1000),
            partners: None,
            most: None,
        }
    }
}

/// Random starts unless the settings say otherwise.
const RESTARTS: u32 = 3;

/// The most objects for which all pairs are read unless the settings say otherwise, and for which there are random starts.
pub(crate) const ALL_PAIRS: usize = 10_000;

impl PccSettings {
    /// Random starts for so many objects, where base clusterings can be started from or not.
    pub(crate) fn random(&self, objects: usize, bases: bool) -> u32 {
        let usual = if objects <= ALL_PAIRS || !bases { RESTARTS } else { 0 };
        self.restarts.map_or(usual, NonZeroU32::get)
    }

    /// Partners of each of so many objects, or none for all pairs.
    pub(crate) fn sampled(&self, objects: usize) -> Option<u32> {
        let chosen = self.partners.unwrap_or(if objects <= ALL_PAIRS { 0 } else { 30 });
        (chosen > 0 && (chosen as usize) < objects.saturating_sub(1)).then_some(chosen)
    }
}
