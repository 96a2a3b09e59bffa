//! Evidence at any size, beside what one does in Python: `cargo xtask bench evidence [--peers] [-- objects … part …]`,
//! where the parts are `count`, `link`, `pairs` and `million`; all, if none is named.
//!
//! Labels are 100 random Voronoi partitions (3 to 30 cells) of ten Gaussian blobs in five dimensions. Every contestant
//! runs on one thread in a process of its own, in turns with the others, three times; figures are medians. A
//! contestant that would hold more than 6 GB or take more than a minute is left out. The sparse part has three times as
//! many objects as the largest size, and the part with 20 base clusterings 25 times as many.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

use std::error::Error;
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Instant;
use std::{env, fs};

use partita_coassoc::{CoAssociation, Counts, SparseEvidence, StrongestSettings, recall};
use partita_conformance::race::{Contestant, Figures, cpu_seconds, peak_bytes, race, stage};
use partita_core::ndarray::{Array1, Array2};
use partita_core::{
    BaseClustering, Clusters, Ensemble, Label, LabelRows, MemoryBudget, Partition, Problem, Seed,
    Silent, consense,
};
use partita_eac::{EAC_AVERAGE, bytes, eac_sparse};
use partita_linkage::{Linkage, cut, link_f32};
use rand::{Rng, RngExt};

const BASES: usize = 100;
const CLUSTERS: usize = 10;
const CELLS: RangeInclusive<usize> = 3..=30;
const ROUNDS: usize = 3;
/// What a contestant may need.
const BYTES: f64 = 6e9;
const SECONDS: f64 = 60.0;

/// One line of a table.
struct Entry {
    name: &'static str,
    /// The words that call it.
    case: &'static str,
    peer: bool,
    /// Its bytes over n².
    square: f64,
}

const fn own(name: &'static str, case: &'static str, square: f64) -> Entry {
    let peer = false;
    Entry {
        name,
        case,
        peer,
        square,
    }
}

const fn peer(name: &'static str, case: &'static str, square: f64) -> Entry {
    let peer = true;
    Entry {
        name,
        case,
        peer,
        square,
    }
}

const COUNTING: [Entry; 5] = [
    own("partita", "count", 0.5),
    own("partita, a tenth of the labels missing", "missing", 1.0),
    own("a plain double loop in Rust", "plain", 0.5),
    peer("float32 GEMM of one-hot rows (NumPy)", "gemm", 4.0),
    peer("sparse one-hot product (SciPy)", "product", 5.0),
];

const LINKING: [Entry; 7] = [
    own("partita", "average", 1.4),
    own("partita, budget 1.7 GB", "average-1700", 1.4),
    own("partita, budget 0.9 GB", "average-900", 1.4),
    own("partita, every row four times", "fragments", 1.4),
    own("partita's counts, kodama float32", "kodama", 2.5),
    peer("GEMM and fastcluster", "fastcluster", 4.0),
    peer("GEMM and SciPy's linkage", "scipy", 8.0),
];

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["case", name, file, objects] => case(name, &read(Path::new(file), objects.parse()?)?),
        _ => return tables(&words),
    }
    Ok(())
}

fn tables(words: &[String]) -> Result<(), Box<dyn Error>> {
    let mut sizes: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![2_000, 5_000, 10_000, 20_000, 40_000];
    }
    let largest = *sizes.iter().max().expect("there are sizes");
    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name).display().to_string();
    let files = [file("labels"), file("repeated")];
    let labels = voronoi(3 * largest);
    fs::write(&files[0], &labels)?;
    let rows = labels.chunks(BASES).take(largest);
    let repeated: Vec<u8> = rows.flat_map(|row| row.repeat(4)).collect();
    fs::write(&files[1], repeated)?;
    let all = words.iter().all(|word| word.parse::<usize>().is_ok());
    let wanted = |part: &str| all || words.iter().any(|word| word == part);
    if wanted("count") {
        println!("co-association of all pairs, M = {BASES}: seconds of CPU (peak MB)");
        table(&sizes, &COUNTING, &files)?;
    }
    if wanted("link") {
        let title = format!("average link from labels to {CLUSTERS} clusters, M = {BASES}");
        println!("\n{title}: seconds of CPU (peak MB)");
        table(&sizes, &LINKING, &files)?;
    }
    if wanted("pairs") {
        pairs(3 * largest, &files[0])?;
    }
    if wanted("million") {
        mixture(25 * largest);
    }
    Ok(())
}

