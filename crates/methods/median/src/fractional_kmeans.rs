//! k-means on fractional rows: shares of soft base clusterings, and objects with weights.

use std::num::Saturating;

use partita_core::{Flow, Monitor, MultiStart, ProblemSize, Seed, Sense, Stopped, map_parallel};
use rand::{Rng, RngExt};

use crate::fractional_exchange::{PartialLoss, improved, pick};
use crate::fractional_rows::{FractionalFit, FractionalMeans, FractionalPlan, FractionalRows};

/// Bytes that k-means on the shares of a soft ensemble holds at once, at most.
pub(crate) fn bytes(size: &ProblemSize, restarts: u32) -> u64 {
    if size.soft_shares == 0 {
        return 0;
    }
    let starts = Saturating(u64::from(restarts.min(64)));
    let [n, m, side, k] = size.saturating();
    (n * Saturating(16) + starts * (n * Saturating(40) + (side + m) * k * Saturating(32))).0
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
    let runs = map_parallel(0..plan.restarts, |restart| {
        wanted(restart).then(|| run(restart))
    });
    let mut runs: Vec<FractionalFit> = runs.into_iter().flatten().collect();
    monitor.tick(total, total);
    let starts: Vec<f64> = runs
        .iter()
        .map(|run| run.trace[run.trace.len() - 1])
        .collect();
    let best = MultiStart::new(Sense::Minimise).best(&starts).unwrap_or(0);
    let best = FractionalFit {
        starts,
        ..runs.swap_remove(best)
    };
    improved(
        &Squares { rows, plan },
        (rows, plan),
        best,
        seed.child(u64::from(plan.restarts)),
        monitor,
    )
}

/// The sum of squares.
struct Squares<'a> {
    rows: &'a FractionalRows<'a>,
    plan: &'a FractionalPlan<'a>,
}

impl PartialLoss for Squares<'_> {
    fn loss(&self, means: &FractionalMeans, labels: &[u32]) -> f64 {
        sum_of_squares(self.rows, means, labels, self.plan.base_weights)
    }

    /// What the squares of the means take off.
    fn part(&self, means: &FractionalMeans, cluster: u32) -> f64 {
        let of = |(u, c): (usize, usize)| {
            let known = means.known[u * means.clusters() + cluster as usize];
            let sum = means.sums[c * means.clusters() + cluster as usize];
            if known > 0.0 {
                -self.plan.base_weights[u] * sum * sum / known
            } else {
                0.0
            }
        };
        self.rows.places().map(of).sum()
    }

    fn chosen(&self, means: &FractionalMeans, labels: &[u32]) -> Vec<u32> {
        chosen(self.rows, self.plan, means, labels).0
    }

    fn misfits(&self, means: &FractionalMeans, labels: &[u32]) -> Vec<f64> {
        chosen(self.rows, self.plan, means, labels).1
    }

    fn climb(
        &self,
        plan: &FractionalPlan<'_>,
        labels: Vec<u32>,
        monitor: &dyn Monitor,
    ) -> FractionalFit {
        lloyd(self.rows, plan, labels, monitor)
    }
}

/// The best cluster of every row, and its squared distance to the mean of the one where it is.
fn chosen(
    rows: &FractionalRows<'_>,
    plan: &FractionalPlan<'_>,
    means: &FractionalMeans,
    labels: &[u32],
) -> (Vec<u32>, Vec<f64>) {
    let (table, mut line) = (
        means.table(rows, plan.base_weights),
        vec![0.0; plan.clusters],
    );
    let mut choose = |(row, &label): (usize, &u32)| {
        table.distances(rows, row, plan.base_weights, &mut line);
        let own = line[label as usize];
        if plan.likeliest {
            table.products(rows, row, &mut line);
            return (best(&line, label, |a, b| a > b), own);
        }
        (best(&line, label, |a, b| a < b), own)
    };
    labels.iter().enumerate().map(&mut choose).unzip()
}

