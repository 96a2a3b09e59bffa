//! Flat columns of Parquet files, one row group at a time.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnDescriptor, Type};

use crate::error::{FileError, one_line};
use crate::input;
use crate::number::Short;
use crate::parquet_pages::Checked;
use crate::whole::write_whole;

/// Rows that are decoded at once.
const BATCH: usize = 1 << 16;

/// More cells than this a byte are no data: a claim of so many rows is refused before any is read.
const MOST_CELLS_A_BYTE: u64 = 1 << 16;

/// pandas stores an index that has no name under this one.
const INDEX: &str = "__index_level_0__";

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Whole,
    Unsigned,
    Float,
    Text,
    Other,
}

/// The values of a column in one row group; none where there is no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Column {
    Whole(Vec<Option<i64>>),
    Unsigned(Vec<Option<u64>>),
    Float(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Missing,
    Whole(i128),
    Float(f64),
    Text(&'a str),
}

impl Column {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Whole(values) => values.len(),
            Self::Unsigned(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    pub(crate) fn value(&self, row: usize) -> Value<'_> {
        match self {
            Self::Whole(values) => values[row].map_or(Value::Missing, |value| Value::Whole(value.into())),
            Self::Unsigned(values) => values[row].map_or(Value::Missing, |value| Value::Whole(value.into())),
            Self::Float(values) => values[row].map_or(Value::Missing, Value::Float),
            Self::Text(values) => values[row].as_deref().map_or(Value::Missing, Value::Text),
        }
    }
}

impl Value<'_> {
    /// The value as it would be printed; empty where there is none.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Missing => String::new(),
            Self::Whole(value) => value.to_string(),
            Self::Float(value) if value.is_nan() => String::new(),
            Self::Float(value) => Short(*value).to_string(),
            Self::Text(text) => (*text).to_owned(),
        }
    }
}

/// A file that is being read.
pub(crate) struct ParquetFile<'a> {
    path: &'a Path,
    reader: SerializedFileReader<File>,
    names: Vec<String>,
    kinds: Vec<Kind>,
}

impl<'a> ParquetFile<'a> {
    pub(crate) fn open(path: &'a Path) -> Result<Self, FileError> {
        let (file, length) = input::open(path)?;
        let reader = SerializedFileReader::new(file).map_err(|error| damaged(path, &error))?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let names = schema.columns().iter().map(|column| column.path().string()).collect();
        let kinds = schema.columns().iter().map(|column| kind(column)).collect();
        let file = Self { path, reader, names, kinds };
        file.check_claims(length)?;
        Ok(file)
    }

    /// Refuses sizes that cannot be true.
    fn check_claims(&self, length: u64) -> Result<(), FileError> {
        let groups = self.reader.metadata().row_groups();
        let rows: Option<u64> = groups.iter().try_fold(0u64, |sum, group| sum.checked_add(rows(group)?));
        let cells = rows.and_then(|rows| rows.checked_mul(self.names.len() as u64));
        let inside = |group: &RowGroupMetaData| {
            group.columns().iter().all(|column| {
                let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
                let end = start.checked_add(column.compressed_size());
                start >= 0 && column.compressed_size() >= 0 && end.is_some_and(|end| end as u64 <= length)
            })
        };
        if !groups.iter().all(inside) {
            return Err(FileError::damaged(self.path, "a column lies outside of the file; copy or write it again"));
        }
        match (rows, cells) {
            (Some(0), _) => Err(FileError::NoRows(self.path.into())),
            (Some(_), Some(cells)) if cells / MOST_CELLS_A_BYTE <= length => Ok(()),
            _ => {
                let reason = format!("it claims more values than {length} bytes can hold; the file is damaged");
                Err(FileError::damaged(self.path, reason))
            }
        }
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        self.path
    }

    /// Names of the columns. Parts of a nested column are joined by dots.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// True for a column that is an index and no data.
    pub(crate) fn is_index(name: &str) -> bool {
        name == INDEX
    }

