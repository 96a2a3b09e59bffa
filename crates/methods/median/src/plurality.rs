//! Plurality vote after optimal alignment.

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::ndarray::{Array2, ArrayView1, Axis};
use partita_core::{
    Assigned, BaseClustering, BaseWeights, Capabilities, Ensemble, EnsembleRows, Entry, FitError,
    Method, MethodInfo, Monitor, Outcome, Partition, PassRunner, Problem, ProblemSize, Row,
    RowBlock, RowFit, RowLabeller, RowMap, RowProblem, Seed, SettingChoice, Settings, Silent,
    SoftBases, SoftPartition, Stopped, WeightedEnsemble, Weights,
};
use partita_kmeans::labels::{Counts, LabelChoice, base_weights};
use partita_metrics::{
    Alignment, BaseTables, Contingency, Surplus, align_by, align_to, align_to_partition,
    best_reference,
};
use serde::{Deserialize, Serialize};

use crate::criterion::Criterion;
use crate::error::{check, check_rows, labelled};
use crate::fractional_rows::{FractionalMeans, FractionalRows};
use crate::label_means::{solve_rows, solve_weighted};
use crate::{LabelMeansSettings, MedianError, kc};

/// Whose labels the base clusterings take before they vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// Those of the base clustering into exactly K clusters that overlaps most with all; where there is none, those
    /// of [`kc`].
    #[default]
    Overlap,
    /// Those of [`kc`].
    Kc,
}

