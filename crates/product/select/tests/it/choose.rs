//! How many clusters tables have.

use std::path::Path;

use partita_core::ndarray::Array2;
use partita_core::{MemoryBudget, Seed, Silent};
use partita_files::{ReadOptions, read_table};
use partita_generate::{Scale, scale};
use partita_select::{Choice, ChooseSettings, Null, SelectError, choose_clusters};
use partita_synth::{SynthSettings, synthesise};
use rand::RngExt;

use crate::common::Patience;

fn normal(rng: &mut impl rand::Rng) -> f64 {
    (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt()
        * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

/// One Gaussian with these deviations.
fn gaussian(objects: usize, deviations: &[f64], seed: u64) -> Array2<f64> {
    let mut rng = Seed::new(seed).rng();
    Array2::from_shape_fn((objects, deviations.len()), |(_, j)| {
        deviations[j] * normal(&mut rng)
    })
}

fn uniform(objects: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = Seed::new(seed).rng();
    Array2::from_shape_simple_fn((objects, columns), || rng.random::<f64>())
}

/// A data set that lies in the repository.
fn data(name: &str) -> Array2<f64> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../datasets");
    let table = read_table(&folder.join(name), &ReadOptions::default());
    table.expect("it lies in the repository").values
}

/// Gaussians of which the right number is 4.
fn four_gaussians(objects: usize, seed: u64) -> Array2<f64> {
    let made = synthesise(
        "gaussians",
        objects,
        Seed::new(seed),
        &SynthSettings::default(),
    );
    made.expect("it is listed").values
}

fn small() -> ChooseSettings {
    let mut settings = ChooseSettings::default();
    settings.runs = 40.try_into().expect("40 is not 0");
    settings.draws = 10;
    settings
}

fn choose(table: &Array2<f64>, last: usize, seed: u64, settings: &ChooseSettings) -> Choice {
    let budget = MemoryBudget::UNLIMITED;
    let seed = Seed::new(seed);
    choose_clusters(table.view(), 2..=last, seed, settings, budget, &Silent)
        .expect("the table has clusters to look at")
}

#[test]
fn nothing_is_found_where_nothing_is() {
    for seed in 0..3 {
        let tables = [
            uniform(200, 2, seed),
            uniform(200, 5, seed),
            gaussian(200, &[1.0; 5], seed),
            gaussian(200, &[5.0, 1.0], seed),
        ];
        for (which, table) in tables.iter().enumerate() {
            let choice = choose(table, 8, seed, &small());
            let reason = &choice.reason;
            assert_eq!(choice.clusters, 1, "{which} {seed}: {reason}");
            let begin = "1 cluster: from 2 to 8 clusters nothing";
            assert!(reason.starts_with(begin), "{reason}");
        }
    }
}

/// Correlated Gaussian noise: a random mixture of independent columns.
fn correlated(objects: usize, columns: usize, seed: u64) -> Array2<f64> {
    let ones = vec![1.0; columns];
    gaussian(objects, &ones, seed).dot(&gaussian(columns, &ones, seed + 1000))
}

/// Draws a table by its seed.
type Draw = fn(u64) -> Array2<f64>;

#[test]
fn noise_of_fifty_seeds_has_no_clusters() {
    let kinds: [(&str, Draw); 3] = [
        ("Gaussian", |seed| gaussian(100, &[1.0; 5], seed)),
        ("uniform", |seed| uniform(100, 5, seed)),
        ("correlated", |seed| correlated(100, 5, seed)),
    ];
    for (name, table) in kinds {
        let seeds = (0..50).filter(|&seed| choose(&table(seed), 8, seed, &small()).clusters != 1);
        let found = seeds.count();
        assert!(
            found <= 2,
            "{name}: clusters were found {found} times of 50"
        );
    }
}

#[test]
fn what_is_there_is_found() {
    for seed in 0..3 {
        let choice = choose(&four_gaussians(400, seed), 8, seed, &small());
        assert_eq!(choice.clusters, 4, "{seed}: {}", choice.reason);
    }
    let wine = scale(data("wine.csv").view(), Scale::ZScore);
    let wine = choose(&wine, 8, 1, &small());
    assert_eq!(wine.clusters, 3, "{}", wine.reason);
    // Two of the three species of iris overlap.
    let iris = choose(&data("iris.csv"), 8, 1, &small());
    assert_eq!(iris.clusters, 2, "{}", iris.reason);
    assert!(iris.row(3).unwrap().rcsi.unwrap() > iris.row(4).unwrap().rcsi.unwrap());
}

#[test]
fn a_line_holds_what_it_says() {
    let choice = choose(&four_gaussians(300, 3), 6, 3, &small());
    assert!(choice.rows.iter().map(|row| row.clusters).eq(2..=6));
    for row in &choice.rows {
        assert_eq!((row.cdf.len(), row.cdf[100]), (101, 1.0));
        assert!(row.cdf.is_sorted());
        assert!((row.cdf[90] - row.cdf[10] - row.pac.unwrap()).abs() < 1e-12);
        let partition = row.partition.as_ref().unwrap();
        assert_eq!(partition.objects(), 300);
        assert_eq!(partition.live_clusters(), row.clusters);
        assert_eq!(row.cluster_evidence.len(), row.clusters);
        assert!(row.within.unwrap() > row.between.unwrap());
        let nulls = row.references.iter().map(|one| one.null);
        assert!(nulls.eq([Null::Gaussian, Null::Box]));
        for one in &row.references {
            assert_eq!(one.draws, 10);
            let pac = one.pac.unwrap();
            assert!(pac.low <= pac.mean && pac.mean <= pac.high && one.rcsi >= row.rcsi);
        }
    }
    assert!(choice.rows.is_sorted_by(|a, b| a.dispersion > b.dispersion));
    let json = serde_json::to_value(&choice).unwrap();
    assert_eq!(json["clusters"], 4);
    assert_eq!(json["criterion"], "rcsi");
    assert_eq!(json["rows"][2]["references"][1]["null"], "box");
}

#[test]
fn the_same_seed_gives_the_same_bits_for_any_number_of_threads() {
    let table = gaussian(120, &[3.0, 1.0, 1.0], 7);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build()
            .unwrap()
            .install(|| choose(&table, 5, 7, &small()))
    };
    let one = with(1);
    assert_eq!(one, with(3));
    assert_ne!(one.rows, choose(&table, 5, 8, &small()).rows);
}

