//! Matrices as text (Matrix Market, `.mtx`): a head, the size, and a line a value that is there.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use sprs::TriMat;

use super::reader::Limit;
use crate::error::{Cell, FileError, Result, Row, WrongValue};
use crate::open_file::{Compression, has_ending, lower_name, open};

/// Whether a file is called like one.
pub(crate) fn fits(path: &Path) -> bool {
    has_ending(Compression::plain_name(&lower_name(path)), "mtx")
}

/// What the head says of the lines.
struct Head {
    /// Whether every value has a line, column by column, instead of a line with its place.
    dense: bool,
    /// Whether places have no value, which is then 1.
    pattern: bool,
    /// The factor of the value in the mirrored place; none where all places are there.
    mirrored: Option<f64>,
}

fn head(path: &Path, line: &str) -> Result<Head> {
    let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [
        "%%matrixmarket",
        "matrix",
        layout @ ("coordinate" | "array"),
        kind @ ("real" | "double" | "integer" | "pattern"),
        symmetry @ ("general" | "symmetric" | "skew-symmetric"),
    ] = words[..]
    else {
        let reason = "its first line is not that of a matrix of real numbers (%%MatrixMarket matrix coordinate real general); write it again";
        return Err(FileError::damaged(path, reason));
    };
    Ok(Head {
        dense: layout == "array",
        pattern: kind == "pattern",
        mirrored: match symmetry {
            "symmetric" => Some(1.0),
            "skew-symmetric" => Some(-1.0),
            _ => None,
        },
    })
}

/// The numbers of a matrix, in no order; places that come twice are to be added.
///
/// # Errors
/// [`FileError`] for what is not such a matrix, a value that is not finite, or one outside of it.
pub(crate) fn read(path: &Path, limit: &Limit) -> Result<TriMat<f64>> {
    let (file, _) = open(path)?;
    let bytes = Compression::of(path)
        .unpack(file)
        .map_err(FileError::reading(path))?;
    let mut lines = (1_u64..).zip(BufReader::with_capacity(1 << 16, bytes).lines());
    let mut next = || -> Result<Option<(u64, String)>> {
        for (at, line) in lines.by_ref() {
            let line = line.map_err(FileError::reading(path))?;
            if at == 1 || !(line.trim().is_empty() || line.starts_with('%')) {
                return Ok(Some((at, line)));
            }
        }
        Ok(None)
    };
    let (_, first) = next()?.ok_or_else(|| FileError::empty(path))?;
    let head = head(path, &first)?;
    let (at, sizes) = next()?.ok_or_else(|| FileError::empty(path))?;
    let sizes: Vec<Option<usize>> = sizes
        .split_whitespace()
        .map(|size| size.parse().ok())
        .collect();
    let (rows, columns, stored) = match sizes[..] {
        [Some(rows), Some(columns)] if head.dense => (rows, columns, rows.saturating_mul(columns)),
        [Some(rows), Some(columns), Some(stored)] => (rows, columns, stored),
        _ => {
            let reason = format!("line {at} does not say the size of the matrix; write it again");
            return Err(FileError::damaged(path, reason));
        }
    };
    // Places and value while it is read, and once more in rows; where each row or column begins.
    let lines = (rows as u64).saturating_add(columns as u64);
    let bytes = (stored as u64).saturating_mul(40);
    limit.check(path, bytes.saturating_add(lines.saturating_mul(16)))?;
    let mut matrix = TriMat::new((rows, columns));
    let mut read = 0;
    let (mut row, mut column) = (0, 0);
    while let Some((at, line)) = next()? {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let value = if head.dense {
            fields.first()
        } else {
            let place = |at: usize| fields.get(at)?.parse::<usize>().ok()?.checked_sub(1);
            (row, column) = (
                place(0).unwrap_or(usize::MAX),
                place(1).unwrap_or(usize::MAX),
            );
            if head.pattern {
                Some(&"1")
            } else {
                fields.get(2)
            }
        };
        if row >= rows || column >= columns {
            let reason =
                format!("line {at}: '{line}' is no place of a matrix of {rows} × {columns}");
            return Err(FileError::damaged(path, reason));
        }
        let value = value.unwrap_or(&"");
        let cell = || Cell::new(path, Row::Line(at), "value", *value);
        let number: f64 = value.parse().map_err(|_| FileError::not_a_number(cell()))?;
        if !number.is_finite() {
            return Err(FileError::value(cell(), WrongValue::NotFinite));
        }
        if number != 0.0 {
            matrix.add_triplet(row, column, number);
            if let Some(factor) = head.mirrored.filter(|_| row != column) {
                matrix.add_triplet(column, row, factor * number);
            }
        }
        read += 1;
        if head.dense {
            row += 1;
            if row == rows {
                // The lower triangle alone where the upper one mirrors it.
                column += 1;
                row = if head.mirrored.is_some() { column } else { 0 };
            }
        }
    }
    let whole = if head.dense {
        column == columns
    } else {
        read == stored
    };
    if !whole {
        let reason =
            format!("it claims {stored} values and holds {read}; it is cut off, copy it again");
        return Err(FileError::damaged(path, reason));
    }
    Ok(matrix)
}

/// The words at the beginning of the lines of a file beside a matrix, which is called like one of these; of a list of genes, the column of
/// their names.
pub(crate) fn names_beside(path: &Path, called: &[&str]) -> Option<(PathBuf, Vec<String>)> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or_else(|| Path::new("."))).ok()?;
    let name = lower_name(path);
    // `GSM1_matrix.mtx.gz` goes with `GSM1_barcodes.tsv.gz`.
    let prefix = Compression::plain_name(&name)
        .trim_end_matches(".mtx")
        .trim_end_matches("matrix")
        .to_owned();
    let fits = |file: &PathBuf| {
        let name = lower_name(file);
        let plain = Compression::plain_name(&name);
        let own = plain.strip_prefix(prefix.as_str()).unwrap_or(plain);
        called
            .iter()
            .any(|called| own.trim_start_matches(['_', '-', '.']) == *called)
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(fits)
        .collect();
    files.sort();
    let file = files.into_iter().next()?;
    let bytes = Compression::of(&file).unpack(open(&file).ok()?.0).ok()?;
    let lines = BufReader::new(bytes).lines();
    let word =
        |line: std::io::Result<String>| Some(line.ok()?.split('\t').next()?.trim().to_owned());
    let names: Option<Vec<String>> = lines.map(word).collect();
    Some((file, names?))
}
