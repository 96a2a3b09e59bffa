//! Sparse tables of numbers, such as the words of documents or the counts of cells: NPZ of `scipy.sparse.save_npz` in any of its layouts,
//! Matrix Market.

use std::path::{Path, PathBuf};

use partita_core::option;
use sprs::{CsMat, TriMat};

use super::frame::label_array;
use super::label_column::LabelColumn;
use super::read_options::{ReadOptions, Truth};
use super::roles::{ColumnRole, Reason, Role, Roles};
use super::table::name_arrays;
use crate::error::{Cell, FileError, Result, Row, WrongValue};
use crate::format::description::{Format, OpenOptions, Writes};
use crate::format::reader::{COLUMNS, Column, Form, Limit, OBJECTS, Reader, first_of};
use crate::format::sparse::{
    layout_word, limit, needed, numbers, place_arrays, read_places, shape,
};
use crate::format::writer::{Array, Contents};
use crate::format::{self, FORMATS, matrix_market};
use crate::open_file::lower_name;
use crate::typed_array::{Scalar, TypedArray};
use crate::words::{CLASS_ARRAYS, MissingCounts, MissingWords};

/// As [`Table`](crate::Table), with only the numbers that are not 0.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseTable {
    /// Names of the features, d of them.
    pub columns: Vec<String>,
    /// The numbers in compressed rows, n × d, all finite.
    pub values: CsMat<f64>,
    /// What the objects are called, n names.
    pub object_names: Option<Vec<String>>,
    /// The classes, where the file has them.
    pub label: Option<LabelColumn>,
    /// What looks as if it were meant otherwise, and what settles it.
    pub remarks: Vec<String>,
}

impl SparseTable {
    /// Which arrays hold the names of the objects and the classes.
    pub fn roles(&self) -> Roles {
        let truth = self.label.as_ref().map(|label| {
            let asked = label.name != LABEL;
            let reason = if asked { Reason::Asked } else { Reason::Name };
            ColumnRole::new(label.name.as_str(), Role::Truth, reason)
        });
        let names = self
            .object_names
            .as_ref()
            .map(|_| ColumnRole::new("object", Role::Objects, Reason::Name));
        let arrays = names.into_iter().chain(truth).collect();
        Roles {
            arrays,
            objects: self.values.rows() as u64,
            warnings: self.remarks.clone(),
            ..Roles::default()
        }
    }
}

/// Whether the matrix of a file that these options name is sparse, by what it is called and what is in it.
pub fn is_sparse_table(path: &Path, options: &ReadOptions) -> bool {
    let is_archive = |format: &Format| format.endings.iter().any(|own| ARCHIVES.contains(own));
    let is_sparse = |archive: Box<dyn Reader>| {
        layout_word(&*archive).is_ok_and(|word| word.is_some_and(|word| LAYOUTS.contains(&&*word)))
            || first_of(&*archive, &["indptr"]).is_some()
    };
    matrix_market::fits(path)
        || format::of(FORMATS, path).is_ok_and(is_archive)
            && open_archive(path, options).is_ok_and(is_sparse)
}

/// The endings of files with arrays that may be those of a sparse matrix.
const ARCHIVES: [&str; 2] = [".npz", ".h5ad"];

fn open_archive(path: &Path, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    // The matrix is turned, not its arrays.
    let options = OpenOptions {
        transpose: false,
        ..options.open_options()
    };
    format::open_reader(FORMATS, path, &options)
}

/// What the classes are called.
const LABEL: &str = "label";

/// The layouts of SciPy that files have.
const LAYOUTS: [&str; 5] = ["csr", "csc", "coo", "dia", "bsr"];

/// Bytes of the name of a column that is called by its position, at most: the string and what it points to.
const NAME_BYTES: u64 = 48;

