//! Splits of clusters in place of empty ones, those that no object is most probably in.
//!
//! A run that leaves clusters empty may have put two groups into one on the way; no single object then gains by leaving.
//! Every cluster is split in two, by the pair of its objects that is together least, and the run goes on from there. On data
//! that need no more clusters the halves grow together again.

use partita_core::ndarray::Array2;
use partita_core::{Monitor, ProgressCounter, SoftPartition, Stopped};

use crate::bregman::Bregman;
use crate::evidence::Evidence;
use crate::memberships::{Layout, Memberships};
use crate::pair_counts::LocalPairs;
use crate::settings::{PccSettings, Solver};
use crate::solvers::{Descent, Model, run};

/// A split has to lower the objective by this share: what a rough run leaves to gain is less.
const GAIN: f64 = 1e-3;
/// Of a cluster's probability, at most so much goes to one half.
const HALF: f64 = 0.9;
/// Splits tried, at most.
const TRIALS: usize = 16;
/// Units of progress of a trial.
const UNITS: u64 = 1000;

/// A run with a lower objective that fills empty clusters, if splits lead to one. Only where all pairs are known, and with the
/// block solver: the others are here to be compared with, and slow.
pub(crate) fn split_empty_clusters<D: Bregman>(
    model: &Model<'_, D>,
    from: &Descent,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Option<Descent> {
    let mut best: Option<Descent> = None;
    let progress = ProgressCounter::new(monitor, TRIALS as u64 * UNITS);
    let mut trials = 0;
    let mut tried = Vec::new();
    let fit = model.evidence.layout() == Layout::Columns && settings.solver == Solver::Block;
    while fit && trials < TRIALS {
        let now = best.as_ref().unwrap_or(from);
        let masses: Vec<f64> = now
            .soft
            .rows()
            .columns()
            .into_iter()
            .map(|c| c.sum())
            .collect();
        let mut largest_first: Vec<usize> = (0..masses.len()).collect();
        largest_first.sort_by(|&a, &b| masses[b].total_cmp(&masses[a]));
        let hard = now.soft.hard();
        let (full, empty): (Vec<usize>, Vec<usize>) = largest_first
            .into_iter()
            .partition(|&k| hard.labels().contains(&(k as u32)));
        let full = full.into_iter().find(|k| !tried.contains(k));
        let (Some(&empty), Some(cluster), Stopped::Converged) = (empty.last(), full, now.stopped)
        else {
            break;
        };
        trials += 1;
        tried.push(cluster);
        let Some(start) = split(model.evidence, &now.soft, cluster, empty) else {
            continue;
        };
        let table = Memberships::of(start.rows(), Layout::Columns);
        let end = run(model, table, settings, &progress.part(UNITS));
        if end.objective < now.objective * (1.0 - GAIN) {
            best = Some(end);
            tried.clear();
        }
    }
    best
}

/// Which of some objects, which rise, has the smallest value; of several the first.
fn least(values: &[f64], objects: &[usize]) -> Option<usize> {
    let objects = objects.iter().copied();
    objects.min_by(|&a, &b| values[a].total_cmp(&values[b]))
}

/// Divides a cluster's probabilities between it and an empty one: in proportion to how often an object is together with
/// either of two of its objects, one that is together with the others least, and the one least together with that.
fn split(
    evidence: &Evidence,
    soft: &SoftPartition,
    cluster: usize,
    empty: usize,
) -> Option<SoftPartition> {
    let rows = soft.rows();
    let table = Memberships::zeros(evidence.objects(), 1, Layout::Columns);
    let mut near = LocalPairs::new(1);
    let mut shares = |i: usize| evidence.pairs_of(i, &table, &mut near).1.shares();
    let members = (0..rows.nrows()).filter(|&i| rows[[i, cluster]] > 0.5);
    let members: Vec<usize> = members.collect();
    let mut together = vec![0.0; rows.nrows()];
    for &i in &members {
        let shares = shares(i).into_iter().zip(rows.column(cluster)).enumerate();
        let weighed = shares.map(|(j, (share, y))| evidence.times(j) * (share * y));
        together[i] = weighed.sum();
    }
    let one = least(&together, &members)?;
    let mut near_one = shares(one);
    near_one[one] = 1.0;
    let other = least(&near_one, &members)?;
    let mut near_other = shares(other);
    near_other[other] = 1.0;
    let mut halves: Array2<f64> = rows.to_owned();
    for (i, mut row) in halves.outer_iter_mut().enumerate() {
        let both = near_one[i] + near_other[i];
        let mut share = 0.5;
        if both > 0.0 {
            share = (near_one[i] / both).clamp(1.0 - HALF, HALF);
        }
        let whole = row[cluster] + row[empty];
        row[cluster] = share * whole;
        row[empty] = (1.0 - share) * whole;
    }
    (one != other).then(|| SoftPartition::new(halves).expect("what one loses the other gains"))
}
