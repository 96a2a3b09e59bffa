//! Times a consensus from labels to partition: `cargo run --release -p partita-eac --example trees [n] [method …]`.
//!
//! Prints CPU seconds (user and system, all threads) and the growth of the largest resident memory. The ensemble is
//! 100 random Voronoi partitions (3 to 30 cells) of ten Gaussian blobs in five dimensions. `kodama` as a method is the
//! baseline: counts, then kodama's linkage on a condensed matrix in single precision.

use std::io::{self, Write};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use partita_coassoc::CoAssociation;
use partita_core::{Clusters, Consensus, Ensemble, EnsembleBuilder, MemoryBudget, Partition, Problem, Seed, Silent};
use partita_eac::{EAC_AVERAGE, EAC_CENTROID, EAC_COMPLETE, EAC_SINGLE, EAC_WARD, LWEA};
use partita_linkage::{Linkage, cut, link_f32};
use rand::{Rng, RngExt};

fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    let n = words.next().and_then(|word| word.parse().ok()).unwrap_or(5_000);
    let mut named: Vec<String> = words.collect();
    if named.is_empty() {
        named = ["eac-average", "kodama"].map(str::to_owned).to_vec();
    }
    let mut out = io::stdout().lock();
    let ensemble = draw(n);
    writeln!(out, "{n} objects, {} distinct rows", ensemble.fragments().ensemble().objects())?;
    for name in named {
        let (seconds, before) = (cpu(), peak());
        let partition = run(&name, &ensemble);
        let (seconds, grown) = (cpu() - seconds, peak() - before);
        let mut sizes = partition.sizes();
        sizes.sort_unstable();
        writeln!(out, "{name:>14}: {seconds:8.3} s CPU, peak grew by {grown:6.0} MB, sizes {sizes:?}")?;
    }
    Ok(())
}

fn run(name: &str, ensemble: &Ensemble) -> Partition {
    let methods: [&dyn Consensus; 6] = [&EAC_AVERAGE, &EAC_SINGLE, &EAC_COMPLETE, &EAC_WARD, &EAC_CENTROID, &LWEA];
    let Some(method) = methods.into_iter().find(|method| method.card().name == name) else {
        let counts = CoAssociation::count(ensemble, MemoryBudget::UNLIMITED, &Silent).expect("counts");
        let tree = link_f32(counts.dissimilarities_f32(), ensemble.objects(), Linkage::Average).expect("a tree");
        return cut(&tree, 10);
    };
    method.run(&Problem::new(ensemble, Clusters::Exactly(10)), &Silent).expect("a consensus").partition
}

fn draw(n: usize) -> Ensemble {
    let mut rng = Seed::new(n as u64).rng();
    let normal = |rng: &mut dyn Rng| (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let centres: Vec<[f64; 5]> = (0..10).map(|_| std::array::from_fn(|_| rng.random_range(-6.0..6.0))).collect();
    let points: Vec<[f64; 5]> =
        (0..n).map(|i| std::array::from_fn(|d| centres[i % 10][d] + 2.0 * normal(&mut rng))).collect();
    let mut builder = EnsembleBuilder::new(n);
    for u in 0..100 {
        let cells: Vec<[f64; 5]> = (0..rng.random_range(3..=30)).map(|_| points[rng.random_range(0..n)]).collect();
        let far = |a: &[f64; 5], b: &[f64; 5]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let nearest = |point: &[f64; 5]| {
            (0..cells.len()).min_by(|&a, &b| far(point, &cells[a]).total_cmp(&far(point, &cells[b]))).map(|k| k as u32)
        };
        builder.push(format!("u{u}"), points.iter().map(nearest)).expect("labels");
    }
    builder.finish().expect("an ensemble")
}

fn cpu() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the system says what was used");
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e6
}

/// Largest resident memory so far, in MB.
fn peak() -> f64 {
    getrusage(UsageWho::RUSAGE_SELF).expect("the system says what was used").max_rss() as f64 / 1e3
}
