//! A whole consensus: any small ensemble, any method, any settings. The result is a partition with finite numbers, or an error on one
//! line; a wish to stop is answered.

use std::time::{Duration, Instant};

use arbitrary::Unstructured;
use partita::extend::{
    Consensus, Dendrogram, Flow, ModelInput, ModelReads, Problem, Reads, SettingInfo, SettingMap,
    SettingRange, SettingValues, Shares, consense,
};
use partita::ndarray::Array2;
use partita::{
    BaseWeights, Clusters, Ensemble, EnsembleBuilder, Features, METHODS, MemoryBudget, Monitor,
    ObjectWeights, Outcome,
};
use serde_json::{Map, Value, json};

use crate::choices::{below, byte, choose, float, number, one_in};
use crate::readers::{check_error, fine};
use crate::saved_files::check_soft;

/// After this time a fit is asked to stop.
const ENOUGH: Duration = Duration::from_millis(5);

struct Deadline(Instant);

impl Monitor for Deadline {
    fn tick(&self, _done: u64, _total: u64) -> Flow {
        self.flow()
    }

    fn flow(&self) -> Flow {
        if Instant::now() < self.0 {
            Flow::Continue
        } else {
            Flow::Stop
        }
    }
}

pub(crate) fn consensus(bytes: &[u8]) {
    let mut from = Unstructured::new(bytes);
    let method = choose(&mut from, METHODS);
    let settings = settings(method, &mut from);
    let Some(ensemble) = ensemble(&mut from) else {
        return;
    };
    let clusters = match byte(&mut from) {
        0..=19 => Clusters::Auto,
        byte => Clusters::Exactly(usize::from(byte) % (ensemble.objects() + 2)),
    };
    let base_weights = weights(&mut from, ensemble.bases().len());
    let object_weights = weights(&mut from, ensemble.objects());
    let base_weights = base_weights.and_then(|w| fine(BaseWeights::new(w)));
    let object_weights = object_weights.and_then(|w| fine(ObjectWeights::new(w)));
    let columns = ["x", "y"].map(str::to_owned);
    let values = table(&mut from, ensemble.objects());
    let mut problem = Problem::new(&ensemble, clusters)
        .seed(u64::from(byte(&mut from)))
        .settings(settings);
    problem.budget = MemoryBudget::new(256 << 20);
    (problem.weights, problem.object_weights) = (base_weights.as_ref(), object_weights.as_ref());
    if method.info().capabilities.reads == Reads::LabelsAndFeatures {
        problem.features = fine(Features::new(&columns, values.view()));
    }
    match consense(method, &problem, &Deadline(Instant::now() + ENOUGH)) {
        Ok(outcome) => check(method, &problem, &outcome),
        Err(error) => check_error(&error),
    }
}

/// Settings of a method: most as they are, others anywhere in their ranges and a little outside.
fn settings(method: &dyn Consensus, from: &mut Unstructured<'_>) -> SettingMap {
    let mut map = Map::new();
    for SettingInfo { name, values, .. } in method.settings() {
        if one_in(from, 3) {
            map.insert(name.into(), value(&values, from));
        }
    }
    SettingMap::from(map)
}

fn value(values: &SettingValues, from: &mut Unstructured<'_>) -> Value {
    match values {
        SettingValues::Boolean => Value::Bool(one_in(from, 2)),
        SettingValues::Integer(range) => whole(range, from),
        SettingValues::Number(range) => {
            let ends = [
                range.low,
                range.high,
                f64::midpoint(range.low, range.high.min(1e3)),
                range.low + 1e-9,
            ];
            let value = if one_in(from, 3) {
                float(from)
            } else {
                choose(from, &ends)
            };
            json!(value)
        }
        SettingValues::Choice(words) => json!(choose(from, words)),
        SettingValues::Text(_) => {
            json!(choose(
                from,
                &["", "0", "x", "auto", "0.5", "u0", "a,b", "1..3"]
            ))
        }
        SettingValues::Optional(inner) => {
            if one_in(from, 3) {
                Value::Null
            } else {
                value(inner, from)
            }
        }
        SettingValues::List(inner) => (0..below(from, 4)).map(|_| value(inner, from)).collect(),
    }
}

