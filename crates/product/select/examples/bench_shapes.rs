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
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use partita_core::ndarray::Array2;
use partita_core::{Clusters, Ensemble, MemoryBudget, Partition, Problem, Seed, Silent, consense};
use partita_files::{Impute, ReadOptions, read_table};
use partita_generate::{Recipe, Scale, generate};
use partita_metrics::Contingency;
use partita_select::{
    BestCriterion, BestSettings, ChooseSettings, best, choose_clusters, choose_recipe,
};
use partita_synth::{Group, Half, SynthSettings, families, synthesise};

type Done<T = ()> = Result<T, Box<dyn Error>>;

/// Small sets of the catalogue.
const SETS: &str =
    "iris wine wdbc glass ecoli zoo soybean ionosphere breast-cancer half-rings spiral cigar";

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
    let number = |at: usize| words.get(at).and_then(|word| word.parse().ok());
    let seeds = number(0).unwrap_or(5);
    let most = number(1).unwrap_or(500);
    let asked = |what: &str| words.iter().any(|word| word == what);
    let half = if asked("tuned") {
        Half::Tuned
    } else {
        Half::HeldOut
    };
    let sets = sets(half, seeds as u64, most)?;
    if asked("best") {
        let what = format!("{half:?} half, {seeds} seeds, at most {most} objects");
        return choices_among_methods(&sets, &what);
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
        SETS.split(' ').count()
    );
    for known in [true, false] {
        table(known, &all);
    }
    let ones = all.iter().filter(|(clusters, _)| *clusters == 1);
    let count = ones.clone().count();
    println!("\ntables of one cluster, told as such ({count} tables)");
    let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
    for ((known, name), score) in ones.flat_map(|(_, scores)| scores) {
        if !known {
            *shares.entry(name).or_default() += score / count as f64;
        }
    }
    for (name, share) in shares {
        println!("{name:<28} {:>4.0} %", 100.0 * share);
    }
    Ok(())
}

/// Mean ARI of the choice with the number of clusters known and open, and how often it says 1, by what follows `_` in the files' names.
fn tables(folder: &Path) -> Done {
    let mut files = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Done<Vec<PathBuf>>>()?;
    files.sort();
    let mut groups: BTreeMap<String, Vec<[f64; 3]>> = BTreeMap::new();
    for path in files {
        let text = std::fs::read_to_string(&path)?;
        let rows = text
            .lines()
            .map(|line| line.split(',').map(str::parse).collect());
        let rows: Vec<Vec<f64>> = rows.collect::<Result<_, _>>()?;
        let columns = rows.first().ok_or("an empty file")?.len() - 1;
        let labels = rows.iter().map(|row| row[columns]);
        let truth: Vec<Option<usize>> = labels
            .map(|label| (label >= 0.0).then_some(label as usize))
            .collect();
        let clusters = truth.iter().flatten().max().map_or(0, |last| last + 1);
        let values = Array2::from_shape_fn((rows.len(), columns), |(i, j)| rows[i][j]);
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let name = name.ok_or("no name")?.to_owned();
        let set = Set {
            name,
            values,
            truth,
            clusters,
        };
        let open = chosen(&set, (2, None))?;
        let mut known = 1.0;
        if clusters > 1 {
            known = chosen(&set, (clusters, Some(clusters)))?.1;
        }
        eprintln!("{} of {clusters} clusters: {open:?}, {known:.3}", set.name);
        let group = set.name.split_once('_').map_or("", |(_, group)| group);
        let one = f64::from(u8::from(open.0 == 1));
        let group = groups.entry(group.to_owned()).or_default();
        group.push([known, open.1, 100.0 * one]);
    }
    println!("{:<14} tables  known   open  told as one", "");
    for (group, scores) in &groups {
        let count = scores.len();
        let [known, open, one] =
            [0, 1, 2].map(|at| scores.iter().map(|s| s[at]).sum::<f64>() / count as f64);
        println!("{group:<14} {count:>6} {known:>6.3} {open:>6.3} {one:>10.0} %");
    }
    Ok(())
}

