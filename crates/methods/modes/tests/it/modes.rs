//! The number of answers of an ensemble: values by hand, planted answers, invariances.

use partita_core::{Ensemble, EnsembleBuilder, Flow, Monitor, Partition, Silent};
use partita_metrics::Contingency;
use partita_modes::{Modes, ModesError, find_modes};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn ensemble(columns: &[Vec<Option<usize>>]) -> Ensemble {
    let mut builder = EnsembleBuilder::new(columns[0].len());
    for (at, column) in columns.iter().enumerate() {
        let labels = column.iter().copied();
        builder.push(format!("u{at}"), labels).expect("labels");
    }
    builder.finish().expect("an ensemble")
}

fn found(columns: &[Vec<Option<usize>>]) -> Modes {
    find_modes(&ensemble(columns), &Silent).expect("modes")
}

/// Ctrl-C from the start.
struct Stop;
impl Monitor for Stop {
    fn tick(&self, _done: u64, _total: u64) -> Flow {
        Flow::Stop
    }
}

/// A copy of a partition with this share of its labels drawn anew, and labels called something else.
fn noisy(
    labels: &[usize],
    clusters: usize,
    share: f64,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Option<usize>> {
    let shift = random.random_range(0..clusters);
    let labels = labels.iter().map(|&label| {
        let drawn = random.random::<f64>() < share;
        let label = if drawn {
            random.random_range(0..clusters)
        } else {
            label
        };
        Some((label + shift) % clusters)
    });
    labels.collect()
}

#[test]
fn the_description_length_of_a_tiny_ensemble() {
    let columns = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 2, 2]];
    // Three base clusterings are at most one mode: 17.804495 for the mode, ln 3 to say how many there could be.
    let found = found(&columns.map(|labels| labels.map(Some).to_vec()));
    assert_eq!((found.modes.len(), found.by_number.len()), (1, 1));
    let length = found.description_length - 3f64.ln();
    assert!((length - 17.804495).abs() < 1e-6, "{length}");
    assert_eq!(found.modes[0].partition.labels(), [1, 1, 1, 0, 0, 0]);
    assert_eq!(found.disagreement, [0.0; 6]);
    for row in found.modes[0].soft.rows().outer_iter() {
        assert!((row.sum() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn planted_answers_are_found_and_one_answer_is_not_split() {
    for seed in 0..20 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // Neither refines the other: four groups in rows, four in columns of a square.
        let rows: Vec<usize> = (0..144).map(|i| i / 12 / 3).collect();
        let columns: Vec<usize> = (0..144).map(|i| i % 12 / 3).collect();
        let mut two: Vec<Vec<Option<usize>>> = Vec::new();
        for _ in 0..50 {
            two.push(noisy(&rows, 4, 0.2, &mut random));
            two.push(noisy(&columns, 4, 0.2, &mut random));
        }
        let of_two = found(&two);
        let shares: Vec<f64> = of_two.modes.iter().map(|mode| mode.share).collect();
        assert_eq!(shares, [0.5, 0.5], "seed {seed}");
        let first = &of_two.modes[0];
        assert!(first.members.iter().copied().eq((0..100).step_by(2)));
        assert_eq!(first.partition.live_clusters(), 4);
        assert!(of_two.disagreement.iter().sum::<f64>() / 144.0 > 0.4);
        let one = (0..50).map(|_| noisy(&rows, 4, 0.3, &mut random));
        let one: Vec<Vec<Option<usize>>> = one.collect();
        assert_eq!(found(&one).modes.len(), 1, "seed {seed}");
    }
}

#[test]
fn nested_granularities_are_described() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut columns = Vec::new();
    for groups in [2, 4, 8] {
        let labels: Vec<usize> = (0..160).map(|i| i * groups / 160).collect();
        columns.extend((0..30).map(|_| noisy(&labels, groups, 0.1, &mut random)));
    }
    let found = found(&columns);
    let clusters = found
        .modes
        .iter()
        .map(|mode| mode.partition.live_clusters());
    let mut clusters: Vec<usize> = clusters.collect();
    clusters.sort_unstable();
    assert_eq!(clusters, [2, 4, 8]);
    for mode in found.modes {
        assert!((mode.share - 1.0 / 3.0).abs() < 0.02, "{}", mode.share);
    }
}

#[test]
fn names_of_labels_order_of_objects_and_gaps_do_not_matter() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let halves: Vec<usize> = (0..60).map(|i| i / 30).collect();
    let thirds: Vec<usize> = (0..60).map(|i| i % 3).collect();
    let mut columns: Vec<Vec<Option<usize>>> = Vec::new();
    for _ in 0..12 {
        columns.push(noisy(&halves, 2, 0.15, &mut random));
        columns.push(noisy(&thirds, 3, 0.15, &mut random));
    }
    for column in &mut columns {
        (0..6).for_each(|_| column[random.random_range(0..60)] = None);
    }
    let one = found(&columns);
    assert_eq!(one.modes.len(), 2);
    for column in &mut columns {
        column.reverse();
        column
            .iter_mut()
            .flatten()
            .for_each(|label| *label = 2 - *label);
    }
    let other = found(&columns);
    assert!((other.description_length - one.description_length).abs() < 1e-6);
    for (a, b) in one.modes.iter().zip(&other.modes) {
        assert_eq!(a.members, b.members);
        let reversed: Vec<u32> = b.partition.labels().iter().rev().copied().collect();
        let same = Contingency::new(&a.partition, &Partition::from_values(&reversed));
        assert!((same.expect("as many objects").ari() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn one_base_clustering_is_one_answer_and_ctrl_c_ends_it() {
    let column = vec![Some(0), Some(1), None, Some(1)];
    let found = found(&[column]);
    assert_eq!((found.modes.len(), found.modes[0].share), (1, 1.0));
    let labels = found.modes[0].partition.labels();
    assert_eq!(labels[1], labels[3]);
    let two = ensemble(&[vec![Some(0), Some(1)], vec![Some(0), Some(1)]]);
    let stopped = find_modes(&two, &Stop).unwrap_err();
    assert_eq!(stopped, ModesError::Interrupted);
}
