//! Delimited text (CSV, TSV), also packed by gzip: one group of rows whose values are parsed as they are wanted.

use std::path::Path;
use std::sync::Mutex;

use csv::ByteRecord;

use super::description::{Format, OpenOptions, Writes, unfit};
use super::reader::{Column, Extent, Form, Items, Layout, Limit, Reader};
use super::text_rows::{TextReader, utf8};
use super::writer::{Contents, Data};
use crate::atomic_write::{text_delimiter, write_text};
use crate::dictionary::Dictionary;
use crate::error::{Cell, FileError, Row, WrongValue};
use crate::number::number;
use crate::text_lines::TextLines;
use crate::words::{MissingCounts, MissingWords};

pub(crate) const FORMAT: Format = Format {
    name: "CSV",
    endings: &[".csv", ".tsv", ".txt"],
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
    /// Whether the first value of a column is a word.
    words: Vec<bool>,
    remarks: Vec<String>,
    /// The reader with which the file was opened, for the first that reads: a pipe can be opened once only.
    opened: Mutex<Option<TextReader>>,
}

fn open(path: &Path, options: &OpenOptions) -> Result<Box<dyn Reader>, FileError> {
    let reader = TextReader::open(path, options)?;
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
        ..Items::new(path, Layout::Columns, reader.names())
    };
    Ok(Box::new(Csv {
        items,
        options: options.clone(),
        words,
        remarks: reader.remarks().to_vec(),
        opened: Mutex::new(Some(reader)),
    }))
}

impl Reader for Csv {
    fn items(&self) -> &Items {
        &self.items
    }

    fn is_text(&self, item: usize) -> bool {
        self.words.get(item).is_some_and(|&word| word)
    }

    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    fn extent(&self, _item: usize) -> Result<Extent, FileError> {
        Ok(Extent::of_column(None))
    }

    fn read_one(
        &self,
        group: usize,
        item: usize,
        form: Form,
        limit: &Limit,
    ) -> Result<Column, FileError> {
        let mut read = self.read(group, &[(item, form)], limit)?;
        read.pop()
            .ok_or_else(|| FileError::no_rows(&self.items.path))
    }

    fn read(
        &self,
        _group: usize,
        wanted: &[(usize, Form)],
        limit: &Limit,
    ) -> Result<Vec<Column>, FileError> {
        let opened = self.opened.lock().map_or(None, |mut opened| opened.take());
        let mut reader = match opened {
            Some(reader) => reader,
            None => TextReader::open(&self.items.path, &self.options)?,
        };
        let mut columns: Vec<Growing> =
            wanted.iter().map(|&(_, form)| Growing::new(form)).collect();
        // Of several errors in a row, that of the first column is told.
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by_key(|&place| wanted[place].0);
        let (mut record, mut rows) = (ByteRecord::new(), 0);
        while let Some(row) = reader.next(&mut record)? {
            for &place in &order {
                let at = wanted[place].0;
                let field = record.get(at).unwrap_or_default();
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
        }
        if rows == 0 {
            return Err(FileError::no_rows(&self.items.path));
        }
        check_odd(&columns, &order)?;
        Ok(columns.into_iter().map(Growing::finish).collect())
    }
}

/// Where a field stands.
struct Place<'a> {
    path: &'a Path,
    row: Row,
    column: &'a str,
}

impl Place<'_> {
    fn text<'a>(&self, field: &'a [u8]) -> Result<&'a str, FileError> {
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
enum Growing {
    Text(Vec<String>),
    Labels(Dictionary),
    Numbers(Numbers),
}

/// Numbers, NaN for gaps and words.
#[derive(Default)]
struct Numbers {
    values: Vec<f64>,
    gaps: bool,
    /// Whether words are allowed; then infinity may be a word too, which the end of the file decides.
    words: bool,
    found_words: bool,
    odd: Option<Cell>,
    missing: MissingCounts,
}

impl Growing {
    fn new(form: Form) -> Self {
        match form {
            Form::Text => Self::Text(Vec::new()),
            Form::Labels => Self::Labels(Dictionary::default()),
            Form::Numbers { gaps, words } => Self::Numbers(Numbers {
                gaps,
                words,
                ..Numbers::default()
            }),
        }
    }

    fn push(
        &mut self,
        place: &Place<'_>,
        field: &[u8],
        missing: &MissingWords,
    ) -> Result<(), FileError> {
        match self {
            Self::Text(texts) => texts.push(place.text(field)?.trim().to_owned()),
            Self::Labels(labels) => labels.push(place.text(field)?, place.row),
            Self::Numbers(numbers) => return numbers.push(place, field, missing),
        }
        Ok(())
    }

    fn finish(self) -> Column {
        match self {
            Self::Text(texts) => Column::Text(texts),
            Self::Labels(labels) => Column::Labels(labels),
            Self::Numbers(Numbers {
                values,
                found_words: words,
                missing,
                ..
            }) => Column::Parsed {
                values,
                words,
                missing,
            },
        }
    }
}

impl Numbers {
    fn push(
        &mut self,
        place: &Place<'_>,
        field: &[u8],
        missing: &MissingWords,
    ) -> Result<(), FileError> {
        let value = match number(field) {
            Some(value) if value.is_finite() => value,
            found => self.odd_value(place, field, found, missing)?,
        };
        self.values.push(value);
        Ok(())
    }

    /// What stands for a field that is not a finite number.
    fn odd_value(
        &mut self,
        place: &Place<'_>,
        field: &[u8],
        found: Option<f64>,
        missing: &MissingWords,
    ) -> Result<f64, FileError> {
        let text = String::from_utf8_lossy(field);
        let word = text.trim();
        let named = missing.contains(word);
        if named || word.is_empty() || found.is_some_and(f64::is_nan) {
            if !self.gaps {
                return Err(FileError::value(place.cell(field), WrongValue::Missing));
            }
            if named {
                *self.missing.entry(word.to_owned()).or_default() += 1;
            }
            return Ok(f64::NAN);
        }
        match found {
            Some(_) if self.words => _ = self.odd.get_or_insert_with(|| place.cell(field)),
            Some(_) => return Err(FileError::value(place.cell(field), WrongValue::NotFinite)),
            None if self.words => self.found_words = true,
            None => return Err(FileError::not_a_number(place.cell(field))),
        }
        Ok(f64::NAN)
    }
}

/// Refuses the first number that is not finite in a column without words.
fn check_odd(columns: &[Growing], order: &[usize]) -> Result<(), FileError> {
    let odd = order.iter().filter_map(|&place| match &columns[place] {
        Growing::Numbers(Numbers {
            found_words: false,
            odd: Some(cell),
            ..
        }) => Some(cell),
        _ => None,
    });
    odd.min_by_key(|cell| cell.row.number())
        .map_or(Ok(()), |cell| {
            Err(FileError::value(cell.clone(), WrongValue::NotFinite))
        })
}

fn write(path: &Path, contents: Contents<'_>) -> Result<(), FileError> {
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
