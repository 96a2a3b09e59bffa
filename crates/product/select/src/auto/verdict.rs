//! The verdict on a table: whether it has clusters, how many, and which base clusterings find them.

use super::{AutoCandidate, AutoChoice};
use crate::decision::chance_of_all;
use crate::{Choice, Criterion};

/// Where tables without clusters pass for as stable, clusters are believed all the same from this validity on (`DensityValidity`): of
/// 300 random tables without clusters 3 of 283 with two columns or more have more. Not on a line, where a gap in a tail passes for one
/// between clusters.
const SEPARATED: f64 = -0.1;

/// Or if Gaussians explain them better than one Gaussian explains the table, by so many nats an object, and the p value against tables
/// without clusters is at most this. A disc or a box, which one Gaussian explains badly, gains nothing from pieces. If one Gaussian explains the
/// table better by as much, clusters are not believed, whatever the p value: tails and slopes are no clusters. From the last limit on Gaussians
/// alone suffice: skewed tables gain 0.36 at most.
const EXPLAINED: f64 = 0.05;
const POSSIBLE: f64 = 0.3;
const WELL_EXPLAINED: f64 = 0.45;

/// Unless k-means has a stable cut this deep (stability times the gap of eigenvalues): in many columns Gaussians cost too much to be found.
const DEEP_ENOUGH: f64 = 0.8;

/// Or if k-means has a stable deep cut: its stability times the gap of eigenvalues above the second limit, or above the first where Gaussians
/// explain the table better too. Skewed tables of one cluster have at most 1.4, and few more than 1.1. What is stable or explained by Gaussians
/// but not cut off this far ([`SHALLOW`]) is one cluster.
const DEEP: (f64, f64) = (1.1, 1.5);
const SHALLOW: f64 = 0.55;

/// Or if Genie has a cut this deep, and, at a number of clusters with this stability at least, clusters with at most this conductance: no
/// cluster has more than so many of its links to nearest neighbours outside. What is neither tight nor round, as an arm of a spiral, has
/// nothing else to be told by. Not on a line, which any cut has few links across.
const CLOSED: f64 = 0.015;
const CLOSED_STABILITY: f64 = 0.9;
const CLOSED_DEEP: f64 = 1.2;

/// What validity counts beside the gap of eigenvalues.
const VALIDITY: f64 = 4.0;

/// What the likelihood counts beside the gap of eigenvalues: so much where a number of clusters explains the table by this many nats an
/// object worse than the best, and every nat from the second limit on.
const LIKELIHOOD: f64 = 0.75;
const WORSE: f64 = 0.1;
const FAR_WORSE: f64 = 0.5;

impl AutoCandidate {
    /// Stability at a place, nothing where clusters of one object or none were found.
    fn stable(&self, at: usize) -> f64 {
        let found = &self.stability[at];
        if found.smallest >= 2 {
            found.ari.max(0.0)
        } else {
            0.0
        }
    }

    /// The largest of stability times gap.
    fn deepest(&self) -> f64 {
        self.gaps
            .iter()
            .enumerate()
            .map(|(at, gap)| self.stable(at) * gap)
            .fold(0.0, f64::max)
    }

    /// Whether there are clusters that hardly any link to a neighbour leads out of.
    fn closed(&self) -> bool {
        self.deepest() > CLOSED_DEEP
            && (0..self.conductance.len())
                .any(|at| self.conductance[at] <= CLOSED && self.stable(at) >= CLOSED_STABILITY)
    }

    /// How far the consensus at a place is trusted.
    fn trust(&self, at: usize) -> f64 {
        self.stable(at) + self.validity[at]
    }

    fn name(&self) -> String {
        self.recipe
            .base
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(",")
    }
}

/// The allowed number with the highest score and the ensemble that is trusted more there; of equals the first.
pub(super) fn verdict(
    candidates: Vec<AutoCandidate>,
    allowed: &[usize],
    choice: Option<Choice>,
    line: bool,
) -> AutoChoice {
    let none = choice
        .as_ref()
        .and_then(|choice| no_clusters(&candidates, choice, line));
    let scores = choice.as_ref().map(|_| scores(&candidates));
    let score = |at: usize| match &scores {
        Some(scores) if allowed.contains(&candidates[0].stability[at].clusters) => scores[at],
        _ => f64::NEG_INFINITY,
    };
    let places = 0..candidates[0].stability.len();
    let at = places.fold(
        0,
        |best, at| if score(at) > score(best) { at } else { best },
    );
    let trusted = usize::from(candidates[1].trust(at) > candidates[0].trust(at));
    let (clusters, chosen, reason) = match none {
        Some(reason) => (1, 0, reason),
        None => (
            candidates[0].stability[at].clusters,
            trusted,
            if choice.is_some() {
                reason_for_number(&candidates[trusted], at, score)
            } else {
                reason(&candidates, trusted, at)
            },
        ),
    };
    AutoChoice {
        recipe: candidates[chosen].recipe.clone(),
        clusters,
        choice: choice.zip(scores).map(|(choice, scores)| Choice {
            clusters,
            reason: reason.clone(),
            ..with_scores(choice, &candidates, &scores)
        }),
        reason,
        candidates,
    }
}

