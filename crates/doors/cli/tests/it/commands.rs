//! The other commands, and the contract that scripts rely on.

use crate::common::{Workplace, shipped, three_groups};
use serde_json::Value;

#[test]
fn evaluate_prints_every_score() {
    let place = Workplace::new();
    place.file(
        "l.csv",
        "object,label,certainty\n0,1,1\n1,1,1\n2,0,1\n3,0,1\n",
    );
    place.file("t.csv", "x,kind\n1,a\n2,a\n3,a\n4,b\n");
    let scores = place
        .partita(&["evaluate", "l.csv", "--truth", "t.csv:kind", "--json"])
        .json();
    for key in ["h", "ari", "ami", "nmi", "vi", "purity", "f1", "js"] {
        assert!(scores.get(key).is_some(), "{key} is not in {scores}");
    }
    let numbers =
        |key: &str, parts: &[&str]| parts.iter().all(|part| scores[key][part].is_number());
    assert!(
        numbers("nmi", &["max", "arithmetic", "geometric", "min"]),
        "{scores}"
    );
    assert!(
        numbers("f1", &["best_class", "best_cluster", "pairwise"]),
        "{scores}"
    );
    assert_eq!(
        (&scores["h"], &scores["purity"], &scores["js"]),
        (&0.75.into(), &0.75.into(), &Value::Null)
    );
    let text = place
        .partita(&["evaluate", "l.csv", "--truth", "t.csv:kind"])
        .fine();
    assert!(
        text.contains("nmi geometric") && text.contains("0.7500"),
        "{text}"
    );
}

#[test]
fn evaluate_matches_objects_by_name() {
    let place = Workplace::new();
    place.file("l.csv", "object,label\nann,1\nbob,1\ncid,2\n");
    place.file("t.csv", "object,label\ncid,x\nann,y\nbob,y\n");
    assert_eq!(
        place
            .partita(&["evaluate", "l.csv", "--truth", "t.csv", "--json"])
            .json()["h"],
        1.0
    );
    place.file("u.csv", "object,label\ncid,x\nann,y\ndot,y\n");
    place
        .partita(&["evaluate", "l.csv", "--truth", "u.csv"])
        .refused(&["'bob'", "u.csv"]);
}

#[test]
fn soft_results_are_scored_under_the_best_permutation() {
    let place = Workplace::new();
    place.file("l.csv", "object,label\n0,0\n1,1\n");
    place.file("s.csv", "object,p0,p1\n0,0.75,0.25\n1,0,1\n");
    place.file("t.csv", "object,p0,p1\n0,0.25,0.75\n1,1,0\n");
    let soft = [
        "evaluate",
        "l.csv",
        "--truth",
        "l.csv",
        "--soft",
        "s.csv",
        "--soft-truth",
        "t.csv",
        "--json",
    ];
    assert_eq!(place.partita(&soft).json()["js"], 0.0);
    // In another order of the objects: matched by name.
    place.file("s.csv", "object,p0,p1\na,0.75,0.25\nb,0,1\nc,1,0\n");
    place.file("t.csv", "object,p0,p1\nc,0,1\na,0.25,0.75\nb,1,0\n");
    assert_eq!(place.partita(&soft).json()["js"], 0.0);
    place.file("t.csv", "object,p0,p1\na,0.25,0.75\nb,1,0\n");
    place
        .partita(&soft)
        .refused(&["object 'c' is not in t.csv", "--common"]);
}

#[test]
fn methods_are_listed_and_explained() {
    let place = Workplace::new();
    let all = place.partita(&["methods", "--json"]).json();
    let text = place.partita(&["methods"]).fine();
    for method in all["methods"].as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        assert!(text.contains(name), "{name} is not in:\n{text}");
        let explained = place.partita(&["methods", name]).fine();
        for setting in method["settings"].as_array().unwrap() {
            assert!(
                explained.contains(&format!("--set {}=", setting["name"].as_str().unwrap())),
                "{explained}"
            );
        }
    }
}

