//! NBCE by mean-field variational inference.

use std::num::NonZeroU32;

use partita_core::{
    Capabilities, Clusters, FitError, Method, MethodInfo, Monitor, Objective, Outcome, Problem, ProblemSize, Seed,
    Sense, Settings,
};
use serde::{Deserialize, Serialize};
use statrs::function::gamma::{digamma, ln_gamma};

use crate::nbce::{NBCE, NbceDiagnostics};
use crate::partial::Partial;
use crate::prior::Hyper;
use crate::restarts::{Rounds, Run, best_of, bytes_of_rounds, climb, course};
use crate::table::{LogTable, column_sums, normalise_columns};
use crate::{MixtureError, Rows, hyper, nbce};

/// Settings of [`nbce_vb`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NbceVbSettings {
    /// Concentration α0 of the Dirichlet process: more means more clusters.
    #[setting(range = 1e-20..=1e20)]
    pub alpha0: f64,
    /// Label pseudo-count β: below 1 wants pure clusters and finds many, 1 to 5 give class-like numbers.
    #[setting(range = 1e-20..=1e20)]
    pub beta: f64,
    /// Learn α0 and β, both under Gamma(1, 1); the values above are where they start.
    pub learn: bool,
    /// Independent initializations, by merging small clusters to K, K/2, K, K/4, K, K/8, … ones; the highest bound is kept
    /// whole.
    ///
    /// Above 65,536 distinct rows they compete on a sample, and the best goes on with all rows.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// The most rounds of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter")]
    pub rounds: NonZeroU32,
    /// Stop when a round gains at most this share of the bound.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for NbceVbSettings {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self { alpha0: 1.0, beta: 1.0, learn: false, restarts: count(8), rounds: count(500), tolerance: 1e-6 }
    }
}

/// A Dirichlet-process mixture of label rows with at most `clusters` clusters, by a lower bound on the evidence.
///
/// ```text
/// π ~ Dir(α0/K, …)   θ_ku ~ Dir(β, …)   z_i ~ π   ℓ_iu ~ θ_{z_i u}      q(π) q(θ) q(z)
/// γ_ik ∝ exp( ψ(ξ_k) − ψ(Σξ) + Σ_u [ψ(ρ_kuℓ) − ψ(Σ_j ρ_kuj)] )
/// ξ_k = α0/K + Σ_i w_i γ_ik       ρ_kuj = β + Σ_i w_i γ_ik δ(ℓ_iu = j)
/// ```
///
/// | paper | here |
/// |---|---|
/// | γ | the soft result, n × K |
/// | ξ, ρ | Dirichlet parameters of cluster shares and label shares |
/// | K, α0, β | `clusters`, `alpha0`, `beta` |
///
/// The bound never falls. With learned α0 and β it is the bound plus their log prior densities. Clusters that stay empty are reported as one last cluster, which stands for "none of these"
/// in the saved model. Rows may have any weights.
///
/// # Cost
/// O(distinct rows · M · K) time a round, in parallel over restarts and rows; 64 ΣJ K numbers a restart and n K for
/// the result. The memberships are never held while it climbs.
///
/// # Differences from the paper
/// The printed update of γ has ln ρ where the bound wants ψ(ρ) − ψ(Σρ); the printed one is no ascent step and
/// collapses clusters. Eq. 7 sums u over base clusterings, and adds E ln p(π). Missing labels drop out.
///
/// # Errors
/// [`MixtureError::Settings`] for a tolerance below 0, or α0 or β out of range; [`MixtureError::NoClusters`] for K = 0.
///
/// # References
/// Wang, Domeniconi, Laskey, *Nonparametric Bayesian clustering ensembles*, ECML PKDD 2010.
pub fn nbce_vb(
    rows: &Rows<'_>,
    clusters: usize,
    seed: Seed,
    settings: &NbceVbSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<NbceDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("nbce-vb", rows = rows.weights().len(), clusters).entered();
    MixtureError::check_clusters(clusters)?;
    settings.validate(&ProblemSize::of(rows.ensemble(), Clusters::Exactly(clusters)))?;
    let (most, restarts) = (settings.rounds.get(), settings.restarts.get());
    let rounds = Rounds::new(monitor, u64::from(most) * (u64::from(restarts) + 1));
    let course = course(rows, seed);
    let (mut run, objectives) = race(course.as_ref().unwrap_or(rows), clusters, seed, settings, &rounds);
    if course.is_some() {
        run = climb_on(rows, run.result, settings, &rounds);
    }
    Ok(outcome(rows, run, objectives))
}

