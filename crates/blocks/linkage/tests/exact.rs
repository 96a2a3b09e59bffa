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
        let (other, members) = clusters.remove(b);
        let (node, all) = &mut clusters[a];
        all.extend(members);
        merges.push(Merge {
            left: other.min(*node),
            right: other.max(*node),
            height: if squares(linkage) {
                height.max(0.0).sqrt()
            } else {
                height
            },
            size: all.len() as u32,
        });
        *node = (n + merges.len() - 1) as u32;
    }
    Dendrogram::new(n, merges)
}

fn apart(matrix: &Matrix, linkage: Linkage, a: &[usize], b: &[usize]) -> f64 {
    let unit = matrix.unit as f64;
    let cell = |i: usize, j: usize| if i == j { 0 } else { matrix.cells[i][j] };
    let pairs = |a: &[usize], b: &[usize]| -> Vec<u32> {
        a.iter()
            .flat_map(|&i| b.iter().map(move |&j| cell(i, j)))
            .collect()
    };
    let sum = |a: &[usize], b: &[usize]| -> f64 {
        pairs(a, b).into_iter().map(u64::from).sum::<u64>() as f64
    };
    let x = a.len() as f64;
    let y = b.len() as f64;
    let spread = sum(a, a) / 2.0 / (x * x) + sum(b, b) / 2.0 / (y * y);
    let centroid = sum(a, b) / (x * y) - spread;
    let least = pairs(a, b).into_iter().min().map(f64::from);
    let most = pairs(a, b).into_iter().max().map(f64::from);
    match linkage {
        Linkage::Single => least.expect("clusters have objects") / unit,
        Linkage::Complete => most.expect("clusters have objects") / unit,
        Linkage::Average => sum(a, b) / (x * y * unit),
        Linkage::Ward => 2.0 * (x * y) / (x + y) * centroid / unit,
        Linkage::Centroid => centroid / unit,
        _ => unreachable!("these are all"),
    }
}

fn heights(tree: &Dendrogram) -> Vec<f64> {
    tree.merges().iter().map(|merge| merge.height).collect()
}

/// The largest difference of two trees' heights.
fn apart_in_height(a: &Dendrogram, b: &Dendrogram) -> f64 {
    let pairs = heights(a).into_iter().zip(heights(b));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
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
            let far = apart_in_height(&tree, &reference);
            assert!(far < 1e-9, "{linkage:?} {seed}\n{tree:?}\n{reference:?}");
            // Single link takes the edges of one spanning tree, so its ties are its own; roots may miss a tie by a rounding.
            if linkage != Linkage::Single && !squares(linkage) {
                assert_eq!(tree, reference, "{linkage:?} {seed}");
            }
        }
    }
}

/// Whether dissimilarities are squares.
fn squares(linkage: Linkage) -> bool {
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
            let apart = u32::from(g != h);
            apart * small.cells[g as usize][h as usize]
        };
        let row = |&g: &u32| group.iter().map(|&h| cell(g, h)).collect();
        let cells = group.iter().map(row).collect();
        let large = Matrix { unit: 8, cells };
        for linkage in LINKAGES
            .into_iter()
            .filter(|linkage| *linkage != Linkage::Centroid)
        {
            let folded = link_rows(&small, &weights, linkage, &Silent).unwrap();
            let folded = unfold(&folded, &group);
            let full = link_rows(&large, &vec![1; group.len()], linkage, &Silent).unwrap();
            assert!(apart_in_height(&folded, &full) < 1e-9, "{linkage:?} {seed}");
            let inside = heights(&full).into_iter().filter(|height| *height == 0.0);
            let apart = group.len() - inside.count();
            for clusters in 1..=groups.min(apart) {
                let same = same_groups(&cut(&folded, clusters), &cut(&full, clusters));
                assert!(same, "{linkage:?} {seed} {clusters}");
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
        let power = if squares(linkage) { 1.0 } else { 0.5 };
        let value = |i: usize, j: usize| (squared(i, j).powf(power) * unit as f64) as u32;
        let row = |i: usize| (0..n).map(|j| value(i, j)).collect();
        let cells = (0..n).map(row).collect();
        let matrix = Matrix { unit, cells };
        let tree = link_rows(&matrix, &vec![1; n], linkage, &Silent).unwrap();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        let distances = pairs.map(|(i, j)| squared(i, j).sqrt()).collect();
        let other = link(distances, n, linkage).unwrap();
        let far = apart_in_height(&tree, &other);
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
                let ours = cut(&genie(lines.len(), &edges, gini), clusters);
                assert_eq!(ours, theirs, "gini {gini}, {clusters}");
                column += 1;
            }
        }
    }
}