#[test]
fn components_left_out_do_not_change_the_answer() {
    let wdbc = scale(data("wdbc.csv").view(), Scale::ZScore);
    let mut wide = SynthSettings::default();
    wide.clusters = Some(5);
    wide.dimensions = Some(30);
    let blobs = synthesise("blobs", 300, Seed::new(2), &wide)
        .unwrap()
        .values;
    for (name, table, last) in [("wdbc", wdbc, 6), ("blobs", blobs, 8)] {
        let mut settings = small();
        settings.draws = 12;
        let fewer = choose(&table, last, 1, &settings);
        settings.variance = 1.0;
        let all = choose(&table, last, 1, &settings);
        assert_ne!(fewer.rows, all.rows, "{name}: some are left out");
        let reasons = [fewer.reason, all.reason];
        assert_eq!(fewer.clusters, all.clusters, "{name}: {reasons:?}");
    }
}

#[test]
fn a_sample_of_a_sparse_table_is_that_of_the_dense_one() {
    let table = four_gaussians(500, 5);
    let sparse = sprs::CsMat::csr_from_dense(table.view(), 0.0);
    let mut settings = small();
    settings.objects = 200;
    settings.draws = 3;
    settings.scale = "zscore".into();
    let budget = MemoryBudget::UNLIMITED;
    let seed = Seed::new(5);
    let found = choose_clusters(sparse.view(), 2..=4, seed, &settings, budget, &Silent).unwrap();
    assert_eq!(found, choose(&table, 4, 5, &settings));
}

#[test]
fn large_tables_are_sampled() {
    let mut settings = small();
    settings.objects = 300;
    settings.pairs = 10_000;
    let choice = choose(&four_gaussians(20_000, 5), 6, 5, &settings);
    let objects = choice.objects.as_ref().unwrap();
    assert!(objects.len() == 300 && objects.is_sorted_by(|a, b| a < b));
    assert_eq!(choice.clusters, 4, "{}", choice.reason);
    assert_eq!(choice.rows[0].partition.as_ref().unwrap().objects(), 300);
}

