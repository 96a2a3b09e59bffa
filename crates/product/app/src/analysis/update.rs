//! Ensembles that grow: base clusterings or objects are added, overlaps are counted on, and labels go on from where they were.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use partita::coassoc::Overlap;
use partita::extend::{
    BaseClustering, ConsensusError, EnsembleRows, ModelInput, PassRunner, ProblemSize, option,
};
use partita::files::{self, ClusterTable, LabelColumn, LoadedEnsemble, ReadOptions};
use partita::mixture::{MmSettings, mm_from};
use partita::ndarray::Array2;
use partita::{Clusters, Ensemble, Outcome};
use serde::Serialize;
use serde_json::{Value, json};

use crate::analysis::model::open_model;
use crate::error::AppError;
use crate::input::input_notes::shown;
use crate::input::joined::read_ensemble_beside;
use crate::input::label_files::{load_ensemble, read_ensemble};
use crate::input::objects::Objects;
use crate::machine::default_budget;
use crate::observer::{NoObserver, Observer};
use crate::version::VERSION;

/// What is added to an ensemble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Adding {
    /// Base clusterings of the same objects.
    Runs,
    /// Objects with labels of the same base clusterings.
    Rows,
}

impl FromStr for Adding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "runs" => Ok(Self::Runs),
            "rows" => Ok(Self::Rows),
            _ => Err("write runs or rows".into()),
        }
    }
}

/// An ensemble and what is to be added.
#[derive(Clone, Debug, Default)]
pub struct UpdateInput {
    /// The ensemble.
    pub ensemble: PathBuf,
    /// What is added: an ensemble of other base clusterings, or of other objects.
    pub add: PathBuf,
    /// How both are read.
    pub read: ReadOptions,
    /// What the second file adds; none where its columns say so.
    pub adding: Option<Adding>,
    /// The overlap table of the ensemble, which need not exist yet.
    pub overlap: Option<PathBuf>,
    /// Labels of the ensemble's objects, or a model, from which a consensus goes on.
    pub warm_start: Option<PathBuf>,
}

/// An ensemble that has grown.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Updated {
    /// All base clusterings and objects.
    pub ensemble: Ensemble,
    /// The true classes, where there are some.
    pub truth: Option<LabelColumn>,
    /// What was added.
    pub adding: Adding,
    /// How many of them.
    pub added: usize,
    /// Labels that base clusterings did not have before: name of the base clustering, and the labels.
    pub new_labels: Vec<(String, Vec<String>)>,
    /// The overlap table, where it was asked for.
    pub overlap: Option<ClusterTable>,
    /// Whether that table grew, without a count of what it had.
    pub overlap_grew: bool,
    /// The consensus, where there was one to go on from.
    pub consensus: Option<Outcome>,
    /// Objects with a label before that have another one now.
    pub changed: usize,
}

/// An ensemble and what is added to it, as they were read or are held.
#[derive(Clone, Debug)]
pub struct UpdatePair {
    /// The ensemble.
    pub old: Ensemble,
    /// The true classes of its objects, where there are some.
    pub old_truth: Option<LabelColumn>,
    /// What is added.
    pub new: Ensemble,
    /// The true classes of objects that are added, where there are some.
    pub new_truth: Option<LabelColumn>,
}

impl UpdateInput {
    /// Reads both files, joins them, and goes on with the overlaps and the consensus.
    ///
    /// # Errors
    /// [`AppError`] for files that cannot be read or do not go together; the message says what to change.
    pub fn update(&self, observer: &dyn Observer) -> Result<Updated, AppError> {
        let options = self.read.clone().within(default_budget());
        // An ensemble of ours has its names beside its labels.
        let stored = shown(&self.ensemble).to_lowercase().ends_with(".npz");
        let mut own = options.clone();
        own.id = own.id.filter(|_| !stored);
        let (old, roles) = load_ensemble(&self.ensemble, &own, observer)?;
        let id = roles.objects().map(|at| roles.columns[at].name.clone());
        let new = self.read_added(options, &old.ensemble, id.as_deref(), observer)?;
        let both = UpdatePair {
            old: old.ensemble,
            old_truth: old.truth,
            new: new.ensemble,
            new_truth: new.truth,
        };
        self.update_on(&both, None, observer)
    }

