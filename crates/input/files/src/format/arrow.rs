//! Flat columns of Arrow IPC files and streams (also called Feather version 2), one record batch at a time.
//!
//! Messages are read with the `arrow-ipc` crate; their buffers are read here, with every length checked, since the
//! decoders of that crate trust the file.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use arrow_ipc::{CompressionType, Endianness, MessageHeader};

use super::array_claim::Dtype;
use super::arrow_schema::{Field, Kind, read_field};
use super::description::{Format, OpenOptions, Writes, write_nothing};
use super::reader::{Column, Extent, Form, Layout, Limit, Reader};
use crate::dictionary::Dictionary;
use crate::error::{FileError, READ, Row};
use crate::label_encoder::MISSING;
use crate::open_file::FileCursor;
use crate::typed_array::{Number, Scalar, TypedArray, Values, each_number};

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

/// The longest message that describes a batch.
const LONGEST_MESSAGE: u64 = 1 << 28;

/// Where a batch lies.
#[derive(Clone, Debug)]
struct Batch {
    body: u64,
    length: u64,
    rows: usize,
    codec: Option<CompressionType>,
    /// Rows and missing values of every column.
    nodes: Vec<(i64, i64)>,
    buffers: Vec<(i64, i64)>,
    /// Further buffers of every column that has any number of them.
    views: Vec<i64>,
}

struct Arrow {
    path: PathBuf,
    file: FileCursor,
    fields: Vec<Field>,
    names: Vec<String>,
    batches: Vec<Batch>,
    dictionaries: BTreeMap<i64, Vec<Batch>>,
    notes: Vec<(String, String)>,
    /// Values of dictionaries that were read.
    known: Mutex<BTreeMap<i64, Column>>,
}

fn open(path: &Path, _options: &OpenOptions) -> Result<Box<dyn Reader>, FileError> {
    let file = FileCursor::open(path)?;
    let mut start = Vec::new();
    file.clone()
        .take(8)
        .read_to_end(&mut start)
        .map_err(|source| FileError::io(path, READ, source))?;
    if start.starts_with(b"FEA1") {
        return Err(FileError::damaged(
            path,
            "this is Feather version 1; write it again as version 2",
        ));
    }
    let mut arrow = Arrow {
        path: path.into(),
        file,
        fields: Vec::new(),
        names: Vec::new(),
        batches: Vec::new(),
        dictionaries: BTreeMap::new(),
        notes: Vec::new(),
        known: Mutex::new(BTreeMap::new()),
    };
    let first = arrow.first_message(start.starts_with(MAGIC))?;
    arrow.scan(first)?;
    if arrow.names.is_empty() {
        return Err(arrow.damaged("it has no columns"));
    }
    if arrow.batches.iter().all(|batch| batch.rows == 0) {
        return Err(FileError::NoRows(path.into()));
    }
    Ok(Box::new(arrow))
}

impl Arrow {
    fn damaged(&self, why: &str) -> FileError {
        FileError::damaged(
            &self.path,
            format!("this is not a whole Arrow file ({why}); copy or write it again"),
        )
    }

    fn failed(&self, source: io::Error) -> FileError {
        FileError::io(&self.path, READ, source)
    }

    /// Where the first message begins: in a file after its first word and what pads it.
    fn first_message(&self, is_file: bool) -> Result<u64, FileError> {
        if !is_file {
            return Ok(0);
        }
        let mut start = Vec::new();
        self.file
            .from(0)
            .take(PADDING)
            .read_to_end(&mut start)
            .map_err(|source| self.failed(source))?;
        let words = start.chunks(8).skip(1);
        Ok(8 + 8 * words
            .take_while(|word| word.iter().all(|&byte| byte == 0))
            .count() as u64)
    }

