//! `datasets`: what the catalogue lists, whether it is here, and where to get it: from a folder or over plain HTTP. What arrives has a
//! checksum in the catalogue, so nothing else has to vouch for it.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, slice};

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use ureq::Agent;

use crate::workspace::Workspace;

/// Where data that is not shipped lies.
const FOLDER_VARIABLE: &str = "PARTITA_DATASETS";

/// The most bytes of one file that are taken, and the most that it may unpack to: several times the largest set.
const LARGEST: u64 = 64 << 20;
const LARGEST_UNPACKED: u64 = 1 << 30;

/// How long a server may take to connect, and to say anything at all.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List all data sets, and where each lies.
    List,
    /// Compare the data sets that are here with their checksums.
    Verify {
        /// Look here only; without it, in datasets/ and in the folder that PARTITA_DATASETS names.
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Get data sets that are not here, and check them.
    Fetch(Fetch),
}

#[derive(Args)]
struct Fetch {
    /// Where the files lie: a folder, or a URL that starts with http:// and to which the file names are added.
    #[arg(long, value_name = "URL|FOLDER")]
    from: String,
    /// Where they go; without it, the folder that PARTITA_DATASETS names.
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// Names of data sets; all that are not shipped if none is named.
    names: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let sets = catalogue(&workspace.path("crates/input/files/catalogue.csv"))?;
    let mut folders = vec![workspace.path("datasets")];
    folders.extend(env::var_os(FOLDER_VARIABLE).map(PathBuf::from));
    match &arguments.command {
        Command::List => {
            print!("{}", list(workspace, &sets, &folders));
            Ok(())
        }
        Command::Verify { folder } => {
            let only = folder.as_ref().map(slice::from_ref);
            verify(workspace, &sets, only.unwrap_or(&folders))
        }
        Command::Fetch(arguments) => fetch_all(workspace, &sets, arguments),
    }
}

/// One line of the catalogue, as far as it is read here.
#[derive(Clone, Debug, Default, Deserialize)]
struct Set {
    name: String,
    file: String,
    rows: u64,
    features: u64,
    classes: u64,
    kind: String,
    /// Of the CSV, uncompressed, in hexadecimal digits.
    sha256: String,
    /// `yes` where it lies in `datasets/`.
    shipped: String,
}

impl Set {
    /// The set's file in a folder, compressed or not.
    fn find_in(&self, folder: &Path) -> Option<PathBuf> {
        let names = [&self.file, self.file.trim_end_matches(".gz")];
        let mut paths = names.iter().map(|name| folder.join(name));
        paths.find(|path| path.is_file())
    }
}

