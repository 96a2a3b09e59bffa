//! What every method guarantees, and what an independent implementation found.

use partita_conformance::ensemble;
use partita_core::{
    Clusters, Consensus, Ensemble, MemoryBudget, Partition, Problem, ProblemSize, Seed, Silent,
};
use partita_core::{Outcome, consense};
use partita_eac::{
    EAC_AVERAGE, EAC_COMPLETE, EAC_SINGLE, LWEA, LweaSettings, bytes, eac, lwea, lwea_bytes,
};
use partita_linkage::Linkage;
use partita_metrics::Contingency;
use rand::RngExt;
use serde_json::Value;

/// Labels, of which those below 0 are missing.
fn labels(values: &Value) -> Vec<Option<u32>> {
    let labels: Vec<i64> = serde_json::from_value(values.clone()).expect("labels");
    let known = |label| u32::try_from(label).ok();
    labels.into_iter().map(known).collect()
}

fn found(method: &dyn Consensus, ensemble: &Ensemble, clusters: Clusters) -> Outcome {
    consense(method, &Problem::new(ensemble, clusters), &Silent).expect("a consensus")
}

#[test]
fn cuts_agree_with_an_independent_implementation() {
    let fixtures = partita_conformance::fixtures();
    let columns = fixtures["labels"].as_array().unwrap().iter().zip(0..);
    let ensemble = ensemble(columns.map(|(column, u)| (format!("u{u}"), labels(column))));
    let truth = Partition::from_values(&labels(&fixtures["truth"]));
    for (name, method) in [("average", &EAC_AVERAGE), ("single", &EAC_SINGLE)] {
        let partition = found(method, &ensemble, Clusters::Exactly(3)).partition;
        let expected = &fixtures["eac"][name];
        let same = Partition::from_values(&labels(&expected["labels"]));
        assert_eq!(partition.by_appearance(), same.by_appearance(), "{name}");
        let h = Contingency::new(&partition, &truth).unwrap().accuracy();
        let near = (h - expected["H"].as_f64().unwrap()).abs() < 1e-12;
        assert!(near, "{name}: {h}");
    }
}

/// Seven pairs are 1 apart, so that the tree is a matter of the rule. Of these four orders SciPy 1.17.1 makes three partitions
/// (`fcluster(linkage(squareform(3 - c), "complete"), 2, "maxclust")`).
#[test]
fn ties_of_complete_link_have_a_rule_and_no_order_of_objects() {
    let columns = [[2, 1, 2, 1, 2, 1], [0, 1, 1, 1, 2, 2], [2, 0, 2, 2, 2, 2]];
    let ordered = |order: [usize; 6]| {
        let column = |(u, column): (usize, &[u32; 6])| {
            (format!("u{u}"), order.map(|i| Some(column[i])).to_vec())
        };
        ensemble(columns.iter().enumerate().map(column))
    };
    let orders = [
        [0, 1, 2, 3, 4, 5],
        [5, 4, 3, 2, 1, 0],
        [2, 3, 0, 1, 5, 4],
        [4, 1, 5, 0, 3, 2],
    ];
    let two = Clusters::Exactly(2);
    let direct = |order| {
        let budget = MemoryBudget::UNLIMITED;
        let tree = eac(&ordered(order), two, Linkage::Complete, budget, &Silent).unwrap();
        tree.partition.by_appearance().labels().to_vec()
    };
    // By the rule 0 and 2, then 4 with both, then 1 and 3 merge at 1; at 2 both of these are as near to 5, and 0 is the earlier.
    assert_eq!(direct(orders[0]), [0, 1, 0, 1, 0, 0]);
    // From the last on 5 and 4, then 3 and 2 merge at 1; 5 and 4 are then 2 from 3 and 2, and 0 from both: 1 is left alone.
    assert_eq!(direct(orders[1]), [0, 0, 0, 0, 1, 0]);
    let as_given = |order: [usize; 6]| {
        let outcome = found(&EAC_COMPLETE, &ordered(order), two);
        let mut labels = [0; 6];
        for (&i, &label) in order.iter().zip(outcome.partition.labels()) {
            labels[i] = label;
        }
        Partition::from_values(&labels).by_appearance()
    };
    let first = as_given(orders[0]);
    for order in orders {
        assert_eq!(as_given(order), first, "{order:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    let ensemble = ensemble([("a".into(), (0..300).map(|i| Some(i % 200)).collect())]);
    for method in [&EAC_AVERAGE as &dyn Consensus, &LWEA] {
        let mut problem = Problem::new(&ensemble, Clusters::Exactly(2));
        problem.budget = MemoryBudget::new(10_000);
        let message = consense(method, &problem, &Silent).unwrap_err().to_string();
        let told = "the memory budget is 9.8 KiB; take eac-sparse or eac-single";
        assert!(message.contains(told), "{message}");
    }
    // 300 objects are 200 distinct rows, of which 150 would fit.
    let budget = MemoryBudget::new(bytes(150, 1, false, Linkage::Average));
    let two = Clusters::Exactly(2);
    let error = eac(&ensemble, two, Linkage::Average, budget, &Silent).unwrap_err();
    let error = error.to_string();
    let begin = "the tree over 200 distinct label rows needs";
    assert!(error.starts_with(begin), "{error}");
    let told = "150 distinct label rows would fit; take eac-sparse or eac-single";
    assert!(error.contains(told), "{error}");
    let budget = MemoryBudget::new(lwea_bytes(&ProblemSize {
        objects: 150,
        ..ProblemSize::of(&ensemble, two)
    }));
    let settings = LweaSettings::default();
    let error = lwea(&ensemble, Clusters::Auto, &settings, budget, &Silent).unwrap_err();
    assert!(error.to_string().contains(told), "{error}");
}

#[test]
fn the_longest_lifetime_finds_planted_clusters() {
    for seed in 0..200 {
        // Every base clustering is of the planted ones, each object mislabelled once in twenty times.
        let planted = 2 + seed as u32 % 4;
        let mut rng = Seed::new(seed).rng();
        let mut label = |i: u32| {
            if rng.random_bool(0.05) {
                Some(rng.random_range(0..planted))
            } else {
                Some(i % planted)
            }
        };
        let columns = (0..30).map(|u| (format!("u{u}"), (0..60).map(&mut label).collect()));
        let partition = found(&EAC_AVERAGE, &ensemble(columns), Clusters::Auto).partition;
        let truth: Vec<u32> = (0..60).map(|i| i % planted).collect();
        let truth = Partition::from_values(&truth);
        assert_eq!(partition.by_appearance(), truth, "{seed}");
    }
}
