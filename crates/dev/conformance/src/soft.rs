//! Soft base clusterings: what every method that takes them guarantees, and how others refuse them.

use partita_core::ndarray::Array2;
use partita_core::{
    BaseWeights, Clusters, Consensus, ConsensusError, Ensemble, EnsembleBuilder, ObjectWeights,
    Outcome, Partition, Problem, Reads, Seed, SettingMap, Shares, Silent, SoftBases, consense,
};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::shape::shape;
use crate::weights::{ALIKE, agreement};

/// Soft ensembles drawn by [`check_soft`].
const DRAWS: u64 = 12;

/// Shares of objects in planted clusters.
#[derive(Clone, Debug)]
pub struct DrawnShares {
    /// One table a base clustering, objects × clusters.
    pub tables: Vec<Array2<f64>>,
    /// The planted cluster of every object.
    pub truth: Vec<u32>,
    /// Number of planted clusters.
    pub clusters: usize,
}

/// Draws soft base clusterings: 20 to 40 objects in 2 to 4 planted clusters, 5 to 9 tables of which each renames the clusters and gives
/// 55 to 95 % of an object to its own, a few rows unknown (never all of an object's).
pub fn draw_shares(seed: Seed) -> DrawnShares {
    let mut rng = seed.rng();
    let n = rng.random_range(20..=40);
    let clusters = rng.random_range(2..=4usize);
    let truth: Vec<u32> = (0..n).map(|i| (i % clusters) as u32).collect();
    let bases = rng.random_range(5..=9usize);
    let keep: Vec<usize> = (0..n).map(|_| rng.random_range(0..bases)).collect();
    let tables = (0..bases)
        .map(|u| table(&truth, clusters, |i| keep[i] == u, &mut rng))
        .collect();
    DrawnShares {
        tables,
        truth,
        clusters,
    }
}

fn table(
    truth: &[u32],
    clusters: usize,
    kept: impl Fn(usize) -> bool,
    rng: &mut impl Rng,
) -> Array2<f64> {
    let mut names: Vec<usize> = (0..clusters).collect();
    names.shuffle(rng);
    let mut table = Array2::zeros((truth.len(), clusters));
    for (i, &own) in truth.iter().enumerate() {
        if !kept(i) && rng.random_bool(0.1) {
            continue;
        }
        let rest: Vec<f64> = (0..clusters).map(|_| rng.random_range(0.01..1.0)).collect();
        let (own, share): (usize, f64) = (own as usize, rng.random_range(0.55..0.95));
        let sum: f64 = (0..clusters).filter(|&k| k != own).map(|k| rest[k]).sum();
        (0..clusters).for_each(|k| {
            table[[i, names[k]]] = if k == own {
                share
            } else {
                (1.0 - share) * rest[k] / sum
            }
        });
    }
    table
}

/// The ensemble of these tables.
///
/// # Panics
/// If they are not shares.
pub fn ensemble_of_shares<'a>(
    tables: impl IntoIterator<Item = (String, &'a Array2<f64>)>,
) -> Ensemble {
    let mut builder: Option<EnsembleBuilder> = None;
    for (name, table) in tables {
        let builder = builder.get_or_insert_with(|| EnsembleBuilder::new(table.nrows()));
        let values = (0..table.ncols()).map(|j| j.to_string()).collect();
        let shares = Shares::new(table.clone()).expect("rows that sum to 1");
        builder
            .push_soft(name, values, &shares, table.ncols())
            .expect("a soft base clustering");
    }
    builder
        .and_then(|builder| builder.finish().ok())
        .expect("an ensemble")
}

fn named(tables: &[Array2<f64>]) -> Ensemble {
    ensemble_of_shares(
        tables
            .iter()
            .enumerate()
            .map(|(u, table)| (format!("u{u}"), table)),
    )
}

