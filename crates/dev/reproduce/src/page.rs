//! Markdown tables of results.

use std::fmt::Write;

use crate::published::{Comparison, Sense, Verdict};
use crate::{Results, Stat};

/// What the signs mean; stands under tables with verdicts.
pub(crate) const LEGEND: &str = "Published → ours (mean ± sd over seeds, the best single run in brackets). = within two standard errors of the difference (the paper's from \
its runs where it prints them, else as ours), ▲ exceeded by more, ▼ missed by more, \
∅ a value that no correct implementation can print, – not measured here.";

/// What stands where there is no value.
pub(crate) fn dash() -> String {
    "–".into()
}

/// `.812 ± .010`, or a dash.
pub fn mean_sd(stat: Option<Stat>) -> String {
    stat.map_or_else(dash, |s| format!("{:.3} ± {:.3}", s.mean, s.sd))
}

/// A Markdown table that is filled row by row.
#[derive(Clone, Debug)]
pub struct Grid {
    text: String,
    columns: usize,
}

impl Grid {
    /// A table with these columns, the first left-aligned.
    pub fn new<S: AsRef<str>>(columns: impl IntoIterator<Item = S>) -> Self {
        let names: Vec<String> = columns
            .into_iter()
            .map(|name| name.as_ref().to_owned())
            .collect();
        let rule = vec!["---:"; names.len().saturating_sub(1)].join("|");
        Self {
            text: format!("| {} |\n|---|{rule}|\n", names.join(" | ")),
            columns: names.len(),
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not as many cells as there are columns.
    pub fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells: Vec<String> = cells
            .into_iter()
            .map(|cell| cell.as_ref().to_owned())
            .collect();
        assert_eq!(cells.len(), self.columns, "one cell a column");
        writeln!(self.text, "| {} |", cells.join(" | ")).expect("a text takes all");
    }

    /// One row a data set, one column a method: mean ± sd of a measure in one setting.
    pub fn of_methods(
        results: &Results,
        data: &[&str],
        setting: &str,
        methods: &[&str],
        measure: &str,
    ) -> Self {
        let mut grid = Self::new(std::iter::once(&"data").chain(methods));
        for name in data {
            let cells = methods
                .iter()
                .map(|method| mean_sd(results.stat(name, setting, method, measure)));
            grid.row(std::iter::once((*name).to_owned()).chain(cells));
        }
        grid
    }

    /// One row a data set, one column a method: published number, ours and the verdict.
    pub fn of_comparisons<'c>(comparisons: impl IntoIterator<Item = &'c Comparison>) -> Self {
        let all: Vec<&Comparison> = comparisons.into_iter().collect();
        let (mut data, mut methods): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        for cell in &all {
            push_new(&mut data, &cell.published.data);
            push_new(&mut methods, &cell.published.method);
        }
        let mut grid = Self::new(std::iter::once(&"data").chain(&methods));
        for name in data {
            let cell = |method: &&str| {
                let found = all.iter().find(|c| {
                    (c.published.data.as_str(), c.published.method.as_str()) == (name, method)
                });
                found.map_or_else(dash, |comparison| comparison_cell(comparison))
            };
            grid.row(std::iter::once(name.to_owned()).chain(methods.iter().map(cell)));
        }
        grid
    }

    /// The Markdown, an empty line behind it.
    pub fn finish(self) -> String {
        format!("{}\n", self.text)
    }
}

fn push_new<'t>(list: &mut Vec<&'t str>, name: &'t str) {
    if !list.contains(&name) {
        list.push(name);
    }
}

fn comparison_cell(comparison: &Comparison) -> String {
    let value = format!("{:.3}", comparison.published.value);
    match (comparison.stat, comparison.verdict) {
        (Some(s), verdict) => {
            let best = if comparison.sense == Sense::More {
                s.max
            } else {
                s.min
            };
            format!(
                "{value} → {:.3} ± {:.3} ({best:.3}) {}",
                s.mean,
                s.sd,
                verdict.sign()
            )
        }
        (None, _) => format!("{value} {}", Verdict::Absent.sign()),
    }
}
