//! `partita predict`: labels for new objects.

use partita::{Features, ModelInput, ModelReads};

use super::common::{load_model, read_ensemble, read_table};
use crate::args::{PredictArgs, TableArgs};
use crate::failure::Failure;
use crate::output::{Targets, may_write, print_labels, write_result};

pub(crate) fn predict(args: &PredictArgs) -> Result<(), Failure> {
    for path in [&args.output, &args.soft].into_iter().flatten() {
        may_write(path, args.force)?;
    }
    let model = load_model(&args.model)?;
    let (soft, names) = match model.reads() {
        ModelReads::Labels => {
            let ensemble = read_ensemble(&args.input, args.label.as_ref())?.ensemble;
            (model.predict(&ModelInput::Labels(&ensemble))?, ensemble.object_names().map(<[String]>::to_vec))
        }
        ModelReads::Features => {
            let table = read_table(&TableArgs { table: args.input.clone(), label: args.label.clone() })?;
            let features = Features::new(&table.columns, table.values.view()).map_err(Failure::input)?;
            (model.predict(&ModelInput::Features(features))?, table.object_names)
        }
    };
    let (partition, certainty) = (soft.hard(), soft.certainty());
    let targets = Targets { labels: args.output.as_deref(), soft: args.soft.as_deref() };
    write_result(&targets, names.as_deref(), &partition, &certainty, Some(&soft))?;
    if args.output.is_none() { print_labels(names.as_deref(), &partition, &certainty) } else { Ok(()) }
}
