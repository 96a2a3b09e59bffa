//! k-means by transfers of single objects (Hartigan and Wong 1979, Applied Statistics 28, AS 136), from given starting centres.
//!
//! An object is moved where that makes the sum of squares smaller, not merely to the nearest centre; two stages take turns, one that looks at
//! all clusters and one that looks at the two nearest. The steps and their order are those of the paper, so that the labels are those of
//! `kmeans` of R. Only squared distances of pairs are read: that of an object to the mean of a cluster C of n objects is
//!
//! ```text
//! Σ_j d²(i, j) / n  −  Σ_jl d²(j, l) / (2 n²)        j, l in C
//! ```
//!
//! whose sums a transfer changes by one row of the pairs. A step costs O(1) instead of O(d).

use crate::pairs::Pairs;

/// The clusters, their sums, and what the two stages remember. Names in brackets are those of AS 136.
struct Transfers<'a> {
    pairs: &'a Pairs,
    clusters: usize,
    /// Sums of squared distances of every object to a cluster, cluster by cluster.
    sums: Vec<f64>,
    /// Those of all its objects.
    within: Vec<f64>,
    sizes: Vec<f64>,
    /// The cluster of an object, and the one that it would go to (IC1, IC2).
    own: Vec<usize>,
    other: Vec<usize>,
    /// What an object costs its cluster (D).
    loss: Vec<f64>,
    /// The step at which a cluster last changed (NCP), at which it stops to be looked at (LIVE), whether it changed in the second stage
    /// (ITRAN).
    changed: Vec<i64>,
    live: Vec<i64>,
    quick: Vec<bool>,
    /// Objects in turn that stayed (INDX).
    stayed: usize,
}

/// The cluster of every object, from starting centres that are objects; none if a cluster is empty after the first assignment.
pub(crate) fn hartigan_wong(
    pairs: &Pairs,
    starts: &[usize],
    iterations: usize,
) -> Option<Vec<usize>> {
    if starts.len() < 2 {
        return Some(vec![0; pairs.n]);
    }
    let mut transfers = Transfers::begin(pairs, starts);
    if transfers.sizes.contains(&0.0) {
        return None;
    }
    for _ in 0..iterations {
        transfers.among_all();
        if transfers.stayed == pairs.n {
            break;
        }
        transfers.among_two();
        if starts.len() == 2 {
            break;
        }
        transfers.changed.fill(0);
    }
    Some(transfers.own)
}

impl<'a> Transfers<'a> {
    fn begin(pairs: &'a Pairs, starts: &[usize]) -> Self {
        let (n, k) = (pairs.n, starts.len());
        let mut made = Self {
            pairs,
            clusters: k,
            sums: vec![0.0; n * k],
            within: vec![0.0; k],
            sizes: vec![0.0; k],
            own: vec![0; n],
            other: vec![0; n],
            loss: vec![0.0; n],
            changed: vec![-1; k],
            live: vec![0; k],
            quick: vec![true; k],
            stayed: 0,
        };
        for i in 0..n {
            let row = pairs.row(i);
            let distance = |c: usize| row[starts[c]];
            let (mut own, mut other) = (0, 1);
            if distance(0) > distance(1) {
                (own, other) = (1, 0);
            }
            for c in 2..k {
                if distance(c) < distance(own) {
                    (own, other) = (c, own);
                } else if distance(c) < distance(other) {
                    other = c;
                }
            }
            (made.own[i], made.other[i]) = (own, other);
            made.sizes[own] += 1.0;
            add(&mut made.sums[own * n..][..n], row, 1.0);
        }
        for i in 0..n {
            made.within[made.own[i]] += made.sums[made.own[i] * n + i];
        }
        made
    }

    /// The squared distance of an object to the mean of a cluster.
    fn distance(&self, i: usize, c: usize) -> f64 {
        let size = self.sizes[c];
        self.sums[c * self.pairs.n + i] / size - self.within[c] / (2.0 * size * size)
    }

    /// What a cluster would grow by, by its distance (AN2).
    fn growth(&self, c: usize) -> f64 {
        self.sizes[c] / (self.sizes[c] + 1.0)
    }

    fn set_loss(&mut self, i: usize, c: usize) {
        self.loss[i] = self.distance(i, c) * (self.sizes[c] / (self.sizes[c] - 1.0));
    }

