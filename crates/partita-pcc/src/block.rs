//! The block solver: one Newton step an object, object after object, groups of objects in parallel.

use std::ops::Range;

use partita_core::chunks;
use rayon::prelude::*;

use crate::descent::{Race, Round};
use crate::evidence::Evidence;
use crate::kernel::{Cost, PairCounts};
use crate::laws::Bregman;
use crate::machine::{LANES, fast};
use crate::mixing::Mixing;
use crate::row::{Stride, Visit, support, visit};
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
/// Work (objects × pairs × K) from which a group is shared between threads.
const SHARED: usize = 1 << 17;

/// The state of a block run between rounds.
#[derive(Debug)]
pub(crate) struct Block {
    group: usize,
    workers: Vec<Worker>,
    old: Vec<f64>,
    new: Vec<f64>,
    visits: Vec<Visit>,
    gap: f64,
    over: f64,
    gram: Option<Gram>,
    calm: Calm,
    mixing: Mixing,
}

/// Objects that were in order when last visited and whose partners stand still since: there is nothing to find. Kept where
/// pairs are few; where all objects are partners somebody always moves.
#[derive(Debug, Default)]
struct Calm {
    gaps: Vec<Option<f64>>,
}

impl Calm {
    fn note(&mut self, i: usize, visit: Visit, small: f64) {
        if let Some(gap) = self.gaps.get_mut(i) {
            *gap = (visit.fall == 0.0 && visit.gap <= small).then_some(visit.gap);
        }
    }

    fn moved<E: Evidence>(&mut self, evidence: &E, i: usize) {
        if let Some(gap) = self.gaps.get_mut(i) {
            *gap = None;
            evidence.partners(i).unwrap_or_default().iter().for_each(|&j| self.gaps[j as usize] = None);
        }
    }
}

impl Block {
    pub(crate) fn new(objects: usize, clusters: usize) -> Self {
        // Objects of a group do not see each other move. A 32nd of all costs no rounds that could be measured.
        let group = (objects / 32).max(1);
        Self {
            group,
            workers: vec![],
            old: vec![0.0; group * clusters],
            new: vec![0.0; group * clusters],
            visits: vec![Visit::default(); group],
            gap: f64::INFINITY,
            over: 1.0,
            gram: None,
            calm: Calm::default(),
            mixing: Mixing::default(),
        }
    }

    /// Visits every object once.
    pub(crate) fn round<D: Bregman, E: Evidence>(&mut self, race: &mut Race<'_, D, E>) -> Round {
        let early = self.gap > EARLY;
        let stride = Stride {
            small: 0.1 * race.tolerance,
            keep: if early && race.law.steep() { KEEP } else { 0.0 },
            over: if early { 1.0 } else { self.over },
        };
        self.gram = Gram::of(race.law, race.evidence, &race.table);
        if race.evidence.layout() == Layout::Rows {
            self.calm.gaps.resize(race.evidence.count(), None);
        }
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
        if worst <= race.tolerance { Round::Done } else { Round::More }
    }

    /// After a round that was not the last: goes on where the rounds so far lead, if that is lower.
    pub(crate) fn extrapolate<D: Bregman, E: Evidence>(&mut self, race: &mut Race<'_, D, E>) {
        if mixes(race) && self.gap < EARLY && self.mixing.extrapolate(race) {
            self.calm = Calm::default();
        }
    }

    /// Moves the objects of one group, together where that is sure to help and one after the other otherwise.
    fn group<D: Bregman, E: Evidence>(
        &mut self,
        race: &mut Race<'_, D, E>,
        range: Range<usize>,
        stride: Stride,
    ) -> f64 {
        let clusters = race.table.clusters;
        let (start, size) = (range.start, range.len());
        for (at, i) in range.clone().enumerate() {
            race.table.read(i, &mut self.old[at * clusters..(at + 1) * clusters]);
        }
        self.new.copy_from_slice(&self.old);
        self.move_apart(race, start, size, stride);
        for (at, i) in range.clone().enumerate() {
            self.calm.note(i, self.visits[at], stride.small);
        }
        let worst = self.visits[..size].iter().fold(0.0, |worst, visit| f64::max(worst, visit.gap));
        let fall: f64 = self.visits[..size].iter().map(|visit| visit.fall).sum();
        if size > 1 && fall > 0.0 && self.interaction(race, range.clone()) > fall + 1e-13 * race.objective {
            self.move_in_turn(race, range, stride);
        } else {
            for (at, i) in range.enumerate().filter(|&(at, _)| self.visits[at].fall > 0.0) {
                let (old, new) = (&self.old[at * clusters..][..clusters], &self.new[at * clusters..][..clusters]);
                race.table.write(i, new);
                if let Some(gram) = &mut self.gram {
                    gram.moved(old, new);
                }
                race.costs.moved(race.evidence, i);
                self.calm.moved(race.evidence, i);
            }
        }
        worst
    }

