//! Labels that a run wrote, as what labels its rows again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use partita::extend::{Assigned, Row, RowBlock, RowMap, Stopped};
use partita::files::{ReadOptions, Truth, load_table};
use partita_core::{RowFit, RowLabeller};
use serde::{Deserialize, Serialize};

use crate::error::AppError;
use crate::machine::default_budget;

/// Labels of all rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredLabels {
    #[serde(skip)]
    rows: Arc<Vec<u32>>,
}

impl StoredLabels {
    /// Reads the files of labels whose rows follow each other: so many rows in so many clusters.
    pub(crate) fn read(files: &[PathBuf], clusters: usize, rows: usize) -> Result<Self, AppError> {
        let mut labels = Vec::with_capacity(rows);
        for file in files {
            read(file, clusters, &mut labels)?;
        }
        if labels.len() != rows {
            let file = files.first().map_or(Path::new(""), PathBuf::as_path);
            let reason = format!("{} labels for {rows} rows; run it again", labels.len());
            return Err(AppError::content(file, reason));
        }
        let rows = Arc::new(labels);
        Ok(Self { rows })
    }

    /// A fit that gives rows these labels.
    pub(crate) fn fit(self, clusters: usize) -> RowFit<()> {
        RowFit::new(clusters, Stopped::Exact, self, ())
    }
}

fn read(file: &Path, clusters: usize, labels: &mut Vec<u32>) -> Result<(), AppError> {
    let mut options = ReadOptions::default().within(default_budget());
    options.truth = Truth::None;
    options.id = Some("1".into());
    let (table, _) = load_table(file, &options)?;
    // The file of a part but the first has no header. Beside a label are its agreement and, of some methods, its probability.
    if !(2..=3).contains(&table.columns.len()) {
        let reason = "a page needs the columns object, label and agreement";
        return Err(AppError::content(file, reason));
    }
    for (row, numbers) in table.values.rows().into_iter().enumerate() {
        let number = numbers[0];
        if number.fract() != 0.0 || !(0.0..clusters as f64).contains(&number) {
            let reason = format!(
                "row {} has the label {number} of {clusters} clusters",
                row + 1
            );
            return Err(AppError::content(file, reason));
        }
        labels.push(number as u32);
    }
    Ok(())
}

impl RowMap for StoredLabels {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let first = block.first as usize;
        let rows = first..first + block.len();
        Assigned {
            labels: self.rows[rows].to_vec(),
            ..Assigned::default()
        }
    }
}

impl RowLabeller for StoredLabels {
    const KIND: &'static str = "app stored labels";
}