    /// The first stage (OPTRA): every object in turn, to the best of all clusters.
    fn among_all(&mut self) {
        let n = self.pairs.n;
        for c in 0..self.clusters {
            if self.quick[c] {
                self.live[c] = n as i64;
            }
        }
        for i in 0..n {
            self.stayed += 1;
            let own = self.own[i];
            if self.sizes[own] > 1.0 {
                if self.changed[own] != 0 {
                    self.set_loss(i, own);
                }
                let (best, gain) = self.best(i, own);
                if gain < self.loss[i] {
                    self.stayed = 0;
                    self.transfer(i, own, best);
                    for c in [own, best] {
                        self.live[c] = (n + i) as i64;
                        self.changed[c] = i as i64 + 1;
                    }
                } else {
                    self.other[i] = best;
                }
            }
            if self.stayed == n {
                return;
            }
        }
        for c in 0..self.clusters {
            self.quick[c] = false;
            self.live[c] -= n as i64;
        }
    }

    /// The cluster that would grow least by an object, and by how much.
    fn best(&self, i: usize, own: usize) -> (usize, f64) {
        let first = self.other[i];
        let mut best = first;
        let mut least = self.distance(i, first) * self.growth(first);
        let is_live = |c: usize| (i as i64) < self.live[c];
        for c in 0..self.clusters {
            if c == own || c == first || !(is_live(own) || is_live(c)) {
                continue;
            }
            let distance = self.distance(i, c);
            if distance < least / self.growth(c) {
                least = distance * self.growth(c);
                best = c;
            }
        }
        (best, least)
    }

    /// The second stage (QTRAN): every object in turn between its two clusters, until none moves.
    fn among_two(&mut self) {
        let n = self.pairs.n as i64;
        // As R, which gives up where objects move in circles.
        let most = 50 * n;
        let (mut stayed, mut step) = (0, 0);
        for i in (0..self.pairs.n).cycle() {
            (stayed, step) = (stayed + 1, step + 1);
            if step >= most {
                return;
            }
            let (own, other) = (self.own[i], self.other[i]);
            if self.sizes[own] > 1.0 {
                if step <= self.changed[own] {
                    self.set_loss(i, own);
                }
                let fresh = step < self.changed[own] || step < self.changed[other];
                if fresh && self.distance(i, other) < self.loss[i] / self.growth(other) {
                    (stayed, self.stayed) = (0, 0);
                    self.transfer(i, own, other);
                    for c in [own, other] {
                        self.quick[c] = true;
                        self.changed[c] = step + n;
                    }
                }
            }
            if stayed == n {
                return;
            }
        }
    }

    fn transfer(&mut self, i: usize, from: usize, to: usize) {
        let (n, row) = (self.pairs.n, self.pairs.row(i));
        for (c, sign) in [(from, -1.0), (to, 1.0)] {
            self.within[c] += sign * 2.0 * self.sums[c * n + i];
            self.sizes[c] += sign;
            add(&mut self.sums[c * n..][..n], row, sign);
        }
        (self.own[i], self.other[i]) = (to, from);
    }
}

fn add(to: &mut [f64], row: &[f64], sign: f64) {
    for (to, value) in to.iter_mut().zip(row) {
        *to += sign * value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_transfer_makes_the_sum_of_squares_smaller() {
        for seed in 0..30_usize {
            let (n, k) = (24, 3);
            let at = |i: usize| ((i * 37 + seed * 11) % 101) as f64 + (i % k) as f64 * 60.0;
            let squares = (0..n).flat_map(|i| (i + 1..n).map(move |j| (at(i) - at(j)).powi(2)));
            let pairs = Pairs::of(&squares.collect::<Vec<f64>>(), n);
            let starts: Vec<usize> = (0..k).map(|c| (seed + c * 7) % n).collect();
            let own = hartigan_wong(&pairs, &starts, 100).unwrap();
            let cost = |own: &[usize]| -> f64 {
                let of = |c: usize| -> f64 {
                    let members = || (0..n).filter(|&i| own[i] == c);
                    let mean = members().map(at).sum::<f64>() / members().count() as f64;
                    members().map(|i| (at(i) - mean).powi(2)).sum()
                };
                (0..k).map(of).sum()
            };
            for i in 0..n {
                for c in (0..k).filter(|&c| c != own[i]) {
                    let mut moved = own.clone();
                    moved[i] = c;
                    if own.iter().filter(|&&of| of == own[i]).count() > 1 {
                        assert!(cost(&moved) >= cost(&own) - 1e-6, "seed {seed}");
                    }
                }
            }
        }
    }
}
