//! k-means against a naive reference in double precision.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use partita_core::ndarray::{Array2, ArrayView2, array};
use partita_core::{Flow, Monitor, Seed, Silent, Stopped};
use partita_kmeans::{
    Distance, Initialization, KMeansError, KMeansRun, KMeansSettings, kmeans, kmeans_from,
    kmeans_many,
};
use rand::RngExt;

/// Groups of rows around centres drawn in a cube.
fn blobs(n: usize, d: usize, groups: usize, spread: f64, seed: u64) -> Array2<f64> {
    let mut rng = Seed::new(seed).rng();
    let centres = Array2::from_shape_fn((groups, d), |_| rng.random_range(-10.0..10.0));
    let mut noise = || (0..6).map(|_| rng.random_range(-0.5..0.5)).sum::<f64>() * spread;
    Array2::from_shape_fn((n, d), |(i, p)| 100.0 + centres[[i % groups, p]] + noise())
}

/// Lloyd's algorithm as a textbook has it: labels, inertia at the last centres, iterations.
fn reference(
    x: ArrayView2<'_, f64>,
    w: &[f64],
    start: ArrayView2<'_, f64>,
    tolerance: f64,
) -> (Vec<u32>, f64, usize) {
    let (n, d) = x.dim();
    let variance = (0..d).map(|p| x.column(p).var(0.0)).sum::<f64>() / d as f64;
    let mut centres = start.to_owned();
    let mut labels = vec![u32::MAX; n];
    let distance = |centres: &Array2<f64>, i: usize, j: usize| {
        (&x.row(i) - &centres.row(j)).mapv(|v| v * v).sum()
    };
    let assign = |centres: &Array2<f64>| -> Vec<u32> {
        let nearest = |i| {
            (0..centres.nrows())
                .min_by(|&a, &b| distance(centres, i, a).total_cmp(&distance(centres, i, b)))
        };
        (0..n).map(|i| nearest(i).unwrap() as u32).collect()
    };
    for iteration in 1.. {
        let new = assign(&centres);
        let same = new == labels;
        labels = new;
        for j in 0..centres.nrows() as u32 {
            if !labels.contains(&j) {
                let gap = |i: usize| distance(&centres, i, labels[i] as usize);
                let far = (0..n).max_by(|&a, &b| gap(a).total_cmp(&gap(b))).unwrap();
                labels[far] = j;
            }
        }
        let mut moved = 0.0;
        if !same {
            for j in 0..centres.nrows() {
                let rows: Vec<usize> = (0..n).filter(|&i| labels[i] == j as u32).collect();
                let mass: f64 = rows.iter().map(|&i| w[i]).sum();
                let mean: Vec<f64> = (0..d)
                    .map(|p| rows.iter().map(|&i| w[i] * x[[i, p]]).sum::<f64>() / mass)
                    .collect();
                moved += (0..d)
                    .map(|p| (mean[p] - centres[[j, p]]).powi(2))
                    .sum::<f64>();
                centres
                    .row_mut(j)
                    .assign(&partita_core::ndarray::aview1(&mean));
            }
        }
        if same || moved <= tolerance * variance {
            labels = assign(&centres);
            let inertia = (0..n)
                .map(|i| w[i] * distance(&centres, i, labels[i] as usize))
                .sum();
            return (labels, inertia, iteration);
        }
    }
    unreachable!("iterations end by convergence")
}

#[test]
fn it_follows_the_textbook() {
    for case in 0..24u64 {
        let (n, d, k) = (
            50 + 17 * case as usize,
            1 + case as usize % 11,
            2 + case as usize % 9,
        );
        let table = blobs(n, d, k + case as usize % 3, 3.0, case);
        let mut rng = Seed::new(99).child(case).rng();
        let weights: Vec<f64> = (0..n)
            .map(|_| {
                if case % 2 == 0 {
                    1.0
                } else {
                    rng.random_range(0.5..4.0)
                }
            })
            .collect();
        let start = table.select(
            partita_core::ndarray::Axis(0),
            &(0..k).map(|j| j * n / k).collect::<Vec<_>>(),
        );
        let mut settings = KMeansSettings::default();
        settings.tolerance = if case % 3 == 0 { 0.0 } else { 1e-4 };
        let given = (case % 2 == 1).then_some(weights.as_slice());
        let fit = kmeans_from(table.view(), given, start.view(), &settings, &Silent).unwrap();
        let (labels, inertia, iterations) =
            reference(table.view(), &weights, start.view(), settings.tolerance);
        assert_eq!(fit.labels, labels, "case {case}");
        assert_eq!(
            (fit.iterations, fit.stopped),
            (iterations, Stopped::Converged),
            "case {case}"
        );
        assert!(
            (fit.inertia / inertia - 1.0).abs() < 1e-5,
            "case {case}: {} {inertia}",
            fit.inertia
        );
        for (j, centre) in fit.centres.outer_iter().enumerate() {
            let near = (0..n).find(|&i| labels[i] == j as u32).unwrap();
            assert!(
                (&centre - &table.row(near))
                    .iter()
                    .all(|gap| gap.abs() < 20.0),
                "units of the table"
            );
        }
    }
}

