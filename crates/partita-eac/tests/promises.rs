//! What every method promises, and what an independent implementation found.

use partita_core::{Clusters, Consensus, Ensemble, EnsembleBuilder, Partition, Problem, Silent, consense};
use partita_eac::{EAC_AVERAGE, EAC_CENTROID, EAC_COMPLETE, EAC_SINGLE, EAC_SPARSE, EAC_WARD, Eac, LWEA};

#[test]
fn every_method_keeps_the_promises_on_its_card() {
    let methods: [&dyn Consensus; 7] =
        [&EAC_AVERAGE, &EAC_SINGLE, &EAC_COMPLETE, &EAC_WARD, &EAC_CENTROID, &EAC_SPARSE, &LWEA];
    for method in methods {
        assert!(partita_conformance::check_with(method, &[], 200) > 2_000);
    }
}

fn fixture_ensemble(fixtures: &serde_json::Value) -> Ensemble {
    let rows = fixtures["labels"].as_array().expect("an array");
    let mut builder = EnsembleBuilder::new(rows[0].as_array().expect("an array").len());
    for (u, row) in rows.iter().enumerate() {
        let label = |value: &serde_json::Value| value.as_i64().filter(|&label| label >= 0);
        builder.push(format!("u{u}"), row.as_array().expect("an array").iter().map(label)).expect("labels");
    }
    builder.finish().expect("an ensemble")
}

fn labels(values: &serde_json::Value) -> Vec<i64> {
    values.as_array().expect("an array").iter().map(|value| value.as_i64().expect("a label")).collect()
}

#[test]
fn cuts_agree_with_an_independent_implementation() {
    let fixtures = partita_conformance::fixtures();
    let ensemble = fixture_ensemble(&fixtures);
    let truth = Partition::from_values(&labels(&fixtures["truth"]));
    for (name, method) in [("average", &EAC_AVERAGE), ("single", &EAC_SINGLE)] as [(&str, &Eac); 2] {
        let outcome = consense(method, &Problem::new(&ensemble, Clusters::Exactly(3)), &Silent).unwrap();
        let expected = Partition::from_values(&labels(&fixtures["eac"][name]["labels"]));
        assert_eq!(outcome.partition.by_appearance(), expected.by_appearance(), "{name}");
        let h = partita_metrics::Contingency::new(&outcome.partition, &truth).unwrap().accuracy();
        assert!((h - fixtures["eac"][name]["H"].as_f64().unwrap()).abs() < 1e-12, "{name}: {h}");
    }
}