/// The highest value of any candidate at every place.
fn highest(candidates: &[AutoCandidate], of: impl Fn(&AutoCandidate) -> &[f64]) -> Vec<f64> {
    (0..candidates[0].stability.len())
        .map(|at| {
            let values = candidates.iter().map(|one| of(one)[at]);
            values.fold(f64::NEG_INFINITY, f64::max)
        })
        .collect()
}

/// Where the first of the largest values is.
fn largest(values: &[f64]) -> usize {
    (0..values.len()).fold(
        0,
        |best, at| if values[at] > values[best] { at } else { best },
    )
}

/// The score at every place.
fn scores(candidates: &[AutoCandidate]) -> Vec<f64> {
    let validity = highest(candidates, |one| &one.validity);
    let likelihood = highest(candidates, |one| &one.likelihood);
    let explained = largest(&likelihood);
    let counts = explained + 2 < likelihood.len();
    let score = |at: usize| {
        let cut = candidates[0].stable(at) * candidates[0].gaps[at];
        let nats = if counts {
            likelihood[explained] - likelihood[at]
        } else {
            0.0
        };
        let worse = LIKELIHOOD * (nats / WORSE).min(1.0) + (nats - FAR_WORSE).max(0.0);
        cut + VALIDITY * (validity[at] - SEPARATED).max(0.0) - worse
    };
    (0..validity.len()).map(score).collect()
}

/// What decided, in the rows of the comparison with tables without clusters.
fn with_scores(mut choice: Choice, candidates: &[AutoCandidate], scores: &[f64]) -> Choice {
    let validity = highest(candidates, |one| &one.validity);
    let likelihood = highest(candidates, |one| &one.likelihood);
    let finite = |value: f64| value.is_finite().then_some(value);
    for (at, found) in candidates[0].stability.iter().enumerate() {
        if let Some(row) = choice
            .rows
            .iter_mut()
            .find(|row| row.clusters == found.clusters)
        {
            row.score = finite(scores[at]);
            row.stability = finite(candidates[0].stable(at));
            row.validity = finite(validity[at]);
            row.likelihood = finite(likelihood[at]);
        }
    }
    choice.criterion = Criterion::Score;
    choice
}

/// Why there are no clusters, if so; `line` where all objects lie on one.
pub(super) fn no_clusters(
    candidates: &[AutoCandidate],
    choice: &Choice,
    line: bool,
) -> Option<String> {
    let validities = highest(candidates, |one| &one.validity);
    let likelihoods = highest(candidates, |one| &one.likelihood);
    let valid = largest(&validities);
    let explained = largest(&likelihoods);
    let validity = validities[valid];
    let nats = likelihoods[explained];
    let cut = candidates[0].deepest();
    let explains = nats > EXPLAINED;
    let deep = cut > DEEP.1 || (explains && cut > DEEP.0);
    let possible = explains && cut >= SHALLOW && chance_of_all(&choice.rows) <= POSSIBLE;
    if (validity > SEPARATED && !line)
        || nats > WELL_EXPLAINED
        || deep
        || possible
        || candidates[1].closed()
    {
        return None;
    }
    if choice.clusters == 1 {
        return Some(choice.reason.clone());
    }
    if cut < SHALLOW {
        return Some(format!(
            "1 cluster: parts of the table are stable or tight, but no cut is deep (stability times the gap of eigenvalues is at most {cut:.2}), \
             and none are separated (the highest density-based validity is {validity:.2})"
        ));
    }
    let stability = &candidates[0].stability;
    (nats <= -EXPLAINED && (line || cut < DEEP_ENOUGH)).then(|| {
        format!(
            "1 cluster: parts of the table are stable or tight, but one Gaussian explains it by {:.2} nats an object better than any clusters \
             (those at {}), and none are separated (the highest density-based validity is {validity:.2}, at {})",
            -nats,
            stability[explained].clusters,
            stability[valid].clusters
        )
    })
}

/// Why these base clusterings, where the number of clusters is given.
fn reason(candidates: &[AutoCandidate], chosen: usize, at: usize) -> String {
    let (one, other) = (&candidates[chosen], &candidates[1 - chosen]);
    format!(
        "base clusterings {}: two halves of them agree with an adjusted Rand index of {:.2} ({}: {:.2}); density-based validity \
         {:.2} ({:.2})",
        one.name(),
        one.stable(at),
        other.name(),
        other.stable(at),
        one.validity[at],
        other.validity[at]
    )
}

/// Why so many clusters: the score at this place beside the next best.
fn reason_for_number(one: &AutoCandidate, at: usize, score: impl Fn(usize) -> f64) -> String {
    let others = (0..one.stability.len()).filter(|&other| other != at);
    let next = others.reduce(|best, other| {
        if score(other) > score(best) {
            other
        } else {
            best
        }
    });
    let next = next.filter(|&next| score(next).is_finite());
    let next = next.map_or_else(String::new, |next| {
        let clusters = one.stability[next].clusters;
        format!(", the next best is {clusters} with {:.2}", score(next))
    });
    format!(
        "{} clusters: they have the highest score, {:.2}{next}; two halves of the base clusterings ({}) agree on them with an \
         adjusted Rand index of {:.2}",
        one.stability[at].clusters,
        score(at),
        one.name(),
        one.stable(at)
    )
}
