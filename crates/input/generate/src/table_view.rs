//! Table views: the dense, sparse or grouped table that base clusterings are made of.

use partita_core::ndarray::{Array2, ArrayView2, Axis, CowArray, Ix2, s};
use partita_kmeans::Members;
use sprs::CsMatView;

use crate::checkpoint_file::{continued, fingerprint};
use crate::error::Result;
use crate::{GenerateError, Graph};

/// A table of n objects × d numbers.
///
/// k-means without scaling, replacement, projection or a share of the columns reads a sparse table as it is. For
/// everything else it is made dense.
#[derive(Clone, Copy, Debug)]
pub enum TableView<'a> {
    /// Every number is there.
    Dense(ArrayView2<'a, f64>),
    /// Numbers of which some are not known, at these places (row, column; rising): what stands there stands for nothing, and base
    /// clusterings draw values of like rows for it ([`HotDeck`](crate::HotDeck)).
    Gaps(ArrayView2<'a, f64>, &'a [(u32, u32)]),
    /// Numbers that are not there are 0.
    Sparse(CsMatView<'a, f64>),
    /// Rows that are read when they are wanted, for k-means on shares of the objects.
    Groups(&'a dyn RowGroups),
    /// Dissimilarities of all pairs of objects, n × n: symmetric, none negative, zeros on the diagonal. For base clusterers that need no
    /// columns ([`BaseKind::reads_distances`](crate::BaseKind::reads_distances)).
    #[doc(alias = "precomputed")]
    Distances(ArrayView2<'a, f64>),
    /// A graph of n vertices in place of columns, for `leiden`.
    Graph(&'a Graph),
}

/// A table that is larger than memory, in groups of rows that are not.
pub trait RowGroups: Sync {
    /// Rows and columns.
    fn dim(&self) -> (usize, usize);

    /// Number of groups.
    fn groups(&self) -> usize;

    /// The rows of a group, in order; the groups one after the other are the table.
    ///
    /// # Errors
    /// What kept it from being read.
    fn read(&self, group: usize) -> Result<Array2<f64>, String>;
}

impl std::fmt::Debug for dyn RowGroups + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rows, columns) = self.dim();
        write!(f, "{rows} × {columns} in {} groups", self.groups())
    }
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
            Self::Dense(values) | Self::Gaps(values, _) | Self::Distances(values) => values.dim(),
            Self::Sparse(values) => values.shape(),
            Self::Groups(values) => values.dim(),
            Self::Graph(graph) => (graph.vertices(), graph.vertices()),
        }
    }

    /// Some rows (rising numbers below n), dense.
    ///
    /// # Errors
    /// [`GenerateError::Read`] for groups that cannot be read.
    ///
    /// # Cost
    /// 8 bytes a number of these rows; groups are read once, one by one.
    pub fn select(&self, rows: &[usize]) -> Result<Array2<f64>, GenerateError> {
        let mut selected = Array2::zeros((rows.len(), self.dim().1));
        match self {
            Self::Dense(values) | Self::Gaps(values, _) | Self::Distances(values) => {
                return Ok(values.select(Axis(0), rows));
            }
            Self::Sparse(values) => values.iter().for_each(|(&value, (row, column))| {
                if let Ok(place) = rows.binary_search(&row) {
                    selected[[place, column]] += value;
                }
            }),
            Self::Graph(_) => return Err(no_columns()),
            Self::Groups(_) => self.each_group(|first, group| {
                let places = rows.partition_point(|&row| row < first)..;
                for (place, &row) in places
                    .clone()
                    .zip(&rows[places])
                    .take_while(|(_, row)| **row < first + group.nrows())
                {
                    selected.row_mut(place).assign(&group.row(row - first));
                }
                Ok(())
            })?,
        }
        Ok(selected)
    }

    /// The gaps of some rows (rising numbers below n), by their place among these.
    pub fn gaps_of(&self, rows: &[usize]) -> Vec<(u32, u32)> {
        let Self::Gaps(_, gaps) = self else {
            return Vec::new();
        };
        let of_row = |(place, &row): (usize, &usize)| {
            let first = gaps.partition_point(|gap| (gap.0 as usize) < row);
            let own = gaps[first..]
                .iter()
                .take_while(move |gap| gap.0 as usize == row);
            own.map(move |&(_, column)| (place as u32, column))
        };
        rows.iter().enumerate().flat_map(of_row).collect()
    }

    /// The rows of several sets, dense, in one pass over the table.
    pub(crate) fn gather(&self, sets: &[Members]) -> Result<Vec<Array2<f64>>> {
        let d = self.dim().1;
        let mut shares: Vec<Array2<f64>> = sets
            .iter()
            .map(|members| Array2::zeros((members.count(), d)))
            .collect();
        let mut wanted: Vec<_> = sets
            .iter()
            .map(|members| members.iter().enumerate().peekable())
            .collect();
        self.each_group(|first, rows| {
            let end = first + rows.nrows();
            for (share, wanted) in shares.iter_mut().zip(&mut wanted) {
                while let Some((place, object)) = wanted.next_if(|(_, object)| *object < end) {
                    share.row_mut(place).assign(&rows.row(object - first));
                }
            }
            Ok(())
        })?;
        Ok(shares)
    }

    /// Every number in its place.
    pub(crate) fn dense(&self) -> Result<CowArray<'a, f64, Ix2>> {
        Ok(match self {
            Self::Dense(values) | Self::Gaps(values, _) | Self::Distances(values) => {
                CowArray::from(*values)
            }
            Self::Sparse(values) => {
                let mut dense = Array2::zeros(values.shape());
                values.iter().for_each(|(&value, at)| dense[at] += value);
                CowArray::from(dense)
            }
            Self::Graph(_) => return Err(no_columns()),
            Self::Groups(_) => {
                let mut dense = Array2::zeros(self.dim());
                self.each_group(|first, rows| {
                    dense
                        .slice_mut(s![first..first + rows.nrows(), ..])
                        .assign(&rows);
                    Ok(())
                })?;
                CowArray::from(dense)
            }
        })
    }

    /// Hands over the groups of rows, with the number of the first; a whole table is one group.
    pub(crate) fn each_group(
        &self,
        mut take: impl FnMut(usize, ArrayView2<'_, f64>) -> Result<()>,
    ) -> Result<()> {
        let Self::Groups(table) = self else {
            return take(0, self.dense()?.view());
        };
        let (n, d) = table.dim();
        let mut first = 0;
        for group in 0..table.groups() {
            let rows = table.read(group).map_err(GenerateError::Read)?;
            if rows.ncols() != d || first + rows.nrows() > n {
                let (more, wide) = rows.dim();
                let what = format!(
                    "group {group} is {more} × {wide} after {first} rows of a table of {n} × {d}"
                );
                return Err(GenerateError::Read(what));
            }
            take(first, rows.view())?;
            first += rows.nrows();
        }
        if first < n {
            Err(GenerateError::Read(format!(
                "its groups hold {first} of {n} rows"
            )))
        } else {
            Ok(())
        }
    }

    /// Refuses a table that nothing can be learned from: no or one row, no column, a number whose square is not finite,
    /// or rows that are all equal.
    pub(crate) fn check(&self) -> Result<()> {
        let (rows, columns) = self.dim();
        if rows < 2 || columns == 0 {
            return Err(GenerateError::TooSmall { rows, columns });
        }
        let (wrong, equal) = match self {
            Self::Dense(values) | Self::Gaps(values, _) | Self::Distances(values) => {
                let wrong = values.indexed_iter().find(|(_, value)| !fits(**value));
                let first = values.row(0);
                (
                    wrong.map(|(at, &value)| (at, value)),
                    values.outer_iter().all(|row| row == first),
                )
            }
            Self::Sparse(values) => {
                let wrong = values.iter().find(|(value, _)| !fits(**value));
                (wrong.map(|(&value, at)| (at, value)), all_equal(*values))
            }
            Self::Graph(graph) if graph.edges() == 0 => {
                let vertices = graph.vertices();
                return Err(GenerateError::NoEdges { vertices });
            }
            Self::Graph(_) => (None, false),
            Self::Groups(_) => {
                let (mut wrong, mut equal, mut first_row) = (None, true, Vec::new());
                self.each_group(|first, rows| {
                    let found = rows.indexed_iter().find(|(_, value)| !fits(**value));
                    wrong = wrong
                        .or(found.map(|((row, column), &value)| ((first + row, column), value)));
                    if first_row.is_empty() && rows.nrows() > 0 {
                        first_row = rows.row(0).to_vec();
                    }
                    equal = equal && rows.outer_iter().all(|row| row.iter().eq(&first_row));
                    Ok(())
                })?;
                (wrong, equal)
            }
        };
        match wrong {
            Some(((row, column), value)) if value.is_finite() => {
                Err(GenerateError::TooLarge { row, column, value })
            }
            Some(((row, column), value)) => Err(GenerateError::NotFinite { row, column, value }),
            None if equal => Err(GenerateError::Constant { rows }),
            None => self.check_distances(),
        }
    }

    /// Refuses what is no table of dissimilarities of all pairs.
    fn check_distances(&self) -> Result<()> {
        let Self::Distances(values) = self else {
            return Ok(());
        };
        let wrong = |reason: String| Err(GenerateError::NoDistances { reason });
        if !values.is_square() {
            let (rows, columns) = values.dim();
            return wrong(format!(
                "{rows} rows and {columns} columns are not all pairs"
            ));
        }
        for ((i, j), &value) in values.indexed_iter() {
            let mirrored = values[[j, i]];
            if value < 0.0 || (i == j && value != 0.0) {
                return wrong(format!("row {i}, column {j} is {value}"));
            }
            if (value - mirrored).abs() > 1e-6 * value.max(mirrored) {
                return wrong(format!(
                    "row {i}, column {j} is {value}, and row {j}, column {i} is {mirrored}"
                ));
            }
        }
        Ok(())
    }

    /// A number that differs when the table does, as good as always.
    pub(crate) fn fingerprint(&self) -> Result<u64> {
        let (n, d) = self.dim();
        let mut hash = fingerprint([n as u64, d as u64].into_iter());
        if let Self::Gaps(_, gaps) = self {
            let words = gaps.iter().flat_map(|gap| [gap.0, gap.1]);
            hash = continued(hash, words.map(u64::from));
        }
        if let Self::Graph(graph) = self {
            let words = graph
                .entries()
                .flat_map(|(a, b, weight)| [a as u64, b as u64, weight.to_bits()]);
            return Ok(continued(hash, words));
        }
        if let Self::Sparse(values) = self {
            let words = values
                .iter()
                .flat_map(|(value, (row, column))| [value.to_bits(), row as u64, column as u64]);
            return Ok(continued(hash, words));
        }
        self.each_group(|_, rows| {
            hash = continued(hash, rows.iter().map(|value| value.to_bits()));
            Ok(())
        })?;
        Ok(hash)
    }
}

