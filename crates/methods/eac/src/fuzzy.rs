//! Fuzzy clusters of the co-association: fuzzy k-means of its rows, and fuzzy k-medoids of its pairs.

use std::num::{NonZeroU32, Saturating};

use partita_coassoc::{CoAssociation, GivenPairs};
use partita_core::ndarray::{Array1, Array2, ArrayView2, Axis};
use partita_core::rand::RngExt;
use partita_core::{
    Capabilities, FitError, Flow, Method, MethodInfo, Monitor, MultiStart, Objective, Outcome,
    Problem, ProblemSize, ProgressCounter, Seed, Sense, SettingChoice, Settings, SoftBases,
    SoftPartition, Stopped, Weights,
};
use serde::{Deserialize, Serialize};

use crate::EacError;

/// What a fuzzy cluster is represented by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Prototypes {
    /// The mean of rows of the co-association: fuzzy k-means.
    #[default]
    Means,
    /// Weights of all objects: fuzzy k-medoids with weighted medoids.
    Medoids,
}

/// Settings of [`EAC_FUZZY`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct EacFuzzySettings {
    /// What clusters are represented by: means (fuzzy k-means, an object's row of the co-association being its features) or medoids (fuzzy
    /// k-medoids with weights of all objects, 1 − c/N being the dissimilarity).
    pub prototypes: Prototypes,
    /// The exponent of the memberships: near 1 labels are hard, and the larger it is the more alike all memberships are.
    #[setting(above = 1.0, range = ..=10.0, alias = "m")]
    pub fuzzifier: f64,
    /// Random initializations; the lowest objective is kept.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// The most iterations of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: NonZeroU32,
    /// Stop when no membership changes by more than this.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for EacFuzzySettings {
    fn default() -> Self {
        Self {
            prototypes: Prototypes::Means,
            fuzzifier: 2.0,
            restarts: NonZeroU32::new(10).expect("not 0"),
            iterations: NonZeroU32::new(300).expect("not 0"),
            tolerance: 1e-6,
        }
    }
}

/// Fuzzy k-means and fuzzy k-medoids on the co-association: what the PCC paper names beside itself.
///
/// ```text
/// means:    minimise Σ_ik u_ik^m ‖C_i − v_k‖²                    u_ik ∝ ‖C_i − v_k‖^(−2/(m−1)),  v_k = Σ_i u_ik^m C_i / Σ_i u_ik^m
/// medoids:  minimise Σ_ik u_ik^m Σ_j v_jk^m (1 − C_ij)           u_ik, v_jk ∝ the other's sum to the power −1/(m−1)
/// ```
///
/// with memberships `Σ_k u_ik = 1`, and weights of medoids `Σ_j v_jk = 1`. C has c/N of every pair, 0 where nothing is known of it, and 1 on
/// its diagonal. A weight of a base clustering counts in c and N, an object of weight w as w objects. A baseline: it does not read how certain a share is.
///
/// # Cost
/// O(n² K) an iteration and start; 16 n² bytes.
///
/// # Differences from the papers
/// They say no start; memberships drawn from Dirichlet(1), the best of ten. One exponent for memberships and medoids.
///
/// # References
/// Bezdek, *Pattern recognition with fuzzy objective function algorithms*, 1981; Mei, Chen, *Fuzzy clustering with weighted medoids for
/// relational data*, Pattern Recognition 43(5), 2010.
#[doc(alias("fuzzy c-means", "fuzzy k-medoids"))]
pub static EAC_FUZZY: EacFuzzy = EacFuzzy;

/// The method of [`EAC_FUZZY`].
#[derive(Debug)]
pub struct EacFuzzy;

