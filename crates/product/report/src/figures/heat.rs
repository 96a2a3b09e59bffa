//! Figures: matrices of the co-association, object by object and cluster by cluster, and of the agreement of base clusterings.

use std::fmt::Write as _;

use minijinja::context;
use partita_coassoc::heat_map;
use partita_core::ndarray::Array2;
use partita_core::{Dendrogram, Ensemble};

use super::Plot;
use crate::agreement::Agreement;
use crate::axes::Spacing;
use crate::clusters::Clusters;
use crate::order::Order;
use crate::svg::{Svg, colour, n};
use crate::text::{cut, field, number};
use crate::tools::TOOLS;
use crate::tracks::Tracks;
use crate::{ClusterCurves, Report};

/// Cells on a side at most, and label counts multiplied at most.
const SIDE: usize = 300;
const PRODUCTS: usize = 500_000_000;

/// Cells on a side where matrices stand side by side.
const SMALL_SIDE: usize = 120;

/// Merges of a tree that are drawn at most, the last ones.
const MERGES: usize = 400;

/// Characters of a name of a cluster at most.
const NAME: usize = 16;

/// Room on the left for the names of the clusters: this where they are numbers.
fn beside(clusters: &Clusters, numbers: f64) -> f64 {
    numbers + 7.0 * clusters.longest(NAME).saturating_sub(3) as f64
}

/// How often every two objects are together, in the order of clusters.
pub(super) fn objects(report: &Report<'_>, ensemble: &Ensemble, clusters: &Clusters) -> Plot {
    let order = Order::of(report, ensemble, clusters);
    let base_clusters = ensemble.offsets().last().copied().unwrap_or(1).max(1);
    let side = (PRODUCTS / base_clusters).isqrt().clamp(60, SIDE);
    let mut map = heat_map(ensemble, &order.objects, side);
    let each = order.objects.len().div_ceil(side).max(1);
    if each == 1 {
        // An object has no pair with itself; it is together with itself all the same.
        map.diag_mut().fill(1.0);
    }
    let tree = report.dendrogram.filter(|_| order.of_tree);
    let top = if tree.is_some() { 106.0 } else { 26.0 };
    let (size, left) = (480.0, beside(clusters, 84.0));
    let mut svg = Svg::new(left + size + 86.0, top + size + 14.0);
    if let Some(tree) = tree {
        let place = [left, 8.0, size, top - 36.0];
        branches(&mut svg, tree, &order.objects, place);
    }
    let full = clusters.full_colour();
    svg.shades([left, top, size, size], map.ncols(), &shades(&map, full));
    strips(&mut svg, clusters, &order, [left, top, size]);
    svg.key([left + size + 24.0, top], "together", full);
    // A cell of several objects is called like its first.
    let firsts = order.objects.iter().step_by(each).take(map.ncols());
    let heads: Vec<String> = firsts
        .map(|&object| field(&ensemble.object_name(object as usize)))
        .collect();
    let mut csv = format!("object,{}", heads.join(","));
    for (name, row) in heads.iter().zip(map.outer_iter()) {
        let cells: Vec<String> = row.iter().map(|share| format!("{share:.4}")).collect();
        let _ = write!(csv, "\n{name},{}", cells.join(","));
    }
    csv.push('\n');
    let facts = context! {
        full, objects => order.objects.len(), blocks => order.runs.len(), each, tree => tree.is_some(),
    };
    Plot::new("evidence", svg, csv, facts)
}

/// Clusters along the left and the upper side.
fn strips(svg: &mut Svg, clusters: &Clusters, order: &Order, [left, top, size]: [f64; 3]) {
    let unit = size / order.objects.len() as f64;
    let mut from = 0.0;
    let mut spacing = Spacing::new(13.0);
    for &(at, end) in &order.runs {
        let (label, to) = (clusters.shown[at].label, end as f64 * unit);
        let class = colour(label);
        svg.rect([left - 14.0, top + from, 9.0, (to - from).max(0.5)], &class);
        svg.rect([left + from, top - 14.0, (to - from).max(0.5), 9.0], &class);
        if from > 0.0 {
            svg.line([left - 14.0, top + from, left, top + from], "il");
            svg.line([left + from, top - 14.0, left + from, top], "il");
        }
        let middle = 0.5 * (from + to);
        if spacing.fits(middle) {
            svg.mark(label, [left - 24.0, top + middle], 1.0);
            let name = cut(&clusters.shown[at].name, NAME);
            svg.text([left - 34.0, top + middle + 4.0], "t", "end", name);
        }
        from = to;
    }
}