#[test]
fn a_stop_leaves_what_is_finished() {
    let table = four_gaussians(100, 1);
    let look = |monitor: &Patience| {
        let budget = MemoryBudget::UNLIMITED;
        choose_clusters(table.view(), 2..=5, Seed::new(1), &small(), budget, monitor)
    };
    let monitor = Patience::new(u64::MAX / 2);
    assert_eq!(look(&monitor).unwrap().clusters, 4);
    let ticks = u64::MAX / 2 - monitor.left.into_inner();
    assert_eq!(monitor.most.into_inner(), monitor.total.into_inner());
    let mut nothing = 0;
    let mut some = 0;
    let mut referred = 0;
    for share in [0, 1, 5, 15, 40, 85] {
        match look(&Patience::new(ticks * share / 100)) {
            Err(SelectError::Interrupted) => nothing += 1,
            Ok(choice) => {
                assert!(choice.interrupted && !choice.rows.is_empty());
                some += 1;
                referred += usize::from(choice.rows[0].rcsi.is_some());
            }
            Err(error) => panic!("{error}"),
        }
    }
    let each = nothing > 0 && some > 0 && referred > 0;
    assert!(each, "{nothing} {some} {referred}");
}

type Change = fn(&mut ChooseSettings);

#[test]
fn what_can_not_be_followed_is_refused() {
    let table = uniform(20, 2, 1);
    let refusal = |table: &Array2<f64>, range, settings: &ChooseSettings, budget| {
        let refused = choose_clusters(table.view(), range, Seed::new(0), settings, budget, &Silent);
        refused.unwrap_err().to_string()
    };
    let free = MemoryBudget::UNLIMITED;
    assert_eq!(
        refusal(&table, 16..=20, &small(), free),
        "cannot look at 16 to 20 clusters of 20 objects; name two numbers between 2 and 15"
    );
    assert!(refusal(&table, 0..=1, &small(), free).contains("0 to 1 clusters"));
    let changes: [(Change, &str); 5] = [
        (|s| s.subsample = 0.0, "setting 'subsample' is 0"),
        (
            |s| s.runs = 1.try_into().unwrap(),
            "'runs' is 1; it must be a whole number from 2",
        ),
        (|s| s.base = "kmeans-cosine".into(), "angles change"),
        (|s| s.base = "no-such".into(), "no base clusterer 'no-such'"),
        (
            |s| s.consensus = "no-such".into(),
            "there is no method 'no-such'",
        ),
    ];
    for (change, part) in changes {
        let mut settings = small();
        change(&mut settings);
        let refusal = refusal(&table, 2..=3, &settings, free);
        assert!(refusal.contains(part), "{refusal}");
        assert_eq!(
            refusal.contains("above 0"),
            settings.subsample == 0.0,
            "{refusal}"
        );
    }
    assert!(refusal(&table, 2..=3, &small(), MemoryBudget::new(100)).contains("memory budget"));
    let equal = refusal(&Array2::ones((9, 2)), 2..=3, &small(), free);
    assert_eq!(equal, "all rows of the table are equal");
    let mut holes = table.clone();
    holes[[3, 1]] = f64::NAN;
    let holes = refusal(&holes, 2..=3, &small(), free);
    assert_eq!(holes, "object 3 has NaN in column 1");
    let few = choose(&table, 40, 1, &small());
    assert_eq!(few.rows.last().unwrap().clusters, 15);
    let warning = "20 objects leave room for 15 clusters, not 40";
    assert_eq!(few.warnings[0], warning);
}

#[test]
fn without_references_the_answer_says_so() {
    let mut settings = small();
    settings.draws = 0;
    let choice = choose(&four_gaussians(200, 1), 6, 1, &settings);
    let reason = &choice.reason;
    assert!(reason.contains("nothing was compared"), "{reason}");
    let mut rows = choice.rows.iter();
    assert!(rows.all(|row| row.rcsi.is_none() && row.p.is_none()));
}
