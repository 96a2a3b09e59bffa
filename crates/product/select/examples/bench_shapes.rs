//! Tables of which nothing is known: the half of the families of `partita-synth` that no default was tuned on, and small data sets.
//!
//! `cargo xtask bench shapes --peers [-- SEEDS OBJECTS tuned]` compares what `partita run` chooses with its default of before
//! (k-means ensemble), and with scikit-learn and genieclust: mean ARI and mean rank with the number of clusters known and open, and
//! how often tables of one cluster are told as such. `-- SEEDS OBJECTS [tuned] best` compares `best` with the methods that it chooses
//! among, on the k-means ensemble with the number of clusters known. `-- tables FOLDER` scores the choice on CSV files of one's own, without a
//! header, the cluster in the last column (-1: none), such as `peers/random_tables.py` draws. Data sets lie in the folder that `PARTITA_DATASETS` names, or in `datasets/`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its tables and how far it is"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use partita_core::ndarray::Array2;
use partita_core::{Clusters, MemoryBudget, Partition, Problem, Seed, Silent, consense};
use partita_files::{Impute, ReadOptions, read_table};
use partita_generate::{Recipe, Scale, generate};
use partita_metrics::Contingency;
use partita_select::{
    BestCriterion, BestSettings, ChooseSettings, best, choose_clusters, choose_recipe,
};
use partita_synth::{Group, Half, SynthSettings, families, synthesise};

type Done<T = ()> = Result<T, Box<dyn Error>>;

/// Small sets of the catalogue.
const SETS: [&str; 12] = [
    "iris",
    "wine",
    "wdbc",
    "glass",
    "ecoli",
    "zoo",
    "soybean",
    "ionosphere",
    "breast-cancer",
    "half-rings",
    "spiral",
    "cigar",
];

struct Set {
    name: String,
    values: Array2<f64>,
    truth: Vec<Option<usize>>,
    clusters: usize,
}

/// ARI by algorithm and by whether the number of clusters was known.
type Scores = BTreeMap<(bool, String), f64>;

