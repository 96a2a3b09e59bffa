//! Labels and tables out of R.

use extendr_api::prelude::*;
use partita::extend::{BaseClustering, EnsembleError, Shares};
use partita::files::sprs::CsMat;
use partita::files::{self, SparseTable, Table};
use partita::generate::Scale;
use partita::ndarray::Array2;
use partita::{Ensemble, EnsembleBuilder, Seed};
use partita_app::{AppError, InputTable, Observer, PairsOf, TableInMemory, TableInput};

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
    /// Numbers, dense or sparse, or distances, with names where there are some.
    Held(InputTable<'static>),
    /// A data frame as a file of text, which is read as that of the command line.
    File(TableInput),
}

impl GivenTable {
    /// The table of a list of R: `values`, `columns` and `objects`, of a sparse one with `rows` and `starts` of its columns, of distances
    /// with `distances`; or what says how a `file` is read.
    ///
    /// # Errors
    /// What makes no table.
    pub(crate) fn new(given: &List) -> std::result::Result<Self, String> {
        let field = |name: &str| given.dollar(name).unwrap_or_else(|_| NULL.into());
        if !field("file").is_null() {
            return read(&given.clone().into()).map(Self::File);
        }
        let (columns, object_names) = (
            texts(&field("columns")).unwrap_or_default(),
            texts(&field("objects")),
        );
        if !field("starts").is_null() {
            return Ok(Self::Held(InputTable::Sparse(SparseTable {
                values: sparse(
                    &field("starts"),
                    &field("rows"),
                    &field("values"),
                    &field("shape"),
                )?,
                columns,
                object_names,
                label: None,
                remarks: Vec::new(),
            })));
        }
        let mut values = matrix(&field("values"))?;
        let gaps = gaps(&mut values, &columns)?;
        let drawn = field("impute").as_str() != Some("mean");
        let table = Table {
            columns,
            values,
            object_names,
            label: None,
            gaps: if drawn { gaps } else { Vec::new() },
        };
        Ok(Self::Held(if field("distances").is_null() {
            InputTable::Dense(table)
        } else {
            InputTable::Distances(table)
        }))
    }

    /// How it is read.
    pub(crate) fn input(&self) -> TableInput {
        match self {
            Self::Held(table) => TableInput {
                pairs: matches!(table, InputTable::Distances(_)).then_some(PairsOf::Distances),
                ..TableInput::new(TABLE)
            },
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
    ) -> std::result::Result<InputTable<'static>, AppError> {
        let table = match self {
            Self::Held(table) => {
                say_gaps(&table, observer);
                table
            }
            Self::File(input) => InputTable::read_dense(&input, how.budget(), seed, observer)?,
        };
        if let Some(warning) = table.scale_warning(scale) {
            observer.warn(&format!("{TABLE}: {warning}"));
        }
        Ok(table)
    }

    /// As [`open`](Self::open), of a table that must be dense.
    ///
    /// # Errors
    /// Likewise, and for a table that is not.
    pub(crate) fn open_dense(
        self,
        seed: Seed,
        how: Run,
        observer: &dyn Observer,
    ) -> std::result::Result<Table, AppError> {
        // No base clustering draws values for its gaps.
        let table = match self {
            Self::Held(table) => table,
            Self::File(_) => self.open(Scale::Auto, seed, how, observer)?,
        };
        match table {
            InputTable::Dense(table) => Ok(table),
            InputTable::Sparse(_) => Err(AppError::request(
                "a sparse table is not read here; give as.matrix() of it",
            )),
            _ => Err(AppError::request(
                "a table of distances is not read; give the features",
            )),
        }
    }
}

/// The columns of a sparse matrix of R, the rows (from 0) and values one after the other, as rows.
fn sparse(
    starts: &Robj,
    rows: &Robj,
    values: &Robj,
    shape: &Robj,
) -> std::result::Result<CsMat<f64>, String> {
    let places = |of: &Robj| -> Vec<usize> {
        let of = of.as_integer_slice().unwrap_or_default();
        of.iter().map(|&place| place as usize).collect()
    };
    let values = values.as_real_slice().unwrap_or_default().to_vec();
    let shape = match places(shape)[..] {
        [rows, columns] => (rows, columns),
        _ => return Err("a sparse table has rows and columns".into()),
    };
    CsMat::try_new_csc(shape, places(starts), places(rows), values)
        .map(|matrix| matrix.to_csr())
        .map_err(|(.., error)| format!("this is not a sparse table: {error}"))
}

/// Fills gaps (NaN) with the means of their columns, and says where they were.
fn gaps(
    values: &mut Array2<f64>,
    columns: &[String],
) -> std::result::Result<Vec<(u32, u32)>, String> {
    let gaps = values.indexed_iter().filter(|(_, value)| value.is_nan());
    let gaps: Vec<(u32, u32)> = gaps.map(|((i, j), _)| (i as u32, j as u32)).collect();
    if !gaps.is_empty() {
        let means = files::column_means(values.view(), &vec![None; columns.len()])
            .map_err(|at| format!("column '{}' has no value at all; leave it out", columns[at]))?;
        files::fill_gaps(values, &means);
    }
    Ok(gaps)
}

fn say_gaps(table: &InputTable<'_>, observer: &dyn Observer) {
    if let InputTable::Dense(Table { gaps, .. }) = table
        && !gaps.is_empty()
    {
        let get = "missing values get values of like rows, which base clusterings draw";
        observer.note(&format!("{TABLE}: {} {get}", gaps.len()));
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
