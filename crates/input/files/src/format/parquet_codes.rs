//! Labels of dictionary-encoded Parquet columns as codes of one byte: the one way around the decoders of the `parquet` crate, which make
//! numbers of eight bytes of them. It reads 10 million × 20 labels in a fraction of the time.

use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;
use partita_core::Label;

use crate::label_encoder::narrow;
use crate::typed_array::{Dtype, each_number};

/// Labels of a column of signed whole numbers: those below 255 as they are, 255 for −1 and where there is none. At most `rows`
/// of them, and one more if there are too many. None for pages without a dictionary, and for other numbers in it.
///
/// # Cost
/// O(rows) time; one byte a row, and one page.
pub(super) fn codes(
    pages: &mut dyn PageReader,
    column: &ColumnDescriptor,
    rows: usize,
) -> Result<Option<Vec<u8>>, ParquetError> {
    // Places in the dictionary have at most eight bits, so that none is outside of this.
    let mut code_of = [u8::MISSING; 256];
    let mut known = 0;
    let mut codes = Vec::new();
    let mut found = Vec::new();
    while codes.len() <= rows {
        let Some(page) = pages.get_next_page()? else {
            break;
        };
        if let Page::DictionaryPage {
            buf, num_values, ..
        } = &page
        {
            let physical = column.physical_type();
            let Some(labels) = dictionary(physical, buf, *num_values as usize) else {
                return Ok(None);
            };
            known = labels.len();
            code_of[..known].copy_from_slice(&labels);
            continue;
        }
        let optional = column.max_def_level() > 0;
        let Some((levels, values)) = parts(&page, optional) else {
            return Err(short());
        };
        let wanted = (page.num_values() as usize).min(rows + 1 - codes.len());
        let there = match levels {
            None => wanted,
            Some(levels) => present(levels, wanted).ok_or_else(short)?,
        };
        let (width, values) = values
            .split_first()
            .map_or((0, values), |(&width, rest)| (usize::from(width), rest));
        let by_dictionary = matches!(
            page.encoding(),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY
        );
        if !by_dictionary || width > 8 {
            return Ok(None);
        }
        found.clear();
        unpack(values, width, there, &mut found).ok_or_else(short)?;
        // Not by `max`, which compares one by one.
        let most = found.iter().fold(0, |most: u8, &place| most.max(place));
        if there > 0 && usize::from(most) >= known {
            return Err(ParquetError::General(
                "a page has a value that is not in its dictionary".into(),
            ));
        }
        found
            .iter_mut()
            .for_each(|place| *place = code_of[usize::from(*place)]);
        match levels {
            None => codes.extend_from_slice(&found),
            Some(levels) => spread(levels, wanted, &mut found, &mut codes).ok_or_else(short)?,
        }
    }
    Ok(Some(codes))
}

fn short() -> ParquetError {
    ParquetError::EOF("a page is shorter than it claims".into())
}

/// The definition levels of a data page, where values may be missing, and its values; none where the page is not as its column.
fn parts(page: &Page, optional: bool) -> Option<(Option<&[u8]>, &[u8])> {
    match page {
        Page::DataPage {
            buf,
            def_level_encoding: Encoding::RLE,
            ..
        } if optional => {
            let (length, rest) = buf.split_at_checked(4)?;
            let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
            let (levels, values) = rest.split_at_checked(length)?;
            Some((Some(levels), values))
        }
        Page::DataPageV2 {
            buf,
            def_levels_byte_len,
            rep_levels_byte_len: 0,
            ..
        } if (*def_levels_byte_len > 0) == optional => {
            let (levels, values) = buf.split_at_checked(*def_levels_byte_len as usize)?;
            Some((optional.then_some(levels), values))
        }
        Page::DataPage { buf, .. } if !optional => Some((None, buf)),
        _ => None,
    }
}

/// The codes of the numbers in a dictionary; none where one of them has no code of a byte.
fn dictionary(physical: Physical, mut plain: &[u8], values: usize) -> Option<Vec<u8>> {
    let dtype = match physical {
        _ if values > 256 => return None,
        Physical::INT32 => Dtype::I32,
        Physical::INT64 => Dtype::I64,
        _ => return None,
    };
    let numbers = dtype.read(&mut plain, values).ok()?;
    each_number!(&numbers, numbers => narrow(numbers, None), text => None)
}

