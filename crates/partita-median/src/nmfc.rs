//! NMFC: non-negative matrix factorisation of the co-association.

use std::num::{NonZeroU32, Saturating};
use std::ops::Range;

use partita_core::ndarray::{Array2, ArrayView2, Axis, s};
use partita_core::{
    BaseWeights, Capabilities, Ensemble, FitError, Flow, Label, Method, MethodInfo, Monitor, Objective, Outcome,
    Partition, Problem, ProblemSize, ProgressCounter, Seed, Sense, Settings, SoftBases, SoftPartition, Stopped,
    WeightedEnsemble, Weights, chunks, map_parallel,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::criterion::Criterion;
use crate::error::check;
use crate::fractional_rows::FractionalRows;
use crate::label_means::solve_weighted;
use crate::matrix_rows::MatrixRows;
use crate::plurality::{centre, centre_bytes};
use crate::{LabelMeansSettings, MedianError};
use partita_kmeans::labels::{RowVisitor, WeightedLabelRows, base_weights, with_rows};

/// Partial sums of a round are over so many ranges of rows, at most.
const PARTS: usize = 16;

/// What keeps quotients of vanishing numbers finite.
const TINY: f64 = 1e-300;

/// A step that does not help is tried again half as long, so many times.
const HALVINGS: usize = 6;

/// Settings of [`nmfc`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NmfcSettings {
    /// The most rounds.
    #[setting(alias = "max_iter", alias = "n_iter")]
    pub rounds: NonZeroU32,
    /// Stop when the factors are stationary to this share (the KKT gap).
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for NmfcSettings {
    fn default() -> Self {
        Self { rounds: NonZeroU32::new(1000).expect("not zero"), tolerance: 1e-4 }
    }
}

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
/// The updates keep QᵀQ near I by a Lagrangian, under which ‖M − QSQᵀ‖² alone might rise. A round that would raise it
/// is taken with a shorter step (the exponent ½ is halved), and if that does not help either, it is the last. So the
/// reported objective, ‖M − QSQᵀ‖² − ‖M‖², never rises. The KKT gap is ‖Q∘(MQS − QQᵀMQS)‖ / ‖Q∘MQS‖.
///
/// Row passes do not apply: Q is state of every object, updated by factors, and does not follow from a label row and the sums.
///
/// # Cost
/// O(distinct neighbouring rows · (M + K) K) time a round, in parallel over rows; 5 n K numbers.
///
/// # Differences from the paper
/// Starts from [`kc`](crate::kc), never forms M, missing labels, weights, shorter steps where a full one would raise
/// the objective.
///
/// # Errors
/// [`MedianError`] if K is out of range, weights or settings do not fit, or an object has no label.
///
/// # References
/// Li, Ding, Jordan, *Solving consensus and semi-supervised clustering problems using nonnegative matrix
/// factorization*, ICDM 2007.
pub fn nmfc(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &NmfcSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<()>, MedianError> {
    let source = WeightedEnsemble { ensemble, base_weights: weights, object_weights: None };
    nmfc_weighted(source, clusters, seed, settings, monitor)
}

/// [`nmfc`] where objects may have weights, and base clusterings may be soft: H then has the shares.
pub(crate) fn nmfc_weighted(
    source: WeightedEnsemble<'_>,
    clusters: usize,
    seed: Seed,
    settings: &NmfcSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<()>, MedianError> {
    let (ensemble, weights) = (source.ensemble, source.base_weights);
    let _span = tracing::info_span!("nmfc", objects = ensemble.objects(), clusters).entered();
    check(ensemble, weights, clusters, settings)?;
    let progress = ProgressCounter::new(monitor, START + ROUNDS);
    let fractional = FractionalRows::where_needed(source);
    let start = if fractional.is_some() {
        let (settings, progress) = (LabelMeansSettings::default(), progress.part(START));
        solve_weighted(Criterion::Kc, source, clusters, seed, &settings, &progress)?.partition
    } else {
        centre(ensemble, weights, clusters, seed, &progress.part(START))?
    };
    let (base_weights, monitor) = (base_weights(ensemble.bases(), weights), &progress.part(ROUNDS));
    let search = Search { start, base_weights, settings, monitor };
    Ok(match fractional {
        None => with_rows(ensemble, search),
        Some(rows) => search.over(&rows),
    })
}

/// Units of progress: the start, and rounds.
const START: u64 = 3_000;
const ROUNDS: u64 = 7_000;

struct Search<'a> {
    start: Partition,
    base_weights: Vec<f64>,
    settings: &'a NmfcSettings,
    monitor: &'a dyn Monitor,
}

impl RowVisitor for Search<'_> {
    type Out = Outcome<()>;

    fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) -> Outcome<()> {
        self.over(rows)
    }
}

