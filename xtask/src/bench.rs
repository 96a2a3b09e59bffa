//! `bench`: measurements with the command, the machine, the commit and the raw output.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result};
use clap::Args;

use crate::workspace::{Workspace, crate_name};
use crate::{docs, python, r, shell};

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

/// A program of some crate that measures: an example, or a program in Python or R under `benchmarks/`. Examples of use are in the documentation.
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
        let endings: &[&str] = if folder == "examples" {
            &[".rs"]
        } else {
            &[".py", ".R"]
        };
        let program = endings
            .iter()
            .find_map(|ending| file.strip_suffix(ending))?;
        let name = program.strip_prefix("bench_").unwrap_or(program).to_owned();
        Some(Self {
            name,
            package: package.into(),
            file: format!("{folder}/{file}"),
        })
    }

    /// The example that it is, if it is not in Python or R.
    fn example(&self) -> Option<&str> {
        self.file.strip_prefix("examples/")?.strip_suffix(".rs")
    }

    fn is_python(&self) -> bool {
        self.file.strip_suffix(".py").is_some()
    }
}

/// The programs of others that a benchmark runs beside ours, in a private Python environment.
struct Peers {
    python: PathBuf,
    script: PathBuf,
    /// The packages with their versions.
    versions: Vec<String>,
}

impl Peers {
    /// Makes the environment of a benchmark in `target/peers`, unless it is there with the same packages.
    fn set_up(workspace: &Workspace, benchmark: &Benchmark) -> Result<Self> {
        let Benchmark { name, package, .. } = benchmark;
        let folder = workspace.path(&format!("crates/{package}/peers"));
        let requirements = folder.join("requirements.txt");
        let wanted = fs::read_to_string(&requirements).with_context(|| {
            let file = requirements.display();
            format!("benchmark '{name}' has no peers: cannot read {file}")
        })?;
        let lines = wanted.lines().map(str::trim);
        let versions: Vec<String> = lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(str::to_owned)
            .collect();
        let place = workspace.target("peers")?.join(package);
        python::made(&place, "python3", &versions.join(" "))
            .context("peers need python3 with its module venv")?;
        println!("the peers are set up in {}", place.display());
        Ok(Self {
            python: place.join("bin/python"),
            script: folder.join(format!("{name}.py")),
            versions,
        })
    }
}

/// Runs one benchmark and writes its page, or lists them.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let benchmarks = discover(workspace.root())?;
    let Some(name) = &arguments.name else {
        for one in &benchmarks {
            println!("{:<16} crates/{}/{}", one.name, one.package, one.file);
        }
        return Ok(());
    };
    let named = benchmarks.iter().find(|benchmark| benchmark.name == *name);
    let benchmark = named.with_context(|| {
        let names: Vec<&str> = benchmarks.iter().map(|other| &*other.name).collect();
        format!(
            "there is no benchmark '{name}'; there are: {}",
            names.join(", ")
        )
    })?;
    let with_peers = arguments.peers || benchmark.is_python();
    let peers = with_peers
        .then(|| Peers::set_up(workspace, benchmark))
        .transpose()?;
    let raw = measured(workspace, benchmark, peers.as_ref(), arguments)?;
    if !arguments.try_out {
        let page = write_page(workspace, name, peers.as_ref(), arguments, &raw)?;
        println!("written: {page}");
    }
    Ok(())
}

/// Benchmarks by name.
fn discover(root: &Path) -> Result<Vec<Benchmark>> {
    let crates = root.join("crates");
    let mut benchmarks = Vec::new();
    for layer in fs::read_dir(&crates).context("cannot read crates/")? {
        for package in fs::read_dir(layer?.path())? {
            let package = package?.path();
            let place = package.strip_prefix(&crates)?;
            let name = place.to_string_lossy().replace('\\', "/");
            for folder in ["examples", "benchmarks"] {
                // Most crates have neither.
                for file in fs::read_dir(package.join(folder)).into_iter().flatten() {
                    let file = file?.file_name();
                    benchmarks.extend(Benchmark::of(&name, folder, &file.to_string_lossy()));
                }
            }
        }
    }
    benchmarks.sort();
    Ok(benchmarks)
}

