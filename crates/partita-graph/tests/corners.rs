//! Ensembles at the edge of what can be asked.

use partita_conformance::ensemble;
use partita_core::{Clusters, Consensus, Ensemble, Outcome, Problem, Silent, consense};
use partita_graph::{CSPA, HBGF, HGPA, LWGP, MCLA};

const METHODS: [&dyn Consensus; 5] = [&LWGP, &HBGF, &MCLA, &CSPA, &HGPA];

fn of(columns: &[Vec<Option<u32>>]) -> Ensemble {
    ensemble(columns.iter().enumerate().map(|(u, column)| (format!("u{u}"), column.clone())))
}

fn run(method: &dyn Consensus, ensemble: &Ensemble, clusters: usize) -> Outcome {
    consense(method, &Problem::new(ensemble, Clusters::Exactly(clusters)), &Silent)
        .unwrap_or_else(|error| panic!("{}: {error}", method.card().name))
}

fn halves(n: u32) -> Vec<Option<u32>> {
    (0..n).map(|i| Some(u32::from(i >= n / 2))).collect()
}

#[test]
fn one_base_clustering_and_copies_of_it_come_back() {
    let column: Vec<Option<u32>> = (0..12).map(|i| Some(i % 3)).collect();
    for (method, copies) in METHODS.into_iter().flat_map(|method| [(method, 1), (method, 5)]) {
        let outcome = run(method, &of(&vec![column.clone(); copies]), 3);
        let expected: Vec<u32> = (0..12).map(|i| i % 3).collect();
        assert_eq!(outcome.partition.by_appearance().labels(), expected, "{}", method.card().name);
    }
}

#[test]
fn disconnected_halves_are_the_two_clusters() {
    for method in METHODS {
        let outcome = run(method, &of(&[halves(10), halves(10), halves(10)]), 2);
        assert_eq!(
            outcome.partition.by_appearance().labels(),
            [0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
            "{}",
            method.card().name
        );
        // More clusters than separate parts: an answer of at most as many live ones.
        assert!(run(method, &of(&[halves(10), halves(10)]), 4).partition.live_clusters() <= 4);
    }
}

#[test]
fn all_singletons_and_as_many_clusters_as_objects_are_answered() {
    let singletons: Vec<Option<u32>> = (0..8).map(Some).collect();
    for (method, clusters) in METHODS.into_iter().flat_map(|method| (1..=8).map(move |k| (method, k))) {
        let outcome = run(method, &of(&[singletons.clone(), singletons.clone(), singletons.clone()]), clusters);
        assert_eq!(outcome.partition.clusters(), clusters);
        assert_eq!(run(method, &of(&[halves(8), singletons.clone()]), clusters).partition.objects(), 8);
    }
    for method in METHODS {
        let outcome = run(method, &of(&[singletons.clone(), singletons.clone()]), 8);
        assert_eq!(outcome.partition.live_clusters(), 8, "{}", method.card().name);
    }
}

#[test]
fn an_object_labelled_once_goes_with_that_label() {
    let mut columns = vec![halves(12); 4];
    columns.iter_mut().skip(1).for_each(|column| column[0] = None);
    for method in METHODS {
        let outcome = run(method, &of(&columns), 2);
        assert_eq!(outcome.partition.labels()[0], outcome.partition.labels()[1], "{}", method.card().name);
    }
}
