//! What the papers have, item by item, and what of it works here: `docs/reproduction/items.md`.

use crate::Grid;

/// How an item of a paper stands here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The command does it.
    Works,
    /// The command does it; what the paper leaves open was chosen as `why` says.
    OurChoice,
    /// The command does it, and what comes out is not what the paper prints.
    OtherResult,
    /// It is there, and differs as `why` says.
    Differs,
    /// It is not there.
    NotDone,
    /// Nobody has tried.
    NotTried,
}

impl State {
    const ALL: [(Self, &str); 6] = [
        (Self::Works, "works"),
        (Self::OurChoice, "our choice"),
        (Self::OtherResult, "other result"),
        (Self::Differs, "differs"),
        (Self::NotDone, "not done"),
        (Self::NotTried, "not tried"),
    ];

    /// Whether a command does it.
    fn done(self) -> bool {
        matches!(self, Self::Works | Self::OurChoice | Self::OtherResult)
    }

    fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(state, _)| *state == self);
        named.map_or("", |(_, name)| name)
    }
}

/// One thing that a paper has: a method, a formula, a data set, a table, a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The paper.
    pub paper: String,
    /// The section, table or formula.
    pub place: String,
    /// What it is.
    pub item: String,
    /// The command that does it; empty where none does.
    pub command: String,
    /// How it stands.
    pub state: State,
    /// Why it does not work as printed.
    pub why: String,
}

/// The items of the five papers, as `published/items.csv` has them.
///
/// # Panics
/// If the file is not a table of items: it is part of the source.
pub fn items() -> Vec<Item> {
    let mut reader = csv::Reader::from_reader(&include_bytes!("../published/items.csv")[..]);
    let item = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.expect("items are a CSV");
        let [paper, place, item, command, state, why] =
            std::array::from_fn(|at| record.get(at).expect("six columns").to_owned());
        let named = State::ALL.iter().find(|(_, name)| *name == state);
        let state = named.expect("a state").0;
        Item {
            paper,
            place,
            item,
            command,
            state,
            why,
        }
    };
    reader.records().map(item).collect()
}

/// `docs/reproduction/items.md`.
pub(crate) fn page() -> String {
    let items = items();
    let mut papers: Vec<&str> = Vec::new();
    for item in &items {
        if !papers.contains(&&*item.paper) {
            papers.push(&item.paper);
        }
    }
    let done = items.iter().filter(|item| item.state.done()).count();
    let names = State::ALL.map(|(_, name)| name).join(" | ");
    let mut text = format!(
        "{HEAD}Of {} items {done} are done by a command.\n\n| paper | items | {names} |\n|---|---:{}|\n",
        items.len(),
        "|---:".repeat(State::ALL.len())
    );
    let line = |name: &str, of: &dyn Fn(&Item) -> bool| {
        let here: Vec<&Item> = items.iter().filter(|item| of(item)).collect();
        let counts = State::ALL.map(|(state, _)| {
            let count = here.iter().filter(|item| item.state == state).count();
            count.to_string()
        });
        format!("| {name} | {} | {} |\n", here.len(), counts.join(" | "))
    };
    for paper in &papers {
        text += &line(paper, &|item| item.paper == *paper);
    }
    text += &line("all", &|_| true);
    for paper in papers {
        text += &format!("\n## {paper}\n\n");
        let mut grid = Grid::new(["where", "item", "here", "why"]);
        let mut commands = String::new();
        let here = items.iter().filter(|item| item.paper == paper);
        for (number, item) in (1..).zip(here) {
            let place = format!("{number}. {}", item.place);
            grid.row([&place, &item.item, item.state.name(), &item.why]);
            if !item.command.is_empty() {
                commands += &format!("# {number}\n{}\n", item.command);
            }
        }
        text += &grid.finish().replace("---:", "---");
        text += &format!("```bash\n{commands}```\n");
    }
    text
}

const HEAD: &str = "\
# The five papers, item by item\n\n\
Written by `cargo xtask reproduce --pages` from `crates/dev/reproduce/published/items.csv`. An item is what a reader of the paper may want to do: a formula, a method, a data\n\
set, a table, a claim. *Works*: the command under its number does what the paper describes; a test runs all of them from top to bottom in a folder with `datasets/iris.csv` and\n\
`datasets/wine.csv` (those of KDD with fewer rows). *Our choice*: so too, and *why* says what was chosen that the paper leaves open. Of both the paper prints no result, or none that ours\n\
contradicts. *Other result*: the command does what the paper describes, and what comes out is not what it prints. *Differs*: it is there, otherwise than described, or on other data.\n\
*Not tried*: nobody has compared it. Values are compared with the print in the other pages of this folder.\n\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_says_what_does_it_or_why_not() {
        for item in items() {
            assert_eq!(item.state == State::Works, item.why.is_empty(), "{item:?}");
            assert!(
                !item.state.done() || item.command.starts_with("partita "),
                "{item:?}"
            );
            for text in [&item.place, &item.item, &item.why, &item.command] {
                assert!(!text.contains(['|', '\n']), "{item:?}");
            }
        }
    }
}
