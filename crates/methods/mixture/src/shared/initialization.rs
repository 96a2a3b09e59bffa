//! Initialization of mixtures: k-means++ into many small clusters that are merged, and Dirichlet draws.

use std::num::Saturating;

use partita_core::{AnyBlock, EnsembleRows, Entry, ProblemSize, Row, RowBlock, RowSample, Seed};
use partita_kmeans::plus_plus::{DistanceField, Field, Points, plus_plus};

use crate::shared::greedy_merges::merge_to;
use crate::shared::held_rows::{GivenMemberships, HeldRows};
use crate::shared::layout::BaseLayout;
use crate::shared::shares::MixtureShares;
use crate::shared::small_cluster_moves::moved;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// Rows that a start looks at; where there are more than twice as many, a sample of so many.
const START_ROWS: usize = 8192;

/// Small clusters a start has for each one wanted, and the most it has.
const SMALL_A_CLUSTER: usize = 8;
const MOST_SMALL: usize = 256;

/// Iterations in which rows find the small cluster they fit best.
const POLISH_ROUNDS: u32 = 2;

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

/// What the rows of one start add up to. Small clusters around rows drawn as k-means++ does are merged by the
/// likelihood that a merge loses: the likelihood of label rows has many poor local maxima, nearly all of them with two
/// clusters for one group and one for two, and EM from k-means++ with K centres ends on one of those.
///
/// # Cost
/// O(r M K' + K'² ΣJ) time for r = min(rows, 16384) rows and K' = min(8 K, 256) small clusters.
pub(crate) fn merged_statistics(
    rows: HeldRows<'_>,
    clusters: usize,
    merges: Merges,
    seed: Seed,
) -> SufficientStatistics {
    if rows.len() > 2 * START_ROWS {
        let sample = RowSample::draw(&rows.passes(), START_ROWS, seed.child(u64::MAX));
        let sample =
            sample.expect("rows in memory are read, and every base clustering labels some");
        let layout = rows.layout;
        let rows = EnsembleRows::weighted(&sample.ensemble, &sample.weights).with_shares();
        return merged_rows(HeldRows { rows, layout }, clusters, merges, seed);
    }
    merged_rows(rows, clusters, merges, seed)
}

fn merged_rows(
    rows: HeldRows<'_>,
    clusters: usize,
    merges: Merges,
    seed: Seed,
) -> SufficientStatistics {
    let layout = rows.layout;
    let small = (SMALL_A_CLUSTER * clusters)
        .min(MOST_SMALL)
        .min(rows.len())
        .max(clusters);
    let mut labels = kmeans_plus_plus(rows, small, seed);
    if small > clusters {
        for _ in 0..POLISH_ROUNDS {
            let shares = begun(layout, &rows.given_hard(&labels, small));
            labels = rows.nearest(&shares.logs(layout));
        }
        let sums = rows.given_hard(&labels, small).weighted(layout);
        let mut place = merge_to(&sums, clusters, &layout.offsets);
        if merges == Merges::Moved {
            place = moved(&sums, place, clusters, &layout.offsets);
        }
        labels.iter_mut().for_each(|k| *k = place[*k as usize]);
    }
    rows.given_hard(&labels, clusters)
}

/// Bytes that [`merged_statistics`] holds at once, at most, besides labels: sums of two parts of the rows, shares, and their logarithms, for
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
    rows: HeldRows<'_>,
    clusters: usize,
    restart: u32,
    seed: Seed,
) -> SufficientStatistics {
    let seed = seed.child(u64::from(restart));
    if restart.is_multiple_of(MERGED_OF) {
        merged_statistics(rows, clusters, Merges::of(restart), seed)
    } else {
        rows.given(GivenMemberships::Drawn(seed.number()), clusters)
    }
}

/// Of so many starts one is made by merges.
pub(crate) const MERGED_OF: u32 = 4;

/// The cluster that every row fits best in one start.
pub(crate) fn labels(rows: HeldRows<'_>, clusters: usize, seed: Seed) -> Vec<u32> {
    let sums = merged_statistics(rows, clusters, Merges::Greedy, seed);
    rows.nearest(&begun(rows.layout, &sums).logs(rows.layout))
}

/// Label shares with one pseudo-label a base clustering, and shares with one pseudo-object in all.
pub(crate) fn begun(layout: &BaseLayout, sums: &SufficientStatistics) -> MixtureShares {
    MixtureShares::with_one_label(sums, layout, 1.0 / sums.clusters() as f64)
}

/// The nearest of K rows, drawn as k-means++ does, for every row.
///
/// # Cost
/// O(rows · M · K) time.
pub(crate) fn kmeans_plus_plus(rows: HeldRows<'_>, clusters: usize, seed: Seed) -> Vec<u32> {
    rows.rows.with_all(|block| match block {
        AnyBlock::Bytes(block) => nearest_drawn(&block, rows.layout, clusters, seed),
        AnyBlock::Words(block) => nearest_drawn(&block, rows.layout, clusters, seed),
        AnyBlock::Shares(block) => nearest_drawn(&block, rows.layout, clusters, seed),
    })
}

