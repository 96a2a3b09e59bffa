//! The folder of a run: its record, its result files, and the page that is drawn from them.

use std::path::{Path, PathBuf};

use partita::extend::{PassRunner, option};
use partita::files::{self, ReadOptions, Table};
use partita::generate::Scale;
use partita::{Features, MemoryBudget, Partition, Seed, Silent};
use partita_report::{ClusterCurves, Rendered};

use crate::analysis::agreement::agreement_of;
use crate::analysis::choice::{SavedChoice, curves};
use crate::error::AppError;
use crate::experiment::description::{Input, PageOptions, TableInput, Unlabelled};
use crate::experiment::file_names::{
    CHOICE, ENSEMBLE, LABELS, RECORD, REPORT, SOFT, SUMMARY, folder_of,
};
use crate::input::joined::load_ensembles;
use crate::input::left_out::LeftOut;
use crate::input::table::InputTable;
use crate::input::weights::base_weights_of_rows;
use crate::machine::default_budget;
use crate::methods;
use crate::observer::{NoObserver, Observer};
use crate::output::page::{Shown, page};
use crate::output::record::{MethodRecord, RunRecord};
use crate::output::result_files::{WrittenLabels, read_labels, read_shares};
use crate::output::row_report::ReportRows;
use crate::run::row_consensus::label_rows;
use crate::run::row_source::RowSource;
use crate::run::stored_labels::StoredLabels;

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    folder: PathBuf,
    record: RunRecord,
}

impl RunFolder {
    /// Opens the folder of a run by its record.
    ///
    /// # Errors
    /// As [`RunRecord::open`].
    pub fn open(folder: &Path) -> Result<Self, AppError> {
        Ok(Self {
            folder: folder.to_owned(),
            record: RunRecord::open(&folder.join(RECORD))?,
        })
    }

    /// The same with what its pages are called, where that is said.
    #[must_use]
    pub fn with_page(mut self, options: PageOptions) -> Self {
        let page = &mut self.record.experiment.outputs.page;
        *page = options.or(page);
        self
    }

    /// The record of the run.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Where the page of a method goes if nothing else is said: beside its labels.
    ///
    /// # Errors
    /// [`AppError::Content`] if the run has no result of the method.
    pub fn page_of(&self, method: Option<&str>) -> Result<PathBuf, AppError> {
        Ok(self.results_of(self.place(method)?).join(REPORT))
    }

    /// The files that the page of a method is drawn from.
    ///
    /// # Errors
    /// As [`page_of`](Self::page_of).
    pub fn inputs(&self, method: Option<&str>) -> Result<Vec<PathBuf>, AppError> {
        let results = self.results_of(self.place(method)?);
        let own = [RECORD, CHOICE, ENSEMBLE, SUMMARY].map(|name| self.folder.join(name));
        let read = self
            .record
            .experiment
            .input_files()
            .into_iter()
            .map(|file| self.record.locate(file));
        Ok(own
            .into_iter()
            .chain([LABELS, SOFT].map(|name| results.join(name)))
            .chain(read)
            .collect())
    }

    fn results_of(&self, place: usize) -> PathBuf {
        folder_of(&self.folder, &self.record.methods[place].method, place)
    }

