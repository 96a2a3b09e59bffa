//! Scores on published pools of base clusterings: `cargo xtask bench pools [-- METHOD BASES DRAWS [POOL]... [name=value]... [each]]`.
//!
//! The folder that `PARTITA_POOLS` names holds the `.mat` files of Huang, Wang and Lai (IS, ISOLET, Semeion, SPF, PD), METHOD
//! is a name such as `lwgp`; without one, the methods that the literature compares are tried on 20 base clusterings and `hbgf` on
//! 10, 20 draws each, beside what a prototype of each method found (NMI / ARI, 1 to 6 draws,
//! how much more we find, and how many standard errors of the difference (SE) that is in NMI: it takes six draws of the prototype, with
//! our spread; of fewer it is less). Prints the mean over draws of NMI (by the larger entropy), its standard error and ARI against the
//! classes, K being the number of classes and objects being shuffled; the median CPU time of a draw, and the largest resident
//! set so far. `each` prints every draw too: its NMI, its ARI and its base clusterings, which `peers/plain_pools.py` reads.

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use partita::extend::{Consensus, Problem, SettingMap, consense};
use partita::files::{ReadOptions, read_ensemble};
use partita::metrics::{Contingency, Normalisation};
use partita::{Clusters, Ensemble, METHODS, Partition, Seed, Silent};
use partita_conformance::race::{cpu_seconds, peak_bytes};
use rand::seq::SliceRandom;

/// Pools by rising number of objects.
const POOLS: [&str; 5] = ["Semeion", "IS", "SPF", "ISOLET", "PD"];

/// What is tried where nothing is named: method, settings.
const TRIED: [(&str, &[&str]); 19] = [
    ("lwgp", &[]),
    ("lwgp", NORMALISED),
    ("hbgf", &[]),
    ("ecpcs-mc", &[]),
    ("lce", &[]),
    ("gp-mgla", &[]),
    ("mcla", &[]),
    ("lwea", &[]),
    ("ecpcs-hc", &[]),
    ("cts", &[]),
    ("eac-average", &[]),
    ("median-vi", &[]),
    ("median-binder", &[]),
    ("kcc", &[]),
    ("kcc", &["normalised=true"]),
    ("kcc", &["utility=c"]),
    ("kcc", &["utility=cos"]),
    ("sec", &[]),
    ("soft-mean", &[]),
];

/// Entropies over those of the base clustering, as the prototype had them.
const NORMALISED: &[&str] = &["entropy=normalised", "theta=0.4", "trust_iterations=0"];

/// What a prototype found with 20 base clusterings: pool, method, settings, NMI, ARI where it was noted.
type Found = (
    &'static str,
    &'static str,
    &'static [&'static str],
    f64,
    Option<f64>,
);
/// Draws behind these values, at most.
const PROTOTYPE_DRAWS: f64 = 6.0;
const PROTOTYPE: [Found; 34] = [
    ("Semeion", "lwgp", &[], 0.650, Some(0.526)),
    ("IS", "lwgp", &[], 0.659, Some(0.569)),
    ("SPF", "lwgp", &[], 0.137, Some(0.081)),
    ("Semeion", "lwgp", NORMALISED, 0.670, None),
    ("IS", "lwgp", NORMALISED, 0.627, None),
    ("SPF", "lwgp", NORMALISED, 0.133, None),
    ("Semeion", "hbgf", &[], 0.643, Some(0.517)),
    ("IS", "hbgf", &[], 0.618, Some(0.519)),
    ("SPF", "hbgf", &[], 0.118, Some(0.064)),
    ("Semeion", "ecpcs-mc", &[], 0.666, Some(0.553)),
    ("IS", "ecpcs-mc", &[], 0.616, Some(0.524)),
    ("SPF", "ecpcs-mc", &[], 0.155, Some(0.073)),
    ("Semeion", "ecpcs-hc", &[], 0.651, Some(0.527)),
    ("Semeion", "lce", &[], 0.648, Some(0.522)),
    ("IS", "lce", &[], 0.621, Some(0.523)),
    ("SPF", "lce", &[], 0.135, Some(0.073)),
    ("Semeion", "lwea", &[], 0.664, None),
    ("Semeion", "kcc", &["utility=c"], 0.580, Some(0.437)),
    ("IS", "kcc", &["utility=c"], 0.614, Some(0.508)),
    ("SPF", "kcc", &["utility=c"], 0.078, Some(0.046)),
    ("Semeion", "kcc", &[], 0.560, None),
    ("IS", "kcc", &[], 0.577, None),
    ("SPF", "kcc", &[], 0.084, None),
    ("Semeion", "kcc", &["utility=cos"], 0.588, Some(0.448)),
    ("IS", "kcc", &["utility=cos"], 0.613, Some(0.502)),
    ("SPF", "kcc", &["utility=cos"], 0.099, Some(0.061)),
    ("Semeion", "kcc", &["normalised=true"], 0.542, None),
    ("IS", "kcc", &["normalised=true"], 0.628, Some(0.518)),
    ("SPF", "kcc", &["normalised=true"], 0.107, None),
    ("Semeion", "sec", &[], 0.565, Some(0.404)),
    ("IS", "sec", &[], 0.574, Some(0.426)),
    ("SPF", "sec", &[], 0.089, Some(0.041)),
    ("Semeion", "median-vi", &[], 0.6425, None),
    ("Semeion", "soft-mean", &[], 0.654, Some(0.523)),
];

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.as_slice() {
        [] => {
            for (name, settings) in TRIED {
                let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
                pools(name, 20, 20, &settings, &POOLS, false)?;
            }
            pools("hbgf", 10, 20, &[], &POOLS, false)
        }
        [name, bases, draws, rest @ ..] => {
            let (settings, named): (Vec<String>, Vec<String>) =
                rest.iter().cloned().partition(|word| word.contains('='));
            let each = named.iter().any(|word| word == "each");
            let named: Vec<&str> = named
                .iter()
                .map(String::as_str)
                .filter(|word| *word != "each")
                .collect();
            pools(
                name,
                bases.parse()?,
                draws.parse()?,
                &settings,
                if named.is_empty() { &POOLS } else { &named },
                each,
            )
        }
        _ => Err("say METHOD BASES DRAWS [POOL]... [name=value]... [each]".into()),
    }
}

