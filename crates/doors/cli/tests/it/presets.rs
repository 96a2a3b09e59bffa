//! The papers' recipes on the data sets of the catalogue.

use std::path::{Path, PathBuf};

use crate::common::Workplace;

/// Sets of more rows are tried by hand: unoptimised they take minutes.
const MOST_ROWS: usize = 6000;

/// Name, file, rows, classes and kind of every set of the catalogue.
fn catalogue() -> Vec<(String, String, usize, String, String)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../input/files/catalogue.csv");
    let text = std::fs::read_to_string(file).expect("the catalogue");
    let row = |line: &str| {
        let fields: Vec<&str> = line.splitn(7, ',').collect();
        (
            fields[0].into(),
            fields[1].into(),
            fields[2].parse().expect("rows"),
            fields[4].into(),
            fields[5].into(),
        )
    };
    text.lines().skip(1).map(row).collect()
}

/// A set that is shipped, or lies in the folder that the machine names; none where there is no such folder.
fn data(file: &str) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../datasets")
        .join(file);
    if here.exists() {
        return Some(here);
    }
    let folder = std::env::var_os("PARTITA_DATASETS");
    assert!(
        folder.is_some() || std::env::var_os("CI").is_none(),
        "PARTITA_DATASETS names no folder with {file}"
    );
    folder.map(|folder| Path::new(&folder).join(file))
}

#[test]
fn recipes_of_the_papers_work_on_every_small_set() {
    let place = Workplace::new();
    let mut tried = 0;
    for (name, file, rows, classes, kind) in
        catalogue().into_iter().filter(|set| set.2 <= MOST_ROWS)
    {
        let Some(path) = data(&file) else { continue };
        let mut table = path.display().to_string();
        if kind == "text" {
            let words = format!("{name}.npz");
            place
                .partita(&[
                    "text", &table, "--column", "text", "--label", "label", "-o", &words,
                ])
                .fine();
            table = words;
        }
        for preset in ["nbce", "ssce"] {
            let ensemble = format!("{name}-{preset}.npz");
            let recipe = [
                "generate", &table, "--label", "label", "--preset", preset, "-k", &classes, "-o",
                &ensemble, "--json",
            ];
            let fill: &[&str] = if kind == "gaps" { &["--fill"] } else { &[] };
            let made = place.partita(&[&recipe[..], fill].concat()).json();
            assert_eq!(
                (&made["n"], made["base_clusterings"].as_u64() >= Some(10)),
                (&rows.into(), true),
                "{name}"
            );
        }
        tried += 1;
    }
    assert!(tried >= 4, "{tried}");
}
