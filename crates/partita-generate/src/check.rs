//! What every table is checked for once, at the door.

use partita_core::ndarray::ArrayView2;

use crate::GenerateError;

/// Refuses an empty table and numbers that are not finite.
pub(crate) fn check_table(values: ArrayView2<'_, f64>) -> Result<(), GenerateError> {
    if values.is_empty() {
        let (rows, columns) = values.dim();
        return Err(GenerateError::TooSmall { rows, columns });
    }
    match values.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), &value)) => Err(GenerateError::NotFinite { row, column, value }),
        None => Ok(()),
    }
}
