//! `features`: each feature of the façade compiles alone, who asks for little gets little, and the wheel asks for what the tests have.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};

use crate::shell;
use crate::workspace::Workspace;

/// What `cargo tree` is asked about, and crates that it must not name.
const LEAN: &[(&str, &[&str])] = &[
    (
        "partita-metrics",
        &["rayon", "serde_json", "parquet", "metis", "sprs", "faer"],
    ),
    (
        "partita --no-default-features",
        &["rayon", "parquet", "metis", "sprs", "faer", "csv"],
    ),
    (
        "partita-cli --no-default-features",
        &[
            "metis",
            "parquet",
            "arrow-array",
            "zstd",
            "calamine",
            "hdf5-reader",
        ],
    ),
    (
        "partita --no-default-features --features graph",
        &["metis", "parquet", "csv"],
    ),
    (
        "partita --no-default-features --features files",
        &["parquet", "arrow-ipc", "metis", "faer"],
    ),
];

/// Checks the trees, then compiles every feature; a warning is an error.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    for (asked, unwanted) in LEAN {
        lean(workspace, asked, unwanted)?;
    }
    shared(workspace)?;
    let packages = workspace.metadata()?.packages;
    let facade = packages.iter().find(|package| package.name == "partita");
    let all = facade.context("there is no crate partita")?.features.keys();
    let features: Vec<&str> = all
        .map(String::as_str)
        .filter(|name| *name != "default")
        .collect();
    for feature in std::iter::once("").chain(features.iter().copied()) {
        let mut cargo = workspace.cargo("check --quiet --package partita --no-default-features");
        let output = cargo.args(["--features", feature]).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() || said.contains("warning: ") {
            bail!("with the feature '{feature}' alone: {}", said.trim());
        }
    }
    let count = features.len();
    let names = features.join(", ");
    println!("{count} features, each alone: {names}");
    Ok(())
}

/// Fails if a normal dependency, however deep, is one of the unwanted.
fn lean(workspace: &Workspace, asked: &str, unwanted: &[&str]) -> Result<()> {
    let tree = "tree --offline --edges normal --prefix none --package";
    let tree = shell::output(&mut workspace.cargo(&format!("{tree} {asked}")))?;
    let names = || tree.lines().filter_map(|line| line.split(' ').next());
    let mut extra = unwanted.to_vec();
    extra.retain(|name| names().any(|found| found == *name));
    ensure!(
        extra.is_empty(),
        "`cargo tree -p {asked}` names {}",
        extra.join(", ")
    );
    Ok(())
}

/// Fails if the wheel asks for a crate with other features than the whole workspace: cargo would compile that crate, and all that is
/// built on it, a second time.
fn shared(workspace: &Workspace) -> Result<()> {
    let all = asked(workspace, "--workspace --edges normal,build,dev")?;
    let wheel = asked(workspace, "--package partita-python --edges normal,build")?;
    let other: Vec<&str> = wheel.difference(&all).map(String::as_str).collect();
    ensure!(
        other.is_empty(),
        "only partita-python has these features of crates: {}",
        other.join(", ")
    );
    Ok(())
}

/// The crates of a tree with their features.
fn asked(workspace: &Workspace, which: &str) -> Result<BTreeSet<String>> {
    let mut cargo = workspace.cargo(&format!("tree --offline --prefix none {which} --format"));
    let tree = shell::output(cargo.arg("{p} [{f}]"))?;
    Ok(tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)").to_owned())
        .collect())
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
        let asked = "partita --features metis";
        let error = lean(&workspace, asked, &["rayon", "no-such", "metis"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`cargo tree -p partita --features metis` names rayon, metis"
        );
    }
}
