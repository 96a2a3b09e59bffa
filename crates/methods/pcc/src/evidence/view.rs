//! Pair counts as the solvers read them: what one object sees of the others.

use crate::copy_pairs::CopyPairs;
use crate::memberships::{Layout, Memberships};
use crate::pair_counts::PairCounts;

/// Scratch space for what one object sees of the others.
#[derive(Debug)]
pub struct LocalPairs {
    pub(crate) table: Memberships,
    pub(crate) counts: PairCounts,
}

impl LocalPairs {
    pub(crate) fn new(clusters: usize) -> Self {
        Self {
            table: Memberships::zeros(0, clusters, Layout::Columns),
            counts: PairCounts::default(),
        }
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

/// Pair counts as the solvers read them. Sealed: it cannot be named outside this crate, since it speaks of the tables and scratch
/// space that the solvers share. Other counts come in through [`SparseEvidence`](partita_coassoc::SparseEvidence) or
/// [`CoAssociation`](partita_coassoc::CoAssociation).
pub trait View: Sync {
    /// Number of objects, n.
    fn count(&self) -> usize;

    /// The layout in which this evidence reads memberships.
    fn layout(&self) -> Layout;

    /// What object `i` sees: the objects it has pairs with, by columns, and the counts of these pairs. An object is
    /// not a pair with itself: its own counts are 0.
    fn pairs_of<'a>(
        &self,
        i: usize,
        table: &'a Memberships,
        near: &'a mut LocalPairs,
    ) -> (&'a Memberships, &'a mut PairCounts);

    /// Has the processor fetch what [`pairs_of`](Self::pairs_of) reads of `table` for object `i`, which takes long where partners are
    /// anywhere in memory. It changes nothing but the time.
    fn prefetch_partners(&self, _i: usize, _table: &Memberships) {}

    /// The objects that `i` has pairs with, and the counts of these pairs into `counts`; none where these are all objects in order.
    fn partners_and_counts(&self, _i: usize, _counts: &mut PairCounts) -> Option<&[u32]> {
        None
    }

    /// Number of objects that `i` has pairs with, about.
    fn degree(&self, i: usize) -> usize;

    /// The objects that `i` has pairs with; none where these are all objects in order.
    fn partners(&self, i: usize) -> Option<&[u32]>;

    /// As [`pairs_of`](Self::pairs_of), but the counts of objects up to `i` are 0, and the place from which on there are others.
    fn pairs_after<'a>(
        &self,
        i: usize,
        table: &'a Memberships,
        near: &'a mut LocalPairs,
    ) -> (&'a Memberships, &'a PairCounts, usize);

    /// Every pair among `objects`, which rise, once: `(at, other, c, n)` with the places of the two in `objects`, `at < other`.
    fn pairs_within(&self, objects: &[usize], visit: &mut dyn FnMut(usize, usize, f64, f64));

    /// `1 − c/N` of every pair as a condensed matrix, 1 where no base clustering saw both; none where there are not all
    /// pairs.
    fn condensed(&self) -> Option<Vec<f32>>;

    /// How much the N of different pairs differ.
    fn evenness(&self) -> Evenness {
        Evenness::Uneven
    }

    /// The pairs among the copies that object `i` stands for, which [`pairs_of`](Self::pairs_of) leaves out.
    fn copy_pairs(&self, _i: usize) -> CopyPairs {
        CopyPairs::default()
    }

    /// Whether object `i` is a copy of the one before it: always together with it, and seen with every other just as often. False where
    /// not all pairs are known.
    fn is_copy_of_previous(&self, _i: usize) -> bool {
        false
    }

    /// How many objects each stands for; none where each stands for itself alone.
    fn multiplicities(&self) -> Option<&[f64]> {
        None
    }

    /// `Σ_j N_ij` of object `i`, with the pairs among its copies.
    fn weight(&self, i: usize) -> f64;
}

/// Pair counts: [`crate::Dense`], [`crate::Sparse`], [`crate::NormalisedCounts`] of either, or [`crate::WeightedPairs`] of
/// these. Solvers take it as `&dyn Evidence`; it
/// cannot be implemented elsewhere.
pub trait Evidence: View {
    /// Number of objects, n.
    fn objects(&self) -> usize {
        self.count()
    }
}

impl<T: View> Evidence for T {}
