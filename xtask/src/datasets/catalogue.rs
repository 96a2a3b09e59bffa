//! `crates/input/files/catalogue.csv`, and checksums as it writes them.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// The most bytes that a file may unpack to: a few times the largest set.
const LARGEST: u64 = 1 << 30;

/// One line of the catalogue, as far as it is read here.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Set {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) rows: u64,
    pub(super) features: u64,
    pub(super) classes: u64,
    pub(super) kind: String,
    /// Of the CSV, uncompressed, in hexadecimal digits.
    pub(super) sha256: String,
    pub(super) shipped: String,
}

impl Set {
    /// Whether it lies in `datasets/`.
    pub(super) fn is_shipped(&self) -> bool {
        self.shipped == "yes"
    }

    /// Whether its file is compressed.
    pub(super) fn is_packed(&self) -> bool {
        is_packed(Path::new(&self.file))
    }
}

/// All sets, in the order of the file.
pub(super) fn read(path: &Path) -> Result<Vec<Set>> {
    let mut reader =
        csv::Reader::from_path(path).with_context(|| format!("cannot read {}", path.display()))?;
    let sets: Vec<Set> = reader
        .deserialize()
        .collect::<Result<_, _>>()
        .with_context(|| format!("in {}", path.display()))?;
    for set in &sets {
        let plain =
            !set.file.is_empty() && !set.file.starts_with('.') && !set.file.contains(['/', '\\']);
        ensure!(
            plain,
            "in {}: '{}' is not a plain file name",
            path.display(),
            set.file
        );
    }
    Ok(sets)
}

/// SHA-256 of a file, unpacked if its name ends in `.gz`, in hexadecimal digits.
pub(super) fn checksum(path: &Path) -> Result<String> {
    checksum_of(path, is_packed(path))
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

/// As [`checksum`], for a file whose name does not say whether it is packed.
pub(super) fn checksum_of(path: &Path, packed: bool) -> Result<String> {
    let file = BufReader::new(
        File::open(path).with_context(|| format!("cannot open {}", path.display()))?,
    );
    let content: Box<dyn Read> = if packed {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut sum = Sum(Sha256::new());
    let bytes = io::copy(&mut content.take(LARGEST + 1), &mut sum);
    let bytes = bytes.with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(
        bytes <= LARGEST,
        "{} holds more than {LARGEST} bytes; it is not a data set of the catalogue",
        path.display()
    );
    Ok(sum
        .0
        .finalize()
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(digit)
        .collect())
}

/// A hexadecimal digit.
fn digit(value: u8) -> char {
    char::from_digit(u32::from(value), 16).expect("half a byte is below 16")
}

/// A hash that is written to.
struct Sum(Sha256);

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn packed_and_plain_have_one_checksum() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, packed) = (folder.path().join("a.csv"), folder.path().join("a.csv.gz"));
        fs::write(&plain, "abc").unwrap();
        let mut encoder = flate2::write::GzEncoder::new(
            File::create(&packed).unwrap(),
            flate2::Compression::fast(),
        );
        encoder.write_all(b"abc").unwrap();
        encoder.finish().unwrap();
        // FIPS 180-2, appendix B.1.
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(checksum(&plain).unwrap(), known);
        assert_eq!(checksum(&packed).unwrap(), known);
    }

    #[test]
    fn a_file_name_that_leaves_the_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalogue.csv");
        fs::write(
            &path,
            "name,file,rows,features,classes,kind,sha256,shipped\na,../a.csv,1,1,1,numbers,00,no\n",
        )
        .unwrap();
        assert!(
            read(&path)
                .unwrap_err()
                .to_string()
                .ends_with("'../a.csv' is not a plain file name")
        );
    }
}
