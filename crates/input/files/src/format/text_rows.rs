//! Rows of delimited text, with their lines.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::ByteRecord;
use partita_core::option;

use super::description::OpenOptions;
use super::text_bounds::{above, grouped_names, is_sum, may_be_below, units, worded};
use super::text_bytes::{Blanks, Counted, Lines};
use super::text_encoding::Decoded;
use super::text_layout::{
    FirstLine, Header, blanks_align, blanks_before_quotes, check_one_column, commas_are_decimal,
    first_line, guess_delimiter, is_like_rows, lines_are_quoted, named_in_first_line, quote,
};
use crate::error::{FileError, READ, Result, Row, shown};
use crate::number::number;
use crate::open_file::{Compression, open};

/// The most bytes one row may take: a lost quote must not swallow the memory.
const LONGEST_ROW: u64 = 1 << 28;

/// Bytes that are held at once, at most, for a byte of a row: its fields as they grow, and a copy of each.
const ROW_BYTES: u64 = 16;

/// Bytes that are held at once, at most, for a column without a name, until it is known what columns are for.
const COLUMN_BYTES: u64 = 512;

/// Bytes for columns that are not counted.
const FREE_BYTES: u64 = 1 << 20;

/// Rows of a text file, one after the other.
pub(crate) struct TextReader {
    path: PathBuf,
    rows: csv::Reader<Counted>,
    delimiter: u8,
    /// Rows that were read to see what the file is, with their lines, still to be given out.
    ahead: VecDeque<(ByteRecord, u64)>,
    header: Option<Vec<String>>,
    fields: usize,
    /// Columns at the end without a name, which must be empty.
    blank: usize,
    /// The line of the row that was read last.
    line: u64,
    /// Whether every row below the header is an object.
    all_rows: bool,
    /// Whether rows without a value are objects.
    keep_blank: bool,
    /// Whether rows may have any number of fields.
    any_width: bool,
    blank_rows: u64,
    /// Rows that are the header again, comments among the rows, and rows whose last fields are not there.
    headers: u64,
    comments: u64,
    short_rows: u64,
    /// Sums among the rows, and the most fields of one of the first rows that are not empty.
    sums: u64,
    worded: usize,
    /// The header as it stands, and whether it differs in kind from a row below it: a number stands where it has a word.
    header_row: Option<ByteRecord>,
    header_differs: bool,
    /// What the row before may be if the table ends with it.
    before: Option<&'static str>,
    remarks: Vec<String>,
}

/// Rows, and bytes of them, that are read to see where the table begins or ends.
const AHEAD: usize = 64;
const AHEAD_BYTES: usize = 1 << 20;

impl TextReader {
    /// Opens a file, or this text in its place.
    pub(crate) fn open(
        path: &Path,
        text: Option<&Arc<[u8]>>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let plain: Box<dyn Read + Send> = match text {
            Some(text) => Box::new(io::Cursor::new(Arc::clone(text))),
            None => Compression::of(path)
                .unpack(open(path)?.0)
                .map_err(FileError::reading(path))?,
        };
        let plain = Decoded::new(path, plain, options.encoding.as_deref())?;
        let delimiter = options
            .delimiter
            .map(|asked| delimiter(path, asked))
            .transpose()?;
        if !options.transpose {
            return Self::of_bytes(path, plain, options, options.header, delimiter);
        }
        let mut rows = Self::of_bytes(path, plain, options, Header::No, delimiter)?;
        let text = io::Cursor::new(rows.transposed()?);
        let text = Decoded::new(path, Box::new(text), Some("utf-8"))?;
        Self::of_bytes(path, text, options, options.header, Some(b','))
    }

