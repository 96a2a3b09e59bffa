//! Ensembles that are read block by block: the same labels wherever the rows are, with any number of threads and any
//! memory budget that is accepted.

mod common;

use std::fs;
use std::path::Path;

use common::Workplace;
use partita::files::write_ensemble;
use partita::ndarray::Array2;
use partita::{BaseClustering, Ensemble, LABELS_BY_BLOCKS};

/// Base clusterings, few so that the test is quick.
const BASES: usize = 9;

/// Just large enough to be read in blocks: noisy copies of four groups, some labels missing.
fn write_large(paths: [&Path; 2]) {
    let objects = LABELS_BY_BLOCKS as usize / BASES + 1000;
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
    let base = |u| BaseClustering::new(format!("u{u}"), (0..4).map(|j: u32| j.to_string()).collect());
    let ensemble = Ensemble::from_bytes(rows, (0..BASES).map(base).collect()).expect("labels below 4");
    for path in paths {
        write_ensemble(path, &ensemble, None).expect("room on the disk");
    }
}

#[test]
fn labels_do_not_depend_on_where_rows_are_on_threads_or_on_memory() {
    let place = Workplace::new();
    let (memory, disk) = (place.path("e.npz"), place.path("e.parquet"));
    write_large([&memory, &disk]);
    for (method, threads, settings) in [
        ("lwgp", &["1", "8"][..], &["--set", "restarts=2"][..]),
        ("mm", &["1", "8"], &["--set", "restarts=1", "--set", "rounds=1"]),
        ("bce", &["8"], &["--set", "restarts=1", "--set", "rounds=1"]),
        ("nbce-vb", &["1", "8"], &["--set", "restarts=1", "--set", "rounds=1"]),
        ("kc", &["1", "8"], &["--set", "restarts=2", "--set", "rounds=2", "--base-weights", "agreement"]),
        ("plurality", &["8"], &["--base-weights", "agreement"]),
        ("mcla", &["8"], &[]),
        ("acv", &["8"], &[]),
    ] {
        let run = |file: &str, more: &[&str]| {
            let words =
                [&["consensus", file, "-m", method, "-k", "4", "-o", "l.csv", "--force"], settings, more].concat();
            place.partita(&words).fine();
            fs::read(place.path("l.csv")).expect("labels")
        };
        let expected = run("e.npz", &["--threads", "2"]);
        assert!(expected.len() > 1 << 24);
        // As wholes: what differs is too long to be shown.
        for &threads in threads {
            let tight = ["--threads", threads, "--max-memory", "400MiB", "--stream"];
            assert!(run("e.parquet", &tight) == expected, "{method} from Parquet on {threads} threads in 400 MiB");
        }
    }
    let refused = place.partita(&["consensus", "e.parquet", "-m", "lwgp", "-k", "4", "--max-memory", "1MiB"]);
    refused.refused(&["memory budget"]);
}

#[test]
fn what_cannot_stay_on_the_disk_is_refused_with_the_reason() {
    let place = Workplace::new();
    place.file("e.csv", "a,b\n1,1\n1,2\n2,2\n2,1\n");
    let stream = ["consensus", "e.csv", "-k", "2", "--stream", "-m"];
    place.partita(&[&stream[..], &["eac-average"]].concat()).refused(&["eac-average holds all label rows", "lwgp"]);
    place.partita(&[&stream[..], &["lwgp"]].concat()).refused(&["files of this format are not read in groups"]);
}
