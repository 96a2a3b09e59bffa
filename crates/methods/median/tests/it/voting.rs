//! Voting against votes written out.

use approx::assert_abs_diff_eq;
use partita_conformance::{draw, ensemble};
use partita_core::{BaseWeights, Consensus, Ensemble, Outcome, Seed};
use partita_median::{ACV, PLURALITY, RCV, URCV};
use partita_metrics::{Surplus, align_to};

use crate::common::{Tables, found, found_as_given, labels, problem};

/// The base clustering whose clusters were voted for; none for those of KC.
fn reference(outcome: &Outcome, ensemble: &Ensemble) -> Option<usize> {
    let name = outcome.details["reference"].as_str().unwrap();
    let found = ensemble.bases().iter().position(|base| base.name() == name);
    assert!(found.is_some() || name == "kc");
    found
}

/// Votes of fixed-reference schemes, object by object: n × clusters of the reference.
fn naive(tables: &Tables, reference: usize, normalised: bool) -> Vec<Vec<f64>> {
    let columns = tables.shares[reference].ncols();
    let shared: Vec<_> = (tables.shares.iter())
        .map(|table| table.t().dot(&tables.shares[reference]))
        .collect();
    let row = |i: usize| {
        let mut votes = vec![0.0; columns];
        for ((table, shared), weight) in tables.shares.iter().zip(&shared).zip(&tables.bases) {
            let Some(j) = (0..table.ncols()).find(|&j| table[[i, j]] > 0.0) else {
                continue;
            };
            let sum = shared.row(j).sum();
            let scale = if normalised && sum > 0.0 { sum } else { 1.0 };
            for (vote, count) in votes.iter_mut().zip(shared.row(j)) {
                *vote += weight * count / scale;
            }
        }
        let sum: f64 = votes.iter().sum();
        votes.iter().map(|vote| vote / sum).collect()
    };
    (0..tables.objects.len()).map(row).collect()
}

#[test]
fn fixed_reference_votes_equal_votes_written_out() {
    let mut compared = 0;
    for seed in 0..100 {
        let ensemble = draw(Seed::new(seed), 0.2).ensemble;
        let weights = (0..ensemble.bases().len()).map(|u| 1.0 + (u % 2) as f64);
        let weights = BaseWeights::new(weights.collect()).unwrap();
        let mut tables = Tables::of(&ensemble);
        tables.bases = weights.as_slice().to_vec();
        for (method, normalised) in [(&RCV, true), (&URCV, false)] {
            for clusters in 2..6 {
                let problem = problem(&ensemble, clusters, &[]).seed(1);
                let found = found_as_given(method, &problem.base_weights(&weights));
                let reference = reference(&found, &ensemble);
                let Some(reference) =
                    reference.filter(|&u| ensemble.bases()[u].clusters() == clusters)
                else {
                    continue;
                };
                let expected = naive(&tables, reference, normalised);
                let soft = found.soft.unwrap().into_rows();
                let both = soft.iter().zip(expected.iter().flatten());
                for (a, b) in both.filter(|(_, b)| b.is_finite()) {
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
    let mut compared = 0;
    for seed in 0..50 {
        let drawn = draw(Seed::new(seed), 0.2);
        let ensemble = &drawn.ensemble;
        let problem = problem(ensemble, drawn.clusters, &[]).seed(1);
        let outcome = found_as_given(&PLURALITY, &problem);
        let Some(reference) = reference(&outcome, ensemble) else {
            continue;
        };
        let soft = outcome.soft.unwrap();
        let alignment = align_to(ensemble, reference, Surplus::Nearest).unwrap();
        for i in 0..ensemble.objects() {
            let code = |u: usize| Some(alignment.codes(u)[ensemble.label(i, u)?] as usize);
            let codes: Vec<usize> = (0..ensemble.bases().len()).filter_map(code).collect();
            for k in 0..drawn.clusters {
                let votes = codes.iter().filter(|&&code| code == k).count();
                let share = votes as f64 / codes.len() as f64;
                assert_abs_diff_eq!(soft.rows()[[i, k]], share, epsilon = 1e-12);
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn more_clusters_than_any_base_clustering_has_are_found_by_kc() {
    let columns = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1]];
    let named = columns.iter().zip(["a", "b"]);
    let ensemble =
        ensemble(named.map(|(column, name)| (name.to_owned(), column.map(Some).to_vec())));
    let cases: [(&dyn Consensus, &[&str]); 3] = [
        (&PLURALITY, &["reference=overlap"]),
        (&PLURALITY, &["reference=kc"]),
        (&RCV, &[]),
    ];
    for (method, settings) in cases {
        let outcome = found(method, &problem(&ensemble, 4, settings).seed(1));
        assert_eq!(outcome.details["reference"], "kc");
        assert_eq!(outcome.soft.unwrap().rows().ncols(), 4);
    }
}

#[test]
fn a_rich_reference_is_compressed() {
    let columns = [("fine", 2), ("coarse", 6), ("again", 6)];
    let column = |size: u32| (0..12).map(|i| Some(i / size)).collect();
    let ensemble = ensemble(columns.map(|(name, size)| (name.to_owned(), column(size))));
    for method in [&URCV, &RCV, &ACV] {
        let outcome = found(method, &problem(&ensemble, 2, &[]).seed(1));
        assert_eq!(outcome.details["reference"], "fine");
        let expected: Vec<u32> = (0..12).map(|i| i / 6).collect();
        assert_eq!(labels(&outcome), expected);
    }
}
