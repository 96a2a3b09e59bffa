//! A new method compiles at once, and its own test fails until it is written.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a family's crate and the registry look like, without their methods.
const FAMILY: &str = "//! A family.\n\nmod old;\n\npub use old::OLD;\n";
const OLD: &str = "/// Something of an older file.\npub const OLD: u32 = 42;\n";
const REGISTRY: &str = include_str!("registry.rs.txt");

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the checkout")
        .to_owned()
}

/// A workspace of the real core, one family and the registry. It lies where the last test run left it, so that cargo
/// builds into the same place every time.
fn workspace() -> PathBuf {
    let (root, checkout) = (
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-method"),
        checkout(),
    );
    let _ = fs::remove_dir_all(&root);
    let manifest = fs::read_to_string(checkout.join("Cargo.toml"))
        .unwrap()
        .replace("\"xtask\"", "");
    // A few small tests are compiled sooner than optimised.
    let manifest = manifest.split("[profile.dev]").next().unwrap();
    write(&root, "Cargo.toml", manifest);
    for file in ["Cargo.lock", "rust-toolchain.toml", "clippy.toml"] {
        fs::copy(checkout.join(file), root.join(file)).unwrap();
    }
    for core in ["crates/base/derive", "crates/base/core"] {
        copy(&checkout.join(core), &root.join(core));
    }
    let package = |name: &str, dependencies: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion.workspace = true\nedition = \"2024\"\n\n[dependencies]\npartita-core = {{ workspace = true, features = [\"methods\"] }}\n{dependencies}\n[lints]\nworkspace = true\n"
        )
    };
    let serde = "serde.workspace = true\nserde_json.workspace = true\n";
    write(
        &root,
        "crates/methods/graph/Cargo.toml",
        &package("partita-graph", serde),
    );
    write(&root, "crates/methods/graph/src/lib.rs", FAMILY);
    write(&root, "crates/methods/graph/src/old.rs", OLD);
    write(
        &root,
        "crates/product/partita/Cargo.toml",
        &package(
            "partita",
            "partita-graph.workspace = true\n\n[features]\ndefault = [\"graph\"]\ngraph = []\n",
        ),
    );
    write(&root, "crates/product/partita/src/lib.rs", REGISTRY);
    root
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

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn xtask(root: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .current_dir(root)
        .args(arguments)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_new_method_compiles_and_asks_to_be_written() {
    let root = workspace();
    let made = xtask(&root, &["new", "two-words", "--family", "graph"]);
    assert!(made.status.success(), "{}", said(&made));
    let registry = fs::read_to_string(root.join("crates/product/partita/src/lib.rs")).unwrap();
    assert!(
        registry.contains("methods! {\n    \"graph\" => partita_graph::TWO_WORDS,\n}"),
        "{registry}"
    );

    // A place of its own: crates of the same name would replace those of the checkout, whose tests may still need them.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-method-target");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(&root)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("RUST_BACKTRACE");
    let tested = cargo
        .args([
            "test",
            "--quiet",
            "--offline",
            "--lib",
            "-p",
            "partita-graph",
            "-p",
            "partita",
            "--no-fail-fast",
        ])
        .output()
        .unwrap();
    let text = said(&tested);
    assert!(!text.contains("warning:"), "{text}");
    assert!(
        text.contains(
            "two-words: this method is not written yet; write two_words in crates/methods/graph/src/two_words.rs"
        ),
        "{text}"
    );
    assert!(text.contains("test result: ok. 0 passed"), "{text}");

    let again = xtask(&root, &["new", "two-words", "--family", "graph"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(
        said(&again).contains("crates/methods/graph/src/two_words.rs exists already"),
        "{}",
        said(&again)
    );
    let nowhere = xtask(&root, &["new", "three-words", "--family", "attic"]);
    assert!(
        said(&nowhere).contains("there is no family 'attic'"),
        "{}",
        said(&nowhere)
    );
}
