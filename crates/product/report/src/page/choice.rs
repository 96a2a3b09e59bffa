//! The section on the number of clusters: its table.

use super::parts::{Cell, table as markup};
use crate::curves::{ClusterCurves, CurvePoint};
use crate::text::{cut, number};

/// One line a number of clusters; columns that nobody filled are left out.
pub(super) fn table(choice: &ClusterCurves) -> String {
    type Of = fn(&CurvePoint) -> Option<f64>;
    let objective = cut(&choice.objective_name, 40);
    let columns: [(&str, Of); 6] = [
        ("PAC", |row| row.pac),
        ("PAC without clusters", |row| row.null_pac),
        ("Area under the CDF", |row| row.area),
        ("Growth of the area", |row| row.delta_area),
        ("Mean certainty", |row| row.certainty),
        (
            if objective.is_empty() {
                "Objective"
            } else {
                &objective
            },
            |row| row.objective,
        ),
    ];
    let filled: Vec<_> = columns
        .iter()
        .filter(|(_, of)| choice.rows.iter().any(|row| of(row).is_some()))
        .collect();
    let measure = |at: usize| {
        choice
            .measures
            .iter()
            .map(move |measure| measure.values.get(at).copied().flatten())
    };
    let row = |(at, row): (usize, &CurvePoint)| {
        let mark = if choice.chosen == Some(row.clusters) {
            " (chosen)"
        } else {
            ""
        };
        let mut cells = vec![Cell::Number(
            row.clusters as f64,
            format!("{}{mark}", row.clusters),
        )];
        let values = measure(at)
            .chain(filled.iter().map(|(_, of)| of(row)))
            .map(|x| x.unwrap_or(f64::NAN));
        cells.extend(values.map(|x| Cell::Number(x, number(x))));
        cells
    };
    let rows: Vec<Vec<Cell>> = choice.rows.iter().enumerate().map(row).collect();
    let names: Vec<String> = choice
        .measures
        .iter()
        .map(|measure| cut(&measure.name, 40))
        .collect();
    let others = names
        .iter()
        .map(String::as_str)
        .chain(filled.iter().map(|(name, _)| *name));
    let heads: Vec<&str> = std::iter::once("Clusters").chain(others).collect();
    markup(
        "choice-table",
        "sorts",
        "Every number of clusters tried.",
        &heads,
        &rows,
    )
}
