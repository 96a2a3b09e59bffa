//! One run from one start, with any solver.

use std::sync::atomic::{AtomicU64, Ordering};

use partita_core::{Flow, Monitor, Settings, SoftPartition, Stopped};

use crate::block::Block;
use crate::em::em;
use crate::error::PccError;
use crate::evidence::Evidence;
use crate::greedy::Greedy;
use crate::growth::growth;
use crate::laws::{Bregman, EDGE, concave_at};
use crate::settings::{PccSettings, Solver};
use crate::survey::{Costs, Worker, gap, look, scale};
use crate::table::Table;

/// Where a run ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Descent {
    /// The soft partition.
    pub soft: SoftPartition,
    /// Its objective.
    pub objective: f64,
    /// The objective at the start and after every round.
    pub trace: Vec<f64>,
    /// The relative gap of [`crate::Measure`].
    pub kkt_gap: f64,
    /// Rounds done.
    pub rounds: u64,
    /// Why it stopped.
    pub stopped: Stopped,
}

/// What a round of a solver came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// There may be more to gain.
    More,
    /// The solver saw no violation above the tolerance.
    Done,
    /// The monitor asked to stop; what was done is in the table.
    Stopped,
}

/// Rounds of all runs that share a monitor.
pub(crate) struct Progress<'a> {
    monitor: &'a dyn Monitor,
    done: AtomicU64,
    total: u64,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(monitor: &'a dyn Monitor, total: u64) -> Self {
        Self { monitor, done: AtomicU64::new(0), total }
    }

    fn stop(&self) -> bool {
        self.monitor.tick(self.done.load(Ordering::Relaxed), self.total) == Flow::Stop
    }
}

/// What a solver works on.
pub(crate) struct Race<'a, D> {
    pub(crate) law: &'a D,
    pub(crate) evidence: &'a dyn Evidence,
    pub(crate) table: Table,
    /// Mean of `Σ_i N_ij`.
    pub(crate) scale: f64,
    /// Violations up to this end the run: the relative tolerance times the scale.
    pub(crate) tolerance: f64,
    /// The objective after the last round.
    pub(crate) objective: f64,
    /// What it is the sum of. Solvers say here what they moved.
    pub(crate) costs: Costs,
    progress: &'a Progress<'a>,
}

impl<'a, D: Bregman> Race<'a, D> {
    pub(crate) fn new(
        law: &'a D,
        evidence: &'a dyn Evidence,
        table: Table,
        tolerance: f64,
        progress: &'a Progress<'a>,
    ) -> Self {
        let mut costs = Costs::new(evidence.count());
        let (scale, objective) = (scale(evidence), costs.objective(law, evidence, &table));
        Self { law, evidence, table, scale, tolerance: tolerance * scale, objective, costs, progress }
    }

    pub(crate) fn stop(&self) -> bool {
        self.progress.stop()
    }
}

/// Minimises the objective from one start.
///
/// # Errors
/// [`PccError::Start`] if the start has other objects than the evidence, [`PccError::Infeasible`] if its objective is
/// infinite, [`PccError::Concave`] if the law keeps no promise, [`PccError::Settings`] if the solver cannot work with
/// it or the tolerance is negative.
///
/// # Cost
/// A round visits every pair twice, O(K) each, and evaluates the objective.
pub fn descend<D: Bregman>(
    law: &D,
    evidence: &dyn Evidence,
    start: &SoftPartition,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<Descent, PccError> {
    check(law, settings)?;
    if start.objects() != evidence.count() {
        return Err(PccError::Start { found: start.objects(), expected: evidence.count() });
    }
    let table = Table::of(start.rows(), evidence.layout());
    feasible(law, evidence, &table)?;
    let progress = Progress::new(monitor, u64::from(settings.rounds.get()));
    Ok(run(law, evidence, table, settings, &progress))
}

pub(crate) fn check<D: Bregman>(law: &D, settings: &PccSettings) -> Result<(), PccError> {
    if let Some((x, p)) = concave_at(law) {
        return Err(PccError::Concave { x, p });
    }
    settings.check_solver(law.mixture(), law.squared())?;
    settings.check_ranges()?;
    Ok(())
}

/// No pair that was ever together is impossible.
fn feasible<D: Bregman>(law: &D, evidence: &dyn Evidence, table: &Table) -> Result<(), PccError> {
    if !law.barrier() {
        return Ok(());
    }
    let mut worker = Worker::new(table.clusters);
    for i in 0..evidence.count() {
        look(law, evidence, table, i, &mut worker);
        let (_, counts) = evidence.look(i, table, &mut worker.near);
        if let Some(at) = (0..counts.c.len()).find(|&j| counts.c[j] > 0.0 && worker.scratch.a[j] <= EDGE) {
            let right = evidence.partners(i).map_or(at, |partners| partners[at] as usize);
            return Err(PccError::Infeasible { left: i, right, together: counts.c[at] as u32 });
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
    law: &D,
    evidence: &dyn Evidence,
    table: Table,
    settings: &PccSettings,
    progress: &Progress<'_>,
) -> Descent {
    let mut state = match settings.solver {
        Solver::Block => State::Block(Box::new(Block::new(evidence, table.clusters))),
        Solver::Greedy => State::Greedy(Box::new(Greedy::new(law, evidence, &table))),
        Solver::Em => State::Em,
        Solver::Growth => State::Growth,
    };
    let mut race = Race::new(law, evidence, table, settings.tolerance, progress);
    let mut trace = vec![race.objective];
    let mut stopped = Stopped::RoundLimit;
    let mut certificate = None;
    for _ in 0..settings.rounds.get() {
        let round = match &mut state {
            State::Block(block) => block.round(&mut race),
            State::Greedy(greedy) => greedy.round(&mut race),
            State::Em => em(&mut race),
            State::Growth => growth(&mut race),
        };
        if !matches!(state, State::Block(_)) {
            race.costs.all_moved();
        }
        race.objective = race.costs.objective(law, evidence, &race.table);
        if let (State::Block(block), Round::More) = (&mut state, round) {
            block.extrapolate(&mut race);
        }
        trace.push(race.objective);
        progress.done.fetch_add(1, Ordering::Relaxed);
        certificate = None;
        if round == Round::Stopped {
            stopped = Stopped::Interrupted;
            break;
        }
        if round == Round::Done {
            let violation = gap(law, evidence, &race.table);
            certificate = Some(violation);
            if violation <= race.tolerance {
                stopped = Stopped::Converged;
                break;
            }
            if let State::Block(block) = &mut state {
                block.wake_all();
            }
        }
    }
    let violation = certificate.unwrap_or_else(|| gap(law, evidence, &race.table));
    let soft = SoftPartition::new(race.table.to_rows()).expect("solvers keep rows on the simplex");
    let rounds = trace.len() as u64 - 1;
    Descent { soft, objective: race.objective, trace, kkt_gap: violation / race.scale, rounds, stopped }
}
