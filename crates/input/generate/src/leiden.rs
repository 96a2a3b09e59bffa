//! Leiden base clusterings: one graph of nearest neighbours, or a given one, clustered at many resolutions.
//!
//! The graph has the pairs of rows in which either is among the 15 nearest of the other, with the affinities of spectral clustering. It is
//! made once; a run on half of the rows or more clusters the part of the graph between them.

use std::borrow::Cow;

use partita_core::Stopped;
use partita_core::ndarray::Array2;
use partita_kmeans::UNLABELLED;
use partita_leiden::{Graph, LeidenSettings, leiden};
use rayon::prelude::*;

use crate::base_run::BaseRun;
use crate::error::Result;
use crate::plan::{Plan, drawn};
use crate::run_context::{RunContext, Sink};
use crate::spectral::nearest::{nearest_of_distances, nearest_others};
use crate::spectral::{NEIGHBOURS, affinities};
use crate::{BaseKind, GenerateError, Recipe, TableView};

/// An affinity that is smaller joins nothing; sums of such numbers would not be exact.
const LEAST_AFFINITY: f64 = 1e-100;

/// Bytes that a run holds at once, at most: of so many rows and columns.
pub(crate) fn bytes(recipe: &Recipe, values: &TableView<'_>, rows: u64, columns: u64) -> u64 {
    match values {
        TableView::Graph(graph) => {
            let thinned = if recipe.edges < 1.0 { 72 } else { 0 };
            60 * rows + (48 + thinned) * graph.edges() as u64
        }
        _ => rows.saturating_mul(8 * columns + 100 * NEIGHBOURS as u64),
    }
}

/// Below this share of the objects too few neighbours of a row are left in a run: it then has a graph of its own.
const LEAST_SHARE: f64 = 0.5;

/// Whether one graph of all rows serves every run.
pub(crate) fn shares_graph(recipe: &Recipe) -> bool {
    !recipe.alters_columns() && recipe.subsample >= LEAST_SHARE
}

/// The base clusterings of plans of one kind that see the same columns and, where they do not share a graph, rows.
pub(crate) fn leidens(plans: &[Plan], context: &RunContext<'_>) -> Result<Vec<Option<BaseRun>>> {
    let (recipe, sight) = (context.sight.recipe, context.sight);
    let shared = shares_graph(recipe);
    let (members, rows) = if shared {
        (Vec::new(), sight.columns(&plans[0]))
    } else {
        sight.rows(&plans[0])
    };
    let Some(graph) = neighbours(rows, plans[0].kind, context)? else {
        return Ok(vec![None; plans.len()]);
    };
    let one = |plan: &Plan| {
        if shared {
            run(&graph, recipe, plan, context.sink)
        } else {
            clustered(
                &graph,
                recipe,
                sight.values.nrows(),
                &members,
                plan,
                context.sink,
            )
        }
    };
    plans.par_iter().map(one).collect()
}

/// The graph of the nearest neighbours of rows; none where it is stopped.
fn neighbours(
    mut rows: Array2<f64>,
    kind: BaseKind,
    context: &RunContext<'_>,
) -> Result<Option<Graph>> {
    let (sight, progress) = (context.sight, context.sink.progress);
    let n = rows.nrows();
    let keep = NEIGHBOURS.min(n - 1);
    let near = if sight.distances {
        nearest_of_distances(&rows, keep, progress)
    } else {
        if kind == BaseKind::LeidenCosine {
            for mut row in rows.outer_iter_mut() {
                let length = row.dot(&row).sqrt();
                row /= if length > 0.0 { length } else { 1.0 };
            }
        }
        nearest_others(&rows, keep, progress)
    };
    drop(rows);
    let Some(near) = near else {
        return Ok(None);
    };
    let lines = affinities(&near);
    let edges = lines.iter().enumerate().flat_map(|(i, line)| {
        let once = line
            .iter()
            .filter(move |&&(j, affinity)| i < j as usize && affinity >= LEAST_AFFINITY);
        once.map(move |&(j, affinity)| (i, j as usize, affinity))
    });
    Ok(Some(Graph::from_edges(n, edges)?))
}

