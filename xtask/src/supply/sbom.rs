//! The list of everything that a binary is made of, in CycloneDX.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{COMPILED_C, Crate, tree};
use crate::shell;
use crate::workspace::Workspace;

/// The checksums in Cargo.lock.
#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// Writes `target/partita.cdx.json`: what the command line is compiled from.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let tree = tree(workspace)?;
    let lock =
        fs::read_to_string(workspace.path("Cargo.lock")).context("there is no Cargo.lock")?;
    let lock: Lock = toml::from_str(&lock).context("Cargo.lock is damaged")?;
    let checksum = |locked: Locked| Some(((locked.name, locked.version), locked.checksum?));
    let checksums: BTreeMap<(String, String), String> =
        lock.package.into_iter().filter_map(checksum).collect();
    let mut listed = shell::output(&mut workspace.cargo([
        "tree",
        "--locked",
        "--package",
        "partita-cli",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]))?;
    listed.retain(|character| character != '\r');
    let shipped = |package: &&Crate| {
        let line = format!("{} v{}", package.name, package.version);
        listed
            .lines()
            .any(|found| found == line || found.starts_with(&format!("{line} ")))
    };
    let mut components: Vec<Value> = tree
        .packages
        .iter()
        .filter(shipped)
        .map(|package| component(package, &checksums))
        .collect();
    components.extend(COMPILED_C.iter().map(|(within, what, licence)| {
        json!({
            "type": "library", "name": what, "licenses": [{ "license": { "id": licence } }],
            "description": format!("C code, compiled in by {within}"),
        })
    }));
    let bom = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": { "component": { "type": "application", "name": "partita", "version": env!("CARGO_PKG_VERSION") } },
        "components": components,
    });
    let path = tree.target_directory.join("partita.cdx.json");
    fs::write(&path, serde_json::to_string_pretty(&bom)? + "\n")?;
    println!(
        "{}: {} components",
        workspace.show(&path),
        bom["components"].as_array().map_or(0, Vec::len)
    );
    Ok(())
}

fn component(package: &Crate, checksums: &BTreeMap<(String, String), String>) -> Value {
    let Crate {
        name,
        version,
        license,
        ..
    } = package;
    let mut component = json!({
        "type": "library", "name": name, "version": version, "purl": format!("pkg:cargo/{name}@{version}"),
        "licenses": license.iter().map(|text| json!({ "expression": text.replace('/', " OR ") })).collect::<Vec<_>>(),
    });
    if let Some(checksum) = checksums.get(&(name.clone(), version.clone())) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}