/// Settings of [`plurality`]. Start from `default()` and change what you mean to change.
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
/// # Errors
/// [`MedianError`] if K is out of range, weights do not fit, or an object has no label.
///
/// # References
/// Dudoit, Fridlyand, *Bagging to improve the accuracy of a clustering procedure*, Bioinformatics 2003.
pub fn plurality(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &PluralitySettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<VoteDiagnostics>, MedianError> {
    let source = WeightedEnsemble {
        ensemble,
        base_weights: weights,
        object_weights: None,
    };
    plurality_weighted(source, clusters, seed, settings, monitor)
}

/// [`plurality`] where objects may have weights, and base clusterings may be soft: a share votes for so much.
pub(crate) fn plurality_weighted(
    source: WeightedEnsemble<'_>,
    clusters: usize,
    seed: Seed,
    settings: &PluralitySettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<VoteDiagnostics>, MedianError> {
    let (ensemble, weights) = (source.ensemble, source.base_weights);
    let _span = tracing::info_span!("plurality", objects = ensemble.objects(), clusters).entered();
    check(ensemble, weights, clusters, settings)?;
    if let Some(rows) = FractionalRows::where_needed(source) {
        return fractional_votes(&rows, source, clusters, seed, settings, monitor);
    }
    let exact =
        |u: usize| settings.reference == Reference::Overlap && live(ensemble, u) == clusters;
    let alignment = if let Some(reference) = best_reference(ensemble, weights, exact) {
        align_to(ensemble, reference, Surplus::Nearest).expect("the reference exists")
    } else {
        let partition = centre(ensemble, weights, clusters, seed, monitor)?;
        align_to_partition(ensemble, &partition, Surplus::Nearest)
            .expect("they label the same objects")
    };
    let source = EnsembleRows::new(ensemble);
    let rows = PassRunner::new(&source, &Silent);
    let votes = Votes::new(&rows, &alignment, weights, clusters);
    let soft = soft_of(&rows, &votes, clusters)?;
    Ok(Outcome::soft(soft, Stopped::Exact).with(diagnostics(&rows, alignment.reference())))
}

/// Overlaps in whole parts of an object, for matchings: shares are counted in millionths.
const PARTS: f64 = 1e6;

fn fractional_votes(
    rows: &FractionalRows<'_>,
    source: WeightedEnsemble<'_>,
    clusters: usize,
    seed: Seed,
    settings: &PluralitySettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<VoteDiagnostics>, MedianError> {
    let (ensemble, weights) = (source.ensemble, source.base_weights);
    let (sizes, offsets): (Vec<usize>, _) = (
        ensemble
            .bases()
            .iter()
            .map(BaseClustering::clusters)
            .collect(),
        ensemble.offsets(),
    );
    let parts = |count: f64| (count * PARTS).round() as u64;
    let overlap = Overlap::of_shares(&ensemble.shares(), offsets.clone(), source.multiplicities());
    let table = |a: usize, b: usize| {
        let counts = overlap.of_bases(a, b);
        Contingency::of_counts(counts.nrows(), counts.ncols(), |i, j| parts(counts[[i, j]]))
    };
    let exact =
        |u: usize| settings.reference == Reference::Overlap && live_among(&overlap, u) == clusters;
    let tables = BaseTables::new(sizes.clone(), &table);
    let alignment = if let Some(u) = tables.best_reference(weights, exact) {
        tables
            .align_to(u, Surplus::Nearest)
            .expect("the reference exists")
    } else {
        let found = solve_weighted(
            Criterion::Kc,
            source,
            clusters,
            seed,
            &LabelMeansSettings::default(),
            monitor,
        )?;
        let labels = found.partition.labels();
        let of_rows: Vec<u32> = (0..rows.len())
            .map(|row| labels[rows.first_object(row)])
            .collect();
        let sums = FractionalMeans::of(rows, &of_rows, clusters).sums;
        let count = |u: usize, j: usize, k: usize| parts(sums[(offsets[u] + j) * clusters + k]);
        align_by(&sizes, clusters, Surplus::Nearest, |u| {
            Contingency::of_counts(sizes[u], clusters, |j, k| count(u, j, k))
        })
    };
    let base_weights = base_weights(ensemble.bases(), weights);
    let codes: Vec<u32> = (0..sizes.len())
        .flat_map(|u| alignment.codes(u).iter().copied())
        .collect();
    let mut soft = Array2::<f64>::zeros((rows.len(), clusters));
    for (row, mut votes) in soft.outer_iter_mut().enumerate() {
        rows.entries(row)
            .for_each(|(u, c, share)| votes[codes[c] as usize] += base_weights[u] * share);
        let sum = votes.sum();
        votes /= sum;
    }
    let soft = soft.select(Axis(0), &rows.row_of_object());
    let soft = SoftPartition::new(soft).expect("shares of votes are on the simplex");
    let reference = alignment
        .reference()
        .map_or("kc", |u| ensemble.bases()[u].name())
        .to_owned();
    Ok(Outcome::soft(soft, Stopped::Exact).with(VoteDiagnostics { reference }))
}

/// [`plurality`] over label rows that are not held, with the same votes: one pass for the overlaps of base clusters ([`Overlap`])
/// says which reference is best and who takes which label. Where [`kc`] has to find the reference it is
/// [`kc_rows`](crate::kc_rows), which starts otherwise.
///
/// # Cost
/// O(n M²) time and (ΣJ)² numbers for the overlaps; O(n M) for the votes.
///
/// # Errors
/// As [`plurality`], and [`MedianError::Pass`] when rows cannot be read.
pub fn plurality_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &PluralitySettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<VoteDiagnostics>, MedianError> {
    check_rows(rows, weights, clusters, settings)?;
    let alignment = match settings.reference {
        Reference::Kc => None,
        Reference::Overlap => aligned_by_overlap(rows, weights, clusters)?,
    };
    let alignment = match alignment {
        Some(alignment) => alignment,
        None => aligned_by_kc(rows, weights, clusters, seed, monitor)?,
    };
    let votes = Votes::new(rows, &alignment, weights, clusters);
    Ok(RowFit::new(
        clusters,
        Stopped::Exact,
        votes,
        diagnostics(rows, alignment.reference()),
    ))
}

/// Codes of the base clustering into K clusters that overlaps most with all; none if there is none.
fn aligned_by_overlap(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
) -> Result<Option<Alignment>, MedianError> {
    let overlap = Overlap::count(rows)?;
    labelled(overlap.first_unlabelled())?;
    let exact = |u: usize| live_among(&overlap, u) == clusters;
    let table = |a, b| {
        let counts = overlap.of_bases(a, b);
        Contingency::of_counts(counts.nrows(), counts.ncols(), |i, j| counts[[i, j]] as u64)
    };
    let tables = BaseTables::new(cluster_counts(rows), &table);
    let reference = tables.best_reference(weights, exact);
    Ok(reference.map(|u| {
        tables
            .align_to(u, Surplus::Nearest)
            .expect("the reference exists")
    }))
}

fn aligned_by_kc(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<Alignment, MedianError> {
    let (counts, _) = centre_rows(rows, weights, clusters, seed, monitor)?;
    let (sizes, offsets) = (
        cluster_counts(rows),
        BaseClustering::offsets(rows.source().bases()),
    );
    let table = |u: usize| {
        Contingency::of_counts(sizes[u], clusters, |j, k| {
            counts.of(offsets[u] + j)[k] as u64
        })
    };
    Ok(align_by(&sizes, clusters, Surplus::Nearest, table))
}

fn cluster_counts(rows: &PassRunner<'_>) -> Vec<usize> {
    rows.source()
        .bases()
        .iter()
        .map(BaseClustering::clusters)
        .collect()
}

pub(crate) fn diagnostics(rows: &PassRunner<'_>, reference: Option<usize>) -> VoteDiagnostics {
    VoteDiagnostics {
        reference: reference
            .map_or("kc", |u| rows.source().bases()[u].name())
            .to_owned(),
    }
}

/// What a soft [`RowMap`] says of all rows.
pub(crate) fn soft_of(
    rows: &PassRunner<'_>,
    map: &impl RowMap<Out = Assigned>,
    clusters: usize,
) -> Result<SoftPartition, MedianError> {
    let objects = rows.source().rows() as usize;
    let mut soft = Vec::with_capacity(objects * clusters);
    rows.each(map, &mut |_, assigned| {
        soft.extend(assigned.soft.unwrap_or_default());
        Ok(())
    })?;
    let soft = Array2::from_shape_vec((objects, clusters), soft).expect("K shares an object");
    Ok(SoftPartition::new(soft).expect("shares of votes are on the simplex"))
}

/// The partition of [`kc`], a reference for base clusterings none of which will do.
pub(crate) fn centre(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<Partition, MedianError> {
    Ok(kc(
        ensemble,
        weights,
        clusters,
        seed,
        &LabelMeansSettings::default(),
        monitor,
    )?
    .partition)
}

/// Counts of labels by cluster of the partition of [`kc_rows`](crate::kc_rows), and which cluster a row is in.
pub(crate) fn centre_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<(Counts, LabelChoice), MedianError> {
    let settings = LabelMeansSettings::default();
    let (_, counts, choice) = solve_rows(
        Criterion::Kc,
        rows,
        weights,
        clusters,
        seed,
        &settings,
        monitor,
    )?;
    Ok((counts, choice))
}

/// [`live`] from the overlaps.
pub(crate) fn live_among(overlap: &Overlap, base: usize) -> usize {
    let own = overlap.of_bases(base, base);
    if own.diag().iter().all(|&size| size > 0.0) {
        own.nrows()
    } else {
        usize::MAX
    }
}

/// Clusters of a base clustering that have an object, if its numbers have no gaps; else one more than can be had.
pub(crate) fn live(ensemble: &Ensemble, base: usize) -> usize {
    let clusters = ensemble.bases()[base].clusters();
    let mut seen = vec![false; clusters];
    ensemble.column(base).flatten().for_each(|j| seen[j] = true);
    if seen.iter().all(|&seen| seen) {
        clusters
    } else {
        usize::MAX
    }
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

impl Votes {
    fn new(
        rows: &PassRunner<'_>,
        alignment: &Alignment,
        weights: Option<&BaseWeights>,
        clusters: usize,
    ) -> Self {
        let bases = rows.source().bases();
        let codes = (0..bases.len())
            .flat_map(|u| alignment.codes(u).iter().copied())
            .collect();
        Self {
            offsets: BaseClustering::offsets(bases),
            codes,
            base_weights: base_weights(bases, weights),
            clusters,
        }
    }
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

/// Bytes of a search for the reference, as kc makes it with its own defaults.
pub(crate) fn centre_bytes(size: &ProblemSize) -> Saturating<u64> {
    Saturating(crate::label_means::bytes(
        size,
        LabelMeansSettings::default().restarts.get(),
    ))
}

/// [`centre_bytes`] where rows are not held.
pub(crate) fn centre_row_bytes(size: &ProblemSize) -> Saturating<u64> {
    Saturating(crate::label_means::row_bytes(
        size,
        LabelMeansSettings::default().restarts.get(),
    ))
}

/// [`plurality`] as a method.
#[derive(Debug)]
pub struct Plurality;

/// Plurality vote after alignment, [`plurality`].
pub static PLURALITY: Plurality = Plurality;

static INFO: MethodInfo = MethodInfo {
    name: "plurality",
    family: "median",
    summary: "base clusterings take the labels of a reference and vote: the simplest soft consensus",
    reference: "Dudoit, Fridlyand, Bagging to improve the accuracy of a clustering procedure, Bioinformatics 2003",
    certainty: "share of the votes",
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

    fn bytes(&self, size: &ProblemSize, _settings: &PluralitySettings) -> u64 {
        let [n, _, side, k] = size.saturating();
        let soft = side * side * Saturating(16 * u64::from(size.soft_shares > 0));
        (centre_bytes(size) + n * k * Saturating(16) + soft).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &PluralitySettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<VoteDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(plurality_weighted(
            problem.weighted(),
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &PluralitySettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<VoteDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(plurality_rows(
            &problem.passes(),
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &PluralitySettings) -> u64 {
        match settings.reference {
            Reference::Kc => centre_row_bytes(size).0,
            Reference::Overlap => (centre_row_bytes(size) + Saturating(Overlap::bytes(size))).0,
        }
    }
}
