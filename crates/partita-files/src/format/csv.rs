//! Delimited text (CSV, TSV), also packed by gzip: one group of rows whose values are parsed as they are wanted.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use csv::ByteRecord;

use super::description::{Format, OpenOptions, Writes, unfit};
use super::reader::{Column, Extent, Form, Layout, Limit, Reader};
use super::text_rows::{TextReader, utf8};
use super::writer::{Contents, Data};
use crate::atomic_write::{text_writer, write_text};
use crate::error::{Cell, FileError, Row};
use crate::label_encoder::Dictionary;
use crate::number::{Short, number};

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
    path: PathBuf,
    options: OpenOptions,
    names: Vec<String>,
    named: bool,
    /// The reader with which the file was opened, for the first that reads: a pipe can be opened once only.
    opened: Mutex<Option<TextReader>>,
}

fn open(path: &Path, options: OpenOptions) -> Result<Box<dyn Reader>, FileError> {
    let reader = TextReader::open(path, options.header, options.delimiter)?;
    let (names, named) = (reader.names(), reader.header().is_some());
    Ok(Box::new(Csv { path: path.into(), options, names, named, opened: Mutex::new(Some(reader)) }))
}

impl Reader for Csv {
    fn path(&self) -> &Path {
        &self.path
    }

    fn layout(&self) -> Layout {
        Layout::Columns
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn named(&self) -> bool {
        self.named
    }

    fn typed(&self) -> bool {
        false
    }

    fn extent(&self, _item: usize) -> Result<Extent, FileError> {
        Ok(Extent { groups: None, columns: 1, width: 8 })
    }

    fn read(&self, _group: usize, wanted: &[(usize, Form)], limit: &Limit) -> Result<Vec<Column>, FileError> {
        let opened = self.opened.lock().map_or(None, |mut opened| opened.take());
        let mut reader = match opened {
            Some(reader) => reader,
            None => TextReader::open(&self.path, self.options.header, self.options.delimiter)?,
        };
        let mut columns: Vec<Growing> = wanted.iter().map(|&(_, form)| Growing::new(form)).collect();
        // Of several errors in a row, that of the first column is told.
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by_key(|&place| wanted[place].0);
        let (mut record, mut rows) = (ByteRecord::new(), 0);
        while let Some(row) = reader.next(&mut record)? {
            for &place in &order {
                let at = wanted[place].0;
                let field = record.get(at).unwrap_or_default();
                columns[place].push(&self.path, row, &self.names[at], field)?;
            }
            rows += 1;
            limit.check_rows(&self.path, rows)?;
        }
        if rows == 0 {
            return Err(FileError::NoRows(self.path.clone()));
        }
        check_odd(&columns, &order)?;
        Ok(columns.into_iter().map(Growing::finish).collect())
    }
}

/// A column while it is read.
enum Growing {
    Text(Vec<String>),
    Labels(Dictionary),
    Numbers(Numbers),
}

/// Numbers, NaN for gaps and words.
struct Numbers {
    values: Vec<f64>,
    gaps: bool,
    /// Whether words are allowed; then NaN and infinity may be words too, which the end of the file decides.
    words: bool,
    found_words: bool,
    odd: Option<Cell>,
}

impl Growing {
    fn new(form: Form) -> Self {
        match form {
            Form::Text => Self::Text(Vec::new()),
            Form::Labels => Self::Labels(Dictionary::default()),
            Form::Numbers { gaps, words } => {
                Self::Numbers(Numbers { values: Vec::new(), gaps, words, found_words: false, odd: None })
            }
        }
    }

    fn push(&mut self, path: &Path, row: Row, name: &str, field: &[u8]) -> Result<(), FileError> {
        match self {
            Self::Text(texts) => texts.push(utf8(path, row, name, field)?.trim().to_owned()),
            Self::Labels(labels) => labels.push(utf8(path, row, name, field)?, row),
            Self::Numbers(numbers) => return numbers.push(path, row, name, field),
        }
        Ok(())
    }

    fn finish(self) -> Column {
        match self {
            Self::Text(texts) => Column::Text(texts),
            Self::Labels(labels) => Column::Labels(labels),
            Self::Numbers(numbers) => Column::Parsed { values: numbers.values, words: numbers.found_words },
        }
    }
}

impl Numbers {
    fn push(&mut self, path: &Path, row: Row, name: &str, field: &[u8]) -> Result<(), FileError> {
        let parsed = number(field);
        let value = match parsed {
            Some(value) if value.is_finite() => value,
            Some(value) if self.gaps && value.is_nan() => f64::NAN,
            Some(_) if self.words => {
                let cell = Cell::new(path, row, name, String::from_utf8_lossy(field).trim());
                self.odd.get_or_insert(cell);
                f64::NAN
            }
            None if self.gaps && field.trim_ascii().is_empty() => f64::NAN,
            None if self.words && !field.trim_ascii().is_empty() => {
                self.found_words = true;
                f64::NAN
            }
            _ => return Err(not_a_number(path, row, name, field, parsed)),
        };
        self.values.push(value);
        Ok(())
    }
}

/// Refuses the first number that is not finite in a column without words.
fn check_odd(columns: &[Growing], order: &[usize]) -> Result<(), FileError> {
    let odd = order.iter().filter_map(|&place| match &columns[place] {
        Growing::Numbers(Numbers { found_words: false, odd: Some(cell), .. }) => Some(cell),
        _ => None,
    });
    let line = |cell: &&Cell| match cell.row {
        Row::Line(row) | Row::Row(row) => row,
    };
    odd.min_by_key(line).map_or(Ok(()), |cell| Err(FileError::NotFinite(cell.clone())))
}

/// Why a field is not a feature.
fn not_a_number(path: &Path, row: Row, column: &str, field: &[u8], parsed: Option<f64>) -> FileError {
    let text = String::from_utf8_lossy(field);
    let cell = Cell::new(path, row, column, text.trim());
    match parsed {
        Some(_) => FileError::NotFinite(cell),
        None if text.trim().is_empty() => FileError::NoValue(cell),
        None => FileError::NotANumber(cell),
    }
}

fn write(path: &Path, contents: Contents<'_>) -> Result<(), FileError> {
    let Contents::Columns { columns, .. } = contents else { return Err(unfit(path)) };
    write_text(path, |out| {
        let mut rows = text_writer(path, out);
        rows.write_record(columns.iter().map(|(name, _)| name))?;
        let mut columns: Vec<Data<'_>> = columns.into_iter().map(|(_, data)| data).collect();
        while write_row(&mut rows, &mut columns)? {}
        rows.flush()
    })
}

/// Writes a row; false at the end of the columns.
fn write_row<W: Write>(rows: &mut csv::Writer<W>, columns: &mut [Data<'_>]) -> std::io::Result<bool> {
    for column in columns {
        let written = match column {
            Data::Integer(values) => values.next().map(|value| match value {
                Some(value) => rows.write_field(itoa::Buffer::new().format(value)),
                None => rows.write_field(""),
            }),
            Data::Float(values) => values.next().map(|value| rows.write_field(Short(value).to_string())),
            Data::Text(values) => values.next().map(|value| rows.write_field(value.unwrap_or_default())),
        };
        match written {
            Some(written) => written?,
            None => return Ok(false),
        }
    }
    rows.write_record(None::<&[u8]>)?;
    Ok(true)
}
