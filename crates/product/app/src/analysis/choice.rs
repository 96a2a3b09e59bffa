//! The choice of the number of clusters of a table or an ensemble; saved choices, and the curves that a report draws.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use partita::extend::{Consensus, Problem};
use partita::{Features, Partition, Seed};
use partita_report::{ClusterCurves, CurvePoint, Measure};
use partita_select::{
    AutoChoice, Choice, ChoiceRow, ChooseSettings, Criterion, EnsembleChoiceSettings, SelectError,
    choose_clusters, choose_clusters_of_ensemble, choose_recipe,
};
use serde::{Deserialize, Serialize};

use crate::error::AppError;
use crate::experiment::clusters::ClustersAsked;
use crate::input::left_out::LeftOut;
use crate::input::table::InputTable;
use crate::observer::Observer;
use crate::path_text;
use crate::text_files::read_json;
use crate::text_table::TextTable;
use crate::version::VERSION;
use crate::{methods, seeds};

/// The number of clusters of a table, and how base clusterings that find them are made where that was looked at.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableChoice {
    /// The number, and what was measured of every number looked at.
    pub choice: Choice,
    /// The base clusterings.
    pub auto: Option<AutoChoice>,
}

/// How many clusters a table has, if any, of the numbers from `first` to `last` if one is named: the answer of `run`, `choose-k` and all
/// bindings. By [`choose_recipe`], or by [`choose_clusters`] where the settings or the table ask for it; `source` is the file that messages
/// name.
///
/// # Errors
/// [`AppError::Select`]; [`AppError::Request`] for settings that do not count for the criterion.
///
/// # Cost
/// That of [`choose_recipe`] or [`choose_clusters`], on a sample of the rows where there are many.
pub fn choose_of_table(
    table: &InputTable<'_>,
    (first, last): (usize, Option<usize>),
    settings: &ChooseSettings,
    seed: Seed,
    budget: partita::MemoryBudget,
    source: &Path,
    observer: &dyn Observer,
) -> Result<TableChoice, AppError> {
    if let InputTable::Graph(_) = table {
        let reason = "numbers of clusters are tried on columns, and a graph has none; name the number, leave it to the method, or make an \
                      ensemble of the graph and look for the number in that";
        return Err(AppError::content(source, reason));
    }
    let wrong = |error: SelectError| AppError::Select {
        input: source.into(),
        source: error,
    };
    let by_score = match settings.criterion {
        None => table.has_recipes(),
        Some(Criterion::Score) => true,
        Some(Criterion::Rcsi) => false,
        Some(_) => {
            let reason = "the criterion of a table is score or rcsi";
            return Err(AppError::request(reason));
        }
    };
    let monitor = observer.begin("number of clusters");
    if !by_score {
        let range = ClustersAsked::range_of_labels(first, last);
        let seed = seeds::choice(seed);
        let choice = choose_clusters(table.view(), range, seed, settings, budget, &*monitor);
        return Ok(TableChoice {
            choice: choice.map_err(wrong)?,
            auto: None,
        });
    }
    if let Some(name) = settings.of_rcsi_alone() {
        return Err(AppError::request(format!(
            "{name} counts for the criterion rcsi alone; set criterion=rcsi beside it"
        )));
    }
    let scale = settings
        .scale
        .parse()
        .map_err(|error| wrong(SelectError::from(error)))?;
    let mut auto = choose_recipe(table.view(), (first, last), scale, seed, budget, &*monitor)
        .map_err(wrong)?;
    let choice = auto.choice.take().ok_or_else(|| {
        AppError::request(format!("{first} is one number of clusters; write a range"))
    })?;
    Ok(TableChoice {
        choice,
        auto: Some(auto),
    })
}

