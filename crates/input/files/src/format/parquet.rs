//! Flat columns of Parquet files, one row group at a time, decoded by the `parquet` crate.

use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use ::arrow_array::RecordBatch;
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, Type as Physical};
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, Type};

use super::arrow_values;
use super::description::{Format, OpenOptions, Writes};
use super::foreign::guarded;
use super::parquet_codes::codes;
use super::parquet_write::write_contents;
use super::reader::{Column, Extent, Form, Items, Layout, Limit, Reader};
use crate::error::{FileError, Result};
use crate::open_file::FileCursor;

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
    items: Items,
    file: FileCursor,
    metadata: ArrowReaderMetadata,
    /// What the columns hold; none of one that is nested.
    kinds: Vec<Option<DataType>>,
}

fn open(path: &Path, _options: &OpenOptions) -> Result<Box<dyn Reader>> {
    Ok(Box::new(opened(path)?))
}

fn opened(path: &Path) -> Result<Parquet> {
    let file = FileCursor::open(path)?;
    let metadata = shielded(path, || ArrowReaderMetadata::load(&file, options()))?;
    let schema = metadata.parquet_schema();
    let kind = |(leaf, column): (usize, &Arc<ColumnDescriptor>)| {
        let flat = column.max_rep_level() == 0
            && column.max_def_level() <= 1
            && column.path().parts().len() == 1;
        let field = metadata
            .schema()
            .fields()
            .get(schema.get_column_root_idx(leaf))?;
        flat.then(|| field.data_type().clone())
    };
    let names = schema.columns().iter();
    let names = names.map(|column| column.path().string()).collect();
    let kinds: Vec<Option<DataType>> = schema.columns().iter().enumerate().map(kind).collect();
    let all = |of: fn(&DataType) -> bool| {
        let found = kinds.iter().map(|kind| kind.as_ref().is_some_and(of));
        found.collect::<Vec<bool>>()
    };
    let (words, times) = (all(arrow_values::is_text), all(arrow_values::is_time));
    let file = Parquet {
        items: Items {
            words,
            times,
            ..Items::new(path, Layout::Columns, names)
        },
        file,
        metadata,
        kinds,
    };
    file.check_claims()?;
    file.check_packing()?;
    Ok(file)
}

fn options() -> ArrowReaderOptions {
    ArrowReaderOptions::new().with_skip_arrow_metadata(true)
}

