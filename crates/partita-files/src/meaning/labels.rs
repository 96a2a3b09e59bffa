//! Hard labels: truths and results.

use std::io::{self, Write};
use std::path::Path;

use partita_core::{MemoryBudget, Partition};
use rayon::prelude::*;

use super::frame::{TRUTHS, first_of, label_array, labelled, main_array, names_limit};
use super::label_column::{LabelColumn, Labels};
use super::label_format::LabelFormat;
use super::roles::{self, Role, Roles};
use super::stored_ensemble;
use crate::atomic_write::{text_delimiter, write_text};
use crate::error::FileError;
use crate::format::description::{Format, OpenOptions};
use crate::format::reader::{Column, Form, Layout, Limit, Reader};
use crate::format::{self, FORMATS};
use crate::number::Short;

/// Reads one column of labels from any kind of file. `column` is a name or a position from 1; without one it is
/// `label`, else `truth`, else the last column. Of a `.mat` file it is the array `gt`, of an ensemble its truth.
/// Empty fields and NaN are missing; any other value, −1 too, is a label.
///
/// # Errors
/// [`FileError`] names the file, the row, the column, the value, and what to do.
pub fn read_labels(path: &Path, column: Option<&str>) -> Result<Labels, FileError> {
    load_labels(path, column, MemoryBudget::UNLIMITED).map(|(labels, _)| labels)
}

/// As [`read_labels`], within a budget, and what every column was taken for.
///
/// # Errors
/// As [`read_labels`]; [`FileError::Budget`] for a file that claims more.
pub fn load_labels(path: &Path, column: Option<&str>, budget: MemoryBudget) -> Result<(Labels, Roles), FileError> {
    load(FORMATS, path, column, budget)
}

pub(crate) fn load(
    formats: &'static [Format],
    path: &Path,
    column: Option<&str>,
    budget: MemoryBudget,
) -> Result<(Labels, Roles), FileError> {
    let reader = format::open_reader(formats, path, OpenOptions::default())?;
    let limit = Limit { bytes_per_row: 4, what: "the labels", ..names_limit(budget) };
    if reader.layout() == Layout::Columns {
        return from_columns(&*reader, column, &limit);
    }
    if column.is_none()
        && let Some(meta) = reader.note(stored_ensemble::META)?
        && let Some(labels) = stored_ensemble::read_truth(&*reader, &meta, &limit)?
    {
        let arrays = vec![("truth".to_owned(), Role::Truth)];
        return Ok((labels, Roles { columns: Vec::new(), arrays }));
    }
    from_arrays(&*reader, column, &limit)
}

fn from_columns(reader: &dyn Reader, column: Option<&str>, limit: &Limit) -> Result<(Labels, Roles), FileError> {
    let names = reader.names();
    let found = roles::assign_labels(reader.path(), names, column)?;
    let roles = Roles { columns: names.iter().cloned().zip(found).collect(), arrays: Vec::new() };
    let at = roles.truth().unwrap_or(names.len() - 1);
    let wanted: Vec<(usize, Form)> =
        std::iter::once(at).chain(roles.objects()).map(|item| (item, Form::Text)).collect();
    let mut read = reader.read(0, &wanted, limit)?;
    for group in 1..reader.extent(at)?.count() {
        for (all, more) in read.iter_mut().zip(reader.read(group, &wanted, limit)?) {
            let start = all.rows();
            all.append(reader.path(), more, start)?;
        }
    }
    let object_names = roles.objects().and_then(|_| read.pop()).map(Column::into_texts);
    let mut texts = read.pop().map(Column::into_texts).unwrap_or_default();
    if !reader.typed() {
        // Where the file does not tell numbers from texts, this is one.
        texts.iter_mut().filter(|text| text.eq_ignore_ascii_case("nan")).for_each(String::clear);
    }
    let name = if reader.named() { names[at].clone() } else { "label".into() };
    Ok((Labels { object_names, column: LabelColumn { name, values: labelled(texts) } }, roles))
}

fn from_arrays(reader: &dyn Reader, column: Option<&str>, limit: &Limit) -> Result<(Labels, Roles), FileError> {
    let item = match column {
        Some(asked) => match first_of(reader, &[asked]) {
            Some(item) => item,
            None => return from_position(reader, asked, limit),
        },
        None => match first_of(reader, &TRUTHS) {
            Some(item) => item,
            None => main_array(reader, &["labels"])?,
        },
    };
    let values = label_array(reader, item, None, limit)?;
    let arrays = vec![(reader.names()[item].clone(), Role::Truth)];
    let column = LabelColumn { name: column.unwrap_or("label").into(), values };
    Ok((Labels { object_names: None, column }, Roles { columns: Vec::new(), arrays }))
}

