//! Labels of some rows, and functions of rows and their labels.

use super::{Row, RowBlock};

/// Labels of consecutive objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assigned {
    /// The cluster of every object.
    pub labels: Vec<u32>,
    /// The probability of every label, for soft methods.
    pub probability: Option<Vec<f64>>,
    /// The probability of every cluster, object by object, for soft methods.
    pub soft: Option<Vec<f64>>,
}

impl Assigned {
    /// Every object in its most probable cluster, with that probability; `soft` holds `clusters` of them an object. Ties go to the
    /// smaller number.
    pub fn of_soft(soft: Vec<f64>, clusters: usize) -> Self {
        let largest = |row: &[f64]| {
            (0..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best })
        };
        let best = soft.chunks_exact(clusters).map(|row| (largest(row), row));
        let (labels, probability): (_, Vec<f64>) = best
            .map(|(k, row)| (k as u32, row[k].clamp(0.0, 1.0)))
            .unzip();
        Self {
            labels,
            probability: Some(probability),
            soft: Some(soft),
        }
    }

    /// Adds those of the objects that follow.
    pub fn append(&mut self, next: Self) {
        self.labels.extend(next.labels);
        for (all, some) in [
            (&mut self.probability, next.probability),
            (&mut self.soft, next.soft),
        ] {
            some.into_iter()
                .for_each(|some| all.get_or_insert_default().extend(some));
        }
    }
}

/// A function of rows and the labels that a fit gives them.
pub trait LabelledMap: Sync {
    /// What is made of some rows.
    type Out: Send;

    /// What is made of these rows with these labels.
    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, assigned: Assigned) -> Self::Out;
}
