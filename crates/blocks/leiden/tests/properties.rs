//! Leiden beside the definition of its objectives, and what it promises.

use partita_core::{Flow, Monitor, ProgressCounter, Seed, Silent};
use partita_leiden::{Graph, GraphError, Leiden, LeidenSettings, Objective, leiden};
use rand::RngExt;

type Edge = (usize, usize, f64);

fn run(graph: &Graph, settings: &LeidenSettings, seed: u64) -> Leiden {
    let progress = ProgressCounter::new(&Silent, 1);
    leiden(graph, settings, Seed::new(seed), &progress).expect("nobody says stop")
}

fn settings(objective: Objective, resolution: f64) -> LeidenSettings {
    LeidenSettings::default()
        .with_objective(objective)
        .with_resolution(resolution)
}

/// Edges between vertices, each with this chance and a weight in quarters; some twice, some of a vertex to itself.
fn drawn(vertices: usize, chance: f64, seed: u64) -> Vec<Edge> {
    let mut rng = Seed::new(seed).rng();
    let mut edges = Vec::new();
    for a in 0..vertices {
        for b in a..vertices {
            if rng.random::<f64>() < chance {
                edges.push((a, b, f64::from(rng.random_range(1..9)) / 4.0));
            }
        }
    }
    let again: Vec<Edge> = edges.iter().step_by(5).copied().collect();
    edges.extend(again);
    edges
}

/// Groups of `size` vertices that are joined at random, more within than between.
fn planted(groups: usize, size: usize, seed: u64) -> Vec<Edge> {
    let mut rng = Seed::new(seed).rng();
    let mut edges = Vec::new();
    for a in 0..groups * size {
        for b in a + 1..groups * size {
            let chance = if a / size == b / size { 0.5 } else { 0.02 };
            if rng.random::<f64>() < chance {
                edges.push((a, b, 1.0));
            }
        }
    }
    edges
}

/// The adjacency matrix, the weight of an edge to itself twice on the diagonal.
fn matrix(vertices: usize, edges: &[Edge]) -> Vec<Vec<f64>> {
    let mut matrix = vec![vec![0.0; vertices]; vertices];
    for &(a, b, weight) in edges {
        matrix[a][b] += weight;
        matrix[b][a] += weight;
    }
    matrix
}

/// The definition, over all pairs.
fn by_definition(matrix: &[Vec<f64>], labels: &[u32], objective: Objective, gamma: f64) -> f64 {
    let strengths: Vec<f64> = matrix.iter().map(|row| row.iter().sum()).collect();
    let total: f64 = strengths.iter().sum();
    let mut sum = 0.0;
    for (i, row) in matrix.iter().enumerate() {
        for (j, &weight) in row.iter().enumerate() {
            if labels[i] == labels[j] {
                sum += weight
                    - gamma
                        * match objective {
                            Objective::Cpm => f64::from(u8::from(i != j)),
                            _ => strengths[i] * strengths[j] / total,
                        };
            }
        }
    }
    match objective {
        Objective::Modularity => sum / total,
        Objective::Cpm => sum / 2.0,
        _ => sum,
    }
}

/// The largest value that any clustering has, by enumeration of all.
fn optimum(matrix: &[Vec<f64>], objective: Objective, gamma: f64) -> f64 {
    let mut labels = vec![0_u32; matrix.len()];
    let mut best = f64::NEG_INFINITY;
    loop {
        best = best.max(by_definition(matrix, &labels, objective, gamma));
        // The next restricted growth string: a label is at most one above those before it.
        let grows = |i: &usize| {
            labels[..*i]
                .iter()
                .max()
                .is_some_and(|&most| labels[*i] <= most)
        };
        let Some(i) = (1..labels.len()).rev().find(grows) else {
            return best;
        };
        labels[i] += 1;
        labels[i + 1..].fill(0);
    }
}

fn is_connected(matrix: &[Vec<f64>], labels: &[u32], cluster: u32) -> bool {
    let members: Vec<usize> = (0..labels.len())
        .filter(|&i| labels[i] == cluster)
        .collect();
    let mut reached = vec![members[0]];
    let mut next = 0;
    while next < reached.len() {
        let from = reached[next];
        let more = members.iter().filter(|&&i| matrix[from][i] > 0.0);
        let more: Vec<usize> = more.filter(|i| !reached.contains(i)).copied().collect();
        reached.extend(more);
        next += 1;
    }
    reached.len() == members.len()
}

