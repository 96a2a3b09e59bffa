//! The simulated data of the PCC paper: probabilities are recovered, with half of the clusters left empty.

use partita_core::{Clusters, Consensus, MemoryBudget, Problem, Seed, Silent, consense};
use partita_metrics::jensen_shannon;
use partita_pcc::{Dense, Divergence, PCC_KL, PCC_L2, PccSettings, pcc};

const SETS: u64 = 3;

#[test]
fn simulated_probabilities_are_recovered() {
    let mut settings = PccSettings::default();
    (settings.restarts, settings.tolerance) = (Some(std::num::NonZeroU32::MIN), 1e-3);
    let mut sums = [0.0; 2];
    // Three of the paper's ten data sets, for time; `cargo xtask reproduce pcc` draws all.
    for seed in (0..SETS).map(Seed::new) {
        let truth = crate::simulated_data::truth(200, (1.0, 5.0), seed.child(0));
        let ensemble = crate::simulated_data::ensemble(&truth, 1000, seed.child(1));
        let evidence = Dense::count(&ensemble, MemoryBudget::UNLIMITED, &Silent).unwrap();
        for (sum, divergence) in sums.iter_mut().zip([Divergence::Kl, Divergence::L2]) {
            let outcome = pcc(
                &evidence,
                None,
                divergence,
                8,
                seed.child(2),
                &settings,
                &Silent,
            )
            .unwrap();
            assert_eq!(
                outcome.partition.live_clusters(),
                4,
                "{divergence} seed {}",
                seed.number()
            );
            *sum += jensen_shannon(&outcome.soft.unwrap(), &truth).unwrap();
        }
    }
    // The paper reports 0.0012 for both.
    assert!(
        sums.iter().all(|sum| sum / SETS as f64 <= 0.0012),
        "mean divergence of {SETS}: {sums:?} in all"
    );
}

#[test]
fn the_number_of_clusters_is_found() {
    for seed in (0..2).map(Seed::new) {
        let truth = crate::simulated_data::truth(50, (1.0, 5.0), seed.child(0));
        let ensemble = crate::simulated_data::ensemble(&truth, 200, seed.child(1));
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
    let truth = crate::simulated_data::truth(200, (0.0, 2.0), seed.child(0));
    let ensemble = crate::simulated_data::ensemble(&truth, 1000, seed.child(1));
    let evidence = Dense::count(&ensemble, MemoryBudget::UNLIMITED, &Silent).unwrap();
    let outcome = pcc(
        &evidence,
        None,
        Divergence::L2,
        8,
        seed.child(2),
        &PccSettings::default(),
        &Silent,
    )
    .unwrap();
    assert!(
        outcome.details.start.ends_with(", split"),
        "{:?}",
        outcome.details.restarts
    );
    assert_eq!(outcome.partition.live_clusters(), 4);
    assert!(jensen_shannon(&outcome.soft.unwrap(), &truth).unwrap() <= 0.0012);
}