    /// Finds schema, dictionaries and batches.
    fn scan(&mut self, mut at: u64) -> Result<(), FileError> {
        let end = self.file.length();
        loop {
            let mut prefix = [0; 8];
            match self.file.from(at).read_exact(&mut prefix) {
                // A stream may end without saying so, a file may not.
                Err(error)
                    if error.kind() == io::ErrorKind::UnexpectedEof
                        && at == end
                        && !self.fields.is_empty() =>
                {
                    return if self.is_stream()? {
                        Ok(())
                    } else {
                        Err(self.failed(error))
                    };
                }
                read => read.map_err(|source| self.failed(source))?,
            }
            let [mark, length] = [&prefix[..4], &prefix[4..]]
                .map(|four| four.try_into().map_or(0, u32::from_le_bytes));
            if mark != u32::MAX {
                return Err(self.damaged("a message does not begin where it should"));
            }
            let (length, start) = (u64::from(length), at + 8);
            if length == 0 {
                return Ok(());
            }
            if length > LONGEST_MESSAGE || start + length > end {
                return Err(self.damaged("a message is longer than the file"));
            }
            let mut message = vec![0; length as usize];
            self.file
                .from(start)
                .read_exact(&mut message)
                .map_err(|source| self.failed(source))?;
            at = self.take(&message, start + length)?;
        }
    }

    fn is_stream(&self) -> Result<bool, FileError> {
        let mut start = [0; 6];
        self.file
            .from(0)
            .read_exact(&mut start)
            .map_err(|source| self.failed(source))?;
        Ok(start != MAGIC)
    }

