//! No number in a page was typed by hand: the pages are what the raw values give, and what is typed is the papers' own.

use std::path::Path;

use partita_reproduce::{Results, STUDIES, Scope, pages};

/// Fractions that a sentence may hold besides the papers' results: settings of the protocols (grids, ranges, rates), what the papers
/// say of their machines, the slack of the floors, and nothing.
const SETTINGS: [f64; 11] = [0.01, 0.1, 0.25, 0.5, 1.5, 2.5, 13.8, 16.7, 2.8, 0.02, 0.0];

#[test]
fn pages_are_what_the_raw_values_give() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for (name, text) in pages(
        STUDIES,
        &root,
        Scope {
            seeds: 5,
            quick: false,
        },
    )
    .unwrap()
    {
        let path = root.join("docs/reproduction").join(&name);
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == text,
            "docs/reproduction/{name} is stale; run `cargo xtask reproduce --pages`"
        );
    }
}

/// What the README says of the tables is what the raw values give.
#[test]
fn the_readme_says_how_many_cells_are_reached() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let scope = Scope {
        seeds: 5,
        quick: false,
    };
    let written = pages(STUDIES, &root, scope).unwrap();
    let (_, summary) = written
        .iter()
        .find(|(name, _)| name == "README.md")
        .unwrap();
    let sentence = summary
        .lines()
        .find(|line| line.starts_with("Of "))
        .unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let words: Vec<&str> = readme.split_whitespace().collect();
    let readme = words.join(" ");
    assert!(
        readme.contains(sentence),
        "README.md has to say: {sentence}"
    );
}

#[test]
fn sentences_hold_no_measured_number() {
    for study in STUDIES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("published")
            .join(format!("{}.csv", study.name()));
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        let mut records = csv::Reader::from_reader(published.as_bytes());
        let records: Vec<_> = records.records().map(Result::unwrap).collect();
        let theirs: Vec<f64> = records
            .iter()
            .filter_map(|record| record[5].parse().ok())
            .collect();
        // Without results a page has nothing but what was typed; its tables are the papers' numbers.
        let page = study.page(&Results::default());
        let sentences = page.lines().filter(|line| !line.starts_with('|'));
        for text in sentences.chain(records.iter().map(|record| &record[6])) {
            for number in fractions(text) {
                assert!(
                    theirs.contains(&number) || SETTINGS.contains(&number),
                    "{}: {number} is neither published nor a setting: {text}",
                    study.name()
                );
            }
        }
    }
}

/// Numbers with a decimal point.
fn fractions(text: &str) -> impl Iterator<Item = f64> {
    let words = text
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .map(|word| word.trim_end_matches('.'));
    words
        .filter(|word| word.contains('.'))
        .filter_map(|word| word.parse().ok())
}
