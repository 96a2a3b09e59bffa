//! Recipes followed from a table to an ensemble.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::atomic::{AtomicU64, Ordering};

use partita_core::ndarray::{Array2, array};
use partita_core::{Flow, MemoryBudget, Monitor, Seed, Silent};
use partita_generate::{BaseKind, BaseSpec, GenerateError, Generated, Recipe, Scale, generate};
use rand::RngExt;

use crate::common::{self, recipe};

fn table(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut rng = Seed::new(seed).rng();
    Array2::from_shape_fn((n, d), |(i, _)| (i % 5) as f64 * 3.0 + rng.random::<f64>())
}

fn every_kind() -> String {
    BaseKind::ALL.map(|kind| format!("{kind}:4")).join(",")
}

fn make(table: &Array2<f64>, recipe: &Recipe) -> Result<Generated, GenerateError> {
    common::make(table, recipe, 7)
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(work)
}

#[test]
fn the_recipe_is_followed() {
    let table = table(200, 3, 1);
    let recipe = recipe("kmeans:3,kmeans-random:2", "4,6", 0.9);
    let made = make(&table, &recipe).unwrap();
    let names: Vec<&str> = made
        .ensemble
        .bases()
        .iter()
        .map(partita_core::BaseClustering::name)
        .collect();
    assert_eq!(
        names,
        [
            "kmeans-0 k=4",
            "kmeans-1 k=6",
            "kmeans-2 k=4",
            "kmeans-random-3 k=4",
            "kmeans-random-4 k=6"
        ]
    );
    assert_eq!((made.finished, made.asked), (5, 5));
    for (u, facts) in made.facts.iter().enumerate() {
        assert_eq!((facts.run, facts.objects), (u, 180));
        assert_eq!(made.ensemble.column(u).flatten().count(), 180);
        assert_eq!(
            (facts.clusters, made.ensemble.bases()[u].clusters()),
            (facts.k, facts.k)
        );
        assert!(facts.inertia.unwrap() > 0.0 && facts.iterations > 0);
    }
    let read = Recipe::from_json(made.ensemble.recipe().unwrap()).unwrap();
    assert_eq!(read, (recipe, Seed::new(7)));
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let kmeans = "kmeans:4,kmeans-greedy:2,kmeans-random:3,kmeans-cosine:3";
    for (n, d, base) in [
        (300, 4, every_kind().as_str()),
        (5000, 3, kmeans),
        (40_000, 2, kmeans),
    ] {
        let table = table(n, d, 3);
        let recipe = recipe(base, "2..9", 0.8);
        let one = with_threads(1, || make(&table, &recipe)).unwrap();
        let three = with_threads(3, || make(&table, &recipe)).unwrap();
        assert_eq!(one, three, "{n} × {d}");
    }
}

#[test]
fn uspec_gives_the_same_bits_for_any_number_of_threads_and_from_groups() {
    use partita_generate::TableView;
    // More rows than one chunk of every sum.
    let table = table(140_000, 2, 5);
    let recipe = recipe("uspec:2", "4..9", 0.95);
    let one = with_threads(1, || make(&table, &recipe)).unwrap();
    for threads in [2, 8] {
        assert_eq!(
            one,
            with_threads(threads, || make(&table, &recipe)).unwrap(),
            "{threads} threads"
        );
    }
    assert!(
        one.facts
            .iter()
            .all(|facts| facts.objects == 133_000 && facts.clusters == facts.k)
    );
    let few = table
        .slice(partita_core::ndarray::s![..5000, ..])
        .to_owned();
    let whole = make(&few, &recipe).unwrap();
    let groups = Sevens(few);
    let groups = generate(
        TableView::Groups(&groups),
        &recipe,
        Seed::new(7),
        MemoryBudget::UNLIMITED,
        &Silent,
    );
    assert_eq!(groups.unwrap(), whole);
}

