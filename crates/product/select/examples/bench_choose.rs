//! How many clusters are found, and how fast: `cargo xtask bench choose [-- part …]`, where the parts are `null`, `data`,
//! `ensembles`, `components` and `large`; all, if none is named.
//!
//! `null` draws tables of one cluster, `data` takes tables with known classes, `ensembles` evidence accumulation,
//! `components` shows what leaving out principal components changes, `large` a table of 120,000 objects. The data sets lie
//! in the repository or are drawn from recipes.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use partita_conformance::race::cpu_seconds;
use partita_core::ndarray::Array2;
use partita_core::{Clusters, MemoryBudget, Problem, Seed, Silent};
use partita_files::{ReadOptions, read_table};
use partita_generate::{BaseSpec, Recipe, Scale, generate, scale};
use partita_select::{
    Choice, ChooseSettings, EnsembleChoiceSettings, choose_clusters, choose_clusters_of_ensemble,
};
use partita_synth::{SynthSettings, synthesise};
use rand::RngExt;

const SEEDS: u64 = 50;

type Done = Result<(), Box<dyn Error>>;
type Part = fn() -> Done;

fn main() -> Done {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asked = |part: &str| words.is_empty() || words.iter().any(|word| word == part);
    let parts: [(&str, Part); 5] = [
        ("null", null),
        ("data", data),
        ("ensembles", ensembles),
        ("components", components),
        ("large", large),
    ];
    for (_, run) in parts.iter().filter(|(part, _)| asked(part)) {
        run()?;
    }
    Ok(())
}

fn choose(
    table: &Array2<f64>,
    last: usize,
    seed: u64,
    settings: &ChooseSettings,
) -> Result<Choice, Box<dyn Error>> {
    let budget = MemoryBudget::UNLIMITED;
    let seed = Seed::new(seed);
    Ok(choose_clusters(
        table.view(),
        2..=last,
        seed,
        settings,
        budget,
        &Silent,
    )?)
}

/// How often every number of clusters is chosen.
fn picked(
    table: impl Fn(u64) -> Result<Array2<f64>, Box<dyn Error>>,
    seeds: u64,
) -> Result<BTreeMap<usize, u32>, Box<dyn Error>> {
    let mut picked = BTreeMap::new();
    for seed in 0..seeds {
        let choice = choose(&table(seed)?, 12, seed, &ChooseSettings::default())?;
        *picked.entry(choice.clusters).or_insert(0) += 1;
    }
    Ok(picked)
}

