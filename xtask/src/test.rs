//! `test`: everything that must hold, cheapest first.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::workspace::Workspace;
use crate::{checks, demo, docs, features, fuzz, python, r, reproduce, shell, tidy, tools, web};

/// Flags of `cargo xtask test`.
#[derive(Args, Default)]
pub(crate) struct Arguments {
    /// Everything: also the sanitizer with LAPACK, fuzzing, features, packages, reports in a browser, Dask and Spark, R, the
    /// page, the source distribution of Python, and a sample of the papers' tables.
    #[arg(long)]
    pub(crate) all: bool,
    /// Begin with this step, such as tests: for those who mended what it found.
    #[arg(long, value_name = "STEP")]
    from: Option<String>,
    /// Do this step alone.
    #[arg(long, value_name = "STEP", conflicts_with_all = ["from", "all"])]
    only: Option<String>,
}

/// One thing that must hold.
struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<()>,
    /// It is done beside those that follow, and has ended when the one of this name begins, or at the [`END`]: what waits for a network,
    /// a browser or one long computation leaves a core to others.
    until: Option<&'static str>,
    /// Only `--all` does it.
    rare: bool,
}

const fn step(name: &'static str, run: fn(&Workspace) -> Result<()>) -> Step {
    Step {
        name,
        run,
        until: None,
        rare: false,
    }
}

impl Step {
    const fn until(self, name: &'static str) -> Self {
        Self {
            until: Some(name),
            ..self
        }
    }

    const fn rare(self) -> Self {
        Self { rare: true, ..self }
    }
}

/// What ends when all steps have been done.
const END: &str = "the end";

/// In the order in which they begin. The source distribution of Python is the last: building it touches what others use, which cargo would
/// compile again. Examples are compiled by clippy; running none of them, the tests need no code of theirs.
const STEPS: &[Step] = &[
    step("format", |at| cargo(at, "fmt --all --check")),
    step("tidy", tidy::run),
    // Whether the registry would take every crate.
    step("packages", |at| {
        let how = "--dry-run --no-verify --allow-dirty";
        cargo(at, &format!("publish --quiet --workspace {how}"))
    })
    .rare(),
    step("workflows", checks::workflows).until("tests").rare(),
    step("packages of Python", python::packages).until("Python"),
    step("clippy", |at| {
        cargo(
            at,
            "clippy --quiet --workspace --all-targets -- -D warnings",
        )
    }),
    // Compile into folders of their own while others compile a crate or two at a time.
    step("unsafe code under a sanitizer", checks::sanitizer)
        .until(END)
        .rare(),
    step("features", features::run).rare(),
    step("documents of the code", |at| {
        let mut cargo = at.cargo("doc --quiet --workspace --no-deps");
        shell::run(cargo.env("RUSTDOCFLAGS", "-D warnings"))
    }),
    step("build of the tests", |at| {
        cargo(at, "test --quiet --workspace --tests --no-run")
    }),
    step("examples in documents", |at| {
        cargo(at, "test --quiet --workspace --doc")
    })
    .until(END),
    // Processes that wait for each other, and the last tests of a crate, leave a core to the others.
    step("Python", python::step).until("Dask and Spark"),
    step("demo", demo::check).until(END),
    step("fuzz", fuzz::check).until(END).rare(),
    step("a sample of the papers' tables", reproduce::check)
        .until(END)
        .rare(),
    step("reports in a browser", checks::browser)
        .until(END)
        .rare(),
    // All that fail are said, not the first binary with one alone.
    step("tests", |at| {
        cargo(at, "test --quiet --workspace --tests --no-fail-fast")
    }),
    step("Dask and Spark", python::engines)
        .until("source distribution of Python")
        .rare(),
    step("R", r::step).rare(),
    step("the page", web::step).rare(),
    step("generated documents", docs::check),
    step("source distribution of Python", python::source).rare(),
];

fn cargo(workspace: &Workspace, words: &str) -> Result<()> {
    shell::run(&mut workspace.cargo(words))
}

/// All of `test`, where no test may pass because its data is absent.
pub(crate) fn ci(workspace: &Workspace) -> Result<()> {
    for (variable, what) in [
        ("PARTITA_DATASETS", "data sets"),
        ("PARTITA_POOLS", "pools of base clusterings"),
    ] {
        match env::var(variable) {
            Ok(folder) => println!("{what}: {folder}"),
            Err(_) => println!("{what}: {variable} is not set; tests that need them fail"),
        }
    }
    let this = env::current_exe().context("the program does not know where it is")?;
    let mut all = Command::new(this);
    all.current_dir(workspace.root()).args(["test", "--all"]);
    shell::run(all.env("CI", "true"))
}

