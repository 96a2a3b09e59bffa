//! What weights count in the likelihood: a base clustering of weight 2 is there twice, and an object of weight w is w copies, the pairs
//! among which count too.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use partita_aspect::{Aspects, DyadCounts, PENCA, Start};
use partita_coassoc::{CoAssociation, SparseEvidence, copy_counts};
use partita_conformance::{draw, draw_shares, duplicated, ensemble_of_shares};
use partita_core::ndarray::{Array2, Axis};
use partita_core::{
    BaseWeights, Clusters, Ensemble, MemoryBudget, ObjectWeights, Problem, Seed, SettingMap,
    Silent, WeightedEnsemble, consense,
};
use rand::RngExt;

fn pairs<'a>(source: impl Into<WeightedEnsemble<'a>>) -> CoAssociation {
    CoAssociation::count(source, MemoryBudget::UNLIMITED, &Silent).unwrap()
}

/// All pairs, as a sample.
fn sampled(ensemble: &Ensemble) -> DyadCounts {
    let all = (0..ensemble.objects() as u32).flat_map(|i| (0..i).map(move |j| (i, j)));
    let all: Vec<(u32, u32)> = all.collect();
    let pairs = SparseEvidence::of_pairs(ensemble, &all, MemoryBudget::UNLIMITED, &Silent);
    DyadCounts::sparse(&pairs.unwrap())
}

fn close(found: f64, expected: f64) {
    let near = (found - expected).abs() <= 1e-12 * expected.abs();
    assert!(near, "found {found}, expected {expected}");
}

/// Objects that stand for one to three, and a model; the same ensemble with each of them as often, and the model in which the copies share
/// the probability of the object.
struct Copied {
    ensemble: Ensemble,
    weights: Vec<f64>,
    model: Aspects,
    all: Ensemble,
    order: Vec<usize>,
}

impl Copied {
    fn of(ensemble: Ensemble, clusters: usize, seed: Seed) -> Self {
        let mut rng = seed.child(1).rng();
        let objects = ensemble.objects();
        let bases = ensemble.bases().len() as u32;
        let times: Vec<u8> = (0..objects).map(|_| rng.random_range(1..4)).collect();
        let order = (0..objects).flat_map(|i| vec![i; times[i].into()]);
        let order: Vec<usize> = order.collect();
        let chosen: Vec<u32> = order.iter().map(|&i| i as u32).collect();
        let all = ensemble.select(&chosen, &(0..bases).collect::<Vec<u32>>());
        Self {
            ensemble,
            weights: times.into_iter().map(f64::from).collect(),
            model: Start::random("", objects, clusters + 1, seed).aspects,
            all,
            order,
        }
    }

    fn of_copies(&self, model: &Aspects) -> Aspects {
        let members = model.members();
        let shared =
            Array2::from_shape_fn(members.dim(), |(r, i)| members[[r, i]] / self.weights[i]);
        Aspects::new(model.shares(), shared.select(Axis(1), &self.order).view()).unwrap()
    }

    fn counts(&self) -> [DyadCounts; 2] {
        let with_copy = copy_counts(&self.ensemble).unwrap();
        let dense = DyadCounts::dense(&pairs(&self.ensemble));
        let counts = [dense, sampled(&self.ensemble)];
        counts.map(|counts| counts.weighted(&self.weights, &with_copy, false))
    }
}

/// How many labels are missing.
fn missing(seed: u64) -> f64 {
    if seed.is_multiple_of(2) { 0.0 } else { 0.3 }
}

fn copied(seed: u64) -> [Copied; 2] {
    let drawn = draw(Seed::new(seed), missing(seed));
    let soft = draw_shares(Seed::new(seed));
    let tables = soft.tables.iter().enumerate();
    let soft_ensemble = ensemble_of_shares(tables.map(|(u, table)| (format!("u{u}"), table)));
    [
        Copied::of(drawn.ensemble, drawn.clusters, Seed::new(seed)),
        Copied::of(soft_ensemble, soft.clusters, Seed::new(seed)),
    ]
}

