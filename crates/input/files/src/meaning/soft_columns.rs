//! Soft base clusterings in a table: columns `name.p0`, `name.p1`, … hold the shares of the objects in the clusters of `name`.

use std::path::{Path, PathBuf};

use partita_core::ndarray::{Array2, Axis};
use partita_core::{
    BaseClustering, Ensemble, EnsembleBuilder, ROUNDED_SHARES, Shares, SharesError, option,
};

use super::frame::Frame;
use super::numbers::numbers;
use super::read_options::ReadOptions;
use super::role_notes::grouped;
use super::roles::{self, ColumnRole, Reason, Role, Roles, share_of};
use crate::error::{Cell, FileError, Result, Row, WrongValue};
use crate::format::ancestry;
use crate::format::reader::{Column, Form, Limit};
use crate::words::{MissingCounts, add_counts};

/// The columns of one soft base clustering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SoftGroup {
    pub(crate) name: String,
    /// Positions of its columns, and what its clusters are called.
    pub(crate) columns: Vec<usize>,
    pub(crate) values: Vec<String>,
}

/// The soft base clusterings among these columns by their names. With `rest`, columns that are not called so are one of this name.
pub(crate) fn groups(names: &[String], columns: &[usize], rest: Option<&str>) -> Vec<SoftGroup> {
    let mut groups: Vec<SoftGroup> = Vec::new();
    for &at in columns {
        let (name, value) = match (share_of(&names[at]), rest) {
            (Some((name, value)), _) => (name, value),
            (None, Some(rest)) => (rest, names[at].as_str()),
            (None, None) => continue,
        };
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => {
                group.columns.push(at);
                group.values.push(value.to_owned());
            }
            None => groups.push(SoftGroup {
                name: name.into(),
                columns: vec![at],
                values: vec![value.into()],
            }),
        }
    }
    if rest.is_none() {
        groups.retain(|group| group.columns.len() > 1);
    }
    groups
}

/// Marks the columns of shares, by their names or because somebody says so.
pub(crate) fn mark(frame: &mut Frame, options: &ReadOptions) -> Vec<SoftGroup> {
    let stem = frame
        .path()
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let found = groups(
        &frame.names,
        &frame.roles.data(),
        options.soft_bases.then_some(&*stem),
    );
    let reason = if options.soft_bases {
        Reason::Asked
    } else {
        Reason::Name
    };
    for &at in found.iter().flat_map(|group| &group.columns) {
        (frame.roles.columns[at].role, frame.roles.columns[at].reason) = (Role::Share, reason);
    }
    found
}

/// Takes the columns for labels again.
fn unmark(frame: &mut Frame) {
    for at in frame.roles.shares() {
        (frame.roles.columns[at].role, frame.roles.columns[at].reason) = (Role::Data, Reason::Rest);
    }
}

/// The ensemble of the marked columns, or none where their values say that they are labels: then they are marked no more.
///
/// # Errors
/// [`FileError`] for columns of shares, or columns that somebody says are, with what is not a share.
pub(crate) fn ensemble(
    frame: &mut Frame,
    groups: &[SoftGroup],
    options: &ReadOptions,
    limit: &Limit,
) -> Result<Option<Ensemble>> {
    let columns = frame.roles.shares();
    let (values, missing) = match values(frame, &columns, limit) {
        Ok(read) => read,
        Err(error)
            if options.soft_bases
                || matches!(error, FileError::Budget { .. } | FileError::Io { .. }) =>
        {
            return Err(error);
        }
        Err(_) => {
            unmark(frame);
            return Ok(None);
        }
    };
    let place = |group: &SoftGroup| -> Vec<usize> {
        group
            .columns
            .iter()
            .filter_map(|column| columns.binary_search(column).ok())
            .collect()
    };
    let tables: Vec<Array2<f64>> = groups
        .iter()
        .map(|group| values.select(Axis(1), &place(group)))
        .collect();
    if !options.soft_bases && !tables.iter().all(are_shares) {
        unmark(frame);
        return Ok(None);
    }
    add_counts(&mut frame.roles.missing, &missing);
    let mut builder = EnsembleBuilder::new(values.nrows());
    let path = frame.path().to_owned();
    for (group, table) in groups.iter().zip(tables) {
        let names: Vec<&str> = group
            .columns
            .iter()
            .map(|&at| frame.names[at].as_str())
            .collect();
        let shares = shares(&path, &group.name, &names, table)?;
        push(
            &mut builder,
            &path,
            group,
            &shares,
            options,
            &mut frame.roles,
        )?;
    }
    builder
        .finish()
        .map(Some)
        .map_err(FileError::ensemble(&path))
}

/// The ensemble of runs that lie in a file each.
///
/// # Errors
/// [`FileError`] for what is not shares, and runs of different objects.
pub(crate) fn of_ancestry(
    path: &Path,
    files: &[PathBuf],
    options: &ReadOptions,
) -> Result<(Ensemble, Roles)> {
    let mut builder = None;
    let mut roles = Roles::default();
    let mut names: Option<Vec<String>> = None;
    for file in files {
        for run in ancestry::read(file, options.budget)? {
            let name = run.name;
            if names
                .as_ref()
                .zip(run.names.as_ref())
                .is_some_and(|(known, own)| known != own)
            {
                let reason = "its objects have other names than those of the runs before, or another order; bring them into one order, as aligning \
                              the runs does";
                return Err(FileError::damaged(file, reason));
            }
            names = names.or(run.names);
            let columns: Vec<String> = (0..run.values.ncols()).map(|at| at.to_string()).collect();
            let shares = shares(file, &name, &[], run.values)?;
            let named = columns
                .iter()
                .map(|at| ColumnRole::new(format!("{name}.p{at}"), Role::Share, Reason::Name));
            roles.columns.extend(named);
            roles.objects = shares.rows().nrows() as u64;
            let group = SoftGroup {
                name,
                columns: Vec::new(),
                values: columns,
            };
            let builder =
                builder.get_or_insert_with(|| EnsembleBuilder::new(shares.rows().nrows()));
            push(builder, file, &group, &shares, options, &mut roles)?;
        }
    }
    let builder = builder.ok_or_else(|| FileError::Directory(path.into()))?;
    let mut ensemble = builder.finish().map_err(FileError::ensemble(path))?;
    let bases: Vec<String> = ensemble
        .bases()
        .iter()
        .map(|base| base.name().to_owned())
        .collect();
    roles::distinct(path, &bases)?;
    if let Some(names) = names {
        ensemble = ensemble
            .with_object_names(names)
            .map_err(FileError::ensemble(path))?;
    }
    Ok((ensemble, roles))
}