/// What says that a graph has no columns.
fn no_columns() -> GenerateError {
    GenerateError::OfGraph {
        what: "a table of numbers".into(),
    }
}

/// Whether squares of a number can be summed over many rows and columns.
fn fits(value: f64) -> bool {
    value.abs() <= 1e140
}

/// Whether all rows hold the same numbers, zeros that are written out or not.
fn all_equal(values: CsMatView<'_, f64>) -> bool {
    let rows = if values.is_csr() {
        values.to_owned()
    } else {
        values.to_csr()
    };
    let numbers = |row: usize| -> Vec<(usize, f64)> {
        let row = rows.outer_view(row);
        row.iter()
            .flat_map(|row| row.iter())
            .filter(|(_, x)| **x != 0.0)
            .map(|(column, &x)| (column, x))
            .collect()
    };
    let first = numbers(0);
    (1..rows.rows()).all(|row| numbers(row) == first)
}

#[cfg(test)]
mod tests {
    use sprs::TriMat;

    use super::*;

    /// A table cut into groups of rows.
    struct Cut(Vec<Array2<f64>>);

    impl RowGroups for Cut {
        fn dim(&self) -> (usize, usize) {
            (self.0.iter().map(Array2::nrows).sum(), self.0[0].ncols())
        }

        fn groups(&self) -> usize {
            self.0.len()
        }

