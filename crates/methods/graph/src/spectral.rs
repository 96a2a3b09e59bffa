//! Spectral cuts of the graph of objects and base clusters, for LWGP and HBGF: embed the objects, group the embedded rows.

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::{
    Capabilities, Clusters, ClustersError, Flow, MethodInfo, Monitor, Objective, Outcome,
    Partition, PassRunner, ProblemSize, ProgressCounter, Seed, Sense, Settings, Weights,
};
use partita_kmeans::embedded::{Search, kmeans};
use serde::Serialize;
use tracing::info_span;

use crate::GraphError;
use crate::bipartite::{Embedding, WRITTEN_OUT, embed, embed_each};
use crate::rows::Rows;

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

/// What k-means minimises.
pub(crate) const SPECTRAL_LOSS: &str = "squared distance to the centroids of the embedding";

/// The overlaps of label rows, every one of which has a label.
pub(crate) fn counted(rows: &PassRunner<'_>) -> Result<Overlap, GraphError> {
    let overlap = Overlap::count(rows)?;
    match overlap.first_unlabelled() {
        Some(object) => Err(GraphError::Unlabelled {
            object: object.to_string(),
        }),
        None => Ok(overlap),
    }
}

/// [`counted`], once settings and K are checked and the monitor has been asked.
pub(crate) fn counted_for(
    rows: &PassRunner<'_>,
    clusters: usize,
    settings: &impl Settings,
    monitor: &dyn Monitor,
) -> Result<Overlap, GraphError> {
    let (objects, bases) = (rows.source().rows() as usize, rows.source().bases());
    settings.validate(&ProblemSize::of_bases(
        objects,
        bases,
        Clusters::Exactly(clusters),
    ))?;
    ClustersError::check(clusters, objects)?;
    if monitor.tick(0, 1) == Flow::Stop {
        Err(GraphError::Interrupted)
    } else {
        counted(rows)
    }
}

/// The normalised cut of the graph of objects and base clusters whose edges weigh as `strengths` says, one number a
/// base cluster.
pub(crate) fn cut(
    rows: &Rows<'_>,
    strengths: &[f64],
    search: &Search,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<Outcome<SpectralDiagnostics>, GraphError> {
    let progress = ProgressCounter::new(monitor, EIGENVECTORS + KMEANS);
    if progress.stopped() {
        return Err(GraphError::Interrupted);
    }
    let part = progress.part(EIGENVECTORS);
    let embedding = info_span!("eigenvectors")
        .in_scope(|| embed(rows, strengths, search.clusters, seed.child(0), &part))?;
    drop(part);
    if progress.stopped() {
        return Err(GraphError::Interrupted);
    }
    Ok(grouped(
        rows,
        embedding,
        search,
        seed,
        &progress.part(KMEANS),
    ))
}

/// [`cut`] into several numbers of clusters: the eigenvectors are looked for once.
pub(crate) fn cut_each(
    rows: &Rows<'_>,
    strengths: &[f64],
    clusters: &[usize],
    search: &Search,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<Vec<Outcome<SpectralDiagnostics>>, GraphError> {
    let progress = ProgressCounter::new(monitor, EIGENVECTORS + KMEANS * clusters.len() as u64);
    let part = progress.part(EIGENVECTORS);
    let embeddings = info_span!("eigenvectors")
        .in_scope(|| embed_each(rows, strengths, clusters, seed.child(0), &part))?;
    drop(part);
    let one = |(embedding, &clusters): (Embedding, &usize)| {
        if progress.stopped() {
            return Err(GraphError::Interrupted);
        }
        Ok(grouped(
            rows,
            embedding,
            &Search {
                clusters,
                ..*search
            },
            seed,
            &progress.part(KMEANS),
        ))
    };
    embeddings.into_iter().zip(clusters).map(one).collect()
}

/// The groups of embedded rows as the clusters of objects.
pub(crate) fn grouped(
    rows: &Rows<'_>,
    embedding: Embedding,
    search: &Search,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Outcome<SpectralDiagnostics> {
    let Embedding {
        rows: embedded,
        values,
        next,
    } = embedding;
    let view = embedded.view();
    let grouping = info_span!("k-means")
        .in_scope(|| kmeans(view, rows.weights(), search, seed.child(1), monitor));
    // The largest table of the method is not held beside what is made of its groups.
    drop(embedded);
    let labels = rows.expand(&grouping.labels);
    let partition =
        Partition::new(labels, search.clusters).expect("k-means numbers at most K groups");
    let warnings = warnings(&partition.sizes(), &values, next);
    let mut outcome = Outcome::hard(partition, rows.expand(&grouping.margins), grouping.stopped);
    outcome.warnings = warnings;
    outcome.rounds = grouping.trace.len() as u64;
    outcome.objective = Some(Objective {
        name: SPECTRAL_LOSS,
        sense: Sense::Minimise,
        value: grouping.trace.last().copied().unwrap_or(0.0),
        trace: grouping.trace,
    });
    outcome.with(SpectralDiagnostics {
        eigenvalues: values,
        distinct_rows: Some(rows.len()),
    })
}

/// A gap between the last eigenvalue of a cut and the next that is nothing, as a share of the distance of the next to 1.
const NO_GAP: f64 = 1e-3;

/// What to know of a cut before trusting it: clusters of one object, and eigenvectors that might as well be others.
pub(crate) fn warnings(sizes: &[usize], values: &[f64], next: Option<f64>) -> Vec<String> {
    let (clusters, objects) = (sizes.len(), sizes.iter().sum::<usize>());
    let single = sizes.iter().filter(|&&size| size == 1).count();
    let alone = (single > 0 && objects >= 4 * clusters).then(|| {
        format!("{single} of {clusters} clusters hold one object: the cut puts outliers apart; compare other methods, such as hbgf and mm")
    });
    let open =
        values.last().zip(next).filter(|_| values.len() == clusters && clusters > 1).and_then(|(&last, next)| {
            (last - next <= NO_GAP * (1.0 - next).max(1e-6)).then(|| {
                format!(
                    "no gap after eigenvalue {clusters} ({last:.4}, next {next:.4}): nothing in the base clusterings \
                 speaks for {clusters} clusters rather than more"
                )
            })
        });
    alone.into_iter().chain(open).collect()
}

/// Bytes that the spectral methods hold at once, at most: codes and copies of rows, the cluster graph or the Krylov
/// space, the embedding, the centroids of every initialization.
pub(crate) fn bytes(size: &ProblemSize, restarts: u32) -> u64 {
    let [n, m, side, k] = size.saturating();
    let width = (k + Saturating(k.0.clamp(4, 16).div_ceil(2))).min(side);
    let written_out = side.0 <= WRITTEN_OUT as u64;
    let graph = if written_out {
        side * side * Saturating(24)
    } else {
        side * width * Saturating(16 * 8)
    };
    let all = width * Saturating(3) >= side;
    let solver = if all {
        side * side * Saturating(40)
    } else {
        side * (width * Saturating(40)).min(side) * Saturating(8)
    };
    let centroids = k * k.min(side) * Saturating(8 * u64::from(restarts));
    (n * (m + Saturating(40) + k.min(side) * Saturating(8)) + graph + solver + centroids).0
}

/// What all methods of this crate have in common.
pub(crate) const GRAPH: MethodInfo = MethodInfo {
    name: "",
    family: "graph",
    summary: "",
    reference: "",
    certainty: "1 − distance to the own centroid / distance to the next, among the eigenvectors",
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
