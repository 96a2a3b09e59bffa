//! The test of one pair of clusters.

use partita_core::Seed;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, Binomial, ContinuousCDF, DiscreteCDF, Normal};

use crate::corridor::{Corridor, Half, NoCorridor, Pair};
use crate::settings::GapTestSettings;
use crate::windows::{BinCounts, Scale, Windows};

/// Least z of one half: a half that says nothing cannot undo the other.
const LEAST_Z: f64 = -3.0;

/// Largest z of one half, where the tail is 0 in floating point.
const MOST_Z: f64 = 38.0;

/// How much emptier the valley is than the emptier of both ends: 1 − the ratio of densities on rows that were not used to choose the
/// place, with its exact interval of 95 % (Clopper and Pearson).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// 1 for a valley without rows, 0 for one as dense as an end; below 0 for a denser one.
    pub emptier: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// A corridor with the rows that were not used to choose it: what a picture of the test shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CorridorView {
    /// Held-out rows by bins.
    pub counts: BinCounts,
    /// Where the bins are, in standard deviations within clusters from the mean of the first.
    pub scale: Scale,
    /// The windows that were compared.
    pub windows: Windows,
    /// Rows in the first end, in the valley and in the second end.
    pub rows: [u32; 3],
}

/// What the test says of two clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairTest {
    /// The p-value: the median over halvings.
    pub p: f64,
    /// The p-value if all held-out rows of the smaller cluster were in its end, and none in a valley as wide: what is above α cannot tell.
    pub least_p: f64,
    /// Whether the projection has fewer values than the corridor has bins: gaps between values are not gaps between clusters.
    pub few_values: bool,
    /// How much emptier the valley is; none where no half of the rows saw one.
    pub gap: Option<Gap>,
    /// The corridor of the halving in the middle.
    pub corridor: Option<CorridorView>,
}

/// One half learns, the other is counted.
pub(crate) struct HalfTest {
    p: f64,
    least_p: f64,
    few_values: bool,
    view: Option<CorridorView>,
}

/// Learns on one half of the rows and counts the other.
pub(crate) fn test_half(
    pair: Pair<'_, '_>,
    learn: Half,
    settings: &GapTestSettings,
    seed: Seed,
) -> HalfTest {
    let size = (pair.first.rows + pair.second.rows) as f64;
    let share = settings.margin * (pair.rows.dimensions as f64 / size).sqrt();
    let emptier = 1.0 - share.min(0.5);
    let held = [pair.first, pair.second].map(|group| learn.other().moments(group).rows);
    let mut test = HalfTest {
        p: 1.0,
        least_p: (1.0 + emptier).powf(-held[0].min(held[1])),
        few_values: false,
        view: None,
    };
    match Corridor::learn(pair, learn, seed) {
        Ok(corridor) => {
            let (scale, windows) = (corridor.scale, corridor.windows);
            let counts = corridor.count(pair, learn.other());
            let rows = counts.counts(&windows);
            test.p = p_value(rows, &windows, emptier);
            test.few_values = corridor.few_values;
            test.view = Some(CorridorView {
                counts,
                scale,
                windows,
                rows,
            });
        }
        Err(NoCorridor::NoValley) => {}
        Err(NoCorridor::TooFewRows) => test.least_p = 1.0,
    }
    test
}

/// The larger p-value of both ends.
fn p_value([first, valley, second]: [u32; 3], windows: &Windows, emptier: f64) -> f64 {
    let width = windows.valley.width;
    let one = tail(first, windows.first_end.width, valley, width, emptier);
    one.max(tail(
        second,
        windows.second_end.width,
        valley,
        width,
        emptier,
    ))
}

/// P(Bin(V + A, ρ w_V / (ρ w_V + w_A)) ≤ V): how likely as few rows are in the valley if it were ρ times as dense as the end.
pub(crate) fn tail(end: u32, end_width: usize, valley: u32, width: usize, emptier: f64) -> f64 {
    let weight = emptier * width as f64;
    let share = weight / (weight + end_width as f64);
    let all = u64::from(end) + u64::from(valley);
    let binomial = Binomial::new(share, all);
    binomial.map_or(1.0, |binomial| binomial.cdf(valley.into()))
}

/// Both halves' p-values as one (Stouffer), their z no less than [`LEAST_Z`].
fn stouffer(halves: [f64; 2]) -> f64 {
    let normal = Normal::standard();
    let z = halves.map(|p| (-normal.inverse_cdf(p.clamp(0.0, 1.0))).clamp(LEAST_Z, MOST_Z));
    normal.sf((z[0] + z[1]) / std::f64::consts::SQRT_2)
}

