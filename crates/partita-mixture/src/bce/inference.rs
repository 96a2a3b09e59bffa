//! Variational inference of the mixed memberships of one label row, and what it adds to the sums of an E-step.

use serde::{Deserialize, Serialize};
use statrs::function::gamma::{digamma, ln_gamma};

use crate::shared::sufficient_statistics::SufficientStatistics;

/// How much each label of a row counts.
pub(crate) trait LabelWeights: Copy {
    /// That of the label at this place.
    fn of(self, at: usize) -> f64;
}

/// Every label counts once.
#[derive(Clone, Copy)]
pub(crate) struct Once;

impl LabelWeights for Once {
    fn of(self, _: usize) -> f64 {
        1.0
    }
}

impl LabelWeights for &[f64] {
    fn of(self, at: usize) -> f64 {
        self[at]
    }
}

/// What rows share: the Dirichlet that memberships are drawn from, and the label shares of every cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BceParameters {
    /// α, K values.
    pub(crate) alpha: Vec<f64>,
    /// θ, ΣJ lines of K values.
    pub(crate) theta: Vec<f64>,
}

/// What the inference for one row writes.
#[derive(Clone, Debug)]
pub(crate) struct RowScratch {
    /// exp E ln π_k.
    pub(crate) geometric: Vec<f64>,
    /// E ln π_k.
    pub(crate) logs: Vec<f64>,
    sums: Vec<f64>,
}

impl RowScratch {
    pub(crate) fn new(clusters: usize) -> Self {
        Self { geometric: vec![0.0; clusters], logs: vec![0.0; clusters], sums: vec![0.0; clusters] }
    }

    fn expect(&mut self, gamma: &[f64]) {
        let all = digamma(gamma.iter().sum());
        for ((log, geometric), &g) in self.logs.iter_mut().zip(&mut self.geometric).zip(gamma) {
            *log = digamma(g) - all;
            *geometric = log.exp();
        }
    }
}

impl BceParameters {
    pub(crate) fn clusters(&self) -> usize {
        self.alpha.len()
    }

    pub(crate) fn line(&self, line: usize) -> &[f64] {
        &self.theta[line * self.alpha.len()..][..self.alpha.len()]
    }

    /// Σ_k exp(E ln π_k) θ_k of one label: what normalises φ.
    pub(crate) fn normaliser(&self, line: usize, geometric: &[f64]) -> f64 {
        self.line(line).iter().zip(geometric).map(|(theta, g)| theta * g).sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// Ascends γ of one row from where it is, and returns the bound on the row's log probability.
    pub(crate) fn infer<W: LabelWeights>(
        &self,
        (lines, counts): (&[usize], W),
        gamma: &mut [f64],
        (rounds, tolerance): (u32, f64),
        s: &mut RowScratch,
    ) -> f64 {
        for _ in 0..rounds {
            s.expect(gamma);
            s.sums.fill(0.0);
            for (at, &line) in lines.iter().enumerate() {
                let inverse = counts.of(at) / self.normaliser(line, &s.geometric);
                s.sums.iter_mut().zip(self.line(line)).for_each(|(sum, theta)| *sum += theta * inverse);
            }
            let mut change = 0f64;
            for (((g, alpha), sum), geometric) in gamma.iter_mut().zip(&self.alpha).zip(&s.sums).zip(&s.geometric) {
                let new = alpha + geometric * sum;
                change = change.max((new - *g).abs());
                *g = new;
            }
            if change <= tolerance {
                break;
            }
        }
        self.bound((lines, counts), gamma, s)
    }

    /// The bound at γ and the best φ for it; leaves E ln π in the scratch.
    pub(crate) fn bound<W: LabelWeights>(
        &self,
        (lines, counts): (&[usize], W),
        gamma: &[f64],
        s: &mut RowScratch,
    ) -> f64 {
        s.expect(gamma);
        let label = |(at, &line): (usize, &usize)| counts.of(at) * self.normaliser(line, &s.geometric).ln();
        let labels: f64 = lines.iter().enumerate().map(label).sum();
        let dirichlet = |a: &[f64]| ln_gamma(a.iter().sum()) - a.iter().map(|&a| ln_gamma(a)).sum::<f64>();
        let tilt: f64 = self.alpha.iter().zip(gamma).zip(&s.logs).map(|((a, g), log)| (a - g) * log).sum();
        labels + dirichlet(&self.alpha) - dirichlet(gamma) + tilt
    }

    /// γ before anything is known but how many labels there are.
    pub(crate) fn start(&self, labels: f64) -> Vec<f64> {
        let even = labels / self.clusters() as f64;
        self.alpha.iter().map(|alpha| alpha + even).collect()
    }

    /// Adds what is expected of a row that was inferred: labels by cluster, the bound as `log_sum`, E ln π_k as `sizes`.
    pub(crate) fn add_row<W: LabelWeights>(
        &self,
        (lines, counts, weight): (&[usize], W, f64),
        bound: f64,
        scratch: &RowScratch,
        sums: &mut SufficientStatistics,
    ) {
        let clusters = self.clusters();
        sums.log_sum += weight * bound;
        sums.sizes.iter_mut().zip(&scratch.logs).for_each(|(sum, log)| *sum += weight * log);
        for (at, &line) in lines.iter().enumerate() {
            let scale = weight * counts.of(at) / self.normaliser(line, &scratch.geometric);
            let phi = self.line(line).iter().zip(&scratch.geometric);
            let counts = &mut sums.labels[line * clusters..][..clusters];
            counts.iter_mut().zip(phi).for_each(|(count, (theta, g))| *count += scale * theta * g);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture;
    use crate::shared::row_model::RowModel;
    use crate::shared::weighted_rows::WeightedRows;

    #[test]
    fn inference_agrees_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let told = &fixtures["bce"];
        let rows = WeightedRows::unfolded(&ensemble);
        let sums = rows.given_soft(fixture::matrix(&fixtures["mm"]["R0"]).view());
        let smoothing = told["smoothing"].as_f64().unwrap();
        let shares = RowModel::of_sums(ensemble.bases().to_vec(), &sums, |_| smoothing, 0.0);
        let model = BceParameters { alpha: fixture::vector(&told["alpha"]), theta: shares.theta };
        let (gammas, bounds) = (fixture::matrix(&told["gamma"]), fixture::vector(&told["elbo_per_object"]));
        let offsets = ensemble.offsets();
        for i in 0..24 {
            let lines: Vec<usize> = (0..12).filter_map(|u| ensemble.label(i, u).map(|j| offsets[u] + j)).collect();
            // The stored values are those after 200 rounds, converged or not.
            let mut gamma = model.start(lines.len() as f64);
            let bound = model.infer((&lines, Once), &mut gamma, (200, 0.0), &mut RowScratch::new(4));
            fixture::assert_close(&gamma, gammas.row(i).as_slice().unwrap());
            fixture::assert_close(&[bound], &bounds[i..=i]);
        }
    }
}
