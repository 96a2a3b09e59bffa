//! `partita inspect`: what a file holds.

use partita::MemoryBudget;
use partita_app::{
    CoAssociationOutput, NoObserver, ReadOptions, TakenAs, read_ensemble, write_agreement,
};
use serde_json::Value;

use crate::args::InspectArgs;
use crate::compute::start_threads;
use crate::failure::Failure;
use crate::output::{self, check_outputs};
use crate::terminal::{Terminal, unless_interrupted};

pub(crate) fn inspect(args: &InspectArgs) -> Result<(), Failure> {
    start_threads(&args.machine.threads)?;
    let budget = args.machine.budget();
    let options = args.read.options(budget);
    let outputs = [args.co_association.as_ref(), args.agreement.as_ref()];
    check_outputs(outputs.into_iter().flatten(), [&args.file], args.out.force)?;
    // What is asked of an ensemble alone says what the file is.
    let kind = outputs
        .iter()
        .any(Option::is_some)
        .then_some(TakenAs::Ensemble);
    let facts = partita_app::inspect(&args.file, args.kind.or(kind), &options, &Terminal)?;
    if kind.is_some() {
        write_matrices(args, &options, budget)?;
        unless_interrupted(|| "what was written is whole".into())?;
    }
    output::answer(args.out.json, &facts, &as_text(&facts))
}

/// Writes what is asked of an ensemble.
fn write_matrices(
    args: &InspectArgs,
    options: &ReadOptions,
    budget: MemoryBudget,
) -> Result<(), Failure> {
    // What was taken for what is said already.
    let ensemble = read_ensemble(&args.file, options, &NoObserver)?.ensemble;
    if let Some(file) = args.co_association.clone() {
        CoAssociationOutput {
            file,
            least: args.least_share,
        }
        .write(&ensemble, budget, &Terminal)?;
    }
    if let Some(file) = &args.agreement {
        write_agreement(file, &ensemble)?;
    }
    Ok(())
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
                facts
                    .iter()
                    .for_each(|fact| text += &format!("  {}\n", one_line(fact)));
            }
            fact => text += &format!("{name}: {}\n", one_line(fact)),
        }
    }
    text
}

fn one_line(fact: &Value) -> String {
    let plain = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    match fact.as_object() {
        Some(parts) => {
            let part = |(name, value): (&String, &Value)| match value.as_object() {
                Some(_) => format!("{name} ({})", one_line(value)),
                None => format!("{name} {}", plain(value)),
            };
            parts
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(part)
                .collect::<Vec<_>>()
                .join(", ")
        }
        None => plain(fact),
    }
}