/// The nearest of K rows drawn by k-means++, for every row.
pub(crate) fn start(
    rows: &FractionalRows<'_>,
    plan: &FractionalPlan<'_>,
    rng: &mut impl Rng,
) -> Vec<u32> {
    let n = rows.len();
    let (mut nearest, mut distance) = (vec![0u32; n], vec![f64::INFINITY; n]);
    for k in 0..plan.clusters {
        let chance = |i: usize| rows.weight(i) * if k == 0 { 1.0 } else { distance[i] };
        let all: f64 = (0..n).map(chance).sum();
        let Some(centre) = pick(n, chance, rng.random::<f64>() * all) else {
            break;
        };
        let mut alone = vec![0.0; rows.base_clusters()];
        rows.entries(centre)
            .for_each(|(_, c, share)| alone[c] = share);
        let mut square = vec![None; rows.bases()];
        rows.entries(centre)
            .for_each(|(u, _, share)| *square[u].get_or_insert(0.0) += share * share);
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
    let others: f64 = rows
        .known(row)
        .filter_map(|u| Some(base_weights[u] * square[u]?))
        .sum();
    (own + others).max(0.0)
}

fn lloyd(
    rows: &FractionalRows<'_>,
    plan: &FractionalPlan<'_>,
    mut labels: Vec<u32>,
    monitor: &dyn Monitor,
) -> FractionalFit {
    let mut trace: Vec<f64> = Vec::new();
    let mut means = FractionalMeans::of(rows, &labels, plan.clusters);
    loop {
        let (mut next, own) = chosen(rows, plan, &means, &labels);
        let value: f64 = own
            .iter()
            .enumerate()
            .map(|(row, own)| rows.weight(row) * own)
            .sum();
        let before = trace.last().copied();
        let stopped = match before {
            Some(before) if before - value <= plan.tolerance * value.abs() => {
                Some(Stopped::Converged)
            }
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
            return FractionalFit {
                labels,
                means,
                trace,
                starts: Vec::new(),
                stopped,
            };
        }
        let candidate = FractionalMeans::of(rows, &next, plan.clusters);
        if plan.likeliest && sum_of_squares(rows, &candidate, &next, plan.base_weights) > value {
            return FractionalFit {
                labels,
                means,
                trace,
                starts: Vec::new(),
                stopped: Stopped::Converged,
            };
        }
        (labels, means) = (next, candidate);
    }
}

fn sum_of_squares(
    rows: &FractionalRows<'_>,
    means: &FractionalMeans,
    labels: &[u32],
    base_weights: &[f64],
) -> f64 {
    let (table, mut line) = (means.table(rows, base_weights), vec![0.0; means.clusters()]);
    let mut square = |(i, &label): (usize, &u32)| {
        table.distances(rows, i, base_weights, &mut line);
        rows.weight(i) * line[label as usize]
    };
    labels.iter().enumerate().map(&mut square).sum()
}

/// The place of the best value; the place where a row is stays if nothing is better, then the first.
pub(crate) fn best(line: &[f64], stays: u32, better: impl Fn(f64, f64) -> bool) -> u32 {
    (0..line.len() as u32).fold(stays, |best, k| {
        if better(line[k as usize], line[best as usize]) {
            k
        } else {
            best
        }
    })
}

/// Empty clusters take the rows that fit worst where they are.
pub(crate) fn fill_empty(
    rows: &FractionalRows<'_>,
    labels: &mut [u32],
    own: &[f64],
    clusters: usize,
) {
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
        let Some(worst) = worst.filter(|&i| loss(i) > 0.0) else {
            continue;
        };
        sizes[labels[worst] as usize] -= 1;
        labels[worst] = empty as u32;
        sizes[empty] = 1;
    }
}

#[cfg(test)]
mod tests {
    use partita_core::{EnsembleBuilder, ObjectWeights, Silent, WeightedEnsemble};

    use super::*;

    #[test]
    fn the_sum_of_squares_falls_and_weights_are_copies() {
        let mut builder = EnsembleBuilder::new(7);
        for u in 0..4usize {
            builder
                .push(
                    u.to_string(),
                    (0..7).map(|i| Some((i + usize::from(i == u)) / 3)),
                )
                .unwrap();
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
        let one = fit(WeightedEnsemble {
            object_weights: Some(&weights),
            ..(&ensemble).into()
        });
        let two = fit((&copied).into());
        assert!(
            one.trace.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12),
            "{:?}",
            one.trace
        );
        assert!((one.trace.last().unwrap() - two.trace.last().unwrap()).abs() < 1e-9);
    }
}
