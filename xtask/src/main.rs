//! `cargo xtask`: what is done to the workspace as a whole. One file a command; this one only dispatches.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line talks to whoever called it"
)]
#![forbid(unsafe_code)]

mod bench;
mod checks;
mod datasets;
mod demo;
mod docs;
mod faults;
mod features;
mod fuzz;
mod new;
mod python;
mod r;
mod release;
mod reproduce;
mod shell;
mod test;
mod tidy;
mod tools;
mod web;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// Everything that is done to the workspace as a whole.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check that Rust, a C compiler and git are there, and build the binary.
    Setup,
    /// Build the binary and run the main job on datasets/digits.csv.
    Demo,
    /// Format, lints, documents, tidy, all tests, the demo; stops at the first step that fails. `--all` adds what is rare.
    Test(test::Arguments),
    /// `test --all` where data that a test asks for must be there.
    Ci,
    /// Check what the compiler does not: layers, words, documents, layout, licences.
    Tidy,
    /// Compile every feature of the façade alone, and look at what small crates bring.
    Features,
    /// Measure: run a crate's example benchmark and write docs/benchmarks/NAME.md.
    Bench(bench::Arguments),
    /// Build the Python package as a wheel, install it into an environment under the target folder, and test it there.
    Python(python::Arguments),
    /// Build the R package, install it into a library under the target folder, and test it there.
    R(r::Arguments),
    /// Build what people install into target/dist, install it where nothing else is, and try it.
    Release(release::Arguments),
    /// Build the page that clusters in a browser, target/web/partita.html.
    Web,
    /// Measure the papers' tables anew into docs/reproduction; `list` lists them, `--help` says more.
    Reproduce(reproduce::Arguments),
    /// List, verify or fetch data sets.
    Datasets(datasets::Arguments),
    /// Write the generated parts of the documents.
    Docs(docs::Arguments),
    /// Give every reader, saved file, setting and method hostile input by libFuzzer; the tests do so briefly without it.
    Fuzz(fuzz::Arguments),
    /// Kill every command at a hundred moments, fill the disk, and write what was seen to docs/reliability.md.
    Faults(faults::Arguments),
    /// Start a consensus method: its file, its test, its line in the registry.
    New(new::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = Workspace::find().and_then(|workspace| match &arguments.command {
        Command::Setup => tools::setup(&workspace),
        Command::Demo => demo::run(&workspace),
        Command::Test(arguments) => test::run(&workspace, arguments),
        Command::Ci => test::ci(&workspace),
        Command::Features => features::run(&workspace),
        Command::Tidy => tidy::run(&workspace),
        Command::Bench(arguments) => bench::run(&workspace, arguments),
        Command::Python(arguments) => python::run(&workspace, arguments),
        Command::R(arguments) => r::run(&workspace, arguments),
        Command::Release(arguments) => release::run(&workspace, arguments),
        Command::Web => web::run(&workspace),
        Command::Reproduce(arguments) => reproduce::run(&workspace, arguments),
        Command::Datasets(arguments) => datasets::run(&workspace, arguments),
        Command::Docs(arguments) => docs::run(&workspace, arguments),
        Command::Fuzz(arguments) => fuzz::run(&workspace, arguments),
        Command::Faults(arguments) => faults::run(&workspace, arguments),
        Command::New(arguments) => new::run(&workspace, arguments),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What hosted workflows run beside `cargo xtask`.
    const OTHERS: [&str; 9] = [
        "cargo cyclonedx ",
        "cargo deny ",
        "cargo hack ",
        "cargo publish ",
        "cargo test ",
        "gh release create ",
        "rustup target add ",
        "sudo apt-get install ",
        "test -z \"$(git tag)\" || cargo semver-checks ",
    ];

    #[test]
    fn hosted_workflows_run_commands_that_exist() {
        let workspace = Workspace::find().unwrap();
        let mut ours = 0;
        for entry in workspace.path(".github/workflows").read_dir().unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let lines = text
                .lines()
                .map(|line| line.trim().trim_start_matches("- "));
            for line in lines.filter_map(|line| line.strip_prefix("run: ")) {
                let line = line.strip_prefix("env -u CI ").unwrap_or(line);
                let known = OTHERS.iter().any(|other| line.starts_with(other));
                if !known {
                    let words = line.strip_prefix("cargo ").unwrap_or(line);
                    let words = words.replace("${{ ", "").replace(" }}", "");
                    if let Err(error) = Arguments::try_parse_from(words.split_whitespace()) {
                        panic!("{line}: {error}");
                    }
                    ours += 1;
                }
            }
        }
        assert!(ours > 5, "{ours} lines");
    }
}