/// How many clusters an ensemble has for a method ([`choose_clusters_of_ensemble`]), of the objects that have a label; `source` is the
/// file that messages name.
///
/// # Errors
/// [`AppError::Select`].
///
/// # Cost
/// That of [`choose_clusters_of_ensemble`] on a sample of the objects where there are many.
pub fn choose_of_ensemble(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    range: RangeInclusive<usize>,
    settings: &EnsembleChoiceSettings,
    source: &Path,
    observer: &dyn Observer,
) -> Result<Choice, AppError> {
    let left = LeftOut::of(problem.ensemble);
    let weights = match (&left, problem.object_weights) {
        (Some((_, out)), Some(weights)) => Some(out.weights(weights)?),
        _ => None,
    };
    if let Some((_, out)) = &left {
        observer.note(&out.warning());
    }
    let given = left.as_ref().map_or(problem.ensemble, |(left, _)| left);
    let soft = given.memberships().is_some();
    if soft {
        observer
            .note("the number of clusters is chosen by labels: every object is in the cluster of its largest share");
    }
    let hardened = soft.then(|| given.clone().hardened());
    let mut looked_at = Problem::new(hardened.as_ref().unwrap_or(given), problem.clusters)
        .settings(problem.settings.clone());
    (looked_at.seed, looked_at.budget) = (problem.seed, problem.budget);
    looked_at.weights = problem.weights;
    let features = problem.features.filter(|_| left.is_none());
    let values = features.map(|of| of.values());
    looked_at.features = features
        .zip(values.as_ref())
        .and_then(|(of, values)| Features::new(of.columns(), values.view()).ok());
    looked_at.object_weights = weights.as_ref().or(problem.object_weights);
    let monitor = observer.begin(&format!(
        "number of clusters ({})",
        methods::name_of(method)
    ));
    let chosen = choose_clusters_of_ensemble(method, &looked_at, range, settings, &*monitor);
    chosen.map_err(|error| AppError::Select {
        input: source.into(),
        source: error,
    })
}

/// Spells one number of a row.
type Cell<'a> = &'a dyn Fn(&ChoiceRow) -> String;

/// What was measured of every number of clusters, for people; columns that nothing fills are left out.
pub fn choice_table(choice: &Choice) -> TextTable {
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(String::new, |value| format!("{value:.digits$}"))
    };
    let small = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1e}"));
    let columns: [(&str, Cell<'_>); 15] = [
        ("k", &|row| row.clusters.to_string()),
        ("score", &|row| number(row.score, 3)),
        ("cut", &|row| number(row.cut, 3)),
        ("validity", &|row| number(row.validity, 3)),
        ("likelihood", &|row| number(row.likelihood, 3)),
        ("silhouette", &|row| number(row.silhouette, 3)),
        ("stability", &|row| number(row.stability, 3)),
        ("rcsi", &|row| number(row.rcsi, 3)),
        ("p", &|row| small(row.p)),
        ("pac", &|row| number(row.pac, 4)),
        ("delta area", &|row| number(row.delta_area, 4)),
        ("anmi", &|row| number(row.anmi, 4)),
        ("lifetime", &|row| number(row.lifetime, 4)),
        ("bic", &|row| number(row.bic, 0)),
        ("", &|row| {
            if row.clusters == choice.clusters {
                "<- chosen".into()
            } else {
                String::new()
            }
        }),
    ];
    let filled = |cell: Cell<'_>| choice.rows.iter().any(|row| !cell(row).is_empty());
    let columns: Vec<_> = columns
        .into_iter()
        .filter(|(_, cell)| filled(*cell))
        .collect();
    let mut table = TextTable::new(columns.iter().map(|(name, _)| *name));
    choice
        .rows
        .iter()
        .for_each(|row| table.row(columns.iter().map(|(_, cell)| cell(row))));
    table
}

/// A choice without the labels and the curves of every number: what a record keeps.
pub(crate) fn brief(choice: &Choice) -> Choice {
    let mut brief = choice.clone();
    for row in &mut brief.rows {
        (row.partition, row.cdf) = (None, Vec::new());
    }
    brief.objects = None;
    brief
}

