//! The record of a run says what was done, and is enough to do it again.

use std::fs;
use std::path::Path;

use crate::common::{Workplace, shipped, three_groups};
use serde_json::Value;

fn record(place: &Workplace, folder: &str) -> Value {
    let text = fs::read_to_string(place.path(folder).join("record.json")).expect("a record");
    serde_json::from_str(&text).expect("one JSON object")
}

#[track_caller]
fn same_bytes(place: &Workplace, first: &str, second: &str, files: &[&str]) {
    for file in files {
        let [a, b] = [first, second]
            .map(|folder| fs::read(place.path(folder).join(file)).expect("a result"));
        assert!(a == b, "{file} differs between {first} and {second}");
    }
}

#[test]
fn a_record_says_which_files_which_machine_and_when() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(30));
    let command = [
        "run",
        "t.csv",
        "--label",
        "kind",
        "-k",
        "3",
        "--base",
        "kmeans:9",
        "--threads",
        "2",
        "-o",
        "out",
    ];
    place.partita(&command).fine();
    let record = record(&place, "out");
    assert_eq!(
        (&record["record_version"], &record["experiment"]["version"]),
        (&1.into(), &1.into())
    );
    let input = &record["inputs"][0];
    assert_eq!(
        (&input["path"], input["bytes"].as_u64()),
        (&"t.csv".into(), Some(three_groups(30).len() as u64))
    );
    assert!(
        input["sha256"]
            .as_str()
            .is_some_and(|hash| hash.len() == 64),
        "{input}"
    );
    for time in ["started", "finished"] {
        let text = record[time].as_str().unwrap();
        assert!(
            text.len() == 20 && text.ends_with('Z') && &text[10..11] == "T",
            "{text}"
        );
    }
    assert!(
        record["host"]["cores"].as_u64() >= Some(1),
        "{}",
        record["host"]
    );
    assert_eq!(record["host"]["threads"], 2);
    let commit = record["commit"].as_str().unwrap();
    assert!(commit == "unknown" || commit.len() == 40, "{commit}");
    let folder = place.path("").canonicalize().unwrap();
    assert_eq!(
        Path::new(record["working_folder"].as_str().unwrap())
            .canonicalize()
            .unwrap(),
        folder
    );
    let experiment = &record["experiment"];
    assert_eq!(
        (&experiment["clusters"], &experiment["seed"]),
        (&3.into(), &0.into())
    );
    assert_eq!(experiment["input"]["table"]["table"]["truth"], "kind");
    assert_eq!(
        experiment["input"]["table"]["recipe"]["base"][0],
        "kmeans:9"
    );
    assert_eq!(experiment["methods"][0]["name"], "lwgp");
}

#[test]
fn a_run_is_repeated_from_its_record_to_the_byte() {
    let place = Workplace::new();
    let iris = shipped("iris.csv");
    let picked = [
        "--filter-labels",
        "setosa,virginica",
        "--max-per-label",
        "30",
        "--seed",
        "7",
        "--scale",
        "zscore",
    ];
    let command = [
        "run",
        &iris,
        "--label",
        "label",
        "-k",
        "2",
        "-m",
        "pcc-kl,lwgp",
        "--set",
        "pcc-kl.restarts=2",
    ];
    place
        .partita(&[&command[..], &picked, &["--base", "kmeans:25", "-o", "out"]].concat())
        .fine();
    let again = [
        "run",
        "--from",
        "out/record.json",
        "--threads",
        "1",
        "-o",
        "again",
    ];
    let printed = place.partita(&again).fine();
    assert!(
        printed.contains("pcc-kl") && printed.contains("results are in again"),
        "{printed}"
    );
    same_bytes(
        &place,
        "out",
        "again",
        &["labels.csv", "soft.csv", "ensemble.npz", "lwgp/labels.csv"],
    );
    let [first, second] = ["out", "again"].map(|folder| record(&place, folder));
    assert_eq!(
        first["methods"][0]["settings"],
        second["methods"][0]["settings"]
    );
    assert_eq!(first["inputs"][0]["sha256"], second["inputs"][0]["sha256"]);
    // A repeated run is a run: it is reported on and repeated.
    place
        .partita(&["report", "again", "-m", "lwgp", "-o", "page.html"])
        .fine();
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(
        page.contains("iris.csv by lwgp") && page.contains("petal"),
        "the table is read again"
    );
    place
        .partita(&[
            "run",
            "--from",
            "again/record.json",
            "-o",
            "third",
            "--no-report",
        ])
        .fine();
    same_bytes(&place, "out", "third", &["labels.csv", "soft.csv"]);
    assert!(!place.path("third/report.html").exists());
}

