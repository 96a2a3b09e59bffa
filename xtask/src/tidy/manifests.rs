//! What every manifest and the lock file must say.

use std::fs;

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::Violation;
use crate::workspace::{Package, Workspace};

/// Crates whose types meet across crates: a second version is another type of the same name.
const SINGLE: &[&str] = &["ndarray", "rand"];

/// How a version starts that comes with an optional dependency and never into the default build: ndarray-linalg, behind the feature
/// `lapack` of partita-spectral, asks for this rand.
const OPTIONAL: (&str, &str) = ("rand", "0.8.");

/// Where the version stands beside the manifests, and what stands before it.
const VERSIONS: &[(&str, &str)] = &[
    ("crates/doors/r/DESCRIPTION", "Version: "),
    ("crates/doors/python/recipe/recipe.yaml", "version: "),
    ("docs/CITATION.cff", "version: "),
];

/// Complaints about lints that are not inherited and crates that are there twice.
pub(super) fn check(workspace: &Workspace, packages: &[Package]) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for package in packages {
        let manifest: Table = toml::from_str(&fs::read_to_string(&package.manifest_path)?)?;
        if at(&manifest, &["lints", "workspace"]) != Some(&Value::Boolean(true)) {
            let file = workspace.show(&package.manifest_path).to_string();
            let name = &package.name;
            let what =
                format!("{name} does not inherit the lints; add `[lints]` `workspace = true`");
            violations.push(Violation::new(&file, 1, what));
        }
    }
    let root: Table = toml::from_str(&fs::read_to_string(workspace.path("Cargo.toml"))?)?;
    let level = at(&root, &["workspace", "lints", "rust", "missing_docs"]);
    if !matches!(level.and_then(Value::as_str), Some("deny" | "forbid")) {
        let what = "missing documentation is not denied; set `missing_docs = \"deny\"` in [workspace.lints.rust]";
        violations.push(Violation::new("Cargo.toml", 1, what));
    }
    let version = at(&root, &["workspace", "package", "version"]).and_then(Value::as_str);
    for (file, key) in VERSIONS {
        let Ok(text) = fs::read_to_string(workspace.path(file)) else {
            continue;
        };
        let mut lines = text.lines().map(|line| line.trim().replace('"', ""));
        let line = format!("{key}{}", version.unwrap_or_default());
        if !lines.any(|found| found == line) {
            let what = format!("no line `{line}`; the version is that of Cargo.toml");
            violations.push(Violation::new(file, 1, what));
        }
    }
    if let Ok(lock) = fs::read_to_string(workspace.path("Cargo.lock")) {
        violations.extend(doubles(&lock)?);
    }
    Ok(violations)
}

/// The value at the end of this way through tables.
fn at<'a>(table: &'a Table, way: &[&str]) -> Option<&'a Value> {
    let (first, rest) = way.split_first()?;
    let mut value = table.get(*first)?;
    for key in rest {
        value = value.get(key)?;
    }
    Some(value)
}

fn doubles(lock: &str) -> Result<Vec<Violation>> {
    let lock: Table = toml::from_str(lock).context("Cargo.lock is damaged")?;
    let packages = lock.get("package").and_then(Value::as_array);
    let mut violations = Vec::new();
    for name in SINGLE {
        let mut versions: Vec<&str> = Vec::new();
        for package in packages.into_iter().flatten() {
            if package.get("name").and_then(Value::as_str) == Some(name) {
                versions.extend(package.get("version").and_then(Value::as_str));
            }
        }
        versions.retain(|version| *name != OPTIONAL.0 || !version.starts_with(OPTIONAL.1));
        if let [first, _, ..] = versions[..] {
            let count = versions.len();
            let versions = versions.join(", ");
            let what = format!(
                "{count} versions of {name} ({versions}); `cargo tree -i {name}@{first}` says who asks"
            );
            violations.push(Violation::new("Cargo.lock", 1, what));
        }
    }
    Ok(violations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_version_is_named() {
        let lock = "[[package]]\nname = \"rand\"\nversion = \"0.9.2\"\n\n[[package]]\nname = \"rand\"\nversion = \"0.10.3\"\n";
        let found = doubles(lock).unwrap();
        let what = "2 versions of rand (0.9.2, 0.10.3); `cargo tree -i rand@0.9.2` says who asks";
        assert_eq!(found, [Violation::new("Cargo.lock", 1, what)]);
        assert_eq!(doubles(&lock.replace("0.9.2", "0.8.5")).unwrap(), []);
        assert_eq!(
            doubles(&lock.replacen("\"rand\"", "\"rand_core\"", 1)).unwrap(),
            []
        );
    }
}
