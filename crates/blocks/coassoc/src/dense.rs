//! Co-association matrix: counts of all pairs, as packed strict upper triangles.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use partita_core::{Flow, MemoryBudget, Monitor, WeightedEnsemble, chunks};
use partita_kernels::BLOCK;
use rayon::prelude::*;

use crate::tiles::{GROUP, Tiles};
use crate::whole_weights::{scale, whole_weights, width};
use crate::{CoassocError, EvidenceRows, most_that_fit};

/// For every pair of objects, how often they are together and how often both are labelled.
///
/// Pairs lie as in SciPy's condensed matrices: (0,1), (0,2), …, (0,n−1), (1,2), …; one byte a count while
/// there are at most 255 base clusterings, two otherwise. Where base clusterings have weights ([`WeightedEnsemble`]) counts are in parts of
/// [`unit`](Self::unit), of up to four bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoAssociation {
    objects: usize,
    base_clusterings: usize,
    unit: u32,
    together: Store,
    seen: Option<Store>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Store {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
    Wide(Vec<u32>),
}

/// Counts of pairs, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts<'a> {
    /// N is at most 255.
    Bytes(&'a [u8]),
    /// N is at most 65,535.
    Words(&'a [u16]),
    /// Base clusterings have weights.
    Wide(&'a [u32]),
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
            Self::Wide(counts) => counts[pair],
        }
    }
}

