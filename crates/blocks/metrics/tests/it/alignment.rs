//! Alignment of base clusterings.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use partita_conformance::fixtures;
use partita_core::{
    BaseWeights, Ensemble, EnsembleBuilder, ObjectWeights, Partition, Seed, WeightedEnsemble,
};
use partita_metrics::{
    Alignment, Contingency, MetricsError, Normalisation, Surplus, agreement_matrix,
    agreement_weights, align, align_to, align_to_partition, anmi, best_reference,
};
use rand::{RngExt, seq::SliceRandom};

type Columns = Vec<Vec<Option<u32>>>;

fn ensemble(columns: &Columns) -> Ensemble {
    let mut builder = EnsembleBuilder::new(columns[0].len());
    for (u, column) in columns.iter().enumerate() {
        builder
            .push(format!("u{u}"), column.iter().copied())
            .unwrap();
    }
    builder.finish().unwrap()
}

fn columns(value: &serde_json::Value) -> Columns {
    let rows: Vec<Vec<i64>> = serde_json::from_value(value.clone()).unwrap();
    rows.iter()
        .map(|row| row.iter().map(|&label| u32::try_from(label).ok()).collect())
        .collect()
}

fn aligned(alignment: &Alignment, ensemble: &Ensemble) -> Columns {
    (0..ensemble.bases().len())
        .map(|u| alignment.column(ensemble, u).collect())
        .collect()
}

#[test]
fn alignment_equals_that_of_the_independent_implementation() {
    let all = fixtures();
    let ensemble = ensemble(&columns(&all["labels"]));
    let alignment = align(&ensemble, None, Surplus::Nearest).unwrap();
    assert_eq!(
        alignment.reference().unwrap() as u64,
        all["ssce"]["reference_row"].as_u64().unwrap()
    );
    assert_eq!(
        aligned(&alignment, &ensemble),
        columns(&all["ssce"]["aligned"])
    );
    assert_eq!(alignment.labels(), 3);

    // Its surplus clusters joined the nearest label; by default they keep labels of their own.
    let own = align(&ensemble, None, Surplus::Own).unwrap();
    assert_eq!(
        (own.labels(), own.codes(3), own.codes(5)),
        (5, &[1, 3, 0, 2][..], &[3, 0, 1, 4, 2][..])
    );
    for u in 0..12 {
        let ours = Contingency::of_bases(&ensemble, u, 0)
            .unwrap()
            .matched_objects() as usize;
        let agree = own.column(&ensemble, u).zip(ensemble.column(0));
        assert_eq!(
            agree
                .filter(|(a, b)| a.is_some() && a.map(|a| a as usize) == *b)
                .count(),
            ours
        );
    }
}

#[test]
fn renamed_copies_align_exactly() {
    for seed in 0..100 {
        let mut rng = Seed::new(seed).rng();
        let k = rng.random_range(2..9);
        let original: Vec<u32> = (0..50)
            .map(|i| if i < k { i } else { rng.random_range(0..k) })
            .collect();
        let copies: Columns = (0..5)
            .map(|_| {
                let mut names: Vec<u32> = (0..k).collect();
                names.shuffle(&mut rng);
                let keep = |_: &u32| rng.random_bool(0.9);
                let kept: Vec<bool> = original.iter().map(keep).collect();
                original
                    .iter()
                    .zip(kept)
                    .map(|(&o, kept)| (kept || o == 0).then(|| names[o as usize]))
                    .collect()
            })
            .collect();
        let ensemble = ensemble(&copies);
        let alignment = align(&ensemble, None, Surplus::Own).unwrap();
        let columns = aligned(&alignment, &ensemble);
        for i in 0..50 {
            let mut seen: Vec<u32> = columns.iter().filter_map(|column| column[i]).collect();
            seen.dedup();
            assert!(seen.len() <= 1, "seed {seed} object {i}: {seen:?}");
            assert!(
                copies
                    .iter()
                    .zip(&columns)
                    .all(|(a, b)| a[i].is_none() == b[i].is_none())
            );
        }
    }
}

#[test]
fn weights_choose_the_reference() {
    let columns = vec![
        vec![Some(0), Some(0), Some(1), Some(1)],
        vec![Some(0), Some(0), Some(1), Some(1)],
        vec![Some(0), Some(1), Some(0), Some(1)],
    ];
    let ensemble = ensemble(&columns);
    assert_eq!(
        align(&ensemble, None, Surplus::Own).unwrap().reference(),
        Some(0)
    );
    let weights = BaseWeights::new(vec![1.0, 1.0, 9.0]).unwrap();
    assert_eq!(
        align(&ensemble, Some(&weights), Surplus::Own)
            .unwrap()
            .reference(),
        Some(2)
    );
    let agreement = agreement_weights(&ensemble);
    assert!(agreement.as_slice()[2] > 0.0 && agreement.as_slice()[2] < agreement.as_slice()[0]);
    assert_eq!(agreement.as_slice()[0], agreement.as_slice()[1]);
    let matrix = agreement_matrix(&ensemble);
    assert_eq!(matrix, matrix.t());
    assert!((0..matrix.nrows()).all(|u| matrix[[u, u]] == 1.0));
    // Weights are these means, at least 0.001 each, brought to a mean of 1.
    let means: Vec<f64> = matrix
        .outer_iter()
        .map(|row| ((row.sum() - 1.0) / 2.0).max(1e-3))
        .collect();
    let mean = means.iter().sum::<f64>() / 3.0;
    for (weight, own) in agreement.as_slice().iter().zip(&means) {
        assert!(
            (weight - own / mean).abs() < 1e-12,
            "{weight} is not {own} / {mean}"
        );
    }
}

