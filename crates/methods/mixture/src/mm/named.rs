//! Named labels: EM of Dawid and Skene, in which clusters are the classes that label names stand for.

use std::num::NonZeroU32;
use std::sync::Arc;

use partita_core::ndarray::Array2;
use partita_core::{
    BaseClustering, ClusterNames, Confusion, Monitor, Outcome, ProblemSize, SettingsError,
    SoftPartition,
};

use super::em::{MmDiagnostics, MmSettings, objective};
use super::vocabulary::Vocabulary;
use crate::error::MixtureError;
use crate::shared::log_probabilities::LogProbabilities;
use crate::shared::multi_start::{Limits, Run, ascend};
use crate::shared::row_model::RowModel;
use crate::shared::sufficient_statistics::SufficientStatistics;
use crate::shared::weighted_rows::WeightedRows;

/// Labels added where a base clustering names the class itself: tools are mostly right.
const RIGHT: f64 = 1.0;

/// The mixture of [`mm`](fn@crate::mm) whose clusters are the classes that labels name: labels of the same name are the same class in
/// all base clusterings, and θ_u is the confusion matrix of base clustering u.
///
/// ```text
/// maximise  Σ_i w_i ln Σ_k π_k Π_u θ_ukℓ(i,u)  +  Σ_ukl (c + [k = l]) ln θ_ukl        k, l = 1..K names
/// ```
///
/// Starts from the shares of votes of every object, and has one run: `restarts` is not used. Labels that say "unknown" count as
/// missing. An object without any label that names a class gets equal probabilities.
///
/// # Cost
/// O(distinct rows · M · K) time a round; K ΣJ numbers a sum, and K² M for the confusion matrices.
///
/// # Differences from the paper
/// One label on the diagonal of every confusion matrix and the pseudo-count everywhere; weights of base clusterings as in
/// [`mm`](fn@crate::mm).
///
/// # Errors
/// As [`mm`](fn@crate::mm), and [`MixtureError::Settings`] where no two base clusterings have a name in common.
///
/// # References
/// Dawid, Skene, *Maximum likelihood estimation of observer error-rates using the EM algorithm*, Applied Statistics 28, 1979.
#[doc(alias = "Dawid-Skene")]
#[doc(alias = "crowdsourcing")]
#[doc(alias = "confusion matrix")]
pub fn mm_named(
    rows: &WeightedRows<'_>,
    settings: &MmSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<MmDiagnostics>, MixtureError> {
    let bases = rows.ensemble().bases();
    let vocabulary = Vocabulary::of(bases);
    if let Some(reason) = vocabulary.refusal(bases) {
        return Err(SettingsError::Unfit {
            name: "named",
            value: "true".into(),
            reason,
        }
        .into());
    }
    let size = ProblemSize {
        clusters: vocabulary.len(),
        ..rows.size(vocabulary.len())
    };
    MixtureError::check(settings, &size)?;
    let _span = tracing::info_span!(
        "mm named",
        rows = rows.weights().len(),
        clusters = vocabulary.len()
    )
    .entered();
    let fit = NamedFit {
        rows,
        vocabulary,
        pseudo_count: settings.pseudo_count,
    };
    let limits = Limits {
        restarts: NonZeroU32::MIN,
        ..settings.limits()
    };
    let start = fit.maximise(&fit.votes());
    let run = ascend(start, limits, &limits.progress(monitor, 0), |state| {
        let sums = rows.expect(&state.logs);
        (sums.log_sum + fit.log_prior(state), fit.maximise(&sums))
    });
    Ok(fit.outcome(run, settings.threshold))
}

/// Whether settings fix the number of clusters of these base clusterings, and at how many.
pub(crate) fn fixed_clusters(settings: &MmSettings, bases: &[BaseClustering]) -> Option<usize> {
    settings.named.then(|| Vocabulary::of(bases).len().max(1))
}

struct NamedFit<'a> {
    rows: &'a WeightedRows<'a>,
    vocabulary: Vocabulary,
    pseudo_count: f64,
}

/// Shares of the classes, and the confusion matrices where labels occur.
struct NamedState {
    prior: Vec<f64>,
    /// Labels of every base clustering and class after pseudo-labels, M lines of K.
    totals: Vec<f64>,
    /// θ, ΣJ lines of K values; 1 for labels that say nothing.
    theta: Vec<f64>,
    logs: LogProbabilities,
}