/// Writes a sparse table that `scipy.sparse.load_npz` reads, names and classes beside it. The same table gives the same
/// bytes.
///
/// # Errors
/// [`FileError`] for what the system refuses, and for a name that does not end in `.npz`.
///
/// # Panics
/// If names, numbers and labels differ in length.
pub fn write_sparse_table(path: &Path, table: &SparseTable) -> Result<(), FileError> {
    let SparseTable {
        columns,
        values,
        object_names,
        label,
        ..
    } = table;
    let (n, d) = values.shape();
    assert_eq!(columns.len(), d, "one name a column");
    assert!(
        object_names.as_ref().is_none_or(|names| names.len() == n),
        "one name an object"
    );
    assert!(
        label.as_ref().is_none_or(|label| label.values.len() == n),
        "one label an object"
    );
    let format = format::of_target(path, |writes| writes == Writes::Arrays)?;
    let starts = values.proper_indptr();
    let places = values.indices().iter().map(|&column| column as u32);
    let mut arrays = place_arrays((n, d), &starts, values.nnz(), places);
    arrays.push((
        "data",
        Array::floats([values.nnz()], values.data().iter().copied()),
    ));
    arrays.extend(name_arrays(
        columns,
        object_names.as_deref(),
        label.as_ref(),
    ));
    (format.write)(path, Contents::Arrays(arrays))
}

/// Reads a sparse table: what [`write_sparse_table`] or `scipy.sparse.save_npz` wrote in any layout, or Matrix Market. Values in one place
/// are added. Without names, columns are called 1, 2, ….
///
/// # Errors
/// [`FileError`] when the file is not a sparse matrix, a number is not finite, or it does not fit the budget.
pub fn read_sparse_table(path: &Path, options: &ReadOptions) -> Result<SparseTable, FileError> {
    let limit = limit(options.budget);
    let mut table = if matrix_market::fits(path) {
        of_matrix_market(path, options, &limit)?
    } else {
        of_archive(&*open_archive(path, options)?, options, &limit)?
    };
    let (n, d) = table.values.shape();
    if n == 0 || d == 0 {
        let reason = format!("it is a matrix of {n} × {d}; nothing is in it");
        return Err(FileError::damaged(path, reason));
    }
    if table.columns.len() != d {
        // A name a column, which the file need not have any bytes for.
        limit.check(path, (d as u64).saturating_mul(NAME_BYTES))?;
        table.columns = (1..=d).map(|position| position.to_string()).collect();
    }
    table.object_names = table.object_names.filter(|names| names.len() == n);
    if let (Some(name), None) = (options.truth.column(), &table.label) {
        return Err(FileError::no_array(path, name, &[]));
    }
    Ok(table)
}

/// Columns are objects, where somebody says so or files beside the matrix do: genes × cells, as Cell Ranger writes them.
fn of_matrix_market(path: &Path, options: &ReadOptions, limit: &Limit) -> Result<SparseTable> {
    let matrix = matrix_market::read(path, limit)?;
    let (rows, columns) = (matrix.rows(), matrix.cols());
    let of_length = |called: &[&str], length: usize| {
        matrix_market::names_beside(path, called).filter(|(_, names)| names.len() == length)
    };
    let cells = |length: usize| of_length(&["barcodes.tsv", "cells.tsv", "colnames.txt"], length);
    let genes = |length: usize| of_length(&["features.tsv", "genes.tsv", "rownames.txt"], length);
    let turned = options.transpose || (cells(columns).is_some() && cells(rows).is_none());
    let values = if turned {
        matrix.transpose_view().to_csr()
    } else {
        matrix.to_csr()
    };
    let (n, d) = values.shape();
    let remark = match cells(n) {
        Some((file, _)) if turned && !options.transpose => format!(
            "genes × cells: its {n} columns are the objects, named by {}",
            lower_name(&file)
        ),
        None if !turned && rows != columns => format!(
            "its {rows} rows are taken for objects; {} takes its {columns} columns, as in genes × cells",
            option("transpose").on()
        ),
        _ => String::new(),
    };
    let names = |found: Option<(PathBuf, Vec<String>)>| found.map(|(_, names)| names);
    Ok(SparseTable {
        columns: names(genes(d)).unwrap_or_default(),
        values,
        object_names: names(cells(n)),
        label: None,
        remarks: Some(remark)
            .filter(|remark| !remark.is_empty())
            .into_iter()
            .collect(),
    })
}

