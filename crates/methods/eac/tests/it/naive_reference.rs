//! Trees over evidence against a naive reference over all objects and all pairs, written for clarity.

use partita_coassoc::trusted_cluster_weights;
use partita_core::{
    Clusters, Dendrogram, Ensemble, MemoryBudget, Outcome, Partition, Seed, Silent,
};
use partita_eac::{LweaSettings, eac, lwea};
use partita_linkage::{Linkage, cut};

/// What the dissimilarity 1 counts where it is rounded, for fewer than 30,000 objects.
const UNIT: u64 = 1 << 31;

/// Of these two thirds, 200, have missing labels.
const ENSEMBLES: u64 = 300;

/// Cluster pairs' sums (or smallest, or largest) of whole dissimilarities.
type Matrix = Vec<Vec<u64>>;

/// Ensembles with identical rows and missing labels, and without.
fn drawn(seed: u64) -> Ensemble {
    let missing = if seed.is_multiple_of(3) { 0.0 } else { 0.3 };
    let ensemble = partita_conformance::draw(Seed::new(seed), missing).ensemble;
    let bases: Vec<u32> = (0..(ensemble.bases().len() as u32).min(2 + seed as u32 % 5)).collect();
    let kept = ensemble.select(&(0..ensemble.objects() as u32).collect::<Vec<_>>(), &bases);
    if kept.first_unlabelled().is_some() {
        ensemble
    } else {
        kept
    }
}

/// 1 − c/N by the definition, exact when nothing is missing.
fn counted(ensemble: &Ensemble) -> (Matrix, u64) {
    let (n, bases) = (ensemble.objects(), ensemble.bases().len());
    let unit = if ensemble.missing() == 0 {
        bases as u64
    } else {
        UNIT
    };
    let cell = |i: usize, j: usize| {
        let both: Vec<(usize, usize)> = (0..bases)
            .filter_map(|u| ensemble.label(i, u).zip(ensemble.label(j, u)))
            .collect();
        let apart = both.iter().filter(|(a, b)| a != b).count() as u64;
        if both.is_empty() {
            unit
        } else {
            (2 * apart * unit + both.len() as u64) / (2 * both.len() as u64)
        }
    };
    (
        (0..n)
            .map(|i| (0..n).map(|j| cell(i, j)).collect())
            .collect(),
        unit,
    )
}

/// 1 − Σ weight / N by the definition, rounded.
fn weighted(ensemble: &Ensemble, weights: &[f64]) -> (Matrix, u64) {
    let (n, bases, offsets) = (
        ensemble.objects(),
        ensemble.bases().len(),
        ensemble.offsets(),
    );
    let one = u64::from(u32::MAX) / 2 / bases as u64;
    let weights: Vec<u64> = weights
        .iter()
        .map(|weight| (weight * one as f64).round() as u64)
        .collect();
    let cell = |i: usize, j: usize| {
        let both: Vec<(usize, usize, usize)> = (0..bases)
            .filter_map(|u| Some((u, ensemble.label(i, u)?, ensemble.label(j, u)?)))
            .collect();
        let shared: u64 = both
            .iter()
            .filter(|(_, a, b)| a == b)
            .map(|(u, a, _)| weights[offsets[*u] + a])
            .sum();
        let all = both.len() as u64 * one;
        if all == 0 {
            UNIT
        } else {
            UNIT - (2 * shared * UNIT + all) / (2 * all)
        }
    };
    (
        (0..n)
            .map(|i| (0..n).map(|j| cell(i, j)).collect())
            .collect(),
        UNIT,
    )
}

