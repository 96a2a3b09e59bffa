//! Hard labels read: one column of labels of any file, true classes or clusters of a result, and the names of the objects.

use std::path::Path;

use super::ensemble::check_header_word;
use super::frame::{are_names, label_array, main_array, names_limit};
use super::label_column::{LabelColumn, Labels};
use super::read_options::ReadOptions;
use super::roles::{self, ColumnRole, Reason, Role, Roles};
use super::rules::Facts;
use super::stored_ensemble;
use crate::dictionary::Dictionary;
use crate::error::{FileError, Result};
use crate::format::description::{Format, OpenOptions};
use crate::format::reader::{Column, Form, Layout, Limit, Reader, first_of};
use crate::format::{self, FORMATS, Header};
use crate::words::{BESIDE_LABELS, CLASS_ARRAYS, CLASSES, is_id};

/// Reads one column of labels from any kind of file: the one asked for ([`ReadOptions::truth`]), else `label`, else `truth`,
/// else the only one that can be meant. Of a `.mat` file it is the array `gt`, of an ensemble its truth. Empty fields, NaN
/// and the words of [`ReadOptions::missing`] are missing; any other value, −1 too, is a label.
///
/// The names of the objects are those of a first column called `object`, `id` or `name`, or not called at all, else of a column
/// whose values all differ: words, or called `cell`, `barcode`, `sample` or `index`.
///
/// # Errors
/// [`FileError`] names the file, the row, the column, the value, and what to do, also where several
/// columns could be meant.
pub fn read_labels(path: &Path, options: &ReadOptions) -> Result<Labels, FileError> {
    load_labels(path, options).map(|(labels, _)| labels)
}

/// As [`read_labels`], and what every column was taken for.
///
/// # Errors
/// As [`read_labels`]; [`FileError::Budget`] for a file that claims more.
pub fn load_labels(path: &Path, options: &ReadOptions) -> Result<(Labels, Roles), FileError> {
    load(FORMATS, path, options)
}

pub(crate) fn load(
    formats: &'static [Format],
    path: &Path,
    options: &ReadOptions,
) -> Result<(Labels, Roles)> {
    let open_options = OpenOptions {
        labels: true,
        ..options.open_options()
    };
    let reader = format::open_reader(formats, path, &open_options)?;
    let limit = Limit {
        bytes_per_row: 4,
        what: "the labels",
        ..names_limit(options.budget)
    };
    let (labels, mut roles) = if reader.items().layout == Layout::Columns {
        from_columns(&*reader, options, &limit)?
    } else if options.truth.column().is_none()
        && let Some(meta) = reader.note(stored_ensemble::META)?
        && let Some(labels) = stored_ensemble::read_truth(&*reader, &meta, &limit)?
    {
        let arrays = vec![ColumnRole::new("truth", Role::Truth, Reason::Rest)];
        (
            labels,
            Roles {
                arrays,
                ..Roles::default()
            },
        )
    } else {
        from_arrays(&*reader, options, &limit)?
    };
    roles.objects = labels.column.values.len() as u64;
    let warnings = Facts {
        truth: Some(&labels.column),
        names: labels.object_names.as_deref(),
        ..Facts::new(&roles, options, labels.column.values.len())
    }
    .warnings();
    roles.warnings.extend(warnings);
    Ok((labels, roles))
}

/// Labels of objects without names.
fn unnamed(name: &str, values: Vec<Option<String>>) -> Labels {
    let name = name.to_owned();
    let column = LabelColumn { name, values };
    Labels {
        object_names: None,
        column,
    }
}

/// Which columns of a file are read, and in which form.
struct Plan {
    /// The column of the labels, where it is known.
    labels: Option<usize>,
    /// The column of the names, where it is known.
    names: Option<usize>,
    /// Columns that may hold names, and all where that of the labels is not known.
    candidates: Vec<usize>,
}

impl Plan {
    fn new(reader: &dyn Reader, roles: &[ColumnRole]) -> Self {
        let columns = reader.names();
        let at = |role| roles.iter().position(|column| column.role == role);
        let labels = at(Role::Truth);
        let names = at(Role::Objects);
        let may = |&item: &usize| {
            let known = is_id(&columns[item]);
            let wanted = labels.is_none() || (names.is_none() && (known || reader.is_text(item)));
            wanted
                && roles[item].role == Role::Data
                && !BESIDE_LABELS.contains(&columns[item].as_str())
        };
        Self {
            labels,
            names,
            candidates: (0..columns.len()).filter(may).collect(),
        }
    }

