//! A weight of 2 is the base clustering twice, next to no weight is the base clustering left out, weights of 1 are none.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::num::NonZeroU32;

use partita_conformance::{draw, ensemble};
use partita_core::ndarray::Array2;
use partita_core::{
    BaseWeights, Ensemble, Features, Outcome, Partition, Seed, Silent, WeightedEnsemble,
};
use partita_metrics::Contingency;
use partita_ssce::{SsceSettings, ssce, ssce_p};

fn columns(given: &Ensemble, bases: &[usize]) -> Ensemble {
    ensemble(bases.iter().enumerate().map(|(at, &u)| {
        let again = at > 0 && u == 0;
        let name = if again {
            "again".to_owned()
        } else {
            format!("{u:02}")
        };
        let labels = given.column(u).map(|label| label.map(|j| j as u32));
        (name, labels.collect())
    }))
}

fn settings() -> SsceSettings {
    let mut settings = SsceSettings::default();
    settings.gamma = Some(1.0);
    settings.tolerance = 1e-9;
    settings.iterations = NonZeroU32::new(300);
    settings
}

/// Largest difference of two outcomes' probabilities.
fn apart(a: &Outcome, b: &Outcome) -> f64 {
    let difference = &a.soft.as_ref().unwrap().rows() - &b.soft.as_ref().unwrap().rows();
    difference.iter().fold(0.0, |most, x| x.abs().max(most))
}

fn run(ensemble: &Ensemble, weights: Option<Vec<f64>>, k: usize) -> Outcome {
    let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
    let values = Array2::from_shape_fn((ensemble.objects(), 3), |(i, j)| {
        ((i * (j + 3) * 7 + j) % 11) as f64
    });
    let features = Features::new(&names, values.view()).unwrap();
    let weights = weights.map(|weights| BaseWeights::new(weights).unwrap());
    let mut source = WeightedEnsemble::from(ensemble);
    source.base_weights = weights.as_ref();
    let outcome = ssce(source, &features, k, Seed::new(1), &settings(), &Silent);
    outcome.unwrap().erased()
}

/// Not to the bit: the covariance starts at I/M, and M is what differs.
#[test]
fn a_weight_of_two_is_twice_and_next_to_none_is_not_at_all() {
    let mut same_reference = 0;
    let mut closer = 0;
    for seed in 0..12 {
        let drawn = draw(Seed::new(seed), 0.2);
        let bases = drawn.ensemble.bases().len();
        let k = drawn.clusters;
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
        let of_heavy = apart(&heavy, &twice);
        assert!(of_heavy < 0.02, "{seed}: {of_heavy}");
        closer += usize::from(of_heavy < apart(&plain, &twice));
        // A base clustering of no weight can still lend its names to the others.
        if light.details["reference"] == without.details["reference"] {
            same_reference += 1;
            let of_light = apart(&light, &without);
            assert!(of_light < 0.02, "{seed}: {of_light}");
        }
    }
    let enough = same_reference >= 8 && closer >= 11;
    assert!(enough, "{same_reference} {closer}");
}

fn run_p(ensemble: &Ensemble, weights: Option<Vec<f64>>, k: usize) -> Outcome {
    let weights = weights.map(|weights| BaseWeights::new(weights).unwrap());
    let mut source = WeightedEnsemble::from(ensemble);
    source.base_weights = weights.as_ref();
    let outcome = ssce_p(source, k, Seed::new(1), &settings(), &Silent);
    outcome.unwrap().erased()
}

#[test]
fn weights_of_one_are_none_to_the_bit() {
    for seed in 0..6 {
        let drawn = draw(Seed::new(seed), 0.2);
        let equal = vec![1.0; drawn.ensemble.bases().len()];
        for method in [run, run_p] {
            let [plain, weighted] = [None, Some(equal.clone())]
                .map(|weights| method(&drawn.ensemble, weights, drawn.clusters));
            assert_eq!(plain.soft, weighted.soft);
            assert_eq!(plain.objective, weighted.objective);
        }
    }
}

/// Labels of SSCE-P are inputs too; weights say whose labels the classifiers are to learn.
#[test]
fn weights_say_whose_labels_ssce_p_learns() {
    let halves: Vec<u32> = (0..60).map(|i| i / 30).collect();
    let parity: Vec<u32> = (0..60).map(|i| i % 2).collect();
    let labels = [&halves, &parity, &parity].into_iter().enumerate();
    let ensemble = ensemble(
        labels.map(|(u, labels)| (format!("u{u}"), labels.iter().copied().map(Some).collect())),
    );
    for (weights, expected) in [
        ([100.0, 1.0, 1.0], &halves),
        ([1.0, 100.0, 1.0], &parity),
        ([1e-9, 1.0, 1.0], &parity),
        ([1.0, 1e-9, 1e-9], &halves),
    ] {
        let found = run_p(&ensemble, Some(weights.to_vec()), 2).partition;
        let expected = Partition::new(expected.clone(), 2).unwrap();
        let accuracy = Contingency::new(&found, &expected).unwrap().accuracy();
        assert!(accuracy > 0.99, "{weights:?}: {accuracy}");
    }
}
