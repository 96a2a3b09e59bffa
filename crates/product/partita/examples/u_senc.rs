//! U-SPEC ensembles beside k-means ensembles with the same consensus: `cargo xtask bench u_senc [-- SETS DRAWS]`.
//!
//! Both have 20 base clusterings with 20 to 60 clusters each of all objects, and `hbgf` and `lwgp` combine them, K being the number of
//! classes. SETS is a list such as `pendigits,smiling-face:100000`: tables in the folder that `PARTITA_DATASETS` names, and synthetic
//! families with a number of objects. Prints NMI (by the larger entropy), its standard error and ARI against the classes, and the median
//! CPU time of generation and of consensus.

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use partita::extend::{Problem, consense};
use partita::files::{ReadOptions, read_table};
use partita::generate::{BaseSpec, Recipe, generate};
use partita::metrics::{Contingency, Normalisation};
use partita::ndarray::Array2;
use partita::synth::{SynthSettings, families, synthesise};
use partita::{Clusters, METHODS, MemoryBudget, Partition, Seed, Silent};
use partita_conformance::race::{cpu_seconds, peak_bytes};

const SETS: &str = "pendigits,letter-recognition,optdigits,two-bananas:20000,circles-gaussians:20000,smiling-face:20000";

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let sets = words.first().map_or(SETS, String::as_str);
    let draws = words.get(1).map_or(Ok(10), |draws| draws.parse())?;
    for set in sets.split(',') {
        let (values, truth) = table(set)?;
        for base in ["uspec:20", "kmeans:20"] {
            compare(set, &values, &truth, base, draws)?;
        }
    }
    Ok(())
}

/// A table and its classes.
fn table(set: &str) -> Result<(Array2<f64>, Partition), Box<dyn Error>> {
    let (name, objects) = set.split_once(':').unwrap_or((set, "20000"));
    if families().any(|family| family.name == name) {
        let made = synthesise(
            name,
            objects.parse()?,
            Seed::new(0),
            &SynthSettings::default(),
        )?;
        return Ok((made.values, Partition::from_values(&made.labels)));
    }
    let folder =
        env::var_os("PARTITA_DATASETS").ok_or("PARTITA_DATASETS names no folder of tables")?;
    let table = read_table(
        &Path::new(&folder).join(format!("{name}.csv")),
        &ReadOptions::default(),
    )?;
    let classes = Partition::from_values(&table.label.ok_or("the table has no classes")?.values);
    Ok((table.values, classes))
}

fn compare(
    set: &str,
    values: &Array2<f64>,
    truth: &Partition,
    base: &str,
    draws: u64,
) -> Result<(), Box<dyn Error>> {
    let mut recipe = Recipe::preset("u-senc", truth.clusters())?;
    recipe.base = BaseSpec::list(base)?;
    let (methods, mut making) = (["hbgf", "lwgp"], Vec::new());
    let mut found: Vec<Vec<[f64; 3]>> = vec![Vec::new(); methods.len()];
    for draw in 0..draws {
        let start = cpu_seconds();
        let made = generate(
            values.view(),
            &recipe,
            Seed::new(draw),
            MemoryBudget::UNLIMITED,
            &Silent,
        )?;
        making.push(cpu_seconds() - start);
        for (name, found) in methods.iter().zip(&mut found) {
            let method = METHODS
                .iter()
                .find(|method| method.info().name == *name)
                .ok_or("there is no such method")?;
            let mut problem = Problem::new(&made.ensemble, Clusters::Exactly(truth.clusters()));
            problem.seed = Seed::new(draw).child(1);
            let start = cpu_seconds();
            let outcome = consense(*method, &problem, &Silent)?;
            let table = Contingency::new(&outcome.partition, truth)?;
            found.push([
                table.nmi(Normalisation::Max),
                table.ari(),
                cpu_seconds() - start,
            ]);
        }
    }
    for (name, found) in methods.iter().zip(&found) {
        let mean = |at: usize| found.iter().map(|run| run[at]).sum::<f64>() / found.len() as f64;
        let spread = found
            .iter()
            .map(|run| (run[0] - mean(0)).powi(2))
            .sum::<f64>();
        let error = (spread / (found.len() as f64 - 1.0).max(1.0) / found.len() as f64).sqrt();
        writeln!(
            io::stdout().lock(),
            "{set:<26} {base:<9} {name}  NMI {:.4} ± {error:.4}  ARI {:.3}  {:.2} + {:.2} s CPU a draw  peak {:.0} MB",
            mean(0),
            mean(1),
            median(&making),
            median(&found.iter().map(|run| run[2]).collect::<Vec<f64>>()),
            peak_bytes() / 1e6
        )?;
    }
    Ok(())
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