#[test]
fn the_optimum_of_small_graphs_is_found_and_the_quality_is_the_definition() {
    let (mut asked, mut missed) = (0, 0);
    for seed in 0..60 {
        let n = 2 + seed as usize % 7;
        let edges = drawn(n, 0.45, seed);
        let (graph, matrix) = (
            Graph::from_edges(n, edges.clone()).unwrap(),
            matrix(n, &edges),
        );
        if edges.is_empty() {
            continue;
        }
        for objective in Objective::ALL {
            for gamma in [0.3, 1.0, 1.7] {
                let found = |seed| {
                    let found = run(&graph, &settings(objective, gamma), seed);
                    let quality = graph.quality(&found.labels, objective, gamma);
                    let exact = by_definition(&matrix, &found.labels, objective, gamma);
                    assert!((quality - exact).abs() < 1e-9, "{quality} {exact}");
                    quality
                };
                let best = (0..10).map(found).fold(f64::NEG_INFINITY, f64::max);
                let optimum = optimum(&matrix, objective, gamma);
                asked += 1;
                // Greedy moves have traps (graph 20 is one of leidenalg too): what they lead to is little less.
                if best < optimum - 1e-9 {
                    missed += 1;
                    assert!(
                        best > 0.95 * optimum,
                        "graph {seed}, {objective}, {gamma}: {best} < {optimum}"
                    );
                }
            }
        }
    }
    assert!(asked > 500 && 100 * missed <= asked, "{missed} of {asked}");
}

#[test]
fn clusters_are_connected_and_no_vertex_gains_by_a_move() {
    for seed in 0..12 {
        let n = 90;
        let edges = drawn(n, 0.04, seed);
        let (graph, matrix) = (
            Graph::from_edges(n, edges.clone()).unwrap(),
            matrix(n, &edges),
        );
        for (objective, gamma) in [
            (Objective::Modularity, 1.0),
            (Objective::Modularity, 0.1),
            (Objective::RbConfiguration, 3.0),
            (Objective::Cpm, 0.2),
        ] {
            let found = run(&graph, &settings(objective, gamma), seed);
            let clusters = found.clusters as u32;
            assert!((0..clusters).all(|c| is_connected(&matrix, &found.labels, c)));
            let quality = by_definition(&matrix, &found.labels, objective, gamma);
            for vertex in 0..n {
                for to in 0..=clusters {
                    let mut moved = found.labels.clone();
                    moved[vertex] = to;
                    let other = by_definition(&matrix, &moved, objective, gamma);
                    assert!(
                        other < quality + 1e-9,
                        "{objective} {gamma}: {vertex} to {to}"
                    );
                }
            }
        }
    }
}

#[test]
fn planted_groups_are_found() {
    let graph = Graph::from_edges(240, planted(8, 30, 1)).unwrap();
    for (objective, gamma) in [(Objective::Modularity, 1.0), (Objective::Cpm, 0.2)] {
        let found = run(&graph, &settings(objective, gamma), 3);
        assert_eq!(found.clusters, 8);
        assert!((0..240).all(|i| found.labels[i] == i as u32 / 30));
    }
}

#[test]
fn neither_order_nor_unit_changes_what_is_found() {
    let edges = drawn(60, 0.08, 5);
    let graph = Graph::from_edges(60, edges.clone()).unwrap();
    let turned = edges.iter().rev().map(|&(a, b, weight)| (b, a, weight));
    assert_eq!(Graph::from_edges(60, turned).unwrap(), graph);
    let halves = edges
        .iter()
        .flat_map(|&(a, b, w)| [(a, b, w / 2.0), (b, a, w / 2.0)]);
    assert_eq!(Graph::from_edges(60, halves).unwrap(), graph);
    let entries = matrix(60, &edges);
    let entries = entries.iter().enumerate().flat_map(|(i, row)| {
        row.iter()
            .enumerate()
            .map(move |(j, &weight)| (i, j, weight))
    });
    assert_eq!(Graph::from_symmetric(60, entries).unwrap(), graph);
    let usual = LeidenSettings::default();
    for unit in [1.0 / 1024.0, 3.0, 1e90] {
        let scaled = edges.iter().map(|&(a, b, weight)| (a, b, weight * unit));
        let scaled = Graph::from_edges(60, scaled).unwrap();
        for seed in 0..5 {
            assert_eq!(
                run(&scaled, &usual, seed),
                run(&graph, &usual, seed),
                "{unit}"
            );
        }
    }
}