/// Heights, and the partition into k clusters for every k, of always merging the nearest two; of equals those with
/// the smallest objects.
fn naive(mut matrix: Matrix, unit: u64, linkage: Linkage) -> (Vec<f64>, Vec<Partition>) {
    let n = matrix.len();
    let mut label: Vec<u32> = (0..n as u32).collect();
    let mut sizes = vec![1u64; n];
    let mut alive: Vec<usize> = (0..n).collect();
    let (mut heights, mut partitions) = (Vec::new(), vec![Partition::from_values(&label)]);
    while alive.len() > 1 {
        let pairs = alive
            .iter()
            .flat_map(|&a| alive.iter().filter(move |&&b| a < b).map(move |&b| (a, b)));
        let over = |(a, b): (usize, usize)| {
            if linkage == Linkage::Average {
                sizes[a] * sizes[b]
            } else {
                1
            }
        };
        let less = |p: (usize, usize), q: (usize, usize)| {
            let cross = |p: (usize, usize), q| u128::from(matrix[p.0][p.1]) * u128::from(over(q));
            if cross(q, p) < cross(p, q) { q } else { p }
        };
        let (a, b) = pairs.reduce(less).expect("two clusters are left");
        heights.push(matrix[a][b] as f64 / over((a, b)) as f64 / unit as f64);
        for &c in &alive {
            let (x, y) = (matrix[a][c], matrix[b][c]);
            let joined = match linkage {
                Linkage::Single => x.min(y),
                Linkage::Complete => x.max(y),
                _ => x + y,
            };
            (matrix[a][c], matrix[c][a]) = (joined, joined);
        }
        sizes[a] += sizes[b];
        alive.retain(|&c| c != b);
        label
            .iter_mut()
            .filter(|label| **label == b as u32)
            .for_each(|label| *label = a as u32);
        partitions.push(Partition::from_values(&label).by_appearance());
    }
    partitions.reverse();
    (heights, partitions)
}

fn heights(tree: &Dendrogram) -> Vec<f64> {
    tree.merges().iter().map(|merge| merge.height).collect()
}

/// Compares a tree with the reference's, and counts the cuts that were compared.
fn agree<D>(
    outcome: &Outcome<D>,
    reference: &(Vec<f64>, Vec<Partition>),
    ties: bool,
    what: &str,
) -> usize {
    let tree = outcome.dendrogram.as_ref().expect("a tree");
    let found = heights(tree);
    assert_eq!(found.len(), reference.0.len());
    for (a, b) in found.iter().zip(&reference.0) {
        assert!((a - b).abs() < 1e-12, "{what}: {found:?} {:?}", reference.0);
    }
    let mut compared = 0;
    for clusters in 1..=tree.objects() {
        let at = tree.objects() - clusters;
        // Objects merge first that are the same, then those that only are always together: the reference knows no
        // difference. And where single link has ties, it may take another spanning tree.
        let undecided =
            at > 0 && at < found.len() && found[at] == found[at - 1] && (ties || found[at] == 0.0);
        if !undecided {
            assert_eq!(
                cut(tree, clusters).by_appearance(),
                reference.1[clusters - 1],
                "{what}, {clusters} clusters"
            );
            compared += 1;
        }
    }
    compared
}

#[test]
fn evidence_accumulation_is_the_naive_reference() {
    let mut compared = 0;
    for seed in 0..ENSEMBLES {
        let ensemble = drawn(seed);
        let (matrix, unit) = counted(&ensemble);
        for linkage in [Linkage::Average, Linkage::Single, Linkage::Complete] {
            let outcome = eac(
                &ensemble,
                Clusters::Auto,
                linkage,
                MemoryBudget::UNLIMITED,
                &Silent,
            )
            .unwrap();
            let reference = naive(matrix.clone(), unit, linkage);
            compared += agree(
                &outcome,
                &reference,
                linkage == Linkage::Single,
                &format!("{linkage:?} of draw {seed}"),
            );
        }
    }
    assert!(compared > 6_000, "{compared}");
}

