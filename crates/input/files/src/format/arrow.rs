//! Flat columns of Arrow IPC files and streams (also called Feather version 2), one record batch at a time, decoded by the `arrow-ipc`
//! crate.
//!
//! Messages are found here, with every place and length checked, and of a batch only the buffers of the column that is wanted are read.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use arrow_array::ArrayRef;
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{Endianness, Message, MessageHeader, MetadataVersion, convert::fb_to_schema};
use arrow_schema::{ArrowError, DataType, Field, Schema, UnionMode};

use super::arrow_values;
use super::description::{Format, OpenOptions, Writes, write_nothing};
use super::foreign::guarded;
use super::reader::{Column, Extent, Form, Items, Layout, Limit, Reader};
use crate::error::{FileError, READ, Result};
use crate::open_file::FileCursor;

pub(crate) const FORMAT: Format = Format {
    name: "Arrow IPC",
    endings: &[".arrow", ".feather", ".ipc"],
    packed: false,
    magic: &[MAGIC],
    grouped: true,
    open,
    writes: Writes::Nothing,
    write: write_nothing,
};

const MAGIC: &[u8] = b"ARROW1";

/// The most bytes before the first message of a file.
const PADDING: u64 = 128;

/// The most that any packing can shrink anything, rounded up.
const BEST_RATIO: u64 = 1 << 16;

/// The longest message that describes a batch.
const LONGEST_MESSAGE: u64 = 1 << 28;

/// A message that describes a batch, and where the bytes of the batch lie.
struct Batch {
    message: Vec<u8>,
    rows: usize,
    body: u64,
    length: u64,
}

type Dictionaries = HashMap<i64, ArrayRef>;

struct Arrow {
    items: Items,
    file: FileCursor,
    is_stream: bool,
    schema: Arc<Schema>,
    batches: Vec<Batch>,
    /// The number of every dictionary, whether it only adds values, and its values.
    dictionaries: Vec<(i64, bool, Batch)>,
    /// The dictionaries, once they were read.
    known: OnceLock<Dictionaries>,
}

fn open(path: &Path, _options: &OpenOptions) -> Result<Box<dyn Reader>> {
    let file = FileCursor::open(path)?;
    let mut start = Vec::new();
    file.clone()
        .take(PADDING)
        .read_to_end(&mut start)
        .map_err(FileError::reading(path))?;
    if start.starts_with(b"FEA1") {
        return Err(FileError::damaged(
            path,
            "this is Feather version 1; write it again as version 2",
        ));
    }
    let is_stream = !start.starts_with(MAGIC);
    let mut arrow = Arrow {
        items: Items::new(path, Layout::Columns, Vec::new()),
        file,
        is_stream,
        schema: Arc::new(Schema::empty()),
        batches: Vec::new(),
        dictionaries: Vec::new(),
        known: OnceLock::new(),
    };
    // In a file the first message stands after a first word and what pads it.
    let padding = start.chunks(8).skip(1);
    let padding = padding.take_while(|word| word.iter().all(|&byte| byte == 0));
    arrow.scan(if is_stream {
        0
    } else {
        8 + 8 * padding.count() as u64
    })?;
    if arrow.items.names.is_empty() {
        return Err(arrow.damaged("it has no columns"));
    }
    if arrow.batches.iter().all(|batch| batch.rows == 0) {
        return Err(FileError::no_rows(path));
    }
    Ok(Box::new(arrow))
}

impl Arrow {
    fn damaged(&self, why: &str) -> FileError {
        FileError::damaged(
            &self.items.path,
            format!("this is not a whole Arrow file ({why}); copy or write it again"),
        )
    }

    fn failed(&self, source: io::Error) -> FileError {
        FileError::io(&self.items.path, READ, source)
    }

    /// What the decoders give; where they fail or panic the file is not whole.
    fn shielded<T>(&self, work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T> {
        match guarded(work) {
            Some(done) => done.map_err(|error| self.damaged(&error.to_string())),
            None => Err(self.damaged("its bytes cannot be decoded")),
        }
    }

    /// So many bytes from a place on.
    fn bytes(&self, at: u64, length: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length as usize];
        let read = self.file.from(at).read_exact(&mut bytes);
        read.map_err(|source| self.failed(source))?;
        Ok(bytes)
    }

