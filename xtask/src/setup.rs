//! `setup`: is everything there that a build needs?

use std::process::Command;

use anyhow::{Result, bail};

use crate::shell;
use crate::workspace::Workspace;

/// What a build needs: the program, what asks it for its version, and where it comes from.
const NEEDED: &[(&str, &str)] = &[
    ("rustc", "install Rust from https://rustup.rs"),
    ("cargo", "install Rust from https://rustup.rs"),
    ("rustfmt", "run `rustup component add rustfmt`"),
    ("cargo-clippy", "run `rustup component add clippy`"),
    ("gcc", "install a C compiler, such as the package gcc"),
    ("git", "install the package git"),
];

/// Says what is there, fails if something is not, and builds the binary.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let missing = NEEDED
        .iter()
        .filter(|(program, remedy)| !present(program, remedy))
        .count();
    if missing > 0 {
        bail!(
            "{missing} of {} programs are missing; the lines above say where they come from",
            NEEDED.len()
        );
    }
    let binary = shell::step("build", || workspace.released("partita-cli", "partita"))?;
    println!("the binary is {}", workspace.show(&binary));
    Ok(())
}

fn present(program: &str, remedy: &str) -> bool {
    let version = shell::output(Command::new(program).arg("--version"));
    match &version {
        Ok(text) => println!("{program:<12} {}", text.lines().next().unwrap_or_default()),
        Err(_) => println!("{program:<12} missing: {remedy}"),
    }
    version.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_missing() {
        assert!(present("git", ""));
        assert!(!present("partita-no-such-program", "look elsewhere"));
    }
}
