//! Steps of `test --all` that need what not every machine has, and say so where it is absent.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::tools::{CHROMIUM, NIGHTLY, NODE, OPENBLAS, is_ci};
use crate::workspace::Workspace;
use crate::{python, shell, tidy};

/// The only target that the checker is known to work on with the kernels that are chosen while running.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The eigensolver of LAPACK beside our own.
const LAPACK: &str = "--package partita-spectral --features partita-spectral/lapack";

/// Modules of safe code alone, whose tests take longest without optimisation.
const SAFE: &str = "--skip basis:: --skip chebyshev:: --skip cluster_similarity --skip dense:: --skip gp_mgla \
    --skip hypergraph --skip lanczos:: --skip row_cut --skip swaps::";

/// The kernels, on every level that the machine has, and k-means, which calls them with data of its own, under the address
/// sanitizer, and what C code is behind: graphs with METIS, eigenproblems with LAPACK. C code is not instrumented; what it writes
/// beyond what was allocated is seen all the same. Dependencies are compiled for this step alone: without optimisation, which takes
/// longer than the tests.
pub(crate) fn sanitizer(workspace: &Workspace) -> Result<()> {
    let lapack = if OPENBLAS.provided("LAPACK")? {
        LAPACK
    } else {
        ""
    };
    let possible = cfg!(all(target_arch = "x86_64", target_os = "linux"));
    if !possible || !NIGHTLY.provided("the sanitizer")? {
        let test = format!("test --quiet --lib --profile unoptimised {lapack} lapack");
        return if lapack.is_empty() {
            Ok(())
        } else {
            shell::run(&mut workspace.cargo(&test))
        };
    }
    let mut cargo = workspace.command(&format!(
        "rustup run nightly cargo test --quiet --lib --profile unoptimised --target {TARGET} \
         --package partita-kernels --package partita-kmeans --package partita-graph {lapack}"
    ));
    cargo
        .arg("--target-dir")
        .arg(workspace.target("sanitizer")?);
    // This cargo was started by another, which must not choose the toolchain.
    for name in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "RUSTC_WRAPPER"] {
        cargo.env_remove(name);
    }
    cargo.arg("--").args(SAFE.split_whitespace());
    shell::run(cargo.env("RUSTFLAGS", "-Zsanitizer=address"))
}

/// The workflows against the schema of the service that runs them.
pub(crate) fn workflows(workspace: &Workspace) -> Result<()> {
    if python::left_out() {
        return Ok(());
    }
    let environment = workspace.target("workflows")?;
    python::made(&environment, &python::python()?, "check-jsonschema")?;
    let words = "--builtin-schema vendor.github-workflows";
    let mut check = python::program(&environment, "check-jsonschema", words);
    let files = tidy::files(workspace)?;
    let files = files
        .iter()
        .filter(|file| file.starts_with(".github/workflows"));
    shell::run(check.current_dir(workspace.root()).args(files))
}

/// Reports in a browser without network: hover, sort, search, themes, accessibility.
pub(crate) fn browser(workspace: &Workspace) -> Result<()> {
    if !NODE.provided("reports in a browser")? || !CHROMIUM.provided("reports in a browser")? {
        return Ok(());
    }
    let pages = workspace.target("reports")?;
    // The tests have built it; a release of it would take longer than what it does.
    shell::run(&mut workspace.cargo("build --quiet --workspace --example reports"))?;
    shell::run(Command::new(workspace.target("debug/examples/reports")?).arg(&pages))?;
    let folder = workspace.path("crates/product/report/browser");
    shell::run(shell::command("npm ci --silent --no-audit --no-fund").current_dir(&folder))?;
    let mut files: Vec<PathBuf> = fs::read_dir(&pages)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "html"));
    files.sort();
    let mut check = shell::command("node check.mjs");
    check.current_dir(&folder).args(&files);
    // Pictures of whole pages are for people to look at, and take as long as all that is checked.
    if !is_ci() {
        check
            .arg("--screenshots")
            .arg(workspace.target("screenshots")?);
    }
    shell::run(&mut check)
}
