//! Labels of a file against the true labels of another.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use partita::extend::{BaseClustering, Label, PassRunner, RowBlocks, option, sums_under_way};
use partita::files::{FileError, LabelGroups, Labels, ManifestRows, Truth};
use partita::metrics::{RowCounts, Scores};
use partita::ndarray::{Array1, Axis};
use partita::{Ensemble, MemoryBudget};

use crate::analysis::paired_columns::{Column, HeldRows, PairedColumns, most_held};
use crate::error::AppError;
use crate::input::label_files::read_labels;
use crate::input::matching::{codes, say_unknown, score_objects};
use crate::input::objects::Objects;
use crate::machine::default_budget;
use crate::observer::Observer;
use partita::files::ReadOptions;

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
    /// O(n log n) for n objects. Block by block O(n) time, and memory for some groups of rows and tables of clusters.
    pub fn scores(&self, observer: &dyn Observer) -> Result<Scores, AppError> {
        let given = [&self.labels, &self.truth].map(|given| file_and_column(given));
        if given
            .iter()
            .any(|(file, _)| ManifestRows::is_manifest(file))
        {
            return self.scores_of_blocks(&given, observer);
        }
        let [labels, truth] = &given;
        let ((found, here), (known, there)) =
            (self.read(labels, observer)?, self.read(truth, observer)?);
        if let (Some(id), false) = (&self.read.id, here || there) {
            let (found, truth) = (labels.0.display(), truth.0.display());
            let reason = format!(
                "neither {found} nor {truth} has a column '{id}'; name another with {}",
                option("id")
            );
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
        self.check_places()?;
        let budget = self.read.clone().within(default_budget()).budget;
        let found = self.column(labels, 0, observer)?;
        let known = if labels.0 == truth.0 {
            EvaluatedLabels::of(&truth.0, Arc::clone(&found.rows), truth.1.as_deref())?
        } else {
            // Its groups may be read more than once.
            self.column(truth, most_held(budget), observer)?
        };
        let columns = (found.column(), known.column());
        check_pair((&labels.0, columns.0), (&truth.0, columns.1), budget)?;
        let paired = PairedColumns::new(columns.0, columns.1);
        let monitor = observer.begin("reading labels");
        let counts = RowCounts::of(&PassRunner::new(&paired, &*monitor));
        scores_of_counts(
            &counts.map_err(|error| AppError::of_pass(&labels.0, &error))?,
            &truth.0,
            observer,
        )
    }

    /// Refuses what matches objects by their names.
    ///
    /// # Errors
    /// [`AppError`] where that cannot be.
    pub fn check_places(&self) -> Result<(), AppError> {
        if self.common {
            Err(AppError::request(format!(
                "{} matches objects by name; those of a manifest have none, and are matched by place",
                option("common").on()
            )))
        } else {
            Ok(())
        }
    }

    /// A column of labels: read block by block, of which so many bytes stay for another time, or held where its file cannot be.
    fn column(
        &self,
        given: &(PathBuf, Option<String>),
        hold: u64,
        observer: &dyn Observer,
    ) -> Result<EvaluatedLabels, AppError> {
        let (path, column) = given;
        let mut options = self.read.clone().within(default_budget());
        if ManifestRows::is_manifest(path) {
            let rows = ManifestRows::open(path, options.budget)?;
            rows.open_files()?;
            rows.hold(hold);
            return EvaluatedLabels::of(path, Arc::new(rows), column.as_deref());
        }
        // Without such a column all are read.
        options.data = vec![column.clone().unwrap_or_else(|| LABEL.into())];
        options.truth = Truth::None;
        match LabelGroups::open(path, &options) {
            Ok(Some(groups)) => EvaluatedLabels::of(path, Arc::new(groups), column.as_deref()),
            // Text, and labels that are words. A column that is not there is named too.
            _ => self.held_column(given, observer),
        }
    }

    fn held_column(
        &self,
        given: &(PathBuf, Option<String>),
        observer: &dyn Observer,
    ) -> Result<EvaluatedLabels, AppError> {
        let ((labels, _), path) = (self.read(given, observer)?, &given.0);
        let names = labels.object_names.as_deref();
        if Objects::new(path, labels.column.values.len(), names).has_own_names() {
            observer.note(&format!(
                "{}: objects are matched by their order, for a manifest has no names",
                path.display()
            ));
        }
        let (codes, clusters) = codes(&labels.column);
        if clusters > usize::from(u16::MAX) {
            let reason =
                format!("{clusters} different labels; block by block 65,535 are compared at most");
            return Err(AppError::content(path, reason));
        }
        let labels = codes
            .into_iter()
            .map(|code| code.map_or(u16::MISSING, u16::of))
            .collect();
        let name = given.1.as_deref().unwrap_or(LABEL);
        let base = BaseClustering::new(name, (0..clusters).map(|code| code.to_string()).collect());
        let labels =
            Ensemble::from_words(Array1::from_vec(labels).insert_axis(Axis(1)), vec![base]);
        let rows = labels.map_err(|error| AppError::content(path, error.to_string()))?;
        EvaluatedLabels::of(path, Arc::new(HeldRows(rows)), None)
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
            Err(AppError::File(FileError::NoColumn { column, .. }))
                if options.id.as_ref() == Some(&column) =>
            {
                options.id = None;
                Ok((read_labels(path, &options, observer)?, false))
            }
            labels => Ok((labels?, true)),
        }
    }
}

