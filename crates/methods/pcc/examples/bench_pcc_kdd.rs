//! PCC on sampled pairs, our solver beside the papers': `cargo xtask bench pcc_kdd -- LABELS.csv`.
//!
//! The labels are those of 120,000 connections, made by
//! `partita generate kddcup99-10percent.csv.gz --label label --encode one-hot --max-categories 100
//! --filter-labels smurf.,neptune.,normal. --max-per-label 40000 --preset kdd --seed 1 -o LABELS.csv`. Pairs are 0.25 ‰
//! of all, K = 3. Both solvers start from the base clustering, or k-means on labels, with the lowest objective, and looking for it
//! counts. Times are of runs that end after so many rounds, with what they say of their end: for `greedy` after nK steps, where the
//! papers stop, and after 3nK; for `block` after the first round that ends at or below these, and at the end, a relative gap of 1e-5.
#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

use std::env;
use std::error::Error;
use std::fs;
use std::time::Instant;

use partita_coassoc::SparseEvidence;
use partita_conformance::race::cpu_seconds;
use partita_core::{Ensemble, EnsembleBuilder, MemoryBudget, Outcome, Seed, Silent};
use partita_pcc::{Divergence, Evidence, PccDiagnostics, PccSettings, Solver, Sources, pcc};

const K: usize = 3;
const RATE: f64 = 0.25e-3;
const REPEATS: usize = 3;

/// One run: the outcome, and its CPU and wall seconds.
struct Run {
    outcome: Outcome<PccDiagnostics>,
    seconds: [f64; 2],
}

impl Run {
    fn new(
        evidence: &Evidence,
        bases: &Ensemble,
        divergence: Divergence,
        settings: &PccSettings,
    ) -> Self {
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        let (sources, seed) = (Sources::of_bases(bases.into()), Seed::new(1));
        let outcome = pcc(evidence, sources, divergence, K, seed, settings, &Silent);
        let outcome = outcome.expect("a consensus of the labels");
        Self {
            outcome,
            seconds: [cpu_seconds() - cpu, wall.elapsed().as_secs_f64()],
        }
    }

    /// The objective at the start and after every round.
    fn trace(&self) -> &[f64] {
        let objective = self.outcome.objective.as_ref();
        &objective.expect("PCC has an objective").trace
    }

    fn row(&self, name: &str) {
        let (rounds, [cpu, wall]) = (self.trace().len() - 1, self.seconds);
        println!(
            "{name:36} {:>18.6e} {rounds:>7} {cpu:>8.2} {wall:>8.2}",
            self.trace()[rounds]
        );
    }
}

/// Labels as `partita generate` writes them: a header, then a row an object; the column `label` is the truth.
fn read(path: &str) -> Result<Ensemble, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let mut lines = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().ok_or("the file is empty")?;
    let mut columns: Vec<Vec<Option<usize>>> = vec![Vec::new(); names.len()];
    for line in lines {
        for (column, label) in columns.iter_mut().zip(line) {
            let known = Some(label).filter(|label| !label.is_empty());
            column.push(known.map(str::parse).transpose()?);
        }
    }
    let mut builder = EnsembleBuilder::new(columns[0].len());
    let columns = names.into_iter().zip(columns);
    for (name, column) in columns.filter(|(name, _)| *name != "label") {
        builder.push(name, column)?;
    }
    Ok(builder.finish()?)
}

/// The run of middle CPU time.
fn middle(one: impl Fn() -> Run) -> Run {
    let mut runs: Vec<Run> = (0..REPEATS).map(|_| one()).collect();
    runs.sort_by(|a, b| a.seconds[0].total_cmp(&b.seconds[0]));
    runs.swap_remove(REPEATS / 2)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args()
        .nth(1)
        .ok_or("which labels? see the first lines of this program")?;
    let bases = read(&path)?;
    let n = bases.objects() as f64;
    let pairs = (n * (n - 1.0) / 2.0 * RATE).round() as u64;
    let budget = MemoryBudget::UNLIMITED;
    let sampled = SparseEvidence::sample(&bases, pairs, Seed::new(2), budget, &Silent)?;
    let evidence = Evidence::of_some(sampled);
    println!(
        "n = {n}, {pairs} pairs, K = {K}, M = {}, {} threads",
        bases.bases().len(),
        rayon::current_num_threads()
    );
    for (name, divergence) in [("kl", Divergence::Kl), ("l2", Divergence::L2)] {
        println!(
            "\n{name:36} {:>18} {:>7} {:>8} {:>8}",
            "objective", "rounds", "cpu s", "wall s"
        );
        let run = |solver: Solver, rounds: Option<usize>| -> Result<Run, Box<dyn Error>> {
            let mut settings = PccSettings::default();
            settings.solver = solver;
            if let Some(rounds) = rounds {
                settings.iterations = u32::try_from(rounds)?.try_into()?;
            }
            let one = || Run::new(&evidence, &bases, divergence, &settings);
            Ok(middle(one))
        };
        let block = run(Solver::Block, None)?;
        let papers = run(Solver::Greedy, Some(K))?;
        let thrice = run(Solver::Greedy, Some(3 * K))?;
        papers.row("greedy, nK steps");
        thrice.row("greedy, 3nK steps");
        for (what, greedy) in [("nK", &papers), ("3nK", &thrice)] {
            let goal = greedy.trace()[greedy.trace().len() - 1];
            if let Some(round) = block.trace().iter().position(|value| *value <= goal) {
                run(Solver::Block, Some(round.max(1)))?
                    .row(&format!("block, to greedy's after {what} steps"));
            }
        }
        let gap = block.outcome.kkt_gap.unwrap_or(f64::NAN);
        block.row(&format!("block, to a gap of {gap:.1e}"));
    }
    Ok(())
}