impl Search<'_> {
    fn over<R: MatrixRows>(self, rows: &R) -> Outcome<()> {
        let matrix = Matrix::new(rows, &self.base_weights);
        let mut state = State::start(&matrix, &self.start);
        let mut trace = vec![state.objective()];
        let (mut stopped, total) = (Stopped::RoundLimit, u64::from(self.settings.rounds.get()));
        for round in 1..=total {
            if state.gap() <= self.settings.tolerance {
                stopped = Stopped::Converged;
                break;
            }
            let Some(next) = state.step(&matrix) else {
                stopped = Stopped::Converged;
                break;
            };
            trace.push(next.objective());
            state = next;
            if self.monitor.tick(round, total) == Flow::Stop {
                stopped = Stopped::Interrupted;
                break;
            }
        }
        outcome(rows, &state, trace, stopped)
    }
}

fn outcome(rows: &impl MatrixRows, state: &State, trace: Vec<f64>, stopped: Stopped) -> Outcome<()> {
    let soft =
        SoftPartition::new(state.memberships().select(Axis(0), &rows.row_of_object())).expect("normalised memberships");
    let mut outcome = Outcome::soft(soft, stopped);
    outcome.rounds = trace.len() as u64 - 1;
    outcome.kkt_gap = Some(state.gap());
    outcome.objective = Some(Objective {
        name: "squared error of the co-association, less its own square",
        sense: Sense::Minimise,
        value: state.objective(),
        trace,
    });
    outcome
}

/// The co-association of weighted rows, known by its products alone.
struct Matrix<'r, R> {
    rows: &'r R,
    base_weights: &'r [f64],
    /// Objects with each row.
    weights: Vec<f64>,
    /// 1 / √ of the weight of the base clusterings that label each row.
    scale: Vec<f64>,
}

impl<'r, R: MatrixRows> Matrix<'r, R> {
    fn new(rows: &'r R, base_weights: &'r [f64]) -> Self {
        let scale = |at: usize| rows.seen_by(at).map(|u| base_weights[u]).sum::<f64>().sqrt().recip();
        Self {
            rows,
            base_weights,
            weights: (0..rows.rows()).map(|at| rows.objects(at)).collect(),
            scale: (0..rows.rows()).map(scale).collect(),
        }
    }

    /// Ranges of rows whose sums are added in order.
    fn parts(&self) -> Vec<Range<usize>> {
        chunks(self.rows.rows(), self.rows.rows().div_ceil(PARTS).max(1024)).collect()
    }

    /// A sum over rows.
    fn sum(&self, part: impl Fn(Range<usize>) -> Array2<f64> + Sync) -> Array2<f64> {
        map_parallel(self.parts(), part).into_iter().reduce(|sum, part| sum + part).expect("an ensemble has objects")
    }

    /// Σ_i w_i a_i b_iᵀ, K × K.
    fn gram(&self, a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
        self.sum(|range| {
            let weights = Array2::from_shape_fn((range.len(), 1), |(i, _)| self.weights[range.start + i]);
            let left = &a.slice(s![range.clone(), ..]) * &weights;
            left.t().dot(&b.slice(s![range, ..]))
        })
    }

