//! The format of labels that are written, by the ending of the name: text, Parquet, NPY or JSON.

use std::path::Path;

use partita_core::Partition;
use serde_json::{Map, json};

use super::label_column::{LABEL_NAME, LabelNumbers};
use crate::atomic_write::write_whole;
use crate::error::FileError;
use crate::format;
use crate::format::description::Writes;
use crate::format::writer::{Array, Contents, Data, Elements};
use crate::open_file::lower_name;

/// How labels are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelFormat {
    /// `.csv`, `.tsv`, `.txt` (also with `.gz`) and names without an ending: a line an object.
    Text,
    /// `.parquet`: the columns of the text.
    Columns,
    /// `.npy`: the labels alone, n whole numbers.
    Array,
    /// `.json`: an object of the columns of the text, each a list.
    Json,
}

impl LabelFormat {
    /// The format that a name asks for.
    ///
    /// # Errors
    /// [`FileError::Extension`] for an ending that labels are not written to.
    pub fn of(path: &Path) -> Result<Self, FileError> {
        let name = lower_name(path);
        if !name.contains('.') {
            return Ok(Self::Text);
        }
        match format::of_target(path, |writes| writes != Writes::Nothing) {
            Ok(found) if found.packed => Ok(Self::Text),
            Ok(found) if found.writes == Writes::Columns => Ok(Self::Columns),
            _ if name
                .rsplit_once('.')
                .is_some_and(|(_, ending)| ending == "npy") =>
            {
                Ok(Self::Array)
            }
            _ if name
                .rsplit_once('.')
                .is_some_and(|(_, ending)| ending == "json") =>
            {
                Ok(Self::Json)
            }
            _ => Err(FileError::Extension {
                path: path.into(),
                known: KNOWN.into(),
            }),
        }
    }

    /// Writes labels that are not text.
    pub(crate) fn write(
        path: &Path,
        object_names: Option<&[String]>,
        (partition, classes): (&Partition, Option<&[&str]>),
        numbers: &[LabelNumbers<'_>],
    ) -> Result<(), FileError> {
        let format = || format::of_target(path, |writes| writes != Writes::Nothing);
        match Self::of(path)? {
            Self::Json => write_json(path, object_names, (partition, classes), numbers),
            Self::Array => {
                let labels = partition.labels().iter().map(|&label| i64::from(label));
                let array = Array::new([partition.objects()], Elements::I64(Box::new(labels)));
                (format()?.write)(path, Contents::Arrays(vec![("labels", array)]))
            }
            Self::Text | Self::Columns => {
                (format()?.write)(path, columns(object_names, (partition, classes), numbers))
            }
        }
    }
}

const KNOWN: &str = ".csv, .tsv, .txt (also with .gz or .zst), .parquet, .npy or .json";

fn columns<'a>(
    object_names: Option<&'a [String]>,
    (partition, classes): (&'a Partition, Option<&'a [&'a str]>),
    numbers: &[LabelNumbers<'a>],
) -> Contents<'a> {
    let mut columns = label_columns(0, partition.labels(), numbers);
    if let Some(names) = object_names {
        columns[0].1 = Data::Text(Box::new(names.iter().map(|name| Some(name.as_str()))));
    }
    if let Some(classes) = classes {
        columns.insert(
            2,
            (
                LABEL_NAME,
                Data::Text(Box::new(classes.iter().map(|name| Some(*name)))),
            ),
        );
    }
    Contents::Columns {
        rows: partition.objects(),
        columns,
        notes: Vec::new(),
    }
}

/// Columns of labels of objects that are called by their numbers from `first`.
pub(super) fn label_columns<'a>(
    first: u64,
    labels: &'a [u32],
    numbers: &[LabelNumbers<'a>],
) -> Vec<(&'a str, Data<'a>)> {
    let objects = Data::Integer(Box::new(
        (0..labels.len()).map(move |object| Some((first + object as u64) as i64)),
    ));
    let labels = Data::Integer(Box::new(labels.iter().map(|&label| Some(i64::from(label)))));
    let numbers = numbers
        .iter()
        .map(|&(name, values)| (name, Data::Float(Box::new(values.iter().copied()))));
    [("object", objects), ("label", labels)]
        .into_iter()
        .chain(numbers)
        .collect()
}

fn write_json(
    path: &Path,
    object_names: Option<&[String]>,
    (partition, classes): (&Partition, Option<&[&str]>),
    numbers: &[LabelNumbers<'_>],
) -> Result<(), FileError> {
    let objects = object_names.map_or_else(
        || json!((0..partition.objects()).collect::<Vec<_>>()),
        |names| json!(names),
    );
    let mut columns = Map::from_iter([
        ("object".to_owned(), objects),
        ("label".to_owned(), json!(partition.labels())),
    ]);
    columns.extend(classes.map(|classes| (LABEL_NAME.to_owned(), json!(classes))));
    columns.extend(
        numbers
            .iter()
            .map(|&(name, values)| (name.to_owned(), json!(values))),
    );
    write_whole(path, |out| Ok(serde_json::to_writer(out, &columns)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_labels;

    #[test]
    fn the_ending_says_the_format() {
        let of = |name: &str| LabelFormat::of(Path::new(name));
        for name in ["a.csv", "a.tsv.gz", "a", "/dev/stdout", "A.TXT"] {
            assert_eq!(of(name).unwrap(), LabelFormat::Text, "{name}");
        }
        assert_eq!(
            (of("a.npy").unwrap(), of("a.json").unwrap()),
            (LabelFormat::Array, LabelFormat::Json)
        );
        let message = of("a.xlsx").unwrap_err().to_string();
        assert!(
            message.contains("a.xlsx") && message.contains(".parquet, .npy or .json"),
            "{message}"
        );
        assert!(of("a.npz").is_err() && of("a.mat").is_err());
    }

    #[test]
    fn json_has_the_columns_of_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let partition = Partition::new(vec![1, 0], 2).unwrap();
        write_labels(
            &path,
            Some(&["x".into(), "y".into()]),
            &partition,
            &[("certainty", &[0.5, 1.0])],
        )
        .unwrap();
        let read: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(
            read,
            json!({ "object": ["x", "y"], "label": [1, 0], "certainty": [0.5, 1.0] })
        );
    }
}
