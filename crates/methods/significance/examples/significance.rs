//! How often the gap test errs and finds: `cargo xtask bench significance [-- size|power|merging|cost [DRAWS [TABLE]]]`.
//!
//! | part | tables | labels |
//! |---|---|---|
//! | size | one population of twelve shapes, 200 × 2, 600 × 10, 2000 × 50, or TABLE (such as 4000x50) | k-means and Ward's tree with 2 and 5 clusters, Leiden on nearest neighbours at resolutions of .2 and 1 |
//! | power | two normals some standard deviations apart, or a minority of 5 % | k-means with 2 clusters; of a minority the true ones |
//! | merging | 8 normals of different sizes, the nearest 4, 5 and 8 standard deviations apart, 2000 × 10 | the true ones, k-means with 2, 3 and 5 times as many |
//! | cost | 20 normals, 170,000 × 50 | the true ones, 10 of them cut in two |
//!
//! Shapes beyond two columns: bananas, half moons and rings (radius 1, noise of .1) have further columns of noise; *counts* are principal
//! components of the square roots of Poisson counts of a lognormal mean. Size is the share of tables on which the largest p ≤ .01, .05, .10
//! (few clusters), and on which any split is left at α = .05 (few, many); the standard error at 1,000 draws and .05 is .007. Clusters of fewer than 30 rows are
//! merged too, so that nothing is left apart untested.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::error::Error;
use std::f64::consts::{PI, TAU};
use std::time::Instant;

use partita_core::ndarray::{Array2, Axis, s};
use partita_core::{MemoryBudget, Partition, Seed, Silent, map_parallel};
use partita_generate::{BaseSpec, Recipe, generate};
use partita_kmeans::{KMeansSettings, kmeans};
use partita_metrics::Contingency;
use partita_significance::{GapTest, GapTestSettings, gap_test};
use partita_spectral::symmetric_eigen;
use rand::{Rng, RngExt};
use rand_distr::{ChiSquared, Exp1, Poisson, StandardNormal};

type Failure = Box<dyn Error>;

const SHAPES: [(usize, usize); 3] = [(200, 2), (600, 10), (2000, 50)];

/// Labels of one population: the base clusterer, and what makes few clusters and many of it.
const CUTS: [(&str, [&str; 2]); 3] = [
    ("kmeans", ["2", "5"]),
    ("ward", ["2", "5"]),
    ("leiden", ["0.2", "1"]),
];

const NULLS: [&str; 12] = [
    "normal",
    "correlated normal",
    "t3",
    "t3 a column",
    "box",
    "lognormal",
    "exponential",
    "Laplace",
    "banana",
    "half moon",
    "ring",
    "counts",
];

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let part = words.first().map_or("all", String::as_str);
    let draws = |usual: u64| words.get(1).map_or(Ok(usual), |word| word.parse());
    if matches!(part, "all" | "size") {
        sizes(draws(200)?, words.get(2).map(String::as_str))?;
    }
    if matches!(part, "all" | "power") {
        power(draws(40)?);
    }
    if matches!(part, "all" | "merging") {
        merging(draws(12)?);
    }
    if matches!(part, "all" | "cost") {
        cost(draws(170_000)? as usize);
    }
    Ok(())
}

fn test(table: &Array2<f64>, labels: &[u32], seed: u64) -> GapTest {
    let labels: Vec<Option<u32>> = labels.iter().map(|label| Some(*label)).collect();
    let mut settings = GapTestSettings::default();
    // Clusters of fewer than 30 rows are merged too: nothing is left apart untested.
    settings.merge_small = true;
    let budget = MemoryBudget::default();
    let found = gap_test(
        table.view(),
        &labels,
        Seed::new(seed),
        &settings,
        budget,
        &Silent,
    );
    found.expect("a table of numbers with as many labels")
}

fn cut(table: &Array2<f64>, k: usize, seed: u64) -> Vec<u32> {
    let settings = KMeansSettings::default();
    // The best of three starts.
    let start = |unit: u64| {
        kmeans(
            table.view(),
            None,
            k,
            Seed::new(seed).child(unit),
            &settings,
            &Silent,
        )
    };
    let found = (0..3).filter_map(|unit| start(unit).ok());
    let best = found.min_by(|one, other| one.inertia.total_cmp(&other.inertia));
    best.map_or_else(Vec::new, |best| best.labels)
}

