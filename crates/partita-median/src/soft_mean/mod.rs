//! Soft means: the memberships that are closest to those of all base clusterings after their columns are matched.

mod matching;
mod passes;
mod rows;
mod sums;

use std::convert::Infallible;
use std::num::{NonZeroU32, Saturating};

use partita_core::ndarray::{Array2, ArrayView1, ArrayView2, s};
use partita_core::{
    BaseWeights, Capabilities, Clusters, Ensemble, FitError, Flow, Method, MethodInfo, Monitor, MultiStart,
    ObjectWeights, Objective, Outcome, Partition, Problem, ProblemSize, ProgressCounter, RowFit, RowProblem, Seed,
    Sense, SettingChoice, Settings, SoftBases, SoftPartition, Stopped, WeightedEnsemble, Weights,
};
use partita_kmeans::labels::{base_weights, quick_partition};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::check;
use crate::{MEDIAN_VI, MedianError, MedianViSettings, median_vi};
pub use passes::soft_mean_rows;
pub(crate) use passes::{Matched, SumBase, SumMeans};
use rows::{RunningMean, WeightedShares};
use sums::MeanSums;

/// Rounds of a start before the best go on, and how many of them do at least; of many starts a quarter goes on.
const ROUGH_ROUNDS: u32 = 3;
const FINALISTS: usize = 2;

/// Units of progress: the median, a start that runs for a few rounds, and one that goes on.
const MEDIAN: u64 = 3_000;
const ROUGH: u64 = 200;
const FINAL: u64 = 600;

/// How many columns of the consensus a base cluster may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnMatching {
    /// One-to-one for base clusterings with at most K clusters, merge for those with more.
    #[default]
    Auto,
    /// Every base cluster has a column of its own; those beyond K are spread evenly over all columns.
    OneToOne,
    /// Base clusters may share a column; all go to one of the K.
    Merge,
}

impl ColumnMatching {
    /// Whether the clusters of a base clustering that has so many may share columns.
    fn merges(self, own: usize, clusters: usize) -> bool {
        self == Self::Merge || self == Self::Auto && own > clusters
    }
}

/// What the rows of the consensus may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
pub enum ConsensusRows {
    /// Any shares that sum to 1 (method SE of clue).
    #[default]
    Soft,
    /// One cluster (method HE of clue). The probabilities are then those of the matched columns.
    Hard,
}

/// How the columns are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
pub enum MatchingOrder {
    /// All base clusterings again and again until nothing improves.
    #[default]
    Search,
    /// One base clustering after the other, each once, to the mean of those before (method DWH of clue).
    Stream,
}

/// Settings of [`soft_mean`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SoftMeanSettings {
    /// Whether base clusters may share a column: one-to-one, merge, or auto (merge where a base clustering has more than K clusters).
    pub matching: ColumnMatching,
    /// What rows of the consensus may be: soft (shares), or hard (one cluster).
    pub rows: ConsensusRows,
    /// How columns are matched: search (all, until nothing improves), or stream (each once, to the mean of those before).
    pub order: MatchingOrder,
    /// Starts: k-means on labels, base clusterings with K clusters, random matchings, by turns; median-vi first where base clusters share
    /// columns. All run for 3 rounds, the best quarter goes on, and the best is kept.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// Rounds of each, at most.
    #[setting(alias = "max_iter")]
    pub rounds: NonZeroU32,
    /// Stop when a round gains at most this share.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for SoftMeanSettings {
    fn default() -> Self {
        let number = |number| NonZeroU32::new(number).expect("above 0");
        Self {
            matching: ColumnMatching::default(),
            rows: ConsensusRows::default(),
            order: MatchingOrder::default(),
            restarts: number(12),
            rounds: number(100),
            tolerance: 1.5e-8,
        }
    }
}

/// Facts about a soft mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SoftMeanDiagnostics {
    /// Base clusterings whose clusters may share a column.
    pub merged: usize,
    /// The objective of every start that went on to the end.
    pub objectives: Vec<f64>,
    /// Of the same starts, the share of squares that the consensus leaves, as a mean over its columns: the least is kept where base
    /// clusters share columns.
    pub unexplained: Vec<f64>,
}

