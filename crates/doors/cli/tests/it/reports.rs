//! Pages about runs, rows picked by label, weights of base clusterings, and models judged by perplexity.

use crate::common::{Workplace, cells, shipped};

#[test]
fn a_run_leaves_a_page_and_report_makes_it_again() {
    let place = Workplace::new();
    let iris = shipped("iris.csv");
    let run = [
        "run",
        &iris,
        "--label",
        "label",
        "-k",
        "3",
        "-m",
        "eac-average,pcc-kl",
        "--base",
        "kmeans:20",
        "-o",
        "out",
    ];
    place.partita(&run).fine();
    let pages = ["out/report.html", "out/pcc-kl/report.html"]
        .map(|page| std::fs::read_to_string(place.path(page)).unwrap());
    assert!(
        pages
            .iter()
            .all(|page| page.starts_with("<!doctype html>") && page.contains("iris.csv")),
        "{}",
        &pages[0][..200]
    );
    assert!(pages[1].contains("pcc-kl"));

    place.partita(&["report", "out"]).fine();
    place
        .partita(&["report", "out", "-o", "out/report.html"])
        .refused(&["report.html", "--force"]);
    place
        .partita(&["report", "out", "-o", "again.html", "--figures", "figures"])
        .fine();
    assert!(
        place.path("figures/certainty.svg").is_file()
            && place.path("figures/certainty.csv").is_file()
    );
    place
        .partita(&["report", "out", "-m", "pcc-kl", "-o", "pcc.html"])
        .fine();
    let again = std::fs::read_to_string(place.path("pcc.html")).unwrap();
    assert_eq!(again, pages[1], "from the folder as from memory");
    place
        .partita(&["report", "out", "-m", "mm", "-o", "mm.html"])
        .refused(&["'mm'", "eac-average, pcc-kl"]);

    place.file("out/labels.csv", "object,label,certainty\n0,zero,1\n");
    place
        .partita(&["report", "out", "-o", "x.html"])
        .refused(&["labels.csv", "line 2", "label"]);
    assert!(!place.path("x.html").exists());
}

/// Every section, with the number of clusters open, several methods and a truth.
#[test]
fn a_report_has_all_that_a_run_found() {
    let place = Workplace::new();
    let iris = shipped("iris.csv");
    let run = [
        "run",
        &iris,
        "--label",
        "label",
        "-k",
        "2..4",
        "-m",
        "pcc-kl,eac-average",
        "--base",
        "kmeans:20",
        "-o",
        "out",
    ];
    place.partita(&run).fine();
    place
        .partita(&["report", "out", "-o", "page.html", "--figures", "figures"])
        .fine();
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    for section in [
        "summary", "sure", "evidence", "choice", "features", "bases", "map", "soft",
    ] {
        assert!(
            page.contains(&format!("<section id=\"{section}\"")),
            "{section}"
        );
    }
    // Features with effect sizes and corrected p values; the method, and what its certainty means.
    for word in [
        "Hochberg",
        "petal_length",
        "eac-average",
        "Cohen",
        "confidence",
    ] {
        assert!(page.contains(word), "'{word}' is not on the page");
    }
    let files = place.files();
    for figure in [
        "choice-cdf",
        "choice-delta",
        "choice-tree",
        "choice-membership",
        "membership",
        "certainty",
        "evidence",
    ] {
        assert!(
            files.contains(&format!("figures/{figure}.svg"))
                && files.contains(&format!("figures/{figure}.csv")),
            "{figure}"
        );
    }
    // "No clusters" is said at the top.
    let wine = shipped("wine.csv");
    place
        .partita(&[
            "run", &wine, "--label", "label", "-k", "auto", "--base", "kmeans:5", "-o", "none",
        ])
        .fine();
    let none = std::fs::read_to_string(place.path("none/report.html")).unwrap();
    let headline = none.split("<section").next().unwrap();
    assert!(
        headline.to_lowercase().contains("no clusters"),
        "{headline}"
    );
}

#[test]
fn no_report_means_none() {
    let place = Workplace::new();
    place
        .partita(&[
            "run",
            &shipped("iris.csv"),
            "-k",
            "3",
            "--base",
            "kmeans:5",
            "--no-report",
            "-o",
            "out",
        ])
        .fine();
    assert!(!place.path("out/report.html").exists() && place.path("out/labels.csv").exists());
}

