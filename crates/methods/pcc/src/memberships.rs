//! The membership matrix (soft assignments, n × K) in the layout that the kernels read.

use partita_core::ndarray::{Array2, ArrayView2};

use partita_kernels::LANES;

/// Probabilities at or below this become 0.
pub(crate) const SNAP: f64 = 1e-12;

/// How a [`Memberships`] lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Cluster by cluster, each padded with zeros to a multiple of [`LANES`].
    Columns,
    /// Object by object.
    Rows,
}

/// n objects × K clusters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Memberships {
    pub(crate) values: Vec<f64>,
    pub(crate) objects: usize,
    pub(crate) clusters: usize,
    pub(crate) stride: usize,
    pub(crate) layout: Layout,
}

impl Memberships {
    pub(crate) fn zeros(objects: usize, clusters: usize, layout: Layout) -> Self {
        let padded = objects.next_multiple_of(LANES);
        let (stride, lines) = match layout {
            Layout::Columns => (padded, clusters),
            Layout::Rows => (clusters, objects),
        };
        Self {
            values: vec![0.0; stride * lines],
            objects,
            clusters,
            stride,
            layout,
        }
    }

    pub(crate) fn of(rows: ArrayView2<'_, f64>, layout: Layout) -> Self {
        let mut table = Self::zeros(rows.nrows(), rows.ncols(), layout);
        for ((i, k), &value) in rows.indexed_iter() {
            let place = table.place(i, k);
            table.values[place] = value;
        }
        table
    }

    pub(crate) fn to_rows(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.objects, self.clusters), |(i, k)| self.get(i, k))
    }

    /// Objects a local column holds when the table lies by columns.
    #[inline]
    pub(crate) fn column(&self, k: usize) -> &[f64] {
        debug_assert_eq!(self.layout, Layout::Columns);
        &self.values[k * self.stride..(k + 1) * self.stride]
    }

    #[inline]
    pub(crate) fn place(&self, i: usize, k: usize) -> usize {
        match self.layout {
            Layout::Columns => k * self.stride + i,
            Layout::Rows => i * self.stride + k,
        }
    }

    #[inline]
    pub(crate) fn get(&self, i: usize, k: usize) -> f64 {
        self.values[self.place(i, k)]
    }

    /// Row `i` into `row`, K values.
    pub(crate) fn read(&self, i: usize, row: &mut [f64]) {
        for (k, y) in row.iter_mut().enumerate() {
            *y = self.get(i, k);
        }
    }

    /// `row` into row `i`.
    pub(crate) fn write(&mut self, i: usize, row: &[f64]) {
        for (k, &y) in row.iter().enumerate() {
            let place = self.place(i, k);
            self.values[place] = y;
        }
    }
}
