//! Soft means of base clusterings with many more clusters than the consensus, against a plain search from many random matchings.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use partita_conformance::ensemble;
use partita_core::ndarray::{Array1, Array2, Axis};
use partita_core::{Ensemble, Outcome, Seed, SettingMap, Silent};
use partita_median::{SoftMeanDiagnostics, soft_mean};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// Objects in three groups of unlike size, and base clusterings that cut every group in two or three, with some labels by chance.
fn fine(seed: u64) -> (Ensemble, Vec<usize>) {
    let mut rng = Seed::new(seed).rng();
    let truth: Vec<usize> = (0..60)
        .map(|i| if i < 30 { 0 } else { 1 + i % 2 })
        .collect();
    let columns = (0..5).map(|u| {
        let parts = rng.random_range(2..4);
        let noise = rng.random_range(0.0..0.3);
        let label = |&group: &usize| {
            let group = if rng.random_bool(noise) {
                rng.random_range(0..3)
            } else {
                group
            };
            Some((group * parts + rng.random_range(0..parts)) as u32)
        };
        (format!("u{u}"), truth.iter().map(label).collect::<Vec<_>>())
    });
    (ensemble(columns.collect::<Vec<_>>()), truth)
}

/// One-hot labels of every base clustering, n × J.
fn tables(ensemble: &Ensemble) -> Vec<Array2<f64>> {
    let table = |u: usize| {
        let shape = (ensemble.objects(), ensemble.bases()[u].clusters());
        Array2::from_shape_fn(shape, |(i, j)| {
            f64::from(u8::from(ensemble.label(i, u) == Some(j)))
        })
    };
    (0..ensemble.bases().len()).map(table).collect()
}

/// The shares in K columns, and the sum of those beyond, when clusters go to these columns.
fn matched(table: &Array2<f64>, columns: &[usize], k: usize) -> (Array2<f64>, Array1<f64>) {
    let (mut own, mut beyond) = (
        Array2::zeros((table.nrows(), k)),
        Array1::zeros(table.nrows()),
    );
    for (shares, &column) in table.axis_iter(Axis(1)).zip(columns) {
        if column < k {
            own.column_mut(column).scaled_add(1.0, &shares);
        } else {
            beyond += &shares;
        }
    }
    (own, beyond)
}

/// The rows, their squared distance to the matched tables, and the mean over columns of the share of squares that they leave.
fn judged(tables: &[Array2<f64>], columns: &[Vec<usize>], k: usize) -> (Array2<f64>, f64, f64) {
    let matched: Vec<_> = tables
        .iter()
        .zip(columns)
        .map(|(table, columns)| matched(table, columns, k))
        .collect();
    let spread = |(own, beyond): &(Array2<f64>, Array1<f64>)| {
        own + &(beyond.clone().insert_axis(Axis(1)) / k as f64)
    };
    let rows = matched.iter().map(spread).reduce(|a, b| a + b).unwrap() / tables.len() as f64;
    let loss = matched
        .iter()
        .map(|(own, beyond)| (own - &rows).mapv(|x| x * x).sum() + beyond.sum())
        .sum();
    let left = |column: usize| {
        let all: Vec<_> = matched.iter().map(|(own, _)| own.column(column)).collect();
        let mean = all.iter().map(|own| own.mean().unwrap()).sum::<f64>() / all.len() as f64;
        let within: f64 = all
            .iter()
            .map(|own| (own - &rows.column(column)).mapv(|x| x * x).sum())
            .sum();
        let about: f64 = all
            .iter()
            .map(|own| own.mapv(|x| (x - mean).powi(2)).sum())
            .sum();
        if about > 1e-9 { within / about } else { 1.0 }
    };
    let unexplained = (0..k).map(left).sum::<f64>() / k as f64;
    (rows, loss, unexplained)
}

