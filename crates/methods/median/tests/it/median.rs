//! Medians by loss: values that can be checked by hand, exhaustive search, and the guarantees of the search.

use partita_conformance::ensemble;
use partita_core::{BaseWeights, Clusters, Consensus, Ensemble, Outcome, Partition, Problem, Seed};
use partita_core::{SettingMap, Silent, consense};
use partita_median::{MEDIAN_BINDER, MEDIAN_VI};
use partita_metrics::Contingency;
use rand::RngExt;
use serde_json::Value;

use crate::common::{assert_close, assert_monotone, found, labels, partitions, value};
use crate::kcc::tiny;

type Column = Vec<Option<u32>>;

const LOSSES: [&str; 6] = ["vi", "nvi", "id", "nid", "binder", "ari"];

fn of_columns(columns: &[Column]) -> Ensemble {
    let named = columns.iter().enumerate();
    ensemble(named.map(|(u, column)| (u.to_string(), column.clone())))
}

fn method(loss: &str) -> &'static dyn Consensus {
    if ["binder", "ari"].contains(&loss) {
        &MEDIAN_BINDER
    } else {
        &MEDIAN_VI
    }
}

/// The problem of a median with this loss.
fn problem<'a>(
    ensemble: &'a Ensemble,
    clusters: Clusters,
    loss: &str,
    asymmetry: f64,
) -> Problem<'a> {
    let settings = [format!("loss={loss}"), format!("asymmetry={asymmetry}")];
    let settings = SettingMap::parse(&settings).unwrap();
    Problem::new(ensemble, clusters).seed(1).settings(settings)
}

fn median(ensemble: &Ensemble, clusters: Clusters, loss: &str, asymmetry: f64) -> Outcome {
    found(method(loss), &problem(ensemble, clusters, loss, asymmetry))
}

fn by_restart(outcome: &Outcome) -> Vec<f64> {
    let starts = outcome.details["objective_by_restart"].as_array().unwrap();
    starts.iter().filter_map(Value::as_f64).collect()
}

/// Number of objects that satisfy a condition.
fn count(n: usize, condition: impl Fn(usize) -> bool) -> f64 {
    (0..n).filter(|&i| condition(i)).count() as f64
}

/// The loss of a partition against one base clustering, from its definition over objects and pairs of objects.
fn naive(loss: &str, a: f64, partition: &[u32], base: &[Option<u32>]) -> f64 {
    let seen: Vec<usize> = (0..base.len()).filter(|&i| base[i].is_some()).collect();
    let n = seen.len();
    let (p, q) = (|i: usize| partition[seen[i]], |i: usize| base[seen[i]]);
    let share = |condition: &dyn Fn(usize, usize) -> bool| {
        (0..n)
            .map(|i| (count(n, |j| condition(i, j)) / n as f64).log2())
            .sum::<f64>()
            / n as f64
    };
    let (h, g) = (-share(&|i, j| p(i) == p(j)), -share(&|i, j| q(i) == q(j)));
    let joint = -share(&|i, j| p(i) == p(j) && q(i) == q(j));
    let ratio = |above: f64, below: f64| if below > 1e-12 { above / below } else { 0.0 };
    let pairs = |condition: &dyn Fn(usize, usize) -> bool| {
        (0..n)
            .map(|i| count(n, |j| i != j && condition(i, j)))
            .sum::<f64>()
    };
    match loss {
        "vi" => a * (joint - g) + (2.0 - a) * (joint - h),
        "nvi" => ratio(2.0 * joint - h - g, joint),
        "id" => joint - h.min(g),
        "nid" => ratio(joint - h.min(g), h.max(g)),
        "binder" => {
            let separated = pairs(&|i, j| p(i) != p(j) && q(i) == q(j));
            let joined = pairs(&|i, j| p(i) == p(j) && q(i) != q(j));
            (a * separated + (2.0 - a) * joined) / (n * n) as f64
        }
        "ari" => {
            let b = pairs(&|i, j| p(i) == p(j));
            let v = pairs(&|i, j| q(i) == q(j));
            let both = pairs(&|i, j| p(i) == p(j) && q(i) == q(j));
            let expected = ratio(b * v, (n * n - n) as f64);
            ratio(f64::midpoint(b, v) - both, f64::midpoint(b, v) - expected)
        }
        other => panic!("{other}"),
    }
}