/// Labels by a base clusterer, all rows of which it sees.
fn cut_by(table: &Array2<f64>, kind: &str, amount: &str, seed: u64) -> Vec<u32> {
    if kind == "kmeans" {
        return cut(table, amount.parse().expect("a number"), seed);
    }
    let mut recipe = Recipe::default();
    recipe.base = BaseSpec::list(&format!("{kind}:1")).expect("a base clusterer");
    recipe.subsample = 1.0;
    if kind == "leiden" {
        recipe.resolution = amount.parse().expect("a resolution");
    } else {
        recipe.base_k = amount.parse().expect("a number");
    }
    let budget = MemoryBudget::default();
    let made = generate(table.view(), &recipe, Seed::new(seed), budget, &Silent);
    let made = made.expect("a table of numbers").ensemble;
    let label = |row| made.label(row, 0).unwrap_or_default() as u32;
    (0..table.nrows()).map(label).collect()
}

fn normal(n: usize, d: usize, rng: &mut impl Rng) -> Array2<f64> {
    Array2::from_shape_simple_fn((n, d), || rng.sample(StandardNormal))
}

/// A table of one population.
fn null(name: &str, n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut rng = Seed::new(seed).child(n as u64).child(d as u64).rng();
    let chi = ChiSquared::new(3.0).expect("three degrees of freedom");
    let mut table = normal(n, d, &mut rng);
    let rows = table.outer_iter_mut();
    match name {
        "correlated normal" => rows.for_each(|mut row| {
            let common: f64 = rng.sample(StandardNormal);
            row.mapv_inplace(|x| 0.6 * x + 0.8 * common);
        }),
        "t3" => rows.for_each(|mut row| row /= f64::sqrt(rng.sample(chi) / 3.0)),
        "t3 a column" => table.mapv_inplace(|x| x / f64::sqrt(rng.sample(chi) / 3.0)),
        "box" => table.mapv_inplace(|_| rng.random()),
        "lognormal" => table.mapv_inplace(f64::exp),
        "exponential" => table.mapv_inplace(|_| rng.sample(Exp1)),
        "Laplace" => table.mapv_inplace(|x| x.signum() * rng.sample::<f64, _>(Exp1)),
        "banana" => rows.for_each(|mut row| {
            row[1] = 0.3 * row[1] + row[0] * row[0];
            row.slice_mut(s![2..]).mapv_inplace(|x| 0.3 * x);
        }),
        "half moon" | "ring" => rows.for_each(|mut row| {
            let angle = rng.random::<f64>() * if name == "ring" { TAU } else { PI };
            row.mapv_inplace(|x| 0.1 * x);
            row[0] += angle.cos();
            row[1] += angle.sin();
        }),
        "counts" => return counts(n, d, &mut rng),
        _ => {}
    }
    table
}

/// The first principal components of the square roots of counts, whose means differ by column and depth by row.
fn counts(n: usize, d: usize, rng: &mut impl Rng) -> Array2<f64> {
    let columns = 4 * d;
    let means: Vec<f64> = (0..columns)
        .map(|_| (1.0 + rng.sample::<f64, _>(StandardNormal)).exp())
        .collect();
    let mut table = Array2::zeros((n, columns));
    for mut row in table.outer_iter_mut() {
        let depth = (0.3 * rng.sample::<f64, _>(StandardNormal)).exp();
        for (held, mean) in row.iter_mut().zip(&means) {
            let poisson = Poisson::new(mean * depth).expect("a mean above 0");
            *held = f64::sqrt(rng.sample(poisson));
        }
    }
    let centre = table.mean_axis(Axis(0)).expect("rows");
    table -= &centre;
    let pairs = symmetric_eigen(table.t().dot(&table).view()).expect("finite numbers");
    table.dot(&pairs.vectors.slice(s![.., ..d]))
}

