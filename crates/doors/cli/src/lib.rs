//! The command line of Partita: it parses flags, shows progress and prints; `partita-app` does the work.
//!
//! Pick the program, not this crate: it is a library so that the Python package has the same command line inside.

#[cfg(unix)]
mod aborted;
mod args;
mod commands;
mod compute;
mod failure;
mod output;
mod streams;
mod terminal;

use std::ffi::OsString;
use std::io::IsTerminal;

use clap::FromArgMatches;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets, filter_fn};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use args::{Cli, Command, DistributedCommand};
use failure::Failure;
use partita_app::phases::Phases;
use streams::StandardInput;

/// Does what the arguments say, of which the first is the name of the program, and gives the exit code. It is called once a process,
/// which it ends where help is asked for or an argument is wrong.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    #[cfg(unix)]
    aborted::leave_nothing();
    let matches = args::command().get_matches_from(args::keep_arguments(arguments));
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.format(&mut args::command()).exit(),
    };
    output::be_quiet(cli.quiet);
    start_log(cli.verbose);
    match obey(cli.command) {
        Ok(()) => 0,
        Err(failure) => {
            let (code, message) = failure.ending();
            message
                .iter()
                .for_each(|message| output::say_always(message));
            code
        }
    }
}

fn obey(mut command: Command) -> Result<(), Failure> {
    let _input = StandardInput::take(&mut command)?;
    match command {
        Command::Run(args) => commands::run(&args),
        Command::Text(args) => commands::text(&args),
        Command::Generate(args) => commands::generate(&args),
        Command::Merge(args) => commands::merge(&args),
        Command::Consensus(args) => commands::consensus(&args),
        Command::Update(args) => commands::update(&args),
        Command::Distributed(DistributedCommand::Plan(args)) | Command::Manifest(args) => {
            commands::plan(&args)
        }
        Command::Distributed(DistributedCommand::Run(args)) | Command::Pass(args) => {
            commands::run_parts(&args)
        }
        Command::Distributed(DistributedCommand::Merge(args)) | Command::Fold(args) => {
            commands::merge_parts(&args)
        }
        Command::ChooseK(args) => commands::choose_k(&args),
        Command::Modes(args) => commands::modes(&args),
        Command::Align(args) => commands::align(&args),
        Command::Evaluate(args) => commands::evaluate(&args),
        Command::Test(args) => commands::test(&args),
        Command::Report(args) => commands::report(&args),
        Command::Predict(args) => commands::predict(&args),
        Command::Methods(args) => commands::methods(&args),
        Command::Doctor(args) => commands::doctor(&args),
        Command::Synth(args) => commands::synth(&args),
        Command::Inspect(args) => commands::inspect(&args),
        Command::Completions { shell } => commands::completions(shell),
        Command::Man(args) => commands::man(&args),
    }
}

/// Steps go to stderr as they end, with the time that they took: as many as `-v` or `PARTITA_LOG` asks for. The time in
/// spans of ours is summed for records.
fn start_log(verbose: u8) {
    let asked = match verbose {
        0 => std::env::var("PARTITA_LOG").unwrap_or_default(),
        1 => "info".to_owned(),
        2 => "debug".to_owned(),
        _ => "trace".to_owned(),
    };
    let filter: Targets = asked.parse().unwrap_or_else(|error| {
        output::warn(&format!(
            "PARTITA_LOG={asked} is not understood ({error}); write info, debug or trace"
        ));
        Targets::new().with_default(LevelFilter::ERROR)
    });
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_span_events(FmtSpan::CLOSE)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_filter(filter);
    let ours = filter_fn(|meta| meta.is_span() && meta.target().starts_with("partita"));
    tracing_subscriber::registry()
        .with(lines)
        .with(Phases.with_filter(ours))
        .init();
}
