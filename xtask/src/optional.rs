//! Steps of `test` that need what not every machine has, and say so where it is absent.

use std::process::Command;

use anyhow::Result;

use crate::shell;
use crate::workspace::Workspace;

/// The only target that the checker is known to work on with the kernels that are chosen while running.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The kernels that count evidence, plain and vector form, under the address sanitizer. Needs a nightly toolchain.
pub(crate) fn sanitizer(workspace: &Workspace) -> Result<()> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) || !there("rustup", &["run", "nightly", "rustc", "-V"]) {
        println!("left out: there is no nightly toolchain for {TARGET} (`rustup toolchain install nightly`)");
        return Ok(());
    }
    let mut cargo = Command::new("rustup");
    cargo.current_dir(workspace.root()).args(["run", "nightly", "cargo", "test", "--quiet", "--lib"]);
    cargo.args(["--package", "partita-coassoc"]);
    let folder = workspace.metadata()?.target_directory.join("sanitizer");
    cargo.args(["--target", TARGET, "--target-dir"]).arg(folder).arg("kernel");
    // This cargo was started by another, which must not choose the toolchain.
    for name in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "RUSTC_WRAPPER"] {
        cargo.env_remove(name);
    }
    shell::run(cargo.env("RUSTFLAGS", "-Zsanitizer=address"))
}

/// The eigensolvers of LAPACK beside our own. Needs OpenBLAS.
pub(crate) fn lapack(workspace: &Workspace) -> Result<()> {
    if !there("pkg-config", &["--exists", "openblas"]) {
        println!("left out: there is no OpenBLAS (package libopenblas-dev)");
        return Ok(());
    }
    shell::run(&mut workspace.cargo(["test", "--quiet", "--package", "partita-spectral", "--features", "lapack"]))
}

fn there(program: &str, arguments: &[&str]) -> bool {
    shell::output(Command::new(program).args(arguments)).is_ok()
}
