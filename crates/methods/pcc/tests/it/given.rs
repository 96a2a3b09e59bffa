//! What a user gives: probabilities to start from, pairs and their counts, and the papers' own rule to stop.

use partita_core::ndarray::Array2;
use partita_core::{
    Clusters, Ensemble, Outcome, PairList, Problem, Seed, SettingMap, Silent, SoftPartition,
    consense,
};
use partita_pcc::{BAUM_EAGON, L2, PCC_KL, PCC_L2, measure};

use crate::common::{all, noisy, of_columns, random};

/// With missing labels where the seed is odd.
fn ensemble(seed: u64) -> Ensemble {
    let all = noisy(24, 9, 3, (0.3, 3), &mut Seed::new(seed).rng());
    let seen = |i: usize, u: usize| seed.is_multiple_of(2) || !(i + u).is_multiple_of(5);
    let label = |i, u| {
        all.label(i, u)
            .filter(|_| seen(i, u))
            .map(|label| label as u32)
    };
    of_columns((0..9).map(|u| (0..24).map(|i| label(i, u)).collect::<Vec<_>>()))
}

fn problem(ensemble: &Ensemble) -> Problem<'_> {
    Problem::new(ensemble, Clusters::Exactly(3))
}

fn set<'a>(problem: &Problem<'a>, settings: &[&str]) -> Problem<'a> {
    problem
        .clone()
        .settings(SettingMap::parse(settings).unwrap())
}

fn soft(outcome: &Outcome) -> Array2<f64> {
    outcome.soft.as_ref().unwrap().rows().to_owned()
}

type Pairs = Vec<(u32, u32)>;

/// All pairs, or every `step`-th, and their c and N.
fn counted(ensemble: &Ensemble, step: usize) -> (Pairs, Pairs) {
    let n = ensemble.objects() as u32;
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let pairs: Vec<(u32, u32)> = pairs.step_by(step).collect();
    let count = |&(i, j): &(u32, u32)| {
        let both = (0..ensemble.bases().len()).filter_map(|u| {
            Some((
                ensemble.label(i as usize, u)?,
                ensemble.label(j as usize, u)?,
            ))
        });
        let both: Vec<(usize, usize)> = both.collect();
        (
            both.iter().filter(|(a, b)| a == b).count() as u32,
            both.len() as u32,
        )
    };
    let counts = pairs.iter().map(count).collect();
    (pairs, counts)
}

/// `Σ N (c/N − y·y)²` over these pairs.
fn squares(pairs: &[(u32, u32)], counts: &[(u32, u32)], y: &Array2<f64>) -> f64 {
    let each = pairs.iter().zip(counts).map(|(&(i, j), &(c, n))| {
        let p = y.row(i as usize).dot(&y.row(j as usize));
        f64::from(n) * (f64::from(c) / f64::from(n) - p).powi(2)
    });
    each.sum()
}

/// Algorithm 1 under squared differences, as it is printed: so many steepest exchanges of one object's clusters.
fn algorithm_1(counts: &[(u32, u32)], mut y: Array2<f64>, steps: usize) -> Array2<f64> {
    let (n, clusters) = y.dim();
    let place = |i: usize, j: usize| {
        let (i, j) = (i.min(j), i.max(j));
        i * (2 * n - i - 1) / 2 + j - i - 1
    };
    for _ in 0..steps {
        let mut best = (0.0, 0, 0, 0, 0.0);
        for i in 0..n {
            let mut g = vec![0.0; clusters];
            for j in (0..n).filter(|&j| j != i) {
                let (c, seen) = counts[place(i, j)];
                let slope = 2.0 * (f64::from(seen) * y.row(i).dot(&y.row(j)) - f64::from(c));
                (0..clusters).for_each(|k| g[k] += slope * y[[j, k]]);
            }
            let up = (0..clusters)
                .min_by(|&a, &b| g[a].total_cmp(&g[b]))
                .unwrap();
            let live = (0..clusters).filter(|&k| y[[i, k]] > 1e-12);
            let down = live.max_by(|&a, &b| g[a].total_cmp(&g[b])).unwrap();
            if g[down] - g[up] > best.0 {
                let curved = (0..n).filter(|&j| j != i).map(|j| {
                    2.0 * f64::from(counts[place(i, j)].1) * (y[[j, up]] - y[[j, down]]).powi(2)
                });
                best = (g[down] - g[up], i, up, down, curved.sum::<f64>());
            }
        }
        let (gain, i, up, down, curved) = best;
        let step = (gain / curved).min(y[[i, down]]);
        y[[i, up]] += step;
        y[[i, down]] -= step;
    }
    y
}

#[test]
fn the_papers_algorithm_from_a_given_start_is_that_of_plain_loops() {
    for seed in 0..8 {
        let ensemble = ensemble(seed);
        let (pairs, counts) = counted(&ensemble, 1);
        let start = random(24, 3, Seed::new(100 + seed));
        let given = problem(&ensemble).start(&start);
        let settings = ["solver=greedy", "iterations=3", "tolerance=0"];
        let outcome = consense(&PCC_L2, &set(&given, &settings), &Silent).unwrap();
        assert_eq!(outcome.details["start"], "given");
        assert_eq!(outcome.details["restarts"].as_array().unwrap().len(), 1);
        let objective = outcome.objective.as_ref().unwrap();
        let ends = [
            (objective.trace[0], start.rows().to_owned()),
            (objective.value, soft(&outcome)),
        ];
        for (value, rows) in ends {
            let plain = squares(&pairs, &counts, &rows);
            assert!((value - plain).abs() < 1e-9 * plain);
        }
        let expected = algorithm_1(&counts, start.rows().to_owned(), 3 * 24);
        let mut both = soft(&outcome).into_iter().zip(expected);
        assert!(both.all(|(a, b)| (a - b).abs() < 1e-9), "seed {seed}");
    }
}