fn of_archive(archive: &dyn Reader, options: &ReadOptions, limit: &Limit) -> Result<SparseTable> {
    let mut values = matrix(archive, limit)?;
    if options.transpose {
        values = values.transpose_into().to_csr();
    }
    let n = values.rows();
    let texts = |name| match first_of(archive, &[name]) {
        Some(item) => Ok(Some(
            archive.read_whole(item, Form::Text, limit)?.into_texts(),
        )),
        None => Ok(None),
    };
    let label = match class_array(archive, options)? {
        Some(item) => {
            let missing = MissingWords::default();
            let mut counts = MissingCounts::new();
            let values = label_array(archive, item, Some(n as u64), &missing, &mut counts, limit)?;
            let name = options.truth.column().unwrap_or(LABEL).into();
            Some(LabelColumn { name, values })
        }
        None => None,
    };
    Ok(SparseTable {
        columns: texts(COLUMNS)?.unwrap_or_default(),
        values,
        object_names: texts(OBJECTS)?,
        label,
        remarks: archive.items().remarks.clone(),
    })
}

/// The array with the classes: the one that is asked for, else one that is called so.
fn class_array(archive: &dyn Reader, options: &ReadOptions) -> Result<Option<usize>> {
    match &options.truth {
        Truth::None => Ok(None),
        Truth::Column(name) if name != LABEL => match first_of(archive, &[name]) {
            Some(item) => Ok(Some(item)),
            None => Err(FileError::no_array(archive.path(), name, archive.names())),
        },
        _ => Ok(first_of(archive, CLASS_ARRAYS)),
    }
}

/// The matrix of an archive of SciPy in compressed rows.
fn matrix(archive: &dyn Reader, limit: &Limit) -> Result<CsMat<f64>> {
    let path = archive.path();
    let word = layout_word(archive)?.unwrap_or_else(|| "csr".into());
    let (n, d) = shape(archive, limit)?;
    match &*word {
        "csr" => compressed(archive, (n, d), limit),
        "csc" => Ok(compressed(archive, (d, n), limit)?
            .transpose_into()
            .to_csr()),
        "coo" => {
            let places = |name| numbers::<usize>(archive, name, &needed(archive, name, limit)?);
            if stored_nothing(archive, "data") {
                return Ok(CsMat::zero((n, d)));
            }
            let data = finite(path, &needed(archive, "data", limit)?)?;
            added(path, (n, d), [places("row")?, places("col")?], data)
        }
        "dia" => diagonals(archive, (n, d), limit),
        "bsr" => blocks(archive, (n, d), limit),
        other => Err(FileError::kind(
            path,
            "the sparse matrix",
            format!("in the layout '{other}'"),
            "one of csr, csc, coo, dia and bsr",
        )),
    }
}

/// Whether an array is there and has no value, which no reader of arrays takes.
fn stored_nothing(archive: &dyn Reader, name: &str) -> bool {
    first_of(archive, &[name]).is_some_and(|item| archive.extent(item).is_err())
}

/// A matrix in compressed rows, sorted, with what comes twice in a place added.
fn compressed(archive: &dyn Reader, shape: (usize, usize), limit: &Limit) -> Result<CsMat<f64>> {
    let path = archive.path();
    let places = read_places(archive, shape, limit)?;
    let data = match places.array(archive, "data", limit)? {
        Some(array) => finite(path, &array)?,
        None => Vec::new(),
    };
    places.check(path, data.len())?;
    let columns: Vec<usize> = places
        .columns
        .iter()
        .map(|&column| column as usize)
        .collect();
    CsMat::new_from_unsorted(shape, places.starts, columns, data).or_else(
        |(starts, columns, data, _)| {
            let lengths = starts.windows(2).map(|pair| pair[1] - pair[0]);
            let rows = lengths
                .enumerate()
                .flat_map(|(row, length)| std::iter::repeat_n(row, length));
            added(path, shape, [rows.collect(), columns], data)
        },
    )
}

