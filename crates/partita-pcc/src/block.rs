//! The block solver: one Newton step an object, object after object, groups of objects in parallel.

use std::ops::Range;

use partita_core::chunks;
use rayon::prelude::*;

use crate::calm::Calm;
use crate::descent::{Race, Round};
use crate::evidence::Evidence;
use crate::interaction::interaction;
use crate::laws::Bregman;
use crate::mixing::Mixing;
use crate::row::{Stride, Visit, visit};
use crate::squares::Gram;
use crate::survey::Worker;
use crate::table::{Layout, Table};

/// Above this relative gap a run is early: steps are held back where the divergence is steep.
const EARLY: f64 = 0.2;
/// In early rounds no probability shrinks below this share of itself.
const KEEP: f64 = 0.1;
/// Gaps that shrink by less than this factor a round ask for longer steps.
const SLOW: f64 = 0.6;
/// Longer steps: between 1 (Newton) and 2 (where the quadratic model stops falling).
const LONGER: f64 = 1.4;
/// The same where pairs are few, from the first round that is not early on.
const LONGER_OF_FEW: f64 = 1.3;
/// Where pairs are few a run is early while a round lowers the objective by more than this share of it. The largest gap does not
/// tell: it is that of a handful of objects for long.
const FAST: f64 = 0.01;
/// Work (objects × pairs × K) from which a group is shared between threads.
const SHARED: usize = 1 << 17;

/// The state of a block run between rounds.
#[derive(Debug)]
pub(crate) struct Block {
    group: usize,
    /// The objects of a group that are visited.
    awake: Vec<usize>,
    /// Those of them that moved, and by how much.
    moved: Vec<(usize, f64)>,
    workers: Vec<Worker>,
    old: Vec<f64>,
    new: Vec<f64>,
    visits: Vec<Visit>,
    gap: f64,
    /// The objective before the last round.
    before: f64,
    over: f64,
    gram: Option<Gram>,
    calm: Calm,
    mixing: Mixing,
}

impl Block {
    pub(crate) fn new(evidence: &dyn Evidence, clusters: usize) -> Self {
        let (objects, calm) = (evidence.count(), Calm::of(evidence));
        // Objects of a group do not see each other move. A 32nd of all costs no rounds that could be measured.
        let group = (objects / 32).max(1);
        Self {
            group,
            awake: vec![],
            moved: vec![],
            workers: vec![],
            old: vec![0.0; group * clusters],
            new: vec![0.0; group * clusters],
            visits: vec![Visit::default(); group],
            gap: f64::INFINITY,
            before: f64::INFINITY,
            over: 1.0,
            gram: None,
            calm,
            mixing: Mixing::default(),
        }
    }

    /// Visits every object once, but for those that can be left alone.
    pub(crate) fn round<D: Bregman>(&mut self, race: &mut Race<'_, D>) -> Round {
        let stride = self.stride(race);
        self.gram = Gram::of(race.law, race.evidence, &race.table);
        self.calm.allow(stride.small, race.scale);
        if mixes(race) {
            self.mixing.start(&race.table.values);
        }
        let mut worst = 0.0;
        for range in chunks(race.evidence.count(), self.group) {
            if race.stop() {
                return Round::Stopped;
            }
            worst = f64::max(worst, self.group(race, range, stride));
        }
        let gap = worst / race.scale;
        if gap > SLOW * self.gap && gap < EARLY {
            self.over = LONGER;
        }
        self.gap = gap;
        self.before = race.objective;
        if worst <= race.tolerance { Round::Done } else { Round::More }
    }

    /// How far visits go in the next round.
    fn stride<D: Bregman>(&self, race: &Race<'_, D>) -> Stride {
        let small = 0.1 * race.tolerance;
        if race.evidence.layout() == Layout::Columns {
            let early = self.gap > EARLY;
            let keep = if early && race.law.steep() { KEEP } else { 0.0 };
            return Stride { small, keep, keep_above: 0.0, over: if early { 1.0 } else { self.over } };
        }
        let early = self.before - race.objective > FAST * race.objective;
        let keep = if race.law.steep() { KEEP } else { 0.0 };
        let keep_above = if early { 0.0 } else { EARLY * race.scale };
        Stride { small, keep, keep_above, over: if early { 1.0 } else { LONGER_OF_FEW } }
    }

    /// Visits everybody in the next round.
    pub(crate) fn wake_all(&mut self) {
        self.calm.wake_all();
    }

    /// After a round that was not the last: goes on where the rounds so far lead, if that is lower.
    pub(crate) fn extrapolate<D: Bregman>(&mut self, race: &mut Race<'_, D>) {
        if mixes(race) && self.gap < EARLY {
            self.mixing.extrapolate(race);
        }
    }