#[test]
fn counts_that_are_given_are_as_good_as_base_clusterings() {
    let ensembles = (0..24).map(ensemble);
    // Objects with one label row are levelled only where nothing else tells them apart.
    let distinct = ensembles.filter(|all| all.fragments().ensemble().objects() == 24);
    let mut tried = 0;
    for ensemble in distinct {
        let (pairs, counts) = counted(&ensemble, 1);
        let list = PairList::new(24, &pairs, Some(&counts)).unwrap();
        for method in [
            &PCC_KL as &dyn partita_core::Consensus,
            &PCC_L2,
            &BAUM_EAGON,
        ] {
            let [one, other] = [problem(&ensemble), problem(&ensemble).pairs(&list)]
                .map(|problem| consense(method, &problem, &Silent).unwrap());
            assert_eq!(one.soft, other.soft);
        }
        tried += 1;
    }
    assert!(tried >= 4, "{tried}");
}

#[test]
fn the_objective_of_some_pairs_is_the_sum_over_them() {
    let ensemble = ensemble(3);
    let (pairs, counts) = counted(&ensemble, 3);
    let with = PairList::new(24, &pairs, Some(&counts)).unwrap();
    let without = PairList::new(24, &pairs, None).unwrap();
    let [one, other] = [&with, &without]
        .map(|list| consense(&PCC_L2, &problem(&ensemble).pairs(list), &Silent).unwrap());
    assert_eq!(one.soft, other.soft);
    let expected = squares(&pairs, &counts, &soft(&one));
    assert!((one.objective.unwrap().value - expected).abs() < 1e-9 * expected);
    // A share of the pairs is that many.
    let shared = set(&problem(&ensemble), &["pair_share=0.25", "restarts=1"]);
    let found = consense(&PCC_L2, &shared, &Silent).unwrap();
    let partners = set(&problem(&ensemble), &["pairs_per_object=5", "restarts=1"]);
    let other = consense(&PCC_L2, &partners, &Silent).unwrap();
    // Of 276 pairs 69 and 60.
    assert_ne!(
        found.objective.unwrap().value,
        other.objective.unwrap().value
    );
}

#[test]
fn the_absolute_tolerance_is_the_gap_that_is_left() {
    let ensemble = ensemble(5);
    let evidence = all(&ensemble);
    let mut before = f64::INFINITY;
    for tau in [10.0, 0.1, 0.001] {
        let text = format!("absolute_tolerance={tau}");
        let problem = set(
            &problem(&ensemble),
            &[&text, "solver=greedy", "iterations=5000"],
        );
        let found = consense(&PCC_L2, &problem, &Silent).unwrap();
        let gap = measure(&L2, &evidence, found.soft.as_ref().unwrap())
            .unwrap()
            .gap;
        assert!(gap <= tau * (1.0 + 1e-9), "{gap} for {tau}");
        let iterations = found.objective.unwrap().value;
        assert!(iterations <= before);
        before = iterations;
    }
}

#[test]
fn equal_rows_stay_as_they_are() {
    let ensemble = ensemble(2);
    for method in [&PCC_KL as &dyn partita_core::Consensus, &PCC_L2] {
        for solver in ["solver=greedy", "solver=block"] {
            let problem = set(&problem(&ensemble), &["start=uniform", solver]);
            let found = consense(method, &problem, &Silent).unwrap();
            assert!(soft(&found).iter().all(|&y| y == 1.0 / 3.0));
            assert!(found.kkt_gap.unwrap() < 1e-12);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let ensemble = ensemble(1);
    let error = |problem: Problem<'_>| {
        consense(&PCC_KL, &problem, &Silent)
            .unwrap_err()
            .to_string()
    };
    let other = random(23, 3, Seed::new(1));
    assert!(error(problem(&ensemble).start(&other)).contains("has 23 objects and 3 clusters"));
    let other = random(24, 2, Seed::new(1));
    assert!(error(problem(&ensemble).start(&other)).contains("it needs 24 and 3"));
    let mut open = problem(&ensemble).start(&other);
    open.clusters = Clusters::Auto;
    assert!(error(open).contains("say how many clusters"));
    let list = PairList::new(5, &[(0, 1)], None).unwrap();
    assert!(error(problem(&ensemble).pairs(&list)).contains("the pairs are of 5 objects"));
    // Certain labels make pairs that were together impossible.
    let hard = Array2::from_shape_fn((24, 3), |(i, k)| f64::from(u8::from(i / 8 == k)));
    let hard = SoftPartition::new(hard).unwrap();
    let said = error(problem(&ensemble).start(&hard));
    assert!(said.contains("two objects share no cluster"), "{said}");
}