fn share(hits: impl IntoIterator<Item = bool>) -> f64 {
    let hits: Vec<bool> = hits.into_iter().collect();
    hits.iter().filter(|hit| **hit).count() as f64 / hits.len().max(1) as f64
}

/// The p-value of the first split: of the pair that was merged, or is the least separate.
fn p_of(found: &GapTest) -> f64 {
    found.nodes.first().map_or(1.0, |node| node.p)
}

/// The largest p-value of labels, and whether any split is left. One cluster is no split.
fn judged(table: &Array2<f64>, labels: &[u32], draw: u64) -> (f64, bool) {
    if labels.iter().all(|label| *label == labels[0]) {
        return (1.0, false);
    }
    let found = test(table, labels, draw);
    (p_of(&found), found.merged.len() > 1)
}

fn sizes(draws: u64, only: Option<&str>) -> Result<(), Failure> {
    println!("size: share of {draws} tables of one population\n");
    println!(
        "{:<18} {:>9} {:>7} {:>7} {:>7} {:>7} {:>6} {:>6}",
        "population", "table", "labels", "p<=.01", "p<=.05", "p<=.10", "few", "many"
    );
    let given = only.and_then(|only| only.split_once('x'));
    let given = given.map(|(n, d)| Ok::<_, Failure>((n.parse()?, d.parse()?)));
    let shapes = given.map_or(Ok(SHAPES.to_vec()), |shape| shape.map(|shape| vec![shape]))?;
    for (n, d) in shapes {
        for name in NULLS {
            for (kind, [few, many]) in CUTS {
                let made = map_parallel(0..draws, |draw| {
                    let table = null(name, n, d, draw);
                    [few, many]
                        .map(|amount| judged(&table, &cut_by(&table, kind, amount, draw), draw))
                });
                let below = |level: f64| share(made.iter().map(|[(p, _), _]| *p <= level));
                println!(
                    "{name:<18} {:>9} {kind:>7} {:>7.3} {:>7.3} {:>7.3} {:>6.3} {:>6.3}",
                    format!("{n}x{d}"),
                    below(0.01),
                    below(0.05),
                    below(0.1),
                    share(made.iter().map(|[(_, split), _]| *split)),
                    share(made.iter().map(|[_, (_, split)]| *split)),
                );
            }
        }
    }
    println!();
    Ok(())
}

fn power(draws: u64) {
    println!("power: share of {draws} tables of two normals with p <= .05\n");
    println!(
        "{:>9} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>11} {:>6}",
        "table", "2 sd", "3", "3.5", "4", "5", "6", "5 % at 5 sd", "6"
    );
    for (n, d) in SHAPES {
        let found = |apart: f64, minority: usize, given: bool| {
            let made = map_parallel(0..draws, |draw| {
                let mut table = normal(n, d, &mut Seed::new(draw).child(n as u64).rng());
                table
                    .slice_mut(s![..minority, 0])
                    .mapv_inplace(|x| x + apart);
                let truth: Vec<u32> = (0..n).map(|row| u32::from(row < minority)).collect();
                let labels = if given { truth } else { cut(&table, 2, draw) };
                p_of(&test(&table, &labels, draw)) <= 0.05
            });
            format!("{:>6.2}", share(made))
        };
        let halves: Vec<String> = [2.0, 3.0, 3.5, 4.0, 5.0, 6.0]
            .iter()
            .map(|apart| found(*apart, n / 2, false))
            .collect();
        println!(
            "{:>9} {} {:>11} {}",
            format!("{n}x{d}"),
            halves.join(" "),
            found(5.0, n / 20, true),
            found(6.0, n / 20, true)
        );
    }
    println!();
}

