//! Pages of Parquet columns, checked before they are decoded. The decoders of the `parquet` crate take some claims of
//! a page for true and panic where a damaged file breaks them; here each of these becomes an error.

use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;

type Result<T> = std::result::Result<T, ParquetError>;

/// A page reader that hands on only pages that hold what they claim.
pub(crate) struct Checked {
    pages: Box<dyn PageReader>,
    physical: Physical,
    /// True where values may be missing, so that pages hold definition levels.
    optional: bool,
    dictionary: bool,
}

impl Checked {
    pub(crate) fn new(pages: Box<dyn PageReader>, physical: Physical, optional: bool) -> Self {
        Self { pages, physical, optional, dictionary: false }
    }

    fn check(&mut self, page: &Page) -> Result<()> {
        match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                self.dictionary = true;
                self.check_plain(buf, *num_values as usize)
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                let (levels, values) = match self.optional {
                    true if *def_level_encoding != Encoding::RLE => return Err(rare(*def_level_encoding)),
                    true => {
                        let (length, rest) = buf.split_at_checked(4).ok_or_else(short)?;
                        let length = u32::from_le_bytes(length.try_into().expect("split at 4")) as usize;
                        let (levels, values) = rest.split_at_checked(length).ok_or_else(short)?;
                        (Some(levels), values)
                    }
                    false => (None, &buf[..]),
                };
                self.check_values(levels, values, *num_values as usize, *encoding)
            }
            Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                if *rep_levels_byte_len > 0 || (*def_levels_byte_len > 0) != self.optional {
                    return Err(ParquetError::General("a page has levels that its column has not".into()));
                }
                let (levels, values) = buf.split_at_checked(*def_levels_byte_len as usize).ok_or_else(short)?;
                self.check_values(self.optional.then_some(levels), values, *num_values as usize, *encoding)
            }
        }
    }

    fn check_values(&self, levels: Option<&[u8]>, values: &[u8], claimed: usize, encoding: Encoding) -> Result<()> {
        let present = levels.map_or(Ok(claimed), |levels| present(levels, claimed).ok_or_else(short))?;
        let dictionary = matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
        match encoding {
            Encoding::PLAIN => self.check_plain(values, present),
            _ if dictionary && self.dictionary && (present == 0 || !values.is_empty()) => Ok(()),
            _ if dictionary => Err(ParquetError::General("a dictionary is missing".into())),
            Encoding::RLE if self.physical == Physical::BOOLEAN => Ok(()),
            Encoding::DELTA_BINARY_PACKED => check_delta(values, present),
            other => Err(rare(other)),
        }
    }

    /// Checks that so many plain values are there.
    fn check_plain(&self, mut bytes: &[u8], values: usize) -> Result<()> {
        let width = match self.physical {
            Physical::INT32 | Physical::FLOAT => 4,
            Physical::INT64 | Physical::DOUBLE => 8,
            Physical::BOOLEAN => return if values.div_ceil(8) <= bytes.len() { Ok(()) } else { Err(short()) },
            _ => {
                for _ in 0..values {
                    let (length, rest) = bytes.split_at_checked(4).ok_or_else(short)?;
                    let length = u32::from_le_bytes(length.try_into().expect("split at 4")) as usize;
                    bytes = rest.get(length..).ok_or_else(short)?;
                }
                return Ok(());
            }
        };
        if values.checked_mul(width).is_some_and(|needed| needed <= bytes.len()) { Ok(()) } else { Err(short()) }
    }
}

/// Checks that a page of differences claims as many values as there are.
fn check_delta(mut bytes: &[u8], values: usize) -> Result<()> {
    let mut header = || varint(&mut bytes).ok_or_else(short);
    let (_block, _blocks, claimed) = (header()?, header()?, header()?);
    if claimed == values as u64 { Ok(()) } else { Err(short()) }
}

fn short() -> ParquetError {
    ParquetError::EOF("a page is shorter than it claims".into())
}

fn rare(encoding: Encoding) -> ParquetError {
    ParquetError::NYI(format!("a column is encoded as {encoding}, which is not read; write it plain or by dictionary"))
}

/// How many of `claimed` one-bit levels are 1, in runs (RLE) and packed groups; none if levels are missing.
fn present(mut levels: &[u8], claimed: usize) -> Option<usize> {
    let (mut seen, mut ones) = (0usize, 0usize);
    while seen < claimed {
        let header = varint(&mut levels)?;
        let left = claimed - seen;
        if header & 1 == 0 {
            let run = usize::try_from(header >> 1).ok()?.min(left);
            let (level, rest) = levels.split_first()?;
            levels = rest;
            ones += if *level == 1 { run } else { 0 };
            seen += run;
            if run == 0 || *level > 1 {
                return None;
            }
        } else {
            let bytes = usize::try_from(header >> 1).ok()?;
            let (packed, rest) = levels.split_at_checked(bytes.min(levels.len()))?;
            levels = rest;
            let bits = packed.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1));
            let before = seen;
            for bit in bits.take(left) {
                ones += usize::from(bit);
                seen += 1;
            }
            if seen == before {
                return None;
            }
        }
    }
    Some(ones)
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
        for short in [&[20][..], &[], &[20, 1], &[0xff, 0xff], &[0, 1], &[20, 2], &[1]] {
            assert_eq!(present(short, 11), None, "{short:?}");
        }
    }
}
