//! MM and NBCE over label rows that stay where they are.

use std::num::NonZeroU32;

use partita_core::{Clusters, MemoryBudget, Monitor, Objective, ProblemSize, Seed, Settings, Stopped};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::restarts::{Rounds, Run, try_climb};
use crate::stream::{LabelSource, Passes, StreamedLabels, Told};
use crate::{MixtureError, MmSettings, NbceVbSettings, RowModel, mm, nbce, nbce_vb};

/// What a fit to label rows on the disk gives besides the labels.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Streamed {
    /// Objects of every cluster; their labels went to the sink.
    pub sizes: Vec<u64>,
    /// The model, which labels new rows.
    pub model: RowModel,
    /// What was climbed.
    pub objective: Objective,
    /// Rounds over all rows.
    pub rounds: u64,
    /// Why it stopped.
    pub stopped: Stopped,
    /// The settings it ran with, all of them.
    pub settings: Value,
    /// `log_likelihood`, `perplexity`, `clusters_in_use`, `objective_by_restart` on the sample.
    pub details: Map<String, Value>,
}

/// Who takes the labels of a streamed fit: called once a group, in order. An error ends the fit.
pub type Sink<'a> = dyn FnMut(StreamedLabels) -> Result<(), String> + 'a;

/// [`nbce_vb`](crate::nbce_vb()) over label rows that are read group by group, once a round: nothing as long as there are objects is
/// held. Starts race on a sample of 32,768 objects, and the best goes on with all. The same source, seed and settings
/// give the same bits for any budget and any number of threads.
///
/// # Cost
/// O(n M K) time and one reading a round, and three more readings. Memory: as many groups as there are threads, where
/// the budget has room for them (2 M + 48 bytes an object), the sample, and 20 ΣJ K numbers a group.
///
/// # Errors
/// As [`nbce_vb`](crate::nbce_vb()); [`MixtureError::Budget`] when one group does not fit, [`MixtureError::Source`] and
/// [`MixtureError::Sink`] for what the two sides say.
pub fn stream_vb(
    source: &dyn LabelSource,
    clusters: usize,
    seed: Seed,
    settings: &NbceVbSettings,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
    sink: &mut Sink<'_>,
) -> Result<Streamed, MixtureError> {
    let _span = tracing::info_span!("nbce-vb", groups = source.groups(), clusters).entered();
    MixtureError::check_clusters(clusters)?;
    settings.validate(&size(source, clusters))?;
    let passes = Passes::new(source, clusters, budget)?;
    let rounds = rounds(monitor, settings.rounds, settings.restarts);
    let sample = passes.sample(seed.child(u64::MAX))?;
    let (raced, objectives) = nbce_vb::race(&sample, clusters, seed, settings, &rounds);
    drop(sample);
    let run = try_climb(raced.result, (settings.rounds.get(), settings.tolerance), &rounds, |posterior| {
        let sums = passes.expect(&posterior.table)?;
        Ok::<_, MixtureError>(nbce_vb::advance(sums, posterior, passes.offsets(), settings.learn))
    })?;
    let (prior, theta) = run.result.means(passes.offsets());
    let (sizes, chosen) = passes.survey(&run.result.table)?;
    let order = nbce::by_use(&sizes, &chosen);
    let model = nbce::merged_model(source.bases(), &prior, &theta, &order);
    let place = |k: usize| order.iter().position(|&cluster| cluster == k).unwrap_or(order.len());
    let place: Vec<usize> = (0..clusters).map(place).collect();
    let told = passes.label(&run.result.table, &place, model.table(), sink)?;
    let mut streamed = finish(&run, nbce_vb::objective(run.trace.clone()), model, &told, settings);
    streamed.details.insert("clusters_at_most".into(), clusters.into());
    streamed.details.insert("alpha0".into(), run.result.hyper.alpha0.into());
    streamed.details.insert("beta".into(), run.result.hyper.beta.into());
    streamed.details.insert("objective_by_restart".into(), objectives.into());
    Ok(streamed)
}

/// [`mm`](crate::mm()) over label rows that are read group by group, as [`stream_vb`].
///
/// # Errors
/// As [`mm`](crate::mm()) and [`stream_vb`].
pub fn stream_mm(
    source: &dyn LabelSource,
    clusters: usize,
    seed: Seed,
    settings: &MmSettings,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
    sink: &mut Sink<'_>,
) -> Result<Streamed, MixtureError> {
    let _span = tracing::info_span!("mm", groups = source.groups(), clusters).entered();
    MixtureError::check_clusters(clusters)?;
    settings.validate(&size(source, clusters))?;
    let passes = Passes::new(source, clusters, budget)?;
    let rounds = rounds(monitor, settings.rounds, settings.restarts);
    let sample = passes.sample(seed.child(u64::MAX))?;
    let (raced, objectives) = mm::race(&sample, clusters, seed, settings, &rounds);
    drop(sample);
    let run = try_climb(raced.result, (settings.rounds.get(), settings.tolerance), &rounds, |model| {
        Ok::<_, MixtureError>(mm::advance(passes.expect(model.table())?, model, settings.pseudo_count))
    })?;
    let place: Vec<usize> = (0..clusters).collect();
    let told = passes.label(run.result.table(), &place, run.result.table(), sink)?;
    let mut streamed = finish(&run, mm::objective(run.trace.clone()), run.result.clone(), &told, settings);
    streamed.details.insert("objective_by_restart".into(), objectives.into());
    Ok(streamed)
}

/// The size of a fit to all groups.
fn size(source: &dyn LabelSource, clusters: usize) -> ProblemSize {
    let objects = (0..source.groups()).map(|group| source.rows(group)).sum();
    ProblemSize::of_bases(objects, source.bases(), Clusters::Exactly(clusters))
}

/// The rounds of all starts and of the climb.
fn rounds(monitor: &dyn Monitor, most: NonZeroU32, restarts: NonZeroU32) -> Rounds<'_> {
    Rounds::new(monitor, u64::from(most.get()) * (u64::from(restarts.get()) + 1))
}

fn finish<T>(run: &Run<T>, objective: Objective, model: RowModel, told: &Told, settings: &impl Serialize) -> Streamed {
    let mut details = Map::new();
    details.insert("clusters_in_use".into(), told.sizes.iter().filter(|&&size| size > 0).count().into());
    details.insert("log_likelihood".into(), told.log_likelihood.into());
    details.insert("perplexity".into(), (-told.log_likelihood / told.labels as f64).exp().into());
    Streamed {
        sizes: told.sizes.clone(),
        model,
        rounds: run.trace.len() as u64,
        objective,
        stopped: run.stopped,
        settings: serde_json::to_value(settings).expect("settings are plain data"),
        details,
    }
}
