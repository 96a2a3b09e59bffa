//! Normalised cuts of the graph of objects and base clusters: eigenvectors of the cluster graph embed the rows, k-means groups them.

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::ndarray::{Array2, Axis, Slice};
use partita_core::{
    BLOCK_ROWS, BaseClustering, Capabilities, Flow, MemoryBudget, MethodInfo, Monitor, PassRunner,
    ProblemSize, ProgressCounter, RowFit, RowSample, Seed, Weights, sums_under_way,
};
use partita_kmeans::embedded::{Search, best_start, sample_rows};
use serde::Serialize;
use tracing::info_span;

use crate::GraphError;
use crate::cluster_graph::{ClusterGraph, ClusterPlaces, written_out};
use crate::row_kmeans::{Embedding, Found, lloyd};

/// Facts about a spectral cut.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SpectralDiagnostics {
    /// Eigenvalues of the normalised graph whose eigenvectors embed the objects, the largest first.
    pub eigenvalues: Vec<f64>,
    /// Label rows that differ, where they were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct_rows: Option<usize>,
}

/// Units of progress: the search for eigenvectors, and k-means on them.
const EIGENVECTORS: u64 = 700;
const KMEANS: u64 = 300;

/// Refuses a row without any label, if there is one.
pub(crate) fn labelled(first_unlabelled: Option<u64>) -> Result<(), GraphError> {
    match first_unlabelled {
        Some(object) => Err(GraphError::Unlabelled { object }),
        None => Ok(()),
    }
}

/// The overlaps of rows, every one of which has a label, once the monitor has been asked.
pub(crate) fn counted(rows: &PassRunner<'_>, monitor: &dyn Monitor) -> Result<Overlap, GraphError> {
    if monitor.tick(0, 1) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let overlap = Overlap::count(rows)?;
    labelled(overlap.first_unlabelled())?;
    Ok(overlap)
}

/// Rows that are cut: the graph of objects and base clusters whose edges weigh as `strengths` says, one number a base cluster.
pub(crate) struct Cut<'a> {
    pub(crate) rows: &'a PassRunner<'a>,
    pub(crate) strengths: &'a [f64],
    pub(crate) seed: Seed,
    pub(crate) budget: MemoryBudget,
}

