//! Delimited text (CSV, TSV), also packed by gzip: one group of rows whose values are parsed as they are wanted.

use std::path::Path;
use std::sync::{Arc, Mutex};

use csv::ByteRecord;

use super::description::{Format, OpenOptions, Writes, unfit};
use super::reader::{Column, Extent, Form, Items, Layout, Limit, Reader};
use super::text_rows::{TextReader, utf8};
use super::writer::{Contents, Data};
use crate::atomic_write::{text_delimiter, write_text};
use crate::dictionary::Dictionary;
use crate::error::{Cell, FileError, Result, Row, WrongValue};
use crate::number::number;
use crate::text_lines::TextLines;
use crate::words::{MissingCounts, MissingWords};

pub(crate) const FORMAT: Format = Format {
    name: "CSV",
    endings: &[
        ".csv", ".tsv", ".txt", ".tab", ".dat", ".data", ".gct", ".asc",
    ],
    packed: true,
    magic: &[],
    grouped: false,
    open,
    writes: Writes::Columns,
    write,
};

struct Csv {
    items: Items,
    options: OpenOptions,
    /// What is read in place of the file: a sheet as text.
    text: Option<Arc<[u8]>>,
    /// The reader with which the file was opened, for the first that reads: a pipe can be opened once only.
    opened: Mutex<Option<TextReader>>,
    /// What was said when the end was reached.
    remarks: Mutex<Vec<String>>,
}

fn open(path: &Path, options: &OpenOptions) -> Result<Box<dyn Reader>> {
    open_text(path, None, options, None)
}

/// Opens a file, or this text in its place, of which there is something to be said.
pub(super) fn open_text(
    path: &Path,
    text: Option<Arc<[u8]>>,
    options: &OpenOptions,
    remark: Option<String>,
) -> Result<Box<dyn Reader>> {
    let reader = TextReader::open(path, text.as_ref(), options)?;
    let missing = |field: &[u8]| {
        std::str::from_utf8(field).is_ok_and(|text| options.missing.contains(text.trim()))
    };
    let is_word =
        |field: &[u8]| !field.trim_ascii().is_empty() && number(field).is_none() && !missing(field);
    let words = reader
        .first_row()
        .map(|row| row.iter().map(is_word).collect())
        .unwrap_or_default();
    let items = Items {
        named: reader.header().is_some(),
        typed: false,
        words,
        semicolons: reader.delimiter() == b';',
        remarks: reader.remarks().iter().cloned().chain(remark).collect(),
        ..Items::new(path, Layout::Columns, reader.names())
    };
    Ok(Box::new(Csv {
        items,
        options: options.clone(),
        text,
        opened: Mutex::new(Some(reader)),
        remarks: Mutex::default(),
    }))
}

impl Reader for Csv {
    fn items(&self) -> &Items {
        &self.items
    }

    fn late_remarks(&self) -> Vec<String> {
        let remarks = self.remarks.lock();
        remarks.map_or_else(|_| Vec::new(), |mut remarks| std::mem::take(&mut *remarks))
    }

    fn extent(&self, _item: usize) -> Result<Extent> {
        Ok(Extent::of_column(None))
    }

    fn read_one(&self, group: usize, item: usize, form: Form, limit: &Limit) -> Result<Column> {
        let mut read = self.read(group, &[(item, form)], limit)?;
        read.pop()
            .ok_or_else(|| FileError::no_rows(&self.items.path))
    }

    fn read(&self, _group: usize, wanted: &[(usize, Form)], limit: &Limit) -> Result<Vec<Column>> {
        let opened = self.opened.lock().map_or(None, |mut opened| opened.take());
        let mut reader = match opened {
            Some(reader) => reader,
            None => TextReader::open(&self.items.path, self.text.as_ref(), &self.options)?,
        };
        let mut columns: Vec<Growing> =
            wanted.iter().map(|&(_, form)| Growing::new(form)).collect();
        // Of several errors in a row, that of the first column is told.
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by_key(|&place| wanted[place].0);
        let mut record = ByteRecord::new();
        let (mut rows, mut unchecked) = (0, 0);
        while let Some(row) = reader.next(&mut record)? {
            for &place in &order {
                let at = wanted[place].0;
                let field = of_spreadsheet(record.get(at).unwrap_or_default());
                columns[place].push(
                    &Place {
                        path: &self.items.path,
                        row,
                        column: &self.items.names[at],
                    },
                    field,
                    &self.options.missing,
                )?;
            }
            rows += 1;
            limit.check_rows(&self.items.path, rows)?;
            unchecked += wanted.len();
            if unchecked > CELLS {
                unchecked = 0;
                self.check_bytes(&columns, limit)?;
            }
        }
        self.check_bytes(&columns, limit)?;
        if rows == 0 {
            return Err(FileError::no_rows(&self.items.path));
        }
        if let Ok(mut remarks) = self.remarks.lock() {
            let known = self.items.remarks.len();
            // A file that has changed since it was opened may say less.
            *remarks = reader.remarks().get(known..).unwrap_or_default().to_vec();
        }
        check_infinite(&columns)?;
        Ok(columns.into_iter().map(|column| column.column).collect())
    }
}

/// Values that are read between two looks at what is held.
const CELLS: usize = 1 << 16;

impl Csv {
    /// Refuses columns that hold more than the budget allows.
    fn check_bytes(&self, columns: &[Growing], limit: &Limit) -> Result<()> {
        let held: usize = columns.iter().map(Growing::bytes).sum();
        limit.check(&self.items.path, held as u64)
    }
}

