//! The driver of a fit in files: the method replayed over the sums that are there.

use std::path::PathBuf;

use partita::files::ManifestRows;
use partita::{Clusters, MemoryBudget, Monitor, RowBlocks, RowOutcome, RowProblem, Seed, fit_rows};

use super::files_engine::{FilesEngine, Stage};
use super::fit_plan::{FitPlan, PlanAsked};
use super::label_parts::{LabelParts, label_parts};
use crate::result_files::{RECORD, REPORT, write_json, write_text};
use crate::row_record::RowRun;
use crate::{AppError, Stopwatch, base_weights_of_rows, methods, seeds, with_origin};

/// A step of a fit: folds the sums of a round and says what comes next.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The manifest.
    pub manifest: PathBuf,
    /// The folder of the fit.
    pub folder: PathBuf,
    /// Sums that are elsewhere than beside their model; all parts must be there if any is named.
    pub sums: Vec<PathBuf>,
    /// What is fitted.
    pub asked: PlanAsked,
    /// Whether the folder gets a `report.html` when all labels are there.
    pub report: bool,
    /// Memory that may be held at once.
    pub budget: MemoryBudget,
}

/// A fit whose labels are all there.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded {
    /// What was found.
    pub record: serde_json::Value,
    /// The files with the labels, in the order of their rows.
    pub labels: Vec<PathBuf>,
}

impl Fold {
    /// Goes as far as the sums that are there allow. What was folded before is replayed.
    ///
    /// # Errors
    /// [`AppError`] for sums that are not those of this fit, each part once; for a fit that the method refuses.
    pub fn run(&self, monitor: &dyn Monitor) -> Result<Stage<Folded>, AppError> {
        let stopwatch = Stopwatch::start();
        let rows = ManifestRows::open(&self.manifest, self.budget)?;
        let plan = self.asked.plan(&self.folder, &rows)?;
        let engine = FilesEngine::new(&rows, plan.purpose()?, &self.folder, self.sums.clone());
        let folded = self.fit(&engine, &plan, &stopwatch, monitor);
        engine.answer(folded)
    }

    fn fit(
        &self,
        engine: &FilesEngine<'_>,
        plan: &FitPlan,
        stopwatch: &Stopwatch,
        monitor: &dyn Monitor,
    ) -> Result<Stage<Folded>, AppError> {
        let (rows, method) = (engine.rows, methods::find(&plan.method)?);
        let mut problem = RowProblem::new(rows, Clusters::Exactly(plan.clusters));
        (problem.seed, problem.budget, problem.soft) =
            (seeds::consensus(Seed::new(plan.seed)), self.budget, false);
        problem.settings = plan.settings.clone();
        problem.engine = Some(engine);
        let wrong = |source| AppError::Consensus {
            input: self.manifest.clone(),
            source,
        };
        problem.check(method).map_err(wrong)?;
        plan.save(&self.folder)?;
        let weights = plan.base_weights.as_ref();
        let weights = weights
            .map(|source| base_weights_of_rows(source, &problem.passes(), self.budget))
            .transpose()?;
        problem.weights = weights.as_ref();
        engine.weigh(problem.weights);
        let (fit, settings) = fit_rows(method, &problem, monitor).map_err(wrong)?;
        let of_pass = |error| AppError::of_pass(&self.manifest, &error);
        let counts = fit.count_labels(&problem.passes()).map_err(of_pass)?;
        let (job, sizes) = (fit.label_job().map_err(of_pass)?, counts.sizes.clone());
        let LabelParts {
            files,
            confidence,
            report,
        } = match label_parts(engine, plan, job, counts, problem.weights)? {
            Ok(parts) => parts,
            Err(waiting) => return Ok(Stage::Waiting(waiting)),
        };
        let found = RowOutcome::of(method, &problem, fit, settings, sizes);
        let run = RowRun {
            method: &plan.method,
            seed: plan.seed,
            found: &found,
            confidence: confidence / rows.rows().max(1) as f64,
            rows,
            spent: stopwatch.read(),
        };
        let record = run.record();
        if let Some(model) = &found.model {
            let model = with_origin(model.to_json(), &plan.method, rows.rows() as usize);
            write_json(&self.folder.join("model.json"), &model)?;
        }
        write_json(&self.folder.join(RECORD), &record)?;
        if self.report {
            let data = self
                .manifest
                .file_name()
                .unwrap_or_default()
                .to_string_lossy();
            let page = report.page(
                format!("{data} by {}", plan.method),
                record.clone(),
                method,
                rows,
            )?;
            write_text(&self.folder.join(REPORT), &page.html)?;
        }
        Ok(Stage::Done(Folded {
            record,
            labels: files,
        }))
    }
}
