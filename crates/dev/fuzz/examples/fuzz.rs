//! `fuzz [TARGET] --for SECONDS`: mutations of every target's seeds by the stable compiler. What fails is written to a folder.
#![expect(
    clippy::print_stdout,
    reason = "a command line talks to whoever called it"
)]

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use std::{fs, thread};

use clap::Parser;
use partita_fuzz::{Campaign, Report, TARGETS, Target};

#[derive(Parser)]
struct Arguments {
    /// One target; all of them if not said.
    target: Option<String>,
    /// Seconds a target.
    #[arg(long = "for", default_value_t = 10)]
    seconds: u64,
    /// Where the mutations begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where inputs that fail are written.
    #[arg(long, default_value = "target/fuzz")]
    into: PathBuf,
    /// Write the seeds of all targets there, and run nothing.
    #[arg(long)]
    seeds: bool,
    /// Run this file alone, without catching anything.
    #[arg(long)]
    input: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let asked = |target: &&Target| {
        arguments
            .target
            .as_ref()
            .is_none_or(|name| name == target.name)
    };
    let targets: Vec<&'static Target> = TARGETS.iter().filter(asked).collect();
    if targets.is_empty() {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        println!(
            "there is no target of this name; there are {}",
            known.join(", ")
        );
        return ExitCode::FAILURE;
    }
    if let Some(input) = &arguments.input {
        let bytes = fs::read(input).expect("an input that can be read");
        targets.iter().for_each(|target| (target.run)(&bytes));
        return ExitCode::SUCCESS;
    }
    if arguments.seeds {
        targets
            .iter()
            .for_each(|target| write_seeds(target, &arguments));
        return ExitCode::SUCCESS;
    }
    // A target runs in one thread; as many run at once as the machine has processors.
    let (next, failures, executions) =
        (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZeroUsize::get) {
            scope.spawn(|| {
                while let Some(target) = targets.get(next.fetch_add(1, Relaxed)) {
                    let report = run(target, &arguments);
                    failures.fetch_add(report.failures.len(), Relaxed);
                    executions.fetch_add(report.executions, Relaxed);
                }
            });
        }
    });
    let (executions, failures) = (executions.into_inner(), failures.into_inner());
    println!("{executions} executions, {failures} failures");
    if failures == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The folder of what is found by a target.
fn folder(target: &Target, arguments: &Arguments) -> PathBuf {
    let folder = arguments.into.join(target.name);
    fs::create_dir_all(&folder).expect("a folder for what is found");
    folder
}

fn write_seeds(target: &Target, arguments: &Arguments) {
    for (at, seed) in (target.seeds)().iter().enumerate() {
        fs::write(folder(target, arguments).join(format!("seed{at:03}")), seed)
            .expect("room on the disk");
    }
}

/// One target for its time: keeps what fails, and says how it went.
fn run(target: &'static Target, arguments: &Arguments) -> Report {
    let (begun, folder) = (Instant::now(), folder(target, arguments));
    let campaign =
        Campaign::new(target, arguments.seed).time(Duration::from_secs(arguments.seconds));
    let report = campaign.keep_last(folder.join("last")).run();
    for (at, failure) in report.failures.iter().enumerate() {
        let file = folder.join(format!("failure{at}"));
        fs::write(&file, &failure.input).expect("room on the disk");
        println!("{}: {} ({})", target.name, failure.what, file.display());
    }
    let (found, rate) = (
        report.failures.len(),
        report.executions as f64 / begun.elapsed().as_secs_f64(),
    );
    let (count, longest) = (report.executions, report.longest.as_millis());
    println!(
        "{}: {count} executions, {rate:.0} a second, the longest {longest} ms, {found} failures",
        target.name
    );
    report
}
