//! How long a hundred rounds of EM take.
//!
//! `cargo run --release -p partita-aspect --example bench_penca -- 2310 7 5` draws n = 2310 objects in 7 planted clusters
//! and 100 base clusterings of 4 to 14 clusters in which one label in five is noise, and runs 100 rounds 5 times from one
//! random start, on all pairs and on those that were ever together. The pool has one thread unless a fourth argument says
//! otherwise.
#![expect(clippy::print_stdout, reason = "an example prints what it measures")]

use std::time::Instant;

use partita_aspect::{DyadCounts, Start};
use partita_coassoc::{CoAssociation, SparseEvidence};
use partita_conformance::race::cpu_seconds;
use partita_core::{Ensemble, EnsembleBuilder, MemoryBudget, Seed, Silent};
use rand::RngExt;

fn ensemble(objects: usize, clusters: usize) -> Ensemble {
    let mut rng = Seed::new(1).rng();
    let mut builder = EnsembleBuilder::new(objects);
    for u in 0..100 {
        let parts = rng.random_range(4..=14);
        let cut: Vec<usize> = (0..clusters).map(|k| (k * parts) / clusters).collect();
        let label = |i: usize| {
            let own = (cut[i % clusters] + rng.random_range(0..(parts / clusters).max(1))) % parts;
            Some(if rng.random_bool(0.2) {
                rng.random_range(0..parts)
            } else {
                own
            })
        };
        builder
            .push(format!("u{u}"), (0..objects).map(label))
            .expect("a label an object");
    }
    builder.finish().expect("there are objects")
}

fn main() {
    let arguments: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse().ok())
        .collect();
    let at = |place: usize, default: usize| arguments.get(place).copied().unwrap_or(default);
    let (objects, clusters, runs) = (at(0, 2310), at(1, 7), at(2, 5));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(at(3, 1))
        .build()
        .expect("a pool of threads");
    let ensemble = ensemble(objects, clusters);
    let pairs =
        CoAssociation::count(&ensemble, MemoryBudget::UNLIMITED, &Silent).expect("counts fit");
    let some = (objects as u64 * 100).min(objects as u64 * (objects as u64 - 1) / 2);
    let (seed, budget) = (Seed::new(2), MemoryBudget::UNLIMITED);
    let sampled = SparseEvidence::sample(&ensemble, some, seed, budget, &Silent);
    let sampled = DyadCounts::sparse(&sampled.expect("a sample fits"));
    let evidence = [
        ("all pairs", DyadCounts::dense(&pairs)),
        ("200 partners", sampled),
    ];
    println!(
        "n = {objects}, L = {clusters}, M = 100, {} thread(s), 100 rounds",
        at(3, 1)
    );
    println!("evidence      run  log-likelihood      cpu s  wall s");
    for run in 0..runs {
        for (name, counts) in &evidence {
            let mut aspects = Start::random("", objects, clusters, Seed::new(3)).aspects;
            let (seconds, clock) = (cpu_seconds(), Instant::now());
            pool.install(|| (0..100).for_each(|_| aspects = aspects.improved(counts)));
            let (seconds, wall) = (cpu_seconds() - seconds, clock.elapsed().as_secs_f64());
            println!(
                "{name:12} {run:4} {:16.3} {seconds:10.2} {wall:7.2}",
                aspects.log_likelihood(counts)
            );
        }
    }
}
