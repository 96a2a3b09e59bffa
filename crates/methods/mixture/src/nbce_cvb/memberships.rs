//! Memberships of CVB0 and their expected counts: the objective, and the update of all rows at once.

use std::ops::Range;

use partita_core::ndarray::ArrayView2;
use partita_core::{Label, LabelRows, chunks, map_parallel};

use super::counts::Counts;
use crate::nbce::hyperparameters::Hyperparameters;
use crate::nbce::prior::{NbcePrior, log_labels};
use crate::nbce::scaled_product::ScaledProduct;
use crate::shared::log_probabilities::{farthest, lines};
use crate::shared::sufficient_statistics::SufficientStatistics;
use crate::shared::weighted_rows::WeightedRows;

/// γ, one line of K values a row, and what it adds up to.
#[derive(Clone, Debug)]
pub(crate) struct Memberships {
    pub(crate) soft: Vec<f64>,
    pub(crate) sums: SufficientStatistics,
    pub(crate) hyperparameters: Hyperparameters,
    /// How much of the way to its new memberships a row goes: 1, less once rounds repeat each other.
    pub(crate) step: f64,
}

/// Log joint at expected counts, plus the entropy of memberships, plus the log densities of learned α0 and β.
pub(crate) fn objective(
    (sums, entropy): (&SufficientStatistics, f64),
    (offsets, base_weights): (&[usize], Option<&[f64]>),
    Hyperparameters { alpha0, beta }: Hyperparameters,
    (prior, learn): (NbcePrior, bool),
) -> f64 {
    prior.log_partition(&sums.sizes, alpha0)
        + log_labels(sums, (offsets, base_weights), beta)
        + entropy
        - if learn { alpha0 + beta } else { 0.0 }
}

impl Memberships {
    pub(crate) fn of_hard(rows: &WeightedRows<'_>, labels: &[u32], clusters: usize) -> Self {
        let mut soft = vec![0.0; labels.len() * clusters];
        soft.chunks_exact_mut(clusters)
            .zip(labels)
            .for_each(|(line, &k)| line[k as usize] = 1.0);
        Self::of(soft, rows.given_hard(labels, clusters))
    }

    #[cfg(test)]
    pub(crate) fn of_soft(rows: &WeightedRows<'_>, soft: ArrayView2<'_, f64>) -> Self {
        Self::of(soft.iter().copied().collect(), rows.given_soft(soft))
    }

    fn of(soft: Vec<f64>, sums: SufficientStatistics) -> Self {
        Self {
            soft,
            sums,
            hyperparameters: Hyperparameters {
                alpha0: 1.0,
                beta: 1.0,
            },
            step: 1.0,
        }
    }

    /// The [`objective`] of these memberships.
    pub(crate) fn objective(&self, rows: &WeightedRows<'_>, prior: NbcePrior, learn: bool) -> f64 {
        let clusters = self.sums.sizes.len();
        let row = |line: &[f64]| {
            line.iter()
                .filter(|p| **p > 1e-12)
                .map(|p| -p * p.ln())
                .sum::<f64>()
        };
        let part = |range: Range<usize>| {
            let lines =
                self.soft[range.start * clusters..range.end * clusters].chunks_exact(clusters);
            lines
                .zip(&rows.weights()[range])
                .map(|(line, weight)| weight * row(line))
                .sum::<f64>()
        };
        let entropy = rows.sum(part, |a, b| a + b);
        objective(
            (&self.sums, entropy),
            (rows.offsets(), rows.base_weights()),
            self.hyperparameters,
            (prior, learn),
        )
    }

    /// Moves all rows at once; returns how far the row that is farthest from its new memberships was from them.
    pub(crate) fn update(&mut self, rows: &WeightedRows<'_>, prior: NbcePrior) -> f64 {
        match (rows.shares(), rows.ensemble().rows()) {
            (Some(shares), _) => self.update_in(
                rows,
                prior,
                |counts, i, own, one, product| {
                    counts.conditional_of_shares(shares.row(i), own, one, product);
                },
                |sums, i, line| sums.add_shares(shares, i, line),
            ),
            (None, LabelRows::Bytes(labels)) => self.update_labels(rows, labels, prior),
            (None, LabelRows::Words(labels)) => self.update_labels(rows, labels, prior),
        }
    }

    fn update_labels<L: Label>(
        &mut self,
        rows: &WeightedRows<'_>,
        labels: ArrayView2<'_, L>,
        prior: NbcePrior,
    ) -> f64 {
        self.update_in(
            rows,
            prior,
            |counts, i, own, one, product| counts.conditional(labels.row(i), own, one, product),
            |sums, i, line| sums.add(lines(labels.row(i), rows.offsets()), line),
        )
    }

