//! The criteria of k-means on labels: sum of squares, category utility, votes.

use partita_core::{Monitor, Objective, Seed, Sense, Stopped};

use crate::fractional_kmeans::fractional_kmeans;
use crate::fractional_rows::{FractionalMeans, FractionalPlan, FractionalRows};

/// What the partition is to be best in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Criterion {
    Kc,
    Qmi,
    Ipvc,
}

/// What a search over shares and weighted objects found.
pub(crate) struct CriterionFit {
    pub(crate) labels: Vec<u32>,
    pub(crate) certainty: Vec<f64>,
    /// The criterion by round, and that of every initialization.
    pub(crate) trace: Vec<f64>,
    pub(crate) starts: Vec<f64>,
    pub(crate) stopped: Stopped,
}

impl Criterion {
    /// The objective from its trace.
    pub(crate) fn objective(self, trace: Vec<f64>) -> Objective {
        let (name, sense) = match self {
            Self::Kc => ("sum of squares of one-hot labels", Sense::Minimise),
            Self::Qmi => (
                "category utility, summed over base clusterings",
                Sense::Maximise,
            ),
            Self::Ipvc => ("votes: shares of own labels, summed", Sense::Maximise),
        };
        Objective {
            name,
            sense,
            value: trace.last().copied().unwrap_or(f64::NAN),
            trace,
        }
    }

    /// The search over shares and weighted objects, by k-means on fractional rows; `plan` has the weights of the base clusterings. The
    /// criteria are those of labels, with shares for counts: category utility has Σ ‖z_iu‖² / n_u where labels have 1.
    pub(crate) fn of_fractions(
        self,
        rows: &FractionalRows<'_>,
        plan: &FractionalPlan<'_>,
        seed: Seed,
        monitor: &dyn Monitor,
    ) -> CriterionFit {
        let (known, squares) = rows.totals();
        let all: f64 = (0..rows.len()).map(|row| rows.weight(row)).sum();
        let weights = plan.base_weights;
        let counting: Vec<f64> = match self {
            Self::Qmi => weights
                .iter()
                .zip(&known)
                .map(|(weight, known)| weight * all / known)
                .collect(),
            Self::Kc | Self::Ipvc => weights.to_vec(),
        };
        let fit = fractional_kmeans(
            rows,
            &FractionalPlan {
                base_weights: &counting,
                ..*plan
            },
            seed,
            monitor,
        );
        let weighted = |values: &[f64]| {
            weights
                .iter()
                .zip(values)
                .map(|(weight, value)| weight * value)
                .sum::<f64>()
        };
        let alone = match self {
            Self::Kc => 0.0,
            Self::Ipvc => weighted(&squares),
            Self::Qmi => {
                let one = FractionalMeans::of(rows, &vec![0; rows.len()], 1);
                let own: Vec<f64> = squares
                    .iter()
                    .zip(&known)
                    .map(|(square, known)| square / known)
                    .collect();
                let mean = |(u, c): (usize, usize)| weights[u] * one.mean(u, c, 0).powi(2);
                weighted(&own) - rows.places().map(mean).sum::<f64>()
            }
        };
        let told = |value: &f64| match self {
            Self::Kc => *value,
            Self::Ipvc => alone - value,
            Self::Qmi => alone - value / all,
        };
        let certainty = |row: usize| {
            fit.means
                .certainty(rows, row, fit.labels[row] as usize, &counting)
        };
        CriterionFit {
            certainty: rows.expand(&(0..rows.len()).map(certainty).collect::<Vec<_>>()),
            trace: fit.trace.iter().map(told).collect(),
            starts: fit.starts.iter().map(told).collect(),
            labels: rows.expand(&fit.labels),
            stopped: fit.stopped,
        }
    }
}
