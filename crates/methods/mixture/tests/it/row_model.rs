//! A saved consensus labels new label rows, and believes no file.

use partita_core::ndarray::array;
use partita_core::{
    Ensemble, EnsembleBuilder, Model, ModelError, ModelInput, Partition, SoftPartition,
};
use partita_mixture::RowModel;
use serde_json::{Value, json};

fn ensemble(columns: &[(&str, &[Option<&str>])]) -> Ensemble {
    let mut builder = EnsembleBuilder::new(columns[0].1.len());
    for (name, labels) in columns {
        builder.push(*name, labels.iter().copied()).unwrap();
    }
    builder.finish().unwrap()
}

fn trained() -> (Ensemble, RowModel) {
    let seen = ensemble(&[
        (
            "a",
            &[Some("x"), Some("x"), Some("y"), Some("y"), Some("z"), None],
        ),
        (
            "b",
            &[
                Some("1"),
                Some("1"),
                Some("2"),
                Some("2"),
                Some("2"),
                Some("1"),
            ],
        ),
    ]);
    let consensus = Partition::new(vec![0, 0, 1, 1, 1, 0], 2).unwrap();
    let model = RowModel::of_consensus(&seen, &SoftPartition::of(&consensus));
    (seen, model)
}

#[test]
fn shares_are_counts_with_one_pseudo_label() {
    let (_, model) = trained();
    assert_eq!(model.prior(), [0.5, 0.5]);
    let third = 1.0 / 3.0;
    let expected = array![
        [2.0 + third, third],
        [third, 2.0 + third],
        [third, 1.0 + third]
    ] / array![[3.0, 4.0]];
    assert!(
        (&model.label_probabilities(0) - &expected)
            .iter()
            .all(|difference| difference.abs() < 1e-15)
    );
}

#[test]
fn the_training_rows_come_back() {
    let (seen, model) = trained();
    let soft = model.predict(&ModelInput::Labels(&seen)).unwrap();
    assert_eq!(soft.hard().labels(), [0, 0, 1, 1, 1, 0]);
}

#[test]
fn columns_are_matched_by_name_and_values_by_text() {
    let (_, model) = trained();
    let forward = ensemble(&[
        ("a", &[Some("z"), Some("x")]),
        ("b", &[Some("2"), Some("1")]),
    ]);
    let backward = ensemble(&[
        ("b", &[Some("2"), Some("1")]),
        ("a", &[Some("z"), Some("x")]),
    ]);
    let (one, other) = (
        model.predict(&ModelInput::Labels(&forward)).unwrap(),
        model.predict(&ModelInput::Labels(&backward)).unwrap(),
    );
    assert_eq!(one.hard().labels(), [1, 0]);
    assert!(
        (&one.rows() - &other.rows())
            .iter()
            .all(|difference| difference.abs() < 1e-15)
    );
}

#[test]
fn unseen_values_are_missing_and_counted() {
    let (_, model) = trained();
    let input = ensemble(&[
        ("a", &[Some("new"), None, None]),
        ("b", &[Some("1"), Some("1"), None]),
    ]);
    assert_eq!(model.unread(&input), Ok(1));
    let soft = model.predict(&ModelInput::Labels(&input)).unwrap();
    assert_eq!(soft.rows().row(0), soft.rows().row(1));
    assert_eq!(soft.rows().row(2).to_vec(), model.prior());
    assert_eq!(model.log_probabilities(&input).unwrap()[2], 0.0);
}

#[test]
fn perplexity_counts_the_labels_that_are_there() {
    let (_, model) = trained();
    let input = ensemble(&[("a", &[Some("x"), None]), ("b", &[None, Some("2")])]);
    let (x, two) = (model.label_probabilities(0), model.label_probabilities(1));
    let (x, two) = (
        0.5 * (x[[0, 0]] + x[[0, 1]]),
        0.5 * (two[[1, 0]] + two[[1, 1]]),
    );
    assert!((model.perplexity(&input).unwrap() - (x * two).powf(-0.5)).abs() < 1e-12);
    let unknown = ensemble(&[("a", &[Some("?")]), ("b", &[Some("?")])]);
    assert!(matches!(
        model.perplexity(&unknown),
        Err(ModelError::Input(_))
    ));
}

#[test]
fn columns_that_do_not_fit_are_named() {
    let (_, model) = trained();
    let input = ensemble(&[("a", &[Some("x")]), ("c", &[Some("1")])]);
    let message = model
        .predict(&ModelInput::Labels(&input))
        .unwrap_err()
        .to_string();
    assert!(
        message.ends_with("base clustering 'b' is missing and the model does not know 'c'"),
        "{message}"
    );
    let twice = ensemble(&[("a", &[Some("x")]), ("a", &[Some("1")])]);
    assert!(
        model
            .unread(&twice)
            .unwrap_err()
            .to_string()
            .contains("two base clusterings called 'a'")
    );
}

#[test]
fn a_saved_model_is_the_same_model() {
    let (seen, model) = trained();
    let text = model.to_json().to_string();
    let again = RowModel::from_json(&serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(again, model);
    assert_eq!(again.perplexity(&seen), model.perplexity(&seen));
}

/// Every single change to a good file that matters is an error, and none is a panic.
#[test]
fn damaged_files_are_errors() {
    let good = trained().1.to_json();
    let base = |value: Value| json!([value, good["base_clusterings"][1]]);
    let changes = [
        ("format", json!("partita label rows 2")),
        ("format", json!(null)),
        ("prior", json!([])),
        ("prior", json!([0.5, 0.6])),
        ("prior", json!([1.5, -0.5])),
        ("prior", json!([null, 1.0])),
        ("prior", json!([0.25, 0.25, 0.5])),
        ("base_clusterings", json!([])),
        (
            "base_clusterings",
            json!([good["base_clusterings"][0], good["base_clusterings"][0]]),
        ),
        (
            "base_clusterings",
            base(json!({"name": "a", "values": [], "probabilities": []})),
        ),
        (
            "base_clusterings",
            base(json!({"name": "a", "values": ["x"], "probabilities": [[1.0]]})),
        ),
        (
            "base_clusterings",
            base(json!({"name": "a", "values": ["x", "x"], "probabilities": [[1, 1], [0, 0]]})),
        ),
        (
            "base_clusterings",
            base(json!({"name": "a", "values": ["x", "y"], "probabilities": [[1, 1]]})),
        ),
        (
            "base_clusterings",
            base(json!({"name": "a", "values": ["x"], "probabilities": [[1, 0.9]]})),
        ),
        ("extra", json!(1)),
    ];
    for (field, value) in changes {
        let mut bad = good.clone();
        bad[field] = value.clone();
        assert!(
            matches!(RowModel::from_json(&bad), Err(ModelError::Damaged(_))),
            "{field} = {value}"
        );
    }
    for bad in [json!(null), json!([]), json!("x"), json!({})] {
        assert!(RowModel::from_json(&bad).is_err());
    }
}
