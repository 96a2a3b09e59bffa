//! Times the counting of pairs: `cargo run --release -p partita-coassoc --example counting [n …]`.
//!
//! Prints CPU seconds (user and system, all threads), median of five, for every pair of n objects × 100 base
//! clusterings with and without missing labels, beside a plain double loop over label rows in the same run (up to
//! 20,000 objects); then for 1.8 million sampled pairs of 120,000 objects.

use std::io::{self, Write};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use partita_coassoc::{CoAssociation, SparseEvidence};
use partita_core::{Ensemble, EnsembleBuilder, LabelRows, MemoryBudget, Seed, Silent};
use rand::{Rng, RngExt};

const BASES: usize = 100;

fn main() -> io::Result<()> {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![2_000, 5_000, 10_000, 20_000, 40_000] } else { sizes };
    let mut out = io::stdout().lock();
    writeln!(out, "{:>8} {:>8} {:>10} {:>10} {:>10}", "objects", "missing", "counted", "plain", "MB")?;
    for &n in &sizes {
        for missing in [0.0, 0.1] {
            let ensemble = draw(n, missing);
            let count = || CoAssociation::count(&ensemble, MemoryBudget::UNLIMITED, &Silent).expect("counts");
            let counted = median(5, || drop(count()));
            let plain = if n <= 20_000 && missing == 0.0 { median(1, || drop(plain(&ensemble))) } else { f64::NAN };
            let bytes = CoAssociation::bytes(n, BASES, missing > 0.0);
            writeln!(out, "{n:>8} {missing:>8} {counted:>10.3} {plain:>10.3} {:>10.0}", bytes as f64 / 1e6)?;
        }
    }
    for missing in [0.0, 0.1] {
        let ensemble = draw(120_000, missing);
        let before = peak();
        let sample = || {
            let budget = MemoryBudget::UNLIMITED;
            SparseEvidence::sample(&ensemble, 1_800_000, Seed::new(1), budget, &Silent).expect("evidence")
        };
        let seconds = median(5, || drop(sample()));
        let grown = peak() - before;
        writeln!(out, "1.8 M pairs of 120,000, missing {missing}: {seconds:.3} s CPU, peak grew by {grown:.0} MB")?;
    }
    Ok(())
}

/// Random labels: 10 to 30 clusters a base clustering.
fn draw(n: usize, missing: f64) -> Ensemble {
    let mut rng = Seed::new(n as u64).rng();
    let mut builder = EnsembleBuilder::new(n);
    for u in 0..BASES {
        let clusters = rng.random_range(10..=30);
        let label = |rng: &mut dyn Rng| (!rng.random_bool(missing)).then(|| rng.random_range(0..clusters));
        let labels: Vec<Option<u32>> = (0..n).map(|_| label(&mut rng)).collect();
        builder.push_clusters(format!("u{u}"), labels, clusters as usize).expect("labels");
    }
    builder.finish().expect("an ensemble")
}

/// What one writes first: two loops over objects and one over labels.
fn plain(ensemble: &Ensemble) -> Vec<u8> {
    let LabelRows::Bytes(rows) = ensemble.rows() else { return Vec::new() };
    let mut counts = Vec::with_capacity(rows.nrows() * rows.nrows() / 2);
    let rows: Vec<&[u8]> = rows.outer_iter().map(|row| row.to_slice().expect("rows are contiguous")).collect();
    for (i, a) in rows.iter().enumerate() {
        for b in &rows[i + 1..] {
            counts.push(a.iter().zip(*b).map(|(a, b)| u8::from(a == b)).sum());
        }
    }
    counts
}

fn median(times: usize, mut work: impl FnMut()) -> f64 {
    let mut seconds: Vec<f64> = (0..times)
        .map(|_| {
            let start = cpu();
            work();
            cpu() - start
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[times / 2]
}

fn cpu() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the system says what was used");
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e6
}

/// Largest resident memory so far, in MB.
fn peak() -> f64 {
    getrusage(UsageWho::RUSAGE_SELF).expect("the system says what was used").max_rss() as f64 / 1e3
}
