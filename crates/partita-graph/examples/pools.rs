//! Scores on published pools of base clusterings: `cargo xtask bench pools [-- METHOD BASES DRAWS [name=value]...]`.
//!
//! The folder that `PARTITA_POOLS` names holds the `.mat` files of Huang, Wang and Lai (IS, ISOLET, Semeion, SPF, PD), METHOD
//! is a name such as `lwgp`; without one, `lwgp`, `hbgf`, `ecpcs-mc` and `lce` are tried on 20 base clusterings and `hbgf` on
//! 10, 20 draws each. Prints the mean over draws of NMI (by the larger entropy), its standard error and ARI against the
//! classes, K being the number of classes and objects being shuffled; the median CPU time of a draw, and the largest resident
//! set so far.

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use partita_conformance::race::{cpu_seconds, peak_bytes};
use partita_core::{Clusters, Consensus, Ensemble, Partition, Problem, Seed, SettingMap, Silent, consense};
use partita_files::{ReadOptions, read_ensemble};
use partita_graph::{CSPA, CTS, ECPCS_HC, ECPCS_MC, HBGF, HGPA, LCE, LWGP, MCLA};
use partita_metrics::{Contingency, Normalisation};
use rand::seq::SliceRandom;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.as_slice() {
        [] => {
            pools("lwgp", 20, 20, &SettingMap::default())?;
            pools("hbgf", 10, 20, &SettingMap::default())?;
            ["hbgf", "ecpcs-mc", "lce"].into_iter().try_for_each(|name| pools(name, 20, 20, &SettingMap::default()))
        }
        [name, bases, draws, settings @ ..] => {
            pools(name, bases.parse()?, draws.parse()?, &SettingMap::parse(settings)?)
        }
        _ => Err("say METHOD BASES DRAWS [name=value]...".into()),
    }
}

fn pools(name: &str, bases: usize, draws: u64, settings: &SettingMap) -> Result<(), Box<dyn Error>> {
    let folder = env::var_os("PARTITA_POOLS").ok_or("PARTITA_POOLS names no folder of pools")?;
    let methods: [&dyn Consensus; 9] = [&LWGP, &HBGF, &MCLA, &CSPA, &HGPA, &LCE, &ECPCS_MC, &ECPCS_HC, &CTS];
    let method = methods.into_iter().find(|method| method.info().name == name).ok_or("there is no such method")?;
    let mut out = io::stdout().lock();
    for pool in ["IS", "ISOLET", "Semeion", "SPF", "PD"] {
        let loaded = read_ensemble(&Path::new(&folder).join(format!("{pool}.mat")), &ReadOptions::default())?;
        let truth = Partition::from_values(&loaded.truth.ok_or("the pool has no classes")?.values);
        let runs: Vec<[f64; 3]> = (0..draws)
            .map(|draw| score(&loaded.ensemble, &truth, method, bases, settings, Seed::new(draw)))
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
            "{pool:>8} M = {bases} {name:>6}  NMI {nmi:.4} ± {error:.4}  ARI {ari:.3}  {median:.3} s CPU a draw  peak {:.0} MB",
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
