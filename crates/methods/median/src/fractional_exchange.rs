//! After k-means on fractional rows: exchanges of single rows (Hartigan and Wong) and random swaps of clusters (Fränti), wherever they
//! lower the loss.

use partita_core::{Flow, Monitor, Seed, Stopped};
use rand::{Rng, RngExt};

use crate::fractional_rows::{FractionalFit, FractionalMeans, FractionalPlan, FractionalRows};

/// Terms of parts that moves of single rows look at, and that swaps do, at most: none are tried on large tables.
const TERMS: usize = 100_000_000;

/// Passes over the rows, at most, of moves of single rows.
const PASSES: usize = 100;

/// Swaps for each initialization, rounds after each, and passes of moves.
const SWAPS: usize = 8;
const ROUNDS: u32 = 10;
const SWAP_PASSES: usize = 10;

/// Single rows move where the rounds after a swap end at most this share above the best loss.
const NEAR: f64 = 0.05;

/// What is gained has to be more than this share of the loss.
const GAIN: f64 = 1e-9;

/// A loss of a partition, up to a constant the sum of a part for every cluster.
pub(crate) trait PartialLoss {
    fn loss(&self, means: &FractionalMeans, labels: &[u32]) -> f64;

    /// Of a cluster.
    fn part(&self, means: &FractionalMeans, cluster: u32) -> f64;

    /// The cluster of every row by these means.
    fn chosen(&self, means: &FractionalMeans, labels: &[u32]) -> Vec<u32>;

    /// What every row lacks where it is.
    fn misfits(&self, means: &FractionalMeans, labels: &[u32]) -> Vec<f64>;

    /// Rounds of k-means from these labels.
    fn climb(
        &self,
        plan: &FractionalPlan<'_>,
        labels: Vec<u32>,
        monitor: &dyn Monitor,
    ) -> FractionalFit;
}

/// The run after moves of single rows and random swaps (Fränti 2018): a cluster, in turn the one with fewest rows and one that is drawn,
/// is given up for a row that is drawn by its misfit.
pub(crate) fn improved(
    loss: &impl PartialLoss,
    (rows, plan): (&FractionalRows<'_>, &FractionalPlan<'_>),
    mut best: FractionalFit,
    seed: Seed,
    monitor: &dyn Monitor,
) -> FractionalFit {
    let pass = rows
        .len()
        .saturating_mul(plan.clusters)
        .saturating_mul(rows.base_clusters())
        .max(1);
    if plan.clusters < 2 || best.stopped == Stopped::Interrupted {
        return best;
    }
    exchange(loss, rows, &mut best, (TERMS / pass).min(PASSES));
    let trials = (TERMS / pass / SWAP_PASSES).min(SWAPS.saturating_mul(plan.restarts as usize));
    let (short, mut rng) = (
        FractionalPlan {
            rounds: plan.rounds.min(ROUNDS),
            ..*plan
        },
        seed.rng(),
    );
    for trial in 0..trials {
        if monitor.flow() == Flow::Stop {
            return FractionalFit {
                stopped: Stopped::Interrupted,
                ..best
            };
        }
        let Some(means) = swapped(loss, rows, &best, trial, &mut rng) else {
            break;
        };
        let mut fit = loss.climb(&short, loss.chosen(&means, &best.labels), monitor);
        let least = last(&best);
        if fit.stopped == Stopped::Interrupted || last(&fit) > least + NEAR * least.abs() {
            continue;
        }
        exchange(loss, rows, &mut fit, SWAP_PASSES);
        if last(&fit) < least - GAIN * least.abs() {
            let value = last(&fit);
            best.trace.push(value);
            (best.labels, best.means) = (fit.labels, fit.means);
        }
    }
    best
}

/// The first of so many rows at which their chances add up to more than this; the last with a chance where rounding leaves none.
pub(crate) fn pick(rows: usize, chance: impl Fn(usize) -> f64, mut left: f64) -> Option<usize> {
    let found = (0..rows).find(|&row| {
        left -= chance(row);
        left < 0.0
    });
    found.or_else(|| (0..rows).rev().find(|&row| chance(row) > 0.0))
}

fn last(fit: &FractionalFit) -> f64 {
    fit.trace.last().copied().unwrap_or(f64::INFINITY)
}

