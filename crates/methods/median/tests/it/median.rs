//! Medians by loss: values that can be checked by hand, exhaustive search, and the guarantees of the search.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use partita_core::{
    BaseWeights, Clusters, Consensus, Ensemble, EnsembleBuilder, Outcome, Partition, Problem, Seed,
    SettingMap, Silent, consense,
};
use partita_median::{MEDIAN_BINDER, MEDIAN_VI};
use partita_metrics::Contingency;
use rand::RngExt;

fn ensemble(columns: &[Vec<Option<u32>>]) -> Ensemble {
    let mut builder = EnsembleBuilder::new(columns[0].len());
    columns
        .iter()
        .enumerate()
        .for_each(|(u, column)| builder.push(u.to_string(), column.clone()).unwrap());
    builder.finish().unwrap()
}

/// a = 1 1 1 2 2 2, b = 1 1 2 2 2 2, c = 1 1 1 2 3 3.
fn tiny() -> Ensemble {
    let columns = [[1, 1, 1, 2, 2, 2], [1, 1, 2, 2, 2, 2], [1, 1, 1, 2, 3, 3]];
    ensemble(&columns.map(|column| column.map(Some).to_vec()))
}

fn run(
    method: &dyn Consensus,
    ensemble: &Ensemble,
    clusters: Clusters,
    settings: &[&str],
) -> Outcome {
    let mut problem = Problem::new(ensemble, clusters).seed(1);
    problem.settings = SettingMap::parse(settings).unwrap();
    consense(method, &problem, &Silent).unwrap()
}

fn labels(outcome: &Outcome) -> Vec<u32> {
    outcome.partition.by_appearance().labels().to_vec()
}

fn value(outcome: &Outcome) -> f64 {
    outcome.objective.as_ref().unwrap().value
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
            let (b, v, all) = (
                pairs(&|i, j| p(i) == p(j)),
                pairs(&|i, j| q(i) == q(j)),
                (n * n - n) as f64,
            );
            let both = pairs(&|i, j| p(i) == p(j) && q(i) == q(j));
            let expected = if all > 0.0 { b * v / all } else { 0.0 };
            ratio(f64::midpoint(b, v) - both, f64::midpoint(b, v) - expected)
        }
        other => panic!("{other}"),
    }
}

fn mean(
    loss: &str,
    a: f64,
    partition: &[u32],
    columns: &[Vec<Option<u32>>],
    weights: &[f64],
) -> f64 {
    let all: f64 = weights.iter().sum();
    columns
        .iter()
        .zip(weights)
        .map(|(column, w)| w * naive(loss, a, partition, column))
        .sum::<f64>()
        / all
}

/// Every partition of n objects into at most `most` clusters, as labels by appearance.
fn partitions(n: usize, most: u32) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        let longer = |labels: Vec<u32>| {
            let next = labels.iter().max().map_or(0, |k| k + 1);
            (0..=next.min(most - 1))
                .map(move |k| labels.iter().copied().chain([k]).collect::<Vec<u32>>())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

fn method(loss: &str) -> &'static dyn Consensus {
    if ["binder", "ari"].contains(&loss) {
        &MEDIAN_BINDER
    } else {
        &MEDIAN_VI
    }
}

