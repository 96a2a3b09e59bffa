//! `demo`: the main job on data that is shipped.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell;
use crate::workspace::Workspace;

/// What a user would type after `partita`, up to the output folder.
const JOB: &[&str] =
    &["run", "datasets/digits.csv", "--label", "label", "-k", "10", "--seed", "1", "-m", "eac-average,pcc-kl,pcc-l2"];

/// Builds the binary, runs the job, says where the results are.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    println!("Building partita (a few minutes the first time) …");
    let binary = workspace.binary()?;
    let folder = workspace.metadata()?.target_directory.join("demo");
    println!("$ partita {} -o {}", JOB.join(" "), workspace.show(&folder));
    let mut job = Command::new(&binary);
    job.current_dir(workspace.root()).args(JOB).arg("-o").arg(&folder).arg("--force");
    shell::run(&mut job)?;
    println!("\nWritten:");
    for (file, bytes) in results(&folder)? {
        println!("  {:>9}  {}", bytes, workspace.show(&folder.join(file)));
    }
    Ok(())
}

/// The files of the demo with their sizes, by name.
fn results(folder: &std::path::Path) -> Result<Vec<(String, u64)>> {
    let read = || format!("can not read {}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(read)? {
        let entry = entry.with_context(read)?;
        let metadata = entry.metadata().with_context(read)?;
        if metadata.is_file() {
            files.push((entry.file_name().to_string_lossy().into_owned(), metadata.len()));
        }
    }
    files.sort();
    Ok(files)
}