    /// Number of row groups.
    pub(crate) fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// Rows of a group, as the file claims.
    pub(crate) fn rows(&self, group: usize) -> usize {
        rows(self.reader.metadata().row_group(group)).unwrap_or(0) as usize
    }

    /// Text stored beside the columns.
    pub(crate) fn note(&self, key: &str) -> Option<&str> {
        let notes = self.reader.metadata().file_metadata().key_value_metadata()?;
        notes.iter().find(|note| note.key == key)?.value.as_deref()
    }

    /// The values of one column in one row group.
    pub(crate) fn column(&self, group: usize, at: usize) -> Result<Column, FileError> {
        if self.kinds[at] == Kind::Other {
            let what = format!("column '{}'", self.names[at]);
            return Err(FileError::kind(self.path, what, "of a nested or unusual type", "numbers or texts"));
        }
        let failed = |error: ParquetError| damaged(self.path, &error);
        let row_group = self.reader.get_row_group(group).map_err(failed)?;
        let descriptor = self.reader.metadata().file_metadata().schema_descr().column(at);
        let pages = row_group.get_column_page_reader(at).map_err(failed)?;
        let pages = Checked::new(pages, descriptor.physical_type(), descriptor.max_def_level() > 0);
        let reader = get_column_reader(descriptor, Box::new(pages));
        let column = decode(reader, self.kinds[at], self.rows(group)).map_err(failed)?;
        if column.len() == self.rows(group) {
            return Ok(column);
        }
        let (name, found, claimed) = (&self.names[at], column.len(), self.rows(group));
        let reason = format!("column '{name}' holds {found} of {claimed} values; copy or write the file again");
        Err(FileError::damaged(self.path, reason))
    }
}

fn rows(group: &RowGroupMetaData) -> Option<u64> {
    u64::try_from(group.num_rows()).ok()
}

fn damaged(path: &Path, error: &ParquetError) -> FileError {
    FileError::damaged(path, format!("this is no whole Parquet file ({}); copy or write it again", one_line(error)))
}

fn kind(column: &ColumnDescriptor) -> Kind {
    if column.max_rep_level() > 0 || column.max_def_level() > 1 || column.path().parts().len() > 1 {
        return Kind::Other;
    }
    let signed = match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Integer(integer)), _) => Some(integer.is_signed),
        (_, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64) => {
            Some(false)
        }
        (_, ConvertedType::INT_8 | ConvertedType::INT_16 | ConvertedType::INT_32 | ConvertedType::INT_64)
        | (None, ConvertedType::NONE) => Some(true),
        _ => None,
    };
    match (column.physical_type(), signed) {
        (Physical::BOOLEAN, _) | (Physical::INT32 | Physical::INT64, Some(true)) => Kind::Whole,
        (Physical::INT32 | Physical::INT64, Some(false)) => Kind::Unsigned,
        (Physical::FLOAT | Physical::DOUBLE, _) => Kind::Float,
        (Physical::BYTE_ARRAY, _) if column.converted_type() != ConvertedType::DECIMAL => Kind::Text,
        _ => Kind::Other,
    }
}

fn decode(reader: ColumnReader, kind: Kind, rows: usize) -> Result<Column, ParquetError> {
    let whole = kind != Kind::Unsigned;
    Ok(match reader {
        ColumnReader::BoolColumnReader(reader) => Column::Whole(values::<BoolType, _>(reader, rows, |v| Ok(v.into()))?),
        ColumnReader::Int32ColumnReader(reader) if whole => {
            Column::Whole(values::<Int32Type, _>(reader, rows, |v| Ok(v.into()))?)
        }
        ColumnReader::Int32ColumnReader(reader) => {
            Column::Unsigned(values::<Int32Type, _>(reader, rows, |v| Ok((v as u32).into()))?)
        }
        ColumnReader::Int64ColumnReader(reader) if whole => Column::Whole(values::<Int64Type, _>(reader, rows, Ok)?),
        ColumnReader::Int64ColumnReader(reader) => {
            Column::Unsigned(values::<Int64Type, _>(reader, rows, |v| Ok(v as u64))?)
        }
        ColumnReader::FloatColumnReader(reader) => {
            Column::Float(values::<FloatType, _>(reader, rows, |v| Ok(v.into()))?)
        }
        ColumnReader::DoubleColumnReader(reader) => Column::Float(values::<DoubleType, _>(reader, rows, Ok)?),
        ColumnReader::ByteArrayColumnReader(reader) => {
            Column::Text(values::<ByteArrayType, _>(reader, rows, |v| Ok(v.as_utf8()?.to_owned()))?)
        }
        _ => return Err(ParquetError::General("unusual type".into())),
    })
}

