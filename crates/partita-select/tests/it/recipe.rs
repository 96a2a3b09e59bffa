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
    Array2::from_shape_fn((rows, columns), |_| (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0)
}

fn chosen(table: &Array2<f64>) -> AutoChoice {
    choose_recipe(table.view(), 2..=12, Scale::Auto, Seed::new(1), MemoryBudget::UNLIMITED, &Silent).expect("a choice")
}

/// The least p value against tables without clusters, of any number of clusters.
fn least_p(choice: &AutoChoice) -> f64 {
    choice.choice.as_ref().expect("the number was open").rows.iter().filter_map(|row| row.p).fold(1.0, f64::min)
}

#[test]
fn a_small_cluster_beside_a_large_one_is_found() {
    let mut table = normal(240, 3);
    table.slice_mut(s![220.., ..]).mapv_inplace(|x| 2.2 + 0.3 * x);
    let choice = chosen(&table);
    assert_eq!(choice.clusters, 2, "{}", choice.reason);
    assert!(least_p(&choice) > 0.3, "tables without clusters are not as stable: {}", least_p(&choice));
}

#[test]
fn arms_of_a_spiral_are_closed() {
    let noise = normal(200, 2);
    let spiral = Array2::from_shape_fn((200, 2), |(i, column)| {
        let radius = 1.0 + 5.0 * ((i / 2) as f64 / 100.0).sqrt();
        let angle = radius + PI * (i % 2) as f64;
        radius * if column == 0 { angle.cos() } else { angle.sin() } + 0.2 * noise[[i, column]]
    });
    let (arms, none) = (chosen(&spiral), chosen(&noise));
    assert_eq!(arms.clusters, 2, "{}", arms.reason);
    assert!(arms.candidates[1].conductance[0] < 0.015, "{:?}", arms.candidates[1].conductance);
    assert_eq!(none.clusters, 1, "{}", none.reason);
    assert!(none.candidates[1].conductance[0] > 0.015, "{:?}", none.candidates[1].conductance);
}
