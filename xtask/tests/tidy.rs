//! `cargo xtask tidy` as it is called: what it prints, and how it exits.

use std::fs;
use std::path::Path;
use std::process::Command;

fn tidy(root: &Path) -> (Option<i32>, String) {
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let output = xtask.current_dir(root).arg("tidy").output();
    let output = output.expect("it was built for this test");
    let both = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(both).expect("text");
    (output.status.code(), text)
}

#[test]
fn tidy_fails_when_something_is_not_and_says_what() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("crates/base/core/src")).unwrap();
    let write = |file: &str, text: &str| fs::write(root.join(file), text).unwrap();
    write(
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*/*\"]\n[workspace.lints.rust]\nmissing_docs = \"deny\"\n",
    );
    write(
        "crates/base/core/Cargo.toml",
        "[package]\nname = \"partita-core\"\nedition = \"2024\"\n[lints]\nworkspace = true\n",
    );
    let library = "crates/base/core/src/lib.rs";
    write(
        library,
        "//! A crate.\n\n/// The answer.\npub const ANSWER: u32 = 42;\n",
    );
    let mut git = Command::new("git");
    let made = git.current_dir(root).args(["init", "--quiet"]).status();
    assert!(made.unwrap().success());
    assert_eq!(tidy(root), (Some(0), "tidy\n".into()));

    write(library, "//! A crate.\n\npub use std::fmt::*;\n");
    let complaint =
        "crates/base/core/src/lib.rs:3: a glob hides what is public; name what is re-exported\n";
    let said = format!("{complaint}error: 1 thing is not tidy\n");
    assert_eq!(tidy(root), (Some(1), said));
}
