//! Diagnostics of Gibbs chains: convergence, modes, traces and warnings.

use std::collections::BTreeMap;

use partita_core::{
    CredibleBall, Objective, Outcome, Partition, Posterior, Sense, Stopped, shares_of_clusters,
};
use serde::Serialize;

use super::convergence::{effective_samples, r_hat};
use super::partition_loss::PartitionLoss;
use super::partition_samples::PartitionSamples;
use crate::nbce::likelihood::RowLikelihood;
use crate::shared::log_mean::LogMean;

/// The R-hat above which chains are said to disagree, and the effective draws below which there are too few.
const DISAGREE: f64 = 1.1;
const FEW_DRAWS: f64 = 100.0;
/// The kept draws below which shares of them are too coarse.
const FEW_KEPT: usize = 20;

/// What the chains saw.
#[derive(Clone, Debug)]
pub struct NbceDraws {
    /// The kept partitions of all chains, chain after chain.
    pub samples: PartitionSamples,
    /// How many of them are of each chain. Chains that were asked to stop have kept fewer.
    pub kept: Vec<usize>,
    /// ln p(z, labels), of every chain by sweep, burn-in included.
    pub log_joint: Vec<Vec<f64>>,
    /// Clusters in use, of every chain by sweep, burn-in included.
    pub clusters: Vec<Vec<u32>>,
    /// α0 and β at each kept partition.
    pub hyperparameters: Vec<(f64, f64)>,
    /// Split–merge moves that were taken, of all chains.
    pub moved: u64,
    /// Why the chains ended.
    pub stopped: Stopped,
}

/// Facts about what the chains saw.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NbceGibbsDiagnostics {
    /// How well the saved model explains the rows.
    #[serde(flatten)]
    pub fit: RowLikelihood,
    /// Split R-hat of the log joint after the burn-in: above 1.1 the chains disagree.
    pub r_hat: f64,
    /// Effective number of draws of the log joint: below 100 there are too few.
    pub effective_draws: f64,
    /// Partitions kept of all chains.
    pub kept: usize,
    /// Mean variation of information between the answer and the kept partitions, nats.
    pub expected_vi: f64,
    /// Mean share of pairs of objects that the answer and a kept partition disagree on.
    pub expected_binder: f64,
    /// Mean concentration α0 over the kept partitions.
    pub alpha0: f64,
    /// Mean label pseudo-count β over the kept partitions.
    pub beta: f64,
    /// Split–merge moves that were taken.
    pub moves_taken: u64,
    /// Clusters in use, of every chain by sweep, burn-in included.
    pub clusters_by_sweep: Vec<Vec<u32>>,
    /// Chains grouped by how near their best partitions are.
    pub modes: Vec<Mode>,
    /// The share of kept draws with each number of clusters.
    pub clusters_drawn: BTreeMap<usize, f64>,
    /// The ball around the result that holds 95 % of the kept draws, in variation of information.
    pub credible_ball: CredibleBall,
    /// ln p(labels) at the mean α0 and β, partitions summed by annealed importance sampling; none where it was not asked for.
    pub evidence: Option<LogMean>,
}

/// The share of the draws that the credible ball holds.
const LEVEL: f64 = 0.95;

/// Chains whose best partitions are near each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Mode {
    /// The chains, counted from 0.
    pub chains: Vec<usize>,
    /// Clusters of the best partition of the first of them.
    pub clusters: usize,
    /// Its log joint, nats.
    pub log_joint: f64,
    /// The mean log joint of all of them after the burn-in, nats.
    pub mean_log_joint: f64,
}

