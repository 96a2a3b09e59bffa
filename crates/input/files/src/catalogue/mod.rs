//! The data sets that Partita is measured on.

use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::error::FileError;
use crate::open_file::{Compression, open};

/// A data set of the catalogue, `catalogue.csv` of this crate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct DataSet {
    /// What it is called.
    pub name: String,
    /// Its file, `.csv` or `.csv.gz`.
    pub file: String,
    /// Objects, n.
    pub rows: usize,
    /// Columns besides the label, the split and those that only identify an object.
    pub features: usize,
    /// Distinct labels.
    pub classes: usize,
    /// What the features are.
    pub kind: DataKind,
    class_counts: String,
    /// SHA-256 of the CSV, uncompressed.
    pub sha256: String,
    /// SHA-256 of the file as it is named.
    pub file_sha256: String,
    /// `yes` where the file comes with Partita.
    shipped: String,
    /// Who made it, and the licence where one is stated.
    pub origin: String,
    /// Where the copy was taken.
    pub source: String,
    /// What was left out or is odd.
    pub notes: String,
}

/// What the features of a data set are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DataKind {
    /// Numbers.
    Numbers,
    /// Numbers with empty fields.
    Gaps,
    /// Some columns are words.
    Mixed,
    /// One column of documents.
    Text,
}

impl DataSet {
    /// True where the file comes with Partita.
    pub fn shipped(&self) -> bool {
        self.shipped == "yes"
    }

    /// Objects of every class, in the order of the labels.
    pub fn class_counts(&self) -> Vec<(&str, usize)> {
        self.class_counts
            .split('|')
            .filter_map(|class| class.rsplit_once('='))
            .filter_map(|(label, count)| Some((label, count.parse().ok()?)))
            .collect()
    }
}

static CATALOGUE: LazyLock<Vec<DataSet>> = LazyLock::new(|| {
    let text = include_str!("../../catalogue.csv");
    csv::Reader::from_reader(text.as_bytes())
        .deserialize()
        .collect::<Result<_, _>>()
        .expect("the catalogue is well formed")
});

/// All data sets of the catalogue, by name.
pub fn catalogue() -> &'static [DataSet] {
    &CATALOGUE
}

/// The data set of this name.
pub fn data_set(name: &str) -> Option<&'static DataSet> {
    CATALOGUE.iter().find(|set| set.name == name)
}

/// Checks that a file is the canonical copy of a data set, by the SHA-256 of its uncompressed content.
///
/// # Errors
/// [`FileError`] if the file cannot be read or holds something else.
///
/// # Cost
/// One pass over the file, 64 KiB of memory.
pub fn verify(set: &DataSet, path: &Path) -> Result<(), FileError> {
    let mut bytes = Compression::of(path)
        .unpack(open(path)?.0)
        .map_err(FileError::reading(path))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match bytes.read(&mut buffer).map_err(FileError::reading(path))? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    let found: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .concat();
    if found == set.sha256 {
        return Ok(());
    }
    let reason = format!(
        "this is not the canonical copy of '{}': its SHA-256 begins {}, not {}; fetch it again",
        set.name,
        &found[..12],
        &set.sha256[..12]
    );
    Err(FileError::damaged(path, reason))
}
