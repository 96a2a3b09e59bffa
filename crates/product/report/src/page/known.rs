//! The table of clusters against known classes.

use std::collections::BTreeMap;

use super::Page;
use super::parts::{Cell, table};
use crate::text::{count, cut};

/// Classes that the table has room for.
const CLASSES: usize = 30;

/// Classes up to which the headings are written from left to right.
const UPRIGHT: usize = 8;

/// How many objects of every cluster shown are in every known class; of more classes, the largest.
pub(super) fn known(page: &Page<'_, '_>) -> String {
    let Some(truth) = page.report.truth else {
        return String::new();
    };
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    truth
        .iter()
        .flatten()
        .for_each(|class| *sizes.entry(class).or_default() += 1);
    let all = sizes.len();
    let mut classes: Vec<&str> = sizes.keys().copied().collect();
    classes.sort_by_key(|&class| std::cmp::Reverse(sizes[class]));
    classes.truncate(CLASSES);
    classes.sort_unstable();
    if classes.is_empty() {
        return String::new();
    }
    let row = |cluster: &crate::clusters::Cluster| {
        let mut shared: BTreeMap<&str, usize> = BTreeMap::new();
        let known = cluster
            .members
            .iter()
            .filter_map(|&i| truth[i as usize].as_deref());
        known.for_each(|class| *shared.entry(class).or_default() += 1);
        let cell = |class: &&str| {
            let objects = shared.get(class).copied().unwrap_or(0);
            let written = if objects == 0 {
                "·".to_owned()
            } else {
                count(objects as i64)
            };
            Cell::Number(objects as f64, written)
        };
        std::iter::once(Cell::Cluster(cluster.label))
            .chain(classes.iter().map(cell))
            .collect()
    };
    let rows: Vec<Vec<Cell>> = page.clusters.shown.iter().map(row).collect();
    let names: Vec<String> = classes.iter().map(|class| cut(class, 24)).collect();
    let heads: Vec<&str> = std::iter::once("Cluster")
        .chain(names.iter().map(String::as_str))
        .collect();
    let some = if all > classes.len() {
        format!(" The {} largest of {all} classes.", classes.len())
    } else {
        String::new()
    };
    let class = if classes.len() > UPRIGHT {
        "sorts dense"
    } else {
        "sorts"
    };
    let caption = format!("Objects of every known class in every cluster; a point is none.{some}");
    format!(
        "<h3>Clusters and known classes</h3>{}",
        table("known-table", class, &caption, &heads, &rows)
    )
}
