//! The verdict on a table: whether it has clusters, how many, and which base clusterings find them.

use serde_json::Value;

use super::{AutoCandidate, AutoChoice, AutoRow};
use crate::choice::ChoiceRow;
use crate::gaussian::Columns;
use crate::{Choice, Criterion};
use partita_core::Partition;
use partita_generate::Recipe;

/// What counts beside the cut. Half or twice of each changes the mean adjusted Rand index of 250 tables by .01 or less.
const VALIDITY: f64 = 2.0;
const LIKELIHOOD: f64 = 2.0;
const SILHOUETTE: f64 = 3.0;

/// From so many nats an object on, an explanation is as bad as any.
const WORSE: f64 = 0.1;

/// The level of the gap test. Of 200 tables of one cluster that the weights were not looked for on, one in fifty has a smaller p-value at some K.
const ALPHA: f64 = 0.05;

/// Clusters with a validity above this lie further from each other than they are torn: tables of one cluster lie below, however they are cut.
const SEPARATED: f64 = -0.1;

/// What is separated or cut off counts if no cluster has a smaller share of the objects: single far objects are no clusters.
const SHARE: f64 = 0.05;

/// A stable cut that is this deep (stability times cut) is one between clusters. Curved tables of one cluster have 1.45 at most, but for few objects.
const DEEP: f64 = 1.5;

impl AutoRow {
    /// The score, beside the highest likelihood of all.
    fn score(&self, likelihood: f64) -> f64 {
        let worse = ((likelihood - self.likelihood) / WORSE).min(1.0);
        self.cut + VALIDITY * self.validity - LIKELIHOOD * worse - SILHOUETTE * self.silhouette
    }
}

/// A number of clusters as one of the ensembles sees it.
#[derive(Clone, Copy)]
struct Rated<'a> {
    row: &'a AutoRow,
    recipe: &'a Recipe,
    score: f64,
}

/// The highest score, the first of equal ones.
fn best<'a>(rated: impl Iterator<Item = Rated<'a>>) -> Option<Rated<'a>> {
    rated.reduce(|best, other| {
        if other.score > best.score {
            other
        } else {
            best
        }
    })
}

/// The ensemble and the allowed number with the highest score, of equals the first; `open` where several are allowed.
pub(super) fn verdict(
    candidates: Vec<AutoCandidate>,
    allowed: &[usize],
    open: bool,
    columns: Columns,
) -> AutoChoice {
    if !open {
        return given(candidates);
    }
    let rows = || {
        candidates
            .iter()
            .flat_map(|one| one.rows.iter().map(move |row| (one, row)))
    };
    let likelihood = rows().fold(f64::NEG_INFINITY, |most, (_, row)| most.max(row.likelihood));
    let rated = || {
        rows().map(|(one, row)| Rated {
            row,
            recipe: &one.recipe,
            score: row.score(likelihood),
        })
    };
    let numbers = candidates[0].rows.iter().map(|row| row.clusters);
    let of_each: Vec<Rated<'_>> = numbers
        .filter_map(|clusters| best(rated().filter(|rated| rated.row.clusters == clusters)))
        .collect();
    let may = || {
        of_each
            .iter()
            .copied()
            .filter(|rated| allowed.contains(&rated.row.clusters))
    };
    let chosen = best(may()).expect("a number is allowed");
    let next = best(may().filter(|rated| rated.row.clusters != chosen.row.clusters));
    let (clusters, recipe, reason) = match no_clusters(&candidates, columns) {
        Some(reason) => (1, &candidates[0].recipe, reason),
        None => (chosen.row.clusters, chosen.recipe, reason(chosen, next)),
    };
    let choice = Choice {
        clusters,
        reason: reason.clone(),
        criterion: Criterion::Score,
        rows: may().map(|rated| choice_row(&rated)).collect(),
        objects: None,
        interrupted: false,
        warnings: Vec::new(),
        settings: Value::Null,
        seed: 0,
    };
    AutoChoice {
        recipe: recipe.clone(),
        clusters,
        reason,
        choice: Some(choice),
        candidates,
    }
}