/// The matrix of values in any order, those in one place added.
fn added(
    path: &Path,
    (n, d): (usize, usize),
    [rows, columns]: [Vec<usize>; 2],
    data: Vec<f64>,
) -> Result<CsMat<f64>> {
    if rows.len() != data.len() || columns.len() != data.len() {
        let reason = "its arrays do not fit together; write it again with save_npz";
        return Err(FileError::damaged(path, reason));
    }
    let mut places = rows.iter().zip(&columns);
    if let Some((row, column)) = places.find(|&(&row, &column)| row >= n || column >= d) {
        let reason = format!("a value stands in row {row}, column {column} of {n} × {d}");
        return Err(FileError::damaged(path, reason));
    }
    Ok(TriMat::from_triplets((n, d), rows, columns, data).to_csr())
}

/// Diagonals: `data[t, j]` stands in row j − `offsets[t]`, column j.
fn diagonals(archive: &dyn Reader, (n, d): (usize, usize), limit: &Limit) -> Result<CsMat<f64>> {
    let path = archive.path();
    if stored_nothing(archive, "data") {
        return Ok(CsMat::zero((n, d)));
    }
    let offsets = needed(archive, "offsets", limit)?;
    let data = needed(archive, "data", limit)?;
    let mut places = [Vec::new(), Vec::new()];
    let mut values = Vec::new();
    for diagonal in 0..data.rows.min(offsets.rows) {
        let offset = offsets.scalar(diagonal, 0).map_or(0.0, Scalar::float) as i64;
        for column in 0..data.columns.min(d) {
            let row = (column as i64)
                .checked_sub(offset)
                .and_then(|row| usize::try_from(row).ok());
            let value = data
                .scalar(diagonal, column)
                .map_or(f64::NAN, Scalar::float);
            if let Some(row) = row.filter(|&row| row < n && value != 0.0) {
                places[0].push(row);
                places[1].push(column);
                values.push(value);
            }
        }
    }
    check_finite(path, &values)?;
    added(path, (n, d), places, values)
}

/// Dense blocks in compressed rows of blocks.
fn blocks(archive: &dyn Reader, (n, d): (usize, usize), limit: &Limit) -> Result<CsMat<f64>> {
    let path = archive.path();
    let unfit = || {
        FileError::damaged(
            path,
            "its arrays do not fit together; write it again with save_npz",
        )
    };
    if stored_nothing(archive, "indices") {
        return Ok(CsMat::zero((n, d)));
    }
    let starts: Vec<usize> = numbers(archive, "indptr", &needed(archive, "indptr", limit)?)?;
    let columns: Vec<usize> = numbers(archive, "indices", &needed(archive, "indices", limit)?)?;
    let item = first_of(archive, &["data"]).ok_or_else(unfit)?;
    let Column::Array(data) = archive.flat(item, limit)? else {
        return Err(unfit());
    };
    let rows_of_blocks = starts.len().saturating_sub(1).max(1);
    let height = n / rows_of_blocks;
    let area = data.rows / columns.len().max(1);
    let width = area / height.max(1);
    if !starts.is_sorted()
        || starts.last() != Some(&columns.len())
        || width * height * columns.len() != data.rows
    {
        return Err(unfit());
    }
    let mut places = [Vec::new(), Vec::new()];
    let mut values = Vec::new();
    for (block_row, pair) in starts.windows(2).enumerate() {
        for block in pair[0]..pair[1] {
            for within in 0..area {
                let value = data
                    .scalar(block * area + within, 0)
                    .map_or(f64::NAN, Scalar::float);
                if value != 0.0 {
                    places[0].push(block_row * height + within / width);
                    places[1].push(
                        columns[block]
                            .saturating_mul(width)
                            .saturating_add(within % width),
                    );
                    values.push(value);
                }
            }
        }
    }
    check_finite(path, &values)?;
    added(path, (n, d), places, values)
}

fn check_finite(path: &Path, values: &[f64]) -> Result<()> {
    let wrong = values.iter().position(|value| !value.is_finite());
    wrong.map_or(Ok(()), |row| {
        let cell = Cell::new(
            path,
            Row::Row(row as u64 + 1),
            "data",
            values[row].to_string(),
        );
        Err(FileError::value(cell, WrongValue::NotFinite))
    })
}

