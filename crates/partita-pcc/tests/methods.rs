//! The methods keep the promises on their cards.

use partita_core::{Clusters, EnsembleBuilder, Problem, SettingPairs, Silent, consense};
use partita_pcc::{BAUM_EAGON, PCC, PCC_KL, PCC_L2, PEACE};

#[test]
fn cards_are_kept() {
    assert!(partita_conformance::check(&PCC_KL) > 500);
    assert!(partita_conformance::check(&PCC_L2) > 500);
    assert!(partita_conformance::check_with(&PEACE, &["restarts=1"], 5) > 50);
    assert!(partita_conformance::check_with(&PCC, &["divergence=beta:1.5"], 5) > 50);
    assert!(partita_conformance::check_with(&BAUM_EAGON, &["restarts=1"], 20) > 200);
    assert!(partita_conformance::check_with(&BAUM_EAGON, &["restarts=1", "weighted=true", "partners=6"], 5) > 50);
}

#[test]
fn the_outcome_tells_about_every_start() {
    let mut builder = EnsembleBuilder::new(12);
    for u in 0..5 {
        builder.push(format!("u{u}"), (0..12).map(|i| Some((i / 4 + usize::from(i == u)) % 3))).unwrap();
    }
    let ensemble = builder.finish().unwrap();
    let outcome = consense(&PCC_L2, &Problem::new(&ensemble, Clusters::Exactly(3)), &Silent).unwrap();
    assert_eq!(outcome.details["restarts"].as_array().unwrap().len(), 5);
    assert_eq!(outcome.details["live_clusters"], 3);
    assert!(outcome.kkt_gap.unwrap() <= 1e-5);
    let objective = outcome.objective.unwrap();
    assert_eq!(objective.trace.last(), Some(&objective.value));
    let restarts = outcome.details["restarts"].as_array().unwrap();
    let finished = restarts.iter().filter(|run| run["finished"] == true);
    assert!((1..=2).contains(&finished.clone().count()));
    let told = finished.map(|run| run["objective"].as_f64().unwrap());
    assert_eq!(told.fold(f64::INFINITY, f64::min), objective.value);
}

#[test]
fn sampled_pairs_keep_the_promises_too() {
    assert!(partita_conformance::check_with(&PCC_L2, &["partners=6"], 8) > 50);
}

#[test]
fn a_divergence_without_guarantee_is_refused() {
    let mut builder = EnsembleBuilder::new(4);
    builder.push("u", [Some(0), Some(0), Some(1), Some(1)]).unwrap();
    let ensemble = builder.finish().unwrap();
    let mut problem = Problem::new(&ensemble, Clusters::Exactly(2));
    for (text, reason) in [("itakura-saito", "not convex"), ("beta:3", "1 < p ≤ 2"), ("huber", "there is no")] {
        problem.settings = SettingPairs::parse(&[format!("divergence={text}")]).unwrap();
        let error = consense(&PCC, &problem, &Silent).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}
