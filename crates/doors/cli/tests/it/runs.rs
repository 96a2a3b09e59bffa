//! `modes` and `align`: several answers, and runs in common columns.

use std::fs;

use crate::common::Workplace;

/// Twelve base clusterings: eight split 40 objects by half, four by parity, one object in ten wrong.
fn two_answers() -> String {
    let names: Vec<String> = (0..12).map(|run| format!("run{run}")).collect();
    let label = |i: usize, run: usize| {
        let right = if run < 8 { i / 20 } else { i % 2 };
        let wrong = (i * 7 + run * 11).is_multiple_of(10);
        ["a", "b"][(right + usize::from(wrong) + run) % 2]
    };
    let row = |i: usize| {
        format!(
            "cell{i},{}\n",
            (0..12)
                .map(|run| label(i, run))
                .collect::<Vec<_>>()
                .join(",")
        )
    };
    format!(
        "cell,{}\n{}",
        names.join(","),
        (0..40).map(row).collect::<String>()
    )
}

#[test]
fn two_answers_are_found_and_written() {
    let place = Workplace::new();
    place.file("e.csv", two_answers());
    let found = place
        .partita(&["modes", "e.csv", "-o", "modes/", "--json"])
        .json();
    let modes = found["modes"].as_array().expect("modes");
    assert_eq!(modes.len(), 2, "{found}");
    assert!((modes[0]["share"].as_f64().expect("a share") - 8.0 / 12.0).abs() < 1e-12);
    assert_eq!(
        (
            modes[0]["members"][7].as_str(),
            modes[1]["members"][0].as_str()
        ),
        (Some("run7"), Some("run8"))
    );
    assert!(found["description_length"].as_f64().expect("a number") > 0.0);
    let saved: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path("modes/modes.json")).expect("a file"))
            .expect("JSON");
    assert_eq!(saved, found);
    let objects = fs::read_to_string(place.path("modes/objects.csv")).expect("a file");
    assert!(
        objects.starts_with("object,mode1,mode2,disagreement\ncell0,"),
        "{objects}"
    );
    let labels = place
        .partita(&[
            "evaluate",
            "modes/mode2/labels.csv",
            "--truth",
            "e.csv:run9",
            "--json",
        ])
        .json();
    assert!(labels["ari"].as_f64().expect("an index") > 0.5);
    let said = place.partita(&["modes", "e.csv"]).fine();
    assert!(
        said.contains("2 answers: 67 % (2 clusters), 33 % (2 clusters)"),
        "{said}"
    );
    // The same bytes on one thread; one answer is said plainly.
    let again = place
        .partita(&["modes", "e.csv", "--json", "--threads", "1"])
        .json();
    assert_eq!(again, found);
    let few = place
        .partita(&["modes", "e.csv", "--skip", "run8,run9,run10,run11"])
        .fine();
    assert!(few.contains("one answer: the 8 base clusterings"), "{few}");
    place
        .partita(&["modes", "e.csv", "-o", "modes/"])
        .refused(&["holds something already"]);
    place
        .partita(&["modes", "absent.csv"])
        .refused(&["absent.csv"]);
}

#[test]
fn runs_of_several_programs_get_common_columns() {
    let place = Workplace::new();
    let shares = |i: usize, clusters: usize, shift: usize| {
        let share = |k: usize| {
            if (i / 5 % clusters + shift) % clusters == k {
                0.8
            } else {
                0.2 / (clusters - 1) as f64
            }
        };
        (0..clusters)
            .map(share)
            .map(|share| format!("{share:.6}"))
            .collect::<Vec<_>>()
    };
    let admixture = |clusters: usize, shift: usize| {
        (0..60)
            .map(|i| shares(i, clusters, shift).join(" ") + "\n")
            .collect::<String>()
    };
    place.file("a.3.Q", admixture(3, 0));
    place.file("b.3.meanQ", admixture(3, 2));
    let structure = |i: usize| {
        format!(
            "{} s{i} (0) {} : {}\n",
            i + 1,
            i / 30,
            shares(i, 3, 1).join(" ")
        )
    };
    place.file(
        "c_f",
        format!(
            "STRUCTURE by some\n\n{}",
            (0..60).map(structure).collect::<String>()
        ),
    );
    place.file(
        "d.csv",
        format!(
            "x\n{}",
            (0..60)
                .map(|i| format!("{}\n", ["u", "v", "w"][i / 5 % 3]))
                .collect::<String>()
        ),
    );
    let found = place
        .partita(&[
            "align",
            "a.3.Q",
            "b.3.meanQ",
            "c_f",
            "d.csv",
            "-o",
            "out",
            "--similarity",
            "0.8",
            "--json",
        ])
        .json();
    assert_eq!(found["modes"].as_array().map(Vec::len), Some(1), "{found}");
    let colours = |run: usize| found["runs"][run]["colours"].clone();
    let of_first = colours(0);
    let shifted = |by: usize| {
        serde_json::json!(
            (0..3)
                .map(|k| of_first[(k + 3 - by) % 3].clone())
                .collect::<Vec<_>>()
        )
    };
    assert_eq!(
        (colours(1), colours(2), colours(3)),
        (shifted(2), shifted(1), of_first.clone())
    );
    let costs: Vec<f64> = (0..4)
        .filter_map(|run| found["runs"][run]["cost"].as_f64())
        .collect();
    assert!(
        costs.iter().filter(|cost| **cost < 1e-10).count() >= 3,
        "{costs:?}"
    );
    let picture = fs::read_to_string(place.path("out/memberships.svg")).expect("a picture");
    assert!(picture.starts_with("<svg") && picture.contains("K = 3, 100 % of the runs"));
    let aligned = fs::read_to_string(place.path("out/aligned/002-b.3.csv")).expect("a run");
    assert_eq!(
        aligned.lines().nth(1),
        fs::read_to_string(place.path("out/aligned/001-a.3.csv"))
            .expect("a run")
            .lines()
            .nth(1)
    );
    for file in ["runs.csv", "modes.csv", "columns.csv", "alignment.json"] {
        assert!(place.path("out").join(file).exists(), "{file}");
    }
    place.file("bad.Q", "0.5 0.5\n0.5 0.6\n");
    place
        .partita(&["align", "bad.Q", "-o", "no"])
        .refused(&["bad.Q", "row 2", "sum to 1.1"]);
    place.file("short.Q", "0.5 0.5\n");
    place
        .partita(&["align", "a.3.Q", "short.Q", "-o", "no"])
        .refused(&["60 objects", "'short' has 1"]);
    place.file("twice.csv", "object,p0,p1\nb,0.5,0.5\nb,0.2,0.8\n");
    place.file("other.csv", "object,p0,p1\nb,0.5,0.5\na,0.2,0.8\n");
    place
        .partita(&["align", "twice.csv", "other.csv", "-o", "no"])
        .refused(&["twice.csv", "both called 'b'"]);
    place
        .partita(&["align", "a.3.Q", "-o", "no", "--similarity", "2"])
        .refused_by_parser(&["between 0 and 1"]);
}

