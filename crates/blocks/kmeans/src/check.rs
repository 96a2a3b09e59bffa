//! What a table, weights and centres are checked for once.

use partita_core::MAX_BASE_CLUSTERS;
use partita_core::ndarray::ArrayView2;

use crate::error::KMeansError;

/// Refuses an empty table and numbers that are not finite.
pub(crate) fn check_table(values: ArrayView2<'_, f64>) -> Result<(), KMeansError> {
    if values.is_empty() {
        let (rows, columns) = values.dim();
        return Err(KMeansError::TooSmall { rows, columns });
    }
    match values.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), &value)) => Err(KMeansError::NotFinite { row, column, value }),
        None => Ok(()),
    }
}

/// Refuses weights that are not one positive number a row.
pub(crate) fn check_weights(weights: Option<&[f64]>, rows: usize) -> Result<(), KMeansError> {
    match weights {
        Some(weights)
            if weights.len() != rows || weights.iter().any(|w| !(*w > 0.0 && w.is_finite())) =>
        {
            let found = weights.len();
            Err(KMeansError::Shape(format!(
                "{found} weights for {rows} rows; there must be one positive number a row"
            )))
        }
        _ => Ok(()),
    }
}

pub(crate) fn check_centres(
    centres: ArrayView2<'_, f64>,
    columns: usize,
) -> Result<(), KMeansError> {
    let (k, d) = centres.dim();
    if d != columns || centres.iter().any(|c| !c.is_finite()) {
        return Err(KMeansError::Shape(format!(
            "starting centres are {k} × {d}; they must be finite numbers and as wide as the table, {columns}"
        )));
    }
    Ok(())
}

pub(crate) fn check_clusters(clusters: usize, objects: usize) -> Result<(), KMeansError> {
    match clusters {
        0 => Err(KMeansError::NoClusters),
        _ if clusters > objects.min(MAX_BASE_CLUSTERS) => {
            Err(KMeansError::TooManyClusters { clusters, objects })
        }
        _ => Ok(()),
    }
}
