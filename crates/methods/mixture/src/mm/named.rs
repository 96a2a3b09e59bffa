//! Named labels: EM of Dawid and Skene, in which clusters are the classes that label names stand for.

use std::sync::Arc;

use partita_core::ndarray::Array2;
use partita_core::{
    Assigned, BaseClustering, Confusion, Monitor, Row, RowBlock, RowFit, RowLabeller, RowMap,
    RowPass, RowProblem, SettingsError,
};
use serde::{Deserialize, Serialize};

use super::em::{MmDiagnostics, MmSettings, objective};
use super::vocabulary::Vocabulary;
use crate::error::MixtureError;
use crate::shared::expectation::expect;
use crate::shared::layout::BaseLayout;
use crate::shared::log_probabilities::LogProbabilities;
use crate::shared::multi_start::ascend;
use crate::shared::row_model::RowModel;
use crate::shared::row_passes::Places;
use crate::shared::shares::MixtureShares;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// Labels added where a base clustering names the class itself: tools are mostly right.
const RIGHT: f64 = 1.0;

/// The fit of labels that name classes, with the names and the confusion matrices in its details.
///
/// # Errors
/// [`MixtureError::Settings`] where no two base clusterings have a name in common.
pub(super) fn solve(
    problem: &RowProblem<'_>,
    settings: &MmSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<MmDiagnostics>, MixtureError> {
    let bases = problem.rows.bases();
    let vocabulary = Vocabulary::of(bases);
    if let Some(reason) = vocabulary.refusal(bases) {
        return Err(SettingsError::Unfit {
            name: "named",
            value: "true".into(),
            reason,
        }
        .into());
    }
    let clusters = vocabulary.len();
    let _span = tracing::info_span!("mm named", rows = problem.rows.rows(), clusters).entered();
    let (rows, layout) = (problem.passes(), BaseLayout::of(problem));
    let votes = rows.run(&SumVotes {
        classes: vocabulary.classes.clone(),
        layout: layout.clone(),
        clusters,
    })?;
    let fit = NamedFit {
        bases,
        layout,
        vocabulary,
        pseudo_count: settings.pseudo_count,
    };
    let offsets = &fit.layout.offsets;
    let limits = settings.limits().of_one_run();
    let progress = limits.progress(monitor, 0);
    let run = ascend(fit.maximise(&votes), limits, &progress, |state| {
        let sums = expect(&rows, offsets, state.logs.clone())?;
        Ok((sums.log_sum + fit.log_prior(state), fit.maximise(&sums)))
    })?;
    let state = run.result;
    let sums = expect(&rows, offsets, state.logs.clone())?;
    let named = |label: &usize| fit.vocabulary.classes[*label].is_some();
    let labels: f64 = (0..fit.vocabulary.classes.len())
        .filter(named)
        .map(|at| line_sum(&sums, at))
        .sum();
    let confusion = (0..bases.len()).map(|u| fit.confusion_of(&state, &sums, u));
    let details = MmDiagnostics {
        log_likelihood: sums.log_sum,
        perplexity: (-sums.log_sum / labels).exp(),
        objective_by_restart: vec![run.trace[run.trace.len() - 1]],
        names: Some(fit.vocabulary.names.clone()),
        confusion: Some(confusion.collect()),
    };
    let rule = NamedLabels {
        classes: fit.vocabulary.classes.clone(),
        offsets: offsets.clone(),
        logs: state.logs.clone(),
    };
    let mut found = RowFit::new(clusters, run.stopped, rule, details);
    found.iterations = run.trace.len() as u64;
    found.objective = Some(objective(run.trace));
    found.model = Some(Arc::new(fit.model(&state)));
    found.warnings = fit.vocabulary.warnings(bases);
    Ok(found)
}

/// Whether settings fix the number of clusters of these base clusterings, and at how many.
pub(super) fn fixed_clusters(settings: &MmSettings, bases: &[BaseClustering]) -> Option<usize> {
    settings.named.then(|| Vocabulary::of(bases).len().max(1))
}

/// Sums in which every row belongs to the classes by its votes.
#[derive(Serialize, Deserialize)]
pub(crate) struct SumVotes {
    /// The class of every label value, if it names one.
    classes: Vec<Option<usize>>,
    layout: BaseLayout,
    clusters: usize,
}

impl RowPass for SumVotes {
    type Sum = SufficientStatistics;
    const KIND: &'static str = "mixture/votes";

    fn zero(&self) -> SufficientStatistics {
        SufficientStatistics::zero(self.classes.len(), self.clusters)
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut SufficientStatistics) {
        let mut votes = vec![0.0; self.clusters];
        for (row, weight) in block.rows() {
            votes.fill(0.0);
            for entry in row.entries(&self.layout.offsets) {
                if let Some(class) = self.classes[entry.cluster] {
                    votes[class] += entry.share * self.layout.copies_of(entry.base);
                }
            }
            let all: f64 = votes.iter().sum();
            if all > 0.0 {
                votes.iter_mut().for_each(|votes| *votes *= weight / all);
            }
            sum.add(row.entries(&self.layout.offsets), &votes);
        }
    }
}

/// The most probable class of every row; all are as probable where no label names one.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct NamedLabels {
    classes: Vec<Option<usize>>,
    offsets: Vec<usize>,
    logs: LogProbabilities,
}