    fn of_bytes(
        path: &Path,
        bytes: Decoded,
        options: &OpenOptions,
        header: Header,
        delimiter: Option<u8>,
    ) -> Result<Self> {
        let mut bytes = BufReader::with_capacity(1 << 16, bytes);
        let mut start = start(&mut bytes).map_err(FileError::reading(path))?;
        let longest = options.budget.bytes() / ROW_BYTES;
        let longest = longest.clamp(1 << 18, LONGEST_ROW);
        let mut lines = Lines::new(longest);
        let mut asked = delimiter;
        if let Some((named, length)) = named_in_first_line(&start) {
            bytes.consume(length);
            start.drain(..length);
            lines.line = 2;
            asked = asked.or(Some(named));
        }
        check_start(path, &start)?;
        let mut remarks = Vec::new();
        let mut blanks = None;
        if lines_are_quoted(&start) {
            let kept = Blanks::around_lines().apply(&mut start);
            start.truncate(kept);
            blanks = Some(Blanks::around_lines());
        }
        let delimiter = match asked {
            Some(asked) => asked,
            None if commas_are_decimal(&start) => {
                remarks.push(format!(
                    "commas are taken for decimal commas of one column; if they separate fields give {}",
                    option("delimiter").naming(",")
                ));
                b';'
            }
            None if blanks_align(&start) => b' ',
            None => guess_delimiter(path, &start),
        };
        let several = start.windows(2).any(|two| two == b"  " || two == b"\n ");
        if asked.is_none() && blanks_align(&start) || delimiter == b' ' && several {
            blanks = Some(Blanks::repeated());
        } else if blanks_before_quotes(&start, delimiter) {
            blanks = Some(Blanks::before_quotes(delimiter));
        }
        let rows = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .quote(quote(&start, delimiter))
            .buffer_capacity(1 << 16)
            .from_reader(Counted {
                bytes,
                lines,
                blanks,
            });
        let mut reader = Self {
            path: path.to_owned(),
            rows,
            delimiter,
            ahead: VecDeque::new(),
            header: None,
            fields: 0,
            blank: 0,
            line: 0,
            all_rows: options.all_rows,
            keep_blank: options.keep_blank,
            any_width: options.any_width,
            blank_rows: 0,
            headers: 0,
            comments: 0,
            short_rows: 0,
            sums: 0,
            worded: 0,
            header_row: None,
            header_differs: false,
            before: None,
            remarks,
        };
        reader.begin(header, options)?;
        if asked.is_none() && reader.fields == 1 && !options.any_width && delimiter != b';' {
            check_one_column(&reader.path, &start)?;
        }
        Ok(reader)
    }

    /// Reads ahead, as far as it takes to see what the next rows are; whether the end was reached.
    fn look_ahead(&mut self) -> Result<bool> {
        let mut bytes: usize = self.ahead.iter().map(|(row, _)| row.as_slice().len()).sum();
        while self.ahead.len() < 2 || self.ahead.len() < AHEAD && bytes < AHEAD_BYTES {
            let mut row = ByteRecord::new();
            let Some(line) = self.advance(&mut row)? else {
                return Ok(true);
            };
            bytes += row.as_slice().len();
            self.ahead.push_back((row, line));
        }
        Ok(false)
    }

    /// Leaves out so many of the next rows, and says so.
    fn leave_out(&mut self, rows: usize, what: &str) {
        let lines: Vec<u64> = self.ahead.drain(..rows).map(|(_, line)| line).collect();
        self.say_left_out(&lines, what);
    }

    fn say_left_out(&mut self, lines: &[u64], what: &str) {
        let said = match lines {
            [] => return,
            [line] => format!("line {line} is left out: {what}"),
            [first, .., last] => format!("lines {first} to {last} are left out: {what}"),
        };
        let keeps = option("all-rows").on();
        self.remarks.push(format!("{said} ({keeps} keeps it)"));
    }

