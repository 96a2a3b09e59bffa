//! A consensus by many tasks that share files: the bytes of one process, whoever dies, and errors for sums that are not those asked for.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use partita::files::{self, ReadOptions, write_ensemble};
use partita::ndarray::{Array2, s};
use partita::{BaseClustering, Ensemble};

use crate::common::{Ended, Workplace, cells};

/// Rows of five files that end anywhere, so that parts cut blocks.
const CUTS: [usize; 6] = [0, 1, 2050, 4100, 7777, 9000];

/// Noisy copies of four groups, some labels missing.
pub(crate) fn write_files(place: &Workplace, seed: u64) {
    let mut state = 88_172_645_463_325_252_u64 + seed;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let cell = |(i, u): (usize, usize)| match random() % 16 {
        0 if i > 0 && i % 6 != u => u8::MAX,
        1..=4 => (random() % 4) as u8,
        _ => ((i + u) % 4) as u8,
    };
    let rows = Array2::from_shape_fn((CUTS[5], 6), cell);
    let base = |u| {
        BaseClustering::new(
            format!("u{u}"),
            (0..4).map(|j: u32| j.to_string()).collect(),
        )
    };
    fs::create_dir_all(place.path("labels")).expect("a folder");
    for (file, cut) in CUTS.windows(2).enumerate() {
        let own = rows.slice(s![cut[0]..cut[1], ..]).to_owned();
        let ensemble =
            Ensemble::from_bytes(own, (0..6).map(base).collect()).expect("labels below 4");
        write_ensemble(
            &place.path(&format!("labels/{file}.parquet")),
            &ensemble,
            None,
        )
        .expect("room on the disk");
    }
    place
        .partita(&[
            "manifest",
            "labels",
            "-o",
            "m.json",
            "--rows-a-part",
            "4100",
            "--force",
        ])
        .fine();
}

/// Folds and passes until all labels are there; what all parts wrote.
fn rounds(place: &Workplace, fit: &str, asked: &[&str]) -> Vec<u8> {
    loop {
        let model = place
            .partita(&[&["fold", "m.json", "-o", fit], asked].concat())
            .fine();
        if model.is_empty() {
            return labels(place, fit);
        }
        place
            .partita(&["pass", "m.json", "--model", model.trim(), "--part", "all"])
            .fine();
    }
}

fn labels(place: &Workplace, fit: &str) -> Vec<u8> {
    let own = |name: &String| {
        name.strip_prefix(&format!("{fit}/labels."))
            .is_some_and(|rest| rest.contains("csv"))
    };
    let files = place.files().into_iter().filter(own);
    files
        .flat_map(|name| fs::read(place.path(&name)).expect("labels of a part"))
        .collect()
}

#[test]
fn rounds_of_tasks_write_the_bytes_of_one_process() {
    let place = Workplace::new();
    write_files(&place, 1);
    for asked in [
        &["-m", "lwgp", "--set", "restarts=2"][..],
        &["-m", "mm", "--set", "restarts=2", "--seed", "3"],
        &["-m", "nbce-vb", "--set", "restarts=2", "--set", "rounds=3"],
        &["-m", "nbce-cvb", "--set", "restarts=1", "--set", "rounds=3"],
        &["-m", "bce", "--set", "restarts=1", "--set", "rounds=2"],
        &[
            "-m",
            "kc",
            "--base-weights",
            "agreement",
            "--set",
            "restarts=2",
        ],
        &["-m", "acv"],
    ] {
        let asked = [asked, &["-k", "4"]].concat();
        place
            .partita(
                &[
                    &["consensus", "m.json", "-o", "one.csv", "--force"],
                    &asked[..],
                ]
                .concat(),
            )
            .fine();
        let one = fs::read(place.path("one.csv")).expect("labels");
        assert_eq!(one.split(|&byte| byte == b'\n').count(), CUTS[5] + 2);
        let _ = fs::remove_dir_all(place.path("fit"));
        assert!(rounds(&place, "fit", &asked) == one, "{asked:?}");
        let record = fs::read_to_string(place.path("fit/record.json")).expect("a record");
        assert!(record.contains("\"n\": 9000"), "{record}");
        assert!(asked[1] != "mm" || place.path("fit/model.json").exists());
        // A fold after the end changes nothing.
        assert!(
            place
                .partita(&["fold", "m.json", "-o", "fit"])
                .fine()
                .is_empty()
        );
    }
}

