//! Soft base clusterings and weights of objects: what the conformance tests ask, and that weighted objects are copies.

use partita_conformance::{check_soft, check_with, draw};
use partita_core::{
    Clusters, Consensus, ObjectWeights, Partition, Problem, Seed, Silent, consense,
};
use partita_graph::{CTS, ECPCS_HC, ECPCS_MC, GP_MGLA, HGPA, LCE, MCLA};

const METHODS: [&dyn Consensus; 7] = [&MCLA, &ECPCS_MC, &ECPCS_HC, &CTS, &LCE, &GP_MGLA, &HGPA];

#[test]
fn soft_base_clusterings_are_taken_or_refused_with_the_reason() {
    for method in METHODS {
        let refuses = ["hgpa", "lce", "gp-mgla"].contains(&method.info().name);
        assert!(
            check_soft(method, &[]) > usize::from(!refuses),
            "{}",
            method.info().name
        );
    }
}

#[test]
fn what_their_infos_say_holds() {
    for method in METHODS {
        assert!(check_with(method, &[], 1) > 50, "{}", method.info().name);
    }
}

/// Trees do not start anywhere, and these cuts start from rows that differ, each with its objects, so that weights and copies give the
/// same but where rounding decides a tie.
#[test]
fn an_object_of_weight_three_is_three_objects_in_trees_and_cuts_by_passes() {
    for method in [&ECPCS_HC as &dyn Consensus, &CTS, &LCE, &GP_MGLA] {
        let same = (0..20)
            .filter(|&seed| weighted_is_copied(method, seed))
            .count();
        assert!(same >= 18, "{}: {same} of 20", method.info().name);
    }
}

fn weighted_is_copied(method: &dyn Consensus, seed: u64) -> bool {
    let drawn = draw(
        Seed::new(seed),
        if seed.is_multiple_of(2) { 0.0 } else { 0.2 },
    );
    let (n, m) = (
        drawn.ensemble.objects() as u32,
        drawn.ensemble.bases().len() as u32,
    );
    let order: Vec<u32> = (0..n).chain([0, 0, 5]).collect();
    let copied = drawn.ensemble.select(&order, &(0..m).collect::<Vec<_>>());
    let mut weights = vec![1.0; n as usize];
    (weights[0], weights[5]) = (3.0, 2.0);
    let weights = ObjectWeights::new(weights).expect("positive weights");
    let clusters = Clusters::Exactly(drawn.clusters);
    let one = consense(
        method,
        &Problem::new(&drawn.ensemble, clusters).object_weights(&weights),
        &Silent,
    )
    .expect("a consensus");
    let two = consense(method, &Problem::new(&copied, clusters), &Silent).expect("a consensus");
    let first = Partition::from_values(&two.partition.labels()[..n as usize]).by_appearance();
    let (one_soft, two_soft) = (one.probability(), two.probability());
    let pairs = one_soft.iter().flatten().zip(two_soft.iter().flatten());
    let close = { pairs }.all(|(a, b)| (a - b).abs() < 1e-9);
    first == one.partition.by_appearance() && close
}
