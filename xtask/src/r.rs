//! `r`: the R package, built from the clone, installed into a library of its own under the target folder, and tested there.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use clap::Args;
use serde_json::{Map, Value};

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

/// Where people build it: the crates of other systems are left out of the source package.
const SYSTEMS: [&str; 5] = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-gnu",
];

/// Flags of `cargo xtask r`.
#[derive(Args, Default)]
pub(crate) struct Arguments {
    /// Build what people install: with all optimisations, without Parquet, Arrow and spreadsheets.
    #[arg(long)]
    release: bool,
    /// Pack the source package with all crates in it, and let R check it without a network and with an empty folder of cargo's.
    #[arg(long)]
    check: bool,
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
    if arguments.check {
        return source_package(workspace, &workspace.target("dist")?, arguments.release).map(drop);
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
    install(workspace, &library, release)?;
    let mut tests = r(&library, TESTS);
    tests.arg(workspace.path(PACKAGE).join("tests/testthat"));
    tests.env("PARTITA_BINARY", binary);
    tests.env("PARTITA_GUIDE", workspace.path(GUIDE));
    shell::run(tests.args(only))?;
    shell::run(&mut r(&library, EXAMPLES))
}

/// R with the package, built with or without all optimisations.
pub(crate) fn for_benchmark(workspace: &Workspace, optimised: bool) -> Result<Command> {
    ensure!(
        R.provided("the R package")?,
        "the benchmark needs R and its packages"
    );
    let library = workspace.target("r/library")?;
    install(workspace, &library, optimised)?;
    Ok(with_library("Rscript --vanilla", &library))
}

/// Builds and installs the package as a user does from the clone.
fn install(workspace: &Workspace, library: &Path, release: bool) -> Result<()> {
    fs::create_dir_all(library)?;
    let mut install = shell::command("R CMD INSTALL --clean --no-test-load -l");
    install.arg(library).arg(workspace.path(PACKAGE));
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

/// Packs the package with all Rust sources that it is built of and with pages of the guide as vignettes, and lets R check it with no network.
pub(crate) fn source_package(workspace: &Workspace, dist: &Path, release: bool) -> Result<PathBuf> {
    let place = emptied(&workspace.target("r/source")?)?;
    let package = place.join("partita");
    for file in tidy::files(workspace)? {
        let Some(inside) = place_in_source(&file) else {
            continue;
        };
        let (from, to) = (workspace.path(&file), package.join(inside));
        fs::create_dir_all(to.parent().unwrap_or(&place))?;
        match to.extension().and_then(OsStr::to_str) {
            Some("toml") => fs::write(to, built_alone(&fs::read_to_string(from)?))?,
            Some("Rmd") => fs::write(to, vignette(&fs::read_to_string(from)?))?,
            _ => fs::copy(from, to).map(drop)?,
        }
    }
    pack_crates(workspace, &package.join("src/rust"))?;
    let offline = |mut command: Command| -> Result<Command> {
        command.env("CARGO_TARGET_DIR", workspace.target("r/source_target")?);
        command.env("CARGO_HOME", workspace.target("r/no_crates")?);
        command.env("CARGO_NET_OFFLINE", "true").current_dir(&place);
        if !release {
            command.env("PARTITA_R_PROFILE", "dev");
        }
        Ok(command)
    };
    emptied(&workspace.target("r/no_crates")?)?;
    shell::run(&mut offline(shell::command("R CMD build partita"))?)?;
    fs::remove_dir_all(&package)?;
    let packed = only_file(&place)?;
    let size = fs::metadata(&packed)?.len() as f64 / 1e6;
    shell::run(offline(shell::command("R CMD check --no-manual"))?.arg(&packed))?;
    let log = fs::read_to_string(place.join("partita.Rcheck/00check.log"))?;
    ensure!(
        !log.contains("... WARNING"),
        "the check has warnings, see above"
    );
    fs::create_dir_all(dist)?;
    let to = dist.join(packed.file_name().unwrap_or_default());
    fs::copy(&packed, &to)?;
    println!("{}: {size:.1} MB", workspace.show(&to));
    Ok(to)
}

/// A manifest without what only tests, examples and our tools need.
fn built_alone(manifest: &str) -> String {
    let rare = ["[dev-dependencies", "[[test", "[[example", "[[bench"];
    let mut kept = String::new();
    let mut keep = true;
    for line in manifest.lines() {
        if line.starts_with('[') {
            keep = !rare.iter().any(|section| line.starts_with(section));
        }
        if keep {
            kept += &line.replace(", \"xtask\"", "");
            kept.push('\n');
        }
    }
    kept
}

/// A page of the guide whose R is run when the package is built. Links to pages that the package lacks become their texts.
fn vignette(page: &str) -> String {
    let title = page
        .lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches("# ");
    let mut text = format!(
        "---\ntitle: \"{title}\"\nvignette: >\n  %\\VignetteIndexEntry{{{title}}}\n  %\\VignetteEngine{{knitr::knitr}}\n  %\\VignetteEncoding{{UTF-8}}\n---\n\n\
         ```{{r, include = FALSE}}\nknitr::opts_knit$set(root.dir = tempdir())\n```\n"
    );
    for line in page.lines().skip(1) {
        let mut line = line.replace("```r", "```{r}");
        while let Some(end) = line.find(".md)") {
            let (Some(open), Some(middle)) = (line[..end].rfind('['), line[..end].rfind("]("))
            else {
                break;
            };
            let (word, target) = (
                line[open + 1..middle].to_owned(),
                line[middle + 2..end].to_owned(),
            );
            let link = if is_page(&target) {
                format!("[{word}]({target}.html)")
            } else {
                word
            };
            line.replace_range(open..end + 4, &link);
        }
        text += &line;
        text.push('\n');
    }
    text
}

/// Whether it is a page about R, by its name.
fn is_page(name: &str) -> bool {
    name == "from-r" || name.starts_with("from-r-")
}

/// Puts the crates of others that the package in this folder is built of into an archive beside it. Cargo asks for all that the lock file
/// names; of those that are not compiled only the names are kept.
fn pack_crates(workspace: &Workspace, place: &Path) -> Result<()> {
    let cargo = |words: &str| {
        let mut command = workspace.cargo(words);
        command.current_dir(place);
        command
    };
    shell::output(&mut cargo("vendor --quiet --versioned-dirs vendor"))?;
    let mut tree =
        cargo("tree -p partita-r --features r -e normal,build --prefix none --format {p}");
    for system in SYSTEMS {
        tree.args(["--target", system]);
    }
    let listed = shell::output(&mut tree)?;
    // Lines such as `rand v0.9.2` and `serde_derive v1.0.228 (proc-macro)`.
    let built: BTreeSet<String> = listed
        .lines()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join("-"))
        .map(|crate_name| crate_name.replacen("-v", "-", 1))
        .collect();
    for folder in fs::read_dir(place.join("vendor"))? {
        let folder = folder?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let is_built = built.contains(&*name);
        for inside in fs::read_dir(&folder)? {
            let inside = inside?.path();
            let name = inside.file_name().unwrap_or_default().to_string_lossy();
            let rare = name.starts_with("test") || name.starts_with("bench");
            let kept = ["Cargo.toml", ".cargo-checksum.json"].contains(&&*name);
            match (inside.is_dir(), is_built && !rare || kept) {
                (_, true) => {}
                (true, false) => fs::remove_dir_all(inside)?,
                (false, false) => fs::remove_file(inside)?,
            }
        }
        // The samples of METIS are most of it.
        if let Ok(samples) = folder.join("vendor/metis/graphs").canonicalize() {
            fs::remove_dir_all(samples)?;
        }
        if !is_built {
            fs::create_dir(folder.join("src"))?;
            fs::write(folder.join("src/lib.rs"), "")?;
        }
        // The sum of the whole crate is that of the lock file; those of its files are of what is no longer there.
        let sums = folder.join(".cargo-checksum.json");
        let mut named: Map<String, Value> = serde_json::from_str(&fs::read_to_string(&sums)?)?;
        named.insert("files".into(), Value::Object(Map::new()));
        fs::write(sums, Value::Object(named).to_string())?;
    }
    let mut archive =
        shell::command("tar --sort=name --owner=0 --group=0 --mtime=@0 -cJf vendor.tar.xz vendor");
    shell::run(archive.env("XZ_OPT", "-9").current_dir(place))?;
    Ok(fs::remove_dir_all(place.join("vendor"))?)
}

/// Where a file of the workspace lies in the source package, if it is needed there.
fn place_in_source(file: &str) -> Option<String> {
    let rust = |file: &str| Some(format!("src/rust/{file}"));
    if let Some(page) = file
        .strip_prefix("docs/guide/")
        .and_then(|page| page.strip_suffix(".md"))
    {
        return is_page(page).then(|| format!("vignettes/{page}.Rmd"));
    }
    if let Some(inside) = file.strip_prefix("crates/doors/r/") {
        let of_cargo = matches!(inside.rsplit('.').next(), Some("rs" | "toml"));
        return if of_cargo {
            rust(file)
        } else {
            Some(inside.into())
        };
    }
    let layers = ["base", "blocks", "input", "methods", "product"];
    let below = |layer: &&str| {
        file.strip_prefix("crates/")?
            .strip_prefix(*layer)?
            .strip_prefix('/')
    };
    let top = ["Cargo.toml", "Cargo.lock", "README.md"].contains(&file);
    let crates = layers.iter().find_map(below).is_some_and(|inside| {
        !["/peers/", "/browser/", "/tests/", "/examples/"]
            .iter()
            .any(|rare| inside.contains(rare))
    });
    (top || crates).then(|| rust(file)).flatten()
}

/// R with this program and this library before its own.
fn r(library: &Path, program: &str) -> Command {
    let mut command = with_library("Rscript --vanilla -e", library);
    command.arg(program);
    command
}

fn with_library(words: &str, library: &Path) -> Command {
    let mut libraries = OsString::from(library);
    if let Some(others) = env::var_os("R_LIBS") {
        libraries.push(if cfg!(windows) { ";" } else { ":" });
        libraries.push(others);
    }
    let mut command = shell::command(words);
    command.env("R_LIBS", libraries);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_vignettes_and_manifests_lose_what_is_rare() {
        let made = vignette("# A title\n```r\nf()\n```\n[one](from-r.md), [other](faq.md).");
        assert!(made.starts_with("---\ntitle: \"A title\"\n"));
        assert!(made.ends_with("```{r}\nf()\n```\n[one](from-r.html), other.\n"));
        let manifest = "[package]\nname = \"x\"\n[dev-dependencies]\ny = \"1\"\n[lints]\n";
        assert_eq!(built_alone(manifest), "[package]\nname = \"x\"\n[lints]\n");
    }
}
