//! Moves of small clusters between the clusters that they were merged into, as Kernighan and Lin move vertices.

use crate::shared::greedy_merges::ClusterCounts;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// Passes over the small clusters, at most.
const PASSES: u32 = 5;

/// A pass ends after so many moves in a row that do not lead beyond the best point so far, or after so many over K' where that is more.
const LOSING: usize = 8;
const LOSING_OF_FEW: usize = 1024;

/// A pass has to gain this share of the number of labels.
const GAIN: f64 = 1e-9;

/// Moves the clusters of `sums` from their `place` to others while that raises the log likelihood of the labels, were every row certain of
/// its cluster. In a pass a small cluster moves once, the best move first even if it loses, and the moves up to the best point stand: two
/// small clusters can change places though neither gains alone. No place loses its last one.
///
/// # Cost
/// O(K'² ΣJ) time a pass for K' small clusters.
pub(crate) fn moved(
    sums: &SufficientStatistics,
    place: Vec<u32>,
    clusters: usize,
    offsets: &[usize],
) -> Vec<u32> {
    let small: Vec<ClusterCounts> = (0..place.len())
        .map(|s| ClusterCounts::of(sums, s, offsets))
        .collect();
    let enough = GAIN * sums.labels.iter().sum::<f64>();
    let mut moves = Moves::new(&small, place, clusters);
    for _ in 0..PASSES {
        if moves.pass() <= enough {
            break;
        }
    }
    moves.place
}

/// Small clusters in their places.
struct Moves<'a> {
    small: &'a [ClusterCounts],
    place: Vec<u32>,
    groups: Vec<ClusterCounts>,
    /// For every place what joining it costs each small cluster; for its own place what leaving it gains.
    losses: Vec<Vec<f64>>,
}

impl<'a> Moves<'a> {
    fn new(small: &'a [ClusterCounts], place: Vec<u32>, clusters: usize) -> Self {
        let mut groups = vec![ClusterCounts::empty_as(&small[0]); clusters];
        place
            .iter()
            .zip(small)
            .for_each(|(&k, counts)| groups[k as usize].join(counts));
        let mut moves = Self {
            small,
            place,
            groups,
            losses: vec![Vec::new(); clusters],
        };
        (0..clusters).for_each(|k| moves.look_at(k));
        moves
    }

    /// Finds the losses of a place.
    fn look_at(&mut self, k: usize) {
        let group = &self.groups[k];
        let loss = |(counts, &own): (&ClusterCounts, &u32)| {
            if own as usize == k {
                group.loss_of(counts)
            } else {
                group.loss(counts)
            }
        };
        self.losses[k] = self.small.iter().zip(&self.place).map(loss).collect();
    }

    /// Moves a small cluster.
    fn put(&mut self, s: usize, to: u32) {
        let from = std::mem::replace(&mut self.place[s], to);
        self.groups[from as usize].part(&self.small[s]);
        self.groups[to as usize].join(&self.small[s]);
        self.look_at(from as usize);
        self.look_at(to as usize);
    }

    /// The best move of those that are `free`, and what it gains; none where each is alone in its place.
    fn best(&self, free: &[bool]) -> Option<(usize, u32, f64)> {
        let mut best: Option<(usize, u32, f64)> = None;
        for (s, &own) in self.place.iter().enumerate().filter(|(s, _)| free[*s]) {
            if !self
                .place
                .iter()
                .enumerate()
                .any(|(other, k)| *k == own && other != s)
            {
                continue;
            }
            for (k, losses) in self
                .losses
                .iter()
                .enumerate()
                .filter(|(k, _)| *k != own as usize)
            {
                let gain = self.losses[own as usize][s] - losses[s];
                if best.is_none_or(|(_, _, most)| gain > most) {
                    best = Some((s, k as u32, gain));
                }
            }
        }
        best
    }