/// The weighted mean of losses.
fn mean(losses: impl Iterator<Item = f64>, weights: &[f64]) -> f64 {
    let sum: f64 = losses
        .zip(weights)
        .map(|(loss, weight)| loss * weight)
        .sum();
    sum / weights.iter().sum::<f64>()
}

#[test]
fn tiny_values_to_their_printed_digits() {
    let tiny = tiny();
    let close = |a: f64, b: f64| assert!((a - b).abs() < 5e-7, "{a} {b}");
    for (loss, expected) in LOSSES.iter().zip([
        Some(0.486383),
        None,
        None,
        None,
        Some(0.129630),
        Some(0.323264),
    ]) {
        let outcome = median(&tiny, Clusters::Auto, loss, 1.0);
        assert_eq!(labels(&outcome), [0, 0, 0, 1, 1, 1], "{loss}");
        close(value(&outcome), expected.unwrap_or(value(&outcome)));
    }
    let column = |u| tiny.column(u).map(|l| l.map(|l| l as u32)).collect();
    let columns: Vec<Column> = (0..3).map(column).collect();
    for (loss, partition, expected) in [
        ("binder", [0, 0, 0, 1, 2, 2], 0.166667),
        ("binder", [0, 0, 1, 2, 2, 2], 0.166667),
        ("vi", [0, 0, 0, 1, 2, 2], 0.639432),
        ("ari", [0, 0, 0, 1, 2, 2], 0.419140),
        ("binder", [0; 6], 0.518519),
        ("vi", [0; 6], 1.125815),
        ("ari", [0; 6], 1.0),
    ] {
        let losses = columns
            .iter()
            .map(|column| naive(loss, 1.0, &partition, column));
        close(mean(losses, &[1.0; 3]), expected);
    }
    for loss in ["vi", "binder"] {
        for (asymmetry, expected) in [
            (0.2, [0, 0, 1, 2, 3, 3]),
            (0.6, [0, 0, 1, 2, 3, 3]),
            (1.0, [0, 0, 0, 1, 1, 1]),
            (1.4, [0, 0, 0, 1, 1, 1]),
            (1.8, [0; 6]),
        ] {
            let found = median(&tiny, Clusters::Auto, loss, asymmetry);
            assert_eq!(labels(&found), expected, "{loss} {asymmetry}");
        }
    }
}

/// Base clusterings of a few objects; a fifth of the labels is missing where `missing`.
fn few(seed: u64, missing: bool) -> Vec<Column> {
    let mut rng = Seed::new(seed).rng();
    let n = rng.random_range(3..=8);
    let bases = rng.random_range(2..=6);
    let clusters = rng.random_range(2..=4);
    let truth: Vec<u32> = (0..n).map(|_| rng.random_range(0..3)).collect();
    let mut column = |u| {
        let label = |(i, &k): (usize, &u32)| {
            let noise = rng.random_bool(0.4);
            let label = if noise {
                rng.random_range(0..clusters)
            } else {
                k
            };
            (!missing || i % bases == u || rng.random_bool(0.8)).then_some(label)
        };
        let mut column: Column = truth.iter().enumerate().map(label).collect();
        if column.iter().all(Option::is_none) {
            column[0] = Some(0);
        }
        column
    };
    (0..bases).map(&mut column).collect()
}

