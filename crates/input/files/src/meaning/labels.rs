//! Labels written: results as `object,label,agreement`, whole or block by block.

use std::io::{self, Write};
use std::path::Path;

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::label_column::{LABEL_NAME, LabelNumbers};
use crate::atomic_write::{text_delimiter, write_text, write_whole};
use crate::error::FileError;
use crate::format;
use crate::format::description::Writes;
use crate::format::npy_header::write_header;
#[cfg(feature = "parquet")]
use crate::format::parquet_write::{GROUP_ROWS, GroupWriter};
use crate::format::writer::{Contents, Data};
use crate::open_file::lower_name;
use crate::text_lines::TextLines;

/// A label that is written as NA (in arrays as −1): the object has none.
pub const NO_LABEL: u32 = u32::MAX;

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
        let Some((_, ending)) = name.rsplit_once('.') else {
            return Ok(Self::Text);
        };
        match format::of_target(path, |writes| writes != Writes::Nothing) {
            Ok(found) if found.packed => Ok(Self::Text),
            Ok(found) if found.writes == Writes::Columns => Ok(Self::Columns),
            _ if ending == "npy" => Ok(Self::Array),
            _ if ending == "json" => Ok(Self::Json),
            _ => {
                let known = ".csv, .tsv, .txt (also with .gz or .zst), .parquet, .npy or .json";
                Err(refused(path, known))
            }
        }
    }
}

fn refused(path: &Path, known: &str) -> FileError {
    FileError::Extension {
        path: path.into(),
        known: known.into(),
    }
}