    /// One pass; what it gained.
    fn pass(&mut self) -> f64 {
        let mut free = vec![true; self.small.len()];
        let (mut done, mut gained) = (Vec::new(), 0.0);
        let (mut kept, mut most) = (0, 0.0);
        let losing = LOSING.max(LOSING_OF_FEW / self.small.len());
        while done.len() < kept + losing {
            let Some((s, to, gain)) = self.best(&free) else {
                break;
            };
            free[s] = false;
            done.push((s, self.place[s]));
            self.put(s, to);
            gained += gain;
            if gained > most {
                (kept, most) = (done.len(), gained);
            }
        }
        for (s, from) in done.drain(kept..).rev() {
            self.put(s, from);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use partita_core::{EnsembleBuilder, Seed};
    use rand::RngExt;

    use super::*;
    use crate::shared::fixture::{self, Held};
    use crate::shared::greedy_merges::merge_to;
    use crate::shared::held_rows::HeldRows;
    use crate::shared::initialization::kmeans_plus_plus;

    /// The log likelihood of the labels, were every row certain of its cluster.
    fn log_likelihood(rows: HeldRows<'_>, labels: &[u32], clusters: usize) -> f64 {
        let sums = rows.given_hard(labels, clusters);
        let entropy = |x: f64| if x > 0.0 { x * x.ln() } else { 0.0 };
        let of_base = |ends: &[usize], k: usize| {
            let counts: Vec<f64> = (ends[0]..ends[1])
                .map(|j| sums.labels[j * clusters + k])
                .collect();
            counts.iter().map(|&n| entropy(n)).sum::<f64>() - entropy(counts.iter().sum())
        };
        let bases = rows.layout.offsets.windows(2);
        bases
            .map(|ends| (0..clusters).map(|k| of_base(ends, k)).sum::<f64>())
            .sum()
    }

    /// Four groups of two halves; base clusterings with up to eight clusters number halves by remainders, so that halves of different
    /// groups share clusters. Greedy merges join some of these, and then no single half gains by a move.
    #[test]
    fn halves_that_greedy_merges_joined_change_places() {
        let mut ended_low = [0; 2];
        for seed in 0..200 {
            let mut rng = Seed::new(seed).rng();
            let mut builder = EnsembleBuilder::new(80);
            for u in 0..6 {
                let many: u32 = rng.random_range(2..=8);
                let label = |i: u32| Some(if many > 4 { i % 8 } else { i % 4 } % many);
                builder.push(format!("u{u}"), (0..80).map(label)).unwrap();
            }
            let ensemble = builder.finish().unwrap();
            let held = Held::each(&ensemble);
            let rows = held.rows();
            let halves: Vec<u32> = (0..80).map(|i| i % 8).collect();
            let sums = rows.given_hard(&halves, 8);
            let greedy = merge_to(&sums, 4, &rows.layout.offsets);
            let moved = moved(&sums, greedy.clone(), 4, &rows.layout.offsets);
            let value = |place: &[u32]| {
                log_likelihood(
                    rows,
                    &halves
                        .iter()
                        .map(|half| place[*half as usize])
                        .collect::<Vec<_>>(),
                    4,
                )
            };
            let groups = value(&[0, 1, 2, 3, 0, 1, 2, 3]);
            for (count, place) in ended_low.iter_mut().zip([greedy, moved]) {
                *count += u32::from(value(&place) < groups - 1e-6);
            }
        }
        assert!(
            ended_low[0] >= 4 && ended_low[1] == 0,
            "{ended_low:?} of 200"
        );
    }

    #[test]
    fn moves_raise_the_likelihood_until_none_does() {
        let mut better = 0;
        for seed in 0..60 {
            let ensemble = fixture::drawn(seed);
            let held = Held::of(&ensemble);
            let rows = held.rows();
            let small = kmeans_plus_plus(rows, 9, Seed::new(seed));
            let sums = rows.given_hard(&small, 9);
            let greedy = merge_to(&sums, 3, &rows.layout.offsets);
            let place = moved(&sums, greedy.clone(), 3, &rows.layout.offsets);
            assert!((0..3).all(|k| place.contains(&k)));
            let value = |place: &[u32]| {
                log_likelihood(
                    rows,
                    &small.iter().map(|s| place[*s as usize]).collect::<Vec<_>>(),
                    3,
                )
            };
            let reached = value(&place);
            assert!(reached >= value(&greedy) - 1e-9, "seed {seed}");
            better += u32::from(reached > value(&greedy) + 1e-6);
            for (s, k) in (0..9).flat_map(|s| (0..3).map(move |k| (s, k))) {
                let mut other = place.clone();
                other[s] = k;
                let emptied = (0..3).any(|k| !other.contains(&k));
                assert!(
                    emptied || value(&other) <= reached + 1e-6,
                    "seed {seed}: {s} to {k}"
                );
            }
        }
        assert!(better > 20, "{better} of 60");
    }
}
