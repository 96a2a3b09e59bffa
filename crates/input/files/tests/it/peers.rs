//! Files that NumPy, SciPy and pyarrow wrote; `data/make.py` has the commands.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::common::{assert_says, cases, stored};
use partita_core::ndarray::{Array2, array};
use partita_files::{
    LabelColumn, LoadedEnsemble, ReadOptions, Table, read_ensemble, read_labels, read_table,
};

fn table(name: &str) -> Result<Table, String> {
    read_table(&stored(name), &ReadOptions::default()).map_err(|error| error.to_string())
}

fn ensemble(name: &str) -> Result<LoadedEnsemble, String> {
    read_ensemble(&stored(name), &ReadOptions::default()).map_err(|error| error.to_string())
}

/// Labels by their own names, `.` = missing, one text a base clustering.
fn labels(loaded: &LoadedEnsemble) -> Vec<String> {
    let column = |u: usize| {
        let values = loaded.ensemble.bases()[u].values();
        loaded
            .ensemble
            .column(u)
            .map(|label| label.map_or(".", |cluster| values[cluster].as_str()))
            .collect::<Vec<_>>()
    };
    (0..loaded.ensemble.bases().len())
        .map(|u| column(u).join(" "))
        .collect()
}

fn values(column: &LabelColumn) -> String {
    column
        .values
        .iter()
        .map(|value| value.as_deref().unwrap_or("."))
        .collect::<Vec<_>>()
        .join(" ")
}

/// One column of labels of a file.
fn column(name: &str, options: &ReadOptions) -> String {
    values(&read_labels(&stored(name), options).unwrap().column)
}

fn expected() -> Array2<f64> {
    array![
        [0.1, -2.5],
        [1e-300, 3.0],
        [std::f64::consts::PI, 4e9],
        [2.0, -0.0]
    ]
}

#[test]
fn numpy_arrays_are_tables() {
    let by_column = table("by-column.npy").unwrap();
    assert_eq!(by_column.values, expected());
    assert_eq!(
        (by_column.columns, by_column.label),
        (vec!["1".to_owned(), "2".into()], None)
    );
    assert_eq!(
        table("float32.npy").unwrap().values,
        expected().mapv(|value| f64::from(value as f32))
    );
    let table = table("table.npz").unwrap();
    assert_eq!(
        (table.values, table.columns),
        (expected(), vec!["one".into(), "two".into()])
    );
    assert_eq!(values(&table.label.unwrap()), "5 5 6 6");
}

#[test]
fn big_endian_files_are_refused() {
    let refusal = table("big-endian.npy").unwrap_err();
    assert_says(&refusal, &["is big-endian ('>f8')", "array.astype('<f8')"]);
    assert!(
        ensemble("big-endian.mat")
            .unwrap_err()
            .contains("big-endian")
    );
}

#[test]
fn a_column_of_an_array_can_be_the_label() {
    let mut options = ReadOptions::default();
    options.truth = Some("2").into();
    let table = read_table(&stored("by-column.npy"), &options).unwrap();
    assert_eq!(
        (table.columns, values(&table.label.unwrap())),
        (vec!["1".into()], "-2.5 3 4000000000 -0".into())
    );
}

#[test]
fn arrays_are_ensembles() {
    let members = ["1 1 2 2", "10 20 . 20", ". 0 0 7"];
    for name in [
        "members-i8.npy",
        "members-float.npy",
        "plain.npz",
        "packed.mat",
        "plain.mat",
    ] {
        assert_eq!(labels(&ensemble(name).unwrap()), members, "{name}");
    }
    assert_eq!(
        values(&ensemble("plain.npz").unwrap().truth.unwrap()),
        "u u v v"
    );
    for name in ["packed.mat", "plain.mat"] {
        assert_eq!(values(&ensemble(name).unwrap().truth.unwrap()), "5 5 6 6");
        assert_eq!(column(name, &ReadOptions::default()), "5 5 6 6");
    }
    assert_eq!(labels(&ensemble("small.mat").unwrap()), ["0 1"]);
    assert_eq!(column("words.npy", &ReadOptions::default()), "b a . ä€");
    assert_eq!(
        column("members-i8.npy", &ReadOptions::of_column("2")),
        "10 20 -1 20"
    );
}

#[test]
fn parquet_columns_are_base_clusterings() {
    let loaded = ensemble("ensemble.parquet").unwrap();
    let expected = [
        "1 1 . 2",
        "0 . 3 3",
        "b a . b",
        "y y x x",
        "18446744073709551615 0 0 0",
        "1 0 1 1",
    ];
    assert_eq!(labels(&loaded), expected);
    assert_eq!(
        loaded.ensemble.object_names().unwrap(),
        ["o1", "o2", "o3", "o4"]
    );
    assert_eq!(values(&loaded.truth.unwrap()), "u u v v");
    let labels = read_labels(
        &stored("ensemble.parquet"),
        &ReadOptions::of_column("words"),
    )
    .unwrap();
    assert_eq!(
        (values(&labels.column), labels.object_names.unwrap().len()),
        ("b a . b".into(), 4)
    );
}

#[test]
fn other_encodings_of_parquet_are_read() {
    let loaded = ensemble("delta.parquet").unwrap();
    let times = |text: &str| [text; 9].join(" ");
    assert_eq!(labels(&loaded), [times("1 . 3"), times(". b c")]);
    assert_eq!(values(&loaded.truth.unwrap()), times("1 0 1"));
    assert_eq!(labels(&ensemble("rare.parquet").unwrap()), [times(". b c")]);
}

#[test]
fn parquet_numbers_are_a_table() {
    let table = table("table.parquet").unwrap();
    assert_eq!(
        table.values,
        array![[0.5, 0.1, -1.0], [1.5, 1e-300, 2.0], [2.5, -0.0, 3.0]]
    );
    assert_eq!(table.columns, ["f32", "f64", "i8"]);
}

#[test]
fn what_cannot_be_used_is_named() {
    for [kind, name, expected] in cases(
        "
        table | complex.npy | of NumPy type '<c16'; an array of numbers or texts is needed
        table | words.npy | the array is an array of texts; an array of numbers is needed
        ensemble | complex.mat | array 'members' is not a full array of real numbers
        table | nested.parquet | column 'x.list.element' holds values of a nested or unusual type
        table | gap.parquet | every feature is constant over all 2 rows (column 'x' is always 1.5)
        ensemble | by-column.npy | by-column.npy, row 1, column '1': '0.1' is not a cluster number
        ensemble | table.npz | table.npz has no array 'labels'; it has 'X', 'y', 'columns'; rename the one
        table | plain.mat | plain.mat has no array 'X'; it has 'other', 'gt', 'members'",
    ) {
        let found = match kind.as_str() {
            "table" => table(&name).err(),
            _ => ensemble(&name).err(),
        };
        let message = found.unwrap_or_default();
        assert_says(&message, &[&expected]);
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn arrays_of_objects_are_named() {
    assert_says(table("objects.npy").unwrap_err(), &["of NumPy type '|O'"]);
}
