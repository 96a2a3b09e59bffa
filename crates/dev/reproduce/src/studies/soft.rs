//! Soft base clusterings: how well planted shares come back from noisy runs whose columns are in any order.

use anyhow::Result;
use partita::extend::{Shares, SoftBases};
use partita::ndarray::{Array2, Axis};
use partita::{Ensemble, EnsembleBuilder, Seed};
use partita_modes::match_columns;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::{Grid, Lab, Results, Row, Scope, Study, Unit};

pub(super) static SOFT: Soft = Soft;

pub(super) struct Soft;

/// Objects of a planted table.
const OBJECTS: usize = 300;
/// Columns of the planted tables, and how even their rows are (Dirichlet).
const CLUSTERS: [usize; 3] = [3, 6, 10];
const EVENNESS: [f64; 3] = [0.1, 0.5, 1.0];
/// Runs, noise of their shares (standard deviation of logarithms), and whether every other run has a column more or less.
const SETTINGS: [(usize, f64, bool); 5] = [
    (10, 0.5, false),
    (10, 1.5, false),
    (50, 0.5, false),
    (50, 1.5, false),
    (50, 1.0, true),
];
const METHODS: [&str; 14] = [
    "soft-mean",
    "mm",
    "bce",
    "pcc-l2",
    "plurality",
    "nmfc",
    "lwgp",
    "kcc",
    "sec",
    "cts",
    "ecpcs-mc",
    "ecpcs-hc",
    BEST,
    MEAN,
];
const BEST: &str = "best single run";
const MEAN: &str = "mean after alignment";
const QUICK: usize = 1;

fn data(clusters: usize, evenness: f64) -> String {
    format!("K = {clusters}, α = {evenness}")
}

fn setting((runs, noise, mixed): (usize, f64, bool)) -> String {
    format!(
        "M = {runs}, σ = {noise}{}",
        if mixed { ", other K" } else { "" }
    )
}

/// A row of a Dirichlet distribution with equal parameters: normalised Gamma variates (Marsaglia and Tsang, 2000).
fn dirichlet(rows: usize, columns: usize, evenness: f64, rng: &mut impl Rng) -> Array2<f64> {
    let mut table =
        Array2::from_shape_simple_fn((rows, columns), || gamma(evenness, rng).max(1e-300));
    normalise(&mut table);
    table
}

fn gamma(shape: f64, rng: &mut impl Rng) -> f64 {
    // Below 1: a variate of shape + 1 times U^(1/shape).
    let boost = if shape < 1.0 {
        rng.random_range(f64::MIN_POSITIVE..1.0).powf(1.0 / shape)
    } else {
        1.0
    };
    let d = shape.max(if shape < 1.0 { shape + 1.0 } else { shape }) - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        let u: f64 = rng.random_range(f64::MIN_POSITIVE..1.0);
        if v > 0.0 && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v * boost;
        }
    }
}

