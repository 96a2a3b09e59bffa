//! Hypergraph partitioning algorithm.

use std::num::Saturating;

use partita_core::ndarray::ArrayView2;
use partita_core::{
    BaseWeights, Capabilities, Ensemble, FitError, Flow, LEAF_WEIGHTS, Label, LabelRows, Method,
    MethodInfo, Monitor, Objective, Outcome, Partition, Problem, ProblemSize, Sense, Settings,
    SoftBases, Stopped, Weights, whole_multiplicities,
};
use serde::{Deserialize, Serialize};
use tracing::info_span;

use crate::GraphError;
use crate::hypergraph::{Found, Hypergraph, NetObjective, partition};
use crate::rows::{Rows, by_base};
use crate::spectral::GRAPH;

/// Weights of base clusterings become integers: those that they are in proportion to, up to this sum, or the mean is this one.
const UNIT: f64 = 1000.0;
const LARGEST_SUM: u32 = 1_000_000;

/// What a weight of 1 becomes.
fn unit(weights: Option<&BaseWeights>) -> f64 {
    let mean =
        |whole: Vec<u32>| whole.iter().copied().map(f64::from).sum::<f64>() / whole.len() as f64;
    weights.map_or(1.0, |weights| weights.whole(LARGEST_SUM).map_or(UNIT, mean))
}

/// Settings of [`HGPA`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct HgpaSettings {
    /// What a base cluster that is cut costs: cut counts it once, soed its parts.
    pub objective: NetObjective,
    /// How much heavier than its share a cluster may be, as a share of that: 0.05 is 5 %.
    #[setting(range = 0.0..=1000.0)]
    pub imbalance: f64,
    /// Partitions from scratch; the cheapest is kept.
    #[setting(range = 0..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: u32,
}

/// Facts about a cut of the hypergraph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HgpaDiagnostics {
    /// Base clusters that can be cut: those of more than one label row.
    pub hyperedges: usize,
    /// Label rows that differ.
    pub distinct_rows: usize,
}

impl Default for HgpaSettings {
    fn default() -> Self {
        Self {
            objective: NetObjective::Soed,
            imbalance: 0.05,
            restarts: 2,
        }
    }
}

