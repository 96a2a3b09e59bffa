//! Ensembles that are read block by block: the same labels wherever the rows are, with any number of threads and any
//! memory budget that is accepted.

use std::fs;
use std::path::Path;

use crate::common::Workplace;
use partita::files::write_ensemble;
use partita::ndarray::{Array2, ArrayView2, Axis};
use partita::{BaseClustering, Ensemble, LABELS_BY_BLOCKS};

/// Base clusterings, so many that writing the labels of their objects is quick.
const BASES: usize = 27;

/// Files of the ensemble that lies in a folder.
const FILES: usize = 20;

/// Just large enough to be read in blocks: noisy copies of four groups, some labels missing.
fn write_large([memory, disk, parts]: [&Path; 3]) {
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
    let bases: Vec<BaseClustering> = (0..BASES).map(base).collect();
    let write = |path: &Path, rows: ArrayView2<'_, u8>| {
        let ensemble = Ensemble::from_bytes(rows.to_owned(), bases.clone()).expect("labels below 4");
        write_ensemble(path, &ensemble, None).expect("room on the disk");
    };
    write(memory, rows.view());
    write(disk, rows.view());
    fs::create_dir(parts).expect("a folder of one's own");
    for (part, rows) in rows.axis_chunks_iter(Axis(0), objects.div_ceil(FILES)).enumerate() {
        write(&parts.join(format!("{part:02}.parquet")), rows);
    }
}

/// Twenty files on more threads than there are processors.
const PARTS: &[(&str, &str)] = &[("parts", "8")];

/// And one file on one thread.
const BOTH: &[(&str, &str)] = &[("e.parquet", "1"), PARTS[0]];

/// And a manifest of the twenty files.
const ALL: &[(&str, &str)] = &[BOTH[0], PARTS[0], ("m.json", "2")];

/// A folder with the ensemble in all these files.
fn place() -> Workplace {
    let place = Workplace::new();
    write_large([&place.path("e.npz"), &place.path("e.parquet"), &place.path("parts")]);
    place.partita(&["manifest", "parts", "-o", "m.json"]).fine();
    place
}

/// Holds the labels of a method from files, in a small memory, to those of rows that are held.
fn same_labels(place: &Workplace, method: &str, files: &[(&str, &str)], settings: &[&str]) {
    let run = |file: &str, more: &[&str]| {
        let words = [&["consensus", file, "-m", method, "-k", "4", "-o", "l.csv", "--force"], settings, more].concat();
        place.partita(&words).fine();
        fs::read(place.path("l.csv")).expect("labels")
    };
    let expected = run("e.npz", &["--threads", "2"]);
    assert!(expected.len() > 1 << 24);
    // As wholes: what differs is too long to be shown.
    for &(file, threads) in files {
        let tight = ["--threads", threads, "--max-memory", "400MiB", "--stream"];
        assert!(run(file, &tight) == expected, "{method} from {file} on {threads} threads in 400 MiB");
    }
}

#[test]
fn labels_do_not_depend_on_where_rows_are_on_threads_or_on_memory() {
    let place = place();
    same_labels(&place, "lwgp", ALL, &["--set", "restarts=2"]);
    same_labels(&place, "plurality", PARTS, &["--base-weights", "agreement"]);
    same_labels(&place, "mcla", PARTS, &[]);
    same_labels(&place, "acv", PARTS, &[]);
    // Labels in columns and arrays are those of rows in memory too, to the byte, and are not held either.
    for labels in ["l.parquet", "l.npy"] {
        let run = |file: &str, more: &[&str]| {
            place
                .partita(&[&["consensus", file, "-m", "acv", "-k", "4", "-o", labels, "--force"], more].concat())
                .fine();
            fs::read(place.path(labels)).expect("labels")
        };
        assert!(run("e.npz", &[]) == run("m.json", &["--max-memory", "200MiB"]), "{labels}");
    }
    let refused = place.partita(&["consensus", "e.parquet", "-m", "lwgp", "-k", "4", "--max-memory", "1MiB"]);
    refused.refused(&["memory budget"]);
}

/// Beside the other test, which does not take longer than this one.
#[test]
fn labels_of_methods_in_rounds_do_not_depend_on_it_either() {
    let place = place();
    for (method, files) in [("mm", BOTH), ("bce", PARTS), ("nbce-vb", BOTH)] {
        same_labels(&place, method, files, &["--set", "restarts=1", "--set", "rounds=1"]);
    }
    for method in ["median-vi", "median-binder"] {
        same_labels(&place, method, PARTS, &["--set", "restarts=1", "--set", "sweeps=2"]);
    }
    same_labels(&place, "kc", BOTH, &["--set", "restarts=2", "--set", "rounds=2", "--base-weights", "agreement"]);
}

#[test]
fn what_cannot_stay_on_the_disk_is_refused_with_the_reason() {
    let place = Workplace::new();
    place.file("e.csv", "a,b\n1,1\n1,2\n2,2\n2,1\n");
    let stream = ["consensus", "e.csv", "-k", "2", "--stream", "-m"];
    place.partita(&[&stream[..], &["eac-average"]].concat()).refused(&["eac-average holds all label rows", "lwgp"]);
    place
        .partita(&[&stream[..], &["lwgp"]].concat())
        .refused(&["only numbers in Parquet, Arrow or NPY are read in groups"]);
}
