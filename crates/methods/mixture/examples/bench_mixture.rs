//! Ways of inference for NBCE: `cargo xtask bench mixture [-- large]`.
//!
//! The first table: 2310 objects in 7 groups, 10 base clusterings of 4, 5, 7, 10 and 14 clusters (twice each), a fifth of
//! the labels wrong, at most 100 clusters; one thread, three times in turns, each beside a naive reference that follows the
//! formulas (counts in nested vectors, a logarithm a factor, an exponential a cluster). The second: the default method
//! on 1,000,000 objects with 20 base clusterings of 8 to 30 clusters, a quarter of the labels wrong and 5 % missing, at
//! most 30 clusters, to a relative change of the bound of 1e-6, on two threads, in memory and from Parquet in groups
//! of 500,000 rows. `large` does 10,000,000 from Parquet instead.
#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

use std::error::Error;
use std::num::NonZeroU32;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{env, io};

use partita_conformance::race::{Contestant, Figures, race, stage};
use partita_core::{
    BaseClustering, Clusters, Ensemble, EnsembleBuilder, GroupRows, Method, PassRunner, Problem,
    RowBlocks, RowProblem, Seed, Silent, SourceError,
};
use partita_files::{LabelGroups, ReadOptions, write_ensemble};
use partita_mixture::{
    NBCE_CVB, NBCE_VB, NbceCvbSettings, NbceGibbsSettings, NbceVbSettings, nbce_draws,
};
use rand::{Rng, RngExt};
use statrs::function::gamma::digamma;

const OBJECTS: usize = 2310;
const CLUSTERS: usize = 100;
const SWEEPS: u32 = 100;
const VB_ROUNDS: u32 = 54;
const CVB_ROUNDS: u32 = 100;

/// Rows of one file, which is one row group.
const PART: usize = 500_000;
const MANY_CLUSTERS: usize = 30;

/// Clusters of the 20 base clusterings of many objects.
const SIZES: [u32; 20] = [
    8, 10, 12, 15, 18, 20, 25, 9, 11, 14, 16, 22, 24, 30, 10, 12, 20, 15, 28, 30,
];

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => tables()?,
        ["large"] => parquet(10_000_000)?,
        ["case", name] => case(name),
        ["memory", objects] => in_memory(objects.parse()?),
        ["stream", folder] => stream(Path::new(folder))?,
        _ => return Err("no such case".into()),
    }
    Ok(())
}

fn tables() -> Result<(), Box<dyn Error>> {
    let cases = ["Gibbs, 100 sweeps", "VB, 54 rounds", "CVB, 100 rounds"];
    let both = cases
        .into_iter()
        .flat_map(|case| [case.to_owned(), format!("naive {case}")]);
    let contestants: Vec<Contestant> = both
        .map(|name| Contestant::own(name.clone(), &["case", &name]))
        .collect();
    show(
        "n = 2310, M = 10, K = 100",
        &contestants,
        &race(&contestants, 3)?,
    );
    let contestants = [Contestant::own("in memory", &["memory", "1000000"]).on(2)];
    show(
        "VB, n = 1,000,000, M = 20, K = 30",
        &contestants,
        &race(&contestants, 1)?,
    );
    parquet(1_000_000)
}

fn parquet(objects: usize) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    for part in 0..objects / PART {
        write_ensemble(
            &folder.path().join(format!("{part:03}.parquet")),
            &many(PART, part as u64),
            None,
        )?;
    }
    let path = folder
        .path()
        .to_str()
        .ok_or("the folder of temporary files has no readable name")?;
    let contestants = [Contestant::own("from Parquet, 1 GiB", &["stream", path]).on(2)];
    show(
        &format!("VB, n = {objects}, M = 20, K = 30"),
        &contestants,
        &race(&contestants, 1)?,
    );
    Ok(())
}