/// The consensus memberships that are closest to those of all base clusterings, when the columns of each are matched to them.
///
/// ```text
/// min over Y (n × K, rows on the simplex, or one-hot) and matchings Π_u   Σ_u w_u Σ_i v_i ‖Y_i − (Q_u Π_u)_i‖²
/// ```
///
/// | paper | here |
/// |---|---|
/// | Q_u | shares of the objects in the clusters of base clustering u; a missing row does not count |
/// | Π_u | the column of every base cluster: one each, or several to one column (merge) |
/// | w_u, v_i | weights of base clusterings and objects |
///
/// Matchings and rows are found in turn, so the objective falls in every round. A base clustering with more than K clusters has columns
/// beyond the K: one-to-one spreads the shares in them evenly, merge gives every one of its clusters to one of the K.
///
/// Merging has an optimum of no use, since nothing is lost where all base clusters go to one column. So the search then starts from
/// [`median_vi`] too, and of all starts it keeps the one that leaves the least share of squares, as a mean over the columns:
///
/// ```text
/// (1/K) Σ_k  Σ_ui w_u v_i (x_uik − y_ik)² / Σ_ui w_u v_i (x_uik − mean of x_u·k)²,    x_u = Q_u Π_u;  1 where all x_·k are equal
/// ```
///
/// # Cost
/// O(restarts · rounds · (n M r K + M J³)) time for r shares of an object in a base clustering; 16 n K + 12 n M r bytes.
///
/// # Differences from the paper
/// Starts from k-means on labels and from base clusterings too, where clue starts at random; base clusterings may be merged; missing rows;
/// weights.
///
/// # Errors
/// [`MedianError`] if K is out of range, weights or settings do not fit, or an object has no label.
///
/// # References
/// Dimitriadou, Weingessel, Hornik, *A combination scheme for fuzzy clustering*, Int. J. Pattern Recognition 16 (2002); Gordon, Vichi,
/// *Fuzzy partition models for fitting a set of partitions*, Psychometrika 66 (2001); Hornik, *A CLUE for CLUster Ensembles*, J. Stat.
/// Software 14 (2005).
#[doc(alias("clue", "SE", "HE", "DWH", "fuzzy consensus"))]
pub fn soft_mean(
    ensemble: &Ensemble,
    weights: (Option<&BaseWeights>, Option<&ObjectWeights>),
    clusters: usize,
    seed: Seed,
    settings: &SoftMeanSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<SoftMeanDiagnostics>, MedianError> {
    let _span = tracing::info_span!("soft-mean", objects = ensemble.objects(), clusters).entered();
    check(ensemble, weights.0, clusters, settings)?;
    let base_weights = base_weights(ensemble.bases(), weights.0);
    let shares = ensemble.shares();
    let object_weights = weights.1.map(ObjectWeights::as_slice);
    let rows = WeightedShares::new(&shares, ensemble.offsets(), base_weights, object_weights, clusters);
    let search = Search::new(&rows, settings, monitor);
    let source = WeightedEnsemble { ensemble, base_weights: weights.0, object_weights: weights.1 };
    let runs = match settings.order {
        MatchingOrder::Stream => vec![search.stream(source, seed)],
        MatchingOrder::Search => search.multi_start(source, seed),
    };
    Ok(search.outcome(runs))
}

/// One start and where it led.
struct Run {
    codes: Vec<u32>,
    sums: MeanSums,
    trace: Vec<f64>,
    stopped: Stopped,
}

impl Run {
    /// Columns of base clusters, and the sums over the rows that are closest to them.
    fn new(codes: Vec<u32>, sums: MeanSums) -> Self {
        Self { codes, trace: vec![sums.loss], sums, stopped: Stopped::RoundLimit }
    }

    /// Matchings and rows in turn, until the run is over or has so many rounds.
    fn go_on<E>(
        &mut self,
        columns: &Columns,
        (rounds, tolerance): (u32, f64),
        monitor: &dyn Monitor,
        sums: impl Fn(&[u32]) -> Result<MeanSums, E>,
    ) -> Result<(), E> {
        while self.stopped == Stopped::RoundLimit && self.trace.len() <= rounds as usize {
            let codes = columns.matched(self.sums.products(), Some(&self.codes));
            if codes == self.codes {
                self.stopped = Stopped::Converged;
                break;
            }
            let sums = sums(&codes)?;
            if self.sums.loss - sums.loss <= tolerance * self.sums.loss {
                self.stopped = Stopped::Converged;
                break;
            }
            self.trace.push(sums.loss);
            (self.codes, self.sums) = (codes, sums);
            if monitor.tick(self.trace.len() as u64 - 1, u64::from(rounds)) == Flow::Stop {
                self.stopped = Stopped::Interrupted;
            }
        }
        Ok(())
    }
}

/// What says which of some runs is best.
fn values(runs: &[Run], merges: bool) -> Vec<f64> {
    runs.iter().map(|run| if merges { run.sums.unexplained() } else { run.sums.loss }).collect()
}

/// The columns that base clusters may go to.
struct Columns {
    offsets: Vec<usize>,
    /// Clusters of the consensus, K.
    clusters: usize,
    /// Products of the shares within each base clustering whose clusters may share a column; none for the others.
    co_shares: Vec<Option<Array2<f64>>>,
}

impl Columns {
    fn new(
        offsets: &[usize],
        clusters: usize,
        matching: ColumnMatching,
        co_shares: impl Fn(usize) -> Array2<f64> + Sync,
    ) -> Self {
        let merges = |u: usize| matching.merges(offsets[u + 1] - offsets[u], clusters);
        let co_shares = (0..offsets.len() - 1).into_par_iter().map(|u| merges(u).then(|| co_shares(u)));
        Self { offsets: offsets.to_vec(), clusters, co_shares: co_shares.collect() }
    }

    fn merges(&self) -> bool {
        self.co_shares.iter().any(Option::is_some)
    }

    /// Columns that a base clustering may be matched to one by one: K, or its own number where that is larger.
    fn wide(&self, u: usize) -> usize {
        let own = self.offsets[u + 1] - self.offsets[u];
        if self.co_shares[u].is_some() { self.clusters } else { own.max(self.clusters) }
    }

    /// The columns of all base clusters that fit rows best, from `codes` on where there are some.
    fn matched(&self, products: ArrayView2<'_, f64>, codes: Option<&[u32]>) -> Vec<u32> {
        let bases = self.offsets.windows(2).enumerate();
        let base = |(u, ends): (usize, &[usize])| {
            self.matched_base(u, products.slice(s![ends[0]..ends[1], ..]), codes.map(|codes| &codes[ends[0]..ends[1]]))
        };
        bases.flat_map(base).collect()
    }

    /// The columns of one base clustering by its products (J × K).
    fn matched_base(&self, u: usize, products: ArrayView2<'_, f64>, codes: Option<&[u32]>) -> Vec<u32> {
        let Some(co_shares) = &self.co_shares[u] else { return matching::one_to_one(products, self.wide(u)) };
        let largest = |row: ArrayView1<'_, f64>| {
            (1..row.len()).fold(0, |best, at| if row[at] > row[best] { at } else { best }) as u32
        };
        let mut columns = codes.map_or_else(|| products.outer_iter().map(largest).collect(), <[u32]>::to_vec);
        matching::merged(products, co_shares.view(), &mut columns);
        columns
    }

    /// Columns by chance: each of K at most once among the clusters of a base clustering while there are some left.
    fn random(&self, seed: Seed) -> Vec<u32> {
        let mut rng = seed.rng();
        let base = |u: usize| {
            let (clusters, wide) = (self.offsets[u + 1] - self.offsets[u], self.wide(u));
            let mut columns: Vec<u32> = (0..wide.max(clusters)).map(|column| (column % wide) as u32).collect();
            columns.shuffle(&mut rng);
            columns.truncate(clusters);
            columns
        };
        (0..self.offsets.len() - 1).flat_map(base).collect()
    }

    /// Base clusterings in the order in which they are matched one after the other: those with K clusters first. And whether the
    /// first has K clusters.
    fn stream_order(&self) -> (Vec<usize>, bool) {
        let exact = |u: usize| self.offsets[u + 1] - self.offsets[u] == self.clusters;
        let mut order: Vec<usize> = (0..self.offsets.len() - 1).collect();
        order.sort_by_key(|&u| (!exact(u), u));
        let first = order.first().is_some_and(|&u| exact(u));
        (order, first)
    }
}

