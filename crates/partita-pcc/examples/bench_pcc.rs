//! How long the solvers take to a relative gap of 1e-5, beside a plain one, in the same run.
//!
//! `cargo run --release -p partita-pcc --example bench_pcc -- 1000 10 3` makes n = 1000 objects in K = 10 Gaussian blobs
//! (5-D, centres uniform in [−6, 6]⁵, sd 2), 100 k-means with k in [K/2, 2K] on 0.9 subsamples, and runs 3 times, one
//! Dirichlet(1) start each. CPU seconds are user and system time of the process; the pool has one thread unless a
//! fourth argument says otherwise.
#![expect(clippy::print_stdout, reason = "an example prints what it measures")]

use std::time::Instant;

use partita_core::{Ensemble, EnsembleBuilder, MemoryBudget, Seed, Silent, SoftPartition};
use partita_pcc::{Bregman, Dense, Kl, L2, PccSettings, Solver, Start, descend, measure};
use rand::RngExt;
use rand_distr::{Distribution, Normal};

type Point = [f64; 5];

fn distance(a: &Point, b: &Point) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Twenty rounds of Lloyd from random objects.
fn k_means(points: &[Point], clusters: usize, rng: &mut impl rand::Rng) -> Vec<usize> {
    let mut centres: Vec<Point> = (0..clusters).map(|_| points[rng.random_range(0..points.len())]).collect();
    let mut labels = vec![0; points.len()];
    for _ in 0..20 {
        let (mut sums, mut sizes) = (vec![[0.0; 5]; clusters], vec![0.0; clusters]);
        for (label, point) in labels.iter_mut().zip(points) {
            let near = |a: &usize, b: &usize| distance(&centres[*a], point).total_cmp(&distance(&centres[*b], point));
            *label = (0..clusters).min_by(near).unwrap_or(0);
            sizes[*label] += 1.0;
            sums[*label].iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
        }
        for ((centre, sum), size) in centres.iter_mut().zip(sums).zip(sizes).filter(|(_, size)| *size > 0.0) {
            *centre = sum.map(|sum| sum / size);
        }
    }
    labels
}

fn ensemble(objects: usize, clusters: usize, seed: Seed) -> Ensemble {
    let mut rng = seed.rng();
    let normal = Normal::new(0.0, 2.0).expect("2 is a standard deviation");
    let centres: Vec<Point> = (0..clusters).map(|_| std::array::from_fn(|_| rng.random_range(-6.0..6.0))).collect();
    let points: Vec<Point> =
        (0..objects).map(|i| centres[i % clusters].map(|centre| centre + normal.sample(&mut rng))).collect();
    let mut builder = EnsembleBuilder::new(objects);
    for u in 0..100 {
        let seen: Vec<usize> = (0..objects).filter(|_| rng.random_bool(0.9)).collect();
        let sample: Vec<Point> = seen.iter().map(|&i| points[i]).collect();
        let k = rng.random_range(clusters / 2..=2 * clusters);
        let mut labels = vec![None; objects];
        for (&i, label) in seen.iter().zip(k_means(&sample, k, &mut rng)) {
            labels[i] = Some(label);
        }
        builder.push(format!("u{u}"), labels).expect("100 subsamples label all objects");
    }
    builder.finish().expect("there are objects")
}

