//! K parts at once: moves from any part to any other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::Hypergraph;
use super::{NetObjective, Stop};

/// Pins of a net up to which a move that changes its state makes its vertices be looked at again.
const SMALL_NET: usize = 512;

/// The pins that a net has in a part: how many, and the exclusive or of their vertices, which is the vertex where there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held {
    count: u32,
    vertices: u32,
}

impl Held {
    fn add(&mut self, vertex: u32) {
        self.count += 1;
        self.vertices ^= vertex;
    }

    fn remove(&mut self, vertex: u32) {
        self.count -= 1;
        self.vertices ^= vertex;
    }
}

/// A partition into parts, kept up to date move by move.
///
/// What moving vertex v of part p to part q gains is `leave[v] + join[v][q]`, over its nets of weight w and s pins, of which h are
/// in a part, at a price c of a net that is cut and f of every further part:
/// ```text
/// leave[v]   = Σ w ( f [h_p = 1] − c [h_p = s] )
/// join[v][q] = Σ w ( c [h_q = s − 1, h_p = 1] − f [h_q = 0] )    and 0 for q = p
/// ```
pub(crate) struct Parts<'a> {
    graph: &'a Hypergraph,
    labels: Vec<u32>,
    count: usize,
    /// Pins of every net in every part, net by net.
    pins: Vec<Held>,
    weights: Vec<i64>,
    vertices: Vec<usize>,
    leave: Vec<i64>,
    /// Vertex by vertex.
    join: Vec<i64>,
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
        let mut pins = vec![Held::default(); graph.nets() * count];
        let (mut weights, mut vertices) = (vec![0; count], vec![0; count]);
        for (v, &label) in labels.iter().enumerate() {
            weights[label as usize] += graph.weights()[v];
            vertices[label as usize] += 1;
            graph
                .nets_of(v)
                .iter()
                .for_each(|&net| pins[net as usize * count + label as usize].add(v as u32));
        }
        let spread = |net: usize| {
            pins[net * count..][..count]
                .iter()
                .filter(|held| held.count > 0)
                .count()
        };
        let value = (0..graph.nets())
            .map(|net| objective.of_net(graph.net_weight(net), spread(net)))
            .sum();
        let (leave, join) = (vec![0; graph.len()], vec![0; graph.len() * count]);
        let mut parts = Self {
            graph,
            labels,
            count,
            pins,
            weights,
            vertices,
            leave,
            join,
            objective,
            most,
            value,
        };
        (0..graph.len()).for_each(|v| parts.count_gains(v));
        parts
    }

    /// The part of every vertex.
    pub(crate) fn into_labels(self) -> Vec<u32> {
        self.labels
    }

    /// Weight above bounds first, then the objective.
    pub(crate) fn cost(&self) -> (i64, i64) {
        (
            self.weights
                .iter()
                .map(|weight| (weight - self.most).max(0))
                .sum(),
            self.value,
        )
    }

    /// Counts the gains of a vertex anew.
    fn count_gains(&mut self, v: usize) {
        let from = self.labels[v] as usize;
        let (in_cut, further) = self.objective.prices();
        let join = &mut self.join[v * self.count..][..self.count];
        join.fill(0);
        let mut leave = 0;
        for &net in self.graph.nets_of(v) {
            let weight = self.graph.net_weight(net as usize);
            let size = self.graph.pins(net as usize).len() as u32;
            let held = &self.pins[net as usize * self.count..][..self.count];
            let alone = held[from].count == 1;
            leave += i64::from(alone) * further * weight
                - i64::from(held[from].count == size) * in_cut * weight;
            for (gain, there) in join.iter_mut().zip(held) {
                *gain -= i64::from(there.count == 0) * further * weight;
                *gain += i64::from(alone && there.count + 1 == size) * in_cut * weight;
            }
        }
        join[from] = 0;
        self.leave[v] = leave;
    }

    /// The best move of a vertex that the bounds allow: what it gains, and where to. Out of a part that is too heavy any
    /// lighter one will do.
    fn best_move(&self, v: usize) -> Option<(i64, u32)> {
        let from = self.labels[v] as usize;
        if self.vertices[from] <= 1 {
            return None;
        }
        let gains = &self.join[v * self.count..][..self.count];
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
        Some((self.leave[v] + gains[to], to as u32))
    }

    /// Moves a vertex and keeps the gains of all others right, not its own; lists its nets that came to or left a state that
    /// decides gains.
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
        let graph = self.graph;
        for &net in graph.nets_of(v) {
            let weight = graph.net_weight(net as usize);
            let size = graph.pins(net as usize).len() as u32;
            let held = &mut self.pins[net as usize * self.count..][..self.count];
            let before = (held[from].count, held[to]);
            let outside = if before.0 + 1 == size {
                Some(outsider(held, from))
            } else {
                None
            };
            held[from].remove(v as u32);
            held[to].add(v as u32);
            let after = (held[from], held[to].count);
            self.value += i64::from(before.0 == size) * in_cut * weight
                - i64::from(after.1 == size) * in_cut * weight;
            self.value += i64::from(after.1 == 1) * further * weight
                - i64::from(before.0 == 1) * further * weight;
            if after.0.count <= 1 || after.1 <= 2 {
                critical.push(net);
            }
            // One vertex each: who is alone in a part now or was, and whom alone the rest of the net waits for now or did.
            if after.0.count == 1 {
                self.leave[after.0.vertices as usize] += further * weight;
            }
            if before.1.count == 1 {
                self.leave[before.1.vertices as usize] -= further * weight;
            }
            if let Some(u) = outside {
                self.join[u as usize * self.count + from] -= in_cut * weight;
            }
            if after.1 + 1 == size {
                let u = outsider(&self.pins[net as usize * self.count..][..self.count], to);
                self.join[u as usize * self.count + to] += in_cut * weight;
            }
            self.state_of_all(net as usize, (before.0, from), (after.1, to));
        }
    }

    /// Gains of all vertices of a net, where a move took its last pin out of a part or brought the first into one, or where
    /// all pins were in one part or are now.
    fn state_of_all(
        &mut self,
        net: usize,
        (before, from): (u32, usize),
        (after, to): (u32, usize),
    ) {
        let (in_cut, further) = self.objective.prices();
        let weight = self.graph.net_weight(net);
        let pins = self.graph.pins(net);
        let size = pins.len() as u32;
        let together = in_cut * weight * (i64::from(before == size) - i64::from(after == size));
        if together != 0 {
            pins.iter()
                .for_each(|&u| self.leave[u as usize] += together);
        }
        if further != 0 && before == 1 {
            pins.iter()
                .for_each(|&u| self.join[u as usize * self.count + from] -= further * weight);
        }
        if further != 0 && after == 1 {
            pins.iter()
                .for_each(|&u| self.join[u as usize * self.count + to] += further * weight);
        }
    }

    /// Passes over all vertices until one gains nothing: always the move that gains most, losses included, each vertex
    /// once a pass; the pass is taken back to its best moment. A pass ends `patience` moves after that, or when somebody wants to
    /// stop. Returns whether the last pass gained nothing: then one more would not either.
    pub(crate) fn refine(&mut self, passes: usize, patience: usize, stop: Stop<'_>) -> bool {
        for _ in 0..passes {
            if stop() {
                return false;
            }
            if !self.pass(patience, stop) {
                return true;
            }
        }
        false
    }

    fn pass(&mut self, patience: usize, stop: Stop<'_>) -> bool {
        let n = self.graph.len();
        let mut queue = Queue::new(n, |v| self.best_move(v));
        // The move at which a vertex was last looked at; LOCKED for those that have moved.
        let mut looked = vec![0; n];
        let mut moved: Vec<(u32, u32)> = Vec::new();
        let mut critical = Vec::new();
        let start = self.cost();
        let (mut best, mut kept) = (start, 0);
        while let Some((gain, v)) = queue.pop() {
            if looked[v] == LOCKED {
                continue;
            }
            if stop() {
                break;
            }
            // What the queue holds may be out of date: look again, and queue again what has become worse.
            let Some(now) = self.best_move(v) else {
                continue;
            };
            if now.0 < gain {
                queue.push(v, now.0);
                continue;
            }
            looked[v] = LOCKED;
            moved.push((v as u32, self.labels[v]));
            self.shift(v, now.1, &mut critical);
            self.look_again(&mut critical, moved.len() as u32, &mut looked, &mut queue);
            let cost = self.cost();
            if cost < best {
                (best, kept) = (cost, moved.len());
            } else if moved.len() - kept > patience {
                break;
            }
        }
        for &(v, from) in moved[kept..].iter().rev() {
            self.shift(v as usize, from, &mut critical);
            critical.clear();
        }
        moved
            .into_iter()
            .for_each(|(v, _)| self.count_gains(v as usize));
        best < start
    }

    /// Queues the vertices of those nets that are small, each once, with the gains that they have after the move of this
    /// number.
    fn look_again(
        &self,
        critical: &mut Vec<u32>,
        number: u32,
        looked: &mut [u32],
        queue: &mut Queue,
    ) {
        let mut left = looked.len() - number as usize;
        for net in critical.drain(..) {
            let pins = self.graph.pins(net as usize);
            if pins.len() > SMALL_NET || left == 0 {
                continue;
            }
            for w in pins.iter().map(|&w| w as usize) {
                if looked[w] < number {
                    looked[w] = number;
                    left -= 1;
                    if let Some((gain, _)) = self.best_move(w) {
                        queue.push(w, gain);
                    }
                }
            }
        }
    }
}