/// One run of Leiden on the part of a graph that a plan sees; none where it is stopped.
pub(crate) fn run(
    graph: &Graph,
    recipe: &Recipe,
    plan: &Plan,
    sink: Sink<'_>,
) -> Result<Option<BaseRun>> {
    let n = graph.vertices();
    let members: Vec<usize> = drawn(recipe, n, plan).0.iter().collect();
    let seen = if members.len() == n {
        Cow::Borrowed(graph)
    } else {
        Cow::Owned(graph.induced(&members))
    };
    clustered(&seen, recipe, n, &members, plan, sink)
}

/// One run of Leiden on a graph of some of n objects; none where it is stopped.
fn clustered(
    graph: &Graph,
    recipe: &Recipe,
    n: usize,
    members: &[usize],
    plan: &Plan,
    sink: Sink<'_>,
) -> Result<Option<BaseRun>> {
    let settings = LeidenSettings::default()
        .with_objective(recipe.objective)
        .with_resolution(plan.resolution);
    let graph = if recipe.edges < 1.0 {
        Cow::Owned(graph.thinned(recipe.edges, &mut plan.sample.child(3).rng()))
    } else {
        Cow::Borrowed(graph)
    };
    let Some(found) = leiden(&graph, &settings, plan.seed, sink.progress) else {
        return Ok(None);
    };
    if found.clusters > usize::from(UNLABELLED) {
        return Err(GenerateError::TooManyFound {
            clusters: found.clusters,
            resolution: plan.resolution,
            most: UNLABELLED.into(),
        });
    }
    let labels = found.labels.into_iter().map(|label| label as u16);
    let mut made = BaseRun::of_members(n, members, labels, Stopped::Converged);
    made.iterations = found.rounds;
    Ok(Some(sink.kept(plan, made)))
}

#[cfg(test)]
mod tests {
    use partita_core::ndarray::{Array2, s};
    use partita_core::{MemoryBudget, Seed, Silent};
    use partita_leiden::{Graph, Objective};
    use rand::RngExt;

    use crate::{BaseSpec, GenerateError, Generated, Recipe, Scale, TableView, generate};

    fn made(table: TableView<'_>, recipe: &Recipe) -> Result<Generated, GenerateError> {
        generate(
            table,
            recipe,
            Seed::new(1),
            MemoryBudget::UNLIMITED,
            &Silent,
        )
    }

    fn recipe(base: &str, resolution: &str) -> Recipe {
        Recipe {
            base: BaseSpec::list(base).unwrap(),
            resolution: resolution.parse().unwrap(),
            ..Recipe::default()
        }
    }

    /// Object i points to one of four corners, from near or far.
    fn corners(n: usize) -> Array2<f64> {
        let mut rng = Seed::new(3).rng();
        let mut table = Array2::zeros((n, 2));
        for (i, mut row) in table.outer_iter_mut().enumerate() {
            let far = 1.0 + 4.0 * rng.random::<f64>();
            for p in 0..2 {
                let side = if (i % 4) >> p & 1 == 0 { far } else { -far };
                row[p] = side * (1.0 + 0.4 * rng.random::<f64>());
            }
        }
        table
    }

    #[test]
    fn corners_are_told_apart_by_the_angle_and_a_higher_resolution_splits_them() {
        let table = corners(400);
        let found = made(table.view().into(), &recipe("leiden-cosine:6", "0.02")).unwrap();
        assert_eq!(found.ensemble.missing(), 6 * 40);
        for (u, facts) in found.facts.iter().enumerate() {
            assert!((4..=8).contains(&facts.clusters) && facts.k == facts.clusters);
            let label = |i: usize| found.ensemble.label(i, u);
            let apart = |i: usize, j: usize| label(i).is_none() || label(i) != label(j);
            assert!((0..397).all(|i: usize| (1..4).all(|step| apart(i, i + step))));
        }
        assert!(
            found.ensemble.bases()[2]
                .name()
                .starts_with("leiden-cosine-2 resolution=0.02")
        );
        let fine = made(table.view().into(), &recipe("leiden:3", "5")).unwrap();
        assert!(fine.facts.iter().all(|facts| facts.clusters > 20));
    }

