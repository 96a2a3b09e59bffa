//! Initialization of mixtures: k-means++ into many small clusters that are merged, and Dirichlet draws.

use std::num::Saturating;

use partita_core::ndarray::{ArrayView1, ArrayView2};
use partita_core::{Label, LabelRows, ProblemSize, Seed};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1};

use crate::shared::greedy_merges::merge_to;
use crate::shared::row_model::RowModel;
use crate::shared::small_cluster_moves::moved;
use crate::shared::sufficient_statistics::SufficientStatistics;
use crate::shared::weighted_rows::WeightedRows;

/// Rows that a start looks at; where there are more than twice as many, a sample of so many.
const START_ROWS: usize = 8192;

/// Small clusters a start has for each one wanted, and the most it has.
const SMALL_A_CLUSTER: usize = 8;
const MOST_SMALL: usize = 256;

/// Rounds in which rows find the small cluster they fit best.
const POLISH_ROUNDS: u32 = 2;

/// What the rows of one start add up to. Small clusters around rows drawn as k-means++ does are merged by the
/// likelihood that a merge loses: the likelihood of label rows has many poor local maxima, nearly all of them with two
/// clusters for one group and one for two, and EM from k-means++ with K centres ends on one of those.
///
/// # Cost
/// O(r M K' + K'² ΣJ) time for r = min(rows, 16384) rows and K' = min(8 K, 256) small clusters.
pub(crate) fn initial_statistics(
    rows: &WeightedRows<'_>,
    clusters: usize,
    seed: Seed,
) -> SufficientStatistics {
    merged_statistics(rows, clusters, Merges::Greedy, seed)
}

/// How small clusters become K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merges {
    /// By the cheapest merge, time after time.
    Greedy,
    /// The same, and then they move while that is better: what greedy merges begin with they cannot undo.
    Moved,
}

impl Merges {
    /// Of several starts all but the first are moved.
    pub(crate) fn of(restart: u32) -> Self {
        if restart == 0 {
            Self::Greedy
        } else {
            Self::Moved
        }
    }
}

/// [`initial_statistics`] by either.
pub(crate) fn merged_statistics(
    rows: &WeightedRows<'_>,
    clusters: usize,
    merges: Merges,
    seed: Seed,
) -> SufficientStatistics {
    let sample = sample(rows, START_ROWS, seed.child(u64::MAX));
    let rows = sample.as_ref().unwrap_or(rows);
    let small = (SMALL_A_CLUSTER * clusters)
        .min(MOST_SMALL)
        .min(rows.weights().len())
        .max(clusters);
    let mut labels = kmeans_plus_plus(rows, small, seed);
    if small > clusters {
        for _ in 0..POLISH_ROUNDS {
            labels = rows.nearest(model(rows, &rows.given_hard(&labels, small)).logs());
        }
        let sums = rows
            .given_hard(&labels, small)
            .weighted(rows.base_weights(), rows.offsets());
        let mut place = merge_to(&sums, clusters, rows.offsets());
        if merges == Merges::Moved {
            place = moved(&sums, place, clusters, rows.offsets());
        }
        labels.iter_mut().for_each(|k| *k = place[*k as usize]);
    }
    rows.given_hard(&labels, clusters)
}

/// Bytes that [`initial_statistics`] holds at once, at most, besides labels: sums of two parts of the rows, shares, and their logarithms, for
/// small clusters.
pub(crate) fn initial_bytes(size: &ProblemSize) -> Saturating<u64> {
    let [_, m, side, k] = size.saturating();
    let small = (k * Saturating(SMALL_A_CLUSTER as u64))
        .min(Saturating(MOST_SMALL as u64))
        .max(k);
    (side + m + Saturating(1)) * small * Saturating(4 * 8)
}

/// What the rows of one of several starts add up to: of every four one is made by merges (of the first, greedy alone), the others of
/// memberships drawn at random, since merges lead to few different places.
pub(crate) fn varied_statistics(
    rows: &WeightedRows<'_>,
    clusters: usize,
    restart: u32,
    seed: Seed,
) -> SufficientStatistics {
    let seed = seed.child(u64::from(restart));
    if restart.is_multiple_of(MERGED_OF) {
        merged_statistics(rows, clusters, Merges::of(restart), seed)
    } else {
        random_statistics(rows, clusters, seed)
    }
}

