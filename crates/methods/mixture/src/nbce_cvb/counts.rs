//! Expected counts of CVB0, and what they make of a row that does not count itself.

use partita_core::{Entry, Row};
use serde::{Deserialize, Serialize};

use super::second_order::{Spread, without};
use crate::nbce::hyperparameters::Hyperparameters;
use crate::nbce::prior::NbcePrior;
use crate::nbce::scaled_product::{RENORMALISE_AFTER, ScaledProduct};
use crate::shared::layout::BaseLayout;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// Turns in which memberships are brought to agree with themselves, at most.
const TURNS: usize = 60;

/// Expected counts of an iteration, β and J β included.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Counts {
    prior: NbcePrior,
    alpha0: f64,
    total: f64,
    sizes: Vec<f64>,
    /// β + N, ΣJ lines of K values.
    labels: Vec<f64>,
    /// J_u β + N, M lines of K values.
    totals: Vec<f64>,
    /// β and J_u β: what is left when nothing else is.
    pseudo_totals: Vec<f64>,
    beta: f64,
    /// The difference at which memberships agree with themselves.
    settled: f64,
    /// Copies of base clusterings are exponents of their factors.
    layout: BaseLayout,
    /// The variances of the counts, where expectations of logarithms are of second order.
    spread: Option<Spread>,
}

impl Counts {
    pub(crate) fn of(
        layout: &BaseLayout,
        sums: &SufficientStatistics,
        spread: Option<&Spread>,
        hyperparameters: Hyperparameters,
        prior: NbcePrior,
        settled: f64,
    ) -> Self {
        let Hyperparameters { alpha0, beta } = hyperparameters;
        let clusters = sums.clusters();
        let pseudo_totals: Vec<f64> = layout
            .bases()
            .map(|(_, labels)| labels.len() as f64 * beta)
            .collect();
        let totals = layout.totals(&sums.labels, clusters);
        let with_pseudo = |(at, count): (usize, &f64)| pseudo_totals[at / clusters] + count;
        Self {
            prior,
            alpha0,
            beta,
            total: sums.sizes.iter().sum(),
            sizes: sums.sizes.clone(),
            labels: sums.labels.iter().map(|count| beta + count).collect(),
            totals: totals.iter().enumerate().map(with_pseudo).collect(),
            pseudo_totals,
            settled,
            layout: layout.clone(),
            spread: spread.map(|spread| spread.with_totals(layout)),
        }
    }

    pub(crate) fn clusters(&self) -> usize {
        self.sizes.len()
    }

    pub(crate) fn is_of_second_order(&self) -> bool {
        self.spread.is_some()
    }

    /// Writes the conditional of one row up to its sum, when its own memberships do not count.
    /// A row that stands for less than an object leaves out what it counts. A share of a label is the exponent of its factor.
    // Inlined into its callers it takes a tenth longer.
    #[inline(never)]
    pub(crate) fn conditional<'a, R: Row<'a>>(
        &self,
        row: R,
        own: &[f64],
        one: f64,
        product: &mut ScaledProduct,
    ) {
        let others = self.sizes.iter().zip(own);
        let others = others.map(|(size, own)| (size - one * own).max(0.0));
        self.prior
            .shares(others, self.total - one, self.alpha0, product);
        let entries = row.entries(&self.layout.offsets);
        if self.layout.copies.is_some() || self.spread.is_some() {
            return self.raise(entries, own, one, product);
        }
        let clusters = own.len();
        let mut pending = 1;
        for Entry {
            base,
            cluster,
            share,
        } in entries
        {
            let label = &self.labels[cluster * clusters..][..clusters];
            let total = &self.totals[base * clusters..][..clusters];
            let rows = product.mantissas.iter_mut().zip(own).zip(label).zip(total);
            let factors = rows.map(|(((m, &own), &label), &total)| {
                let factor = self.factor(label - one * own * share, total - one * own, base);
                (m, factor)
            });
            // One test a label: inside the loop compilers raise every factor to a power, and then choose.
            if share == 1.0 {
                factors.for_each(|(m, factor)| *m *= factor);
            } else {
                factors.for_each(|(m, factor)| *m *= factor.powf(share));
            }
            pending += 1;
            if pending == RENORMALISE_AFTER {
                product.renormalise();
                pending = 0;
            }
        }
        product.renormalise();
    }

    /// The probability of a label where so many others and so many labels of its base clustering are there.
    #[inline]
    fn factor(&self, label: f64, total: f64, base: usize) -> f64 {
        label.max(self.beta) / total.max(self.pseudo_totals[base])
    }

