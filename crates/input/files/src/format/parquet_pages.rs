//! Pages of Parquet columns, checked before they are decoded. The decoders of the `parquet` crate take some claims of
//! a page for true and panic where a damaged file breaks them; here each of these becomes an error.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;

type Result<T> = std::result::Result<T, ParquetError>;

/// A page reader that hands on only pages that hold what they claim.
pub(crate) struct Checked {
    pages: Box<dyn PageReader>,
    pub(super) physical: Physical,
    /// True where values may be missing, so that pages hold definition levels.
    optional: bool,
    dictionary: bool,
    /// Values that are there in the page that was handed on last.
    pub(super) present: usize,
    /// The file, which stays open from page to page.
    _file: Arc<File>,
}

impl Checked {
    pub(crate) fn new(
        pages: Box<dyn PageReader>,
        physical: Physical,
        optional: bool,
        file: Arc<File>,
    ) -> Self {
        Self {
            pages,
            physical,
            optional,
            dictionary: false,
            present: 0,
            _file: file,
        }
    }

    fn check(&mut self, page: &Page) -> Result<()> {
        if let Page::DictionaryPage {
            buf, num_values, ..
        } = page
        {
            self.dictionary = true;
            return self.check_plain(buf, *num_values as usize);
        }
        let (levels, values) = self.parts(page)?;
        let claimed = page.num_values() as usize;
        let present = levels
            .map_or(Some(claimed), |levels| present(levels, claimed))
            .ok_or_else(short)?;
        self.present = present;
        match page.encoding() {
            Encoding::PLAIN => self.check_plain(values, present),
            other
                if is_dictionary(other)
                    && self.dictionary
                    && (present == 0 || !values.is_empty()) =>
            {
                Ok(())
            }
            other if is_dictionary(other) => {
                Err(ParquetError::General("a dictionary is missing".into()))
            }
            Encoding::RLE if self.physical == Physical::BOOLEAN => Ok(()),
            Encoding::DELTA_BINARY_PACKED => check_delta(values, present),
            other => Err(rare(other)),
        }
    }

    /// The definition levels of a data page, where values may be missing, and its values.
    pub(super) fn parts<'a>(&self, page: &'a Page) -> Result<(Option<&'a [u8]>, &'a [u8])> {
        match page {
            Page::DictionaryPage { buf, .. } => Ok((None, buf)),
            Page::DataPage { buf, .. } if !self.optional => Ok((None, buf)),
            Page::DataPage {
                def_level_encoding, ..
            } if *def_level_encoding != Encoding::RLE => Err(rare(*def_level_encoding)),
            Page::DataPage { buf, .. } => {
                let (length, rest) = buf.split_at_checked(4).ok_or_else(short)?;
                let length = u32::from_le_bytes(length.try_into().expect("split at 4")) as usize;
                let (levels, values) = rest.split_at_checked(length).ok_or_else(short)?;
                Ok((Some(levels), values))
            }
            Page::DataPageV2 {
                buf,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                if *rep_levels_byte_len > 0 || (*def_levels_byte_len > 0) != self.optional {
                    return Err(ParquetError::General(
                        "a page has levels that its column has not".into(),
                    ));
                }
                let (levels, values) = buf
                    .split_at_checked(*def_levels_byte_len as usize)
                    .ok_or_else(short)?;
                Ok((self.optional.then_some(levels), values))
            }
        }
    }

    /// Checks that so many plain values are there.
    fn check_plain(&self, mut bytes: &[u8], values: usize) -> Result<()> {
        let width = match self.physical {
            Physical::INT32 | Physical::FLOAT => 4,
            Physical::INT64 | Physical::DOUBLE => 8,
            Physical::BOOLEAN => {
                return if values.div_ceil(8) <= bytes.len() {
                    Ok(())
                } else {
                    Err(short())
                };
            }
            _ => {
                for _ in 0..values {
                    let (length, rest) = bytes.split_at_checked(4).ok_or_else(short)?;
                    let length =
                        u32::from_le_bytes(length.try_into().expect("split at 4")) as usize;
                    bytes = rest.get(length..).ok_or_else(short)?;
                }
                return Ok(());
            }
        };
        if values
            .checked_mul(width)
            .is_some_and(|needed| needed <= bytes.len())
        {
            Ok(())
        } else {
            Err(short())
        }
    }
}

/// Whether values are places in a dictionary.
pub(super) fn is_dictionary(encoding: Encoding) -> bool {
    matches!(
        encoding,
        Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY
    )
}

/// Checks that a page of differences claims as many values as there are.
fn check_delta(mut bytes: &[u8], values: usize) -> Result<()> {
    let mut header = || varint(&mut bytes).ok_or_else(short);
    let (_block, _blocks, claimed) = (header()?, header()?, header()?);
    if claimed == values as u64 {
        Ok(())
    } else {
        Err(short())
    }
}

pub(super) fn short() -> ParquetError {
    ParquetError::EOF("a page is shorter than it claims".into())
}

fn rare(encoding: Encoding) -> ParquetError {
    ParquetError::NYI(format!(
        "a column is encoded as {encoding}, which is not read; write it plain or by dictionary"
    ))
}

/// How many of `claimed` one-bit levels are 1; none if levels are missing.
pub(super) fn present(levels: &[u8], claimed: usize) -> Option<usize> {
    let (mut runs, mut ones) = (Runs::new(levels, 1, claimed), 0);
    while runs.left > 0 {
        ones += match runs.next_run()? {
            Run::Repeated { value, count } => usize::from(value) * count,
            Run::Packed { bytes, count } => {
                let (whole, rest) = (count / 8, count % 8);
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
pub(super) enum Run<'a> {
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
pub(super) struct Runs<'a> {
    bytes: &'a [u8],
    width: usize,
    /// Values that are still to come.
    pub(super) left: usize,
}

impl<'a> Runs<'a> {
    /// `values` values of `width` bits each, 1 to 8.
    pub(super) fn new(bytes: &'a [u8], width: usize, values: usize) -> Self {
        Self {
            bytes,
            width,
            left: values,
        }
    }

    /// The next values, at least one and no more than are left; none where bytes are missing or a value is too large.
    pub(super) fn next_run(&mut self) -> Option<Run<'a>> {
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

impl Iterator for Checked {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_counted_in_runs_and_groups() {
        // A run of 10 ones; a group of eight, 0b0000_0101; both cut at the claim.
        assert_eq!(present(&[20, 1], 10), Some(10));
        assert_eq!(present(&[20, 1, 3, 0b101], 18), Some(12));
        assert_eq!(present(&[20, 1, 3, 0b101], 11), Some(11));
        assert_eq!(present(&[20, 0], 10), Some(0));
        assert_eq!(present(&[20, 1, 3, 0xff], 11), Some(11));
        for short in [
            &[20][..],
            &[],
            &[20, 1],
            &[0xff, 0xff],
            &[0, 1],
            &[20, 2],
            &[1],
        ] {
            assert_eq!(present(short, 11), None, "{short:?}");
        }
    }
}
