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
}

/// The part of `cargo metadata` that is read here.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    /// Where cargo builds.
    pub(crate) target_directory: PathBuf,
}

#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    /// The registry that it comes from; none for a crate of ours.
    pub(crate) source: Option<String>,
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
        let root = here.ancestors().find(is_root).with_context(|| {
            format!(
                "{} is in no cargo workspace; go to the checkout",
                here.display()
            )
        })?;
        Ok(Self { root: root.into() })
    }

    /// The workspace with this root.
    #[cfg(test)]
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.into() }
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

    /// A program with arguments that spaces separate, in the workspace's folder.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = shell::command(words);
        command.current_dir(&self.root);
        command
    }

    /// Cargo with arguments that spaces separate, in the workspace's folder.
    pub(crate) fn cargo(&self, words: &str) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root);
        command.args(words.split_whitespace());
        command
    }

    /// Our crates and where cargo builds them. Needs no network.
    pub(crate) fn metadata(&self) -> Result<Metadata> {
        self.metadata_of("--no-deps --offline")
    }

    /// The crates that these flags of `cargo metadata` leave.
    pub(crate) fn metadata_of(&self, flags: &str) -> Result<Metadata> {
        let mut cargo = self.cargo("metadata --format-version 1");
        let text = shell::output(cargo.args(flags.split_whitespace()))?;
        serde_json::from_str(&text).context("cargo metadata printed something unexpected")
    }

    /// A folder below that in which cargo builds.
    pub(crate) fn target(&self, folder: &str) -> Result<PathBuf> {
        Ok(self.metadata()?.target_directory.join(folder))
    }

    /// Where cargo puts a binary that is built with this profile.
    pub(crate) fn program(&self, profile: &str, binary: &str) -> Result<PathBuf> {
        self.target(&format!("{profile}/{binary}{}", env::consts::EXE_SUFFIX))
    }

    /// Builds a binary of a crate for use and says where it is. The command line is built from whatever else is: it asks the
    /// most of dependencies, and cargo would build them anew where less is asked.
    pub(crate) fn released(&self, package: &str, binary: &str) -> Result<PathBuf> {
        let mut cargo = self.cargo("build --release -p partita-cli -p");
        shell::run(cargo.args([package, "--bin", binary]))?;
        self.program("release", binary)
    }

    /// Where the tests' build of a binary is, brought up to date.
    pub(crate) fn tested(&self, binary: &str) -> Result<PathBuf> {
        shell::run(&mut self.cargo("test --quiet --workspace --tests --no-run"))?;
        self.program("debug", binary)
    }
}
