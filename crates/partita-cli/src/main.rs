//! The command line of Partita: it parses flags, shows progress and prints; `partita-app` does the work.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod compute;
mod failure;
mod output;
mod terminal;

use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use args::{Cli, Command};
use failure::Failure;
use partita_app::phases::Phases;

fn main() -> ExitCode {
    let cli = Cli::parse();
    start_log();
    match run(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let (code, message) = failure.ending();
            message.iter().for_each(|message| output::say(message));
            ExitCode::from(code)
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(args) => commands::run(&args),
        Command::Text(args) => commands::text(&args),
        Command::Generate(args) => commands::generate(&args),
        Command::Merge(args) => commands::merge(&args),
        Command::Consensus(args) => commands::consensus(&args),
        Command::ChooseK(args) => commands::choose_k(&args),
        Command::Evaluate(args) => commands::evaluate(&args),
        Command::Report(args) => commands::report(&args),
        Command::Predict(args) => commands::predict(&args),
        Command::Methods(args) => commands::methods(&args),
        Command::Synth(args) => commands::synth(&args),
        Command::Inspect(args) => commands::inspect(&args),
        Command::Completions { shell } => commands::completions(shell),
        Command::Man => commands::man(),
    }
}

/// Spans and events go to stderr, as much as `PARTITA_LOG` asks for; the time in spans of ours is summed for records.
fn start_log() {
    let filter = EnvFilter::try_from_env("PARTITA_LOG").unwrap_or_else(|_| "warn".into());
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_filter(filter);
    let ours = filter_fn(|meta| meta.is_span() && meta.target().starts_with("partita"));
    tracing_subscriber::registry().with(lines).with(Phases.with_filter(ours)).init();
}
