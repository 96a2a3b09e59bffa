//! Trees over exact rows against a naive reference that always looks at all pairs.

use partita_core::ndarray::Array2;
use partita_core::{Dendrogram, Merge, Partition, Seed, Silent};
use partita_linkage::{Linkage, Rows, cut, genie, link, link_rows, spanning_tree, unfold};
use rand::{Rng, RngExt};

const LINKAGES: [Linkage; 5] = [
    Linkage::Single,
    Linkage::Average,
    Linkage::Complete,
    Linkage::Ward,
    Linkage::Centroid,
];

/// A symmetric matrix of whole dissimilarities.
struct Matrix {
    unit: u64,
    cells: Vec<Vec<u32>>,
}

impl Rows for Matrix {
    fn objects(&self) -> usize {
        self.cells.len()
    }
    fn unit(&self) -> u64 {
        self.unit
    }
    fn fill(&self, object: usize, row: &mut [u32]) {
        row.copy_from_slice(&self.cells[object]);
        row[object] = 12_345;
    }
}

/// Few values, so that ties are everywhere.
fn draw(rng: &mut impl Rng, n: usize, unit: u64) -> Matrix {
    let mut cells = vec![vec![0; n]; n];
    for i in 0..n {
        for j in 0..i {
            let value = (rng.random_range(0..=8) * unit / 8) as u32;
            (cells[i][j], cells[j][i]) = (value, value);
        }
    }
    Matrix { unit, cells }
}

/// Merges the nearest two clusters until one is left; of equals those with the smallest objects.
fn naive(matrix: &Matrix, linkage: Linkage) -> Dendrogram {
    let n = matrix.cells.len();
    let mut clusters: Vec<(u32, Vec<usize>)> = (0..n).map(|i| (i as u32, vec![i])).collect();
    let mut merges = Vec::new();
    while clusters.len() > 1 {
        let mut best = (f64::INFINITY, 0, 0);
        for a in 0..clusters.len() {
            for b in a + 1..clusters.len() {
                let here = apart(matrix, linkage, &clusters[a].1, &clusters[b].1);
                if here < best.0 {
                    best = (here, a, b);
                }
            }
        }
        let (height, a, b) = best;
        let (node, members) = clusters.remove(b);
        let (left, right) = (node.min(clusters[a].0), node.max(clusters[a].0));
        clusters[a].0 = (n + merges.len()) as u32;
        clusters[a].1.extend(members);
        let height = if matches!(linkage, Linkage::Ward | Linkage::Centroid) {
            height.max(0.0).sqrt()
        } else {
            height
        };
        merges.push(Merge {
            left,
            right,
            height,
            size: clusters[a].1.len() as u32,
        });
    }
    Dendrogram::new(n, merges)
}

fn apart(matrix: &Matrix, linkage: Linkage, a: &[usize], b: &[usize]) -> f64 {
    let unit = matrix.unit as f64;
    let sum = |a: &[usize], b: &[usize]| -> u64 {
        a.iter()
            .flat_map(|&i| {
                b.iter().map(move |&j| {
                    if i == j {
                        0
                    } else {
                        u64::from(matrix.cells[i][j])
                    }
                })
            })
            .sum()
    };
    let pairs = || {
        a.iter()
            .flat_map(|&i| b.iter().map(move |&j| matrix.cells[i][j]))
    };
    let (x, y) = (a.len() as f64, b.len() as f64);
    let centroid = || {
        let spread = |a: &[usize]| (sum(a, a) / 2) as f64 / (a.len() * a.len()) as f64;
        sum(a, b) as f64 / (x * y) - (spread(a) + spread(b))
    };
    match linkage {
        Linkage::Single => f64::from(pairs().min().expect("clusters have objects")) / unit,
        Linkage::Complete => f64::from(pairs().max().expect("clusters have objects")) / unit,
        Linkage::Average => sum(a, b) as f64 / (x * y * unit),
        Linkage::Ward => 2.0 * (x * y) / (x + y) * centroid() / unit,
        Linkage::Centroid => centroid() / unit,
        _ => unreachable!("these are all"),
    }
}

fn heights(tree: &Dendrogram) -> Vec<f64> {
    tree.merges().iter().map(|merge| merge.height).collect()
}

fn close(a: &Dendrogram, b: &Dendrogram) -> bool {
    heights(a)
        .iter()
        .zip(heights(b))
        .all(|(a, b)| (a - b).abs() < 1e-9)
}

#[test]
fn trees_are_those_of_the_naive_reference() {
    for seed in 0..250 {
        let mut rng = Seed::new(seed).rng();
        let n = rng.random_range(2..30);
        // The units make cells of 32 bits, of 64 bits, and of 32 bits that widen on the way.
        let unit = [8, 1 << 26, 1 << 31][seed as usize % 3];
        let matrix = draw(&mut rng, n, unit);
        for linkage in LINKAGES {
            let tree = link_rows(&matrix, &vec![1; n], linkage, &Silent).unwrap();
            let reference = naive(&matrix, linkage);
            assert!(
                close(&tree, &reference),
                "{linkage:?} {seed}\n{tree:?}\n{reference:?}"
            );
            // Single link takes the edges of one spanning tree, so its ties are its own.
            if linkage != Linkage::Single && !rounds(linkage) {
                assert_eq!(tree, reference, "{linkage:?} {seed}");
            }
        }
    }
}

