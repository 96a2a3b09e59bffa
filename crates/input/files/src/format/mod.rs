//! File formats: one file each, and one line each in [`FORMATS`].

pub(crate) mod ancestry;
#[cfg(feature = "arrow")]
mod arrow;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod arrow_values;
pub(crate) mod cluster_table;
mod csv;
pub(crate) mod description;
mod folder;
#[cfg(any(
    feature = "arrow",
    feature = "parquet",
    feature = "sheets",
    feature = "h5ad"
))]
mod foreign;
#[cfg(feature = "h5ad")]
mod h5ad;
mod json;
#[cfg(feature = "h5ad")]
mod lzf;
mod mat;
pub(crate) mod matrix_market;
mod npy;
pub(crate) mod npy_header;
pub(crate) mod npz;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_codes;
#[cfg(feature = "parquet")]
pub(crate) mod parquet_write;
pub(crate) mod reader;
#[cfg(feature = "sheets")]
mod sheet;
pub(crate) mod sparse;
mod text_bounds;
mod text_bytes;
mod text_encoding;
mod text_layout;
mod text_rows;
#[cfg(test)]
mod toy;
mod transposed;
pub(crate) mod writer;

use std::io::Read;
use std::path::{Path, PathBuf};

use description::{Format, OpenOptions, Writes};
use partita_core::option;
use reader::Reader;

use crate::disk::metadata;
use crate::error::{FileError, Result};
use crate::open_file::{lower_name, open};

pub use text_layout::Header;

/// The formats that are read and written. The first whose ending fits is taken.
pub(crate) static FORMATS: &[Format] = &[
    csv::FORMAT,
    npy::FORMAT,
    npz::FORMAT,
    #[cfg(feature = "parquet")]
    parquet::FORMAT,
    #[cfg(feature = "arrow")]
    arrow::FORMAT,
    mat::FORMAT,
    json::FORMAT,
    #[cfg(feature = "sheets")]
    sheet::FORMAT,
    #[cfg(feature = "h5ad")]
    h5ad::FORMAT,
];

/// Endings of formats that a build may leave out; where they are in, [`FORMATS`] has them.
const LEFT_OUT: [&str; 9] = [
    ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".xlsx", ".xls", ".ods", ".zst",
];

/// The files that a path stands for: itself, or those of a folder that are read as one table, in the order of their names.
///
/// # Errors
/// [`FileError::Directory`] for a folder without files whose rows are read in groups (Parquet, Arrow, NPY) and without files of
/// ancestry (`.Q`, …), and [`FileError::Content`] for files of two formats.
pub fn input_parts(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    match folder::parts(FORMATS, path) {
        Err(FileError::Directory(_)) => ancestry::files(path),
        found => found.map(|(_, parts)| parts),
    }
}

/// The files of ancestry that a path stands for: itself, or those of a folder; none where it is something else.
pub(crate) fn ancestry_files(path: &Path) -> Option<Vec<PathBuf>> {
    let named = |parts: &Vec<PathBuf>| parts.iter().all(|part| ancestry::fits(part));
    if path.is_dir() {
        input_parts(path).ok().filter(named)
    } else {
        ancestry::fits(path).then(|| vec![path.into()])
    }
}

/// The format of a file, by the ending of its name, or of the files of a folder.
pub(crate) fn of(formats: &'static [Format], path: &Path) -> Result<&'static Format> {
    if path.is_dir() {
        return folder::parts(formats, path).map(|(format, _)| format);
    }
    let name = lower_name(path);
    formats
        .iter()
        .find(|format| format.fits(&name))
        .ok_or_else(|| {
            // A missing file is the better thing to say.
            let known = endings(formats, |_| true);
            if let Some(reason) = of_other_programs(&name) {
                return open(path)
                    .err()
                    .unwrap_or_else(|| FileError::damaged(path, reason));
            }
            open(path).err().unwrap_or_else(|| FileError::Extension {
                path: path.into(),
                known,
            })
        })
}

/// What to do with files that a smaller build leaves out, or that only their own program reads.
fn of_other_programs(name: &str) -> Option<&'static str> {
    let left_out = LEFT_OUT.map(|ending| {
        (ending, "this program was built without what reads such files; write the table as CSV, or take the program with all kinds of files (docs/install.md)")
    });
    let foreign = [
        (
            ".rds",
            "R alone reads this; write a table in R: x <- readRDS(\"FILE.rds\"); write.csv(as.data.frame(as.matrix(x)), \"table.csv\")",
        ),
        (
            ".rdata",
            "R alone reads this; write a table in R: load(\"FILE.RData\"); write.csv(as.data.frame(as.matrix(NAME)), \"table.csv\")",
        ),
        (
            ".h5ad",
            "AnnData in HDF5 is not read; write a table in Python: import anndata; a = anndata.read_h5ad(\"FILE.h5ad\"); \
             import pandas; pandas.DataFrame(a.obsm[\"X_pca\"], a.obs_names).to_csv(\"table.csv\") \
             (a.to_df() for X, a.to_df(layer=\"NAME\") for a layer, a.obs for labels)",
        ),
        (
            ".h5",
            "HDF5 is not read; write a table in Python: import h5py, numpy; numpy.save(\"table.npy\", h5py.File(\"FILE.h5\")[\"NAME\"][:])",
        ),
        (
            ".loom",
            "HDF5 is not read; write a table in Python: import anndata; anndata.read_loom(\"FILE.loom\").to_df().to_csv(\"table.csv\")",
        ),
        (
            ".sav",
            "SPSS alone writes this; write a table in Python: import pandas; pandas.read_spss(\"FILE.sav\").to_csv(\"table.csv\")",
        ),
        (
            ".dta",
            "Stata alone writes this; write a table in Python: import pandas; pandas.read_stata(\"FILE.dta\").to_csv(\"table.csv\")",
        ),
        (
            ".pkl",
            "Python alone reads this; write a table there: import pandas; pandas.DataFrame(pandas.read_pickle(\"FILE.pkl\")).to_csv(\"table.csv\")",
        ),
    ];
    left_out
        .into_iter()
        .chain(foreign)
        .find(|(ending, _)| name.ends_with(ending))
        .map(|(_, lines)| lines)
}

