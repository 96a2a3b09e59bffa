//! The summary page over all studies.

use std::fmt::Write;

use crate::page::Grid;
use crate::{Comparison, Results, Study, Verdict};

/// How many cells there are, and how many of them ours reaches by each rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Published cells of methods that are ours and were measured, those no correct implementation can print left out.
    pub cells: usize,
    /// Better by more than two standard errors of the difference.
    pub exceeded: usize,
    /// Within two standard errors.
    pub reached: usize,
    /// Not more than a standard deviation over our seeds worse, or better: the rule of earlier versions.
    pub within_a_deviation: usize,
    /// Our mean is not below the print.
    pub not_below: usize,
}

impl Tally {
    /// Of some comparisons those that count, all of them or those that stand for themselves.
    pub fn of<'c>(comparisons: impl IntoIterator<Item = &'c Comparison>, alone: bool) -> Self {
        let mut tally = Self::default();
        for comparison in comparisons {
            let Comparison {
                published,
                sense,
                verdict,
                ..
            } = comparison;
            let apart = alone && !published.apart.is_empty();
            let (Some(stat), false) = (comparison.stat, apart || *verdict == Verdict::Impossible)
            else {
                continue;
            };
            if comparison.counts {
                tally.cells += 1;
                tally.exceeded += usize::from(*verdict == Verdict::Exceeded);
                tally.reached += usize::from(*verdict == Verdict::Reached);
                tally.within_a_deviation += usize::from(published.within_a_deviation(stat, *sense));
                tally.not_below += usize::from(published.not_below(stat, *sense));
            }
        }
        tally
    }

    fn row(self, name: String) -> [String; 7] {
        let missed = self.cells - self.exceeded - self.reached;
        let counts = [
            self.cells,
            self.exceeded,
            self.reached,
            missed,
            self.within_a_deviation,
            self.not_below,
        ];
        let [a, b, c, d, e, f] = counts.map(|count| count.to_string());
        [name, a, b, c, d, e, f]
    }
}

/// What the README says of the papers' tables.
fn verdict_sentence(comparisons: &[Comparison]) -> String {
    let all = Tally::of(comparisons, false);
    let alone = Tally::of(comparisons, true);
    format!(
        "Of {} published cells of the papers' own methods {} are reached or exceeded: within two standard errors of the difference, or better. \
         (By the rule of earlier versions, one standard deviation over our seeds, {}; our mean is not below the print in {}.) \
         Without the {} cells that repeat one printed number or use drawings of our own it is {} of {} ({} and {}).",
        all.cells,
        all.exceeded + all.reached,
        all.within_a_deviation,
        all.not_below,
        all.cells - alone.cells,
        alone.exceeded + alone.reached,
        alone.cells,
        alone.within_a_deviation,
        alone.not_below,
    )
}

/// `docs/reproduction/README.md`: how many published cells of our methods are reached by which rule, and why the others are not.
pub fn summary(studies: &[(&dyn Study, Results)]) -> String {
    let mut text = String::from(
        "# The papers' tables, reproduced\n\n\
         Written by `cargo xtask reproduce`; every number comes from the compressed CSV files under `raw/` (values to six digits, one row a data set,\n\
         setting, method, seed and measure; CPU seconds apart in `*-seconds.csv.gz`). `cargo xtask reproduce STUDY` measures what is missing\n\
         there, `--check` measures a sample again and compares, `cargo xtask reproduce --pages` counts and writes the pages from what is there.\n\
         What the papers have besides numbers is in [items.md](items.md), with the command that does it.\n\n",
    );
    let mut grid = Grid::new(
        "study | cells | exceeded | reached | missed | within one sd | not below the print | values | CPU s"
            .split(" | "),
    );
    let mut all = Vec::new();
    let mut misses = String::new();
    for (study, results) in studies {
        let comparisons: Vec<Comparison> = study
            .comparisons(results)
            .into_iter()
            .filter(|c| c.counts)
            .collect();
        let name = format!("[{}]({}.md)", study.title(), study.name());
        let measured = [
            results.rows().count().to_string(),
            format!("{:.0}", results.cost),
        ];
        grid.row(
            Tally::of(&comparisons, false)
                .row(name)
                .into_iter()
                .chain(measured),
        );
        misses.extend(
            comparisons
                .iter()
                .filter(|c| c.verdict == Verdict::Missed)
                .map(|c| miss(study.name(), c)),
        );
        all.extend(comparisons);
    }
    for (name, alone) in [("all", false), ("all that stand for themselves", true)] {
        let row = Tally::of(&all, alone).row(name.to_owned());
        grid.row(row.into_iter().chain([String::new(), String::new()]));
    }
    text += &grid.finish();
    writeln!(text, "{}\n", verdict_sentence(&all)).expect("a text takes all");
    text += RULES;
    if !misses.is_empty() {
        text += "## Missed, and why\n\n";
        text += &misses;
    }
    text
}

const RULES: &str = "\
The standard error of the print is that of the paper's runs where it says how many they are, with its deviation where it prints one, else as large as ours.\n\
A print stands for all that rounds to it. *Within one sd* is the rule of earlier versions, lenient where our runs differ much. Five cells of PCC repeat one printed\n\
divergence (of the six the one that is least good counts), and the sets *stars* and *bars* of PEnCA are drawn by us: these do not stand for themselves.\n\n\
Where a paper leaves its protocol open (PEnCA's ensembles and start, NBCE's F1 and β, SSCE's k-means, intercept and rounds,\n\
F1 and word weights of documents, words of KDD), the reading that is counted was chosen after seeing results; the pages say so and show the others.\n\n";

fn miss(study: &str, comparison: &Comparison) -> String {
    let cell = &comparison.published;
    let mean = comparison.stat.map_or(f64::NAN, |stat| stat.mean);
    let why = if cell.note.is_empty() {
        "not found out"
    } else {
        &cell.note
    };
    format!(
        "- {study}, {}: {} by `{}` in {}: {:.3}, ours {mean:.3}: {why}.\n",
        cell.table, cell.data, cell.method, cell.measure, cell.value
    )
}
