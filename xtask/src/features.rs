//! `features`: each feature of the façade compiles alone, who asks for little gets little, and the wheel asks for what the tests have.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::shell;
use crate::workspace::Workspace;

/// What `cargo tree` is asked about, and crates that it must not name.
const LEAN: &[(&[&str], &[&str])] = &[
    (
        &["partita-metrics"],
        &["rayon", "serde_json", "parquet", "metis", "sprs", "faer"],
    ),
    (
        &["partita", "--no-default-features"],
        &["rayon", "parquet", "metis", "sprs", "faer", "csv"],
    ),
    (
        &["partita", "--no-default-features", "--features", "graph"],
        &["metis", "parquet", "csv"],
    ),
    (
        &["partita", "--no-default-features", "--features", "files"],
        &["parquet", "arrow-ipc", "metis", "faer"],
    ),
];

/// Checks the trees, then compiles every feature; a warning is an error.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    for (asked, unwanted) in LEAN {
        lean(workspace, asked, unwanted)?;
    }
    shared(workspace)?;
    let metadata = workspace.metadata()?;
    let facade = metadata
        .packages
        .iter()
        .find(|package| package.name == "partita");
    let facade = facade.context("there is no crate partita")?;
    let features: Vec<&str> = facade
        .features
        .keys()
        .map(String::as_str)
        .filter(|name| *name != "default")
        .collect();
    for feature in std::iter::once("").chain(features.iter().copied()) {
        let mut cargo = workspace.cargo(["check", "--package", "partita", "--no-default-features"]);
        quiet(cargo.args(["--features", feature]))
            .with_context(|| format!("with the feature '{feature}' alone"))?;
    }
    println!(
        "{} features, each alone: {}",
        features.len(),
        features.join(", ")
    );
    Ok(())
}

/// Fails if a normal dependency, however deep, is one of the unwanted.
fn lean(workspace: &Workspace, asked: &[&str], unwanted: &[&str]) -> Result<()> {
    let mut cargo = workspace.cargo([
        "tree",
        "--offline",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--package",
    ]);
    let tree = shell::output(cargo.args(asked))?;
    let found: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let extra: Vec<&str> = unwanted
        .iter()
        .copied()
        .filter(|name| found.contains(name))
        .collect();
    ensure!(
        extra.is_empty(),
        "`cargo tree -p {}` names {}",
        asked.join(" "),
        extra.join(", ")
    );
    Ok(())
}

/// Fails if the wheel asks for a crate with other features than the whole workspace: cargo would compile that crate, and all that is
/// built on it, a second time.
fn shared(workspace: &Workspace) -> Result<()> {
    let asked = |which: &[&str]| -> Result<BTreeSet<String>> {
        let mut cargo = workspace.cargo([
            "tree",
            "--offline",
            "--prefix",
            "none",
            "--format",
            "{p} [{f}]",
        ]);
        let tree = shell::output(cargo.args(which))?;
        Ok(tree
            .lines()
            .map(|line| line.trim_end_matches(" (*)").to_owned())
            .collect())
    };
    let all = asked(&["--workspace", "--edges", "normal,build,dev"])?;
    let wheel = asked(&["--package", "partita-python", "--edges", "normal,build"])?;
    let other: Vec<&str> = wheel.difference(&all).map(String::as_str).collect();
    ensure!(
        other.is_empty(),
        "only partita-python has these features of crates: {}",
        other.join(", ")
    );
    Ok(())
}

/// Runs cargo, which must not warn about anything.
fn quiet(cargo: &mut Command) -> Result<()> {
    let output = cargo
        .arg("--quiet")
        .output()
        .context("cannot start cargo")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || said.contains("warning: ") {
        bail!("{}", said.trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who wants an index of two clusterings gets no thread pool, no JSON, no file format and no C code.
    #[test]
    fn who_asks_for_little_gets_little() {
        let workspace = Workspace::find().unwrap();
        for (asked, unwanted) in LEAN {
            lean(&workspace, asked, unwanted).unwrap();
        }
        let error = lean(
            &workspace,
            &["partita", "--features", "metis"],
            &["rayon", "no-such", "metis"],
        )
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "`cargo tree -p partita --features metis` names rayon, metis"
        );
    }
}
