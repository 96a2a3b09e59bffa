//! With half of the labels missing, the consensus is as good as with all of them.
//!
//! A debug build takes a sample: two seeds, the first thousand digits and the three methods without a slow loop over
//! objects. Everything (five seeds, all digits, all methods): `cargo test --release -p partita-mixture --test missing`.

use std::env;
use std::path::PathBuf;

use partita_core::ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use partita_core::{
    Clusters, Consensus, Ensemble, EnsembleBuilder, Partition, Problem, Seed, Silent, consense,
};
use partita_files::{ReadOptions, read_table};
use partita_metrics::Contingency;
use partita_mixture::{BCE, MM, NBCE_CVB, NBCE_GIBBS, NBCE_VB};
use rand::{Rng, RngExt};

const BASES: usize = 100;
const FULL: bool = !cfg!(debug_assertions);
const SEEDS: u64 = if FULL { 5 } else { 2 };
const ROWS: usize = if FULL { usize::MAX } else { 1000 };

/// What the acceptance allows H to fall, and what it must be with all labels.
const FALL: f64 = 0.03;

fn methods() -> Vec<&'static dyn Consensus> {
    let mut methods: Vec<&dyn Consensus> = vec![&MM, &NBCE_VB, &NBCE_CVB];
    if FULL {
        methods.extend([&BCE as &dyn Consensus, &NBCE_GIBBS]);
    }
    methods
}

/// A table with its classes; none where the variable is not set, which a build server may not do.
fn data(name: &str) -> Option<(Array2<f64>, Partition)> {
    let Some(folder) = env::var_os("PARTITA_DATASETS") else {
        assert!(env::var_os("CI").is_none(), "PARTITA_DATASETS is not set");
        return None;
    };
    let mut options = ReadOptions::default();
    options.truth = Some("label").into();
    let table = read_table(&PathBuf::from(folder).join(name), &options).unwrap();
    let rows = table.values.nrows().min(ROWS);
    let truth = Partition::from_values(&table.label.unwrap().values[..rows]);
    Some((table.values.slice(s![..rows, ..]).to_owned(), truth))
}

fn standardised(values: &Array2<f64>) -> Array2<f64> {
    let (mean, sd) = (
        values.mean_axis(Axis(0)).unwrap(),
        values.std_axis(Axis(0), 0.0),
    );
    (values - &mean) / &sd
}

fn squared(a: ArrayView1<'_, f64>, b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Lloyd's iterations from random rows.
fn kmeans(values: ArrayView2<'_, f64>, clusters: usize, rng: &mut impl Rng) -> Vec<u32> {
    let n = values.nrows();
    let mut centres: Vec<Vec<f64>> = (0..clusters)
        .map(|_| values.row(rng.random_range(0..n)).to_vec())
        .collect();
    let mut labels = vec![0u32; n];
    for _ in 0..10 {
        let (mut sums, mut sizes) = (
            vec![vec![0.0; values.ncols()]; clusters],
            vec![0.0; clusters],
        );
        for (label, row) in labels.iter_mut().zip(values.outer_iter()) {
            let distances = centres.iter().map(|centre| squared(row, centre));
            let best = distances
                .enumerate()
                .min_by(|(_, a), (_, b)| a.total_cmp(b))
                .unwrap()
                .0;
            *label = best as u32;
            sizes[best] += 1.0;
            sums[best]
                .iter_mut()
                .zip(row)
                .for_each(|(sum, x)| *sum += x);
        }
        for ((centre, sum), size) in centres
            .iter_mut()
            .zip(sums)
            .zip(sizes)
            .filter(|(_, size)| *size > 0.0)
        {
            *centre = sum.into_iter().map(|sum| sum / size).collect();
        }
    }
    labels
}

/// As the preset `pcc-1` has it: with all labels, and with half of them.
fn ensembles(values: ArrayView2<'_, f64>, seed: u64) -> [Ensemble; 2] {
    let (mut rng, mut missing) = (Seed::new(seed).rng(), Seed::new(seed).child(1).rng());
    let root = (values.nrows() as f64).sqrt();
    let mut builders = [(); 2].map(|()| EnsembleBuilder::new(values.nrows()));
    for u in 0..BASES {
        let clusters = rng.random_range((root / 2.0).ceil() as usize..=root.ceil() as usize);
        let labels = kmeans(values, clusters, &mut rng);
        let half = labels
            .iter()
            .map(|&label| missing.random_bool(0.5).then_some(label))
            .collect::<Vec<_>>();
        builders[0]
            .push(
                format!("u{u}"),
                labels.into_iter().map(Some).collect::<Vec<_>>(),
            )
            .unwrap();
        builders[1].push(format!("u{u}"), half).unwrap();
    }
    builders.map(|builder| builder.finish().unwrap())
}

fn check(values: ArrayView2<'_, f64>, truth: &Partition, least: f64) {
    let ensembles: Vec<[Ensemble; 2]> = (0..SEEDS).map(|seed| ensembles(values, seed)).collect();
    for method in methods() {
        let mut means = [0.0; 2];
        for (seed, pair) in (0..SEEDS).zip(&ensembles) {
            for (mean, ensemble) in means.iter_mut().zip(pair) {
                let mut problem = Problem::new(ensemble, Clusters::Exactly(truth.clusters()));
                problem.seed = Seed::new(seed);
                let outcome = consense(method, &problem, &Silent).unwrap();
                *mean += Contingency::new(&outcome.partition, truth)
                    .unwrap()
                    .accuracy()
                    / SEEDS as f64;
            }
        }
        let name = method.info().name;
        assert!(means[0] - means[1] < FALL, "{name}: H {means:?}");
        assert!(means[0] > least, "{name}: H {means:?}");
    }
}

#[test]
fn wine_with_half_of_its_labels() {
    let Some((values, truth)) = data("wine.csv") else {
        return;
    };
    check(standardised(&values).view(), &truth, 0.93);
}

#[test]
fn digits_with_half_of_their_labels() {
    let Some((values, truth)) = data("optdigits.csv") else {
        return;
    };
    check(values.view(), &truth, 0.84);
}