#[test]
fn rows_are_picked_by_their_labels() {
    let place = Workplace::new();
    let iris = shipped("iris.csv");
    let pick = [
        "run",
        &iris,
        "--label",
        "label",
        "--only",
        "setosa,virginica",
        "--per-label",
        "30",
        "-k",
        "2",
        "--base",
        "kmeans:10",
    ];
    let ended = place.partita(&[&pick[..], &["--json", "-o", "out"]].concat());
    assert!(ended.stderr.contains("60 of 150 rows"), "{}", ended.stderr);
    let record = ended.json();
    assert_eq!(
        (&record["n"], &record["scores"]["h"]),
        (&60.into(), &1.0.into())
    );
    assert!(record["read"]["seconds"].is_number());
    let again = place
        .partita(&[&pick[..], &["--json", "-o", "again"]].concat())
        .json();
    assert_eq!(
        again["anmi"], record["anmi"],
        "the same seed draws the same rows"
    );
    place
        .partita(&[
            "run", &iris, "--label", "label", "--only", "tulip", "-k", "2", "-o", "x",
        ])
        .refused(&["'tulip'", "setosa"]);
    assert_eq!(
        place
            .partita(&["run", &iris, "--only", "setosa", "-k", "2", "-o", "x"])
            .code,
        Some(2),
        "--label is missing"
    );
}

#[test]
fn base_clusterings_are_weighted_by_agreement_or_by_a_file() {
    let place = Workplace::new();
    place.file("e.csv", "a,b,c\n0,0,0\n0,0,1\n0,0,0\n1,1,1\n1,1,0\n1,0,1\n");
    let consensus = [
        "consensus",
        "e.csv",
        "-m",
        "plurality",
        "-k",
        "2",
        "--json",
        "--base-weights",
    ];
    place
        .partita(&[&consensus[..], &["agreement"]].concat())
        .json();
    place.file("w.csv", "name,weight\nc,100\na,1\nb,1\n");
    place
        .partita(&[&consensus[..], &["w.csv", "-o", "l.csv"]].concat())
        .json();
    let labels = std::fs::read_to_string(place.path("l.csv")).unwrap();
    let labels: Vec<&str> = labels
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap())
        .collect();
    let like_c = [0, 1, 0, 1, 0, 1].map(|label| labels[label]);
    assert_eq!(labels, like_c, "c outweighs the others");
    place.file("w.csv", "name,weight\nc,100\na,1\n");
    place
        .partita(&[&consensus[..], &["w.csv"]].concat())
        .refused(&["w.csv", "'b'"]);
    place.file("w.csv", "name,weight\nc,-1\na,1\nb,x\n");
    place
        .partita(&[&consensus[..], &["w.csv"]].concat())
        .refused(&["'x'", "'b'"]);
}

#[test]
fn a_model_is_judged_by_rows_it_has_not_seen() {
    let place = Workplace::new();
    place.file("e.csv", "a,b\n0,x\n0,x\n0,x\n1,y\n1,y\n1,y\n");
    place
        .partita(&[
            "consensus",
            "e.csv",
            "-m",
            "mm",
            "-k",
            "2",
            "-o",
            "l.csv",
            "--model",
            "m.json",
        ])
        .fine();
    place.file("new.csv", "b,a\nx,0\n,1\ny,1\nz,0\n");
    let ended = place.partita(&[
        "evaluate",
        "--model",
        "m.json",
        "--held-out",
        "new.csv",
        "--json",
    ]);
    assert!(
        ended.stderr.contains("1 labels are new"),
        "{}",
        ended.stderr
    );
    let found = ended.json();
    assert_eq!((&found["labels"], &found["unread"]), (&6.into(), &1.into()));
    let perplexity = found["perplexity"].as_f64().unwrap();
    assert!((1.0..2.0).contains(&perplexity), "{perplexity}");
    assert_eq!(
        place.partita(&["evaluate", "--model", "m.json"]).code,
        Some(2)
    );
    place.file("other.csv", "q\n1\n2\n");
    place
        .partita(&["evaluate", "--model", "m.json", "--held-out", "other.csv"])
        .refused(&["m.json"]);
}

#[test]
fn how_many_clusters_a_table_or_an_ensemble_has() {
    let place = Workplace::new();
    let iris = shipped("iris.csv");
    let of_table = [
        "choose-k", &iris, "--label", "label", "-k", "2..4", "--set", "runs=30", "--set",
        "draws=8", "-o", "c.json",
    ];
    let text = place.partita(&of_table).fine();
    assert!(
        text.contains("rcsi") && text.contains("<- chosen"),
        "{text}"
    );
    let run = [
        "run",
        &iris,
        "--label",
        "label",
        "-k",
        "3",
        "--base",
        "kmeans:20",
        "--no-report",
        "-o",
        "out",
    ];
    place.partita(&run).fine();
    place
        .partita(&["report", "out", "--choice", "c.json"])
        .fine();
    place
        .partita(&[
            "report",
            "out",
            "--choice",
            "out/record.json",
            "-o",
            "x.html",
        ])
        .refused(&["record.json", "choose-k -o"]);
    let found = place
        .partita(&["choose-k", "out/ensemble.npz", "-k", "2..6", "--json"])
        .json();
    assert!(
        (2..=6).contains(&found["clusters"].as_u64().unwrap()),
        "agreement is there: {}",
        found["reason"]
    );
    assert_eq!(found["rows"].as_array().unwrap().len(), 5);
    place
        .partita(&[
            "choose-k",
            "out/ensemble.npz",
            "-m",
            "no-such",
            "-k",
            "2..6",
        ])
        .refused(&["no-such"]);
    place
        .partita(&["choose-k", &iris, "--set", "runs=1"])
        .refused(&["'runs' is 1", "from 2"]);
}

