//! Counts for all pairs, as packed strict upper triangles.

use partita_core::ndarray::ArrayView2;
use partita_core::{Ensemble, Flow, Label, LabelRows, MemoryBudget, Watch};
use rayon::prelude::*;

use crate::CoassocError;

/// For every pair of objects, how often they are together and how often both are labelled.
///
/// Pairs lie as in SciPy's condensed matrices: (0,1), (0,2), …, (0,n−1), (1,2), …; one byte a count while
/// there are at most 255 base clusterings, two otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoAssociation {
    objects: usize,
    base_clusterings: usize,
    together: Store,
    seen: Option<Store>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Store {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

/// Counts of pairs, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts<'a> {
    /// At most 255 base clusterings.
    Bytes(&'a [u8]),
    /// More.
    Words(&'a [u16]),
}

impl Counts<'_> {
    /// The count of the pair at this place.
    ///
    /// # Panics
    /// If there is no such pair.
    pub fn at(&self, pair: usize) -> u32 {
        match self {
            Self::Bytes(counts) => u32::from(counts[pair]),
            Self::Words(counts) => u32::from(counts[pair]),
        }
    }
}

/// How often both objects of a pair are labelled, N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen<'a> {
    /// By all M base clusterings, every pair: no label is missing and nothing is stored.
    Always(u32),
    /// Pair by pair.
    Counts(Counts<'a>),
}

impl Seen<'_> {
    /// N of the pair at this place.
    ///
    /// # Panics
    /// If it is stored and there is no such pair.
    pub fn at(&self, pair: usize) -> u32 {
        match self {
            Self::Always(all) => *all,
            Self::Counts(counts) => counts.at(pair),
        }
    }
}

impl Store {
    fn counts(&self) -> Counts<'_> {
        match self {
            Self::Bytes(counts) => Counts::Bytes(counts),
            Self::Words(counts) => Counts::Words(counts),
        }
    }
}

/// The place of pair (i, j), i < j, in a packed triangle over n objects.
pub(crate) const fn place(n: usize, i: usize, j: usize) -> usize {
    i * (2 * n - i - 1) / 2 + (j - i - 1)
}

impl CoAssociation {
    /// Counts all pairs of an ensemble.
    ///
    /// # Errors
    /// [`CoassocError::Budget`] if [`bytes`](Self::bytes) exceeds the budget,
    /// [`CoassocError::TooManyBaseClusterings`] beyond 65,535, [`CoassocError::Interrupted`] if the watch says so.
    ///
    /// # Cost
    /// O(n² M) byte comparisons; [`bytes`](Self::bytes) of memory.
    pub fn count(ensemble: &Ensemble, budget: MemoryBudget, watch: &dyn Watch) -> Result<Self, CoassocError> {
        let (objects, base_clusterings) = (ensemble.objects(), ensemble.bases().len());
        if base_clusterings > usize::from(u16::MAX) {
            return Err(CoassocError::TooManyBaseClusterings { base_clusterings });
        }
        let missing = ensemble.missing() > 0;
        let needed = Self::bytes(objects, base_clusterings, missing);
        budget.check("the co-association of all pairs", needed, "take the sparse evidence of sampled pairs")?;
        let (together, seen) = match ensemble.rows() {
            LabelRows::Bytes(rows) => triangles(rows, missing, watch)?,
            LabelRows::Words(rows) => triangles(rows, missing, watch)?,
        };
        Ok(Self { objects, base_clusterings, together, seen })
    }

    /// Bytes of the counts of so many objects and base clusterings, with missing labels or without.
    pub const fn bytes(objects: usize, base_clusterings: usize, missing: bool) -> u64 {
        let n = objects as u64;
        let width = if base_clusterings <= 255 { 1 } else { 2 };
        n * n.saturating_sub(1) / 2 * width * if missing { 2 } else { 1 }
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.objects
    }

    /// Number of base clusterings, M.
    pub fn base_clusterings(&self) -> usize {
        self.base_clusterings
    }

