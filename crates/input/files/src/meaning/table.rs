//! Tables of numbers.

use std::path::Path;

use partita_core::ndarray::{Array2, Axis};
use partita_core::option;

use super::frame::{Frame, Wanted};
use super::label_column::LabelColumn;
use super::numbers::numbers;
use super::read_options::{Encode, Impute, ReadOptions};
use super::roles::Roles;
use super::rules::Facts;
use super::{feature_columns, features};
use crate::error::{Cell, FileError, Result};
use crate::format::description::{Format, Writes};
use crate::format::reader::{COLUMNS, Column, Form, Layout, Limit, OBJECTS, Reader};
use crate::format::writer::{Array, Contents, Data};
use crate::format::{self, FORMATS};
use crate::number::Short;
use crate::words::CLASS_ARRAYS;

/// What the features may be called in an archive; the first is how we write them.
const FEATURES: [&str; 6] = ["X", "x", "data", "features", "values", "fea"];

/// n objects × d features, finite numbers all, with what else a file says about the objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the features, d of them.
    pub columns: Vec<String>,
    /// The numbers, n × d.
    pub values: Array2<f64>,
    /// What the objects are called, n names.
    pub object_names: Option<Vec<String>>,
    /// The classes, where the file has them.
    pub label: Option<LabelColumn>,
    /// Where numbers stand for gaps (row, column; rising): the means of their columns, in place of which base clusterings draw values of like
    /// rows. None where the means were asked for.
    pub gaps: Vec<(u32, u32)>,
}

impl Table {
    /// These rows (rising), with what is said about them.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn select(self, rows: &[usize]) -> Self {
        let place = |row: u32| rows.binary_search(&(row as usize)).ok();
        let gaps = self.gaps.iter();
        let gaps = gaps.filter_map(|&(row, column)| Some((place(row)? as u32, column)));
        let names = |names: Vec<String>| rows.iter().map(|&row| names[row].clone()).collect();
        let of_label = |label: LabelColumn| LabelColumn {
            values: rows.iter().map(|&row| label.values[row].clone()).collect(),
            ..label
        };
        Self {
            gaps: gaps.collect(),
            values: self.values.select(Axis(0), rows),
            object_names: self.object_names.map(names),
            label: self.label.map(of_label),
            columns: self.columns,
        }
    }
}

/// Reads a table in any of the formats: delimited text (packed where the name ends in `.gz`), NPY, NPZ, MAT, Parquet,
/// Arrow.
///
/// A first column called `object`, `id` or `name`, or not called at all, names the objects, else a column of words that all
/// differ; a column called `label` holds the classes, one called `split` is left out. [`load_table`] says what was taken for
/// what.
///
/// # Errors
/// [`FileError`] names the file, the row, the column, the value, and what to do.
///
/// # Cost
/// O(n d) time; 8 n d bytes, and up to as much again while a table grows whose rows are not known before.
pub fn read_table(path: &Path, options: &ReadOptions) -> Result<Table, FileError> {
    load_table(path, options).map(|(table, _)| table)
}

/// As [`read_table`], and what every column was taken for.
///
/// # Errors
/// As [`read_table`].
pub fn load_table(path: &Path, options: &ReadOptions) -> Result<(Table, Roles), FileError> {
    load(FORMATS, path, options)
}

