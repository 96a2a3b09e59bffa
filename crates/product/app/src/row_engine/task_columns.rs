//! Two columns of labels that a task counts, by the manifests that hold them.

use std::path::PathBuf;

use partita::files::ManifestRows;
use partita::{MemoryBudget, RowBlocks};
use serde::{Deserialize, Serialize};

use super::sealed::Hash;
use crate::analysis::paired_columns::{Column, PairedColumns, most_held};
use crate::error::AppError;

/// A base clustering of the manifest, and one of this or another manifest of as many rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TaskColumns {
    pub(super) labels: usize,
    pub(super) truth: usize,
    /// Where the other manifest is, and its hash.
    pub(super) beside: Option<(PathBuf, Hash)>,
}

impl TaskColumns {
    /// The rows of the other manifest.
    pub(super) fn open_beside(
        &self,
        budget: MemoryBudget,
    ) -> Result<Option<ManifestRows>, AppError> {
        let Some((path, hash)) = &self.beside else {
            return Ok(None);
        };
        let rows = ManifestRows::open(path, budget)?;
        if rows.hash() != *hash {
            return Err(AppError::content(
                path,
                "this manifest was made anew since; run `partita evaluate` again",
            ));
        }
        rows.hold(most_held(budget));
        Ok(Some(rows))
    }

    /// Both columns, where these rows have them.
    pub(super) fn pair<'a>(
        &self,
        rows: &'a ManifestRows,
        beside: Option<&'a ManifestRows>,
    ) -> Option<PairedColumns<'a>> {
        let there = beside.unwrap_or(rows);
        let fits = self.labels < rows.bases().len()
            && self.truth < there.bases().len()
            && rows.rows() == there.rows();
        let columns = (
            Column {
                rows,
                base: self.labels,
            },
            Column {
                rows: there,
                base: self.truth,
            },
        );
        fits.then(|| PairedColumns::new(columns.0, columns.1))
    }
}
