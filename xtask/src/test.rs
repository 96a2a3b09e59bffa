//! `test`: everything that must hold, cheapest first.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::workspace::Workspace;
use crate::{demo, docs, features, fuzz, optional, python, reproduce, shell, supply, tidy};

/// Flags of `cargo xtask test`.
#[derive(Args, Default)]
pub(crate) struct Arguments {
    /// Begin with this step, such as tests: for those who mended what it found.
    #[arg(long, value_name = "STEP")]
    from: Option<String>,
    /// Do this step alone.
    #[arg(long, value_name = "STEP", conflicts_with = "from")]
    only: Option<String>,
}

/// One thing that must hold.
struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<()>,
    /// It is done beside those that follow, and has ended when the one of this name begins, or at the [`END`]: what waits for a network,
    /// a browser or one long computation leaves a core to others.
    until: Option<&'static str>,
}

const fn step(name: &'static str, run: fn(&Workspace) -> Result<()>) -> Step {
    Step {
        name,
        run,
        until: None,
    }
}

const fn beside(
    name: &'static str,
    run: fn(&Workspace) -> Result<()>,
    until: &'static str,
) -> Step {
    Step {
        name,
        run,
        until: Some(until),
    }
}

/// What ends when all steps have been done.
const END: &str = "the end";

/// In the order in which they begin. The source distribution of Python is the last: building it touches what others use, which cargo would
/// compile again.
const STEPS: &[Step] = &[
    step("format", format),
    step("tidy", tidy::run),
    step("dependencies", supply::run),
    step("packages", packages),
    beside("packages of Python", python::packages, "Python"),
    step("clippy", clippy),
    // Compiles into a folder of its own while the next two compile a crate or two at a time.
    beside("unsafe code under a sanitizer", optional::sanitizer, END),
    step("features", features::run),
    step("documents of the code", rustdoc),
    step("build of the tests", build_tests),
    beside("fuzz", fuzz::check, END),
    beside("examples in documents", doc_tests, END),
    // Processes that wait for each other, and the last tests of a crate, leave a core to the others.
    beside("Python", python::step, "source distribution of Python"),
    beside("demo", demo::check, END),
    beside("a sample of the papers' tables", reproduce::check, END),
    beside("reports in a browser", optional::browser, END),
    step("tests", tests),
    step("generated documents", docs::check),
    step("source distribution of Python", python::source),
];

/// Runs every step; begins none after one that failed.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let place = |wanted: &Option<String>| match wanted {
        None => Ok(None),
        Some(wanted) => STEPS
            .iter()
            .position(|step| step.name == wanted)
            .map(Some)
            .with_context(|| {
                let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
                format!(
                    "there is no step '{wanted}'; the steps are: {}",
                    names.join(", ")
                )
            }),
    };
    if let Some(only) = place(&arguments.only)? {
        return (STEPS[only].run)(workspace);
    }
    let steps = &STEPS[place(&arguments.from)?.unwrap_or(0)..];
    let start = Instant::now();
    let this = env::current_exe().context("the program does not know where it is")?;
    let logs = workspace.metadata()?.target_directory.join("steps");
    fs::create_dir_all(&logs)?;
    optional::install_ahead();
    let mut working: Vec<(&Step, Beside)> = Vec::new();
    let mut result = Ok(());
    for step in steps {
        for (_, ended) in working.extract_if(.., |(other, _)| other.until == Some(step.name)) {
            result = result.and(ended.wait());
        }
        if result.is_err() {
            break;
        }
        let failed = || format!("step '{}' failed", step.name);
        result = match step.until {
            None => shell::step(step.name, || (step.run)(workspace)).with_context(failed),
            Some(_) => Beside::begin(workspace, step.name, &this, &logs)
                .map(|begun| working.push((step, begun))),
        };
    }
    // What works beside a step that failed is not left alone.
    let ended = working.into_iter().map(|(_, begun)| begun.wait());
    ended.fold(result, Result::and)?;
    println!(
        "{} of {} steps passed in {}",
        steps.len(),
        STEPS.len(),
        shell::seconds(start.elapsed())
    );
    Ok(())
}

/// A step that a process of its own does; what it prints is shown when it has ended.
struct Beside {
    name: &'static str,
    process: Child,
    begun: Instant,
    log: PathBuf,
}

impl Beside {
    fn begin(workspace: &Workspace, name: &'static str, this: &Path, logs: &Path) -> Result<Self> {
        println!("==> {name}, beside the next steps");
        let log = logs.join(format!("{name}.log"));
        let (out, begun) = (File::create(&log)?, Instant::now());
        let mut command = Command::new(this);
        command
            .current_dir(workspace.root())
            .args(["test", "--only", name])
            .stdin(Stdio::null());
        let process = command.stderr(out.try_clone()?).stdout(out).spawn()?;
        Ok(Self {
            name,
            process,
            begun,
            log,
        })
    }

    fn wait(mut self) -> Result<()> {
        let status = self.process.wait()?;
        let verdict = if status.success() { "ok" } else { "FAILED" };
        print!("{}", fs::read_to_string(&self.log)?);
        println!(
            "<== {}: {verdict}, {} after it began",
            self.name,
            shell::seconds(self.begun.elapsed())
        );
        ensure!(status.success(), "step '{}' failed", self.name);
        Ok(())
    }
}

fn format(workspace: &Workspace) -> Result<()> {
    shell::run(&mut workspace.cargo(["fmt", "--all", "--check"]))
}

fn clippy(workspace: &Workspace) -> Result<()> {
    shell::run(&mut workspace.cargo([
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))
}

/// Whether every crate could be published, but for the will to.
fn packages(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo([
        "package",
        "--quiet",
        "--workspace",
        "--no-verify",
        "--allow-dirty",
        "--offline",
    ]);
    shell::run(cargo.args(["--exclude-lockfile", "--no-metadata"]))
}

fn rustdoc(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo(["doc", "--quiet", "--workspace", "--no-deps"]);
    shell::run(cargo.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Examples are compiled by clippy; running none of them, the tests need no code of theirs.
fn build_tests(workspace: &Workspace) -> Result<()> {
    shell::run(&mut workspace.cargo(["test", "--quiet", "--workspace", "--tests", "--no-run"]))
}

/// All that fail are said, not the first binary with one alone.
fn tests(workspace: &Workspace) -> Result<()> {
    shell::run(&mut workspace.cargo([
        "test",
        "--quiet",
        "--workspace",
        "--tests",
        "--no-fail-fast",
    ]))
}

fn doc_tests(workspace: &Workspace) -> Result<()> {
    shell::run(&mut workspace.cargo(["test", "--quiet", "--workspace", "--doc"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_works_beside_others_ends_before_a_later_step_begins() {
        for (at, step) in STEPS.iter().enumerate() {
            let later =
                |until| until == END || STEPS[at + 1..].iter().any(|later| later.name == until);
            let ends = step.until.is_none_or(later);
            assert!(ends, "{}", step.name);
        }
    }

    #[test]
    fn a_step_that_nobody_knows_is_refused_with_the_names_of_all() {
        let workspace = Workspace::at(Path::new("."));
        let arguments = Arguments {
            from: None,
            only: Some("test".into()),
        };
        let error = run(&workspace, &arguments).unwrap_err().to_string();
        assert!(
            error.starts_with("there is no step 'test'; the steps are: format, tidy,"),
            "{error}"
        );
    }
}
