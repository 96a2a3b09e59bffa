//! Weak base clusterings by random hyperplanes (Topchy, Jain and Punch 2003).

use partita_core::Stopped;
use partita_core::ndarray::{Array1, Array2};
use rand::RngExt;

use crate::base_run::BaseRun;
use crate::plan::{Plan, TableSample, normal};
use partita_core::ProgressCounter;

/// Cuts the cluster with most rows by a random hyperplane until there are k clusters, or only equal rows are left
/// together.
pub(crate) fn splits(
    plan: &Plan,
    sight: &TableSample<'_>,
    progress: &ProgressCounter<'_>,
) -> Option<BaseRun> {
    let (members, rows) = sight.rows(plan);
    let mut rng = plan.seed.rng();
    let mut clusters: Vec<Vec<usize>> = vec![(0..rows.nrows()).collect()];
    let mut whole: Vec<bool> = vec![false];
    while clusters.len() < plan.k {
        if progress.stopped() {
            return None;
        }
        let open = (0..clusters.len()).filter(|&j| !whole[j] && clusters[j].len() > 1);
        let Some(largest) = open.max_by_key(|&j| (clusters[j].len(), usize::MAX - j)) else {
            break;
        };
        if let Some((left, right)) = split(&rows, &clusters[largest], &mut rng) {
            clusters[largest] = left;
            clusters.push(right);
            whole.push(false);
        } else {
            whole[largest] = true;
        }
    }
    let mut labels = vec![0u16; rows.nrows()];
    for (j, cluster) in clusters.iter().enumerate() {
        cluster.iter().for_each(|&i| labels[i] = j as u16);
    }
    Some(BaseRun::of_members(
        sight.values.nrows(),
        &members,
        labels.into_iter(),
        Stopped::Exact,
    ))
}

/// The rows on either side of a hyperplane with a random direction, put evenly between the outermost rows along it;
/// none if the rows are all equal.
fn split(
    rows: &Array2<f64>,
    cluster: &[usize],
    rng: &mut impl rand::Rng,
) -> Option<(Vec<usize>, Vec<usize>)> {
    let direction = Array1::from_shape_simple_fn(rows.ncols(), || normal(rng));
    let at: Vec<f64> = cluster
        .iter()
        .map(|&i| rows.row(i).dot(&direction))
        .collect();
    let (low, high) = at
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| {
            (low.min(x), high.max(x))
        });
    let place = low + rng.random::<f64>() * (high - low);
    let side = |keep: bool| -> Vec<usize> {
        cluster
            .iter()
            .zip(&at)
            .filter(|(_, at)| (**at <= place) == keep)
            .map(|(&i, _)| i)
            .collect()
    };
    let left = side(true);
    let right = side(false);
    (!left.is_empty() && !right.is_empty()).then_some((left, right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BaseKind, Recipe};
    use partita_core::{Seed, Silent};

    #[test]
    fn clusters_are_cells_of_hyperplanes() {
        let recipe = Recipe {
            subsample: 1.0,
            ..Recipe::default()
        };
        for unit in 0..50 {
            let line = Array2::from_shape_fn((40, 1), |(i, _)| ((i * 17) % 40) as f64);
            let seed = Seed::new(unit);
            let plan = Plan {
                run: 0,
                kind: BaseKind::Splits,
                k: 6,
                gini: 1.0,
                resolution: 1.0,
                seed,
                sample: seed,
                gaps: seed,
            };
            let sight = TableSample {
                values: line.view(),
                recipe: &recipe,
                distances: false,
            };
            let found = splits(&plan, &sight, &ProgressCounter::new(&Silent, 1)).unwrap();
            assert_eq!(found.clusters, 6);
            // On a line every cluster is an interval: six of them have five borders.
            let mut order: Vec<usize> = (0..40).collect();
            order.sort_by_key(|&i| (i * 17) % 40);
            assert_eq!(
                order
                    .windows(2)
                    .filter(|w| found.labels[w[0]] != found.labels[w[1]])
                    .count(),
                5
            );
        }
    }
}
