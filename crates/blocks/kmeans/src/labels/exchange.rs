//! Hartigan and Wong's exchanges: single label rows move wherever that lowers the loss of k-means, or the normalised cut.

use super::assignment::{Utility, within_and_volume};
use super::counts::Counts;

/// A move has to lower the loss by this share of the labels that move.
const GAIN: f64 = 1e-9;

/// What a cluster is worth by its counts of the labels of a base clustering: a sum of one term a count, and the number of objects.
#[derive(Clone, Copy)]
enum Worth {
    /// Σ n² / N.
    Squares,
    /// Σ n ln n − N ln N.
    Entropy,
    /// (Σ nᵖ)^(1/p).
    Norm(f64),
}

impl Worth {
    fn term(self, count: f64) -> f64 {
        match self {
            Self::Squares | Self::Norm(2.0) => count * count,
            Self::Entropy if count > 0.0 => count * count.ln(),
            Self::Entropy => 0.0,
            Self::Norm(p) => count.powf(p),
        }
    }
}

/// Counts whose terms are tabulated, where they are not squares.
const TABULATED: i64 = 1 << 16;

/// What moves of single rows would lower, kept up to date while rows move.
pub(super) trait Exchange {
    /// The cluster into which a row moves from its `own` (the cluster, and the row's weight), with the largest gain; none if no move
    /// lowers the loss.
    /// `gains` are K numbers to work with.
    fn best_move(
        &self,
        counts: &Counts,
        labels: &[(usize, usize)],
        own: (u32, f64),
        gains: &mut [f64],
    ) -> Option<u32>;

    /// What a row that is about to move from one cluster to another does to them.
    fn moved(&mut self, counts: &Counts, labels: &[(usize, usize)], ends: (u32, u32), weight: f64);
}

/// The cluster that a row moves to, by what all gain by it and its own by its leaving; none where that is not above `least`.
fn largest(gains: &mut [f64], own: u32, least: f64) -> Option<u32> {
    let leave = std::mem::replace(&mut gains[own as usize], f64::NEG_INFINITY);
    let best = (0..gains.len()).fold(0, |best, k| if gains[k] > gains[best] { k } else { best });
    (gains[best] + leave > least).then_some(best as u32)
}

/// The sum of terms of every base clustering and cluster, M × K, which change with every move.
pub(super) struct Worths<'a> {
    worth: Worth,
    terms: Vec<f64>,
    sums: Vec<f64>,
    clusters: usize,
    base_weights: &'a [f64],
}

impl<'a> Worths<'a> {
    /// Those of a utility, or the sum of squares.
    pub(super) fn of(
        counts: &Counts,
        offsets: &[usize],
        base_weights: &'a [f64],
        utility: Option<Utility>,
    ) -> Self {
        let worth = match utility {
            None => Worth::Squares,
            Some(Utility::Entropy { .. }) => Worth::Entropy,
            Some(Utility::Norm(p)) => Worth::Norm(p),
        };
        let clusters = counts.clusters();
        let mut sums = vec![0.0; base_weights.len() * clusters];
        for (ends, sums) in offsets.windows(2).zip(sums.chunks_exact_mut(clusters)) {
            for place in ends[0]..ends[1] {
                sums.iter_mut()
                    .zip(counts.of(place))
                    .for_each(|(sum, &count)| *sum += worth.term(count as f64));
            }
        }
        let objects = (0..clusters as u32).map(|k| counts.objects(k)).sum::<i64>();
        let tabulated = if matches!(worth, Worth::Squares | Worth::Norm(2.0)) {
            0
        } else {
            objects.min(TABULATED)
        };
        let terms = (0..tabulated)
            .map(|count| worth.term(count as f64))
            .collect();
        Self {
            worth,
            terms,
            sums,
            clusters,
            base_weights,
        }
    }

    fn term(&self, count: f64) -> f64 {
        self.terms
            .get(count as usize)
            .copied()
            .unwrap_or_else(|| self.worth.term(count))
    }

