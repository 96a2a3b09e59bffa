//! Ensembles that are read block by block: the same labels wherever the rows are, with any number of threads and any
//! memory budget that is accepted.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Ended, Workplace};
use partita::files::write_ensemble;
use partita::ndarray::{Array2, ArrayView2, Axis};
use partita::{BaseClustering, Ensemble, LABELS_BY_BLOCKS};

/// Base clusterings, so many that writing the labels of their objects is quick.
const BASES: usize = 27;

/// Files of the ensemble that lies in a folder.
const FILES: usize = 20;

/// Just so many that they are read by blocks wherever they are.
const LARGE: usize = LABELS_BY_BLOCKS as usize / BASES + 1000;

/// Six blocks, which are read by blocks only from a manifest.
const SMALL: usize = LARGE / 48;

/// Noisy copies of four groups, some labels missing.
fn write_all(objects: usize, [memory, disk, parts]: [&Path; 3]) {
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let cell = |(i, u): (usize, usize)| match random() % 16 {
        0 if i % BASES != u => u8::MAX,
        1..=3 => (random() % 4) as u8,
        _ => ((i + u) % 4) as u8,
    };
    let rows = Array2::from_shape_fn((objects, BASES), cell);
    let base = |u| {
        BaseClustering::new(
            format!("u{u}"),
            (0..4).map(|j: u32| j.to_string()).collect(),
        )
    };
    let bases: Vec<BaseClustering> = (0..BASES).map(base).collect();
    let write = |path: &Path, rows: ArrayView2<'_, u8>| {
        let ensemble =
            Ensemble::from_bytes(rows.to_owned(), bases.clone()).expect("labels below 4");
        write_ensemble(path, &ensemble, None).expect("room on the disk");
    };
    write(memory, rows.view());
    write(disk, rows.view());
    fs::create_dir(parts).expect("a folder of one's own");
    for (part, rows) in rows
        .axis_chunks_iter(Axis(0), objects.div_ceil(FILES))
        .enumerate()
    {
        write(&parts.join(format!("{part:02}.parquet")), rows);
    }
}

/// Twenty files on more threads than there are processors, and one file on one thread.
const FILES_OR_ONE: &[(&str, &str)] = &[("parts", "8"), ("e.parquet", "1")];

/// A folder with an ensemble in all these files.
fn place(objects: usize) -> Workplace {
    let place = Workplace::new();
    write_all(
        objects,
        [
            &place.path("e.npz"),
            &place.path("e.parquet"),
            &place.path("parts"),
        ],
    );
    place.partita(&["manifest", "parts", "-o", "m.json"]).fine();
    place
        .partita(&["manifest", "e.parquet", "-o", "one.json"])
        .fine();
    place
}

/// Rows that are held, and rows that are not.
const HELD: &[&str] = &["e.npz", "--threads", "2"];
const NOT_HELD: &[&str] = &["one.json", "--threads", "1"];

/// A manifest of the twenty files on more threads than there are processors.
const MANY: &[(&str, &str)] = &[("m.json", "8")];

/// Holds the labels of a method from files, in a small memory, to those that it gives rows of `from`.
fn same_labels(
    place: &Workplace,
    from: &[&str],
    method: &str,
    files: &[(&str, &str)],
    settings: &[&str],
) {
    let run = |file: &[&str]| {
        let words = [
            &[
                "consensus",
                "-m",
                method,
                "-k",
                "4",
                "-o",
                "l.csv",
                "--force",
            ],
            file,
            settings,
        ]
        .concat();
        place.partita(&words).fine();
        fs::read(place.path("l.csv")).expect("labels")
    };
    let expected = run(from);
    assert!(expected.len() > 1 << 18);
    // As wholes: what differs is too long to be shown.
    for &(file, threads) in files {
        let tight = [
            file,
            "--threads",
            threads,
            "--max-memory",
            "400MiB",
            "--stream",
        ];
        assert!(
            run(&tight) == expected,
            "{method} from {file} on {threads} threads in 400 MiB"
        );
    }
}

#[test]
fn labels_of_many_rows_are_those_of_rows_that_are_held() {
    let place = place(LARGE);
    same_labels(
        &place,
        HELD,
        "lwgp",
        FILES_OR_ONE,
        &["--set", "restarts=1", "--base-weights", "agreement"],
    );
    let refused = place.partita(&[
        "consensus",
        "e.parquet",
        "-m",
        "lwgp",
        "-k",
        "4",
        "--max-memory",
        "1MiB",
    ]);
    refused.refused(&["memory budget"]);
}