#[test]
fn the_search_finds_what_an_exhaustive_one_does() {
    let all: Vec<Vec<Vec<u32>>> = (0..=8).map(|n| partitions(n, 8)).collect();
    for (loss, a) in LOSSES
        .map(|loss| (loss, 1.0))
        .into_iter()
        .chain([("vi", 0.5), ("binder", 1.5)])
    {
        let (mut optimal, tried) = (0, 120);
        for seed in 0..tried {
            let columns = few(seed, seed % 3 == 0);
            let n = columns[0].len();
            let ensemble = of_columns(&columns);
            let weight = |u| if seed % 2 == 0 { 1.0 } else { 1.0 + u as f64 };
            let weights: Vec<f64> = (0..columns.len()).map(weight).collect();
            let (most, clusters) = if seed % 4 == 1 {
                (2, Clusters::Exactly(2))
            } else {
                (n, Clusters::Auto)
            };
            let loss_of = |labels: &[u32]| {
                let losses = columns.iter().map(|column| naive(loss, a, labels, column));
                mean(losses, &weights)
            };
            let allowed = all[n]
                .iter()
                .filter(|labels| labels.iter().all(|&k| (k as usize) < most));
            let best = allowed
                .map(|labels| loss_of(labels))
                .fold(f64::INFINITY, f64::min);
            let given = BaseWeights::new(weights.clone()).unwrap();
            let problem = problem(&ensemble, clusters, loss, a).seed(seed);
            let found = found(method(loss), &problem.base_weights(&given));
            let reached = loss_of(found.partition.labels());
            assert_close(value(&found), reached, loss);
            let starts = by_restart(&found);
            assert!(
                starts.iter().all(|start| reached <= start + 1e-9),
                "{loss} {seed}"
            );
            optimal += u64::from(reached <= best + 1e-9);
        }
        assert!(
            optimal * 100 >= tried * 98,
            "{loss} {a}: {optimal} of {tried}"
        );
    }
}

#[test]
fn base_losses_are_told_and_an_asymmetry_is_refused_where_there_is_none() {
    let tiny = tiny();
    let outcome = median(&tiny, Clusters::Exactly(3), "vi", 1.0);
    let losses = outcome.details["base_losses"].as_array().unwrap();
    let names: Vec<&str> = losses
        .iter()
        .filter_map(|base| base["base"].as_str())
        .collect();
    assert_eq!(names, ["a", "c", "b"]);
    let losses: Vec<f64> = losses
        .iter()
        .filter_map(|base| base["loss"].as_f64())
        .collect();
    assert_eq!(losses[0], 0.0);
    assert_close(
        mean(losses.into_iter(), &[1.0; 3]),
        value(&outcome),
        "losses",
    );
    let refused = problem(&tiny, Clusters::Auto, "nid", 0.5);
    let error = consense(&MEDIAN_VI, &refused, &Silent)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("asymmetry") && error.contains("loss=vi"),
        "{error}"
    );
}

/// What is drawn: objects, base clusterings, their clusters, and the share of labels that are at random.
struct Draw {
    objects: usize,
    bases: u32,
    clusters: u32,
    noise: f64,
    missing: f64,
}

impl Draw {
    /// Base clusterings of planted clusters, and these. The first base clustering lacks no label.
    fn ensemble(&self, seed: u64) -> (Ensemble, Vec<u32>) {
        let mut rng = Seed::new(seed).rng();
        let planted = |_| rng.random_range(0..self.clusters);
        let truth: Vec<u32> = (0..self.objects).map(planted).collect();
        let mut column = |u| {
            let clusters = self.clusters + u % 3;
            let label = |&k: &u32| {
                let noise = rng.random_bool(self.noise);
                let label = if noise {
                    rng.random_range(0..clusters)
                } else {
                    k
                };
                (u == 0 || !rng.random_bool(self.missing)).then_some(label)
            };
            truth.iter().map(label).collect()
        };
        let columns: Vec<Column> = (0..self.bases).map(&mut column).collect();
        (of_columns(&columns), truth)
    }
}

#[test]
fn a_limit_of_sweeps_is_said() {
    let noise = Draw {
        objects: 300,
        bases: 6,
        clusters: 4,
        noise: 1.0,
        missing: 0.0,
    };
    let (noise, _) = noise.ensemble(2);
    for method in [&MEDIAN_VI as &dyn Consensus, &MEDIAN_BINDER] {
        let limited = crate::common::problem(&noise, 3, &["sweeps=1"]);
        let said = found(method, &limited).warnings;
        assert!(
            said.iter().any(|said| said.contains("limit of 1 sweeps")),
            "{said:?}"
        );
    }
    let free = median(&of_columns(&few(7, false)), Clusters::Auto, "vi", 1.0);
    assert!(free.warnings.iter().all(|said| !said.contains("sweeps")));
}

