//! Two parts, and moves between them (Fiduccia and Mattheyses 1982).

use super::Stop;
use super::buckets::Buckets;
use super::graph::Hypergraph;

/// A net in a cut: how many pins it has on each side, and the exclusive or of these, which is the pin where there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Net {
    counts: [u32; 2],
    pins: [u32; 2],
}

/// A cut into two sides, kept up to date move by move.
pub(crate) struct Bisection<'a> {
    graph: &'a Hypergraph,
    side: Vec<bool>,
    nets: Vec<Net>,
    weights: [i64; 2],
    vertices: [usize; 2],
    cut: i64,
}

/// What a side may weigh at most, and how many vertices it must keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) most: [i64; 2],
    pub(crate) least: [usize; 2],
}

/// A pass: what moving each vertex would gain, and which have moved. Of those that have, the gain means nothing.
struct Pass {
    gains: Vec<i64>,
    /// The move that last changed the gain of a vertex; LOCKED for those that have moved.
    changed_at: Vec<u32>,
    /// Vertices whose gain the last move changed.
    changed: Vec<u32>,
    moves: u32,
    nets: Vec<NetInPass>,
    /// Weight of the nets that stay cut.
    stays: i64,
}

#[derive(Clone, Copy, Default)]
struct NetInPass {
    /// The move that last brought the net to a state that decides gains, or took it out of one.
    critical_at: u32,
    /// Whether a vertex of the net has moved to each side: with both it stays cut.
    moved_to: [bool; 2],
}

/// Stands for the number of a move, and is above all.
const LOCKED: u32 = u32::MAX;

impl Pass {
    fn new(state: &Bisection<'_>) -> Self {
        let (n, nets) = (state.graph.len(), state.graph.nets());
        Self {
            gains: (0..n).map(|v| state.gain(v)).collect(),
            changed_at: vec![0; n],
            changed: Vec::new(),
            moves: 0,
            nets: vec![NetInPass::default(); nets],
            stays: 0,
        }
    }

    fn change(&mut self, vertex: u32, by: i64) {
        let v = vertex as usize;
        if self.changed_at[v] < self.moves {
            self.changed_at[v] = self.moves;
            self.changed.push(vertex);
        }
        self.gains[v] += by;
    }

    /// Puts the vertices whose gain has changed into their buckets, in the order of the first net that decides gains and has
    /// them: buckets hand out last what came first.
    fn update(
        &mut self,
        graph: &Hypergraph,
        side: &[bool],
        buckets: &mut [Buckets; 2],
        order: &mut Vec<(u32, u32)>,
    ) {
        let first = |v: u32| {
            graph
                .nets_of(v as usize)
                .iter()
                .find(|&&net| self.nets[net as usize].critical_at == self.moves)
        };
        for v in self.changed.drain(..) {
            if !buckets[usize::from(side[v as usize])].holds(v, self.gains[v as usize]) {
                order.push((first(v).copied().unwrap_or(u32::MAX), v));
            }
        }
        order.sort_unstable();
        for (_, v) in order.drain(..) {
            buckets[usize::from(side[v as usize])].update(v, self.gains[v as usize]);
        }
    }
}

impl<'a> Bisection<'a> {
    /// The cut that puts every vertex on the side that `side` says.
    pub(crate) fn new(graph: &'a Hypergraph, side: Vec<bool>) -> Self {
        let mut nets = vec![Net::default(); graph.nets()];
        let (mut weights, mut vertices) = ([0; 2], [0; 2]);
        for (v, &side) in side.iter().enumerate() {
            let s = usize::from(side);
            weights[s] += graph.weights()[v];
            vertices[s] += 1;
            for &net in graph.nets_of(v) {
                nets[net as usize].counts[s] += 1;
                nets[net as usize].pins[s] ^= v as u32;
            }
        }
        let is_cut = |(_, net): &(usize, &Net)| net.counts[0] > 0 && net.counts[1] > 0;
        let cut = nets
            .iter()
            .enumerate()
            .filter(is_cut)
            .map(|(net, _)| graph.net_weight(net))
            .sum();
        Self {
            graph,
            side,
            nets,
            weights,
            vertices,
            cut,
        }
    }

    /// The side of every vertex.
    pub(crate) fn into_sides(self) -> Vec<bool> {
        self.side
    }

    /// How far the cut is from good: weight and vertices out of bounds first, then the weight of the nets cut.
    pub(crate) fn cost(&self, bounds: &Bounds) -> (i64, i64) {
        let over: i64 = (0..2)
            .map(|s| (self.weights[s] - bounds.most[s]).max(0))
            .sum();
        let under: usize = (0..2)
            .map(|s| bounds.least[s].saturating_sub(self.vertices[s]))
            .sum();
        (over + under as i64, self.cut)
    }