    fn begin(&mut self, header: Header, options: &OpenOptions) -> Result<()> {
        self.look_ahead()?;
        if !self.all_rows && !options.transpose {
            let rows: Vec<ByteRecord> = self.ahead.iter().map(|(row, _)| row.clone()).collect();
            self.leave_out(above(&rows), "above the table");
        }
        let Some((mut first, line)) = self.ahead.pop_front() else {
            return Err(FileError::empty(&self.path));
        };
        if first
            .get(0)
            .is_some_and(|field| field.starts_with(b"#") && field.len() > 1)
        {
            let fields: Vec<Vec<u8>> = first.iter().map(<[u8]>::to_vec).collect();
            let own = |(at, field): (usize, &Vec<u8>)| match at {
                0 => field[1..].trim_ascii_start().to_vec(),
                _ => field.clone(),
            };
            first = fields.iter().enumerate().map(own).collect();
        }
        if !self.all_rows && !options.transpose && header != Header::No {
            first = self.joined(first, line);
        }
        self.check_columns(&first, options)?;
        let second = self.ahead.front().map(|(row, _)| row.clone());
        let next = second.is_some();
        let second = second.unwrap_or_default();
        self.fields = first.len();
        let found = match header {
            Header::Auto => self.judged(&first),
            asked => FirstLine {
                is_header: asked == Header::Yes,
                remark: None,
            },
        };
        let one_line = !second.as_slice().contains(&b'\n');
        let one_more = next && one_line && second.len() == self.fields + 1;
        let ends_empty = second.iter().next_back().is_some_and(<[u8]>::is_empty);
        // R leaves the column with the names of the rows without a name.
        let unnamed_rows = found.is_header && one_more && !ends_empty;
        if found.is_header {
            let name = |(at, field): (usize, &[u8])| {
                let text = utf8(&self.path, Row::Line(line), &format!("{}", at + 1), field)?;
                Ok(text.trim().to_owned())
            };
            let mut names = first
                .iter()
                .enumerate()
                .map(name)
                .collect::<Result<Vec<_>>>()?;
            if unnamed_rows {
                names.insert(0, String::new());
            }
            self.blank = usize::from(one_more && ends_empty);
            let worded = |at: usize| {
                second
                    .get(at)
                    .is_some_and(|field| !field.trim_ascii().is_empty())
            };
            let without = |(at, name): &(usize, &String)| name.is_empty() && !worded(*at);
            self.blank += names
                .iter()
                .enumerate()
                .skip(1)
                .rev()
                .take_while(without)
                .count();
            names.truncate(self.fields + usize::from(one_more) - self.blank);
            self.header_row = Some(first);
            self.fields = names.len();
            self.rename(&mut names);
            self.header = Some(names);
            if !self.all_rows && !options.transpose {
                let rows: Vec<ByteRecord> = self.ahead.iter().map(|(row, _)| row.clone()).collect();
                // A row that is called like a column is an object of a table of pairs.
                let own = rows.first().and_then(|row| row.get(0));
                let own = own.map(|own| String::from_utf8_lossy(own.trim_ascii()));
                let mut names = self.header.iter().flatten().skip(1);
                let of_pairs = names.any(|name| own.as_deref() == Some(name.trim()));
                if !of_pairs {
                    self.leave_out(
                        units(&rows, &options.missing),
                        "units or other words below the header",
                    );
                }
                let sums = self.ahead.front().filter(|(row, _)| is_sum(row));
                let count = usize::from(sums.is_some() && self.ahead.len() > 2);
                self.leave_out(count, "sums above the rows");
            }
        } else {
            self.ahead.push_front((first, line));
        }
        let first_rows = self.ahead.iter().map(|(row, _)| worded(row));
        self.worded = first_rows.max().unwrap_or_default();
        self.remarks.extend(found.remark);
        self.say_encoding();
        Ok(())
    }

    /// What the first line is, above those that were read ahead.
    fn judged(&self, first: &ByteRecord) -> FirstLine {
        let below: Vec<&ByteRecord> = self.ahead.iter().map(|(row, _)| row).collect();
        let mut found = first_line(first, below.first().copied());
        if found.is_header && is_like_rows(first, &below) {
            found.is_header = false;
            found.remark = Some(format!(
                "the first line is taken for an object, since its words stand below it too; if it names the columns give {}",
                option("header").on()
            ));
        }
        found
    }

