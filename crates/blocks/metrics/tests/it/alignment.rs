//! Alignment of base clusterings.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use partita_conformance::fixtures;
use partita_core::{BaseWeights, Ensemble, ObjectWeights, Partition, Seed, WeightedEnsemble};
use partita_metrics::{
    Alignment, Contingency, MetricsError, Normalisation, Surplus, agreement_matrix,
    agreement_weights, align, align_to, align_to_partition, anmi, best_reference,
};
use rand::{RngExt, seq::SliceRandom};

type Columns = Vec<Vec<Option<u32>>>;

fn ensemble(columns: &[Vec<Option<u32>>]) -> Ensemble {
    let columns = columns.iter().enumerate();
    partita_conformance::ensemble(columns.map(|(u, column)| (format!("u{u}"), column.clone())))
}

/// Labels, of which those below 0 are missing.
fn known<const N: usize>(columns: &[[i64; N]]) -> Columns {
    let known = |column: &[i64; N]| column.map(|label| u32::try_from(label).ok()).to_vec();
    columns.iter().map(known).collect()
}

fn columns(value: &serde_json::Value) -> Columns {
    let rows: Vec<Vec<i64>> = serde_json::from_value(value.clone()).unwrap();
    let column = |row: Vec<i64>| {
        row.into_iter()
            .map(|label| u32::try_from(label).ok())
            .collect()
    };
    rows.into_iter().map(column).collect()
}

fn aligned(alignment: &Alignment, ensemble: &Ensemble) -> Columns {
    let bases = 0..ensemble.bases().len();
    bases
        .map(|u| alignment.column(ensemble, u).collect())
        .collect()
}

#[test]
fn alignment_equals_that_of_the_independent_implementation() {
    let all = fixtures();
    let ensemble = ensemble(&columns(&all["labels"]));
    let alignment = align(&ensemble, None, Surplus::Nearest).unwrap();
    let expected = &all["ssce"];
    assert_eq!(expected["reference_row"], alignment.reference().unwrap());
    assert_eq!(
        aligned(&alignment, &ensemble),
        columns(&expected["aligned"])
    );
    assert_eq!(alignment.labels(), 3);

    // Its surplus clusters joined the nearest label; by default they keep labels of their own.
    let own = align(&ensemble, None, Surplus::Own).unwrap();
    assert_eq!(own.labels(), 5);
    assert_eq!(own.codes(3), [1, 3, 0, 2]);
    assert_eq!(own.codes(5), [3, 0, 1, 4, 2]);
    for u in 0..12 {
        let table = Contingency::of_bases(&ensemble, u, 0).unwrap();
        let agree = own.column(&ensemble, u).zip(ensemble.column(0));
        let agree = agree.filter(|(a, b)| a.is_some() && a.map(|a| a as usize) == *b);
        assert_eq!(agree.count(), table.matched_objects() as usize);
    }
}

#[test]
fn renamed_copies_align_exactly() {
    for seed in 0..100 {
        let mut rng = Seed::new(seed).rng();
        let k = rng.random_range(2..9);
        let mut original: Vec<u32> = (0..k).collect();
        original.extend((k..50).map(|_| rng.random_range(0..k)));
        let mut copies = Vec::new();
        for _ in 0..5 {
            let mut names: Vec<u32> = (0..k).collect();
            names.shuffle(&mut rng);
            let labels = original.iter().map(|&o| {
                let kept = rng.random_bool(0.9);
                (kept || o == 0).then(|| names[o as usize])
            });
            copies.push(labels.collect());
        }
        let ensemble = ensemble(&copies);
        let alignment = align(&ensemble, None, Surplus::Own).unwrap();
        let columns = aligned(&alignment, &ensemble);
        for i in 0..50 {
            let mut seen: Vec<u32> = columns.iter().filter_map(|column| column[i]).collect();
            seen.dedup();
            assert!(seen.len() <= 1, "seed {seed} object {i}: {seen:?}");
            let mut pairs = copies.iter().zip(&columns);
            assert!(pairs.all(|(a, b)| a[i].is_none() == b[i].is_none()));
        }
    }
}

#[test]
fn weights_choose_the_reference() {
    let ensemble = ensemble(&known(&[[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]]));
    let weights = BaseWeights::new(vec![1.0, 1.0, 9.0]).unwrap();
    for (weights, expected) in [(None, 0), (Some(&weights), 2)] {
        let alignment = align(&ensemble, weights, Surplus::Own).unwrap();
        assert_eq!(alignment.reference(), Some(expected));
    }
    let agreement = agreement_weights(&ensemble);
    let agreement = agreement.as_slice();
    assert!(agreement[2] > 0.0 && agreement[2] < agreement[0]);
    assert_eq!(agreement[0], agreement[1]);
    let matrix = agreement_matrix(&ensemble);
    assert_eq!(matrix, matrix.t());
    assert!(matrix.diag().iter().all(|&own| own == 1.0));
    // Weights are these means, at least 0.001 each, brought to a mean of 1.
    let rows = matrix.outer_iter();
    let means: Vec<f64> = rows
        .map(|row| ((row.sum() - 1.0) / 2.0).max(1e-3))
        .collect();
    let mean = means.iter().sum::<f64>() / 3.0;
    for (weight, own) in agreement.iter().zip(&means) {
        let near = (weight - own / mean).abs() < 1e-12;
        assert!(near, "{weight} is not {own} / {mean}");
    }
}