    /// The same for ensembles that a program holds; messages call them by the names of the files here. A consensus goes on from the
    /// memberships `before` (objects of the ensemble × K, lines of 0 for objects without a label), or from the file of `warm_start`.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_on(
        &self,
        both: &UpdatePair,
        before: Option<Array2<f64>>,
        observer: &dyn Observer,
    ) -> Result<Updated, AppError> {
        let adding = self.adding.map_or_else(|| self.what_is_added(both), Ok)?;
        let (ensemble, truth) = match adding {
            Adding::Runs => self.with_runs(both, observer)?,
            Adding::Rows => self.with_rows(both)?,
        };
        let added = if adding == Adding::Runs {
            both.new.bases().len()
        } else {
            both.new.objects()
        };
        let (overlap, overlap_grew) = self
            .overlaps(&both.old, &ensemble, adding, observer)?
            .unzip();
        let before = match (before, &self.warm_start) {
            (None, Some(file)) => Some(warm_memberships(file, &both.old)?),
            (before, _) => before,
        };
        if let Some(lines) = before
            .as_ref()
            .map(Array2::nrows)
            .filter(|&lines| lines != both.old.objects())
        {
            let objects = both.old.objects();
            return Err(AppError::request(format!(
                "the warm start labels {lines} objects, the ensemble has {objects}"
            )));
        }
        let consensus = before
            .as_ref()
            .map(|before| warm_consensus(&ensemble, before, observer))
            .transpose()?;
        let changed = before
            .iter()
            .zip(&consensus)
            .map(|(before, after)| changes(before, after))
            .sum();
        let new_labels = new_labels(both.old.bases(), ensemble.bases());
        for (base, labels) in &new_labels {
            observer.note(&format!(
                "new labels in base clustering '{base}': {}",
                labels.join(", ")
            ));
        }
        let overlap_grew = overlap_grew.unwrap_or(false);
        Ok(Updated {
            ensemble,
            truth,
            adding,
            added,
            new_labels,
            overlap,
            overlap_grew,
            consensus,
            changed,
        })
    }

    /// The second file. A few objects do not show which column names them: it is the one that is called as in the first file, or that
    /// holds names of its objects.
    fn read_added(
        &self,
        mut options: ReadOptions,
        old: &Ensemble,
        id: Option<&str>,
        observer: &dyn Observer,
    ) -> Result<LoadedEnsemble, AppError> {
        let (Some(names), None) = (old.object_names(), &options.id) else {
            return read_ensemble_beside(&self.add, &mut options, observer);
        };
        let seen = read_ensemble_beside(&self.add, &mut options, &NoObserver)?.ensemble;
        let names: BTreeSet<&String> = names.iter().collect();
        let all_differ = |base: &&BaseClustering| base.clusters() == seen.objects();
        let known = |base: &&BaseClustering| {
            Some(base.name()) == id || base.values().iter().any(|value| names.contains(value))
        };
        if seen.object_names().is_none() {
            options.id = seen
                .bases()
                .iter()
                .filter(all_differ)
                .find(known)
                .map(|base| base.name().to_owned());
        }
        read_ensemble(&self.add, &options, observer)
    }

    /// Whether the second file has other base clusterings or other objects.
    fn what_is_added(&self, both: &UpdatePair) -> Result<Adding, AppError> {
        let names = |ensemble: &Ensemble| {
            ensemble
                .bases()
                .iter()
                .map(|base| base.name().to_owned())
                .collect()
        };
        let (own, new): (BTreeSet<String>, BTreeSet<String>) = (names(&both.old), names(&both.new));
        let (here, there) = (shown(&self.add), shown(&self.ensemble));
        let refuse = |reason: String| Err(AppError::content(&self.add, reason));
        if own.is_disjoint(&new) {
            return Ok(Adding::Runs);
        }
        if let (Some(known), Some(other)) = (
            own.intersection(&new).next(),
            new.symmetric_difference(&own).next(),
        ) {
            return refuse(format!(
                "column '{known}' is in both files and '{other}' in one; base clusterings to be added need names of their own, \
                 objects to be added need all columns of {there}, and {} says which column names them",
                option("id")
            ));
        }
        let same_objects = match (both.old.object_names(), both.new.object_names()) {
            (Some(own), Some(new)) => {
                let own: BTreeSet<&String> = own.iter().collect();
                new.iter().any(|name| own.contains(name))
            }
            _ => both.old.objects() == both.new.objects(),
        };
        if same_objects && both.old.object_names().is_none() {
            return refuse(format!(
                "{here} has the columns and the number of objects of {there}: say {}, or {} and name its columns",
                option("as").called("adding").to("rows"),
                option("as").called("adding").to("runs")
            ));
        }
        Ok(Adding::Rows)
    }

    fn with_runs(
        &self,
        both: &UpdatePair,
        observer: &dyn Observer,
    ) -> Result<(Ensemble, Option<LabelColumn>), AppError> {
        let known: BTreeSet<&str> = both.old.bases().iter().map(BaseClustering::name).collect();
        if let Some(again) = both
            .new
            .bases()
            .iter()
            .find(|base| known.contains(base.name()))
        {
            let reason = format!(
                "{} has a base clustering '{}' already; name it otherwise",
                shown(&self.ensemble),
                again.name()
            );
            return Err(AppError::content(&self.add, reason));
        }
        let (own, new) = self.objects(both);
        own.places()?;
        let Some(found) = own.rows_in(&new)? else {
            let reason = format!(
                "it has {} objects, {} has {}, and not both name them; add the column of names",
                new.count,
                shown(&self.ensemble),
                own.count
            );
            return Err(AppError::content(&self.add, reason));
        };
        if let (Some(&first), Some(names)) = (found.unknown.first(), new.names) {
            let reason = format!(
                "{} of its objects are not in {}, such as '{}'; add them first, with their labels in all base clusterings",
                found.unknown.len(),
                shown(&self.ensemble),
                names[first]
            );
            return Err(AppError::content(&self.add, reason));
        }
        let without = found.rows.iter().filter(|row| row.is_none()).count();
        if without > 0 {
            let here = shown(&self.add);
            observer.note(&format!(
                "{here}: {without} of {} objects are not in it; their labels are missing",
                own.count
            ));
        }
        found.note.iter().for_each(|note| observer.note(note));
        let rows: Vec<Option<u32>> = found
            .rows
            .iter()
            .map(|row| row.map(|row| row as u32))
            .collect();
        let more = both
            .new
            .at(&rows)
            .map_err(|error| AppError::content(&self.add, error.to_string()))?;
        Ok((both.old.clone().beside(&more)?, both.old_truth.clone()))
    }

    /// The objects of both files.
    fn objects<'a>(&'a self, both: &'a UpdatePair) -> (Objects<'a>, Objects<'a>) {
        let of = |file: &'a Path, ensemble: &'a Ensemble| {
            Objects::new(file, ensemble.objects(), ensemble.object_names())
        };
        (of(&self.ensemble, &both.old), of(&self.add, &both.new))
    }

    fn with_rows(&self, both: &UpdatePair) -> Result<(Ensemble, Option<LabelColumn>), AppError> {
        match (both.old.object_names(), both.new.object_names()) {
            (Some(_), Some(new)) => {
                let (here, there) = self.objects(both);
                here.places()?;
                let found = here
                    .rows_in(&there)?
                    .map_or_else(Vec::new, |found| found.rows);
                if let Some(again) = found.into_iter().flatten().min().map(|row| &new[row]) {
                    let reason = format!(
                        "object '{again}' is in {} already; leave it out",
                        shown(&self.ensemble)
                    );
                    return Err(AppError::content(&self.add, reason));
                }
            }
            (None, None) => {}
            (own, _) => {
                let (with, without) = if own.is_some() {
                    (&self.ensemble, &self.add)
                } else {
                    (&self.add, &self.ensemble)
                };
                let reason = format!(
                    "its objects have no names, those of {} have; name all or none",
                    shown(with)
                );
                return Err(AppError::content(without, reason));
            }
        }
        let joined = both
            .old
            .below(&both.new)
            .map_err(|error| AppError::content(&self.add, error.to_string()))?;
        let truth = both.old_truth.clone().map(|mut truth| {
            let more = both.new_truth.as_ref().map(|truth| truth.values.clone());
            truth
                .values
                .extend(more.unwrap_or_else(|| vec![None; both.new.objects()]));
            truth
        });
        Ok((joined, truth))
    }

    /// The overlap table of the ensemble that has grown, where one is asked for, and whether it grew.
    fn overlaps(
        &self,
        old: &Ensemble,
        grown: &Ensemble,
        adding: Adding,
        observer: &dyn Observer,
    ) -> Result<Option<(ClusterTable, bool)>, AppError> {
        let Some(path) = &self.overlap else {
            return Ok(None);
        };
        default_budget().check(
            "the overlap table",
            Overlap::bytes(&ProblemSize::of(grown, Clusters::Exactly(1))),
            &format!("leave {} out", option("overlap")),
        )?;
        let monitor = observer.begin("overlap");
        let known = saved_overlap(path, old, observer)?;
        let wrong =
            |error: &dyn std::fmt::Display| AppError::request(format!("{}: {error}", shown(path)));
        let count = |ensemble: &Ensemble| {
            let rows = EnsembleRows::new(ensemble).with_shares();
            Overlap::count(&PassRunner::new(&rows, &*monitor)).map_err(|error| wrong(&error))
        };
        let (table, grew) = match (known, adding) {
            (None, _) => (count(grown)?, false),
            (Some(table), Adding::Runs) => {
                let rows = EnsembleRows::new(grown).with_shares();
                (
                    table
                        .with_bases(&PassRunner::new(&rows, &*monitor))
                        .map_err(|error| wrong(&error))?,
                    true,
                )
            }
            (Some(table), Adding::Rows) => {
                let (n, all) = (old.objects() as u32, grown.objects() as u32);
                let bases: Vec<u32> = (0..grown.bases().len() as u32).collect();
                let more = count(&grown.select(&(n..all).collect::<Vec<_>>(), &bases))?;
                (
                    table
                        .with_rows(u64::from(n), &more)
                        .map_err(|error| wrong(&error))?,
                    true,
                )
            }
        };
        let (objects, bases) = (grown.objects() as u64, grown.bases().to_vec());
        Ok(Some((
            ClusterTable {
                objects,
                bases,
                table: table.into_table(),
            },
            grew,
        )))
    }
}

