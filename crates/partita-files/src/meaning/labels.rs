//! Hard labels written: results as `object,label,certainty`.

use std::io::{self, Write};
use std::path::Path;

use partita_core::Partition;
use rayon::prelude::*;

use super::label_column::{LABEL_NAME, LabelNumbers};
use super::label_format::LabelFormat;
use crate::atomic_write::{text_delimiter, write_text};
use crate::error::FileError;
use crate::number::Short;

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
        LabelFormat::Text => {
            write_text(path, |out| lines(out, text_delimiter(path), object_names, (partition, classes), numbers))
        }
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
    let name = |object: usize, text: &mut Vec<u8>| {
        text.extend_from_slice(itoa::Buffer::new().format(first + object as u64).as_bytes());
    };
    Lines { delimiter, labels, classes: None, numbers, name: &name }.write(out)
}

fn lines(
    out: &mut dyn Write,
    delimiter: u8,
    object_names: Option<&[String]>,
    (partition, classes): (&Partition, Option<&[&str]>),
    numbers: &[LabelNumbers<'_>],
) -> io::Result<()> {
    let labels = partition.labels();
    assert!(object_names.is_none_or(|names| names.len() == labels.len()), "one name an object");
    let of_classes = classes.map(|_| LABEL_NAME);
    let heading = ["object", "label"].into_iter().chain(of_classes);
    let heading = heading.chain(numbers.iter().map(|(name, _)| *name)).collect::<Vec<_>>();
    writeln!(out, "{}", heading.join(if delimiter == b'\t' { "\t" } else { "," }))?;
    let numbers: Vec<&[f64]> = numbers.iter().map(|(_, values)| *values).collect();
    let name = |object: usize, text: &mut Vec<u8>| match object_names {
        Some(names) => quoted(&names[object], delimiter, text),
        None => text.extend_from_slice(itoa::Buffer::new().format(object).as_bytes()),
    };
    Lines { delimiter, labels, classes, numbers: &numbers, name: &name }.write(out)
}

/// Lines of labels, an object each.
struct Lines<'a> {
    delimiter: u8,
    labels: &'a [u32],
    classes: Option<&'a [&'a str]>,
    numbers: &'a [&'a [f64]],
    name: &'a (dyn Fn(usize, &mut Vec<u8>) + Sync),
}

impl Lines<'_> {
    /// Writes them in blocks that are formatted in parallel.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        const LINES: usize = 1 << 14;
        let n = self.labels.len();
        assert!(self.classes.is_none_or(|classes| classes.len() == n), "one class an object");
        assert!(self.numbers.iter().all(|values| values.len() == n), "one of all numbers an object");
        let blocks: Vec<usize> = (0..n).step_by(LINES).collect();
        for some in blocks.chunks(4 * rayon::current_num_threads()) {
            let text = |&first: &usize| self.text(first..n.min(first + LINES));
            let texts: Vec<Vec<u8>> = some.par_iter().map(text).collect();
            texts.iter().try_for_each(|text| out.write_all(text))?;
        }
        Ok(())
    }

    fn text(&self, objects: std::ops::Range<usize>) -> Vec<u8> {
        let mut text = Vec::with_capacity(objects.len() * (16 + 8 * self.numbers.len()));
        let mut known: Vec<NumberTexts> = self.numbers.iter().map(|_| NumberTexts::default()).collect();
        let mut number = itoa::Buffer::new();
        for object in objects {
            (self.name)(object, &mut text);
            text.push(self.delimiter);
            text.extend_from_slice(number.format(self.labels[object]).as_bytes());
            if let Some(classes) = self.classes {
                text.push(self.delimiter);
                quoted(classes[object], self.delimiter, &mut text);
            }
            for (values, known) in self.numbers.iter().zip(&mut known) {
                text.push(self.delimiter);
                text.extend_from_slice(known.text(values[object]));
            }
            text.push(b'\n');
        }
        text
    }
}

/// Numbers as text, remembered: objects with equal labels have equal numbers.
struct NumberTexts(Vec<(u64, Vec<u8>)>);

impl Default for NumberTexts {
    fn default() -> Self {
        Self(vec![(f64::NAN.to_bits(), b"NaN".to_vec()); 1 << 10])
    }
}

impl NumberTexts {
    fn text(&mut self, value: f64) -> &[u8] {
        let bits = value.to_bits();
        let place = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
        let (known, text) = &mut self.0[place];
        if *known != bits {
            *known = bits;
            text.clear();
            // Writing to a vector cannot fail.
            let _ = write!(text, "{}", Short(value));
        }
        text
    }
}

/// A name, in quotes where it needs them.
fn quoted(name: &str, delimiter: u8, text: &mut Vec<u8>) {
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    if !name.bytes().any(special) {
        return text.extend_from_slice(name.as_bytes());
    }
    text.push(b'"');
    for byte in name.bytes() {
        if byte == b'"' {
            text.push(b'"');
        }
        text.push(byte);
    }
    text.push(b'"');
}

/// What to call an object in a file.
pub(crate) fn namer(names: Option<&[String]>, objects: usize) -> impl Fn(usize) -> String + '_ {
    assert!(names.is_none_or(|names| names.len() == objects), "one name an object");
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
            write_labels(&path, Some(&names), &partition, &[("certainty", &[0.1 + 0.2, 1.0, 1.0 / 3.0])]).unwrap();
            let labels = read_labels(&path, &ReadOptions::default()).unwrap();
            assert_eq!(labels.object_names.unwrap()[1], names[1].trim());
            let values: Vec<_> = labels.column.values.into_iter().flatten().collect();
            assert_eq!(values, ["2", "0", "1"]);
            let certainty = read_labels(&path, &ReadOptions::of_column("certainty")).unwrap().column.values;
            assert_eq!(certainty[0].as_ref().unwrap().parse::<f64>().unwrap().to_bits(), (0.1f64 + 0.2).to_bits());
        }
    }
}
