//! `ci`: what the checks run.

use std::env;

use anyhow::Result;

use crate::test;
use crate::workspace::Workspace;

/// All of `test`, where no test may pass because its data is absent.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    for (variable, what) in [
        ("PARTITA_DATASETS", "data sets"),
        ("PARTITA_POOLS", "pools of base clusterings"),
    ] {
        match env::var(variable) {
            Ok(folder) => println!("{what}: {folder}"),
            Err(_) => println!("{what}: {variable} is not set; tests that need them fail"),
        }
    }
    test::run(
        &workspace.with_variable("CI", "true"),
        &test::Arguments::default(),
    )
}
