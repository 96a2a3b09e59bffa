//! Arrays as they lie in a file.

use std::path::Path;

use partita_core::ndarray::Array2;

use crate::coded::Number;
use crate::error::{Cell, FileError, Row};
use crate::number::Short;

/// The type of one element. Texts carry their length, in bytes or in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dtype {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Float32,
    Float64,
    Bytes(usize),
    Unicode(usize),
}

impl Dtype {
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Bool | Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
            Self::Int64 | Self::Uint64 | Self::Float64 => 8,
            Self::Bytes(length) => length,
            Self::Unicode(length) => 4 * length,
        }
    }

    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Bytes(_) | Self::Unicode(_))
    }
}

/// An array of one or two dimensions whose bytes are all there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawArray {
    name: String,
    dtype: Dtype,
    rows: usize,
    columns: usize,
    by_column: bool,
    data: Vec<u8>,
}

/// What a file says of an array before its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<u64>,
    pub(crate) by_column: bool,
}

impl Layout {
    /// Rows and columns; an array of one dimension is one column.
    fn matrix(&self, path: &Path) -> Result<(u64, u64), FileError> {
        let lengths: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        let found = format!("an array of shape ({})", lengths.join(", "));
        let (rows, columns) = match self.shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => return Err(FileError::kind(path, &self.name, found, "an array of objects × columns")),
        };
        if rows == 0 || columns == 0 {
            return Err(FileError::kind(path, &self.name, found, "at least one row and one column"));
        }
        Ok((rows, columns))
    }

    /// Bytes that the elements take, refused where that is more than can be there.
    pub(crate) fn bytes(&self, path: &Path, available: u64) -> Result<u64, FileError> {
        let (rows, columns) = self.matrix(path)?;
        let size = self.dtype.size() as u64;
        let claimed = rows.checked_mul(columns).and_then(|cells| cells.checked_mul(size));
        match claimed {
            Some(0) => Err(FileError::kind(path, &self.name, "an array of empty texts", "at least one value")),
            Some(claimed) if claimed <= available => Ok(claimed),
            _ => {
                let name = &self.name;
                let reason = format!(
                    "{name} claims {rows} × {columns} values of {size} bytes but only {available} bytes follow; the file is cut off or damaged, copy or write it again"
                );
                Err(FileError::damaged(path, reason))
            }
        }
    }

    /// The array, from as many bytes as [`bytes`](Self::bytes) asks for.
    pub(crate) fn filled(self, path: &Path, data: Vec<u8>) -> Result<RawArray, FileError> {
        self.bytes(path, data.len() as u64)?;
        let (rows, columns) = self.matrix(path)?;
        let (rows, columns) = (rows as usize, columns as usize);
        let Self { name, dtype, by_column, .. } = self;
        Ok(RawArray { name, dtype, rows, columns, by_column, data })
    }
}

impl RawArray {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    fn element(&self, row: usize, column: usize) -> &[u8] {
        let size = self.dtype.size();
        let at = size * if self.by_column { column * self.rows + row } else { row * self.columns + column };
        &self.data[at..at + size]
    }

    /// The element as a whole number or a floating-point one; none for a text.
    fn value(&self, row: usize, column: usize) -> Option<Value> {
        macro_rules! decode {
            ($type:ty) => {{
                let bytes = self.element(row, column).try_into().expect("an element has the size of its type");
                <$type>::from_le_bytes(bytes)
            }};
        }
        Some(match self.dtype {
            Dtype::Bool | Dtype::Uint8 => Value::Whole(self.element(row, column)[0].into()),
            Dtype::Int8 => Value::Whole((self.element(row, column)[0] as i8).into()),
            Dtype::Int16 => Value::Whole(decode!(i16).into()),
            Dtype::Int32 => Value::Whole(decode!(i32).into()),
            Dtype::Int64 => Value::Whole(decode!(i64).into()),
            Dtype::Uint16 => Value::Whole(decode!(u16).into()),
            Dtype::Uint32 => Value::Whole(decode!(u32).into()),
            Dtype::Uint64 => Value::Whole(decode!(u64).into()),
            Dtype::Float32 => Value::Float(decode!(f32).into()),
            Dtype::Float64 => Value::Float(decode!(f64)),
            Dtype::Bytes(_) | Dtype::Unicode(_) => return None,
        })
    }

    /// The element as a number.
    pub(crate) fn float(&self, row: usize, column: usize) -> Option<f64> {
        self.value(row, column).map(|value| match value {
            Value::Whole(whole) => whole as f64,
            Value::Float(value) => value,
        })
    }

    /// The element as a label.
    pub(crate) fn label(&self, row: usize, column: usize) -> Option<Number> {
        self.value(row, column).map(|value| match value {
            Value::Whole(whole) => Number::whole(whole),
            Value::Float(value) => Number::float(value),
        })
    }

    /// The element as it would be printed: whole numbers without a point, empty for NaN.
    pub(crate) fn text(&self, row: usize, column: usize) -> String {
        match self.value(row, column) {
            Some(Value::Whole(whole)) => whole.to_string(),
            Some(Value::Float(value)) if value.is_nan() => String::new(),
            Some(Value::Float(value)) => Short(value).to_string(),
            None => self.characters(row, column),
        }
    }

    fn characters(&self, row: usize, column: usize) -> String {
        let bytes = self.element(row, column);
        if let Dtype::Bytes(_) = self.dtype {
            return String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
        }
        let point = |four: &[u8]| {
            let four = four.try_into().expect("a character takes four bytes");
            let code = u32::from_le_bytes(four);
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
        };
        bytes.chunks_exact(4).map(point).collect::<String>().trim_end_matches('\0').to_owned()
    }

    /// Chosen columns as finite numbers.
    pub(crate) fn numbers(&self, path: &Path, columns: &[(usize, String)]) -> Result<Array2<f64>, FileError> {
        if self.dtype.is_text() {
            return Err(FileError::kind(path, &self.name, "an array of texts", "an array of numbers"));
        }
        let mut values = Array2::zeros((self.rows, columns.len()));
        for (row, mut out) in values.outer_iter_mut().enumerate() {
            for (value, (column, name)) in out.iter_mut().zip(columns) {
                *value = self.float(row, *column).expect("the array holds numbers");
                if !value.is_finite() {
                    let cell = Cell::new(path, Row::Row(row as u64 + 1), name, Short(*value).to_string());
                    return Err(FileError::NotFinite(cell));
                }
            }
        }
        Ok(values)
    }
}

/// A number without its type.
enum Value {
    Whole(i128),
    Float(f64),
}
