//! One view of files of columns and of files of arrays: named columns, and the arrays that stand beside them.

use std::path::Path;

use partita_core::MemoryBudget;

use super::label_column::LabelColumn;
use super::roles::{self, Role, Roles, Rules};
use crate::error::FileError;
use crate::format::reader::{Column, Extent, Form, Layout, Limit, Reader};

/// What the classes may be called in an archive; the first is how we write them.
pub(crate) const TRUTHS: [&str; 6] = ["y", "truth", "gt", "label", "target", "gnd"];
/// What the names of columns and of objects are called in an archive.
pub(crate) const COLUMNS: &str = "columns";
pub(crate) const OBJECTS: &str = "objects";

/// What to look for among the arrays of a file.
pub(crate) struct Wanted<'a> {
    /// Names of the array whose columns are meant; the only array of a file needs no name.
    pub(crate) main: &'a [&'a str],
    /// Whether arrays with the names of columns and objects are looked for.
    pub(crate) names: bool,
}

/// A file as columns of equal length.
pub(crate) struct Frame {
    pub(crate) reader: Box<dyn Reader>,
    pub(crate) names: Vec<String>,
    pub(crate) roles: Roles,
    pub(crate) extent: Extent,
    /// The array whose columns these are, in a file of arrays.
    main: Option<usize>,
    /// The array with the classes.
    truth: Option<usize>,
    /// The array with the names of the objects.
    objects: Option<usize>,
}

/// The first of the names that a file has.
pub(crate) fn first_of(reader: &dyn Reader, names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| reader.names().iter().position(|found| found == name))
}

/// The array called by the first of the names that exists, or the only one there is.
pub(crate) fn main_array(reader: &dyn Reader, names: &[&str]) -> Result<usize, FileError> {
    match (first_of(reader, names), reader.names()) {
        (Some(item), _) => Ok(item),
        (None, [_]) => Ok(0),
        (None, known) => {
            let array = names.first().copied().unwrap_or_default().to_owned();
            Err(FileError::NoArray { path: reader.path().into(), array, known: known.to_vec() })
        }
    }
}

impl Frame {
    /// The columns of a file and their roles.
    pub(crate) fn new(
        reader: Box<dyn Reader>,
        wanted: &Wanted<'_>,
        rules: &Rules<'_>,
        budget: MemoryBudget,
    ) -> Result<Self, FileError> {
        let frame = match reader.layout() {
            Layout::Columns => Self::of_columns(reader, rules)?,
            Layout::Arrays => Self::of_arrays(reader, wanted, rules, budget)?,
        };
        roles::distinct(frame.reader.path(), &frame.names)?;
        Ok(frame)
    }

    fn of_columns(reader: Box<dyn Reader>, rules: &Rules<'_>) -> Result<Self, FileError> {
        let names = reader.names().to_vec();
        roles::distinct(reader.path(), &names)?;
        let mut found = roles::assign(reader.path(), &names, rules)?;
        for (item, role) in found.iter_mut().enumerate() {
            if *role == Role::Data && reader.is_index(item) {
                *role = Role::Skipped;
            }
        }
        let roles = Roles { columns: names.iter().cloned().zip(found).collect(), arrays: Vec::new() };
        let extent = reader.extent(0)?;
        Ok(Self { reader, names, roles, extent, main: None, truth: None, objects: None })
    }

