//! What a method finds over label rows that it does not hold: how each row gets its label.

use std::sync::Arc;

use super::{PassError, PassRunner, RowBlock, RowMap};
use crate::{Label, Model, Objective, Stopped};

/// Labels of consecutive objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assigned {
    /// The cluster of every object.
    pub labels: Vec<u32>,
    /// How sure the method is of every label, in 0..=1.
    pub certainty: Vec<f64>,
    /// The probability of every cluster, object by object, for soft methods.
    pub soft: Option<Vec<f64>>,
}

impl Assigned {
    /// Every object in its most probable cluster, with that probability; `soft` holds `clusters` of them an object. Ties go to the
    /// smaller number.
    pub fn of_soft(soft: Vec<f64>, clusters: usize) -> Self {
        let largest = |row: &[f64]| (0..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best });
        let best = soft.chunks_exact(clusters).map(|row| (largest(row), row));
        let (labels, certainty) = best.map(|(k, row)| (k as u32, row[k].clamp(0.0, 1.0))).unzip();
        Self { labels, certainty, soft: Some(soft) }
    }
}

/// A fit over [`RowBlocks`](super::RowBlocks): everything but the labels, and the function that gives a row its label.
pub struct RowFit<D> {
    /// Number of clusters, K.
    pub clusters: usize,
    /// Why it stopped.
    pub stopped: Stopped,
    /// Rounds of the run that was kept.
    pub rounds: u64,
    /// What was optimised.
    pub objective: Option<Objective>,
    /// A model that labels new objects.
    pub model: Option<Arc<dyn Model>>,
    /// What a user should know before trusting the result.
    pub warnings: Vec<String>,
    /// Facts of this method's own.
    pub details: D,
    assign: Box<dyn Assign>,
    soft: bool,
}

impl<D> RowFit<D> {
    /// A fit into so many clusters, in which `assign` labels rows.
    pub fn new(
        clusters: usize,
        stopped: Stopped,
        assign: impl RowMap<Out = Assigned> + Send + 'static,
        details: D,
    ) -> Self {
        let (objective, model, warnings) = (None, None, Vec::new());
        Self { clusters, stopped, rounds: 0, objective, model, warnings, details, assign: Box::new(assign), soft: true }
    }

    /// The same with diagnostics made from these.
    pub fn map_details<E>(self, map: impl FnOnce(D) -> E) -> RowFit<E> {
        RowFit {
            clusters: self.clusters,
            stopped: self.stopped,
            rounds: self.rounds,
            objective: self.objective,
            model: self.model,
            warnings: self.warnings,
            details: map(self.details),
            assign: self.assign,
            soft: self.soft,
        }
    }

    /// The same that tells labels and certainty alone: probabilities of many rows are large.
    #[must_use]
    pub fn without_soft(self) -> Self {
        Self { soft: false, ..self }
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
        let (assign, soft) = (&self.assign, self.soft);
        let told = |assigned: Assigned| Assigned { soft: assigned.soft.filter(|_| soft), ..assigned };
        let bytes = |block: &RowBlock<'_, u8>| map.map(block, told(assign.bytes(block)));
        let words = |block: &RowBlock<'_, u16>| map.map(block, told(assign.words(block)));
        rows.each_of(&bytes, &words, take)
    }
}

/// The labels as they are.
struct LabelsAlone;

impl LabelledMap for LabelsAlone {
    type Out = Assigned;

    fn map<L: Label>(&self, _: &RowBlock<'_, L>, assigned: Assigned) -> Assigned {
        assigned
    }
}

/// A function of rows and the labels that a [`RowFit`] gives them.
pub trait LabelledMap: Sync {
    /// What is made of some rows.
    type Out: Send;

    /// What is made of these rows with these labels.
    fn map<L: Label>(&self, block: &RowBlock<'_, L>, assigned: Assigned) -> Self::Out;
}

/// A [`RowMap`] to labels, whatever the width of the stored labels.
trait Assign: Sync + Send {
    fn bytes(&self, block: &RowBlock<'_, u8>) -> Assigned;
    fn words(&self, block: &RowBlock<'_, u16>) -> Assigned;
}

impl<M: RowMap<Out = Assigned> + Send> Assign for M {
    fn bytes(&self, block: &RowBlock<'_, u8>) -> Assigned {
        self.map(block)
    }

    fn words(&self, block: &RowBlock<'_, u16>) -> Assigned {
        self.map(block)
    }
}
