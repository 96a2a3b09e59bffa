//! What documents point at.

use std::path::Path;

use super::Violation;
use crate::workspace::{Package, Workspace};

const MAP: &str = "docs/architecture.md";

/// Complaints about links of a document to files that are not there.
pub(super) fn check(workspace: &Workspace, file: &str, text: &str) -> Vec<Violation> {
    let folder = workspace
        .path(file)
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default();
    let complaint = |line: usize, target: &str| {
        let path = target.split('#').next().unwrap_or_default();
        let elsewhere = path.is_empty() || path.contains("://") || path.starts_with("mailto:");
        let dead = !elsewhere && !folder.join(path).exists();
        dead.then(|| {
            Violation::new(
                file,
                line,
                format!("a link to {path}, which is not there; mend it or take it out"),
            )
        })
    };
    let lines = text.lines().enumerate();
    lines
        .flat_map(|(at, line)| targets(line).filter_map(move |target| complaint(at + 1, target)))
        .collect()
}

/// What stands in iteration brackets right after square ones.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target)
}

/// Complaints about crates that the map does not mention. A workspace without a map has nothing to keep up to date.
pub(super) fn map(workspace: &Workspace, packages: &[Package]) -> Vec<Violation> {
    let Ok(map) = std::fs::read_to_string(workspace.path(MAP)) else {
        return Vec::new();
    };
    let absent = packages
        .iter()
        .filter(|package| !map.contains(&format!("| `{}` |", package.name)));
    absent
        .map(|package| {
            Violation::new(
                MAP,
                1,
                format!("{} is not on the map; give it a row", package.name),
            )
        })
        .collect()
}
