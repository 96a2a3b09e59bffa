//! The alignment of runs: against brute force, and on planted runs.

use partita_core::Shares;
use partita_core::ndarray::{Array2, Axis};
use partita_modes::{ModesError, Run, align_runs, match_columns};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn drawn(rows: usize, columns: usize, random: &mut Xoshiro256PlusPlus) -> Array2<f64> {
    divided(Array2::from_shape_fn((rows, columns), |_| {
        -random.random::<f64>().ln()
    }))
}

/// Rows divided by their sums.
fn divided(mut table: Array2<f64>) -> Array2<f64> {
    for mut row in table.rows_mut() {
        let sum = row.sum();
        row /= sum;
    }
    table
}

/// Every way to send each column of Q to one of P so that each of P gets one at least.
fn onto(from: usize, to: usize) -> Vec<Vec<usize>> {
    let all = (0..to.pow(from as u32)).map(|code| {
        let digits = (0..from as u32).map(|place| code / to.pow(place) % to);
        digits.collect::<Vec<usize>>()
    });
    all.filter(|map| (0..to).all(|column| map.contains(&column)))
        .collect()
}

#[test]
fn matchings_are_the_best_of_all() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let sizes = [
        [1, 1],
        [3, 3],
        [5, 5],
        [6, 6],
        [4, 2],
        [5, 3],
        [6, 4],
        [6, 5],
        [6, 1],
    ];
    for [from, to] in sizes {
        for _ in 0..12 {
            let [q, p] = [from, to].map(|columns| drawn(40, columns, &mut random));
            let distance = |map: &Vec<usize>| {
                let columns = map.iter().enumerate();
                let apart =
                    columns.map(|(a, &b)| (&q.column(a) - &p.column(b)).mapv(|x| x * x).sum());
                apart.sum::<f64>() / 40.0
            };
            let best = onto(from, to)
                .iter()
                .map(distance)
                .fold(f64::INFINITY, f64::min);
            let found = match_columns(q.view(), p.view());
            let near = (distance(&found.columns) - best).abs() < 1e-12;
            assert!(near, "{from} to {to}");
            let mut merged = Array2::<f64>::zeros((40, to));
            for (a, &b) in found.columns.iter().enumerate() {
                let mut to = merged.column_mut(b);
                to += &q.column(a);
            }
            let cost = (&p - &merged).mapv(|x| x * x).sum() / 80.0;
            assert!((found.cost - cost).abs() < 1e-12);
            assert!((found.similarity - 1.0 + cost.sqrt()).abs() < 1e-12);
        }
    }
}

#[test]
fn switched_columns_and_merged_groups_get_their_colours_back() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let four = divided(drawn(300, 4, &mut random).mapv(|share: f64| share.powi(4)));
    let mut runs = Vec::new();
    let mut orders = Vec::new();
    for run in 0..12 {
        // Two in three have four columns; in the others the last two are one.
        let mut table = four.clone();
        if run % 3 == 2 {
            table = four.select(Axis(1), &[0, 1, 2]);
            let mut last = table.column_mut(2);
            last += &four.column(3);
        }
        let mut order: Vec<usize> = (0..table.ncols()).collect();
        order.rotate_left(run % table.ncols());
        let shares = Shares::new(table.select(Axis(1), &order)).expect("shares");
        runs.push(Run::soft(format!("run{run}"), shares));
        orders.push(order);
    }
    let found = align_runs(&runs, None).expect("an alignment");
    assert_eq!((found.modes.len(), found.colours), (2, 4));
    let [first, second] = &found.modes[..] else {
        panic!("two modes")
    };
    assert_eq!(
        (first.clusters, first.members.len(), first.parent),
        (4, 8, None)
    );
    assert_eq!((second.clusters, second.parent), (3, Some(0)));
    assert!(second.parent_cost < 1e-12);
    // The colour of an original column is the same in every run.
    let colour = |run: usize, original: usize| {
        let place = orders[run].iter().position(|&column| column == original);
        found.runs[run].colours[place.expect("a column")]
    };
    let third_is_larger = four.column(2).sum() > four.column(3).sum();
    let larger = if third_is_larger { 2 } else { 3 };
    for (run, aligned) in found.runs.iter().enumerate() {
        let last = if run % 3 == 2 { larger } else { 2 };
        for (original, of_first) in [(0, 0), (1, 1), (2, last)] {
            assert_eq!(colour(run, original), colour(0, of_first), "run {run}");
        }
        assert!(aligned.cost < 1e-12);
        assert!(aligned.order.is_sorted_by_key(|&c| aligned.colours[c]));
    }
}

#[test]
fn runs_that_differ_are_modes_of_their_own_and_bad_rows_are_named() {
    let labels = |step: usize| (0..60).map(move |i| Some(i / step % 2));
    let runs = [1, 1, 30, 30, 30].map(|step| Run::hard("h", labels(step), 2));
    let found = align_runs(&runs, None).expect("an alignment");
    let members = found.modes.iter().map(|mode| &mode.members[..]);
    assert!(members.eq([&[2, 3, 4][..], &[0, 1]]));
    assert!((found.modes[0].share - 0.6).abs() < 1e-12 && found.modes[1].parent == Some(0));
    assert_eq!(align_runs(&[], None).unwrap_err(), ModesError::NoRuns);
    let empty = Run::hard("empty", (0..60).map(|_| None), 0);
    let error = align_runs(&[runs[0].clone(), empty], None).unwrap_err();
    assert!(error.to_string().contains("'empty' has no column"));
    let short: Vec<Option<usize>> = labels(1).take(7).collect();
    let short = Run::hard("short", short.into_iter(), 2);
    let error = align_runs(&[runs[0].clone(), short], None).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("'h' has 60 objects, 'short' has 7"),
        "{message}"
    );
}

