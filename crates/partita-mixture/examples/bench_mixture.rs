//! CPU seconds of the three ways of inference for NBCE, each beside a naive twin in the same run.
//!
//! ```text
//! cargo run --release -p partita-mixture --example bench_mixture [repeats]
//! ```
//!
//! 2310 objects in 7 groups, 10 base clusterings of 4, 5, 7, 10 and 14 clusters (twice each), a fifth of the labels
//! wrong, at most 100 clusters; one thread. The twins follow the formulas: counts in nested vectors, a logarithm a
//! factor, an exponential a cluster.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::num::NonZeroU32;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use partita_core::{Ensemble, EnsembleBuilder, Seed, Silent};
use partita_mixture::{NbceCvbSettings, NbceGibbsSettings, NbceVbSettings, Rows, nbce_cvb, nbce_draws, nbce_vb};
use rand::{Rng, RngExt};
use statrs::function::gamma::digamma;

const OBJECTS: usize = 2310;
const CLUSTERS: usize = 100;
const SWEEPS: u32 = 100;
const VB_ROUNDS: u32 = 54;
const CVB_ROUNDS: u32 = 100;

fn main() {
    let repeats: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(5);
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the first pool of the process");
    let ensemble = ensemble();
    let rows = Rows::unfolded(&ensemble);
    println!("{OBJECTS} objects, {} distinct rows", Rows::of(&ensemble).weights().len());
    let labels = Naive::of(&ensemble);
    compare("Gibbs, 100 sweeps", 0.25, repeats, || gibbs(&ensemble), || labels.gibbs(SWEEPS));
    compare("VB, 54 rounds", 0.3, repeats, || vb(&rows), || labels.vb(VB_ROUNDS));
    compare("CVB, 100 rounds", 0.8, repeats, || cvb(&rows), || labels.cvb(CVB_ROUNDS));
}

/// Prints the median CPU seconds of a computation and of its twin, run in turn.
fn compare(what: &str, target: f64, repeats: usize, fast: impl Fn() -> f64, naive: impl Fn() -> f64) {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        one.push(seconds(&fast));
        other.push(seconds(&naive));
    }
    let (one, other) = (median(&mut one), median(&mut other));
    println!("{what}: {one:.3} s (target {target} s), naive {other:.3} s, ratio {:.1}", other / one);
}

