//! Weights of base clusterings and of objects: so many copies.

use partita_core::{BaseWeights, Dendrogram, Ensemble, ObjectWeights, Seed, WeightedEnsemble};
use partita_linkage::{Linkage, cut};

use crate::common::{LINKAGES, apart, tree, weighted_tree};

fn drawn(seed: u64) -> Ensemble {
    let missing = if seed.is_multiple_of(3) { 0.0 } else { 0.3 };
    partita_conformance::draw(Seed::new(seed), missing).ensemble
}

fn repeated(count: usize, often: impl Fn(usize) -> usize) -> Vec<u32> {
    (0..count).flat_map(|i| vec![i as u32; often(i)]).collect()
}

#[test]
fn a_base_clustering_of_weight_two_is_two() {
    for seed in 0..100 {
        let ensemble = drawn(seed);
        let objects = repeated(ensemble.objects(), |_| 1);
        let copies = ensemble.select(&objects, &repeated(ensemble.bases().len(), |u| 1 + u % 3));
        let weights = (0..ensemble.bases().len()).map(|u| (1 + u % 3) as f64);
        let weights = BaseWeights::new(weights.collect()).unwrap();
        let mut weighted = WeightedEnsemble::from(&ensemble);
        weighted.base_weights = Some(&weights);
        for linkage in LINKAGES {
            let found = tree(weighted, linkage);
            let expected = tree(&copies, linkage);
            let what = format!("{linkage:?}, seed {seed}");
            assert_eq!(found.dendrogram, expected.dendrogram, "{what}");
        }
        let tree = |source: WeightedEnsemble<'_>| weighted_tree(source, 3).dendrogram.unwrap();
        let [one, two]: [Dendrogram; 2] = [weighted, (&copies).into()].map(tree);
        assert!(apart(&one, &two) < 1e-6, "lwea, seed {seed}");
    }
}

#[test]
fn an_object_of_weight_two_is_two() {
    for seed in 0..100 {
        let ensemble = drawn(seed);
        let often = |i: usize| 1 + i % 3;
        let copies = repeated(ensemble.objects(), often);
        let twice = ensemble.select(&copies, &repeated(ensemble.bases().len(), |_| 1));
        let weights = (0..ensemble.objects()).map(|i| often(i) as f64);
        let weights = ObjectWeights::new(weights.collect()).unwrap();
        let mut weighted = WeightedEnsemble::from(&ensemble);
        weighted.object_weights = Some(&weights);
        // The first copies come in the order of the objects, and so ties are broken alike.
        for linkage in LINKAGES
            .into_iter()
            .filter(|linkage| *linkage != Linkage::Centroid)
        {
            let found = tree(weighted, linkage).dendrogram.unwrap();
            let expected = tree(&twice, linkage).dendrogram.unwrap();
            for clusters in 1..6 {
                let few = cut(&found, clusters);
                let many = cut(&expected, clusters);
                let unfolded: Vec<u32> = copies.iter().map(|&i| few.labels()[i as usize]).collect();
                let what = format!("{linkage:?}, seed {seed}");
                assert_eq!(unfolded, many.by_appearance().labels(), "{what}");
            }
        }
    }
}

/// Fractions are rounded to one part in four million of their sum.
#[test]
fn weights_of_objects_need_not_be_whole() {
    let ensemble = drawn(3);
    let weights = (0..ensemble.objects()).map(|i| 0.1 + (i as f64).sqrt());
    let weights = ObjectWeights::new(weights.collect()).unwrap();
    let mut weighted = WeightedEnsemble::from(&ensemble);
    weighted.object_weights = Some(&weights);
    let outcome = tree(weighted, Linkage::Average);
    assert_eq!(outcome.partition.objects(), ensemble.objects());
}
