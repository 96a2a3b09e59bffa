//! Arrays of Arrow, in which Parquet and Arrow files are decoded, as columns.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, types};
use arrow_schema::{ArrowError, DataType};

use super::reader::{Column, Form};
use crate::dictionary::Dictionary;
use crate::error::Row;
use crate::typed_array::{TypedArray, Values};

/// Whether the values of a column are texts.
pub(super) fn is_text(kind: &DataType) -> bool {
    use DataType::{Binary, LargeBinary, LargeUtf8, Utf8, Utf8View};
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        kind => matches!(kind, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary),
    }
}

/// Whether the values of a column are dates or times.
pub(super) fn is_time(kind: &DataType) -> bool {
    use DataType::{Date32, Date64, Time32, Time64, Timestamp};
    matches!(
        kind,
        Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..)
    )
}

/// Whether the values of a column are numbers or texts, or times that are wanted as texts.
pub(super) fn is_read(kind: &DataType, form: Form) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_read(values, form),
        DataType::Float16 => false,
        DataType::Decimal128(..) => true,
        kind if is_time(kind) => form == Form::Text,
        kind => {
            kind.is_integer() || kind.is_floating() || *kind == DataType::Boolean || is_text(kind)
        }
    }
}

/// An array as a column, texts in the form that is wanted.
pub(super) fn column(array: &ArrayRef, form: Form) -> Result<Column, ArrowError> {
    if let DataType::Dictionary(_, values) = array.data_type() {
        if matches!(form, Form::Labels | Form::Codes) && is_text(values) {
            return labels_of_places(array).map(Column::Labels);
        }
        let dictionary = array.as_any_dictionary();
        let whole = arrow_select::take::take(dictionary.values(), dictionary.keys(), None)?;
        return column(&whole, form);
    }
    if is_text(array.data_type()) {
        let texts = texts(array)?.into_iter().map(Option::unwrap_or_default);
        return Ok(match form {
            Form::Labels | Form::Codes => {
                let mut labels = Dictionary::default();
                texts
                    .zip(1..)
                    .for_each(|(text, row)| labels.push(text, Row::Row(row)));
                Column::Labels(labels)
            }
            _ => Column::Text(texts.map(str::to_owned).collect()),
        });
    }
    let present = array.nulls().map(|nulls| nulls.iter().collect());
    Ok(Column::Array(TypedArray::column(
        numbers(array)?,
        array.len(),
        present,
    )))
}

/// Labels of which the array says which of its texts they are.
fn labels_of_places(array: &ArrayRef) -> Result<Dictionary, ArrowError> {
    let dictionary = array.as_any_dictionary();
    let texts = texts(dictionary.values())?;
    let mut labels = Dictionary::default();
    let places = if texts.is_empty() {
        vec![0; array.len()]
    } else {
        dictionary.normalized_keys()
    };
    let mut codes = vec![None; texts.len()];
    for (row, place) in places.into_iter().enumerate() {
        let at = Row::Row(row as u64 + 1);
        let text = texts.get(place).copied().flatten().map_or("", str::trim);
        if dictionary.keys().is_null(row) || text.is_empty() {
            labels.push_missing(at);
        } else {
            let code = *codes[place].get_or_insert_with(|| labels.code(text, at));
            labels.push_code(code);
        }
    }
    Ok(labels)
}

fn texts(array: &dyn Array) -> Result<Vec<Option<&str>>, ArrowError> {
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().collect(),
        DataType::Utf8View => array.as_string_view().iter().collect(),
        DataType::Binary => utf8(array.as_binary::<i32>().iter())?,
        _ => utf8(array.as_binary::<i64>().iter())?,
    })
}

fn utf8<'a>(
    texts: impl Iterator<Item = Option<&'a [u8]>>,
) -> Result<Vec<Option<&'a str>>, ArrowError> {
    let text = |bytes: Option<&'a [u8]>| bytes.map(std::str::from_utf8).transpose();
    Ok(texts.map(text).collect::<Result<_, _>>()?)
}

fn numbers(array: &dyn Array) -> Result<Values, ArrowError> {
    Ok(match array.data_type() {
        DataType::Int8 => Values::I8(values::<types::Int8Type>(array)),
        DataType::Int16 => Values::I16(values::<types::Int16Type>(array)),
        DataType::Int32 => Values::I32(values::<types::Int32Type>(array)),
        DataType::Int64 => Values::I64(values::<types::Int64Type>(array)),
        DataType::UInt8 => Values::U8(values::<types::UInt8Type>(array)),
        DataType::UInt16 => Values::U16(values::<types::UInt16Type>(array)),
        DataType::UInt32 => Values::U32(values::<types::UInt32Type>(array)),
        DataType::UInt64 => Values::U64(values::<types::UInt64Type>(array)),
        DataType::Float32 => Values::F32(values::<types::Float32Type>(array)),
        DataType::Float64 => Values::F64(values::<types::Float64Type>(array)),
        DataType::Boolean => Values::U8(array.as_boolean().values().iter().map(u8::from).collect()),
        DataType::Decimal128(_, scale) => {
            let one = 10f64.powi(i32::from(*scale));
            let values = array.as_primitive::<types::Decimal128Type>().values();
            Values::F64(values.iter().map(|&value| value as f64 / one).collect())
        }
        DataType::Date32 | DataType::Time32(_) => Values::I32(native(array)),
        time if is_time(time) => Values::I64(native(array)),
        other => return Err(ArrowError::SchemaError(format!("{other} is not read"))),
    })
}

fn values<T: ArrowPrimitiveType>(array: &dyn Array) -> Vec<T::Native> {
    array.as_primitive::<T>().values().to_vec()
}

/// The whole numbers as which times are held.
fn native<T: arrow_buffer::ArrowNativeType>(array: &dyn Array) -> Vec<T> {
    let data = array.to_data();
    let held = data.buffers()[0].typed_data::<T>();
    held[data.offset()..][..data.len()].to_vec()
}
