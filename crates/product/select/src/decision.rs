//! The decision on a number of clusters of a table: relative stability (RCSI), its error, and its p value.

use std::f64::consts::LN_10;

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::Null;
use crate::choice::{ChoiceRow, Reference, Spread};

/// What a table without clusters gives at one K.
pub(crate) struct Measured {
    pub(crate) clusters: usize,
    pub(crate) pac: f64,
    pub(crate) disagreement: f64,
    pub(crate) dispersion: Option<f64>,
}

/// One table without clusters.
pub(crate) struct Draw {
    pub(crate) null: Null,
    pub(crate) measured: Vec<Measured>,
}

/// What is said of a table.
pub(crate) struct Decision {
    pub(crate) clusters: usize,
    pub(crate) reason: String,
    pub(crate) warnings: Vec<String>,
}

/// The logarithm of a disagreement or dispersion. Much below 1e-4 they are not told apart: 0 has no logarithm.
pub(crate) fn log(value: f64) -> f64 {
    (value + 1e-4).ln()
}

/// Draws of one kind that a spread can be told from.
pub(crate) const LEAST_DRAWS: usize = 3;

/// Puts the references beside the rows.
pub(crate) fn compare(rows: &mut [ChoiceRow], draws: &[Draw]) {
    let mut nulls: Vec<Null> = draws.iter().map(|draw| draw.null).collect();
    nulls.dedup();
    for row in rows {
        for &null in &nulls {
            let of_null = draws.iter().filter(|draw| draw.null == null);
            let here = of_null
                .filter_map(|draw| draw.measured.iter().find(|m| m.clusters == row.clusters));
            let here: Vec<&Measured> = here.collect();
            if here.len() >= LEAST_DRAWS {
                row.references.push(reference(row, null, &here));
            }
        }
        let all = row.references.len() == nulls.len() && !nulls.is_empty();
        let ratings = row
            .references
            .iter()
            .filter(|_| all)
            .filter_map(|one| one.rcsi.zip(one.rcsi_error));
        let nearest = ratings.reduce(|a, b| if b.0 < a.0 { b } else { a });
        let nearest =
            nearest.map(|(rcsi, error)| (rcsi, error.hypot(row.disagreement_error / LN_10)));
        (row.rcsi, row.rcsi_error) = nearest.unzip();
        row.p = all.then(|| row.references.iter().map(Reference::p).fold(0.0, f64::max));
    }
}

fn reference(row: &ChoiceRow, null: Null, measured: &[&Measured]) -> Reference {
    let values =
        |value: &dyn Fn(&Measured) -> f64| measured.iter().map(|m| value(m)).collect::<Vec<f64>>();
    let disagreement = values(&|m| m.disagreement);
    let logs =
        |values: &[f64]| Spread::of(&values.iter().map(|&value| log(value)).collect::<Vec<f64>>());
    let stability = logs(&disagreement);
    let below = stability.mean - log(row.disagreement.unwrap_or(1.0));
    let dispersion: Option<Vec<f64>> = measured.iter().map(|m| m.dispersion).collect();
    let z_dispersion = dispersion
        .as_ref()
        .zip(row.dispersion)
        .map(|(values, own)| {
            let logs = logs(values);
            standard(logs.mean - log(own), logs.sd)
        });
    Reference {
        null,
        draws: measured.len(),
        pac: Some(Spread::of(&values(&|m| m.pac))),
        disagreement: Some(Spread::of(&disagreement)),
        anmi: None,
        dispersion: dispersion.map(|values| Spread::of(&values)),
        rcsi: Some(below / LN_10),
        rcsi_error: Some(stability.sd / (measured.len() as f64).sqrt() / LN_10),
        z: standard(below, stability.sd),
        z_dispersion,
    }
}

/// A difference in standard deviations. Draws that are all alike are believed to a millionth.
pub(crate) fn standard(difference: f64, sd: f64) -> f64 {
    difference / sd.max(1e-6)
}