/// Means with a row for a cluster; none where every row fits perfectly.
fn swapped(
    loss: &impl PartialLoss,
    rows: &FractionalRows<'_>,
    fit: &FractionalFit,
    trial: usize,
    rng: &mut impl Rng,
) -> Option<FractionalMeans> {
    let misfits = loss.misfits(&fit.means, &fit.labels);
    let misfit = |row: usize| rows.weight(row) * misfits[row];
    let total: f64 = (0..rows.len()).map(misfit).sum();
    let row = pick(rows.len(), misfit, rng.random::<f64>() * total)?;
    let clusters = 0..fit.means.clusters() as u32;
    let drawn = rng.random_range(clusters.clone());
    let fewest = clusters.min_by_key(|&k| fit.means.rows_in(k)).unwrap_or(0);
    let cluster = if trial.is_multiple_of(2) {
        fewest
    } else {
        drawn
    };
    let mut means = fit.means.clone();
    means.replace(rows, cluster, row);
    Some(means)
}

/// Moves single rows while that lowers the loss, in so many passes at most.
fn exchange(
    loss: &impl PartialLoss,
    rows: &FractionalRows<'_>,
    fit: &mut FractionalFit,
    passes: usize,
) {
    if passes == 0 {
        return;
    }
    let (mut means, mut labels) = (fit.means.clone(), fit.labels.clone());
    let clusters = means.clusters() as u32;
    let mut parts: Vec<f64> = (0..clusters).map(|k| loss.part(&means, k)).collect();
    let enough = GAIN * last(fit).abs() / rows.len() as f64;
    for _ in 0..passes {
        let mut moved = false;
        for row in 0..rows.len() {
            let own = labels[row];
            if means.rows_in(own) < 2 {
                continue;
            }
            means.take(rows, row, own);
            let without = loss.part(&means, own);
            let mut best = (own, enough, parts[own as usize]);
            for k in (0..clusters).filter(|&k| k != own) {
                means.put(rows, row, k);
                let with = loss.part(&means, k);
                means.take(rows, row, k);
                let gain = parts[own as usize] - without + parts[k as usize] - with;
                if gain > best.1 {
                    best = (k, gain, with);
                }
            }
            let (to, _, part) = best;
            means.put(rows, row, to);
            if to != own {
                labels[row] = to;
                (parts[own as usize], parts[to as usize]) = (without, part);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let means = FractionalMeans::of(rows, &labels, clusters as usize);
    let value = loss.loss(&means, &labels);
    if value < last(fit) {
        fit.trace.push(value);
        (fit.labels, fit.means) = (labels, means);
    }
}

#[cfg(test)]
mod tests {
    use partita_conformance::{draw_shares, ensemble_of_shares};
    use partita_core::{ObjectWeights, Silent, WeightedEnsemble};
    use partita_kmeans::labels::Utility;

    use super::*;
    use crate::fractional_utility::{FractionalCriterion, FractionalKind};

    /// The result is a local minimum: no move of one row lowers the loss, of shares and weights.
    #[test]
    fn no_single_move_lowers_the_result() {
        for seed in 0..40 {
            let drawn = draw_shares(Seed::new(seed));
            let named = drawn
                .tables
                .iter()
                .enumerate()
                .map(|(u, table)| (u.to_string(), table));
            let ensemble = ensemble_of_shares(named);
            let weights: Vec<f64> = (0..ensemble.objects())
                .map(|i| 0.5 + (i % 3) as f64)
                .collect();
            let weights = ObjectWeights::new(weights).unwrap();
            let rows = FractionalRows::of(WeightedEnsemble {
                object_weights: Some(&weights),
                ..(&ensemble).into()
            });
            let base_weights: Vec<f64> = (0..ensemble.bases().len())
                .map(|u| 1.0 + (u % 2) as f64)
                .collect();
            for kind in [
                FractionalKind::Squares,
                FractionalKind::Utility(Utility::Entropy { smoothing: 1.0 }),
                FractionalKind::Utility(Utility::Norm(5.0)),
                FractionalKind::Cut,
            ] {
                let of =
                    FractionalCriterion::new(&rows, kind, ensemble.offsets(), &base_weights, false);
                let (restarts, rounds, tolerance) = (3, 50, 1e-9);
                let base_weights = &of.counting;
                let plan = FractionalPlan {
                    clusters: 3,
                    base_weights,
                    likeliest: false,
                    restarts,
                    rounds,
                    tolerance,
                };
                let fit = of.search(&plan, Seed::new(seed), &Silent);
                let least = of.loss(&fit.means);
                assert!((last(&fit) - least).abs() <= 1e-9 * least.max(1.0));
                for (row, to) in (0..rows.len()).flat_map(|row| (0..3).map(move |to| (row, to))) {
                    let mut labels = fit.labels.clone();
                    labels[row] = to;
                    let other = of.loss(&FractionalMeans::of(&rows, &labels, 3));
                    assert!(
                        other >= least - 1e-6,
                        "{kind:?}, seed {seed}: row {row} to {to}"
                    );
                }
            }
        }
    }
}
