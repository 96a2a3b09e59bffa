//! Inputs to begin with: small valid ones, made by our writers and by the tools that wrote the files of partita-files' tests
//! (`crates/input/files/tests/data/make.py`).

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use partita::files::{LabelColumn, Table, write_ensemble, write_table};
use partita::generate::{Durable, Recipe, generate_durable};
use partita::ndarray::{Array2, array};
use partita::ssce::{Predictor, learn};
use partita::{
    Clusters, Ensemble, EnsembleBuilder, Features, METHODS, MemoryBudget, Partition, Problem, Seed,
    Shares, Silent, consense, method,
};
use partita_app::{Experiment, MethodChoice, NoObserver, TableInput};
use rand::Rng;

use crate::input_file::folder;
use crate::readers::ARRAYS;
use crate::saved_files::{labels_npy, row_model, whole_manifest};

/// Four numbers and names in a table with classes.
fn table() -> Table {
    let values = array![[0.5, -1.0], [1e-300, 3.0], [2.0, 4e9], [7.0, 0.0]];
    let names = |names: [&str; 4]| names.map(str::to_owned).to_vec();
    let label = LabelColumn {
        name: "label".into(),
        values: names(["u", "u", "v", "v"]).into_iter().map(Some).collect(),
    };
    Table {
        columns: vec!["x".into(), "y".into()],
        values,
        object_names: Some(names(["a", "b", "c", "d"])),
        label: Some(label),
    }
}

fn ensemble(soft: bool) -> Ensemble {
    let mut builder = EnsembleBuilder::new(4);
    builder
        .push("first", [Some("x"), Some("x"), None, Some("y")])
        .expect("labels");
    if soft {
        let shares =
            Shares::new(array![[0.5, 0.5], [0.25, 0.75], [0.0, 0.0], [1.0, 0.0]]).expect("shares");
        builder
            .push_soft("soft", vec!["0".into(), "1".into()], &shares, 8)
            .expect("shares");
    } else {
        builder
            .push("second", [Some(1), Some(2), Some(2), Some(3)])
            .expect("labels");
    }
    builder.finish().expect("an ensemble")
}

/// Tables and ensembles as a file of this name, each behind a byte that asks for the default options.
fn written(name: &str) -> Vec<Vec<u8>> {
    let path = folder().join(format!("seed-{name}"));
    let read = |done: bool| done.then(|| fs::read(&path).ok()).flatten();
    let mut files = vec![read(write_table(&path, &table()).is_ok())];
    for soft in [false, true] {
        files.push(read(write_ensemble(&path, &ensemble(soft), None).is_ok()));
    }
    files.into_iter().flatten().map(behind_zero).collect()
}

fn behind_zero(bytes: Vec<u8>) -> Vec<u8> {
    [&[0], &bytes[..]].concat()
}

/// Files of the tests of partita-files with this ending.
fn stored(ending: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../input/files/tests/data");
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|own| own == ending))
        .collect();
    files.sort();
    files
        .iter()
        .filter_map(|file| fs::read(file).ok())
        .map(behind_zero)
        .collect()
}

