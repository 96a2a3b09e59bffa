//! A format that exists in tests only: one file with a reader and one line in a table of formats are all it takes.

use std::path::Path;

use super::description::{Format, OpenOptions, Writes, write_nothing};
use super::endings;
use super::reader::{Column, Extent, Form, Items, Layout, Limit, Reader};
use crate::error::{FileError, Result};
use crate::typed_array::{TypedArray, Values};

/// Columns of numbers from 0 to 9: the first line has their names, each further line the digits of one column.
const FORMAT: Format = Format {
    name: "toy",
    endings: &[".toy"],
    packed: false,
    magic: &[],
    grouped: false,
    open,
    writes: Writes::Nothing,
    write: write_nothing,
};

static WITH_TOY: &[Format] = &[super::csv::FORMAT, FORMAT];

struct Toy {
    items: Items,
    columns: Vec<Vec<u8>>,
}

fn open(path: &Path, _options: &OpenOptions) -> Result<Box<dyn Reader>> {
    let text = std::fs::read_to_string(path).map_err(FileError::reading(path))?;
    let mut lines = text.lines();
    let names = lines
        .next()
        .unwrap_or_default()
        .split(' ')
        .map(str::to_owned)
        .collect();
    let columns = lines
        .map(|line| line.bytes().map(|digit| digit - b'0').collect())
        .collect();
    Ok(Box::new(Toy {
        items: Items::new(path, Layout::Columns, names),
        columns,
    }))
}

impl Reader for Toy {
    fn items(&self) -> &Items {
        &self.items
    }

    fn extent(&self, item: usize) -> Result<Extent> {
        Ok(Extent::of_column(Some(vec![self.columns[item].len()])))
    }

    fn read_one(&self, _group: usize, item: usize, _form: Form, _limit: &Limit) -> Result<Column> {
        let values = self.columns[item].clone();
        let rows = values.len();
        Ok(Column::Array(TypedArray::column(
            Values::U8(values),
            rows,
            None,
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::read_options::ReadOptions;
    use crate::meaning::{ensemble, label_file, table};
    use partita_core::ndarray::array;

    #[test]
    fn a_new_format_is_a_table_an_ensemble_and_labels() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toy");
        std::fs::write(&path, "id x y label\n123\n005\n131\n001\n").unwrap();

        let (found, roles) = table::load(WITH_TOY, &path, &ReadOptions::default()).unwrap();
        assert_eq!(found.values, array![[0.0, 1.0], [0.0, 3.0], [5.0, 1.0]]);
        assert_eq!(found.object_names.unwrap(), ["1", "2", "3"]);
        assert_eq!(
            roles.to_string(),
            "names from 'id' (by its name); truth 'label' (by its name; --no-truth makes it data)"
        );

        let (found, same) = ensemble::load(WITH_TOY, &path, &ReadOptions::default()).unwrap();
        assert_eq!(found.ensemble.bases()[1].values(), ["1", "3"]);
        assert_eq!((found.ensemble.label(1, 1), same), (Some(1), roles));

        let (found, _) = label_file::load(WITH_TOY, &path, &ReadOptions::default()).unwrap();
        assert_eq!(
            found.column.values,
            ["0", "0", "1"].map(|label| Some(label.to_owned()))
        );

        let other = folder.path().join("a.doc");
        std::fs::write(&other, "x").unwrap();
        let message = table::load(WITH_TOY, &other, &ReadOptions::default())
            .unwrap_err()
            .to_string();
        assert!(
            message
                .ends_with("the name must end in .csv, .tsv, .txt, .tab, .dat, .data, .gct, .asc (also with .gz or .zst) or .toy"),
            "{message}"
        );
        assert_eq!(
            endings(WITH_TOY, |writes| writes != Writes::Nothing),
            ".csv, .tsv, .txt, .tab, .dat, .data, .gct or .asc (also with .gz or .zst)"
        );
    }
}
