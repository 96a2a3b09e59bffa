//! Labels written block by block, for results that are never held whole.

use std::io::{self, Write};
use std::path::Path;

#[cfg(feature = "parquet")]
use super::label_column::LabelNumbers;
use super::label_format::LabelFormat;
#[cfg(feature = "parquet")]
use super::label_format::label_columns;
use super::labels::{label_heading, label_lines};
use crate::atomic_write::{text_delimiter, write_text, write_whole};
use crate::error::FileError;
use crate::format::npy_header::write_header;
#[cfg(feature = "parquet")]
use crate::format::parquet_write::{GROUP_ROWS, GroupWriter};

/// Writes the labels of `rows` objects, and a column for each of `numbers`, as `fill` hands them over: the bytes of
/// [`write_labels`](crate::write_labels) of the same labels for objects without names. The heading of text stands above object 0,
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
        _ => Err(FileError::Extension {
            path: path.into(),
            known: ".csv, .tsv, .txt, .npy or .parquet".into(),
        }),
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
        let heading = label_heading(delimiter, numbers.iter().copied());
        Self(Kind::Text {
            out,
            delimiter,
            heading,
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
                label_lines(out, *delimiter, first, labels, numbers)
            }
            Kind::Array(out) => labels
                .iter()
                .try_for_each(|&label| out.write_all(&i64::from(label).to_le_bytes())),
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
        let none: Vec<LabelNumbers<'_>> =
            numbers.iter().map(|&name| (name, [].as_slice())).collect();
        let file = GroupWriter::new(out, &label_columns(0, &[], &none), Vec::new())?;
        let numbers = numbers
            .iter()
            .map(|&name| (name.to_owned(), Vec::new()))
            .collect();
        Ok(Self {
            file,
            written: false,
            first: 0,
            labels: Vec::new(),
            numbers,
        })
    }

    fn push(&mut self, first: u64, labels: &[u32], numbers: &[&[f64]]) -> io::Result<()> {
        assert!(
            numbers.len() == self.numbers.len(),
            "one of all numbers an object"
        );
        assert!(
            numbers.iter().all(|values| values.len() == labels.len()),
            "one of all numbers an object"
        );
        if self.labels.is_empty() {
            self.first = first;
        }
        self.labels.extend_from_slice(labels);
        self.numbers
            .iter_mut()
            .zip(numbers)
            .for_each(|((_, held), values)| held.extend_from_slice(values));
        while self.labels.len() >= GROUP_ROWS {
            self.group(GROUP_ROWS)?;
        }
        Ok(())
    }

    /// Writes the first rows that are held.
    fn group(&mut self, rows: usize) -> io::Result<()> {
        let numbers: Vec<LabelNumbers<'_>> = self
            .numbers
            .iter()
            .map(|(name, values)| (name.as_str(), &values[..rows]))
            .collect();
        self.file.group(&mut label_columns(
            self.first,
            &self.labels[..rows],
            &numbers,
        ))?;
        self.labels.drain(..rows);
        self.numbers
            .iter_mut()
            .for_each(|(_, values)| drop(values.drain(..rows)));
        (self.first, self.written) = (self.first + rows as u64, true);
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        if !self.labels.is_empty() || !self.written {
            self.group(self.labels.len())?;
        }
        Ok(self.file.close()?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use partita_core::Partition;

    use super::*;
    use crate::write_labels;

    #[test]
    fn blocks_give_the_bytes_of_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        // Beyond one group of Parquet, in blocks that do not divide it.
        let n = (1 << 20) + 70_001;
        let labels: Vec<u32> = (0..n).map(|i| (i % 7) as u32).collect();
        let (one, two): (Vec<f64>, Vec<f64>) = (0..n)
            .map(|i| ((i % 5) as f64 / 5.0, (i % 3) as f64 / 3.0))
            .unzip();
        let partition = Partition::new(labels.clone(), 7).unwrap();
        for name in ["a.csv", "a.tsv", "a.csv.gz", "a.npy", "a.parquet"] {
            let (whole, blocks) = (
                folder.path().join(name),
                folder.path().join(format!("blocks-{name}")),
            );
            write_labels(
                &whole,
                None,
                &partition,
                &[("certainty", &one), ("confidence", &two)],
            )
            .unwrap();
            write_label_blocks(&blocks, n as u64, &["certainty", "confidence"], |out| {
                (0..n).step_by(65_536).try_for_each(|first| {
                    let rows = first..n.min(first + 65_536);
                    out.push(
                        first as u64,
                        &labels[rows.clone()],
                        &[&one[rows.clone()], &two[rows]],
                    )
                })
            })
            .unwrap();
            assert!(
                fs::read(whole).unwrap() == fs::read(blocks).unwrap(),
                "{name}"
            );
        }
        let refused = write_label_blocks(&folder.path().join("a.json"), 1, &[], |_| Ok(()))
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("a.json") && refused.contains(".npy or .parquet"),
            "{refused}"
        );
    }
}
