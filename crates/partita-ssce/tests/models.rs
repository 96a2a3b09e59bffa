//! Models of tables: what does not fit is named, damaged files are refused, numbers come back to the bit.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use partita_core::ndarray::{Array2, array};
use partita_core::{EnsembleBuilder, Features, Model, ModelError, ModelInput, Partition};
use partita_ssce::{FORMATS, Predictor, learn, read_model};
use serde_json::{Value, json};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn models() -> Vec<Arc<dyn Model>> {
    let columns = names(&["x", "y"]);
    let values = array![[0.0, 1.0], [0.1, 1.5], [0.3, 1.2], [7.0, 1.1], [7.3, 1.4], [7.1, 1.6]];
    let features = Features::new(&columns, values.view()).unwrap();
    let partition = Partition::new(vec![0, 0, 0, 2, 2, 2], 3).unwrap();
    let predictors = [Predictor::Linear, Predictor::Centroid, Predictor::Neighbours(3.try_into().unwrap())];
    predictors.into_iter().map(|predictor| learn(predictor, &features, &partition).unwrap()).collect()
}

fn predict(model: &dyn Model, columns: &[&str], values: &Array2<f64>) -> Result<Vec<u32>, ModelError> {
    let columns = names(columns);
    let features = Features::new(&columns, values.view()).unwrap();
    Ok(model.predict(&ModelInput::Features(features))?.hard().labels().to_vec())
}

#[test]
fn new_objects_are_labelled_by_columns_in_any_order() {
    for model in models() {
        assert_eq!(predict(&*model, &["x", "y"], &array![[0.2, 1.0], [6.9, 1.3]]), Ok(vec![0, 2]));
        assert_eq!(predict(&*model, &["y", "x"], &array![[1.0, 0.2], [1.3, 6.9]]), Ok(vec![0, 2]));
    }
}

#[test]
fn columns_that_do_not_fit_are_named() {
    for model in models() {
        let message =
            |columns: &[&str]| predict(&*model, columns, &Array2::zeros((1, columns.len()))).unwrap_err().to_string();
        assert!(message(&["x"]).ends_with("the table lacks column 'y'"));
        assert!(message(&["x", "y", "z"]).ends_with("the model does not know column 'z'"));
        assert!(message(&["x", "why"]).ends_with("the table lacks column 'y'; the model does not know 'why'"));
        assert!(message(&["x", "y", "x"]).ends_with("the table has two columns called 'x'"));
        let mut builder = EnsembleBuilder::new(1);
        builder.push("x", [Some(1)]).unwrap();
        let rows = builder.finish().unwrap();
        assert!(model.predict(&ModelInput::Labels(&rows)).is_err());
    }
}

#[test]
fn saved_models_come_back_to_the_bit() {
    for (model, format) in models().into_iter().zip(FORMATS) {
        let value = model.to_json();
        assert_eq!(value["format"], format);
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(read_model(&serde_json::from_str(&text).unwrap()).unwrap().to_json(), value);
    }
}

#[test]
fn edited_models_are_refused() {
    let refused = |value: &Value, why: &str| match read_model(value) {
        Err(ModelError::Damaged(_)) => {}
        other => panic!("{why}: {other:?}"),
    };
    for model in models() {
        let value = model.to_json();
        for key in value.as_object().unwrap().keys() {
            let mut cut = value.clone();
            cut.as_object_mut().unwrap().remove(key);
            refused(&cut, key);
        }
        for (key, other) in [
            ("format", json!("partita linear 2")),
            ("columns", json!(["x"])),
            ("columns", json!(["x", "x"])),
            ("means", json!([0.0])),
            ("spreads", json!([1.0, 0.0])),
            ("extra", json!(1)),
        ] {
            let mut edited = value.clone();
            edited[key] = other;
            refused(&edited, key);
        }
    }
    for (at, key, other) in [
        (0, "weights", json!([[1.0, 2.0]])),
        (0, "weights", json!([[1.0, 2.0], [1.0], [0.0, 0.0]])),
        (1, "centroids", json!([null, null])),
        (1, "centroids", json!([[1.0]])),
        (1, "variance", json!(-1.0)),
        (2, "labels", json!([0, 1, 2])),
        (2, "labels", json!([0, 0, 0, 3, 3, 3])),
        (2, "neighbours", json!(0)),
        (2, "rows", json!([])),
    ] {
        let mut edited = models()[at].to_json();
        edited[key] = other;
        refused(&edited, key);
    }
    refused(&json!([1, 2]), "no object");
}
