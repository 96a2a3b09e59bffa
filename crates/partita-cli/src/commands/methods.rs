//! `partita methods`: the registry, for people and for machines.

use partita::{Consensus, MissingLabels, Reads};
use serde_json::{Value, json};

use partita_app::{TextTable, methods as registry};

use crate::args::MethodsArgs;
use crate::failure::Failure;
use crate::output;

pub(crate) fn methods(args: &MethodsArgs) -> Result<(), Failure> {
    let chosen = args.method.as_deref().map(registry::find).transpose()?;
    match (chosen, args.json) {
        (Some(method), true) => output::print_json(&describe(method)),
        (Some(method), false) => output::print(&explain(method)),
        (None, true) => output::print_json(&json!({ "methods": registry::all().map(describe).collect::<Vec<_>>() })),
        (None, false) => output::print(&list()),
    }
}

fn list() -> String {
    let mut table = TextTable::new(["method", "soft", "auto k", "missing", "time"]);
    for card in registry::all().map(Consensus::card) {
        let yes = |yes: bool| if yes { "yes" } else { "–" };
        let missing = yes(card.missing != MissingLabels::Refused);
        table.row([card.name, yes(card.soft), yes(card.chooses_clusters), missing, card.time]);
    }
    format!("{}\n`partita methods METHOD` explains one and lists its settings.\n", table.render())
}

fn explain(method: &dyn Consensus) -> String {
    let (card, defaults) = (method.card(), method.default_settings());
    let mut text = format!("{}: {}\n{}\n\n", card.name, card.summary, card.reference);
    for (what, is) in [("certainty", card.certainty), ("time", card.time), ("memory", card.memory)] {
        text += &format!("{what}: {is}\n");
    }
    if card.reads == Reads::LabelsAndFeatures {
        text.push_str("reads the table behind the ensemble (--features)\n");
    }
    for setting in card.settings {
        let default = defaults[setting.name].to_string();
        text += &format!("\n  --set {}={}\n      {}\n", setting.name, default.trim_matches('"'), setting.help);
    }
    text
}

fn describe(method: &dyn Consensus) -> Value {
    let (card, defaults) = (method.card(), method.default_settings());
    let settings: Vec<Value> = (card.settings.iter())
        .map(|setting| json!({ "name": setting.name, "default": defaults[setting.name], "help": setting.help }))
        .collect();
    json!({
        "name": card.name,
        "family": card.family,
        "summary": card.summary,
        "reference": card.reference,
        "reads": card.reads,
        "missing": card.missing,
        "soft": card.soft,
        "chooses_clusters": card.chooses_clusters,
        "clusters_is_maximum": card.clusters_is_maximum,
        "weighted": card.weighted,
        "seeded": card.seeded,
        "certainty": card.certainty,
        "time": card.time,
        "memory": card.memory,
        "settings": settings,
    })
}
