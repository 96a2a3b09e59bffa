//! Manifests: label rows in many files as one ensemble, cut into parts of about equal size, with the labels of all files.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use partita_core::option;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::groups::GroupedColumns;
use super::label_rows;
use super::read_options::{ReadOptions, Truth};
use super::roles::{ColumnRole, Role, find};
use crate::error::{FileError, Result};
use crate::format::input_parts;

/// The version of the form of [`Manifest`] that this library writes and reads.
pub const MANIFEST_VERSION: u32 = 1;

/// Rows that follow each other through many files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// The version of this form: [`MANIFEST_VERSION`].
    pub manifest_version: u32,
    /// Number of objects, n.
    pub rows: u64,
    /// The base clusterings, in the order of the columns.
    pub bases: Vec<ManifestBase>,
    /// How the files are read.
    pub read: ReadOptions,
    /// The files, in the order of their rows.
    pub files: Vec<ManifestFile>,
    /// What one task reads.
    pub parts: Vec<ManifestPart>,
}

/// A base clustering: a column of all files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestBase {
    /// Name of the column.
    pub name: String,
    /// The labels that occur in any of the files, in order.
    pub labels: Vec<u64>,
}

/// A file, and what tells whether it was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFile {
    /// Where it is, as seen from the folder of the manifest.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was written: nanoseconds since 1970. Another time alone means that its bytes are looked at.
    pub modified: u64,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Rows of every group.
    pub groups: Vec<u64>,
}

/// Some groups of rows that follow each other, through files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestPart {
    /// Number of the first row.
    pub first: u64,
    /// Number of rows.
    pub rows: u64,
    /// Groups, numbered through all files.
    pub groups: Range<usize>,
}

impl Manifest {
    /// The manifest of files whose rows follow each other, for a manifest that lies in `folder`: in one pass over all files it
    /// unites the labels of every column. A part is as many whole groups as fit `rows_per_part`, at least one. Folders stand for
    /// the files in them. Where options name columns as data, these alone are base clusterings. Also what there is to note: columns that
    /// are left out.
    ///
    /// # Cost
    /// O(n M) time on all threads, and the SHA-256 of every file.
    ///
    /// # Errors
    /// [`FileError`] for a file that is not Parquet, Arrow or NPY, and for one whose columns are not those of the first: it names
    /// file and column.
    pub fn of(
        paths: &[PathBuf],
        folder: &Path,
        options: &ReadOptions,
        rows_per_part: u64,
    ) -> Result<(Self, Vec<String>), FileError> {
        let mut all = Vec::new();
        for path in paths {
            all.extend(input_parts(path)?);
        }
        named_once(&all)?;
        let Some(last) = all.last() else {
            return Err(FileError::no_rows(folder));
        };
        let options = &these_alone(last, options)?;
        let (mut bases, mut notes): (Vec<ManifestBase>, Vec<String>) = (Vec::new(), Vec::new());
        let mut files = Vec::with_capacity(all.len());
        for path in &all {
            let columns = open(path, options)?;
            if let Some(first) = all.first().filter(|_| !bases.is_empty()) {
                same_columns(path, &columns, &bases, first)?;
            }
            if notes.is_empty() {
                notes.extend(left_out(path, &columns));
            }
            unite(&mut bases, &columns, columns.distinct()?);
            files.push(ManifestFile::of(path, &columns)?);
        }
        bases
            .iter()
            .try_for_each(|base| label_rows::check_labels(last, &base.name, base.labels.len()))?;
        let hashes: Vec<_> = all.par_iter().map(|path| sha256(path)).collect();
        for ((file, hash), path) in files.iter_mut().zip(hashes).zip(&all) {
            (file.sha256, file.path) = (hash?, seen_from(folder, path));
        }
        let (parts, rows) = parts(&files, rows_per_part.max(1));
        let manifest = Self {
            manifest_version: MANIFEST_VERSION,
            rows,
            bases,
            read: options.clone(),
            files,
            parts,
        };
        Ok((manifest, notes))
    }

