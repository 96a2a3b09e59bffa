//! What weights count: a base clustering of weight 2 is there twice, and an object of weight w is w copies, the pairs among which count too.

use partita_coassoc::copy_counts;
use partita_conformance::{draw, draw_shares, duplicated, ensemble_of_shares};
use partita_core::ndarray::Axis;
use partita_core::{
    BaseWeights, Clusters, Ensemble, ObjectWeights, Outcome, Problem, Seed, Silent, SoftPartition,
    Stopped, WeightedEnsemble, consense,
};
use partita_pcc::{
    Bregman, Evidence, Kl, L2, PCC_KL, PCC_L2, PccSettings, Solver, beta, descend, measure,
};
use rand::RngExt;

use crate::common::{all, falling, random, settings, some};

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
        let order: Vec<usize> = (0..objects).flat_map(|i| vec![i; times[i]]).collect();
        let chosen: Vec<u32> = order.iter().map(|&i| i as u32).collect();
        let soft = random(objects, clusters + 1, seed.child(2));
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

fn missing(seed: u64) -> f64 {
    if seed.is_multiple_of(2) { 0.0 } else { 0.3 }
}

fn copied(seed: u64) -> Copied {
    let drawn = draw(Seed::new(seed), missing(seed));
    Copied::of(drawn.ensemble, drawn.clusters, Seed::new(seed))
}

/// The same with shares in place of labels.
fn copied_soft(seed: u64) -> Copied {
    let drawn = draw_shares(Seed::new(seed));
    let tables = drawn.tables.iter().enumerate();
    let ensemble = ensemble_of_shares(tables.map(|(u, table)| (format!("u{u}"), table)));
    Copied::of(ensemble, drawn.clusters, Seed::new(seed))
}

/// All pairs, as a sample.
fn everybody(ensemble: &Ensemble) -> Evidence {
    some(ensemble, ensemble.objects() as u32 - 1, 1)
}

/// The evidence with the weights of objects.
fn weighted(made: &Copied, evidence: Evidence) -> Evidence {
    let ensemble = &made.ensemble;
    let mut scale = 1.0;
    if ensemble.memberships().is_some() {
        scale = ensemble.bases().len() as f64 / f64::from(1u32 << 31);
    }
    let counts = copy_counts(ensemble).unwrap().into_iter();
    let counts = counts.map(|(c, n)| (f64::from(c) * scale, f64::from(n) * scale));
    evidence.weighted(&made.weights, &counts.collect::<Vec<_>>())
}

fn close(found: f64, expected: f64, what: &str) {
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs(),
        "{what}: found {found}, expected {expected}"
    );
}

/// Holds objective and gradient of weights to those of copies.
fn is_that_of_copies(bregman: &impl Bregman, made: &Copied, one: &Evidence, two: &Evidence) {
    let one = measure(bregman, one, &made.soft).unwrap();
    let two = measure(bregman, two, &made.all_soft).unwrap();
    assert!(one.objective > 0.0);
    close(one.objective, two.objective, "copies of objects");
    for (copy, &i) in made.order.iter().enumerate() {
        for (a, b) in one.gradient.row(i).iter().zip(two.gradient.row(copy)) {
            let near = 1e-10 * (1.0 + a.abs());
            assert!((a - made.weights[i] * b).abs() <= near, "{a} {b}");
        }
    }
}

