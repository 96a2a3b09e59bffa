//! Ensembles on disk.

use std::path::{Path, PathBuf};

use partita_core::{BaseClustering, Ensemble, EnsembleError, MemoryBudget, Shares, option};

use super::base_columns::has_many_values;
use super::frame::{Frame, Wanted};
use super::label_column::LabelColumn;
use super::label_rows::{self, EncodedBase, EncodedItems, MOST_BYTE_CLUSTERS};
use super::read_options::ReadOptions;
use super::roles::{self, Reason, Role, Roles};
use super::rules::{Facts, check_labels};
use super::{soft_columns, stored_ensemble};
use crate::dictionary::Dictionary;
use crate::error::{FileError, Result, Row, WrongValue, shown};
use crate::format::description::{Format, OpenOptions, Writes};
use crate::format::reader::{Column, Form, Layout, Limit, Reader};
use crate::format::writer::{Contents, Data};
use crate::format::{self, FORMATS, Header};
use crate::words::{CLASSES, MissingWords, add_counts, is_reserved, weighs_objects};

/// What the base clusterings may be called in an archive, objects × base clusterings.
const MEMBERS: [&str; 3] = ["labels", "members", "ensemble"];

/// Under this key lies how the ensemble was made.
const RECIPE: &str = "partita.recipe";

/// An ensemble, and the true classes where the file has them.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedEnsemble {
    /// The base clusterings.
    pub ensemble: Ensemble,
    /// The true classes of the objects.
    pub truth: Option<LabelColumn>,
}

/// Reads an ensemble in any of the formats: delimited text, Parquet or Arrow with one column a base clustering; NPZ, ours
/// or any archive with an array `labels` (objects × base clusterings); NPY; MATLAB v5 with `members` and `gt`.
///
/// A first column called `object`, `id` or `name` names the objects, else a column of words that all differ; a column called
/// `label` or `truth` holds the true classes. Where all labels of a base clustering are numbers they must be whole, and −1 and
/// NaN are missing like empty fields and the words of [`ReadOptions::missing`]; clusters are numbered in the order of their
/// labels. [`load_ensemble`] says what was taken for what.
///
/// Columns `name.p0`, `name.p1`, … whose values are shares (between 0 and 1, rows sum to 1) are one soft base clustering `name`
/// ([`ReadOptions::soft_bases`] insists, also for columns that are called otherwise). A file `.Q`, `.meanQ`, `.indivq` or `_f` of
/// ADMIXTURE, fastStructure, CLUMPP or STRUCTURE is one soft base clustering, a folder of them one a file.
///
/// # Errors
/// [`FileError`] names the file, the row, the column, the value, and what to do.
///
/// # Cost
/// O(n M) time on all threads; 2 to 4 bytes a label, for text 5.
pub fn read_ensemble(path: &Path, options: &ReadOptions) -> Result<LoadedEnsemble, FileError> {
    load_ensemble(path, options).map(|(loaded, _)| loaded)
}

/// As [`read_ensemble`], and what every column was taken for.
///
/// # Errors
/// As [`read_ensemble`].
pub fn load_ensemble(
    path: &Path,
    options: &ReadOptions,
) -> Result<(LoadedEnsemble, Roles), FileError> {
    if let Some(runs) = load_runs(&[path], options)? {
        return Ok(runs);
    }
    let (mut loaded, roles) = load(FORMATS, path, options)?;
    if options.harden {
        loaded.ensemble = loaded.ensemble.hardened();
    }
    Ok((loaded, roles))
}

/// Runs of ancestry (`.Q`, …) that lie in files or in a folder; none where a file is something else.
///
/// # Errors
/// As [`read_ensemble`].
pub fn load_runs(
    files: &[&Path],
    options: &ReadOptions,
) -> Result<Option<(LoadedEnsemble, Roles)>, FileError> {
    let runs: Option<Vec<Vec<PathBuf>>> = files
        .iter()
        .map(|file| format::ancestry_files(file))
        .collect();
    let Some((runs, first)) = runs.zip(files.first()) else {
        return Ok(None);
    };
    let (mut ensemble, roles) = soft_columns::of_ancestry(first, &runs.concat(), options)?;
    if options.harden {
        ensemble = ensemble.hardened();
    }
    Ok(Some((
        LoadedEnsemble {
            ensemble,
            truth: None,
        },
        roles,
    )))
}

