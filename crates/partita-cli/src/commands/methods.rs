//! `partita methods`: the registry, for people and for machines.

use partita::{Consensus, MissingLabels, Reads};
use serde_json::json;

use partita_app::TextTable;
use partita_app::methods::{self as registry, describe};

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
    let mut table = TextTable::new(["method", "soft", "own k", "missing", "time"]);
    for info in registry::all().map(Consensus::info) {
        let (yes, can) = (|yes: bool| if yes { "yes" } else { "–" }, info.capabilities);
        let missing = yes(can.missing != MissingLabels::Refused);
        table.row([info.name, yes(can.soft), yes(can.auto_clusters), missing, info.time]);
    }
    format!("{}\n`partita methods METHOD` explains one and lists its settings.\n", table.render())
}

fn explain(method: &dyn Consensus) -> String {
    let (info, defaults) = (method.info(), method.default_settings());
    let mut text = format!("{}: {}\n{}\n\n", info.name, info.summary, info.reference);
    for (what, is) in [("certainty", info.certainty), ("time", info.time), ("memory", info.memory)] {
        text += &format!("{what}: {is}\n");
    }
    if info.capabilities.reads == Reads::LabelsAndFeatures {
        text.push_str("reads the table behind the ensemble (--features)\n");
    }
    for setting in method.settings() {
        let default = defaults[setting.name].to_string();
        text += &format!("\n  --set {}={}\n      {}\n", setting.name, default.trim_matches('"'), setting.help);
        text += &format!("      {}\n", setting.values);
    }
    text
}
