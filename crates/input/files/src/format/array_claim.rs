//! What a file says of an array before its values: type and shape, checked before memory is taken.

use std::io::{self, Read};
use std::path::Path;

use bytemuck::Pod;

use super::reader::Extent;
use crate::error::{FileError, READ};
use crate::typed_array::{TypedArray, Values};

/// The type of one value. Texts carry their length, in bytes or in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dtype {
    I8,
    I16,
    I32,
    I64,
    /// Also booleans.
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    Bytes(usize),
    Chars(usize),
}

impl Dtype {
    /// Bytes of one value.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
            Self::Bytes(length) => length,
            Self::Chars(length) => 4 * length,
        }
    }

    /// So many values from their little-endian bytes.
    pub(crate) fn read(self, bytes: &mut dyn Read, count: usize) -> io::Result<Values> {
        Ok(match self {
            Self::I8 => Values::I8(fill(bytes, count, |value| value)?),
            Self::I16 => Values::I16(fill(bytes, count, i16::from_le)?),
            Self::I32 => Values::I32(fill(bytes, count, i32::from_le)?),
            Self::I64 => Values::I64(fill(bytes, count, i64::from_le)?),
            Self::U8 => Values::U8(fill(bytes, count, |value| value)?),
            Self::U16 => Values::U16(fill(bytes, count, u16::from_le)?),
            Self::U32 => Values::U32(fill(bytes, count, u32::from_le)?),
            Self::U64 => Values::U64(fill(bytes, count, u64::from_le)?),
            Self::F32 => Values::F32(fill(bytes, count, |value: f32| {
                f32::from_bits(u32::from_le(value.to_bits()))
            })?),
            Self::F64 => Values::F64(fill(bytes, count, |value: f64| {
                f64::from_bits(u64::from_le(value.to_bits()))
            })?),
            Self::Bytes(width) => Values::Bytes {
                width,
                data: fill(bytes, count.saturating_mul(width), |value| value)?,
            },
            Self::Chars(width) => Values::Chars {
                width,
                data: fill(bytes, count.saturating_mul(width), u32::from_le)?,
            },
        })
    }
}

/// Values that are read while they come: a claim that is not true does not fill memory.
fn fill<T: Pod>(bytes: &mut dyn Read, count: usize, native: impl Fn(T) -> T) -> io::Result<Vec<T>> {
    const STEP: usize = 1 << 16;
    let mut values = Vec::new();
    let too_many = |_| {
        io::Error::new(
            io::ErrorKind::OutOfMemory,
            format!("no memory holds {count} values"),
        )
    };
    values.try_reserve_exact(count).map_err(too_many)?;
    while values.len() < count {
        let start = values.len();
        values.resize(count.min(start + STEP), T::zeroed());
        bytes.read_exact(bytemuck::cast_slice_mut(&mut values[start..]))?;
    }
    if cfg!(target_endian = "big") {
        values.iter_mut().for_each(|value| *value = native(*value));
    }
    Ok(values)
}

/// Type and shape of an array, as its header has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArrayClaim {
    /// What to call the array in a message.
    pub(crate) what: String,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<u64>,
    pub(crate) by_column: bool,
}

impl ArrayClaim {
    /// Rows and columns; an array of one dimension is one column.
    pub(crate) fn matrix(&self, path: &Path) -> Result<(u64, u64), FileError> {
        let lengths: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        let found = format!("an array of shape ({})", lengths.join(", "));
        let (rows, columns) = match self.shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => {
                return Err(FileError::kind(
                    path,
                    &self.what,
                    found,
                    "an array of objects × columns",
                ));
            }
        };
        if rows == 0 || columns == 0 {
            return Err(FileError::kind(
                path,
                &self.what,
                found,
                "at least one row and one column",
            ));
        }
        Ok((rows, columns))
    }

    /// Bytes that the values take, refused where that is more than can be there.
    pub(crate) fn bytes(&self, path: &Path, available: u64) -> Result<u64, FileError> {
        let (rows, columns) = self.matrix(path)?;
        let size = self.dtype.size() as u64;
        let claimed = rows
            .checked_mul(columns)
            .and_then(|cells| cells.checked_mul(size));
        match claimed {
            Some(0) => Err(FileError::kind(
                path,
                &self.what,
                "an array of empty texts",
                "at least one value",
            )),
            Some(claimed) if claimed <= available => Ok(claimed),
            _ => {
                let what = &self.what;
                let reason = format!(
                    "{what} claims {rows} × {columns} values of {size} bytes but only {available} bytes follow; the file is cut off or damaged, copy or write it again"
                );
                Err(FileError::damaged(path, reason))
            }
        }
    }

    /// The size of the array as one group.
    pub(crate) fn extent(&self, path: &Path) -> Result<Extent, FileError> {
        let (rows, columns) = self.matrix(path)?;
        Ok(Extent {
            groups: Some(vec![rows as usize]),
            columns: columns as usize,
            width: self.dtype.size(),
        })
    }

    /// The array, of which `available` bytes are there.
    pub(crate) fn read(
        &self,
        path: &Path,
        bytes: &mut dyn Read,
        available: u64,
    ) -> Result<TypedArray, FileError> {
        let claimed = self.bytes(path, available)?;
        let (rows, columns) = self.matrix(path)?;
        let values = self
            .dtype
            .read(&mut bytes.take(claimed), (rows * columns) as usize);
        Ok(TypedArray {
            values: values.map_err(|source| FileError::io(path, READ, source))?,
            rows: rows as usize,
            columns: columns as usize,
            by_column: self.by_column,
            present: None,
        })
    }
}