fn nearest_drawn<'r, R: Row<'r>>(
    block: &RowBlock<'r, R>,
    layout: &BaseLayout,
    clusters: usize,
    seed: Seed,
) -> Vec<u32> {
    // A row that says little makes a poor centre.
    let all: f64 = (0..layout.len()).map(|u| layout.copies_of(u)).sum();
    let weights = block
        .rows()
        .map(|(row, weight)| weight * layout.labels_of(row) / all)
        .collect();
    let points = LabelRows {
        block,
        layout,
        weights,
    };
    let mut field = Field::new(&points);
    let chosen = plus_plus(&mut field, clusters, 1, &mut seed.rng());
    if let Some(&last) = chosen.last() {
        field.add(last);
    }
    field.into_nearest()
}

/// Rows by their distances: the share of labels on which two rows differ, by weight, among those that both have. That is half the squared
/// distance of their one-hot rows, were they as long; of rows of shares it is just that.
struct LabelRows<'a, 'r, R: Row<'r>> {
    block: &'a RowBlock<'r, R>,
    layout: &'a BaseLayout,
    weights: Vec<f64>,
}

impl<'r, R: Row<'r>> Points for LabelRows<'_, 'r, R> {
    fn count(&self) -> usize {
        self.weights.len()
    }

    fn weight(&self, point: usize) -> f64 {
        self.weights[point]
    }

    fn distances(&self, centres: &[usize]) -> Vec<Vec<f64>> {
        let from = |&centre: &usize| {
            let centre = Centre::new(self.block.row(centre), self.layout);
            let away = |(row, _): (R, f64)| centre.distance(row, self.layout);
            self.block.rows().map(away).collect()
        };
        centres.iter().map(from).collect()
    }
}

/// A row as a vector of ΣJ shares.
struct Centre {
    shares: Vec<f64>,
    /// The squared length in each base clustering; none where it does not know the row.
    squares: Vec<Option<f64>>,
}

impl Centre {
    fn new<'r, R: Row<'r>>(row: R, layout: &BaseLayout) -> Self {
        let mut shares = vec![0.0; layout.label_values()];
        let mut squares = vec![None; layout.len()];
        for entry in row.entries(&layout.offsets) {
            shares[entry.cluster] = entry.share;
            *squares[entry.base].get_or_insert(0.0) += entry.share * entry.share;
        }
        Self { shares, squares }
    }

    /// 1 from a row with which it has no base clustering in common.
    fn distance<'r, R: Row<'r>>(&self, row: R, layout: &BaseLayout) -> f64 {
        let mut apart = 0.0;
        let mut both = 0.0;
        for Entry {
            base,
            cluster,
            share,
        } in row.entries(&layout.offsets)
        {
            if let Some(square) = self.squares[base] {
                let weight = layout.copies_of(base) * share;
                // The shares of a row in a base clustering add up to 1.
                apart += weight * (0.5 * (share + square) - self.shares[cluster]);
                both += weight;
            }
        }
        if both > 0.0 {
            (apart / both).max(0.0)
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture::{self, Held};
    use partita_core::EnsembleBuilder;

    #[test]
    fn distinct_rows_become_centres_before_any_is_drawn_twice() {
        let mut builder = EnsembleBuilder::new(3);
        for u in 0..3u32 {
            builder
                .push(format!("u{u}"), (0..3).map(|i| Some(i % 3)))
                .unwrap();
        }
        let held = Held::of(&builder.finish().unwrap());
        for seed in 0..20 {
            let nearest = kmeans_plus_plus(held.rows(), 3, Seed::new(seed));
            assert!((0..3).all(|k| nearest.contains(&k)));
        }
    }

    #[test]
    fn missing_labels_are_not_compared() {
        let mut builder = EnsembleBuilder::new(3);
        let columns = [
            [Some(0), Some(0), None],
            [Some(1), Some(2), None],
            [None, Some(3), Some(1)],
        ];
        for (u, column) in columns.into_iter().enumerate() {
            builder.push(format!("u{u}"), column).unwrap();
        }
        let held = Held::of(&builder.finish().unwrap());
        held.rows().rows.with_all(|block| {
            let AnyBlock::Bytes(block) = block else {
                panic!("few clusters")
            };
            let centre = Centre::new(block.row(0), &held.layout);
            let away = |row| centre.distance(block.row(row), &held.layout);
            assert_eq!([away(1), away(2)], [0.5, 1.0]);
        });
    }

    /// Starts of many rows are made of a sample that stands for all.
    #[test]
    fn starts_of_many_rows_have_the_weight_of_all() {
        let held = Held::of(&fixture::many(40_000, 12, 5));
        assert!(held.rows().len() > 2 * START_ROWS);
        let sums = merged_statistics(held.rows(), 5, Merges::Greedy, Seed::new(1));
        let all: f64 = sums.sizes.iter().sum();
        assert!((all / 40_000.0 - 1.0).abs() < 0.05, "{all}");
    }
}