fn show(title: &str, contestants: &[Contestant], figures: &[Figures]) {
    println!(
        "\n{title}\n{:28} {:>8} {:>8} {:>9} {:>7} {:>14}",
        "", "cpu s", "wall s", "peak MiB", "rounds", "bound"
    );
    for (contestant, figures) in contestants.iter().zip(figures) {
        let at = |name: &str| figures.get(name).copied().unwrap_or(f64::NAN);
        let peak = at("peak") / f64::from(1 << 20);
        println!(
            "{:28} {:8.2} {:8.2} {peak:9.0} {:7.0} {:14.0}",
            contestant.name,
            at("cpu"),
            at("wall"),
            at("rounds"),
            at("bound")
        );
    }
}

fn case(name: &str) {
    let ensemble = ensemble();
    let labels = Naive::of(&ensemble);
    stage(|| {
        let value = match name {
            "Gibbs, 100 sweeps" => gibbs(&ensemble),
            "VB, 54 rounds" => vb(&ensemble),
            "CVB, 100 rounds" => cvb(&ensemble),
            "naive Gibbs, 100 sweeps" => labels.gibbs(SWEEPS),
            "naive VB, 54 rounds" => labels.vb(VB_ROUNDS),
            _ => labels.cvb(CVB_ROUNDS),
        };
        vec![("bound", value)]
    });
}

/// Ten groups; in every base clustering each is spread over three clusters.
fn many(objects: usize, part: u64) -> Ensemble {
    let mut rng = Seed::new(part).rng();
    let mut builder = EnsembleBuilder::new(objects);
    let groups: Vec<u32> = (0..objects).map(|_| rng.random_range(0..10)).collect();
    for (u, &clusters) in SIZES.iter().enumerate() {
        let mut shape = Seed::new(u64::MAX).child(u as u64).rng();
        let places: Vec<[u32; 3]> = (0..10)
            .map(|_| [(); 3].map(|()| shape.random_range(0..clusters)))
            .collect();
        let label = |&group: &u32| match rng.random_range(0..100) {
            0..5 => None,
            5..30 => Some(rng.random_range(0..clusters)),
            _ => Some(places[group as usize][rng.random_range(0..3)]),
        };
        let labels: Vec<Option<u32>> = groups.iter().map(label).collect();
        builder
            .push_clusters(format!("u{u}"), labels, clusters as usize)
            .expect("labels below the clusters");
    }
    builder.finish().expect("objects and base clusterings")
}

fn in_memory(objects: usize) {
    let ensemble = many(objects, 0);
    stage(|| {
        let settings = NbceVbSettings::default();
        let problem = Problem::new(&ensemble, Clusters::Exactly(MANY_CLUSTERS)).seed(1);
        let outcome = NBCE_VB
            .fit(&problem, &settings, &Silent)
            .expect("valid settings");
        vec![
            ("rounds", outcome.iterations as f64),
            ("bound", outcome.objective.map_or(f64::NAN, |o| o.value)),
        ]
    });
}

/// Files of one group each, with the same labels in all.
struct Files(Vec<LabelGroups>);

impl RowBlocks for Files {
    fn bases(&self) -> &[BaseClustering] {
        self.0[0].bases()
    }

    fn groups(&self) -> usize {
        self.0.len()
    }

    fn rows_of(&self, group: usize) -> Range<u64> {
        let first: usize = self.0[..group].iter().map(LabelGroups::objects).sum();
        first as u64..(first + self.0[group].objects()) as u64
    }

    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError> {
        self.0[group].read(0, take)
    }
}

fn stream(folder: &Path) -> Result<(), Box<dyn Error>> {
    let paths: io::Result<Vec<PathBuf>> =
        folder.read_dir()?.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths?;
    paths.sort();
    stage(|| {
        let open = |path: &PathBuf| {
            LabelGroups::open(path, &ReadOptions::default()).expect("a file of ours")
        };
        let files = Files(
            paths
                .iter()
                .map(|path| open(path).expect("it is Parquet"))
                .collect(),
        );
        let settings = NbceVbSettings::default();
        let rows = PassRunner::new(&files, &Silent);
        let problem = RowProblem::new(&files, Clusters::Exactly(MANY_CLUSTERS)).seed(1);
        let found = NBCE_VB
            .fit_rows(&problem, &settings, &Silent)
            .expect("files can be read");
        found
            .label(&rows, &mut |_, _| Ok(()))
            .expect("files can be read");
        vec![
            ("rounds", found.iterations as f64),
            (
                "bound",
                found.objective.map_or(0.0, |objective| objective.value),
            ),
        ]
    });
    Ok(())
}