    /// The worth by the sum of the terms; that of no objects is 0.
    fn worth(&self, sum: f64, objects: f64) -> f64 {
        match self.worth {
            _ if objects < 0.5 => 0.0,
            Worth::Squares => sum / objects,
            Worth::Entropy => sum - self.term(objects),
            Worth::Norm(2.0) => sum.sqrt(),
            Worth::Norm(p) => sum.max(0.0).powf(p.recip()),
        }
    }

    /// [`Exchange::best_move`] by these terms and this worth.
    fn best_by(
        &self,
        counts: &Counts,
        labels: &[(usize, usize)],
        (own, weight): (u32, f64),
        gains: &mut [f64],
        term: impl Fn(f64) -> f64,
        worth: impl Fn(f64, f64) -> f64,
    ) -> Option<u32> {
        gains.fill(0.0);
        let mut all = 0.0;
        for &(u, place) in labels {
            all += self.base_weights[u] * weight;
            let of_label = counts.of(place);
            let sums = &self.sums[u * self.clusters..][..self.clusters];
            for (k, gain) in gains.iter_mut().enumerate() {
                let (size, count) = (counts.labelled(u, k) as f64, of_label[k] as f64);
                // What the row adds to its own cluster, and would add to another: negative signs for the latter.
                let change = if k == own as usize { -weight } else { weight };
                let sum = sums[k] + (term(count + change) - term(count));
                *gain += self.base_weights[u] * (worth(sum, size + change) - worth(sums[k], size));
            }
        }
        // Leaving lowers by weight − (…), joining raises by as much: the weights cancel.
        largest(gains, own, GAIN * all)
    }
}

impl Exchange for Worths<'_> {
    fn best_move(
        &self,
        counts: &Counts,
        labels: &[(usize, usize)],
        own: (u32, f64),
        gains: &mut [f64],
    ) -> Option<u32> {
        // The usual worth has a loop of its own, without a table or a branch in it.
        if matches!(self.worth, Worth::Squares) {
            let worth = |sum: f64, objects: f64| if objects < 0.5 { 0.0 } else { sum / objects };
            return self.best_by(counts, labels, own, gains, |count| count * count, worth);
        }
        let (term, worth) = (
            |count| self.term(count),
            |sum, objects| self.worth(sum, objects),
        );
        self.best_by(counts, labels, own, gains, term, worth)
    }

    fn moved(
        &mut self,
        counts: &Counts,
        labels: &[(usize, usize)],
        (from, to): (u32, u32),
        weight: f64,
    ) {
        for &(u, place) in labels {
            for (k, change) in [(from as usize, -weight), (to as usize, weight)] {
                let count = counts.of(place)[k] as f64;
                let more = self.term(count + change) - self.term(count);
                self.sums[u * self.clusters + k] += more;
            }
        }
    }
}

/// Weight of the pairs within every cluster, and of all pairs of its objects with any: the cut is small where the former are a large share
/// of the latter.
pub(super) struct Cuts<'a> {
    within: Vec<f64>,
    volume: Vec<f64>,
    sizes: &'a [f64],
    base_weights: &'a [f64],
}

impl<'a> Cuts<'a> {
    pub(super) fn of(
        counts: &Counts,
        offsets: &[usize],
        base_weights: &'a [f64],
        sizes: &'a [f64],
    ) -> Self {
        let (within, volume) = within_and_volume(offsets, counts, base_weights, sizes);
        Self {
            within,
            volume,
            sizes,
            base_weights,
        }
    }

    /// By how much a row changes the weight of pairs within a cluster that it joins, or leaves where its weight is negative.
    fn more_within(
        &self,
        counts: &Counts,
        labels: &[(usize, usize)],
        k: usize,
        weight: f64,
    ) -> f64 {
        let of = |&(u, place): &(usize, usize)| {
            self.base_weights[u] * weight * (2.0 * counts.of(place)[k] as f64 + weight)
        };
        labels.iter().map(of).sum()
    }

    fn degree(&self, labels: &[(usize, usize)]) -> f64 {
        labels
            .iter()
            .map(|&(u, place)| self.base_weights[u] * self.sizes[place])
            .sum()
    }
}

