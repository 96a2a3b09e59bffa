//! How well each number of clusters fits, by what programs of ancestry said: errors of cross-validation, log-likelihoods, the ΔK of Evanno.

use std::collections::BTreeMap;

use partita::files::LoggedFit;
use serde::Serialize;

use crate::csv_text::csv_text;

/// How well a number of clusters fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClustersFit {
    /// K.
    pub clusters: usize,
    /// Runs that say how well they fit.
    pub runs: usize,
    /// The least error of cross-validation.
    pub cv_error: Option<f64>,
    /// The mean log-likelihood L(K).
    pub log_likelihood: Option<f64>,
    /// Its standard deviation over the runs.
    pub deviation: Option<f64>,
    /// |L(K + 1) − 2 L(K) + L(K − 1)| / s(K), where each of the three has runs and those of K differ.
    #[doc(alias = "Evanno")]
    pub delta_k: Option<f64>,
}

impl ClustersFit {
    /// One entry a number of clusters, the fewest first.
    ///
    /// # References
    /// G. Evanno, S. Regnaut, J. Goudet, *Molecular Ecology* 14 (2005).
    pub(crate) fn of(logged: &[LoggedFit]) -> Vec<Self> {
        let mut by_clusters: BTreeMap<usize, Vec<&LoggedFit>> = BTreeMap::new();
        for fit in logged {
            by_clusters.entry(fit.clusters).or_default().push(fit);
        }
        let of = |(clusters, fits): (usize, Vec<&LoggedFit>)| {
            let likelihoods: Vec<f64> = fits.iter().filter_map(|fit| fit.log_likelihood).collect();
            let errors = fits.iter().filter_map(|fit| fit.cv_error);
            let r = likelihoods.len() as f64;
            let mean = likelihoods.iter().sum::<f64>() / r;
            let squares: f64 = likelihoods.iter().map(|value| (value - mean).powi(2)).sum();
            Self {
                clusters,
                runs: fits.len(),
                cv_error: errors.reduce(f64::min),
                log_likelihood: (r > 0.0).then_some(mean),
                deviation: (r > 1.0).then(|| (squares / (r - 1.0)).sqrt()),
                delta_k: None,
            }
        };
        let mut found: Vec<Self> = by_clusters.into_iter().map(of).collect();
        for at in 1..found.len().max(1) - 1 {
            found[at].delta_k = delta_k(&found[at - 1..=at + 1]);
        }
        found
    }

    /// Which number of clusters each criterion takes, if there are several, and whether it is among those of the runs.
    pub(crate) fn sentence(fits: &[Self], of_runs: &[usize]) -> Option<String> {
        let best = |of: &dyn Fn(&Self) -> Option<f64>| {
            let known = fits.iter().filter_map(|fit| Some((of(fit)?, fit.clusters)));
            known.reduce(|best, next| if next.0 > best.0 { next } else { best })
        };
        let said = [
            (
                "least error of cross-validation",
                best(&|fit| fit.cv_error.map(|error| -error)),
            ),
            ("highest log-likelihood", best(&|fit| fit.log_likelihood)),
            ("largest delta K (Evanno)", best(&|fit| fit.delta_k)),
        ];
        let said: Vec<String> = said
            .into_iter()
            .filter_map(|(what, best)| Some((what, best?.1)))
            .map(|(what, clusters)| {
                let none = if of_runs.contains(&clusters) {
                    ""
                } else {
                    " (by the logs; no run here has it)"
                };
                format!("{what} at K = {clusters}{none}")
            })
            .collect();
        (fits.len() > 1 && !said.is_empty()).then(|| said.join(", "))
    }

    /// The entries as CSV.
    pub(crate) fn csv(fits: &[Self]) -> String {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let row = |fit: &Self| {
            [
                fit.clusters.to_string(),
                fit.runs.to_string(),
                number(fit.cv_error),
                number(fit.log_likelihood),
                number(fit.deviation),
                number(fit.delta_k),
            ]
        };
        let header = "clusters,runs,cv_error,log_likelihood,deviation,delta_k";
        csv_text(header, fits.iter().map(row))
    }
}

/// Evanno's ΔK of the second of three numbers of clusters that follow each other: how sharply the mean log-likelihood turns there, in
/// standard deviations over the runs.
fn delta_k(three: &[ClustersFit]) -> Option<f64> {
    let [below, own, above] = three else {
        return None;
    };
    let follow = below.clusters + 1 == own.clusters && own.clusters + 1 == above.clusters;
    let spread = own
        .deviation
        .filter(|&deviation| follow && deviation > 0.0)?;
    let turn = above.log_likelihood? - 2.0 * own.log_likelihood? + below.log_likelihood?;
    Some(turn.abs() / spread)
}
