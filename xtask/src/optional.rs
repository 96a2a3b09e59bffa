//! Steps of `test` that need what not every machine has, and say so where it is absent.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{env, fs, thread};

use anyhow::{Result, ensure};

use crate::shell;
use crate::workspace::Workspace;

/// The only target that the checker is known to work on with the kernels that are chosen while running.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Where little is computed and dependencies are compiled for one step alone: without optimisation, which takes longer than the tests.
const UNOPTIMISED: &str = "unoptimised";

/// Modules of safe code alone, whose tests take longest without optimisation.
const SAFE: &[&str] = &[
    "basis::",
    "chebyshev::",
    "cluster_similarity",
    "dense::",
    "ec_cms",
    "gp_mgla",
    "hypergraph",
    "lanczos::",
    "refine",
    "row_cut",
    "swaps::",
];

/// The eigensolver of LAPACK beside our own.
const LAPACK: &[&str] = &[
    "--package",
    "partita-spectral",
    "--features",
    "partita-spectral/lapack",
];

/// The kernels, on every level that the machine has, and k-means, which calls them with data of its own, under the address
/// sanitizer, and what C code is behind: graphs with METIS, eigenproblems with LAPACK. Needs a nightly toolchain, which is installed where
/// checks run, and OpenBLAS, which is where they run as root on Debian.
pub(crate) fn sanitizer(workspace: &Workspace) -> Result<()> {
    let (watched, lapack) = (nightly(), provided(&OPENBLAS));
    ensure!(
        watched || !is_ci(),
        "there is no nightly toolchain for {TARGET}; `rustup toolchain install nightly`, or take CI off"
    );
    ensure!(
        lapack || !is_ci(),
        "there is no OpenBLAS; `apt-get install pkg-config libopenblas-dev` as root, or take CI off"
    );
    if !lapack {
        println!("left out: LAPACK, without OpenBLAS (package libopenblas-dev)");
    }
    let lapack: &[&str] = if lapack { LAPACK } else { &[] };
    if !watched {
        println!(
            "left out: the sanitizer, without a nightly toolchain for {TARGET} (`rustup toolchain install nightly`)"
        );
        let mut cargo = workspace.cargo(["test", "--quiet", "--lib", "--profile", UNOPTIMISED]);
        return if lapack.is_empty() {
            Ok(())
        } else {
            shell::run(cargo.args(lapack).arg("lapack"))
        };
    }
    let mut cargo = Command::new("rustup");
    cargo
        .current_dir(workspace.root())
        .args(["run", "nightly", "cargo", "test", "--quiet", "--lib"]);
    // C code is not instrumented; what it writes beyond what was allocated is seen all the same.
    cargo
        .args([
            "--package",
            "partita-kernels",
            "--package",
            "partita-kmeans",
            "--package",
            "partita-graph",
        ])
        .args(lapack);
    let folder = workspace.metadata()?.target_directory.join("sanitizer");
    cargo
        .args(["--profile", UNOPTIMISED, "--target", TARGET, "--target-dir"])
        .arg(folder);
    // This cargo was started by another, which must not choose the toolchain.
    for name in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "RUSTC_WRAPPER"] {
        cargo.env_remove(name);
    }
    cargo
        .arg("--")
        .args(SAFE.iter().flat_map(|module| ["--skip", module]));
    shell::run(cargo.env("RUSTFLAGS", "-Zsanitizer=address"))
}

/// Whether there is a nightly toolchain that has the checker, where checks run after installing it.
fn nightly() -> bool {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return false;
    }
    let is_there = || there("rustup", &["run", "nightly", "rustc", "-V"]);
    is_there()
        || is_ci()
            && there(
                "rustup",
                &["toolchain", "install", "nightly", "--profile", "minimal"],
            )
            && is_there()
}