/// Races the entries size by size and prints them, with the exponent that fits their growth.
fn table(sizes: &[usize], entries: &[Entry], files: &[String; 2]) -> io::Result<()> {
    let mut found: Vec<Vec<Option<Figures>>> = vec![Vec::new(); entries.len()];
    for (at, &n) in sizes.iter().enumerate() {
        let mut running = Vec::new();
        for (entry, found) in entries.iter().zip(&mut found) {
            let contestant = contestant(entry, n, files).filter(|_| {
                let seconds = match found.last() {
                    None => 0.0,
                    Some(None) => f64::INFINITY,
                    Some(Some(last)) => last["cpu"] * (n as f64 / sizes[at - 1] as f64).powi(2),
                };
                seconds <= SECONDS
            });
            found.push(contestant.is_some().then(Figures::new));
            running.extend(contestant);
        }
        let figures = race(&running, ROUNDS)?;
        let sums = figures
            .iter()
            .filter_map(|figures| figures.get("sum").copied());
        let sums: Vec<f64> = sums.collect();
        let same = sums.windows(2).all(|sums| sums[0] == sums[1]);
        assert!(same, "all count the same: {sums:?}");
        let places = found
            .iter_mut()
            .filter_map(|found| found.last_mut()?.as_mut());
        for (place, figures) in places.zip(figures) {
            *place = figures;
        }
    }
    print(sizes, entries, &found);
    Ok(())
}

/// An entry with so many objects, unless that would hold too much.
fn contestant(entry: &Entry, n: usize, files: &[String; 2]) -> Option<Contestant> {
    let Entry { name, case, .. } = *entry;
    if entry.square * (n as f64).powi(2) > BYTES || !fits(case, n) {
        return None;
    }
    let file = &files[usize::from(case == "fragments")];
    let words = ["case", case, file, &n.to_string()];
    if entry.peer {
        Contestant::peer(name, &words[1..])
    } else {
        Some(Contestant::own(name, &words))
    }
}

fn print(sizes: &[usize], entries: &[Entry], found: &[Vec<Option<Figures>>]) {
    let head: String = sizes.iter().map(|size| format!("{size:>16}")).collect();
    println!("{:>40} {head} {:>6}", "n", "n^");
    for (entry, found) in entries.iter().zip(found) {
        let mut times = String::new();
        let mut rows = String::new();
        for figures in found {
            let figures = figures.as_ref();
            let time = figures.map(|f| format!("{:.3} ({:.0})", f["cpu"], f["peak"] / 1e6));
            times += &format!("{:>16}", time.unwrap_or("-".into()));
            let distinct = figures.and_then(|f| f.get("distinct")).map(f64::to_string);
            rows += &format!("{:>16}", distinct.unwrap_or("-".into()));
        }
        let mut ran = found.iter().flatten().peekable();
        if ran.peek().is_some() {
            println!("{:>40} {times} {:>6}", entry.name, exponent(sizes, found));
        }
        if ran.any(|figures| figures.contains_key("distinct")) {
            println!("{:>40} {rows}", "distinct rows");
        }
    }
}

/// The budget of a case in bytes.
fn budget(case: &str) -> MemoryBudget {
    match case {
        "average-1700" => MemoryBudget::new(1_700_000_000),
        "average-900" => MemoryBudget::new(900_000_000),
        _ => MemoryBudget::UNLIMITED,
    }
}

