//! Missing values: the words that pandas, R and people write for them.

use super::{consensus, csv, group, said, three_groups};
use crate::common::Workplace;

#[test]
fn words_for_missing_labels_are_not_clusters() {
    let place = Workplace::new();
    for word in [
        "NA", "NaN", "nan", "None", "null", "N/A", "<NA>", "?", "NULL", "n/a", "#N/A",
    ] {
        let label = |i: usize, place: usize| {
            if (i + place).is_multiple_of(5) {
                word.to_owned()
            } else {
                format!("{}", group(i))
            }
        };
        place.file(
            "t.csv",
            csv("a,b,c,d", 60, |i| {
                format!(
                    "{},{},{},{}",
                    label(i, 0),
                    label(i, 1),
                    label(i, 2),
                    group(i)
                )
            }),
        );
        let note = format!("note: t.csv: 36 missing values ({word})");
        let found = consensus(&place, "t.csv", &["--json"]);
        said(&found, &[&note]);
        let record = found.json();
        assert_eq!(
            (
                &record["missing_labels"],
                &record["inputs"][0]["roles"]["missing"][word]
            ),
            (&36.into(), &36.into())
        );
    }
}

#[test]
fn the_words_can_be_named() {
    let place = Workplace::new();
    let label = |i: usize| {
        if i.is_multiple_of(10) {
            "unassigned".to_owned()
        } else {
            format!("t{}", group(i))
        }
    };
    place.file(
        "t.csv",
        csv("a,b,c", 60, |i| {
            format!("{},t{},t{}", label(i), group(i), group(i))
        }),
    );
    let clusters = |flags: &[&str]| {
        let facts = place
            .partita(&[&["inspect", "t.csv", "--as", "ensemble", "--json"], flags].concat())
            .json();
        facts["bases"][0]["clusters"].as_u64().unwrap()
    };
    assert_eq!(
        (
            clusters(&[]),
            clusters(&["--missing", "unassigned,unknown"])
        ),
        (4, 3)
    );
    three_groups(
        consensus(&place, "t.csv", &["--missing", "unassigned"]),
        60,
        &["6 missing values (unassigned)"],
    );
    // A cluster that is really called NA.
    let label = |i: usize| ["NA", "EU", "AS"][group(i)];
    place.file("t.csv", csv("a,b,c", 60, |i| [label(i); 3].join(",")));
    assert_eq!((clusters(&[]), clusters(&["--missing", ""])), (2, 3));
}

#[test]
fn a_missing_truth_does_not_count() {
    let place = Workplace::new();
    let truth = |i: usize| {
        if i < 20 {
            "NA".to_owned()
        } else {
            format!("k{}", group(i))
        }
    };
    place.file(
        "t.csv",
        csv("cell,a,b,c,kind", 60, |i| {
            format!("c{i},{0},{0},{0},{1}", group(i), truth(i))
        }),
    );
    let record = consensus(&place, "t.csv", &["--truth", "kind", "--json"]).json();
    assert_eq!(record["scores"]["h"], 1.0);
    place.file(
        "l.csv",
        csv("object,label", 60, |i| format!("c{i},{}", group(i))),
    );
    let found = place.partita(&["evaluate", "l.csv", "--truth", "t.csv:kind", "--json"]);
    said(
        &found,
        &["20 missing values (NA)", "20 objects have no true label"],
    );
    assert_eq!(found.json()["h"], 1.0);
}

#[test]
fn gaps_in_tables_are_refused_or_filled() {
    let place = Workplace::new();
    let value = |i: usize| {
        if i == 4 {
            "NA".to_owned()
        } else {
            format!("{}", group(i) * 5)
        }
    };
    place.file(
        "t.csv",
        csv("x,y", 30, |i| {
            format!("{},{}", value(i), group(i) * 5 + i % 2)
        }),
    );
    let run = ["run", "t.csv", "-k", "3", "--base", "kmeans:5", "-o", "out"];
    place.partita(&run).refused(&[
        "t.csv, line 6, column 'x': 'NA' is missing",
        "--impute mean",
    ]);
    let filled = place.partita(&[&run[..], &["--impute", "mean"]].concat());
    said(&filled, &["note: t.csv: 1 missing value (NA)"]);
    filled.fine();
    // The record repeats it, flags and all.
    place
        .partita(&["run", "--from", "out/record.json", "-o", "again"])
        .fine();
    let labels = |folder: &str| std::fs::read(place.path(&format!("{folder}/labels.csv"))).unwrap();
    assert_eq!(labels("out"), labels("again"));
}
