//! Delimited text: header, delimiter and rows.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use csv::ByteRecord;

use crate::error::{FileError, READ, Row};
use crate::open_file::{Compression, lower_name, open};

/// Whether the first line names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// It does unless one of its fields is a number (and none is `object`, `label` or `split`).
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not; columns are called by their position from 1.
    No,
}

/// Names that give a first line away as a header even if other columns are called by numbers.
const SPOKEN: [&str; 5] = ["object", "label", "split", "truth", "class"];

/// The most bytes one row may take: a lost quote must not swallow the memory.
const LONGEST_ROW: u64 = 1 << 28;

/// Rows of a text file, one after the other.
pub(crate) struct TextReader {
    path: PathBuf,
    rows: csv::Reader<Counted>,
    delimiter: u8,
    /// The first row where it is not a header, still to be given out.
    first: Option<ByteRecord>,
    header: Option<Vec<String>>,
    fields: usize,
}

impl TextReader {
    pub(crate) fn open(path: &Path, header: Header, delimiter: Option<u8>) -> Result<Self, FileError> {
        let (file, _) = open(path)?;
        let plain = Compression::of(path).unpack(file).map_err(|source| FileError::io(path, READ, source))?;
        let mut bytes = BufReader::with_capacity(1 << 16, plain);
        let start = start(&mut bytes).map_err(|source| FileError::io(path, READ, source))?;
        check_start(path, &start)?;
        let delimiter = delimiter.unwrap_or_else(|| guess(path, &start));
        let rows = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(1 << 16)
            .from_reader(Counted { bytes, lines: Lines::default() });
        let mut reader = Self { path: path.into(), rows, delimiter, first: None, header: None, fields: 0 };
        reader.begin(header)?;
        Ok(reader)
    }

    fn begin(&mut self, header: Header) -> Result<(), FileError> {
        let mut first = ByteRecord::new();
        if !self.advance(&mut first)? {
            return Err(FileError::Empty(self.path.clone()));
        }
        self.fields = first.len();
        if header == Header::Yes || (header == Header::Auto && is_header(&first)) {
            let name = |(at, field): (usize, &[u8])| {
                let text = utf8(&self.path, Row::Line(1), &format!("{}", at + 1), field)?;
                Ok(text.trim().to_owned())
            };
            self.header = Some(first.iter().enumerate().map(name).collect::<Result<_, FileError>>()?);
        } else {
            self.first = Some(first);
        }
        Ok(())
    }

    /// Names of the columns, where the file has them.
    pub(crate) fn header(&self) -> Option<&[String]> {
        self.header.as_deref()
    }

    /// Names of the columns: those of the header, or their positions from 1.
    pub(crate) fn names(&self) -> Vec<String> {
        self.header.clone().unwrap_or_else(|| (1..=self.fields).map(|position| position.to_string()).collect())
    }

    /// The next row and its line, or none at the end.
    pub(crate) fn next(&mut self, record: &mut ByteRecord) -> Result<Option<Row>, FileError> {
        if let Some(first) = self.first.take() {
            *record = first;
        } else if !self.advance(record)? {
            return Ok(None);
        }
        let line = self.rows.get_mut().lines.at(record.position().map_or(0, csv::Position::byte));
        if record.len() == self.fields {
            return Ok(Some(Row::Line(line)));
        }
        let (found, expected) = (record.len(), self.fields);
        Err(FileError::Ragged { path: self.path.clone(), line, found, expected, delimiter: self.delimiter as char })
    }

    fn advance(&mut self, record: &mut ByteRecord) -> Result<bool, FileError> {
        self.rows.get_mut().lines.row_begins();
        self.rows.read_byte_record(record).map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(source) => FileError::io(&self.path, READ, source),
            other => FileError::damaged(&self.path, format!("{other:?}")),
        })
    }
}

/// A reader that counts lines and refuses to feed one endless row.
struct Counted {
    bytes: BufReader<Box<dyn Read + Send>>,
    lines: Lines,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.lines.feed(&buffer[..read])?;
        Ok(read)
    }
}

/// Where lines end. The CSV reader's own count is that before the blank lines, or the second half of a `\r\n`, which
/// stand between two rows.
#[derive(Debug)]
struct Lines {
    /// Line breaks not yet passed: their place, and whether a `\r` stands before.
    breaks: VecDeque<(u64, bool)>,
    line: u64,
    read: u64,
    row_start: u64,
    after_return: bool,
}

impl Default for Lines {
    fn default() -> Self {
        Self { breaks: VecDeque::new(), line: 1, read: 0, row_start: 0, after_return: false }
    }
}

impl Lines {
    fn row_begins(&mut self) {
        self.row_start = self.read;
    }

    fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            let after_return = if at == 0 { self.after_return } else { bytes[at - 1] == b'\r' };
            self.breaks.push_back((self.read + at as u64, after_return));
        }
        self.after_return = bytes.last() == Some(&b'\r');
        self.read += bytes.len() as u64;
        if self.read - self.row_start > LONGEST_ROW {
            return Err(io::Error::other("a row is longer than 256 MiB; check the quotes"));
        }
        Ok(())
    }

    /// The line of the row that was read from this place on, line breaks before it included.
    fn at(&mut self, mut place: u64) -> u64 {
        while let Some(&(at, after_return)) = self.breaks.front() {
            if at > place && !(after_return && at == place + 1) {
                break;
            }
            place = place.max(at + 1);
            self.line += 1;
            self.breaks.pop_front();
        }
        self.line
    }
}

