//! `partita completions` and `partita man`.

use std::path::{Path, PathBuf};

use clap::Command;

use crate::args::{ManArgs, command as whole};
use crate::failure::Failure;
use crate::output::{self, check_outputs, say};

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut whole(), "partita", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}

pub(crate) fn man(args: &ManArgs) -> Result<(), Failure> {
    let mut all = whole();
    // Names commands as they are typed, and gives them the flags of all commands.
    all.build();
    if let Some(folder) = &args.output {
        return write_pages(&all, folder, args.force);
    }
    let command = match &args.command {
        None => &all,
        Some(name) => all
            .find_subcommand(name)
            .ok_or_else(|| unknown(&all, name))?,
    };
    output::print(&String::from_utf8_lossy(&page(command)?))
}

fn unknown(all: &Command, name: &str) -> Failure {
    let known: Vec<&str> = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(Command::get_name)
        .collect();
    Failure::input(format!(
        "'{name}' is not a command; there are {}",
        known.join(", ")
    ))
}

/// A page for the program and one for every command, called as `man` looks for them.
fn write_pages(all: &Command, folder: &Path, force: bool) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::io(folder, "be made", error))?;
    let file = |command: &Command| folder.join(format!("{}.1", command_name(command)));
    let commands = shown(all);
    let files: Vec<PathBuf> = commands.iter().map(|command| file(command)).collect();
    check_outputs(&files, None::<&Path>, force)?;
    for command in &commands {
        partita::files::write_whole(&file(command), |out| render(command, out))?;
    }
    say(&format!(
        "{} pages are in {}",
        commands.len(),
        folder.display()
    ));
    Ok(())
}

/// A command and those below it, without those that are not shown.
fn shown(command: &Command) -> Vec<&Command> {
    let below = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set() && command.get_name() != "help");
    std::iter::once(command)
        .chain(below.flat_map(shown))
        .collect()
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    render(command, &mut text).map_err(output::failed)?;
    Ok(text)
}

fn render(command: &Command, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let title = command_name(command);
    let mut out = out;
    clap_mangen::Man::new(command.clone())
        .title(title)
        .render(&mut out)
}

/// `partita` or `partita-run`.
fn command_name(command: &Command) -> String {
    command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
        .to_owned()
}
