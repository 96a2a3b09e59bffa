//! The section on what tells clusters apart: the table of columns.

use super::Page;
use super::parts::{Cell, section, table};
use crate::features::markers;
use crate::figures::certainty::left_out;
use crate::text::{count, cut, number};

/// Columns for each cluster, and where there are many clusters.
const EACH: usize = 5;
const EACH_OF_MANY: usize = 3;

pub(super) fn features(page: &Page<'_, '_>) -> String {
    let (report, clusters) = (page.report, &page.clusters);
    let Some(columns) = report.features else {
        return String::new();
    };
    let each = if clusters.shown.len() > 12 {
        EACH_OF_MANY
    } else {
        EACH
    };
    let Some(markers) = markers(report, &columns, clusters, each) else {
        return String::new();
    };
    let row = |marker: &crate::features::Marker| {
        let side = if marker.auc > 0.5 { "higher" } else { "lower" };
        let cell = |x: f64| Cell::Number(x, number(x));
        let [inside, outside] = marker.means;
        vec![
            Cell::Cluster(clusters.shown[marker.cluster].label),
            Cell::Name(columns.columns()[marker.column].clone()),
            Cell::Name(side.into()),
            cell(inside),
            cell(outside),
            cell(marker.d),
            cell(marker.auc),
            Cell::Number(marker.p, small(marker.p)),
        ]
    };
    let rows: Vec<Vec<Cell>> = markers.found.iter().map(row).collect();
    let heads = [
        "Cluster",
        "Column",
        "Here it is",
        "Mean",
        "Mean elsewhere",
        "Cohen's d",
        "AUC",
        "p, corrected",
    ];
    let without = clusters
        .shown
        .iter()
        .enumerate()
        .filter(|(at, _)| markers.found.iter().all(|m| m.cluster != *at));
    let without: Vec<String> = without
        .map(|(_, cluster)| cluster.label.to_string())
        .collect();
    let mut caption = format!(
        "The {each} columns in which each cluster differs most from all other objects, of {} columns, by {} of {} objects. AUC: how \
         often an object of the cluster has the larger value. p: Mann–Whitney test, corrected for {} comparisons by Benjamini and \
         Hochberg; those of 0.05 or more are left out.",
        count(columns.columns().len() as i64),
        count(markers.objects as i64),
        count(report.n() as i64),
        count(markers.tests as i64)
    );
    if !without.is_empty() {
        caption += &format!(
            " No column differs for cluster {}.",
            cut(&without.join(", "), 200)
        );
    }
    caption = format!("{caption} {}", left_out(clusters));
    let lead = "Columns that tell a cluster from the rest. Where the clusters were found in these columns they differ there by \
                construction: p-values then order columns, and do not prove that clusters exist.";
    section(
        "features",
        "What tells clusters apart",
        lead,
        &table("features-table", "sorts", caption.trim_end(), &heads, &rows),
    )
}

/// A p-value, by its power of ten where it is small.
fn small(p: f64) -> String {
    if p >= 0.001 {
        number(p)
    } else if p < 1e-300 {
        "< 1e-300".into()
    } else {
        format!("{p:.0e}")
    }
}
