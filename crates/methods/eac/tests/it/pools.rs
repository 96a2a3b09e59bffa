//! Scores on published pools of base clusterings (Huang, Wang and Lai 2018), where they are at hand: the folder is
//! named by the variable PARTITA_POOLS.

use std::env;
use std::path::PathBuf;

use partita_core::{Clusters, Consensus, Partition, Problem, Seed, Silent, consense};
use partita_eac::{EAC_AVERAGE, LWEA};
use partita_files::{LoadedEnsemble, ReadOptions, read_ensemble};
use partita_metrics::{Contingency, Normalisation};
use rand::seq::SliceRandom;

const DRAWS: u64 = 20;

/// Mean NMI by the larger entropy over draws of base clusterings; objects are shuffled, settings are the defaults.
fn score(loaded: &LoadedEnsemble, method: &dyn Consensus, bases: usize) -> f64 {
    let truth = Partition::from_values(&loaded.truth.as_ref().expect("classes").values);
    let draw = |draw: u64| {
        let mut rng = Seed::new(draw).rng();
        let mut chosen: Vec<u32> = (0..loaded.ensemble.bases().len() as u32).collect();
        let mut objects: Vec<u32> = (0..loaded.ensemble.objects() as u32).collect();
        chosen.shuffle(&mut rng);
        objects.shuffle(&mut rng);
        let ensemble = loaded.ensemble.select(&objects, &chosen[..bases]);
        let problem = Problem::new(&ensemble, Clusters::Exactly(truth.clusters()));
        let outcome = consense(method, &problem, &Silent).expect("a consensus");
        let expected = objects
            .iter()
            .map(|&i| truth.labels()[i as usize])
            .collect();
        let expected = Partition::new(expected, truth.clusters()).expect("the same classes");
        let table = Contingency::new(&outcome.partition, &expected).expect("the same objects");
        table.nmi(Normalisation::Max)
    };
    (0..DRAWS).map(draw).sum::<f64>() / DRAWS as f64
}

/// Holds a pool to its published means: of EAC at M = 10 and of LWEA at M = 20.
fn check(pool: &str, eac_at_10: f64, lwea_at_20: f64) {
    let Ok(folder) = env::var("PARTITA_POOLS") else {
        assert!(env::var("CI").is_err(), "PARTITA_POOLS is not set");
        return;
    };
    let file = PathBuf::from(&folder).join(format!("{pool}.mat"));
    let loaded = read_ensemble(&file, &ReadOptions::default()).expect("a pool");
    let eac = score(&loaded, &EAC_AVERAGE, 10);
    let lwea = score(&loaded, &LWEA, 20);
    assert!(eac >= eac_at_10 - 0.01, "EAC on {pool}: {eac}");
    assert!(lwea >= lwea_at_20 - 0.005, "LWEA on {pool}: {lwea}");
}

#[test]
fn published_means_on_is() {
    check("IS", 0.599, 0.617);
}

#[test]
fn published_means_on_isolet() {
    check("ISOLET", 0.730, 0.748);
}

#[test]
fn published_means_on_semeion() {
    check("Semeion", 0.616, 0.670);
}

#[test]
fn published_means_on_spf() {
    check("SPF", 0.114, 0.143);
}

#[test]
fn published_means_on_pd() {
    check("PD", 0.697, 0.776);
}
