//! Every method's default beside a plain reference implementation from many random starts.
//!
//! `cargo xtask bench optima` writes `docs/benchmarks/optima.md`. Arguments after `--` make it smaller or larger:
//! `--drawn 24 --real 4 --most 300 --starts 50 --operations 1e9` takes about two minutes. Without METHODS all are measured. Data sets
//! that are not in `datasets/` are looked for in the folder that `PARTITA_DATASETS` names; those that are not there are left out.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its tables and how far it is"
)]

use std::error::Error;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Parser;
use partita::Silent;
use partita::generate::{BaseSpec, Recipe, Scale};
use partita_reproduce::Lab;
use partita_reproduce::optima::{
    Case, Gap, REFERENCES, Reference, compare, drawn, drawn_with_doubt,
};

/// Data sets, with 50 k-means each of many small clusters and of 2 to 12.
const SETS: [&str; 10] = [
    "iris",
    "wine-std",
    "glass",
    "zoo",
    "soybean",
    "ecoli",
    "house-votes",
    "ionosphere",
    "breast-cancer",
    "optdigits-1000",
];
const BASE_CLUSTERS: [&str; 2] = ["sqrt", "2..12"];

#[derive(Parser)]
struct Arguments {
    /// Methods; all if none is named.
    methods: Vec<String>,
    /// Drawn ensembles.
    #[arg(long, default_value_t = 200)]
    drawn: u64,
    /// The number of the first of them: others than those that a method was made better on.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Ensembles of data sets.
    #[arg(long, default_value_t = 20)]
    real: usize,
    /// The most objects of a drawn ensemble.
    #[arg(long, default_value_t = 2000)]
    most: usize,
    /// Random starts of a reference.
    #[arg(long, default_value_t = 200)]
    starts: usize,
    /// Steps that a reference may take on one ensemble: it has fewer starts on large ones.
    #[arg(long, default_value_t = 2e10)]
    operations: f64,
    /// Soft base clusterings and weights in the drawn ensembles; methods whose reference knows them.
    #[arg(long)]
    doubt: bool,
    /// Print the worst cases of every method.
    #[arg(long, default_value_t = 3)]
    worst: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let draw = if arguments.doubt {
        drawn_with_doubt
    } else {
        drawn
    };
    let mut cases: Vec<Case> = (arguments.first..arguments.first + arguments.drawn)
        .map(|number| draw(number, arguments.most))
        .collect();
    cases.extend(real(arguments.real)?);
    println!(
        "{} ensembles, {} starts of every reference or {:.0e} steps\n",
        cases.len(),
        arguments.starts,
        arguments.operations
    );
    println!("method     ensembles  starts      gap: median    95 %   worst   better   CPU s");
    for reference in REFERENCES {
        let asked = arguments.methods.is_empty()
            || arguments
                .methods
                .iter()
                .any(|name| name == reference.method);
        if asked && (reference.doubt || !arguments.doubt) {
            let gaps = measure(reference, &cases, &arguments);
            row(reference.method, gaps, arguments.worst);
        }
    }
    Ok(())
}

fn real(most: usize) -> Result<Vec<Case>, Box<dyn Error>> {
    let lab = Lab::new(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.."),
        &Silent,
    );
    let mut cases = Vec::new();
    for (name, base_clusters) in SETS
        .into_iter()
        .flat_map(|set| BASE_CLUSTERS.map(|base| (set, base)))
        .take(most)
    {
        if !lab.has(name) {
            eprintln!("{name}: set PARTITA_DATASETS");
            continue;
        }
        let data = lab.data(name)?;
        let mut recipe = Recipe::default();
        (recipe.base, recipe.base_k) = (BaseSpec::list("kmeans:50")?, base_clusters.parse()?);
        recipe.scale = Scale::None;
        let ensemble = lab.ensemble(data.values.view(), &recipe, 1)?;
        cases.push(Case::plain(
            format!("{name} {base_clusters}"),
            ensemble,
            data.classes(),
        ));
    }
    Ok(cases)
}

/// Gaps on all ensembles, one ensemble a thread at a time.
fn measure(reference: &Reference, cases: &[Case], arguments: &Arguments) -> Vec<Gap> {
    let (next, gaps) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .expect("a thread");
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            match pool
                .install(|| compare(reference, case, (arguments.starts, arguments.operations)))
            {
                Ok(Some(gap)) => gaps.lock().expect("no thread panicked").push(gap),
                Ok(None) => {}
                Err(error) => eprintln!("{} on {}: {error}", reference.method, case.name),
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    gaps.into_inner().expect("no thread panicked")
}

fn row(method: &str, mut gaps: Vec<Gap>, worst: usize) {
    if gaps.is_empty() {
        println!("{method:<10} no ensemble is small enough for its reference");
        return;
    }
    gaps.sort_by(|a, b| a.gap.total_cmp(&b.gap).then(a.case.cmp(&b.case)));
    let at = |share: f64| {
        100.0
            * gaps[((gaps.len() - 1) as f64 * share).round() as usize]
                .gap
                .max(0.0)
    };
    let better = gaps.iter().filter(|gap| gap.gap < 0.0).count();
    let (starts, seconds): (usize, f64) = gaps
        .iter()
        .fold((0, 0.0), |(a, b), gap| (a + gap.starts, b + gap.seconds));
    println!(
        "{method:<10} {:>9} {:>7} {:>16.2} % {:>5.2} % {:>5.2} % {better:>7} {seconds:>8.2}",
        gaps.len(),
        starts / gaps.len(),
        at(0.5),
        at(0.95),
        at(1.0),
    );
    for gap in gaps.iter().rev().take(worst).filter(|gap| gap.gap > 0.0) {
        println!(
            "           {:.2} % on {}: {:.6} beside {:.6}",
            100.0 * gap.gap,
            gap.case,
            gap.reached,
            gap.best
        );
    }
}
