//! k-means on sparse rows against the dense table.

use partita_core::ndarray::{Array2, Axis, array};
use partita_core::{Flow, Monitor, Seed, Silent, Stopped};
use partita_kmeans::{
    Distance, Initialization, KMeans, KMeansError, KMeansSettings, kmeans, kmeans_from,
    kmeans_sparse, kmeans_sparse_from,
};
use rand::RngExt;
use sprs::CsMat;

/// Rows that share most of their columns with those of their group, a tenth of the numbers being there; some rows of
/// zeros.
fn texts(n: usize, d: usize, groups: usize, seed: u64) -> Array2<f64> {
    let mut rng = Seed::new(seed).rng();
    let mut table = Array2::zeros((n, d));
    for i in 0..n {
        if i % 97 == 96 {
            continue;
        }
        for _ in 0..=d.div_ceil(10) {
            let p = rng.random_range(0..d);
            let p = if rng.random::<f64>() < 0.7 {
                p / groups * groups + i % groups
            } else {
                p
            };
            table[[i, p.min(d - 1)]] += 10.0 * rng.random::<f64>();
        }
    }
    table
}

fn sparse(table: &Array2<f64>) -> CsMat<f64> {
    CsMat::csr_from_dense(table.view(), 0.0)
}

fn settings(distance: Distance) -> KMeansSettings {
    let mut settings = KMeansSettings::default();
    settings.distance = distance;
    settings
}

fn same(a: &KMeans, b: &KMeans) {
    assert_eq!(
        (&a.labels, a.iterations, a.stopped),
        (&b.labels, b.iterations, b.stopped)
    );
    assert!(
        (a.inertia / b.inertia - 1.0).abs() < 1e-5,
        "{} {}",
        a.inertia,
        b.inertia
    );
    assert_eq!(a.centres.dim(), b.centres.dim());
    let largest = b
        .centres
        .iter()
        .fold(1e-300f64, |largest, c| largest.max(c.abs()));
    assert!(
        (&a.centres - &b.centres)
            .iter()
            .all(|gap| gap.abs() < 1e-5 * largest)
    );
}

#[test]
fn it_is_the_dense_engine_from_the_same_centres() {
    for case in 0..24u64 {
        let (n, d, k) = (
            60 + 53 * case as usize,
            5 + 9 * case as usize,
            2 + 3 * case as usize,
        );
        let table =
            texts(n, d, 4 + case as usize % 3, case) * [1.0, 1e-30, 1e30][case as usize % 3];
        let start = table.select(Axis(0), &(0..k).map(|j| j * n / k).collect::<Vec<_>>());
        let mut rng = Seed::new(99).child(case).rng();
        let weights: Vec<f64> = (0..n).map(|_| rng.random_range(0.5..4.0)).collect();
        let weights = (case % 2 == 1).then_some(weights.as_slice());
        for distance in [Distance::Cosine, Distance::Euclidean] {
            let mut settings = settings(distance);
            settings.tolerance = if case % 4 == 0 { 0.0 } else { 1e-4 };
            let dense =
                kmeans_from(table.view(), weights, start.view(), &settings, &Silent).unwrap();
            let held = sparse(&table);
            let made =
                kmeans_sparse_from(held.view(), weights, start.view(), &settings, &Silent).unwrap();
            same(&made, &dense);
            let columns = held.to_csc();
            assert_eq!(
                made,
                kmeans_sparse_from(columns.view(), weights, start.view(), &settings, &Silent)
                    .unwrap()
            );
        }
    }
}

#[test]
fn chance_chooses_the_rows_that_it_chooses_of_a_dense_table() {
    let table = texts(700, 60, 6, 3);
    for start in [
        Initialization::PlusPlus,
        Initialization::Greedy,
        Initialization::Random,
    ] {
        for seed in 0..6 {
            let mut settings = settings(Distance::Cosine);
            settings.initialization = start;
            let dense = kmeans(table.view(), None, 7, Seed::new(seed), &settings, &Silent).unwrap();
            same(
                &kmeans_sparse(
                    sparse(&table).view(),
                    None,
                    7,
                    Seed::new(seed),
                    &settings,
                    &Silent,
                )
                .unwrap(),
                &dense,
            );
        }
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let held = sparse(&texts(5000, 80, 5, 1));
    let fit = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let settings = settings(Distance::Cosine);
        pool.install(|| {
            kmeans_sparse(held.view(), None, 40, Seed::new(2), &settings, &Silent).unwrap()
        })
    };
    assert_eq!(fit(1), fit(3));
}

