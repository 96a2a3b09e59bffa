//! What an ensemble says: of given labels, of pairs of objects, of its base clusterings; ensembles merged into one.

use std::fs;

use partita::files::{ReadOptions, read_ensemble};
use serde_json::Value;

use crate::common::{Workplace, shipped};

/// Three base clusterings of six named objects: two agree, the third puts c with the others and does not know f.
const ENSEMBLE: &str = "object,x,y,z\na,1,1,1\nb,1,1,1\nc,1,1,2\nd,2,2,2\ne,2,2,2\nf,2,2,\n";

#[test]
fn an_ensemble_judges_given_labels() {
    let place = Workplace::new();
    place.file("e.csv", ENSEMBLE);
    place.file("l.csv", "object,label\nf,u\ne,u\nd,u\nc,t\nb,t\na,t\n");
    let judged = [
        "evaluate",
        "l.csv",
        "--ensemble",
        "e.csv",
        "--confidence",
        "c.csv",
        "--json",
    ];
    let found = place.partita(&judged).json();
    assert_eq!(
        (&found["objects"], &found["base_clusterings"]),
        (&6.into(), &3.into())
    );
    // x and y say the same as the labels; z shares less with them.
    let anmi = found["anmi"].as_f64().unwrap();
    assert!(anmi > 2.0 / 3.0 && anmi < 1.0, "{found}");
    assert!(found.get("ari").is_none(), "there is no truth: {found}");
    let rows = place.path("c.csv");
    let rows: Vec<Vec<String>> = fs::read_to_string(rows)
        .unwrap()
        .lines()
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    assert_eq!(rows[0], ["object", "label", "label_name", "confidence"]);
    let confidence = |row: usize| rows[row][3].parse::<f64>().unwrap();
    assert_eq!((rows[3][0].as_str(), rows[3][2].as_str()), ("c", "t"));
    assert!(
        confidence(3) < confidence(1),
        "base clusterings disagree about c: {rows:?}"
    );
    let mean = (1..=6).map(confidence).sum::<f64>() / 6.0;
    assert!((mean - found["confidence"].as_f64().unwrap()).abs() < 1e-12);
    place.partita(&judged).refused(&["c.csv", "--force"]);

    place.file("t.csv", "object,label\na,p\nb,p\nc,p\nd,q\ne,q\nf,q\n");
    let both = place
        .partita(&[
            "evaluate",
            "l.csv",
            "--truth",
            "t.csv",
            "--ensemble",
            "e.csv",
            "--json",
        ])
        .json();
    assert_eq!((&both["ari"], &both["anmi"]), (&1.0.into(), &found["anmi"]));
    let text = place
        .partita(&["evaluate", "l.csv", "--ensemble", "e.csv"])
        .fine();
    let line = |words: [&str; 2]| text.lines().any(|line| line.split_whitespace().eq(words));
    assert!(
        line(["base_clusterings", "3"]) && line(["objects", "6"]) && text.contains("anmi"),
        "{text}"
    );
}

#[test]
fn weights_count_where_an_ensemble_judges_labels() {
    let place = Workplace::new();
    place.file("e.csv", ENSEMBLE);
    place.file("l.csv", "object,label\nf,u\ne,u\nd,u\nc,t\nb,t\na,t\n");
    let judged = |more: &[&str]| {
        let flags = [
            "evaluate",
            "l.csv",
            "--ensemble",
            "e.csv",
            "--force",
            "--confidence",
            "c.csv",
            "--json",
        ];
        place.partita(&[&flags[..], more].concat())
    };
    let number = |found: &Value, name: &str| found[name].as_f64().unwrap();
    let plain = judged(&[]).json();
    let of_z = 3.0 * number(&plain, "anmi") - 2.0;
    // x and y say the same as the labels.
    place.file("w.csv", "name,weight\nx,1\ny,0\nz,3\n");
    let weighted = judged(&["--base-weights", "w.csv"]).json();
    assert!(
        (number(&weighted, "anmi") - (1.0 + 3.0 * of_z) / 4.0).abs() < 1e-12,
        "{weighted}"
    );
    assert!(
        number(&weighted, "confidence") < number(&plain, "confidence"),
        "{weighted}"
    );
    let agreement = judged(&["--base-weights", "agreement"]).json();
    assert!(
        number(&agreement, "anmi") > number(&plain, "anmi"),
        "z agrees least with the others: {agreement}"
    );

    // Objects of weight 2 are two objects, in a file of their own or in a column of the ensemble.
    place.file("o.csv", "object,weight\nf,1\ne,1\nd,1\nc,2\nb,1\na,0\n");
    let by_file = judged(&["--object-weights", "o.csv"]).json();
    place.file(
        "ew.csv",
        "object,x,y,z,n\na,1,1,1,0\nb,1,1,1,1\nc,1,1,2,2\nd,2,2,2,1\ne,2,2,2,1\nf,2,2,,1\n",
    );
    let column = [
        "evaluate",
        "l.csv",
        "--ensemble",
        "ew.csv",
        "--object-weights",
        "n",
        "--json",
    ];
    let by_column = place.partita(&column).json();
    assert_eq!(
        (&by_column["anmi"], &by_column["base_clusterings"]),
        (&by_file["anmi"], &3.into())
    );
    place.file(
        "twice.csv",
        "object,x,y,z\nb,1,1,1\nc,1,1,2\nc2,1,1,2\nd,2,2,2\ne,2,2,2\nf,2,2,\n",
    );
    place.file("l2.csv", "object,label\nf,u\ne,u\nd,u\nc,t\nc2,t\nb,t\n");
    let twice = place
        .partita(&["evaluate", "l2.csv", "--ensemble", "twice.csv", "--json"])
        .json();
    assert!(
        (number(&by_file, "anmi") - number(&twice, "anmi")).abs() < 1e-12,
        "{by_file} {twice}"
    );

    place.file("w.csv", "name,weight\nx,1\ny,1\n");
    judged(&["--base-weights", "w.csv"]).refused(&["w.csv", "no weight for base clustering 'z'"]);
    judged(&["--object-weights", "nothing"]).refused(&["e.csv", "nothing"]);
    place.file("few.csv", "object,label\na,t\n");
    let nobody = [
        "evaluate",
        "few.csv",
        "--ensemble",
        "e.csv",
        "--common",
        "--object-weights",
        "o.csv",
    ];
    place
        .partita(&nobody)
        .refused(&["few.csv", "no weight is above 0"]);
    let truth = [
        "evaluate",
        "l.csv",
        "--truth",
        "l.csv",
        "--base-weights",
        "agreement",
    ];
    place.partita(&truth).refused_by_parser(&["--ensemble"]);
}