    /// Weight of the nets that moving a vertex would take out of the cut, less of those it would put in.
    fn gain(&self, v: usize) -> i64 {
        let from = usize::from(self.side[v]);
        let of = |&net: &u32| {
            let count = self.nets[net as usize].counts;
            let weight = self.graph.net_weight(net as usize);
            i64::from(count[from] == 1) * weight - i64::from(count[1 - from] == 0) * weight
        };
        self.graph.nets_of(v).iter().map(of).sum()
    }

    /// Moves a vertex to the other side, and keeps the gains of all that have not moved in the pass right.
    fn shift(&mut self, v: usize, mut pass: Option<&mut Pass>) {
        let from = usize::from(self.side[v]);
        let to = 1 - from;
        self.side[v] = to == 1;
        let weight = self.graph.weights()[v];
        self.weights[from] -= weight;
        self.weights[to] += weight;
        self.vertices[from] -= 1;
        self.vertices[to] += 1;
        if let Some(pass) = &mut pass {
            pass.moves += 1;
            pass.changed_at[v] = LOCKED;
        }
        for &net in self.graph.nets_of(v) {
            let held = &mut self.nets[net as usize];
            let before = *held;
            held.counts[from] -= 1;
            held.counts[to] += 1;
            held.pins[from] ^= v as u32;
            held.pins[to] ^= v as u32;
            let weight = self.graph.net_weight(net as usize);
            self.cut += i64::from(before.counts[to] == 0) * weight
                - i64::from(before.counts[from] == 1) * weight;
            if let Some(pass) = &mut pass {
                self.gains_of_net(pass, net as usize, before, from);
            }
        }
    }

    /// Gains of the vertices of a net after one has left the side `from`.
    fn gains_of_net(&self, pass: &mut Pass, net: usize, before: Net, from: usize) {
        let to = 1 - from;
        let (left, joined) = (before.counts[from], before.counts[to]);
        let here = &mut pass.nets[net];
        if left <= 2 || joined <= 1 {
            here.critical_at = pass.moves;
        }
        let weight = self.graph.net_weight(net);
        let moved_to = &mut here.moved_to;
        if moved_to[0] && moved_to[1] {
            // Nobody's gain has anything to do with this net any more.
            return;
        }
        moved_to[to] = true;
        pass.stays += i64::from(moved_to[from]) * weight;
        // The net comes into the cut or leaves it: all would have brought it there, or brought it back.
        if joined == 0 || left == 1 {
            let by = weight * (i64::from(joined == 0) - i64::from(left == 1));
            self.graph
                .pins(net)
                .iter()
                .for_each(|&w| pass.change(w, by));
        }
        // Who is alone now would take it out, who was alone no longer does.
        if left == 2 {
            pass.change(self.nets[net].pins[from], weight);
        }
        if joined == 1 {
            pass.change(before.pins[to], -weight);
        }
    }

    /// Passes of Fiduccia and Mattheyses until one gains nothing: vertices move one by one, best gain first, each once
    /// a pass, losses included; the pass is taken back to its best moment. A pass ends `patience` moves after that, or when
    /// somebody wants to stop.
    pub(crate) fn refine(
        &mut self,
        bounds: &Bounds,
        passes: usize,
        patience: usize,
        stop: Stop<'_>,
    ) {
        let gain_of = |v: usize| {
            self.graph
                .nets_of(v)
                .iter()
                .map(|&net| self.graph.net_weight(net as usize))
                .sum()
        };
        let range: i64 = (0..self.graph.len()).map(gain_of).max().unwrap_or(0);
        for _ in 0..passes {
            if stop() || !self.pass(bounds, range, patience, stop) {
                return;
            }
        }
    }

    fn pass(&mut self, bounds: &Bounds, range: i64, patience: usize, stop: Stop<'_>) -> bool {
        let n = self.graph.len();
        let mut buckets = [Buckets::new(n, range), Buckets::new(n, range)];
        let mut pass = Pass::new(self);
        (0..n).for_each(|v| buckets[usize::from(self.side[v])].insert(v as u32, pass.gains[v]));
        let start = self.cost(bounds);
        let (mut best, mut kept) = (start, 0);
        let (mut moved, mut order): (Vec<u32>, _) = (Vec::new(), Vec::new());
        while let Some(v) = self.choose(bounds, &mut buckets, &pass.gains) {
            buckets[usize::from(self.side[v as usize])].remove(v);
            moved.push(v);
            self.shift(v as usize, Some(&mut pass));
            pass.update(self.graph, &self.side, &mut buckets, &mut order);
            let cost = self.cost(bounds);
            if cost < best {
                (best, kept) = (cost, moved.len());
            } else if moved.len() - kept > patience
                || (best.0 == 0 && pass.stays >= best.1)
                || stop()
            {
                // The second: what stays cut alone is no better.
                break;
            }
        }
        for v in moved.drain(kept..).rev() {
            self.shift(v as usize, None);
        }
        best < start
    }

