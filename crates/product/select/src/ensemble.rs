//! The number of clusters of an ensemble: the consensus at every K, compared with ensembles without agreement.

use std::ops::RangeInclusive;

use partita_core::ndarray::{Array2, Axis};
use partita_core::{
    Clusters, Consensus, Dendrogram, Ensemble, EnsembleBuilder, EnsembleError, Features, Monitor,
    ObjectWeights, Outcome, Problem, ProgressCounter, Seed, Sense, Settings, Stopped, consense,
};
use partita_linkage::{cut, longest_lifetime};
use rand::RngExt;
use serde_json::json;
use tracing::info_span;

use crate::best::whole_objects;
use crate::choice::{Choice, ChoiceRow, Criterion, ObjectiveValue};
use crate::ensemble_criteria::{compare, decide};
use crate::pair_histogram::draw;
use crate::table::numbers;
use crate::{EnsembleChoiceSettings, SelectError};

/// Chooses the number of clusters of an ensemble for a consensus method.
///
/// The evidence is what it is; so the consensus at every K of the range is compared. Of a tree method the tree is built
/// once and cut at every K. What decides is a setting:
///
/// | criterion | chosen is | sensible for |
/// |---|---|---|
/// | `lifetime` | the K that the tree has over the longest range of heights (Fred and Jain 2005) | tree methods on ensembles of many small clusters |
/// | `bic` | the lowest BIC | `penca` |
/// | `anmi` | the highest mean NMI with the base clusterings | base clusterings with about the K that is sought |
/// | `contradicted` | the consensus whose pairs base clusterings contradict least (median partition) | the same |
///
/// The reference is the same ensemble with the labels of every base clustering permuted at random among its objects. If the
/// mean NMI of the consensus at the chosen K does not clearly exceed what it reaches there, the answer is 1. This says only
/// that base clusterings agree about something: base clusterings of any table do, as near objects are together in all of
/// them, also where there are no clusters. For that question take [`choose_clusters`](crate::choose_clusters).
///
/// `problem.clusters` is not looked at; seed, settings of the method, table, weights and budget are. When the monitor asks
/// to stop, what is finished is handed back and [`Choice::interrupted`] says so.
///
/// # Errors
/// [`SelectError`] when the range holds no number from 2 to n − 1, the method refuses the problem, the criterion is not one that
/// the method has, or the monitor asks to stop before any K was finished.
///
/// # Cost
/// The method's for every K and draw, over at most `sample` objects; of a tree method, once for all K.
///
/// # References
/// A. Fred, A. Jain: Combining multiple clusterings using evidence accumulation, IEEE TPAMI 27(6), 2005.
pub fn choose_clusters_of_ensemble(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    range: RangeInclusive<usize>,
    settings: &EnsembleChoiceSettings,
    monitor: &dyn Monitor,
) -> Result<Choice, SelectError> {
    settings.check_ranges()?;
    let Some(sample) = Sample::of(problem, settings.sample) else {
        return choose(method, problem, range, settings, monitor);
    };
    let mut choice = choose(method, &sample.problem(problem)?, range, settings, monitor)?;
    choice.objects = Some(sample.objects);
    Ok(choice)
}

/// Some of the objects of a problem.
struct Sample {
    objects: Vec<u32>,
    ensemble: Ensemble,
    columns: Vec<String>,
    values: Option<Array2<f64>>,
    weights: Option<ObjectWeights>,
}

impl Sample {
    /// So many objects, where there are more.
    fn of(problem: &Problem<'_>, most: usize) -> Option<Self> {
        let ensemble = problem.ensemble;
        let objects = (ensemble.objects() > most)
            .then(|| draw(ensemble.objects(), most, problem.seed.child(3)))?;
        let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
        let (columns, values) = features_of(problem, &objects);
        let weights = weights_of(problem, &objects);
        Some(Self {
            ensemble: ensemble.select(&objects, &bases),
            objects,
            columns,
            values,
            weights,
        })
    }

    fn problem<'a>(&'a self, whole: &'a Problem<'_>) -> Result<Problem<'a>, SelectError> {
        let features = self
            .values
            .as_ref()
            .map(|values| Features::new(&self.columns, values.view()));
        let mut problem = Problem::new(&self.ensemble, whole.clusters);
        (problem.seed, problem.budget, problem.weights) = (whole.seed, whole.budget, whole.weights);
        problem.object_weights = self.weights.as_ref();
        (problem.settings, problem.features) = (
            whole.settings.clone(),
            features.transpose().map_err(SelectError::Table)?,
        );
        Ok(problem)
    }
}