#[test]
fn bases_without_a_common_object_keep_their_labels() {
    let ensemble = ensemble(&vec![
        vec![Some(0), Some(1), None, None, None],
        vec![None, None, Some(0), Some(1), Some(2)],
    ]);
    assert_eq!(
        align_to(&ensemble, 0, Surplus::Own).unwrap().codes(1),
        [0, 1, 2]
    );
    assert_eq!(
        align_to(&ensemble, 0, Surplus::Nearest).unwrap().codes(1),
        [0, 1, 0]
    );
    assert!(align_to(&ensemble, 2, Surplus::Own).is_err());
}

#[test]
fn a_cluster_that_shares_nothing_takes_a_label_that_is_left() {
    let ensemble = ensemble(&vec![
        vec![Some(0), Some(1), Some(1), Some(2), None, None],
        vec![Some(5), Some(6), Some(6), Some(6), Some(7), Some(8)],
    ]);
    assert_eq!(
        align_to(&ensemble, 0, Surplus::Own).unwrap().codes(1),
        [0, 1, 2, 3]
    );
}

#[test]
fn anmi_is_the_mean_over_base_clusterings() {
    let columns = vec![
        vec![Some(0), Some(0), Some(1), Some(1)],
        vec![Some(0), None, Some(1), Some(1)],
        vec![Some(0), Some(1), Some(0), Some(1)],
    ];
    let partition = Partition::new(vec![0, 0, 1, 1], 2).unwrap();
    let found = anmi(&partition, &ensemble(&columns)).unwrap();
    assert!((found - 2.0 / 3.0).abs() < 1e-12, "{found}");
    let table = Contingency::with_base(&partition, &ensemble(&columns), 1).unwrap();
    assert!((table.nmi(Normalisation::Geometric) - 1.0).abs() < 1e-12);
}

#[test]
fn weights_in_anmi_are_means_and_multiplicities() {
    let columns = vec![
        vec![Some(0), Some(0), Some(1), Some(1), Some(2)],
        vec![Some(0), None, Some(1), Some(1), Some(1)],
        vec![Some(0), Some(1), Some(0), Some(1), Some(1)],
    ];
    let (ensemble, labels) = (ensemble(&columns), vec![0, 0, 1, 1, 0]);
    let partition = Partition::new(labels.clone(), 2).unwrap();
    let of_base = |u: usize| {
        Contingency::with_base(&partition, &ensemble, u)
            .unwrap()
            .nmi(Normalisation::Geometric)
    };
    let with = |bases: Option<&BaseWeights>, objects: Option<&ObjectWeights>| {
        anmi(
            &partition,
            WeightedEnsemble {
                ensemble: &ensemble,
                base_weights: bases,
                object_weights: objects,
            },
        )
    };
    let bases = BaseWeights::new(vec![3.0, 1.0, 0.0]).unwrap();
    let found = with(Some(&bases), None).unwrap();
    assert!(
        (found - (3.0 * of_base(0) + of_base(1)) / 4.0).abs() < 1e-12,
        "{found}"
    );

    // An object of weight 3 is three objects; one of weight 0 is none.
    let times = [3usize, 1, 0, 2, 1];
    let copies: Vec<u32> = (0..5u32).flat_map(|i| vec![i; times[i as usize]]).collect();
    let copied = Partition::new(copies.iter().map(|&i| labels[i as usize]).collect(), 2).unwrap();
    let objects = ObjectWeights::new(times.map(|weight| weight as f64).to_vec()).unwrap();
    let (found, expected) = (
        with(None, Some(&objects)).unwrap(),
        anmi(&copied, &ensemble.select(&copies, &[0, 1, 2])).unwrap(),
    );
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    // All scaled alike change nothing.
    let halves = ObjectWeights::new(times.map(|weight| weight as f64 / 2.0).to_vec()).unwrap();
    assert!((with(None, Some(&halves)).unwrap() - expected).abs() < 1e-12);

    let three = ObjectWeights::new(vec![1.0; 3]).unwrap();
    assert_eq!(
        with(None, Some(&three)),
        Err(MetricsError::Sizes { left: 3, right: 5 })
    );
    // Where only the second object counts, the second base clustering labels nothing.
    let second = ObjectWeights::new(vec![0.0, 1.0, 0.0, 0.0, 0.0]).unwrap();
    assert_eq!(with(None, Some(&second)), Err(MetricsError::Empty));
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
        let best = Contingency::with_base(&partition, &ensemble, u)
            .unwrap()
            .matched_objects() as usize;
        let agree = alignment.column(&ensemble, u).zip(partition.labels());
        assert!(agree.filter(|(a, b)| *a == Some(**b)).count() >= best);
    }
    if let Some(u) = complete {
        let labels = ensemble
            .column(u)
            .map(|label| label.unwrap() as u32)
            .collect();
        let copy = Partition::new(labels, ensemble.bases()[u].clusters()).unwrap();
        let (a, b) = (
            align_to(&ensemble, u, Surplus::Own),
            align_to_partition(&ensemble, &copy, Surplus::Own),
        );
        assert!((0..12).all(|v| a.as_ref().unwrap().codes(v) == b.as_ref().unwrap().codes(v)));
    }
    assert_eq!(best_reference(&ensemble, None, |u| u > 3 && u < 6), Some(4));
    assert_eq!(best_reference(&ensemble, None, |_| false), None);
    assert!(
        align_to_partition(
            &ensemble,
            &Partition::new(vec![0], 1).unwrap(),
            Surplus::Own
        )
        .is_err()
    );
}
