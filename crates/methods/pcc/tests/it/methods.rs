//! The methods keep the guarantees of their info.

use partita_core::{
    Clusters, ClustersError, EnsembleBuilder, MemoryBudget, Problem, Seed, SettingMap, Silent,
    consense,
};
use partita_pcc::{Dense, Divergence, PCC, PCC_KL, PCC_L2, PccError, PccSettings, Sparse, pcc};
use rand::RngExt;

#[test]
fn the_outcome_tells_about_every_start() {
    let mut builder = EnsembleBuilder::new(12);
    for u in 0..5 {
        builder
            .push(
                format!("u{u}"),
                (0..12).map(|i| Some((i / 4 + usize::from(i == u)) % 3)),
            )
            .unwrap();
    }
    let ensemble = builder.finish().unwrap();
    let outcome = consense(
        &PCC_L2,
        &Problem::new(&ensemble, Clusters::Exactly(3)),
        &Silent,
    )
    .unwrap();
    // A cut of the tree, k-means++ and twelve random ones.
    assert_eq!(outcome.details["restarts"].as_array().unwrap().len(), 14);
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
fn a_divergence_without_guarantee_is_refused() {
    let mut builder = EnsembleBuilder::new(4);
    builder
        .push("u", [Some(0), Some(0), Some(1), Some(1)])
        .unwrap();
    let ensemble = builder.finish().unwrap();
    let mut problem = Problem::new(&ensemble, Clusters::Exactly(2));
    for (text, reason) in [
        ("itakura-saito", "not convex"),
        ("beta:3", "1 < p ≤ 2"),
        ("huber", "there is no"),
    ] {
        problem.settings = SettingMap::parse(&[format!("divergence={text}")]).unwrap();
        let error = consense(&PCC, &problem, &Silent).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn objects_without_partners_are_named_and_uniform() {
    let mut builder = EnsembleBuilder::new(5);
    builder
        .push("a", [Some(0), Some(0), Some(1), Some(1), None])
        .unwrap();
    builder
        .push("b", [None, None, None, None, Some(0)])
        .unwrap();
    let ensemble = builder.finish().unwrap();
    for named in [false, true] {
        let names = ["p", "q", "r", "s", "alone"].map(str::to_owned).to_vec();
        let ensemble = if named {
            ensemble.clone().with_object_names(names).unwrap()
        } else {
            ensemble.clone()
        };
        let outcome = consense(
            &PCC_KL,
            &Problem::new(&ensemble, Clusters::Exactly(2)),
            &Silent,
        )
        .unwrap();
        assert_eq!(outcome.soft.unwrap().rows().row(4).to_vec(), [0.5, 0.5]);
        let expected = if named {
            "1 objects (alone) are in no pair"
        } else {
            "1 objects are in no pair"
        };
        assert!(
            outcome.warnings[0].starts_with(expected),
            "{:?}",
            outcome.warnings
        );
        assert_eq!(outcome.details.get("isolated").is_some(), named);
    }
    let mut builder = EnsembleBuilder::new(40);
    (0..6).for_each(|u| {
        builder
            .push(format!("u{u}"), (0..40).map(|i| Some((i + u) / 21)))
            .unwrap();
    });
    let ensemble = builder.finish().unwrap();
    let sparse =
        Sparse::sample(&ensemble, 1, Seed::new(1), MemoryBudget::UNLIMITED, &Silent).unwrap();
    let outcome = pcc(
        &sparse,
        None,
        Divergence::L2,
        2,
        Seed::new(1),
        &PccSettings::default(),
        &Silent,
    )
    .unwrap();
    let alone = outcome.details.isolated;
    assert!(
        !alone.is_empty()
            && alone
                .iter()
                .all(|&i| sparse.pairs().neighbours(i).is_empty())
    );
    assert!(outcome.warnings[0].contains("are in no pair of the evidence"));
}

#[test]
fn more_clusters_than_objects_are_refused() {
    let mut builder = EnsembleBuilder::new(4);
    builder.push("u", (0..4).map(Some)).unwrap();
    let dense = Dense::count(&builder.finish().unwrap(), MemoryBudget::UNLIMITED, &Silent).unwrap();
    for clusters in [0, 5] {
        let error = pcc(
            &dense,
            None,
            Divergence::Kl,
            clusters,
            Seed::new(1),
            &PccSettings::default(),
            &Silent,
        );
        assert_eq!(
            error.unwrap_err(),
            PccError::Clusters(ClustersError {
                clusters,
                objects: 4
            })
        );
    }
}

/// Half of all labels are wrong: no base clustering is as near to the groups as k-means on all labels.
#[test]
fn many_objects_start_from_a_consensus() {
    let mut rng = Seed::new(3).rng();
    let mut builder = EnsembleBuilder::new(10_500);
    for u in 0..30 {
        let mut label = |k: u32| {
            if rng.random_bool(0.5) {
                rng.random_range(0..10)
            } else {
                k
            }
        };
        builder
            .push(format!("u{u}"), (0..10_500).map(|i| Some(label(i % 10))))
            .unwrap();
    }
    let ensemble = builder.finish().unwrap();
    let mut problem = Problem::new(&ensemble, Clusters::Exactly(10));
    problem.settings = SettingMap::parse(&["rounds=3"]).unwrap();
    let outcome = consense(&PCC_L2, &problem, &Silent).unwrap();
    assert_eq!(outcome.details["start"], "k-means on labels");
}

/// Labels that are mostly noise: from the tree, k-means++ and three random starts alone these ended 1.2 and 0.7 % above.
#[test]
fn powers_start_from_squares_too() {
    for (seed, best) in [(3, 159.905843), (5, 163.354820)] {
        let (mut rng, mut builder) = (Seed::new(seed).rng(), EnsembleBuilder::new(70));
        for u in 0..8 {
            let noisy = |i: usize| {
                if rng.random_bool(0.65) {
                    rng.random_range(0..10)
                } else {
                    (i * i / 11) % 8
                }
            };
            builder
                .push(
                    format!("u{u}"),
                    (0..70).map(noisy).map(Some).collect::<Vec<_>>(),
                )
                .unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let dense = Dense::count(&ensemble, MemoryBudget::UNLIMITED, &Silent).unwrap();
        let beta = Divergence::Beta(1.5);
        let outcome = pcc(
            &dense,
            None,
            beta,
            10,
            Seed::new(seed),
            &PccSettings::default(),
            &Silent,
        )
        .unwrap();
        let found = outcome.objective.unwrap().value;
        assert!(
            found <= best * 1.001,
            "seed {seed}: {found} from {}",
            outcome.details.start
        );
    }
}
