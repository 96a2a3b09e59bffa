//! One view of files of columns and of files of arrays: named columns, and the arrays that stand beside them.

use std::collections::HashSet;
use std::path::Path;

use partita_core::MemoryBudget;
use rayon::prelude::*;

use super::label_column::LabelColumn;
use super::read_options::ReadOptions;
use super::roles::{self, ColumnRole, Reason, Role, Roles, Rules};
use crate::dictionary::Dictionary;
use crate::error::{Cell, FileError, Result, Row, WrongValue};
use crate::format::reader::{
    COLUMNS, Column, Extent, Form, Layout, Limit, OBJECTS, Reader, first_of,
};
use crate::number::Short;
use crate::typed_array::{Scalar, TypedArray};
use crate::value_kind::ValueKind;
use crate::words::{CLASS_ARRAYS, MissingCounts, MissingWords, add_counts, is_id, names_objects};

/// What to look for among the arrays of a file.
pub(crate) struct Wanted<'a> {
    /// Names of the array whose columns are meant; the only array of a file needs no name.
    pub(crate) main: &'a [&'a str],
    /// Whether arrays with the names of columns and objects are looked for.
    pub(crate) names: bool,
    /// Names of columns that hold the true classes where none was asked for.
    pub(crate) truths: &'a [&'a str],
}

/// The fewest objects whose names can be told from labels by all of them being different.
pub(crate) const FEWEST_NAMES: usize = 3;

/// The fewest objects whose names can be told from labels in a column of words that is called this.
fn fewest_names(column: &str) -> usize {
    if names_objects(column) {
        1
    } else {
        FEWEST_NAMES
    }
}

/// The index columns that pandas stores begin like this where they have no name.
const INDEX: &str = "__index_level_";

/// A base clustering: the item of the file that holds it, and which column of the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) item: usize,
    pub(crate) inside: usize,
}

/// A file as columns of equal length.
pub(crate) struct Frame {
    pub(crate) reader: Box<dyn Reader>,
    pub(crate) names: Vec<String>,
    pub(crate) roles: Roles,
    pub(crate) extent: Extent,
    /// The words that stand for a missing value.
    pub(crate) missing: MissingWords,
    /// The array whose columns these are, in a file of arrays.
    main: Option<usize>,
    /// The array with the classes.
    truth: Option<usize>,
    /// The array with the names of the objects.
    objects: Option<usize>,
}

/// What a text file holds.
pub(crate) struct TextColumns {
    /// Positions of the data, and its columns.
    pub(crate) data: Vec<usize>,
    pub(crate) columns: Vec<Column>,
    pub(crate) object_names: Option<Vec<String>>,
    pub(crate) truth: Option<LabelColumn>,
}

/// Whether the words of a column are names: all differ, and they are neither amounts nor dates; or whole numbers where the name of the
/// column says that they are ids.
pub(crate) fn are_names(column: &str, words: &Dictionary) -> bool {
    if is_id(column) && words.codes().len() >= FEWEST_NAMES && words.all_whole_numbers_differ() {
        return true;
    }
    words.codes().len() >= fewest_names(column)
        && words.all_words_differ()
        && !ValueKind::are_values(words.values())
}

fn all_empty(texts: &[String]) -> bool {
    texts.iter().all(String::is_empty)
}

/// The array called by the first of the names that exists, or the only one there is.
pub(crate) fn main_array(reader: &dyn Reader, names: &[&str]) -> Result<usize> {
    match (first_of(reader, names), reader.names()) {
        (Some(item), _) => Ok(item),
        (None, [_]) => Ok(0),
        (None, known) => {
            let array = names.first().copied().unwrap_or_default();
            Err(FileError::no_array(reader.path(), array, known))
        }
    }
}

