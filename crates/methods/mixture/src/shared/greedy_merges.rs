//! Agglomeration of small clusters: greedy merges that lose the least likelihood.

use crate::shared::sufficient_statistics::SufficientStatistics;

/// For every cluster of `sums`, its place among `clusters` after greedy merges. Each merge is the one that loses the
/// least of the log likelihood of the labels, were every row certain of its cluster; ties go to the smaller numbers.
///
/// ```text
/// loss(a, b) = L(a) + L(b) − L(a + b)      L = Σ_u (Σ_j N_uj ln N_uj − N_u ln N_u)
/// ```
///
/// # Cost
/// O(K'² ΣJ) time for K' clusters, with a logarithm only where two clusters share a label.
pub(crate) fn merge_to(
    sums: &SufficientStatistics,
    clusters: usize,
    offsets: &[usize],
) -> Vec<u32> {
    let many = sums.sizes.len();
    let mut parts: Vec<ClusterCounts> = (0..many)
        .map(|k| ClusterCounts::of(sums, k, offsets))
        .collect();
    let mut place: Vec<usize> = (0..many).collect();
    let mut live: Vec<usize> = (0..many).collect();
    let mut losses = vec![0.0; many * many];
    for a in 0..many {
        for b in 0..a {
            losses[a * many + b] = parts[a].loss(&parts[b]);
        }
    }
    while live.len() > clusters.max(1) {
        let (a, b) = cheapest(&live, &losses, many);
        let gone = std::mem::replace(&mut parts[a], ClusterCounts::EMPTY);
        parts[b].join(&gone);
        place.iter_mut().filter(|p| **p == a).for_each(|p| *p = b);
        live.retain(|&k| k != a);
        for &other in live.iter().filter(|&&other| other != b) {
            losses[other.max(b) * many + other.min(b)] = parts[b].loss(&parts[other]);
        }
    }
    place
        .iter()
        .map(|p| {
            live.iter()
                .position(|k| k == p)
                .expect("every cluster ends in a live one") as u32
        })
        .collect()
}

/// The pair of live clusters whose merge loses least, the larger number first.
fn cheapest(live: &[usize], losses: &[f64], many: usize) -> (usize, usize) {
    let mut best = (live[1], live[0]);
    for (at, &a) in live.iter().enumerate() {
        for &b in &live[..at] {
            if losses[a * many + b] < losses[best.0 * many + best.1] {
                best = (a, b);
            }
        }
    }
    best
}

/// The counts of one cluster: of labels, then of base clusterings.
#[derive(Clone)]
pub(super) struct ClusterCounts {
    labels: Vec<Count>,
    totals: Vec<Count>,
}

/// How many, and n ln n.
#[derive(Clone, Copy, Default)]
struct Count {
    number: f64,
    entropy: f64,
}

impl Count {
    fn of(number: f64) -> Self {
        Self {
            number,
            entropy: if number > 0.0 {
                number * number.ln()
            } else {
                0.0
            },
        }
    }
}

impl ClusterCounts {
    const EMPTY: Self = Self {
        labels: Vec::new(),
        totals: Vec::new(),
    };

    /// No rows, of the same base clusterings.
    pub(super) fn empty_as(other: &Self) -> Self {
        let none = |counts: &[Count]| vec![Count::default(); counts.len()];
        Self {
            labels: none(&other.labels),
            totals: none(&other.totals),
        }
    }

    pub(super) fn of(sums: &SufficientStatistics, cluster: usize, offsets: &[usize]) -> Self {
        let labels: Vec<f64> = sums
            .labels
            .iter()
            .skip(cluster)
            .step_by(sums.sizes.len())
            .copied()
            .collect();
        let total = |ends: &[usize]| Count::of(labels[ends[0]..ends[1]].iter().sum());
        let totals = offsets.windows(2).map(total).collect();
        Self {
            labels: labels.into_iter().map(Count::of).collect(),
            totals,
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.change(other, 1.0);
    }

    pub(super) fn part(&mut self, other: &Self) {
        self.change(other, -1.0);
    }

    fn change(&mut self, other: &Self, sign: f64) {
        let pairs = (self.labels.iter_mut().zip(&other.labels))
            .chain(self.totals.iter_mut().zip(&other.totals));
        for (own, other) in pairs.filter(|(_, other)| other.number > 0.0) {
            *own = Count::of(own.number + sign * other.number);
        }
    }

    /// What the log likelihood of the labels loses where the two become one.
    pub(super) fn loss(&self, other: &Self) -> f64 {
        shared(&self.totals, &other.totals) - shared(&self.labels, &other.labels)
    }

    /// The same of a part of this cluster and the rest of it.
    pub(super) fn loss_of(&self, part: &Self) -> f64 {
        left(&self.totals, &part.totals) - left(&self.labels, &part.labels)
    }
}

/// Σ (a + b) ln (a + b) − a ln a − b ln b.
fn shared(a: &[Count], b: &[Count]) -> f64 {
    let pairs = a
        .iter()
        .zip(b)
        .filter(|(a, b)| a.number > 0.0 && b.number > 0.0);
    pairs
        .map(|(a, b)| Count::of(a.number + b.number).entropy - a.entropy - b.entropy)
        .sum()
}

/// Σ a ln a − b ln b − (a − b) ln (a − b).
fn left(a: &[Count], b: &[Count]) -> f64 {
    let pairs = a.iter().zip(b).filter(|(_, b)| b.number > 0.0);
    pairs
        .map(|(a, b)| a.entropy - b.entropy - Count::of(a.number - b.number).entropy)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture::{self, Held};
    use partita_core::EnsembleBuilder;

    /// Four groups, each in two halves: the halves meet before groups do, and what is empty goes first.
    #[test]
    fn halves_of_a_group_meet_first() {
        let mut builder = EnsembleBuilder::new(80);
        for u in 0..6 {
            let label = |i: u32| {
                Some(if (i + u).is_multiple_of(9) {
                    (i + u) % 4
                } else {
                    i % 4
                })
            };
            builder.push(format!("u{u}"), (0..80).map(label)).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let held = Held::each(&ensemble);
        let rows = held.rows();
        let halves: Vec<u32> = (0..80).map(|i| 2 * (i % 4) + (i / 40)).collect();
        let place = merge_to(&rows.given_hard(&halves, 10), 4, &rows.layout.offsets);
        for group in 0..4 {
            assert_eq!(place[2 * group], place[2 * group + 1]);
            assert!((0..group).all(|other| place[2 * other] != place[2 * group]));
        }
    }

    #[test]
    fn the_loss_is_that_of_the_likelihood() {
        let ensemble = fixture::ensemble();
        let held = Held::each(&ensemble);
        let rows = held.rows();
        let labels: Vec<u32> = (0..24).map(|i| i % 3).collect();
        let sums = rows.given_hard(&labels, 3);
        let log = |sums: &SufficientStatistics| {
            let term = |x: f64| if x > 0.0 { x * x.ln() } else { 0.0 };
            let totals = rows.layout.totals(&sums.labels, sums.clusters());
            sums.labels.iter().map(|&x| term(x)).sum::<f64>()
                - totals.into_iter().map(term).sum::<f64>()
        };
        let joined = rows.given_hard(&labels.iter().map(|&k| k.min(1)).collect::<Vec<_>>(), 2);
        let loss = ClusterCounts::of(&sums, 1, &rows.layout.offsets).loss(&ClusterCounts::of(
            &sums,
            2,
            &rows.layout.offsets,
        ));
        assert!((loss - (log(&sums) - log(&joined))).abs() < 1e-9);
    }
}
