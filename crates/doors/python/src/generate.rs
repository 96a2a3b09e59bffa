//! Base clusterings of a table.

use std::fs;
use std::path::{Path, PathBuf};

use partita::generate::{Durable, Recipe};
use partita::{Clusters, Seed};
use partita_app::{
    AppError, InputTable, NamedGraph, Observer, json_text, make_ensemble, merge_files, parse_part,
    recipe_from, recipe_with,
};
use pyo3::prelude::*;

use crate::arguments::{Run, object};
use crate::call::run;
use crate::consensus::read_recipe;
use crate::ensemble::NativeEnsemble;
use crate::errors::{input_error, raised};
use crate::reading::{read_options, table_input};
use crate::tables::NativeTable;

/// A recipe as JSON: the default or a preset, with these fields (a JSON object) put in.
#[pyfunction]
pub(crate) fn recipe(
    py: Python<'_>,
    preset_name: Option<&str>,
    clusters: Option<usize>,
    fields: &str,
) -> PyResult<String> {
    let clusters = clusters.map(Clusters::Exactly);
    let fields = object(py, fields)?;
    let recipe = recipe_with(preset_name, clusters, fields).map_err(|error| raised(py, &error))?;
    serde_json::to_string(&recipe).map_err(|error| input_error(py, &format!("the recipe: {error}")))
}

/// The recipe of a TOML file or of an ensemble as JSON, and the seed that an ensemble was made with.
#[pyfunction]
pub(crate) fn recipe_of_file(py: Python<'_>, path: PathBuf) -> PyResult<(String, Option<u64>)> {
    let (recipe, seed) = recipe_from(&path).map_err(|error| raised(py, &error))?;
    let json = json_text(&recipe).map_err(|error| raised(py, &error))?;
    Ok((json, seed.map(Seed::number)))
}

/// Makes the base clusterings of a recipe in JSON. Where `part_file` is named, each is kept there once it is finished, and those that are
/// there already are not made again; the file goes once all are, unless only a part of them is asked for (`2/4`). A sparse `table` is the
/// matrix of a graph where `graph` says so.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "what is made of what, and where it is kept"
)]
pub(crate) fn generate(
    py: Python<'_>,
    table: PyRef<'_, NativeTable>,
    recipe: &str,
    seed: u64,
    part_file: Option<PathBuf>,
    part: Option<&str>,
    how: Run,
    graph: bool,
) -> PyResult<NativeEnsemble> {
    let job = Job::new(py, recipe, seed, part_file, part)?;
    let held = table.hold(py)?;
    let input = table.input(&held);
    job.make(py, &how, |_| match input {
        InputTable::Sparse(matrix) if graph => {
            NamedGraph::of_matrix(&matrix).map(InputTable::Graph)
        }
        input => Ok(input),
    })
}

/// As `generate`, of a table in a file, which is read by blocks where it would fill half of the memory; `input`, a JSON object, says how.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "those of `generate`, and how the file is read"
)]
pub(crate) fn generate_of_file(
    py: Python<'_>,
    path: PathBuf,
    input: &str,
    recipe: &str,
    seed: u64,
    part_file: Option<PathBuf>,
    part: Option<&str>,
    how: Run,
) -> PyResult<NativeEnsemble> {
    let job = Job::new(py, recipe, seed, part_file, part)?;
    let input = table_input(py, path, input)?;
    job.make(py, &how, |observer| {
        InputTable::read(&input, how.budget(), job.seed, observer)
    })
}

/// What is made, and where it is kept while it is.
struct Job {
    recipe: Recipe,
    seed: Seed,
    durable: Option<Durable>,
    share: bool,
}

impl Job {
    fn new(
        py: Python<'_>,
        recipe: &str,
        seed: u64,
        part_file: Option<PathBuf>,
        part: Option<&str>,
    ) -> PyResult<Self> {
        let share = part.map(parse_part).transpose();
        let share = share.map_err(|error| {
            input_error(py, &format!("part={}: {error}", part.unwrap_or_default()))
        })?;
        let durable = part_file.map(|path| {
            let mut durable = Durable::new(&path);
            durable.resume = path.exists();
            durable.part = share.unwrap_or(durable.part);
            durable
        });
        Ok(Self {
            recipe: read_recipe(py, recipe)?,
            seed: Seed::new(seed),
            durable,
            share: share.is_some(),
        })
    }

    fn make<'a>(
        &self,
        py: Python<'_>,
        how: &Run,
        table: impl FnOnce(&dyn Observer) -> Result<InputTable<'a>, AppError> + Send,
    ) -> PyResult<NativeEnsemble> {
        let done = run(py, how, |observer| {
            let table = table(observer)?;
            if let Some(warning) = table.scale_warning(self.recipe.scale) {
                observer.warn(&warning);
            }
            let made = make_ensemble(
                &table,
                &self.recipe,
                self.seed,
                self.durable.as_ref(),
                how.budget(),
                observer,
            )?;
            Ok((made.ensemble, table.label().cloned()))
        })?;
        let (ensemble, truth) = done.whole()?;
        if let (Some(Durable { path, .. }), false) = (&self.durable, self.share) {
            fs::remove_file(path)
                .map_err(|error| raised(py, &AppError::io(path, "be removed", error)))?;
        }
        Ok(NativeEnsemble::with_truth(ensemble, truth))
    }
}

/// One ensemble of part files of one job, or of ensembles, read as `options` say (a JSON object).
#[pyfunction]
pub(crate) fn merge(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: &str,
    how: Run,
) -> PyResult<NativeEnsemble> {
    let options = read_options(py, options)?.within(how.budget());
    let done = run(py, &how, |observer| {
        merge_files(
            &paths.iter().map(PathBuf::as_path).collect::<Vec<&Path>>(),
            &options,
            observer,
        )
    });
    done?.whole().map(NativeEnsemble::merged)
}