impl Frame {
    /// The columns of a file and their roles.
    pub(crate) fn new(
        reader: Box<dyn Reader>,
        wanted: &Wanted<'_>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let rules = Rules::new(options, wanted.truths);
        let mut frame = match reader.items().layout {
            Layout::Columns => Self::of_columns(reader, &rules)?,
            Layout::Arrays => Self::of_arrays(reader, wanted, &rules, options.budget)?,
        };
        roles::distinct(frame.reader.path(), &frame.names)?;
        frame.missing = options.missing_words();
        frame.roles.objects = frame.rows().unwrap_or(0);
        frame
            .roles
            .warnings
            .extend(frame.reader.items().remarks.clone());
        let typed = frame.reader.items().typed;
        if typed {
            let limit = names_limit(options.budget);
            frame.take_distinct_index(&limit)?;
            frame.take_distinct_columns(&limit)?;
        }
        // Columns of words may turn out to be names when a text is read.
        frame.leave_out_unknown(&options.data, |reader, column| {
            typed || !reader.is_text(column)
        });
        Ok(frame)
    }

    /// Of a file of columns, leaves out data that is not among these names, where `which` says so: a model was not learned from it.
    pub(crate) fn leave_out_unknown(
        &mut self,
        known: &[String],
        which: impl Fn(&dyn Reader, usize) -> bool,
    ) {
        let known: HashSet<&str> = known.iter().map(String::as_str).collect();
        let is_known = |name: &str| {
            known.contains(name)
                || roles::share_of(name).is_some_and(|(base, _)| known.contains(base))
        };
        let data = self.roles.data();
        if self.main.is_some() || !data.iter().any(|&column| is_known(&self.names[column])) {
            return;
        }
        for column in data
            .into_iter()
            .filter(|&column| which(&*self.reader, column))
        {
            if !is_known(&self.names[column]) {
                let role = &mut self.roles.columns[column];
                (role.role, role.reason) = (Role::Skipped, Reason::Unknown);
            }
        }
    }

    /// Of several index columns of words the first whose words all differ names the objects.
    fn take_distinct_index(&mut self, limit: &Limit) -> Result<()> {
        let columns: Vec<usize> = (0..self.names.len())
            .filter(|&column| {
                self.roles.columns[column].reason == Reason::Index && self.reader.is_text(column)
            })
            .collect();
        if columns.len() < 2 {
            return Ok(());
        }
        for &column in &columns {
            if self.all_differ(column, limit)? {
                columns
                    .iter()
                    .for_each(|&other| self.roles.columns[other].role = Role::Skipped);
                self.roles.columns[column].role = Role::Objects;
                break;
            }
        }
        Ok(())
    }

    fn of_columns(reader: Box<dyn Reader>, rules: &Rules<'_>) -> Result<Self> {
        let names = reader.names().to_vec();
        roles::distinct(reader.path(), &names)?;
        let mut found = roles::assign(reader.path(), &names, rules)?;
        let skip = roles::find_all(reader.path(), &names, rules.skip)?;
        for item in index_columns(&*reader)? {
            let is_free = match found[item].reason {
                Reason::Rest => found[item].role == Role::Data,
                // Names go with the only columns that are data.
                Reason::Asked => found[item].role == Role::Skipped && !skip.contains(&item),
                _ => false,
            };
            if !is_free {
                continue;
            }
            // An index of numbers is mostly that of the rows.
            let names =
                reader.is_text(item) && found.iter().all(|column| column.role != Role::Objects);
            let role = if names { Role::Objects } else { Role::Skipped };
            (found[item].role, found[item].reason) = (role, Reason::Index);
        }
        let extent = reader.extent(0)?;
        Ok(Self::of_roles(reader, names, found, extent))
    }

    fn of_roles(
        reader: Box<dyn Reader>,
        names: Vec<String>,
        columns: Vec<ColumnRole>,
        extent: Extent,
    ) -> Self {
        Self {
            reader,
            names,
            roles: Roles {
                columns,
                ..Roles::default()
            },
            extent,
            missing: MissingWords::default(),
            main: None,
            truth: None,
            objects: None,
        }
    }

    /// Takes columns of words that all differ for names. Columns of numbers are not looked at, and of others only as much as
    /// it takes to find a word twice.
    fn take_distinct_columns(&mut self, limit: &Limit) -> Result<()> {
        if self.main.is_some() {
            return Ok(());
        }
        for column in self.roles.data() {
            if self.reader.is_text(column) && self.all_differ(column, limit)? {
                self.roles.take_distinct(column);
            }
        }
        Ok(())
    }

