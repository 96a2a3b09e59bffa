//! Coarsening: vertices that share heavy small nets become one.

use std::cmp::Reverse;

use rand::Rng;
use rand::seq::SliceRandom;

use super::Stop;
use super::graph::Hypergraph;

/// Of a larger net only so many pins around the vertex are looked at, in a small hypergraph more. Where neighbours in number
/// are alike, as label rows in lexicographic order are, little is lost.
const WINDOW: usize = 48;

/// Pins that a level of a small hypergraph may look at.
const LOOKED_AT: usize = 20_000_000;

/// A level has at most this share fewer vertices than the one before.
const LEAST_LEFT: f64 = 0.4;

/// Coarsening ends where it leaves more than this share.
const STUCK: f64 = 0.95;

/// One coarsening step: the coarse hypergraph and the coarse vertex of every vertex.
pub(crate) struct Level {
    pub(crate) graph: Hypergraph,
    pub(crate) group: Vec<u32>,
}

/// Coarser and coarser hypergraphs, until at most `target` vertices are left, no more join or somebody wants to stop. Vertices of
/// different `parts` never join.
pub(crate) fn coarsen(
    graph: &Hypergraph,
    parts: Option<&[u32]>,
    target: usize,
    rng: &mut impl Rng,
    stop: Stop<'_>,
) -> Vec<Level> {
    // Vertices that outgrow a coarse vertex' fair share would leave no balanced cut to find.
    let heaviest = (graph.total() * 3 / (2 * target as i64)).max(1);
    let mut levels: Vec<Level> = Vec::new();
    let mut parts = parts.map(<[u32]>::to_vec);
    loop {
        let fine = levels.last().map_or(graph, |level| &level.graph);
        if fine.len() <= target {
            return levels;
        }
        let (group, groups) = join(fine, parts.as_deref(), heaviest, target, rng, stop);
        if groups as f64 > STUCK * fine.len() as f64 || stop() {
            return levels;
        }
        let coarse = fine.contracted(&group, groups);
        if let Some(parts) = &mut parts {
            let mut of_group = vec![0; groups];
            group
                .iter()
                .zip(parts.iter())
                .for_each(|(&g, &part)| of_group[g as usize] = part);
            *parts = of_group;
        }
        levels.push(Level {
            graph: coarse,
            group,
        });
    }
}

/// Every vertex, in random order, joins the group that it shares most with: net weight over pins less one, over the
/// group's weight.
fn join(
    graph: &Hypergraph,
    parts: Option<&[u32]>,
    heaviest: i64,
    target: usize,
    rng: &mut impl Rng,
    stop: Stop<'_>,
) -> (Vec<u32>, usize) {
    let n = graph.len();
    let mut head: Vec<u32> = (0..n as u32).collect();
    let mut joined = vec![false; n];
    let mut weights = graph.weights().to_vec();
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.shuffle(rng);
    let least = ((n as f64 * LEAST_LEFT) as usize).max(target);
    let mut left = n;
    let window = (LOOKED_AT / graph.all_pins().max(1)).max(WINDOW);
    let (places, starts) = graph.places();
    let mut shared = Shared::new(n);
    for v in order.into_iter().map(|v| v as usize) {
        if left <= least || stop() {
            break;
        }
        if joined[v] {
            continue;
        }
        shared.add_up(graph, v, &places[starts[v]..], window, &head);
        let fits = |&&g: &&u32| {
            let together = weights[g as usize] + weights[v] <= heaviest;
            together && parts.is_none_or(|parts| parts[g as usize] == parts[v])
        };
        let score = |&g: &u32| {
            (
                shared.with[g as usize] / weights[g as usize].max(1) as f64,
                Reverse(g),
            )
        };
        let better = |best: (f64, Reverse<u32>), next| if next > best { next } else { best };
        let best = shared
            .groups()
            .iter()
            .filter(|&&g| g as usize != v)
            .filter(fits)
            .map(score)
            .reduce(better);
        shared.clear();
        if let Some((_, Reverse(g))) = best {
            head[v] = g;
            (joined[v], joined[g as usize]) = (true, true);
            weights[g as usize] += weights[v];
            left -= 1;
        }
    }
    numbered(&head)
}

/// What a vertex shares with every group, and which groups these are.
struct Shared {
    with: Vec<f64>,
    /// The first `count` are groups that share something.
    groups: Vec<u32>,
    count: usize,
    /// The pins of every net of the vertex that are looked at.
    windows: Vec<(f64, usize, usize)>,
}

impl Shared {
    fn new(vertices: usize) -> Self {
        Self {
            with: vec![0.0; vertices],
            groups: vec![0; vertices + 1],
            count: 0,
            windows: Vec::new(),
        }
    }

