//! K parts at once: moves from any part to any other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::Hypergraph;
use super::{NetObjective, Stop};

/// Pins of a net up to which a move that changes its state makes its vertices be looked at again.
const SMALL_NET: usize = 512;

/// A partition into parts, kept up to date move by move.
pub(crate) struct Parts<'a> {
    graph: &'a Hypergraph,
    labels: Vec<u32>,
    count: usize,
    /// Pins of every net in every part, net by net.
    pins: Vec<u32>,
    weights: Vec<i64>,
    vertices: Vec<usize>,
    objective: NetObjective,
    most: i64,
    value: i64,
}

impl<'a> Parts<'a> {
    /// The partition of the vertices that `labels` says, into `count` parts of at most the weight `most`.
    pub(crate) fn new(
        graph: &'a Hypergraph,
        labels: Vec<u32>,
        count: usize,
        objective: NetObjective,
        most: i64,
    ) -> Self {
        let mut pins = vec![0; graph.nets() * count];
        let (mut weights, mut vertices) = (vec![0; count], vec![0; count]);
        for (v, &label) in labels.iter().enumerate() {
            weights[label as usize] += graph.weights()[v];
            vertices[label as usize] += 1;
            graph.nets_of(v).iter().for_each(|&net| pins[net as usize * count + label as usize] += 1);
        }
        let spread = |net: usize| pins[net * count..][..count].iter().filter(|&&held| held > 0).count();
        let value = (0..graph.nets()).map(|net| objective.of_net(graph.net_weight(net), spread(net))).sum();
        Self { graph, labels, count, pins, weights, vertices, objective, most, value }
    }

    /// The part of every vertex.
    pub(crate) fn into_labels(self) -> Vec<u32> {
        self.labels
    }

    /// Weight above bounds first, then the objective.
    pub(crate) fn cost(&self) -> (i64, i64) {
        (self.weights.iter().map(|weight| (weight - self.most).max(0)).sum(), self.value)
    }

    /// The best move of a vertex that the bounds allow: what it gains, and where to. Out of a part that is too heavy any
    /// lighter one will do.
    fn best_move(&self, v: usize, gains: &mut [i64]) -> Option<(i64, u32)> {
        let from = self.labels[v] as usize;
        if self.vertices[from] <= 1 {
            return None;
        }
        let (in_cut, further) = self.objective.prices();
        gains.fill(0);
        let mut base = 0;
        for &net in self.graph.nets_of(v) {
            let weight = self.graph.net_weight(net as usize);
            let size = self.graph.pins(net as usize).len() as u32;
            let held = &self.pins[net as usize * self.count..][..self.count];
            if held[from] == 1 {
                base += further * weight;
            }
            if held[from] == size {
                base -= in_cut * weight;
            }
            for (gain, &there) in gains.iter_mut().zip(held) {
                *gain -= i64::from(there == 0) * further * weight;
                *gain += i64::from(there + 1 == size && held[from] == 1) * in_cut * weight;
            }
        }
        let weight = self.graph.weights()[v];
        let heavy = self.weights[from] > self.most;
        let fits = |to: &usize| {
            let after = self.weights[*to] + weight;
            *to != from && (after <= self.most || (heavy && after < self.weights[from]))
        };
        let better = |best: usize, to: usize| match gains[to].cmp(&gains[best]) {
            std::cmp::Ordering::Less => best,
            std::cmp::Ordering::Greater => to,
            std::cmp::Ordering::Equal => {
                if self.weights[to] < self.weights[best] {
                    to
                } else {
                    best
                }
            }
        };
        let to = (0..self.count).filter(fits).reduce(better)?;
        Some((base + gains[to], to as u32))
    }

    /// Moves a vertex, and lists its nets that came to or left a state that decides gains.
    fn shift(&mut self, v: usize, to: u32, critical: &mut Vec<u32>) {
        let from = self.labels[v] as usize;
        let to = to as usize;
        self.labels[v] = to as u32;
        let weight = self.graph.weights()[v];
        self.weights[from] -= weight;
        self.weights[to] += weight;
        self.vertices[from] -= 1;
        self.vertices[to] += 1;
        let (in_cut, further) = self.objective.prices();
        for &net in self.graph.nets_of(v) {
            let weight = self.graph.net_weight(net as usize);
            let size = self.graph.pins(net as usize).len() as u32;
            let held = &mut self.pins[net as usize * self.count..][..self.count];
            self.value += i64::from(held[from] == size) * in_cut * weight;
            self.value += i64::from(held[to] == 0) * further * weight;
            held[from] -= 1;
            held[to] += 1;
            self.value -= i64::from(held[to] == size) * in_cut * weight;
            self.value -= i64::from(held[from] == 0) * further * weight;
            if held[from] <= 1 || held[to] <= 2 {
                critical.push(net);
            }
        }
    }