#[test]
fn tiny_values_to_their_printed_digits() {
    let close = |a: f64, b: f64| assert!((a - b).abs() < 5e-7, "{a} {b}");
    let best = |loss: &str| {
        run(
            method(loss),
            &tiny(),
            Clusters::Auto,
            &[&format!("loss={loss}")],
        )
    };
    for (loss, expected) in [("binder", 0.129630), ("vi", 0.486383), ("ari", 0.323264)] {
        let outcome = best(loss);
        assert_eq!(labels(&outcome), [0, 0, 0, 1, 1, 1], "{loss}");
        close(value(&outcome), expected);
    }
    for loss in ["nvi", "id", "nid"] {
        assert_eq!(labels(&best(loss)), [0, 0, 0, 1, 1, 1], "{loss}");
    }
    let columns: Vec<Vec<Option<u32>>> = (0..3)
        .map(|u| tiny().column(u).map(|l| l.map(|l| l as u32)).collect())
        .collect();
    let other = |loss: &str, labels: [u32; 6]| mean(loss, 1.0, &labels, &columns, &[1.0; 3]);
    close(other("binder", [0, 0, 0, 1, 2, 2]), 0.166667);
    close(other("binder", [0, 0, 1, 2, 2, 2]), 0.166667);
    close(other("vi", [0, 0, 0, 1, 2, 2]), 0.639432);
    close(other("ari", [0, 0, 0, 1, 2, 2]), 0.419140);
    let together: Vec<f64> = ["binder", "vi", "ari"]
        .iter()
        .map(|loss| other(loss, [0; 6]))
        .collect();
    together
        .iter()
        .zip([0.518519, 1.125815, 1.0])
        .for_each(|(&a, b)| close(a, b));
    for loss in ["vi", "binder"] {
        let cases = [
            (0.2, [0, 0, 1, 2, 3, 3]),
            (0.6, [0, 0, 1, 2, 3, 3]),
            (1.0, [0, 0, 0, 1, 1, 1]),
        ];
        for (a, expected) in cases
            .into_iter()
            .chain([(1.4, [0, 0, 0, 1, 1, 1]), (1.8, [0; 6])])
        {
            let found = run(
                method(loss),
                &tiny(),
                Clusters::Auto,
                &[&format!("asymmetry={a}")],
            );
            assert_eq!(labels(&found), expected, "{loss} {a}");
        }
    }
}

/// Base clusterings of a few objects; a fifth of the labels is missing where `missing`.
fn drawn(seed: u64, missing: bool) -> Vec<Vec<Option<u32>>> {
    let mut rng = Seed::new(seed).rng();
    let (n, bases, clusters) = (
        rng.random_range(3..=8),
        rng.random_range(2..=6),
        rng.random_range(2..=4),
    );
    let truth: Vec<u32> = (0..n).map(|_| rng.random_range(0..3)).collect();
    (0..bases)
        .map(|u| {
            let label = |(i, &k): (usize, &u32)| {
                let label = if rng.random_bool(0.4) {
                    rng.random_range(0..clusters)
                } else {
                    k
                };
                (!missing || i % bases == u || rng.random_bool(0.8)).then_some(label)
            };
            let mut column: Vec<Option<u32>> = truth.iter().enumerate().map(label).collect();
            if column.iter().all(Option::is_none) {
                column[0] = Some(0);
            }
            column
        })
        .collect()
}

#[test]
fn the_search_finds_what_an_exhaustive_one_does() {
    let cases = [
        ("vi", 1.0),
        ("vi", 0.5),
        ("binder", 1.0),
        ("binder", 1.5),
        ("nvi", 1.0),
        ("id", 1.0),
        ("nid", 1.0),
        ("ari", 1.0),
    ];
    let all: Vec<Vec<Vec<u32>>> = (0..=8).map(|n| partitions(n, 8)).collect();
    for (loss, a) in cases {
        let (mut optimal, mut tried) = (0, 0);
        for seed in 0..120 {
            let columns = drawn(seed, seed % 3 == 0);
            let n = columns[0].len();
            let ensemble = ensemble(&columns);
            let weights: Vec<f64> = (0..columns.len())
                .map(|u| if seed % 2 == 0 { 1.0 } else { 1.0 + u as f64 })
                .collect();
            let most = if seed % 4 == 1 { 2 } else { n };
            let clusters = if most == n {
                Clusters::Auto
            } else {
                Clusters::Exactly(most)
            };
            let loss_of = |labels: &[u32]| mean(loss, a, labels, &columns, &weights);
            let few = |labels: &&Vec<u32>| labels.iter().all(|&k| (k as usize) < most);
            let best = all[n]
                .iter()
                .filter(few)
                .map(|labels| loss_of(labels))
                .fold(f64::INFINITY, f64::min);
            let given = BaseWeights::new(weights.clone()).unwrap();
            let mut problem = Problem::new(&ensemble, clusters)
                .seed(seed)
                .base_weights(&given);
            problem.settings =
                SettingMap::parse(&[format!("loss={loss}"), format!("asymmetry={a}")]).unwrap();
            let found = consense(method(loss), &problem, &Silent).unwrap();
            let reached = loss_of(found.partition.labels());
            assert!(
                (value(&found) - reached).abs() < 1e-9,
                "{loss} {seed}: {} {reached}",
                value(&found)
            );
            let starts = found.details["objective_by_restart"].as_array().unwrap();
            assert!(
                starts
                    .iter()
                    .all(|start| reached <= start.as_f64().unwrap() + 1e-9),
                "{loss} {seed}"
            );
            optimal += usize::from(reached <= best + 1e-9);
            tried += 1;
        }
        assert!(
            optimal * 100 >= tried * 98,
            "{loss} {a}: {optimal} of {tried}"
        );
    }
}