fn ensemble() -> Ensemble {
    let mut rng = Seed::new(1).rng();
    let mut builder = EnsembleBuilder::new(OBJECTS);
    for u in 0..10 {
        let clusters = [4, 5, 7, 10, 14][u % 5];
        let mut label = |i: usize| {
            let wrong = rng.random_bool(0.2);
            let part = rng.random_range(0..(clusters as usize).div_ceil(7)) as u32;
            let right = ((i % 7) as u32 + 7 * part) % clusters;
            Some(if wrong {
                rng.random_range(0..clusters)
            } else {
                right
            })
        };
        let labels: Vec<Option<u32>> = (0..OBJECTS).map(&mut label).collect();
        builder
            .push_clusters(format!("u{u}"), labels, clusters as usize)
            .expect("labels below the clusters");
    }
    builder.finish().expect("objects and base clusterings")
}

fn count(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("not zero")
}

fn gibbs(ensemble: &Ensemble) -> f64 {
    let mut settings = NbceGibbsSettings::default();
    (
        settings.chains,
        settings.burn_in,
        settings.sweeps,
        settings.keep,
    ) = (count(1), 0, count(SWEEPS), count(1));
    let draws =
        nbce_draws(ensemble, CLUSTERS, Seed::new(1), &settings, &Silent).expect("valid settings");
    draws.samples.log_joint()[0]
}

fn vb(ensemble: &Ensemble) -> f64 {
    let mut settings = NbceVbSettings::default();
    (settings.restarts, settings.iterations, settings.tolerance) =
        (count(1), count(VB_ROUNDS), 0.0);
    let problem = Problem::new(ensemble, Clusters::Exactly(CLUSTERS)).seed(1);
    let outcome = NBCE_VB
        .fit(&problem, &settings, &Silent)
        .expect("valid settings");
    assert_eq!(
        outcome.iterations,
        u64::from(VB_ROUNDS),
        "it stopped early: the figure would flatter"
    );
    outcome.objective.map_or(0.0, |objective| objective.value)
}

fn cvb(ensemble: &Ensemble) -> f64 {
    let mut settings = NbceCvbSettings::default();
    (settings.restarts, settings.iterations, settings.tolerance) =
        (count(1), count(CVB_ROUNDS), 0.0);
    let problem = Problem::new(ensemble, Clusters::Exactly(CLUSTERS)).seed(1);
    let outcome = NBCE_CVB
        .fit(&problem, &settings, &Silent)
        .expect("valid settings");
    assert_eq!(
        outcome.iterations,
        u64::from(CVB_ROUNDS),
        "it stopped early: the figure would flatter"
    );
    outcome.objective.map_or(0.0, |objective| objective.value)
}

/// Labels as the formulas see them; α0 = β = 1, symmetric prior, nothing missing.
struct Naive {
    labels: Vec<Vec<usize>>,
    sizes: Vec<usize>,
}

/// N_k and N_kuj.
struct Counts {
    clusters: Vec<f64>,
    labels: Vec<Vec<Vec<f64>>>,
}

impl Naive {
    fn of(ensemble: &Ensemble) -> Self {
        let bases = 0..ensemble.bases().len();
        let row = |i| {
            bases
                .clone()
                .map(|u| ensemble.label(i, u).expect("nothing is missing"))
                .collect()
        };
        let sizes = ensemble
            .bases()
            .iter()
            .map(partita_core::BaseClustering::clusters)
            .collect();
        Self {
            labels: (0..ensemble.objects()).map(row).collect(),
            sizes,
        }
    }

