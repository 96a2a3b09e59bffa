//! Flat columns of Parquet files, one row group at a time.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

use super::description::{Format, OpenOptions, Writes};
use super::parquet_codes::codes;
use super::parquet_pages::Checked;
use super::parquet_write::write_contents;
use super::reader::{Column, Extent, Form, Layout, Limit, Reader};
use crate::dictionary::Dictionary;
use crate::error::{FileError, READ, Row};
use crate::open_file::FileCursor;
use crate::typed_array::{TypedArray, Values, each_number};

pub(crate) const FORMAT: Format = Format {
    name: "Parquet",
    endings: &[".parquet", ".pq"],
    packed: false,
    magic: &[b"PAR1"],
    grouped: true,
    open,
    writes: Writes::Columns,
    write: write_contents,
};

/// Rows that are decoded at once.
const BATCH: usize = 1 << 16;

/// More cells than this a byte are not data: a claim of so many rows is refused before any is read.
const MOST_CELLS_A_BYTE: u64 = 1 << 16;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Unsigned,
    Float,
    Text,
    Other,
}

impl Length for FileCursor {
    fn len(&self) -> u64 {
        self.length()
    }
}

impl ChunkReader for FileCursor {
    type T = BufReader<Self>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::new(self.from(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let mut bytes = Vec::with_capacity(length.min(self.length() as usize));
        self.from(start)
            .take(length as u64)
            .read_to_end(&mut bytes)?;
        if bytes.len() == length {
            Ok(bytes.into())
        } else {
            Err(io::Error::from(io::ErrorKind::UnexpectedEof).into())
        }
    }
}

/// A file that is being read.
struct Parquet {
    path: PathBuf,
    file: FileCursor,
    reader: SerializedFileReader<FileCursor>,
    names: Vec<String>,
    kinds: Vec<Kind>,
}

fn open(path: &Path, _options: &OpenOptions) -> Result<Box<dyn Reader>, FileError> {
    let file = FileCursor::open(path)?;
    let length = file.length();
    let reader = SerializedFileReader::new(file.clone()).map_err(|error| damaged(path, &error))?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let names = schema
        .columns()
        .iter()
        .map(|column| column.path().string())
        .collect();
    let kinds = schema.columns().iter().map(|column| kind(column)).collect();
    let file = Parquet {
        path: path.into(),
        file,
        reader,
        names,
        kinds,
    };
    file.check_claims(length)?;
    file.check_packing()?;
    Ok(Box::new(file))
}

impl Parquet {
    /// Refuses sizes that cannot be true.
    fn check_claims(&self, length: u64) -> Result<(), FileError> {
        let groups = self.reader.metadata().row_groups();
        let rows: Option<u64> = groups
            .iter()
            .try_fold(0u64, |sum, group| sum.checked_add(rows(group)?));
        let cells = rows.and_then(|rows| rows.checked_mul(self.names.len() as u64));
        let inside = |group: &RowGroupMetaData| {
            group.columns().iter().all(|column| {
                let start = column
                    .dictionary_page_offset()
                    .unwrap_or(column.data_page_offset());
                let end = start.checked_add(column.compressed_size());
                start >= 0
                    && column.compressed_size() >= 0
                    && end.is_some_and(|end| end as u64 <= length)
            })
        };
        if !groups.iter().all(inside) {
            return Err(FileError::damaged(
                &self.path,
                "a column lies outside of the file; copy or write it again",
            ));
        }
        match (rows, cells) {
            (Some(0), _) => Err(FileError::NoRows(self.path.clone())),
            (Some(_), Some(cells)) if cells / MOST_CELLS_A_BYTE <= length => Ok(()),
            _ => {
                let reason = format!(
                    "it claims more values than {length} bytes can hold; the file is damaged"
                );
                Err(FileError::damaged(&self.path, reason))
            }
        }
    }

    /// Refuses packings that are not read.
    fn check_packing(&self) -> Result<(), FileError> {
        let mut columns = self
            .reader
            .metadata()
            .row_groups()
            .iter()
            .flat_map(RowGroupMetaData::columns);
        let unread = |packing| matches!(packing, Compression::BROTLI(_) | Compression::LZO);
        match columns.find(|column| unread(column.compression())) {
            None => Ok(()),
            Some(column) => {
                let packing = column.compression().to_string();
                let packing = packing.split('(').next().unwrap_or_default();
                let reason = format!(
                    "it is packed by {packing}, which is not read; write it with snappy, zstd, gzip or lz4"
                );
                Err(FileError::damaged(&self.path, reason))
            }
        }
    }

    /// Rows of a group, as the file claims.
    fn rows(&self, group: usize) -> usize {
        rows(self.reader.metadata().row_group(group)).unwrap_or(0) as usize
    }

    fn check_kind(&self, item: usize) -> Result<(), FileError> {
        if self.kinds[item] != Kind::Other {
            return Ok(());
        }
        Err(FileError::unusual_type(
            &self.path,
            &self.names[item],
            is_time(&self.descriptor(item)),
        ))
    }