fn main() -> Done {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [what, folder] = &words[..]
        && what == "tables"
    {
        return tables(Path::new(folder));
    }
    let number = |at: usize, usual: usize| {
        words
            .get(at)
            .and_then(|word| word.parse().ok())
            .unwrap_or(usual)
    };
    let (seeds, most) = (number(0, 5) as u64, number(1, 500));
    let half = if words.iter().any(|word| word == "tuned") {
        Half::Tuned
    } else {
        Half::HeldOut
    };
    let sets = sets(half, seeds, most)?;
    if words.iter().any(|word| word == "best") {
        return choices_among_methods(
            &sets,
            &format!("{half:?} half, {seeds} seeds, at most {most} objects"),
        );
    }
    let folder = std::env::temp_dir().join(format!("partita-shapes-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let theirs = peers(&sets, &folder);
    std::fs::remove_dir_all(&folder)?;
    let mut all: Vec<(usize, Scores)> = Vec::new();
    for (set, mut scores) in sets.iter().zip(theirs?) {
        ours(set, &mut scores)?;
        eprintln!("{} {scores:?}", set.name);
        all.push((set.clusters, scores));
    }
    let shapes = sets.iter().filter(|set| set.clusters > 1).count();
    println!(
        "{half:?} half, {seeds} seeds, at most {most} objects: {shapes} tables with clusters, of them data sets {}",
        SETS.len()
    );
    for known in [true, false] {
        table(known, &all);
    }
    let ones: Vec<&Scores> = all
        .iter()
        .filter(|(clusters, _)| *clusters == 1)
        .map(|(_, scores)| scores)
        .collect();
    println!(
        "\ntables of one cluster, told as such ({} tables)",
        ones.len()
    );
    let names: Vec<&(bool, String)> = ones
        .iter()
        .flat_map(|scores| scores.keys())
        .filter(|name| !name.0)
        .collect();
    for name in names.into_iter().collect::<std::collections::BTreeSet<_>>() {
        let share = ones
            .iter()
            .filter_map(|scores| scores.get(name))
            .sum::<f64>()
            / ones.len() as f64;
        println!("{:<28} {:>4.0} %", name.1, 100.0 * share);
    }
    Ok(())
}

/// Mean ARI of the choice with the number of clusters known and open, and how often it says 1, by what follows `_` in the files' names.
fn tables(folder: &Path) -> Done {
    let mut files = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Done<Vec<PathBuf>>>()?;
    files.sort();
    let mut groups: BTreeMap<String, Vec<(f64, f64, bool)>> = BTreeMap::new();
    for path in files {
        let text = std::fs::read_to_string(&path)?;
        let rows: Vec<Vec<f64>> = text
            .lines()
            .map(|line| line.split(',').map(str::parse).collect())
            .collect::<Result<_, _>>()?;
        let columns = rows.first().ok_or("an empty file")?.len() - 1;
        let truth: Vec<Option<usize>> = rows
            .iter()
            .map(|row| (row[columns] >= 0.0).then_some(row[columns] as usize))
            .collect();
        let clusters = truth.iter().flatten().max().map_or(0, |last| last + 1);
        let values = Array2::from_shape_fn((rows.len(), columns), |(i, j)| rows[i][j]);
        let name = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .ok_or("no name")?
            .to_owned();
        let set = Set {
            name,
            values,
            truth,
            clusters,
        };
        let open = chosen(&set, 2..=12)?;
        let known = if clusters > 1 {
            chosen(&set, clusters..=clusters)?.1
        } else {
            1.0
        };
        eprintln!("{} of {clusters} clusters: {open:?}, {known:.3}", set.name);
        let group = set.name.split_once('_').map_or("", |(_, group)| group);
        groups
            .entry(group.to_owned())
            .or_default()
            .push((known, open.1, open.0 == 1));
    }
    println!("{:<14} tables  known   open  told as one", "");
    for (group, scores) in &groups {
        let mean = |of: &dyn Fn(&(f64, f64, bool)) -> f64| {
            scores.iter().map(of).sum::<f64>() / scores.len() as f64
        };
        let (known, open, one) = (
            mean(&|s| s.0),
            mean(&|s| s.1),
            mean(&|s| f64::from(u8::from(s.2))),
        );
        println!(
            "{group:<14} {:>6} {known:>6.3} {open:>6.3} {:>10.0} %",
            scores.len(),
            100.0 * one
        );
    }
    Ok(())
}

/// Families of a half with several seeds, and the data sets.
fn sets(half: Half, seeds: u64, most: usize) -> Done<Vec<Set>> {
    let mut sets = Vec::new();
    for family in families().filter(|family| family.half() == half) {
        // Ten families of one cluster are few: more seeds make up for it.
        let seeds = if family.group == Group::One {
            2 * seeds
        } else {
            seeds
        };
        for seed in 100..100 + seeds {
            let made = synthesise(
                family.name,
                family.objects.min(most),
                Seed::new(seed),
                &SynthSettings::default(),
            )?;
            let clusters = made
                .labels
                .iter()
                .flatten()
                .max()
                .map_or(0, |last| last + 1);
            sets.push(Set {
                name: family.name.into(),
                values: made.values,
                truth: made.labels,
                clusters,
            });
        }
    }
    let folder = std::env::var_os("PARTITA_DATASETS").map(PathBuf::from);
    let folder =
        folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../datasets"));
    for name in SETS {
        let path = folder.join(name).with_extension("csv");
        if !path.exists() {
            eprintln!("{} is not there and left out", path.display());
            continue;
        }
        let mut options = ReadOptions::default();
        options.impute = Some(Impute::Mean);
        let table = read_table(&path, &options)?;
        let classes = Partition::from_values(&table.label.ok_or("no column label")?.values);
        let truth = classes
            .labels()
            .iter()
            .map(|&label| Some(label as usize))
            .collect();
        sets.push(Set {
            name: name.into(),
            values: table.values,
            truth,
            clusters: classes.clusters(),
        });
    }
    Ok(sets)
}

/// What others find, where a Python with their packages is given.
fn peers(sets: &[Set], folder: &Path) -> Done<Vec<Scores>> {
    let mut scores: Vec<Scores> = sets.iter().map(|_| Scores::new()).collect();
    let (Some(python), Some(script)) = (
        std::env::var_os("PARTITA_PEERS_PYTHON"),
        std::env::var_os("PARTITA_PEERS_SCRIPT"),
    ) else {
        return Ok(scores);
    };
    let mut lines = String::new();
    for (at, set) in sets.iter().enumerate() {
        let row = |row: partita_core::ndarray::ArrayView1<'_, f64>| {
            row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n"
        };
        let path = folder.join(format!("{at}.csv"));
        std::fs::write(&path, set.values.outer_iter().map(row).collect::<String>())?;
        lines += &format!("{} {}\n", path.display(), set.clusters);
    }
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child
        .stdin
        .take()
        .ok_or("no stdin")?
        .write_all(lines.as_bytes())?;
    let output = child.wait_with_output()?;
    for line in String::from_utf8(output.stdout)?.lines() {
        let parts: Vec<&str> = line.split('|').collect();
        let at: usize = Path::new(parts[0])
            .file_stem()
            .and_then(|stem| stem.to_str())
            .ok_or("no number")?
            .parse()?;
        let labels: Vec<i64> = parts[3]
            .split(' ')
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        let score = ari(&Partition::from_values(&labels), &sets[at])?;
        scores[at].insert((parts[2] == "known", parts[1].to_owned()), score);
    }
    Ok(scores)
}

/// The number of clusters that is chosen, and the ARI.
fn chosen(set: &Set, range: RangeInclusive<usize>) -> Done<(usize, f64)> {
    let (seed, budget) = (Seed::new(1), MemoryBudget::UNLIMITED);
    let choice = choose_recipe(set.values.view(), range, Scale::Auto, seed, budget, &Silent)?;
    Ok((
        choice.clusters,
        scored(set, &choice.recipe, choice.clusters)?,
    ))
}

/// The ARI of the consensus by `lwgp`.
fn scored(set: &Set, recipe: &Recipe, clusters: usize) -> Done<f64> {
    let ensemble = generate(
        set.values.view(),
        recipe,
        Seed::new(1),
        MemoryBudget::UNLIMITED,
        &Silent,
    )?
    .ensemble;
    let problem = Problem::new(&ensemble, Clusters::Exactly(clusters));
    let outcome = consense(partita::method("lwgp")?, &problem, &Silent)?;
    ari(&outcome.partition, set)
}

/// What is chosen here, and the default of before.
fn ours(set: &Set, scores: &mut Scores) -> Done {
    let (values, seed, budget) = (set.values.view(), Seed::new(1), MemoryBudget::UNLIMITED);
    scores.insert((false, "partita, auto".into()), chosen(set, 2..=12)?.1);
    let before = choose_clusters(
        values,
        2..=12,
        seed,
        &ChooseSettings::default(),
        budget,
        &Silent,
    )?
    .clusters;
    scores.insert(
        (false, "partita, before".into()),
        scored(set, &Recipe::default(), before)?,
    );
    if set.clusters > 1 {
        scores.insert(
            (true, "partita, auto".into()),
            chosen(set, set.clusters..=set.clusters)?.1,
        );
        scores.insert(
            (true, "partita, before".into()),
            scored(set, &Recipe::default(), set.clusters)?,
        );
    }
    Ok(())
}

/// `best` by both criteria and the methods that it chooses among: mean ARI, and the mean difference to `best`.
fn choices_among_methods(sets: &[Set], what: &str) -> Done {
    let names = BestSettings::default().among;
    let methods: Vec<&str> = names.split(',').collect();
    let criteria = [
        ("best", BestCriterion::Methods),
        ("best criterion=bases", BestCriterion::Bases),
    ];
    let mut columns: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for set in sets.iter().filter(|set| set.clusters > 1) {
        let ensemble = generate(
            set.values.view(),
            &Recipe::default(),
            Seed::new(1),
            MemoryBudget::UNLIMITED,
            &Silent,
        )?
        .ensemble;
        let problem = Problem::new(&ensemble, Clusters::Exactly(set.clusters));
        let named = methods.iter().map(|name| partita::method(name));
        let listed = named.collect::<Result<Vec<_>, _>>()?;
        for (name, method) in methods.iter().zip(&listed) {
            columns
                .entry(name)
                .or_default()
                .push(ari(&consense(*method, &problem, &Silent)?.partition, set)?);
        }
        for (name, criterion) in criteria {
            let chosen = best(&listed, &problem, criterion, &Silent)?;
            columns
                .entry(name)
                .or_default()
                .push(ari(&chosen.outcome.partition, set)?);
        }
    }
    let ours = columns
        .get("best")
        .ok_or("there are no tables with clusters")?
        .clone();
    println!(
        "{what}: {} tables with clusters\n\nmethod              mean ARI   best, above it",
        ours.len()
    );
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let mut rows: Vec<(&str, f64, f64, f64)> = columns
        .iter()
        .map(|(name, column)| {
            let above: Vec<f64> = ours
                .iter()
                .zip(column)
                .map(|(ours, theirs)| ours - theirs)
                .collect();
            let squares: Vec<f64> = above.iter().map(|x| (x - mean(&above)).powi(2)).collect();
            (
                *name,
                mean(column),
                mean(&above),
                (mean(&squares) / ours.len() as f64).sqrt(),
            )
        })
        .collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (name, score, above, error) in rows {
        println!("{name:<18} {score:>9.3} {above:>+10.3} ± {error:.3}");
    }
    Ok(())
}

/// Over the objects that belong to a cluster; of one cluster, whether one was found.
fn ari(found: &Partition, set: &Set) -> Done<f64> {
    if set.clusters == 1 {
        return Ok(f64::from(u8::from(found.live_clusters() == 1)));
    }
    let pairs = set
        .truth
        .iter()
        .zip(found.labels())
        .filter_map(|(truth, &label)| Some(((*truth)?, label)));
    let (truth, labels): (Vec<usize>, Vec<u32>) = pairs.unzip();
    Ok(Contingency::new(
        &Partition::from_values(&truth),
        &Partition::from_values(&labels),
    )?
    .ari())
}

/// Mean ARI and mean rank of every algorithm; equal scores share their rank.
fn table(known: bool, all: &[(usize, Scores)]) {
    let with: Vec<&Scores> = all
        .iter()
        .filter(|(clusters, _)| *clusters > 1)
        .map(|(_, scores)| scores)
        .collect();
    let mut sums: BTreeMap<&str, (f64, f64, usize)> = BTreeMap::new();
    for scores in &with {
        let here: Vec<(&str, f64)> = scores
            .iter()
            .filter(|(name, _)| name.0 == known)
            .map(|(name, &score)| (name.1.as_str(), score))
            .collect();
        for &(name, score) in &here {
            let better = here.iter().filter(|other| other.1 > score + 1e-9).count() as f64;
            let equal = here
                .iter()
                .filter(|other| (other.1 - score).abs() <= 1e-9)
                .count() as f64;
            let sum = sums.entry(name).or_default();
            *sum = (
                sum.0 + score,
                sum.1 + better + f64::midpoint(equal, 1.0),
                sum.2 + 1,
            );
        }
    }
    println!(
        "\nnumber of clusters {}          mean ARI   mean rank",
        if known { "known" } else { "open " }
    );
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by(|a, b| (b.1.0 / b.1.2 as f64).total_cmp(&(a.1.0 / a.1.2 as f64)));
    for (name, (score, rank, count)) in rows {
        println!(
            "{name:<32} {:>8.3} {:>11.2}",
            score / count as f64,
            rank / count as f64
        );
    }
}
