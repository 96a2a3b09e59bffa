//! Scores on published pools of base clusterings: `cargo xtask bench pools [-- METHOD BASES DRAWS [name=value]...]`.
//!
//! The folder that `PARTITA_POOLS` names holds the `.mat` files of Huang, Wang and Lai (IS, ISOLET, Semeion, SPF, PD), METHOD
//! is a name such as `lwgp`; without one, the methods that the literature compares are tried on 20 base clusterings and `hbgf` on
//! 10, 20 draws each (`ec-cms` on the smallest pool, 5 draws). Prints the mean over draws of NMI (by the larger entropy), its standard error and ARI against the
//! classes, K being the number of classes and objects being shuffled; the median CPU time of a draw, and the largest resident
//! set so far.

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use partita::files::{ReadOptions, read_ensemble};
use partita::metrics::{Contingency, Normalisation};
use partita::{Clusters, Consensus, Ensemble, METHODS, Partition, Problem, Seed, SettingMap, Silent, consense};
use partita_conformance::race::{cpu_seconds, peak_bytes};
use rand::seq::SliceRandom;

/// Pools by rising number of objects.
const POOLS: [&str; 5] = ["Semeion", "IS", "SPF", "ISOLET", "PD"];

/// What is tried where nothing is named: method, settings.
const TRIED: [(&str, &[&str]); 17] = [
    ("lwgp", &[]),
    ("lwgp", &["refine=sec"]),
    ("hbgf", &[]),
    ("hbgf", &["refine=sec"]),
    ("ecpcs-mc", &[]),
    ("lce", &[]),
    ("mcla", &[]),
    ("lwea", &[]),
    ("ecpcs-hc", &[]),
    ("cts", &[]),
    ("eac-average", &[]),
    ("median-vi", &[]),
    ("median-binder", &[]),
    ("kcc", &[]),
    ("kcc", &["utility=h"]),
    ("kcc", &["utility=cos"]),
    ("sec", &[]),
];

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.as_slice() {
        [] => {
            for (name, settings) in TRIED {
                let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
                pools(name, 20, 20, &SettingMap::parse(&settings)?, &POOLS)?;
            }
            pools("hbgf", 10, 20, &SettingMap::default(), &POOLS)?;
            pools("ec-cms", 20, 5, &SettingMap::default(), &POOLS[..1])
        }
        [name, bases, draws, settings @ ..] => {
            pools(name, bases.parse()?, draws.parse()?, &SettingMap::parse(settings)?, &POOLS)
        }
        _ => Err("say METHOD BASES DRAWS [name=value]...".into()),
    }
}

fn pools(name: &str, bases: usize, draws: u64, settings: &SettingMap, pools: &[&str]) -> Result<(), Box<dyn Error>> {
    let folder = env::var_os("PARTITA_POOLS").ok_or("PARTITA_POOLS names no folder of pools")?;
    let method = METHODS.iter().find(|method| method.info().name == name).ok_or("there is no such method")?;
    let shown: Vec<String> = settings.values().iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let shown = shown.concat().replace('"', "");
    let mut out = io::stdout().lock();
    for pool in pools {
        let loaded = read_ensemble(&Path::new(&folder).join(format!("{pool}.mat")), &ReadOptions::default())?;
        let truth = Partition::from_values(&loaded.truth.ok_or("the pool has no classes")?.values);
        let runs: Vec<[f64; 3]> = (0..draws)
            .map(|draw| score(&loaded.ensemble, &truth, *method, bases, settings, Seed::new(draw)))
            .collect::<Result<_, _>>()?;
        let mean = |at: usize| runs.iter().map(|run| run[at]).sum::<f64>() / runs.len() as f64;
        let (nmi, ari) = (mean(0), mean(1));
        let spread = runs.iter().map(|run| (run[0] - nmi).powi(2)).sum::<f64>() / (runs.len() as f64 - 1.0).max(1.0);
        let error = (spread / runs.len() as f64).sqrt();
        let mut times: Vec<f64> = runs.iter().map(|run| run[2]).collect();
        times.sort_unstable_by(f64::total_cmp);
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        writeln!(
            out,
            "{pool:>8} M = {bases} {:<20}  NMI {nmi:.4} ± {error:.4}  ARI {ari:.3}  {median:.3} s CPU a draw  peak {:.0} MB",
            format!("{name}{shown}"),
            peak_bytes() / 1e6
        )?;
    }
    Ok(())
}

/// NMI (by the larger entropy), ARI and seconds of one draw of base clusterings.
fn score(
    pool: &Ensemble,
    truth: &Partition,
    method: &dyn Consensus,
    bases: usize,
    settings: &SettingMap,
    seed: Seed,
) -> Result<[f64; 3], Box<dyn Error>> {
    let mut rng = seed.rng();
    let mut chosen: Vec<u32> = (0..pool.bases().len() as u32).collect();
    let mut objects: Vec<u32> = (0..pool.objects() as u32).collect();
    chosen.shuffle(&mut rng);
    objects.shuffle(&mut rng);
    let ensemble = pool.select(&objects, &chosen[..bases]);
    let mut problem = Problem::new(&ensemble, Clusters::Exactly(truth.clusters()));
    (problem.seed, problem.settings) = (seed.child(1), settings.clone());
    let start = cpu_seconds();
    let outcome = consense(method, &problem, &Silent)?;
    let seconds = cpu_seconds() - start;
    let expected = objects.iter().map(|&i| truth.labels()[i as usize]).collect();
    let table = Contingency::new(&outcome.partition, &Partition::new(expected, truth.clusters())?)?;
    Ok([table.nmi(Normalisation::Max), table.ari(), seconds])
}
