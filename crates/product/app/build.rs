//! Tells the crate which commit it is built from, where there is a repository.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=PARTITA_COMMIT");
    let commit = std::env::var("PARTITA_COMMIT")
        .ok()
        .or_else(packed)
        .or_else(|| git(&["rev-parse", "HEAD"]).filter(|_| ours()));
    if let Some(commit) = commit {
        println!("cargo::rustc-env=PARTITA_COMMIT={commit}");
    }
    // Its file changes with every commit and every checkout.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// The commit that `cargo package` noted.
fn packed() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let sum = text.split("\"sha1\": \"").nth(1)?;
    Some(sum.split('"').next()?.to_owned())
}

/// Whether this file is one of the repository around it, which may be somebody's with our sources inside.
fn ours() -> bool {
    git(&["ls-files", "build.rs"]).is_some()
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
