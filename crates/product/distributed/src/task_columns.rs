//! Two columns of labels that a task counts, by the manifests that hold them.

use std::path::PathBuf;

use partita::MemoryBudget;
use partita::extend::RowBlocks;
use partita::files::ManifestRows;
use serde::{Deserialize, Serialize};

use crate::sealed::Hash;
use partita_app::AppError;
use partita_app::tasks::{Column, PairedColumns, most_held};

/// A base clustering of the manifest, and one of this or another manifest of as many rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskColumns {
    pub(crate) labels: usize,
    pub(crate) truth: usize,
    /// Where the other manifest is, and its hash.
    pub(crate) beside: Option<(PathBuf, Hash)>,
}

impl TaskColumns {
    /// The rows of the other manifest.
    pub(crate) fn open_beside(
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
    pub(crate) fn pair<'a>(
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
