//! Soft partitions.

use std::path::Path;

use partita_core::ndarray::ArrayView2;
use partita_core::{PartitionError, SoftPartition};

use super::labels::GAP;
use super::read_options::ReadOptions;
use super::table::read_table;
use crate::atomic_write::{text_delimiter, write_text};
use crate::error::FileError;
use crate::number::Short;
use crate::text_lines::TextLines;

/// Writes `object,p0,p1,…`, one line an object; NaN is a gap. Objects without names are numbered from 0. Numbers read back to the
/// same bits.
///
/// # Errors
/// [`FileError`] for what cannot be written.
///
/// # Panics
/// If there is not one name an object.
pub fn write_soft(
    path: &Path,
    object_names: Option<&[String]>,
    soft: ArrayView2<'_, f64>,
) -> Result<(), FileError> {
    assert!(
        object_names.is_none_or(|names| names.len() == soft.nrows()),
        "one name an object"
    );
    write_text(path, |out| {
        let mut lines = TextLines::new(text_delimiter(path));
        lines.text("object");
        (0..soft.ncols()).for_each(|cluster| lines.text(&format!("p{cluster}")));
        lines.end();
        for (object, row) in soft.outer_iter().enumerate() {
            match object_names {
                Some(names) => lines.text(&names[object]),
                None => lines.integer(object),
            }
            row.iter().for_each(|&p| lines.number_or(p, GAP));
            lines.end();
            lines.pass(out)?;
        }
        lines.finish(out)
    })
}

/// Reads a soft partition from a table of probabilities, and the names of its objects. A column called `label` is left
/// out.
///
/// # Errors
/// [`FileError`]; [`FileError::Content`] for the first row that is not on the simplex.
pub fn read_soft(path: &Path) -> Result<(Option<Vec<String>>, SoftPartition), FileError> {
    let table = read_table(
        path,
        &ReadOptions {
            clusterable: false,
            ..ReadOptions::default()
        },
    )?;
    let soft = SoftPartition::new(table.values).map_err(|error| match error {
        PartitionError::OffSimplex { row, smallest, sum } => {
            let reason = format!(
                ", row {}: the numbers sum to {} and the smallest is {}; each row must hold probabilities that sum to 1",
                row + 1,
                Short(sum),
                Short(smallest)
            );
            FileError::content(path, reason)
        }
        other => FileError::damaged(path, other.to_string()),
    })?;
    Ok((table.object_names, soft))
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::array;

    #[test]
    fn probabilities_read_back_to_the_same_bits() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.csv", "a.csv.gz"] {
            let path = folder.path().join(name);
            let soft = SoftPartition::new(array![[0.25, 0.75], [1.0 / 3.0, 2.0 / 3.0], [0.0, 1.0]])
                .unwrap();
            write_soft(&path, None, soft.rows()).unwrap();
            let (names, again) = read_soft(&path).unwrap();
            assert_eq!(again, soft);
            assert_eq!(names.unwrap(), ["0", "1", "2"]);
        }
    }

    #[test]
    fn rows_off_the_simplex_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "object,p0,p1\na,0.5,0.5\nb,0.5,0.6\n").unwrap();
        let message = read_soft(&path).unwrap_err().to_string();
        assert!(
            message.contains("a.csv, row 2: ") && message.ends_with("probabilities that sum to 1"),
            "{message}"
        );
    }
}