/// A column of the only array by its position from 1.
fn from_position(reader: &dyn Reader, column: &str, limit: &Limit) -> Result<(Labels, Roles), FileError> {
    let item = main_array(reader, &[column])?;
    let extent = reader.extent(item)?;
    let names: Vec<String> = (1..=extent.columns).map(|position| position.to_string()).collect();
    let at = roles::find(reader.path(), &names, column)?;
    let mut texts = Vec::new();
    for group in 0..extent.count() {
        match reader.read_one(group, item, Form::Text, limit)? {
            Column::Array(array) => texts.extend(array.texts(at)),
            other => texts.extend(other.into_texts()),
        }
    }
    let role = |(place, name)| (name, if place == at { Role::Truth } else { Role::Skipped });
    let roles = Roles { columns: names.into_iter().enumerate().map(role).collect(), arrays: Vec::new() };
    Ok((Labels { object_names: None, column: LabelColumn { name: "label".into(), values: labelled(texts) } }, roles))
}

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
    match LabelFormat::of(path)? {
        LabelFormat::Text => write_text(path, |out| lines(out, text_delimiter(path), object_names, partition, numbers)),
        _ => LabelFormat::write(path, object_names, partition, numbers),
    }
}

/// A column of numbers beside labels: its name, and one number an object.
pub type LabelNumbers<'a> = (&'a str, &'a [f64]);

/// Writes what [`write_labels`] writes to any place, as CSV.
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
    numbers: &[LabelNumbers<'_>],
) -> io::Result<()> {
    lines(out, b',', object_names, partition, numbers)
}

/// Lines as [`labels_csv`] writes them below its heading, for objects that are called by their numbers from `first`: for results
/// that come piece by piece.
///
/// # Errors
/// What the place refuses.
///
/// # Panics
/// As [`write_labels`].
pub fn label_lines(out: &mut dyn Write, first: u64, labels: &[u32], numbers: &[&[f64]]) -> io::Result<()> {
    let name = |object: usize, text: &mut Vec<u8>| {
        text.extend_from_slice(itoa::Buffer::new().format(first + object as u64).as_bytes());
    };
    Lines { delimiter: b',', labels, numbers, name: &name }.write(out)
}

fn lines(
    out: &mut dyn Write,
    delimiter: u8,
    object_names: Option<&[String]>,
    partition: &Partition,
    numbers: &[LabelNumbers<'_>],
) -> io::Result<()> {
    let labels = partition.labels();
    assert!(object_names.is_none_or(|names| names.len() == labels.len()), "one name an object");
    let heading = ["object", "label"].into_iter().chain(numbers.iter().map(|(name, _)| *name)).collect::<Vec<_>>();
    writeln!(out, "{}", heading.join(if delimiter == b'\t' { "\t" } else { "," }))?;
    let numbers: Vec<&[f64]> = numbers.iter().map(|(_, values)| *values).collect();
    let name = |object: usize, text: &mut Vec<u8>| match object_names {
        Some(names) => quoted(&names[object], delimiter, text),
        None => text.extend_from_slice(itoa::Buffer::new().format(object).as_bytes()),
    };
    Lines { delimiter, labels, numbers: &numbers, name: &name }.write(out)
}

/// Lines of labels, an object each.
struct Lines<'a> {
    delimiter: u8,
    labels: &'a [u32],
    numbers: &'a [&'a [f64]],
    name: &'a (dyn Fn(usize, &mut Vec<u8>) + Sync),
}

impl Lines<'_> {
    /// Writes them in blocks that are formatted in parallel.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        const LINES: usize = 1 << 14;
        let n = self.labels.len();
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
        for name in ["a.csv", "a.tsv.gz", "a.csv.zst"] {
            let (_folder, path) = file(name, "");
            let partition = Partition::new(vec![2, 0, 1], 3).unwrap();
            let names = ["a", "b,\"c\"\n", "d"].map(String::from);
            write_labels(&path, Some(&names), &partition, &[("certainty", &[0.1 + 0.2, 1.0, 1.0 / 3.0])]).unwrap();
            let labels = read_labels(&path, None).unwrap();
            assert_eq!(labels.object_names.unwrap()[1], names[1].trim());
            let values: Vec<_> = labels.column.values.into_iter().flatten().collect();
            assert_eq!(values, ["2", "0", "1"]);
            let certainty = read_labels(&path, Some("certainty")).unwrap().column.values;
            assert_eq!(certainty[0].as_ref().unwrap().parse::<f64>().unwrap().to_bits(), (0.1f64 + 0.2).to_bits());
        }
    }
}
