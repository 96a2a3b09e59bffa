//! Medians by loss over label rows that are not held: as good as in memory, and what they say of themselves is so.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use partita_conformance::check_with;
use partita_core::{
    Assigned, BaseWeights, Clusters, Consensus, Ensemble, EnsembleBuilder, EnsembleRows, Outcome,
    Partition, Problem, RowOutcome, RowProblem, Seed, SettingMap, Silent, consense, consense_rows,
};
use partita_median::{MEDIAN_BINDER, MEDIAN_VI};
use partita_metrics::Contingency;
use rand::RngExt;

const LOSSES: [&str; 6] = ["vi", "nvi", "id", "nid", "binder", "ari"];

fn method(loss: &str) -> &'static dyn Consensus {
    if ["binder", "ari"].contains(&loss) {
        &MEDIAN_BINDER
    } else {
        &MEDIAN_VI
    }
}

/// What is drawn: objects, base clusterings, their clusters, and the share of labels that are at random.
struct Draw {
    objects: usize,
    bases: u32,
    clusters: u32,
    noise: f64,
    missing: f64,
}

impl Draw {
    /// Base clusterings of planted clusters, and these. The first base clustering lacks no label.
    fn ensemble(&self, seed: u64) -> (Ensemble, Vec<u32>) {
        let mut rng = Seed::new(seed).rng();
        let truth: Vec<u32> = (0..self.objects)
            .map(|_| rng.random_range(0..self.clusters))
            .collect();
        let mut builder = EnsembleBuilder::new(self.objects);
        for u in 0..self.bases {
            let clusters = self.clusters + u % 3;
            let mut label = |&k: &u32| {
                let label = if rng.random_bool(self.noise) {
                    rng.random_range(0..clusters)
                } else {
                    k
                };
                (u == 0 || !rng.random_bool(self.missing)).then_some(label)
            };
            let column: Vec<Option<u32>> = truth.iter().map(&mut label).collect();
            builder.push(u.to_string(), column).unwrap();
        }
        (builder.finish().unwrap(), truth)
    }
}

fn by_rows(
    ensemble: &Ensemble,
    clusters: Clusters,
    loss: &str,
    weights: Option<&BaseWeights>,
) -> (RowOutcome, Assigned) {
    let source = EnsembleRows::new(ensemble);
    let mut problem = RowProblem::new(&source, clusters).seed(1);
    problem.weights = weights;
    problem.settings = SettingMap::parse(&[&format!("loss={loss}")]).unwrap();
    let mut all = Assigned::default();
    let found = consense_rows(method(loss), &problem, &Silent, &mut |_, block| {
        all.labels.extend(block.labels);
        all.certainty.extend(block.certainty);
        Ok(())
    });
    (found.unwrap(), all)
}

fn in_memory(
    ensemble: &Ensemble,
    clusters: Clusters,
    loss: &str,
    weights: Option<&BaseWeights>,
) -> Outcome {
    let mut problem = Problem::new(ensemble, clusters).seed(1);
    problem.weights = weights;
    problem.settings = SettingMap::parse(&[&format!("loss={loss}")]).unwrap();
    consense(method(loss), &problem, &Silent).unwrap()
}

/// Draws of few rows, and of so many that starts are tried on a sample.
fn draws() -> impl Iterator<Item = (u64, Draw, Clusters)> {
    (0..6).map(|seed| {
        let clusters = 3 + seed as u32 % 4;
        let objects = if seed % 3 == 0 { 11_000 } else { 2500 };
        let (noise, missing) = (
            if seed % 4 < 2 { 0.3 } else { 0.5 },
            if seed % 2 == 0 { 0.0 } else { 0.1 },
        );
        let asked = if seed % 6 == 1 {
            Clusters::Auto
        } else {
            Clusters::Exactly(clusters as usize)
        };
        (
            seed,
            Draw {
                objects,
                bases: 10,
                clusters,
                noise,
                missing,
            },
            asked,
        )
    })
}

/// The mean loss of labels against the base clusterings, from tables of counts.
fn loss_of(loss: &str, ensemble: &Ensemble, labels: &[u32], weights: &[f64]) -> f64 {
    let term = |count: f64| match loss {
        "vi" if count > 0.0 => count * count.log2(),
        "vi" => 0.0,
        _ => count * count,
    };
    let against = |u: usize| {
        let mut table = vec![
            vec![0.0; ensemble.bases()[u].clusters()];
            1 + *labels.iter().max().unwrap() as usize
        ];
        let seen = labels
            .iter()
            .zip(ensemble.column(u))
            .filter_map(|(&k, label)| Some((k as usize, label?)));
        seen.for_each(|(k, label)| table[k][label] += 1.0);
        let b: f64 = table.iter().map(|row| term(row.iter().sum())).sum();
        let v: f64 = (0..table[0].len())
            .map(|c| term(table.iter().map(|row| row[c]).sum()))
            .sum();
        let j: f64 = table.iter().flatten().map(|&count| term(count)).sum();
        let n: f64 = table.iter().flatten().sum();
        (b + v - 2.0 * j) / if loss == "vi" { n } else { n * n }
    };
    let all: f64 = weights.iter().sum();
    (0..weights.len())
        .map(|u| weights[u] * against(u))
        .sum::<f64>()
        / all
}

