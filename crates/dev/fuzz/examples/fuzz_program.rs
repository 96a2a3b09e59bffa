//! `fuzz_program PROGRAM`: asks a program, of whatever version, for many small consensuses with settings from anywhere in their ranges,
//! and says where it was aborted, panicked or hung.
#![expect(
    clippy::print_stdout,
    reason = "a command line talks to whoever called it"
)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use partita::Seed;
use partita_fuzz::CommandLine;
use rand::Rng;

#[derive(Parser)]
struct Arguments {
    /// The program, such as target/release/partita of an old commit.
    program: PathBuf,
    /// How many consensuses are asked for.
    #[arg(long, default_value_t = 5000)]
    executions: u64,
    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seconds after which a run hangs.
    #[arg(long, default_value_t = 10)]
    patience: u64,
}

/// What became of one run: nothing to say, or what went wrong.
fn run(
    arguments: &Arguments,
    line: &CommandLine,
    folder: &Path,
) -> std::io::Result<Option<String>> {
    let (labels, errors) = (folder.join("labels.csv"), folder.join("errors"));
    fs::write(&labels, &line.labels)?;
    let mut command = Command::new(&arguments.program);
    command.arg("consensus").arg(&labels).args([
        "-m",
        line.method,
        "-k",
        &line.clusters.to_string(),
        "--force",
        "-o",
    ]);
    command.arg(folder.join("out.csv"));
    line.settings
        .iter()
        .for_each(|setting| _ = command.arg("--set").arg(setting));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&errors)?)
        .spawn()?;
    let end = Instant::now() + Duration::from_secs(arguments.patience);
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() > end => {
                child.kill()?;
                child.wait()?;
                return Ok(Some(format!(
                    "{}: no end after {} s",
                    line.method, arguments.patience
                )));
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    if matches!(status.code(), Some(0..=2)) {
        return Ok(None);
    }
    let said = String::from_utf8_lossy(&fs::read(&errors)?).into_owned();
    let place = said
        .lines()
        .find_map(|text| text.split_once("panicked at "))
        .map_or("no panic", |(_, place)| place);
    Ok(Some(format!(
        "{}: {status}, {}",
        line.method,
        place.trim_end_matches(':')
    )))
}

fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let mut rng = Seed::new(arguments.seed).rng();
    let mut found: BTreeMap<String, (u64, CommandLine)> = BTreeMap::new();
    for _ in 0..arguments.executions {
        let mut bytes = [0; 400];
        rng.fill_bytes(&mut bytes);
        let Some(line) = CommandLine::of(&bytes) else {
            continue;
        };
        if let Some(what) = run(&arguments, &line, folder.path())? {
            found.entry(what).or_insert((0, line)).0 += 1;
        }
    }
    for (what, (count, line)) in &found {
        println!(
            "{count} × {what}; such as -k {} {}",
            line.clusters,
            line.settings.join(" ")
        );
    }
    println!(
        "{} executions asked for, {} faults",
        arguments.executions,
        found.len()
    );
    Ok(())
}