static INFO: MethodInfo = MethodInfo {
    name: "eac-fuzzy",
    family: "eac",
    summary: "fuzzy k-means or k-medoids on how often objects are together; memberships, a baseline",
    reference: "Bezdek 1981; Mei and Chen 2010, Pattern Recognition 43(5)",
    time: "n²M + n² K · iterations",
    memory: "n²",
    remedy: "take pcc-l2, which reads a sample of the pairs",
    capabilities: Capabilities {
        soft: true,
        clusters_is_maximum: true,
        seeded: true,
        soft_bases: SoftBases::Native,
        base_weights: Weights::Native,
        object_weights: Weights::Native,
        start: true,
        pairs: true,
        ..Capabilities::HARD_LABELS
    },
};

/// Distances of 0, of which none is the nearest, count as this.
const NOTHING: f64 = 1e-300;

/// Memberships, and what they come to.
struct Run {
    memberships: Array2<f64>,
    trace: Vec<f64>,
    stopped: Stopped,
}

/// Rows of shares and what clusters of them are represented by.
struct Fuzzy<'a> {
    /// Of means times the root of the weight of each column, so that distances are those of copies.
    shares: ArrayView2<'a, f64>,
    /// The weights of the objects, n × 1.
    weights: Array2<f64>,
    settings: &'a EacFuzzySettings,
}

impl Fuzzy<'_> {
    /// The distance of every object from every cluster, n × K, given what the clusters have of the objects (w u^m).
    fn distances(&self, powers: &Array2<f64>) -> Array2<f64> {
        match self.settings.prototypes {
            Prototypes::Means => {
                let parts = powers / &powers.sum_axis(Axis(0)).mapv(|sum| sum.max(NOTHING));
                let means = self.shares.t().dot(&parts);
                let of_rows = self.shares.outer_iter().map(|row| row.dot(&row));
                let of_means = means.axis_iter(Axis(1)).map(|mean| mean.dot(&mean));
                let squares = Array1::from_iter(of_rows).insert_axis(Axis(1))
                    + Array1::from_iter(of_means).insert_axis(Axis(0))
                    - 2.0 * self.shares.dot(&means);
                squares.mapv(|square| square.max(0.0))
            }
            Prototypes::Medoids => {
                let near = self.inverse(&self.apart(powers).reversed_axes());
                let medoids = (&near / &near.dot(&self.weights)).reversed_axes();
                self.apart(&self.powers(&medoids))
            }
        }
    }

    /// `Σ_j (1 − C_ij) x_jk`, n × K.
    fn apart(&self, x: &Array2<f64>) -> Array2<f64> {
        let sums = x.sum_axis(Axis(0)).insert_axis(Axis(0));
        (sums - self.shares.dot(x)).mapv(|apart| apart.max(0.0))
    }

    /// Rows in proportion to the inverse of these distances, to the power 1/(m − 1), each with the sum 1.
    fn inverse(&self, distances: &Array2<f64>) -> Array2<f64> {
        let power = 1.0 / (self.settings.fuzzifier - 1.0);
        let mut rows = distances.clone();
        for mut row in rows.outer_iter_mut() {
            // Over the smallest, so that no power is out of range.
            let least = row.fold(f64::INFINITY, |a, &b| a.min(b)).max(NOTHING);
            row.mapv_inplace(|d| (least / d.max(NOTHING)).powf(power));
            let sum = row.sum();
            row.mapv_inplace(|u| u / sum);
        }
        rows
    }

    /// w u^m.
    fn powers(&self, of: &Array2<f64>) -> Array2<f64> {
        of.mapv(|u| u.powf(self.settings.fuzzifier)) * &self.weights
    }

    fn run(&self, memberships: Array2<f64>, monitor: &dyn Monitor) -> Run {
        let settings = self.settings;
        let mut run = Run {
            memberships,
            trace: Vec::new(),
            stopped: Stopped::IterationLimit,
        };
        let iterations = u64::from(settings.iterations.get());
        for iteration in 1..=iterations {
            let distances = self.distances(&self.powers(&run.memberships));
            let next = self.inverse(&distances);
            run.trace.push((self.powers(&next) * &distances).sum());
            let changes = next.iter().zip(&run.memberships);
            let change = changes.fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()));
            run.memberships = next;
            if change <= settings.tolerance {
                run.stopped = Stopped::Converged;
                break;
            }
            if monitor.tick(iteration, iterations) == Flow::Stop {
                run.stopped = Stopped::Interrupted;
                break;
            }
        }
        run
    }
}

