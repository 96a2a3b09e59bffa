//! A weight of 4 is the base clustering four times, next to no weight is the base clustering left out, equal weights
//! are none.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use partita_conformance::{draw, ensemble};
use partita_core::{BaseWeights, Consensus, Ensemble, Outcome, Problem, Seed, SettingMap, Silent};
use partita_median::{ACV, IPVC, KC, NMFC, PLURALITY, QMI, RCV, URCV};

const METHODS: [&dyn Consensus; 8] = [&KC, &QMI, &IPVC, &NMFC, &PLURALITY, &RCV, &URCV, &ACV];

/// Some base clusterings of an ensemble, in this order; those of number 0 beyond the first are copies.
fn columns(given: &Ensemble, bases: &[usize]) -> Ensemble {
    let column = |(at, &u): (usize, &usize)| {
        let name = if at > 0 && u == 0 {
            format!("again {at}")
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

fn run(
    method: &dyn Consensus,
    ensemble: &Ensemble,
    weights: Option<Vec<f64>>,
    clusters: usize,
) -> Outcome {
    let weights = weights.map(|weights| BaseWeights::new(weights).unwrap());
    let mut problem = Problem::new(ensemble, partita_core::Clusters::Exactly(clusters));
    problem.seed = Seed::new(1);
    problem.weights = weights.as_ref();
    problem.settings = SettingMap::default();
    method.fit_canonical(&problem, &Silent).unwrap()
}

/// Largest difference of probabilities; of labels where there are none.
fn apart(a: &Outcome, b: &Outcome) -> f64 {
    match (&a.soft, &b.soft) {
        (Some(a), Some(b)) => (&a.rows() - &b.rows())
            .iter()
            .fold(0.0, |most, x| x.abs().max(most)),
        _ => f64::from(u8::from(
            a.partition.by_appearance() != b.partition.by_appearance(),
        )),
    }
}

#[test]
fn the_info_of_every_method_says_that_weights_are_taken() {
    assert!(
        METHODS
            .iter()
            .all(|method| method.info().capabilities.base_weights == partita_core::Weights::Native)
    );
}

#[test]
fn equal_weights_are_none_to_the_bit() {
    for method in METHODS {
        for seed in 0..40 {
            let drawn = draw(Seed::new(seed), 0.3);
            let equal = vec![7.0; drawn.ensemble.bases().len()];
            let (plain, weighted) = (
                run(method, &drawn.ensemble, None, drawn.clusters),
                run(method, &drawn.ensemble, Some(equal), drawn.clusters),
            );
            assert_eq!(
                (plain.partition, plain.soft),
                (weighted.partition, weighted.soft),
                "{}",
                method.info().name
            );
        }
    }
}

/// ACV votes against a mean that every vote moves, so its copies vote one after the other: there, only the nearer of
/// the two is asked for.
#[test]
fn a_weight_of_four_is_four_times_and_next_to_none_is_not_at_all() {
    for method in METHODS {
        let name = method.info().name;
        let (mut same, mut nearer, mut without_same, mut compared, mut moved) = (0, 0, 0, 0, 0);
        for seed in 0..40 {
            let drawn = draw(Seed::new(seed), 0.0);
            let k = drawn.clusters;
            let mut bases: Vec<usize> = (0..drawn.ensemble.bases().len()).collect();
            let all = columns(&drawn.ensemble, &bases);
            let weighted = |weight: f64| {
                let mut weights = vec![1.0; bases.len()];
                weights[0] = weight;
                run(method, &all, Some(weights), k)
            };
            let (plain, heavy, light) = (weighted(1.0), weighted(4.0), weighted(1e-12));
            let without = run(method, &columns(&drawn.ensemble, &bases[1..]), None, k);
            bases.extend([0; 3]);
            let copies = run(method, &columns(&drawn.ensemble, &bases), None, k);
            same += usize::from(apart(&heavy, &copies) < 1e-6);
            nearer += usize::from(apart(&heavy, &copies) <= apart(&plain, &copies));
            moved += usize::from(apart(&heavy, &plain) > 1e-6);
            // A base clustering of no weight can still lend its names to the others.
            if light.details.get("reference") == without.details.get("reference") {
                compared += 1;
                without_same += usize::from(apart(&light, &without) < 1e-6);
            }
        }
        // k-means and NMFC stop at one of many optima: rounding, or one more base clustering, may lead to another.
        let found = (same, nearer, without_same, compared, moved);
        let least = match name {
            "acv" => 15,
            "nmfc" => 32,
            _ => 36,
        };
        assert!(same >= least && nearer >= 36, "{name} {found:?}");
        assert!(
            compared >= 30 && without_same + 6 >= compared && moved >= 15,
            "{name} {found:?}"
        );
    }
}