/// Families of a half with several seeds, and the data sets.
fn sets(half: Half, seeds: u64, most: usize) -> Done<Vec<Set>> {
    let mut sets = Vec::new();
    for family in families().filter(|family| family.half() == half) {
        // Ten families of one cluster are few: more seeds make up for it.
        let times = if family.group == Group::One { 2 } else { 1 };
        let objects = family.objects.min(most);
        let settings = SynthSettings::default();
        for seed in 100..100 + times * seeds {
            let made = synthesise(family.name, objects, Seed::new(seed), &settings)?;
            let last = made.labels.iter().flatten().max();
            let clusters = last.map_or(0, |last| last + 1);
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
    for name in SETS.split(' ') {
        let path = folder.join(name).with_extension("csv");
        if !path.exists() {
            eprintln!("{} is not there and left out", path.display());
            continue;
        }
        let mut options = ReadOptions::default();
        options.impute = Some(Impute::Mean);
        let table = read_table(&path, &options)?;
        let classes = Partition::from_values(&table.label.ok_or("no column label")?.values);
        let truth = classes.labels().iter().map(|&label| Some(label as usize));
        sets.push(Set {
            name: name.into(),
            values: table.values,
            truth: truth.collect(),
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
    let mut stdin = child.stdin.take().ok_or("no stdin")?;
    stdin.write_all(lines.as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    for line in String::from_utf8(output.stdout)?.lines() {
        let parts: Vec<&str> = line.split('|').collect();
        let stem = Path::new(parts[0])
            .file_stem()
            .and_then(|stem| stem.to_str());
        let at: usize = stem.ok_or("no number")?.parse()?;
        let labels = parts[3].split(' ').map(str::parse);
        let labels: Vec<i64> = labels.collect::<Result<_, _>>()?;
        let score = ari(&Partition::from_values(&labels), &sets[at])?;
        scores[at].insert((parts[2] == "known", parts[1].to_owned()), score);
    }
    Ok(scores)
}

/// The number of clusters that is chosen, and the ARI.
fn chosen(set: &Set, range: (usize, Option<usize>)) -> Done<(usize, f64)> {
    let budget = MemoryBudget::UNLIMITED;
    let values = set.values.view();
    let choice = choose_recipe(values, range, Scale::Auto, Seed::new(1), budget, &Silent)?;
    Ok((
        choice.clusters,
        scored(set, &choice.recipe, choice.clusters)?,
    ))
}

fn ensemble(set: &Set, recipe: &Recipe) -> Done<Ensemble> {
    let budget = MemoryBudget::UNLIMITED;
    Ok(generate(set.values.view(), recipe, Seed::new(1), budget, &Silent)?.ensemble)
}

/// The ARI of the consensus by `lwgp`.
fn scored(set: &Set, recipe: &Recipe, clusters: usize) -> Done<f64> {
    let ensemble = ensemble(set, recipe)?;
    let problem = Problem::new(&ensemble, Clusters::Exactly(clusters));
    let lwgp = partita::method("lwgp")?;
    ari(&consense(lwgp, &problem, &Silent)?.partition, set)
}

/// What is chosen here, and the default of before.
fn ours(set: &Set, scores: &mut Scores) -> Done {
    let values = set.values.view();
    let budget = MemoryBudget::UNLIMITED;
    let settings = ChooseSettings::default();
    let open = choose_clusters(values, 2..=12, Seed::new(1), &settings, budget, &Silent)?;
    let mut cases = vec![(false, (2, None), open.clusters)];
    if set.clusters > 1 {
        cases.push((true, (set.clusters, Some(set.clusters)), set.clusters));
    }
    for (known, range, clusters) in cases {
        scores.insert((known, "partita, auto".into()), chosen(set, range)?.1);
        let before = scored(set, &Recipe::default(), clusters)?;
        scores.insert((known, "partita, before".into()), before);
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
        let ensemble = ensemble(set, &Recipe::default())?;
        let problem = Problem::new(&ensemble, Clusters::Exactly(set.clusters));
        let mut listed = Vec::new();
        for &name in &methods {
            let method = partita::method(name)?;
            let score = ari(&consense(method, &problem, &Silent)?.partition, set)?;
            columns.entry(name).or_default().push(score);
            listed.push(method);
        }
        for (name, criterion) in criteria {
            let chosen = best(&listed, &problem, criterion, &Silent)?;
            let score = ari(&chosen.outcome.partition, set)?;
            columns.entry(name).or_default().push(score);
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
    let mut columns: Vec<_> = columns.into_iter().collect();
    columns.sort_by(|a, b| mean(&b.1).total_cmp(&mean(&a.1)));
    for (name, column) in columns {
        let above = ours.iter().zip(&column).map(|(ours, theirs)| ours - theirs);
        let above: Vec<f64> = above.collect();
        let squares: Vec<f64> = above.iter().map(|x| (x - mean(&above)).powi(2)).collect();
        let error = (mean(&squares) / ours.len() as f64).sqrt();
        let score = mean(&column);
        println!(
            "{name:<18} {score:>9.3} {:>+10.3} ± {error:.3}",
            mean(&above)
        );
    }
    Ok(())
}

/// Over the objects that belong to a cluster; of one cluster, whether one was found.
fn ari(found: &Partition, set: &Set) -> Done<f64> {
    if set.clusters == 1 {
        return Ok(f64::from(u8::from(found.live_clusters() == 1)));
    }
    let pairs = set.truth.iter().zip(found.labels());
    let known = pairs.filter_map(|(truth, &label)| Some(((*truth)?, label)));
    let (truth, labels): (Vec<usize>, Vec<u32>) = known.unzip();
    let truth = Partition::from_values(&truth);
    Ok(Contingency::new(&truth, &Partition::from_values(&labels))?.ari())
}

/// Mean ARI and mean rank of every algorithm; equal scores share their rank.
fn table(known: bool, all: &[(usize, Scores)]) {
    let mut columns: BTreeMap<&str, Vec<[f64; 2]>> = BTreeMap::new();
    for (_, scores) in all.iter().filter(|(clusters, _)| *clusters > 1) {
        let here = scores
            .iter()
            .filter(|((of_known, _), _)| *of_known == known);
        for ((_, name), score) in here.clone() {
            let better = here
                .clone()
                .filter(|(_, other)| **other > score + 1e-9)
                .count();
            let equal = here
                .clone()
                .filter(|(_, other)| (**other - score).abs() <= 1e-9)
                .count();
            let rank = better as f64 + f64::midpoint(equal as f64, 1.0);
            columns.entry(name).or_default().push([*score, rank]);
        }
    }
    let what = if known { "known" } else { "open " };
    println!("\nnumber of clusters {what}          mean ARI   mean rank");
    let mut rows = Vec::new();
    for (name, column) in columns {
        let [score, rank] =
            [0, 1].map(|at| column.iter().map(|one| one[at]).sum::<f64>() / column.len() as f64);
        rows.push((name, score, rank));
    }
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (name, score, rank) in rows {
        println!("{name:<32} {score:>8.3} {rank:>11.2}");
    }
}
