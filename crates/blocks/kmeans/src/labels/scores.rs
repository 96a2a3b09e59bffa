//! Scores of clusters from tables of labels, and the best cluster of every label row: quick in single precision, exact where close.

use partita_core::{BaseClustering, Label, Row};
use partita_kernels::{Kernel, Simd, dispatch};
use serde::{Deserialize, Serialize};

use super::assignment::{Assignment, normalised_cut};
use super::counts::Counts;

/// What every label adds to the score of every cluster: one line of K numbers a label, and a last line of zeros for
/// missing labels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Scores {
    clusters: usize,
    /// Where the clusters of each base clustering start: M + 1 values.
    offsets: Vec<usize>,
    lines: Vec<f64>,
    /// The same in half the width and lines of `lanes`, to choose by where the lead is beyond its rounding.
    quick: Vec<f32>,
    lanes: usize,
    /// More than the rounding of sums of `quick` can change a difference of two of them.
    blur: f64,
}

/// Numbers of one vector of the processor.
const WIDTH: usize = 8;

/// [`Scores::choose_lanes`] with its arguments. Every sum is the same sequence of additions, however many are in a register.
struct Choose<'a, I> {
    scores: &'a Scores,
    rows: I,
}

impl<'r, L: Label, I: Iterator<Item = (&'r [L], &'r mut u32)>> Kernel for Choose<'_, I> {
    type Output = ();

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it is compiled anew for every instruction set that calls it"
    )]
    fn run<S: Simd>(self, _: S) {
        self.scores.choose_lanes(self.rows);
    }
}

impl Scores {
    /// Whether there is a line for every label of these base clusterings, and one for missing labels.
    pub(crate) fn are_of(&self, bases: &[BaseClustering]) -> bool {
        let offsets = BaseClustering::offsets(bases);
        let lines = (offsets[offsets.len() - 1] + 1).checked_mul(self.clusters);
        self.offsets == offsets && lines == Some(self.lines.len())
    }

    pub(crate) fn new(
        offsets: &[usize],
        counts: &Counts,
        base_weights: &[f64],
        assignment: Assignment<'_>,
    ) -> Self {
        let clusters = counts.clusters();
        let mut lines = vec![0.0; (offsets[base_weights.len()] + 1) * clusters];
        if let Assignment::NormalisedCut(sizes) = assignment {
            normalised_cut(offsets, counts, base_weights, sizes, &mut lines);
            return Self::with_quick(clusters, lines, offsets);
        }
        for (u, weight) in base_weights.iter().enumerate() {
            let places = offsets[u]..offsets[u + 1];
            let all = Self::everywhere(counts, places.clone());
            for k in 0..clusters {
                let empty = counts.labelled(u, k) <= 0.0;
                // A cluster that a base clustering says nothing about is taken to be like all objects.
                let share = |place: usize| {
                    if empty {
                        all[place - places.start]
                    } else {
                        counts.share(u, place, k)
                    }
                };
                if let Assignment::Utility(utility) = assignment {
                    let size = counts.labelled(u, k);
                    let values = utility.gains(places.clone().map(share), &all, size);
                    for (place, value) in places.clone().zip(values) {
                        lines[place * clusters + k] = weight * value;
                    }
                    continue;
                }
                let own: f64 = places
                    .clone()
                    .map(|place| share(place) * share(place))
                    .sum();
                for place in places.clone() {
                    let likeliest = assignment == Assignment::Likeliest;
                    lines[place * clusters + k] = weight
                        * if likeliest {
                            share(place)
                        } else {
                            2.0 * share(place) - own
                        };
                }
            }
        }
        Self::with_quick(clusters, lines, offsets)
    }

    /// Scores by these lines, one of K numbers for each of ΣJ labels. What is missing adds nothing.
    pub(crate) fn of_lines(offsets: &[usize], clusters: usize, mut lines: Vec<f64>) -> Self {
        lines.resize((offsets[offsets.len() - 1] + 1) * clusters, 0.0);
        Self::with_quick(clusters, lines, offsets)
    }

    fn with_quick(clusters: usize, lines: Vec<f64>, offsets: &[usize]) -> Self {
        let lanes = clusters.next_multiple_of(WIDTH);
        let mut quick = vec![0.0; lines.len() / clusters * lanes];
        for (quick, line) in quick
            .chunks_exact_mut(lanes)
            .zip(lines.chunks_exact(clusters))
        {
            quick
                .iter_mut()
                .zip(line)
                .for_each(|(quick, &value)| *quick = value as f32);
        }
        let furthest = |ends: &[usize]| {
            lines[ends[0] * clusters..ends[1] * clusters]
                .iter()
                .fold(0.0, |most: f64, value| most.max(value.abs()))
        };
        // Every sum has one rounding a number and one an addition, each at most half a unit of the largest sum.
        let (most, steps) = (
            offsets.windows(2).map(furthest).sum::<f64>(),
            offsets.len() as f64,
        );
        let blur = 4.0 * steps * most * f64::from(f32::EPSILON);
        Self {
            clusters,
            offsets: offsets.to_vec(),
            lines,
            quick,
            lanes,
            blur,
        }
    }

