//! The parts of cargo-deny's configuration that are checked here.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Policy {
    pub(super) licenses: Licenses,
    pub(super) bans: Bans,
    pub(super) sources: Sources,
}

#[derive(Deserialize)]
pub(super) struct Licenses {
    /// SPDX identifiers, with their exceptions.
    pub(super) allow: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Bans {
    /// Names of crates that may be there in more than one version.
    pub(super) skip: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Sources {
    pub(super) allow_registry: Vec<String>,
}

/// Reads the configuration.
pub(super) fn read(path: &Path) -> Result<Policy> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text)
        .with_context(|| format!("{} is not a configuration of cargo-deny", path.display()))
}
