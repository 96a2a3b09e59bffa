//! Ensembles: from columns of labels, from files, and back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use partita::extend::{EnsembleError, Shares};
use partita::files::{self, LabelColumn};
use partita::ndarray::Array2;
use partita::{Ensemble, EnsembleBuilder};
use partita_app::{
    AppError, InputFile, JointObjects, Merged, Objects, ReadOptions, load_ensembles,
};
use pyo3::prelude::*;

use crate::arguments::Run;
use crate::call::{briefly, run};
use crate::columns::{Column, Columns, Refusal};
use crate::errors::{input_error, raised};
use crate::reading::read_options;

/// What the records of ensembles in memory call them.
pub(crate) const IN_MEMORY: &str = "ensemble";

/// An ensemble.
#[pyclass(frozen, name = "NativeEnsemble", module = "partita._partita")]
pub(crate) struct NativeEnsemble {
    pub(crate) ensemble: Arc<Ensemble>,
    /// The files that it was read from, and how.
    pub(crate) origin: Option<(Vec<InputFile>, ReadOptions)>,
    /// The true classes, where the file has them.
    truth: Option<LabelColumn>,
}

impl NativeEnsemble {
    pub(crate) fn of(ensemble: Ensemble) -> Self {
        Self::shared(Arc::new(ensemble))
    }

    pub(crate) fn shared(ensemble: Arc<Ensemble>) -> Self {
        Self {
            ensemble,
            origin: None,
            truth: None,
        }
    }

    /// With the true classes, where there are some.
    pub(crate) fn with_truth(ensemble: Ensemble, truth: Option<LabelColumn>) -> Self {
        Self {
            truth,
            ..Self::of(ensemble)
        }
    }

    /// What several files hold together.
    pub(crate) fn merged(merged: Merged) -> Self {
        Self::with_truth(merged.ensemble, merged.truth)
    }

    /// The files that it was read from; a name alone where it was made in memory.
    pub(crate) fn inputs(&self) -> Vec<InputFile> {
        self.origin.as_ref().map_or_else(
            || vec![InputFile::nameless(IN_MEMORY)],
            |(files, _)| files.clone(),
        )
    }

    /// The file that it was read from, where that is one; else a name alone.
    pub(crate) fn input(&self) -> InputFile {
        match &self.inputs()[..] {
            [file] => file.clone(),
            _ => InputFile::nameless(IN_MEMORY),
        }
    }

    /// What messages call it.
    pub(crate) fn source(&self) -> &Path {
        self.path().unwrap_or_else(|| Path::new(IN_MEMORY))
    }
}

/// An ensemble with names of its objects, where there are some; it is not copied.
fn named(made: Ensemble, objects: Option<Vec<String>>) -> Result<NativeEnsemble, EnsembleError> {
    let made = match objects {
        Some(names) => made.with_object_names(names)?,
        None => made,
    };
    Ok(NativeEnsemble::of(made))
}

/// Names of all objects, where there are some, and for every input and object its row, −1 where the input lacks it.
type Matched<'py> = (Option<Vec<String>>, Vec<Bound<'py, PyArray1<i64>>>);

/// Matches the objects of several inputs: what each is called, names of its objects where it has some, and their number.
#[pyfunction]
pub(crate) fn match_objects(
    py: Python<'_>,
    given: Vec<(String, Option<Vec<String>>, usize)>,
    how: Run,
) -> PyResult<Matched<'_>> {
    let objects: Vec<Objects<'_>> = given
        .iter()
        .map(|(called, names, count)| Objects::new(Path::new(called), *count, names.as_deref()))
        .collect();
    let remedy = "give all the same names (an index, or the keys of a dict), or none";
    let found = run(py, &how, |observer| {
        JointObjects::of(&objects, remedy, observer)
    })?
    .whole()?;
    let number = |row: Option<usize>| row.map_or(-1, |row| row as i64);
    let rows = found.rows.into_iter().map(|rows| {
        let rows: Vec<i64> = rows.into_iter().map(number).collect();
        rows.into_pyarray(py)
    });
    Ok((found.names, rows.collect()))
}

/// The ensemble of tables of shares; gaps are 0. A text says what does not fit.
fn soft_ensemble(
    tables: Vec<Array2<f64>>,
    names: Vec<String>,
    values: Vec<Vec<String>>,
    most: usize,
) -> Result<Ensemble, String> {
    let mut builder = EnsembleBuilder::new(tables.first().map_or(0, Array2::nrows));
    for ((mut table, name), values) in tables.into_iter().zip(names).zip(values) {
        table.mapv_inplace(|share| if share.is_nan() { 0.0 } else { share });
        if values.len() != table.ncols() {
            return Err(format!(
                "'{name}' has {} clusters, and {} names of clusters",
                table.ncols(),
                values.len()
            ));
        }
        let shares = Shares::new(table).map_err(|error| format!("'{name}', {error}"))?;
        builder
            .push_soft(name, values, &shares, most)
            .map_err(|error| error.to_string())?;
    }
    builder.finish().map_err(|error| error.to_string())
}

