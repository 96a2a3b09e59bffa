//! A worker: the rows of one part, passed over once.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use partita::extend::{Assigned, PassRunner, RowBlocks, labeller_kind, pass_kind};
use partita::files::{LabelBlocks, ManifestRows, write_label_blocks};
use partita::{MemoryBudget, Monitor, Seed};

use crate::job::{Content, Job, LabelEnding, PartResult, Task, labels_beside, parts, sum_beside};
use crate::sealed::{Hash, Seal, read, write};
use partita_app::tasks::{
    Agreeing, Drawn, ReportRows, RowPredictor, WithDrawn, agreement_of_counts, columns_of,
    most_held,
};
use partita_app::{AppError, Observer, UnknownValues, label_numbers, numbers_of};

/// One task of a round.
#[derive(Clone, Debug)]
pub struct PartTask {
    /// The manifest.
    pub manifest: PathBuf,
    /// The job of the round, as [`Fold`](crate::Fold) wrote it.
    pub job: PathBuf,
    /// Number of the part, from 0.
    pub part: usize,
    /// Where the sum goes; beside the job if not said.
    pub output: Option<PathBuf>,
    /// Whether a file there that is something else may be replaced.
    pub replace: bool,
    /// Memory that may be held at once.
    pub budget: MemoryBudget,
    /// Where rows that were decoded stay for tasks to come.
    pub kept: KeptRows,
}

/// Where label rows stay that a task has decoded. Sums and labels are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeptRows {
    /// Nowhere.
    #[default]
    Nowhere,
    /// In the memory of this process, where it does many tasks of a fit, as workers of Dask and Spark do: up to 256 MiB, an eighth of the
    /// budget at most, until it is asked for rows of another manifest or [`release_rows`] is called.
    InMemory,
}

/// What became of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartDone {
    /// It was done; the sum is here.
    Written(PathBuf),
    /// It had been done before.
    There(PathBuf),
}

impl PartTask {
    /// Does the task. Who does it again finds it done; files appear whole or not at all.
    ///
    /// # Errors
    /// [`AppError`] for a job of another manifest, a part that there is not, rows that were changed.
    pub fn run(&self, observer: &dyn Observer) -> Result<PartDone, AppError> {
        let (job, hash): (Job, Hash) = read(Seal::Job, &self.job)?;
        let rows = self.rows()?;
        let parts = parts(&rows);
        if job.manifest != rows.hash() {
            let here = self.manifest.display();
            return Err(AppError::content(
                &self.job,
                format!("this job is of another manifest than {here}"),
            ));
        }
        let Some(part) = rows.manifest().parts.get(self.part) else {
            let (here, last) = (self.manifest.display(), parts - 1);
            return Err(AppError::request(format!(
                "{here} has the parts 0 to {last}; there is no part {}",
                self.part
            )));
        };
        let output = self
            .output
            .clone()
            .unwrap_or_else(|| sum_beside(&self.job, self.part, parts));
        if self.is_done(&output, hash, &job.task)? {
            return Ok(PartDone::There(output));
        }
        if self.kept == KeptRows::InMemory {
            // Files that were opened for a task before may have been changed since.
            rows.check_files(part.groups.clone())?;
        }
        let monitor = observer.begin(&format!("part {}", self.part));
        let content = self.content(&job.task, &rows, &output, &*monitor)?;
        let (manifest, number) = (rows.hash(), Some(self.part as u64));
        let (first, count) = (part.first, part.rows);
        let result = PartResult {
            job: hash,
            manifest,
            round: job.round,
            part: number,
            first,
            rows: count,
            content,
        };
        write(Seal::Sum, &output, &result)?;
        Ok(PartDone::Written(output))
    }

    fn rows(&self) -> Result<Arc<ManifestRows>, AppError> {
        match self.kept {
            KeptRows::Nowhere => Ok(Arc::new(ManifestRows::open(&self.manifest, self.budget)?)),
            KeptRows::InMemory => shared_rows(&self.manifest, self.budget),
        }
    }

    /// Whether this task was done before; what else is at its place is refused.
    fn is_done(&self, output: &Path, job: Hash, task: &Task) -> Result<bool, AppError> {
        if !output.exists() {
            return Ok(false);
        }
        let found = read::<PartResult>(Seal::Sum, output).ok();
        let own =
            found.filter(|(found, _)| found.job == job && found.part == Some(self.part as u64));
        let bytes = own
            .as_ref()
            .and_then(|(found, _)| found.content.label_bytes());
        if let (Some(bytes), Some(ending)) = (bytes, task.ending()) {
            let labels = fs::metadata(labels_beside(output, ending)).map(|labels| labels.len());
            return Ok(labels.is_ok_and(|found| found == bytes) && !self.replace);
        }
        let own = own.is_some();
        if own || self.replace {
            return Ok(own);
        }
        let reason = format!(
            "exists already and is not the sum of part {}; remove it first",
            self.part
        );
        Err(AppError::content(output, reason))
    }

