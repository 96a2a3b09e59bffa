//! NMFC: non-negative matrix factorisation of the co-association.

mod factors;

use std::num::{NonZeroU32, Saturating};

use partita_core::{
    AnyBlock, Capabilities, EnsembleRows, FitError, Flow, Method, MethodInfo, Monitor, Objective,
    Outcome, Problem, ProblemSize, ProgressCounter, Row, RowBlock, Seed, Sense, Settings, Silent,
    SoftBases, SoftPartition, Stopped, Weights,
};
use partita_kmeans::labels::{LabelFit, base_weights, bytes};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use self::factors::{Factors, Matrix, PARTS};
use crate::label_means::centre;

/// Random swaps that are tried, iterations after each at most, and rows that all of them together may look at: there are fewer on many rows,
/// and none beyond.
const SWAPS: usize = 20;
const SWAP_ROUNDS: u32 = 20;
const SWAP_ROWS: usize = 10_000;

/// A swap has to lower the objective by this share.
const SWAP_GAIN: f64 = 1e-9;

/// Settings of [`NMFC`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NmfcSettings {
    /// The most iterations, after random swaps.
    #[setting(alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: NonZeroU32,
    /// Stop when the factors are stationary to this share (the KKT gap).
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for NmfcSettings {
    fn default() -> Self {
        Self {
            iterations: NonZeroU32::new(1000).expect("not zero"),
            tolerance: 1e-4,
        }
    }
}

/// Units of progress: the start, random swaps, and iterations.
const START: u64 = 3_000;
const SWAPPING: u64 = 3_000;
const ITERATIONS: u64 = 4_000;

struct Search<'a> {
    start: LabelFit,
    clusters: usize,
    base_weights: Vec<f64>,
    offsets: Vec<usize>,
    seed: Seed,
    settings: &'a NmfcSettings,
    progress: &'a ProgressCounter<'a>,
}

impl Search<'_> {
    fn over<'r, R: Row<'r>>(self, rows: &RowBlock<'r, R>) -> Outcome<()> {
        let matrix = Matrix::new(rows, &self.offsets, &self.base_weights);
        let labels = self.start.choice.labels(rows);
        let factors = Factors::start(&matrix, &labels, self.clusters);
        let mut run = Run {
            trace: vec![factors.objective()],
            factors,
            stopped: Stopped::IterationLimit,
        };
        self.swap(&matrix, &mut run);
        if run.stopped != Stopped::Interrupted {
            let progress = self.progress.part(ITERATIONS);
            run.go_on(
                &matrix,
                self.settings.iterations.get(),
                self.settings.tolerance,
                &progress,
            );
        }
        outcome(run)
    }

    /// Gives up a cluster for what is like a row, both drawn by chance, where that has a lower objective after a few iterations.
    fn swap<'r, R: Row<'r>>(&self, matrix: &Matrix<'_, 'r, R>, run: &mut Run) {
        let rows = matrix.rows.len();
        let clusters = self.clusters;
        let trials = SWAPS.min(SWAP_ROWS / rows);
        if clusters < 2 || trials == 0 {
            return;
        }
        let iterations = self.settings.iterations.get().min(SWAP_ROUNDS);
        let progress = self.progress.part(SWAPPING);
        run.go_on(matrix, iterations, self.settings.tolerance, &Silent);
        let mut rng = self.seed.rng();
        for trial in 1..=trials {
            let (cluster, row) = (rng.random_range(0..clusters), rng.random_range(0..rows));
            let factors = run.factors.swapped(matrix, cluster, row);
            let mut other = Run {
                trace: Vec::new(),
                factors,
                stopped: Stopped::IterationLimit,
            };
            other.go_on(matrix, iterations, self.settings.tolerance, &Silent);
            let now = run.factors.objective();
            if other.factors.objective() < now - SWAP_GAIN * now.abs() {
                run.trace.push(other.factors.objective());
                run.factors = other.factors;
            }
            if progress.tick(trial as u64, trials as u64) == Flow::Stop {
                run.stopped = Stopped::Interrupted;
                return;
            }
        }
        run.stopped = Stopped::IterationLimit;
    }
}

/// Factors, the objectives on the way to them, and why they are the last.
struct Run {
    factors: Factors,
    trace: Vec<f64>,
    stopped: Stopped,
}

