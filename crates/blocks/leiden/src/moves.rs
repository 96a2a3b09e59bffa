//! Fast local moving: vertices go to the cluster of a neighbour while the objective grows.

use partita_core::ProgressCounter;
use rand::Rng;
use rand::seq::SliceRandom;

use crate::graph::{Graph, Links};
use crate::objective::{LeidenSettings, Objective};

/// A move must gain more than this share of what it gives up, or rounding could move vertices to and fro.
const LEAST_GAIN: f64 = 1e-11;

/// A vertex is looked at so often at most, on average: sums of very different weights round to what has no end.
const MOST_LOOKS: usize = 200;

/// Between two questions of whether to stop, so many vertices are looked at.
const BETWEEN_STOPS: usize = 1 << 14;

/// θ of the refinement, in mean weights of an edge (the paper's value, where all weights are 1).
const RANDOMNESS: f64 = 0.01;

/// What vertices put into the penalty of an objective: a cluster of mass A costs penalty · A²/2.
pub(crate) struct Masses {
    /// The mass of every vertex, n: its strength, or 1.
    pub(crate) of: Vec<f64>,
    pub(crate) penalty: f64,
    pub(crate) randomness: f64,
}

impl Masses {
    pub(crate) fn of(graph: &Graph, settings: &LeidenSettings) -> Self {
        let strengths = graph.strengths();
        let resolution = settings.resolution.max(0.0);
        let total: f64 = strengths.iter().sum();
        let mean = graph.links.weights.iter().sum::<f64>() / graph.links.weights.len() as f64;
        let (of, penalty) = match settings.objective {
            Objective::Cpm => (vec![1.0; strengths.len()], resolution),
            // Without an edge nothing is moved.
            _ if total == 0.0 => (strengths, 0.0),
            _ => (strengths, resolution / total),
        };
        Self {
            of,
            penalty,
            randomness: RANDOMNESS * mean,
        }
    }

    /// The same for other vertices.
    pub(crate) fn with(&self, of: Vec<f64>) -> Self {
        Self { of, ..*self }
    }

    /// What a cluster of such a mass costs a vertex that joins it.
    pub(crate) fn cost(&self, vertex: usize, mass: f64) -> f64 {
        self.penalty * self.of[vertex] * mass
    }
}

/// Vertices in a random order, each once until it is taken out.
struct Queue {
    waiting: Vec<u32>,
    first: usize,
    length: usize,
    waits: Vec<bool>,
}

impl Queue {
    fn of_all(n: usize, rng: &mut impl Rng) -> Self {
        Self {
            waiting: shuffled(n, rng),
            first: 0,
            length: n,
            waits: vec![true; n],
        }
    }

    fn pop(&mut self) -> Option<usize> {
        self.length = self.length.checked_sub(1)?;
        let vertex = self.waiting[self.first] as usize;
        self.first = (self.first + 1) % self.waiting.len();
        self.waits[vertex] = false;
        Some(vertex)
    }

    fn push(&mut self, vertex: usize) {
        if !self.waits[vertex] {
            self.waits[vertex] = true;
            let mut place = self.first + self.length;
            if place >= self.waiting.len() {
                place -= self.waiting.len();
            }
            self.waiting[place] = vertex as u32;
            self.length += 1;
        }
    }
}

/// The numbers below n in a random order.
pub(crate) fn shuffled(n: usize, rng: &mut impl Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.shuffle(rng);
    order
}

/// Numbers labels below n anew in the order of their first vertices; how many there are.
pub(crate) fn number(labels: &mut [u32]) -> usize {
    let mut new = vec![u32::MAX; labels.len()];
    let mut count = 0;
    for label in labels {
        let to = &mut new[*label as usize];
        if *to == u32::MAX {
            *to = count;
            count += 1;
        }
        *label = *to;
    }
    count as usize
}

/// Weights of a vertex's edges to each group that it has edges to.
pub(crate) struct GroupLinks {
    pub(crate) weights: Vec<f64>,
    pub(crate) touched: Vec<u32>,
}

impl GroupLinks {
    pub(crate) fn new(groups: usize) -> Self {
        Self {
            weights: vec![0.0; groups],
            touched: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, group: u32, weight: f64) {
        let sum = &mut self.weights[group as usize];
        if *sum == 0.0 {
            self.touched.push(group);
        }
        *sum += weight;
    }

    pub(crate) fn clear(&mut self) {
        for group in self.touched.drain(..) {
            self.weights[group as usize] = 0.0;
        }
    }
}

/// Moves vertices until no move of one is better; labels are below n. True where any moved, none where the monitor said stop.
pub(crate) fn improve(
    links: &Links,
    masses: &Masses,
    labels: &mut [u32],
    rng: &mut impl Rng,
    progress: &ProgressCounter<'_>,
) -> Option<bool> {
    let n = labels.len();
    let mut mass = vec![0.0; n];
    let mut sizes = vec![0_u32; n];
    for (vertex, &label) in labels.iter().enumerate() {
        mass[label as usize] += masses.of[vertex];
        sizes[label as usize] += 1;
    }
    let mut empty: Vec<u32> = (0..n as u32).filter(|&c| sizes[c as usize] == 0).collect();
    let mut near = GroupLinks::new(n);
    let mut queue = Queue::of_all(n, rng);
    let mut moved = false;
    for look in 0..MOST_LOOKS.saturating_mul(n) {
        let Some(vertex) = queue.pop() else {
            break;
        };
        if look.is_multiple_of(BETWEEN_STOPS) && progress.stopped() {
            return None;
        }
        for (u, weight) in links.of(vertex) {
            near.add(labels[u], weight);
        }
        let own = labels[vertex];
        let rest = mass[own as usize] - masses.of[vertex];
        let cost = masses.cost(vertex, rest);
        let stay = near.weights[own as usize];
        let mut best = (stay - cost + LEAST_GAIN * (stay + cost), own);
        for &group in &near.touched {
            let gain = near.weights[group as usize] - masses.cost(vertex, mass[group as usize]);
            if gain > best.0 && group != own {
                best = (gain, group);
            }
        }
        if best.0 < 0.0
            && sizes[own as usize] > 1
            && let Some(&group) = empty.last()
        {
            best.1 = group;
        }
        near.clear();
        let to = best.1;
        if to == own {
            continue;
        }
        moved = true;
        if sizes[to as usize] == 0 {
            empty.pop();
        }
        labels[vertex] = to;
        sizes[to as usize] += 1;
        mass[to as usize] += masses.of[vertex];
        sizes[own as usize] -= 1;
        mass[own as usize] = if sizes[own as usize] == 0 { 0.0 } else { rest };
        if sizes[own as usize] == 0 {
            empty.push(own);
        }
        for (u, _) in links.of(vertex) {
            if labels[u] != to {
                queue.push(u);
            }
        }
    }
    Some(moved)
}