/// How often both objects of a pair are labelled, N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen<'a> {
    /// By all M base clusterings, every pair: no label is missing and nothing is stored. M, or the sum of the weights.
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
            Self::Wide(counts) => Counts::Wide(counts),
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
    /// [`CoassocError::TooManyBaseClusterings`] beyond 65,535, [`CoassocError::Interrupted`] if the monitor says so.
    ///
    /// # Cost
    /// O(n² M) byte comparisons; [`bytes`](Self::bytes) of memory.
    pub fn count<'a>(
        source: impl Into<WeightedEnsemble<'a>>,
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<Self, CoassocError> {
        let source = source.into();
        let ensemble = source.ensemble;
        let (objects, base_clusterings) = (ensemble.objects(), ensemble.bases().len());
        CoassocError::check_bases(base_clusterings)?;
        if ensemble.memberships().is_some() || whole_weights(source)?.is_some() {
            return Self::count_rows(&EvidenceRows::new(source)?, budget, monitor);
        }
        let missing = ensemble.missing() > 0;
        let needed = Self::bytes(objects, base_clusterings, missing);
        let fit = most_that_fit(budget, objects as u64, |n| {
            Self::bytes(n as usize, base_clusterings, missing)
        });
        let remedy =
            format!("{fit} objects would fit; for more, take the sparse evidence of sampled pairs");
        budget.check("the co-association of all pairs", needed, &remedy)?;
        let tiles = Tiles::new(ensemble);
        let (together, seen) = if base_clusterings <= 255 {
            let (c, seen) = triangles(&tiles, |count| count as u8, monitor)?;
            (Store::Bytes(c), seen.map(Store::Bytes))
        } else {
            let (c, seen) = triangles(&tiles, |count| count, monitor)?;
            (Store::Words(c), seen.map(Store::Words))
        };
        Ok(Self {
            objects,
            base_clusterings,
            unit: base_clusterings as u32,
            together,
            seen,
        })
    }

    /// All pairs from rows of the co-association, however those are made.
    ///
    /// # Errors
    /// [`CoassocError::Budget`] if they do not fit, [`CoassocError::Interrupted`] if the monitor says so.
    ///
    /// # Cost
    /// That of half of every row; [`bytes_of_unit`](Self::bytes_of_unit) of memory.
    pub fn count_rows(
        rows: &EvidenceRows,
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<Self, CoassocError> {
        let (objects, base_clusterings, unit) =
            (rows.objects(), rows.base_clusterings(), rows.unit());
        let bytes = |n: usize| Self::bytes_of_unit(n, unit, rows.missing());
        let fit = most_that_fit(budget, objects as u64, |n| bytes(n as usize));
        let remedy =
            format!("{fit} objects would fit; for more, take the sparse evidence of sampled pairs");
        budget.check(
            "the weighted co-association of all pairs",
            bytes(objects),
            &remedy,
        )?;
        let (together, seen) = match width(unit) {
            1 => stored(
                triangles_of(rows, |count| count as u8, monitor)?,
                Store::Bytes,
            ),
            2 => stored(
                triangles_of(rows, |count| count as u16, monitor)?,
                Store::Words,
            ),
            _ => stored(triangles_of(rows, |count| count, monitor)?, Store::Wide),
        };
        Ok(Self {
            objects,
            base_clusterings,
            unit,
            together,
            seen,
        })
    }

    /// All pairs of so many objects with these counts, in order, N at most 65,535.
    pub(crate) fn of_counts(objects: usize, counts: &[(u32, u32)]) -> Self {
        let most = counts.iter().map(|&(_, n)| n).max().unwrap_or(0);
        let even = counts.iter().all(|&(_, n)| n == most);
        let store = |count: fn(&(u32, u32)) -> u32| {
            let counts = counts.iter().map(count);
            if most <= 255 {
                Store::Bytes(counts.map(|count| count as u8).collect())
            } else {
                Store::Words(counts.map(|count| count as u16).collect())
            }
        };
        Self {
            objects,
            base_clusterings: most as usize,
            unit: most,
            together: store(|&(c, _)| c),
            seen: (!even).then(|| store(|&(_, n)| n)),
        }
    }

    /// Bytes of counts up to `unit` of the pairs of so many objects, with missing labels or without.
    pub const fn bytes_of_unit(objects: usize, unit: u32, missing: bool) -> u64 {
        let n = objects as u64;
        n * n.saturating_sub(1) / 2 * width(unit) * if missing { 2 } else { 1 }
    }

    /// N of a pair that all base clusterings label: M, or the sum of the weights in whole numbers.
    pub fn unit(&self) -> u32 {
        self.unit
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

    /// What a part of a count is worth where the mean weight is 1: M over [`unit`](Self::unit), 1 without weights.
    pub fn scale(&self) -> f64 {
        scale(self.unit, self.base_clusterings)
    }

    /// How often the two objects of each pair are together, c; n (n − 1) / 2 counts.
    pub fn together(&self) -> Counts<'_> {
        self.together.counts()
    }

    /// How often both objects of each pair are labelled, N.
    pub fn seen(&self) -> Seen<'_> {
        self.seen
            .as_ref()
            .map_or(Seen::Always(self.unit), |seen| Seen::Counts(seen.counts()))
    }

    /// c and N of two different objects, in either order.
    ///
    /// # Panics
    /// If the objects are the same or out of range.
    pub fn pair(&self, i: usize, j: usize) -> (u32, u32) {
        assert!(
            i != j && i.max(j) < self.objects,
            "({i}, {j}) is not a pair of two of the {} objects",
            self.objects
        );
        let pair = place(self.objects, i.min(j), i.max(j));
        (self.together().at(pair), self.seen().at(pair))
    }

    /// c and N of one object with all others, n values each; 0 for the object itself.
    ///
    /// # Panics
    /// If a slice does not hold n values or the object is out of range.
    pub fn fill_row(&self, i: usize, together: &mut [u32], seen: &mut [u32]) {
        assert!(i < self.objects && together.len() == self.objects && seen.len() == self.objects);
        let (c, n) = (self.together(), self.seen());
        for j in 0..self.objects {
            if i == j {
                (together[j], seen[j]) = (0, 0);
            } else {
                let pair = place(self.objects, i.min(j), i.max(j));
                (together[j], seen[j]) = (c.at(pair), n.at(pair));
            }
        }
    }

    /// c / N for every pair; 0 where no base clustering saw both.
    pub fn similarities(&self) -> Vec<f64> {
        self.map(|c, n| {
            if n == 0 {
                0.0
            } else {
                f64::from(c) / f64::from(n)
            }
        })
    }

    /// 1 − c / N for every pair; 1 where no base clustering saw both.
    pub fn dissimilarities(&self) -> Vec<f64> {
        self.map(|c, n| {
            if n == 0 {
                1.0
            } else {
                f64::from(n - c) / f64::from(n)
            }
        })
    }

    /// [`dissimilarities`](Self::dissimilarities) in single precision.
    pub fn dissimilarities_f32(&self) -> Vec<f32> {
        self.map(|c, n| {
            if n == 0 {
                1.0
            } else {
                (n - c) as f32 / n as f32
            }
        })
    }

    fn map<T: Send>(&self, value: impl Fn(u32, u32) -> T + Sync) -> Vec<T> {
        let (c, n) = (self.together(), self.seen());
        let pairs = self.objects * self.objects.saturating_sub(1) / 2;
        (0..pairs)
            .into_par_iter()
            .map(|pair| value(c.at(pair), n.at(pair)))
            .collect()
    }
}

