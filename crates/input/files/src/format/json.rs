//! Tables in JSON: a list of objects, an object a line, or an object of columns, as the text that they would be saved as: what values mean
//! is decided as for any text.

use std::fmt;
use std::io::Read;
use std::path::Path;

use partita_core::option;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::Header;
use super::csv;
use super::description::{Format, OpenOptions, Writes, write_nothing};
use super::reader::Reader;
use crate::error::{FileError, READ, Result};
use crate::open_file::{Compression, open};

pub(crate) const FORMAT: Format = Format {
    name: "JSON",
    endings: &[".jsonl", ".ndjson", ".json"],
    packed: true,
    magic: &[],
    grouped: false,
    open: open_json,
    writes: Writes::Nothing,
    write: write_nothing,
};

/// Bytes that are held at once, at most, for a byte of the file: values as a tree, and the text that they become.
const BYTES: u64 = 40;

/// A value whose fields keep their order.
enum Json {
    Empty,
    Text(String),
    List(Vec<Json>),
    Fields(Vec<(String, Json)>),
}

fn open_json(path: &Path, options: &OpenOptions) -> Result<Box<dyn Reader>> {
    let (file, _) = open(path)?;
    let plain = Compression::of(path).unpack(file);
    let mut text = String::new();
    let most = options.budget.bytes() / BYTES;
    let plain = plain.map_err(FileError::reading(path))?;
    let read = plain.take(most.saturating_add(1)).read_to_string(&mut text);
    read.map_err(|source| FileError::io(path, READ, source))?;
    let remedy = format!("raise {}, or write the table as CSV", option("max-memory"));
    let fits = options
        .budget
        .check("the values of the file", BYTES * text.len() as u64, &remedy);
    fits.map_err(|source| FileError::Budget {
        path: path.into(),
        source,
    })?;
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_str(&text).into_iter::<Json>() {
        let broken = |error: serde_json::Error| {
            FileError::damaged(path, format!("this is not JSON: {error}"))
        };
        values.push(value.map_err(broken)?);
    }
    let rows = rows(values).ok_or_else(|| {
        let reason = "this JSON is not a table: it has neither a list of objects, nor an object a line, nor columns of one length";
        FileError::damaged(path, reason)
    })?;
    let options = OpenOptions {
        delimiter: Some(','),
        header: Header::Yes,
        ..options.clone()
    };
    csv::open_text(path, Some(as_text(&rows).into()), &options, None)
}

/// The objects that are rows, with their fields by name.
fn rows(mut values: Vec<Json>) -> Option<Vec<Vec<(String, String)>>> {
    if values.len() == 1 {
        values = match values.pop()? {
            Json::List(list) => list,
            Json::Fields(fields) => return of_columns(fields),
            _ => return None,
        };
    }
    let row = |value: Json| match value {
        Json::Fields(fields) => {
            let mut flat = Vec::new();
            flatten("", fields, &mut flat);
            Some(flat)
        }
        _ => None,
    };
    let rows: Vec<_> = values.into_iter().map(row).collect::<Option<_>>()?;
    (!rows.is_empty()).then_some(rows)
}

/// The rows of an object of columns, lists or objects by the same names; of one that has one list of objects these.
fn of_columns(fields: Vec<(String, Json)>) -> Option<Vec<Vec<(String, String)>>> {
    let is_list = |value: &Json| matches!(value, Json::List(list) if matches!(list.first(), Some(Json::Fields(_))));
    if let [_] = &*fields
        .iter()
        .filter(|(_, value)| is_list(value))
        .collect::<Vec<_>>()
    {
        let list = fields.into_iter().find(|(_, value)| is_list(value))?.1;
        return rows(vec![list]);
    }
    let mut rows: Vec<Vec<(String, String)>> = Vec::new();
    for (at, (name, column)) in fields.into_iter().enumerate() {
        let values: Vec<Json> = match column {
            Json::List(values) => values,
            Json::Fields(values) => values.into_iter().map(|(_, value)| value).collect(),
            _ => return None,
        };
        if at == 0 {
            rows.resize_with(values.len(), Vec::new);
        }
        if values.len() != rows.len() || values.is_empty() {
            return None;
        }
        for (row, value) in rows.iter_mut().zip(values) {
            row.push((name.clone(), value.into_text()?));
        }
    }
    (!rows.is_empty()).then_some(rows)
}

/// Fields of objects in objects by the names of both.
fn flatten(within: &str, fields: Vec<(String, Json)>, into: &mut Vec<(String, String)>) {
    for (name, value) in fields {
        let name = format!("{within}{name}");
        match value {
            Json::Fields(inner) => flatten(&format!("{name}."), inner, into),
            value => into.push((name, value.into_text().unwrap_or_default())),
        }
    }
}

impl Json {
    /// A list as its values between semicolons; nothing for an object.
    fn into_text(self) -> Option<String> {
        match self {
            Self::Empty => Some(String::new()),
            Self::Text(text) => Some(text),
            Self::List(list) => {
                let texts: Option<Vec<String>> = list.into_iter().map(Self::into_text).collect();
                Some(texts?.join("; "))
            }
            Self::Fields(_) => None,
        }
    }
}

/// The rows below the names of all fields, in the order in which these appear.
fn as_text(rows: &[Vec<(String, String)>]) -> Vec<u8> {
    let mut places: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        places.entry(name).or_insert_with(|| {
            names.push(name);
            names.len() - 1
        });
    }
    let mut text = ::csv::Writer::from_writer(Vec::new());
    let mut write = |fields: &[&str]| text.write_record(fields).is_ok();
    write(&names);
    for row in rows {
        let mut fields = vec![""; names.len()];
        row.iter()
            .for_each(|(name, value)| fields[places[&**name]] = value);
        write(&fields);
    }
    text.into_inner().unwrap_or_default()
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        from.deserialize_any(Values)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Json, E> {
        Ok(Json::Empty)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Json, E> {
        Ok(Json::Text(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Json, E> {
        Ok(Json::Text(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Json, E> {
        Ok(Json::Text(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Json, E> {
        Ok(Json::Text(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Json::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Json::Fields(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> Option<String> {
        let values = serde_json::Deserializer::from_str(json).into_iter();
        let values: Vec<Json> = values.collect::<std::result::Result<_, _>>().unwrap();
        rows(values).map(|rows| String::from_utf8(as_text(&rows)).unwrap())
    }

    #[test]
    fn tables_in_json() {
        let same = "b,a\n1,x\n2.5,\n";
        for json in [
            r#"[{"b":1,"a":"x"},{"b":2.5,"a":null}]"#,
            "{\"b\":1,\"a\":\"x\"}\n{\"b\":2.5}\n",
            r#"{"b":[1,2.5],"a":["x",null]}"#,
            r#"{"b":{"0":1,"1":2.5},"a":{"0":"x","1":null}}"#,
            r#"{"count":2,"results":[{"b":1,"a":"x"},{"b":2.5}]}"#,
        ] {
            assert_eq!(text(json).as_deref(), Some(same), "{json}");
        }
        let nested = text(r#"[{"a":{"x":1,"y":[1,true]}}]"#);
        assert_eq!(nested.as_deref(), Some("a.x,a.y\n1,1; true\n"));
        for json in ["3", "[1,2]", "[]", r#"{"a":1}"#, r#"{"a":[1],"b":[]}"#] {
            assert_eq!(text(json), None, "{json}");
        }
    }
}
