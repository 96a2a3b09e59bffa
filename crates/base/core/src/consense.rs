//! Calling a method: the checks at the entry, the canonical order, and the way back.

use serde_json::{Map, Value};

use crate::by_blocks::{by_blocks, consensus_bytes, over_blocks};
use crate::canonical::Weighting;
use crate::reduction::Reduction;
use crate::result_warnings::{self, Found};
use crate::{
    BaseWeights, Clusters, Consensus, ConsensusError, Ensemble, MethodInfo, MissingLabels, Monitor,
    ObjectWeights, Outcome, Partition, Problem, Reads, SoftBases, SoftPartition, Stopped, Weights,
};

/// Finds the consensus that `method` sees in `problem`.
///
/// Beyond [`LABELS_BY_BLOCKS`](crate::LABELS_BY_BLOCKS) labels of more than 65,536 objects, methods that can read rows by blocks do so, in
/// the order given ([`consense_rows`](crate::consense_rows)): the order then changes sums in their last digits.
///
/// Compares the problem with the method's capabilities, answers K = 1 at once, and runs the method on the canonical
/// form of the ensemble, so that the order of objects, base clusterings and cluster numbers changes nothing.
/// Objects that have the same label row get the same soft row.
///
/// Weights are heeded here as far as they can be for every method: those that are all equal are none (up to 1, where they are numbers of
/// copies), base clusterings of weight 0 are left out, and objects of weight 0 have no part in the fit and get the cluster that the base
/// clusterings mostly put them with.
///
/// # Errors
/// [`ConsensusError`] when the problem does not fit the method, or the method finds no consensus.
pub fn consense(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    monitor: &dyn Monitor,
) -> Result<Outcome, ConsensusError> {
    let info = method.info();
    let problem = &without_even_weights(problem, info);
    let fixed = method.fixed_clusters(&problem.settings, problem.ensemble.bases());
    let problem = &with_fixed_clusters(info, problem, fixed)?;
    check(info, problem, fixed.is_some())?;
    let mut outcome = consense_reduced(method, problem, monitor)?;
    let unnamed = outcome
        .names
        .as_ref()
        .zip(outcome.soft.as_ref())
        .and_then(|(names, soft)| names.warning(soft));
    outcome.warnings.extend(unnamed);
    Ok(outcome)
}

/// The consensus of a problem with a number of clusters that the method takes.
fn consense_reduced(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    monitor: &dyn Monitor,
) -> Result<Outcome, ConsensusError> {
    match Reduction::of(problem, method.info())? {
        Some(reduction) => {
            let outcome = consense_kept(method, &reduction.problem(problem), monitor)?;
            let mut outcome = reduction.restored(outcome, problem.ensemble);
            if reduction.joins() {
                let by_chance = result_warnings::agreement_by_chance(problem.ensemble);
                result_warnings::add(&mut outcome.warnings, by_chance);
            }
            Ok(outcome)
        }
        None => consense_kept(method, problem, monitor),
    }
}

/// Weights under which all count the same are none.
fn without_even_weights<'a>(problem: &Problem<'a>, info: &MethodInfo) -> Problem<'a> {
    let weights = BaseWeights::heeded(problem.weights, info.capabilities.base_weights);
    let object_weights = problem.object_weights.filter(|weights| !weights.are_even());
    Problem {
        weights,
        object_weights,
        ..problem.clone()
    }
}

/// The problem with the number of clusters that is fixed, where it is.
fn with_fixed_clusters<'a>(
    info: &MethodInfo,
    problem: &Problem<'a>,
    fixed: Option<usize>,
) -> Result<Problem<'a>, ConsensusError> {
    match (fixed, problem.clusters) {
        (Some(fixed), Clusters::Exactly(asked)) if asked != fixed => {
            Err(ConsensusError::FixedClusters {
                method: info.name,
                fixed,
                asked,
            })
        }
        (Some(fixed), _) => Ok(Problem {
            clusters: Clusters::Exactly(fixed),
            ..problem.clone()
        }),
        (None, _) => Ok(problem.clone()),
    }
}