/// The loss of labels against a base clustering, from a table of counts.
fn counted(loss: &str, ensemble: &Ensemble, u: usize, labels: &[u32]) -> f64 {
    let term = |count: f64| match loss {
        "vi" if count > 0.0 => count * count.log2(),
        "vi" => 0.0,
        _ => count * count,
    };
    let clusters = 1 + *labels.iter().max().unwrap() as usize;
    let mut table = vec![vec![0.0; ensemble.bases()[u].clusters()]; clusters];
    for (&k, label) in labels.iter().zip(ensemble.column(u)) {
        if let Some(label) = label {
            table[k as usize][label] += 1.0;
        }
    }
    let column = |c: usize| term(table.iter().map(|row| row[c]).sum());
    let b: f64 = table.iter().map(|row| term(row.iter().sum())).sum();
    let v: f64 = (0..table[0].len()).map(column).sum();
    let j: f64 = table.iter().flatten().map(|&count| term(count)).sum();
    let n: f64 = table.iter().flatten().sum();
    (b + v - 2.0 * j) / if loss == "vi" { n } else { n * n }
}

/// Few rows, and so many that starts are tried on a sample.
#[test]
fn the_loss_is_what_counts_say_and_never_rises() {
    let mut iterations = 0;
    for loss in LOSSES {
        for seed in 0..6u64 {
            if !["vi", "binder"].contains(&loss) && !(2..4).contains(&seed) {
                continue;
            }
            let draw = Draw {
                objects: if seed % 3 == 0 { 11_000 } else { 2500 },
                bases: 10,
                clusters: 3 + seed as u32 % 4,
                noise: if seed % 4 < 2 { 0.3 } else { 0.5 },
                missing: if seed % 2 == 0 { 0.0 } else { 0.1 },
            };
            let clusters = if seed == 1 {
                Clusters::Auto
            } else {
                Clusters::Exactly(draw.clusters as usize)
            };
            let (ensemble, _) = draw.ensemble(seed);
            let weights: Vec<f64> = (0..draw.bases).map(|u| 1.0 + f64::from(u % 3)).collect();
            let given = BaseWeights::new(weights.clone()).unwrap();
            let problem = problem(&ensemble, clusters, loss, 1.0);
            let found = found(method(loss), &problem.base_weights(&given));
            assert_monotone(found.objective.as_ref().unwrap());
            let least = by_restart(&found).into_iter().fold(f64::INFINITY, f64::min);
            let sampled = draw.objects > 10_000;
            assert!(
                sampled || value(&found) <= least + 1e-12,
                "{loss} {seed}: {least}"
            );
            if ["vi", "binder"].contains(&loss) {
                let labels = found.partition.labels();
                let losses = (0..weights.len()).map(|u| counted(loss, &ensemble, u, labels));
                assert_close(value(&found), mean(losses, &weights), loss);
            }
            iterations = iterations.max(found.iterations);
        }
    }
    assert!(iterations > 1, "no start was improved");
}

#[test]
fn planted_clusters_come_back_and_the_number_is_found() {
    let draw = |noise: f64, missing: f64, seed: u64| {
        let draw = Draw {
            objects: 20_000,
            bases: 15,
            clusters: 5,
            noise,
            missing,
        };
        draw.ensemble(seed)
    };
    let (ensemble, truth) = draw(0.25, 0.05, 9);
    for loss in LOSSES {
        let found = median(&ensemble, Clusters::Exactly(5), loss, 1.0);
        let table = Contingency::new(&found.partition, &Partition::from_values(&truth)).unwrap();
        assert!(table.accuracy() > 0.98, "{loss}: {}", table.accuracy());
        assert_eq!(found.details["clusters"], found.partition.live_clusters());
    }
    let few = median(&draw(0.1, 0.0, 3).0, Clusters::Auto, "vi", 1.0);
    assert_eq!(few.partition.live_clusters(), 5);
    // Where the number is free, a few small clusters may be left.
    for loss in ["vi", "binder"] {
        let found = median(&ensemble, Clusters::Auto, loss, 1.0);
        let table = Contingency::new(&found.partition, &Partition::from_values(&truth)).unwrap();
        assert!(table.purity() > 0.97, "{loss}: {}", table.purity());
        assert!(table.accuracy() > 0.9, "{loss}: {}", table.accuracy());
    }
}
