//! Tables of numbers.

use std::path::Path;

use csv::ByteRecord;
use partita_core::MemoryBudget;
use partita_core::ndarray::Array2;

use crate::coded::{self, Coded};
use crate::columns::{self, SPLIT};
use crate::error::{Cell, FileError, Row};
use crate::features::{Features, is_word};
use crate::input::Format;
use crate::labels::LabelColumn;
use crate::number::Short;
use crate::text::{Header, TextReader};
use crate::whole::{text_writer, write_text};
use crate::{table_binary, table_parquet};

/// n objects × d features, finite numbers all, with what else a file says about the objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the features, d of them.
    pub columns: Vec<String>,
    /// The numbers, n × d.
    pub values: Array2<f64>,
    /// What the objects are called, n names.
    pub object_names: Option<Vec<String>>,
    /// The classes, where the file has them.
    pub label: Option<LabelColumn>,
}

/// How to read a table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableOptions {
    /// The column with the classes, by name or by position from 1. Without one, a column called `label` is taken
    /// where there is one.
    pub label: Option<String>,
    /// Columns to leave out, by name or by position from 1.
    pub skip: Vec<String>,
    /// Whether the first line names the columns (text files).
    pub header: Header,
    /// What separates fields (text files); found out where not given.
    pub delimiter: Option<u8>,
    /// Refuse what cannot be clustered: a single row, or columns that are all constant.
    pub clusterable: bool,
    /// Make a column of zeros and ones of every value of a column that holds words, called `column=value` (text files).
    /// Without, a word is an error.
    pub one_hot: bool,
    /// Put the place of a word among the sorted words of its column instead of the word (text files). This makes neighbours
    /// of words that are none; it is what some papers did.
    pub codes: bool,
    /// Fill a missing number with the mean of its column, a missing word with zeros (text files). Without, a gap is an
    /// error.
    pub fill: bool,
    /// How much memory the numbers may take.
    pub budget: MemoryBudget,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            label: None,
            skip: Vec::new(),
            header: Header::default(),
            delimiter: None,
            clusterable: true,
            one_hot: false,
            codes: false,
            fill: false,
            budget: MemoryBudget::default(),
        }
    }
}

/// Reads a table: CSV, TSV or other delimited text (packed where the name ends in `.gz`), NPY, NPZ, Parquet.
///
/// A first column called `object`, `id` or `name`, or not called at all, names the objects; a column called `split`
/// is left out.
///
/// # Errors
/// [`FileError`] names the file, the row, the column, the value, and what to do.
///
/// # Cost
/// O(n d) time; 8 n d bytes, and up to as much again while the table grows.
pub fn read_table(path: &Path, options: &TableOptions) -> Result<Table, FileError> {
    let table = match Format::of(path)? {
        Format::Text => from_text(path, options)?,
        Format::Parquet => table_parquet::read(path, options)?,
        _ => table_binary::read(path, options)?,
    };
    if options.clusterable {
        check_clusterable(path, &table)?;
    }
    Ok(table)
}

fn check_clusterable(path: &Path, table: &Table) -> Result<(), FileError> {
    if table.values.nrows() == 1 {
        return Err(FileError::OneRow(path.into()));
    }
    let first = table.values.row(0);
    if table.values.outer_iter().all(|row| row == first) {
        let (rows, column, value) = (table.values.nrows(), table.columns[0].clone(), first[0]);
        return Err(FileError::Constant { path: path.into(), rows, column, value });
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
    assert_eq!(table.columns.len(), table.values.ncols(), "one name a column");
    assert!(table.object_names.as_ref().is_none_or(|names| names.len() == objects), "one name an object");
    assert!(table.label.as_ref().is_none_or(|label| label.values.len() == objects), "one label an object");
    match Format::of_target(path)? {
        Format::Text => to_text(path, table),
        Format::Parquet => table_parquet::write(path, table),
        format => table_binary::write(path, table, format),
    }
}

fn to_text(path: &Path, table: &Table) -> Result<(), FileError> {
    write_text(path, |out| {
        let mut rows = text_writer(path, out);
        let names = table.object_names.iter().map(|_| "object");
        let label = table.label.iter().map(|_| "label");
        rows.write_record(names.chain(table.columns.iter().map(String::as_str)).chain(label))?;
        for (object, row) in table.values.outer_iter().enumerate() {
            if let Some(names) = &table.object_names {
                rows.write_field(&names[object])?;
            }
            row.iter().try_for_each(|value| rows.write_field(Short(*value).to_string()))?;
            if let Some(label) = &table.label {
                rows.write_field(label.values[object].as_deref().unwrap_or_default())?;
            }
            rows.write_record(None::<&[u8]>)?;
        }
        rows.flush()
    })
}

/// What a column is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Feature,
    Label,
    Objects,
    Skipped,
}

