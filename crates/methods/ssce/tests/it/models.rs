//! Models of tables: what does not fit is named, damaged files are refused, numbers come back to the bit.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use partita_core::ndarray::{Array2, array};
use partita_core::{
    EnsembleBuilder, Features, Model, ModelError, ModelInput, Partition, SoftPartition,
};
use partita_ssce::{FORMATS, NeighbourModel, Predictor, SsceError, learn, learn_soft, read_model};
use serde_json::{Value, json};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn models() -> Vec<Arc<dyn Model>> {
    let columns = names(&["x", "y"]);
    let values = array![
        [0.0, 1.0],
        [0.1, 1.5],
        [0.3, 1.2],
        [7.0, 1.1],
        [7.3, 1.4],
        [7.1, 1.6]
    ];
    let features = Features::new(&columns, values.view()).unwrap();
    let partition = Partition::new(vec![0, 0, 0, 2, 2, 2], 3).unwrap();
    let predictors = [
        Predictor::Linear,
        Predictor::Centroid,
        Predictor::Neighbours(3.try_into().unwrap()),
    ];
    predictors
        .into_iter()
        .map(|predictor| learn(predictor, &features, &partition).unwrap())
        .collect()
}

fn predict(
    model: &dyn Model,
    columns: &[&str],
    values: &Array2<f64>,
) -> Result<Vec<u32>, ModelError> {
    let columns = names(columns);
    let features = Features::new(&columns, values.view()).unwrap();
    Ok(model
        .predict(&ModelInput::Features(features))?
        .hard()
        .labels()
        .to_vec())
}

#[test]
fn new_objects_are_labelled_by_columns_in_any_order() {
    for model in models() {
        assert_eq!(
            predict(&*model, &["x", "y"], &array![[0.2, 1.0], [6.9, 1.3]]),
            Ok(vec![0, 2])
        );
        assert_eq!(
            predict(&*model, &["y", "x"], &array![[1.0, 0.2], [1.3, 6.9]]),
            Ok(vec![0, 2])
        );
    }
}

#[test]
fn columns_that_do_not_fit_are_named() {
    for model in models() {
        let message = |columns: &[&str]| {
            predict(&*model, columns, &Array2::zeros((1, columns.len())))
                .unwrap_err()
                .to_string()
        };
        assert!(message(&["x"]).ends_with("the table lacks column 'y'"));
        assert!(message(&["x", "why"]).ends_with("the table lacks column 'y'"));
        assert_eq!(
            predict(&*model, &["z", "y", "x"], &array![[9.0, 1.0, 0.2]]),
            Ok(vec![0]),
            "others are left aside"
        );
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
        assert_eq!(
            read_model(&serde_json::from_str(&text).unwrap())
                .unwrap()
                .to_json(),
            value
        );
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
        for key in value
            .as_object()
            .unwrap()
            .keys()
            .filter(|key| *key != "check")
        {
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
                let Ok(Ok(model)) =
                    serde_json::from_slice(&bytes).map(|value: Value| read_model(&value))
                else {
                    continue;
                };
                // 1e3 and 1E3 are one number.
                assert_eq!(model.to_json(), value, "byte {at}, bit {bit}");
            }
        }
    }
}

/// Every number in `value`, one after the other, becomes `other`.
fn swapped(value: &Value, other: &Value) -> Vec<Value> {
    match value {
        Value::Number(_) => vec![other.clone()],
        Value::Array(items) => (0..items.len())
            .flat_map(|at| {
                let put = move |inner| {
                    let mut items = items.clone();
                    items[at] = inner;
                    Value::Array(items)
                };
                swapped(&items[at], other).into_iter().map(put)
            })
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn hostile_numbers_are_an_error_or_an_answer_but_no_panic() {
    let nasty = [
        json!(1e308),
        json!(-1e308),
        json!(1e-320),
        json!(-1),
        json!(u64::MAX),
        json!(null),
        json!([]),
        json!(""),
    ];
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
        if k == 1 {
            share(values[[i, 0]])
        } else {
            1.0 - share(values[[i, 0]])
        }
    });
    let soft = SoftPartition::new(rows).unwrap();
    let new = array![[0.1], [0.8], [1.7]];
    let input = ModelInput::Features(Features::new(&columns, new.view()).unwrap());
    let linear = learn_soft(Predictor::Linear, &features, &soft)
        .unwrap()
        .predict(&input)
        .unwrap();
    for (row, x) in linear.rows().outer_iter().zip(new.column(0)) {
        assert!((row[1] - share(*x)).abs() < 0.05, "{row} at {x}");
    }
    let of =
        |predictor, soft: &SoftPartition| learn_soft(predictor, &features, soft).unwrap().to_json();
    let hard = SoftPartition::of(&soft.hard());
    for predictor in [
        Predictor::Centroid,
        Predictor::Neighbours(5.try_into().unwrap()),
    ] {
        assert_eq!(
            of(predictor, &hard),
            learn(predictor, &features, &soft.hard()).unwrap().to_json()
        );
    }
    assert_ne!(
        of(Predictor::Centroid, &soft),
        of(Predictor::Centroid, &hard)
    );
}

#[test]
fn tables_that_teach_nothing_are_refused() {
    let columns = names(&["small", "large"]);
    let values = array![[0.0, 1e308], [1.0, -1e308], [2.0, 1e308]];
    let features = Features::new(&columns, values.view()).unwrap();
    for predictor in
        ["ssce", "centroid", "knn", "knn:2"].map(|name| name.parse::<Predictor>().unwrap())
    {
        let learnt = |labels: Vec<u32>| {
            let clusters = *labels.iter().max().unwrap() as usize + 1;
            learn(
                predictor,
                &features,
                &Partition::new(labels, clusters).unwrap(),
            )
            .map(|_| ())
        };
        assert!(
            learnt(vec![0, 1, 0])
                .unwrap_err()
                .to_string()
                .contains("column 'large'")
        );
        assert!(matches!(
            learnt(vec![0, 1]),
            Err(SsceError::Rows {
                rows: 3,
                objects: 2
            })
        ));
        assert_eq!(
            predictor.to_string().parse::<Predictor>().unwrap(),
            predictor
        );
    }
    assert!(
        "knn:0"
            .parse::<Predictor>()
            .unwrap_err()
            .to_string()
            .contains("centroid")
    );
    let wide = Array2::zeros((2, NeighbourModel::MOST_NUMBERS / 2 + 1));
    let many: Vec<String> = (0..wide.ncols()).map(|j| j.to_string()).collect();
    let features = Features::new(&many, wide.view()).unwrap();
    let halves = Partition::new(vec![0, 1], 2).unwrap();
    let knn = learn("knn".parse().unwrap(), &features, &halves);
    assert!(matches!(knn, Err(SsceError::Neighbours { .. })));
}
