//! What a method finds over label rows that it does not hold: how each row gets its label.

use std::sync::Arc;

use super::assigned::{Assigned, LabelledMap};
use super::labeller::{LabelCounts, LabelJob, Labeller, RowLabeller};
use super::{PassError, PassRunner, Row, RowBlock};
use crate::{Model, Objective, Stopped};

/// A fit over [`RowBlocks`](super::RowBlocks): everything but the labels, and the function that gives a row its label.
pub struct RowFit<D> {
    /// Number of clusters, K.
    pub clusters: usize,
    /// Why it stopped.
    pub stopped: Stopped,
    /// Iterations of the run that was kept.
    pub iterations: u64,
    /// What was optimised.
    pub objective: Option<Objective>,
    /// A model that labels new objects.
    pub model: Option<Arc<dyn Model>>,
    /// What a user should know before trusting the result.
    pub warnings: Vec<String>,
    /// Facts of this method's own.
    pub details: D,
    labeller: Labeller,
}

impl<D> RowFit<D> {
    /// A fit into so many clusters, in which `assign` labels rows.
    pub fn new(clusters: usize, stopped: Stopped, assign: impl RowLabeller, details: D) -> Self {
        let (objective, model, warnings, labeller) =
            (None, None, Vec::new(), Labeller::new(assign));
        Self {
            clusters,
            stopped,
            iterations: 0,
            objective,
            model,
            warnings,
            details,
            labeller,
        }
    }

    /// The same with diagnostics made from these.
    pub fn map_details<E>(self, map: impl FnOnce(D) -> E) -> RowFit<E> {
        RowFit {
            clusters: self.clusters,
            stopped: self.stopped,
            iterations: self.iterations,
            objective: self.objective,
            model: self.model,
            warnings: self.warnings,
            details: map(self.details),
            labeller: self.labeller,
        }
    }

    /// The same that tells labels and their probabilities alone: probabilities of many rows are large.
    #[must_use]
    pub fn without_soft(self) -> Self {
        Self {
            labeller: self.labeller.without_soft(),
            ..self
        }
    }

    /// Hands the labels of all rows to `take`, block by block in their order, with the number of the first row.
    ///
    /// # Errors
    /// [`PassError`] when rows cannot be read, the monitor asks to stop, or `take` fails.
    pub fn label(
        &self,
        rows: &PassRunner<'_>,
        take: &mut dyn FnMut(u64, Assigned) -> Result<(), String>,
    ) -> Result<(), PassError> {
        self.each(rows, &LabelsAlone, take)
    }

    /// Hands what `map` makes of all rows and their labels to `take`, block by block in their order, with the number of the first row.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    pub fn each<M: LabelledMap>(
        &self,
        rows: &PassRunner<'_>,
        map: &M,
        take: &mut dyn FnMut(u64, M::Out) -> Result<(), String>,
    ) -> Result<(), PassError> {
        self.labeller
            .each(rows, 0..rows.source().groups(), map, take)
    }

    /// How often every label of every base clustering occurs in every cluster. A pass over the rows, which an engine may run.
    ///
    /// # Errors
    /// [`PassError`] when rows cannot be read or the monitor asks to stop.
    pub fn count_labels(&self, rows: &PassRunner<'_>) -> Result<LabelCounts, PassError> {
        self.labeller.count(rows, self.clusters)
    }

    /// What labels rows, as bytes for whoever holds them.
    ///
    /// # Errors
    /// [`PassError::Parts`] if it cannot be written.
    pub fn label_job(&self) -> Result<LabelJob, PassError> {
        self.labeller.job()
    }
}

/// The labels as they are.
struct LabelsAlone;

impl LabelledMap for LabelsAlone {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, _: &RowBlock<'a, R>, assigned: Assigned) -> Assigned {
        assigned
    }
}
