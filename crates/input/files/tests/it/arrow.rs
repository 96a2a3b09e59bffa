//! Arrow IPC files and streams as tables, ensembles and labels, written by the crate `arrow-ipc`.

#![cfg(feature = "arrow")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::common::assert_says;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int8Array, Int64Array,
    LargeStringArray, ListArray, RecordBatch, StringArray, StringViewArray, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use partita_core::ndarray::array;
use partita_core::{MemoryBudget, Seed};
use partita_files::{
    Encode, Impute, LabelBlock, LabelGroups, ReadOptions, TableGroups, read_ensemble, read_labels,
    read_table,
};
use rand::RngExt;

const CSV: &str = "object,small,kinds,many,float,large,view,truth\n\
    a,2,y,18446744073709551615,0,ä€,short,1\nb,,x,3,NaN,,a text of 20 letters,0\nc,0,,3,300,z,,\nd,-1,y,0,-1,ä€,s,1\n";

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, column)| (name, column, true)),
    )
    .unwrap()
}

/// The rows of [`CSV`].
fn ensemble() -> RecordBatch {
    let kinds: DictionaryArray<Int8Type> = [Some("y"), Some("x"), None, Some("y")]
        .into_iter()
        .collect();
    let object = StringArray::from(vec!["a", "b", "c", "d"]);
    let small = Int8Array::from(vec![Some(2), None, Some(0), Some(-1)]);
    let many = UInt64Array::from(vec![u64::MAX, 3, 3, 0]);
    let float = Float64Array::from(vec![0.0, f64::NAN, 300.0, -1.0]);
    let large = LargeStringArray::from(vec![Some("ä€"), None, Some("z"), Some("ä€")]);
    let long = Some("a text of 20 letters");
    let view = StringViewArray::from(vec![Some("short"), long, None, Some("s")]);
    let truth = BooleanArray::from(vec![Some(true), Some(false), None, Some(true)]);
    batch(vec![
        ("object", Arc::new(object)),
        ("small", Arc::new(small)),
        ("kinds", Arc::new(kinds)),
        ("many", Arc::new(many)),
        ("float", Arc::new(float)),
        ("large", Arc::new(large)),
        ("view", Arc::new(view)),
        ("truth", Arc::new(truth)),
    ])
}

fn write(path: &Path, batches: &[RecordBatch], compression: Option<CompressionType>, stream: bool) {
    let options = IpcWriteOptions::default()
        .try_with_compression(compression)
        .unwrap();
    let (file, schema) = (File::create(path).unwrap(), batches[0].schema());
    if stream {
        let mut writer = StreamWriter::try_new_with_options(file, &schema, options).unwrap();
        batches
            .iter()
            .for_each(|batch| writer.write(batch).unwrap());
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new_with_options(file, &schema, options).unwrap();
        batches
            .iter()
            .for_each(|batch| writer.write(batch).unwrap());
        writer.finish().unwrap();
    }
}

/// The same batches in every layout that is read.
fn layouts(folder: &Path, batches: &[RecordBatch]) -> Vec<std::path::PathBuf> {
    let layouts = [
        ("plain.arrow", None, false),
        ("lz4.feather", Some(CompressionType::LZ4_FRAME), false),
        ("zstd.ipc", Some(CompressionType::ZSTD), false),
        ("stream.arrow", None, true),
        (
            "packed-stream.arrow",
            Some(CompressionType::LZ4_FRAME),
            true,
        ),
    ];
    let paths = layouts.map(|(name, compression, stream)| {
        let path = folder.join(name);
        write(&path, batches, compression, stream);
        path
    });
    paths.to_vec()
}

/// Texts of nothing pack to a thousandth: the budget is asked before there are as many of them.
#[test]
fn texts_that_unpack_beyond_the_budget_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows = 400_000;
    let texts: ArrayRef = Arc::new(StringArray::from(vec![""; rows]));
    let numbers: ArrayRef = Arc::new(Float64Array::from_iter_values(
        (0..rows).map(|row| row as f64),
    ));
    let options = || ReadOptions::default().within(MemoryBudget::new(1 << 20));
    for path in layouts(
        folder.path(),
        &[batch(vec![("id", texts.clone()), ("x", numbers)])],
    ) {
        let message = read_table(&path, &options()).unwrap_err().to_string();
        assert_says(&message, &["needs", "the memory budget is 1.0 MiB"]);
    }
    for path in layouts(
        folder.path(),
        &[batch(vec![("a", texts.clone()), ("b", texts)])],
    ) {
        let message = read_ensemble(&path, &options()).unwrap_err().to_string();
        assert_says(&message, &["needs", "the memory budget is 1.0 MiB"]);
    }
}

