//! The solvers on drawn problems: monotone, in agreement with each other, and the same with any number of threads.

use partita_core::{Ensemble, Partition, Seed, Silent, SoftPartition, Stopped};
use partita_pcc::{
    Bregman, Descent, Evidence, Kl, L2, PccError, PccSettings, Solver, Start, base_starts, beta,
    descend, measure,
};
use rand::RngExt;

use crate::common::{all, falling, noisy, of_columns, random, settings, some};

/// Noisy copies of a planted partition, some labels missing.
fn drawn(seed: u64) -> (Ensemble, usize) {
    let mut rng = Seed::new(seed).rng();
    let objects = rng.random_range(6..40);
    let clusters: usize = rng.random_range(2..5);
    let noise = rng.random_range(0.0..0.5);
    let hidden = rng.random_range(0.0..0.3);
    let mut columns = Vec::new();
    for u in 0..rng.random_range(3..12) {
        let mut column = Vec::new();
        for i in 0..objects {
            let noisy = rng.random_bool(noise);
            let label = if noisy {
                rng.random_range(0..=clusters)
            } else {
                i % clusters
            };
            let shown = i == u || !rng.random_bool(hidden);
            column.push(shown.then_some(label as u32));
        }
        columns.push(column);
    }
    (of_columns(columns), clusters)
}

fn problem(seed: u64) -> (Evidence, SoftPartition) {
    let (ensemble, clusters) = drawn(seed);
    let start = random(ensemble.objects(), clusters + 1, Seed::new(seed).child(9));
    (all(&ensemble), start)
}

fn usual(solver: Solver) -> PccSettings {
    settings(solver, 400, 1e-5)
}

fn on_threads(threads: usize, run: impl Fn() -> Descent + Send + Sync) -> Descent {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(run)
}

/// Runs every solver from the same start and returns by how much block ends above greedy, relative.
fn compared(divergence: &impl Bregman, seed: u64) -> f64 {
    let (evidence, start) = problem(seed);
    let [block, greedy] = [Solver::Block, Solver::Greedy].map(|solver| {
        let what = format!("{solver:?} seed {seed}");
        let run = falling(divergence, &evidence, &start, &usual(solver), &what);
        assert_eq!(run.stopped, Stopped::Converged, "{what}: {}", run.kkt_gap);
        let again = measure(divergence, &evidence, &run.soft).unwrap();
        assert!((again.objective - run.objective).abs() <= 1e-9 * (1.0 + run.objective));
        assert!(again.relative_gap <= 1.1e-5, "{what}");
        run.objective
    });
    (block - greedy) / greedy.max(1e-6)
}

#[test]
fn the_objective_never_rises_and_the_solvers_agree() {
    let middle = beta(1.5).unwrap();
    let above = (0..80).flat_map(|seed| {
        let kl = compared(&Kl, seed);
        [kl, compared(&L2, seed), compared(&middle, seed)]
    });
    // The problem has several minima: from a random start the solvers may end in different ones.
    let apart = above.filter(|above| above.abs() > 1e-4).count();
    assert!(apart < 80, "{apart} of 240 ended in different minima");
}

#[test]
fn maps_of_all_objects_never_rise() {
    for seed in 0..200 {
        let (evidence, start) = problem(seed);
        let [em, growth] = [Solver::Em, Solver::Growth].map(|map| settings(map, 30, 1e-5));
        falling(&Kl, &evidence, &start, &em, &format!("EM seed {seed}"));
        falling(
            &L2,
            &evidence,
            &start,
            &growth,
            &format!("growth seed {seed}"),
        );
        let shares = evidence.normalised();
        falling(
            &L2,
            &shares,
            &start,
            &growth,
            &format!("growth of shares seed {seed}"),
        );
    }
}

#[test]
fn the_gradient_is_that_of_the_objective() {
    for seed in 0..20 {
        let (evidence, start) = problem(seed);
        differs(&Kl, &evidence, &start);
        differs(&L2, &evidence, &start);
        differs(&beta(1.3).unwrap(), &evidence, &start);
    }
}

