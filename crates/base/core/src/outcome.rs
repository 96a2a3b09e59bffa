//! What a method gives back.

use std::sync::Arc;

use ndarray::{Array2, Axis};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::settings::json_of;
use crate::{
    CanonicalOrder, ClusterNames, Dendrogram, Model, Objective, Partition, Posterior,
    SoftPartition, Stopped,
};

/// A consensus and how it came about. `D` are the diagnostics of one method; a list of methods has them as JSON.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome<D = Map<String, Value>> {
    /// The hard result.
    pub partition: Partition,
    /// The soft result, where the method has one. Its most probable clusters are the hard result.
    pub soft: Option<SoftPartition>,
    /// Names of the clusters, where the labels of base clusterings name classes.
    pub names: Option<ClusterNames>,
    /// Draws from the posterior, where the method samples one.
    pub posterior: Option<Posterior>,
    /// Why it stopped.
    pub stopped: Stopped,
    /// Iterations of the run that was kept.
    pub iterations: u64,
    /// What it optimised.
    pub objective: Option<Objective>,
    /// How far the result is from a stationary point, relative, where the method certifies that.
    pub kkt_gap: Option<f64>,
    /// The tree it cut.
    pub dendrogram: Option<Dendrogram>,
    /// A model that labels new objects.
    pub model: Option<Arc<dyn Model>>,
    /// The settings it ran with, all of them. Plain functions leave it empty: their caller has the settings.
    pub settings: Map<String, Value>,
    /// What a user should know before trusting the result.
    pub warnings: Vec<String>,
    /// Facts of this method's own, such as the spread over restarts.
    pub details: D,
}

impl Outcome<()> {
    /// The outcome of a method without a soft result.
    pub fn hard(partition: Partition, stopped: Stopped) -> Self {
        Self {
            partition,
            soft: None,
            names: None,
            posterior: None,
            stopped,
            iterations: 0,
            objective: None,
            kkt_gap: None,
            dendrogram: None,
            model: None,
            settings: Map::new(),
            warnings: Vec::new(),
            details: (),
        }
    }

    /// The outcome of a method with a soft result: the labels are its most probable clusters.
    pub fn soft(soft: SoftPartition, stopped: Stopped) -> Self {
        let outcome = Self::hard(soft.hard(), stopped);
        Self {
            soft: Some(soft),
            ..outcome
        }
    }
}

impl<D> Outcome<D> {
    /// The same with other diagnostics.
    pub fn with<E>(self, details: E) -> Outcome<E> {
        self.map_details(|_| details)
    }

    /// The same with diagnostics made from these.
    pub fn map_details<E>(self, map: impl FnOnce(D) -> E) -> Outcome<E> {
        Outcome {
            partition: self.partition,
            soft: self.soft,
            names: self.names,
            posterior: self.posterior,
            stopped: self.stopped,
            iterations: self.iterations,
            objective: self.objective,
            kkt_gap: self.kkt_gap,
            dendrogram: self.dendrogram,
            model: self.model,
            settings: self.settings,
            warnings: self.warnings,
            details: map(self.details),
        }
    }

    /// The outcome for all objects from that for their rows: object i has row `of_object[i]`.
    ///
    /// # Panics
    /// If a row is out of range.
    #[must_use]
    pub fn expanded(mut self, of_object: &[u32]) -> Self {
        let rows: Vec<usize> = of_object.iter().map(|&row| row as usize).collect();
        let labels = self.partition.labels();
        let labels = rows.iter().map(|&row| labels[row]).collect();
        self.partition =
            Partition::new(labels, self.partition.clusters()).expect("the labels are the same");
        self.soft = self.soft.map(|soft| {
            let rows = soft.into_rows().select(Axis(0), &rows);
            SoftPartition::new(rows).expect("the rows are the same")
        });
        self
    }

    /// What every object is called, where clusters have names: [`ClusterNames::UNKNOWN`] where that is open.
    pub fn object_classes(&self) -> Option<Vec<&str>> {
        Some(self.names.as_ref()?.of_all(self.soft.as_ref()?).collect())
    }

    /// The probability of every label, where the method has probabilities.
    pub fn probability(&self) -> Option<Vec<f64>> {
        self.soft.as_ref().map(SoftPartition::largest)
    }

    /// The labels, without a copy.
    pub fn into_labels(self) -> Vec<u32> {
        self.partition.into_labels()
    }

    /// The probabilities, n × K, without a copy, where the method has them.
    pub fn into_probabilities(self) -> Option<Array2<f64>> {
        self.soft.map(SoftPartition::into_rows)
    }
}

impl<D: Serialize> Outcome<D> {
    /// The same with diagnostics as JSON.
    pub fn erased(self) -> Outcome {
        self.map_details(|details| json_of(&details))
    }
}

impl Outcome {
    /// Gives objects that nothing tells apart (runs of which each is `same_as_previous`) their mean soft row.
    pub(crate) fn level(mut self, same_as_previous: impl Fn(usize) -> bool) -> Self {
        let Some(soft) = self.soft.take() else {
            return self;
        };
        let mut rows = soft.into_rows();
        let mut start = 0;
        for end in 1..=rows.nrows() {
            if end < rows.nrows() && same_as_previous(end) {
                continue;
            }
            let mut run = rows.slice_mut(ndarray::s![start..end, ..]);
            let first = run.row(0).to_owned();
            if run.outer_iter().any(|row| row != first) {
                let mean = run.mean_axis(Axis(0)).expect("a run is not empty");
                run.outer_iter_mut().for_each(|mut row| row.assign(&mean));
            }
            start = end;
        }
        let soft = SoftPartition::new(rows).expect("means of simplex rows are on the simplex");
        self.partition = soft.hard();
        self.soft = Some(soft);
        self
    }

    /// The outcome for the ensemble as it was given.
    pub(crate) fn restored(mut self, order: &CanonicalOrder) -> Self {
        let labels = order.restore(self.partition.labels());
        self.partition =
            Partition::new(labels, self.partition.clusters()).expect("the labels are the same");
        self.soft = self.soft.map(|soft| {
            let mut rows = soft.into_rows();
            order.restore_lines(&mut rows);
            SoftPartition::new(rows).expect("the rows are the same")
        });
        self.names = self.names.map(|names| names.restored(order.bases()));
        self.posterior = self
            .posterior
            .map(|posterior| posterior.reordered(|values| order.restore(values)));
        self.dendrogram = self.dendrogram.map(|tree| tree.relabelled(order.objects()));
        self
    }
}