    /// Passes over all vertices until one gains nothing: always the move that gains most, losses included, each vertex
    /// once a pass; the pass is taken back to its best moment. A pass ends `patience` moves after that, or when somebody wants to
    /// stop.
    pub(crate) fn refine(&mut self, passes: usize, patience: usize, stop: Stop<'_>) {
        for _ in 0..passes {
            if stop() || !self.pass(patience, stop) {
                return;
            }
        }
    }

    fn pass(&mut self, patience: usize, stop: Stop<'_>) -> bool {
        let n = self.graph.len();
        let mut scratch = vec![0; self.count];
        let entry = |v: usize, (gain, _): (i64, u32)| (gain, Reverse(v as u32));
        let mut heap: BinaryHeap<_> =
            (0..n).filter_map(|v| self.best_move(v, &mut scratch).map(|best| entry(v, best))).collect();
        let mut locked = vec![false; n];
        let mut moved: Vec<(u32, u32)> = Vec::new();
        let mut critical = Vec::new();
        let start = self.cost();
        let (mut best, mut kept) = (start, 0);
        while let Some((gain, Reverse(v))) = heap.pop() {
            let v = v as usize;
            if locked[v] {
                continue;
            }
            if stop() {
                break;
            }
            // What the heap holds may be out of date: look again, and queue again what has become worse.
            let Some(now) = self.best_move(v, &mut scratch) else { continue };
            if now.0 < gain {
                heap.push(entry(v, now));
                continue;
            }
            locked[v] = true;
            moved.push((v as u32, self.labels[v]));
            self.shift(v, now.1, &mut critical);
            for net in critical.drain(..) {
                let pins = self.graph.pins(net as usize);
                if pins.len() > SMALL_NET {
                    continue;
                }
                for &w in pins {
                    if !locked[w as usize]
                        && let Some(now) = self.best_move(w as usize, &mut scratch)
                    {
                        heap.push(entry(w as usize, now));
                    }
                }
            }
            let cost = self.cost();
            if cost < best {
                (best, kept) = (cost, moved.len());
            } else if moved.len() - kept > patience {
                break;
            }
        }
        for (v, from) in moved.drain(kept..).rev() {
            self.shift(v as usize, from, &mut critical);
        }
        best < start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;
    use rand::RngExt;

    fn drawn(seed: u64) -> Hypergraph {
        let mut rng = Seed::new(seed).rng();
        let (mut starts, mut pins, mut nets) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..60 {
            let mut net: Vec<u32> = (0..rng.random_range(2..7)).map(|_| rng.random_range(0..40)).collect();
            net.sort_unstable();
            net.dedup();
            pins.extend(net);
            starts.push(pins.len());
            nets.push(rng.random_range(1..4));
        }
        Hypergraph::new((0..40).map(|_| rng.random_range(1..4)).collect(), nets, starts, pins)
    }

    #[test]
    fn value_weights_and_gains_are_those_of_a_fresh_count() {
        for (seed, objective) in (0..40).flat_map(|seed| [(seed, NetObjective::Cut), (seed, NetObjective::Soed)]) {
            let graph = drawn(seed);
            let labels: Vec<u32> = (0..40).map(|v| v % 4).collect();
            let mut state = Parts::new(&graph, labels, 4, objective, graph.total() * 3 / 10);
            for v in 0..40 {
                let before = state.value;
                if let Some((gain, to)) = state.best_move(v, &mut [0; 4]) {
                    state.shift(v, to, &mut Vec::new());
                    assert_eq!(state.value, before - gain);
                }
            }
            let before = state.cost();
            state.refine(10, 100, &|| false);
            assert!(state.cost() <= before);
            let again = Parts::new(&graph, state.labels.clone(), 4, objective, state.most);
            assert_eq!((again.value, again.weights, again.pins), (state.value, state.weights, state.pins));
        }
    }

    #[test]
    fn a_part_that_is_too_heavy_is_mended_and_none_is_emptied() {
        let graph = drawn(7);
        let labels: Vec<u32> = (0..40).map(|v| if v < 2 { v + 1 } else { 0 }).collect();
        let mut state = Parts::new(&graph, labels, 3, NetObjective::Soed, graph.total() * 2 / 5);
        state.refine(5, 1000, &|| false);
        assert_eq!(state.cost().0, 0);
        assert!(state.vertices.iter().all(|&count| count > 0));
    }
}