    fn wanted(&self) -> Vec<(usize, Form)> {
        let known = self
            .labels
            .iter()
            .chain(&self.names)
            .map(|&item| (item, Form::Text));
        known
            .chain(self.candidates.iter().map(|&item| (item, Form::Labels)))
            .collect()
    }

    /// Of the candidates, those whose values can be names.
    fn name_columns(&self, reader: &dyn Reader, read: &[Dictionary]) -> Vec<usize> {
        let differ = |(item, words): (&usize, &Dictionary)| {
            are_names(&reader.names()[*item], words).then_some(*item)
        };
        self.candidates
            .iter()
            .zip(read)
            .filter_map(differ)
            .collect()
    }
}

fn from_columns(
    reader: &dyn Reader,
    options: &ReadOptions,
    limit: &Limit,
) -> Result<(Labels, Roles)> {
    let mut columns = roles::assign(
        reader.path(),
        reader.names(),
        &roles::Rules::new(options, CLASSES),
    )?;
    // A column called label is what files of labels are made of; nobody has to be told.
    let told =
        |column: &&mut ColumnRole| column.role == Role::Truth && column.reason == Reason::Name;
    columns
        .iter_mut()
        .filter(told)
        .for_each(|column| column.reason = Reason::Rest);
    let plan = Plan::new(reader, &columns);
    let mut read = read_all(reader, &plan.wanted(), limit)?.into_iter();
    let mut labels = plan
        .labels
        .and_then(|_| read.next())
        .map(Column::into_texts);
    let mut names = plan.names.and_then(|_| read.next()).map(Column::into_texts);
    let words: Vec<Dictionary> = read.map(Column::into_dictionary).collect();
    let differing = plan.name_columns(reader, &words);
    let of = |item: usize| {
        plan.candidates
            .iter()
            .position(|&candidate| candidate == item)
            .map(|place| &words[place])
    };
    if names.is_none()
        && let Some(&item) = differing.first()
    {
        names = of(item).map(|words| words.values().to_vec());
        (columns[item].role, columns[item].reason) = (Role::Objects, Reason::Distinct);
    }
    if labels.is_none() {
        let item = only_one(reader, &plan.candidates, &differing)?;
        let words = of(item).cloned().unwrap_or_default();
        if options.header == Header::Auto && reader.items().named && !reader.items().typed {
            check_header_word(reader.path(), item, &reader.names()[item], &words)?;
        }
        labels = Some(Column::Labels(words).into_texts());
        (columns[item].role, columns[item].reason) = (Role::Truth, Reason::Rest);
    }
    columns
        .iter_mut()
        .filter(|column| column.role == Role::Data)
        .for_each(|column| column.role = Role::Skipped);
    let mut roles = Roles {
        columns,
        warnings: [reader.items().remarks.clone(), reader.late_remarks()].concat(),
        ..Roles::default()
    };
    let mut texts = labels.unwrap_or_default();
    if !reader.items().typed {
        // Where the file does not tell numbers from texts, this is one.
        let words = options.missing_words();
        let nan = |text: &&mut String| text.eq_ignore_ascii_case("nan") && !words.contains(text);
        texts.iter_mut().filter(nan).for_each(String::clear);
    }
    let values = options.missing_words().labels(texts, &mut roles.missing);
    let name = roles
        .truth()
        .filter(|_| reader.items().named)
        .map_or("label", |at| &reader.names()[at])
        .to_owned();
    let column = LabelColumn { name, values };
    let object_names = names;
    Ok((
        Labels {
            object_names,
            column,
        },
        roles,
    ))
}

/// Items of all groups.
pub(crate) fn read_all(
    reader: &dyn Reader,
    wanted: &[(usize, Form)],
    limit: &Limit,
) -> Result<Vec<Column>> {
    let mut read = reader.read(0, wanted, limit)?;
    for group in 1..reader.extent(0)?.count() {
        for (all, more) in read.iter_mut().zip(reader.read(group, wanted, limit)?) {
            let start = all.rows();
            all.append(reader.path(), more, start)?;
        }
    }
    Ok(read)
}

/// The only column that can be the labels.
fn only_one(reader: &dyn Reader, candidates: &[usize], names: &[usize]) -> Result<usize> {
    let left: Vec<usize> = candidates
        .iter()
        .copied()
        .filter(|item| !names.contains(item))
        .collect();
    match (&left[..], candidates) {
        ([one], _) | ([], [one]) => Ok(*one),
        _ => {
            let columns: Vec<String> = left
                .iter()
                .map(|&item| reader.names()[item].clone())
                .collect();
            Err(FileError::ambiguous(reader.path(), &columns))
        }
    }
}

