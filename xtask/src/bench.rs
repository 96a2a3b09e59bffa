//! `bench`: measurements with the command, the machine, the commit and the raw output.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::peers::{self, Peers};
use crate::workspace::Workspace;
use crate::{markers, shell};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The benchmark; all are listed if none is named.
    name: Option<String>,
    /// Measure other people's programs in the same run: sets up a private Python environment under target/peers from
    /// the crate's peers/requirements.txt.
    #[arg(long)]
    peers: bool,
    /// Handed on to the benchmark, after `--`.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// An example of some crate: here they are programs that measure; examples of use are in the documentation.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Benchmark {
    /// What the example is called, without `bench_`.
    name: String,
    package: String,
    example: String,
}

/// Runs one benchmark and writes its page, or lists them.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let benchmarks = discover(workspace.root())?;
    let Some(name) = &arguments.name else {
        for benchmark in &benchmarks {
            println!("{:<16} crates/{}/examples/{}.rs", benchmark.name, benchmark.package, benchmark.example);
        }
        return Ok(());
    };
    let Some(benchmark) = benchmarks.iter().find(|benchmark| benchmark.name == *name) else {
        let names: Vec<&str> = benchmarks.iter().map(|benchmark| benchmark.name.as_str()).collect();
        bail!("there is no benchmark '{name}'; there are: {}", names.join(", "));
    };
    let peers = if arguments.peers { Some(peers::set_up(workspace, name, &benchmark.package)?) } else { None };
    let page = measure(workspace, benchmark, peers.as_ref(), &arguments.rest)?;
    println!("written: {page}");
    Ok(())
}

/// Benchmarks by name.
fn discover(root: &Path) -> Result<Vec<Benchmark>> {
    let mut benchmarks = Vec::new();
    for package in fs::read_dir(root.join("crates")).context("cannot read crates/")? {
        let package = package?;
        // Most crates have no examples.
        let Ok(examples) = fs::read_dir(package.path().join("examples")) else { continue };
        for example in examples {
            let file = example?.file_name().to_string_lossy().into_owned();
            if let Some(example) = file.strip_suffix(".rs") {
                let name = example.strip_prefix("bench_").unwrap_or(example).to_owned();
                let package = package.file_name().to_string_lossy().into_owned();
                benchmarks.push(Benchmark { name, package, example: example.into() });
            }
        }
    }
    benchmarks.sort();
    Ok(benchmarks)
}

/// Runs a benchmark and writes its page; what people wrote around the measured part stays.
fn measure(workspace: &Workspace, benchmark: &Benchmark, peers: Option<&Peers>, rest: &[String]) -> Result<String> {
    let Benchmark { name, package, example } = benchmark;
    let mut cargo = workspace.cargo(["run", "--release", "--package", package, "--example", example, "--"]);
    if let Some(peers) = peers {
        cargo.env("PARTITA_PEERS_PYTHON", &peers.python).env("PARTITA_PEERS_SCRIPT", &peers.script);
    }
    let raw = shell::tee(cargo.args(rest))?;
    let words = ["cargo", "xtask", "bench", name].into_iter().chain(peers.map(|_| "--peers"));
    let words = words.chain((!rest.is_empty()).then_some("--"));
    let command = words.chain(rest.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    let versions = peers.map_or_else(String::new, |peers| format!("\npeers: {}", peers.versions));
    let machine = machine(workspace)? + &versions;
    let measured = format!("```text\n$ {command}\n{machine}\n\n{}\n```", raw.trim_end());

    let file = format!("docs/benchmarks/{name}.md");
    let path = workspace.path(&file);
    let fresh = format!("# Benchmark `{name}`\n\n<!-- measured:begin -->\n<!-- measured:end -->\n");
    let text = fs::read_to_string(&path).unwrap_or(fresh);
    let text = markers::replace(&text, "measured", &measured).with_context(|| format!("in {file}"))?;
    fs::create_dir_all(workspace.path("docs/benchmarks")).context("cannot make docs/benchmarks")?;
    fs::write(&path, text).with_context(|| format!("cannot write {file}"))?;
    Ok(file)
}

/// Processor, cores, compiler and commit, a line each.
fn machine(workspace: &Workspace) -> Result<String> {
    let git = |arguments: &[&str]| shell::output(Command::new("git").current_dir(workspace.root()).args(arguments));
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| processor(&text));
    let cores = thread::available_parallelism().map_or_else(|_| "?".to_owned(), |cores| cores.to_string());
    let compiler = shell::output(Command::new("rustc").current_dir(workspace.root()).arg("--version"))?;
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes = if git(&["status", "--porcelain"])?.is_empty() { "" } else { " and changes that are not committed" };
    let processor = processor.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    Ok(format!("{processor}, {cores} cores; {}; commit {}{changes}", compiler.trim(), commit.trim()))
}

fn processor(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benchmarks_are_the_examples_of_the_crates() {
        let folder = tempfile::tempdir().unwrap();
        let examples = folder.path().join("crates/partita-pcc/examples");
        fs::create_dir_all(&examples).unwrap();
        fs::create_dir_all(folder.path().join("crates/partita-core/src")).unwrap();
        fs::write(examples.join("bench_pcc.rs"), "").unwrap();
        fs::write(examples.join("starts.rs"), "").unwrap();
        fs::write(examples.join("notes.txt"), "").unwrap();
        let benchmark = |name: &str, example: &str| Benchmark {
            name: name.into(),
            package: "partita-pcc".into(),
            example: example.into(),
        };
        assert_eq!(discover(folder.path()).unwrap(), [benchmark("pcc", "bench_pcc"), benchmark("starts", "starts")]);
    }

    #[test]
    fn the_processor_is_named() {
        assert_eq!(processor("processor\t: 0\nmodel name\t: Abacus 3\n"), Some("Abacus 3".into()));
        assert_eq!(processor(""), None);
    }
}