#[test]
fn the_loss_by_blocks_is_that_in_memory_or_nearly_and_never_rises() {
    let mut rounds = 0;
    for loss in LOSSES {
        let (mut worst, mut sum, mut count) = (0.0f64, 0.0, 0);
        for (seed, draw, clusters) in
            draws().filter(|(seed, ..)| ["vi", "binder"].contains(&loss) || (2..4).contains(seed))
        {
            let (ensemble, _) = draw.ensemble(seed);
            let weights: Vec<f64> = (0..draw.bases).map(|u| 1.0 + f64::from(u % 3)).collect();
            let given = BaseWeights::new(weights.clone()).unwrap();
            let memory = in_memory(&ensemble, clusters, loss, Some(&given))
                .objective
                .unwrap()
                .value;
            let (rows, all) = by_rows(&ensemble, clusters, loss, Some(&given));
            let objective = rows.objective.unwrap();
            assert!(
                objective.trace.windows(2).all(|two| two[1] < two[0]),
                "{loss} {seed}: {:?}",
                objective.trace
            );
            assert_eq!(
                objective.trace.last(),
                Some(&objective.value),
                "{loss} {seed}"
            );
            let starts = rows.details["objective_by_restart"]
                .as_array()
                .unwrap()
                .iter();
            let start = starts
                .map(|start| start.as_f64().unwrap())
                .fold(f64::INFINITY, f64::min);
            assert!(
                draw.objects > 10_000 || objective.value <= start + 1e-12,
                "{loss} {seed}: {start}"
            );
            if ["vi", "binder"].contains(&loss) {
                let told = loss_of(loss, &ensemble, &all.labels, &weights);
                assert!(
                    (told / objective.value - 1.0).abs() < 1e-9,
                    "{loss} {seed}: {told} {}",
                    objective.value
                );
            }
            let more = objective.value / memory - 1.0;
            (worst, sum, rounds, count) = (
                worst.max(more),
                sum + more,
                rounds.max(rows.rounds),
                count + 1,
            );
        }
        assert!(
            worst < 0.005 && sum < 0.001 * f64::from(count),
            "{loss}: {worst} {sum} of {count}"
        );
    }
    assert!(rounds > 1, "no start was improved");
}

#[test]
fn certainty_is_that_in_memory_where_rows_differ() {
    for loss in LOSSES {
        let (mut same, mut compared) = (0, 0);
        for seed in 0..6 {
            let draw = Draw {
                objects: 400,
                bases: 12,
                clusters: 4,
                noise: 0.4,
                missing: 0.1,
            };
            let (ensemble, _) = draw.ensemble(seed);
            let clusters = if seed % 2 == 0 {
                Clusters::Auto
            } else {
                Clusters::Exactly(3)
            };
            let (_, rows) = by_rows(&ensemble, clusters, loss, None);
            let memory = in_memory(&ensemble, clusters, loss, None);
            if Partition::from_values(&rows.labels).by_appearance()
                != memory.partition.by_appearance()
            {
                continue;
            }
            let within = if ["vi", "binder"].contains(&loss) {
                1e-9
            } else {
                1e-3
            };
            let close = |(a, b): &(&f64, &f64)| (*a - *b).abs() < within;
            same += rows
                .certainty
                .iter()
                .zip(&memory.certainty)
                .filter(close)
                .count();
            compared += rows.certainty.len();
        }
        // Other losses have kinks, where a row changes more than what its first object does.
        let least = if ["vi", "binder"].contains(&loss) {
            compared
        } else {
            compared / 10 * 9
        };
        assert!(
            compared > 0 && same >= least,
            "{loss}: {same} of {compared}"
        );
    }
}

#[test]
fn planted_clusters_come_back_and_the_number_is_found() {
    for loss in LOSSES {
        let draw = Draw {
            objects: 20_000,
            bases: 15,
            clusters: 5,
            noise: 0.25,
            missing: 0.05,
        };
        let (ensemble, truth) = draw.ensemble(9);
        let (found, all) = by_rows(&ensemble, Clusters::Exactly(5), loss, None);
        let table = Contingency::new(
            &Partition::from_values(&all.labels),
            &Partition::from_values(&truth),
        )
        .unwrap();
        assert!(table.accuracy() > 0.98, "{loss}: {}", table.accuracy());
        assert_eq!(found.details["clusters"], found.sizes.len());
        assert!(
            found.sizes.iter().all(|size| *size > 0),
            "{loss}: {:?}",
            found.sizes
        );
    }
    let draw = Draw {
        objects: 20_000,
        bases: 15,
        clusters: 5,
        noise: 0.1,
        missing: 0.0,
    };
    let (found, _) = by_rows(&draw.ensemble(3).0, Clusters::Auto, "vi", None);
    assert_eq!(found.sizes.len(), 5);
}

#[test]
fn a_limit_of_sweeps_and_settings_that_do_not_fit_are_said() {
    let draw = Draw {
        objects: 300,
        bases: 5,
        clusters: 3,
        noise: 0.9,
        missing: 0.0,
    };
    let (ensemble, _) = draw.ensemble(1);
    let source = EnsembleRows::new(&ensemble);
    let run = |settings: &[&str]| {
        let mut problem = RowProblem::new(&source, Clusters::Exactly(3));
        problem.settings = SettingMap::parse(settings).unwrap();
        consense_rows(&MEDIAN_VI, &problem, &Silent, &mut |_, _| Ok(()))
    };
    let limited = run(&["sweeps=1"]).unwrap();
    assert!(
        limited
            .warnings
            .iter()
            .any(|said| said.contains("limit of 1 sweeps")),
        "{:?}",
        limited.warnings
    );
    assert!(run(&["loss=nid", "asymmetry=0.5"]).is_err());
    let sum = |found: &RowOutcome| found.details["base_losses"].as_array().unwrap().len();
    assert_eq!(sum(&limited), 5);
}

#[test]
fn medians_by_blocks_keep_what_every_method_does() {
    for method in [&MEDIAN_VI as &dyn Consensus, &MEDIAN_BINDER] {
        check_with(method, &[], 3);
    }
}
