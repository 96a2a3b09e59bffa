//! Label rows that are read block by block give what rows in memory give, whatever cuts them.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::ops::Range;

use partita_core::ndarray::s;
use partita_core::{
    BaseClustering, Clusters, Consensus, Ensemble, EnsembleBuilder, GroupRows, LabelRows,
    ModelInput, PassRunner, RowBlocks, RowOutcome, RowProblem, Seed, SettingMap, Silent,
    SourceError, consense_rows,
};
use partita_mixture::{
    BCE, BceSettings, MM, MmSettings, NBCE_CVB, NBCE_VB, NbceVbSettings, WeightedRows, bce, mm,
    nbce_vb, nbce_vb_rows,
};
use rand::RngExt;
use rand::seq::SliceRandom;

/// An ensemble in groups of so many objects; reading the group `broken` fails.
struct Cut<'a> {
    ensemble: &'a Ensemble,
    size: usize,
    broken: Option<usize>,
}

impl<'a> Cut<'a> {
    fn new(ensemble: &'a Ensemble, size: usize) -> Self {
        Self {
            ensemble,
            size,
            broken: None,
        }
    }
}

impl RowBlocks for Cut<'_> {
    fn bases(&self) -> &[BaseClustering] {
        self.ensemble.bases()
    }

    fn groups(&self) -> usize {
        self.ensemble.objects().div_ceil(self.size)
    }

    fn rows_of(&self, group: usize) -> Range<u64> {
        let first = group * self.size;
        first as u64..(first + self.size).min(self.ensemble.objects()) as u64
    }

    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError> {
        let rows = self.rows_of(group);
        if self.broken == Some(group) {
            return Err(SourceError {
                first: rows.start,
                reason: "the page is damaged".into(),
            });
        }
        let rows = rows.start as usize..rows.end as usize;
        let LabelRows::Bytes(labels) = self.ensemble.rows() else {
            panic!("few clusters")
        };
        take(GroupRows::from(LabelRows::Bytes(
            labels.slice(s![rows, ..]),
        )));
        Ok(())
    }
}

/// Noisy copies of four groups; the last base clustering labels one object only.
fn ensemble(objects: usize) -> Ensemble {
    noisy(objects, 1)
}

/// The same where `share` eighths of the labels are any, and an eighth is missing: with 4, more than 33,000 of 60,000 rows differ.
fn noisy(objects: usize, share: u32) -> Ensemble {
    let mut rng = Seed::new(3).rng();
    let mut builder = EnsembleBuilder::new(objects);
    for u in 0..8u32 {
        let mut label = |i: usize| match rng.random_range(0..8) {
            0 => None,
            any if any <= share => Some(rng.random_range(0..4)),
            _ => Some((i as u32 + u) % 4),
        };
        let labels: Vec<Option<u32>> = (0..objects).map(&mut label).collect();
        builder.push_clusters(format!("u{u}"), labels, 4).unwrap();
    }
    let last = (0..objects).map(|i| (i + 2 == objects).then_some(0));
    builder.push_clusters("last", last, 1).unwrap();
    builder.finish().unwrap()
}

fn consensus(
    method: &dyn Consensus,
    source: &dyn RowBlocks,
    clusters: usize,
) -> (RowOutcome, Vec<u32>, Vec<f64>) {
    consensus_with(method, source, clusters, &[])
}

fn consensus_with(
    method: &dyn Consensus,
    source: &dyn RowBlocks,
    clusters: usize,
    settings: &[&str],
) -> (RowOutcome, Vec<u32>, Vec<f64>) {
    let (mut labels, mut certainty) = (Vec::new(), Vec::new());
    let mut problem = RowProblem::new(source, Clusters::Exactly(clusters));
    problem.seed = Seed::new(1);
    problem.settings = SettingMap::parse(settings).unwrap();
    let found = consense_rows(method, &problem, &Silent, &mut |first, block| {
        assert_eq!(first as usize, labels.len());
        labels.extend(block.labels);
        certainty.extend(block.certainty);
        Ok(())
    });
    (found.unwrap(), labels, certainty)
}