#[test]
fn bases_without_a_common_object_keep_their_labels() {
    let ensemble = ensemble(&known(&[[0, 1, -1, -1, -1], [-1, -1, 0, 1, 2]]));
    for (surplus, expected) in [(Surplus::Own, [0, 1, 2]), (Surplus::Nearest, [0, 1, 0])] {
        assert_eq!(align_to(&ensemble, 0, surplus).unwrap().codes(1), expected);
    }
    assert!(align_to(&ensemble, 2, Surplus::Own).is_err());
}

#[test]
fn a_cluster_that_shares_nothing_takes_a_label_that_is_left() {
    let ensemble = ensemble(&known(&[[0, 1, 1, 2, -1, -1], [5, 6, 6, 6, 7, 8]]));
    let alignment = align_to(&ensemble, 0, Surplus::Own).unwrap();
    assert_eq!(alignment.codes(1), [0, 1, 2, 3]);
}

#[test]
fn anmi_is_the_mean_over_base_clusterings() {
    let ensemble = ensemble(&known(&[[0, 0, 1, 1], [0, -1, 1, 1], [0, 1, 0, 1]]));
    let partition = Partition::new(vec![0, 0, 1, 1], 2).unwrap();
    let found = anmi(&partition, &ensemble).unwrap();
    assert!((found - 2.0 / 3.0).abs() < 1e-12, "{found}");
    let table = Contingency::with_base(&partition, &ensemble, 1).unwrap();
    assert!((table.nmi(Normalisation::Geometric) - 1.0).abs() < 1e-12);
}

#[test]
fn weights_in_anmi_are_means_and_multiplicities() {
    let ensemble = ensemble(&known(&[
        [0, 0, 1, 1, 2],
        [0, -1, 1, 1, 1],
        [0, 1, 0, 1, 1],
    ]));
    let labels = [0, 0, 1, 1, 0];
    let partition = Partition::new(labels.to_vec(), 2).unwrap();
    let bases = BaseWeights::new(vec![3.0, 1.0, 0.0]).unwrap();
    let mut weighted = WeightedEnsemble::from(&ensemble);
    weighted.base_weights = Some(&bases);
    let found = anmi(&partition, weighted).unwrap();
    let [first, second] = [0, 1].map(|u| {
        let table = Contingency::with_base(&partition, &ensemble, u).unwrap();
        table.nmi(Normalisation::Geometric)
    });
    assert!(
        (found - (3.0 * first + second) / 4.0).abs() < 1e-12,
        "{found}"
    );

    // An object of weight 3 is three objects; one of weight 0 is none.
    let times = [3usize, 1, 0, 2, 1];
    let copies: Vec<u32> = (0..5u32).flat_map(|i| vec![i; times[i as usize]]).collect();
    let copied = Partition::new(copies.iter().map(|&i| labels[i as usize]).collect(), 2).unwrap();
    let expected = anmi(&copied, &ensemble.select(&copies, &[0, 1, 2])).unwrap();
    let with = |weights: Vec<f64>| {
        let weights = ObjectWeights::new(weights).unwrap();
        let mut weighted = WeightedEnsemble::from(&ensemble);
        weighted.object_weights = Some(&weights);
        anmi(&partition, weighted)
    };
    // All scaled alike change nothing.
    for scale in [1.0, 0.5] {
        let found = with(times.map(|weight| weight as f64 * scale).to_vec()).unwrap();
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    let sizes = MetricsError::Sizes { left: 3, right: 5 };
    assert_eq!(with(vec![1.0; 3]), Err(sizes));
    // Where only the second object counts, the second base clustering labels nothing.
    let second = vec![0.0, 1.0, 0.0, 0.0, 0.0];
    assert_eq!(with(second), Err(MetricsError::Empty));
}

#[test]
fn a_partition_serves_as_reference_like_a_base_clustering() {
    let all = fixtures();
    let ensemble = ensemble(&columns(&all["labels"]));
    let complete = (0..12).find(|&u| ensemble.column(u).all(|label| label.is_some()));
    let truth: Vec<u32> = serde_json::from_value(all["truth"].clone()).unwrap();
    let partition = Partition::new(truth, 3).unwrap();
    let alignment = align_to_partition(&ensemble, &partition, Surplus::Nearest).unwrap();
    assert_eq!((alignment.reference(), alignment.labels()), (None, 3));
    for u in 0..12 {
        let table = Contingency::with_base(&partition, &ensemble, u).unwrap();
        let agree = alignment.column(&ensemble, u).zip(partition.labels());
        let agree = agree.filter(|(a, b)| *a == Some(**b)).count();
        assert!(agree >= table.matched_objects() as usize);
    }
    if let Some(u) = complete {
        let labels = ensemble.column(u).map(|label| label.unwrap() as u32);
        let copy = Partition::new(labels.collect(), ensemble.bases()[u].clusters()).unwrap();
        let a = align_to(&ensemble, u, Surplus::Own).unwrap();
        let b = align_to_partition(&ensemble, &copy, Surplus::Own).unwrap();
        assert!((0..12).all(|v| a.codes(v) == b.codes(v)));
    }
    assert_eq!(best_reference(&ensemble, None, |u| u > 3 && u < 6), Some(4));
    assert_eq!(best_reference(&ensemble, None, |_| false), None);
    let short = Partition::new(vec![0], 1).unwrap();
    assert!(align_to_partition(&ensemble, &short, Surplus::Own).is_err());
}