fn normal(rng: &mut impl Rng) -> f64 {
    let (u, v): (f64, f64) = (
        rng.random_range(f64::MIN_POSITIVE..1.0),
        rng.random_range(0.0..1.0),
    );
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn normalise(table: &mut Array2<f64>) {
    for mut row in table.rows_mut() {
        let sum = row.sum();
        row /= sum;
    }
}

/// A run: the planted shares with noise, columns in any order; with `change`, two columns are one or a column is two.
fn run(truth: &Array2<f64>, noise: f64, change: Option<bool>, rng: &mut impl Rng) -> Array2<f64> {
    let mut table = truth.mapv(|share| (share + 0.01) * (noise * normal(rng)).exp());
    match change {
        Some(true) => {
            let parts: Vec<f64> = (0..table.nrows())
                .map(|_| rng.random_range(0.0..1.0))
                .collect();
            let half = Array2::from_shape_fn((table.nrows(), 1), |(i, _)| table[[i, 0]] * parts[i]);
            table
                .column_mut(0)
                .iter_mut()
                .zip(&parts)
                .for_each(|(share, part)| *share *= 1.0 - part);
            table = partita::ndarray::concatenate![Axis(1), table, half];
        }
        Some(false) if table.ncols() > 2 => {
            let end = table.ncols() - 1;
            let last = table.column(end).to_owned();
            table.remove_index(Axis(1), end);
            table
                .column_mut(0)
                .zip_mut_with(&last, |share, more| *share += more);
        }
        _ => {}
    }
    normalise(&mut table);
    let mut order: Vec<usize> = (0..table.ncols()).collect();
    order.shuffle(rng);
    table.select(Axis(1), &order)
}

/// The planted table and its runs.
fn drawn(unit: &Unit) -> Option<(Array2<f64>, Vec<Array2<f64>>)> {
    let pairs = || {
        CLUSTERS
            .iter()
            .flat_map(|&k| EVENNESS.map(|evenness| (k, evenness)))
    };
    let (k, evenness) = pairs().find(|&(k, evenness)| data(k, evenness) == unit.data)?;
    let (runs, noise, mixed) = SETTINGS
        .into_iter()
        .find(|&one| setting(one) == unit.setting)?;
    let mut rng = Seed::new(unit.seed)
        .child(k as u64)
        .child((100.0 * evenness) as u64)
        .rng();
    let truth = dirichlet(OBJECTS, k, evenness, &mut rng);
    let change = |at: usize| (mixed && at % 2 == 1).then_some(at % 4 == 1);
    let tables = (0..runs)
        .map(|at| run(&truth, noise, change(at), &mut rng))
        .collect();
    Some((truth, tables))
}

fn ensemble(tables: &[Array2<f64>]) -> Result<Ensemble> {
    let mut builder = EnsembleBuilder::new(OBJECTS);
    for (at, table) in tables.iter().enumerate() {
        let shares = Shares::new(table.clone())?;
        let values = (0..table.ncols()).map(|j| j.to_string()).collect();
        builder.push_soft(format!("run{at}"), values, &shares, table.ncols())?;
    }
    Ok(builder.finish()?)
}

/// Root mean square of the differences of shares after the best matching of columns.
fn error(found: &Array2<f64>, truth: &Array2<f64>) -> f64 {
    let matched = match_columns(found.view(), truth.view());
    let mut merged = Array2::zeros(truth.dim());
    for (from, &to) in matched.columns.iter().enumerate() {
        merged
            .column_mut(to)
            .zip_mut_with(&found.column(from), |sum: &mut f64, share| *sum += share);
    }
    ((&merged - truth).mapv(|x| x * x).sum() / truth.len() as f64).sqrt()
}

/// Runs with as many columns as the planted table, in the columns of the first, and their mean.
fn mean_after_alignment(runs: &[&Array2<f64>]) -> Array2<f64> {
    let mut sum = Array2::zeros(runs[0].dim());
    for run in runs {
        let matched = match_columns(run.view(), runs[0].view());
        for (from, &to) in matched.columns.iter().enumerate() {
            sum.column_mut(to)
                .zip_mut_with(&run.column(from), |sum: &mut f64, share| *sum += share);
        }
    }
    sum / runs.len() as f64
}

impl Study for Soft {
    fn name(&self) -> &'static str {
        "soft"
    }

    fn title(&self) -> &'static str {
        "Soft base clusterings: how planted shares come back"
    }

    fn units(&self, scope: Scope) -> Vec<Unit> {
        let mut units = Vec::new();
        for clusters in scope.of(&CLUSTERS, QUICK) {
            for evenness in EVENNESS {
                for seed in 0..scope.seeds {
                    units.extend(SETTINGS.map(|one| {
                        Unit::new(data(*clusters, evenness), setting(one), seed, METHODS)
                    }));
                }
            }
        }
        units
    }

    fn measure(&self, unit: &Unit, lab: &Lab<'_>) -> Result<Vec<Row>> {
        let Some((truth, tables)) = drawn(unit) else {
            return Ok(Vec::new());
        };
        let soft = ensemble(&tables)?;
        let k = truth.ncols();
        let same: Vec<&Array2<f64>> = tables.iter().filter(|table| table.ncols() == k).collect();
        let mut rows = Vec::new();
        for method in &unit.methods {
            let found = match method.as_str() {
                BEST => same
                    .iter()
                    .map(|table| error(table, &truth))
                    .fold(f64::INFINITY, f64::min),
                MEAN => error(&mean_after_alignment(&same), &truth),
                name => {
                    let takes =
                        partita::method(name).map(|method| method.info().capabilities.soft_bases);
                    let hard = soft.clone().hardened();
                    let given = if takes == Ok(SoftBases::Native) {
                        &soft
                    } else {
                        &hard
                    };
                    let outcome = lab.consensus(name, given, None, k, unit.seed, &[])?;
                    let shares = outcome
                        .soft
                        .unwrap_or_else(|| partita::SoftPartition::of(&outcome.partition));
                    error(&shares.into_rows(), &truth)
                }
            };
            rows.push(unit.row(method, "rmse", found));
        }
        Ok(rows)
    }

    fn page(&self, results: &Results) -> String {
        let mut text = String::from(PROTOCOL);
        let names: Vec<String> = CLUSTERS
            .iter()
            .flat_map(|&k| EVENNESS.map(|evenness| data(k, evenness)))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for one in SETTINGS {
            text += &format!("## {}\n\n", setting(one));
            text += &Grid::of_methods(results, &names, &setting(one), &METHODS, "rmse").finish();
        }
        text
    }
}

const PROTOCOL: &str = "\
Planted: 300 objects with shares in K columns, rows drawn from a Dirichlet distribution with parameter α (0.1: nearly hard, 1: even). A run is the\n\
table with every share (plus .01) multiplied by exp(σ times a normal variate), rows divided by their sums, columns in any order; under \"other K\" every\n\
second run has one column divided in two at random or two columns added. Shown is the root mean square difference of shares to the planted table\n\
after the best matching of columns (mean ± sd over seeds): **less is better**. `lwgp`, `kcc`, `sec`, `cts` and\n\
`ecpcs-hc` give labels: what they lose by that is in the figure. `ssce` reads a table, which there is not. \"Best\n\
single run\" knows the answer and takes the run that is nearest to it; \"mean\n\
after alignment\" matches the runs with K columns to the first of them, as CLUMPP does, and takes the mean.\n\n";
