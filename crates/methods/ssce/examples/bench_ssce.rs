//! SSCE on tables: `cargo xtask bench ssce [--peers] [-- ROUNDS]`. The tables are found through `PARTITA_DATASETS`.
//!
//! | case | table | ensemble |
//! |---|---|---|
//! | segment | 2310 × 19, K = 7 | 20 k-means from random rows, k = K |
//! | magic04 | 19,020 × 10, K = 2 | 20 k-means from random rows, k = K |
//!
//! `ssce` is the default, which chooses γ; `ssce, γ = 1` is not asked to; `ssce, paper` has the paper's formulas and 30
//! rounds, γ = 1. The peer is what the method is made of: 20 logistic regressions by scikit-learn, one for each base
//! clustering under the same names, with the ridge 1 that γ = 1 puts on each before anything ties them, to its
//! default tolerance. `solvers` in place of ROUNDS compares rounds in turn with the joint minimum on ten small tables. CPU seconds are user and system time from labels and table to the outcome; `H` is the share of
//! objects under the best matching with the classes (of the peer, of the plurality of its 20 predictions).
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use partita_conformance::race::{Contestant, Figures, cpu_seconds, race, stage};
use partita_core::ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use partita_core::{
    Clusters, Ensemble, EnsembleBuilder, Features, Partition, Problem, Seed, SettingMap, Silent,
    consense,
};
use partita_files::{ReadOptions, data_set, read_table};
use partita_metrics::{Contingency, Surplus, align_to, best_reference};
use partita_ssce::SSCE;
use rand::seq::index;
use serde_json::{Value, json};

type Failure = Box<dyn Error>;

const BASES: u64 = 20;

/// Contestants of our own, and their settings.
const OWN: [(&str, &[&str]); 4] = [
    ("ssce", &[]),
    ("ssce, γ = 1", &["gamma=1"]),
    ("ssce, γ = 1, joint", &["gamma=1", "solver=joint"]),
    (
        "ssce, paper",
        &[
            "gamma=1",
            "intercept=false",
            "exact=false",
            "shrink=0",
            "rounds=30",
        ],
    ),
];

fn main() -> Result<(), Failure> {
    let words: Vec<String> = env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["own", which, folder] => return own(which.parse()?, Path::new(folder)),
        // For a profile: `prepare segment FOLDER`, then `perf record … own 0 FOLDER`.
        ["prepare", case, folder] => return prepare(case, Path::new(folder)),
        ["solvers"] => return solvers(),
        _ => {}
    }
    let rounds = words
        .first()
        .and_then(|word| word.parse().ok())
        .unwrap_or(5);
    println!("medians of {rounds} rounds\n");
    println!(
        "{:<9} {:<22} {:>6} {:>6} {:>8} {:>6}",
        "case", "who", "CPU s", "wall s", "peak MB", "H"
    );
    let folder = tempfile::tempdir()?;
    for case in ["segment", "magic04"] {
        prepare(case, folder.path())?;
        let here = folder.path().display().to_string();
        let ours = |(at, (name, _)): (usize, &(&str, &[&str]))| {
            Contestant::own(*name, &["own", &at.to_string(), &here])
        };
        let mut contestants: Vec<Contestant> = OWN.iter().enumerate().map(ours).collect();
        contestants.extend(Contestant::peer("20 regressions, untied", &[&here]));
        for (contestant, figures) in contestants.iter().zip(race(&contestants, rounds)?) {
            line(case, &contestant.name, &figures);
        }
    }
    Ok(())
}

fn line(case: &str, name: &str, figures: &Figures) {
    let [cpu, wall, peak, h] =
        ["cpu", "wall", "peak", "h"].map(|figure| figures.get(figure).copied().unwrap_or(f64::NAN));
    println!(
        "{case:<9} {name:<22} {cpu:>6.2} {wall:>6.2} {:>8.0} {h:>6.3}",
        peak / 1e6
    );
}