    fn all_differ(&self, column: usize, limit: &Limit) -> Result<bool> {
        let mut seen: HashSet<String> = HashSet::new();
        for group in 0..self.extent.count() {
            let words = self
                .reader
                .read_one(group, column, Form::Labels, limit)?
                .into_dictionary();
            if !words.all_words_differ() || words.values().iter().any(|word| seen.contains(word)) {
                return Ok(false);
            }
            seen.extend(words.values().iter().cloned());
        }
        let values: Vec<String> = seen.into_iter().collect();
        let enough = values.len() >= fewest_names(&self.names[column]);
        Ok(enough && !ValueKind::are_values(&values))
    }

    fn of_arrays(
        reader: Box<dyn Reader>,
        wanted: &Wanted<'_>,
        rules: &Rules<'_>,
        budget: MemoryBudget,
    ) -> Result<Self> {
        let main = main_array(&*reader, wanted.main)?;
        let extent = reader.extent(main)?;
        let limit = names_limit(budget);
        let asked = rules.truth.is_some();
        // Classes in an array of their own go before a column of the main array.
        let (truth, rules) = match rules.truth {
            Some(asked) => match first_of(&*reader, &[asked]) {
                Some(array) => (
                    Some(array),
                    &Rules {
                        truth: None,
                        ..*rules
                    },
                ),
                None => (None, rules),
            },
            None if rules.truth_names.is_empty() => (None, rules),
            None => (first_of(&*reader, CLASS_ARRAYS), rules),
        };
        let reason = if asked { Reason::Asked } else { Reason::Name };
        let beside = |name| {
            if wanted.names {
                first_of(&*reader, &[name])
            } else {
                None
            }
        };
        let columns = beside(COLUMNS);
        let mut objects = beside(OBJECTS);
        let mut names: Vec<String> = (1..=extent.columns)
            .map(|position| position.to_string())
            .collect();
        if let Some(item) = columns {
            let given = reader.read_whole(item, Form::Text, &limit)?;
            if given.rows() == extent.columns {
                names = given.into_texts();
            }
        }
        if let Some(item) = objects
            && reader.extent(item)?.rows() != extent.rows()
        {
            objects = None;
        }
        let found = roles::assign(reader.path(), &names, rules)?;
        let mut arrays = Vec::new();
        for (item, role, reason) in [
            (Some(main), Role::Data, Reason::Rest),
            (truth, Role::Truth, reason),
            (columns, Role::ColumnNames, Reason::Rest),
            (objects, Role::Objects, Reason::Rest),
        ] {
            arrays.extend(item.map(|item| ColumnRole::new(&reader.names()[item], role, reason)));
        }
        let mut frame = Self::of_roles(reader, names, found, extent);
        frame.roles.arrays = arrays;
        Ok(Self {
            main: Some(main),
            truth,
            objects,
            ..frame
        })
    }

    /// Reads the columns of a text file, whose rows are known when all are read, data in the form that `form` says. Columns of words that
    /// all differ name the objects; other data than `known` is left out.
    pub(crate) fn read_text(
        &mut self,
        form: impl Fn(&dyn Reader, usize) -> Form,
        known: &[String],
        limit: &Limit,
    ) -> Result<TextColumns> {
        let data = self.roles.data();
        let truth = self.roles.truth();
        let objects = self.roles.objects();
        let columns = data.iter().map(|&at| (at, form(&*self.reader, at)));
        let beside = truth.iter().chain(&objects).map(|&at| (at, Form::Text));
        let wanted: Vec<(usize, Form)> = columns.chain(beside).collect();
        let mut read = self.read_columns(&wanted, limit)?;
        self.roles.warnings.extend(self.reader.late_remarks());
        let mut object_names = objects.and_then(|_| read.pop()).map(Column::into_texts);
        if let Some(at) = objects.filter(|_| object_names.as_deref().is_some_and(all_empty)) {
            object_names = None;
            let role = &mut self.roles.columns[at];
            (role.role, role.reason) = (Role::Skipped, Reason::Empty);
        }
        let texts = truth.and_then(|at| Some((at, read.pop()?.into_texts())));
        let truth = texts.map(|(at, texts)| LabelColumn {
            name: self.truth_name(at),
            values: self.missing.labels(texts, &mut self.roles.missing),
        });
        let known_names: HashSet<&str> = known.iter().map(String::as_str).collect();
        for (&at, column) in data.iter().zip(&read) {
            let Column::Labels(words) = column else {
                continue;
            };
            let known = known_names.contains(&*self.names[at])
                || self.roles.columns[at].reason == Reason::Asked;
            if known || !are_names(&self.names[at], words) {
                continue;
            }
            self.roles.take_distinct(at);
            if self.roles.columns[at].role == Role::Objects {
                object_names = Some(words.values().to_vec());
            }
        }
        self.leave_out_unknown(known, |_, _| true);
        let kept = self.roles.data();
        let columns = data.into_iter().zip(read);
        let (data, columns) = columns
            .filter(|(at, _)| kept.binary_search(at).is_ok())
            .unzip();
        Ok(TextColumns {
            data,
            columns,
            object_names,
            truth,
        })
    }