#[test]
fn isolated_vertices_and_edges_to_oneself() {
    let found = |n, edges: &[Edge], gamma| {
        let graph = Graph::from_edges(n, edges.iter().copied()).unwrap();
        run(&graph, &LeidenSettings::default().with_resolution(gamma), 0)
    };
    assert!(found(0, &[], 1.0).labels.is_empty());
    assert_eq!(found(3, &[(1, 1, 2.0), (0, 2, 0.0)], 1.0).labels, [0, 1, 2]);
    assert_eq!(found(4, &[(1, 3, 1.0)], 1.0).labels, [0, 1, 2, 1]);
    // A heavy edge to oneself makes a vertex too heavy for its neighbour.
    assert_eq!(found(2, &[(0, 1, 1.0)], 1.0).clusters, 1);
    assert_eq!(
        found(4, &[(0, 1, 1.0), (0, 0, 9.0), (2, 3, 1.0)], 9.0).labels,
        [0, 1, 2, 2]
    );
    // Resolution 0: the connected parts.
    assert_eq!(
        found(5, &[(0, 1, 1.0), (1, 4, 0.1), (2, 3, 1.0)], 0.0).labels,
        [0, 0, 1, 1, 0]
    );
}

#[test]
fn a_part_of_a_graph_is_the_graph_of_its_edges() {
    let edges = drawn(40, 0.2, 8);
    let kept: Vec<usize> = (0..40).filter(|i| i % 3 != 0).collect();
    let place = |i: usize| kept.binary_search(&i).ok();
    let inside = edges
        .iter()
        .filter_map(|&(a, b, w)| Some((place(a)?, place(b)?, w)));
    let graph = Graph::from_edges(40, edges.clone()).unwrap();
    assert_eq!(
        graph.induced(&kept),
        Graph::from_edges(kept.len(), inside).unwrap()
    );
}

#[test]
fn what_is_no_graph_is_refused() {
    let message = |edges: &[Edge]| {
        Graph::from_edges(3, edges.iter().copied())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(&[(0, 1, 1.0), (0, 3, 1.0)]),
        "edge 1 names vertex 3 of a graph of 3 vertices; they count from 0"
    );
    for weight in [-1.0, f64::NAN, f64::INFINITY, 1e-200] {
        assert!(
            message(&[(0, 1, weight)]).starts_with(&format!("edge 0 (0 to 1) weighs {weight}; "))
        );
    }
    let matrix = [(0, 1, 2.0), (1, 0, 2.0), (2, 1, 1.0)];
    assert_eq!(
        Graph::from_symmetric(3, matrix),
        Err(GraphError::NotSymmetric {
            row: 2,
            column: 1,
            value: 1.0,
            mirrored: 0.0
        })
    );
}

#[test]
fn it_stops_when_asked() {
    struct Never;
    impl Monitor for Never {
        fn tick(&self, _: u64, _: u64) -> Flow {
            Flow::Stop
        }
    }
    let graph = Graph::from_edges(240, planted(8, 30, 1)).unwrap();
    let progress = ProgressCounter::new(&Never, 1);
    assert_eq!(
        leiden(&graph, &LeidenSettings::default(), Seed::new(1), &progress),
        None
    );
}

#[test]
fn a_share_of_the_edges_keeps_vertices_loops_and_weights() {
    let edges = drawn(80, 0.3, 5);
    let graph = Graph::from_edges(80, edges).unwrap();
    let thin = graph.thinned(0.25, &mut Seed::new(3).rng());
    assert_eq!(thin.vertices(), 80);
    assert!((graph.edges() / 6..graph.edges() / 3).contains(&thin.edges()));
    let whole: Vec<Edge> = graph.entries().collect();
    assert!(thin.entries().all(|edge| whole.contains(&edge)));
    let loops = |graph: &Graph| graph.entries().filter(|edge| edge.0 == edge.1).count();
    assert_eq!(loops(&thin), loops(&graph));
    assert_eq!(graph.thinned(1.0, &mut Seed::new(3).rng()), graph);
}