#[test]
fn every_start_finds_well_separated_groups() {
    let table = blobs(900, 5, 6, 0.3, 5);
    for (start, least) in [
        (Initialization::Greedy, 20),
        (Initialization::PlusPlus, 19),
        (Initialization::Random, 3),
    ] {
        let mut settings = KMeansSettings::default();
        settings.initialization = start;
        let found = (0..20).filter(|&seed| {
            let fit = kmeans(table.view(), None, 6, Seed::new(seed), &settings, &Silent).unwrap();
            (0..900).all(|i| fit.labels[i] == fit.labels[i % 6]) && fit.centres.nrows() == 6
        });
        let count = found.count();
        assert!(
            count >= least,
            "{start:?} found the groups {count} times of 20"
        );
    }
}

#[test]
fn a_cluster_that_runs_empty_is_given_a_far_row() {
    let table = array![[0.0], [1.0], [2.0], [100.0], [101.0], [1000.0]];
    let start = array![[0.0], [1e6], [2e6]];
    let fit = kmeans_from(
        table.view(),
        None,
        start.view(),
        &KMeansSettings::default(),
        &Silent,
    )
    .unwrap();
    assert_eq!(fit.labels, [0, 0, 0, 2, 2, 1]);
    assert!((fit.inertia - 2.5).abs() < 1e-3, "{}", fit.inertia);
}

#[test]
fn starts_beyond_single_precision_are_survived() {
    let table = blobs(300, 3, 4, 1.0, 5);
    let mut start = table.slice(partita_core::ndarray::s![..4, ..]).to_owned();
    for far in [1e30, -1e300] {
        start.row_mut(2).fill(far);
        let fit = kmeans_from(
            table.view(),
            None,
            start.view(),
            &KMeansSettings::default(),
            &Silent,
        )
        .unwrap();
        assert!(fit.inertia.is_finite() && (0..4).all(|j| fit.labels.contains(&j)));
    }
}

#[test]
fn fewer_distinct_rows_give_fewer_clusters() {
    let table = array![[1.0, 2.0], [1.0, 2.0], [5.0, 2.0], [5.0, 2.0], [5.0, 2.0]];
    for start in [
        Initialization::PlusPlus,
        Initialization::Greedy,
        Initialization::Random,
    ] {
        let mut settings = KMeansSettings::default();
        settings.initialization = start;
        for seed in 0..20 {
            let fit = kmeans(table.view(), None, 4, Seed::new(seed), &settings, &Silent).unwrap();
            assert_eq!(fit.centres.nrows(), 2);
            assert_eq!(
                (fit.labels[0], fit.labels[2]),
                (fit.labels[1], fit.labels[4])
            );
            assert!(fit.inertia < 1e-9, "{}", fit.inertia);
        }
    }
}

#[test]
fn cosine_looks_at_directions_only() {
    let mut rng = Seed::new(8).rng();
    let angles = [0.1f64, 1.2, 2.4];
    let table = Array2::from_shape_fn((300, 2), |(i, p)| {
        let length = [0.01, 1.0, 500.0][i / 100];
        let angle = angles[i % 3] + 0.1 * (i as f64 * 0.7).sin();
        length * if p == 0 { angle.cos() } else { angle.sin() } * (1.0 + 1e-3 * rng.random::<f64>())
    });
    let mut settings = KMeansSettings::default();
    settings.distance = Distance::Cosine;
    settings.initialization = Initialization::Greedy;
    let fit = kmeans(table.view(), None, 3, Seed::new(1), &settings, &Silent).unwrap();
    assert!((0..300).all(|i| fit.labels[i] == fit.labels[i % 3]));
    let expected: f64 = (0..300)
        .map(|i| {
            let (row, centre) = (table.row(i), fit.centres.row(fit.labels[i] as usize));
            1.0 - row.dot(&centre) / row.dot(&row).sqrt()
        })
        .sum();
    assert!(
        (fit.inertia / expected - 1.0).abs() < 1e-4,
        "{} {expected}",
        fit.inertia
    );
}

