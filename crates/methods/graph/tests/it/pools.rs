//! Published pools of base clusterings, found through `PARTITA_POOLS`: means over draws reach the published rows.

use std::env;
use std::path::PathBuf;

use partita_core::{Clusters, Consensus, Ensemble, Partition, Problem, Seed, Silent, consense};
use partita_files::{ReadOptions, read_ensemble};
use partita_graph::{HBGF, LWGP};
use partita_metrics::{Contingency, Normalisation};
use rand::seq::{SliceRandom, index};

/// Where the pools are; none where nobody said and nobody insists.
fn pools() -> Option<PathBuf> {
    let folder = env::var_os("PARTITA_POOLS").map(PathBuf::from);
    assert!(
        folder.is_some() || env::var_os("CI").is_none(),
        "PARTITA_POOLS says where the pools are"
    );
    folder
}

/// The pool and the true classes, rows shuffled: the files are sorted by class.
fn shuffled(folder: &std::path::Path, name: &str) -> (Ensemble, Partition) {
    let loaded = read_ensemble(&folder.join(format!("{name}.mat")), &ReadOptions::default())
        .expect("a pool");
    let truth = Partition::from_values(&loaded.truth.expect("a pool has the true classes").values);
    let mut order: Vec<u32> = (0..truth.objects() as u32).collect();
    order.shuffle(&mut Seed::new(5).rng());
    let bases: Vec<u32> = (0..loaded.ensemble.bases().len() as u32).collect();
    let labels = order.iter().map(|&i| truth.labels()[i as usize]).collect();
    (
        loaded.ensemble.select(&order, &bases),
        Partition::new(labels, truth.clusters()).expect("the same labels"),
    )
}

/// Mean NMI (divided by the larger entropy) over 20 draws of `bases` base clusterings.
fn mean(method: &dyn Consensus, (pool, truth): &(Ensemble, Partition), bases: usize) -> f64 {
    let all: Vec<u32> = (0..pool.objects() as u32).collect();
    let score = |draw: u64| {
        let seed = Seed::new(draw);
        let chosen = index::sample(&mut seed.rng(), pool.bases().len(), bases);
        let chosen: Vec<u32> = chosen.iter().map(|u| u as u32).collect();
        let ensemble = pool.select(&all, &chosen);
        let mut problem = Problem::new(&ensemble, Clusters::Exactly(truth.live_clusters()));
        problem.seed = seed.child(1);
        let outcome = consense(method, &problem, &Silent).expect("a consensus");
        Contingency::new(&outcome.partition, truth)
            .expect("partitions of the same objects")
            .nmi(Normalisation::Max)
    };
    (0..20).map(score).sum::<f64>() / 20.0
}

#[test]
fn lwgp_and_hbgf_reach_the_published_means() {
    let Some(folder) = pools() else { return };
    // Published means: LWGP of 20 base clusterings, HBGF of 10.
    let rows = [
        ("IS", 0.660, 0.609),
        ("ISOLET", 0.742, 0.742),
        ("Semeion", 0.650, 0.621),
        ("SPF", 0.146, 0.129),
        ("PD", 0.788, 0.730),
    ];
    for (name, lwgp, hbgf) in rows {
        let pool = shuffled(&folder, name);
        let found = (mean(&LWGP, &pool, 20), mean(&HBGF, &pool, 10));
        assert!(
            found.0 >= lwgp - 0.005,
            "{name}: LWGP {:.3}, published {lwgp}",
            found.0
        );
        assert!(
            found.1 >= hbgf - 0.01,
            "{name}: HBGF {:.3}, published {hbgf}",
            found.1
        );
    }
}
