//! Labels of a file against the true labels of another.

use std::path::{Path, PathBuf};

use partita::files::{FileError, Labels};
use partita::metrics::Scores;

use crate::label_files::read_labels;
use crate::matching::score_objects;
use crate::{AppError, Observer, ReadOptions};

/// Labels and the truth, each a file, or a file and a column as `FILE:COLUMN`.
#[derive(Clone, Debug, Default)]
pub struct EvaluationInput {
    /// The labels to judge.
    pub labels: PathBuf,
    /// The true labels.
    pub truth: PathBuf,
    /// Only objects that both files have count.
    pub common: bool,
    /// How both are read; one of them is enough to have the column of names that it names.
    pub read: ReadOptions,
}

impl EvaluationInput {
    /// The external indices. Objects are matched by name where both files have names, else by place.
    ///
    /// # Errors
    /// [`AppError`] for files that cannot be read, or whose objects cannot be matched.
    ///
    /// # Cost
    /// O(n log n) for n objects.
    pub fn scores(&self, observer: &dyn Observer) -> Result<Scores, AppError> {
        let (found_path, found, here) = self.read(&self.labels, observer)?;
        let (path, truth, there) = self.read(&self.truth, observer)?;
        if let (Some(id), false) = (&self.read.id, here || there) {
            let (found, truth) = (found_path.display(), path.display());
            let reason = format!("neither {found} nor {truth} has a column '{id}'; name another with --id");
            return Err(AppError::request(reason));
        }
        score_objects((&found_path, found), (&path, truth), self.common, observer)
    }

    /// The file, its labels, and whether it has the column of names that is asked for.
    fn read(&self, given: &Path, observer: &dyn Observer) -> Result<(PathBuf, Labels, bool), AppError> {
        let (path, column) = file_and_column(given);
        let mut options = self.read.clone();
        options.truth = column.into();
        match read_labels(&path, &options, observer) {
            Err(AppError::File(FileError::NoColumn { column, .. })) if options.id.as_ref() == Some(&column) => {
                options.id = None;
                let labels = read_labels(&path, &options, observer)?;
                Ok((path, labels, false))
            }
            labels => Ok((path, labels?, true)),
        }
    }
}

/// `FILE` or `FILE:COLUMN`; a file whose name has a colon wins over a column.
pub fn file_and_column(given: &Path) -> (PathBuf, Option<String>) {
    match given.to_str().and_then(|text| text.rsplit_once(':')) {
        Some((file, column)) if !given.exists() && !column.is_empty() => (file.into(), Some(column.into())),
        _ => (given.to_owned(), None),
    }
}
