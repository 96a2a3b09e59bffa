//! How near the methods come to the best value of their objectives: defaults beside plain reference implementations from many random
//! starts.
//!
//! [`compare`] runs a method at its defaults on one ensemble, and its reference (a page of code straight from the formulas, see
//! [`REFERENCES`]) from so many random starts. What is left between the two is the [`Gap`]. `cargo xtask bench optima` does so on drawn
//! and real ensembles and writes `docs/benchmarks/optima.md`.
//!

mod ensembles;
mod reference;
#[cfg(test)]
mod tests;

use anyhow::Result;
use partita::extend::rand::SeedableRng;
use partita::extend::rand::rngs::StdRng;
use partita::extend::{Problem, Sense, WeightedEnsemble, consense};
use partita::{Clusters, Silent};

pub use ensembles::{Case, Shape, drawn, drawn_with_doubt};
use reference::LabelTable;
pub use reference::{REFERENCES, Reference};

use crate::lab::thread_seconds;

/// A method's default beside the best of many random starts of its reference.
#[derive(Clone, Debug)]
pub struct Gap {
    /// Which ensemble.
    pub case: String,
    /// The objective that the method reached.
    pub reached: f64,
    /// The best objective of the reference.
    pub best: f64,
    /// By what share of the best value the method is worse than it; below 0 where it is better.
    pub gap: f64,
    /// Random starts of the reference.
    pub starts: usize,
    /// CPU seconds of the method, in one thread.
    pub seconds: f64,
}

/// Shares below this are rounding, or what a tolerance leaves.
pub const EVEN: f64 = 1e-5;

/// Measures one method on one ensemble. `starts` random starts of the reference, fewer where they would take more than `operations` steps
/// in all (but never fewer than 8); none where not even these are possible.
///
/// # Errors
/// Whatever the method says.
pub fn compare(
    reference: &Reference,
    case: &Case,
    (starts, operations): (usize, f64),
) -> Result<Option<Gap>> {
    let base_weights = case.base_weights.as_ref();
    let object_weights = case.object_weights.as_ref();
    let table = LabelTable::of(WeightedEnsemble {
        ensemble: &case.ensemble,
        base_weights,
        object_weights,
    });
    let cost = (reference.cost)(
        table.rows.len() as f64,
        table.sizes.len() as f64,
        case.clusters as f64,
    );
    let starts = starts.min((operations / cost) as usize);
    if starts < 8 {
        return Ok(None);
    }
    let method = partita::method(reference.method)?;
    let mut problem = Problem::new(&case.ensemble, Clusters::Exactly(case.clusters)).seed(1);
    (problem.weights, problem.object_weights) = (base_weights, object_weights);
    let begun = thread_seconds();
    let outcome = consense(method, &problem, &Silent)?;
    let seconds = thread_seconds() - begun;
    let objective = outcome
        .objective
        .expect("a method with a reference has an objective");
    let start =
        |at: usize| (reference.start)(&table, case.clusters, &mut StdRng::seed_from_u64(at as u64));
    let values = (0..starts).map(start);
    let better = |a: f64, b: f64| {
        if objective.sense == Sense::Maximise {
            a.max(b)
        } else {
            a.min(b)
        }
    };
    let best = values.reduce(better).expect("there are starts");
    let worse = if objective.sense == Sense::Maximise {
        best - objective.value
    } else {
        objective.value - best
    };
    // Objectives that can vanish are measured against one label in a thousand.
    let gap = worse / best.abs().max(1e-3 * table.count());
    let gap = if gap.abs() < EVEN { 0.0 } else { gap };
    Ok(Some(Gap {
        case: case.name.clone(),
        reached: objective.value,
        best,
        gap,
        starts,
        seconds,
    }))
}