/// Holds a method to what its info says of soft base clusterings, and returns how many guarantees were checked: the planted clusters
/// are found, the order of objects, base clusterings and columns changes nothing, a copy of a base clustering is weight 2, and equal
/// objects are one of the sum of their weights.
///
/// # Panics
/// With the method's name and the broken guarantee.
pub fn check_soft(method: &dyn Consensus, settings: &[&str]) -> usize {
    let settings = SettingMap::parse(settings).expect("settings of the form name=value");
    let mut checks = 0;
    let mut alike = 0.0;
    for seed in (0..DRAWS).map(Seed::new) {
        let drawn = draw_shares(seed);
        let given = named(&drawn.tables);
        match (
            find(method, &given, drawn.clusters, None, &settings),
            method.info().capabilities.soft_bases,
        ) {
            (Err(ConsensusError::SoftBases { reason, .. }), SoftBases::Refused(why)) => {
                assert!(
                    reason == why && !why.is_empty(),
                    "{}: soft bases are refused with a reason",
                    method.info().name
                );
                return 1;
            }
            // No table is drawn here: methods that read one are held to this by tests of their own.
            (Err(ConsensusError::Features { .. }), _)
                if method.info().capabilities.reads != Reads::Labels =>
            {
                return 1;
            }
            (Ok(outcome), SoftBases::Native) => {
                checks += shape(method, &outcome, &given, drawn.clusters);
                // A method that may use fewer clusters may find too little evidence for those that were planted.
                if !method.info().capabilities.clusters_is_maximum {
                    checks += planted(method, &outcome, &drawn);
                }
                alike += unchanged(method, &outcome, &drawn, &settings, seed) / DRAWS as f64;
                checks += weighted_objects(method, &drawn, &settings)
                    + equal_objects(method, &drawn, &settings);
            }
            (other, can) => panic!(
                "{}: soft bases are {can:?}, and answered by {other:?}",
                method.info().name
            ),
        }
    }
    assert!(
        alike > ALIKE,
        "{}: weight 2 is a copy for {alike} of the pairs",
        method.info().name
    );
    checks + 2
}

fn find(
    method: &dyn Consensus,
    ensemble: &Ensemble,
    clusters: usize,
    weights: Option<&BaseWeights>,
    settings: &SettingMap,
) -> Result<Outcome, ConsensusError> {
    assert!(
        method.info().capabilities.reads == Reads::Labels || weights.is_none(),
        "tables are not drawn here"
    );
    let mut problem = Problem::new(ensemble, Clusters::Exactly(clusters));
    problem.settings = settings.clone();
    problem.weights = weights;
    consense(method, &problem, &Silent)
}

/// Nine of ten objects are where they were planted.
fn planted(method: &dyn Consensus, outcome: &Outcome, drawn: &DrawnShares) -> usize {
    let labels = outcome.partition.labels();
    let pairs = || (0..labels.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let right = pairs()
        .filter(|&(i, j)| (labels[i] == labels[j]) == (drawn.truth[i] == drawn.truth[j]))
        .count();
    let share = right as f64 / pairs().count() as f64;
    assert!(
        share > 0.9,
        "{}: {share} of the pairs are as planted",
        method.info().name
    );
    1
}

/// Another order gives the same clusters, and a copy instead of a weight too; returned is the share of pairs on which the latter agree.
fn unchanged(
    method: &dyn Consensus,
    outcome: &Outcome,
    drawn: &DrawnShares,
    settings: &SettingMap,
    seed: Seed,
) -> f64 {
    let name = method.info().name;
    let mut rng = seed.child(1).rng();
    let n = drawn.truth.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut rng);
    let mut bases: Vec<usize> = (0..drawn.tables.len()).collect();
    bases.shuffle(&mut rng);
    let turned: Vec<Array2<f64>> = (bases.iter())
        .map(|&u| {
            let columns: Vec<usize> = (0..drawn.tables[u].ncols()).rev().collect();
            let axis = partita_core::ndarray::Axis;
            drawn.tables[u]
                .select(axis(0), &order)
                .select(axis(1), &columns)
        })
        .collect();
    let other = find(method, &named(&turned), drawn.clusters, None, settings)
        .expect("the same in another order");
    let back = Partition::new(outcome_in(&other, &order), drawn.clusters).expect("labels below K");
    let same = back.by_appearance() == outcome.partition.by_appearance();
    assert!(
        same,
        "{name}: order and names change nothing (seed {seed:?})"
    );
    if !method.info().capabilities.base_weights.are_taken() {
        return 1.0;
    }
    let mut twice = drawn.tables.clone();
    twice.push(drawn.tables[0].clone());
    let mut weights = vec![1.0; drawn.tables.len()];
    weights[0] = 2.0;
    let weights = BaseWeights::new(weights).expect("positive weights");
    let weighted = find(
        method,
        &named(&drawn.tables),
        drawn.clusters,
        Some(&weights),
        settings,
    )
    .expect("weights are native");
    let copied = find(method, &named(&twice), drawn.clusters, None, settings).expect("a copy more");
    let alike = agreement(&copied.partition, &weighted.partition);
    // The mean weight is 1, so that a copy is more evidence: with it a method that chooses the number of clusters may find more.
    let chooses = method.info().capabilities.clusters_is_maximum;
    assert!(
        alike == 1.0 || chooses,
        "{name}: a copy of a base clustering is weight 2 (seed {seed:?})"
    );
    alike
}

