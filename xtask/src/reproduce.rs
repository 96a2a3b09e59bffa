//! `reproduce`: hands over to the crate that measures the papers' tables.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::shell;
use crate::workspace::Workspace;

#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// Studies and flags; `--help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Builds the crate and lets it run.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let binary = workspace.released("partita-reproduce", "partita-reproduce")?;
    hand_over(workspace, &binary, &arguments.rest)
}

/// Measures a sample of what is on record once more, with the binary of the tests: numbers are the same to the bit.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let binary = workspace.tested("partita-reproduce")?;
    let words = ["--check", "--check-seconds", "5"].map(str::to_owned);
    hand_over(workspace, &binary, &words)
}

fn hand_over(workspace: &Workspace, binary: &Path, words: &[String]) -> Result<()> {
    let mut job = Command::new(binary);
    shell::run(job.arg("--root").arg(workspace.root()).args(words))
}
