//! What weights count in the objective: a base clustering of weight 2 is there twice, and a pair counts the product of the weights of its
//! objects, without the pairs among what one object stands for.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use partita_conformance::{draw, duplicated};
use partita_core::ndarray::{Array2, Axis};
use partita_core::{BaseWeights, Ensemble, MemoryBudget, Seed, Silent, SoftPartition, WeightedEnsemble};
use partita_pcc::{Bregman, Dense, Evidence, Kl, L2, NormalisedCounts, Sparse, Start, WeightedPairs, beta, measure};
use rand::RngExt;

/// Objects that stand for one to three, and the same ensemble with each of them as often.
struct Copied {
    ensemble: Ensemble,
    soft: SoftPartition,
    weights: Vec<f64>,
    all: Ensemble,
    all_soft: SoftPartition,
}

fn copied(seed: u64) -> Copied {
    let drawn = draw(Seed::new(seed), if seed.is_multiple_of(2) { 0.0 } else { 0.3 });
    let (ensemble, mut rng) = (drawn.ensemble, Seed::new(seed).child(1).rng());
    let (objects, bases) = (ensemble.objects(), ensemble.bases().len() as u32);
    let times: Vec<usize> = (0..objects).map(|_| rng.random_range(1..4)).collect();
    let order: Vec<usize> = times.iter().enumerate().flat_map(|(i, &times)| vec![i; times]).collect();
    let chosen: Vec<u32> = order.iter().map(|&i| i as u32).collect();
    let soft = Start::random("", objects, drawn.clusters + 1, Seed::new(seed).child(2)).soft;
    let all_soft = SoftPartition::new(soft.rows().select(Axis(0), &order)).unwrap();
    let all = ensemble.select(&chosen, &(0..bases).collect::<Vec<u32>>());
    Copied { ensemble, soft, weights: times.iter().map(|&times| times as f64).collect(), all, all_soft }
}

fn dense<'a>(source: impl Into<WeightedEnsemble<'a>>) -> Dense {
    Dense::count(source, MemoryBudget::UNLIMITED, &Silent).unwrap()
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{what}: found {found}, expected {expected}");
}

/// Holds the objective of copies to that of weights and of the pairs among the copies of one object, which are always together:
/// `N_ii d(1, y_i·y_i)` each, where `N_ii` is what `labelled` makes of the number of base clusterings that label object i.
fn is_that_of_copies<D: Bregman, E: Evidence>(
    (bregman, cost): (&D, &dyn Fn(f64) -> f64),
    made: &Copied,
    evidence: impl Fn(&Ensemble) -> E,
    labelled: impl Fn(f64) -> f64,
) {
    let weighted = WeightedPairs::new(evidence(&made.ensemble), &made.weights);
    let one = measure(bregman, &weighted, &made.soft).unwrap().objective;
    let copies = measure(bregman, &evidence(&made.all), &made.all_soft).unwrap().objective;
    let bases = made.ensemble.bases().len();
    let among = |(i, times): (usize, &f64)| {
        let seen = (0..bases).filter(|&u| made.ensemble.label(i, u).is_some()).count();
        let together: f64 = made.soft.rows().row(i).iter().map(|y| y * y).sum();
        times * (times - 1.0) / 2.0 * labelled(seen as f64) * cost(together)
    };
    let among: f64 = made.weights.iter().enumerate().map(among).sum();
    assert!(among > 0.0);
    close(copies, one + among, "copies of objects");
}

#[test]
fn copies_of_objects_add_the_pairs_among_themselves_and_nothing_else() {
    let p = 1.5_f64;
    let power = |p: f64, a: f64, b: f64| a.powf(p) - b.powf(p) - p * b.powf(p - 1.0) * (a - b);
    let middle = beta(p).unwrap();
    for seed in 0..60 {
        let made = copied(seed);
        let everybody = |ensemble: &Ensemble| {
            let partners = ensemble.objects() as u32 - 1;
            Sparse::sample(ensemble, partners, Seed::new(1), MemoryBudget::UNLIMITED, &Silent).unwrap()
        };
        is_that_of_copies((&Kl, &|p| -p.ln()), &made, |e| dense(e), |n| n);
        is_that_of_copies((&Kl, &|p| -p.ln()), &made, everybody, |n| n);
        is_that_of_copies((&L2, &|p| (1.0 - p).powi(2)), &made, |e| dense(e), |n| n);
        is_that_of_copies((&middle, &|q| power(p, 1.0, q) + power(p, 0.0, 1.0 - q)), &made, |e| dense(e), |n| n);
        // Baum–Eagon counts every pair once.
        is_that_of_copies((&L2, &|p| (1.0 - p).powi(2)), &made, |e| NormalisedCounts::new(dense(e)), |_| 1.0);
    }
}

#[test]
fn a_base_clustering_of_weight_two_is_there_twice() {
    for seed in 0..60 {
        let drawn = draw(Seed::new(seed), if seed.is_multiple_of(2) { 0.0 } else { 0.3 });
        let (ensemble, bases) = (&drawn.ensemble, drawn.ensemble.bases().len());
        let mut weights = vec![1.0; bases];
        weights[0] = 2.0;
        let weights = BaseWeights::new(weights).unwrap();
        let twice = dense(&duplicated(ensemble, 0));
        let weighted = dense(WeightedEnsemble { base_weights: Some(&weights), ..ensemble.into() });
        let soft = Start::random("", ensemble.objects(), drawn.clusters + 1, Seed::new(seed).child(2)).soft;
        // The mean of weights is 1, so that they add up to the number of base clusterings that there are.
        let share = bases as f64 / (bases as f64 + 1.0);
        compared(&Kl, (&weighted, &twice), &soft, share);
        compared(&L2, (&weighted, &twice), &soft, share);
        compared(&beta(1.5).unwrap(), (&weighted, &twice), &soft, share);
        compared(&L2, (&NormalisedCounts::new(weighted), &NormalisedCounts::new(twice)), &soft, 1.0);
    }
}

fn compared<D: Bregman>(bregman: &D, (one, two): (&dyn Evidence, &dyn Evidence), soft: &SoftPartition, share: f64) {
    let [one, two] = [one, two].map(|evidence| measure(bregman, evidence, soft).unwrap());
    close(one.objective, share * two.objective, "objective");
    let gradient: Array2<f64> = two.gradient * share;
    assert!(one.gradient.iter().zip(&gradient).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs())));
}