/// The only pin of a net that is not in this part, where there is one.
fn outsider(held: &[Held], part: usize) -> u32 {
    held.iter()
        .enumerate()
        .filter(|(at, _)| *at != part)
        .fold(0, |vertices, (_, held)| vertices ^ held.vertices)
}

/// Stands for the number of a move at which a vertex was looked at, and is above all.
const LOCKED: u32 = u32::MAX;

/// Vertices by gain, the highest first and of equals the smaller number. A vertex may be there with several gains.
struct Queue {
    heap: BinaryHeap<(i64, Reverse<u32>)>,
    /// The gain with which a vertex was put in last, while it is there.
    last: Vec<i64>,
}

impl Queue {
    /// Stands for the gain of what is not there.
    const NONE: i64 = i64::MIN;

    /// The vertices that have a move.
    fn new(vertices: usize, best_move: impl Fn(usize) -> Option<(i64, u32)>) -> Self {
        let last: Vec<i64> = (0..vertices)
            .map(|v| best_move(v).map_or(Self::NONE, |(gain, _)| gain))
            .collect();
        let there = last
            .iter()
            .enumerate()
            .filter(|(_, gain)| **gain != Self::NONE);
        let heap = there.map(|(v, &gain)| (gain, Reverse(v as u32))).collect();
        Self { heap, last }
    }