/// Runs the steps; begins none after one that failed.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if let Some(only) = &arguments.only {
        return (STEPS[place(only)?].run)(workspace);
    }
    let first = arguments.from.as_deref().map_or(Ok(0), place)?;
    let chosen = STEPS[first..]
        .iter()
        .filter(|step| arguments.all || !step.rare);
    let start = Instant::now();
    // Asked before the tests are built, which may put another program in the place of this one.
    let this = env::current_exe().context("the program does not know where it is")?;
    if arguments.all {
        tools::install_ahead();
    }
    let mut beside: Vec<Work> = Vec::new();
    let mut tally = Tally::default();
    for step in chosen {
        for work in beside.extract_if(.., |work| work.step.until == Some(step.name)) {
            tally.add(work)?;
        }
        if tally.failed_step.is_some() {
            break;
        }
        let work = Work::begin(workspace, step, &this)?;
        if step.until.is_some() {
            beside.push(work);
        } else {
            tally.add(work)?;
        }
    }
    // What works beside a step that failed is not left alone.
    for work in beside {
        tally.add(work)?;
    }
    let Tally {
        steps,
        passed,
        failed,
        failed_step,
    } = tally;
    let all = STEPS.len();
    let time = shell::seconds(start.elapsed());
    println!("{passed} passed, {failed} failed; {steps} of {all} steps in {time}");
    match failed_step {
        Some(name) => bail!("step '{name}' failed"),
        None => Ok(()),
    }
}

fn place(name: &str) -> Result<usize> {
    let found = STEPS.iter().position(|step| step.name == name);
    found.with_context(|| {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        format!(
            "there is no step '{name}'; the steps are: {}",
            names.join(", ")
        )
    })
}

/// What came of the steps so far, and the numbers of tests.
#[derive(Default)]
struct Tally {
    steps: usize,
    failed_step: Option<&'static str>,
    passed: u64,
    failed: u64,
}

impl Tally {
    fn add(&mut self, work: Work) -> Result<()> {
        let name = work.step.name;
        let (failed, text) = work.end()?;
        self.steps += 1;
        self.failed_step = self.failed_step.or(failed.then_some(name));
        self.passed += counted(&text, "passed");
        self.failed += counted(&text, "failed");
        Ok(())
    }
}

/// The sum of the numbers before this word, as cargo and pytest write it in the line that sums up their tests.
fn counted(text: &str, word: &str) -> u64 {
    let sums_up = |line: &&str| line.starts_with("test result: ") || line.starts_with("====");
    let mut sum = 0;
    for line in text.lines().filter(sums_up) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2) {
            if pair[1].trim_end_matches([',', ';']) == word {
                sum += pair[0].parse().unwrap_or(0);
            }
        }
    }
    sum
}

/// A step that a process of its own does, with all that it prints in a log. What one beside others prints is shown when it has ended.
struct Work {
    step: &'static Step,
    process: Child,
    log: PathBuf,
    begun: Instant,
}

impl Work {
    fn begin(workspace: &Workspace, step: &'static Step, this: &Path) -> Result<Self> {
        let logs = workspace.target("steps")?;
        fs::create_dir_all(&logs)?;
        let log = logs.join(format!("{}.log", step.name));
        let out = File::create(&log)?;
        let beside = step.until.map_or("", |_| ", beside the next steps");
        println!("==> {}{beside}", step.name);
        let mut command = Command::new(this);
        command.args(["test", "--only", step.name]);
        command.current_dir(workspace.root()).stdin(Stdio::null());
        Ok(Self {
            step,
            process: command.stderr(out.try_clone()?).stdout(out).spawn()?,
            log,
            begun: Instant::now(),
        })
    }

    /// Waits for the end; whether it failed, and what was printed.
    fn end(mut self) -> Result<(bool, String)> {
        let mut log = File::open(&self.log)?;
        let status = loop {
            let ended = self.process.try_wait()?;
            if ended.is_some() || self.step.until.is_none() {
                io::copy(&mut log, &mut io::stdout())?;
            }
            match ended {
                Some(status) => break status,
                None => thread::sleep(Duration::from_millis(50)),
            }
        };
        let verdict = if status.success() { "ok" } else { "FAILED" };
        let time = shell::seconds(self.begun.elapsed());
        println!("<== {}: {verdict}, {time} after it began", self.step.name);
        let text = String::from_utf8_lossy(&fs::read(&self.log)?).into_owned();
        Ok((!status.success(), text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_works_beside_others_ends_before_a_later_step_begins() {
        for (at, step) in STEPS.iter().enumerate() {
            let later = |until| until == END || place(until).is_ok_and(|other| other > at);
            assert!(step.until.is_none_or(later), "{}", step.name);
        }
    }

    #[test]
    fn a_step_that_nobody_knows_is_refused_with_the_names_of_all() {
        let arguments = Arguments {
            only: Some("test".into()),
            ..Arguments::default()
        };
        let error = run(&Workspace::at(Path::new(".")), &arguments).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("there is no step 'test'; the steps are: format, tidy,"),
            "{error}"
        );
    }

    #[test]
    fn tests_of_cargo_and_of_pytest_are_counted() {
        let text = "test result: ok. 12 passed; 1 failed; 0 ignored\n5 passed\n== x ==\n==== 3 failed, 700 passed, 2 skipped in 9.1s ====\n";
        assert_eq!([counted(text, "passed"), counted(text, "failed")], [712, 4]);
    }
}
