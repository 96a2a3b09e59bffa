//! Expected counts of CVB0, and what they make of a row that does not count itself.

use partita_core::Label;
use partita_core::ndarray::ArrayView1;
use serde::{Deserialize, Serialize};

use crate::nbce::hyperparameters::Hyperparameters;
use crate::nbce::prior::NbcePrior;
use crate::nbce::scaled_product::{RENORMALISE_AFTER, ScaledProduct};
use crate::shared::log_probabilities::totals_by_base;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// Turns in which memberships are brought to agree with themselves at most, and the difference that ends them.
const TURNS: usize = 60;
const SETTLED: f64 = 1e-8;

/// Expected counts of a round, β and J β included.
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
    offsets: Vec<usize>,
    /// How many copies of every base clustering there are, where that is not one: exponents of their factors.
    base_weights: Option<Vec<f64>>,
}

impl Counts {
    pub(crate) fn of(
        (offsets, base_weights): (&[usize], Option<&[f64]>),
        sums: &SufficientStatistics,
        hyperparameters: Hyperparameters,
        prior: NbcePrior,
    ) -> Self {
        let clusters = sums.sizes.len();
        let pseudo_totals: Vec<f64> = offsets
            .windows(2)
            .map(|ends| (ends[1] - ends[0]) as f64 * hyperparameters.beta)
            .collect();
        Self {
            prior,
            alpha0: hyperparameters.alpha0,
            total: sums.sizes.iter().sum(),
            sizes: sums.sizes.clone(),
            labels: sums
                .labels
                .iter()
                .map(|count| hyperparameters.beta + count)
                .collect(),
            totals: totals_by_base(&sums.labels, offsets, clusters)
                .iter()
                .enumerate()
                .map(|(at, count)| pseudo_totals[at / clusters] + count)
                .collect(),
            pseudo_totals,
            beta: hyperparameters.beta,
            offsets: offsets.to_vec(),
            base_weights: base_weights.map(<[f64]>::to_vec),
        }
    }

    pub(crate) fn clusters(&self) -> usize {
        self.sizes.len()
    }

    /// The conditional of one row up to its sum, when its own memberships do not count.
    /// A row that stands for less than an object leaves out what it counts.
    // Inlined into its callers it takes a tenth longer.
    #[inline(never)]
    pub(crate) fn conditional<L: Label>(
        &self,
        row: ArrayView1<'_, L>,
        own: &[f64],
        one: f64,
        product: &mut ScaledProduct,
    ) {
        let clusters = own.len();
        self.shares(own, one, product);
        if let Some(weights) = &self.base_weights {
            let labels = row
                .iter()
                .enumerate()
                .filter_map(|(u, label)| Some((u, self.offsets[u] + label.cluster()?, 1.0)));
            return self.raise(labels, weights, (own, one), product);
        }
        let mut pending = 1;
        for (u, label) in row.iter().enumerate() {
            let Some(j) = label.cluster() else { continue };
            let label = &self.labels[(self.offsets[u] + j) * clusters..][..clusters];
            let total = &self.totals[u * clusters..][..clusters];
            for (((m, &own), &label), &total) in
                product.mantissas.iter_mut().zip(own).zip(label).zip(total)
            {
                *m *= (label - one * own).max(self.beta)
                    / (total - one * own).max(self.pseudo_totals[u]);
            }
            pending += 1;
            if pending == RENORMALISE_AFTER {
                product.renormalise();
                pending = 0;
            }
        }
        product.renormalise();
    }

    /// The factors of the clusters' sizes without the row's own memberships, which the others go on from.
    fn shares(&self, own: &[f64], one: f64, product: &mut ScaledProduct) {
        let sizes = self
            .sizes
            .iter()
            .zip(own)
            .map(|(size, own)| (size - one * own).max(0.0));
        self.prior
            .shares(sizes, self.total - one, self.alpha0, product);
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
                let factor = (label - one * own * share).max(self.beta)
                    / (total - one * own).max(self.pseudo_totals[u]);
                *log += weights[u] * share * factor.ln();
            }
        }
        product.raise(&logs);
    }

    /// The same for a row of shares, each of which counts as so much of a label: an exponent of its factor.
    pub(crate) fn conditional_of_shares(
        &self,
        (lines, shares): (&[u32], &[f64]),
        own: &[f64],
        one: f64,
        product: &mut ScaledProduct,
    ) {
        let clusters = own.len();
        self.shares(own, one, product);
        let base = |line: u32| {
            self.offsets
                .partition_point(|&start| start <= line as usize)
                - 1
        };
        if let Some(weights) = &self.base_weights {
            let entries = lines
                .iter()
                .zip(shares)
                .map(|(&line, &share)| (base(line), line as usize, share));
            return self.raise(entries, weights, (own, one), product);
        }
        for (at, (&line, &share)) in lines.iter().zip(shares).enumerate() {
            let u = base(line);
            let label = &self.labels[line as usize * clusters..][..clusters];
            let total = &self.totals[u * clusters..][..clusters];
            for (((m, &own), &label), &total) in
                product.mantissas.iter_mut().zip(own).zip(label).zip(total)
            {
                let without = (label - one * own * share).max(self.beta)
                    / (total - one * own).max(self.pseudo_totals[u]);
                *m *= without.powf(share);
            }
            if at % (RENORMALISE_AFTER - 1) == RENORMALISE_AFTER - 2 {
                product.renormalise();
            }
        }
        product.renormalise();
    }

    /// Brings a row's memberships `own` to where they are what these counts make of them: γ with γ = conditional(γ). From zeros, that is from
    /// counts with the row in them, two or three turns are enough where clusters have many rows. Where a row turns back, as one may that is
    /// alone in its cluster, its steps are halved.
    pub(crate) fn settle<L: Label>(
        &self,
        row: ArrayView1<'_, L>,
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
            if far <= SETTLED {
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