    /// Adds up what a vertex shares with the groups of its nets' pins. `places` are those of the vertex among the pins of its nets.
    fn add_up(
        &mut self,
        graph: &Hypergraph,
        v: usize,
        places: &[u32],
        window: usize,
        head: &[u32],
    ) {
        self.windows.clear();
        let mut touched = 0;
        for (&net, &place) in graph.nets_of(v).iter().zip(places) {
            let pins = graph.pins(net as usize);
            let weight = graph.net_weight(net as usize) as f64 / (pins.len() - 1) as f64;
            let start = (place as usize)
                .saturating_sub(window / 2)
                .min(pins.len().saturating_sub(window));
            let end = pins.len().min(start + window);
            self.windows.push((weight, start, end));
            // All windows are fetched from memory at once, not one after the other.
            touched ^= pins[start..end]
                .iter()
                .step_by(16)
                .fold(pins[end - 1], |all, &w| all ^ w);
        }
        std::hint::black_box(touched);
        for (&net, &(weight, start, end)) in graph.nets_of(v).iter().zip(&self.windows) {
            let pins = &graph.pins(net as usize)[start..end];
            self.count = add(
                pins,
                weight,
                head,
                &mut self.with,
                &mut self.groups,
                self.count,
            );
        }
    }

    fn groups(&self) -> &[u32] {
        &self.groups[..self.count]
    }

    fn clear(&mut self) {
        self.groups[..self.count]
            .iter()
            .for_each(|&g| self.with[g as usize] = 0.0);
        self.count = 0;
    }
}

/// Adds a weight to the group of every pin; puts groups that had nothing behind the `count` first and returns how many there are.
#[inline(never)]
fn add(
    pins: &[u32],
    weight: f64,
    head: &[u32],
    with: &mut [f64],
    groups: &mut [u32],
    mut count: usize,
) -> usize {
    for &w in pins {
        let g = head[w as usize];
        let with = &mut with[g as usize];
        // Written always and kept when new: no branch to predict.
        groups[count] = g;
        count += usize::from(*with == 0.0);
        *with += weight;
    }
    count
}

/// Groups numbered in the order of their first vertices, so that neighbours in number stay neighbours.
fn numbered(head: &[u32]) -> (Vec<u32>, usize) {
    let mut number = vec![u32::MAX; head.len()];
    let mut groups = 0;
    let mut of = |&g: &u32| {
        let number = &mut number[g as usize];
        if *number == u32::MAX {
            *number = groups;
            groups += 1;
        }
        *number
    };
    let group = head.iter().map(&mut of).collect();
    (group, groups as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;

    /// Pairs joined by heavy nets, in a ring of light ones.
    fn pairs(count: u32) -> Hypergraph {
        let heavy = (0..count).flat_map(|i| [2 * i, 2 * i + 1]);
        let light = (0..count).flat_map(|i| [2 * i + 1, (2 * i + 2) % (2 * count)]);
        let pins: Vec<u32> = heavy.chain(light).collect();
        let weights = (0..2 * count)
            .map(|i| if i < count { 50 } else { 1 })
            .collect();
        Hypergraph::new(
            vec![1; 2 * count as usize],
            weights,
            (0..=2 * count as usize).map(|i| 2 * i).collect(),
            pins,
        )
    }

    #[test]
    fn heavy_nets_are_contracted_first_and_weight_is_kept() {
        let graph = pairs(32);
        let levels = coarsen(&graph, None, 8, &mut Seed::new(1).rng(), &|| false);
        let first = &levels[0];
        let together = (0..32)
            .filter(|&i| first.group[2 * i] == first.group[2 * i + 1])
            .count();
        assert!(together >= 26, "{together}");
        assert!(levels.iter().all(|level| level.graph.total() == 64));
        assert!(levels.last().unwrap().graph.len() <= 16);
    }

    #[test]
    fn parts_stay_apart_and_large_nets_do_not_stop_it() {
        let graph = Hypergraph::new(vec![1; 400], vec![1], vec![0, 400], (0..400).collect());
        let parts: Vec<u32> = (0..400).map(|v| v % 2).collect();
        let levels = coarsen(&graph, Some(&parts), 20, &mut Seed::new(1).rng(), &|| false);
        let mut group: Vec<u32> = (0..400).collect();
        for level in &levels {
            group.iter_mut().for_each(|g| *g = level.group[*g as usize]);
        }
        assert!(levels.last().unwrap().graph.len() < 60);
        for a in 0..400 {
            assert!((0..400).all(|b| group[a] != group[b] || parts[a] == parts[b]));
        }
    }
}
