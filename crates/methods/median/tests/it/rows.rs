//! Methods over label rows that are not held against the same methods in memory.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use partita_conformance::draw;
use partita_core::{
    Assigned, BaseWeights, Clusters, Ensemble, EnsembleRows, Outcome, PassRunner, Problem, RowFit,
    RowProblem, Seed, SettingMap, Silent, consense, consense_rows,
};
use partita_median::{
    IPVC, KC, PLURALITY, PluralitySettings, QMI, Reference, Scheme, SoftMeanSettings, cumulative,
    cumulative_rows, plurality, plurality_rows, soft_mean, soft_mean_rows,
};

/// Base weights of three sizes.
fn weights(ensemble: &Ensemble) -> BaseWeights {
    BaseWeights::new(
        (0..ensemble.bases().len())
            .map(|u| 1.0 + (u % 3) as f64 / 3.0)
            .collect(),
    )
    .unwrap()
}

/// The labels that a fit gives.
fn labelled<D>(fit: &RowFit<D>, rows: &PassRunner<'_>) -> Assigned {
    let mut all = Assigned {
        soft: Some(Vec::new()),
        ..Assigned::default()
    };
    fit.label(rows, &mut |_, block| {
        all.labels.extend(block.labels);
        all.certainty.extend(block.certainty);
        if let (Some(all), Some(block)) = (&mut all.soft, block.soft) {
            all.extend(block);
        }
        Ok(())
    })
    .unwrap();
    all
}

fn same<D>(found: &Assigned, expected: &Outcome<D>) {
    assert_eq!(found.labels, expected.partition.labels());
    assert_eq!(found.certainty, expected.certainty);
    let soft = expected.soft.as_ref().unwrap().rows();
    assert_eq!(found.soft.as_deref(), soft.as_slice());
}

#[test]
fn plurality_counts_the_same_votes() {
    for seed in 0..60 {
        let drawn = draw(Seed::new(seed), 0.3);
        let (ensemble, k) = (&drawn.ensemble, drawn.clusters);
        let weights = (seed % 2 == 0).then(|| weights(ensemble));
        let source = EnsembleRows::new(ensemble);
        let rows = PassRunner::new(&source, &Silent);
        let settings = PluralitySettings::default();
        let expected = plurality(
            ensemble,
            weights.as_ref(),
            k,
            Seed::new(1),
            &settings,
            &Silent,
        )
        .unwrap();
        let found =
            plurality_rows(&rows, weights.as_ref(), k, Seed::new(1), &settings, &Silent).unwrap();
        assert_eq!(found.details, expected.details);
        same(&labelled(&found, &rows), &expected);
    }
}

#[test]
fn plurality_to_the_labels_of_kc_is_as_good() {
    let drawn = draw(Seed::new(3), 0.2);
    let source = EnsembleRows::new(&drawn.ensemble);
    let rows = PassRunner::new(&source, &Silent);
    let mut settings = PluralitySettings::default();
    settings.reference = Reference::Kc;
    let found = plurality_rows(
        &rows,
        None,
        drawn.clusters,
        Seed::new(1),
        &settings,
        &Silent,
    )
    .unwrap();
    let mean = |certainty: &[f64]| certainty.iter().sum::<f64>() / certainty.len() as f64;
    let expected = plurality(
        &drawn.ensemble,
        None,
        drawn.clusters,
        Seed::new(1),
        &settings,
        &Silent,
    )
    .unwrap();
    assert!(mean(&labelled(&found, &rows).certainty) > 0.95 * mean(&expected.certainty));
}