    fn count(&self, soft: &[Vec<f64>]) -> Counts {
        let empty: Vec<Vec<f64>> = self.sizes.iter().map(|&size| vec![0.0; size]).collect();
        let mut counts = Counts {
            clusters: vec![0.0; CLUSTERS],
            labels: vec![empty; CLUSTERS],
        };
        for (row, soft) in self.labels.iter().zip(soft) {
            for (k, p) in soft.iter().enumerate() {
                counts.clusters[k] += p;
                row.iter()
                    .enumerate()
                    .for_each(|(u, &j)| counts.labels[k][u][j] += p);
            }
        }
        counts
    }

    /// ln of the conditional of a row, when `own` memberships do not count.
    fn conditional(&self, row: &[usize], own: &[f64], counts: &Counts) -> Vec<f64> {
        let cluster = |k: usize| {
            let labels = row.iter().enumerate().map(|(u, &j)| {
                let rest = self.sizes[u] as f64 + counts.clusters[k] - own[k];
                (1.0 + counts.labels[k][u][j] - own[k]).ln() - rest.ln()
            });
            (1.0 / CLUSTERS as f64 + counts.clusters[k] - own[k]).ln() + labels.sum::<f64>()
        };
        (0..CLUSTERS).map(cluster).collect()
    }

    fn start(&self) -> Vec<Vec<f64>> {
        let one = |i: usize| {
            (0..CLUSTERS)
                .map(|k| f64::from(u8::from(i % CLUSTERS == k)))
                .collect()
        };
        (0..self.labels.len()).map(one).collect()
    }

    fn gibbs(&self, sweeps: u32) -> f64 {
        let mut rng = Seed::new(1).rng();
        let mut soft = self.start();
        let mut counts = self.count(&soft);
        for _ in 0..sweeps {
            for (row, own) in self.labels.iter().zip(&mut soft) {
                let p = softmax(&self.conditional(row, own, &counts));
                let from = own
                    .iter()
                    .position(|&p| p == 1.0)
                    .expect("every object is somewhere");
                let to = draw(&p, &mut rng);
                for (k, change) in [(from, -1.0), (to, 1.0)] {
                    counts.clusters[k] += change;
                    row.iter()
                        .enumerate()
                        .for_each(|(u, &j)| counts.labels[k][u][j] += change);
                    own[k] += change;
                }
            }
        }
        counts.clusters[0]
    }

    fn cvb(&self, iterations: u32) -> f64 {
        let mut soft = self.start();
        for _ in 0..iterations {
            let counts = self.count(&soft);
            for (row, own) in self.labels.iter().zip(&mut soft) {
                *own = softmax(&self.conditional(row, own, &counts));
            }
        }
        soft[0][0]
    }

    fn vb(&self, iterations: u32) -> f64 {
        let mut soft = self.start();
        for _ in 0..iterations {
            let counts = self.count(&soft);
            let label = |k: usize, u: usize| {
                let all = digamma(self.sizes[u] as f64 + counts.clusters[k]);
                counts.labels[k][u]
                    .iter()
                    .map(|count| digamma(1.0 + count) - all)
                    .collect::<Vec<f64>>()
            };
            let cluster = |k| (0..self.sizes.len()).map(|u| label(k, u)).collect();
            let logs: Vec<Vec<Vec<f64>>> = (0..CLUSTERS).map(cluster).collect();
            let prior: Vec<f64> = counts
                .clusters
                .iter()
                .map(|n| digamma(1.0 / CLUSTERS as f64 + n))
                .collect();
            for (row, own) in self.labels.iter().zip(&mut soft) {
                let score = |k: usize| {
                    prior[k]
                        + row
                            .iter()
                            .enumerate()
                            .map(|(u, &j)| logs[k][u][j])
                            .sum::<f64>()
                };
                *own = softmax(&(0..CLUSTERS).map(score).collect::<Vec<f64>>());
            }
        }
        soft[0][0]
    }
}

fn softmax(logs: &[f64]) -> Vec<f64> {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

fn draw(p: &[f64], rng: &mut impl Rng) -> usize {
    let mut left = rng.random::<f64>();
    let passed = |p: &f64| {
        left -= p;
        left < 0.0
    };
    p.iter().position(passed).unwrap_or(p.len() - 1)
}
