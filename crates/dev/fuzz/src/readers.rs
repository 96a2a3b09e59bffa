//! Files of every format, by every reader that takes them: an answer of the right shape, or an error on one line.

use std::fmt::Display;
use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use arbitrary::Unstructured;
use partita::files::{
    ClusterTable, Encode, FileError, Impute, LabelBlock, LabelGroups, ReadOptions, TableGroups,
    is_sparse_table, load_ensemble, load_labels, load_table, read_runs, read_soft,
    read_sparse_table,
};
use partita::{Ensemble, MemoryBudget};
use partita_app::FileKind;
use tempfile::TempDir;
use zip::CompressionMethod::Stored;
use zip::write::SimpleFileOptions;

use crate::choices::{below, byte, choose};

/// Memory that a reader may take for a file of some kilobytes.
pub(crate) const BUDGET: MemoryBudget = MemoryBudget::new(64 << 20);

thread_local! {
    /// A folder a thread, in memory where the system has such a place; files in it are written anew for every execution.
    static FOLDER: TempDir = TempDir::new_in("/dev/shm")
        .or_else(|_| TempDir::new())
        .expect("a temporary folder");
}

pub(crate) fn folder() -> PathBuf {
    FOLDER.with(|folder| folder.path().to_owned())
}

/// A file of this name with these bytes.
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    fs::write(&path, bytes).expect("room in the temporary folder");
    path
}

/// An error is one line that a person can read.
pub(crate) fn check_error(error: &impl Display) {
    let message = error.to_string();
    assert!(
        !message.is_empty() && !message.contains('\n'),
        "an error is one line: {message:?}"
    );
}

pub(crate) fn fine<T>(result: Result<T, impl Display>) -> Option<T> {
    result.map_err(|error| check_error(&error)).ok()
}

/// Options from a byte: none of them for 0, as people mostly have it.
fn options(byte: u8) -> ReadOptions {
    let mut options = ReadOptions::default().within(BUDGET);
    options.transpose = byte & 1 != 0;
    options.impute = (byte & 2 != 0).then_some(Impute::Mean);
    options.encode = match byte >> 2 & 3 {
        1 => Some(Encode::OneHot),
        2 => Some(Encode::Ordinal),
        _ => None,
    };
    options.soft_bases = byte & 16 != 0;
    options.harden = byte & 32 != 0;
    options.clusterable = byte & 64 == 0;
    if byte & 128 != 0 {
        options.missing = Some(vec!["x".into(), "0".into()]);
        options.id = Some("1".into());
    }
    options
}

/// What is read of a file of label rows.
fn check_ensemble(ensemble: &Ensemble) {
    let (n, bases) = (ensemble.objects(), ensemble.bases());
    assert!(
        n > 0 && !bases.is_empty(),
        "an ensemble has objects and base clusterings"
    );
    for (u, base) in bases.iter().enumerate() {
        assert_eq!(base.values().len(), base.clusters());
        if ensemble.memberships().is_none() {
            let mut labels = (0..n).filter_map(|i| ensemble.label(i, u));
            assert!(labels.all(|label| label < base.clusters()));
        }
    }
    if let Some(shares) = ensemble.memberships() {
        let mut all = (0..n).flat_map(|i| shares.row(i).1);
        assert!(all.all(|share| (0.0..=1.0 + 1e-9).contains(share)));
    }
}

/// Every reader of tables, ensembles and labels.
fn read_all(path: &Path, options: &ReadOptions) {
    if let Some((table, _)) = fine(load_table(path, options)) {
        let values = &table.values;
        assert!(
            values.iter().all(|value| value.is_finite()),
            "tables have finite numbers"
        );
        assert_eq!(values.ncols(), table.columns.len());
        let names = table.object_names.as_ref();
        assert!(names.is_none_or(|names| names.len() == values.nrows()));
    }
    if let Some((loaded, _)) = fine(load_ensemble(path, options)) {
        check_ensemble(&loaded.ensemble);
        let truth = loaded.truth.as_ref();
        assert!(truth.is_none_or(|truth| truth.values.len() == loaded.ensemble.objects()));
    }
    fine(load_labels(path, options));
    fine(FileKind::of(path, options));
}

