//! Many k-means runs over one table, beside scikit-learn (single precision, Lloyd) and faiss (25 rounds), from the same
//! starting centres: `cargo xtask bench generate --peers [-- RUNS ROUNDS]`.
//!
//! | case | table | runs |
//! |---|---|---|
//! | a | the 1797 handwritten digits, 64 columns | k 10 to 30 on all rows |
//! | b | 20,000 × 16, Gaussian mixture of 20 | k 10 to 30 on all rows |
//! | c | 120,000 × 39, Gaussian mixture of 8, columns of unequal spread | k 2 to 10 on halves of the rows |
//!
//! Starting centres are distinct rows, drawn evenly. CPU seconds are user and system time of the clustering alone,
//! reading not counted. The second table says how much of what one core can do that is: products and sums of the
//! distances, 2·n·d·k a round, beside a large product of matrices by faer; and the rows as if each run read its own
//! from memory once a round, beside a copy of 256 MB.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use partita_conformance::race::{Contestant, Figures, cpu_seconds, race, stage};
use partita_core::ndarray::{Array2, Axis};
use partita_core::{Seed, Silent};
use partita_files::{ReadOptions, Table, read_table, write_table};
use partita_kmeans::{KMeans, KMeansRun, KMeansSettings, kmeans_many};
use partita_synth::{SynthSettings, synthesise};
use rand::seq::index::sample;
use serde::{Deserialize, Serialize};

type Failure = Box<dyn Error>;

/// One k-means: the rows it starts from, and those that it sees.
#[derive(Serialize, Deserialize)]
struct Run {
    centres: Vec<usize>,
    objects: Option<Vec<usize>>,
}

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["own", folder] => return own(Path::new(folder)),
        // For a profile: `prepare c 100 FOLDER`, then `perf record … own FOLDER`.
        ["prepare", case, runs, folder] => return prepare(case, runs.parse()?, Path::new(folder)),
        ["core"] => {
            core();
            return Ok(());
        }
        _ => {}
    }
    let number = |place: usize, default: usize| {
        words
            .get(place)
            .and_then(|word| word.parse().ok())
            .unwrap_or(default)
    };
    let (runs, rounds) = (number(0, 100), number(1, 3));
    println!("{runs} runs a case, medians of {rounds} rounds\n");
    println!(
        "{:<5} {:<14} {:>7} {:>9} {:>9} {:>9} {:>9} {:>16} {:>12}",
        "case",
        "who",
        "threads",
        "CPU ms",
        "wall ms",
        "of peer",
        "peak MB",
        "mean inertia",
        "to peer"
    );
    let folder = tempfile::tempdir()?;
    let mut achieved = Vec::new();
    for case in ["a", "b", "c"] {
        prepare(case, runs, folder.path())?;
        let here = folder.path().display().to_string();
        for threads in [1, 2] {
            let peers =
                ["scikit-learn", "faiss"].map(|peer| Contestant::peer(peer, &[peer, &here]));
            let contestants: Vec<Contestant> =
                std::iter::once(Contestant::own("partita", &["own", &here]))
                    .chain(peers.into_iter().flatten())
                    .collect();
            let contestants: Vec<Contestant> =
                contestants.into_iter().map(|who| who.on(threads)).collect();
            let figures = race(&contestants, rounds)?;
            for (who, own) in contestants.iter().zip(&figures) {
                // Where there are peers the first of them is scikit-learn.
                report(case, &who.name, threads, runs, own, figures.get(1));
            }
            if threads == 1 {
                achieved.push((
                    case,
                    figures[0]["flop"] / figures[0]["cpu"],
                    figures[0]["read"] / figures[0]["cpu"],
                ));
            }
        }
    }
    let core = race(&[Contestant::own("core", &["core"])], rounds)?.remove(0);
    let (flop, read) = (core["flop"] / 1e9, core["read"] / 1e9);
    println!(
        "\n{:<5} {:>9} {:>9} {:>9} {:>9}",
        "case", "GFLOP/s", "of core", "GB/s", "of core"
    );
    println!(
        "{:<5} {flop:>9.1} {:>9.2} {read:>9.1} {:>9.2}",
        "core", 1.0, 1.0
    );
    for (case, own, own_read) in achieved {
        let (own, own_read) = (own / 1e9, own_read / 1e9);
        println!(
            "{case:<5} {own:>9.1} {:>9.2} {own_read:>9.1} {:>9.2}",
            own / flop,
            own_read / read
        );
    }
    Ok(())
}

