//! The programs of others that a benchmark runs beside ours: a private Python environment for each benchmark.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell;
use crate::workspace::Workspace;

/// Where the peers of one benchmark are.
pub(crate) struct Peers {
    pub(crate) python: PathBuf,
    pub(crate) script: PathBuf,
    /// The packages with their versions, on one line.
    pub(crate) versions: String,
}

/// Makes the environment of a benchmark in `target/peers`, unless it is there with the same packages.
pub(crate) fn set_up(workspace: &Workspace, benchmark: &str, package: &str) -> Result<Peers> {
    let folder = workspace.path(&format!("crates/{package}/peers"));
    let requirements = folder.join("requirements.txt");
    let wanted = fs::read_to_string(&requirements).with_context(|| {
        format!(
            "benchmark '{benchmark}' has no peers: cannot read {}",
            requirements.display()
        )
    })?;
    let place = workspace
        .metadata()?
        .target_directory
        .join("peers")
        .join(package);
    let (python, stamp) = (place.join("bin/python"), place.join("requirements.txt"));
    if fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
        println!("the peers are set up in {}", place.display());
    } else {
        shell::step("peers", || {
            shell::run(
                Command::new("python3")
                    .args(["-m", "venv", "--clear"])
                    .arg(&place),
            )
            .context("peers need python3 with its module venv")?;
            shell::run(
                Command::new(&python)
                    .args(["-m", "pip", "install", "--quiet", "-r"])
                    .arg(&requirements),
            )?;
            fs::write(&stamp, &wanted).with_context(|| format!("cannot write {}", stamp.display()))
        })?;
    }
    let lines = wanted
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(Peers {
        python,
        script: folder.join(format!("{benchmark}.py")),
        versions: lines.collect::<Vec<_>>().join(", "),
    })
}