    /// How often the two objects of each pair are together, c; n (n − 1) / 2 counts.
    pub fn together(&self) -> Counts<'_> {
        self.together.counts()
    }

    /// How often both objects of each pair are labelled, N.
    pub fn seen(&self) -> Seen<'_> {
        self.seen.as_ref().map_or(Seen::Always(self.base_clusterings as u32), |seen| Seen::Counts(seen.counts()))
    }

    /// c and N of two different objects, in either order.
    ///
    /// # Panics
    /// If the objects are the same or out of range.
    pub fn pair(&self, i: usize, j: usize) -> (u32, u32) {
        assert!(i != j && i.max(j) < self.objects, "({i}, {j}) is no pair of {} objects", self.objects);
        let pair = place(self.objects, i.min(j), i.max(j));
        (self.together().at(pair), self.seen().at(pair))
    }

    /// c and N of one object with all others, n values each; 0 for the object itself.
    ///
    /// # Panics
    /// If a slice does not hold n values or the object is out of range.
    pub fn fill_row(&self, i: usize, together: &mut [u16], seen: &mut [u16]) {
        assert!(i < self.objects && together.len() == self.objects && seen.len() == self.objects);
        let (c, n) = (self.together(), self.seen());
        for j in 0..self.objects {
            if i == j {
                (together[j], seen[j]) = (0, 0);
            } else {
                let pair = place(self.objects, i.min(j), i.max(j));
                (together[j], seen[j]) = (c.at(pair) as u16, n.at(pair) as u16);
            }
        }
    }

    /// c / N for every pair; 0 where no base clustering saw both.
    pub fn similarities(&self) -> Vec<f64> {
        self.map(|c, n| if n == 0 { 0.0 } else { f64::from(c) / f64::from(n) })
    }

    /// 1 − c / N for every pair; 1 where no base clustering saw both.
    pub fn dissimilarities(&self) -> Vec<f64> {
        self.map(|c, n| if n == 0 { 1.0 } else { f64::from(n - c) / f64::from(n) })
    }

    /// [`dissimilarities`](Self::dissimilarities) in single precision.
    pub fn dissimilarities_f32(&self) -> Vec<f32> {
        self.map(|c, n| if n == 0 { 1.0 } else { (n - c) as f32 / n as f32 })
    }

    fn map<T: Send>(&self, value: impl Fn(u32, u32) -> T + Sync) -> Vec<T> {
        let (c, n) = (self.together(), self.seen());
        let pairs = self.objects * self.objects.saturating_sub(1) / 2;
        (0..pairs).into_par_iter().map(|pair| value(c.at(pair), n.at(pair))).collect()
    }
}

fn triangles<L: Label>(
    rows: ArrayView2<'_, L>,
    missing: bool,
    watch: &dyn Watch,
) -> Result<(Store, Option<Store>), CoassocError> {
    let n = rows.nrows();
    let pairs = n * n.saturating_sub(1) / 2;
    let (mut c, mut seen) = (vec![0u16; pairs], vec![0u16; if missing { pairs } else { 0 }]);
    let mut pair = 0;
    for i in 0..n {
        for j in i + 1..n {
            for (&a, &b) in rows.row(i).iter().zip(rows.row(j)) {
                let both = a != L::MISSING && b != L::MISSING;
                c[pair] += u16::from(both && a == b);
                if missing {
                    seen[pair] += u16::from(both);
                }
            }
            pair += 1;
        }
        if watch.tick(i as u64 + 1, n as u64) == Flow::Stop {
            return Err(CoassocError::Interrupted);
        }
    }
    let narrow = rows.ncols() <= 255;
    let store = |counts: Vec<u16>| {
        if narrow { Store::Bytes(counts.iter().map(|&c| c as u8).collect()) } else { Store::Words(counts) }
    };
    Ok((store(c), missing.then(|| store(seen))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{EnsembleBuilder, Silent};

    fn small() -> CoAssociation {
        let mut builder = EnsembleBuilder::new(4);
        builder.push("a", [Some(0), Some(0), Some(1), None]).unwrap();
        builder.push("b", [Some(0), Some(0), Some(0), Some(1)]).unwrap();
        CoAssociation::count(&builder.finish().unwrap(), MemoryBudget::UNLIMITED, &Silent).unwrap()
    }

    #[test]
    fn counts_can_be_checked_by_eye() {
        let counts = small();
        assert_eq!(counts.together(), Counts::Bytes(&[2, 1, 0, 1, 0, 0]));
        assert_eq!(counts.seen(), Seen::Counts(Counts::Bytes(&[2, 2, 1, 2, 1, 1])));
        assert_eq!(counts.pair(2, 0), (1, 2));
        let (mut c, mut n) = ([9; 4], [9; 4]);
        counts.fill_row(1, &mut c, &mut n);
        assert_eq!((c, n), ([2, 0, 1, 0], [2, 0, 2, 1]));
        assert_eq!(counts.dissimilarities(), [0.0, 0.5, 1.0, 0.5, 1.0, 1.0]);
    }
}
