//! What fits optimise: it never gets worse from iteration to iteration, and initializations differ.

use partita_conformance::{draw, draw_shares, ensemble_of_shares};
use partita_core::{
    Clusters, Consensus, Ensemble, EnsembleBuilder, Problem, Seed, Silent, Stopped, consense,
};
use partita_mixture::{BCE, MM, NBCE_CVB, NBCE_VB};
use rand::RngExt;

use crate::common::{found_as_given, problem, uneven};

/// Settings, and by which share of the objective an iteration may lose: BCE leaves the inference of rows open by so much.
const ASCENTS: [(&dyn Consensus, &[&str], f64); 10] = [
    (&MM, &["pseudo_count=0"], 1e-9),
    (&MM, &["pseudo_count=0.1"], 1e-9),
    (&MM, &["pseudo_count=1"], 1e-9),
    (&NBCE_VB, &["alpha0=0.3", "beta=0.1"], 1e-9),
    (&NBCE_VB, &["alpha0=1", "beta=1"], 1e-9),
    (&NBCE_VB, &["alpha0=3", "learn=true"], 1e-9),
    (&NBCE_VB, &["alpha0=3", "learn=ml"], 1e-9),
    (&BCE, &["restarts=4"], 1e-5),
    (&BCE, &["restarts=4", "pseudo_count=0"], 1e-5),
    (&BCE, &["restarts=4", "learn=true"], 1e-5),
];

#[test]
fn objectives_never_get_worse() {
    for (method, settings, slack) in ASCENTS {
        for seed in 0..20 {
            let labels = draw(Seed::new(seed), 0.2);
            let drawn = draw_shares(Seed::new(seed));
            let named = drawn.tables.iter().enumerate();
            let shares = ensemble_of_shares(named.map(|(u, table)| (u.to_string(), table)));
            let cases = [
                (&labels.ensemble, labels.clusters),
                (&shares, drawn.clusters),
            ];
            for (ensemble, clusters) in cases {
                let bases = uneven(ensemble.bases().len());
                let mut problem = problem(ensemble, clusters, settings);
                problem.weights = (seed % 2 == 0).then_some(&bases);
                let objective = found_as_given(method, &problem).objective.unwrap();
                let trace = &objective.trace;
                let ascends = |pair: &[f64]| pair[1] >= pair[0] - slack * pair[0].abs();
                let what = format!("{} {settings:?} {seed}", method.info().name);
                assert!(trace.windows(2).all(ascends), "{what}: {trace:?}");
                assert_eq!(trace.last(), Some(&objective.value));
            }
        }
    }
}

/// A run that was cut off early may have a higher objective than it would end with.
#[test]
fn runs_that_are_cut_off_do_not_win() {
    let rows = [
        "00000", "02030", "0-030", "11111", "01022", "11111", "11111",
    ];
    let mut builder = EnsembleBuilder::new(rows.len());
    for u in 0..5 {
        let labels = rows.map(|row| row.as_bytes()[u]);
        let labels = labels.map(|label| (label != b'-').then_some(label));
        builder.push(format!("u{u}"), labels).unwrap();
    }
    let ensemble = builder.finish().unwrap();
    let problem = problem(&ensemble, 4, &["alpha0=1.3", "beta=0.7"]).seed(0);
    let found = consense(&NBCE_CVB, &problem, &Silent).unwrap();
    assert_eq!(found.stopped, Stopped::Converged);
}

/// Labels without any structure.
fn noise() -> Ensemble {
    let mut builder = EnsembleBuilder::new(80);
    for u in 0..6u64 {
        let label = |i: u64| Some(Seed::new(u).child(i).number() % 4);
        builder.push(format!("u{u}"), (0..80).map(label)).unwrap();
    }
    builder.finish().unwrap()
}

/// Merges alone lead to few different places; most of the other initializations lead elsewhere, and the best is kept.
#[test]
fn initializations_end_in_different_places() {
    let ensemble = noise();
    let outcome = found_as_given(&MM, &problem(&ensemble, 4, &[]));
    let reached = &outcome.details["objective_by_restart"];
    let mut reached: Vec<f64> = serde_json::from_value(reached.clone()).unwrap();
    reached.sort_by(f64::total_cmp);
    reached.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
    assert!(reached.len() >= 9, "{reached:?}");
    assert_eq!(outcome.objective.unwrap().value, *reached.last().unwrap());
}

/// With very many distinct rows initializations compete on a sample, and the best finds the groups.
#[test]
fn groups_of_many_rows_are_found_from_a_sample() {
    let mut rng = Seed::new(9).rng();
    let mut builder = EnsembleBuilder::new(75_000);
    for u in 0..16 {
        let mut label = |i: usize| match rng.random_range(0..10) {
            0 => None,
            1 | 2 => Some(rng.random_range(0..5)),
            _ => Some((i as u32 + u) % 5),
        };
        let labels: Vec<Option<u32>> = (0..75_000).map(&mut label).collect();
        builder.push(format!("u{u}"), labels).unwrap();
    }
    let ensemble = builder.finish().unwrap();
    assert!(ensemble.fragments().weights().len() > 40_000);
    for (method, settings) in [
        (&NBCE_VB as &dyn Consensus, "restarts=2"),
        (&MM, "restarts=2"),
    ] {
        let found = found_as_given(method, &problem(&ensemble, 5, &[settings]));
        let labels = found.partition.labels();
        let right = (0..75_000).filter(|&i| labels[i] == labels[i % 5]).count();
        assert!(right > 74_000, "{}: {right}", method.info().name);
    }
}

#[test]
fn clusters_are_found_where_their_number_is_left_open() {
    let drawn = partita_conformance::planted(200, 8, 3, Seed::new(2));
    for method in [&NBCE_VB as &dyn Consensus, &NBCE_CVB] {
        let problem = Problem::new(&drawn.ensemble, Clusters::Auto).seed(1);
        let found = consense(method, &problem, &Silent).unwrap();
        let live = found.partition.live_clusters();
        assert!((2..=6).contains(&live), "{}: {live}", method.info().name);
    }
}