/// The evidence in the order of the clusters of the number chosen, and of the numbers next to it, side by side.
pub(super) fn by_number(
    ensemble: &Ensemble,
    choice: &ClusterCurves,
    tracks: &Tracks<'_>,
    clusters: &Clusters,
) -> Option<Plot> {
    let full = clusters.full_colour();
    let chosen = choice.chosen.filter(|&chosen| chosen > 1)?;
    let number = |at: usize| tracks.partitions[at].live_clusters();
    let near = (0..tracks.partitions.len()).filter(|&at| number(at).abs_diff(chosen) < 2);
    let near: Vec<usize> = near.collect();
    let base_clusters = ensemble.offsets().last().copied().unwrap_or(1).max(1);
    let cells = (PRODUCTS / base_clusters).isqrt().clamp(60, SMALL_SIDE);
    let (size, top) = (190.0, 24.0);
    let mut svg = Svg::new(near.len() as f64 * (size + 28.0) + 66.0, top + size + 10.0);
    let mut csv = String::new();
    for (panel, &at) in near.iter().enumerate() {
        let left = 18.0 + panel as f64 * (size + 28.0);
        let places = tracks.places(at);
        let objects: Vec<u32> = places.iter().map(|&at| tracks.object(at) as u32).collect();
        let map = heat_map(ensemble, &objects, cells);
        let name = format!("{} clusters", number(at));
        svg.text([left, top - 8.0], choice.class(number(at)), "start", name);
        svg.shades([left, top, size, size], map.ncols(), &shades(&map, full));
        let unit = size / places.len() as f64;
        let labels = tracks.partitions[at].labels();
        let mut from = top;
        for run in places.chunk_by(|&a, &b| labels[a] == labels[b]) {
            let colour = colour(tracks.colours[at][labels[run[0]] as usize]);
            let height = run.len() as f64 * unit;
            svg.rect([left - 9.0, from, 7.0, height.max(0.5)], &colour);
            from += height;
        }
        for (row, shares) in map.outer_iter().enumerate() {
            let shares: Vec<String> = shares.iter().map(|share| format!("{share:.4}")).collect();
            let _ = writeln!(csv, "{},{row},{}", number(at), shares.join(","));
        }
    }
    let key = [near.len() as f64 * (size + 28.0) + 14.0, top];
    svg.key(key, "together", full);
    let columns = csv.lines().next()?.split(',').count() - 2;
    let columns: Vec<String> = (0..columns).map(|at| at.to_string()).collect();
    let csv = format!("clusters,row,{}\n{csv}", columns.join(","));
    let numbers: Vec<usize> = near.iter().map(|&at| number(at)).collect();
    let facts = context! { numbers };
    Some(Plot::new("choice-matrices", svg, csv, facts))
}

/// The last merges of a tree, over the leaves in their order.
fn branches(svg: &mut Svg, tree: &Dendrogram, order: &[u32], [left, top, width, height]: [f64; 4]) {
    let (leaves, merges) = (tree.objects(), tree.merges());
    let mut place = vec![0.0; leaves + merges.len()];
    for (at, &object) in order.iter().enumerate() {
        place[object as usize] = left + (at as f64 + 0.5) / leaves as f64 * width;
    }
    let highest = merges.last().map_or(1.0, |merge| merge.height).max(1e-300);
    let y = |node: usize| {
        let merge = node.checked_sub(leaves).map(|at| merges[at].height);
        let level = merge.unwrap_or(0.0) / highest;
        n(top + height * (1.0 - level.clamp(0.0, 1.0)))
    };
    let first = merges.len().saturating_sub(MERGES);
    let mut d = String::new();
    for (at, merge) in merges.iter().enumerate() {
        let (a, b) = (merge.left as usize, merge.right as usize);
        place[leaves + at] = 0.5 * (place[a] + place[b]);
        if at >= first {
            let [left, right] = [a, b].map(|node| n(place[node]));
            let bar = y(leaves + at);
            let _ = write!(d, "M{left} {}V{bar}H{right}V{}", y(a), y(b));
        }
    }
    svg.path(&d, "class=\"ax\"");
    svg.text([left - 8.0, top + 10.0], "m", "end", number(highest));
    svg.text([left - 8.0, top + height], "m", "end", "0");
}