#[test]
fn base_losses_are_told_and_an_asymmetry_is_refused_where_there_is_none() {
    let outcome = run(&MEDIAN_VI, &tiny(), Clusters::Exactly(3), &[]);
    let losses = outcome.details["base_losses"].as_array().unwrap();
    let told: Vec<(&str, f64)> = losses
        .iter()
        .map(|base| {
            (
                base["base"].as_str().unwrap(),
                base["loss"].as_f64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told.iter().map(|base| base.0).collect::<Vec<_>>(),
        ["0", "2", "1"]
    );
    assert!(
        told[0].1 == 0.0
            && (told.iter().map(|base| base.1).sum::<f64>() / 3.0 - value(&outcome)).abs() < 1e-12
    );
    let mut problem = Problem::new(outcome_ensemble(), Clusters::Auto);
    problem.settings = SettingMap::parse(&["loss=nid", "asymmetry=0.5"]).unwrap();
    let error = consense(&MEDIAN_VI, &problem, &Silent)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("asymmetry") && error.contains("loss=vi"),
        "{error}"
    );
}

#[test]
fn a_limit_of_sweeps_is_said() {
    let columns = drawn(7, false);
    let mut rng = Seed::new(2).rng();
    let noise: Vec<Vec<Option<u32>>> = (0..6)
        .map(|_| (0..200).map(|_| Some(rng.random_range(0..4))).collect())
        .collect();
    let limited = run(
        &MEDIAN_BINDER,
        &ensemble(&noise),
        Clusters::Exactly(3),
        &["sweeps=1"],
    );
    assert!(
        limited
            .warnings
            .iter()
            .any(|said| said.contains("limit of 1 sweeps")),
        "{:?}",
        limited.warnings
    );
    let free = run(&MEDIAN_VI, &ensemble(&columns), Clusters::Auto, &[]);
    assert!(free.warnings.iter().all(|said| !said.contains("sweeps")));
}

fn outcome_ensemble() -> &'static Ensemble {
    Box::leak(Box::new(tiny()))
}

#[test]
fn many_rows_are_tried_on_a_sample_and_clusters_come_back() {
    let mut rng = Seed::new(4).rng();
    let truth: Vec<u32> = (0..60_000).map(|i| i % 5).collect();
    let columns: Vec<Vec<Option<u32>>> = (0..12)
        .map(|_| {
            truth
                .iter()
                .map(|&k| {
                    Some(if rng.random_bool(0.25) {
                        rng.random_range(0..5)
                    } else {
                        k
                    })
                })
                .collect()
        })
        .collect();
    let ensemble = ensemble(&columns);
    for method in [&MEDIAN_VI as &dyn Consensus, &MEDIAN_BINDER] {
        let outcome = run(method, &ensemble, Clusters::Auto, &[]);
        let table = Contingency::new(&outcome.partition, &Partition::from_values(&truth)).unwrap();
        assert!(
            table.purity() > 0.97,
            "{}: {}",
            method.info().name,
            table.purity()
        );
        assert!(
            table.accuracy() > 0.9,
            "{}: {}",
            method.info().name,
            table.accuracy()
        );
    }
}
