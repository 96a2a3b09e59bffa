//! Criteria that choose a number of clusters of an ensemble, and the test against ensembles without agreement.

use partita_core::SettingsError;
use serde_json::json;

use crate::choice::{ChoiceRow, Criterion, Reference, Spread};
use crate::decision::{Decision, LEAST_DRAWS, chance, standard};
use crate::{Null, SelectError};

/// The number that a criterion chooses, before anybody asked whether there is anything.
pub(crate) struct Choosing {
    pub(crate) clusters: usize,
    said: String,
    warning: Option<String>,
}

impl Criterion {
    /// The number that decides, turned so that more is better; and its name.
    fn score(self, row: &ChoiceRow) -> (Option<f64>, &'static str) {
        match self {
            Self::Score => (row.score, "score"),
            Self::Rcsi => (row.rcsi, "relative stability"),
            Self::Lifetime => (row.lifetime, "lifetime"),
            Self::Anmi => (row.anmi, "mean NMI with the base clusterings"),
            Self::Contradicted => (row.contradicted.map(|share| -share), "contradicted share"),
            Self::Bic => (row.bic.map(|bic| -bic), "BIC"),
        }
    }
}

/// The row that a criterion likes best; of equals the fewest clusters.
pub(crate) fn decide(
    rows: &[ChoiceRow],
    criterion: Criterion,
    method: &str,
) -> Result<Choosing, SelectError> {
    let scored: Vec<(usize, f64)> = rows
        .iter()
        .filter_map(|row| Some((row.clusters, criterion.score(row).0?)))
        .collect();
    if scored.len() < rows.len() || rows.is_empty() {
        let value = json!(criterion).as_str().unwrap_or_default().to_owned();
        let reason = "the method gives no such number".into();
        return Err(SettingsError::Unfit {
            name: "criterion",
            value,
            reason,
        }
        .into());
    }
    let best = scored.iter().fold(
        scored[0],
        |best, &one| if one.1 > best.1 { one } else { best },
    );
    let others = scored.iter().filter(|one| one.0 != best.0);
    let next = others.fold(None, |next: Option<(usize, f64)>, &one| {
        if next.is_none_or(|next| one.1 > next.1) {
            Some(one)
        } else {
            next
        }
    });
    let shown = |score: f64| match criterion {
        Criterion::Bic => format!("{:.0}", -score),
        _ => format!("{:.3}", score.abs()),
    };
    let next = next.map_or(String::new(), |(clusters, score)| {
        format!(", next {clusters} with {}", shown(score))
    });
    let (first, last) = (scored[0].0, scored[scored.len() - 1].0);
    let said = format!(
        "the {} of {method}, {}, is the best of {first} to {last} clusters{next}",
        criterion.score(&rows[0]).1,
        shown(best.1)
    );
    let edge = best.0 == last && scored.len() > 1;
    let warning = edge.then(|| format!("{last} is the largest number looked at; look further"));
    Ok(Choosing {
        clusters: best.0,
        said,
        warning,
    })
}

/// Puts what ensembles without agreement give beside the rows.
pub(crate) fn compare(rows: &mut [ChoiceRow], drawn: &[Vec<ChoiceRow>]) {
    for row in rows {
        let here = drawn
            .iter()
            .filter_map(|rows| rows.iter().find(|one| one.clusters == row.clusters)?.anmi);
        let here: Vec<f64> = here.collect();
        let Some(anmi) = row.anmi.filter(|_| here.len() >= LEAST_DRAWS) else {
            continue;
        };
        let spread = Spread::of(&here);
        let z = standard(anmi - spread.mean, spread.sd);
        row.p = Some(chance(z, here.len()));
        row.references.push(Reference {
            null: Null::PermutedLabels,
            draws: here.len(),
            pac: None,
            disagreement: None,
            anmi: Some(spread),
            dispersion: None,
            rcsi: None,
            rcsi_error: None,
            z,
            z_dispersion: None,
        });
    }
}

impl Choosing {
    /// The number chosen, or 1 if base clusterings agree no more than by chance.
    pub(crate) fn decision(self, rows: &[ChoiceRow], significance: f64) -> Decision {
        let Self {
            clusters,
            said,
            warning,
        } = self;
        let row = rows.iter().find(|row| row.clusters == clusters);
        let reference =
            row.and_then(|row| Some((row.p?, row.anmi?, row.references.first()?.anmi?.mean)));
        let Some((p, anmi, mean)) = reference else {
            let reason = format!(
                "{clusters} clusters: {said}; nothing was compared with ensembles without agreement"
            );
            return Decision {
                clusters,
                reason,
                warnings: warning.into_iter().collect(),
            };
        };
        let shown = if p < 0.001 {
            "p < 0.001".to_owned()
        } else {
            format!("p = {p:.3}")
        };
        let against = format!("mean NMI {anmi:.3} against {mean:.3} with permuted labels, {shown}");
        if p > significance {
            let reason = format!(
                "1 cluster: base clusterings do not agree about {clusters} more than by chance ({against})"
            );
            return Decision {
                clusters: 1,
                reason,
                warnings: Vec::new(),
            };
        }
        let reason = format!("{clusters} clusters: {said}; {against}");
        Decision {
            clusters,
            reason,
            warnings: warning.into_iter().collect(),
        }
    }
}
