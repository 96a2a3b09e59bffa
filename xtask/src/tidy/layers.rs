//! Who may know whom.

use std::fs;

use anyhow::Result;

use super::Violation;
use crate::workspace::{Dependency, Package, Workspace};

/// The folders of `crates`, from the bottom up. A crate depends only on crates of the folders before its own.
const FOLDERS: [&str; 7] = [
    "base", "blocks", "input", "methods", "product", "doors", "dev",
];

/// Folders whose crates stand on each other, and the order in which they do. In all others equals do not know each other.
const INSIDE: [(&str, &[&str]); 4] = [
    ("base", &["derive", "core", "kernels"]),
    ("input", &["files", "synth", "text", "generate"]),
    (
        "product",
        &["partita", "select", "report", "app", "distributed"],
    ),
    ("doors", &["r", "web", "cli", "python"]),
];

/// The helper of tests. It knows only the core, so every crate above may use it in its tests.
const CONFORMANCE: &str = "partita-conformance";

/// Where a crate stands: its folder, then its place inside where the folder has an order.
type Layer = (usize, usize);

/// The layer of the crate with this manifest: `crates/FOLDER/CRATE/Cargo.toml`, or xtask, which is above all.
fn layer(workspace: &Workspace, package: &Package) -> Option<Layer> {
    let manifest = workspace.show(&package.manifest_path).to_string();
    let parts: Vec<&str> = manifest.split(['/', '\\']).collect();
    match parts[..] {
        ["xtask", _] => Some((FOLDERS.len(), 0)),
        ["crates", folder, name, _] => {
            let at = FOLDERS.iter().position(|known| *known == folder)?;
            let order = INSIDE.iter().find(|(known, _)| *known == folder);
            let inside = match order {
                Some((_, names)) => names.iter().position(|known| *known == name)?,
                None => 0,
            };
            Some((at, inside))
        }
        _ => None,
    }
}

/// Complaints about edges that climb or stay level.
pub(super) fn edges(workspace: &Workspace, packages: &[Package]) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for package in packages {
        let text = fs::read_to_string(&package.manifest_path)?;
        let file = workspace.show(&package.manifest_path).to_string();
        let Some(own) = layer(workspace, package) else {
            let what = format!(
                "{} is in no layer; put it into one of crates/{{{}}}, and into the order in \
                 xtask/src/tidy/layers.rs where its folder has one",
                package.name,
                FOLDERS.join(",")
            );
            violations.push(Violation::new(&file, 1, what));
            continue;
        };
        for dependency in &package.dependencies {
            let Some(other) = packages.iter().find(|p| p.name == dependency.name) else {
                continue;
            };
            // A crate without a layer is complained about by itself.
            let Some(other) = layer(workspace, other) else {
                continue;
            };
            if let Some(what) = complaint(&package.name, own, dependency, other) {
                violations.push(Violation::new(&file, line_of(&text, dependency), what));
            }
        }
    }
    Ok(violations)
}

fn complaint(name: &str, own: Layer, dependency: &Dependency, layer: Layer) -> Option<String> {
    let kind = dependency.kind.as_deref().unwrap_or("normal");
    let other = &dependency.name;
    if name == "xtask" {
        return Some(format!(
            "xtask builds first and needs no crate of ours; call the binary instead of {other}"
        ));
    }
    if other == CONFORMANCE {
        let fine = kind == "dev" && FOLDERS[own.0] != "base";
        return (!fine).then(|| format!("{other} is for tests only; make it a dev-dependency"));
    }
    (layer >= own).then(|| {
        let way = if layer > own { "climbs" } else { "stays level" };
        let folders = format!("{} to {}", FOLDERS[own.0], FOLDERS[layer.0]);
        format!(
            "{kind} dependency on {other} {way} ({folders}); move what both need one layer down"
        )
    })
}

/// The line of the manifest that names the dependency, below the table of its kind.
fn line_of(manifest: &str, dependency: &Dependency) -> usize {
    let kind = dependency.kind.as_deref();
    let table = kind.map_or("[dependencies]".into(), |kind| {
        format!("{kind}-dependencies]")
    });
    let lines: Vec<&str> = manifest.lines().collect();
    let start = lines.iter().position(|line| line.trim().ends_with(&table));
    let named = |line: &&str| line.split(['.', '=', ' ']).next() == Some(&dependency.name);
    let start = start.unwrap_or(0);
    let below = lines[start..].iter().position(named);
    below.map_or(1, |at| start + at + 1)
}
