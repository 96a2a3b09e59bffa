//! Optimal one-to-one matching of clusters.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use partita_core::ndarray::ArrayView2;

use crate::assignment::assignment;
use crate::contingency::Cell;
use crate::{Contingency, MetricsError};

/// Tables up to this many places are matched as dense matrices; larger ones along their cells.
const DENSE_PLACES: usize = 1 << 17;

/// A one-to-one matching of rows to columns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Matching {
    /// The column of every row, or none where columns ran out.
    pub columns: Vec<Option<usize>>,
    /// Sum of the matched entries.
    pub total: f64,
}

/// Matches rows to columns of an overlap matrix so that the sum of the matched entries is largest. As many
/// pairs are matched as the shorter side has members. The same matrix always gives the same matching.
///
/// # Errors
/// [`MetricsError::NotFinite`] for the first entry that is not a finite number.
///
/// # Cost
/// O(s² l) time for a shorter side of s and a longer of l (shortest augmenting paths), O(s l)
/// memory.
///
/// ```
/// use partita_core::ndarray::array;
///
/// let overlap = array![[3.0, 9.0], [1.0, 8.0], [0.0, 0.0]];
/// let matching = partita_metrics::matching(overlap.view()).unwrap();
/// assert_eq!((matching.columns, matching.total), (vec![Some(0), Some(1), None], 11.0));
/// ```
pub fn matching(overlap: ArrayView2<'_, f64>) -> Result<Matching, MetricsError> {
    if let Some(((row, column), &value)) =
        overlap.indexed_iter().find(|(_, value)| !value.is_finite())
    {
        return Err(MetricsError::NotFinite { row, column, value });
    }
    let (rows, columns) = overlap.dim();
    let values: Vec<f64> = overlap.iter().copied().collect();
    let columns = assignment(rows, columns, &values);
    let pairs = columns.iter().enumerate();
    let total = pairs
        .filter_map(|(row, column)| Some(overlap[[row, (*column)?]]))
        .sum();
    Ok(Matching { columns, total })
}

impl Contingency {
    /// The one-to-one matching of rows to columns that shares the most objects: the column of every row, or
    /// none for rows that would share nothing.
    ///
    /// # Cost
    /// As [`matching`] while the table has at most 2¹⁷ places; beyond, one Dijkstra search a row along the cells
    /// that are not zero, which ends as soon as a free column is nearest.
    pub fn matching(&self) -> Vec<Option<usize>> {
        if self
            .row_sizes()
            .len()
            .saturating_mul(self.column_sizes().len())
            <= DENSE_PLACES
        {
            match_dense(self)
        } else {
            Sparse::new(self).solve()
        }
    }

    /// Objects that the optimal matching of clusters puts together.
    pub fn matched_objects(&self) -> u64 {
        let columns = self.matching();
        self.cells()
            .filter(|&(row, column, _)| columns[row] == Some(column))
            .map(|(_, _, count)| count)
            .sum()
    }
}

fn match_dense(table: &Contingency) -> Vec<Option<usize>> {
    let (rows, columns) = (table.row_sizes().len(), table.column_sizes().len());
    let mut values = vec![0.0; rows * columns];
    table
        .cells()
        .for_each(|(row, column, count)| values[row * columns + column] = count as f64);
    let mut matched = assignment(rows, columns, &values);
    for (row, column) in matched.iter_mut().enumerate() {
        *column = column.filter(|column| values[row * columns + column] > 0.0);
    }
    matched
}

const FREE: u32 = u32::MAX;

/// Shortest augmenting paths over the cells of a table. Every row also has a column of its own with nothing
/// in it, which is why a perfect matching of the rows always exists.
struct Sparse<'a> {
    cells: &'a [Cell],
    starts: Vec<usize>,
    row_price: Vec<i64>,
    column_price: Vec<i64>,
    row_of: Vec<u32>,
    column_of: Vec<u32>,
    distance: Vec<i64>,
    parent: Vec<u32>,
    touched: Vec<u32>,
}

impl<'a> Sparse<'a> {
    fn new(table: &'a Contingency) -> Self {
        let (rows, columns) = (table.row_sizes().len(), table.column_sizes().len());
        let cells = table.entries();
        Self {
            cells,
            starts: (0..=rows)
                .map(|row| cells.partition_point(|cell| (cell.row as usize) < row))
                .collect(),
            row_price: vec![0; rows],
            column_price: vec![0; columns],
            row_of: vec![FREE; columns],
            column_of: vec![FREE; rows],
            distance: vec![i64::MAX; columns],
            parent: vec![FREE; columns],
            touched: Vec::new(),
        }
    }

    fn solve(mut self) -> Vec<Option<usize>> {
        (0..self.column_of.len()).for_each(|row| self.insert(row as u32));
        self.column_of
            .iter()
            .map(|&column| (column != FREE).then_some(column as usize))
            .collect()
    }

    /// Finds the cheapest way to give `root` a column and swaps along it.
    fn insert(&mut self, root: u32) {
        let mut heap = BinaryHeap::new();
        // Rows whose distance is final, with it; the last step may leave one of them without a column.
        let mut settled = vec![(root, 0i64)];
        let (mut row, mut reached) = (root, 0);
        let mut alone = (i64::MAX, root);
        let end = loop {
            alone = alone.min((reached - self.row_price[row as usize], row));
            self.relax(row, reached, &mut heap);
            let next = loop {
                match heap.pop() {
                    Some(Reverse((distance, column)))
                        if distance > self.distance[column as usize] => {}
                    next => break next,
                }
            };
            match next {
                Some(Reverse((distance, column))) if distance < alone.0 => {
                    reached = distance;
                    if self.row_of[column as usize] == FREE {
                        break Some(column);
                    }
                    row = self.row_of[column as usize];
                    settled.push((row, reached));
                }
                _ => {
                    reached = alone.0;
                    break None;
                }
            }
        };
        self.reprice(&settled, reached);
        match end {
            Some(column) => self.swap(column, root),
            None => self.leave(alone.1, root),
        }
        self.touched
            .drain(..)
            .for_each(|column| self.distance[column as usize] = i64::MAX);
    }

