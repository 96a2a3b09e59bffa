//! Figures: heat maps of the co-association, object by object and cluster by cluster.

use std::fmt::Write as _;

use partita_coassoc::heat_map;
use partita_core::ndarray::Array2;
use partita_core::{Dendrogram, Ensemble};

use super::bases::{SHADE, key};
use super::certainty::left_out;
use crate::Report;
use crate::clusters::Clusters;
use crate::figure::Drawn;
use crate::order::Order;
use crate::palette::COLOURS;
use crate::png;
use crate::svg::{Svg, n};
use crate::text::{count, number};

/// Cells on a side at most, and label counts multiplied at most.
const SIDE: usize = 300;
const PRODUCTS: usize = 500_000_000;

/// Merges of a tree that are drawn at most, the last ones.
const MERGES: usize = 400;

/// How often every two objects are together, in the order of clusters.
pub(crate) fn objects(report: &Report<'_>, ensemble: &Ensemble, clusters: &Clusters) -> Drawn {
    let order = Order::of(report, ensemble, clusters);
    let base_clusters = ensemble.offsets().last().copied().unwrap_or(1).max(1);
    let side = (PRODUCTS / base_clusters).isqrt().clamp(60, SIDE);
    let mut map = heat_map(ensemble, &order.objects, side);
    let each = order.objects.len().div_ceil(side.max(1)).max(1);
    if each == 1 {
        // An object has no pair with itself; it is together with itself all the same.
        map.diag_mut().fill(1.0);
    }
    let tree = report.dendrogram.filter(|_| order.of_tree);
    let (size, left, top) = (480.0, 84.0, if tree.is_some() { 106.0 } else { 26.0 });
    let mut svg = Svg::new(left + size + 86.0, top + size + 14.0);
    if let Some(tree) = tree {
        branches(
            &mut svg,
            tree,
            &order.objects,
            [left, 8.0, size, top - 36.0],
        );
    }
    let values: Vec<f32> = map.iter().copied().collect();
    svg.image(
        [left, top, size, size],
        &png::shares(map.ncols(), &values, SHADE),
    );
    svg.rect_with([left, top, size, size], "class=\"g\"");
    strips(&mut svg, clusters, &order, [left, top, size]);
    key(&mut svg, [left + size + 24.0, top], "together");
    let mut note = left_out(clusters);
    if each > 1 {
        let _ = write!(
            note,
            " Every cell is the mean over {each} × {each} objects."
        );
    }
    note.push_str(if tree.is_some() {
        " In the order of the tree's leaves."
    } else {
        " Ordered by cluster, and within a cluster by likeness."
    });
    let alt = format!(
        "How often the base clusterings put two of {} objects together, in {} blocks, one a cluster: strong colour on the \
         diagonal is a cluster they agree on, colour off it is what two clusters share.",
        count(order.objects.len() as i64),
        order.runs.len()
    );
    let title = "How often objects are together".to_owned();
    Drawn {
        name: "evidence",
        title,
        alt,
        svg,
        csv: matrix_csv(&map),
        note: note.trim().to_owned(),
        points: Vec::new(),
    }
}

fn matrix_csv(map: &Array2<f32>) -> String {
    let mut csv: String = (0..map.ncols())
        .map(|at| format!("{}cell_{at}", if at > 0 { "," } else { "" }))
        .collect();
    csv.push('\n');
    for row in map.outer_iter() {
        let cells: Vec<String> = row.iter().map(|share| format!("{share:.4}")).collect();
        let _ = writeln!(csv, "{}", cells.join(","));
    }
    csv
}

/// Clusters along the left and the upper side.
fn strips(svg: &mut Svg, clusters: &Clusters, order: &Order, [left, top, size]: [f64; 3]) {
    let unit = size / order.objects.len() as f64;
    let (mut begin, mut free) = (0, f64::NEG_INFINITY);
    for &(at, end) in &order.runs {
        let label = clusters.shown[at].label;
        let (from, to) = (begin as f64 * unit, end as f64 * unit);
        let class = format!("k{}", label % COLOURS);
        svg.rect([left - 14.0, top + from, 9.0, (to - from).max(0.5)], &class);
        svg.rect([left + from, top - 14.0, (to - from).max(0.5), 9.0], &class);
        if begin > 0 {
            svg.line([left - 14.0, top + from, left, top + from], "il");
            svg.line([left + from, top - 14.0, left + from, top], "il");
        }
        let middle = 0.5 * (from + to);
        if middle - free >= 13.0 {
            svg.marker(label, [left - 24.0, top + middle], 1.0, &class);
            svg.text(
                [left - 34.0, top + middle + 4.0],
                "t",
                "end",
                &label.to_string(),
            );
            free = middle;
        }
        begin = end;
    }
}