/// The best of all starts, and the bounds of all.
pub(crate) fn race(
    rows: &Rows<'_>,
    clusters: usize,
    seed: Seed,
    settings: &NbceVbSettings,
    rounds: &Rounds<'_>,
) -> (Run<Posterior>, Vec<f64>) {
    let hyper = Hyper { alpha0: settings.alpha0, beta: settings.beta };
    best_of(settings.restarts.get(), |restart| {
        let start = Posterior::of(nbce::begin(rows, clusters, restart, seed), hyper, rows.offsets());
        climb_on(rows, start, settings, rounds)
    })
}

fn climb_on(rows: &Rows<'_>, start: Posterior, settings: &NbceVbSettings, rounds: &Rounds<'_>) -> Run<Posterior> {
    let limits = (settings.rounds.get(), settings.tolerance);
    climb(start, limits, rounds, |posterior| round(rows, posterior, settings.learn))
}

/// q(π) and q(θ), with what their next E-step reads.
#[derive(Clone, Debug)]
pub(crate) struct Posterior {
    pub(crate) hyper: Hyper,
    /// ξ, K values.
    shares: Vec<f64>,
    /// ρ, ΣJ lines of K values.
    labels: Vec<f64>,
    /// Σ_j ρ_kuj, M lines of K values.
    totals: Vec<f64>,
    /// E ln π and E ln θ.
    pub(crate) table: LogTable,
}

impl Posterior {
    fn of(sums: Partial, hyper: Hyper, offsets: &[usize]) -> Self {
        let clusters = sums.sizes.len();
        let (mut shares, mut labels) = (sums.sizes, sums.labels);
        shares.iter_mut().for_each(|share| *share += hyper.alpha0 / clusters as f64);
        labels.iter_mut().for_each(|label| *label += hyper.beta);
        let all = digamma(shares.iter().sum());
        let prior = shares.iter().map(|&share| digamma(share) - all).collect();
        let totals = column_sums(&labels, offsets, clusters);
        let mut lines: Vec<f64> = labels.iter().map(|&label| digamma(label)).collect();
        for (ends, totals) in offsets.windows(2).zip(totals.chunks_exact(clusters)) {
            let logs: Vec<f64> = totals.iter().map(|&total| digamma(total)).collect();
            for line in lines[ends[0] * clusters..ends[1] * clusters].chunks_exact_mut(clusters) {
                line.iter_mut().zip(&logs).for_each(|(line, log)| *line -= log);
            }
        }
        Self { hyper, shares, labels, totals, table: LogTable { prior, lines } }
    }

    /// E π and E θ.
    pub(crate) fn means(&self, offsets: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let (mut prior, mut theta) = (self.shares.clone(), self.labels.clone());
        normalise_columns(&mut theta, offsets, prior.len());
        let total: f64 = prior.iter().sum();
        prior.iter_mut().for_each(|share| *share /= total);
        (prior, theta)
    }

    /// KL(q(π) ‖ p(π)) + KL(q(θ) ‖ p(θ)).
    fn divergence(&self, offsets: &[usize]) -> f64 {
        let clusters = self.shares.len() as f64;
        let Hyper { alpha0, beta } = self.hyper;
        let bases = |ends: &[usize]| (ends[1] - ends[0]) as f64;
        let normaliser = |ends: &[usize]| bases(ends) * ln_gamma(beta) - ln_gamma(bases(ends) * beta);
        let pi = ln_gamma(self.shares.iter().sum()) - ln_gamma(alpha0) + clusters * ln_gamma(alpha0 / clusters);
        let theta: f64 = clusters * offsets.windows(2).map(normaliser).sum::<f64>();
        let tops: f64 = self.totals.iter().map(|&total| ln_gamma(total)).sum();
        pi + theta
            + tops
            + tilt(&self.shares, &self.table.prior, alpha0 / clusters)
            + tilt(&self.labels, &self.table.lines, beta)
    }
}

/// Σ (a − c) E ln − ln Γ(a) over the parameters a of a Dirichlet with prior c.
fn tilt(parameters: &[f64], logs: &[f64], prior: f64) -> f64 {
    parameters.iter().zip(logs).map(|(&a, log)| (a - prior) * log - ln_gamma(a)).sum()
}

/// The bound at the best q(z) for `posterior` (plus the log densities of learned α0 and β), and the next posterior.
fn round(rows: &Rows<'_>, posterior: &Posterior, learn: bool) -> (f64, Posterior) {
    advance(rows.expect(&posterior.table), posterior, rows.offsets(), learn)
}

/// The same from what the rows expect.
pub(crate) fn advance(sums: Partial, posterior: &Posterior, offsets: &[usize], learn: bool) -> (f64, Posterior) {
    let Hyper { alpha0, beta } = posterior.hyper;
    let bound = sums.log_sum - posterior.divergence(offsets) - if learn { alpha0 + beta } else { 0.0 };
    let mut next = Posterior::of(sums, posterior.hyper, offsets);
    if learn {
        next.hyper = hyper::maximise(&next.table.prior, next.table.lines.iter().sum(), offsets);
    }
    (bound, next)
}

