//! `fuzz`: hostile input for every reader, saved file, setting and method, for as long as one likes. The checks run each target for 20 s.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::shell;
use crate::workspace::Workspace;

/// Flags of `cargo xtask fuzz`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// One target, such as parquet; all of them if not said, as many at once as there are processors.
    target: Option<String>,
    /// How long each target runs: 60s, 5m, 1h.
    #[arg(long = "for", default_value = "10s", value_parser = seconds)]
    seconds: u64,
    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Let libFuzzer choose mutations by the code that they reach: builds crates/dev/libfuzzer, which takes some minutes and a C++ compiler.
    #[arg(long)]
    coverage: bool,
}

fn seconds(text: &str) -> Result<u64, String> {
    let (number, unit) = text.split_at(
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    let factor = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(format!("'{text}' is not a time; write 60s, 5m or 1h")),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| format!("'{text}' is not a time; write 60s, 5m or 1h"))?;
    Ok(number.saturating_mul(factor))
}

/// Runs every target for as long as the checks have for it.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    run(
        workspace,
        &Arguments {
            target: None,
            seconds: 20,
            seed: 1,
            coverage: false,
        },
    )
}

/// Runs one target, or all.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    // With the whole workspace named, what the tests have built is used.
    shell::run(&mut workspace.cargo(["build", "--quiet", "--workspace", "--example", "fuzz"]))?;
    let target = workspace.metadata()?.target_directory;
    let example = target.join("debug/examples/fuzz");
    let folder = target.join("fuzz");
    if arguments.coverage {
        return coverage(workspace, arguments, &example, &folder);
    }
    let mut fuzz = Command::new(example);
    fuzz.args(&arguments.target).args([
        "--for",
        &arguments.seconds.to_string(),
        "--seed",
        &arguments.seed.to_string(),
    ]);
    shell::run(fuzz.arg("--into").arg(folder))
}

/// What makes code count the edges that it passes, as cargo-fuzz asks the compiler for; the stable one knows it too.
const COUNTED: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Ccodegen-units=1";

fn coverage(
    workspace: &Workspace,
    arguments: &Arguments,
    example: &Path,
    folder: &Path,
) -> Result<()> {
    const PLATFORM: &str = "x86_64-unknown-linux-gnu";
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        bail!("libFuzzer is run on {PLATFORM} alone; leave out --coverage");
    }
    let mut cargo = workspace.cargo([
        "build",
        "--quiet",
        "--target",
        PLATFORM,
        "--manifest-path",
        "crates/dev/libfuzzer/Cargo.toml",
    ]);
    cargo
        .arg("--target-dir")
        .arg(folder.join("build"))
        .env("RUSTFLAGS", COUNTED);
    shell::run(&mut cargo).context("libFuzzer needs a C++ compiler (package g++)")?;
    let binary = folder.join("build").join(PLATFORM).join("debug/any");
    let seeds = folder.join("seeds");
    shell::run(
        Command::new(example)
            .args(["--seeds", "--into"])
            .arg(&seeds),
    )?;
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(&seeds)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    names.retain(|name| arguments.target.as_ref().is_none_or(|asked| asked == name));
    for name in &names {
        let corpus = folder.join("corpus").join(name);
        fs::create_dir_all(&corpus)?;
        let mut fuzz = Command::new(&binary);
        fuzz.env("PARTITA_FUZZ_TARGET", name)
            .env("RAYON_NUM_THREADS", "1")
            .current_dir(folder);
        fuzz.args([
            "-timeout=2",
            "-rss_limit_mb=2048",
            "-max_len=16384",
            "-print_final_stats=1",
            "-verbosity=0",
        ]);
        fuzz.args([
            format!("-max_total_time={}", arguments.seconds),
            format!("-seed={}", arguments.seed),
        ]);
        fuzz.arg(format!("-artifact_prefix={name}-"))
            .arg(&corpus)
            .arg(seeds.join(name));
        println!("{name}, {} s", arguments.seconds);
        shell::run(&mut fuzz).with_context(|| format!("the input is in {}", folder.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(
            ["7", "60s", "2m", "1h"].map(|text| seconds(text).ok()),
            [Some(7), Some(60), Some(120), Some(3600)]
        );
        assert!(seconds("soon").is_err() && seconds("1d").is_err());
    }
}