/// The test of a pair from those of its halves: two of each halving, in order.
pub(crate) fn combine(halves: Vec<HalfTest>) -> PairTest {
    let both = |of: fn(&HalfTest) -> f64| {
        let of_halving = |two: &[HalfTest]| stouffer([of(&two[0]), of(&two[1])]);
        halves.chunks_exact(2).map(of_halving).collect::<Vec<f64>>()
    };
    let (p, least) = (both(|half| half.p), both(|half| half.least_p));
    let few = halves.iter().filter(|half| half.few_values).count();
    let few_values = 2 * few >= halves.len();
    let view = shown(&p, halves);
    PairTest {
        p: median(&p),
        least_p: median(&least),
        few_values,
        gap: view.as_ref().and_then(gap),
        corridor: view,
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    crate::walkers::quantile(&sorted, 0.5)
}

/// The view of the halving in the middle: of its two halves the one with the larger p-value; of another halving where that has none.
fn shown(p: &[f64], mut halves: Vec<HalfTest>) -> Option<CorridorView> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&one, &other| p[one].total_cmp(&p[other]));
    let middle = order[(p.len() - 1) / 2];
    order.sort_by_key(|&halving| halving != middle);
    for halving in order {
        let first_is_larger = halves[2 * halving].p >= halves[2 * halving + 1].p;
        let (one, other) = (2 * halving, 2 * halving + 1);
        let places = if first_is_larger {
            [one, other]
        } else {
            [other, one]
        };
        for place in places {
            if let Some(view) = halves[place].view.take() {
                return Some(view);
            }
        }
    }
    None
}

/// The gap at the end that is the emptier of both.
fn gap(view: &CorridorView) -> Option<Gap> {
    let [first, valley, second] = view.rows.map(f64::from);
    let windows = view.windows;
    let ends = [
        (first, windows.first_end.width as f64),
        (second, windows.second_end.width as f64),
    ];
    let [one, other] = ends;
    let (end, width) = if one.0 * other.1 <= other.0 * one.1 {
        one
    } else {
        other
    };
    if end + valley == 0.0 {
        return None;
    }
    let ratio = |share: f64| share / (1.0 - share) * width / windows.valley.width as f64;
    let quantile = |a: f64, b: f64, at: f64| Beta::new(a, b).ok().map(|beta| beta.inverse_cdf(at));
    let low = if valley == 0.0 {
        0.0
    } else {
        quantile(valley, end + 1.0, 0.025)?
    };
    let high = if end == 0.0 {
        1.0
    } else {
        quantile(valley + 1.0, end, 0.975)?
    };
    Some(Gap {
        emptier: 1.0 - ratio(valley / (valley + end)),
        low: 1.0 - ratio(high),
        high: 1.0 - ratio(low),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(Bin(n, q) ≤ k), term by term.
    fn enumerated(n: u32, k: u32, q: f64) -> f64 {
        let mut term = (1.0 - q).powi(n as i32);
        let mut sum = term;
        for i in 0..k {
            term *= f64::from(n - i) / f64::from(i + 1) * q / (1.0 - q);
            sum += term;
        }
        sum.min(1.0)
    }

    #[test]
    fn tails_are_those_of_enumeration() {
        for end in 0..40 {
            for valley in 0..25 {
                for (end_width, width) in [(3, 3), (20, 4), (6, 15)] {
                    for emptier in [1.0, 0.93, 0.5] {
                        let share =
                            emptier * width as f64 / (emptier * width as f64 + end_width as f64);
                        let expected = enumerated(end + valley, valley, share);
                        let found = tail(end, end_width, valley, width, emptier);
                        assert!(
                            (found - expected).abs() < 1e-11 * expected.max(1e-3),
                            "{end} {valley} {found} {expected}"
                        );
                    }
                }
            }
        }
        // By fractions of whole numbers in Python.
        assert!((tail(400, 5, 0, 5, 1.0) / 3.8725919148493183e-121 - 1.0).abs() < 1e-9);
        assert!((tail(57, 9, 3, 3, 1.0) / 4.736133328828932e-05 - 1.0).abs() < 1e-11);
    }

    #[test]
    fn halves_are_combined_by_stouffer() {
        // By NormalDist of Python's module statistics.
        assert!((stouffer([0.01, 0.2]) - 0.012542461165617413).abs() < 1e-9);
        // A half without a valley is worth -3, not minus infinity.
        let clipped = stouffer([1.0, 1e-9]);
        assert!((clipped - Normal::standard().sf((5.99780701 - 3.0) / 2f64.sqrt())).abs() < 1e-6);
        assert!(stouffer([0.0, 0.0]) < 1e-300 && stouffer([1.0, 1.0]) > 0.9999);
    }

    #[test]
    fn the_gap_has_an_exact_interval() {
        let window = |first, width| crate::Window { first, width };
        let view = CorridorView {
            counts: BinCounts::default(),
            scale: Scale { from: 0.0, to: 1.0 },
            windows: Windows {
                first_end: window(0, 4),
                valley: window(10, 4),
                second_end: window(20, 4),
            },
            rows: [40, 10, 90],
        };
        let found = gap(&view).unwrap();
        // The shares at which 10 of 50 or more, or fewer, have a probability of 0.025: 0.10030 and 0.33718, by bisection in Python.
        assert!((found.emptier - 0.75).abs() < 1e-12);
        assert!(
            (found.high - (1.0 - 0.10030 / 0.89970)).abs() < 1e-4,
            "{found:?}"
        );
        assert!(
            (found.low - (1.0 - 0.33718 / 0.66282)).abs() < 1e-4,
            "{found:?}"
        );
    }
}
