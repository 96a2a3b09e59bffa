//! The table that base clusterings are made of, dense or sparse.

use partita_core::ndarray::{Array2, ArrayView2, CowArray, Ix2};
use sprs::CsMatView;

use crate::GenerateError;
use crate::part_file::fingerprint;

/// A table of n objects × d numbers.
///
/// k-means without scaling, replacement, projection or a share of the columns reads a sparse table as it is. For
/// everything else it is made dense.
#[derive(Clone, Copy, Debug)]
pub enum TableView<'a> {
    /// Every number is there.
    Dense(ArrayView2<'a, f64>),
    /// Numbers that are not there are 0.
    Sparse(CsMatView<'a, f64>),
}

impl<'a> From<ArrayView2<'a, f64>> for TableView<'a> {
    fn from(values: ArrayView2<'a, f64>) -> Self {
        Self::Dense(values)
    }
}

impl<'a> From<CsMatView<'a, f64>> for TableView<'a> {
    fn from(values: CsMatView<'a, f64>) -> Self {
        Self::Sparse(values)
    }
}

impl<'a> TableView<'a> {
    /// Rows and columns.
    pub fn dim(&self) -> (usize, usize) {
        match self {
            Self::Dense(values) => values.dim(),
            Self::Sparse(values) => values.shape(),
        }
    }

    /// Every number in its place.
    pub(crate) fn dense(&self) -> CowArray<'a, f64, Ix2> {
        match self {
            Self::Dense(values) => CowArray::from(*values),
            Self::Sparse(values) => {
                let mut dense = Array2::zeros(values.shape());
                values.iter().for_each(|(&value, at)| dense[at] += value);
                CowArray::from(dense)
            }
        }
    }

    /// Refuses a table that nothing can be learned from: no or one row, no column, a number that is not finite, or
    /// rows that are all equal.
    pub(crate) fn check(&self) -> Result<(), GenerateError> {
        let (rows, columns) = self.dim();
        if rows < 2 || columns == 0 {
            return Err(GenerateError::TooSmall { rows, columns });
        }
        let (wrong, equal) = match self {
            Self::Dense(values) => {
                let wrong = values.indexed_iter().find(|(_, value)| !value.is_finite());
                let first = values.row(0);
                (wrong.map(|(at, &value)| (at, value)), values.outer_iter().all(|row| row == first))
            }
            Self::Sparse(values) => {
                let wrong = values.iter().find(|(value, _)| !value.is_finite());
                (wrong.map(|(&value, at)| (at, value)), all_equal(*values))
            }
        };
        match wrong {
            Some(((row, column), value)) => Err(GenerateError::NotFinite { row, column, value }),
            None if equal => Err(GenerateError::Constant { rows }),
            None => Ok(()),
        }
    }

    /// A number that differs when the table does, as good as always.
    pub(crate) fn fingerprint(&self) -> u64 {
        let (n, d) = self.dim();
        let shape = [n as u64, d as u64].into_iter();
        match self {
            Self::Dense(values) => fingerprint(shape.chain(values.iter().map(|value| value.to_bits()))),
            Self::Sparse(values) => {
                fingerprint(shape.chain(
                    values.iter().flat_map(|(value, (row, column))| [value.to_bits(), row as u64, column as u64]),
                ))
            }
        }
    }
}

/// Whether all rows hold the same numbers, zeros that are written out or not.
fn all_equal(values: CsMatView<'_, f64>) -> bool {
    let rows = if values.is_csr() { values.to_owned() } else { values.to_csr() };
    let numbers = |row: usize| -> Vec<(usize, f64)> {
        let row = rows.outer_view(row);
        row.iter().flat_map(|row| row.iter()).filter(|(_, x)| **x != 0.0).map(|(column, &x)| (column, x)).collect()
    };
    let first = numbers(0);
    (1..rows.rows()).all(|row| numbers(row) == first)
}

#[cfg(test)]
mod tests {
    use sprs::TriMat;

    use super::*;

    #[test]
    fn sparse_tables_are_checked_as_dense_ones() {
        let check = |entries: &[(usize, usize, f64)]| {
            let mut table = TriMat::new((3, 2));
            entries.iter().for_each(|&(row, column, value)| table.add_triplet(row, column, value));
            let table = table.to_csr::<usize>();
            let (sparse, dense) = (TableView::from(table.view()), TableView::from(table.view()).dense());
            let answer = sparse.check();
            assert!(format!("{answer:?}") == format!("{:?}", TableView::from(dense.view()).check()));
            answer
        };
        assert_eq!(check(&[(0, 1, 2.0)]), Ok(()));
        assert_eq!(check(&[(0, 1, 0.0)]), Err(GenerateError::Constant { rows: 3 }));
        assert_eq!(check(&[(0, 1, 2.0), (1, 1, 2.0), (2, 1, 2.0)]), Err(GenerateError::Constant { rows: 3 }));
        assert!(matches!(check(&[(2, 0, f64::NAN)]), Err(GenerateError::NotFinite { row: 2, column: 0, .. })));
    }
}
