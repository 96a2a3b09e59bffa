//! One consensus by every way: in memory and by blocks, in any order of rows, of labels and of shares of 0 and 1.

use partita_conformance::{draw, draw_shares, ensemble, ensemble_of_shares};
use partita_core::{
    Clusters, Consensus, Ensemble, EnsembleRows, Partition, Problem, RowProblem, Seed, Silent,
    SoftBases, consense, consense_rows,
};
use partita_graph::{ECPCS_MC, GP_MGLA, HBGF, LCE, LWGP, MCLA};
use rand::RngExt;

const METHODS: [&dyn Consensus; 6] = [&LWGP, &HBGF, &LCE, &GP_MGLA, &MCLA, &ECPCS_MC];

/// What is compared of a consensus.
struct Found {
    labels: Vec<u32>,
    objective: f64,
}

impl Found {
    fn in_memory(method: &dyn Consensus, ensemble: &Ensemble, clusters: usize) -> Self {
        let problem = Problem::new(ensemble, Clusters::Exactly(clusters)).seed(1);
        let outcome = consense(method, &problem, &Silent).expect("a consensus");
        Self {
            labels: outcome.partition.by_appearance().labels().to_vec(),
            objective: outcome.objective.map_or(0.0, |objective| objective.value),
        }
    }

    /// By blocks, where equal rows are not one.
    fn by_rows(method: &dyn Consensus, ensemble: &Ensemble, clusters: usize) -> Self {
        let rows = EnsembleRows::new(ensemble).with_shares();
        let mut problem = RowProblem::new(&rows, Clusters::Exactly(clusters)).seed(1);
        problem.by_blocks = true;
        let mut labels = Vec::new();
        let mut take = |_, assigned: partita_core::Assigned| {
            labels.extend(assigned.labels);
            Ok(())
        };
        let outcome = consense_rows(method, &problem, &Silent, &mut take).expect("a consensus");
        let partition = Partition::new(labels, clusters).expect("labels below K");
        Self {
            labels: partition.by_appearance().labels().to_vec(),
            objective: outcome.objective.map_or(0.0, |objective| objective.value),
        }
    }

    /// Asserts that two are the same but for one object in a thousand: other starts end a little apart.
    fn assert_like(&self, other: &Self, what: &str) {
        let labels = self.labels.iter().zip(&other.labels);
        let apart = labels.filter(|(a, b)| a != b).count();
        assert!(apart <= self.labels.len() / 1000, "{what}: {apart} objects");
        let gap = self.objective - other.objective;
        assert!(
            gap.abs() <= 1e-6 * other.objective.abs().max(1e-6),
            "{what}: {gap}"
        );
    }
}

fn takes_shares(method: &dyn Consensus) -> bool {
    method.info().capabilities.soft_bases == SoftBases::Native
}

/// Noisy views of four clusters with missing labels: rows beyond several blocks, and more than starts are tried on.
fn many(objects: u32) -> Ensemble {
    let mut rng = Seed::new(5).rng();
    ensemble((0..12).map(|u| {
        let mut label = |i: u32| {
            let noisy = rng.random_bool(0.3);
            let label = if noisy { rng.random_range(0..5) } else { i % 4 };
            (i % 12 == u || !rng.random_bool(0.1)).then_some(label)
        };
        let column = (0..objects).map(&mut label).collect();
        (format!("u{u}"), column)
    }))
}

#[test]
fn by_blocks_and_in_any_order_of_rows_it_is_what_it_is_in_memory() {
    let ensemble = many(30_000);
    let order: Vec<u32> = (0..30_000).rev().collect();
    let turned = ensemble.select(&order, &(0..12).collect::<Vec<u32>>());
    for method in METHODS {
        let name = method.info().name;
        let blocks = Found::by_rows(method, &ensemble, 4);
        // In memory base clusterings come in another order, which decides ties of votes.
        if !method.info().capabilities.soft {
            blocks.assert_like(&Found::in_memory(method, &ensemble, 4), name);
        }
        let mut other = Found::by_rows(method, &turned, 4);
        other.labels.reverse();
        let labels = Partition::from_values(&other.labels).by_appearance();
        other.labels = labels.labels().to_vec();
        blocks.assert_like(&other, &format!("{name}, turned"));
    }
}

#[test]
fn by_blocks_is_in_memory_for_shares() {
    for method in METHODS.into_iter().filter(|&method| takes_shares(method)) {
        for seed in 0..20 {
            let drawn = draw_shares(Seed::new(seed));
            let tables = drawn.tables.iter().enumerate();
            let ensemble = ensemble_of_shares(tables.map(|(u, table)| (u.to_string(), table)));
            let one = Found::by_rows(method, &ensemble, drawn.clusters);
            let other = Found::in_memory(method, &ensemble, drawn.clusters);
            one.assert_like(&other, &format!("{} {seed}", method.info().name));
        }
    }
}

#[test]
fn shares_of_zero_and_one_are_labels() {
    for method in METHODS.into_iter().filter(|&method| takes_shares(method)) {
        for seed in 0..20 {
            let drawn = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 });
            let bases = drawn.ensemble.bases().iter().enumerate();
            let tables: Vec<_> = bases
                .map(|(u, base)| {
                    let shares = drawn.ensemble.base_shares(u).rows().to_owned();
                    (base.name().to_owned(), shares)
                })
                .collect();
            let tables = tables.iter().map(|(name, table)| (name.clone(), table));
            let shares = ensemble_of_shares(tables);
            let one = Found::in_memory(method, &drawn.ensemble, drawn.clusters);
            let other = Found::in_memory(method, &shares, drawn.clusters);
            one.assert_like(&other, &format!("{} {seed}", method.info().name));
        }
    }
}

#[test]
fn an_object_without_labels_is_named() {
    let hidden = |i: u32| (i != 20).then_some(i % 3);
    let ensemble = ensemble((0..4).map(|u| (format!("u{u}"), (0..60).map(hidden).collect())));
    let rows = EnsembleRows::new(&ensemble);
    for method in METHODS {
        let mut problem = RowProblem::new(&rows, Clusters::Exactly(3));
        problem.by_blocks = true;
        let error = consense_rows(method, &problem, &Silent, &mut |_, _| Ok(())).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("object 20 has no label"), "{error}");
    }
}
