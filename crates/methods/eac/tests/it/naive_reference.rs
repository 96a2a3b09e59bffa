//! Trees over evidence against a naive reference over all objects and all pairs, written for clarity.

use partita_coassoc::trusted_cluster_weights;
use partita_core::{Ensemble, Outcome, Partition, Seed, Silent};
use partita_eac::LweaSettings;
use partita_linkage::{Linkage, Rows, cut, link_rows};

use crate::common::{LINKAGES, apart, heights, tree, weighted_tree};

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
    let kept = first_bases(&ensemble, 2 + seed as u32 % 5);
    let whole = kept.first_unlabelled().is_none();
    if whole { kept } else { ensemble }
}

/// The first base clusterings: where they are few, rows repeat.
fn first_bases(ensemble: &Ensemble, bases: u32) -> Ensemble {
    let objects: Vec<u32> = (0..ensemble.objects() as u32).collect();
    let bases = bases.min(ensemble.bases().len() as u32);
    ensemble.select(&objects, &(0..bases).collect::<Vec<_>>())
}

/// Base clusterings that label both objects, and their clusters in each.
fn both(ensemble: &Ensemble, i: usize, j: usize) -> Vec<(usize, usize, usize)> {
    let bases = 0..ensemble.bases().len();
    let both = bases.filter_map(|u| Some((u, ensemble.label(i, u)?, ensemble.label(j, u)?)));
    both.collect()
}

fn matrix(n: usize, cell: impl Fn(usize, usize) -> u64) -> Matrix {
    let row = |i: usize| (0..n).map(|j| cell(i, j)).collect();
    (0..n).map(row).collect()
}

/// (1 − c/N)^power by the definition, rounded to whole units.
fn counted(ensemble: &Ensemble, unit: u64, power: u32) -> Matrix {
    matrix(ensemble.objects(), |i, j| {
        let both = both(ensemble, i, j);
        let apart = both.iter().filter(|(_, a, b)| a != b).count() as u64;
        let all = (both.len() as u64).pow(power);
        let rounded = apart.pow(power) * unit + all / 2;
        rounded.checked_div(all).unwrap_or(unit)
    })
}

/// 1 − Σ weight / N by the definition, rounded.
fn weighted(ensemble: &Ensemble, weights: &[f64]) -> Matrix {
    let offsets = ensemble.offsets();
    let one = u64::from(u32::MAX) / 2 / ensemble.bases().len() as u64;
    let weights = weights
        .iter()
        .map(|weight| (weight * one as f64).round() as u64);
    let weights: Vec<u64> = weights.collect();
    matrix(ensemble.objects(), |i, j| {
        let both = both(ensemble, i, j);
        let together = both.iter().filter(|(_, a, b)| a == b);
        let shared: u64 = together.map(|(u, a, _)| weights[offsets[*u] + a]).sum();
        let all = both.len() as u64 * one;
        let rounded = (2 * shared * UNIT + all).checked_div(2 * all);
        UNIT - rounded.unwrap_or(0)
    })
}

/// Heights, and the partition into k clusters for every k, of always merging the nearest two; of equals those with
/// the smallest objects.
fn naive(mut matrix: Matrix, unit: u64, linkage: Linkage) -> (Vec<f64>, Vec<Partition>) {
    let n = matrix.len();
    let mut label: Vec<u32> = (0..n as u32).collect();
    let mut sizes = vec![1u64; n];
    let mut alive: Vec<usize> = (0..n).collect();
    let mut heights = Vec::new();
    let mut partitions = vec![Partition::from_values(&label)];
    while alive.len() > 1 {
        let over = |a: usize, b: usize| match linkage {
            Linkage::Average => sizes[a] * sizes[b],
            _ => 1,
        };
        let [mut a, mut b] = [alive[0], alive[1]];
        for &c in &alive {
            for &d in alive.iter().filter(|&&d| c < d) {
                let here = u128::from(matrix[c][d]) * u128::from(over(a, b));
                if here < u128::from(matrix[a][b]) * u128::from(over(c, d)) {
                    [a, b] = [c, d];
                }
            }
        }
        heights.push(matrix[a][b] as f64 / over(a, b) as f64 / unit as f64);
        for &c in &alive {
            let [x, y] = [matrix[a][c], matrix[b][c]];
            let joined = match linkage {
                Linkage::Single => x.min(y),
                Linkage::Complete => x.max(y),
                _ => x + y,
            };
            matrix[a][c] = joined;
            matrix[c][a] = joined;
        }
        sizes[a] += sizes[b];
        alive.retain(|&c| c != b);
        for label in label.iter_mut().filter(|label| **label == b as u32) {
            *label = a as u32;
        }
        partitions.push(Partition::from_values(&label).by_appearance());
    }
    partitions.reverse();
    (heights, partitions)
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
            let cut = cut(tree, clusters).by_appearance();
            assert_eq!(cut, reference.1[clusters - 1], "{what}, {clusters}");
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
        let missing = ensemble.missing() > 0;
        let bases = ensemble.bases().len() as u64;
        let unit = if missing { UNIT } else { bases };
        let matrix = counted(&ensemble, unit, 1);
        for linkage in [Linkage::Average, Linkage::Single, Linkage::Complete] {
            let reference = naive(matrix.clone(), unit, linkage);
            let what = format!("{linkage:?} of draw {seed}");
            let ties = linkage == Linkage::Single;
            compared += agree(&tree(&ensemble, linkage), &reference, ties, &what);
        }
    }
    assert!(compared > 6_000, "{compared}");
}

