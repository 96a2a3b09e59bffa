//! What `cargo xtask reproduce` runs.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line talks to whoever called it"
)]
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Parser;
use partita_reproduce::{
    Interrupt, ReproduceError, STUDIES, Scope, Study, check, run, write_pages,
};

static INTERRUPT: Interrupt = Interrupt::new();

/// Measures the papers' tables anew: what is missing in docs/reproduction/raw, one unit a thread, and writes the pages.
#[derive(Parser)]
#[command(
    name = "cargo xtask reproduce",
    bin_name = "cargo xtask reproduce",
    after_help = "\
Ctrl-C keeps every unit that is done; the next run goes on from there.
Data sets are looked for in datasets/ and in the folder that PARTITA_DATASETS names."
)]
struct Arguments {
    /// Which studies; all if none is named. `list` lists them.
    studies: Vec<String>,
    /// Seeds 0 to N − 1 of everything that is drawn.
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,
    /// Small data and few seeds, into target/reproduce-quick: a few minutes.
    #[arg(long)]
    quick: bool,
    /// Measure a sample of what is on record again and fail where a value differs. Writes nothing.
    #[arg(long, conflicts_with = "quick")]
    check: bool,
    /// Only write the pages from what is on record.
    #[arg(long, conflicts_with = "check")]
    pages: bool,
    /// CPU seconds that --check may take for each study.
    #[arg(long, value_name = "S", default_value_t = 8.0)]
    check_seconds: f64,
    /// Units measured at once; as many as there are cores if not given.
    #[arg(long, value_name = "T")]
    threads: Option<std::num::NonZeroUsize>,
    /// The folder of the project.
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
}

fn main() -> ExitCode {
    match reproduce(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            let stopped = matches!(error.downcast_ref(), Some(ReproduceError::Stopped));
            if stopped {
                ExitCode::from(130)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

fn reproduce(arguments: &Arguments) -> Result<()> {
    if arguments.studies.iter().any(|name| name == "list") {
        STUDIES
            .iter()
            .for_each(|study| println!("{:<8} {}", study.name(), study.title()));
        return Ok(());
    }
    let studies = chosen(&arguments.studies)?;
    ctrlc::set_handler(|| {
        if INTERRUPT.ask() {
            std::process::exit(130);
        }
        eprintln!("stopping; once more to leave at once");
    })?;
    if arguments.check {
        return compare(&studies, arguments);
    }
    let scope = Scope {
        seeds: if arguments.quick {
            arguments.seeds.min(2)
        } else {
            arguments.seeds
        },
        quick: arguments.quick,
    };
    let mut failures = 0;
    if !arguments.pages {
        for study in &studies {
            failures += measure(*study, scope, arguments)?;
        }
    }
    write_pages(STUDIES, &arguments.root, scope)?;
    if failures > 0 {
        bail!("{failures} units failed; the others are on record");
    }
    Ok(())
}

/// The studies of these names.
fn chosen(names: &[String]) -> Result<Vec<&'static dyn Study>> {
    if names.is_empty() || names.iter().any(|name| name == "all") {
        return Ok(STUDIES.to_vec());
    }
    let find = |name: &String| {
        let known = || {
            STUDIES
                .iter()
                .map(|study| study.name())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let found = STUDIES.iter().copied().find(|study| study.name() == *name);
        found.ok_or_else(|| {
            anyhow::anyhow!("there is no study '{name}'; there are {} and all", known())
        })
    };
    names.iter().map(find).collect()
}

/// Runs one study; says how many units failed.
fn measure(study: &dyn Study, scope: Scope, arguments: &Arguments) -> Result<usize> {
    let threads = threads(arguments);
    let say = |text: &str| eprintln!("{text}");
    let report = run(study, scope, &arguments.root, threads, &INTERRUPT, &say)?;
    for name in &report.absent {
        println!(
            "{}: {name} is not here; `cargo xtask datasets fetch {name}` gets it or says how",
            study.name()
        );
    }
    report
        .failed
        .iter()
        .for_each(|failure| println!("{}: {failure}", study.name()));
    println!(
        "{}: {} units measured, {} were on record",
        study.name(),
        report.measured,
        report.there
    );
    Ok(report.failed.len())
}

fn threads(arguments: &Arguments) -> usize {
    arguments
        .threads
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, Into::into)
}

fn compare(studies: &[&'static dyn Study], arguments: &Arguments) -> Result<()> {
    let mut different = 0;
    for study in studies {
        let (compared, differ) = check(
            *study,
            &arguments.root,
            arguments.check_seconds,
            threads(arguments),
            &INTERRUPT,
        )?;
        differ
            .iter()
            .for_each(|line| println!("{}: {line}", study.name()));
        println!(
            "{}: {compared} values measured again, {} differ",
            study.name(),
            differ.len()
        );
        different += differ.len();
    }
    if different > 0 {
        bail!("{different} values differ from docs/reproduction/raw; measure them anew and say so")
    }
    Ok(())
}