/// Adds a soft base clustering, and says what it lost and gained.
///
/// # Errors
/// [`FileError::Ensemble`] for one without any share, or with too many clusters.
pub(crate) fn push(
    builder: &mut EnsembleBuilder,
    path: &Path,
    group: &SoftGroup,
    shares: &Shares,
    options: &ReadOptions,
    roles: &mut Roles,
) -> Result<()> {
    let SoftGroup { name, values, .. } = group;
    let left = builder
        .push_soft(name, values.clone(), shares, options.most_shares.max(1))
        .map_err(FileError::ensemble(path))?;
    roles.rescaled += shares.rescaled() as u64;
    if left.objects > 0 {
        roles.warnings.push(format!(
            "'{name}': of {} objects only the {} largest shares are kept; what is left out is at most {:.3} of an object, \
             {:.4} on average ({} keeps more)",
            grouped(left.objects as u64),
            options.most_shares.max(1),
            left.most,
            left.sum / shares.rows().nrows() as f64,
            option("most-shares")
        ));
    }
    Ok(())
}

/// The columns of every base clustering of a soft ensemble with their names; none for a hard one.
pub(crate) fn named_columns(ensemble: &Ensemble) -> Vec<(Vec<String>, Shares)> {
    if ensemble.memberships().is_none() {
        return Vec::new();
    }
    let named = |(u, base): (usize, &BaseClustering)| {
        let names = (0..base.clusters())
            .map(|j| format!("{}.p{j}", base.name()))
            .collect();
        (names, ensemble.base_shares(u))
    };
    ensemble.bases().iter().enumerate().map(named).collect()
}

/// Whether these numbers are shares: none is outside 0 and 1, and some is between them, or all rows sum to 1.
fn are_shares(table: &Array2<f64>) -> bool {
    let known = || table.iter().filter(|share| !share.is_nan());
    let sums = || {
        table
            .rows()
            .into_iter()
            .filter(|row| row.iter().any(|share| !share.is_nan()))
            .map(sum)
    };
    known().all(|share| (0.0..=1.0 + ROUNDED_SHARES).contains(share))
        && (known().any(|share| share.fract() != 0.0)
            || sums().all(|sum| (sum - 1.0).abs() <= ROUNDED_SHARES))
}

fn sum(row: partita_core::ndarray::ArrayView1<'_, f64>) -> f64 {
    row.iter().filter(|share| !share.is_nan()).sum()
}

/// Checked shares: a row of gaps alone is an object that the base clustering does not know, other gaps are 0.
///
/// # Errors
/// [`WrongValue::NotAShare`] names the row, the column and the value.
pub(crate) fn shares(
    path: &Path,
    name: &str,
    columns: &[&str],
    mut table: Array2<f64>,
) -> Result<Shares> {
    table.mapv_inplace(|share| if share.is_nan() { 0.0 } else { share });
    Shares::new(table).map_err(|source| match source {
        SharesError::Share { row, column, value } => {
            let column = columns
                .get(column)
                .map_or_else(|| (column + 1).to_string(), |&column| column.to_owned());
            let cell = Cell::new(path, Row::Row(row as u64 + 1), &column, value.to_string());
            FileError::value(cell, WrongValue::NotAShare)
        }
        SharesError::Sum { row, sum } => {
            let remedy = "divide rows by their sums, or give labels";
            let reason = format!(
                "row {}: the shares of '{name}' sum to {sum:.4}, not to 1; {remedy}",
                row + 1
            );
            FileError::damaged(path, reason)
        }
    })
}

/// The numbers in these columns, NaN for gaps, and the words that are gaps.
fn values(frame: &Frame, columns: &[usize], limit: &Limit) -> Result<(Array2<f64>, MissingCounts)> {
    let mut words = MissingCounts::new();
    if frame.reader.items().typed {
        return Ok((numbers(frame, columns, true, limit)?, words));
    }
    let wanted: Vec<(usize, Form)> = columns
        .iter()
        .map(|&at| {
            (
                at,
                Form::Numbers {
                    gaps: true,
                    words: false,
                },
            )
        })
        .collect();
    let limit = Limit {
        bytes_per_row: 16 * columns.len() as u64,
        ..*limit
    };
    let read = frame.reader.read(0, &wanted, &limit)?;
    let rows = read.first().map_or(0, Column::rows);
    let mut table = Array2::from_elem((rows, columns.len()), f64::NAN);
    for (at, column) in read.into_iter().enumerate() {
        if let Column::Parsed {
            values, missing, ..
        } = column
        {
            add_counts(&mut words, &missing);
            table
                .column_mut(at)
                .iter_mut()
                .zip(values)
                .for_each(|(slot, value)| *slot = value);
        }
    }
    Ok((table, words))
}
