//! `cargo xtask tidy` as it is called: what it prints, and how it exits.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn tidy(root: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .current_dir(root)
        .arg("tidy")
        .output()
        .expect("it was built for this test")
}

#[test]
fn tidy_fails_when_something_is_not_and_says_what() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let source = root.join("crates/base/core/src");
    fs::create_dir_all(&source).unwrap();
    let workspace = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*/*\"]\n[workspace.lints.rust]\nmissing_docs = \"deny\"\n";
    let package =
        "[package]\nname = \"partita-core\"\nedition = \"2024\"\n[lints]\nworkspace = true\n";
    fs::write(root.join("Cargo.toml"), workspace).unwrap();
    fs::write(root.join("crates/base/core/Cargo.toml"), package).unwrap();
    fs::write(
        source.join("lib.rs"),
        "//! A crate.\n\n/// The answer.\npub const ANSWER: u32 = 42;\n",
    )
    .unwrap();
    assert!(
        Command::new("git")
            .current_dir(root)
            .args(["init", "--quiet"])
            .status()
            .unwrap()
            .success()
    );

    let fine = tidy(root);
    assert_eq!(
        (
            fine.status.code(),
            String::from_utf8_lossy(&fine.stdout).as_ref()
        ),
        (Some(0), "tidy\n")
    );

    fs::write(
        source.join("lib.rs"),
        "//! A crate.\n\npub use std::fmt::*;\n",
    )
    .unwrap();
    let bad = tidy(root);
    assert_eq!(bad.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&bad.stdout),
        "crates/base/core/src/lib.rs:3: a glob hides what is public; name what is re-exported\n"
    );
    assert_eq!(
        String::from_utf8_lossy(&bad.stderr),
        "error: 1 thing is not tidy\n"
    );
}
