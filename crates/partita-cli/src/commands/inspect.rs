//! `partita inspect`: what a file holds.

use partita_app::{TakenAs, default_budget};
use serde_json::Value;

use crate::args::{InspectArgs, Kind};
use crate::failure::Failure;
use crate::output;
use crate::terminal::Terminal;

pub(crate) fn inspect(args: &InspectArgs) -> Result<(), Failure> {
    let options = args.read.options(default_budget());
    let facts = partita_app::inspect(&args.file, args.kind.map(taken_as), &options, &Terminal)?;
    if args.json { output::print_json(&facts) } else { output::print(&as_text(&facts)) }
}

fn taken_as(kind: Kind) -> TakenAs {
    match kind {
        Kind::Table => TakenAs::Table,
        Kind::Ensemble => TakenAs::Ensemble,
        Kind::Model => TakenAs::Model,
        Kind::Record => TakenAs::Record,
    }
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
            parts.iter().filter(|(_, value)| !value.is_null()).map(part).collect::<Vec<_>>().join(", ")
        }
        None => plain(fact),
    }
}
