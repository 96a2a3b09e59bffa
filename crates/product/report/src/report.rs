//! The input of a report: labels, their agreement and whatever else there is.

use partita_core::ndarray::ArrayView2;
use partita_core::{Dendrogram, Ensemble, Features, MethodInfo, Outcome, Partition, SoftPartition};
use serde::Serialize;
use serde_json::Value;

use crate::{ClusterCurves, Counted, ReportError};

/// Everything that a report may show. Start from [`Report::new`] or [`Report::of`] and set what there is: what is
/// absent leaves its section out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report<'a> {
    /// Title of the page: the data's name, for instance.
    pub title: String,
    /// The record of the run, as `record.json` holds it. Fields that are not there are not shown.
    pub record: Value,
    /// The labels, n of them.
    pub partition: &'a Partition,
    /// The share of the base clusterings that agree with every object's label, n numbers in 0..=1
    /// ([`object_agreement`](partita_metrics::object_agreement)). Objects are sorted by it and as opaque as it says.
    pub agreement: &'a [f64],
    /// Probabilities, n × K, where the method has them.
    pub soft: Option<&'a SoftPartition>,
    /// Names of the objects, n of them; those of the ensemble are taken where there are none.
    pub objects: Option<&'a [String]>,
    /// The base clusterings.
    pub ensemble: Option<&'a Ensemble>,
    /// The table behind the ensemble, n × d.
    pub features: Option<Features<'a>>,
    /// Columns that say what clusters are but that nothing was clustered on.
    pub described: Option<Described<'a>>,
    /// Known classes, n of them; none where an object's class is not known.
    pub truth: Option<&'a [Option<String>]>,
    /// The tree that was cut.
    pub dendrogram: Option<&'a Dendrogram>,
    /// What was found for other numbers of clusters.
    pub choice: Option<ClusterCurves>,
    /// What the method is.
    pub method: Option<&'static MethodInfo>,
    /// The labels of all methods of the run, by name, where there were several.
    pub methods: Vec<(String, Partition)>,
    /// Whether the ensemble holds more than one answer.
    pub answers: Option<Answers>,
    /// Counts of all objects, where those given here are a sample of them: tables are of all objects then.
    pub counted: Option<Counted>,
    /// Name of the file with all labels, to be named beside the table of objects.
    pub labels_file: Option<String>,
    /// Names of the clusters that have objects, in the order of their numbers, or none: the numbers are the names then, as where a name
    /// is empty.
    pub cluster_names: Vec<String>,
}

/// Columns of a table as they were read: n rows, NaN where a value is missing.
#[derive(Clone, Copy, Debug)]
pub struct Described<'a> {
    /// Their names.
    pub columns: &'a [String],
    /// Their values.
    pub values: ArrayView2<'a, f64>,
}

/// The answers that an ensemble holds: groups of base clusterings, each of which has an answer of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answers {
    /// What was found, in one sentence.
    pub sentence: String,
    /// The share of the base clusterings that give each answer, largest first.
    pub shares: Vec<f64>,
}

impl<'a> Report<'a> {
    /// A report of labels and how far base clusterings agree with them.
    pub fn new(
        title: impl Into<String>,
        record: Value,
        partition: &'a Partition,
        agreement: &'a [f64],
    ) -> Self {
        Self {
            title: title.into(),
            record,
            partition,
            agreement,
            soft: None,
            objects: None,
            ensemble: None,
            features: None,
            described: None,
            truth: None,
            dendrogram: None,
            choice: None,
            method: None,
            methods: Vec::new(),
            answers: None,
            counted: None,
            labels_file: None,
            cluster_names: Vec::new(),
        }
    }

    /// A report of what a method gave back, of the ensemble it was given, and of how far that agrees with each label.
    pub fn of(
        title: impl Into<String>,
        record: Value,
        outcome: &'a Outcome,
        ensemble: &'a Ensemble,
        agreement: &'a [f64],
    ) -> Self {
        Self {
            soft: outcome.soft.as_ref(),
            dendrogram: outcome.dendrogram.as_ref(),
            ensemble: Some(ensemble),
            objects: ensemble.object_names(),
            ..Self::new(title, record, &outcome.partition, agreement)
        }
    }