/// User and system seconds of this process.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// The plain solver: projected exchanges object by object, one pair of clusters at a time, written with no care for
/// speed. It stops at the same gap.
fn plain(law: &impl Bregman, pairs: &[(f64, f64)], start: &SoftPartition, tolerance: f64) -> (f64, usize) {
    let (objects, clusters) = (start.objects(), start.clusters());
    let mut y: Vec<Vec<f64>> = start.rows().outer_iter().map(|row| row.to_vec()).collect();
    let scale = pairs.iter().map(|pair| pair.1).sum::<f64>() / objects as f64;
    for round in 1.. {
        let mut worst = 0.0f64;
        for i in 0..objects {
            let (mut first, mut second) = (vec![0.0; clusters], vec![vec![0.0; clusters]; clusters]);
            for j in (0..objects).filter(|&j| j != i) {
                let (c, n) = pairs[i * objects + j];
                let p: f64 = y[i].iter().zip(&y[j]).map(|(a, b)| a * b).sum();
                let (one, two) = law.slopes(c, n, p);
                for k in 0..clusters {
                    first[k] += one * y[j][k];
                    for l in 0..clusters {
                        second[k][l] += two * y[j][k] * y[j][l];
                    }
                }
            }
            let order = |a: &usize, b: &usize| first[*a].total_cmp(&first[*b]);
            let up = (0..clusters).min_by(order).unwrap_or(0);
            let down = (0..clusters).filter(|&k| y[i][k] > 1e-12).max_by(order).unwrap_or(0);
            worst = worst.max(first[down] - first[up]);
            let bend = second[up][up] + second[down][down] - 2.0 * second[up][down];
            let step = ((first[down] - first[up]) / bend.max(1e-300)).min(0.9 * y[i][down]);
            y[i][up] += step;
            y[i][down] -= step;
        }
        if worst <= tolerance * scale || round == 1000 {
            return (worst / scale, round);
        }
    }
    unreachable!("the loop returns")
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let at = |place: usize, default: usize| arguments.get(place).copied().unwrap_or(default);
    let (objects, clusters, runs) = (at(0, 1000), at(1, 10), at(2, 3));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(at(3, 1)).build().expect("a pool of threads");
    let ensemble = ensemble(objects, clusters, Seed::new(1));
    let evidence = Dense::count(&ensemble, MemoryBudget::UNLIMITED, &Silent).expect("counts fit");
    println!("n = {objects}, K = {clusters}, M = 100, {} thread(s)", at(3, 1));
    println!("run  divergence solver  objective        gap       rounds  cpu s  wall s");
    for run in 0..runs {
        let start = Start::random("", objects, clusters, Seed::new(100 + run as u64)).soft;
        pool.install(|| {
            race(run, "kl", &Kl, &evidence, &start);
            race(run, "l2", &L2, &evidence, &start);
        });
        if objects <= 1000 && run == 0 {
            let pairs = |i: usize, j: usize| {
                let both = ensemble
                    .bases()
                    .iter()
                    .enumerate()
                    .filter_map(|(u, _)| Some((ensemble.label(i, u)?, ensemble.label(j, u)?)));
                both.fold((0.0, 0.0), |(c, n), (a, b)| {
                    (c + f64::from(u8::from(a == b && i != j)), n + f64::from(u8::from(i != j)))
                })
            };
            let pairs: Vec<(f64, f64)> = (0..objects * objects).map(|at| pairs(at / objects, at % objects)).collect();
            baseline(run, "kl", &Kl, &pairs, &start);
            baseline(run, "l2", &L2, &pairs, &start);
        }
    }
}

fn race(run: usize, name: &str, law: &impl Bregman, evidence: &Dense, start: &SoftPartition) {
    for solver in [Solver::Block, Solver::Greedy] {
        let mut settings = PccSettings::default();
        settings.solver = solver;
        let (seconds, clock) = (cpu(), Instant::now());
        let end = descend(law, evidence, start, &settings, &Silent).expect("a random start is soft");
        let (seconds, wall) = (cpu() - seconds, clock.elapsed().as_secs_f64());
        let gap = measure(law, evidence, &end.soft).expect("the same objects").relative_gap;
        let solver = format!("{solver:?}").to_lowercase();
        println!(
            "{run:3}  {name:10} {solver:7} {:16.6} {gap:9.2e} {:7} {seconds:6.2} {wall:6.2}",
            end.objective, end.rounds
        );
    }
}

fn baseline(run: usize, name: &str, law: &impl Bregman, pairs: &[(f64, f64)], start: &SoftPartition) {
    let (seconds, clock) = (cpu(), Instant::now());
    let (gap, rounds) = plain(law, pairs, start, 1e-5);
    let (seconds, wall) = (cpu() - seconds, clock.elapsed().as_secs_f64());
    println!("{run:3}  {name:10} plain   {:>16} {gap:9.2e} {rounds:7} {seconds:6.2} {wall:6.2}", "");
}