    /// M W Q, n × K.
    fn times(&self, q: &Array2<f64>) -> Array2<f64> {
        let k = q.ncols();
        let table = self.sum(|range| {
            let mut table = Array2::zeros((self.rows.side(), k));
            for at in range {
                let factor = self.weights[at] * self.scale[at];
                for (u, place, share) in self.rows.shares(at) {
                    table.row_mut(place).scaled_add(factor * self.base_weights[u] * share, &q.row(at));
                }
            }
            table
        });
        let mut product = Array2::zeros(q.dim());
        product.axis_iter_mut(Axis(0)).into_par_iter().enumerate().with_min_len(1024).for_each(|(at, mut row)| {
            for (_, place, share) in self.rows.shares(at) {
                row.scaled_add(share, &table.row(place));
            }
            row *= self.scale[at];
        });
        product
    }
}

/// Factors, and what all quotients and objectives need of them.
struct State {
    q: Array2<f64>,
    s: Array2<f64>,
    /// M Q.
    p: Array2<f64>,
    /// QᵀQ.
    g: Array2<f64>,
    /// QᵀMQ.
    r: Array2<f64>,
}

impl State {
    /// Indicators of a partition plus 0.2, columns of length 1.
    fn start<R: MatrixRows>(matrix: &Matrix<'_, R>, partition: &Partition) -> Self {
        let label = |at: usize| partition.labels()[matrix.rows.first_object(at)] as usize;
        let indicator = |(at, k): (usize, usize)| if label(at) == k { 1.2 } else { 0.2 };
        let mut q = Array2::from_shape_fn((matrix.rows.rows(), partition.clusters()), indicator);
        let lengths = matrix.gram(&q, &q).into_diag().mapv(f64::sqrt);
        q /= &lengths;
        let p = matrix.times(&q);
        let (g, r) = (matrix.gram(&q, &q), matrix.gram(&q, &p));
        let mut state = Self { s: r.clone(), q, p, g, r };
        state.settle();
        state
    }

    /// A round of updates of S for this Q; none raises the objective.
    fn settle(&mut self) {
        for _ in 0..4 {
            let below = self.g.dot(&self.s).dot(&self.g);
            self.s.zip_mut_with(&(&self.r / &(below + TINY)), |s, quotient| *s *= quotient.sqrt());
        }
    }

    /// ‖M − QSQᵀ‖² − ‖M‖².
    fn objective(&self) -> f64 {
        let sg = self.s.dot(&self.g);
        let square: f64 = (&sg * &sg.t()).sum();
        square - 2.0 * (&self.s * &self.r.t()).sum()
    }

    /// M Q S and Q QᵀMQ S, whose quotient moves Q.
    fn above_below(&self) -> (Array2<f64>, Array2<f64>) {
        (self.p.dot(&self.s), self.q.dot(&self.r.dot(&self.s)))
    }

    /// How far Q is from a stationary point, relative.
    fn gap(&self) -> f64 {
        let (above, below) = self.above_below();
        let length = |a: ArrayView2<'_, f64>| (&a * &self.q).mapv(|x| x * x).sum().sqrt();
        length((&above - &below).view()) / length(above.view()).max(TINY)
    }

    /// The factors after one round, or none if no step lowers the objective.
    fn step<R: MatrixRows>(&self, matrix: &Matrix<'_, R>) -> Option<Self> {
        let (above, below) = self.above_below();
        let quotient = (above + TINY) / (below + TINY);
        let now = self.objective();
        (0..HALVINGS).find_map(|halving| {
            let exponent = 0.5f64.powi(halving as i32 + 1);
            let q = &self.q * &quotient.mapv(|x| x.powf(exponent));
            let p = matrix.times(&q);
            let (g, r) = (matrix.gram(&q, &q), matrix.gram(&q, &p));
            let mut next = Self { q, s: self.s.clone(), p, g, r };
            next.settle();
            (next.objective() < now - 1e-13 * now.abs()).then_some(next)
        })
    }

