//! Arrays of one type in memory: numbers or texts of a fixed width, as a file holds them.

use std::path::Path;

use crate::error::FileError;
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
    #[cfg(any(feature = "parquet", feature = "arrow", test))]
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
            Values::Chars { width, data } => {
                let one = |&code: &u32| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                data[place * width..][..*width].iter().map(one).collect()
            }
            _ => String::new(),
        };
        text.trim_end_matches('\0').to_owned()
    }

    /// All values of a column as they would be printed.
    pub(crate) fn texts(&self, column: usize) -> Vec<String> {
        (0..self.rows).map(|row| self.text(row, column)).collect()
    }

    /// The rows that `other` adds below, of the same type.
    pub(crate) fn append(&mut self, path: &Path, other: Self) -> Result<(), FileError> {
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