#[test]
fn confidence_of_the_labels_of_a_consensus_is_what_the_consensus_says() {
    let place = Workplace::new();
    let table = shipped("iris.csv");
    place
        .partita(&[
            "generate", &table, "--truth", "label", "--base", "kmeans:9", "--base-k", "2..6", "-o",
            "e.npz",
        ])
        .fine();
    let record = place
        .partita(&[
            "consensus",
            "e.npz",
            "-k",
            "3",
            "-m",
            "eac-average",
            "--json",
            "-o",
            "l.csv",
        ])
        .json();
    let found = place
        .partita(&[
            "evaluate",
            "l.csv",
            "--ensemble",
            "e.npz",
            "--confidence",
            "c.csv",
            "--json",
        ])
        .json();
    assert_eq!(found["anmi"], record["methods"][0]["anmi"]);
    let column = |name: &str, at: usize| {
        let text = fs::read_to_string(place.path(name)).unwrap();
        text.lines()
            .map(|line| line.split(',').nth(at).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(column("c.csv", 2), column("l.csv", 3));
}

#[test]
fn objects_without_a_label_or_a_base_clustering() {
    let place = Workplace::new();
    place.file("e.csv", ENSEMBLE);
    place.file("l.csv", "object,label\na,t\nb,t\nc,t\nd,u\ne,\nf,u\n");
    let found = place.partita(&["evaluate", "l.csv", "--ensemble", "e.csv", "--json"]);
    assert!(
        found.stderr.contains("1 objects have no label"),
        "{}",
        found.stderr
    );
    assert_eq!(found.json()["objects"], 5);
    place.file("few.csv", "object,label\na,t\nb,t\nd,u\n");
    place
        .partita(&["evaluate", "few.csv", "--ensemble", "e.csv"])
        .refused(&["'c' is not in few.csv", "--common"]);
    let common = place
        .partita(&[
            "evaluate",
            "few.csv",
            "--ensemble",
            "e.csv",
            "--common",
            "--json",
        ])
        .json();
    assert_eq!(
        (&common["objects"], &common["anmi"]),
        (&3.into(), &1.0.into())
    );
    place
        .partita(&["evaluate", "few.csv"])
        .refused_by_parser(&["--truth", "--ensemble"]);
}

/// The numbers of a matrix that `write_table` wrote as CSV, without its names.
fn matrix(place: &Workplace, name: &str) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(place.path(name)).expect("a matrix");
    let number = |cell: &str| cell.parse().unwrap_or(f64::NAN);
    text.lines()
        .skip(1)
        .map(|line| line.split(',').skip(1).map(number).collect())
        .collect()
}

#[test]
fn the_co_association_is_written_whole_or_as_pairs() {
    let place = Workplace::new();
    place.file("e.csv", ENSEMBLE);
    let inspect = |more: &[&str]| place.partita(&[&["inspect", "e.csv"], more].concat());
    let text = inspect(&["--co-association", "all.csv", "--agreement", "bases.csv"]).fine();
    assert!(text.contains("kind: ensemble"), "{text}");
    let all = matrix(&place, "all.csv");
    assert_eq!(
        all[2],
        [2.0 / 3.0, 2.0 / 3.0, 1.0, 1.0 / 3.0, 1.0 / 3.0, 0.0]
    );
    assert_eq!(all[5], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0], "z does not know f");
    let bases = matrix(&place, "bases.csv");
    assert_eq!(bases[0][..2], [1.0, 1.0]);
    assert!(bases[0][2] < 1.0 && bases[0][2] == bases[2][0]);

    inspect(&["--co-association", "pairs.csv", "--least-share", "0.5"]).fine();
    let pairs = fs::read_to_string(place.path("pairs.csv")).unwrap();
    let expected = format!(
        "first,second,share\na,b,1\na,c,{0}\nb,c,{0}\nd,e,1\nd,f,1\ne,f,1\n",
        2.0 / 3.0
    );
    assert_eq!(pairs, expected);
    inspect(&[
        "--co-association",
        "pairs.npz",
        "--least-share",
        "0.5",
        "--json",
    ])
    .json();
    let facts = place.partita(&["inspect", "pairs.npz", "--json"]).json();
    assert_eq!(
        (&facts["kind"], &facts["objects"]),
        (&"sparse table".into(), &6.into()),
        "{facts}"
    );
    inspect(&["--co-association", "all.npy"]).fine();
    assert!(fs::read(place.path("all.npy")).unwrap().len() > 8 * 36);
}

