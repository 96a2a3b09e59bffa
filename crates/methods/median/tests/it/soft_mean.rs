//! Soft means: against all matchings written out, against a plain search from many random matchings, and their behaviour with missing
//! rows, many clusters and weights.

use partita_conformance::{draw_shares, ensemble, ensemble_of_shares, planted, progress};
use partita_core::ndarray::{Array1, Array2, ArrayView1, Axis};
use partita_core::{Clusters, Ensemble, Seed, SettingMap, Shares};
use partita_median::{KCC, SOFT_MEAN};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use serde_json::Value;

use crate::common::{Tables, assert_close, assert_monotone, found, problem, value};

/// Rows that sum to 1.
fn on_simplex(mut table: Array2<f64>) -> Array2<f64> {
    for mut row in table.rows_mut() {
        let sum = row.sum();
        row /= sum;
    }
    table
}

fn tables(seed: u64, n: usize, bases: usize, k: usize) -> Vec<Array2<f64>> {
    let mut rng = Seed::new(seed).rng();
    let mut table = || {
        let mut share = || rng.random_range(0.0..1.0f64).powi(4) + 1e-3;
        let table = on_simplex(Array2::from_shape_simple_fn((n, k), &mut share));
        Shares::new(table).unwrap().rows().to_owned()
    };
    (0..bases).map(|_| table()).collect()
}

fn of_shares(tables: &[Array2<f64>]) -> Ensemble {
    let named = tables.iter().enumerate();
    ensemble_of_shares(named.map(|(u, table)| (format!("u{u}"), table)))
}

