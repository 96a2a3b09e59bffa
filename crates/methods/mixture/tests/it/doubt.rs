//! Soft base clusterings and weights: what the conformance tests ask, and what shares of 0 and 1 must give.

use partita_conformance::{check_soft, check_with, draw};
use partita_core::{BaseWeights, Clusters, Consensus, Problem, Seed, SettingMap, Silent, consense};
use partita_mixture::{BCE, NBCE_CVB, NBCE_GIBBS, NBCE_VB};

const QUICK: [(&dyn Consensus, &[&str]); 4] = [
    (&BCE, &["restarts=2", "iterations=30"]),
    (&NBCE_CVB, &["restarts=2"]),
    (&NBCE_VB, &[]),
    (
        &NBCE_GIBBS,
        &["burn_in=30", "sweeps=60", "keep=20", "chains=2"],
    ),
];

#[test]
fn soft_base_clusterings_are_part_of_what_is_optimised_or_refused() {
    for (method, settings) in QUICK {
        assert!(check_soft(method, settings) > 0, "{}", method.info().name);
    }
}

#[test]
fn what_their_infos_say_holds() {
    for (method, settings) in QUICK {
        assert!(
            check_with(method, settings, 2) > 50,
            "{}",
            method.info().name
        );
    }
}

#[test]
fn a_copy_of_a_base_clustering_is_weight_two() {
    for (method, settings) in [
        (&BCE as &dyn Consensus, "restarts=4"),
        (&NBCE_VB, "restarts=8"),
    ] {
        a_copy_is_weight_two(method, settings);
    }
}

fn a_copy_is_weight_two(method: &dyn Consensus, settings: &str) {
    for seed in 0..8 {
        let drawn = draw(Seed::new(seed), 0.1);
        let (n, m) = (
            drawn.ensemble.objects() as u32,
            drawn.ensemble.bases().len() as u32,
        );
        let twice = drawn.ensemble.select(
            &(0..n).collect::<Vec<_>>(),
            &(0..m).chain([0]).collect::<Vec<_>>(),
        );
        let mut weights = vec![1.0; m as usize];
        weights[0] = 2.0;
        let weights = BaseWeights::new(weights).expect("weights above 0");
        let settings = SettingMap::parse(&[settings]).expect("a setting");
        let found = |ensemble, weights| {
            let mut problem = Problem::new(ensemble, Clusters::Exactly(drawn.clusters))
                .settings(settings.clone());
            problem.weights = weights;
            consense(method, &problem, &Silent).expect("a consensus")
        };
        let (weighted, copied) = (found(&drawn.ensemble, Some(&weights)), found(&twice, None));
        let pairs = |labels: &[u32]| {
            (0..labels.len())
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .collect::<Vec<_>>()
        };
        let (a, b) = (weighted.partition.labels(), copied.partition.labels());
        let same = pairs(a)
            .into_iter()
            .filter(|&(i, j)| (a[i] == a[j]) == (b[i] == b[j]))
            .count();
        assert!(
            same as f64 > 0.8 * pairs(a).len() as f64,
            "{}, seed {seed}",
            method.info().name
        );
        // The model keeps the weights: it labels the rows as the fit did.
        let model = weighted.model.expect("a model").to_json();
        assert!(model["base_clusterings"][0]["weight"].is_number());
    }
}

#[test]
fn draws_of_a_posterior_come_back_in_the_order_of_the_objects() {
    let drawn = draw(Seed::new(5), 0.0);
    let settings = SettingMap::parse(QUICK[3].1).unwrap();
    let problem = Problem::new(&drawn.ensemble, Clusters::Exactly(6)).settings(settings);
    let outcome = consense(&NBCE_GIBBS, &problem, &Silent).unwrap();
    let posterior = outcome.posterior.unwrap();
    assert_eq!(posterior.draws().len(), 40);
    assert!((posterior.clusters().values().sum::<f64>() - 1.0).abs() < 1e-12);
}