    /// The names of columns, of two lines where the first names groups of columns, which is said.
    fn joined(&mut self, first: ByteRecord, line: u64) -> ByteRecord {
        let rows: Vec<ByteRecord> = self.ahead.iter().map(|(row, _)| row.clone()).collect();
        let Some(joined) = grouped_names(&first, &rows) else {
            return first;
        };
        self.ahead.pop_front();
        self.remarks.push(format!(
            "lines {line} and {} name the columns together; if not, give {}",
            line + 1,
            option("all-rows").on()
        ));
        joined
    }

    /// Refuses more columns than the memory allows.
    fn check_columns(&self, first: &ByteRecord, options: &OpenOptions) -> Result<()> {
        // A few columns are no matter, whatever the budget.
        let columns = (first.len() as u64 * COLUMN_BYTES).saturating_sub(FREE_BYTES);
        let remedy = format!("check its line ends, or raise {}", option("max-memory"));
        let fits = options
            .budget
            .check("a row of so many fields", columns, &remedy);
        fits.map_err(|source| FileError::Budget {
            path: self.path.clone(),
            source,
        })
    }

    /// Gives columns of one name, and those without one, names of their own, and says so.
    fn rename(&mut self, names: &mut [String]) {
        let mut known: HashSet<String> = HashSet::new();
        for at in 0..names.len() {
            let given = names[at].clone();
            let base = if given.is_empty() && at > 0 {
                format!("column {}", at + 1)
            } else {
                given.clone()
            };
            let numbered = (1..).map(|number| format!("{base}.{number}"));
            let mut names_of_it = std::iter::once(base.clone()).chain(numbered);
            let own = names_of_it
                .find(|name| known.insert(name.clone()))
                .unwrap_or(base);
            if own != given && !given.is_empty() {
                let position = at + 1;
                let (given, own) = (shown(&given), shown(&own));
                self.remarks.push(format!(
                    "two columns are called '{given}'; column {position} is called '{own}' here"
                ));
            }
            names[at] = own;
        }
    }

