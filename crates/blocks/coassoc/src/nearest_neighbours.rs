//! Nearest neighbours by co-association: the strongest pairs of every object.

use std::cmp::Reverse;

use partita_core::ndarray::{ArrayView1, ArrayView2};
use partita_core::{
    Ensemble, Flow, Label, LabelRows, MemoryBudget, Monitor, ProgressCounter, Seed,
    WeightedEnsemble, chunks,
};
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::pairs::Rows;
use crate::whole_weights::whole_weights;
use crate::{CoassocError, EvidenceRows, SparseEvidence};

/// Settings of [`SparseEvidence::strongest`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StrongestSettings {
    /// Up to so many objects all pairs are looked at, and the answer is exact.
    pub exact_objects: usize,
    /// Beyond that: how often objects are sorted by their labels, each time with the base clusterings in another
    /// order, to find candidates among neighbours in the sorted order.
    pub orders: u32,
    /// Beyond that: candidates to either side in each sorted order, as a multiple of the neighbours asked for.
    pub reach: u32,
}

impl Default for StrongestSettings {
    fn default() -> Self {
        Self {
            exact_objects: 30_000,
            orders: 8,
            reach: 1,
        }
    }
}

/// Units of progress: the search for the strongest, and their counts.
const SEARCH: u64 = 7_000;
const COUNT: u64 = 3_000;

impl SparseEvidence {
    /// Evidence of every object with its `neighbours` strongest by c/N, ties to the smaller index. A pair is stored
    /// when either is among the strongest of the other.
    ///
    /// Exact up to [`StrongestSettings::exact_objects`]. Beyond, the strongest of candidates: objects that stand
    /// close together when all are sorted by their labels, for several orders of the base clusterings. Objects with
    /// the same labels always do; [`recall`] measures how many of the others are found.
    ///
    /// # Errors
    /// As [`SparseEvidence::of_pairs`].
    ///
    /// # Cost
    /// Exact: O(n² M) byte comparisons. Else O(orders · n (M · reach · neighbours + log n)) time. About
    /// 24 · n · neighbours bytes besides the evidence.
    pub fn strongest<'a>(
        source: impl Into<WeightedEnsemble<'a>>,
        neighbours: usize,
        seed: Seed,
        settings: &StrongestSettings,
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<Self, CoassocError> {
        let source = source.into();
        let ensemble = source.ensemble;
        let n = ensemble.objects();
        CoassocError::check_bases(ensemble.bases().len())?;
        let pairs = (n * neighbours.min(n)) as u64;
        let wide = if ensemble.memberships().is_some() || whole_weights(source)?.is_some() {
            12 * pairs
        } else {
            0
        };
        let needed = Self::bytes(n, ensemble.bases().len(), pairs, ensemble.missing() > 0)
            + 24 * pairs
            + 8 * n as u64
            + wide;
        budget.check(
            "the evidence of the strongest neighbours",
            needed,
            "take fewer neighbours",
        )?;
        let progress = ProgressCounter::new(monitor, SEARCH + COUNT);
        let search = progress.part(SEARCH);
        let mut pairs = if n <= settings.exact_objects {
            exact(&EvidenceRows::new(source)?, neighbours, &search)?
        } else {
            candidates(source, neighbours, seed, settings, &search)?
        };
        drop(search);
        pairs.par_sort_unstable();
        pairs.dedup();
        Self::count(source, &pairs, &progress.part(COUNT))
    }
}

/// The share of `neighbours` strongest that sparse evidence holds for `sample` objects drawn at random: for each, how
/// many of its stored neighbours are as strong as the weakest of its true strongest, over how many those are.
///
/// # Errors
/// [`CoassocError::TooManyBaseClusterings`] beyond 65,535.
///
/// # Cost
/// O(sample · n M) byte comparisons.
pub fn recall(
    evidence: &SparseEvidence,
    ensemble: &Ensemble,
    neighbours: usize,
    sample: usize,
    seed: Seed,
) -> Result<f64, CoassocError> {
    let rows = EvidenceRows::new(ensemble)?;
    let mut objects: Vec<usize> = (0..ensemble.objects()).collect();
    let (drawn, _) = objects.partial_shuffle(&mut seed.rng(), sample);
    let found = |&i: &usize| {
        let best = best_of(&rows, i, neighbours);
        let Some(&(weakest, _)) = best.last() else {
            return (0, 0);
        };
        let strong = evidence
            .row(i)
            .filter(|&(_, c, n)| strength(c, n) >= weakest)
            .count();
        (strong.min(best.len()), best.len())
    };
    let (found, all) = drawn
        .par_iter()
        .map(found)
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    Ok(if all == 0 {
        1.0
    } else {
        found as f64 / all as f64
    })
}

