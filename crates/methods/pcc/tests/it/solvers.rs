//! The solvers on drawn problems: monotone, in agreement with each other, and the same with any number of threads.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::num::NonZeroU32;

use partita_core::ndarray::Array2;
use partita_core::{Ensemble, EnsembleBuilder, MemoryBudget, Seed, Silent, SoftPartition, Stopped};
use partita_pcc::{
    Bregman, Dense, Descent, Kl, L2, NormalisedCounts, PccError, PccSettings, Solver, Sparse,
    Start, base_starts, beta, descend, measure,
};
use rand::RngExt;

/// Noisy copies of a planted partition, some labels missing.
fn drawn(seed: u64) -> (Ensemble, usize) {
    let mut rng = Seed::new(seed).rng();
    let (objects, clusters) = (rng.random_range(6..40), rng.random_range(2..5));
    let (noise, hidden) = (rng.random_range(0.0..0.5), rng.random_range(0.0..0.3));
    let mut builder = EnsembleBuilder::new(objects);
    for u in 0..rng.random_range(3..12) {
        let label = |i: usize| {
            if rng.random_bool(noise) {
                rng.random_range(0..clusters + 1)
            } else {
                i % clusters
            }
        };
        let mut labels: Vec<usize> = (0..objects).map(label).collect();
        let mut shown = |i: usize| {
            if i == u || !rng.random_bool(hidden) {
                Some(labels[i])
            } else {
                None
            }
        };
        let column: Vec<Option<usize>> = (0..objects).map(&mut shown).collect();
        builder.push(format!("u{u}"), column).unwrap();
        labels.clear();
    }
    (builder.finish().unwrap(), clusters)
}

fn problem(seed: u64) -> (Dense, SoftPartition) {
    let (ensemble, clusters) = drawn(seed);
    let evidence = Dense::count(&ensemble, MemoryBudget::UNLIMITED, &Silent).unwrap();
    let start = Start::random(
        "",
        ensemble.objects(),
        clusters + 1,
        Seed::new(seed).child(9),
    )
    .soft;
    (evidence, start)
}

fn settings(solver: Solver) -> PccSettings {
    let mut settings = PccSettings::default();
    (settings.solver, settings.rounds) = (solver, NonZeroU32::new(400).unwrap());
    settings
}

fn falls(run: &Descent, what: &str) {
    for (round, pair) in run.trace.windows(2).enumerate() {
        assert!(
            pair[1] <= pair[0] + 1e-11 * run.trace[0],
            "{what}: round {round} goes from {} to {}",
            pair[0],
            pair[1]
        );
    }
}

/// Runs every solver from the same start and returns by how much block ends above greedy, relative.
fn compared(divergence: &impl Bregman, seed: u64) -> f64 {
    let (evidence, start) = problem(seed);
    let [block, greedy] = [Solver::Block, Solver::Greedy].map(|solver| {
        let run = descend(divergence, &evidence, &start, &settings(solver), &Silent).unwrap();
        falls(&run, &format!("{solver:?} seed {seed}"));
        assert_eq!(
            run.stopped,
            Stopped::Converged,
            "{solver:?} seed {seed}: gap {}",
            run.kkt_gap
        );
        let again = measure(divergence, &evidence, &run.soft).unwrap();
        assert!((again.objective - run.objective).abs() <= 1e-9 * (1.0 + run.objective));
        assert!(again.relative_gap <= 1.1e-5, "{solver:?} seed {seed}");
        run
    });
    (block.objective - greedy.objective) / greedy.objective.max(1e-6)
}

#[test]
fn the_objective_never_rises_and_the_solvers_agree() {
    let mut apart = 0;
    let mut runs = 0;
    for seed in 0..80 {
        for above in [
            compared(&Kl, seed),
            compared(&L2, seed),
            compared(&beta(1.5).unwrap(), seed),
        ] {
            runs += 1;
            // The problem has several minima: from a random start the solvers may end in different ones.
            apart += i32::from(above.abs() > 1e-4);
        }
    }
    assert_eq!(runs, 240);
    assert!(apart < 80, "{apart} of 240 ended in different minima");
}

#[test]
fn em_never_rises() {
    for seed in 0..200 {
        let (evidence, start) = problem(seed);
        let mut settings = settings(Solver::Em);
        settings.rounds = NonZeroU32::new(30).unwrap();
        falls(
            &descend(&Kl, &evidence, &start, &settings, &Silent).unwrap(),
            &format!("EM seed {seed}"),
        );
    }
}

