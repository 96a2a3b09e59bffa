//! What is written reads back, in every format.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::common::assert_says;
use std::fs;
use std::path::Path;

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble, EnsembleBuilder, Label, Seed};
use partita_files::{
    LabelBlock, LabelColumn, LabelGroups, LoadedEnsemble, ReadOptions, Table, read_ensemble,
    read_table, write_ensemble, write_table,
};
use rand::RngExt;

fn drawn(seed: u64, objects: usize, most: u32) -> (Ensemble, LabelColumn) {
    let mut rng = Seed::new(seed).rng();
    let mut builder = EnsembleBuilder::new(objects);
    for u in 0..5 {
        let number: Vec<Option<u32>> = (0..objects)
            .map(|i| (i == 0 || rng.random_bool(0.9)).then(|| rng.random_range(0..most)))
            .collect();
        if u % 2 == 0 {
            builder.push(format!("numbers {u}"), number).unwrap();
        } else {
            builder
                .push(
                    format!("\"words\", {u}"),
                    number.iter().map(|n| n.map(|n| format!("c{n}, é"))),
                )
                .unwrap();
        }
    }
    let names = (0..objects)
        .map(|i| format!("object {i}\t\"{}\"", i % 3))
        .collect();
    let truth = (0..objects)
        .map(|i| (i % 7 != 3).then(|| format!("class {}", i % 4)))
        .collect();
    (
        builder.finish().unwrap().with_object_names(names).unwrap(),
        LabelColumn {
            name: "label".into(),
            values: truth,
        },
    )
}

fn back(path: &Path, ensemble: &Ensemble, truth: Option<&LabelColumn>) -> LoadedEnsemble {
    write_ensemble(path, ensemble, truth).unwrap();
    // Columns of many values are base clusterings where they are asked for.
    let mut options = ReadOptions::default();
    let names = ensemble.bases().iter().map(BaseClustering::name);
    options.only = names.map(|name| name.replace('"', "?")).collect();
    read_ensemble(path, &options).unwrap()
}

fn refusal(path: &Path, ensemble: &Ensemble) -> String {
    write_ensemble(path, ensemble, None)
        .unwrap_err()
        .to_string()
}

#[test]
fn ensembles_read_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, most) in (0..30).zip([3, 40, 200, 300].into_iter().cycle()) {
        let (ensemble, truth) = drawn(seed, 1 + seed as usize * 20, most);
        for name in ["a.csv", "a.tsv", "a.csv.gz", "a.npz", "a.parquet"] {
            let path = folder.path().join(name);
            let given = LoadedEnsemble {
                ensemble: ensemble.clone(),
                truth: Some(truth.clone()),
            };
            assert_eq!(back(&path, &ensemble, Some(&truth)), given, "{name} {seed}");
            let bytes = fs::read(&path).unwrap();
            write_ensemble(&path, &ensemble, Some(&truth)).unwrap();
            assert_eq!(bytes, fs::read(&path).unwrap(), "{name}");
        }
    }
}

#[test]
fn many_clusters_take_wider_numbers() {
    let folder = tempfile::tempdir().unwrap();
    for clusters in [128, 129, 32_768, 32_769, 65_534] {
        let mut builder = EnsembleBuilder::new(clusters);
        builder
            .push("u", (0..clusters).map(|label| Some(label as u64)))
            .unwrap();
        let ensemble = builder.finish().unwrap();
        for name in ["a.npz", "a.parquet", "a.csv"] {
            assert_eq!(
                back(&folder.path().join(name), &ensemble, None).ensemble,
                ensemble,
                "{name} {clusters}"
            );
        }
    }
}

#[test]
fn npz_keeps_what_text_can_not() {
    let folder = tempfile::tempdir().unwrap();
    let bases = vec![BaseClustering::new(
        "label",
        ["-1", "", "x"].map(String::from).to_vec(),
    )];
    let rows = Array2::from_shape_vec((3, 1), vec![1, 0, u8::MISSING]).unwrap();
    let ensemble = Ensemble::from_bytes(rows, bases)
        .unwrap()
        .with_recipe("{\"made\": 1}");
    assert_eq!(
        back(&folder.path().join("a.npz"), &ensemble, None).ensemble,
        ensemble
    );
    for name in ["a.csv", "a.parquet"] {
        let path = folder.path().join(name);
        let message = refusal(&path, &ensemble);
        assert_says(
            message,
            &["would read back as something else; write an .npz file instead"],
        );
        assert!(!path.exists());
    }
    let mut builder = EnsembleBuilder::new(2);
    builder.push("u", [Some(-1), Some(3)]).unwrap();
    let ensemble = builder.finish().unwrap();
    let message = refusal(&folder.path().join("a.csv"), &ensemble);
    assert_says(
        &message,
        &["the labels of base clustering 'u' would read back as others"],
    );
}

