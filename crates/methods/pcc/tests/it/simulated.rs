//! The simulated data of the PCC paper: probabilities are recovered, with half of the clusters left empty.

use partita_core::{
    Clusters, Consensus, Ensemble, Outcome, Problem, Seed, Silent, SoftPartition, consense,
};
use partita_metrics::jensen_shannon;
use partita_pcc::{Divergence, PCC_KL, PCC_L2, PccDiagnostics, PccSettings, Sources, pcc};

use crate::common::all;
use crate::simulated_data::{ensemble, truth};

const SETS: u64 = 3;

/// Four components, whose means are so far from 0, and an ensemble drawn from them.
fn drawn(each: usize, means: (f64, f64), bases: usize, seed: Seed) -> (SoftPartition, Ensemble) {
    let truth = truth(each, means, seed.child(0));
    let ensemble = ensemble(&truth, bases, seed.child(1));
    (truth, ensemble)
}

/// The consensus of at most eight clusters.
fn of_eight(
    ensemble: &Ensemble,
    divergence: Divergence,
    seed: Seed,
    settings: &PccSettings,
) -> Outcome<PccDiagnostics> {
    let (evidence, seed) = (all(ensemble), seed.child(2));
    let sources = Sources::default();
    pcc(&evidence, sources, divergence, 8, seed, settings, &Silent).unwrap()
}

#[test]
fn simulated_probabilities_are_recovered() {
    let mut settings = PccSettings::default();
    settings.restarts = Some(std::num::NonZeroU32::MIN);
    settings.tolerance = 1e-3;
    let mut sums = [0.0; 2];
    // Three of the paper's ten data sets, for time; `cargo xtask reproduce pcc` draws all.
    for seed in (0..SETS).map(Seed::new) {
        let (truth, ensemble) = drawn(200, (1.0, 5.0), 1000, seed);
        for (sum, divergence) in sums.iter_mut().zip([Divergence::Kl, Divergence::L2]) {
            let outcome = of_eight(&ensemble, divergence, seed, &settings);
            let live = outcome.partition.live_clusters();
            assert_eq!(live, 4, "{divergence} seed {}", seed.number());
            *sum += jensen_shannon(&outcome.soft.unwrap(), &truth).unwrap();
        }
    }
    // The paper reports 0.0012 for both.
    let small = sums.iter().all(|sum| sum / SETS as f64 <= 0.0012);
    assert!(small, "mean divergence of {SETS}: {sums:?} in all");
}

#[test]
fn the_number_of_clusters_is_found() {
    for seed in (0..2).map(Seed::new) {
        let (_, ensemble) = drawn(50, (1.0, 5.0), 200, seed);
        for method in [&PCC_KL as &dyn Consensus, &PCC_L2] {
            let outcome =
                consense(method, &Problem::new(&ensemble, Clusters::Auto), &Silent).unwrap();
            let told = format!("seed {}: {:?}", seed.number(), outcome.details["held_out"]);
            assert_eq!(outcome.details["chosen"], 4, "{told}");
            assert_eq!(outcome.soft.unwrap().clusters(), 4);
        }
    }
}

#[test]
fn two_groups_in_one_cluster_are_told_apart() {
    // From here every start ends with two of the four components in one cluster, and half of the eight empty.
    let seed = Seed::new(1);
    let (truth, ensemble) = drawn(200, (0.0, 2.0), 1000, seed);
    let outcome = of_eight(&ensemble, Divergence::L2, seed, &PccSettings::default());
    assert!(
        outcome.details.start.ends_with(", split"),
        "{:?}",
        outcome.details.restarts
    );
    assert_eq!(outcome.partition.live_clusters(), 4);
    assert!(jensen_shannon(&outcome.soft.unwrap(), &truth).unwrap() <= 0.0012);
}