fn strength(c: u32, n: u32) -> f64 {
    if n == 0 {
        0.0
    } else {
        f64::from(c) / f64::from(n)
    }
}

/// The strongest neighbours of one object, strongest first, of all others.
fn best_of(rows: &EvidenceRows, object: usize, neighbours: usize) -> Vec<(f64, u32)> {
    let mut all = Vec::with_capacity(rows.objects());
    rows.for_each(object, |j, c, n| {
        if j != object {
            all.push((strength(c, n), j as u32));
        }
    });
    let order = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if neighbours < all.len() {
        all.select_nth_unstable_by(neighbours, order);
        all.truncate(neighbours);
    }
    all.sort_unstable_by(order);
    all
}

fn exact(
    rows: &EvidenceRows,
    neighbours: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<(u32, u32)>, CoassocError> {
    let mut pairs = Vec::new();
    for part in chunks(rows.objects(), 1024) {
        let done = part.end as u64;
        let of = |i: usize| {
            best_of(rows, i, neighbours)
                .into_iter()
                .map(move |(_, j)| sorted(i as u32, j))
        };
        pairs.par_extend(part.into_par_iter().flat_map_iter(of));
        if monitor.tick(done, rows.objects() as u64) == Flow::Stop {
            return Err(CoassocError::Interrupted);
        }
    }
    Ok(pairs)
}

fn sorted(i: u32, j: u32) -> (u32, u32) {
    (i.min(j), i.max(j))
}

/// The strongest so far of every object, unordered: strength and object.
struct Best {
    neighbours: usize,
    kept: Vec<(f32, u32)>,
    filled: Vec<u32>,
    /// The weakest that an object keeps, once it keeps as many as it may: what is no stronger need not be looked at.
    weakest: Vec<(f32, u32)>,
}

impl Best {
    fn new(objects: usize, neighbours: usize) -> Self {
        let weakest = vec![(f32::NEG_INFINITY, u32::MAX); objects];
        Self {
            neighbours,
            kept: vec![(0.0, 0); objects * neighbours],
            filled: vec![0; objects],
            weakest,
        }
    }

    fn offer(&mut self, to: u32, strength: f32, object: u32) {
        let rank = |(strength, object): (f32, u32)| (strength, Reverse(object));
        let weakest = &mut self.weakest[to as usize];
        if self.neighbours == 0 || rank((strength, object)) <= rank(*weakest) {
            return;
        }
        let filled = &mut self.filled[to as usize];
        let kept = &mut self.kept[to as usize * self.neighbours..][..self.neighbours];
        if kept[..*filled as usize]
            .iter()
            .any(|&(_, known)| known == object)
        {
            return;
        }
        let place = if (*filled as usize) < self.neighbours {
            *filled += 1;
            *filled as usize - 1
        } else {
            kept.iter()
                .position(|kept| kept == weakest)
                .expect("the weakest is kept")
        };
        kept[place] = (strength, object);
        if *filled as usize == self.neighbours {
            *weakest = kept
                .iter()
                .copied()
                .reduce(|a, b| if rank(b) < rank(a) { b } else { a })
                .expect("one is kept");
        }
    }
}

fn candidates(
    source: WeightedEnsemble<'_>,
    neighbours: usize,
    seed: Seed,
    settings: &StrongestSettings,
    monitor: &dyn Monitor,
) -> Result<Vec<(u32, u32)>, CoassocError> {
    let ensemble = source.ensemble;
    let (n, rows) = (ensemble.objects(), Rows::new(source)?);
    let mut best = Best::new(n, neighbours);
    let reach = neighbours * settings.reach as usize;
    for iteration in 0..settings.orders {
        let mut bases: Vec<usize> = (0..ensemble.bases().len()).collect();
        bases.shuffle(&mut seed.child(u64::from(iteration)).rng());
        let order = match ensemble.rows() {
            LabelRows::Bytes(rows) => by_labels(rows, &bases),
            LabelRows::Words(rows) => by_labels(rows, &bases),
        };
        for part in chunks(n, 1 << 15) {
            let later = |at: usize| {
                let first = order[at];
                order[at + 1..(at + 1 + reach).min(n)]
                    .iter()
                    .map(move |&j| sorted(first, j))
            };
            let mut pairs: Vec<(u32, u32)> = part.clone().flat_map(later).collect();
            pairs.par_sort_unstable();
            let (c, seen) = rows.count(&pairs);
            for (at, &(i, j)) in pairs.iter().enumerate() {
                let all = seen.as_ref().map_or(rows.unit(), |seen| seen.at(at));
                let strength = strength(c.at(at), all) as f32;
                best.offer(i, strength, j);
                best.offer(j, strength, i);
            }
        }
        if monitor.tick(u64::from(iteration) + 1, u64::from(settings.orders)) == Flow::Stop {
            return Err(CoassocError::Interrupted);
        }
    }
    let of = |i: usize| {
        let start = i * neighbours;
        best.kept[start..start + best.filled[i] as usize]
            .iter()
            .map(move |&(_, j)| sorted(i as u32, j))
    };
    Ok((0..n).flat_map(of).collect())
}

/// Objects sorted by their labels, base clusterings compared in the order given.
fn by_labels<L: Label>(rows: ArrayView2<'_, L>, bases: &[usize]) -> Vec<u32> {
    // As many labels as fit a word tell most rows apart; the others are compared where these are equal.
    let bits = 8 * size_of::<L>();
    let (first, others) = bases.split_at(bases.len().min(64 / bits));
    let number = |label: L| {
        label
            .cluster()
            .map_or(u64::MAX >> (64 - bits), |cluster| cluster as u64)
    };
    let word = |row: ArrayView1<'_, L>| {
        first
            .iter()
            .fold(0, |word, &u| word << bits | number(row[u]))
    };
    let mut order: Vec<(u64, u32)> = rows.outer_iter().map(word).zip(0..).collect();
    order.par_sort_unstable();
    let rest = |i: u32| others.iter().map(move |&u| rows[[i as usize, u]]);
    order
        .par_chunk_by_mut(|a, b| a.0 == b.0)
        .filter(|equal| equal.len() > 1)
        .for_each(|equal| {
            equal.sort_unstable_by(|&(_, a), &(_, b)| rest(a).cmp(rest(b)).then(a.cmp(&b)));
        });
    order.into_iter().map(|(_, i)| i).collect()
}

