//! Labels of five tools for 3,000 cells, as people join them, to labels, report and evaluation by one command.

use serde_json::Value;

use super::said;
use crate::common::Workplace;

const CELLS: usize = 3000;
const TYPES: [&str; 6] = ["B", "T", "NK", "DC", "Mono", "pDC"];

/// Barcodes, five tools that err at one cell in ten and leave some out, and a column of types.
fn cells() -> String {
    let mut text = "barcode,seurat,scanpy,sc3,cidr,raceid,celltype\n".to_owned();
    for i in 0..CELLS {
        let kind = i * 7 % 6;
        let label = |tool: usize| match (i * [3, 7, 9, 11, 13][tool] + 5 * tool) % 20 {
            0 => "NA".to_owned(),
            1 | 2 => format!("c{}", (kind + tool + 1) % 6),
            _ => format!("c{kind}"),
        };
        let labels = (0..5).map(label).collect::<Vec<_>>().join(",");
        text += &format!("AAAC{i:04}-1,{labels},{}\n", TYPES[kind]);
    }
    text
}

#[test]
fn five_tools_become_labels_report_and_evaluation_with_one_command() {
    let place = Workplace::new();
    place.file("cells.csv", cells());
    let ended = place.partita(&[
        "consensus",
        "cells.csv",
        "-k",
        "6",
        "--truth",
        "celltype",
        "-o",
        "out/",
    ]);
    said(
        &ended,
        &[
            "note: cells.csv: names from 'barcode' (all 3,000 values differ); truth 'celltype' (asked for); 750 missing values (NA)",
            "lwgp: 6 clusters (",
            "converged after",
            "750 of 15000 labels missing",
            "against the truth",
        ],
    );
    ended.fine();
    assert_eq!(
        place.files(),
        [
            "cells.csv",
            "out/labels.csv",
            "out/record.json",
            "out/report.html",
            "out/soft.csv",
            "out/summary.txt"
        ]
    );
    let read = |file: &str| std::fs::read_to_string(place.path(file)).expect("a file");
    let labels = read("out/labels.csv");
    let soft = read("out/soft.csv");
    assert_eq!(
        (soft.lines().count(), soft.lines().next()),
        (CELLS + 1, Some("object,p0,p1,p2,p3,p4,p5"))
    );
    let first: Vec<&str> = labels.lines().nth(1).expect("a row").split(',').collect();
    assert_eq!(
        (labels.lines().count(), first[0], first.len()),
        (CELLS + 1, "AAAC0000-1", 4)
    );
    let record: Value = serde_json::from_str(&read("out/record.json")).expect("JSON");
    assert!(
        record["scores"]["ari"].as_f64() > Some(0.98),
        "{}",
        record["scores"]
    );
    assert_eq!(
        (&record["n"], &record["base_clusterings"]),
        (&CELLS.into(), &5.into())
    );
    let page = read("out/report.html");
    for word in [
        "celltype",
        "ARI",
        "seurat",
        "AAAC0000-1",
        "partita consensus cells.csv -k 6",
    ] {
        assert!(page.contains(word), "'{word}' is not on the page");
    }
    let scores = place
        .partita(&[
            "evaluate",
            "out/labels.csv",
            "--truth",
            "cells.csv:celltype",
            "--json",
        ])
        .json();
    assert_eq!(scores["ari"], record["scores"]["ari"]);
    assert!(read("out/summary.txt").contains("lwgp"));
}

/// The same tools in a file each, with cells in another order, some cells in one only, and a consensus found before.
#[test]
fn tools_in_a_file_each_are_joined_by_name() {
    let place = Workplace::new();
    let label = |i: usize, tool: usize| {
        if (i + tool).is_multiple_of(10) {
            (i + 1) % 3
        } else {
            i % 3
        }
    };
    for (tool, name) in ["seurat", "scanpy", "sc3"].into_iter().enumerate() {
        // Each lacks cells of its own, and has them in an order of its own.
        let cell = |row: usize| (row * 7 + tool) % 90;
        let rows = (0..90).map(cell).filter(|i| i % 30 != tool);
        let rows: String = rows
            .map(|i| format!("c{i},{}{}\n", ["x", "y", "z"][tool], label(i, tool)))
            .collect();
        place.file(&format!("{name}.csv"), format!("cell,cluster\n{rows}"));
    }
    let joined = [
        "consensus",
        "seurat.csv",
        "scanpy.csv",
        "sc3.csv",
        "-k",
        "3",
    ];
    let ended = place.partita(&[&joined[..], &["-o", "out/", "--json"]].concat());
    said(
        &ended,
        &["seurat.csv: has 87 of the 90 objects of all files; what it lacks is missing"],
    );
    let record = ended.json();
    assert_eq!(
        (
            &record["n"],
            &record["base_clusterings"],
            &record["missing_labels"]
        ),
        (&90.into(), &3.into(), &9.into())
    );
    assert_eq!(record["inputs"][2]["path"], "sc3.csv");
    let truth: String = (0..90).map(|i| format!("c{i},{}\n", i % 3)).collect();
    place.file("truth.csv", format!("cell,label\n{truth}"));
    let ari = |labels: &str| {
        place
            .partita(&["evaluate", labels, "--truth", "truth.csv", "--json"])
            .json()["ari"]
            .clone()
    };
    assert!(
        ari("out/labels.csv").as_f64() > Some(0.9),
        "{}",
        ari("out/labels.csv")
    );
    // The record repeats it, and the page is drawn from all files.
    place
        .partita(&["run", "--from", "out/record.json", "-o", "again"])
        .fine();
    let labels =
        |folder: &str| std::fs::read(place.path(folder).join("labels.csv")).expect("labels");
    assert!(labels("out") == labels("again"));
    place.partita(&["report", "out"]).fine();
    // Labels of two runs are base clusterings called after their folders.
    place
        .partita(&[
            "consensus",
            "sc3.csv",
            "seurat.csv",
            "-k",
            "3",
            "-m",
            "eac-average",
            "-o",
            "other/",
        ])
        .fine();
    let of_labels = place.partita(&[
        "consensus",
        "out/labels.csv",
        "other/labels.csv",
        "scanpy.csv",
        "-k",
        "3",
        "-o",
        "l.csv",
    ]);
    assert!(
        !of_labels.stderr.contains("certainty"),
        "{}",
        of_labels.stderr
    );
    of_labels.fine();
    assert!(ari("l.csv").as_f64() > Some(0.8), "{}", ari("l.csv"));
    place.file("strangers.csv", "cell,cluster\np,1\nq,2\nr,2\n");
    place
        .partita(&["consensus", "seurat.csv", "strangers.csv", "-k", "3"])
        .refused(&["strangers.csv", "none of its objects", "--id"]);
    place
        .partita(&[
            "consensus",
            "seurat.csv",
            "sc3.csv",
            "-k",
            "3",
            "--skip",
            "clutser",
        ])
        .refused(&["no column 'clutser'"]);
}
