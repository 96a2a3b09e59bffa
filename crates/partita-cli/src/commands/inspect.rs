//! `partita inspect`: what a file holds.

use std::collections::BTreeMap;
use std::path::Path;

use partita::Ensemble;
use partita::files::{self, LabelColumn, SparseTable, Table};
use serde_json::{Value, json};

use partita_app::{default_budget, load_model, read_ensemble, say_roles};

use crate::args::{InspectArgs, Kind};
use crate::failure::Failure;
use crate::output;
use crate::terminal::Terminal;

pub(crate) fn inspect(args: &InspectArgs) -> Result<(), Failure> {
    let options = args.read.options(default_budget());
    let facts = match args.kind.unwrap_or_else(|| guess(&args.file)) {
        Kind::Table if files::is_sparse_table(&args.file) => {
            sparse_facts(&files::read_sparse_table(&args.file, default_budget())?)
        }
        Kind::Table => {
            let (table, roles) = files::load_table(&args.file, &options)?;
            say_roles(&args.file, &roles, &Terminal);
            table_facts(&table)
        }
        Kind::Ensemble => {
            let loaded = read_ensemble(&args.file, &options, &Terminal)?;
            ensemble_facts(&loaded.ensemble, loaded.truth.as_ref())
        }
        Kind::Model => json!({ "kind": "model", "format": load_model(&args.file)?.to_json()["format"] }),
    };
    if args.json { output::print_json(&facts) } else { output::print(&as_text(&facts)) }
}

/// What the name of a file suggests.
fn guess(path: &Path) -> Kind {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npz") if files::is_sparse_table(path) => Kind::Table,
        Some("mat" | "npz") => Kind::Ensemble,
        Some("json") => Kind::Model,
        _ => Kind::Table,
    }
}

fn table_facts(table: &Table) -> Value {
    let range = |column: usize| {
        let values = table.values.column(column);
        let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
        let mean = values.mean().unwrap_or(f64::NAN);
        json!({ "name": table.columns[column], "min": low, "mean": mean, "max": high })
    };
    json!({
        "kind": "table",
        "objects": table.values.nrows(),
        "columns": table.columns.len(),
        "label": table.label.as_ref().map(classes),
        "named_objects": table.object_names.is_some(),
        "features": (0..table.columns.len()).map(range).collect::<Vec<_>>(),
    })
}

fn sparse_facts(table: &SparseTable) -> Value {
    let (objects, columns) = table.values.shape();
    let stored = table.values.nnz();
    json!({
        "kind": "sparse table",
        "objects": objects,
        "columns": columns,
        "stored_numbers": stored,
        "share_stored": stored as f64 / (objects * columns).max(1) as f64,
        "label": table.label.as_ref().map(classes),
        "named_objects": table.object_names.is_some(),
        "features": table.columns,
    })
}

fn classes(label: &LabelColumn) -> Value {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in &label.values {
        *counts.entry(value.as_deref().unwrap_or("(missing)")).or_default() += 1;
    }
    json!({ "name": label.name, "classes": counts })
}

fn ensemble_facts(ensemble: &Ensemble, truth: Option<&LabelColumn>) -> Value {
    let fragments = ensemble.fragments().weights().len();
    let base = |u: usize| {
        let labelled = ensemble.column(u).flatten().count();
        json!({ "name": ensemble.bases()[u].name(), "clusters": ensemble.bases()[u].clusters(), "labelled": labelled })
    };
    let recipe = ensemble.recipe().map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text)));
    json!({
        "kind": "ensemble",
        "objects": ensemble.objects(),
        "base_clusterings": ensemble.bases().len(),
        "missing_labels": ensemble.missing(),
        "unlabelled_object": ensemble.first_unlabelled().map(|object| ensemble.object_name(object)),
        "distinct_label_rows": fragments,
        "truth": truth.map(classes),
        "named_objects": ensemble.object_names().is_some(),
        "recipe": recipe,
        "bases": (0..ensemble.bases().len()).map(base).collect::<Vec<_>>(),
    })
}

/// One line a fact; lists line by line below their name.
fn as_text(facts: &Value) -> String {
    let mut text = String::new();
    for (name, fact) in facts.as_object().into_iter().flatten() {
        let name = name.replace('_', " ");
        match fact {
            Value::Null => {}
            Value::String(fact) => text += &format!("{name}: {fact}\n"),
            Value::Array(facts) => {
                text += &format!("{name}:\n");
                facts.iter().for_each(|fact| text += &format!("  {}\n", one_line(fact)));
            }
            fact => text += &format!("{name}: {}\n", one_line(fact)),
        }
    }
    text
}

fn one_line(fact: &Value) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match fact.as_object() {
        Some(parts) => {
            let part = |(name, value): (&String, &Value)| match value.as_object() {
                Some(_) => format!("{name} ({})", one_line(value)),
                None => format!("{name} {}", plain(value)),
            };
            parts.iter().map(part).collect::<Vec<_>>().join(", ")
        }
        None => plain(fact),
    }
}
