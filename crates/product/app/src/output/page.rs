//! The page about one method of a run, whether its rows are held or a sample of them is shown.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use partita::extend::Dendrogram;
use partita::files::{LabelColumn, Table};
use partita::{Ensemble, Features, Partition, SoftPartition};
use partita_report::{ClusterCurves, Counted, Described, Figure, Rendered, Report, render};

use crate::analysis::modes::answers_at_a_glance;
use crate::error::AppError;
use crate::experiment::file_names::LABELS;
use crate::methods;
use crate::observer::Observer;
use crate::output::record::RunRecord;
use crate::output::result_files::MethodResult;

/// The results of a method, as a report shows them.
pub(crate) struct Shown<'a> {
    pub(crate) partition: &'a Partition,
    pub(crate) agreement: &'a [f64],
    pub(crate) soft: Option<&'a SoftPartition>,
    pub(crate) tree: Option<&'a Dendrogram>,
    pub(crate) ensemble: &'a Ensemble,
    pub(crate) features: Option<Features<'a>>,
    pub(crate) truth: Option<&'a LabelColumn>,
    /// The labels of all methods of the run, where there were several.
    pub(crate) methods: Vec<(String, Partition)>,
    /// Columns that were not clustered on, NaN where a value is missing.
    pub(crate) described: Option<&'a Table>,
    /// Counts of all objects, where those that are shown are a sample.
    pub(crate) counted: Option<Counted>,
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
            agreement: result.agreement,
            soft: outcome.soft.as_ref(),
            tree: outcome.dendrogram.as_ref(),
            ensemble,
            features,
            truth,
            methods: Vec::new(),
            described: None,
            counted: None,
        }
    }

    /// The same beside the labels of all methods of the run.
    pub(crate) fn beside(self, methods: Vec<(String, Partition)>) -> Self {
        Self { methods, ..self }
    }

    /// The same with columns that were not clustered on.
    pub(crate) fn describing(self, described: Option<&'a Table>) -> Self {
        Self { described, ..self }
    }
}

/// The record without the names of clusters where they are not as many as a method found, which the observer hears of.
pub(crate) fn with_fitting_names<'r>(
    record: &'r RunRecord,
    place: usize,
    observer: &dyn Observer,
) -> Cow<'r, RunRecord> {
    let found = record.methods[place].clusters;
    let names = record.experiment.outputs.page.names.len();
    if names == 0 || names == found {
        return Cow::Borrowed(record);
    }
    observer.warn(&format!(
        "{names} names are given for {found} clusters of {}; the report calls them by their numbers (draw it again with {found} names)",
        record.methods[place].method
    ));
    let mut record = record.clone();
    record.experiment.outputs.page.names.clear();
    Cow::Owned(record)
}

/// The page about the method at this place of a record, and its figures.
pub(crate) fn page(
    record: &RunRecord,
    place: usize,
    shown: &Shown<'_>,
    choice: Option<ClusterCurves>,
) -> Result<Rendered, AppError> {
    let data = record.experiment.source().file_name().unwrap_or_default();
    let own = record.methods.get(place);
    let method = own.map_or("", |method| &method.method);
    let options = &record.experiment.outputs.page;
    options.check_names()?;
    let file = || data.to_string_lossy().into_owned();
    let title = options.title.clone().unwrap_or_else(file);
    let mut report = Report::new(
        title,
        record.seen_from(place),
        shown.partition,
        shown.agreement,
    );
    (report.soft, report.dendrogram, report.ensemble) =
        (shown.soft, shown.tree, Some(shown.ensemble));
    (report.objects, report.features, report.choice) =
        (shown.ensemble.object_names(), shown.features, choice);
    report.truth = shown.truth.map(|truth| truth.values.as_slice());
    report.method = methods::find(method)
        .ok()
        .map(partita::extend::Consensus::info);
    report.methods.clone_from(&shown.methods);
    let in_parts = own.is_some_and(|method| !method.label_files.is_empty());
    report.labels_file = (!in_parts).then(|| LABELS.into());
    report.counted.clone_from(&shown.counted);
    report.answers = answers_at_a_glance(shown.ensemble);
    report.cluster_names.clone_from(&options.names);
    report.described = shown.described.map(|table| Described {
        columns: &table.columns,
        values: table.values.view(),
    });
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
