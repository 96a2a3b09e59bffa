//! Ensembles of all shapes, for what grows with objects, base clusterings or base clusters.

use partita_core::Seed;
use partita_core::ndarray::Array2;
use rand::RngExt;

use crate::draw::{Drawn, ensemble, planted};
use crate::soft::ensemble_of_shares;

/// Ensembles of all shapes that memory depends on, each with its name: few objects in many base clusterings and the other way round,
/// few and many base clusters (ΣJ from 10 to 45,000), all labels different, missing labels, shares.
pub fn shapes() -> Vec<(&'static str, Drawn)> {
    let alone = |objects: usize, bases: usize| {
        let drawn = planted(objects, bases, 2, Seed::new(90));
        let column = |u: usize| (0..objects).map(move |i| Some(((i * 7 + u) % objects) as u32));
        let columns = (0..bases).map(|u| (format!("u{u}"), column(u).collect()));
        Drawn {
            ensemble: ensemble(columns),
            ..drawn
        }
    };
    vec![
        ("1,000 × 20", planted(1000, 20, 8, Seed::new(1))),
        ("300 × 60", planted(300, 60, 12, Seed::new(2))),
        ("20,000 × 2, ΣJ = 10", planted(20_000, 2, 5, Seed::new(91))),
        ("4 × 400", planted(4, 400, 2, Seed::new(92))),
        ("4 × 20,000", planted(4, 20_000, 2, Seed::new(93))),
        ("40 × 300", planted(40, 300, 3, Seed::new(94))),
        ("40 × 100, all different", alone(40, 100)),
        ("40 × 500, all different", alone(40, 500)),
        ("800 × 3, all different", alone(800, 3)),
        ("1,000 × 20, all different", alone(1000, 20)),
        ("300 × 40, half missing", half_missing(300, 40)),
        ("150 × 20, shares", of_shares(150, 20, 8)),
        ("20 × 300, shares", of_shares(20, 300, 3)),
    ]
}

/// An ensemble in which every other label is missing.
fn half_missing(objects: usize, bases: usize) -> Drawn {
    let drawn = planted(objects, bases, 20, Seed::new(95));
    let label = |i: usize, u: usize| {
        let label = drawn.ensemble.label(i, u).map(|label| label as u32);
        label.filter(|_| (i + u).is_multiple_of(2))
    };
    let columns = (0..bases).map(|u| {
        let labels = (0..objects).map(|i| label(i, u)).collect();
        (format!("u{u}"), labels)
    });
    Drawn {
        ensemble: ensemble(columns),
        ..drawn
    }
}

/// An ensemble whose objects have shares in all clusters of every base clustering.
fn of_shares(objects: usize, bases: usize, clusters: usize) -> Drawn {
    let drawn = planted(objects, 2, clusters, Seed::new(96));
    let mut rng = Seed::new(97).rng();
    let mut table = |_| {
        let mut table = Array2::from_shape_fn((objects, clusters), |(i, k)| {
            let own = drawn.truth[i] as usize == k;
            rng.random_range(0.1..1.0) + if own { clusters as f64 } else { 0.0 }
        });
        for mut row in table.outer_iter_mut() {
            let sum = row.sum();
            row.mapv_inplace(|share| share / sum);
        }
        table
    };
    let tables: Vec<Array2<f64>> = (0..bases).map(&mut table).collect();
    let named = tables
        .iter()
        .enumerate()
        .map(|(u, table)| (format!("u{u}"), table));
    Drawn {
        ensemble: ensemble_of_shares(named),
        ..drawn
    }
}
