//! What a page shows of the record of a run, as `record.json` holds it.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::text::{command, number};

/// A field that is not there, or is something else than what is looked for, is not shown.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Field<T>(pub(crate) Option<T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(source)?;
        Ok(Self(serde_json::from_value(value).ok()))
    }
}

/// The record.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Record {
    table: Field<String>,
    method: Field<String>,
    seed: Field<u64>,
    finished: Field<String>,
    objective: Field<f64>,
    objective_name: Field<String>,
    stopped: Field<String>,
    #[serde(alias = "rounds")]
    iterations: Field<u64>,
    seconds: Field<f64>,
    generate: Part<f64>,
    peak_bytes: Field<f64>,
    version: Field<String>,
    pub(crate) anmi: Field<f64>,
    scores: Field<Scores>,
    base_scores: Field<Vec<Scores>>,
    methods: Field<Vec<MethodRecord>>,
    warnings: Field<Vec<String>>,
    choice: Part<Vec<String>>,
    settings: Field<Map<String, Value>>,
    details: Field<Map<String, Value>>,
    recipe: Field<Map<String, Value>>,
    arguments: Field<Vec<String>>,
    experiment: Field<Experiment>,
    #[serde(skip_deserializing)]
    texts: Texts,
}

/// Fields that are shown in other words.
#[derive(Clone, Debug, Default, Serialize)]
struct Texts {
    settings: Option<String>,
    details: Option<String>,
    recipe: Option<String>,
    /// The number of clusters that was asked for.
    asked: Option<String>,
    /// The command that made the run, and the one that makes it again.
    made: Option<String>,
    again: Option<String>,
}

/// A part of the record of which some values are looked for.
type Part<T> = Field<BTreeMap<String, Field<T>>>;

/// Agreement with known classes.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Scores {
    h: Field<f64>,
    ari: Field<f64>,
    ami: Field<f64>,
    nmi: Part<f64>,
    purity: Field<f64>,
    f1: Part<f64>,
}

/// One of several methods.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct MethodRecord {
    method: Field<String>,
    clusters: Field<f64>,
    anmi: Field<f64>,
    agreement: Field<f64>,
    scores: Field<Scores>,
    seconds: Field<f64>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Experiment {
    clusters: Value,
    outputs: Part<String>,
}

impl Record {
    pub(crate) fn of(record: &Value) -> Self {
        let mut found: Self = serde_json::from_value(record.clone()).unwrap_or_default();
        let experiment = found.experiment.0.clone().unwrap_or_default();
        found.texts = Texts {
            settings: fields(&found.settings),
            details: fields(&found.details),
            recipe: fields(&found.recipe),
            asked: match &experiment.clusters {
                Value::String(text) => Some(text.clone()),
                Value::Number(clusters) => Some(clusters.to_string()),
                _ => None,
            },
            made: found.made(),
            again: repeated(&experiment.outputs),
        };
        found
    }

    /// How the recipe of the base clusterings scales columns.
    pub(crate) fn scale(&self) -> Option<&str> {
        self.recipe.0.as_ref()?.get("scale")?.as_str()
    }

    fn made(&self) -> Option<String> {
        let words = self
            .arguments
            .0
            .as_ref()
            .filter(|words| !words.is_empty())?;
        let words: Vec<String> = words.iter().map(|word| without_folder(word)).collect();
        Some(command("partita", &words))
    }
}

/// From the record, in the folder of the results, where there is one.
fn repeated(outputs: &Part<String>) -> Option<String> {
    let folder = outputs.0.as_ref()?.get("folder")?.0.as_ref();
    folder.map(|_| command("partita", &["run", "--from", "record.json", "-o", "again"]))
}

/// A page says nothing about the folders of the machine that it was made on.
fn without_folder(word: &str) -> String {
    match word.rsplit_once('/') {
        Some((_, name)) if word.starts_with('/') && !name.is_empty() => format!("…/{name}"),
        _ => word.to_owned(),
    }
}

/// Names and values in a line; those without a value, and those with many, are left out.
fn fields(of: &Field<Map<String, Value>>) -> Option<String> {
    let field = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(x) if x.to_string().len() <= 8 => x.to_string(),
            Value::Number(x) => number(x.as_f64()?),
            Value::Bool(true) => "yes".to_owned(),
            Value::Bool(false) => "no".to_owned(),
            Value::Array(items) if items.len() <= 8 => {
                let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                texts?.join(" + ")
            }
            _ => return None,
        };
        Some(format!("{name} {value}"))
    };
    let fields: Vec<String> = of.0.as_ref()?.iter().filter_map(field).collect();
    (!fields.is_empty()).then(|| fields.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_of_another_kind_are_not_there() {
        let record = json!({ "method": 3, "seed": 7, "scores": "none", "settings": { "a": true, "b": ["x", "y"], "c": {} },
            "methods": [{ "method": "one", "clusters": "many" }], "arguments": ["run", "/here/a b.csv"],
            "experiment": { "clusters": "auto", "outputs": { "folder": "out/" } } });
        let record = Record::of(&record);
        assert!(record.method.0.is_none() && record.scores.0.is_none());
        assert_eq!(record.seed.0, Some(7));
        let methods = record.methods.0.unwrap();
        assert_eq!(methods[0].method.0.as_deref(), Some("one"));
        assert!(methods[0].clusters.0.is_none());
        let texts = record.texts;
        assert_eq!(texts.settings.as_deref(), Some("a yes, b x + y"));
        assert_eq!(texts.asked.as_deref(), Some("auto"));
        assert_eq!(texts.made.as_deref(), Some("partita run '…/a b.csv'"));
        let again = "partita run --from record.json -o again";
        assert_eq!(texts.again.as_deref(), Some(again));
        assert!(Record::of(&Value::Null).texts.made.is_none());
    }
}