    /// Takes a message whose body begins at `body`; where the next one begins.
    fn take(&mut self, message: &[u8], body: u64) -> Result<u64, FileError> {
        let message = arrow_ipc::root_as_message(message)
            .map_err(|_| self.damaged("a message cannot be read"))?;
        let next = u64::try_from(message.bodyLength())
            .ok()
            .and_then(|length| body.checked_add(length));
        let next = next.filter(|&next| next <= self.file.length());
        let next = next.ok_or_else(|| self.damaged("a batch lies outside of the file"))?;
        let lost = || self.damaged("a message has no content");
        match message.header_type() {
            MessageHeader::Schema => {
                let schema = message.header_as_schema().ok_or_else(lost)?;
                self.take_schema(schema)?;
            }
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch().ok_or_else(lost)?;
                let batch = self.batch(batch, body, next - body)?;
                self.batches.push(batch);
            }
            MessageHeader::DictionaryBatch => {
                let found = message.header_as_dictionary_batch().ok_or_else(lost)?;
                let batch = self.batch(found.data().ok_or_else(lost)?, body, next - body)?;
                let batches = self.dictionaries.entry(found.id()).or_default();
                if !found.isDelta() && !batches.is_empty() {
                    return Err(FileError::damaged(
                        &self.path,
                        "a dictionary is replaced, which is not read; write one",
                    ));
                }
                batches.push(batch);
            }
            _ => {}
        }
        Ok(next)
    }

    fn take_schema(&mut self, schema: arrow_ipc::Schema<'_>) -> Result<(), FileError> {
        if schema.endianness() == Endianness::Big {
            return Err(FileError::damaged(
                &self.path,
                "this is a big-endian Arrow file; write it as little-endian",
            ));
        }
        if !self.fields.is_empty() {
            return Err(self.damaged("it has two schemas"));
        }
        for field in schema.fields().into_iter().flatten() {
            let field =
                read_field(field, 0).ok_or_else(|| self.damaged("a column cannot be read"))?;
            self.names.push(field.name.clone());
            self.fields.push(field);
        }
        for note in schema.custom_metadata().into_iter().flatten() {
            let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
            self.notes.push((text(note.key()), text(note.value())));
        }
        Ok(())
    }

    fn batch(
        &self,
        batch: arrow_ipc::RecordBatch<'_>,
        body: u64,
        length: u64,
    ) -> Result<Batch, FileError> {
        let rows = usize::try_from(batch.length())
            .map_err(|_| self.damaged("a batch has a negative length"))?;
        Ok(Batch {
            body,
            length,
            rows,
            codec: batch.compression().map(|compression| compression.codec()),
            nodes: batch
                .nodes()
                .into_iter()
                .flatten()
                .map(|node| (node.length(), node.null_count()))
                .collect(),
            buffers: batch
                .buffers()
                .into_iter()
                .flatten()
                .map(|buffer| (buffer.offset(), buffer.length()))
                .collect(),
            views: batch.variadicBufferCounts().into_iter().flatten().collect(),
        })
    }

    /// The bytes of a buffer, unpacked as they are read.
    fn stream(&self, batch: &Batch, buffer: usize) -> Result<Box<dyn Read>, FileError> {
        let &(offset, length) = batch
            .buffers
            .get(buffer)
            .ok_or_else(|| self.damaged("a buffer is missing"))?;
        let inside = u64::try_from(offset).ok().zip(u64::try_from(length).ok());
        let inside = inside.filter(|(offset, length)| {
            offset
                .checked_add(*length)
                .is_some_and(|end| end <= batch.length)
        });
        let (offset, length) =
            inside.ok_or_else(|| self.damaged("a buffer lies outside of its batch"))?;
        let mut bytes = self.file.from(batch.body + offset).take(length);
        let Some(codec) = batch.codec.filter(|_| length > 0) else {
            return Ok(Box::new(bytes));
        };
        let mut claimed = [0; 8];
        bytes
            .read_exact(&mut claimed)
            .map_err(|source| self.failed(source))?;
        Ok(match codec {
            // Packing did not pay.
            _ if i64::from_le_bytes(claimed) == -1 => Box::new(bytes),
            CompressionType::LZ4_FRAME => Box::new(lz4_flex::frame::FrameDecoder::new(
                io::BufReader::new(bytes),
            )),
            CompressionType::ZSTD => Box::new(
                zstd::stream::read::Decoder::new(bytes).map_err(|source| self.failed(source))?,
            ),
            _ => return Err(self.damaged("its compression is not known")),
        })
    }

    /// The first values of a buffer.
    fn values(
        &self,
        batch: &Batch,
        buffer: usize,
        dtype: Dtype,
        count: usize,
    ) -> Result<Values, FileError> {
        dtype
            .read(&mut self.stream(batch, buffer)?, count)
            .map_err(|source| self.failed(source))
    }

    fn bits(&self, batch: &Batch, buffer: usize, count: usize) -> Result<Vec<bool>, FileError> {
        let bytes = match self.values(batch, buffer, Dtype::U8, count.div_ceil(8))? {
            Values::U8(bytes) => bytes,
            _ => Vec::new(),
        };
        Ok((0..count)
            .map(|at| {
                bytes
                    .get(at / 8)
                    .is_some_and(|byte| byte >> (at % 8) & 1 == 1)
            })
            .collect())
    }

    /// One column of a batch with these fields.
    fn column(
        &self,
        batch: &Batch,
        fields: &[Field],
        item: usize,
        form: Form,
        limit: &Limit,
    ) -> Result<Column, FileError> {
        let field = &fields[item];
        let before = &fields[..item];
        let views: usize = before.iter().map(|field| field.views).sum();
        let extra = batch
            .views
            .iter()
            .take(views)
            .map(|&count| usize::try_from(count).unwrap_or(0));
        let node = before.iter().map(|field| field.nodes).sum::<usize>();
        let buffer = before.iter().map(|field| field.buffers).sum::<usize>() + extra.sum::<usize>();
        let &(rows, missing) = batch
            .nodes
            .get(node)
            .ok_or_else(|| self.damaged("a column is missing"))?;
        if usize::try_from(rows).ok() != Some(batch.rows) {
            let (name, found, claimed) = (&field.name, rows, batch.rows);
            return Err(self.damaged(&format!(
                "column '{name}' holds {found} of {claimed} values"
            )));
        }
        let present = if missing == 0 {
            None
        } else {
            Some(self.bits(batch, buffer, batch.rows)?)
        };
        if let Some((id, places)) = field.dictionary {
            let places = self.values(batch, buffer + 1, places, batch.rows)?;
            return self.looked_up(id, places, present, form, limit);
        }
        match field.kind {
            Kind::Number(dtype) => {
                let values = self.values(batch, buffer + 1, dtype, batch.rows)?;
                Ok(Column::Array(TypedArray::column(
                    values, batch.rows, present,
                )))
            }
            Kind::Bool => {
                let values = self
                    .bits(batch, buffer + 1, batch.rows)?
                    .into_iter()
                    .map(u8::from)
                    .collect();
                Ok(Column::Array(TypedArray::column(
                    Values::U8(values),
                    batch.rows,
                    present,
                )))
            }
            Kind::Text(places) => self.texts(batch, buffer, places, present, form),
            Kind::TextView => {
                let further = batch
                    .views
                    .get(views)
                    .and_then(|&count| usize::try_from(count).ok())
                    .unwrap_or(0);
                self.views(batch, buffer, further, present, form)
            }
            Kind::Time | Kind::Other => Err(FileError::unusual_type(
                &self.path,
                &field.name,
                field.kind == Kind::Time,
            )),
        }
    }

    fn texts(
        &self,
        batch: &Batch,
        buffer: usize,
        places: Dtype,
        present: Option<Vec<bool>>,
        form: Form,
    ) -> Result<Column, FileError> {
        if batch.rows == 0 {
            return Ok(Column::Text(Vec::new()));
        }
        let places: Vec<u64> = match self.values(batch, buffer + 1, places, batch.rows + 1)? {
            Values::I32(places) => places
                .into_iter()
                .map(|place| u64::try_from(place).unwrap_or(u64::MAX))
                .collect(),
            Values::I64(places) => places
                .into_iter()
                .map(|place| u64::try_from(place).unwrap_or(u64::MAX))
                .collect(),
            _ => Vec::new(),
        };
        let mut bytes = Vec::new();
        let length = places.last().copied().unwrap_or(0);
        self.stream(batch, buffer + 2)?
            .take(length)
            .read_to_end(&mut bytes)
            .map_err(|source| self.failed(source))?;
        let text = |row: usize| {
            let (start, end) = (
                usize::try_from(places[row]).ok()?,
                usize::try_from(places[row + 1]).ok()?,
            );
            std::str::from_utf8(bytes.get(start..end)?).ok()
        };
        collect(batch.rows, present.as_deref(), form, text)
            .ok_or_else(|| self.damaged("a text cannot be read"))
    }

    fn views(
        &self,
        batch: &Batch,
        buffer: usize,
        further: usize,
        present: Option<Vec<bool>>,
        form: Form,
    ) -> Result<Column, FileError> {
        let Values::Bytes { data: views, .. } =
            self.values(batch, buffer + 1, Dtype::Bytes(16), batch.rows)?
        else {
            return Err(self.damaged("a text cannot be read"));
        };
        let mut long = Vec::new();
        for further in 0..further.min(batch.buffers.len()) {
            let mut bytes = Vec::new();
            self.stream(batch, buffer + 2 + further)?
                .read_to_end(&mut bytes)
                .map_err(|source| self.failed(source))?;
            long.push(bytes);
        }
        let text = |row: usize| {
            let view = &views[16 * row..16 * row + 16];
            let word =
                |at: usize| view[at..at + 4].try_into().map_or(0, u32::from_le_bytes) as usize;
            let bytes = match word(0) {
                length @ 0..=12 => &view[4..4 + length],
                length => long.get(word(8))?.get(word(12)..)?.get(..length)?,
            };
            std::str::from_utf8(bytes).ok()
        };
        collect(batch.rows, present.as_deref(), form, text)
            .ok_or_else(|| self.damaged("a text cannot be read"))
    }

    /// The values of a dictionary.
    fn dictionary(&self, id: i64, limit: &Limit) -> Result<Column, FileError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(column) = known.get(&id) {
            return Ok(column.clone());
        }
        let lost = || self.damaged("a dictionary is missing");
        let field = self
            .fields
            .iter()
            .find(|field| field.dictionary.is_some_and(|(own, _)| own == id));
        let values = Field {
            dictionary: None,
            ..field.ok_or_else(lost)?.clone()
        };
        let mut whole: Option<Column> = None;
        for batch in self.dictionaries.get(&id).into_iter().flatten() {
            let next = self.column(batch, std::slice::from_ref(&values), 0, Form::Text, limit)?;
            match &mut whole {
                None => whole = Some(next),
                Some(whole) => {
                    let start = whole.rows();
                    whole.append(&self.path, next, start)?;
                }
            }
        }
        let whole = whole.ok_or_else(lost)?;
        known.insert(id, whole.clone());
        Ok(whole)
    }

    /// Values by their places in a dictionary.
    fn looked_up(
        &self,
        id: i64,
        places: Values,
        present: Option<Vec<bool>>,
        form: Form,
        limit: &Limit,
    ) -> Result<Column, FileError> {
        let dictionary = self.dictionary(id, limit)?;
        let rows = each_number!(&places, places => places.len(), text => 0);
        let there = |row: usize| present.as_ref().is_none_or(|present| present[row]);
        let place = |row: usize| {
            each_number!(&places, places => match places[row].scalar() {
            Scalar::Integer(place) => usize::try_from(place).ok(),
            Scalar::Float(_) => None,
        }, text => None)
        };
        let outside = || self.damaged("a value is not in its dictionary");
        match dictionary {
            Column::Array(values) => {
                let found = |row| {
                    if there(row) {
                        place(row).filter(|&place| place < values.rows)
                    } else {
                        Some(0)
                    }
                };
                let places: Vec<usize> = (0..rows)
                    .map(found)
                    .collect::<Option<_>>()
                    .ok_or_else(outside)?;
                let absent = |(row, &place): (usize, &usize)| {
                    there(row) && values.present.as_ref().is_none_or(|present| present[place])
                };
                let present = places.iter().enumerate().map(absent).collect();
                let picked = values.values.pick(&places).ok_or_else(outside)?;
                Ok(Column::Array(TypedArray::column(
                    picked,
                    rows,
                    Some(present),
                )))
            }
            other => {
                let texts = other.into_texts();
                let text = |row| texts.get(place(row)?).map(String::as_str);
                collect_repeated(rows, present.as_deref(), form, text, place, texts.len())
                    .ok_or_else(outside)
            }
        }
    }
}

