//! Arrays as NumPy writes them.

use std::io::{self, Read, Write};
use std::path::Path;

use crate::error::{FileError, READ};
use crate::raw::{Dtype, Layout, RawArray};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read; NumPy itself stops at 10,000 bytes.
const LONGEST_HEADER: usize = 1 << 16;

/// Reads one array of which `available` bytes are there, header included.
pub(crate) fn read(path: &Path, name: &str, bytes: &mut dyn Read, available: u64) -> Result<RawArray, FileError> {
    let failed = |source| FileError::io(path, READ, source);
    let mut fixed = [0; 10];
    bytes.read_exact(&mut fixed).map_err(failed)?;
    if !fixed.starts_with(MAGIC) {
        return Err(FileError::damaged(path, format!("{name} is no NumPy array (its first bytes are others)")));
    }
    let (length, taken) = match fixed[6] {
        1 => (usize::from(u16::from_le_bytes([fixed[8], fixed[9]])), 10),
        2 | 3 => {
            let mut high = [0; 2];
            bytes.read_exact(&mut high).map_err(failed)?;
            (u32::from_le_bytes([fixed[8], fixed[9], high[0], high[1]]) as usize, 12)
        }
        other => {
            return Err(FileError::damaged(path, format!("{name} is NPY version {other}; versions 1 to 3 are read")));
        }
    };
    if length > LONGEST_HEADER {
        return Err(FileError::damaged(path, format!("{name} claims a header of {length} bytes; the file is damaged")));
    }
    let mut header = vec![0; length];
    bytes.read_exact(&mut header).map_err(failed)?;
    let layout = layout(path, name, &String::from_utf8_lossy(&header))?;
    let claimed = layout.bytes(path, available.saturating_sub((taken + length) as u64))?;
    let mut data = Vec::new();
    bytes.take(claimed).read_to_end(&mut data).map_err(failed)?;
    layout.filled(path, data)
}

/// The layout that a header such as `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }` describes.
fn layout(path: &Path, name: &str, header: &str) -> Result<Layout, FileError> {
    let unreadable = || FileError::damaged(path, format!("{name} has an unreadable NPY header; write it again"));
    let after = |key: &str| {
        let key = format!("'{key}'");
        let rest = &header[header.find(&key).ok_or_else(unreadable)? + key.len()..];
        rest.trim_start().strip_prefix(':').map(str::trim_start).ok_or_else(unreadable)
    };
    let descr = after("descr")?;
    let Some((descr, _)) = descr.strip_prefix('\'').and_then(|rest| rest.split_once('\'')) else {
        return Err(FileError::kind(path, name, "an array of records", "an array of numbers or texts"));
    };
    if let Some(kind) = descr.strip_prefix('>') {
        let reason =
            format!("{name} is big-endian ('{descr}'); save it as little-endian, with array.astype('<{kind}')");
        return Err(FileError::damaged(path, reason));
    }
    let dtype = dtype(descr).ok_or_else(|| {
        FileError::kind(path, name, format!("of NumPy type '{descr}'"), "an array of numbers or texts")
    })?;
    let by_column = after("fortran_order")?.starts_with("True");
    let shape = after("shape")?.strip_prefix('(').and_then(|rest| rest.split_once(')')).ok_or_else(unreadable)?.0;
    let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
    let shape = lengths.map(|length| length.parse().map_err(|_| unreadable())).collect::<Result<_, _>>()?;
    Ok(Layout { name: name.into(), dtype, shape, by_column })
}

fn dtype(descr: &str) -> Option<Dtype> {
    let descr = descr.strip_prefix(['<', '|', '='])?;
    let text = |length: &str| length.parse::<u32>().ok().map(|length| length as usize);
    Some(match descr {
        "b1" => Dtype::Bool,
        "i1" => Dtype::Int8,
        "i2" => Dtype::Int16,
        "i4" => Dtype::Int32,
        "i8" => Dtype::Int64,
        "u1" => Dtype::Uint8,
        "u2" => Dtype::Uint16,
        "u4" => Dtype::Uint32,
        "u8" => Dtype::Uint64,
        "f4" => Dtype::Float32,
        "f8" => Dtype::Float64,
        other if other.starts_with('S') => Dtype::Bytes(text(&other[1..])?),
        other if other.starts_with('U') => Dtype::Unicode(text(&other[1..])?),
        _ => return None,
    })
}

