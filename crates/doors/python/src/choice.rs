//! The number of clusters of a table or an ensemble; pages about it and about runs.

use std::path::{Path, PathBuf};

use partita::extend::Problem;
use partita::{Clusters, Seed};
use partita_app::{
    AppError, ClustersAsked, PageOptions, RunFolder, SavedChoice, Stopwatch, choose_of_ensemble,
    choose_of_table, curves, figure_files, json_text, methods, seeds, write_text,
};
use partita_report::Rendered;
use pyo3::prelude::*;

use crate::arguments::{Run, settings};
use crate::call::run;
use crate::ensemble::NativeEnsemble;
use crate::errors::{input_error, of_settings, raised};
use crate::tables::{IN_MEMORY, NativeTable};

/// The choice as JSON; settings are a JSON object.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "the keywords of a Python function"
)]
pub(crate) fn choose_k(
    py: Python<'_>,
    ensemble: Option<PyRef<'_, NativeEnsemble>>,
    table: Option<PyRef<'_, NativeTable>>,
    range: (usize, Option<usize>),
    method: &str,
    settings_json: &str,
    seed: u64,
    how: Run,
) -> PyResult<String> {
    let (settings, budget) = (settings(py, settings_json)?, how.budget());
    let held = table.as_ref().map(|table| table.hold(py)).transpose()?;
    let file = ensemble.as_ref().map_or_else(
        || PathBuf::from(IN_MEMORY),
        |ensemble| ensemble.source().to_owned(),
    );
    let stopwatch = Stopwatch::start();
    let done = match (&ensemble, table.as_ref().zip(held.as_ref())) {
        (Some(ensemble), _) => {
            let own = settings.apply().map_err(|error| of_settings(py, &error))?;
            let method = methods::find(method).map_err(|error| raised(py, &error))?;
            let ensemble = &*ensemble.ensemble;
            run(py, &how, |observer| {
                let mut problem = Problem::new(ensemble, Clusters::Exactly(range.0));
                (problem.seed, problem.budget) = (seeds::choice(Seed::new(seed)), budget);
                let range = ClustersAsked::range_of_labels(range.0, range.1);
                choose_of_ensemble(method, &problem, range, &own, &file, observer)
            })
        }
        (None, Some((table, held))) => {
            let (own, input) = (
                settings.apply().map_err(|error| of_settings(py, &error))?,
                table.input(held),
            );
            run(py, &how, |observer| {
                choose_of_table(
                    &input,
                    range,
                    &own,
                    Seed::new(seed),
                    budget,
                    &file,
                    observer,
                )
                .map(|found| found.choice)
            })
        }
        (None, None) => Err(raised(
            py,
            &AppError::request("there is neither a table nor an ensemble"),
        )),
    };
    let choice = SavedChoice::of(done?.whole()?, &file, stopwatch.read().seconds);
    json_text(&choice).map_err(|error| raised(py, &error))
}

/// A choice that was saved, as JSON.
#[pyfunction]
pub(crate) fn read_choice(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    SavedChoice::open(&path)
        .and_then(|choice| json_text(&choice))
        .map_err(|error| raised(py, &error))
}

/// A choice out of JSON.
pub(crate) fn choice_of(py: Python<'_>, json: Option<&str>) -> PyResult<Option<SavedChoice>> {
    let choice = json.map(serde_json::from_str::<SavedChoice>).transpose();
    choice.map_err(|error| input_error(py, &format!("this is not what choose_k found: {error}")))
}

/// Writes the figures of a page into a folder, where there is one, and gives the page.
pub(crate) fn page_of(rendered: Rendered, figures: Option<&Path>) -> Result<String, AppError> {
    if let Some(folder) = figures {
        std::fs::create_dir_all(folder).map_err(|error| AppError::io(folder, "be made", error))?;
        figure_files(folder, &rendered)
            .iter()
            .try_for_each(|(path, text)| write_text(path, text))?;
    }
    Ok(rendered.html)
}

/// What a page is called, as JSON.
pub(crate) fn page_options(py: Python<'_>, options: &str) -> PyResult<PageOptions> {
    serde_json::from_str(options).map_err(|error| input_error(py, &error.to_string()))
}

/// The page about the folder of a run; its figures go into a folder, where one is named.
#[pyfunction]
pub(crate) fn report_of_run(
    py: Python<'_>,
    folder: PathBuf,
    method: Option<&str>,
    choice: Option<&str>,
    figures: Option<PathBuf>,
    page: &str,
    how: Run,
) -> PyResult<String> {
    let choice = choice_of(py, choice)?;
    let options = page_options(py, page)?;
    let done = run(py, &how, |observer| {
        let run = RunFolder::open(&folder)?.with_page(options);
        let choice = choice.map(|saved| curves(&saved.choice, run.objects()));
        page_of(run.report(method, choice, observer)?, figures.as_deref())
    });
    done?.whole()
}