pub(crate) fn load(
    formats: &'static [Format],
    path: &Path,
    options: &ReadOptions,
) -> Result<(LoadedEnsemble, Roles)> {
    let reader = open_reader(formats, path, options)?;
    if let Some(meta) = reader.note(stored_ensemble::META)? {
        let (ensemble, truth, roles) =
            stored_ensemble::read(&*reader, &meta, options, &limit(options.budget, 0))?;
        return Ok((LoadedEnsemble { ensemble, truth }, roles));
    }
    let mut frame = open_frame(reader, options)?;
    let groups = soft_columns::mark(&mut frame, options);
    let soft = if groups.is_empty() {
        None
    } else {
        soft_columns::ensemble(&mut frame, &groups, options, &limit(options.budget, 0))?
    };
    let loaded = match soft {
        Some(soft) if frame.roles.data().is_empty() => {
            let limit = limit(options.budget, 0);
            let truth = frame.truth(&limit)?;
            finish(&frame, soft, frame.object_names(&limit)?, truth)?
        }
        Some(soft) => {
            let hard = labels(&mut frame, options)?;
            LoadedEnsemble {
                ensemble: hard
                    .ensemble
                    .beside(&soft)
                    .map_err(FileError::ensemble(path))?,
                ..hard
            }
        }
        None => labels(&mut frame, options)?,
    };
    let ensemble = &loaded.ensemble;
    check_labels(path, ensemble.bases())?;
    let warnings = Facts {
        bases: ensemble.bases(),
        truth: loaded.truth.as_ref(),
        names: ensemble.object_names(),
        ..Facts::new(&frame.roles, options, ensemble.objects())
    }
    .warnings();
    frame.roles.objects = ensemble.objects() as u64;
    frame.roles.warnings.extend(warnings);
    Ok((loaded, frame.roles))
}

pub(crate) fn open_reader(
    formats: &'static [Format],
    path: &Path,
    options: &ReadOptions,
) -> Result<Box<dyn Reader>> {
    // Objects without labels are objects.
    let open = OpenOptions {
        labels: true,
        keep_blank: true,
        ..options.open_options()
    };
    format::open_reader(formats, path, &open)
}

/// The columns of a file and their roles, of which some are base clusterings.
pub(crate) fn open_frame(reader: Box<dyn Reader>, options: &ReadOptions) -> Result<Frame> {
    let wanted = Wanted {
        main: &MEMBERS,
        names: false,
        truths: CLASSES,
    };
    let frame = Frame::new(reader, &wanted, options)?;
    if frame.roles.data().is_empty() {
        return Err(FileError::no_bases(frame.path(), frame.names.len()));
    }
    Ok(frame)
}

pub(crate) fn limit(budget: MemoryBudget, bytes_per_row: u64) -> Limit {
    let remedy = "raise the limit or read fewer base clusterings";
    Limit {
        bytes_per_row,
        ..Limit::new(budget, "the ensemble", remedy)
    }
}

/// The items of a file that hold base clusterings, in order.
pub(crate) fn items(frame: &Frame) -> Vec<usize> {
    let columns = frame.roles.data().into_iter();
    let mut items: Vec<usize> = columns.map(|column| frame.place(column).item).collect();
    items.dedup();
    items
}

/// The base clusterings in columns of labels.
fn labels(frame: &mut Frame, options: &ReadOptions) -> Result<LoadedEnsemble> {
    let path = frame.path().to_owned();
    let cells = frame
        .rows()
        .unwrap_or(0)
        .saturating_mul(frame.roles.data().len() as u64);
    let mut beside = None;
    let (found, limit) = if frame.reader.items().typed {
        let limit = limit(options.budget, 0);
        // One byte a label in columns and one in rows, and what is being decoded.
        limit.check(
            &path,
            cells.saturating_mul(2).saturating_add(frame.transient()),
        )?;
        let found = EncodedItems::read(frame, items(frame), &limit, |found| found)?;
        let many = typed_columns_of_many_values(frame, &found, &limit)?;
        leave_out_many(frame, &many);
        (found, limit)
    } else {
        let limit = limit(options.budget, frame.names.len() as u64 * 5);
        let read = frame.read_text(|_, _| Form::Labels, &options.data, &limit)?;
        if options.header == Header::Auto && frame.reader.items().named {
            check_header(frame, &read.data, &read.columns)?;
        }
        let name = frame.roles.truth().map(|at| frame.names[at].clone());
        let truth = read.truth.zip(name);
        let truth = truth.map(|(truth, name)| LabelColumn { name, ..truth });
        beside = Some((read.object_names, truth));
        let many = columns_of_many_values(frame, &read.data, &read.columns);
        let many = leave_out_many(frame, &many);
        let columns = read.data.into_iter().zip(read.columns);
        let (data, columns): (Vec<usize>, Vec<Column>) = columns
            .filter(|(at, _)| many.binary_search(at).is_err())
            .unzip();
        let groups = columns
            .into_iter()
            .map(|column| vec![label_rows::encoded(column)]);
        (EncodedItems::new(data, groups.collect()), limit)
    };
    let mut bases = Vec::new();
    for column in frame.roles.data() {
        let place = frame.place(column);
        let groups = found.of(place);
        let shown = |row: usize| frame.value(column, row, &limit);
        let name = &frame.names[column];
        let base = EncodedBase::new(&path, name, place, groups, &frame.missing, &shown)?;
        add_counts(&mut frame.roles.missing, &base.missing);
        bases.push(base);
    }
    let wide = |base: &EncodedBase| base.base.clusters() > MOST_BYTE_CLUSTERS;
    if bases.iter().any(wide) {
        limit.check(
            &path,
            cells.saturating_mul(4).saturating_add(frame.transient()),
        )?;
    }
    let ensemble = label_rows::ensemble(bases, &found).ok_or_else(|| {
        let reason = "its columns differ in length; copy or write the file again";
        FileError::damaged(&path, reason)
    })?;
    let ensemble = ensemble.map_err(FileError::ensemble(&path))?;
    drop(found);
    let (object_names, truth) = if let Some(beside) = beside {
        beside
    } else {
        let truth = frame.truth(&limit)?;
        (frame.object_names(&limit)?, truth)
    };
    finish(frame, ensemble, object_names, truth)
}