impl NamedFit<'_> {
    /// Sums in which every row belongs to the classes by its votes.
    fn votes(&self) -> SufficientStatistics {
        let (ensemble, offsets) = (self.rows.ensemble(), self.rows.offsets());
        let weight = |u: usize| self.rows.base_weights().map_or(1.0, |weights| weights[u]);
        let vote = |line: &mut [f64], label: usize, u: usize, share: f64| {
            if let Some(class) = self.vocabulary.classes[label] {
                line[class] += share * weight(u);
            }
        };
        self.rows.given(self.vocabulary.len(), |i, line| {
            match ensemble.memberships() {
                Some(soft) => {
                    let (clusters, shares) = soft.row(i);
                    for (&label, &share) in clusters.iter().zip(shares) {
                        let label = label as usize;
                        vote(
                            line,
                            label,
                            offsets.partition_point(|&start| start <= label) - 1,
                            share,
                        );
                    }
                }
                None => (0..ensemble.bases().len())
                    .filter_map(|u| Some((u, ensemble.label(i, u)?)))
                    .for_each(|(u, j)| vote(line, offsets[u] + j, u, 1.0)),
            }
            let sum: f64 = line.iter().sum();
            if sum > 0.0 {
                line.iter_mut().for_each(|votes| *votes /= sum);
            }
        })
    }

    /// Labels that are added to a label of a class.
    fn pseudo(&self, class: usize, label: usize) -> f64 {
        self.pseudo_count + if class == label { RIGHT } else { 0.0 }
    }

    /// The M-step.
    fn maximise(&self, sums: &SufficientStatistics) -> NamedState {
        let (k, offsets) = (self.vocabulary.len(), self.rows.offsets());
        let all: f64 = sums.sizes.iter().sum();
        let prior: Vec<f64> = sums.sizes.iter().map(|size| size / all).collect();
        let mut totals = vec![RIGHT + self.pseudo_count * k as f64; (offsets.len() - 1) * k];
        let mut theta = vec![1.0; sums.labels.len()];
        for (u, ends) in offsets.windows(2).enumerate() {
            let totals = &mut totals[u * k..(u + 1) * k];
            let named =
                || (ends[0]..ends[1]).filter_map(|at| Some((at * k, self.vocabulary.classes[at]?)));
            for (at, _) in named() {
                totals
                    .iter_mut()
                    .zip(&sums.labels[at..at + k])
                    .for_each(|(total, count)| *total += count);
            }
            for (at, label) in named() {
                for class in 0..k {
                    theta[at + class] =
                        (sums.labels[at + class] + self.pseudo(class, label)) / totals[class];
                }
            }
        }
        let logs = self.logs(&prior, &theta);
        NamedState {
            prior,
            totals,
            theta,
            logs,
        }
    }

    fn logs(&self, prior: &[f64], theta: &[f64]) -> LogProbabilities {
        let (k, offsets) = (prior.len(), self.rows.offsets());
        let mut lines: Vec<f64> = theta.iter().map(|p| p.ln()).collect();
        for (ends, weight) in offsets
            .windows(2)
            .zip(self.rows.base_weights().unwrap_or_default())
        {
            lines[ends[0] * k..ends[1] * k]
                .iter_mut()
                .for_each(|log| *log *= weight);
        }
        LogProbabilities {
            prior: prior.iter().map(|p| p.ln()).collect(),
            lines,
        }
    }

    /// θ of a base clustering for every class (lines) and label (columns) of the vocabulary.
    fn confusion(&self, state: &NamedState, u: usize) -> Array2<f64> {
        let (k, offsets) = (self.vocabulary.len(), self.rows.offsets());
        let totals = &state.totals[u * k..(u + 1) * k];
        let mut found = Array2::from_shape_fn((k, k), |(class, label)| {
            self.pseudo(class, label) / totals[class]
        });
        for at in offsets[u]..offsets[u + 1] {
            let Some(label) = self.vocabulary.classes[at] else {
                continue;
            };
            (0..k).for_each(|class| found[[class, label]] = state.theta[at * k + class]);
        }
        found
    }

    fn log_prior(&self, state: &NamedState) -> f64 {
        let bases = self.rows.offsets().len() - 1;
        let weight = |u: usize| self.rows.base_weights().map_or(1.0, |weights| weights[u]);
        let of_base = |u: usize| {
            let confusion = self.confusion(state, u);
            let term = |((class, label), p): ((usize, usize), &f64)| match self.pseudo(class, label)
            {
                0.0 => 0.0,
                pseudo => pseudo * p.ln(),
            };
            weight(u) * confusion.indexed_iter().map(term).sum::<f64>()
        };
        (0..bases).map(of_base).sum()
    }

    /// Whether a row has a label that names a class.
    fn has_evidence(&self, row: usize) -> bool {
        let (ensemble, offsets) = (self.rows.ensemble(), self.rows.offsets());
        let names = |label: usize| self.vocabulary.classes[label].is_some();
        match ensemble.memberships() {
            Some(soft) => soft.row(row).0.iter().any(|&label| names(label as usize)),
            None => (0..ensemble.bases().len()).any(|u| {
                ensemble
                    .label(row, u)
                    .is_some_and(|j| names(offsets[u] + j))
            }),
        }
    }

    fn outcome(&self, run: Run<NamedState>, threshold: f64) -> Outcome<MmDiagnostics> {
        let (state, bases, k) = (
            run.result,
            self.rows.ensemble().bases(),
            self.vocabulary.len(),
        );
        let mut soft = self.rows.memberships(&state.logs);
        let silent = (0..soft.nrows())
            .filter(|&row| !self.has_evidence(row))
            .collect::<Vec<_>>();
        silent
            .into_iter()
            .for_each(|row| soft.row_mut(row).fill(1.0 / k as f64));
        let sums = self.rows.expect(&state.logs);
        let confusion: Vec<Confusion> = (0..bases.len())
            .map(|u| self.confusion_of(&state, &sums, u))
            .collect();
        let named = |label: &usize| self.vocabulary.classes[*label].is_some();
        let labels: f64 = (0..self.vocabulary.classes.len())
            .filter(named)
            .map(|at| line_sum(&sums, at, k))
            .sum();
        let details = MmDiagnostics {
            log_likelihood: sums.log_sum,
            perplexity: (-sums.log_sum / labels).exp(),
            objective_by_restart: vec![run.trace[run.trace.len() - 1]],
            names: Some(self.vocabulary.names.clone()),
            confusion: Some(confusion.clone()),
        };
        let soft = SoftPartition::new(self.rows.expand(soft)).expect("normalised probabilities");
        let mut outcome = Outcome::soft(soft, run.stopped);
        outcome.rounds = run.trace.len() as u64;
        outcome.objective = Some(objective(run.trace));
        outcome.names = Some(ClusterNames::new(
            self.vocabulary.names.clone(),
            threshold,
            confusion,
        ));
        outcome.model = Some(Arc::new(self.model(&state)));
        outcome.warnings = self.vocabulary.warnings(bases);
        outcome.with(details)
    }

    fn confusion_of(&self, state: &NamedState, sums: &SufficientStatistics, u: usize) -> Confusion {
        let (k, offsets) = (self.vocabulary.len(), self.rows.offsets());
        let labels = || {
            (offsets[u]..offsets[u + 1]).filter_map(|at| Some((at, self.vocabulary.classes[at]?)))
        };
        let right: f64 = labels()
            .map(|(at, class)| sums.labels[at * k + class])
            .sum();
        let all: f64 = labels().map(|(at, _)| line_sum(sums, at, k)).sum();
        let probabilities = self
            .confusion(state, u)
            .outer_iter()
            .map(|line| line.to_vec())
            .collect();
        let accuracy = if all > 0.0 { right / all } else { 0.0 };
        Confusion {
            name: self.rows.ensemble().bases()[u].name().to_owned(),
            accuracy,
            probabilities,
        }
    }

    /// A model that knows every name in every base clustering.
    fn model(&self, state: &NamedState) -> RowModel {
        let bases = self.rows.ensemble().bases();
        let all =
            |base: &BaseClustering| BaseClustering::new(base.name(), self.vocabulary.names.clone());
        let theta = (0..bases.len()).flat_map(|u| {
            self.confusion(state, u)
                .reversed_axes()
                .iter()
                .copied()
                .collect::<Vec<_>>()
        });
        RowModel::from_parts(
            bases.iter().map(all).collect(),
            state.prior.clone(),
            theta.collect(),
        )
        .weighted(self.rows.base_weights())
    }
}

