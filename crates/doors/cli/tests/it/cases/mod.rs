//! Cases: files, commands and what they must say, as data in `tests/cases/*.txt`; the README there says how one is written.
//!
//! `PARTITA_CASE=words` runs the cases whose file or title contains the words.

mod edits;
mod expectations;
mod rows;
mod session;

use std::sync::Mutex;

use crate::common::{Workplace, repository};
pub(crate) use edits::npy;
pub(crate) use rows::table;
use session::Session;

/// What a case does in a folder of its own, once for every row of its table.
pub(crate) struct Case {
    /// The file, the line, the title.
    name: String,
    columns: Vec<String>,
    table: Vec<Vec<String>>,
    steps: Vec<Step>,
}

/// A command, a file that is made or changed, or an expectation.
#[derive(Clone)]
struct Step {
    line: usize,
    text: String,
    /// Lines that began with `|`.
    content: Vec<String>,
}

#[test]
fn every_case_holds() {
    let folder = repository("crates/doors/cli/tests/cases");
    let wanted = std::env::var("PARTITA_CASE").unwrap_or_default();
    let mut cases = Vec::new();
    for entry in folder.read_dir().expect("the cases").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry
            .path()
            .extension()
            .is_some_and(|ending| ending == "txt")
        {
            let text = std::fs::read_to_string(entry.path()).expect("text");
            cases.extend(parse(&name, &text));
        }
    }
    cases.retain(|case| !case.name.contains(" :: ") && case.name.contains(&wanted));
    assert!(!cases.is_empty(), "no case is called '{wanted}'");
    let queue = Mutex::new(cases.iter());
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = next(&queue) {
                    let failed = case.run();
                    failures.lock().expect("no panic").extend(failed);
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

fn next<T>(queue: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    queue.lock().expect("no panic").next()
}

/// The cases of a file. What stands under `::` is done by those that `use` it.
pub(crate) fn parse(file: &str, text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let place = format!("{file}:{}", at + 1);
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if matches!(word, "==" | "::") {
            cases.push(Case {
                name: format!("{place} {line}"),
                columns: Vec::new(),
                table: Vec::new(),
                steps: Vec::new(),
            });
            continue;
        }
        let used = cases.iter().find(|case| case.title() == rest);
        let used = used.map(|case| case.steps.clone());
        let case = cases
            .last_mut()
            .unwrap_or_else(|| panic!("{place}: a title comes first"));
        match word {
            "use" => case
                .steps
                .extend(used.unwrap_or_else(|| panic!("{place}: no :: {rest}"))),
            "with" => case.columns = parts(rest),
            "-" => {
                assert_eq!(
                    parts(rest).len(),
                    case.columns.len(),
                    "{place}: a value for each column"
                );
                case.table.push(parts(rest));
            }
            _ => case.add(at + 1, line),
        }
    }
    cases
}

/// Texts with ` | ` between them.
fn parts(text: &str) -> Vec<String> {
    text.split(" | ")
        .map(|part| part.trim().to_owned())
        .collect()
}

impl Case {
    fn add(&mut self, line: usize, text: &str) {
        match (text.strip_prefix('|'), self.steps.last_mut()) {
            (Some(content), Some(step)) => step.content.push(content.to_owned()),
            _ => self.steps.push(Step {
                line,
                text: text.to_owned(),
                content: Vec::new(),
            }),
        }
    }

    pub(crate) fn title(&self) -> &str {
        let title = self
            .name
            .split_once(" == ")
            .or(self.name.split_once(" :: "));
        title.unwrap_or_default().1
    }

    /// What failed.
    fn run(&self) -> Vec<String> {
        let once = [Vec::new()];
        let rows = if self.columns.is_empty() {
            &once
        } else {
            &self.table[..]
        };
        assert!(!rows.is_empty(), "{}: the table has no rows", self.name);
        let failed = |row: &Vec<String>| self.run_with(row, &Workplace::new()).err();
        rows.iter().filter_map(failed).collect()
    }

    /// Does the steps in a folder that may hold other files.
    pub(crate) fn do_in(&self, place: &Workplace) -> Result<(), String> {
        self.run_with(&[], place)
    }

    fn run_with(&self, row: &[String], place: &Workplace) -> Result<(), String> {
        let mut session = Session::new(place);
        for step in &self.steps {
            let text = self.filled(&step.text, row);
            let content: Vec<String> = step
                .content
                .iter()
                .map(|line| self.filled(line, row))
                .collect();
            let done = session.step(&text, &content);
            done.map_err(|why| {
                format!(
                    "{} {row:?}\n  line {}: {text}\n  {why}\n{}",
                    self.name,
                    step.line,
                    session.said()
                )
            })?;
        }
        let settled = session.settled();
        settled.map_err(|why| format!("{} {row:?}\n  {why}\n{}", self.name, session.said()))
    }

    /// A text with the values of a row in the places of their columns.
    fn filled(&self, text: &str, row: &[String]) -> String {
        let values = self.columns.iter().zip(row);
        values.fold(text.to_owned(), |text, (column, value)| {
            text.replace(&format!("<{column}>"), value)
        })
    }
}