#[test]
fn weights_stand_for_copies() {
    let table = blobs(60, 3, 4, 4.0, 3);
    let copies: Vec<usize> = (0..60).map(|i| 1 + i % 3).collect();
    let long: Vec<usize> = (0..60)
        .flat_map(|i| std::iter::repeat_n(i, copies[i]))
        .collect();
    let weights: Vec<f64> = copies.iter().map(|&c| c as f64).collect();
    let start = table.select(partita_core::ndarray::Axis(0), &[0, 1, 2, 3]);
    let copied = table.select(partita_core::ndarray::Axis(0), &long);
    let mut settings = KMeansSettings::default();
    settings.tolerance = 0.0;
    let a = kmeans_from(
        table.view(),
        Some(&weights),
        start.view(),
        &settings,
        &Silent,
    )
    .unwrap();
    let b = kmeans_from(copied.view(), None, start.view(), &settings, &Silent).unwrap();
    assert!(
        long.iter()
            .zip(&b.labels)
            .all(|(&i, &label)| a.labels[i] == label)
    );
    assert!((a.inertia / b.inertia - 1.0).abs() < 1e-5);
}

struct No;
impl Monitor for No {
    fn tick(&self, _: u64, _: u64) -> Flow {
        Flow::Stop
    }
}

#[test]
fn what_can_not_be_clustered_is_refused() {
    let table = array![[1.0], [2.0], [f64::NAN]];
    let settings = KMeansSettings::default();
    let fit =
        |rows: ArrayView2<'_, f64>, k| kmeans(rows, None, k, Seed::new(0), &settings, &Silent);
    assert!(matches!(
        fit(table.view(), 1),
        Err(KMeansError::NotFinite {
            row: 2,
            column: 0,
            ..
        })
    ));
    let table = array![[1.0], [2.0]];
    assert_eq!(fit(table.view(), 0), Err(KMeansError::NoClusters));
    assert_eq!(
        fit(table.view(), 3),
        Err(KMeansError::TooManyClusters {
            clusters: 3,
            objects: 2
        })
    );
    let weights = kmeans(
        table.view(),
        Some(&[1.0, 0.0]),
        1,
        Seed::new(0),
        &settings,
        &Silent,
    );
    assert!(matches!(weights, Err(KMeansError::Shape(_))));
    let centres = kmeans_from(
        table.view(),
        None,
        array![[1.0, 2.0]].view(),
        &settings,
        &Silent,
    );
    assert!(matches!(centres, Err(KMeansError::Shape(_))));
    let stopped = kmeans(table.view(), None, 1, Seed::new(0), &settings, &No);
    assert_eq!(stopped, Err(KMeansError::Interrupted { asked: 1 }));
}

#[test]
fn many_runs_are_as_one_by_one_on_their_own_rows() {
    use partita_core::ndarray::Axis;
    let table = blobs(300, 4, 5, 4.0, 8);
    let mut rng = Seed::new(4).rng();
    let shares: Vec<Vec<usize>> = (0..12)
        .map(|_| (0..300).filter(|_| rng.random_bool(0.5)).collect())
        .collect();
    let starts: Vec<Array2<f64>> = shares
        .iter()
        .zip(2..)
        .map(|(own, k)| table.select(Axis(0), &own[..k]))
        .collect();
    let runs: Vec<KMeansRun<'_>> = starts
        .iter()
        .zip(&shares)
        .map(|(centres, own)| KMeansRun {
            centres: centres.view(),
            objects: Some(own),
        })
        .collect();
    let settings = KMeansSettings::default();
    let many = kmeans_many(table.view(), &runs, &settings, &Silent).unwrap();
    for ((many, own), start) in many.iter().zip(&shares).zip(&starts) {
        let alone = kmeans_from(
            table.select(Axis(0), own).view(),
            None,
            start.view(),
            &settings,
            &Silent,
        )
        .unwrap();
        assert_eq!(many.labels, alone.labels);
        assert!((many.inertia / alone.inertia - 1.0).abs() < 1e-5);
    }
    let refused = |objects: &[usize]| {
        let run = KMeansRun {
            centres: starts[0].view(),
            objects: Some(objects),
        };
        kmeans_many(table.view(), &[run], &settings, &Silent).unwrap_err()
    };
    assert!(matches!(refused(&[3, 2, 1]), KMeansError::Shape(_)));
    assert!(matches!(refused(&[3, 300]), KMeansError::Shape(_)));
    assert!(matches!(
        refused(&[3]),
        KMeansError::TooManyClusters {
            clusters: 2,
            objects: 1
        }
    ));
}