/// The consensus of a problem without weights of 0.
fn consense_kept(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    monitor: &dyn Monitor,
) -> Result<Outcome, ConsensusError> {
    let info = method.info();
    let fixed = method
        .fixed_clusters(&problem.settings, problem.ensemble.bases())
        .is_some();
    check_kept(info, problem, fixed)?;
    let settings = method
        .validate(&problem.settings, &problem.size())
        .map_err(|source| ConsensusError::Settings {
            method: info.name,
            source,
        })?;
    let apart = problem.tells_objects_apart();
    let (size, held) = (
        problem.size(),
        problem.object_weights.is_some() || fixed || apart,
    );
    check_memory(method, problem, held)?;
    if !held && by_blocks(info, &size) {
        let mut outcome = over_blocks(method, problem, monitor)?;
        outcome.settings = settings;
        return Ok(judged(
            outcome,
            info,
            problem.clusters,
            problem.ensemble,
            None,
            None,
        ));
    }
    if problem.clusters == Clusters::Exactly(1) && !fixed {
        return Ok(everything_together(
            info,
            settings,
            problem.ensemble.objects(),
        ));
    }
    let weights = Weighting {
        bases: problem.weights,
        objects: problem.object_weights,
    };
    let features = problem
        .features
        .filter(|_| info.capabilities.reads == Reads::LabelsAndFeatures);
    let (ensemble, order) = problem.ensemble.canonical(features.as_ref(), weights);
    let values = features.map(|f| {
        f.values()
            .select(ndarray::Axis(0), &indices(order.objects()))
    });
    let columns = features.map_or(&[][..], |f| f.columns());
    let features = values
        .as_ref()
        .map(|v| crate::Features::new(columns, v.view()).expect("checked at the entry"));
    let weights = problem
        .weights
        .map(|weights| weights.selected(order.bases()));
    let object_weights = problem
        .object_weights
        .map(|weights| weights.selected(order.objects()));
    let (weights, object_weights) = (weights.as_ref(), object_weights.as_ref());
    let start = problem.start.map(|start| start.selected(order.objects()));
    let pairs = problem.pairs.map(|pairs| pairs.selected(order.objects()));
    let labels_only = info.capabilities.reads == Reads::Labels && !apart;
    // A method that is told the most clusters it may use finds fewer by itself.
    let exactly = labels_only && !fixed && !info.capabilities.clusters_is_maximum;
    let distinct = exactly.then(|| distinct_rows(&ensemble));
    let canonical = Problem {
        ensemble: &ensemble,
        clusters: at_most(problem.clusters, distinct),
        features,
        weights,
        object_weights,
        start: start.as_ref(),
        pairs: pairs.as_ref(),
        ..problem.clone()
    };
    let outcome = if canonical.clusters == Clusters::Exactly(1) {
        everything_together(info, settings, ensemble.objects())
    } else {
        method.fit_canonical(&canonical, monitor)?
    };
    let outcome = if labels_only {
        outcome.level(|i| ensemble.same_row(i, i - 1))
    } else {
        outcome
    };
    // Rows of many objects count once here: whether they agree by chance is asked of the objects.
    let by_chance = problem
        .object_weights
        .is_none()
        .then(|| result_warnings::agreement_by_chance(&ensemble))
        .flatten();
    let outcome = judged(
        outcome,
        info,
        problem.clusters,
        &ensemble,
        distinct,
        by_chance,
    );
    Ok(outcome.restored(&order))
}

/// Refuses what would take more memory than there may be.
fn check_memory(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    held: bool,
) -> Result<(), ConsensusError> {
    let info = method.info();
    let bytes = if held {
        method.bytes(&problem.settings, &problem.size())
    } else {
        consensus_bytes(method, &problem.settings, &problem.size())
    };
    let bytes = bytes.map_err(|source| ConsensusError::Settings {
        method: info.name,
        source,
    })?;
    Ok(problem.budget.check(info.name, bytes, info.remedy)?)
}