    /// Moves the objects of one group, together where that is sure to help and one after the other otherwise.
    fn group<D: Bregman>(&mut self, race: &mut Race<'_, D>, range: Range<usize>, stride: Stride) -> f64 {
        let clusters = race.table.clusters;
        self.awake.clear();
        self.awake.extend(range.clone().filter(|&i| self.calm.awake(i)));
        for (at, &i) in self.awake.iter().enumerate() {
            race.table.read(i, &mut self.old[at * clusters..(at + 1) * clusters]);
        }
        let size = self.awake.len();
        if size == 0 {
            return 0.0;
        }
        self.new[..size * clusters].copy_from_slice(&self.old[..size * clusters]);
        self.move_apart(race, stride);
        let worst = self.visits[..size].iter().fold(0.0, |worst, visit| f64::max(worst, visit.gap));
        let fall: f64 = self.visits[..size].iter().map(|visit| visit.fall).sum();
        let together = || interaction(race, &self.awake, &self.visits, &self.old, &self.new);
        if size > 1 && fall > 0.0 && together() > fall + 1e-13 * race.objective {
            self.move_in_turn(race, stride);
        } else {
            for at in (0..size).filter(|&at| self.visits[at].fall > 0.0) {
                let (old, new) = (row(&self.old, at, clusters), row(&self.new, at, clusters));
                place(race, &mut self.gram, self.awake[at], old, new);
            }
        }
        self.tell(race, stride.small);
        worst
    }

    /// Tells those who keep count what a group came to.
    fn tell<D: Bregman>(&mut self, race: &mut Race<'_, D>, small: f64) {
        let clusters = race.table.clusters;
        self.moved.clear();
        for (at, (&i, visit)) in self.awake.iter().zip(&self.visits).enumerate() {
            if visit.fall > 0.0 {
                let changes = row(&self.old, at, clusters).iter().zip(row(&self.new, at, clusters));
                self.moved.push((i, changes.map(|(old, new)| (old - new).abs()).sum()));
            } else if visit.gap <= small {
                self.calm.settled(i);
            }
        }
        race.costs.moved(race.evidence, &self.moved);
        self.calm.moved(race.evidence, &self.moved);
    }

    /// Visits the objects of a group as if the others of the group stood still.
    fn move_apart<D: Bregman>(&mut self, race: &Race<'_, D>, stride: Stride) {
        let (law, evidence, table) = (race.law, race.evidence, &race.table);
        let (clusters, size) = (table.clusters, self.awake.len());
        let work = size * clusters * evidence.reach(self.awake[0]);
        let threads = if work < SHARED { 1 } else { rayon::current_num_threads().min(size) };
        self.workers.resize_with(threads.max(self.workers.len()), || Worker::new(clusters));
        let share = size.div_ceil(threads);
        let (gram, awake) = (self.gram.as_ref(), &self.awake);
        let part = |part: usize, new: &mut [f64], visits: &mut [Visit], worker: &mut Worker| {
            for (at, (y, out)) in new.chunks_mut(clusters).zip(visits).enumerate() {
                *out = one((law, evidence, table, gram), awake[part * share + at], y, worker, stride);
            }
        };
        let (new, visits) = (&mut self.new[..size * clusters], &mut self.visits[..size]);
        if threads == 1 {
            return part(0, new, visits, &mut self.workers[0]);
        }
        (new.par_chunks_mut(share * clusters).zip(visits.par_chunks_mut(share)).zip(&mut self.workers).enumerate())
            .for_each(|(at, ((new, visits), worker))| part(at, new, visits, worker));
    }

    /// Visits the objects of a group one after the other.
    fn move_in_turn<D: Bregman>(&mut self, race: &mut Race<'_, D>, stride: Stride) {
        let clusters = race.table.clusters;
        let stride = Stride { over: 1.0, ..stride };
        for (at, &i) in self.awake.iter().enumerate() {
            let (old, new) = (row(&self.old, at, clusters), &mut self.new[at * clusters..(at + 1) * clusters]);
            new.copy_from_slice(old);
            let what = (race.law, race.evidence, &race.table, self.gram.as_ref());
            self.visits[at] = one(what, i, new, &mut self.workers[0], stride);
            if self.visits[at].fall > 0.0 {
                place(race, &mut self.gram, i, old, new);
            }
        }
    }
}

/// Whether rounds are extrapolated. Squares need so few rounds that it costs more than it saves, and on sampled pairs rounds
/// do not lead anywhere by the same factor every time.
fn mixes<D: Bregman>(race: &Race<'_, D>) -> bool {
    race.law.steep() && race.evidence.layout() == Layout::Columns
}

/// The probabilities of the object at a place.
pub(crate) fn row(rows: &[f64], at: usize, clusters: usize) -> &[f64] {
    &rows[at * clusters..(at + 1) * clusters]
}

/// Moves object `i`.
fn place<D: Bregman>(race: &mut Race<'_, D>, gram: &mut Option<Gram>, i: usize, old: &[f64], new: &[f64]) {
    race.table.write(i, new);
    if let Some(gram) = gram {
        gram.moved(old, new);
    }
}

/// Visits object `i` with the probabilities `y`.
fn one<D: Bregman>(
    (law, evidence, table, gram): (&D, &dyn Evidence, &Table, Option<&Gram>),
    i: usize,
    y: &mut [f64],
    worker: &mut Worker,
    stride: Stride,
) -> Visit {
    let (others, counts) = evidence.look(i, table, &mut worker.near);
    let squares = gram.map(|gram| gram.seen(evidence, i));
    visit(law, others, counts, y, &mut worker.scratch, stride, squares)
}