/// Of so many starts one is made by merges.
pub(crate) const MERGED_OF: u32 = 4;

/// What rows add up to whose memberships are drawn from Dirichlet(1).
pub(crate) fn random_statistics(
    rows: &WeightedRows<'_>,
    clusters: usize,
    seed: Seed,
) -> SufficientStatistics {
    rows.given(clusters, |i, line| {
        let mut rng = seed.child(i as u64).rng();
        line.iter_mut().for_each(|p| *p = Exp1.sample(&mut rng));
        let sum: f64 = line.iter().sum();
        line.iter_mut().for_each(|p| *p /= sum);
    })
}

/// The cluster that every row fits best in one start.
pub(crate) fn labels(rows: &WeightedRows<'_>, clusters: usize, seed: Seed) -> Vec<u32> {
    rows.nearest(model(rows, &initial_statistics(rows, clusters, seed)).logs())
}

/// Label shares with one pseudo-label a base clustering, and shares with one pseudo-object in all.
pub(crate) fn model(rows: &WeightedRows<'_>, sums: &SufficientStatistics) -> RowModel {
    let ends = rows.offsets();
    let spread = |u: usize| RowModel::PSEUDO_LABELS / (ends[u + 1] - ends[u]) as f64;
    RowModel::of_sums(
        rows.ensemble().bases().to_vec(),
        sums,
        spread,
        1.0 / sums.sizes.len() as f64,
    )
    .weighted(rows.base_weights())
}

/// About `most` rows in proportion to their weights, which stand for all; none where there are not more than twice
/// as many. One is drawn from each of `most` equal strata.
pub(crate) fn sample(
    rows: &WeightedRows<'_>,
    most: usize,
    seed: Seed,
) -> Option<WeightedRows<'static>> {
    if rows.weights().len() <= 2 * most {
        return None;
    }
    let mut rng = seed.rng();
    let stratum = rows.weights().iter().sum::<f64>() / most as f64;
    let (mut chosen, mut weights) = (Vec::<u32>::new(), Vec::<f64>::new());
    let (mut row, mut passed) = (0, rows.weights()[0]);
    for s in 0..most {
        let mark = (s as f64 + rng.random::<f64>()) * stratum;
        while passed <= mark && row + 1 < rows.weights().len() {
            row += 1;
            passed += rows.weights()[row];
        }
        if chosen.last() == Some(&(row as u32)) {
            *weights.last_mut().expect("a weight a row") += stratum;
        } else {
            chosen.push(row as u32);
            weights.push(stratum);
        }
    }
    let bases: Vec<u32> = (0..rows.ensemble().bases().len() as u32).collect();
    let ensemble = rows.ensemble().select(&chosen, &bases);
    let sample = WeightedRows::weighted(&ensemble, &weights).expect("positive weights, one a row");
    Some(sample.with_base_weights(rows.base_weights().map(<[f64]>::to_vec)))
}

/// The nearest of K rows, drawn as k-means++ does, for every row. The distance of
/// two rows is the share of labels on which they differ, by weight, among those that both have: half the squared distance of
/// their one-hot rows, were they as long.
///
/// # Cost
/// O(rows · M · K) time.
pub(crate) fn kmeans_plus_plus(rows: &WeightedRows<'_>, clusters: usize, seed: Seed) -> Vec<u32> {
    match rows.ensemble().rows() {
        LabelRows::Bytes(labels) => draw(rows, labels, clusters, seed),
        LabelRows::Words(labels) => draw(rows, labels, clusters, seed),
    }
}

