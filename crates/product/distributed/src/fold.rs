//! The driver of a fit in files: the method replayed over the sums that are there.

use std::path::PathBuf;

use partita::extend::{RowBlocks, RowOutcome, RowProblem, fit_rows};
use partita::files::ManifestRows;
use partita::{Clusters, MemoryBudget, Monitor, Seed};

use crate::files_engine::{FilesEngine, Stage};
use crate::fit_plan::{FitPlan, PlanAsked};
use crate::label_parts::{LabelParts, label_parts};
use partita_app::tasks::{missing_labels, write_record};
use partita_app::{
    AppError, Experiment, InputFile, MethodChoice, MethodRecord, NoObserver, REPORT, Rows,
    RunRecord, Stopwatch, base_weights_of_rows, methods, seeds, with_origin, write_json,
    write_text,
};

/// A step of a fit: folds the sums of a round and says what comes next.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The manifest.
    pub manifest: PathBuf,
    /// The folder of the fit.
    pub folder: PathBuf,
    /// Sums that are elsewhere than beside their job; all parts must be there if any is named.
    pub sums: Vec<PathBuf>,
    /// What is fitted.
    pub asked: PlanAsked,
    /// Whether the folder gets a `report.html` when all labels are there.
    pub report: bool,
    /// Memory that may be held at once.
    pub budget: MemoryBudget,
    /// The command that asked for it, as people read it.
    pub arguments: Vec<String>,
}

/// A fit whose labels are all there.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded {
    /// What was found.
    pub record: RunRecord,
    /// The files with the labels, in the order of their rows.
    pub labels: Vec<PathBuf>,
}

impl Fold {
    /// Goes as far as the sums that are there allow. What was folded before is replayed.
    ///
    /// # Errors
    /// [`AppError`] for sums that are not those of this fit, each part once; for a fit that the method refuses.
    pub fn run(&self, monitor: &dyn Monitor) -> Result<Stage<Folded>, AppError> {
        let rows = ManifestRows::open(&self.manifest, self.budget)?;
        let plan = self.asked.plan(&self.folder, &rows)?;
        let engine = FilesEngine::new(&rows, plan.purpose()?, &self.folder, self.sums.clone());
        let folded = self.fit(&engine, &plan, monitor);
        engine.answer(folded)
    }

    fn fit(
        &self,
        engine: &FilesEngine<'_>,
        plan: &FitPlan,
        monitor: &dyn Monitor,
    ) -> Result<Stage<Folded>, AppError> {
        let stopwatch = Stopwatch::start();
        let rows = engine.rows;
        let method = methods::find(&plan.method)?;
        let experiment = self.experiment(plan);
        let mut record = RunRecord::begun(&experiment);
        let mut problem = RowProblem::new(rows, Clusters::Exactly(plan.clusters));
        problem.seed = seeds::consensus(Seed::new(plan.seed));
        problem.budget = self.budget;
        problem.soft = false;
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
        let job = fit.label_job().map_err(of_pass)?;
        let sizes = counts.sizes.clone();
        let missing = missing_labels(rows, &counts);
        let LabelParts {
            files,
            agreement,
            report,
        } = match label_parts(
            engine,
            plan,
            (job, method.info().capabilities.soft),
            counts,
            problem.weights,
        )? {
            Ok(parts) => parts,
            Err(waiting) => return Ok(Stage::Waiting(waiting)),
        };
        let found = RowOutcome::of(method, &problem, fit, settings, sizes);
        let spent = stopwatch.read();
        let mut own = MethodRecord::of_rows(&plan.method, plan.seed, rows, &found, spent);
        own.agreement = Some(agreement / rows.rows().max(1) as f64);
        own.missing_labels = missing;
        own.label_files.clone_from(&files);
        record.methods = vec![own];
        let inputs = experiment.input_files().into_iter();
        record.inputs = inputs.map(InputFile::of).collect::<Result<_, _>>()?;
        record.end(&NoObserver);
        if let Some(model) = &found.model {
            let model = with_origin(model.to_json(), &plan.method, rows.rows() as usize);
            write_json(&self.folder.join("model.json"), &model)?;
        }
        write_record(&record)?;
        if self.report {
            let page = report.page(&record, 0, rows, None)?;
            write_text(&self.folder.join(REPORT), &page.html)?;
        }
        Ok(Stage::Done(Folded {
            record,
            labels: files,
        }))
    }

    /// The experiment that the tasks do together.
    fn experiment(&self, plan: &FitPlan) -> Experiment {
        let choice = MethodChoice {
            name: plan.method.clone(),
            settings: plan.settings.clone(),
        };
        let clusters = Clusters::Exactly(plan.clusters);
        let mut experiment = Experiment::of_ensemble(&self.manifest, clusters, choice);
        experiment.base_weights.clone_from(&plan.base_weights);
        experiment.seed = plan.seed;
        experiment.max_memory = Some(self.budget.bytes());
        experiment.rows = Rows::Tasks;
        experiment.outputs.folder = Some(self.folder.clone());
        experiment.outputs.report = self.report;
        experiment.arguments.clone_from(&self.arguments);
        experiment
    }
}
