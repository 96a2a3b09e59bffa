//! Labels of a file against the true labels of another.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use partita::files::{FileError, LabelGroups, Labels, ManifestRows, Truth};
use partita::metrics::{Contingency, Scores};
use partita::{BaseClustering, Label, MemoryBudget, PassRunner, RowBlock, RowBlocks, RowMap};

use crate::label_files::read_labels;
use crate::matching::{are_numbers_of_rows, codes, score_objects};
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
        let [labels, truth] = &given;
        let ((found, here), (known, there)) = (self.read(labels, observer)?, self.read(truth, observer)?);
        if let (Some(id), false) = (&self.read.id, here || there) {
            let (found, truth) = (labels.0.display(), truth.0.display());
            let reason = format!("neither {found} nor {truth} has a column '{id}'; name another with --id");
            return Err(AppError::request(reason));
        }
        score_objects((&labels.0, found), (&truth.0, known), self.common, observer)
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
        let (found, known) = (self.column(labels, observer)?, self.column(truth, observer)?);
        let (n, m) = (found.objects(), known.objects());
        if n != m {
            let reason = format!("it labels {n} objects, {} has {m}; score the same objects", truth.0.display());
            return Err(AppError::content(&labels.0, reason));
        }
        let (rows, columns) = (found.clusters(), known.clusters());
        let budget = self.read.clone().within(default_budget()).budget;
        let needed = MemoryBudget::new((rows as u64).saturating_mul(columns as u64).saturating_mul(8));
        if needed.bytes() > budget.bytes() {
            let reason = format!(
                "a table of its {rows} clusters and the {columns} of {} takes {needed}, more than there is; compare labels of \
                 fewer clusters",
                truth.0.display()
            );
            return Err(AppError::content(&labels.0, reason));
        }
        let mut table = vec![0_u64; rows * columns];
        let mut without = 0_u64;
        let mut count = |label: u16, true_label: u16| {
            without += u64::from(true_label == u16::MISSING);
            if label != u16::MISSING && true_label != u16::MISSING {
                table[usize::from(label) * columns + usize::from(true_label)] += 1;
            }
        };
        match (&found.source, &known.source) {
            (LabelSource::Blocks(rows, label), LabelSource::Blocks(_, true_label)) if labels.0 == truth.0 => {
                each_label(&**rows, &[*label, *true_label], &labels.0, observer, &mut |rows| {
                    rows.chunks_exact(2).for_each(|both| count(both[0], both[1]));
                })?;
            }
            _ => {
                let all = known.held(budget, observer)?;
                let mut rest = &all[..];
                found.each(observer, &mut |rows| {
                    let (here, after) = rest.split_at(rows.len());
                    rows.iter().zip(here).for_each(|(&label, &true_label)| count(label, true_label));
                    rest = after;
                })?;
            }
        }
        if without > 0 {
            observer.note(&format!("{}: {without} objects have no true label and do not count", truth.0.display()));
        }
        let table = Contingency::of_counts(rows, columns, |row, column| table[row * columns + column]);
        let table = table.ok().filter(|table| table.objects() > 0);
        let none = || AppError::content(&truth.0, "no object has both a label and a true label");
        table.as_ref().map(Scores::from).ok_or_else(none)
    }

    /// A column of labels: read block by block, or held where its file cannot be.
    fn column(&self, given: &(PathBuf, Option<String>), observer: &dyn Observer) -> Result<EvaluatedLabels, AppError> {
        let (path, column) = given;
        let mut options = self.read.clone().within(default_budget());
        let rows: Box<dyn RowBlocks> = if ManifestRows::is_manifest(path) {
            let rows = ManifestRows::open(path, options.budget)?;
            rows.open_files()?;
            Box::new(rows)
        } else {
            // Without such a column all are read.
            options.data = vec![column.clone().unwrap_or_else(|| LABEL.into())];
            options.truth = Truth::None;
            match LabelGroups::open(path, &options) {
                Ok(Some(groups)) => Box::new(groups),
                // Text, and labels that are words. A column that is not there is named too.
                _ => return self.held_column(given, observer),
            }
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
        Ok(EvaluatedLabels { path: path.clone(), source: LabelSource::Blocks(rows, base) })
    }

    fn held_column(
        &self,
        given: &(PathBuf, Option<String>),
        observer: &dyn Observer,
    ) -> Result<EvaluatedLabels, AppError> {
        let ((labels, _), path) = (self.read(given, observer)?, &given.0);
        if labels.object_names.as_ref().is_some_and(|names| !are_numbers_of_rows(names)) {
            observer
                .note(&format!("{}: objects are matched by their order, for a manifest has no names", path.display()));
        }
        let (codes, clusters) = codes(&labels.column);
        if clusters > usize::from(u16::MAX) {
            let reason = format!("{clusters} different labels; block by block 65,535 are compared at most");
            return Err(AppError::content(path, reason));
        }
        let codes = codes.into_iter().map(|code| code.map_or(u16::MISSING, u16::of)).collect();
        Ok(EvaluatedLabels { path: path.clone(), source: LabelSource::Held(codes, clusters) })
    }

    /// Labels of a column of a file, and whether the file has the column of names that is asked for.
    fn read(
        &self,
        (path, column): &(PathBuf, Option<String>),
        observer: &dyn Observer,
    ) -> Result<(Labels, bool), AppError> {
        let mut options = self.read.clone();
        options.truth = column.clone().into();
        match read_labels(path, &options, observer) {
            Err(AppError::File(FileError::NoColumn { column, .. })) if options.id.as_ref() == Some(&column) => {
                options.id = None;
                Ok((read_labels(path, &options, observer)?, false))
            }
            labels => Ok((labels?, true)),
        }
    }
}

