//! One consensus by every way: in memory and by blocks, labels and shares of 0 and 1, weights and copies, whatever cuts the rows.

use partita_conformance::{draw, draw_shares, ensemble_of_shares};
use partita_core::{
    Clusters, Consensus, Ensemble, EnsembleBuilder, EnsembleRows, ModelInput, ObjectWeights,
    Outcome, Problem, RowProblem, Seed, SettingMap, Silent, SoftPartition, consense_rows,
};
use partita_mixture::{BCE, MM, NBCE_CVB, NBCE_VB};
use rand::seq::SliceRandom;

use crate::common::{Cut, found_as_given, found_by_rows, noisy, problem, uneven};

/// Methods over passes with settings.
const WAYS: [(&dyn Consensus, &[&str]); 7] = [
    (&MM, &["restarts=6"]),
    (&MM, &["restarts=2", "pseudo_count=0"]),
    (&BCE, &["restarts=2"]),
    (&BCE, &["restarts=1", "learn=true"]),
    (&NBCE_VB, &["restarts=6", "learn=true"]),
    (&NBCE_CVB, &["restarts=2"]),
    (
        &NBCE_CVB,
        &["restarts=2", "learn=true", "prior=stick-breaking"],
    ),
];

/// What is compared of a consensus.
#[derive(Debug, PartialEq)]
struct Found {
    labels: Vec<u32>,
    soft: Vec<f64>,
    objective: f64,
}

fn of_outcome(outcome: Outcome) -> Found {
    let soft = outcome.soft.map(SoftPartition::into_rows);
    Found {
        labels: outcome.partition.labels().to_vec(),
        soft: soft.iter().flatten().copied().collect(),
        objective: outcome.objective.unwrap().value,
    }
}

fn in_memory(method: &dyn Consensus, problem: &Problem<'_>) -> Found {
    of_outcome(found_as_given(method, problem))
}

/// By blocks, where equal rows are not one.
fn by_rows(method: &dyn Consensus, problem: &RowProblem<'_>) -> Found {
    let (outcome, all) = found_by_rows(method, problem);
    Found {
        labels: all.labels,
        soft: all.soft.unwrap(),
        objective: outcome.objective.unwrap().value,
    }
}

/// Asserts that two are the same but for rounding.
#[track_caller]
fn assert_same(one: &Found, other: &Found, what: &str) {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-7 * a.abs().max(b.abs()).max(1.0);
    let values = (one.objective, other.objective);
    assert!(near(values.0, values.1), "{what}: {values:?}");
    assert_eq!(one.labels, other.labels, "{what}");
    assert_eq!(one.soft.len(), other.soft.len(), "{what}");
    for (a, b) in one.soft.iter().zip(&other.soft) {
        assert!(near(*a, *b), "{what}: {a} is not {b}");
    }
}

#[test]
fn by_blocks_is_in_memory() {
    for (method, settings) in WAYS {
        for seed in 0..12 {
            let what = format!("{} {settings:?} {seed}", method.info().name);
            let drawn = draw(Seed::new(seed), if seed % 3 == 0 { 0.0 } else { 0.3 });
            let bases = uneven(drawn.ensemble.bases().len());
            let mut given = problem(&drawn.ensemble, drawn.clusters, settings);
            given.weights = (seed % 2 == 0).then_some(&bases);
            let rows = EnsembleRows::from(given.weighted());
            let blocks = by_rows(method, &given.over(&rows));
            assert_same(&blocks, &in_memory(method, &given), &what);

            let drawn = draw_shares(Seed::new(seed));
            let named = drawn.tables.iter().enumerate();
            let shares = ensemble_of_shares(named.map(|(u, table)| (u.to_string(), table)));
            let weights = (0..shares.objects()).map(|i| 1.0 + (i % 3) as f64);
            let objects = ObjectWeights::new(weights.collect()).unwrap();
            let given = problem(&shares, drawn.clusters, settings).object_weights(&objects);
            let rows = EnsembleRows::from(given.weighted());
            let blocks = by_rows(method, &given.over(&rows));
            assert_same(&blocks, &in_memory(method, &given), &what);
        }
    }
}

#[test]
fn shares_of_zero_and_one_are_labels() {
    for (method, settings) in WAYS {
        for seed in 0..12 {
            let drawn = draw(Seed::new(seed), 0.0);
            let tables: Vec<_> = (0..drawn.ensemble.bases().len())
                .map(|u| drawn.ensemble.base_shares(u).rows().to_owned())
                .collect();
            let named = drawn.ensemble.bases().iter().zip(&tables);
            let shares =
                ensemble_of_shares(named.map(|(base, table)| (base.name().to_owned(), table)));
            let run = |ensemble: &Ensemble| {
                in_memory(method, &problem(ensemble, drawn.clusters, settings))
            };
            let what = format!("{} {settings:?} {seed}", method.info().name);
            assert_same(&run(&drawn.ensemble), &run(&shares), &what);
        }
    }
}

