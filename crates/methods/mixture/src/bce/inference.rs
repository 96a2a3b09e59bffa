//! Variational inference of the mixed memberships of one label row, and what it adds to the sums of an E-step.

use partita_core::Memberships;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::{digamma, ln_gamma};

use crate::shared::kept::{Kept, KeptOf};
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

/// The labels of one row, as its memberships are inferred from them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowLabels<'a, W> {
    /// Lines of K probabilities of a label in every cluster: θ itself, or [`SoftRow::lines`].
    pub(crate) table: &'a [f64],
    /// The line of every label that is there.
    pub(crate) lines: &'a [usize],
    /// How much each counts.
    pub(crate) counts: W,
}

impl<W: LabelWeights> RowLabels<'_, W> {
    /// Σ_k exp(E ln π_k) θ_k of one label: what normalises φ.
    fn normaliser(&self, line: usize, geometric: &[f64]) -> f64 {
        self.line(line, geometric.len())
            .iter()
            .zip(geometric)
            .map(|(theta, g)| theta * g)
            .sum::<f64>()
            .max(f64::MIN_POSITIVE)
    }

    fn line(&self, line: usize, clusters: usize) -> &[f64] {
        &self.table[line * clusters..][..clusters]
    }
}

/// A row of soft base clusterings. What a base clustering says of an object is one label, which draws one cluster; what is not known is
/// its value, so that it counts by the expected log likelihood under the shares s:
///
/// ```text
/// φ_iuk ∝ exp(Σ_j s_iuj ln θ_kuj) exp(ψ(γ_ik) − ψ(Σγ_i))
/// ```
#[derive(Clone, Debug, Default)]
pub(crate) struct SoftRow {
    /// exp(Σ_j s_uj ln θ_kuj), K values for every base clustering that knows the object; θ itself where one share is 1.
    pub(crate) lines: Vec<f64>,
    /// 0, 1, … : the place of every base clustering that knows the object.
    pub(crate) places: Vec<usize>,
    /// How much each counts.
    pub(crate) counts: Vec<f64>,
    /// Where the shares of each start, and the end of the last.
    ends: Vec<usize>,
}

impl SoftRow {
    /// Reads the row of an object; `weights` has what a label of every base clustering counts, where they differ.
    pub(crate) fn read(
        &mut self,
        theta: &[f64],
        (shares, object): (&Memberships, usize),
        (offsets, weights): (&[usize], Option<&[f64]>),
    ) {
        let (own, values) = shares.row(object);
        let clusters = theta.len() / offsets[offsets.len() - 1];
        self.lines.clear();
        self.places.clear();
        self.counts.clear();
        self.ends.clear();
        self.ends.push(0);
        let mut at = 0;
        while at < own.len() {
            let base = offsets.partition_point(|&start| start <= own[at] as usize) - 1;
            let inside =
                |cluster: &&u32| (offsets[base]..offsets[base + 1]).contains(&(**cluster as usize));
            let end = at + own[at..].iter().take_while(inside).count();
            let line = |at: usize| &theta[own[at] as usize * clusters..][..clusters];
            if end == at + 1 {
                self.lines.extend_from_slice(line(at));
            } else {
                let log = |k: usize| {
                    (at..end)
                        .map(|at| values[at] * line(at)[k].ln())
                        .sum::<f64>()
                };
                self.lines.extend((0..clusters).map(|k| log(k).exp()));
            }
            self.places.push(self.places.len());
            self.counts
                .push(weights.map_or(1.0, |weights| weights[base]));
            self.ends.push(end);
            at = end;
        }
    }

    pub(crate) fn labels(&self) -> RowLabels<'_, &[f64]> {
        RowLabels {
            table: &self.lines,
            lines: &self.places,
            counts: &self.counts,
        }
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

impl Kept for BceParameters {
    type Form = Self;

    fn keep(self) -> Self {
        self
    }

    fn open(form: Self, of: &KeptOf<'_>) -> Option<Self> {
        of.fits(&form.theta, None, &form.alpha).then_some(form)
    }
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
        Self {
            geometric: vec![0.0; clusters],
            logs: vec![0.0; clusters],
            sums: vec![0.0; clusters],
        }
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

    /// Labels on these lines of θ.
    pub(crate) fn labels<'a, W>(&'a self, lines: &'a [usize], counts: W) -> RowLabels<'a, W> {
        RowLabels {
            table: &self.theta,
            lines,
            counts,
        }
    }