#[test]
fn awkward_tables_have_an_answer() {
    for distance in [Distance::Cosine, Distance::Euclidean] {
        let settings = settings(distance);
        let fit = |table: &Array2<f64>, k| {
            kmeans_sparse(
                sparse(table).view(),
                None,
                k,
                Seed::new(4),
                &settings,
                &Silent,
            )
        };
        let twice = array![[1.0, 0.0], [1.0, 0.0], [0.0, 5.0], [0.0, 5.0], [0.0, 5.0]];
        let made = fit(&twice, 4).unwrap();
        assert_eq!(
            (made.centres.nrows(), made.labels[0], made.labels[2]),
            (2, made.labels[1], made.labels[4])
        );
        assert!(made.inertia.abs() < 1e-9 && made.stopped == Stopped::Converged);
        let nothing = fit(&Array2::zeros((6, 3)), 3).unwrap();
        assert_eq!((nothing.labels, nothing.centres.nrows()), (vec![0; 6], 1));
        let one = fit(&array![[1.0], [2.0], [0.0], [-3.0]], 4).unwrap();
        assert!(one.centres.nrows() <= 4);
        let own = fit(&texts(40, 12, 3, 2), 40).unwrap();
        assert!(own.inertia < 1e-5 * 40.0 * 100.0);
    }
}

#[test]
fn an_empty_cluster_is_given_a_far_row() {
    let table = array![[0.0], [1.0], [2.0], [100.0], [101.0], [1000.0]];
    let (settings, start) = (settings(Distance::Euclidean), array![[0.0], [1e6], [2e6]]);
    let made = kmeans_sparse_from(
        sparse(&table).view(),
        None,
        start.view(),
        &settings,
        &Silent,
    )
    .unwrap();
    assert_eq!(made.labels, [0, 0, 0, 2, 2, 1]);
    assert!((made.inertia - 2.5).abs() < 1e-3, "{}", made.inertia);
}

struct No;
impl Monitor for No {
    fn tick(&self, _: u64, _: u64) -> Flow {
        Flow::Stop
    }
}

#[test]
fn what_can_not_be_clustered_is_refused() {
    let settings = settings(Distance::Cosine);
    let fit = |table: &CsMat<f64>, k| {
        kmeans_sparse(table.view(), None, k, Seed::new(0), &settings, &Silent)
    };
    let table = sparse(&array![[1.0, 0.0], [2.0, 3.0]]);
    assert_eq!(fit(&table, 0), Err(KMeansError::NoClusters));
    assert_eq!(
        fit(&table, 3),
        Err(KMeansError::TooManyClusters {
            clusters: 3,
            objects: 2
        })
    );
    for bad in [f64::NAN, f64::INFINITY] {
        let error = fit(
            &CsMat::new((2, 2), vec![0, 1, 2], vec![0, 1], vec![1.0, bad]),
            1,
        );
        assert!(matches!(
            error,
            Err(KMeansError::NotFinite {
                row: 1,
                column: 1,
                ..
            })
        ));
    }
    for (rows, columns) in [(0, 3), (3, 0)] {
        assert_eq!(
            fit(&CsMat::zero((rows, columns)), 1),
            Err(KMeansError::TooSmall { rows, columns })
        );
    }
    let weights = kmeans_sparse(
        table.view(),
        Some(&[1.0]),
        1,
        Seed::new(0),
        &settings,
        &Silent,
    );
    assert!(matches!(weights, Err(KMeansError::Shape(_))));
    let centres = kmeans_sparse_from(table.view(), None, array![[1.0]].view(), &settings, &Silent);
    assert!(matches!(centres, Err(KMeansError::Shape(_))));
    let stopped = kmeans_sparse(table.view(), None, 1, Seed::new(0), &settings, &No);
    assert_eq!(stopped, Err(KMeansError::Interrupted { asked: 1 }));
}
