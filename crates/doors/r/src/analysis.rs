//! The number of clusters, tests of clusters, and runs in common columns.

use std::path::Path;

use extendr_api::prelude::*;
use partita::extend::{Problem, SettingMap, Shares};
use partita::files::{LabelColumn, Labels};
use partita::generate::Scale;
use partita::ndarray::Axis;
use partita::{Clusters, Seed};
use partita_app::{
    AlignedRuns, AppError, ClusterTestInput, ClustersAsked, JointObjects, Objects, SavedChoice,
    Stopwatch, choose_of_ensemble, choose_of_table, methods, seeds,
};
use partita_modes::Run as ClusteringRun;
use serde::Deserialize;

use crate::call::{Refusal, answer, answer_at_once};
use crate::given::{GivenTable, LABELS, TABLE, ensemble};
use crate::values::{list, matrix, matrix_of, or_null, read, robj, texts};

/// The objects of several inputs that are `called` so, each of so many objects and with their `names` or NULL: names of all, and for every
/// input the row (from 1) of each object, NA where it lacks it.
#[extendr]
fn native_match_objects(called: Vec<String>, counts: Vec<i32>, names: List, how: Robj) -> Robj {
    let names: Vec<Option<Vec<String>>> = names.values().map(|of| texts(&of)).collect();
    answer(
        &how,
        |_, observer| {
            let objects = called.iter().zip(&counts).zip(&names);
            let objects: Vec<Objects<'_>> = objects
                .map(|((called, &count), names)| {
                    Objects::new(Path::new(called), count as usize, names.as_deref())
                })
                .collect();
            JointObjects::of(&objects, "give all the same names, or none", observer)
        },
        |found| {
            let place = |row: &Option<usize>| row.map(|row| row as i32 + 1);
            let rows = found
                .rows
                .iter()
                .map(|rows| rows.iter().map(place).collect::<Vec<Option<i32>>>());
            Ok(list!(
                objects = or_null(found.names),
                rows = List::from_values(rows)
            )
            .into())
        },
    )
}

/// What is asked of the number of clusters.
#[derive(Deserialize)]
struct ChoiceAsked {
    first: usize,
    last: Option<usize>,
    method: Option<String>,
    settings: Option<SettingMap>,
    seed: u64,
}

/// The number of clusters of labels or of a table, whichever is not NULL.
#[extendr]
fn native_choose_k(labels: Robj, table: Robj, asked: Robj, how: Robj) -> Robj {
    let given = || {
        let asked: ChoiceAsked = read(&asked)?;
        let labels = list(&labels).map(|labels| ensemble(&labels)).transpose()?;
        let table = list(&table)
            .map(|table| GivenTable::new(&table))
            .transpose()?;
        Ok::<_, String>((asked, labels, table))
    };
    let (asked, labels, table) = match given() {
        Ok(given) => given,
        Err(text) => return answer_at_once(Err(text.into())),
    };
    let seed = Seed::new(asked.seed);
    let settings = asked.settings.unwrap_or_default();
    let method = asked
        .method
        .unwrap_or_else(|| methods::DEFAULT_OF_OWN_CLUSTERS.to_owned());
    answer(
        &how,
        |how, observer| {
            let stopwatch = Stopwatch::start();
            let (choice, file) = match (&labels, table) {
                (Some(labels), _) => {
                    let mut problem = Problem::new(labels, Clusters::Exactly(asked.first));
                    (problem.seed, problem.budget) = (seeds::choice(seed), how.budget());
                    let (method, own, file) = (
                        methods::find(&method)?,
                        settings.apply()?,
                        Path::new(LABELS),
                    );
                    (
                        choose_of_ensemble(
                            method,
                            &problem,
                            ClustersAsked::range_of_labels(asked.first, asked.last),
                            &own,
                            file,
                            observer,
                        )?,
                        file,
                    )
                }
                (None, Some(table)) => {
                    let (own, file) = (settings.apply()?, Path::new(TABLE));
                    let table = table.open(Scale::Auto, seed, how, observer)?;
                    (
                        choose_of_table(
                            &table,
                            (asked.first, asked.last),
                            &own,
                            seed,
                            how.budget(),
                            file,
                            observer,
                        )?
                        .choice,
                        file,
                    )
                }
                (None, None) => {
                    return Err(AppError::request("there are neither labels nor a table"));
                }
            };
            let saved = SavedChoice::of(choice, file, stopwatch.read().seconds);
            serde_json::to_value(&saved).map_err(|error| AppError::request(error.to_string()))
        },
        |choice| Ok(robj(&choice)),
    )
}

