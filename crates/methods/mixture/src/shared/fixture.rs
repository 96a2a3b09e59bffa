//! The stored values of an independent implementation, for tests.

use partita_core::ndarray::Array2;
use partita_core::{Ensemble, EnsembleBuilder, EnsembleRows, Seed};
use rand::RngExt;
use serde_json::Value;

use crate::shared::held_rows::HeldRows;
use crate::shared::layout::BaseLayout;

/// Rows in memory with what they count.
pub(crate) struct Held {
    ensemble: Ensemble,
    weights: Vec<f64>,
    pub(crate) layout: BaseLayout,
}

impl Held {
    /// The distinct rows of an ensemble, each as often as it occurs.
    pub(crate) fn of(ensemble: &Ensemble) -> Self {
        let fragments = ensemble.fragments();
        Self {
            weights: fragments.masses(None),
            ..Self::each(fragments.ensemble())
        }
    }

    /// Every object for itself.
    pub(crate) fn each(ensemble: &Ensemble) -> Self {
        Self {
            weights: vec![1.0; ensemble.objects()],
            layout: BaseLayout::new(ensemble.bases(), None),
            ensemble: ensemble.clone(),
        }
    }

    /// The same with so many copies of base clusterings.
    pub(crate) fn with_copies(mut self, copies: Option<Vec<f64>>) -> Self {
        self.layout.copies = copies;
        self
    }

    /// The same where rows stand for so many objects.
    pub(crate) fn with_weights(self, weights: Option<&[f64]>) -> Self {
        Self {
            weights: weights.map_or(self.weights, <[f64]>::to_vec),
            ..self
        }
    }

    pub(crate) fn rows(&self) -> HeldRows<'_> {
        HeldRows {
            rows: EnsembleRows::weighted(&self.ensemble, &self.weights).with_shares(),
            layout: &self.layout,
        }
    }
}

pub(crate) fn ensemble() -> Ensemble {
    let fixtures = partita_conformance::fixtures();
    let columns: Vec<Vec<i64>> =
        serde_json::from_value(fixtures["labels"].clone()).expect("12 columns of labels");
    let mut builder = EnsembleBuilder::new(columns[0].len());
    for (u, column) in columns.iter().enumerate() {
        builder
            .push(
                format!("u{u}"),
                column.iter().map(|&j| (j >= 0).then_some(j)),
            )
            .expect("24 labels a column");
    }
    builder
        .finish()
        .expect("base clusterings of as many objects")
}

pub(crate) fn matrix(value: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).expect("rows of numbers");
    let shape = (rows.len(), rows[0].len());
    Array2::from_shape_vec(shape, rows.concat()).expect("rows of equal length")
}

pub(crate) fn vector(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).expect("a list of numbers")
}

pub(crate) fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(
            (a - b).abs() <= 1e-8 * b.abs().max(1e-4),
            "{i}: {a} is not {b}"
        );
    }
}

/// A drawn ensemble: noisy copies of groups, a fifth of the labels missing, some rows equal.
pub(crate) fn drawn(seed: u64) -> Ensemble {
    let mut rng = Seed::new(seed).rng();
    let (n, bases, groups) = (
        rng.random_range(8..40),
        rng.random_range(2..7),
        rng.random_range(2..5u32),
    );
    let mut builder = EnsembleBuilder::new(n);
    for u in 0..bases {
        let clusters = rng.random_range(2..5);
        let mut label = |i: usize| match i {
            0 => Some(0),
            _ if rng.random_bool(0.2) => None,
            _ if rng.random_bool(0.3) => Some(rng.random_range(0..clusters)),
            _ => Some((i as u32 % groups) % clusters),
        };
        let labels: Vec<Option<u32>> = (0..n).map(&mut label).collect();
        builder
            .push_clusters(format!("u{u}"), labels, clusters as usize)
            .expect("labels below the number of clusters");
    }
    builder
        .finish()
        .expect("base clusterings of as many objects")
}

/// Noisy copies of `groups` groups, a fifth of the labels drawn anew and a tenth missing.
pub(crate) fn many(objects: usize, bases: usize, groups: u32) -> Ensemble {
    let mut rng = Seed::new(9).rng();
    let mut builder = EnsembleBuilder::new(objects);
    for u in 0..bases {
        let mut label = |i: usize| match rng.random_range(0..10) {
            0 => None,
            1 | 2 => Some(rng.random_range(0..groups)),
            _ => Some((i as u32 + u as u32) % groups),
        };
        let labels: Vec<Option<u32>> = (0..objects).map(&mut label).collect();
        builder
            .push_clusters(format!("u{u}"), labels, groups as usize)
            .expect("labels below the number of groups");
    }
    builder
        .finish()
        .expect("base clusterings of as many objects")
}
