//! The main job on real data: a table in; labels, probabilities, certainty and scores out.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{Workplace, shipped, three_groups};
use serde_json::Value;

const RECORD_KEYS: [&str; 13] = [
    "method",
    "settings",
    "seed",
    "objective",
    "rounds",
    "stopped",
    "kkt_gap",
    "clusters",
    "seconds",
    "cpu_seconds",
    "peak_bytes",
    "n",
    "base_clusterings",
];

#[test]
fn from_a_table_to_labels() {
    let place = Workplace::new();
    let iris = shipped("iris.csv");
    let command = [
        "run",
        &iris,
        "--label",
        "label",
        "-k",
        "3",
        "-m",
        "eac-average,pcc-kl",
        "--seed",
        "1",
        "-o",
        "out",
    ];
    let printed = place.partita(&command).fine();
    let expected = [
        "ensemble.npz",
        "labels.csv",
        "pcc-kl/labels.csv",
        "pcc-kl/report.html",
        "pcc-kl/soft.csv",
        "record.json",
        "report.html",
        "soft.csv",
        "summary.txt",
    ];
    assert_eq!(place.files(), expected.map(|name| format!("out/{name}")));
    assert_eq!(
        printed,
        fs::read_to_string(place.path("out/summary.txt")).unwrap()
    );
    for word in [
        "base clusterings, mean",
        "eac-average",
        "pcc-kl",
        "converged",
        "ari",
    ] {
        assert!(printed.contains(word), "'{word}' is not in:\n{printed}");
    }

    let record: Value =
        serde_json::from_str(&fs::read_to_string(place.path("out/record.json")).unwrap()).unwrap();
    for method in record["methods"]
        .as_array()
        .unwrap()
        .iter()
        .chain([&record])
    {
        assert!(
            RECORD_KEYS.iter().all(|key| method.get(key).is_some()),
            "{method}"
        );
        assert!(method["scores"]["h"].as_f64().unwrap() > 0.8, "{method}");
    }
    assert_eq!(record["base_scores"].as_array().unwrap().len(), 100);

    let labels = fs::read_to_string(place.path("out/labels.csv")).unwrap();
    let rows: Vec<Vec<&str>> = labels
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(
        (rows.len(), &rows[0][..]),
        (151, &["object", "label", "certainty", "confidence"][..])
    );
    assert!(
        rows[1..]
            .iter()
            .all(|row| (0.0..=1.0).contains(&row[2].parse::<f64>().unwrap()))
    );
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_any_number_of_threads() {
    let place = Workplace::new();
    let wine = shipped("wine.csv");
    let run = |threads, output| {
        let flags = [
            "--label",
            "label",
            "-k",
            "3",
            "-m",
            "pcc-kl,pcc-l2,eac-single",
            "--seed",
            "4",
            "--scale",
            "zscore",
        ];
        place
            .partita(
                &[
                    &["run", &wine, "--threads", threads, "-o", output],
                    &flags[..],
                ]
                .concat(),
            )
            .fine();
    };
    run("1", "one");
    run("2", "two");
    let files = [
        "labels.csv",
        "soft.csv",
        "ensemble.npz",
        "pcc-l2/labels.csv",
        "pcc-l2/soft.csv",
        "eac-single/labels.csv",
    ];
    for file in files {
        let [one, two] =
            ["one", "two"].map(|folder| fs::read(place.path(folder).join(file)).unwrap());
        assert!(one == two, "{file} differs");
    }
}

#[test]
fn a_table_and_nothing_else() {
    let place = Workplace::new();
    place
        .partita(&[
            "synth",
            "ring-disc",
            "-n",
            "150",
            "--seed",
            "2",
            "-o",
            "t.csv",
        ])
        .fine();
    let printed = place
        .partita(&["run", "t.csv", "--threads", "1", "-o", "out"])
        .fine();
    assert!(
        printed.contains("\n2 clusters: ") && printed.contains("halves agree"),
        "{printed}"
    );
    place
        .partita(&["run", "t.csv", "--threads", "2", "-o", "two"])
        .fine();
    place
        .partita(&["run", "--from", "out/record.json", "-o", "again"])
        .fine();
    let [out, two, again] = ["out", "two", "again"]
        .map(|folder| fs::read(place.path(folder).join("labels.csv")).unwrap());
    assert!(
        out == two && out == again,
        "threads, or the record, change labels"
    );
    let record: Value =
        serde_json::from_str(&fs::read_to_string(place.path("out/record.json")).unwrap()).unwrap();
    assert_eq!(
        (&record["auto"]["clusters"], &record["scores"]["ari"]),
        (&2.into(), &1.0.into()),
        "{}",
        record["auto"]
    );
    assert_eq!(record["recipe"], record["auto"]["recipe"]);
    // What is said wins: another K with base clusterings chosen for it, or base clusterings and no choice.
    let three = place
        .partita(&["run", "t.csv", "-k", "3", "-o", "three", "--json"])
        .json();
    assert_eq!(
        (
            &three["clusters"],
            &three["choice"],
            &three["auto"]["clusters"]
        ),
        (&3.into(), &Value::Null, &3.into())
    );
    let own = place
        .partita(&[
            "run", "t.csv", "-k", "2", "--base", "genie:8", "--gini", "0.3", "-o", "own", "--json",
        ])
        .json();
    assert_eq!(
        (&own["auto"], &own["recipe"]["gini"]),
        (&Value::Null, &serde_json::json!([0.3]))
    );
    let wrong = [
        "run", "t.csv", "-k", "2", "--base", "genie:8", "--gini", "1.3", "-o", "wrong",
    ];
    place.partita(&wrong).refused(&["1.3", "0.1,0.3,0.5,0.7"]);
    assert!(
        place
            .partita(&["synth", "--list"])
            .fine()
            .contains("spirals-3")
    );
}

#[test]
fn run_is_generate_and_then_consensus() {
    let place = Workplace::new();
    let wine = shipped("wine.csv");
    let flags = [
        "--label",
        "label",
        "--scale",
        "zscore",
        "--base",
        "kmeans:40",
        "--seed",
        "9",
    ];
    place
        .partita(
            &[
                &["run", &wine, "-k", "3", "-m", "pcc-kl", "-o", "out"],
                &flags[..],
            ]
            .concat(),
        )
        .fine();
    place
        .partita(&[&["generate", &wine, "-o", "e.npz"], &flags[..]].concat())
        .fine();
    let consensus = [
        "consensus",
        "e.npz",
        "-m",
        "pcc-kl",
        "-k",
        "3",
        "--seed",
        "9",
        "-o",
        "l.csv",
        "--soft",
        "s.csv",
    ];
    place.partita(&consensus).fine();
    for (a, b) in [
        ("out/ensemble.npz", "e.npz"),
        ("out/labels.csv", "l.csv"),
        ("out/soft.csv", "s.csv"),
    ] {
        assert!(
            fs::read(place.path(a)).unwrap() == fs::read(place.path(b)).unwrap(),
            "{a} and {b} differ"
        );
    }
}

/// The groups of a labels file, whatever they are called: sets of object names.
fn groups(csv: &str) -> BTreeSet<BTreeSet<String>> {
    let mut groups = std::collections::BTreeMap::<String, BTreeSet<String>>::new();
    for line in csv.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        groups
            .entry(cells[1].to_owned())
            .or_default()
            .insert(cells[0].to_owned());
    }
    groups.into_values().collect()
}