/// Adds `count` values of `width` bits, at most eight; none where bytes are missing.
fn unpack(bytes: &[u8], width: usize, count: usize, values: &mut Vec<u8>) -> Option<()> {
    if width == 0 {
        values.resize(values.len() + count, 0);
        return Some(());
    }
    // Shifts by constants are several times as fast.
    let groups = match width {
        1 => unpack_groups::<1>,
        2 => unpack_groups::<2>,
        3 => unpack_groups::<3>,
        4 => unpack_groups::<4>,
        5 => unpack_groups::<5>,
        6 => unpack_groups::<6>,
        7 => unpack_groups::<7>,
        _ => unpack_groups::<8>,
    };
    let mut runs = Runs::new(bytes, width, count);
    while runs.left > 0 {
        match runs.next_run()? {
            Run::Repeated { value, count } => values.resize(values.len() + count, value),
            Run::Packed { bytes, count } => {
                let start = values.len();
                values.resize(start + count.next_multiple_of(8), 0);
                groups(bytes, &mut values[start..]);
                values.truncate(start + count);
            }
        }
    }
    Some(())
}

/// Values of `W` bits in groups of eight; the last group may lack bytes.
fn unpack_groups<const W: usize>(bytes: &[u8], values: &mut [u8]) {
    let (groups, rest) = bytes.as_chunks::<W>();
    let (eights, _) = values.as_chunks_mut::<8>();
    let mut last = [0; W];
    last[..rest.len()].copy_from_slice(rest);
    for (group, eight) in groups.iter().chain([&last]).zip(eights) {
        let mut bits = [0; 8];
        bits[..W].copy_from_slice(group);
        let bits = u64::from_le_bytes(bits);
        *eight = std::array::from_fn(|at| (bits >> (at * W)) as u8 & (u8::MAX >> (8 - W)));
    }
}

/// Adds one code a level, the next of `found` where it is 1; none where levels are missing.
fn spread(levels: &[u8], rows: usize, found: &mut Vec<u8>, codes: &mut Vec<u8>) -> Option<()> {
    // Bits beyond the last level may ask for up to eight more.
    found.extend([u8::MISSING; 8]);
    let mut runs = Runs::new(levels, 1, rows);
    let mut next = 0;
    while runs.left > 0 {
        match runs.next_run()? {
            Run::Repeated { value: 0, count } => codes.resize(codes.len() + count, u8::MISSING),
            Run::Repeated { count, .. } => {
                codes.extend_from_slice(found.get(next..next + count)?);
                next += count;
            }
            Run::Packed { bytes, count } => {
                let end = codes.len() + count;
                for byte in &bytes[..count.div_ceil(8)] {
                    let own: &[u8; 8] = found.get(next..next + 8)?.try_into().ok()?;
                    let mut before = 0;
                    codes.extend::<[u8; 8]>(std::array::from_fn(|at| {
                        let there = byte >> at & 1;
                        let code = own[before & 7] | there.wrapping_sub(1);
                        before += usize::from(there);
                        code
                    }));
                    next += before;
                }
                codes.truncate(end);
            }
        }
    }
    Some(())
}

/// How many of `claimed` one-bit levels are 1; none if levels are missing.
fn present(levels: &[u8], claimed: usize) -> Option<usize> {
    let mut runs = Runs::new(levels, 1, claimed);
    let mut ones = 0;
    while runs.left > 0 {
        ones += match runs.next_run()? {
            Run::Repeated { value, count } => usize::from(value) * count,
            Run::Packed { bytes, count } => {
                let whole = count / 8;
                let rest = count % 8;
                let last = if rest > 0 {
                    bytes[whole] & ((1 << rest) - 1)
                } else {
                    0
                };
                bytes[..whole]
                    .iter()
                    .chain([&last])
                    .map(|byte| byte.count_ones() as usize)
                    .sum()
            }
        };
    }
    Some(ones)
}

/// Some of the values of [`Runs`].
enum Run<'a> {
    Repeated {
        value: u8,
        count: usize,
    },
    /// Bits of `count` values, the first in the lowest ones; they end with a whole byte.
    Packed {
        bytes: &'a [u8],
        count: usize,
    },
}

/// Values of at most eight bits in runs and packed groups of eight (the hybrid encoding of Parquet).
struct Runs<'a> {
    bytes: &'a [u8],
    width: usize,
    /// Values that are still to come.
    left: usize,
}

impl<'a> Runs<'a> {
    /// `values` values of `width` bits each, 1 to 8.
    fn new(bytes: &'a [u8], width: usize, values: usize) -> Self {
        Self {
            bytes,
            width,
            left: values,
        }
    }