    /// Columns of all rows, numbers of whatever type as those out of text.
    pub(crate) fn read_columns(
        &self,
        wanted: &[(usize, Form)],
        limit: &Limit,
    ) -> Result<Vec<Column>> {
        if !self.reader.items().typed {
            return self.reader.read(0, wanted, limit);
        }
        let bytes = 16 * wanted.len() as u64;
        limit.check(self.path(), self.rows().unwrap_or(0).saturating_mul(bytes))?;
        let read = |&(at, form): &(usize, Form)| {
            let column = self.reader.read_whole(at, form, limit)?;
            match (form, column) {
                (Form::Numbers { gaps, .. }, Column::Array(array)) if !array.is_text() => {
                    self.parsed(at, &array, gaps)
                }
                (_, column) => Ok(column),
            }
        };
        wanted.par_iter().map(read).collect()
    }

    /// Numbers of a type as those out of text.
    fn parsed(&self, at: usize, array: &TypedArray, gaps: bool) -> Result<Column> {
        let value = |row: usize| array.scalar(row, 0).map_or(f64::NAN, Scalar::float);
        let values: Vec<f64> = (0..array.rows).map(value).collect();
        let is_wrong = |value: &f64| value.is_infinite() || value.is_nan() && !gaps;
        if let Some(row) = values.iter().position(is_wrong) {
            let (text, wrong) = match values[row] {
                value if value.is_nan() => (String::new(), WrongValue::Missing),
                value => (Short(value).to_string(), WrongValue::NotFinite),
            };
            let place = Row::Row(row as u64 + 1);
            let cell = Cell::new(self.path(), place, &self.names[at], text);
            return Err(FileError::value(cell, wrong));
        }
        Ok(Column::Parsed {
            values,
            words: false,
            missing: MissingCounts::new(),
            padded: false,
        })
    }

