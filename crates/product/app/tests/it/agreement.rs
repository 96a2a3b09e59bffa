//! The agreement of labels: the same for the same labels, and smaller for labels that are wrong.

use std::path::{Path, PathBuf};

use partita::files::{ReadOptions, read_table};
use partita::generate::{Recipe, Scale};
use partita::metrics::{Contingency, object_agreement};
use partita::{Clusters, Partition};
use partita_app::{Experiment, MethodChoice, NoObserver, RunResult, TableInput};

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../datasets")
        .join(name)
}

/// A run of these methods on 40 k-means of standardised columns.
fn run(file: &Path, clusters: usize, base_clusters: &str, methods: &[&str]) -> RunResult {
    let mut recipe = Recipe::default();
    recipe.base = partita::generate::BaseSpec::list("kmeans:40").expect("it is well formed");
    (recipe.base_k, recipe.scale) = (
        base_clusters.parse().expect("it is well formed"),
        Scale::ZScore,
    );
    let mut table = TableInput::new(file);
    table.read.truth = Some("label").into();
    let first = MethodChoice::new(methods[0]);
    let mut experiment = Experiment::of_table(table, recipe, Clusters::Exactly(clusters), first);
    experiment
        .methods
        .extend(methods[1..].iter().map(|name| MethodChoice::new(*name)));
    experiment.compute(&NoObserver).expect("it is well formed")
}

fn classes(file: &Path) -> Partition {
    let mut options = ReadOptions::default();
    options.truth = Some("label").into();
    Partition::from_values(
        &read_table(file, &options)
            .expect("it is well formed")
            .label
            .expect("it is well formed")
            .values,
    )
}

/// How often a right label has a larger agreement than a wrong one.
fn auc(values: &[f64], found: &Partition, classes: &Partition) -> f64 {
    let class = Contingency::new(found, classes)
        .expect("it is well formed")
        .matching();
    let right = |i: usize| class[found.labels()[i] as usize] == Some(classes.labels()[i] as usize);
    let (rights, wrongs): (Vec<usize>, Vec<usize>) = (0..values.len()).partition(|&i| right(i));
    let better = |&(i, j): &(usize, usize)| match values[i].total_cmp(&values[j]) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    };
    let pairs = rights
        .iter()
        .flat_map(|&i| wrongs.iter().map(move |&j| (i, j)));
    pairs.map(|pair| better(&pair)).sum::<f64>() / (rights.len() * wrongs.len()) as f64
}

/// Small sets and their classes.
const SETS: [(&str, usize); 8] = [
    ("house-votes.csv", 2),
    ("spiral.csv", 2),
    ("balance.csv", 3),
    ("wine.csv", 3),
    ("yeast-cellcycle.csv", 5),
    ("glass.csv", 6),
    ("protein.csv", 6),
    ("zoo.csv", 7),
];

#[test]
fn wrong_labels_have_less_agreement_whatever_the_method() {
    let folder = std::env::var_os("PARTITA_DATASETS").map(PathBuf::from);
    let places = |name: &str| {
        [
            Some(shipped(name)),
            folder.as_ref().map(|folder| folder.join(name)),
        ]
    };
    let (mut sets, mut areas) = (0.0, [0.0; 2]);
    for (name, clusters) in SETS {
        let Some(file) = places(name)
            .into_iter()
            .flatten()
            .find(|file| file.is_file())
        else {
            continue;
        };
        let (found, classes) = (
            run(&file, clusters, "sqrt", &["mm", "pcc-kl"]),
            classes(&file),
        );
        sets += 1.0;
        for (at, outcome) in found.outcomes.iter().enumerate() {
            areas[at] += auc(&found.agreements[at], &outcome.partition, &classes);
        }
    }
    assert!(
        areas.iter().all(|sum| sum / sets > 0.55),
        "{areas:?} of {sets}"
    );
}

#[test]
fn equal_labels_have_equal_agreement() {
    let found = run(
        &shipped("wine.csv"),
        3,
        "sqrt",
        &["mm", "lwgp", "eac-average"],
    );
    for (outcome, of_run) in found.outcomes.iter().zip(&found.agreements) {
        assert_eq!(
            object_agreement(&*found.ensemble, &outcome.partition).as_ref(),
            Ok(of_run)
        );
    }
}
