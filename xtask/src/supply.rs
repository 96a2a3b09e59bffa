//! `supply` and `sbom`: licences, versions and sources of everything that is depended on, by what cargo knows of it.

mod licence;
mod policy;
mod sbom;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::shell;
use crate::workspace::Workspace;

pub(crate) use sbom::run as sbom;

/// C code that dependencies compile into the binary: crate, what it is, licence.
const COMPILED_C: &[(&str, &str, &str)] = &[
    (
        "metis-sys",
        "METIS 5.2.1 with GKlib, George Karypis",
        "Apache-2.0",
    ),
    ("zstd-sys", "libzstd 1.5.7, Meta Platforms", "BSD-3-Clause"),
];

/// Crates that look as if they brought a library and bring none: `links` keeps cargo from taking two versions of them, or they
/// declare functions of the system or of the Python that loads the module.
const BRING_NOTHING: &[&str] = &[
    "rayon-core",
    "wasm-bindgen-shared",
    "pyo3",
    "pyo3-ffi",
    "core-foundation-sys",
    "js-sys",
    "linux-raw-sys",
    "windows-sys",
];

/// What `cargo metadata` says of all dependencies.
#[derive(Deserialize)]
struct Tree {
    packages: Vec<Crate>,
    target_directory: PathBuf,
}

/// A dependency, or a crate of ours, which has no source.
#[derive(Clone, Deserialize)]
struct Crate {
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    links: Option<String>,
}

/// Reads the tree. Needs no network where the dependencies were fetched.
fn tree(workspace: &Workspace) -> Result<Tree> {
    let text =
        shell::output(&mut workspace.cargo(["metadata", "--locked", "--format-version", "1"]))?;
    serde_json::from_str(&text).context("cargo metadata printed something unexpected")
}

/// Compares all dependencies with `xtask/deny.toml`; says everything that is wrong at once.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let policy = policy::read(&workspace.path("xtask/deny.toml"))?;
    let mut packages = tree(workspace)?.packages;
    packages.retain(|package| package.source.is_some());
    let wrong = [
        licences(&packages, &policy),
        versions(&packages, &policy),
        sources(&packages, &policy),
        c_code(&packages),
    ];
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    ensure!(
        wrong.is_empty(),
        "against xtask/deny.toml:\n{}",
        wrong.join("\n")
    );
    println!(
        "{} dependencies: licences, versions and sources as in xtask/deny.toml; C code of {} compiled in",
        packages.len(),
        COMPILED_C
            .iter()
            .map(|(name, ..)| *name)
            .collect::<Vec<_>>()
            .join(" and ")
    );
    println!(
        "advisories are not looked up here: cargo deny check --config xtask/deny.toml advisories"
    );
    Ok(())
}

fn licences(packages: &[Crate], policy: &policy::Policy) -> Vec<String> {
    let mut used = BTreeSet::new();
    let mut wrong = Vec::new();
    for package in packages {
        let name = format!("{} {}", package.name, package.version);
        match package
            .license
            .as_deref()
            .map(|text| licence::allowed(text, &policy.licenses.allow, &mut used))
        {
            Some(Ok(true)) => {}
            Some(Ok(false)) => wrong.push(format!(
                "{name}: licence {}",
                package.license.as_deref().unwrap_or("")
            )),
            Some(Err(why)) => wrong.push(format!("{name}: {why}")),
            None => wrong.push(format!("{name} states no licence")),
        }
    }
    let idle = policy
        .licenses
        .allow
        .iter()
        .filter(|licence| !used.contains(licence.as_str()));
    wrong.extend(
        idle.map(|licence| format!("no dependency needs the licence {licence}; take it away")),
    );
    wrong
}