/// The values of an array of numbers, all finite.
fn finite(path: &Path, array: &TypedArray) -> Result<Vec<f64>> {
    if array.is_text() {
        return Err(FileError::kind(
            path,
            "array 'data'",
            "an array of texts",
            "an array of numbers",
        ));
    }
    let value = |row: usize| match array.scalar(row, 0).map(Scalar::float) {
        Some(value) if value.is_finite() => Ok(value),
        _ => {
            let cell = Cell::new(path, Row::Row(row as u64 + 1), "data", array.text(row, 0));
            Err(FileError::value(cell, WrongValue::NotFinite))
        }
    };
    (0..array.rows).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_says, file, stored};
    use partita_core::MemoryBudget;
    use partita_core::ndarray::array;

    fn matrix(columns: usize) -> CsMat<f64> {
        let data = vec![0.5, -1e-300, 3.0, 7.25];
        CsMat::new((4, columns), vec![0, 2, 2, 3, 4], vec![0, 2, 1, 0], data)
    }

    fn table() -> SparseTable {
        SparseTable {
            columns: ["cat", "döner", "a, b"].map(str::to_owned).to_vec(),
            values: matrix(3),
            object_names: Some(["a", "b", "c", "d"].map(str::to_owned).to_vec()),
            label: Some(LabelColumn {
                name: "label".into(),
                values: vec![Some("x".into()), None, None, Some("y".into())],
            }),
            remarks: Vec::new(),
        }
    }

    #[test]
    fn tables_read_back_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.npz");
        write_sparse_table(&file, &table()).unwrap();
        assert!(is_sparse_table(&file, &ReadOptions::default()));
        let read = read_sparse_table(&file, &ReadOptions::default());
        assert_eq!(read.unwrap(), table());
        let wrong = write_sparse_table(&folder.path().join("t.csv"), &table());
        assert_says(wrong.unwrap_err(), &[".npz"]);
        let note = "names from 'object' (by its name); truth 'label' (by its name; --no-truth leaves it out)";
        assert_eq!(table().roles().note().unwrap(), note);
        let label = None;
        let bare = SparseTable { label, ..table() };
        assert_eq!(bare.roles().note(), None);
    }

    #[test]
    fn columns_that_are_only_claimed_are_refused_before_they_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.npz");
        for (columns, fits) in [
            (1 << 10, true),
            (1 << 30, false),
            (1 << 50, false),
            (usize::MAX, false),
        ] {
            let values = matrix(columns);
            let places = values.indices().iter().map(|&column| column as u32);
            let starts = values.proper_indptr();
            let mut arrays = place_arrays((4, columns), &starts, values.nnz(), places);
            let data = Array::floats([values.nnz()], values.data().iter().copied());
            arrays.push(("data", data));
            let format = format::of_target(&file, |writes| writes == Writes::Arrays).unwrap();
            (format.write)(&file, Contents::Arrays(arrays)).unwrap();
            match read_sparse_table(
                &file,
                &ReadOptions::default().within(MemoryBudget::new(1 << 30)),
            ) {
                Ok(read) => assert!(fits && read.columns.len() == columns),
                Err(error) => {
                    let budget = matches!(error, FileError::Budget { .. });
                    assert!(!fits && budget == (columns == 1 << 30), "{error}");
                }
            }
        }
    }

    #[test]
    fn matrices_of_scipy_are_tables() {
        let read = read_sparse_table(&stored("sparse.npz"), &ReadOptions::default());
        let table = read.unwrap();
        assert_eq!(table.values.shape(), (3, 4));
        assert_eq!((table.columns.len(), table.label), (4, None));
        assert_eq!(table.values.get(0, 3), Some(&65_535.0));
        assert!(!is_sparse_table(
            &stored("plain.npz"),
            &ReadOptions::default()
        ));
    }

    #[test]
    fn every_layout_of_scipy_is_the_same_table() {
        let mut expected = TriMat::new((6, 4));
        for (row, column, value) in [
            (0, 0, 7.0),
            (0, 3, 65_535.0),
            (2, 1, 2.5),
            (4, 0, 3.0),
            (5, 2, -1.0),
        ] {
            expected.add_triplet(row, column, value);
        }
        let expected: CsMat<f64> = expected.to_csr();
        for layout in LAYOUTS {
            let file = stored(&format!("layout-{layout}.npz"));
            assert!(is_sparse_table(&file, &ReadOptions::default()), "{layout}");
            let table = read_sparse_table(&file, &ReadOptions::default()).unwrap();
            assert_eq!(table.values, expected, "{layout}");
        }
        let twice = read_sparse_table(&stored("layout-twice.npz"), &ReadOptions::default());
        let twice = twice.unwrap().values;
        assert_eq!((twice.get(0, 1), twice.nnz()), (Some(&3.0), 2));
    }

    #[test]
    fn matrices_as_text() {
        let read = |text: &str, options: &ReadOptions| {
            let (_folder, path) = file("a.mtx", text);
            let table = read_sparse_table(&path, options).map_err(|error| error.to_string())?;
            Ok::<_, String>((table.values.to_dense(), table.remarks.concat()))
        };
        let plain = ReadOptions::default();
        let turned = ReadOptions {
            transpose: true,
            ..ReadOptions::default()
        };
        let head = "%%MatrixMarket matrix coordinate real general\n% by hand\n";
        let text = format!("{head}2 3 3\n1 1 0.5\n2 3 4\n2 3 1\n");
        let (values, remark) = read(&text, &plain).unwrap();
        assert_eq!(values, array![[0.5, 0.0, 0.0], [0.0, 0.0, 5.0]]);
        assert!(remark.contains("2 rows are taken for objects; --transpose takes its 3 columns"));
        let (values, remark) = read(&text, &turned).unwrap();
        assert_eq!((values[[2, 1]], &*remark), (5.0, ""));
        let claim = format!("{head}1000000000 3 1\n1 1 1\n");
        let small = plain.clone().within(MemoryBudget::new(100 << 20));
        assert_says(read(&claim, &small).unwrap_err(), &["budget is 100.0 MiB"]);
        let dense = "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n";
        assert_eq!(
            read(dense, &plain).unwrap().0,
            array![[1.0, 2.0], [2.0, 3.0]]
        );
        let places = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n";
        assert_eq!(
            read(places, &plain).unwrap().0,
            array![[0.0, 1.0], [1.0, 0.0]]
        );
        for (text, expected) in [
            ("1 2 3\n".to_owned(), "first line is not that of a matrix"),
            (format!("{head}2 3\n"), "line 3 does not say the size"),
            (
                format!("{head}2 3 1\n3 1 1\n"),
                "line 4: '3 1 1' is no place of a matrix of 2 × 3",
            ),
            (format!("{head}2 3 1\n1 1 x\n"), "'x' is not a number"),
            (format!("{head}2 3 1\n1 1 inf\n"), "line 4"),
            (
                format!("{head}2 3 2\n1 1 1\n"),
                "claims 2 values and holds 1",
            ),
        ] {
            assert_says(read(&text, &plain).unwrap_err(), &[expected]);
        }
    }

    #[test]
    fn genes_by_cells_are_turned_by_the_files_beside_them() {
        let (folder, path) = file(
            "x_matrix.mtx",
            "%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 1 5\n2 3 7\n",
        );
        std::fs::write(folder.path().join("x_barcodes.tsv"), "c1\nc2\nc3\n").unwrap();
        std::fs::write(folder.path().join("x_features.tsv"), "g1\tA\ng2\tB\n").unwrap();
        let table = read_sparse_table(&path, &ReadOptions::default()).unwrap();
        assert_eq!(table.object_names.unwrap(), ["c1", "c2", "c3"]);
        assert_eq!(table.columns, ["g1", "g2"]);
        assert_eq!(table.values.get(2, 1), Some(&7.0));
        assert!(table.remarks[0].contains("3 columns are the objects, named by x_barcodes.tsv"));
    }
}
