//! R's values as JSON and back, and matrices.

use extendr_api::prelude::*;
use partita::ndarray::{Array2, ArrayView2, ShapeBuilder};
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

/// A value of R as JSON: a vector of one is a scalar, a list with names an object, NA and an empty list null. What has no such form is named.
///
/// # Errors
/// The R type of what is neither a number, a text, a truth value nor a list.
pub(crate) fn json(value: &Robj) -> std::result::Result<Value, String> {
    let one_or_many = |mut values: Vec<Value>| {
        if values.len() == 1 {
            values.remove(0)
        } else {
            Value::Array(values)
        }
    };
    if value.is_null() || value.is_list() && value.len() == 0 {
        return Ok(Value::Null);
    }
    if let Some(list) = value.as_list() {
        return if value.names().is_some() {
            let fields = list
                .iter()
                .map(|(name, value)| Ok((name.to_owned(), json(&value)?)));
            fields
                .collect::<std::result::Result<Map<_, _>, String>>()
                .map(Value::Object)
        } else {
            list.values().map(|value| json(&value)).collect()
        };
    }
    if let Some(values) = value.as_logical_slice() {
        let values = values.iter().map(|of| {
            if of.is_na() {
                Value::Null
            } else {
                of.is_true().into()
            }
        });
        return Ok(one_or_many(values.collect()));
    }
    if let Some(values) = value.as_integer_slice() {
        let values = values.iter().map(|&of| {
            if of == i32::MIN {
                Value::Null
            } else {
                of.into()
            }
        });
        return Ok(one_or_many(values.collect()));
    }
    if let Some(values) = value.as_real_slice() {
        return Ok(one_or_many(values.iter().map(|&of| number(of)).collect()));
    }
    if let Some(values) = value.as_str_iter() {
        let values = values.map(|of| {
            if of.is_na() {
                Value::Null
            } else {
                (*of).into()
            }
        });
        return Ok(one_or_many(values.collect()));
    }
    Err(format!(
        "a value of the type {:?} is neither a number, a text, TRUE or FALSE, nor a list",
        value.rtype()
    ))
}

/// A number of R as JSON writes it: a whole one without a point.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return (value as i64).into();
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// What a list of R says, as a structure of ours.
///
/// # Errors
/// What does not fit.
pub(crate) fn read<T: DeserializeOwned>(value: &Robj) -> std::result::Result<T, String> {
    serde_json::from_value(json(value)?).map_err(|error| error.to_string())
}

/// JSON as a value of R: an array of numbers, texts or truth values is a vector, in which null is NA.
pub(crate) fn robj(value: &Value) -> Robj {
    match value {
        Value::Null => NULL.into(),
        Value::Bool(value) => (*value).into(),
        Value::Number(value) => value.as_f64().into(),
        Value::String(value) => value.as_str().into(),
        Value::Array(values) => vector(values),
        Value::Object(fields) => {
            List::from_names_and_values(fields.keys(), fields.values().map(robj))
                .map_or(NULL.into(), Robj::from)
        }
    }
}

fn vector(values: &[Value]) -> Robj {
    let all = |is: fn(&Value) -> bool| {
        values.iter().any(|of| !of.is_null()) && values.iter().all(|of| is(of) || of.is_null())
    };
    if all(Value::is_number) {
        return values
            .iter()
            .map(Value::as_f64)
            .collect::<Vec<Option<f64>>>()
            .into();
    }
    if all(Value::is_string) {
        return values
            .iter()
            .map(Value::as_str)
            .collect::<Vec<Option<&str>>>()
            .into();
    }
    if all(Value::is_boolean) {
        return values
            .iter()
            .map(Value::as_bool)
            .collect::<Vec<Option<bool>>>()
            .into();
    }
    List::from_values(values.iter().map(robj)).into()
}

/// A matrix of R, column by column, as rows.
///
/// # Errors
/// If it is not a numeric matrix.
pub(crate) fn matrix(value: &Robj) -> std::result::Result<Array2<f64>, String> {
    let (true, Some(numbers)) = (value.is_matrix(), value.as_real_slice()) else {
        return Err("this is not a matrix of numbers".into());
    };
    let view = ArrayView2::from_shape((value.nrows(), value.ncols()).f(), numbers)
        .map_err(|error| error.to_string())?;
    Ok(view.as_standard_layout().into_owned())
}

/// Rows as a matrix of R; NaN is NA.
pub(crate) fn matrix_of(rows: &Array2<f64>) -> Robj {
    let (n, d) = rows.dim();
    let number = |row: usize, column: usize| {
        if rows[[row, column]].is_nan() {
            Rfloat::na()
        } else {
            Rfloat::from(rows[[row, column]])
        }
    };
    RMatrix::new_matrix(n, d, number).into()
}

/// A value that may be absent, which is NULL.
pub(crate) fn or_null(value: Option<impl Into<Robj>>) -> Robj {
    value.map_or(NULL.into(), Into::into)
}

/// A list, unless it is NULL.
pub(crate) fn list(value: &Robj) -> Option<List> {
    value.as_list().filter(|_| !value.is_null())
}

/// Texts of a character vector.
pub(crate) fn texts(value: &Robj) -> Option<Vec<String>> {
    value.as_string_vector()
}