#[test]
fn groups_give_what_the_whole_gives() {
    let ensemble = ensemble(3000);
    let whole = nbce_vb(
        &WeightedRows::unfolded(&ensemble),
        6,
        Seed::new(1),
        &NbceVbSettings::default(),
        &Silent,
    )
    .unwrap();
    let (found, labels, certainty) = consensus(&NBCE_VB, &Cut::new(&ensemble, 700), 6);
    let (one, other) = (
        found.objective.unwrap().value,
        whole.objective.as_ref().unwrap().value,
    );
    assert!((one / other - 1.0).abs() < 1e-6, "{one} and {other}");
    assert_eq!(labels, whole.partition.labels());
    assert!(
        certainty
            .iter()
            .zip(&whole.certainty)
            .all(|(a, b)| (a - b).abs() < 1e-2)
    );
    let model = found.model.unwrap();
    let predicted = model
        .predict(&ModelInput::Labels(&ensemble))
        .unwrap()
        .hard();
    let same = predicted
        .labels()
        .iter()
        .zip(&labels)
        .filter(|(a, b)| a == b)
        .count();
    assert!(
        same > 2950 && found.sizes.iter().sum::<u64>() == 3000,
        "{same}"
    );
    let perplexity = found.details["perplexity"].as_f64().unwrap();
    assert!((perplexity / whole.details.fit.perplexity - 1.0).abs() < 1e-4);
}

/// More rows differ than are in a sample, so that rounds are passes.
#[test]
fn neither_threads_nor_groups_change_a_bit() {
    let ensemble = noisy(60_000, 4);
    assert!(
        ensemble.fragments().weights().len() > 33_000,
        "{}",
        ensemble.fragments().weights().len()
    );
    for (method, settings) in [
        (&NBCE_VB as &dyn Consensus, ["restarts=2", "rounds=5"]),
        (&NBCE_CVB, ["restarts=1", "rounds=4"]),
        (&MM, ["restarts=2", "rounds=5"]),
        (&BCE, ["restarts=1", "rounds=2"]),
    ] {
        let on = |threads: usize, size: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| consensus_with(method, &Cut::new(&ensemble, size), 4, &settings))
        };
        let (one, labels, certainty) = on(1, 60_000);
        let trace = &one.objective.as_ref().unwrap().trace;
        // That of nbce-cvb is no bound.
        let ascends = method.info().name != NBCE_CVB.info().name;
        assert!(
            !ascends
                || trace
                    .windows(2)
                    .all(|pair| pair[1] >= pair[0] - 1e-9 * pair[0].abs()),
            "{trace:?}"
        );
        for (threads, size) in [(3, 60_000), (1, 777), (8, 5000)] {
            let (found, again, sure) = on(threads, size);
            assert_eq!(
                (&found.objective, &again, &sure),
                (&one.objective, &labels, &certainty)
            );
        }
    }
}

/// Where few rows differ, the sample has all of them: the fit is the one in memory, and the order of objects changes no bit.
#[test]
fn few_different_rows_are_fitted_as_in_memory() {
    let ensemble = ensemble(2000);
    let whole = mm(
        &WeightedRows::of(&ensemble),
        4,
        Seed::new(1),
        &MmSettings::default(),
        &Silent,
    )
    .unwrap();
    let mut order: Vec<u32> = (0..2000).collect();
    order.shuffle(&mut Seed::new(4).rng());
    let shuffled = ensemble.select(&order, &(0..9).collect::<Vec<_>>());
    for method in [&MM as &dyn Consensus, &BCE, &NBCE_VB, &NBCE_CVB] {
        let (found, labels, _) = consensus(method, &Cut::new(&ensemble, 500), 4);
        let (same, moved, _) = consensus(method, &Cut::new(&shuffled, 333), 4);
        assert_eq!(found.objective, same.objective);
        assert!(
            order
                .iter()
                .zip(&moved)
                .all(|(&i, label)| labels[i as usize] == *label)
        );
    }
    let (found, labels, _) = consensus(&MM, &Cut::new(&ensemble, 500), 4);
    assert!((found.objective.unwrap().value / whole.objective.unwrap().value - 1.0).abs() < 1e-5);
    assert!(agreement(&labels, whole.partition.labels()) > 1990);
}