fn outcome(rows: &Rows<'_>, run: Run<Posterior>, objective_by_restart: Vec<f64>) -> Outcome<NbceDiagnostics> {
    let posterior = run.result;
    let soft = rows.memberships(&posterior.table);
    let (prior, theta) = posterior.means(rows.offsets());
    let mut outcome = nbce::outcome(rows, soft.view(), (&prior, &theta), run.stopped);
    outcome.rounds = run.trace.len() as u64;
    outcome.objective = Some(objective(run.trace));
    let (alpha0, beta) = (posterior.hyper.alpha0, posterior.hyper.beta);
    outcome.map_details(|fit| NbceDiagnostics { fit, alpha0, beta, objective_by_restart })
}

pub(crate) fn objective(trace: Vec<f64>) -> Objective {
    let (name, sense) = ("lower bound on the log evidence, nats", Sense::Maximise);
    Objective { name, sense, value: trace[trace.len() - 1], trace }
}

/// [`nbce_vb`] as a method. `Clusters::Auto` allows twice as many clusters as the largest base clustering has.
#[derive(Debug)]
pub struct NbceVb;

/// NBCE by variational inference, [`nbce_vb`].
pub static NBCE_VB: NbceVb = NbceVb;

static INFO: MethodInfo = MethodInfo {
    name: "nbce-vb",
    summary: "nonparametric mixture by variational inference: finds K itself, fast, scales to millions of rows",
    remedy: "allow fewer clusters, or set restarts lower",
    capabilities: Capabilities { streams: true, ..NBCE.capabilities },
    ..NBCE
};

