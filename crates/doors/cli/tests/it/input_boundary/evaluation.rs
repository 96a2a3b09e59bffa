//! Evaluation: objects are matched by their names, and the column of the truth is not guessed.

use super::{csv, group, said};
use crate::common::Workplace;

/// Labels of 60 objects in order, and a truth in another order whose names stand in this column.
fn shuffled(name: &str, object: impl Fn(usize) -> String) -> Workplace {
    let place = Workplace::new();
    place.file(
        "l.csv",
        csv("object,label", 60, |i| {
            format!("{},{}", object(i), group(i))
        }),
    );
    let truth = |row: usize| (row * 7 + 1) % 60;
    place.file(
        "t.csv",
        csv(&format!("type,{name},n"), 60, |row| {
            format!("k{},{},{row}", group(truth(row)), object(truth(row)))
        }),
    );
    place
}

#[test]
fn names_are_matched_wherever_they_stand() {
    for (name, numbers) in [("cell", false), ("barcode", true), ("whatever", false)] {
        let object = |i: usize| {
            if numbers {
                format!("{}", 900 - i)
            } else {
                format!("c{i}")
            }
        };
        let place = shuffled(name, object);
        let found = place.partita(&["evaluate", "l.csv", "--truth", "t.csv:type", "--json"]);
        assert!(
            found.stderr.contains(&format!("names from '{name}'")),
            "{}",
            found.stderr
        );
        assert_eq!(found.json()["ari"], 1.0, "{name}");
    }
    let place = shuffled("number", |i| format!("{}", 900 - i));
    let found = place.partita(&[
        "evaluate",
        "l.csv",
        "--truth",
        "t.csv:type",
        "--id",
        "number",
        "--json",
    ]);
    assert_eq!(found.json()["ari"], 1.0);
}

#[test]
fn which_column_is_the_truth_is_not_guessed() {
    let place = shuffled("cell", |i| format!("c{i}"));
    place
        .partita(&["evaluate", "l.csv", "--truth", "t.csv"])
        .refused(&["t.csv", "which column", "'type'", "'n'"]);
    place.file(
        "one.csv",
        csv("cell,type", 60, |i| format!("c{i},k{}", group(i))),
    );
    assert_eq!(
        place
            .partita(&["evaluate", "l.csv", "--truth", "one.csv", "--json"])
            .json()["ari"],
        1.0
    );
}

#[test]
fn objects_that_are_not_in_both() {
    let place = Workplace::new();
    place.file(
        "l.csv",
        csv("object,label", 60, |i| format!("c{i},{}", group(i))),
    );
    place.file(
        "t.csv",
        csv("cell,label", 45, |i| {
            format!("c{},k{}", i + 30, group(i + 30))
        }),
    );
    let evaluate = ["evaluate", "l.csv", "--truth", "t.csv"];
    place.partita(&evaluate).refused(&[
        "l.csv",
        "object 'c0' is not in",
        "30 of the 60",
        "--common",
    ]);
    let common = place.partita(&[&evaluate[..], &["--common", "--json"]].concat());
    said(&common, &["30 objects are in both"]);
    assert_eq!(common.json()["ari"], 1.0);
    place.file(
        "t.csv",
        csv("cell,label", 60, |i| format!("x{i},{}", group(i))),
    );
    place
        .partita(&evaluate)
        .refused(&["none of its objects is in", "--id"]);
    place.file(
        "t.csv",
        csv("cell,label", 60, |i| format!("c{},{}", i.max(1), group(i))),
    );
    place
        .partita(&["evaluate", "l.csv", "--truth", "t.csv", "--id", "cell"])
        .refused(&["objects 1 and 2 are both called 'c1'"]);
    // Without names on one side the order counts, and that is said.
    place.file("t.csv", csv("label", 60, |i| group(i).to_string()));
    said(
        &place.partita(&evaluate),
        &["matched by their order", "has no names"],
    );
}
