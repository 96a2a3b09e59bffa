//! `partita methods`: the registry, for people and for machines.

use partita::extend::{Consensus, KNOWN_AS, KnownAs, MissingLabels, Reads, Weights};
use serde_json::json;

use partita_app::methods::{self as registry, describe};
use partita_app::{AppError, TextTable};

use crate::args::MethodsArgs;
use crate::failure::Failure;
use crate::output;

pub(crate) fn methods(args: &MethodsArgs) -> Result<(), Failure> {
    if let Some(text) = &args.search {
        return search(text, args.json);
    }
    let chosen = args.method.as_deref().map(registry::find).transpose()?;
    match (chosen, args.json) {
        (Some(method), true) => output::print_json(&describe(method)),
        (Some(method), false) => output::print(&explain(method)),
        (None, true) => {
            let methods: Vec<_> = registry::all().map(describe).collect();
            output::print_json(
                &json!({ "methods": methods, "known_as": names_as_json(KNOWN_AS.iter()) }),
            )
        }
        (None, false) => output::print(&list()),
    }
}

/// Names from the literature and methods that have this text.
fn search(text: &str, json: bool) -> Result<(), Failure> {
    let (known, found) = registry::search(text);
    if known.is_empty() && found.is_empty() {
        let message = format!(
            "no method is known as '{text}', nor speaks of it; `partita methods` lists them all"
        );
        return Err(AppError::request(message).into());
    }
    if json {
        let known = names_as_json(known.into_iter());
        let names = found.iter().map(|info| info.name);
        return output::print_json(
            &json!({ "known_as": known, "methods": names.collect::<Vec<_>>() }),
        );
    }
    let known = known.iter().map(|known| {
        let methods = if known.methods.is_empty() {
            "–".to_owned()
        } else {
            known.methods.join(", ")
        };
        format!("{}: {methods} ({})\n", known.term, known.note)
    });
    let found = found
        .iter()
        .map(|info| format!("{}: {}\n", info.name, info.summary));
    output::print(&known.chain(found).collect::<String>())
}

fn names_as_json<'a>(known: impl Iterator<Item = &'a KnownAs>) -> Vec<serde_json::Value> {
    known
        .map(|k| json!({ "term": k.term, "methods": k.methods, "note": k.note }))
        .collect()
}

fn list() -> String {
    let mut table = TextTable::new(["method", "soft", "own k", "missing", "time"]);
    for info in registry::all().map(Consensus::info) {
        let (yes, can) = (|yes: bool| if yes { "yes" } else { "–" }, info.capabilities);
        let missing = yes(can.missing != MissingLabels::Refused);
        table.row([
            info.name,
            yes(can.soft),
            yes(can.auto_clusters),
            missing,
            info.time,
        ]);
    }
    format!(
        "{}\n`partita methods METHOD` explains one and lists its settings.\n",
        table.render()
    )
}

fn explain(method: &dyn Consensus) -> String {
    let (info, defaults) = (method.info(), method.default_settings());
    let mut text = format!("{}: {}\n{}\n\n", info.name, info.summary, info.reference);
    for (what, is) in [("time", info.time), ("memory", info.memory)] {
        text += &format!("{what}: {is}\n");
    }
    if info.capabilities.streams {
        text.push_str(
            "rows in blocks: yes, from files of any size and by many machines (`partita distributed merge`)\n",
        );
    }
    let weights = [
        ("base clusterings", info.capabilities.base_weights),
        ("objects", info.capabilities.object_weights),
    ];
    for (of, weights) in weights {
        let taken = match weights {
            Weights::Native => "yes".to_owned(),
            Weights::Copies => "yes, as numbers of copies".to_owned(),
            Weights::Refused(why) => format!("no: {why}"),
        };
        text += &format!("weights of {of}: {taken}\n");
    }
    if info.capabilities.pairs {
        text.push_str(
            "takes probabilities to start from (--start) and pairs that are given (--pairs)\n",
        );
    }
    if info.capabilities.reads == Reads::LabelsAndFeatures {
        text.push_str("reads the table behind the ensemble (--features)\n");
    }
    for setting in method.settings() {
        let default = defaults[setting.name].to_string();
        text += &format!(
            "\n  --set {}={}\n      {}\n",
            setting.name,
            default.trim_matches('"'),
            setting.help
        );
        text += &format!("      {}\n", setting.values);
    }
    text
}