fn both(ending: &str) -> Vec<Vec<u8>> {
    [written(&format!("a.{ending}")), stored(ending)].concat()
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn csv() -> Vec<Vec<u8>> {
    let own = texts(&[
        "\x00id;a;b;label\nx1;0,5;2;u\nx2;1,5;;v\n",
        "\x00a\tb\n1\t2\n3\t4\n",
        "\x00run.p0,run.p1,q.p0,q.p1\n0.5,0.5,1,0\n0.25,0.75,0,1\n1,0,0.5,0.5\n",
        "\x00\u{feff}\"a, b\",\"c\"\"d\"\r\n1,\"x\ny\"\r\nNA,z\r\n",
        "\x01a,0,1,1,0\nb,1,1,,0\n",
        "\x060,1,x\n1,2,y\n2,,x\n",
    ]);
    [written("a.csv"), own].concat()
}

pub(crate) fn packed() -> Vec<Vec<u8>> {
    let zstd = written("a.csv.zst").into_iter().map(|mut bytes| {
        bytes[0] = 1;
        bytes
    });
    written("a.csv.gz").into_iter().chain(zstd).collect()
}

pub(crate) fn npy() -> Vec<Vec<u8>> {
    let labels = behind_zero(labels_npy());
    [both("npy"), vec![labels]].concat()
}

pub(crate) fn npz() -> Vec<Vec<u8>> {
    both("npz")
}

/// The arrays of archives, unpacked: names by number, lengths, contents.
pub(crate) fn arrays() -> Vec<Vec<u8>> {
    npz()
        .iter()
        .filter_map(|seed| unpacked(&seed[1..]))
        .collect()
}

fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).ok()?;
    let mut input = vec![0, archive.len() as u8];
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).ok()?;
        let stem = entry.name().ok()?.trim_end_matches(".npy").to_owned();
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut content).ok()?;
        let length = (content.len() as u16 % 4096).to_be_bytes();
        input.push(ARRAYS.iter().position(|known| *known == stem).unwrap_or(0) as u8);
        input.extend(length);
        input.extend(&content[..content.len() % 4096]);
    }
    Some(input)
}

pub(crate) fn parquet() -> Vec<Vec<u8>> {
    both("parquet")
}

pub(crate) fn mat() -> Vec<Vec<u8>> {
    stored("mat")
}

pub(crate) fn arrow() -> Vec<Vec<u8>> {
    let batch = RecordBatch::try_from_iter_with_nullable([
        (
            "object",
            Arc::new(StringArray::from(vec!["a", "b", "c"])) as _,
            true,
        ),
        (
            "one",
            Arc::new(Int32Array::from(vec![Some(1), None, Some(2)])) as _,
            true,
        ),
        (
            "two",
            Arc::new(Float64Array::from(vec![0.5, 1.0, f64::NAN])) as _,
            true,
        ),
    ])
    .expect("columns of one length");
    let (mut file, mut stream) = (vec![0], vec![0]);
    let mut writer = FileWriter::try_new(&mut file, &batch.schema()).expect("a header");
    writer
        .write(&batch)
        .and_then(|()| writer.finish())
        .expect("room in memory");
    let mut writer = StreamWriter::try_new(&mut stream, &batch.schema()).expect("a header");
    writer
        .write(&batch)
        .and_then(|()| writer.finish())
        .expect("room in memory");
    vec![file, stream]
}

pub(crate) fn ancestry() -> Vec<Vec<u8>> {
    texts(&[
        "\x000.5 0.25 0.25\n0.1 0.9 0\n1 0 0\n",
        "\x010.5  0.5\n0.25  0.75\n",
        "\x03  1   ind1   (0)   1 :  0.5 0.5 \n  2   ind2   (3)   2 :  0.1 0.9 (0.0,0.2)\n",
    ])
}

pub(crate) fn recipe() -> Vec<Vec<u8>> {
    let mut all = texts(&[
        "base = [\"kmeans:3\", \"ward:2\"]\nbase_k = \"2..4\"\n",
        "base = [\"uspec:2\", \"splits:5\", \"average:1\"]\nsubsample = 0.8\nfeatures = 0.5\nscale = \"zscore\"\n",
        "base_k = \"sqrt\"\n",
    ]);
    all.push(Recipe::default().to_json(Seed::new(7)).into_bytes());
    all.extend(["nbce", "kdd", "ssce"].iter().filter_map(|name| {
        Some(
            Recipe::preset(name, 3)
                .ok()?
                .to_json(Seed::new(1))
                .into_bytes(),
        )
    }));
    all
}

