//! Measuring contestants side by side: each in a process of its own, in turns, so that a noisy machine is noisy for
//! all of them.
//!
//! A benchmark is an example `bench_NAME.rs`. It calls itself again with words that name a case
//! ([`Contestant::own`]), and other people's programs through `peers/NAME.py` ([`Contestant::peer`]), which
//! `cargo xtask bench NAME --peers` sets up. A contestant prepares its data, does its work inside [`stage`] and so
//! prints one JSON object as its last line: `cpu` and `wall` in seconds, `peak` in bytes, and whatever else it
//! measured. [`race`] runs all in turns and keeps the median of every figure.

use std::collections::BTreeMap;
use std::io::{self, Error, Write};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs};

/// What a contestant measured, by name: `cpu`, `wall`, `peak` and its own figures.
pub type Figures = BTreeMap<String, f64>;

/// One program that measures itself.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// What it is called in the table.
    pub name: String,
    words: Vec<String>,
    threads: usize,
    peer: bool,
}

impl Contestant {
    /// This program again, with these words as its arguments, on one thread.
    pub fn own(name: impl Into<String>, words: &[&str]) -> Self {
        Self::new(name.into(), words, false)
    }

    /// The peers' script with these words, on one thread; none where no peers were set up.
    pub fn peer(name: impl Into<String>, words: &[&str]) -> Option<Self> {
        env::var_os("PARTITA_PEERS_PYTHON").map(|_| Self::new(name.into(), words, true))
    }

    /// The same on this many threads.
    #[must_use]
    pub fn on(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    fn new(name: String, words: &[&str], peer: bool) -> Self {
        Self {
            name,
            words: words.iter().map(|&word| word.into()).collect(),
            threads: 1,
            peer,
        }
    }

    fn command(&self) -> io::Result<Command> {
        let variable = |name: &str| {
            env::var_os(name).ok_or_else(|| Error::other(format!("{name} is not set")))
        };
        let mut command = if self.peer {
            let mut python = Command::new(variable("PARTITA_PEERS_PYTHON")?);
            python.arg(variable("PARTITA_PEERS_SCRIPT")?);
            python
        } else {
            Command::new(env::current_exe()?)
        };
        let threads = self.threads.to_string();
        for name in [
            "RAYON_NUM_THREADS",
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "MKL_NUM_THREADS",
        ] {
            command.env(name, &threads);
        }
        command
            .args(&self.words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        Ok(command)
    }

    /// Runs it once.
    fn run(&self) -> io::Result<Figures> {
        let output = self.command()?.output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let last = text.lines().last().unwrap_or_default();
        let broken =
            |why: &str| Error::other(format!("{} {:?} {why}: {text}", self.name, self.words));
        if !output.status.success() {
            return Err(broken("failed"));
        }
        serde_json::from_str(last).map_err(|_| broken("printed no figures"))
    }
}

/// Runs all contestants in turns, `rounds` times, and returns the median of every figure in their order.
///
/// # Errors
/// A contestant that cannot be started, fails, or prints no figures.
pub fn race(contestants: &[Contestant], rounds: usize) -> io::Result<Vec<Figures>> {
    let mut runs: Vec<Vec<Figures>> = contestants.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (contestant, runs) in contestants.iter().zip(&mut runs) {
            runs.push(contestant.run()?);
        }
    }
    Ok(runs.iter().map(|runs| medians(runs)).collect())
}

fn medians(runs: &[Figures]) -> Figures {
    let names = runs.first().into_iter().flat_map(BTreeMap::keys);
    let median = |name: &String| {
        let mut values: Vec<f64> = runs
            .iter()
            .filter_map(|run| run.get(name).copied())
            .collect();
        values.sort_by(f64::total_cmp);
        f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
    };
    names.map(|name| (name.clone(), median(name))).collect()
}

/// Does the work that is measured and prints its figures as one line of JSON; `work` returns what it measured itself.
pub fn stage(work: impl FnOnce() -> Vec<(&'static str, f64)>) {
    let cpu = cpu_seconds();
    let wall = Instant::now();
    let own = work();
    let cpu = cpu_seconds() - cpu;
    let wall = wall.elapsed().as_secs_f64();
    let figures = [("cpu", cpu), ("wall", wall), ("peak", peak_bytes())]
        .into_iter()
        .chain(own);
    let figures: Figures = figures
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let line = serde_json::to_string(&figures).expect("names and numbers are JSON");
    // A reader that went away has no use for the figures.
    let _ = writeln!(io::stdout().lock(), "{line}");
}

/// User and system seconds of this process so far; 0 where the system does not tell.
#[cfg(unix)]
pub fn cpu_seconds() -> f64 {
    use nix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("a process has a clock");
    time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9
}

/// User and system seconds of this process so far; 0 where the system does not tell.
#[cfg(not(unix))]
pub fn cpu_seconds() -> f64 {
    0.0
}

/// The largest resident set of this process so far in bytes; 0 where the system does not tell.
pub fn peak_bytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.map_or(0.0, |kib| kib * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_taken_figure_by_figure() {
        let run = |cpu: f64, peak: f64| Figures::from([("cpu".into(), cpu), ("peak".into(), peak)]);
        assert_eq!(
            medians(&[run(3.0, 1.0), run(1.0, 2.0), run(2.0, 9.0)]),
            run(2.0, 2.0)
        );
        assert_eq!(medians(&[run(3.0, 1.0), run(1.0, 2.0)]), run(2.0, 1.5));
        assert!(medians(&[]).is_empty());
    }

    #[test]
    fn a_process_knows_its_time_and_memory() {
        let before = cpu_seconds();
        let sum = (0..2_000_000_u64).fold(0, |sum, x| std::hint::black_box(sum ^ x));
        assert!(cpu_seconds() > before, "{sum}");
        assert!(peak_bytes() == 0.0 || peak_bytes() > 1e5);
    }
}
