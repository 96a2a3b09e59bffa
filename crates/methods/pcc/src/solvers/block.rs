//! The block solver: one Newton step an object, object after object, groups of objects in parallel.

use std::ops::Range;

use partita_core::chunks;
use rayon::prelude::*;

use super::active_set::ActiveSet;
use super::anderson::Anderson;
use super::interaction::{interaction, row};
use super::iterate::{Iterate, Iteration};
use super::l2_gram::Gram;
use super::newton_step::{Others, Seen, StepLimits, StepOutcome, newton_step};
use super::objective::Worker;
use crate::bregman::Bregman;
use crate::evidence::Evidence;
use crate::memberships::Layout;

/// Above this relative gap a run is early: steps are held back where the divergence is steep.
const EARLY: f64 = 0.2;
/// In early iterations no probability shrinks below this share of itself.
const KEEP: f64 = 0.1;
/// Gaps that shrink by less than this factor an iteration ask for longer steps.
const SLOW: f64 = 0.6;
/// Longer steps: between 1 (Newton) and 2 (where the quadratic model stops falling).
const LONGER: f64 = 1.4;
/// The same where pairs are few, from the first iteration that is not early on.
const LONGER_OF_FEW: f64 = 1.3;
/// And of squares, after so many iterations: runs that end before would take half as many again.
const LONGEST_OF_FEW: f64 = 1.7;
const LONGEST_AFTER: f64 = 15.0;
/// Where pairs are few, objects of a group move together if what they do to each other leaves this share of what each alone gains. Two
/// objects that see much of each other would otherwise step to and fro for ever, and gain nothing that rounding lets one see.
const LEFT: f64 = 0.5;
/// Where pairs are few a run is early while an iteration lowers the objective by more than this share of it. The largest gap does not
/// tell: it is that of a handful of objects for long.
const FAST: f64 = 0.01;
/// Work (objects × pairs × K) from which a group is shared between threads.
const SHARED: usize = 1 << 17;

/// The state of a block run between iterations.
#[derive(Debug)]
pub(crate) struct Block {
    group: usize,
    /// The objects of a group that are visited.
    active_objects: Vec<usize>,
    /// Those of them that moved, and by how much.
    moved: Vec<(usize, f64)>,
    workers: Vec<Worker>,
    old: Vec<f64>,
    new: Vec<f64>,
    steps: Vec<StepOutcome>,
    gap: f64,
    /// The objective before the last iteration.
    before: f64,
    /// By how much the last iteration lowered the objective, at least; with squared differences by exactly so much.
    pub(crate) fall: f64,
    over: f64,
    gram: Option<Gram>,
    active: ActiveSet,
    anderson: Anderson,
}

impl Block {
    pub(crate) fn new(evidence: &Evidence, clusters: usize) -> Self {
        let objects = evidence.objects();
        let active = ActiveSet::of(evidence);
        // Objects of a group do not see each other move. A 32nd of all costs no iterations that could be measured.
        let group = (objects / 32).max(1);
        Self {
            group,
            active_objects: vec![],
            moved: vec![],
            workers: vec![],
            old: vec![0.0; group * clusters],
            new: vec![0.0; group * clusters],
            steps: vec![StepOutcome::default(); group],
            gap: f64::INFINITY,
            before: f64::INFINITY,
            fall: 0.0,
            over: 1.0,
            gram: None,
            active,
            anderson: Anderson::default(),
        }
    }

    /// Visits every object once, but for those that can be left alone.
    pub(crate) fn iteration<D: Bregman>(&mut self, iterate: &mut Iterate<'_, D>) -> Iteration {
        let limits = self.step_limits(iterate);
        self.gram = Gram::of(iterate.bregman, iterate.evidence, &iterate.table);
        self.active.set_limit(limits.small, iterate.scale);
        if extrapolates(iterate) {
            self.anderson.start(&iterate.table.values);
        }
        self.fall = 0.0;
        let mut worst = 0.0;
        let groups = chunks(iterate.evidence.objects(), self.group);
        let share = 1.0 / groups.len().max(1) as f64;
        for range in groups {
            if iterate.stop_after(share) {
                return Iteration::Stopped;
            }
            worst = f64::max(worst, self.group(iterate, range, limits));
        }
        let gap = worst / iterate.scale;
        if gap > SLOW * self.gap && gap < EARLY {
            self.over = LONGER;
        }
        self.gap = gap;
        self.before = iterate.objective;
        if worst <= iterate.tolerance {
            Iteration::Done
        } else {
            Iteration::More
        }
    }

