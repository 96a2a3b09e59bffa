//! Inputs to begin with that no file of the corpus holds: those whose format follows the code, and files of other tests.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use partita::extend::{Problem, consense};
use partita::files::{Manifest, ReadOptions};
use partita::generate::{Durable, Recipe, generate_durable};
use partita::mixture::RowModel;
use partita::ndarray::{Array2, array};
use partita::ssce::{Predictor, learn};
use partita::{
    Clusters, Features, METHODS, MemoryBudget, Model, Partition, Seed, Silent, SoftPartition,
    method,
};
use partita_app::{Experiment, MethodChoice, NoObserver, TableInput};
use rand::Rng;
use serde_json::Value;

use crate::readers::folder;
use crate::saved_files::{labels_file, small_ensemble};

/// The files of a folder by their names; none where it is not there.
pub(crate) fn files(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
        .iter()
        .filter_map(|path| fs::read(path).ok())
        .collect()
}

/// Files of the tests of partita-files with this ending, behind a byte that asks for the default options.
pub(crate) fn stored(ending: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../input/files/tests/data");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|own| own == ending));
    paths.sort();
    let read = |path: &PathBuf| Some([&[0], &fs::read(path).ok()?[..]].concat());
    paths.iter().filter_map(read).collect()
}

/// Recipes as an ensemble keeps them.
pub(crate) fn recipe() -> Vec<Vec<u8>> {
    let presets = ["nbce", "kdd", "ssce"].map(|name| Recipe::preset(name, 3));
    let recipes = presets.into_iter().flatten().chain([Recipe::default()]);
    recipes
        .map(|recipe| recipe.to_json(Seed::new(1)).into_bytes())
        .collect()
}

/// A recipe of few base clusterings, and six points to make them of.
fn small_recipe() -> Recipe {
    let mut recipe = Recipe::default();
    recipe.base_k = "2..3".parse().expect("a range");
    recipe.base.iter_mut().for_each(|base| base.runs = 2);
    recipe
}

fn points() -> Array2<f64> {
    Array2::from_shape_fn((6, 2), |(i, j)| (i * (j + 1)) as f64)
}

/// The record of a run of six points.
pub(crate) fn record() -> Vec<Vec<u8>> {
    let (path, out) = (folder().join("points.csv"), folder().join("run"));
    fs::write(&path, "x,y\n0,0\n0,1\n1,0\n9,9\n9,8\n8,9\n").expect("room in the temporary folder");
    let mut experiment = Experiment::of_table(
        TableInput::new(&path),
        small_recipe(),
        Clusters::Exactly(2),
        MethodChoice::new("lwgp"),
    );
    let _ = fs::remove_dir_all(&out);
    experiment.outputs.folder = Some(out);
    let record = experiment.run(&NoObserver).expect("a run");
    vec![record.to_json().expect("plain data").into_bytes()]
}

/// Models of every format.
pub(crate) fn model() -> Vec<Vec<u8>> {
    let columns = ["x", "y"].map(str::to_owned);
    let values = points();
    let features = Features::new(&columns, values.view()).expect("finite numbers");
    let halves = Partition::new(vec![0, 0, 0, 1, 1, 1], 2).expect("labels below 2");
    let mut models: Vec<Value> = Vec::new();
    for how in [
        Predictor::Linear,
        Predictor::Centroid,
        Predictor::Neighbours(NonZeroU32::MIN),
    ] {
        models.push(learn(how, &features, &halves).expect("a model").to_json());
    }
    let ensemble = small_ensemble();
    for name in ["mm", "bce", "nbce-vb"] {
        let problem = Problem::new(&ensemble, Clusters::Exactly(2));
        let fitted = consense(method(name).expect("a method"), &problem, &Silent);
        models.extend(fitted.expect("a fit").model.map(|model| model.to_json()));
    }
    let soft = array![[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.0, 1.0]];
    let soft = SoftPartition::new(soft).expect("rows that sum to 1");
    models.push(RowModel::of_consensus(&ensemble, &soft).to_json());
    models
        .iter()
        .map(|model| model.to_string().into_bytes())
        .collect()
}

pub(crate) fn manifest() -> Vec<Vec<u8>> {
    let options = ReadOptions::default();
    let made = Manifest::of(&[labels_file()], &folder(), &options, 2);
    let (manifest, _) = made.expect("an array of labels");
    vec![serde_json::to_vec(&manifest).expect("a manifest is plain data")]
}

/// A checkpoint of six points.
pub(crate) fn parts() -> Vec<Vec<u8>> {
    let path = folder().join("seed.part");
    let _ = fs::remove_file(&path);
    let (values, durable) = (points(), Durable::new(&path));
    let (recipe, seed) = (small_recipe(), Seed::new(1));
    let all = MemoryBudget::UNLIMITED;
    generate_durable(values.view(), &recipe, seed, &durable, all, &Silent).expect("a checkpoint");
    fs::read(&path).into_iter().collect()
}

/// Settings of every method as they are by default, as JSON and as lines.
pub(crate) fn settings() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (at, method) in METHODS.iter().enumerate() {
        let defaults = method.default_settings();
        let lines = defaults
            .iter()
            .map(|(name, value)| format!("{name}={value}\n"));
        for text in [lines.collect(), Value::Object(defaults.clone()).to_string()] {
            all.push([&[at as u8, 2], text.as_bytes()].concat());
        }
    }
    all
}

/// Choices for structured targets, for every method.
pub(crate) fn choices() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for at in 0..METHODS.len() {
        for seed in 0..3 {
            let mut bytes = vec![0; 160];
            let mut rng = Seed::new(at as u64).child(seed).rng();
            rng.fill_bytes(&mut bytes);
            bytes[0] = at as u8;
            all.push(bytes);
        }
    }
    all
}
