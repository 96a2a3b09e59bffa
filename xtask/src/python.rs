//! `python`: the Python package, built as a wheel, installed into an environment of its own under the target folder, and tested there.

mod wheel;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::peers::Peers;
use crate::workspace::Workspace;
use crate::{optional, shell};
use wheel::{Profile, VERSIONS, install, of_source, smoke, wheel};

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
    "ipykernel",
    "nbclient",
    "nbconvert",
];

/// The tests that start workers of other systems.
const ENGINES: &str = "test_engines.py";

/// Which of them a process of its own runs, by words of their names: half of the time workers wait for each other.
const SHARES: [&str; 2] = ["spark", "not spark"];

/// The notebook of the guide.
const NOTEBOOK: &str = "docs/guide/from-python.ipynb";

/// Flags of `cargo xtask python`.
#[derive(Args, Default)]
pub(crate) struct Arguments {
    /// Build what people install: with all optimisations, checked for its size.
    #[arg(long)]
    release: bool,
    /// Run the notebook of the guide and write it as HTML, with its pictures; no tests.
    #[arg(long, conflicts_with = "pytest")]
    notebook: bool,
    /// Words for pytest, such as -k interrupts.
    #[arg(last = true)]
    pytest: Vec<String>,
}

/// Makes the environment with the packages that the tests use, so that the tests need not wait for the network.
pub(crate) fn packages(workspace: &Workspace) -> Result<()> {
    if python().is_ok() {
        environment(&workspace.metadata()?.target_directory.join("python"))?;
    }
    Ok(())
}

/// As a step of `test`: left out without a Python, unless checks run.
pub(crate) fn step(workspace: &Workspace) -> Result<()> {
    if left_out() {
        return Ok(());
    }
    if !optional::java() {
        ensure!(
            !optional::is_ci(),
            "there is no Java runtime; `apt-get install default-jre-headless` as root, or take CI off"
        );
        println!("left out: Spark, without a Java runtime (package default-jre-headless)");
    }
    let binary = workspace.tested("partita")?;
    check(workspace, &Arguments::default(), &binary).map(drop)
}

/// As a step of `test`: what people build from the source, on every version of Python that is there.
pub(crate) fn source(workspace: &Workspace) -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let folder = workspace.metadata()?.target_directory.join("python");
    versions(
        &folder,
        &of_source(workspace, &environment(&folder)?, &folder)?,
    )
}

/// Whether there is no Python, which is said, and no checks are run, which need one.
fn left_out() -> bool {
    let absent = python().is_err() && !optional::is_ci();
    if absent {
        println!("left out: there is no Python 3.10 or later (package python3-venv)");
    }
    absent
}

/// Builds the command line, which the package must agree with, and the package; installs and tests it.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    // Both at once: the command line asks the most of dependencies, which are compiled once then.
    shell::run(&mut workspace.cargo([
        "build",
        "--quiet",
        "-p",
        "partita-cli",
        "-p",
        "partita-python",
    ]))?;
    let binary = workspace
        .metadata()?
        .target_directory
        .join(format!("debug/partita{}", env::consts::EXE_SUFFIX));
    let wheel = check(workspace, arguments, &binary)?;
    if arguments.notebook || !arguments.pytest.is_empty() {
        return Ok(());
    }
    if arguments.release {
        return versions(
            &workspace.metadata()?.target_directory.join("python"),
            &wheel,
        );
    }
    source(workspace)
}

/// Builds the wheel, installs it, and tests it beside this command line.
fn check(workspace: &Workspace, arguments: &Arguments, binary: &Path) -> Result<PathBuf> {
    let folder = workspace.metadata()?.target_directory.join("python");
    let environment = environment(&folder)?;
    let profile = if arguments.release {
        Profile::Release
    } else {
        Profile::Dev
    };
    let wheel = wheel(workspace, &programs(&environment), &folder, profile)?;
    install(&environment, &wheel)?;
    if arguments.notebook {
        return notebook(workspace, &environment, &folder).map(|()| wheel);
    }
    let pytest = || pytest(workspace, &environment, binary);
    if !arguments.pytest.is_empty() {
        return shell::run(pytest().args(&arguments.pytest)).map(|()| wheel);
    }
    let begin = |share: &str| -> Result<(PathBuf, Child)> {
        let log = folder.join(format!("engines, {share}.log"));
        let out = File::create(&log)?;
        let mut engines = pytest();
        engines
            .args([ENGINES, "-k", share])
            .stdin(Stdio::null())
            .stderr(out.try_clone()?)
            .stdout(out);
        Ok((log, engines.spawn()?))
    };
    let engines = SHARES.map(begin);
    let ignored = format!("--ignore={ENGINES}");
    let others =
        shell::run(pytest().args([".", &ignored, "--doctest-modules", "--pyargs", "partita"]))
            .and_then(|()| types(workspace, &environment));
    let tested = engines
        .into_iter()
        .zip(SHARES)
        .fold(others, |result, (begun, share)| {
            result.and(begun.and_then(|(log, mut engines)| {
                let ended = engines.wait()?;
                print!("{}", fs::read_to_string(&log)?);
                ensure!(ended.success(), "{ENGINES} failed ({share})");
                Ok(())
            }))
        });
    tested.map(|()| wheel)
}

