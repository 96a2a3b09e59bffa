//! What an experiment writes: results method by method as they are finished, then the record, the summary and reports.

use std::fs::{File, TryLockError};
use std::path::Path;

use partita::extend::{Consensus, ModelReads, option};
use partita::files;
use partita::metrics::{Cover, Relations, bridgeness, relations};
use partita::ssce::Predictor;
use partita::{Ensemble, Features, SoftPartition};

use crate::analysis::model::model_of;
use crate::analysis::model::{with_origin, with_reading};
use crate::csv_text::csv_text;
use crate::error::AppError;
use crate::experiment::description::TableInput;
use crate::experiment::description::{ModelOutput, Outputs};
use crate::experiment::file_names::{PART, RECORD, SUMMARY, folder_of};
use crate::methods;
use crate::output::posterior_files::{write_draws, write_similarity};
use crate::output::record::RunRecord;
use crate::output::result_files::{MethodResult, write_outcome};
use crate::output::tree_file::write_tree;
use crate::text_files::{write_json, write_text};

impl Outputs {
    /// Does `work`, whose files appear as one set. Refused where another process has finished a run in the folder meanwhile; base clusterings
    /// that were kept to go on with are of no use then, and go.
    pub(crate) fn as_one<T>(
        &self,
        work: impl FnOnce() -> Result<T, AppError>,
    ) -> Result<T, AppError> {
        let stamp = || {
            let record = self.folder.as_ref()?.join(RECORD);
            let found = std::fs::metadata(record).ok()?;
            Some((found.len(), found.modified().ok()))
        };
        let before = stamp();
        let may = || match &self.folder {
            Some(folder) if stamp() != before => {
                let reason =
                    "another process has finished a run here meanwhile; name another folder";
                Err(AppError::content(folder, reason))
            }
            _ => Ok(()),
        };
        let done = files::write_as_one(may, work);
        if done.is_err()
            && stamp() != before
            && let Some(part) = self.folder.as_ref().map(|folder| folder.join(PART))
            && !is_held(&part)
        {
            files::remove_whole(&part)?;
        }
        done
    }
}

/// Whether another process writes to the file.
pub(crate) fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Refuses outputs that the first method does not have.
pub(crate) fn check(outputs: &Outputs, first: &dyn Consensus) -> Result<(), AppError> {
    let of_draws = [
        ("draws", outputs.draws.is_some()),
        ("similarity", outputs.similarity.is_some()),
    ];
    if let Some((output, _)) = of_draws
        .iter()
        .find(|(_, asked)| *asked && !first.info().capabilities.posterior)
    {
        let name = methods::name_of(first);
        return Err(AppError::request(format!(
            "{name} draws no partitions from a posterior; leave --{output} out"
        )));
    }
    let of_soft = [
        (outputs.soft.is_some(), "soft"),
        (outputs.relations.is_some(), "relations"),
        (outputs.overlap.is_some(), "overlap"),
    ];
    if let Some((_, name)) = of_soft.iter().find(|(asked, _)| *asked)
        && !first.info().capabilities.soft
    {
        return Err(AppError::request(format!(
            "{} gives no probabilities; leave {} out, or take one of {}",
            methods::name_of(first),
            option(name),
            methods::soft_names()
        )));
    }
    if outputs.tree.is_some() && !first.info().capabilities.tree {
        let of_trees = methods::all()
            .map(Consensus::info)
            .filter(|info| info.capabilities.tree);
        let of_trees = of_trees
            .map(|info| info.name)
            .collect::<Vec<_>>()
            .join(", ");
        let name = methods::name_of(first);
        return Err(AppError::request(format!(
            "{name} has no tree; leave {} out, or take one of {of_trees}",
            option("tree")
        )));
    }
    outputs
        .model
        .as_ref()
        .map_or(Ok(()), |model| predictor(model).map(|_| ()))
}

fn predictor(model: &ModelOutput) -> Result<Option<Predictor>, AppError> {
    let parse = |text: &String| {
        text.parse::<Predictor>()
            .map_err(|error| AppError::request(error.to_string()))
    };
    model.predict_with.as_ref().map(parse).transpose()
}

