//! Variational inference of the mixed memberships of one label row, and what it adds to the sums of an E-step.

use partita_core::Entry;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::{digamma, ln_gamma};

use crate::shared::layout::BaseLayout;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// The labels of one row, as its memberships are inferred from them: one label for every base clustering that knows the object. What is not
/// known of a label that is given by shares s is its value, so that it counts by the expected log likelihood under them:
///
/// ```text
/// φ_iuk ∝ exp(Σ_j s_iuj ln θ_kuj) exp(ψ(γ_ik) − ψ(Σγ_i))
/// ```
#[derive(Clone, Debug, Default)]
pub(crate) struct RowLabels {
    /// exp(Σ_j s_uj ln θ_kuj), K values for every label; θ itself where one share is 1.
    lines: Vec<f64>,
    /// How much each label counts.
    counts: Vec<f64>,
    /// What the object has in base clusters.
    entries: Vec<Entry>,
    /// Where the entries of each label end.
    ends: Vec<usize>,
}

impl RowLabels {
    /// Reads the row of an object.
    pub(crate) fn read(
        &mut self,
        entries: impl Iterator<Item = Entry>,
        layout: &BaseLayout,
        parameters: &BceParameters,
    ) {
        let clusters = parameters.clusters();
        self.entries.clear();
        self.entries.extend(entries);
        self.lines.clear();
        self.counts.clear();
        self.ends.clear();
        for own in self.entries.chunk_by(|a, b| a.base == b.base) {
            let theta = |entry: &Entry| &parameters.theta[entry.cluster * clusters..][..clusters];
            if let [entry] = own {
                self.lines.extend_from_slice(theta(entry));
            } else {
                let log = |k: usize| {
                    let terms = own.iter().map(|entry| entry.share * theta(entry)[k].ln());
                    terms.sum::<f64>()
                };
                self.lines.extend((0..clusters).map(|k| log(k).exp()));
            }
            self.counts.push(layout.copies_of(own[0].base));
            self.ends
                .push(self.ends.last().copied().unwrap_or(0) + own.len());
        }
    }

    /// What all labels count.
    pub(crate) fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// The line of every label, and what it counts.
    pub(super) fn labels(&self, clusters: usize) -> impl Iterator<Item = (&[f64], f64)> {
        let lines = self.lines.chunks_exact(clusters);
        lines.zip(self.counts.iter().copied())
    }
}

/// Σ_k exp(E ln π_k) θ_k of one label: what normalises φ.
fn normaliser(line: &[f64], geometric: &[f64]) -> f64 {
    let terms = line.iter().zip(geometric).map(|(theta, g)| theta * g);
    terms.sum::<f64>().max(f64::MIN_POSITIVE)
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
    geometric: Vec<f64>,
    /// E ln π_k.
    logs: Vec<f64>,
    sums: Vec<f64>,
}

impl RowScratch {
    pub(crate) fn new(clusters: usize) -> Self {
        Self {
            geometric: vec![0.0; clusters],
            logs: vec![0.0; clusters],
            sums: vec![0.0; clusters],
        }
    }

    pub(crate) fn expect(&mut self, gamma: &[f64]) {
        let all = digamma(gamma.iter().sum());
        for ((log, geometric), &g) in self.logs.iter_mut().zip(&mut self.geometric).zip(gamma) {
            *log = digamma(g) - all;
            *geometric = log.exp();
        }
    }
}

/// When the inference of one row ends: after so many iterations, or when γ changes by no more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowLimits {
    pub(crate) iterations: u32,
    pub(crate) tolerance: f64,
}

impl BceParameters {
    pub(crate) fn clusters(&self) -> usize {
        self.alpha.len()
    }

