//! `python`: the Python package, built as a wheel by maturin, installed into an environment of its own under the target folder, and
//! tested there.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::tools::{JAVA, is_ci};
use crate::workspace::Workspace;
use crate::{demo, shell};

/// What the tests use.
const TESTED_WITH: &str = "maturin>=1.9,<2 numpy pytest mypy pyright[nodejs] scikit-learn pandas polars pyarrow scipy matplotlib \
    anndata tqdm distributed pyspark snakemake ipykernel nbclient nbconvert";

/// The tests that start workers of other systems, and which of them a process of its own runs, by words of their names: half of the
/// time workers wait for each other.
const ENGINES: &str = "test_engines.py";
const SHARES: [&str; 2] = ["spark", "not spark"];

/// The notebook of the guide.
const NOTEBOOK: &str = "docs/guide/from-python.ipynb";

/// The versions of Python that the wheel is for.
const VERSIONS: [&str; 4] = ["3.10", "3.11", "3.12", "3.13"];

/// The most bytes of a wheel that people download.
const MOST_BYTES: u64 = 15 << 20;

/// The manifest of the extension module.
const MANIFEST: &str = "crates/doors/python/Cargo.toml";

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
        environment(workspace)?;
    }
    Ok(())
}

/// As a step of `test`: the package beside the command line of the tests.
pub(crate) fn step(workspace: &Workspace) -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let binary = workspace.tested("partita")?;
    let installed = Installed::new(workspace, false)?;
    installed.test(workspace, &binary)
}

/// As a step of `test`: tasks on the workers of other systems.
pub(crate) fn engines(workspace: &Workspace) -> Result<()> {
    if left_out() {
        return Ok(());
    }
    JAVA.provided("Spark")?;
    let binary = workspace.tested("partita")?;
    Installed::new(workspace, false)?.test_engines(workspace, &binary)
}

/// As a step of `test`: what people build from the source, on every version of Python that is there.
pub(crate) fn source(workspace: &Workspace) -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let environment = environment(workspace)?;
    let packed = packed(workspace, &environment)?;
    let wheel = wheel_of_source(workspace, &environment, &packed)?;
    versions(workspace, &wheel)
}

/// Whether there is no Python, which is said, and no checks are run, which need one.
pub(crate) fn left_out() -> bool {
    let absent = python().is_err() && !is_ci();
    if absent {
        println!("left out: there is no Python 3.10 or later (package python3-venv)");
    }
    absent
}

/// Builds the command line, which the package must agree with, and the package; installs and tests it.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    // Both at once: the command line asks the most of dependencies, which are compiled once then.
    shell::run(&mut workspace.cargo("build --quiet -p partita-cli -p partita-python"))?;
    let binary = workspace.target(&format!("debug/partita{}", env::consts::EXE_SUFFIX))?;
    let installed = Installed::new(workspace, arguments.release)?;
    if arguments.notebook {
        return installed.notebook(workspace);
    }
    if !arguments.pytest.is_empty() {
        let mut pytest = installed.pytest(workspace, &binary);
        return shell::run(pytest.args(&arguments.pytest));
    }
    let engines = installed.test_engines(workspace, &binary);
    installed.test(workspace, &binary).and(engines)?;
    if arguments.release {
        return versions(workspace, &installed.wheel);
    }
    source(workspace)
}

/// The interpreter of an environment that has the packages of a benchmark and an installed wheel, and the command line beside it.
pub(crate) fn for_benchmark(
    workspace: &Workspace,
    interpreter: &Path,
    optimised: bool,
) -> Result<Command> {
    let mut cargo = workspace.cargo("build --quiet -p partita-cli");
    shell::run(cargo.args(optimised.then_some("--release")))?;
    let environment = interpreter.parent().and_then(Path::parent);
    let environment = environment.context("an interpreter lies in an environment")?;
    install(environment, &wheel(workspace, environment, optimised)?)?;
    let built = if optimised { "release" } else { "debug" };
    let binary = format!("{built}/partita{}", env::consts::EXE_SUFFIX);
    let mut python = Command::new(interpreter);
    python.env("PARTITA_BINARY", workspace.target(&binary)?);
    Ok(python)
}

/// An environment with the packages of the tests and our wheel.
struct Installed {
    environment: PathBuf,
    wheel: PathBuf,
}

impl Installed {
    fn new(workspace: &Workspace, release: bool) -> Result<Self> {
        let environment = environment(workspace)?;
        let wheel = wheel(workspace, &environment, release)?;
        install(&environment, &wheel)?;
        Ok(Self { environment, wheel })
    }

    /// pytest on the installed package, beside this command line.
    fn pytest(&self, workspace: &Workspace, binary: &Path) -> Command {
        let words = "-m pytest -p no:cacheprovider --durations=5";
        let mut pytest = program(&self.environment, "python", words);
        pytest
            .current_dir(workspace.path("crates/doors/python/tests"))
            .env("PARTITA_BINARY", binary)
            .env("MPLBACKEND", "Agg")
            .env("PYTHONDONTWRITEBYTECODE", "1");
        pytest
    }

