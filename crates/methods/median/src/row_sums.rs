//! The sum of a row pass that adds up plain numbers, one vector for all rows.

use partita_core::Mergeable;
use serde::{Deserialize, Serialize};

/// Numbers that are added up row by row.
#[derive(Serialize, Deserialize)]
pub(crate) struct RowSums(pub(crate) Vec<f64>);

impl Mergeable for RowSums {
    fn merge(&mut self, other: Self) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(sum, x)| *sum += x);
    }
}