    /// What is wrong with a manifest that somebody else wrote or changed.
    pub(super) fn flaw(&self) -> Option<String> {
        let groups: Vec<u64> = self
            .files
            .iter()
            .flat_map(|file| file.groups.iter().copied())
            .collect();
        let mut row = 0u64;
        let mut group = 0;
        for (at, part) in self.parts.iter().enumerate() {
            let own = groups.get(part.groups.clone()).unwrap_or_default();
            let rows = own
                .iter()
                .try_fold(0u64, |sum, rows| sum.checked_add(*rows));
            if part.first != row
                || part.groups.start != group
                || own.is_empty()
                || rows != Some(part.rows)
            {
                return Some(format!(
                    "part {at} is not the groups that follow part {}",
                    at.saturating_sub(1)
                ));
            }
            (row, group) = (row.saturating_add(part.rows), part.groups.end);
        }
        let ordered =
            |base: &ManifestBase| !base.labels.is_empty() && base.labels.is_sorted_by(|a, b| a < b);
        match self.bases.iter().find(|base| !ordered(base)) {
            Some(base) => Some(format!("the labels of '{}' are not in order", base.name)),
            None if group != groups.len() || row != self.rows => {
                Some("its parts are not all of its rows".into())
            }
            None if self.bases.is_empty() || self.rows == 0 => Some("it has no labels".into()),
            None => None,
        }
    }
}

/// The options by which the columns that are named as data are read and no others, by the columns of one file.
fn these_alone(path: &Path, options: &ReadOptions) -> Result<ReadOptions> {
    if options.data.is_empty() {
        return Ok(options.clone());
    }
    let mut alone = ReadOptions {
        data: Vec::new(),
        truth: Truth::None,
        ..options.clone()
    };
    let columns = open_columns(path, &alone)?;
    let names: Vec<String> = columns
        .roles()
        .columns
        .iter()
        .map(|column| column.name.clone())
        .collect();
    let wanted: Vec<usize> = options
        .data
        .iter()
        .map(|name| find(path, &names, name))
        .collect::<Result<_, _>>()?;
    let others = (0..names.len())
        .filter(|column| !wanted.contains(column))
        .map(|column| names[column].clone());
    alone.skip = others.collect();
    Ok(alone)
}

/// Refuses a file that is there twice: its rows would count double.
fn named_once(paths: &[PathBuf]) -> Result<()> {
    let mut seen = HashSet::new();
    match paths
        .iter()
        .find(|path| !seen.insert(path.canonicalize().unwrap_or_else(|_| (*path).clone())))
    {
        Some(path) => Err(FileError::damaged(
            path,
            "it is named twice; name each file once",
        )),
        None => Ok(()),
    }
}

/// Opens the columns of a file, whatever they hold.
fn open_columns(path: &Path, options: &ReadOptions) -> Result<GroupedColumns> {
    // A missing file is the better thing to say.
    size_and_time(path)?;
    GroupedColumns::open(path, options)?.ok_or_else(|| {
        let expected = "Parquet, Arrow or NPY with hard labels (write it again as one of these)";
        FileError::kind(
            path,
            "the file",
            "not one whose label rows are read in groups",
            expected,
        )
    })
}

/// Opens the base clusterings of a file.
pub(super) fn open(path: &Path, options: &ReadOptions) -> Result<GroupedColumns> {
    let columns = open_columns(path, options)?;
    match columns.words() {
        Some(name) => {
            let skip = option("skip").naming(name);
            let expected =
                format!("whole numbers (leave it out with {skip}, or number the labels)");
            Err(FileError::kind(
                path,
                format!("column '{name}'"),
                "of words",
                expected,
            ))
        }
        None => Ok(columns),
    }
}

