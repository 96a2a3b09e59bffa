//! From a table and a recipe to an ensemble.

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{BaseClustering, Ensemble, MemoryBudget, Seed, Stopped, Watch};
use rayon::prelude::*;
use serde::Serialize;

use crate::check::check_varied;
use crate::found::Found;
use crate::kmeans::{Job, KMeansSettings, NONE, Rows, Start, many, minibatch};
use crate::plan::{Plan, Sight, plan};
use crate::progress::Progress;
use crate::spectral::{DENSE_ROWS, NEIGHBOURS, spectral};
use crate::splits::splits;
use crate::tree::{linkage, trees};
use crate::{BaseKind, BaseSpec, GenerateError, Recipe, scale};

/// An ensemble, and how its base clusterings came about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Generated {
    /// The ensemble. Objects that a base clustering did not see have no label in it.
    pub ensemble: Ensemble,
    /// Base clusterings finished: fewer than asked for when the watch said stop.
    pub finished: usize,
    /// Base clusterings asked for.
    pub asked: usize,
    /// One entry a base clustering of the ensemble.
    pub facts: Vec<BaseFacts>,
}

/// How one base clustering came about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BaseFacts {
    /// Its number in the recipe, from 0.
    pub run: usize,
    /// Clusters asked for.
    pub k: usize,
    /// Clusters found: fewer where there are fewer distinct rows.
    pub clusters: usize,
    /// Objects it labels.
    pub objects: usize,
    /// What k-means minimised, where it is one.
    pub inertia: Option<f64>,
    /// Rounds, where it is an iteration.
    pub rounds: usize,
    /// Why it stopped.
    pub stopped: Stopped,
}

/// Makes the ensemble that a recipe asks for from a table (n × d).
///
/// Every base clustering takes its chance from `seed.child(run)`: what it finds depends neither on the other
/// base clusterings nor on the number of threads. When the watch says stop, the finished ones are returned.
///
/// # Errors
/// [`GenerateError`] if the recipe can not be followed for this table (no clusters, more clusters than rows in a
/// subsample), if the table has one row, a number that is not finite or only equal rows, if the budget is too
/// small, or if nothing was finished before a stop.
///
/// # Cost
/// k-means: O(n·d·k) time a round and base clustering. Memory: 16·n·d + 3·n·M bytes.
pub fn generate(
    values: ArrayView2<'_, f64>,
    recipe: &Recipe,
    seed: Seed,
    budget: MemoryBudget,
    watch: &dyn Watch,
) -> Result<Generated, GenerateError> {
    check_varied(values)?;
    let (n, d) = values.dim();
    recipe.check(n)?;
    let plans = plan(recipe, n, seed);
    budget.check("generation", bytes(recipe, n, d), "ask for fewer or simpler base clusterings, or sample the rows")?;
    let scaled = scale(values, recipe.scale);
    let sight = Sight { values: scaled.view(), recipe };
    let progress = Progress::new(plans.len(), watch);
    let mut found: Vec<Option<Found>> = plans.iter().map(|_| None).collect();
    if !recipe.alters_columns() {
        for cosine in [false, true] {
            let chosen: Vec<&Plan> =
                plans.iter().filter(|plan| start(plan.kind).is_some_and(|s| s.1 == cosine)).collect();
            if !chosen.is_empty() {
                let rows = Rows::new(scaled.view(), None, cosine);
                chosen
                    .iter()
                    .zip(together(&rows, &chosen, &sight, &progress))
                    .for_each(|(plan, fit)| found[plan.run] = fit);
            }
        }
    }
    let rest: Vec<Plan> = plans.iter().filter(|plan| found[plan.run].is_none()).copied().collect();
    let groups: Vec<&[Plan]> = rest.chunk_by(|a, b| (a.kind, a.sample) == (b.kind, b.sample)).collect();
    let made: Vec<Vec<Option<Found>>> =
        groups.par_iter().map(|plans| alone(plans, &sight, &progress)).collect::<Result<_, _>>()?;
    rest.iter().zip(made.into_iter().flatten()).for_each(|(plan, made)| found[plan.run] = made);
    assemble(&plans, found, n, recipe.to_json(seed))
}

/// Bytes held at once, at most.
fn bytes(recipe: &Recipe, n: usize, d: usize) -> u64 {
    let (table, labels) = (16 * (n * d) as u64, 4 * (n * recipe.runs()) as u64);
    let rows = recipe.rows(n) as u64;
    let threads = rayon::current_num_threads().min(recipe.runs()) as u64;
    let pairs = |spec: &BaseSpec| match spec.kind {
        BaseKind::Spectral if rows > DENSE_ROWS as u64 => 16 * (NEIGHBOURS as u64) * rows * 3,
        BaseKind::Spectral => 40 * rows * rows,
        kind if linkage(kind).is_some() => 4 * rows * rows,
        _ => 0,
    };
    table + labels + threads * recipe.base.iter().map(pairs).max().unwrap_or(0)
}

