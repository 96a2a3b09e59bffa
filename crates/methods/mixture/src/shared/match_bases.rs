//! Matching the base clusterings of new label rows with those of a saved model.

use std::collections::{BTreeMap, BTreeSet};

use partita_core::{BaseClustering, Ensemble, Entry, ModelError, Unread};

use crate::shared::layout::BaseLayout;

/// For every column of the input and every label in it, the place among all label values of the model.
pub(crate) type MatchedBases = Vec<Vec<Option<usize>>>;

/// Matches the base clusterings of `ensemble` with those of a model: columns by name, labels by value.
pub(crate) fn match_bases(
    bases: &[BaseClustering],
    ensemble: &Ensemble,
) -> Result<MatchedBases, ModelError> {
    let (mut mine, mut start) = (BTreeMap::new(), 0);
    for base in bases {
        once(
            mine.insert(base.name(), (base, start)).is_some(),
            base.name(),
            "the model",
        )?;
        start += base.clusters();
    }
    let (mut matched, mut given) = (Vec::with_capacity(mine.len()), BTreeSet::new());
    for base in ensemble.bases() {
        once(!given.insert(base.name()), base.name(), "the input")?;
        let Some(&(known, start)) = mine.get(base.name()) else {
            continue;
        };
        let places: BTreeMap<&str, usize> = known
            .values()
            .iter()
            .enumerate()
            .map(|(j, value)| (value.as_str(), start + j))
            .collect();
        matched.push(
            base.values()
                .iter()
                .map(|value| places.get(value.as_str()).copied())
                .collect(),
        );
    }
    let unknown: Vec<&str> = given
        .iter()
        .copied()
        .filter(|name| !mine.contains_key(name))
        .collect();
    let absent: Vec<&str> = mine
        .keys()
        .copied()
        .filter(|name| !given.contains(name))
        .collect();
    if unknown.is_empty() && absent.is_empty() {
        Ok(matched)
    } else {
        Err(complaint(&unknown, &absent))
    }
}

/// A label at this place. Its base clustering is not asked for.
pub(crate) fn known_label(place: usize) -> Entry {
    Entry {
        base: 0,
        cluster: place,
        share: 1.0,
    }
}

/// Labels whose value the model has never seen.
pub(crate) fn unread(matched: &MatchedBases, ensemble: &Ensemble) -> u64 {
    let in_column = |u: usize| {
        ensemble
            .column(u)
            .flatten()
            .filter(|&j| matched[u][j].is_none())
            .count() as u64
    };
    (0..matched.len()).map(in_column).sum()
}

/// What of the label rows a model cannot use.
pub(crate) fn unused(matched: &MatchedBases, ensemble: &Ensemble) -> Unread {
    let mut found = Unread {
        values: unread(matched, ensemble),
        ..Unread::default()
    };
    for object in 0..ensemble.objects() {
        let mut known = 0;
        for (u, places) in matched.iter().enumerate() {
            let Some(label) = ensemble.label(object, u) else {
                continue;
            };
            known += usize::from(places[label].is_some());
            if places[label].is_none() && found.first.is_none() {
                let base = &ensemble.bases()[u];
                found.first = Some((object, base.name().to_owned(), base.values()[label].clone()));
            }
        }
        if known == 0 {
            found.empty_rows.push(object as u32);
        }
    }
    found
}

/// exp(−Σ log p(row) / number of labels) over the labels that are there and known, each of which counts what its base clustering does
/// in the model.
pub(crate) fn perplexity(
    logs: &[f64],
    matched: &MatchedBases,
    ensemble: &Ensemble,
    layout: &BaseLayout,
) -> Result<f64, ModelError> {
    let weight = |place: usize| layout.copies_of(layout.base_of(place));
    let column = |u: usize| {
        ensemble
            .column(u)
            .flatten()
            .filter_map(|j| matched[u][j])
            .map(weight)
            .sum::<f64>()
    };
    let labels: f64 = (0..matched.len()).map(column).sum();
    if labels == 0.0 {
        return Err(ModelError::Input(
            "none of its labels is known to the model".into(),
        ));
    }
    Ok((-logs.iter().sum::<f64>() / labels).exp())
}

fn once(again: bool, name: &str, whose: &str) -> Result<(), ModelError> {
    if again {
        Err(ModelError::Input(format!(
            "{whose} has two base clusterings called '{name}'"
        )))
    } else {
        Ok(())
    }
}

fn complaint(unknown: &[&str], absent: &[&str]) -> ModelError {
    let list = |names: &[&str]| {
        names
            .iter()
            .map(|name| format!("'{name}'"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    ModelError::Input(match (unknown.is_empty(), absent.is_empty()) {
        (false, true) => format!("the model does not know base clustering {}", list(unknown)),
        (true, _) => format!("base clustering {} is missing", list(absent)),
        (false, false) => {
            format!(
                "base clustering {} is missing and the model does not know {}",
                list(absent),
                list(unknown)
            )
        }
    })
}
