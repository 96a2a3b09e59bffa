//! What weights count: a base clustering of weight 2 is there twice, and an object of weight w is w copies, the pairs among which count too.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::num::NonZeroU32;

use partita_coassoc::copy_counts;
use partita_conformance::{draw, duplicated};
use partita_core::ndarray::{Array2, Axis};
use partita_core::{
    BaseWeights, Clusters, Ensemble, EnsembleBuilder, MemoryBudget, ObjectWeights, Problem, Seed,
    Shares, Silent, SoftPartition, Stopped, WeightedEnsemble, consense,
};
use partita_pcc::{
    Bregman, Dense, Descent, Evidence, Kl, L2, NormalisedCounts, PCC_KL, PCC_L2, PccSettings,
    Solver, Sparse, Start, WeightedPairs, beta, descend, measure,
};
use rand::RngExt;

/// Objects that stand for one to three, and the same ensemble with each of them as often.
struct Copied {
    ensemble: Ensemble,
    soft: SoftPartition,
    weights: Vec<f64>,
    all: Ensemble,
    all_soft: SoftPartition,
    /// The object of every copy.
    order: Vec<usize>,
}

impl Copied {
    fn of(ensemble: Ensemble, clusters: usize, seed: Seed) -> Self {
        let mut rng = seed.child(1).rng();
        let (objects, bases) = (ensemble.objects(), ensemble.bases().len() as u32);
        let times: Vec<usize> = (0..objects).map(|_| rng.random_range(1..4)).collect();
        let order: Vec<usize> = times
            .iter()
            .enumerate()
            .flat_map(|(i, &times)| vec![i; times])
            .collect();
        let chosen: Vec<u32> = order.iter().map(|&i| i as u32).collect();
        let soft = Start::random("", objects, clusters + 1, seed.child(2)).soft;
        let all_soft = SoftPartition::new(soft.rows().select(Axis(0), &order)).unwrap();
        let all = ensemble.select(&chosen, &(0..bases).collect::<Vec<u32>>());
        Self {
            ensemble,
            soft,
            weights: times.iter().map(|&times| times as f64).collect(),
            all,
            all_soft,
            order,
        }
    }

    /// A soft partition of the objects as one of the copies.
    fn copies(&self, soft: &SoftPartition) -> SoftPartition {
        SoftPartition::new(soft.rows().select(Axis(0), &self.order)).unwrap()
    }
}

fn copied(seed: u64) -> Copied {
    let drawn = draw(
        Seed::new(seed),
        if seed.is_multiple_of(2) { 0.0 } else { 0.3 },
    );
    Copied::of(drawn.ensemble, drawn.clusters, Seed::new(seed))
}

/// The same with shares in place of labels.
fn copied_soft(seed: u64) -> Copied {
    let mut rng = Seed::new(seed).rng();
    let objects = rng.random_range(5..20);
    let mut builder = EnsembleBuilder::new(objects);
    for u in 0..rng.random_range(2..6) {
        let clusters = rng.random_range(2..4);
        let mut shares =
            Array2::from_shape_simple_fn((objects, clusters), || rng.random_range(0.01..1.0));
        for (i, mut row) in shares.outer_iter_mut().enumerate() {
            let sum = if i == u { f64::INFINITY } else { row.sum() };
            row.mapv_inplace(|share| share / sum);
        }
        let values = (0..clusters).map(|j| j.to_string()).collect();
        builder
            .push_soft(format!("u{u}"), values, &Shares::new(shares).unwrap(), 8)
            .unwrap();
    }
    Copied::of(builder.finish().unwrap(), 3, Seed::new(seed))
}

fn dense<'a>(source: impl Into<WeightedEnsemble<'a>>) -> Dense {
    Dense::count(source, MemoryBudget::UNLIMITED, &Silent).unwrap()
}

/// All pairs, as a sample.
fn everybody(ensemble: &Ensemble) -> Sparse {
    let partners = ensemble.objects() as u32 - 1;
    Sparse::sample(
        ensemble,
        partners,
        Seed::new(1),
        MemoryBudget::UNLIMITED,
        &Silent,
    )
    .unwrap()
}