/// Shares that any language can draw again.
fn congruential(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut state = seed;
    divided(Array2::from_shape_simple_fn((rows, columns), || {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        (((state >> 33) % 1000 + 1) as f64).powi(2)
    }))
}

/// What `align_ILP` and `cost_membership` of Clumppling 2.0.10 (MIT, with GLPK) give for the same tables: columns of Q and P, seed,
/// the column of P for every column of Q, the cost.
const OF_CLUMPPLING: [(usize, usize, u64, &[usize], f64); 8] = [
    (2, 2, 1, &[1, 0], 0.231_083_544_576_514_84),
    (3, 3, 2, &[0, 1, 2], 0.179_378_382_990_223_9),
    (5, 5, 3, &[0, 3, 4, 1, 2], 0.113_866_684_470_506_57),
    (7, 7, 4, &[0, 2, 6, 1, 3, 5, 4], 0.091_596_071_493_720_65),
    (4, 3, 5, &[1, 0, 0, 2], 0.148_304_746_781_460_6),
    (5, 3, 6, &[2, 1, 0, 2, 2], 0.166_199_086_552_171_2),
    (6, 4, 7, &[1, 0, 3, 1, 2, 1], 0.175_797_914_290_986_37),
    (8, 5, 8, &[1, 3, 0, 3, 2, 4, 4, 3], 0.118_049_129_578_005_48),
];

#[test]
fn matchings_and_costs_are_those_of_clumppling() {
    for (q, p, seed, columns, cost) in OF_CLUMPPLING {
        let of_q = congruential(25, q, seed);
        let of_p = congruential(25, p, seed + 100);
        let found = match_columns(of_q.view(), of_p.view());
        assert_eq!(found.columns, columns, "{q} to {p}");
        let near = (found.cost - cost).abs() < 1e-12;
        assert!(near, "{q} to {p}: {} is not {cost}", found.cost);
    }
}

/// Copies of planted answers with noise of this standard deviation on every share, their columns in any order.
fn copies(
    answers: &[(&Array2<f64>, usize)],
    sds: &[f64],
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Run> {
    let mut runs = Vec::new();
    for (answer, count) in answers {
        for at in 0..*count {
            let sd = sds[at % sds.len()];
            let noisy = answer.mapv(|share: f64| (share + sd * normal(random)).max(1e-9));
            let mut order: Vec<usize> = (0..answer.ncols()).collect();
            order.rotate_left(random.random_range(0..answer.ncols()));
            let shares = Shares::new(divided(noisy.select(Axis(1), &order))).expect("shares");
            runs.push(Run::soft(format!("run{}", runs.len()), shares));
        }
    }
    runs
}

fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// The same answer with the columns of some of the objects turned.
fn other_answer(answer: &Array2<f64>, share: f64, random: &mut Xoshiro256PlusPlus) -> Array2<f64> {
    let mut other = answer.clone();
    for mut row in other.outer_iter_mut() {
        if random.random::<f64>() < share {
            let turned: Vec<f64> = (0..row.len()).map(|at| row[(at + 1) % row.len()]).collect();
            row.iter_mut()
                .zip(turned)
                .for_each(|(to, share)| *to = share);
        }
    }
    other
}

/// Constants were chosen on other drawings of the same kind; one rule, for runs that stand alone, after these had been looked at once.
#[test]
fn copies_of_one_answer_are_one_mode_and_two_answers_are_two() {
    const SEEDS: std::ops::Range<u64> = 50..100;
    // Copies of the first and of the second answer, the noise of each, objects that differ, and in how many of 100 cases it is found.
    let cases: [(usize, usize, &[f64], f64, f64); 10] = [
        (5, 0, &[0.02], 0.0, 1.0),
        (5, 0, &[0.05], 0.0, 1.0),
        (5, 0, &[0.1], 0.0, 0.98),
        (5, 0, &[0.02, 0.04, 0.06, 0.08, 0.1], 0.0, 0.95),
        (2, 0, &[0.05], 0.0, 0.98),
        (3, 2, &[0.02], 0.1, 1.0),
        (3, 2, &[0.05], 0.3, 1.0),
        (5, 5, &[0.1], 0.3, 0.98),
        (1, 1, &[0.02], 0.3, 0.98),
        (7, 1, &[0.05], 0.3, 1.0),
    ];
    for (first, second, sds, share, least) in cases {
        let (mut found, mut all) = (0, 0);
        for seed in SEEDS {
            for columns in [2, 3, 5] {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                // Most objects are mostly of one column, as in runs of admixture.
                let answer = divided(drawn(150, columns, &mut random).mapv(|share| share.powi(4)));
                let other = other_answer(&answer, share, &mut random);
                let runs = copies(&[(&answer, first), (&other, second)], sds, &mut random);
                let alignment = align_runs(&runs, None).expect("an alignment");
                let mut modes: Vec<Vec<usize>> = alignment
                    .modes
                    .iter()
                    .map(|mode| mode.members.clone())
                    .collect();
                modes.iter_mut().for_each(|mode| mode.sort_unstable());
                modes.sort();
                let planted = [(0..first).collect(), (first..first + second).collect()];
                let planted: Vec<Vec<usize>> = planted
                    .into_iter()
                    .filter(|runs: &Vec<usize>| !runs.is_empty())
                    .collect();
                found += usize::from(modes == planted);
                all += 1;
            }
        }
        let rate = found as f64 / f64::from(all);
        assert!(
            rate >= least,
            "{first} and {second} copies, noise {sds:?}: {rate}"
        );
    }
}