/// A search among initializations is kept for the rounds after it; what is kept of another fit, or damaged, is refused.
#[test]
fn a_search_is_done_in_one_round_and_kept() {
    let place = Workplace::new();
    write_files(&place, 6);
    let asked = ["-m", "kc", "-k", "4", "--set", "restarts=2"];
    let expected = rounds(&place, "fit", &asked);
    let fold = || place.partita(&["fold", "m.json", "-o", "fit"]);
    let kept = place.path("fit/step1.kept");
    let whole = fs::read(&kept).expect("a step");
    rounds(&place, "other", &[&asked[..], &["--seed", "1"]].concat());
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&kept, bytes).expect("room on the disk");
        let ended = fold();
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(
            ended.stderr.contains(&format!("step1.kept: {what}")),
            "{}",
            ended.stderr
        );
        assert!(
            ended
                .stderr
                .contains("remove this file and run `partita fold` again"),
            "{}",
            ended.stderr
        );
    };
    refused(&whole[..whole.len() / 2], "it is cut short or damaged");
    refused(b"no step", "this is not a step");
    refused(
        &fs::read(place.path("other/step1.kept")).expect("a step"),
        "this is a step of another fit",
    );
    fs::remove_file(&kept).expect("a file");
    assert!(fold().fine().is_empty());
    assert!(fs::read(&kept).expect("a step") == whole && labels(&place, "fit") == expected);
}

/// Workers count for the report and draw its objects: the page is that of one process.
#[test]
fn rounds_of_tasks_leave_the_report_of_one_process() {
    let place = Workplace::new();
    write_files(&place, 4);
    let asked = ["-m", "acv", "-k", "4", "--seed", "2"];
    place
        .partita(&[&["consensus", "m.json", "-o", "one/"], &asked[..]].concat())
        .fine();
    rounds(&place, "fit", &asked);
    let page = |name: &str| fs::read_to_string(place.path(name)).expect("a page");
    let (one, parts) = (page("one/report.html"), page("fit/report.html"));
    for id in ["clusters-table", "bases-table"] {
        assert_eq!(cells(&one, id), cells(&parts, id), "{id}");
    }
    // The pictures are of the same objects.
    let map = |page: &str| page[page.find("map-evidence").expect("a map")..][..20_000].to_owned();
    assert!(map(&one) == map(&parts) && parts.contains("9000 objects in 4 clusters"));
    fs::remove_file(place.path("fit/report.html")).expect("a page");
    place
        .partita(&["fold", "m.json", "-o", "fit", "--no-report"])
        .fine();
    assert!(!place.path("fit/report.html").exists());
}

#[test]
fn labels_of_parts_are_columns_or_arrays_too() {
    let place = Workplace::new();
    write_files(&place, 2);
    let asked = ["-m", "acv", "-k", "4"];
    place
        .partita(&[&["consensus", "m.json", "-o", "one.csv"], &asked[..]].concat())
        .fine();
    let read = |name: &str| {
        let labels =
            files::read_labels(&place.path(name), &ReadOptions::default()).expect("labels");
        labels
            .column
            .values
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    };
    let one = read("one.csv");
    for (ending, fit) in [("parquet", "columns"), ("npy", "arrays")] {
        rounds(&place, fit, &[&asked[..], &["--labels", ending]].concat());
        let own =
            |name: &&String| name.starts_with(&format!("{fit}/labels.")) && name.ends_with(ending);
        let files = place.files();
        let parts: Vec<&String> = files.iter().filter(own).collect();
        assert!(parts.len() > 1, "{parts:?}");
        assert!(
            parts.iter().flat_map(|name| read(name)).collect::<Vec<_>>() == one,
            "{ending}"
        );
        // A part that lost its labels is done again; another format is another fit.
        fs::remove_file(place.path(parts[0])).expect("a file");
        let model = format!("{fit}/labels.model");
        place
            .partita(&["pass", "m.json", "--model", &model, "--part", "0"])
            .fine();
        assert!(place.path(parts[0]).exists());
        place
            .partita(&["fold", "m.json", "-o", fit, "--labels", "csv"])
            .refused(&["another format of labels"]);
    }
}

