//! `faults`: kills every command a hundred times, fills the disk, and writes what was seen to docs/reliability.md.

use std::fs;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::workspace::Workspace;
use crate::{docs, shell};

/// Flags of `cargo xtask faults`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// How often each command is killed.
    #[arg(long, default_value_t = 100)]
    kills: u32,
}

/// The page with the table.
const PAGE: &str = "docs/reliability.md";

/// Runs the tests of faults with so many kills, and makes the table of what they say.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    // With the whole workspace named, what the tests have built is used.
    let mut cargo = workspace.cargo("test --quiet --workspace --test it faults:: -- --nocapture");
    cargo.env("PARTITA_KILLS", arguments.kills.to_string());
    let said = shell::tee(&mut cargo)?;
    let mut rows: Vec<&str> = said
        .lines()
        .filter_map(|line| line.split_once("fault: ").map(|(_, row)| row))
        .collect();
    rows.sort_unstable();
    ensure!(!rows.is_empty(), "the tests said nothing of faults");
    let rows: String = rows.iter().map(|row| format!("| {row} |\n")).collect();
    let table = format!(
        "| fault | how often | what became of it | what was left behind |\n|---|---|---|---|\n{rows}"
    );
    let page = workspace.path(PAGE);
    let text = fs::read_to_string(&page).with_context(|| format!("{PAGE} is missing"))?;
    fs::write(&page, docs::replace(&text, "faults", &table)?)?;
    println!("{PAGE} has the table");
    Ok(())
}
