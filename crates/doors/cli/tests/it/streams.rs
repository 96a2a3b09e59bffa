//! `-` for standard input and output, in every format that can come through it.

use std::io::Write;
use std::process::{Output, Stdio};

use crate::common::{Ended, Workplace, three_groups};

const ENSEMBLE: &str = "cell,a,b,c\nc1,1,1,x\nc2,1,1,x\nc3,2,2,y\nc4,2,NA,y\n";

/// Runs `partita` with these bytes on standard input.
fn fed(place: &Workplace, words: &[&str], bytes: &[u8]) -> Output {
    let mut command = place.command(words);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the built binary");
    // A command that is refused does not read what is fed to it.
    let _ = child.stdin.take().expect("a pipe").write_all(bytes);
    child.wait_with_output().expect("its end")
}

#[test]
fn an_ensemble_comes_through_a_pipe_in_any_format() {
    let place = Workplace::new();
    place.file("e.csv", ENSEMBLE);
    let expected = place.partita(&["consensus", "e.csv", "-k", "2"]).fine();
    let stream = ["consensus", "-", "-k", "2"];
    assert_eq!(
        Ended::of(fed(&place, &stream, ENSEMBLE.as_bytes())).fine(),
        expected
    );
    // Packed text and binary formats are known by their first bytes.
    let labels = "object,a,b\n0,1,1\n1,1,1\n2,2,2\n";
    place.file("l.csv", labels);
    place
        .partita(&[
            "generate", "t.csv", "--base", "kmeans:5", "--base-k", "2", "-o", "e.npz",
        ])
        .refused(&["t.csv"]);
    place.file("t.csv", three_groups(30));
    place
        .partita(&[
            "generate",
            "t.csv",
            "--truth",
            "kind",
            "--base",
            "kmeans:5",
            "--base-k",
            "3",
            "-o",
            "e.parquet",
        ])
        .fine();
    let of_file = place.partita(&["consensus", "e.parquet", "-k", "3"]).fine();
    let bytes = std::fs::read(place.path("e.parquet")).expect("an ensemble");
    assert_eq!(
        Ended::of(fed(&place, &["consensus", "-", "-k", "3"], &bytes)).fine(),
        of_file
    );
    let insisted = [
        "consensus",
        "-",
        "-k",
        "3",
        "--format",
        "parquet",
        "-o",
        "l.csv",
        "--force",
    ];
    Ended::of(fed(&place, &insisted, &bytes)).fine();
    assert_eq!(
        std::fs::read_to_string(place.path("l.csv")).expect("labels"),
        of_file
    );
    // CSV that is called Parquet is refused.
    Ended::of(fed(&place, &insisted, labels.as_bytes())).refused(&["stdin.parquet"]);
}

#[test]
fn labels_go_to_standard_output_in_the_format_asked_for() {
    let place = Workplace::new();
    let run = |format: &str| {
        let words = ["consensus", "-", "-k", "2", "-o", "-", "--format", format];
        let output = fed(&place, &words, ENSEMBLE.as_bytes());
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    };
    assert!(run("csv").starts_with(b"object,label,certainty,confidence\nc1,"));
    let json: serde_json::Value = serde_json::from_slice(&run("json")).expect("one JSON object");
    assert_eq!(
        (
            json["object"][3].as_str(),
            json["label"].as_array().map(Vec::len)
        ),
        (Some("c4"), Some(4))
    );
    assert!(run("tsv").starts_with(b"object\tlabel\tcertainty\tconfidence\nc1\t"));
}

#[test]
fn every_command_that_reads_rows_reads_standard_input() {
    let place = Workplace::new();
    let table = three_groups(60);
    place.file("t.csv", &table);
    let of_table = |words: &[&str]| Ended::of(fed(&place, words, table.as_bytes())).fine();
    of_table(&[
        "run", "-", "--truth", "kind", "-k", "3", "--base", "kmeans:8", "-o", "out", "--model",
        "m.json",
    ]);
    assert!(of_table(&["inspect", "-", "--truth", "kind"]).contains("60"));
    assert!(
        of_table(&[
            "choose-k", "-", "--truth", "kind", "-k", "2..4", "--set", "runs=30"
        ])
        .contains('3')
    );
    of_table(&[
        "generate", "-", "--truth", "kind", "--base", "kmeans:8", "-o", "e.npz",
    ]);
    assert_eq!(
        of_table(&["predict", "m.json", "-", "--truth", "kind"])
            .lines()
            .count(),
        61
    );
    let labels = std::fs::read(place.path("out/labels.csv")).expect("labels");
    let scores = Ended::of(fed(
        &place,
        &["evaluate", "-", "--truth", "t.csv:kind"],
        &labels,
    ))
    .fine();
    assert!(scores.contains("ari"));
    let ensemble = std::fs::read(place.path("e.npz")).expect("an ensemble");
    let judged = ["evaluate", "out/labels.csv", "--ensemble", "-"];
    assert!(
        Ended::of(fed(&place, &judged, &ensemble))
            .fine()
            .contains("anmi")
    );
    Ended::of(fed(&place, &["merge", "-", "-o", "again.csv"], &ensemble)).fine();
    // It can be read once.
    let twice = ["consensus", "-", "--features", "-", "-m", "lwgp", "-k", "2"];
    Ended::of(fed(&place, &twice, ENSEMBLE.as_bytes())).refused(&["standard input", "once"]);
}