#[test]
fn the_growth_transform_never_rises() {
    for seed in 0..200 {
        let (evidence, start) = problem(seed);
        let mut settings = settings(Solver::Growth);
        settings.rounds = NonZeroU32::new(30).unwrap();
        let run = descend(&L2, &evidence, &start, &settings, &Silent).unwrap();
        falls(&run, &format!("growth seed {seed}"));
        let shares = descend(
            &L2,
            &NormalisedCounts::new(evidence),
            &start,
            &settings,
            &Silent,
        )
        .unwrap();
        falls(&shares, &format!("growth of shares seed {seed}"));
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

fn differs(divergence: &impl Bregman, evidence: &Dense, at: &SoftPartition) {
    let gradient = measure(divergence, evidence, at).unwrap().gradient;
    let (rows, h) = (at.rows().to_owned(), 1e-6);
    let moved = |t: f64| {
        let mut rows: Array2<f64> = rows.clone();
        (rows[[1, 0]], rows[[1, 1]]) = (rows[[1, 0]] + t, rows[[1, 1]] - t);
        measure(divergence, evidence, &SoftPartition::new(rows).unwrap())
            .unwrap()
            .objective
    };
    let h = if rows[[1, 0]].min(rows[[1, 1]]) > h {
        h
    } else {
        return;
    };
    let (found, expected) = (
        gradient[[1, 0]] - gradient[[1, 1]],
        (moved(h) - moved(-h)) / (2.0 * h),
    );
    assert!(
        (found - expected).abs() < 1e-4 * (1.0 + expected.abs()),
        "{found} {expected}"
    );
}

#[test]
fn threads_change_no_bit() {
    // Large enough that groups of the block solver are shared between threads.
    let mut builder = EnsembleBuilder::new(700);
    let mut rng = Seed::new(5).rng();
    for u in 0..15 {
        let noisy = |i: usize| {
            if rng.random_bool(0.3) {
                rng.random_range(0..9)
            } else {
                i % 8
            }
        };
        let labels: Vec<Option<usize>> = (0..700).map(noisy).map(Some).collect();
        builder.push(format!("u{u}"), labels).unwrap();
    }
    let evidence =
        Dense::count(&builder.finish().unwrap(), MemoryBudget::UNLIMITED, &Silent).unwrap();
    let start = Start::random("", 700, 8, Seed::new(1)).soft;
    let [one, three] = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| descend(&Kl, &evidence, &start, &settings(Solver::Block), &Silent).unwrap())
    });
    assert_eq!(one.soft, three.soft);
    assert_eq!(one.trace, three.trace);
    falls(&one, "700 objects");
}

#[test]
fn sparse_evidence_of_all_pairs_is_the_dense_evidence() {
    for seed in 0..20 {
        let (ensemble, _) = drawn(seed);
        let (dense, start) = problem(seed);
        let everybody = ensemble.objects() as u32 - 1;
        let sparse = Sparse::sample(
            &ensemble,
            everybody,
            Seed::new(1),
            MemoryBudget::UNLIMITED,
            &Silent,
        )
        .unwrap();
        let (here, there) = (
            measure(&Kl, &dense, &start).unwrap(),
            measure(&Kl, &sparse, &start).unwrap(),
        );
        assert!((here.objective - there.objective).abs() < 1e-9 * here.objective);
        assert!((here.relative_gap - there.relative_gap).abs() < 1e-9);
        assert!(
            here.gradient
                .iter()
                .zip(&there.gradient)
                .all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + a.abs()))
        );
        for solver in [Solver::Block, Solver::Greedy] {
            let [here, there] = [
                descend(&L2, &dense, &start, &settings(solver), &Silent).unwrap(),
                descend(&L2, &sparse, &start, &settings(solver), &Silent).unwrap(),
            ];
            assert!(
                (here.objective - there.objective).abs() <= 1e-6 * (1.0 + here.objective),
                "{solver:?} seed {seed}"
            );
        }
    }
}