/// With shares too, objects of weight 1 that are equal to another are that one with the sum of the weights, to the bit.
fn weighted_objects(method: &dyn Consensus, drawn: &DrawnShares, settings: &SettingMap) -> usize {
    if !method.info().capabilities.object_weights.are_taken() {
        return 0;
    }
    let n = drawn.truth.len();
    let (order, copies) = repeated(drawn);
    let one = (0..n).map(|i| if i < 3 { 2.0 } else { 3.0 }).collect();
    let two = order
        .iter()
        .map(|&i| if i < 3 { 1.0 } else { 3.0 })
        .collect();
    let [one, two] =
        [(&drawn.tables, one), (&copies, two)].map(|(tables, weights): (_, Vec<f64>)| {
            let (ensemble, weights) = (
                named(tables),
                ObjectWeights::new(weights).expect("positive weights"),
            );
            let mut problem = Problem::new(&ensemble, Clusters::Exactly(drawn.clusters));
            (problem.settings, problem.object_weights) = (settings.clone(), Some(&weights));
            consense(method, &problem, &Silent).expect("weights of objects are native")
        });
    let first = Partition::from_values(&two.partition.labels()[..n]).by_appearance();
    let labels = first == one.partition.by_appearance();
    let firsts = two.probability().map(|of| of[..n].to_vec());
    let same = labels && firsts == one.probability();
    assert!(
        same,
        "{}: an object of weight 2 and two of weight 1 are the same",
        method.info().name
    );
    1
}

/// All objects and the first three again, and their tables.
fn repeated(drawn: &DrawnShares) -> (Vec<usize>, Vec<Array2<f64>>) {
    let order: Vec<usize> = (0..drawn.truth.len()).chain(0..3).collect();
    let tables = drawn
        .tables
        .iter()
        .map(|table| table.select(partita_core::ndarray::Axis(0), &order))
        .collect();
    (order, tables)
}

/// An outcome has every object where some are equal.
fn equal_objects(method: &dyn Consensus, drawn: &DrawnShares, settings: &SettingMap) -> usize {
    let copied = named(&repeated(drawn).1);
    let outcome =
        find(method, &copied, drawn.clusters, None, settings).expect("soft bases are taken");
    shape(method, &outcome, &copied, drawn.clusters)
}

/// Labels of objects that stand in this order, in the order of the objects.
fn outcome_in(outcome: &Outcome, order: &[usize]) -> Vec<u32> {
    let mut labels = vec![0; order.len()];
    order
        .iter()
        .zip(outcome.partition.labels())
        .for_each(|(&object, &label)| labels[object] = label);
    labels
}