/// Starts a command and kills it after a while.
fn killed(place: &Workplace, words: &[&str], after: u64) {
    let mut child = place
        .command(words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary");
    std::thread::sleep(Duration::from_millis(after));
    let _ = child.kill();
    let _ = child.wait();
}

#[test]
fn drivers_and_workers_may_die_at_any_time() {
    let place = Workplace::new();
    write_files(&place, 2);
    place
        .partita(&[
            "consensus",
            "m.json",
            "-m",
            "lwgp",
            "-k",
            "4",
            "-o",
            "one.csv",
        ])
        .fine();
    let one = fs::read(place.path("one.csv")).expect("labels");
    let fold = ["fold", "m.json", "-m", "lwgp", "-k", "4", "-o", "fit"];
    let mut after = 0;
    let found = loop {
        killed(&place, &fold, after);
        let model = place.partita(&fold).fine();
        if model.is_empty() {
            break labels(&place, "fit");
        }
        let pass = ["pass", "m.json", "--model", model.trim(), "--part", "all"];
        killed(&place, &pass, after);
        after = (after + 7) % 40;
        place.partita(&pass).fine();
        // Who was thought dead and does it again finds it done.
        assert!(place.partita(&pass).fine().is_empty());
    };
    assert!(found == one);
}

#[test]
fn files_may_move_and_sums_may_lie_elsewhere() {
    let place = Workplace::new();
    write_files(&place, 1);
    let first = place
        .partita(&["fold", "m.json", "-m", "lwgp", "-k", "4", "-o", "fit"])
        .fine();
    fs::create_dir(place.path("other")).expect("a folder");
    let shell = |line: &str| {
        assert!(
            Command::new("sh")
                .args(["-c", line])
                .current_dir(place.path(""))
                .status()
                .expect("a shell")
                .success()
        );
    };
    // Copies have another time, and the same bytes.
    shell("sleep 0.01; cp -r labels m.json other");
    for part in ["0", "1", "2"] {
        let sum = format!("{part}.sum");
        let pass = [
            "pass",
            "other/m.json",
            "--model",
            first.trim(),
            "--part",
            part,
            "-o",
            &sum,
        ];
        place.partita(&pass).fine();
    }
    let second = place
        .partita(&["fold", "m.json", "2.sum", "0.sum", "1.sum", "-o", "fit"])
        .fine();
    assert_ne!(first, second);
}

#[test]
fn sums_that_are_not_those_of_the_round_are_refused() {
    let place = Workplace::new();
    write_files(&place, 1);
    let asked = ["-m", "lwgp", "-k", "4"];
    let fold =
        |sums: &[&str]| place.partita(&[&["fold", "m.json", "-o", "fit"], sums, &asked].concat());
    let pass = |model: &str, part: &str, to: &str| {
        place
            .partita(&[
                "pass", "m.json", "--model", model, "--part", part, "-o", to, "--force",
            ])
            .fine();
    };
    let first = fold(&[]).fine();
    for part in ["0", "1", "2"] {
        pass(first.trim(), part, &format!("{part}.sum"));
    }
    let refused = |ended: Ended, what: &[&str]| {
        assert_eq!(
            (ended.code, &*ended.stdout),
            (Some(2), ""),
            "{}",
            ended.stderr
        );
        assert_eq!(
            ended
                .stderr
                .lines()
                .filter(|line| line.starts_with("error: "))
                .count(),
            1,
            "{}",
            ended.stderr
        );
        what.iter()
            .for_each(|what| assert!(ended.stderr.contains(what), "{what}: {}", ended.stderr));
    };
    refused(
        fold(&["0.sum", "2.sum"]),
        &["round 1 lacks part 1 of 0 to 2"],
    );
    refused(
        fold(&["0.sum", "1.sum", "2.sum", "1.sum"]),
        &["1.sum: ", "part 1", "name one"],
    );
    fs::copy(place.path("1.sum"), place.path("again.sum")).expect("a copy");
    refused(
        fold(&["0.sum", "1.sum", "again.sum", "2.sum"]),
        &["again.sum: ", "part 1, as is 1.sum"],
    );

    let whole = fs::read(place.path("1.sum")).expect("a sum");
    place.file("short.sum", &whole[..whole.len() / 2]);
    refused(
        fold(&["0.sum", "short.sum", "2.sum"]),
        &["short.sum: it is cut short or damaged"],
    );
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    place.file("flipped.sum", &flipped);
    refused(
        fold(&["0.sum", "flipped.sum", "2.sum"]),
        &["flipped.sum: it is cut short or damaged"],
    );
    place.file("text.sum", "not a sum");
    refused(
        fold(&["0.sum", "text.sum", "2.sum"]),
        &["text.sum: this is not a sum"],
    );
    refused(fold(&["0.sum", "no.sum", "2.sum"]), &["no.sum"]);
    refused(
        fold(&["0.sum", first.trim(), "2.sum"]),
        &["round1.model: this is not a sum"],
    );

    // Another manifest of the same files.
    place
        .partita(&[
            "manifest",
            "labels",
            "-o",
            "n.json",
            "--rows-a-part",
            "5000",
        ])
        .fine();
    let ended = place.partita(&["pass", "n.json", "--model", first.trim(), "--part", "0"]);
    refused(
        ended,
        &["round1.model: this model is of another manifest than n.json"],
    );
    refused(
        place.partita(&["fold", "n.json", "-o", "fit"]),
        &["another manifest"],
    );
    let other = place
        .partita(&["fold", "n.json", "-o", "other", "-k", "4", "-m", "lwgp"])
        .fine();
    place
        .partita(&[
            "pass",
            "n.json",
            "--model",
            other.trim(),
            "--part",
            "0",
            "-o",
            "n.sum",
        ])
        .fine();
    refused(
        fold(&["0.sum", "n.sum", "2.sum"]),
        &["n.sum: this is the sum of part 0 of another manifest"],
    );

    // A sum of the round before, where that of this round is meant.
    let second = fold(&["0.sum", "1.sum", "2.sum"]).fine();
    for part in ["0", "1", "2"] {
        pass(second.trim(), part, &format!("fit/round2.{part}.sum"));
    }
    fs::copy(place.path("1.sum"), place.path("fit/round2.1.sum")).expect("a copy");
    refused(
        fold(&[]),
        &[
            "fit/round2.1.sum: this is the sum of part 1 in round 1 by another model than fit/round2.model",
        ],
    );
    let ended = place.partita(&["pass", "m.json", "--model", second.trim(), "--part", "1"]);
    refused(
        ended,
        &["round2.1.sum: exists already and is not the sum of part 1; give --force"],
    );
    fs::copy(
        place.path("fit/round2.2.sum"),
        place.path("fit/round2.1.sum"),
    )
    .expect("a copy");
    refused(
        fold(&[]),
        &["round2.1.sum: this is the sum of part 2 where that of part 1 is meant"],
    );
    fs::remove_file(place.path("fit/round2.1.sum")).expect("it is there");
    let ended = fold(&[]);
    assert!(
        ended
            .stderr
            .contains("warning: round 2 lacks part 1 of 0 to 2"),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.fine(), second);
}

#[test]
fn what_cannot_be_asked_for_is_said() {
    let place = Workplace::new();
    write_files(&place, 1);
    let refused = |words: &[&str], what: &str| {
        let ended = place.partita(words);
        assert_eq!(
            (ended.code, &*ended.stdout),
            (Some(2), ""),
            "{words:?}: {}",
            ended.stderr
        );
        assert!(ended.stderr.contains(what), "{words:?}: {}", ended.stderr);
    };
    refused(&["fold", "m.json", "-o", "fit"], "give -k");
    refused(
        &[
            "fold",
            "m.json",
            "-o",
            "fit",
            "-k",
            "4",
            "-m",
            "eac-average",
        ],
        "eac-average",
    );
    let _ = fs::remove_dir_all(place.path("fit"));
    refused(
        &[
            "fold",
            "m.json",
            "-o",
            "fit",
            "-k",
            "4",
            "--set",
            "restarts=x",
        ],
        "restarts",
    );
    let _ = fs::remove_dir_all(place.path("fit"));
    let model = place
        .partita(&["fold", "m.json", "-o", "fit", "-k", "4"])
        .fine();
    let model = model.trim();
    refused(
        &["fold", "m.json", "-o", "fit", "-k", "5"],
        "another number of clusters",
    );
    refused(
        &["fold", "m.json", "-o", "fit", "--seed", "5"],
        "another seed",
    );
    refused(
        &["pass", "m.json", "--model", model, "--part", "3"],
        "has the parts 0 to 2; there is no part 3",
    );
    refused(
        &["pass", "m.json", "--model", model, "--part", "x"],
        "write a number",
    );
    refused(
        &[
            "pass", "m.json", "--model", model, "--part", "all", "-o", "x.sum",
        ],
        "-o names one file",
    );
    refused(
        &["pass", "m.json", "--model", "m.json", "--part", "0"],
        "this is not a model",
    );
    refused(&["consensus", "m.json", "-k", "4", "-m", "eac-average"], "");
    refused(
        &["consensus", "m.json", "-k", "4", "--soft", "soft.csv"],
        "a manifest is read block by block",
    );
    refused(&["manifest", "labels", "-o", "m.json"], "exists already");
    refused(
        &["manifest", "labels", "-o", "n.json", "--rows-a-part", "0"],
        "at least one row",
    );

    refused(&["manifest", "e.csv", "-o", "n.json"], "no such file");
    refused(
        &["manifest", "labels", "labels/1.parquet", "-o", "n.json"],
        "labels/1.parquet: it is named twice",
    );
    place.file("e.csv", "a,b\n1,2\n");
    refused(
        &["manifest", "e.csv", "-o", "n.json"],
        "Parquet, Arrow or NPY",
    );
    one_column_more(&place.path("labels/4.parquet"));
    refused(
        &["manifest", "labels", "-o", "n.json"],
        "labels/4.parquet: base clustering 2 is 'other', but 'u1' in labels/0.parquet",
    );
    refused(
        &["pass", "m.json", "--model", model, "--part", "2"],
        "labels/4.parquet: it was changed since the manifest was made",
    );
    refused(&["consensus", "m.json", "-k", "4", "-m", "lwgp"], "");
    place.file(
        "m2.json",
        fs::read_to_string(place.path("m.json"))
            .expect("text")
            .replacen("\"rows\": 9000", "\"rows\": 9001", 1),
    );
    refused(
        &["fold", "m2.json", "-o", "f2", "-k", "4"],
        "m2.json: this manifest is damaged: its parts are not all of its rows",
    );
    place.file("m3.json", "{\"manifest_version\": 1}");
    refused(
        &["fold", "m3.json", "-o", "f3", "-k", "4"],
        "m3.json: this is not a manifest",
    );
}

#[test]
fn a_manifest_is_predicted_and_evaluated_as_its_rows_in_memory() {
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
        "--model",
        "fit",
    ];
    place.partita(&fit).fine();
    let run = |command: &[&str], output: &str| {
        place
            .partita(&[command, &["-o", output, "--force"]].concat())
            .fine();
        fs::read(place.path(output)).expect("labels")
    };
    for output in ["p.csv", "p.npy", "p.parquet"] {
        assert!(
            run(&["predict", "fit", "m.json"], output)
                == run(&["predict", "fit", "labels"], output),
            "{output}"
        );
    }
    let printed = place.partita(&["predict", "fit", "m.json"]).fine();
    assert_eq!(
        printed.as_bytes(),
        fs::read(place.path("p.csv")).expect("labels")
    );

    // Labels and values that the model does not know, and rows without any that it does; some of the files' base clusterings.
    let words: String = (0..CUTS[5])
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
    let counted = |input: &str| {
        let ended = place.partita(&["predict", "two", input, "--json"]);
        let warnings: Vec<String> = ended
            .stderr
            .lines()
            .filter(|line| line.starts_with("warning"))
            .map(|line| line.replace(input, ""))
            .collect();
        let mut counted = ended.json();
        let facts = counted.as_object_mut().expect("an object");
        facts.retain(|name, _| name != "input" && name != "warnings");
        let certainty = facts
            .remove("mean_certainty")
            .and_then(|mean| mean.as_f64())
            .expect("a number");
        (counted, (certainty * 1e12).round(), warnings)
    };
    let (of_rows, of_blocks) = (counted("labels"), counted("m.json"));
    assert!(
        of_rows.0["unknown_values"]
            .as_u64()
            .is_some_and(|values| values > 1000),
        "{of_rows:?}"
    );
    assert!(
        of_rows.0["rows_without_values"]
            .as_u64()
            .is_some_and(|rows| rows > 100),
        "{of_rows:?}"
    );
    assert_eq!(of_rows, of_blocks);
    assert_eq!(of_rows.2.len(), 2);
    let refusal = [
        "predict",
        "two",
        "m.json",
        "--unknown",
        "refuse",
        "-o",
        "r.csv",
    ];
    place.partita(&refusal).refused(&[
        "m.json: ",
        "values are unknown to the model",
        "--unknown missing",
    ]);
    assert!(!place.path("r.csv").exists());
    place
        .partita(&["predict", "fit", "m.json", "--soft", "s.csv"])
        .refused(&["read block by block"]);
    place
        .partita(&["predict", "fit", "m.json", "-o", "p.json"])
        .refused(&["p.json"]);
    let full = place.partita(&["predict", "fit", "m.json", "-o", "/dev/full", "--force"]);
    assert!(
        !cfg!(target_os = "linux")
            || full
                .stderr
                .contains("/dev/full: cannot write: the disk is full"),
        "{}",
        full.stderr
    );

    let scores = |labels: &str, truth: &str| {
        let scores = place
            .partita(&["evaluate", labels, "--truth", truth, "--json"])
            .json();
        ["h", "ari", "ami", "vi", "purity"]
            .map(|name| (scores[name].as_f64().expect("a score") * 1e12).round())
    };
    assert_eq!(
        scores("m.json:u0", "m.json:u1"),
        scores("labels:u0", "labels:u1")
    );
    assert_eq!(
        scores("l.parquet", "m.json:u1"),
        scores("l.parquet", "labels:u1")
    );
    assert_eq!(scores("m.json:u1", "p.npy"), scores("labels:u1", "p.npy"));
    place
        .partita(&["evaluate", "m.json", "--truth", "m.json:u1"])
        .refused(&["FILE:COLUMN", "u0, u1"]);
    place
        .partita(&["evaluate", "m.json:u1", "--truth", "l.parquet:nothing"])
        .refused(&["nothing"]);
    // Text, and words, are held.
    let words: String = (0..CUTS[5])
        .map(|i| format!("{},{}\n", ["a", "", "c"][i % 3], i % 5))
        .collect();
    place.file("w.csv", format!("word,number\n{words}"));
    for truth in ["k.csv", "w.csv:word", "w.csv:number"] {
        assert_eq!(
            scores("m.json:u1", truth),
            scores("labels:u1", truth),
            "{truth}"
        );
        assert_eq!(
            scores(truth, "m.json:u1"),
            scores(truth, "labels:u1"),
            "{truth}"
        );
    }
    place
        .partita(&["evaluate", "m.json:u1", "--truth", "labels/4.parquet:u0"])
        .refused(&["1223", "9000"]);
    place
        .partita(&["evaluate", "m.json:u1", "--truth", "p.npy", "--common"])
        .refused(&["--common"]);
}

