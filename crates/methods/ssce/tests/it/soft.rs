//! Soft base clusterings and weights of objects: what the conformance tests ask, and that weighted objects are copies.

use partita_conformance::{check_soft, check_with, draw, draw_shares, ensemble_of_shares};
use partita_core::ndarray::{Array2, Axis};
use partita_core::{
    Clusters, Features, ObjectWeights, Problem, Seed, SettingMap, Silent, consense,
};
use partita_ssce::{SSCE, SSCE_P};

#[test]
fn shares_are_learned_as_probabilities() {
    assert!(check_soft(&SSCE_P, &["gamma=1"]) > 1);
}

#[test]
fn what_their_infos_say_holds() {
    assert!(check_with(&SSCE, &["gamma=1"], 1) > 50);
    assert!(check_with(&SSCE_P, &["gamma=1"], 1) > 50);
}

#[test]
fn an_object_of_weight_two_is_two_objects() {
    for seed in 0..6 {
        let drawn = draw(Seed::new(seed), 0.0);
        let n = drawn.ensemble.objects();
        let m = drawn.ensemble.bases().len() as u32;
        let order: Vec<usize> = (0..n).chain([0, 3]).collect();
        let rows: Vec<u32> = order.iter().map(|&i| i as u32).collect();
        let copied = drawn.ensemble.select(&rows, &(0..m).collect::<Vec<_>>());
        let mut weights = vec![1.0; n];
        weights[0] = 2.0;
        weights[3] = 2.0;
        let weights = ObjectWeights::new(weights).unwrap();
        let columns = (0..drawn.features.ncols()).map(|j| format!("c{j}"));
        let columns: Vec<String> = columns.collect();
        let table: Array2<f64> = drawn.features.select(Axis(0), &order);
        let settings = SettingMap::parse(&["gamma=1"]).unwrap();
        let clusters = Clusters::Exactly(drawn.clusters);
        let one = Problem::new(&drawn.ensemble, clusters)
            .settings(settings.clone())
            .object_weights(&weights);
        let one = one.features(Features::new(&columns, drawn.features.view()).unwrap());
        let two = Problem::new(&copied, clusters).settings(settings);
        let two = two.features(Features::new(&columns, table.view()).unwrap());
        let [one, two] = [one, two].map(|problem| {
            let outcome = consense(&SSCE, &problem, &Silent).unwrap();
            outcome.objective.unwrap().value
        });
        assert!((one / two - 1.0).abs() < 1e-6, "{seed}: {one} {two}");
    }
}

#[test]
fn shares_are_learned_from_a_table() {
    for seed in 0..6 {
        let drawn = draw_shares(Seed::new(seed));
        let tables = drawn.tables.iter().enumerate();
        let ensemble = ensemble_of_shares(tables.map(|(u, table)| (format!("u{u}"), table)));
        // A column a planted cluster, a little out of place.
        let shape = (drawn.truth.len(), drawn.clusters);
        let table = Array2::from_shape_fn(shape, |(i, k)| {
            let own = f64::from(u8::from(drawn.truth[i] as usize == k));
            own + ((i * 7 + k * 3) % 11) as f64 / 50.0
        });
        let columns: Vec<String> = (0..drawn.clusters).map(|k| format!("c{k}")).collect();
        let problem = Problem::new(&ensemble, Clusters::Exactly(drawn.clusters));
        let problem = problem.settings(SettingMap::parse(&["gamma=1"]).unwrap());
        let problem = problem.features(Features::new(&columns, table.view()).unwrap());
        let found = consense(&SSCE, &problem, &Silent).unwrap();
        let planted = partita_core::Partition::from_values(&drawn.truth).by_appearance();
        assert_eq!(found.partition.by_appearance(), planted, "{seed}");
    }
}
