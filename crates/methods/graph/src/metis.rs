//! Balanced graph partitions. The only module that names METIS.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use metis::option::{NCuts, Seed as MetisSeed, UFactor};
use metis::{Graph as Metis, Idx, Real};
use partita_core::{Flow, Monitor, Objective, Seed, Sense};

use crate::GraphError;

/// METIS draws from the C library's one generator: two runs at a time would share it.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The largest edge weight becomes this integer, less where the sum would leave 31 bits.
const LARGEST: f64 = 10_000.0;
const SUM: f64 = (1 << 30) as f64;

/// Bisections that METIS tries of a small graph, keeping the best: one alone may cost twice as much as the next. Of larger
/// graphs fewer, so that no more edges are looked at than this.
const CUTS: usize = 16;
const LOOKED_AT: usize = 4_000_000;

/// How often the monitor is asked while METIS works.
const ASKED: Duration = Duration::from_millis(20);

/// An undirected graph: for every vertex its weight and its neighbours with the weights of the edges, each edge twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) vertices: Vec<f64>,
    pub(crate) edges: Vec<Vec<(u32, f64)>>,
}

impl Graph {
    /// The weight of the edges between parts, as the objective of a cut into these.
    pub(crate) fn cut(&self, labels: &[u32]) -> Objective {
        let apart = |(v, near): (usize, &Vec<(u32, f64)>)| -> f64 {
            near.iter()
                .filter(|(w, _)| labels[*w as usize] != labels[v])
                .map(|(_, weight)| weight)
                .sum()
        };
        let value = self.edges.iter().enumerate().map(apart).sum::<f64>() / 2.0;
        Objective {
            name: "weight of the edges cut",
            sense: Sense::Minimise,
            value,
            trace: Vec::new(),
        }
    }
}

