//! `python`: the Python package, built as a wheel, installed into an environment of its own under the target folder, and tested there.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::workspace::Workspace;
use crate::{optional, shell};

/// What the tests use.
const TESTED_WITH: &[&str] = &[
    "maturin>=1.9,<2",
    "numpy",
    "pytest",
    "mypy",
    "pyright[nodejs]",
    "scikit-learn",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "matplotlib",
    "anndata",
    "tqdm",
    "distributed",
    "pyspark",
    "snakemake",
];

/// The versions of Python that the wheel is for.
const VERSIONS: [&str; 4] = ["3.10", "3.11", "3.12", "3.13"];

/// The most bytes of a wheel that people download.
const MOST_BYTES: u64 = 15 << 20;

/// Flags of `cargo xtask python`.
#[derive(Args, Default)]
pub(crate) struct Arguments {
    /// Build what people install: with all optimisations, checked for its size.
    #[arg(long)]
    release: bool,
    /// Words for pytest, such as -k interrupts.
    #[arg(last = true)]
    pytest: Vec<String>,
}

/// As a step of `test`: left out without a Python, unless checks run.
pub(crate) fn step(workspace: &Workspace) -> Result<()> {
    if python().is_err() && !optional::is_ci() {
        println!("left out: there is no Python 3.10 or later (package python3-venv)");
        return Ok(());
    }
    if !optional::java() {
        println!("left out: Spark, without a Java runtime (package default-jre-headless)");
    }
    let binary = workspace.tested("partita")?;
    check(workspace, &Arguments::default(), &binary)
}

/// Builds the command line, which the package must agree with, and the package; installs and tests it.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    // Both at once: the command line asks the most of dependencies, which are compiled once then.
    shell::run(&mut workspace.cargo(["build", "--quiet", "-p", "partita-cli", "-p", "partita-python"]))?;
    let binary = workspace.metadata()?.target_directory.join(format!("debug/partita{}", env::consts::EXE_SUFFIX));
    check(workspace, arguments, &binary)
}

/// Builds, installs, tests beside this command line.
fn check(workspace: &Workspace, arguments: &Arguments, binary: &Path) -> Result<()> {
    let folder = workspace.metadata()?.target_directory.join("python");
    let environment = environment(&folder)?;
    let wheel = wheel(workspace, &environment, &folder, arguments.release)?;
    install(&environment, &wheel)?;
    tests(workspace, &environment, binary, &arguments.pytest)?;
    if !arguments.pytest.is_empty() {
        return Ok(());
    }
    types(workspace, &environment)?;
    VERSIONS.iter().try_for_each(|version| smoke(&folder, &wheel, version))
}

/// The interpreter that the environment is made of.
fn python() -> Result<String> {
    let named = env::var("PARTITA_PYTHON").ok();
    let candidates = named.into_iter().chain(["python3", "python"].map(str::to_owned));
    let new_enough = |name: &String| {
        let check = "import sys, venv; sys.exit(sys.version_info < (3, 10))";
        shell::output(Command::new(name).args(["-c", check])).is_ok()
    };
    let found = candidates.into_iter().find(new_enough);
    found.context(
        "there is no Python 3.10 or later with venv (packages python3 and python3-venv); PARTITA_PYTHON may name one",
    )
}

/// The environment with everything that the tests use, made where it is not there yet.
fn environment(folder: &Path) -> Result<PathBuf> {
    let (environment, stamp) = (folder.join("environment"), folder.join("environment.txt"));
    let wanted = TESTED_WITH.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|made| made == wanted) && environment.is_dir() {
        return Ok(environment);
    }
    fs::create_dir_all(folder)?;
    shell::run(Command::new(python()?).args(["-m", "venv", "--clear"]).arg(&environment))?;
    shell::run(program(&environment, "python").args(["-m", "pip", "install", "--quiet"]).args(TESTED_WITH))?;
    fs::write(stamp, wanted)?;
    Ok(environment)
}

