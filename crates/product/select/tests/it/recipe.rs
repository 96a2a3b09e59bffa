//! Whether a table has clusters, and how many.

use std::f64::consts::PI;

use partita_core::ndarray::{Array2, s};
use partita_core::{MemoryBudget, Seed, Silent};
use partita_generate::Scale;
use partita_select::{AutoChoice, AutoRow, choose_recipe};
use rand::RngExt;

/// Standard normal numbers, nearly.
fn normal(rows: usize, columns: usize) -> Array2<f64> {
    let mut rng = Seed::new(1).rng();
    Array2::from_shape_fn((rows, columns), |_| {
        (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
    })
}

fn chosen(table: &Array2<f64>) -> AutoChoice {
    let budget = MemoryBudget::UNLIMITED;
    let seed = Seed::new(1);
    choose_recipe(table.view(), (2, None), Scale::Auto, seed, budget, &Silent).expect("a choice")
}

/// The least p-value of a gap between clusters, at any number of clusters.
fn least_p(choice: &AutoChoice) -> f64 {
    let rows = choice.candidates.iter().flat_map(|one| &one.rows);
    rows.filter_map(|row| row.p).fold(1.0, f64::min)
}

/// The largest of some values of k-means and Genie.
fn most(choice: &AutoChoice, of: impl Fn(&AutoRow) -> f64) -> f64 {
    let rows = choice.candidates.iter().flat_map(|one| &one.rows);
    rows.map(of).fold(f64::MIN, f64::max)
}

#[test]
fn a_small_cluster_beside_a_large_one_is_found() {
    let mut table = normal(240, 3);
    table
        .slice_mut(s![220.., ..])
        .mapv_inplace(|x| 2.2 + 0.3 * x);
    let choice = chosen(&table);
    assert_eq!(choice.clusters, 2, "{}", choice.reason);
    let p = least_p(&choice);
    assert!(p > 0.05, "20 rows are too few for a gap: {p}");
}

#[test]
fn arms_of_a_spiral_are_separated() {
    let noise = normal(200, 2);
    let spiral = Array2::from_shape_fn((200, 2), |(i, column)| {
        let radius = 1.0 + 5.0 * ((i / 2) as f64 / 100.0).sqrt();
        let angle = radius + PI * (i % 2) as f64;
        radius * [angle.cos(), angle.sin()][column] + 0.2 * noise[[i, column]]
    });
    for (table, clusters) in [(spiral, 2), (noise, 1)] {
        let choice = chosen(&table);
        assert_eq!(choice.clusters, clusters, "{}", choice.reason);
        let validity = most(&choice, |row| row.validity);
        assert_eq!(validity > 0.0, clusters == 2, "{validity}");
    }
}

/// Few objects lie in tails, with gaps between them, which look like gaps between clusters; in the second column nothing varies.
#[test]
fn gaps_in_the_tails_of_a_line_are_no_clusters() {
    let tails = Array2::from_shape_fn((150, 2), |(i, column)| {
        let share = (i as f64 + 0.5) / 75.0 - 1.0;
        [share / (1.0 - share * share).sqrt(), 7.0][column]
    });
    let none = chosen(&tails);
    let cut = most(&none, |row| row.stability.unwrap_or(0.0) * row.cut);
    assert_eq!(none.clusters, 1, "{}", none.reason);
    assert!(cut > 0.4, "no gap looks like one between clusters: {cut}");
    let mut two = normal(150, 1);
    two.slice_mut(s![60.., ..]).mapv_inplace(|x| x + 6.0);
    let found = chosen(&two);
    assert_eq!(found.clusters, 2, "{}", found.reason);
}

/// A half moon bends round its hollow, where few objects lie: one can walk round it.
#[test]
fn one_curve_is_one_cluster() {
    let noise = normal(400, 2);
    let moon = Array2::from_shape_fn((400, 2), |(i, column)| {
        let angle = PI * i as f64 / 399.0;
        3.0 * [angle.cos(), angle.sin()][column] + 0.4 * noise[[i, column]]
    });
    let one = chosen(&moon);
    assert_eq!(one.clusters, 1, "{}", one.reason);
}

/// Twenty-five groups on a grid, and three beside a column of noise that z-scores make as wide as the one that tells them.
#[test]
fn many_clusters_and_columns_of_noise() {
    let noise = normal(500, 2);
    let grid = Array2::from_shape_fn((500, 2), |(i, column)| {
        8.0 * [i % 5, i / 5 % 5][column] as f64 + noise[[i, column]]
    });
    let found = chosen(&grid);
    assert_eq!(found.clusters, 25, "{}", found.reason);
    let three = Array2::from_shape_fn((240, 2), |(i, column)| {
        [(i % 3 * 9) as f64, 0.0][column] + noise[[i, column]]
    });
    let found = chosen(&three);
    assert_eq!(found.clusters, 3, "{}", found.reason);
}