/// What spreadsheets write as ="0012" or '0012, so that it stays a text.
fn of_spreadsheet(field: &[u8]) -> &[u8] {
    let formula = field
        .strip_prefix(b"=\"")
        .and_then(|field| field.strip_suffix(b"\""));
    let marked = || {
        let rest = field.strip_prefix(b"'")?;
        rest.iter().all(u8::is_ascii_digit).then_some(rest)
    };
    formula.or_else(marked).unwrap_or(field)
}

/// Where a field stands.
struct Place<'a> {
    path: &'a Path,
    row: Row,
    column: &'a str,
}

impl Place<'_> {
    fn text<'a>(&self, field: &'a [u8]) -> Result<&'a str> {
        utf8(self.path, self.row, self.column, field)
    }

    fn cell(&self, field: &[u8]) -> Cell {
        Cell::new(
            self.path,
            self.row,
            self.column,
            String::from_utf8_lossy(field).trim(),
        )
    }
}

/// A column while it is read.
struct Growing {
    column: Column,
    /// Whether numbers may have gaps, and words among them; then infinity may be a word too, which the end of the file decides.
    gaps: bool,
    words: bool,
    infinite: Option<Cell>,
    /// Bytes of texts that are spelt out.
    letters: usize,
}

impl Growing {
    fn new(form: Form) -> Self {
        let (column, gaps, words) = match form {
            Form::Text => (Column::Text(Vec::new()), true, true),
            Form::Labels | Form::Codes => (Column::Labels(Dictionary::default()), true, true),
            Form::Numbers { gaps, words } => {
                let parsed = Column::Parsed {
                    values: Vec::new(),
                    words: false,
                    missing: MissingCounts::new(),
                    padded: false,
                };
                (parsed, gaps, words)
            }
        };
        Self {
            column,
            gaps,
            words,
            infinite: None,
            letters: 0,
        }
    }

    /// Bytes that are held.
    fn bytes(&self) -> usize {
        self.letters
            + match &self.column {
                Column::Text(texts) => texts.capacity() * size_of::<String>(),
                Column::Labels(labels) => labels.bytes(),
                Column::Parsed { values, .. } => values.capacity() * size_of::<f64>(),
                Column::Codes(_) | Column::Array(_) => 0,
            }
    }

    fn push(
        &mut self,
        place: &Place<'_>,
        field: &[u8],
        missing_words: &MissingWords,
    ) -> Result<()> {
        let (values, found_words, missing) = match &mut self.column {
            Column::Text(texts) => {
                let text = place.text(field)?.trim();
                self.letters += text.len().next_multiple_of(16) + 16;
                texts.push(text.to_owned());
                return Ok(());
            }
            Column::Labels(labels) => {
                labels.push(place.text(field)?, place.row);
                return Ok(());
            }
            Column::Parsed {
                values,
                words,
                missing,
                padded,
            } => {
                *padded |= matches!(field, [b'0', rest @ ..] if rest.len() > 1 && rest.iter().all(u8::is_ascii_digit));
                (values, words, missing)
            }
            Column::Codes(_) | Column::Array(_) => return Ok(()),
        };
        let mut found = number(field);
        if missing_words.has_numbers()
            && missing_words.contains(String::from_utf8_lossy(field).trim())
        {
            found = Some(f64::NAN);
        }
        if let Some(value) = found.filter(|value| value.is_finite()) {
            values.push(value);
            return Ok(());
        }
        let wrong = |wrong| Err(FileError::value(place.cell(field), wrong));
        let text = String::from_utf8_lossy(field);
        let word = text.trim();
        let named = missing_words.contains(word);
        if named || word.is_empty() || found.is_some_and(f64::is_nan) {
            if !self.gaps {
                return wrong(WrongValue::Missing);
            }
            if named {
                *missing.entry(word.to_owned()).or_default() += 1;
            }
        } else {
            match found {
                Some(_) if self.words => {
                    self.infinite.get_or_insert_with(|| place.cell(field));
                }
                Some(_) => return wrong(WrongValue::NotFinite),
                None if self.words => *found_words = true,
                None => return Err(FileError::not_a_number(place.cell(field))),
            }
        }
        values.push(f64::NAN);
        Ok(())
    }
}

/// Refuses the first number that is not finite in a column without words.
fn check_infinite(columns: &[Growing]) -> Result<()> {
    let infinite = columns.iter().filter_map(|column| match column.column {
        Column::Parsed { words: false, .. } => column.infinite.as_ref(),
        _ => None,
    });
    infinite
        .min_by_key(|cell| cell.row.number())
        .map_or(Ok(()), |cell| {
            Err(FileError::value(cell.clone(), WrongValue::NotFinite))
        })
}

fn write(path: &Path, contents: Contents<'_>) -> Result<()> {
    let Contents::Columns { columns, .. } = contents else {
        return Err(unfit(path));
    };
    write_text(path, |out| {
        let mut lines = TextLines::new(text_delimiter(path));
        columns.iter().for_each(|(name, _)| lines.text(name));
        lines.end();
        let mut columns: Vec<Data<'_>> = columns.into_iter().map(|(_, data)| data).collect();
        while append_row(&mut lines, &mut columns) {
            lines.pass(out)?;
        }
        lines.finish(out)
    })
}

/// Appends a row; false at the end of the columns.
fn append_row(lines: &mut TextLines, columns: &mut [Data<'_>]) -> bool {
    for column in columns {
        let appended = match column {
            Data::Integer(values) => values.next().map(|value| match value {
                Some(value) => lines.integer(value),
                None => lines.text(""),
            }),
            Data::Float(values) => values.next().map(|value| lines.number(value)),
            Data::Text(values) => values
                .next()
                .map(|value| lines.text(value.unwrap_or_default())),
        };
        if appended.is_none() {
            return false;
        }
    }
    lines.end();
    true
}
