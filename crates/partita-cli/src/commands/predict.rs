//! `partita predict`: labels for new objects.

use partita::files;
use partita::{Features, ModelInput, ModelReads};

use partita_app::{default_budget, load_model, read_ensemble, say_roles};

use crate::args::PredictArgs;
use crate::failure::Failure;
use crate::output::{Targets, check_outputs, print_labels, write_result};
use crate::terminal::Terminal;

pub(crate) fn predict(args: &PredictArgs) -> Result<(), Failure> {
    let inputs = [args.model.as_path(), &args.input];
    check_outputs([&args.output, &args.soft].into_iter().flatten(), &inputs, args.force)?;
    let model = load_model(&args.model)?;
    let mut options = args.read.options(default_budget());
    let (soft, names) = match model.reads() {
        ModelReads::Labels => {
            let ensemble = read_ensemble(&args.input, &options, &Terminal)?.ensemble;
            (model.predict(&ModelInput::Labels(&ensemble))?, ensemble.object_names().map(<[String]>::to_vec))
        }
        ModelReads::Features => {
            options.clusterable = false;
            let (table, roles) = files::load_table(&args.input, &options)?;
            say_roles(&args.input, &roles, &Terminal);
            let features = Features::new(&table.columns, table.values.view()).map_err(Failure::input)?;
            (model.predict(&ModelInput::Features(features))?, table.object_names)
        }
    };
    let (partition, certainty) = (soft.hard(), soft.certainty());
    let targets = Targets { labels: args.output.as_deref(), soft: args.soft.as_deref() };
    let numbers = [("certainty", &certainty[..])];
    write_result(&targets, names.as_deref(), &partition, &numbers, &soft)?;
    if args.output.is_none() { print_labels(names.as_deref(), &partition, &numbers) } else { Ok(()) }
}