/// One consensus of the case in the folder.
fn own(which: usize, folder: &Path) -> Result<(), Failure> {
    let case: Value = serde_json::from_slice(&fs::read(folder.join("case.json"))?)?;
    let number = |name: &str| case[name].as_u64().unwrap_or(0) as usize;
    let (objects, columns, clusters) = (number("objects"), number("columns"), number("clusters"));
    let table = fs::read(folder.join("table.bin"))?;
    let table = table
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes")))
        .collect();
    let table = Array2::from_shape_vec((objects, columns), table)?;
    let labels = Array2::from_shape_vec(
        (objects, BASES as usize),
        fs::read(folder.join("labels.bin"))?,
    )?;
    let mut builder = EnsembleBuilder::new(objects);
    for (u, column) in labels.columns().into_iter().enumerate() {
        builder.push(format!("u{u}"), column.iter().map(|&label| Some(label)))?;
    }
    let ensemble = builder.finish()?;
    let truth = Partition::new(
        fs::read(folder.join("truth.bin"))?
            .into_iter()
            .map(u32::from)
            .collect(),
        clusters,
    )?;
    let names: Vec<String> = (0..columns).map(|j| format!("x{j}")).collect();
    let mut problem = Problem::new(&ensemble, Clusters::Exactly(clusters));
    problem.features = Some(Features::new(&names, table.view())?);
    problem.settings = SettingMap::parse(OWN[which].1)?;
    stage(|| {
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        let outcome = consense(&SSCE, &problem, &Silent).expect("a consensus");
        let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
        let h = Contingency::new(&outcome.partition, &truth)
            .expect("the same objects")
            .accuracy();
        vec![("cpu", cpu), ("wall", wall), ("h", h)]
    });
    Ok(())
}

/// Small tables of the catalogue, on which the solvers are compared.
const TABLES: [&str; 10] = [
    "iris",
    "wine",
    "glass",
    "zoo",
    "ecoli",
    "soybean",
    "protein",
    "ionosphere",
    "wdbc",
    "breast-cancer",
];

/// Mean figures of the solvers: four ensembles of every table, as it is and in z-scores (SSCE itself scales).
fn solvers() -> Result<(), Failure> {
    println!("γ      solver       H: raw, z-scores; mean certainty; largest gradient; CPU s a fit");
    for gamma in ["1", "null"] {
        for solver in ["alternating", "joint"] {
            let (mut h, mut sure, mut slope, mut cpu, mut fits) = ([0.0; 2], 0.0, 0.0f64, 0.0, 0.0);
            for name in TABLES {
                let (values, truth) = classes(name)?;
                for (scaled, h) in h.iter_mut().enumerate() {
                    let base = if scaled == 1 {
                        z_scores(values.view())
                    } else {
                        values.clone()
                    };
                    for seed in 0..4 {
                        let ensemble = ensemble(base.view(), truth.clusters(), Seed::new(seed))?;
                        let names: Vec<String> =
                            (0..values.ncols()).map(|j| format!("x{j}")).collect();
                        let mut problem =
                            Problem::new(&ensemble, Clusters::Exactly(truth.clusters()));
                        problem.features = Some(Features::new(&names, values.view())?);
                        problem.settings = SettingMap::parse(&[
                            format!("gamma={gamma}"),
                            format!("solver={solver}"),
                        ])?;
                        let begun = cpu_seconds();
                        let outcome = consense(&SSCE, &problem, &Silent)?;
                        cpu += cpu_seconds() - begun;
                        *h += Contingency::new(&outcome.partition, &truth)?.accuracy()
                            / (4 * TABLES.len()) as f64;
                        sure +=
                            outcome.certainty.iter().sum::<f64>() / outcome.certainty.len() as f64;
                        let left = outcome.details.get("gradient").and_then(Value::as_f64);
                        slope = slope.max(left.unwrap_or(f64::NAN));
                        fits += 1.0;
                    }
                }
            }
            let gradient = if solver == "joint" {
                format!("{slope:.1e}")
            } else {
                String::new()
            };
            let certainty = sure / fits;
            println!(
                "γ={gamma:<4} {solver:<12} {:.3} {:.3} {certainty:.2} {gradient:>8} {:.3}",
                h[0],
                h[1],
                cpu / fits
            );
        }
    }
    Ok(())
}

