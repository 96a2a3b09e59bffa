//! KCC and SEC: values that can be checked by hand, and that they are what definitions say.

use partita_conformance::{draw, draw_shares, ensemble, ensemble_of_shares};
use partita_core::ndarray::{Array2, Axis};
use partita_core::{BaseWeights, Consensus, Ensemble, ObjectWeights, Seed};
use partita_median::{KC, KCC, QMI, SEC};
use rand::RngExt;

use crate::common::{Tables, UTILITIES, assert_close, found, labels, partitions, problem, value};

/// a = 1 1 1 2 2 2, b = 1 1 2 2 2 2, c = 1 1 1 2 3 3.
pub(crate) fn tiny() -> Ensemble {
    let columns = [
        ("a", [1, 1, 1, 2, 2, 2]),
        ("b", [1, 1, 2, 2, 2, 2]),
        ("c", [1, 1, 1, 2, 3, 3]),
    ];
    ensemble(columns.map(|(name, column)| (name.to_owned(), column.map(Some).to_vec())))
}

#[test]
fn tiny_values_to_their_printed_digits() {
    let expected = [
        ("c", [1.111_111, 0.888_889, 1.333_333]),
        ("h", [1.704_551, 1.273_028, 2.022_809]),
        ("cos", [0.669_284, 0.525_889, 0.796_606]),
        ("lp", [0.912_753, 0.746_448, 1.077_362]),
    ];
    let tiny = tiny();
    let tables = Tables::of(&tiny);
    let partitions = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 2, 2]];
    for ((name, phi), (_, values)) in UTILITIES.iter().zip(expected) {
        for (labels, value) in partitions.iter().zip(values) {
            let utility = tables.utility(labels, *phi, false);
            assert!((utility - value).abs() < 5e-7, "{name} {labels:?}");
        }
        let best = |k| {
            found(
                &KCC,
                &problem(&tiny, k, &[&format!("utility={name}")]).seed(1),
            )
        };
        let two = best(2);
        assert_eq!(labels(&two), [0, 0, 0, 1, 1, 1], "{name}");
        assert!((value(&two) - values[0]).abs() < 5e-7, "{name}: {two:?}");
        let three = value(&best(3));
        assert!(three >= values[2] - 5e-7, "{name}: {three}");
    }
    // Degrees 8 8 10 8 9 9: the cut of 000111 has 8 + 8 + 10 in one and 8 + 9 + 9 in the other cluster.
    let sec = found(&SEC, &problem(&tiny, 2, &[]).seed(1));
    assert_eq!(labels(&sec), [0, 0, 0, 1, 1, 1]);
    let within = [9.0 + 4.0 + 1.0 + 9.0, 9.0 + 9.0 + 1.0 + 4.0];
    let cut = 2.0 - within[0] / 26.0 - within[1] / 26.0;
    assert_close(value(&sec), cut, "cut");
}

#[test]
fn objectives_are_what_definitions_say_and_c_is_kc() {
    for seed in 0..60 {
        let drawn = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 });
        let tables = Tables::of(&drawn.ensemble);
        let run = |method: &dyn Consensus, settings: &[&str]| {
            let problem = problem(&drawn.ensemble, drawn.clusters, settings);
            found(method, &problem.seed(seed))
        };
        for (name, phi) in UTILITIES {
            for normalised in [false, true] {
                let utility = format!("utility={name}");
                let found = run(&KCC, &[&utility, &format!("normalised={normalised}")]);
                let expected = tables.utility(found.partition.labels(), phi, normalised);
                assert_close(value(&found), expected, name);
            }
        }
        let (kc, kcc) = (run(&KC, &[]), run(&KCC, &["utility=c"]));
        assert_eq!(kc.partition, kcc.partition);
    }
}

#[test]
fn the_cut_is_that_of_the_co_association() {
    for seed in 0..60 {
        let drawn = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 });
        let tables = Tables::of(&drawn.ensemble).shares;
        let together: Array2<f64> = (tables.iter().map(|z| z.dot(&z.t())))
            .reduce(|a, b| a + b)
            .unwrap();
        let found = found(
            &SEC,
            &problem(&drawn.ensemble, drawn.clusters, &[]).seed(seed),
        );
        let outside = |k: usize| {
            let members = found.partition.labels().iter();
            let members: Vec<usize> = (members.enumerate())
                .filter_map(|(i, &label)| (label as usize == k).then_some(i))
                .collect();
            let lines = together.select(Axis(0), &members);
            let within = lines.select(Axis(1), &members).sum();
            if members.is_empty() {
                1.0
            } else {
                1.0 - within / lines.sum()
            }
        };
        let cut = (0..drawn.clusters).map(outside).sum();
        assert_close(value(&found), cut, "cut");
    }
}