/// Types that are written.
pub(crate) trait Element: Copy {
    /// NumPy's name of the type.
    const DESCR: &'static str;
    /// The little-endian bytes.
    fn write(self, out: &mut dyn Write) -> io::Result<()>;
}

macro_rules! element {
    ($type:ty, $descr:literal) => {
        impl Element for $type {
            const DESCR: &'static str = $descr;
            fn write(self, out: &mut dyn Write) -> io::Result<()> {
                out.write_all(&self.to_le_bytes())
            }
        }
    };
}
element!(i8, "|i1");
element!(i16, "<i2");
element!(i32, "<i4");
element!(i64, "<i8");
element!(f32, "<f4");
element!(f64, "<f8");

/// Writes an array, row by row.
pub(crate) fn write<E: Element>(
    out: &mut dyn Write,
    shape: &[usize],
    elements: impl IntoIterator<Item = E>,
) -> io::Result<()> {
    write_header(out, E::DESCR, shape)?;
    elements.into_iter().try_for_each(|element| element.write(out))
}

/// Writes a column of texts, each in as many characters as the longest.
pub(crate) fn write_texts(out: &mut dyn Write, texts: &[String]) -> io::Result<()> {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    write_header(out, &format!("<U{longest}"), &[texts.len()])?;
    for text in texts {
        let characters = text.chars().map(u32::from).chain(std::iter::repeat(0));
        characters.take(longest).try_for_each(|character| out.write_all(&character.to_le_bytes()))?;
    }
    Ok(())
}

fn write_header(out: &mut dyn Write, descr: &str, shape: &[usize]) -> io::Result<()> {
    let lengths = shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ") + ",";
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({lengths}), }}");
    // Data starts at a multiple of 64 bytes, and the header ends in a line break.
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.extend(std::iter::repeat_n(' ', padded - 1 - header.len()));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(padded as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Result<RawArray, String> {
        read(Path::new("a.npy"), "the array", &mut &bytes[..], bytes.len() as u64).map_err(|error| error.to_string())
    }

    fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
        bytes.extend_from_slice(data);
        bytes
    }

    #[test]
    fn arrays_read_back() {
        let mut bytes = Vec::new();
        write(&mut bytes, &[2, 3], [1.5f32, -2.0, 3.0, 4.0, 5.0, f32::MAX]).unwrap();
        assert_eq!(bytes.len() % 4, 0);
        let array = parse(&bytes).unwrap();
        assert_eq!((array.rows(), array.columns()), (2, 3));
        assert_eq!((array.float(0, 0), array.float(1, 2)), (Some(1.5), Some(f64::from(f32::MAX))));
    }

    #[test]
    fn either_storage_order_is_read() {
        let data = [1u8, 0, 2, 0, 3, 0, 0, 1];
        let array = parse(&with_header("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2), }", &data)).unwrap();
        let texts = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| array.text(i, j));
        assert_eq!(texts, ["1", "2", "3", "256"]);
        let array =
            parse(&with_header("{'descr':'<U2','fortran_order':False,'shape':(1,),}", b"a\0\0\0\0\0\0\0")).unwrap();
        assert_eq!((array.text(0, 0).as_str(), array.float(0, 0)), ("a", None));
    }

    #[test]
    fn claims_are_checked_before_memory_is_taken() {
        let huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000), }";
        assert!(parse(&with_header(huge, &[0; 100])).unwrap_err().contains("only 100 bytes follow"));
        let overflow = "{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999999999, 99999), }";
        assert!(parse(&with_header(overflow, &[0; 100])).is_err());
    }

    #[test]
    fn other_types_and_shapes_are_refused_by_name() {
        for (header, word) in [
            ("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", "of NumPy type '|O'"),
            ("{'descr': '<c16', 'fortran_order': False, 'shape': (3,), }", "'<c16'; an array of numbers or texts"),
            ("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (3,), }", "an array of records"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1), }", "of shape (1, 1, 1)"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2), }", "at least one row"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "of shape ()"),
            ("{'descr': '<f8'}", "unreadable NPY header"),
        ] {
            let message = parse(&with_header(header, &[0; 48])).unwrap_err();
            assert!(message.contains(word), "{message}");
        }
        assert!(parse(b"not an array").unwrap_err().contains("is no NumPy array"));
        assert!(parse(b"\x93NUM").unwrap_err().contains("ends too early"));
    }
}
