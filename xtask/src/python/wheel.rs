//! Wheels and the source distribution: built, measured, installed, tried on other versions of Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use super::program;
use crate::shell;
use crate::workspace::Workspace;

/// The versions of Python that the wheel is for.
pub(super) const VERSIONS: [&str; 4] = ["3.10", "3.11", "3.12", "3.13"];

/// The most bytes of a wheel that people download.
const MOST_BYTES: u64 = 15 << 20;

/// How a wheel is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    /// As the tests are, which have compiled most of it.
    Dev,
    /// As people install it.
    Release,
}

/// Builds the wheel with the maturin among these programs. It must be one that any Linux of its tag can load: `maturin` refuses a wheel
/// with libraries of this machine. One that people download has a size that is fit for it.
pub(super) fn wheel(
    workspace: &Workspace,
    programs: &Path,
    folder: &Path,
    profile: Profile,
) -> Result<PathBuf> {
    let release = profile == Profile::Release;
    let wheels = emptied(&folder.join(if release { "release" } else { "wheels" }))?;
    let mut maturin = Command::new(programs.join("maturin"));
    maturin.args([
        "build",
        "--quiet",
        "--auditwheel",
        "check",
        "--manifest-path",
    ]);
    maturin
        .arg(workspace.path("crates/doors/python/Cargo.toml"))
        .arg("--out")
        .arg(&wheels);
    maturin.args(if release {
        ["--release", "--strip"]
    } else {
        ["--profile", "dev"]
    });
    shell::run(&mut maturin)?;
    let wheel = only_file(&wheels, "whl")?;
    let (name, bytes) = (
        wheel.file_name().unwrap_or_default().display(),
        fs::metadata(&wheel)?.len(),
    );
    println!("{name}: {:.1} MB", bytes as f64 / 1e6);
    ensure!(
        !release || bytes <= MOST_BYTES,
        "the wheel has {bytes} bytes, more than {MOST_BYTES}"
    );
    Ok(wheel)
}

/// Packs the source distribution and builds a wheel of it as `pip install partita` does: in a folder and an environment that have
/// nothing else.
///
/// Call it after [`wheel`] with [`Profile::Dev`]: both compile into one folder, where cargo knows crates by their place in the workspace
/// and takes files of a source distribution, which bear a date of long ago, for those that it has compiled. So only what the source
/// distribution lacks or changes is compiled again.
pub(super) fn of_source(
    workspace: &Workspace,
    environment: &Path,
    folder: &Path,
) -> Result<PathBuf> {
    let (packed, built) = (
        emptied(&folder.join("source"))?,
        emptied(&folder.join("of_source"))?,
    );
    let mut maturin = program(environment, "maturin");
    maturin
        .args(["sdist", "--manifest-path"])
        .arg(workspace.path("crates/doors/python/Cargo.toml"));
    shell::run(maturin.arg("--out").arg(&packed))?;
    let mut pip = program(environment, "python");
    pip.args(["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"])
        .arg(&built)
        .arg(only_file(&packed, "gz")?);
    pip.env("MATURIN_PEP517_ARGS", "--profile dev")
        .env("CARGO_TARGET_DIR", workspace.metadata()?.target_directory);
    shell::run(&mut pip)?;
    only_file(&built, "whl")
}

/// A folder with nothing in it.
fn emptied(folder: &Path) -> Result<PathBuf> {
    if folder.is_dir() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(folder.to_owned())
}

/// The one file of a folder with this ending.
fn only_file(folder: &Path, ending: &str) -> Result<PathBuf> {
    let mut found = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    found.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == ending)
    });
    let [file] = &found[..] else {
        anyhow::bail!(
            "{} files end in .{ending} in {}",
            found.len(),
            folder.display()
        )
    };
    Ok(file.clone())
}

pub(super) fn install(environment: &Path, wheel: &Path) -> Result<()> {
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--force-reinstall",
    ];
    shell::run(program(environment, "python").args(pip).arg(wheel))
}

/// One consensus on another version of Python, where it is installed: one wheel is for all of them. Whether it was tried.
pub(super) fn smoke(folder: &Path, wheel: &Path, version: &str) -> Result<bool> {
    let interpreter = format!("python{version}");
    let there = |code: &str| shell::output(Command::new(&interpreter).args(["-c", code])).is_ok();
    if !there("import venv, ensurepip") {
        println!("left out: there is no {interpreter}");
        return Ok(false);
    }
    let environment = folder.join(version);
    if !environment.is_dir() {
        shell::run(
            Command::new(&interpreter)
                .args(["-m", "venv"])
                .arg(&environment),
        )?;
    }
    shell::run(program(&environment, "python").args(["-m", "pip", "install", "--quiet", "numpy"]))?;
    install(&environment, wheel)?;
    let code = "import pickle, partita as pt; r = pt.consensus([[0, 0, 1, 1], [1, 1, 0, 0]], 2); \
                assert pickle.loads(pickle.dumps(r)).n_clusters == 2 and pt.modes(r.ensemble_).n_modes == 1";
    shell::run(program(&environment, "python").args(["-c", code]))?;
    println!("{interpreter}: ok");
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_emptied_and_its_only_file_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("wheels");
        assert!(
            only_file(&emptied(&place).unwrap(), "whl")
                .unwrap_err()
                .to_string()
                .starts_with("0 files end in .whl")
        );
        fs::write(place.join("a.whl"), "").unwrap();
        fs::write(place.join("a.txt"), "").unwrap();
        assert_eq!(only_file(&place, "whl").unwrap(), place.join("a.whl"));
        assert_eq!(fs::read_dir(emptied(&place).unwrap()).unwrap().count(), 0);
    }
}