    /// Rows of Q √S, scaled to sum 1.
    fn memberships(&self) -> Array2<f64> {
        let mut rows = &self.q * &self.s.diag().mapv(f64::sqrt);
        for mut row in rows.outer_iter_mut() {
            let (sum, k) = (row.sum(), row.len() as f64);
            row.mapv_inplace(|x| if sum > 0.0 { x / sum } else { 1.0 / k });
        }
        rows
    }
}

/// [`nmfc`] as a method.
#[derive(Debug)]
pub struct Nmfc;

/// Non-negative factors of the co-association, [`nmfc`].
pub static NMFC: Nmfc = Nmfc;

static INFO: MethodInfo = MethodInfo {
    name: "nmfc",
    family: "median",
    summary: "non-negative factors of the co-association, which is never formed: soft, certified by a KKT gap",
    reference: "Li, Ding, Jordan, Solving consensus and semi-supervised clustering problems using nonnegative \
                matrix factorization, ICDM 2007",
    certainty: "share of the object's factor that its cluster has",
    time: "rounds · n (M + K) K",
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
    type Error = FitError;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, _settings: &NmfcSettings) -> u64 {
        let [n, _, side, k] = size.saturating();
        (centre_bytes(size) + n * k * Saturating(9 * 8) + side * k * Saturating((PARTS as u64 + 1) * 8)).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &NmfcSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<()>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(nmfc_weighted(problem.weighted(), clusters, problem.seed, settings, monitor)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use partita_conformance::draw;
    use partita_core::Silent;

    struct Check(Partition, Vec<f64>);

    impl RowVisitor for Check {
        type Out = ();

        /// Products, objective and descent against the matrix written out, object by object.
        fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) {
            let matrix = Matrix::new(rows, &self.1);
            let n = rows.len();
            let entry = |(i, j): (usize, usize)| {
                let shared = rows.places(i).filter(|place| rows.places(j).any(|other| other == *place));
                shared.map(|(u, _)| self.1[u]).sum::<f64>() * matrix.scale[i] * matrix.scale[j]
            };
            let full = Array2::from_shape_fn((n, n), entry);
            let mut state = State::start(&matrix, &self.0);
            for _ in 0..5 {
                let weigh = Array2::from_shape_fn((n, n), |(i, j)| matrix.weights[i] * matrix.weights[j]);
                let error = &full - &state.q.dot(&state.s).dot(&state.q.t());
                let expected = (&error * &error * &weigh).sum() - (&full * &full * &weigh).sum();
                assert_relative_eq!(state.objective(), expected, max_relative = 1e-9);
                match state.step(&matrix) {
                    Some(next) => state = next,
                    None => break,
                }
            }
        }
    }

    #[test]
    fn the_objective_is_that_of_the_matrix_written_out() {
        for seed in 0..30 {
            let drawn = draw(Seed::new(seed), 0.3);
            let start = centre(&drawn.ensemble, None, drawn.clusters, Seed::new(1), &Silent).unwrap();
            let base_weights = (0..drawn.ensemble.bases().len()).map(|u| 1.0 + (u % 3) as f64).collect();
            with_rows(&drawn.ensemble, Check(start, base_weights));
        }
    }

    #[test]
    fn the_objective_never_rises_and_the_gap_closes() {
        for seed in 0..50 {
            let drawn = draw(Seed::new(seed), 0.3);
            let settings = NmfcSettings::default();
            let outcome = nmfc(&drawn.ensemble, None, drawn.clusters, Seed::new(seed), &settings, &Silent).unwrap();
            let trace = outcome.objective.unwrap().trace;
            assert!(trace.windows(2).all(|pair| pair[1] <= pair[0]), "{trace:?}");
            if outcome.stopped == Stopped::Converged {
                assert!(outcome.kkt_gap.unwrap() < 0.05, "seed {seed}: {:?} {trace:?}", outcome.kkt_gap);
            }
        }
    }
}
