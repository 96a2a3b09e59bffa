//! Time, memory and agreement of the graph methods on drawn ensembles, with a naive baseline in the same run:
//! `cargo run --release -p partita-graph --example bench_graph [objects bases clusters]...`
//!
//! An ensemble has K planted clusters; a base clustering draws a number of clusters from K/2 to 2K, gives every
//! planted cluster one of them (or splits it) and mislabels a tenth of the objects. The baseline is k-means on
//! one-hot rows, five random starts.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::time::{Duration, Instant};
use std::{env, fs};

use partita_core::ndarray::Array2;
use partita_core::{
    BaseClustering, Clusters, Consensus, Ensemble, LabelRows, Partition, Problem, Seed, Silent, consense,
};
use partita_graph::{HBGF, LWGP};
use partita_metrics::Scores;
use rand::RngExt;

fn main() {
    let numbers: Vec<usize> = env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let sizes = if numbers.len() >= 3 { numbers } else { vec![11_000, 20, 10, 20_000, 100, 10, 1_000_000, 20, 10] };
    println!(
        "{:>8} {:>4} {:>3} {:<14} {:>8} {:>8} {:>6} {:>9}",
        "n", "M", "K", "method", "CPU s", "wall s", "ARI", "peak MiB"
    );
    for size in sizes.chunks_exact(3) {
        let (ensemble, truth) = draw(size[0], size[1], size[2], Seed::new(9));
        for method in [&LWGP as &dyn Consensus, &HBGF] {
            let problem = Problem::new(&ensemble, Clusters::Exactly(size[2]));
            let run = || consense(method, &problem, &Silent).map(|outcome| outcome.partition);
            report(size, method.card().name, &truth, || run().expect("a consensus"));
        }
        report(size, "one-hot k-means", &truth, || one_hot(&ensemble, size[2]));
    }
}

fn report(size: &[usize], name: &str, truth: &Partition, run: impl FnOnce() -> Partition) {
    let (cpu, wall) = (cpu(), Instant::now());
    let found = run();
    let (cpu, wall) = (self::cpu().saturating_sub(cpu).as_secs_f64(), wall.elapsed().as_secs_f64());
    let ari = Scores::of(&found, truth).expect("partitions of the same objects").ari;
    println!(
        "{:>8} {:>4} {:>3} {name:<14} {cpu:>8.2} {wall:>8.2} {ari:>6.3} {:>9}",
        size[0],
        size[1],
        size[2],
        peak().map_or_else(|| "-".into(), |kib| (kib / 1024).to_string())
    );
}

/// User and system time of this process, where the system tells it.
fn cpu() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().filter_map(|&at| fields.get(at)?.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// The largest resident set so far in KiB, where the system tells it.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn draw(objects: usize, bases: usize, clusters: usize, seed: Seed) -> (Ensemble, Partition) {
    let mut rng = seed.rng();
    let truth: Vec<u32> = (0..objects).map(|_| rng.random_range(0..clusters as u32)).collect();
    let mut rows = Array2::zeros((objects, bases));
    let mut base_clusterings = Vec::new();
    for u in 0..bases {
        let width = rng.random_range((clusters / 2).max(2)..=2 * clusters);
        let home: Vec<[usize; 2]> =
            (0..clusters).map(|_| [rng.random_range(0..width), rng.random_range(0..width)]).collect();
        for (i, &class) in truth.iter().enumerate() {
            let own = home[class as usize][usize::from(rng.random_bool(0.3))];
            rows[[i, u]] = if rng.random_bool(0.1) { rng.random_range(0..width) } else { own } as u8;
        }
        base_clusterings.push(BaseClustering::new(format!("u{u}"), (0..width).map(|j| j.to_string()).collect()));
    }
    let ensemble = Ensemble::from_bytes(rows, base_clusterings).expect("labels below the widths");
    (ensemble, Partition::new(truth, clusters).expect("classes below K"))
}

/// k-means on one-hot rows, written plainly: centroids are lines of label shares.
fn one_hot(ensemble: &Ensemble, clusters: usize) -> Partition {
    let LabelRows::Bytes(rows) = ensemble.rows() else { unreachable!("drawn with few clusters") };
    let offsets = ensemble.offsets();
    let side = offsets[offsets.len() - 1];
    let mut best = (f64::INFINITY, Vec::new());
    for start in 0..5 {
        let mut rng = Seed::new(start).rng();
        let mut centroids = Array2::<f64>::zeros((clusters, side));
        for mut centroid in centroids.outer_iter_mut() {
            let row = rows.row(rng.random_range(0..rows.nrows()));
            row.iter().zip(&offsets).for_each(|(&label, offset)| centroid[offset + usize::from(label)] = 1.0);
        }
        for _ in 0..20 {
            let lengths: Vec<f64> = centroids.outer_iter().map(|c| c.dot(&c)).collect();
            let (mut sums, mut sizes, mut loss) = (Array2::<f64>::zeros((clusters, side)), vec![0.0; clusters], 0.0);
            let mut labels = Vec::with_capacity(rows.nrows());
            for row in rows.outer_iter() {
                let score = |k: usize| {
                    let shared: f64 = row
                        .iter()
                        .zip(&offsets)
                        .map(|(&label, offset)| centroids[[k, offset + usize::from(label)]])
                        .sum();
                    lengths[k] - 2.0 * shared
                };
                let scores: Vec<f64> = (0..clusters).map(score).collect();
                let nearest = (0..clusters).fold(0, |best, k| if scores[k] < scores[best] { k } else { best });
                loss += scores[nearest];
                labels.push(nearest as u32);
                sizes[nearest] += 1.0;
                row.iter()
                    .zip(&offsets)
                    .for_each(|(&label, offset)| sums[[nearest, offset + usize::from(label)]] += 1.0);
            }
            sums.outer_iter_mut().zip(&sizes).filter(|(_, size)| **size > 0.0).for_each(|(mut sum, size)| sum /= *size);
            centroids = sums;
            if loss < best.0 {
                best = (loss, labels);
            }
        }
    }
    Partition::new(best.1, clusters).expect("labels below K")
}