/// Readers of groups of rows.
fn read_groups(path: &Path, options: &ReadOptions) -> Result<(), FileError> {
    if let Some(groups) = LabelGroups::open(path, options)? {
        for group in 0..groups.groups() {
            let dim = match groups.block(group)? {
                LabelBlock::Bytes(rows) => rows.dim(),
                LabelBlock::Words(rows) => rows.dim(),
                other => panic!("an unknown width of labels: {other:?}"),
            };
            assert_eq!(dim, (groups.rows(group), groups.bases().len()));
        }
    }
    if let Some(groups) = TableGroups::open(path, options)? {
        for group in 0..groups.groups() {
            assert_eq!(groups.read(group)?.ncols(), groups.dim().1);
        }
    }
    Ok(())
}

/// The first byte says how, the rest is the file.
fn by_name(name: &str, bytes: &[u8]) {
    let (&how, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let (path, options) = (file(name, bytes), options(how));
    read_all(&path, &options);
    fine(read_groups(&path, &options));
    fine(read_runs(&path, &options));
    fine(read_soft(&path));
}

pub(crate) fn csv(bytes: &[u8]) {
    by_name("a.csv", bytes);
}

pub(crate) fn npy(bytes: &[u8]) {
    by_name("a.npy", bytes);
}

pub(crate) fn parquet(bytes: &[u8]) {
    by_name("a.parquet", bytes);
}

pub(crate) fn arrow(bytes: &[u8]) {
    by_name("a.arrow", bytes);
}

pub(crate) fn mat(bytes: &[u8]) {
    by_name("a.mat", bytes);
}

/// Packed text: by gzip or Zstandard, as the first byte says.
pub(crate) fn packed(bytes: &[u8]) {
    let (&how, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let name = ["a.csv.gz", "a.csv.zst"][usize::from(how & 1)];
    read_all(&file(name, bytes), &options(0));
}

/// Archives, also as sparse tables and tables of base clusters.
pub(crate) fn npz(bytes: &[u8]) {
    by_name("a.npz", bytes);
    let path = file("b.npz", bytes.get(1..).unwrap_or_default());
    is_sparse_table(&path, &options(0));
    fine(read_sparse_table(&path, &options(0)));
    fine(ClusterTable::read(&path, BUDGET));
}

/// Names of arrays that readers look for.
const ARRAYS: &str = "labels data indices indptr shape format truth object_names columns bases starts shares clusters X y members";

/// An archive whose checksums are right whatever its arrays are: names by number, lengths, contents.
pub(crate) fn arrays(bytes: &[u8]) {
    let mut from = Unstructured::new(bytes);
    let how = byte(&mut from);
    let mut archive = zip::ZipWriter::new(Cursor::new(vec![]));
    let names: Vec<&str> = ARRAYS.split(' ').collect();
    let stored = SimpleFileOptions::default().compression_method(Stored);
    for _ in 0..below(&mut from, 8) {
        let name = choose(&mut from, &names);
        let length = below(&mut from, 4096).min(from.len());
        let content = from.bytes(length).unwrap_or_default();
        // A name that is there already is not taken twice by the writer.
        if archive.start_file(format!("{name}.npy"), stored).is_ok() {
            archive.write_all(content).expect("room in memory");
        }
    }
    let archive = archive.finish().expect("room in memory").into_inner();
    npz(&[&[how], &archive[..]].concat());
}

/// Tables of ancestry: `.Q` and what else is named so.
pub(crate) fn ancestry(bytes: &[u8]) {
    let (&how, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let name = ["a.3.Q", "a.meanQ", "a.P", "a_f"][usize::from(how) % 4];
    let (path, options) = (file(name, bytes), options(how & 0x40));
    if let Some(tables) = fine(read_runs(&path, &options)) {
        assert!(!tables.runs.is_empty());
    }
    fine(load_ensemble(&path, &options));
    fine(load_table(&path, &options));
}