#[test]
fn uspec_sees_shapes_that_kmeans_does_not() {
    let mut rng = Seed::new(6).rng();
    let rings = Array2::from_shape_fn((4000, 2), |(i, p)| {
        let (radius, angle) = (1.0 + 2.0 * (i % 2) as f64, (i / 2) as f64 * 2.4);
        radius * if p == 0 { angle.cos() } else { angle.sin() } + 0.2 * rng.random::<f64>()
    });
    let made = make(&rings, &recipe("uspec:4", "12", 1.0)).unwrap();
    for u in 0..4 {
        let mut ring = [None; 12];
        for i in 0..4000 {
            let label = made.ensemble.label(i, u).unwrap();
            assert!(
                *ring[label].get_or_insert(i % 2) == i % 2,
                "base clustering {u}: a cluster of both rings"
            );
        }
    }
}

#[test]
fn columns_may_be_drawn_or_projected() {
    let table = table(150, 6, 9);
    for (features, projection) in [(0.5, None), (1.0, Some(2)), (0.5, Some(5))] {
        let mut recipe = recipe(&every_kind(), "3,5", 0.8);
        (recipe.features, recipe.projection) = (features, projection);
        let one = with_threads(1, || make(&table, &recipe)).unwrap();
        assert_eq!(one, with_threads(2, || make(&table, &recipe)).unwrap());
        assert!(
            one.facts
                .iter()
                .all(|facts| facts.objects == 120 && facts.clusters == facts.k)
        );
        let read = Recipe::from_json(one.ensemble.recipe().unwrap()).unwrap();
        assert_eq!(read, (recipe, Seed::new(7)));
    }
}

#[test]
fn trees_are_cut_where_scipy_cuts_them() {
    // scipy.cluster.hierarchy: fcluster(linkage(X, method), k, "maxclust"), renumbered by first object.
    let x = [
        [0.0, 0.0],
        [0.0, 1.0],
        [1.0, 0.2],
        [5.0, 5.0],
        [5.0, 6.1],
        [6.2, 5.0],
        [9.0, 0.0],
        [9.5, 1.0],
        [3.0, 3.2],
        [8.0, 4.0],
    ];
    let table = Array2::from_shape_fn((10, 2), |(i, p)| x[i][p]);
    let expected = [
        ("single", [0, 0, 0, 1, 1, 1, 2, 2, 1, 1]),
        ("average", [0, 0, 0, 1, 1, 1, 2, 2, 1, 1]),
        ("complete", [0, 0, 0, 1, 1, 1, 2, 2, 0, 1]),
        ("ward", [0, 0, 0, 1, 1, 1, 2, 2, 1, 1]),
        ("centroid", [0, 0, 0, 1, 1, 1, 2, 2, 1, 1]),
    ];
    for (kind, labels) in expected {
        let made = make(&table, &recipe(&format!("{kind}:2"), "3,10", 1.0)).unwrap();
        let found: Vec<usize> = made.ensemble.column(0).map(Option::unwrap).collect();
        assert_eq!(found, labels, "{kind}");
        assert_eq!(made.facts[1].clusters, 10);
    }
}

#[test]
fn spectral_and_batches_find_what_they_should() {
    // Two rings, one inside the other: no k-means finds them, spectral clustering does. sklearn.cluster
    // .SpectralClustering(2, affinity="precomputed") on the same affinities gives the same two sets.
    let rings = Array2::from_shape_fn((240, 2), |(i, p)| {
        let (radius, angle) = (1.0 + 4.0 * (i % 2) as f64, i as f64 * 2.4);
        radius * if p == 0 { angle.cos() } else { angle.sin() }
    });
    let made = make(&rings, &recipe("spectral:4", "2,3", 0.9)).unwrap();
    let found: Vec<(usize, usize)> = made
        .ensemble
        .column(0)
        .enumerate()
        .filter_map(|(i, l)| Some((i % 2, l?)))
        .collect();
    let first = found[0].1;
    assert!(
        found
            .iter()
            .all(|&(ring, label)| (ring == found[0].0) == (label == first))
    );
    assert_eq!(made.ensemble.bases()[1].clusters(), 3);

    let mut rng = Seed::new(4).rng();
    let blobs = Array2::from_shape_fn((3000, 3), |(i, p)| {
        ((i % 4) * 20 * (p + 1)) as f64 + rng.random::<f64>()
    });
    let made = make(&blobs, &recipe("kmeans-batch:5,kmeans-greedy:5", "4", 0.5)).unwrap();
    let best = |range: std::ops::Range<usize>| {
        made.facts[range]
            .iter()
            .map(|facts| facts.inertia.unwrap())
            .fold(f64::INFINITY, f64::min)
    };
    assert!(
        best(0..5) < 1.1 * best(5..10),
        "{} {}",
        best(0..5),
        best(5..10)
    );
}

