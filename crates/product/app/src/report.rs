//! The report of a run: assembled from its record and its result files, or from results in memory.

use std::path::{Path, PathBuf};

use partita::files::{self, LabelColumn, ReadOptions};
use partita::{Dendrogram, Ensemble, Features, MemoryBudget, Partition, Seed, SoftPartition};
use partita_report::{ClusterCurves, Figure, Rendered, Report, render};

use crate::confidence::confidence_of;
use crate::experiment::{Input, TableInput};
use crate::joined::load_ensembles;
use crate::machine::default_budget;
use crate::modes::answers_at_a_glance;
use crate::result_files::{
    CHOICE, ENSEMBLE, LABELS, MethodResult, RECORD, REPORT, SOFT, SUMMARY, WrittenLabels,
    folder_of, read_labels,
};
use crate::{AppError, InputTable, NoObserver, Observer, RunRecord, SavedChoice, curves, methods};

/// The results of a method, as a report shows them.
pub(crate) struct Shown<'a> {
    partition: &'a Partition,
    certainty: &'a [f64],
    confidence: &'a [f64],
    soft: Option<&'a SoftPartition>,
    tree: Option<&'a Dendrogram>,
    ensemble: &'a Ensemble,
    features: Option<Features<'a>>,
    truth: Option<&'a LabelColumn>,
    /// The labels of all methods of the run, where there were several.
    methods: Vec<(String, Partition)>,
}

impl<'a> Shown<'a> {
    /// An outcome, with what it was found from.
    pub(crate) fn of(
        result: &MethodResult<'a>,
        ensemble: &'a Ensemble,
        features: Option<Features<'a>>,
        truth: Option<&'a LabelColumn>,
    ) -> Self {
        let outcome = result.outcome;
        Self {
            partition: &outcome.partition,
            certainty: &outcome.certainty,
            confidence: result.confidence,
            soft: outcome.soft.as_ref(),
            tree: outcome.dendrogram.as_ref(),
            ensemble,
            features,
            truth,
            methods: Vec::new(),
        }
    }

    /// The same beside the labels of all methods of the run.
    pub(crate) fn beside(self, methods: Vec<(String, Partition)>) -> Self {
        Self { methods, ..self }
    }
}

/// The page about the method at this place of a record, and its figures.
pub(crate) fn page(
    record: &RunRecord,
    place: usize,
    shown: &Shown<'_>,
    choice: Option<ClusterCurves>,
) -> Result<Rendered, AppError> {
    let data = record.experiment.source().file_name().unwrap_or_default();
    let method = record
        .methods
        .get(place)
        .map_or("", |method| &method.method);
    let title = format!("{} by {method}", data.to_string_lossy());
    let mut report = Report::new(
        title,
        record.seen_from(place),
        shown.partition,
        shown.certainty,
    );
    report.confidence = Some(shown.confidence);
    (report.soft, report.dendrogram, report.ensemble) =
        (shown.soft, shown.tree, Some(shown.ensemble));
    (report.objects, report.features, report.choice) =
        (shown.ensemble.object_names(), shown.features, choice);
    report.truth = shown.truth.map(|truth| truth.values.as_slice());
    report.method = methods::find(method).ok().map(partita::Consensus::info);
    report.methods.clone_from(&shown.methods);
    report.labels_file = Some(LABELS.into());
    report.answers = answers_at_a_glance(shown.ensemble);
    Ok(render(&report)?)
}

/// Every figure of a page in this folder: the file and what goes into it, the picture as SVG and its numbers as CSV.
pub fn figure_files<'a>(folder: &Path, rendered: &'a Rendered) -> Vec<(PathBuf, &'a str)> {
    let file = |figure: &Figure, ending: &str| folder.join(format!("{}.{ending}", figure.name));
    let both = |figure: &'a Figure| {
        [
            (file(figure, "svg"), &*figure.svg),
            (file(figure, "csv"), &*figure.csv),
        ]
    };
    rendered.figures.iter().flat_map(both).collect()
}

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
    /// That of reading, and of [`render`].
    pub fn report(
        &self,
        method: Option<&str>,
        choice: Option<ClusterCurves>,
        observer: &dyn Observer,
    ) -> Result<Rendered, AppError> {
        let place = self.place(method)?;
        let results = self.results_of(place);
        let loaded = self.ensemble()?;
        let WrittenLabels {
            partition,
            certainty,
            confidence,
        } = read_labels(&results.join(LABELS))?;
        let soft = results.join(SOFT);
        let probabilities =
            methods::find(&self.record.methods[place].method).is_ok_and(methods::is_soft);
        let soft = if probabilities && soft.is_file() {
            Some(files::read_soft(&soft)?.1)
        } else {
            None
        };
        let table = self.table(observer);
        let choice = choice.map_or_else(|| self.choice(), |choice| Ok(Some(choice)))?;
        let confidence =
            confidence.unwrap_or_else(|| confidence_of((&loaded.ensemble).into(), &partition));
        let shown = Shown {
            partition: &partition,
            certainty: &certainty,
            confidence: &confidence,
            soft: soft.as_ref(),
            tree: None,
            ensemble: &loaded.ensemble,
            features: table.as_ref().and_then(InputTable::features),
            truth: loaded.truth.as_ref(),
            methods: self.all_labels(loaded.ensemble.objects()),
        };
        page(&self.record, place, &shown, choice)
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
        let of = |(place, method): (usize, &crate::MethodRecord)| {
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
                load_ensembles(&files, &read.clone().within(default_budget()), &NoObserver)
                    .map(|(loaded, _)| loaded)
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