    /// The vertex to move next: the best of either side that leaves the bounds no worse.
    fn choose(&self, bounds: &Bounds, buckets: &mut [Buckets; 2], gains: &[i64]) -> Option<u32> {
        let over = [
            self.weights[0] > bounds.most[0],
            self.weights[1] > bounds.most[1],
        ];
        let lacks = [
            self.vertices[0] < bounds.least[0],
            self.vertices[1] < bounds.least[1],
        ];
        let mut best_of = |from: usize| {
            let to = 1 - from;
            // Out of bounds, only moves that mend it.
            if self.vertices[from] <= bounds.least[from] || over[to] || (lacks[from] && !lacks[to])
            {
                return None;
            }
            let room = bounds.most[to] - self.weights[to];
            let excess = self.weights[from] - bounds.most[from];
            let mends = over[from] || lacks[to];
            buckets[from].best(|v| {
                let weight = self.graph.weights()[v as usize];
                weight <= room || (mends && (weight - room < excess || lacks[to]))
            })
        };
        match (best_of(0), best_of(1)) {
            (Some(a), Some(b)) => {
                let (of_a, of_b) = (gains[a as usize], gains[b as usize]);
                // Of equal gains, from the side that is fuller for its size.
                let fuller = self.weights[0] * bounds.most[1] >= self.weights[1] * bounds.most[0];
                Some(if of_a > of_b || (of_a == of_b && fuller) {
                    a
                } else {
                    b
                })
            }
            (a, b) => a.or(b),
        }
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
        for _ in 0..30 {
            let mut net: Vec<u32> = (0..rng.random_range(2..6))
                .map(|_| rng.random_range(0..20))
                .collect();
            net.sort_unstable();
            net.dedup();
            pins.extend(net);
            starts.push(pins.len());
            nets.push(rng.random_range(1..4));
        }
        Hypergraph::new(
            (0..20).map(|_| rng.random_range(1..4)).collect(),
            nets,
            starts,
            pins,
        )
    }

    #[test]
    fn the_cut_is_kept_up_to_date_and_never_rises() {
        for seed in 0..50 {
            let graph = drawn(seed);
            let mut state = Bisection::new(&graph, (0..20).map(|v| v % 2 == 0).collect());
            let bounds = Bounds {
                most: [graph.total() * 3 / 5; 2],
                least: [1; 2],
            };
            let before = state.cost(&bounds);
            state.refine(&bounds, 10, 100, &|| false);
            assert!(state.cost(&bounds) <= before);
            let again = Bisection::new(&graph, state.side.clone());
            assert_eq!(
                (again.cut, again.weights, &again.nets),
                (state.cut, state.weights, &state.nets)
            );
        }
    }

    #[test]
    fn gains_are_those_that_are_counted_anew() {
        for seed in 0..50 {
            let graph = drawn(seed);
            let mut rng = Seed::new(seed).child(1).rng();
            let mut state = Bisection::new(&graph, (0..20).map(|_| rng.random_bool(0.5)).collect());
            let mut pass = Pass::new(&state);
            for v in 0..20 {
                state.shift(v, Some(&mut pass));
                for w in v + 1..20 {
                    assert_eq!(pass.gains[w], state.gain(w), "{seed}: {w} after {v}");
                }
                let stays = |net: &usize| {
                    let to = |side| {
                        graph
                            .pins(*net)
                            .iter()
                            .any(|&w| w as usize <= v && state.side[w as usize] == side)
                    };
                    to(false) && to(true)
                };
                let weight: i64 = (0..graph.nets())
                    .filter(stays)
                    .map(|net| graph.net_weight(net))
                    .sum();
                assert_eq!(pass.stays, weight, "{seed}: after {v}");
            }
        }
    }

    #[test]
    fn a_side_that_is_too_heavy_or_empty_is_mended() {
        for seed in 0..20 {
            let graph = drawn(seed);
            let bounds = Bounds {
                most: [graph.total() * 11 / 20; 2],
                least: [3; 2],
            };
            let mut state = Bisection::new(&graph, vec![false; 20]);
            state.refine(&bounds, 10, 100, &|| false);
            assert_eq!(state.cost(&bounds).0, 0);
        }
    }
}