    /// How far steps go in the next iteration.
    fn step_limits<D: Bregman>(&self, iterate: &Iterate<'_, D>) -> StepLimits {
        let small = 0.1 * iterate.tolerance;
        if iterate.evidence.layout() == Layout::Columns {
            let early = self.gap > EARLY;
            let held = early && iterate.bregman.steep();
            let keep = if held { KEEP } else { 0.0 };
            return StepLimits {
                small,
                keep,
                keep_above: 0.0,
                over: if early { 1.0 } else { self.over },
            };
        }
        let early = self.before - iterate.objective > FAST * iterate.objective;
        let keep = if iterate.bregman.steep() { KEEP } else { 0.0 };
        let keep_above = if early { 0.0 } else { EARLY * iterate.scale };
        let late = iterate.bregman.squared() && iterate.iterations > LONGEST_AFTER;
        let longer = if late { LONGEST_OF_FEW } else { LONGER_OF_FEW };
        StepLimits {
            small,
            keep,
            keep_above,
            over: if early { 1.0 } else { longer },
        }
    }

    /// Visits everybody in the next iteration.
    pub(crate) fn activate_all(&mut self) {
        self.active.activate_all();
    }

    /// After an iteration that was not the last: goes on where the iterations so far lead, if that is lower.
    pub(crate) fn extrapolate<D: Bregman>(&mut self, iterate: &mut Iterate<'_, D>) {
        if extrapolates(iterate) && self.gap < EARLY {
            self.anderson.extrapolate(iterate);
        }
    }

    /// Moves the objects of one group, together where that is sure to help and one after the other otherwise.
    fn group<D: Bregman>(
        &mut self,
        iterate: &mut Iterate<'_, D>,
        range: Range<usize>,
        limits: StepLimits,
    ) -> f64 {
        let clusters = iterate.table.clusters;
        self.active_objects.clear();
        self.active_objects
            .extend(range.filter(|&i| self.active.is_active(i)));
        for (&i, old) in self
            .active_objects
            .iter()
            .zip(self.old.chunks_mut(clusters))
        {
            iterate.table.read(i, old);
        }
        let size = self.active_objects.len();
        if size == 0 {
            return 0.0;
        }
        self.new[..size * clusters].copy_from_slice(&self.old[..size * clusters]);
        self.move_apart(iterate, limits);
        let steps = self.steps[..size].iter();
        let worst = steps.clone().map(|step| step.gap).fold(0.0, f64::max);
        let fall: f64 = steps.map(|step| step.fall).sum();
        let bearable = match iterate.evidence.layout() {
            Layout::Columns => fall + 1e-13 * iterate.objective,
            Layout::Rows => (1.0 - LEFT) * fall,
        };
        let mut together = 0.0;
        if size > 1 && fall > 0.0 {
            let objects = &self.active_objects;
            together = interaction(iterate, objects, &self.steps, &self.old, &self.new);
        }
        if together > bearable {
            self.move_in_turn(iterate, limits);
            self.fall += self.steps[..size].iter().map(|step| step.fall).sum::<f64>();
        } else {
            self.fall += fall - together;
            for at in (0..size).filter(|&at| self.steps[at].fall > 0.0) {
                let old = row(&self.old, at, clusters);
                let new = row(&self.new, at, clusters);
                place(iterate, &mut self.gram, self.active_objects[at], old, new);
            }
        }
        self.record(iterate, limits.small);
        worst
    }

    /// Records what a group came to.
    fn record<D: Bregman>(&mut self, iterate: &mut Iterate<'_, D>, small: f64) {
        let clusters = iterate.table.clusters;
        self.moved.clear();
        for (at, (&i, step)) in self.active_objects.iter().zip(&self.steps).enumerate() {
            if step.fall > 0.0 {
                let old = row(&self.old, at, clusters).iter();
                let changes = old.zip(row(&self.new, at, clusters));
                let by = changes.map(|(old, new)| (old - new).abs()).sum();
                self.moved.push((i, by));
            } else if step.gap <= small {
                self.active.settled(i);
            }
        }
        if !iterate.exact_falls() {
            iterate.costs.moved(iterate.evidence, &self.moved);
        }
        self.active.moved(iterate.evidence, &self.moved);
    }