/// What a benchmark prints.
fn measured(
    workspace: &Workspace,
    benchmark: &Benchmark,
    peers: Option<&Peers>,
    arguments: &Arguments,
) -> Result<String> {
    let optimised = !arguments.try_out;
    let Benchmark { package, file, .. } = benchmark;
    let mut program = match (benchmark.example(), peers) {
        (None, Some(peers)) => {
            let mut python = python::for_benchmark(workspace, &peers.python, optimised)?;
            python.arg(workspace.path(&format!("crates/{package}/{file}")));
            python
        }
        (None, None) => {
            let mut r = r::for_benchmark(workspace, optimised)?;
            r.arg(workspace.path(&format!("crates/{package}/{file}")));
            r
        }
        (example, peers) => {
            let words = format!("run --package {} --example", crate_name(package));
            let mut cargo = workspace.cargo(&words);
            cargo.args(example).args(optimised.then_some("--release"));
            if let Some(peers) = peers {
                cargo.env("PARTITA_PEERS_PYTHON", &peers.python);
                cargo.env("PARTITA_PEERS_SCRIPT", &peers.script);
            }
            cargo.arg("--");
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
    let mut command = format!("cargo xtask bench {name}");
    if arguments.peers {
        command += " --peers";
    }
    if !arguments.rest.is_empty() {
        command += &format!(" -- {}", arguments.rest.join(" "));
    }
    let versions = peers.map_or_else(String::new, |peers| {
        format!("\npeers: {}", peers.versions.join(", "))
    });
    let machine = machine(workspace)? + &versions;
    let measured = format!("```text\n$ {command}\n{machine}\n\n{}\n```", raw.trim_end());

    let file = format!("docs/benchmarks/{name}.md");
    let path = workspace.path(&file);
    let fresh = format!("# Benchmark `{name}`\n\n<!-- measured:begin -->\n<!-- measured:end -->\n");
    let text = fs::read_to_string(&path).unwrap_or(fresh);
    let text = docs::replace(&text, "measured", &measured).with_context(|| format!("in {file}"))?;
    fs::create_dir_all(workspace.path("docs/benchmarks")).context("cannot make docs/benchmarks")?;
    fs::write(&path, text).with_context(|| format!("cannot write {file}"))?;
    Ok(file)
}

/// Processor, cores, compiler and commit.
fn machine(workspace: &Workspace) -> Result<String> {
    let output = |words: &str| shell::output(&mut workspace.command(words));
    let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor(&information).unwrap_or(std::env::consts::ARCH);
    let cores = thread::available_parallelism().map_or("?".to_owned(), |cores| cores.to_string());
    let compiler = output("rustc --version")?;
    let commit = output("git rev-parse --short=12 HEAD")?;
    let changes = if output("git status --porcelain")?.is_empty() {
        ""
    } else {
        " and changes that are not committed"
    };
    let compiler = compiler.trim();
    let commit = commit.trim();
    Ok(format!(
        "{processor}, {cores} cores; {compiler}; commit {commit}{changes}"
    ))
}

fn processor(information: &str) -> Option<&str> {
    let mut lines = information.lines();
    let line = lines.find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim())
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
        fs::write(programs.join("bench_r.R"), "").unwrap();
        let benchmark = |name: &str, package: &str, file: &str| Benchmark {
            name: name.into(),
            package: package.into(),
            file: file.into(),
        };
        let found = discover(folder.path()).unwrap();
        let python = benchmark("python", "doors/python", "benchmarks/bench_python.py");
        let r = benchmark("r", "doors/python", "benchmarks/bench_r.R");
        let [pcc, starts] = [("pcc", "bench_pcc"), ("starts", "starts")].map(|(name, example)| {
            benchmark(name, "methods/pcc", &format!("examples/{example}.rs"))
        });
        assert_eq!(pcc.example(), Some("bench_pcc"));
        assert_eq!(python.example(), None);
        assert!(python.is_python() && !r.is_python());
        assert_eq!(found, [pcc, python, r, starts]);
    }

    #[test]
    fn the_processor_is_named() {
        assert_eq!(
            processor("processor\t: 0\nmodel name\t: Abacus 3\n"),
            Some("Abacus 3")
        );
        assert_eq!(processor(""), None);
    }
}
