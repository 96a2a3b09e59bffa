//! BCE over label rows that are not held: one row pass a round.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use partita_core::{
    Assigned, BaseClustering, BaseWeights, Mergeable, Monitor, PassRunner, Row, RowBlock, RowFit,
    RowLabeller, RowMap, RowPass, Seed,
};
use serde::{Deserialize, Serialize};

use super::inference::{BceParameters, RowScratch};
use super::model::BceModel;
use super::variational_em::{BceDiagnostics, BceSettings, PseudoCounts, compete, objective};
use crate::error::MixtureError;
use crate::shared::log_probabilities::{largest, lines_of};
use crate::shared::multi_start::best_over_rows;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// Rounds of γ of one row, and the change at which they end. No γ is kept from one pass to the next, so that a row needs
/// more rounds than one in memory, which goes on where it stood.
const ROW_ROUNDS: u32 = 100;
const ROW_TOLERANCE: f64 = 1e-4;

/// [`bce`](fn@crate::bce) over label rows that are not held.
///
/// Initializations compete on a sample of 32,768 different rows ([`RowSample`](partita_core::RowSample)), and the best goes
/// on with all rows, one pass a round. Where no more rows differ, the sample is all of them, and the best is the result. In
/// every pass the memberships of a row begin even, as those of new rows do under the saved model: the bound may fall by
/// what the inference of a row leaves open, which ends the fit.
///
/// # Cost
/// O(n M K) time for each of up to 100 rounds of γ within a round; the sample and a few tables of ΣJ · K numbers a thread.
///
/// # Errors
/// As [`bce`](fn@crate::bce), and [`MixtureError::Pass`] when rows cannot be read.
pub fn bce_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &BceSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<BceDiagnostics>, MixtureError> {
    let given = weights;
    let weights = given.map(|weights| weights.copies().to_vec());
    let bases = rows.source().bases();
    let _span = tracing::info_span!("bce", rows = rows.source().rows(), clusters).entered();
    let offsets = BaseClustering::offsets(bases);
    let pass = |parameters: &BceParameters| RowInference {
        offsets: offsets.clone(),
        parameters: parameters.clone(),
        weights: weights.clone(),
    };
    let pseudo = PseudoCounts {
        each: settings.pseudo_count,
        offsets: &offsets,
        weights: weights.as_deref(),
    };
    // Bound and labels of the parameters that are kept, which the last round has looked at.
    let last = Cell::new(None);
    let (run, objective_by_restart) = best_over_rows(
        (rows, given),
        (clusters, seed),
        (settings, settings.limits()),
        monitor,
        |sample, progress| {
            let (best, objectives) = compete(sample, clusters, seed, settings, progress);
            (best.map(|state| state.parameters), objectives)
        },
        |parameters| {
            let Expected {
                sums,
                weight,
                labels,
            } = rows.run(&pass(parameters))?;
            last.set(Some((sums.log_sum, labels)));
            let value = sums.log_sum + parameters.log_prior(&pseudo);
            Ok((
                value,
                parameters.next(sums, weight, &pseudo, settings.learn),
            ))
        },
    )?;
    let (parameters, assign) = (run.result.clone(), pass(&run.result));
    let (bound, labels) = match last.get() {
        Some(found) => found,
        None => rows
            .run(&assign)
            .map(|found| (found.sums.log_sum, found.labels))?,
    };
    let details = BceDiagnostics {
        alpha: parameters.alpha.clone(),
        log_likelihood_bound: bound,
        perplexity_bound: (-bound / labels).exp(),
        objective_by_restart,
    };
    let mut fit = RowFit::new(clusters, run.stopped, assign, details);
    (fit.rounds, fit.objective) = (run.trace.len() as u64, Some(objective(run.trace)));
    fit.model = Some(Arc::new(BceModel {
        bases: bases.to_vec(),
        parameters,
        weights,
    }));
    Ok(fit)
}

