//! Writing Parquet files: whole numbers and texts as optional columns.

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
use crate::error::{FileError, WRITE};

/// Writes columns as one row group, and notes beside them.
pub(crate) fn write_contents(path: &Path, contents: Contents<'_>) -> Result<(), FileError> {
    let Contents::Columns { columns, notes } = contents else { return Err(unfit(path)) };
    let bytes = pack(columns, notes).map_err(|error| FileError::io(path, WRITE, error.into()))?;
    write_whole(path, |out| out.write_all(&bytes))
}

fn pack(columns: Vec<(&str, Data<'_>)>, notes: Vec<(&str, String)>) -> Result<Vec<u8>, ParquetError> {
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
            Data::Integer(values) => put::<Int64Type>(&mut group, values)?,
            Data::Float(values) => put::<DoubleType>(&mut group, values.map(Some))?,
            Data::Text(values) => put::<ByteArrayType>(&mut group, values.map(|text| text.map(ByteArray::from)))?,
        }
    }
    group.close()?;
    file.into_inner()
}

fn field(name: &str, column: &Data<'_>) -> Result<Type, ParquetError> {
    let (physical, logical, repetition) = match column {
        Data::Integer(_) => (Physical::INT64, None, Repetition::OPTIONAL),
        Data::Float(_) => (Physical::DOUBLE, None, Repetition::REQUIRED),
        Data::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL),
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
