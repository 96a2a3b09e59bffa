//! The inputs of an experiment: its files, read, or what a program holds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use partita::files::LabelColumn;
use partita::{BaseWeights, Ensemble, Features, MemoryBudget, ObjectWeights, Seed};

use crate::error::AppError;
use crate::experiment::description::{Experiment, Input, Unlabelled};
use crate::input::data::Data;
use crate::input::given::Given;
use crate::input::input_file::{InputFile, with_hashes};
use crate::input::input_notes::shown;
use crate::input::joined::load_ensembles;
use crate::input::left_out::LeftOut;
use crate::input::table::InputTable;
use crate::observer::Observer;
use crate::stopwatch::{Spent, Stopwatch};

/// What was read.
pub(crate) struct Inputs<'a> {
    /// The table that base clusterings are made of, or the one behind the ensemble.
    pub(crate) table: Option<InputTable<'a>>,
    /// The ensemble, where one exists already.
    pub(crate) ensemble: Option<Arc<Ensemble>>,
    /// Objects that no base clustering labels, where some were left out of the ensemble, the table and the true labels.
    pub(crate) left_out: Option<LeftOut>,
    /// The true labels, where there are some.
    pub(crate) truth: Option<LabelColumn>,
    /// Weights of the base clusterings, where the experiment names no source of them.
    pub(crate) weights: Option<BaseWeights>,
    /// Weights of the objects, likewise.
    pub(crate) object_weights: Option<ObjectWeights>,
    /// What methods start from and which pairs they read, of all objects.
    pub(crate) given: Given,
    /// Sizes and hashes of the files.
    pub(crate) files: Vec<InputFile>,
    /// What reading took.
    pub(crate) spent: Spent,
}

impl<'a> Inputs<'a> {
    /// What a program holds.
    pub(crate) fn of(data: Data<'a>) -> Self {
        let Data {
            ensemble,
            table,
            weights,
            object_weights,
            given,
            files,
        } = data;
        Self {
            table,
            ensemble,
            left_out: None,
            truth: None,
            weights,
            object_weights,
            given,
            files,
            spent: Spent::default(),
        }
    }
}

impl Inputs<'static> {
    /// Reads all files of an experiment but weights, and hashes them while it reads.
    pub(crate) fn read(
        experiment: &Experiment,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Self, AppError> {
        let stopwatch = Stopwatch::start();
        let seed = Seed::new(experiment.seed);
        let read = || match &experiment.input {
            Input::Table {
                table: input,
                recipe,
            } => {
                let (mut table, mut roles) = InputTable::load(input, budget, seed, observer)?;
                for warning in [table.label_warning(), table.scale_warning(recipe.scale)]
                    .into_iter()
                    .flatten()
                {
                    observer.warn(&format!("{}: {warning}", shown(&input.file)));
                    roles.warnings.push(warning);
                }
                let truth = table.take_label();
                Ok((Some(table), None, truth, vec![roles], Given::default()))
            }
            Input::Ensemble {
                file,
                more,
                read,
                features,
            } => {
                let files: Vec<&Path> = std::iter::once(file)
                    .chain(more)
                    .map(PathBuf::as_path)
                    .collect();
                let (loaded, mut roles) =
                    load_ensembles(&files, &read.clone().within(budget), observer)?;
                let table = features
                    .as_ref()
                    .map(|table| InputTable::load_dense(table, budget, seed, observer));
                let (table, of_table) = table.transpose()?.unzip();
                roles.extend(of_table);
                let given = Given::read(experiment, &loaded.ensemble)?;
                let ensemble = Some(Arc::new(loaded.ensemble));
                Ok((table, ensemble, loaded.truth, roles, given))
            }
        };
        let ((table, ensemble, truth, roles, given), mut files) =
            with_hashes(&experiment.input_files(), read)?;
        files
            .iter_mut()
            .zip(roles)
            .for_each(|(file, roles)| file.roles = Some(roles.brief()));
        let (weights, object_weights) = (None, None);
        Ok(Self {
            table,
            ensemble,
            left_out: None,
            truth,
            weights,
            object_weights,
            given,
            files,
            spent: stopwatch.read(),
        })
    }
}

impl Inputs<'_> {
    /// Leaves objects out that no base clustering labels, if that is what is done with them.
    ///
    /// # Errors
    /// [`AppError::Request`] for a table behind the ensemble that a program holds, whose rows are not chosen here.
    pub(crate) fn leave_out(
        &mut self,
        unlabelled: Unlabelled,
        observer: &dyn Observer,
    ) -> Result<(), AppError> {
        let found = self
            .ensemble
            .as_ref()
            .filter(|_| unlabelled == Unlabelled::Keep)
            .and_then(LeftOut::of_shared);
        let Some((ensemble, out)) = found else {
            return Ok(());
        };
        observer.note(&out.warning());
        if let Some(table) = &mut self.table {
            table.keep_rows(&out.places())?;
        }
        self.truth = self.truth.take().map(|truth| out.truth(truth));
        let weights = self.object_weights.take();
        self.object_weights = weights.map(|weights| out.weights(&weights)).transpose()?;
        self.ensemble = Some(Arc::new(ensemble));
        self.left_out = Some(out);
        Ok(())
    }

    /// Objects.
    pub(crate) fn objects(&self) -> usize {
        let table = || self.table.as_ref().map_or(0, |table| table.view().dim().0);
        self.ensemble
            .as_ref()
            .map_or_else(table, |ensemble| ensemble.objects())
    }

    /// The columns of the table, where methods can read them.
    pub(crate) fn features(&self) -> Option<Features<'_>> {
        self.table.as_ref()?.features()
    }
}
