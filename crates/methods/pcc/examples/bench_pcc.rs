//! The solvers of PCC: `cargo xtask bench pcc [-- large]`.
//!
//! The first tables go from a Dirichlet(1) start to a relative gap of 1e-5, with all pairs counted beforehand: from five
//! starts one after the other, of which the median time, the median rounds and the largest gap are shown (`plain`, the same step
//! written without care for speed, from the first alone). Data: n objects in K Gaussian blobs (5-D, centres uniform in
//! [−6, 6]⁵, sd 2), 100 k-means with k in [K/2, 2K] on 0.9 subsamples. Every contestant runs in a process of its own, in turns
//! with the others, on one thread unless the table says otherwise; figures are medians of three.
//!
//! The last table measures the whole method with its usual start, to a gap of 1e-3: 100,000 and 1,000,000 objects with 30
//! sampled partners each, 20 base clusterings by random Voronoi cells, K = 10, two threads, once. `peak` counts labels and
//! the points they were made from. `large` measures this table alone, with KL on the million too.
#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

use std::error::Error;
use std::time::Instant;
use std::{env, io};

use partita_conformance::race::{Contestant, Figures, cpu_seconds, race, stage};
use partita_core::{
    Clusters, Consensus, Ensemble, EnsembleBuilder, MemoryBudget, Problem, Seed, SettingMap,
    Silent, SoftPartition, consense,
};
use partita_pcc::{Bregman, Evidence, Kl, L2, PCC_KL, PCC_L2, PccSettings, Solver, Start, descend};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Normal};

const ROUNDS: usize = 3;
const STARTS: u64 = 5;

type Point = [f64; 5];

fn distance(a: &Point, b: &Point) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn nearest(centres: &[Point], point: &Point) -> usize {
    let away = |at: &usize| distance(&centres[*at], point);
    let nearest = (0..centres.len()).min_by(|a, b| away(a).total_cmp(&away(b)));
    nearest.unwrap_or(0)
}

/// Gaussian blobs, object by object in turns.
fn blobs(objects: usize, clusters: usize, rng: &mut impl Rng) -> Vec<Point> {
    let normal = Normal::new(0.0, 2.0).expect("2 is a standard deviation");
    let centres: Vec<Point> = (0..clusters)
        .map(|_| std::array::from_fn(|_| rng.random_range(-6.0..6.0)))
        .collect();
    (0..objects)
        .map(|i| centres[i % clusters].map(|centre| centre + normal.sample(rng)))
        .collect()
}

/// Twenty rounds of Lloyd from random objects.
fn k_means(points: &[Point], clusters: usize, rng: &mut impl Rng) -> Vec<usize> {
    let mut centres: Vec<Point> = (0..clusters)
        .map(|_| points[rng.random_range(0..points.len())])
        .collect();
    let mut labels = vec![0; points.len()];
    for _ in 0..20 {
        let (mut sums, mut sizes) = (vec![[0.0; 5]; clusters], vec![0.0; clusters]);
        for (label, point) in labels.iter_mut().zip(points) {
            *label = nearest(&centres, point);
            sizes[*label] += 1.0;
            for (sum, x) in sums[*label].iter_mut().zip(point) {
                *sum += x;
            }
        }
        for (k, centre) in centres.iter_mut().enumerate() {
            if sizes[k] > 0.0 {
                *centre = sums[k].map(|sum| sum / sizes[k]);
            }
        }
    }
    labels
}

fn ensemble(objects: usize, clusters: usize, seed: Seed) -> Ensemble {
    let mut rng = seed.rng();
    let points = blobs(objects, clusters, &mut rng);
    let mut builder = EnsembleBuilder::new(objects);
    for u in 0..100 {
        let seen: Vec<usize> = (0..objects).filter(|_| rng.random_bool(0.9)).collect();
        let sample: Vec<Point> = seen.iter().map(|&i| points[i]).collect();
        let k = rng.random_range(clusters / 2..=2 * clusters);
        let mut labels = vec![None; objects];
        for (&i, label) in seen.iter().zip(k_means(&sample, k, &mut rng)) {
            labels[i] = Some(label);
        }
        builder
            .push(format!("u{u}"), labels)
            .expect("100 subsamples label all objects");
    }
    builder.finish().expect("there are objects")
}

