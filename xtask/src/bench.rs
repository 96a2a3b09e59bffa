//! `bench`: measurements with the command, the machine, the commit and the raw output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::peers::{self, Peers};
use crate::workspace::{Workspace, crate_name};
use crate::{markers, python, shell};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The benchmark; all are listed if none is named.
    name: Option<String>,
    /// Measure other people's programs in the same run: sets up a private Python environment under target/peers from
    /// the crate's peers/requirements.txt.
    #[arg(long)]
    peers: bool,
    /// Build without optimisations: to try a benchmark, not to measure. Its page is printed, not written.
    #[arg(long)]
    try_out: bool,
    /// Handed on to the benchmark, after `--`.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// A program of some crate that measures: an example, or a program in Python under `benchmarks/`. Examples of use are in the documentation.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Benchmark {
    /// What the program is called, without `bench_`.
    name: String,
    package: String,
    /// Its file, from the folder of its crate.
    file: String,
}

impl Benchmark {
    /// The benchmark of this file of a crate, if it is one.
    fn of(package: &str, folder: &str, file: &str) -> Option<Self> {
        let ending = if folder == "examples" { ".rs" } else { ".py" };
        let program = file.strip_suffix(ending)?;
        let name = program.strip_prefix("bench_").unwrap_or(program).to_owned();
        Some(Self {
            name,
            package: package.into(),
            file: format!("{folder}/{file}"),
        })
    }

    /// The example that it is, if it is not in Python.
    fn example(&self) -> Option<&str> {
        self.file.strip_prefix("examples/")?.strip_suffix(".rs")
    }
}

/// Runs one benchmark and writes its page, or lists them.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let benchmarks = discover(workspace.root())?;
    let Some(name) = &arguments.name else {
        for benchmark in &benchmarks {
            println!(
                "{:<16} crates/{}/{}",
                benchmark.name, benchmark.package, benchmark.file
            );
        }
        return Ok(());
    };
    let Some(benchmark) = benchmarks.iter().find(|benchmark| benchmark.name == *name) else {
        let names: Vec<&str> = benchmarks
            .iter()
            .map(|benchmark| benchmark.name.as_str())
            .collect();
        bail!(
            "there is no benchmark '{name}'; there are: {}",
            names.join(", ")
        );
    };
    let with_peers = arguments.peers || benchmark.example().is_none();
    let peers = if with_peers {
        Some(peers::set_up(workspace, name, &benchmark.package)?)
    } else {
        None
    };
    let raw = measured(workspace, benchmark, peers.as_ref(), arguments)?;
    if !arguments.try_out {
        println!(
            "written: {}",
            write_page(workspace, name, peers.as_ref(), arguments, &raw)?
        );
    }
    Ok(())
}

/// Benchmarks by name.
fn discover(root: &Path) -> Result<Vec<Benchmark>> {
    let mut benchmarks = Vec::new();
    for package in packages(root).context("cannot read crates/")? {
        let place = package.strip_prefix(root.join("crates"))?;
        let name = place.to_string_lossy().replace('\\', "/");
        for folder in ["examples", "benchmarks"] {
            // Most crates have neither.
            let Ok(files) = fs::read_dir(package.join(folder)) else {
                continue;
            };
            for file in files {
                benchmarks.extend(Benchmark::of(
                    &name,
                    folder,
                    &file?.file_name().to_string_lossy(),
                ));
            }
        }
    }
    benchmarks.sort();
    Ok(benchmarks)
}

/// The folders of all crates.
fn packages(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut packages = Vec::new();
    for layer in fs::read_dir(root.join("crates"))? {
        for package in fs::read_dir(layer?.path())? {
            packages.push(package?.path());
        }
    }
    Ok(packages)
}

/// What a benchmark prints.
fn measured(
    workspace: &Workspace,
    benchmark: &Benchmark,
    peers: Option<&Peers>,
    arguments: &Arguments,
) -> Result<String> {
    let optimised = !arguments.try_out;
    let mut program = match (benchmark.example(), peers) {
        (None, Some(peers)) => {
            let mut python = python::for_benchmark(workspace, peers, optimised)?;
            python.arg(workspace.path(&format!("crates/{}/{}", benchmark.package, benchmark.file)));
            python
        }
        (example, peers) => {
            let mut cargo = workspace.cargo([
                "run",
                "--package",
                &crate_name(&benchmark.package),
                "--example",
            ]);
            cargo
                .args(example)
                .args(optimised.then_some("--release"))
                .arg("--");
            if let Some(peers) = peers {
                cargo
                    .env("PARTITA_PEERS_PYTHON", &peers.python)
                    .env("PARTITA_PEERS_SCRIPT", &peers.script);
            }
            cargo
        }
    };
    shell::tee(program.args(&arguments.rest))
}