#[test]
fn spectral_agrees_with_an_independent_tool() {
    // NumPy's eigh of the normalised graph with σ = distance of the 7th nearest other row, rows brought to length 1, then
    // scikit-learn 1.9.1's KMeans(k, n_init=50), renumbered by first object. Its SpectralClustering leaves the rows as
    // long as they are and differs in objects 1 and 19 at k = 3.
    let expected = [
        [
            0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 0, 2, 1, 2, 2,
        ],
        [
            0, 1, 0, 0, 0, 0, 0, 0, 2, 2, 1, 1, 2, 2, 2, 2, 1, 3, 3, 1, 3, 1, 3, 3,
        ],
    ];
    let fixtures = partita_conformance::fixtures();
    let x: Vec<Vec<f64>> = serde_json::from_value(fixtures["X"].clone()).unwrap();
    let table = Array2::from_shape_fn((24, 2), |(i, p)| x[i][p]);
    let made = make(&table, &recipe("spectral:2", "3,4", 1.0)).unwrap();
    for (u, expected) in expected.iter().enumerate() {
        let mut order: Vec<usize> = Vec::new();
        let found: Vec<usize> = made.ensemble.column(u).flatten().collect();
        found.iter().for_each(|label| {
            if !order.contains(label) {
                order.push(*label);
            }
        });
        let renumbered: Vec<usize> = found
            .iter()
            .map(|l| order.iter().position(|o| o == l).unwrap())
            .collect();
        assert_eq!(renumbered, expected);
    }
}

#[test]
fn a_base_clustering_does_not_depend_on_the_others() {
    let table = table(400, 4, 2);
    let many = make(&table, &recipe("kmeans:9", "2..9", 0.7)).unwrap();
    let few = make(&table, &recipe("kmeans:4", "2..9", 0.7)).unwrap();
    assert_eq!(many.facts[..4], few.facts[..]);
    assert!((0..4).all(|u| many.ensemble.column(u).eq(few.ensemble.column(u))));
    let other = common::make(&table, &recipe("kmeans:4", "2..9", 0.7), 8);
    assert_ne!(other.unwrap().facts, few.facts);
}

