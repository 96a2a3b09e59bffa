//! PEnCA against independent values, a naive reference, and its own guarantees.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use partita_aspect::{AspectError, Aspects, DyadCounts, PENCA, PencaSettings, Start, penca};
use partita_coassoc::{CoAssociation, SparseEvidence};
use partita_core::ndarray::Array2;
use partita_core::{
    Clusters, Ensemble, EnsembleBuilder, MemoryBudget, Problem, Seed, SettingMap, Silent, consense,
};
use rand::RngExt;
use serde_json::Value;

fn rows(value: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).unwrap();
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, k)| rows[i][k])
}

fn close(found: f64, expected: &Value) {
    let expected = expected.as_f64().unwrap();
    assert!(
        (found - expected).abs() <= 1e-8 * expected.abs(),
        "found {found}, expected {expected}"
    );
}

fn fixture() -> (Value, CoAssociation) {
    let fixtures = partita_conformance::fixtures();
    let labels: Vec<Vec<i64>> = serde_json::from_value(fixtures["labels"].clone()).unwrap();
    let mut builder = EnsembleBuilder::new(24);
    for (u, column) in labels.iter().enumerate() {
        builder
            .push(
                format!("u{u}"),
                column.iter().map(|&label| (label >= 0).then_some(label)),
            )
            .unwrap();
    }
    let pairs =
        CoAssociation::count(&builder.finish().unwrap(), MemoryBudget::UNLIMITED, &Silent).unwrap();
    (fixtures["penca"].clone(), pairs)
}

#[test]
fn rounds_agree_with_independent_values() {
    let (expected, pairs) = fixture();
    let counts = DyadCounts::dense(&pairs);
    let shares: Vec<f64> = serde_json::from_value(expected["p0"].clone()).unwrap();
    let mut aspects = Aspects::new(&shares, rows(&expected["B0"]).view()).unwrap();
    for round in 1..=50 {
        aspects = aspects.improved(&counts);
        if round != 1 && round != 50 {
            continue;
        }
        let expected = &expected[if round == 1 { "after1" } else { "after50" }];
        close(
            2.0 * aspects.log_likelihood(&counts),
            &expected["ll_ordered_pairs"],
        );
        for (share, expected) in aspects
            .shares()
            .iter()
            .zip(expected["p"].as_array().unwrap())
        {
            close(*share, expected);
        }
        let soft = rows(&expected["V"]);
        assert!(
            aspects
                .soft()
                .rows()
                .iter()
                .zip(&soft)
                .all(|(a, b)| (a - b).abs() <= 1e-8 * b.abs() + 1e-14)
        );
    }
    let first = Aspects::new(&shares, rows(&expected["B0"]).view())
        .unwrap()
        .improved(&counts)
        .members();
    assert!(
        first
            .iter()
            .zip(&rows(&expected["after1"]["B"]))
            .all(|(a, b)| (a - b).abs() <= 1e-8 * b.abs())
    );
}

/// Noisy copies of a planted partition, some labels missing; with `clusters` many, most pairs are never together.
fn drawn(seed: u64, clusters: usize) -> Ensemble {
    let mut rng = Seed::new(seed).rng();
    let objects = rng.random_range(8..40);
    let noise = rng.random_range(0.0..0.4);
    let mut builder = EnsembleBuilder::new(objects);
    for u in 0..rng.random_range(2..9) {
        let label = |i: usize| {
            if rng.random_bool(noise) {
                rng.random_range(0..clusters)
            } else {
                i % clusters
            }
        };
        let labels: Vec<usize> = (0..objects).map(label).collect();
        let mut shown = |i: usize| (i == u || !rng.random_bool(0.2)).then(|| labels[i]);
        let column: Vec<Option<usize>> = (0..objects).map(&mut shown).collect();
        builder.push(format!("u{u}"), column).unwrap();
    }
    builder.finish().unwrap()
}

/// One round as the slides write it: the responsibilities of every ordered pair, then weighted co-associations.
fn naive(
    pairs: &CoAssociation,
    shares: &[f64],
    members: &Array2<f64>,
) -> (Vec<f64>, Array2<f64>, f64) {
    let (clusters, n) = members.dim();
    let mut weighted = Array2::<f64>::zeros((clusters, n));
    let mut log_likelihood = 0.0;
    for y in 0..n {
        for z in (0..n).filter(|&z| z != y) {
            let c = f64::from(pairs.pair(y, z).0);
            let joint: Vec<f64> = (0..clusters)
                .map(|r| shares[r] * members[[r, y]] * members[[r, z]])
                .collect();
            let sum: f64 = joint.iter().sum();
            if c > 0.0 {
                log_likelihood += 0.5 * c * sum.ln();
                (0..clusters).for_each(|r| weighted[[r, y]] += c * joint[r] / sum);
            }
        }
    }
    let sums: Vec<f64> = weighted.outer_iter().map(|row| row.sum()).collect();
    let total: f64 = sums.iter().sum();
    let next = Array2::from_shape_fn((clusters, n), |(r, y)| weighted[[r, y]] / sums[r]);
    (
        sums.iter().map(|sum| sum / total).collect(),
        next,
        log_likelihood,
    )
}