/// What is asked of a test of clusters.
#[derive(Deserialize)]
struct TestAsked {
    alpha: Option<f64>,
    halvings: Option<u32>,
    merge_small: Option<bool>,
    scale: Option<String>,
    common: bool,
    seed: u64,
}

/// Which clusters of labels (words, one an object) are real.
#[extendr]
fn native_test_clusters(table: List, labels: Robj, names: Robj, asked: Robj, how: Robj) -> Robj {
    let given = || {
        let asked: TestAsked = read(&asked)?;
        let mut input = ClusterTestInput::default();
        (input.labels, input.table.file) = (LABELS.into(), TABLE.into());
        (input.common, input.seed) = (asked.common, Seed::new(asked.seed));
        let scale = asked
            .scale
            .map(|scale| scale.parse().map_err(|error| format!("scale: {error}")));
        input.scale = scale.transpose()?;
        input.settings.alpha = asked.alpha.unwrap_or(input.settings.alpha);
        input.settings.halvings = asked.halvings.unwrap_or(input.settings.halvings);
        input.settings.merge_small = asked.merge_small.unwrap_or(input.settings.merge_small);
        let words = labels
            .as_str_iter()
            .ok_or("labels are words or numbers, one an object")?;
        let values = words
            .map(|word| (!word.is_na()).then(|| word.to_string()))
            .collect();
        let column = LabelColumn {
            name: "label".into(),
            values,
        };
        Ok::<_, String>((
            input,
            GivenTable::new(&table)?,
            Labels {
                object_names: texts(&names),
                column,
            },
        ))
    };
    let (mut input, table, labels) = match given() {
        Ok(given) => given,
        Err(text) => return answer_at_once(Err(text.into())),
    };
    answer(
        &how,
        |how, observer| {
            input.budget = how.budget();
            let table = table.open_dense(input.seed, how, observer)?;
            let found = input.test_held(table, labels, observer)?;
            let merged: Vec<Option<i32>> = found
                .test
                .labels
                .iter()
                .map(|label| label.map(|label| label as i32 + 1))
                .collect();
            Ok((found.to_json(), merged))
        },
        |(record, merged)| Ok(list!(record = robj(&record), cluster = merged).into()),
    )
}

/// Runs in common columns: what `ensemble` takes, one run or several at a time.
#[extendr]
fn native_align_runs(
    runs: List,
    similarity: Robj,
    objects: Robj,
    populations: Robj,
    how: Robj,
) -> Robj {
    let given = || {
        let mut all = Vec::new();
        for (name, run) in runs.iter() {
            if run.is_matrix() {
                let shares = matrix(&run)?.mapv(|share| if share.is_nan() { 0.0 } else { share });
                let shares = Shares::new(shares).map_err(|error| format!("'{name}', {error}"))?;
                all.push(ClusteringRun::soft(name, shares));
            } else {
                let codes = run
                    .as_integer_slice()
                    .ok_or("a run is a matrix of shares, or labels")?;
                let labels = codes
                    .iter()
                    .map(|&code| (code > 0).then(|| code as usize - 1));
                let clusters = codes.iter().copied().max().unwrap_or(0).max(0) as usize;
                all.push(ClusteringRun::hard(
                    name,
                    labels.collect::<Vec<_>>().into_iter(),
                    clusters,
                ));
            }
        }
        Ok::<_, String>(all)
    };
    let runs = match given() {
        Ok(runs) => runs,
        Err(text) => return answer_at_once(Err(text.into())),
    };
    let (similarity, about) = (similarity.as_real(), (texts(&objects), texts(&populations)));
    answer(
        &how,
        |_, observer| AlignedRuns::of(runs, similarity, about, observer),
        |found| {
            let aligned = found.runs.iter().zip(&found.alignment.runs);
            let aligned =
                aligned.map(|(run, of)| matrix_of(&run.rows().select(Axis(1), &of.order)));
            let aligned = List::from_values(aligned);
            Ok::<_, Refusal>(
                list!(
                    record = robj(&found.to_json()),
                    sentence = found.sentence(),
                    aligned = aligned,
                    picture = found.picture()
                )
                .into(),
            )
        },
    )
}

extendr_module! {
    mod analysis;
    fn native_choose_k;
    fn native_test_clusters;
    fn native_align_runs;
    fn native_match_objects;
}
