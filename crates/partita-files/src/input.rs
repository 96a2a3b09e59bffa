//! Opening files by what their names say.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::FileError;
use crate::error::READ;

/// The layouts that are read and written, by the ending of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Npy,
    Npz,
    Parquet,
    Mat,
}

/// Whether a text file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
}

const READABLE: &str = ".csv, .tsv, .txt (also with .gz), .npy, .npz, .parquet or .mat";

const WRITABLE: &str = ".csv, .tsv (also with .gz), .npz or .parquet";

impl Format {
    pub(crate) fn of(path: &Path) -> Result<Self, FileError> {
        let name = lower_name(path);
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        match () {
            () if ends(&[".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"]) => Ok(Self::Text),
            () if ends(&[".npy"]) => Ok(Self::Npy),
            () if ends(&[".npz"]) => Ok(Self::Npz),
            () if ends(&[".parquet", ".pq"]) => Ok(Self::Parquet),
            () if ends(&[".mat"]) => Ok(Self::Mat),
            // A folder or a missing file is the better thing to say.
            () => Err(open(path).err().unwrap_or(FileError::Extension { path: path.into(), known: READABLE })),
        }
    }

    /// As [`of`](Self::of), for a file that need not exist.
    pub(crate) fn of_target(path: &Path) -> Result<Self, FileError> {
        match Self::of(path) {
            Err(FileError::Missing(_)) => Err(FileError::Extension { path: path.into(), known: WRITABLE }),
            other => other,
        }
    }
}

impl Compression {
    pub(crate) fn of(path: &Path) -> Self {
        let packed = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
        if packed { Self::Gzip } else { Self::None }
    }
}

pub(crate) fn lower_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// The file and its length in bytes, if it has any.
pub(crate) fn open(path: &Path) -> Result<(File, u64), FileError> {
    let failed = |source| FileError::io(path, READ, source);
    let file = File::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    match () {
        () if found.is_dir() => Err(FileError::Directory(path.into())),
        () if found.is_file() && found.len() == 0 => Err(FileError::Empty(path.into())),
        () => Ok((file, found.len())),
    }
}

/// All bytes of a file.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    let (mut file, _) = open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|source| FileError::io(path, READ, source))?;
    if bytes.is_empty() { Err(FileError::Empty(path.into())) } else { Ok(bytes) }
}
