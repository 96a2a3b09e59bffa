//! Hartigan and Wong's exchanges: single label rows move wherever that lowers the sum of squares.

use super::counts::Counts;

/// A move has to lower the sum of squares by this share of the labels that move.
const GAIN: f64 = 1e-9;

/// Σ_j n_kuj² for every base clustering and cluster, M × K, which change with every move.
pub(super) struct Squares<'a> {
    values: Vec<f64>,
    clusters: usize,
    base_weights: &'a [f64],
}

impl<'a> Squares<'a> {
    pub(super) fn of(counts: &Counts, offsets: &[usize], base_weights: &'a [f64]) -> Self {
        let clusters = counts.clusters();
        let mut values = vec![0.0; base_weights.len() * clusters];
        for (ends, sums) in offsets.windows(2).zip(values.chunks_exact_mut(clusters)) {
            for place in ends[0]..ends[1] {
                sums.iter_mut().zip(counts.of(place)).for_each(|(sum, &count)| *sum += (count as f64).powi(2));
            }
        }
        Self { values, clusters, base_weights }
    }

    /// The cluster into which a row of this weight moves from `own`, with the largest gain; none if no move lowers the sum of squares.
    /// `gains` are K numbers to work with.
    pub(super) fn best_move(
        &self,
        counts: &Counts,
        labels: &[(usize, usize)],
        (own, weight): (u32, f64),
        gains: &mut [f64],
    ) -> Option<u32> {
        gains.fill(0.0);
        let mut all = 0.0;
        for &(u, place) in labels {
            all += self.base_weights[u] * weight;
            let of_label = counts.of(place);
            let squares = &self.values[u * self.clusters..][..self.clusters];
            for (k, gain) in gains.iter_mut().enumerate() {
                let size = counts.labelled(u, k) as f64;
                // What the row adds to its own cluster, and would add to another: negative signs for the latter.
                let change = if k == own as usize { -weight } else { weight };
                let before = if size > 0.0 { squares[k] / size } else { 0.0 };
                let after = size + change;
                let square = squares[k] + 2.0 * change * of_label[k] as f64 + weight * weight;
                let shares = if after > 0.5 { square / after } else { 0.0 };
                *gain += self.base_weights[u] * (shares - before);
            }
        }
        // Leaving lowers by weight − (…), joining raises by as much: the weights cancel.
        let leave = gains[own as usize];
        gains[own as usize] = f64::NEG_INFINITY;
        let best = (0..gains.len()).fold(0, |best, k| if gains[k] > gains[best] { k } else { best });
        (gains[best] + leave > GAIN * all).then_some(best as u32)
    }

    /// What a row that is about to move does to the sums.
    pub(super) fn moved(&mut self, counts: &Counts, labels: &[(usize, usize)], (from, to): (u32, u32), weight: f64) {
        for &(u, place) in labels {
            for (k, change) in [(from as usize, -weight), (to as usize, weight)] {
                self.values[u * self.clusters + k] += 2.0 * change * counts.of(place)[k] as f64 + weight * weight;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use partita_core::{EnsembleBuilder, LabelRows, Seed, Silent};
    use rand::RngExt;

    use super::super::{Assignment, Counts, Plan, WeightedLabelRows, kmeans};

    /// The result of k-means is a local minimum: no move of one row lowers the sum of squares.
    #[test]
    fn no_single_move_lowers_the_result() {
        for seed in 0..40 {
            let mut rng = Seed::new(seed).rng();
            let (objects, clusters) = (rng.random_range(6..40), rng.random_range(2..6));
            let mut builder = EnsembleBuilder::new(objects);
            for u in 0..4 {
                let mut label =
                    || if rng.random_bool(0.2 * f64::from(u)) { None } else { Some(rng.random_range(0..4)) };
                builder.push(u.to_string(), (0..objects).map(|_| label()).collect::<Vec<Option<u32>>>()).unwrap();
            }
            let ensemble = builder.finish().unwrap();
            let LabelRows::Bytes(cells) = ensemble.rows() else { panic!("four clusters fit a byte") };
            let cells = cells.as_standard_layout();
            let rows = WeightedLabelRows::new(&ensemble, cells.as_slice().unwrap());
            let (count, base_weights) = (|number| NonZeroU32::new(number).unwrap(), &[1.0, 0.5, 2.0, 1.0]);
            let assignment = Assignment::Nearest;
            let plan =
                Plan { clusters, base_weights, assignment, restarts: count(3), rounds: count(50), tolerance: 1e-9 };
            let fit = kmeans(&rows, &plan, Seed::new(seed), &Silent);
            let least = fit.counts.squares(rows.offsets(), base_weights);
            assert!((fit.trace.last().unwrap() - least).abs() <= 1e-9 * least);
            for (at, to) in (0..rows.len()).flat_map(|at| (0..clusters as u32).map(move |to| (at, to))) {
                let (mut counts, weight): (Counts, i64) = (fit.counts.clone(), rows.weight(at).into());
                counts.add(rows.places(at), fit.labels[at], -weight);
                counts.add(rows.places(at), to, weight);
                assert!(counts.squares(rows.offsets(), base_weights) >= least - 1e-6, "seed {seed}: row {at} to {to}");
            }
        }
    }
}
