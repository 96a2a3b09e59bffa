//! Programs and libraries that are not ours: whether they are there, and where they come from.

use std::env;
use std::fs::{File, TryLockError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::shell::{self, works};
use crate::workspace::Workspace;

/// What every build needs, and where it comes from.
const BUILD: &[(&str, &str)] = &[
    ("rustc", "install Rust from https://rustup.rs"),
    ("cargo", "install Rust from https://rustup.rs"),
    ("rustfmt", "run `rustup component add rustfmt`"),
    ("cargo-clippy", "run `rustup component add clippy`"),
    ("gcc", "install a C compiler, such as the package gcc"),
    ("git", "install the package git"),
];

/// Something that a rare step needs.
pub(crate) struct Tool {
    name: &'static str,
    /// A command that succeeds where it is there.
    check: &'static str,
    /// What installs it, as root where it is `apt-get`.
    install: &'static str,
}

const fn tool(name: &'static str, check: &'static str, install: &'static str) -> Tool {
    Tool {
        name,
        check,
        install,
    }
}

pub(crate) const OPENBLAS: Tool = tool(
    "OpenBLAS",
    "pkg-config --exists openblas",
    "apt-get install -y --no-install-recommends pkg-config libopenblas-dev",
);
pub(crate) const NODE: Tool = tool(
    "node",
    "npm --version",
    "apt-get install -y --no-install-recommends nodejs npm",
);
pub(crate) const CHROMIUM: Tool = tool(
    "Chromium",
    "chromium --version",
    "apt-get install -y --no-install-recommends chromium",
);
/// What Spark runs on.
pub(crate) const JAVA: Tool = tool(
    "Java runtime",
    "java -version",
    "apt-get install -y --no-install-recommends default-jre-headless",
);
/// R, and the packages that the tests of ours use.
pub(crate) const R: Tool = tool(
    "R with testthat",
    "Rscript -e library(testthat)",
    "apt-get install -y --no-install-recommends r-base-core r-base-dev r-cran-testthat r-cran-clue r-cran-knitr r-cran-markdown r-cran-matrix r-cran-seuratobject r-bioc-consensusclusterplus r-bioc-singlecellexperiment",
);
/// What libFuzzer is compiled with.
pub(crate) const CPP: Tool = tool(
    "C++ compiler",
    "c++ --version",
    "apt-get install -y --no-install-recommends g++",
);
/// What has the address sanitizer.
pub(crate) const NIGHTLY: Tool = tool(
    "nightly toolchain",
    "rustup run nightly rustc -V",
    "rustup toolchain install nightly --profile minimal",
);

/// Whether this is a run of the checks.
pub(crate) fn is_ci() -> bool {
    env::var_os("CI").is_some()
}

impl Tool {
    fn is_there(&self) -> bool {
        let named = self.name == CHROMIUM.name && env::var_os("PARTITA_CHROMIUM").is_some();
        named || works(self.check)
    }

    /// Whether it is there; if not, what is left out is said. Where checks run it is installed, and must be there then.
    pub(crate) fn provided(&self, what: &str) -> Result<bool> {
        let there = self.is_there() || is_ci() && self.install();
        let Self { name, install, .. } = self;
        ensure!(
            there || !is_ci(),
            "there is no {name}; `{install}`, or take CI off"
        );
        if !there {
            println!("left out: {what}, without {name} (`{install}`)");
        }
        Ok(there)
    }

    /// Installs it, one process at a time: steps that work beside others are processes of their own.
    fn install(&self) -> bool {
        static INSTALLING: Mutex<()> = Mutex::new(());
        let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(lock) = File::create(env::temp_dir().join("partita-installs.lock")) else {
            return false;
        };
        // Another process may install this first and something else after it.
        while !self.is_there() && matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            thread::sleep(Duration::from_secs(1));
        }
        let update = || !self.install.starts_with("apt-get") || works("apt-get update -q");
        self.is_there() || update() && works(self.install) && self.is_there()
    }
}

/// Where checks run: installs what later steps need while the first ones compile.
pub(crate) fn install_ahead() {
    if is_ci() {
        thread::spawn(|| {
            let all = [OPENBLAS, NODE, CHROMIUM, JAVA, R, CPP];
            all.iter()
                .filter(|tool| tool.is_there() || tool.install())
                .count()
        });
    }
}

/// `setup`: says what is there, fails if something is not, and builds the binary.
pub(crate) fn setup(workspace: &Workspace) -> Result<()> {
    let missing = BUILD.iter().filter(|(name, remedy)| !said(name, remedy));
    let missing = missing.count();
    let all = BUILD.len();
    ensure!(
        missing == 0,
        "{missing} of {all} programs are missing; the lines above say where they come from"
    );
    let binary = workspace.released("partita-cli", "partita")?;
    println!("the binary is {}", workspace.show(&binary));
    Ok(())
}

fn said(program: &str, remedy: &str) -> bool {
    let version = shell::output(&mut shell::command(&format!("{program} --version")));
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
        assert!(said("git", ""));
        assert!(!said("partita-no-such-program", "look elsewhere"));
    }
}