    /// All tests but those of other systems, the examples of the documents, and the types.
    fn test(&self, workspace: &Workspace, binary: &Path) -> Result<()> {
        let mut pytest = self.pytest(workspace, binary);
        let ignored = format!("--ignore={ENGINES}");
        shell::run(pytest.args([".", &ignored, "--doctest-modules", "--pyargs", "partita"]))?;
        self.types(workspace)
    }

    fn test_engines(&self, workspace: &Workspace, binary: &Path) -> Result<()> {
        let mut begun: Vec<(PathBuf, Child)> = Vec::new();
        for share in SHARES {
            let log = workspace.target(&format!("python/engines, {share}.log"))?;
            let out = File::create(&log)?;
            let mut engines = self.pytest(workspace, binary);
            engines.args([ENGINES, "-k", share]).stdin(Stdio::null());
            let child = engines.stderr(out.try_clone()?).stdout(out).spawn()?;
            begun.push((log, child));
        }
        let mut failed = false;
        for (log, mut engines) in begun {
            failed |= !engines.wait()?.success();
            print!("{}", fs::read_to_string(&log)?);
        }
        ensure!(!failed, "{ENGINES} failed");
        Ok(())
    }

    /// The package and all examples under the strictest checks of types.
    fn types(&self, workspace: &Workspace) -> Result<()> {
        let folder = workspace.path("crates/doors/python");
        let words = "--strict --no-error-summary python/partita examples --cache-dir";
        let mut mypy = program(&self.environment, "mypy", words);
        mypy.arg(workspace.target("python/mypy")?);
        shell::run(mypy.current_dir(&folder))?;
        let mut pyright = program(&self.environment, "pyright", "examples --pythonpath");
        pyright.arg(programs(&self.environment).join("python"));
        shell::run(pyright.current_dir(&folder))
    }

    /// Runs the notebook of the guide and writes it as one page.
    fn notebook(&self, workspace: &Workspace) -> Result<()> {
        let folder = workspace.target("python")?;
        let words = "--log-level=WARN --to html --execute --output-dir";
        let mut convert = program(&self.environment, "jupyter-nbconvert", words);
        convert.arg(&folder).arg(workspace.path(NOTEBOOK));
        shell::run(convert.env_remove("MPLBACKEND"))?;
        let page = folder.join("from-python.html");
        println!("written: {}", workspace.show(&page));
        Ok(())
    }
}

/// The interpreter that the environment is made of.
pub(crate) fn python() -> Result<String> {
    let named = env::var("PARTITA_PYTHON").ok().into_iter();
    let mut candidates = named.chain(["python3", "python"].map(str::to_owned));
    let check = "import sys, venv; sys.exit(sys.version_info < (3, 10))";
    let found =
        candidates.find(|name| shell::output(Command::new(name).args(["-c", check])).is_ok());
    found.context(
        "there is no Python 3.10 or later with venv (packages python3 and python3-venv); PARTITA_PYTHON may name one",
    )
}

/// The environment with everything that the tests use, made where it is not there yet.
fn environment(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target("python/environment")?;
    made(&folder, &python()?, TESTED_WITH)?;
    Ok(folder)
}