    #[test]
    fn distances_and_columns_have_the_same_neighbours() {
        let table = corners(120);
        let distances = Array2::from_shape_fn((120, 120), |(i, j)| {
            let apart = &table.row(i) - &table.row(j);
            apart.dot(&apart).sqrt()
        });
        let asked = Recipe {
            scale: Scale::None,
            ..recipe("leiden:4", "1")
        };
        let columns = made(table.view().into(), &asked).unwrap();
        let pairs = made(TableView::Distances(distances.view()), &asked).unwrap();
        assert_eq!(columns.ensemble.bases(), pairs.ensemble.bases());
        let labels = |made: &Generated| {
            (0..4)
                .flat_map(|u| made.ensemble.column(u).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        assert_eq!(labels(&columns), labels(&pairs));
        // A share of the columns has neighbours of its own.
        let narrow = Recipe {
            features: 0.5,
            ..asked
        };
        assert!(made(table.slice(s![.., ..]).into(), &narrow).is_ok());
    }

    #[test]
    fn objectives_and_shares_of_edges_are_settings() {
        let edges = (0..300)
            .flat_map(|i| (0..6).map(move |step| (i, i / 30 * 30 + (i + 5 * step + 1) % 30, 1.0)));
        let graph = Graph::from_edges(300, edges).unwrap();
        let of = |objective, edges, resolution| {
            let asked = Recipe {
                objective,
                edges,
                ..recipe("leiden:4", resolution)
            };
            made(TableView::Graph(&graph), &asked)
        };
        let clusters = |found: Generated| found.facts.iter().map(|facts| facts.clusters).collect();
        let cpm =
            |resolution| -> Vec<usize> { clusters(of(Objective::Cpm, 1.0, resolution).unwrap()) };
        // Groups of 30 have a density of about .4.
        assert_eq!(cpm("0.1"), [10; 4]);
        assert!(cpm("0.9").iter().all(|&clusters| clusters > 50));
        let labels = |found: Generated| found.ensemble.column(1).collect::<Vec<_>>();
        let modularity = of(Objective::Modularity, 1.0, "12").unwrap();
        let rb = of(Objective::RbConfiguration, 1.0, "12").unwrap();
        assert_eq!(labels(modularity.clone()), labels(rb));
        assert!(labels(modularity) != labels(of(Objective::Modularity, 0.5, "12").unwrap()));
        let refused = of(Objective::Modularity, 0.0, "12")
            .unwrap_err()
            .to_string();
        assert_eq!(
            refused,
            "edges 0 is not a share; write a number above 0 and up to 1"
        );
    }

    #[test]
    fn a_graph_is_clustered_by_leiden_alone() {
        let edges = (0..300)
            .flat_map(|i| (0..6).map(move |step| (i, i / 30 * 30 + (i + 5 * step + 1) % 30, 1.0)));
        let graph = Graph::from_edges(300, edges).unwrap();
        let found = made(TableView::Graph(&graph), &recipe("leiden:5", "0.5..1")).unwrap();
        assert!(
            found
                .facts
                .iter()
                .all(|facts| facts.clusters == 10 && facts.objects == 270)
        );
        let refused = |base: &str| {
            made(TableView::Graph(&graph), &recipe(base, "1"))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused("kmeans:5"),
            "kmeans cannot be made of a graph; take leiden"
        );
        assert_eq!(
            refused("leiden-cosine:5"),
            "leiden-cosine cannot be made of a graph; take leiden"
        );
        let none = Graph::from_edges(3, [(1, 1, 2.0)]).unwrap();
        let refused = made(TableView::Graph(&none), &recipe("leiden:2", "1"));
        assert_eq!(refused, Err(GenerateError::NoEdges { vertices: 3 }));
    }
}