fn one_column_more(path: &Path) {
    let base = |name: &str| BaseClustering::new(name, vec!["0".into()]);
    let ensemble = Ensemble::from_bytes(Array2::zeros((5, 2)), vec![base("u0"), base("other")])
        .expect("labels");
    write_ensemble(path, &ensemble, None).expect("room on the disk");
}

/// The loop of the guide, as it stands there.
#[test]
fn the_loop_of_the_guide_runs() {
    let place = Workplace::new();
    write_files(&place, 1);
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/guide/many-machines.md");
    let text = fs::read_to_string(guide).expect("a chapter");
    let script = text
        .split("```sh\n")
        .filter_map(|rest| rest.split("```").next())
        .find(|block| block.contains("while "));
    let binary = assert_cmd::cargo::cargo_bin!("partita");
    let search = std::env::var("PATH").unwrap_or_default();
    let search = format!("{}:{search}", binary.parent().expect("a folder").display());
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script.expect("a loop")])
        .current_dir(place.path(""))
        .env("PATH", search);
    Ended::of(shell.output().expect("a shell")).fine();
    let written = fs::read(place.path("labels.csv")).expect("labels");
    place
        .partita(&[
            "consensus",
            "m.json",
            "-m",
            "lwgp",
            "-k",
            "4",
            "-o",
            "one.csv",
        ])
        .fine();
    assert!(written == fs::read(place.path("one.csv")).expect("labels"));
}
