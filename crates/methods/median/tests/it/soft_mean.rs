//! Soft means: against all matchings written out, and their behaviour with missing rows, many clusters and weights.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use partita_conformance::{draw_shares, ensemble_of_shares, planted, progress};
use partita_core::ndarray::{Array2, Axis};
use partita_core::{
    BaseWeights, Clusters, Ensemble, ObjectWeights, Seed, SettingMap, Shares, Silent,
};
use partita_median::{SOFT_MEAN, SoftMeanSettings, soft_mean};
use rand::RngExt;

fn tables(seed: u64, n: usize, bases: usize, k: usize) -> Vec<Array2<f64>> {
    let mut rng = Seed::new(seed).rng();
    let mut table = || {
        let mut table =
            Array2::from_shape_fn((n, k), |_| rng.random_range(0.0..1.0f64).powi(4) + 1e-3);
        table.rows_mut().into_iter().for_each(|mut row| {
            let sum = row.sum();
            row /= sum;
        });
        Shares::new(table).unwrap().rows().to_owned()
    };
    (0..bases).map(|_| table()).collect()
}

fn ensemble(tables: &[Array2<f64>]) -> Ensemble {
    ensemble_of_shares(
        tables
            .iter()
            .enumerate()
            .map(|(u, table)| (format!("u{u}"), table)),
    )
}

fn settings(texts: &[&str]) -> SoftMeanSettings {
    SettingMap::parse(texts).unwrap().apply().unwrap()
}

/// The orders of three columns.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// The least loss over all one-to-one matchings of three tables of three columns, rows as means or as their largest entries.
fn least(tables: &[Array2<f64>], hard: bool) -> f64 {
    let mut best = f64::INFINITY;
    for a in ORDERS {
        for b in ORDERS {
            let matched = [
                tables[0].clone(),
                tables[1].select(Axis(1), &a),
                tables[2].select(Axis(1), &b),
            ];
            let mut mean = (&matched[0] + &matched[1] + &matched[2]) / 3.0;
            if hard {
                for mut row in mean.rows_mut() {
                    let best = (1..3).fold(0, |best, k| if row[k] > row[best] { k } else { best });
                    row.fill(0.0);
                    row[best] = 1.0;
                }
            }
            let loss: f64 = matched
                .iter()
                .map(|table| (table - &mean).mapv(|x| x * x).sum())
                .sum();
            best = best.min(loss);
        }
    }
    best
}

#[test]
fn the_objective_is_that_of_the_best_matching_written_out() {
    for (hard, setting) in [(false, "rows=soft"), (true, "rows=hard")] {
        let mut optimal = 0;
        for seed in 0..60 {
            let tables = tables(seed, 9, 3, 3);
            let how = settings(&[setting, "restarts=60"]);
            let found = soft_mean(
                &ensemble(&tables),
                (None, None),
                3,
                Seed::new(seed),
                &how,
                &Silent,
            )
            .unwrap();
            let objective = found.objective.unwrap();
            assert!(
                objective
                    .trace
                    .windows(2)
                    .all(|pair| pair[1] <= pair[0] + 1e-12),
                "{:?}",
                objective.trace
            );
            let least = least(&tables, hard);
            assert!(
                objective.value >= least - 1e-9,
                "seed {seed}: {} below {least}",
                objective.value
            );
            optimal += usize::from(objective.value <= least + 1e-9);
        }
        assert!(optimal >= 55, "{setting}: {optimal} of 60 are optimal");
    }
}

#[test]
fn planted_shares_come_back_closer_than_any_table() {
    let mut rng = Seed::new(3).rng();
    let (n, k) = (200, 4);
    let truth = &tables(99, n, 1, k)[0];
    let noisy: Vec<Array2<f64>> = (0..15)
        .map(|_| {
            let mut table = truth.mapv(|share| share * rng.random_range(0.5..2.0f64));
            table.rows_mut().into_iter().for_each(|mut row| {
                let sum = row.sum();
                row /= sum;
            });
            let mut order: Vec<usize> = (0..k).collect();
            order.rotate_left(rng.random_range(0..k));
            table.select(Axis(1), &order)
        })
        .collect();
    let error = |found: &Array2<f64>| {
        let squares = |order: &[usize]| {
            (&found.select(Axis(1), order) - truth)
                .mapv(|x| x * x)
                .sum()
        };
        let orders =
            (0..4usize.pow(4)).map(|code| [code % 4, code / 4 % 4, code / 16 % 4, code / 64 % 4]);
        let orders = orders.filter(|order| (0..4).all(|k| order.contains(&k)));
        orders
            .map(|order| squares(&order))
            .fold(f64::INFINITY, f64::min)
    };
    let best_single = noisy.iter().map(error).fold(f64::INFINITY, f64::min);
    for order in ["order=search", "order=stream"] {
        let how = settings(&[order]);
        let found = soft_mean(
            &ensemble(&noisy),
            (None, None),
            k,
            Seed::new(1),
            &how,
            &Silent,
        )
        .unwrap();
        let error = error(&found.soft.unwrap().into_rows());
        assert!(
            error < best_single / 4.0,
            "{order}: {error}, best single {best_single}"
        );
    }
}

