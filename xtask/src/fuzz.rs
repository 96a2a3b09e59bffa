//! `fuzz`: hostile input for every reader, saved file, setting and method by libFuzzer, which follows the code that an input reaches.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use crate::shell;
use crate::tools::CPP;
use crate::workspace::Workspace;

/// Flags of `cargo xtask fuzz`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// One target, such as parquet; all of them if not said.
    target: Option<String>,
    /// How long each target runs: 60s, 5m, 1h.
    #[arg(long = "for", default_value = "10s", value_parser = seconds)]
    seconds: u64,
    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn seconds(text: &str) -> Result<u64, String> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let factor = match unit {
        "" | "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let number: Option<u64> = text.trim_end_matches(unit).parse().ok();
    let time = number
        .zip(factor)
        .map(|(number, factor)| number.saturating_mul(factor));
    time.ok_or_else(|| format!("'{text}' is not a time; write 60s, 5m or 1h"))
}

/// The only platform that libFuzzer is run on.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// What makes code count the edges that it passes, as cargo-fuzz asks the compiler for; the stable one knows it too.
const COUNTED: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Ccodegen-units=1";

/// Runs every target for as long as the checks have for it, where it can be built.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let here = cfg!(all(target_arch = "x86_64", target_os = "linux"));
    if !here || !CPP.provided("libFuzzer")? {
        return Ok(());
    }
    let arguments = Arguments {
        target: None,
        seconds: 5,
        seed: 1,
    };
    run(workspace, &arguments)
}

/// Runs one target, or all. What fails is written to `target/fuzz`.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let folder = workspace.target("fuzz")?;
    let words = format!(
        "build --quiet --target {PLATFORM} --manifest-path crates/dev/fuzz/fuzz/Cargo.toml"
    );
    let mut cargo = workspace.cargo(&words);
    cargo.arg("--target-dir").arg(folder.join("build"));
    shell::run(cargo.env("RUSTFLAGS", COUNTED))
        .with_context(|| format!("libFuzzer needs {PLATFORM} and a C++ compiler (package g++)"))?;
    let any = || {
        let mut any = Command::new(folder.join("build").join(PLATFORM).join("debug/any"));
        any.current_dir(&folder).env("RAYON_NUM_THREADS", "1");
        any
    };
    let names = shell::output(any().env("PARTITA_FUZZ_TARGET", "list"))?;
    let asked = |name: &&str| arguments.target.as_ref().is_none_or(|asked| asked == name);
    let names: Vec<&str> = names.lines().filter(asked).collect();
    let first = names.first().context("there is no target of this name")?;
    println!(
        "{} targets from {first} on, {} s each",
        names.len(),
        arguments.seconds
    );
    for name in names {
        let [corpus, inputs] = ["corpus", "inputs"].map(|kind| folder.join(kind).join(name));
        fs::create_dir_all(&corpus)?;
        let mut fuzz = any();
        fuzz.env("PARTITA_FUZZ_TARGET", name)
            .env("PARTITA_FUZZ_INPUTS", &inputs)
            .args(
                "-timeout=2 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 -verbosity=0"
                    .split(' '),
            )
            .arg(format!("-max_total_time={}", arguments.seconds))
            .arg(format!("-seed={}", arguments.seed))
            .arg(format!("-artifact_prefix={name}-"));
        println!("{name}");
        fs::create_dir_all(&inputs)?;
        shell::run(fuzz.arg(&corpus).arg(&inputs))
            .with_context(|| format!("the input is in {}", folder.display()))?;
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
        assert!(seconds("soon").is_err() && seconds("1d").is_err() && seconds("").is_err());
    }
}