/// Writes what was measured into the page of a benchmark; what people wrote around it stays.
fn write_page(
    workspace: &Workspace,
    name: &str,
    peers: Option<&Peers>,
    arguments: &Arguments,
    raw: &str,
) -> Result<String> {
    let rest = &arguments.rest;
    let words = ["cargo", "xtask", "bench", name]
        .into_iter()
        .chain(arguments.peers.then_some("--peers"));
    let words = words.chain((!rest.is_empty()).then_some("--"));
    let command = words
        .chain(rest.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ");
    let versions = peers.map_or_else(String::new, |peers| format!("\npeers: {}", peers.versions));
    let machine = machine(workspace)? + &versions;
    let measured = format!("```text\n$ {command}\n{machine}\n\n{}\n```", raw.trim_end());

    let file = format!("docs/benchmarks/{name}.md");
    let path = workspace.path(&file);
    let fresh = format!("# Benchmark `{name}`\n\n<!-- measured:begin -->\n<!-- measured:end -->\n");
    let text = fs::read_to_string(&path).unwrap_or(fresh);
    let text =
        markers::replace(&text, "measured", &measured).with_context(|| format!("in {file}"))?;
    fs::create_dir_all(workspace.path("docs/benchmarks")).context("cannot make docs/benchmarks")?;
    fs::write(&path, text).with_context(|| format!("cannot write {file}"))?;
    Ok(file)
}

/// Processor, cores, compiler and commit, a line each.
fn machine(workspace: &Workspace) -> Result<String> {
    let git = |arguments: &[&str]| {
        shell::output(
            Command::new("git")
                .current_dir(workspace.root())
                .args(arguments),
        )
    };
    let processor = fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| processor(&text));
    let cores =
        thread::available_parallelism().map_or_else(|_| "?".to_owned(), |cores| cores.to_string());
    let compiler = shell::output(
        Command::new("rustc")
            .current_dir(workspace.root())
            .arg("--version"),
    )?;
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes = if git(&["status", "--porcelain"])?.is_empty() {
        ""
    } else {
        " and changes that are not committed"
    };
    let processor = processor.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    Ok(format!(
        "{processor}, {cores} cores; {}; commit {}{changes}",
        compiler.trim(),
        commit.trim()
    ))
}

fn processor(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo
        .lines()
        .find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benchmarks_are_the_examples_of_the_crates() {
        let folder = tempfile::tempdir().unwrap();
        let examples = folder.path().join("crates/methods/pcc/examples");
        fs::create_dir_all(&examples).unwrap();
        fs::create_dir_all(folder.path().join("crates/base/core/src")).unwrap();
        fs::write(examples.join("bench_pcc.rs"), "").unwrap();
        fs::write(examples.join("starts.rs"), "").unwrap();
        fs::write(examples.join("notes.txt"), "").unwrap();
        let programs = folder.path().join("crates/doors/python/benchmarks");
        fs::create_dir_all(&programs).unwrap();
        fs::write(programs.join("bench_python.py"), "").unwrap();
        let benchmark = |name: &str, package: &str, file: &str| Benchmark {
            name: name.into(),
            package: package.into(),
            file: file.into(),
        };
        let found = discover(folder.path()).unwrap();
        let python = benchmark("python", "doors/python", "benchmarks/bench_python.py");
        let [pcc, starts] = [("pcc", "bench_pcc"), ("starts", "starts")].map(|(name, example)| {
            benchmark(name, "methods/pcc", &format!("examples/{example}.rs"))
        });
        assert_eq!(pcc.example(), Some("bench_pcc"));
        assert_eq!(python.example(), None);
        assert_eq!(found, [pcc, python, starts]);
    }

    #[test]
    fn the_processor_is_named() {
        assert_eq!(
            processor("processor\t: 0\nmodel name\t: Abacus 3\n"),
            Some("Abacus 3".into())
        );
        assert_eq!(processor(""), None);
    }
}