    fn of_arrays(
        reader: Box<dyn Reader>,
        wanted: &Wanted<'_>,
        rules: &Rules<'_>,
        budget: MemoryBudget,
    ) -> Result<Self, FileError> {
        let main = main_array(&*reader, wanted.main)?;
        let extent = reader.extent(main)?;
        let limit = names_limit(budget);
        // Classes in an array of their own go before a column of the main array.
        let (truth, rules) = match rules.truth {
            Some(asked) => match first_of(&*reader, &[asked]) {
                Some(array) => (Some(array), &Rules { truth: None, ..*rules }),
                None => (None, rules),
            },
            None => (first_of(&*reader, &TRUTHS), rules),
        };
        let beside = |name| if wanted.names { first_of(&*reader, &[name]) } else { None };
        let (columns, mut objects) = (beside(COLUMNS), beside(OBJECTS));
        let mut names: Vec<String> = (1..=extent.columns).map(|position| position.to_string()).collect();
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
        let used =
            [(Some(main), Role::Data), (truth, Role::Truth), (columns, Role::ColumnNames), (objects, Role::Objects)];
        let name = |(item, role): (Option<usize>, Role)| Some((reader.names()[item?].clone(), role));
        let arrays = used.into_iter().filter_map(name).collect();
        let roles = Roles { columns: names.iter().cloned().zip(found).collect(), arrays };
        Ok(Self { reader, names, roles, extent, main: Some(main), truth, objects })
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
    pub(crate) fn place(&self, column: usize) -> (usize, usize) {
        self.main.map_or((column, 0), |main| (main, column))
    }

    /// What to call the values of a column in a message.
    pub(crate) fn call(&self, column: usize) -> String {
        self.reader.call(self.place(column).0)
    }

    /// Names of the objects.
    pub(crate) fn object_names(&self, limit: &Limit) -> Result<Option<Vec<String>>, FileError> {
        match (self.objects, self.roles.objects()) {
            (Some(item), _) => Ok(Some(self.reader.read_whole(item, Form::Text, limit)?.into_texts())),
            (None, Some(column)) => self.texts(column, limit).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The true classes by their own names.
    pub(crate) fn truth(&self, limit: &Limit) -> Result<Option<LabelColumn>, FileError> {
        if let Some(item) = self.truth {
            let values = label_array(&*self.reader, item, self.rows(), limit)?;
            return Ok(Some(LabelColumn { name: "label".into(), values }));
        }
        let Some(column) = self.roles.truth() else { return Ok(None) };
        let values = labelled(self.texts(column, limit)?);
        Ok(Some(LabelColumn { name: self.truth_name(column), values }))
    }

    /// What a column of classes is called.
    pub(crate) fn truth_name(&self, column: usize) -> String {
        let own = self.reader.named() && self.reader.layout() == Layout::Columns;
        if own { self.names[column].clone() } else { "label".into() }
    }

    /// A column spelt out.
    pub(crate) fn texts(&self, column: usize, limit: &Limit) -> Result<Vec<String>, FileError> {
        let (item, inside) = self.place(column);
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

/// Labels by their own names; an empty text is none.
pub(crate) fn labelled(texts: Vec<String>) -> Vec<Option<String>> {
    texts.into_iter().map(|text| (!text.is_empty()).then_some(text)).collect()
}

/// The labels in an array of one row or one column.
pub(crate) fn label_array(
    reader: &dyn Reader,
    item: usize,
    objects: Option<u64>,
    limit: &Limit,
) -> Result<Vec<Option<String>>, FileError> {
    let extent = reader.extent(item)?;
    let (rows, columns) = (extent.rows(), extent.columns as u64);
    let refuse = |found, expected| Err(FileError::kind(reader.path(), reader.call(item), found, expected));
    if rows > 1 && columns > 1 {
        return refuse(format!("an array of {rows} × {columns} values"), "one column of labels");
    }
    let length = rows.saturating_mul(columns);
    if let Some(objects) = objects.filter(|&objects| objects != length) {
        return refuse(format!("{length} labels for {objects} objects"), "one label an object");
    }
    match reader.read_whole(item, Form::Text, limit)? {
        Column::Array(array) if array.columns > 1 => {
            Ok(labelled((0..array.columns).map(|column| array.text(0, column)).collect()))
        }
        other => Ok(labelled(other.into_texts())),
    }
}

/// The limit for names that stand beside values.
pub(crate) fn names_limit(budget: MemoryBudget) -> Limit {
    Limit { budget, what: "the names", remedy: "raise the limit", bytes_per_row: 0 }
}