#[test]
fn more_clusters_are_merged_or_spread_and_weights_are_copies() {
    for seed in 0..20 {
        let drawn = draw_shares(Seed::new(seed));
        // Every cluster in two, by chance in every table, and merging finds the planted ones again.
        let mut fine = Vec::new();
        for (u, table) in drawn.tables.iter().enumerate() {
            let half = |i: usize| (Seed::new(u as u64).child(i as u64).number() % 2) as usize;
            let mut both = Array2::zeros((table.nrows(), 2 * table.ncols()));
            for ((i, j), share) in table.indexed_iter() {
                both[[i, 2 * j + half(i)]] = *share;
            }
            fine.push(both);
        }
        let fine = ensemble(&fine);
        let merged = soft_mean(
            &fine,
            (None, None),
            drawn.clusters,
            Seed::new(1),
            &settings(&[]),
            &Silent,
        )
        .unwrap();
        assert_eq!(merged.details.merged, drawn.tables.len());
        let labels = merged.partition.labels();
        let pairs = || (0..labels.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let right = pairs()
            .filter(|&(i, j)| (labels[i] == labels[j]) == (drawn.truth[i] == drawn.truth[j]))
            .count();
        assert!(right as f64 > 0.9 * pairs().count() as f64, "seed {seed}");

        let plain = ensemble(&drawn.tables);
        let mut twice = drawn.tables.clone();
        twice.push(drawn.tables[0].clone());
        let mut weights = vec![1.0; drawn.tables.len()];
        weights[0] = 2.0;
        let base = BaseWeights::new(weights).unwrap();
        let objects = ObjectWeights::new(vec![3.0; drawn.truth.len()]).unwrap();
        let how = settings(&["restarts=4"]);
        let find =
            |ensemble: &Ensemble, base: Option<&BaseWeights>, objects: Option<&ObjectWeights>| {
                soft_mean(
                    ensemble,
                    (base, objects),
                    drawn.clusters,
                    Seed::new(2),
                    &how,
                    &Silent,
                )
                .unwrap()
            };
        let (weighted, copied) = (
            find(&plain, Some(&base), None),
            find(&ensemble(&twice), None, None),
        );
        assert_eq!(
            weighted.partition.by_appearance(),
            copied.partition.by_appearance()
        );
        // The mean of base weights is 1: objectives differ by what the weights were divided by.
        let mean = (drawn.tables.len() + 1) as f64 / drawn.tables.len() as f64;
        let (one, other) = (
            weighted.objective.unwrap().value * mean,
            copied.objective.unwrap().value,
        );
        assert!(
            (one - other).abs() <= 1e-9 * other.max(1e-9),
            "{one} {other}"
        );
        let (plain, thrice) = (find(&plain, None, None), find(&plain, None, Some(&objects)));
        assert_eq!(
            plain.partition.by_appearance(),
            thrice.partition.by_appearance()
        );
        let (one, other) = (
            3.0 * plain.objective.unwrap().value,
            thrice.objective.unwrap().value,
        );
        assert!(
            (one - other).abs() <= 1e-9 * other.max(1e-9),
            "{one} {other}"
        );
    }
}

#[test]
fn progress_moves_while_the_cut_is_found() {
    let drawn = planted(300, 10, 6, Seed::new(3));
    let shares = progress(
        &SOFT_MEAN,
        &drawn,
        Clusters::Exactly(3),
        &SettingMap::default(),
    );
    assert!(shares.is_sorted() && shares.iter().all(|share| *share <= 1.0));
    // The cut comes first, and counts 15 in 63 parts.
    let mut early: Vec<f64> = shares
        .iter()
        .copied()
        .filter(|share| *share < 0.23)
        .collect();
    early.dedup();
    assert!(early.len() > 5, "{early:?}");
    let one = SettingMap::parse(&["restarts=1"]).unwrap();
    assert!(progress(&SOFT_MEAN, &drawn, Clusters::Exactly(3), &one).is_sorted());
}