    fn relax(&mut self, row: u32, reached: i64, heap: &mut BinaryHeap<Reverse<(i64, u32)>>) {
        for cell in &self.cells[self.starts[row as usize]..self.starts[row as usize + 1]] {
            let column = cell.column as usize;
            let reduced =
                -(cell.count as i64) - self.row_price[row as usize] - self.column_price[column];
            let distance = reached + reduced;
            if distance < self.distance[column] {
                if self.distance[column] == i64::MAX {
                    self.touched.push(cell.column);
                }
                (self.distance[column], self.parent[column]) = (distance, row);
                heap.push(Reverse((distance, cell.column)));
            }
        }
    }

    /// Keeps all reduced costs of settled rows at least 0, and those of matched cells 0.
    fn reprice(&mut self, settled: &[(u32, i64)], reached: i64) {
        for &(row, distance) in settled {
            self.row_price[row as usize] += reached - distance;
            let column = self.column_of[row as usize];
            if column != FREE {
                self.column_price[column as usize] -= reached - distance;
            }
        }
    }

    /// Gives `column` to the row that reached it, that row's column to the one before, down to `root`.
    fn swap(&mut self, mut column: u32, root: u32) {
        loop {
            let row = self.parent[column as usize];
            self.row_of[column as usize] = row;
            std::mem::swap(&mut self.column_of[row as usize], &mut column);
            if row == root {
                break;
            }
        }
    }

    /// Leaves `row` without a column and passes the one it had on.
    fn leave(&mut self, row: u32, root: u32) {
        let column = std::mem::replace(&mut self.column_of[row as usize], FREE);
        if row != root {
            self.swap(column, root);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{Partition, Seed, ndarray::Array2};
    use rand::RngExt;

    /// The best sum over all ways to give rows different columns, or none.
    fn best(values: &Array2<f64>, row: usize, taken: &mut Vec<bool>) -> f64 {
        if row == values.nrows() {
            return 0.0;
        }
        let mut most = best(values, row + 1, taken);
        for column in 0..values.ncols() {
            if !taken[column] {
                taken[column] = true;
                most = most.max(values[[row, column]] + best(values, row + 1, taken));
                taken[column] = false;
            }
        }
        most
    }

    fn drawn(seed: u64) -> Contingency {
        let mut rng = Seed::new(seed).rng();
        let (k, l, n) = (
            rng.random_range(1..=6),
            rng.random_range(1..=6),
            rng.random_range(1..40),
        );
        let mut labels = |clusters: u32| (0..n).map(|_| rng.random_range(0..clusters)).collect();
        let a = Partition::new(labels(k), k as usize).unwrap();
        let b = Partition::new(labels(l), l as usize).unwrap();
        Contingency::new(&a, &b).unwrap()
    }

    fn total(table: &Contingency, columns: &[Option<usize>]) -> u64 {
        let mut seen: Vec<usize> = columns.iter().flatten().copied().collect();
        let matched = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), matched, "a column is matched once");
        table
            .cells()
            .filter(|&(row, column, _)| columns[row] == Some(column))
            .map(|cell| cell.2)
            .sum()
    }

    #[test]
    fn all_three_matchings_agree_with_trying_everything() {
        for seed in 0..300 {
            let table = drawn(seed);
            let shape = (table.row_sizes().len(), table.column_sizes().len());
            let mut values = Array2::zeros(shape);
            table
                .cells()
                .for_each(|(row, column, count)| values[[row, column]] = count as f64);
            let most = best(&values, 0, &mut vec![false; shape.1]);
            assert_eq!(matching(values.view()).unwrap().total, most, "seed {seed}");
            assert_eq!(
                total(&table, &match_dense(&table)) as f64,
                most,
                "seed {seed}"
            );
            assert_eq!(
                total(&table, &Sparse::new(&table).solve()) as f64,
                most,
                "seed {seed}"
            );
        }
    }

    #[test]
    fn sparse_and_dense_agree_on_larger_tables() {
        for seed in 0..10 {
            let mut rng = Seed::new(seed).rng();
            let mut labels = || (0..2000).map(|_| rng.random_range(0..300)).collect();
            let a = Partition::new(labels(), 300).unwrap();
            let b = Partition::new(labels(), 300).unwrap();
            let table = Contingency::new(&a, &b).unwrap();
            assert_eq!(
                total(&table, &match_dense(&table)),
                total(&table, &Sparse::new(&table).solve())
            );
        }
    }

    #[test]
    fn what_is_not_finite_is_named_and_nothing_matches_nothing() {
        let bad = partita_core::ndarray::array![[1.0, f64::INFINITY]];
        let error = MetricsError::NotFinite {
            row: 0,
            column: 1,
            value: f64::INFINITY,
        };
        assert_eq!(matching(bad.view()), Err(error));
        let none = matching(Array2::zeros((2, 0)).view()).unwrap();
        assert_eq!((none.columns, none.total), (vec![None, None], 0.0));
    }
}