struct Search<'a> {
    rows: &'a WeightedShares<'a>,
    columns: Columns,
    settings: &'a SoftMeanSettings,
    monitor: &'a dyn Monitor,
}

impl<'a> Search<'a> {
    fn new(rows: &'a WeightedShares<'a>, settings: &'a SoftMeanSettings, monitor: &'a dyn Monitor) -> Self {
        let columns = Columns::new(&rows.offsets, rows.clusters, settings.matching, |u| rows.co_shares(u));
        Self { rows, columns, settings, monitor }
    }

    fn sums(&self, codes: &[u32]) -> MeanSums {
        self.rows.sums(codes, self.settings.rows == ConsensusRows::Hard)
    }

    fn go_on(&self, run: &mut Run, rounds: u32, monitor: &dyn Monitor) {
        let sums = |codes: &[u32]| Ok::<_, Infallible>(self.sums(codes));
        let Ok(()) = run.go_on(&self.columns, (rounds, self.settings.tolerance), monitor, sums);
    }

    /// All starts for a few rounds, then the best to the end.
    fn multi_start(&self, source: WeightedEnsemble<'_>, seed: Seed) -> Vec<Run> {
        let restarts = self.settings.restarts.get();
        let merges = self.columns.merges();
        let median = if merges { MEDIAN } else { 0 };
        let finals = FINALISTS.max(restarts as usize / 4) as u64;
        let progress = ProgressCounter::new(self.monitor, median + u64::from(restarts) * ROUGH + finals * FINAL);
        let mut runs: Vec<Run> = Vec::new();
        for start in 0..restarts {
            if progress.stopped() && !runs.is_empty() {
                break;
            }
            let matched = |rows: &Array2<f64>| self.columns.matched(self.rows.products(rows.view()).view(), None);
            let codes = match start % 3 {
                0 if start == 0 && merges => matched(&self.median(source, seed.child(0), &progress.part(median))),
                2 => self.columns.random(seed.child(u64::from(start))),
                _ => matched(&self.start(source, start as usize, seed)),
            };
            let sums = self.sums(&codes);
            let mut run = Run::new(codes, sums);
            self.go_on(&mut run, ROUGH_ROUNDS.min(self.settings.rounds.get()), &progress.part(ROUGH));
            runs.push(run);
        }
        let objectives = values(&runs, merges);
        let most = FINALISTS.max(runs.len() / 4);
        let finalists = MultiStart::new(Sense::Minimise).finalists(&objectives, most, f64::INFINITY);
        let mut runs: Vec<Option<Run>> = runs.into_iter().map(Some).collect();
        let go_on = |at: usize| {
            let mut run = runs[at].take().expect("every finalist once");
            self.go_on(&mut run, self.settings.rounds.get(), &progress.part(FINAL));
            run
        };
        finalists.into_iter().map(go_on).collect()
    }

