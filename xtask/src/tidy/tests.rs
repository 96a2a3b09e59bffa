//! Tidy itself, on a small workspace in which one thing at a time goes wrong.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::check;
use crate::shell;
use crate::workspace::{Workspace, crate_name};

const ROOT: &str = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*/*\"]\n\n[workspace.lints.rust]\nmissing_docs = \"deny\"\n";
const LIBRARY: &str = "//! What it is.\n\n/// The answer.\npub fn answer() -> u32 {\n    42\n}\n";

/// What a crate of `blocks` says to depend on the core.
const CORE: &str = "partita-core = { path = \"../../base/core\" }\n";

/// A workspace of three crates, two of them in one folder.
fn tiny() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "Cargo.toml", ROOT);
    for (place, dependencies) in [
        ("base/core", ""),
        ("blocks/metrics", CORE),
        ("blocks/linkage", CORE),
    ] {
        let name = crate_name(place);
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}\n[lints]\nworkspace = true\n"
        );
        write(root, &format!("crates/{place}/Cargo.toml"), &manifest);
        write(root, &format!("crates/{place}/src/lib.rs"), LIBRARY);
    }
    shell::output(&mut Workspace::at(root).command("git init --quiet")).unwrap();
    folder
}

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn replace(root: &Path, file: &str, old: &str, new: &str) {
    let text = fs::read_to_string(root.join(file)).unwrap();
    assert!(text.contains(old), "{file} has no {old}");
    fs::write(root.join(file), text.replacen(old, new, 1)).unwrap();
}

fn complaints(root: &Path) -> Vec<String> {
    check(&Workspace::at(root))
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_tidy_workspace_passes() {
    assert_eq!(complaints(tiny().path()), [""; 0]);
}

const CONFORMANCE: &str = "partita-conformance = { path = \"../../dev/conformance\" }\n\n";

fn add_crate(root: &Path, place: &str) {
    let name = crate_name(place);
    let manifest =
        format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[lints]\nworkspace = true\n");
    write(root, &format!("crates/{place}/Cargo.toml"), &manifest);
    write(root, &format!("crates/{place}/src/lib.rs"), LIBRARY);
}

/// The dependency of `crates/PLACE`, before its lints.
fn depend(root: &Path, place: &str, lines: &str) {
    let manifest = format!("crates/{place}/Cargo.toml");
    replace(root, &manifest, "[lints]", &format!("{lines}[lints]"));
}

/// What goes wrong, and how the one complaint about it starts.
type Case = (fn(&Path), &'static str);

const CASES: &[Case] = &[
    (
        |root| {
            let edge = "[dependencies]\npartita-metrics = { path = \"../../blocks/metrics\" }\n";
            replace(
                root,
                "crates/base/core/Cargo.toml",
                "[dependencies]\n",
                edge,
            );
            replace(root, "crates/blocks/metrics/Cargo.toml", CORE, "");
        },
        "crates/base/core/Cargo.toml:6: normal dependency on partita-metrics climbs (base to blocks); \
         move what both need one layer down",
    ),
    (
        |root| {
            let edge = "[dev-dependencies]\npartita-linkage = { path = \"../linkage\" }\n\n";
            depend(root, "blocks/metrics", edge);
        },
        "crates/blocks/metrics/Cargo.toml:9: dev dependency on partita-linkage stays level",
    ),
    (
        |root| {
            add_crate(root, "dev/conformance");
            depend(root, "blocks/linkage", CONFORMANCE);
        },
        "crates/blocks/linkage/Cargo.toml:8: partita-conformance is for tests only; make it a dev-dependency",
    ),
    (
        |root| add_crate(root, "attic/attic"),
        "crates/attic/attic/Cargo.toml:1: partita-attic is in no layer; put it into one of",
    ),
    (
        |root| {
            let lints = "[lints]\nworkspace = true\n";
            replace(root, "crates/base/core/Cargo.toml", lints, "");
        },
        "crates/base/core/Cargo.toml:1: partita-core does not inherit the lints",
    ),
    (
        |root| replace(root, "Cargo.toml", "deny", "warn"),
        "Cargo.toml:1: missing documentation is not denied",
    ),
    (
        |root| {
            let name = ["max", "iter"].join("_");
            let code = format!("{{ let {name} = 42; {name} }}");
            replace(root, "crates/base/core/src/lib.rs", "42", &code);
        },
        concat!(
            "crates/base/core/src/lib.rs:5: `max_",
            "iter` is not our word; say iterations"
        ),
    ),
    (
        |root| {
            for (module, other) in [("a", "b"), ("b", "a")] {
                let text = format!(
                    "//! {module}.\n\npub(crate) fn {module}() {{\n    crate::{other}::{other}();\n}}\n"
                );
                write(root, &format!("crates/base/core/src/{module}.rs"), &text);
            }
        },
        "crates/base/core/src/a.rs:4: modules import in a circle: a → b → a; move what both need",
    ),
    (
        |root| replace(root, "crates/base/core/src/lib.rs", "42", "42)"),
        "crates/base/core/src/lib.rs:5: this is not Rust",
    ),
    (
        |root| {
            let long = format!("{LIBRARY}{}", "\n".repeat(800));
            write(root, "crates/base/core/src/lib.rs", &long);
        },
        "crates/base/core/src/lib.rs:801: 806 lines, more than 800",
    ),
    (
        |root| write(root, "notes.txt", "remember the milk\n"),
        "notes.txt:1: does not belong at the top",
    ),
    (
        |root| {
            write(root, ".gitignore", "notes.txt\n");
            write(root, "notes.txt", "remember the milk\n");
            write(root, "scripts/run.sh", "true\n");
        },
        "scripts:1: does not belong at the top",
    ),
    (
        |root| {
            let inside = root.join("data.csv").display().to_string();
            write(
                root,
                "README.md",
                &format!("Read me.\n\nThe data are in {inside}.\n"),
            );
        },
        "README.md:3: a path of one machine (",
    ),
    (
        |root| {
            let links =
                "[this](docs/more.md#part), [that](https://example.org/x) and [below](#below)";
            write(root, "README.md", links);
        },
        "README.md:1: a link to docs/more.md, which is not there; mend it or take it out",
    ),
    (
        |root| {
            let version = "[workspace.package]\nversion = \"0.2.0\"\n\n[workspace.lints.rust]";
            replace(root, "Cargo.toml", "[workspace.lints.rust]", version);
            write(root, "docs/CITATION.cff", "version: 0.1.0\n");
        },
        "docs/CITATION.cff:1: no line `version: 0.2.0`; the version is that of Cargo.toml",
    ),
    (
        |root| {
            let map = "| `partita-core` | a |\n| `partita-metrics` | b |\n";
            write(root, "docs/architecture.md", map);
        },
        "docs/architecture.md:1: partita-linkage is not on the map; give it a row",
    ),
];

#[test]
fn one_thing_that_goes_wrong_is_one_complaint() {
    for (spoil, expected) in CASES {
        let folder = tiny();
        spoil(folder.path());
        let said = complaints(folder.path());
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].starts_with(expected),
            "{} is not {expected}",
            said[0]
        );
    }
}

#[test]
fn the_helper_of_tests_may_be_used_in_tests() {
    let folder = tiny();
    add_crate(folder.path(), "dev/conformance");
    let edge = format!("[dev-dependencies]\n{CONFORMANCE}");
    depend(folder.path(), "blocks/linkage", &edge);
    assert_eq!(complaints(folder.path()), [""; 0]);
}
