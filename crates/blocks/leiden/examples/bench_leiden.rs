//! Times Leiden on a graph: `bench_leiden EDGES.csv OBJECTIVE RESOLUTION RUNS`, the file having lines `a,b,weight` with vertices from 0.
//! Prints a line a run: seconds, quality, clusters, rounds.

#![expect(clippy::print_stdout, reason = "it prints figures")]

use std::error::Error;
use std::time::Instant;

use partita_core::{ProgressCounter, Seed, Silent};
use partita_leiden::{Graph, LeidenSettings, Objective, leiden};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, objective, resolution, runs] = words.as_slice() else {
        return Err("EDGES.csv OBJECTIVE RESOLUTION RUNS".into());
    };
    let mut edges = Vec::new();
    for line in std::fs::read_to_string(file)?.lines() {
        let words: Vec<&str> = line.split(',').collect();
        let [a, b, weight] = words.as_slice() else {
            return Err(format!("'{line}' is not a,b,weight").into());
        };
        edges.push((a.parse()?, b.parse()?, weight.parse()?));
    }
    let most = edges
        .iter()
        .map(|&(a, b, _): &(usize, usize, f64)| a.max(b));
    let graph = Graph::from_edges(most.max().map_or(0, |most| most + 1), edges)?;
    let objective: Objective = objective.parse()?;
    let (resolution, runs): (f64, u64) = (resolution.parse()?, runs.parse()?);
    let settings = LeidenSettings::default()
        .with_objective(objective)
        .with_resolution(resolution);
    let progress = ProgressCounter::new(&Silent, 1);
    for run in 0..runs {
        let start = Instant::now();
        let found = leiden(&graph, &settings, Seed::new(run), &progress).ok_or("stopped")?;
        let seconds = start.elapsed().as_secs_f64();
        let quality = graph.quality(&found.labels, objective, resolution);
        println!(
            "{seconds:.6} {quality:.10} {} {}",
            found.clusters, found.rounds
        );
    }
    Ok(())
}