struct After(AtomicU64, u64);
impl Monitor for After {
    fn tick(&self, done: u64, total: u64) -> Flow {
        assert!(done <= total);
        self.0.fetch_max(done, Ordering::Relaxed);
        if done >= self.1 {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

#[test]
fn what_is_finished_at_a_stop_is_kept() {
    for n in [300, 40_000] {
        let table = table(n, 3, 4);
        let recipe = recipe("kmeans:20", "2..9", 0.9);
        let monitor = After(AtomicU64::new(0), 5);
        let made = generate(
            table.view(),
            &recipe,
            Seed::new(7),
            MemoryBudget::UNLIMITED,
            &monitor,
        )
        .unwrap();
        assert!(
            made.finished >= 5 && made.finished < 20 && made.asked == 20,
            "{} finished",
            made.finished
        );
        assert_eq!(made.ensemble.bases().len(), made.finished);
        let whole = make(&table, &recipe).unwrap();
        for (u, facts) in made.facts.iter().enumerate() {
            assert_eq!(facts, &whole.facts[facts.run]);
            assert!(made.ensemble.column(u).eq(whole.ensemble.column(facts.run)));
        }
        let none = generate(
            table.view(),
            &recipe,
            Seed::new(7),
            MemoryBudget::UNLIMITED,
            &After(AtomicU64::new(0), 0),
        );
        assert_eq!(none, Err(GenerateError::NothingFinished { asked: 20 }));
    }
}

#[test]
fn bad_input_is_refused() {
    let good = table(20, 2, 1);
    let error = |table: &Array2<f64>, recipe: &Recipe| make(table, recipe).unwrap_err();
    let base = recipe("kmeans:3", "2..4", 1.0);
    assert!(matches!(
        error(&array![[1.0, f64::INFINITY], [2.0, 3.0]], &base),
        GenerateError::NotFinite { column: 1, .. }
    ));
    assert_eq!(
        error(&array![[1.0, 2.0]], &base),
        GenerateError::TooSmall {
            rows: 1,
            columns: 2
        }
    );
    assert_eq!(
        error(&Array2::from_elem((9, 2), 4.0), &base),
        GenerateError::Constant { rows: 9 }
    );
    assert!(matches!(
        error(&good, &recipe("kmeans:3", "2..21", 1.0)),
        GenerateError::TooManyClusters {
            clusters: 21,
            objects: 20
        }
    ));
    assert!(matches!(
        error(&good, &recipe("kmeans:3", "11", 0.5)),
        GenerateError::TooManyForSubsample { rows: 10, .. }
    ));
    let tight = generate(
        good.view(),
        &base,
        Seed::new(1),
        MemoryBudget::new(100),
        &Silent,
    );
    assert!(matches!(tight, Err(GenerateError::Budget(_))));
}

#[test]
fn awkward_tables_have_an_answer() {
    let duplicates = Array2::from_shape_fn((30, 2), |(i, _)| (i % 3) as f64);
    let one_feature = Array2::from_shape_fn((30, 1), |(i, _)| (i as f64).sqrt());
    let constant_feature =
        Array2::from_shape_fn(
            (30, 2),
            |(i, p)| if p == 0 { 4.0 } else { (i * i % 31) as f64 },
        );
    for table in [&duplicates, &one_feature, &constant_feature] {
        for scale in [Scale::None, Scale::ZScore, Scale::MinMax] {
            let mut recipe = recipe(&every_kind(), "2..6", 0.8);
            recipe.scale = scale;
            let made = make(table, &recipe).unwrap();
            assert_eq!(made.finished, made.asked);
            assert!(
                made.facts
                    .iter()
                    .all(|facts| facts.clusters <= facts.k && facts.objects == 24)
            );
        }
    }
}

/// A table in groups of seven rows.
struct Sevens(Array2<f64>);

impl partita_generate::RowGroups for Sevens {
    fn dim(&self) -> (usize, usize) {
        self.0.dim()
    }

    fn groups(&self) -> usize {
        self.0.nrows().div_ceil(7)
    }

    fn read(&self, group: usize) -> Result<Array2<f64>, String> {
        let rows = 7 * group..self.0.nrows().min(7 * group + 7);
        Ok(self.0.slice(partita_core::ndarray::s![rows, ..]).to_owned())
    }
}

#[test]
fn a_table_in_groups_gives_the_clusters_of_the_table() {
    use partita_generate::TableView;
    let mut rng = Seed::new(8).rng();
    let table = Array2::from_shape_fn(
        (400, 3),
        |(i, p)| if p == i % 3 { 20.0 } else { 0.0 } + rng.random::<f64>(),
    );
    let base = "kmeans:4,kmeans-greedy:2,kmeans-cosine:2,kmeans-batch:2";
    let recipe = recipe(base, "3", 0.5);
    let whole = common::make(&table, &recipe, 1).unwrap().ensemble;
    let table = Sevens(table);
    let made = |budget: u64, recipe: &Recipe| {
        generate(
            TableView::Groups(&table),
            recipe,
            Seed::new(1),
            MemoryBudget::new(budget),
            &Silent,
        )
    };
    // Little memory: one share a pass.
    for budget in [u64::MAX, 60_000] {
        let groups = made(budget, &recipe).unwrap().ensemble;
        for u in 0..10 {
            let pairs: std::collections::BTreeSet<_> =
                whole.column(u).zip(groups.column(u)).collect();
            assert_eq!(
                pairs
                    .iter()
                    .filter(|pair| pair.0.is_some() && pair.1.is_some())
                    .count(),
                3,
                "base clustering {u}"
            );
            assert!(
                pairs
                    .iter()
                    .all(|pair| pair.0.is_some() == pair.1.is_some()),
                "the same objects are seen"
            );
        }
    }
    let refused = |change: &dyn Fn(&mut Recipe)| {
        let mut recipe = recipe.clone();
        change(&mut recipe);
        made(u64::MAX, &recipe).unwrap_err().to_string()
    };
    assert!(
        refused(&|recipe| recipe.base = BaseSpec::list("ward:2").unwrap())
            .contains("ward needs all of it")
    );
    assert!(refused(&|recipe| recipe.features = 0.7).contains("this recipe needs all of it"));
}

#[test]
fn spectral_graphs_of_neighbours_bear_what_tables_hold() {
    let knn = |table: &Array2<f64>, base_k: &str, subsample: f64| {
        let made = make(table, &recipe("spectral-knn:3", base_k, subsample)).unwrap();
        made.ensemble
    };
    // Fewer rows than neighbours; every row a cluster; a single row seen.
    let few = table(9, 2, 1);
    assert_eq!(knn(&few, "2,9", 1.0).bases()[1].clusters(), 9);
    assert_eq!(knn(&few, "1", 0.1).bases()[0].clusters(), 1);
    // All rows that are seen are equal, but for one in some of the samples.
    let mut equal = Array2::ones((400, 3));
    equal[[399, 0]] = 2.0;
    assert_eq!(knn(&equal, "3", 0.5).bases().len(), 3);
    // Forty places of ten copies each, which nothing joins: more parts than clusters.
    let copies = Array2::from_shape_fn((400, 2), |(i, p)| (i % 40 * (3 + p) * (i % 40)) as f64);
    let found = knn(&copies, "7", 1.0);
    assert!((0..400).all(|i| found.label(i, 0) == found.label(i % 40, 0)));
    // Two groups and rows far from everything.
    let mut far = table(300, 2, 4);
    (0..10).for_each(|i| far[[i, 1]] = 1e6 * (i * i) as f64);
    assert_eq!(knn(&far, "2..6", 0.9).bases().len(), 3);
}

#[test]
fn spectral_takes_all_pairs_of_few_rows_and_neighbours_of_many() {
    let labels = |n: usize, kind: &str| {
        let made = make(&table(n, 2, 5), &recipe(&format!("{kind}:2"), "3,5", 1.0)).unwrap();
        made.ensemble.column(1).collect::<Vec<_>>()
    };
    assert_eq!(labels(300, "spectral"), labels(300, "spectral-dense"));
    assert_eq!(labels(2001, "spectral"), labels(2001, "spectral-knn"));
    let cost = |kind: &str, n: usize| {
        let values = Array2::zeros((n, 4));
        partita_generate::bytes(
            &recipe(&format!("{kind}:1"), "5", 1.0),
            &values.view().into(),
        )
    };
    assert_eq!(cost("spectral", 2000), cost("spectral-dense", 2000));
    assert_eq!(cost("spectral", 2001), cost("spectral-knn", 2001));
    assert!(cost("spectral-dense", 40_000) > 55 << 30 && cost("spectral-knn", 40_000) < 400 << 20);
}

#[test]
fn neighbour_graphs_give_the_same_bits_with_any_number_of_threads() {
    let table = table(900, 5, 6);
    let made = |threads: usize| {
        with_threads(threads, || {
            make(&table, &recipe("spectral-knn:3", "4..12", 0.8)).unwrap()
        })
    };
    assert_eq!(made(1), made(3));
}