    /// The rows of the median by variation of information.
    fn median(&self, source: WeightedEnsemble<'_>, seed: Seed, monitor: &dyn Monitor) -> Array2<f64> {
        let k = self.rows.clusters;
        let median = median_vi(source, Clusters::Exactly(k), seed, &MedianViSettings::default(), monitor);
        let median = median.expect("what soft-mean takes is what a median takes").partition;
        one_hot(&Partition::new(median.labels().to_vec(), k).expect("a median has at most K clusters"))
    }

    /// The rows of a start: a base clustering with K clusters, or k-means on labels, by turns.
    fn start(&self, source: WeightedEnsemble<'_>, start: usize, seed: Seed) -> Array2<f64> {
        let ensemble = source.ensemble;
        let k = self.rows.clusters;
        let mut exact = (0..ensemble.bases().len()).filter(|&u| ensemble.bases()[u].clusters() == k);
        if start % 3 == 1
            && let Some(base) = exact.nth(start / 3)
        {
            let mut rows = ensemble.base_shares(base).rows().to_owned();
            rows.outer_iter_mut().filter(|row| row.sum() == 0.0).for_each(|mut row| row.fill(1.0 / k as f64));
            return rows;
        }
        one_hot(&quick_partition(source, k, seed.child(start as u64)))
    }