        fn read(&self, group: usize) -> Result<Array2<f64>, String> {
            Ok(self.0[group].clone())
        }
    }

    #[test]
    fn groups_are_the_table() {
        let table = Array2::from_shape_fn((10, 3), |(i, p)| (i * i + p) as f64);
        let cut = Cut([0..4, 4..4, 4..9, 9..10]
            .map(|rows| table.slice(s![rows, ..]).to_owned())
            .to_vec());
        let view = TableView::Groups(&cut);
        assert_eq!((view.dim(), view.check()), ((10, 3), Ok(())));
        assert_eq!(view.dense().unwrap(), table);
        assert_eq!(
            view.select(&[0, 3, 4, 9]).unwrap(),
            table.select(Axis(0), &[0, 3, 4, 9])
        );
        assert_eq!(
            view.fingerprint(),
            TableView::from(table.view()).fingerprint()
        );
        let mut wrong = cut.0.clone();
        wrong[2][[1, 2]] = f64::NAN;
        let wrong = Cut(wrong);
        assert!(matches!(
            TableView::Groups(&wrong).check(),
            Err(GenerateError::NotFinite {
                row: 5,
                column: 2,
                ..
            })
        ));
        let equal = Cut(vec![Array2::ones((2, 2)), Array2::ones((3, 2))]);
        assert_eq!(
            TableView::Groups(&equal).check(),
            Err(GenerateError::Constant { rows: 5 })
        );
    }

    #[test]
    fn sparse_tables_are_checked_as_dense_ones() {
        let check = |entries: &[(usize, usize, f64)]| {
            let mut table = TriMat::new((3, 2));
            entries
                .iter()
                .for_each(|&(row, column, value)| table.add_triplet(row, column, value));
            let table = table.to_csr::<usize>();
            let (sparse, dense) = (
                TableView::from(table.view()),
                TableView::from(table.view()).dense().unwrap(),
            );
            let rows = (
                sparse.select(&[0, 2]).unwrap(),
                dense.select(Axis(0), &[0, 2]),
            );
            assert!(
                format!("{:?}", rows.0) == format!("{:?}", rows.1),
                "NaN is not equal to itself"
            );
            let answer = sparse.check();
            assert!(
                format!("{answer:?}") == format!("{:?}", TableView::from(dense.view()).check())
            );
            answer
        };
        assert_eq!(check(&[(0, 1, 2.0)]), Ok(()));
        assert_eq!(
            check(&[(0, 1, 0.0)]),
            Err(GenerateError::Constant { rows: 3 })
        );
        assert_eq!(
            check(&[(0, 1, 2.0), (1, 1, 2.0), (2, 1, 2.0)]),
            Err(GenerateError::Constant { rows: 3 })
        );
        assert!(matches!(
            check(&[(2, 0, f64::NAN)]),
            Err(GenerateError::NotFinite {
                row: 2,
                column: 0,
                ..
            })
        ));
    }
}