fn draw<L: Label>(
    rows: &WeightedRows<'_>,
    labels: ArrayView2<'_, L>,
    clusters: usize,
    seed: Seed,
) -> Vec<u32> {
    let mut rng = seed.rng();
    // A row that says little makes a poor centre.
    let all = rows
        .base_weights()
        .map_or(labels.ncols() as f64, |weights| weights.iter().sum());
    let share = |i: usize| rows.weight_of_labels(i) / all;
    let weights: Vec<f64> = rows
        .weights()
        .iter()
        .enumerate()
        .map(|(i, w)| w * share(i))
        .collect();
    let mut nearest = vec![0u32; weights.len()];
    let mut distance = vec![f64::INFINITY; weights.len()];
    for cluster in 0..clusters {
        let chances: Vec<f64> = if cluster == 0 {
            weights.clone()
        } else {
            weights.iter().zip(&distance).map(|(w, d)| w * d).collect()
        };
        let Some(centre) = pick(&chances, &mut rng) else {
            break;
        };
        for (i, row) in labels.outer_iter().enumerate() {
            let d = differ(row, labels.row(centre), rows.base_weights());
            if d < distance[i] {
                (distance[i], nearest[i]) = (d, cluster as u32);
            }
        }
    }
    nearest
}

/// An index in proportion to its chance, if any has one.
pub(crate) fn pick(chances: &[f64], rng: &mut impl Rng) -> Option<usize> {
    let total: f64 = chances.iter().sum();
    let mut left = rng.random::<f64>() * total;
    let mut last = None;
    for (i, &chance) in chances.iter().enumerate() {
        if chance > 0.0 {
            last = Some(i);
            left -= chance;
            if left < 0.0 {
                break;
            }
        }
    }
    last
}

fn differ<L: Label>(
    a: ArrayView1<'_, L>,
    b: ArrayView1<'_, L>,
    base_weights: Option<&[f64]>,
) -> f64 {
    let pairs = a
        .iter()
        .zip(&b)
        .map(|(&a, &b)| (a != L::MISSING && b != L::MISSING, a != b));
    let (both, different) = match base_weights {
        None => {
            let (mut both, mut different) = (0u32, 0u32);
            for (seen, differs) in pairs {
                both += u32::from(seen);
                different += u32::from(seen && differs);
            }
            (f64::from(both), f64::from(different))
        }
        Some(weights) => pairs
            .zip(weights)
            .filter(|((seen, _), _)| *seen)
            .fold((0.0, 0.0), |sums, ((_, differs), w)| {
                (sums.0 + w, if differs { sums.1 + w } else { sums.1 })
            }),
    };
    if both == 0.0 { 1.0 } else { different / both }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::EnsembleBuilder;

    #[test]
    fn distinct_rows_become_centres_before_any_is_drawn_twice() {
        let mut builder = EnsembleBuilder::new(9);
        for u in 0..3u32 {
            builder
                .push(format!("u{u}"), (0..9).map(|i| Some(i % 3)))
                .unwrap();
        }
        let ensemble = builder.finish().unwrap();
        for seed in 0..20 {
            let nearest = kmeans_plus_plus(&WeightedRows::of(&ensemble), 3, Seed::new(seed));
            assert_eq!(nearest.len(), 3);
            assert!((0..3).all(|k| nearest.contains(&k)));
        }
    }

    #[test]
    fn a_sample_stands_for_all_rows() {
        let ensemble = crate::shared::fixture::many(5000, 6, 7);
        let rows = WeightedRows::of(&ensemble);
        assert!(sample(&rows, rows.weights().len() / 2 + 1, Seed::new(1)).is_none());
        let sample = sample(&rows, 500, Seed::new(1)).unwrap();
        assert!(sample.weights().len() <= 500);
        assert!((sample.weights().iter().sum::<f64>() - 5000.0).abs() < 1e-6);
        let share =
            |rows: &WeightedRows<'_>| rows.given_hard(&vec![0; rows.weights().len()], 1).labels;
        for (all, some) in share(&rows).into_iter().zip(share(&sample)) {
            assert!((all - some).abs() < 0.1 * 5000.0, "{all} and {some}");
        }
    }

    #[test]
    fn missing_labels_are_not_compared() {
        let missing = u8::MISSING;
        let rows = partita_core::ndarray::array![[0, 1, missing], [0, 2, 3], [missing, missing, 1]];
        assert_eq!(differ(rows.row(0), rows.row(1), None), 0.5);
        assert_eq!(differ(rows.row(0), rows.row(2), None), 1.0);
    }
}
