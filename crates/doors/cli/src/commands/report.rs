//! `partita report`: a page about a run, from its record and its result files.

use std::path::{Path, PathBuf};

use partita::files::write_as_one;
use partita_app::{RunFolder, SavedChoice, curves, figure_files, write_text};
use partita_report::Rendered;

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::output::{check_outputs, may_write, say};
use crate::terminal::Terminal;

pub(crate) fn report(args: &ReportArgs) -> Result<(), Failure> {
    let run = RunFolder::open(&args.run)?.with_page(args.page.options());
    let method = args.method.as_deref();
    let beside = run.page_of(method)?;
    let output = args.output.as_ref().unwrap_or(&beside);
    let inputs: Vec<PathBuf> = run.inputs(method)?;
    let read = inputs.iter().chain(&args.choice);
    // The page beside the labels is this command's own: drawing it again replaces it.
    check_outputs([output], read, args.force || args.output.is_none())?;
    let saved = args.choice.as_deref().map(SavedChoice::open).transpose()?;
    let choice = saved.map(|saved| curves(&saved.choice, run.objects()));
    let rendered = run.report(method, choice, &Terminal)?;
    let write = || -> Result<(), Failure> {
        write_text(output, &rendered.html)?;
        args.figures.as_deref().map_or(Ok(()), |folder| {
            write_figures(folder, &rendered, args.force)
        })
    };
    write_as_one(|| Ok(()), write)?;
    say(&format!("{} has the report", output.display()));
    Ok(())
}

fn write_figures(folder: &Path, rendered: &Rendered, force: bool) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::io(folder, "be made", error))?;
    let files = figure_files(folder, rendered);
    files
        .iter()
        .try_for_each(|(path, _)| may_write(path, force))?;
    files
        .iter()
        .try_for_each(|(path, text)| write_text(path, text))?;
    Ok(())
}