/// Both triangles, the second only when labels are missing. Blocks of rows are counted in parallel, each of which is
/// a contiguous part of a triangle.
fn triangles<T: Copy + Default + Send>(
    tiles: &Tiles,
    narrow: impl Fn(u16) -> T + Sync,
    monitor: &dyn Monitor,
) -> Result<(Vec<T>, Option<Vec<T>>), CoassocError> {
    let n = tiles.objects();
    let pairs = n * n.saturating_sub(1) / 2;
    let mut together = vec![T::default(); pairs];
    let mut seen = vec![T::default(); if tiles.missing() { pairs } else { 0 }];
    let (done, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
    let parts: Vec<_> = chunks(n, BLOCK)
        .zip(parts(&mut together, n))
        .zip(parts(&mut seen, n))
        .collect();
    parts.into_par_iter().for_each(|((rows, together), seen)| {
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        count_block(tiles, rows.start, together, seen, &narrow);
        let done = done.fetch_add(rows.len() as u64, Ordering::Relaxed) + rows.len() as u64;
        if monitor.tick(done, n as u64) == Flow::Stop {
            stopped.store(true, Ordering::Relaxed);
        }
    });
    if stopped.into_inner() {
        return Err(CoassocError::Interrupted);
    }
    Ok((together, tiles.missing().then_some(seen)))
}

fn stored<T>(
    (together, seen): (Vec<T>, Option<Vec<T>>),
    store: impl Fn(Vec<T>) -> Store,
) -> (Store, Option<Store>) {
    (store(together), seen.map(store))
}

/// [`triangles`] from rows.
fn triangles_of<T: Copy + Default + Send>(
    rows: &EvidenceRows,
    narrow: impl Fn(u32) -> T + Sync,
    monitor: &dyn Monitor,
) -> Result<(Vec<T>, Option<Vec<T>>), CoassocError> {
    let n = rows.objects();
    let pairs = n * n.saturating_sub(1) / 2;
    let mut together = vec![T::default(); pairs];
    let mut seen = vec![T::default(); if rows.missing() { pairs } else { 0 }];
    let (done, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
    let parts: Vec<_> = chunks(n, BLOCK)
        .zip(parts(&mut together, n))
        .zip(parts(&mut seen, n))
        .collect();
    parts.into_par_iter().for_each(|((block, together), seen)| {
        let (mut place, size) = (0, block.len() as u64);
        for i in block.filter(|_| !stopped.load(Ordering::Relaxed)) {
            rows.for_each_from(i, i / BLOCK, |j, c, both| {
                if j > i {
                    together[place] = narrow(c);
                    if let Some(seen) = seen.get_mut(place) {
                        *seen = narrow(both);
                    }
                    place += 1;
                }
            });
        }
        let done = done.fetch_add(size, Ordering::Relaxed) + size;
        if monitor.tick(done, n as u64) == Flow::Stop {
            stopped.store(true, Ordering::Relaxed);
        }
    });
    if stopped.into_inner() {
        return Err(CoassocError::Interrupted);
    }
    Ok((together, rows.missing().then_some(seen)))
}

/// Cuts a packed triangle (or nothing) at every block of rows.
fn parts<T>(mut triangle: &mut [T], n: usize) -> impl Iterator<Item = &mut [T]> {
    chunks(n, BLOCK).map(move |rows| {
        let pairs: usize = rows.map(|i| n - 1 - i).sum();
        let pairs = pairs.min(triangle.len());
        let (part, rest) = std::mem::take(&mut triangle).split_at_mut(pairs);
        triangle = rest;
        part
    })
}

/// The counts of one block of objects with all later ones.
fn count_block<T: Copy>(
    tiles: &Tiles,
    start: usize,
    together: &mut [T],
    seen: &mut [T],
    narrow: impl Fn(u16) -> T,
) {
    let n = tiles.objects();
    let (mut c, mut both) = ([[0; BLOCK]; GROUP], [[0; BLOCK]; GROUP]);
    for block in start / BLOCK..tiles.blocks() {
        for first in (start..(start + BLOCK).min(n)).step_by(GROUP) {
            tiles.count(first, block, &mut c, &mut both);
            for r in 0..GROUP.min(n - first) {
                let i = first + r;
                let from = (block * BLOCK).max(i + 1);
                let to = ((block + 1) * BLOCK).min(n);
                if from >= to {
                    continue;
                }
                let lanes = from % BLOCK..from % BLOCK + (to - from);
                let at = place(n, i, from) - place(n, start, start + 1);
                let write = |out: &mut [T], counts: &[u16]| {
                    out.iter_mut()
                        .zip(counts)
                        .for_each(|(out, &count)| *out = narrow(count));
                };
                write(&mut together[at..at + lanes.len()], &c[r][lanes.clone()]);
                if tiles.missing() {
                    write(&mut seen[at..at + lanes.len()], &both[r][lanes]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{EnsembleBuilder, Silent};

    fn small() -> CoAssociation {
        let mut builder = EnsembleBuilder::new(4);
        builder
            .push("a", [Some(0), Some(0), Some(1), None])
            .unwrap();
        builder
            .push("b", [Some(0), Some(0), Some(0), Some(1)])
            .unwrap();
        CoAssociation::count(&builder.finish().unwrap(), MemoryBudget::UNLIMITED, &Silent).unwrap()
    }

    #[test]
    fn counts_can_be_checked_by_eye() {
        let counts = small();
        assert_eq!(counts.together(), Counts::Bytes(&[2, 1, 0, 1, 0, 0]));
        assert_eq!(
            counts.seen(),
            Seen::Counts(Counts::Bytes(&[2, 2, 1, 2, 1, 1]))
        );
        assert_eq!(counts.pair(2, 0), (1, 2));
        let (mut c, mut n) = ([9; 4], [9; 4]);
        counts.fill_row(1, &mut c, &mut n);
        assert_eq!((c, n), ([2, 0, 1, 0], [2, 0, 2, 1]));
        assert_eq!(counts.dissimilarities(), [0.0, 0.5, 1.0, 0.5, 1.0, 1.0]);
    }
}