/// The weights of these objects, where there are some.
fn weights_of(problem: &Problem<'_>, objects: &[u32]) -> Option<ObjectWeights> {
    let given = problem.object_weights?.as_slice();
    ObjectWeights::new(
        objects
            .iter()
            .map(|&object| given[object as usize])
            .collect(),
    )
    .ok()
}

/// The columns of the table behind an ensemble, and its rows of these objects.
fn features_of(problem: &Problem<'_>, objects: &[u32]) -> (Vec<String>, Option<Array2<f64>>) {
    let Some(features) = problem.features else {
        return (Vec::new(), None);
    };
    let rows: Vec<usize> = objects.iter().map(|&object| object as usize).collect();
    (
        features.columns().to_vec(),
        Some(features.values().select(Axis(0), &rows)),
    )
}

/// Units of progress of a consensus.
const CONSENSUS: u64 = 1000;

fn choose(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    range: RangeInclusive<usize>,
    settings: &EnsembleChoiceSettings,
    monitor: &dyn Monitor,
) -> Result<Choice, SelectError> {
    let ensemble = problem.ensemble;
    let (mut numbers, shortened) = numbers(&range, ensemble.objects(), 1.0)?;
    // Objects with the same labels are never apart.
    let most = ensemble.fragments().ensemble().objects().max(numbers[0]);
    numbers.retain(|&clusters| clusters <= most);
    let progress = ProgressCounter::new(
        monitor,
        (numbers.len() * (1 + settings.draws as usize)) as u64 * CONSENSUS,
    );
    let mut solved =
        info_span!("ensemble").in_scope(|| solve(method, problem, &numbers, &progress))?;
    let criterion = settings.criterion.unwrap_or_else(|| solved.criterion());
    let choosing = decide(&solved.rows, criterion, method.info().name)?;
    let asked = if solved.tree.is_some() {
        numbers
    } else {
        vec![choosing.clusters]
    };
    let drawn = if progress.stopped() {
        Vec::new()
    } else {
        draws(method, problem, &asked, settings, &progress)?
    };
    compare(&mut solved.rows, &drawn);
    let decision = choosing.decision(&solved.rows, settings.significance);
    let mut warnings: Vec<String> = shortened.into_iter().chain(decision.warnings).collect();
    if let Some(tree) = solved.tree.filter(|_| criterion == Criterion::Lifetime) {
        let longest = longest_lifetime(&tree);
        if !range.contains(&longest) {
            warnings
                .push(format!("of all numbers {longest} has the longest lifetime; it was not among those looked at"));
        }
    }
    Ok(Choice {
        clusters: decision.clusters,
        reason: decision.reason,
        criterion,
        rows: solved.rows,
        objects: None,
        interrupted: progress.stopped(),
        warnings,
        settings: json!({ "method": method.info().name, "choice": settings }),
        seed: problem.seed.number(),
    })
}

/// The consensus at many K.
struct Solved {
    rows: Vec<ChoiceRow>,
    /// The tree that all of them are cuts of.
    tree: Option<Dendrogram>,
}

impl Solved {
    fn criterion(&self) -> Criterion {
        if self.tree.is_some() {
            Criterion::Lifetime
        } else if self.rows.iter().all(|row| row.bic.is_some()) {
            Criterion::Bic
        } else {
            Criterion::Anmi
        }
    }
}

/// A line for every K that is finished; at least one.
fn solve(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    numbers: &[usize],
    progress: &ProgressCounter<'_>,
) -> Result<Solved, SelectError> {
    let mut solved = Solved {
        rows: Vec::with_capacity(numbers.len()),
        tree: None,
    };
    let (mut inner, objects) = (problem.clone(), whole_objects(problem));
    for &clusters in numbers {
        if let Some(tree) = &solved.tree {
            let partition = cut(tree, clusters);
            let mut row = ChoiceRow::empty(clusters);
            row.lifetime = Some(lifetime(tree, clusters));
            row.take(problem.ensemble, partition, objects.as_deref())?;
            solved.rows.push(row);
            progress.add(CONSENSUS);
            continue;
        }
        inner.clusters = Clusters::Exactly(clusters);
        let part = progress.part(CONSENSUS);
        let outcome = match consense(method, &inner, &part).map_err(SelectError::from) {
            Err(SelectError::Interrupted) if !solved.rows.is_empty() => break,
            other => other?,
        };
        let stopped = outcome.stopped == Stopped::Interrupted;
        let (row, tree) = taken(problem, clusters, outcome, objects.as_deref())?;
        solved.rows.push(row);
        solved.tree = tree.filter(|_| method.info().capabilities.cuts_tree);
        drop(part);
        if stopped {
            break;
        }
    }
    Ok(solved)
}

