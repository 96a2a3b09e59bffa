//! Named arrays in one ZIP archive (NPZ), as NumPy writes them.

use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::description::{Format, Writes, unfit};
use super::npy_header::{read_header, write};
use super::reader::{Column, Extent, Form, Items, Layout, Limit, Reader};
use super::writer::{Array, Contents, Elements};
use crate::atomic_write::write_whole;
use crate::error::{FileError, Result};
use crate::open_file::FileCursor;
use crate::typed_array::{ArrayClaim, TypedArray};

pub(crate) const FORMAT: Format = Format {
    name: "NPZ",
    endings: &[".npz"],
    packed: false,
    magic: &[b"PK\x03\x04"],
    grouped: false,
    open: |path, _| Ok(Box::new(Npz::open(path)?)),
    writes: Writes::Arrays,
    write: write_contents,
};

/// The most that deflate can shrink anything, rounded up.
const BEST_RATIO: u64 = 1100;

/// The longest member that is not an array.
const LONGEST_NOTE: u64 = 1 << 30;

/// An archive that is being read.
pub(crate) struct Npz {
    items: Items,
    length: u64,
    archive: ZipArchive<FileCursor>,
    /// Names of the members.
    members: Vec<String>,
}

impl Npz {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = FileCursor::open(path)?;
        let length = file.length();
        let mut archive = ZipArchive::new(file).map_err(|error| damaged(path, &error.into()))?;
        // Members that lie in each other could unpack the same bytes any number of times.
        let mut packed: u64 = 0;
        for at in 0..archive.len() {
            let member = archive.by_index_raw(at);
            let member = member.map_err(|error| damaged(path, &error.into()))?;
            packed = packed.saturating_add(member.compressed_size());
        }
        if packed > length {
            let reason =
                format!("its members claim {packed} of {length} bytes; the file is damaged");
            return Err(FileError::damaged(path, reason));
        }
        let members: Vec<String> = archive
            .file_names_raw()
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        let names = members
            .iter()
            .filter_map(|name| name.strip_suffix(".npy"))
            .map(str::to_owned)
            .collect();
        Ok(Self {
            items: Items::new(path, Layout::Arrays, names),
            length,
            archive,
            members,
        })
    }

    /// Hands a member and its unpacked size, which is no more than can be true, to `read`.
    fn member<T>(
        &self,
        name: &str,
        read: impl FnOnce(&mut dyn Read, u64) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(at) = self.members.iter().position(|found| found == name) else {
            return Ok(None);
        };
        let mut archive = self.archive.clone();
        let member = archive
            .by_index(at)
            .map_err(|error| damaged(&self.items.path, &error.into()))?;
        let packed = member.compressed_size();
        let size = member.size();
        if packed > self.length || size > packed.saturating_mul(BEST_RATIO) {
            let reason =
                format!("'{name}' claims {size} bytes out of {packed}; the file is damaged");
            return Err(FileError::damaged(&self.items.path, reason));
        }
        read(&mut BufReader::with_capacity(1 << 16, member), size).map(Some)
    }

    /// Type and shape of an array, checked against the size of its member.
    fn claim(&self, item: usize, flat: bool) -> Result<(ArrayClaim, u64)> {
        let (name, what) = (
            format!("{}.npy", self.items.names[item]),
            self.items.call(item),
        );
        let claim = self.member(&name, |bytes, size| {
            let (mut claim, taken) = read_header(&self.items.path, &what, bytes)?;
            let available = size.saturating_sub(taken);
            if flat {
                claim.flatten();
            }
            claim.bytes(&self.items.path, available)?;
            Ok((claim, available))
        })?;
        claim.ok_or_else(|| FileError::damaged(&self.items.path, format!("{what} is not there")))
    }

    fn array(&self, item: usize, flat: bool, limit: &Limit) -> Result<TypedArray> {
        let (claim, available) = self.claim(item, flat)?;
        limit.check(&self.items.path, claim.bytes(&self.items.path, available)?)?;
        let (name, what) = (
            format!("{}.npy", self.items.names[item]),
            self.items.call(item),
        );
        let array = self.member(&name, |bytes, size| {
            let (_, taken) = read_header(&self.items.path, &what, bytes)?;
            let array = claim.read(&self.items.path, bytes, size.saturating_sub(taken))?;
            // The checksum of a member is compared at its end.
            io::copy(bytes, &mut io::sink()).map_err(FileError::reading(&self.items.path))?;
            Ok(array)
        })?;
        array.ok_or_else(|| FileError::damaged(&self.items.path, format!("{what} is not there")))
    }
}

impl Reader for Npz {
    fn items(&self) -> &Items {
        &self.items
    }

    fn extent(&self, item: usize) -> Result<Extent> {
        Extent::of_array(&self.claim(item, false)?.0, &self.items.path)
    }

    fn read_one(&self, _group: usize, item: usize, _form: Form, limit: &Limit) -> Result<Column> {
        self.array(item, false, limit).map(Column::Array)
    }

    fn flat(&self, item: usize, limit: &Limit) -> Result<Column> {
        self.array(item, true, limit).map(Column::Array)
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.member(name, |bytes, size| {
            if size > LONGEST_NOTE {
                return Err(FileError::damaged(
                    &self.items.path,
                    format!("'{name}' claims {size} bytes of text"),
                ));
            }
            let mut all = Vec::new();
            bytes
                .take(size)
                .read_to_end(&mut all)
                .map_err(FileError::reading(&self.items.path))?;
            Ok(all)
        })
    }
}

fn damaged(path: &Path, error: &io::Error) -> FileError {
    let reason = format!("this is not a whole NPZ archive ({error}); copy or write it again");
    FileError::damaged(path, reason)
}

fn write_contents(path: &Path, contents: Contents<'_>) -> Result<()> {
    match contents {
        Contents::Arrays(arrays) => write_whole(path, |out| write_arrays(out, arrays)),
        Contents::Columns { .. } => Err(unfit(path)),
    }
}

/// Writes an archive. The same arrays give the same bytes: all are dated 1980.
pub(crate) fn write_arrays(out: &mut dyn Write, arrays: Vec<(&str, Array<'_>)>) -> io::Result<()> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .large_file(true);
    let mut archive: ZipWriter<StreamWriter<_>> = ZipWriter::new_stream(out);
    for (name, array) in arrays {
        if matches!(array.elements, Elements::Bytes(_)) {
            archive.start_file(name, options)?;
        } else {
            archive.start_file(format!("{name}.npy"), options)?;
        }
        let mut buffer = io::BufWriter::with_capacity(1 << 16, &mut archive);
        write(&mut buffer, array)?;
        buffer.flush()?;
    }
    archive.finish()?;
    Ok(())
}