    /// The pages of one column in one row group.
    fn pages(&self, group: usize, item: usize) -> Result<Checked, FileError> {
        let failed = |error: ParquetError| damaged(&self.path, &error);
        let row_group = self.reader.get_row_group(group).map_err(failed)?;
        let descriptor = self.descriptor(item);
        let file = self
            .file
            .keep_open()
            .map_err(|source| FileError::io(&self.path, READ, source))?;
        let pages = row_group.get_column_page_reader(item).map_err(failed)?;
        Ok(Checked::new(
            pages,
            descriptor.physical_type(),
            descriptor.max_def_level() > 0,
            file,
        ))
    }

    fn descriptor(&self, item: usize) -> ColumnDescPtr {
        self.reader
            .metadata()
            .file_metadata()
            .schema_descr()
            .column(item)
    }

    /// The values of one column in one row group.
    fn column(&self, group: usize, item: usize, form: Form) -> Result<Column, FileError> {
        self.check_kind(item)?;
        let rows = self.rows(group);
        let column =
            match get_column_reader(self.descriptor(item), Box::new(self.pages(group, item)?)) {
                ColumnReader::ByteArrayColumnReader(reader) => texts(reader, rows, form),
                reader => numbers(reader, self.kinds[item], rows).map(Column::Array),
            };
        let column = column.map_err(|error| damaged(&self.path, &error))?;
        self.check_rows(item, rows, column.rows())?;
        Ok(column)
    }

    fn check_rows(&self, item: usize, rows: usize, found: usize) -> Result<(), FileError> {
        if found == rows {
            return Ok(());
        }
        let name = &self.names[item];
        let reason =
            format!("column '{name}' holds {found} of {rows} values; copy or write the file again");
        Err(FileError::damaged(&self.path, reason))
    }
}

impl Reader for Parquet {
    fn path(&self) -> &Path {
        &self.path
    }

    fn layout(&self) -> Layout {
        Layout::Columns
    }

    /// Parts of a nested column are joined by dots.
    fn names(&self) -> &[String] {
        &self.names
    }

    fn is_text(&self, item: usize) -> bool {
        self.kinds[item] == Kind::Text
    }

    fn extent(&self, _item: usize) -> Result<Extent, FileError> {
        let groups = (0..self.reader.num_row_groups())
            .map(|group| self.rows(group))
            .collect();
        Ok(Extent {
            groups: Some(groups),
            columns: 1,
            width: 8,
        })
    }

    fn read(
        &self,
        group: usize,
        wanted: &[(usize, Form)],
        _limit: &Limit,
    ) -> Result<Vec<Column>, FileError> {
        wanted
            .iter()
            .map(|&(item, form)| self.column(group, item, form))
            .collect()
    }

    fn codes(&self, group: usize, item: usize) -> Result<Option<Vec<u8>>, FileError> {
        if self.kinds[item] != Kind::Integer {
            return Ok(None);
        }
        let rows = self.rows(group);
        let found =
            codes(self.pages(group, item)?, rows).map_err(|error| damaged(&self.path, &error))?;
        found
            .as_ref()
            .map_or(Ok(()), |codes| self.check_rows(item, rows, codes.len()))?;
        Ok(found)
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, FileError> {
        let notes = self.reader.metadata().file_metadata().key_value_metadata();
        let note =
            notes.and_then(|notes| notes.iter().find(|note| note.key == name)?.value.clone());
        Ok(note.map(String::into_bytes))
    }
}

fn rows(group: &RowGroupMetaData) -> Option<u64> {
    u64::try_from(group.num_rows()).ok()
}

fn damaged(path: &Path, error: &ParquetError) -> FileError {
    FileError::damaged(
        path,
        format!("this is not a whole Parquet file ({error}); copy or write it again"),
    )
}

/// Whether a column holds dates or times.
fn is_time(column: &ColumnDescriptor) -> bool {
    use ConvertedType as Type;
    let converted = matches!(
        column.converted_type(),
        Type::DATE
            | Type::TIME_MILLIS
            | Type::TIME_MICROS
            | Type::TIMESTAMP_MILLIS
            | Type::TIMESTAMP_MICROS
    );
    converted
        || matches!(
            column.logical_type_ref(),
            Some(LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. })
        )
        || column.physical_type() == Physical::INT96
}

fn kind(column: &ColumnDescriptor) -> Kind {
    if column.max_rep_level() > 0 || column.max_def_level() > 1 || column.path().parts().len() > 1 {
        return Kind::Other;
    }
    let signed = match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Integer(integer)), _) => Some(integer.is_signed),
        (
            _,
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64,
        ) => Some(false),
        (
            _,
            ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64,
        )
        | (None, ConvertedType::NONE) => Some(true),
        _ => None,
    };
    match (column.physical_type(), signed) {
        (Physical::BOOLEAN, _) | (Physical::INT32 | Physical::INT64, Some(true)) => Kind::Integer,
        (Physical::INT32 | Physical::INT64, Some(false)) => Kind::Unsigned,
        (Physical::FLOAT | Physical::DOUBLE, _) => Kind::Float,
        (Physical::BYTE_ARRAY, _) if column.converted_type() != ConvertedType::DECIMAL => {
            Kind::Text
        }
        _ => Kind::Other,
    }
}