/// The co-association with ones on its diagonal, n × n; 0 where nothing is known of a pair.
fn shares(problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Array2<f64>, EacError> {
    let source = problem.weighted();
    let pairs = match problem.pairs {
        Some(list) => GivenPairs::of(list, source, problem.budget, monitor)?,
        None => GivenPairs::All(CoAssociation::count(source, problem.budget, monitor)?),
    };
    let mut shares = Array2::eye(problem.ensemble.objects());
    let mut put = |i: usize, j: usize, c: u32, n: u32| {
        let share = f64::from(c) / f64::from(n.max(1));
        (shares[[i, j]], shares[[j, i]]) = (share, share);
    };
    match pairs {
        GivenPairs::All(pairs) => {
            let each = (0..pairs.objects()).flat_map(|i| (0..i).map(move |j| (i, j)));
            each.for_each(|(i, j)| put(i, j, pairs.pair(i, j).0, pairs.pair(i, j).1));
        }
        GivenPairs::Some(pairs) => {
            let each = pairs.each_pair();
            each.for_each(|(i, j, c, n)| put(i as usize, j as usize, c, n));
        }
    }
    Ok(shares)
}

/// Rows drawn from Dirichlet(1).
fn drawn(objects: usize, clusters: usize, seed: Seed) -> Array2<f64> {
    let mut rng = seed.rng();
    let draw = || -> f64 { -f64::ln(1.0 - rng.random::<f64>()) + f64::MIN_POSITIVE };
    let mut rows = Array2::from_shape_simple_fn((objects, clusters), draw);
    for mut row in rows.outer_iter_mut() {
        let sum = row.sum();
        row.mapv_inplace(|u| u / sum);
    }
    rows
}

impl Method for EacFuzzy {
    type Settings = EacFuzzySettings;
    type Diagnostics = ();

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, _settings: &EacFuzzySettings) -> u64 {
        let [n, _, _, k] = size.saturating();
        let counts = CoAssociation::bytes(size.objects, size.base_clusterings, true);
        (Saturating(counts) + n * n * Saturating(16) + n * k * Saturating(128)).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &EacFuzzySettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<()>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        let starts = match problem.start {
            Some(_) => 1,
            None => u64::from(settings.restarts.get()),
        };
        let progress = ProgressCounter::new(monitor, starts + 1);
        let mut shares = shares(problem, &progress.part(1))?;
        let weights = match problem.weighted().multiplicities() {
            Some(weights) => Array1::from(weights.to_vec()),
            None => Array1::ones(shares.nrows()),
        };
        if settings.prototypes == Prototypes::Means {
            shares *= &weights.mapv(f64::sqrt);
        }
        let fuzzy = Fuzzy {
            shares: shares.view(),
            weights: weights.insert_axis(Axis(1)),
            settings,
        };
        let mut runs = Vec::new();
        for start in 0..starts {
            let memberships = match problem.start {
                Some(start) => start.rows().to_owned(),
                None => drawn(shares.nrows(), clusters, problem.seed.child(start)),
            };
            runs.push(fuzzy.run(memberships, &progress.part(1)));
            if progress.stopped() {
                break;
            }
        }
        Ok(outcome(runs))
    }
}

