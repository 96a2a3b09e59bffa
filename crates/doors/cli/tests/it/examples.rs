//! Every example of the README, of the guide and of the help texts, typed as it stands there: it ends well, and its outputs are there.
//! `tests/examples.txt` says how the files that they read are made.

use std::path::PathBuf;

use crate::cases::{Case, parse};
use crate::common::{Workplace, repository, shipped};
use crate::methods::data;

#[test]
fn the_commands_of_the_readme_do_what_they_say() {
    let text = std::fs::read_to_string(repository("README.md")).expect("the README");
    let place = Workplace::new();
    let lines = examples(&text, &["partita "]);
    assert!(lines.len() >= 5, "{lines:?}");
    let files = files();
    // What is there before anything is run: a data set, labels of several tools, a table.
    lines[..3]
        .iter()
        .for_each(|line| prepare(&place, &files, line));
    lines.iter().for_each(|line| runs(&place, line));
}

/// Chapter after chapter in one folder with the data sets that are shipped: no chapter disturbs a later one.
#[test]
fn the_commands_of_the_guide_do_what_they_say() {
    let guide = repository("docs/guide");
    let listed = std::fs::read_to_string(guide.join("SUMMARY.md")).expect("the list of chapters");
    let place = Workplace::new();
    std::fs::create_dir(place.path("datasets")).expect("a folder");
    for data in ["digits.csv", "iris.csv", "wdbc.csv", "wine.csv"] {
        std::fs::copy(shipped(data), place.path("datasets").join(data)).expect("a copy");
    }
    let chapters = listed.split("](").skip(1);
    let chapters = chapters.filter_map(|rest| Some(rest.split_once(')')?.0));
    let chapters: Vec<&str> = chapters.collect();
    for entry in guide.read_dir().expect("the guide").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let known = chapters.contains(&&*name) || name == "SUMMARY.md";
        assert!(
            known || entry.path().extension().is_none_or(|ending| ending != "md"),
            "{name} is not in SUMMARY.md"
        );
    }
    let mut tried = 0;
    for name in chapters {
        let text = std::fs::read_to_string(guide.join(name)).expect("a chapter");
        assert!(
            text.lines().count() <= 150,
            "{name} is longer than 150 lines"
        );
        let lines = examples(&text, &["partita ", "printf "]);
        lines.iter().for_each(|line| runs(&place, line));
        tried += lines.len();
    }
    assert!(tried > 40, "{tried} commands were found");
}

/// Every cell of PEnCA whose table is at hand; the page says what H the first run has.
#[test]
fn the_commands_of_penca_s_cells_give_the_h_that_the_page_has() {
    let text = std::fs::read_to_string(repository("docs/reproduction/penca.md")).expect("a page");
    let cells: Vec<(&str, &str)> = text
        .lines()
        .filter_map(|line| line.split_once(" # H "))
        .collect();
    assert_eq!(cells.len(), 12);
    let place = Workplace::new();
    let mut tried = 0;
    for (line, h) in cells {
        let word = |word: &&str| word.contains(".csv");
        let table = line.split_whitespace().find(word).expect("a table");
        if !line.starts_with("partita synth") {
            let Some(path) = data(table) else {
                continue;
            };
            std::fs::copy(path, place.path(table)).expect("a copy");
        }
        let ended = place.shell(line);
        assert_eq!(ended.code, Some(0), "{line}\n{}", ended.stderr);
        let folder = line.rsplit(' ').next().expect("a folder");
        let record = std::fs::read(place.path(folder).join("record.json")).expect("a record");
        let record: serde_json::Value = serde_json::from_slice(&record).expect("JSON");
        let found = record["methods"][0]["scores"]["h"]
            .as_f64()
            .expect("a number");
        assert_eq!(format!("{found:.3}"), h, "{line}");
        tried += 1;
    }
    assert!(tried >= 4, "{tried}");
}