/// Writes the result of the method at this place; `table` says how the table behind `features` was read.
pub(crate) fn write_result(
    outputs: &Outputs,
    place: usize,
    method: &str,
    result: &MethodResult<'_>,
    ensemble: &Ensemble,
    features: Option<&Features<'_>>,
    table: Option<&TableInput>,
) -> Result<(), AppError> {
    let (outcome, names) = (result.outcome, ensemble.object_names());
    if let Some(folder) = &outputs.folder {
        write_outcome(&folder_of(folder, method, place), names, result)?;
    }
    if place > 0 {
        return Ok(());
    }
    if let Some(path) = &outputs.labels {
        result.write_labels(path, names)?;
    }
    if let (Some(path), Some(soft)) = (&outputs.soft, &outcome.soft) {
        result.write_soft(path, names, soft)?;
    }
    if let (Some(output), Some(soft)) = (&outputs.relations, &outcome.soft) {
        write_text(
            &output.file,
            &relations_csv(&relations(soft, output.threshold)?),
        )?;
    }
    if let (Some(output), Some(soft)) = (&outputs.overlap, &outcome.soft) {
        write_text(
            &output.file,
            &overlap_csv(ensemble, soft, output.threshold)?,
        )?;
    }
    if let (Some(path), Some(posterior)) = (&outputs.draws, &outcome.posterior) {
        write_draws(path, ensemble, posterior)?;
    }
    if let (Some(output), Some(posterior)) = (&outputs.similarity, &outcome.posterior) {
        write_similarity(&output.file, ensemble, posterior, output.least)?;
    }
    if let (Some(path), Some(tree)) = (&outputs.tree, &outcome.dendrogram) {
        write_tree(path, tree, names)?;
    }
    if let Some(output) = &outputs.model {
        let model = model_of(predictor(output)?, ensemble, features, outcome)?;
        let of_table = partita::load_model(&model)?.reads() == ModelReads::Features;
        let model = match table.filter(|_| of_table) {
            Some(table) => with_reading(model, table, features),
            None => model,
        };
        write_json(
            &output.file,
            &with_origin(model, method, ensemble.objects()),
        )?;
    }
    Ok(())
}

/// Writes the record and the summary, where there is a folder.
///
/// # Errors
/// [`AppError`] where that cannot be.
pub fn write_record(record: &RunRecord) -> Result<(), AppError> {
    let Some(folder) = &record.experiment.outputs.folder else {
        return Ok(());
    };
    write_text(&folder.join(RECORD), &record.to_json()?)?;
    write_text(&folder.join(SUMMARY), &record.summary())
}

/// A row for every cluster of an object; objects that were left out have none.
fn overlap_csv(
    ensemble: &Ensemble,
    soft: &SoftPartition,
    threshold: f64,
) -> Result<String, AppError> {
    let cover = Cover::of_soft(soft, threshold)?;
    let between = bridgeness(soft);
    let mut lines = Vec::new();
    for (i, clusters) in cover.of_object().iter().enumerate() {
        for &cluster in clusters {
            let probability = soft.rows()[[i, cluster as usize]].to_string();
            let bridgeness = between[i].to_string();
            lines.push([
                ensemble.object_name(i),
                cluster.to_string(),
                probability,
                bridgeness,
            ]);
        }
    }
    Ok(csv_text("object,cluster,probability,bridgeness", lines))
}

fn relations_csv(relations: &Relations) -> String {
    let clusters = relations.sizes.len();
    let heading = (0..clusters)
        .map(|cluster| format!(",{cluster}"))
        .collect::<String>();
    let line = |(cluster, size): (usize, &f64)| {
        let shares = relations
            .shares
            .row(cluster)
            .iter()
            .map(|share| format!(",{share}"))
            .collect::<String>();
        format!("{cluster},{size}{shares}\n")
    };
    format!(
        "cluster,objects{heading}\n{}",
        relations
            .sizes
            .iter()
            .enumerate()
            .map(line)
            .collect::<String>()
    )
}