    fn say_encoding(&mut self) {
        if let Some(encoding) = self.rows.get_ref().bytes.get_ref().found() {
            let remark = format!(
                "the text is taken for {encoding}; another encoding is given with {}",
                option("encoding")
            );
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
    }

    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Names of the columns, where the file has them.
    pub(crate) fn header(&self) -> Option<&[String]> {
        self.header.as_deref()
    }

    /// Names of the columns: those of the header, or their positions from 1.
    pub(crate) fn names(&self) -> Vec<String> {
        self.header.clone().unwrap_or_else(|| {
            (1..=self.fields)
                .map(|position| position.to_string())
                .collect()
        })
    }

    /// The first row below the header, where there is one.
    pub(crate) fn first_row(&self) -> Option<&ByteRecord> {
        self.ahead.front().map(|(record, _)| record)
    }

    /// What the layout could be meant as otherwise.
    pub(crate) fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The next row and its line, or none at the end.
    pub(crate) fn next(&mut self, record: &mut ByteRecord) -> Result<Option<Row>> {
        loop {
            let line = if let Some((ahead, line)) = self.ahead.pop_front() {
                *record = ahead;
                line
            } else if let Some(line) = self.advance(record)? {
                line
            } else {
                self.end();
                return Ok(None);
            };
            if !self.all_rows && self.is_no_object(record) {
                continue;
            }
            let below = may_be_below(record, self.fields, self.before);
            if let Some(what) = below.filter(|_| !self.all_rows)
                && self.ends_here(what)?
            {
                let rows = std::mem::take(&mut self.ahead);
                let lines: Vec<u64> = [line]
                    .into_iter()
                    .chain(rows.into_iter().map(|(_, line)| line))
                    .collect();
                self.say_left_out(&lines, "below the table: blank, notes or sums");
                continue;
            }
            self.before = below;
            if below == Some("sums") && !self.all_rows && worded(record) < self.worded {
                self.sums += 1;
                continue;
            }
            if below == Some("blank") && !self.keep_blank && !self.all_rows && record.len() > 1 {
                self.blank_rows += 1;
                continue;
            }
            return self.checked(record, line).map(Some);
        }
    }

    /// Whether this row and all after it may stand below the table.
    fn ends_here(&mut self, what: &'static str) -> Result<bool> {
        if !self.look_ahead()? {
            return Ok(false);
        }
        let mut before = Some(what);
        Ok(self.ahead.iter().all(|(row, _)| {
            before = may_be_below(row, self.fields, before);
            before.is_some()
        }))
    }

    /// Whether a row among the others is the header again, or a comment; these are counted.
    fn is_no_object(&mut self, record: &ByteRecord) -> bool {
        let header = self.header_row.as_ref().filter(|header| header.len() > 1);
        // Where rows are words like the header, one that equals it is a row like others.
        let is_header = self.header_differs && header == Some(record);
        if let Some(header) = header.filter(|_| !self.header_differs) {
            self.header_differs = header
                .iter()
                .zip(record)
                .any(|(name, field)| number(name).is_none() && number(field).is_some());
        }
        let is_comment = record.len() != self.fields
            && record.get(0).is_some_and(|first| first.starts_with(b"#"));
        self.headers += u64::from(is_header);
        self.comments += u64::from(is_comment);
        is_header || is_comment
    }

    /// Says what only the end tells.
    fn end(&mut self) {
        self.say_encoding();
        let keeps = format!("left out ({} keeps", option("all-rows").on());
        let counted = [
            (
                &mut self.blank_rows,
                "without a value",
                keeps.clone() + " it)",
            ),
            (
                &mut self.headers,
                "that repeat the header",
                keeps.clone() + " them)",
            ),
            (
                &mut self.comments,
                "of comments among the others",
                keeps.clone() + " them)",
            ),
            (&mut self.sums, "of sums among the others", keeps + " them)"),
            (
                &mut self.short_rows,
                "shorter than the header",
                "filled up with missing values".to_owned(),
            ),
        ];
        for (count, what, done) in counted {
            let count = std::mem::take(count);
            let (rows, are) = if count == 1 {
                ("row", "is")
            } else {
                ("rows", "are")
            };
            if count > 0 {
                self.remarks
                    .push(format!("{count} {rows} {what} {are} {done}"));
            }
        }
    }

    /// The row of a line, if it has as many fields as the first.
    fn checked(&mut self, record: &mut ByteRecord, line: u64) -> Result<Row> {
        if record.len() == self.fields {
            return Ok(Row::Line(line));
        }
        let found = record.len();
        let expected = self.fields;
        if self.any_width {
            record.truncate(expected);
            (found..expected).for_each(|_| record.push_field(b""));
            return Ok(Row::Line(line));
        }
        if found == expected + self.blank {
            return self.without_blank(record, line);
        }
        if record.as_slice().contains(&b'\n') {
            return Err(self.open_quote(line));
        }
        // Some programs leave out empty fields at the end.
        if (2..expected).contains(&found) && 2 * found >= expected && self.header.is_some() {
            (found..expected).for_each(|_| record.push_field(b""));
            self.short_rows += 1;
            return Ok(Row::Line(line));
        }
        let wanted = format!("{found} fields where the first line has {expected}");
        let remedy = match expected {
            1 => "if that is a title or a comment take it out of the file".to_owned(),
            _ => format!(
                "check delimiter and quotes (the delimiter is taken to be '{}')",
                char::from(self.delimiter).escape_default()
            ),
        };
        Err(FileError::content(
            &self.path,
            format!(", line {line}: {wanted}; {remedy}"),
        ))
    }

    /// Takes the fields without a name away from the end of a row.
    fn without_blank(&self, record: &mut ByteRecord, line: u64) -> Result<Row> {
        if let Some(at) =
            (self.fields..record.len()).find(|&at| !record[at].trim_ascii().is_empty())
        {
            let reason = format!(
                "line {line}: column {} has a value but no name; name it, or clear it",
                at + 1
            );
            return Err(FileError::damaged(&self.path, reason));
        }
        record.truncate(self.fields);
        Ok(Row::Line(line))
    }

    /// The line of the next row, or none at the end.
    fn advance(&mut self, record: &mut ByteRecord) -> Result<Option<u64>> {
        self.rows.get_mut().lines.row_begins();
        let read = self
            .rows
            .read_byte_record(record)
            .map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(source) => FileError::io(&self.path, READ, source),
                other => FileError::damaged(&self.path, format!("{other:?}")),
            })?;
        let lines = &mut self.rows.get_mut().lines;
        if read {
            self.line = lines.at(record.position().map_or(0, csv::Position::byte));
            return Ok(Some(self.line));
        }
        if lines.quote_is_open() {
            return Err(self.open_quote(self.line));
        }
        Ok(None)
    }

    fn open_quote(&self, line: u64) -> FileError {
        let remedy = "close it, or double a quote that is meant";
        let reason =
            format!(", line {line}: a quote is opened and not closed in its row; {remedy}");
        FileError::content(&self.path, reason)
    }

    /// All rows as text whose lines are the columns of this one.
    fn transposed(&mut self) -> Result<Vec<u8>> {
        let mut rows = Vec::new();
        let mut record = ByteRecord::new();
        while self.next(&mut record)?.is_some() {
            rows.push(record.clone());
        }
        let mut text = csv::Writer::from_writer(Vec::new());
        for column in 0..self.fields {
            text.write_record(rows.iter().map(|row| &row[column]))
                .map_err(|error: csv::Error| FileError::damaged(&self.path, error.to_string()))?;
        }
        text.into_inner()
            .map_err(|error| FileError::damaged(&self.path, error.to_string()))
    }
}