/// A choice with what is needed to make it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedChoice {
    /// What was measured and chosen.
    #[serde(flatten)]
    pub choice: Choice,
    /// The table or ensemble.
    #[serde(with = "path_text")]
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
    /// A choice that was just made from this table or ensemble.
    pub fn of(choice: Choice, file: &Path, seconds: f64) -> Self {
        Self {
            choice,
            file: file.to_owned(),
            seconds,
            version: VERSION.to_owned(),
            arguments: Vec::new(),
        }
    }

    /// Reads what `partita choose-k -o` wrote.
    ///
    /// # Errors
    /// [`AppError::Io`] for what cannot be read, [`AppError::Content`] for what is something else.
    pub fn open(path: &Path) -> Result<Self, AppError> {
        const REMEDY: &str = "write it anew with `partita choose-k -o`";
        let damaged = |error| {
            AppError::content(
                path,
                format!("this is not a saved choice: {error}; {REMEDY}"),
            )
        };
        serde_json::from_value(read_json(path, REMEDY)?).map_err(damaged)
    }
}

/// Reads one number of a row.
type Of = fn(&ChoiceRow) -> Option<f64>;

/// The curves of a choice, for a report about so many objects: the labels at every number of clusters are kept if they are those
/// of all objects, or of objects of which it is known which they are.
pub fn curves(choice: &Choice, objects: usize) -> ClusterCurves {
    let looked_at = choice
        .objects
        .clone()
        .filter(|some| some.iter().all(|&object| (object as usize) < objects));
    let labelled = looked_at.as_ref().map_or(objects, Vec::len);
    let partition = |row: &ChoiceRow| {
        row.partition
            .clone()
            .filter(|labels: &Partition| labels.objects() == labelled)
    };
    let bic = choice.rows.iter().any(|row| row.bic.is_some());
    let criterion = serde_json::json!(choice.criterion);
    ClusterCurves {
        criterion: criterion.as_str().unwrap_or_default().to_owned(),
        chosen: Some(choice.clusters),
        reason: choice.reason.clone(),
        rows: choice
            .rows
            .iter()
            .map(|row| point(row, choice.criterion))
            .collect(),
        objective_name: if bic {
            "BIC".into()
        } else {
            "objective".into()
        },
        measures: measures(&choice.rows, choice.criterion),
        partitions: choice
            .rows
            .iter()
            .map(partition)
            .collect::<Option<Vec<_>>>()
            .unwrap_or_default(),
        objects: looked_at,
    }
}

/// What may have decided, where it was measured; what did comes first.
fn measures(rows: &[ChoiceRow], decided: Criterion) -> Vec<Measure> {
    let mut names: Vec<(Criterion, Of, &str)> = vec![
        (Criterion::Score, |row| row.score, "score"),
        (Criterion::Rcsi, |row| row.rcsi, "relative stability (RCSI)"),
        (
            Criterion::Lifetime,
            |row| row.lifetime,
            "lifetime in the tree",
        ),
        (
            Criterion::Anmi,
            |row| row.anmi,
            "mean NMI with the base clusterings",
        ),
        (
            Criterion::Contradicted,
            |row| row.contradicted,
            "share of the pairs that is contradicted",
        ),
    ];
    if decided == Criterion::Bic {
        names.push((Criterion::Bic, |row| row.bic, "BIC"));
    }
    names.sort_by_key(|(criterion, ..)| *criterion != decided);
    let measure = |(_, of, name): (Criterion, Of, &str)| {
        let values: Vec<Option<f64>> = rows.iter().map(of).collect();
        values.iter().any(Option::is_some).then(|| Measure {
            name: name.into(),
            values,
        })
    };
    names.into_iter().filter_map(measure).collect()
}

fn point(row: &ChoiceRow, decided: Criterion) -> CurvePoint {
    let null = row.references.first().and_then(|reference| reference.pac);
    CurvePoint {
        clusters: row.clusters,
        cdf: row.cdf.clone(),
        area: row.area,
        delta_area: row.delta_area,
        pac: row.pac,
        null_pac: null.map(|pac| pac.mean),
        null_range: null.map(|pac| (pac.low, pac.high)),
        objective: match decided {
            Criterion::Bic => None,
            _ => row.bic.or_else(|| row.objective.as_ref()?.value),
        },
        stability: row.stability,
        p: row.p,
    }
}