    /// One base clustering after the other, those with K clusters first, each to the mean of those before.
    fn stream(&self, source: WeightedEnsemble<'_>, seed: Seed) -> Run {
        let offsets = &self.columns.offsets;
        let (order, exact) = self.columns.stream_order();
        // Without a base clustering into K clusters, k-means on labels says what the columns are.
        let k = self.rows.clusters;
        let mut rows = if exact { self.start(source, 1, seed) } else { one_hot(&quick_partition(source, k, seed)) };
        let widest = order.iter().map(|&u| self.columns.wide(u)).max().unwrap_or(k);
        let mut mean = RunningMean::new(rows.nrows(), widest);
        let mut codes = vec![0; offsets[order.len()]];
        for (place, &u) in order.iter().enumerate() {
            let own = self.columns.matched_base(u, self.rows.base_products(u, rows.view()).view(), None);
            codes[offsets[u]..offsets[u + 1]].copy_from_slice(&own);
            mean.add(self.rows, u, &codes, &mut rows);
            self.monitor.tick(place as u64 + 1, order.len() as u64);
        }
        let sums = self.sums(&codes);
        Run { stopped: Stopped::Exact, ..Run::new(codes, sums) }
    }

    fn outcome(&self, runs: Vec<Run>) -> Outcome<SoftMeanDiagnostics> {
        let (run, details) = best(runs, &self.columns);
        let soft = SoftPartition::new(self.rows.means(&run.codes, false)).expect("means of shares are shares");
        let mut outcome = Outcome::soft(soft, run.stopped);
        outcome.rounds = run.trace.len() as u64;
        outcome.objective = Some(objective(run.trace));
        outcome.with(details)
    }
}

/// The best of some runs, and what there is to say of all.
fn best(runs: Vec<Run>, columns: &Columns) -> (Run, SoftMeanDiagnostics) {
    let merged = columns.co_shares.iter().flatten().count();
    let (objectives, unexplained) = (values(&runs, false), values(&runs, true));
    let best = MultiStart::new(Sense::Minimise).best(if merged > 0 { &unexplained } else { &objectives }).unwrap_or(0);
    let run = runs.into_iter().nth(best).expect("at least one start");
    (run, SoftMeanDiagnostics { merged, objectives, unexplained })
}

fn objective(trace: Vec<f64>) -> Objective {
    Objective {
        name: "squared distance to the memberships of all base clusterings",
        sense: Sense::Minimise,
        value: trace.last().copied().unwrap_or_default(),
        trace,
    }
}

fn one_hot(partition: &Partition) -> Array2<f64> {
    SoftPartition::of(partition).into_rows()
}

/// [`soft_mean`] as a method.
#[derive(Debug)]
pub struct SoftMean;

/// The soft mean, [`soft_mean`].
pub static SOFT_MEAN: SoftMean = SoftMean;

static INFO: MethodInfo = MethodInfo {
    name: "soft-mean",
    family: "median",
    summary: "the memberships that are closest to those of all base clusterings after matching; for soft base clusterings",
    reference: "Dimitriadou, Weingessel, Hornik, A combination scheme for fuzzy clustering, IJPRAI 16 (2002)",
    certainty: "mean share of the object in the columns matched to its cluster",
    time: "restarts · rounds · n M K",
    memory: "16 n K + 12 n M bytes",
    remedy: "ask for fewer clusters, or set restarts lower",
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

impl Method for SoftMean {
    type Settings = SoftMeanSettings;
    type Diagnostics = SoftMeanDiagnostics;
    type Error = FitError;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &SoftMeanSettings) -> u64 {
        let [n, m, side, k] = size.saturating();
        let entries = if size.soft_shares > 0 { Saturating(size.soft_shares as u64) } else { n * m };
        // Sums of pieces that are under way, and of every start.
        let sums = Saturating(u64::from(settings.restarts.get()) + 2 * rayon::current_num_threads() as u64 + 2);
        let widest = Saturating(size.largest_base_clustering as u64);
        let quick = n * Saturating(40);
        let search = n * k * Saturating(16) + side * (k * sums + widest) * Saturating(8) + quick;
        let median = Saturating(MEDIAN_VI.bytes(size, &MedianViSettings::default()));
        (entries * Saturating(12)
            + if settings.matching.merges(widest.0 as usize, k.0 as usize) { search.max(median) } else { search })
        .0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &SoftMeanSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<SoftMeanDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        let weights = (problem.weights, problem.object_weights);
        Ok(soft_mean(problem.ensemble, weights, clusters, problem.seed, settings, monitor)?)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &SoftMeanSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<SoftMeanDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(soft_mean_rows(&problem.passes(), problem.weights, clusters, problem.seed, settings, monitor)?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &SoftMeanSettings) -> u64 {
        passes::row_bytes(size, settings)
    }
}