/// All objects: nothing is folded.
struct Unfolded(Matrix);

impl Rows for Unfolded {
    fn objects(&self) -> usize {
        self.0.len()
    }

    fn unit(&self) -> u64 {
        UNIT
    }

    fn fill(&self, object: usize, row: &mut [u32]) {
        for (cell, &value) in row.iter_mut().zip(&self.0[object]) {
            *cell = value as u32;
        }
    }
}

/// An ensemble with rows that repeat and missing labels.
fn repeating(seed: u64) -> Option<Ensemble> {
    let ensemble = partita_conformance::draw(Seed::new(seed), 0.3).ensemble;
    let kept = first_bases(&ensemble, 2 + seed as u32 % 4);
    let repeats = kept.fragments().ensemble().objects() < kept.objects();
    (kept.missing() > 0 && kept.first_unlabelled().is_none() && repeats).then_some(kept)
}

#[test]
fn folding_changes_neither_labels_nor_heights() {
    let mut cuts = 0;
    for ensemble in (0..).filter_map(repeating).take(200) {
        let objects = ensemble.objects();
        for linkage in LINKAGES {
            let squares = matches!(linkage, Linkage::Ward | Linkage::Centroid);
            let rows = Unfolded(counted(&ensemble, UNIT, if squares { 2 } else { 1 }));
            let all = link_rows(&rows, &vec![1; objects], linkage, &Silent).unwrap();
            let folded = tree(&ensemble, linkage).dendrogram.unwrap();
            let near = apart(&folded, &all) < 1e-7;
            assert!(near, "{linkage:?}: {folded:?} {all:?}");
            let heights = heights(&folded);
            for clusters in 1..=objects {
                // Where merges tie at a cut, one or another is undone.
                let at = objects - clusters;
                if at > 0 && at < heights.len() && heights[at] - heights[at - 1] < 1e-7 {
                    continue;
                }
                let [one, other] = [&folded, &all].map(|tree| cut(tree, clusters).by_appearance());
                assert_eq!(one, other, "{linkage:?}");
                cuts += 1;
            }
        }
    }
    assert!(cuts > 5_000, "{cuts}");
}

/// Pooled evidence of an object for every cluster, by the definition; 1 for a cluster of its own.
fn evidence(ensemble: &Ensemble, weights: &[f64], partition: &Partition, i: usize) -> Vec<f64> {
    let offsets = ensemble.offsets();
    let mut together = vec![0.0; partition.clusters()];
    let mut seen = vec![0.0; partition.clusters()];
    let mut alone = vec![true; partition.clusters()];
    for j in (0..ensemble.objects()).filter(|&j| j != i) {
        let k = partition.labels()[j] as usize;
        alone[k] = false;
        for (u, a, b) in both(ensemble, i, j) {
            seen[k] += 1.0;
            together[k] += if a == b { weights[offsets[u] + a] } else { 0.0 };
        }
    }
    let clusters = 0..partition.clusters();
    let evidence = clusters.map(|k| match seen[k] {
        _ if alone[k] => 1.0,
        0.0 => 0.0,
        seen => together[k] / seen,
    });
    evidence.collect()
}

/// Objects go, all at once and so often, to the cluster with most evidence; out of none that would be left empty.
fn naive_moves(
    ensemble: &Ensemble,
    weights: &[f64],
    partition: &Partition,
    iterations: u32,
) -> Partition {
    let mut labels = partition.labels().to_vec();
    for _ in 0..iterations {
        let before = Partition::new(labels.clone(), partition.clusters()).expect("labels");
        for (i, label) in labels.iter_mut().enumerate() {
            let evidence = evidence(ensemble, weights, &before, i);
            let own = *label as usize;
            let mut most = evidence[own] * (1.0 + 1e-9);
            for k in (0..evidence.len()).filter(|&k| k != own) {
                if evidence[k] > most {
                    *label = k as u32;
                    most = evidence[k] + 1e-9;
                }
            }
        }
        while let Some(empty) = (0..partition.clusters() as u32).find(|k| !labels.contains(k)) {
            for (to, &from) in labels.iter_mut().zip(before.labels()) {
                if from == empty {
                    *to = from;
                }
            }
        }
    }
    Partition::from_values(&labels).by_appearance()
}

#[test]
fn locally_weighted_evidence_is_the_naive_reference() {
    let mut compared = 0;
    let mut moved = 0;
    for seed in 0..ENSEMBLES {
        let ensemble = drawn(seed);
        let clusters = 2 + seed as usize % 4;
        let settings = LweaSettings::default();
        let outcome = weighted_tree(&ensemble, clusters);
        let weights = trusted_cluster_weights(&ensemble, settings.theta, settings.trust_iterations);
        let reference = naive(weighted(&ensemble, &weights), UNIT, Linkage::Average);
        compared += agree(&outcome, &reference, false, &format!("draw {seed}"));
        let first = cut(outcome.dendrogram.as_ref().expect("a tree"), clusters);
        let expected = naive_moves(&ensemble, &weights, &first, settings.move_iterations);
        assert_eq!(outcome.partition, expected, "moves of draw {seed}");
        moved += outcome.details.moved;
    }
    assert!(compared > 3_000, "{compared}");
    assert!(moved > 50, "{moved}");
}