impl Cut<'_> {
    /// The normalised cut, where base clusters weigh `sizes`.
    pub(crate) fn clusters(
        &self,
        sizes: &[f64],
        search: &Search,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<SpectralDiagnostics>, GraphError> {
        let mut fits = self.each(sizes, &[search.clusters], search, monitor)?;
        Ok(fits.swap_remove(0))
    }

    /// The cuts into several numbers of clusters: the eigenvectors are looked for once.
    pub(crate) fn each(
        &self,
        sizes: &[f64],
        clusters: &[usize],
        search: &Search,
        monitor: &dyn Monitor,
    ) -> Result<Vec<RowFit<SpectralDiagnostics>>, GraphError> {
        let progress = ProgressCounter::new(monitor, EIGENVECTORS + KMEANS * clusters.len() as u64);
        if progress.stopped() {
            return Err(GraphError::Interrupted);
        }
        let most = clusters.iter().copied().max().unwrap_or(1);
        let graph = ClusterGraph::new(self.rows, sizes, self.strengths);
        let part = progress.part(EIGENVECTORS);
        let places = info_span!("eigenvectors")
            .in_scope(|| graph.places(most, self.seed.child(0), self.budget, &part))?;
        drop(part);
        let sample = sampled(self.rows, most, self.seed)?;
        let distinct_rows = sample.whole.then(|| sample.ensemble.objects());
        let one = |&clusters: &usize| {
            if progress.stopped() {
                return Err(GraphError::Interrupted);
            }
            let search = Search {
                clusters,
                ..*search
            };
            let count = clusters.min(places.values.len());
            let leading = ClusterPlaces {
                table: places
                    .table
                    .slice_axis(Axis(1), Slice::from(..count))
                    .to_owned(),
                values: places.values[..count].to_vec(),
                next: places.values.get(count).copied().or(places.next),
            };
            let part = progress.part(KMEANS);
            let (mut fit, masses) = self.grouped(&sample, &leading, &search, &part)?;
            fit.warnings = warnings(&masses, clusters, &leading.values, leading.next);
            fit.details.distinct_rows = distinct_rows;
            Ok(fit)
        };
        clusters.iter().map(one).collect()
    }

    /// The groups of rows at these places.
    pub(crate) fn at(
        &self,
        places: &ClusterPlaces,
        search: &Search,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<SpectralDiagnostics>, GraphError> {
        let sample = sampled(self.rows, search.clusters, self.seed)?;
        Ok(self.grouped(&sample, places, search, monitor)?.0)
    }

    /// The groups of rows at these places, and their weights.
    fn grouped(
        &self,
        sample: &RowSample,
        places: &ClusterPlaces,
        search: &Search,
        monitor: &dyn Monitor,
    ) -> Result<(RowFit<SpectralDiagnostics>, Vec<f64>), GraphError> {
        let _span = info_span!("k-means").entered();
        let offsets = BaseClustering::offsets(self.rows.source().bases());
        let embedding = Embedding::new(offsets, places.table.view(), self.strengths);
        let fits = |centroids: &Array2<f64>| {
            centroids.ncols() == places.table.ncols()
                && (1..=search.clusters).contains(&centroids.nrows())
        };
        let start = || {
            let rows = embedding.of(&sample.ensemble);
            best_start(
                rows.view(),
                &sample.weights,
                search,
                self.seed.child(1),
                monitor,
            )
        };
        let start = self.rows.once("graph/starts", fits, start)?;
        let Found { fit, masses } = lloyd(self.rows, embedding, &start, search, monitor)?;
        let fit = fit.map_details(|()| SpectralDiagnostics {
            eigenvalues: places.values.clone(),
            distinct_rows: None,
        });
        Ok((fit, masses))
    }
}

/// Rows that are enough to start from.
fn sampled(rows: &PassRunner<'_>, clusters: usize, seed: Seed) -> Result<RowSample, GraphError> {
    let seed = seed.child(1).child(u64::MAX);
    Ok(RowSample::draw(rows, sample_rows(clusters), seed)?)
}

/// A gap between the last eigenvalue of a cut and the next that is nothing, as a share of the distance of the next to 1.
const NO_GAP: f64 = 1e-3;

/// What to know of a cut before trusting it: clusters of one object, and eigenvectors that might as well be others.
fn warnings(masses: &[f64], clusters: usize, values: &[f64], next: Option<f64>) -> Vec<String> {
    let single = masses
        .iter()
        .filter(|&&mass| mass > 0.0 && mass <= 1.0)
        .count();
    let many = masses.iter().sum::<f64>() >= 4.0 * clusters as f64;
    let alone = (single > 0 && many).then(|| {
        format!("{single} of {clusters} clusters hold one object: the cut puts outliers apart; compare other methods, such as hbgf and mm")
    });
    let last = values.last().zip(next);
    let last = last.filter(|_| values.len() == clusters && clusters > 1);
    let open = last.and_then(|(&last, next)| {
        (last - next <= NO_GAP * (1.0 - next).max(1e-6)).then(|| {
            format!(
                "no gap after eigenvalue {clusters} ({last:.4}, next {next:.4}): nothing in the base clusterings \
                 speaks for {clusters} clusters rather than more"
            )
        })
    });
    alone.into_iter().chain(open).collect()
}

/// Bytes that a cut holds at once: the cluster graph with the tables that are under way or the products through the rows, the
/// Krylov space, and rows drawn for initializations. Seldom the search for eigenvectors wants more; it asks the budget for it then.
pub(crate) fn bytes(size: &ProblemSize, restarts: u32) -> u64 {
    let [n, m, side, k] = size.saturating();
    let levels = Saturating(u64::from((n.0 / (16 * BLOCK_ROWS) + 1).ilog2()));
    // Rows of the first sum stay rows until it is complete.
    let sums = if n.0 < 16 * BLOCK_ROWS {
        Saturating(1)
    } else {
        levels + Saturating(2 * sums_under_way(size.objects) + 2)
    };
    let width = k.min(side) + Saturating(k.0.clamp(4, 16).div_ceil(2));
    let graph = if written_out(side.0 as usize, m.0 as usize) {
        side * side * Saturating(8) * sums
    } else {
        side * width * Saturating(8) * sums.max(Saturating(6))
    };
    let solver = if width * Saturating(3) >= side {
        side * side * Saturating(40)
    } else {
        side * (width * Saturating(40)).min(side) * Saturating(8)
    };
    let most = sample_rows(k.0 as usize) as u64;
    let start = n.min(Saturating(most)) * width * Saturating(8 * (2 + u64::from(restarts.min(64))));
    (graph + solver + start + Saturating(RowSample::bytes(size, most))).0
}

/// What all methods of this crate have in common.
pub(crate) const GRAPH: MethodInfo = MethodInfo {
    name: "",
    family: "graph",
    summary: "",
    reference: "",
    time: "nM² + nK²",
    memory: "n(M + K)",
    remedy: "take fewer base clusterings or clusters",
    capabilities: Capabilities {
        base_weights: Weights::Native,
        seeded: true,
        ..Capabilities::HARD_LABELS
    },
};

/// The spectral cuts read label rows block by block where they are many.
pub(crate) const SPECTRAL: MethodInfo = MethodInfo {
    capabilities: Capabilities {
        streams: true,
        ..GRAPH.capabilities
    },
    ..GRAPH
};
