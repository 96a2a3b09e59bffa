//! Memberships of CVB0 and their expected counts: the objective, and the update of all rows at once.

use std::ops::Range;

use partita_core::ndarray::{ArrayView1, ArrayView2};
use partita_core::{Label, LabelRows, chunks, map_parallel};

use crate::nbce::hyperparameters::Hyperparameters;
use crate::nbce::prior::{NbcePrior, log_labels};
use crate::nbce::scaled_product::{RENORMALISE_AFTER, ScaledProduct};
use crate::shared::log_probabilities::{lines, totals_by_base};
use crate::shared::sufficient_statistics::SufficientStatistics;
use crate::shared::weighted_rows::WeightedRows;

/// γ, one line of K values a row, and what it adds up to.
#[derive(Clone, Debug)]
pub(crate) struct Memberships {
    pub(crate) soft: Vec<f64>,
    pub(crate) sums: SufficientStatistics,
    /// Labels that are there, M lines of K values.
    totals: Vec<f64>,
    pub(crate) hyperparameters: Hyperparameters,
    /// How much of the way to its new memberships a row goes: 1, less once rounds repeat each other.
    pub(crate) step: f64,
}

impl Memberships {
    pub(crate) fn of_hard(rows: &WeightedRows<'_>, labels: &[u32], clusters: usize) -> Self {
        let mut soft = vec![0.0; labels.len() * clusters];
        soft.chunks_exact_mut(clusters).zip(labels).for_each(|(line, &k)| line[k as usize] = 1.0);
        Self::of(rows, soft, rows.given_hard(labels, clusters))
    }

    fn of(rows: &WeightedRows<'_>, soft: Vec<f64>, sums: SufficientStatistics) -> Self {
        let totals = totals_by_base(&sums.labels, rows.offsets(), sums.sizes.len());
        Self { soft, sums, totals, hyperparameters: Hyperparameters { alpha0: 1.0, beta: 1.0 }, step: 1.0 }
    }

    /// Log joint at expected counts, plus entropy, plus the log densities of learned α0 and β.
    pub(crate) fn objective(&self, rows: &WeightedRows<'_>, prior: NbcePrior, learn: bool) -> f64 {
        let clusters = self.sums.sizes.len();
        let row = |line: &[f64]| line.iter().filter(|p| **p > 1e-12).map(|p| -p * p.ln()).sum::<f64>();
        let part = |range: Range<usize>| {
            let lines = self.soft[range.start * clusters..range.end * clusters].chunks_exact(clusters);
            lines.zip(&rows.weights()[range]).map(|(line, weight)| weight * row(line)).sum::<f64>()
        };
        let Hyperparameters { alpha0, beta } = self.hyperparameters;
        prior.log_partition(&self.sums.sizes, alpha0)
            + log_labels(&self.sums, (rows.offsets(), rows.base_weights()), beta)
            + rows.sum(part, |a, b| a + b)
            - if learn { alpha0 + beta } else { 0.0 }
    }

    /// Moves all rows at once; returns how far the row that is farthest from its new memberships was from them.
    pub(crate) fn update(&mut self, rows: &WeightedRows<'_>, prior: NbcePrior) -> f64 {
        match (rows.shares(), rows.ensemble().rows()) {
            (Some(shares), _) => self.update_in(
                rows,
                prior,
                |counts, i, own, one, product| counts.conditional_of_shares(shares.row(i), own, one, product),
                |sums, i, line| sums.add_shares(shares, i, line),
            ),
            (None, LabelRows::Bytes(labels)) => self.update_labels(rows, labels, prior),
            (None, LabelRows::Words(labels)) => self.update_labels(rows, labels, prior),
        }
    }