/// Whether average link accepts the budget of the case.
fn fits(case: &str, objects: usize) -> bool {
    bytes(objects, BASES, false, Linkage::Average) <= budget(case).bytes()
}

/// The slope of log CPU over log n where the time is more than noise.
fn exponent(sizes: &[usize], found: &[Option<Figures>]) -> String {
    let mut points = Vec::new();
    for (&n, figures) in sizes.iter().zip(found) {
        let cpu = figures.as_ref().map_or(0.0, |figures| figures["cpu"]);
        if cpu > 0.002 {
            points.push([(n as f64).ln(), cpu.ln()]);
        }
    }
    if points.len() < 2 {
        return "-".into();
    }
    let [x, y] = [0, 1].map(|d| points.iter().map(|p| p[d]).sum::<f64>() / points.len() as f64);
    let up: f64 = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    let down: f64 = points.iter().map(|p| (p[0] - x).powi(2)).sum();
    format!("{:.2}", up / down)
}

/// Pairs drawn without replacement, 15 an object.
fn pairs(objects: usize, file: &str) -> io::Result<()> {
    let [n, drawn] = [objects, 15 * objects].map(|number| number.to_string());
    let words = ["case", "pairs", file, &n, &drawn];
    let peer = Contestant::peer("NumPy and SciPy", &words[1..]);
    let mut contestants = vec![Contestant::own("partita", &words[..4])];
    contestants.extend(peer);
    let title = format!("{drawn} sampled pairs of {n} objects, M = {BASES}");
    println!("\n{title}: drawn, counted, in compressed rows");
    for (contestant, figures) in contestants.iter().zip(race(&contestants, ROUNDS)?) {
        let [cpu, peak, stored] = ["cpu", "peak", "stored"].map(|name| figures[name]);
        let name = &contestant.name;
        let peak = peak / 1e6;
        println!("{name:>40} {cpu:8.3} s CPU, peak {peak:5.0} MB, {stored} stored");
    }
    Ok(())
}

/// Evidence where all pairs are out of reach, stage by stage, in this process.
fn mixture(objects: usize) {
    println!(
        "\n{objects} objects of a Gaussian mixture, 20 base clusterings of 5 to 20 clusters, a budget of 2 GiB"
    );
    let budget = MemoryBudget::new(2 << 30);
    let mut clock = Clock::start();
    let ensemble = draw(objects);
    clock.note("the ensemble itself", objects as f64, "objects");
    let distinct = ensemble.fragments().ensemble().objects();
    clock.note("fragments", distinct as f64, "distinct rows");
    let pairs = sampled(&ensemble, budget).pairs();
    clock.note("30 sampled partners", pairs as f64, "pairs");
    let how = StrongestSettings::default();
    let evidence = SparseEvidence::strongest(&ensemble, 10, Seed::new(1), &how, budget, &Silent);
    let evidence = evidence.expect("evidence");
    clock.note("10 strongest neighbours", evidence.pairs() as f64, "pairs");
    let share = recall(&evidence, &ensemble, 10, 200, Seed::new(2)).expect("a share");
    clock.note("their recall", share, "of the true 10 of 200 objects");
    let outcome = eac_sparse(&ensemble, &evidence, Clusters::Exactly(8)).expect("a tree");
    let components = outcome.details.components;
    clock.note("spanning forest, cut at 8", components as f64, "components");
}

/// When the last stage ended.
struct Clock {
    cpu: f64,
    wall: Instant,
}

impl Clock {
    fn start() -> Self {
        Self {
            cpu: cpu_seconds(),
            wall: Instant::now(),
        }
    }

    /// Prints what a stage took and found.
    fn note(&mut self, stage: &str, found: f64, unit: &str) {
        let cpu = cpu_seconds() - self.cpu;
        let wall = self.wall.elapsed().as_secs_f64();
        let peak = peak_bytes() / 1e6;
        println!(
            "{stage:>40} {cpu:8.2} s CPU, {wall:8.2} s, peak so far {peak:5.0} MB: {found} {unit}"
        );
        *self = Self::start();
    }
}

