//! The documents answer what people ask: titles of public issues of other programs, and a plain word search over `docs/`.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use crate::common::repository;

/// Words that say nothing about the topic.
const STOP_WORDS: &str = "a an and are as at be been being but by can could did do does for from had has have how i \
    if in is it its may me my no not of on or our should so than that the their them then there these they this those \
    to was we were what when where which while who why will with would you your";

/// A paragraph of a document, with the heading that it stands under.
struct Paragraph {
    answer: Option<String>,
    words: HashMap<String, f64>,
    length: f64,
}

/// `tests/questions.tsv` has the titles; its last column is the heading in `docs/faq.md` that answers, as an anchor.
#[test]
fn a_word_search_finds_the_answers_to_public_questions() {
    let mut paragraphs = Vec::new();
    read_folder(&repository("docs"), &mut paragraphs);
    let table = std::fs::read_to_string(repository("crates/doors/cli/tests/questions.tsv"));
    let table = table.expect("the titles");
    let lines: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(lines.len(), 100);
    let mut missed = Vec::new();
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[_, _, title, answer] = &fields[..] else {
            panic!("{line} has not four columns");
        };
        let is_answer = |paragraph: &&Paragraph| paragraph.answer.as_deref() == Some(answer);
        assert!(
            paragraphs.iter().any(|each| is_answer(&each)),
            "docs/faq.md has no #{answer}"
        );
        if !search(&paragraphs, title)[..3].iter().any(is_answer) {
            missed.push(title);
        }
    }
    assert!(
        missed.len() <= 10,
        "{} are missed: {missed:#?}",
        missed.len()
    );
}

fn read_folder(folder: &Path, paragraphs: &mut Vec<Paragraph>) {
    for entry in folder.read_dir().expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_folder(&path, paragraphs);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            let text = std::fs::read_to_string(&path).expect("a document");
            read_paragraphs(&text, path.ends_with("docs/faq.md"), paragraphs);
        }
    }
}

fn read_paragraphs(text: &str, questions: bool, paragraphs: &mut Vec<Paragraph>) {
    let mut heading = "";
    for block in text.split("\n\n") {
        let mut body = String::new();
        for line in block.lines() {
            if line.starts_with('#') {
                heading = line.trim_start_matches('#').trim();
            } else {
                body.push_str(line);
                body.push('\n');
            }
        }
        if body.trim().is_empty() {
            continue;
        }
        let mut words = HashMap::new();
        for word in words_of(&format!("{heading}\n{body}")) {
            *words.entry(word).or_insert(0.0) += 1.0;
        }
        paragraphs.push(Paragraph {
            answer: questions.then(|| anchor(heading)),
            length: words.values().sum(),
            words,
        });
    }
}

/// The name that a heading has in links, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || "_- ".contains(*letter);
    let heading = heading.to_lowercase().replace(' ', "-");
    heading.chars().filter(kept).collect()
}

/// Words in lower case, without their endings and without stop words.
fn words_of(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let stop_words: HashSet<&str> = STOP_WORDS.split_whitespace().collect();
    let words = words.filter(|word| !word.is_empty() && !stop_words.contains(word));
    words.map(|word| stem(word).to_owned()).collect()
}

fn stem(word: &str) -> &str {
    let cut = |ending: &&str| word.strip_suffix(*ending).filter(|stem| stem.len() > 3);
    let mut cuts = ["ing", "ed", "es", "s", "e"].iter().filter_map(cut);
    cuts.next().unwrap_or(word)
}

/// All paragraphs, the best by Okapi BM25 first.
fn search<'a>(paragraphs: &'a [Paragraph], title: &str) -> Vec<&'a Paragraph> {
    let count = paragraphs.len() as f64;
    let mean_length = paragraphs.iter().map(|each| each.length).sum::<f64>() / count;
    let title: BTreeSet<String> = words_of(title).into_iter().collect();
    let mut scores = vec![0.0; paragraphs.len()];
    for word in &title {
        let having = paragraphs
            .iter()
            .filter(|each| each.words.contains_key(word))
            .count() as f64;
        let rarity = ((count - having + 0.5) / (having + 0.5)).ln_1p();
        for (paragraph, score) in paragraphs.iter().zip(&mut scores) {
            let times = paragraph.words.get(word).copied().unwrap_or(0.0);
            let norm = 1.2 * (0.25 + 0.75 * paragraph.length / mean_length);
            *score += rarity * times * 2.2 / (times + norm);
        }
    }
    let mut order: Vec<usize> = (0..paragraphs.len()).collect();
    order.sort_by(|&one, &other| scores[other].total_cmp(&scores[one]));
    order.into_iter().map(|at| &paragraphs[at]).collect()
}
