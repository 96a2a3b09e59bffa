//! Readings of SSCE's protocol: the best γ of each, and what they say of a number that is not reached.

use super::{BASES, GAMMAS, MOVED, NAMED, OURS, PRINTED, UNSEEN, with};
use crate::published::Verdict;
use crate::{Comparison, PublishedCell, Results, Row, Sense, Stat, mean_sd};

/// A reading of the paper's choice by the true labels.
pub(super) struct Reading {
    /// The measure of its best.
    pub(super) measure: &'static str,
    /// Follows the name of the method it chooses from.
    after: &'static str,
    /// What the measures that it chooses from begin with.
    from: &'static [&'static str],
    /// What it is, besides the formulas as printed.
    meaning: &'static str,
}

impl Reading {
    const fn new(
        measure: &'static str,
        after: &'static str,
        from: &'static [&'static str],
        meaning: &'static str,
    ) -> Self {
        Self {
            measure,
            after,
            from,
            meaning,
        }
    }

    /// Its name in a table.
    pub(super) fn title(&self) -> String {
        let printed = if self.after.is_empty() {
            ""
        } else {
            "as printed, "
        };
        let compared = if self.measure == COMPARED {
            " (compared)"
        } else {
            ""
        };
        format!("{printed}{}{compared}", self.meaning)
    }
}

/// The measure of the reading that is compared.
const COMPARED: &str = "h";

/// All of them.
pub(super) const READINGS: [Reading; 7] = [
    Reading::new(COMPARED, PRINTED, &["free"], "a free intercept"),
    Reading::new("h none", PRINTED, &["none"], "no intercept"),
    Reading::new(
        "h tied",
        PRINTED,
        &["tied"],
        "an intercept tied a ninth as hard and γ taken twice",
    ),
    Reading::new(
        "h either",
        PRINTED,
        &["none", "free"],
        "none or a free intercept by data set",
    ),
    Reading::new(
        "h or tied",
        PRINTED,
        &["none", "tied"],
        "none or a tied intercept by data set",
    ),
    Reading::new(
        "h named",
        NAMED,
        &["none"],
        "no intercept, base clusterings named by the true labels",
    ),
    Reading::new(
        "h rounds",
        "",
        &["h"],
        "no intercept, 30 rounds with a ridge on Ω",
    ),
];

/// Methods whose columns of Table 3 look exchanged.
pub(super) const EXCHANGED: [&str; 3] = ["mcla", "cspa", "hgpa"];

/// The results, and for SSCE and SSCE-P the best of every reading: one choice for all ensembles, with the best mean by the true
/// labels. Of the one that is compared also `gamma`, and as `h best each` the best of every ensemble.
pub(super) fn with_best(results: &Results) -> Results {
    let mut all = results.clone();
    let [data, settings, _] = results.names();
    let places = data.iter().flat_map(|data| {
        settings
            .iter()
            .map(move |setting| (data.as_str(), setting.as_str()))
    });
    for (place, method) in places.flat_map(|place| OURS.map(|method| (place, method))) {
        READINGS
            .iter()
            .flat_map(|reading| best(results, place, method, reading))
            .for_each(|row| all.insert(row));
    }
    all
}

fn best(
    results: &Results,
    (data, setting): (&str, &str),
    method: &str,
    reading: &Reading,
) -> Vec<Row> {
    let from = format!("{method}{}", reading.after);
    let choices = reading
        .from
        .iter()
        .flat_map(|from| GAMMAS.map(|gamma| (gamma, format!("{from} {}", with(gamma)))));
    let choices: Vec<(f64, String)> = choices.collect();
    let mean = |measure: &str| {
        results
            .stat(data, setting, &from, measure)
            .map_or(0.0, |stat| stat.mean)
    };
    let means: Vec<f64> = choices.iter().map(|(_, measure)| mean(measure)).collect();
    let best = (1..means.len()).fold(0, |best, place| {
        if means[place] > means[best] {
            place
        } else {
            best
        }
    });
    let (gamma, chosen) = &choices[best];
    let mut rows = Vec::new();
    for (seed, value) in results.cell(data, setting, &from, chosen) {
        let mut derive = |measure: &str, value: f64| {
            let [data, setting, method, measure] =
                [data, setting, method, measure].map(String::from);
            rows.push(Row {
                data,
                setting,
                method,
                seed,
                measure,
                value,
            });
        };
        derive(reading.measure, value);
        if reading.measure == COMPARED {
            let each = choices
                .iter()
                .filter_map(|(_, measure)| results.value(data, setting, &from, seed, measure));
            derive("gamma", *gamma);
            derive("h best each", each.fold(0.0, f64::max));
        }
    }
    rows
}

/// Whether a reading reaches a published number on some base clusterings.
pub(super) fn reaches(results: &Results, cell: &PublishedCell, base: &str, measure: &str) -> bool {
    let stat = results.stat(&cell.data, &on(base, cell), &cell.method, measure);
    cell.verdict(stat, Sense::More).reached()
}

/// The setting of a published number on other base clusterings.
pub(super) fn on(base: &str, cell: &PublishedCell) -> String {
    cell.setting.replacen(MOVED, base, 1)
}

/// Says in the note of a number that is not reached what other readings have: on the same ensembles, or else on others.
pub(super) fn explained(results: &Results, comparison: &mut Comparison) {
    if comparison.verdict != Verdict::Missed {
        return;
    }
    let cell = &comparison.published;
    // Other methods have no reading but their ensembles; a choice by data set has nothing that its parts have not.
    let single = |reading: &&Reading| {
        reading.from.len() == 1 && (comparison.counts || reading.measure == COMPARED)
    };
    let others = BASES.iter().flat_map(|base| {
        READINGS
            .iter()
            .filter(single)
            .map(move |reading| (*base, reading))
    });
    let others = others.filter(|(base, reading)| (*base, reading.measure) != (MOVED, COMPARED));
    let stat = |base: &str, reading: &Reading| {
        results.stat(&cell.data, &on(base, cell), &cell.method, reading.measure)
    };
    let all: Vec<_> = others
        .filter_map(|(base, reading)| Some((base, reading, stat(base, reading)?)))
        .collect();
    let told = |(base, reading, stat): &(&str, &Reading, Stat)| {
        let meaning = if comparison.counts {
            format!("{}, ", reading.meaning)
        } else {
            String::new()
        };
        format!("{meaning}{} {}", named(base), mean_sd(Some(*stat)))
    };
    let reached = all
        .iter()
        .filter(|(base, reading, _)| reaches(results, cell, base, reading.measure));
    let first = reached.clone().next().map(|(base, ..)| *base);
    let mut note = match (
        first,
        all.iter().max_by(|a, b| a.2.mean.total_cmp(&b.2.mean)),
    ) {
        (Some(first), _) => {
            let reached: Vec<_> = reached
                .filter(|(base, ..)| *base == first)
                .map(told)
                .collect();
            format!("reached by {}", reached.join("; "))
        }
        (None, Some(best)) => format!(
            "the highest of {} other readings is {}",
            all.len(),
            told(best)
        ),
        (None, None) => return,
    };
    if cell.setting.ends_with(UNSEEN) && EXCHANGED.contains(&cell.method.as_str()) {
        note += "; the columns of the graph methods look exchanged (see below)";
    }
    comparison.published.note = note;
}

/// How base clusterings are named in a sentence.
pub(super) fn named(base: &str) -> &str {
    match base {
        MOVED => "k-means with moves",
        "raw" => "k-means without moves",
        _ => "k-means of standardised columns",
    }
}