/// Chance that one more draw lies so many standard deviations beyond the mean of others: it differs by its own spread and
/// by the mean's error.
pub(crate) fn chance(z: f64, draws: usize) -> f64 {
    let count = draws as f64;
    let student = StudentsT::new(0.0, 1.0, count - 1.0).expect("there are at least 3 draws");
    student.sf(z / (1.0 + 1.0 / count).sqrt())
}

impl Reference {
    /// Chance of such a stability or dispersion in one more draw.
    fn p(&self) -> f64 {
        let stability = chance(self.z, self.draws);
        self.z_dispersion.map_or(stability, |z| {
            (2.0 * stability.min(chance(z, self.draws))).min(1.0)
        })
    }
}

/// The most by which log10 of a stability may be lower and still pass for the same: a tenth. Errors are larger where some
/// base clusterings agree entirely and others do not.
const NEAR: f64 = 0.04;

/// A row with its rcsi and p.
type Rated<'a> = (&'a ChoiceRow, f64, f64);

/// The least p value, corrected for how many there are: the chance that a table without clusters has one as small anywhere. 1 without
/// p values.
pub(crate) fn chance_of_all(rows: &[ChoiceRow]) -> f64 {
    let all: Vec<f64> = rows.iter().filter_map(|row| row.p).collect();
    all.iter()
        .fold(1.0f64, |least, &p| least.min(p * all.len() as f64))
}

/// The number of clusters, or 1.
pub(crate) fn decide(rows: &[ChoiceRow], significance: f64) -> Decision {
    let rated: Vec<Rated<'_>> = rows
        .iter()
        .filter_map(|row| Some((row, row.rcsi?, row.p?)))
        .collect();
    let Some(&first) = rated.first() else {
        return unrated(rows);
    };
    let highest = rated
        .iter()
        .fold(first, |best, &one| if one.1 > best.1 { one } else { best });
    // The references' own error is large where K is small, and would speak for small K.
    let error = |row: &ChoiceRow| row.disagreement_error / LN_10;
    let near =
        |one: &&Rated<'_>| highest.1 - one.1 <= error(one.0).hypot(error(highest.0)).min(NEAR);
    let best = *rated.iter().find(near).unwrap_or(&highest);
    let p = chance_of_all(rows);
    let range = format!("{} to {}", rows[0].clusters, rows[rows.len() - 1].clusters);
    let (row, rcsi, _) = best;
    if p > significance {
        let reason = format!(
            "1 cluster: from {range} clusters nothing is clearly more stable or tighter than in tables without clusters \
             (p = {p:.2} over all of them); {} come nearest, {} times as stable",
            row.clusters,
            times(rcsi)
        );
        return Decision {
            clusters: 1,
            reason,
            warnings: Vec::new(),
        };
    }
    let shown = if p < 0.001 {
        "p < 0.001".to_owned()
    } else {
        format!("p = {p:.3}")
    };
    let reason = format!(
        "{} clusters: {} times as stable as tables without clusters ({shown} over {range}){}",
        row.clusters,
        times(rcsi),
        rival(&rated, best, highest)
    );
    let last = row.clusters == rows[rows.len() - 1].clusters && rows.len() > 1;
    let edge = format!(
        "{} is the largest number looked at; look further",
        row.clusters
    );
    let unstable = "the data are tighter than tables without clusters, but at no number of clusters more stable: there are \
                    groups, but their number is uncertain";
    let warnings = last
        .then_some(edge)
        .into_iter()
        .chain((rcsi <= 0.0).then(|| unstable.to_owned()));
    Decision {
        clusters: row.clusters,
        reason,
        warnings: warnings.collect(),
    }
}