    fn content(
        &self,
        task: &Task,
        rows: &ManifestRows,
        output: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Content, AppError> {
        let groups = rows.manifest().parts[self.part].groups.clone();
        let failed = |error| AppError::of_pass(&self.manifest, &error);
        let unknown = |kind: &str| {
            AppError::content(&self.job, format!("this program knows no pass '{kind}'"))
        };
        match task {
            Task::Sum {
                kind,
                state,
                columns: None,
            } => {
                let kind = pass_kind(kind).ok_or_else(|| unknown(kind))?;
                kind.sum(state, rows, groups, monitor)
                    .map(Content::Sum)
                    .map_err(failed)
            }
            Task::Sum {
                kind,
                state,
                columns: Some(columns),
            } => {
                let kind = pass_kind(kind).ok_or_else(|| unknown(kind))?;
                let other = columns.open_beside(self.budget)?;
                let others =
                    || AppError::content(&self.job, "this job is of other base clusterings");
                let paired = columns.pair(rows, other.as_ref()).ok_or_else(others)?;
                kind.sum(state, &paired, groups, monitor)
                    .map(Content::Sum)
                    .map_err(failed)
            }
            Task::Predict {
                model,
                refuse,
                ending,
            } => self.predicted((model, *refuse, *ending), rows, output, monitor),
            Task::Label {
                kind,
                state,
                soft,
                counts,
                weights,
                ending,
                seed,
            } => {
                let labeller = labeller_kind(kind)
                    .ok_or_else(|| unknown(kind))?
                    .open(state)
                    .map_err(failed)?;
                let of_counts =
                    agreement_of_counts(rows, counts, weights.as_ref()).map_err(failed)?;
                let (runner, mut agreement) = (PassRunner::new(rows, monitor), 0.0);
                let mut report = ReportRows::new(rows, Seed::new(*seed));
                report.count(counts.clone());
                let map = WithDrawn::new(Agreeing(&of_counts), Some(&report));
                let (bytes, ()) =
                    self.written((rows, output), *ending, label_numbers(*soft), |out| {
                        let take = &mut |first, (some, own, drawn): (Assigned, Vec<f64>, Drawn)| {
                            report.take(first, &some, &own, drawn);
                            agreement += own.iter().sum::<f64>();
                            let numbers = numbers_of(&own, some.probability.as_deref());
                            let written = out.push(first, &some.labels, &numbers);
                            written.map_err(|error| error.to_string())
                        };
                        labeller
                            .without_soft()
                            .each(&runner, groups, &map, take)
                            .map_err(failed)
                    })?;
                Ok(Content::Labels {
                    bytes,
                    agreement,
                    shown: report.into_shown(),
                })
            }
        }
    }

    /// Labels of the part by a saved model.
    fn predicted(
        &self,
        (model, refuse, ending): (&str, bool, LabelEnding),
        rows: &ManifestRows,
        output: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Content, AppError> {
        let damaged =
            |error: &dyn std::fmt::Display| AppError::content(&self.job, error.to_string());
        let saved = serde_json::from_str(model).map_err(|error| damaged(&error))?;
        let model = partita::load_model(&saved).map_err(|error| damaged(&error))?;
        let predictor = RowPredictor::new(&*model, rows.bases(), &columns_of(&saved));
        let (runner, groups) = (
            PassRunner::new(rows, monitor),
            rows.manifest().parts[self.part].groups.clone(),
        );
        let unknown = if refuse {
            UnknownValues::Refuse
        } else {
            UnknownValues::Missing
        };
        let (bytes, counts) = self.written((rows, output), ending, &["probability"], |out| {
            let take = &mut |first, labels: &[u32], probability: &[f64]| {
                out.push(first, labels, &[probability])
                    .map_err(|error| error.to_string())
            };
            let counts = predictor.predict(&runner, groups, refuse, take);
            let counts = counts.map_err(|error| AppError::of_pass(&self.manifest, &error))?;
            counts.warnings(&self.manifest, unknown).map(|_| counts)
        })?;
        Ok(Content::Predicted { bytes, counts })
    }

    /// Writes the labels of the part beside its sum: the bytes of the file, and what `fill` gave. What failed leaves no file.
    fn written<T>(
        &self,
        (rows, output): (&ManifestRows, &Path),
        ending: LabelEnding,
        numbers: &[&str],
        fill: impl FnOnce(&mut LabelBlocks<'_>) -> Result<T, AppError>,
    ) -> Result<(u64, T), AppError> {
        let (path, count) = (
            labels_beside(output, ending),
            rows.manifest().parts[self.part].rows,
        );
        let mut made = None;
        let written = write_label_blocks(&path, count, numbers, |out| {
            let filled = made.insert(fill(out)).as_ref();
            filled
                .map(|_| ())
                .map_err(|error| io::Error::other(error.to_string()))
        });
        let made = made.transpose()?;
        written?;
        let bytes = fs::metadata(&path)
            .map_err(|error| AppError::io(&path, "be read", error))?
            .len();
        made.map(|made| (bytes, made))
            .ok_or_else(|| AppError::content(&path, "no labels were written"))
    }
}

/// The rows that this process opened last, for [`KeptRows::InMemory`].
static OPEN: Mutex<Option<(MemoryBudget, Arc<ManifestRows>)>> = Mutex::new(None);

/// The rows of a manifest for one task of many that this process does: files stay known, and some rows are held.
fn shared_rows(manifest: &Path, budget: MemoryBudget) -> Result<Arc<ManifestRows>, AppError> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, rows)) = open
        .as_ref()
        .filter(|(own, rows)| *own == budget && rows.is_still(manifest))
    {
        return Ok(Arc::clone(rows));
    }
    let rows = Arc::new(ManifestRows::open(manifest, budget)?);
    rows.hold(most_held(budget));
    *open = Some((budget, Arc::clone(&rows)));
    Ok(rows)
}

/// Lets go of the rows that tasks with [`KeptRows::InMemory`] left in this process.
pub fn release_rows() {
    *OPEN.lock().unwrap_or_else(PoisonError::into_inner) = None;
}