/// All orders of so many columns.
fn orders(columns: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..columns {
        let longer = |order: Vec<usize>| {
            let left = (0..columns)
                .filter(|k| !order.contains(k))
                .collect::<Vec<_>>();
            left.into_iter().map(move |k| [&order[..], &[k]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// The least loss over all one-to-one matchings of three tables of three columns, rows as means or as their largest entries.
fn least(tables: &[Array2<f64>], hard: bool) -> f64 {
    let mut best = f64::INFINITY;
    for a in orders(3) {
        for b in orders(3) {
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
            let loss = |table: &Array2<f64>| (table - &mean).mapv(|x| x * x).sum();
            best = best.min(matched.iter().map(loss).sum());
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
            let ensemble = of_shares(&tables);
            let problem = problem(&ensemble, 3, &[setting, "restarts=60"]);
            let found = found(&SOFT_MEAN, &problem.seed(seed));
            assert_monotone(found.objective.as_ref().unwrap());
            let (value, least) = (value(&found), least(&tables, hard));
            assert!(value >= least - 1e-9, "seed {seed}: {value} below {least}");
            optimal += usize::from(value <= least + 1e-9);
        }
        assert!(optimal >= 55, "{setting}: {optimal} of 60 are optimal");
    }
}

/// At the end no matching of a base clustering is better, tried one by one.
#[test]
fn rows_cost_what_the_best_matchings_do() {
    for seed in 0..20 {
        let ensemble = planted(400, 5, 3, Seed::new(seed)).ensemble;
        let found = found(
            &SOFT_MEAN,
            &problem(&ensemble, 3, &["tolerance=0"]).seed(seed),
        );
        let soft = found.soft.as_ref().unwrap().rows();
        let least = |table: &Array2<f64>| {
            let cost = |order: Vec<usize>| {
                let square = (&table.select(Axis(1), &order) - &soft).mapv(|x| x * x);
                square.sum()
            };
            orders(3)
                .into_iter()
                .map(cost)
                .fold(f64::INFINITY, f64::min)
        };
        let expected = Tables::of(&ensemble).shares.iter().map(least).sum();
        assert_close(value(&found), expected, "squares");
    }
}

#[test]
fn planted_shares_come_back_closer_than_any_table() {
    let mut rng = Seed::new(3).rng();
    let (n, k) = (200, 4);
    let truth = &tables(99, n, 1, k)[0];
    let mut noisy = || {
        let table = on_simplex(truth.mapv(|share| share * rng.random_range(0.5..2.0f64)));
        let mut order: Vec<usize> = (0..k).collect();
        order.rotate_left(rng.random_range(0..k));
        table.select(Axis(1), &order)
    };
    let noisy: Vec<Array2<f64>> = (0..15).map(|_| noisy()).collect();
    let error = |found: &Array2<f64>| {
        let squares = |order: Vec<usize>| {
            let apart = &found.select(Axis(1), &order) - truth;
            apart.mapv(|x| x * x).sum()
        };
        orders(k)
            .into_iter()
            .map(squares)
            .fold(f64::INFINITY, f64::min)
    };
    let best_single = noisy.iter().map(error).fold(f64::INFINITY, f64::min);
    let ensemble = of_shares(&noisy);
    for order in ["order=search", "order=stream"] {
        let found = found(&SOFT_MEAN, &problem(&ensemble, k, &[order]).seed(1));
        let error = error(&found.soft.unwrap().into_rows());
        assert!(
            error < best_single / 4.0,
            "{order}: {error}, best single {best_single}"
        );
    }
}

/// Every cluster in two, by chance in every table, and merging finds the planted ones again.
#[test]
fn more_clusters_are_merged() {
    for seed in 0..20 {
        let drawn = draw_shares(Seed::new(seed));
        let mut fine = Vec::new();
        for (u, table) in drawn.tables.iter().enumerate() {
            let half = |i: usize| (Seed::new(u as u64).child(i as u64).number() % 2) as usize;
            let mut both = Array2::zeros((table.nrows(), 2 * table.ncols()));
            for ((i, j), share) in table.indexed_iter() {
                both[[i, 2 * j + half(i)]] = *share;
            }
            fine.push(both);
        }
        let fine = of_shares(&fine);
        let merged = found(&SOFT_MEAN, &problem(&fine, drawn.clusters, &[]).seed(1));
        assert_eq!(merged.details["merged"], drawn.tables.len());
        let labels = merged.partition.labels();
        let pairs = || (0..labels.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let right = pairs()
            .filter(|&(i, j)| (labels[i] == labels[j]) == (drawn.truth[i] == drawn.truth[j]))
            .count();
        assert!(right as f64 > 0.9 * pairs().count() as f64, "seed {seed}");
    }
}

#[test]
fn progress_moves_while_the_cut_is_found() {
    let drawn = planted(300, 10, 6, Seed::new(3));
    let progress = |settings: &[&str]| {
        let settings = SettingMap::parse(settings).unwrap();
        let shares = progress(&SOFT_MEAN, &drawn, Clusters::Exactly(3), &settings);
        assert!(shares.is_sorted() && shares.iter().all(|share| *share <= 1.0));
        shares
    };
    // The cut comes first, and counts 15 in 63 parts.
    let mut early = progress(&[]);
    early.retain(|share| *share < 0.23);
    early.dedup();
    assert!(early.len() > 5, "{early:?}");
    progress(&["restarts=1"]);
}

/// Objects in three groups of unlike size, and base clusterings that cut every group in two or three, with some labels by chance.
fn fine(seed: u64) -> Ensemble {
    let mut rng = Seed::new(seed).rng();
    let columns = (0..5).map(|u| {
        let parts = rng.random_range(2..4);
        let noise = rng.random_range(0.0..0.3);
        let mut label = |i: u32| {
            let group = if rng.random_bool(noise) {
                rng.random_range(0..3)
            } else if i < 30 {
                0
            } else {
                1 + i % 2
            };
            Some(group * parts + rng.random_range(0..parts))
        };
        (format!("u{u}"), (0..60).map(&mut label).collect())
    });
    ensemble(columns.collect::<Vec<_>>())
}

/// The shares in K columns, and the sum of those beyond, when clusters go to these columns.
fn matched(table: &Array2<f64>, columns: &[usize], k: usize) -> (Array2<f64>, Array1<f64>) {
    let mut own = Array2::zeros((table.nrows(), k));
    let mut beyond = Array1::zeros(table.nrows());
    for (shares, &column) in table.axis_iter(Axis(1)).zip(columns) {
        if column < k {
            own.column_mut(column).scaled_add(1.0, &shares);
        } else {
            beyond += &shares;
        }
    }
    (own, beyond)
}

/// Rows, their squared distance to the matched tables, and the mean over columns of the share of squares that they leave.
struct Judged {
    rows: Array2<f64>,
    loss: f64,
    unexplained: f64,
}

fn judged(tables: &[Array2<f64>], columns: &[Vec<usize>], k: usize) -> Judged {
    let matched = tables
        .iter()
        .zip(columns)
        .map(|(table, columns)| matched(table, columns, k));
    let matched: Vec<(Array2<f64>, Array1<f64>)> = matched.collect();
    let mut rows = Array2::zeros((tables[0].nrows(), k));
    for (own, beyond) in &matched {
        rows += own;
        rows += &(beyond.clone().insert_axis(Axis(1)) / k as f64);
    }
    rows /= tables.len() as f64;
    let loss = |(own, beyond): &(Array2<f64>, Array1<f64>)| {
        (own - &rows).mapv(|x| x * x).sum() + beyond.sum()
    };
    let loss = matched.iter().map(loss).sum();
    let left = |column: usize| {
        let all: Vec<_> = matched.iter().map(|(own, _)| own.column(column)).collect();
        let mean = all.iter().map(|own| own.mean().unwrap()).sum::<f64>() / all.len() as f64;
        let squares = |own: &ArrayView1<'_, f64>, mean: &Array1<f64>| {
            let apart = own - mean;
            apart.mapv(|x| x * x).sum()
        };
        let own = rows.column(column).to_owned();
        let even = Array1::from_elem(rows.nrows(), mean);
        let within: f64 = all.iter().map(|table| squares(table, &own)).sum();
        let about: f64 = all.iter().map(|table| squares(table, &even)).sum();
        if about > 1e-9 { within / about } else { 1.0 }
    };
    let unexplained = (0..k).map(left).sum::<f64>() / k as f64;
    Judged {
        rows,
        loss,
        unexplained,
    }
}

/// The columns of a base clustering that fit best: one by one among all orders, or every cluster where it has most.
fn fitting(products: &Array2<f64>, merge: bool) -> Vec<usize> {
    let (clusters, k) = products.dim();
    if merge {
        let best = |row: usize| {
            let more = |b, c| {
                if products[[row, c]] > products[[row, b]] {
                    c
                } else {
                    b
                }
            };
            (0..k).fold(0, more)
        };
        return (0..clusters).map(best).collect();
    }
    let mut best = (f64::NEG_INFINITY, Vec::new());
    for code in 0..clusters.pow(k as u32) {
        let chosen = (0..k).map(|c| code / clusters.pow(c as u32) % clusters);
        let chosen: Vec<usize> = chosen.collect();
        let sum: f64 = (0..k).map(|c| products[[chosen[c], c]]).sum();
        if sum > best.0 && (1..k).all(|c| !chosen[..c].contains(&chosen[c])) {
            best = (sum, chosen);
        }
    }
    (0..clusters)
        .map(|row| best.1.iter().position(|&chosen| chosen == row).unwrap_or(k))
        .collect()
}

/// Random columns, then rows and columns in turn until the loss stands still.
fn from_chance(tables: &[Array2<f64>], k: usize, merge: bool, rng: &mut impl Rng) -> Judged {
    let chance = |table: &Array2<f64>| {
        let column = |c: usize| if merge { c % k } else { c.min(k) };
        let mut columns: Vec<usize> = (0..table.ncols()).map(column).collect();
        columns.shuffle(rng);
        columns
    };
    let columns: Vec<Vec<usize>> = tables.iter().map(chance).collect();
    let mut now = judged(tables, &columns, k);
    loop {
        let fitting = |table: &Array2<f64>| fitting(&table.t().dot(&now.rows), merge);
        let columns: Vec<Vec<usize>> = tables.iter().map(fitting).collect();
        let next = judged(tables, &columns, k);
        if next.loss >= now.loss - 1e-9 {
            return now;
        }
        now = next;
    }
}

/// The results of a hundred random matchings.
fn hundred(ensemble: &Ensemble, merge: bool, seed: u64) -> Vec<Judged> {
    let tables = Tables::of(ensemble).shares;
    let mut rng = Seed::new(seed).child(1).rng();
    let chance = |_| from_chance(&tables, 3, merge, &mut rng);
    (0..100).map(chance).collect()
}

fn smallest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

#[test]
fn one_to_one_is_as_near_as_the_best_of_many_random_matchings() {
    let (mut reached, mut near) = (0, 0);
    for seed in 0..15 {
        let ensemble = fine(seed);
        let least = smallest(
            hundred(&ensemble, false, seed)
                .iter()
                .map(|found| found.loss),
        );
        let value = |settings: &[&str]| {
            value(&found(
                &SOFT_MEAN,
                &problem(&ensemble, 3, settings).seed(seed),
            ))
        };
        reached += usize::from(value(&["matching=one-to-one", "restarts=300"]) <= least + 1e-9);
        near += usize::from(value(&["matching=one-to-one"]) <= 1.02 * least);
    }
    assert!(reached >= 10 && near >= 10, "{reached} and {near} of 15");
}

#[test]
fn merging_keeps_all_columns_apart() {
    let (mut reached, mut nothing) = (0, 0);
    for seed in 0..30 {
        let ensemble = fine(seed);
        let chance = hundred(&ensemble, true, seed);
        let found = found(&SOFT_MEAN, &problem(&ensemble, 3, &[]).seed(seed));
        assert_eq!(found.details["merged"], 5, "seed {seed}");
        assert_eq!(found.partition.live_clusters(), 3, "seed {seed}");
        let unexplained = found.details["unexplained"].as_array().unwrap();
        let unexplained = smallest(unexplained.iter().filter_map(Value::as_f64));
        let least = smallest(chance.iter().map(|found| found.unexplained));
        reached += usize::from(unexplained <= least + 1e-9);
        nothing += usize::from(smallest(chance.iter().map(|found| found.loss)) < 1e-9);
    }
    // The squared distance alone is least where all base clusters share one column.
    assert!(reached >= 27 && nothing >= 20, "{reached} of 30, {nothing}");
}

/// Information-theoretic k-means: the least sum of Kullback–Leibler divergences of rows of shares from the means of their clusters.
#[test]
fn mutual_information_of_shares_is_the_divergence_of_rows_from_their_means() {
    let n = 7;
    let mut best = 0;
    for seed in 0..20 {
        let tables = tables(seed, n, 3, 3);
        let divergence = |labels: &[u32]| -> f64 {
            let of = |cluster| {
                (0..n)
                    .filter(move |&i| labels[i] == cluster)
                    .collect::<Vec<_>>()
            };
            let cost = |own: &Vec<usize>, table: &Array2<f64>| {
                let rows = table.select(Axis(0), own);
                let mean = rows.mean_axis(Axis(0)).unwrap();
                let logarithms = (&rows / &mean).mapv(f64::ln);
                (rows * logarithms).sum()
            };
            let clusters = [of(0), of(1)].into_iter().filter(|own| !own.is_empty());
            clusters
                .map(|own| tables.iter().map(|table| cost(&own, table)).sum::<f64>())
                .sum()
        };
        let of_number = |number: u32| (0..n).map(|i| number >> i & 1).collect::<Vec<u32>>();
        let least = (1..1 << (n - 1)).map(|number| divergence(&of_number(number)));
        let least = least.fold(f64::INFINITY, f64::min);
        let ensemble = of_shares(&tables);
        let found = found(&KCC, &problem(&ensemble, 2, &["utility=h"]).seed(seed));
        let here = divergence(found.partition.labels());
        assert!(here >= least - 1e-9);
        best += usize::from(here <= least + 1e-9);
        // The utility is what the clusters leave of the divergence of all rows from their mean, in nats an object.
        let utility = (divergence(&vec![0; n]) - here) / n as f64;
        assert_close(value(&found), utility, "utility");
    }
    assert!(best >= 18, "{best} of 20 are optimal");
}