impl Method for NbceVb {
    type Settings = NbceVbSettings;
    type Diagnostics = NbceDiagnostics;
    type Error = FitError;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &NbceVbSettings) -> u64 {
        bytes_of_rounds(&nbce::truncated(size), settings.restarts)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &NbceVbSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<NbceDiagnostics>, FitError> {
        Ok(nbce_vb(
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
    use crate::prior::{NbcePrior, log_labels};
    use crate::seeding;
    use crate::table::normalise;
    use partita_core::ndarray::{Array2, ArrayView2};
    use partita_core::{Ensemble, Silent};

    /// The bound at any memberships, with the best q(π) and q(θ) for them.
    fn bound(rows: &Rows<'_>, soft: ArrayView2<'_, f64>, hyper: Hyper) -> f64 {
        let sums = rows.given_soft(soft);
        let posterior = Posterior::of(sums.clone(), hyper, rows.offsets());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let expected = dot(&sums.sizes, &posterior.table.prior) + dot(&sums.labels, &posterior.table.lines);
        let entropy: f64 = soft.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
        expected + entropy - posterior.divergence(rows.offsets())
    }

    const HYPER: Hyper = Hyper { alpha0: 0.8, beta: 0.3 };

    #[test]
    fn one_round_agrees_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let told = &fixtures["nbce_vb"];
        let rows = Rows::unfolded(&ensemble);
        let soft = fixture::matrix(&told["R0"]);
        let posterior = Posterior::of(rows.given_soft(soft.view()), HYPER, rows.offsets());
        let after = rows.memberships(&posterior.table);
        let flat = |matrix: &Array2<f64>| matrix.iter().copied().collect::<Vec<_>>();
        fixture::assert_close(&flat(&after), &flat(&fixture::matrix(&told["R1"])));
        let found = [bound(&rows, soft.view(), HYPER), bound(&rows, after.view(), HYPER)];
        fixture::assert_close(&found, &["elbo_at_R0", "elbo_after_update"].map(|name| told[name].as_f64().unwrap()));
    }

    #[test]
    fn the_bound_never_falls() {
        for seed in 0..240 {
            let ensemble = fixture::drawn(seed);
            let (alpha0, beta) = ([0.3, 1.0, 3.0][seed as usize % 3], [0.1, 1.0][seed as usize % 2]);
            let settings = NbceVbSettings { alpha0, beta, learn: seed % 4 == 0, ..NbceVbSettings::default() };
            let outcome = nbce_vb(&Rows::of(&ensemble), 6, Seed::new(seed), &settings, &Silent).unwrap();
            let trace = outcome.objective.unwrap().trace;
            assert!(trace.windows(2).all(|pair| pair[1] >= pair[0] - 1e-10 * pair[0].abs()), "seed {seed}: {trace:?}");
        }
    }

    /// With ln ρ in place of ψ(ρ) − ψ(Σρ), the update that the paper prints, the bound falls.
    #[test]
    fn the_printed_update_does_not_ascend() {
        let mut falls = 0;
        for seed in 0..50 {
            let ensemble = fixture::drawn(seed);
            let rows = Rows::unfolded(&ensemble);
            let nearest = seeding::plus_plus(&rows, 4, Seed::new(seed));
            let mut sums = rows.given_hard(&nearest, 4);
            let mut before = f64::NEG_INFINITY;
            for _ in 0..20 {
                let mut posterior = Posterior::of(sums, HYPER, rows.offsets());
                posterior.table.lines = posterior.labels.iter().map(|label| label.ln()).collect();
                let soft = rows.memberships(&posterior.table);
                let after = bound(&rows, soft.view(), HYPER);
                falls += u32::from(after < before - 1e-3);
                before = after;
                sums = rows.given_soft(soft.view());
            }
        }
        assert!(falls > 50, "the printed update fell {falls} times of 950");
    }

    /// ln p(labels), by all assignments of the objects.
    fn evidence(ensemble: &Ensemble, clusters: usize, hyper: Hyper) -> f64 {
        let rows = Rows::unfolded(ensemble);
        let n = ensemble.objects() as u32;
        let joint = |code: usize| {
            let z: Vec<u32> = (0..n).map(|i| (code / clusters.pow(i) % clusters) as u32).collect();
            let sums = rows.given_hard(&z, clusters);
            NbcePrior::Symmetric.log_partition(&sums.sizes, hyper.alpha0)
                + log_labels(&sums, rows.offsets(), hyper.beta)
        };
        normalise(&mut (0..clusters.pow(n)).map(joint).collect::<Vec<f64>>())
    }

    #[test]
    fn the_bound_is_below_the_evidence() {
        for seed in 0..20 {
            let drawn = fixture::drawn(seed);
            let bases: Vec<u32> = (0..drawn.bases().len() as u32).collect();
            let ensemble = drawn.select(&[0, 1, 2, 3, 4, 5], &bases);
            let settings = NbceVbSettings { alpha0: 0.8, beta: 0.3, ..NbceVbSettings::default() };
            let outcome = nbce_vb(&Rows::of(&ensemble), 3, Seed::new(seed), &settings, &Silent).unwrap();
            let (bound, evidence) = (outcome.objective.unwrap().value, evidence(&ensemble, 3, HYPER));
            assert!(bound <= evidence && bound > evidence - 6.0, "seed {seed}: {bound} and {evidence}");
        }
    }

    #[test]
    fn repeated_rows_with_halved_weights_change_nothing() {
        for seed in 0..40 {
            let ensemble = fixture::drawn(seed);
            let n = ensemble.objects() as u32;
            let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
            let twice = ensemble.select(&(0..2 * n).map(|i| i % n).collect::<Vec<_>>(), &bases);
            let fit = |rows: &Rows<'_>| nbce_vb(rows, 5, Seed::new(seed), &NbceVbSettings::default(), &Silent).unwrap();
            let once = fit(&Rows::of(&ensemble));
            let again = fit(&Rows::weighted(&twice, &vec![0.5; twice.objects()]).unwrap());
            assert_eq!(again.objective, once.objective);
            assert_eq!(again.partition.labels()[..n as usize], *once.partition.labels());
            assert_eq!(again.partition.labels()[n as usize..], *once.partition.labels());
        }
    }

    /// From the same posterior, distinct rows with weights and every row for itself give the same round.
    #[test]
    fn distinct_rows_are_exact() {
        for seed in 0..40 {
            let ensemble = fixture::drawn(seed);
            let (folded, each) = (Rows::of(&ensemble), Rows::unfolded(&ensemble));
            let start = rows_start(&folded, seed);
            let ((one, next), (other, last)) = (round(&folded, &start, true), round(&each, &start, true));
            assert!((one - other).abs() < 1e-10 * one.abs());
            fixture::assert_close(&next.labels, &last.labels);
        }
    }

    fn rows_start(rows: &Rows<'_>, seed: u64) -> Posterior {
        let nearest = seeding::plus_plus(rows, 3, Seed::new(seed));
        Posterior::of(rows.given_hard(&nearest, 4), HYPER, rows.offsets())
    }

    /// With very many distinct rows, starts race on a sample.
    #[test]
    fn many_rows_are_raced_for() {
        let ensemble = fixture::many(75_000, 16, 5);
        let rows = Rows::of(&ensemble);
        assert!(crate::restarts::course(&rows, Seed::new(1)).is_some());
        let settings = NbceVbSettings { restarts: NonZeroU32::new(2).unwrap(), ..NbceVbSettings::default() };
        let outcome = nbce_vb(&rows, 5, Seed::new(1), &settings, &Silent).unwrap();
        let right = (0..75_000).filter(|&i| outcome.partition.labels()[i] == outcome.partition.labels()[i % 5]).count();
        assert!(right > 74_000, "{right}");
    }
}
