//! Genie base clusterings: one minimum spanning tree, merged under several limits of the Gini index, cut at many k.
//!
//! Up to [`EXACT_OBJECTS`] rows the tree is exact. Above, it spans [`LANDMARKS`] rows drawn evenly, and every other row takes the
//! label of its nearest landmark: the shape of a cluster is known from few rows, and n² distances are not needed.

use partita_core::ndarray::{Array2, Axis};
use partita_core::{Seed, Stopped};
use partita_kmeans::Members;
use partita_linkage::{LinkageError, cut, genie, spanning_tree};
use rayon::prelude::*;

use crate::base_run::BaseRun;
use crate::error::Result;
use crate::plan::Plan;
use crate::run_context::RunContext;
use crate::tree::distance2;
use partita_core::ProgressCounter;

/// Most rows whose spanning tree is exact.
pub(crate) const EXACT_OBJECTS: usize = 20_000;

/// Rows of the tree of a larger table.
pub(crate) const LANDMARKS: usize = 2_000;

/// The base clusterings of plans that see the same rows.
pub(crate) fn genies(plans: &[Plan], context: &RunContext<'_>) -> Result<Vec<Option<BaseRun>>> {
    let (members, rows) = context.sight.rows(&plans[0]);
    let progress = context.sink.progress;
    let landmarks = Landmarks::of(rows, plans[0].sample.child(4), progress);
    let edges = match spanning_tree(landmarks.rows.view(), progress) {
        Err(LinkageError::Interrupted) => return Ok(vec![None; plans.len()]),
        edges => edges?,
    };
    let found = |plan: &Plan| {
        let tree = genie(landmarks.rows.nrows(), &edges, plan.gini);
        let partition = cut(&tree, plan.k);
        let labels = landmarks.spread(partition.labels());
        Some(context.finished(plan, &members, labels, Stopped::Exact))
    };
    Ok(plans.par_iter().map(found).collect())
}

/// The rows that a tree spans, and the nearest of them for every row.
struct Landmarks {
    rows: Array2<f64>,
    /// None where every row is its own landmark.
    nearest: Option<Vec<u32>>,
}

impl Landmarks {
    fn of(rows: Array2<f64>, seed: Seed, progress: &ProgressCounter<'_>) -> Self {
        let n = rows.nrows();
        if n <= EXACT_OBJECTS {
            return Self {
                rows,
                nearest: None,
            };
        }
        let drawn: Vec<usize> = Members::draw(n, LANDMARKS, &mut seed.rng())
            .iter()
            .collect();
        let landmarks = rows.select(Axis(0), &drawn);
        let nearest = |i: usize| {
            if i.is_multiple_of(1024) && progress.stopped() || progress.was_stopped() {
                return 0;
            }
            let row = rows.row(i);
            let mut best = (f64::INFINITY, 0);
            for (at, landmark) in landmarks.outer_iter().enumerate() {
                let distance = distance2(row, landmark);
                if distance < best.0 {
                    best = (distance, at as u32);
                }
            }
            best.1
        };
        let nearest = Some((0..n).into_par_iter().map(nearest).collect());
        Self {
            rows: landmarks,
            nearest,
        }
    }

    /// Labels of landmarks as labels of all rows.
    fn spread<'a>(&'a self, labels: &'a [u32]) -> Box<dyn Iterator<Item = u16> + 'a> {
        match &self.nearest {
            None => Box::new(labels.iter().map(|&label| label as u16)),
            Some(nearest) => Box::new(nearest.iter().map(|&at| labels[at as usize] as u16)),
        }
    }
}

#[cfg(test)]
mod tests {
    use partita_core::ndarray::Array2;
    use partita_core::{MemoryBudget, Seed, Silent};

    use crate::{BaseSpec, GenerateError, Generated, Recipe, generate};

    /// Two rings, one inside the other.
    fn rings(n: usize) -> Array2<f64> {
        Array2::from_shape_fn((n, 2), |(i, p)| {
            let radius = 1.0 + 2.0 * (i % 2) as f64;
            let angle = i as f64 * 0.37;
            radius * if p == 0 { angle.cos() } else { angle.sin() }
        })
    }

    fn recipe(base: &str, base_k: &str) -> Recipe {
        Recipe {
            base: BaseSpec::list(base).unwrap(),
            base_k: base_k.parse().unwrap(),
            ..Recipe::default()
        }
    }

    fn made(table: &Array2<f64>, recipe: &Recipe) -> Generated {
        let unlimited = MemoryBudget::UNLIMITED;
        generate(table.view(), recipe, Seed::new(1), unlimited, &Silent).unwrap()
    }

    #[test]
    fn rings_are_told_apart_and_each_run_sees_nine_tenths() {
        let table = rings(300);
        let made = made(&table, &recipe("genie:8", "2"));
        assert_eq!(made.ensemble.missing(), 8 * 30);
        for u in 0..8 {
            let inner = made.ensemble.label(0, u).or(made.ensemble.label(2, u));
            let agrees = |i: usize| {
                made.ensemble
                    .label(i, u)
                    .is_none_or(|l| (Some(l) == inner) == i.is_multiple_of(2))
            };
            assert!((0..300).all(agrees), "base clustering {u}");
        }
    }

    #[test]
    fn the_limits_of_the_gini_index_are_taken_in_turn() {
        let mut asked = recipe("genie:6", "5");
        // Nothing left to chance but the limit: equal limits give equal labels.
        (asked.subsample, asked.gini) = (1.0, vec![0.05, 0.95]);
        let mut table = rings(200);
        table[[7, 0]] = 90.0;
        let made = made(&table, &asked);
        let column = |u: usize| made.ensemble.column(u).collect::<Vec<_>>();
        assert_ne!(column(0), column(1));
        assert!([2, 4].iter().any(|&u| column(u) == column(0)));
        for wrong in [vec![], vec![1.5], vec![f64::NAN]] {
            asked.gini = wrong;
            assert!(matches!(asked.check(200), Err(GenerateError::Gini { .. })));
        }
    }

    #[test]
    fn a_large_table_is_clustered_by_landmarks() {
        let table = rings(20_100);
        let asked = Recipe {
            subsample: 1.0,
            ..recipe("genie:2", "2")
        };
        let made = made(&table, &asked);
        let first = made.ensemble.label(0, 0);
        assert!((0..20_100).all(|i| (made.ensemble.label(i, 0) == first) == (i % 2 == 0)));
    }
}