#[test]
fn a_changed_input_is_refused_unless_it_may_have_changed() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(30));
    let command = [
        "run", "t.csv", "--label", "kind", "-k", "3", "--base", "kmeans:9", "-o", "out",
    ];
    place.partita(&command).fine();
    place.file("t.csv", three_groups(33));
    let again = ["run", "--from", "out/record.json", "-o", "again"];
    place
        .partita(&again)
        .refused(&["t.csv", "SHA-256", "changed inputs"]);
    assert!(!place.path("again").exists());
    place.partita(&["report", "out", "--force"]).fine();
    let ended = place.partita(&["report", "out", "--force"]);
    assert!(
        ended.stderr.contains("goes without the table"),
        "{}",
        ended.stderr
    );
    place
        .partita(&[&again[..], &["--allow-changed-input"]].concat())
        .fine();
    assert_eq!(record(&place, "again")["n"], 33);
    fs::remove_file(place.path("t.csv")).unwrap();
    place
        .partita(&["run", "--from", "out/record.json", "-o", "x"])
        .refused(&["t.csv"]);
}

#[test]
fn inputs_are_found_from_another_folder() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(30));
    place
        .partita(&[
            "run", "t.csv", "--label", "kind", "-k", "3", "--base", "kmeans:9", "-o", "out",
        ])
        .fine();
    fs::create_dir(place.path("elsewhere")).unwrap();
    let mut command = place.command(&["run", "--from", "../out/record.json", "-o", "../again"]);
    let output = command
        .current_dir(place.path("elsewhere"))
        .output()
        .unwrap();
    crate::common::Ended::of(output).fine();
    same_bytes(&place, "out", "again", &["labels.csv", "ensemble.npz"]);
}

#[test]
fn a_consensus_is_repeated_from_the_record_it_prints() {
    let place = Workplace::new();
    let iris = shipped("iris.csv");
    place
        .partita(&[
            "generate",
            &iris,
            "--label",
            "label",
            "--base",
            "kmeans:12",
            "-o",
            "e.npz",
        ])
        .fine();
    let weighted = [
        "consensus",
        "e.npz",
        "-m",
        "kc",
        "-k",
        "3",
        "--base-weights",
        "agreement",
        "--seed",
        "4",
    ];
    let printed = place
        .partita(&[&weighted[..], &["--json", "-o", "labels.csv"]].concat())
        .fine();
    place.file("r.json", printed);
    place
        .partita(&["run", "--from", "r.json", "-o", "again"])
        .fine();
    same_bytes(&place, ".", "again", &["labels.csv"]);
    assert_eq!(
        record(&place, "again")["experiment"]["base_weights"],
        "agreement"
    );
    place
        .partita(&["report", "again", "-o", "page.html"])
        .fine();
}

#[test]
fn what_is_not_a_record_is_refused() {
    let place = Workplace::new();
    place.file(
        "r.json",
        "{\"method\": \"lwgp\", \"arguments\": [\"run\", \"t.csv\"]}",
    );
    let from =
        |more: &[&str]| place.partita(&[&["run", "--from", "r.json", "-o", "x"], more].concat());
    from(&[]).refused(&["r.json", "record_version", "run it again"]);
    place.file("r.json", "{\"record_version\": 1}");
    from(&[]).refused(&["r.json", "damaged"]);
    place.file("r.json", "half");
    from(&[]).refused(&["r.json", "not JSON"]);
    for flags in [
        &["-k", "3"][..],
        &["--seed", "1"],
        &["--base", "kmeans:3"],
        &["--set", "a=1"],
        &["-m", "mm"],
    ] {
        let ended = from(flags);
        assert!(
            ended.code == Some(2) && ended.stderr.contains("--from"),
            "{}",
            ended.stderr
        );
    }
    assert_eq!(place.partita(&["run", "-o", "x"]).code, Some(2));
}

/// Six groups by four tools, with a column of how many each row stands for.
fn counted() -> String {
    let row = |i: usize| {
        format!(
            "o{i},{},{},{},{},{}\n",
            i % 3,
            (i + i / 40) % 3,
            i % 3,
            (i * 7 / 5) % 3,
            i % 4
        )
    };
    format!(
        "object,a,b,c,d,persons\n{}",
        (0..60).map(row).collect::<String>()
    )
}

