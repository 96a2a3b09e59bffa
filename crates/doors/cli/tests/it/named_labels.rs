//! Labels that name classes: one vocabulary over tools, names in the result, confusion matrices.

use std::fmt::Write as _;

use crate::common::Workplace;

/// Four tools of 40 cells; `tool_d` calls every NK cell a T cell, and nobody knows the last.
fn tools() -> String {
    let mut text = "cell,tool_a,tool_b,tool_c,tool_d\n".to_owned();
    for i in 0..40 {
        let (own, other) = (
            ["B cell", "NK", "T cell"][i % 3],
            ["NK", "T cell", "B cell"][i % 3],
        );
        let label = |tool: usize| match (i + 5 * tool) % 13 {
            _ if i == 39 => "unknown",
            0 => other,
            1 => "NA",
            _ if tool == 3 && own == "NK" => "T cell",
            _ => own,
        };
        let _ = writeln!(
            text,
            "c{i},{},{},{},{}",
            label(0),
            label(1),
            label(2),
            label(3)
        );
    }
    text
}

#[test]
fn tools_that_name_cells_agree_on_names() {
    let place = Workplace::new();
    place.file("tools.csv", tools());
    let stdout = place
        .partita(&["consensus", "tools.csv", "-m", "mm", "--set", "named=true"])
        .fine();
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines[0], "object,label,label_name,certainty,confidence");
    let name = |i: usize| lines[i + 1].split(',').nth(2).unwrap_or_default();
    let right = (0..39)
        .filter(|&i| name(i) == ["B cell", "NK", "T cell"][i % 3])
        .count();
    assert!(right >= 36, "{right} of 39\n{stdout}");
    assert_eq!(name(39), "unknown", "{stdout}");

    let done = place.partita(&[
        "consensus",
        "tools.csv",
        "-m",
        "mm",
        "--set",
        "named=true",
        "-k",
        "auto",
        "-o",
        "out/",
    ]);
    assert!(
        done.stderr.contains("are called 'unknown'"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("labels 'unknown' count as missing"),
        "{}",
        done.stderr
    );
    done.fine();
    let confusion =
        std::fs::read_to_string(place.path("out/confusion.csv")).expect("confusion matrices");
    let wrong = confusion
        .lines()
        .find_map(|line| line.strip_prefix("tool_d,NK,T cell,"))
        .expect("a line");
    assert!(wrong.parse::<f64>().expect("a number") > 0.6, "{confusion}");
    assert!(
        confusion
            .lines()
            .nth(1)
            .expect("a line")
            .starts_with("tool_a,"),
        "in the order of the file: {confusion}"
    );
    let record = std::fs::read(place.path("out/record.json")).expect("a record");
    let record: serde_json::Value = serde_json::from_slice(&record).expect("JSON");
    assert_eq!(
        record["details"]["names"],
        serde_json::json!(["B cell", "NK", "T cell"])
    );
    place.partita(&["report", "out", "--force"]).fine();
}

#[test]
fn what_is_not_a_vocabulary_is_refused() {
    let place = Workplace::new();
    place.file("tools.csv", tools());
    let named = |more: &[&str]| {
        place.partita(
            &[
                &["consensus", "tools.csv", "-m", "mm", "--set", "named=true"],
                more,
            ]
            .concat(),
        )
    };
    named(&["-k", "2"]).refused(&["a cluster for each of 3 names", "not 2"]);
    named(&["--set", "threshold=2"]).refused(&["'threshold' is 2"]);
    let missing = place.partita(&["consensus", "tools.csv", "-m", "mm", "--set", "restarts=2"]);
    missing.refused(&["say how many clusters", "-k"]);
    place
        .partita(&["consensus", "tools.csv", "-m", "mm"])
        .refused_by_parser(&["--clusters"]);
    place.file("foreign.csv", "a,b\nx,1\nx,1\ny,2\ny,2\n");
    let foreign = place.partita(&[
        "consensus",
        "foreign.csv",
        "-m",
        "mm",
        "--set",
        "named=true",
    ]);
    foreign.refused(&["no name of a label occurs in two base clusterings"]);
    place.file("odd.csv", "a,b\nT cell,t-cell\nT cell,T cell\nB,B\nB,B\n");
    let odd = place.partita(&["consensus", "odd.csv", "-m", "mm", "--set", "named=true"]);
    assert!(
        odd.stderr
            .contains("'T cell' and 't-cell' are different classes"),
        "{}",
        odd.stderr
    );
    odd.fine();
}