/// The last merges of a tree, over the leaves in their order.
fn branches(svg: &mut Svg, tree: &Dendrogram, order: &[u32], [left, top, width, height]: [f64; 4]) {
    let leaves = tree.objects();
    let mut place = vec![0.0; leaves + tree.merges().len()];
    for (at, &object) in order.iter().enumerate() {
        place[object as usize] = left + (at as f64 + 0.5) / leaves as f64 * width;
    }
    let highest = tree
        .merges()
        .last()
        .map_or(1.0, |merge| merge.height)
        .max(1e-300);
    let y = |node: usize| {
        let level = if node < leaves {
            0.0
        } else {
            tree.merges()[node - leaves].height
        };
        top + height * (1.0 - (level / highest).clamp(0.0, 1.0))
    };
    let first = tree.merges().len().saturating_sub(MERGES);
    let mut d = String::new();
    for (at, merge) in tree.merges().iter().enumerate() {
        let (a, b) = (merge.left as usize, merge.right as usize);
        place[leaves + at] = 0.5 * (place[a] + place[b]);
        if at >= first {
            let _ = write!(
                d,
                "M{} {}V{}H{}V{}",
                n(place[a]),
                n(y(a)),
                n(y(leaves + at)),
                n(place[b]),
                n(y(b))
            );
        }
    }
    svg.path(&d, "class=\"ax\"");
    svg.text([left - 8.0, top + 10.0], "m", "end", &number(highest));
    svg.text([left - 8.0, top + height], "m", "end", "0");
}

/// How often objects of two clusters are together: every cluster is as large as the others.
pub(crate) fn clusters(clusters: &Clusters) -> Option<Drawn> {
    let evidence = clusters
        .evidence
        .as_ref()
        .filter(|evidence| evidence.nrows() > 1)?;
    let side = evidence.nrows();
    let cell = (400.0 / side as f64).min(56.0);
    let (left, top, size) = (52.0, 34.0, cell * side as f64);
    let mut svg = Svg::new(
        (left + size + 90.0).max(240.0),
        (top + size + 14.0).max(190.0),
    );
    let values: Vec<f32> = evidence
        .iter()
        .map(|&x| if x.is_finite() { x as f32 } else { 0.0 })
        .collect();
    svg.image([left, top, size, size], &png::shares(side, &values, SHADE));
    svg.rect_with([left, top, size, size], "class=\"g\"");
    for (at, cluster) in clusters
        .shown
        .iter()
        .enumerate()
        .filter(|(at, _)| cell >= 13.0 || at % 2 == 0)
    {
        let (middle, class) = (
            (at as f64 + 0.5) * cell,
            format!("k{}", cluster.label % COLOURS),
        );
        svg.marker(cluster.label, [left - 12.0, top + middle], 0.9, &class);
        svg.text(
            [left - 21.0, top + middle + 4.0],
            "t",
            "end",
            &cluster.label.to_string(),
        );
        svg.text(
            [left + middle, top - 18.0],
            "t",
            "middle",
            &cluster.label.to_string(),
        );
        svg.marker(cluster.label, [left + middle, top - 8.0], 0.9, &class);
    }
    if cell >= 34.0 {
        for ((a, b), &share) in evidence
            .indexed_iter()
            .filter(|(_, share)| share.is_finite())
        {
            let place = [
                left + (b as f64 + 0.5) * cell,
                top + (a as f64 + 0.5) * cell + 4.0,
            ];
            svg.text(
                place,
                if share > 0.8 { "on" } else { "t" },
                "middle",
                &format!("{share:.2}"),
            );
        }
    }
    key(&mut svg, [left + size + 22.0, top], "together");
    let mut csv = "first,second,together\n".to_owned();
    for ((a, b), share) in evidence.indexed_iter() {
        let _ = writeln!(
            csv,
            "{},{},{share}",
            clusters.shown[a].label, clusters.shown[b].label
        );
    }
    let closest = (0..side)
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .filter(|&(a, b)| evidence[[a, b]].is_finite());
    let closest = closest.max_by(|&(a, b), &(c, d)| evidence[[a, b]].total_cmp(&evidence[[c, d]]));
    let closest = closest.map_or_else(String::new, |(a, b)| {
        let (first, second) = (clusters.shown[b].label, clusters.shown[a].label);
        if evidence[[a, b]] < 0.0005 {
            return " No two clusters share anything worth a number.".to_owned();
        }
        format!(
            " Clusters {first} and {second} share most: {}.",
            number(evidence[[a, b]])
        )
    });
    let alt = format!(
        "How often an object of one cluster and one of another are together, for {side} clusters.{closest}"
    );
    let title = "How often clusters are together".to_owned();
    Some(Drawn {
        name: "evidence-clusters",
        title,
        alt,
        svg,
        csv,
        note: left_out(clusters),
        points: Vec::new(),
    })
}