/// Writes `object,label` and a column of numbers for each of `numbers` (its name and values), one line an object. Objects without
/// names are numbered from 0. Numbers read back to the same bits, [`NO_LABEL`] and NaN are gaps. The ending of the name says the
/// [`LabelFormat`].
///
/// # Errors
/// [`FileError`] for what cannot be written.
///
/// # Panics
/// If there is not one name and one of all numbers an object.
pub fn write_labels(
    path: &Path,
    object_names: Option<&[String]>,
    labels: &[u32],
    numbers: &[LabelNumbers<'_>],
) -> Result<(), FileError> {
    write_named_labels(path, object_names, labels, None, numbers)
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
    labels: &[u32],
    classes: Option<&[&str]>,
    numbers: &[LabelNumbers<'_>],
) -> Result<(), FileError> {
    let rows = Rows::new(object_names, labels, classes, numbers);
    match LabelFormat::of(path)? {
        LabelFormat::Text => write_text(path, |out| rows.write_text(out, text_delimiter(path))),
        LabelFormat::Array => write_label_blocks(path, rows.labels.len() as u64, &[], |out| {
            out.push(0, rows.labels, &[])
        }),
        LabelFormat::Columns => {
            let format = format::of_target(path, |writes| writes == Writes::Columns)?;
            let contents = Contents::Columns {
                rows: rows.labels.len(),
                columns: rows.columns(),
                notes: Vec::new(),
            };
            (format.write)(path, contents)
        }
        LabelFormat::Json => write_whole(path, |out| Ok(serde_json::to_writer(out, &rows.json())?)),
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
    labels: &[u32],
    classes: Option<&[&str]>,
    numbers: &[LabelNumbers<'_>],
) -> io::Result<()> {
    Rows::new(object_names, labels, classes, numbers).write_text(out, b',')
}

/// Writes the labels of `rows` objects, and a column for each of `numbers`, as `fill` hands them over: the bytes of
/// [`write_labels`] of the same labels for objects without names. The heading of text stands above object 0,
/// so that the files of consecutive parts joined are the file of the whole.
///
/// # Errors
/// [`FileError`] for what cannot be written, and for formats whose files are not written block by block (JSON).
///
/// # Cost
/// Memory: nothing for text and NPY, one group of 2²⁰ rows for Parquet.
pub fn write_label_blocks(
    path: &Path,
    rows: u64,
    numbers: &[&str],
    fill: impl FnOnce(&mut LabelBlocks<'_>) -> io::Result<()>,
) -> Result<(), FileError> {
    match LabelFormat::of(path)? {
        LabelFormat::Text => write_text(path, |out| {
            fill(&mut LabelBlocks::delimited(
                out,
                text_delimiter(path),
                numbers,
            ))
        }),
        LabelFormat::Array => write_whole(path, |out| {
            write_header(out, "<i8", &[rows as usize])?;
            fill(&mut LabelBlocks(Kind::Array(out)))
        }),
        #[cfg(feature = "parquet")]
        LabelFormat::Columns => write_whole(path, |out| {
            let mut blocks = LabelBlocks(Kind::Columns(Box::new(Groups::new(out, numbers)?)));
            fill(&mut blocks)?;
            let LabelBlocks(Kind::Columns(groups)) = blocks else {
                return Ok(());
            };
            groups.finish()
        }),
        _ => Err(refused(path, ".csv, .tsv, .txt, .npy or .parquet")),
    }
}

/// Where labels go, block by block.
pub struct LabelBlocks<'a>(Kind<'a>);

enum Kind<'a> {
    Text {
        out: &'a mut dyn Write,
        delimiter: u8,
        heading: Vec<u8>,
    },
    Array(&'a mut dyn Write),
    #[cfg(feature = "parquet")]
    Columns(Box<Groups<'a>>),
}

impl<'a> LabelBlocks<'a> {
    /// Labels as CSV to any place.
    pub fn csv(out: &'a mut dyn Write, numbers: &[&str]) -> Self {
        Self::delimited(out, b',', numbers)
    }

    fn delimited(out: &'a mut dyn Write, delimiter: u8, numbers: &[&str]) -> Self {
        Self(Kind::Text {
            out,
            delimiter,
            heading: heading(delimiter, numbers.iter().copied()),
        })
    }

    /// Takes the labels and numbers of consecutive objects, of which `first` is the number of the first.
    ///
    /// # Errors
    /// What the place refuses.
    ///
    /// # Panics
    /// If there is not one of all numbers an object.
    pub fn push(&mut self, first: u64, labels: &[u32], numbers: &[&[f64]]) -> io::Result<()> {
        match &mut self.0 {
            Kind::Text {
                out,
                delimiter,
                heading,
            } => {
                if first == 0 {
                    out.write_all(heading)?;
                }
                let numbers: Vec<LabelNumbers<'_>> =
                    numbers.iter().map(|&values| ("", values)).collect();
                Rows::numbered(first, labels, &numbers).write_lines(out, *delimiter)
            }
            Kind::Array(out) => labels
                .iter()
                .try_for_each(|&label| out.write_all(&known(label).unwrap_or(-1).to_le_bytes())),
            #[cfg(feature = "parquet")]
            Kind::Columns(groups) => groups.push(first, labels, numbers),
        }
    }
}

/// A Parquet file under way: rows are gathered to groups of the size that other writers give them.
#[cfg(feature = "parquet")]
struct Groups<'a> {
    file: GroupWriter<&'a mut (dyn Write + Send)>,
    written: bool,
    first: u64,
    labels: Vec<u32>,
    numbers: Vec<(String, Vec<f64>)>,
}

#[cfg(feature = "parquet")]
impl<'a> Groups<'a> {
    fn new(out: &'a mut (dyn Write + Send), numbers: &[&str]) -> io::Result<Self> {
        let none: Vec<LabelNumbers<'_>> = numbers.iter().map(|&name| (name, &[][..])).collect();
        let columns = Rows::numbered(0, &[], &none).columns();
        let file = GroupWriter::new(out, &columns, Vec::new())?;
        Ok(Self {
            file,
            written: false,
            first: 0,
            labels: Vec::new(),
            numbers: numbers
                .iter()
                .map(|&name| (name.to_owned(), Vec::new()))
                .collect(),
        })
    }

    fn push(&mut self, first: u64, labels: &[u32], numbers: &[&[f64]]) -> io::Result<()> {
        let fits = |values: &&[f64]| values.len() == labels.len();
        assert!(
            numbers.len() == self.numbers.len() && numbers.iter().all(fits),
            "one of all numbers an object"
        );
        if self.labels.is_empty() {
            self.first = first;
        }
        self.labels.extend_from_slice(labels);
        for ((_, held), values) in self.numbers.iter_mut().zip(numbers) {
            held.extend_from_slice(values);
        }
        while self.labels.len() >= GROUP_ROWS {
            self.group(GROUP_ROWS)?;
        }
        Ok(())
    }

    /// Writes the first rows that are held.
    fn group(&mut self, rows: usize) -> io::Result<()> {
        let numbers = self.numbers.iter();
        let numbers: Vec<LabelNumbers<'_>> = numbers
            .map(|(name, values)| (name.as_str(), &values[..rows]))
            .collect();
        let block = Rows::numbered(self.first, &self.labels[..rows], &numbers);
        self.file.group(&mut block.columns())?;
        self.labels.drain(..rows);
        for (_, values) in &mut self.numbers {
            values.drain(..rows);
        }
        self.first += rows as u64;
        self.written = true;
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        if !self.labels.is_empty() || !self.written {
            self.group(self.labels.len())?;
        }
        Ok(self.file.close()?)
    }
}

/// Labels of objects that follow each other, and what stands beside them.
#[derive(Clone, Copy)]
struct Rows<'a> {
    /// Number of the first object, which is what objects without names are called by.
    first: u64,
    names: Option<&'a [String]>,
    labels: &'a [u32],
    classes: Option<&'a [&'a str]>,
    numbers: &'a [LabelNumbers<'a>],
}

impl<'a> Rows<'a> {
    fn new(
        names: Option<&'a [String]>,
        labels: &'a [u32],
        classes: Option<&'a [&'a str]>,
        numbers: &'a [LabelNumbers<'a>],
    ) -> Self {
        let rows = Self {
            names,
            classes,
            ..Self::numbered(0, labels, numbers)
        };
        let n = rows.labels.len();
        assert!(
            names.is_none_or(|names| names.len() == n),
            "one name an object"
        );
        assert!(
            classes.is_none_or(|classes| classes.len() == n),
            "one class an object"
        );
        rows
    }

    fn numbered(first: u64, labels: &'a [u32], numbers: &'a [LabelNumbers<'a>]) -> Self {
        let fits = |(_, values): &LabelNumbers<'_>| values.len() == labels.len();
        assert!(numbers.iter().all(fits), "one of all numbers an object");
        Self {
            first,
            names: None,
            labels,
            classes: None,
            numbers,
        }
    }

    fn write_text(&self, out: &mut dyn Write, delimiter: u8) -> io::Result<()> {
        let classes = self.classes.map(|_| LABEL_NAME);
        let numbers = self.numbers.iter().map(|(name, _)| *name);
        out.write_all(&heading(delimiter, classes.into_iter().chain(numbers)))?;
        self.write_lines(out, delimiter)
    }

    /// Writes a line an object, in blocks that are formatted in parallel.
    fn write_lines(&self, out: &mut dyn Write, delimiter: u8) -> io::Result<()> {
        const LINES: usize = 1 << 14;
        let n = self.labels.len();
        let blocks: Vec<usize> = (0..n).step_by(LINES).collect();
        for some in blocks.chunks(4 * rayon::current_num_threads()) {
            let text = |&from: &usize| self.lines(from..n.min(from + LINES), delimiter);
            let texts: Vec<Vec<u8>> = some.par_iter().map(text).collect();
            texts.iter().try_for_each(|text| out.write_all(text))?;
        }
        Ok(())
    }

    fn lines(&self, objects: std::ops::Range<usize>, delimiter: u8) -> Vec<u8> {
        let mut lines = TextLines::new(delimiter);
        for object in objects {
            match self.names {
                Some(names) => lines.text(&names[object]),
                None => lines.integer(self.first + object as u64),
            }
            match self.labels[object] {
                NO_LABEL => lines.text(GAP),
                label => lines.integer(label),
            }
            if let Some(classes) = self.classes {
                lines.text(classes[object]);
            }
            for (_, values) in self.numbers {
                lines.number_or(values[object], GAP);
            }
            lines.end();
        }
        lines.into_bytes()
    }

    fn columns(&self) -> Vec<(&'a str, Data<'a>)> {
        let first = self.first;
        let objects: Data<'_> = if let Some(names) = self.names {
            Data::names(names)
        } else {
            let numbers = (0..self.labels.len() as u64).map(move |at| Some((first + at) as i64));
            Data::integers(numbers)
        };
        let labels = self.labels.iter().map(|&label| known(label));
        let mut columns = vec![("object", objects), ("label", Data::integers(labels))];
        if let Some(classes) = self.classes {
            let classes = classes.iter().map(|name| Some(*name));
            columns.push((LABEL_NAME, Data::texts(classes)));
        }
        for &(name, values) in self.numbers {
            columns.push((name, Data::floats(values.iter().copied())));
        }
        columns
    }

    fn json(&self) -> Map<String, Value> {
        let objects = match self.names {
            Some(names) => json!(names),
            None => json!((0..self.labels.len()).collect::<Vec<_>>()),
        };
        let mut columns = Map::from_iter([
            ("object".to_owned(), objects),
            (
                "label".to_owned(),
                self.labels
                    .iter()
                    .map(|&label| json!(known(label)))
                    .collect(),
            ),
        ]);
        columns.extend(
            self.classes
                .map(|classes| (LABEL_NAME.to_owned(), json!(classes))),
        );
        let numbers = self.numbers.iter();
        columns.extend(numbers.map(|&(name, values)| (name.to_owned(), json!(values))));
        columns
    }
}

