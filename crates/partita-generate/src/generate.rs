//! From a table and a recipe to an ensemble.

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{BaseClustering, Ensemble, MemoryBudget, Seed, Stopped, Watch};
use rayon::prelude::*;
use serde::Serialize;

use crate::check::check_varied;
use crate::kmeans::{Fit, Job, KMeansSettings, Members, NONE, Rows, Start, many};
use crate::progress::Progress;
use crate::{BaseKind, GenerateError, Recipe, scale};

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

/// One base clustering to be made.
struct Plan {
    run: usize,
    kind: BaseKind,
    k: usize,
    seed: Seed,
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
    let needed = 16 * (n * d) as u64 + 3 * (n * recipe.runs()) as u64;
    budget.check("generation", needed, "ask for fewer base clusterings, or cluster a sample of the rows")?;
    let plans = plan(recipe, n, seed);
    let scaled = scale(values, recipe.scale);
    let progress = Progress::new(plans.len(), watch);
    let mut fits: Vec<Option<Fit>> = plans.iter().map(|_| None).collect();
    for cosine in [false, true] {
        let chosen: Vec<&Plan> = plans.iter().filter(|plan| (plan.kind == BaseKind::KMeansCosine) == cosine).collect();
        if !chosen.is_empty() {
            let rows = Rows::new(scaled.view(), None, cosine);
            let found = run_kmeans(&rows, &chosen, recipe.rows(n), &progress);
            chosen.iter().zip(found).for_each(|(plan, fit)| fits[plan.run] = fit);
        }
    }
    assemble(&plans, fits, n, recipe.to_json(seed))
}

fn plan(recipe: &Recipe, objects: usize, seed: Seed) -> Vec<Plan> {
    let runs = recipe.base.iter().flat_map(|spec| (0..spec.runs).map(move |turn| (spec.kind, turn)));
    runs.enumerate()
        .map(|(run, (kind, turn))| {
            let seed = seed.child(run as u64);
            Plan { run, kind, k: recipe.base_k.draw(objects, turn, seed.child(0)), seed }
        })
        .collect()
}

fn run_kmeans(rows: &Rows, plans: &[&Plan], sample: usize, progress: &Progress<'_>) -> Vec<Option<Fit>> {
    let settings = KMeansSettings::default();
    let group = |plans: &[&Plan]| -> Vec<Option<Fit>> {
        if progress.stopped() {
            return plans.iter().map(|_| None).collect();
        }
        let jobs: Vec<Job> = plans.iter().map(|plan| plan.job(rows.objects(), sample)).collect();
        many(rows, &jobs, &settings, progress)
    };
    // A large table is cut into chunks for the threads inside a group; small ones share the groups out.
    let groups = plans.chunks(rows.together());
    let found: Vec<Vec<Option<Fit>>> =
        if rows.large() { groups.map(group).collect() } else { plans.par_chunks(rows.together()).map(group).collect() };
    found.into_iter().flatten().collect()
}

impl Plan {
    fn job(&self, objects: usize, sample: usize) -> Job {
        Job {
            clusters: self.k,
            start: match self.kind {
                BaseKind::KMeans | BaseKind::KMeansCosine => Start::PlusPlus,
                BaseKind::KMeansGreedy => Start::Greedy,
                BaseKind::KMeansRandom => Start::Random,
            },
            seed: self.seed.child(2),
            members: Members::draw(objects, sample, &mut self.seed.child(1).rng()),
            given: None,
        }
    }
}

fn assemble(plans: &[Plan], fits: Vec<Option<Fit>>, n: usize, recipe: String) -> Result<Generated, GenerateError> {
    let asked = plans.len();
    let finished: Vec<(&Plan, Fit)> = plans.iter().zip(fits).filter_map(|(plan, fit)| Some((plan, fit?))).collect();
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
            inertia: Some(fit.inertia),
            rounds: fit.rounds,
            stopped: fit.stopped,
        });
    }
    let ensemble = Ensemble::from_words(rows, bases)?.with_recipe(recipe);
    Ok(Generated { ensemble, finished: finished.len(), asked, facts })
}
