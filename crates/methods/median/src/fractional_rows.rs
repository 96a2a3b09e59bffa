//! Label rows as fractions: shares of soft base clusterings, and objects with weights; and their means by cluster.

use std::borrow::Cow;

use partita_core::{Memberships, Stopped, WeightedEnsemble};

/// Rows of shares in base clusters: neighbouring objects with equal rows are one, with the sum of their weights. Methods take this form only where shares or
/// weights differ from 1.
pub(crate) struct FractionalRows<'a> {
    shares: Cow<'a, Memberships>,
    /// The row of every object, and the first object of every row.
    row_of: Vec<u32>,
    first: Vec<u32>,
    weights: Vec<f64>,
    /// The base clustering of every base cluster.
    base_of: Vec<u32>,
    bases: usize,
}

impl<'a> FractionalRows<'a> {
    /// The rows of an ensemble that has soft base clusterings or weights of objects; none where labels say everything.
    pub(crate) fn where_needed(source: WeightedEnsemble<'a>) -> Option<Self> {
        source.is_fractional().then(|| Self::of(source))
    }

    pub(crate) fn of(source: WeightedEnsemble<'a>) -> Self {
        let ensemble = source.ensemble;
        let (mut row_of, mut first, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (object, weight) in source.each_multiplicity().into_iter().enumerate() {
            if object == 0 || !ensemble.same_row(object, object - 1) {
                first.push(object as u32);
                weights.push(0.0);
            }
            let row = first.len() - 1;
            weights[row] += weight;
            row_of.push(row as u32);
        }
        let bases = ensemble.bases().iter().zip(0u32..);
        let base_of = bases
            .flat_map(|(base, u)| std::iter::repeat_n(u, base.clusters()))
            .collect();
        Self {
            shares: ensemble.shares(),
            row_of,
            first,
            weights,
            base_of,
            bases: ensemble.bases().len(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// For every object what its row has.
    pub(crate) fn expand<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.row_of
            .iter()
            .map(|&row| values[row as usize])
            .collect()
    }

    /// The first object with a row.
    pub(crate) fn first_object(&self, row: usize) -> usize {
        self.first[row] as usize
    }

    /// The row of every object.
    pub(crate) fn row_of_object(&self) -> Vec<usize> {
        self.row_of.iter().map(|&row| row as usize).collect()
    }

    /// Number of base clusterings.
    pub(crate) fn bases(&self) -> usize {
        self.bases
    }

    /// Clusters of all base clusterings.
    pub(crate) fn base_clusters(&self) -> usize {
        self.base_of.len()
    }

    /// Base clustering and place of every base cluster.
    pub(crate) fn places(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.base_of
            .iter()
            .enumerate()
            .map(|(c, &u)| (u as usize, c))
    }

    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights[row]
    }

    /// Base clustering, base cluster and share of every entry of a row; those of a base clustering stand together.
    pub(crate) fn entries(&self, row: usize) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let (clusters, shares) = self.shares.row(self.first[row] as usize);
        clusters
            .iter()
            .zip(shares)
            .map(|(&c, &share)| (self.base_of[c as usize] as usize, c as usize, share))
    }

    /// Base cluster and share of every entry of a row in one base clustering.
    pub(crate) fn entries_of(
        &self,
        row: usize,
        base: usize,
    ) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (clusters, shares) = self.shares.row(self.first[row] as usize);
        let before =
            |base: usize| clusters.partition_point(|&c| (self.base_of[c as usize] as usize) < base);
        let own = before(base)..before(base + 1);
        clusters[own.clone()]
            .iter()
            .zip(&shares[own])
            .map(|(&c, &share)| (c as usize, share))
    }

    /// The base clusterings that know a row.
    pub(crate) fn known(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let mut last = usize::MAX;
        self.entries(row)
            .filter_map(move |(u, _, _)| (std::mem::replace(&mut last, u) != u).then_some(u))
    }

    /// Σ_i w_i over the rows that each base clustering knows, and Σ_i w_i ‖z_iu‖².
    pub(crate) fn totals(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut known, mut squares) = (vec![0.0; self.bases], vec![0.0; self.bases]);
        for row in 0..self.len() {
            self.known(row).for_each(|u| known[u] += self.weights[row]);
            self.entries(row)
                .for_each(|(u, _, share)| squares[u] += self.weights[row] * share * share);
        }
        (known, squares)
    }
}

