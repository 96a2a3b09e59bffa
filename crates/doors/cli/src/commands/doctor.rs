//! `partita doctor`: what this build has, what the machine has, and whether known results come out.

use std::io;
use std::path::Path;
use std::time::Instant;

use partita::Clusters;
use partita::extend::features;
use partita::generate::Recipe;
use partita_app::{
    COMMIT, Experiment, Host, MethodChoice, NoObserver, RunRecord, TableInput, VERSION, methods,
};
use partita_kernels::Level;
use serde::Serialize;

use crate::args::DoctorArgs;
use crate::compute::start_threads;
use crate::failure::Failure;
use crate::output::{answer, failed, private_folder};

/// The data of the self-check: that of `datasets/`, which an installed program does not have.
const IRIS: &str = include_str!("iris.csv");

/// What comes of it on every machine.
const KNOWN: [Known; 3] = [
    ("lwgp", [35, 50, 65], Some(6.593320692289526)),
    ("eac-average", [50, 66, 34], None),
    ("pcc-kl", [47, 53, 50], Some(230401.67448971668)),
];

/// Method, sizes of its clusters, objective.
type Known = (&'static str, [usize; 3], Option<f64>);

/// What is said of a build and a machine.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    commit: &'static str,
    optimised: bool,
    features: Vec<&'static str>,
    methods: usize,
    /// Bits of the vectors that kernels can use, the widest first.
    vectors: Vec<u32>,
    host: Host,
    check: Check,
}

/// What the self-check found.
#[derive(Debug, Serialize)]
struct Check {
    ok: bool,
    seconds: f64,
    results: Vec<Found>,
}

#[derive(Debug, Serialize)]
struct Found {
    method: String,
    sizes: Vec<usize>,
    objective: Option<f64>,
    ok: bool,
}

pub(crate) fn doctor(args: &DoctorArgs) -> Result<(), Failure> {
    start_threads(&args.machine.threads)?;
    let report = Report {
        version: VERSION,
        commit: COMMIT,
        optimised: !cfg!(debug_assertions),
        features: features(),
        methods: methods::all().count(),
        vectors: Level::all().into_iter().map(Level::bits).collect(),
        host: Host::here(args.machine.budget()),
        check: check()?,
    };
    answer(args.json, &report, &text(&report))?;
    if report.check.ok {
        return Ok(());
    }
    let reason = "other clusters or another objective than on other machines; do not trust results of this build, and report what `partita doctor --json` prints";
    Err(Failure::io(
        Path::new("iris.csv"),
        "be clustered as it must be",
        io::Error::other(reason),
    ))
}

/// Runs the methods on the iris data, and compares with what is known.
fn check() -> Result<Check, Failure> {
    let start = Instant::now();
    let record = record()?;
    let results: Vec<Found> = KNOWN.iter().map(|known| compared(&record, known)).collect();
    Ok(Check {
        ok: results.iter().all(|found| found.ok),
        seconds: start.elapsed().as_secs_f64(),
        results,
    })
}

/// The whole way, from a file to labels.
fn record() -> Result<RunRecord, Failure> {
    let folder = private_folder().map_err(failed)?;
    let path = folder.path().join("iris.csv");
    std::fs::write(&path, IRIS).map_err(|error| Failure::io(&path, "be written", error))?;
    let (table, method) = (TableInput::new(&path), MethodChoice::new(KNOWN[0].0));
    let mut experiment =
        Experiment::of_table(table, Recipe::default(), Clusters::Exactly(3), method);
    experiment.methods = KNOWN.map(|(name, ..)| MethodChoice::new(name)).into();
    Ok(experiment.compute(&NoObserver)?.record)
}

fn compared(record: &RunRecord, (method, sizes, objective): &Known) -> Found {
    let found = record.methods.iter().find(|one| one.method == *method);
    let near = |value: Option<f64>| match (value, objective) {
        (Some(value), Some(known)) => (value - known).abs() <= 1e-9 * known.abs(),
        (value, known) => value == *known,
    };
    Found {
        method: (*method).to_owned(),
        sizes: found.map(|found| found.sizes.clone()).unwrap_or_default(),
        objective: found.and_then(|found| found.objective),
        ok: found.is_some_and(|found| found.sizes == sizes && near(found.objective)),
    }
}

fn text(report: &Report) -> String {
    let Host {
        system,
        cores,
        threads,
        max_memory,
    } = &report.host;
    let features = report.features.join(", ");
    let vectors: Vec<String> = report.vectors.iter().map(u32::to_string).collect();
    let built = if report.optimised {
        ""
    } else {
        ", not optimised"
    };
    let mut text = format!(
        "partita {}, commit {}{built}\n\n\
         methods    {}\n\
         features   {features}\n\
         system     {system}, vectors of {} bits\n\
         threads    {threads} on {cores} cores\n\
         memory     {:.1} GiB may be held (--max-memory)\n\n\
         iris, 100 base clusterings, {:.1} s:\n",
        report.version,
        report.commit,
        report.methods,
        vectors.join(", "),
        *max_memory as f64 / (1u64 << 30) as f64,
        report.check.seconds,
    );
    for found in &report.check.results {
        let Found {
            method,
            sizes,
            objective,
            ok,
        } = found;
        let verdict = if *ok { "ok" } else { "NOT AS IT MUST BE" };
        let objective = objective.map_or("none".to_owned(), |value| value.to_string());
        text += &format!("  {method}: clusters of {sizes:?}, objective {objective}: {verdict}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_are_those_that_are_shipped_and_another_result_is_seen() {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../datasets/iris.csv");
        // A package of this crate alone has no such folder.
        if let Ok(text) = std::fs::read_to_string(shipped) {
            assert_eq!(text, IRIS);
        }
        let record = record().expect("a run");
        let (method, sizes, objective) = KNOWN[0];
        assert!(compared(&record, &KNOWN[0]).ok);
        assert!(
            !compared(
                &record,
                &(method, sizes, objective.map(|value| value + 1e-6))
            )
            .ok
        );
        assert!(!compared(&record, &(method, [50, 49, 51], objective)).ok);
        assert!(!compared(&record, &(method, sizes, None)).ok);
        assert!(!compared(&record, &("kc", sizes, objective)).ok);
    }
}