    /// Refuses parts that do not fit together.
    pub(crate) fn check(&self) -> Result<(), ReportError> {
        let n = self.partition.objects();
        if n == 0 {
            return Err(ReportError::Empty);
        }
        let bases = self.ensemble.map_or(&[][..], Ensemble::bases);
        if let Some(counted) = &self.counted {
            counted.check(self.partition.clusters(), bases)?;
        }
        let (wanted, found) = (self.live_clusters(), self.cluster_names.len());
        if found > 0 && found != wanted {
            let part = "names of clusters";
            return Err(ReportError::Counts {
                part,
                wanted,
                found,
            });
        }
        let rows = self.features.map(|table| table.values().nrows());
        let described = self.described.map(|table| table.values.nrows());
        let parts = [
            ("agreements", Some(self.agreement.len())),
            ("probabilities", self.soft.map(SoftPartition::objects)),
            ("names", self.objects.map(<[String]>::len)),
            ("base clusterings", self.ensemble.map(Ensemble::objects)),
            ("table rows", rows),
            ("rows of described columns", described),
            ("known classes", self.truth.map(<[_]>::len)),
            (
                "leaves of the tree",
                self.dendrogram.map(Dendrogram::objects),
            ),
        ];
        for (part, found) in parts {
            fits(part, n, found.unwrap_or(n))?;
        }
        for (_, partition) in &self.methods {
            fits("labels of other methods", n, partition.objects())?;
        }
        if let Some(choice) = &self.choice {
            let some = choice.objects.as_deref();
            let beyond = some.and_then(|some| some.iter().find(|&&i| i as usize >= n));
            fits(
                "objects looked at",
                n,
                beyond.map_or(n, |&i| i as usize + 1),
            )?;
            let part = "labels for other numbers of clusters";
            for partition in &choice.partitions {
                fits(part, some.map_or(n, <[u32]>::len), partition.objects())?;
            }
        }
        for (object, &value) in self.agreement.iter().enumerate() {
            if !(0.0..=1.0 + 1e-9).contains(&value) {
                return Err(ReportError::Agreement { object, value });
            }
        }
        Ok(())
    }

    /// Number of objects that are given one by one.
    pub(crate) fn n(&self) -> usize {
        self.partition.objects()
    }

    /// Number of clusters that have objects.
    pub(crate) fn live_clusters(&self) -> usize {
        match &self.counted {
            Some(counted) => counted.sizes.iter().filter(|size| **size > 0).count(),
            None => self.partition.live_clusters(),
        }
    }

    /// Number of all objects, n.
    pub(crate) fn all(&self) -> u64 {
        self.counted
            .as_ref()
            .map_or(self.n() as u64, Counted::objects)
    }

    /// Mean agreement of all objects.
    pub(crate) fn mean_agreement(&self) -> f64 {
        match &self.counted {
            Some(counted) => counted.mean(),
            None => self.agreement.iter().sum::<f64>() / self.n() as f64,
        }
    }

    /// The share of all objects whose agreement is at least so many thousandths.
    pub(crate) fn share_from(&self, thousandths: usize) -> f64 {
        if let Some(counted) = &self.counted {
            return counted.share_from(thousandths);
        }
        let from = thousandths as f64 / 1_000.0;
        let there = self.agreement.iter().filter(|sure| **sure >= from);
        there.count() as f64 / self.n() as f64
    }

    /// What to call an object.
    pub(crate) fn name(&self, object: usize) -> String {
        let names = self
            .objects
            .or_else(|| self.ensemble.and_then(Ensemble::object_names));
        names.map_or_else(|| object.to_string(), |names| names[object].clone())
    }
}

/// Refuses a part that is about another number of objects.
fn fits(part: &'static str, objects: usize, found: usize) -> Result<(), ReportError> {
    if found == objects {
        return Ok(());
    }
    Err(ReportError::Sizes {
        objects,
        part,
        found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_do_not_fit_are_named() {
        let partition = Partition::new(vec![0, 1, 1], 2).unwrap();
        let fits = Report::new("", Value::Null, &partition, &[1.0, 0.5, 0.25]);
        assert_eq!(fits.check(), Ok(()));
        let refused = |report: Report<'_>| report.check().unwrap_err().to_string();
        let mut short = fits.clone();
        short.agreement = &[1.0];
        assert_eq!(
            refused(short),
            "the labels are those of 3 objects, but agreements are given for 1"
        );
        let names = ["a".to_owned()];
        let mut named = fits.clone();
        named.objects = Some(&names);
        assert!(refused(named).ends_with("names are given for 1"));
        let mut wild = fits;
        wild.agreement = &[1.0, f64::NAN, 0.0];
        assert!(refused(wild).starts_with("object 1 has the agreement NaN"));
        let none = Partition::new(vec![], 1).unwrap();
        let empty = Report::new("", Value::Null, &none, &[]);
        assert_eq!(empty.check(), Err(ReportError::Empty));
    }
}