#[test]
fn labels_do_not_depend_on_where_rows_are_on_threads_or_on_memory() {
    let place = place(SMALL);
    same_labels(
        &place,
        NOT_HELD,
        "plurality",
        MANY,
        &["--base-weights", "agreement"],
    );
    for method in [
        "hbgf", "mcla", "ecpcs-mc", "lce", "gp-mgla", "urcv", "rcv", "acv", "sec",
    ] {
        same_labels(&place, NOT_HELD, method, MANY, &[]);
    }
    for method in [
        "mm",
        "bce",
        "nbce-vb",
        "nbce-cvb",
        "kcc",
        "qmi",
        "ipvc",
        "soft-mean",
    ] {
        same_labels(
            &place,
            NOT_HELD,
            method,
            MANY,
            &["--set", "restarts=1", "--set", "rounds=1"],
        );
    }
    for method in ["median-vi", "median-binder"] {
        same_labels(
            &place,
            NOT_HELD,
            method,
            MANY,
            &["--set", "restarts=1", "--set", "sweeps=2"],
        );
    }
    same_labels(
        &place,
        NOT_HELD,
        "soft-mean",
        MANY,
        &["--set", "order=stream"],
    );
    // Labels in columns and arrays are the same from many files, to the byte.
    for labels in ["l.parquet", "l.npy"] {
        let run = |file: &[&str]| {
            place
                .partita(
                    &[
                        &["consensus", "-m", "acv", "-k", "4", "-o", labels, "--force"],
                        file,
                    ]
                    .concat(),
                )
                .fine();
            fs::read(place.path(labels)).expect("labels")
        };
        assert!(
            run(NOT_HELD) == run(&["m.json", "--max-memory", "200MiB"]),
            "{labels}"
        );
    }
}

/// A folder as Spark writes it has more files than a process may have open, which are usually 1,024.
#[test]
fn files_are_open_only_while_they_are_read() {
    let place = Workplace::new();
    write_all(
        1000,
        [
            &place.path("e.npz"),
            &place.path("e.parquet"),
            &place.path("parts"),
        ],
    );
    for file in 0..100 {
        let (from, to) = (
            format!("parts/{:02}.parquet", file % FILES),
            format!("parts/{:03}.parquet", file + 100),
        );
        fs::copy(place.path(&from), place.path(&to)).expect("room on the disk");
    }
    let partita = assert_cmd::cargo::cargo_bin!("partita")
        .display()
        .to_string();
    let run = |files: u32, words: &str| {
        let limited = format!("ulimit -n {files}; exec {partita} {words} --force");
        let output = Command::new("bash")
            .args(["-c", &limited])
            .current_dir(place.path(""))
            .output();
        Ended::of(output.expect("a shell")).fine();
        fs::read(place.path("l.csv")).unwrap_or_default()
    };
    run(60, "manifest parts -o m.json");
    let labels = run(60, "consensus m.json -m kc -k 4 -o l.csv");
    assert!(labels == run(1000, "consensus m.json -m kc -k 4 -o l.csv"));
    assert_eq!(String::from_utf8_lossy(&labels).lines().count(), 6001);
    run(60, "consensus parts -m kc -k 4 -o l.csv");
}

#[test]
fn what_cannot_stay_on_the_disk_is_refused_with_the_reason() {
    let place = Workplace::new();
    place.file("e.csv", "a,b\n1,1\n1,2\n2,2\n2,1\n");
    let stream = ["consensus", "e.csv", "-k", "2", "--stream", "-m"];
    place
        .partita(&[&stream[..], &["eac-average"]].concat())
        .refused(&["eac-average holds all label rows", "lwgp"]);
    place
        .partita(&[&stream[..], &["lwgp"]].concat())
        .refused(&["only numbers in Parquet, Arrow or NPY are read in groups"]);
}

#[test]
fn what_a_method_warns_of_is_said_of_rows_that_are_not_held_too() {
    let place = Workplace::new();
    place.file(
        "e.csv",
        "a,b,c\n0,0,1\n0,0,1\n0,1,1\n1,1,0\n1,1,0\n1,0,0\n2,2,2\n2,2,0\n2,2,2\n",
    );
    place.partita(&["merge", "e.csv", "-o", "e.parquet"]).fine();
    place
        .partita(&["manifest", "e.parquet", "-o", "m.json"])
        .fine();
    let run = |more: &[&str]| {
        let ran = place.partita(
            &[
                &[
                    "consensus",
                    "m.json",
                    "-k",
                    "3",
                    "-m",
                    "mm",
                    "-o",
                    "l.csv",
                    "--force",
                ],
                more,
            ]
            .concat(),
        );
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stderr
    };
    let stopped = run(&["--set", "rounds=1"]);
    assert!(
        stopped.contains("warning: mm:") && stopped.contains("round"),
        "{stopped}"
    );
    assert!(!run(&[]).contains("warning: "), "{}", run(&[]));
}