/// What the decoders give; where they fail or panic the file is not whole.
fn shielded<T>(path: &Path, work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T> {
    let broken = |why: &str| {
        let reason = format!("this is not a whole Parquet file ({why}); copy or write it again");
        FileError::damaged(path, reason)
    };
    match guarded(work) {
        Some(done) => done.map_err(|error| broken(&error.to_string())),
        None => Err(broken("its bytes cannot be decoded")),
    }
}

impl Parquet {
    fn groups(&self) -> &[RowGroupMetaData] {
        self.metadata.metadata().row_groups()
    }

    /// Refuses sizes that cannot be true.
    fn check_claims(&self) -> Result<()> {
        let length = self.file.length();
        let mut columns = self.groups().iter().flat_map(RowGroupMetaData::columns);
        let inside = columns.all(|column| {
            let start = column
                .dictionary_page_offset()
                .unwrap_or(column.data_page_offset());
            let end = start.checked_add(column.compressed_size());
            start >= 0
                && column.compressed_size() >= 0
                && end.is_some_and(|end| end as u64 <= length)
        });
        if !inside {
            return Err(FileError::damaged(
                &self.items.path,
                "a column lies outside of the file; copy or write it again",
            ));
        }
        let rows: Option<u64> = self
            .groups()
            .iter()
            .try_fold(0u64, |sum, group| sum.checked_add(rows(group)?));
        let cells = rows.and_then(|rows| rows.checked_mul(self.items.names.len() as u64));
        match (rows, cells) {
            (Some(0), _) => Err(FileError::no_rows(&self.items.path)),
            (Some(_), Some(cells)) if cells / MOST_CELLS_A_BYTE <= length => Ok(()),
            _ => {
                let reason = format!(
                    "it claims more values than {length} bytes can hold; the file is damaged"
                );
                Err(FileError::damaged(&self.items.path, reason))
            }
        }
    }

    /// Refuses packings that are not read.
    fn check_packing(&self) -> Result<()> {
        let mut columns = self.groups().iter().flat_map(RowGroupMetaData::columns);
        let unread = |packing| matches!(packing, Compression::BROTLI(_) | Compression::LZO);
        let Some(column) = columns.find(|column| unread(column.compression())) else {
            return Ok(());
        };
        let packing = column.compression().to_string();
        let packing = packing.split('(').next().unwrap_or_default();
        let reason = format!(
            "it is packed by {packing}, which is not read; write it with snappy, zstd, gzip or lz4"
        );
        Err(FileError::damaged(&self.items.path, reason))
    }

    /// Rows of a group, as the file claims.
    fn rows(&self, group: usize) -> usize {
        rows(&self.groups()[group]).unwrap_or(0) as usize
    }

    /// The pages of one column in one row group.
    fn pages(
        &self,
        group: usize,
        item: usize,
    ) -> Result<SerializedPageReader<FileCursor>, ParquetError> {
        let column = self.groups()[group].column(item);
        SerializedPageReader::new(Arc::new(self.file.clone()), column, self.rows(group), None)
    }

    /// What is known of one group of one flat column, as if the file held nothing else: a decoder goes through all that it is told of.
    fn alone(&self, group: usize, item: usize) -> Result<ArrowReaderMetadata, ParquetError> {
        let (all, whole) = (self.metadata.parquet_schema(), &self.groups()[group]);
        let root = all.get_column_root(item).clone();
        let schema = Type::group_type_builder(all.name()).with_fields(vec![Arc::new(root)]);
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(schema.build()?)));
        let own = RowGroupMetaData::builder(schema.clone())
            .set_num_rows(whole.num_rows())
            .set_column_metadata(vec![whole.column(item).clone()])
            .build()?;
        let file = self.metadata.metadata().file_metadata();
        let by = file.created_by().map(str::to_owned);
        let file = FileMetaData::new(file.version(), whole.num_rows(), by, None, schema, None);
        let metadata = ParquetMetaData::new(file, vec![own]);
        ArrowReaderMetadata::try_new(Arc::new(metadata), options())
    }

    /// Refuses a dictionary that claims more values than its bytes can hold: the decoder makes room for them before it reads any.
    fn check_dictionary(&self, group: usize, item: usize) -> Result<(), ParquetError> {
        if self.groups()[group]
            .column(item)
            .dictionary_page_offset()
            .is_none()
        {
            return Ok(());
        }
        let column = self.metadata.parquet_schema().column(item);
        let width = match column.physical_type() {
            Physical::FIXED_LEN_BYTE_ARRAY => column.type_length().max(1) as usize,
            _ => 4,
        };
        match self.pages(group, item)?.get_next_page()? {
            Some(Page::DictionaryPage {
                buf, num_values, ..
            }) if num_values as usize > buf.len() / width => Err(ParquetError::EOF(
                "a dictionary is shorter than it claims".into(),
            )),
            _ => Ok(()),
        }
    }

    /// The file, which stays open from page to page as long as this is kept.
    fn keep_open(&self) -> Result<Arc<std::fs::File>> {
        let open = self.file.keep_open();
        open.map_err(FileError::reading(&self.items.path))
    }

    fn check_rows(&self, item: usize, rows: usize, found: usize) -> Result<()> {
        if found == rows {
            return Ok(());
        }
        let name = &self.items.names[item];
        let reason =
            format!("column '{name}' holds {found} of {rows} values; copy or write the file again");
        Err(FileError::damaged(&self.items.path, reason))
    }

    /// Labels as codes of a byte; none where their pages do not give them.
    fn codes(&self, group: usize, item: usize) -> Result<Option<Vec<u8>>> {
        let column = self.metadata.parquet_schema().column(item);
        let whole = matches!(column.physical_type(), Physical::INT32 | Physical::INT64)
            && self.kinds[item]
                .as_ref()
                .is_some_and(DataType::is_signed_integer);
        if !whole {
            return Ok(None);
        }
        let rows = self.rows(group);
        let _open = self.keep_open()?;
        let found = shielded(&self.items.path, || {
            codes(&mut self.pages(group, item)?, &column, rows)
        })?;
        if let Some(codes) = &found {
            self.check_rows(item, rows, codes.len())?;
        }
        Ok(found)
    }
}