#[test]
fn one_cluster_and_an_object_without_labels_are_fitted() {
    let mut builder = EnsembleBuilder::new(300);
    for u in 0..4_u32 {
        builder
            .push(
                format!("u{u}"),
                (0..300).map(|i: u32| (i != 200).then_some((i / 7 + u) % 2)),
            )
            .unwrap();
    }
    let ensemble = builder.finish().unwrap();
    for method in [&MM as &dyn Consensus, &BCE, &NBCE_VB, &NBCE_CVB] {
        for clusters in [1, 2] {
            let (found, labels, certainty) = consensus(method, &Cut::new(&ensemble, 90), clusters);
            assert!(
                labels.iter().all(|&label| (label as usize) < clusters),
                "{:?}",
                found.sizes
            );
            assert!(certainty.iter().all(|c| (0.0..=1.0).contains(c)));
        }
    }
}

/// BCE by passes begins every row anew in every round; in memory it goes on where it stood. Both end near each other.
#[test]
fn bce_over_blocks_is_near_bce_in_memory() {
    let ensemble = noisy(100_000, 3);
    assert!(ensemble.fragments().weights().len() > 33_000);
    let settings = ["restarts=1", "rounds=30"];
    let (found, labels, _) = consensus_with(&BCE, &Cut::new(&ensemble, 9000), 4, &settings);
    let in_memory = SettingMap::parse(&settings)
        .unwrap()
        .apply::<BceSettings>()
        .unwrap();
    let whole = bce(
        &WeightedRows::of(&ensemble),
        4,
        Seed::new(1),
        &in_memory,
        &Silent,
    )
    .unwrap();
    let (one, other) = (found.objective.unwrap(), whole.objective.unwrap().value);
    assert!(
        (one.value / other - 1.0).abs() < 1e-4,
        "{one:?} and {other}"
    );
    let same = agreement(&labels, whole.partition.labels());
    assert!(same > 98_000, "{same}");
    let perplexity = found.details["perplexity_bound"].as_f64().unwrap();
    assert!(
        (perplexity / whole.details.perplexity_bound - 1.0).abs() < 1e-2,
        "{perplexity}"
    );
    let predicted = found
        .model
        .unwrap()
        .predict(&ModelInput::Labels(&ensemble))
        .unwrap()
        .hard();
    assert!(agreement(&labels, predicted.labels()) > 99_800);
}

/// Objects in the same of four clusters of both partitions, whatever their numbers are.
fn agreement(labels: &[u32], others: &[u32]) -> u32 {
    let mut cells = [[0u32; 4]; 4];
    labels
        .iter()
        .zip(others)
        .for_each(|(&a, &b)| cells[a as usize][b as usize] += 1);
    cells.iter().map(|row| row.iter().max().unwrap()).sum()
}

#[test]
fn what_either_side_says_ends_the_fit() {
    let ensemble = ensemble(200);
    let broken = Cut {
        broken: Some(1),
        ..Cut::new(&ensemble, 60)
    };
    let settings = NbceVbSettings::default();
    let refused = nbce_vb_rows(
        &PassRunner::new(&broken, &Silent),
        None,
        4,
        Seed::new(1),
        &settings,
        &Silent,
    );
    assert_eq!(
        refused.err().unwrap().to_string(),
        "rows from 60 on: the page is damaged"
    );
    let source = Cut::new(&ensemble, 60);
    let problem = RowProblem::new(&source, Clusters::Exactly(4));
    let full = consense_rows(&NBCE_VB, &problem, &Silent, &mut |_, _| {
        Err("the disk is full".into())
    });
    assert_eq!(full.unwrap_err().to_string(), "nbce-vb: the disk is full");
}