/// Tries the wheel on every version of Python that is there, at least one.
fn versions(folder: &Path, wheel: &Path) -> Result<()> {
    let tried = VERSIONS
        .iter()
        .map(|version| smoke(folder, wheel, version))
        .collect::<Result<Vec<bool>>>()?;
    ensure!(
        tried.contains(&true),
        "none of the versions {} of Python is there to try the wheel",
        VERSIONS.join(", ")
    );
    Ok(())
}

/// The interpreter of an environment that has the packages of a benchmark and an installed wheel, and the command line beside it.
pub(crate) fn for_benchmark(
    workspace: &Workspace,
    peers: &Peers,
    optimised: bool,
) -> Result<Command> {
    let profile = if optimised {
        Profile::Release
    } else {
        Profile::Dev
    };
    let target = workspace.metadata()?.target_directory;
    let mut cargo = workspace.cargo(["build", "--quiet", "-p", "partita-cli"]);
    shell::run(cargo.args(optimised.then_some("--release")))?;
    let bin = peers
        .python
        .parent()
        .context("an interpreter lies in a folder")?;
    let wheel = wheel(workspace, bin, &target.join("python"), profile)?;
    install(bin.parent().context("an environment is a folder")?, &wheel)?;
    let built = target.join(if optimised { "release" } else { "debug" });
    let mut python = Command::new(&peers.python);
    python.env(
        "PARTITA_BINARY",
        built.join(format!("partita{}", env::consts::EXE_SUFFIX)),
    );
    Ok(python)
}

/// Runs the notebook of the guide and writes it as one page.
fn notebook(workspace: &Workspace, environment: &Path, folder: &Path) -> Result<()> {
    let mut convert = program(environment, "jupyter-nbconvert");
    convert
        .args([
            "--log-level=WARN",
            "--to",
            "html",
            "--execute",
            "--output-dir",
        ])
        .arg(folder);
    shell::run(
        convert
            .arg(workspace.path(NOTEBOOK))
            .env_remove("MPLBACKEND"),
    )?;
    println!(
        "written: {}",
        workspace.show(&folder.join("from-python.html"))
    );
    Ok(())
}

/// The interpreter that the environment is made of.
fn python() -> Result<String> {
    let named = env::var("PARTITA_PYTHON").ok();
    let candidates = named
        .into_iter()
        .chain(["python3", "python"].map(str::to_owned));
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
    shell::run(
        Command::new(python()?)
            .args(["-m", "venv", "--clear"])
            .arg(&environment),
    )?;
    shell::run(
        program(&environment, "python")
            .args(["-m", "pip", "install", "--quiet"])
            .args(TESTED_WITH),
    )?;
    fs::write(stamp, wanted)?;
    Ok(environment)
}

/// Where an environment keeps its programs.
fn programs(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts" } else { "bin" })
}

/// A program of an environment.
fn program(environment: &Path, name: &str) -> Command {
    let mut command = Command::new(programs(environment).join(name));
    command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    command
}

/// pytest on the installed package, beside this command line.
fn pytest(workspace: &Workspace, environment: &Path, binary: &Path) -> Command {
    let mut pytest = program(environment, "python");
    pytest
        .current_dir(workspace.path("crates/doors/python/tests"))
        .env("PARTITA_BINARY", binary);
    pytest
        .env("MPLBACKEND", "Agg")
        .env("PYTHONDONTWRITEBYTECODE", "1");
    pytest.args(["-m", "pytest", "-p", "no:cacheprovider", "--durations=5"]);
    pytest
}

/// The package and all examples under the strictest checks of types.
fn types(workspace: &Workspace, environment: &Path) -> Result<()> {
    let folder = workspace.path("crates/doors/python");
    let cache = workspace.metadata()?.target_directory.join("python/mypy");
    let files = ["python/partita", "examples"];
    let mut mypy = program(environment, "mypy");
    mypy.current_dir(&folder)
        .args(["--strict", "--no-error-summary", "--cache-dir"])
        .arg(cache)
        .args(files);
    shell::run(&mut mypy)?;
    let mut pyright = program(environment, "pyright");
    pyright
        .current_dir(&folder)
        .arg("--pythonpath")
        .arg(program(environment, "python").get_program())
        .arg("examples");
    shell::run(&mut pyright)
}