#[test]
fn methods_are_found_by_what_the_literature_calls_them() {
    let place = Workplace::new();
    let itk = place.partita(&["methods", "--search", "itk"]).fine();
    assert!(itk.contains("ITK: kcc ("), "{itk}");
    let salso = place
        .partita(&["methods", "--search", "SALSO", "--json"])
        .json();
    assert_eq!(salso["known_as"][0]["methods"][0], "median-vi");
    let huang = place
        .partita(&["methods", "--search", "huang, wang", "--json"])
        .json();
    assert!(
        huang["methods"]
            .as_array()
            .unwrap()
            .iter()
            .any(|name| name == "lwgp")
    );
    place
        .partita(&["methods", "--search", "no such thing"])
        .refused(&["no such thing", "partita methods"]);
}

#[test]
fn synthetic_tables_are_reproducible_and_can_be_inspected() {
    let place = Workplace::new();
    place
        .partita(&[
            "synth",
            "half-rings",
            "-n",
            "90",
            "--seed",
            "3",
            "-o",
            "a.csv",
        ])
        .fine();
    place
        .partita(&[
            "synth",
            "half-rings",
            "-n",
            "90",
            "--seed",
            "3",
            "-o",
            "b.csv",
        ])
        .fine();
    assert_eq!(
        std::fs::read(place.path("a.csv")).unwrap(),
        std::fs::read(place.path("b.csv")).unwrap()
    );
    let facts = place
        .partita(&["inspect", "a.csv", "--label", "label", "--json"])
        .json();
    assert_eq!(
        (&facts["kind"], &facts["objects"]),
        (&"table".into(), &90.into())
    );
    assert_eq!(facts["label"]["classes"].as_object().unwrap().len(), 2);
    place
        .partita(&["synth", "half-ring", "-n", "90", "-o", "c.csv"])
        .refused(&["half-ring", "half-rings"]);
}

#[test]
fn ensembles_say_how_they_were_made() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(30));
    for name in ["e.npz", "e.csv", "e.parquet"] {
        let made = [
            "generate", "t.csv", "--label", "kind", "--base", "kmeans:7", "--base-k", "2..4",
            "--json", "-o", name,
        ];
        assert_eq!(place.partita(&made).json()["base_clusterings"], 7);
        let facts = place
            .partita(&["inspect", name, "--as", "ensemble", "--json"])
            .json();
        assert_eq!(
            (&facts["objects"], &facts["base_clusterings"]),
            (&30.into(), &7.into()),
            "{name}"
        );
        assert_eq!(
            facts["truth"]["classes"].as_object().unwrap().len(),
            3,
            "{name}"
        );
        if name != "e.csv" {
            assert_eq!(facts["recipe"]["seed"], 0, "{name}: {facts}");
        }
    }
    let [npz, csv, parquet] = ["e.npz", "e.csv", "e.parquet"].map(|name| {
        place
            .partita(&["consensus", name, "-m", "pcc-l2", "-k", "3"])
            .fine()
    });
    assert!(
        npz == csv && csv == parquet,
        "the format of an ensemble changes nothing"
    );
}