/// At most `rows` values of a column, and one more if there are too many.
fn values<T: DataType, V: Clone>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    convert: impl Fn(T::T) -> Result<V, ParquetError>,
) -> Result<Vec<Option<V>>, ParquetError> {
    let (mut all, mut found, mut levels) = (Vec::new(), Vec::new(), Vec::new());
    while all.len() <= rows {
        found.clear();
        levels.clear();
        let wanted = BATCH.min(rows + 1 - all.len());
        let (records, values, _) = reader.read_records(wanted, Some(&mut levels), None, &mut found)?;
        if records == 0 {
            break;
        }
        let mut values = found.drain(..values.min(found.len()));
        for record in 0..records {
            let there = levels.get(record).is_none_or(|&level| level == 1);
            all.push(if there { values.next().map(&convert).transpose()? } else { None });
        }
    }
    Ok(all)
}

/// A column to be written.
pub(crate) enum Output<'a> {
    Whole(Box<dyn Iterator<Item = Option<i64>> + 'a>),
    Float(Box<dyn Iterator<Item = f64> + 'a>),
    Text(Box<dyn Iterator<Item = Option<&'a str>> + 'a>),
}

/// Writes columns as one row group, whole numbers and texts as optional ones, and notes beside them.
pub(crate) fn write(
    path: &Path,
    columns: Vec<(&str, Output<'_>)>,
    notes: Vec<(&str, String)>,
) -> Result<(), FileError> {
    let bytes = pack(columns, notes).map_err(|error| FileError::io(path, crate::error::WRITE, error.into()))?;
    write_whole(path, |out| out.write_all(&bytes))
}

fn pack(columns: Vec<(&str, Output<'_>)>, notes: Vec<(&str, String)>) -> Result<Vec<u8>, ParquetError> {
    let fields: Result<Vec<_>, ParquetError> =
        columns.iter().map(|(name, column)| Ok(Arc::new(field(name, column)?))).collect();
    let schema = Type::group_type_builder("schema").with_fields(fields?).build()?;
    let notes = notes.into_iter().map(|(key, value)| KeyValue::new(key.to_owned(), value)).collect();
    let properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_key_value_metadata(Some(notes)).build();
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for (_, column) in columns {
        match column {
            Output::Whole(values) => put::<Int64Type>(&mut group, values)?,
            Output::Float(values) => put::<DoubleType>(&mut group, values.map(Some))?,
            Output::Text(values) => put::<ByteArrayType>(&mut group, values.map(|text| text.map(ByteArray::from)))?,
        }
    }
    group.close()?;
    file.into_inner()
}

fn field(name: &str, column: &Output<'_>) -> Result<Type, ParquetError> {
    let (physical, logical, repetition) = match column {
        Output::Whole(_) => (Physical::INT64, None, Repetition::OPTIONAL),
        Output::Float(_) => (Physical::DOUBLE, None, Repetition::REQUIRED),
        Output::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL),
    };
    Type::primitive_type_builder(name, physical).with_logical_type(logical).with_repetition(repetition).build()
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut writer = group.next_column()?.ok_or_else(|| ParquetError::General("a column too many".into()))?;
    let (mut present, mut levels) = (Vec::new(), Vec::new());
    for value in values {
        levels.push(i16::from(value.is_some()));
        present.extend(value);
    }
    writer.typed::<T>().write_batch(&present, Some(&levels), None)?;
    writer.close()
}