    /// Shares of the labels `places` over all clusters.
    fn everywhere(counts: &Counts, places: std::ops::Range<usize>) -> Vec<f64> {
        let sums: Vec<f64> = places.map(|place| counts.of(place).iter().sum()).collect();
        let total = sums.iter().sum::<f64>();
        let total = if total > 0.0 { total } else { 1.0 };
        sums.into_iter().map(|sum| sum / total).collect()
    }

    /// The best cluster of every row; ties go to the smaller number.
    pub(crate) fn choose<'r, L: Label>(&self, rows: impl Iterator<Item = (&'r [L], &'r mut u32)>) {
        dispatch(Choose { scores: self, rows });
    }

    /// The best cluster of a row and by how much it leads the second.
    pub(crate) fn lead<'a, R: Row<'a>>(&self, row: R) -> (u32, f64) {
        let mut sums = vec![0.0; self.clusters];
        for entry in row.entries(&self.offsets) {
            let line = &self.lines[entry.cluster * self.clusters..][..self.clusters];
            for (sum, add) in sums.iter_mut().zip(line) {
                *sum += entry.share * add;
            }
        }
        best_and_lead(&sums)
    }

    /// K.
    pub(crate) fn clusters(&self) -> usize {
        self.clusters
    }

    /// Where the clusters of each base clustering start: M + 1 values.
    pub(crate) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it is compiled anew for every instruction set that calls it"
    )]
    fn choose_lanes<'r, L: Label>(&self, rows: impl Iterator<Item = (&'r [L], &'r mut u32)>) {
        let mut sums = vec![0.0; self.clusters];
        for (row, best) in rows {
            let quick = match self.lanes {
                8 => self.quick_choice::<L, 8>(row),
                16 => self.quick_choice::<L, 16>(row),
                24 => self.quick_choice::<L, 24>(row),
                32 => self.quick_choice::<L, 32>(row),
                _ => None,
            };
            *best = quick.unwrap_or_else(|| self.exact_choice(row, &mut sums));
        }
    }

    /// The best cluster of a row, in N sums in registers; none where its lead may be rounding.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it is compiled anew for every instruction set that calls it"
    )]
    fn quick_choice<L: Label, const N: usize>(&self, row: &[L]) -> Option<u32> {
        let (lines, []) = self.quick.as_chunks::<N>() else {
            return None;
        };
        let missing = lines.len() - 1;
        let mut sums = [0.0; N];
        for (label, offset) in row.iter().zip(&self.offsets) {
            let line = &lines[label.cluster().map_or(missing, |j| offset + j)];
            for (sum, add) in sums.iter_mut().zip(line) {
                *sum += add;
            }
        }
        // Seen from here as numbers in memory, the sums stay whole vectors above.
        let mut sums = std::hint::black_box(sums);
        sums[self.clusters..].fill(f32::NEG_INFINITY);
        let most = largest(&sums);
        let equal = sums
            .iter()
            .enumerate()
            .fold(0u32, |mask, (k, sum)| mask | (u32::from(*sum == most) << k));
        let best = equal.trailing_zeros();
        if let Some(sum) = sums.get_mut(best as usize) {
            *sum = f32::NEG_INFINITY;
        }
        let lead = f64::from(most) - f64::from(largest(&sums)) - self.blur;
        (lead > 0.0).then_some(best)
    }

    /// The best cluster of a row; ties go to the smaller number.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it is compiled anew for every instruction set that calls it"
    )]
    fn exact_choice<L: Label>(&self, row: &[L], sums: &mut [f64]) -> u32 {
        sums.fill(0.0);
        for (place, offset) in row
            .iter()
            .zip(&self.offsets)
            .filter_map(|(label, offset)| Some((label.cluster()?, offset)))
        {
            let line =
                &self.lines[(offset + place) * self.clusters..(offset + place + 1) * self.clusters];
            sums.iter_mut().zip(line).for_each(|(sum, add)| *sum += add);
        }
        best_and_lead(sums).0
    }
}

/// The largest of some sums and by how much it leads the second; ties go to the smaller number.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "it is compiled anew for every instruction set that calls it"
)]
fn best_and_lead(sums: &[f64]) -> (u32, f64) {
    let mut best = 0;
    let mut second = f64::NEG_INFINITY;
    for k in 1..sums.len() {
        if sums[k] > sums[best] {
            second = sums[best];
            best = k;
        } else {
            second = second.max(sums[k]);
        }
    }
    (best as u32, sums[best] - second)
}

/// The largest of some numbers, a vector at a time.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "it is compiled anew for every instruction set that calls it"
)]
fn largest<const N: usize>(sums: &[f32; N]) -> f32 {
    let mut most = [f32::NEG_INFINITY; WIDTH];
    for eight in sums.as_chunks::<WIDTH>().0 {
        for (most, sum) in most.iter_mut().zip(eight) {
            *most = if *sum > *most { *sum } else { *most };
        }
    }
    for half in [4, 2, 1] {
        for at in 0..half {
            most[at] = if most[at + half] > most[at] {
                most[at + half]
            } else {
                most[at]
            };
        }
    }
    most[0]
}
