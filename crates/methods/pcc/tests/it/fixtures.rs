//! Agreement with values that an independent implementation computed.

use partita_core::ndarray::Array2;
use partita_core::{Silent, SoftPartition, Stopped};
use partita_pcc::{Bregman, Evidence, Kl, L2, PccSettings, Solver, beta, descend, measure};
use serde_json::Value;

use crate::common::{all, of_columns, settings};

fn rows(value: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).unwrap();
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, k)| rows[i][k])
}

fn close(found: f64, expected: &Value, tolerance: f64) {
    let expected = expected.as_f64().unwrap();
    let near = tolerance * expected.abs();
    assert!(
        (found - expected).abs() <= near,
        "found {found}, expected {expected}"
    );
}

struct Fixture {
    values: Value,
    evidence: Evidence,
    start: SoftPartition,
}

impl Fixture {
    fn new() -> Self {
        let values = partita_conformance::fixtures();
        let labels: Vec<Vec<i64>> = serde_json::from_value(values["labels"].clone()).unwrap();
        let known = |label: i64| u32::try_from(label).ok();
        let columns = labels
            .into_iter()
            .map(|column| column.into_iter().map(known));
        Self {
            evidence: all(&of_columns(columns)),
            start: SoftPartition::new(rows(&values["Y0"])).unwrap(),
            values,
        }
    }
}

fn exact(solver: Solver) -> PccSettings {
    settings(solver, 1000, 1e-11)
}

fn agrees(divergence: &impl Bregman, name: &str) {
    let fixture = Fixture::new();
    let expected = &fixture.values["pcc"][name];
    let found = measure(divergence, &fixture.evidence, &fixture.start).unwrap();
    close(found.objective, &expected["objective"], 1e-9);
    close(found.gap, &expected["kkt_gap"], 1e-9);
    for (a, b) in found.gradient.iter().zip(&rows(&expected["gradient"])) {
        assert!((a - b).abs() < 1e-8 * (1.0 + b.abs()));
    }
    let [greedy, block] = [Solver::Greedy, Solver::Block].map(|solver| {
        let settings = exact(solver);
        let run = descend(
            divergence,
            &fixture.evidence,
            &fixture.start,
            &settings,
            &Silent,
        );
        let run = run.unwrap();
        assert_eq!(run.stopped, Stopped::Converged);
        run.objective
    });
    close(greedy, &expected["greedy_converged"]["objective"], 1e-8);
    assert!(block <= greedy * (1.0 + 1e-6), "{block} {greedy}");
    let best = expected["best_of_200_dirichlet"].as_f64().unwrap();
    assert!(block >= best * (1.0 - 1e-8));
}

#[test]
fn divergences_agree() {
    agrees(&Kl, "kl");
    agrees(&L2, "l2");
    agrees(&beta(1.5).unwrap(), "beta:1.5");
}

#[test]
fn the_likelihood_of_peace_agrees() {
    let fixture = Fixture::new();
    let expected = &fixture.values["pcc"]["kl"];
    let found = measure(&Kl, &fixture.evidence, &fixture.start).unwrap();
    let entropy = expected["constant_sum_N_entropy"].as_f64().unwrap();
    // PEACE sums ordered pairs: f = −½ loglik − Σ N H.
    let log_likelihood = -2.0 * (found.objective + entropy);
    close(
        log_likelihood,
        &expected["peace_loglik_ordered_pairs"],
        1e-9,
    );
}

#[test]
fn em_maps_as_it_should_and_finds_the_same_end() {
    let Fixture {
        values,
        evidence,
        start,
    } = Fixture::new();
    let expected = &values["pcc"]["kl"];
    let once = settings(Solver::Em, 1, 1e-11);
    let mapped = descend(&Kl, &evidence, &start, &once, &Silent)
        .unwrap()
        .soft;
    for (a, b) in mapped.rows().iter().zip(&rows(&expected["em_map_once"])) {
        assert!((a - b).abs() < 1e-9);
    }
    let patient = settings(Solver::Em, 20_000, 1e-6);
    let end = descend(&Kl, &evidence, &start, &patient, &Silent).unwrap();
    assert_eq!(end.stopped, Stopped::Converged);
    close(
        end.objective,
        &expected["greedy_converged"]["objective"],
        1e-5,
    );
    let refused = descend(&L2, &evidence, &start, &patient, &Silent);
    assert!(refused.is_err(), "EM reads KL only");
}

fn grown(evidence: &Evidence, start: &SoftPartition, expected: &Value) {
    let once = settings(Solver::Growth, 1, 1e-11);
    let mapped = descend(&L2, evidence, start, &once, &Silent).unwrap().soft;
    for (a, b) in mapped.rows().iter().zip(&rows(expected)) {
        assert!((a - b).abs() <= 1e-8 * b);
    }
    let refused = descend(&Kl, evidence, start, &once, &Silent);
    assert!(refused.is_err(), "the growth transform reads squares only");
}

#[test]
fn the_growth_transform_maps_as_it_should() {
    let Fixture {
        values,
        evidence,
        start,
    } = Fixture::new();
    let expected = &values["baum_eagon_once"];
    grown(&evidence, &start, &expected["weighted"]);
    grown(
        &evidence.clone().normalised(),
        &start,
        &expected["unweighted"],
    );
    let patient = settings(Solver::Growth, 20_000, 1e-6);
    let end = descend(&L2, &evidence, &start, &patient, &Silent).unwrap();
    // It ends in another minimum than the greedy solver, a lower one; none of 200 starts found any below the best.
    assert!(measure(&L2, &evidence, &end.soft).unwrap().relative_gap <= 1.1e-6);
    let best = values["pcc"]["l2"]["best_of_200_dirichlet"]
        .as_f64()
        .unwrap();
    assert!(end.objective >= best * (1.0 - 1e-6));
}