/// Pooled evidence of an object for every cluster, by the definition; 1 for a cluster of its own.
fn evidence(ensemble: &Ensemble, weights: &[f64], partition: &Partition, i: usize) -> Vec<f64> {
    let (offsets, labels) = (ensemble.offsets(), partition.labels());
    let of = |cluster: u32| {
        let (mut together, mut seen) = (0.0, 0.0);
        let company = (0..ensemble.objects()).filter(|&j| j != i && labels[j] == cluster);
        for (j, u) in company
            .clone()
            .flat_map(|j| (0..ensemble.bases().len()).map(move |u| (j, u)))
        {
            let (Some(a), Some(b)) = (ensemble.label(i, u), ensemble.label(j, u)) else {
                continue;
            };
            seen += 1.0;
            together += if a == b { weights[offsets[u] + a] } else { 0.0 };
        }
        match company.count() {
            0 => 1.0,
            _ if seen == 0.0 => 0.0,
            _ => together / seen,
        }
    };
    (0..partition.clusters() as u32).map(of).collect()
}

/// Evidence for the own cluster over the sum of that and the best other's.
fn naive_certainty(ensemble: &Ensemble, weights: &[f64], partition: &Partition, i: usize) -> f64 {
    let evidence = evidence(ensemble, weights, partition, i);
    let own = partition.labels()[i] as usize;
    let other = (0..evidence.len())
        .filter(|&k| k != own)
        .map(|k| evidence[k]);
    let other = other.fold(0.0, f64::max);
    if evidence[own] + other > 0.0 {
        evidence[own] / (evidence[own] + other)
    } else {
        0.0
    }
}

/// Objects go, all at once and so often, to the cluster with most evidence; out of none that would be left empty.
fn naive_moves(
    ensemble: &Ensemble,
    weights: &[f64],
    partition: &Partition,
    rounds: u32,
) -> Partition {
    let mut labels = partition.labels().to_vec();
    for _ in 0..rounds {
        let before = Partition::new(labels.clone(), partition.clusters()).expect("labels");
        for (i, label) in labels.iter_mut().enumerate() {
            let evidence = evidence(ensemble, weights, &before, i);
            let most = |a: usize, b: usize| {
                if evidence[b] > evidence[a] + 1e-9 {
                    b
                } else {
                    a
                }
            };
            let best = (0..evidence.len())
                .filter(|&k| k != *label as usize)
                .reduce(most);
            *label = best
                .filter(|&k| evidence[k] > evidence[*label as usize] * (1.0 + 1e-9))
                .map_or(*label, |k| k as u32);
        }
        while let Some(empty) = (0..partition.clusters() as u32).find(|k| !labels.contains(k)) {
            let stays = before
                .labels()
                .iter()
                .zip(&mut labels)
                .filter(|(from, _)| **from == empty);
            stays.for_each(|(from, to)| *to = *from);
        }
    }
    Partition::from_values(&labels).by_appearance()
}

#[test]
fn locally_weighted_evidence_is_the_naive_reference() {
    let (mut compared, mut moved) = (0, 0);
    for seed in 0..ENSEMBLES {
        let ensemble = drawn(seed);
        let settings = LweaSettings::default();
        let clusters = Clusters::Exactly(2 + seed as usize % 4);
        let outcome = lwea(
            &ensemble,
            clusters,
            &settings,
            MemoryBudget::UNLIMITED,
            &Silent,
        )
        .unwrap();
        let weights = trusted_cluster_weights(&ensemble, settings.theta, settings.trust_rounds);
        let (matrix, unit) = weighted(&ensemble, &weights);
        compared += agree(
            &outcome,
            &naive(matrix, unit, Linkage::Average),
            false,
            &format!("draw {seed}"),
        );
        let tree = outcome.dendrogram.as_ref().expect("a tree");
        let first = cut(tree, 2 + seed as usize % 4);
        let expected = naive_moves(&ensemble, &weights, &first, settings.move_rounds);
        assert_eq!(outcome.partition, expected, "moves of draw {seed}");
        moved += outcome.details.moved;
        for (i, found) in outcome.certainty.iter().enumerate() {
            let expected = naive_certainty(&ensemble, &weights, &expected, i);
            assert!(
                (found - expected).abs() < 1e-12,
                "certainty of object {i} of draw {seed}: {found}, {expected}"
            );
        }
    }
    assert!(compared > 3_000, "{compared}");
    assert!(moved > 50, "{moved}");
}