/// A whole number: an end of the range or of its type, a small one, or any.
fn whole(range: &SettingRange, from: &mut Unstructured<'_>) -> Value {
    match byte(from) % 8 {
        0 => json!(range.low as u64),
        1 => json!(range.high as u64),
        2 => json!(number(from)),
        3 => json!((range.high / 2.0) as u64),
        4 => json!(u32::MAX),
        _ => json!((range.low as u64).saturating_add(u64::from(byte(from) % 16))),
    }
}

fn ensemble(from: &mut Unstructured<'_>) -> Option<Ensemble> {
    let (n, m) = (1 + below(from, 12), 1 + below(from, 5));
    let mut builder = EnsembleBuilder::new(n);
    for u in 0..m {
        let clusters = 1 + below(from, 5);
        let soft = one_in(from, 5);
        let added = if soft {
            let table = Array2::from_shape_fn((n, clusters), |_| f64::from(byte(from) % 5));
            let sums: Vec<f64> = table.outer_iter().map(|row| row.sum()).collect();
            let shares =
                Array2::from_shape_fn((n, clusters), |(i, j)| table[[i, j]] / sums[i].max(1.0));
            let shares = fine(Shares::new(shares))?;
            let names = (0..clusters).map(|j| j.to_string()).collect();
            builder
                .push_soft(format!("u{u}"), names, &shares, 1 + below(from, 4))
                .map(|_| ())
        } else {
            let label = |byte: u8| (byte % 8 != 7).then_some(usize::from(byte) % clusters);
            let labels: Vec<Option<usize>> = (0..n).map(|_| label(byte(from))).collect();
            builder.push(format!("u{u}"), labels)
        };
        fine(added)?;
    }
    fine(builder.finish())
}

/// Weights, if any: some of them 0, tiny, large, or not weights at all.
fn weights(from: &mut Unstructured<'_>, count: usize) -> Option<Vec<f64>> {
    one_in(from, 4).then(|| (0..count).map(|_| float(from)).collect())
}

fn table(from: &mut Unstructured<'_>, objects: usize) -> Array2<f64> {
    let wild = one_in(from, 6);
    Array2::from_shape_fn((objects, 2), |_| {
        let value = if wild {
            float(from)
        } else {
            f64::from(byte(from) % 7)
        };
        if value.is_finite() { value } else { 0.0 }
    })
}

/// What holds of every outcome.
fn check(method: &dyn Consensus, problem: &Problem<'_>, outcome: &Outcome) {
    let (name, n) = (method.info().name, problem.ensemble.objects());
    let Outcome { partition, .. } = outcome;
    let (labels, live) = (partition.labels(), partition.live_clusters());
    let holds = |what: &str, is: bool| assert!(is, "{name}: {what}: {outcome:?}");
    let known = |label: &u32| (*label as usize) < partition.clusters();
    holds(
        "one label an object",
        labels.len() == n && labels.iter().all(known),
    );
    holds("a cluster at least", live >= 1);
    if let Clusters::Exactly(asked) = problem.clusters {
        holds("at most K clusters", live <= asked);
    }
    if let Some(soft) = &outcome.soft {
        check_soft(soft);
        holds("labels are the most probable", soft.hard() == *partition);
    }
    let objective = outcome.objective.as_ref();
    let finite = objective.is_none_or(|objective| objective.value.is_finite());
    holds(
        "the objective is a number",
        finite && outcome.kkt_gap.is_none_or(f64::is_finite),
    );
    let mut tree = outcome.dendrogram.iter().flat_map(Dendrogram::merges);
    holds(
        "heights are numbers",
        tree.all(|merge| merge.height.is_finite()),
    );
    let mut warnings = outcome.warnings.iter();
    holds(
        "a warning is one line",
        warnings.all(|warning| !warning.contains('\n')),
    );
    assert!(serde_json::to_string(&outcome.details).is_ok());
    predicted(name, problem, outcome);
}

/// The model survives JSON and labels the objects that it was learned from.
fn predicted(name: &str, problem: &Problem<'_>, outcome: &Outcome) {
    let Some(model) = &outcome.model else { return };
    let saved = model.to_json();
    let text = saved.to_string();
    let read = serde_json::from_str(&text)
        .ok()
        .and_then(|saved| partita::load_model(&saved).ok());
    let Some(read) = read else {
        panic!("{name}: a model can be read again: {text}")
    };
    if read.reads() == ModelReads::Labels
        && let Some(soft) = fine(read.predict(&ModelInput::Labels(problem.ensemble)))
    {
        check_soft(&soft);
    }
}
