//! All label rows of a source as an ensemble.

use std::collections::BTreeMap;

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::{Mergeable, PassError, PassRunner, Row, RowBlock, RowPass, SourceError};
use crate::{Ensemble, EnsembleError};

/// The ensemble of all rows of a source of labels, in their order, and what each row counts where that is not 1.
///
/// # Cost
/// A pass; 4 n M bytes at once, at most.
///
/// # Errors
/// [`PassError`] when rows cannot be read, a base clustering labels nothing, or the monitor asks to stop.
pub(crate) fn held_rows(rows: &PassRunner<'_>) -> Result<(Ensemble, Option<Vec<f64>>), PassError> {
    let (objects, bases) = (rows.source().rows() as usize, rows.source().bases());
    let mut labels = Vec::with_capacity(objects * bases.len());
    let mut weights = Vec::new();
    for piece in rows.run(&HoldRows)?.0.into_values() {
        labels.extend(piece.labels);
        weights.extend(piece.weights);
    }
    let labels = Array2::from_shape_vec((objects, bases.len()), labels)
        .map_err(|_| PassError::Parts("rows are missing; sum them again".into()))?;
    let unfit = |error: EnsembleError| SourceError {
        first: 0,
        reason: error.to_string(),
    };
    let ensemble = Ensemble::from_words(labels, bases.to_vec()).map_err(unfit)?;
    Ok((
        ensemble,
        Some(weights).filter(|weights| !weights.is_empty()),
    ))
}

/// All rows.
#[derive(Serialize, Deserialize)]
pub(super) struct HoldRows;

/// Rows by the number of the first of each piece.
#[derive(Serialize, Deserialize)]
pub(super) struct Pieces(BTreeMap<u64, Piece>);

#[derive(Serialize, Deserialize)]
struct Piece {
    labels: Vec<u16>,
    /// One a row, or none where all rows count 1.
    weights: Vec<f64>,
}

impl Mergeable for Pieces {
    fn merge(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }
}

impl RowPass for HoldRows {
    type Sum = Pieces;
    const KIND: &'static str = "core/hold-rows";
    const EXACT: bool = true;

    fn zero(&self) -> Pieces {
        Pieces(BTreeMap::new())
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Pieces) {
        let piece = Piece {
            labels: block.rows().flat_map(|(row, _)| row.words()).collect(),
            weights: block.weights.map(<[f64]>::to_vec).unwrap_or_default(),
        };
        sum.0.insert(block.first, piece);
    }
}
