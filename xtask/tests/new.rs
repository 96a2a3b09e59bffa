//! A new method compiles at once, and its own test fails until it is written.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a family's crate and the registry look like, without their methods.
const FAMILY: &str = "//! A family.\n\nmod old;\n\npub use old::OLD;\n";
const OLD: &str = "/// Something of an older file.\npub const OLD: u32 = 42;\n";
const REGISTRY: &str = include_str!("registry.rs.txt");

/// A workspace of the real core, one family and the registry. It lies where the last test run left it, so that cargo
/// builds into the same place every time.
fn workspace() -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-method");
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).unwrap();
    for file in ["Cargo.lock", "rust-toolchain.toml", "clippy.toml"] {
        fs::copy(checkout.join(file), root.join(file)).unwrap();
    }
    for core in ["crates/base/derive", "crates/base/core"] {
        copy(&checkout.join(core), &root.join(core));
    }
    let manifest = fs::read_to_string(checkout.join("Cargo.toml")).unwrap();
    // A few small tests are compiled sooner than optimised.
    let manifest = manifest.split("[profile.dev]").next().unwrap();
    let graph = "serde.workspace = true\nserde_json.workspace = true\n";
    let facade =
        "partita-graph.workspace = true\n\n[features]\ndefault = [\"graph\"]\ngraph = []\n";
    for (file, text) in [
        ("Cargo.toml", manifest.replace("\"xtask\"", "")),
        (
            "crates/methods/graph/Cargo.toml",
            package("partita-graph", graph),
        ),
        ("crates/methods/graph/src/lib.rs", FAMILY.into()),
        ("crates/methods/graph/src/old.rs", OLD.into()),
        (
            "crates/product/partita/Cargo.toml",
            package("partita", facade),
        ),
        ("crates/product/partita/src/lib.rs", REGISTRY.into()),
    ] {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn package(name: &str, dependencies: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion.workspace = true\nedition = \"2024\"\n\n[dependencies]\n\
         partita-core = {{ workspace = true, features = [\"methods\"] }}\n{dependencies}\n[lints]\nworkspace = true\n"
    )
}

/// Copies a folder with everything in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Whether a command succeeds, and what it says.
fn said(command: &mut Command) -> (bool, String) {
    let output = command.output().unwrap();
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.success(), String::from_utf8(both).unwrap())
}

fn new(root: &Path, method: &str, family: &str) -> (bool, String) {
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
    xtask.current_dir(root);
    said(xtask.args(["new", method, "--family", family]))
}

#[test]
fn a_new_method_compiles_and_asks_to_be_written() {
    let root = workspace();
    let (made, text) = new(&root, "two-words", "graph");
    assert!(made, "{text}");
    let read = |file: &str| fs::read_to_string(root.join(file)).unwrap();
    let registry = read("crates/product/partita/src/lib.rs");
    let line = "methods! {\n    \"graph\" => partita_graph::TWO_WORDS,\n}";
    assert!(registry.contains(line), "{registry}");
    let exported =
        "pub use two_words::{TWO_WORDS, TwoWordsDiagnostics, TwoWordsSettings, two_words};\n";
    let family = FAMILY.replace("mod old;", "mod old;\nmod two_words;");
    assert_eq!(read("crates/methods/graph/src/lib.rs"), family + exported);

    // A place of its own: crates of the same name would replace those of the checkout, whose tests may still need them.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-method-target");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(&root).env("CARGO_TARGET_DIR", target);
    let words = "test --quiet --offline --lib -p partita-graph -p partita --no-fail-fast";
    let (_, text) = said(cargo.env_remove("RUST_BACKTRACE").args(words.split(' ')));
    let unwritten = "two-words: this method is not written yet; write two_words in crates/methods/graph/src/two_words.rs";
    assert!(
        !text.contains("warning:") && text.contains(unwritten),
        "{text}"
    );
    assert!(text.contains("test result: ok. 0 passed"), "{text}");

    let (made, text) = new(&root, "two-words", "graph");
    let there = "crates/methods/graph/src/two_words.rs exists already";
    assert!(!made && text.contains(there), "{text}");
    let (made, text) = new(&root, "three-words", "attic");
    assert!(
        !made && text.contains("there is no family 'attic'"),
        "{text}"
    );
}