#[test]
fn an_object_of_weight_w_costs_what_w_copies_cost() {
    let middle = beta(1.5).unwrap();
    for seed in 0..60 {
        for made in [copied(seed), copied_soft(seed)] {
            let dense = weighted(&made, all(&made.ensemble));
            let of_copies = all(&made.all);
            is_that_of_copies(&Kl, &made, &dense, &of_copies);
            is_that_of_copies(&L2, &made, &dense, &of_copies);
            is_that_of_copies(&middle, &made, &dense, &of_copies);
            let sparse = weighted(&made, everybody(&made.ensemble));
            let of_copies = everybody(&made.all);
            is_that_of_copies(&Kl, &made, &sparse, &of_copies);
            is_that_of_copies(&L2, &made, &sparse, &of_copies);
            // Baum–Eagon counts every pair once.
            let normalised = weighted(&made, all(&made.ensemble).normalised());
            is_that_of_copies(&L2, &made, &normalised, &all(&made.all).normalised());
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
    let rows = soft.rows();
    let mut sum = 0.0;
    for i in 0..ensemble.objects() {
        for j in 0..=i {
            let mut c = 0.0;
            let mut n = 0.0;
            for u in 0..ensemble.bases().len() {
                if let (Some(a), Some(b)) = (ensemble.label(i, u), ensemble.label(j, u)) {
                    n += 1.0;
                    c += f64::from(a == b);
                }
            }
            let pairs = if i == j {
                0.5 * (weights[i] * (weights[i] - 1.0)).max(0.0)
            } else {
                weights[i] * weights[j]
            };
            if n > 0.0 {
                sum += pairs * n * d(c / n, rows.row(i).dot(&rows.row(j)));
            }
        }
    }
    sum
}

#[test]
fn real_weights_count_by_the_same_formula() {
    let term = |x: f64, p: f64| if x > 0.0 { x * (x / p).ln() } else { 0.0 };
    let kl = |x: f64, p: f64| term(x, p) + term(1.0 - x, 1.0 - p);
    let l2 = |x: f64, p: f64| (x - p) * (x - p);
    for seed in 0..60 {
        let mut made = copied(seed);
        let mut rng = Seed::new(seed).child(3).rng();
        made.weights.fill_with(|| rng.random_range(0.2..4.0));
        let evidence = weighted(&made, all(&made.ensemble));
        let expected = naive(kl, &made.ensemble, &made.weights, &made.soft);
        let found = measure(&Kl, &evidence, &made.soft).unwrap().objective;
        close(found, expected, "kl");
        let expected = naive(l2, &made.ensemble, &made.weights, &made.soft);
        let found = measure(&L2, &evidence, &made.soft).unwrap().objective;
        close(found, expected, "l2");
    }
}

/// Of the maps of all objects, which are slow near the end, so many iterations.
fn patient(solver: Solver) -> PccSettings {
    let map = matches!(solver, Solver::Em | Solver::Growth);
    settings(solver, if map { 100 } else { 3000 }, 1e-5)
}

/// Runs a solver on weights. No iteration may raise the objective, and where it ends is an end of the copies too.
fn ends_where_copies_do(
    bregman: &impl Bregman,
    made: &Copied,
    evidence: &Evidence,
    solver: Solver,
    what: &str,
) {
    let what = &format!("{solver:?}, {what}");
    let run = falling(bregman, evidence, &made.soft, &patient(solver), what);
    let copies = measure(bregman, &all(&made.all), &made.copies(&run.soft)).unwrap();
    let found = measure(bregman, evidence, &run.soft).unwrap();
    close(copies.objective, found.objective, what);
    if matches!(solver, Solver::Block | Solver::Greedy) {
        assert_eq!(run.stopped, Stopped::Converged, "{what}: {}", run.kkt_gap);
        let gap = copies.relative_gap;
        assert!(gap <= 5e-5, "{what}: {gap}");
    }
}

#[test]
fn no_round_raises_the_objective_of_weights() {
    let middle = beta(1.5).unwrap();
    for seed in 0..40 {
        for (soft, made) in [(false, copied(seed)), (true, copied_soft(seed))] {
            for dense in [true, false] {
                let count = if dense { all } else { everybody };
                let evidence = weighted(&made, count(&made.ensemble));
                let what = &format!("seed {seed}, soft {soft}, dense {dense}");
                for solver in [Solver::Block, Solver::Greedy] {
                    ends_where_copies_do(&Kl, &made, &evidence, solver, what);
                    ends_where_copies_do(&L2, &made, &evidence, solver, what);
                    ends_where_copies_do(&middle, &made, &evidence, solver, what);
                }
                ends_where_copies_do(&Kl, &made, &evidence, Solver::Em, what);
                ends_where_copies_do(&L2, &made, &evidence, Solver::Growth, what);
            }
        }
    }
}

/// All objects move at once, so that copies which start at one place stay at one, which is that of the weighted object.
#[test]
fn maps_of_all_objects_go_the_way_of_copies() {
    for seed in 0..40 {
        for made in [copied(seed), copied_soft(seed)] {
            let one = weighted(&made, all(&made.ensemble));
            let two = all(&made.all);
            let em = settings(Solver::Em, 30, 0.0);
            let a = descend(&Kl, &one, &made.soft, &em, &Silent).unwrap();
            let b = descend(&Kl, &two, &made.all_soft, &em, &Silent).unwrap();
            close(a.objective, b.objective, "em");
            let growth = settings(Solver::Growth, 30, 0.0);
            let a = descend(&L2, &one, &made.soft, &growth, &Silent).unwrap();
            let b = descend(&L2, &two, &made.all_soft, &growth, &Silent).unwrap();
            close(a.objective, b.objective, "growth");
        }
    }
}

/// Holds what a method found to the end of a map of all objects on copies.
fn no_worse(
    found: f64,
    bregman: &impl Bregman,
    evidence: &Evidence,
    start: &SoftPartition,
    map: Solver,
) {
    let run = descend(bregman, evidence, start, &patient(map), &Silent);
    let end = run.unwrap().objective;
    assert!(
        found <= end * (1.0 + 1e-4) + 1e-6,
        "{found}, and {end} by {map:?}"
    );
}

/// The best of many random starts of the growth transform and of EM on literal copies is not better than the methods on weights.
#[test]
fn no_start_on_copies_is_better_than_the_method_on_weights() {
    for seed in 0..10 {
        let made = copied(seed);
        let clusters = made.soft.clusters();
        let weights = ObjectWeights::new(made.weights.clone()).unwrap();
        let most = clusters.min(made.ensemble.objects());
        let mut problem = Problem::new(&made.ensemble, Clusters::Exactly(most));
        problem.seed = Seed::new(seed);
        problem.object_weights = Some(&weights);
        let value = |found: Outcome| found.objective.unwrap().value;
        let kl = value(consense(&PCC_KL, &problem, &Silent).unwrap());
        let l2 = value(consense(&PCC_L2, &problem, &Silent).unwrap());
        let copies = all(&made.all);
        for start in 100..120 {
            let start = random(made.all.objects(), clusters, Seed::new(seed).child(start));
            no_worse(kl, &Kl, &copies, &start, Solver::Em);
            no_worse(l2, &L2, &copies, &start, Solver::Growth);
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
        let twice = all(&duplicated(ensemble, 0));
        let weighted = all(WeightedEnsemble {
            base_weights: Some(&weights),
            ..ensemble.into()
        });
        let seed = Seed::new(seed).child(2);
        let soft = random(ensemble.objects(), drawn.clusters + 1, seed);
        // The mean of weights is 1, so that they add up to the number of base clusterings that there are.
        let share = bases as f64 / (bases as f64 + 1.0);
        compared(&Kl, &weighted, &twice, &soft, share);
        compared(&L2, &weighted, &twice, &soft, share);
        compared(&beta(1.5).unwrap(), &weighted, &twice, &soft, share);
        compared(&L2, &weighted.normalised(), &twice.normalised(), &soft, 1.0);
    }
}

fn compared(
    bregman: &impl Bregman,
    one: &Evidence,
    two: &Evidence,
    soft: &SoftPartition,
    share: f64,
) {
    let [one, two] = [one, two].map(|evidence| measure(bregman, evidence, soft).unwrap());
    close(one.objective, share * two.objective, "objective");
    for (a, b) in one.gradient.iter().zip(two.gradient * share) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()));
    }
}
