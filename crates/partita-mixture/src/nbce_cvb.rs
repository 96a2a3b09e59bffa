//! NBCE by collapsed variational inference of first order (CVB0).

use std::num::{NonZeroU32, Saturating};

use partita_core::ndarray::{ArrayView1, ArrayView2};
use partita_core::{
    Clusters, FitError, Flow, Label, LabelRows, Method, MethodInfo, Monitor, Objective, Outcome, Problem, ProblemSize,
    Seed, Sense, Settings, Stopped, chunks,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::nbce::{NBCE, NbceDiagnostics};
use crate::partial::Partial;
use crate::prior::{Hyper, NbcePrior, log_labels};
use crate::product::{Product, SETTLE_AFTER};
use crate::restarts::{Rounds, Run, best_of, bytes_of_rounds, course, rows_of_start};
use crate::table::{column_sums, lines, normalise_columns};
use crate::{MixtureError, Rows, hyper, nbce, seeding};

/// Rounds between two looks at α0 and β.
const LEARN_EVERY: usize = 5;

/// Settings of [`nbce_cvb`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NbceCvbSettings {
    /// How the Dirichlet process is made finite: symmetric, or stick-breaking, which makes fewer and larger clusters.
    pub prior: NbcePrior,
    /// Concentration α0 of the Dirichlet process: more means more clusters.
    #[setting(range = 1e-20..=1e20)]
    pub alpha0: f64,
    /// Label pseudo-count β: below 1 wants pure clusters and finds many, 1 to 5 give class-like numbers.
    #[setting(range = 1e-20..=1e20)]
    pub beta: f64,
    /// Learn α0 and β, both under Gamma(1, 1); the values above are where they start.
    pub learn: bool,
    /// Independent initializations, by merging small clusters to K, K/2, K, K/4, K, K/8, … ones; the highest objective is
    /// kept whole.
    ///
    /// Above 65,536 distinct rows they compete on a sample, and the best goes on with all rows.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// The most rounds of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter")]
    pub rounds: NonZeroU32,
    /// Stop when no membership changes by more than this in a round.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for NbceCvbSettings {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self {
            prior: NbcePrior::Symmetric,
            alpha0: 1.0,
            beta: 1.0,
            learn: false,
            restarts: count(8),
            rounds: count(300),
            tolerance: 1e-4,
        }
    }
}

/// A Dirichlet-process mixture of label rows with at most `clusters` clusters, shares and label shares marginalised,
/// by the first-order approximation of its variational update.
///
/// ```text
/// γ_ik ∝ p(z_i = k | E N^{¬i}) Π_u (β + E N^{¬i}_{kuℓ(i,u)}) / (J_u β + E N^{¬i}_{ku})
/// ```
///
/// The expectations exclude the object itself; the product runs over the labels that are there. All rows move at
/// once, which makes identical rows move together: distinct rows with whole weights are exact.
///
/// | paper | here |
/// |---|---|
/// | γ | the soft result, n × K |
/// | `p_FSD`, `p_TSB` | `prior`: `symmetric`, `stick-breaking` |
/// | K, α0, β | `clusters`, `alpha0`, `beta` |
///
/// The objective reported is the log joint at expected counts plus the entropy of γ. It is an approximation, no
/// bound: the update need not ascend it, so starts are compared by it and convergence is judged by γ.
///
/// # Cost
/// O(distinct rows · M · K) time a round, in parallel over restarts and rows; rows · K and 64 ΣJ K numbers a restart.
///
/// # Differences from the paper
/// Eq. 10 lacks the δ: only the observed label's count is in the product. Stick-breaking is truncated at v_K = 1, so
/// that the first factor is absent for k = K. Missing labels drop out.
///
/// # Errors
/// [`MixtureError::Settings`] for a tolerance below 0, or α0 or β out of range; [`MixtureError::NoClusters`] for K = 0.
///
/// # References
/// Wang, Domeniconi, Laskey, *Nonparametric Bayesian clustering ensembles*, ECML PKDD 2010; Kurihara, Welling, Teh,
/// *Collapsed variational Dirichlet process mixture models*, IJCAI 2007.
pub fn nbce_cvb(
    rows: &Rows<'_>,
    clusters: usize,
    seed: Seed,
    settings: &NbceCvbSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<NbceDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("nbce-cvb", rows = rows.weights().len(), clusters).entered();
    MixtureError::check_clusters(clusters)?;
    settings.validate(&ProblemSize::of(rows.ensemble(), Clusters::Exactly(clusters)))?;
    let restarts = settings.restarts.get();
    let rounds = Rounds::new(monitor, u64::from(settings.rounds.get()) * (u64::from(restarts) + 1));
    let course = course(rows, seed);
    let relax_on = |rows: &Rows<'_>, sums: &Partial| {
        let mut nearest = rows.nearest(seeding::model(rows, sums).table());
        nbce::by_size(rows, &mut nearest, clusters);
        relax(rows, Memberships::of_hard(rows, &nearest, clusters), settings, &rounds)
    };
    let (mut run, objectives) = best_of(restarts, |restart| {
        let rows = course.as_ref().unwrap_or(rows);
        relax_on(rows, &nbce::begin(rows, clusters, restart, seed))
    });
    if course.is_some() {
        run = relax_on(rows, &run.result.sums);
    }
    Ok(outcome(rows, run, objectives, settings.prior))
}