fn z_scores(values: ArrayView2<'_, f64>) -> Array2<f64> {
    let (mean, spread) = (
        values.mean_axis(Axis(0)).expect("rows"),
        values.std_axis(Axis(0), 0.0),
    );
    let spread = spread.mapv(|spread| if spread > 0.0 { spread } else { 1.0 });
    (&values - &mean) / &spread
}

/// A table of the catalogue and its classes.
fn classes(name: &str) -> Result<(Array2<f64>, Partition), Failure> {
    let place = env::var_os("PARTITA_DATASETS")
        .ok_or("PARTITA_DATASETS names the folder of the data sets; it is not set")?;
    let set = data_set(name).ok_or("a set of the catalogue")?;
    let mut options = ReadOptions::default();
    options.truth = Some("label").into();
    let table = read_table(&PathBuf::from(place).join(&set.file), &options)?;
    let truth = Partition::from_values(&table.label.ok_or("there are classes")?.values);
    Ok((table.values, truth))
}

/// Writes a case for all contestants: the table, the labels of the base clusterings under common names, the classes.
fn prepare(case: &str, folder: &Path) -> Result<(), Failure> {
    let (values, truth) = classes(case)?;
    let ensemble = ensemble(values.view(), truth.clusters(), Seed::new(1))?;
    let reference =
        best_reference(&ensemble, None, |_| true).ok_or("there are base clusterings")?;
    let alignment = align_to(&ensemble, reference, Surplus::Nearest)?;
    let label = |i: usize, u: usize| {
        ensemble
            .label(i, u)
            .map_or(0, |j| alignment.codes(u)[j] as u8)
    };
    let rows = (0..values.nrows()).flat_map(|i| (0..BASES as usize).map(move |u| (i, u)));
    fs::write(
        folder.join("labels.bin"),
        rows.map(|(i, u)| label(i, u)).collect::<Vec<u8>>(),
    )?;
    fs::write(
        folder.join("table.bin"),
        values
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect::<Vec<u8>>(),
    )?;
    fs::write(
        folder.join("truth.bin"),
        truth
            .labels()
            .iter()
            .map(|&label| label as u8)
            .collect::<Vec<u8>>(),
    )?;
    let case = json!({"objects": values.nrows(), "columns": values.ncols(), "bases": BASES, "clusters": truth.clusters()});
    fs::write(folder.join("case.json"), case.to_string())?;
    Ok(())
}

fn ensemble(x: ArrayView2<'_, f64>, k: usize, seed: Seed) -> Result<Ensemble, Failure> {
    let mut builder = EnsembleBuilder::new(x.nrows());
    for u in 0..BASES {
        builder.push(
            format!("u{u}"),
            k_means(x, k, seed.child(u)).into_iter().map(Some),
        )?;
    }
    Ok(builder.finish()?)
}

/// k-means from random rows; a cluster that loses all of its rows keeps its centre.
fn k_means(x: ArrayView2<'_, f64>, k: usize, seed: Seed) -> Vec<u32> {
    let mut centres = x.select(
        Axis(0),
        &index::sample(&mut seed.rng(), x.nrows(), k).into_vec(),
    );
    let mut labels = vec![u32::MAX; x.nrows()];
    for _ in 0..100 {
        let far = |row: ArrayView1<'_, f64>, c: usize| {
            row.iter()
                .zip(centres.row(c))
                .map(|(a, b)| (a - b) * (a - b))
                .sum()
        };
        let nearest = |row: ArrayView1<'_, f64>| {
            let distances: Vec<f64> = (0..k).map(|c| far(row, c)).collect();
            (1..k).fold(0, |best, c| {
                if distances[c] < distances[best] {
                    c
                } else {
                    best
                }
            }) as u32
        };
        let next: Vec<u32> = x.outer_iter().map(nearest).collect();
        if next == labels {
            break;
        }
        labels = next;
        let (mut sums, mut sizes) = (Array2::<f64>::zeros(centres.dim()), vec![0.0; k]);
        for (row, &label) in x.outer_iter().zip(&labels) {
            sums.row_mut(label as usize).scaled_add(1.0, &row);
            sizes[label as usize] += 1.0;
        }
        for (c, &size) in sizes.iter().enumerate().filter(|(_, size)| **size > 0.0) {
            centres.row_mut(c).assign(&(&sums.row(c) / size));
        }
    }
    labels
}
