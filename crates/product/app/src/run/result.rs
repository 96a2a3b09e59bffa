//! What can be made of the results of an experiment that ran on data in memory: report, model, the folder of a run.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use partita::files;
use partita::files::sprs::CsMat;
use partita::metrics::{Relations, relations};
use partita::ssce::Predictor;
use partita::{BaseWeights, Ensemble, Features, Partition};
use partita_report::Rendered;
use serde_json::Value;

use crate::analysis::choice::{SavedChoice, curves};
use crate::analysis::co_association::symmetric;
use crate::analysis::model::{model_of, with_origin, with_reading};
use crate::error::AppError;
use crate::experiment::clusters::ClustersAsked;
use crate::experiment::description::{
    Input, ObjectWeightSource, Outputs, PageOptions, WeightSource,
};
use crate::experiment::file_names::{ENSEMBLE, REPORT, folder_of};
use crate::input::input_file::InputFile;
use crate::input::left_out::LeftOut;
use crate::output::label_blocks::refused_by_reader;
use crate::output::outputs;
use crate::output::page::{Shown, page};
use crate::output::record::RunRecord;
use crate::output::result_files::MethodResult;
use crate::run::held::RunResult;
use crate::text_files::{make_folder, write_text};
use partita::files::ReadOptions;

impl RunResult {
    /// The page about the method at this place, as `report.html` holds it, and its figures; `features` is the table behind the ensemble,
    /// `choice` what was found of the number of clusters, where that is not of this result, `options` what it is called.
    ///
    /// # Errors
    /// [`AppError::Report`]; [`AppError::Request`] where the method was not finished.
    pub fn report<'a>(
        &'a self,
        place: usize,
        features: Option<Features<'a>>,
        choice: Option<&SavedChoice>,
        options: PageOptions,
    ) -> Result<Rendered, AppError> {
        let mut record = self.record.clone();
        record.experiment.outputs.page = options.or(&record.experiment.outputs.page);
        let shown = Shown::of(&self.result(place)?, &self.ensemble, features, None);
        let choice = choice
            .map(|saved| &saved.choice)
            .or(self.record.choice.as_ref());
        let choice = choice.map(|choice| curves(choice, self.ensemble.objects()));
        page(&record, place, &shown.beside(self.labels_of_all()), choice)
    }

    /// Writes the labels of the first method as CSV (`object,label,agreement`, and `probability` where there are some).
    ///
    /// # Errors
    /// [`AppError::Io`]; [`AppError::Request`] where no method was finished.
    pub(crate) fn print_labels(&self, out: &mut dyn Write) -> Result<(), AppError> {
        let mut text = Vec::new();
        self.result(0)?
            .with_all(
                self.ensemble.object_names(),
                |names, labels, classes, numbers| {
                    files::labels_csv(&mut text, names, labels, classes, numbers)
                },
            )
            .and_then(|()| out.write_all(&text))
            .and_then(|()| out.flush())
            .map_err(refused_by_reader)
    }

    /// The ensemble of all objects, also of those without a label.
    pub fn whole_ensemble(&self) -> &Arc<Ensemble> {
        let whole = self.left_out.as_ref().and_then(LeftOut::whole);
        whole.unwrap_or(&self.ensemble)
    }

    /// The labels of all methods by name.
    pub(crate) fn labels_of_all(&self) -> Vec<(String, Partition)> {
        let names = self
            .record
            .methods
            .iter()
            .map(|method| method.method.clone());
        names
            .zip(
                self.outcomes
                    .iter()
                    .map(|outcome| outcome.partition.clone()),
            )
            .collect()
    }

    /// The pairs of objects that at least such a share of the draws from the posterior of a method puts together, in compressed rows with
    /// ones on the diagonal; none for a method that samples no posterior.
    ///
    /// # Errors
    /// [`AppError::Request`] where the method was not finished.
    ///
    /// # Cost
    /// That of [`Posterior::similar`](partita::extend::Posterior::similar), and 48 bytes a pair.
    pub fn similarity(&self, place: usize, least: f64) -> Result<Option<CsMat<f64>>, AppError> {
        let Some(posterior) = &self.result(place)?.outcome.posterior else {
            return Ok(None);
        };
        let mut pairs = Vec::new();
        posterior.similar(least, |i, j, share| {
            pairs.push((i as u32, j as u32, share));
            Ok::<(), AppError>(())
        })?;
        Ok(Some(symmetric(self.ensemble.objects(), &pairs)))
    }

    /// The model that labels new objects as the method at this place labelled these, as a model file holds it.
    ///
    /// # Errors
    /// As [`model_of`].
    pub fn model(
        &self,
        place: usize,
        predictor: Option<Predictor>,
        features: Option<&Features<'_>>,
    ) -> Result<Value, AppError> {
        let model = model_of(
            predictor,
            &self.ensemble,
            features,
            self.result(place)?.outcome,
        )?;
        Ok(with_origin(
            model,
            &self.record.methods[place].method,
            self.ensemble.objects(),
        ))
    }

    /// As [`model`](Self::model), with how the table was read that it is learned from: the model reads files like that one.
    ///
    /// # Errors
    /// As [`model_of`].
    pub fn model_with_reading(
        &self,
        place: usize,
        predictor: Option<Predictor>,
        features: Option<&Features<'_>>,
    ) -> Result<Value, AppError> {
        let model = self.model(place, predictor, features)?;
        Ok(match self.record.experiment.table() {
            Some(table) if predictor.is_some() => with_reading(model, table, features),
            _ => model,
        })
    }

    /// How the clusters of a method overlap, by its probabilities; those below `threshold` count as 0.
    ///
    /// # Errors
    /// [`AppError::Request`] where the method was not finished or has no probabilities; [`AppError`] for a threshold that is no probability or leaves an object with
    /// nothing.
    pub fn relations(&self, place: usize, threshold: f64) -> Result<Relations, AppError> {
        match &self.result(place)?.outcome.soft {
            Some(soft) => Ok(relations(soft, threshold)?),
            None => Err(AppError::request(format!(
                "{} gives no probabilities; take one of {}",
                self.record.methods[place].method,
                crate::methods::soft_names()
            ))),
        }
    }

    /// The record of the method at this place alone.
    ///
    /// # Errors
    /// [`AppError::Request`] where the method was not finished.
    pub fn record_of(&self, place: usize) -> Result<RunRecord, AppError> {
        self.result(place)?;
        let mut record = self.record.clone();
        record.methods = record.methods.drain(place..=place).collect();
        record.experiment.methods = record.experiment.methods.drain(place..=place).collect();
        Ok(record)
    }

    /// The result of one method alone.
    ///
    /// # Errors
    /// [`AppError::Request`] where the method was not finished.
    fn alone(&self, place: usize) -> Result<Self, AppError> {
        Ok(Self {
            record: self.record_of(place)?,
            ensemble: Arc::clone(&self.ensemble),
            outcomes: vec![self.outcomes[place].clone()],
            agreements: vec![self.agreements[place].clone()],
            base_weights: self.base_weights.clone(),
            object_weights: self.object_weights.clone(),
            given: self.given.clone(),
            left_out: self.left_out.clone(),
        })
    }

    /// Writes ensemble, weights, results, record and reports of all methods, or of the one at this place, into a folder, and gives the
    /// record of it: what was computed from data in memory can then be repeated from files.
    ///
    /// # Errors
    /// [`AppError`] for what cannot be written; [`AppError::Request`] for methods that read the table, which is not kept.
    pub fn write_run(&self, folder: &Path, only: Option<usize>) -> Result<RunRecord, AppError> {
        match only.filter(|_| self.outcomes.len() > 1) {
            Some(place) => self.alone(place)?.write_all(folder),
            None => self.write_all(folder),
        }
    }

    fn write_all(&self, folder: &Path) -> Result<RunRecord, AppError> {
        self.result(0)?;
        make_folder(folder)?;
        files::write_as_one(|| Ok(()), || self.write_files(folder))
    }

    fn write_files(&self, folder: &Path) -> Result<RunRecord, AppError> {
        let record = self.record_in(folder)?;
        let outputs = &record.experiment.outputs;
        for (place, method) in record.methods.iter().enumerate() {
            let (result, name) = (self.result(place)?, &*method.method);
            outputs::write_result(outputs, place, name, &result, &self.ensemble, None, None)?;
            write_text(
                &folder_of(folder, name, place).join(REPORT),
                &self.report(place, None, None, PageOptions::default())?.html,
            )?;
        }
        outputs::write_record(&record)?;
        Ok(record)
    }

    /// Writes ensemble and weights into a folder; the record of a run that reads them from there.
    fn record_in(&self, folder: &Path) -> Result<RunRecord, AppError> {
        let mut record = self.record.clone();
        let experiment = &mut record.experiment;
        let file = folder.join(ENSEMBLE);
        let ensemble = self.whole_ensemble();
        files::write_ensemble(&file, ensemble, None)?;
        let mut inputs = vec![InputFile::written(&file)?];
        // Weights that have a source in the record come from there again.
        if let (Some(weights), None) = (&self.base_weights, &experiment.base_weights) {
            let file = folder.join("weights.csv");
            write_text(&file, &weights_csv(ensemble, weights))?;
            inputs.push(InputFile::written(&file)?);
            experiment.base_weights = Some(WeightSource::File(file));
        }
        if let (Some(weights), None) = (&self.object_weights, &experiment.object_weights) {
            let file = folder.join("object_weights.csv");
            let weights = match &self.left_out {
                Some(out) => out.spread(weights.as_slice(), 0.0),
                None => weights.as_slice().to_vec(),
            };
            write_text(&file, &object_weights_csv(ensemble, &weights))?;
            inputs.push(InputFile::written(&file)?);
            experiment.object_weights = Some(ObjectWeightSource::File(file));
        }
        inputs.extend(self.given.write(folder, ensemble, experiment)?);
        experiment.input = Input::Ensemble {
            file,
            more: Vec::new(),
            read: ReadOptions::default(),
            features: None,
        };
        experiment.clusters = match &record.choice {
            Some(choice) => ClustersAsked::Exactly(choice.clusters),
            None => experiment.clusters,
        };
        experiment.outputs = Outputs {
            folder: Some(folder.to_owned()),
            report: true,
            ..Outputs::default()
        };
        record.inputs = inputs;
        Ok(record)
    }

    /// The result of the method at this place.
    fn result(&self, place: usize) -> Result<MethodResult<'_>, AppError> {
        match (self.outcomes.get(place), self.agreements.get(place)) {
            (Some(outcome), Some(agreement)) => Ok(MethodResult {
                outcome,
                agreement,
                left_out: self.left_out.as_ref(),
            }),
            _ => Err(AppError::nothing_finished()),
        }
    }
}

/// Weights as [`object_weights`](crate::object_weights) reads them: by name, or in the order of the objects.
fn object_weights_csv(ensemble: &Ensemble, weights: &[f64]) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let line =
        |(i, weight): (usize, &f64)| format!("{},{weight}\n", quoted(&ensemble.object_name(i)));
    let lines: String = weights.iter().enumerate().map(line).collect();
    format!("object,weight\n{lines}")
}

/// Weights as [`base_weights_from`](crate::base_weights_from) reads them.
fn weights_csv(ensemble: &Ensemble, weights: &BaseWeights) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let lines = ensemble.bases().iter().zip(weights.as_slice());
    let lines: String = lines
        .map(|(base, weight)| format!("{},{weight}\n", quoted(base.name())))
        .collect();
    format!("name,weight\n{lines}")
}
