//! Minimises the objective from one initialization, with any solver.

use partita_core::{Monitor, Settings, SoftPartition, Stopped};

use super::block::Block;
use super::greedy::Greedy;
use super::iterate::{Iterate, Iteration};
use super::maps::{em, growth};
use super::objective::{Model, Worker, check_start, scale};
use crate::bregman::{Bregman, EDGE, concave_at};
use crate::error::PccError;
use crate::evidence::Evidence;
use crate::memberships::Memberships;
use crate::settings::{PccSettings, Solver};

/// Where a run ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Descent {
    /// The soft partition.
    pub soft: SoftPartition,
    /// Its objective.
    pub objective: f64,
    /// The objective at the start and after every iteration.
    pub trace: Vec<f64>,
    /// The relative gap of [`crate::Measure`].
    pub kkt_gap: f64,
    /// Iterations done.
    pub iterations: u64,
    /// Why it stopped.
    pub stopped: Stopped,
}

/// Minimises the objective from one start.
///
/// # Errors
/// [`PccError::Start`] if the start has other objects than the evidence, [`PccError::Infeasible`] if its objective is
/// infinite, [`PccError::Concave`] if the divergence is not convex enough, [`PccError::Settings`] if the solver cannot work with
/// it or the tolerance is negative.
///
/// # Cost
/// An iteration visits every pair twice, O(K) each, and evaluates the objective.
pub fn descend<D: Bregman>(
    bregman: &D,
    evidence: &Evidence,
    start: &SoftPartition,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<Descent, PccError> {
    check(bregman, settings)?;
    check_start(evidence, start)?;
    let settings = &settings.relative_to(scale(evidence));
    let model = Model::new(bregman, evidence);
    let table = Memberships::of(start.rows(), evidence.layout());
    feasible(&model, &table)?;
    Ok(run(&model, table, settings, monitor))
}

pub(crate) fn check<D: Bregman>(bregman: &D, settings: &PccSettings) -> Result<(), PccError> {
    if let Some((x, p)) = concave_at(bregman) {
        return Err(PccError::Concave { x, p });
    }
    settings.check_solver(bregman.mixture(), bregman.squared())?;
    settings.check_ranges()?;
    Ok(())
}

/// Refuses a start in which a pair that was ever together is impossible.
pub(crate) fn feasible<D: Bregman>(
    model: &Model<'_, D>,
    table: &Memberships,
) -> Result<(), PccError> {
    if !model.bregman.barrier() {
        return Ok(());
    }
    let mut worker = Worker::new(table.clusters);
    for left in 0..table.objects {
        model.gradient_of(table, left, &mut worker);
        let (_, counts) = model.evidence.pairs_of(left, table, &mut worker.near);
        let a = &worker.scratch.a;
        let mut places = 0..counts.c.len();
        if let Some(at) = places.find(|&at| counts.c[at] > 0.0 && a[at] <= EDGE) {
            let partners = model.evidence.partners(left);
            return Err(PccError::Infeasible {
                left,
                right: partners.map_or(at, |partners| partners[at] as usize),
                together: counts.c[at] as u32,
            });
        }
    }
    Ok(())
}

enum State {
    Block(Box<Block>),
    Greedy(Box<Greedy>),
    Em,
    Growth,
}

pub(crate) fn run<D: Bregman>(
    model: &Model<'_, D>,
    table: Memberships,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Descent {
    let mut state = match settings.solver {
        Solver::Block => State::Block(Box::new(Block::new(model.evidence, table.clusters))),
        Solver::Greedy => State::Greedy(Box::new(Greedy::new(model, &table))),
        Solver::Em => State::Em,
        Solver::Growth => State::Growth,
    };
    let mut iterate = Iterate::new(model, table, settings.tolerance, monitor);
    let mut trace = vec![iterate.objective];
    let mut stopped = Stopped::IterationLimit;
    let mut certificate = None;
    for _ in 0..settings.iterations.get() {
        let iteration = match &mut state {
            State::Block(block) => block.iteration(&mut iterate),
            State::Greedy(greedy) => greedy.iteration(&mut iterate),
            State::Em => em(&mut iterate),
            State::Growth => growth(&mut iterate),
        };
        if !matches!(state, State::Block(_)) {
            iterate.costs.all_moved();
        }
        iterate.objective = match &state {
            State::Block(block) if iterate.exact_falls() => iterate.objective - block.fall,
            _ => iterate.costs.objective(model, &iterate.table),
        };
        if let (State::Block(block), Iteration::More) = (&mut state, iteration) {
            block.extrapolate(&mut iterate);
        }
        trace.push(iterate.objective);
        certificate = None;
        if iteration == Iteration::Stopped {
            stopped = Stopped::Interrupted;
            break;
        }
        if iteration == Iteration::Done {
            let violation = model.gap(&iterate.table);
            certificate = Some(violation);
            if violation <= iterate.tolerance {
                stopped = Stopped::Converged;
                break;
            }
            if let State::Block(block) = &mut state {
                block.activate_all();
            }
        }
    }
    let violation = certificate.unwrap_or_else(|| model.gap(&iterate.table));
    if iterate.exact_falls() {
        // What falls add up to has been rounded many times.
        iterate.objective = model.objective(&iterate.table);
        trace.pop();
        trace.push(iterate.objective);
    }
    let soft = SoftPartition::new(iterate.table.to_rows());
    Descent {
        soft: soft.expect("solvers keep rows on the simplex"),
        objective: iterate.objective,
        iterations: trace.len() as u64 - 1,
        trace,
        kkt_gap: violation / iterate.scale,
        stopped,
    }
}