impl Exchange for Cuts<'_> {
    fn best_move(
        &self,
        counts: &Counts,
        labels: &[(usize, usize)],
        (own, weight): (u32, f64),
        gains: &mut [f64],
    ) -> Option<u32> {
        let degree = self.degree(labels);
        let share = |within: f64, volume: f64| {
            if volume > GAIN * degree {
                within / volume
            } else {
                0.0
            }
        };
        for (k, gain) in gains.iter_mut().enumerate() {
            let change = if k == own as usize { -weight } else { weight };
            let (within, volume) = (self.within[k], self.volume[k]);
            let more = self.more_within(counts, labels, k, change);
            *gain = share(within + more, volume + change * degree) - share(within, volume);
        }
        // A cluster that joins another never lowers the cut.
        let alone = counts.objects(own) as f64 <= weight;
        (!alone).then(|| largest(gains, own, GAIN)).flatten()
    }

    fn moved(
        &mut self,
        counts: &Counts,
        labels: &[(usize, usize)],
        (from, to): (u32, u32),
        weight: f64,
    ) {
        let degree = self.degree(labels);
        for (k, change) in [(from as usize, -weight), (to as usize, weight)] {
            self.within[k] += self.more_within(counts, labels, k, change);
            self.volume[k] += change * degree;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use partita_core::{EnsembleBuilder, LabelRows, Seed, Silent};
    use rand::RngExt;

    use super::super::{Assignment, Counts, Plan, Utility, WeightedLabelRows, kmeans};

    /// The result of k-means is a local minimum: no move of one row lowers the loss.
    #[test]
    fn no_single_move_lowers_the_result() {
        for seed in 0..40 {
            let mut rng = Seed::new(seed).rng();
            let (objects, clusters) = (rng.random_range(6..40), rng.random_range(2..6));
            let mut builder = EnsembleBuilder::new(objects);
            for u in 0..4 {
                let mut label = || {
                    if rng.random_bool(0.2 * f64::from(u)) {
                        None
                    } else {
                        Some(rng.random_range(0..4))
                    }
                };
                builder
                    .push(
                        u.to_string(),
                        (0..objects).map(|_| label()).collect::<Vec<Option<u32>>>(),
                    )
                    .unwrap();
            }
            let ensemble = builder.finish().unwrap();
            let LabelRows::Bytes(cells) = ensemble.rows() else {
                panic!("four clusters fit a byte")
            };
            let cells = cells.as_standard_layout();
            let rows = WeightedLabelRows::new(&ensemble, cells.as_slice().unwrap());
            let all = Counts::together(&rows);
            let sizes: Vec<f64> = (0..rows.offsets()[4])
                .map(|place| all.of(place)[0] as f64)
                .collect();
            let (count, base_weights) = (
                |number| NonZeroU32::new(number).unwrap(),
                &[1.0, 0.5, 2.0, 1.0],
            );
            for assignment in [
                Assignment::Nearest,
                Assignment::Utility(Utility::Entropy { smoothing: 1.0 }),
                Assignment::Utility(Utility::Norm(2.0)),
                Assignment::Utility(Utility::Norm(5.0)),
                Assignment::NormalisedCut(&sizes),
            ] {
                let plan = Plan {
                    clusters,
                    base_weights,
                    assignment,
                    restarts: count(3),
                    swaps: 8,
                    rounds: count(50),
                    tolerance: 1e-9,
                };
                let fit = kmeans(&rows, &plan, Seed::new(seed), &Silent);
                let loss = |counts: &Counts| assignment.loss(counts, rows.offsets(), base_weights);
                let least = loss(&fit.counts);
                assert!((fit.trace.last().unwrap() - least).abs() <= 1e-9 * least.max(1.0));
                for (at, to) in
                    (0..rows.len()).flat_map(|at| (0..clusters as u32).map(move |to| (at, to)))
                {
                    let (mut counts, weight): (Counts, i64) =
                        (fit.counts.clone(), rows.weight(at).into());
                    counts.add(rows.places(at), fit.labels[at], -weight);
                    counts.add(rows.places(at), to, weight);
                    assert!(
                        loss(&counts) >= least - 1e-6,
                        "{assignment:?}, seed {seed}: row {at} to {to}"
                    );
                }
            }
        }
    }
}
