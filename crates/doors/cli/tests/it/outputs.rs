//! Where results go: files, folders, standard output; and how much is said beside them.

use crate::common::{Workplace, three_groups};

/// A folder with an ensemble of three groups.
fn workplace() -> Workplace {
    let place = Workplace::new();
    place.file("t.csv", three_groups(60));
    place
        .partita(&[
            "generate", "t.csv", "--label", "kind", "--base", "kmeans:9", "-o", "e.npz",
        ])
        .fine();
    place
}

#[test]
fn a_folder_gets_labels_record_summary_and_report() {
    let place = workplace();
    place
        .partita(&[
            "consensus",
            "e.npz",
            "-m",
            "pcc-kl",
            "-k",
            "3",
            "-o",
            "out/",
        ])
        .fine();
    let files = [
        "labels.csv",
        "soft.csv",
        "record.json",
        "summary.txt",
        "report.html",
    ];
    assert!(
        files
            .iter()
            .all(|file| place.path(&format!("out/{file}")).exists()),
        "{:?}",
        place.files()
    );
    let record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.path("out/record.json")).unwrap()).unwrap();
    assert_eq!(record["sizes"], serde_json::json!([20, 20, 20]));
    place
        .partita(&["consensus", "e.npz", "-m", "pcc-kl", "-k", "3", "-o", "out"])
        .refused(&["out", "--force"]);
    place
        .partita(&[
            "consensus",
            "e.npz",
            "-k",
            "3",
            "-o",
            "out",
            "--force",
            "--no-report",
        ])
        .fine();
    place.partita(&["report", "out"]).fine();
}

#[test]
fn outputs_that_would_destroy_something_are_refused() {
    let place = workplace();
    let before = std::fs::read(place.path("e.npz")).unwrap();
    let onto = |arguments: &[&str], words: &[&str]| place.partita(arguments).refused(words);
    onto(
        &["consensus", "e.npz", "-k", "3", "-o", "e.npz", "--force"],
        &["e.npz: is an input"],
    );
    onto(
        &["consensus", "e.npz", "-k", "3", "-o", "./e.npz", "--force"],
        &["is an input"],
    );
    onto(
        &[
            "consensus",
            "e.npz",
            "-k",
            "3",
            "-m",
            "pcc-kl",
            "-o",
            "a.csv",
            "--soft",
            "./a.csv",
        ],
        &["two outputs"],
    );
    onto(
        &[
            "generate", "t.csv", "--label", "kind", "-o", "t.csv", "--force",
        ],
        &["is an input"],
    );
    onto(
        &[
            "choose-k", "t.csv", "--label", "kind", "-o", "t.csv", "--force",
        ],
        &["is an input"],
    );
    onto(
        &[
            "align",
            "e.npz",
            "-o",
            "a",
            "--ensemble",
            "e.npz",
            "--force",
        ],
        &["is an input"],
    );
    assert_eq!(std::fs::read(place.path("e.npz")).unwrap(), before);
}

