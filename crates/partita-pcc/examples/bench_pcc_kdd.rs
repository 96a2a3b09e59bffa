//! PCC on sampled pairs, our solver beside the papers': `cargo xtask bench pcc_kdd -- LABELS.csv`.
//!
//! The labels are those of 120,000 connections, made by
//! `partita generate kddcup99-10percent.csv.gz --label label --encode one-hot --max-categories 100
//! --filter-labels smurf.,neptune.,normal. --max-per-label 40000 --preset kdd --seed 1 -o LABELS.csv`. Pairs are 0.25 ‰
//! of all, K = 3. Both solvers start from the base clustering with the lowest objective, and looking for it
//! counts. Times are until a round ended: for `greedy` after nK steps, where the papers stop, and after
//! 3nK; for `block` the first round that ends at or below the lower of these, and the end, a relative gap of 1e-5.
#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

use std::env;
use std::error::Error;
use std::fs;
use std::sync::Mutex;
use std::time::Instant;

use partita_coassoc::SparseEvidence;
use partita_conformance::race::cpu_seconds;
use partita_core::{Ensemble, EnsembleBuilder, Flow, MemoryBudget, Monitor, Outcome, Seed, Silent};
use partita_pcc::{Divergence, PccDiagnostics, PccSettings, Solver, Sparse, pcc};

const K: usize = 3;
const RATE: f64 = 0.25e-3;
const REPEATS: usize = 3;

/// Notes when every round began.
struct Clock {
    start: Instant,
    cpu: f64,
    rounds: Mutex<Vec<[f64; 2]>>,
}

impl Clock {
    fn new() -> Self {
        Self { start: Instant::now(), cpu: cpu_seconds(), rounds: Mutex::new(Vec::new()) }
    }

    fn now(&self) -> [f64; 2] {
        [cpu_seconds() - self.cpu, self.start.elapsed().as_secs_f64()]
    }
}

impl Monitor for Clock {
    fn tick(&self, done: u64, _total: u64) -> Flow {
        let mut rounds = self.rounds.lock().expect("nobody panics with the lock");
        if rounds.len() as u64 <= done {
            rounds.push(self.now());
        }
        Flow::Continue
    }
}

/// One run: the outcome, and CPU and wall seconds at the end of every round and of all.
struct Run {
    outcome: Outcome<PccDiagnostics>,
    ends: Vec<[f64; 2]>,
    end: [f64; 2],
}

impl Run {
    fn new(evidence: &Sparse, bases: &Ensemble, divergence: Divergence, settings: &PccSettings) -> Self {
        let clock = Clock::new();
        let outcome = pcc(evidence, Some(bases.into()), divergence, K, Seed::new(1), settings, &clock);
        let outcome = outcome.expect("a consensus of the labels");
        let end = clock.now();
        let mut ends = clock.rounds.into_inner().expect("nobody panics with the lock");
        ends.push(end);
        ends.remove(0);
        Self { outcome, ends, end }
    }

    fn trace(&self) -> &[f64] {
        &self.outcome.objective.as_ref().expect("PCC has an objective").trace
    }

    /// Seconds at the end of round `round`, counted from 1.
    fn after(&self, round: usize) -> [f64; 2] {
        self.ends.get(round - 1).copied().unwrap_or(self.end)
    }
}

/// Labels as `partita generate` writes them: a header, then a row an object; the column `label` is the truth.
fn read(path: &str) -> Result<Ensemble, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().ok_or("the file is empty")?;
    let mut columns: Vec<Vec<Option<usize>>> = vec![Vec::new(); names.len()];
    for line in lines {
        for (at, label) in line.into_iter().enumerate().filter(|(at, _)| names[*at] != "label") {
            columns[at].push(if label.is_empty() { None } else { Some(label.parse()?) });
        }
    }
    let mut builder = EnsembleBuilder::new(columns[0].len());
    for (name, column) in names.into_iter().zip(columns).filter(|(name, _)| *name != "label") {
        builder.push(name, column)?;
    }
    Ok(builder.finish()?)
}

/// The run of middle CPU time.
fn middle(one: impl Fn() -> Run) -> Run {
    let mut runs: Vec<Run> = (0..REPEATS).map(|_| one()).collect();
    runs.sort_by(|a, b| a.end[0].total_cmp(&b.end[0]));
    runs.swap_remove(REPEATS / 2)
}

fn row(name: &str, objective: f64, rounds: usize, [cpu, wall]: [f64; 2]) {
    println!("{name:36} {objective:>18.6e} {rounds:>7} {cpu:>8.2} {wall:>8.2}");
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("which labels? see the first lines of this program")?;
    let bases = read(&path)?;
    let n = bases.objects() as f64;
    let pairs = (n * (n - 1.0) / 2.0 * RATE).round() as u64;
    let sampled = SparseEvidence::sample(&bases, pairs, Seed::new(2), MemoryBudget::UNLIMITED, &Silent)?;
    let evidence = Sparse::new(sampled);
    println!("n = {n}, {pairs} pairs, K = {K}, M = {}, {} threads", bases.bases().len(), rayon::current_num_threads());
    for (name, divergence) in [("kl", Divergence::Kl), ("l2", Divergence::L2)] {
        println!("\n{name:36} {:>18} {:>7} {:>8} {:>8}", "objective", "rounds", "cpu s", "wall s");
        let mut settings = PccSettings::default();
        let block = middle(|| Run::new(&evidence, &bases, divergence, &settings));
        (settings.solver, settings.rounds) = (Solver::Greedy, (3 * K as u32).try_into()?);
        let greedy = middle(|| Run::new(&evidence, &bases, divergence, &settings));
        let [papers, thrice] = [K, 3 * K].map(|rounds| rounds.min(greedy.trace().len() - 1));
        row("greedy, nK steps", greedy.trace()[papers], papers, greedy.after(papers));
        row("greedy, 3nK steps", greedy.trace()[thrice], thrice, greedy.after(thrice));
        for (what, goal) in [("nK", greedy.trace()[papers]), ("3nK", greedy.trace()[thrice])] {
            if let Some(round) = block.trace().iter().position(|value| *value <= goal) {
                row(&format!("block, to greedy's after {what} steps"), block.trace()[round], round, block.after(round));
            }
        }
        let last = block.trace().len() - 1;
        let gap = block.outcome.kkt_gap.unwrap_or(f64::NAN);
        row(&format!("block, to a gap of {gap:.1e}"), block.trace()[last], last, block.end);
    }
    Ok(())
}