/// The plain solver: projected exchanges object by object, one pair of clusters at a time, written with no care for
/// speed. It stops at the same gap.
fn plain(
    divergence: &impl Bregman,
    pairs: &[(f64, f64)],
    start: &SoftPartition,
    tolerance: f64,
) -> (f64, usize) {
    let (objects, clusters) = (start.objects(), start.clusters());
    let mut y: Vec<Vec<f64>> = start.rows().outer_iter().map(|row| row.to_vec()).collect();
    let scale = pairs.iter().map(|pair| pair.1).sum::<f64>() / objects as f64;
    for round in 1.. {
        let mut worst = 0.0f64;
        for i in 0..objects {
            let (mut first, mut second) =
                (vec![0.0; clusters], vec![vec![0.0; clusters]; clusters]);
            for j in (0..objects).filter(|&j| j != i) {
                let (c, n) = pairs[i * objects + j];
                let p: f64 = y[i].iter().zip(&y[j]).map(|(a, b)| a * b).sum();
                let (one, two) = divergence.slopes(c, n, p);
                for k in 0..clusters {
                    first[k] += one * y[j][k];
                    for l in 0..clusters {
                        second[k][l] += two * y[j][k] * y[j][l];
                    }
                }
            }
            let order = |a: &usize, b: &usize| first[*a].total_cmp(&first[*b]);
            let up = (0..clusters).min_by(order).unwrap_or(0);
            let down = (0..clusters)
                .filter(|&k| y[i][k] > 1e-12)
                .max_by(order)
                .unwrap_or(0);
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

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["case", divergence, solver, n, k, threads] => {
            case(divergence, solver, n.parse()?, k.parse()?, threads.parse()?)?;
        }
        ["whole", divergence, n] => whole(divergence, n.parse()?),
        ["large"] => large(&[
            ("l2", "100000"),
            ("kl", "100000"),
            ("l2", "1000000"),
            ("kl", "1000000"),
        ])?,
        _ => {
            tables()?;
            large(&[("l2", "100000"), ("kl", "100000"), ("l2", "1000000")])?;
        }
    }
    Ok(())
}

/// One solver from some starts.
fn case(
    divergence: &str,
    solver: &str,
    n: usize,
    k: usize,
    threads: usize,
) -> Result<(), Box<dyn Error>> {
    let ensemble = ensemble(n, k, Seed::new(1));
    let start = |at: u64| Start::random("", n, k, Seed::new(100 + at)).soft;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    if solver == "plain" {
        let pairs: Vec<(f64, f64)> = (0..n * n)
            .map(|at| pair(&ensemble, at / n, at % n))
            .collect();
        stage(|| {
            let (gap, rounds) = match divergence {
                "kl" => plain(&Kl, &pairs, &start(0), 1e-5),
                _ => plain(&L2, &pairs, &start(0), 1e-5),
            };
            vec![("gap", gap), ("rounds", rounds as f64)]
        });
        return Ok(());
    }
    let evidence = Evidence::count(&ensemble, MemoryBudget::UNLIMITED, &Silent)?;
    let mut settings = PccSettings::default();
    if solver == "greedy" {
        settings.solver = Solver::Greedy;
    }
    let one = |at: u64| {
        let (start, before, clock) = (start(at), cpu_seconds(), Instant::now());
        let end = pool.install(|| match divergence {
            "kl" => descend(&Kl, &evidence, &start, &settings, &Silent),
            _ => descend(&L2, &evidence, &start, &settings, &Silent),
        });
        let end = end.expect("a random start is soft");
        [
            cpu_seconds() - before,
            clock.elapsed().as_secs_f64(),
            end.iterations as f64,
            end.kkt_gap,
        ]
    };
    stage(|| {
        let runs: Vec<[f64; 4]> = (0..STARTS).map(one).collect();
        let sorted = |at: usize| {
            let mut values: Vec<f64> = runs.iter().map(|run| run[at]).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let median = |at: usize| sorted(at)[runs.len() / 2];
        vec![
            ("cpu", median(0)),
            ("wall", median(1)),
            ("rounds", median(2)),
            ("gap", sorted(3)[runs.len() - 1]),
        ]
    });
    Ok(())
}

/// Together and seen, of two objects.
fn pair(ensemble: &Ensemble, i: usize, j: usize) -> (f64, f64) {
    if i == j {
        return (0.0, 0.0);
    }
    let both = (0..ensemble.bases().len())
        .filter_map(|u| Some((ensemble.label(i, u)?, ensemble.label(j, u)?)));
    both.fold((0.0, 0.0), |(c, n), (a, b)| {
        (c + f64::from(u8::from(a == b)), n + 1.0)
    })
}

fn tables() -> io::Result<()> {
    for (n, k, solvers) in [
        (1000, 10, &["block", "greedy", "plain"][..]),
        (5000, 4, &["block", "greedy"]),
    ] {
        table(&format!("n = {n}, K = {k}"), solvers, &[(n, k, 1)])?;
    }
    let block = &["block"];
    let sizes = [1000, 2000, 4000].map(|n| (n, 4, 1));
    table("growth with n, K = 4", block, &sizes)?;
    let counts = [5, 10, 20].map(|k| (2000, k, 1));
    table("growth with K, n = 2000", block, &counts)?;
    let threads = [1, 2].map(|threads| (4000, 10, threads));
    table("threads, n = 4000, K = 10", block, &threads)
}

/// Both divergences with some solvers, and some n, K and threads.
fn table(title: &str, solvers: &[&str], sizes: &[(usize, usize, usize)]) -> io::Result<()> {
    let mut contestants = Vec::new();
    for divergence in ["kl", "l2"] {
        for solver in solvers {
            for &(n, k, threads) in sizes {
                let name = format!("{divergence} {solver} n={n} K={k} threads={threads}");
                let sizes = [n, k, threads].map(|size| size.to_string());
                let words = ["case", divergence, solver, &sizes[0], &sizes[1], &sizes[2]];
                contestants.push(Contestant::own(name, &words).on(threads));
            }
        }
    }
    show(title, &contestants, &race(&contestants, ROUNDS)?);
    Ok(())
}

fn show(title: &str, contestants: &[Contestant], figures: &[Figures]) {
    println!(
        "\n{title}\n{:44} {:>8} {:>8} {:>9} {:>7} {:>9}",
        "", "cpu s", "wall s", "peak MiB", "rounds", "gap"
    );
    for (contestant, figures) in contestants.iter().zip(figures) {
        let at = |name: &str| figures.get(name).copied().unwrap_or(f64::NAN);
        let peak = at("peak") / f64::from(1 << 20);
        println!(
            "{:44} {:8.2} {:8.2} {peak:9.0} {:7.0} {:9.2e}",
            contestant.name,
            at("cpu"),
            at("wall"),
            at("rounds"),
            at("gap")
        );
    }
}

/// The whole method on sampled pairs.
fn whole(divergence: &str, n: usize) {
    let method: &dyn Consensus = if divergence == "kl" { &PCC_KL } else { &PCC_L2 };
    let ensemble = voronoi(n, Seed::new(1));
    let mut problem = Problem::new(&ensemble, Clusters::Exactly(10));
    problem.settings = SettingMap::parse(&["pairs_per_object=30", "tolerance=1e-3"])
        .expect("pairs of name and value");
    stage(|| {
        let outcome = consense(method, &problem, &Silent).expect("a consensus of complete labels");
        vec![
            ("gap", outcome.kkt_gap.unwrap_or(f64::NAN)),
            ("rounds", outcome.iterations as f64),
        ]
    });
}

fn large(cases: &[(&str, &str)]) -> io::Result<()> {
    let contestants: Vec<Contestant> = cases
        .iter()
        .map(|(divergence, n)| {
            let name = format!("pcc-{divergence} n={n}");
            Contestant::own(name, &["whole", divergence, n]).on(2)
        })
        .collect();
    let title = "30 partners an object, M = 20, K = 10";
    show(title, &contestants, &race(&contestants, 1)?);
    Ok(())
}

/// Ten Gaussian blobs, and 20 partitions into 5 to 20 random cells.
fn voronoi(n: usize, seed: Seed) -> Ensemble {
    let mut rng = seed.rng();
    let points = blobs(n, 10, &mut rng);
    let mut builder = EnsembleBuilder::new(n);
    for u in 0..20 {
        let cells: Vec<Point> = (0..rng.random_range(5..=20))
            .map(|_| points[rng.random_range(0..n)])
            .collect();
        let labels = points
            .iter()
            .map(|point| Some(nearest(&cells, point) as u32));
        builder
            .push_clusters(format!("u{u}"), labels, cells.len())
            .expect("a cell an object");
    }
    builder.finish().expect("there are objects")
}
