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

#[path = "../tests/it/k_means.rs"]
mod k_means;

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use partita_conformance::race::{Contestant, Figures, cpu_seconds, race, stage};
use partita_core::ndarray::{Array2, ArrayView2, Axis};
use partita_core::{
    Clusters, Ensemble, EnsembleBuilder, Features, Partition, Problem, Seed, SettingMap, Silent,
    consense,
};
use partita_files::{ReadOptions, data_set, read_table};
use partita_metrics::{Contingency, Surplus, align_to, best_reference};
use partita_ssce::SSCE;
use serde_json::{Value, json};

use k_means::k_means;

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
    let rounds = words.first().and_then(|word| word.parse().ok());
    let rounds = rounds.unwrap_or(5);
    println!("medians of {rounds} rounds\n");
    println!(
        "{:<9} {:<22} {:>6} {:>6} {:>8} {:>6}",
        "case", "who", "CPU s", "wall s", "peak MB", "H"
    );
    let folder = tempfile::tempdir()?;
    for case in ["segment", "magic04"] {
        prepare(case, folder.path())?;
        let here = folder.path().display().to_string();
        let mut contestants = Vec::new();
        for (at, (name, _)) in OWN.iter().enumerate() {
            contestants.push(Contestant::own(*name, &["own", &at.to_string(), &here]));
        }
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
    let [objects, columns, clusters] = ["objects", "columns", "clusters"].map(number);
    let bytes = fs::read(folder.join("table.bin"))?;
    let (numbers, _) = bytes.as_chunks();
    let table = numbers
        .iter()
        .map(|&bytes| f64::from_le_bytes(bytes))
        .collect();
    let table = Array2::from_shape_vec((objects, columns), table)?;
    let labels = fs::read(folder.join("labels.bin"))?;
    let labels = Array2::from_shape_vec((objects, BASES as usize), labels)?;
    let mut builder = EnsembleBuilder::new(objects);
    for (u, column) in labels.columns().into_iter().enumerate() {
        builder.push(format!("u{u}"), column.iter().map(|&label| Some(label)))?;
    }
    let ensemble = builder.finish()?;
    let classes = fs::read(folder.join("truth.bin"))?;
    let truth = Partition::new(classes.into_iter().map(u32::from).collect(), clusters)?;
    let names: Vec<String> = (0..columns).map(|j| format!("x{j}")).collect();
    let mut problem = Problem::new(&ensemble, Clusters::Exactly(clusters));
    problem.features = Some(Features::new(&names, table.view())?);
    problem.settings = SettingMap::parse(OWN[which].1)?;
    stage(|| {
        let outcome = consense(&SSCE, &problem, &Silent).expect("a consensus");
        let table = Contingency::new(&outcome.partition, &truth).expect("the same objects");
        vec![("h", table.accuracy())]
    });
    Ok(())
}

/// Small tables of the catalogue, on which the solvers are compared.
const TABLES: &str = "iris wine glass zoo ecoli soybean protein ionosphere wdbc breast-cancer";

/// Mean figures of the solvers: four ensembles of every table, as it is and in z-scores (SSCE itself scales).
fn solvers() -> Result<(), Failure> {
    println!(
        "γ      solver       H: raw, z-scores; mean probability; largest gradient; CPU s a fit"
    );
    for gamma in ["1", "null"] {
        for solver in ["alternating", "joint"] {
            let settings = [format!("gamma={gamma}"), format!("solver={solver}")];
            let mut h = [0.0; 2];
            let mut probability = 0.0;
            let mut slope = 0.0f64;
            let mut cpu = 0.0;
            let fits = 8.0 * TABLES.split(' ').count() as f64;
            for name in TABLES.split(' ') {
                let (values, truth) = classes(name)?;
                let k = truth.clusters();
                let names: Vec<String> = (0..values.ncols()).map(|j| format!("x{j}")).collect();
                for (base, h) in [values.clone(), z_scores(values.view())].iter().zip(&mut h) {
                    for seed in 0..4 {
                        let ensemble = ensemble(base.view(), k, Seed::new(seed))?;
                        let mut problem = Problem::new(&ensemble, Clusters::Exactly(k));
                        problem.features = Some(Features::new(&names, values.view())?);
                        problem.settings = SettingMap::parse(&settings)?;
                        let begun = cpu_seconds();
                        let outcome = consense(&SSCE, &problem, &Silent)?;
                        cpu += (cpu_seconds() - begun) / fits;
                        let accuracy = Contingency::new(&outcome.partition, &truth)?.accuracy();
                        *h += accuracy / (fits / 2.0);
                        let of = outcome.probability().unwrap_or_default();
                        probability += of.iter().sum::<f64>() / of.len() as f64 / fits;
                        let left = outcome.details.get("gradient").and_then(Value::as_f64);
                        slope = slope.max(left.unwrap_or(f64::NAN));
                    }
                }
            }
            let [raw, scaled] = h;
            let mut gradient = String::new();
            if solver == "joint" {
                gradient = format!("{slope:.1e}");
            }
            println!(
                "γ={gamma:<4} {solver:<12} {raw:.3} {scaled:.3} {probability:.2} {gradient:>8} {cpu:.3}"
            );
        }
    }
    Ok(())
}

fn z_scores(values: ArrayView2<'_, f64>) -> Array2<f64> {
    let mean = values.mean_axis(Axis(0)).expect("rows");
    let spread = values.std_axis(Axis(0), 0.0);
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
    let reference = best_reference(&ensemble, None, |_| true).ok_or("no base clusterings")?;
    let alignment = align_to(&ensemble, reference, Surplus::Nearest)?;
    let mut labels: Vec<u8> = Vec::new();
    for i in 0..values.nrows() {
        for u in 0..BASES as usize {
            let label = ensemble.label(i, u);
            labels.push(label.map_or(0, |j| alignment.codes(u)[j] as u8));
        }
    }
    fs::write(folder.join("labels.bin"), labels)?;
    let numbers: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    fs::write(folder.join("table.bin"), numbers)?;
    let classes: Vec<u8> = truth.labels().iter().map(|&label| label as u8).collect();
    fs::write(folder.join("truth.bin"), classes)?;
    let case = json!({"objects": values.nrows(), "columns": values.ncols(), "bases": BASES, "clusters": truth.clusters()});
    fs::write(folder.join("case.json"), case.to_string())?;
    Ok(())
}

fn ensemble(x: ArrayView2<'_, f64>, k: usize, seed: Seed) -> Result<Ensemble, Failure> {
    let mut builder = EnsembleBuilder::new(x.nrows());
    for u in 0..BASES {
        let labels = k_means(x, k, seed.child(u));
        builder.push(format!("u{u}"), labels.into_iter().map(Some))?;
    }
    Ok(builder.finish()?)
}