    /// Ascends γ of one row from where it is, and returns the bound on the row's log probability.
    pub(crate) fn infer<W: LabelWeights>(
        &self,
        row: RowLabels<'_, W>,
        gamma: &mut [f64],
        (rounds, tolerance): (u32, f64),
        s: &mut RowScratch,
    ) -> f64 {
        for _ in 0..rounds {
            s.expect(gamma);
            s.sums.fill(0.0);
            for (at, &line) in row.lines.iter().enumerate() {
                let inverse = row.counts.of(at) / row.normaliser(line, &s.geometric);
                let line = row.line(line, self.clusters());
                s.sums
                    .iter_mut()
                    .zip(line)
                    .for_each(|(sum, theta)| *sum += theta * inverse);
            }
            let mut change = 0f64;
            for (((g, alpha), sum), geometric) in gamma
                .iter_mut()
                .zip(&self.alpha)
                .zip(&s.sums)
                .zip(&s.geometric)
            {
                let new = alpha + geometric * sum;
                change = change.max((new - *g).abs());
                *g = new;
            }
            if change <= tolerance {
                break;
            }
        }
        self.bound(row, gamma, s)
    }

    /// The bound at γ and the best φ for it; leaves E ln π in the scratch.
    pub(crate) fn bound<W: LabelWeights>(
        &self,
        row: RowLabels<'_, W>,
        gamma: &[f64],
        s: &mut RowScratch,
    ) -> f64 {
        s.expect(gamma);
        let label = |(at, &line): (usize, &usize)| {
            row.counts.of(at) * row.normaliser(line, &s.geometric).ln()
        };
        let labels: f64 = row.lines.iter().enumerate().map(label).sum();
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

    /// γ before anything is known but how many labels there are.
    pub(crate) fn start(&self, labels: f64) -> Vec<f64> {
        let even = labels / self.clusters() as f64;
        self.alpha.iter().map(|alpha| alpha + even).collect()
    }

    /// Adds what is expected of a row that was inferred: labels by cluster, the bound as `log_sum`, E ln π_k as `sizes`.
    pub(crate) fn add_row<W: LabelWeights>(
        &self,
        (row, weight): (RowLabels<'_, W>, f64),
        bound: f64,
        scratch: &RowScratch,
        sums: &mut SufficientStatistics,
    ) {
        let clusters = self.clusters();
        Self::add_logs(bound, weight, scratch, sums);
        for (at, &line) in row.lines.iter().enumerate() {
            let scale = weight * row.counts.of(at) / row.normaliser(line, &scratch.geometric);
            let phi = row.line(line, clusters).iter().zip(&scratch.geometric);
            let counts = &mut sums.labels[line * clusters..][..clusters];
            counts
                .iter_mut()
                .zip(phi)
                .for_each(|(count, (theta, g))| *count += scale * theta * g);
        }
    }

    /// [`add_row`](Self::add_row) of soft base clusterings: a share of φ goes to each of the labels that have one.
    pub(crate) fn add_soft_row(
        &self,
        (row, (shares, object), weight): (&SoftRow, (&Memberships, usize), f64),
        bound: f64,
        scratch: &RowScratch,
        sums: &mut SufficientStatistics,
    ) {
        let (clusters, (own, values)) = (self.clusters(), shares.row(object));
        let labels = row.labels();
        Self::add_logs(bound, weight, scratch, sums);
        for (at, ends) in row.ends.windows(2).enumerate() {
            let scale = weight * row.counts[at] / labels.normaliser(at, &scratch.geometric);
            for (&line, share) in own[ends[0]..ends[1]].iter().zip(&values[ends[0]..ends[1]]) {
                let scale = share * scale;
                let phi = labels.line(at, clusters).iter().zip(&scratch.geometric);
                let counts = &mut sums.labels[line as usize * clusters..][..clusters];
                counts
                    .iter_mut()
                    .zip(phi)
                    .for_each(|(count, (theta, g))| *count += scale * theta * g);
            }
        }
    }

    fn add_logs(bound: f64, weight: f64, scratch: &RowScratch, sums: &mut SufficientStatistics) {
        sums.log_sum += weight * bound;
        sums.sizes
            .iter_mut()
            .zip(&scratch.logs)
            .for_each(|(sum, log)| *sum += weight * log);
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
        let model = BceParameters {
            alpha: fixture::vector(&told["alpha"]),
            theta: shares.theta,
        };
        let (gammas, bounds) = (
            fixture::matrix(&told["gamma"]),
            fixture::vector(&told["elbo_per_object"]),
        );
        let offsets = ensemble.offsets();
        for i in 0..24 {
            let lines: Vec<usize> = (0..12)
                .filter_map(|u| ensemble.label(i, u).map(|j| offsets[u] + j))
                .collect();
            // The stored values are those after 200 rounds, converged or not.
            let mut gamma = model.start(lines.len() as f64);
            let bound = model.infer(
                model.labels(&lines, Once),
                &mut gamma,
                (200, 0.0),
                &mut RowScratch::new(4),
            );
            fixture::assert_close(&gamma, gammas.row(i).as_slice().unwrap());
            fixture::assert_close(&[bound], &bounds[i..=i]);
        }
    }
}
