//! Files that Partita writes and reads back: recipes, records, models, manifests.

use std::fs;
use std::path::PathBuf;

use partita::extend::{BaseClustering, GroupRows, ModelInput, ModelReads, RowBlocks};
use partita::files::ManifestRows;
use partita::generate::{Recipe, merge_parts};
use partita::ndarray::{Array2, array};
use partita::{Ensemble, Features, Seed, SoftPartition};
use partita_app::{NoObserver, PredictionInput, RunRecord, load_model, model_facts, recipe_from};

use crate::readers::{BUDGET, file, fine, folder};

/// TOML, the JSON that an ensemble keeps, and the words of flags.
pub(crate) fn recipe(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let made = fine(recipe_from(&file("a.toml", text.as_bytes()))).map(|(recipe, _)| recipe);
    let kept = fine(Recipe::from_json(&text)).map(|(recipe, _)| recipe);
    for recipe in made.into_iter().chain(kept) {
        for objects in [0, 1, 12, usize::MAX] {
            fine(recipe.check(objects));
            recipe.rows(objects);
        }
        if recipe.check(1000).is_err() {
            continue;
        }
        let json = recipe.to_json(Seed::new(1));
        let again = Recipe::from_json(&json).ok().map(|(recipe, _)| recipe);
        assert_eq!(again, Some(recipe), "{json}");
    }
}

pub(crate) fn record(bytes: &[u8]) {
    let Some(record) = fine(RunRecord::open(&file("record.json", bytes))) else {
        return;
    };
    record.experiment_again();
    fine(record.check_inputs());
    let text = fine(record.to_json()).expect("what was read can be written");
    let again = RunRecord::open(&file("again.json", text.as_bytes()));
    assert!(again.is_ok(), "what was written can be read: {again:?}");
}

/// A model, and what it says of new objects.
pub(crate) fn model(bytes: &[u8]) {
    let path = file("model.json", bytes);
    fine(model_facts(&path));
    let Some(model) = fine(load_model(&path)) else {
        return;
    };
    let columns = ["x", "y"].map(str::to_owned);
    let values = Array2::from_shape_fn((4, 2), |(i, j)| [0.0, 1.0, -1e300, 1e300][(i + j) % 4]);
    let ensemble = small_ensemble();
    let input = match model.reads() {
        ModelReads::Labels => ModelInput::Labels(&ensemble),
        ModelReads::Features => ModelInput::Features(
            Features::new(&columns, values.view()).expect("finite numbers with names"),
        ),
    };
    fine(model.unread(&input));
    if let Some(soft) = fine(model.predict(&input)) {
        check_soft(&soft);
    }
    model.to_json();
    let table = file("new.csv", b"x,y,a,b\n0,1,x,u\n1,0,y,v\n2,2,z,u\n");
    fine(
        PredictionInput {
            model: path,
            input: table,
            ..PredictionInput::default()
        }
        .predict(&NoObserver),
    );
}

/// Probabilities are finite, from 0 to 1, and sum to 1.
pub(crate) fn check_soft(soft: &SoftPartition) {
    for row in soft.rows().outer_iter() {
        let valid = row.iter().all(|p| (0.0..=1.0 + 1e-9).contains(p));
        assert!(
            valid && (row.sum() - 1.0).abs() < 1e-6,
            "probabilities: {row}"
        );
    }
}

/// Four objects, two base clusterings, a missing label.
pub(crate) fn small_ensemble() -> Ensemble {
    let base = |name: &str, values: [&str; 2]| {
        BaseClustering::new(name, values.map(str::to_owned).to_vec())
    };
    let rows = array![[0u8, 0], [0, 1], [1, 1], [1, u8::MAX]];
    Ensemble::from_bytes(rows, vec![base("a", ["x", "y"]), base("b", ["u", "v"])])
        .expect("labels below 2")
}

/// The file of a manifest: an array of four label rows.
pub(crate) fn labels_file() -> PathBuf {
    let path = folder().join("rows.npy");
    if !path.exists() {
        let header = "{'descr': '|i1', 'fortran_order': False, 'shape': (4, 2), }";
        let header = format!("\u{1}\u{0}v\u{0}{header:<117}\n");
        let rows = [0, 0, 0, 1, 1, 1, 1, 0xff];
        let bytes = [&b"\x93NUMPY"[..], header.as_bytes(), &rows].concat();
        fs::write(&path, bytes).expect("room in the temporary folder");
    }
    path
}

/// A manifest, and the rows that it promises.
pub(crate) fn manifest(bytes: &[u8]) {
    labels_file();
    let Some(rows) = fine(ManifestRows::open(&file("manifest.json", bytes), BUDGET)) else {
        return;
    };
    rows.transient();
    if fine(rows.open_files()).is_none() {
        return;
    }
    for group in 0..rows.groups() {
        let (range, mut found) = (rows.rows_of(group), 0);
        let read = rows.read(group, &mut |rows: GroupRows<'_>| found += rows.len() as u64);
        if fine(read).is_some() {
            assert_eq!(found, range.end - range.start, "rows as the manifest says");
        }
    }
}

/// Checkpoints of `generate`, put together.
pub(crate) fn parts(bytes: &[u8]) {
    if let Some((made, _)) = fine(merge_parts(&[file("a.part", bytes)])) {
        assert_eq!(made.finished, made.ensemble.bases().len());
    }
}