    /// Finds schema, dictionaries and batches.
    fn scan(&mut self, mut at: u64) -> Result<()> {
        let end = self.file.length();
        // A stream may end without saying so, a file may not.
        while !(self.is_stream && at == end && !self.items.names.is_empty()) {
            let prefix = self.bytes(at, 8)?;
            let word = |at: usize| prefix[at..at + 4].try_into().map_or(0, u32::from_le_bytes);
            if word(0) != u32::MAX {
                return Err(self.damaged("a message does not begin where it should"));
            }
            let length = u64::from(word(4));
            let start = at + 8;
            if length == 0 {
                return Ok(());
            }
            if length > LONGEST_MESSAGE || start + length > end {
                return Err(self.damaged("a message is longer than the file"));
            }
            at = self.take(self.bytes(start, length)?, start + length)?;
        }
        Ok(())
    }

    /// Takes a message whose body begins at `body`; where the next one begins.
    fn take(&mut self, message: Vec<u8>, body: u64) -> Result<u64> {
        let found = self.message(&message)?;
        let length = u64::try_from(found.bodyLength()).ok();
        let length = length.filter(|&length| {
            body.checked_add(length)
                .is_some_and(|next| next <= self.file.length())
        });
        let length = length.ok_or_else(|| self.damaged("a batch lies outside of the file"))?;
        let lost = || self.damaged("a message has no content");
        let rows = |batch: arrow_ipc::RecordBatch<'_>| {
            usize::try_from(batch.length())
                .map_err(|_| self.damaged("a batch has a negative length"))
        };
        match found.header_type() {
            MessageHeader::Schema => {
                let schema = found.header_as_schema().ok_or_else(lost)?;
                if schema.endianness() == Endianness::Big {
                    let reason = "this is a big-endian Arrow file; write it as little-endian";
                    return Err(FileError::damaged(&self.items.path, reason));
                }
                if !self.items.names.is_empty() {
                    return Err(self.damaged("it has two schemas"));
                }
                let schema = self.shielded(|| Ok(fb_to_schema(schema)))?;
                self.items.names = schema
                    .fields()
                    .iter()
                    .map(|field| field.name().clone())
                    .collect();
                let kinds = schema.fields().iter().map(|field| field.data_type());
                self.items.words = kinds.clone().map(arrow_values::is_text).collect();
                self.items.times = kinds.map(arrow_values::is_time).collect();
                self.schema = Arc::new(schema);
            }
            MessageHeader::RecordBatch => {
                let rows = rows(found.header_as_record_batch().ok_or_else(lost)?)?;
                self.batches.push(Batch {
                    message,
                    rows,
                    body,
                    length,
                });
            }
            MessageHeader::DictionaryBatch => {
                let dictionary = found.header_as_dictionary_batch().ok_or_else(lost)?;
                let rows = rows(dictionary.data().ok_or_else(lost)?)?;
                let id = dictionary.id();
                let adds = dictionary.isDelta();
                if !adds && self.dictionaries.iter().any(|(known, ..)| *known == id) {
                    return Err(FileError::damaged(
                        &self.items.path,
                        "a dictionary is replaced, which is not read; write one",
                    ));
                }
                let values = Batch {
                    message,
                    rows,
                    body,
                    length,
                };
                self.dictionaries.push((id, adds, values));
            }
            _ => {}
        }
        Ok(body + length)
    }

    fn message<'a>(&self, bytes: &'a [u8]) -> Result<Message<'a>> {
        arrow_ipc::root_as_message(bytes).map_err(|_| self.damaged("a message cannot be read"))
    }

    /// The body of a batch, in which only the buffers from one to another are filled: what is not touched takes no memory.
    fn body(
        &self,
        batch: &Batch,
        content: arrow_ipc::RecordBatch<'_>,
        buffers: std::ops::Range<usize>,
        limit: &Limit,
    ) -> Result<Buffer> {
        let mut body = MutableBuffer::from_len_zeroed(batch.length as usize);
        let found = content.buffers().into_iter().flatten();
        for buffer in found.skip(buffers.start).take(buffers.len()) {
            let start = usize::try_from(buffer.offset()).ok();
            let length = usize::try_from(buffer.length()).ok();
            let end = start
                .zip(length)
                .and_then(|(start, length)| start.checked_add(length));
            let bytes = start
                .zip(end)
                .and_then(|(start, end)| body.get_mut(start..end));
            let bytes = bytes.ok_or_else(|| self.damaged("a buffer lies outside of its batch"))?;
            let at = batch.body + buffer.offset() as u64;
            let read = self.file.from(at).read_exact(bytes);
            read.map_err(|source| self.failed(source))?;
            // Packed buffers begin with the number of bytes that they unpack to, or −1.
            if let (Some(_), Some((claimed, _))) =
                (content.compression(), bytes.split_first_chunk())
            {
                let claimed = u64::try_from(i64::from_le_bytes(*claimed)).unwrap_or(0);
                if claimed > BEST_RATIO * buffer.length() as u64 {
                    return Err(self.damaged("a buffer claims more than it can unpack to"));
                }
                limit.check(&self.items.path, claimed)?;
            }
        }
        Ok(body.into())
    }

    /// All dictionaries.
    fn dictionaries(&self, limit: &Limit) -> Result<&Dictionaries> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let mut known = Dictionaries::new();
        for (_, _, batch) in &self.dictionaries {
            let lost = || self.damaged("a message has no content");
            let message = self.message(&batch.message)?;
            let found = message.header_as_dictionary_batch().ok_or_else(lost)?;
            let body = self.body(batch, found.data().ok_or_else(lost)?, 0..usize::MAX, limit)?;
            self.shielded(|| {
                read_dictionary(&body, found, &self.schema, &mut known, &message.version())
            })?;
        }
        Ok(self.known.get_or_init(|| known))
    }
}

