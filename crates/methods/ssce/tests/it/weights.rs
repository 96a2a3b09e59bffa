//! A weight of 2 is the base clustering twice, next to no weight is the base clustering left out, weights of 1 are none.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::num::NonZeroU32;

use partita_conformance::{draw, ensemble};
use partita_core::ndarray::Array2;
use partita_core::{
    BaseWeights, Ensemble, EnsembleBuilder, Features, Outcome, Partition, Seed, Silent,
    WeightedEnsemble,
};
use partita_metrics::Contingency;
use partita_ssce::{SsceSettings, ssce, ssce_p};

fn columns(given: &Ensemble, bases: &[usize]) -> Ensemble {
    let column = |(at, &u): (usize, &usize)| {
        let name = if at > 0 && u == 0 {
            "again".to_owned()
        } else {
            format!("{u:02}")
        };
        (
            name,
            given
                .column(u)
                .map(|label| label.map(|j| j as u32))
                .collect::<Vec<_>>(),
        )
    };
    ensemble(bases.iter().enumerate().map(column))
}

fn settings() -> SsceSettings {
    let mut settings = SsceSettings::default();
    (settings.gamma, settings.tolerance) = (Some(1.0), 1e-9);
    settings.rounds = NonZeroU32::new(300);
    settings
}

/// Largest difference of two outcomes' probabilities.
fn apart(a: &Outcome, b: &Outcome) -> f64 {
    let difference = &a.soft.as_ref().unwrap().rows() - &b.soft.as_ref().unwrap().rows();
    difference.iter().fold(0.0, |most, x| x.abs().max(most))
}

fn run(ensemble: &Ensemble, weights: Option<Vec<f64>>, clusters: usize) -> Outcome {
    let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
    let values = Array2::from_shape_fn((ensemble.objects(), 3), |(i, j)| {
        ((i * (j + 3) * 7 + j) % 11) as f64
    });
    let features = Features::new(&names, values.view()).unwrap();
    let weights = weights.map(|weights| BaseWeights::new(weights).unwrap());
    ssce(
        WeightedEnsemble {
            base_weights: weights.as_ref(),
            ..ensemble.into()
        },
        &features,
        clusters,
        Seed::new(1),
        &settings(),
        &Silent,
    )
    .unwrap()
    .erased()
}

/// Not to the bit: the covariance starts at I/M, and M is what differs.
#[test]
fn a_weight_of_two_is_twice_and_next_to_none_is_not_at_all() {
    let (mut same_reference, mut closer) = (0, 0);
    for seed in 0..12 {
        let drawn = draw(Seed::new(seed), 0.2);
        let (bases, k) = (drawn.ensemble.bases().len(), drawn.clusters);
        assert!(bases >= 3 && k >= 2);
        let mut all: Vec<usize> = (0..bases).collect();
        let mut weights = vec![1.0; bases];
        let plain = run(&columns(&drawn.ensemble, &all), Some(weights.clone()), k);
        weights[0] = 2.0;
        let heavy = run(&columns(&drawn.ensemble, &all), Some(weights.clone()), k);
        weights[0] = 1e-9;
        let light = run(&columns(&drawn.ensemble, &all), Some(weights), k);
        let without = run(&columns(&drawn.ensemble, &all[1..]), None, k);
        all.push(0);
        let twice = run(&columns(&drawn.ensemble, &all), None, k);
        assert!(
            apart(&heavy, &twice) < 0.02,
            "{seed}: {}",
            apart(&heavy, &twice)
        );
        closer += usize::from(apart(&heavy, &twice) < apart(&plain, &twice));
        // A base clustering of no weight can still lend its names to the others.
        if light.details["reference"] == without.details["reference"] {
            same_reference += 1;
            assert!(
                apart(&light, &without) < 0.02,
                "{seed}: {}",
                apart(&light, &without)
            );
        }
    }
    assert!(
        same_reference >= 8 && closer >= 11,
        "{same_reference} {closer}"
    );
}

fn run_p(ensemble: &Ensemble, weights: Option<Vec<f64>>, clusters: usize) -> Outcome {
    let weights = weights.map(|weights| BaseWeights::new(weights).unwrap());
    ssce_p(
        WeightedEnsemble {
            base_weights: weights.as_ref(),
            ..ensemble.into()
        },
        clusters,
        Seed::new(1),
        &settings(),
        &Silent,
    )
    .unwrap()
    .erased()
}

#[test]
fn weights_of_one_are_none_to_the_bit() {
    for seed in 0..6 {
        let drawn = draw(Seed::new(seed), 0.2);
        let equal = || Some(vec![1.0; drawn.ensemble.bases().len()]);
        for method in [run, run_p] {
            let (plain, weighted) = (
                method(&drawn.ensemble, None, drawn.clusters),
                method(&drawn.ensemble, equal(), drawn.clusters),
            );
            assert_eq!(plain.soft, weighted.soft);
            assert_eq!(plain.objective, weighted.objective);
        }
    }
}

/// Labels of SSCE-P are inputs too; weights say whose labels the classifiers are to learn.
#[test]
fn weights_say_whose_labels_ssce_p_learns() {
    let mut builder = EnsembleBuilder::new(60);
    let (halves, parity) = ((0..60).map(|i| i / 30), (0..60).map(|i| i % 2));
    for (u, labels) in [
        halves.clone().collect(),
        parity.clone().collect(),
        parity.clone().collect::<Vec<u32>>(),
    ]
    .into_iter()
    .enumerate()
    {
        builder
            .push(format!("u{u}"), labels.into_iter().map(Some))
            .unwrap();
    }
    let ensemble = builder.finish().unwrap();
    let like = |weights: Vec<f64>, labels: Vec<u32>| {
        let found = run_p(&ensemble, Some(weights), 2).partition;
        Contingency::new(&found, &Partition::new(labels, 2).unwrap())
            .unwrap()
            .accuracy()
    };
    assert!(like(vec![100.0, 1.0, 1.0], halves.clone().collect()) > 0.99);
    assert!(like(vec![1.0, 100.0, 1.0], parity.clone().collect()) > 0.99);
    assert!(like(vec![1e-9, 1.0, 1.0], parity.collect()) > 0.99);
    assert!(like(vec![1.0, 1e-9, 1e-9], halves.collect()) > 0.99);
}