impl RowLabeller for NamedLabels {
    const KIND: &'static str = "mixture/named-labels";
}

impl RowMap for NamedLabels {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let places = Places((0..self.logs.clusters()).collect());
        places.assigned(block, |row, _, soft| {
            let mut entries = row.entries(&self.offsets);
            if entries.any(|entry| self.classes[entry.cluster].is_some()) {
                self.logs.memberships(row.entries(&self.offsets), soft);
            } else {
                soft.fill(1.0 / soft.len() as f64);
            }
        })
    }
}

struct NamedFit<'a> {
    bases: &'a [BaseClustering],
    layout: BaseLayout,
    vocabulary: Vocabulary,
    pseudo_count: f64,
}

/// Shares of the classes, and the confusion matrices where labels occur.
struct NamedState {
    /// π, and θ where labels occur: 1 for labels that say nothing.
    shares: MixtureShares,
    /// Labels of every base clustering and class after pseudo-labels, M lines of K.
    totals: Vec<f64>,
    logs: LogProbabilities,
}

impl NamedFit<'_> {
    /// Labels that are added to a label of a class.
    fn pseudo(&self, class: usize, label: usize) -> f64 {
        self.pseudo_count + if class == label { RIGHT } else { 0.0 }
    }

    /// The labels of a base clustering that name a class, with it.
    fn named(&self, u: usize) -> impl Iterator<Item = (usize, usize)> {
        let labels = self.layout.offsets[u]..self.layout.offsets[u + 1];
        labels.filter_map(|at| Some((at, self.vocabulary.classes[at]?)))
    }

    /// The M-step.
    fn maximise(&self, sums: &SufficientStatistics) -> NamedState {
        let k = self.vocabulary.len();
        let all: f64 = sums.sizes.iter().sum();
        let prior = sums.sizes.iter().map(|size| size / all).collect();
        let mut totals = vec![RIGHT + self.pseudo_count * k as f64; self.layout.len() * k];
        let mut theta = vec![1.0; sums.labels.len()];
        for (u, totals) in totals.chunks_exact_mut(k).enumerate() {
            for (at, _) in self.named(u) {
                totals
                    .iter_mut()
                    .zip(&sums.labels[at * k..(at + 1) * k])
                    .for_each(|(total, count)| *total += count);
            }
            for (at, label) in self.named(u) {
                for class in 0..k {
                    theta[at * k + class] =
                        (sums.labels[at * k + class] + self.pseudo(class, label)) / totals[class];
                }
            }
        }
        let shares = MixtureShares { prior, theta };
        NamedState {
            logs: shares.logs(&self.layout),
            shares,
            totals,
        }
    }

    /// θ of a base clustering for every class (lines) and label (columns) of the vocabulary.
    fn confusion(&self, state: &NamedState, u: usize) -> Array2<f64> {
        let k = self.vocabulary.len();
        let totals = &state.totals[u * k..(u + 1) * k];
        let mut found = Array2::from_shape_fn((k, k), |(class, label)| {
            self.pseudo(class, label) / totals[class]
        });
        for (at, label) in self.named(u) {
            (0..k).for_each(|class| found[[class, label]] = state.shares.theta[at * k + class]);
        }
        found
    }

    fn log_prior(&self, state: &NamedState) -> f64 {
        let of_base = |u: usize| {
            let confusion = self.confusion(state, u);
            let term = |((class, label), p): ((usize, usize), &f64)| match self.pseudo(class, label)
            {
                0.0 => 0.0,
                pseudo => pseudo * p.ln(),
            };
            self.layout.copies_of(u) * confusion.indexed_iter().map(term).sum::<f64>()
        };
        (0..self.layout.len()).map(of_base).sum()
    }

    fn confusion_of(&self, state: &NamedState, sums: &SufficientStatistics, u: usize) -> Confusion {
        let k = self.vocabulary.len();
        let right: f64 = self
            .named(u)
            .map(|(at, class)| sums.labels[at * k + class])
            .sum();
        let all: f64 = self.named(u).map(|(at, _)| line_sum(sums, at)).sum();
        let probabilities = self
            .confusion(state, u)
            .outer_iter()
            .map(|line| line.to_vec())
            .collect();
        let accuracy = if all > 0.0 { right / all } else { 0.0 };
        Confusion {
            name: self.bases[u].name().to_owned(),
            accuracy,
            probabilities,
        }
    }

    /// A model that knows every name in every base clustering.
    fn model(&self, state: &NamedState) -> RowModel {
        let all =
            |base: &BaseClustering| BaseClustering::new(base.name(), self.vocabulary.names.clone());
        let of_base = |u: usize| self.confusion(state, u).reversed_axes();
        let theta =
            (0..self.bases.len()).flat_map(|u| of_base(u).iter().copied().collect::<Vec<_>>());
        let shares = MixtureShares {
            prior: state.shares.prior.clone(),
            theta: theta.collect(),
        };
        let bases = self.bases.iter().map(all).collect();
        RowModel::of_shares(bases, shares, self.layout.copies.as_deref())
    }
}