impl Run {
    fn go_on<'r, R: Row<'r>>(
        &mut self,
        matrix: &Matrix<'_, 'r, R>,
        iterations: u32,
        tolerance: f64,
        monitor: &dyn Monitor,
    ) {
        for iteration in 1..=u64::from(iterations) {
            let next = if self.factors.gap() <= tolerance {
                None
            } else {
                self.factors.step(matrix)
            };
            let Some(next) = next else {
                self.stopped = Stopped::Converged;
                return;
            };
            self.trace.push(next.objective());
            self.factors = next;
            if monitor.tick(iteration, u64::from(iterations)) == Flow::Stop {
                self.stopped = Stopped::Interrupted;
                return;
            }
        }
    }
}

fn outcome(run: Run) -> Outcome<()> {
    let Run {
        factors,
        trace,
        stopped,
    } = run;
    let soft = SoftPartition::new(factors.memberships()).expect("normalised memberships");
    let mut outcome = Outcome::soft(soft, stopped);
    outcome.iterations = trace.len() as u64 - 1;
    outcome.kkt_gap = Some(factors.gap());
    outcome.objective = Some(Objective {
        name: "squared error of the co-association, less its own square",
        sense: Sense::Minimise,
        value: factors.objective(),
        trace,
    });
    outcome
}

/// The method [`NMFC`].
#[derive(Debug)]
pub struct Nmfc;

/// Consensus by non-negative factors of the co-association matrix.
///
/// ```text
/// minimise  ‖M − Q S Qᵀ‖²   over Q ≥ 0 (n × K, QᵀQ = I), S ≥ 0 (K × K)
/// Q ← Q ∘ (M Q S / Q Qᵀ M Q S)^½        S ← S ∘ (QᵀMQ / QᵀQ S QᵀQ)^½
/// ```
/// | paper | here |
/// |---|---|
/// | M̃ | M = D^−½ H Ω Hᵀ D^−½ for one-hot labels H, weights Ω and D_ii = Σ of the weights that label object i |
/// | Q, S | the factors |
///
/// With complete labels M is the co-association; an object with missing labels is compared by the cosine of label
/// rows. M is never formed: its products with Q go through a table of ΣJ × K numbers. Objects with equal label rows
/// have equal rows of Q and are taken once. The probability of cluster k is in proportion to Q_ik √S_kk.
///
/// The updates keep QᵀQ near I by a Lagrangian, under which ‖M − QSQᵀ‖² alone might rise. An iteration that would raise it
/// is taken with a shorter step (the exponent ½ is halved), and if that does not help either, it is the last. So the
/// reported objective, ‖M − QSQᵀ‖² − ‖M‖², never rises. The KKT gap is ‖Q∘(MQS − QQᵀMQS)‖ / ‖Q∘MQS‖.
///
/// Before that, up to 20 random swaps (fewer from 500 different rows on, none beyond 10,000): a column of Q gives way to a column of M, and
/// 20 iterations tell whether the objective is lower.
///
/// Row passes do not apply: Q is state of every object, updated by factors, and does not follow from a label row and the sums.
///
/// # Cost
/// O(distinct neighbouring rows · (M + K) K) time an iteration, in parallel over rows; swaps take as much as up to 420 iterations on 500 rows, and
/// as 20 on 10,000; 9 n K numbers.
///
/// # Differences from the paper
/// Starts from [`KC`](crate::KC), random swaps, never forms M, missing labels, weights, shorter steps where a full one would raise
/// the objective.
///
/// # References
/// Li, Ding, Jordan, *Solving consensus and semi-supervised clustering problems using nonnegative matrix
/// factorization*, ICDM 2007. Fränti, *Efficiency of random swap clustering*, Journal of Big Data 2018.
pub static NMFC: Nmfc = Nmfc;

static INFO: MethodInfo = MethodInfo {
    name: "nmfc",
    family: "median",
    summary: "non-negative factors of the co-association, which is never formed: soft, certified by a KKT gap",
    reference: "Li, Ding, Jordan, Solving consensus and semi-supervised clustering problems using nonnegative \
                matrix factorization, ICDM 2007",
    time: "iterations · n (M + K) K",
    memory: "72 n K + 16 ΣJ K bytes",
    remedy: "ask for fewer clusters, or take kc",
    capabilities: Capabilities {
        soft: true,
        soft_bases: SoftBases::Native,
        base_weights: Weights::Native,
        object_weights: Weights::Native,
        seeded: true,
        ..Capabilities::HARD_LABELS
    },
};