/// One Gaussian with these deviations, turned so that no column is a principal axis.
fn gaussian(objects: usize, deviations: &[f64], seed: u64) -> Array2<f64> {
    let mut rng = Seed::new(seed).child(7).rng();
    let mut normal = || {
        (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt()
            * (std::f64::consts::TAU * rng.random::<f64>()).cos()
    };
    let mut table = Array2::from_shape_fn((objects, deviations.len()), |(_, j)| {
        deviations[j] * normal()
    });
    let (sin, cos) = 0.6f64.sin_cos();
    for mut row in table.rows_mut() {
        for j in 1..row.len() {
            let [x, y] = [row[j - 1], row[j]];
            row[j - 1] = cos * x - sin * y;
            row[j] = sin * x + cos * y;
        }
    }
    table
}

fn uniform(objects: usize, sides: &[f64], seed: u64) -> Array2<f64> {
    let mut rng = Seed::new(seed).child(8).rng();
    Array2::from_shape_fn((objects, sides.len()), |(_, j)| {
        sides[j] * rng.random::<f64>()
    })
}

/// Tables of one cluster: how often the answer is 1.
fn null() -> Done {
    type Draw = fn(usize, &[f64], u64) -> Array2<f64>;
    let shapes: [(&str, Draw, usize, &[f64]); 8] = [
        ("uniform square, n = 200", uniform, 200, &[1.0; 2]),
        ("uniform cube in 5-D, n = 200", uniform, 200, &[1.0; 5]),
        ("uniform rectangle 1:5, n = 200", uniform, 200, &[5.0, 1.0]),
        ("Gaussian in 2-D, n = 200", gaussian, 200, &[1.0; 2]),
        ("Gaussian in 5-D, n = 200", gaussian, 200, &[1.0; 5]),
        ("Gaussian 1:5 in 2-D, n = 200", gaussian, 200, &[5.0, 1.0]),
        (
            "Gaussian 5:3:2:1:1 in 5-D, n = 200",
            gaussian,
            200,
            &[5.0, 3.0, 2.0, 1.0, 1.0],
        ),
        ("Gaussian in 50-D, n = 100", gaussian, 100, &[1.0; 50]),
    ];
    println!(
        "tables of one cluster, K 2..12, {SEEDS} seeds      says 1   otherwise (K: seeds)      cpu s each"
    );
    for (name, draw, objects, sides) in shapes {
        let cpu = cpu_seconds();
        let mut picked = picked(|seed| Ok(draw(objects, sides, seed)), SEEDS)?;
        let each = (cpu_seconds() - cpu) / SEEDS as f64;
        let ones = f64::from(picked.remove(&1).unwrap_or(0)) / SEEDS as f64 * 100.0;
        let picked = format!("{picked:?}");
        println!("{name:<44} {ones:>4.0} %   {picked:<25} {each:.2}");
    }
    println!();
    Ok(())
}

/// A data set of the repository, or drawn from a recipe.
fn table(name: &str, seed: u64) -> Result<Array2<f64>, Box<dyn Error>> {
    if let Ok(made) = synthesise(name, 800, Seed::new(seed), &SynthSettings::default()) {
        return Ok(made.values);
    }
    let file = name.strip_suffix("-std").unwrap_or(name);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../datasets");
    let path = folder.join(format!("{file}.csv"));
    let values = read_table(&path, &ReadOptions::default())?.values;
    let standard = file != name;
    Ok(if standard {
        scale(values.view(), Scale::ZScore)
    } else {
        values
    })
}

/// Tables with known classes.
fn data() -> Done {
    let sets = [
        ("wine-std", 3),
        ("iris", 3),
        ("iris-std", 3),
        ("wdbc-std", 2),
        ("digits", 10),
        ("half-rings", 2),
    ];
    for (name, classes) in sets {
        let last = if name == "digits" { 15 } else { 12 };
        let clock = Instant::now();
        let cpu = cpu_seconds();
        let choice = choose(&table(name, 0)?, last, 0, &ChooseSettings::default())?;
        let cpu = cpu_seconds() - cpu;
        let wall = clock.elapsed().as_secs_f64();
        println!(
            "{name}: {classes} classes, K 2..{last}, M = 100; {cpu:.1} s of CPU, {wall:.1} s\n{}",
            choice.reason
        );
        println!(
            "  K    pac  null gauss  null box  disagree  left   area  delta  certain   anmi    rcsi ±        p"
        );
        for row in &choice.rows {
            let [gauss, uniform] = [0, 1].map(|at| {
                let pac = row.references.get(at).and_then(|one| one.pac);
                pac.map(|pac| pac.mean)
            });
            print!("{:>3}", row.clusters);
            for (value, gap) in [
                (row.pac, " "),
                (gauss, "      "),
                (uniform, "    "),
                (row.disagreement, "    "),
                (row.dispersion, " "),
                (row.area, " "),
                (row.delta_area, " "),
                (row.anmi, " "),
                (row.rcsi, "  "),
                (row.rcsi_error, " "),
            ] {
                match value {
                    Some(value) => print!("{gap}{value:6.3}"),
                    None => print!("{gap}     -"),
                }
            }
            println!("  {:.1e}", row.p.unwrap_or(f64::NAN));
        }
        println!();
    }
    for (name, seeds) in [
        ("gaussians", 20),
        ("pcc-gaussians", 20),
        ("blobs", 10),
        ("wine-std", 10),
        ("iris", 10),
    ] {
        let picked = picked(|seed| table(name, seed), seeds)?;
        println!("{name}, {seeds} seeds: K chosen and how often {picked:?}");
    }
    println!();
    Ok(())
}

/// Evidence accumulation, the longest lifetime.
fn ensembles() -> Done {
    println!("ensembles of 100 k-means, 5 seeds: K of the longest lifetime from 2 to 12");
    println!(
        "{:<16} {:<8} {:<16} {:<16} lwea",
        "data", "base k", "eac-single", "eac-average"
    );
    for name in [
        "half-rings",
        "cigar",
        "rings",
        "gaussians",
        "wine-std",
        "iris",
    ] {
        for base_k in ["10..30", "2..10"] {
            let mut line = format!("{name:<16} {base_k:<8}");
            for method in ["eac-single", "eac-average", "lwea"] {
                let mut picked = Vec::new();
                let method = partita::method(method)?;
                let mut recipe = Recipe::default();
                recipe.base = BaseSpec::list("kmeans:100")?;
                recipe.base_k = base_k.parse()?;
                let budget = MemoryBudget::UNLIMITED;
                let settings = EnsembleChoiceSettings::default();
                for seed in 0..5 {
                    let table = table(name, seed)?;
                    let made = generate(table.view(), &recipe, Seed::new(seed), budget, &Silent)?;
                    let problem = Problem::new(&made.ensemble, Clusters::Auto);
                    let choice =
                        choose_clusters_of_ensemble(method, &problem, 2..=12, &settings, &Silent)?;
                    picked.push(choice.clusters);
                }
                line += &format!(" {:<16}", format!("{picked:?}"));
            }
            println!("{line}");
        }
    }
    println!();
    Ok(())
}

/// What leaving out principal components changes.
fn components() -> Done {
    println!("share of the variance kept: K chosen, rcsi there, s of CPU");
    for (name, last) in [("digits", 12), ("wdbc-std", 8)] {
        for share in [0.8, 0.9, 0.99, 1.0] {
            let mut settings = ChooseSettings::default();
            settings.variance = share;
            let cpu = cpu_seconds();
            let choice = choose(&table(name, 0)?, last, 0, &settings)?;
            let cpu = cpu_seconds() - cpu;
            let clusters = choice.clusters;
            let rcsi = choice.row(clusters).and_then(|row| row.rcsi);
            let rcsi = rcsi.unwrap_or(f64::NAN);
            println!("{name:<10} {share:<5} {clusters:>3}  {rcsi:.3}  {cpu:.1}");
        }
    }
    println!();
    Ok(())
}

/// 120,000 objects: a sample is looked at.
fn large() -> Done {
    for objects in [500, 1000, 2000, 4000] {
        let made = synthesise("blobs", 120_000, Seed::new(0), &SynthSettings::default())?;
        let mut settings = ChooseSettings::default();
        settings.objects = objects;
        let clock = Instant::now();
        let cpu = cpu_seconds();
        let choice = choose(&made.values, 15, 0, &settings)?;
        let cpu = cpu_seconds() - cpu;
        let wall = clock.elapsed().as_secs_f64();
        println!(
            "blobs, n = 120,000, 10 clusters, K 2..15: {objects} objects looked at, {cpu:.1} s of CPU, {wall:.1} s"
        );
        println!("  {}", choice.reason);
    }
    Ok(())
}
