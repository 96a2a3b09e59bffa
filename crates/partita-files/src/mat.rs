//! Arrays as MATLAB (version 5 to 7) writes them.

use std::io::{self, Read};
use std::path::Path;

use flate2::read::ZlibDecoder;

use crate::archive::Archive;
use crate::error::{FileError, READ};
use crate::input;
use crate::raw::{Dtype, Layout, RawArray};

const HEADER: usize = 128;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
/// The longest list of lengths or name that is read.
const LONGEST: usize = 1 << 12;
/// The most that deflate can shrink anything, rounded up.
const BEST_RATIO: u64 = 1100;

/// A file that is being read: its bytes, and where each variable lies.
pub(crate) struct Mat<'a> {
    path: &'a Path,
    bytes: Vec<u8>,
    variables: Vec<(String, Element)>,
}

/// A variable of the file, tag excluded.
#[derive(Clone, Copy, Debug)]
struct Element {
    start: usize,
    length: usize,
    packed: bool,
}

impl<'a> Mat<'a> {
    pub(crate) fn open(path: &'a Path) -> Result<Self, FileError> {
        let bytes = input::bytes(path)?;
        if bytes.starts_with(b"MATLAB 7.3") || bytes.starts_with(b"\x89HDF") {
            let reason = "this is a MATLAB 7.3 (HDF5) file; save it in MATLAB with the option -v7";
            return Err(FileError::damaged(path, reason));
        }
        let reason = match bytes.get(126..HEADER) {
            Some(b"IM") => None,
            Some(b"MI") => Some("this is a big-endian MATLAB file; save it on a little-endian machine"),
            _ => Some("this is no MATLAB file of version 5 to 7; save it in MATLAB with the option -v7"),
        };
        if let Some(reason) = reason {
            return Err(FileError::damaged(path, reason));
        }
        let mut file = Self { path, bytes, variables: Vec::new() };
        file.scan()?;
        Ok(file)
    }

    /// Finds the variables and their names.
    fn scan(&mut self) -> Result<(), FileError> {
        let mut at = HEADER;
        while at < self.bytes.len() {
            let (kind, length) = match self.bytes.get(at..at + 8) {
                Some(tag) => (word(&tag[..4]), word(&tag[4..]) as usize),
                None => return Err(self.cut_off()),
            };
            let start = at + 8;
            at = start.checked_add(length).filter(|&end| end <= self.bytes.len()).ok_or_else(|| self.cut_off())?;
            if kind == MATRIX || kind == COMPRESSED {
                let element = Element { start, length, packed: kind == COMPRESSED };
                let (name, _, _) = self.stream(element)?.head().map_err(|source| self.failed(source))?;
                self.variables.push((name, element));
            }
        }
        Ok(())
    }

    fn cut_off(&self) -> FileError {
        FileError::io(self.path, READ, io::ErrorKind::UnexpectedEof.into())
    }

    fn failed(&self, source: io::Error) -> FileError {
        FileError::io(self.path, READ, source)
    }

    /// The content of a variable, unpacked as it is read.
    fn stream(&self, element: Element) -> Result<Stream<'_>, FileError> {
        let content = &self.bytes[element.start..element.start + element.length];
        if !element.packed {
            return Ok(Stream { bytes: Box::new(content), left: content.len() as u64 });
        }
        let left = (content.len() as u64).saturating_mul(BEST_RATIO);
        let mut stream = Stream { bytes: Box::new(ZlibDecoder::new(content)), left };
        match stream.tag().map_err(|source| self.failed(source))? {
            Tag { kind: MATRIX, .. } => Ok(stream),
            _ => Err(FileError::damaged(self.path, "a packed variable is no array; the file is damaged")),
        }
    }
}

impl Archive for Mat<'_> {
    fn path(&self) -> &Path {
        self.path
    }

    fn arrays(&self) -> Vec<String> {
        self.variables.iter().map(|(name, _)| name.clone()).collect()
    }

    fn array(&mut self, name: &str) -> Result<Option<RawArray>, FileError> {
        let Some((_, element)) = self.variables.iter().find(|(found, _)| found == name) else { return Ok(None) };
        let mut stream = self.stream(*element)?;
        let (_, class, shape) = stream.head().map_err(|source| self.failed(source))?;
        let name = format!("array '{name}'");
        // 6 to 15 are the classes of full numeric arrays; those before are cells, structures, texts, sparse arrays.
        if !(6..=15).contains(&(class & 0xff)) || class & 0x800 != 0 {
            return Err(FileError::kind(self.path, name, "no full array of real numbers", "an array of numbers"));
        }
        let tag = stream.tag().map_err(|source| self.failed(source))?;
        let Some(dtype) = dtype(tag.kind) else {
            return Err(FileError::kind(
                self.path,
                name,
                format!("of MATLAB type {}", tag.kind),
                "an array of numbers",
            ));
        };
        let layout = Layout { name, dtype, shape, by_column: true };
        let claimed = layout.bytes(self.path, u64::from(tag.length).min(stream.left.max(4)))?;
        let data = stream.data(&tag, claimed).map_err(|source| self.failed(source))?;
        layout.filled(self.path, data).map(Some)
    }
}

fn dtype(kind: u32) -> Option<Dtype> {
    Some(match kind {
        1 => Dtype::Int8,
        2 => Dtype::Uint8,
        3 => Dtype::Int16,
        4 => Dtype::Uint16,
        5 => Dtype::Int32,
        6 => Dtype::Uint32,
        7 => Dtype::Float32,
        9 => Dtype::Float64,
        12 => Dtype::Int64,
        13 => Dtype::Uint64,
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
        let (first, second) = (u32::from_le_bytes(first), self.four()?);
        Ok(match first >> 16 {
            0 => Tag { kind: first, length: u32::from_le_bytes(second), small: None },
            length => Tag { kind: first & 0xffff, length, small: Some(second) },
        })
    }

    /// `claimed` bytes of an element.
    fn data(&mut self, tag: &Tag, claimed: u64) -> io::Result<Vec<u8>> {
        if let Some(small) = tag.small {
            return small.get(..claimed as usize).map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::InvalidData.into());
        }
        let mut data = Vec::new();
        (&mut self.bytes).take(claimed).read_to_end(&mut data)?;
        self.left = self.left.saturating_sub(data.len() as u64);
        if data.len() as u64 == claimed { Ok(data) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// A short element and the padding behind it.
    fn short(&mut self) -> io::Result<Vec<u8>> {
        let tag = self.tag()?;
        let length = tag.length as usize;
        if length > LONGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let padded = if tag.small.is_some() { length } else { length.next_multiple_of(8) };
        let mut data = self.data(&tag, padded as u64)?;
        data.truncate(length);
        Ok(data)
    }

    /// Name, flags and lengths of the array whose content begins here.
    fn head(&mut self) -> io::Result<(String, u32, Vec<u64>)> {
        let flags = self.short()?;
        let flags = flags.get(..4).and_then(|four| four.try_into().ok()).ok_or(io::ErrorKind::InvalidData)?;
        let lengths = self.short()?;
        let length = |four: &[u8]| u64::from(word(four));
        let shape = lengths.chunks_exact(4).map(length).collect();
        let name = String::from_utf8_lossy(&self.short()?).into_owned();
        Ok((name, u32::from_le_bytes(flags), shape))
    }
}