#[test]
fn objects_are_weighted_by_a_column_or_a_file_and_that_is_repeated() {
    let place = Workplace::new();
    place.file("e.csv", counted());
    let command = [
        "consensus",
        "e.csv",
        "-m",
        "lwgp",
        "-k",
        "3",
        "--object-weights",
        "persons",
        "-o",
        "out/",
    ];
    let ended = place.partita(&command);
    assert!(
        ended
            .stderr
            .contains("note: e.csv: weights of the objects from column 'persons'"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("15 objects of weight 0"),
        "{}",
        ended.stderr
    );
    // Distinct rows agree by chance; the objects that they stand for do not.
    assert!(!ended.stderr.contains("by chance"), "{}", ended.stderr);
    ended.fine();
    let first = record(&place, "out");
    assert_eq!(first["experiment"]["object_weights"]["column"], "persons");
    assert_eq!(
        (&first["n"], &first["base_made"]),
        (&60.into(), &Value::Null)
    );
    place
        .partita(&["run", "--from", "out/record.json", "-o", "again"])
        .fine();
    same_bytes(&place, "out", "again", &["labels.csv"]);

    // The same from a file, in another order.
    let rows: String = (0..60).rev().map(|i| format!("o{i},{}\n", i % 4)).collect();
    place.file("w.csv", format!("object,weight\n{rows}"));
    let from_file = [
        "consensus",
        "e.csv",
        "--skip",
        "persons",
        "-k",
        "3",
        "--object-weights",
        "w.csv",
        "-o",
        "file/",
    ];
    place.partita(&from_file).fine();
    same_bytes(&place, "out", "file", &["labels.csv"]);
    assert_eq!(record(&place, "file")["inputs"][1]["path"], "w.csv");
}

#[test]
fn weights_that_mean_nothing_are_refused() {
    let place = Workplace::new();
    place.file("e.csv", counted());
    let with = |method: &str, weights: &str| {
        place.partita(&[
            "consensus",
            "e.csv",
            "-m",
            method,
            "-k",
            "3",
            "--object-weights",
            weights,
        ])
    };
    with("lwgp", "nobody").refused(&["e.csv", "nobody"]);
    for (text, said) in [
        (
            "object,weight\no0,1\n",
            "no weight for object 'o1'; add a row of it",
        ),
        ("object,weight\no0,-1\n", "no weight for object 'o1'"),
        ("weight\n1\n2\n", "2 weights for 60 objects"),
    ] {
        place.file("w.csv", text);
        with("lwgp", "w.csv").refused(&["w.csv", said]);
    }
    for (bad, said) in [
        ("-1", "weight of the object in row 8 ('o7') is -1"),
        ("NA", "no weight for the object in row 8 ('o7')"),
        ("many", "'many', which is not a number"),
        (
            "\"1,5\"",
            "'1,5', a number with a decimal comma; write plain numbers, such as 1.5",
        ),
        ("inf", "inf"),
    ] {
        let row = |i: usize| format!("o{i},{}\n", if i == 7 { bad } else { "1" });
        place.file(
            "w.csv",
            format!("object,weight\n{}", (0..60).map(row).collect::<String>()),
        );
        with("lwgp", "w.csv").refused(&["w.csv", said]);
    }
    let zeros: String = (0..60).map(|i| format!("o{i},0\n")).collect();
    place.file("w.csv", format!("object,weight\n{zeros}"));
    with("lwgp", "w.csv").refused(&["w.csv", "no weight is above 0"]);
}

/// A tool of weight 0 is a tool that is not there, for methods that take no weights too.
#[test]
fn a_base_clustering_of_weight_zero_is_left_out() {
    let place = Workplace::new();
    place.file("e.csv", counted());
    place.file("w.csv", "name,weight\na,2\nb,0\nc,2\nd,2\n");
    for method in ["nbce-gibbs", "eac-average"] {
        let common = ["consensus", "e.csv", "-m", method, "-k", "3", "--force"];
        place
            .partita(
                &[
                    &common[..],
                    &["--skip", "persons", "--base-weights", "w.csv", "-o", "a/"],
                ]
                .concat(),
            )
            .fine();
        place
            .partita(
                &[
                    &common[..],
                    &["--skip", "persons", "--skip", "b", "-o", "b/"],
                ]
                .concat(),
            )
            .fine();
        let labels = |folder: &str| {
            let text = fs::read_to_string(place.path(folder).join("labels.csv")).expect("labels");
            text.lines()
                .map(|line| line.split(',').take(2).collect::<Vec<_>>().join(","))
                .collect::<Vec<_>>()
        };
        assert_eq!(labels("a"), labels("b"), "{method}");
    }
}