    /// γ of one row, from before anything is known but how many labels there are, and the bound on the row's log probability.
    /// Leaves E ln π in the scratch.
    pub(crate) fn infer(
        &self,
        row: &RowLabels,
        limits: RowLimits,
        s: &mut RowScratch,
    ) -> (Vec<f64>, f64) {
        let clusters = self.clusters();
        let even = row.total() / clusters as f64;
        let mut gamma: Vec<f64> = self.alpha.iter().map(|alpha| alpha + even).collect();
        for _ in 0..limits.iterations {
            s.expect(&gamma);
            s.sums.fill(0.0);
            for (line, count) in row.labels(clusters) {
                let inverse = count / normaliser(line, &s.geometric);
                s.sums
                    .iter_mut()
                    .zip(line)
                    .for_each(|(sum, theta)| *sum += theta * inverse);
            }
            let mut change = 0f64;
            for (k, g) in gamma.iter_mut().enumerate() {
                let new = self.alpha[k] + s.geometric[k] * s.sums[k];
                change = change.max((new - *g).abs());
                *g = new;
            }
            if change <= limits.tolerance {
                break;
            }
        }
        let bound = self.bound(row, &gamma, s);
        (gamma, bound)
    }

    /// The bound at γ and the best φ for it; leaves E ln π in the scratch.
    fn bound(&self, row: &RowLabels, gamma: &[f64], s: &mut RowScratch) -> f64 {
        s.expect(gamma);
        let labels = row.labels(self.clusters());
        let labels = labels.map(|(line, count)| count * normaliser(line, &s.geometric).ln());
        let labels: f64 = labels.sum();
        let dirichlet =
            |a: &[f64]| ln_gamma(a.iter().sum()) - a.iter().map(|&a| ln_gamma(a)).sum::<f64>();
        let tilt: f64 = self
            .alpha
            .iter()
            .zip(gamma)
            .zip(&s.logs)
            .map(|((a, g), log)| (a - g) * log)
            .sum();
        labels + dirichlet(&self.alpha) - dirichlet(gamma) + tilt
    }

    /// Adds what is expected of a row that was inferred: labels by cluster, the bound as `log_sum`, E ln π_k as `sizes`. Of the φ of a
    /// label a share goes to each base cluster that has one.
    pub(crate) fn add_row(
        &self,
        row: &RowLabels,
        weight: f64,
        bound: f64,
        scratch: &RowScratch,
        sums: &mut SufficientStatistics,
    ) {
        let clusters = self.clusters();
        sums.log_sum += weight * bound;
        for (sum, log) in sums.sizes.iter_mut().zip(&scratch.logs) {
            *sum += weight * log;
        }
        let mut first = 0;
        for ((line, count), &end) in row.labels(clusters).zip(&row.ends) {
            let scale = weight * count / normaliser(line, &scratch.geometric);
            for entry in &row.entries[first..end] {
                let scale = entry.share * scale;
                let phi = line.iter().zip(&scratch.geometric);
                let counts = &mut sums.labels[entry.cluster * clusters..][..clusters];
                counts
                    .iter_mut()
                    .zip(phi)
                    .for_each(|(count, (theta, g))| *count += scale * theta * g);
            }
            first = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture::{self, Held};
    use crate::shared::held_rows::GivenMemberships;
    use crate::shared::shares::MixtureShares;
    use partita_core::{AnyBlock, Row};

    #[test]
    fn inference_agrees_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let told = &fixtures["bce"];
        let held = Held::each(&ensemble);
        let start = fixture::matrix(&fixtures["mm"]["R0"]);
        let lines = GivenMemberships::Lines(start.iter().copied().collect());
        let sums = held.rows().given(lines, start.ncols());
        let smoothing = told["smoothing"].as_f64().unwrap();
        let model = BceParameters {
            alpha: fixture::vector(&told["alpha"]),
            theta: MixtureShares::of_sums(&sums, &held.layout, smoothing, 0.0).theta,
        };
        let gammas = fixture::matrix(&told["gamma"]);
        let bounds = fixture::vector(&told["elbo_per_object"]);
        // The stored values are those after 200 iterations, converged or not.
        let limits = RowLimits {
            iterations: 200,
            tolerance: 0.0,
        };
        held.rows().rows.with_all(|block| {
            let AnyBlock::Bytes(block) = block else {
                panic!("few clusters")
            };
            for (i, (row, _)) in block.rows().enumerate() {
                let mut labels = RowLabels::default();
                labels.read(row.entries(&held.layout.offsets), &held.layout, &model);
                let (gamma, bound) = model.infer(&labels, limits, &mut RowScratch::new(4));
                fixture::assert_close(&gamma, gammas.row(i).as_slice().unwrap());
                fixture::assert_close(&[bound], &bounds[i..=i]);
            }
        });
    }
}