/// Weighted sums of rows by cluster, and the means that follow.
#[derive(Clone)]
pub(crate) struct FractionalMeans {
    clusters: usize,
    /// Σ w z, ΣJ lines of K values.
    pub(crate) sums: Vec<f64>,
    /// Σ w of the rows that a base clustering knows, M lines of K values.
    pub(crate) known: Vec<f64>,
    /// Rows in every cluster.
    rows: Vec<usize>,
}

impl FractionalMeans {
    pub(crate) fn clusters(&self) -> usize {
        self.clusters
    }

    pub(crate) fn of(rows: &FractionalRows<'_>, labels: &[u32], clusters: usize) -> Self {
        let (sums, known) = (
            vec![0.0; rows.base_clusters() * clusters],
            vec![0.0; rows.bases * clusters],
        );
        let mut means = Self {
            clusters,
            sums,
            known,
            rows: vec![0; clusters],
        };
        labels
            .iter()
            .enumerate()
            .for_each(|(row, &label)| means.put(rows, row, label));
        means
    }

    fn add(&mut self, rows: &FractionalRows<'_>, row: usize, cluster: u32, weight: f64) {
        let (k, clusters) = (cluster as usize, self.clusters);
        rows.entries(row)
            .for_each(|(_, c, share)| self.sums[c * clusters + k] += weight * share);
        rows.known(row)
            .for_each(|u| self.known[u * clusters + k] += weight);
    }

    /// Puts a row into a cluster.
    pub(crate) fn put(&mut self, rows: &FractionalRows<'_>, row: usize, cluster: u32) {
        self.add(rows, row, cluster, rows.weight(row));
        self.rows[cluster as usize] += 1;
    }

    /// Takes a row out of its cluster.
    pub(crate) fn take(&mut self, rows: &FractionalRows<'_>, row: usize, cluster: u32) {
        self.add(rows, row, cluster, -rows.weight(row));
        self.rows[cluster as usize] -= 1;
    }

    /// Takes all rows out of a cluster, for one in their place.
    pub(crate) fn replace(&mut self, rows: &FractionalRows<'_>, cluster: u32, row: usize) {
        for sums in [&mut self.sums, &mut self.known] {
            sums.iter_mut()
                .skip(cluster as usize)
                .step_by(self.clusters)
                .for_each(|sum| *sum = 0.0);
        }
        self.rows[cluster as usize] = 0;
        self.put(rows, row, cluster);
    }

    /// Rows in a cluster.
    pub(crate) fn rows_in(&self, cluster: u32) -> usize {
        self.rows[cluster as usize]
    }

    /// The mean share of base cluster `c` of base clustering `u` in cluster `k`.
    pub(crate) fn mean(&self, u: usize, c: usize, k: usize) -> f64 {
        let known = self.known[u * self.clusters + k];
        if known > 0.0 {
            self.sums[c * self.clusters + k] / known
        } else {
            0.0
        }
    }

