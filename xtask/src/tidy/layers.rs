//! Who may know whom.

use std::fs;

use anyhow::Result;

use super::Violation;
use crate::workspace::{Dependency, Package, Workspace};

/// The layer of every crate. A crate depends only on crates of lower layers.
const LAYERS: &[(&str, u8)] = &[
    ("partita-derive", 0),
    ("partita-core", 1),
    ("partita-kernels", 1),
    ("partita-coassoc", 2),
    ("partita-linkage", 2),
    ("partita-spectral", 2),
    ("partita-kmeans", 2),
    ("partita-metrics", 2),
    ("partita-files", 2),
    ("partita-text", 2),
    ("partita-synth", 2),
    (CONFORMANCE, 2),
    ("partita-generate", 3),
    ("partita-eac", 3),
    ("partita-pcc", 3),
    ("partita-aspect", 3),
    ("partita-mixture", 3),
    ("partita-ssce", 3),
    ("partita-graph", 3),
    ("partita-median", 3),
    ("partita-modes", 3),
    ("partita", 4),
    ("partita-select", 5),
    ("partita-report", 5),
    ("partita-app", 6),
    ("partita-cli", 7),
    ("partita-python", 7),
    ("partita-fuzz", 7),
    ("partita-reproduce", 7),
    ("xtask", 7),
];

/// The helper of tests. It knows only the core, so its neighbours may use it in theirs.
const CONFORMANCE: &str = "partita-conformance";

fn layer(name: &str) -> Option<u8> {
    LAYERS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, layer)| *layer)
}

/// Complaints about edges that climb or stay level.
pub(super) fn edges(workspace: &Workspace, packages: &[Package]) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for package in packages {
        let text = fs::read_to_string(&package.manifest_path)?;
        let file = workspace.show(&package.manifest_path).to_string();
        let Some(own) = layer(&package.name) else {
            let what = format!(
                "{} has no layer; give it one in xtask/src/tidy/layers.rs",
                package.name
            );
            violations.push(Violation::new(&file, 1, what));
            continue;
        };
        for dependency in package
            .dependencies
            .iter()
            .filter(|d| packages.iter().any(|p| p.name == d.name))
        {
            if let Some(what) = complaint(&package.name, own, dependency) {
                violations.push(Violation::new(&file, line_of(&text, dependency), what));
            }
        }
    }
    Ok(violations)
}

fn complaint(name: &str, own: u8, dependency: &Dependency) -> Option<String> {
    let (kind, other) = (
        dependency.kind.as_deref().unwrap_or("normal"),
        &dependency.name,
    );
    if name == "xtask" {
        return Some(format!(
            "xtask builds first and needs no crate of ours; call the binary instead of {other}"
        ));
    }
    if other == CONFORMANCE {
        let fine = kind == "dev" && own >= 2;
        return (!fine).then(|| format!("{other} is for tests only; make it a dev-dependency"));
    }
    // A dependency without a layer is complained about where it is a package.
    let layer = layer(other)?;
    (layer >= own).then(|| {
        let way = if layer > own { "climbs" } else { "stays level" };
        format!("{kind} dependency on {other} {way} (layer {own} to {layer}); move what both need one layer down")
    })
}

/// The line of the manifest that names the dependency, in the table of its kind.
fn line_of(manifest: &str, dependency: &Dependency) -> usize {
    let table = match dependency.kind.as_deref() {
        Some("dev") => "dev-dependencies]",
        Some("build") => "build-dependencies]",
        _ => "[dependencies]",
    };
    let lines = || manifest.lines().enumerate();
    let start = lines()
        .find(|(_, line)| line.trim().ends_with(table))
        .map_or(0, |(at, _)| at);
    let named = |line: &str| {
        line.strip_prefix(&dependency.name)
            .is_some_and(|rest| rest.trim_start().starts_with(['.', '=']))
    };
    lines()
        .skip(start)
        .find(|(_, line)| named(line))
        .map_or(1, |(at, _)| at + 1)
}