/// The overlap table of this ensemble, where the file exists and has it.
fn saved_overlap(
    path: &Path,
    ensemble: &Ensemble,
    observer: &dyn Observer,
) -> Result<Option<Overlap>, AppError> {
    if !path.exists() {
        return Ok(None);
    }
    let saved = ClusterTable::read(path, default_budget())?;
    let table = saved
        .for_bases(ensemble.bases())
        .filter(|_| saved.objects == ensemble.objects() as u64);
    let first = ensemble.first_unlabelled().map(|row| row as u64);
    let found = table.and_then(|table| Overlap::from_parts(table, ensemble.offsets(), first));
    // Sums of shares differ by the order of additions.
    let same = |(saved, own): (&f64, f64)| (saved - own).abs() <= 1e-9 * own;
    let found = found.filter(|overlap| overlap.sizes().iter().zip(sizes(ensemble)).all(same));
    if found.is_none() {
        observer.warn(&format!(
            "{}: is the table of another ensemble; it is counted anew",
            shown(path)
        ));
    }
    Ok(found)
}

/// Objects of every base cluster, by their shares.
fn sizes(ensemble: &Ensemble) -> Vec<f64> {
    let offsets = ensemble.offsets();
    let mut sizes = vec![0.0; offsets[offsets.len() - 1]];
    if let Some(shares) = ensemble.memberships() {
        let (_, clusters, values) = shares.parts();
        clusters
            .iter()
            .zip(values)
            .for_each(|(&c, share)| sizes[c as usize] += share);
        return sizes;
    }
    for (u, start) in offsets.iter().enumerate().take(ensemble.bases().len()) {
        ensemble
            .column(u)
            .flatten()
            .for_each(|j| sizes[start + j] += 1.0);
    }
    sizes
}

