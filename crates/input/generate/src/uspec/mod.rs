//! U-SPEC base clusterings (Huang and others 2020): spectral clustering of very many rows by way of representatives.
//!
//! ```text
//! p = 1000 representatives: centres of 10 iterations of k-means on 10·p rows
//! every row is joined to its q = 5 nearest representatives, B_ir = exp(−‖x_i − r‖² / (2σ²)), σ = mean distance
//! E = Bᵀ D⁻¹ B, D = diag(B 1);  V = the k leading eigenvectors of diag(E1)^−½ E diag(E1)^−½
//! k-means, 5 iterations from a start by k-means++, on the rows of D⁻¹ B diag(E1)^−½ V brought to length 1
//! ```
//! The nearest representatives are looked for among the neighbours of one near by: representatives are grouped, a row takes the nearest
//! group, its nearest member, and the nearest of that member's 51 neighbours. Twenty such base clusterings with 20 to 60 clusters each
//! are the ensemble that the paper calls U-SENC.
//!
//! # Differences from the paper
//! More than [`AXES`] clusters share as many eigenvectors: the paper has no more than 60 clusters. No affinity is below the machine
//! epsilon (there: none is 0). k-means runs for five iterations from one start, as in the paper's ensembles (its single clusterings
//! take 100 iterations and 3 starts), but starts by greedy k-means++ on 64 rows a cluster, not from random rows.
//!
//! # Cost
//! O(n·(√p + p/√p + 10q)·d) time to join the rows, O(n·k·min(k, 60)) an iteration of k-means, and O(p³) for the eigenvectors.
//! Memory: 30·n bytes a run and graphs of p × p. The table is read once for all runs that advance together, by blocks.
//!
//! # References
//! D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh: Ultra-scalable spectral clustering and ensemble clustering, IEEE
//! Transactions on Knowledge and Data Engineering 32(6), 2020.

mod iterations;
mod representatives;
mod transfer_cut;

use partita_core::ndarray::{ArrayView2, Axis};
use partita_core::{ProgressCounter, Stopped};
use partita_kmeans::{Members, compact};
use rayon::prelude::*;

use crate::base_run::BaseRun;
use crate::error::Result;
use crate::plan::{Plan, drawn};
use crate::run_context::Sink;
use crate::{Recipe, TableView};
use iterations::{ITERATIONS, grouped};
use representatives::{Joined, Representatives};
use transfer_cut::{Axes, GRAPHS, affinities, small_graph};

/// Representatives of a table that has so many rows.
const REPRESENTATIVES: usize = 1000;

/// Rows drawn for every representative.
const ROWS_EACH: usize = 10;

/// Most eigenvectors that rows are embedded by.
const AXES: usize = 60;

/// Bytes of joined rows that runs which advance together hold at most, where one run does not take more.
const TOGETHER_BYTES: usize = 2 << 30;

/// Rows that one thread joins at a time.
const BLOCK: usize = 4096;

/// One base clustering under way.
struct Run<'a> {
    plan: &'a Plan,
    members: Members,
    representatives: Representatives,
    joined: Vec<Joined>,
}

/// Bytes that the runs that advance together hold at once, at most.
pub(crate) fn bytes(rows: usize, runs: usize) -> u64 {
    let p = REPRESENTATIVES.min(rows);
    let one = (size_of::<Joined>() + 4) * rows + 8 * (GRAPHS + 6) * p * p;
    (one * together(rows).min(runs)) as u64
}

/// Runs that advance together: one a thread, if that does not take too much memory.
fn together(rows: usize) -> usize {
    let fits = TOGETHER_BYTES / (size_of::<Joined>() * rows).max(1);
    fits.clamp(1, rayon::current_num_threads())
}

