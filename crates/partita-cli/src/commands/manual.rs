//! `partita completions` and `partita man`.

use std::path::Path;

use clap::CommandFactory;

use crate::args::Cli;
use crate::failure::Failure;
use crate::output;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "partita", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}

pub(crate) fn man() -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Cli::command())
        .render(&mut text)
        .map_err(|error| Failure::io(Path::new("stdout"), "be written", error))?;
    output::print(&String::from_utf8_lossy(&text))
}
