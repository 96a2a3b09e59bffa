//! What lies where, and how long it is.

use std::collections::BTreeSet;

use super::Violation;
use super::source::Source;

/// Everything that lies at the top. What ends in `*` stands for all names that start so.
const TOP_LEVEL: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "crates",
    "xtask",
    "docs",
    "datasets",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-*",
    "rust-toolchain.toml",
    "clippy.toml",
    "deny.toml",
    ".ci",
    ".cargo",
    ".github",
    ".gitignore",
    ".gitattributes",
];

/// Lines of a file that is probably two modules.
const LONG: usize = 800;

/// Complaints about entries of the top folder that have no place there.
pub(super) fn top_level(files: &[String]) -> Vec<Violation> {
    let entry = |file: &String| file.split('/').next().unwrap_or_default().to_owned();
    let entries: BTreeSet<String> = files.iter().map(entry).collect();
    let known = |name: &str| {
        TOP_LEVEL.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *known,
        })
    };
    let what = "does not belong at the top; put it into a crate, docs/ or .gitignore";
    entries
        .iter()
        .filter(|name| !known(name))
        .map(|name| Violation::new(name, 1, what))
        .collect()
}

/// A complaint about a file that is too long.
pub(super) fn size(source: &Source) -> Option<Violation> {
    let lines = source.text.lines().count();
    let what =
        || format!("{lines} lines, more than {LONG}; two modules? cut it where the words change");
    (lines > LONG).then(|| Violation::new(&source.file, LONG + 1, what()))
}