/// Different rows among those of an ensemble in canonical order, where equal ones stand together.
fn distinct_rows(ensemble: &Ensemble) -> usize {
    (0..ensemble.objects())
        .filter(|&i| i == 0 || !ensemble.same_row(i, i - 1))
        .count()
}

/// Rows that are equal are never in different clusters, so there are at most as many clusters as distinct rows.
fn at_most(asked: Clusters, distinct: Option<usize>) -> Clusters {
    match (asked, distinct) {
        (Clusters::Exactly(asked), Some(distinct)) => Clusters::Exactly(asked.min(distinct)),
        _ => asked,
    }
}

/// The outcome with the warnings that hold for every method.
fn judged(
    mut outcome: Outcome,
    info: &'static MethodInfo,
    asked: Clusters,
    ensemble: &Ensemble,
    distinct: Option<usize>,
    by_chance: Option<String>,
) -> Outcome {
    let (live, stopped, iterations) = (
        outcome.partition.live_clusters(),
        outcome.stopped,
        outcome.iterations,
    );
    let found = Found {
        info,
        settings: &outcome.settings,
        asked,
        distinct,
        live,
        stopped,
        iterations,
    }
    .warnings();
    let nothing = result_warnings::no_information(ensemble.bases());
    let nothing = nothing.or(by_chance);
    result_warnings::add(&mut outcome.warnings, found.into_iter().chain(nothing));
    outcome
}

/// What holds before anything is left out: a number of clusters, a table and weights of the right size.
fn check(info: &MethodInfo, problem: &Problem<'_>, fixed: bool) -> Result<(), ConsensusError> {
    let (ensemble, method) = (problem.ensemble, info.name);
    let objects = ensemble.objects();
    if !fixed {
        info.check_clusters(problem.clusters, objects)?;
    }
    check_missing(info, problem)?;
    if let Some(reason) = given_in_vain(info, problem) {
        return Err(ConsensusError::Given { method, reason });
    }
    if let (Some(_), SoftBases::Refused(reason)) =
        (ensemble.memberships(), info.capabilities.soft_bases)
    {
        return Err(ConsensusError::SoftBases { method, reason });
    }
    match problem.features {
        None if info.capabilities.reads == Reads::LabelsAndFeatures => {
            return Err(ConsensusError::Features {
                method,
                reason: "there is none".into(),
            });
        }
        Some(features) if features.values().nrows() != objects => {
            let reason = format!(
                "it has {} rows, the ensemble {objects} objects",
                features.values().nrows()
            );
            return Err(ConsensusError::Features { method, reason });
        }
        _ => {}
    }
    let given = [
        (
            "base clusterings",
            problem.weights.map(|weights| weights.as_slice().len()),
            ensemble.bases().len(),
        ),
        (
            "objects",
            problem
                .object_weights
                .map(|weights| weights.as_slice().len()),
            objects,
        ),
    ];
    match given
        .into_iter()
        .find(|(_, given, there)| given.is_some_and(|given| given != *there))
    {
        Some((what, given, there)) => {
            let reason = format!("{} weights for {there} {what}", given.unwrap_or_default());
            Err(ConsensusError::Weights { what, reason })
        }
        None => Ok(()),
    }
}