#[pymethods]
impl NativeEnsemble {
    /// The ensemble of columns of numbers; those with names of their clusters are numbers of these.
    #[staticmethod]
    fn from_columns(
        py: Python<'_>,
        columns: Vec<Column<'_>>,
        names: Vec<String>,
        values: Vec<Option<Vec<String>>>,
        objects: Option<Vec<String>>,
    ) -> PyResult<Self> {
        if let Some(at) = columns
            .iter()
            .position(|column| column.len() != columns[0].len())
        {
            let (found, expected) = (columns[at].len(), columns[0].len());
            let what = format!(
                "base clustering '{}' labels {found} objects, '{}' {expected}",
                names[at], names[0]
            );
            return Err(input_error(py, &what));
        }
        let views = Columns::of(&columns);
        let made = briefly(py, || views.ensemble(names, values))?;
        let made = made.map_err(|refusal| match refusal {
            Refusal::NotALabel { base, row, value } => {
                let what = "labels are whole numbers from 0, words, or missing (-1, NaN, None)";
                input_error(
                    py,
                    &format!("base clustering '{base}' has {value} in row {row}; {what}"),
                )
            }
            Refusal::Ensemble(error) => raised(py, &AppError::from(error)),
        })?;
        named(made, objects).map_err(|error| raised(py, &AppError::from(error)))
    }

    /// The ensemble of tables of shares, objects × clusters; `values` names the clusters of each.
    #[staticmethod]
    fn from_shares(
        py: Python<'_>,
        tables: Vec<PyReadonlyArray2<'_, f64>>,
        names: Vec<String>,
        values: Vec<Vec<String>>,
        objects: Option<Vec<String>>,
        most: usize,
    ) -> PyResult<Self> {
        let tables: Vec<Array2<f64>> = tables
            .iter()
            .map(|table| table.as_array().to_owned())
            .collect();
        let made = briefly(py, || soft_ensemble(tables, names, values, most.max(1)))?;
        let made = made.map_err(|what| input_error(py, &what))?;
        named(made, objects).map_err(|error| raised(py, &AppError::from(error)))
    }

    /// Reads files as the command line does; `options` is a JSON object.
    #[staticmethod]
    fn read(py: Python<'_>, paths: Vec<PathBuf>, options: &str, how: Run) -> PyResult<Self> {
        let options = read_options(py, options)?;
        let done = run(py, &how, |observer| {
            let of: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
            let (loaded, roles) =
                load_ensembles(&of, &options.clone().within(how.budget()), observer)?;
            let mut files = of
                .into_iter()
                .map(InputFile::of)
                .collect::<Result<Vec<_>, _>>()?;
            files
                .iter_mut()
                .zip(roles)
                .for_each(|(file, roles)| file.roles = Some(roles));
            Ok((loaded, files))
        })?;
        let (loaded, files) = done.whole()?;
        Ok(Self {
            ensemble: Arc::new(loaded.ensemble),
            origin: Some((files, options)),
            truth: loaded.truth,
        })
    }

    /// Writes a file, with the true classes where there are some; its ending says which format.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = briefly(py, || {
            files::write_ensemble(&path, &self.ensemble, self.truth.as_ref())
        })?;
        written.map_err(|error| raised(py, &AppError::from(error)))
    }

    #[getter]
    fn objects(&self) -> usize {
        self.ensemble.objects()
    }

    #[getter]
    fn names(&self) -> Vec<&str> {
        self.ensemble
            .bases()
            .iter()
            .map(partita::extend::BaseClustering::name)
            .collect()
    }

    #[getter]
    fn clusters(&self) -> Vec<usize> {
        self.ensemble
            .bases()
            .iter()
            .map(partita::extend::BaseClustering::clusters)
            .collect()
    }

    #[getter]
    fn missing(&self) -> usize {
        self.ensemble.missing()
    }

    #[getter]
    fn object_names(&self) -> Option<Vec<String>> {
        self.ensemble.object_names().map(<[String]>::to_vec)
    }

    #[getter]
    fn truth(&self) -> Option<Vec<Option<String>>> {
        self.truth.as_ref().map(|truth| truth.values.clone())
    }

    #[getter]
    fn path(&self) -> Option<&Path> {
        self.origin
            .as_ref()
            .and_then(|(files, _)| files.first())
            .map(|file| &*file.path)
    }

    #[getter]
    fn recipe(&self) -> Option<String> {
        self.ensemble.recipe().map(str::to_owned)
    }

    /// Names of the clusters of a base clustering.
    fn values(&self, base: usize) -> Vec<String> {
        self.ensemble
            .bases()
            .get(base)
            .map(|base| base.values().to_vec())
            .unwrap_or_default()
    }

    /// Whether some base clustering is soft.
    #[getter]
    fn soft(&self) -> bool {
        self.ensemble.memberships().is_some()
    }

    /// The shares of the objects in the clusters of a base clustering; none if there is no such base clustering.
    fn shares<'py>(&self, py: Python<'py>, base: usize) -> Option<Bound<'py, PyArray2<f64>>> {
        (base < self.ensemble.bases().len()).then(|| {
            self.ensemble
                .base_shares(base)
                .rows()
                .to_owned()
                .into_pyarray(py)
        })
    }

    /// The same with every object in the cluster of its largest share.
    fn hardened(&self) -> Self {
        Self::of(self.ensemble.as_ref().clone().hardened())
    }

    /// Clusters by number, objects × base clusterings, −1 for missing.
    fn matrix<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i32>> {
        let shape = (self.ensemble.objects(), self.ensemble.bases().len());
        let mut matrix = Array2::from_elem(shape, -1);
        for (base, mut column) in matrix.columns_mut().into_iter().enumerate() {
            let labels = self
                .ensemble
                .column(base)
                .map(|label| label.map_or(-1, |label| label as i32));
            column
                .iter_mut()
                .zip(labels)
                .for_each(|(cell, label)| *cell = label);
        }
        matrix.into_pyarray(py)
    }
}
