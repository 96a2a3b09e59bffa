//! Writing Parquet files: whole numbers and texts as optional columns.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::description::unfit;
use super::writer::{Contents, Data};
use crate::atomic_write::write_whole;
use crate::error::Result;

/// Rows of a row group, as pandas and Polars have it: readers hold as few at once, and several threads share a file.
pub(crate) const GROUP_ROWS: usize = 1 << 20;

/// Writes columns in groups of rows, and notes beside them.
pub(crate) fn write_contents(path: &Path, contents: Contents<'_>) -> Result<()> {
    let Contents::Columns {
        rows,
        columns,
        notes,
    } = contents
    else {
        return Err(unfit(path));
    };
    write_whole(path, |out| Ok(pack(out, rows, columns, notes)?))
}

fn pack(
    out: &mut (dyn Write + Send),
    rows: usize,
    mut columns: Vec<(&str, Data<'_>)>,
    notes: Vec<(&str, String)>,
) -> Result<(), ParquetError> {
    let mut file = GroupWriter::new(out, &columns, notes)?;
    for _ in 0..rows.div_ceil(GROUP_ROWS).max(1) {
        file.group(&mut columns)?;
    }
    file.close()
}

/// A file that is written group by group.
pub(crate) struct GroupWriter<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> GroupWriter<W> {
    /// Starts a file with columns of these names and types; their values are not looked at.
    pub(crate) fn new(
        out: W,
        columns: &[(&str, Data<'_>)],
        notes: Vec<(&str, String)>,
    ) -> Result<Self, ParquetError> {
        let fields: Result<Vec<_>, ParquetError> = columns
            .iter()
            .map(|(name, column)| Ok(Arc::new(field(name, column)?)))
            .collect();
        let schema = Type::group_type_builder("schema")
            .with_fields(fields?)
            .build()?;
        let notes = notes
            .into_iter()
            .map(|(key, value)| KeyValue::new(key.to_owned(), value))
            .collect();
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let properties = properties.set_key_value_metadata(Some(notes)).build();
        Ok(Self(SerializedFileWriter::new(
            out,
            Arc::new(schema),
            Arc::new(properties),
        )?))
    }

    /// Writes the next values of all columns, at most [`GROUP_ROWS`] of each.
    pub(crate) fn group(&mut self, columns: &mut [(&str, Data<'_>)]) -> Result<(), ParquetError> {
        let mut group = self.0.next_row_group()?;
        for (_, column) in columns {
            match column {
                Data::Integer(values) => put::<Int64Type>(&mut group, values)?,
                Data::Float(values) => put::<DoubleType>(&mut group, values.map(Some))?,
                Data::Text(values) => {
                    put::<ByteArrayType>(&mut group, values.map(|text| text.map(ByteArray::from)))?;
                }
            }
        }
        group.close().map(|_| ())
    }

    pub(crate) fn close(self) -> Result<(), ParquetError> {
        self.0.close().map(|_| ())
    }
}

fn field(name: &str, column: &Data<'_>) -> Result<Type, ParquetError> {
    let (physical, logical, repetition) = match column {
        Data::Integer(_) => (Physical::INT64, None, Repetition::OPTIONAL),
        Data::Float(_) => (Physical::DOUBLE, None, Repetition::REQUIRED),
        Data::Text(_) => (
            Physical::BYTE_ARRAY,
            Some(LogicalType::String),
            Repetition::OPTIONAL,
        ),
    };
    Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
}

/// Writes the next values of a column.
fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut writer = group
        .next_column()?
        .ok_or_else(|| ParquetError::General("a column too many".into()))?;
    let mut present = Vec::new();
    let mut levels = Vec::new();
    for value in values.take(GROUP_ROWS) {
        levels.push(i16::from(value.is_some()));
        present.extend(value);
    }
    writer
        .typed::<T>()
        .write_batch(&present, Some(&levels), None)?;
    writer.close()
}
