//! Plurality vote after optimal alignment.

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::ndarray::ArrayView1;
use partita_core::{
    Assigned, BaseClustering, Capabilities, Entry, FitError, Method, MethodInfo, Monitor,
    ProblemSize, Row, RowBlock, RowFit, RowLabeller, RowMap, RowProblem, SettingChoice, Settings,
    SoftBases, Stopped, Weights,
};
use partita_kmeans::labels::{base_weights, bytes};
use partita_metrics::{Alignment, BaseTables, Contingency, Surplus, align_by};
use serde::{Deserialize, Serialize};

use crate::MedianError;
use crate::error::labelled;
use crate::label_means::centre;

/// Whose labels the base clusterings take before they vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// Those of the base clustering into exactly K clusters that overlaps most with all; where there is none, those
    /// of [`KC`](crate::KC).
    #[default]
    Overlap,
    /// Those of [`KC`](crate::KC).
    Kc,
}

/// Settings of [`PLURALITY`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PluralitySettings {
    /// Whose labels the base clusterings take: overlap (those of the base clustering with K clusters that overlaps most with
    /// all), or kc.
    pub reference: Reference,
}

/// Facts about a vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VoteDiagnostics {
    /// The base clustering whose clusters were voted for, or `kc`.
    pub reference: String,
}

/// Overlaps that are not whole numbers of objects are counted in parts of one, for matchings.
const PARTS: f64 = 1e6;

/// Codes of the base clusterings for the clusters of the reference.
fn aligned(
    problem: &RowProblem<'_>,
    clusters: usize,
    settings: &PluralitySettings,
    monitor: &dyn Monitor,
) -> Result<Alignment, MedianError> {
    let bases = problem.rows.bases();
    let sizes: Vec<usize> = bases.iter().map(BaseClustering::clusters).collect();
    let scale = if problem.rows.are_whole() { 1.0 } else { PARTS };
    let parts = |objects: f64| (objects * scale).round() as u64;
    if settings.reference == Reference::Overlap {
        let overlap = Overlap::count(&problem.passes())?;
        labelled(overlap.first_unlabelled())?;
        let table = |a, b| {
            let counts = overlap.of_bases(a, b);
            Contingency::of_counts(counts.nrows(), counts.ncols(), |i, j| parts(counts[[i, j]]))
        };
        let tables = BaseTables::new(sizes.clone(), &table);
        let exact = |u: usize| live(&overlap, u) == Some(clusters);
        if let Some(reference) = tables.best_reference(problem.weights, exact) {
            let aligned = tables.align_to(reference, Surplus::Nearest);
            return Ok(aligned.expect("the reference exists"));
        }
    }
    let counts = centre(problem, clusters, monitor)?.counts;
    let offsets = BaseClustering::offsets(bases);
    Ok(align_by(&sizes, clusters, Surplus::Nearest, |u| {
        Contingency::of_counts(sizes[u], clusters, |j, k| {
            parts(counts.of(offsets[u] + j)[k])
        })
    }))
}

/// What a vote says of its reference.
pub(crate) fn diagnostics(bases: &[BaseClustering], reference: Option<usize>) -> VoteDiagnostics {
    VoteDiagnostics {
        reference: reference.map_or("kc", |u| bases[u].name()).to_owned(),
    }
}

/// Clusters of a base clustering, if all have an object.
pub(crate) fn live(overlap: &Overlap, base: usize) -> Option<usize> {
    let own = overlap.of_bases(base, base);
    own.diag()
        .iter()
        .all(|&size| size > 0.0)
        .then(|| own.nrows())
}

/// Every label votes for the cluster whose code it has.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Votes {
    offsets: Vec<usize>,
    /// The cluster that each base cluster votes for.
    codes: Vec<u32>,
    base_weights: Vec<f64>,
    clusters: usize,
}

impl RowLabeller for Votes {
    const KIND: &'static str = "median/plurality-votes";
}

impl RowMap for Votes {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let mut shares = vec![0.0; block.len() * self.clusters];
        for ((row, _), shares) in block.rows().zip(shares.chunks_exact_mut(self.clusters)) {
            for Entry {
                base,
                cluster,
                share,
            } in row.entries(&self.offsets)
            {
                shares[self.codes[cluster] as usize] += self.base_weights[base] * share;
            }
            // Eight partial sums, as ndarray adds.
            let sum = ArrayView1::from(&*shares).sum();
            shares.iter_mut().for_each(|votes| *votes /= sum);
        }
        Assigned::of_soft(shares, self.clusters)
    }
}

/// The method [`PLURALITY`].
#[derive(Debug)]
pub struct Plurality;

/// Every base clustering takes the labels of a reference by optimal matching, then objects go where most of their
/// labels say. The soft result is the share of the votes.
///
/// ```text
/// p_ik = Σ_u ω_u [code_u(ℓ_ui) = k] / Σ_u ω_u      over the base clusterings that label object i
/// ```
/// Clusters beyond the K of the reference vote for the cluster with which they share the most objects.
///
/// # Cost
/// O(n M) for the votes, O(n M E) to choose among E base clusterings with K clusters; n K numbers.
///
/// # Differences from the paper
/// An optimal matching to one reference where Dudoit and Fridlyand try all permutations; any number of clusters in
/// the base clusterings; missing labels; weights.
///
/// # References
/// Dudoit, Fridlyand, *Bagging to improve the accuracy of a clustering procedure*, Bioinformatics 2003.
pub static PLURALITY: Plurality = Plurality;

static INFO: MethodInfo = MethodInfo {
    name: "plurality",
    family: "median",
    summary: "base clusterings take the labels of a reference and vote: the simplest soft consensus",
    reference: "Dudoit, Fridlyand, Bagging to improve the accuracy of a clustering procedure, Bioinformatics 2003",
    time: "n M K",
    memory: "8 n K + 40 n bytes",
    remedy: "ask for fewer clusters",
    capabilities: Capabilities {
        soft: true,
        soft_bases: SoftBases::Native,
        base_weights: Weights::Native,
        object_weights: Weights::Native,
        seeded: true,
        streams: true,
        ..Capabilities::HARD_LABELS
    },
};

impl Method for Plurality {
    type Settings = PluralitySettings;
    type Diagnostics = VoteDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &PluralitySettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<VoteDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        let alignment = aligned(problem, clusters, settings, monitor)?;
        let bases = problem.rows.bases();
        let codes = (0..bases.len()).flat_map(|u| alignment.codes(u).iter().copied());
        let votes = Votes {
            offsets: BaseClustering::offsets(bases),
            codes: codes.collect(),
            base_weights: base_weights(bases, problem.weights),
            clusters,
        };
        let details = diagnostics(bases, alignment.reference());
        Ok(RowFit::new(clusters, Stopped::Exact, votes, details))
    }

    fn row_bytes(&self, size: &ProblemSize, _: &PluralitySettings) -> u64 {
        (Saturating(bytes(size)) + Saturating(Overlap::bytes(size))).0
    }
}