/// The columns with more different values than clusters are expected, which nobody asked for.
fn columns_of_many_values(frame: &Frame, data: &[usize], columns: &[Column]) -> Vec<usize> {
    let is_many = |(at, column): &(&usize, &Column)| {
        let Column::Labels(words) = column else {
            return false;
        };
        has_many_values(words.values().len(), words.codes().len())
            && frame.roles.columns[**at].reason != Reason::Asked
    };
    let columns = data.iter().zip(columns).filter(is_many);
    columns.map(|(&at, _)| at).collect()
}

/// As [`columns_of_many_values`], of columns that have types.
fn typed_columns_of_many_values(
    frame: &Frame,
    found: &EncodedItems,
    limit: &Limit,
) -> Result<Vec<usize>> {
    let mut many = Vec::new();
    if frame.reader.items().layout == Layout::Arrays {
        return Ok(many);
    }
    let rows = frame.rows().unwrap_or(0) as usize;
    for at in frame.roles.data() {
        let groups = found.of(frame.place(at)).iter();
        let most = groups.fold(0, |sum: usize, own| {
            sum.saturating_add(own.labels[0].count())
        });
        if frame.roles.columns[at].reason == Reason::Asked || !has_many_values(most, rows) {
            continue;
        }
        let values = frame.reader.read_whole(at, Form::Labels, limit)?;
        if has_many_values(values.into_dictionary().values().len(), rows) {
            many.push(at);
        }
    }
    Ok(many)
}

/// Leaves out these columns, beside others; gives their positions.
fn leave_out_many(frame: &mut Frame, many: &[usize]) -> Vec<usize> {
    if many.len() == frame.roles.data().len() {
        return Vec::new();
    }
    for &at in many {
        let column = &mut frame.roles.columns[at];
        column.role = Role::Skipped;
        column.reason = if weighs_objects(&column.name) {
            Reason::Weights
        } else {
            Reason::Clusters
        };
    }
    many.to_vec()
}

/// Refuses a first line whose every word occurs in the column that it should name.
fn check_header(frame: &Frame, columns: &[usize], read: &[Column]) -> Result<()> {
    let check = |(&at, column): (&usize, &Column)| match column {
        Column::Labels(words) => check_header_word(frame.path(), at, &frame.names[at], words),
        _ => Ok(()),
    };
    // One name that is not a label makes the first line a header.
    let refusals: Option<Vec<FileError>> = columns
        .iter()
        .zip(read)
        .map(|pair| check(pair).err())
        .collect();
    refusals
        .and_then(|refusals| refusals.into_iter().next())
        .map_or(Ok(()), Err)
}

/// Refuses the name of a column that is one of its labels too. Numbers in a first line that is taken for a header are names.
pub(crate) fn check_header_word(
    path: &Path,
    at: usize,
    name: &str,
    words: &Dictionary,
) -> Result<()> {
    if name.parse::<f64>().is_ok() || !words.contains(name) {
        return Ok(());
    }
    let reason = format!(
        "the first line seems to hold labels, not names ('{}' is a label of column {} too); give {}, or name the columns in the \
         first line",
        shown(name),
        at + 1,
        option("header").off()
    );
    Err(FileError::damaged(path, reason))
}

fn finish(
    frame: &Frame,
    mut ensemble: Ensemble,
    object_names: Option<Vec<String>>,
    truth: Option<LabelColumn>,
) -> Result<LoadedEnsemble> {
    if let Some(names) = object_names {
        ensemble = ensemble
            .with_object_names(names)
            .map_err(FileError::ensemble(frame.path()))?;
    }
    if let Some(recipe) = frame.reader.note(RECIPE)? {
        ensemble = ensemble.with_recipe(String::from_utf8_lossy(&recipe));
    }
    Ok(LoadedEnsemble { ensemble, truth })
}

