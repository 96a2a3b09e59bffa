//! A folder of files is read as one file.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::common::assert_says;
use std::fs;
use std::path::Path;

use partita_core::{BaseClustering, Ensemble, EnsembleBuilder, GroupRows, Label, RowBlocks};
use partita_files::{
    FileError, LabelGroups, ReadOptions, Table, input_parts, read_ensemble, read_table,
    write_ensemble, write_table,
};

/// The ensemble of these objects; every part lacks some clusters of the whole.
fn ensemble(objects: std::ops::Range<u32>) -> Ensemble {
    let mut builder = EnsembleBuilder::new(objects.len());
    for u in 0..4u32 {
        let label = |i: u32| (i % 11 != u).then(|| (i / 7 + u) % 13);
        builder
            .push(format!("u{u}"), objects.clone().map(label))
            .unwrap();
    }
    builder.finish().unwrap()
}

fn write_parts(folder: &Path, parts: u32) {
    fs::create_dir(folder).unwrap();
    for part in 0..parts {
        let name = format!("part-{part:05}.parquet");
        write_ensemble(
            &folder.join(name),
            &ensemble(part * 50..(part + 1) * 50),
            None,
        )
        .unwrap();
    }
    fs::write(folder.join("_SUCCESS"), "").unwrap();
}

/// All label rows as one sequence of clusters.
fn rows(groups: &LabelGroups) -> Vec<Option<usize>> {
    let mut all = Vec::new();
    for group in 0..RowBlocks::groups(groups) {
        let mut take = |rows: GroupRows<'_>| match rows.labels().unwrap() {
            partita_core::LabelRows::Bytes(labels) => {
                all.extend(labels.iter().map(|label| label.cluster()));
            }
            partita_core::LabelRows::Words(labels) => {
                all.extend(labels.iter().map(|label| label.cluster()));
            }
        };
        groups.read(group, &mut take).unwrap();
    }
    all
}

#[test]
fn twenty_files_are_one_ensemble() {
    let place = tempfile::tempdir().unwrap();
    let (one, twenty) = (
        place.path().join("one.parquet"),
        place.path().join("twenty"),
    );
    write_ensemble(&one, &ensemble(0..1000), None).unwrap();
    write_parts(&twenty, 20);
    let options = ReadOptions::default();
    assert_eq!(
        read_ensemble(&twenty, &options).unwrap(),
        read_ensemble(&one, &options).unwrap()
    );
    assert_eq!(input_parts(&twenty).unwrap().len(), 20);

    let open = |path: &Path| LabelGroups::open(path, &options).unwrap().unwrap();
    let (whole, parts) = (open(&one), open(&twenty));
    assert_eq!((parts.groups(), parts.bases()), (20, whole.bases()));
    assert_eq!(rows(&parts), rows(&whole));
    let base = |base: &BaseClustering| base.values().len();
    assert_eq!(parts.bases().iter().map(base).collect::<Vec<_>>(), [13; 4]);
    // Whatever is held, the rows are the same.
    for bytes in [0, 450, u64::MAX] {
        parts.hold(bytes);
        assert_eq!(rows(&parts), rows(&whole));
        assert_eq!(rows(&parts), rows(&whole));
    }
}

#[test]
fn a_table_may_lie_in_a_folder() {
    let place = tempfile::tempdir().unwrap();
    let table = |from: u32| Table {
        values: partita_core::ndarray::Array2::from_shape_fn((3, 2), |(i, j)| {
            f64::from(from) + (3 * i + j) as f64
        }),
        columns: vec!["x".into(), "y".into()],
        object_names: None,
        label: None,
        gaps: Vec::new(),
    };
    for (part, from) in [("a.parquet", 0), ("b.parquet", 100)] {
        write_table(&place.path().join(part), &table(from)).unwrap();
    }
    let read = read_table(place.path(), &ReadOptions::default()).unwrap();
    assert_eq!(
        read.values.column(0).to_vec(),
        [0., 3., 6., 100., 103., 106.]
    );
}

#[test]
fn a_folder_has_the_recipe_that_all_its_files_have() {
    let place = tempfile::tempdir().unwrap();
    let recipe = |second: &str| {
        for (part, recipe) in [("a.parquet", "kmeans:20"), ("b.parquet", second)] {
            let ensemble = ensemble(0..10).with_recipe(recipe.to_owned());
            write_ensemble(&place.path().join(part), &ensemble, None).unwrap();
        }
        let read = read_ensemble(place.path(), &ReadOptions::default()).unwrap();
        read.ensemble.recipe().map(str::to_owned)
    };
    assert_eq!(recipe("kmeans:20").as_deref(), Some("kmeans:20"));
    assert_eq!(recipe("trees:20"), None);
}

#[test]
fn files_that_do_not_fit_together_are_named() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let refused = || read_ensemble(folder, &ReadOptions::default()).unwrap_err();
    assert!(
        matches!(refused(), FileError::Directory(_)),
        "an empty folder"
    );
    write_ensemble(&folder.join("a.parquet"), &ensemble(0..10), None).unwrap();
    let mut other = EnsembleBuilder::new(10);
    for name in ["u0", "u1", "v", "u3"] {
        other.push(name, (0..10).map(Some)).unwrap();
    }
    write_ensemble(&folder.join("b.parquet"), &other.finish().unwrap(), None).unwrap();
    let message = refused().to_string();
    assert_says(&message, &["b.parquet", "column 3 is 'v', but 'u2' in"]);
    fs::remove_file(folder.join("b.parquet")).unwrap();
    fs::write(folder.join("c.npy"), "no array").unwrap();
    let message = refused().to_string();
    assert_says(&message, &["c.npy", "keep one kind in a folder"]);
}
