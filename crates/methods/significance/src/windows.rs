//! Bins along a corridor, and the three windows that show best that its middle is emptier than both ends.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Bins of a corridor.
pub const BINS: usize = 48;

/// Widths that a window may have.
const WIDTHS: [usize; 7] = [3, 4, 6, 8, 11, 15, 20];

/// Bins from `first` on, `width` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The first bin, from 0.
    pub first: usize,
    /// Its bins.
    pub width: usize,
}

impl Window {
    /// What is counted in it.
    pub(crate) fn count<T: Copy + std::iter::Sum>(self, bins: &[T]) -> T {
        bins[self.first..self.first + self.width]
            .iter()
            .copied()
            .sum()
    }
}

/// The ends and the valley between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// At the side of the first cluster.
    pub first_end: Window,
    /// Where it is emptier.
    pub valley: Window,
    /// At the side of the second cluster.
    pub second_end: Window,
}

/// Rows of a corridor by bins: those of the two clusters, and all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BinCounts {
    /// Rows of the two clusters, [`BINS`] numbers.
    pub pair: Vec<u32>,
    /// Rows of any cluster or none, [`BINS`] numbers.
    pub all: Vec<u32>,
}

impl Default for BinCounts {
    fn default() -> Self {
        Self {
            pair: vec![0; BINS],
            all: vec![0; BINS],
        }
    }
}

impl BinCounts {
    pub(crate) fn add(&mut self, bin: usize, in_pair: bool) {
        self.all[bin] += 1;
        self.pair[bin] += u32::from(in_pair);
    }

    /// Rows in the first end, in the valley and in the second end.
    pub(crate) fn counts(&self, windows: &Windows) -> [u32; 3] {
        [
            windows.first_end.count(&self.pair),
            windows.valley.count(&self.all),
            windows.second_end.count(&self.pair),
        ]
    }
}

/// Equal bins over an interval of a line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// Where the first bin begins.
    pub from: f64,
    /// Where the last bin ends.
    pub to: f64,
}

impl Scale {
    /// The bin of a place; none outside.
    pub(crate) fn bin(self, along: f64) -> Option<usize> {
        let share = (along - self.from) / (self.to - self.from);
        (0.0..=1.0)
            .contains(&share)
            .then(|| ((share * BINS as f64) as usize).min(BINS - 1))
    }

    fn bin_width(self) -> f64 {
        (self.to - self.from) / BINS as f64
    }
}

/// Counts smoothed by a normal kernel of this width, whose weights sum to 1 at the borders too.
fn smoothed(counts: &[u32], scale: Scale, width: f64) -> Vec<f64> {
    let step = scale.bin_width() / width;
    let kernel: Vec<f64> = (0..BINS)
        .map(|apart| (-0.5 * (apart as f64 * step).powi(2)).exp())
        .collect();
    let at = |bin: usize| {
        let weights = (0..BINS).map(|other| kernel[bin.abs_diff(other)]);
        let sum: f64 = weights.clone().sum();
        let counted = weights
            .zip(counts)
            .map(|(weight, &n)| weight * f64::from(n));
        counted.sum::<f64>() / sum
    };
    (0..BINS).map(at).collect()
}

/// Sums of all windows of a width, in the order of [`WIDTHS`]: added up one by one, so that empty windows are exactly equal.
fn sums(bins: &[f64]) -> [Vec<f64>; WIDTHS.len()] {
    WIDTHS.map(|width| {
        bins.windows(width)
            .map(|window| window.iter().sum())
            .collect()
    })
}

/// The windows whose smaller z of both ends is the largest, if it is above 0; of equals the first, the narrowest valley before others.
pub(crate) fn best_windows(counts: &BinCounts, scale: Scale, width: f64) -> Option<Windows> {
    let ends = sums(&smoothed(&counts.pair, scale, width));
    let valleys = sums(&smoothed(&counts.all, scale, width));
    let mut best = (0.0, None);
    for (width, valleys) in WIDTHS.into_iter().zip(&valleys) {
        for (first, &rows) in valleys.iter().enumerate() {
            let valley = Window { first, width };
            let left = best_end(&ends, 0..first, valley, rows, best.0);
            let Some((left_z, first_end)) = left else {
                continue;
            };
            let right = best_end(&ends, first + width..BINS, valley, rows, best.0);
            let Some((right_z, second_end)) = right else {
                continue;
            };
            let windows = Windows {
                first_end,
                valley,
                second_end,
            };
            best = (left_z.min(right_z), Some(windows));
        }
    }
    best.1
}

/// The window among some bins with the largest z against the valley, if it is above `least`.
fn best_end(
    ends: &[Vec<f64>],
    among: Range<usize>,
    valley: Window,
    rows: f64,
    least: f64,
) -> Option<(f64, Window)> {
    let mut best = (least, None);
    for (width, ends) in WIDTHS.into_iter().zip(ends) {
        for first in among.start..(among.end + 1).saturating_sub(width).max(among.start) {
            let (there, w_end, w_valley) = (ends[first], width as f64, valley.width as f64);
            let z = (there * w_valley - rows * w_end)
                / ((there + rows + 1.0) * w_end * w_valley).sqrt();
            if z > best.0 {
                best = (z, Some(Window { first, width }));
            }
        }
    }
    Some((best.0, best.1?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_windows_are_those_of_all_triples() {
        let scale = Scale {
            from: 0.0,
            to: 48.0,
        };
        let mut counts = BinCounts::default();
        for bin in 0..BINS {
            let x = bin as f64;
            let two = 30.0 * (-0.02 * (x - 12.0).powi(2)).exp()
                + 20.0 * (-0.02 * (x - 35.0).powi(2)).exp();
            counts.pair[bin] = two as u32 + (bin as u32 * 7) % 5;
            counts.all[bin] = counts.pair[bin] + (bin as u32 * 3) % 4;
        }
        let (pair, all) = (
            smoothed(&counts.pair, scale, 1.5),
            smoothed(&counts.all, scale, 1.5),
        );
        let z = |end: Window, valley: Window| {
            let (a, v): (f64, f64) = (end.count(&pair), valley.count(&all));
            let (w_a, w_v) = (end.width as f64, valley.width as f64);
            (a * w_v - v * w_a) / ((a + v + 1.0) * w_a * w_v).sqrt()
        };
        let mut all_windows = Vec::new();
        for width in WIDTHS {
            all_windows.extend((0..=BINS - width).map(|first| Window { first, width }));
        }
        let mut best = 0.0_f64;
        for &valley in &all_windows {
            let side = |left: bool| {
                let there = |end: &&Window| {
                    if left {
                        end.first + end.width <= valley.first
                    } else {
                        valley.first + valley.width <= end.first
                    }
                };
                let ends = all_windows.iter().filter(there);
                ends.map(|&end| z(end, valley)).fold(f64::MIN, f64::max)
            };
            best = best.max(side(true).min(side(false)));
        }
        let found = best_windows(&counts, scale, 1.5).unwrap();
        let smaller = z(found.first_end, found.valley).min(z(found.second_end, found.valley));
        assert!((smaller - best).abs() < 1e-9, "{smaller} {best}");
        assert!(best_windows(&BinCounts::default(), scale, 1.0).is_none());
    }
}