/// Eight normals whose nearest centres are so far apart, the true cluster of every row.
fn mixture(apart: f64, seed: u64) -> (Array2<f64>, Vec<u32>) {
    let (n, d, k) = (2000, 10, 8);
    let mut rng = Seed::new(seed).child(8).rng();
    let mut centres = normal(k, d, &mut rng);
    let mut nearest = f64::INFINITY;
    for one in 0..k {
        for other in 0..one {
            let between = &centres.row(one) - &centres.row(other);
            nearest = nearest.min(between.dot(&between).sqrt());
        }
    }
    centres *= apart / nearest;
    let weights: Vec<f64> = (0..k)
        .map(|_| (0.6 * rng.sample::<f64, _>(StandardNormal)).exp())
        .collect();
    let sum: f64 = weights.iter().sum();
    let mut truth = Vec::with_capacity(n);
    for (cluster, weight) in weights.iter().enumerate() {
        let rows = ((n as f64 * weight / sum) as usize).max(60);
        truth.extend(std::iter::repeat_n(cluster as u32, rows));
    }
    let mut table = normal(truth.len(), d, &mut rng);
    for (mut row, &cluster) in table.outer_iter_mut().zip(&truth) {
        row += &centres.row(cluster as usize);
    }
    (table, truth)
}

fn ari(one: &[u32], other: &[u32]) -> f64 {
    let [one, other] = [one, other].map(Partition::from_values);
    Contingency::new(&one, &other).map_or(f64::NAN, |table| table.ari())
}

/// Every cluster as the population that most of its rows are of: the best that merging could do.
fn ceiling(labels: &[u32], truth: &[u32]) -> Vec<u32> {
    let clusters = labels.iter().max().map_or(0, |most| *most as usize + 1);
    let mut counts = vec![[0u32; 8]; clusters];
    for (label, truth) in labels.iter().zip(truth) {
        counts[*label as usize][*truth as usize] += 1;
    }
    let most = |counts: &[u32; 8]| (0..8).max_by_key(|&at| counts[at as usize]).unwrap_or(0);
    let best: Vec<u32> = counts.iter().map(most).collect();
    labels.iter().map(|label| best[*label as usize]).collect()
}

fn merging(draws: u64) {
    println!(
        "merging: means over {draws} tables of 8 normals, 2000 x 10, k-means with more clusters\n"
    );
    println!(
        "{:>8} {:>9} {:>10} {:>9} {:>8} {:>9} {:>8}",
        "nearest", "clusters", "ARI before", "after", "ceiling", "clusters", "8 found"
    );
    for apart in [4.0, 5.0, 8.0] {
        for k in [8, 16, 24, 40] {
            let made = map_parallel(0..draws, |draw| {
                let (table, truth) = mixture(apart, draw);
                let labels = if k == 8 {
                    truth.clone()
                } else {
                    cut(&table, k, draw)
                };
                let found = test(&table, &labels, draw);
                let merged: Vec<u32> = found.labels.iter().flatten().copied().collect();
                let best = ceiling(&labels, &truth);
                [
                    ari(&labels, &truth),
                    ari(&merged, &truth),
                    ari(&best, &truth),
                    found.merged.len() as f64,
                    f64::from(u8::from(found.merged.len() == 8)),
                ]
            });
            let mean = |at: usize| made.iter().map(|row| row[at]).sum::<f64>() / made.len() as f64;
            println!(
                "{apart:>8.1} {k:>9} {:>10.3} {:>9.3} {:>8.3} {:>9.1} {:>8.2}",
                mean(0),
                mean(1),
                mean(2),
                mean(3),
                mean(4)
            );
        }
    }
    println!();
}

fn cost(n: usize) {
    let (d, k) = (50, 20);
    let mut rng = Seed::new(1).rng();
    let centres = normal(k, d, &mut rng) * (6.0 / (2.0 * d as f64).sqrt());
    let mut table = normal(n, d, &mut rng);
    let mut labels = Vec::with_capacity(n);
    for (row, mut values) in table.outer_iter_mut().enumerate() {
        let cluster = row % k;
        let side = cluster < 10 && values[0] > 0.0;
        values += &centres.row(cluster);
        labels.push((cluster + if side { k } else { 0 }) as u32);
    }
    let start = Instant::now();
    let found = test(&table, &labels, 1);
    println!(
        "cost: {n} x {d}, 30 clusters of 20 populations: {} left after {} tests of pairs, {:.1} s",
        found.merged.len(),
        found.tests,
        start.elapsed().as_secs_f64()
    );
}