/// A method without probabilities: how the base clusterings of an object spread over the clusters, and that is said.
#[test]
fn a_method_without_probabilities_gives_shares_of_the_evidence() {
    let place = workplace();
    let ended = place.partita(&[
        "consensus",
        "e.npz",
        "-k",
        "3",
        "-o",
        "out/",
        "--soft",
        "s.csv",
        "--relations",
        "r.csv",
    ]);
    assert!(
        ended
            .stderr
            .contains("lwgp gives no probabilities: in their place are shares of the evidence")
    );
    ended.fine();
    let read = |file: &str| std::fs::read_to_string(place.path(file)).unwrap();
    assert_eq!(read("s.csv"), read("out/soft.csv"));
    let labels: Vec<usize> = read("out/labels.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap().parse().unwrap())
        .collect();
    for (line, label) in read("s.csv").lines().skip(1).zip(labels) {
        let shares: Vec<f64> = line
            .split(',')
            .skip(1)
            .map(|share| share.parse().unwrap())
            .collect();
        assert!(
            (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 && shares.len() == 3,
            "{line}"
        );
        assert!(
            shares.iter().all(|share| *share <= shares[label]),
            "{line}: {label}"
        );
    }
    assert!(read("r.csv").starts_with("cluster,objects,0,1,2"));
    // Nothing that says more than the labels where nobody asked for a file of it.
    let quiet = place.partita(&["consensus", "e.npz", "-k", "3", "-o", "l.csv"]);
    assert!(!quiet.stderr.contains("evidence"));
    quiet.fine();
}

/// The files of a folder are outputs too.
#[test]
fn outputs_that_would_destroy_a_file_of_the_folder_are_refused() {
    let place = workplace();
    let soft = [
        "consensus",
        "e.npz",
        "-k",
        "3",
        "-m",
        "pcc-kl",
        "-o",
        "out/",
    ];
    place
        .partita(&[&soft[..], &["--model", "out/model.json"]].concat())
        .fine();
    let labels = std::fs::read(place.path("out/labels.csv")).unwrap();
    let twice = |arguments: &[&str], words: &[&str]| {
        place
            .partita(&[arguments, &["--force"]].concat())
            .refused(words)
    };
    twice(
        &[&soft[..], &["--soft", "out/soft.csv"]].concat(),
        &["out/soft.csv: two outputs cannot be one file"],
    );
    twice(
        &[&soft[..], &["--model", "out/record.json"]].concat(),
        &["out/record.json: two outputs"],
    );
    let run = [
        "run", "t.csv", "--label", "kind", "-k", "3", "--base", "kmeans:3", "-o", "out",
    ];
    twice(
        &[&run[..], &["--model", "out/labels.csv"]].concat(),
        &["out/labels.csv: two outputs"],
    );
    twice(
        &["run", "out/labels.csv", "-k", "3", "-o", "out"],
        &["out/labels.csv: is an input"],
    );
    place.file("out/objects.csv", "a,b\n1,1\n2,2\n");
    twice(
        &["modes", "out/objects.csv", "-o", "out"],
        &["out/objects.csv: is an input"],
    );
    for file in ["out/labels.csv", "out/record.json", "e.npz"] {
        twice(&["report", "out", "-o", file], &[file, "is an input"]);
    }
    assert!(std::fs::read(place.path("out/labels.csv")).unwrap() == labels);
    // A model may go into the folder that is made.
    let fresh = [
        "run",
        "t.csv",
        "--label",
        "kind",
        "-k",
        "3",
        "--base",
        "kmeans:3",
        "-o",
        "fresh",
        "--model",
        "fresh/m.json",
    ];
    place.partita(&fresh).fine();
    place.partita(&["inspect", "fresh/m.json"]).fine();
}

#[test]
fn one_line_says_what_was_found_and_quiet_leaves_it_out() {
    let place = workplace();
    let said = place.partita(&[
        "consensus",
        "e.npz",
        "-m",
        "eac-average",
        "-k",
        "3",
        "-o",
        "-",
    ]);
    assert!(
        said.stderr
            .contains("3 clusters (20, 20, 20 objects); exact")
            && said.stderr.contains("ARI 1.000"),
        "{}",
        said.stderr
    );
    assert!(said.fine().starts_with("object,label,certainty"));
    let quiet = place.partita(&[
        "consensus",
        "e.npz",
        "-m",
        "eac-average",
        "-k",
        "3",
        "-o",
        "a.csv",
        "-q",
    ]);
    assert_eq!(quiet.stderr, "");
    let loud = place.partita(&[
        "consensus",
        "e.npz",
        "-m",
        "lwgp",
        "-k",
        "3",
        "-o",
        "b.csv",
        "-v",
    ]);
    assert!(
        loud.stderr.contains("eigenvectors") && loud.stderr.contains("time"),
        "{}",
        loud.stderr
    );
    let asked = place
        .command(&["evaluate", "a.csv", "--truth", "t.csv:kind"])
        .env("PARTITA_LOG", "no=such=thing")
        .output();
    assert!(String::from_utf8_lossy(&asked.unwrap().stderr).contains("warning: PARTITA_LOG="));
}

#[test]
fn every_command_has_a_manual_page_and_completions_know_names() {
    let place = Workplace::new();
    place.partita(&["man", "-o", "pages"]).fine();
    let top = place.partita(&["--help"]).fine();
    let commands = top
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .collect();
    let names: Vec<&str> = names
        .into_iter()
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(names.len() >= 19, "{names:?}");
    for name in names {
        let text = std::fs::read_to_string(place.path(&format!("pages/partita-{name}.1")))
            .expect("a page");
        assert!(
            text.contains(".TH") && text.contains(&format!("partita-{name}")),
            "{text}"
        );
        assert!(place.partita(&["man", name]).fine() == text, "{name}");
    }
    assert!(
        std::fs::read_to_string(place.path("pages/partita.1"))
            .expect("a page")
            .contains(".TH partita 1")
    );
    assert!(
        place
            .partita(&["man", "run"])
            .fine()
            .contains("partita\\\\-run")
            || place
                .partita(&["man", "run"])
                .fine()
                .contains("partita\\-run")
    );
    place.partita(&["man", "rum"]).refused(&["'rum'", "run"]);
    for shell in ["bash", "zsh", "fish"] {
        let text = place.partita(&["completions", shell]).fine();
        assert!(
            ["nbce-gibbs", "peace-text", "restarts"]
                .iter()
                .all(|name| text.contains(name)),
            "{shell}"
        );
    }
}

#[test]
fn inspect_and_choose_k_find_out_what_a_file_holds() {
    let place = workplace();
    let kind = |file: &str| place.partita(&["inspect", file, "--json"]).json()["kind"].clone();
    let rows = |row: fn(usize) -> String| (0..60).map(row).collect::<String>();
    place.file(
        "words.csv",
        format!(
            "cell,a,b\n{}",
            rows(|i| format!("c{i},t{},u{}\n", i % 3, i % 3))
        ),
    );
    place.file(
        "whole.csv",
        format!("a,b\n{}", rows(|i| format!("{},{}\n", i % 3, i % 4))),
    );
    place.file(
        "numbers.csv",
        format!("a,b\n{}", rows(|i| format!("{},0.5\n", i % 3 * 7))),
    );
    place.file(
        "gaps.csv",
        format!(
            "a,b\n{}",
            rows(|i| format!("{},{}\n", i % 3, if i == 7 { "NA" } else { "0" }))
        ),
    );
    let found = ["numbers.csv", "e.npz", "words.csv", "whole.csv"].map(kind);
    assert_eq!(
        found,
        ["table", "ensemble", "ensemble", "ensemble or table"]
    );
    place
        .partita(&[
            "consensus",
            "e.npz",
            "-m",
            "mm",
            "-k",
            "3",
            "-o",
            "l.csv",
            "--model",
            "m.json",
        ])
        .fine();
    let model = place.partita(&["inspect", "m.json", "--json"]).json();
    assert_eq!(
        (
            &model["kind"],
            &model["made"]["method"],
            &model["made"]["objects"]
        ),
        (&"model".into(), &"mm".into(), &60.into())
    );
    place
        .partita(&["predict", "m.json", "e.npz", "-o", "again.csv"])
        .fine();
    let taken = |file: &str| place.partita(&["choose-k", file, "-k", "2..4"]);
    assert!(taken("whole.csv").stderr.contains("--kind ensemble"));
    for file in ["words.csv", "gaps.csv"] {
        assert!(taken(file).fine().contains("lifetime"), "{file}");
    }
}

/// Records, choices, models and folders of runs say what they are.
#[test]
fn inspect_knows_records_models_and_runs() {
    let place = workplace();
    let run = [
        "run", "t.csv", "--truth", "kind", "-k", "2..4", "--base", "kmeans:9", "-m", "lwgp,mm",
        "-o", "out",
    ];
    place
        .partita(&[&run[..], &["--model", "m.json", "--impute", "mean"]].concat())
        .fine();
    let facts = |file: &str| place.partita(&["inspect", file, "--json"]).json();
    for file in ["out", "out/record.json"] {
        let found = facts(file);
        assert_eq!(
            (&found["kind"], &found["objects"]),
            (&"record of a run".into(), &60.into()),
            "{file}"
        );
        assert!(
            found["command"]
                .as_str()
                .is_some_and(|text| text.starts_with("partita run t.csv --truth kind")),
            "{found}"
        );
        assert_eq!(
            (&found["methods"][1]["name"], &found["methods"][0]["ari"]),
            (&"mm".into(), &1.0.into())
        );
        assert!(
            found["inputs"][0]["sha256"]
                .as_str()
                .is_some_and(|hash| hash.len() == 64)
        );
    }
    let text = place.partita(&["inspect", "out"]).fine();
    assert!(
        text.contains("kind: record of a run") && text.contains("name lwgp, clusters 3"),
        "{text}"
    );
    let choice = facts("out/choice.json");
    assert_eq!(
        (&choice["clusters"], choice["rows"].as_array().map(Vec::len)),
        (&3.into(), Some(3)),
        "{choice}"
    );
    let model = facts("m.json");
    assert_eq!(
        (&model["columns"], &model["clusters"]),
        (&serde_json::json!(["x", "y"]), &3.into()),
        "{model}"
    );
    assert_eq!(
        (&model["made"]["method"], &model["reading"]["impute"]),
        (&"lwgp".into(), &"mean".into())
    );
    assert!(
        model["written"]
            .as_str()
            .is_some_and(|time| time.ends_with('Z'))
    );
    place
        .partita(&[
            "consensus",
            "e.npz",
            "-m",
            "bce",
            "-k",
            "3",
            "-o",
            "l.csv",
            "--model",
            "bce.json",
        ])
        .fine();
    let model = facts("bce.json");
    assert_eq!(
        (
            model["columns"].as_array().map(Vec::len),
            &model["clusters"]
        ),
        (Some(9), &3.into()),
        "{model}"
    );
    place.file("other.json", "{\"a\": 1}");
    place
        .partita(&["inspect", "other.json"])
        .refused(&["other.json", "not a model"]);
}

#[test]
fn labels_are_written_in_the_format_of_the_name() {
    let place = workplace();
    for name in ["l.parquet", "l.csv.zst", "l.json", "l.npy"] {
        place
            .partita(&[
                "consensus",
                "e.npz",
                "-m",
                "eac-average",
                "-k",
                "3",
                "-o",
                name,
            ])
            .fine();
    }
    for name in ["l.parquet", "l.csv.zst", "l.npy"] {
        assert_eq!(
            place
                .partita(&["evaluate", name, "--truth", "t.csv:kind", "--json"])
                .json()["ari"],
            1.0,
            "{name}"
        );
    }
    place
        .partita(&["consensus", "e.npz", "-k", "3", "-o", "l.xlsx"])
        .refused(&["l.xlsx", ".parquet"]);
}
