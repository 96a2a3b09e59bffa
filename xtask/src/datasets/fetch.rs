//! Getting data sets from a folder or over plain HTTP. What arrives has a checksum in the catalogue, so nothing else
//! has to vouch for it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use ureq::Agent;

use super::catalogue::{Set, checksum, checksum_of};
use super::{FOLDER_VARIABLE, verify};
use crate::workspace::Workspace;

/// The most bytes of one file that are taken: several times the largest set, packed.
const LARGEST: u64 = 64 << 20;

/// How long a server may take to connect, and to say anything at all.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Args)]
pub(crate) struct Arguments {
    /// Where the files lie: a folder, or a URL that starts with http:// and to which the file names are added.
    #[arg(long, value_name = "URL|FOLDER")]
    from: String,
    /// Where they go; without it, the folder that PARTITA_DATASETS names.
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// Names of data sets; all that are not shipped if none is named.
    names: Vec<String>,
}

/// Gets what is not here yet. A set that cannot be had is named and the others are still fetched.
pub(super) fn run(workspace: &Workspace, sets: &[Set], arguments: &Arguments) -> Result<()> {
    let from = arguments.from.parse::<Source>()?;
    let into = match &arguments.into {
        Some(folder) => folder.clone(),
        None => std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from).with_context(|| {
            format!("where to? give --into FOLDER, or set {FOLDER_VARIABLE} to the folder that tests shall read")
        })?,
    };
    fs::create_dir_all(&into)
        .with_context(|| format!("cannot make the folder {}", into.display()))?;
    let mut failed = 0;
    for set in chosen(sets, &arguments.names)? {
        match fetch(set, &from, &into) {
            Ok(Fetched::New) => println!("{:<20} fetched", set.name),
            Ok(Fetched::Here) => println!("{:<20} here already", set.name),
            Err(error) => {
                println!("{:<20} {error:#}", set.name);
                failed += 1;
            }
        }
    }
    if failed > 0 {
        bail!(
            "{failed} data sets could not be fetched; what arrived is kept, so the same command goes on from here"
        );
    }
    verify::run(workspace, sets, &[into])
}

fn chosen<'a>(sets: &'a [Set], names: &[String]) -> Result<Vec<&'a Set>> {
    if names.is_empty() {
        return Ok(sets.iter().filter(|set| !set.is_shipped()).collect());
    }
    let by_name = |name: &String| {
        sets.iter().find(|set| set.name == *name).with_context(|| {
            format!("there is no data set '{name}' in the catalogue; `cargo xtask datasets list` names them")
        })
    };
    names.iter().map(by_name).collect()
}

#[derive(Debug, PartialEq)]
enum Fetched {
    New,
    Here,
}

/// Where files come from.
enum Source {
    Folder(PathBuf),
    /// Ends in `/`.
    Url(String),
}

impl std::str::FromStr for Source {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.starts_with("http://") {
            return Ok(Self::Url(format!("{}/", text.trim_end_matches('/'))));
        }
        if let Some((scheme, _)) = text.split_once("://") {
            bail!(
                "{scheme}:// is not spoken here; use http://, or download into a folder and give that"
            );
        }
        ensure!(
            Path::new(text).is_dir(),
            "{text} is not a folder; give a folder that exists, or a URL with http://"
        );
        Ok(Self::Folder(text.into()))
    }
}

/// Gets one set; the file appears under its name only when its checksum is right.
fn fetch(set: &Set, from: &Source, into: &Path) -> Result<Fetched> {
    if let Some(path) = set.find_in(into)
        && checksum(&path).is_ok_and(|sum| sum == set.sha256)
    {
        return Ok(Fetched::Here);
    }
    let part = into.join(format!(".{}.part", set.file));
    let result = receive(set, from, &part).and_then(|()| {
        let path = into.join(&set.file);
        fs::rename(&part, &path).with_context(|| format!("cannot write {}", path.display()))
    });
    if result.is_err() {
        // Best effort: the error that matters is the one that led here.
        let _ = fs::remove_file(&part);
    }
    result.map(|()| Fetched::New)
}

/// Writes the file to `part` and checks it.
fn receive(set: &Set, from: &Source, part: &Path) -> Result<()> {
    let (place, content) = open(set, from)?;
    let mut file =
        File::create(part).with_context(|| format!("cannot write {}", part.display()))?;
    let bytes = io::copy(&mut content.take(LARGEST + 1), &mut file)
        .with_context(|| format!("{place} broke off; try again"))?;
    ensure!(
        bytes <= LARGEST,
        "{place} is larger than {LARGEST} bytes; it is not a data set of the catalogue"
    );
    let sum = checksum_of(part, set.is_packed())
        .with_context(|| format!("{place} is damaged; try another source"))?;
    ensure!(
        sum == set.sha256,
        "{place} has the checksum {sum}, the catalogue says {}; try another source",
        set.sha256
    );
    Ok(())
}

/// What the file is called there, and its bytes.
fn open(set: &Set, from: &Source) -> Result<(String, Box<dyn Read>)> {
    match from {
        Source::Folder(folder) => {
            let path = folder.join(&set.file);
            let file = File::open(&path)
                .with_context(|| format!("cannot open {}; try another folder", path.display()))?;
            Ok((path.display().to_string(), Box::new(file)))
        }
        Source::Url(base) => {
            let url = format!("{base}{}", set.file);
            let agent: Agent = Agent::config_builder()
                .timeout_connect(Some(PATIENCE))
                .timeout_recv_response(Some(PATIENCE))
                .timeout_per_read(Some(PATIENCE))
                .build()
                .into();
            let response = agent
                .get(&url)
                .call()
                .with_context(|| format!("{url} gives no file; check the address"))?;
            Ok((url, Box::new(response.into_body().into_reader())))
        }
    }
}

#[cfg(test)]
mod tests;