#[test]
fn settings_go_to_all_methods_or_to_the_one_named() {
    let place = Workplace::new();
    let iris = shipped("iris.csv");
    let run = [
        "run",
        &iris,
        "-k",
        "3",
        "--base",
        "kmeans:10",
        "-m",
        "pcc-kl,pcc-l2",
        "--no-report",
    ];
    let set = [
        "--set",
        "restarts=1",
        "--set",
        "pcc-l2.tolerance=0.01",
        "--json",
        "-o",
        "out",
    ];
    let record = place.partita(&[&run[..], &set].concat()).json();
    let setting = |method: usize, name: &str| record["methods"][method]["settings"][name].as_f64();
    assert_eq!(
        (setting(0, "restarts"), setting(1, "restarts")),
        (Some(1.0), Some(1.0))
    );
    assert!(setting(0, "tolerance") < Some(0.01) && setting(1, "tolerance") == Some(0.01));
    place
        .partita(&[&run[..], &["--set", "mm.restarts=1", "-o", "x"]].concat())
        .refused(&["'mm'", "pcc-kl,pcc-l2"]);
    let refused = place.partita(&[&run[..], &["--set", "nonsense=1", "-o", "x"]].concat());
    assert_eq!(
        refused.stderr.matches("there is no setting").count(),
        1,
        "said once: {}",
        refused.stderr
    );
    refused.refused(&["nonsense"]);
}

#[test]
fn the_command_on_the_page_repeats_the_run_as_it_stands_there() {
    let place = Workplace::new();
    place
        .partita(&[
            "run",
            &shipped("iris.csv"),
            "-k",
            "3",
            "--base",
            "kmeans:5",
            "-o",
            "out/",
        ])
        .fine();
    let page = std::fs::read_to_string(place.path("out/report.html")).unwrap();
    let text = page
        .split("<pre id=\"command\">")
        .nth(1)
        .and_then(|rest| rest.split("</pre>").next())
        .unwrap();
    let text = &text.replace("&amp;", "&");
    let binary = assert_cmd::cargo::cargo_bin!("partita");
    let search = format!(
        "{}:{}",
        binary.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let done = std::process::Command::new("sh")
        .args(["-ec", text])
        .env("PATH", search)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let labels = ["out/labels.csv", "out-again/labels.csv"]
        .map(|file| std::fs::read(place.path(file)).unwrap());
    assert_eq!(labels[0], labels[1]);
}

/// Rows that are not held have a page too: the tables of all objects, here those of a page of rows in memory.
#[test]
fn rows_that_are_not_held_have_a_page() {
    let place = Workplace::new();
    let label = |i: usize, u: usize| {
        if (i * 7 + u * 3).is_multiple_of(19) {
            (i + u) % 4
        } else {
            (i % 4 + u) % 4
        }
    };
    let row = |i: usize| {
        (0..9)
            .map(|u| label(i, u).to_string())
            .collect::<Vec<_>>()
            .join(",")
            + "\n"
    };
    place.file(
        "e.csv",
        &("a,b,c,d,e,f,g,h,i\n".to_owned() + &(0..400).map(row).collect::<String>()),
    );
    place.partita(&["merge", "e.csv", "-o", "e.parquet"]).fine();
    place
        .partita(&["manifest", "e.parquet", "-o", "m.json"])
        .fine();
    place
        .partita(&[
            "consensus",
            "e.parquet",
            "-k",
            "4",
            "-m",
            "kc",
            "-o",
            "held.csv",
            "--report",
            "held.html",
        ])
        .fine();
    place
        .partita(&[
            "consensus",
            "m.json",
            "-k",
            "4",
            "-m",
            "kc",
            "-o",
            "out/",
            "--report",
            "also.html",
        ])
        .fine();
    let page = |name: &str| std::fs::read_to_string(place.path(name)).unwrap();
    let (held, read) = (page("held.html"), page("out/report.html"));
    assert_eq!(read, page("also.html"));
    assert_eq!(cells(&held, "bases-table"), cells(&read, "bases-table"));
    assert_eq!(
        cells(&held, "clusters-table").len(),
        cells(&read, "clusters-table").len()
    );
    assert!(read.contains("400 objects in 4 clusters") && read.contains("map-evidence"));

    place
        .partita(&[
            "consensus",
            "m.json",
            "-k",
            "4",
            "-o",
            "none/",
            "--no-report",
        ])
        .fine();
    assert!(place.path("none/labels.csv").is_file() && !place.path("none/report.html").exists());
    place
        .partita(&["consensus", "m.json", "-k", "4", "--report", "m.json"])
        .refused(&["m.json"]);
}