#[test]
fn cumulative_votes_are_the_same() {
    let mut merged = 0;
    for seed in 0..60 {
        let drawn = draw(Seed::new(seed), if seed % 3 == 0 { 0.0 } else { 0.4 });
        let (ensemble, k) = (&drawn.ensemble, drawn.clusters);
        let weights = (seed % 2 == 0).then(|| weights(ensemble));
        let source = EnsembleRows::new(ensemble);
        let rows = PassRunner::new(&source, &Silent);
        for scheme in [Scheme::Unnormalised, Scheme::Normalised, Scheme::Adaptive] {
            let expected =
                cumulative(ensemble, weights.as_ref(), k, Seed::new(1), scheme, &Silent).unwrap();
            let found =
                cumulative_rows(&rows, weights.as_ref(), k, Seed::new(1), scheme, &Silent).unwrap();
            assert_eq!(found.details, expected.details);
            if found.details.reference != "kc" {
                let (soft, found) = (
                    expected.soft.unwrap(),
                    labelled(&found, &rows).soft.unwrap(),
                );
                assert!(
                    soft.rows()
                        .iter()
                        .zip(&found)
                        .all(|(a, b)| (a - b).abs() < 1e-9),
                    "{seed} {scheme:?}"
                );
                let reference = ensemble
                    .bases()
                    .iter()
                    .find(|base| base.name() == expected.details.reference);
                merged += usize::from(reference.unwrap().clusters() > k);
            }
        }
    }
    assert!(
        merged > 30,
        "only {merged} references had clusters to merge"
    );
}

#[test]
fn kmeans_on_labels_reaches_the_objective_that_it_reaches_in_memory() {
    for method in [&KC, &QMI, &IPVC] {
        let (mut here, mut there) = (0.0, 0.0);
        for seed in 0..20 {
            let drawn = draw(Seed::new(seed), 0.2);
            let weights = weights(&drawn.ensemble);
            let mut problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
            problem.weights = Some(&weights);
            let source = EnsembleRows::new(&drawn.ensemble);
            let mut over = RowProblem::new(&source, problem.clusters);
            over.weights = Some(&weights);
            let memory = consense(method, &problem, &Silent).unwrap();
            let rows = consense_rows(method, &over, &Silent, &mut |_, _| Ok(())).unwrap();
            assert_eq!(
                rows.sizes.iter().sum::<u64>(),
                drawn.ensemble.objects() as u64
            );
            here += memory.objective.unwrap().value;
            there += rows.objective.unwrap().value;
        }
        assert!(
            (there / here - 1.0).abs() < 0.01,
            "{there} by passes, {here} in memory"
        );
    }
}

#[test]
fn one_cluster_and_what_does_not_fit_are_answered_as_in_memory() {
    let drawn = draw(Seed::new(5), 0.0);
    let source = EnsembleRows::new(&drawn.ensemble);
    let one = RowProblem::new(&source, Clusters::Exactly(1));
    let found = consense_rows(&KC, &one, &Silent, &mut |_, block| {
        assert!(block.certainty.iter().all(|c| (0.0..=1.0).contains(c)));
        Ok(())
    });
    assert_eq!(found.unwrap().sizes, [drawn.ensemble.objects() as u64]);
    let mut wrong = RowProblem::new(&source, Clusters::Exactly(2));
    wrong.settings = SettingMap::parse(&["rounds=0"]).unwrap();
    assert!(consense_rows(&PLURALITY, &wrong, &Silent, &mut |_, _| Ok(())).is_err());
}

fn soft_mean_settings(texts: &[&str]) -> SoftMeanSettings {
    SettingMap::parse(texts).unwrap().apply().unwrap()
}

