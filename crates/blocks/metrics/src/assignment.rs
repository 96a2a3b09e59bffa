//! Optimal assignment: one-to-one pairs of rows and columns with the largest sum.

/// Nobody.
const NONE: usize = usize::MAX;

/// The column of every row such that the sum of `values` (row by row) is largest; rows that are too many have none.
///
/// Shortest augmenting paths: every row in turn is brought in along the path of least reduced cost to a free column.
///
/// # Cost
/// O(s² l) time for a shorter side of s and a longer of l, O(s l) memory.
///
/// # References
/// D. F. Crouse: On implementing 2D rectangular assignment algorithms, IEEE Trans. Aerospace and Electronic Systems 52(4), 2016.
pub(crate) fn assignment(rows: usize, columns: usize, values: &[f64]) -> Vec<Option<usize>> {
    if rows <= columns {
        let costs = values.iter().map(|value| -value).collect();
        return Paths::new(rows, columns, costs).solve().0;
    }
    let costs = (0..rows * columns).map(|at| -values[at % rows * columns + at / rows]);
    Paths::new(columns, rows, costs.collect()).solve().1
}

/// The state of a search: at least as many columns as rows.
struct Paths {
    rows: usize,
    columns: usize,
    costs: Vec<f64>,
    row_price: Vec<f64>,
    column_price: Vec<f64>,
    column_of: Vec<usize>,
    row_of: Vec<usize>,
    /// Length of the shortest path to a column, and the row before it on the path.
    shortest: Vec<f64>,
    before: Vec<usize>,
}

impl Paths {
    fn new(rows: usize, columns: usize, costs: Vec<f64>) -> Self {
        Self {
            rows,
            columns,
            costs,
            row_price: vec![0.0; rows],
            column_price: vec![0.0; columns],
            column_of: vec![NONE; rows],
            row_of: vec![NONE; columns],
            shortest: vec![0.0; columns],
            before: vec![NONE; columns],
        }
    }

    /// The column of every row, and the row of every column.
    fn solve(mut self) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
        for row in 0..self.rows {
            let mut column = self.bring_in(row);
            loop {
                let own = self.before[column];
                self.row_of[column] = own;
                std::mem::swap(&mut self.column_of[own], &mut column);
                if own == row {
                    break;
                }
            }
        }
        (options(self.column_of), options(self.row_of))
    }

    /// The free column at the end of the shortest path from a row; prices are brought up to date. Of equal columns a free one is taken.
    fn bring_in(&mut self, start: usize) -> usize {
        self.shortest.fill(f64::INFINITY);
        let mut left: Vec<usize> = (0..self.columns).rev().collect();
        let mut seen_rows = Vec::new();
        let mut seen_columns = Vec::new();
        let mut length = 0.0;
        let mut row = start;
        let end = loop {
            seen_rows.push(row);
            let mut least = f64::INFINITY;
            let mut nearest = 0;
            for (place, &column) in left.iter().enumerate() {
                let cost = self.costs[row * self.columns + column];
                let path = length + cost - self.row_price[row] - self.column_price[column];
                if path < self.shortest[column] {
                    self.before[column] = row;
                    self.shortest[column] = path;
                }
                let shortest = self.shortest[column];
                if shortest < least || (shortest == least && self.row_of[column] == NONE) {
                    least = shortest;
                    nearest = place;
                }
            }
            length = least;
            let column = left.swap_remove(nearest);
            seen_columns.push(column);
            match self.row_of[column] {
                NONE => break column,
                next => row = next,
            }
        };
        self.row_price[start] += length;
        for &row in &seen_rows[1..] {
            self.row_price[row] += length - self.shortest[self.column_of[row]];
        }
        for column in seen_columns {
            self.column_price[column] -= length - self.shortest[column];
        }
        end
    }
}

fn options(places: Vec<usize>) -> Vec<Option<usize>> {
    let option = |place| (place != NONE).then_some(place);
    places.into_iter().map(option).collect()
}

#[cfg(test)]
mod tests {
    use partita_core::{Seed, rand::RngExt};

    use super::*;

    /// The same pairs as another implementation of the algorithm, ties among them.
    #[test]
    fn pairs_are_those_of_the_crate_lsap() {
        let mut rng = Seed::new(5).rng();
        for case in 0..2000 {
            let rows = rng.random_range(1..12);
            let columns = rng.random_range(1..12);
            let values: Vec<f64> = (0..rows * columns)
                .map(|_| match case % 3 {
                    0 => f64::from(rng.random_range(0..4)),
                    1 => rng.random::<f64>() - 0.5,
                    _ => f64::from(rng.random_range(0..40)),
                })
                .collect();
            let (left, right) = lsap::solve(rows, columns, &values, true).unwrap();
            let mut expected = vec![None; rows];
            for (row, column) in left.into_iter().zip(right) {
                expected[row] = Some(column);
            }
            assert_eq!(
                assignment(rows, columns, &values),
                expected,
                "{rows} × {columns}: {values:?}"
            );
        }
    }
}