/// Labels of a file.
struct EvaluatedLabels {
    path: PathBuf,
    source: LabelSource,
}

enum LabelSource {
    /// A base clustering of label rows on the disk.
    Blocks(Box<dyn RowBlocks>, usize),
    /// The cluster of every object, and the number of clusters.
    Held(Vec<u16>, usize),
}

impl EvaluatedLabels {
    fn objects(&self) -> u64 {
        match &self.source {
            LabelSource::Blocks(rows, _) => rows.rows(),
            LabelSource::Held(codes, _) => codes.len() as u64,
        }
    }

    fn clusters(&self) -> usize {
        match &self.source {
            LabelSource::Blocks(rows, base) => rows.bases()[*base].clusters(),
            LabelSource::Held(_, clusters) => *clusters,
        }
    }

    /// Hands the labels to `take` in their order.
    fn each(&self, observer: &dyn Observer, take: &mut dyn FnMut(&[u16])) -> Result<(), AppError> {
        match &self.source {
            LabelSource::Blocks(rows, base) => each_label(&**rows, &[*base], &self.path, observer, take),
            LabelSource::Held(codes, _) => {
                take(codes);
                Ok(())
            }
        }
    }

    /// All labels, where they fit the budget.
    fn held(&self, budget: MemoryBudget, observer: &dyn Observer) -> Result<Cow<'_, [u16]>, AppError> {
        if let LabelSource::Held(codes, _) = &self.source {
            return Ok(Cow::Borrowed(codes));
        }
        let needed = MemoryBudget::new(self.objects().saturating_mul(2));
        if needed.bytes() > budget.bytes() {
            let reason = format!("its labels take {needed}, which is more than there is; put both into one manifest");
            return Err(AppError::content(&self.path, reason));
        }
        let mut all = Vec::with_capacity(self.objects() as usize);
        self.each(observer, &mut |labels| all.extend_from_slice(labels))?;
        Ok(Cow::Owned(all))
    }
}

/// Hands the labels of some base clusterings to `take`, object by object.
fn each_label(
    rows: &dyn RowBlocks,
    bases: &[usize],
    path: &Path,
    observer: &dyn Observer,
    take: &mut dyn FnMut(&[u16]),
) -> Result<(), AppError> {
    let monitor = observer.begin("reading labels");
    let passed = PassRunner::new(rows, &*monitor).each(&Chosen(bases), &mut |first, labels| {
        let _ = monitor.tick(first, rows.rows());
        take(&labels);
        Ok(())
    });
    passed.map_err(|error| AppError::of_pass(path, &error))
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
