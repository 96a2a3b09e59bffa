//! Named arrays in one archive, as NumPy writes them.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::archive::Archive;
use crate::error::{FileError, READ, one_line};
use crate::raw::RawArray;
use crate::{input, npy};

/// The most that deflate can shrink anything, rounded up.
const BEST_RATIO: u64 = 1100;

/// An archive that is being read.
pub(crate) struct Npz<'a> {
    path: &'a Path,
    length: u64,
    archive: ZipArchive<BufReader<File>>,
    names: Vec<String>,
}

impl<'a> Npz<'a> {
    pub(crate) fn open(path: &'a Path) -> Result<Self, FileError> {
        let (file, length) = input::open(path)?;
        let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(path, &error.into()))?;
        let names = archive.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        Ok(Self { path, length, archive, names })
    }

    /// All bytes of a member that is no array, if there is one.
    pub(crate) fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, FileError> {
        let path = self.path;
        self.member(name, |bytes, size| {
            let mut all = Vec::new();
            bytes.take(size).read_to_end(&mut all).map_err(|source| FileError::io(path, READ, source))?;
            Ok(all)
        })
    }

    /// Hands a member and its unpacked size, which is no more than can be true, to `read`.
    fn member<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut dyn Read, u64) -> Result<T, FileError>,
    ) -> Result<Option<T>, FileError> {
        let Some(at) = self.names.iter().position(|found| found == name) else { return Ok(None) };
        let mut member = self.archive.by_index(at).map_err(|error| damaged(self.path, &error.into()))?;
        let (packed, size) = (member.compressed_size(), member.size());
        if packed > self.length || size > packed.saturating_mul(BEST_RATIO) {
            let reason = format!("'{name}' claims {size} bytes out of {packed}; the file is damaged");
            return Err(FileError::damaged(self.path, reason));
        }
        read(&mut member, size).map(Some)
    }
}

impl Archive for Npz<'_> {
    fn path(&self) -> &Path {
        self.path
    }

    fn arrays(&self) -> Vec<String> {
        self.names.iter().filter_map(|name| name.strip_suffix(".npy")).map(str::to_owned).collect()
    }

    fn array(&mut self, name: &str) -> Result<Option<RawArray>, FileError> {
        let path = self.path;
        self.member(&format!("{name}.npy"), |bytes, size| npy::read(path, &format!("array '{name}'"), bytes, size))
    }
}

fn damaged(path: &Path, error: &io::Error) -> FileError {
    let reason = format!("this is no whole NPZ archive ({}); copy or write it again", one_line(error));
    FileError::damaged(path, reason)
}

/// An archive that is being written. The same members give the same bytes: all are dated 1980.
pub(crate) struct NpzWriter<W: Write>(ZipWriter<StreamWriter<W>>);

impl<W: Write> NpzWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self(ZipWriter::new_stream(out))
    }

    /// Adds an array, row by row.
    pub(crate) fn array<E: npy::Element>(
        &mut self,
        name: &str,
        shape: &[usize],
        elements: impl IntoIterator<Item = E>,
    ) -> io::Result<()> {
        self.start(&format!("{name}.npy"))?;
        let mut buffer = io::BufWriter::with_capacity(1 << 16, &mut self.0);
        npy::write(&mut buffer, shape, elements)?;
        buffer.flush()
    }

    /// Adds a column of texts.
    pub(crate) fn texts(&mut self, name: &str, texts: &[String]) -> io::Result<()> {
        self.start(&format!("{name}.npy"))?;
        let mut buffer = io::BufWriter::with_capacity(1 << 16, &mut self.0);
        npy::write_texts(&mut buffer, texts)?;
        buffer.flush()
    }

    /// Adds a member of any kind.
    pub(crate) fn bytes(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.start(name)?;
        self.0.write_all(bytes)
    }

    fn start(&mut self, name: &str) -> io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .large_file(true);
        Ok(self.0.start_file(name, options)?)
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        self.0.finish()?;
        Ok(())
    }
}
