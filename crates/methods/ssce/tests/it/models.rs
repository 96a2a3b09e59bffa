//! Models of tables: what does not fit is named, damaged files are refused, numbers come back to the bit.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use partita_conformance::ensemble;
use partita_core::ndarray::{Array2, array};
use partita_core::{Features, Model, ModelError, ModelInput, Partition, SoftPartition};
use partita_ssce::{FORMATS, Predictor, SsceError, learn, learn_soft, read_model};
use serde_json::{Value, json};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn models() -> Vec<Arc<dyn Model>> {
    let columns = names(&["x", "y"]);
    let [x, y] = [
        [0.0, 0.1, 0.3, 7.0, 7.3, 7.1],
        [1.0, 1.5, 1.2, 1.1, 1.4, 1.6],
    ];
    let values = Array2::from_shape_fn((6, 2), |(i, j)| [x, y][j][i]);
    let features = Features::new(&columns, values.view()).unwrap();
    let partition = Partition::new(vec![0, 0, 0, 2, 2, 2], 3).unwrap();
    let predictors = ["ssce", "centroid", "knn:3"].map(|name| name.parse().unwrap());
    predictors
        .map(|predictor| learn(predictor, &features, &partition).unwrap())
        .into()
}

fn predict(
    model: &dyn Model,
    columns: &[&str],
    values: &Array2<f64>,
) -> Result<Vec<u32>, ModelError> {
    let columns = names(columns);
    let features = Features::new(&columns, values.view()).unwrap();
    let soft = model.predict(&ModelInput::Features(features))?;
    Ok(soft.hard().labels().to_vec())
}

#[test]
fn new_objects_are_labelled_by_columns_in_any_order() {
    for model in models() {
        for (columns, values) in [
            (["x", "y"], array![[0.2, 1.0], [6.9, 1.3]]),
            (["y", "x"], array![[1.0, 0.2], [1.3, 6.9]]),
        ] {
            assert_eq!(predict(&*model, &columns, &values), Ok(vec![0, 2]));
        }
    }
}

#[test]
fn columns_that_do_not_fit_are_named() {
    for model in models() {
        for (columns, end) in [
            (&["x"][..], "the table lacks column 'y'"),
            (&["x", "why"], "the table lacks column 'y'"),
            (&["x", "y", "x"], "the table has two columns called 'x'"),
        ] {
            let refused = predict(&*model, columns, &Array2::zeros((1, columns.len())));
            let message = refused.unwrap_err().to_string();
            assert!(message.ends_with(end), "{message}");
        }
        // Others are left aside.
        let found = predict(&*model, &["z", "y", "x"], &array![[9.0, 1.0, 0.2]]);
        assert_eq!(found, Ok(vec![0]));
        let rows = ensemble([("x".into(), vec![Some(1)])]);
        assert!(model.predict(&ModelInput::Labels(&rows)).is_err());
    }
}

#[test]
fn saved_models_come_back_to_the_bit() {
    for (model, format) in models().into_iter().zip(FORMATS) {
        let value = model.to_json();
        assert_eq!(value["format"], format);
        let again: Value = serde_json::from_str(&value.to_string()).unwrap();
        assert_eq!(read_model(&again).unwrap().to_json(), value);
    }
}

/// FNV-1a over the model without its check sum, which is put in its place.
fn resealed(mut value: Value) -> Value {
    value.as_object_mut().unwrap().shift_remove("check");
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let check = value.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, step);
    value["check"] = format!("{check:016x}").into();
    value
}

fn refused(value: &Value, why: &str) {
    match read_model(value) {
        Err(ModelError::Damaged(message)) => {
            assert!(!message.contains("changed"), "{why}: {message}");
        }
        other => panic!("{why}: {other:?}"),
    }
}

#[test]
fn what_does_not_fit_together_is_refused_with_the_right_check_sum_too() {
    for model in models() {
        let value = model.to_json();
        assert_eq!(resealed(value.clone()), value);
        let keys = value.as_object().unwrap().keys();
        for key in keys.filter(|key| *key != "check") {
            let mut cut = value.clone();
            cut.as_object_mut().unwrap().shift_remove(key);
            refused(&resealed(cut), key);
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
            refused(&resealed(edited), key);
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
        (2, "clusters", json!(1_u64 << 60)),
        (2, "rows", json!([])),
    ] {
        let mut edited = models()[at].to_json();
        edited[key] = other;
        refused(&resealed(edited), key);
    }
    refused(&json!([1, 2]), "no object");
}

#[test]
fn a_flipped_bit_or_a_cut_is_noticed() {
    for model in models() {
        let value = model.to_json();
        let text = serde_json::to_string(&value).unwrap();
        assert!((0..text.len()).all(|end| serde_json::from_str::<Value>(&text[..end]).is_err()));
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let edited = serde_json::from_slice::<Value>(&bytes).ok();
                if let Some(model) = edited.and_then(|edited| read_model(&edited).ok()) {
                    // 1e3 and 1E3 are one number.
                    assert_eq!(model.to_json(), value, "byte {at}, bit {bit}");
                }
            }
        }
    }
}