/// The line of an outcome, and its tree if the labels are a cut of it.
fn taken(
    problem: &Problem<'_>,
    clusters: usize,
    outcome: Outcome,
    objects: Option<&[u32]>,
) -> Result<(ChoiceRow, Option<Dendrogram>), SelectError> {
    let ensemble = problem.ensemble;
    let mut row = ChoiceRow::empty(clusters);
    row.bic = bic(ensemble.objects(), &outcome);
    row.lifetime = outcome
        .dendrogram
        .as_ref()
        .map(|tree| lifetime(tree, clusters));
    let plain = |tree: &Dendrogram| cut(tree, clusters) == outcome.partition.by_appearance();
    let tree = outcome.dendrogram.filter(plain);
    row.take(ensemble, outcome.partition, objects)?;
    row.objective = outcome.objective.map(|objective| ObjectiveValue {
        name: objective.name.to_owned(),
        value: Some(objective.value).filter(|value| value.is_finite()),
    });
    Ok((row, tree))
}

/// The range of heights over which a tree has so many clusters.
fn lifetime(tree: &Dendrogram, clusters: usize) -> f64 {
    let merges = tree.merges();
    let ends = merges.len() + 1 - clusters;
    let begins = if ends == 0 {
        0.0
    } else {
        merges[ends - 1].height
    };
    merges[ends].height - begins
}

/// BIC of a method that says it, or says its likelihood, components and pairs as PEnCA does: a component has one
/// parameter for every object.
fn bic(objects: usize, outcome: &Outcome) -> Option<f64> {
    let detail = |name: &str| {
        outcome
            .details
            .get(name)
            .and_then(serde_json::Value::as_f64)
    };
    let objective = outcome
        .objective
        .as_ref()
        .filter(|objective| objective.sense == Sense::Maximise);
    detail("bic").or_else(|| {
        let (components, pairs) = (
            detail("live_components")?,
            detail("pairs_together")?.max(1.0),
        );
        Some(-2.0 * objective?.value + (components * objects as f64 - 1.0) * pairs.ln())
    })
}

/// What ensembles without agreement give at these K: those that are finished.
fn draws(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    numbers: &[usize],
    settings: &EnsembleChoiceSettings,
    progress: &ProgressCounter<'_>,
) -> Result<Vec<Vec<ChoiceRow>>, SelectError> {
    let mut drawn = Vec::with_capacity(settings.draws as usize);
    let objects = draw(
        problem.ensemble.objects(),
        settings.objects,
        problem.seed.child(1),
    );
    let (columns, values) = features_of(problem, &objects);
    for at in 0..u64::from(settings.draws) {
        let seed = problem.seed.child(2).child(at);
        let ensemble = permuted(problem.ensemble, &objects, seed.child(0))?;
        let mut inner = Problem::new(&ensemble, problem.clusters);
        (inner.seed, inner.budget, inner.weights) =
            (seed.child(1), problem.budget, problem.weights);
        let weights = weights_of(problem, &objects);
        inner.object_weights = weights.as_ref();
        inner.settings = problem.settings.clone();
        let features = values
            .as_ref()
            .map(|values| Features::new(&columns, values.view()));
        inner.features = features.transpose().map_err(SelectError::Table)?;
        match info_span!("reference").in_scope(|| solve(method, &inner, numbers, progress)) {
            Ok(solved) if !progress.stopped() => drawn.push(solved.rows),
            Ok(_) | Err(SelectError::Interrupted) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(drawn)
}

/// These objects of an ensemble, the labels of every base clustering permuted at random among those that it labels.
fn permuted(ensemble: &Ensemble, objects: &[u32], seed: Seed) -> Result<Ensemble, SelectError> {
    let mut builder = EnsembleBuilder::new(objects.len());
    for (u, base) in ensemble.bases().iter().enumerate() {
        let mut labels: Vec<Option<usize>> = objects
            .iter()
            .map(|&object| ensemble.label(object as usize, u))
            .collect();
        let labelled: Vec<usize> = (0..labels.len()).filter(|&i| labels[i].is_some()).collect();
        let mut rng = seed.child(u as u64).rng();
        for at in (1..labelled.len()).rev() {
            labels.swap(
                labelled[at],
                labelled[rng.random_range(0..=at as u64) as usize],
            );
        }
        let labels = labels
            .into_iter()
            .map(|label| label.map(|label| label as u32));
        builder
            .push_clusters(base.name(), labels, base.clusters())
            .map_err(no_draw)?;
    }
    builder.finish().map_err(no_draw)
}

fn no_draw(error: EnsembleError) -> SelectError {
    SelectError::Table(format!(
        "no ensemble without agreement can be drawn: {error}; look at more objects"
    ))
}
