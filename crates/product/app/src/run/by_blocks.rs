//! Runs an experiment on label rows that stay on the disk and are read block by block.

use std::io::Write;
use std::path::PathBuf;

use partita::extend::{Consensus, PassRunner, RowProblem, option};
use partita::{Seed, Silent};
use tracing::debug_span;

use crate::analysis::agreement::{label_numbers, numbers_of};
use crate::analysis::model::with_origin;
use crate::error::AppError;
use crate::experiment::description::{Experiment, Rows};
use crate::experiment::file_names::{LABELS, REPORT};
use crate::input::input_file::with_hashes;
use crate::input::input_notes::say_roles;
use crate::input::weights::base_weights_of_rows;
use crate::observer::Observer;
use crate::output::label_blocks::{PushLabels, write_label_rows};
use crate::output::outputs;
use crate::output::page::with_fitting_names;
use crate::output::record::{MethodRecord, RunRecord};
use crate::output::row_report::ReportRows;
use crate::run::row_consensus::consense_rows_with_agreement;
use crate::run::row_source::RowSource;
use crate::stopwatch::Stopwatch;
use crate::text_files::{make_folder, write_json, write_text};
use crate::{phases, seeds};

/// A method's run over rows: its record, and what a report shows.
struct RowResult {
    record: MethodRecord,
    report: Option<ReportRows>,
}

impl Experiment {
    /// Finds the consensus and writes labels, model, record and reports.
    pub(crate) fn run_by_blocks(
        &self,
        method: &dyn Consensus,
        rows: &RowSource,
        labels: &mut dyn Write,
        observer: &dyn Observer,
    ) -> Result<RunRecord, AppError> {
        self.outputs
            .as_one(|| self.write_by_blocks(method, rows, labels, observer))
    }

    fn write_by_blocks(
        &self,
        method: &dyn Consensus,
        rows: &RowSource,
        labels: &mut dyn Write,
        observer: &dyn Observer,
    ) -> Result<RunRecord, AppError> {
        let mut record = RunRecord::begun(self);
        let folder = self.outputs.folder.as_deref();
        folder.map_or(Ok(()), make_folder)?;
        let file = folder
            .map(|folder| folder.join(LABELS))
            .or_else(|| self.outputs.labels.clone());
        let run = || {
            let blocks = rows.blocks().rows();
            let numbers = label_numbers(method.info().capabilities.soft);
            write_label_rows(file.as_deref(), blocks, numbers, labels, |push| {
                self.consensus_by_blocks(method, rows, push, observer)
            })
        };
        let (found, mut files) = with_hashes(&self.input_files(), run)?;
        if let (Some(roles), Some(file)) = (rows.roles(), files.first_mut()) {
            file.roles = Some(roles.brief());
        }
        for warning in &found.record.warnings {
            observer.warn(&format!("{}: {warning}", found.record.method));
        }
        record.inputs = files;
        record.methods = vec![found.record];
        record.end(observer);
        outputs::write_record(&record)?;
        if folder.is_some() {
            observer.note(
                "probabilities are for label rows that are held in memory; there is no soft.csv",
            );
        }
        if let Some(report) = found.report {
            let named = with_fitting_names(&record, 0, observer);
            let page = report.page(&named, 0, rows.blocks(), None)?;
            self.pages()
                .iter()
                .try_for_each(|path| write_text(path, &page.html))?;
        }
        Ok(record)
    }

    /// The places of the report of the first method.
    fn pages(&self) -> Vec<PathBuf> {
        let folder = self.outputs.folder.as_ref().filter(|_| self.outputs.report);
        folder
            .map(|folder| folder.join(REPORT))
            .into_iter()
            .chain(self.outputs.report_file.clone())
            .collect()
    }

    fn consensus_by_blocks(
        &self,
        method: &dyn Consensus,
        rows: &RowSource,
        push: &mut PushLabels<'_>,
        observer: &dyn Observer,
    ) -> Result<RowResult, AppError> {
        let choice = &self.methods[0];
        let (blocks, budget, run) = (rows.blocks(), self.budget(), Seed::new(self.seed));
        phases::taken();
        let stopwatch = Stopwatch::start();
        let weights = self
            .base_weights
            .as_ref()
            .map(|source| base_weights_of_rows(source, &PassRunner::new(blocks, &Silent), budget))
            .transpose()?;
        let mut problem = RowProblem::new(blocks, self.clusters.clusters());
        problem.seed = seeds::consensus(run);
        problem.budget = budget;
        problem.soft = false;
        problem.weights = weights.as_ref();
        problem.settings = choice.settings.clone();
        let wrong = |source| AppError::Consensus {
            input: self.source().into(),
            source,
        };
        problem.check(method).map_err(wrong)?;
        let mut report = (!self.pages().is_empty()).then(|| ReportRows::new(blocks, run));
        let size = problem.size();
        let of_report = report.as_ref().map_or(0, |_| {
            ReportRows::bytes(size.base_clusterings, size.clusters.min(size.base_clusters))
        });
        let needed = problem
            .bytes(method)
            .unwrap_or(u64::MAX)
            .saturating_add(of_report);
        budget.check(
            &choice.name,
            needed,
            &format!("raise {} or leave the report out", option("max-memory")),
        )?;
        if self.rows != Rows::Blocks {
            rows.hold(needed, budget);
        }
        let source = self.source();
        if let Some(roles) = rows.roles() {
            say_roles(source, roles, observer);
        }
        observer.note(&format!(
            "{}: {} label rows are read in {} groups",
            source.display(),
            blocks.rows(),
            blocks.groups()
        ));
        let monitor = observer.begin(&choice.name);
        let mut total = 0.0;
        let (found, missing) = consense_rows_with_agreement(
            method,
            &problem,
            &*monitor,
            report.as_mut(),
            &mut |first, block, agreement| {
                total += agreement.iter().sum::<f64>();
                let numbers = numbers_of(&agreement, block.probability.as_deref());
                debug_span!("write").in_scope(|| push(first, &block.labels, &numbers))
            },
        )
        .map_err(wrong)?;
        if let (Some(output), Some(model)) = (&self.outputs.model, &found.model) {
            write_json(
                &output.file,
                &with_origin(model.to_json(), &choice.name, blocks.rows() as usize),
            )?;
        }
        let spent = stopwatch.read();
        let mut record = MethodRecord::of_rows(&choice.name, self.seed, blocks, &found, spent);
        record.agreement = Some(total / blocks.rows().max(1) as f64);
        record.missing_labels = missing;
        Ok(RowResult { record, report })
    }
}