fn from_arrays(
    reader: &dyn Reader,
    options: &ReadOptions,
    limit: &Limit,
) -> Result<(Labels, Roles)> {
    let column = options.truth.column();
    let item = match column {
        Some(asked) => match first_of(reader, &[asked]) {
            Some(item) => item,
            None => return from_position(reader, asked, options, limit),
        },
        None => match first_of(reader, CLASS_ARRAYS) {
            Some(item) => item,
            None => main_array(reader, &["labels"])?,
        },
    };
    let reason = if column.is_some() {
        Reason::Asked
    } else {
        Reason::Name
    };
    let mut roles = Roles::default();
    let values = label_array(
        reader,
        item,
        None,
        &options.missing_words(),
        &mut roles.missing,
        limit,
    )?;
    let name = &reader.names()[item];
    let reason = if name.is_empty() {
        Reason::Rest
    } else {
        reason
    };
    roles
        .arrays
        .push(ColumnRole::new(name, Role::Truth, reason));
    Ok((unnamed(column.unwrap_or("label"), values), roles))
}

/// A column of the only array by its position from 1.
fn from_position(
    reader: &dyn Reader,
    column: &str,
    options: &ReadOptions,
    limit: &Limit,
) -> Result<(Labels, Roles)> {
    let item = main_array(reader, &[column])?;
    let extent = reader.extent(item)?;
    let names: Vec<String> = (1..=extent.columns)
        .map(|position| position.to_string())
        .collect();
    let at = roles::find(reader.path(), &names, column)?;
    let mut texts = Vec::new();
    for group in 0..extent.count() {
        match reader.read_one(group, item, Form::Text, limit)? {
            Column::Array(array) => texts.extend(array.texts(at)),
            other => texts.extend(other.into_texts()),
        }
    }
    let role = |(place, name): (usize, String)| {
        let (role, reason) = if place == at {
            (Role::Truth, Reason::Asked)
        } else {
            (Role::Skipped, Reason::Rest)
        };
        ColumnRole::new(name, role, reason)
    };
    let mut roles = Roles {
        columns: names.into_iter().enumerate().map(role).collect(),
        ..Roles::default()
    };
    let values = options.missing_words().labels(texts, &mut roles.missing);
    Ok((unnamed("label", values), roles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_says, cases, file};

    fn read(text: &str, column: Option<&str>) -> Result<(Labels, Roles), String> {
        let (_folder, path) = file("a.csv", text);
        let options = ReadOptions {
            truth: column.into(),
            ..ReadOptions::default()
        };
        load_labels(&path, &options).map_err(|error| error.to_string())
    }

    #[test]
    fn labels_and_names_are_found_wherever_they_stand() {
        let numbers = "type,barcode\nu,10\nu,30\nv,20\n";
        // A text, the column that is asked for, that which is read, its labels, and the names.
        for [text, asked, column, labels, names] in cases(
            r"
            object,label,certainty\nx,1,0.5\ny,,1 | | label | 1? | xy
            object,label,certainty\nx,1,0.5\ny,,1 | 1 | object | xy |
            1\n-1\nNaN | | label | 1-1? |
            name,class\na,u\nb,v | | class | uv | ab
            object,truth,x\na,u,1\nb,v,2 | | truth | uv | ab
            type,cell,n\nu,c1,3\nu,c2,4\nv,c3,4 | type | type | uuv | c1c2c3
            type,barcode\nu,10\nu,30\nv,20 | | type | uuv | 103020
            sample,type\n1,u\n1,u\n2,v | type | type | uuv |",
        ) {
            let (found, _) = read(&text, Some(&*asked).filter(|asked| !asked.is_empty())).unwrap();
            let values = found.column.values.iter();
            let values: String = values
                .map(|value| value.as_deref().unwrap_or("?"))
                .collect();
            assert_eq!((&found.column.name, &values), (&column, &labels), "{text}");
            let found = found.object_names.map(|names| names.concat());
            assert_eq!(found.unwrap_or_default(), names, "{text}");
        }
        let note = read(numbers, None).unwrap().1.note().unwrap();
        assert_eq!(
            note,
            "names from 'barcode' (all 3 values differ); truth 'type'"
        );
        let several = read("cell,x,type\nc1,1,u\nc2,2,u\nc3,2,v\n", None).unwrap_err();
        assert_says(
            several,
            &["which column holds the labels?", "it has 'x', 'type'"],
        );
        assert_says(read("u\nv\nu\n", None).unwrap_err(), &["--no-header"]);
    }
}