fn outcome(mut runs: Vec<Run>) -> Outcome<()> {
    let value = |run: &Run| run.trace.last().copied().unwrap_or(f64::INFINITY);
    let objectives: Vec<f64> = runs.iter().map(value).collect();
    let interrupted = runs.iter().any(|run| run.stopped == Stopped::Interrupted);
    let best = MultiStart::new(Sense::Minimise).best(&objectives);
    let run = runs.swap_remove(best.expect("a run"));
    let stopped = if interrupted {
        Stopped::Interrupted
    } else {
        run.stopped
    };
    let soft = SoftPartition::new(run.memberships).expect("rows were divided by their sums");
    let mut outcome = Outcome::soft(soft, stopped);
    outcome.iterations = run.trace.len() as u64;
    outcome.objective = Some(Objective {
        name: "fuzzy sum of distances",
        sense: Sense::Minimise,
        value: objectives[best.expect("a run")],
        trace: run.trace,
    });
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{Clusters, EnsembleBuilder, SettingMap, Silent, consense};

    /// One iteration as the books write it, object by object; the objective with the new memberships.
    fn plain(c: &Array2<f64>, u: &Array2<f64>, m: f64, medoids: bool) -> (Array2<f64>, f64) {
        let (n, clusters) = u.dim();
        let inverse = |x: f64| x.powf(-1.0 / (m - 1.0));
        let distance = |i: usize, k: usize| {
            let part = |i: usize| u[[i, k]].powf(m);
            let mean = |j: usize| {
                let sum: f64 = (0..n).map(|o| part(o) * c[[o, j]]).sum();
                sum / (0..n).map(part).sum::<f64>()
            };
            let cost = |j: usize| (0..n).map(|o| part(o) * (1.0 - c[[o, j]])).sum::<f64>();
            let all: f64 = (0..n).map(|j| inverse(cost(j))).sum();
            let weight = |j: usize| (inverse(cost(j)) / all).powf(m);
            let of_medoids = |j: usize| weight(j) * (1.0 - c[[i, j]]);
            let of_means = |j: usize| (c[[i, j]] - mean(j)).powi(2);
            (0..n)
                .map(|j| if medoids { of_medoids(j) } else { of_means(j) })
                .sum::<f64>()
        };
        let distances = Array2::from_shape_fn((n, clusters), |(i, k)| distance(i, k));
        let mut next = distances.mapv(inverse);
        for mut row in next.outer_iter_mut() {
            let sum = row.sum();
            row.mapv_inplace(|u| u / sum);
        }
        let objective = (next.mapv(|u| u.powf(m)) * distances).sum();
        (next, objective)
    }

    #[test]
    fn iterations_are_those_of_the_books_and_find_the_blocks() {
        let mut builder = EnsembleBuilder::new(9);
        for u in 0..5usize {
            let label = |i: usize| (i != u + 2).then_some((i / 3 + usize::from(i == 2 * u)) % 3);
            builder.push(format!("u{u}"), (0..9).map(label)).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let start = SoftPartition::new(drawn(9, 3, Seed::new(4))).unwrap();
        let problem = Problem::new(&ensemble, Clusters::Exactly(3));
        let c = shares(&problem, &Silent).unwrap();
        let found = |problem: Problem<'_>, settings: &[&str]| {
            let settings = SettingMap::parse(settings).unwrap();
            consense(&EAC_FUZZY, &problem.settings(settings), &Silent).unwrap()
        };
        for (name, medoids) in [("prototypes=means", false), ("prototypes=medoids", true)] {
            for m in [1.5, 2.0, 3.0] {
                let all = [name, &format!("fuzzifier={m}"), "iterations=1"];
                let given = problem.clone().start(&start);
                let once = found(given.clone(), &all);
                let (expected, value) = plain(&c, &start.rows().to_owned(), m, medoids);
                let soft = once.soft.unwrap();
                let mut both = soft.rows().into_iter().zip(&expected);
                assert!(both.all(|(a, b)| (a - b).abs() < 1e-9), "{all:?}");
                assert!((once.objective.unwrap().value - value).abs() < 1e-9 * (1.0 + value));
                let trace = found(given, &all[..2]).objective.unwrap().trace;
                let mut steps = trace.windows(2);
                assert!(
                    steps.all(|two| two[1] <= two[0] * (1.0 + 1e-12)),
                    "{trace:?}"
                );
            }
            let labels = found(problem.clone(), &[name]).partition.by_appearance();
            assert_eq!(labels.labels(), [0, 0, 0, 1, 1, 1, 2, 2, 2], "{name}");
        }
    }
}
