//! k-means on labels beside scikit-learn's k-means on the sparse one-hot matrix of the same labels:
//! `cargo xtask bench median --peers [-- ROUNDS]`.
//!
//! | case | ensemble of 1,000,000 × 20 |
//! |---|---|
//! | a | ten planted clusters, ten clusters a base clustering, three quarters of the labels are noise |
//! | b | ten planted clusters, five to twenty clusters a base clustering, half of the labels is noise |
//!
//! Both sides at their defaults: `kc` draws ten starts, scikit-learn one. CPU seconds are user and system time of the
//! consensus (for `kc` from the labels to the outcome; for scikit-learn of the fit, without making the matrix). All
//! figures are means over the seeds 0, 1 and 2, of mini-batches over seed 0 alone. One thread.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use partita_conformance::race::{Contestant, Figures, cpu_seconds, race, stage};
use partita_core::ndarray::Array2;
use partita_core::{
    BaseClustering, Clusters, Ensemble, Partition, Problem, Seed, Silent, consense,
};
use partita_median::KC;
use partita_metrics::Contingency;
use rand::RngExt;
use serde_json::{Value, json};

type Failure = Box<dyn Error>;

const OBJECTS: usize = 1_000_000;
const BASES: usize = 20;
const CLUSTERS: usize = 10;
const SEEDS: u64 = 3;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["own", folder] => return own(Path::new(folder)),
        // For a profile: `prepare a FOLDER`, then `perf record … own FOLDER`.
        ["prepare", case, folder] => return prepare(case, Path::new(folder)),
        _ => {}
    }
    let rounds = words
        .first()
        .and_then(|word| word.parse().ok())
        .unwrap_or(3);
    println!("medians of {rounds} rounds\n");
    println!(
        "{:<5} {:<20} {:>6} {:>6} {:>8} {:>14} {:>6}",
        "case", "who", "CPU s", "wall s", "peak MB", "squares", "ARI"
    );
    let folder = tempfile::tempdir()?;
    for case in ["a", "b"] {
        prepare(case, folder.path())?;
        let here = folder.path().display().to_string();
        let peers = [
            ("k-means, one-hot", "kmeans"),
            ("mini-batch, one-hot", "minibatch"),
        ];
        let peers = peers
            .iter()
            .filter_map(|(name, word)| Contestant::peer(*name, &[word, &here]));
        let contestants: Vec<Contestant> = [Contestant::own("kc", &["own", &here])]
            .into_iter()
            .chain(peers)
            .collect();
        for (contestant, figures) in contestants.iter().zip(race(&contestants, rounds)?) {
            line(case, &contestant.name, &figures);
        }
    }
    Ok(())
}

fn line(case: &str, name: &str, figures: &Figures) {
    let [cpu, wall, peak, squares, ari] = ["cpu", "wall", "peak", "squares", "ari"]
        .map(|figure| figures.get(figure).copied().unwrap_or(f64::NAN));
    println!(
        "{case:<5} {name:<20} {cpu:>6.2} {wall:>6.2} {:>8.0} {squares:>14.1} {ari:>6.3}",
        peak / 1e6
    );
}

/// One consensus of the case in the folder.
fn own(folder: &Path) -> Result<(), Failure> {
    let case: Value = serde_json::from_slice(&fs::read(folder.join("case.json"))?)?;
    let number = |name: &str| case[name].as_u64().unwrap_or(0) as usize;
    let (objects, bases, clusters) = (number("objects"), number("bases"), number("clusters"));
    let labels = Array2::from_shape_vec((objects, bases), fs::read(folder.join("labels.bin"))?)?;
    let width = |u: usize| {
        labels
            .column(u)
            .iter()
            .max()
            .map_or(0, |&label| usize::from(label) + 1)
    };
    let named = |u: usize| {
        BaseClustering::new(
            format!("u{u}"),
            (0..width(u)).map(|j| j.to_string()).collect(),
        )
    };
    let names = (0..bases).map(named).collect();
    let ensemble = Ensemble::from_bytes(labels, names)?;
    let truth = fs::read(folder.join("truth.bin"))?
        .into_iter()
        .map(u32::from)
        .collect();
    let truth = Partition::new(truth, clusters)?;
    let mut problem = Problem::new(&ensemble, Clusters::Exactly(clusters));
    stage(|| {
        let mut figures = vec![("cpu", 0.0), ("wall", 0.0), ("squares", 0.0), ("ari", 0.0)];
        for seed in 0..SEEDS {
            problem.seed = Seed::new(seed);
            let (cpu, wall) = (cpu_seconds(), Instant::now());
            let outcome = consense(&KC, &problem, &Silent).expect("a consensus");
            let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
            let ari = Contingency::new(&outcome.partition, &truth)
                .expect("the same objects")
                .ari();
            let squares = outcome
                .objective
                .as_ref()
                .map_or(f64::NAN, |objective| objective.value);
            for ((_, mean), value) in figures.iter_mut().zip([cpu, wall, squares, ari]) {
                *mean += value / SEEDS as f64;
            }
        }
        figures
    });
    Ok(())
}

/// Writes a case for all contestants.
fn prepare(case: &str, folder: &Path) -> Result<(), Failure> {
    let (labels, truth) = if case == "a" {
        shifted(Seed::new(5))
    } else {
        planted(Seed::new(9))
    };
    fs::write(folder.join("labels.bin"), labels)?;
    fs::write(folder.join("truth.bin"), truth)?;
    let case = json!({"objects": OBJECTS, "bases": BASES, "clusters": CLUSTERS});
    fs::write(folder.join("case.json"), case.to_string())?;
    Ok(())
}

/// Every base clustering is the planted one under other names; three quarters of the labels are noise.
fn shifted(seed: Seed) -> (Vec<u8>, Vec<u8>) {
    let mut rng = seed.rng();
    let truth: Vec<u8> = (0..OBJECTS)
        .map(|_| rng.random_range(0..CLUSTERS as u8))
        .collect();
    let mut labels = Vec::with_capacity(OBJECTS * BASES);
    for class in &truth {
        for u in 0..BASES as u8 {
            let own = (class + u) % CLUSTERS as u8;
            labels.push(if rng.random_bool(0.25) {
                own
            } else {
                rng.random_range(0..CLUSTERS as u8)
            });
        }
    }
    (labels, truth)
}

/// Every planted cluster has one cluster of a base clustering for its home, or two; half of the labels is noise.
fn planted(seed: Seed) -> (Vec<u8>, Vec<u8>) {
    let mut rng = seed.rng();
    let truth: Vec<u8> = (0..OBJECTS)
        .map(|_| rng.random_range(0..CLUSTERS as u8))
        .collect();
    let mut labels = vec![0; OBJECTS * BASES];
    for u in 0..BASES {
        let width = rng.random_range(CLUSTERS as u8 / 2..=2 * CLUSTERS as u8);
        let homes: Vec<[u8; 2]> = (0..CLUSTERS)
            .map(|_| [rng.random_range(0..width), rng.random_range(0..width)])
            .collect();
        for (i, &class) in truth.iter().enumerate() {
            let own = homes[usize::from(class)][usize::from(rng.random_bool(0.3))];
            labels[i * BASES + u] = if rng.random_bool(0.5) {
                rng.random_range(0..width)
            } else {
                own
            };
        }
    }
    (labels, truth)
}
