//! Labels and tables out of R.

use extendr_api::prelude::*;
use partita::extend::{BaseClustering, EnsembleError, Shares};
use partita::files::Table;
use partita::generate::Scale;
use partita::ndarray::Array2;
use partita::{Ensemble, EnsembleBuilder, Seed};
use partita_app::{AppError, InputTable, Observer, TableInMemory, TableInput};

use crate::call::Run;
use crate::values::{matrix, read, texts};

/// What messages and records call a table and labels that R holds.
pub(crate) const TABLE: &str = "x";
pub(crate) const LABELS: &str = "labels";

/// The ensemble of a list of R: `names` of the base clusterings, of each the `values` that its clusters are called, and either `codes`
/// (from 1, NA is missing) or `shares` (objects × clusters, a row of NA is an object that it does not know); `objects` are their names.
///
/// # Errors
/// What makes no ensemble.
pub(crate) fn ensemble(given: &List) -> std::result::Result<Ensemble, String> {
    let field = |name: &str| given.dollar(name).unwrap_or_else(|_| NULL.into());
    let lists = |name: &str| field(name).as_list().unwrap_or_default();
    let names = texts(&field("names")).unwrap_or_default();
    let values = lists("values");
    let values = values.values().map(|of| texts(&of).unwrap_or_default());
    let (codes, shares) = (lists("codes"), lists("shares"));
    let made = if codes.is_empty() {
        soft_ensemble(names, values, &shares)?
    } else {
        hard_ensemble(names, values, &codes)
    };
    let made = match texts(&field("objects")) {
        Some(objects) => made.and_then(|made| made.with_object_names(objects)),
        None => made,
    };
    made.map_err(|error| error.to_string())
}

/// Base clusterings of codes from 1, of which NA is missing.
fn hard_ensemble(
    names: Vec<String>,
    values: impl Iterator<Item = Vec<String>>,
    codes: &List,
) -> std::result::Result<Ensemble, EnsembleError> {
    let bases = names.into_iter().zip(values);
    let bases: Vec<BaseClustering> = bases
        .map(|(name, values)| BaseClustering::new(name, values))
        .collect();
    let objects = codes.values().next().map_or(0, |column| column.len());
    let mut rows = Array2::from_elem((objects, bases.len()), u16::MAX);
    for (mut column, codes) in rows.columns_mut().into_iter().zip(codes.values()) {
        let codes = codes.as_integer_slice().unwrap_or_default();
        for (cell, &code) in column.iter_mut().zip(codes) {
            *cell = u16::try_from(code.wrapping_sub(1)).unwrap_or(u16::MAX);
        }
    }
    Ensemble::from_words(rows, bases)
}

/// Base clusterings of shares.
fn soft_ensemble(
    names: Vec<String>,
    values: impl Iterator<Item = Vec<String>>,
    tables: &List,
) -> std::result::Result<std::result::Result<Ensemble, EnsembleError>, String> {
    let mut builder = None;
    for ((name, values), table) in names.into_iter().zip(values).zip(tables.values()) {
        let table = matrix(&table)?.mapv(|share| if share.is_nan() { 0.0 } else { share });
        let (objects, clusters) = table.dim();
        let shares = Shares::new(table).map_err(|error| format!("'{name}', {error}"))?;
        let builder = builder.get_or_insert_with(|| EnsembleBuilder::new(objects));
        let pushed = builder.push_soft(name, values, &shares, clusters.max(1));
        pushed.map_err(|error| error.to_string())?;
    }
    let builder = builder.ok_or("there is no base clustering")?;
    Ok(builder.finish())
}

/// A table out of R.
pub(crate) enum GivenTable {
    /// A matrix, with names of its columns and, where there are some, of its rows.
    Held(Table),
    /// A data frame as a file of text, which is read as that of the command line.
    File(TableInput),
}

impl GivenTable {
    /// The table of a list of R: `values`, `columns` and `objects`, or what says how a `file` is read.
    ///
    /// # Errors
    /// What makes no table.
    pub(crate) fn new(given: &List) -> std::result::Result<Self, String> {
        let field = |name: &str| given.dollar(name).unwrap_or_else(|_| NULL.into());
        if !field("file").is_null() {
            return read(&given.clone().into()).map(Self::File);
        }
        Ok(Self::Held(Table {
            columns: texts(&field("columns")).unwrap_or_default(),
            values: matrix(&field("values"))?,
            object_names: texts(&field("objects")),
            label: None,
            gaps: Vec::new(),
        }))
    }

    /// How it is read.
    pub(crate) fn input(&self) -> TableInput {
        match self {
            Self::Held(_) => TableInput::new(TABLE),
            Self::File(input) => input.clone(),
        }
    }

    /// The table in memory. Where nothing scales the columns, the observer hears of those that outweigh all others.
    ///
    /// # Errors
    /// As [`InputTable::read_dense`].
    pub(crate) fn open(
        self,
        scale: Scale,
        seed: Seed,
        how: Run,
        observer: &dyn Observer,
    ) -> std::result::Result<Table, AppError> {
        let table = match self {
            Self::Held(table) => InputTable::Dense(table),
            Self::File(input) => InputTable::read_dense(&input, how.budget(), seed, observer)?,
        };
        if let Some(warning) = table.scale_warning(scale) {
            observer.warn(&format!("{TABLE}: {warning}"));
        }
        match table {
            InputTable::Dense(table) => Ok(table),
            _ => Err(AppError::request(
                "a table of distances is not read; give the features",
            )),
        }
    }
}

/// A table as experiments read it.
pub(crate) fn view(table: &Table) -> InputTable<'_> {
    InputTable::View(TableInMemory {
        columns: table.columns.clone(),
        values: table.values.view(),
        object_names: table.object_names.clone(),
        label: None,
        gaps: table.gaps.clone(),
    })
}