/// The columns of a base clustering that fit best: one by one among all orders, or every cluster where it has most.
fn fitting(products: &Array2<f64>, merge: bool) -> Vec<usize> {
    let (clusters, k) = products.dim();
    if merge {
        let best = |row: usize| {
            (0..k).fold(0, |b, c| {
                if products[[row, c]] > products[[row, b]] {
                    c
                } else {
                    b
                }
            })
        };
        return (0..clusters).map(best).collect();
    }
    let mut best = (f64::NEG_INFINITY, Vec::new());
    for code in 0..clusters.pow(k as u32) {
        let chosen: Vec<usize> = (0..k)
            .map(|c| code / clusters.pow(c as u32) % clusters)
            .collect();
        let sum = chosen
            .iter()
            .enumerate()
            .map(|(c, &row)| products[[row, c]])
            .sum::<f64>();
        if sum > best.0 && (1..k).all(|c| !chosen[..c].contains(&chosen[c])) {
            best = (sum, chosen);
        }
    }
    (0..clusters)
        .map(|row| best.1.iter().position(|&chosen| chosen == row).unwrap_or(k))
        .collect()
}

/// Random columns, then rows and columns in turn until the loss stands still.
fn from_chance(tables: &[Array2<f64>], k: usize, merge: bool, rng: &mut impl Rng) -> (f64, f64) {
    let chance = |table: &Array2<f64>| {
        let mut columns: Vec<usize> = (0..table.ncols())
            .map(|c| if merge { c % k } else { c.min(k) })
            .collect();
        columns.shuffle(rng);
        columns
    };
    let mut columns: Vec<Vec<usize>> = tables.iter().map(chance).collect();
    let (mut rows, mut loss, mut unexplained) = judged(tables, &columns, k);
    loop {
        columns = tables
            .iter()
            .map(|table| fitting(&table.t().dot(&rows), merge))
            .collect();
        let next = judged(tables, &columns, k);
        if next.1 >= loss - 1e-9 {
            return (loss, unexplained);
        }
        (rows, loss, unexplained) = next;
    }
}

fn found(ensemble: &Ensemble, seed: u64, settings: &[&str]) -> Outcome<SoftMeanDiagnostics> {
    let settings = SettingMap::parse(settings).unwrap().apply().unwrap();
    soft_mean(
        ensemble,
        (None, None),
        3,
        Seed::new(seed),
        &settings,
        &Silent,
    )
    .unwrap()
}

#[test]
fn one_to_one_is_as_near_as_the_best_of_many_random_matchings() {
    let (mut reached, mut near) = (0, 0);
    for seed in 0..15 {
        let (ensemble, _) = fine(seed);
        let (tables, mut rng) = (tables(&ensemble), Seed::new(seed).child(1).rng());
        let least = (0..100)
            .map(|_| from_chance(&tables, 3, false, &mut rng).0)
            .fold(f64::INFINITY, f64::min);
        let value = |settings: &[&str]| found(&ensemble, seed, settings).objective.unwrap().value;
        reached += usize::from(value(&["matching=one-to-one", "restarts=300"]) <= least + 1e-9);
        near += usize::from(value(&["matching=one-to-one"]) <= 1.02 * least);
    }
    assert!(reached >= 10 && near >= 10, "{reached} and {near} of 15");
}

#[test]
fn merging_keeps_all_columns_apart() {
    let (mut reached, mut nothing) = (0, 0);
    for seed in 0..30 {
        let (ensemble, _) = fine(seed);
        let (tables, mut rng) = (tables(&ensemble), Seed::new(seed).child(1).rng());
        let chance: Vec<(f64, f64)> = (0..100)
            .map(|_| from_chance(&tables, 3, true, &mut rng))
            .collect();
        let least =
            |of: fn(&(f64, f64)) -> f64| chance.iter().map(of).fold(f64::INFINITY, f64::min);
        let found = found(&ensemble, seed, &[]);
        assert_eq!(
            (found.details.merged, found.partition.live_clusters()),
            (5, 3),
            "seed {seed}"
        );
        let unexplained = found
            .details
            .unexplained
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        reached += usize::from(unexplained <= least(|chance| chance.1) + 1e-9);
        nothing += usize::from(least(|chance| chance.0) < 1e-9);
    }
    // The squared distance alone is least where all base clusters share one column.
    assert!(reached >= 27 && nothing >= 20, "{reached} of 30, {nothing}");
}
