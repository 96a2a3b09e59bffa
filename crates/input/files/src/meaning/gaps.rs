//! Gaps of a table of numbers, which get the means of their columns.

use partita_core::ndarray::{Array2, ArrayView2};

/// What is known to be the mean of a column, else its mean here without gaps (NaN); none without any value.
pub(crate) fn mean(column: impl Iterator<Item = f64>, known: Option<f64>) -> Option<f64> {
    let there = column.filter(|value| !value.is_nan());
    let (count, sum) = there.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    known.or((count > 0.0).then_some(sum / count))
}

/// What is known to be the means of the columns, else their means here without gaps (NaN).
///
/// # Errors
/// The first column without any value and known mean.
pub fn column_means(values: ArrayView2<'_, f64>, known: &[Option<f64>]) -> Result<Vec<f64>, usize> {
    let columns = values.columns().into_iter().zip(known).enumerate();
    columns
        .map(|(at, (column, known))| mean(column.iter().copied(), *known).ok_or(at))
        .collect()
}

/// Fills gaps (NaN) with the means of their columns.
pub fn fill_gaps(values: &mut Array2<f64>, means: &[f64]) {
    for (mut column, &mean) in values.columns_mut().into_iter().zip(means) {
        column.mapv_inplace(|value| if value.is_nan() { mean } else { value });
    }
}
