//! `r`: the R package, built from the clone, installed into a library of its own under the target folder, and tested there.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::python::{emptied, only_file};
use crate::tools::R;
use crate::workspace::Workspace;
use crate::{shell, tidy};

/// Where the package lies.
const PACKAGE: &str = "crates/doors/r";

/// Pages whose R the tests run.
const GUIDE: &str = "docs/guide";

/// Features of what the tests load: the files of all doors, which the other tests have compiled already.
const TESTED: &str = "r,full";

/// Runs all tests, or those of the files that have a text in their names, and sums them up as the other tests do.
const TESTS: &str = r#"
words <- commandArgs(TRUE)
ran <- testthat::test_dir(words[1], package = "partita", load_package = "installed", stop_on_failure = FALSE,
    reporter = "check", filter = if (length(words) > 1) words[2])
ran <- as.data.frame(ran)
failed <- sum(ran$failed) + sum(ran$error)
cat(sprintf("==== %d passed, %d failed\n", sum(ran$passed), failed))
if (failed > 0) quit(status = 1)
"#;

/// Runs the examples of the manual.
const EXAMPLES: &str = r#"
library(partita)
grDevices::pdf(NULL)
pages <- sub("[.]Rd$", "", names(tools::Rd_db("partita")))
for (page in pages) utils::example(page, package = "partita", character.only = TRUE, ask = FALSE, echo = FALSE)
cat(sprintf("examples of %d pages\n", length(pages)))
"#;

/// What the source package is tried by.
const TRIED: &str = r#"
library(partita)
found <- consensus_cluster(as.matrix(iris[1:4]), 3, seed = 1)
stopifnot(length(found$cluster) == 150, max(table(found$cluster, iris$Species)[, "setosa"]) == 50)
"#;

/// Flags of `cargo xtask r`.
#[derive(Args, Default)]
pub(crate) struct Arguments {
    /// Build what people install: with all optimisations, without Parquet, Arrow and spreadsheets.
    #[arg(long)]
    release: bool,
    /// Only the test files that have this text in their names, such as conditions.
    #[arg(last = true)]
    only: Option<String>,
}

/// As a step of `test`: the package beside the command line of the tests.
pub(crate) fn step(workspace: &Workspace) -> Result<()> {
    if !R.provided("the R package")? {
        return Ok(());
    }
    let binary = workspace.tested("partita")?;
    test(workspace, false, &binary, None)
}

/// Builds the command line, which the package must agree with, and the package; installs and tests it.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if !R.provided("the R package")? {
        return Ok(());
    }
    shell::run(&mut workspace.cargo("build --quiet -p partita-cli"))?;
    let binary = workspace.target(&format!("debug/partita{}", env::consts::EXE_SUFFIX))?;
    test(
        workspace,
        arguments.release,
        &binary,
        arguments.only.as_deref(),
    )
}

fn test(workspace: &Workspace, release: bool, binary: &Path, only: Option<&str>) -> Result<()> {
    let lint = format!("clippy --quiet -p partita-r --features {TESTED} -- -D warnings");
    shell::run(&mut workspace.cargo(&lint))?;
    let library = workspace.target("r/library")?;
    install(workspace, &workspace.path(PACKAGE), &library, release)?;
    let mut tests = r(&library, TESTS);
    tests.arg(workspace.path(PACKAGE).join("tests/testthat"));
    tests.env("PARTITA_BINARY", binary);
    tests.env("PARTITA_GUIDE", workspace.path(GUIDE));
    shell::run(tests.args(only))?;
    shell::run(&mut r(&library, EXAMPLES))
}

/// Builds and installs the package as a user does from the clone, or from a source package.
fn install(workspace: &Workspace, package: &Path, library: &Path, release: bool) -> Result<()> {
    fs::create_dir_all(library)?;
    let mut install = shell::command("R CMD INSTALL --clean --no-test-load -l");
    install.arg(library).arg(package);
    install.env("CARGO_TARGET_DIR", workspace.target("")?);
    if !release {
        install
            .env("PARTITA_R_PROFILE", "dev")
            .env("PARTITA_R_FEATURES", TESTED);
    }
    shell::run(&mut install)?;
    let built = library.join("partita/libs/partita.so");
    if let Ok(file) = fs::metadata(&built) {
        println!("partita.so: {:.1} MB", file.len() as f64 / 1e6);
    }
    Ok(())
}

/// Packs the package with the Rust sources that it is built of, which it takes from the clone around it otherwise; installs it from that
/// into a library of its own, and tries it there. Crates of others are fetched by cargo when it is installed.
pub(crate) fn source_package(workspace: &Workspace, dist: &Path) -> Result<PathBuf> {
    let place = emptied(&workspace.target("r/source")?)?;
    for file in tidy::files(workspace)? {
        let Some(inside) = place_in_source(&file) else {
            continue;
        };
        let to = place.join("partita").join(inside);
        fs::create_dir_all(to.parent().unwrap_or(&place))?;
        fs::copy(workspace.path(&file), to)?;
    }
    let manifest = place.join("partita/src/rust/Cargo.toml");
    let text = fs::read_to_string(&manifest)?;
    fs::write(&manifest, text.replace(", \"xtask\"", ""))?;
    shell::run(shell::command("R CMD build partita").current_dir(&place))?;
    fs::remove_dir_all(place.join("partita"))?;
    let packed = only_file(&place)?;
    let library = emptied(&workspace.target("r/source_library")?)?;
    install(workspace, &packed, &library, false)?;
    shell::run(&mut r(&library, TRIED))?;
    let to = dist.join(packed.file_name().unwrap_or_default());
    fs::copy(&packed, &to)?;
    Ok(to)
}

/// Where a file of the workspace lies in the source package, if it is needed there.
fn place_in_source(file: &str) -> Option<String> {
    let rust = |file: &str| Some(format!("src/rust/{file}"));
    if let Some(inside) = file.strip_prefix("crates/doors/r/") {
        let of_cargo = matches!(inside.rsplit('.').next(), Some("rs" | "toml"));
        return if of_cargo {
            rust(file)
        } else {
            Some(inside.into())
        };
    }
    let layers = [
        "base",
        "blocks",
        "input",
        "methods",
        "product",
        "dev/conformance",
    ];
    let below = |layer: &&str| {
        file.strip_prefix("crates/")?
            .strip_prefix(*layer)?
            .strip_prefix('/')
    };
    let top = ["Cargo.toml", "Cargo.lock", "README.md"].contains(&file);
    let crates = layers.iter().find_map(below).is_some_and(|inside| {
        !["/peers/", "/browser/", "/tests/data/"]
            .iter()
            .any(|rare| inside.contains(rare))
    });
    (top || crates).then(|| rust(file)).flatten()
}

/// R with this program and this library before its own.
fn r(library: &Path, program: &str) -> Command {
    let mut libraries = OsString::from(library);
    if let Some(others) = env::var_os("R_LIBS") {
        libraries.push(if cfg!(windows) { ";" } else { ":" });
        libraries.push(others);
    }
    let mut command = shell::command("Rscript --vanilla -e");
    command.arg(program).env("R_LIBS", libraries);
    command
}