/// How many buffers a column has in a batch; `views` are the counts of further buffers of columns that have any number of them.
fn buffers(field: &Field, version: MetadataVersion, views: &mut dyn Iterator<Item = i64>) -> usize {
    let kind = field.data_type();
    let (own, inner): (usize, Vec<&Arc<Field>>) = match kind {
        DataType::Null => (0, Vec::new()),
        DataType::RunEndEncoded(ends, values) => (0, vec![ends, values]),
        DataType::Struct(fields) => (1, fields.iter().collect()),
        DataType::FixedSizeList(inner, _) => (1, vec![inner]),
        DataType::List(inner) | DataType::LargeList(inner) | DataType::Map(inner, _) => {
            (2, vec![inner])
        }
        DataType::ListView(inner) | DataType::LargeListView(inner) => (3, vec![inner]),
        DataType::Union(fields, mode) => {
            let validity = usize::from(version < MetadataVersion::V5);
            let dense = usize::from(*mode == UnionMode::Dense);
            (
                1 + dense + validity,
                fields.iter().map(|(_, field)| field).collect(),
            )
        }
        DataType::Utf8View | DataType::BinaryView => {
            let further = views.next().and_then(|count| usize::try_from(count).ok());
            (2_usize.saturating_add(further.unwrap_or(0)), Vec::new())
        }
        kind if arrow_values::is_text(kind) && !matches!(kind, DataType::Dictionary(..)) => {
            (3, Vec::new())
        }
        _ => (2, Vec::new()),
    };
    inner.into_iter().fold(own, |sum, field| {
        sum.saturating_add(buffers(field, version, views))
    })
}

impl Reader for Arrow {
    fn items(&self) -> &Items {
        &self.items
    }

    fn extent(&self, _item: usize) -> Result<Extent> {
        let groups = self.batches.iter().map(|batch| batch.rows).collect();
        Ok(Extent::of_column(Some(groups)))
    }

    fn read_one(&self, group: usize, item: usize, form: Form, limit: &Limit) -> Result<Column> {
        let batch = &self.batches[group];
        limit.check_claim(&self.items.path, batch.rows as u64, form)?;
        let kind = self.schema.field(item).data_type();
        if !arrow_values::is_read(kind, form) {
            let is_time = arrow_values::is_time(kind);
            return Err(FileError::unusual_type(
                &self.items.path,
                &self.items.names[item],
                is_time,
            ));
        }
        let none = Dictionaries::new();
        let dictionaries = match kind {
            DataType::Dictionary(..) => self.dictionaries(limit)?,
            _ => &none,
        };
        let message = self.message(&batch.message)?;
        let content = message
            .header_as_record_batch()
            .ok_or_else(|| self.damaged("a message has no content"))?;
        let mut views = content.variadicBufferCounts().into_iter().flatten();
        let mut end = 0_usize;
        let mut start = 0;
        for field in &self.schema.fields()[..=item] {
            start = end;
            end = end.saturating_add(buffers(field, message.version(), &mut views));
        }
        let body = self.body(batch, content, start..end, limit)?;
        let version = message.version();
        let array = self.shielded(|| {
            let schema = Arc::clone(&self.schema);
            let decoder =
                RecordBatchDecoder::try_new(&body, content, schema, dictionaries, &version)?;
            let decoded = decoder.with_projection(Some(&[item])).read_record_batch()?;
            arrow_values::column(decoded.column(0), form)
        })?;
        if array.rows() == batch.rows {
            return Ok(array);
        }
        let (name, found, claimed) = (&self.items.names[item], array.rows(), batch.rows);
        Err(self.damaged(&format!(
            "column '{name}' holds {found} of {claimed} values"
        )))
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let note = self.schema.metadata().get(name);
        Ok(note.map(|note| note.clone().into_bytes()))
    }
}