#[test]
fn help_teaches_by_example() {
    let place = Workplace::new();
    for command in [
        "run",
        "generate",
        "consensus",
        "evaluate",
        "predict",
        "synth",
    ] {
        let help = place.partita(&[command, "--help"]).fine();
        assert!(help.contains(&format!("  partita {command} ")), "{help}");
    }
    assert!(
        place
            .partita(&["completions", "bash"])
            .fine()
            .contains("partita")
    );
    assert!(
        place.partita(&["man"]).fine().starts_with(".ie"),
        "a manual page"
    );
    assert_eq!(
        place.partita(&["--version"]).fine(),
        format!("partita {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(place.partita(&["ruin"]).code, Some(2));
}

#[test]
fn former_spellings_work_and_help_does_not_show_them() {
    let place = Workplace::new();
    let row = |i: usize| {
        format!(
            "{},{},{}\n",
            i % 3 * 5 + i % 2,
            ["red", "blue"][i % 2],
            ["u", "v", "w"][i % 3]
        )
    };
    place.file(
        "t.csv",
        format!("x,colour,kind\n{}", (0..60).map(row).collect::<String>()),
    );
    let generate = |flags: &[&str]| {
        let command = [
            "generate", "t.csv", "--base", "kmeans:3", "--base-k", "2..3", "-o", "e.csv", "--force",
        ];
        place.partita(&[&command[..], flags].concat()).fine();
        std::fs::read(place.path("e.csv")).expect("an ensemble")
    };
    for (old, new) in [
        (
            &["--label", "kind", "--one-hot"][..],
            &["--truth", "kind", "--encode", "one-hot"][..],
        ),
        (
            &["--label", "kind", "--codes"],
            &["--truth", "kind", "--encode", "ordinal"],
        ),
        (
            &["--label", "kind", "--codes", "--fill"],
            &["--truth", "kind", "--encode", "ordinal", "--impute", "mean"],
        ),
        (
            &[
                "--label",
                "kind",
                "--codes",
                "--only",
                "u,v",
                "--per-label",
                "9",
            ],
            &[
                "--truth",
                "kind",
                "--encode",
                "ordinal",
                "--filter-labels",
                "u,v",
                "--max-per-label",
                "9",
            ],
        ),
    ] {
        assert!(generate(old) == generate(new), "{old:?}");
    }
    let help =
        place.partita(&["generate", "--help"]).fine() + &place.partita(&["run", "--help"]).fine();
    for old in [
        "--label ",
        "--one-hot",
        "--codes",
        "--fill",
        "--only",
        "--per-label",
    ] {
        assert!(!help.contains(old), "{old}");
    }
}

#[test]
fn threads_of_any_number() {
    let place = Workplace::new();
    place.file("e.csv", "a,b\n1,1\n1,1\n2,2\n2,2\n");
    let run =
        |threads: &str| place.partita(&["consensus", "e.csv", "-k", "2", "--threads", threads]);
    assert_eq!(run("0").fine(), run("1").fine(), "0 is all cores");
    assert!(
        place
            .partita(&["consensus", "--help"])
            .fine()
            .contains("all cores if not given or 0")
    );
    run("1000000").refused(&["--threads 1000000", "cores", "leave --threads out"]);
    run("-1").refused_by_parser(&["-1"]);
}

#[test]
fn settings_beyond_what_is_sensible_say_what_is() {
    let place = Workplace::new();
    place.file("e.csv", "a,b\n1,1\n1,1\n2,2\n2,2\n");
    let set = |set: &str| {
        place.partita(&[
            "consensus",
            "e.csv",
            "-k",
            "2",
            "-m",
            "pcc-kl",
            "--set",
            set,
        ])
    };
    for value in [
        "1e9",
        "1000000000",
        "99999999999999999999",
        "0",
        "-1",
        "1.5",
    ] {
        set(&format!("restarts={value}"))
            .refused(&["setting 'restarts' is", "a whole number from 1 to 100000"]);
    }
    assert_eq!(set("rounds=1e3").fine(), set("rounds=1000").fine());
    for value in ["abc", "nan", "-0.1"] {
        set(&format!("tolerance={value}")).refused(&["setting 'tolerance' is", "0 or more"]);
    }
}

/// The flags that say how a file is read are the same everywhere.
#[test]
fn every_command_reads_with_the_same_flags() {
    let place = Workplace::new();
    let row = |i: usize| {
        format!(
            "{0},{1},junk{i},{1},n{i}\n",
            i % 3,
            if i == 7 {
                "zz".into()
            } else {
                (i % 3).to_string()
            }
        )
    };
    place.file(
        "e.csv",
        format!("a,b,note,c,who\n{}", (0..60).map(row).collect::<String>()),
    );
    let flags = ["--id", "who", "--skip", "note,c", "--missing", "zz"];
    let run = |command: &[&str]| place.partita(&[command, &flags].concat());
    let labels = run(&[
        "consensus",
        "e.csv",
        "-k",
        "3",
        "-m",
        "mm",
        "-o",
        "l.csv",
        "--model",
        "m.json",
    ]);
    assert!(
        labels.stderr.contains("1 missing value (zz)"),
        "{}",
        labels.stderr
    );
    let facts = run(&["inspect", "e.csv", "--as", "ensemble", "--json"]).json();
    assert_eq!(
        (&facts["base_clusterings"], &facts["missing_labels"]),
        (&2.into(), &1.into())
    );
    assert!(
        run(&["predict", "m.json", "e.csv"])
            .fine()
            .contains("\nn59,")
    );
    assert!(
        run(&["choose-k", "e.csv", "--kind", "ensemble", "-k", "2..4"])
            .fine()
            .contains('3')
    );
    run(&["modes", "e.csv"]).fine();
    run(&["align", "e.csv", "-o", "aligned"]).fine();
    let evaluate = [
        "evaluate",
        "l.csv",
        "--truth",
        "e.csv:b",
        "--id",
        "who",
        "--missing",
        "zz",
        "--json",
    ];
    let scores = place.partita(&evaluate);
    assert!(
        scores.stderr.contains("1 objects have no true label"),
        "{}",
        scores.stderr
    );
    assert_eq!(scores.json()["ari"], 1.0);
    place.file(
        "t.csv",
        format!(
            "x,y,note,who\n{}",
            (0..60)
                .map(|i| format!("{},{},w{},n{i}\n", i % 3, i % 3 * 2, i % 7))
                .collect::<String>()
        ),
    );
    for command in [
        &["run", "t.csv", "-k", "3", "--base", "kmeans:5", "-o", "out"][..],
        &["generate", "t.csv", "-o", "e.npz"],
    ] {
        place
            .partita(&[command, &["--id", "who", "--skip", "note"]].concat())
            .fine();
    }
}

#[test]
fn methods_that_stop_early_or_know_nothing_say_so() {
    let place = Workplace::new();
    let row = |i: usize| format!("{},{},{}\n", i % 3, (i + i / 20) % 3, i * 7 / 5 % 3);
    place.file(
        "e.csv",
        format!("a,b,c\n{}", (0..60).map(row).collect::<String>()),
    );
    let consensus = |method: &str, set: &str| {
        let folder = format!("{method}/");
        let command = [
            "consensus",
            "e.csv",
            "-k",
            "3",
            "-m",
            method,
            "--set",
            set,
            "-o",
            &folder,
            "--force",
            "--json",
        ];
        place.partita(&command)
    };
    for (method, set, words) in [
        (
            "mm",
            "rounds=1",
            "it stopped at its limit of 1 rounds, before it converged; set rounds higher",
        ),
        (
            "nbce-gibbs",
            "sweeps=1",
            "1 sweeps after the burn-in are too few to judge: set sweeps higher",
        ),
    ] {
        let ended = consensus(method, set);
        assert!(
            ended
                .stderr
                .contains(&format!("warning: {method}: {words}")),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("NOT converged"), "{}", ended.stderr);
        let record = ended.json();
        assert!(
            record["warnings"]
                .as_array()
                .unwrap()
                .iter()
                .any(|warning| warning == words),
            "{}",
            record["warnings"]
        );
        let page = std::fs::read_to_string(place.path(method).join("report.html")).unwrap();
        assert!(page.contains(words), "{method}: the page warns too");
    }
    place.file("t.csv", three_groups(60));
    place
        .partita(&[
            "generate", "t.csv", "--truth", "kind", "--base", "kmeans:5", "--base-k", "1", "-o",
            "one.npz",
        ])
        .fine();
    for method in ["lwgp", "mm", "eac-average"] {
        let ended = place.partita(&["consensus", "one.npz", "-k", "3", "-m", method]);
        assert!(
            ended
                .stderr
                .contains("every base clustering has one cluster"),
            "{method}: {}",
            ended.stderr
        );
        // All in one cluster, and that is said, or clusters without certainty.
        let said = ended
            .stderr
            .contains("all objects are in one cluster; 3 were asked for");
        let printed = ended.fine();
        let certain = printed
            .lines()
            .skip(1)
            .map(|line| line.split(',').nth(2).unwrap().parse::<f64>().unwrap());
        assert!(said || certain.sum::<f64>() / 60.0 < 0.34, "{method}");
    }
}

#[test]
fn documents_become_a_consensus() {
    let place = Workplace::new();
    let mut documents = "text,topic\n".to_owned();
    for i in 0..40 {
        let (own, other) = if i % 2 == 0 {
            ("ships sail the \"sea\"", "wind")
        } else {
            ("bakers bake, bread", "oven")
        };
        documents += &format!(
            "\"{}, {other} {}\nand more {other}s\",{}\n",
            own.replace('"', "\"\""),
            i % 7,
            ["sea", "food"][i % 2]
        );
    }
    place.file("documents.csv", documents);
    let text = [
        "text",
        "documents.csv",
        "--column",
        "text",
        "--label",
        "topic",
        "--set",
        "least_documents=3",
        "-o",
        "w.npz",
    ];
    let facts = place.partita(&[&text[..], &["--json"]].concat()).json();
    assert_eq!(
        (&facts["documents"], &facts["settings"]["least_documents"]),
        (&40.into(), &3.into())
    );
    let facts = place.partita(&["inspect", "w.npz", "--json"]).json();
    assert_eq!(
        (&facts["kind"], &facts["label"]["classes"]["sea"]),
        (&"sparse table".into(), &20.into())
    );
    place
        .partita(&[
            "generate",
            "w.npz",
            "--preset",
            "peace-text",
            "--base-k",
            "2..4",
            "-o",
            "e.npz",
        ])
        .fine();
    let recipe = &place.partita(&["inspect", "e.npz", "--json"]).json()["recipe"];
    assert_eq!(
        (&recipe["base"][0], &recipe["subsample"]),
        (&"kmeans-cosine:100".into(), &1.0.into())
    );
    let run = [
        "run",
        "w.npz",
        "-k",
        "2",
        "--base",
        "kmeans-cosine:20",
        "--base-k",
        "2..4",
        "-o",
        "out",
        "--json",
    ];
    assert_eq!(place.partita(&run).json()["scores"]["h"], 1.0);

    place.partita(&text).refused(&["w.npz", "exists"]);
    let refused = |arguments: &[&str], words: &[&str]| {
        place
            .partita(&[&["text", "documents.csv", "-o", "x.npz"], arguments].concat())
            .refused(words);
    };
    refused(&["--column", "txt"], &["documents.csv", "txt"]);
    refused(&["--column", "text", "--set", "term=5"], &["term"]);
    refused(
        &["--column", "text", "--set", "least_documents=99"],
        &["99"],
    );
    place
        .partita(&["run", "w.npz", "-k", "2", "-m", "ssce", "-o", "o"])
        .refused(&["ssce", "table"]);
}

#[test]
fn the_best_of_several_methods_is_chosen_in_the_open() {
    let place = Workplace::new();
    let iris = shipped("iris.csv");
    place
        .partita(&[
            "generate",
            &iris,
            "--label",
            "label",
            "--base",
            "kmeans:20",
            "-o",
            "e.npz",
        ])
        .fine();
    let ended = place.partita(&[
        "consensus",
        "e.npz",
        "-m",
        "best",
        "-k",
        "3",
        "-o",
        "l.csv",
        "--json",
    ]);
    assert!(
        ended.stderr.contains("eac-average") && ended.stderr.contains("chosen: "),
        "{}",
        ended.stderr
    );
    let record = ended.json();
    let chosen = record["details"]["chosen"]
        .as_str()
        .expect("a name")
        .to_owned();
    let found = |entry: &serde_json::Value, what: &str| {
        entry
            .pointer(&format!("/verdict/found/{what}"))
            .and_then(serde_json::Value::as_f64)
    };
    let table = record["details"]["table"].as_array().expect("a table");
    let others = |entry| found(entry, "others").unwrap_or(0.0);
    let best = table.iter().map(others).fold(0.0, f64::max);
    let winner = table
        .iter()
        .find(|entry| entry["method"] == chosen.as_str())
        .expect("it is in the table");
    assert_eq!(others(winner), best);
    let own = record["anmi"]
        .as_f64()
        .expect("every outcome says how far it agrees with the ensemble");
    assert!(
        (own - found(winner, "agreement/anmi").unwrap()).abs() < 1e-12,
        "{own} {winner}"
    );
    place
        .partita(&[
            "consensus",
            "e.npz",
            "-m",
            "best",
            "--set",
            "criterion=bases",
            "-k",
            "3",
        ])
        .fine();
    place
        .partita(&[
            "consensus",
            "e.npz",
            "-m",
            "best",
            "--set",
            "criterion=me",
            "-k",
            "3",
        ])
        .refused(&["methods", "bases"]);
    let among = |names: &str| {
        place.partita(&[
            "consensus",
            "e.npz",
            "-m",
            "best",
            "--set",
            names,
            "-k",
            "3",
        ])
    };
    assert_eq!(among("among=lwgp").fine().lines().count(), 151);
    among("among=lwgp,nothing").refused(&["nothing"]);
}

#[test]
fn clusters_are_related() {
    let place = Workplace::new();
    let iris = shipped("iris.csv");
    place
        .partita(&[
            "generate",
            &iris,
            "--label",
            "label",
            "--base",
            "kmeans:20",
            "-o",
            "e.npz",
        ])
        .fine();
    let consensus =
        |more: &[&str]| place.partita(&[&["consensus", "e.npz", "-k", "3"], more].concat());
    consensus(&[
        "-m",
        "pcc-l2",
        "-o",
        "l.csv",
        "--relations",
        "r.csv",
        "--threshold",
        "0.01",
    ])
    .fine();
    let text = std::fs::read_to_string(place.path("r.csv")).expect("relations");
    assert_eq!(text.lines().next(), Some("cluster,objects,0,1,2"));
    let numbers: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| {
            line.split(',')
                .map(|x| x.parse().expect("a number"))
                .collect()
        })
        .collect();
    assert!((numbers.iter().map(|row| row[1]).sum::<f64>() - 150.0).abs() < 1e-9);
    assert!(
        numbers
            .iter()
            .all(|row| (row[2..].iter().sum::<f64>() - 1.0).abs() < 1e-9),
        "{text}"
    );
    consensus(&[
        "-m",
        "eac-average",
        "-o",
        "e.csv",
        "--relations",
        "of_evidence.csv",
    ])
    .fine();
    assert!(place.path("of_evidence.csv").exists());
    consensus(&[
        "-m",
        "pcc-l2",
        "-o",
        "m.csv",
        "--relations",
        "x.csv",
        "--threshold",
        "2",
    ])
    .refused(&["2"]);
}

#[test]
fn a_table_beyond_the_memory_limit_is_read_in_groups_of_rows() {
    let place = Workplace::new();
    let mixture = [
        "synth",
        "gaussians",
        "-n",
        "60000",
        "--set",
        "separation=9",
        "-o",
        "big.parquet",
    ];
    place.partita(&mixture).fine();
    let generate = |out: &str, more: &[&str]| {
        let usual = [
            "generate",
            "big.parquet",
            "--label",
            "label",
            "--base",
            "kmeans:3,kmeans-batch:1",
            "--base-k",
            "4",
        ];
        place.partita(&[&usual[..], &["--subsample", "0.05", "-o", out], more].concat())
    };
    generate("memory.npz", &[]).fine();
    // The table alone is 960 kB, and 1.9 MB with what k-means makes of it.
    generate("groups.npz", &["--max-memory", "3MiB"]).fine();
    let facts = |name: &str| place.partita(&["inspect", name, "--json"]).json();
    let (memory, groups) = (facts("memory.npz"), facts("groups.npz"));
    assert_eq!(
        (&memory["bases"], &memory["recipe"]),
        (&groups["bases"], &groups["recipe"])
    );
    assert_eq!(groups["bases"][3]["labelled"], 3000);
    generate("x.npz", &["--max-memory", "3MiB", "--scale", "zscore"])
        .refused(&["groups of rows", "raise the limit"]);
    assert!(
        !place.files().iter().any(|name| name.contains("x.npz")),
        "{:?}",
        place.files()
    );
}

#[test]
fn any_consensus_labels_new_rows_of_the_table() {
    let place = Workplace::new();
    let wdbc = std::fs::read_to_string(shipped("wdbc.csv")).expect("a shipped set");
    let lines: Vec<&str> = wdbc.lines().collect();
    let (train, new) = lines[1..].split_at(340);
    let write = |name: &str, rows: &[&str]| {
        place.file(name, format!("{}\n{}\n", lines[0], rows.join("\n")))
    };
    write("train.csv", train);
    write("new.csv", new);
    // The same rows, columns turned round.
    let turned = |line: &&str| line.split(',').rev().collect::<Vec<_>>().join(",");
    place.file(
        "turned.csv",
        std::iter::once(&lines[0])
            .chain(new)
            .map(turned)
            .collect::<Vec<_>>()
            .join("\n"),
    );
    let scaled = [
        "generate",
        "train.csv",
        "--label",
        "label",
        "--base",
        "kmeans:20",
        "--base-k",
        "2..6",
        "--scale",
        "zscore",
    ];
    place
        .partita(&[&scaled[..], &["-o", "e.npz"]].concat())
        .fine();
    for how in ["ssce", "centroid", "knn", "knn:9"] {
        let model = [
            "--features",
            "train.csv",
            "--features-label",
            "label",
            "--model",
            "m.json",
            "--predict-with",
            how,
        ];
        let consensus = [
            "consensus",
            "e.npz",
            "-m",
            "lwgp",
            "-k",
            "2",
            "-o",
            "l.csv",
            "--force",
        ];
        place.partita(&[&consensus[..], &model].concat()).fine();
        place
            .partita(&[
                "predict", "m.json", "new.csv", "--label", "label", "-o", "a.csv", "--force",
            ])
            .fine();
        place
            .partita(&[
                "predict",
                "m.json",
                "turned.csv",
                "--label",
                "label",
                "-o",
                "b.csv",
                "--force",
            ])
            .fine();
        let read = |name: &str| std::fs::read_to_string(place.path(name)).expect("labels");
        assert_eq!(read("a.csv"), read("b.csv"), "{how}");
        let scores = place
            .partita(&["evaluate", "a.csv", "--truth", "new.csv:label", "--json"])
            .json();
        assert!(scores["h"].as_f64() > Some(0.85), "{how}: {scores}");
    }
    place.file("renamed.csv", wdbc.replacen("mean_radius", "radius", 1));
    place
        .partita(&["predict", "m.json", "renamed.csv", "--label", "label"])
        .refused(&["mean_radius"]);
    let first = |line: &&str| line.split_once(',').expect("many columns").1.to_owned();
    place.file(
        "short.csv",
        std::iter::once(&lines[0])
            .chain(new)
            .map(first)
            .collect::<Vec<_>>()
            .join("\n"),
    );
    place
        .partita(&["predict", "m.json", "short.csv", "--label", "label"])
        .refused(&["mean_radius"]);
    place.file(
        "words.csv",
        format!("{}\nlarge,{}\n", lines[0], first(&new[0])),
    );
    place
        .partita(&["predict", "m.json", "words.csv", "--label", "label"])
        .refused(&["mean_radius", "large"]);
    let model = place.path("m.json");
    let text = std::fs::read_to_string(&model).expect("a model");
    place.file("half.json", &text[..text.len() / 2]);
    place
        .partita(&["predict", "half.json", "new.csv", "--label", "label"])
        .refused(&["half.json"]);
    place.file("edited.json", text.replacen("0.", "1.", 1));
    place
        .partita(&["predict", "edited.json", "new.csv", "--label", "label"])
        .refused(&["edited.json"]);
    let alone = place.partita(&["consensus", "e.npz", "-k", "2", "--predict-with", "knn"]);
    assert_eq!(
        alone.code,
        Some(2),
        "a table and a file are needed: {}",
        alone.stderr
    );
}