/// Writes an ensemble by the ending of the name: `.csv` or `.tsv` (also with `.gz`), `.npz`, `.parquet`. Only NPZ
/// keeps everything; the same ensemble gives the same bytes.
///
/// # Errors
/// [`FileError::Content`] if a file of this kind would read back as another ensemble (a label −1, a column called
/// `object`), [`FileError`] for what the system refuses.
///
/// # Panics
/// If the truth does not label every object.
pub fn write_ensemble(
    path: &Path,
    ensemble: &Ensemble,
    truth: Option<&LabelColumn>,
) -> Result<(), FileError> {
    assert!(
        truth.is_none_or(|truth| truth.values.len() == ensemble.objects()),
        "one true class an object"
    );
    let format = format::of_target(path, |writes| {
        matches!(writes, Writes::Columns | Writes::Arrays)
    })?;
    if format.writes == Writes::Arrays {
        return (format.write)(path, stored_ensemble::contents(ensemble, truth));
    }
    check_readable(path, ensemble)?;
    let whole = whole_numbers(ensemble);
    let soft = soft_columns::named_columns(ensemble);
    (format.write)(path, columns(ensemble, truth, &whole, &soft))
}

/// The labels of every base clustering as whole numbers, where all of them are such.
fn whole_numbers(ensemble: &Ensemble) -> Vec<Option<Vec<i64>>> {
    ensemble
        .bases()
        .iter()
        .map(|base| {
            base.values()
                .iter()
                .map(|value| value.parse().ok())
                .collect()
        })
        .collect()
}

fn columns<'a>(
    ensemble: &'a Ensemble,
    truth: Option<&'a LabelColumn>,
    whole: &'a [Option<Vec<i64>>],
    soft: &'a [(Vec<String>, Shares)],
) -> Contents<'a> {
    let mut columns: Vec<(&str, Data<'_>)> = Vec::new();
    if let Some(names) = ensemble.object_names() {
        columns.push(("object", Data::names(names)));
    }
    for (names, shares) in soft {
        for (name, column) in names.iter().zip(shares.rows().columns()) {
            columns.push((name, Data::floats(column.to_vec().into_iter())));
        }
    }
    let hard = ensemble
        .bases()
        .iter()
        .zip(whole)
        .enumerate()
        .filter(|_| soft.is_empty());
    for (u, (base, whole)) in hard {
        let labels = ensemble.column(u);
        let data = match whole {
            Some(whole) => Data::integers(labels.map(|label| Some(whole[label?]))),
            None => Data::texts(labels.map(|label| Some(base.values()[label?].as_str()))),
        };
        columns.push((base.name(), data));
    }
    if let Some(truth) = truth {
        columns.push((truth_name(truth), Data::labels(&truth.values)));
    }
    let recipe = ensemble.recipe().map(|recipe| (RECIPE, recipe.to_owned()));
    Contents::Columns {
        rows: ensemble.objects(),
        columns,
        notes: recipe.into_iter().collect(),
    }
}

/// Refuses what would read back as another ensemble from a file with one column a base clustering.
pub(crate) fn check_readable(path: &Path, ensemble: &Ensemble) -> Result<()> {
    let unwritable = |reason: String| {
        Err(FileError::damaged(
            path,
            format!("{reason}; write an .npz file instead"),
        ))
    };
    let names: Vec<String> = ensemble
        .bases()
        .iter()
        .map(|base| base.name().to_owned())
        .collect();
    roles::distinct(path, &names)?;
    for base in ensemble.bases() {
        if is_reserved(base.name()) {
            return unwritable(format!(
                "a base clustering called '{}' would read back as something else",
                base.name()
            ));
        }
        let mut column = Dictionary::default();
        base.values()
            .iter()
            .for_each(|value| column.push(value, Row::Row(0)));
        let words = column.drop_words(&MissingWords::default());
        let readable = |(same, order): &(BaseClustering, Vec<Option<usize>>)| {
            let value = |&code: &u32| {
                same.values()
                    .get(order.get(code as usize).copied().flatten()?)
            };
            column
                .codes()
                .iter()
                .map(value)
                .eq(base.values().iter().map(Some))
        };
        match column.base(path, base.name(), &MissingWords::default()) {
            Ok(read) if words.is_empty() && readable(&read) => {}
            Ok(_)
            | Err(
                FileError::Value {
                    wrong: WrongValue::NotALabel,
                    ..
                }
                | FileError::Ensemble {
                    source: EnsembleError::AllMissing { .. },
                    ..
                },
            ) => {
                return unwritable(format!(
                    "the labels of base clustering '{}' would read back as others",
                    base.name()
                ));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What the truth is called in a file whose columns speak for themselves.
pub(crate) fn truth_name(truth: &LabelColumn) -> &str {
    if truth.name == "truth" {
        "truth"
    } else {
        "label"
    }
}
