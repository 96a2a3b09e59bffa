//! Arrays as MATLAB (version 5 to 7) writes them (MAT).

use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::ZlibDecoder;

use super::description::{Format, OpenOptions, Writes, write_nothing};
use super::reader::{Column, Extent, Form, Items, Layout, Limit, Reader};
use crate::error::{FileError, Result};
use crate::open_file::FileCursor;
use crate::typed_array::{ArrayClaim, Dtype};

pub(crate) const FORMAT: Format = Format {
    name: "MAT",
    endings: &[".mat"],
    packed: false,
    magic: &[b"MATLAB 5.0"],
    grouped: false,
    open,
    writes: Writes::Nothing,
    write: write_nothing,
};

const HEADER: u64 = 128;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
/// The longest list of lengths or name that is read.
const LONGEST: usize = 1 << 12;
/// The most that deflate can shrink anything, rounded up.
const BEST_RATIO: u64 = 1100;
/// What is needed of every variable.
const NUMBERS: &str = "an array of numbers";

/// A file that is being read, and where each variable lies.
struct Mat {
    items: Items,
    file: FileCursor,
    elements: Vec<Element>,
}

/// A variable of the file, tag excluded.
#[derive(Clone, Copy, Debug)]
struct Element {
    start: u64,
    length: u64,
    packed: bool,
}

fn open(path: &Path, _options: &OpenOptions) -> Result<Box<dyn Reader>> {
    let file = FileCursor::open(path)?;
    let mut header = Vec::new();
    file.clone()
        .take(HEADER)
        .read_to_end(&mut header)
        .map_err(FileError::reading(path))?;
    if header.starts_with(b"MATLAB 7.3") || header.starts_with(b"\x89HDF") {
        let reason = "this is a MATLAB 7.3 (HDF5) file; save it in MATLAB with the option -v7";
        return Err(FileError::damaged(path, reason));
    }
    let reason = match header.get(126..HEADER as usize) {
        Some(b"IM") => None,
        Some(b"MI") => Some("this is a big-endian MATLAB file; save it on a little-endian machine"),
        _ => Some(
            "this is not a MATLAB file of version 5 to 7; save it in MATLAB with the option -v7",
        ),
    };
    if let Some(reason) = reason {
        return Err(FileError::damaged(path, reason));
    }
    let mut found = Mat {
        items: Items::new(path, Layout::Arrays, Vec::new()),
        file,
        elements: Vec::new(),
    };
    found.scan().map_err(FileError::reading(path))?;
    Ok(Box::new(found))
}

impl Mat {
    /// Finds the variables and their names.
    fn scan(&mut self) -> io::Result<()> {
        let mut at = HEADER;
        let end = self.file.length();
        while at < end {
            let mut tag = [0; 8];
            self.file.from(at).read_exact(&mut tag)?;
            let kind = word(&tag[..4]);
            let length = u64::from(word(&tag[4..]));
            let start = at + 8;
            at = start + length;
            if at > end {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if kind == MATRIX || kind == COMPRESSED {
                let element = Element {
                    start,
                    length,
                    packed: kind == COMPRESSED,
                };
                let (name, _, _) = self.stream(element)?.head()?;
                self.items.names.push(name);
                self.elements.push(element);
            }
        }
        Ok(())
    }

    /// The content of a variable, unpacked as it is read.
    fn stream(&self, element: Element) -> io::Result<Stream<'_>> {
        let content =
            BufReader::with_capacity(1 << 16, self.file.from(element.start)).take(element.length);
        if !element.packed {
            return Ok(Stream {
                bytes: Box::new(content),
                left: element.length,
            });
        }
        let left = element.length.saturating_mul(BEST_RATIO);
        let mut stream = Stream {
            bytes: Box::new(ZlibDecoder::new(content)),
            left,
        };
        match stream.tag()? {
            Tag { kind: MATRIX, .. } => Ok(stream),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a packed variable is not an array",
            )),
        }
    }

    /// Type and shape of an array, and its values to come.
    fn claim(&self, item: usize) -> Result<(ArrayClaim, Tag, Stream<'_>)> {
        let mut stream = self
            .stream(self.elements[item])
            .map_err(FileError::reading(&self.items.path))?;
        let (_, class, shape) = stream
            .head()
            .map_err(FileError::reading(&self.items.path))?;
        let what = self.items.call(item);
        // 6 to 15 are the classes of full numeric arrays; those before are cells, structures, texts, sparse arrays.
        if !(6..=15).contains(&(class & 0xff)) || class & 0x800 != 0 {
            let found = "not a full array of real numbers";
            return Err(FileError::kind(&self.items.path, what, found, NUMBERS));
        }
        let tag = stream.tag().map_err(FileError::reading(&self.items.path))?;
        let Some(dtype) = dtype(tag.kind) else {
            let found = format!("of MATLAB type {}", tag.kind);
            return Err(FileError::kind(&self.items.path, what, found, NUMBERS));
        };
        let claim = ArrayClaim {
            what,
            dtype,
            shape,
            by_column: true,
        };
        claim.bytes(
            &self.items.path,
            u64::from(tag.length).min(stream.left.max(4)),
        )?;
        Ok((claim, tag, stream))
    }
}

