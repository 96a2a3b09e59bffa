//! Weights of base clusterings and of objects: so many copies.

use partita_core::{
    BaseWeights, Clusters, Ensemble, MemoryBudget, ObjectWeights, Outcome, Seed, Silent,
    WeightedEnsemble,
};
use partita_eac::{LweaSettings, TreeDiagnostics, certainty, eac, lwea};
use partita_linkage::{Linkage, cut};

const LINKAGES: [Linkage; 5] = [
    Linkage::Average,
    Linkage::Single,
    Linkage::Complete,
    Linkage::Ward,
    Linkage::Centroid,
];

fn drawn(seed: u64) -> Ensemble {
    partita_conformance::draw(
        Seed::new(seed),
        if seed.is_multiple_of(3) { 0.0 } else { 0.3 },
    )
    .ensemble
}

fn repeated(count: usize, often: impl Fn(usize) -> usize) -> Vec<u32> {
    (0..count)
        .flat_map(|i| (0..often(i)).map(move |_| i as u32))
        .collect()
}

fn tree<'a>(source: impl Into<WeightedEnsemble<'a>>, linkage: Linkage) -> Outcome<TreeDiagnostics> {
    eac(
        source,
        Clusters::Auto,
        linkage,
        MemoryBudget::UNLIMITED,
        &Silent,
    )
    .expect("a tree")
}

#[test]
fn a_base_clustering_of_weight_two_is_two() {
    for seed in 0..100 {
        let ensemble = drawn(seed);
        let objects = repeated(ensemble.objects(), |_| 1);
        let copies = ensemble.select(&objects, &repeated(ensemble.bases().len(), |u| 1 + u % 3));
        let weights = (0..ensemble.bases().len())
            .map(|u| (1 + u % 3) as f64)
            .collect();
        let weights = BaseWeights::new(weights).unwrap();
        let weighted = WeightedEnsemble {
            base_weights: Some(&weights),
            ..(&ensemble).into()
        };
        for linkage in LINKAGES {
            let (found, expected) = (tree(weighted, linkage), tree(&copies, linkage));
            assert_eq!(
                found.dendrogram, expected.dendrogram,
                "{linkage:?}, seed {seed}"
            );
            let close = found
                .certainty
                .iter()
                .zip(&expected.certainty)
                .all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(close, "{linkage:?}, seed {seed}");
        }
        let settings = LweaSettings::default();
        let fit = |source: WeightedEnsemble<'_>| {
            lwea(
                source,
                Clusters::Exactly(3),
                &settings,
                MemoryBudget::UNLIMITED,
                &Silent,
            )
            .expect("a tree")
        };
        let (found, expected) = (fit(weighted), fit((&copies).into()));
        let heights = |outcome: &Outcome<_>| -> Vec<f64> {
            outcome
                .dendrogram
                .as_ref()
                .unwrap()
                .merges()
                .iter()
                .map(|merge| merge.height)
                .collect()
        };
        let close = heights(&found)
            .iter()
            .zip(heights(&expected))
            .all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close, "lwea, seed {seed}");
    }
}

#[test]
fn an_object_of_weight_two_is_two() {
    for seed in 0..100 {
        let ensemble = drawn(seed);
        let often = |i: usize| 1 + i % 3;
        let copies = repeated(ensemble.objects(), often);
        let twice = ensemble.select(&copies, &repeated(ensemble.bases().len(), |_| 1));
        let weights =
            ObjectWeights::new((0..ensemble.objects()).map(|i| often(i) as f64).collect()).unwrap();
        let weighted = WeightedEnsemble {
            object_weights: Some(&weights),
            ..(&ensemble).into()
        };
        // The first copies come in the order of the objects, and so ties are broken alike.
        for linkage in [
            Linkage::Average,
            Linkage::Single,
            Linkage::Complete,
            Linkage::Ward,
        ] {
            let (found, expected) = (tree(weighted, linkage), tree(&twice, linkage));
            for clusters in 1..6 {
                let cut =
                    |outcome: &Outcome<_>| cut(outcome.dendrogram.as_ref().unwrap(), clusters);
                let (few, many) = (cut(&found), cut(&expected));
                let unfolded: Vec<u32> = copies.iter().map(|&i| few.labels()[i as usize]).collect();
                assert_eq!(
                    unfolded,
                    many.by_appearance().labels(),
                    "{linkage:?}, seed {seed}"
                );
                let (one, all) = (certainty(weighted, &few), certainty(&twice, &many));
                assert!(
                    copies
                        .iter()
                        .zip(all)
                        .all(|(&i, c)| (one[i as usize] - c).abs() < 1e-9),
                    "seed {seed}"
                );
            }
        }
    }
}

/// Fractions are rounded to one part in four million of their sum.
#[test]
fn weights_of_objects_need_not_be_whole() {
    let ensemble = drawn(3);
    let weights = ObjectWeights::new(
        (0..ensemble.objects())
            .map(|i| 0.1 + (i as f64).sqrt())
            .collect(),
    )
    .unwrap();
    let weighted = WeightedEnsemble {
        object_weights: Some(&weights),
        ..(&ensemble).into()
    };
    let outcome = tree(weighted, Linkage::Average);
    assert_eq!(outcome.partition.objects(), ensemble.objects());
    assert!(
        outcome
            .certainty
            .iter()
            .all(|certainty| (0.0..=1.0).contains(certainty))
    );
}