/// The ending that the name of a file has whose content begins with these bytes: `.parquet`, `.npy`, … by what the formats
/// begin with, `.csv.gz` or `.csv.zst` for packed bytes, else `.csv`. For data that comes without a name.
pub fn ending_of_content(start: &[u8]) -> &'static str {
    match FORMATS.iter().find(|format| format.begins(start)) {
        Some(format) => format.endings[0],
        None if start.starts_with(&[0x1f, 0x8b]) => ".csv.gz",
        None if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => ".csv.zst",
        None => ".csv",
    }
}

/// The format of a file that is to be written.
pub(crate) fn of_target(path: &Path, can: fn(Writes) -> bool) -> Result<&'static Format> {
    let name = lower_name(path);
    FORMATS
        .iter()
        .find(|format: &&Format| format.fits(&name) && can(format.writes))
        .ok_or_else(|| FileError::Extension {
            path: path.into(),
            known: endings(FORMATS, can),
        })
}

/// The endings of formats that can be written, or of all, as a list for people.
pub(crate) fn endings(formats: &[Format], can: impl Fn(Writes) -> bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    for format in formats.iter().filter(|format| can(format.writes)) {
        parts.extend(format.endings.iter().map(ToString::to_string));
        if let Some(last) = parts.last_mut().filter(|_| format.packed) {
            last.push_str(if cfg!(feature = "zstd") {
                " (also with .gz or .zst)"
            } else {
                " (also with .gz)"
            });
        }
    }
    match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => parts.concat(),
    }
}

/// Opens a file by the ending of its name, or the files of a folder as one.
pub(crate) fn open_reader(
    formats: &'static [Format],
    path: &Path,
    options: &OpenOptions,
) -> Result<Box<dyn Reader>> {
    if path.is_dir() {
        return folder::open(formats, path, options);
    }
    let format = of(formats, path)?;
    check_magic(formats, path, format)?;
    check_parts(path, format, options)?;
    let reader = (format.open)(path, options)?;
    if options.transpose && reader.items().typed {
        transposed::open(reader)
    } else {
        Ok(reader)
    }
}

/// Whether this format has files that begin as those of another do: spreadsheets are archives too.
fn shared_beginning(start: &[u8], format: &Format) -> bool {
    start.starts_with(b"PK") && format.endings.contains(&".xlsx")
}

/// Refuses the name of a sheet, a layer or an array in a file that has none of these.
fn check_parts(path: &Path, format: &Format, options: &OpenOptions) -> Result<()> {
    let parts = [
        ("sheet", &options.sheet, ".xlsx"),
        ("layer", &options.layer, ".h5ad"),
        ("obsm", &options.obsm, ".h5ad"),
    ];
    match parts
        .iter()
        .find(|(_, name, ending)| name.is_some() && !format.endings.contains(ending))
    {
        Some((flag, _, ending)) => {
            let reason = format!("{} is of {ending} files; leave it out", option(flag));
            Err(FileError::damaged(path, reason))
        }
        None => Ok(()),
    }
}

/// Refuses a file that says with its first bytes that it is of another format than its name says.
fn check_magic(formats: &[Format], path: &Path, format: &Format) -> Result<()> {
    if !metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    let mut start = Vec::new();
    open(path)?
        .0
        .take(16)
        .read_to_end(&mut start)
        .map_err(FileError::reading(path))?;
    match formats.iter().find(|other| other.begins(&start)) {
        Some(other) if other.name != format.name && !shared_beginning(&start, format) => {
            let reason = format!(
                "the content is {}; let the name end in {}",
                other.name, other.endings[0]
            );
            Err(FileError::damaged(path, reason))
        }
        _ => Ok(()),
    }
}
