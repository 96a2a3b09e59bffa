//! Ensembles, evidence and runs that several tests need.

use std::num::NonZeroU32;

use partita_conformance::ensemble;
use partita_core::{Ensemble, MemoryBudget, Seed, Silent, SoftPartition, WeightedEnsemble};
use partita_pcc::{Bregman, Descent, Evidence, PccSettings, Solver, Start, descend};
use rand::{Rng, RngExt};

const BUDGET: MemoryBudget = MemoryBudget::UNLIMITED;

/// The ensemble of these columns of labels.
pub(crate) fn of_columns<C>(columns: impl IntoIterator<Item = C>) -> Ensemble
where
    C: IntoIterator<Item = Option<u32>>,
{
    let columns = columns.into_iter().enumerate();
    ensemble(columns.map(|(u, column)| (format!("u{u}"), column.into_iter().collect())))
}

/// Base clusterings of objects in turns in `clusters` clusters, of which a share has a label drawn from `labels`.
pub(crate) fn noisy(
    objects: u32,
    bases: usize,
    clusters: u32,
    noise: (f64, usize),
    rng: &mut impl Rng,
) -> Ensemble {
    let (share, labels) = noise;
    let mut label = |i: u32| {
        let drawn = rng.random_bool(share);
        Some(if drawn {
            rng.random_range(0..labels) as u32
        } else {
            i % clusters
        })
    };
    of_columns((0..bases).map(|_| (0..objects).map(&mut label).collect::<Vec<_>>()))
}

/// Evidence of all pairs.
pub(crate) fn all<'a>(source: impl Into<WeightedEnsemble<'a>>) -> Evidence {
    Evidence::count(source, BUDGET, &Silent).unwrap()
}

/// Evidence of some pairs.
pub(crate) fn some(ensemble: &Ensemble, partners: u32, seed: u64) -> Evidence {
    let pairs = (ensemble.objects() as u64 * u64::from(partners)).div_ceil(2);
    Evidence::sample(ensemble, pairs, Seed::new(seed), BUDGET, &Silent).unwrap()
}

/// A random soft partition.
pub(crate) fn random(objects: usize, clusters: usize, seed: Seed) -> SoftPartition {
    Start::random("", objects, clusters, seed).soft
}

pub(crate) fn settings(solver: Solver, iterations: u32, tolerance: f64) -> PccSettings {
    let mut settings = PccSettings::default();
    settings.solver = solver;
    settings.iterations = NonZeroU32::new(iterations).unwrap();
    settings.tolerance = tolerance;
    settings
}

/// A run, of which no iteration may raise the objective.
pub(crate) fn falling(
    divergence: &impl Bregman,
    evidence: &Evidence,
    start: &SoftPartition,
    settings: &PccSettings,
    what: &str,
) -> Descent {
    let run = descend(divergence, evidence, start, settings, &Silent).unwrap();
    let most = 1e-11 * run.trace[0];
    let rises = run
        .trace
        .windows(2)
        .position(|pair| pair[1] > pair[0] + most);
    assert_eq!(rises, None, "{what}: {:?}", run.trace);
    run
}
