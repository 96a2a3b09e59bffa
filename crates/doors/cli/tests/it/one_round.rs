//! Prediction and evaluation by tasks that share files: what one process gives, whoever dies, and errors for what does not belong together.

use std::fs;

use serde_json::Value;

use crate::common::{Ended, Workplace};
use crate::parts::write_files;

/// A manifest of three parts, a model of `mm`, and one of rows with labels that the manifest has not.
fn place() -> Workplace {
    let place = Workplace::new();
    write_files(&place, 4);
    let fit = [
        "consensus",
        "m.json",
        "-k",
        "4",
        "-m",
        "mm",
        "--set",
        "restarts=1",
        "-o",
        "l.parquet",
    ];
    place
        .partita(&[&fit[..], &["--model", "fit"]].concat())
        .fine();
    let words: String = (0..9000)
        .map(|i| if i % 4 < 2 { "0,1\n" } else { "2,3\n" })
        .collect();
    place.file("two.csv", format!("u0,u5\n{words}"));
    place
        .partita(&[
            "consensus",
            "two.csv",
            "-k",
            "2",
            "-m",
            "kc",
            "-o",
            "k.csv",
            "--model",
            "two",
        ])
        .fine();
    place
}

/// Both steps, and all tasks between them; what the second step printed.
fn both_steps(place: &Workplace, step: &[&str], manifest: &str) -> String {
    let model = place.partita(step).fine();
    assert_eq!(model.lines().count(), 1, "{model}");
    place
        .partita(&["pass", manifest, "--model", model.trim(), "--part", "all"])
        .fine();
    place.partita(step).fine()
}

fn labels(place: &Workplace, folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let names = (0..3).map(|part| format!("{folder}/labels.{part}.{ending}"));
    names
        .map(|name| fs::read(place.path(&name)).expect("labels of a part"))
        .collect()
}

#[test]
fn labels_by_tasks_are_those_of_one_process() {
    let place = place();
    for model in ["fit", "two"] {
        let folder = format!("by-{model}");
        let ended = both_steps(
            &place,
            &["predict", model, "m.json", "--tasks", &folder],
            "m.json",
        );
        assert_eq!(ended, "");
        let one = place.partita(&["predict", model, "m.json"]).fine();
        assert!(
            labels(&place, &folder, "csv").concat() == one.as_bytes(),
            "{model}"
        );
        let facts = |value: &mut Value| {
            let certainty = value["mean_certainty"].take().as_f64().expect("a number");
            assert!((0.2..=1.0).contains(&certainty));
            (value.take(), (certainty * 1e12).round())
        };
        let mut one = place
            .partita(&["predict", model, "m.json", "--json"])
            .json();
        let text =
            fs::read(place.path(&format!("{folder}/prediction.json"))).expect("what was found");
        let mut tasks: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(facts(&mut one), facts(&mut tasks), "{model}");
    }
    let mut printed = place.partita(&["predict", "two", "m.json", "--tasks", "by-two", "--json"]);
    let warnings = printed
        .stderr
        .lines()
        .filter(|line| line.starts_with("warning: "))
        .count();
    assert_eq!(warnings, 2, "{}", printed.stderr);
    printed.stderr.clear();
    let printed = printed.json();
    assert_eq!(
        (&printed["done"], printed["labels"].as_array().map(Vec::len)),
        (&Value::from(true), Some(3))
    );

    both_steps(
        &place,
        &[
            "predict", "fit", "m.json", "--tasks", "columns", "--labels", "parquet",
        ],
        "m.json",
    );
    for (part, bytes) in labels(&place, "columns", "parquet").iter().enumerate() {
        place.file(&format!("columns-{part}.parquet"), bytes);
    }
    let names = [
        "columns-0.parquet",
        "columns-1.parquet",
        "columns-2.parquet",
    ];
    // Labels of parts are a manifest again.
    let scanned = [
        &["manifest"],
        &names[..],
        &["-o", "labels.json", "--columns", "label"],
    ]
    .concat();
    place.partita(&scanned).fine();
    let one = place
        .partita(&[
            "evaluate",
            "l.parquet",
            "--truth",
            "labels.json:label",
            "--json",
        ])
        .json();
    assert_eq!(one["h"], 1.0, "{one}");
}

