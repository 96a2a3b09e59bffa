//! Ensembles that are read block by block: the same labels wherever the rows are, with any number of threads and any
//! memory budget that is accepted.

use std::fs;

use partita::extend::LABELS_BY_BLOCKS;
use partita::ndarray::Axis;

use crate::common::Workplace;
use crate::data::{noisy, write_rows};

/// Base clusterings, so many that writing the labels of their objects is quick.
const BASES: usize = 27;
/// Files of the ensemble that lies in a folder.
const FILES: usize = 20;
/// Just so many that they are read by blocks wherever they are.
const LARGE: usize = LABELS_BY_BLOCKS as usize / BASES + 1000;
/// Six blocks, which are read by blocks only from a manifest.
const SMALL: usize = LARGE / 48;

/// A folder with an ensemble in memory, in a file and in twenty files, and manifests of both.
fn place(objects: usize) -> Workplace {
    let place = Workplace::new();
    let rows = noisy(objects, BASES, 0);
    write_rows(&place, "e.npz", rows.view());
    write_rows(&place, "e.parquet", rows.view());
    fs::create_dir(place.path("parts")).expect("a folder");
    for (part, rows) in rows
        .axis_chunks_iter(Axis(0), objects.div_ceil(FILES))
        .enumerate()
    {
        write_rows(&place, &format!("parts/{part:02}.parquet"), rows);
    }
    place.run("manifest parts -o m.json").fine();
    place.run("manifest e.parquet -o one.json").fine();
    place
}

/// Holds the labels of a method from files, in a small memory, to those that it gives rows of `from`.
fn same_labels(place: &Workplace, from: &str, asked: &str, files: &[&str]) {
    let run = |file: &str| {
        place
            .run(&format!(
                "consensus {file} -k 4 -o l.csv --force -m {asked}"
            ))
            .fine();
        place.read("l.csv")
    };
    let expected = run(from);
    assert!(expected.len() > 1 << 17);
    // As wholes: what differs is too long to be shown.
    for file in files {
        let tight = format!("{file} --max-memory 400MiB --stream");
        assert!(run(&tight) == expected, "{asked} from {file} in 400 MiB");
    }
}

#[test]
fn labels_of_many_rows_are_those_of_rows_that_are_held() {
    let place = place(LARGE);
    // Twenty files on more threads than there are processors, and one file on one thread.
    let files = ["parts --threads 8", "e.parquet --threads 1"];
    let asked = "lwgp --set restarts=1 --base-weights agreement";
    same_labels(&place, "e.npz --threads 2", asked, &files);
    place
        .run("consensus e.parquet -m lwgp -k 4 --max-memory 1MiB")
        .refused(&["memory budget"]);
    // The folder of files leaves a record like that of any run.
    place.run("consensus parts -m acv -k 4 -o big/").fine();
    let labels = place.read("big/labels.csv");
    place.run("report big -o page.html").fine();
    assert!(place.text("page.html") == place.text("big/report.html"));
    place.run("run --from big/record.json -o again").fine();
    assert!(place.read("again/labels.csv") == labels);
}

#[test]
fn labels_do_not_depend_on_where_rows_are_on_threads_or_on_memory() {
    let place = place(SMALL);
    let quick = "--set restarts=1 --set iterations=1";
    let methods = "plurality,hbgf,mcla,ecpcs-mc,lce,gp-mgla,urcv,rcv,acv,sec,mm,bce,nbce-vb,nbce-cvb,kcc,qmi,ipvc,soft-mean,median-vi,median-binder,stream";
    for method in methods.split(',') {
        let asked = match method {
            "plurality" => "plurality --base-weights agreement".to_owned(),
            "stream" => "soft-mean --set order=stream".to_owned(),
            "median-vi" | "median-binder" => format!("{method} --set restarts=1 --set sweeps=2"),
            "mm" | "bce" | "nbce-vb" | "nbce-cvb" | "kcc" | "qmi" | "ipvc" | "soft-mean" => {
                format!("{method} {quick}")
            }
            _ => method.to_owned(),
        };
        same_labels(
            &place,
            "one.json --threads 1",
            &asked,
            &["m.json --threads 8"],
        );
    }
    // Labels in columns and arrays are the same from many files, to the byte.
    for labels in ["l.parquet", "l.npy"] {
        let run = |file: &str| {
            place
                .run(&format!("consensus {file} -m acv -k 4 -o {labels} --force"))
                .fine();
            place.read(labels)
        };
        assert!(
            run("one.json --threads 1") == run("m.json --max-memory 200MiB"),
            "{labels}"
        );
    }
}

/// A folder as Spark writes it has more files than a process may have open, which are usually 1,024.
#[test]
fn files_are_open_only_while_they_are_read() {
    let place = place(1000);
    for file in 0..100 {
        let from = place.path(&format!("parts/{:02}.parquet", file % FILES));
        fs::copy(
            from,
            place.path(&format!("parts/{:03}.parquet", file + 100)),
        )
        .expect("room on the disk");
    }
    let run = |files: u32, words: &str| {
        place
            .shell(&format!("ulimit -n {files}; exec partita {words} --force"))
            .fine();
        fs::read(place.path("l.csv")).unwrap_or_default()
    };
    run(60, "manifest parts -o m.json");
    let labels = run(60, "consensus m.json -m kc -k 4 -o l.csv");
    assert!(labels == run(1000, "consensus m.json -m kc -k 4 -o l.csv"));
    assert_eq!(String::from_utf8_lossy(&labels).lines().count(), 6001);
    run(60, "consensus parts -m kc -k 4 -o l.csv");
}