    /// The next values, at least one and no more than are left; none where bytes are missing or a value is too large.
    fn next_run(&mut self) -> Option<Run<'a>> {
        let header = varint(&mut self.bytes)?;
        let count = usize::try_from(header >> 1).ok()?;
        let run = if header & 1 == 0 {
            let (&value, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            (usize::from(value) >> self.width == 0).then_some(Run::Repeated {
                value,
                count: count.min(self.left),
            })?
        } else {
            // Some writers leave out the last bytes of the last group.
            let length = count.saturating_mul(self.width).min(self.bytes.len());
            let (bytes, rest) = self.bytes.split_at(length);
            self.bytes = rest;
            Run::Packed {
                bytes,
                count: (bytes.len() * 8 / self.width).min(self.left),
            }
        };
        let (Run::Repeated { count, .. } | Run::Packed { count, .. }) = run;
        self.left -= count;
        (count > 0).then_some(run)
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;
    use std::sync::Arc;

    use parquet::basic::Repetition;
    use parquet::data_type::{DataType, Int32Type, Int64Type};
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;
    use partita_core::Seed;
    use partita_core::rand::RngExt;

    use crate::format::description::OpenOptions;
    use crate::format::reader::{Column, Form, Limit};
    use crate::label_encoder::{Codes, Encoded};

    fn write<T: DataType>(
        path: &Path,
        values: &[Option<T::T>],
        optional: bool,
        properties: WriterProperties,
    ) {
        let repetition = if optional {
            Repetition::OPTIONAL
        } else {
            Repetition::REQUIRED
        };
        let field = Type::primitive_type_builder("a", T::get_physical_type())
            .with_repetition(repetition)
            .build();
        let schema = Type::group_type_builder("schema")
            .with_fields(vec![Arc::new(field.unwrap())])
            .build()
            .unwrap();
        let mut file = SerializedFileWriter::new(
            File::create(path).unwrap(),
            Arc::new(schema),
            Arc::new(properties),
        )
        .unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let levels: Vec<i16> = values
            .iter()
            .map(|value| i16::from(value.is_some()))
            .collect();
        let there: Vec<T::T> = values.iter().flatten().cloned().collect();
        column
            .typed::<T>()
            .write_batch(&there, optional.then_some(&levels), None)
            .unwrap();
        column.close().unwrap();
        group.close().unwrap();
        file.close().unwrap();
    }

    #[test]
    fn codes_are_those_of_the_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let mut rng = Seed::new(7).rng();
        let mut quick = 0;
        for draw in 0..300 {
            let rows = [1, 7, 64, 300, 5000][draw % 5] + rng.random_range(0..9);
            let most = [0, 1, 2, 9, 254, 255, 70_000][rng.random_range(0..7)];
            let (share, length) = (
                [0.0, 0.05, 0.6, 1.0][rng.random_range(0..4)],
                [1, 1, 40][rng.random_range(0..3)],
            );
            let optional = share > 0.0 || rng.random();
            let mut values: Vec<Option<i64>> = Vec::new();
            while values.len() < rows {
                let value = (!rng.random_bool(share)).then(|| rng.random_range(-1..=most));
                values.extend(vec![value; rng.random_range(1..=length)]);
            }
            values.truncate(rows);
            let version =
                [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0][rng.random_range(0..2)];
            let page = [1 << 20, 50][rng.random_range(0..2)];
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_dictionary_enabled(draw % 7 > 0);
            let properties = properties
                .set_data_page_row_count_limit(page)
                .set_write_batch_size(16)
                .build();
            if rng.random() {
                write::<Int64Type>(&path, &values, optional, properties);
            } else {
                let values: Vec<Option<i32>> = values
                    .iter()
                    .map(|value| value.map(|value| value as i32))
                    .collect();
                write::<Int32Type>(&path, &values, optional, properties);
            }
            let reader =
                (super::super::parquet::FORMAT.open)(&path, &OpenOptions::default()).unwrap();
            let limit = Limit::new(partita_core::MemoryBudget::default(), "", "");
            let Column::Array(numbers) = reader.read_one(0, 0, Form::Labels, &limit).unwrap()
            else {
                panic!()
            };
            let encoded = Encoded::of_array(&numbers);
            match reader.read_one(0, 0, Form::Codes, &limit).unwrap() {
                Column::Codes(codes) => {
                    quick += 1;
                    assert!(
                        encoded.codes == Codes::Bytes(codes),
                        "draw {draw}: {rows} rows, labels to {most}"
                    );
                }
                _ => assert!(
                    draw % 7 == 0 || most > 254,
                    "draw {draw}: {rows} rows, labels to {most}"
                ),
            }
        }
        assert!(quick > 100, "{quick} of 300");
    }
}