/// The inference of memberships: summed, the E-step; by row, the labels.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct RowInference {
    offsets: Vec<usize>,
    parameters: BceParameters,
    /// What a label of every base clustering counts, where they differ.
    weights: Option<Vec<f64>>,
}

/// What is inferred of one row.
struct Inferred {
    /// What each label counts.
    counts: Vec<f64>,
    gamma: Vec<f64>,
    bound: f64,
    scratch: RowScratch,
}

impl RowInference {
    /// Hands every row's labels, weight and memberships to `take`; rows that occur again are inferred once.
    fn each<'a, R: Row<'a>>(
        &self,
        block: &RowBlock<'a, R>,
        mut take: impl FnMut((&[usize], f64), &Inferred),
    ) {
        let mut known: HashMap<Vec<usize>, Inferred> = HashMap::new();
        for (row, weight) in block.rows() {
            let lines: Vec<usize> = lines_of(row, &self.offsets).collect();
            if !known.contains_key(&lines) {
                known.insert(lines.clone(), self.infer(&lines));
            }
            take((&lines, weight), &known[&lines]);
        }
    }

    /// What each label counts.
    fn counts(&self, lines: &[usize]) -> Vec<f64> {
        let base = |line: usize| self.offsets.partition_point(|&start| start <= line) - 1;
        lines
            .iter()
            .map(|&line| {
                self.weights
                    .as_ref()
                    .map_or(1.0, |weights| weights[base(line)])
            })
            .collect()
    }

    fn infer(&self, lines: &[usize]) -> Inferred {
        let (counts, mut scratch) = (
            self.counts(lines),
            RowScratch::new(self.parameters.clusters()),
        );
        let (mut gamma, ends) = (
            self.parameters.start(counts.iter().sum()),
            (ROW_ROUNDS, ROW_TOLERANCE),
        );
        let bound = self.parameters.infer(
            self.parameters.labels(lines, &counts[..]),
            &mut gamma,
            ends,
            &mut scratch,
        );
        Inferred {
            counts,
            gamma,
            bound,
            scratch,
        }
    }
}

/// What the E-step finds.
#[derive(Serialize, Deserialize)]
pub(crate) struct Expected {
    /// As [`BceParameters::add_row`] adds them.
    sums: SufficientStatistics,
    /// Weight of all rows.
    weight: f64,
    /// Labels that are there, by weight.
    labels: f64,
}

impl Mergeable for Expected {
    fn merge(&mut self, other: Self) {
        self.sums.merge(other.sums);
        self.weight += other.weight;
        self.labels += other.labels;
    }
}

impl RowPass for RowInference {
    type Sum = Expected;
    const KIND: &'static str = "mixture/bce-expectation";

    fn zero(&self) -> Expected {
        let sums = SufficientStatistics::zero(
            self.offsets[self.offsets.len() - 1],
            self.parameters.clusters(),
        );
        Expected {
            sums,
            weight: 0.0,
            labels: 0.0,
        }
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Expected) {
        self.each(block, |(lines, weight), found| {
            let labels = self.parameters.labels(lines, &found.counts[..]);
            self.parameters
                .add_row((labels, weight), found.bound, &found.scratch, &mut sum.sums);
            sum.weight += weight;
            sum.labels += weight * lines.len() as f64;
        });
    }
}

impl RowLabeller for RowInference {
    const KIND: &'static str = "mixture/bce-memberships";
}

impl RowMap for RowInference {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let (mut assigned, mut soft) = (
            Assigned::default(),
            Vec::with_capacity(block.len() * self.parameters.clusters()),
        );
        self.each(block, |_, found| {
            let total: f64 = found.gamma.iter().sum();
            let best = largest(&found.gamma);
            assigned.labels.push(best as u32);
            assigned
                .certainty
                .push((found.gamma[best] / total).min(1.0));
            soft.extend(found.gamma.iter().map(|g| g / total));
        });
        assigned.soft = Some(soft);
        assigned
    }
}