    /// Visits the objects of a group as if the others of the group stood still.
    fn move_apart<D: Bregman>(&mut self, iterate: &Iterate<'_, D>, limits: StepLimits) {
        let evidence = iterate.evidence;
        let table = &iterate.table;
        let clusters = table.clusters;
        let size = self.active_objects.len();
        let work = size * clusters * evidence.degree(self.active_objects[0]);
        let mut threads = 1;
        if work >= SHARED {
            threads = rayon::current_num_threads().min(size);
        }
        let workers = threads.max(self.workers.len());
        self.workers.resize_with(workers, || Worker::new(clusters));
        let share = size.div_ceil(threads);
        let gram = self.gram.as_ref();
        let active_objects = &self.active_objects;
        let new = self.new[..size * clusters].par_chunks_mut(share * clusters);
        let steps = self.steps[..size].par_chunks_mut(share);
        let parts = new.zip(steps).zip(&mut self.workers).enumerate();
        parts.for_each(|(part, ((new, steps), worker))| {
            let own = &active_objects[part * share..];
            for (at, (y, out)) in new.chunks_mut(clusters).zip(steps).enumerate() {
                if let Some(&next) = own.get(at + 1) {
                    evidence.prefetch_partners(next, table);
                }
                *out = step_of(iterate, gram, own[at], y, worker, limits);
            }
        });
    }

    /// Visits the objects of a group one after the other.
    fn move_in_turn<D: Bregman>(&mut self, iterate: &mut Iterate<'_, D>, limits: StepLimits) {
        let clusters = iterate.table.clusters;
        let limits = StepLimits {
            over: 1.0,
            ..limits
        };
        for (at, &i) in self.active_objects.iter().enumerate() {
            let old = row(&self.old, at, clusters);
            let new = &mut self.new[at * clusters..(at + 1) * clusters];
            new.copy_from_slice(old);
            let gram = self.gram.as_ref();
            let worker = &mut self.workers[0];
            self.steps[at] = step_of(iterate, gram, i, new, worker, limits);
            if self.steps[at].fall > 0.0 {
                place(iterate, &mut self.gram, i, old, new);
            }
        }
    }
}

/// Whether iterations are extrapolated. Squared differences need so few iterations that it costs more than it saves, and on sampled pairs iterations
/// do not lead anywhere by the same factor every time.
fn extrapolates<D: Bregman>(iterate: &Iterate<'_, D>) -> bool {
    iterate.bregman.steep() && iterate.evidence.layout() == Layout::Columns
}

/// Moves object `i`.
fn place<D: Bregman>(
    iterate: &mut Iterate<'_, D>,
    gram: &mut Option<Gram>,
    i: usize,
    old: &[f64],
    new: &[f64],
) {
    iterate.table.write(i, new);
    if let Some(gram) = gram {
        gram.moved(old, new);
    }
}

/// Visits object `i` with the probabilities `y`.
fn step_of<D: Bregman>(
    iterate: &Iterate<'_, D>,
    gram: Option<&Gram>,
    i: usize,
    y: &mut [f64],
    worker: &mut Worker,
    limits: StepLimits,
) -> StepOutcome {
    let bregman = iterate.bregman;
    let evidence = iterate.evidence;
    let table = &iterate.table;
    let near = &mut worker.near;
    let squared = bregman.squared().then_some(&mut near.counts);
    let partners = squared.and_then(|counts| evidence.partners_and_counts(i, counts));
    let among = evidence.copy_pairs(i);
    let seen = if let Some(partners) = partners {
        let others = Others::Rows(table, partners);
        Seen {
            others,
            counts: &near.counts,
            among,
        }
    } else {
        let (others, counts) = evidence.pairs_of(i, table, near);
        let others = Others::Columns(others, gram.map(|gram| gram.seen(evidence, i)));
        Seen {
            others,
            counts,
            among,
        }
    };
    newton_step(bregman, seen, y, &mut worker.scratch, limits)
}