#[cfg(test)]
mod tests {
    use partita_core::ndarray::Array2;
    use rand::RngExt;

    use super::*;

    fn in_order<L: Label>(rows: &Array2<L>, bases: &[usize]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..rows.nrows() as u32).collect();
        let key = |i: u32| {
            bases
                .iter()
                .map(|&u| rows[[i as usize, u]])
                .collect::<Vec<L>>()
        };
        order.sort_by_key(|&i| (key(i), i));
        order
    }

    /// In the order that comparing label by label has, also where more labels than a word holds are equal.
    #[test]
    fn objects_are_sorted_by_their_labels() {
        for seed in 0..60 {
            let mut rng = Seed::new(seed).rng();
            let (n, m) = (rng.random_range(1..80), rng.random_range(1..14));
            let mut bases: Vec<usize> = (0..m).collect();
            bases.shuffle(&mut rng);
            let bytes = Array2::from_shape_fn((n, m), |_| {
                [0, 1, u8::MISSING][rng.random_range(0..16usize).saturating_sub(13)]
            });
            let words =
                bytes.mapv(|label| label.cluster().map_or(u16::MISSING, |k| 300 * k as u16));
            assert_eq!(
                by_labels(bytes.view(), &bases),
                in_order(&bytes, &bases),
                "seed {seed}"
            );
            assert_eq!(
                by_labels(words.view(), &bases),
                in_order(&words, &bases),
                "seed {seed}"
            );
        }
    }

    #[test]
    fn the_strongest_of_all_that_were_offered_are_kept() {
        for seed in 0..60 {
            let mut rng = Seed::new(seed).rng();
            let neighbours = rng.random_range(0..5);
            let (mut best, mut all) = (Best::new(1, neighbours), Vec::new());
            let strengths: Vec<f32> = (0..12).map(|_| rng.random_range(0..4) as f32).collect();
            for _ in 0..rng.random_range(0..40) {
                let object = rng.random_range(0..12);
                best.offer(0, strengths[object], object as u32);
                all.push((Reverse(strengths[object] as u32), object as u32));
            }
            all.sort_unstable();
            all.dedup();
            all.truncate(neighbours);
            let kept = best.kept[..best.filled[0] as usize].iter();
            let mut kept: Vec<_> = kept
                .map(|&(strength, object)| (Reverse(strength as u32), object))
                .collect();
            kept.sort_unstable();
            assert_eq!(kept, all, "seed {seed}");
        }
    }
}