/// What every column is used for, from its name.
pub(crate) fn roles(path: &Path, names: &[String], options: &TableOptions) -> Result<Vec<Role>, FileError> {
    let mut roles = vec![Role::Feature; names.len()];
    names.iter().zip(&mut roles).filter(|(name, _)| *name == SPLIT).for_each(|(_, role)| *role = Role::Skipped);
    if columns::names_objects(names) {
        roles[0] = Role::Objects;
    }
    for skip in &options.skip {
        roles[columns::find(path, names, skip)?] = Role::Skipped;
    }
    let label = match &options.label {
        Some(label) => Some(columns::find(path, names, label)?),
        None => names.iter().position(|name| name == "label").filter(|&at| roles[at] != Role::Skipped),
    };
    if let Some(label) = label {
        roles[label] = Role::Label;
    }
    if !roles.contains(&Role::Feature) {
        let why = format!("of its {} columns none is left beside names, labels and what is left out", names.len());
        return Err(FileError::NoFeatures { path: path.into(), why });
    }
    Ok(roles)
}

/// The rows read so far.
struct Growing<'a> {
    path: &'a Path,
    names: &'a [String],
    roles: Vec<Role>,
    features: Features,
    objects: Vec<String>,
    label: Coded,
}

impl Growing<'_> {
    fn push(&mut self, record: &ByteRecord, row: Row) -> Result<(), FileError> {
        let mut place = 0;
        for ((field, role), name) in record.iter().zip(&self.roles).zip(self.names) {
            match role {
                Role::Feature => {
                    self.features.push(self.path, row, name, place, field)?;
                    place += 1;
                }
                Role::Label => self.label.push(coded::text(self.path, row, name, field)?, row),
                Role::Objects => self.objects.push(coded::text(self.path, row, name, field)?.trim().to_owned()),
                Role::Skipped => {}
            }
        }
        Ok(())
    }
}

fn from_text(path: &Path, options: &TableOptions) -> Result<Table, FileError> {
    let mut reader = TextReader::open(path, options.header, options.delimiter)?;
    let names = reader.names();
    columns::distinct(path, &names)?;
    let roles = roles(path, &names, options)?;
    let places: Vec<usize> = (0..names.len()).filter(|&at| roles[at] == Role::Feature).collect();
    let words =
        if options.one_hot || options.codes { with_words(path, options, &places)? } else { vec![false; places.len()] };
    let (features, objects, label) =
        (Features::new(words, options.fill, options.codes && !options.one_hot), Vec::new(), Coded::default());
    let mut growing = Growing { path, names: &names, roles, features, objects, label };
    let mut record = ByteRecord::new();
    let mut rows = 0;
    while let Some(row) = reader.next(&mut record)? {
        growing.push(&record, row)?;
        rows += 1;
        check_budget(path, options.budget, growing.features.len())?;
    }
    if rows == 0 {
        return Err(FileError::NoRows(path.into()));
    }
    let Growing { roles, features, objects, label, .. } = growing;
    let of = |wanted: Role| roles.iter().position(|role| *role == wanted);
    let own: Vec<&str> = places.iter().map(|&at| names[at].as_str()).collect();
    let (columns, values) = features.finish(path, &own, options.budget)?;
    let label = of(Role::Label).map(|at| label.column(if reader.header().is_some() { &names[at] } else { "label" }));
    Ok(Table { columns, values, object_names: of(Role::Objects).map(|_| objects), label })
}

/// Which of the features hold a word somewhere.
fn with_words(path: &Path, options: &TableOptions, places: &[usize]) -> Result<Vec<bool>, FileError> {
    let mut reader = TextReader::open(path, options.header, options.delimiter)?;
    let mut words = vec![false; places.len()];
    let mut record = ByteRecord::new();
    while reader.next(&mut record)?.is_some() {
        for (word, &at) in words.iter_mut().zip(places) {
            *word = *word || record.get(at).is_some_and(is_word);
        }
    }
    Ok(words)
}

pub(crate) fn check_budget(path: &Path, budget: MemoryBudget, numbers: usize) -> Result<(), FileError> {
    budget
        .check("the table", 8 * numbers as u64, "raise the limit or read fewer rows or columns")
        .map_err(|source| FileError::Budget { path: path.into(), source })
}