impl Method for Nmfc {
    type Settings = NmfcSettings;
    type Diagnostics = ();

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, _settings: &NmfcSettings) -> u64 {
        let [n, m, side, k] = size.saturating();
        (Saturating(bytes(size))
            + n * m * Saturating(2)
            + n * k * Saturating(9 * 8)
            + Saturating(size.soft_shares as u64) * Saturating(12)
            + side * k * Saturating((PARTS as u64 + 1) * 8))
        .0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &NmfcSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<()>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        let progress = ProgressCounter::new(monitor, START + SWAPPING + ITERATIONS);
        let fragments = problem.ensemble.fragments();
        let weights = fragments.masses(problem.weighted().multiplicities());
        let rows = EnsembleRows::weighted(fragments.ensemble(), &weights).with_shares();
        let of_rows = problem.over(&rows);
        let search = Search {
            start: centre(&of_rows, clusters, &progress.part(START))?,
            clusters,
            base_weights: base_weights(problem.ensemble.bases(), problem.weights),
            offsets: problem.ensemble.offsets(),
            seed: problem.seed.child(1),
            settings,
            progress: &progress,
        };
        let outcome = rows.with_all(|block| match block {
            AnyBlock::Bytes(rows) => search.over(&rows),
            AnyBlock::Words(rows) => search.over(&rows),
            AnyBlock::Shares(rows) => search.over(&rows),
        });
        Ok(outcome.expanded(fragments.of_object()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_conformance::draw;
    use partita_core::ndarray::Array2;
    use partita_core::{Clusters, Ensemble, EnsembleBuilder};

    fn fit(ensemble: &Ensemble, clusters: usize, seed: u64) -> Outcome<()> {
        let problem = Problem::new(ensemble, Clusters::Exactly(clusters)).seed(seed);
        NMFC.fit(&problem, &NmfcSettings::default(), &Silent)
            .unwrap()
    }

    #[test]
    fn the_objective_never_rises_and_the_gap_closes() {
        for seed in 0..50 {
            let drawn = draw(Seed::new(seed), 0.3);
            let outcome = fit(&drawn.ensemble, drawn.clusters, seed);
            let trace = outcome.objective.unwrap().trace;
            assert!(trace.windows(2).all(|pair| pair[1] <= pair[0]), "{trace:?}");
            if outcome.stopped == Stopped::Converged {
                let gap = outcome.kkt_gap.unwrap();
                assert!(gap < 0.05, "seed {seed}: {gap} {trace:?}");
            }
        }
    }

    /// The least objective of 30 runs from memberships by chance.
    fn least<'r, R: Row<'r>>(rows: &RowBlock<'r, R>, offsets: &[usize], clusters: usize) -> f64 {
        let base_weights = vec![1.0; rows.bases];
        let matrix = Matrix::new(rows, offsets, &base_weights);
        let run = |number| {
            let mut rng = Seed::new(number).rng();
            let mut share = || rng.random_range(0.01..1.0);
            let q = Array2::from_shape_simple_fn((rows.len(), clusters), &mut share);
            let mut run = Run {
                trace: Vec::new(),
                factors: Factors::new(&matrix, q),
                stopped: Stopped::IterationLimit,
            };
            run.go_on(&matrix, 300, 1e-4, &Silent);
            run.factors.objective()
        };
        (0..30).map(run).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn the_defaults_come_close_to_the_best_of_many_random_starts() {
        let mut gaps = Vec::new();
        for number in 0..30 {
            let mut rng = Seed::new(number).rng();
            let clusters = rng.random_range(3..=8u32);
            let mut builder = EnsembleBuilder::new(20);
            for u in 0..8 {
                let labels = (0..20).map(|_| Some(rng.random_range(0..clusters)));
                builder.push(u.to_string(), labels).unwrap();
            }
            let ensemble = builder.finish().unwrap();
            let (clusters, offsets) = (clusters as usize, ensemble.offsets());
            let best = EnsembleRows::new(&ensemble).with_all(|block| match block {
                AnyBlock::Bytes(rows) => least(&rows, &offsets, clusters),
                _ => panic!("few clusters fit a byte"),
            });
            let found = fit(&ensemble, clusters, 1).objective.unwrap().value;
            gaps.push((best - found) / best);
        }
        // Labels by chance have many optima, of which some runs miss the best.
        gaps.sort_by(f64::total_cmp);
        let mean = gaps.iter().sum::<f64>() / 30.0;
        assert!(
            mean < 0.002 && gaps[26] < 0.01 && gaps[29] < 0.03,
            "{gaps:?}"
        );
    }
}