/// Labels of a file: a base clustering of label rows.
struct EvaluatedLabels {
    rows: Arc<dyn RowBlocks>,
    base: usize,
}

impl EvaluatedLabels {
    fn of(path: &Path, rows: Arc<dyn RowBlocks>, column: Option<&str>) -> Result<Self, AppError> {
        let base = base_of(path, &*rows, column)?.base;
        Ok(Self { rows, base })
    }

    fn column(&self) -> Column<'_> {
        Column {
            rows: &*self.rows,
            base: self.base,
        }
    }
}

/// The base clustering of this name, else the only one or the one called `label`.
///
/// # Errors
/// [`AppError`] where that cannot be.
pub fn base_of<'a>(
    path: &Path,
    rows: &'a dyn RowBlocks,
    column: Option<&str>,
) -> Result<Column<'a>, AppError> {
    let names = || rows.bases().iter().map(BaseClustering::name);
    let base = match column {
        Some(column) => names().position(|name| name == column),
        None if names().len() == 1 => Some(0),
        None => names().position(|name| name == LABEL),
    };
    base.map(|base| Column { rows, base }).ok_or_else(|| {
        let known: Vec<&str> = names().take(20).collect();
        let reason = format!(
            "name one column of labels as FILE:COLUMN; there are {}",
            known.join(", ")
        );
        AppError::content(path, reason)
    })
}

/// Refuses columns of another number of objects, and tables beyond the budget.
///
/// # Errors
/// [`AppError`] where that cannot be.
pub fn check_pair(
    (here, found): (&Path, Column<'_>),
    (there, known): (&Path, Column<'_>),
    budget: MemoryBudget,
) -> Result<(), AppError> {
    let (n, m, there) = (found.rows.rows(), known.rows.rows(), there.display());
    if n != m {
        return Err(AppError::content(
            here,
            format!("it labels {n} objects, {there} has {m}; score the same objects"),
        ));
    }
    let [clusters, classes] =
        [found, known].map(|column| column.rows.bases()[column.base].clusters() as u64);
    let places = clusters
        .saturating_mul(classes)
        .saturating_mul(sums_under_way(n as usize));
    let needed = MemoryBudget::new(places.saturating_mul(8));
    if needed.bytes() <= budget.bytes() {
        return Ok(());
    }
    let reason = format!(
        "tables of its {clusters} clusters and the {classes} of {there} take {needed}, more than there is; compare labels of fewer \
         clusters"
    );
    Err(AppError::content(here, reason))
}

/// The external indices of counted labels; the observer hears how many objects have no true label.
///
/// # Errors
/// [`AppError`] where that cannot be.
pub fn scores_of_counts(
    counts: &RowCounts,
    truth: &Path,
    observer: &dyn Observer,
) -> Result<Scores, AppError> {
    say_unknown(counts.without_second, truth, observer);
    let none = |_| AppError::content(truth, "no object has both a label and a true label");
    counts.table().as_ref().map(Scores::from).map_err(none)
}

/// `FILE` or `FILE:COLUMN`; a file whose name has a colon wins over a column.
pub fn file_and_column(given: &Path) -> (PathBuf, Option<String>) {
    match given.to_str().and_then(|text| text.rsplit_once(':')) {
        Some((file, column)) if !given.exists() && !column.is_empty() => {
            (file.into(), Some(column.into()))
        }
        _ => (given.to_owned(), None),
    }
}
