//! Tables against values by hand, a naive reference, and an independent tool.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use partita_core::{Flow, Monitor, Seed, Silent};
use partita_text::{Frequency, Idf, Terms, TextError, TextSettings, tf_idf, words};

const FRUIT: [&str; 4] = [
    "apple pear apple plum",
    "pear fig",
    "plum plum plum apple fig fig",
    "quince",
];

fn settings(change: impl FnOnce(&mut TextSettings)) -> TextSettings {
    let mut settings = TextSettings::default();
    (settings.stemming, settings.min_documents) = (false, 1);
    change(&mut settings);
    settings
}

fn table(documents: &[&str], settings: &TextSettings) -> Result<Terms, TextError> {
    tf_idf(documents, settings, &Silent)
}

fn rows(terms: &Terms) -> Vec<Vec<f64>> {
    let (n, d) = terms.matrix.shape();
    let value = |i, t| terms.matrix.get(i, t).copied().unwrap_or(0.0);
    (0..n)
        .map(|i| (0..d).map(|t| value(i, t)).collect())
        .collect()
}

fn near(a: &[Vec<f64>], b: &[Vec<f64>]) -> bool {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    a.len() == b.len() && pairs.clone().all(|(a, b)| (a - b).abs() < 1e-14)
}

#[test]
fn worked_by_hand() {
    // Counts: plum (1, 0, 3, 0) has n²·variance 4·10 − 16 = 24, fig (0, 1, 2, 0) and apple (2, 0, 1, 0) 4·5 − 9 = 11,
    // pear (1, 1, 0, 0) 4, quince (0, 0, 0, 1) 3. Each of the first three stands in 2 of 4 documents: ln 2.
    let made = table(&FRUIT, &settings(|s| (s.terms, s.unit_length) = (2, false))).unwrap();
    let ln = std::f64::consts::LN_2;
    let none = || vec![0.0; 2];
    let expected = [vec![2.0 * ln, ln], none(), vec![ln, 3.0 * ln], none()];
    assert!(near(&rows(&made), &expected));
    assert_eq!(made.empty_documents(), [1, 3]);
    assert_eq!(made.terms, ["apple", "plum"]);
    assert_eq!((made.documents, made.found), (vec![2, 2], 5));
    let unit = table(&FRUIT, &settings(|s| s.terms = 2)).unwrap();
    let (five, ten) = (5f64.sqrt(), 10f64.sqrt());
    let (first, third) = (vec![2.0 / five, 1.0 / five], vec![1.0 / ten, 3.0 / ten]);
    assert!(near(&rows(&unit), &[first, none(), third, none()]));
}

#[test]
fn smooth_weights_are_those_of_scikit_learn() {
    // TfidfVectorizer(analyzer=str.split) of scikit-learn 1.9.1 on the same documents, then with sublinear_tf=True.
    let half = 0.5f64.sqrt();
    let a = [
        0.816496580927726,
        0.0,
        0.408248290463863,
        0.408248290463863,
        0.0,
    ];
    let c = [
        0.267261241912424,
        0.534522483824849,
        0.0,
        0.801783725737273,
        0.0,
    ];
    let expected = [a, [0.0, half, half, 0.0, 0.0], c, [0.0, 0.0, 0.0, 0.0, 1.0]];
    let made = table(&FRUIT, &settings(|s| s.idf = Idf::Smooth)).unwrap();
    assert_eq!(made.terms, ["apple", "fig", "pear", "plum", "quince"]);
    assert!(near(&rows(&made), &expected.map(|row| row.to_vec())));
    let log = settings(|s| (s.idf, s.frequency) = (Idf::Smooth, Frequency::Log));
    let made = table(&FRUIT, &log).unwrap();
    let third = [
        0.347714711709192,
        0.588732183769632,
        0.0,
        0.729718366943599,
        0.0,
    ];
    assert!(near(&rows(&made)[2..3], &[third.to_vec()]));
}

fn count(document: &BTreeMap<String, f64>, term: &str) -> f64 {
    document.get(term).copied().unwrap_or(0.0)
}

/// The same by maps and a dense table.
fn naive(documents: &[String], settings: &TextSettings) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut counted: Vec<BTreeMap<String, f64>> = Vec::new();
    for text in documents {
        let mut counts = BTreeMap::new();
        for word in words(text, settings) {
            *counts.entry(word).or_insert(0.0) += 1.0;
        }
        counted.push(counts);
    }
    let n = documents.len() as f64;
    let all: BTreeSet<&String> = counted.iter().flat_map(BTreeMap::keys).collect();
    let counts = |term: &str| -> Vec<f64> { counted.iter().map(|c| count(c, term)).collect() };
    let holds = |term: &str| counts(term).iter().filter(|&&c| c > 0.0).count();
    let spread = |term: &str| {
        let counts = counts(term);
        n * counts.iter().map(|c| c * c).sum::<f64>() - counts.iter().sum::<f64>().powi(2)
    };
    let mut terms: Vec<&String> = all
        .into_iter()
        .filter(|term| holds(term) >= settings.min_documents)
        .collect();
    terms.sort_by(|a, b| spread(b).total_cmp(&spread(a)));
    terms.truncate(settings.terms);
    terms.sort();
    let row = |document: &BTreeMap<String, f64>| {
        let weight = |term: &&String| count(document, term) * (n / holds(term) as f64).ln();
        let row: Vec<f64> = terms.iter().map(weight).collect();
        let length = row.iter().map(|w| w * w).sum::<f64>().sqrt();
        row.into_iter()
            .map(|w| if length > 0.0 { w / length } else { 0.0 })
            .collect()
    };
    let table = counted.iter().map(row).collect();
    (terms.into_iter().cloned().collect(), table)
}