fn choice_row(rated: &Rated<'_>) -> ChoiceRow {
    let finite = |value: f64| value.is_finite().then_some(value);
    let found = rated.row;
    let mut row = ChoiceRow::empty(found.clusters);
    row.score = finite(rated.score);
    row.cut = finite(found.cut);
    row.stability = found.stability.and_then(finite);
    row.validity = finite(found.validity);
    row.likelihood = finite(found.likelihood);
    row.silhouette = finite(found.silhouette);
    row.p = found.p.and_then(finite);
    row.partition.clone_from(&found.partition);
    row
}

/// Why there are no clusters, if so. Where all objects lie on a line any gap in a tail passes for one between clusters: what is separated must be
/// stable and cut off far too. Between words there is always a gap: some groups must explain them better than one does.
pub(super) fn no_clusters(candidates: &[AutoCandidate], columns: Columns) -> Option<String> {
    let rows = || candidates.iter().flat_map(|one| &one.rows);
    if matches!(columns, Columns::Words | Columns::Both) {
        let likelihoods = rows().map(|row| row.likelihood);
        let most = likelihoods.fold(f64::NEG_INFINITY, f64::max);
        if most <= 0.0 {
            return Some(format!(
                "1 cluster: however the objects are cut into groups, these explain the table no better than one does (integrated classification \
                 likelihood {most:.2} nats an object at best)"
            ));
        }
        if columns == Columns::Words {
            return None;
        }
    }
    let p = rows().filter_map(|row| row.p).fold(1.0, f64::min);
    let large = |row: &AutoRow| {
        let objects = row.partition.as_ref().map_or(0, Partition::objects);
        row.smallest as f64 >= SHARE * objects as f64
    };
    let separated = |row: &AutoRow| row.validity > SEPARATED;
    let deep = |row: &AutoRow| row.stability.unwrap_or(0.0) * row.cut > DEEP;
    let apart = |row: &AutoRow| match columns {
        Columns::Line => separated(row) && deep(row),
        _ => separated(row) || deep(row),
    };
    if p <= ALPHA || rows().any(|row| large(row) && apart(row)) {
        return None;
    }
    Some(format!(
        "1 cluster: however the objects are cut into 2 to 8 groups, between neighbours there are no fewer objects than in them (p = {p:.2}), \
         and no groups of {:.0} % of the objects or more are separated or stable and far apart",
        100.0 * SHARE
    ))
}

/// The number that was given, with the ensemble whose consensus is more stable and better separated.
fn given(candidates: Vec<AutoCandidate>) -> AutoChoice {
    let trust = |one: &AutoCandidate| one.rows[0].stability.unwrap_or(0.0) + one.rows[0].validity;
    let trusted = candidates.iter().reduce(|best, other| {
        if trust(other) > trust(best) {
            other
        } else {
            best
        }
    });
    let trusted = trusted.expect("two ensembles");
    let each = candidates.iter().map(|one| {
        let (row, base) = (&one.rows[0], names(&one.recipe));
        format!(
            "{base} {:.2} and {:.2}",
            row.stability.unwrap_or(0.0),
            row.validity
        )
    });
    let reason = format!(
        "base clusterings {}: what halves of them agree on (adjusted Rand index) and how separated it is (density-based validity) is highest in sum: {}",
        names(&trusted.recipe),
        each.collect::<Vec<_>>().join(", ")
    );
    AutoChoice {
        recipe: trusted.recipe.clone(),
        clusters: trusted.rows[0].clusters,
        reason,
        choice: None,
        candidates,
    }
}

fn names(recipe: &Recipe) -> String {
    let base: Vec<String> = recipe.base.iter().map(ToString::to_string).collect();
    base.join(",")
}

/// Why so many clusters.
fn reason(chosen: Rated<'_>, next: Option<Rated<'_>>) -> String {
    let (clusters, score, base) = (chosen.row.clusters, chosen.score, names(chosen.recipe));
    let next = next.map_or_else(String::new, |next| {
        format!(
            ", the next best is {} with {:.2}",
            next.row.clusters, next.score
        )
    });
    let halves = chosen.row.stability.map_or_else(String::new, |stability| {
        format!("; two halves of the base clusterings ({base}) agree on them with an adjusted Rand index of {stability:.2}")
    });
    format!("{clusters} clusters: they have the highest score, {score:.2}{next}{halves}")
}
