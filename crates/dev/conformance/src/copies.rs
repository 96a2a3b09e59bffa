//! Weights and copies: whether a weight of 2 has the consensus of what is there twice.

use partita_core::ndarray::Axis;
use partita_core::{
    BaseWeights, Clusters, Consensus, Features, ObjectWeights, Outcome, Partition, Problem, Reads,
    Seed, SettingMap, Silent, consense,
};

use crate::checks::columns;
use crate::draw::{Drawn, draw, duplicated};

/// By what share objectives differ that are the same, but for the order of additions.
pub const ROUNDING: f64 = 1e-12;

/// In how many draws a weight of 2 has the consensus of what is there twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Twice {
    /// Draws.
    pub draws: usize,
    /// Where it is that of a base clustering: with the same labels and objective, or with others of the same objective to 1e-12.
    pub bases: usize,
    /// Where it is that of three objects: with the same labels.
    pub objects: usize,
    /// Where the objective of three objects is the same too.
    pub objectives: usize,
}

/// Compares a weight of 2 with being there twice, for a base clustering and for objects, on drawn ensembles, every other one with missing
/// labels. Objectives are compared as
/// they are, and as means: some are sums, over base clusterings or objects. They are to be the same to a share of `near` where labels
/// are the same, and to [`ROUNDING`] where not.
///
/// # Panics
/// If there is no consensus.
pub fn twice(method: &dyn Consensus, settings: &[&str], near: f64, draws: u64) -> Twice {
    let settings = SettingMap::parse(settings).expect("settings of the form name=value");
    let mut found = Twice {
        draws: draws as usize,
        bases: 0,
        objects: 0,
        objectives: 0,
    };
    for number in 500..500 + draws {
        let drawn = draw(Seed::new(number), if number % 2 == 0 { 0.0 } else { 0.3 });
        let run = |drawn: &Drawn, of_bases: Option<Vec<f64>>, of_objects: Option<Vec<f64>>| {
            let columns = columns();
            let of_bases =
                of_bases.map(|weights| BaseWeights::new(weights).expect("positive weights"));
            let of_objects =
                of_objects.map(|weights| ObjectWeights::new(weights).expect("positive weights"));
            let mut problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
            (problem.seed, problem.settings) = (Seed::new(number), settings.clone());
            (problem.weights, problem.object_weights) = (of_bases.as_ref(), of_objects.as_ref());
            if method.info().capabilities.reads == Reads::LabelsAndFeatures {
                problem.features =
                    Some(Features::new(&columns, drawn.features.view()).expect("finite features"));
            }
            consense(method, &problem, &Silent)
                .unwrap_or_else(|error| panic!("{}: {error}", method.info().name))
        };
        let bases = drawn.ensemble.bases().len();
        let copied = Drawn {
            ensemble: duplicated(&drawn.ensemble, 0),
            ..drawn.clone()
        };
        let (one, two) = (
            run(&drawn, Some(first_twice(bases, 1)), None),
            run(&copied, None, None),
        );
        found.bases += usize::from(same(&one, &two, bases as f64 / (bases + 1) as f64, near));

        let objects = drawn.ensemble.objects();
        let (one, mut two) = (
            run(&drawn, None, Some(first_twice(objects, 3))),
            run(&with_copies(&drawn, 3), None, None),
        );
        two.partition = Partition::from_values(&two.partition.labels()[..objects]);
        found.objects +=
            usize::from(one.partition.by_appearance() == two.partition.by_appearance());
        found.objectives += usize::from(same(
            &one,
            &two,
            objects as f64 / (objects + 3) as f64,
            near,
        ));
    }
    found
}

/// Weights of 2 for the first, and of 1 for the others.
fn first_twice(count: usize, first: usize) -> Vec<f64> {
    (0..count)
        .map(|at| if at < first { 2.0 } else { 1.0 })
        .collect()
}

/// The same with the first objects again at the end.
fn with_copies(drawn: &Drawn, first: usize) -> Drawn {
    let order: Vec<usize> = (0..drawn.ensemble.objects()).chain(0..first).collect();
    let chosen: Vec<u32> = order.iter().map(|&i| i as u32).collect();
    let bases: Vec<u32> = (0..drawn.ensemble.bases().len() as u32).collect();
    Drawn {
        ensemble: drawn.ensemble.select(&chosen, &bases),
        truth: order.iter().map(|&i| drawn.truth[i]).collect(),
        features: drawn.features.select(Axis(0), &order),
        clusters: drawn.clusters,
    }
}

/// Whether the consensus of weights is that of the copies. Objectives are compared as they are, and as means:
/// `share` is what there is of base clusterings or objects without copies.
fn same(one: &Outcome, two: &Outcome, share: f64, near: f64) -> bool {
    let labels = one.partition.by_appearance() == two.partition.by_appearance();
    let (Some(one), Some(two)) = (&one.objective, &two.objective) else {
        return labels;
    };
    let apart =
        |b: f64| (one.value - b).abs() / one.value.abs().max(b.abs()).max(f64::MIN_POSITIVE);
    let apart = apart(two.value).min(apart(two.value * share));
    apart <= if labels { near } else { ROUNDING }
}
