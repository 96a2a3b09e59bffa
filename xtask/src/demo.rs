//! `demo`: the main job on data that is shipped.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::shell;
use crate::workspace::Workspace;

/// What a user would type after `partita`, up to the output folder.
const JOB: &str =
    "run datasets/digits.csv --label label -k 10 --seed 1 -m eac-average,pcc-kl,pcc-l2";

/// Builds the binary, runs the job, says where the results are.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    println!("Building partita for a first look (three to four minutes the first time) …");
    let flags = "build --profile quick -p partita-cli --no-default-features --bin partita";
    shell::run(&mut workspace.cargo(flags))?;
    let binary = workspace.program("quick", "partita")?;
    job(workspace, &binary)?;
    println!(
        "\n{} reads text tables and computes slowly; all of it: cargo install --locked --path crates/doors/cli",
        workspace.show(&binary)
    );
    Ok(())
}

/// The same job with the binary of the tests.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    job(workspace, &workspace.tested("partita")?)
}

fn job(workspace: &Workspace, binary: &Path) -> Result<()> {
    let folder = workspace.target("demo")?;
    println!("$ partita {JOB} -o {}", workspace.show(&folder));
    let mut job = Command::new(binary);
    job.current_dir(workspace.root())
        .args(JOB.split_whitespace())
        .arg("-o")
        .arg(&folder)
        .arg("--force");
    shell::run(&mut job)?;
    println!("\nWritten:");
    for (file, bytes) in results(&folder)? {
        println!("  {bytes:>9}  {}", workspace.show(&file));
    }
    Ok(())
}

/// The self-check and one run of a command line, in an empty environment.
pub(crate) fn try_installed(workspace: &Workspace, program: &Path, place: &Path) -> Result<()> {
    let command = || {
        let mut command = Command::new(program);
        command.env_clear().current_dir(place);
        // What Windows finds its own libraries by.
        command.envs(env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
        command
    };
    shell::output(command().arg("doctor"))?;
    let iris = workspace.path("datasets/iris.csv");
    let out = place.join("tried");
    let mut run = command();
    run.args(["-q", "run", "--truth", "label", "--force"])
        .arg(&iris);
    shell::output(run.arg("-o").arg(&out))?;
    let labels = out.join("labels.csv");
    let rows = fs::read_to_string(&labels)?.lines().count();
    ensure!(rows == 151, "{}: {rows} lines, not 151", labels.display());
    fs::remove_dir_all(&out)?;
    Ok(())
}

/// The files under a folder with their sizes, by path.
fn results(folder: &Path) -> Result<Vec<(PathBuf, u64)>> {
    let entries = fs::read_dir(folder);
    let mut files = Vec::new();
    for entry in entries.with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(results(&path)?);
        } else {
            files.push((path.clone(), fs::metadata(path)?.len()));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_listed_with_their_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("other")).unwrap();
        fs::write(path("labels.csv"), "abc").unwrap();
        fs::write(path("other/labels.csv"), "").unwrap();
        assert_eq!(
            results(folder.path()).unwrap(),
            [(path("labels.csv"), 3), (path("other/labels.csv"), 0)]
        );
        assert!(results(&path("absent")).is_err());
    }
}