    fn update_labels<L: Label>(&mut self, rows: &WeightedRows<'_>, labels: ArrayView2<'_, L>, prior: NbcePrior) -> f64 {
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
        conditional: impl Fn(&Counts<'_>, usize, &[f64], f64, &mut ScaledProduct) + Sync,
        add: impl Fn(&mut SufficientStatistics, usize, &[f64]) + Sync,
    ) -> f64 {
        let (clusters, step) = (self.sums.sizes.len(), self.step);
        let counts = Counts::of(rows, &self.sums, &self.totals, self.hyperparameters, prior);
        let ranges = chunks(rows.weights().len(), rows.part_size());
        let part = |(soft, range): (&mut [f64], Range<usize>)| {
            let mut part = SufficientStatistics::zero(rows.label_values(), clusters);
            let (mut product, mut line, mut change) = (ScaledProduct::new(clusters), vec![0.0; clusters], 0f64);
            for (i, own) in range.zip(soft.chunks_exact_mut(clusters)) {
                conditional(&counts, i, own, rows.weights()[i].min(1.0), &mut product);
                let sum = product.weights(&mut line);
                for (own, new) in own.iter_mut().zip(&mut line) {
                    *new /= sum;
                    change = change.max((*own - *new).abs());
                    if step < 1.0 {
                        *new = *own + step * (*new - *own);
                    }
                    *own = *new;
                    *new *= rows.weights()[i];
                }
                add(&mut part, i, &line);
            }
            (part, change)
        };
        let parts = map_parallel(self.soft.chunks_mut(rows.part_size() * clusters).zip(ranges), part);
        let add = |(sum, most): (SufficientStatistics, f64), (part, change): (SufficientStatistics, f64)| {
            (sum.merged(part), most.max(change))
        };
        let (sums, change) = parts.into_iter().reduce(add).expect("an ensemble has objects");
        self.sums = sums;
        self.totals = totals_by_base(&self.sums.labels, rows.offsets(), clusters);
        change
    }
}

/// Expected counts of a round, β and J β included.
struct Counts<'a> {
    prior: NbcePrior,
    alpha0: f64,
    total: f64,
    sizes: &'a [f64],
    /// β + N, ΣJ lines of K values.
    labels: Vec<f64>,
    /// J_u β + N, M lines of K values.
    totals: Vec<f64>,
    /// β and J_u β: what is left when nothing else is.
    pseudo_totals: Vec<f64>,
    beta: f64,
    offsets: &'a [usize],
    /// How many copies of every base clustering there are, where that is not one: exponents of their factors.
    base_weights: Option<&'a [f64]>,
}

impl<'a> Counts<'a> {
    fn of(
        rows: &'a WeightedRows<'_>,
        sums: &'a SufficientStatistics,
        totals: &[f64],
        hyperparameters: Hyperparameters,
        prior: NbcePrior,
    ) -> Self {
        let clusters = sums.sizes.len();
        let pseudo_totals: Vec<f64> =
            rows.offsets().windows(2).map(|ends| (ends[1] - ends[0]) as f64 * hyperparameters.beta).collect();
        Self {
            prior,
            alpha0: hyperparameters.alpha0,
            total: sums.sizes.iter().sum(),
            sizes: &sums.sizes,
            labels: sums.labels.iter().map(|count| hyperparameters.beta + count).collect(),
            totals: totals.iter().enumerate().map(|(at, count)| pseudo_totals[at / clusters] + count).collect(),
            pseudo_totals,
            beta: hyperparameters.beta,
            offsets: rows.offsets(),
            base_weights: rows.base_weights(),
        }
    }

    /// The conditional of one row up to its sum, when its own memberships do not count.
    /// A row that stands for less than an object leaves out what it counts.
    fn conditional<L: Label>(&self, row: ArrayView1<'_, L>, own: &[f64], one: f64, product: &mut ScaledProduct) {
        let clusters = own.len();
        let sizes = self.sizes.iter().zip(own).map(|(size, own)| (size - one * own).max(0.0));
        self.prior.shares(sizes, self.total - one, self.alpha0, product);
        if let Some(weights) = self.base_weights {
            let labels =
                row.iter().enumerate().filter_map(|(u, label)| Some((u, self.offsets[u] + label.cluster()?, 1.0)));
            return self.raise(labels, weights, (own, one), product);
        }
        let mut pending = 1;
        for (u, label) in row.iter().enumerate() {
            let Some(j) = label.cluster() else { continue };
            let label = &self.labels[(self.offsets[u] + j) * clusters..][..clusters];
            let total = &self.totals[u * clusters..][..clusters];
            for (((m, &own), &label), &total) in product.mantissas.iter_mut().zip(own).zip(label).zip(total) {
                *m *= (label - one * own).max(self.beta) / (total - one * own).max(self.pseudo_totals[u]);
            }
            pending += 1;
            if pending == RENORMALISE_AFTER {
                product.renormalise();
                pending = 0;
            }
        }
        product.renormalise();
    }