/// γ, one line of K values a row, and what it adds up to.
#[derive(Clone, Debug)]
struct Memberships {
    soft: Vec<f64>,
    sums: Partial,
    /// Labels that are there, M lines of K values.
    totals: Vec<f64>,
    hyper: Hyper,
}

impl Memberships {
    fn of_hard(rows: &Rows<'_>, labels: &[u32], clusters: usize) -> Self {
        let mut soft = vec![0.0; labels.len() * clusters];
        soft.chunks_exact_mut(clusters).zip(labels).for_each(|(line, &k)| line[k as usize] = 1.0);
        Self::of(rows, soft, rows.given_hard(labels, clusters))
    }

    fn of(rows: &Rows<'_>, soft: Vec<f64>, sums: Partial) -> Self {
        let totals = column_sums(&sums.labels, rows.offsets(), sums.sizes.len());
        Self { soft, sums, totals, hyper: Hyper { alpha0: 1.0, beta: 1.0 } }
    }

    /// Log joint at expected counts, plus entropy, plus the log densities of learned α0 and β.
    fn objective(&self, rows: &Rows<'_>, prior: NbcePrior, learn: bool) -> f64 {
        let clusters = self.sums.sizes.len();
        let row = |line: &[f64]| line.iter().filter(|p| **p > 1e-12).map(|p| -p * p.ln()).sum::<f64>();
        let part = |range: std::ops::Range<usize>| {
            let lines = self.soft[range.start * clusters..range.end * clusters].chunks_exact(clusters);
            lines.zip(&rows.weights()[range]).map(|(line, weight)| weight * row(line)).sum::<f64>()
        };
        let Hyper { alpha0, beta } = self.hyper;
        prior.log_partition(&self.sums.sizes, alpha0)
            + log_labels(&self.sums, rows.offsets(), beta)
            + rows.sum(part, |a, b| a + b)
            - if learn { alpha0 + beta } else { 0.0 }
    }

    /// Moves all rows at once; returns the largest change.
    fn update(&mut self, rows: &Rows<'_>, prior: NbcePrior) -> f64 {
        match rows.ensemble().rows() {
            LabelRows::Bytes(labels) => self.update_in(rows, labels, prior),
            LabelRows::Words(labels) => self.update_in(rows, labels, prior),
        }
    }

    fn update_in<L: Label>(&mut self, rows: &Rows<'_>, labels: ArrayView2<'_, L>, prior: NbcePrior) -> f64 {
        let clusters = self.sums.sizes.len();
        let counts = Counts::of(rows, &self.sums, &self.totals, self.hyper, prior);
        let ranges: Vec<_> = chunks(rows.weights().len(), rows.part_size()).collect();
        let part = |(soft, range): (&mut [f64], std::ops::Range<usize>)| {
            let mut part = Partial::zero(rows.label_values(), clusters);
            let (mut product, mut line, mut change) = (Product::new(clusters), vec![0.0; clusters], 0f64);
            for (i, own) in range.zip(soft.chunks_exact_mut(clusters)) {
                counts.conditional(labels.row(i), own, &mut product);
                let sum = product.weights(&mut line);
                for (own, new) in own.iter_mut().zip(&mut line) {
                    *new /= sum;
                    change = change.max((*own - *new).abs());
                    *own = *new;
                    *new *= rows.weights()[i];
                }
                part.add(lines(labels.row(i), rows.offsets()), &line);
            }
            (part, change)
        };
        let parts: Vec<(Partial, f64)> =
            self.soft.par_chunks_mut(rows.part_size() * clusters).zip(ranges).map(part).collect();
        let add = |(sum, most): (Partial, f64), (part, change): (Partial, f64)| (sum.merged(part), most.max(change));
        let (sums, change) = parts.into_iter().reduce(add).expect("an ensemble has objects");
        self.sums = sums;
        self.totals = column_sums(&self.sums.labels, rows.offsets(), clusters);
        change
    }
}

