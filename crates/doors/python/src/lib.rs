//! The extension module `partita._partita`: what the Python package `partita` is written over.
//!
//! Pick the Python package, not this crate. The crate turns NumPy arrays into ensembles and tables, runs experiments of `partita-app`
//! without the interpreter lock, and hands results over as arrays and JSON; keywords, estimators and pictures are Python (`python/`).
//! Names, defaults and ranges of settings come from the methods, so that a new method needs no line here.
//!
//! | module | what it is |
//! |---|---|
//! | `arguments` | what all computing functions take: threads, seed, memory, settings |
//! | `call` | a computation on a thread of its own: signals, progress, notes |
//! | `columns` | label columns of any NumPy type to an ensemble, without a copy of the input |
//! | `ensemble`, `tables` | ensembles; dense and sparse tables |
//! | `reading` | files: tables, texts, labels to compare, what a file holds |
//! | `consensus`, `choice`, `generate`, `model`, `metrics`, `methods` | the functions |
//! | `ensemble_modes`, `alignment` | the answers that an ensemble holds; runs in common columns |
//! | `update`, `synth` | ensembles that grow; synthetic tables |
//! | `parts` | rows in many files, in rounds of tasks |
//! | `errors` | errors of ours as Python's |

mod alignment;
mod arguments;
mod call;
mod choice;
mod columns;
mod consensus;
mod ensemble;
mod ensemble_modes;
mod errors;
mod generate;
mod methods;
mod metrics;
mod model;
mod parts;
mod reading;
mod significance;
mod synth;
mod tables;
mod update;

use std::ffi::OsString;
use std::panic::catch_unwind;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// Whether the module was loaded in this process.
static LOADED: AtomicBool = AtomicBool::new(false);

/// The command line with these arguments, the first of which is its name. Ends the process, as the program does.
#[pyfunction]
fn command_line(py: Python<'_>, arguments: Vec<OsString>) {
    partita::extend::speak_as(partita::extend::Interface::CommandLine);
    let code = py.detach(|| catch_unwind(|| partita_cli::run(arguments)));
    // What Rust ends a program with that panicked.
    exit(code.map_or(101, i32::from));
}

/// The functions and classes that `partita` is written over.
#[pymodule]
fn _partita(module: &Bound<'_, PyModule>) -> PyResult<()> {
    if LOADED.swap(true, Ordering::Relaxed) {
        let what = "partita can be loaded once a process; call it from the main interpreter, not from a subinterpreter";
        return Err(PyImportError::new_err(what));
    }
    partita::extend::speak_as(partita::extend::Interface::Python);
    module.add("__version__", partita_app::VERSION)?;
    module.add("DEFAULT_METHOD", partita_app::methods::DEFAULT)?;
    module.add(
        "DEFAULT_OF_OWN_CLUSTERS",
        partita_app::methods::DEFAULT_OF_OWN_CLUSTERS,
    )?;
    module.add_function(wrap_pyfunction!(command_line, module)?)?;
    module.add_class::<ensemble::NativeEnsemble>()?;
    module.add_class::<tables::NativeTable>()?;
    module.add_class::<consensus::NativeResult>()?;
    module.add_class::<model::NativeModel>()?;
    module.add_class::<ensemble_modes::NativeModes>()?;
    module.add_class::<alignment::NativeAlignment>()?;
    module.add_function(wrap_pyfunction!(ensemble::match_objects, module)?)?;
    module.add_function(wrap_pyfunction!(tables::fill_gaps, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble_modes::find_modes, module)?)?;
    module.add_function(wrap_pyfunction!(alignment::align_runs, module)?)?;
    module.add_function(wrap_pyfunction!(alignment::align_files, module)?)?;
    module.add_class::<update::NativeUpdate>()?;
    module.add_function(wrap_pyfunction!(update::update, module)?)?;
    module.add_function(wrap_pyfunction!(synth::synth, module)?)?;
    module.add_function(wrap_pyfunction!(synth::synth_families, module)?)?;
    module.add_function(wrap_pyfunction!(methods::methods, module)?)?;
    module.add_function(wrap_pyfunction!(methods::search_methods, module)?)?;
    module.add_function(wrap_pyfunction!(consensus::consensus, module)?)?;
    module.add_function(wrap_pyfunction!(consensus::repeat, module)?)?;
    module.add_function(wrap_pyfunction!(generate::recipe, module)?)?;
    module.add_function(wrap_pyfunction!(generate::recipe_of_file, module)?)?;
    module.add_function(wrap_pyfunction!(generate::generate, module)?)?;
    module.add_function(wrap_pyfunction!(generate::generate_of_file, module)?)?;
    module.add_function(wrap_pyfunction!(generate::merge, module)?)?;
    module.add_function(wrap_pyfunction!(choice::choose_k, module)?)?;
    module.add_function(wrap_pyfunction!(significance::test_clusters, module)?)?;
    module.add_function(wrap_pyfunction!(choice::read_choice, module)?)?;
    module.add_function(wrap_pyfunction!(choice::report_of_run, module)?)?;
    module.add_function(wrap_pyfunction!(model::read_model, module)?)?;
    module.add_function(wrap_pyfunction!(model::perplexity, module)?)?;
    module.add_function(wrap_pyfunction!(reading::base_columns, module)?)?;
    module.add_function(wrap_pyfunction!(reading::column_names, module)?)?;
    module.add_function(wrap_pyfunction!(reading::read_table, module)?)?;
    module.add_function(wrap_pyfunction!(reading::words_of, module)?)?;
    module.add_function(wrap_pyfunction!(reading::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(reading::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(reading::scores_by_name, module)?)?;
    module.add_function(wrap_pyfunction!(parts::write_manifest, module)?)?;
    module.add_function(wrap_pyfunction!(parts::fold, module)?)?;
    module.add_function(wrap_pyfunction!(parts::pass_part, module)?)?;
    module.add_function(wrap_pyfunction!(parts::predict_parts, module)?)?;
    module.add_function(wrap_pyfunction!(parts::evaluate_parts, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::scores, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::jensen_shannon, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::match_rows, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::anmi, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::object_agreement, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::cluster_stability, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::agreement_weights, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::agreement_matrix, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::co_association, module)?)
}
