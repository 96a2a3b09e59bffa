//! Headers of NumPy arrays (NPY), and writing such arrays.

use std::io::{self, Read, Write};
use std::path::Path;

use super::writer::{Array, Elements};
use crate::error::{FileError, Result};
use crate::typed_array::{ArrayClaim, Dtype};

pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read; NumPy itself stops at 10,000 bytes.
const LONGEST_HEADER: usize = 1 << 16;

/// Reads a header. Type and shape of the array, and the bytes that were taken.
pub(crate) fn read_header(
    path: &Path,
    what: &str,
    bytes: &mut dyn Read,
) -> Result<(ArrayClaim, u64)> {
    let mut fixed = [0; 10];
    bytes
        .read_exact(&mut fixed)
        .map_err(FileError::reading(path))?;
    if !fixed.starts_with(MAGIC) {
        return Err(FileError::damaged(
            path,
            format!("{what} is not a NumPy array (its first bytes are others)"),
        ));
    }
    let (length, taken) = match fixed[6] {
        1 => (usize::from(u16::from_le_bytes([fixed[8], fixed[9]])), 10),
        2 | 3 => {
            let mut high = [0; 2];
            bytes
                .read_exact(&mut high)
                .map_err(FileError::reading(path))?;
            (
                u32::from_le_bytes([fixed[8], fixed[9], high[0], high[1]]) as usize,
                12,
            )
        }
        other => {
            return Err(FileError::damaged(
                path,
                format!("{what} is NPY version {other}; versions 1 to 3 are read"),
            ));
        }
    };
    if length > LONGEST_HEADER {
        return Err(FileError::damaged(
            path,
            format!("{what} claims a header of {length} bytes; the file is damaged"),
        ));
    }
    let mut header = vec![0; length];
    bytes
        .read_exact(&mut header)
        .map_err(FileError::reading(path))?;
    Ok((
        parse(path, what, &String::from_utf8_lossy(&header))?,
        (taken + length) as u64,
    ))
}

/// What a header such as `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }` describes.
fn parse(path: &Path, what: &str, header: &str) -> Result<ArrayClaim> {
    let unreadable = || {
        FileError::damaged(
            path,
            format!("{what} has an unreadable NPY header; write it again"),
        )
    };
    let after = |key: &str| {
        let key = format!("'{key}'");
        let rest = &header[header.find(&key).ok_or_else(unreadable)? + key.len()..];
        rest.trim_start()
            .strip_prefix(':')
            .map(str::trim_start)
            .ok_or_else(unreadable)
    };
    let descr = after("descr")?;
    let Some((descr, _)) = descr
        .strip_prefix('\'')
        .and_then(|rest| rest.split_once('\''))
    else {
        return Err(FileError::kind(
            path,
            what,
            "an array of records",
            "an array of numbers or texts",
        ));
    };
    let shown = crate::error::shown(descr);
    if let Some(kind) = shown.strip_prefix('>') {
        let reason = format!(
            "{what} is big-endian ('{shown}'); save it as little-endian, with array.astype('<{kind}')"
        );
        return Err(FileError::damaged(path, reason));
    }
    let dtype = dtype(descr).ok_or_else(|| {
        FileError::kind(
            path,
            what,
            format!("of NumPy type '{shown}'"),
            "an array of numbers or texts",
        )
    })?;
    let by_column = after("fortran_order")?.starts_with("True");
    let shape = after("shape")?
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .ok_or_else(unreadable)?
        .0;
    let lengths = shape
        .split(',')
        .map(str::trim)
        .filter(|length| !length.is_empty());
    let shape = lengths
        .map(|length| length.parse().map_err(|_| unreadable()))
        .collect::<Result<_, _>>()?;
    Ok(ArrayClaim {
        what: what.into(),
        dtype,
        shape,
        by_column,
    })
}

fn dtype(descr: &str) -> Option<Dtype> {
    let descr = descr.strip_prefix(['<', '|', '='])?;
    let text = |length: &str| length.parse::<u32>().ok().map(|length| length as usize);
    Some(match descr {
        "b1" | "u1" => Dtype::U8,
        "i1" => Dtype::I8,
        "i2" => Dtype::I16,
        "i4" => Dtype::I32,
        "i8" => Dtype::I64,
        "u2" => Dtype::U16,
        "u4" => Dtype::U32,
        "u8" => Dtype::U64,
        "f4" => Dtype::F32,
        "f8" => Dtype::F64,
        other if other.starts_with('S') => Dtype::Bytes(text(&other[1..])?),
        other if other.starts_with('U') => Dtype::Chars(text(&other[1..])?),
        _ => return None,
    })
}

