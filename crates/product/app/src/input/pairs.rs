//! Tables of all pairs of objects: distances or similarities, which are no features.

use std::path::Path;

use partita::extend::option;
use partita::files::Table;
use partita::ndarray::Array2;

use crate::error::AppError;
use crate::experiment::description::PairsOf;

/// Numbers that are written with few digits differ in the last of them from their mirrored ones.
const ROUNDING: f64 = 1e-6;

/// What a table looks like: symmetric, with zeros or ones on the diagonal, and of more than two objects. That happens to no table of
/// features by chance.
fn looks_like(table: &Table) -> Option<PairsOf> {
    let values = &table.values;
    let named_alike = table
        .object_names
        .as_ref()
        .is_none_or(|names| *names == table.columns);
    if !values.is_square() || values.nrows() < 3 || !named_alike {
        return None;
    }
    let diagonal = values.diag();
    let all = |wanted: f64| {
        diagonal
            .iter()
            .all(|value| (value - wanted).abs() <= ROUNDING)
    };
    let kind = if all(0.0) && values.iter().all(|&value| value >= 0.0) {
        PairsOf::Distances
    } else if all(1.0) && values.iter().all(|value| value.abs() <= 1.0 + ROUNDING) {
        PairsOf::Similarities
    } else {
        return None;
    };
    let symmetric = values
        .indexed_iter()
        .all(|((i, j), &value)| mirrors(value, values[[j, i]]));
    symmetric.then_some(kind)
}

fn mirrors(value: f64, mirrored: f64) -> bool {
    (value - mirrored).abs() <= ROUNDING * value.abs().max(mirrored.abs())
}

/// The distances of a table of all pairs, of similarities s as √(2 − 2 s), which they are of vectors of length 1; none of features.
///
/// # Errors
/// [`AppError::Content`] for a table that looks like one of pairs where nobody says what it is, and for one that is none where somebody says
/// that it is.
pub(crate) fn distances(
    file: &Path,
    table: &Table,
    asked: Option<PairsOf>,
) -> Result<Option<Array2<f64>>, AppError> {
    let n = table.values.nrows();
    let (what, own) = match asked {
        Some(PairsOf::Distances) => ("distances", 0.0),
        Some(PairsOf::Similarities) => ("similarities", 1.0),
        Some(PairsOf::Features | PairsOf::Graph) => return Ok(None),
        None => return undecided(file, table).map(|()| None),
    };
    check(table, what, own).map_err(|why| {
        let reason = format!(
            "it has no {what} of all pairs: {why}; leave out --{what} if its columns are features"
        );
        AppError::content(file, reason)
    })?;
    let distance = |((i, j), &value): ((usize, usize), &f64)| match asked {
        _ if i == j => 0.0,
        Some(PairsOf::Similarities) => (2.0 - 2.0 * value.max(table.values[[j, i]]))
            .max(0.0)
            .sqrt(),
        // Both halves to the bit.
        _ => value.max(table.values[[j, i]]),
    };
    let all: Vec<f64> = table.values.indexed_iter().map(distance).collect();
    Array2::from_shape_vec((n, n), all)
        .map(Some)
        .map_err(|error| AppError::content(file, error.to_string()))
}

/// Refuses a table that looks like one of all pairs.
fn undecided(file: &Path, table: &Table) -> Result<(), AppError> {
    let (what, diagonal) = match looks_like(table) {
        Some(PairsOf::Distances) => ("distances", 0),
        Some(PairsOf::Similarities) => ("similarities", 1),
        _ => return Ok(()),
    };
    let n = table.values.nrows();
    let reason = format!(
        "its {n} × {n} numbers look like {what} of all pairs of objects, not like features: they are symmetric, with {diagonal} on the \
         diagonal; {} takes them so, {} takes the columns for features",
        option(what).on(),
        option("distances").off()
    );
    Err(AppError::content(file, reason))
}

/// What keeps a table from being one of all pairs, with this number of an object to itself.
fn check(table: &Table, what: &str, own: f64) -> Result<(), String> {
    let (rows, columns) = table.values.dim();
    if rows != columns {
        return Err(format!("{rows} rows and {columns} columns"));
    }
    // A header of positions is none.
    let named = table
        .columns
        .iter()
        .any(|column| column.parse::<usize>().is_err());
    if let Some(names) = table.object_names.as_ref().filter(|_| named) {
        let other = names
            .iter()
            .zip(&table.columns)
            .position(|(name, column)| name != column);
        if let Some(at) = other {
            let (row, column) = (&names[at], &table.columns[at]);
            return Err(format!(
                "row {0} is '{row}', column {0} is '{column}'",
                at + 1
            ));
        }
    }
    for ((i, j), &value) in table.values.indexed_iter() {
        let place = |i: usize, j: usize| format!("row {}, column '{}'", i + 1, table.columns[j]);
        let mirrored = table.values[[j, i]];
        if i == j && (value - own).abs() > ROUNDING {
            return Err(format!(
                "{}, on the diagonal, is {value}, not {own}",
                place(i, j)
            ));
        }
        if (what == "distances" && value < 0.0)
            || (what == "similarities" && value > 1.0 + ROUNDING)
        {
            return Err(format!("{} is {value}", place(i, j)));
        }
        if !mirrors(value, mirrored) {
            return Err(format!(
                "{} is {value}, and {} is {mirrored}",
                place(i, j),
                place(j, i)
            ));
        }
    }
    Ok(())
}