    /// Puts a vertex in, unless that would repeat what was put in last.
    fn push(&mut self, v: usize, gain: i64) {
        if self.last[v] != gain {
            self.last[v] = gain;
            self.heap.push((gain, Reverse(v as u32)));
        }
    }

    fn pop(&mut self) -> Option<(i64, usize)> {
        let (gain, Reverse(v)) = self.heap.pop()?;
        if self.last[v as usize] == gain {
            self.last[v as usize] = Self::NONE;
        }
        Some((gain, v as usize))
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
            let mut net: Vec<u32> = (0..rng.random_range(2..7))
                .map(|_| rng.random_range(0..40))
                .collect();
            net.sort_unstable();
            net.dedup();
            pins.extend(net);
            starts.push(pins.len());
            nets.push(rng.random_range(1..4));
        }
        Hypergraph::new(
            (0..40).map(|_| rng.random_range(1..4)).collect(),
            nets,
            starts,
            pins,
        )
    }

    #[test]
    fn value_weights_and_gains_are_those_of_a_fresh_count() {
        for (seed, objective) in
            (0..40).flat_map(|seed| [(seed, NetObjective::Cut), (seed, NetObjective::Soed)])
        {
            let graph = drawn(seed);
            let labels: Vec<u32> = (0..40).map(|v| v % 4).collect();
            let mut state = Parts::new(&graph, labels, 4, objective, graph.total() * 3 / 10);
            for v in 0..40 {
                let before = state.value;
                if let Some((gain, to)) = state.best_move(v) {
                    state.shift(v, to, &mut Vec::new());
                    assert_eq!(state.value, before - gain);
                    state.count_gains(v);
                }
                let anew = Parts::new(&graph, state.labels.clone(), 4, objective, state.most);
                assert_eq!(
                    (&anew.leave, &anew.join),
                    (&state.leave, &state.join),
                    "{seed}: after {v}"
                );
            }
            let before = state.cost();
            state.refine(10, 100, &|| false);
            assert!(state.cost() <= before);
            let again = Parts::new(&graph, state.labels.clone(), 4, objective, state.most);
            assert_eq!(
                (again.value, again.weights, again.pins),
                (state.value, state.weights, state.pins)
            );
            assert_eq!((again.leave, again.join), (state.leave, state.join));
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
