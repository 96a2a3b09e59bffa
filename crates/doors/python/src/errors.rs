//! Errors as Python's: the classes of `partita._errors`, with the values that clash as attributes.

use partita::extend::{BudgetError, ConsensusError, SettingsError};
use partita::generate::GenerateError;
use partita_app::AppError;
use partita_select::SelectError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What an error is about.
enum Cause<'a> {
    Budget(&'a BudgetError),
    Settings(&'a SettingsError),
    Input,
}

/// An error of ours as Python's.
pub(crate) fn raised(py: Python<'_>, error: &AppError) -> PyErr {
    let message = error.to_string();
    match cause(error) {
        Cause::Budget(budget) => budget_error(py, &message, budget).unwrap_or_else(|other| other),
        Cause::Settings(settings) => {
            setting_error(py, &message, settings).unwrap_or_else(|other| other)
        }
        Cause::Input => input_error(py, &message),
    }
}

/// An input that cannot be used, and the remedy.
pub(crate) fn input_error(py: Python<'_>, message: &str) -> PyErr {
    build(py, "InputError", message, &PyDict::new(py)).unwrap_or_else(|other| other)
}

/// Settings that do not fit.
pub(crate) fn of_settings(py: Python<'_>, error: &SettingsError) -> PyErr {
    setting_error(py, &error.to_string(), error).unwrap_or_else(|other| other)
}

/// A panic of ours, told as the defect that it is.
pub(crate) fn defect(text: String) -> PyErr {
    PyRuntimeError::new_err(text)
}

fn cause(error: &AppError) -> Cause<'_> {
    match error {
        AppError::Budget(budget) | AppError::Generate(GenerateError::Budget(budget)) => {
            Cause::Budget(budget)
        }
        AppError::Settings(settings) => Cause::Settings(settings),
        AppError::Method(error) | AppError::Consensus { source: error, .. } => {
            cause_of_method(error)
        }
        AppError::Select { source, .. } => match source {
            SelectError::Budget(budget) => Cause::Budget(budget),
            SelectError::Settings(settings) => Cause::Settings(settings),
            SelectError::Consensus(error) => cause_of_method(error),
            _ => Cause::Input,
        },
        _ => Cause::Input,
    }
}

fn cause_of_method(error: &ConsensusError) -> Cause<'_> {
    match error {
        ConsensusError::Budget(budget) => Cause::Budget(budget),
        ConsensusError::Settings { source, .. } => Cause::Settings(source),
        _ => Cause::Input,
    }
}

fn budget_error(py: Python<'_>, message: &str, budget: &BudgetError) -> PyResult<PyErr> {
    let values = PyDict::new(py);
    values.set_item("what", &budget.what)?;
    values.set_item("needed", budget.needed)?;
    values.set_item("budget", budget.budget)?;
    values.set_item("remedy", &budget.remedy)?;
    build(py, "BudgetError", message, &values)
}

fn setting_error(py: Python<'_>, message: &str, error: &SettingsError) -> PyResult<PyErr> {
    let values = PyDict::new(py);
    let (name, value) = match error {
        SettingsError::Unknown {
            name,
            called,
            known,
        } => {
            values.set_item("called", *called)?;
            values.set_item("known", known)?;
            (name.as_str(), None)
        }
        SettingsError::Value { name, value, .. } => (name.as_str(), Some(value)),
        SettingsError::Range { name, value, .. } | SettingsError::Unfit { name, value, .. } => {
            (*name, Some(value))
        }
        _ => ("", None),
    };
    values.set_item("name", name)?;
    values.set_item("value", value)?;
    build(py, "SettingError", message, &values)
}

fn build(
    py: Python<'_>,
    class: &str,
    message: &str,
    values: &Bound<'_, PyDict>,
) -> PyResult<PyErr> {
    let class = py.import("partita._errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call((message,), Some(values))?))
}