#[test]
fn parquet_keeps_the_recipe() {
    let folder = tempfile::tempdir().unwrap();
    let ensemble = drawn(1, 9, 3).0.with_recipe("kmeans:100");
    assert_eq!(
        back(&folder.path().join("a.parquet"), &ensemble, None).ensemble,
        ensemble
    );
}

/// Label rows by groups are those of the whole ensemble, in files of ours and of others.
#[test]
fn groups_hold_the_label_rows_of_the_ensemble() {
    let folder = tempfile::tempdir().unwrap();
    let ours = folder.path().join("ours.parquet");
    let mut builder = EnsembleBuilder::new(50);
    builder
        .push("a", (0..50).map(|i| (i % 7 > 0).then_some(i * 2000 % 9000)))
        .unwrap();
    builder.push("b", (0..50).map(|i| Some(i % 4))).unwrap();
    write_ensemble(&ours, &builder.finish().unwrap(), None).unwrap();
    let theirs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/groups.parquet");
    for (path, count) in [(&ours, 1), (&theirs, 4)] {
        let whole = read_ensemble(path, &ReadOptions::default())
            .unwrap()
            .ensemble;
        let groups = LabelGroups::open(path, &ReadOptions::default())
            .unwrap()
            .unwrap();
        assert_eq!(
            (groups.bases(), groups.objects(), groups.groups()),
            (whole.bases(), whole.objects(), count)
        );
        let mut object = 0;
        for group in 0..count {
            let block = match groups.block(group).unwrap() {
                LabelBlock::Bytes(rows) => rows.mapv(Label::cluster),
                LabelBlock::Words(rows) => rows.mapv(Label::cluster),
                other => panic!("{other:?}"),
            };
            for row in block.outer_iter() {
                let found: Vec<Option<usize>> = row.to_vec();
                let told: Vec<Option<usize>> = (0..whole.bases().len())
                    .map(|u| whole.label(object, u))
                    .collect();
                assert_eq!(found, told);
                object += 1;
            }
        }
        assert_eq!(object, whole.objects());
    }
    let words = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ensemble.parquet");
    assert!(
        LabelGroups::open(&words, &ReadOptions::default())
            .unwrap()
            .is_none(),
        "labels are words"
    );
    assert!(
        LabelGroups::open(Path::new("a.csv"), &ReadOptions::default())
            .unwrap()
            .is_none()
    );
}

#[test]
fn tables_read_back_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Seed::new(5).rng();
    let numbers = std::iter::repeat_with(|| f64::from_bits(rng.random()));
    let numbers: Vec<f64> = numbers
        .filter(|value| value.abs() < 1e140)
        .take(300)
        .collect();
    let objects = 100;
    let label = (0..objects).map(|i| (i != 4).then(|| format!("c{}", i % 3)));
    let table = Table {
        columns: ["x", "y", "z, \"w\""].map(String::from).to_vec(),
        values: Array2::from_shape_vec((objects, 3), numbers).unwrap(),
        object_names: Some((0..objects).map(|i| format!("o{i}")).collect()),
        label: Some(LabelColumn {
            name: "label".into(),
            values: label.collect(),
        }),
        gaps: Vec::new(),
    };
    for name in ["a.csv", "a.tsv", "a.csv.gz", "a.npz", "a.parquet", "a.npy"] {
        let path = folder.path().join(name);
        write_table(&path, &table).unwrap();
        let back = read_table(&path, &ReadOptions::default()).unwrap();
        let bits = |table: &Table| table.values.mapv(f64::to_bits);
        assert_eq!(bits(&back), bits(&table), "{name}");
        if name != "a.npy" {
            assert_eq!(back.columns, table.columns);
            assert_eq!(
                (back.object_names, back.label),
                (table.object_names.clone(), table.label.clone())
            );
        }
    }
}

#[test]
fn other_endings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ensemble = drawn(1, 9, 3).0;
    for name in ["a.mat", "a.npy", "a.xlsx", "a"] {
        let message = refusal(&folder.path().join(name), &ensemble);
        assert_says(
            &message,
            &["unknown kind of file; the name must end in .csv"],
        );
    }
    let message = read_table(&folder.path().join("no.xlsx"), &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        message.ends_with("no.xlsx: no such file; check the name and the folder"),
        "{message}"
    );
}