/// A program of an environment.
fn program(environment: &Path, name: &str) -> Command {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    let mut command = Command::new(environment.join(folder).join(name));
    command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    command
}

/// Builds the wheel.
fn wheel(workspace: &Workspace, environment: &Path, folder: &Path, release: bool) -> Result<PathBuf> {
    let wheels = folder.join(if release { "release" } else { "wheels" });
    if wheels.is_dir() {
        fs::remove_dir_all(&wheels)?;
    }
    let mut maturin = program(environment, "maturin");
    maturin.args(["build", "--quiet", "--manifest-path"]).arg(workspace.path("crates/partita-python/Cargo.toml"));
    maturin.arg("--out").arg(&wheels);
    if release {
        maturin.args(["--release", "--strip"]);
    } else {
        // The tests have compiled what the module is made of.
        maturin.args(["--profile", "dev"]);
    }
    shell::run(&mut maturin)?;
    let mut found = fs::read_dir(&wheels)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    found.retain(|path| path.extension().is_some_and(|extension| extension == "whl"));
    let [wheel] = &found[..] else { anyhow::bail!("maturin left {} wheels in {}", found.len(), wheels.display()) };
    let bytes = fs::metadata(wheel)?.len();
    println!("{}: {:.1} MB", wheel.file_name().unwrap_or_default().display(), bytes as f64 / 1e6);
    ensure!(!release || bytes <= MOST_BYTES, "the wheel has {bytes} bytes, more than {MOST_BYTES}");
    Ok(wheel.clone())
}

fn install(environment: &Path, wheel: &Path) -> Result<()> {
    let pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"];
    shell::run(program(environment, "python").args(pip).arg(wheel))
}

/// pytest on the installed package, and the examples of its docstrings.
fn tests(workspace: &Workspace, environment: &Path, binary: &Path, more: &[String]) -> Result<()> {
    let mut pytest = program(environment, "python");
    pytest.current_dir(workspace.path("crates/partita-python/tests")).env("PARTITA_BINARY", binary);
    pytest.env("MPLBACKEND", "Agg").args(["-m", "pytest", "-p", "no:cacheprovider", "--durations=5"]).args(more);
    if more.is_empty() {
        pytest.args([".", "--doctest-modules", "--pyargs", "partita"]);
    }
    shell::run(pytest.env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// The package and all examples under the strictest checks of types.
fn types(workspace: &Workspace, environment: &Path) -> Result<()> {
    let folder = workspace.path("crates/partita-python");
    let cache = workspace.metadata()?.target_directory.join("python/mypy");
    let files = ["python/partita", "examples"];
    let mut mypy = program(environment, "mypy");
    mypy.current_dir(&folder).args(["--strict", "--no-error-summary", "--cache-dir"]).arg(cache).args(files);
    shell::run(&mut mypy)?;
    let mut pyright = program(environment, "pyright");
    pyright.current_dir(&folder).arg("--pythonpath").arg(program(environment, "python").get_program()).arg("examples");
    shell::run(&mut pyright)
}

/// One consensus on another version of Python, where it is installed: one wheel is for all of them.
fn smoke(folder: &Path, wheel: &Path, version: &str) -> Result<()> {
    let interpreter = format!("python{version}");
    let there = |code: &str| shell::output(Command::new(&interpreter).args(["-c", code])).is_ok();
    if !there("import venv, ensurepip") {
        println!("left out: there is no {interpreter}");
        return Ok(());
    }
    let environment = folder.join(version);
    if !environment.is_dir() {
        shell::run(Command::new(&interpreter).args(["-m", "venv"]).arg(&environment))?;
    }
    shell::run(program(&environment, "python").args(["-m", "pip", "install", "--quiet", "numpy"]))?;
    install(&environment, wheel)?;
    let code = "import partita as pt; assert pt.consensus([[0, 0, 1, 1], [1, 1, 0, 0]], 2).n_clusters == 2";
    shell::run(program(&environment, "python").args(["-c", code]))?;
    println!("{interpreter}: ok");
    Ok(())
}
