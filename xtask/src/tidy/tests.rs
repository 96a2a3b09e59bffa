//! Tidy itself, on a small workspace in which one thing at a time goes wrong.

use std::fs;
use std::path::Path;
use std::process::Command;

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
    shell::output(
        Command::new("git")
            .current_dir(root)
            .args(["init", "--quiet"]),
    )
    .unwrap();
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

/// The one complaint after `spoil` has been at the tiny workspace.
fn spoiled(spoil: impl FnOnce(&Path)) -> String {
    let folder = tiny();
    spoil(folder.path());
    let mut complaints = complaints(folder.path());
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    complaints.remove(0)
}

#[test]
fn a_tidy_workspace_passes() {
    assert_eq!(complaints(tiny().path()), [""; 0]);
}

#[test]
fn an_edge_that_climbs_is_named() {
    let said = spoiled(|root| {
        let edge = "[dependencies]\npartita-metrics = { path = \"../../blocks/metrics\" }\n";
        replace(
            root,
            "crates/base/core/Cargo.toml",
            "[dependencies]\n",
            edge,
        );
        replace(root, "crates/blocks/metrics/Cargo.toml", CORE, "");
    });
    assert_eq!(
        said,
        "crates/base/core/Cargo.toml:6: normal dependency on partita-metrics climbs (base to blocks); \
         move what both need one layer down"
    );
}

#[test]
fn a_level_edge_is_named_for_tests_too() {
    let said = spoiled(|root| {
        let edge = "[dev-dependencies]\npartita-linkage = { path = \"../linkage\" }\n\n[lints]";
        replace(root, "crates/blocks/metrics/Cargo.toml", "[lints]", edge);
    });
    assert!(
        said.starts_with(
            "crates/blocks/metrics/Cargo.toml:9: dev dependency on partita-linkage stays level"
        ),
        "{said}"
    );
}

#[test]
fn the_helper_of_tests_is_for_tests() {
    let helper = |root: &Path| {
        let manifest = "[package]\nname = \"partita-conformance\"\nedition = \"2024\"\n\n[lints]\nworkspace = true\n";
        write(root, "crates/dev/conformance/Cargo.toml", manifest);
        write(root, "crates/dev/conformance/src/lib.rs", LIBRARY);
    };
    let edge = "partita-conformance = { path = \"../../dev/conformance\" }\n\n";
    let said = spoiled(|root| {
        helper(root);
        replace(
            root,
            "crates/blocks/linkage/Cargo.toml",
            "[lints]",
            &format!("{edge}[lints]"),
        );
    });
    assert!(
        said.ends_with("partita-conformance is for tests only; make it a dev-dependency"),
        "{said}"
    );

    let folder = tiny();
    helper(folder.path());
    let edge = format!("[dev-dependencies]\n{edge}[lints]");
    replace(
        folder.path(),
        "crates/blocks/linkage/Cargo.toml",
        "[lints]",
        &edge,
    );
    assert_eq!(complaints(folder.path()), [""; 0]);
}

#[test]
fn a_crate_outside_the_layers_is_named() {
    let said = spoiled(|root| {
        let manifest = "[package]\nname = \"partita-attic\"\nedition = \"2024\"\n\n[lints]\nworkspace = true\n";
        write(root, "crates/attic/attic/Cargo.toml", manifest);
        write(root, "crates/attic/attic/src/lib.rs", LIBRARY);
    });
    assert!(
        said.starts_with(
            "crates/attic/attic/Cargo.toml:1: partita-attic is in no layer; put it into one of"
        ),
        "{said}"
    );
}

#[test]
fn a_rejected_spelling_is_named() {
    let name = ["max", "iter"].join("_");
    let said = spoiled(|root| {
        replace(
            root,
            "crates/base/core/src/lib.rs",
            "42",
            &format!("{{ let {name} = 42; {name} }}"),
        );
    });
    assert!(
        said.starts_with(&format!(
            "crates/base/core/src/lib.rs:5: `{name}` is not our word; say rounds"
        )),
        "{said}"
    );
}

#[test]
fn lints_that_are_not_inherited_are_named() {
    let said = spoiled(|root| {
        replace(
            root,
            "crates/base/core/Cargo.toml",
            "[lints]\nworkspace = true\n",
            "",
        )
    });
    assert!(
        said.starts_with("crates/base/core/Cargo.toml:1: partita-core does not inherit the lints"),
        "{said}"
    );
    let said = spoiled(|root| replace(root, "Cargo.toml", "deny", "warn"));
    assert!(
        said.starts_with("Cargo.toml:1: missing documentation is not denied"),
        "{said}"
    );
}

#[test]
fn a_circle_of_imports_is_named() {
    let said = spoiled(|root| {
        for (module, other) in [("a", "b"), ("b", "a")] {
            let text = format!(
                "//! {module}.\n\npub(crate) fn {module}() {{\n    crate::{other}::{other}();\n}}\n"
            );
            write(root, &format!("crates/base/core/src/{module}.rs"), &text);
        }
    });
    assert_eq!(
        said,
        "crates/base/core/src/a.rs:4: modules import in a circle: a → b → a; move what both need"
    );
}

#[test]
fn what_is_not_rust_is_named() {
    let said = spoiled(|root| replace(root, "crates/base/core/src/lib.rs", "42", "42)"));
    assert!(
        said.starts_with("crates/base/core/src/lib.rs:5: this is not Rust"),
        "{said}"
    );
}

#[test]
fn a_long_file_is_named() {
    let long = format!("{LIBRARY}{}", "\n".repeat(800));
    let said = spoiled(|root| write(root, "crates/base/core/src/lib.rs", &long));
    assert!(
        said.starts_with("crates/base/core/src/lib.rs:801: 806 lines, more than 800"),
        "{said}"
    );
}

#[test]
fn what_does_not_belong_at_the_top_is_named() {
    let said = spoiled(|root| write(root, "notes.txt", "remember the milk\n"));
    assert!(
        said.starts_with("notes.txt:1: does not belong at the top"),
        "{said}"
    );
    let said = spoiled(|root| {
        write(root, ".gitignore", "notes.txt\n");
        write(root, "notes.txt", "remember the milk\n");
        write(root, "scripts/run.sh", "true\n");
    });
    assert!(
        said.starts_with("scripts:1: does not belong at the top"),
        "{said}"
    );
}

#[test]
fn a_path_of_this_machine_is_named() {
    let said = spoiled(|root| {
        let inside = root.join("data.csv").display().to_string();
        write(
            root,
            "README.md",
            &format!("Read me.\n\nThe data are in {inside}.\n"),
        );
    });
    assert!(
        said.starts_with("README.md:3: a path of one machine ("),
        "{said}"
    );
}

#[test]
fn a_dead_link_is_named() {
    let text =
        "Read [this](docs/more.md#part), [that](https://example.org/x) and [below](#below).\n";
    let said = spoiled(|root| write(root, "README.md", text));
    assert_eq!(
        said,
        "README.md:1: a link to docs/more.md, which is not there; mend it or take it out"
    );
}

#[test]
fn a_crate_that_is_not_on_the_map_is_named() {
    let map = "| crate | what |\n|---|---|\n| `partita-core` | a |\n| `partita-metrics` | b |\n";
    let said = spoiled(|root| write(root, "docs/architecture.md", map));
    assert_eq!(
        said,
        "docs/architecture.md:1: partita-linkage is not on the map; give it a row"
    );
}