fn differs(divergence: &impl Bregman, evidence: &Evidence, at: &SoftPartition) {
    let gradient = measure(divergence, evidence, at).unwrap().gradient;
    let h = 1e-6;
    if at.rows()[[1, 0]].min(at.rows()[[1, 1]]) <= h {
        return;
    }
    let [left, right] = [-h, h].map(|t| {
        let mut rows = at.rows().to_owned();
        rows[[1, 0]] += t;
        rows[[1, 1]] -= t;
        let moved = SoftPartition::new(rows).unwrap();
        measure(divergence, evidence, &moved).unwrap().objective
    });
    let found = gradient[[1, 0]] - gradient[[1, 1]];
    let expected = (right - left) / (2.0 * h);
    let near = 1e-4 * (1.0 + expected.abs());
    assert!((found - expected).abs() < near, "{found} {expected}");
}

#[test]
fn threads_change_no_bit() {
    // Large enough that groups of the block solver are shared between threads.
    let evidence = all(&noisy(700, 15, 8, (0.3, 9), &mut Seed::new(5).rng()));
    let start = random(700, 8, Seed::new(1));
    let [one, three] = [1, 3].map(|threads| {
        on_threads(threads, || {
            falling(&Kl, &evidence, &start, &usual(Solver::Block), "700 objects")
        })
    });
    assert_eq!(one.soft, three.soft);
    assert_eq!(one.trace, three.trace);
}

#[test]
fn sparse_evidence_of_all_pairs_is_the_dense_evidence() {
    for seed in 0..20 {
        let (ensemble, _) = drawn(seed);
        let (dense, start) = problem(seed);
        let sparse = some(&ensemble, ensemble.objects() as u32 - 1, 1);
        let [here, there] = [&dense, &sparse].map(|pairs| measure(&Kl, pairs, &start).unwrap());
        assert!((here.objective - there.objective).abs() < 1e-9 * here.objective);
        assert!((here.relative_gap - there.relative_gap).abs() < 1e-9);
        let mut gradients = here.gradient.iter().zip(&there.gradient);
        assert!(gradients.all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + a.abs())));
        for solver in [Solver::Block, Solver::Greedy] {
            let what = format!("{solver:?} seed {seed}");
            let [here, there] = [&dense, &sparse]
                .map(|pairs| falling(&L2, pairs, &start, &usual(solver), &what).objective);
            assert!((here - there).abs() <= 1e-6 * (1.0 + here), "{what}");
        }
    }
}

#[test]
fn sampled_pairs_are_solved_by_every_solver() {
    for seed in 0..60 {
        let (ensemble, clusters) = drawn(seed);
        let sparse = some(&ensemble, 4, seed);
        let start = random(ensemble.objects(), clusters, Seed::new(seed));
        for solver in [Solver::Block, Solver::Greedy] {
            let what = format!("sparse {solver:?} seed {seed}");
            let kl = falling(&Kl, &sparse, &start, &usual(solver), &what).kkt_gap;
            let l2 = falling(&L2, &sparse, &start, &usual(solver), &what).kkt_gap;
            // Few pairs leave flat valleys, along which KL may creep.
            assert!(kl < 1e-2 && l2 < 1e-4, "{what}: {kl} {l2}");
        }
    }
}

/// Objects that are left alone while their partners hardly move are seen by the certificate: block ends where greedy does.
#[test]
fn sampled_pairs_of_many_objects_end_in_order() {
    for seed in 0..3 {
        let ensemble = noisy(4000, 12, 3, (0.2, 4), &mut Seed::new(seed).rng());
        let sparse = some(&ensemble, 30, seed);
        let start = base_starts(&ensemble, 4).next().unwrap().soft;
        ends_in_order(&Kl, &sparse, &start, &format!("KL seed {seed}"));
        ends_in_order(&L2, &sparse, &start, &format!("L2 seed {seed}"));
    }
}

fn ends_in_order(divergence: &impl Bregman, sparse: &Evidence, start: &SoftPartition, what: &str) {
    let [one, two, three] = [1, 2, 3].map(|threads| {
        on_threads(threads, || {
            falling(divergence, sparse, start, &usual(Solver::Block), what)
        })
    });
    for more in [two, three] {
        assert_eq!((&one.soft, &one.trace), (&more.soft, &more.trace), "{what}");
    }
    let gap = measure(divergence, sparse, &one.soft).unwrap().relative_gap;
    assert!(
        one.stopped == Stopped::Converged && gap <= 1e-5,
        "{what}: gap {gap}"
    );
    let greedy = falling(divergence, sparse, start, &usual(Solver::Greedy), what).objective;
    assert!(
        one.objective <= greedy * (1.0 + 1e-6),
        "{what}: {} {greedy}",
        one.objective
    );
}

