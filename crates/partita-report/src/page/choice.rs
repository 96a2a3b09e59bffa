//! The table over numbers of clusters.

use super::parts::{Cell, table as markup};
use crate::choice::{Choice, ChoiceRow};
use crate::text::{cut, number};

/// One line a number of clusters; columns that nobody filled are left out.
pub(super) fn table(choice: &Choice) -> String {
    type Of = fn(&ChoiceRow) -> Option<f64>;
    let objective = cut(&choice.objective_name, 40);
    let columns: [(&str, Of); 6] = [
        ("PAC", |row| row.pac),
        ("PAC without clusters", |row| row.null_pac),
        ("Area under the CDF", |row| row.area),
        ("Growth of the area", |row| row.delta_area),
        ("Mean certainty", |row| row.certainty),
        (if objective.is_empty() { "Objective" } else { &objective }, |row| row.objective),
    ];
    let filled: Vec<_> = columns.iter().filter(|(_, of)| choice.rows.iter().any(|row| of(row).is_some())).collect();
    let row = |row: &ChoiceRow| {
        let mark = if choice.chosen == Some(row.clusters) { " (chosen)" } else { "" };
        let mut cells = vec![Cell::Number(row.clusters as f64, format!("{}{mark}", row.clusters))];
        cells.extend(filled.iter().map(|(_, of)| of(row).unwrap_or(f64::NAN)).map(|x| Cell::Number(x, number(x))));
        cells
    };
    let rows: Vec<Vec<Cell>> = choice.rows.iter().map(row).collect();
    let heads: Vec<&str> = std::iter::once("Clusters").chain(filled.iter().map(|(name, _)| *name)).collect();
    markup("choice-table", "sorts", "Every number of clusters tried.", &heads, &rows)
}
