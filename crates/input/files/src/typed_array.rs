//! Arrays of one type, numbers or texts of a fixed width: what a file says of them, checked before memory is taken, and their values.

use std::io::{self, Read};
use std::path::Path;

use bytemuck::Pod;

use crate::error::{FileError, Result};
use crate::number::Short;

/// The values of an array, in the type that the file has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Texts of `width` bytes each.
    Bytes {
        width: usize,
        data: Vec<u8>,
    },
    /// Texts of `width` characters each.
    Chars {
        width: usize,
        data: Vec<u32>,
    },
}

impl Values {
    /// Adds values of the same type; false where the types differ.
    pub(crate) fn extend(&mut self, more: Self) -> bool {
        macro_rules! extend {
            ($($variant:ident),*) => {
                match (self, more) {
                    $((Self::$variant(all), Self::$variant(more)) => all.extend(more),)*
                    (Self::Bytes { width, data }, Self::Bytes { width: same, data: more }) if *width == same => {
                        data.extend(more);
                    }
                    (Self::Chars { width, data }, Self::Chars { width: same, data: more }) if *width == same => {
                        data.extend(more);
                    }
                    _ => return false,
                }
            };
        }
        extend!(I8, I16, I32, I64, U8, U16, U32, U64, F32, F64);
        true
    }
}

/// Runs an expression on the numbers of any type, and another one on texts.
macro_rules! each_number {
    ($values:expr, $numbers:ident => $body:expr, text => $text:expr) => {
        match $values {
            $crate::typed_array::Values::I8($numbers) => $body,
            $crate::typed_array::Values::I16($numbers) => $body,
            $crate::typed_array::Values::I32($numbers) => $body,
            $crate::typed_array::Values::I64($numbers) => $body,
            $crate::typed_array::Values::U8($numbers) => $body,
            $crate::typed_array::Values::U16($numbers) => $body,
            $crate::typed_array::Values::U32($numbers) => $body,
            $crate::typed_array::Values::U64($numbers) => $body,
            $crate::typed_array::Values::F32($numbers) => $body,
            $crate::typed_array::Values::F64($numbers) => $body,
            $crate::typed_array::Values::Bytes { .. }
            | $crate::typed_array::Values::Chars { .. } => $text,
        }
    };
}
pub(crate) use each_number;

/// One number of any type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Integer(i128),
    Float(f64),
}

impl Scalar {
    pub(crate) fn float(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// A number of a type that files hold.
pub(crate) trait Number: Copy + Default + Send + Sync {
    /// The number without its type.
    fn scalar(self) -> Scalar;
    /// −1 for a missing label, the label, or −2 where this is neither; labels beyond `i64` become its largest value.
    fn as_label(self) -> i64;
}

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl Number for $type {
            fn scalar(self) -> Scalar {
                Scalar::Integer(self.into())
            }
            #[allow(unused_comparisons, clippy::allow_attributes, reason = "unsigned types are never negative")]
            fn as_label(self) -> i64 {
                if self >= 0 { i64::try_from(self).unwrap_or(i64::MAX) } else { (self as i64).max(-2) }
            }
        }
    )*};
}
integer!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! float {
    ($($type:ty),*) => {$(
        impl Number for $type {
            fn scalar(self) -> Scalar {
                Scalar::Float(self.into())
            }
            fn as_label(self) -> i64 {
                match f64::from(self) {
                    value if value.is_nan() => -1,
                    value if value.fract() != 0.0 || value.abs() >= 1e18 => -2,
                    value => (value as i64).max(-2),
                }
            }
        }
    )*};
}
float!(f32, f64);

/// An array of rows × columns; where values can be absent it has one column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TypedArray {
    pub(crate) values: Values,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Whether the values of a column lie beside each other, instead of those of a row.
    pub(crate) by_column: bool,
    /// Which values there are; none if all are there.
    pub(crate) present: Option<Vec<bool>>,
}

