//! Whether a table has clusters, where k-means is as stable on tables without.

use std::f64::consts::PI;

use partita_core::ndarray::{Array2, s};
use partita_core::{MemoryBudget, Seed, Silent};
use partita_generate::Scale;
use partita_select::{AutoChoice, choose_recipe};
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

/// The least p value against tables without clusters, of any number of clusters.
fn least_p(choice: &AutoChoice) -> f64 {
    let choice = choice.choice.as_ref().expect("the number was open");
    choice
        .rows
        .iter()
        .filter_map(|row| row.p)
        .fold(1.0, f64::min)
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
    assert!(p > 0.3, "tables without clusters are not as stable: {p}");
}

#[test]
fn arms_of_a_spiral_are_closed() {
    let noise = normal(200, 2);
    let spiral = Array2::from_shape_fn((200, 2), |(i, column)| {
        let radius = 1.0 + 5.0 * ((i / 2) as f64 / 100.0).sqrt();
        let angle = radius + PI * (i % 2) as f64;
        radius * [angle.cos(), angle.sin()][column] + 0.2 * noise[[i, column]]
    });
    for (table, clusters) in [(spiral, 2), (noise, 1)] {
        let choice = chosen(&table);
        assert_eq!(choice.clusters, clusters, "{}", choice.reason);
        let conductance = &choice.candidates[1].conductance;
        assert!(
            (conductance[0] < 0.015) == (clusters == 2),
            "{conductance:?}"
        );
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
    let validity = none.candidates.iter().flat_map(|one| &one.validity);
    let validity = validity.copied().fold(f64::MIN, f64::max);
    assert_eq!(none.clusters, 1, "{}", none.reason);
    assert!(
        validity > -0.1,
        "no gap looks like one between clusters: {validity}"
    );
    let mut two = normal(150, 1);
    two.slice_mut(s![60.., ..]).mapv_inplace(|x| x + 6.0);
    let found = chosen(&two);
    assert_eq!(found.clusters, 2, "{}", found.reason);
}
