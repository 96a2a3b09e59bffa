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

/// Whether an object comes into a cluster or leaves it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    In,
    Out,
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

    /// What one object costs where it comes in, or saves where it leaves: for each of ΣJ labels one number a cluster, `clusters` of
    /// them. Those beyond the clusters of the counts are empty.
    pub(super) fn costs(&self, clusters: usize, way: Move) -> Vec<f64> {
        let mut costs = Vec::with_capacity(self.offsets[self.bases()] * clusters);
        for u in 0..self.bases() {
            let (sums, scale) = (self.sums(u), self.scale(u));
            for place in self.offsets[u]..self.offsets[u + 1] {
                let cells = self.counts.of(place);
                costs.extend((0..clusters).map(|k| {
                    let cell = cells.get(k).copied().unwrap_or(0.0);
                    let seen = if k < cells.len() {
                        self.counts.labelled(u, k)
                    } else {
                        0.0
                    };
                    scale * self.of_move(sums, seen, cell, way)
                }));
            }
        }
        costs
    }

    /// Each row where one object costs least; the first of equals.
    pub(super) fn choice(&self) -> LabelChoice {
        let clusters = self.counts.clusters();
        let gains = self
            .costs(clusters, Move::In)
            .into_iter()
            .map(|cost| -cost)
            .collect();
        LabelChoice::of_lines(self.offsets, clusters, gains)
    }

    /// What one object changes of the loss against a base clustering, if its cluster has so many objects that are labelled, and so many
    /// with its label. No object leaves where there is none.
    fn of_move(&self, sums: Sums, seen: f64, cell: f64, way: Move) -> f64 {
        if sums.n == 0.0 || (way == Move::Out && cell == 0.0) {
            return 0.0;
        }
        let less = if way == Move::In { 0.0 } else { 1.0 };
        let (b, j) = (self.loss.step(seen - less), self.loss.step(cell - less));
        if let Some((of_b, of_j)) = self.loss.factors(sums.n) {
            return of_b * b + of_j * j;
        }
        let value = |sign: f64| {
            self.loss.value(Sums {
                b: sums.b + sign * b,
                j: sums.j + sign * j,
                ..sums
            })
        };
        if way == Move::In {
            value(1.0) - value(0.0)
        } else {
            value(0.0) - value(-1.0)
        }
    }

    /// The loss against each base clustering as the costs of an object contain it, where the loss is not a sum over clusters.
    pub(super) fn constants(&self) -> Vec<f64> {
        let of_base = |u: usize| {
            let sums = self.sums(u);
            let linear = sums.n == 0.0 || self.loss.factors(sums.n).is_some();
            if linear {
                0.0
            } else {
                self.scale(u) * self.loss.value(sums)
            }
        };
        (0..self.bases()).map(of_base).collect()
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