#[test]
fn sampled_pairs_are_solved_by_every_solver() {
    for seed in 0..60 {
        let (ensemble, clusters) = drawn(seed);
        let sparse = Sparse::sample(
            &ensemble,
            4,
            Seed::new(seed),
            MemoryBudget::UNLIMITED,
            &Silent,
        )
        .unwrap();
        let start = Start::random("", ensemble.objects(), clusters, Seed::new(seed)).soft;
        for solver in [Solver::Block, Solver::Greedy] {
            let kl = descend(&Kl, &sparse, &start, &settings(solver), &Silent).unwrap();
            falls(&kl, &format!("sparse KL {solver:?} seed {seed}"));
            let l2 = descend(&L2, &sparse, &start, &settings(solver), &Silent).unwrap();
            falls(&l2, &format!("sparse L2 {solver:?} seed {seed}"));
            // Few pairs leave flat valleys, along which KL may creep.
            assert!(
                kl.kkt_gap < 1e-2 && l2.kkt_gap < 1e-4,
                "{solver:?} seed {seed}: {} {}",
                kl.kkt_gap,
                l2.kkt_gap
            );
        }
    }
}

/// Objects that are left alone while their partners hardly move are seen by the certificate: block ends where greedy does.
#[test]
fn sampled_pairs_of_many_objects_end_in_order() {
    for seed in 0..3 {
        let (mut rng, mut builder) = (Seed::new(seed).rng(), EnsembleBuilder::new(4000));
        for u in 0..12 {
            let noisy = |i: usize| {
                if rng.random_bool(0.2) {
                    rng.random_range(0..4)
                } else {
                    i % 3
                }
            };
            let labels: Vec<Option<usize>> = (0..4000).map(noisy).map(Some).collect();
            builder.push(format!("u{u}"), labels).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let sparse = Sparse::sample(
            &ensemble,
            30,
            Seed::new(seed),
            MemoryBudget::UNLIMITED,
            &Silent,
        )
        .unwrap();
        let start = base_starts(&ensemble, 4).next().unwrap().soft;
        ends_in_order(&Kl, &sparse, &start, &format!("KL seed {seed}"));
        ends_in_order(&L2, &sparse, &start, &format!("L2 seed {seed}"));
    }
}

/// Two objects of a group that see much of each other once stepped to and fro, each as if the other stood still, and gained less than
/// was taken for rounding: three of these runs did not converge.
#[test]
fn partners_that_move_together_come_to_rest() {
    for seed in 0..12 {
        let (mut rng, mut builder) = (Seed::new(seed).rng(), EnsembleBuilder::new(300));
        for u in 0..40 {
            let noisy = |i: usize| {
                if rng.random_bool(0.1) {
                    rng.random_range(0..4)
                } else {
                    i % 3
                }
            };
            builder
                .push(
                    format!("u{u}"),
                    (0..300).map(noisy).map(Some).collect::<Vec<_>>(),
                )
                .unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let sparse = Sparse::sample(
            &ensemble,
            8,
            Seed::new(seed),
            MemoryBudget::UNLIMITED,
            &Silent,
        )
        .unwrap();
        let start = base_starts(&ensemble, 4).next().unwrap().soft;
        let mut settings = settings(Solver::Block);
        (settings.tolerance, settings.rounds) = (1e-9, NonZeroU32::new(1000).unwrap());
        let run = descend(&L2, &sparse, &start, &settings, &Silent).unwrap();
        falls(&run, &format!("seed {seed}"));
        assert_eq!(
            run.stopped,
            Stopped::Converged,
            "seed {seed}: gap {} after {} rounds",
            run.kkt_gap,
            run.rounds
        );
    }
}

/// The objective that the block solver keeps by what rounds lower it by is that which counting all pairs finds.
#[test]
fn falls_of_squared_differences_on_sampled_pairs_add_up() {
    for seed in 0..40 {
        let (ensemble, clusters) = drawn(seed);
        let sparse = Sparse::sample(
            &ensemble,
            5,
            Seed::new(seed),
            MemoryBudget::UNLIMITED,
            &Silent,
        )
        .unwrap();
        let start = Start::random("", ensemble.objects(), clusters, Seed::new(seed)).soft;
        let mut settings = settings(Solver::Block);
        let whole = descend(&L2, &sparse, &start, &settings, &Silent).unwrap();
        for rounds in 1..whole.rounds.min(12) {
            settings.rounds = NonZeroU32::new(rounds as u32).unwrap();
            let part = descend(&L2, &sparse, &start, &settings, &Silent).unwrap();
            let counted = measure(&L2, &sparse, &part.soft).unwrap().objective;
            let kept = whole.trace[rounds as usize];
            assert!(
                (counted - kept).abs() <= 1e-11 * whole.trace[0],
                "seed {seed} round {rounds}: {counted} {kept}"
            );
        }
    }
}

fn ends_in_order(divergence: &impl Bregman, sparse: &Sparse, start: &SoftPartition, what: &str) {
    let [one, two, three] = [1, 2, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            descend(divergence, sparse, start, &settings(Solver::Block), &Silent).unwrap()
        })
    });
    for more in [two, three] {
        assert_eq!((&one.soft, &one.trace), (&more.soft, &more.trace), "{what}");
    }
    falls(&one, what);
    let gap = measure(divergence, sparse, &one.soft).unwrap().relative_gap;
    assert!(
        one.stopped == Stopped::Converged && gap <= 1e-5,
        "{what}: gap {gap}"
    );
    let greedy = descend(
        divergence,
        sparse,
        start,
        &settings(Solver::Greedy),
        &Silent,
    )
    .unwrap();
    assert!(
        one.objective <= greedy.objective * (1.0 + 1e-6),
        "{what}: {} {}",
        one.objective,
        greedy.objective
    );
}

