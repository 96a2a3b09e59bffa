//! Refinement: every cluster is split into parts that hang together well.

use partita_core::ProgressCounter;
use rand::{Rng, RngExt};

use crate::graph::Links;
use crate::moves::{GroupLinks, Masses, number, shuffled};

/// What counts as well connected may miss the bound by this share of it, which rounding does.
const SLACK: f64 = 1e-10;

/// Parts whose chance is e^−40 of the best part's are never drawn.
const NEVER: f64 = 40.0;

/// Parts on the way: each starts as one vertex.
struct Parts<'a> {
    masses: &'a Masses,
    /// The mass of every cluster.
    clusters: Vec<f64>,
    mass: Vec<f64>,
    /// Weight of the edges from a part to the rest of its cluster.
    cut: Vec<f64>,
    sizes: Vec<u32>,
}

impl Parts<'_> {
    /// Whether a part has as much weight to the rest of its cluster as its mass asks for.
    fn well_connected(&self, part: usize, cluster: u32) -> bool {
        let rest = self.clusters[cluster as usize] - self.mass[part];
        self.cut[part] * (1.0 + SLACK) >= self.masses.penalty * self.mass[part] * rest
    }
}

/// The part of every vertex, numbered in the order of their first vertices, and how many there are; labels of clusters are below n.
/// None where the monitor said stop.
pub(crate) fn refine(
    links: &Links,
    masses: &Masses,
    clusters: &[u32],
    rng: &mut impl Rng,
    progress: &ProgressCounter<'_>,
) -> Option<(Vec<u32>, usize)> {
    let n = clusters.len();
    let mut parts = Parts {
        masses,
        clusters: vec![0.0; n],
        mass: masses.of.clone(),
        cut: vec![0.0; n],
        sizes: vec![1; n],
    };
    for (vertex, &cluster) in clusters.iter().enumerate() {
        parts.clusters[cluster as usize] += masses.of[vertex];
        let within = links.of(vertex).filter(|&(u, _)| clusters[u] == cluster);
        parts.cut[vertex] = within.map(|(_, weight)| weight).sum();
    }
    if progress.stopped() {
        return None;
    }
    let mut labels: Vec<u32> = (0..n as u32).collect();
    let mut near = GroupLinks::new(n);
    let mut gains: Vec<(f64, u32)> = Vec::new();
    for vertex in shuffled(n, rng) {
        let vertex = vertex as usize;
        let cluster = clusters[vertex];
        // Only a vertex that is a part by itself joins another part; its part has its number until then.
        let alone = labels[vertex] as usize == vertex && parts.sizes[vertex] == 1;
        if !alone || parts.cut[vertex] == 0.0 || !parts.well_connected(vertex, cluster) {
            continue;
        }
        for (u, weight) in links.of(vertex) {
            if clusters[u] == cluster {
                near.add(labels[u], weight);
            }
        }
        // To stay alone gains 0.
        gains.push((0.0, vertex as u32));
        for &part in &near.touched {
            let weight = near.weights[part as usize];
            let gain = weight - masses.cost(vertex, parts.mass[part as usize]);
            if gain >= 0.0 && parts.well_connected(part as usize, cluster) {
                gains.push((gain, part));
            }
        }
        let to = drawn(&mut gains, masses.randomness, rng);
        if to as usize != vertex {
            let part = to as usize;
            labels[vertex] = to;
            parts.cut[part] += parts.cut[vertex] - 2.0 * near.weights[part];
            parts.mass[part] += masses.of[vertex];
            parts.sizes[part] += 1;
        }
        near.clear();
    }
    let count = number(&mut labels);
    Some((labels, count))
}

/// One of the parts, each with a chance of exp(gain/θ); the list is empty afterwards.
fn drawn(gains: &mut Vec<(f64, u32)>, theta: f64, rng: &mut impl Rng) -> u32 {
    let best = gains
        .iter()
        .fold(0.0_f64, |best, &(gain, _)| best.max(gain));
    gains.retain(|&(gain, _)| gain >= best - NEVER * theta);
    let mut chosen = gains[gains.len() - 1].1;
    if gains.len() > 1 {
        let mut sum = 0.0;
        for (gain, _) in gains.iter_mut() {
            sum += ((*gain - best) / theta).exp();
            *gain = sum;
        }
        let at = rng.random::<f64>() * sum;
        let first = gains.iter().find(|&&(upto, _)| at < upto);
        chosen = first.map_or(chosen, |&(_, part)| part);
    }
    gains.clear();
    chosen
}
