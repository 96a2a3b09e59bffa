//! Licences of all dependencies, by what cargo knows of them. cargo-deny, which the hosted workflow runs, also looks at versions, sources
//! and advisories.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Violation;
use crate::workspace::{Package, Workspace};

/// The configuration of cargo-deny.
const POLICY: &str = "deny.toml";

/// The part of it that is read here.
#[derive(Deserialize)]
struct Policy {
    licenses: Licenses,
}

#[derive(Deserialize)]
struct Licenses {
    /// SPDX identifiers, with their exceptions.
    allow: Vec<String>,
}

/// Complaints about licences that are not allowed, and about allowed ones that nothing needs. A workspace without the list has no rule.
pub(super) fn check(workspace: &Workspace) -> Result<Vec<Violation>> {
    let Ok(text) = fs::read_to_string(workspace.path(POLICY)) else {
        return Ok(Vec::new());
    };
    let policy: Policy = toml::from_str(&text).with_context(|| format!("in {POLICY}"))?;
    let mut packages = workspace.metadata_of("--locked")?.packages;
    packages.retain(|package| package.source.is_some());
    let complaints = complaints(&packages, &policy.licenses.allow);
    Ok(complaints
        .into_iter()
        .map(|what| Violation::new(POLICY, 1, what))
        .collect())
}

fn complaints(packages: &[Package], allow: &[String]) -> Vec<String> {
    let mut used: BTreeSet<&String> = BTreeSet::new();
    let mut wrong = Vec::new();
    for package in packages {
        let licence = package.license.as_deref().unwrap_or("not stated");
        let needed: Vec<Vec<&String>> = alternatives(licence)
            .map(|either| {
                allow
                    .iter()
                    .filter(|known| either.contains(known))
                    .collect()
            })
            .collect();
        if needed.iter().any(Vec::is_empty) {
            let name = &package.name;
            let version = &package.version;
            wrong.push(format!(
                "{name} {version} has the licence {licence}, which is not allowed; allow it or take another crate"
            ));
        }
        used.extend(needed.into_iter().flatten());
    }
    let idle = allow.iter().filter(|licence| !used.contains(licence));
    wrong.extend(idle.map(|licence| format!("no dependency needs {licence}; take it away")));
    wrong
}

/// The licences that one each must be allowed of, for a licence expression read as if OR bound closer than AND: what passes so passes by
/// every reading. Older manifests separate alternatives by a slash.
fn alternatives(licence: &str) -> impl Iterator<Item = Vec<String>> {
    let plain = licence.replace(['(', ')'], "").replace('/', " OR ");
    let all: Vec<String> = plain.split(" AND ").map(str::to_owned).collect();
    all.into_iter().map(|either| {
        let words = either.split(" OR ").map(|word| word.trim().to_owned());
        words.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(license: &str) -> Package {
        let text = format!(
            r#"{{"name": "a", "version": "1.0", "license": "{license}", "source": "registry", "manifest_path": "", "dependencies": [], "features": {{}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn what_is_not_allowed_is_named() {
        let allow = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(String::from);
        let fine = [
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "(MIT OR X) AND Zlib",
            "X OR Apache-2.0 WITH LLVM-exception",
        ];
        assert_eq!(complaints(&fine.map(package), &allow), [""; 0]);
        for licence in ["GPL-3.0", "MIT AND X", "Apache-2.0", "(MIT AND X) OR Y", ""] {
            let said = complaints(&[package(licence)], &allow[..0]);
            assert!(said[0].starts_with("a 1.0 has the licence "), "{said:?}");
            assert!(complaints(&[package(licence)], &allow)[0].contains(licence));
        }
        let idle = complaints(&fine.map(package)[..2], &allow[..2]);
        assert_eq!(idle, ["no dependency needs Zlib; take it away"]);
    }
}