/// The most utility that is reached from random partitions: every object in turn to the cluster where the whole utility is largest.
fn most_from_chance(
    tables: &Tables,
    clusters: u32,
    value: impl Fn(&[u32]) -> f64,
    seed: u64,
) -> f64 {
    let mut rng = Seed::new(seed).child(7).rng();
    let climbed = |_| {
        let random = |_| rng.random_range(0..clusters);
        let mut labels: Vec<u32> = (0..tables.objects.len()).map(random).collect();
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

/// Base clusterings with many more clusters than the consensus.
fn fine(seed: u64) -> Ensemble {
    let mut rng = Seed::new(seed).rng();
    ensemble((0..4).map(|u| {
        let fine = rng.random_range(5..8u32);
        let mut label = |i: u32| {
            if rng.random_bool(0.4) {
                rng.random_range(0..fine)
            } else {
                i % fine
            }
        };
        let column = (0..16).map(|i| Some(label(i))).collect();
        (format!("u{u}"), column)
    }))
}

#[test]
fn utilities_are_as_large_as_from_a_hundred_random_partitions() {
    for (name, phi) in UTILITIES {
        for normalised in [false, true] {
            let mut reached = 0;
            for seed in 0..8 {
                let ensemble = fine(seed);
                let tables = Tables::of(&ensemble);
                let (utility, by) = (
                    format!("utility={name}"),
                    format!("normalised={normalised}"),
                );
                let found = value(&found(
                    &KCC,
                    &problem(&ensemble, 3, &[&utility, &by]).seed(seed),
                ));
                let utility = |labels: &[u32]| tables.utility(labels, phi, normalised);
                let most = most_from_chance(&tables, 3, utility, seed);
                reached += usize::from(found >= most - 1e-9);
            }
            assert!(
                reached >= 6,
                "{name} normalised={normalised}: {reached} of 8"
            );
        }
    }
}

#[test]
fn the_best_of_all_partitions_is_found_on_weighted_shares() {
    let all = partitions(8, 2);
    let objects = ObjectWeights::new(vec![2.0, 1.0, 0.5, 3.0, 1.0, 1.5, 1.0, 2.5]).unwrap();
    let bases = BaseWeights::new(vec![1.0, 2.0, 1.0, 3.0]).unwrap();
    for seed in 0..6 {
        let drawn = draw_shares(Seed::new(seed));
        let first = |table: &Array2<f64>| table.select(Axis(0), &[0, 1, 2, 3, 4, 5, 6, 7]);
        let tables = Tables {
            shares: drawn.tables.iter().take(4).map(first).collect(),
            bases: bases.as_slice().to_vec(),
            objects: objects.as_slice().to_vec(),
        };
        let named = tables.shares.iter().zip(["a", "b", "c", "d"]);
        let ensemble = ensemble_of_shares(named.map(|(table, name)| (name.to_owned(), table)));
        let most = |value: &dyn Fn(&[u32]) -> f64| {
            let values = all[1..].iter().map(|labels| value(labels));
            values.fold(f64::NEG_INFINITY, f64::max)
        };
        let reached = |method: &dyn Consensus, settings: &[&str]| {
            let settings: Vec<&str> = [settings, &["restarts=50"]].concat();
            let problem = problem(&ensemble, 2, &settings).base_weights(&bases);
            value(&found(method, &problem.object_weights(&objects)))
        };
        assert_close(reached(&KC, &[]), -most(&|z| -tables.squares(z)), "kc");
        assert_close(
            reached(&QMI, &[]),
            most(&|z| tables.category_utility(z)),
            "qmi",
        );
        for (name, phi) in UTILITIES {
            let most = most(&|z| tables.utility(z, phi, false));
            assert_close(reached(&KCC, &[&format!("utility={name}")]), most, name);
        }
    }
}
