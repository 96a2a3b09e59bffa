//! Opening files, and reading them at any place from several threads.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use crate::disk::File;
use crate::error::{FileError, Result};

/// Whether a text file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    #[cfg(feature = "zstd")]
    Zstandard,
}

impl Compression {
    pub(crate) fn of(path: &Path) -> Self {
        match path
            .extension()
            .map(|ending| ending.to_string_lossy().to_lowercase())
            .as_deref()
        {
            Some("gz") => Self::Gzip,
            #[cfg(feature = "zstd")]
            Some("zst") => Self::Zstandard,
            _ => Self::None,
        }
    }

    /// The bytes of a file, unpacked.
    ///
    /// # Errors
    /// What the decoder cannot begin with.
    #[cfg_attr(
        not(feature = "zstd"),
        expect(
            clippy::unnecessary_wraps,
            reason = "only Zstandard has a beginning that can fail"
        )
    )]
    pub(crate) fn unpack(self, file: File) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::None => Box::new(file),
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(BufReader::new(file))),
            #[cfg(feature = "zstd")]
            Self::Zstandard => Box::new(zstd::stream::read::Decoder::new(file)?),
        })
    }

    /// A name without the ending that says how the file is packed.
    pub(crate) fn plain_name(name: &str) -> &str {
        const ENDINGS: &[&str] = if cfg!(feature = "zstd") {
            &[".gz", ".zst"]
        } else {
            &[".gz"]
        };
        ENDINGS
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(name)
    }
}

pub(crate) fn lower_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().to_lowercase())
        .unwrap_or_default()
}

/// Whether a name in small letters has this ending, given without its dot, and something before it.
pub(crate) fn has_ending(small: &str, ending: &str) -> bool {
    let split = small.rsplit_once('.');
    split.is_some_and(|(stem, own)| own == ending && !stem.is_empty())
}

/// The file and its length in bytes, if it has any.
pub(crate) fn open(path: &Path) -> Result<(File, u64)> {
    if is_named_pipe(path) {
        let reason = "this is a pipe, and files are read more than once; give - and send it to standard input";
        return Err(FileError::damaged(path, reason));
    }
    let file = File::open(path).map_err(FileError::reading(path))?;
    let found = file.metadata().map_err(FileError::reading(path))?;
    match () {
        () if found.is_dir() => Err(FileError::Directory(path.into())),
        () if found.is_file() && found.len() == 0 => Err(FileError::empty(path)),
        () => Ok((file, found.len())),
    }
}

/// Whether opening it would wait for somebody who writes. Pipes of this process (`/dev/stdin`, `/dev/fd/63`) have one.
#[cfg(unix)]
fn is_named_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let own = path.starts_with("/dev") || path.starts_with("/proc");
    !own && std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_named_pipe(_: &Path) -> bool {
    false
}

/// A place in a file. Cursors of one file share a handle from their first byte on, and the last of them closes it: thousands of files
/// can be known at once, of which few are open.
#[derive(Clone, Debug)]
pub(crate) struct FileCursor {
    known: Arc<KnownFile>,
    /// Since this cursor has read.
    file: Option<Arc<File>>,
    at: u64,
}

/// A file that was open once.
#[derive(Debug)]
struct KnownFile {
    path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
    /// Open as long as somebody reads.
    open: Mutex<Weak<File>>,
}

impl KnownFile {
    /// The file, which is opened again if nobody reads it now.
    fn open(&self) -> io::Result<Arc<File>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.upgrade() {
            return Ok(file);
        }
        let file = File::open(&self.path)?;
        let found = file.metadata()?;
        if (found.len(), found.modified().ok()) != (self.length, self.modified) {
            return Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                "it was changed while it was read; start again",
            ));
        }
        let file = Arc::new(file);
        *open = Arc::downgrade(&file);
        Ok(file)
    }
}

impl FileCursor {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let (file, length) = open(path)?;
        let modified = file.metadata().and_then(|found| found.modified()).ok();
        let known = KnownFile {
            path: path.into(),
            length,
            modified,
            open: Mutex::default(),
        };
        Ok(Self {
            known: Arc::new(known),
            file: None,
            at: 0,
        })
    }

    /// The file, which stays open as long as this is kept.
    ///
    /// # Errors
    /// Where it cannot be opened again, or was changed.
    #[cfg(feature = "parquet")]
    pub(crate) fn keep_open(&self) -> io::Result<Arc<File>> {
        self.known.open()
    }

    /// Bytes in the file.
    pub(crate) fn length(&self) -> u64 {
        self.known.length
    }

    /// The same file from another place on.
    pub(crate) fn from(&self, at: u64) -> Self {
        Self {
            known: Arc::clone(&self.known),
            file: None,
            at,
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(target_family = "wasm")]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    Ok(file.read_at(buffer, at))
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}

impl Read for FileCursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.known.open()?),
        };
        let read = read_at(file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for FileCursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.length().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = target.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_open_while_it_is_read_and_refused_when_it_was_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        std::fs::write(&path, b"abcdef").unwrap();
        let cursor = FileCursor::open(&path).unwrap();
        let (mut one, mut two, mut text) = (cursor.from(1), cursor.from(4), [0; 2]);
        let handles = |cursor: &FileCursor| cursor.known.open.lock().unwrap().strong_count();
        assert_eq!(
            (handles(&cursor), one.read(&mut text).unwrap(), &text),
            (0, 2, b"bc")
        );
        assert_eq!(
            (two.read(&mut text).unwrap(), &text, handles(&cursor)),
            (2, b"ef", 2)
        );
        drop((one, two));
        assert_eq!(handles(&cursor), 0);
        std::fs::write(&path, b"abcdefg").unwrap();
        assert!(
            cursor
                .from(0)
                .read(&mut text)
                .unwrap_err()
                .to_string()
                .contains("changed while it was read")
        );
    }
}