#[test]
fn scores_by_tasks_are_those_of_one_process() {
    let place = place();
    place
        .partita(&[
            "manifest",
            "l.parquet",
            "-o",
            "l.json",
            "--columns",
            "label",
        ])
        .fine();
    for (folder, labels, truth) in [
        ("same", "m.json:u1", "m.json:u3"),
        ("both", "m.json:u1", "l.json:label"),
        ("turned", "l.json:label", "m.json:u1"),
    ] {
        let step = [
            "evaluate", labels, "--truth", truth, "--tasks", folder, "--json",
        ];
        let waiting = place.partita(&step).json();
        assert_eq!(waiting["done"], false);
        let manifest = labels.split(':').next().expect("a file");
        let model = waiting["model"].as_str().expect("a file");
        place
            .partita(&[
                "pass", manifest, "--model", model, "--part", "all", "--cache", "rows",
            ])
            .fine();
        let one = place
            .partita(&["evaluate", labels, "--truth", truth, "--json"])
            .json();
        assert_eq!(place.partita(&step).json(), one, "{folder}");
        // Sums of several parts are one now, and the tasks need not be done again.
        assert!(manifest == "l.json" || !place.path(&format!("{folder}/round1.0.sum")).exists());
        assert_eq!(place.partita(&step).json(), one, "{folder}");
    }
    let text = place
        .partita(&[
            "evaluate",
            "m.json:u1",
            "--truth",
            "m.json:u3",
            "--tasks",
            "same",
        ])
        .fine();
    assert_eq!(
        text,
        place
            .partita(&["evaluate", "m.json:u1", "--truth", "m.json:u3"])
            .fine()
    );
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let place = place();
    let refused = |words: &[&str], what: &[&str]| {
        let Ended {
            code,
            stdout,
            stderr,
        } = place.partita(words);
        assert_eq!((code, &*stdout), (Some(2), ""), "{words:?}: {stderr}");
        what.iter()
            .for_each(|what| assert!(stderr.contains(what), "{words:?}: {stderr}"));
    };
    let step = ["predict", "fit", "m.json", "--tasks", "out"];
    let model = place.partita(&step).fine();
    place
        .partita(&["pass", "m.json", "--model", model.trim(), "--part", "0..1"])
        .fine();
    let lacking = place.partita(&step);
    assert!(
        lacking.stderr.contains("the labels lacks part 2 of 0 to 2"),
        "{}",
        lacking.stderr
    );
    // The folder of another prediction, of a fit, of an evaluation.
    refused(
        &["predict", "two", "m.json", "--tasks", "out"],
        &["out/labels.model", "take another folder"],
    );
    refused(
        &[
            "predict", "fit", "m.json", "--tasks", "out", "--labels", "npy",
        ],
        &["take another folder"],
    );
    refused(
        &[
            "predict",
            "fit",
            "m.json",
            "--tasks",
            "out",
            "--unknown",
            "refuse",
        ],
        &["take another folder"],
    );
    let fit = place
        .partita(&["fold", "m.json", "-k", "4", "-m", "kc", "-o", "fold"])
        .fine();
    refused(
        &[
            "evaluate",
            "m.json:u0",
            "--truth",
            "m.json:u1",
            "--tasks",
            "fold",
        ],
        &["fold/round1.model", "another folder"],
    );
    place
        .partita(&[
            "evaluate",
            "m.json:u0",
            "--truth",
            "m.json:u1",
            "--tasks",
            "scores",
        ])
        .fine();
    refused(
        &[
            "evaluate",
            "m.json:u0",
            "--truth",
            "m.json:u2",
            "--tasks",
            "scores",
        ],
        &["take another folder"],
    );

    // A result of another round, cut, of other labels.
    place
        .partita(&["pass", "m.json", "--model", model.trim(), "--part", "2"])
        .fine();
    let whole = fs::read(place.path("out/labels.2.sum")).expect("a sum");
    place.file("out/labels.2.sum", &whole[..whole.len() - 1]);
    refused(
        &step,
        &["labels.2.sum: it is cut short or damaged", "partita pass"],
    );
    place
        .partita(&[
            "pass",
            "m.json",
            "--model",
            fit.trim(),
            "--part",
            "2",
            "-o",
            "out/labels.2.sum",
            "--force",
        ])
        .fine();
    refused(
        &step,
        &["labels.2.sum: this is the sum of part 2 in round 1 by another model"],
    );
    place.file("out/labels.2.sum", &whole);
    let labels = fs::read(place.path("out/labels.2.csv")).expect("labels");
    place.file("out/labels.2.csv", &labels[1..]);
    refused(
        &step,
        &["labels.2.csv: ", "run `partita pass --force` for it again"],
    );
    // A task that is done again mends them.
    place
        .partita(&["pass", "m.json", "--model", model.trim(), "--part", "2"])
        .fine();
    assert_eq!(place.partita(&step).fine(), "");

    // Values that the model has never seen are an error of the task that meets them, which leaves no labels.
    let strict = [
        "predict",
        "two",
        "m.json",
        "--tasks",
        "strict",
        "--unknown",
        "refuse",
    ];
    let model = place.partita(&strict).fine();
    refused(
        &["pass", "m.json", "--model", model.trim(), "--part", "1"],
        &[
            "values are unknown to the model",
            "row 4101, column 'u5'",
            "--unknown missing",
        ],
    );
    assert!(
        !place.path("strict/labels.1.csv").exists() && !place.path("strict/labels.1.sum").exists()
    );

    refused(
        &["predict", "fit", "labels", "--tasks", "x"],
        &[
            "labels: tasks share the rows of a manifest",
            "partita manifest",
        ],
    );
    refused(
        &[
            "evaluate",
            "l.parquet",
            "--truth",
            "m.json:u0",
            "--tasks",
            "x",
        ],
        &["l.parquet: ", "partita manifest"],
    );
    refused(
        &["evaluate", "m.json", "--truth", "m.json:u0", "--tasks", "x"],
        &["FILE:COLUMN"],
    );
    refused(
        &[
            "evaluate",
            "m.json:u0",
            "--truth",
            "m.json:u1",
            "--tasks",
            "x",
            "--common",
        ],
        &["--common"],
    );
    refused(
        &["predict", "fit", "m.json", "--tasks", "x", "-o", "y.csv"],
        &["--output"],
    );
    refused(
        &["predict", "fit", "m.json", "--labels", "npy"],
        &["--tasks"],
    );
}