#[test]
fn shuffled_rows_are_the_same_partition() {
    let place = Workplace::new();
    place
        .partita(&[
            "generate",
            &shipped("iris.csv"),
            "--label",
            "label",
            "--base",
            "kmeans:30",
            "-o",
            "e.csv",
        ])
        .fine();
    let ensemble = fs::read_to_string(place.path("e.csv")).unwrap();
    let mut lines: Vec<String> = ensemble.lines().map(str::to_owned).collect();
    if !lines[0].starts_with("object,") {
        lines[0].insert_str(0, "object,");
        (1..lines.len()).for_each(|at| lines[at].insert_str(0, &format!("o{at},")));
    }
    place.file("forward.csv", lines.join("\n"));
    let shuffled: Vec<&String> = (0..150).map(|at| &lines[1 + at * 67 % 150]).collect();
    place.file(
        "shuffled.csv",
        std::iter::once(&lines[0])
            .chain(shuffled)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n"),
    );
    let methods = place.partita(&["methods", "--json"]).json();
    for method in methods["methods"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|method| method["reads"] == "labels")
    {
        let method = method["name"].as_str().unwrap();
        let quick: &[&str] = if method == "baum-eagon" {
            &["--set", "rounds=100"]
        } else {
            &[]
        };
        let [forward, shuffled] = ["forward.csv", "shuffled.csv"].map(|file| {
            let words = [
                "consensus",
                file,
                "--label",
                "label",
                "-m",
                method,
                "-k",
                "3",
                "--seed",
                "3",
            ];
            groups(&place.partita(&[&words, quick].concat()).fine())
        });
        assert_eq!(forward, shuffled, "{method}");
    }
}