/// Whether ties may be missed by a rounding.
fn rounds(linkage: Linkage) -> bool {
    matches!(linkage, Linkage::Ward | Linkage::Centroid)
}

#[test]
fn weights_are_identical_objects() {
    for seed in 0..250 {
        let mut rng = Seed::new(seed).rng();
        let groups = rng.random_range(1..12);
        let small = draw(&mut rng, groups, 8);
        let weights: Vec<u32> = (0..groups).map(|_| rng.random_range(1..5)).collect();
        let group: Vec<u32> = (0..groups as u32)
            .flat_map(|g| vec![g; weights[g as usize] as usize])
            .collect();
        let cell = |g: u32, h: u32| {
            if g == h {
                0
            } else {
                small.cells[g as usize][h as usize]
            }
        };
        let cells = group
            .iter()
            .map(|&g| group.iter().map(|&h| cell(g, h)).collect())
            .collect();
        let large = Matrix { unit: 8, cells };
        for linkage in [
            Linkage::Single,
            Linkage::Average,
            Linkage::Complete,
            Linkage::Ward,
        ] {
            let folded = unfold(
                &link_rows(&small, &weights, linkage, &Silent).unwrap(),
                &group,
            );
            let full = link_rows(&large, &vec![1; group.len()], linkage, &Silent).unwrap();
            assert!(close(&folded, &full), "{linkage:?} {seed}");
            for clusters in 1..=groups {
                let same = same_groups(&cut(&folded, clusters), &cut(&full, clusters));
                let split = heights(&full)[..]
                    .iter()
                    .filter(|&&height| height == 0.0)
                    .count();
                assert!(
                    same || group.len() - split < clusters,
                    "{linkage:?} {seed} {clusters}"
                );
            }
        }
    }
}

fn same_groups(a: &Partition, b: &Partition) -> bool {
    a.by_appearance() == b.by_appearance()
}

#[test]
fn a_larger_tree_agrees_with_kodama_and_packs_its_columns() {
    let mut rng = Seed::new(3).rng();
    let n = 600;
    let unit = 1 << 30;
    let points: Vec<(f64, f64)> = (0..n)
        .map(|_| (rng.random::<f64>() * 0.7, rng.random::<f64>() * 0.7))
        .collect();
    let squared = |i: usize, j: usize| {
        (points[i].0 - points[j].0).powi(2) + (points[i].1 - points[j].1).powi(2)
    };
    for linkage in LINKAGES {
        let power = if rounds(linkage) { 1.0 } else { 0.5 };
        let value = |i: usize, j: usize| (squared(i, j).powf(power) * unit as f64) as u32;
        let matrix = Matrix {
            unit,
            cells: (0..n)
                .map(|i| (0..n).map(|j| value(i, j)).collect())
                .collect(),
        };
        let tree = link_rows(&matrix, &vec![1; n], linkage, &Silent).unwrap();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        let other = link(
            pairs.map(|(i, j)| squared(i, j).sqrt()).collect(),
            n,
            linkage,
        )
        .unwrap();
        let far = heights(&tree)
            .iter()
            .zip(heights(&other))
            .fold(0.0f64, |far, (a, b)| far.max((a - b).abs()));
        assert!(far < 1e-4, "{linkage:?} {far}");
        assert!(same_groups(&cut(&tree, 7), &cut(&other, 7)), "{linkage:?}");
    }
}

/// Points and labels of the Python package genieclust 1.3.0 (`Genie(n_clusters, gini_threshold=g)`): see the heads of the parts.
#[test]
fn genie_agrees_with_genieclust() {
    let text = include_str!("fixtures/genieclust.csv");
    for part in text.split("# ").skip(1) {
        let lines: Vec<Vec<f64>> = part
            .lines()
            .skip(1)
            .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
            .collect();
        let d = lines[0].len() - 12;
        let rows = Array2::from_shape_fn((lines.len(), d), |(i, j)| lines[i][j]);
        let edges = spanning_tree(rows.view(), &Silent).unwrap();
        let mut column = d;
        for gini in [0.1, 0.3, 0.5, 0.7] {
            for clusters in [2, 5, 9] {
                let theirs: Vec<u32> = lines.iter().map(|line| line[column] as u32).collect();
                let theirs = Partition::from_values(&theirs).by_appearance();
                assert_eq!(
                    cut(&genie(lines.len(), &edges, gini), clusters),
                    theirs,
                    "gini {gini}, {clusters}"
                );
                column += 1;
            }
        }
    }
}
