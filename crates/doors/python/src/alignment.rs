//! Many runs in common columns and colours (label switching).

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray2, PyReadonlyArray2};
use partita::extend::Shares;
use partita::ndarray::Axis;
use partita_app::{AlignInput, AlignedRuns, ReadOptions, json_text};
use partita_modes::Run as ClusteringRun;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::arguments::Run;
use crate::call::{briefly, run};
use crate::ensemble::NativeEnsemble;
use crate::errors::{input_error, raised};

/// Runs as Python gives them.
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    /// Every base clustering is a run.
    Labels(PyRef<'py, NativeEnsemble>),
    /// A run: its name, and shares of objects × clusters; a row of NaN is an object that it does not know.
    Shares(String, PyReadonlyArray2<'py, f64>),
}

/// What the objects of runs are called, and their populations.
type Objects = (Option<Vec<String>>, Option<Vec<String>>);

/// Runs in common columns.
#[pyclass(frozen, name = "NativeAlignment", module = "partita._partita")]
pub(crate) struct NativeAlignment(AlignedRuns);

/// Aligns runs whose objects are in one order.
#[pyfunction]
pub(crate) fn align_runs(
    py: Python<'_>,
    given: Vec<Given<'_>>,
    similarity: Option<f64>,
    objects: Objects,
    how: Run,
) -> PyResult<NativeAlignment> {
    let mut runs = Vec::new();
    for given in given {
        match given {
            Given::Labels(ensemble) => runs.extend(runs_of(&ensemble)),
            Given::Shares(name, table) => {
                let table = table
                    .as_array()
                    .mapv(|share| if share.is_nan() { 0.0 } else { share });
                let shares = Shares::new(table)
                    .map_err(|error| input_error(py, &format!("'{name}', {error}")))?;
                runs.push(ClusteringRun::soft(name, shares));
            }
        }
    }
    let done = run(py, &how, |observer| {
        AlignedRuns::of(runs, similarity, objects, observer)
    })?;
    done.whole().map(NativeAlignment)
}

/// Reads the runs of files and aligns them, as `partita align` does. The populations are a column of a file.
#[pyfunction]
pub(crate) fn align_files(
    py: Python<'_>,
    files: Vec<PathBuf>,
    similarity: Option<f64>,
    populations: Option<(PathBuf, Option<String>)>,
    how: Run,
) -> PyResult<NativeAlignment> {
    let populations = populations.map(|(file, column)| {
        let mut read = ReadOptions::default();
        read.truth = column.into();
        (file, read)
    });
    let input = AlignInput {
        files,
        read: ReadOptions::default(),
        similarity,
        populations,
    };
    run(py, &how, |observer| input.align(observer))?
        .whole()
        .map(NativeAlignment)
}

/// The base clusterings of an ensemble as runs.
fn runs_of(ensemble: &NativeEnsemble) -> Vec<ClusteringRun> {
    let ensemble = &ensemble.ensemble;
    let run = |(at, base): (usize, &partita::extend::BaseClustering)| {
        if ensemble.memberships().is_some() {
            return ClusteringRun::soft(base.name(), ensemble.base_shares(at));
        }
        let labels: Vec<Option<usize>> = ensemble.column(at).collect();
        ClusteringRun::hard(base.name(), labels.into_iter(), base.clusters())
    };
    ensemble.bases().iter().enumerate().map(run).collect()
}

#[pymethods]
impl NativeAlignment {
    /// What `partita align --json` prints.
    fn record(&self, py: Python<'_>) -> PyResult<String> {
        json_text(&self.0.to_json()).map_err(|error| raised(py, &error))
    }

    /// What was found, in one sentence.
    fn sentence(&self) -> String {
        self.0.sentence()
    }

    #[getter]
    fn object_names(&self) -> Option<Vec<String>> {
        self.0.object_names.clone()
    }

    #[getter]
    fn populations(&self) -> Option<Vec<String>> {
        self.0.populations.clone()
    }

    /// The shares of a run with its columns in the order of their colours, n × K.
    fn shares<'py>(&self, py: Python<'py>, run: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (runs, aligned) = (&self.0.runs, &self.0.alignment.runs);
        let found = runs.get(run).zip(aligned.get(run));
        let (run, aligned) =
            found.ok_or_else(|| PyIndexError::new_err(format!("run {run} of {}", runs.len())))?;
        Ok(run.rows().select(Axis(1), &aligned.order).into_pyarray(py))
    }

    /// One row of bars a mode, as SVG.
    fn picture(&self) -> String {
        self.0.picture()
    }

    /// The runs as one ensemble, columns as they were given.
    fn ensemble(&self, py: Python<'_>) -> PyResult<NativeEnsemble> {
        self.0
            .ensemble()
            .map(NativeEnsemble::of)
            .map_err(|error| raised(py, &error))
    }

    /// Writes what `partita align -o` writes.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        briefly(py, || self.0.write(&folder))?.map_err(|error| raised(py, &error))
    }
}
