//! The table behind an ensemble.

use ndarray::ArrayView2;

/// The table behind the ensemble: n objects × d named columns of finite numbers.
#[derive(Clone, Copy, Debug)]
pub struct Features<'a> {
    columns: &'a [String],
    values: ArrayView2<'a, f64>,
}

impl<'a> Features<'a> {
    /// Features with one name a column.
    ///
    /// # Errors
    /// A sentence that names the first number that is not finite, or the two lengths that differ.
    pub fn new(columns: &'a [String], values: ArrayView2<'a, f64>) -> Result<Self, String> {
        if columns.len() != values.ncols() {
            return Err(format!(
                "{} column names for {} columns",
                columns.len(),
                values.ncols()
            ));
        }
        if let Some(((object, column), value)) =
            values.indexed_iter().find(|(_, value)| !value.is_finite())
        {
            return Err(format!(
                "object {object} has {value} in column '{}'",
                columns[column]
            ));
        }
        Ok(Self { columns, values })
    }

    /// Names of the columns, d of them.
    pub fn columns(&self) -> &'a [String] {
        self.columns
    }

    /// The numbers, n × d.
    pub fn values(&self) -> ArrayView2<'a, f64> {
        self.values
    }
}