/// Texts in the form that is wanted; none where one cannot be read.
fn collect<'a>(
    rows: usize,
    present: Option<&[bool]>,
    form: Form,
    text: impl Fn(usize) -> Option<&'a str>,
) -> Option<Column> {
    collect_repeated(rows, present, form, text, |_| None, 0)
}

/// As [`collect`], for texts of which `place` says which of `count` ones they are.
fn collect_repeated<'a>(
    rows: usize,
    present: Option<&[bool]>,
    form: Form,
    text: impl Fn(usize) -> Option<&'a str>,
    place: impl Fn(usize) -> Option<usize>,
    count: usize,
) -> Option<Column> {
    let own = |row: usize| {
        if present.is_none_or(|present| present[row]) {
            text(row)
        } else {
            Some("")
        }
    };
    if form != Form::Labels {
        return (0..rows)
            .map(|row| own(row).map(str::to_owned))
            .collect::<Option<_>>()
            .map(Column::Text);
    }
    let (mut labels, mut codes) = (Dictionary::default(), vec![MISSING; count]);
    for row in 0..rows {
        let (at, text) = (Row::Row(row as u64 + 1), own(row)?.trim());
        match place(row).and_then(|place| codes.get_mut(place)) {
            _ if text.is_empty() => labels.push_missing(at),
            None => labels.push(text, at),
            Some(code) => {
                if *code == MISSING {
                    *code = labels.code(text, at);
                }
                labels.push_code(*code);
            }
        }
    }
    Some(Column::Labels(labels))
}

impl Reader for Arrow {
    fn path(&self) -> &Path {
        &self.path
    }

    fn layout(&self) -> Layout {
        Layout::Columns
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn is_text(&self, item: usize) -> bool {
        matches!(self.fields[item].kind, Kind::Text(_) | Kind::TextView)
    }

    fn extent(&self, _item: usize) -> Result<Extent, FileError> {
        let groups = self.batches.iter().map(|batch| batch.rows).collect();
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
        limit: &Limit,
    ) -> Result<Vec<Column>, FileError> {
        let batch = self
            .batches
            .get(group)
            .ok_or_else(|| self.damaged("a batch is missing"))?;
        limit.check_claim(
            &self.path,
            batch.rows as u64,
            wanted.iter().map(|&(_, form)| form),
        )?;
        wanted
            .iter()
            .map(|&(item, form)| self.column(batch, &self.fields, item, form, limit))
            .collect()
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, FileError> {
        Ok(self
            .notes
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.clone().into_bytes()))
    }
}