/// A delimiter that was asked for, as a byte.
fn delimiter(path: &Path, asked: char) -> Result<u8> {
    u8::try_from(asked)
        .ok()
        .filter(u8::is_ascii)
        .ok_or_else(|| {
            FileError::damaged(
                path,
                format!("the delimiter '{asked}' is not an ASCII character; name another"),
            )
        })
}

/// The first bytes, without a byte-order mark.
fn start(bytes: &mut BufReader<Decoded>) -> io::Result<Vec<u8>> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    if bytes.fill_buf()?.starts_with(MARK) {
        bytes.consume(MARK.len());
    }
    Ok(bytes.fill_buf()?.to_vec())
}

fn check_start(path: &Path, start: &[u8]) -> Result<()> {
    match start {
        [] => Err(FileError::empty(path)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Err(FileError::damaged(
            path,
            "the file is packed by Zstandard; let its name end in .zst",
        )),
        [0x1f, 0x8b, ..] => Err(FileError::damaged(
            path,
            "the file is packed by gzip; let its name end in .gz",
        )),
        _ => Ok(()),
    }
}

/// The text of a field, or an error that says where it is not a text.
pub(crate) fn utf8<'a>(path: &Path, row: Row, column: &str, field: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(field).map_err(|_| {
        let value: Cow<'_, str> = String::from_utf8_lossy(field);
        let value = crate::error::shown(&value);
        let column = crate::error::shown(column);
        let reason =
            format!(
                "{row}, column '{column}': '{value}' is not UTF-8; name the encoding of the text ({}), or save it in UTF-8",
                option("encoding").to("windows-1252")
            );
        FileError::damaged(path, reason)
    })
}

#[cfg(test)]
mod tests;
