//! Trees and spectral clusterings against SciPy and scikit-learn (`fixtures/make.py`).
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use partita_core::Dendrogram;
use partita_core::ndarray::Array2;
use partita_linkage::{Linkage, cut, link};
use serde::Deserialize;

use crate::common;

#[derive(Deserialize)]
struct Stored {
    trees: Vec<Trees>,
    graphs: Vec<Graph>,
}

#[derive(Deserialize)]
struct Trees {
    name: String,
    points: Vec<Vec<f64>>,
    links: BTreeMap<String, Link>,
}

#[derive(Deserialize)]
struct Link {
    heights: Vec<f64>,
    sizes: Vec<u32>,
    /// Labels in the order of their first objects, by number of clusters.
    #[serde(default)]
    cuts: BTreeMap<usize, String>,
}

#[derive(Deserialize)]
struct Graph {
    name: String,
    points: Vec<Vec<f64>>,
    k: usize,
    labels: String,
}

fn stored() -> Stored {
    serde_json::from_str(include_str!("../fixtures/stored.json")).unwrap()
}

fn table(points: &[Vec<f64>]) -> Array2<f64> {
    Array2::from_shape_fn((points.len(), points[0].len()), |(i, p)| points[i][p])
}

/// Labels in the order of their first objects, written as the fixtures have them.
fn renumbered(labels: impl Iterator<Item = usize>) -> String {
    let mut order = Vec::new();
    let place = |label: usize| {
        let known = order.iter().position(|&seen| seen == label);
        let place = known.unwrap_or(order.len());
        if known.is_none() {
            order.push(label);
        }
        char::from(b'0' + place as u8)
    };
    labels.map(place).collect()
}

/// The one base clustering that a base clusterer makes of all rows.
fn generated(table: &Array2<f64>, kind: &str, k: usize, seed: u64) -> String {
    let recipe = common::recipe(&format!("{kind}:1"), &k.to_string(), 1.0);
    let made = common::make(table, &recipe, seed).unwrap();
    renumbered(made.ensemble.column(0).map(Option::unwrap))
}

fn tree(table: &Array2<f64>, linkage: Linkage) -> Dendrogram {
    let n = table.nrows();
    let distance =
        |i: usize, j: usize| (&table.row(i) - &table.row(j)).mapv(|x| x * x).sum().sqrt();
    let condensed = (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .map(|(i, j)| distance(i, j))
        .collect();
    link(condensed, n, linkage).unwrap()
}

#[test]
fn trees_are_those_of_scipy() {
    let linkages = [
        ("single", Linkage::Single),
        ("average", Linkage::Average),
        ("complete", Linkage::Complete),
        ("ward", Linkage::Ward),
        ("centroid", Linkage::Centroid),
    ];
    let mut compared = 0;
    for case in stored().trees {
        let table = table(&case.points);
        for (name, linkage) in linkages {
            let (expected, tree) = (&case.links[name], tree(&table, linkage));
            assert_eq!(tree.merges().len(), expected.heights.len());
            for (merge, (height, size)) in tree
                .merges()
                .iter()
                .zip(expected.heights.iter().zip(&expected.sizes))
            {
                let near = (merge.height - height).abs() < 1e-10 * height.max(1.0);
                assert!(
                    near && merge.size == *size,
                    "{}, {name}: {merge:?}, {height} of {size}",
                    case.name
                );
                compared += 1;
            }
            for (&k, labels) in &expected.cuts {
                let ours = renumbered(cut(&tree, k).labels().iter().map(|&label| label as usize));
                assert_eq!(&ours, labels, "{}, {name}, k = {k}", case.name);
                assert_eq!(
                    &generated(&table, name, k, 1),
                    labels,
                    "generated: {}, {name}, k = {k}",
                    case.name
                );
            }
        }
    }
    assert_eq!(compared, 5 * (39 + 59 + 49 + 29));
}

#[test]
fn spectral_labels_are_those_of_scikit_learn() {
    for case in stored().graphs {
        for seed in 0..4 {
            let ours = generated(&table(&case.points), "spectral", case.k, seed);
            assert_eq!(ours, case.labels, "{}, seed {seed}", case.name);
        }
    }
}
