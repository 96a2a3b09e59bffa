//! Hard labels: truths and results.

use std::io::{self, Write};
use std::path::Path;

use csv::ByteRecord;
use partita_core::Partition;

use crate::coded::{self, Coded};
use crate::columns;
use crate::error::FileError;
use crate::input::Format;
use crate::number::Short;
use crate::text::{Header, TextReader};
use crate::whole::{text_writer, write_text};

/// Classes or clusters by their own names, one an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelColumn {
    /// Name of the column.
    pub name: String,
    /// The label of every object; none where it is missing.
    pub values: Vec<Option<String>>,
}

/// A column of labels, and what the objects are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Names of the objects, where the file has them.
    pub object_names: Option<Vec<String>>,
    /// The labels.
    pub column: LabelColumn,
}

/// Reads one column of labels from any kind of file. `column` is a name or a position from 1; without one it is
/// `label`, else `truth`, else the last column. Of a `.mat` file it is the array `gt`, of an ensemble its truth.
/// Empty fields and NaN are missing; any other value, −1 too, is a label.
///
/// # Errors
/// [`FileError`] names the file, the row, the column, the value, and what to do.
pub fn read_labels(path: &Path, column: Option<&str>) -> Result<Labels, FileError> {
    match Format::of(path)? {
        Format::Text => from_text(path, column),
        _ => crate::labels_binary::read(path, column),
    }
}

/// Where the labels are, among columns of these names.
pub(crate) fn label_position(path: &Path, names: &[String], column: Option<&str>) -> Result<usize, FileError> {
    let called = |wanted: &str| names.iter().position(|name| name == wanted);
    match column {
        Some(column) => columns::find(path, names, column),
        None => Ok(called("label").or_else(|| called("truth")).unwrap_or(names.len() - 1)),
    }
}

fn from_text(path: &Path, column: Option<&str>) -> Result<Labels, FileError> {
    let mut reader = TextReader::open(path, Header::Auto, None)?;
    let names = reader.names();
    let at = label_position(path, &names, column)?;
    let named = columns::names_objects(&names) && at != 0;
    let mut objects = Vec::new();
    let mut labels = Coded::default();
    let mut record = ByteRecord::new();
    while let Some(row) = reader.next(&mut record)? {
        let text = |at: usize| coded::text(path, row, &names[at], record.get(at).unwrap_or_default());
        let label = text(at)?;
        labels.push(if label.trim().eq_ignore_ascii_case("nan") { "" } else { label }, row);
        if named {
            objects.push(text(0)?.trim().to_owned());
        }
    }
    let column = labels.column(if reader.header().is_some() { &names[at] } else { "label" });
    if column.values.is_empty() {
        return Err(FileError::NoRows(path.into()));
    }
    Ok(Labels { object_names: named.then_some(objects), column })
}

/// Writes `object,label,certainty`, one line an object. Objects without names are numbered from 0. Numbers read back
/// to the same bits.
///
/// # Errors
/// [`FileError`] for what cannot be written.
///
/// # Panics
/// If there is not one name and one certainty an object.
pub fn write_labels(
    path: &Path,
    object_names: Option<&[String]>,
    partition: &Partition,
    certainty: &[f64],
) -> Result<(), FileError> {
    write_text(path, |out| rows(text_writer(path, out), object_names, partition, certainty))
}

/// Writes what [`write_labels`] writes to any place, as CSV.
///
/// # Errors
/// What the place refuses.
///
/// # Panics
/// If there is not one name and one certainty an object.
pub fn labels_csv(
    out: &mut dyn Write,
    object_names: Option<&[String]>,
    partition: &Partition,
    certainty: &[f64],
) -> io::Result<()> {
    rows(csv::Writer::from_writer(out), object_names, partition, certainty)
}

/// Lines as [`labels_csv`] writes them below its heading, for objects that are called by their numbers from `first`: for results
/// that come piece by piece.
///
/// # Errors
/// What the place refuses.
pub fn label_lines(out: &mut dyn Write, first: u64, labels: &[u32], certainty: &[f64]) -> io::Result<()> {
    for (object, (label, certainty)) in (first..).zip(labels.iter().zip(certainty)) {
        writeln!(out, "{object},{label},{}", Short(*certainty))?;
    }
    Ok(())
}

fn rows<W: Write>(
    mut rows: csv::Writer<W>,
    object_names: Option<&[String]>,
    partition: &Partition,
    certainty: &[f64],
) -> io::Result<()> {
    assert_eq!(partition.objects(), certainty.len(), "one certainty an object");
    let name = namer(object_names, partition.objects());
    rows.write_record(["object", "label", "certainty"])?;
    for (object, (label, certainty)) in partition.labels().iter().zip(certainty).enumerate() {
        rows.write_record([name(object), label.to_string(), Short(*certainty).to_string()])?;
    }
    rows.flush()
}

/// What to call an object in a file.
pub(crate) fn namer(names: Option<&[String]>, objects: usize) -> impl Fn(usize) -> String + '_ {
    assert!(names.is_none_or(|names| names.len() == objects), "one name an object");
    move |object| names.map_or_else(|| object.to_string(), |names| names[object].clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn the_column_is_found() {
        let read = |text: &str, column| {
            let (_folder, path) = file("a.csv", text);
            let labels = read_labels(&path, column).unwrap();
            let values: Vec<_> = labels.column.values.iter().map(|v| v.clone().unwrap_or("?".into())).collect();
            (labels.column.name, values.concat(), labels.object_names.map(|names| names.concat()))
        };
        let text = "object,label,certainty\nx,1,0.5\ny,,1\n";
        assert_eq!(read(text, None), ("label".into(), "1?".into(), Some("xy".into())));
        assert_eq!(read(text, Some("1")), ("object".into(), "xy".into(), None));
        assert_eq!(read("a,class\n1,u\n2,v\n", None), ("class".into(), "uv".into(), None));
        assert_eq!(read("1\n-1\nNaN\n", None), ("label".into(), "1-1?".into(), None));
    }

    #[test]
    fn a_result_reads_back() {
        for name in ["a.csv", "a.tsv.gz"] {
            let (_folder, path) = file(name, "");
            let partition = Partition::new(vec![2, 0, 1], 3).unwrap();
            let names = ["a", "b,\"c\"\n", "d"].map(String::from);
            write_labels(&path, Some(&names), &partition, &[0.1 + 0.2, 1.0, 1.0 / 3.0]).unwrap();
            let labels = read_labels(&path, None).unwrap();
            assert_eq!(labels.object_names.unwrap()[1], names[1].trim());
            let values: Vec<_> = labels.column.values.into_iter().flatten().collect();
            assert_eq!(values, ["2", "0", "1"]);
            let certainty = read_labels(&path, Some("certainty")).unwrap().column.values;
            assert_eq!(certainty[0].as_ref().unwrap().parse::<f64>().unwrap().to_bits(), (0.1f64 + 0.2).to_bits());
        }
    }
}