/// Memberships of the objects from saved labels, or from a model; 0 where an object has no label.
fn warm_memberships(file: &Path, old: &Ensemble) -> Result<Array2<f64>, AppError> {
    if file
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
    {
        let (model, _) = open_model(file)?;
        let soft = model
            .predict(&ModelInput::Labels(old))
            .map_err(|error| AppError::content(file, error.to_string()))?;
        return Ok(soft.into_rows());
    }
    let labels = files::read_labels(file, &ReadOptions::default().within(default_budget()))?;
    let numbers = label_numbers(&labels.column.values, old.objects());
    let clusters = numbers.iter().flatten().max().map_or(0, |&most| most + 1);
    if clusters == 0 {
        return Err(AppError::content(file, "it has no label"));
    }
    let here = Objects::new(file, old.objects(), old.object_names());
    let there = Objects::new(file, numbers.len(), labels.object_names.as_deref());
    let found = here.rows_in(&there)?.ok_or_else(|| {
        let reason = format!(
            "it labels {} objects, the ensemble has {}, and not both name them",
            numbers.len(),
            old.objects()
        );
        AppError::content(file, reason)
    })?;
    let place = found.rows;
    if place.iter().all(Option::is_none) {
        return Err(AppError::content(
            file,
            "it labels no object of the ensemble",
        ));
    }
    let mut memberships = Array2::zeros((old.objects(), clusters));
    for (object, place) in place.into_iter().enumerate() {
        if let Some(label) = place.and_then(|at| numbers[at]) {
            memberships[[object, label]] = 1.0;
        }
    }
    Ok(memberships)
}