/// Refuses other base clusterings than those of the first file.
pub(super) fn same_columns(
    path: &Path,
    found: &GroupedColumns,
    bases: &[ManifestBase],
    first: &Path,
) -> Result<()> {
    let names: Vec<&String> = found.names().collect();
    let differs = (0..names.len().max(bases.len()))
        .find(|&at| names.get(at).copied() != bases.get(at).map(|base| &base.name));
    let Some(at) = differs else { return Ok(()) };
    let shown =
        |name: Option<&String>| name.map_or_else(|| "not there".into(), |name| format!("'{name}'"));
    let (own, wanted) = (
        shown(names.get(at).copied()),
        shown(bases.get(at).map(|base| &base.name)),
    );
    let reason = format!(
        "base clustering {} is {own}, but {wanted} in {}; all files of a manifest have the same columns",
        at + 1,
        first.display()
    );
    Err(FileError::damaged(path, reason))
}

/// What is said of columns that are no base clusterings.
fn left_out(path: &Path, columns: &GroupedColumns) -> Vec<String> {
    let roles = columns.roles();
    let others = roles
        .columns
        .iter()
        .filter(|column| !matches!(column.role, Role::Data | Role::Skipped));
    let note = |column: &ColumnRole| {
        format!(
            "{}: column '{}' is left out; labels are numbered in the order of the rows",
            path.display(),
            column.name
        )
    };
    others.map(note).collect()
}

fn unite(bases: &mut Vec<ManifestBase>, columns: &GroupedColumns, labels: Vec<Vec<u64>>) {
    if bases.is_empty() {
        bases.extend(columns.names().map(|name| ManifestBase {
            name: name.clone(),
            labels: Vec::new(),
        }));
    }
    for (base, more) in bases.iter_mut().zip(labels) {
        base.labels = label_rows::sorted(base.labels.drain(..).chain(more).collect());
    }
}

/// Consecutive groups up to so many rows, and the rows of all.
fn parts(files: &[ManifestFile], rows_per_part: u64) -> (Vec<ManifestPart>, u64) {
    let mut parts: Vec<ManifestPart> = Vec::new();
    let mut all = 0;
    for (group, &rows) in files.iter().flat_map(|file| &file.groups).enumerate() {
        match parts.last_mut() {
            Some(part) if part.rows + rows <= rows_per_part => {
                part.rows += rows;
                part.groups.end = group + 1;
            }
            _ => parts.push(ManifestPart {
                first: all,
                rows,
                groups: group..group + 1,
            }),
        }
        all += rows;
    }
    (parts, all)
}

impl ManifestFile {
    fn of(path: &Path, columns: &GroupedColumns) -> Result<Self> {
        let (bytes, modified) = size_and_time(path)?;
        let groups = columns.rows().into_iter().map(|rows| rows as u64).collect();
        Ok(Self {
            path: path.into(),
            bytes,
            modified,
            sha256: String::new(),
            groups,
        })
    }

    /// Refuses a file that is not the one of the manifest. Its bytes are looked at only if size or time say that they may differ.
    pub(super) fn check(&self, path: &Path) -> Result<()> {
        let (bytes, modified) = size_and_time(path)?;
        if bytes == self.bytes && (modified == self.modified || sha256(path)? == self.sha256) {
            return Ok(());
        }
        Err(FileError::damaged(
            path,
            "it was changed since the manifest was made; make the manifest again",
        ))
    }
}

fn size_and_time(path: &Path) -> Result<(u64, u64)> {
    let found = std::fs::metadata(path).map_err(FileError::reading(path))?;
    let since = found
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok((
        found.len(),
        since.map_or(0, |since| since.as_nanos() as u64),
    ))
}

fn sha256(path: &Path) -> Result<String> {
    let (mut file, mut hash, mut buffer) = (
        File::open(path).map_err(FileError::reading(path))?,
        Sha256::new(),
        vec![0; 1 << 18],
    );
    loop {
        match file.read(&mut buffer).map_err(FileError::reading(path))? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A path as seen from a folder: relative where both can be found.
fn seen_from(folder: &Path, path: &Path) -> PathBuf {
    let here = if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    };
    let (Ok(folder), Ok(file)) = (here.canonicalize(), path.canonicalize()) else {
        return path.into();
    };
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (folder.components().collect(), file.components().collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[shared..].iter().map(|_| Component::ParentDir);
    up.chain(to[shared..].iter().copied()).collect()
}