/// Six soft runs of 60 objects in three groups, columns in turn.
fn soft_runs(place: &Workplace) -> String {
    fs::create_dir(place.path("q")).expect("a folder");
    let share = |i: usize, run: usize, k: usize| {
        if (i + run) % 3 == k {
            0.7
        } else {
            0.1 + 0.1 * ((i + k) % 2) as f64
        }
    };
    let row = |i: usize, run: usize| {
        let shares: Vec<f64> = (0..3).map(|k| share(i, run, k)).collect();
        let sum: f64 = shares.iter().sum();
        shares
            .into_iter()
            .map(|share| format!("{:.6}", share / sum))
            .collect::<Vec<_>>()
    };
    for run in 0..6 {
        let text: String = (0..60).map(|i| row(i, run).join(" ") + "\n").collect();
        place.file(&format!("q/run{run}.3.Q"), text);
    }
    let names: Vec<String> = (0..6)
        .flat_map(|run| (0..3).map(move |k| format!("run{run}.p{k}")))
        .collect();
    let line = |i: usize| {
        (0..6)
            .flat_map(|run| row(i, run))
            .collect::<Vec<_>>()
            .join(",")
    };
    let rows: String = (0..60)
        .map(|i| format!("s{i},{},{}\n", line(i), ["x", "y", "z"][i % 3]))
        .collect();
    format!("sample,{},truth\n{rows}", names.join(","))
}

#[test]
fn soft_runs_are_one_consensus() {
    let place = Workplace::new();
    let wide = soft_runs(&place);
    place.file("wide.csv", wide);
    for method in ["lwgp", "soft-mean", "mm", "eac-average"] {
        let record = place
            .partita(&[
                "consensus",
                "wide.csv",
                "-k",
                "3",
                "-m",
                method,
                "-o",
                &format!("{method}/"),
                "--json",
            ])
            .json();
        let text = record.to_string();
        assert!(text.contains("\"ari\":1.0"), "{method}: {text}");
    }
    let said = place.partita(&["consensus", "wide.csv", "-k", "3", "-o", "a.csv"]);
    assert!(
        said.stderr
            .contains("soft base clusterings 'run0' (3 shares)"),
        "{}",
        said.stderr
    );
    place
        .partita(&["consensus", "q", "-k", "3", "-o", "folder.csv"])
        .fine();
    for name in ["a.csv", "folder.csv"] {
        let text = fs::read_to_string(place.path(name)).expect("a file");
        let labels: Vec<&str> = text
            .lines()
            .skip(1)
            .map(|line| line.split(',').nth(1).unwrap_or_default())
            .collect();
        assert!(
            (3..60).all(|i| labels[i] == labels[i % 3]) && labels[0] != labels[1],
            "{name}: {text}"
        );
    }
    place
        .partita(&[
            "consensus",
            "wide.csv",
            "-k",
            "3",
            "-m",
            "hgpa",
            "-o",
            "b.csv",
        ])
        .refused(&["hgpa", "--harden"]);
    place
        .partita(&[
            "consensus",
            "wide.csv",
            "-k",
            "3",
            "-m",
            "hgpa",
            "--harden",
            "-o",
            "b.csv",
        ])
        .fine();
    // A run is repeated from its record, with how its columns were read.
    place
        .partita(&["run", "--from", "lwgp/record.json", "-o", "again/"])
        .fine();
    let labels = |folder: &str| fs::read(place.path(folder).join("labels.csv")).expect("labels");
    assert_eq!(labels("again"), labels("lwgp"));
    let found = place.partita(&["inspect", "q", "--json"]).json();
    assert_eq!(
        (found["soft"].as_bool(), found["base_clusterings"].as_u64()),
        (Some(true), Some(6))
    );
    place
        .partita(&[
            "align",
            "q/run0.3.Q",
            "q/run1.3.Q",
            "-o",
            "aligned/",
            "--ensemble",
            "runs.npz",
        ])
        .fine();
    place
        .partita(&[
            "consensus",
            "runs.npz",
            "-k",
            "3",
            "-m",
            "soft-mean",
            "-o",
            "c.csv",
        ])
        .fine();
}