#[test]
fn batches_are_the_ensemble_that_text_is() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("a.csv");
    fs::write(&csv, CSV).unwrap();
    let expected = read_ensemble(&csv, &ReadOptions::default()).unwrap();
    assert_eq!(expected.ensemble.bases().len(), 6);
    let whole = ensemble();
    for path in layouts(folder.path(), &[whole.slice(0, 3), whole.slice(3, 1)]) {
        assert_eq!(
            read_ensemble(&path, &ReadOptions::default()).unwrap(),
            expected,
            "{}",
            path.display()
        );
        for column in ["kinds", "view", "small"] {
            let labels = read_labels(&path, &ReadOptions::of_column(column)).unwrap();
            assert_eq!(
                labels,
                read_labels(&csv, &ReadOptions::of_column(column)).unwrap(),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn batches_are_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let kind: DictionaryArray<Int32Type> = ["u", "v", "u"].into_iter().collect();
    let whole = batch(vec![
        ("x", Arc::new(Float32Array::from(vec![0.5, 1.5, -2.0]))),
        ("y", Arc::new(Int64Array::from(vec![1, 1 << 40, 3]))),
        ("label", Arc::new(kind)),
    ]);
    for path in layouts(folder.path(), &[whole.slice(0, 1), whole.slice(1, 2)]) {
        let table = read_table(&path, &ReadOptions::default()).unwrap();
        assert_eq!(
            table.values,
            array![[0.5, 1.0], [1.5, (1u64 << 40) as f64], [-2.0, 3.0]]
        );
        let label: String = table.label.unwrap().values.into_iter().flatten().collect();
        assert_eq!(label, "uvu");
        let groups = TableGroups::open(&path, &ReadOptions::default())
            .unwrap()
            .unwrap();
        assert_eq!((groups.groups(), groups.dim()), (2, (3, 2)));
        assert_eq!(
            groups.read(1).unwrap(),
            table.values.slice(partita_core::ndarray::s![1.., ..])
        );
    }
}

#[test]
fn batches_are_groups_of_label_rows() {
    let folder = tempfile::tempdir().unwrap();
    let column = |factor: i64| {
        Arc::new(
            (0..50)
                .map(|i| i * factor % 300 - 1)
                .collect::<Int64Array>(),
        ) as ArrayRef
    };
    let whole = batch(vec![("a", column(1)), ("b", column(31))]);
    for path in layouts(folder.path(), &[whole.slice(0, 20), whole.slice(20, 30)]) {
        let expected = read_ensemble(&path, &ReadOptions::default())
            .unwrap()
            .ensemble;
        let groups = LabelGroups::open(&path, &ReadOptions::default())
            .unwrap()
            .unwrap();
        assert_eq!(
            (groups.groups(), groups.objects(), groups.bases()),
            (2, 50, expected.bases())
        );
        assert_eq!(groups.roles().to_string(), "2 data columns");
        for (group, first) in [(0, 0), (1, 20)] {
            let LabelBlock::Bytes(rows) = groups.block(group).unwrap() else {
                panic!("few clusters take a byte")
            };
            for ((i, u), &label) in rows.indexed_iter() {
                assert_eq!(
                    (label < u8::MAX).then_some(usize::from(label)),
                    expected.label(first + i, u)
                );
            }
        }
    }
}

#[test]
fn what_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.arrow");
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)]), None]);
    let whole = batch(vec![
        ("lists", Arc::new(lists)),
        ("x", Arc::new(Float64Array::from(vec![Some(1.0), None]))),
        ("words", Arc::new(StringArray::from(vec!["one", "two"]))),
    ]);
    write(&path, &[whole], None, false);
    let refusal = |skip: &[&str]| {
        let mut options = ReadOptions::default();
        options.skip = skip.iter().map(ToString::to_string).collect();
        (options.impute, options.encode) = (Some(Impute::None), Some(Encode::None));
        read_table(&path, &options).unwrap_err().to_string()
    };
    let lists = "column 'lists' holds values of a nested or unusual type; leave it out";
    assert_says(refusal(&[]), &[lists]);
    assert_says(refusal(&["lists"]), &["row 2, column 'x': '' is missing"]);
    let words = refusal(&["lists", "x"]);
    assert_says(words, &["column 'words': 'one' is not a number"]);
    fs::write(&path, b"FEA1 and so on").unwrap();
    assert_says(refusal(&[]), &["Feather version 1"]);
}

#[test]
fn damaged_files_are_answered_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = ensemble();
    let mut rng = Seed::new(3).rng();
    for path in layouts(folder.path(), &[whole.slice(0, 3), whole.slice(3, 1)]) {
        let bytes = fs::read(&path).unwrap();
        for round in 0..400 {
            let mut damaged = bytes.clone();
            for _ in 0..=round % 3 {
                let at = rng.random_range(0..damaged.len());
                damaged[at] = [
                    damaged[at] ^ (1 << rng.random_range(0..8)),
                    0xff,
                    0,
                    rng.random(),
                ][round % 4];
            }
            if round % 5 == 0 {
                damaged.truncate(rng.random_range(1..damaged.len()));
            }
            fs::write(&path, &damaged).unwrap();
            let errors = [
                read_ensemble(&path, &ReadOptions::default()).err(),
                read_table(&path, &ReadOptions::default()).err(),
                read_labels(&path, &ReadOptions::of_column("kinds")).err(),
                LabelGroups::open(&path, &ReadOptions::default()).err(),
            ];
            for error in errors.into_iter().flatten() {
                let message = error.to_string();
                assert!(
                    !message.contains('\n') && message.len() < 600,
                    "{message:?}"
                );
            }
        }
    }
}