/// What comes next to the chosen, or what it is preferred to.
fn rival(rated: &[Rated<'_>], best: Rated<'_>, highest: Rated<'_>) -> String {
    if highest.0.clusters != best.0.clusters {
        let (row, rcsi, _) = highest;
        return format!(
            "; {} clusters are {} times, which is within the error",
            row.clusters,
            times(rcsi)
        );
    }
    let others = rated
        .iter()
        .filter(|one| one.0.clusters != best.0.clusters && one.1 > 0.0);
    let next = others.reduce(|next, one| if one.1 > next.1 { one } else { next });
    next.map_or(String::new(), |(row, rcsi, _)| {
        format!("; next {} clusters, {} times", row.clusters, times(*rcsi))
    })
}

/// How many times as stable as the nearest reference.
fn times(rcsi: f64) -> String {
    let times = 10f64.powf(rcsi);
    if times < 1.0 {
        format!("{times:.2}")
    } else {
        format!("{times:.1}")
    }
}

/// Without references the lowest PAC is all there is.
fn unrated(rows: &[ChoiceRow]) -> Decision {
    let best = rows.iter().fold(
        &rows[0],
        |best, row| if row.pac < best.pac { row } else { best },
    );
    let reason = format!(
        "{} clusters have the lowest PAC, {:.3}; nothing was compared with tables without clusters",
        best.clusters,
        best.pac.unwrap_or(f64::NAN)
    );
    let warning = "PAC alone finds clusters in anything, and rather too many".to_owned();
    Decision {
        clusters: best.clusters,
        reason,
        warnings: vec![warning],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 2, 3, … clusters with these (rcsi, error, p).
    fn rows(ratings: &[(f64, f64, f64)]) -> Vec<ChoiceRow> {
        let row = |(at, &(rcsi, error, p)): (usize, &(f64, f64, f64))| ChoiceRow {
            rcsi: Some(rcsi),
            disagreement_error: error * LN_10,
            p: Some(p),
            ..ChoiceRow::empty(at + 2)
        };
        ratings.iter().enumerate().map(row).collect()
    }

    #[test]
    fn the_highest_wins_or_the_fewest_within_the_error() {
        let clear = decide(
            &rows(&[(0.1, 0.01, 0.2), (0.6, 0.01, 1e-6), (0.3, 0.01, 1e-3)]),
            0.05,
        );
        assert_eq!(clear.clusters, 3);
        let said = "3 clusters: 4.0 times as stable as tables without clusters (p < 0.001 over 2 to 4); next 4 clusters, 2.0 times";
        assert_eq!(clear.reason, said);
        let near = decide(
            &rows(&[(0.1, 0.01, 0.2), (0.57, 0.04, 1e-3), (0.6, 0.04, 1e-3)]),
            0.05,
        );
        assert_eq!(near.clusters, 3, "0.03 is within the error");
        assert!(
            near.reason.ends_with(
                "(p = 0.003 over 2 to 4); 4 clusters are 4.0 times, which is within the error"
            ),
            "{}",
            near.reason
        );
        let edge = decide(&rows(&[(0.1, 0.01, 0.2), (0.6, 0.01, 1e-6)]), 0.05);
        assert_eq!((edge.clusters, edge.warnings.len()), (3, 1));
    }

    #[test]
    fn one_cluster_is_an_answer() {
        // 0.02 for one of three numbers is 0.06 for all.
        let decision = decide(
            &rows(&[(0.2, 0.01, 0.5), (0.3, 0.01, 0.02), (0.1, 0.01, 0.9)]),
            0.05,
        );
        assert_eq!(decision.clusters, 1, "{}", decision.reason);
        let loose = decide(
            &rows(&[(-0.2, 0.01, 1e-9), (-0.1, 0.01, 1e-9), (-0.2, 0.01, 1e-9)]),
            0.05,
        );
        assert_eq!(
            (loose.clusters, loose.warnings.len()),
            (3, 1),
            "tight, but not stable"
        );
    }

    #[test]
    fn chances_are_those_of_student() {
        // A table of Student's t: 2.262 is passed by 2.5 % with 9 degrees of freedom.
        assert!((chance(2.262 * 1.1f64.sqrt(), 10) - 0.025).abs() < 1e-4);
        assert!((chance(0.0, 5) - 0.5).abs() < 1e-12);
    }
}