    /// Σ_u ω_u z_iu·p_ku / Σ_u ω_u over the base clusterings that know a row: the mean share of its own labels in cluster `k`.
    pub(crate) fn certainty(
        &self,
        rows: &FractionalRows<'_>,
        row: usize,
        k: usize,
        base_weights: &[f64],
    ) -> f64 {
        let own: f64 = rows
            .entries(row)
            .map(|(u, c, share)| base_weights[u] * share * self.mean(u, c, k))
            .sum();
        let all: f64 = rows.known(row).map(|u| base_weights[u]).sum();
        if all > 0.0 {
            (own / all).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Squared distances of rows to all means, and products with them, in a form for many rows.
    pub(crate) fn table(&self, rows: &FractionalRows<'_>, base_weights: &[f64]) -> DistanceTable {
        let k = self.clusters;
        let (mut means, mut squares) = (vec![0.0; self.sums.len()], vec![0.0; self.known.len()]);
        for (c, &u) in rows.base_of.iter().enumerate() {
            let u = u as usize;
            for cluster in 0..k {
                let mean = self.mean(u, c, cluster);
                means[c * k + cluster] = base_weights[u] * mean;
                squares[u * k + cluster] += base_weights[u] * mean * mean;
            }
        }
        DistanceTable {
            clusters: k,
            means,
            squares,
        }
    }
}

pub(crate) struct DistanceTable {
    clusters: usize,
    /// ω p, ΣJ lines of K values.
    means: Vec<f64>,
    /// ω ‖p‖², M lines of K values.
    squares: Vec<f64>,
}

impl DistanceTable {
    /// Writes Σ_u ω_u z·p of every cluster.
    pub(crate) fn products(&self, rows: &FractionalRows<'_>, row: usize, line: &mut [f64]) {
        line.fill(0.0);
        for (_, c, share) in rows.entries(row) {
            let means = &self.means[c * self.clusters..][..self.clusters];
            line.iter_mut()
                .zip(means)
                .for_each(|(sum, mean)| *sum += share * mean);
        }
    }

    /// Writes Σ_u ω_u ‖z_iu − p_ku‖² of every cluster.
    pub(crate) fn distances(
        &self,
        rows: &FractionalRows<'_>,
        row: usize,
        base_weights: &[f64],
        line: &mut [f64],
    ) {
        self.products(rows, row, line);
        let own: f64 = rows
            .entries(row)
            .map(|(u, _, share)| base_weights[u] * share * share)
            .sum();
        line.iter_mut()
            .for_each(|value| *value = own - 2.0 * *value);
        for u in rows.known(row) {
            let squares = &self.squares[u * self.clusters..][..self.clusters];
            line.iter_mut()
                .zip(squares)
                .for_each(|(value, square)| *value += square);
        }
        line.iter_mut().for_each(|value| *value = value.max(0.0));
    }
}

/// What is looked for.
#[derive(Clone, Copy)]
pub(crate) struct FractionalPlan<'a> {
    pub(crate) clusters: usize,
    /// What a squared distance in a base clustering counts.
    pub(crate) base_weights: &'a [f64],
    /// Rows go where their labels are most common, not to the nearest mean.
    pub(crate) likeliest: bool,
    pub(crate) restarts: u32,
    pub(crate) rounds: u32,
    pub(crate) tolerance: f64,
}

/// What was found.
pub(crate) struct FractionalFit {
    pub(crate) labels: Vec<u32>,
    pub(crate) means: FractionalMeans,
    /// Sum of squares by round.
    pub(crate) trace: Vec<f64>,
    /// That of every initialization.
    pub(crate) starts: Vec<f64>,
    pub(crate) stopped: Stopped,
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_conformance::draw;
    use partita_core::Seed;
    use rand::seq::IndexedRandom;

    #[test]
    fn distances_are_those_of_rows_written_out() {
        for seed in 0..10 {
            let drawn = draw(Seed::new(seed), 0.3);
            let rows = FractionalRows::of((&drawn.ensemble).into());
            let mut rng = Seed::new(seed).rng();
            let labels: Vec<u32> = (0..rows.len())
                .map(|_| *[0, 1, 2].choose(&mut rng).unwrap())
                .collect();
            let base_weights: Vec<f64> = (0..rows.bases).map(|u| 1.0 + (u % 3) as f64).collect();
            let means = FractionalMeans::of(&rows, &labels, 3);
            let (table, mut line) = (means.table(&rows, &base_weights), vec![0.0; 3]);
            for i in 0..rows.len() {
                table.distances(&rows, i, &base_weights, &mut line);
                for k in 0..3 {
                    let mut told = 0.0;
                    for (u, base) in drawn.ensemble.bases().iter().enumerate() {
                        let Some(own) = drawn.ensemble.label(rows.first_object(i), u) else {
                            continue;
                        };
                        let start = drawn.ensemble.offsets()[u];
                        let square =
                            |j: usize| (f64::from(j == own) - means.mean(u, start + j, k)).powi(2);
                        told += base_weights[u] * (0..base.clusters()).map(square).sum::<f64>();
                    }
                    assert!((told - line[k]).abs() < 1e-9, "{told} {}", line[k]);
                }
            }
        }
    }
}