    /// The update where `conditional` writes the conditional of a row, and `add` adds it to sums by its weighted memberships.
    fn update_in(
        &mut self,
        rows: &WeightedRows<'_>,
        prior: NbcePrior,
        conditional: impl Fn(&Counts, usize, &[f64], f64, &mut ScaledProduct) + Sync,
        add: impl Fn(&mut SufficientStatistics, usize, &[f64]) + Sync,
    ) -> f64 {
        let (clusters, step) = (self.sums.sizes.len(), self.step);
        let counts = Counts::of(
            (rows.offsets(), rows.base_weights()),
            &self.sums,
            self.hyperparameters,
            prior,
        );
        let ranges = chunks(rows.weights().len(), rows.part_size());
        let part = |(soft, range): (&mut [f64], Range<usize>)| {
            let mut part = SufficientStatistics::zero(rows.label_values(), clusters);
            let (mut product, mut line, mut change) =
                (ScaledProduct::new(clusters), vec![0.0; clusters], 0f64);
            for (i, own) in range.zip(soft.chunks_exact_mut(clusters)) {
                conditional(&counts, i, own, rows.weights()[i].min(1.0), &mut product);
                let sum = product.weights(&mut line);
                line.iter_mut().for_each(|new| *new /= sum);
                change = change.max(farthest(own, &line));
                if step < 1.0 {
                    line.iter_mut()
                        .zip(&*own)
                        .for_each(|(new, own)| *new = own + step * (*new - own));
                }
                own.copy_from_slice(&line);
                line.iter_mut().for_each(|new| *new *= rows.weights()[i]);
                add(&mut part, i, &line);
            }
            (part, change)
        };
        let parts = map_parallel(
            self.soft
                .chunks_mut(rows.part_size() * clusters)
                .zip(ranges),
            part,
        );
        let add = |(sum, most): (SufficientStatistics, f64),
                   (part, change): (SufficientStatistics, f64)| {
            (sum.merged(part), most.max(change))
        };
        let (sums, change) = parts
            .into_iter()
            .reduce(add)
            .expect("an ensemble has objects");
        self.sums = sums;
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::{fixture, initialization};
    use partita_core::Seed;
    use partita_core::ndarray::Array2;

    fn updated(rows: &WeightedRows<'_>, start: &Array2<f64>, prior: NbcePrior) -> Memberships {
        let mut state = Memberships::of_soft(rows, start.view());
        state.hyperparameters = Hyperparameters {
            alpha0: 0.8,
            beta: 0.3,
        };
        state.update(rows, prior);
        state
    }

    #[test]
    fn one_round_agrees_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let told = &fixtures["nbce_cvb0"];
        let rows = WeightedRows::unfolded(&ensemble);
        let flat = |value| fixture::matrix(value).iter().copied().collect::<Vec<_>>();
        let start = fixture::matrix(&fixtures["nbce_vb"]["R0"]);
        fixture::assert_close(
            &updated(&rows, &start, NbcePrior::Symmetric).soft,
            &flat(&told["fsd_R1"]),
        );
        let start = fixture::matrix(&told["tsb_R0"]);
        fixture::assert_close(
            &updated(&rows, &start, NbcePrior::StickBreaking).soft,
            &flat(&told["tsb_R1"]),
        );
    }

    /// Distinct rows with whole weights move as every row for itself does.
    #[test]
    fn distinct_rows_are_exact() {
        for seed in 0..40 {
            let ensemble = fixture::drawn(seed);
            let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
            let (folded, each) = (
                WeightedRows::of(&ensemble),
                WeightedRows::unfolded(&ensemble),
            );
            let labels = initialization::kmeans_plus_plus(&folded, 4, Seed::new(seed));
            let fragments = ensemble.fragments();
            let spread = fragments.expand(&labels);
            assert_eq!(fragments.ensemble().bases().len(), bases.len());
            for prior in [NbcePrior::Symmetric, NbcePrior::StickBreaking] {
                let mut one = Memberships::of_hard(&folded, &labels, 4);
                let mut other = Memberships::of_hard(&each, &spread, 4);
                for _ in 0..5 {
                    one.update(&folded, prior);
                    other.update(&each, prior);
                    fixture::assert_close(&one.sums.sizes, &other.sums.sizes);
                    fixture::assert_close(&one.sums.labels, &other.sums.labels);
                }
            }
        }
    }
}
