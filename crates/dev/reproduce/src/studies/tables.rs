//! Helpers of the studies of numeric tables: recipes, cells, floors.

use anyhow::Result;
use partita::Ensemble;
use partita::metrics::Scores;

use crate::page::dash;
use crate::{Data, Grid, Lab, Results, Row, SECONDS, Unit};

/// A value that another implementation of the same method reached: data, setting, method, H.
pub(super) type Floor = (&'static str, &'static str, &'static str, f64);

/// How far below a floor a mean may be.
pub(super) const SLACK: f64 = 0.02;

/// Measures every method of the unit on one ensemble; the method `*` is the mean of the base clusterings.
pub(super) fn measure(
    unit: &Unit,
    lab: &Lab<'_>,
    data: &Data,
    ensemble: &Ensemble,
    settings: impl Fn(&str) -> &'static [&'static str],
    measures: impl Fn(&Scores) -> [(&'static str, f64); 3],
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for method in &unit.methods {
        let consensus = || {
            lab.consensus(
                method,
                ensemble,
                Some(data.features()),
                data.classes(),
                unit.seed,
                settings(method),
            )
        };
        let (outcome, seconds) = lab.timed(consensus);
        let scores = data.scores(&outcome?.partition)?;
        let values = measures(&scores).map(|(measure, value)| unit.row(method, measure, value));
        rows.extend(values);
        rows.push(unit.row(method, SECONDS, seconds));
    }
    Ok(rows)
}

/// H, ARI and F1 of the best class.
pub(super) fn usual(scores: &Scores) -> [(&'static str, f64); 3] {
    [
        ("h", scores.h),
        ("ari", scores.ari),
        ("f1", scores.f1.best_class),
    ]
}

/// Every floor of a measure, what was reached, and whether the mean is at most .02 below.
pub(super) fn floors(results: &Results, measure: &str, floors: &[Floor]) -> String {
    let mut grid = Grid::new("data, ensemble, method | floor | ours | reached".split(" | "));
    for &(data, setting, method, floor) in floors {
        let ours = results.stat(data, setting, method, measure);
        let reached = ours.map_or("not measured", |ours| {
            if ours.mean >= floor - SLACK {
                "yes"
            } else {
                "**no**"
            }
        });
        let name = format!("{data}, {setting}, `{method}`");
        grid.row([
            name,
            format!("{floor:.3}"),
            crate::mean_sd(ours),
            reached.to_owned(),
        ]);
    }
    grid.finish()
}

/// Mean over the data sets, one row a method, for each of some measures.
pub(super) fn means(
    results: &Results,
    data: &[&str],
    setting: &str,
    methods: &[&str],
    measures: &[&str],
) -> String {
    let mut grid = Grid::new(std::iter::once("method").chain(measures.iter().copied()));
    for method in methods {
        let mean = |measure: &&str| {
            let all = data
                .iter()
                .map(|name| results.mean(name, setting, method, measure));
            all.sum::<Option<f64>>()
                .map_or_else(dash, |sum| format!("{:.3}", sum / data.len() as f64))
        };
        grid.row(std::iter::once(format!("`{method}`")).chain(measures.iter().map(mean)));
    }
    grid.finish()
}
