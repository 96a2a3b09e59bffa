//! What holds for every method, setting and recipe that the program lists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Workplace, repository, shipped, three_groups};

/// The methods that the program lists.
fn methods(place: &Workplace) -> Vec<Value> {
    let mut listed = place.run("methods --json").json();
    serde_json::from_value(listed["methods"].take()).expect("a list")
}

fn name(method: &Value) -> &str {
    method["name"].as_str().expect("a name")
}

#[test]
fn methods_are_listed_and_explained() {
    let place = Workplace::new();
    let text = place.run("methods").fine();
    for method in methods(&place) {
        assert!(
            text.contains(name(&method)),
            "{} is not in:\n{text}",
            name(&method)
        );
        let explained = place.run(&format!("methods {}", name(&method))).fine();
        for setting in method["settings"].as_array().expect("settings") {
            assert!(
                explained.contains(&format!("--set {}=", name(setting))),
                "{explained}"
            );
        }
    }
}

#[test]
fn a_method_that_cannot_choose_a_number_of_clusters_is_refused() {
    let place = Workplace::new();
    place.file("t.csv", three_groups(30));
    for method in methods(&place)
        .iter()
        .filter(|method| method["chooses_clusters"] == false)
    {
        let run = format!(
            "run t.csv --label kind -o out -k method -m {}",
            name(method)
        );
        place.run(&run).refused(&[name(method), "cannot choose"]);
        assert_eq!(place.files(), ["t.csv"]);
    }
}

/// The groups of a labels file, whatever they are called: sets of object names.
fn groups(csv: &str) -> BTreeSet<BTreeSet<&str>> {
    let mut groups = BTreeMap::<&str, BTreeSet<&str>>::new();
    for line in csv.lines().skip(1) {
        let mut cells = line.split(',');
        let object = cells.next().expect("an object");
        groups
            .entry(cells.next().expect("a label"))
            .or_default()
            .insert(object);
    }
    groups.into_values().collect()
}

#[test]
fn shuffled_rows_are_the_same_partition() {
    let place = Workplace::new();
    let generate = format!(
        "generate {} --label label --base kmeans:30 -o e.csv",
        shipped("iris.csv")
    );
    place.run(&generate).fine();
    let text = place.text("e.csv");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if !lines[0].starts_with("object,") {
        lines[0].insert_str(0, "object,");
        (1..lines.len()).for_each(|at| lines[at].insert_str(0, &format!("o{at},")));
    }
    place.file("forward.csv", lines.join("\n"));
    let rows = (0..150).map(|at| &lines[1 + at * 67 % 150]);
    let shuffled: Vec<&str> = [&lines[0]]
        .into_iter()
        .chain(rows)
        .map(String::as_str)
        .collect();
    place.file("shuffled.csv", shuffled.join("\n"));
    for method in methods(&place)
        .iter()
        .filter(|method| method["reads"] == "labels")
    {
        let quick = if name(method) == "baum-eagon" {
            "--set iterations=100"
        } else {
            ""
        };
        let [forward, shuffled] = ["forward.csv", "shuffled.csv"].map(|file| {
            place
                .run(&format!(
                    "consensus {file} --label label -m {} -k 3 --seed 3 {quick}",
                    name(method)
                ))
                .fine()
        });
        assert_eq!(groups(&forward), groups(&shuffled), "{}", name(method));
    }
}

#[test]
fn the_best_of_several_methods_is_chosen_in_the_open() {
    let place = Workplace::new();
    place
        .run(&format!(
            "generate {} --label label --base kmeans:20 -o e.npz",
            shipped("iris.csv")
        ))
        .fine();
    let ended = place.run("consensus e.npz -m best -k 3 -o l.csv --json");
    assert!(
        ended.stderr.contains("eac-average") && ended.stderr.contains("chosen: "),
        "{}",
        ended.stderr
    );
    let record = ended.json();
    let table = record["details"]["table"].as_array().expect("a table");
    let others = |entry: &Value| entry["verdict"]["found"]["others"].as_f64().unwrap_or(0.0);
    let winner = table
        .iter()
        .find(|entry| entry["method"] == record["details"]["chosen"]);
    let winner = winner.expect("it is in the table");
    assert_eq!(others(winner), table.iter().map(others).fold(0.0, f64::max));
    // Every outcome says how far it agrees with the ensemble.
    let own = record["anmi"].as_f64().expect("a number");
    let agreement = winner["verdict"]["found"]["agreement"]["anmi"]
        .as_f64()
        .expect("a number");
    assert!((own - agreement).abs() < 1e-12, "{own} {winner}");
}

/// Sets of more rows are tried by hand: unoptimised they take minutes.
const MOST_ROWS: usize = 6000;

/// A set that is shipped, or lies in the folder that the machine names; none where there is no such folder.
pub(crate) fn data(file: &str) -> Option<PathBuf> {
    let here = repository("datasets").join(file);
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

/// The papers' recipes on the data sets of the catalogue.
#[test]
fn recipes_of_the_papers_work_on_every_small_set() {
    let place = Workplace::new();
    let catalogue = std::fs::read_to_string(repository("crates/input/files/catalogue.csv"));
    let mut tried = 0;
    for line in catalogue.expect("the catalogue").lines().skip(1) {
        let fields: Vec<&str> = line.splitn(7, ',').collect();
        let [set, file, rows, _, classes, kind, ..] = fields[..] else {
            panic!("{line}");
        };
        let rows: usize = rows.parse().expect("rows");
        let Some(path) = data(file).filter(|_| rows <= MOST_ROWS) else {
            continue;
        };
        let mut table = path.display().to_string();
        if kind == "text" {
            place
                .run(&format!(
                    "text {table} --column text --label label -o {set}.npz"
                ))
                .fine();
            table = format!("{set}.npz");
        }
        let fill = if kind == "gaps" { "--fill" } else { "" };
        for preset in ["nbce", "ssce"] {
            let recipe = format!(
                "--label label --preset {preset} -k {classes} -o {set}-{preset}.npz --json {fill}"
            );
            let made = place.run(&format!("generate {table} {recipe}")).json();
            assert_eq!(made["n"], rows, "{set}");
            assert!(made["base_clusterings"].as_u64() >= Some(10), "{set}");
        }
        tried += 1;
    }
    assert!(tried >= 4, "{tried}");
}
