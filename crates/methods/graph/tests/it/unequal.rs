//! Clusters of very different sizes, half of the labels missing.

use partita_core::{Clusters, Consensus, Problem, Seed, SettingMap, Silent, consense};
use partita_graph::{HBGF, LWGP};
use partita_metrics::Scores;

use crate::unequal_set::unequal_set;

#[test]
fn spectral_cuts_find_unequal_clusters_and_balanced_ones_do_not() {
    let mean = |method: &dyn Consensus, settings: &[&str]| {
        let ari = |seed| {
            let (ensemble, truth) = unequal_set(2000, 100, Seed::new(seed));
            let mut problem = Problem::new(&ensemble, Clusters::Exactly(truth.clusters()));
            problem.settings =
                SettingMap::parse(settings).expect("settings of the form name=value");
            let found = consense(method, &problem, &Silent)
                .expect("a consensus")
                .partition;
            Scores::of(&found, &truth)
                .expect("partitions of the same objects")
                .ari
        };
        (0..3).map(ari).sum::<f64>() / 3.0
    };
    let (lwgp, hbgf) = (mean(&LWGP, &[]), mean(&HBGF, &[]));
    let balanced = mean(&HBGF, &["cut=metis"]);
    assert!(
        lwgp >= 0.58 && hbgf >= 0.58,
        "LWGP {lwgp:.3}, HBGF {hbgf:.3}"
    );
    assert!(balanced < 0.15, "{balanced:.3}");
}
