//! `partita update`: base clusterings and objects added to an ensemble; draws from a posterior as an ensemble.

use std::fmt::Write as _;

use crate::common::Workplace;

/// Noisy labels of four tools for some objects of three groups.
fn tools(objects: std::ops::Range<usize>) -> String {
    let mut text = "cell,a,b,c,d\n".to_owned();
    for i in objects {
        let label = |tool: usize| {
            if (i * 7 + tool * 5).is_multiple_of(11) {
                (i + 1) % 3
            } else {
                i % 3
            }
        };
        let _ = writeln!(
            text,
            "x{i},{},{},k{},k{}",
            label(0),
            label(1),
            label(2),
            label(3)
        );
    }
    text
}

#[test]
fn objects_and_base_clusterings_are_added_and_overlaps_grow() {
    let place = Workplace::new();
    place.file("first.csv", tools(0..60));
    place.file("more.csv", tools(60..90));
    place.file("all.csv", tools(0..90));
    let mut run = "cell,e\n".to_owned();
    (0..90).rev().filter(|i| i % 9 != 4).for_each(|i| {
        let _ = writeln!(run, "x{i},{}", i % 3 * 2);
    });
    place.file("run.csv", run);
    let add = |from: &str, add: &str, to: &str| {
        place
            .partita(&[
                "update",
                from,
                "--add",
                add,
                "-o",
                to,
                "--overlap",
                "overlap.npz",
                "--json",
            ])
            .json()
    };
    // Of the first file alone the table is counted, with the second it grows.
    let one = add("first.csv", "more.csv", "grown.npz");
    assert_eq!(
        (&one["adding"], &one["n"], &one["overlap"]),
        (&"rows".into(), &90.into(), &"counted".into())
    );
    let two = add("grown.npz", "run.csv", "larger.npz");
    let told = (&two["adding"], &two["base_clusterings"], &two["overlap"]);
    assert_eq!(told, (&"runs".into(), &5.into(), &"grown".into()));
    let grown = std::fs::read(place.path("overlap.npz")).expect("a table");
    std::fs::remove_file(place.path("overlap.npz")).expect("a table");
    assert_eq!(add("all.csv", "run.csv", "cold.npz")["overlap"], "counted");
    assert!(
        grown == std::fs::read(place.path("overlap.npz")).expect("a table"),
        "to the bit what is counted anew"
    );
    let labels = |name: &str| {
        place
            .partita(&["consensus", name, "-m", "lwgp", "-k", "3"])
            .fine()
    };
    assert_eq!(labels("larger.npz"), labels("cold.npz"));
}

/// The true classes are in the first file alone: what is added need not have them.
#[test]
fn columns_that_are_asked_for_may_be_in_the_first_file_alone() {
    let place = Workplace::new();
    let labels = |i: usize| format!("x{i},{},{},type{}\n", i % 3, (i + i / 20) % 3, i % 3);
    place.file(
        "first.csv",
        "cell,a,b,celltype\n".to_owned() + &(0..30).map(labels).collect::<String>(),
    );
    place.file(
        "run.csv",
        "cell,c\n".to_owned()
            + &(0..30)
                .map(|i| format!("x{i},{}\n", i % 3))
                .collect::<String>(),
    );
    let update = |truth: &str| {
        place.partita(&[
            "update",
            "first.csv",
            "--add",
            "run.csv",
            "--truth",
            truth,
            "-o",
            "all.npz",
            "--force",
            "--json",
        ])
    };
    assert_eq!(update("celltype").json()["base_clusterings"], 3);
    let scored = place.partita(&["consensus", "all.npz", "-k", "3", "-o", "l.csv"]);
    assert!(
        scored.stderr.contains("ARI 1.000 against the truth"),
        "{}",
        scored.stderr
    );
    update("cell_type").refused(&["cell_type", "celltype"]);
}

