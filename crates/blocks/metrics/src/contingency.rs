//! One table of how two clusterings share their objects.

use std::collections::BTreeMap;

use partita_core::{BaseClustering, Ensemble, Partition};

use crate::MetricsError;

/// Tables up to this many places are counted in an array; larger ones by sorting pairs.
const DENSE_PLACES: usize = 1 << 20;

/// How many objects cluster `i` of one clustering shares with cluster `j` of another.
///
/// By convention the rows are the clustering that was found and the columns the true one. Only cells that
/// are not zero are held, so two clusterings into 65,000 clusters each take no more than a few megabytes.
/// Empty clusters take no part in any index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contingency {
    rows: Vec<u64>,
    columns: Vec<u64>,
    cells: Vec<Cell>,
    objects: u64,
}

/// A cell that is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) row: u32,
    pub(crate) column: u32,
    pub(crate) count: u64,
}

impl Contingency {
    /// The table of two partitions of the same objects.
    ///
    /// # Errors
    /// [`MetricsError::Sizes`] if they do not label the same number of objects, [`MetricsError::Empty`] if they
    /// label none.
    ///
    /// # Cost
    /// O(n + K L) time while the table has at most 2²⁰ places, O(n log n) beyond.
    pub fn new(a: &Partition, b: &Partition) -> Result<Self, MetricsError> {
        check_sizes(a.objects(), b.objects())?;
        let pairs = a.labels().iter().copied().zip(b.labels().iter().copied());
        Self::count(pairs, a.clusters(), b.clusters())
    }

    /// The table of two base clusterings over the objects that both label.
    ///
    /// # Errors
    /// [`MetricsError::NoSuchBase`] for an index out of range, [`MetricsError::Empty`] if no object is labelled by
    /// both.
    pub fn of_bases(ensemble: &Ensemble, a: usize, b: usize) -> Result<Self, MetricsError> {
        let (rows, columns) = (check_base(ensemble, a)?, check_base(ensemble, b)?);
        Self::count(both(ensemble.column(a), ensemble.column(b)), rows, columns)
    }

    /// The table of a partition and a base clustering over the objects that the latter labels.
    ///
    /// # Errors
    /// As [`Contingency::new`] and [`Contingency::of_bases`].
    pub fn with_base(
        partition: &Partition,
        ensemble: &Ensemble,
        base: usize,
    ) -> Result<Self, MetricsError> {
        check_sizes(partition.objects(), ensemble.objects())?;
        let columns = check_base(ensemble, base)?;
        let labels = partition.labels().iter().map(|&label| Some(label as usize));
        Self::count(
            both(labels, ensemble.column(base)),
            partition.clusters(),
            columns,
        )
    }

    fn count(
        pairs: impl Iterator<Item = (u32, u32)>,
        rows: usize,
        columns: usize,
    ) -> Result<Self, MetricsError> {
        let cells = if rows.saturating_mul(columns) <= DENSE_PLACES {
            count_dense(pairs, rows, columns)
        } else {
            count_sorted(pairs)
        };
        Self::of_cells(cells, rows, columns)
    }

    /// The table of so many rows and columns in which cell (i, j) has `count(i, j)` objects.
    ///
    /// # Errors
    /// [`MetricsError::Empty`] if all are 0.
    pub fn of_counts(
        rows: usize,
        columns: usize,
        count: impl Fn(usize, usize) -> u64,
    ) -> Result<Self, MetricsError> {
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let cell = |(row, column)| Cell {
            row: row as u32,
            column: column as u32,
            count: count(row, column),
        };
        Self::of_cells(
            places.map(cell).filter(|cell| cell.count > 0).collect(),
            rows,
            columns,
        )
    }

    /// The largest Jaccard coefficient of each row with a column; none of an empty row.
    pub(crate) fn jaccard(&self) -> Vec<Option<f64>> {
        let mut best: Vec<Option<f64>> = vec![None; self.rows.len()];
        for cell in &self.cells {
            let (row, column) = (
                self.rows[cell.row as usize],
                self.columns[cell.column as usize],
            );
            let coefficient = cell.count as f64 / (row + column - cell.count) as f64;
            let best = &mut best[cell.row as usize];
            *best = Some(best.map_or(coefficient, |best| best.max(coefficient)));
        }
        best
    }

    fn of_cells(cells: Vec<Cell>, rows: usize, columns: usize) -> Result<Self, MetricsError> {
        let mut table = Self {
            rows: vec![0; rows],
            columns: vec![0; columns],
            cells,
            objects: 0,
        };
        for cell in &table.cells {
            table.rows[cell.row as usize] += cell.count;
            table.columns[cell.column as usize] += cell.count;
            table.objects += cell.count;
        }
        if table.objects == 0 {
            Err(MetricsError::Empty)
        } else {
            Ok(table)
        }
    }

    /// Objects counted, n.
    pub fn objects(&self) -> u64 {
        self.objects
    }

    /// Objects in each cluster of the first clustering, empty ones included.
    pub fn row_sizes(&self) -> &[u64] {
        &self.rows
    }

    /// Objects in each cluster of the second clustering, empty ones included.
    pub fn column_sizes(&self) -> &[u64] {
        &self.columns
    }