/// The search is that in memory where all different rows are in the sample, but for the order of sums, and for k-means of the cut, which
/// draws among rows as they are held.
#[test]
fn soft_means_of_rows_are_as_close_as_those_in_memory() {
    for (how, settings) in [
        &["matching=one-to-one"][..],
        &["matching=merge"],
        &["rows=hard"],
    ]
    .iter()
    .enumerate()
    {
        let settings = soft_mean_settings(settings);
        let (mut sums, mut same, draws) = ([0.0; 2], 0, 40);
        for seed in 0..draws {
            let drawn = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 });
            let (ensemble, k) = (&drawn.ensemble, drawn.clusters);
            let weights = (seed % 3 == 0).then(|| weights(ensemble));
            let source = EnsembleRows::new(ensemble);
            let rows = PassRunner::new(&source, &Silent);
            let found =
                soft_mean_rows(&rows, weights.as_ref(), k, Seed::new(1), &settings, &Silent)
                    .unwrap();
            let memory = soft_mean(
                ensemble,
                (weights.as_ref(), None),
                k,
                Seed::new(1),
                &settings,
                &Silent,
            )
            .unwrap();
            let values = [&found.objective, &memory.objective]
                .map(|objective| objective.as_ref().unwrap().value);
            assert!(
                found
                    .objective
                    .as_ref()
                    .unwrap()
                    .trace
                    .windows(2)
                    .all(|pair| pair[1] <= pair[0])
            );
            sums.iter_mut()
                .zip(values)
                .for_each(|(sum, value)| *sum += value);
            same += usize::from((values[0] - values[1]).abs() <= 1e-12 * values[1]);
        }
        assert!(sums[0] <= 1.003 * sums[1], "{how}: {sums:?}");
        assert!(
            same >= draws as usize * 3 / 4,
            "{how}: {same} of {draws} are the same"
        );
    }
}

/// At the end no matching of a base clustering is better, tried one by one.
#[test]
fn soft_means_of_rows_cost_what_the_best_matchings_do() {
    const ORDERS: [[usize; 3]; 6] = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let settings = soft_mean_settings(&["tolerance=0"]);
    for seed in 0..20 {
        let drawn = partita_conformance::planted(400, 5, 3, Seed::new(seed));
        let ensemble = &drawn.ensemble;
        let source = EnsembleRows::new(ensemble);
        let rows = PassRunner::new(&source, &Silent);
        let found = soft_mean_rows(&rows, None, 3, Seed::new(seed), &settings, &Silent).unwrap();
        let soft = labelled(&found, &rows).soft.unwrap();
        let cost = |u: usize, order: &[usize; 3]| -> f64 {
            let labels = ensemble.column(u).zip(soft.chunks_exact(3));
            let known = labels.filter_map(|(label, row)| Some((order[label?], row)));
            let square = |(own, row): (usize, &[f64])| -> f64 {
                row.iter()
                    .enumerate()
                    .map(|(k, y)| (y - f64::from(u8::from(k == own))).powi(2))
                    .sum()
            };
            known.map(square).sum()
        };
        let least = |u: usize| {
            ORDERS
                .iter()
                .map(|order| cost(u, order))
                .fold(f64::INFINITY, f64::min)
        };
        let expected: f64 = (0..ensemble.bases().len()).map(least).sum();
        let value = found.objective.unwrap().value;
        assert!(
            (value - expected).abs() <= 1e-9 * expected,
            "seed {seed}: {value} {expected}"
        );
    }
}

/// One base clustering after the other: nothing is drawn where one has K clusters, and the columns are those in memory.
#[test]
fn soft_means_matched_in_order_are_those_in_memory() {
    let settings = soft_mean_settings(&["order=stream"]);
    let mut exact = 0;
    for seed in 0..40 {
        let drawn = draw(Seed::new(seed), 0.3);
        let (ensemble, k) = (&drawn.ensemble, drawn.clusters);
        let source = EnsembleRows::new(ensemble);
        let rows = PassRunner::new(&source, &Silent);
        let found = soft_mean_rows(&rows, None, k, Seed::new(1), &settings, &Silent).unwrap();
        if !ensemble.bases().iter().any(|base| base.clusters() == k) {
            labelled(&found, &rows);
            continue;
        }
        exact += 1;
        let memory =
            soft_mean(ensemble, (None, None), k, Seed::new(1), &settings, &Silent).unwrap();
        let values = [found.objective.as_ref(), memory.objective.as_ref()]
            .map(|objective| objective.unwrap().value);
        assert!(
            (values[0] - values[1]).abs() <= 1e-9 * values[1],
            "seed {seed}: {values:?}"
        );
        assert_eq!(
            labelled(&found, &rows).labels,
            memory.partition.labels(),
            "seed {seed}"
        );
    }
    assert!(exact >= 10, "{exact}");
}