/// The first bytes, without a byte-order mark.
fn start(bytes: &mut BufReader<Box<dyn Read + Send>>) -> io::Result<Vec<u8>> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    if bytes.fill_buf()?.starts_with(MARK) {
        bytes.consume(MARK.len());
    }
    Ok(bytes.fill_buf()?.to_vec())
}

fn check_start(path: &Path, start: &[u8]) -> Result<(), FileError> {
    match start {
        [] => Err(FileError::Empty(path.into())),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err(FileError::damaged(path, "the text is UTF-16; save it in UTF-8")),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Err(FileError::damaged(path, "the file is packed by Zstandard; let its name end in .zst"))
        }
        [0x1f, 0x8b, ..] => Err(FileError::damaged(path, "the file is packed by gzip; let its name end in .gz")),
        _ => Ok(()),
    }
}

/// What separates the fields of the first line: the candidate that occurs most often outside quotes.
fn guess(path: &Path, start: &[u8]) -> u8 {
    let name = lower_name(path);
    let preferred = if name.contains(".tsv") { b'\t' } else { b',' };
    let line = start.split(|&byte| byte == b'\n' || byte == b'\r').find(|line| !line.is_empty()).unwrap_or_default();
    let mut quoted = false;
    let mut counts = [(preferred, 0), (b',', 0), (b'\t', 0), (b';', 0)];
    let mut spaces = 0;
    for &byte in line {
        quoted ^= byte == b'"';
        if !quoted {
            counts.iter_mut().filter(|(delimiter, _)| *delimiter == byte).for_each(|(_, count)| *count += 1);
            spaces += usize::from(byte == b' ');
        }
    }
    let most = counts.iter().fold(counts[0], |best, &next| if next.1 > best.1 { next } else { best });
    if most.1 == 0 && spaces > 0 && name.contains(".txt") { b' ' } else { most.0 }
}

fn is_header(first: &ByteRecord) -> bool {
    let texts = || first.iter().map(|field| String::from_utf8_lossy(field).trim().to_lowercase());
    texts().any(|text| SPOKEN.contains(&text.as_str())) || !texts().any(|text| text.parse::<f64>().is_ok())
}

/// The text of a field, or an error that says where it is not a text.
pub(crate) fn utf8<'a>(path: &Path, row: Row, column: &str, field: &'a [u8]) -> Result<&'a str, FileError> {
    std::str::from_utf8(field).map_err(|_| {
        let value: Cow<'_, str> = String::from_utf8_lossy(field);
        let value = crate::error::shown(&value);
        let reason = format!("{row}, column '{column}': '{value}' is not UTF-8; save the file in UTF-8");
        FileError::damaged(path, reason)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(name: &str, text: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    fn rows(name: &str, text: &str) -> (Option<Vec<String>>, Vec<Vec<String>>) {
        let (_folder, path) = write(name, text.as_bytes());
        let mut reader = TextReader::open(&path, Header::Auto, None).unwrap();
        let mut record = ByteRecord::new();
        let mut rows = Vec::new();
        while reader.next(&mut record).unwrap().is_some() {
            rows.push(record.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect());
        }
        (reader.header().map(<[String]>::to_vec), rows)
    }

    #[test]
    fn delimiters_are_found() {
        for (name, text) in [
            ("a.csv", "x,y\n1,2\n"),
            ("a.csv", "\u{feff}x;y\r\n1;2\r\n"),
            ("a.tsv", "x\ty\n1\t2\n"),
            ("a.txt", "x y\n1 2\n"),
            ("a.txt", "x\ty\n1\t2\n"),
            ("a.csv", "\"x\",y\n\"1\",2"),
        ] {
            let header = vec!["x".to_owned(), "y".to_owned()];
            assert_eq!(rows(name, text), (Some(header), vec![vec!["1".into(), "2".into()]]), "{text:?}");
        }
    }

    #[test]
    fn a_number_in_the_first_line_makes_it_no_header() {
        assert_eq!(rows("a.csv", "1,a\n2,b\n").0, None);
        assert_eq!(rows("a.csv", "0,1,label\n2,3,b\n").0, Some(vec!["0".into(), "1".into(), "label".into()]));
    }

    #[test]
    fn ragged_rows_are_named_by_line() {
        let (_folder, path) = write("a.csv", b"x,y\n\"1\n\",2\n\n3\n");
        let mut reader = TextReader::open(&path, Header::Auto, None).unwrap();
        let mut record = ByteRecord::new();
        assert_eq!(reader.next(&mut record).unwrap(), Some(Row::Line(2)));
        let message = reader.next(&mut record).unwrap_err().to_string();
        assert!(message.contains("a.csv, line 5: 1 fields where the first line has 2"), "{message}");
    }

    #[test]
    fn lines_are_counted_with_any_line_break() {
        for text in ["x\n1\n2\n\n3", "x\r\n1\r\n2\r\n\r\n3\r\n", "x\n1\r\n2\r\n\n3\n\n"] {
            let (_folder, path) = write("a.csv", text.as_bytes());
            let mut reader = TextReader::open(&path, Header::Auto, None).unwrap();
            let mut record = ByteRecord::new();
            let lines: Vec<_> = std::iter::from_fn(|| reader.next(&mut record).unwrap()).collect();
            assert_eq!(lines, [Row::Line(2), Row::Line(3), Row::Line(5)], "{text:?}");
        }
    }

    #[test]
    fn other_encodings_are_refused() {
        for (bytes, word) in [(&b"\xff\xfex\0"[..], "UTF-16"), (&b"\x1f\x8b\x08"[..], "gzip"), (&b"\n"[..], "empty")] {
            let (_folder, path) = write("a.csv", bytes);
            let message = TextReader::open(&path, Header::Auto, None).err().unwrap().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
