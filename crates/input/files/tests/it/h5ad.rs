//! AnnData as anndata writes it: old and new forms, packed or not, gaps, damage.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use partita_core::ndarray::{Array2, array};
use partita_core::{BaseClustering, MemoryBudget};
use partita_files::{
    ReadOptions, Roles, column_facts, is_sparse_table, load_ensemble, read_ensemble, read_labels,
    read_sparse_table, read_table,
};

use crate::common::{assert_says, stored};

/// A stored file, unpacked into a folder of its own.
fn cells(name: &str) -> (tempfile::TempDir, PathBuf) {
    let mut bytes = Vec::new();
    let packed = fs::File::open(stored(&format!("{name}.h5ad.gz"))).unwrap();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{name}.h5ad"));
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn of(layer: Option<&str>, obsm: Option<&str>) -> ReadOptions {
    let mut options = ReadOptions::default();
    (options.layer, options.obsm) = (layer.map(str::to_owned), obsm.map(str::to_owned));
    options
}

/// The values of a matrix, its object names and columns.
fn matrix(path: &Path, options: &ReadOptions) -> (Array2<f64>, Vec<String>, Vec<String>) {
    if is_sparse_table(path, options) {
        let table = read_sparse_table(path, options).unwrap();
        (
            table.values.to_dense(),
            table.object_names.unwrap(),
            table.columns,
        )
    } else {
        let table = read_table(path, options).unwrap();
        (table.values, table.object_names.unwrap(), table.columns)
    }
}

#[test]
fn matrices_layers_and_embeddings_are_tables() {
    let x = array![
        [0.0, 1.5, 0.0],
        [2.0, 0.0, 0.0],
        [0.0, 0.0, 3.0],
        [0.0, -4.0, 0.0]
    ];
    let pca = Array2::from_shape_fn((4, 2), |(row, column)| (2 * row + column) as f64);
    for (name, sparse) in [("old", true), ("new", true), ("packed", false)] {
        let (_folder, path) = cells(name);
        let plain = ReadOptions::default();
        assert_eq!(is_sparse_table(&path, &plain), sparse, "{name}");
        let names = ["c1", "c2", "c3", "c4"].map(str::to_owned).to_vec();
        let genes = ["g1", "g2", "g3"].map(str::to_owned).to_vec();
        assert_eq!(
            matrix(&path, &plain),
            (x.clone(), names.clone(), genes.clone()),
            "{name}"
        );
        let counts = matrix(&path, &of(Some("counts"), None));
        assert_eq!(
            counts,
            (x.mapv(f64::abs), names.clone(), genes.clone()),
            "{name}"
        );
        assert_eq!(matrix(&path, &of(Some("X"), None)).0, x, "{name}");
        let numbers = ["1", "2"].map(str::to_owned).to_vec();
        assert_eq!(
            matrix(&path, &of(None, Some("X_pca"))),
            (pca.clone(), names, numbers),
            "{name}"
        );
        // Any column of obs is the truth where it is asked for.
        let truth = ReadOptions::of_column("kind");
        let label = if sparse {
            read_sparse_table(&path, &truth).unwrap().label
        } else {
            read_table(&path, &truth).unwrap().label
        };
        let kinds = ["T", "T", "B", "B"].map(|kind| Some(kind.to_owned()));
        assert_eq!(label.unwrap().values, kinds, "{name}");
    }
}

#[test]
fn columns_of_obs_are_base_clusterings_and_labels() {
    for name in ["old", "new", "packed"] {
        let (_folder, path) = cells(name);
        let mut options = ReadOptions::default();
        options.only = vec!["leiden*".into()];
        let ensemble = read_ensemble(&path, &options).unwrap().ensemble;
        assert_eq!(ensemble.object_names().unwrap(), ["c1", "c2", "c3", "c4"]);
        let names: Vec<&str> = ensemble.bases().iter().map(BaseClustering::name).collect();
        assert_eq!(names, ["leiden_1", "leiden_2"], "{name}");
        assert_eq!(ensemble.bases()[1].values(), ["a", "b"], "{name}");
        let column: Vec<Option<usize>> = ensemble.column(1).collect();
        assert_eq!(column[1], None, "{name}");
        assert_eq!(column[0], column[3], "{name}");
        let labels = read_labels(&path, &ReadOptions::of_column("kind")).unwrap();
        assert_eq!(labels.column.values[2].as_deref(), Some("B"), "{name}");
    }
    let (_folder, path) = cells("new");
    let mut options = ReadOptions::default();
    options.only = ["whole", "word", "flag"].map(str::to_owned).to_vec();
    let ensemble = read_ensemble(&path, &options).unwrap().ensemble;
    let missing = |base: usize| ensemble.column(base).position(|label| label.is_none());
    assert_eq!(
        [missing(0), missing(1), missing(2)],
        [Some(1), Some(2), None]
    );
}

#[test]
fn columns_of_obs_are_described_and_other_columns_left_out() {
    let (_folder, path) = cells("packed");
    let facts = column_facts(&path, &ReadOptions::default(), &Roles::default()).unwrap();
    let told: Vec<(&str, usize, usize)> = facts
        .iter()
        .map(|column| (&*column.name, column.gaps, column.distinct))
        .collect();
    let expected = [
        ("_index", 0, 4),
        ("leiden_1", 0, 2),
        ("leiden_2", 1, 2),
        ("depth", 0, 4),
        ("kind", 0, 2),
    ];
    assert_eq!(told, expected);
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let (_folder, path) = cells("packed");
    for (options, expected) in [
        (
            of(Some("spliced"), None),
            "it has no layer 'spliced'; there are 'counts'",
        ),
        (
            of(None, Some("X_umap")),
            "it has no array in obsm 'X_umap'; there are 'X_pca'",
        ),
        (of(Some("counts"), Some("X_pca")), "not both"),
        (
            of(None, None).within(MemoryBudget::new(40)),
            "memory budget",
        ),
        (ReadOptions::of_column("cell"), "'cell'"),
    ] {
        assert_says(read_table(&path, &options).unwrap_err(), &[expected]);
    }
    assert_says(
        load_ensemble(&path, &of(Some("counts"), None)).unwrap_err(),
        &["columns of obs"],
    );
    let (_folder, text) = crate::common::file("a.csv", "a,b\n1,2\n3,5\n");
    assert_says(
        read_table(&text, &of(Some("counts"), None)).unwrap_err(),
        &["--layer is of .h5ad files"],
    );
}

#[test]
fn damaged_files_are_refused() {
    for name in ["old", "new", "packed"] {
        let (_folder, path) = cells(name);
        let whole = fs::read(&path).unwrap();
        let read_all = |cut: bool| {
            let plain = ReadOptions::default().within(MemoryBudget::new(64 << 20));
            let errors = [
                read_table(&path, &plain).err(),
                read_sparse_table(&path, &plain).err(),
                read_ensemble(&path, &plain).err(),
            ];
            assert!(!cut || errors.iter().all(Option::is_some), "{name}");
            for error in errors.into_iter().flatten() {
                let message = error.to_string();
                assert!(
                    !message.contains('\n') && message.len() < 600,
                    "{message:?}"
                );
            }
        };
        for part in 0..200 {
            fs::write(&path, &whole[..whole.len() * part / 200]).unwrap();
            read_all(true);
        }
        for at in (0..whole.len()).step_by(whole.len() / 400) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x41;
            fs::write(&path, bytes).unwrap();
            read_all(false);
        }
    }
}
