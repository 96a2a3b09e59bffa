//! Times evidence at a size where all pairs are out of reach:
//! `cargo run --release -p partita-eac --example million [objects]`.
//!
//! 20 random Voronoi partitions (5 to 20 cells) of a mixture of eight overlapping Gaussians in 16 dimensions. Prints CPU
//! and wall seconds and the largest resident memory after: fragments, 30 sampled partners an object, the 10 strongest
//! neighbours (with their recall on 200 objects), and the spanning forest of these.

use std::io::{self, Write};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use partita_coassoc::{SparseEvidence, StrongestSettings, recall};
use partita_core::{Clusters, Ensemble, EnsembleBuilder, MemoryBudget, Seed, Silent};
use partita_eac::eac_sparse;
use rand::{Rng, RngExt};

fn main() -> io::Result<()> {
    let n = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1_000_000);
    let budget = MemoryBudget::new(2 << 30);
    let ensemble = draw(n);
    timed("the ensemble itself", String::new)?;
    timed("fragments", || format!("{} distinct rows", ensemble.fragments().ensemble().objects()))?;
    timed("30 sampled partners", || {
        let pairs = 15 * n as u64;
        let evidence = SparseEvidence::sample(&ensemble, pairs, Seed::new(1), budget, &Silent).expect("evidence");
        format!("{} pairs", evidence.pairs())
    })?;
    let mut strongest = None;
    timed("10 strongest", || {
        let how = StrongestSettings::default();
        let found = SparseEvidence::strongest(&ensemble, 10, Seed::new(1), &how, budget, &Silent).expect("evidence");
        format!("{} pairs", strongest.insert(found).pairs())
    })?;
    let evidence = strongest.expect("found above");
    timed("their recall", || format!("{:.3}", recall(&evidence, &ensemble, 10, 200, Seed::new(2)).expect("a share")))?;
    timed("spanning forest", || {
        let outcome = eac_sparse(&ensemble, &evidence, Clusters::Exactly(8)).expect("a tree");
        format!("{} components", outcome.details["components"])
    })
}

fn timed(what: &str, work: impl FnOnce() -> String) -> io::Result<()> {
    let (cpu_before, wall) = (cpu(), Instant::now());
    let said = work();
    let (cpu, wall) = (cpu() - cpu_before, wall.elapsed().as_secs_f64());
    let peak = getrusage(UsageWho::RUSAGE_SELF).expect("the system says what was used").max_rss() as f64 / 1e3;
    writeln!(io::stdout().lock(), "{what:>22}: {cpu:7.2} s CPU, {wall:7.2} s, peak {peak:5.0} MB  {said}")
}

fn cpu() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the system says what was used");
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e6
}

fn draw(n: usize) -> Ensemble {
    let mut rng = Seed::new(n as u64).rng();
    let normal = |rng: &mut dyn Rng| (0..12).map(|_| rng.random::<f32>()).sum::<f32>() - 6.0;
    let centres: Vec<[f32; 16]> = (0..8).map(|_| std::array::from_fn(|_| rng.random_range(-2.0..2.0))).collect();
    let points: Vec<[f32; 16]> =
        (0..n).map(|i| std::array::from_fn(|d| centres[i % 8][d] + normal(&mut rng))).collect();
    let mut builder = EnsembleBuilder::new(n);
    for u in 0..20 {
        let cells: Vec<[f32; 16]> = (0..rng.random_range(5..=20)).map(|_| points[rng.random_range(0..n)]).collect();
        let far = |a: &[f32; 16], b: &[f32; 16]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>();
        let nearest = |point: &[f32; 16]| {
            (0..cells.len()).min_by(|&a, &b| far(point, &cells[a]).total_cmp(&far(point, &cells[b]))).map(|k| k as u32)
        };
        builder.push_clusters(format!("u{u}"), points.iter().map(nearest), cells.len()).expect("labels");
    }
    builder.finish().expect("an ensemble")
}
