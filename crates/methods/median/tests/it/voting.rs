//! Voting against votes written out.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use approx::assert_abs_diff_eq;
use partita_conformance::draw;
use partita_core::{BaseWeights, Ensemble, EnsembleBuilder, Seed, Silent};
use partita_median::{PluralitySettings, Reference, Scheme, cumulative, plurality};
use partita_metrics::{Surplus, align_to};

fn soft(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    scheme: Scheme,
) -> (String, Vec<Vec<f64>>) {
    let outcome = cumulative(ensemble, weights, clusters, Seed::new(1), scheme, &Silent).unwrap();
    let rows = outcome
        .soft
        .unwrap()
        .rows()
        .outer_iter()
        .map(|row| row.to_vec())
        .collect();
    (outcome.details.reference, rows)
}

/// Votes of fixed-reference schemes, object by object.
fn naive(
    ensemble: &Ensemble,
    weights: &[f64],
    reference: usize,
    normalised: bool,
) -> Vec<Vec<f64>> {
    let columns = ensemble.bases()[reference].clusters();
    let shared = |u: usize, j: usize, q: usize| {
        let both = ensemble.column(u).zip(ensemble.column(reference));
        both.filter(|&(a, b)| a == Some(j) && b == Some(q)).count() as f64
    };
    let row = |i: usize| {
        let mut votes = vec![0.0; columns];
        for (u, weight) in weights.iter().enumerate() {
            let Some(j) = ensemble.label(i, u) else {
                continue;
            };
            let counts: Vec<f64> = (0..columns).map(|q| shared(u, j, q)).collect();
            let sum: f64 = counts.iter().sum();
            if sum > 0.0 {
                let scale = if normalised { sum } else { 1.0 };
                votes
                    .iter_mut()
                    .zip(counts)
                    .for_each(|(vote, count)| *vote += weight * count / scale);
            }
        }
        let sum: f64 = votes.iter().sum();
        votes.iter().map(|vote| vote / sum).collect()
    };
    (0..ensemble.objects()).map(row).collect()
}

#[test]
fn fixed_reference_votes_equal_votes_written_out() {
    let mut compared = 0;
    for seed in 0..100 {
        let ensemble = draw(Seed::new(seed), 0.2).ensemble;
        let weights = BaseWeights::new(
            (0..ensemble.bases().len())
                .map(|u| 1.0 + (u % 2) as f64)
                .collect(),
        )
        .unwrap();
        for (scheme, normalised) in [(Scheme::Normalised, true), (Scheme::Unnormalised, false)] {
            for clusters in 2..6 {
                let (name, found) = soft(&ensemble, Some(&weights), clusters, scheme);
                let reference = ensemble.bases().iter().position(|base| base.name() == name);
                let Some(reference) =
                    reference.filter(|&u| ensemble.bases()[u].clusters() == clusters)
                else {
                    continue;
                };
                let expected = naive(&ensemble, weights.as_slice(), reference, normalised);
                for (a, b) in found
                    .iter()
                    .flatten()
                    .zip(expected.iter().flatten())
                    .filter(|(_, b)| b.is_finite())
                {
                    assert_abs_diff_eq!(a, b, epsilon = 1e-12);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn plurality_counts_aligned_labels() {
    for seed in 0..50 {
        let drawn = draw(Seed::new(seed), 0.2);
        let ensemble = &drawn.ensemble;
        let settings = PluralitySettings::default();
        let outcome = plurality(
            ensemble,
            None,
            drawn.clusters,
            Seed::new(1),
            &settings,
            &Silent,
        )
        .unwrap();
        let name = outcome.details.reference.as_str();
        let Some(reference) = ensemble.bases().iter().position(|base| base.name() == name) else {
            continue;
        };
        let alignment = align_to(ensemble, reference, Surplus::Nearest).unwrap();
        for i in 0..ensemble.objects() {
            let labels: Vec<u32> = (0..ensemble.bases().len())
                .filter_map(|u| ensemble.label(i, u).map(|j| alignment.codes(u)[j]))
                .collect();
            for k in 0..drawn.clusters {
                let share = labels.iter().filter(|&&l| l as usize == k).count() as f64
                    / labels.len() as f64;
                assert_abs_diff_eq!(
                    outcome.soft.as_ref().unwrap().rows()[[i, k]],
                    share,
                    epsilon = 1e-12
                );
            }
        }
    }
}

#[test]
fn more_clusters_than_any_base_clustering_has_are_found_by_kc() {
    let mut builder = EnsembleBuilder::new(8);
    builder
        .push("a", [0, 0, 0, 0, 1, 1, 1, 1].map(Some))
        .unwrap();
    builder
        .push("b", [0, 0, 1, 1, 0, 0, 1, 1].map(Some))
        .unwrap();
    let ensemble = builder.finish().unwrap();
    let mut settings = PluralitySettings::default();
    for reference in [Reference::Overlap, Reference::Kc] {
        settings.reference = reference;
        let outcome = plurality(&ensemble, None, 4, Seed::new(1), &settings, &Silent).unwrap();
        assert_eq!(outcome.details.reference, "kc");
    }
    let (name, rows) = soft(&ensemble, None, 4, Scheme::Normalised);
    assert_eq!((name.as_str(), rows[0].len()), ("kc", 4));
}

#[test]
fn a_rich_reference_is_compressed() {
    let mut builder = EnsembleBuilder::new(12);
    builder.push("fine", (0..12).map(|i| Some(i / 2))).unwrap();
    builder
        .push("coarse", (0..12).map(|i| Some(i / 6)))
        .unwrap();
    builder.push("again", (0..12).map(|i| Some(i / 6))).unwrap();
    let ensemble = builder.finish().unwrap();
    for scheme in [Scheme::Unnormalised, Scheme::Normalised, Scheme::Adaptive] {
        let outcome = cumulative(&ensemble, None, 2, Seed::new(1), scheme, &Silent).unwrap();
        assert_eq!(outcome.details.reference, "fine");
        let expected: Vec<u32> = (0..12).map(|i| i / 6).collect();
        assert_eq!(outcome.partition.by_appearance().labels(), expected);
    }
}
