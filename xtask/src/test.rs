//! `test`: everything that must hold, cheapest first.

use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;

use crate::workspace::Workspace;
use crate::{demo, docs, features, optional, python, reproduce, shell, supply, tidy};

/// Flags of `cargo xtask test`.
#[derive(Args, Default)]
pub(crate) struct Arguments {
    /// Begin with this step, such as tests: for those who mended what it found.
    #[arg(long, value_name = "STEP")]
    from: Option<String>,
}

/// Runs every step; stops at the first that fails.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    type Step = fn(&Workspace) -> Result<()>;
    let steps: [(&str, Step); 15] = [
        ("format", format),
        ("tidy", tidy::run),
        ("dependencies", supply::run),
        ("packages", packages),
        ("clippy", clippy),
        ("features", features::run),
        ("documents of the code", rustdoc),
        ("tests", tests),
        ("kernels under a sanitizer", optional::sanitizer),
        ("LAPACK", optional::lapack),
        ("Python", python::step),
        ("demo", demo::check),
        ("reports in a browser", optional::browser),
        ("a sample of the papers' tables", reproduce::check),
        ("generated documents", docs::check),
    ];
    let first = match &arguments.from {
        None => 0,
        Some(from) => steps.iter().position(|(name, _)| name == from).with_context(|| {
            let names: Vec<&str> = steps.iter().map(|(name, _)| *name).collect();
            format!("there is no step '{from}'; the steps are: {}", names.join(", "))
        })?,
    };
    let start = Instant::now();
    optional::install_ahead();
    for (name, step) in &steps[first..] {
        shell::step(name, || step(workspace)).with_context(|| format!("step '{name}' failed"))?;
    }
    println!("{} of {} steps passed in {}", steps.len() - first, steps.len(), shell::seconds(start.elapsed()));
    Ok(())
}

fn format(workspace: &Workspace) -> Result<()> {
    shell::run(&mut workspace.cargo(["fmt", "--all", "--check"]))
}

fn clippy(workspace: &Workspace) -> Result<()> {
    shell::run(&mut workspace.cargo(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// Whether every crate could be published, but for the will to.
fn packages(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo(["package", "--quiet", "--workspace", "--no-verify", "--allow-dirty", "--offline"]);
    shell::run(cargo.args(["--exclude-lockfile", "--no-metadata"]))
}

fn rustdoc(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo(["doc", "--quiet", "--workspace", "--no-deps"]);
    shell::run(cargo.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Examples are compiled by clippy; running none of them, the tests need no code of theirs.
fn tests(workspace: &Workspace) -> Result<()> {
    // All that fail are said, not the first binary with one alone.
    shell::run(&mut workspace.cargo(["test", "--quiet", "--workspace", "--tests", "--no-fail-fast"]))?;
    shell::run(&mut workspace.cargo(["test", "--quiet", "--workspace", "--doc"]))
}