/// The record of a run of six points.
pub(crate) fn record() -> Vec<Vec<u8>> {
    let (path, out) = (folder().join("points.csv"), folder().join("run"));
    fs::write(&path, "x,y\n0,0\n0,1\n1,0\n9,9\n9,8\n8,9\n").expect("room in the temporary folder");
    let mut recipe = Recipe::default();
    recipe.base_k = "2..3".parse().expect("a range");
    recipe.base.iter_mut().for_each(|base| base.runs = 2);
    let mut experiment = Experiment::of_table(
        TableInput::new(&path),
        recipe,
        Clusters::Exactly(2),
        MethodChoice::new("lwgp"),
    );
    experiment.outputs.folder = Some(out.clone());
    let _ = fs::remove_dir_all(&out);
    let record = experiment
        .run(&NoObserver)
        .expect("a run")
        .to_json()
        .expect("plain data");
    vec![record.into_bytes()]
}

/// Models of every format.
pub(crate) fn model() -> Vec<Vec<u8>> {
    let columns = ["x", "y"].map(str::to_owned);
    let values = Array2::from_shape_fn((6, 2), |(i, j)| (i * (j + 1)) as f64);
    let features = Features::new(&columns, values.view()).expect("finite numbers");
    let halves = Partition::new(vec![0, 0, 0, 1, 1, 1], 2).expect("labels below 2");
    let learned = |how| {
        learn(how, &features, &halves)
            .ok()
            .map(|model| model.to_json())
    };
    let predictors = [
        Predictor::Linear,
        Predictor::Centroid,
        Predictor::Neighbours(NonZeroU32::MIN),
    ];
    let ensemble = ensemble(false);
    let fitted = ["mm", "bce", "nbce-vb"].iter().filter_map(|name| {
        let outcome = consense(
            method(name)?,
            &Problem::new(&ensemble, Clusters::Exactly(2)),
            &Silent,
        )
        .ok()?;
        Some(outcome.model?.to_json())
    });
    let all = predictors
        .into_iter()
        .filter_map(learned)
        .chain(fitted)
        .chain([row_model()]);
    all.map(|model| model.to_string().into_bytes()).collect()
}

pub(crate) fn manifest() -> Vec<Vec<u8>> {
    vec![whole_manifest()]
}

/// A checkpoint of six points.
pub(crate) fn parts() -> Vec<Vec<u8>> {
    let mut recipe = Recipe::default();
    recipe.base_k = "2..3".parse().expect("a range");
    recipe.base.iter_mut().for_each(|base| base.runs = 3);
    let values = Array2::from_shape_fn((6, 2), |(i, j)| (i * (j + 1)) as f64);
    let path = folder().join("seed.part");
    let _ = fs::remove_file(&path);
    let durable = Durable::new(&path);
    generate_durable(
        values.view(),
        &recipe,
        Seed::new(1),
        &durable,
        MemoryBudget::UNLIMITED,
        &Silent,
    )
    .expect("a checkpoint");
    fs::read(&path).into_iter().collect()
}

/// Settings of every method as they are by default, as JSON and as lines.
pub(crate) fn settings() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (at, method) in METHODS.iter().enumerate() {
        let defaults = method.default_settings();
        let lines: String = defaults
            .iter()
            .map(|(name, value)| format!("{name}={value}\n"))
            .collect();
        let json = serde_json::Value::Object(defaults).to_string();
        all.extend([lines, json].map(|text| [&[at as u8, 2], text.as_bytes()].concat()));
    }
    all
}

/// Choices for structured targets, for every method.
pub(crate) fn choices() -> Vec<Vec<u8>> {
    let choice = |at: usize, seed: u64| {
        let mut bytes = vec![0; 160];
        Seed::new(at as u64)
            .child(seed)
            .rng()
            .fill_bytes(&mut bytes);
        bytes[0] = at as u8;
        bytes
    };
    (0..METHODS.len())
        .flat_map(|at| (0..3).map(move |seed| choice(at, seed)))
        .collect()
}