#[test]
fn matrices_that_cannot_be_had_are_refused_with_the_remedy() {
    let place = Workplace::new();
    place.file("e.csv", ENSEMBLE);
    let inspect =
        |more: &[&str]| place.partita(&[&["inspect", "e.csv", "--co-association"], more].concat());
    inspect(&["m.parquet", "--least-share", "0.5"]).refused(&["m.parquet", ".npz", ".csv"]);
    inspect(&["m.csv", "--least-share", "1.5"]).refused(&["1.5", "at most 1"]);
    let many: String = (0..400).map(|i| format!("{}\n", i % 3)).collect();
    place.file("many.csv", format!("x\n{many}"));
    let beyond = [
        "inspect",
        "many.csv",
        "--co-association",
        "m.csv",
        "--max-memory",
        "200KB",
    ];
    place
        .partita(&beyond)
        .refused(&["co-association", "fewer objects", "least share"]);
    inspect(&["e.csv"]).refused(&["e.csv", "is an input"]);
    place
        .partita(&["inspect", "e.csv", "--least-share", "0.5"])
        .refused_by_parser(&["--co-association"]);
    assert!(!place.files().iter().any(|name| name.starts_with("m.")));
}

#[test]
fn trees_are_written_for_other_programs() {
    let place = Workplace::new();
    place.file("e.csv", ENSEMBLE);
    let consensus = |method: &str, tree: &str| {
        place.partita(&[
            "consensus",
            "e.csv",
            "-k",
            "2",
            "-m",
            method,
            "--tree",
            tree,
        ])
    };
    consensus("eac-average", "tree.csv").fine();
    let tree = fs::read_to_string(place.path("tree.csv")).unwrap();
    let lines: Vec<&str> = tree.lines().collect();
    assert_eq!(
        (lines[0], lines.len()),
        ("left,right,height,objects", 6),
        "{tree}"
    );
    assert!(
        lines[5].ends_with(",6") || lines[5].ends_with(",6.0"),
        "the last merge has all objects: {tree}"
    );
    consensus("eac-average", "tree.npy").fine();
    consensus("mm", "no.csv").refused(&["mm has no tree", "eac-average"]);
}

#[test]
fn ensembles_are_merged_side_by_side() {
    let place = Workplace::new();
    place.file("e.csv", ENSEMBLE);
    place.file(
        "w.csv",
        "object,w,label\nf,2,q\ne,2,q\nd,2,q\nc,1,p\nb,1,p\n",
    );
    let merged = place.partita(&["merge", "e.csv", "w.csv", "-o", "all.npz", "--json"]);
    assert!(
        merged
            .stderr
            .contains("4 base clusterings of 6 objects are in all.npz"),
        "{}",
        merged.stderr
    );
    let merged = merged.json();
    assert_eq!(
        (&merged["n"], &merged["base_clusterings"], &merged["asked"]),
        (&6.into(), &4.into(), &Value::Null)
    );
    let read = read_ensemble(&place.path("all.npz"), &ReadOptions::default()).unwrap();
    assert_eq!(read.ensemble.label(0, 3), None, "w does not know a");
    assert_eq!(read.truth.unwrap().values[1].as_deref(), Some("p"));
    // The same bytes as the consensus of the files that were merged.
    let consensus = |files: &[&str]| {
        place
            .partita(&[&["consensus", "-k", "2"], files].concat())
            .fine()
    };
    assert_eq!(consensus(&["all.npz"]), consensus(&["e.csv", "w.csv"]));
    place
        .partita(&["merge", "e.csv", "--skip", "z", "-o", "two.parquet"])
        .fine();
    assert_eq!(
        place.partita(&["inspect", "two.parquet", "--json"]).json()["base_clusterings"],
        2
    );
}