#[test]
fn weights_of_objects_are_copies() {
    for (method, settings) in WAYS {
        for seed in 0..12 {
            let drawn = draw(Seed::new(seed), 0.2);
            let bases: Vec<u32> = (0..drawn.ensemble.bases().len() as u32).collect();
            let weight = |i: usize| 1 + (i + seed as usize) % 3;
            let n = drawn.ensemble.objects();
            let weights = (0..n).map(|i| weight(i) as f64).collect();
            let weights = ObjectWeights::new(weights).unwrap();
            let copied: Vec<u32> = (0..n).flat_map(|i| vec![i as u32; weight(i)]).collect();
            let copies = drawn.ensemble.select(&copied, &bases);
            let copies = problem(&copies, drawn.clusters, settings);
            let weighted = problem(&drawn.ensemble, drawn.clusters, settings);
            let weighted = found_as_given(method, &weighted.object_weights(&weights));
            let weighted = of_outcome(weighted.expanded(&copied));
            let what = format!("{} {settings:?} {seed}", method.info().name);
            assert_same(&weighted, &in_memory(method, &copies), &what);
        }
    }
}

/// More rows differ than are in a sample, so that iterations are passes over all rows.
#[test]
fn neither_threads_nor_groups_change_a_bit() {
    let ensemble = noisy(60_000, 4);
    assert!(ensemble.fragments().weights().len() > 33_000);
    for (method, settings) in [
        (&MM as &dyn Consensus, ["restarts=2", "iterations=5"]),
        (&NBCE_VB, ["restarts=2", "iterations=5"]),
        (&NBCE_CVB, ["restarts=1", "iterations=3"]),
        (&BCE, ["restarts=1", "iterations=2"]),
    ] {
        let on = |threads: usize, size: usize| {
            let pool = rayon::ThreadPoolBuilder::new();
            let source = Cut {
                ensemble: &ensemble,
                size,
                broken: None,
            };
            let mut problem = RowProblem::new(&source, Clusters::Exactly(4)).seed(1);
            problem.settings = SettingMap::parse(&settings).unwrap();
            let pool = pool.num_threads(threads).build().unwrap();
            pool.install(|| by_rows(method, &problem))
        };
        let one = on(1, 60_000);
        for (threads, size) in [(3, 60_000), (1, 777), (8, 5000)] {
            assert_eq!(on(threads, size), one);
        }
        let whole = in_memory(method, &problem(&ensemble, 4, &settings));
        assert_same(&one, &whole, method.info().name);
    }
}

/// Where few rows differ, the sample has all of them, and the order of objects changes no bit.
#[test]
fn order_of_objects_changes_nothing() {
    let ensemble = noisy(2000, 1);
    let mut order: Vec<u32> = (0..2000).collect();
    order.shuffle(&mut Seed::new(4).rng());
    let shuffled = ensemble.select(&order, &(0..9).collect::<Vec<_>>());
    for (method, settings) in WAYS {
        let found = |ensemble, size| {
            let source = Cut {
                ensemble,
                size,
                broken: None,
            };
            let mut problem = RowProblem::new(&source, Clusters::Exactly(4)).seed(1);
            problem.settings = SettingMap::parse(settings).unwrap();
            found_by_rows(method, &problem)
        };
        let (first, all) = found(&ensemble, 500);
        let (second, moved) = found(&shuffled, 333);
        assert_eq!(first.objective, second.objective);
        let back = order.iter().map(|&i| all.labels[i as usize]);
        assert!(back.eq(moved.labels.iter().copied()));
        let model = first.model.unwrap();
        let predicted = model.predict(&ModelInput::Labels(&ensemble)).unwrap();
        let predicted = predicted.hard();
        let pairs = predicted.labels().iter().zip(&all.labels);
        let same = pairs.filter(|(a, b)| a == b).count();
        assert!(same > 1950, "{}: {same}", method.info().name);
        assert_eq!(first.sizes.iter().sum::<u64>(), 2000);
    }
}

#[test]
fn one_cluster_and_an_object_without_labels_are_fitted() {
    let mut builder = EnsembleBuilder::new(300);
    for u in 0..4_u32 {
        let label = |i: u32| (i != 200).then_some((i / 7 + u) % 2);
        builder.push(format!("u{u}"), (0..300).map(label)).unwrap();
    }
    let ensemble = builder.finish().unwrap();
    let rows = EnsembleRows::new(&ensemble);
    for (method, settings) in WAYS {
        for clusters in [1, 2] {
            let given = problem(&ensemble, clusters, settings);
            let found = by_rows(method, &given.over(&rows));
            let labels = &found.labels;
            assert!(labels.iter().all(|&label| (label as usize) < clusters));
            assert!(found.soft.iter().all(|p| (0.0..=1.0).contains(p)));
        }
    }
}

#[test]
fn what_either_side_says_ends_the_fit() {
    let ensemble = noisy(200, 1);
    let source = |broken| Cut {
        ensemble: &ensemble,
        size: 60,
        broken,
    };
    let (broken, whole) = (source(Some(1)), source(None));
    for (method, settings) in WAYS {
        let said = |source| {
            let mut problem = RowProblem::new(source, Clusters::Exactly(4));
            problem.settings = SettingMap::parse(settings).unwrap();
            problem.by_blocks = true;
            let full = &mut |_, _| Err("the disk is full".into());
            let error = consense_rows(method, &problem, &Silent, full).unwrap_err();
            error.to_string()
        };
        let name = method.info().name;
        assert!(said(&broken).contains("rows from 60 on: the page is damaged"));
        assert_eq!(said(&whole), format!("{name}: the disk is full"));
    }
}