    fn place(&self, method: Option<&str>) -> Result<usize, AppError> {
        let known = || {
            self.record
                .methods
                .iter()
                .map(|record| record.method.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        };
        match method {
            None if !self.record.methods.is_empty() => Ok(0),
            None => Err(AppError::content(
                &self.folder,
                "no method of this run was finished; run it again",
            )),
            Some(name) => self.record.place_of(name).ok_or_else(|| {
                AppError::content(
                    &self.folder,
                    format!("has no result of '{name}'; there are {}", known()),
                )
            }),
        }
    }

    /// The page about a method of the run (the first if none is named) and its figures, from the record and the result
    /// files. The table is read anew as the run read it; the page goes without where it is gone or has changed.
    ///
    /// # Errors
    /// [`AppError`] for result files that are missing or damaged.
    ///
    /// # Cost
    /// That of reading, and of drawing the page.
    pub fn report(
        &self,
        method: Option<&str>,
        choice: Option<ClusterCurves>,
        observer: &dyn Observer,
    ) -> Result<Rendered, AppError> {
        let place = self.place(method)?;
        let choice = choice.map_or_else(|| self.choice(), |choice| Ok(Some(choice)))?;
        let own = &self.record.methods[place];
        if own.row_groups.is_some() {
            return self.report_of_rows(place, own, choice);
        }
        let results = self.results_of(place);
        let loaded = self.ensemble()?;
        let WrittenLabels { partition, rows } = read_labels(&results.join(LABELS))?;
        let soft = results.join(SOFT);
        let probabilities = methods::find(&own.method).is_ok_and(methods::is_soft);
        let soft = if probabilities && soft.is_file() {
            Some(read_shares(&soft, rows.as_deref())?)
        } else {
            None
        };
        let table = self.table(observer);
        let features = table.as_ref().and_then(InputTable::features);
        let described = self.described(partition.objects(), features.as_ref())?;
        let agreement = agreement_of((&loaded.ensemble).into(), &partition);
        let shown = Shown {
            partition: &partition,
            agreement: &agreement,
            soft: soft.as_ref(),
            tree: None,
            ensemble: &loaded.ensemble,
            features,
            described: described.as_ref(),
            truth: loaded.truth.as_ref(),
            methods: self.all_labels(loaded.ensemble.objects()),
            counted: None,
        };
        page(&self.record, place, &shown, choice)
    }

    /// The columns that the page describes.
    fn described(
        &self,
        objects: usize,
        features: Option<&Features<'_>>,
    ) -> Result<Option<Table>, AppError> {
        let columns = &self.record.experiment.outputs.page.describe;
        if columns.is_empty() {
            return Ok(None);
        }
        let (input, _) = self.table_input()?;
        let seed = self.seed();
        let table = InputTable::described(&input, columns, objects, MemoryBudget::UNLIMITED, seed)?;
        let clustered = features.map_or(&[][..], |features| features.columns());
        if let Some(column) = table.columns.iter().find(|name| clustered.contains(name)) {
            let reason = format!(
                "column '{column}' was clustered on, and is described anyway; run again with {} for clusters that do not know it",
                option("describe").naming(column)
            );
            return Err(AppError::content(&input.file, reason));
        }
        Ok(Some(table))
    }

    /// The page about label rows that were read block by block: they are again, beside their labels.
    fn report_of_rows(
        &self,
        place: usize,
        own: &MethodRecord,
        choice: Option<ClusterCurves>,
    ) -> Result<Rendered, AppError> {
        let experiment = self.record.experiment_again();
        let method = methods::find(&own.method)?;
        let source = RowSource::of(&experiment, method)?.ok_or_else(|| {
            let reason = "these rows are not read block by block any more; run it again";
            AppError::content(experiment.source(), reason)
        })?;
        let rows = source.blocks();
        let passes = PassRunner::new(rows, &Silent);
        let of_pass = |error| AppError::of_pass(experiment.source(), &error);
        let files: Vec<PathBuf> = if own.label_files.is_empty() {
            vec![self.results_of(place).join(LABELS)]
        } else {
            let files = own.label_files.iter();
            files.map(|file| self.record.locate(file)).collect()
        };
        let labels = StoredLabels::read(&files, own.sizes.len(), rows.rows() as usize)?;
        let weights = experiment.base_weights.as_ref();
        let weights = weights
            .map(|source| base_weights_of_rows(source, &passes, experiment.budget()))
            .transpose()?;
        let mut report = ReportRows::new(rows, Seed::new(experiment.seed));
        let fit = labels.fit(own.sizes.len());
        label_rows(
            &fit,
            &passes,
            weights.as_ref(),
            Some(&mut report),
            &mut |_, _, _| Ok(()),
        )
        .map_err(of_pass)?;
        report.page(&self.record, place, rows, choice)
    }

    /// The labels of the first method, and their file.
    pub(crate) fn labels(&self) -> Result<(PathBuf, files::Labels), AppError> {
        let path = self.results_of(self.place(None)?).join(LABELS);
        let mut options = ReadOptions::default().within(default_budget());
        options.truth = Some("label").into();
        let labels = files::read_labels(&path, &options)?;
        Ok((path, labels))
    }

    /// The table of the run where it lies now, and how the run scaled it.
    pub(crate) fn table_input(&self) -> Result<(TableInput, Option<Scale>), AppError> {
        let (input, scale) = match &self.record.experiment.input {
            Input::Table { table, recipe } => (Some(table), Some(recipe.scale)),
            Input::Ensemble { features, .. } => (features.as_ref(), None),
        };
        let input = input.ok_or_else(|| {
            let reason = format!(
                "the run read base clusterings and no table; name the table ({})",
                option("table").called("X")
            );
            AppError::content(&self.folder, reason)
        })?;
        let there = TableInput {
            file: self.record.locate(&input.file),
            ..input.clone()
        };
        Ok((there, scale))
    }

    /// Where the random numbers of the run began.
    pub(crate) fn seed(&self) -> Seed {
        Seed::new(self.record.experiment.seed)
    }

    /// The choice of the number of clusters that the run made, if it made one.
    fn choice(&self) -> Result<Option<ClusterCurves>, AppError> {
        let saved = self.folder.join(CHOICE);
        let chosen = self.record.choice.is_some() && saved.is_file();
        Ok(if chosen {
            Some(curves(&SavedChoice::open(&saved)?.choice, self.objects()))
        } else {
            None
        })
    }

    /// The labels of all methods whose results are there.
    fn all_labels(&self, objects: usize) -> Vec<(String, Partition)> {
        let labels = |place: usize| read_labels(&self.results_of(place).join(LABELS)).ok();
        let of = |(place, method): (usize, &MethodRecord)| {
            Some((method.method.clone(), labels(place)?.partition))
        };
        let found = self.record.methods.iter().enumerate().filter_map(of);
        found
            .filter(|(_, partition)| partition.objects() == objects)
            .collect()
    }

    /// How many objects were labelled.
    pub fn objects(&self) -> usize {
        self.record.methods.first().map_or(0, |method| method.n)
    }

    /// The base clusterings: those that the run made, else those that it read.
    fn ensemble(&self) -> Result<files::LoadedEnsemble, AppError> {
        match &self.record.experiment.input {
            Input::Ensemble {
                file, more, read, ..
            } => {
                let files: Vec<PathBuf> = std::iter::once(file)
                    .chain(more)
                    .map(|file| self.record.locate(file))
                    .collect();
                let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
                let read = read.clone().within(default_budget());
                let (mut loaded, _) = load_ensembles(&files, &read, &NoObserver)?;
                let keep = self.record.experiment.unlabelled == Unlabelled::Keep;
                if let Some((ensemble, out)) = keep.then(|| LeftOut::of(&loaded.ensemble)).flatten()
                {
                    loaded.truth = loaded.truth.map(|truth| out.truth(truth));
                    loaded.ensemble = ensemble;
                }
                Ok(loaded)
            }
            Input::Table { .. } => {
                let options = ReadOptions::default().within(default_budget());
                Ok(files::read_ensemble(&self.folder.join(ENSEMBLE), &options)?)
            }
        }
    }

    /// The table of the run, if it is still what it was.
    fn table(&self, observer: &dyn Observer) -> Option<InputTable<'static>> {
        let input = match &self.record.experiment.input {
            Input::Table { table, .. } => table,
            Input::Ensemble { features, .. } => features.as_ref()?,
        };
        let there = TableInput {
            file: self.record.locate(&input.file),
            ..input.clone()
        };
        let unchanged = || {
            let recorded = self
                .record
                .inputs
                .iter()
                .find(|file| file.path == input.file);
            recorded.map_or(Ok(()), |file| file.check(&there.file))
        };
        let seed = Seed::new(self.record.experiment.seed);
        let read = unchanged()
            .and_then(|()| InputTable::read(&there, MemoryBudget::UNLIMITED, seed, observer));
        if let Err(error) = &read {
            observer.warn(&format!("{error}; the report goes without the table"));
        }
        read.ok()
    }
}