/// Counts with a copy as shares of the base clusterings that label the object, or in base clusterings.
fn with_copy(ensemble: &Ensemble, normalised: bool) -> Vec<(f64, f64)> {
    let soft = ensemble.memberships().is_some();
    let scale = if soft {
        ensemble.bases().len() as f64 / f64::from(1u32 << 31)
    } else {
        1.0
    };
    let counts = copy_counts(ensemble)
        .unwrap()
        .into_iter()
        .map(|(c, n)| (f64::from(c) * scale, f64::from(n) * scale));
    counts
        .map(|(c, n)| {
            if normalised {
                (if n > 0.0 { c / n } else { 0.0 }, f64::from(n > 0.0))
            } else {
                (c, n)
            }
        })
        .collect()
}

fn weighted<E: Evidence>(made: &Copied, evidence: E, normalised: bool) -> WeightedPairs<E> {
    WeightedPairs::new(
        evidence,
        &made.weights,
        &with_copy(&made.ensemble, normalised),
    )
}

fn close(found: f64, expected: f64, what: &str) {
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs(),
        "{what}: found {found}, expected {expected}"
    );
}

/// Holds objective and gradient of weights to those of copies.
fn is_that_of_copies<D: Bregman>(
    bregman: &D,
    made: &Copied,
    one: &dyn Evidence,
    two: &dyn Evidence,
) {
    let (one, two) = (
        measure(bregman, one, &made.soft).unwrap(),
        measure(bregman, two, &made.all_soft).unwrap(),
    );
    assert!(one.objective > 0.0);
    close(one.objective, two.objective, "copies of objects");
    for (copy, &i) in made.order.iter().enumerate() {
        for (a, b) in one.gradient.row(i).iter().zip(two.gradient.row(copy)) {
            assert!(
                (a - made.weights[i] * b).abs() <= 1e-10 * (1.0 + a.abs()),
                "{a} {b} {}",
                made.weights[i]
            );
        }
    }
}

#[test]
fn an_object_of_weight_w_costs_what_w_copies_cost() {
    let middle = beta(1.5).unwrap();
    for seed in 0..60 {
        for made in [copied(seed), copied_soft(seed)] {
            let (one, all) = (&made.ensemble, &made.all);
            is_that_of_copies(&Kl, &made, &weighted(&made, dense(one), false), &dense(all));
            is_that_of_copies(
                &Kl,
                &made,
                &weighted(&made, everybody(one), false),
                &everybody(all),
            );
            is_that_of_copies(&L2, &made, &weighted(&made, dense(one), false), &dense(all));
            is_that_of_copies(
                &L2,
                &made,
                &weighted(&made, everybody(one), false),
                &everybody(all),
            );
            is_that_of_copies(
                &middle,
                &made,
                &weighted(&made, dense(one), false),
                &dense(all),
            );
            // Baum–Eagon counts every pair once.
            let normalised = weighted(&made, NormalisedCounts::new(dense(one)), true);
            is_that_of_copies(&L2, &made, &normalised, &NormalisedCounts::new(dense(all)));
        }
    }
}

/// Σ over pairs of objects and, with real weights, over the pairs among what each stands for, as it is written.
fn naive(
    d: impl Fn(f64, f64) -> f64,
    ensemble: &Ensemble,
    weights: &[f64],
    soft: &SoftPartition,
) -> f64 {
    let (bases, rows) = (ensemble.bases().len(), soft.rows());
    let mut sum = 0.0;
    for i in 0..ensemble.objects() {
        for j in 0..=i {
            let both =
                (0..bases).filter_map(|u| Some((ensemble.label(i, u)?, ensemble.label(j, u)?)));
            let both: Vec<bool> = both.map(|(a, b)| a == b).collect();
            let (c, n) = (
                both.iter().filter(|same| **same).count() as f64,
                both.len() as f64,
            );
            let pairs = if i == j {
                0.5 * (weights[i] * (weights[i] - 1.0)).max(0.0)
            } else {
                weights[i] * weights[j]
            };
            let p: f64 = rows
                .row(i)
                .iter()
                .zip(rows.row(j))
                .map(|(a, b)| a * b)
                .sum();
            sum += if n > 0.0 {
                pairs * n * d(c / n, p)
            } else {
                0.0
            };
        }
    }
    sum
}