/// The base clusterings of these plans by number; none for those that were not finished when the monitor said stop.
pub(crate) fn uspec(
    table: &TableView<'_>,
    recipe: &Recipe,
    plans: &[&Plan],
    sink: Sink<'_>,
) -> Result<Vec<(usize, Option<BaseRun>)>> {
    let progress = sink.progress;
    let mut found = Vec::with_capacity(plans.len());
    for plans in plans.chunks(together(table.dim().0)) {
        if progress.stopped() {
            found.extend(plans.iter().map(|plan| (plan.run, None)));
            continue;
        }
        let mut runs = begin(table, recipe, plans)?;
        table.each_group(|first, rows| {
            runs.iter_mut()
                .for_each(|run| run.join(first, rows, progress));
            Ok(())
        })?;
        let made: Result<Vec<_>> = runs
            .into_par_iter()
            .map(|run| {
                let plan = run.plan;
                let made = run.cut(progress)?;
                Ok((plan.run, made.map(|made| sink.kept(plan, made))))
            })
            .collect();
        found.extend(made?);
    }
    Ok(found)
}

/// Finds the representatives of every run.
fn begin<'a>(table: &TableView<'_>, recipe: &Recipe, plans: &[&'a Plan]) -> Result<Vec<Run<'a>>> {
    let n = table.dim().0;
    let members: Vec<Members> = plans.iter().map(|plan| drawn(recipe, n, plan).0).collect();
    let sample = |(plan, members): (&&Plan, &Members)| {
        members.thin(
            ROWS_EACH * representatives_of(members),
            &mut plan.seed.child(0).rng(),
        )
    };
    let samples: Vec<Members> = plans.iter().zip(&members).map(sample).collect();
    let samples = table.gather(&samples)?;
    let together: Vec<_> = plans.iter().copied().zip(members).zip(samples).collect();
    let run = |((plan, members), sample): ((&'a Plan, Members), _)| {
        let representatives =
            Representatives::of_sample(&sample, representatives_of(&members), plan.seed.child(1))?;
        Ok(Run {
            plan,
            members,
            representatives,
            joined: vec![Joined::NONE; n],
        })
    };
    together.into_par_iter().map(run).collect()
}

fn representatives_of(members: &Members) -> usize {
    REPRESENTATIVES.min(members.count())
}

impl Run<'_> {
    /// Joins rows of the table, which begin at `first`, to their nearest representatives.
    fn join(&mut self, first: usize, rows: ArrayView2<'_, f64>, progress: &ProgressCounter<'_>) {
        let members = &self.members;
        let representatives = &self.representatives;
        let joined = &mut self.joined[first..first + rows.nrows()];
        joined
            .par_chunks_mut(BLOCK)
            .zip(rows.axis_chunks_iter(Axis(0), BLOCK))
            .enumerate()
            .for_each(|(block, (joined, rows))| {
                if progress.stopped() {
                    return;
                }
                let mut single = vec![0.0; rows.ncols()];
                for ((i, row), joined) in
                    (first + block * BLOCK..).zip(rows.outer_iter()).zip(joined)
                {
                    if members.contains(i) {
                        representatives.write(row, &mut single);
                        *joined = representatives.nearest(&single);
                    }
                }
            });
    }

    /// Cuts the graph of the joined rows.
    fn cut(mut self, progress: &ProgressCounter<'_>) -> Result<Option<BaseRun>> {
        affinities(&mut self.joined, progress);
        let graph = small_graph(&self.joined, self.representatives.len(), progress);
        if progress.was_stopped() {
            return Ok(None);
        }
        let k = self.plan.k;
        let axes = Axes::of(&graph, k.min(AXES))?;
        drop(graph);
        let seed = self.plan.seed.child(2);
        let labels = grouped(&self.joined, &self.members, &axes, k, seed, progress);
        Ok(labels.map(|mut labels| {
            let clusters = compact(&mut labels);
            BaseRun {
                labels,
                clusters,
                inertia: None,
                iterations: ITERATIONS,
                stopped: Stopped::IterationLimit,
            }
        }))
    }
}
