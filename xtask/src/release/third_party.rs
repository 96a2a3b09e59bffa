//! The licences of what is compiled in: names, versions and licences, then each text once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::workspace::{Metadata, Package};

/// How files with the text of a licence are called, in capital letters.
const TEXTS: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];

/// The listing for what these crates of ours are built of.
pub(super) fn listing(metadata: &Metadata, ours: &[&str]) -> Result<String> {
    let mut list = String::from("What is compiled into this program, and its licences.\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in compiled_in(metadata, ours) {
        let name = format!("{} {}", package.name, package.version);
        let licence = package.license.as_deref().unwrap_or("see the text");
        list += &format!("{name}: {licence}\n");
        let folder = package.manifest_path.parent().unwrap_or(Path::new(""));
        add_texts(folder, &name, &mut texts).with_context(|| format!("in {name}"))?;
    }
    for (text, names) in &texts {
        list += &format!("\n{}\n{}\n\n{text}\n", "=".repeat(80), names.join(", "));
    }
    Ok(list)
}

/// The crates of others that these are built of, by name. Who is not asked for is not in the metadata, so optional ones count.
fn compiled_in<'a>(metadata: &'a Metadata, ours: &[&str]) -> Vec<&'a Package> {
    let mut waiting: Vec<&str> = ours.to_vec();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(name) = waiting.pop() {
        if !seen.insert(name) {
            continue;
        }
        for package in metadata.packages.iter().filter(|one| one.name == name) {
            let needed = package.dependencies.iter();
            let needed = needed.filter(|needed| needed.kind.is_none());
            waiting.extend(needed.map(|needed| needed.name.as_str()));
            found.extend(package.source.is_some().then_some(package));
        }
    }
    found.sort_by_key(|package| (&package.name, &package.version));
    found
}

/// The texts below a folder: C code inside a crate has its own.
fn add_texts(folder: &Path, name: &str, texts: &mut BTreeMap<String, Vec<String>>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_texts(&path, name, texts)?;
            continue;
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let file = file.to_uppercase();
        let is_source = path
            .extension()
            .is_some_and(|end| end == "rs" || end == "py");
        if is_source || !TEXTS.iter().any(|start| file.starts_with(start)) {
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let names = texts.entry(text.trim().to_owned()).or_default();
        if names.last().is_none_or(|last| last != name) {
            names.push(name.to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_what_is_compiled_in_stand_once() {
        let place = tempfile::tempdir().unwrap();
        let package = |name: &str, source: &str, needed: &str| {
            let folder = place.path().join(name);
            fs::create_dir_all(folder.join("c")).unwrap();
            fs::write(folder.join("LICENSE-MIT"), "the same text\n").unwrap();
            fs::write(folder.join("license.rs"), "source").unwrap();
            let manifest = folder.join("Cargo.toml");
            format!(
                r#"{{"name": "{name}", "version": "1.0", "license": "MIT", "source": {source}, "manifest_path": {manifest:?},
                    "dependencies": {needed}, "features": {{}}}}"#
            )
        };
        let packages = [
            package(
                "ours",
                "null",
                r#"[{"name": "a", "kind": null}, {"name": "tests", "kind": "dev"}]"#,
            ),
            package("a", r#""registry""#, r#"[{"name": "b", "kind": null}]"#),
            package("b", r#""registry""#, "[]"),
            package("tests", r#""registry""#, "[]"),
        ];
        fs::write(place.path().join("b/c/COPYING"), "of the C code").unwrap();
        let text = format!(
            r#"{{"packages": [{}], "target_directory": ""}}"#,
            packages.join(",")
        );
        let listing = listing(&serde_json::from_str(&text).unwrap(), &["ours"]).unwrap();
        assert!(listing.contains("\na 1.0: MIT\nb 1.0: MIT\n"), "{listing}");
        assert!(
            listing.contains("\na 1.0, b 1.0\n\nthe same text\n"),
            "{listing}"
        );
        assert!(listing.contains("\nb 1.0\n\nof the C code\n"), "{listing}");
        assert!(!listing.contains("tests") && !listing.contains("source"));
    }
}
