//! Where the workspace is and what cargo knows of it.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::shell;

/// The name of the crate that lies in `crates/FOLDER/CRATE`.
pub(crate) fn crate_name(place: &str) -> String {
    match place.rsplit('/').next() {
        None | Some("partita") => "partita".into(),
        Some(name) => format!("partita-{name}"),
    }
}

/// The workspace that the command was called in.
pub(crate) struct Workspace {
    root: PathBuf,
    /// Variables that cargo and what it starts shall see.
    variables: Vec<(&'static str, &'static str)>,
}

/// The part of `cargo metadata --no-deps` that is read here.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    /// The crates of the workspace.
    pub(crate) packages: Vec<Package>,
    /// Where cargo builds.
    pub(crate) target_directory: PathBuf,
}

#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    /// What each feature turns on.
    pub(crate) features: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `dev`, `build`, or none for a normal dependency.
    pub(crate) kind: Option<String>,
}

impl Workspace {
    /// The workspace around the current folder.
    pub(crate) fn find() -> Result<Self> {
        let here = env::current_dir().context("there is no current folder")?;
        let is_root = |folder: &&Path| {
            std::fs::read_to_string(folder.join("Cargo.toml"))
                .is_ok_and(|text| text.contains("[workspace]"))
        };
        let root = here.ancestors().find(is_root);
        let root = root.with_context(|| {
            format!(
                "{} is in no cargo workspace; go to the checkout",
                here.display()
            )
        })?;
        Ok(Self {
            root: root.to_owned(),
            variables: Vec::new(),
        })
    }

    /// The workspace with this root.
    #[cfg(test)]
    pub(crate) fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            variables: Vec::new(),
        }
    }

    /// The same workspace, where cargo and what it starts see one more variable.
    pub(crate) fn with_variable(&self, name: &'static str, value: &'static str) -> Self {
        let mut variables = self.variables.clone();
        variables.push((name, value));
        Self {
            root: self.root.clone(),
            variables,
        }
    }

    /// Its folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path inside it.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// A path as it is written in messages: from the root, where it is inside.
    pub(crate) fn show<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }

    /// Cargo, in the workspace's folder.
    pub(crate) fn cargo<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .current_dir(&self.root)
            .args(arguments)
            .envs(self.variables.iter().copied());
        command
    }

    /// The crates and where cargo builds them. Needs no network.
    pub(crate) fn metadata(&self) -> Result<Metadata> {
        let text = shell::output(&mut self.cargo([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ]))?;
        serde_json::from_str(&text).context("cargo metadata printed something unexpected")
    }

    /// Builds a binary of a crate for use and says where it is. The command line is built from whatever else is: it asks the
    /// most of dependencies, and cargo would build them anew where less is asked.
    pub(crate) fn released(&self, package: &str, binary: &str) -> Result<PathBuf> {
        shell::run(&mut self.cargo([
            "build",
            "--release",
            "-p",
            "partita-cli",
            "-p",
            package,
            "--bin",
            binary,
        ]))?;
        let name = format!("{binary}{}", env::consts::EXE_SUFFIX);
        Ok(self.metadata()?.target_directory.join("release").join(name))
    }

    /// Where the tests' build of a binary is, brought up to date.
    pub(crate) fn tested(&self, binary: &str) -> Result<PathBuf> {
        shell::run(&mut self.cargo(["test", "--quiet", "--workspace", "--tests", "--no-run"]))?;
        let name = format!("{binary}{}", env::consts::EXE_SUFFIX);
        Ok(self.metadata()?.target_directory.join("debug").join(name))
    }
}
