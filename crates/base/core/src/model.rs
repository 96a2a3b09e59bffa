//! A fitted consensus that labels new objects.

use std::fmt;

use crate::{Ensemble, Features, SoftPartition};

/// New objects, in the form that a model reads.
#[derive(Clone, Copy, Debug)]
pub enum ModelInput<'a> {
    /// Label rows of the base clusterings that the model was fitted to, matched by name.
    Labels(&'a Ensemble),
    /// A table with the columns that the model was fitted to, matched by name.
    Features(Features<'a>),
}

/// Which form of new objects a model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelReads {
    /// Label rows: [`ModelInput::Labels`].
    Labels,
    /// A table: [`ModelInput::Features`].
    Features,
}

/// A model that cannot be read, or an input that does not fit it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The saved model is damaged or from another version.
    #[error("this is not a model that can be used: {0}")]
    Damaged(String),
    /// The input lacks something the model needs, or has something it does not know.
    #[error("the input does not fit the model: {0}")]
    Input(String),
}

/// What a model cannot use of an input: labels or words that it has never seen, and rows that are left with nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Values that the model has never seen. They are taken as missing.
    pub values: u64,
    /// The first of them: its row, its column and what it is.
    pub first: Option<(usize, String, String)>,
    /// Rows without any value that the model knows, rising.
    pub empty_rows: Vec<u32>,
}

/// What labels new objects. Saved as one JSON object whose `format` field says what reads it back.
pub trait Model: Send + Sync + fmt::Debug {
    /// The model as JSON: an object with a string field `format`, such as `"partita label rows 1"`.
    fn to_json(&self) -> serde_json::Value;

    /// What it wants to be given; label rows if it does not say.
    fn reads(&self) -> ModelReads {
        ModelReads::Labels
    }

    /// What of an input the model cannot use; nothing if it does not say.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    fn unread(&self, _input: &ModelInput<'_>) -> Result<Unread, ModelError> {
        Ok(Unread::default())
    }

    /// Probabilities of the consensus clusters for every new object, n × K.
    ///
    /// # Errors
    /// [`ModelError::Input`] names what is missing or unknown.
    fn predict(&self, input: &ModelInput<'_>) -> Result<SoftPartition, ModelError>;
}
