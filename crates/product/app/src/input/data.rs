//! Data that a program holds, in place of the files of an experiment.

use std::sync::Arc;

use partita::{BaseWeights, Ensemble, ObjectWeights};

use crate::input::given::Given;
use crate::input::input_file::InputFile;
use crate::input::table::InputTable;

/// Data that a program holds, in place of the files of an experiment ([`Experiment::compute_on`](crate::Experiment::compute_on)).
#[derive(Debug, Default)]
pub struct Data<'a> {
    /// The ensemble, where one exists already.
    pub ensemble: Option<Arc<Ensemble>>,
    /// The table that base clusterings are made of, or the one behind the ensemble.
    pub table: Option<InputTable<'a>>,
    /// Weights of the base clusterings, where the experiment names no source of them.
    pub weights: Option<BaseWeights>,
    /// Weights of the objects, likewise.
    pub object_weights: Option<ObjectWeights>,
    /// What a method starts from and which pairs it reads, likewise.
    pub given: Given,
    /// The files that the data were read from, for the record.
    pub files: Vec<InputFile>,
}