/// What one core can do: the fastest of five large products of matrices, and of five copies.
fn core() {
    let side = 1024;
    let a = faer::Mat::<f32>::from_fn(side, side, |i, j| (i + j) as f32);
    let mut product = faer::Mat::<f32>::zeros(side, side);
    let (from, mut to) = (vec![1_u8; 256 << 20], vec![0_u8; 256 << 20]);
    let (mut flop, mut read) = (0.0_f64, 0.0_f64);
    for _ in 0..5 {
        let begun = cpu_seconds();
        faer::linalg::matmul::matmul(
            &mut product,
            faer::Accum::Replace,
            &a,
            &a,
            1.0,
            faer::Par::Seq,
        );
        flop = flop.max(2.0 * (side as f64).powi(3) / (cpu_seconds() - begun));
        let begun = cpu_seconds();
        to.copy_from_slice(std::hint::black_box(&from));
        read = read.max(from.len() as f64 / (cpu_seconds() - begun));
    }
    assert!(product[(1, 1)] > 0.0 && to[7] == 1);
    stage(|| vec![("flop", flop), ("read", read)]);
}

fn report(
    case: &str,
    name: &str,
    threads: usize,
    runs: usize,
    own: &Figures,
    peer: Option<&Figures>,
) {
    let per_run = |figures: &Figures, name: &str| 1000.0 * figures[name] / runs as f64;
    let ratio = |name: &str| peer.map_or(f64::NAN, |peer| own[name] / peer[name]);
    println!(
        "{case:<5} {name:<14} {threads:>7} {:>9.2} {:>9.2} {:>9.2} {:>9.0} {:>16.1} {:>11.4}%",
        per_run(own, "cpu"),
        per_run(own, "wall"),
        ratio("cpu"),
        own["peak"] / 1e6,
        own["inertia"],
        100.0 * (ratio("inertia") - 1.0)
    );
}

/// Writes the table and the runs of a case.
fn prepare(case: &str, count: usize, folder: &Path) -> Result<(), Failure> {
    let mut table = match case {
        "a" => {
            let digits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../datasets/digits.csv");
            read_table(&digits, &ReadOptions::default())?
        }
        "b" => mixture(20_000, 16, 20)?,
        _ => {
            let mut table = mixture(120_000, 39, 8)?;
            for (mut column, p) in table.values.axis_iter_mut(Axis(1)).zip(1..) {
                column /= f64::from(p);
            }
            table
        }
    };
    table.label = None;
    let n = table.values.nrows();
    write_table(&folder.join("table.npy"), &table)?;
    let mut rng = Seed::new(17).rng();
    let runs = (0..count).map(|u| {
        let k = if case == "c" { 2 + u % 9 } else { 10 + u % 21 };
        let objects = (case == "c").then(|| {
            let mut half = sample(&mut rng, n, n / 2).into_vec();
            half.sort_unstable();
            half
        });
        let rows = objects.as_ref().map_or(n, Vec::len);
        let centres = sample(&mut rng, rows, k)
            .into_iter()
            .map(|at| objects.as_ref().map_or(at, |rows| rows[at]));
        Run {
            centres: centres.collect(),
            objects,
        }
    });
    let runs: Vec<Run> = runs.collect();
    serde_json::to_writer(
        BufWriter::new(File::create(folder.join("runs.json"))?),
        &runs,
    )?;
    Ok(())
}

fn mixture(objects: usize, dimensions: usize, clusters: usize) -> Result<Table, Failure> {
    let mut settings = SynthSettings::default();
    settings.dimensions = Some(dimensions);
    settings.clusters = Some(clusters);
    let made = synthesise("gaussians", objects, Seed::new(1), &settings)?;
    Ok(Table {
        columns: made.columns,
        values: made.values,
        object_names: None,
        label: None,
        gaps: Vec::new(),
    })
}

/// Our own turn.
fn own(folder: &Path) -> Result<(), Failure> {
    let table = read_table(&folder.join("table.npy"), &ReadOptions::default())?.values;
    let runs: Vec<Run> =
        serde_json::from_reader(BufReader::new(File::open(folder.join("runs.json"))?))?;
    let starts: Vec<Array2<f64>> = runs
        .iter()
        .map(|run| table.select(Axis(0), &run.centres))
        .collect();
    let runs: Vec<KMeansRun<'_>> = runs
        .iter()
        .zip(&starts)
        .map(|(run, centres)| KMeansRun {
            centres: centres.view(),
            objects: run.objects.as_deref(),
        })
        .collect();
    let mut failure = None;
    stage(
        || match kmeans_many(table.view(), &runs, &KMeansSettings::default(), &Silent) {
            Ok(made) => {
                let d = table.ncols() as f64;
                let cells =
                    |run: &KMeans| run.labels.len() as f64 * d * (run.iterations + 1) as f64;
                vec![
                    (
                        "inertia",
                        made.iter().map(|run| run.inertia).sum::<f64>() / made.len() as f64,
                    ),
                    (
                        "flop",
                        made.iter()
                            .map(|run| 2.0 * cells(run) * run.centres.nrows() as f64)
                            .sum(),
                    ),
                    ("read", made.iter().map(|run| 4.0 * cells(run)).sum()),
                ]
            }
            Err(error) => {
                failure = Some(error);
                Vec::new()
            }
        },
    );
    failure.map_or(Ok(()), |error| Err(error.into()))
}
