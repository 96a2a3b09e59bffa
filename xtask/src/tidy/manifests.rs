//! What every manifest and the lock file must say.

use std::fs;

use anyhow::Result;

use super::Violation;
use crate::workspace::{Package, Workspace};

/// Crates whose types meet across crates: a second version is another type of the same name.
const SINGLE: &[&str] = &["ndarray", "rand"];

/// Versions that come with an optional dependency and never into the default build, by how they start.
const OPTIONAL: &[(&str, &str)] = &[
    // ndarray-linalg, behind the feature `lapack` of partita-spectral.
    ("rand", "0.8."),
];

/// Complaints about lints that are not inherited and crates that are there twice.
pub(super) fn check(workspace: &Workspace, packages: &[Package]) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for package in packages {
        let text = fs::read_to_string(&package.manifest_path)?;
        if !section(&text, "[lints]").any(|(_, line)| squeezed(line) == "workspace=true") {
            let what = format!(
                "{} does not inherit the lints; add `[lints]` `workspace = true`",
                package.name
            );
            violations.push(Violation::new(
                &workspace.show(&package.manifest_path).to_string(),
                1,
                what,
            ));
        }
    }
    let root = fs::read_to_string(workspace.path("Cargo.toml"))?;
    let strict = ["missing_docs=\"deny\"", "missing_docs=\"forbid\""];
    if !section(&root, "[workspace.lints.rust]")
        .any(|(_, line)| strict.contains(&squeezed(line).as_str()))
    {
        let what = "missing documentation is not denied; set `missing_docs = \"deny\"` in [workspace.lints.rust]";
        violations.push(Violation::new("Cargo.toml", 1, what));
    }
    if let Ok(lock) = fs::read_to_string(workspace.path("Cargo.lock")) {
        violations.extend(doubles(&lock));
    }
    Ok(violations)
}

fn doubles(lock: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for name in SINGLE {
        let wanted = format!("name = \"{name}\"");
        let after = lock
            .lines()
            .skip(1)
            .map(|line| line.split('"').nth(1).unwrap_or_default());
        let found: Vec<(usize, &str)> = lock
            .lines()
            .zip(after)
            .enumerate()
            .filter(|(_, (line, version))| *line == wanted && !is_optional(name, version))
            .map(|(at, (_, version))| (at, version))
            .collect();
        if let [(_, first), (second, _), ..] = found[..] {
            let versions: Vec<&str> = found.iter().map(|(_, version)| *version).collect();
            let (count, versions) = (found.len(), versions.join(", "));
            let what = format!(
                "{count} versions of {name} ({versions}); `cargo tree -i {name}@{first}` says who asks"
            );
            violations.push(Violation::new("Cargo.lock", second + 1, what));
        }
    }
    violations
}

fn is_optional(name: &str, version: &str) -> bool {
    OPTIONAL
        .iter()
        .any(|(known, start)| *known == name && version.starts_with(start))
}

/// The numbered lines of one table of a manifest.
fn section<'a>(text: &'a str, heading: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let lines = text
        .lines()
        .enumerate()
        .skip_while(move |(_, line)| line.trim() != heading)
        .skip(1);
    lines
        .take_while(|(_, line)| !line.trim_start().starts_with('['))
        .map(|(at, line)| (at + 1, line))
}

fn squeezed(line: &str) -> String {
    line.split('#')
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_version_is_named() {
        let lock = "[[package]]\nname = \"rand\"\nversion = \"0.9.2\"\n\n[[package]]\nname = \"rand\"\nversion = \"0.10.3\"\n";
        let found = doubles(lock);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].to_string(),
            "Cargo.lock:6: 2 versions of rand (0.9.2, 0.10.3); `cargo tree -i rand@0.9.2` says who asks"
        );
        assert_eq!(doubles(&lock.replace("0.9.2", "0.8.5")), []);
        assert_eq!(
            doubles("name = \"rand\"\nversion = \"1\"\nname = \"rand_core\"\n"),
            []
        );
    }
}