/// How often objects of two clusters are together: every cluster is as large as the others.
pub(super) fn clusters(clusters: &Clusters) -> Option<Plot> {
    let evidence = clusters.evidence.as_ref()?;
    let side = evidence.nrows();
    if side < 2 {
        return None;
    }
    let cell = (400.0 / side as f64).min(56.0);
    let (left, size) = (beside(clusters, 52.0), cell * side as f64);
    let upright = clusters.longest(NAME) > 3;
    let top = if upright { left } else { 34.0 };
    let (width, height) = (left + size + 90.0, top + size + 14.0);
    let mut svg = Svg::new(width.max(240.0), height.max(190.0));
    let full = clusters.full_colour();
    let values: Vec<f32> = evidence.iter().map(|&x| shade(x / full)).collect();
    svg.shades([left, top, size, size], side, &values);
    let every = if cell >= 13.0 { 1 } else { 2 };
    for (at, cluster) in clusters.shown.iter().enumerate().step_by(every) {
        let (middle, label) = ((at as f64 + 0.5) * cell, cluster.label);
        svg.mark(label, [left - 12.0, top + middle], 0.9);
        let name = cut(&cluster.name, NAME);
        svg.text([left - 21.0, top + middle + 4.0], "t", "end", &name);
        if upright {
            let place = [left + middle + 4.0, top - 19.0];
            svg.turned(place, -90, ["t", "start"], &name);
        } else {
            svg.text([left + middle, top - 18.0], "t", "middle", &name);
        }
        svg.mark(label, [left + middle, top - 8.0], 0.9);
    }
    let mut csv = "first,second,together\n".to_owned();
    let mut closest: Option<(usize, usize)> = None;
    for ((a, b), &share) in evidence.indexed_iter() {
        let [first, second] = [a, b].map(|at| clusters.shown[at].label);
        let _ = writeln!(csv, "{first},{second},{share}");
        if !share.is_finite() {
            continue;
        }
        if cell >= 34.0 {
            let [x, y] = [b, a].map(|at| (at as f64 + 0.5) * cell);
            let class = if share > 0.8 * full { "on" } else { "t" };
            let place = [left + x, top + y + 4.0];
            svg.text(place, class, "middle", format!("{share:.2}"));
        }
        if b < a && closest.is_none_or(|closest| share >= evidence[closest]) {
            closest = Some((a, b));
        }
    }
    svg.key([left + size + 22.0, top], "together", full);
    let closest = closest.map(|(a, b)| {
        let [first, second] = [b, a].map(|at| &clusters.shown[at].name);
        context! { first, second, share => evidence[[a, b]] }
    });
    let facts = context! { closest, side };
    Some(Plot::new("evidence-clusters", svg, csv, facts))
}

/// A share as a picture takes it: none is 0, and 1 is the most.
fn shade(x: f64) -> f32 {
    if x.is_finite() {
        x.min(1.0) as f32
    } else {
        0.0
    }
}

/// Shares as a picture takes them where full colour stands for this.
fn shades(map: &Array2<f32>, full: f64) -> Vec<f32> {
    let shades = map.iter().map(|&x| shade(f64::from(x) / full));
    shades.collect()
}

/// Agreement of every two base clusterings, and of each with the result on top.
pub(super) fn bases(ensemble: &Ensemble, agreement: &Agreement) -> Plot {
    let drawn = &agreement.drawn;
    let named = drawn.len() <= TOOLS;
    let names = || {
        drawn
            .iter()
            .map(|&u| cut(ensemble.bases()[u as usize].name(), NAME))
    };
    let longest = names().map(|name| name.chars().count()).max().unwrap_or(0);
    let beside = if named { 7.0 * longest as f64 } else { 0.0 };
    let (side, left, top) = (400.0, 16.0 + beside, 58.0);
    let bottom = top + side + 20.0;
    let mut svg = Svg::new(left + side + 90.0, bottom + 10.0);
    let result = |&u: &u32| shade(agreement.with_result[u as usize].nmi);
    let result: Vec<f32> = drawn.iter().map(result).collect();
    let between = agreement.between.iter().map(|alike| shade(alike.nmi));
    let between: Vec<f32> = between.collect();
    svg.text([left, top - 32.0], "m", "start", "with the result");
    svg.shades([left, top - 24.0, side, 14.0], drawn.len(), &result);
    svg.shades([left, top, side, side], drawn.len(), &between);
    if named {
        let step = side / drawn.len() as f64;
        for (at, name) in names().enumerate() {
            let middle = top + (at as f64 + 0.5) * step;
            svg.text([left - 6.0, middle + 4.0], "t", "end", name);
        }
    }
    let most = "← agree most with the result";
    svg.text([left, bottom], "m", "start", most);
    svg.text([left + side, bottom], "m", "end", "least →");
    svg.key([left + side + 22.0, top], "NMI", 1.0);
    let mut csv = "first,second,nmi,ari\n".to_owned();
    let name = |at: usize| field(ensemble.bases()[drawn[at] as usize].name());
    for (a, b) in (0..drawn.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
        let alike = agreement.between[[a, b]];
        let _ = writeln!(csv, "{},{},{},{}", name(b), name(a), alike.nmi, alike.ari);
    }
    Plot::new("base-agreement", svg, csv, agreement.facts(ensemble))
}