/// Two objects of a group that see much of each other once stepped to and fro, each as if the other stood still, and gained less than
/// was taken for rounding: three of these runs did not converge.
#[test]
fn partners_that_move_together_come_to_rest() {
    for seed in 0..12 {
        let ensemble = noisy(300, 40, 3, (0.1, 4), &mut Seed::new(seed).rng());
        let sparse = some(&ensemble, 8, seed);
        let start = base_starts(&ensemble, 4).next().unwrap().soft;
        let what = format!("seed {seed}");
        let run = falling(
            &L2,
            &sparse,
            &start,
            &settings(Solver::Block, 1000, 1e-9),
            &what,
        );
        assert_eq!(run.stopped, Stopped::Converged, "{what}: {}", run.kkt_gap);
    }
}

/// The objective that the block solver keeps by what iterations lower it by is that which counting all pairs finds.
#[test]
fn falls_of_squared_differences_on_sampled_pairs_add_up() {
    for seed in 0..40 {
        let (ensemble, clusters) = drawn(seed);
        let sparse = some(&ensemble, 5, seed);
        let start = random(ensemble.objects(), clusters, Seed::new(seed));
        let run = |iterations| {
            let settings = settings(Solver::Block, iterations, 1e-5);
            descend(&L2, &sparse, &start, &settings, &Silent).unwrap()
        };
        let whole = run(400);
        for iterations in 1..whole.iterations.min(12) {
            let part = run(iterations as u32).soft;
            let counted = measure(&L2, &sparse, &part).unwrap().objective;
            let kept = whole.trace[iterations as usize];
            assert!(
                (counted - kept).abs() <= 1e-11 * whole.trace[0],
                "seed {seed} iteration {iterations}: {counted} {kept}"
            );
        }
    }
}

#[test]
fn hard_starts_are_refused_where_they_are_infinitely_bad() {
    let (ensemble, _) = drawn(3);
    let evidence = all(&ensemble);
    let labels = (0..ensemble.objects() as u32).map(|i| i % 3).collect();
    let hard = SoftPartition::of(&Partition::new(labels, 3).unwrap());
    let settings = usual(Solver::Block);
    let error = descend(&Kl, &evidence, &hard, &settings, &Silent).unwrap_err();
    assert!(matches!(error, PccError::Infeasible { .. }), "{error}");
    falling(&L2, &evidence, &hard, &settings, "l2 from a hard start");
}

#[test]
fn evidence_that_is_all_equal_is_no_trouble() {
    for label in [0, 1] {
        let evidence = all(&of_columns([(0..9).map(|i| Some(i * label))]));
        for solver in [Solver::Block, Solver::Greedy] {
            let start = random(9, 3, Seed::new(2));
            let run = falling(&Kl, &evidence, &start, &usual(solver), "all equal");
            assert_eq!(run.stopped, Stopped::Converged);
        }
    }
}

/// By how much block ends above greedy, relative, from the planted partition.
fn above_greedy(divergence: &impl Bregman, seed: u64) -> f64 {
    let (ensemble, clusters) = drawn(seed);
    let evidence = all(&ensemble);
    let planted = (0..ensemble.objects()).map(|i| (i % clusters) as u32);
    let planted = Partition::new(planted.collect(), clusters).unwrap();
    let start = Start::softened("planted", &planted, clusters).soft;
    let [block, greedy] = [Solver::Block, Solver::Greedy].map(|solver| {
        let settings = settings(solver, 5000, 1e-8);
        let run = descend(divergence, &evidence, &start, &settings, &Silent);
        run.unwrap().objective
    });
    (block - greedy) / greedy.max(1e-6)
}

#[test]
fn block_ends_no_higher_than_greedy_in_the_same_basin() {
    let mut apart = 0;
    for seed in 0..100 {
        for above in [above_greedy(&Kl, seed), above_greedy(&L2, seed)] {
            // Beyond this they are in different basins, either of which may be the lower.
            if above.abs() > 1e-4 {
                apart += 1;
            } else {
                assert!(
                    above <= 1e-6,
                    "seed {seed}: block ends {above} above greedy"
                );
            }
        }
    }
    assert!(apart <= 20, "{apart} of 200 ended in different basins");
}
