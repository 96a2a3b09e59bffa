//! Utilities of k-means on labels: values that can be checked by hand, and that they are what definitions say.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use partita_conformance::{draw, ensemble};
use partita_core::{
    Clusters, Consensus, Ensemble, Outcome, Problem, Seed, SettingMap, Silent, consense,
};
use partita_median::{KC, KCC, SEC};
use rand::RngExt;

/// a = 1 1 1 2 2 2, b = 1 1 2 2 2 2, c = 1 1 1 2 3 3.
fn tiny() -> Ensemble {
    let columns = [[1, 1, 1, 2, 2, 2], [1, 1, 2, 2, 2, 2], [1, 1, 1, 2, 3, 3]];
    let named = columns.iter().zip(["a", "b", "c"]);
    ensemble(named.map(|(column, name)| {
        (
            name.to_owned(),
            column.iter().map(|&label| Some(label)).collect(),
        )
    }))
}

fn run(
    method: &dyn Consensus,
    ensemble: &Ensemble,
    clusters: usize,
    seed: u64,
    settings: &[&str],
) -> Outcome {
    let mut problem = Problem::new(ensemble, Clusters::Exactly(clusters)).seed(seed);
    problem.settings = SettingMap::parse(settings).unwrap();
    consense(method, &problem, &Silent).unwrap()
}

fn value(outcome: &Outcome) -> f64 {
    outcome.objective.as_ref().unwrap().value
}

/// Label shares of base clustering u among some objects, and how many of them it labels.
fn shares(ensemble: &Ensemble, u: usize, inside: impl Fn(usize) -> bool) -> (Vec<f64>, f64) {
    let labels: Vec<usize> = (0..ensemble.objects())
        .filter(|&i| inside(i))
        .filter_map(|i| ensemble.label(i, u))
        .collect();
    let of = |j: usize| {
        labels.iter().filter(|label| **label == j).count() as f64 / labels.len().max(1) as f64
    };
    (
        (0..ensemble.bases()[u].clusters()).map(of).collect(),
        labels.len() as f64,
    )
}

/// Σ_u (n_u / n) U_u from the definition.
fn utility(
    ensemble: &Ensemble,
    labels: &[u32],
    phi: &dyn Fn(&[f64]) -> f64,
    normalised: bool,
) -> f64 {
    let n = ensemble.objects() as f64;
    let of_base = |u: usize| {
        let (own, seen) = shares(ensemble, u, |_| true);
        let inside = |k: u32| {
            let (shares, size) = shares(ensemble, u, |i| labels[i] == k);
            if size > 0.0 {
                size / seen * phi(&shares)
            } else {
                0.0
            }
        };
        let gain = (0..=labels.iter().copied().max().unwrap())
            .map(inside)
            .sum::<f64>()
            - phi(&own);
        let scale = if normalised && phi(&own).abs() > 1e-12 {
            phi(&own).abs()
        } else {
            1.0
        };
        seen / n * gain / scale
    };
    (0..ensemble.bases().len()).map(of_base).sum()
}

type Phi = fn(&[f64]) -> f64;
const UTILITIES: [(&str, Phi); 4] = [
    ("c", |m| m.iter().map(|x| x * x).sum()),
    ("h", |m| {
        m.iter().filter(|x| **x > 0.0).map(|x| x * x.ln()).sum()
    }),
    ("cos", |m| m.iter().map(|x| x * x).sum::<f64>().sqrt()),
    ("lp", |m| m.iter().map(|x| x.powi(5)).sum::<f64>().powf(0.2)),
];

#[test]
fn tiny_values_to_their_printed_digits() {
    let expected = [
        ("c", [1.111_111, 0.888_889, 1.333_333]),
        ("h", [1.704_551, 1.273_028, 2.022_809]),
        ("cos", [0.669_284, 0.525_889, 0.796_606]),
        ("lp", [0.912_753, 0.746_448, 1.077_362]),
    ];
    let tiny = tiny();
    for ((name, phi), (_, values)) in UTILITIES.iter().zip(expected) {
        for (labels, value) in [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 2, 2]]
            .iter()
            .zip(values)
        {
            assert!(
                (utility(&tiny, labels, phi, false) - value).abs() < 5e-7,
                "{name} {labels:?}"
            );
        }
        let two = run(&KCC, &tiny, 2, 1, &[&format!("utility={name}")]);
        assert_eq!(
            two.partition.by_appearance().labels(),
            [0, 0, 0, 1, 1, 1],
            "{name}"
        );
        assert!(
            (value(&two) - values[0]).abs() < 5e-7,
            "{name}: {}",
            value(&two)
        );
        let three = run(&KCC, &tiny, 3, 1, &[&format!("utility={name}")]);
        assert!(
            value(&three) >= values[2] - 5e-7,
            "{name}: {}",
            value(&three)
        );
    }
    // Degrees 8 8 10 8 9 9: the cut of 000111 has 8 + 8 + 10 in one and 8 + 9 + 9 in the other cluster.
    let sec = run(&SEC, &tiny, 2, 1, &[]);
    assert_eq!(sec.partition.by_appearance().labels(), [0, 0, 0, 1, 1, 1]);
    let within = [9.0 + 4.0 + 1.0 + 9.0, 9.0 + 9.0 + 1.0 + 4.0];
    assert!(
        (value(&sec) - (2.0 - within[0] / 26.0 - within[1] / 26.0)).abs() < 1e-12,
        "{}",
        value(&sec)
    );
}

