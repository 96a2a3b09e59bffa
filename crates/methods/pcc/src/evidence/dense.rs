//! Evidence of all pairs: counts in full symmetric tables.

use std::ops::Range;

use partita_coassoc::{CoAssociation, Counts, Seen, pair_unit, square};
use partita_core::{MemoryBudget, Monitor, WeightedEnsemble};
use partita_kernels::{LANES, dispatch};

use super::view::{Evenness, LocalPairs, View};
use crate::error::PccError;
use crate::kernels::Widen;
use crate::memberships::{Layout, Memberships};
use crate::pair_counts::PairCounts;

#[derive(Clone, Debug)]
enum Store {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
    Wide(Vec<u32>),
}

impl Store {
    fn at(&self, place: usize) -> f64 {
        match self {
            Self::Bytes(counts) => counts[place].into(),
            Self::Words(counts) => counts[place].into(),
            Self::Wide(counts) => counts[place].into(),
        }
    }

    fn widen(&self, range: Range<usize>, to: &mut [f64]) {
        match self {
            Self::Bytes(counts) => dispatch(Widen {
                from: &counts[range],
                to,
            }),
            Self::Words(counts) => dispatch(Widen {
                from: &counts[range],
                to,
            }),
            Self::Wide(counts) => dispatch(Widen {
                from: &counts[range],
                to,
            }),
        }
    }
}

/// How often every pair of objects is together (c) and labelled (N): symmetric, object by object, one byte a count
/// up to 255 base clusterings and two beyond.
#[derive(Clone, Debug)]
pub struct Dense {
    objects: usize,
    stride: usize,
    c: Store,
    /// N of every pair, or one for all where no label is missing.
    n: Result<Store, f64>,
    /// What a part of a count is worth: 1 unless base clusterings have weights.
    scale: f64,
    weights: Vec<f64>,
    evenness: Evenness,
}

impl Dense {
    /// Counts all pairs of an ensemble.
    ///
    /// # Errors
    /// [`PccError::Evidence`] if they do not fit the budget, there are more than 65,535 base clusterings, or the
    /// monitor asks to stop.
    ///
    /// # Cost
    /// O(n² M) byte comparisons; [`Dense::bytes`] of memory.
    pub fn count<'a>(
        source: impl Into<WeightedEnsemble<'a>>,
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<Self, PccError> {
        let source = source.into();
        let objects = source.ensemble.objects();
        let needed = match pair_unit(source)? {
            unit if unit as usize == source.ensemble.bases().len() => {
                Self::bytes(objects, unit as usize)
            }
            unit => Self::bytes_of_unit(objects, unit),
        };
        budget.check("the evidence of all pairs", needed, REMEDY)?;
        Ok(Self::new(&CoAssociation::count(source, budget, monitor)?))
    }

    /// The same counts, laid out for the solvers.
    pub fn new(pairs: &CoAssociation) -> Self {
        let objects = pairs.objects();
        let stride = objects.next_multiple_of(LANES);
        let c = match pairs.together() {
            Counts::Bytes(triangle) => Store::Bytes(square(triangle, objects, stride)),
            Counts::Words(triangle) => Store::Words(square(triangle, objects, stride)),
            Counts::Wide(triangle) => Store::Wide(square(triangle, objects, stride)),
        };
        let n = match pairs.seen() {
            Seen::Always(_) => Err(pairs.base_clusterings() as f64),
            Seen::Counts(Counts::Bytes(triangle)) => {
                Ok(Store::Bytes(square(triangle, objects, stride)))
            }
            Seen::Counts(Counts::Words(triangle)) => {
                Ok(Store::Words(square(triangle, objects, stride)))
            }
            Seen::Counts(Counts::Wide(triangle)) => {
                Ok(Store::Wide(square(triangle, objects, stride)))
            }
        };
        let (scale, evenness) = (pairs.scale(), Evenness::Uneven);
        let mut evidence = Self {
            objects,
            stride,
            c,
            n,
            scale,
            weights: Vec::new(),
            evenness,
        };
        let mut row = PairCounts::default();
        let (mut least, mut most) = (f64::INFINITY, 0.0);
        for i in 0..objects {
            evidence.fill(i, &mut row);
            evidence.weights.push(row.n.iter().sum());
            row.n[i] = row.n[usize::from(i == 0 && objects > 1)];
            least = row.n[..objects].iter().copied().fold(least, f64::min);
            most = row.n[..objects].iter().copied().fold(most, f64::max);
        }
        evidence.evenness = match &evidence.n {
            Err(bases) => Evenness::Even(*bases),
            Ok(_) if 4.0 * least >= most => Evenness::Nearly,
            Ok(_) => Evenness::Uneven,
        };
        evidence
    }

