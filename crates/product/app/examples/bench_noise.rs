//! How often a number of clusters is found where there are none.
//!
//! `cargo xtask bench noise` draws 50 tables of each of three kinds without clusters, and as many ensembles of labels at random, and counts
//! the answer "1" of `choose-k`, of `run -k auto` with base clusterings chosen or named, and of `consensus -k auto`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use partita::extend::rand::RngExt;
use partita::generate::{BaseKind, BaseSpec, Recipe, Scale};
use partita::{MemoryBudget, Seed};
use partita_app::{
    ClustersAsked, Experiment, InputTable, MethodChoice, NoObserver, TableInput, choose_of_table,
};
use partita_select::ChooseSettings;

type Done<T = ()> = Result<T, Box<dyn Error>>;

const SEEDS: u64 = 50;
const ROWS: usize = 80;
const COLUMNS: usize = 4;
/// Base clusterings and objects of labels at random.
const LABELS: (usize, usize) = (12, 90);

fn main() -> Done {
    let folder = std::env::temp_dir().join(format!("partita-noise-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("noise.csv");
    println!(
        "{:<28} {:<34} {:>8}   other answers (seed: clusters)",
        "what", "asked", "1"
    );
    for (kind, name) in ["Gaussian", "uniform", "correlated Gaussian"]
        .into_iter()
        .enumerate()
    {
        tell(name, "choose-k", |seed| {
            table(&file, kind, seed).and_then(|()| choose(&file))
        })?;
        tell(name, "run -k auto", |seed| {
            table(&file, kind, seed).and_then(|()| run(&file, true))
        })?;
        tell(name, "run -k auto --base kmeans:30", |seed| {
            table(&file, kind, seed).and_then(|()| run(&file, false))
        })?;
    }
    for (kind, name) in ["even labels", "uneven labels", "labels with gaps"]
        .into_iter()
        .enumerate()
    {
        tell(name, "consensus -k auto", |seed| {
            labels(&file, kind, seed).and_then(|()| consensus(&file))
        })?;
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// Prints how often the answer was 1.
fn tell(what: &str, asked: &str, mut answer: impl FnMut(u64) -> Done<usize>) -> Done {
    let mut others = Vec::new();
    for seed in 0..SEEDS {
        let clusters = answer(seed)?;
        if clusters != 1 {
            others.push(format!("{seed}: {clusters}"));
        }
    }
    let ones = SEEDS as usize - others.len();
    println!(
        "{what:<28} {asked:<34} {ones:>2} of {SEEDS}   {}",
        others.join(", ")
    );
    Ok(())
}

fn normal(rng: &mut impl RngExt) -> f64 {
    let (radius, angle): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// A table of this kind without clusters.
fn table(file: &Path, kind: usize, seed: u64) -> Done {
    let mut rng = Seed::new(seed).child(kind as u64).rng();
    let mixing: Vec<f64> = (0..COLUMNS * COLUMNS).map(|_| normal(&mut rng)).collect();
    let mut text = "a,b,c,d\n".to_owned();
    for _ in 0..ROWS {
        let own: Vec<f64> = (0..COLUMNS)
            .map(|_| {
                if kind == 1 {
                    rng.random()
                } else {
                    normal(&mut rng)
                }
            })
            .collect();
        let row: Vec<f64> = match kind {
            2 => mixing
                .chunks(COLUMNS)
                .map(|weights| weights.iter().zip(&own).map(|(w, x)| w * x).sum())
                .collect(),
            _ => own,
        };
        writeln!(
            text,
            "{}",
            row.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
        )?;
    }
    Ok(std::fs::write(file, text)?)
}

/// Labels at random: of even sizes, of uneven ones, or some of them missing.
fn labels(file: &Path, kind: usize, seed: u64) -> Done {
    let (bases, objects) = LABELS;
    let mut rng = Seed::new(seed).child(10 + kind as u64).rng();
    let clusters: Vec<u32> = (0..bases).map(|_| rng.random_range(2..=6)).collect();
    let mut text = (0..bases)
        .map(|base| format!("b{base}"))
        .collect::<Vec<_>>()
        .join(",")
        + "\n";
    for _ in 0..objects {
        let label = |&clusters: &u32| {
            let even: f64 = rng.random();
            let place = if kind == 1 { even * even } else { even };
            if kind == 2 && rng.random::<f64>() < 0.1 {
                String::new()
            } else {
                ((place * f64::from(clusters)) as u32).to_string()
            }
        };
        text += &(clusters.iter().map(label).collect::<Vec<_>>().join(",") + "\n");
    }
    Ok(std::fs::write(file, text)?)
}

fn choose(file: &Path) -> Done<usize> {
    let (seed, budget) = (Seed::new(0), MemoryBudget::UNLIMITED);
    let table = InputTable::read(&TableInput::new(file), budget, seed, &NoObserver)?;
    let choice = choose_of_table(
        &table,
        (2, None),
        &ChooseSettings::default(),
        seed,
        budget,
        file,
        &NoObserver,
    )?;
    Ok(choice.choice.clusters)
}

const AUTO: ClustersAsked = ClustersAsked::OPEN;

fn run(file: &Path, chosen: bool) -> Done<usize> {
    let mut recipe = Recipe::default();
    recipe.base = vec![BaseSpec::new(BaseKind::KMeans, 30)];
    recipe.scale = if chosen { Scale::Auto } else { Scale::None };
    let mut experiment = Experiment::of_table(
        TableInput::new(file),
        recipe,
        AUTO,
        MethodChoice::new("lwgp"),
    );
    experiment.auto = chosen;
    number(&experiment)
}

fn consensus(file: &Path) -> Done<usize> {
    number(&Experiment::of_ensemble(
        file,
        AUTO,
        MethodChoice::new("lwgp"),
    ))
}

fn number(experiment: &Experiment) -> Done<usize> {
    let record = experiment.run(&NoObserver)?;
    Ok(record.choice.ok_or("no number was chosen")?.clusters)
}