    /// The factors of a row's entries where these are raised to numbers of copies, and what variances make of them: of any size, so that
    /// logarithms are added.
    fn raise(
        &self,
        entries: impl Iterator<Item = Entry>,
        own: &[f64],
        one: f64,
        product: &mut ScaledProduct,
    ) {
        let clusters = own.len();
        let mut logs = vec![0.0; clusters];
        let spread = self
            .spread
            .as_ref()
            .map(|spread| (spread, Spread::of_row(own, one)));
        if let Some((spread, less)) = &spread {
            let sizes = self.sizes.iter().zip(own);
            let sizes: Vec<f64> = sizes
                .map(|(size, own)| (size - one * own).max(0.0))
                .collect();
            let spreads = without(&spread.sums.sizes, &less.sizes);
            let tails = without(&spread.tails, &less.tails);
            self.prior
                .second_order(&sizes, &spreads, &tails, self.alpha0, &mut logs);
        }
        for Entry {
            base,
            cluster,
            share,
        } in entries
        {
            let label = &self.labels[cluster * clusters..][..clusters];
            let total = &self.totals[base * clusters..][..clusters];
            if let Some((spread, less)) = &spread {
                let labels = &spread.sums.labels[cluster * clusters..];
                let totals = &spread.totals[base * clusters..];
                let weight = self.layout.copies_of(base) * share;
                for (k, log) in logs.iter_mut().enumerate() {
                    let label = (label[k] - one * own[k] * share).max(self.beta);
                    let total = (total[k] - one * own[k]).max(self.pseudo_totals[base]);
                    let of_label = (labels[k] - share * less.sizes[k]).max(0.0) / (label * label);
                    let of_total = (totals[k] - less.sizes[k]).max(0.0) / (total * total);
                    *log += 0.5 * weight * (of_total - of_label);
                }
            }
            let exponent = self.layout.copies_of(base) * share;
            for (((log, &own), &label), &total) in logs.iter_mut().zip(own).zip(label).zip(total) {
                let factor = self.factor(label - one * own * share, total - one * own, base);
                *log += exponent * factor.ln();
            }
        }
        product.raise(&logs);
    }

    /// Brings a row's memberships `own` to where they are what these counts make of them: γ with γ = conditional(γ). From zeros, that is from
    /// counts with the row in them, two or three turns are enough where clusters have many rows. Where a row turns back, as one may that is
    /// alone in its cluster, its steps are halved.
    pub(crate) fn settle<'a, R: Row<'a>>(
        &self,
        row: R,
        one: f64,
        own: &mut [f64],
        scratch: &mut SettleScratch,
    ) {
        let SettleScratch {
            product,
            conditional,
            step: last,
        } = scratch;
        let mut share = 1.0;
        last.fill(0.0);
        for _ in 0..TURNS {
            self.conditional(row, own, one, product);
            let sum = product.weights(conditional);
            let (mut far, mut along) = (0f64, 0.0);
            for ((own, new), last) in own.iter().zip(&*conditional).zip(last.iter_mut()) {
                let step = new / sum - own;
                far = far.max(step.abs());
                along += step * *last;
                *last = step;
            }
            if along < 0.0 {
                share *= 0.5;
            }
            own.iter_mut()
                .zip(&*last)
                .for_each(|(own, step)| *own += share * step);
            if far <= self.settled {
                break;
            }
        }
    }
}

/// What settling a row writes.
pub(crate) struct SettleScratch {
    product: ScaledProduct,
    conditional: Vec<f64>,
    step: Vec<f64>,
}

impl SettleScratch {
    pub(crate) fn new(clusters: usize) -> Self {
        Self {
            product: ScaledProduct::new(clusters),
            conditional: vec![0.0; clusters],
            step: vec![0.0; clusters],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture::{self, Held};
    use crate::shared::held_rows::GivenMemberships;
    use partita_core::AnyBlock;

    /// From given memberships, one conditional of every row without itself.
    #[test]
    fn conditionals_agree_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let told = &fixtures["nbce_cvb0"];
        let held = Held::each(&ensemble);
        let hyperparameters = Hyperparameters {
            alpha0: 0.8,
            beta: 0.3,
        };
        let cases = [
            (
                NbcePrior::Symmetric,
                &fixtures["nbce_vb"]["R0"],
                &told["fsd_R1"],
            ),
            (NbcePrior::StickBreaking, &told["tsb_R0"], &told["tsb_R1"]),
        ];
        for (prior, start, told) in cases {
            let (start, told) = (fixture::matrix(start), fixture::matrix(told));
            let clusters = start.ncols();
            let lines = GivenMemberships::Lines(start.iter().copied().collect());
            let sums = held.rows().given(lines, clusters);
            let counts = Counts::of(&held.layout, &sums, None, hyperparameters, prior, 1e-8);
            let mut product = ScaledProduct::new(clusters);
            let mut found = vec![0.0; clusters];
            held.rows().rows.with_all(|block| {
                let AnyBlock::Bytes(block) = block else {
                    panic!("few clusters")
                };
                for (i, (row, _)) in block.rows().enumerate() {
                    let own = start.row(i).to_vec();
                    counts.conditional(row, &own, 1.0, &mut product);
                    let sum = product.weights(&mut found);
                    found.iter_mut().for_each(|p| *p /= sum);
                    fixture::assert_close(&found, &told.row(i).to_vec());
                }
            });
        }
    }
}