#[test]
fn a_manifest_that_was_made_anew_is_not_believed() {
    let place = place();
    let scan = [
        "manifest",
        "l.parquet",
        "-o",
        "l.json",
        "--columns",
        "label",
    ];
    place.partita(&scan).fine();
    let model = place
        .partita(&[
            "evaluate",
            "m.json:u0",
            "--truth",
            "l.json:label",
            "--tasks",
            "scores",
        ])
        .fine();
    place
        .partita(&[
            "manifest",
            "labels",
            "-o",
            "l.json",
            "--columns",
            "u5",
            "--force",
        ])
        .fine();
    let ended = place.partita(&["pass", "m.json", "--model", model.trim(), "--part", "0"]);
    assert!(
        ended.code == Some(2) && ended.stderr.contains("l.json: this manifest was made anew"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_manifest_of_some_columns_minds_no_others() {
    let place = Workplace::new();
    let rows: String = (0..40)
        .map(|i| format!("{},{},{},o{i}\n", ["x", "y"][i % 2], i % 3, i % 4))
        .collect();
    place.file("t.csv", format!("label,b,a,name\n{rows}"));
    place.partita(&["merge", "t.csv", "-o", "t.parquet"]).fine();
    place
        .partita(&["manifest", "t.parquet", "-o", "t.json", "--columns", "a,b"])
        .fine();
    let text = fs::read_to_string(place.path("t.json")).expect("a manifest");
    let bases = text.matches("\"name\":").count();
    assert_eq!(bases, 2, "{text}");
    let refused = |columns: &str, what: &str| {
        place
            .partita(&[
                "manifest",
                "t.parquet",
                "-o",
                "n.json",
                "--columns",
                columns,
            ])
            .refused(&["t.parquet", what]);
    };
    refused("nothing", "'nothing'");
    refused("a,99", "'99'");
    refused("label", "column 'label' is of words");
    let both = [
        "manifest",
        "t.parquet",
        "-o",
        "n.json",
        "--columns",
        "a",
        "--skip",
        "b",
    ];
    assert_eq!(place.partita(&both).code, Some(2));
}