/// What holds of the problem that the method is given.
fn check_kept(info: &MethodInfo, problem: &Problem<'_>, fixed: bool) -> Result<(), ConsensusError> {
    if !fixed {
        info.check_clusters(problem.clusters, problem.ensemble.objects())?;
    }
    let given = [
        (
            "base clusterings",
            problem.weights.is_some(),
            info.capabilities.base_weights,
        ),
        (
            "objects",
            problem.object_weights.is_some(),
            info.capabilities.object_weights,
        ),
    ];
    for (what, given, capability) in given {
        if let (true, Weights::Refused(why)) = (given, capability) {
            let reason = format!("{} takes none: {why}", info.name);
            return Err(ConsensusError::Weights { what, reason });
        }
    }
    let copies = problem
        .weights
        .filter(|_| info.capabilities.base_weights == Weights::Copies);
    match copies.and_then(|weights| weights.beyond_copies(info.name, problem.ensemble.bases())) {
        Some(reason) => Err(ConsensusError::Weights {
            what: "base clusterings",
            reason,
        }),
        None => Ok(()),
    }
}

/// Why the start or the pairs that a user gives do not fit, where they do not.
fn given_in_vain(info: &MethodInfo, problem: &Problem<'_>) -> Option<String> {
    let (objects, can) = (problem.ensemble.objects(), info.capabilities);
    let counts = problem.pairs.is_some_and(|pairs| pairs.counts().is_some());
    let takes_none = |what| Some(format!("it takes no {what} that are given"));
    match (problem.start, problem.pairs, problem.clusters) {
        (None, None, _) => None,
        (Some(_), ..) if !can.start => takes_none("probabilities to start from"),
        (_, Some(_), _) if !can.pairs => takes_none("pairs"),
        (.., Clusters::Auto) => {
            Some("with a start or pairs that are given, say how many clusters".into())
        }
        (Some(start), _, Clusters::Exactly(k)) if start.rows().dim() != (objects, k) => {
            let (rows, columns) = start.rows().dim();
            Some(format!(
                "the start has {rows} objects and {columns} clusters; it needs {objects} and {k}"
            ))
        }
        (_, Some(pairs), _) if pairs.objects() != objects => {
            let found = pairs.objects();
            Some(format!(
                "the pairs are of {found} objects, the ensemble has {objects}"
            ))
        }
        _ if problem.object_weights.is_some() => {
            Some("weights of objects do not go with a start or pairs that are given".into())
        }
        _ if counts && problem.weights.is_some() => Some(
            "counts of pairs are given, in which weights of base clusterings have no part".into(),
        ),
        _ => None,
    }
}

fn check_missing(info: &MethodInfo, problem: &Problem<'_>) -> Result<(), ConsensusError> {
    let (ensemble, missing) = (problem.ensemble, info.capabilities.missing);
    if missing == MissingLabels::Refused
        && let Some((object, base)) = ensemble.first_missing()
    {
        let (object, base) = (
            ensemble.object_name(object),
            ensemble.bases()[base].name().to_owned(),
        );
        return Err(ConsensusError::Missing {
            method: info.name,
            object,
            base,
        });
    }
    if missing == MissingLabels::HandledByPrior {
        return Ok(());
    }
    // Objects of weight 0 have no part in the fit.
    let weights = problem.object_weights.map(ObjectWeights::as_slice);
    let counts = |object: &u32| {
        weights.is_none_or(|weights| weights.get(*object as usize).is_none_or(|&w| w > 0.0))
    };
    let unlabelled = ensemble.unlabelled();
    let mut unlabelled = unlabelled.iter().filter(|object| counts(object));
    match unlabelled.next() {
        Some(&object) => Err(ConsensusError::Unlabelled {
            object: ensemble.object_name(object as usize),
            others: unlabelled.count(),
        }),
        None => Ok(()),
    }
}

fn everything_together(info: &MethodInfo, settings: Map<String, Value>, objects: usize) -> Outcome {
    let partition = Partition::new(vec![0; objects], 1).expect("0 is below 1");
    let soft = info
        .capabilities
        .soft
        .then(|| SoftPartition::of(&partition));
    Outcome {
        soft,
        settings,
        ..Outcome::hard(partition, Stopped::Exact).erased()
    }
}

fn indices(order: &[u32]) -> Vec<usize> {
    order.iter().map(|&i| i as usize).collect()
}
