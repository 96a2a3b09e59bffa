//! Files: tables, texts, labels to compare, what a file holds.

use std::path::{Path, PathBuf};

use numpy::{IntoPyArray, PyArray1, PyArray2};
use partita::Seed;
use partita::files::sprs::CsMat;
use partita::files::{FrameColumns, LabelColumn, Labels, SparseTable};
use partita::text::{TextError, TextSettings, tf_idf};
use partita_app::{
    AppError, EvaluationInput, InputTable, ReadOptions, TableInput, TakenAs, json_text,
    score_objects,
};
use pyo3::prelude::*;

use crate::arguments::{Run, settings};
use crate::call::run;
use crate::errors::{input_error, of_settings, raised};

/// How files are read: the fields of an experiment's input that are named, as a JSON object.
pub(crate) fn read_options(py: Python<'_>, json: &str) -> PyResult<ReadOptions> {
    serde_json::from_str(json)
        .map_err(|error| input_error(py, &format!("how files are read: {error}")))
}

/// The names of the columns of a file.
#[pyfunction]
pub(crate) fn column_names(py: Python<'_>, path: PathBuf, options: &str) -> PyResult<Vec<String>> {
    let options = read_options(py, options)?;
    partita::files::column_names(&path, &options)
        .map_err(|error| raised(py, &AppError::from(error)))
}

/// The columns of a frame that are base clusterings, by their positions, and what is said of others.
#[pyfunction]
pub(crate) fn base_columns(
    py: Python<'_>,
    called: PathBuf,
    columns: (Vec<String>, Vec<usize>, usize),
    only: Vec<String>,
    skip: Vec<String>,
) -> PyResult<(Vec<usize>, Option<String>)> {
    let (names, values, objects) = columns;
    let frame = FrameColumns {
        called: &called,
        names: &names,
        values: &values,
        objects,
    };
    frame
        .bases(&only, &skip)
        .map_err(|error| raised(py, &AppError::from(error)))
}

/// The numbers of a table: n × d, or shape, starts of rows, columns and values of compressed rows.
#[derive(IntoPyObject)]
pub(crate) enum Numbers<'py> {
    Dense(Bound<'py, PyArray2<f64>>),
    Sparse(Sparse<'py>),
}

pub(crate) type Sparse<'py> = (
    (usize, usize),
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
);

/// True classes under the name of their column.
pub(crate) type Classes = (String, Vec<Option<String>>);

/// Numbers, names of the columns, names of the objects and true classes where there are some, and where numbers stand for gaps.
type Read<'py> = (
    Numbers<'py>,
    Vec<String>,
    Option<Vec<String>>,
    Option<Classes>,
    Vec<(u32, u32)>,
);

/// Compressed rows as NumPy arrays.
pub(crate) fn sparse(py: Python<'_>, matrix: CsMat<f64>) -> Sparse<'_> {
    let shape = matrix.shape();
    let (starts, columns, values) = matrix.into_raw_storage();
    let places = |places: Vec<usize>| {
        places
            .into_iter()
            .map(|at| at as i64)
            .collect::<Vec<i64>>()
            .into_pyarray(py)
    };
    (
        shape,
        places(starts),
        places(columns),
        values.into_pyarray(py),
    )
}

/// A table in a file, and how it is read: a JSON object.
pub(crate) fn table_input(py: Python<'_>, path: PathBuf, json: &str) -> PyResult<TableInput> {
    let input: Result<TableInput, _> = serde_json::from_str(json);
    let input =
        input.map_err(|error| input_error(py, &format!("how the table is read: {error}")))?;
    Ok(TableInput {
        file: path,
        ..input
    })
}

/// Reads a table as the command line does; `input` is a JSON object.
#[pyfunction]
pub(crate) fn read_table<'py>(
    py: Python<'py>,
    path: PathBuf,
    input: &str,
    seed: u64,
    how: Run,
) -> PyResult<Read<'py>> {
    let input = table_input(py, path, input)?;
    let done = run(py, &how, |observer| {
        // Where a sparse table is read it stays one; one on the disk in groups of rows is read whole.
        if partita::files::is_sparse_table(&input.file, &input.read) {
            return InputTable::read(&input, how.budget(), Seed::new(seed), observer);
        }
        InputTable::read_dense(&input, how.budget(), Seed::new(seed), observer)
    })?;
    let classes = |label: Option<LabelColumn>| label.map(|label| (label.name, label.values));
    match done.whole()? {
        InputTable::Dense(table) => {
            let values = Numbers::Dense(table.values.into_pyarray(py));
            Ok((
                values,
                table.columns,
                table.object_names,
                classes(table.label),
                table.gaps,
            ))
        }
        InputTable::Sparse(SparseTable {
            columns,
            values,
            object_names,
            label,
            ..
        }) => Ok((
            Numbers::Sparse(sparse(py, values)),
            columns,
            object_names,
            classes(label),
            Vec::new(),
        )),
        InputTable::Groups(_)
        | InputTable::View(_)
        | InputTable::Distances(_)
        | InputTable::Graph(_) => Err(input_error(py, "the table is not held in memory")),
    }
}

