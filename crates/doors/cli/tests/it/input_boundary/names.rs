//! Names of objects: columns of words that all differ, indices of pandas and R, numbers that look like names.

use partita::EnsembleBuilder;
use partita::files::write_ensemble;

use super::{consensus, csv, group, three_groups};
use crate::common::Workplace;

/// Three good base clusterings.
fn bases(object: usize) -> String {
    let g = group(object);
    format!("{g},t{g},{}", g + 1)
}

#[test]
fn words_that_all_differ_are_names_wherever_they_stand() {
    let place = Workplace::new();
    for name in ["cell", "barcode", "sample", "index", "anything"] {
        place.file(
            "first.csv",
            csv(&format!("{name},a,b,c"), 60, |i| {
                format!("AAC{i}-1,{}", bases(i))
            }),
        );
        let note = format!("note: first.csv: names from '{name}' (all 60 values differ)");
        let names = three_groups(consensus(&place, "first.csv", &[]), 60, &[&note]);
        assert_eq!(
            (names[0].as_str(), names[59].as_str()),
            ("AAC0-1", "AAC59-1")
        );
    }
    place.file(
        "last.csv",
        csv("a,b,c,cell,sample", 60, |i| {
            format!("{},c{i},s{i}", bases(i))
        }),
    );
    let words =
        ["names from 'cell' (all 60 values differ); left out 'sample' (all 60 values differ)"];
    assert_eq!(
        three_groups(consensus(&place, "last.csv", &[]), 60, &words)[7],
        "c7"
    );
    let other = three_groups(
        consensus(&place, "last.csv", &["--id", "sample", "--skip", "cell"]),
        60,
        &[],
    );
    assert_eq!(other[7], "s7");
}

/// One word differs from all others whatever it is: there the name of the column says what it is.
#[test]
fn the_name_of_one_object_is_kept_where_its_column_says_so() {
    let place = Workplace::new();
    place.file("one.csv", "Barcode,a,b\nAAC1-1,x,y\n");
    let labels = place
        .partita(&["consensus", "one.csv", "-k", "1", "-m", "lwgp"])
        .fine();
    assert!(
        labels.lines().nth(1).unwrap().starts_with("AAC1-1,0"),
        "{labels}"
    );
}

#[test]
fn an_index_that_pandas_or_r_wrote() {
    let place = Workplace::new();
    for name in ["Unnamed: 0", ""] {
        place.file(
            "t.csv",
            csv(&format!("{name},a,b,c"), 60, |i| {
                format!("{i},{}", bases(i))
            }),
        );
        let names = three_groups(consensus(&place, "t.csv", &[]), 60, &["names from '"]);
        assert_eq!(names[59], "59");
    }
    // write.table(x) of R: names of rows without a name of their column.
    place.file(
        "r.txt",
        csv("\"a\" \"b\" \"c\"", 60, |i| {
            format!("\"r{i}\" {}", bases(i).replace(',', " "))
        }),
    );
    assert_eq!(
        three_groups(consensus(&place, "r.txt", &[]), 60, &["names from ''"])[59],
        "r59"
    );
    // write.csv(x): the same with an empty name; DataFrame.to_csv() with columns that are numbers.
    place.file(
        "n.csv",
        csv(",0,1,2", 60, |i| format!("{i},{0},{0},{0}", group(i))),
    );
    assert_eq!(
        three_groups(consensus(&place, "n.csv", &[]), 60, &[]).len(),
        60
    );
}

#[test]
fn a_parquet_file_of_pandas_with_an_index_and_categories() {
    let place = Workplace::new();
    let file = place.path("cells.parquet");
    let mut builder = EnsembleBuilder::new(300);
    for tool in ["louvain", "leiden", "kmeans"] {
        builder
            .push(
                tool,
                (0..300).map(|i| Some(format!("cluster {}", group(i)))),
            )
            .unwrap();
    }
    builder
        .push(
            "__index_level_0__",
            (0..300).map(|i| Some(format!("AAC{i}"))),
        )
        .unwrap();
    write_ensemble(&file, &builder.finish().unwrap(), None).unwrap();
    for method in ["lwgp", "lwea"] {
        let found = consensus(&place, "cells.parquet", &["-m", method]);
        let names = three_groups(found, 300, &["names from '__index_level_0__' (an index)"]);
        assert_eq!(names[299], "AAC299", "{method}");
    }
}

#[test]
fn numbers_that_look_like_names_are_warned_about() {
    let place = Workplace::new();
    place.file(
        "t.csv",
        csv("cell,a,b,c", 60, |i| {
            format!("{},{}", 1000 + 7 * i, bases(i))
        }),
    );
    let words = [
        "warning: t.csv: base clustering 'cell' has 60 clusters of 60 objects",
        "--id 'cell'",
        "--skip 'cell'",
    ];
    let names = three_groups(consensus(&place, "t.csv", &[]), 60, &words);
    assert_eq!(names[1], "1", "a base clustering as before");
    let named = consensus(&place, "t.csv", &["--id", "cell"]);
    assert!(!named.stderr.contains("warning"), "{}", named.stderr);
    assert_eq!(three_groups(named, 60, &[])[1], "1007");
    let skipped = consensus(&place, "t.csv", &["--skip", "1"]);
    assert!(!skipped.stderr.contains("warning"), "{}", skipped.stderr);
}

#[test]
fn objects_of_one_name_are_warned_about() {
    let place = Workplace::new();
    place.file(
        "t.csv",
        csv("object,a,b,c", 60, |i| {
            format!("o{},{}", if i == 7 { 3 } else { i }, bases(i))
        }),
    );
    let words = ["warning: t.csv: objects 4 and 8 are both called 'o3'"];
    three_groups(consensus(&place, "t.csv", &[]), 60, &words);
}

#[test]
fn what_was_taken_for_what_is_in_the_record() {
    let place = Workplace::new();
    place.file(
        "t.csv",
        csv("cell,a,b,c,kind", 60, |i| {
            format!("c{i},{},k{}", bases(i), group(i))
        }),
    );
    let flags = [
        "consensus",
        "t.csv",
        "-k",
        "3",
        "--truth",
        "kind",
        "--missing",
        "zz",
        "--json",
    ];
    let record = place.partita(&flags).json();
    let roles = &record["inputs"][0]["roles"];
    assert_eq!(
        roles["columns"][0],
        serde_json::json!({ "name": "cell", "role": "objects", "reason": "distinct" })
    );
    assert_eq!(
        roles["columns"][1],
        serde_json::json!({ "name": "kind", "role": "truth", "reason": "asked" })
    );
    assert_eq!(record["experiment"]["input"]["ensemble"]["truth"], "kind");
    assert_eq!(
        record["experiment"]["input"]["ensemble"]["missing"],
        serde_json::json!(["zz"])
    );
}