/// Expected counts of a round, β and J β included.
struct Counts<'a> {
    prior: NbcePrior,
    alpha0: f64,
    total: f64,
    sizes: &'a [f64],
    /// β + N, ΣJ lines of K values.
    labels: Vec<f64>,
    /// J_u β + N, M lines of K values.
    totals: Vec<f64>,
    /// β and J_u β: what is left when nothing else is.
    floors: Vec<f64>,
    beta: f64,
    offsets: &'a [usize],
}

impl<'a> Counts<'a> {
    fn of(rows: &'a Rows<'_>, sums: &'a Partial, totals: &[f64], hyper: Hyper, prior: NbcePrior) -> Self {
        let clusters = sums.sizes.len();
        let floors: Vec<f64> = rows.offsets().windows(2).map(|ends| (ends[1] - ends[0]) as f64 * hyper.beta).collect();
        Self {
            prior,
            alpha0: hyper.alpha0,
            total: sums.sizes.iter().sum(),
            sizes: &sums.sizes,
            labels: sums.labels.iter().map(|count| hyper.beta + count).collect(),
            totals: totals.iter().enumerate().map(|(at, count)| floors[at / clusters] + count).collect(),
            floors,
            beta: hyper.beta,
            offsets: rows.offsets(),
        }
    }

    /// The conditional of one row up to its sum, when its own memberships do not count.
    fn conditional<L: Label>(&self, row: ArrayView1<'_, L>, own: &[f64], product: &mut Product) {
        let clusters = own.len();
        let sizes = self.sizes.iter().zip(own).map(|(size, own)| (size - own).max(0.0));
        self.prior.shares(sizes, self.total - 1.0, self.alpha0, product);
        let mut pending = 1;
        for (u, label) in row.iter().enumerate() {
            let Some(j) = label.cluster() else { continue };
            let label = &self.labels[(self.offsets[u] + j) * clusters..][..clusters];
            let total = &self.totals[u * clusters..][..clusters];
            for (((m, &own), &label), &total) in product.mantissas.iter_mut().zip(own).zip(label).zip(total) {
                *m *= (label - own).max(self.beta) / (total - own).max(self.floors[u]);
            }
            pending += 1;
            if pending == SETTLE_AFTER {
                product.settle();
                pending = 0;
            }
        }
        product.settle();
    }
}

/// Updates until nothing moves.
fn relax(rows: &Rows<'_>, mut state: Memberships, settings: &NbceCvbSettings, rounds: &Rounds<'_>) -> Run<Memberships> {
    state.hyper = Hyper { alpha0: settings.alpha0, beta: settings.beta };
    let most = settings.rounds.get() as usize;
    let mut trace = Vec::new();
    let stopped = loop {
        let change = state.update(rows, settings.prior);
        if settings.learn && trace.len() % LEARN_EVERY == LEARN_EVERY - 1 {
            state.hyper = hyper::maximise_collapsed(settings.prior, &state.sums, rows.offsets());
        }
        trace.push(state.objective(rows, settings.prior, settings.learn));
        let flow = rounds.tick();
        if change <= settings.tolerance && (!settings.learn || trace.len() >= LEARN_EVERY) {
            break Stopped::Converged;
        }
        if flow == Flow::Stop {
            break Stopped::Interrupted;
        }
        if trace.len() == most {
            break Stopped::RoundLimit;
        }
    };
    rounds.skip((most - trace.len()) as u64);
    Run { result: state, trace, stopped }
}

fn outcome(
    rows: &Rows<'_>,
    run: Run<Memberships>,
    objective_by_restart: Vec<f64>,
    prior: NbcePrior,
) -> Outcome<NbceDiagnostics> {
    let Memberships { soft, sums, hyper, .. } = run.result;
    let clusters = sums.sizes.len();
    let soft = ArrayView2::from_shape((rows.weights().len(), clusters), &soft).expect("K values a row");
    let mut theta: Vec<f64> = sums.labels.iter().map(|count| hyper.beta + count).collect();
    normalise_columns(&mut theta, rows.offsets(), clusters);
    let shares = prior.expected_shares(&sums.sizes, hyper.alpha0);
    let mut outcome = nbce::outcome(rows, soft, (&shares, &theta), run.stopped);
    outcome.rounds = run.trace.len() as u64;
    outcome.objective = Some(Objective {
        name: "log joint at expected counts plus entropy, nats",
        sense: Sense::Maximise,
        value: run.trace[run.trace.len() - 1],
        trace: run.trace,
    });
    let (alpha0, beta) = (hyper.alpha0, hyper.beta);
    outcome.map_details(|fit| NbceDiagnostics { fit, alpha0, beta, objective_by_restart })
}