/// Cuts a graph into exactly `parts` parts of about the same weight, none of them empty, with few edges between them;
/// `parts` is at most the number of vertices. `imbalance` is how much heavier than its share a part may be.
///
/// Recursive bisection; METIS does each, so that what it does with more parts than vertices does not matter.
///
/// # Errors
/// [`GraphError`] where METIS refuses the graph, or the monitor asks to stop.
pub(crate) fn partition(
    graph: &Graph,
    parts: usize,
    imbalance: f64,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<Vec<u32>, GraphError> {
    let mut labels = vec![0; graph.vertices.len()];
    let mut work = vec![(
        (0..graph.vertices.len() as u32).collect::<Vec<u32>>(),
        0..parts,
    )];
    while let Some((vertices, range)) = work.pop() {
        if range.len() <= 1 {
            vertices
                .iter()
                .for_each(|&v| labels[v as usize] = range.start as u32);
            continue;
        }
        let middle = range.start + range.len() / 2;
        let (left, right) = (range.start..middle, middle..range.end);
        let mut side = bisect(
            graph,
            &vertices,
            left.len() as f64 / range.len() as f64,
            imbalance,
            seed.child((range.start * parts + range.len()) as u64),
            monitor,
        )?;
        enough(&mut side, left.len(), right.len());
        let of = |wanted: bool| {
            vertices
                .iter()
                .zip(&side)
                .filter(|(_, s)| **s == wanted)
                .map(|(&v, _)| v)
                .collect()
        };
        work.push((of(true), left));
        work.push((of(false), right));
    }
    Ok(labels)
}

/// Moves vertices, last first, until there are at least so many on the true and on the false side.
fn enough(side: &mut [bool], on_true: usize, on_false: usize) {
    let found = side.iter().filter(|s| **s).count();
    let (short, to) = if found < on_true {
        (on_true - found, true)
    } else {
        ((on_false + found).saturating_sub(side.len()), false)
    };
    side.iter_mut()
        .rev()
        .filter(|s| **s != to)
        .take(short)
        .for_each(|s| *s = to);
}

/// Whether each of some vertices is on the first side, which shall have the given share of the weight.
fn bisect(
    graph: &Graph,
    vertices: &[u32],
    share: f64,
    imbalance: f64,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<Vec<bool>, GraphError> {
    let mut place = vec![u32::MAX; graph.vertices.len()];
    vertices
        .iter()
        .enumerate()
        .for_each(|(at, &v)| place[v as usize] = at as u32);
    let inside = |v: u32| {
        graph.edges[v as usize]
            .iter()
            .filter(|(w, x)| place[*w as usize] != u32::MAX && *x > 0.0)
    };
    let all = || vertices.iter().flat_map(|&v| inside(v));
    if all().next().is_none() {
        let first = (vertices.len() as f64 * share).round() as usize;
        return Ok((0..vertices.len()).map(|at| at < first).collect());
    }
    let scale = scale(all().map(|(_, weight)| *weight));
    let vertex_scale = self::scale(vertices.iter().map(|&v| graph.vertices[v as usize]));
    let (mut starts, mut ends, mut weights) = (vec![0 as Idx], Vec::new(), Vec::new());
    for (at, &v) in vertices.iter().enumerate() {
        if at % 64 == 0 && monitor.flow() == Flow::Stop {
            return Err(GraphError::Interrupted);
        }
        for (w, x) in inside(v) {
            ends.push(place[*w as usize] as Idx);
            weights.push(whole(*x, scale));
        }
        starts
            .push(Idx::try_from(ends.len()).map_err(|_| GraphError::Edges { edges: ends.len() })?);
    }
    let heavy: Vec<Idx> = vertices
        .iter()
        .map(|&v| whole(graph.vertices[v as usize], vertex_scale))
        .collect();
    let cut = move || {
        let mut part: Vec<Idx> = vec![0; heavy.len()];
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        Metis::new(1, 2, &starts, &ends)
            .map_err(|error| GraphError::Partitioner(error.to_string()))?
            .set_vwgt(&heavy)
            .set_adjwgt(&weights)
            .set_tpwgts(&[share as Real, (1.0 - share) as Real])
            .set_option(MetisSeed((seed.number() >> 33) as Idx))
            .set_option(NCuts((LOOKED_AT / ends.len().max(1)).clamp(1, CUTS) as Idx))
            .set_option(UFactor((imbalance * 1000.0).round().clamp(1.0, 1e6) as Idx))
            .part_recursive(&mut part)
            .map_err(|error| GraphError::Partitioner(error.to_string()))?;
        Ok(part.iter().map(|&p| p == 0).collect())
    };
    in_detached_thread(cut, monitor)
}

/// Runs what cannot be interrupted in a detached thread, and waits for its result or until the monitor asks
/// to stop.
fn in_detached_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, GraphError> + Send + 'static,
    monitor: &dyn Monitor,
) -> Result<T, GraphError> {
    let (give, take) = mpsc::channel();
    // Nobody may be there any more to take it.
    let worker = thread::Builder::new()
        .name("metis".into())
        .spawn(move || drop(give.send(work())));
    worker.map_err(|error| GraphError::Partitioner(format!("no thread for it: {error}")))?;
    loop {
        match take.recv_timeout(ASKED) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(GraphError::Partitioner("it did not end".into()));
            }
            Err(RecvTimeoutError::Timeout) if monitor.flow() == Flow::Stop => {
                return Err(GraphError::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn scale(weights: impl Iterator<Item = f64>) -> f64 {
    let (largest, sum) = weights.fold((0.0_f64, 0.0), |(largest, sum), w| {
        (largest.max(w), sum + w)
    });
    if largest > 0.0 {
        (LARGEST / largest).min(SUM / sum)
    } else {
        1.0
    }
}

/// A weight, which is 0 or more, as the nearest integer, at least 1.
fn whole(weight: f64, scale: f64) -> Idx {
    // `round` is a call into the C library, once an edge.
    ((weight * scale + 0.5) as Idx).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Silent;

    /// Cliques of the given sizes, joined in a row by one light edge each where `joined`.
    fn cliques(sizes: &[usize], joined: bool) -> Graph {
        let owner: Vec<usize> = sizes
            .iter()
            .enumerate()
            .flat_map(|(k, &size)| vec![k; size])
            .collect();
        let n = owner.len();
        let weight = |i: usize, j: usize| match (owner[i] == owner[j], joined && i.abs_diff(j) == 1)
        {
            (true, _) => 1.0,
            (false, true) => 0.01,
            _ => 0.0,
        };
        let near = |i: usize| {
            (0..n)
                .filter(|&j| j != i && weight(i, j) > 0.0)
                .map(|j| (j as u32, weight(i, j)))
                .collect()
        };
        Graph {
            vertices: vec![1.0; n],
            edges: (0..n).map(near).collect(),
        }
    }

    #[test]
    fn cuts_are_as_small_as_those_of_pymetis() {
        let all: serde_json::Value =
            serde_json::from_str(include_str!("../tests/fixtures/partitions.json")).unwrap();
        for stored in all["graphs"].as_array().unwrap() {
            let edges: Vec<Vec<f64>> = serde_json::from_value(stored["edges"].clone()).unwrap();
            let n = stored["vertices"].as_u64().unwrap() as usize;
            let mut graph = Graph {
                vertices: vec![1.0; n],
                edges: vec![Vec::new(); n],
            };
            for edge in &edges {
                graph.edges[edge[0] as usize].push((edge[1] as u32, edge[2]));
                graph.edges[edge[1] as usize].push((edge[0] as u32, edge[2]));
            }
            for (parts, theirs) in stored["cut"].as_object().unwrap() {
                let cost = |seed| {
                    let labels = partition(
                        &graph,
                        parts.parse().unwrap(),
                        0.05,
                        Seed::new(seed),
                        &Silent,
                    )
                    .unwrap();
                    let apart = edges
                        .iter()
                        .filter(|edge| labels[edge[0] as usize] != labels[edge[1] as usize]);
                    apart.map(|edge| edge[2]).sum::<f64>()
                };
                let (ours, theirs) = (
                    (0..10).map(cost).sum::<f64>() / 10.0,
                    theirs.as_f64().unwrap(),
                );
                assert!(
                    ours <= 1.02 * theirs,
                    "{} into {parts}: {ours} against {theirs}",
                    stored["name"]
                );
            }
        }
    }

    #[test]
    fn cliques_are_found_joined_or_not() {
        for joined in [false, true] {
            let labels = partition(
                &cliques(&[6, 6, 6, 6], joined),
                4,
                0.05,
                Seed::new(1),
                &Silent,
            )
            .unwrap();
            assert!(
                (0..24).all(|i| labels[i] == labels[i / 6 * 6]),
                "{labels:?}"
            );
            let between = if joined { 0.03 } else { 0.0 };
            assert!((cliques(&[6, 6, 6, 6], joined).cut(&labels).value - between).abs() < 1e-12);
        }
    }

    #[test]
    fn every_number_of_parts_is_answered_on_every_graph() {
        let empty = Graph {
            vertices: vec![1.0; 7],
            edges: vec![Vec::new(); 7],
        };
        for graph in [
            empty,
            cliques(&[7], false),
            cliques(&[3, 4], false),
            cliques(&[1, 1, 5], true),
        ] {
            for parts in 1..=7 {
                let mut labels = partition(&graph, parts, 0.05, Seed::new(1), &Silent).unwrap();
                labels.sort_unstable();
                labels.dedup();
                assert_eq!(labels, (0..parts as u32).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn metis_is_not_waited_for_once_somebody_asks_to_stop() {
        struct Stop;
        impl Monitor for Stop {
            fn tick(&self, _done: u64, _total: u64) -> Flow {
                Flow::Stop
            }

            fn flow(&self) -> Flow {
                Flow::Stop
            }
        }
        let start = std::time::Instant::now();
        let slow = || {
            thread::sleep(Duration::from_secs(5));
            Ok(())
        };
        assert!(matches!(
            in_detached_thread(slow, &Stop),
            Err(GraphError::Interrupted)
        ));
        assert!(start.elapsed() < Duration::from_secs(2));
        assert_eq!(in_detached_thread(|| Ok(7), &Silent).unwrap(), 7);
    }
}