/// The items of the papers, from top to bottom in one folder; of KDD fewer rows than the page has.
#[test]
fn the_commands_of_the_papers_items_do_what_they_say() {
    let text = std::fs::read_to_string(repository("docs/reproduction/items.md")).expect("items");
    let place = Workplace::new();
    std::fs::create_dir(place.path("datasets")).expect("a folder");
    for data in ["iris.csv", "wine.csv"] {
        std::fs::copy(shipped(data), place.path("datasets").join(data)).expect("a copy");
    }
    let lines = examples(&text, &["partita "]);
    assert!(lines.len() > 80, "{}", lines.len());
    let (kdd, lines): (Vec<_>, Vec<_>) = lines
        .into_iter()
        .partition(|line| line.contains("kddcup99"));
    lines.iter().for_each(|line| runs(&place, line));
    let page = std::fs::read_to_string(repository("docs/reproduction/kdd.md")).expect("a page");
    let line = kdd.first().expect("the command of KDD");
    let (command, _) = line.split_once(" -o ").expect("an output");
    assert!(page.contains(command), "kdd.md does not have {command}");
    let table = "kddcup99-10percent.csv.gz";
    if let Some(path) = data(table) {
        std::fs::copy(path, place.path(table)).expect("a copy");
        kdd.iter()
            .for_each(|line| runs(&place, &line.replace("40000", "200")));
    }
}

#[test]
fn the_examples_of_help_do_what_they_say() {
    let help = |arguments: &str| Workplace::new().run(arguments).fine();
    let files = files();
    let top = help("--help");
    let mut texts = vec![top.clone()];
    texts.extend(
        commands(&top)
            .iter()
            .map(|name| help(&format!("{name} --help"))),
    );
    let mut tried = 0;
    for line in texts
        .iter()
        .flat_map(|text| examples(text, &["  partita "]))
    {
        let place = Workplace::new();
        if line.contains("ensemble.mat") {
            let Some(pools) = pools() else { continue };
            std::fs::copy(pools.join("SPF.mat"), place.path("ensemble.mat")).expect("a copy");
        }
        prepare(&place, &files, &line);
        runs(&place, &line);
        tried += 1;
    }
    assert!(tried > 30, "{tried} examples were found");
}

/// The names of the commands that the help lists.
pub(crate) fn commands(help: &str) -> Vec<&str> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names
        .filter(|name| !name.is_empty() && *name != "help")
        .collect()
}

/// The folder of published pools, which only machines that have it name.
pub(crate) fn pools() -> Option<PathBuf> {
    let folder = std::env::var_os("PARTITA_POOLS").map(PathBuf::from);
    assert!(
        folder.is_some() || std::env::var_os("CI").is_none(),
        "PARTITA_POOLS names no folder"
    );
    folder
}

/// Lines that show a command, continued ones joined, without what stands after a #.
fn examples(text: &str, beginnings: &[&str]) -> Vec<String> {
    let shows = |line: &&str| {
        beginnings
            .iter()
            .any(|beginning| line.starts_with(beginning))
    };
    let mut shown = text.lines().filter(shows);
    let long = shown.find(|line| line.starts_with("  ") && line.chars().count() > 78);
    assert_eq!(long, None, "a terminal of 80 columns breaks this line");
    let joined = text.replace("\\\n", " ");
    let plain = |line: &str| line.split(" #").next().unwrap_or(line).trim().to_owned();
    joined.lines().filter(shows).map(plain).collect()
}

/// Runs a line in a shell; then what it names after -o is there.
#[track_caller]
fn runs(place: &Workplace, line: &str) {
    let ended = place.shell(line);
    assert_eq!(ended.code, Some(0), "{line}\n{}", ended.stderr);
    let words: Vec<&str> = line.split_whitespace().collect();
    let outputs = ["-o", "--soft", "--model", "--figures", ">"];
    for pair in words.windows(2).filter(|pair| outputs.contains(&pair[0])) {
        assert!(
            place.path(pair[1]).exists(),
            "{line}\nleaves no {}",
            pair[1]
        );
    }
}

/// How the files are made that examples read.
fn files() -> Vec<Case> {
    let text = std::fs::read_to_string(repository("crates/doors/cli/tests/examples.txt"));
    parse("examples.txt", &text.expect("text"))
}

/// Makes the files that a line reads: those of its words that it does not write.
fn prepare(place: &Workplace, files: &[Case], line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let writes =
        |before: &str| matches!(before, "-o" | ">") || before == "--model" && line.contains(" -o ");
    let read = words.windows(2).filter(|pair| !writes(pair[0]));
    let read: Vec<&str> = read
        .map(|pair| pair[1].split(':').next().unwrap_or(pair[1]))
        .collect();
    for file in files.iter().filter(|file| read.contains(&file.title())) {
        if !place.path(file.title()).exists() {
            file.do_in(place)
                .unwrap_or_else(|why| panic!("{line}\n{why}"));
        }
    }
}
