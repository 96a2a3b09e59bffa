//! Label rows that stay on the disk: which they are, and why others cannot.

use partita::MemoryBudget;
use partita::extend::{Consensus, RowBlocks, are_read_by_blocks, option};
use partita::files::{LabelFormat, LabelGroups, ManifestRows, Roles};

use crate::error::AppError;
use crate::experiment::clusters::ClustersAsked;
use crate::experiment::description::{Experiment, Input, Rows};
use crate::methods;

/// Label rows that are read block by block.
pub(crate) enum RowSource {
    Groups(LabelGroups),
    Manifest(ManifestRows),
}

impl RowSource {
    /// The rows of an experiment, where there are so many that its method reads them block by block. Whether it does depends on
    /// the size of the ensemble alone; rows in memory are then read in the same blocks, with the same labels.
    ///
    /// # Errors
    /// If they were asked to stay on the disk and cannot.
    pub(crate) fn of(
        experiment: &Experiment,
        method: &dyn Consensus,
    ) -> Result<Option<Self>, AppError> {
        let Input::Ensemble {
            file, more, read, ..
        } = &experiment.input
        else {
            return Ok(None);
        };
        let manifest = ManifestRows::is_manifest(file);
        let refuse = |why: String| {
            if experiment.rows == Rows::Blocks || manifest {
                Err(AppError::Request(why))
            } else {
                Ok(None)
            }
        };
        let (budget, here) = (experiment.budget(), file.display());
        let stream = option("stream").on();
        let apart = experiment.start.is_some() || experiment.pairs.is_some();
        if experiment.object_weights.is_some() || apart {
            return Ok(None);
        }
        if !more.is_empty() {
            return refuse(format!(
                "several files are joined in memory; name one with {stream} or a manifest"
            ));
        }
        if !method.info().capabilities.streams {
            let others: Vec<&str> = methods::all()
                .map(Consensus::info)
                .filter(|info| info.capabilities.streams)
                .map(|info| info.name)
                .collect();
            return refuse(format!(
                "{} holds all label rows; {stream} and manifests go with {}",
                method.info().name,
                others.join(", ")
            ));
        }
        if let ClustersAsked::Chosen { .. } | ClustersAsked::Significant = experiment.clusters {
            return refuse(format!(
                "the choice of K looks at label rows in memory; with {stream} or a manifest name a number with {}",
                option("k").called("n-clusters")
            ));
        }
        let wanted = wants_memory(experiment, method);
        if manifest {
            if let Some(what) = wanted {
                return refuse(format!("{here}: {what}; a manifest is read block by block"));
            }
            let rows = ManifestRows::open(file, budget)?;
            rows.open_files()?;
            return Ok(Some(Self::Manifest(rows)));
        }
        let Some(groups) = LabelGroups::open(file, &read.clone().within(budget))? else {
            return refuse(format!(
                "{here}: only numbers in Parquet, Arrow or NPY are read in groups; leave out {stream}"
            ));
        };
        let named = groups.roles().objects().is_some();
        let named = named.then(|| "the names of all objects are held".to_owned());
        if let Some(what) = wanted.or(named) {
            return refuse(format!("{here}: {what}; leave out {stream}"));
        }
        let large = are_read_by_blocks(groups.objects() as u64, groups.bases().len() as u64);
        Ok(large.then_some(Self::Groups(groups)))
    }

    pub(crate) fn blocks(&self) -> &dyn RowBlocks {
        match self {
            Self::Groups(groups) => groups,
            Self::Manifest(rows) => rows,
        }
    }

    /// What the columns were taken for, where that is decided here.
    pub(crate) fn roles(&self) -> Option<&Roles> {
        match self {
            Self::Groups(groups) => Some(groups.roles()),
            Self::Manifest(_) => None,
        }
    }

    /// Holds rows that were read, in half of what the budget leaves beside the method and the readers.
    pub(crate) fn hold(&self, needed: u64, budget: MemoryBudget) {
        let transient = match self {
            Self::Groups(groups) => groups.transient(),
            Self::Manifest(rows) => rows.transient(),
        };
        let left = budget
            .bytes()
            .saturating_sub(needed)
            .saturating_sub(transient);
        let room = (left / 2).min(MOST_HELD);
        match self {
            Self::Groups(groups) => groups.hold(room),
            Self::Manifest(rows) => rows.hold(room),
        }
    }
}

/// Label rows that are held after they were read first, at most: beyond it, reading again is little beside the rest.
const MOST_HELD: u64 = 1 << 30;

/// What an output holds.
fn holds(output: &'static str, what: &str) -> String {
    format!("{} {what}", option(output))
}

/// What cannot be had without holding something of every object.
fn wants_memory(experiment: &Experiment, method: &dyn Consensus) -> Option<String> {
    let outputs = &experiment.outputs;
    let json = outputs.labels.as_deref().map(LabelFormat::of);
    let model = outputs.model.as_ref();
    let learns = model
        .is_some_and(|model| model.predict_with.is_some() || !method.info().capabilities.predicts);
    let wanted = [
        (
            experiment.methods.len() > 1,
            "several methods share rows in memory".to_owned(),
        ),
        (
            matches!(json, Some(Ok(LabelFormat::Json))),
            "JSON is not written block by block".to_owned(),
        ),
        (
            outputs.folder.is_some() && outputs.labels.is_some(),
            "labels are written to one place block by block".to_owned(),
        ),
        (
            outputs.soft.is_some(),
            holds("soft", "holds the probabilities of all objects"),
        ),
        (
            outputs.relations.is_some() || outputs.overlap.is_some(),
            holds("relations", "holds the probabilities of all objects"),
        ),
        (
            outputs.draws.is_some() || outputs.similarity.is_some(),
            format!(
                "{} and {}",
                option("draws"),
                holds("similarity", "hold labels of all objects")
            ),
        ),
        (outputs.tree.is_some(), holds("tree", "holds all objects")),
        (
            learns,
            holds("model", "learns from the labels of all objects"),
        ),
    ];
    wanted
        .into_iter()
        .find_map(|(wanted, what)| wanted.then_some(what))
}