/// Traces, diagnostics and warnings.
pub(crate) fn with_diagnostics(
    mut outcome: Outcome<()>,
    fit: RowLikelihood,
    draws: NbceDraws,
    burn_in: u32,
) -> Outcome<NbceGibbsDiagnostics> {
    let after: Vec<Vec<f64>> = draws
        .log_joint
        .iter()
        .map(|chain| chain.iter().skip(burn_in as usize).copied().collect())
        .collect();
    let (r_hat, effective_draws) = (r_hat(&after), effective_samples(&after));
    if r_hat > DISAGREE {
        outcome.warnings.push(format!(
            "the chains disagree (R-hat of the log joint {r_hat:.2}): see details.modes, or set burn_in and sweeps higher"
        ));
    }
    if effective_draws.is_nan() {
        let sweeps = after.iter().map(Vec::len).min().unwrap_or(0);
        outcome.warnings.push(format!(
            "{sweeps} sweeps after the burn-in are too few to judge: set sweeps higher"
        ));
    } else if effective_draws < FEW_DRAWS {
        outcome.warnings.push(format!(
            "only {effective_draws:.0} effective draws of the log joint: set sweeps higher"
        ));
    }
    let kept = draws.samples.samples().len();
    if kept < FEW_KEPT {
        outcome.warnings.push(format!(
            "probabilities are shares of only {kept} kept draws: set keep and sweeps higher"
        ));
    }
    let best =
        (0..after.len()).max_by(|&a, &b| top(&after[a]).total_cmp(&top(&after[b])).then(b.cmp(&a)));
    let trace = draws.log_joint[best.expect("at least one chain")].clone();
    outcome.iterations = trace.len() as u64;
    outcome.objective = Some(Objective {
        name: "log joint of partition and labels, highest kept draw, nats",
        sense: Sense::Maximise,
        value: draws.samples.log_joint()[draws.samples.map()],
        trace,
    });
    let mean = |pick: fn(&(f64, f64)) -> f64| {
        draws.hyperparameters.iter().map(pick).sum::<f64>() / draws.hyperparameters.len() as f64
    };
    let ball = draws.samples.credible_ball(&outcome.partition, LEVEL);
    let memberships = draws.samples.memberships(&outcome.partition);
    outcome.posterior = Some(Posterior::new(
        draws.samples.samples().to_vec(),
        memberships,
        ball,
    ));
    let diagnostics = NbceGibbsDiagnostics {
        fit,
        r_hat,
        effective_draws,
        kept,
        expected_vi: draws
            .samples
            .expected_loss(PartitionLoss::Vi, &outcome.partition),
        expected_binder: draws
            .samples
            .expected_loss(PartitionLoss::Binder, &outcome.partition),
        alpha0: mean(|values| values.0),
        beta: mean(|values| values.1),
        moves_taken: draws.moved,
        modes: modes(&draws, &after),
        clusters_drawn: shares_of_clusters(
            draws.samples.samples().iter().map(Partition::live_clusters),
        ),
        credible_ball: ball,
        evidence: None,
        clusters_by_sweep: draws.clusters,
    };
    outcome.with(diagnostics)
}

pub(crate) fn top(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Chains grouped by how near their best kept partitions are: within 5 % of ln n of the first of the group.
fn modes(draws: &NbceDraws, after: &[Vec<f64>]) -> Vec<Mode> {
    let (samples, density) = (draws.samples.samples(), draws.samples.log_joint());
    let near = 0.05 * (samples[0].objects().max(2) as f64).ln();
    let alone = |s: usize| PartitionSamples::new(vec![samples[s].clone()], vec![0.0]);
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut start = 0;
    for (chain, kept) in draws.kept.iter().enumerate() {
        let best =
            (start..start + kept).fold(
                start,
                |best, s| if density[s] > density[best] { s } else { best },
            );
        start += kept;
        let close = |group: &&mut (usize, Vec<usize>)| {
            alone(group.0).expected_loss(PartitionLoss::Vi, &samples[best]) <= near
        };
        match groups.iter_mut().find(close) {
            Some(group) => group.1.push(chain),
            None => groups.push((best, vec![chain])),
        }
    }
    let mode = |(best, chains): (usize, Vec<usize>)| {
        let values: Vec<f64> = chains
            .iter()
            .flat_map(|&chain| after[chain].iter().copied())
            .collect();
        let mean_log_joint = values.iter().sum::<f64>() / values.len().max(1) as f64;
        Mode {
            chains,
            clusters: samples[best].live_clusters(),
            log_joint: density[best],
            mean_log_joint,
        }
    };
    groups.into_iter().map(mode).collect()
}