    /// Cells that are not zero as `(row, column, objects)`, row by row.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = (usize, usize, u64)> + '_ {
        self.cells
            .iter()
            .map(|cell| (cell.row as usize, cell.column as usize, cell.count))
    }

    pub(crate) fn entries(&self) -> &[Cell] {
        &self.cells
    }

    /// The table with rows and columns swapped.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let swap = |cell: &Cell| Cell {
            row: cell.column,
            column: cell.row,
            count: cell.count,
        };
        let mut cells: Vec<Cell> = self.cells.iter().map(swap).collect();
        cells.sort_unstable_by_key(|cell| (cell.row, cell.column));
        Self {
            rows: self.columns.clone(),
            columns: self.rows.clone(),
            cells,
            objects: self.objects,
        }
    }
}

/// Cells of a table of weights: row, column, weight above 0.
pub(crate) type WeightedCells = BTreeMap<(usize, usize), f64>;

/// The table of a partition (rows) and a base clustering (columns) over the objects that the latter labels, in which an object of weight w
/// counts as w objects.
pub(crate) fn weighted_cells(
    partition: &Partition,
    ensemble: &Ensemble,
    base: usize,
    weights: &[f64],
) -> Result<WeightedCells, MetricsError> {
    check_sizes(partition.objects(), ensemble.objects())?;
    check_sizes(weights.len(), ensemble.objects())?;
    check_base(ensemble, base)?;
    let mut cells = WeightedCells::new();
    for ((label, &own), &weight) in ensemble.column(base).zip(partition.labels()).zip(weights) {
        if let (Some(label), true) = (label, weight > 0.0) {
            *cells.entry((own as usize, label)).or_insert(0.0) += weight;
        }
    }
    Ok(cells)
}

pub(crate) fn check_sizes(left: usize, right: usize) -> Result<(), MetricsError> {
    if left == right {
        Ok(())
    } else {
        Err(MetricsError::Sizes { left, right })
    }
}

/// The number of clusters of a base clustering that exists.
pub(crate) fn check_base(ensemble: &Ensemble, base: usize) -> Result<usize, MetricsError> {
    let bases = ensemble.bases();
    bases
        .get(base)
        .map(BaseClustering::clusters)
        .ok_or(MetricsError::NoSuchBase {
            base,
            bases: bases.len(),
        })
}

/// The pairs in which neither label is missing.
fn both(
    a: impl Iterator<Item = Option<usize>>,
    b: impl Iterator<Item = Option<usize>>,
) -> impl Iterator<Item = (u32, u32)> {
    a.zip(b).filter_map(|(a, b)| Some((a? as u32, b? as u32)))
}

fn count_dense(pairs: impl Iterator<Item = (u32, u32)>, rows: usize, columns: usize) -> Vec<Cell> {
    let mut counts = vec![0u64; rows * columns];
    pairs.for_each(|(row, column)| counts[row as usize * columns + column as usize] += 1);
    let cell = |(place, count): (usize, u64)| Cell {
        row: (place / columns) as u32,
        column: (place % columns) as u32,
        count,
    };
    counts
        .into_iter()
        .enumerate()
        .filter(|(_, count)| *count > 0)
        .map(cell)
        .collect()
}

fn count_sorted(pairs: impl Iterator<Item = (u32, u32)>) -> Vec<Cell> {
    let mut places: Vec<u64> = pairs
        .map(|(row, column)| u64::from(row) << 32 | u64::from(column))
        .collect();
    places.sort_unstable();
    let cell = |run: &[u64]| Cell {
        row: (run[0] >> 32) as u32,
        column: run[0] as u32,
        count: run.len() as u64,
    };
    places.chunk_by(|a, b| a == b).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::EnsembleBuilder;

    #[test]
    fn sorting_counts_what_the_array_counts() {
        let pairs: Vec<(u32, u32)> = (0..500u32).map(|i| (i * i % 7, i * 31 % 11)).collect();
        assert_eq!(
            count_dense(pairs.iter().copied(), 7, 11),
            count_sorted(pairs.into_iter())
        );
    }

    #[test]
    fn a_table_of_singletons_stays_small() {
        let labels: Vec<u32> = (0..65_000).collect();
        let a = Partition::new(labels.clone(), 65_534).unwrap();
        let b = Partition::new(labels.into_iter().rev().collect(), 65_534).unwrap();
        let table = Contingency::new(&a, &b).unwrap();
        assert_eq!((table.cells().len(), table.objects()), (65_000, 65_000));
        assert_eq!(table.accuracy(), 1.0);
    }

    #[test]
    fn missing_labels_drop_out() {
        let mut builder = EnsembleBuilder::new(4);
        builder
            .push("a", [Some(0), Some(1), None, Some(1)])
            .unwrap();
        builder
            .push("b", [Some(0), Some(0), Some(1), None])
            .unwrap();
        builder.push("c", [None, None, None, Some(5)]).unwrap();
        let ensemble = builder.finish().unwrap();
        let table = Contingency::of_bases(&ensemble, 0, 1).unwrap();
        assert_eq!(table.cells().collect::<Vec<_>>(), [(0, 0, 1), (1, 0, 1)]);
        assert_eq!(
            (table.row_sizes(), table.column_sizes()),
            (&[1, 1][..], &[2, 0][..])
        );
        assert_eq!(
            table.transposed().cells().collect::<Vec<_>>(),
            [(0, 0, 1), (0, 1, 1)]
        );
        assert_eq!(
            Contingency::of_bases(&ensemble, 1, 2),
            Err(MetricsError::Empty)
        );
        assert_eq!(
            Contingency::of_bases(&ensemble, 3, 0),
            Err(MetricsError::NoSuchBase { base: 3, bases: 3 })
        );
        let short = Partition::new(vec![0], 1).unwrap();
        let sizes = Err(MetricsError::Sizes { left: 1, right: 4 });
        assert_eq!(Contingency::with_base(&short, &ensemble, 0), sizes);
    }
}