impl Reader for Parquet {
    fn items(&self) -> &Items {
        &self.items
    }

    fn extent(&self, _item: usize) -> Result<Extent> {
        let groups = (0..self.groups().len()).map(|group| self.rows(group));
        Ok(Extent::of_column(Some(groups.collect())))
    }

    fn read_one(&self, group: usize, item: usize, form: Form, limit: &Limit) -> Result<Column> {
        let kind = self.kinds[item].as_ref();
        if !kind.is_some_and(|kind| arrow_values::is_read(kind, form)) {
            let is_time = kind.is_some_and(arrow_values::is_time);
            return Err(FileError::unusual_type(
                &self.items.path,
                &self.items.names[item],
                is_time,
            ));
        }
        let rows = self.rows(group);
        limit.check_claim(&self.items.path, rows as u64, form)?;
        let pages = self.groups()[group].column(item).uncompressed_size();
        limit.check(&self.items.path, u64::try_from(pages).unwrap_or(u64::MAX))?;
        if form == Form::Codes
            && let Some(codes) = self.codes(group, item)?
        {
            return Ok(Column::Codes(codes));
        }
        let _open = self.keep_open()?;
        let mut batches = shielded(&self.items.path, || {
            self.check_dictionary(group, item)?;
            let alone = self.alone(group, item)?;
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), alone)
                .with_batch_size(BATCH.min(rows))
                .build()
        })?;
        let mut whole: Option<Column> = None;
        while let Some(next) = shielded(&self.items.path, || {
            let batch = batches.next().transpose()?;
            let column = |batch: RecordBatch| arrow_values::column(batch.column(0), form);
            Ok(batch.map(column).transpose()?)
        })? {
            match &mut whole {
                None => whole = Some(next),
                Some(whole) => {
                    let start = whole.rows();
                    whole.append(&self.items.path, next, start)?;
                }
            }
        }
        let found = whole.as_ref().map_or(0, Column::rows);
        self.check_rows(item, rows, found)?;
        Ok(whole.unwrap_or(Column::Text(Vec::new())))
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let notes = self
            .metadata
            .metadata()
            .file_metadata()
            .key_value_metadata();
        let note = notes.into_iter().flatten().find(|note| note.key == name);
        Ok(note.and_then(|note| note.value.clone().map(String::into_bytes)))
    }
}

fn rows(group: &RowGroupMetaData) -> Option<u64> {
    u64::try_from(group.num_rows()).ok()
}

#[cfg(test)]
mod tests {
    use ::arrow_array::{ArrayRef, Int64Array};
    use parquet::arrow::ArrowWriter;
    use partita_core::MemoryBudget;

    use super::*;
    use crate::testing::file;

    #[test]
    fn a_decoder_is_told_of_its_own_column_alone() {
        let column = |at: i64| Arc::new(Int64Array::from(vec![at, at * at])) as ArrayRef;
        let named = (0..300).map(|at| (format!("c{at}"), column(at)));
        let batch = RecordBatch::try_from_iter(named).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let (_folder, path) = file("wide.parquet", &bytes);
        let wide = opened(&path).unwrap();
        let limit = Limit::new(MemoryBudget::default(), "a column", "");
        for item in [0, 7, 299] {
            let alone = wide.alone(0, item).unwrap();
            assert_eq!(alone.parquet_schema().num_columns(), 1);
            let read = wide.read_one(0, item, Form::Text, &limit).unwrap();
            let expected = [item, item * item].map(|value| value.to_string());
            assert_eq!(read.into_texts(), expected);
        }
    }
}
