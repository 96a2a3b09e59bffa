//! Partitioning around medoids (Kaufman and Rousseeuw 1990): k objects, the medoids, so that
//!
//! ```text
//! Σ_i min_m d(i, m)
//! ```
//!
//! is as small as no swap of a medoid for another object makes smaller. Swaps are searched as in FastPAM1 (Schubert and Rousseeuw 2019),
//! for all medoids at once; the start is drawn as k-means++ draws centres.

use partita_core::Stopped;
use rand::RngExt;
use rayon::prelude::*;

use crate::base_run::BaseRun;
use crate::pairs::Pairs;
use crate::plan::Plan;
use crate::run_context::RunContext;
use crate::tree::condensed;

/// The base clusterings of plans that see the same rows.
pub(crate) fn pam(plans: &[Plan], context: &RunContext<'_>) -> Vec<Option<BaseRun>> {
    let (members, rows) = context.sight.rows(&plans[0]);
    let Some(distances) = condensed(&rows, context) else {
        return vec![None; plans.len()];
    };
    let pairs = Pairs::of(&distances, members.len());
    drop(distances);
    let one = |plan: &Plan| {
        let stopped = || context.sink.progress.stopped();
        let labels = swapped(&pairs, start(&pairs, plan), stopped)?;
        let labels = labels.into_iter().map(|label| label as u16);
        Some(context.finished(plan, &members, labels, Stopped::Converged))
    };
    plans.iter().map(one).collect()
}

/// The distances of every object to its nearest medoid, with the place of that, and to the second.
struct Nearest {
    first: Vec<(f64, usize)>,
    second: Vec<f64>,
}

impl Nearest {
    fn of(pairs: &Pairs, medoids: &[usize]) -> Self {
        let mut nearest = Self {
            first: vec![(f64::INFINITY, 0); pairs.n],
            second: vec![f64::INFINITY; pairs.n],
        };
        for (place, &medoid) in medoids.iter().enumerate() {
            for (i, &distance) in pairs.row(medoid).iter().enumerate() {
                if distance < nearest.first[i].0 {
                    nearest.second[i] = nearest.first[i].0;
                    nearest.first[i] = (distance, place);
                } else {
                    nearest.second[i] = nearest.second[i].min(distance);
                }
            }
        }
        nearest
    }
}

/// The place, among the medoids, of the one that is nearest to each object, for medoids that no swap improves; none where it is stopped.
pub(crate) fn swapped(
    pairs: &Pairs,
    start: Vec<usize>,
    stopped: impl Fn() -> bool,
) -> Option<Vec<usize>> {
    let found = medoids(pairs, start, stopped)?;
    let nearest = Nearest::of(pairs, &found).first;
    Some(nearest.into_iter().map(|(_, place)| place).collect())
}

/// The medoids that no swap improves, from such a start; none where it is stopped.
fn medoids(
    pairs: &Pairs,
    mut medoids: Vec<usize>,
    stopped: impl Fn() -> bool,
) -> Option<Vec<usize>> {
    loop {
        if stopped() {
            return None;
        }
        let nearest = Nearest::of(pairs, &medoids);
        let whole: f64 = nearest.first.iter().map(|(distance, _)| distance).sum();
        let swaps = (0..pairs.n).into_par_iter().map(|object| {
            let (gain, place) = best_swap(pairs, &nearest, object, medoids.len());
            (gain, object, place)
        });
        // Of equal swaps the first object is taken, with any number of threads.
        let better = |best: (f64, usize, usize), next: (f64, usize, usize)| {
            if next.0 < best.0 || (next.0 <= best.0 && next.1 < best.1) {
                next
            } else {
                best
            }
        };
        let (change, object, place) = swaps.reduce(|| (0.0, usize::MAX, 0), better);
        // What rounding makes of no change would go on for ever.
        if change >= -1e-12 * whole {
            return Some(medoids);
        }
        medoids[place] = object;
    }
}