#[test]
fn real_weights_count_by_the_same_formula() {
    let term = |x: f64, p: f64| if x > 0.0 { x * (x / p).ln() } else { 0.0 };
    for seed in 0..60 {
        let mut made = copied(seed);
        let mut rng = Seed::new(seed).child(3).rng();
        made.weights
            .iter_mut()
            .for_each(|weight| *weight = rng.random_range(0.2..4.0));
        let evidence = weighted(&made, dense(&made.ensemble), false);
        let (weights, soft) = (&made.weights, &made.soft);
        let kl = naive(
            |x, p| term(x, p) + term(1.0 - x, 1.0 - p),
            &made.ensemble,
            weights,
            soft,
        );
        close(measure(&Kl, &evidence, soft).unwrap().objective, kl, "kl");
        let l2 = naive(|x, p| (x - p) * (x - p), &made.ensemble, weights, soft);
        close(measure(&L2, &evidence, soft).unwrap().objective, l2, "l2");
    }
}

/// Of the maps of all objects, which are slow near the end, so many rounds.
fn settings(solver: Solver) -> PccSettings {
    let mut settings = PccSettings::default();
    let rounds = if matches!(solver, Solver::Em | Solver::Growth) {
        100
    } else {
        3000
    };
    (settings.solver, settings.rounds) = (solver, NonZeroU32::new(rounds).unwrap());
    settings
}

fn falls(run: &Descent, what: &str) {
    let rises = run
        .trace
        .windows(2)
        .position(|pair| pair[1] > pair[0] + 1e-11 * run.trace[0]);
    assert_eq!(rises, None, "{what}: {:?}", run.trace);
}

/// Runs a solver on weights. No round may raise the objective, and where it ends is an end of the copies too.
fn ends_where_copies_do<D: Bregman>(
    bregman: &D,
    made: &Copied,
    solver: Solver,
    dense_pairs: bool,
    what: &str,
) -> f64 {
    let one: &dyn Evidence = &weighted(made, dense(&made.ensemble), false);
    let some: &dyn Evidence = &weighted(made, everybody(&made.ensemble), false);
    let evidence = if dense_pairs { one } else { some };
    let run = descend(bregman, evidence, &made.soft, &settings(solver), &Silent).unwrap();
    falls(&run, what);
    let copies = measure(bregman, &dense(&made.all), &made.copies(&run.soft)).unwrap();
    close(
        copies.objective,
        measure(bregman, evidence, &run.soft).unwrap().objective,
        what,
    );
    if matches!(solver, Solver::Block | Solver::Greedy) {
        assert_eq!(run.stopped, Stopped::Converged, "{what}: {}", run.kkt_gap);
        assert!(
            copies.relative_gap <= 5e-5,
            "{what}: {}",
            copies.relative_gap
        );
    }
    copies.objective
}

#[test]
fn no_round_raises_the_objective_of_weights() {
    let middle = beta(1.5).unwrap();
    for seed in 0..40 {
        for (soft, made) in [(false, copied(seed)), (true, copied_soft(seed))] {
            for dense in [true, false] {
                let what =
                    |solver: Solver| format!("{solver:?}, seed {seed}, soft {soft}, dense {dense}");
                for solver in [Solver::Block, Solver::Greedy] {
                    ends_where_copies_do(&Kl, &made, solver, dense, &what(solver));
                    ends_where_copies_do(&L2, &made, solver, dense, &what(solver));
                    ends_where_copies_do(&middle, &made, solver, dense, &what(solver));
                }
                ends_where_copies_do(&Kl, &made, Solver::Em, dense, &what(Solver::Em));
                ends_where_copies_do(&L2, &made, Solver::Growth, dense, &what(Solver::Growth));
            }
        }
    }
}

