//! What a solver works on between two iterations, and what an iteration came to.

use partita_core::{Flow, Monitor, tick_open_ended};

use super::objective::{Costs, Model, scale};
use crate::bregman::Bregman;
use crate::evidence::Evidence;
use crate::memberships::{Layout, Memberships};

/// What an iteration of a solver came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Iteration {
    /// There may be more to gain.
    More,
    /// The solver saw no violation above the tolerance.
    Done,
    /// The monitor asked to stop; what was done is in the table.
    Stopped,
}

/// What a solver works on.
pub(crate) struct Iterate<'a, D> {
    pub(crate) model: &'a Model<'a, D>,
    pub(crate) bregman: &'a D,
    pub(crate) evidence: &'a Evidence,
    pub(crate) table: Memberships,
    /// Mean of `Σ_i N_ij`.
    pub(crate) scale: f64,
    /// Violations up to this end the run: the relative tolerance times the scale.
    pub(crate) tolerance: f64,
    /// The objective after the last iteration.
    pub(crate) objective: f64,
    /// What it is the sum of. Solvers say here what they moved.
    pub(crate) costs: Costs,
    monitor: &'a dyn Monitor,
    /// Iterations done, and the share of one that is.
    pub(super) iterations: f64,
}

/// Iterations after which half of a run passes for done.
const ITERATIONS: f64 = 8.0;

impl<'a, D: Bregman> Iterate<'a, D> {
    pub(crate) fn new(
        model: &'a Model<'a, D>,
        table: Memberships,
        tolerance: f64,
        monitor: &'a dyn Monitor,
    ) -> Self {
        let mut costs = Costs::new(table.objects);
        let scale = scale(model.evidence);
        Self {
            model,
            bregman: model.bregman,
            evidence: model.evidence,
            scale,
            tolerance: tolerance * scale,
            objective: costs.objective(model, &table),
            costs,
            table,
            monitor,
            iterations: 0.0,
        }
    }

    /// Whether the objective is what an iteration of the block solver lowered it by, without a look at all pairs: squared differences along a
    /// line are known to the end. Where all pairs are read, sums are as long as the objective, and it is counted anew.
    pub(crate) fn exact_falls(&self) -> bool {
        self.bregman.squared() && self.evidence.layout() == Layout::Rows
    }

    /// Whether to stop, after `share` of an iteration more.
    pub(crate) fn stop_after(&mut self, share: f64) -> bool {
        self.iterations += share;
        tick_open_ended(self.monitor, self.iterations, ITERATIONS) == Flow::Stop
    }
}