fn versions(packages: &[Crate], policy: &policy::Policy) -> Vec<String> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        found
            .entry(&package.name)
            .or_default()
            .insert(&package.version);
    }
    found.retain(|_, versions| versions.len() > 1);
    let skipped: BTreeSet<&str> = policy.bans.skip.iter().map(String::as_str).collect();
    let twice = found.iter().filter(|(name, _)| !skipped.contains(*name));
    let mut wrong: Vec<String> = twice
        .map(|(name, versions)| {
            format!(
                "{name} is there in {} versions: {versions:?}",
                versions.len()
            )
        })
        .collect();
    let idle = skipped.iter().filter(|name| !found.contains_key(*name));
    wrong.extend(idle.map(|name| format!("{name} is there once; take its line away")));
    wrong
}

fn sources(packages: &[Crate], policy: &policy::Policy) -> Vec<String> {
    let known = |source: &str| {
        let from = |registry: &String| {
            source
                .strip_prefix("registry+")
                .is_some_and(|at| at == registry)
        };
        policy.sources.allow_registry.iter().any(from)
    };
    let unknown = packages
        .iter()
        .filter(|package| !package.source.as_deref().is_some_and(known));
    unknown
        .map(|package| {
            format!(
                "{} comes from {}",
                package.name,
                package.source.as_deref().unwrap_or("")
            )
        })
        .collect()
}

/// Every crate that links something is one of those that are described.
fn c_code(packages: &[Crate]) -> Vec<String> {
    let links = |package: &&Crate| package.links.is_some() || package.name.ends_with("-sys");
    let linking: BTreeSet<&str> = packages
        .iter()
        .filter(links)
        .map(|package| package.name.as_str())
        .collect();
    let compiled = |name: &str| COMPILED_C.iter().any(|(known, ..)| *known == name);
    let unknown = linking
        .iter()
        .filter(|name| !compiled(name) && !BRING_NOTHING.contains(name));
    let mut wrong: Vec<String> = unknown
        .map(|name| format!("{name} links a library that xtask/src/supply.rs does not describe"))
        .collect();
    let gone = COMPILED_C
        .iter()
        .filter(|(name, ..)| !linking.contains(name));
    wrong.extend(gone.map(|(name, ..)| format!("{name} is not depended on any more")));
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(allow: &[&str], skip: &[&str]) -> policy::Policy {
        let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        policy::Policy {
            licenses: policy::Licenses { allow: text(allow) },
            bans: policy::Bans { skip: text(skip) },
            sources: policy::Sources {
                allow_registry: text(&["https://registry"]),
            },
        }
    }

    fn package(name: &str, version: &str, license: &str) -> Crate {
        let source = Some("registry+https://registry".to_owned());
        Crate {
            name: name.into(),
            version: version.into(),
            license: Some(license.into()),
            source,
            links: None,
        }
    }

    #[test]
    fn what_is_not_allowed_is_named() {
        let packages = [
            package("a", "1.0", "MIT"),
            package("a", "2.0", "GPL-3.0-only OR MIT"),
            package("b", "1.0", "GPL-3.0-only"),
        ];
        assert_eq!(
            licences(&packages, &policy(&["MIT"], &[])),
            ["b 1.0: licence GPL-3.0-only"]
        );
        assert_eq!(
            licences(&packages[..1], &policy(&["MIT", "Zlib"], &[])).len(),
            1
        );
        assert!(versions(&packages, &policy(&[], &[]))[0].starts_with("a is there in 2 versions"));
        assert!(versions(&packages, &policy(&[], &["a"])).is_empty());
        assert_eq!(
            versions(&packages, &policy(&[], &["a", "b"])),
            ["b is there once; take its line away"]
        );
        assert!(sources(&packages, &policy(&[], &[])).is_empty());
        let other = Crate {
            source: Some("git+https://elsewhere".into()),
            ..package("c", "1.0", "MIT")
        };
        assert_eq!(
            sources(&[other], &policy(&[], &[])),
            ["c comes from git+https://elsewhere"]
        );
        let linking = Crate {
            links: Some("blob".into()),
            ..package("blob-sys", "1.0", "MIT")
        };
        assert!(c_code(&[linking])[0].contains("blob-sys links a library"));
    }
}
