//! The catalogue against the files it lists.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use partita_files::{
    DataKind, Encode, Impute, ReadOptions, catalogue, data_set, read_ensemble, read_labels,
    read_table, verify,
};

/// The folder in this variable. Without it, and outside of CI, what needs it is left out.
fn folder(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    assert!(
        folder.is_some() || std::env::var_os("CI").is_none(),
        "{variable} must be set in CI"
    );
    folder
}

fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../datasets")
}

fn check(file: &Path, name: &str) {
    let set = data_set(name).unwrap();
    verify(set, file).unwrap();
    let labels = read_labels(file, &ReadOptions::default()).unwrap();
    let mut counts = BTreeMap::new();
    labels
        .column
        .values
        .iter()
        .flatten()
        .for_each(|label| *counts.entry(label.as_str()).or_insert(0) += 1);
    assert_eq!(counts, set.class_counts().into_iter().collect(), "{name}");
    assert_eq!(
        (labels.column.values.len(), counts.len()),
        (set.rows, set.classes),
        "{name}"
    );
    let mut strict = ReadOptions::default();
    (strict.encode, strict.impute) = (Some(Encode::None), Some(Impute::None));
    let table = read_table(file, &strict);
    if set.kind == DataKind::Numbers {
        assert_eq!(
            table.unwrap().values.dim(),
            (set.rows, set.features),
            "{name}"
        );
    } else {
        let message = table.unwrap_err().to_string();
        let expected = if set.kind == DataKind::Gaps {
            "is missing; fill it in"
        } else {
            "is not a number"
        };
        assert!(message.contains(expected), "{name}: {message}");
    }
}

#[test]
fn shipped_sets_are_what_the_catalogue_says() {
    let names: Vec<&str> = catalogue()
        .iter()
        .filter(|set| set.shipped())
        .map(|set| set.name.as_str())
        .collect();
    assert_eq!(names, ["digits", "iris", "wdbc", "wine"]);
    names
        .iter()
        .for_each(|name| check(&shipped().join(format!("{name}.csv")), name));
}

#[test]
fn every_set_is_what_the_catalogue_says() {
    let Some(folder) = folder("PARTITA_DATASETS") else {
        return;
    };
    assert_eq!(catalogue().len(), 31);
    for set in catalogue() {
        let file = if set.shipped() {
            shipped().join(&set.file)
        } else {
            folder.join(&set.file)
        };
        check(&file, &set.name);
    }
}

#[test]
fn another_file_is_not_taken_for_the_set() {
    let message = verify(data_set("iris").unwrap(), &shipped().join("wine.csv"))
        .unwrap_err()
        .to_string();
    assert!(message.contains(
        "not the canonical copy of 'iris': its SHA-256 begins f566d5d119ad, not e2e59531f2c1"
    ));
}

#[test]
fn published_pools_open() {
    let Some(folder) = folder("PARTITA_POOLS") else {
        return;
    };
    for (name, objects, classes) in [
        ("IS", 2310, 7),
        ("ISOLET", 7797, 26),
        ("PD", 10992, 10),
        ("SPF", 1941, 7),
        ("Semeion", 1593, 10),
    ] {
        let path = folder.join(format!("{name}.mat"));
        let loaded = read_ensemble(&path, &ReadOptions::default()).unwrap();
        assert_eq!(
            (loaded.ensemble.objects(), loaded.ensemble.bases().len()),
            (objects, 100),
            "{name}"
        );
        assert_eq!(loaded.ensemble.missing(), 0);
        let mut truth = loaded.truth.unwrap().values;
        assert_eq!(
            truth,
            read_labels(&path, &ReadOptions::default())
                .unwrap()
                .column
                .values
        );
        truth.sort();
        truth.dedup();
        assert_eq!(truth.len(), classes, "{name}");
    }
}