/// Words of documents as a sparse table: its numbers, the words, how many were found, how many documents have none of them.
type Words<'py> = (Sparse<'py>, Vec<String>, usize, usize);

/// Turns documents into a sparse table of words; settings are a JSON object.
#[pyfunction]
pub(crate) fn words_of<'py>(
    py: Python<'py>,
    documents: Vec<Option<String>>,
    settings_json: &str,
    how: Run,
) -> PyResult<Words<'py>> {
    let own: TextSettings = settings(py, settings_json)?
        .apply()
        .map_err(|error| of_settings(py, &error))?;
    let texts = || {
        documents
            .iter()
            .map(|text| text.as_deref().unwrap_or_default())
    };
    let done = run(py, &how, |observer| {
        tf_idf(texts(), &own, &*observer.begin("documents")).map_err(|error| match error {
            TextError::Stopped { .. } => AppError::nothing_finished(),
            other => AppError::request(other.to_string()),
        })
    })?;
    let made = done.whole()?;
    let empty = made.empty_documents().len();
    Ok((sparse(py, made.matrix), made.terms, made.found, empty))
}

/// What a file holds, as JSON: what `partita inspect --json` prints.
#[pyfunction]
pub(crate) fn inspect(
    py: Python<'_>,
    path: PathBuf,
    kind: Option<&str>,
    options: &str,
    how: Run,
) -> PyResult<String> {
    let kind = kind
        .map(str::parse::<TakenAs>)
        .transpose()
        .map_err(|error| input_error(py, &error))?;
    let options = read_options(py, options)?.within(how.budget());
    let done = run(py, &how, |observer| {
        partita_app::inspect(&path, kind, &options, observer)
    })?;
    json_text(&done.whole()?).map_err(|error| raised(py, &error))
}

/// Every external index of labels in files as JSON: what `partita evaluate --json` prints.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    labels: PathBuf,
    truth: PathBuf,
    common: bool,
    options: &str,
    how: Run,
) -> PyResult<String> {
    let read = read_options(py, options)?.within(how.budget());
    let input = EvaluationInput {
        labels,
        truth,
        common,
        read,
    };
    let scores = run(py, &how, |observer| input.scores(observer))?.whole()?;
    json_text(&scores).map_err(|error| raised(py, &error))
}

/// Names of objects, where they have some, and their labels; none where one is missing.
pub(crate) type Named = (Option<Vec<String>>, Vec<Option<String>>);

pub(crate) fn labels_of((object_names, values): Named) -> Labels {
    Labels {
        object_names,
        column: LabelColumn {
            name: "label".into(),
            values,
        },
    }
}

/// Every external index of labels in memory as JSON, objects matched by their names where both have some.
#[pyfunction]
pub(crate) fn scores_by_name(
    py: Python<'_>,
    labels: Named,
    truth: Named,
    common: bool,
    how: Run,
) -> PyResult<String> {
    let (found, truth) = (labels_of(labels), labels_of(truth));
    let done = run(py, &how, |observer| {
        score_objects(
            (Path::new("labels"), found),
            (Path::new("truth"), truth),
            common,
            observer,
        )
    })?;
    json_text(&done.whole()?).map_err(|error| raised(py, &error))
}
