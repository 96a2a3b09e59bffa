//! Ensembles at the edge of what can be asked: every method, K = 1 to n, has a defined answer.

use partita_conformance::ensemble;
use partita_core::{
    Clusters, Consensus, Ensemble, Outcome, Problem, Seed, SettingMap, Silent, consense,
};
use partita_graph::{CSPA, HBGF, HGPA, LWGP, MCLA};
use rand::RngExt;

/// Every method, and the settings that change how it cuts.
const METHODS: [(&dyn Consensus, &[&str]); 8] = [
    (&LWGP, &[]),
    (&HBGF, &[]),
    (&HBGF, &["cut=metis"]),
    (&MCLA, &[]),
    (&CSPA, &[]),
    (&CSPA, &["exact_objects=0", "neighbours=3"]),
    (&HGPA, &[]),
    (&HGPA, &["objective=cut"]),
];

fn of(columns: &[Vec<Option<u32>>]) -> Ensemble {
    ensemble(
        columns
            .iter()
            .enumerate()
            .map(|(u, column)| (format!("u{u}"), column.clone())),
    )
}

fn run(
    (method, settings): (&dyn Consensus, &[&str]),
    ensemble: &Ensemble,
    clusters: usize,
) -> Outcome {
    let mut problem = Problem::new(ensemble, Clusters::Exactly(clusters));
    problem.settings = SettingMap::parse(settings).expect("settings of the form name=value");
    let outcome = consense(method, &problem, &Silent).unwrap_or_else(|error| {
        panic!(
            "{} {settings:?} K = {clusters}: {error}",
            method.info().name
        )
    });
    assert_eq!(outcome.partition.objects(), ensemble.objects());
    // Objects with the same labels are never apart.
    assert!(outcome.partition.clusters() <= clusters);
    outcome
}

/// The labels, clusters numbered in the order in which they appear.
fn labels(method: (&dyn Consensus, &[&str]), ensemble: &Ensemble, clusters: usize) -> Vec<u32> {
    run(method, ensemble, clusters)
        .partition
        .by_appearance()
        .labels()
        .to_vec()
}

fn name((method, settings): (&dyn Consensus, &[&str])) -> String {
    format!("{} {settings:?}", method.info().name)
}

fn halves(n: u32) -> Vec<Option<u32>> {
    (0..n).map(|i| Some(u32::from(i >= n / 2))).collect()
}

fn thirds() -> Vec<Option<u32>> {
    (0..12).map(|i| Some(i % 3)).collect()
}

#[test]
fn one_cluster_is_everything_together() {
    for method in METHODS {
        assert_eq!(
            labels(method, &of(&[thirds(), halves(12)]), 1),
            [0; 12],
            "{}",
            name(method)
        );
    }
}

#[test]
fn one_base_clustering_and_copies_of_it_come_back() {
    for (method, copies) in METHODS
        .into_iter()
        .flat_map(|method| [(method, 1), (method, 5)])
    {
        let found = labels(method, &of(&vec![thirds(); copies]), 3);
        let expected: Vec<u32> = (0..12).map(|i| i % 3).collect();
        assert_eq!(found, expected, "{} {copies}", name(method));
    }
}

#[test]
fn disconnected_halves_are_the_two_clusters() {
    for method in METHODS {
        let found = labels(method, &of(&[halves(10), halves(10), halves(10)]), 2);
        assert_eq!(found, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1], "{}", name(method));
    }
}

#[test]
fn more_clusters_than_anybody_sees_split_no_separate_parts_together() {
    // Two separate halves into four: whatever is split, no cluster has objects of both.
    for method in METHODS {
        let found = labels(method, &of(&[halves(12), halves(12)]), 4);
        let crossing = (0..6).any(|i| (6..12).any(|j| found[i] == found[j]));
        assert!(!crossing, "{}: {found:?}", name(method));
    }
}

#[test]
fn all_singletons_are_answered_for_every_number_of_clusters() {
    let singletons: Vec<Option<u32>> = (0..8).map(Some).collect();
    for (method, clusters) in METHODS
        .into_iter()
        .flat_map(|method| (1..=8).map(move |k| (method, k)))
    {
        let outcome = run(
            method,
            &of(&[singletons.clone(), singletons.clone(), singletons.clone()]),
            clusters,
        );
        assert!(outcome.partition.live_clusters() <= clusters);
        run(method, &of(&[halves(8), singletons.clone()]), clusters);
    }
}

#[test]
fn as_many_clusters_as_objects_are_the_objects_where_labels_tell_them_apart() {
    let singletons: Vec<Option<u32>> = (0..8).map(Some).collect();
    for method in METHODS {
        let outcome = run(method, &of(&[singletons.clone(), singletons.clone()]), 8);
        assert_eq!(outcome.partition.live_clusters(), 8, "{}", name(method));
        // Where they do not, no more than eight come back.
        assert!(
            run(method, &of(&[halves(8), halves(8)]), 8)
                .partition
                .live_clusters()
                >= 2,
            "{}",
            name(method)
        );
    }
}

#[test]
fn an_object_labelled_once_goes_with_that_label() {
    let mut columns = vec![halves(12); 4];
    columns
        .iter_mut()
        .skip(1)
        .for_each(|column| column[0] = None);
    for method in METHODS {
        let found = labels(method, &of(&columns), 2);
        assert_eq!(found[0], found[1], "{}", name(method));
        assert_eq!(
            found.iter().filter(|&&label| label == 0).count(),
            6,
            "{}",
            name(method)
        );
    }
}

/// Base clusterings of 40 to 80 small random clusters inside halves: many eigenvalues lie close together, and ΣJ exceeds both n
/// and what is written out.
#[test]
fn many_small_base_clusters_are_cut() {
    let base = |u: u64| -> Vec<Option<u32>> {
        let (small, mut rng) = (20 + u as u32 % 20, Seed::new(u).rng());
        let mut label = |i: u32| {
            let side = u32::from((i >= 200) ^ rng.random_bool(0.2));
            Some(small * side + rng.random_range(0..small))
        };
        (0..400).map(&mut label).collect()
    };
    let ensemble = of(&(0..100).map(base).collect::<Vec<_>>());
    let halves: Vec<u32> = (0..400).map(|i| u32::from(i >= 200)).collect();
    let found = labels(METHODS[1], &ensemble, 2);
    assert!(
        found.iter().zip(&halves).filter(|(a, b)| a == b).count() > 390,
        "{found:?}"
    );
    // Three clusters are not there, and lwgp trusts base clusters of one object: an answer all the same.
    for (method, clusters) in [(0, 2), (0, 3), (1, 3)] {
        run(METHODS[method], &ensemble, clusters);
    }
}

#[test]
fn a_cut_that_might_as_well_be_another_says_so() {
    // Four groups that nobody splits or joins: two clusters can be any.
    let groups: Vec<Option<u32>> = (0..40).map(|i| Some(i / 10)).collect();
    let ensemble = of(&[groups.clone(), groups.clone(), groups]);
    let said = |clusters| run(METHODS[0], &ensemble, clusters).warnings.join("; ");
    assert!(said(2).contains("no gap after eigenvalue 2"), "{}", said(2));
    assert!(!said(4).contains("no gap"), "{}", said(4));
    let mut outlier: Vec<Option<u32>> = vec![Some(0); 40];
    outlier[7] = Some(1);
    let said = run(METHODS[1], &of(&[outlier.clone(), outlier]), 2)
        .warnings
        .join("; ");
    assert!(said.contains("1 of 2 clusters hold one object"), "{said}");
}