fn pools(
    name: &str,
    bases: usize,
    draws: u64,
    words: &[String],
    pools: &[&str],
    each: bool,
) -> Result<(), Box<dyn Error>> {
    let folder = env::var_os("PARTITA_POOLS").ok_or("PARTITA_POOLS names no folder of pools")?;
    let method = METHODS
        .iter()
        .find(|method| method.info().name == name)
        .ok_or("there is no such method")?;
    let (settings, shown) = (
        SettingMap::parse(words)?,
        [&[name.to_owned()], words].concat().join(" "),
    );
    let mut out = io::stdout().lock();
    for pool in pools {
        let loaded = read_ensemble(
            &Path::new(&folder).join(format!("{pool}.mat")),
            &ReadOptions::default(),
        )?;
        let truth = Partition::from_values(&loaded.truth.ok_or("the pool has no classes")?.values);
        let runs: Vec<[f64; 3]> = (0..draws)
            .map(|draw| {
                score(
                    &loaded.ensemble,
                    &truth,
                    *method,
                    bases,
                    &settings,
                    Seed::new(draw),
                )
            })
            .collect::<Result<_, _>>()?;
        for (draw, [nmi, ari, _]) in runs.iter().enumerate().filter(|_| each) {
            let (bases, _) = drawn(&loaded.ensemble, bases, Seed::new(draw as u64));
            let bases: Vec<String> = bases.iter().map(ToString::to_string).collect();
            writeln!(
                out,
                "draw {draw} NMI {nmi:.4} ARI {ari:.4} bases {}",
                bases.join(" ")
            )?;
        }
        let mean = |at: usize| runs.iter().map(|run| run[at]).sum::<f64>() / runs.len() as f64;
        let (nmi, ari) = (mean(0), mean(1));
        let spread = runs.iter().map(|run| (run[0] - nmi).powi(2)).sum::<f64>()
            / (runs.len() as f64 - 1.0).max(1.0);
        let error = |draws: f64| (spread / draws).sqrt();
        let own = error(runs.len() as f64);
        let of_difference = own.hypot(error(PROTOTYPE_DRAWS));
        let mut times: Vec<f64> = runs.iter().map(|run| run[2]).collect();
        times.sort_unstable_by(f64::total_cmp);
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        writeln!(
            out,
            "{pool:>8} M = {bases} {shown:<20}  NMI {nmi:.4} ± {own:.4}  ARI {ari:.3}  {median:.3} s CPU a draw  peak {:.0} MB{}",
            peak_bytes() / 1e6,
            beside_prototype(pool, name, words, [nmi, ari], of_difference)
                .filter(|_| bases == 20)
                .unwrap_or_default()
        )?;
    }
    Ok(())
}

/// What the prototype found, how much more this is, and in standard errors of the difference.
fn beside_prototype(
    pool: &str,
    name: &str,
    words: &[String],
    [nmi, ari]: [f64; 2],
    error: f64,
) -> Option<String> {
    let same = |found: &&Found| found.0 == pool && found.1 == name && found.2 == words;
    let &(_, _, _, its_nmi, its_ari) = PROTOTYPE.iter().find(same)?;
    let (of_ari, more_ari) = its_ari.map_or((String::new(), String::new()), |its_ari| {
        (
            format!(" / {its_ari:.3}"),
            format!(" / {:+.3}", ari - its_ari),
        )
    });
    let more = nmi - its_nmi;
    Some(format!(
        "  prototype {its_nmi:.3}{of_ari}: {more:+.3}{more_ari} ({:+.1} SE)",
        more / error
    ))
}

/// The base clusterings of a draw, and the order of the objects.
fn drawn(pool: &Ensemble, bases: usize, seed: Seed) -> (Vec<u32>, Vec<u32>) {
    let mut rng = seed.rng();
    let mut chosen: Vec<u32> = (0..pool.bases().len() as u32).collect();
    let mut objects: Vec<u32> = (0..pool.objects() as u32).collect();
    chosen.shuffle(&mut rng);
    objects.shuffle(&mut rng);
    chosen.truncate(bases);
    (chosen, objects)
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
    let (chosen, objects) = drawn(pool, bases, seed);
    let ensemble = pool.select(&objects, &chosen);
    let mut problem = Problem::new(&ensemble, Clusters::Exactly(truth.clusters()));
    (problem.seed, problem.settings) = (seed.child(1), settings.clone());
    let start = cpu_seconds();
    let outcome = consense(method, &problem, &Silent)?;
    let seconds = cpu_seconds() - start;
    let expected = objects
        .iter()
        .map(|&i| truth.labels()[i as usize])
        .collect();
    let table = Contingency::new(
        &outcome.partition,
        &Partition::new(expected, truth.clusters())?,
    )?;
    Ok([table.nmi(Normalisation::Max), table.ari(), seconds])
}
