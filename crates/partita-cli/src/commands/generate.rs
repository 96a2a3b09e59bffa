//! `partita generate`: a table in, an ensemble out.

use partita::files;
use serde_json::json;

use super::common::{Compute, read_table, recipe, unless_interrupted};
use crate::args::GenerateArgs;
use crate::failure::Failure;
use crate::output::{may_write, print_json, say};
use crate::record::{Stopwatch, VERSION};

pub(crate) fn generate(args: &GenerateArgs) -> Result<(), Failure> {
    may_write(&args.output, args.force)?;
    let compute = Compute::start(&args.compute)?;
    let table = read_table(&args.table)?;
    let recipe = recipe(&args.recipe);
    let watch = Stopwatch::start();
    let made = compute.generate(&table, &recipe)?;
    files::write_ensemble(&args.output, &made.ensemble, table.label.as_ref())?;
    let (finished, asked, path) = (made.finished, made.asked, args.output.display());
    unless_interrupted(|| format!("{finished} of {asked} base clusterings are in {path}"))?;
    say(&format!("{finished} base clusterings of {} objects are in {path}", made.ensemble.objects()));
    if args.json {
        print_json(&json!({
            "n": made.ensemble.objects(),
            "base_clusterings": finished,
            "seed": args.compute.seed,
            "recipe": recipe,
            "spent": watch.read(),
            "version": VERSION,
        }))?;
    }
    Ok(())
}
