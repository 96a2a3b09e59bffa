//! The last round: labels that workers write, and what the folder gets when all are there.

use std::path::PathBuf;

use partita::extend::{LabelCounts, LabelJob};
use partita::{BaseWeights, Seed};

use crate::files_engine::{FilesEngine, Waiting};
use crate::fit_plan::FitPlan;
use crate::job::{Content, Round, Task};
use partita_app::AppError;
use partita_app::tasks::ReportRows;

/// Labels of all parts.
pub(crate) struct LabelParts {
    /// The files, in the order of their rows.
    pub(crate) files: Vec<PathBuf>,
    /// Sum of the agreements of all rows.
    pub(crate) agreement: f64,
    /// What the report shows of them.
    pub(crate) report: ReportRows,
}

/// The labels that workers wrote by this job as the plan says, or what is waited for.
pub(crate) fn label_parts(
    engine: &FilesEngine<'_>,
    &FitPlan {
        labels: ending,
        seed,
        ..
    }: &FitPlan,
    (job, soft): (LabelJob, bool),
    counts: LabelCounts,
    weights: Option<&BaseWeights>,
) -> Result<Result<LabelParts, Waiting>, AppError> {
    let mut report = ReportRows::new(engine.rows, Seed::new(seed));
    report.count(counts.clone());
    let (kind, weights) = (job.kind.to_owned(), weights.cloned());
    let task = Task::Label {
        kind,
        state: job.state,
        soft,
        counts,
        weights,
        ending,
        seed,
    };
    let hash = engine.job(Round::Labels, task)?;
    let sums = match engine.part_files(Round::Labels, hash)? {
        Ok(sums) => sums,
        Err(waiting) => return Ok(Err(waiting)),
    };
    let (mut files, mut agreement) = (Vec::with_capacity(sums.len()), 0.0);
    for (part, path) in sums.iter().enumerate() {
        let result = engine.checked(path, Round::Labels, hash, Some(part))?;
        files.push(result.label_file(path, ending)?);
        let Content::Labels {
            agreement: own,
            shown,
            ..
        } = result.content
        else {
            return Err(AppError::content(
                path,
                "these are labels of a saved model, not of a fit",
            ));
        };
        agreement += own;
        report.extend(shown);
    }
    Ok(Ok(LabelParts {
        files,
        agreement,
        report,
    }))
}