/// Every number in `value`, one after the other, becomes `other`.
fn swapped(value: &Value, other: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Number(_) => all.push(other.clone()),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                for inner in swapped(item, other) {
                    let mut items = items.clone();
                    items[at] = inner;
                    all.push(items.into());
                }
            }
        }
        _ => {}
    }
    all
}

#[test]
fn hostile_numbers_are_an_error_or_an_answer_but_no_panic() {
    let nasty = json!([1e308, -1e308, 1e-320, -1, u64::MAX, null, [], ""]);
    let nasty = nasty.as_array().unwrap();
    for model in models() {
        let value = model.to_json();
        for key in value.as_object().unwrap().keys() {
            for other in nasty.iter().flat_map(|other| swapped(&value[key], other)) {
                let mut edited = value.clone();
                edited[key] = other;
                if let Ok(model) = read_model(&resealed(edited)) {
                    for x in [0.0, 1e300, -1e308] {
                        let _ = predict(&*model, &["x", "y"], &array![[x, 1.0], [-x, x]]);
                    }
                }
            }
        }
    }
}

#[test]
fn a_soft_consensus_teaches_its_probabilities() {
    let columns = names(&["x"]);
    let values = Array2::from_shape_fn((200, 1), |(i, _)| i as f64 / 100.0);
    let features = Features::new(&columns, values.view()).unwrap();
    let share = |x: f64| 1.0 / (1.0 + (3.0 * (1.0 - x)).exp());
    let rows = Array2::from_shape_fn((200, 2), |(i, k)| {
        let second = share(values[[i, 0]]);
        if k == 1 { second } else { 1.0 - second }
    });
    let soft = SoftPartition::new(rows).unwrap();
    let new = array![[0.1], [0.8], [1.7]];
    let input = ModelInput::Features(Features::new(&columns, new.view()).unwrap());
    let linear = learn_soft(Predictor::Linear, &features, &soft).unwrap();
    let predicted = linear.predict(&input).unwrap();
    for (row, x) in predicted.rows().outer_iter().zip(new.column(0)) {
        assert!((row[1] - share(*x)).abs() < 0.05, "{row} at {x}");
    }
    let hard = SoftPartition::of(&soft.hard());
    for (name, soft_is_hard) in [("centroid", false), ("knn", true)] {
        let predictor = name.parse().unwrap();
        let [from_soft, from_hard] = [&soft, &hard]
            .map(|target| learn_soft(predictor, &features, target).unwrap().to_json());
        let expected = learn(predictor, &features, &soft.hard()).unwrap().to_json();
        assert_eq!(from_hard, expected);
        assert_eq!(from_soft == from_hard, soft_is_hard, "{name}");
    }
}

#[test]
fn tables_that_teach_nothing_are_refused() {
    let columns = names(&["small", "large"]);
    let values = array![[0.0, 1e308], [1.0, -1e308], [2.0, 1e308]];
    let features = Features::new(&columns, values.view()).unwrap();
    let three = Partition::new(vec![0, 1, 0], 2).unwrap();
    let two = Partition::new(vec![0, 1], 2).unwrap();
    for name in ["ssce", "centroid", "knn", "knn:2"] {
        let predictor: Predictor = name.parse().unwrap();
        assert_eq!(predictor.to_string().parse(), Ok(predictor));
        let message = learn(predictor, &features, &three).unwrap_err().to_string();
        assert!(message.contains("column 'large'"), "{message}");
        let error = learn(predictor, &features, &two).unwrap_err();
        assert!(
            matches!(
                error,
                SsceError::Rows {
                    rows: 3,
                    objects: 2
                }
            ),
            "{error}"
        );
    }
    let unknown = "knn:0".parse::<Predictor>().unwrap_err();
    assert!(unknown.to_string().contains("centroid"));
    let wide = Array2::zeros((2, 5_000_001));
    let many: Vec<String> = (0..wide.ncols()).map(|j| j.to_string()).collect();
    let features = Features::new(&many, wide.view()).unwrap();
    let knn = learn("knn".parse().unwrap(), &features, &two);
    assert!(matches!(
        knn,
        Err(SsceError::Neighbours {
            most: 10_000_000,
            ..
        })
    ));
}