/// Numbers in the type that the file has.
fn numbers(reader: ColumnReader, kind: Kind, rows: usize) -> Result<TypedArray, ParquetError> {
    let signed = kind != Kind::Unsigned;
    let (values, present) = match reader {
        ColumnReader::BoolColumnReader(reader) => {
            let (values, present) = values::<BoolType>(reader, rows)?;
            (
                Values::U8(values.into_iter().map(u8::from).collect()),
                present,
            )
        }
        ColumnReader::Int32ColumnReader(reader) => {
            let (values, present) = values(reader, rows)?;
            let unsigned = |values: Vec<i32>| {
                Values::U32(values.into_iter().map(|value| value as u32).collect())
            };
            (
                if signed {
                    Values::I32(values)
                } else {
                    unsigned(values)
                },
                present,
            )
        }
        ColumnReader::Int64ColumnReader(reader) => {
            let (values, present) = values(reader, rows)?;
            let unsigned = |values: Vec<i64>| {
                Values::U64(values.into_iter().map(|value| value as u64).collect())
            };
            (
                if signed {
                    Values::I64(values)
                } else {
                    unsigned(values)
                },
                present,
            )
        }
        ColumnReader::FloatColumnReader(reader) => {
            let (values, present) = values(reader, rows)?;
            (Values::F32(values), present)
        }
        ColumnReader::DoubleColumnReader(reader) => {
            let (values, present) = values(reader, rows)?;
            (Values::F64(values), present)
        }
        _ => return Err(ParquetError::General("unusual type".into())),
    };
    let rows = each_number!(&values, numbers => numbers.len(), text => 0);
    Ok(TypedArray::column(values, rows, present))
}

/// Values, the default one where there is none, and which are there if some are not.
type Present<T> = (Vec<T>, Option<Vec<bool>>);

/// At most `rows` values of a column, and one more if there are too many.
fn values<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
) -> Result<Present<T::T>, ParquetError> {
    let (mut all, mut levels, mut present) = (Vec::new(), Vec::new(), None::<Vec<bool>>);
    while all.len() <= rows {
        let start = all.len();
        levels.clear();
        let wanted = BATCH.min(rows + 1 - start);
        let (records, found, _) = reader.read_records(wanted, Some(&mut levels), None, &mut all)?;
        if records == 0 {
            break;
        }
        if found < records {
            present
                .get_or_insert_with(|| vec![true; start])
                .extend(levels.iter().map(|&level| level == 1));
            spread(&mut all, start, &levels);
        } else if let Some(present) = &mut present {
            present.resize(all.len(), true);
        }
    }
    if present
        .as_ref()
        .is_some_and(|present| present.len() != all.len())
    {
        return Err(ParquetError::General(
            "levels and values differ in number".into(),
        ));
    }
    Ok((all, present))
}

/// Moves the values from `start` on to the rows that have one.
fn spread<T: Default + Clone>(all: &mut Vec<T>, start: usize, levels: &[i16]) {
    let mut next = all.len();
    all.resize(start + levels.len(), T::default());
    for (row, _) in levels
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, level)| **level == 1)
    {
        if next == start {
            return;
        }
        next -= 1;
        if next != start + row {
            all.swap(next, start + row);
        }
    }
}

/// Texts, at most `rows` and one more if there are too many.
fn texts(
    mut reader: ColumnReaderImpl<ByteArrayType>,
    rows: usize,
    form: Form,
) -> Result<Column, ParquetError> {
    let mut column = match form {
        Form::Labels => Column::Labels(Dictionary::default()),
        _ => Column::Text(Vec::new()),
    };
    let (mut levels, mut found) = (Vec::new(), Vec::<ByteArray>::new());
    while column.rows() <= rows {
        levels.clear();
        found.clear();
        let start = column.rows();
        let wanted = BATCH.min(rows + 1 - start);
        let (records, _, _) = reader.read_records(wanted, Some(&mut levels), None, &mut found)?;
        if records == 0 {
            break;
        }
        let mut values = found.iter();
        for record in 0..records {
            let there = levels.get(record).is_none_or(|&level| level == 1);
            let text = if there {
                values.next().map(ByteArray::as_utf8).transpose()?
            } else {
                None
            };
            match &mut column {
                Column::Labels(labels) => labels.push(
                    text.unwrap_or_default(),
                    Row::Row((start + record) as u64 + 1),
                ),
                Column::Text(texts) => texts.push(text.unwrap_or_default().to_owned()),
                _ => {}
            }
        }
    }
    Ok(column)
}