impl TypedArray {
    /// One column.
    #[cfg(any(feature = "parquet", feature = "arrow", feature = "h5ad", test))]
    pub(crate) fn column(values: Values, rows: usize, present: Option<Vec<bool>>) -> Self {
        Self {
            values,
            rows,
            columns: 1,
            by_column: true,
            present,
        }
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.values, Values::Bytes { .. } | Values::Chars { .. })
    }

    /// Where a value lies.
    fn place(&self, row: usize, column: usize) -> usize {
        if self.by_column {
            column * self.rows + row
        } else {
            row * self.columns + column
        }
    }

    /// Where the first value of a column lies, and how far it is from one to the next.
    pub(crate) fn stride(&self, column: usize) -> (usize, usize) {
        if self.by_column {
            (column * self.rows, 1)
        } else {
            (column, self.columns)
        }
    }

    /// The value as a number; none for a text and for a missing value.
    pub(crate) fn scalar(&self, row: usize, column: usize) -> Option<Scalar> {
        if self.present.as_ref().is_some_and(|present| !present[row]) {
            return None;
        }
        let place = self.place(row, column);
        each_number!(&self.values, numbers => Some(numbers[place].scalar()), text => None)
    }

    /// The value as it would be printed: whole numbers without a point, empty for NaN and for a missing value.
    pub(crate) fn text(&self, row: usize, column: usize) -> String {
        match self.scalar(row, column) {
            Some(Scalar::Integer(value)) => value.to_string(),
            Some(Scalar::Float(value)) if value.is_nan() => String::new(),
            Some(Scalar::Float(value)) => Short(value).to_string(),
            None => self.characters(self.place(row, column)),
        }
    }

    fn characters(&self, place: usize) -> String {
        let text = match &self.values {
            Values::Bytes { width, data } => {
                String::from_utf8_lossy(&data[place * width..][..*width]).into_owned()
            }
            Values::Chars { width, data } => data[place * width..][..*width]
                .iter()
                .map(|&code: &u32| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect(),
            _ => String::new(),
        };
        text.trim_end_matches('\0').to_owned()
    }

    /// All values of a column as they would be printed.
    pub(crate) fn texts(&self, column: usize) -> impl Iterator<Item = String> {
        (0..self.rows).map(move |row| self.text(row, column))
    }

    /// The rows that `other` adds below, of the same type.
    pub(crate) fn append(&mut self, path: &Path, other: Self) -> Result<()> {
        let below = (self.columns == 1 && other.columns == 1)
            || (self.columns == other.columns && !self.by_column && !other.by_column);
        if !below || !self.values.extend(other.values) {
            let reason = "the type of a column changes between groups; write the file again";
            return Err(FileError::damaged(path, reason));
        }
        if self.present.is_some() || other.present.is_some() {
            let rows = self.rows;
            let present = self.present.get_or_insert_with(|| vec![true; rows]);
            present.extend(other.present.unwrap_or_else(|| vec![true; other.rows]));
        }
        self.rows += other.rows;
        Ok(())
    }
}

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
    pub(crate) fn matrix(&self, path: &Path) -> Result<(u64, u64)> {
        let lengths: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        let found = format!("an array of shape ({})", lengths.join(", "));
        let needed = match self.shape[..] {
            [rows] if rows > 0 => return Ok((rows, 1)),
            [rows, columns] if rows > 0 && columns > 0 => return Ok((rows, columns)),
            [_] | [_, _] => "at least one row and one column",
            _ => "an array of objects × columns",
        };
        Err(FileError::kind(path, &self.what, found, needed))
    }

    /// Takes all values for one column, in the order of the file.
    pub(crate) fn flatten(&mut self) {
        let mut lengths = self.shape.iter();
        let cells = lengths.try_fold(1_u64, |cells, &length| cells.checked_mul(length));
        self.shape = vec![cells.unwrap_or(u64::MAX)];
    }

    /// Bytes that the values take, refused where that is more than can be there.
    pub(crate) fn bytes(&self, path: &Path, available: u64) -> Result<u64> {
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

    /// The array, of which `available` bytes are there.
    pub(crate) fn read(
        &self,
        path: &Path,
        bytes: &mut dyn Read,
        available: u64,
    ) -> Result<TypedArray> {
        let claimed = self.bytes(path, available)?;
        let (rows, columns) = self.matrix(path)?;
        let values = self
            .dtype
            .read(&mut bytes.take(claimed), (rows * columns) as usize);
        Ok(TypedArray {
            values: values.map_err(FileError::reading(path))?,
            rows: rows as usize,
            columns: columns as usize,
            by_column: self.by_column,
            present: None,
        })
    }
}