    /// Leaves out columns whose type says that they hold dates or times, and nobody asks for them.
    pub(crate) fn leave_out_times(&mut self, known: &[String]) {
        let times = &self.reader.items().times;
        for (column, _) in self
            .roles
            .columns
            .iter_mut()
            .zip(times)
            .filter(|(_, time)| **time)
        {
            let is_open = column.role == Role::Data && column.reason == Reason::Rest;
            if is_open && !known.contains(&column.name) {
                (column.role, column.reason) = (Role::Skipped, Reason::Dates);
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.reader.path()
    }

    /// Number of objects, where the file tells before it is read.
    pub(crate) fn rows(&self) -> Option<u64> {
        self.extent.groups.as_ref().map(|_| self.extent.rows())
    }

    /// Bytes that values take while they are read.
    pub(crate) fn transient(&self) -> u64 {
        self.extent.largest()
    }

    /// The item of the file that holds a column, and which column of it that is.
    pub(crate) fn place(&self, column: usize) -> Place {
        let (item, inside) = self.main.map_or((column, 0), |main| (main, column));
        Place { item, inside }
    }

    /// What to call the values of a column in a message.
    pub(crate) fn call(&self, column: usize) -> String {
        self.reader.items().call(self.place(column).item)
    }

    /// Names of the objects.
    pub(crate) fn object_names(&self, limit: &Limit) -> Result<Option<Vec<String>>> {
        match (self.objects, self.roles.objects()) {
            (Some(item), _) => Ok(Some(
                self.reader
                    .read_whole(item, Form::Text, limit)?
                    .into_texts(),
            )),
            (None, Some(column)) => self.texts(column, limit).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The true classes by their own names; what was missing among them is counted.
    pub(crate) fn truth(&mut self, limit: &Limit) -> Result<Option<LabelColumn>> {
        let mut counts = MissingCounts::new();
        let found = match (self.truth, self.roles.truth()) {
            (Some(item), _) => {
                let values = label_array(
                    &*self.reader,
                    item,
                    self.rows(),
                    &self.missing,
                    &mut counts,
                    limit,
                )?;
                Some(LabelColumn {
                    name: "label".into(),
                    values,
                })
            }
            (None, Some(column)) => {
                let values = self.missing.labels(self.texts(column, limit)?, &mut counts);
                Some(LabelColumn {
                    name: self.truth_name(column),
                    values,
                })
            }
            (None, None) => None,
        };
        add_counts(&mut self.roles.missing, &counts);
        Ok(found)
    }

    /// What a column of classes is called.
    pub(crate) fn truth_name(&self, column: usize) -> String {
        let own = self.reader.items().named && self.reader.items().layout == Layout::Columns;
        if own {
            self.names[column].clone()
        } else {
            "label".into()
        }
    }

    /// The value of a row, for a message.
    pub(crate) fn value(&self, column: usize, row: usize, limit: &Limit) -> String {
        let Place { item, inside } = self.place(column);
        let mut before = 0;
        for (group, &rows) in self.extent.groups.iter().flatten().enumerate() {
            if row < before + rows {
                let read = self.reader.read_one(group, item, Form::Text, limit);
                return read.map_or(String::new(), |read| read.into_text(row - before, inside));
            }
            before += rows;
        }
        String::new()
    }

    /// A column spelt out.
    pub(crate) fn texts(&self, column: usize, limit: &Limit) -> Result<Vec<String>> {
        let Place { item, inside } = self.place(column);
        limit.check_claim(self.reader.path(), self.rows().unwrap_or(0), Form::Text)?;
        let mut texts = Vec::new();
        for group in 0..self.extent.count() {
            match self.reader.read_one(group, item, Form::Text, limit)? {
                Column::Array(array) => texts.extend(array.texts(inside)),
                other => texts.extend(other.into_texts()),
            }
        }
        Ok(texts)
    }
}

/// The columns that hold an index: those that pandas' note names, and those without a name of their own.
fn index_columns(reader: &dyn Reader) -> Result<Vec<usize>> {
    let note = reader
        .note("pandas")?
        .and_then(|note| serde_json::from_slice::<serde_json::Value>(&note).ok());
    let listed: Vec<String> = note
        .and_then(|note| Some(note.get("index_columns")?.as_array()?.clone()))
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let is_index = |name: &String| name.starts_with(INDEX) || listed.contains(name);
    Ok((0..reader.names().len())
        .filter(|&item| is_index(&reader.names()[item]))
        .collect())
}

/// The labels in an array of one row or one column.
pub(crate) fn label_array(
    reader: &dyn Reader,
    item: usize,
    objects: Option<u64>,
    missing: &MissingWords,
    counts: &mut MissingCounts,
    limit: &Limit,
) -> Result<Vec<Option<String>>> {
    let extent = reader.extent(item)?;
    let rows = extent.rows();
    let columns = extent.columns as u64;
    let refuse = |found, expected| {
        Err(FileError::kind(
            reader.path(),
            reader.items().call(item),
            found,
            expected,
        ))
    };
    if rows > 1 && columns > 1 {
        return refuse(
            format!("an array of {rows} × {columns} values"),
            "one column of labels",
        );
    }
    let length = rows.saturating_mul(columns);
    if let Some(objects) = objects.filter(|&objects| objects != length) {
        return refuse(
            format!("{length} labels for {objects} objects"),
            "one label an object",
        );
    }
    match reader.read_whole(item, Form::Text, limit)? {
        Column::Array(array) if array.columns > 1 => Ok(missing.labels(
            (0..array.columns)
                .map(|column| array.text(0, column))
                .collect(),
            counts,
        )),
        other => Ok(missing.labels(other.into_texts(), counts)),
    }
}

/// The limit for names that stand beside values.
pub(crate) fn names_limit(budget: MemoryBudget) -> Limit {
    Limit::new(budget, "the names", "raise the limit")
}