pub(crate) fn load(
    formats: &'static [Format],
    path: &Path,
    options: &ReadOptions,
) -> Result<(Table, Roles)> {
    let mut frame = open(formats, path, options)?;
    let table = if frame.reader.items().layout == Layout::Arrays {
        let limit = limit(options, 0);
        let features = frame.roles.data();
        let (object_names, label) = words(&mut frame, &limit)?;
        let gaps = options.impute == Some(Impute::Mean);
        let (mut values, columns) = (
            numbers(&frame, &features, gaps, &limit)?,
            names(&frame, &features),
        );
        if gaps {
            feature_columns::fill_counted(&mut frame, &columns, options, &mut values)?;
        }
        Table {
            columns,
            values,
            object_names,
            label,
            gaps: Vec::new(),
        }
    } else {
        from_columns(&mut frame, options)?
    };
    if options.clusterable {
        check_clusterable(path, &table)?;
    }
    frame.roles.objects = table.values.nrows() as u64;
    let warnings = Facts {
        names: table.object_names.as_deref(),
        truth: table.label.as_ref().filter(|_| options.clusterable),
        table: options
            .clusterable
            .then(|| (&*table.columns, table.values.view())),
        ..Facts::new(&frame.roles, options, table.values.nrows())
    }
    .warnings();
    frame.roles.warnings.extend(warnings);
    Ok((table, frame.roles))
}

/// The columns of a file and their roles, of which some are features.
pub(crate) fn open(
    formats: &'static [Format],
    path: &Path,
    options: &ReadOptions,
) -> Result<Frame> {
    let reader = format::open_reader(formats, path, &options.open_options())?;
    let frame = Frame::new(
        reader,
        &Wanted {
            main: &FEATURES,
            names: true,
            truths: &["label"],
        },
        options,
    )?;
    if frame.roles.data().is_empty() {
        let columns = frame.names.len();
        let reason = format!(
            " has no feature: of its {columns} columns none is left beside names, labels and what is left out"
        );
        return Err(FileError::content(path, reason));
    }
    Ok(frame)
}

pub(crate) fn limit(options: &ReadOptions, bytes_per_row: u64) -> Limit {
    let remedy = "raise the limit or read fewer rows or columns";
    Limit {
        bytes_per_row,
        ..Limit::new(options.budget, "the table", remedy)
    }
}

pub(crate) fn names(frame: &Frame, features: &[usize]) -> Vec<String> {
    features.iter().map(|&at| frame.names[at].clone()).collect()
}

/// Names of the objects, and their classes.
pub(crate) fn words(
    frame: &mut Frame,
    limit: &Limit,
) -> Result<(Option<Vec<String>>, Option<LabelColumn>)> {
    let label = frame.truth(limit)?;
    Ok((frame.object_names(limit)?, label))
}

/// A table of columns, of text or typed.
fn from_columns(frame: &mut Frame, options: &ReadOptions) -> Result<Table> {
    let numbers = Form::Numbers {
        gaps: options.impute != Some(Impute::None),
        words: options.encode != Some(Encode::None),
    };
    let form = |reader: &dyn Reader, at: usize| {
        if reader.is_text(at) {
            Form::Labels
        } else {
            numbers
        }
    };
    frame.leave_out_times(&options.data);
    let limit = limit(options, 8 * frame.roles.data().len() as u64);
    let read = frame.read_text(form, &options.data, &limit)?;
    if options.encode == Some(Encode::None) {
        refuse_words(frame, &read.data, &read.columns)?;
    }
    let names = read.object_names.as_deref();
    let found = features::table(frame, &read.data, read.columns, names, options, &limit)?;
    let mut label = match frame.roles.truth().filter(|_| read.truth.is_none()) {
        Some(_) => frame.truth(&limit)?,
        None => read.truth,
    };
    let mut object_names = found.object_names.or(read.object_names);
    let rows = found.values.nrows();
    if found.ends_with_sums {
        object_names
            .iter_mut()
            .for_each(|names| names.truncate(rows));
        label
            .iter_mut()
            .for_each(|label| label.values.truncate(rows));
    }
    Ok(Table {
        columns: found.columns,
        values: found.values,
        object_names,
        label,
        gaps: found.gaps,
    })
}

/// Refuses words where numbers are meant.
fn refuse_words(frame: &Frame, features: &[usize], columns: &[Column]) -> Result<()> {
    let word = |(column, &at): (&Column, &usize)| {
        let Column::Labels(words) = column else {
            return None;
        };
        let (word, row) = words.first_word()?;
        Some(Cell::new(frame.path(), row, &frame.names[at], word))
    };
    let first = columns
        .iter()
        .zip(features)
        .filter_map(word)
        .min_by_key(|cell| cell.row.number());
    first.map_or(Ok(()), |cell| Err(FileError::not_a_number(cell)))
}

