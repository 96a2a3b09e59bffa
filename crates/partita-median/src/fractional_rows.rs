//! Label rows as fractions: shares of soft base clusterings, and objects with weights; and k-means on them.

use std::borrow::Cow;
use std::num::Saturating;

use partita_core::{
    Flow, Memberships, Monitor, MultiStart, ProblemSize, Seed, Sense, Stopped, WeightedEnsemble, map_parallel,
};
use rand::{Rng, RngExt};

/// Rows of shares in base clusters, each with a weight. Methods take this form only where shares or weights differ from 1.
pub(crate) struct FractionalRows<'a> {
    shares: Cow<'a, Memberships>,
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
        let weights = source.each_multiplicity();
        let bases = ensemble.bases().iter().zip(0u32..);
        let base_of = bases.flat_map(|(base, u)| std::iter::repeat_n(u, base.clusters())).collect();
        Self { shares: ensemble.shares(), weights, base_of, bases: ensemble.bases().len() }
    }

    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Clusters of all base clusterings.
    pub(crate) fn base_clusters(&self) -> usize {
        self.base_of.len()
    }

    /// Base clustering and place of every base cluster.
    pub(crate) fn places(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.base_of.iter().enumerate().map(|(c, &u)| (u as usize, c))
    }

    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights[row]
    }

    /// Base clustering, base cluster and share of every entry of a row; those of a base clustering stand together.
    pub(crate) fn entries(&self, row: usize) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let (clusters, shares) = self.shares.row(row);
        clusters.iter().zip(shares).map(|(&c, &share)| (self.base_of[c as usize] as usize, c as usize, share))
    }

    /// Base cluster and share of every entry of a row in one base clustering.
    pub(crate) fn entries_of(&self, row: usize, base: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (clusters, shares) = self.shares.row(row);
        let before = |base: usize| clusters.partition_point(|&c| (self.base_of[c as usize] as usize) < base);
        let own = before(base)..before(base + 1);
        clusters[own.clone()].iter().zip(&shares[own]).map(|(&c, &share)| (c as usize, share))
    }

    /// The base clusterings that know a row.
    pub(crate) fn known(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let mut last = usize::MAX;
        self.entries(row).filter_map(move |(u, _, _)| (std::mem::replace(&mut last, u) != u).then_some(u))
    }

    /// Σ_i w_i over the rows that each base clustering knows, and Σ_i w_i ‖z_iu‖².
    pub(crate) fn totals(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut known, mut squares) = (vec![0.0; self.bases], vec![0.0; self.bases]);
        for row in 0..self.len() {
            self.known(row).for_each(|u| known[u] += self.weights[row]);
            self.entries(row).for_each(|(u, _, share)| squares[u] += self.weights[row] * share * share);
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
        let (sums, known) = (vec![0.0; rows.base_clusters() * clusters], vec![0.0; rows.bases * clusters]);
        let mut means = Self { clusters, sums, known, rows: vec![0; clusters] };
        for (row, &label) in labels.iter().enumerate() {
            let (k, weight) = (label as usize, rows.weight(row));
            rows.entries(row).for_each(|(_, c, share)| means.sums[c * clusters + k] += weight * share);
            rows.known(row).for_each(|u| means.known[u * clusters + k] += weight);
            means.rows[k] += 1;
        }
        means
    }

    /// The mean share of base cluster `c` of base clustering `u` in cluster `k`.
    pub(crate) fn mean(&self, u: usize, c: usize, k: usize) -> f64 {
        let known = self.known[u * self.clusters + k];
        if known > 0.0 { self.sums[c * self.clusters + k] / known } else { 0.0 }
    }

    /// Σ_u ω_u z_iu·p_ku / Σ_u ω_u over the base clusterings that know a row: the mean share of its own labels in cluster `k`.
    pub(crate) fn certainty(&self, rows: &FractionalRows<'_>, row: usize, k: usize, base_weights: &[f64]) -> f64 {
        let own: f64 = rows.entries(row).map(|(u, c, share)| base_weights[u] * share * self.mean(u, c, k)).sum();
        let all: f64 = rows.known(row).map(|u| base_weights[u]).sum();
        if all > 0.0 { (own / all).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Squared distances of rows to all means, and products with them, in a form for many rows.
    fn table(&self, rows: &FractionalRows<'_>, base_weights: &[f64]) -> DistanceTable {
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
        DistanceTable { clusters: k, means, squares }
    }
}

struct DistanceTable {
    clusters: usize,
    /// ω p, ΣJ lines of K values.
    means: Vec<f64>,
    /// ω ‖p‖², M lines of K values.
    squares: Vec<f64>,
}

impl DistanceTable {
    /// Writes Σ_u ω_u z·p of every cluster.
    fn products(&self, rows: &FractionalRows<'_>, row: usize, line: &mut [f64]) {
        line.fill(0.0);
        for (_, c, share) in rows.entries(row) {
            let means = &self.means[c * self.clusters..][..self.clusters];
            line.iter_mut().zip(means).for_each(|(sum, mean)| *sum += share * mean);
        }
    }

    /// Writes Σ_u ω_u ‖z_iu − p_ku‖² of every cluster.
    fn distances(&self, rows: &FractionalRows<'_>, row: usize, base_weights: &[f64], line: &mut [f64]) {
        self.products(rows, row, line);
        let own: f64 = rows.entries(row).map(|(u, _, share)| base_weights[u] * share * share).sum();
        line.iter_mut().for_each(|value| *value = own - 2.0 * *value);
        for u in rows.known(row) {
            let squares = &self.squares[u * self.clusters..][..self.clusters];
            line.iter_mut().zip(squares).for_each(|(value, square)| *value += square);
        }
        line.iter_mut().for_each(|value| *value = value.max(0.0));
    }
}

/// Bytes that k-means on the shares of a soft ensemble holds at once, at most.
pub(crate) fn bytes(size: &ProblemSize, restarts: u32) -> u64 {
    let starts = Saturating(u64::from(restarts.min(64)) * u64::from(size.soft_shares > 0));
    let [n, m, side, k] = size.saturating();
    (starts * (n * Saturating(40) + (side + m) * k * Saturating(32))).0
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

/// k-means on fractional rows from several initializations by k-means++.
///
/// # Cost
/// O(entries · K) time a round and start, in parallel over starts.
pub(crate) fn fractional_kmeans(
    rows: &FractionalRows<'_>,
    plan: &FractionalPlan<'_>,
    seed: Seed,
    monitor: &dyn Monitor,
) -> FractionalFit {
    let total = u64::from(plan.restarts);
    let run = |restart: u32| {
        let mut rng = seed.child(u64::from(restart)).rng();
        let labels = start(rows, plan, &mut rng);
        lloyd(rows, plan, labels, monitor)
    };
    // Once somebody asks to stop, initializations that have not begun are left out, but for the first.
    let wanted = |restart: u32| restart == 0 || monitor.flow() == Flow::Continue;
    let runs = map_parallel(0..plan.restarts, |restart| wanted(restart).then(|| run(restart)));
    let mut runs: Vec<FractionalFit> = runs.into_iter().flatten().collect();
    monitor.tick(total, total);
    let starts: Vec<f64> = runs.iter().map(|run| run.trace[run.trace.len() - 1]).collect();
    let best = MultiStart::new(Sense::Minimise).best(&starts).unwrap_or(0);
    FractionalFit { starts, ..runs.swap_remove(best) }
}

/// The nearest of K rows drawn by k-means++, for every row.
pub(crate) fn start(rows: &FractionalRows<'_>, plan: &FractionalPlan<'_>, rng: &mut impl Rng) -> Vec<u32> {
    let n = rows.len();
    let (mut nearest, mut distance) = (vec![0u32; n], vec![f64::INFINITY; n]);
    for k in 0..plan.clusters {
        let chance = |i: usize| rows.weight(i) * if k == 0 { 1.0 } else { distance[i] };
        let all: f64 = (0..n).map(chance).sum();
        let mut left = rng.random::<f64>() * all;
        let centre = (0..n).find(|&i| {
            left -= chance(i);
            left < 0.0
        });
        let Some(centre) = centre.or_else(|| (0..n).rev().find(|&i| chance(i) > 0.0)) else { break };
        let mut alone = vec![0.0; rows.base_clusters()];
        rows.entries(centre).for_each(|(_, c, share)| alone[c] = share);
        let mut square = vec![None; rows.bases];
        rows.entries(centre).for_each(|(u, _, share)| *square[u].get_or_insert(0.0) += share * share);
        for i in 0..n {
            let d = row_distance(rows, i, &alone, &square, plan.base_weights);
            if d < distance[i] {
                (distance[i], nearest[i]) = (d, k as u32);
            }
        }
    }
    nearest
}

/// The squared distance to a row, over the base clusterings that know both.
fn row_distance(
    rows: &FractionalRows<'_>,
    row: usize,
    centre: &[f64],
    square: &[Option<f64>],
    base_weights: &[f64],
) -> f64 {
    let own: f64 = (rows.entries(row))
        .filter(|(u, _, _)| square[*u].is_some())
        .map(|(u, c, share)| base_weights[u] * (share * share - 2.0 * share * centre[c]))
        .sum();
    let others: f64 = rows.known(row).filter_map(|u| Some(base_weights[u] * square[u]?)).sum();
    (own + others).max(0.0)
}

fn lloyd(
    rows: &FractionalRows<'_>,
    plan: &FractionalPlan<'_>,
    mut labels: Vec<u32>,
    monitor: &dyn Monitor,
) -> FractionalFit {
    let mut trace: Vec<f64> = Vec::new();
    let mut line = vec![0.0; plan.clusters];
    let mut means = FractionalMeans::of(rows, &labels, plan.clusters);
    loop {
        let table = means.table(rows, plan.base_weights);
        let (mut next, mut own) = (labels.clone(), vec![0.0; rows.len()]);
        let mut value = 0.0;
        for (i, label) in next.iter_mut().enumerate() {
            table.distances(rows, i, plan.base_weights, &mut line);
            own[i] = line[*label as usize];
            value += rows.weight(i) * own[i];
            *label = if plan.likeliest {
                table.products(rows, i, &mut line);
                best(&line, *label, |a, b| a > b)
            } else {
                best(&line, *label, |a, b| a < b)
            };
        }
        let before = trace.last().copied();
        let stopped = match before {
            Some(before) if before - value <= plan.tolerance * value.abs() => Some(Stopped::Converged),
            _ if monitor.flow() == Flow::Stop => Some(Stopped::Interrupted),
            _ => (trace.len() >= plan.rounds as usize).then_some(Stopped::RoundLimit),
        };
        // A vote may raise the sum of squares: that round is undone.
        if before.is_none_or(|before| value <= before) {
            trace.push(value);
        }
        fill_empty(rows, &mut next, &own, plan.clusters);
        let moved = next != labels;
        if stopped.is_some() || !moved {
            let stopped = stopped.unwrap_or(Stopped::Converged);
            return FractionalFit { labels, means, trace, starts: Vec::new(), stopped };
        }
        let candidate = FractionalMeans::of(rows, &next, plan.clusters);
        if plan.likeliest && sum_of_squares(rows, &candidate, &next, plan.base_weights) > value {
            return FractionalFit { labels, means, trace, starts: Vec::new(), stopped: Stopped::Converged };
        }
        (labels, means) = (next, candidate);
    }
}

fn sum_of_squares(rows: &FractionalRows<'_>, means: &FractionalMeans, labels: &[u32], base_weights: &[f64]) -> f64 {
    let (table, mut line) = (means.table(rows, base_weights), vec![0.0; means.clusters]);
    let mut square = |(i, &label): (usize, &u32)| {
        table.distances(rows, i, base_weights, &mut line);
        rows.weight(i) * line[label as usize]
    };
    labels.iter().enumerate().map(&mut square).sum()
}

/// The place of the best value; the place where a row is stays if nothing is better, then the first.
pub(crate) fn best(line: &[f64], stays: u32, better: impl Fn(f64, f64) -> bool) -> u32 {
    (0..line.len() as u32).fold(stays, |best, k| if better(line[k as usize], line[best as usize]) { k } else { best })
}

/// Empty clusters take the rows that fit worst where they are.
pub(crate) fn fill_empty(rows: &FractionalRows<'_>, labels: &mut [u32], own: &[f64], clusters: usize) {
    let mut sizes = vec![0usize; clusters];
    labels.iter().for_each(|&k| sizes[k as usize] += 1);
    for empty in 0..clusters {
        if sizes[empty] > 0 {
            continue;
        }
        let loss = |i: usize| rows.weight(i) * own[i];
        let candidates = (0..labels.len()).filter(|&i| sizes[labels[i] as usize] > 1);
        let worst = candidates.fold(None, |worst, i| match worst {
            Some(worst) if loss(worst) >= loss(i) => Some(worst),
            _ => Some(i),
        });
        let Some(worst) = worst.filter(|&i| loss(i) > 0.0) else { continue };
        sizes[labels[worst] as usize] -= 1;
        labels[worst] = empty as u32;
        sizes[empty] = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_conformance::draw;
    use partita_core::{EnsembleBuilder, ObjectWeights, Silent};
    use rand::seq::IndexedRandom;

    #[test]
    fn distances_are_those_of_rows_written_out() {
        for seed in 0..10 {
            let drawn = draw(Seed::new(seed), 0.3);
            let rows = FractionalRows::of((&drawn.ensemble).into());
            let mut rng = Seed::new(seed).rng();
            let labels: Vec<u32> = (0..rows.len()).map(|_| *[0, 1, 2].choose(&mut rng).unwrap()).collect();
            let base_weights: Vec<f64> = (0..rows.bases).map(|u| 1.0 + (u % 3) as f64).collect();
            let means = FractionalMeans::of(&rows, &labels, 3);
            let (table, mut line) = (means.table(&rows, &base_weights), vec![0.0; 3]);
            for i in 0..rows.len() {
                table.distances(&rows, i, &base_weights, &mut line);
                for k in 0..3 {
                    let mut told = 0.0;
                    for (u, base) in drawn.ensemble.bases().iter().enumerate() {
                        let Some(own) = drawn.ensemble.label(i, u) else { continue };
                        let start = drawn.ensemble.offsets()[u];
                        let square = |j: usize| (f64::from(j == own) - means.mean(u, start + j, k)).powi(2);
                        told += base_weights[u] * (0..base.clusters()).map(square).sum::<f64>();
                    }
                    assert!((told - line[k]).abs() < 1e-9, "{told} {}", line[k]);
                }
            }
        }
    }

    #[test]
    fn the_sum_of_squares_falls_and_weights_are_copies() {
        let mut builder = EnsembleBuilder::new(7);
        for u in 0..4usize {
            builder.push(u.to_string(), (0..7).map(|i| Some((i + usize::from(i == u)) / 3))).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let weights = ObjectWeights::new(vec![2.0, 1.0, 1.0, 1.0, 3.0, 1.0, 1.0]).unwrap();
        let copies: Vec<u32> = [0, 0, 1, 2, 3, 4, 4, 4, 5, 6].to_vec();
        let copied = ensemble.select(&copies, &[0, 1, 2, 3]);
        let fit = |source: WeightedEnsemble<'_>| {
            let plan = FractionalPlan {
                clusters: 3,
                base_weights: &[1.0; 4],
                likeliest: false,
                restarts: 8,
                rounds: 50,
                tolerance: 0.0,
            };
            fractional_kmeans(&FractionalRows::of(source), &plan, Seed::new(1), &Silent)
        };
        let one = fit(WeightedEnsemble { object_weights: Some(&weights), ..(&ensemble).into() });
        let two = fit((&copied).into());
        assert!(one.trace.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12), "{:?}", one.trace);
        assert!((one.trace.last().unwrap() - two.trace.last().unwrap()).abs() < 1e-9);
    }
}