/// Labels with this value in all clusters.
fn line_sum(sums: &SufficientStatistics, at: usize) -> f64 {
    let clusters = sums.clusters();
    sums.labels[at * clusters..(at + 1) * clusters].iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MM;
    use partita_core::{
        ClusterNames, Clusters, EnsembleBuilder, Method, Outcome, Problem, Seed, Silent,
    };
    use rand::RngExt;
    use std::num::NonZeroU32;

    fn fit(tools: &[Vec<Option<&str>>], settings: &MmSettings) -> Outcome<MmDiagnostics> {
        let mut builder = EnsembleBuilder::new(tools[0].len());
        for (u, labels) in tools.iter().enumerate() {
            builder
                .push(format!("tool{u}"), labels.iter().copied())
                .unwrap();
        }
        let ensemble = builder.finish().unwrap();
        MM.fit(&Problem::new(&ensemble, Clusters::Auto), settings, &Silent)
            .unwrap()
    }

    /// The M-step and E-step written out with full K × K matrices.
    fn reference(
        tools: &[Vec<Option<&str>>],
        names: &[&str],
        iterations: usize,
        c: f64,
    ) -> Vec<Vec<f64>> {
        let (n, k) = (tools[0].len(), names.len());
        let label = |u: usize, i: usize| {
            tools[u][i].and_then(|label| names.iter().position(|name| *name == label))
        };
        let mut soft: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let mut votes = vec![0.0; k];
                (0..tools.len())
                    .filter_map(|u| label(u, i))
                    .for_each(|class| votes[class] += 1.0);
                let sum: f64 = votes.iter().sum();
                votes.iter().map(|v| v / sum).collect()
            })
            .collect();
        for _ in 0..iterations {
            let prior: Vec<f64> = (0..k)
                .map(|a| soft.iter().map(|row| row[a]).sum::<f64>() / n as f64)
                .collect();
            let theta = |u: usize, a: usize, b: usize| {
                let count = |b: usize| {
                    (0..n)
                        .filter(|&i| label(u, i) == Some(b))
                        .map(|i| soft[i][a])
                        .sum::<f64>()
                };
                let pseudo = |b: usize| c + f64::from(u8::from(a == b));
                (count(b) + pseudo(b)) / (0..k).map(|b| count(b) + pseudo(b)).sum::<f64>()
            };
            soft = (0..n)
                .map(|i| {
                    let own = |a: usize| {
                        prior[a]
                            * (0..tools.len())
                                .filter_map(|u| Some(theta(u, a, label(u, i)?)))
                                .product::<f64>()
                    };
                    let all: f64 = (0..k).map(own).sum();
                    (0..k).map(|a| own(a) / all).collect()
                })
                .collect();
        }
        soft
    }

    #[test]
    fn rounds_agree_with_full_matrices() {
        let names = ["a", "b", "c"];
        let mut rng = Seed::new(3).rng();
        let mut label = |i: usize, right: f64| {
            let draw: f64 = rng.random();
            (draw > 0.1).then(|| {
                if rng.random::<f64>() < right {
                    names[i % 3]
                } else {
                    names[rng.random_range(0..2)]
                }
            })
        };
        let mut tools: Vec<Vec<Option<&str>>> = [0.9, 0.7, 0.6, 0.8]
            .map(|right| (0..30).map(|i| label(i, right)).collect())
            .to_vec();
        // One tool does not know c, and every object has a label.
        tools[1]
            .iter_mut()
            .filter(|label| **label == Some("c"))
            .for_each(|label| *label = Some("a"));
        tools.push(vec![Some("a"); 30]);
        for iterations in [1, 5] {
            let mut settings = MmSettings {
                named: true,
                tolerance: 0.0,
                ..MmSettings::default()
            };
            settings.iterations = NonZeroU32::new(iterations).unwrap();
            let found = fit(&tools, &settings).into_probabilities().unwrap();
            let told = reference(&tools, &names, iterations as usize, settings.pseudo_count);
            for (found, told) in found.outer_iter().zip(&told) {
                assert!(
                    found.iter().zip(told).all(|(a, b)| (a - b).abs() < 1e-9),
                    "{found} {told:?}"
                );
            }
        }
    }

    #[test]
    fn a_tool_that_is_always_wrong_is_found_out_and_silence_has_no_name() {
        let truth: Vec<&'static str> = (0..60).map(|i| ["B", "NK", "T"][i % 3]).collect();
        let swapped = |name: &'static str| match name {
            "B" => "T",
            "T" => "B",
            other => other,
        };
        let mut tools: Vec<Vec<Option<&str>>> =
            vec![truth.iter().map(|name| Some(*name)).collect(); 3];
        tools.push(
            truth
                .iter()
                .copied()
                .map(|name| Some(swapped(name)))
                .collect(),
        );
        tools.iter_mut().for_each(|labels| labels[59] = None);
        tools[2][59] = Some("Unknown");
        tools[0][0] = Some("T");
        let outcome = fit(
            &tools,
            &MmSettings {
                named: true,
                ..MmSettings::default()
            },
        );
        let trace = &outcome.objective.as_ref().unwrap().trace;
        assert!(
            trace
                .windows(2)
                .all(|pair| pair[1] >= pair[0] - 1e-9 * pair[0].abs()),
            "{trace:?}"
        );
        let classes = outcome.object_classes().unwrap();
        assert!(
            classes[..59]
                .iter()
                .zip(&truth)
                .all(|(found, told)| found == told),
            "{classes:?}"
        );
        assert_eq!(classes[59], ClusterNames::UNKNOWN);
        let wrong = &outcome.names.as_ref().unwrap().confusion()[3];
        assert!(
            wrong.accuracy < 0.4 && wrong.probabilities[0][2] > 0.9,
            "{wrong:?}"
        );
        assert!(
            outcome
                .warnings
                .iter()
                .any(|said| said.contains("'Unknown'")),
            "{:?}",
            outcome.warnings
        );
    }
}