/// [`nbce_cvb`] as a method. `Clusters::Auto` allows twice as many clusters as the largest base clustering has.
#[derive(Debug)]
pub struct NbceCvb;

/// NBCE by collapsed variational inference, [`nbce_cvb`].
pub static NBCE_CVB: NbceCvb = NbceCvb;

static INFO: MethodInfo = MethodInfo {
    name: "nbce-cvb",
    summary: "nonparametric mixture by collapsed variational inference: finds K itself, closer than plain variational",
    memory: "n M + restarts · (8 n K + 512 ΣJ K) bytes",
    remedy: "allow fewer clusters, set restarts lower, or take nbce-vb",
    ..NBCE
};

impl Method for NbceCvb {
    type Settings = NbceCvbSettings;
    type Diagnostics = NbceDiagnostics;
    type Error = FitError;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &NbceCvbSettings) -> u64 {
        let size = &nbce::truncated(size);
        let [n, _, _, k] = size.saturating();
        let starts = rows_of_start(size) * k * Saturating(8 * u64::from(settings.restarts.get()));
        (Saturating(bytes_of_rounds(size, settings.restarts)) + starts + n * k * Saturating(8)).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &NbceCvbSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<NbceDiagnostics>, FitError> {
        Ok(nbce_cvb(
            &Rows::of(problem.ensemble),
            nbce::truncated(&problem.size()).clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use partita_core::Silent;
    use partita_core::ndarray::Array2;

    fn updated(rows: &Rows<'_>, start: &Array2<f64>, prior: NbcePrior) -> Memberships {
        let soft = start.iter().copied().collect();
        let mut state = Memberships::of(rows, soft, rows.given_soft(start.view()));
        state.hyper = Hyper { alpha0: 0.8, beta: 0.3 };
        state.update(rows, prior);
        state
    }

    #[test]
    fn one_round_agrees_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let told = &fixtures["nbce_cvb0"];
        let rows = Rows::unfolded(&ensemble);
        let flat = |value| fixture::matrix(value).iter().copied().collect::<Vec<_>>();
        let start = fixture::matrix(&fixtures["nbce_vb"]["R0"]);
        fixture::assert_close(&updated(&rows, &start, NbcePrior::Symmetric).soft, &flat(&told["fsd_R1"]));
        let start = fixture::matrix(&told["tsb_R0"]);
        fixture::assert_close(&updated(&rows, &start, NbcePrior::StickBreaking).soft, &flat(&told["tsb_R1"]));
    }

    /// Distinct rows with whole weights move as every row for itself does.
    #[test]
    fn distinct_rows_are_exact() {
        for seed in 0..40 {
            let ensemble = fixture::drawn(seed);
            let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
            let (folded, each) = (Rows::of(&ensemble), Rows::unfolded(&ensemble));
            let labels = seeding::plus_plus(&folded, 4, Seed::new(seed));
            let fragments = ensemble.fragments();
            let spread = fragments.expand(&labels);
            assert_eq!(fragments.ensemble().bases().len(), bases.len());
            for prior in [NbcePrior::Symmetric, NbcePrior::StickBreaking] {
                let mut one = Memberships::of_hard(&folded, &labels, 4);
                let mut other = Memberships::of_hard(&each, &spread, 4);
                for _ in 0..5 {
                    one.update(&folded, prior);
                    other.update(&each, prior);
                    fixture::assert_close(&one.sums.sizes, &other.sums.sizes);
                    fixture::assert_close(&one.sums.labels, &other.sums.labels);
                }
            }
        }
    }

    #[test]
    fn learning_and_both_priors_reach_an_end() {
        for seed in 0..20 {
            let ensemble = fixture::drawn(seed);
            let prior = [NbcePrior::Symmetric, NbcePrior::StickBreaking][seed as usize % 2];
            let settings = NbceCvbSettings { prior, learn: seed % 3 == 0, ..NbceCvbSettings::default() };
            let outcome = nbce_cvb(&Rows::of(&ensemble), 6, Seed::new(seed), &settings, &Silent).unwrap();
            assert!(outcome.partition.live_clusters() <= 6);
            assert!(outcome.objective.unwrap().value.is_finite());
        }
    }
}
