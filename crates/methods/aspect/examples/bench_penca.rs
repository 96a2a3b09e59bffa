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
            let noisy = rng.random_bool(0.2);
            Some(if noisy {
                rng.random_range(0..parts)
            } else {
                own
            })
        };
        let labels = (0..objects).map(label);
        builder
            .push(format!("u{u}"), labels)
            .expect("a label an object");
    }
    builder.finish().expect("there are objects")
}

fn main() {
    let words = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse().ok());
    let words: Vec<usize> = words.collect();
    let at = |place: usize, default: usize| words.get(place).copied().unwrap_or(default);
    let objects = at(0, 2310);
    let clusters = at(1, 7);
    let runs = at(2, 5);
    let threads = at(3, 1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.build().expect("a pool of threads");
    let ensemble = ensemble(objects, clusters);
    let budget = MemoryBudget::UNLIMITED;
    let pairs = CoAssociation::count(&ensemble, budget, &Silent).expect("counts fit");
    let some = (objects as u64 * 100).min(objects as u64 * (objects as u64 - 1) / 2);
    let sampled = SparseEvidence::sample(&ensemble, some, Seed::new(2), budget, &Silent);
    let sampled = DyadCounts::sparse(&sampled.expect("a sample fits"));
    let evidence = [
        ("all pairs", DyadCounts::dense(&pairs)),
        ("200 partners", sampled),
    ];
    println!("n = {objects}, L = {clusters}, M = 100, {threads} thread(s), 100 rounds");
    println!("evidence      run  log-likelihood      cpu s  wall s");
    for run in 0..runs {
        for (name, counts) in &evidence {
            let mut aspects = Start::random("", objects, clusters, Seed::new(3)).aspects;
            let cpu = cpu_seconds();
            let clock = Instant::now();
            pool.install(|| (0..100).for_each(|_| aspects = aspects.improved(counts)));
            let cpu = cpu_seconds() - cpu;
            let wall = clock.elapsed().as_secs_f64();
            let value = aspects.log_likelihood(counts);
            println!("{name:12} {run:4} {value:16.3} {cpu:10.2} {wall:7.2}");
        }
    }
}