/// Writes an array, row by row.
pub(crate) fn write(out: &mut dyn Write, array: Array<'_>) -> io::Result<()> {
    let Array { shape, elements } = array;
    macro_rules! put {
        ($descr:literal, $values:expr) => {{
            write_header(out, $descr, &shape)?;
            $values.try_for_each(|value| out.write_all(&value.to_le_bytes()))
        }};
    }
    match elements {
        Elements::I8(mut values) => put!("|i1", values),
        Elements::I16(mut values) => put!("<i2", values),
        Elements::I32(mut values) => put!("<i4", values),
        Elements::I64(mut values) => put!("<i8", values),
        Elements::F64(mut values) => put!("<f8", values),
        Elements::Texts(texts) => write_texts(out, &texts),
        Elements::Bytes(bytes) => out.write_all(&bytes),
    }
}

/// Writes a column of texts, each in as many characters as the longest.
fn write_texts(out: &mut dyn Write, texts: &[String]) -> io::Result<()> {
    let longest = texts
        .iter()
        .map(|text| text.chars().count())
        .max()
        .unwrap_or(0)
        .max(1);
    write_header(out, &format!("<U{longest}"), &[texts.len()])?;
    for text in texts {
        let characters = text.chars().map(u32::from).chain(std::iter::repeat(0));
        characters
            .take(longest)
            .try_for_each(|character| out.write_all(&character.to_le_bytes()))?;
    }
    Ok(())
}

/// Writes the header of an array; its values follow, row by row.
pub(crate) fn write_header(out: &mut dyn Write, descr: &str, shape: &[usize]) -> io::Result<()> {
    let lengths = shape
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
        + ",";
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({lengths}), }}");
    // Data starts at a multiple of 64 bytes, and the header ends in a line break.
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.extend(std::iter::repeat_n(' ', padded - 1 - header.len()));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(padded as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())
}

/// An NPY file of one text and no dimension.
pub(crate) fn word(text: &str) -> Vec<u8> {
    let header = format!(
        "{{'descr': '|S{}', 'fortran_order': False, 'shape': (), }}",
        text.len()
    );
    // Version 1, a header of 118 bytes that ends in a line break, and data from byte 128 on.
    [
        b"\x93NUMPY\x01\0\x76\0",
        format!("{header:<117}\n{text}").as_bytes(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_says, cases};
    use crate::typed_array::TypedArray;

    fn parse(bytes: &[u8]) -> Result<TypedArray, String> {
        let path = Path::new("a.npy");
        let mut rest = bytes;
        let read = read_header(path, "the array", &mut rest)
            .and_then(|(claim, taken)| claim.read(path, &mut rest, bytes.len() as u64 - taken));
        read.map_err(|error| error.to_string())
    }

    fn with_header(descr: &str, by_column: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': {descr}, 'fortran_order': {by_column}, 'shape': {shape}, }}");
        let length = (header.len() as u16).to_le_bytes();
        [MAGIC, &[1, 0], &length, header.as_bytes(), data].concat()
    }

    #[test]
    fn arrays_read_back() {
        let mut bytes = Vec::new();
        let numbers = [1.5, -2.0, 3.0, 4.0, 5.0, f64::MAX];
        write(&mut bytes, Array::floats([2, 3], numbers)).unwrap();
        assert_eq!(bytes.len() % 4, 0);
        let array = parse(&bytes).unwrap();
        assert_eq!((array.rows, array.columns), (2, 3));
        let read = |row, column| array.scalar(row, column).unwrap().float();
        assert_eq!((read(0, 0), read(1, 2)), (1.5, f64::MAX));
    }

    #[test]
    fn either_storage_order_is_read() {
        let data = [1u8, 0, 2, 0, 3, 0, 0, 1];
        let array = parse(&with_header("'<i2'", "True", "(2, 2)", &data)).unwrap();
        let texts = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| array.text(i, j));
        assert_eq!(texts, ["1", "2", "3", "256"]);
        let data = b"a\0\0\0\0\0\0\0";
        let array = parse(&with_header("'<U2'", "False", "(1,)", data)).unwrap();
        assert_eq!((array.text(0, 0).as_str(), array.scalar(0, 0)), ("a", None));
    }

    #[test]
    fn what_cannot_be_is_refused_before_memory_is_taken() {
        for [descr, shape, expected] in cases(
            "
            '<f8' | (1000000000, 1000) | only 100 bytes follow
            '<f8' | (9999999999999999999, 99999) | only 100 bytes follow
            '=O' | (3,) | of NumPy type '=O'
            '<c16' | (3,) | '<c16'; an array of numbers or texts
            [('x', '<f8')] | (3,) | an array of records
            '<f8' | (1, 1, 1) | of shape (1, 1, 1)
            '<f8' | (0, 2) | at least one row
            '<f8' | () | of shape ()
            '<f8' | 3 | unreadable NPY header",
        ) {
            let bytes = with_header(&descr, "False", &shape, &[0; 100]);
            assert_says(parse(&bytes).unwrap_err(), &[&expected]);
        }
        assert_says(
            parse(b"not an array").unwrap_err(),
            &["is not a NumPy array"],
        );
        assert_says(parse(b"\x93NUM").unwrap_err(), &["ends too early"]);
    }
}