/// All sets, in the order of the file.
fn catalogue(path: &Path) -> Result<Vec<Set>> {
    let shown = path.display();
    let mut reader =
        csv::Reader::from_path(path).with_context(|| format!("cannot read {shown}"))?;
    let rows = reader.deserialize().collect::<Result<Vec<Set>, _>>();
    let sets = rows.with_context(|| format!("in {shown}"))?;
    for Set { file, .. } in &sets {
        let plain = !file.is_empty() && !file.starts_with('.') && !file.contains(['/', '\\']);
        ensure!(plain, "in {shown}: '{file}' is not a plain file name");
    }
    Ok(sets)
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

/// SHA-256 of the content of a file, in hexadecimal digits.
fn checksum(path: &Path, packed: bool) -> Result<String> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot open {shown}"))?;
    let content: Box<dyn Read> = if packed {
        Box::new(MultiGzDecoder::new(BufReader::new(file)))
    } else {
        Box::new(file)
    };
    let mut content = BufReader::new(content.take(LARGEST_UNPACKED + 1));
    let mut sum = Sha256::new();
    let mut bytes = 0;
    let mut buffer = [0; 1 << 14];
    loop {
        let read = content.read(&mut buffer);
        let read = read.with_context(|| format!("cannot read {shown}"))?;
        if read == 0 {
            break;
        }
        sum.update(&buffer[..read]);
        bytes += read as u64;
    }
    ensure!(
        bytes <= LARGEST_UNPACKED,
        "{shown} holds more than {LARGEST_UNPACKED} bytes; it is not a data set of the catalogue"
    );
    let digits = sum.finalize();
    Ok(digits.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The catalogue as a table.
fn list(workspace: &Workspace, sets: &[Set], folders: &[PathBuf]) -> String {
    let mut text = "name                    rows features classes  kind     where\n".to_owned();
    for set in sets {
        let place = folders.iter().find_map(|folder| set.find_in(folder));
        let place = place.map_or("not here".into(), |path| workspace.show(&path).to_string());
        let Set {
            name,
            rows,
            features,
            classes,
            kind,
            ..
        } = set;
        text += &format!("{name:<20} {rows:>7} {features:>8} {classes:>7}  {kind:<7}  {place}\n");
    }
    text
}

/// Compares every set that lies in one of the folders; fails if one differs, or if none is there at all.
fn verify(workspace: &Workspace, sets: &[Set], folders: &[PathBuf]) -> Result<()> {
    let mut good = 0;
    let mut bad = 0;
    for folder in folders {
        for set in sets {
            let shipped = set.shipped == "yes" && *folder == workspace.path("datasets");
            let path = set.find_in(folder);
            if path.is_none() && !shipped {
                continue;
            }
            let wrong = match path.as_ref().map(|path| checksum(path, is_packed(path))) {
                Some(Ok(sum)) if sum == set.sha256 => {
                    good += 1;
                    continue;
                }
                Some(Ok(sum)) => {
                    let known = &set.sha256;
                    format!("has the checksum {sum}, the catalogue says {known}; fetch it again")
                }
                Some(Err(error)) => format!("{error:#}; fetch it again"),
                None => "is shipped but not here; check it out again".into(),
            };
            let path = path.unwrap_or_else(|| folder.join(&set.file));
            println!("{}: {wrong}", workspace.show(&path));
            bad += 1;
        }
    }
    let all = good + bad;
    ensure!(
        bad == 0,
        "{bad} of {all} data sets are not what the catalogue says"
    );
    if good == 0 {
        let folders: Vec<_> = folders
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        bail!(
            "no data set of the catalogue lies in {}; `cargo xtask datasets fetch` gets them",
            folders.join(" or ")
        );
    }
    println!("{good} data sets are what the catalogue says");
    Ok(())
}

/// Gets what is not here yet. A set that cannot be had is named and the others are still fetched.
fn fetch_all(workspace: &Workspace, sets: &[Set], arguments: &Fetch) -> Result<()> {
    let from = arguments.from.parse::<Source>()?;
    let named = env::var_os(FOLDER_VARIABLE).map(PathBuf::from);
    let into = arguments.into.clone().or(named).with_context(|| {
        format!("where to? give --into FOLDER, or set {FOLDER_VARIABLE} to the folder that tests shall read")
    })?;
    fs::create_dir_all(&into)
        .with_context(|| format!("cannot make the folder {}", into.display()))?;
    for name in &arguments.names {
        ensure!(
            sets.iter().any(|set| set.name == *name),
            "there is no data set '{name}' in the catalogue; `cargo xtask datasets list` names them"
        );
    }
    let wanted = |set: &&Set| match &arguments.names[..] {
        [] => set.shipped != "yes",
        names => names.contains(&set.name),
    };
    let mut failed = 0;
    for set in sets.iter().filter(wanted) {
        let name = &set.name;
        match fetch(set, &from, &into) {
            Ok(true) => println!("{name:<20} fetched"),
            Ok(false) => println!("{name:<20} here already"),
            Err(error) => {
                println!("{name:<20} {error:#}");
                failed += 1;
            }
        }
    }
    ensure!(
        failed == 0,
        "{failed} data sets could not be fetched; what arrived is kept, so the same command goes on from here"
    );
    verify(workspace, sets, &[into])
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

/// Gets one set, unless it is here; the file appears under its name only when its checksum is right. Whether it was got.
fn fetch(set: &Set, from: &Source, into: &Path) -> Result<bool> {
    let here = set.find_in(into);
    if here.is_some_and(|path| checksum(&path, is_packed(&path)).is_ok_and(|sum| sum == set.sha256))
    {
        return Ok(false);
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
    result.map(|()| true)
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
    let sum = checksum(part, is_packed(Path::new(&set.file)))
        .with_context(|| format!("{place} is damaged; try another source"))?;
    let known = &set.sha256;
    ensure!(
        sum == *known,
        "{place} has the checksum {sum}, the catalogue says {known}; try another source"
    );
    Ok(())
}

/// What the file is called there, and its bytes.
fn open(set: &Set, from: &Source) -> Result<(String, Box<dyn Read>)> {
    match from {
        Source::Folder(folder) => {
            let path = folder.join(&set.file);
            let place = path.display().to_string();
            let file = File::open(&path)
                .with_context(|| format!("cannot open {place}; try another folder"))?;
            Ok((place, Box::new(file)))
        }
        Source::Url(base) => {
            let url = format!("{base}{}", set.file);
            let agent: Agent = Agent::config_builder()
                .timeout_connect(Some(PATIENCE))
                .timeout_recv_response(Some(PATIENCE))
                .timeout_per_read(Some(PATIENCE))
                .build()
                .into();
            let response = agent.get(&url).call();
            let response =
                response.with_context(|| format!("{url} gives no file; check the address"))?;
            Ok((url, Box::new(response.into_body().into_reader())))
        }
    }
}

#[cfg(test)]
mod tests;