/// Reports in a browser without network: hover, sort, search, themes, accessibility. Needs node and Chromium, which is
/// installed where the checks run as root on Debian.
pub(crate) fn browser(workspace: &Workspace) -> Result<()> {
    if !provided(&NODE) {
        ensure!(
            !is_ci(),
            "there is no node; `apt-get install nodejs npm` as root, or take CI off"
        );
        println!("left out: there is no node (packages nodejs and npm)");
        return Ok(());
    }
    if !provided(&CHROMIUM) {
        ensure!(
            !is_ci(),
            "there is no Chromium; `apt-get install chromium` as root, or take CI off"
        );
        println!("left out: there is no Chromium (package chromium)");
        return Ok(());
    }
    let target = workspace.metadata()?.target_directory;
    let (pages, pictures) = (target.join("reports"), target.join("screenshots"));
    // The tests have built it; a release of it would take longer than what it does.
    shell::run(&mut workspace.cargo(["build", "--quiet", "--workspace", "--example", "reports"]))?;
    shell::run(Command::new(target.join("debug/examples/reports")).arg(&pages))?;
    let folder = workspace.path("crates/product/report/browser");
    shell::run(Command::new("npm").current_dir(&folder).args([
        "ci",
        "--silent",
        "--no-audit",
        "--no-fund",
    ]))?;
    let mut files: Vec<PathBuf> = fs::read_dir(&pages)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "html")
    });
    files.sort();
    let mut check = Command::new("node");
    check.current_dir(&folder).arg("check.mjs").args(&files);
    // Pictures of whole pages are for people to look at, and take as long as all that is checked.
    if !is_ci() {
        check.arg("--screenshots").arg(&pictures);
    }
    shell::run(&mut check)
}

fn has_chromium() -> bool {
    env::var_os("PARTITA_CHROMIUM").is_some() || there("chromium", &["--version"])
}

/// Whether this is a run of the checks.
pub(crate) fn is_ci() -> bool {
    env::var_os("CI").is_some()
}

/// A program or library that is not ours, and Debian's packages that bring it.
struct Needed {
    is_there: fn() -> bool,
    packages: &'static [&'static str],
}

const OPENBLAS: Needed = Needed {
    is_there: || there("pkg-config", &["--exists", "openblas"]),
    packages: &["pkg-config", "libopenblas-dev"],
};

const NODE: Needed = Needed {
    is_there: || there("npm", &["--version"]) && there("node", &["--version"]),
    packages: &["nodejs", "npm"],
};

const CHROMIUM: Needed = Needed {
    is_there: has_chromium,
    packages: &["chromium"],
};

/// What Spark runs on.
const JAVA: Needed = Needed {
    is_there: || there("java", &["-version"]),
    packages: &["default-jre-headless"],
};

/// Whether there is a Java runtime for the tests with Spark, which leave themselves out without one unless checks run.
pub(crate) fn java() -> bool {
    provided(&JAVA)
}

/// Where checks run: installs what later steps need while the first ones compile.
pub(crate) fn install_ahead() {
    if is_ci() {
        thread::spawn(|| {
            [OPENBLAS, NODE, CHROMIUM, JAVA]
                .iter()
                .filter(|needed| provided(needed))
                .count()
        });
    }
}

/// Whether it is there, if need be after installing it, which is done where checks run, by one process at a time: steps that work
/// beside others are processes of their own.
fn provided(needed: &Needed) -> bool {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let lock = if is_ci() {
        File::create(env::temp_dir().join("partita-installs.lock")).ok()
    } else {
        None
    };
    // Another process may install this first and something else after it.
    while !(needed.is_there)() {
        let Some(lock) = &lock else { return false };
        if !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            break;
        }
        thread::sleep(Duration::from_secs(1));
    }
    let install = ["install", "-y", "-q", "--no-install-recommends"];
    let installed = || {
        there("apt-get", &["update", "-q"])
            && there("apt-get", &[&install, needed.packages].concat())
    };
    (needed.is_there)() || installed() && (needed.is_there)()
}

fn there(program: &str, arguments: &[&str]) -> bool {
    shell::output(Command::new(program).args(arguments)).is_ok()
}