#[test]
fn it_agrees_with_its_twin() {
    use rand::RngExt;
    let vocabulary = [
        "axes", "axe", "logs", "logging", "the", "Fig", "figs", "7", "don't", "saw", "sawing",
        "tree",
    ];
    for unit in 0..60 {
        let mut rng = Seed::new(unit).rng();
        let documents: Vec<String> = (0..2 + unit as usize % 13)
            .map(|_| {
                let chosen = (0..rng.random_range(0..30))
                    .map(|_| vocabulary[rng.random_range(0..vocabulary.len())]);
                chosen
                    .collect::<Vec<_>>()
                    .join(if unit % 2 == 0 { " " } else { ", " })
            })
            .collect();
        let mut settings = TextSettings::default();
        (settings.min_documents, settings.terms) = (1 + unit as usize % 3, 2 + unit as usize % 6);
        let (terms, expected) = naive(&documents, &settings);
        match tf_idf(&documents, &settings, &Silent) {
            Ok(made) => {
                assert_eq!(made.terms, terms, "{unit}");
                assert!(near(&rows(&made), &expected), "{unit}");
                assert!(made.matrix.data().iter().all(|&weight| weight > 0.0));
            }
            Err(error) => assert!(terms.is_empty(), "{unit}: {error}"),
        }
    }
}

struct No;
impl Monitor for No {
    fn tick(&self, _: u64, _: u64) -> Flow {
        Flow::Stop
    }
}

#[test]
fn what_makes_no_table_is_said() {
    for (documents, settings, expected) in [
        (&[][..], settings(|_| ()), "there are no documents"),
        (
            &["", "the 17 of 42", " ... "],
            settings(|_| ()),
            "none of 3 documents holds a word that is kept; look at the settings headers, markup, stop_words, numbers and min_length",
        ),
        (
            &FRUIT,
            settings(|s| s.min_documents = 40),
            "of 5 terms none stands in 40 of 4 documents, the most frequent in 2; lower min_documents to 2 or less",
        ),
        (
            &FRUIT,
            settings(|s| s.terms = 0),
            "a table of 0 terms holds nothing; ask for at least 1",
        ),
    ] {
        let message = table(documents, &settings).unwrap_err().to_string();
        assert_eq!(message, expected);
    }
    assert_eq!(
        tf_idf(FRUIT, &settings(|_| ()), &No),
        Err(TextError::Stopped { documents: 0 })
    );
    // A term that stands in every document says nothing and is worth nothing.
    let same = table(&["fig", "fig"], &settings(|_| ())).unwrap();
    assert_eq!((same.matrix.shape(), same.matrix.nnz()), ((2, 1), 0));
    assert_eq!(same.empty_documents(), [0, 1]);
}

#[test]
fn settings_read_back() {
    let text = serde_json::to_string(&TextSettings::peace()).unwrap();
    assert_eq!(
        serde_json::from_str::<TextSettings>(&text).unwrap(),
        TextSettings::peace()
    );
    let some: TextSettings = serde_json::from_str(r#"{"terms": 7, "idf": "smooth"}"#).unwrap();
    let mut all = TextSettings::default();
    (all.terms, all.idf) = (7, Idf::Smooth);
    assert_eq!(some, all);
    assert!(serde_json::from_str::<TextSettings>(r#"{"term": 7}"#).is_err());
}

/// The texts and labels of a compressed CSV file.
fn texts(file: &Path) -> Vec<(String, String)> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let place = |name: &str, headers: &csv::StringRecord| {
        headers.iter().position(|header| header == name).unwrap()
    };
    let headers = reader.headers().unwrap().clone();
    let (text, label) = (place("text", &headers), place("label", &headers));
    reader
        .records()
        .map(Result::unwrap)
        .map(|record| (record[text].to_owned(), record[label].to_owned()))
        .collect()
}

#[test]
fn newsgroups_and_university_pages_become_tables() {
    let Some(folder) = std::env::var_os("PARTITA_DATASETS") else {
        assert!(
            std::env::var_os("CI").is_none(),
            "PARTITA_DATASETS is not set"
        );
        return;
    };
    let folder = Path::new(&folder);
    let news = texts(&folder.join("mini-newsgroups.csv.gz"));
    let dropped = [
        "talk.politics.misc",
        "talk.religion.misc",
        "comp.os.ms-windows.misc",
    ];
    let news: Vec<&str> = news
        .iter()
        .filter(|(_, label)| !dropped.contains(&label.as_str()))
        .map(|(text, _)| text.as_str())
        .collect();
    let made = table(&news, &TextSettings::peace()).unwrap();
    assert_eq!(
        made.matrix.shape(),
        (1700, 500),
        "as the PEACE paper has it"
    );
    assert!(made.documents.iter().all(|&documents| documents >= 40));
    assert!(
        made.empty_documents().len() < 20,
        "{:?}",
        made.empty_documents()
    );
    for term in ["encrypt", "game", "god", "car"] {
        assert!(made.terms.iter().any(|known| known == term), "{term}");
    }
    let pages = texts(&folder.join("webkb.csv.gz"));
    let pages: Vec<&str> = pages.iter().map(|(text, _)| text.as_str()).collect();
    let mut settings = TextSettings::peace();
    settings.terms = 335;
    let made = table(&pages, &settings).unwrap();
    assert_eq!(made.matrix.shape(), (1041, 335));
    for markup in ["href", "html", "td", "nbsp"] {
        assert!(
            !words(pages[0], &settings).contains(&markup.to_owned()),
            "{markup}"
        );
    }
}
