//! A saved choice of the number of clusters, and the curves that a report draws of it.

use std::path::{Path, PathBuf};

use partita::Partition;
use partita_report::{ClusterCurves, CurvePoint, Measure};
use partita_select::{Choice, ChoiceRow};
use serde::{Deserialize, Serialize};

use crate::AppError;
use crate::result_files::read_json;

/// A choice with what is needed to make it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedChoice {
    /// What was measured and chosen.
    #[serde(flatten)]
    pub choice: Choice,
    /// The table or ensemble.
    pub file: PathBuf,
    /// Wall seconds.
    pub seconds: f64,
    /// The version of the program.
    pub version: String,
    /// The command, as people read it.
    #[serde(default)]
    pub arguments: Vec<String>,
}

impl SavedChoice {
    /// Reads what `partita choose-k -o` wrote.
    ///
    /// # Errors
    /// [`AppError::Io`] for what cannot be read, [`AppError::Content`] for what is something else.
    pub fn open(path: &Path) -> Result<Self, AppError> {
        const REMEDY: &str = "write it anew with `partita choose-k -o`";
        let damaged = |error| AppError::content(path, format!("this is not a saved choice: {error}; {REMEDY}"));
        serde_json::from_value(read_json(path, REMEDY)?).map_err(damaged)
    }
}

/// Reads one number of a row.
type Of = fn(&ChoiceRow) -> Option<f64>;

/// The curves of a choice, for a report about so many objects: the labels at every number of clusters are kept only if
/// they are those of all objects.
pub fn curves(choice: &Choice, objects: usize) -> ClusterCurves {
    let partition = |row: &ChoiceRow| row.partition.clone().filter(|labels: &Partition| labels.objects() == objects);
    let bic = choice.rows.iter().any(|row| row.bic.is_some());
    ClusterCurves {
        chosen: Some(choice.clusters),
        reason: choice.reason.clone(),
        rows: choice.rows.iter().map(point).collect(),
        objective_name: if bic { "BIC".into() } else { "objective".into() },
        measures: measures(&choice.rows),
        partitions: choice.rows.iter().map(partition).collect::<Option<Vec<_>>>().unwrap_or_default(),
    }
}

/// What may have decided, where it was measured.
fn measures(rows: &[ChoiceRow]) -> Vec<Measure> {
    let names: [(Of, &str); 3] = [
        (|row| row.rcsi, "stability against data without clusters (RCSI)"),
        (|row| row.lifetime, "lifetime in the tree"),
        (|row| row.anmi, "mean NMI with the base clusterings"),
    ];
    let measure = |(of, name): (Of, &str)| {
        let values: Vec<Option<f64>> = rows.iter().map(of).collect();
        values.iter().any(Option::is_some).then(|| Measure { name: name.into(), values })
    };
    names.into_iter().filter_map(measure).collect()
}

fn point(row: &ChoiceRow) -> CurvePoint {
    let null = row.references.first().and_then(|reference| reference.pac);
    CurvePoint {
        clusters: row.clusters,
        cdf: row.cdf.clone(),
        area: row.area,
        delta_area: row.delta_area,
        pac: row.pac,
        null_pac: null.map(|pac| pac.mean),
        null_range: null.map(|pac| (pac.low, pac.high)),
        certainty: row.certainty,
        objective: row.bic.or_else(|| row.objective.as_ref()?.value),
    }
}