/// Where a k-means base clusterer starts, and whether it looks at angles.
fn start(kind: BaseKind) -> Option<(Start, bool)> {
    match kind {
        BaseKind::KMeans => Some((Start::PlusPlus, false)),
        BaseKind::KMeansGreedy => Some((Start::Greedy, false)),
        BaseKind::KMeansRandom => Some((Start::Random, false)),
        BaseKind::KMeansCosine => Some((Start::PlusPlus, true)),
        _ => None,
    }
}

/// Many k-means runs over the same columns.
fn together(rows: &Rows, plans: &[&Plan], sight: &Sight<'_>, progress: &Progress<'_>) -> Vec<Option<Found>> {
    let settings = KMeansSettings::default();
    let group = |plans: &[&Plan]| -> Vec<Option<Found>> {
        if progress.stopped() {
            return plans.iter().map(|_| None).collect();
        }
        let jobs: Vec<Job> = plans.iter().filter_map(|plan| job(plan, sight)).collect();
        many(rows, &jobs, &settings, progress, true).into_iter().map(|fit| fit.map(Found::from)).collect()
    };
    // A large table is cut into chunks for the threads inside a group; small ones share the groups out.
    let size = rows.together();
    let found: Vec<Vec<Option<Found>>> = if rows.large() {
        plans.chunks(size).map(group).collect()
    } else {
        plans.par_chunks(size).map(group).collect()
    };
    found.into_iter().flatten().collect()
}

fn job(plan: &Plan, sight: &Sight<'_>) -> Option<Job> {
    let (start, _) = start(plan.kind)?;
    Some(Job { clusters: plan.k, start, seed: plan.seed, members: sight.members(plan), given: None })
}

fn batches(plan: &Plan, sight: &Sight<'_>, progress: &Progress<'_>) -> Option<Found> {
    let rows = Rows::new(sight.columns(plan).view(), None, false);
    let (members, start) = (sight.members(plan), Start::PlusPlus);
    let job = Job { clusters: plan.k, start, seed: plan.seed, members, given: None };
    let fit = minibatch(&rows, &job, progress)?;
    progress.finished();
    Some(fit.into())
}

/// The base clusterings of plans of one kind that see the same.
fn alone(plans: &[Plan], sight: &Sight<'_>, progress: &Progress<'_>) -> Result<Vec<Option<Found>>, GenerateError> {
    if progress.stopped() {
        return Ok(plans.iter().map(|_| None).collect());
    }
    let kind = plans[0].kind;
    if let Some(linkage) = linkage(kind) {
        return trees(plans, linkage, sight, progress);
    }
    if kind == BaseKind::Spectral {
        return spectral(plans, sight, progress);
    }
    if kind == BaseKind::KMeansBatch {
        return Ok(plans.iter().map(|plan| batches(plan, sight, progress)).collect());
    }
    if let Some((_, cosine)) = start(kind) {
        let seen = |plan: &Plan| {
            let rows = Rows::new(sight.columns(plan).view(), None, cosine);
            together(&rows, &[plan], sight, progress).into_iter().next().flatten()
        };
        return Ok(plans.iter().map(seen).collect());
    }
    Ok(plans.iter().map(|plan| splits(plan, sight, progress)).collect())
}

fn assemble(plans: &[Plan], found: Vec<Option<Found>>, n: usize, recipe: String) -> Result<Generated, GenerateError> {
    let asked = plans.len();
    let finished: Vec<(&Plan, Found)> =
        plans.iter().zip(found).filter_map(|(plan, found)| Some((plan, found?))).collect();
    if finished.is_empty() {
        return Err(GenerateError::NothingFinished { asked });
    }
    let mut rows = Array2::from_elem((n, finished.len()), NONE);
    let mut bases = Vec::with_capacity(finished.len());
    let mut facts = Vec::with_capacity(finished.len());
    for (u, (plan, fit)) in finished.iter().enumerate() {
        rows.column_mut(u).iter_mut().zip(&fit.labels).for_each(|(to, &label)| *to = label);
        let values = (0..fit.clusters).map(|j| j.to_string()).collect();
        bases.push(BaseClustering::new(format!("{}-{} k={}", plan.kind, plan.run, plan.k), values));
        facts.push(BaseFacts {
            run: plan.run,
            k: plan.k,
            clusters: fit.clusters,
            objects: fit.labels.iter().filter(|&&label| label != NONE).count(),
            inertia: fit.inertia,
            rounds: fit.rounds,
            stopped: fit.stopped,
        });
    }
    let ensemble = Ensemble::from_words(rows, bases)?.with_recipe(recipe);
    Ok(Generated { ensemble, finished: finished.len(), asked, facts })
}