#[test]
fn hard_starts_are_refused_where_they_are_infinitely_bad() {
    let (ensemble, _) = drawn(3);
    let evidence = Dense::count(&ensemble, MemoryBudget::UNLIMITED, &Silent).unwrap();
    let labels: Vec<u32> = (0..ensemble.objects() as u32).map(|i| i % 3).collect();
    let hard = SoftPartition::of(&partita_core::Partition::new(labels, 3).unwrap());
    let settings = settings(Solver::Block);
    let error = descend(&Kl, &evidence, &hard, &settings, &Silent).unwrap_err();
    assert!(matches!(error, PccError::Infeasible { .. }), "{error}");
    falls(
        &descend(&L2, &evidence, &hard, &settings, &Silent).unwrap(),
        "l2 from a hard start",
    );
}

#[test]
fn evidence_that_is_all_equal_is_no_trouble() {
    for label in [0, 1] {
        let mut builder = EnsembleBuilder::new(9);
        builder
            .push("same", (0..9).map(|i| Some(i * label)))
            .unwrap();
        let evidence =
            Dense::count(&builder.finish().unwrap(), MemoryBudget::UNLIMITED, &Silent).unwrap();
        for solver in [Solver::Block, Solver::Greedy] {
            let start = Start::random("", 9, 3, Seed::new(2)).soft;
            let run = descend(&Kl, &evidence, &start, &settings(solver), &Silent).unwrap();
            falls(&run, "all equal");
            assert_eq!(run.stopped, Stopped::Converged);
        }
    }
}

#[test]
fn block_ends_no_higher_than_greedy_in_the_same_basin() {
    let (mut apart, mut runs) = (0, 0);
    for seed in 0..100 {
        let (evidence, _) = problem(seed);
        let (ensemble, clusters) = drawn(seed);
        let planted: Vec<u32> = (0..ensemble.objects())
            .map(|i| (i % clusters) as u32)
            .collect();
        let planted = partita_core::Partition::new(planted, clusters).unwrap();
        let start = Start::softened("planted", &planted, clusters).soft;
        let above = |divergence: &dyn Fn(&PccSettings) -> f64| {
            let [block, greedy] = [Solver::Block, Solver::Greedy].map(|solver| {
                let mut settings = settings(solver);
                (settings.tolerance, settings.rounds) = (1e-8, NonZeroU32::new(5000).unwrap());
                divergence(&settings)
            });
            (block - greedy) / greedy.max(1e-6)
        };
        let end = |settings: &PccSettings, kl: bool| {
            let run = if kl {
                descend(&Kl, &evidence, &start, settings, &Silent)
            } else {
                descend(&L2, &evidence, &start, settings, &Silent)
            };
            run.unwrap().objective
        };
        for above in [
            above(&|settings| end(settings, true)),
            above(&|settings| end(settings, false)),
        ] {
            runs += 1;
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
    assert!(
        runs == 200 && apart <= 20,
        "{apart} of {runs} ended in different basins"
    );
}
