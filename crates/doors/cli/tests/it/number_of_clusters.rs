//! `-k auto` and ranges: the number of clusters is chosen against data without clusters, shown and recorded.

use std::fs;

use crate::common::{Workplace, shipped};
use serde_json::Value;

fn record(place: &Workplace, folder: &str) -> Value {
    let text = fs::read_to_string(place.path(folder).join("record.json")).expect("a record");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn run_takes_the_number_that_choose_k_finds() {
    let place = Workplace::new();
    let wine = shipped("wine.csv");
    let table = [&wine[..], "--label", "label", "--scale", "zscore"];
    let printed = place
        .partita(
            &[
                &["run"],
                &table[..],
                &["-k", "2..5", "--base", "kmeans:10", "-o", "out"],
            ]
            .concat(),
        )
        .fine();
    assert!(
        printed.contains("3 clusters: ") && printed.contains("<- chosen"),
        "{printed}"
    );
    let chosen = place
        .partita(&[&["choose-k"], &table[..], &["-k", "2..5", "--json"]].concat())
        .json();
    let record = record(&place, "out");
    assert_eq!(
        (&record["choice"]["clusters"], &record["clusters"]),
        (&3.into(), &3.into())
    );
    assert_eq!(
        (
            &record["choice"]["reason"],
            &record["experiment"]["clusters"]
        ),
        (&chosen["reason"], &"2..5".into())
    );
    let page = || fs::read_to_string(place.path("out/report.html")).unwrap();
    assert!(page().contains("times as stable"), "the page of the run");
    place.partita(&["report", "out", "--force"]).fine();
    assert!(page().contains("times as stable"), "the page made anew");
    place
        .partita(&[
            "report",
            "out",
            "--choice",
            "out/choice.json",
            "-o",
            "page.html",
        ])
        .fine();
    place
        .partita(&["run", "--from", "out/record.json", "-o", "again"])
        .fine();
    assert_eq!(
        fs::read(place.path("out/labels.csv")).unwrap(),
        fs::read(place.path("again/labels.csv")).unwrap(),
        "a record says how the number was chosen"
    );
}

#[test]
fn one_cluster_is_an_answer() {
    let place = Workplace::new();
    // Unscaled, its largest column hides the classes.
    let wine = shipped("wine.csv");
    let flags = [
        "--label", "label", "-k", "auto", "--base", "kmeans:5", "-m", "lwgp,mm", "-o", "out",
    ];
    let ended = place.partita(&[&["run", &wine], &flags[..]].concat());
    let printed = ended.fine();
    assert!(
        printed.contains("\nno clusters: from 2 to 12 clusters nothing"),
        "{printed}"
    );
    assert_eq!(
        fs::read_to_string(place.path("out/summary.txt")).unwrap(),
        printed
    );
    for file in ["out/labels.csv", "out/mm/labels.csv"] {
        let labels = fs::read_to_string(place.path(file)).unwrap();
        assert!(
            labels
                .lines()
                .skip(1)
                .all(|line| line.split(',').nth(1) == Some("0")),
            "{file}"
        );
    }
    assert_eq!(record(&place, "out")["choice"]["clusters"], 1);
}

/// Numbers without a pattern (SplitMix64).
fn hash(x: u64) -> u64 {
    let z = (x + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Two base clusterings in three agree about halves; or none agree at all.
fn ensemble(agree: bool) -> String {
    let mut text = (0..12)
        .map(|base| format!("b{base}"))
        .collect::<Vec<_>>()
        .join(",")
        + "\n";
    for object in 0..90u64 {
        let label = |base: u64| {
            let chance = hash(object * 100 + base);
            if agree && !base.is_multiple_of(3) {
                object % 2
            } else {
                chance % 3
            }
        };
        text += &((0..12)
            .map(|base| label(base).to_string())
            .collect::<Vec<_>>()
            .join(",")
            + "\n");
    }
    text
}

#[test]
fn a_consensus_is_chosen_against_permuted_labels() {
    let place = Workplace::new();
    place.file("halves.csv", ensemble(true));
    place.file("chance.csv", ensemble(false));
    let chosen = |file: &str, clusters: &str| {
        place
            .partita(&["consensus", file, "-k", clusters, "--json"])
            .json()
    };
    let halves = chosen("halves.csv", "auto");
    assert_eq!(
        (&halves["choice"]["clusters"], &halves["clusters"]),
        (&2.into(), &2.into()),
        "{}",
        halves["choice"]
    );
    let nothing = chosen("chance.csv", "2..5");
    assert_eq!(
        (&nothing["choice"]["clusters"], &nothing["clusters"]),
        (&1.into(), &1.into())
    );
    assert_eq!(nothing["choice"]["settings"]["method"], "eac-average");
    let single = place
        .partita(&[
            "consensus",
            "halves.csv",
            "-k",
            "2..5",
            "-m",
            "eac-single",
            "--json",
        ])
        .json();
    assert_eq!(single["choice"]["settings"]["method"], "eac-single");
}

#[test]
fn a_method_finds_its_own_number_when_asked_to() {
    let place = Workplace::new();
    place.file("e.csv", ensemble(true));
    let own = place
        .partita(&["consensus", "e.csv", "-k", "method", "--json"])
        .json();
    assert_eq!(
        (
            &own["method"],
            &own["choice"],
            &own["experiment"]["clusters"]
        ),
        (&"eac-average".into(), &Value::Null, &"method".into())
    );
    place
        .partita(&["consensus", "e.csv", "-k", "method", "-m", "lwea"])
        .refused(&["lwea", "-k auto"]);
    for wrong in ["0", "5..2", "some", "2..x"] {
        place
            .partita(&["consensus", "e.csv", "-k", wrong])
            .refused_by_parser(&["2..12"]);
    }
}

#[test]
fn what_the_choice_cannot_honour_is_refused() {
    let place = Workplace::new();
    let iris = shipped("iris.csv");
    let choose = |flags: &[&str]| {
        place.partita(
            &[
                &["choose-k", &iris, "--label", "label", "-k", "2..3"],
                flags,
            ]
            .concat(),
        )
    };
    choose(&["--base-k", "4"]).refused(&["--base-k", "see -k"]);
    choose(&["--base", "kmeans:5,ward:5"]).refused(&["--base", "takes one"]);
    choose(&["--preset", "kdd"]).refused(&["--preset", "--scale"]);
    let found = choose(&[
        "--base",
        "kmeans:30",
        "--subsample",
        "0.7",
        "--scale",
        "zscore",
        "--set",
        "draws=5",
        "--json",
    ])
    .json();
    let settings = &found["settings"];
    assert_eq!(
        (&settings["base"], &settings["runs"], &settings["scale"]),
        (&"kmeans".into(), &30.into(), &"zscore".into())
    );
    assert_eq!(settings["subsample"], 0.7);
}

#[test]
fn two_objects_are_too_few_to_choose_from() {
    let place = Workplace::new();
    place.file("t.csv", "x,y\n1,2\n3,5\n");
    place
        .partita(&["run", "t.csv", "-o", "out"])
        .refused(&["2 objects", "give a number of clusters"]);
    place
        .partita(&["run", "t.csv", "-k", "2", "-o", "two"])
        .fine();
}