/// Labels as numbers: as they are where they are small whole numbers, else in the order of their texts.
fn label_numbers(values: &[Option<String>], objects: usize) -> Vec<Option<usize>> {
    let whole = |text: &String| text.parse::<usize>().ok().filter(|&label| label < objects);
    if values.iter().flatten().all(|text| whole(text).is_some()) {
        return values
            .iter()
            .map(|text| text.as_ref().and_then(whole))
            .collect();
    }
    let texts: BTreeSet<&String> = values.iter().flatten().collect();
    let texts: Vec<&String> = texts.into_iter().collect();
    values
        .iter()
        .map(|text| {
            text.as_ref()
                .and_then(|text| texts.binary_search(&text).ok())
        })
        .collect()
}

/// The consensus that `before` leads to, which has lines for the first objects.
fn warm_consensus(
    ensemble: &Ensemble,
    before: &Array2<f64>,
    observer: &dyn Observer,
) -> Result<Outcome, AppError> {
    let mut start = Array2::zeros((ensemble.objects(), before.ncols()));
    for (mut line, before) in start.outer_iter_mut().zip(before.outer_iter()) {
        line.assign(&before);
    }
    let monitor = observer.begin("mm");
    let found = mm_from(
        ensemble.into(),
        start.view(),
        &MmSettings::default(),
        &*monitor,
    );
    let failed = |source| ConsensusError::Method {
        method: "mm",
        source: Box::new(source),
    };
    let outcome = found.map_err(failed)?.erased();
    outcome
        .warnings
        .iter()
        .for_each(|warning| observer.warn(&format!("mm: {warning}")));
    Ok(outcome)
}

/// Objects that were in another cluster before.
fn changes(before: &Array2<f64>, after: &Outcome) -> usize {
    let moved = |(before, &label): (partita::ndarray::ArrayView1<'_, f64>, &u32)| {
        before.sum() > 0.0 && before.iter().any(|&p| p > before[label as usize])
    };
    before
        .outer_iter()
        .zip(after.partition.labels())
        .filter(|pair| moved(pair.to_owned()))
        .count()
}

/// Labels that base clusterings did not have before.
fn new_labels(old: &[BaseClustering], grown: &[BaseClustering]) -> Vec<(String, Vec<String>)> {
    let added = |(old, grown): (&BaseClustering, &BaseClustering)| {
        let more = grown.values()[old.clusters().min(grown.clusters())..].to_vec();
        (!more.is_empty()).then(|| (grown.name().to_owned(), more))
    };
    old.iter().zip(grown).filter_map(added).collect()
}

impl Updated {
    /// What was done, in one line.
    pub fn sentence(&self) -> String {
        let what = match self.adding {
            Adding::Runs => "base clusterings",
            Adding::Rows => "objects",
        };
        let (n, m) = (self.ensemble.objects(), self.ensemble.bases().len());
        let labels = match &self.consensus {
            Some(outcome) => {
                format!(
                    "; {} clusters, {} labels changed",
                    outcome.partition.live_clusters(),
                    self.changed
                )
            }
            None => String::new(),
        };
        format!(
            "{} {what} added: {n} objects, {m} base clusterings{labels}",
            self.added
        )
    }

    /// The same as one JSON object.
    pub fn to_json(&self) -> Value {
        let new_labels: Vec<Value> = self
            .new_labels
            .iter()
            .map(|(name, labels)| json!({ "base_clustering": name, "labels": labels }))
            .collect();
        json!({
            "adding": self.adding,
            "added": self.added,
            "n": self.ensemble.objects(),
            "base_clusterings": self.ensemble.bases().len(),
            "new_labels": new_labels,
            "overlap": self.overlap.as_ref().map(|_| if self.overlap_grew { "grown" } else { "counted" }),
            "clusters": self.consensus.as_ref().map(|outcome| outcome.partition.live_clusters()),
            "changed_labels": self.consensus.as_ref().map(|_| self.changed),
            "version": VERSION,
        })
    }
}
