//! What a case cannot say of the built binary: files that other programs write, other folders, the pages of the manual.

use partita::EnsembleBuilder;
use partita::files::write_ensemble;

use crate::cases::npy;
use crate::common::{Ended, Workplace, shipped, three_groups};
use crate::examples::{commands, pools};

#[test]
fn every_command_has_a_manual_page() {
    let place = Workplace::new();
    place.run("man -o pages").fine();
    let top = place.run("--help").fine();
    let names = commands(&top);
    assert!(names.len() >= 18, "{names:?}");
    for step in ["plan", "run", "merge"] {
        let text = place.text(&format!("pages/partita-distributed-{step}.1"));
        assert!(text.contains(".TH"), "{text}");
    }
    for name in names {
        let text = place.text(&format!("pages/partita-{name}.1"));
        assert!(
            text.contains(".TH") && text.contains(&format!("partita-{name}")),
            "{text}"
        );
        assert!(place.run(&format!("man {name}")).fine() == text, "{name}");
    }
    assert!(place.text("pages/partita.1").contains(".TH partita 1"));
    let version = place.run("--version").fine();
    let rest = version.strip_prefix(concat!("partita ", env!("CARGO_PKG_VERSION")));
    // The commit, where there is a repository.
    let rest = rest.expect("name and version").trim_end();
    assert!(rest.is_empty() || rest.len() == 43, "{version}");
}

/// A Parquet file of pandas with an index and categories.
#[test]
fn an_index_of_pandas_names_the_objects() {
    let place = Workplace::new();
    let mut builder = EnsembleBuilder::new(300);
    for tool in ["louvain", "leiden", "kmeans"] {
        let labels = (0..300).map(|i| Some(format!("cluster {}", i % 3)));
        builder.push(tool, labels).expect("labels");
    }
    let names = (0..300).map(|i| Some(format!("AAC{i}")));
    builder.push("__index_level_0__", names).expect("names");
    let ensemble = builder.finish().expect("an ensemble");
    write_ensemble(&place.path("cells.parquet"), &ensemble, None).expect("room on the disk");
    for method in ["lwgp", "lwea"] {
        let found = place.run(&format!("consensus cells.parquet -k 3 -m {method}"));
        assert!(
            found
                .stderr
                .contains("names from '__index_level_0__' (an index)"),
            "{}",
            found.stderr
        );
        let printed = found.fine();
        let labels: Vec<&str> = printed
            .lines()
            .skip(1)
            .filter_map(|line| line.split(',').nth(1))
            .collect();
        assert!(printed.contains("\nAAC299,"), "{printed}");
        assert!(
            (3..300).all(|i| labels[i] == labels[i % 3]) && labels[0] != labels[1],
            "{printed}"
        );
    }
}

#[test]
fn a_number_that_is_missing_in_a_file_of_arrays_is_nan() {
    let place = Workplace::new();
    let number = |i: usize| {
        if i % 9 == 4 {
            f64::NAN
        } else {
            (i % 3 * 10) as f64
        }
    };
    let numbers = (0..60).flat_map(|i| [number(i), 0.5]);
    let bytes: Vec<u8> = numbers.flat_map(f64::to_le_bytes).collect();
    place.file("t.npy", npy("<f8", "(60, 2)", &bytes));
    let run = "run t.npy -k 3 --base kmeans:9 --base-k 3 -o npy";
    place.run(run).refused(&["t.npy", "row 5"]);
    let imputed = place.run(&format!("{run} --impute mean"));
    assert!(
        imputed.stderr.contains("missing values (NaN)"),
        "{}",
        imputed.stderr
    );
    imputed.fine();
}

#[test]
fn inputs_of_a_record_are_found_from_another_folder() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(30));
    place
        .run("run t.csv --label kind -k 3 --base kmeans:9 -o out")
        .fine();
    let folder = place.path("").canonicalize().expect("a folder");
    let record: serde_json::Value =
        serde_json::from_str(&place.text("out/record.json")).expect("JSON");
    let noted = std::path::Path::new(record["working_folder"].as_str().expect("a folder"));
    assert_eq!(noted.canonicalize().expect("a folder"), folder);
    assert_eq!(record["inputs"][0]["bytes"], three_groups(30).len());
    let commit = record["commit"].as_str().expect("a commit");
    assert!(commit == "unknown" || commit.len() == 40, "{commit}");
    std::fs::create_dir(place.path("elsewhere")).expect("a folder");
    let mut command = place.command(&["run", "--from", "../out/record.json", "-o", "../again"]);
    Ended::of(
        command
            .current_dir(place.path("elsewhere"))
            .output()
            .expect("the binary"),
    )
    .fine();
    for file in ["labels.csv", "ensemble.npz"] {
        assert!(
            place.read(&format!("out/{file}")) == place.read(&format!("again/{file}")),
            "{file}"
        );
    }
}

#[test]
fn the_command_on_the_page_repeats_the_run_as_it_stands_there() {
    let place = Workplace::new();
    place
        .run(&format!(
            "run {} -k 3 --base kmeans:5 -o out/",
            shipped("iris.csv")
        ))
        .fine();
    let page = place.text("out/report.html");
    let text = page
        .split("<pre id=\"command\">")
        .nth(1)
        .and_then(|rest| rest.split("</pre>").next());
    let text = text.expect("a command").replace("&amp;", "&");
    place.shell(&format!("set -e; cd out; {text}")).fine();
    assert_eq!(
        place.text("out/labels.csv"),
        place.text("out/again/labels.csv")
    );
    let folder = place.path("out").display().to_string();
    assert!(
        !page.contains(&folder),
        "the page names the author's folder"
    );
}

/// A published pool of base clusterings, where `PARTITA_POOLS` says; on a machine without it, CI fails.
#[test]
fn a_published_pool_is_read_and_scored() {
    let Some(pools) = pools() else { return };
    let pool = pools.join("Semeion.mat").display().to_string();
    let place = Workplace::new();
    place
        .run(&format!("consensus {pool} -m eac-average -k 10 -o l.csv"))
        .fine();
    let scores = place
        .run(&format!("evaluate l.csv --truth {pool} --json"))
        .json();
    assert!(scores["nmi"]["max"].as_f64() > Some(0.6), "{scores}");
}