    /// The factors of a row's labels or shares where these are raised to weights: of any size, so that logarithms are added. Entries are
    /// base clustering, line and share.
    fn raise(
        &self,
        entries: impl Iterator<Item = (usize, usize, f64)>,
        weights: &[f64],
        (own, one): (&[f64], f64),
        product: &mut ScaledProduct,
    ) {
        let clusters = own.len();
        let mut logs = vec![0.0; clusters];
        for (u, line, share) in entries {
            let label = &self.labels[line * clusters..][..clusters];
            let total = &self.totals[u * clusters..][..clusters];
            for (((log, &own), &label), &total) in logs.iter_mut().zip(own).zip(label).zip(total) {
                let factor =
                    (label - one * own * share).max(self.beta) / (total - one * own).max(self.pseudo_totals[u]);
                *log += weights[u] * share * factor.ln();
            }
        }
        product.raise(&logs);
    }

    /// The same for a row of shares, each of which counts as so much of a label: an exponent of its factor.
    fn conditional_of_shares(
        &self,
        (lines, shares): (&[u32], &[f64]),
        own: &[f64],
        one: f64,
        product: &mut ScaledProduct,
    ) {
        let clusters = own.len();
        let sizes = self.sizes.iter().zip(own).map(|(size, own)| (size - one * own).max(0.0));
        self.prior.shares(sizes, self.total - one, self.alpha0, product);
        let base = |line: u32| self.offsets.partition_point(|&start| start <= line as usize) - 1;
        if let Some(weights) = self.base_weights {
            let entries = lines.iter().zip(shares).map(|(&line, &share)| (base(line), line as usize, share));
            return self.raise(entries, weights, (own, one), product);
        }
        for (at, (&line, &share)) in lines.iter().zip(shares).enumerate() {
            let u = base(line);
            let label = &self.labels[line as usize * clusters..][..clusters];
            let total = &self.totals[u * clusters..][..clusters];
            for (((m, &own), &label), &total) in product.mantissas.iter_mut().zip(own).zip(label).zip(total) {
                let without =
                    (label - one * own * share).max(self.beta) / (total - one * own).max(self.pseudo_totals[u]);
                *m *= without.powf(share);
            }
            if at % (RENORMALISE_AFTER - 1) == RENORMALISE_AFTER - 2 {
                product.renormalise();
            }
        }
        product.renormalise();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::{fixture, initialization};
    use partita_core::Seed;
    use partita_core::ndarray::Array2;

    fn updated(rows: &WeightedRows<'_>, start: &Array2<f64>, prior: NbcePrior) -> Memberships {
        let soft = start.iter().copied().collect();
        let mut state = Memberships::of(rows, soft, rows.given_soft(start.view()));
        state.hyperparameters = Hyperparameters { alpha0: 0.8, beta: 0.3 };
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
        fixture::assert_close(&updated(&rows, &start, NbcePrior::Symmetric).soft, &flat(&told["fsd_R1"]));
        let start = fixture::matrix(&told["tsb_R0"]);
        fixture::assert_close(&updated(&rows, &start, NbcePrior::StickBreaking).soft, &flat(&told["tsb_R1"]));
    }

    /// Distinct rows with whole weights move as every row for itself does.
    #[test]
    fn distinct_rows_are_exact() {
        for seed in 0..40 {
            let ensemble = fixture::drawn(seed);
            let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
            let (folded, each) = (WeightedRows::of(&ensemble), WeightedRows::unfolded(&ensemble));
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