fn seconds(work: &impl Fn() -> f64) -> f64 {
    let spent = || {
        let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the process may ask for its own usage");
        (usage.user_time() + usage.system_time()).num_microseconds() as f64 * 1e-6
    };
    let before = spent();
    std::hint::black_box(work());
    spent() - before
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn ensemble() -> Ensemble {
    let mut rng = Seed::new(1).rng();
    let mut builder = EnsembleBuilder::new(OBJECTS);
    for u in 0..10 {
        let clusters = [4, 5, 7, 10, 14][u % 5];
        let mut label = |i: usize| {
            let wrong = rng.random_bool(0.2);
            let part = rng.random_range(0..(clusters as usize).div_ceil(7)) as u32;
            let right = ((i % 7) as u32 + 7 * part) % clusters;
            Some(if wrong { rng.random_range(0..clusters) } else { right })
        };
        let labels: Vec<Option<u32>> = (0..OBJECTS).map(&mut label).collect();
        builder.push_clusters(format!("u{u}"), labels, clusters as usize).expect("labels below the clusters");
    }
    builder.finish().expect("objects and base clusterings")
}

fn count(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("not zero")
}

fn gibbs(ensemble: &Ensemble) -> f64 {
    let mut settings = NbceGibbsSettings::default();
    (settings.chains, settings.burn_in, settings.sweeps, settings.keep) = (count(1), 0, count(SWEEPS), count(1));
    let draws = nbce_draws(ensemble, CLUSTERS, Seed::new(1), &settings, &Silent).expect("valid settings");
    draws.samples.log_joint()[0]
}

fn vb(rows: &Rows<'_>) -> f64 {
    let mut settings = NbceVbSettings::default();
    (settings.restarts, settings.rounds, settings.tolerance) = (count(1), count(VB_ROUNDS), 0.0);
    let outcome = nbce_vb(rows, CLUSTERS, Seed::new(1), &settings, &Silent).expect("valid settings");
    assert_eq!(outcome.rounds, u64::from(VB_ROUNDS), "it stopped early: the figure would flatter");
    outcome.objective.map_or(0.0, |objective| objective.value)
}

fn cvb(rows: &Rows<'_>) -> f64 {
    let mut settings = NbceCvbSettings::default();
    (settings.restarts, settings.rounds, settings.tolerance) = (count(1), count(CVB_ROUNDS), 0.0);
    let outcome = nbce_cvb(rows, CLUSTERS, Seed::new(1), &settings, &Silent).expect("valid settings");
    assert_eq!(outcome.rounds, u64::from(CVB_ROUNDS), "it stopped early: the figure would flatter");
    outcome.objective.map_or(0.0, |objective| objective.value)
}

/// Labels as the formulas see them; α0 = β = 1, symmetric prior, nothing missing.
struct Naive {
    labels: Vec<Vec<usize>>,
    sizes: Vec<usize>,
}

/// N_k and N_kuj.
struct Counts {
    clusters: Vec<f64>,
    labels: Vec<Vec<Vec<f64>>>,
}

impl Naive {
    fn of(ensemble: &Ensemble) -> Self {
        let bases = 0..ensemble.bases().len();
        let row = |i| bases.clone().map(|u| ensemble.label(i, u).expect("nothing is missing")).collect();
        let sizes = ensemble.bases().iter().map(partita_core::BaseClustering::clusters).collect();
        Self { labels: (0..ensemble.objects()).map(row).collect(), sizes }
    }

    fn count(&self, soft: &[Vec<f64>]) -> Counts {
        let empty: Vec<Vec<f64>> = self.sizes.iter().map(|&size| vec![0.0; size]).collect();
        let mut counts = Counts { clusters: vec![0.0; CLUSTERS], labels: vec![empty; CLUSTERS] };
        for (row, soft) in self.labels.iter().zip(soft) {
            for (k, p) in soft.iter().enumerate() {
                counts.clusters[k] += p;
                row.iter().enumerate().for_each(|(u, &j)| counts.labels[k][u][j] += p);
            }
        }
        counts
    }

    /// ln of the conditional of a row, when `own` memberships do not count.
    fn conditional(&self, row: &[usize], own: &[f64], counts: &Counts) -> Vec<f64> {
        let cluster = |k: usize| {
            let labels = row.iter().enumerate().map(|(u, &j)| {
                let rest = self.sizes[u] as f64 + counts.clusters[k] - own[k];
                (1.0 + counts.labels[k][u][j] - own[k]).ln() - rest.ln()
            });
            (1.0 / CLUSTERS as f64 + counts.clusters[k] - own[k]).ln() + labels.sum::<f64>()
        };
        (0..CLUSTERS).map(cluster).collect()
    }

    fn start(&self) -> Vec<Vec<f64>> {
        let one = |i: usize| (0..CLUSTERS).map(|k| f64::from(u8::from(i % CLUSTERS == k))).collect();
        (0..self.labels.len()).map(one).collect()
    }

    fn gibbs(&self, sweeps: u32) -> f64 {
        let mut rng = Seed::new(1).rng();
        let mut soft = self.start();
        let mut counts = self.count(&soft);
        for _ in 0..sweeps {
            for (row, own) in self.labels.iter().zip(&mut soft) {
                let p = softmax(&self.conditional(row, own, &counts));
                let from = own.iter().position(|&p| p == 1.0).expect("every object is somewhere");
                let to = draw(&p, &mut rng);
                for (k, change) in [(from, -1.0), (to, 1.0)] {
                    counts.clusters[k] += change;
                    row.iter().enumerate().for_each(|(u, &j)| counts.labels[k][u][j] += change);
                    own[k] += change;
                }
            }
        }
        counts.clusters[0]
    }

    fn cvb(&self, rounds: u32) -> f64 {
        let mut soft = self.start();
        for _ in 0..rounds {
            let counts = self.count(&soft);
            for (row, own) in self.labels.iter().zip(&mut soft) {
                *own = softmax(&self.conditional(row, own, &counts));
            }
        }
        soft[0][0]
    }

    fn vb(&self, rounds: u32) -> f64 {
        let mut soft = self.start();
        for _ in 0..rounds {
            let counts = self.count(&soft);
            let label = |k: usize, u: usize| {
                let all = digamma(self.sizes[u] as f64 + counts.clusters[k]);
                counts.labels[k][u].iter().map(|count| digamma(1.0 + count) - all).collect::<Vec<f64>>()
            };
            let cluster = |k| (0..self.sizes.len()).map(|u| label(k, u)).collect();
            let logs: Vec<Vec<Vec<f64>>> = (0..CLUSTERS).map(cluster).collect();
            let prior: Vec<f64> = counts.clusters.iter().map(|n| digamma(1.0 / CLUSTERS as f64 + n)).collect();
            for (row, own) in self.labels.iter().zip(&mut soft) {
                let score = |k: usize| prior[k] + row.iter().enumerate().map(|(u, &j)| logs[k][u][j]).sum::<f64>();
                *own = softmax(&(0..CLUSTERS).map(score).collect::<Vec<f64>>());
            }
        }
        soft[0][0]
    }
}

fn softmax(logs: &[f64]) -> Vec<f64> {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

fn draw(p: &[f64], rng: &mut impl Rng) -> usize {
    let mut left = rng.random::<f64>();
    let passed = |p: &f64| {
        left -= p;
        left < 0.0
    };
    p.iter().position(passed).unwrap_or(p.len() - 1)
}