/// Makes an environment with these packages, unless it is there with the same.
pub(crate) fn made(folder: &Path, interpreter: &str, packages: &str) -> Result<()> {
    let stamp = folder.join("packages.txt");
    if fs::read_to_string(&stamp).is_ok_and(|made| made == packages) {
        return Ok(());
    }
    let mut venv = Command::new(interpreter);
    shell::run(venv.args(["-m", "venv", "--clear"]).arg(folder))?;
    let install = format!("-m pip install --quiet {packages}");
    shell::run(&mut program(folder, "python", &install))?;
    fs::write(&stamp, packages).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Where an environment keeps its programs.
pub(crate) fn programs(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts" } else { "bin" })
}

/// A program of an environment with arguments that spaces separate.
pub(crate) fn program(environment: &Path, name: &str, words: &str) -> Command {
    let mut command = Command::new(programs(environment).join(name));
    command
        .args(words.split_whitespace())
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    command
}

/// Builds the wheel of the tests, or one with all optimisations for this machine, with the maturin of this environment.
fn wheel(workspace: &Workspace, environment: &Path, release: bool) -> Result<PathBuf> {
    let (folder, profile) = if release {
        ("python/release", "--release")
    } else {
        ("python/wheels", "--profile dev")
    };
    let words = format!("build --quiet --auditwheel check {profile}");
    let wheel = built(workspace, program(environment, "maturin", &words), folder)?;
    if release {
        check_size(&wheel)?;
    }
    Ok(wheel)
}

/// Builds a wheel with this maturin into a folder of its own. It refuses one with libraries of this machine.
pub(crate) fn built(workspace: &Workspace, mut maturin: Command, folder: &str) -> Result<PathBuf> {
    let wheels = emptied(&workspace.target(folder)?)?;
    maturin.arg("--manifest-path").arg(workspace.path(MANIFEST));
    shell::run(maturin.arg("--out").arg(&wheels))?;
    only_file(&wheels)
}

/// Says the size of a wheel that people download, which must be fit for that.
pub(crate) fn check_size(wheel: &Path) -> Result<()> {
    let bytes = fs::metadata(wheel)?.len();
    let name = wheel.file_name().unwrap_or_default().display();
    println!("{name}: {:.1} MB", bytes as f64 / 1e6);
    ensure!(
        bytes <= MOST_BYTES,
        "{name}: {bytes} bytes, more than {MOST_BYTES}; look at what a new dependency brings"
    );
    Ok(())
}

/// Packs the source distribution.
pub(crate) fn packed(workspace: &Workspace, environment: &Path) -> Result<PathBuf> {
    let folder = emptied(&workspace.target("python/source")?)?;
    let mut maturin = program(environment, "maturin", "sdist --manifest-path");
    maturin.arg(workspace.path(MANIFEST));
    shell::run(maturin.arg("--out").arg(&folder))?;
    only_file(&folder)
}

/// Builds a wheel of a source distribution as `pip install partita` does: in a folder and an environment that have nothing else.
///
/// Call it after [`wheel`] without release: both compile into one folder, where cargo knows crates by their place in the workspace
/// and takes files of a source distribution, which bear a date of long ago, for those that it has compiled. So only what the source
/// distribution lacks or changes is compiled again.
pub(crate) fn wheel_of_source(
    workspace: &Workspace,
    environment: &Path,
    packed: &Path,
) -> Result<PathBuf> {
    let built = emptied(&workspace.target("python/of_source")?)?;
    let words = "-m pip wheel --quiet --no-deps --wheel-dir";
    let mut pip = program(environment, "python", words);
    pip.arg(&built)
        .arg(packed)
        .env("MATURIN_PEP517_ARGS", "--profile dev")
        .env("CARGO_TARGET_DIR", workspace.target("")?);
    shell::run(&mut pip)?;
    only_file(&built)
}

/// A folder with nothing in it.
pub(crate) fn emptied(folder: &Path) -> Result<PathBuf> {
    if folder.is_dir() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(folder.to_owned())
}

/// The one file of a folder.
pub(crate) fn only_file(folder: &Path) -> Result<PathBuf> {
    let found: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    let [file] = &found[..] else {
        bail!("{} files are in {}", found.len(), folder.display())
    };
    Ok(file.path())
}

fn install(environment: &Path, wheel: &Path) -> Result<()> {
    let words = "-m pip install --quiet --no-deps --force-reinstall";
    shell::run(program(environment, "python", words).arg(wheel))
}

/// Tries the wheel on every version of Python that is there, at least one.
pub(crate) fn versions(workspace: &Workspace, wheel: &Path) -> Result<()> {
    let mut tried = 0;
    for version in VERSIONS {
        let interpreter = format!("python{version}");
        let there = Command::new(&interpreter)
            .args(["-c", "import venv, ensurepip"])
            .output()
            .is_ok_and(|output| output.status.success());
        if there {
            let environment = workspace.target(&format!("python/{version}"))?;
            smoke(workspace, &environment, wheel, &interpreter)?;
            tried += 1;
        } else {
            println!("left out: there is no {interpreter}");
        }
    }
    ensure!(
        tried > 0,
        "none of the versions {} of Python is there to try the wheel",
        VERSIONS.join(", ")
    );
    Ok(())
}

/// One consensus on another version of Python, and the command line: one wheel is for all of them.
fn smoke(workspace: &Workspace, environment: &Path, wheel: &Path, interpreter: &str) -> Result<()> {
    made(environment, interpreter, "numpy")?;
    install(environment, wheel)?;
    let code = "import pickle, partita as pt; r = pt.consensus([[0, 0, 1, 1], [1, 1, 0, 0]], 2); \
                assert pickle.loads(pickle.dumps(r)).n_clusters == 2 and pt.modes(r.ensemble_).n_modes == 1";
    shell::run(program(environment, "python", "-c").arg(code))?;
    demo::try_installed(
        workspace,
        &programs(environment).join("partita"),
        environment,
    )?;
    println!("{interpreter}: ok");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_emptied_and_its_only_file_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let place = emptied(&folder.path().join("wheels")).unwrap();
        let error = only_file(&place).unwrap_err().to_string();
        assert!(error.starts_with("0 files are in "), "{error}");
        fs::write(place.join("a.whl"), "").unwrap();
        assert_eq!(only_file(&place).unwrap(), place.join("a.whl"));
        assert_eq!(fs::read_dir(emptied(&place).unwrap()).unwrap().count(), 0);
    }
}