/// The cheapest of several partitions.
fn cheapest(
    problem: &Problem<'_>,
    clusters: usize,
    settings: &HgpaSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<HgpaDiagnostics>, GraphError> {
    let weights = problem.weights;
    let rows = Rows::new(problem.weighted());
    // Rows in lexicographic order, so that vertices that share hyperedges are close in number.
    let order = lexicographic(rows.ensemble());
    let graph = hypergraph(&rows, &order, weights);
    let parts = clusters.min(graph.len());
    let total = u64::from(settings.restarts.max(1));
    let mut best: Option<Found> = None;
    let mut stopped = Stopped::Converged;
    let stop = || monitor.flow() == Flow::Stop;
    for restart in 0..total {
        if monitor.tick(restart, total) == Flow::Stop {
            stopped = Stopped::Interrupted;
            break;
        }
        let seed = problem.seed.child(restart);
        let search = || {
            partition(
                &graph,
                parts,
                settings.imbalance,
                settings.objective,
                seed,
                &stop,
            )
        };
        let found = info_span!("partition").in_scope(search);
        if let Some(found) =
            found.filter(|found| best.as_ref().is_none_or(|best| found.cost < best.cost))
        {
            best = Some(found);
        }
        if stop() {
            stopped = Stopped::Interrupted;
            break;
        }
    }
    let found = best.ok_or(GraphError::Interrupted)?;
    let mut of_row = vec![0; rows.len()];
    order
        .iter()
        .zip(&found.labels)
        .for_each(|(&row, &label)| of_row[row as usize] = label);
    let partition =
        Partition::new(rows.expand(&of_row), clusters).expect("as many parts as clusters");
    let mut outcome = Outcome::hard(partition, stopped);
    outcome.objective = Some(Objective {
        name: "weight of the hyperedges cut",
        sense: Sense::Minimise,
        value: found.cost.1 as f64 / unit(weights),
        trace: Vec::new(),
    });
    Ok(outcome.with(HgpaDiagnostics {
        hyperedges: graph.nets(),
        distinct_rows: rows.len(),
    }))
}

/// The rows as vertices in the given order, the base clusters as nets.
fn hypergraph(rows: &Rows, order: &[u32], weights: Option<&BaseWeights>) -> Hypergraph {
    let mut place = vec![0u32; order.len()];
    order
        .iter()
        .enumerate()
        .for_each(|(at, &row)| place[row as usize] = at as u32);
    let side = rows.offsets().last().copied().unwrap_or(0);
    let mut ends = vec![0usize; side + 1];
    rows.for_each(|_, clusters| {
        clusters.iter().for_each(|&c| ends[c as usize + 1] += 1);
    });
    (0..side).for_each(|c| ends[c + 1] += ends[c]);
    let mut free = ends.clone();
    let mut pins = vec![0u32; ends[side]];
    rows.for_each(|row, clusters| {
        for &c in clusters {
            pins[free[c as usize]] = place[row];
            free[c as usize] += 1;
        }
    });
    let unit = unit(weights);
    let weights = by_base(rows.offsets(), weights);
    // Nets of one vertex, or of none, are never cut.
    let (mut starts, mut kept, mut nets) = (vec![0], Vec::with_capacity(pins.len()), Vec::new());
    for (c, range) in ends
        .windows(2)
        .enumerate()
        .filter(|(_, range)| range[1] - range[0] > 1)
    {
        kept.extend_from_slice(&pins[range[0]..range[1]]);
        starts.push(kept.len());
        nets.push(((weights[c] * unit).round() as i64).max(1));
    }
    let heavy = whole_multiplicities(rows.weights(), LEAF_WEIGHTS);
    let vertices = order
        .iter()
        .map(|&row| i64::from(heavy[row as usize]))
        .collect();
    Hypergraph::new(vertices, nets, starts, kept)
}

/// Rows sorted by their labels.
fn lexicographic(ensemble: &Ensemble) -> Vec<u32> {
    fn sorted<L: Label>(rows: ArrayView2<'_, L>) -> Vec<u32> {
        let mut order: Vec<u32> = (0..rows.nrows() as u32).collect();
        let row = |i: u32| rows.row(i as usize);
        order.sort_by(|&a, &b| row(a).iter().cmp(row(b).iter()));
        order
    }
    match ensemble.rows() {
        LabelRows::Bytes(rows) => sorted(rows),
        LabelRows::Words(rows) => sorted(rows),
    }
}

/// Hypergraph partitioning as a method: [`HGPA`].
#[derive(Debug)]
pub struct Hgpa;

/// Hypergraph partitioning (Strehl and Ghosh 2002): every base cluster is a hyperedge that joins its objects; cut the
/// objects into K parts of about the same size so that few hyperedges are cut.
///
/// ```text
/// cut:   minimise  Σ w_C        over base clusters C in more than one part
/// soed:  minimise  Σ w_C λ(C)   over the same, λ(C) the number of parts that C is in
/// ```
/// Objects with the same label row are one vertex of their number's weight and stay together, so there are no more
/// clusters than different rows; an object is left out of the hyperedges of base clusterings that do not label it. The
/// partitioner is a multilevel one of our own: coarsening by heavy hyperedges, cuts from scratch, Fiduccia–Mattheyses
/// refinement, recursive bisection, then V-cycles that move objects between all parts.
///
/// # Cost
/// O(n M (K + 48)) time a level and pass, the levels being of geometrically falling size; 8 n M bytes a level, and (n + ΣJ) K
/// numbers.
///
/// # Differences from the paper
/// The paper calls hMETIS, and counts hyperedges cut; the default here is `soed`, which goes on telling partitions
/// apart when large hyperedges are cut anyway. Missing labels, weights of base clusterings, weights of objects (those of vertices).
///
/// # References
/// A. Strehl, J. Ghosh: Cluster ensembles, a knowledge reuse framework for combining multiple partitions, JMLR 3, 2002.
/// C. M. Fiduccia, R. M. Mattheyses: A linear-time heuristic for improving network partitions, DAC 1982.
/// G. Karypis, V. Kumar: Multilevel k-way hypergraph partitioning, VLSI Design 11(3), 2000.
pub static HGPA: Hgpa = Hgpa;

static INFO: MethodInfo = MethodInfo {
    name: "hgpa",
    summary: "cuts the objects into parts of about the same size so that few base clusters are cut",
    reference: "Strehl and Ghosh 2002, JMLR 3",
    time: "nMK a pass",
    memory: "nM",
    capabilities: Capabilities {
        soft_bases: SoftBases::Refused(
            "a hyperedge joins objects wholly or not at all; mcla and cspa take shares",
        ),
        object_weights: Weights::Native,
        ..GRAPH.capabilities
    },
    ..GRAPH
};

impl Method for Hgpa {
    type Settings = HgpaSettings;
    type Diagnostics = HgpaDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, _settings: &HgpaSettings) -> u64 {
        // Rows, pins both ways on all levels and in the halves of a cut, gains; counts.
        let [n, m, side, k] = size.saturating();
        let of_rows = n * (m * Saturating(33) + k * Saturating(8) + Saturating(200));
        (of_rows + side * (k * Saturating(16) + Saturating(100))).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &HgpaSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<HgpaDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(cheapest(problem, clusters, settings, monitor)?)
    }
}
