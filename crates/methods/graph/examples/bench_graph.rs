//! Graph consensus beside pymetis (HBGF by METIS) and scikit-learn (one-hot rows, truncated SVD, k-means), from the same
//! labels: `cargo xtask bench graph --peers [-- ROUNDS]`.
//!
//! | case | ensemble |
//! |---|---|
//! | a | 20,000 × 100, ten planted clusters; a base clustering has 5 to 20 clusters, half of its labels is noise |
//! | b | 1,000,000 × 20, the same |
//! | c | 20,000 × 100, three classes of 87, 9 and 4 %; k-means of halves of the objects, k from 2 to 10 |
//! | d | 10,992 × 20 of the published pool PD, where `PARTITA_POOLS` says where that is |
//!
//! pymetis is left out of case b, which takes it two minutes. CPU seconds are user and system time of the consensus alone, reading not counted. One thread.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use partita_conformance::race::{Contestant, Figures, cpu_seconds, race, stage};
use partita_core::ndarray::Array2;
use partita_core::{
    BaseClustering, Clusters, Consensus, Ensemble, LabelRows, Partition, Problem, Seed, Silent,
    consense,
};
use partita_files::{ReadOptions, read_ensemble};
use partita_graph::{HBGF, LWGP};
use partita_metrics::Scores;
use rand::RngExt;
use serde_json::{Value, json};

#[path = "../tests/it/unequal_set/mod.rs"]
mod unequal_set;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["own", method, folder] => return own(method, Path::new(folder)),
        // For a profile: `prepare b FOLDER`, then `perf record … own lwgp FOLDER`.
        ["prepare", case, folder] => return prepare(case, Path::new(folder)).map(drop),
        _ => {}
    }
    let rounds = words
        .first()
        .and_then(|word| word.parse().ok())
        .unwrap_or(3);
    println!("medians of {rounds} rounds\n");
    println!(
        "{:<5} {:<14} {:>7} {:>7} {:>9} {:>6}",
        "case", "who", "CPU s", "wall s", "peak MB", "ARI"
    );
    let folder = tempfile::tempdir()?;
    for case in ["a", "b", "c", "d"] {
        if !prepare(case, folder.path())? {
            continue;
        }
        let here = folder.path().display().to_string();
        let own =
            ["lwgp", "hbgf"].map(|method| Some(Contestant::own(method, &["own", method, &here])));
        let peers = [("SVD, k-means", "svd"), ("pymetis", "metis")].into_iter();
        let peers = peers.filter(|(_, word)| case != "b" || *word != "metis");
        let peers = peers.map(|(name, word)| Contestant::peer(name, &[word, &here]));
        let contestants: Vec<Contestant> = own.into_iter().chain(peers).flatten().collect();
        for (contestant, figures) in contestants.iter().zip(race(&contestants, rounds)?) {
            line(case, &contestant.name, &figures);
        }
    }
    Ok(())
}

fn line(case: &str, name: &str, figures: &Figures) {
    let [cpu, wall, peak, ari] = ["cpu", "wall", "peak", "ari"]
        .map(|figure| figures.get(figure).copied().unwrap_or(f64::NAN));
    println!(
        "{case:<5} {name:<14} {cpu:>7.2} {wall:>7.2} {:>9.0} {ari:>6.3}",
        peak / 1e6
    );
}

/// One consensus of the case in the folder.
fn own(method: &str, folder: &Path) -> Result<(), Failure> {
    let case: Value = serde_json::from_slice(&fs::read(folder.join("case.json"))?)?;
    let number = |name: &str| case[name].as_u64().unwrap_or(0) as usize;
    let (objects, bases, clusters) = (number("objects"), number("bases"), number("clusters"));
    let labels = Array2::from_shape_vec((objects, bases), fs::read(folder.join("labels.bin"))?)?;
    let width = |u: usize| {
        labels
            .column(u)
            .iter()
            .filter(|&&label| label < u8::MAX)
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
    let method: &dyn Consensus = if method == "hbgf" { &HBGF } else { &LWGP };
    let problem = Problem::new(&ensemble, Clusters::Exactly(clusters));
    stage(|| {
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        let found = consense(method, &problem, &Silent)
            .expect("a consensus")
            .partition;
        let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
        let ari = Scores::of(&found, &truth)
            .expect("partitions of the same objects")
            .ari;
        vec![("cpu", cpu), ("wall", wall), ("ari", ari)]
    });
    Ok(())
}

/// Writes a case for all contestants; false where its data is not there.
fn prepare(case: &str, folder: &Path) -> Result<bool, Failure> {
    let (ensemble, truth) = match case {
        "a" => planted(20_000, 100, 10, Seed::new(9)),
        "b" => planted(1_000_000, 20, 10, Seed::new(9)),
        "c" => unequal_set::unequal_set(20_000, 100, Seed::new(1)),
        _ => match env::var_os("PARTITA_POOLS") {
            Some(pools) => pool(Path::new(&pools))?,
            None => return Ok(false),
        },
    };
    let LabelRows::Bytes(rows) = ensemble.rows() else {
        return Err("more than 255 clusters".into());
    };
    fs::write(
        folder.join("labels.bin"),
        rows.iter().copied().collect::<Vec<u8>>(),
    )?;
    fs::write(
        folder.join("truth.bin"),
        truth
            .labels()
            .iter()
            .map(|&label| label as u8)
            .collect::<Vec<u8>>(),
    )?;
    let case = json!({"objects": ensemble.objects(), "bases": ensemble.bases().len(), "clusters": truth.clusters()});
    fs::write(folder.join("case.json"), case.to_string())?;
    Ok(true)
}

/// Every planted cluster has one cluster of a base clustering for its home, or two; half of the labels is noise.
fn planted(objects: usize, bases: usize, clusters: usize, seed: Seed) -> (Ensemble, Partition) {
    let mut rng = seed.rng();
    let truth: Vec<u32> = (0..objects)
        .map(|_| rng.random_range(0..clusters as u32))
        .collect();
    let mut rows = Array2::zeros((objects, bases));
    let mut names = Vec::new();
    for u in 0..bases {
        let width = rng.random_range((clusters / 2).max(2)..=2 * clusters);
        let home: Vec<[usize; 2]> = (0..clusters)
            .map(|_| [rng.random_range(0..width), rng.random_range(0..width)])
            .collect();
        for (i, &class) in truth.iter().enumerate() {
            let own = home[class as usize][usize::from(rng.random_bool(0.3))];
            rows[[i, u]] = if rng.random_bool(0.5) {
                rng.random_range(0..width)
            } else {
                own
            } as u8;
        }
        names.push(BaseClustering::new(
            format!("u{u}"),
            (0..width).map(|j| j.to_string()).collect(),
        ));
    }
    let ensemble = Ensemble::from_bytes(rows, names).expect("labels below the widths");
    (
        ensemble,
        Partition::new(truth, clusters).expect("classes below K"),
    )
}

/// Twenty base clusterings of the pool PD.
fn pool(folder: &Path) -> Result<(Ensemble, Partition), Failure> {
    let loaded = read_ensemble(&folder.join("PD.mat"), &ReadOptions::default())?;
    let truth = Partition::from_values(&loaded.truth.ok_or("the pool has no classes")?.values);
    let objects: Vec<u32> = (0..truth.objects() as u32).collect();
    let bases: Vec<u32> = (0..20).map(|u| 5 * u).collect();
    Ok((loaded.ensemble.select(&objects, &bases), truth))
}
