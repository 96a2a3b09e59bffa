//! What every method guarantees, and what an independent implementation found.

use partita_core::{
    Clusters, Consensus, Ensemble, EnsembleBuilder, MemoryBudget, Partition, Problem, Seed, Silent,
    consense,
};
use partita_eac::{EAC_AVERAGE, EAC_SINGLE, LWEA, LweaSettings, bytes, eac, lwea, lwea_bytes};
use partita_linkage::Linkage;
use rand::RngExt;

fn fixture_ensemble(fixtures: &serde_json::Value) -> Ensemble {
    let rows = fixtures["labels"].as_array().expect("an array");
    let mut builder = EnsembleBuilder::new(rows[0].as_array().expect("an array").len());
    for (u, row) in rows.iter().enumerate() {
        let label = |value: &serde_json::Value| value.as_i64().filter(|&label| label >= 0);
        builder
            .push(
                format!("u{u}"),
                row.as_array().expect("an array").iter().map(label),
            )
            .expect("labels");
    }
    builder.finish().expect("an ensemble")
}

fn labels(values: &serde_json::Value) -> Vec<i64> {
    values
        .as_array()
        .expect("an array")
        .iter()
        .map(|value| value.as_i64().expect("a label"))
        .collect()
}

#[test]
fn cuts_agree_with_an_independent_implementation() {
    let fixtures = partita_conformance::fixtures();
    let ensemble = fixture_ensemble(&fixtures);
    let truth = Partition::from_values(&labels(&fixtures["truth"]));
    for (name, method) in [("average", &EAC_AVERAGE), ("single", &EAC_SINGLE)] {
        let outcome = consense(
            method,
            &Problem::new(&ensemble, Clusters::Exactly(3)),
            &Silent,
        )
        .unwrap();
        let expected = Partition::from_values(&labels(&fixtures["eac"][name]["labels"]));
        assert_eq!(
            outcome.partition.by_appearance(),
            expected.by_appearance(),
            "{name}"
        );
        let h = partita_metrics::Contingency::new(&outcome.partition, &truth)
            .unwrap()
            .accuracy();
        assert!(
            (h - fixtures["eac"][name]["H"].as_f64().unwrap()).abs() < 1e-12,
            "{name}: {h}"
        );
    }
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    let mut builder = EnsembleBuilder::new(300);
    builder.push("a", (0..300).map(|i| Some(i % 200))).unwrap();
    let ensemble = builder.finish().unwrap();
    let refusal = |budget: u64, method: &dyn Consensus| {
        let mut problem = Problem::new(&ensemble, Clusters::Exactly(2));
        problem.budget = MemoryBudget::new(budget);
        consense(method, &problem, &Silent).unwrap_err().to_string()
    };
    for method in [&EAC_AVERAGE as &dyn Consensus, &LWEA] {
        let message = refusal(10_000, method);
        assert!(
            message.contains("the memory budget is 9.8 KiB; take eac-sparse or eac-single"),
            "{message}"
        );
    }
    // 300 objects are 200 distinct rows, of which 150 would fit.
    let budget = MemoryBudget::new(bytes(150, 1, false, Linkage::Average));
    let error = eac(
        &ensemble,
        Clusters::Exactly(2),
        Linkage::Average,
        budget,
        &Silent,
    )
    .unwrap_err()
    .to_string();
    assert!(
        error.starts_with("the tree over 200 distinct label rows needs"),
        "{error}"
    );
    assert!(
        error.contains("150 distinct label rows would fit; take eac-sparse or eac-single"),
        "{error}"
    );
    let budget = MemoryBudget::new(lwea_bytes(150, 1));
    let error = lwea(
        &ensemble,
        Clusters::Auto,
        &LweaSettings::default(),
        budget,
        &Silent,
    )
    .unwrap_err()
    .to_string();
    assert!(
        error.contains("150 distinct label rows would fit"),
        "{error}"
    );
}

#[test]
fn the_longest_lifetime_finds_planted_clusters() {
    let mut right = 0;
    for seed in 0..200 {
        // Every base clustering is of the planted ones, each object mislabelled once in twenty times.
        let (planted, mut rng) = (2 + seed as u32 % 4, Seed::new(seed).rng());
        let mut builder = EnsembleBuilder::new(60);
        for u in 0..30 {
            let label = |i: u32| {
                Some(if rng.random_bool(0.05) {
                    rng.random_range(0..planted)
                } else {
                    i % planted
                })
            };
            builder.push(format!("u{u}"), (0..60).map(label)).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let outcome = consense(
            &EAC_AVERAGE,
            &Problem::new(&ensemble, Clusters::Auto),
            &Silent,
        )
        .unwrap();
        let truth: Vec<u32> = (0..60).map(|i| i % planted).collect();
        right += usize::from(outcome.partition.by_appearance() == Partition::from_values(&truth));
    }
    assert_eq!(right, 200);
}