fn check_clusterable(path: &Path, table: &Table) -> Result<()> {
    if table.values.nrows() == 1 {
        let reason = " has one row; clustering needs at least two objects";
        return Err(FileError::content(path, reason));
    }
    // Squares are summed over rows and columns.
    if let Some(((row, column), value)) = table
        .values
        .indexed_iter()
        .find(|(_, value)| value.abs() > 1e140)
    {
        let name = &table.columns[column];
        let reason = format!(
            "row {}, column '{name}': the square of {} is not a finite number; divide the column by a power of ten, correct the value, or \
             leave the column out ({})",
            row + 1,
            Short(*value),
            option("skip").naming(name)
        );
        return Err(FileError::damaged(path, reason));
    }
    let first = table.values.row(0);
    if table.values.outer_iter().all(|row| row == first) {
        let reason = format!(
            "every feature is constant over all {} rows (column '{}' is always {}); there is nothing to cluster",
            table.values.nrows(),
            table.columns[0],
            Short(first[0])
        );
        return Err(FileError::damaged(path, reason));
    }
    Ok(())
}

/// Writes a table by the ending of the name: `.csv` or `.tsv` (also with `.gz`), `.npy` (the numbers alone), `.npz`,
/// `.parquet`. The label becomes the last column, `label` (`y` in NPZ). Numbers read back to the same bits, and the
/// same table gives the same bytes.
///
/// # Errors
/// [`FileError`] for what the system refuses.
///
/// # Panics
/// If names, numbers and labels differ in length.
pub fn write_table(path: &Path, table: &Table) -> Result<(), FileError> {
    let objects = table.values.nrows();
    assert_eq!(
        table.columns.len(),
        table.values.ncols(),
        "one name a column"
    );
    assert!(
        table
            .object_names
            .as_ref()
            .is_none_or(|names| names.len() == objects),
        "one name an object"
    );
    assert!(
        table
            .label
            .as_ref()
            .is_none_or(|label| label.values.len() == objects),
        "one label an object"
    );
    let format = format::of_target(path, |writes| writes != Writes::Nothing)?;
    let contents = if format.writes == Writes::Columns {
        columns(table)
    } else {
        arrays(table)
    };
    (format.write)(path, contents)
}

fn columns(table: &Table) -> Contents<'_> {
    let mut columns: Vec<(&str, Data<'_>)> = Vec::new();
    if let Some(names) = &table.object_names {
        columns.push(("object", Data::names(names)));
    }
    for (name, values) in table.columns.iter().zip(table.values.columns()) {
        columns.push((name, Data::floats(values.into_iter().copied())));
    }
    if let Some(label) = &table.label {
        columns.push(("label", Data::labels(&label.values)));
    }
    Contents::Columns {
        rows: table.values.nrows(),
        columns,
        notes: Vec::new(),
    }
}

fn arrays(table: &Table) -> Contents<'_> {
    let shape = [table.values.nrows(), table.values.ncols()];
    let mut arrays = vec![(
        FEATURES[0],
        Array::floats(shape, table.values.iter().copied()),
    )];
    arrays.extend(name_arrays(
        &table.columns,
        table.object_names.as_deref(),
        table.label.as_ref(),
    ));
    Contents::Arrays(arrays)
}