#[test]
fn dense_sparse_and_the_naive_reference_agree_and_the_likelihood_never_falls() {
    let mut problems = 0;
    for seed in 0..240 {
        let ensemble = drawn(seed, if seed % 3 == 0 { 18 } else { 3 });
        let n = ensemble.objects();
        let pairs = CoAssociation::count(&ensemble, MemoryBudget::UNLIMITED, &Silent).unwrap();
        let all: Vec<(u32, u32)> = (0..n as u32)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .collect();
        let some =
            SparseEvidence::of_pairs(&ensemble, &all, MemoryBudget::UNLIMITED, &Silent).unwrap();
        let (dense, sparse) = (DyadCounts::dense(&pairs), DyadCounts::sparse(&some));
        if dense.total() == 0.0 {
            continue;
        }
        problems += 1;
        let clusters = 1 + seed as usize % 5;
        let mut here = Start::random("", n, clusters, Seed::new(seed)).aspects;
        let mut there = here.clone();
        let (mut shares, mut members) = (here.shares().to_vec(), here.members());
        let mut before = f64::NEG_INFINITY;
        for round in 0..30 {
            let now = here.log_likelihood(&dense);
            assert!(
                now >= before - 1e-11 * now.abs(),
                "seed {seed} round {round}: {before} to {now}"
            );
            assert!((there.log_likelihood(&sparse) - now).abs() <= 1e-10 * now.abs());
            before = now;
            if round < 8 {
                let (next, rows, value) = naive(&pairs, &shares, &members);
                assert!((value - now).abs() <= 1e-10 * now.abs());
                (shares, members) = (next, rows);
                let next = here.improved(&dense);
                assert!(
                    next.shares()
                        .iter()
                        .zip(&shares)
                        .all(|(a, b)| (a - b).abs() < 1e-10)
                );
                assert!(
                    next.members()
                        .iter()
                        .zip(&members)
                        .all(|(a, b)| (a - b).abs() < 1e-10)
                );
            }
            (here, there) = (here.improved(&dense), there.improved(&sparse));
        }
        assert!(
            here.members()
                .iter()
                .zip(&there.members())
                .all(|(a, b)| (a - b).abs() < 1e-8),
            "seed {seed}"
        );
    }
    assert!(problems >= 200, "{problems}");
}

/// Blocks of objects that are together in nine of ten base clusterings, and elsewhere at random.
fn blocks(clusters: usize, seed: u64) -> Ensemble {
    let mut rng = Seed::new(seed).rng();
    let mut builder = EnsembleBuilder::new(60);
    for u in 0..30 {
        let label = |i: usize| {
            Some(if rng.random_bool(0.1) {
                rng.random_range(0..clusters)
            } else {
                i % clusters
            })
        };
        builder.push(format!("u{u}"), (0..60).map(label)).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn both_criteria_find_the_blocks() {
    for clusters in [2, 3, 4, 5] {
        let ensemble = blocks(clusters, clusters as u64);
        for criterion in ["bic", "mdl"] {
            let mut problem = Problem::new(&ensemble, Clusters::Auto);
            problem.settings = SettingMap::parse(&[format!("criterion={criterion}")]).unwrap();
            let outcome = consense(&PENCA, &problem, &Silent).unwrap();
            assert_eq!(outcome.details["chosen"], clusters, "{criterion}");
            assert_eq!(outcome.partition.live_clusters(), clusters);
            assert!(outcome.details["criteria"].as_array().unwrap().len() >= clusters);
        }
    }
}

#[test]
fn components_may_die_and_are_counted() {
    let ensemble = blocks(2, 1);
    let outcome = consense(
        &PENCA,
        &Problem::new(&ensemble, Clusters::Exactly(20)),
        &Silent,
    )
    .unwrap();
    let live = outcome.details["live_components"].as_u64().unwrap();
    assert!((2..=20).contains(&live));
    assert!(outcome.partition.live_clusters() as u64 <= live);
    let trace = outcome.objective.unwrap().trace;
    assert!(
        trace
            .windows(2)
            .all(|pair| pair[1] >= pair[0] - 1e-11 * pair[0].abs())
    );
}

#[test]
fn objects_that_are_never_together_are_told() {
    let mut builder = EnsembleBuilder::new(5);
    builder.push("a", [0, 0, 1, 1, 2].map(Some)).unwrap();
    builder.push("b", [0, 0, 1, 1, 2].map(Some)).unwrap();
    let ensemble = builder.finish().unwrap();
    let outcome = consense(
        &PENCA,
        &Problem::new(&ensemble, Clusters::Exactly(2)),
        &Silent,
    )
    .unwrap();
    assert!(
        outcome.warnings[0].starts_with("1 objects are never together"),
        "{:?}",
        outcome.warnings
    );
    assert!(outcome.certainty[4] < 0.6);
    // Nothing together at all: every model is as good.
    let mut builder = EnsembleBuilder::new(4);
    builder.push("a", (0..4).map(Some)).unwrap();
    let apart = builder.finish().unwrap();
    let outcome = consense(&PENCA, &Problem::new(&apart, Clusters::Exactly(3)), &Silent).unwrap();
    assert!(outcome.warnings[0].starts_with("4 objects"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let pairs = CoAssociation::count(&blocks(2, 1), MemoryBudget::UNLIMITED, &Silent).unwrap();
    let counts = DyadCounts::dense(&pairs);
    let start = Start::random("", 9, 2, Seed::new(1));
    let error = penca(&counts, vec![start], &PencaSettings::default(), &Silent).unwrap_err();
    assert_eq!(
        error,
        AspectError::Objects {
            found: 9,
            expected: 60
        }
    );
    let mut settings = PencaSettings::default();
    settings.tolerance = f64::NAN;
    let error = penca(
        &counts,
        vec![Start::random("", 60, 2, Seed::new(1))],
        &settings,
        &Silent,
    )
    .unwrap_err();
    assert!(matches!(error, AspectError::Settings(_)));
    let half = Array2::from_elem((2, 4), 0.25);
    assert!(
        Aspects::new(&[0.5, 0.4], half.view()).is_err()
            && Aspects::new(&[1.0], half.view()).is_err()
    );
    assert!(Aspects::new(&[0.5, 0.5], Array2::from_elem((2, 4), 0.2).view()).is_err());
}