#[test]
fn an_object_of_weight_w_is_as_likely_as_w_copies_and_a_round_of_em_is_theirs() {
    for seed in 0..40 {
        for made in copied(seed) {
            let all = [DyadCounts::dense(&pairs(&made.all)), sampled(&made.all)];
            for (counts, all) in made.counts().iter().zip(&all) {
                let mut one = made.model.clone();
                let mut two = made.of_copies(&one);
                close(counts.total(), all.total());
                for _ in 0..20 {
                    let before = one.log_likelihood(counts);
                    close(before, two.log_likelihood(all));
                    one = one.improved(counts);
                    two = two.improved(all);
                    let after = one.log_likelihood(counts);
                    assert!(after >= before - 1e-11 * before.abs(), "seed {seed}");
                }
                let difference = made.of_copies(&one).members() - two.members();
                assert!(difference.iter().all(|difference| difference.abs() < 1e-10));
            }
        }
    }
}

/// Σ over pairs of objects, and over the pairs among what each stands for, as it is written.
#[test]
fn real_weights_count_by_the_same_formula() {
    for seed in 0..40 {
        let [mut made, _] = copied(seed);
        let mut rng = Seed::new(seed).child(3).rng();
        made.weights.fill_with(|| rng.random_range(0.2..4.0));
        let members = made.model.members();
        let weights = &made.weights;
        let bases = made.ensemble.bases().len();
        let mut expected = 0.0;
        for i in 0..weights.len() {
            for j in 0..=i {
                let label = |i: usize, u: usize| made.ensemble.label(i, u);
                let together = |&u: &usize| label(i, u).is_some() && label(i, u) == label(j, u);
                let c = (0..bases).filter(together).count() as f64;
                let times = if i == j {
                    0.5 * (weights[i] * (weights[i] - 1.0)).max(0.0)
                } else {
                    weights[i] * weights[j]
                };
                let both = weights[i] * weights[j];
                let shares = made.model.shares().iter().enumerate();
                let chances = shares.map(|(r, p)| p * members[[r, i]] * members[[r, j]] / both);
                let chance: f64 = chances.sum();
                if c > 0.0 {
                    expected += times * c * chance.ln();
                }
            }
        }
        for counts in made.counts() {
            close(made.model.log_likelihood(&counts), expected);
        }
    }
}

/// The highest of many random starts of EM on literal copies is not above the method with as many random starts on weights.
#[test]
fn no_start_on_copies_is_likelier_than_the_method_on_weights() {
    for seed in 0..10 {
        let [made, _] = copied(seed);
        let clusters = made.model.shares().len();
        let weights = ObjectWeights::new(made.weights.clone()).unwrap();
        let mut problem = Problem::new(&made.ensemble, Clusters::Exactly(clusters));
        problem.seed = Seed::new(seed);
        problem.object_weights = Some(&weights);
        problem.settings = SettingMap::parse(&["restarts=30"]).unwrap();
        let found = consense(&PENCA, &problem, &Silent).unwrap();
        let found = found.objective.unwrap().value;
        let all = DyadCounts::dense(&pairs(&made.all));
        for start in 100..120 {
            let drawn = Seed::new(seed).child(start);
            let mut model = Start::random("", made.all.objects(), clusters, drawn).aspects;
            (0..200).for_each(|_| model = model.improved(&all));
            let copies = model.log_likelihood(&all);
            let least = copies - 1e-4 * copies.abs();
            assert!(
                found >= least,
                "seed {seed}: {found}, and {copies} on copies"
            );
        }
    }
}

#[test]
fn a_base_clustering_of_weight_two_is_there_twice() {
    for seed in 0..60 {
        let drawn = draw(Seed::new(seed), missing(seed));
        let ensemble = &drawn.ensemble;
        let bases = ensemble.bases().len();
        let mut weights = vec![1.0; bases];
        weights[0] = 2.0;
        let weights = BaseWeights::new(weights).unwrap();
        let twice = DyadCounts::dense(&pairs(&duplicated(ensemble, 0)));
        let mut weighted = WeightedEnsemble::from(ensemble);
        weighted.base_weights = Some(&weights);
        let weighted = DyadCounts::dense(&pairs(weighted));
        let clusters = drawn.clusters + 1;
        let model = Start::random("", ensemble.objects(), clusters, Seed::new(seed)).aspects;
        // The mean of weights is 1, so that they add up to the number of base clusterings that there are.
        let share = bases as f64 / (bases as f64 + 1.0);
        let expected = share * model.log_likelihood(&twice);
        close(model.log_likelihood(&weighted), expected);
        let difference = model.improved(&weighted).members() - model.improved(&twice).members();
        assert!(difference.iter().all(|difference| difference.abs() < 1e-12));
    }
}
