//! The losses of a partition, and what moves cost, from its counts of base clusters alone: where label rows are not held.

use partita_kmeans::labels::{Counts, LabelChoice};

use super::loss::{Loss, Sums};

/// Counts of base clusters in clusters, and the loss that they have.
#[derive(Clone, Copy)]
pub(super) struct Tally<'a> {
    pub(super) counts: &'a Counts,
    /// Where the base clusters of every base clustering start, M + 1 values.
    pub(super) offsets: &'a [usize],
    pub(super) base_weights: &'a [f64],
    pub(super) loss: Loss,
}

impl Tally<'_> {
    fn bases(&self) -> usize {
        self.base_weights.len()
    }

    /// The mean of losses against all base clusterings.
    pub(super) fn mean(&self, losses: &[f64]) -> f64 {
        let sum: f64 = losses
            .iter()
            .zip(self.base_weights)
            .map(|(loss, weight)| loss * weight)
            .sum();
        sum / self.base_weights.iter().sum::<f64>()
    }

    fn sums(&self, u: usize) -> Sums {
        let term = |count: f64| self.loss.term(count);
        let mut sums = Sums::default();
        for k in 0..self.counts.clusters() {
            let seen = self.counts.labelled(u, k);
            sums.n += seen;
            sums.b += term(seen);
        }
        for place in self.offsets[u]..self.offsets[u + 1] {
            let cells = self.counts.of(place);
            sums.v += term(cells.iter().sum());
            sums.j += cells.iter().map(|&count| term(count)).sum::<f64>();
        }
        sums
    }

    /// The loss against every base clustering.
    pub(super) fn losses(&self) -> Vec<f64> {
        let loss = |u: usize| {
            let sums = self.sums(u);
            if sums.n > 0.0 {
                self.loss.value(sums)
            } else {
                0.0
            }
        };
        (0..self.bases()).map(loss).collect()
    }

    /// What the loss against each base clustering counts, times the number of objects, so that what one object changes does not shrink
    /// with it.
    fn scale(&self, u: usize) -> f64 {
        let objects: f64 = (0..self.counts.clusters())
            .map(|k| self.counts.objects(k as u32))
            .sum();
        self.base_weights[u] / self.base_weights.iter().sum::<f64>() * objects
    }

    /// What one object costs where it comes in: for each of ΣJ labels one number a cluster.
    fn costs(&self) -> Vec<f64> {
        let clusters = self.counts.clusters();
        let mut costs = Vec::with_capacity(self.offsets[self.bases()] * clusters);
        for u in 0..self.bases() {
            let (sums, scale) = (self.sums(u), self.scale(u));
            for place in self.offsets[u]..self.offsets[u + 1] {
                let cells = self.counts.of(place);
                costs.extend(
                    (0..clusters)
                        .map(|k| scale * self.of_move(sums, self.counts.labelled(u, k), cells[k])),
                );
            }
        }
        costs
    }

    /// Each row where one object costs least; the first of equals.
    pub(super) fn choice(&self) -> LabelChoice {
        let clusters = self.counts.clusters();
        let gains = self.costs().into_iter().map(|cost| -cost).collect();
        LabelChoice::of_lines(self.offsets, clusters, gains)
    }

    /// What one object adds to the loss against a base clustering, if the cluster has so many objects that are labelled, and so many
    /// with its label.
    fn of_move(&self, sums: Sums, seen: f64, cell: f64) -> f64 {
        if sums.n == 0.0 {
            return 0.0;
        }
        let (b, j) = (self.loss.step(seen), self.loss.step(cell));
        if let Some((of_b, of_j)) = self.loss.factors(sums.n) {
            return of_b * b + of_j * j;
        }
        let after = Sums {
            b: sums.b + b,
            j: sums.j + j,
            ..sums
        };
        self.loss.value(after) - self.loss.value(sums)
    }

    /// The two clusters that cost least to join, and what that is; the first of equals.
    pub(super) fn cheapest_join(&self) -> Option<(usize, usize, f64)> {
        let sums: Vec<Sums> = (0..self.bases()).map(|u| self.sums(u)).collect();
        let all = (1..self.counts.clusters()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let costs = all.map(|(a, b)| (a, b, self.joining(a, b, &sums)));
        costs.reduce(|best, next| if next.2 < best.2 { next } else { best })
    }

    /// What it costs to join two clusters.
    fn joining(&self, a: usize, b: usize, sums: &[Sums]) -> f64 {
        let gain = |x: f64, y: f64| {
            let term = |count: f64| self.loss.term(count);
            if x == 0.0 || y == 0.0 {
                0.0
            } else {
                term(x + y) - term(x) - term(y)
            }
        };
        let of_base = |(u, &sums): (usize, &Sums)| {
            let more_b = gain(self.counts.labelled(u, a), self.counts.labelled(u, b));
            let cells = (self.offsets[u]..self.offsets[u + 1]).map(|place| self.counts.of(place));
            let more_j: f64 = cells.map(|cells| gain(cells[a], cells[b])).sum();
            let after = Sums {
                b: sums.b + more_b,
                j: sums.j + more_j,
                ..sums
            };
            if sums.n > 0.0 {
                self.scale(u) * (self.loss.value(after) - self.loss.value(sums))
            } else {
                0.0
            }
        };
        sums.iter().enumerate().map(of_base).sum()
    }
}