#[test]
fn objectives_are_what_definitions_say_and_c_is_kc() {
    for seed in 0..60 {
        let drawn = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 });
        for (name, phi) in UTILITIES {
            for normalised in [false, true] {
                let settings = [
                    format!("utility={name}"),
                    format!("normalised={normalised}"),
                ];
                let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
                let found = run(&KCC, &drawn.ensemble, drawn.clusters, seed, &settings);
                let expected = utility(&drawn.ensemble, found.partition.labels(), &phi, normalised);
                assert!(
                    (value(&found) - expected).abs() < 1e-9,
                    "{name} {normalised} {seed}: {} {expected}",
                    value(&found)
                );
            }
        }
        let kc = run(&KC, &drawn.ensemble, drawn.clusters, seed, &[]);
        let kcc = run(&KCC, &drawn.ensemble, drawn.clusters, seed, &["utility=c"]);
        assert_eq!((kc.partition, kc.certainty), (kcc.partition, kcc.certainty));
    }
}

#[test]
fn the_cut_is_that_of_the_co_association() {
    for seed in 0..60 {
        let drawn = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 });
        let (ensemble, n) = (&drawn.ensemble, drawn.ensemble.objects());
        let together = |i: usize, j: usize| {
            let same = |u: &usize| {
                ensemble.label(i, *u).is_some() && ensemble.label(i, *u) == ensemble.label(j, *u)
            };
            (0..ensemble.bases().len()).filter(same).count() as f64
        };
        let found = run(&SEC, ensemble, drawn.clusters, seed, &[]);
        let labels = found.partition.labels();
        let outside = |k: u32| {
            let own: Vec<usize> = (0..n).filter(|&i| labels[i] == k).collect();
            let volume: f64 = own
                .iter()
                .map(|&i| (0..n).map(|j| together(i, j)).sum::<f64>())
                .sum();
            let within: f64 = own
                .iter()
                .map(|&i| own.iter().map(|&j| together(i, j)).sum::<f64>())
                .sum();
            if own.is_empty() {
                1.0
            } else {
                1.0 - within / volume
            }
        };
        let expected: f64 = (0..drawn.clusters as u32).map(outside).sum();
        assert!(
            (value(&found) - expected).abs() < 1e-9,
            "{seed}: {} {expected}",
            value(&found)
        );
    }
}

/// The most utility that k-means with the plain definition reaches from random partitions: every object in turn to the cluster where the
/// whole utility is largest.
fn most_from_chance(
    ensemble: &Ensemble,
    clusters: u32,
    phi: &dyn Fn(&[f64]) -> f64,
    normalised: bool,
    seed: u64,
) -> f64 {
    let mut rng = Seed::new(seed).child(7).rng();
    let value = |labels: &[u32]| utility(ensemble, labels, phi, normalised);
    let climbed = |_| {
        let mut labels: Vec<u32> = (0..ensemble.objects())
            .map(|_| rng.random_range(0..clusters))
            .collect();
        let mut best = value(&labels);
        loop {
            let before = best;
            for i in 0..labels.len() {
                for k in 0..clusters {
                    let own = std::mem::replace(&mut labels[i], k);
                    let next = value(&labels);
                    if next > best + 1e-12 {
                        best = next;
                    } else {
                        labels[i] = own;
                    }
                }
            }
            if best <= before {
                return best;
            }
        }
    };
    (0..100).map(climbed).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn utilities_are_as_large_as_from_a_hundred_random_partitions() {
    for (name, phi) in UTILITIES {
        for normalised in [false, true] {
            let mut reached = 0;
            for seed in 0..8 {
                let mut rng = Seed::new(seed).rng();
                // Base clusterings with many more clusters than the consensus.
                let ensemble = ensemble((0..4).map(|u| {
                    let fine = rng.random_range(5..8u32);
                    let label = |i: u32| {
                        if rng.random_bool(0.4) {
                            rng.random_range(0..fine)
                        } else {
                            i % fine
                        }
                    };
                    (format!("u{u}"), (0..16).map(label).map(Some).collect())
                }));
                let settings = [
                    format!("utility={name}"),
                    format!("normalised={normalised}"),
                ];
                let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
                let found = value(&run(&KCC, &ensemble, 3, seed, &settings));
                reached += u32::from(
                    found >= most_from_chance(&ensemble, 3, &phi, normalised, seed) - 1e-9,
                );
            }
            assert!(
                reached >= 6,
                "{name} normalised={normalised}: {reached} of 8"
            );
        }
    }
}