/// Why a field is no feature.
pub(crate) fn no_number(path: &Path, row: Row, column: &str, field: &[u8], parsed: Option<f64>) -> FileError {
    let text = String::from_utf8_lossy(field);
    let cell = Cell::new(path, row, column, text.trim());
    match parsed {
        Some(_) => FileError::NotFinite(cell),
        None if text.trim().is_empty() => FileError::NoValue(cell),
        None => FileError::NotANumber(cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::array;

    fn read(text: &str, options: &TableOptions) -> Result<Table, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        let place = format!("{}/", folder.path().display());
        read_table(&path, options).map_err(|error| error.to_string().replace(&place, ""))
    }

    fn labelled(label: &str) -> TableOptions {
        TableOptions { label: Some(label.into()), ..TableOptions::default() }
    }

    #[test]
    fn columns_are_put_to_their_use() {
        let text = "id,x,split,y,label\n\"a, b\",1,train,2.5,u\nc,-3e2,test,.5,\n";
        let table = read(text, &TableOptions::default()).unwrap();
        assert_eq!(table.columns, ["x", "y"]);
        assert_eq!(table.values, array![[1.0, 2.5], [-300.0, 0.5]]);
        assert_eq!(table.object_names, Some(vec!["a, b".into(), "c".into()]));
        assert_eq!(table.label, Some(LabelColumn { name: "label".into(), values: vec![Some("u".into()), None] }));

        let table = read("1,u,2\n3,v,4\n", &labelled("2")).unwrap();
        assert_eq!((table.values, table.columns), (array![[1.0, 2.0], [3.0, 4.0]], vec!["1".into(), "3".into()]));
        assert_eq!(table.label.unwrap().name, "label");

        let options = TableOptions { skip: vec!["word".into()], ..TableOptions::default() };
        assert_eq!(read("x,word\n1,a\n2,b\n", &options).unwrap().values, array![[1.0], [2.0]]);
    }

    #[test]
    fn what_is_no_table_is_named_with_a_way_out() {
        for (text, expected) in [
            ("x,y\n1,2\n3,b\n", "a.csv, line 3, column 'y': 'b' is not a number; correct it"),
            ("x,y\n1,2\n3,\n", "a.csv, line 3, column 'y': '' is missing; fill it in"),
            ("x,y\n1,2\nNaN,4\n", "a.csv, line 3, column 'x': 'NaN' is not finite; replace it"),
            ("x,y\n1,-inf\n3,4\n", "a.csv, line 2, column 'y': '-inf' is not finite"),
            ("x,y\n1,2\n3\n", "a.csv, line 3: 1 fields where the first line has 2; check delimiter and quotes"),
            ("x,y\n", "a.csv has a header line but no rows below it"),
            ("", "a.csv is empty"),
            ("x,y\n1,2\n", "a.csv has one row; clustering needs at least two objects"),
            ("x,y\n1,2\n1,2\n", "a.csv: every feature is constant over all 2 rows (column 'x' is always 1)"),
            ("label\nu\nv\n", "a.csv has no feature: of its 1 columns none is left"),
            ("x,x\n1,2\n3,4\n", "a.csv: columns 1 and 2 are both called 'x'; rename one"),
        ] {
            let message = read(text, &TableOptions::default()).unwrap_err();
            assert!(message.starts_with(expected), "{message}");
        }
        let message = read("x,lable\n1,2\n3,4\n", &labelled("label")).unwrap_err();
        assert_eq!(message, "a.csv has no column 'label'; it has 'lable', 'x'");
    }

    #[test]
    fn what_can_not_be_clustered_can_still_be_read() {
        let options = TableOptions { clusterable: false, ..TableOptions::default() };
        assert_eq!(read("x,y\n1,2\n", &options).unwrap().values, array![[1.0, 2.0]]);
    }

    #[test]
    fn words_become_columns_and_gaps_are_filled() {
        let text = "x,kind,y,label\n1,tcp,2,u\n,udp,4,u\n3,,6,v\n5,tcp,8,v\n";
        let options = TableOptions { one_hot: true, fill: true, ..TableOptions::default() };
        let table = read(text, &options).unwrap();
        assert_eq!(table.columns, ["x", "kind=tcp", "kind=udp", "y"]);
        let expected = array![[1., 1., 0., 2.], [3., 0., 1., 4.], [3., 0., 0., 6.], [5., 1., 0., 8.]];
        assert_eq!(table.values, expected);
        assert_eq!(table.label.unwrap().values.len(), 4);

        let coded = read(text, &TableOptions { codes: true, fill: true, ..TableOptions::default() }).unwrap();
        assert_eq!(coded.columns, ["x", "kind", "y"]);
        assert_eq!(coded.values.column(1), array![0., 1., 1. / 3., 0.], "tcp, udp, their mean, tcp");

        let with = |one_hot: bool, fill: bool| {
            read(text, &TableOptions { one_hot, fill, ..TableOptions::default() }).unwrap_err()
        };
        assert!(with(true, false).contains("line 3, column 'x': '' is missing"), "{}", with(true, false));
        assert!(with(false, true).contains("line 2, column 'kind': 'tcp' is not a number"), "{}", with(false, true));
        let empty = read("x,y\n1,\n2,NaN\n", &options).unwrap_err();
        assert!(empty.contains("column 'y'") && empty.contains("no value"), "{empty}");
        let infinite = read("x\n1\ninf\n", &options).unwrap_err();
        assert!(infinite.contains("'inf' is not finite"), "{infinite}");
    }

    #[test]
    fn the_budget_is_kept() {
        let options = TableOptions { budget: MemoryBudget::new(16), ..TableOptions::default() };
        assert!(read("x,y\n1,2\n3,4\n", &options).unwrap_err().contains("the table needs 32 bytes"));
    }
}
