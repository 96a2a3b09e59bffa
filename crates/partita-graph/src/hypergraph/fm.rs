//! Two parts, and moves between them (Fiduccia and Mattheyses 1982).

use super::Stop;
use super::buckets::Buckets;
use super::graph::Hypergraph;

/// A cut into two sides, kept up to date move by move.
pub(crate) struct Bisection<'a> {
    graph: &'a Hypergraph,
    side: Vec<bool>,
    /// Pins of every net on each side.
    counts: Vec<[u32; 2]>,
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

/// What moving each vertex would gain. Of vertices that have moved in a pass it means nothing.
struct Gains {
    of: Vec<i64>,
    /// Vertices whose gain may be another one, in the order in which they were met.
    changed: Vec<u32>,
}

impl<'a> Bisection<'a> {
    /// The cut that puts every vertex on the side that `side` says.
    pub(crate) fn new(graph: &'a Hypergraph, side: Vec<bool>) -> Self {
        let mut counts = vec![[0; 2]; graph.nets()];
        let (mut weights, mut vertices) = ([0; 2], [0; 2]);
        for (v, &side) in side.iter().enumerate() {
            let s = usize::from(side);
            weights[s] += graph.weights()[v];
            vertices[s] += 1;
            graph.nets_of(v).iter().for_each(|&net| counts[net as usize][s] += 1);
        }
        let is_cut = |&(_, count): &(usize, &[u32; 2])| count[0] > 0 && count[1] > 0;
        let cut = counts.iter().enumerate().filter(is_cut).map(|(net, _)| graph.net_weight(net)).sum();
        Self { graph, side, counts, weights, vertices, cut }
    }

    /// The side of every vertex.
    pub(crate) fn into_sides(self) -> Vec<bool> {
        self.side
    }

    /// How far the cut is from good: weight and vertices out of bounds first, then the weight of the nets cut.
    pub(crate) fn cost(&self, bounds: &Bounds) -> (i64, i64) {
        let over: i64 = (0..2).map(|s| (self.weights[s] - bounds.most[s]).max(0)).sum();
        let under: usize = (0..2).map(|s| bounds.least[s].saturating_sub(self.vertices[s])).sum();
        (over + under as i64, self.cut)
    }

    /// Weight of the nets that moving a vertex would take out of the cut, less of those it would put in.
    fn gain(&self, v: usize) -> i64 {
        let from = usize::from(self.side[v]);
        let of = |&net: &u32| {
            let count = self.counts[net as usize];
            let weight = self.graph.net_weight(net as usize);
            i64::from(count[from] == 1) * weight - i64::from(count[1 - from] == 0) * weight
        };
        self.graph.nets_of(v).iter().map(of).sum()
    }

    /// Moves a vertex to the other side, and keeps the gains of all others right.
    fn shift(&mut self, v: usize, mut gains: Option<&mut Gains>) {
        let from = usize::from(self.side[v]);
        let to = 1 - from;
        self.side[v] = to == 1;
        let weight = self.graph.weights()[v];
        self.weights[from] -= weight;
        self.weights[to] += weight;
        self.vertices[from] -= 1;
        self.vertices[to] += 1;
        for &net in self.graph.nets_of(v) {
            let count = &mut self.counts[net as usize];
            let before = *count;
            count[from] -= 1;
            count[to] += 1;
            let weight = self.graph.net_weight(net as usize);
            self.cut += i64::from(before[to] == 0) * weight - i64::from(before[from] == 1) * weight;
            let Some(gains) = &mut gains else { continue };
            // Of those that stay behind one may be alone now, and all would have put the net into the cut; of those that are joined
            // one was alone, and all put the net into the cut that has just left it.
            let behind = weight * (i64::from(before[from] == 2) + i64::from(before[to] == 0));
            let joined = weight * (i64::from(before[to] == 1) + i64::from(before[from] == 1));
            if behind > 0 || joined > 0 {
                for &w in self.graph.pins(net as usize) {
                    gains.of[w as usize] += if usize::from(self.side[w as usize]) == from { behind } else { -joined };
                    gains.changed.push(w);
                }
            }
        }
    }

