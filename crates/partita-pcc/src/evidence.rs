//! What the solvers ask of pair counts.

use crate::kernel::PairCounts;
use crate::table::{Layout, Table};

/// Room for what one object sees of the others.
#[derive(Debug)]
pub struct Near {
    pub(crate) table: Table,
    pub(crate) counts: PairCounts,
}

impl Near {
    pub(crate) fn new(clusters: usize) -> Self {
        Self { table: Table::zeros(0, clusters, Layout::Columns), counts: PairCounts::default() }
    }
}

/// How much the N of different pairs of all objects differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evenness {
    /// They are all this.
    Even(f64),
    /// The smallest is at least a quarter of the largest.
    Nearly,
    /// More, or not all pairs are known.
    Uneven,
}

/// Pair counts as the solvers read them.
pub trait View: Sync {
    /// Number of objects, n.
    fn count(&self) -> usize;

    /// How this evidence likes its tables.
    fn layout(&self) -> Layout;

    /// What object `i` sees: the objects it has pairs with, by columns, and the counts of these pairs. An object is
    /// no pair with itself: its own counts are 0.
    fn look<'a>(&self, i: usize, table: &'a Table, near: &'a mut Near) -> (&'a Table, &'a mut PairCounts);

    /// Objects in the sight of `i`, about.
    fn reach(&self, i: usize) -> usize;

    /// The objects in the sight of `i`; none where these are all objects in order.
    fn partners(&self, i: usize) -> Option<&[u32]>;

    /// As [`look`](Self::look), but the counts of objects up to `i` are 0, and the place from which on there are others.
    fn look_after<'a>(&self, i: usize, table: &'a Table, near: &'a mut Near) -> (&'a Table, &'a PairCounts, usize);

    /// Every pair among `objects`, which rise, once: `(at, other, c, n)` with the places of the two in `objects`, `at < other`.
    fn inside(&self, objects: &[usize], visit: &mut dyn FnMut(usize, usize, f64, f64));

    /// `1 − c/N` of every pair as a condensed matrix, 1 where no base clustering saw both; none where there are not all
    /// pairs.
    fn condensed(&self) -> Option<Vec<f32>>;

    /// How much the N of different pairs differ.
    fn evenness(&self) -> Evenness {
        Evenness::Uneven
    }

    /// `Σ_j N_ij` of object `i`.
    fn weight(&self, i: usize) -> f64;
}

/// Pair counts: [`crate::Dense`] or [`crate::Sparse`].
pub trait Evidence: View {
    /// Number of objects, n.
    fn objects(&self) -> usize {
        self.count()
    }
}

impl<T: View> Evidence for T {}