    /// Bytes held at once while so many objects and base clusterings are counted (labels may be missing).
    pub const fn bytes(objects: usize, base_clusterings: usize) -> u64 {
        let n = objects as u64;
        CoAssociation::bytes(objects, base_clusterings, true)
            + 2 * n * (n + LANES as u64) * if base_clusterings <= 255 { 1 } else { 2 }
    }

    /// The same for counts up to `unit`.
    const fn bytes_of_unit(objects: usize, unit: u32) -> u64 {
        let n = objects as u64;
        let triangles = CoAssociation::bytes_of_unit(objects, unit, true);
        let width = CoAssociation::bytes_of_unit(2, unit, false);
        triangles + 2 * n * (n + LANES as u64) * width
    }

    fn fill(&self, i: usize, counts: &mut PairCounts) {
        counts.c.resize(self.stride, 0.0);
        counts.n.resize(self.stride, 0.0);
        let range = i * self.stride..(i + 1) * self.stride;
        self.c.widen(range.clone(), &mut counts.c);
        match &self.n {
            Ok(store) => store.widen(range, &mut counts.n),
            Err(bases) => {
                counts.n[..self.objects].fill(*bases);
                counts.n[self.objects..].fill(0.0);
                counts.n[i] = 0.0;
            }
        }
        if self.scale != 1.0 {
            counts.c.iter_mut().for_each(|c| *c *= self.scale);
            if self.n.is_ok() {
                counts.n.iter_mut().for_each(|n| *n *= self.scale);
            }
        }
    }
}

/// What to do when all pairs are too many.
pub(crate) const REMEDY: &str = "take a sample of the pairs (partners=30)";

impl View for Dense {
    fn count(&self) -> usize {
        self.objects
    }

    fn layout(&self) -> Layout {
        Layout::Columns
    }

    fn pairs_of<'a>(
        &self,
        i: usize,
        table: &'a Memberships,
        near: &'a mut LocalPairs,
    ) -> (&'a Memberships, &'a mut PairCounts) {
        self.fill(i, &mut near.counts);
        (table, &mut near.counts)
    }

    fn degree(&self, _i: usize) -> usize {
        self.stride
    }

    fn partners(&self, _i: usize) -> Option<&[u32]> {
        None
    }

    fn pairs_after<'a>(
        &self,
        i: usize,
        table: &'a Memberships,
        near: &'a mut LocalPairs,
    ) -> (&'a Memberships, &'a PairCounts, usize) {
        self.fill(i, &mut near.counts);
        let from = (i + 1) / LANES * LANES;
        let end = (i + 1).min(self.stride);
        near.counts.c[from..end].fill(0.0);
        near.counts.n[from..end].fill(0.0);
        (table, &near.counts, from)
    }

    fn pairs_within(&self, objects: &[usize], visit: &mut dyn FnMut(usize, usize, f64, f64)) {
        for (at, &i) in objects.iter().enumerate() {
            for (other, &j) in objects.iter().enumerate().skip(at + 1) {
                let place = i * self.stride + j;
                let n = self
                    .n
                    .as_ref()
                    .map_or_else(|bases| *bases, |store| store.at(place) * self.scale);
                visit(at, other, self.c.at(place) * self.scale, n);
            }
        }
    }

    fn condensed(&self) -> Option<Vec<f32>> {
        let mut row = PairCounts::default();
        let mut condensed = Vec::with_capacity(self.objects * self.objects.saturating_sub(1) / 2);
        for i in 0..self.objects {
            self.fill(i, &mut row);
            let away = |j: usize| {
                if row.n[j] > 0.0 {
                    1.0 - row.c[j] / row.n[j]
                } else {
                    1.0
                }
            };
            condensed.extend((i + 1..self.objects).map(|j| away(j) as f32));
        }
        Some(condensed)
    }

    fn evenness(&self) -> Evenness {
        self.evenness
    }

    fn is_copy_of_previous(&self, i: usize) -> bool {
        let Some(before) = i.checked_sub(1) else {
            return false;
        };
        let counts = |of: usize, j: usize| {
            let place = of * self.stride + j;
            let seen = self
                .n
                .as_ref()
                .map_or_else(|bases| *bases, |store| store.at(place) * self.scale);
            (self.c.at(place) * self.scale, seen)
        };
        let (together, seen) = counts(before, i);
        let always = seen > 0.0 && together > seen * (1.0 - 1e-12);
        always
            && (0..self.objects)
                .filter(|&j| j != i && j != before)
                .all(|j| counts(i, j) == counts(before, j))
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }
}
