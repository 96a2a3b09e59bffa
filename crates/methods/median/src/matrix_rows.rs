//! Rows that a co-association is made of: labels, or shares and weights.

use partita_core::Label;
use partita_kmeans::labels::WeightedLabelRows;

use crate::fractional_rows::FractionalRows;

/// Rows that the matrix is made of.
pub(crate) trait MatrixRows: Sync {
    /// Distinct rows.
    fn rows(&self) -> usize;

    /// Objects that a row stands for.
    fn objects(&self, row: usize) -> f64;

    /// Base clustering, base cluster and share of every entry of a row.
    fn shares(&self, row: usize) -> impl Iterator<Item = (usize, usize, f64)>;

    /// Base clusterings that know a row.
    fn seen_by(&self, row: usize) -> impl Iterator<Item = usize>;

    /// Clusters of all base clusterings.
    fn side(&self) -> usize;

    /// The first object with a row.
    fn first_object(&self, row: usize) -> usize;

    /// The row of every object.
    fn row_of_object(&self) -> Vec<usize>;
}

impl<L: Label> MatrixRows for WeightedLabelRows<'_, L> {
    fn rows(&self) -> usize {
        self.len()
    }

    fn objects(&self, row: usize) -> f64 {
        f64::from(self.weight(row))
    }

    fn shares(&self, row: usize) -> impl Iterator<Item = (usize, usize, f64)> {
        self.places(row).map(|(u, place)| (u, place, 1.0))
    }

    fn seen_by(&self, row: usize) -> impl Iterator<Item = usize> {
        self.places(row).map(|(u, _)| u)
    }

    fn side(&self) -> usize {
        self.base_clusters()
    }

    fn first_object(&self, row: usize) -> usize {
        self.first(row)
    }

    fn row_of_object(&self) -> Vec<usize> {
        self.expand(&(0..self.len()).collect::<Vec<_>>())
    }
}

impl MatrixRows for FractionalRows<'_> {
    fn rows(&self) -> usize {
        self.len()
    }

    fn objects(&self, row: usize) -> f64 {
        self.weight(row)
    }

    fn shares(&self, row: usize) -> impl Iterator<Item = (usize, usize, f64)> {
        self.entries(row)
    }

    fn seen_by(&self, row: usize) -> impl Iterator<Item = usize> {
        self.known(row)
    }

    fn side(&self) -> usize {
        self.base_clusters()
    }

    fn first_object(&self, row: usize) -> usize {
        self.first_object(row)
    }

    fn row_of_object(&self) -> Vec<usize> {
        self.row_of_object()
    }
}
