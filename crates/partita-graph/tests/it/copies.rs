//! Copies of base clusterings and of objects make the graph that weights make.

use partita_conformance::draw;
use partita_core::{
    BaseWeights, Clusters, Consensus, Ensemble, ObjectWeights, Outcome, Partition, Problem, Seed, Silent, consense,
};
use partita_graph::{HGPA, MCLA};

fn found(method: &dyn Consensus, problem: &Problem<'_>) -> (Partition, f64) {
    let Outcome { partition, objective, .. } = consense(method, problem, &Silent).expect("there is a consensus");
    (partition, objective.expect("it has an objective").value)
}

/// Numbers from 1 to 3, and every place as often as its number says.
fn times(count: usize, seed: u64) -> (Vec<f64>, Vec<u32>) {
    let times: Vec<usize> = (0..count).map(|at| 1 + (at * 7 + seed as usize) % 3).collect();
    let all = times.iter().enumerate().flat_map(|(at, &times)| vec![at as u32; times]).collect();
    (times.iter().map(|&times| times as f64).collect(), all)
}

fn compared(method: &dyn Consensus, ensemble: &Ensemble, clusters: usize, seed: u64) {
    let (objects, bases) = (ensemble.objects(), ensemble.bases().len());
    let ((of_objects, all_objects), (of_bases, all_bases)) = (times(objects, seed), times(bases, seed));
    let copies = ensemble.select(&all_objects, &all_bases);
    let (of_bases, of_objects) = (BaseWeights::new(of_bases), ObjectWeights::new(of_objects));
    let (of_bases, of_objects) = (of_bases.expect("positive"), of_objects.expect("positive"));
    let mut problem = Problem::new(ensemble, Clusters::Exactly(clusters));
    (problem.seed, problem.weights, problem.object_weights) = (Seed::new(seed), Some(&of_bases), Some(&of_objects));
    let (weighted, one) = found(method, &problem);
    let mut problem = Problem::new(&copies, Clusters::Exactly(clusters));
    problem.seed = Seed::new(seed);
    let (copied, two) = found(method, &problem);
    let expanded: Vec<u32> = all_objects.iter().map(|&i| weighted.labels()[i as usize]).collect();
    assert_eq!(Partition::from_values(&expanded).by_appearance(), copied.by_appearance(), "seed {seed}");
    // Weights have a mean of 1 where only proportions count.
    let share = bases as f64 / all_bases.len() as f64;
    let apart = |b: f64| (one - b).abs() / one.abs().max(1.0);
    assert!(apart(two).min(apart(two * share)) < 1e-12, "seed {seed}: {one} {two}");
}

#[test]
fn copies_of_base_clusterings_and_objects_are_weights() {
    for seed in 0..40 {
        let drawn = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.2 });
        compared(&HGPA, &drawn.ensemble, drawn.clusters, seed);
        compared(&MCLA, &drawn.ensemble, drawn.clusters, seed);
    }
}