/// What one contestant does.
fn case(name: &str, ensemble: &Ensemble) {
    match name {
        "count" => timed(|| count(ensemble), |counts| vec![("sum", sum(&counts))]),
        "missing" => {
            let ensemble = hidden(ensemble);
            timed(|| count(&ensemble), |_| Vec::new());
        }
        "plain" => {
            let sum = |counts: Vec<u8>| counts.into_iter().map(f64::from).sum();
            timed(|| plain(ensemble), |counts| vec![("sum", sum(counts))]);
        }
        "average" | "fragments" => {
            let work = || average(ensemble, budget(name));
            timed(work, |rows| vec![("distinct", rows)]);
        }
        "average-1700" | "average-900" => timed(|| average(ensemble, budget(name)), |_| Vec::new()),
        "kodama" => timed(|| kodama(ensemble), |_| Vec::new()),
        "pairs" => {
            let work = || sampled(ensemble, MemoryBudget::UNLIMITED);
            timed(work, |e| vec![("stored", 2.0 * e.pairs() as f64)]);
        }
        other => panic!("there is no case {other}"),
    }
}

/// Times the work alone, and then looks at what it made.
fn timed<T>(work: impl FnOnce() -> T, look: impl FnOnce(T) -> Vec<(&'static str, f64)>) {
    stage(|| {
        let start = cpu_seconds();
        let made = work();
        let mut figures = vec![("cpu", cpu_seconds() - start), ("peak", peak_bytes())];
        figures.extend(look(made));
        figures
    });
}

fn count(ensemble: &Ensemble) -> CoAssociation {
    CoAssociation::count(ensemble, MemoryBudget::UNLIMITED, &Silent).expect("counts")
}

fn sum(counts: &CoAssociation) -> f64 {
    match counts.together() {
        Counts::Bytes(counts) => counts.iter().map(|&count| f64::from(count)).sum(),
        Counts::Words(counts) => counts.iter().map(|&count| f64::from(count)).sum(),
        Counts::Wide(counts) => counts.iter().map(|&count| f64::from(count)).sum(),
    }
}

/// What one writes first: two loops over objects and one over labels.
fn plain(ensemble: &Ensemble) -> Vec<u8> {
    let LabelRows::Bytes(rows) = ensemble.rows() else {
        return Vec::new();
    };
    let rows = rows.outer_iter().map(|row| row.to_slice());
    let rows: Vec<&[u8]> = rows.collect::<Option<_>>().expect("rows are contiguous");
    let mut counts = Vec::with_capacity(rows.len() * rows.len() / 2);
    for (i, a) in rows.iter().enumerate() {
        for b in &rows[i + 1..] {
            counts.push(a.iter().zip(*b).map(|(a, b)| u8::from(a == b)).sum());
        }
    }
    counts
}

/// The method as users get it; how many distinct rows it found.
fn average(ensemble: &Ensemble, budget: MemoryBudget) -> f64 {
    let mut problem = Problem::new(ensemble, Clusters::Exactly(CLUSTERS));
    problem.budget = budget;
    let outcome = consense(&EAC_AVERAGE, &problem, &Silent).expect("a tree");
    outcome.details["distinct_rows"].as_f64().expect("a number")
}

fn kodama(ensemble: &Ensemble) -> Partition {
    let distances = count(ensemble).dissimilarities_f32();
    let tree = link_f32(distances, ensemble.objects(), Linkage::Average);
    cut(&tree.expect("a tree"), CLUSTERS)
}

fn sampled(ensemble: &Ensemble, budget: MemoryBudget) -> SparseEvidence {
    let pairs = 15 * ensemble.objects() as u64;
    SparseEvidence::sample(ensemble, pairs, Seed::new(1), budget, &Silent).expect("evidence")
}

fn read(file: &Path, objects: usize) -> io::Result<Ensemble> {
    let mut labels = vec![0; objects * BASES];
    fs::File::open(file)?.read_exact(&mut labels)?;
    let rows = Array2::from_shape_vec((objects, BASES), labels).expect("as many labels");
    Ok(of_bytes(rows, *CELLS.end()))
}

/// The ensemble of these labels, of which each base clustering has at most so many.
fn of_bytes(rows: Array2<u8>, clusters: usize) -> Ensemble {
    let names: Vec<String> = (0..clusters).map(|j| j.to_string()).collect();
    let bases = (0..rows.ncols()).map(|u| BaseClustering::new(format!("u{u}"), names.clone()));
    let bases = bases.collect();
    Ensemble::from_bytes(rows, bases).expect("labels")
}

/// The same with a tenth of the labels missing.
fn hidden(ensemble: &Ensemble) -> Ensemble {
    let LabelRows::Bytes(rows) = ensemble.rows() else {
        return ensemble.clone();
    };
    let mut rng = Seed::new(3).rng();
    let rows = rows.mapv(|label| {
        if rng.random_bool(0.1) {
            u8::MISSING
        } else {
            label
        }
    });
    Ensemble::from_bytes(rows, ensemble.bases().to_vec()).expect("labels")
}

/// Points of a Gaussian mixture with centres in a cube, cluster by cluster in turns.
fn points<const D: usize>(
    objects: usize,
    clusters: usize,
    half: f32,
    spread: f32,
    rng: &mut impl Rng,
) -> Vec<[f32; D]> {
    let normal = |rng: &mut dyn Rng| (0..12).map(|_| rng.random::<f32>()).sum::<f32>() - 6.0;
    let centres: Vec<[f32; D]> = (0..clusters)
        .map(|_| std::array::from_fn(|_| rng.random_range(-half..half)))
        .collect();
    (0..objects)
        .map(|i| std::array::from_fn(|d| centres[i % clusters][d] + spread * normal(rng)))
        .collect()
}

/// For every point the nearest of so many points, drawn at random.
fn cells<const D: usize>(points: &[[f32; D]], clusters: usize, rng: &mut impl Rng) -> Vec<u8> {
    let centres: Vec<[f32; D]> = (0..clusters)
        .map(|_| points[rng.random_range(0..points.len())])
        .collect();
    let nearest = |point: &[f32; D]| {
        let far = |k: &usize| -> f32 {
            let pairs = point.iter().zip(&centres[*k]);
            pairs.map(|(a, b)| (a - b).powi(2)).sum()
        };
        let nearest = (0..clusters).min_by(|a, b| far(a).total_cmp(&far(b)));
        nearest.map_or(u8::MISSING, u8::of)
    };
    points.iter().map(nearest).collect()
}

/// The labels of all objects, a byte each.
fn voronoi(objects: usize) -> Vec<u8> {
    let mut rng = Seed::new(1).rng();
    let points: Vec<[f32; 5]> = points(objects, CLUSTERS, 6.0, 2.0, &mut rng);
    let mut labels = vec![0; objects * BASES];
    for u in 0..BASES {
        let clusters = rng.random_range(CELLS);
        let column = cells(&points, clusters, &mut rng);
        for (label, cell) in labels.iter_mut().skip(u).step_by(BASES).zip(column) {
            *label = cell;
        }
    }
    labels
}

fn draw(objects: usize) -> Ensemble {
    let mut rng = Seed::new(2).rng();
    let points: Vec<[f32; 16]> = points(objects, 8, 2.0, 1.0, &mut rng);
    let mut rows = Array2::zeros((objects, 20));
    for mut column in rows.columns_mut() {
        let clusters = rng.random_range(5..=20);
        column.assign(&Array1::from(cells(&points, clusters, &mut rng)));
    }
    of_bytes(rows, 20)
}