#[test]
fn a_model_labels_the_objects_it_was_fitted_to() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(60));
    place
        .partita(&[
            "generate",
            "t.csv",
            "--label",
            "kind",
            "--base",
            "kmeans:20",
            "-o",
            "e.csv",
        ])
        .fine();
    let fit = [
        "consensus",
        "e.csv",
        "-m",
        "pcc-kl",
        "-k",
        "3",
        "-o",
        "l.csv",
        "--model",
        "m.json",
    ];
    place.partita(&fit).fine();
    let predict = [
        "predict", "m.json", "e.csv", "-o", "p.csv", "--soft", "s.csv",
    ];
    place.partita(&predict).fine();
    let read = |name| groups(&fs::read_to_string(place.path(name)).unwrap());
    assert_eq!(read("l.csv"), read("p.csv"));
    let scores = place
        .partita(&["evaluate", "p.csv", "--truth", "t.csv:kind", "--json"])
        .json();
    assert_eq!(scores["h"], 1.0);
}

#[test]
fn probabilities_are_written_to_the_last_bit() {
    let place = Workplace::new();
    let flags = [
        "--label",
        "label",
        "-k",
        "3",
        "-m",
        "pcc-kl",
        "--base",
        "kmeans:20",
        "-o",
        "out",
    ];
    place
        .partita(&[&["run", &shipped("iris.csv")], &flags[..]].concat())
        .fine();
    let soft = fs::read_to_string(place.path("out/soft.csv")).unwrap();
    let labels = fs::read_to_string(place.path("out/labels.csv")).unwrap();
    assert_eq!(soft.lines().next(), Some("object,p0,p1,p2"));
    for (soft, label) in soft.lines().zip(labels.lines()).skip(1) {
        let row: Vec<f64> = soft
            .split(',')
            .skip(1)
            .map(|p| p.parse().unwrap())
            .collect();
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let written: Vec<String> = row.iter().map(f64::to_string).collect();
        assert!(soft.ends_with(&written.join(",")), "{soft}");
        let best = row.iter().copied().fold(0.0, f64::max);
        assert_eq!(
            label.split(',').nth(2).unwrap().parse::<f64>().unwrap(),
            best
        );
    }
}

/// A published pool of base clusterings, where `PARTITA_POOLS` says; on a machine without it, CI fails.
#[test]
fn a_published_pool_is_read_and_scored() {
    let Some(pools) = std::env::var_os("PARTITA_POOLS") else {
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "CI sets PARTITA_POOLS"
        );
        return;
    };
    let pool = std::path::Path::new(&pools)
        .join("Semeion.mat")
        .display()
        .to_string();
    let place = Workplace::new();
    place
        .partita(&[
            "consensus",
            &pool,
            "-m",
            "eac-average",
            "-k",
            "10",
            "-o",
            "l.csv",
        ])
        .fine();
    let scores = place
        .partita(&["evaluate", "l.csv", "--truth", &pool, "--json"])
        .json();
    assert!(scores["nmi"]["max"].as_f64().unwrap() > 0.6, "{scores}");
}