/// By how much the sum changes if an object takes the place of a medoid, for the best of the medoids.
fn best_swap(pairs: &Pairs, nearest: &Nearest, object: usize, clusters: usize) -> (f64, usize) {
    let mut for_all = 0.0;
    let mut of_medoid = vec![0.0; clusters];
    for (i, &distance) in pairs.row(object).iter().enumerate() {
        let (first, place) = nearest.first[i];
        if distance < first {
            for_all += distance - first;
        } else {
            of_medoid[place] += distance.min(nearest.second[i]) - first;
        }
    }
    let best = (1..clusters).fold(0, |best, place| {
        if of_medoid[place] < of_medoid[best] {
            place
        } else {
            best
        }
    });
    (for_all + of_medoid[best], best)
}

/// Medoids one by one, each of which makes the sum smallest (BUILD of Kaufman and Rousseeuw).
pub(crate) fn built(pairs: &Pairs, clusters: usize) -> Vec<usize> {
    let mut medoids: Vec<usize> = Vec::with_capacity(clusters);
    let mut least = vec![f64::INFINITY; pairs.n];
    while medoids.len() < clusters.min(pairs.n) {
        let sum = |object: usize| -> f64 {
            let pairs = pairs.row(object).iter().zip(&least);
            pairs.map(|(distance, least)| distance.min(*least)).sum()
        };
        let left = (0..pairs.n).filter(|object| !medoids.contains(object));
        let best = left.map(|object| (sum(object), object));
        let Some((_, next)) = best.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            break;
        };
        medoids.push(next);
        for (least, &distance) in least.iter_mut().zip(pairs.row(next)) {
            *least = least.min(distance);
        }
    }
    medoids
}

/// Drawn medoids, each with a chance by the square of its distance to those before.
fn start(pairs: &Pairs, plan: &Plan) -> Vec<usize> {
    let mut rng = plan.seed.rng();
    let mut medoids = vec![rng.random_range(0..pairs.n as u64) as usize];
    let mut least: Vec<f64> = pairs.row(medoids[0]).to_vec();
    while medoids.len() < plan.k {
        let sum: f64 = least.iter().map(|distance| distance * distance).sum();
        let mut left = rng.random::<f64>() * sum;
        let drawn = least.iter().position(|distance| {
            left -= distance * distance;
            left < 0.0
        });
        // Where all are at a medoid, equal objects are left.
        let Some(next) = drawn.or_else(|| least.iter().position(|&distance| distance > 0.0)) else {
            break;
        };
        medoids.push(next);
        for (least, &distance) in least.iter_mut().zip(pairs.row(next)) {
            *least = least.min(distance);
        }
    }
    medoids
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;

    /// The sum of the distances to the nearest of these.
    fn cost(pairs: &Pairs, medoids: &[usize]) -> f64 {
        let nearest = |i: usize| {
            medoids
                .iter()
                .map(|&m| pairs.row(i)[m])
                .fold(f64::INFINITY, f64::min)
        };
        (0..pairs.n).map(nearest).sum()
    }

    #[test]
    fn no_swap_makes_the_medoids_better() {
        let n = 24;
        for seed in 0..20 {
            let mut rng = Seed::new(seed).rng();
            let distances: Vec<f64> = (0..n * (n - 1) / 2).map(|_| rng.random()).collect();
            let pairs = Pairs::of(&distances, n);
            let plan = Plan {
                run: 0,
                kind: crate::BaseKind::Pam,
                k: 4,
                gini: 1.0,
                resolution: 1.0,
                seed: Seed::new(seed),
                sample: Seed::new(seed),
                gaps: Seed::new(seed),
            };
            let found = medoids(&pairs, start(&pairs, &plan), || false).unwrap();
            let least = cost(&pairs, &found);
            for place in 0..4 {
                for object in 0..n {
                    let mut swapped = found.clone();
                    swapped[place] = object;
                    assert!(cost(&pairs, &swapped) >= least - 1e-9, "seed {seed}");
                }
            }
        }
    }
}