    /// Passes of Fiduccia and Mattheyses until one gains nothing: vertices move one by one, best gain first, each once
    /// a pass, losses included; the pass is taken back to its best moment. A pass ends `patience` moves after that, or when
    /// somebody wants to stop.
    pub(crate) fn refine(&mut self, bounds: &Bounds, passes: usize, patience: usize, stop: Stop<'_>) {
        let gain_of = |v: usize| self.graph.nets_of(v).iter().map(|&net| self.graph.net_weight(net as usize)).sum();
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
        let mut gains = Gains { of: (0..n).map(|v| self.gain(v)).collect(), changed: Vec::new() };
        (0..n).for_each(|v| buckets[usize::from(self.side[v])].insert(v as u32, gains.of[v]));
        let start = self.cost(bounds);
        let (mut best, mut kept) = (start, 0);
        let mut moved: Vec<u32> = Vec::new();
        while let Some(v) = self.choose(bounds, &mut buckets, &gains.of) {
            buckets[usize::from(self.side[v as usize])].remove(v);
            moved.push(v);
            self.shift(v as usize, Some(&mut gains));
            for w in gains.changed.drain(..) {
                buckets[usize::from(self.side[w as usize])].update(w, gains.of[w as usize]);
            }
            let cost = self.cost(bounds);
            if cost < best {
                (best, kept) = (cost, moved.len());
            } else if moved.len() - kept > patience || stop() {
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
        let over = [self.weights[0] > bounds.most[0], self.weights[1] > bounds.most[1]];
        let lacks = [self.vertices[0] < bounds.least[0], self.vertices[1] < bounds.least[1]];
        let mut best_of = |from: usize| {
            let to = 1 - from;
            // Out of bounds, only moves that mend it.
            if self.vertices[from] <= bounds.least[from] || over[to] || (lacks[from] && !lacks[to]) {
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
                Some(if of_a > of_b || (of_a == of_b && fuller) { a } else { b })
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
            let mut net: Vec<u32> = (0..rng.random_range(2..6)).map(|_| rng.random_range(0..20)).collect();
            net.sort_unstable();
            net.dedup();
            pins.extend(net);
            starts.push(pins.len());
            nets.push(rng.random_range(1..4));
        }
        Hypergraph::new((0..20).map(|_| rng.random_range(1..4)).collect(), nets, starts, pins)
    }

    #[test]
    fn the_cut_is_kept_up_to_date_and_never_rises() {
        for seed in 0..50 {
            let graph = drawn(seed);
            let mut state = Bisection::new(&graph, (0..20).map(|v| v % 2 == 0).collect());
            let bounds = Bounds { most: [graph.total() * 3 / 5; 2], least: [1; 2] };
            let before = state.cost(&bounds);
            state.refine(&bounds, 10, 100, &|| false);
            assert!(state.cost(&bounds) <= before);
            let again = Bisection::new(&graph, state.side.clone());
            assert_eq!((again.cut, again.weights, &again.counts), (state.cut, state.weights, &state.counts));
        }
    }

    #[test]
    fn gains_are_those_that_are_counted_anew() {
        for seed in 0..50 {
            let graph = drawn(seed);
            let mut rng = Seed::new(seed).child(1).rng();
            let mut state = Bisection::new(&graph, (0..20).map(|_| rng.random_bool(0.5)).collect());
            let mut gains = Gains { of: (0..20).map(|v| state.gain(v)).collect(), changed: Vec::new() };
            for v in 0..20 {
                state.shift(v, Some(&mut gains));
                for w in v + 1..20 {
                    assert_eq!(gains.of[w], state.gain(w), "{seed}: {w} after {v}");
                }
            }
        }
    }

    #[test]
    fn a_side_that_is_too_heavy_or_empty_is_mended() {
        for seed in 0..20 {
            let graph = drawn(seed);
            let bounds = Bounds { most: [graph.total() * 11 / 20; 2], least: [3; 2] };
            let mut state = Bisection::new(&graph, vec![false; 20]);
            state.refine(&bounds, 10, 100, &|| false);
            assert_eq!(state.cost(&bounds).0, 0);
        }
    }
}