#[test]
fn labels_go_on_from_where_they_were() {
    let place = Workplace::new();
    place.file("first.csv", tools(0..60));
    place.file("two.csv", tools(60..62));
    let model = ["--model", "m.json"];
    place
        .partita(
            &[
                &[
                    "consensus",
                    "first.csv",
                    "-m",
                    "mm",
                    "-k",
                    "3",
                    "-o",
                    "labels.csv",
                ][..],
                &model,
            ]
            .concat(),
        )
        .fine();
    let before = std::fs::read_to_string(place.path("labels.csv")).expect("labels");
    for start in ["labels.csv", "m.json"] {
        let arguments = [
            "update",
            "first.csv",
            "--add",
            "two.csv",
            "-o",
            "new.csv",
            "--force",
            "--warm-start",
            start,
        ];
        let done = place.partita(&[&arguments[..], &["--labels", "after.csv"]].concat());
        let said = "2 objects added: 62 objects, 4 base clusterings; 3 clusters, 0 labels";
        assert!(done.stderr.contains(said), "{}", done.stderr);
        done.fine();
        let after = std::fs::read_to_string(place.path("after.csv")).expect("labels");
        let label = |text: &str, i: usize| {
            text.lines()
                .nth(i + 1)
                .and_then(|line| line.split(',').nth(1))
                .map(str::to_owned)
        };
        assert!(
            (0..60).all(|i| label(&before, i) == label(&after, i)),
            "{after}"
        );
        assert_eq!(
            label(&after, 60),
            label(&before, 57),
            "a new object of the first group"
        );
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let place = Workplace::new();
    place.file("first.csv", tools(0..30));
    place.file("again.csv", tools(20..40));
    place.file("part.csv", "cell,a,z\nx1,1,1\nx2,2,2\nx3,0,1\n");
    place.file("other.csv", "cell,z\nx1,1\nx99,2\nx3,0\n");
    place.file("a.csv", "p,q\n1,1\n2,2\n2,1\n");
    place.file("b.csv", "q,p\n1,1\n2,3\n2,1\n");
    place.file("short.csv", "r\n1\n2\n");
    let update = |from: &str, add: &str, more: &[&str]| {
        place.partita(&[&["update", from, "--add", add, "-o", "new.csv"], more].concat())
    };
    update("first.csv", "again.csv", &[]).refused(&["object 'x20' is in first.csv already"]);
    update("first.csv", "part.csv", &[]).refused(&["column 'a' is in both files"]);
    update("first.csv", "other.csv", &[])
        .refused(&["1 of its objects are not in first.csv, such as 'x99'"]);
    update("a.csv", "b.csv", &[]).refused(&["say --as rows"]);
    update("a.csv", "short.csv", &[]).refused(&["it has 2 objects, a.csv has 3"]);
    update("a.csv", "b.csv", &["--as", "runs"]).refused(&["has a base clustering 'q' already"]);
    place
        .partita(&["update", "a.csv", "--add", "b.csv"])
        .refused(&["would be replaced", "-o"]);
    let grown = update("a.csv", "b.csv", &["--as", "rows"]);
    assert!(
        grown
            .stderr
            .contains("new labels in base clustering 'p': 3"),
        "{}",
        grown.stderr
    );
    grown.fine();
    let text = std::fs::read_to_string(place.path("new.csv")).expect("the ensemble");
    assert_eq!(text, "p,q\n1,1\n2,2\n2,1\n1,1\n3,2\n1,2\n");
}

#[test]
fn draws_are_an_ensemble_and_similar_pairs_a_table() {
    let place = Workplace::new();
    place.file("first.csv", tools(0..45));
    let settings = [
        "--set",
        "sweeps=40",
        "--set",
        "keep=10",
        "--set",
        "burn_in=20",
        "--set",
        "chains=2",
    ];
    let outputs = [
        "--draws",
        "draws.npz",
        "--similarity",
        "pairs.csv",
        "--least-similarity",
        "0.5",
        "-o",
        "out/",
    ];
    let arguments = ["consensus", "first.csv", "-m", "nbce-gibbs", "-k", "6"];
    place
        .partita(&[&arguments[..], &settings, &outputs].concat())
        .fine();
    let modes = place.partita(&["modes", "draws.npz", "--json"]).json();
    assert_eq!(
        (&modes["base_clusterings"], &modes["n"]),
        (&20.into(), &45.into())
    );
    let pairs = std::fs::read_to_string(place.path("pairs.csv")).expect("pairs");
    assert!(
        pairs.starts_with("first,second,similarity\nx0,x"),
        "{}",
        &pairs[..60]
    );
    let bounds = std::fs::read_to_string(place.path("out/credible_bounds.csv")).expect("bounds");
    assert_eq!(
        (bounds.lines().count(), bounds.lines().next()),
        (46, Some("object,horizontal,upper,lower"))
    );
    assert!(place.path("out/posterior.csv").exists());
    place
        .partita(&["consensus", "first.csv", "-k", "3", "--draws", "d.npz"])
        .refused(&["lwgp draws no partitions"]);
}
