//! Labels of a file against the true labels of another.

use std::path::{Path, PathBuf};

use partita::files::{FileError, LabelGroups, Labels, ManifestRows, Truth};
use partita::metrics::{Contingency, Scores};
use partita::{BaseClustering, Label, PassError, PassRunner, RowBlock, RowBlocks, RowMap};

use crate::label_files::read_labels;
use crate::matching::score_objects;
use crate::{AppError, Observer, ReadOptions, default_budget};

/// The column of labels where none is named and there are several.
const LABEL: &str = "label";

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
    /// The external indices. Objects are matched by name where both files have names, else by place. Where one of the files is a
    /// manifest, both are read block by block, and objects are matched by place.
    ///
    /// # Errors
    /// [`AppError`] for files that cannot be read, or whose objects cannot be matched.
    ///
    /// # Cost
    /// O(n log n) for n objects. Block by block O(n) time, and memory for 2 bytes an object where the labels are in two files.
    pub fn scores(&self, observer: &dyn Observer) -> Result<Scores, AppError> {
        let given = [&self.labels, &self.truth].map(|given| file_and_column(given));
        if given.iter().any(|(file, _)| ManifestRows::is_manifest(file)) {
            return self.scores_of_blocks(&given, observer);
        }
        let (found_path, found, here) = self.read(&self.labels, observer)?;
        let (path, truth, there) = self.read(&self.truth, observer)?;
        if let (Some(id), false) = (&self.read.id, here || there) {
            let (found, truth) = (found_path.display(), path.display());
            let reason = format!("neither {found} nor {truth} has a column '{id}'; name another with --id");
            return Err(AppError::request(reason));
        }
        score_objects((&found_path, found), (&path, truth), self.common, observer)
    }

    /// [`scores`](Self::scores) of columns that are read block by block.
    fn scores_of_blocks(
        &self,
        [labels, truth]: &[(PathBuf, Option<String>); 2],
        observer: &dyn Observer,
    ) -> Result<Scores, AppError> {
        if self.common {
            let reason = "--common matches objects by name; those of a manifest have none, and are matched by place";
            return Err(AppError::request(reason));
        }
        let (found, known) = (self.column(labels)?, self.column(truth)?);
        let (n, m) = (found.rows.rows(), known.rows.rows());
        if n != m {
            let reason = format!("it labels {n} objects, {} has {m}; score the same objects", truth.0.display());
            return Err(AppError::content(&labels.0, reason));
        }
        let mut table = vec![0_u64; found.clusters() * known.clusters()];
        let mut count = |label: u16, true_label: u16| {
            if label != u16::MISSING && true_label != u16::MISSING {
                table[usize::from(label) * known.clusters() + usize::from(true_label)] += 1;
            }
        };
        let mut without = 0;
        if labels.0 == truth.0 {
            found.each(&[found.base, known.base], "comparing labels", observer, &mut |rows| {
                without += rows.iter().skip(1).step_by(2).filter(|&&label| label == u16::MISSING).count();
                rows.chunks_exact(2).for_each(|both| count(both[0], both[1]));
            })?;
        } else {
            let budget = self.read.clone().within(default_budget()).budget.bytes();
            if n.saturating_mul(2) > budget {
                let needed = partita::MemoryBudget::new(2 * n);
                let reason =
                    format!("its labels take {needed}; put labels and truth into one manifest, or allow more memory");
                return Err(AppError::content(&truth.0, reason));
            }
            let mut all: Vec<u16> = Vec::with_capacity(n as usize);
            known.each(&[known.base], "reading true labels", observer, &mut |rows| all.extend_from_slice(rows))?;
            without = all.iter().filter(|&&label| label == u16::MISSING).count();
            let mut rest = &all[..];
            found.each(&[found.base], "comparing labels", observer, &mut |rows| {
                let (here, after) = rest.split_at(rows.len());
                rows.iter().zip(here).for_each(|(&label, &true_label)| count(label, true_label));
                rest = after;
            })?;
        }
        if without > 0 {
            observer.note(&format!("{}: {without} objects have no true label and do not count", truth.0.display()));
        }
        let counted = |row: usize, column: usize| table[row * known.clusters() + column];
        let table = Contingency::of_counts(found.clusters(), known.clusters(), counted);
        let table = table.ok().filter(|table| table.objects() > 0);
        let none = || AppError::content(&truth.0, "no object has both a label and a true label");
        table.as_ref().map(Scores::from).ok_or_else(none)
    }

    /// A column of labels that is read block by block.
    fn column(&self, (path, column): &(PathBuf, Option<String>)) -> Result<LabelBlocksColumn, AppError> {
        let mut options = self.read.clone().within(default_budget());
        let rows: Box<dyn RowBlocks> = if ManifestRows::is_manifest(path) {
            let rows = ManifestRows::open(path, options.budget)?;
            rows.open_files()?;
            Box::new(rows)
        } else {
            let reason = "only whole numbers in Parquet, Arrow or NPY are read block by block, as the other file is";
            // Without such a column all are read.
            options.data = vec![column.clone().unwrap_or_else(|| LABEL.into())];
            options.truth = Truth::None;
            let opened = LabelGroups::open(path, &options).map_err(|error| {
                // Where the column is not there, that is what is wrong.
                options.truth = column.clone().into();
                match LabelGroups::open(path, &options) {
                    Err(absent @ FileError::NoColumn { .. }) => absent,
                    _ => error,
                }
            });
            Box::new(opened?.ok_or_else(|| AppError::content(path, reason))?)
        };
        let names = || rows.bases().iter().map(BaseClustering::name);
        let base = match column {
            Some(column) => names().position(|name| name == column),
            None if names().len() == 1 => Some(0),
            None => names().position(|name| name == LABEL),
        };
        let Some(base) = base else {
            let known: Vec<&str> = names().take(20).collect();
            let reason = format!("name one column of labels as FILE:COLUMN; there are {}", known.join(", "));
            return Err(AppError::content(path, reason));
        };
        Ok(LabelBlocksColumn { path: path.clone(), rows, base })
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

/// A base clustering of label rows on the disk.
struct LabelBlocksColumn {
    path: PathBuf,
    rows: Box<dyn RowBlocks>,
    base: usize,
}

impl LabelBlocksColumn {
    fn clusters(&self) -> usize {
        self.rows.bases()[self.base].clusters()
    }

    /// Hands the labels of some base clusterings to `take`, object by object.
    fn each(
        &self,
        bases: &[usize],
        what: &str,
        observer: &dyn Observer,
        take: &mut dyn FnMut(&[u16]),
    ) -> Result<(), AppError> {
        let monitor = observer.begin(what);
        let passed = PassRunner::new(&*self.rows, &*monitor).each(&Chosen(bases), &mut |first, labels| {
            let _ = monitor.tick(first, self.rows.rows());
            take(&labels);
            Ok(())
        });
        passed.map_err(|error| match error {
            PassError::Interrupted => AppError::nothing_finished(),
            other => AppError::content(&self.path, other.to_string()),
        })
    }
}

/// The labels of some base clusterings, row after row.
struct Chosen<'a>(&'a [usize]);

impl RowMap for Chosen<'_> {
    type Out = Vec<u16>;

    fn map<L: Label>(&self, block: &RowBlock<'_, L>) -> Vec<u16> {
        let label = |label: L| label.cluster().map_or(u16::MISSING, u16::of);
        block.rows().flat_map(|(row, _)| self.0.iter().map(move |&base| label(row[base]))).collect()
    }
}

/// `FILE` or `FILE:COLUMN`; a file whose name has a colon wins over a column.
pub fn file_and_column(given: &Path) -> (PathBuf, Option<String>) {
    match given.to_str().and_then(|text| text.rsplit_once(':')) {
        Some((file, column)) if !given.exists() && !column.is_empty() => (file.into(), Some(column.into())),
        _ => (given.to_owned(), None),
    }
}