/// Labels with this value in all clusters.
fn line_sum(sums: &SufficientStatistics, at: usize, clusters: usize) -> f64 {
    sums.labels[at * clusters..(at + 1) * clusters].iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{EnsembleBuilder, Seed, Silent};
    use rand::RngExt;

    fn fit(tools: &[Vec<Option<&str>>], settings: &MmSettings) -> Outcome<MmDiagnostics> {
        let mut builder = EnsembleBuilder::new(tools[0].len());
        for (u, labels) in tools.iter().enumerate() {
            builder
                .push(format!("tool{u}"), labels.iter().copied())
                .unwrap();
        }
        mm_named(
            &WeightedRows::of(&builder.finish().unwrap()),
            settings,
            &Silent,
        )
        .unwrap()
    }

    /// The M-step and E-step written out with full K × K matrices.
    fn reference(
        tools: &[Vec<Option<&str>>],
        names: &[&str],
        rounds: usize,
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
        for _ in 0..rounds {
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
        for rounds in [1, 5] {
            let mut settings = MmSettings {
                named: true,
                tolerance: 0.0,
                ..MmSettings::default()
            };
            settings.rounds = NonZeroU32::new(rounds).unwrap();
            let found = fit(&tools, &settings).into_probabilities().unwrap();
            let told = reference(&tools, &names, rounds as usize, settings.pseudo_count);
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
