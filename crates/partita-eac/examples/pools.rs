//! Scores on published pools of base clusterings: `cargo run --release -p partita-eac --example pools FOLDER [draws]`.
//!
//! FOLDER holds the `.mat` files of Huang, Wang and Lai (IS, ISOLET, Semeion, SPF, PD). Prints the mean over draws of
//! NMI (by the larger entropy) and ARI against the classes, for M = 10 and M = 20 base clusterings drawn at random, K
//! being the number of classes and objects being shuffled.

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use partita_core::{Clusters, Consensus, Partition, Problem, Seed, Silent, consense};
use partita_eac::{EAC_AVERAGE, LWEA};
use partita_files::{EnsembleOptions, read_ensemble};
use partita_metrics::{Contingency, Normalisation};
use rand::seq::SliceRandom;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let folder = words.next().ok_or("say which folder holds the pools")?;
    let draws = words.next().and_then(|word| word.parse().ok()).unwrap_or(20);
    let mut out = io::stdout().lock();
    for pool in ["IS", "ISOLET", "Semeion", "SPF", "PD"] {
        for bases in [10, 20] {
            for method in [&EAC_AVERAGE as &dyn Consensus, &LWEA] {
                let (nmi, ari) = score(&Path::new(&folder).join(format!("{pool}.mat")), method, bases, draws)?;
                writeln!(out, "{pool:>8} M = {bases} {:>12}  NMI {nmi:.3}  ARI {ari:.3}", method.card().name)?;
            }
        }
    }
    Ok(())
}

/// Mean NMI (by the larger entropy) and ARI over draws of base clusterings.
fn score(file: &Path, method: &dyn Consensus, bases: usize, draws: u64) -> Result<(f64, f64), Box<dyn Error>> {
    let loaded = read_ensemble(file, &EnsembleOptions::default())?;
    let truth = Partition::from_values(&loaded.truth.ok_or("the pool has no classes")?.values);
    let (mut nmi, mut ari) = (0.0, 0.0);
    for draw in 0..draws {
        let mut rng = Seed::new(draw).rng();
        let mut chosen: Vec<u32> = (0..loaded.ensemble.bases().len() as u32).collect();
        let mut objects: Vec<u32> = (0..loaded.ensemble.objects() as u32).collect();
        chosen.shuffle(&mut rng);
        objects.shuffle(&mut rng);
        let ensemble = loaded.ensemble.select(&objects, &chosen[..bases]);
        let problem = Problem::new(&ensemble, Clusters::Exactly(truth.clusters()));
        let outcome = consense(method, &problem, &Silent)?;
        let expected: Vec<u32> = objects.iter().map(|&i| truth.labels()[i as usize]).collect();
        let table = Contingency::new(&outcome.partition, &Partition::new(expected, truth.clusters())?)?;
        nmi += table.nmi(Normalisation::Max);
        ari += table.ari();
    }
    Ok((nmi / draws as f64, ari / draws as f64))
}