/// What stands in text for what an object does not have.
pub(super) const GAP: &str = "NA";

/// A label as it is stored, none for [`NO_LABEL`].
fn known(label: u32) -> Option<i64> {
    (label != NO_LABEL).then(|| i64::from(label))
}

/// The line above labels, with the names of the columns beside them.
fn heading<'a>(delimiter: u8, columns: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut heading = TextLines::new(delimiter);
    let all = ["object", "label"].into_iter().chain(columns);
    all.for_each(|column| heading.text(column));
    heading.end();
    heading.into_bytes()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::meaning::label_file::read_labels;
    use crate::meaning::read_options::ReadOptions;
    use crate::testing::assert_says;

    #[test]
    fn the_ending_says_the_format() {
        for (name, format) in [
            ("a.csv", Some(LabelFormat::Text)),
            ("a.tsv.gz", Some(LabelFormat::Text)),
            ("a", Some(LabelFormat::Text)),
            ("/dev/stdout", Some(LabelFormat::Text)),
            ("A.TXT", Some(LabelFormat::Text)),
            ("a.npy", Some(LabelFormat::Array)),
            ("a.json", Some(LabelFormat::Json)),
            ("a.npz", None),
            ("a.mat", None),
        ] {
            assert_eq!(LabelFormat::of(Path::new(name)).ok(), format, "{name}");
        }
        let message = LabelFormat::of(Path::new("a.xlsx"))
            .unwrap_err()
            .to_string();
        assert_says(&message, &["a.xlsx"]);
        assert_says(&message, &[".parquet, .npy or .json"]);
    }

    #[test]
    fn a_result_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let labels = [2, 0, 1];
        let names = ["a", "b,\"c\"\n", "d"].map(String::from);
        let numbers = [0.1 + 0.2, 1.0, 1.0 / 3.0];
        let beside: [LabelNumbers<'_>; 1] = [("agreement", &numbers)];
        for name in ["a.csv", "a.tsv.gz", "a.csv.zst"] {
            let path = folder.path().join(name);
            write_labels(&path, Some(&names), &labels, &beside).unwrap();
            let labels = read_labels(&path, &ReadOptions::default()).unwrap();
            assert_eq!(labels.object_names.unwrap()[1], names[1].trim());
            let values: Vec<_> = labels.column.values.into_iter().flatten().collect();
            assert_eq!(values, ["2", "0", "1"]);
            let read = read_labels(&path, &ReadOptions::of_column("agreement")).unwrap();
            let read = read.column.values.iter().flatten();
            let read: Vec<f64> = read.map(|text| text.parse().unwrap()).collect();
            assert_eq!(read, numbers);
        }
        let path = folder.path().join("a.json");
        write_labels(&path, Some(&names), &labels, &beside).unwrap();
        let read: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let expected = json!({ "object": names, "label": [2, 0, 1], "agreement": numbers });
        assert_eq!(read, expected);
    }

    #[test]
    fn blocks_give_the_bytes_of_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        // Beyond one group of Parquet, in blocks that do not divide it.
        let n = (1 << 20) + 70_001;
        let labels: Vec<u32> = (0..n).map(|i| (i % 7) as u32).collect();
        let one: Vec<f64> = (0..n).map(|i| (i % 5) as f64 / 5.0).collect();
        let two: Vec<f64> = (0..n).map(|i| (i % 3) as f64 / 3.0).collect();
        for name in ["a.csv", "a.tsv", "a.csv.gz", "a.npy", "a.parquet"] {
            let whole = folder.path().join(name);
            let blocks = folder.path().join(format!("blocks-{name}"));
            let numbers: [LabelNumbers<'_>; 2] = [("agreement", &one), ("probability", &two)];
            write_labels(&whole, None, &labels, &numbers).unwrap();
            let push = |out: &mut LabelBlocks<'_>, first: usize| {
                let rows = first..n.min(first + 65_536);
                let numbers = [&one[rows.clone()], &two[rows.clone()]];
                out.push(first as u64, &labels[rows], &numbers)
            };
            let fill = |out: &mut LabelBlocks<'_>| {
                (0..n)
                    .step_by(65_536)
                    .try_for_each(|first| push(out, first))
            };
            write_label_blocks(&blocks, n as u64, &["agreement", "probability"], fill).unwrap();
            let same = fs::read(whole).unwrap() == fs::read(blocks).unwrap();
            assert!(same, "{name}");
        }
        let refused = write_label_blocks(&folder.path().join("a.json"), 1, &[], |_| Ok(()));
        let refused = refused.unwrap_err().to_string();
        assert_says(&refused, &["a.json"]);
        assert_says(&refused, &[".npy or .parquet"]);
    }
}