    /// Visits the objects of a group as if the others of the group stood still.
    fn move_apart<D: Bregman, E: Evidence>(
        &mut self,
        race: &Race<'_, D, E>,
        start: usize,
        size: usize,
        stride: Stride,
    ) {
        let (law, evidence, table) = (race.law, race.evidence, &race.table);
        let clusters = table.clusters;
        let work = size * clusters * evidence.reach(start);
        let threads = if work < SHARED { 1 } else { rayon::current_num_threads().min(size) };
        self.workers.resize_with(threads.max(self.workers.len()), || Worker::new(clusters));
        let share = size.div_ceil(threads);
        let (gram, calm) = (self.gram.as_ref(), &self.calm);
        let part = |part: usize, new: &mut [f64], visits: &mut [Visit], worker: &mut Worker| {
            for (at, (y, out)) in new.chunks_mut(clusters).zip(visits).enumerate() {
                let i = start + part * share + at;
                *out = match calm.gaps.get(i).copied().flatten() {
                    Some(gap) => Visit { gap, fall: 0.0 },
                    None => one((law, evidence, table, gram), i, y, worker, stride),
                };
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
    fn move_in_turn<D: Bregman, E: Evidence>(
        &mut self,
        race: &mut Race<'_, D, E>,
        range: Range<usize>,
        stride: Stride,
    ) {
        let mut y = vec![0.0; race.table.clusters];
        for i in range {
            race.table.read(i, &mut y);
            let stride = Stride { over: 1.0, ..stride };
            let old = y.clone();
            let what = (race.law, race.evidence, &race.table, self.gram.as_ref());
            if one(what, i, &mut y, &mut self.workers[0], stride).fall > 0.0 {
                race.table.write(i, &y);
                if let Some(gram) = &mut self.gram {
                    gram.moved(&old, &y);
                }
                race.costs.moved(race.evidence, i);
                self.calm.moved(race.evidence, i);
            }
        }
    }

    /// What the moves of a group do to each other: the change of the pairs inside it, less the changes that each
    /// move alone was counted for.
    fn interaction<D: Bregman, E: Evidence>(&self, race: &Race<'_, D, E>, range: Range<usize>) -> f64 {
        match race.evidence.layout() {
            Layout::Columns => self.interaction_of_all(race, range),
            Layout::Rows => self.interaction_of_some(race, range),
        }
    }

    fn interaction_of_some<D: Bregman, E: Evidence>(&self, race: &Race<'_, D, E>, range: Range<usize>) -> f64 {
        let clusters = race.table.clusters;
        let row = |at: usize| at * clusters..(at + 1) * clusters;
        let dot = |p: &[f64], i: usize, q: &[f64], j: usize| -> f64 {
            p[row(i)].iter().zip(&q[row(j)]).map(|(a, b)| a * b).sum()
        };
        let mut sum = 0.0;
        race.evidence.inside(range, &mut |i, j, c, n| {
            if self.visits[i].fall > 0.0 && self.visits[j].fall > 0.0 {
                let cost = |p: &[f64], q: &[f64]| race.law.cost(c, n, dot(p, i, q, j));
                let (old, new) = (&self.old, &self.new);
                sum += (cost(new, new) - cost(new, old)) - (cost(old, new) - cost(old, old));
            }
        });
        sum
    }

    fn interaction_of_all<D: Bregman, E: Evidence>(&self, race: &Race<'_, D, E>, range: Range<usize>) -> f64 {
        let (size, clusters, law) = (range.len(), race.table.clusters, race.law);
        let mut counts = vec![PairCounts::default(); size];
        let padded = size.next_multiple_of(LANES);
        for counts in &mut counts {
            (counts.c, counts.n) = (vec![0.0; padded], vec![0.0; padded]);
        }
        race.evidence.inside(range, &mut |i, j, c, n| (counts[i].c[j], counts[i].n[j]) = (c, n));
        let table = |rows: &[f64]| {
            let mut table = Table::zeros(size, clusters, Layout::Columns);
            rows.chunks(clusters).take(size).enumerate().for_each(|(at, row)| table.write(at, row));
            table
        };
        let (old, new) = (table(&self.old), table(&self.new));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut sum = 0.0;
        for i in (0..size).filter(|&i| self.visits[i].fall > 0.0) {
            support(&self.old[i * clusters..(i + 1) * clusters], &mut before);
            support(&self.new[i * clusters..(i + 1) * clusters], &mut after);
            let from = (i + 1) / LANES * LANES;
            let cost = |y, others| fast(Cost { law, others, counts: &counts[i], y, from });
            sum += (cost(&after, &new) - cost(&after, &old)) - (cost(&before, &new) - cost(&before, &old));
        }
        sum
    }
}

/// Whether rounds are extrapolated. Squares need so few rounds that it costs more than it saves, and on sampled pairs rounds
/// do not lead anywhere by the same factor every time.
fn mixes<D: Bregman, E: Evidence>(race: &Race<'_, D, E>) -> bool {
    race.law.steep() && race.evidence.layout() == Layout::Columns
}

/// Visits object `i` with the probabilities `y`.
fn one<D: Bregman, E: Evidence>(
    (law, evidence, table, gram): (&D, &E, &Table, Option<&Gram>),
    i: usize,
    y: &mut [f64],
    worker: &mut Worker,
    stride: Stride,
) -> Visit {
    let (others, counts) = evidence.look(i, table, &mut worker.near);
    let squares = gram.map(|gram| gram.seen(evidence, i));
    visit(law, others, counts, y, &mut worker.scratch, stride, squares)
}
