//! `partita predict`: labels for new objects.

use std::path::PathBuf;

use partita::MemoryBudget;
use partita::files::LabelFormat;
use partita_app::PredictionInput;

use crate::args::PredictArgs;
use crate::failure::Failure;
use crate::output::{Targets, check_outputs, print, print_labels, write_result};
use crate::streams::is_stream;
use crate::terminal::Terminal;

pub(crate) fn predict(args: &PredictArgs) -> Result<(), Failure> {
    let output = args.output.as_ref().filter(|path| !is_stream(path));
    output.map(|path| LabelFormat::of(path)).transpose()?;
    let inputs = [args.model.as_path(), &args.input];
    check_outputs(output.into_iter().chain(&args.soft), &inputs, args.force)?;
    let (model, input, read) = (args.model.clone(), args.input.clone(), args.read.options(MemoryBudget::default()));
    let request = PredictionInput { model, input, read, unknown: args.unknown.into() };
    let found = request.predict(&Terminal)?;
    let targets = Targets { labels: output.map(PathBuf::as_path), soft: args.soft.as_deref() };
    let names = found.object_names.as_deref();
    let numbers = [("certainty", &found.certainty[..])];
    write_result(&targets, names, &found.partition, &numbers, &found.soft)?;
    match output {
        _ if args.json => print(&request.to_json(&found)?),
        Some(_) => Ok(()),
        None => print_labels(names, (&found.partition, None), &numbers, args.read.file.format),
    }
}
