//! From a table and a recipe to an ensemble.

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble, MemoryBudget, Monitor, Seed, Stopped};
use serde::Serialize;

use crate::base_run::BaseRun;
use crate::error::Result;
use crate::plan::{Plan, plan};
use crate::run_context::Sink;
use crate::run_plans::{check_groups, run_plans, stays_sparse};
use crate::tree::linkage;
use crate::{BaseKind, BaseSpec, GenerateError, Recipe, TableView, uspec};
use crate::{leiden, spectral};
use partita_core::ProgressCounter;
use partita_kmeans::UNLABELLED;

/// An ensemble, and how its base clusterings came about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Generated {
    /// The ensemble. Objects that a base clustering did not see have no label in it.
    pub ensemble: Ensemble,
    /// Base clusterings finished: fewer than asked for when the monitor said stop.
    pub finished: usize,
    /// Base clusterings asked for.
    pub asked: usize,
    /// Base clusterings taken from a part file instead of being made.
    pub resumed: usize,
    /// One entry a base clustering of the ensemble.
    pub facts: Vec<BaseFacts>,
}

/// How one base clustering came about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BaseFacts {
    /// Its number in the recipe, from 0.
    pub run: usize,
    /// Clusters asked for; where they follow from a resolution, those found.
    pub k: usize,
    /// Clusters found: fewer where there are fewer distinct rows.
    pub clusters: usize,
    /// Objects it labels.
    pub objects: usize,
    /// What k-means minimised, where it is one.
    pub inertia: Option<f64>,
    /// Iterations, where it is an iteration.
    pub iterations: usize,
    /// Why it stopped.
    pub stopped: Stopped,
}

/// Makes the ensemble that a recipe asks for from a table (n × d), dense or sparse.
///
/// Every base clustering takes its chance from `seed.child(run)`: what it finds depends neither on the other
/// base clusterings nor on the number of threads. When the monitor says stop, the finished ones are returned.
///
/// # Errors
/// [`GenerateError`] if the recipe cannot be followed for this table (no clusters, more clusters than rows in a
/// subsample), if the table has one row, a number that is not finite or only equal rows, if the budget is too
/// small, or if nothing was finished before a stop.
///
/// # Cost
/// k-means: O(n·d·k) time an iteration and base clustering. Memory: 16·n·d + 3·n·M bytes.
pub fn generate<'a>(
    values: impl Into<TableView<'a>>,
    recipe: &Recipe,
    seed: Seed,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
) -> Result<Generated, GenerateError> {
    let values = values.into();
    let plans = checked_plans(&values, recipe, seed, budget)?;
    let sink = Sink {
        progress: &ProgressCounter::new(monitor, plans.len() as u64),
        keep: &|_, _| (),
    };
    let found = run_plans(values, recipe, &plans, budget, sink)?;
    assemble(&plans, found, values.dim().0, recipe.to_json(seed))
}

/// What a recipe asks for, if it can be followed for this table within the budget.
pub(crate) fn checked_plans(
    values: &TableView<'_>,
    recipe: &Recipe,
    seed: Seed,
    budget: MemoryBudget,
) -> Result<Vec<Plan>> {
    values.check()?;
    let n = values.dim().0;
    recipe.check(n)?;
    check_groups(values, recipe)?;
    let remedy = "ask for fewer or simpler base clusterings, or sample the rows";
    budget.check("generation", bytes(recipe, values), remedy)?;
    Ok(plan(recipe, n, seed))
}

/// Bytes that [`generate`] holds at once besides the table, at most: what it compares with its budget.
pub fn bytes(recipe: &Recipe, values: &TableView<'_>) -> u64 {
    let (n, d) = values.dim();
    let table = match values {
        TableView::Sparse(values) if stays_sparse(recipe) => {
            8 * (values.nnz() + 4 * d * recipe.base_k.bounds(n).1)
        }
        // Two or more shares of the rows at a time, where there are any, and a group while it is read.
        TableView::Groups(table) => {
            let shares = usize::from(recipe.base.iter().any(|spec| spec.kind != BaseKind::Uspec));
            40 * shares * recipe.rows(n) * d + 16 * n.div_ceil(table.groups().max(1)) * d
        }
        // A table that is drawn, and where its values come from.
        TableView::Gaps(_, gaps) => 24 * n * d + 80 * gaps.len(),
        TableView::Graph(_) => 0,
        _ => 16 * n * d,
    };
    let table = table as u64;
    let labels = 4 * (n * recipe.runs()) as u64;
    let rows = recipe.rows(n) as u64;
    let threads = rayon::current_num_threads().min(recipe.runs()) as u64;
    let pairs = |spec: &BaseSpec| match spec.kind {
        kind if spectral::is_spectral(kind) => {
            spectral::bytes(kind, rows as usize, d, recipe.base_k.bounds(n).1)
        }
        BaseKind::Uspec => uspec::bytes(n, spec.runs).div_ceil(threads),
        kind if kind.by_resolution() => leiden::bytes(recipe, values, rows, d as u64),
        BaseKind::Pam => 12 * rows * rows,
        BaseKind::KMeansMoves => 24 * (n * d) as u64,
        BaseKind::Genie => 8 * (2 * d as u64 + 8) * rows,
        kind if linkage(kind).is_some() => 4 * rows * rows,
        _ => 0,
    };
    // Directions, and the table as seen through them.
    let projected = recipe
        .projection
        .map_or(0, |width| (8 * (n + d) as u64).saturating_mul(width as u64));
    let at_once = projected.saturating_add(recipe.base.iter().map(pairs).max().unwrap_or(0));
    (table + labels).saturating_add(threads.saturating_mul(at_once))
}

/// The ensemble of those base clusterings that are finished.
pub(crate) fn assemble(
    plans: &[Plan],
    found: Vec<Option<BaseRun>>,
    n: usize,
    recipe: String,
) -> Result<Generated> {
    let asked = plans.len();
    let finished: Vec<(&Plan, BaseRun)> = plans
        .iter()
        .zip(found)
        .filter_map(|(plan, found)| Some((plan, found?)))
        .collect();
    if finished.is_empty() {
        return Err(GenerateError::NothingFinished { asked });
    }
    let mut rows = Array2::from_elem((n, finished.len()), UNLABELLED);
    let mut bases = Vec::with_capacity(finished.len());
    let mut facts = Vec::with_capacity(finished.len());
    let made = finished.len();
    // Labels are let go one by one: of many objects they are most of what is held.
    for (u, (plan, fit)) in finished.into_iter().enumerate() {
        rows.column_mut(u)
            .iter_mut()
            .zip(&fit.labels)
            .for_each(|(to, &label)| *to = label);
        let values = (0..fit.clusters).map(|j| j.to_string()).collect();
        let by_resolution = plan.kind.by_resolution();
        let how = if by_resolution {
            format!("resolution={:.4}", plan.resolution)
        } else {
            format!("k={}", plan.k)
        };
        let name = format!("{}-{} {how}", plan.kind, plan.run);
        bases.push(BaseClustering::new(name, values));
        facts.push(BaseFacts {
            run: plan.run,
            k: if by_resolution { fit.clusters } else { plan.k },
            clusters: fit.clusters,
            objects: fit
                .labels
                .iter()
                .filter(|&&label| label != UNLABELLED)
                .count(),
            inertia: fit.inertia,
            iterations: fit.iterations,
            stopped: fit.stopped,
        });
    }
    let ensemble = Ensemble::from_words(rows, bases)?.with_recipe(recipe);
    Ok(Generated {
        ensemble,
        finished: made,
        asked,
        resumed: 0,
        facts,
    })
}