/// All objects move at once, so that copies which start at one place stay at one, which is that of the weighted object.
#[test]
fn maps_of_all_objects_go_the_way_of_copies() {
    for seed in 0..40 {
        for made in [copied(seed), copied_soft(seed)] {
            let (one, all) = (
                weighted(&made, dense(&made.ensemble), false),
                dense(&made.all),
            );
            let mut few = settings(Solver::Em);
            few.rounds = NonZeroU32::new(30).unwrap();
            few.tolerance = 0.0;
            let [a, b] = [
                descend(&Kl, &one, &made.soft, &few, &Silent).unwrap(),
                descend(&Kl, &all, &made.all_soft, &few, &Silent).unwrap(),
            ];
            close(a.objective, b.objective, "em");
            few.solver = Solver::Growth;
            let [a, b] = [
                descend(&L2, &one, &made.soft, &few, &Silent).unwrap(),
                descend(&L2, &all, &made.all_soft, &few, &Silent).unwrap(),
            ];
            close(a.objective, b.objective, "growth");
        }
    }
}

/// The best of many random starts of the growth transform and of EM on literal copies is not better than the methods on weights.
#[test]
fn no_start_on_copies_is_better_than_the_method_on_weights() {
    for seed in 0..10 {
        let made = copied(seed);
        let (clusters, all) = (made.soft.clusters(), dense(&made.all));
        let weights = ObjectWeights::new(made.weights.clone()).unwrap();
        let mut problem = Problem::new(
            &made.ensemble,
            Clusters::Exactly(clusters.min(made.ensemble.objects())),
        );
        (problem.seed, problem.object_weights) = (Seed::new(seed), Some(&weights));
        let value = |found: partita_core::Outcome| found.objective.unwrap().value;
        let kl = value(consense(&PCC_KL, &problem, &Silent).unwrap());
        let l2 = value(consense(&PCC_L2, &problem, &Silent).unwrap());
        for start in 0..20 {
            let start = Start::random(
                "",
                made.all.objects(),
                clusters,
                Seed::new(seed).child(100 + start),
            )
            .soft;
            let em = descend(&Kl, &all, &start, &settings(Solver::Em), &Silent)
                .unwrap()
                .objective;
            assert!(
                kl <= em * (1.0 + 1e-4) + 1e-6,
                "seed {seed}: {kl}, and {em} by EM"
            );
            let growth = descend(&L2, &all, &start, &settings(Solver::Growth), &Silent)
                .unwrap()
                .objective;
            assert!(
                l2 <= growth * (1.0 + 1e-4) + 1e-6,
                "seed {seed}: {l2}, and {growth} by growth"
            );
        }
    }
}

#[test]
fn a_base_clustering_of_weight_two_is_there_twice() {
    for seed in 0..60 {
        let drawn = draw(
            Seed::new(seed),
            if seed.is_multiple_of(2) { 0.0 } else { 0.3 },
        );
        let (ensemble, bases) = (&drawn.ensemble, drawn.ensemble.bases().len());
        let mut weights = vec![1.0; bases];
        weights[0] = 2.0;
        let weights = BaseWeights::new(weights).unwrap();
        let twice = dense(&duplicated(ensemble, 0));
        let weighted = dense(WeightedEnsemble {
            base_weights: Some(&weights),
            ..ensemble.into()
        });
        let soft = Start::random(
            "",
            ensemble.objects(),
            drawn.clusters + 1,
            Seed::new(seed).child(2),
        )
        .soft;
        // The mean of weights is 1, so that they add up to the number of base clusterings that there are.
        let share = bases as f64 / (bases as f64 + 1.0);
        compared(&Kl, (&weighted, &twice), &soft, share);
        compared(&L2, (&weighted, &twice), &soft, share);
        compared(&beta(1.5).unwrap(), (&weighted, &twice), &soft, share);
        compared(
            &L2,
            (
                &NormalisedCounts::new(weighted),
                &NormalisedCounts::new(twice),
            ),
            &soft,
            1.0,
        );
    }
}

fn compared<D: Bregman>(
    bregman: &D,
    (one, two): (&dyn Evidence, &dyn Evidence),
    soft: &SoftPartition,
    share: f64,
) {
    let [one, two] = [one, two].map(|evidence| measure(bregman, evidence, soft).unwrap());
    close(one.objective, share * two.objective, "objective");
    let gradient: Array2<f64> = two.gradient * share;
    assert!(
        one.gradient
            .iter()
            .zip(&gradient)
            .all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs()))
    );
}