/// Names and classes as arrays beside the values.
pub(crate) fn name_arrays<'a>(
    columns: &'a [String],
    object_names: Option<&'a [String]>,
    label: Option<&LabelColumn>,
) -> Vec<(&'static str, Array<'a>)> {
    let mut arrays = vec![(COLUMNS, Array::texts(columns))];
    arrays.extend(object_names.map(|names| (OBJECTS, Array::texts(names))));
    if let Some(label) = label {
        let values: Vec<String> = label
            .values
            .iter()
            .map(|value| value.clone().unwrap_or_default())
            .collect();
        arrays.push((CLASS_ARRAYS[0], Array::texts(values)));
    }
    arrays
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_says, cases, file};
    use partita_core::MemoryBudget;
    use partita_core::ndarray::array;

    fn read(text: &str, options: &ReadOptions) -> Result<Table, String> {
        let (folder, path) = file("a.csv", text);
        let place = format!("{}/", folder.path().display());
        read_table(&path, options).map_err(|error| error.to_string().replace(&place, ""))
    }

    fn options(encode: Option<Encode>, impute: bool) -> ReadOptions {
        ReadOptions {
            encode,
            impute: impute.then_some(Impute::Mean),
            ..ReadOptions::default()
        }
    }

    #[test]
    fn columns_are_put_to_their_use() {
        let text = "id,x,split,y,label\n\"a, b\",1,train,2.5,u\nc,-3e2,test,.5,\n";
        let table = read(text, &ReadOptions::default()).unwrap();
        assert_eq!(table.columns, ["x", "y"]);
        assert_eq!(table.values, array![[1.0, 2.5], [-300.0, 0.5]]);
        assert_eq!(table.object_names.unwrap(), ["a, b", "c"]);
        let label = table.label.unwrap();
        assert_eq!(label.name, "label");
        assert_eq!(label.values, [Some("u".into()), None]);

        let table = read("1,u,2\n3,v,4\n", &ReadOptions::of_column("2")).unwrap();
        assert_eq!(table.values, array![[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(table.columns, ["1", "3"]);
        assert_eq!(table.label.unwrap().name, "label");

        let mut skip = ReadOptions::default();
        skip.skip.push("word".into());
        let table = read("x,word\n1,a\n2,b\n", &skip).unwrap();
        assert_eq!(table.values, array![[1.0], [2.0]]);
    }

    #[test]
    fn words_that_are_not_numbers_are_named_with_a_remedy() {
        let mut usual = options(Some(Encode::None), false);
        usual.impute = Some(Impute::None);
        let one_hot = options(Some(Encode::OneHot), false);
        let filled = options(Some(Encode::OneHot), true);
        let imputed = options(Some(Encode::None), true);
        let few = ReadOptions {
            max_categories: Some(2),
            ..one_hot.clone()
        };
        let options = |name: &str| match name {
            "filled" => &filled,
            "imputed" => &imputed,
            "few" => &few,
            _ => &usual,
        };
        let day = "column 'day': '2024-01-01' is a date or a time, not a plain number; leave the column out (--skip 'day')";
        for [name, text, expected] in cases(
            r"
            usual   | x,day\n1,2024-01-01\n2,2024-01-02\n3,2024-01-03 | line 2, DAY
            usual   | x,share\n1,5%\n2,6%\n3,7% | line 2, column 'share': '5%' is a percentage
            usual   | x;y\n1,5;2\n1,5;3 | line 2, column 'x': '1,5' is a number with a decimal comma
            few     | x,kind\n1,a\n2,b\n3,c\n4,a | column 'kind' has 3 different values, more than --max-categories 2
            imputed | x,kind,y,label\n1,tcp,2,u\n,udp,4,u | line 2, column 'kind': 'tcp' is not a number
            filled  | x\n1\ninf | line 3, column 'x': 'inf' is not finite",
        ) {
            let message = read(&text, options(&name)).unwrap_err();
            let expected = expected.replace("DAY", day);
            assert!(
                message.starts_with("a.csv") && message.contains(&expected),
                "{message}"
            );
        }
    }

    #[test]
    fn what_is_not_a_table_is_named_with_a_remedy() {
        let mut usual = options(Some(Encode::None), false);
        usual.impute = Some(Impute::None);
        for [text, expected] in cases(
            r"
            x,y\n1,2\n3,b | line 3, column 'y': 'b' is not a number; correct it
            x,y\n1,2\n3, | line 3, column 'y': '' is missing; fill it in
            x,y\n1,2\nNaN,4 | line 3, column 'x': 'NaN' is missing; fill it in
            x,y\n1,-inf\n3,4 | line 2, column 'y': '-inf' is not finite
            x,y\n1,2\n3 | line 3: 1 fields where the first line has 2; check delimiter and quotes
            x,y\n | a.csv has a header line but no rows below it
            | a.csv is empty
            x,y\n1,2 | a.csv has one row; clustering needs at least two objects
            x,y\n1,2\n1,2 | a.csv: every feature is constant over all 2 rows (column 'x' is always 1)
            label\nu\nv | a.csv has no feature: of its 1 columns none is left
            x,w\n1,a\n2,b | line 2, column 'w': 'a' is not a number",
        ) {
            let message = read(&text, &usual).unwrap_err();
            assert!(
                message.starts_with("a.csv") && message.contains(&expected),
                "{message}"
            );
        }
        let label = read("x,lable\n1,2\n3,4\n", &ReadOptions::of_column("label")).unwrap_err();
        assert_eq!(label, "a.csv has no column 'label'; it has 'lable', 'x'");
        let small = ReadOptions::default().within(MemoryBudget::new(16));
        assert_says(
            read("x,y\n1,2\n3,4\n", &small).unwrap_err(),
            &["a.csv: the table needs 32 bytes"],
        );
        let options = ReadOptions {
            clusterable: false,
            ..usual
        };
        let table = read("x,y\n1,2\n", &options).unwrap();
        assert_eq!(table.values, array![[1.0, 2.0]], "it can still be read");
    }

    #[test]
    fn words_become_columns_and_gaps_are_filled() {
        let text = "x,kind,y,label\n1,tcp,2,u\n,udp,4,u\n3,,6,v\n5,tcp,8,v\n";
        let table = read(text, &options(Some(Encode::OneHot), true)).unwrap();
        assert_eq!(table.columns, ["x", "kind=tcp", "kind=udp", "y"]);
        let expected = array![
            [1., 1., 0., 2.],
            [3., 0., 1., 4.],
            [3., 2. / 3., 1. / 3., 6.],
            [5., 1., 0., 8.]
        ];
        assert_eq!(table.values, expected);
        assert!(table.gaps.is_empty(), "means were asked for");
        let drawn = read(text, &ReadOptions::default()).unwrap();
        assert_eq!(drawn.gaps, [(1, 0), (2, 1), (2, 2)]);
        assert_eq!(table.label.unwrap().values.len(), 4);
        let coded = read(text, &options(Some(Encode::Ordinal), true)).unwrap();
        assert_eq!(coded.columns, ["x", "kind", "y"]);
        let kinds = coded.values.column(1).to_vec();
        assert_eq!(kinds, [0., 1., 1. / 3., 0.], "tcp, udp, their mean, tcp");
    }

    #[test]
    fn words_that_all_differ_are_names_wherever_they_stand() {
        let text = "x,cell,y\n1,AAC,NA\n2,AAG,5\n4,AAT,7\n";
        let (_folder, path) = file("a.csv", text);
        let (table, roles) = load_table(&path, &options(None, true)).unwrap();
        assert_eq!(table.columns, ["x", "y"]);
        assert_eq!(table.values.column(1).to_vec(), [6., 5., 7.]);
        assert_eq!(table.object_names.unwrap(), ["AAC", "AAG", "AAT"]);
        let said = "names from 'cell' (all 3 values differ); 1 missing value (NA)";
        assert_eq!(roles.to_string(), said);
        let strict = ReadOptions {
            impute: Some(Impute::None),
            ..ReadOptions::default()
        };
        let message = read(text, &strict).unwrap_err();
        assert_says(
            message,
            &["line 2, column 'y': 'NA' is missing", "--impute mean"],
        );
    }
}