impl Reader for Mat {
    fn items(&self) -> &Items {
        &self.items
    }

    fn extent(&self, item: usize) -> Result<Extent> {
        Extent::of_array(&self.claim(item)?.0, &self.items.path)
    }

    fn read_one(&self, _group: usize, item: usize, _form: Form, limit: &Limit) -> Result<Column> {
        let (claim, tag, mut stream) = self.claim(item)?;
        let claimed = claim.bytes(&self.items.path, u64::MAX)?;
        limit.check(&self.items.path, claimed)?;
        match tag.small {
            Some(small) => claim.read(&self.items.path, &mut &small[..], 4),
            None => claim.read(&self.items.path, &mut stream.bytes, claimed),
        }
        .map(Column::Array)
    }
}

fn dtype(kind: u32) -> Option<Dtype> {
    Some(match kind {
        1 => Dtype::I8,
        2 => Dtype::U8,
        3 => Dtype::I16,
        4 => Dtype::U16,
        5 => Dtype::I32,
        6 => Dtype::U32,
        7 => Dtype::F32,
        9 => Dtype::F64,
        12 => Dtype::I64,
        13 => Dtype::U64,
        _ => return None,
    })
}

/// What comes before the bytes of an element; elements of up to four bytes lie in the tag itself.
struct Tag {
    kind: u32,
    length: u32,
    small: Option<[u8; 4]>,
}

/// Elements one after the other.
struct Stream<'a> {
    bytes: Box<dyn Read + 'a>,
    /// The most bytes that can still come.
    left: u64,
}

/// A little-endian number of four bytes.
fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("a word has four bytes"))
}

impl Stream<'_> {
    fn four(&mut self) -> io::Result<[u8; 4]> {
        let mut four = [0; 4];
        self.bytes.read_exact(&mut four)?;
        self.left = self.left.saturating_sub(4);
        Ok(four)
    }

    fn tag(&mut self) -> io::Result<Tag> {
        let first = self.four()?;
        let first = u32::from_le_bytes(first);
        let second = self.four()?;
        Ok(match first >> 16 {
            0 => Tag {
                kind: first,
                length: u32::from_le_bytes(second),
                small: None,
            },
            length => Tag {
                kind: first & 0xffff,
                length,
                small: Some(second),
            },
        })
    }

    /// `claimed` bytes of an element.
    fn data(&mut self, tag: &Tag, claimed: u64) -> io::Result<Vec<u8>> {
        if let Some(small) = tag.small {
            return small
                .get(..claimed as usize)
                .map(<[u8]>::to_vec)
                .ok_or_else(|| io::ErrorKind::InvalidData.into());
        }
        let mut data = Vec::new();
        (&mut self.bytes).take(claimed).read_to_end(&mut data)?;
        self.left = self.left.saturating_sub(data.len() as u64);
        if data.len() as u64 == claimed {
            Ok(data)
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    /// A short element and the padding behind it.
    fn short(&mut self) -> io::Result<Vec<u8>> {
        let tag = self.tag()?;
        let length = tag.length as usize;
        if length > LONGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let padded = if tag.small.is_some() {
            length
        } else {
            length.next_multiple_of(8)
        };
        let mut data = self.data(&tag, padded as u64)?;
        data.truncate(length);
        Ok(data)
    }

    /// Name, flags and lengths of the array whose content begins here.
    fn head(&mut self) -> io::Result<(String, u32, Vec<u64>)> {
        let flags = self.short()?;
        let flags = flags
            .get(..4)
            .and_then(|four| four.try_into().ok())
            .ok_or(io::ErrorKind::InvalidData)?;
        let lengths = self.short()?;
        let length = |four: &[u8]| u64::from(word(four));
        let shape = lengths.chunks_exact(4).map(length).collect();
        let name = String::from_utf8_lossy(&self.short()?).into_owned();
        Ok((name, u32::from_le_bytes(flags), shape))
    }
}
