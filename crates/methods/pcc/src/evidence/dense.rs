//! Counts of all pairs in full symmetric tables.

use partita_coassoc::{CoAssociation, Counts, Seen, square};
use partita_kernels::LANES;

use super::Evenness;
use super::widen::widen;
use crate::pair_counts::{PairCounts, share};

#[derive(Clone, Debug)]
enum Store {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
    Wide(Vec<u32>),
}

impl Store {
    fn of(triangle: Counts<'_>, objects: usize, stride: usize) -> Self {
        match triangle {
            Counts::Bytes(triangle) => Self::Bytes(square(triangle, objects, stride)),
            Counts::Words(triangle) => Self::Words(square(triangle, objects, stride)),
            Counts::Wide(triangle) => Self::Wide(square(triangle, objects, stride)),
        }
    }

    fn counts(&self) -> Counts<'_> {
        match self {
            Self::Bytes(counts) => Counts::Bytes(counts),
            Self::Words(counts) => Counts::Words(counts),
            Self::Wide(counts) => Counts::Wide(counts),
        }
    }
}

/// Counts of all pairs: symmetric, object by object, one byte a count up to 255 base clusterings and two beyond.
#[derive(Clone, Debug)]
pub(super) struct Dense {
    pub(super) objects: usize,
    pub(super) stride: usize,
    c: Store,
    /// N of every pair, or one for all where no label is missing.
    n: Result<Store, f64>,
    /// What a part of a count is worth: 1 unless base clusterings have weights.
    scale: f64,
    /// `Σ_j N_ij` of every object.
    pub(super) sums: Vec<f64>,
    pub(super) evenness: Evenness,
}

impl Dense {
    pub(super) fn new(pairs: &CoAssociation) -> Self {
        let objects = pairs.objects();
        let stride = objects.next_multiple_of(LANES);
        let mut dense = Self {
            objects,
            stride,
            c: Store::of(pairs.together(), objects, stride),
            n: match pairs.seen() {
                Seen::Always(_) => Err(pairs.base_clusterings() as f64),
                Seen::Counts(triangle) => Ok(Store::of(triangle, objects, stride)),
            },
            scale: pairs.scale(),
            sums: Vec::new(),
            evenness: Evenness::Uneven,
        };
        let mut row = PairCounts::default();
        let mut least = f64::INFINITY;
        let mut most = 0.0;
        for i in 0..objects {
            dense.fill(i, &mut row);
            dense.sums.push(row.n.iter().sum());
            row.n[i] = row.n[usize::from(i == 0 && objects > 1)];
            least = row.n[..objects].iter().copied().fold(least, f64::min);
            most = row.n[..objects].iter().copied().fold(most, f64::max);
        }
        dense.evenness = match dense.n {
            Err(bases) => Evenness::Even(bases),
            Ok(_) if 4.0 * least >= most => Evenness::Nearly,
            Ok(_) => Evenness::Uneven,
        };
        dense
    }

    /// Bytes of two tables with counts of `width` bytes.
    pub(super) const fn bytes(objects: usize, width: u64) -> u64 {
        let n = objects as u64;
        2 * n * (n + LANES as u64) * width
    }

    /// The counts of object `i` with all. An object is not a pair with itself: its own counts are 0.
    pub(super) fn fill(&self, i: usize, counts: &mut PairCounts) {
        counts.c.resize(self.stride, 0.0);
        counts.n.resize(self.stride, 0.0);
        let range = i * self.stride..(i + 1) * self.stride;
        widen(self.c.counts(), range.clone(), &mut counts.c);
        match &self.n {
            Ok(store) => widen(store.counts(), range, &mut counts.n),
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

    /// c and N of a pair.
    pub(super) fn pair(&self, i: usize, j: usize) -> (f64, f64) {
        let place = i * self.stride + j;
        let c = f64::from(self.c.counts().at(place)) * self.scale;
        let n = match &self.n {
            Ok(store) => f64::from(store.counts().at(place)) * self.scale,
            Err(bases) => *bases,
        };
        (c, n)
    }

    pub(super) fn condensed(&self) -> Vec<f32> {
        let mut row = PairCounts::default();
        let mut condensed = Vec::with_capacity(self.objects * self.objects.saturating_sub(1) / 2);
        for i in 0..self.objects {
            self.fill(i, &mut row);
            for j in i + 1..self.objects {
                let (share, _) = share(row.c[j], row.n[j]);
                condensed.push((1.0 - share) as f32);
            }
        }
        condensed
    }

    pub(super) fn is_copy_of_previous(&self, i: usize) -> bool {
        let Some(before) = i.checked_sub(1) else {
            return false;
        };
        let (together, seen) = self.pair(before, i);
        let mut others = (0..self.objects).filter(|&j| j != i && j != before);
        seen > 0.0
            && together > seen * (1.0 - 1e-12)
            && others.all(|j| self.pair(i, j) == self.pair(before, j))
    }
}
