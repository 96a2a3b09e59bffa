//! Hard labels written: results as `object,label,certainty`.

use std::io::{self, Write};
use std::path::Path;

use partita_core::Partition;
use rayon::prelude::*;

use super::label_column::{LABEL_NAME, LabelNumbers};
use super::label_format::LabelFormat;
use crate::atomic_write::{text_delimiter, write_text};
use crate::error::FileError;
use crate::text_lines::TextLines;

/// Writes `object,label` and a column of numbers for each of `numbers` (its name and values), one line an object. Objects without
/// names are numbered from 0. Numbers read back to the same bits. The ending of the name says the [`LabelFormat`].
///
/// # Errors
/// [`FileError`] for what cannot be written.
///
/// # Panics
/// If there is not one name and one of all numbers an object.
pub fn write_labels(
    path: &Path,
    object_names: Option<&[String]>,
    partition: &Partition,
    numbers: &[LabelNumbers<'_>],
) -> Result<(), FileError> {
    write_named_labels(path, object_names, partition, None, numbers)
}

/// [`write_labels`] with a column `label_name` of what every object is called, where labels are names of classes.
///
/// # Errors
/// As [`write_labels`].
///
/// # Panics
/// As [`write_labels`], and if there is not one class an object.
pub fn write_named_labels(
    path: &Path,
    object_names: Option<&[String]>,
    partition: &Partition,
    classes: Option<&[&str]>,
    numbers: &[LabelNumbers<'_>],
) -> Result<(), FileError> {
    match LabelFormat::of(path)? {
        LabelFormat::Text => write_text(path, |out| {
            lines(
                out,
                text_delimiter(path),
                object_names,
                (partition, classes),
                numbers,
            )
        }),
        _ => LabelFormat::write(path, object_names, (partition, classes), numbers),
    }
}

/// Writes what [`write_named_labels`] writes to any place, as CSV.
///
/// # Errors
/// What the place refuses.
///
/// # Panics
/// As [`write_labels`].
pub fn labels_csv(
    out: &mut dyn Write,
    object_names: Option<&[String]>,
    partition: &Partition,
    classes: Option<&[&str]>,
    numbers: &[LabelNumbers<'_>],
) -> io::Result<()> {
    lines(out, b',', object_names, (partition, classes), numbers)
}

/// Lines below the heading, for objects that are called by their numbers from `first`.
pub(super) fn label_lines(
    out: &mut dyn Write,
    delimiter: u8,
    first: u64,
    labels: &[u32],
    numbers: &[&[f64]],
) -> io::Result<()> {
    let name = |object: usize, lines: &mut TextLines| lines.integer(first + object as u64);
    LabelLines {
        delimiter,
        labels,
        classes: None,
        numbers,
        name: &name,
    }
    .write(out)
}

fn lines(
    out: &mut dyn Write,
    delimiter: u8,
    object_names: Option<&[String]>,
    (partition, classes): (&Partition, Option<&[&str]>),
    numbers: &[LabelNumbers<'_>],
) -> io::Result<()> {
    let labels = partition.labels();
    assert!(
        object_names.is_none_or(|names| names.len() == labels.len()),
        "one name an object"
    );
    let of_classes = classes.map(|_| LABEL_NAME);
    let columns = of_classes
        .into_iter()
        .chain(numbers.iter().map(|(name, _)| *name));
    out.write_all(&label_heading(delimiter, columns))?;
    let numbers: Vec<&[f64]> = numbers.iter().map(|(_, values)| *values).collect();
    let name = |object: usize, lines: &mut TextLines| match object_names {
        Some(names) => lines.text(&names[object]),
        None => lines.integer(object),
    };
    LabelLines {
        delimiter,
        labels,
        classes,
        numbers: &numbers,
        name: &name,
    }
    .write(out)
}

/// The line above labels, with the names of the columns beside them.
pub(super) fn label_heading<'a>(
    delimiter: u8,
    columns: impl IntoIterator<Item = &'a str>,
) -> Vec<u8> {
    let mut heading = TextLines::new(delimiter);
    ["object", "label"]
        .into_iter()
        .chain(columns)
        .for_each(|column| heading.text(column));
    heading.end();
    heading.into_bytes()
}

/// Lines of labels, an object each.
struct LabelLines<'a> {
    delimiter: u8,
    labels: &'a [u32],
    classes: Option<&'a [&'a str]>,
    numbers: &'a [&'a [f64]],
    name: &'a (dyn Fn(usize, &mut TextLines) + Sync),
}

impl LabelLines<'_> {
    /// Writes them in blocks that are formatted in parallel.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        const LINES: usize = 1 << 14;
        let n = self.labels.len();
        assert!(
            self.classes.is_none_or(|classes| classes.len() == n),
            "one class an object"
        );
        assert!(
            self.numbers.iter().all(|values| values.len() == n),
            "one of all numbers an object"
        );
        let blocks: Vec<usize> = (0..n).step_by(LINES).collect();
        for some in blocks.chunks(4 * rayon::current_num_threads()) {
            let text = |&first: &usize| self.text(first..n.min(first + LINES));
            let texts: Vec<Vec<u8>> = some.par_iter().map(text).collect();
            texts.iter().try_for_each(|text| out.write_all(text))?;
        }
        Ok(())
    }

    fn text(&self, objects: std::ops::Range<usize>) -> Vec<u8> {
        let mut lines = TextLines::new(self.delimiter);
        for object in objects {
            (self.name)(object, &mut lines);
            lines.integer(self.labels[object]);
            if let Some(classes) = self.classes {
                lines.text(classes[object]);
            }
            self.numbers
                .iter()
                .for_each(|values| lines.number(values[object]));
            lines.end();
        }
        lines.into_bytes()
    }
}

/// What to call an object in a file.
pub(crate) fn namer(names: Option<&[String]>, objects: usize) -> impl Fn(usize) -> String + '_ {
    assert!(
        names.is_none_or(|names| names.len() == objects),
        "one name an object"
    );
    move |object| names.map_or_else(|| object.to_string(), |names| names[object].clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::label_file::read_labels;
    use crate::meaning::read_options::ReadOptions;

    fn file(name: &str, text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn a_result_reads_back() {
        for name in ["a.csv", "a.tsv.gz", "a.csv.zst"] {
            let (_folder, path) = file(name, "");
            let partition = Partition::new(vec![2, 0, 1], 3).unwrap();
            let names = ["a", "b,\"c\"\n", "d"].map(String::from);
            write_labels(
                &path,
                Some(&names),
                &partition,
                &[("certainty", &[0.1 + 0.2, 1.0, 1.0 / 3.0])],
            )
            .unwrap();
            let labels = read_labels(&path, &ReadOptions::default()).unwrap();
            assert_eq!(labels.object_names.unwrap()[1], names[1].trim());
            let values: Vec<_> = labels.column.values.into_iter().flatten().collect();
            assert_eq!(values, ["2", "0", "1"]);
            let certainty = read_labels(&path, &ReadOptions::of_column("certainty"))
                .unwrap()
                .column
                .values;
            assert_eq!(
                certainty[0]
                    .as_ref()
                    .unwrap()
                    .parse::<f64>()
                    .unwrap()
                    .to_bits(),
                (0.1f64 + 0.2).to_bits()
            );
        }
    }
}
