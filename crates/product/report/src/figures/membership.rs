//! Figure: membership probabilities of all objects as stacked bars.

use std::fmt::Write as _;

use partita_core::SoftPartition;

use super::certainty::left_out;
use crate::clusters::Clusters;
use crate::figure::Drawn;
use crate::palette::{COLOURS, hatch, hatches};
use crate::svg::{Svg, n};
use crate::text::count;

/// Bars at most, and pieces of bars.
const BARS: usize = 480;
const PIECES: usize = 6_000;

/// One bar an object (or the mean of several), cut into clusters by probability.
pub(crate) fn bars(soft: &SoftPartition, clusters: &Clusters) -> Drawn {
    let all: usize = clusters
        .shown
        .iter()
        .map(|cluster| cluster.members.len())
        .sum();
    let each = all.div_ceil((PIECES / clusters.shown.len().max(1)).clamp(60, BARS));
    let (left, top, width, height) = (46.0, 14.0, 760.0, 190.0);
    let mut svg = Svg::new(left + width + 14.0, top + height + 44.0);
    svg.raw(&format!("<defs>{}</defs>", hatches("membership")));
    let objects: Vec<u32> = clusters
        .shown
        .iter()
        .flat_map(|cluster| cluster.members.iter().copied())
        .collect();
    let shares: Vec<Vec<f64>> = objects
        .chunks(each)
        .map(|run| mean(soft, clusters, run))
        .collect();
    let unit = width / all as f64;
    let edges: Vec<f64> = (0..=shares.len())
        .map(|at| left + ((at * each).min(all)) as f64 * unit)
        .collect();
    let mut floor = vec![0.0; shares.len()];
    for (at, cluster) in clusters.shown.iter().enumerate() {
        let (mut d, mut ceiling) = (String::new(), floor.clone());
        let mut back = String::new();
        for (bar, share) in shares.iter().enumerate() {
            ceiling[bar] += share[at];
            let (y, bottom) = (
                top + height * (1.0 - ceiling[bar]),
                top + height * (1.0 - floor[bar]),
            );
            let _ = write!(
                d,
                "{}{} {}H{}",
                if bar == 0 { "M" } else { "L" },
                n(edges[bar]),
                n(y),
                n(edges[bar + 1])
            );
            back.insert_str(
                0,
                &format!("L{} {}H{}", n(edges[bar + 1]), n(bottom), n(edges[bar])),
            );
        }
        floor = ceiling;
        let d = format!("{d}{back}z");
        svg.raw(&format!(
            "<defs><path id=\"membership-{at}\" d=\"{d}\"/></defs>"
        ));
        let fills = [
            Some(format!("class=\"k{}\"", cluster.label % COLOURS)),
            hatch("membership", cluster.label),
        ];
        fills
            .into_iter()
            .flatten()
            .for_each(|fill| svg.raw(&format!("<use href=\"#membership-{at}\" {fill}/>")));
    }
    for (share, text) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1")] {
        svg.text(
            [left - 7.0, top + height * (1.0 - share) + 4.0],
            "m",
            "end",
            text,
        );
    }
    labels(&mut svg, clusters, [left, top + height, unit]);
    let doubtful = objects
        .iter()
        .filter(|&&i| soft.rows().row(i as usize).iter().all(|&p| p < 0.5))
        .count();
    let doubtful = match doubtful {
        0 => "every one has a cluster of at least one half".to_owned(),
        1 => "one has no cluster of at least one half".to_owned(),
        _ => format!(
            "{} have no cluster of at least one half",
            count(doubtful as i64)
        ),
    };
    let alt = format!(
        "Probability of each cluster for {} objects, those of a cluster side by side; {doubtful}.",
        count(all as i64)
    );
    let mut note = left_out(clusters);
    if each > 1 {
        let _ = write!(note, " Every bar is the mean of {each} objects.");
    }
    let csv = csv(clusters, &shares, each, all);
    let title = "Membership".to_owned();
    Drawn {
        name: "membership",
        title,
        alt,
        svg,
        csv,
        note: note.trim().to_owned(),
        points: Vec::new(),
    }
}

/// Mean probabilities of the clusters shown, over some objects.
fn mean(soft: &SoftPartition, clusters: &Clusters, objects: &[u32]) -> Vec<f64> {
    let rows = soft.rows();
    let of = |label: usize| {
        objects
            .iter()
            .map(|&i| rows[[i as usize, label]])
            .sum::<f64>()
            / objects.len() as f64
    };
    clusters
        .shown
        .iter()
        .map(|cluster| of(cluster.label))
        .collect()
}

fn labels(svg: &mut Svg, clusters: &Clusters, [left, bottom, unit]: [f64; 3]) {
    let (mut begin, mut free) = (0, f64::NEG_INFINITY);
    for cluster in &clusters.shown {
        let end = begin + cluster.members.len();
        let (from, middle) = (
            left + begin as f64 * unit,
            left + 0.5 * (begin + end) as f64 * unit,
        );
        svg.line([from, bottom, from, bottom + 7.0], "ax");
        if middle - free >= 26.0 {
            svg.marker(
                cluster.label,
                [middle - 7.0, bottom + 17.0],
                1.0,
                &format!("k{}", cluster.label % COLOURS),
            );
            svg.text(
                [middle + 1.0, bottom + 21.0],
                "t",
                "start",
                &cluster.label.to_string(),
            );
            free = middle;
        }
        begin = end;
    }
    let right = left + begin as f64 * unit;
    svg.line([right, bottom, right, bottom + 7.0], "ax");
    svg.text(
        [0.5 * (left + right), bottom + 39.0],
        "m",
        "middle",
        "objects by cluster, the most certain first",
    );
}

fn csv(clusters: &Clusters, shares: &[Vec<f64>], each: usize, all: usize) -> String {
    let mut csv = "first,objects".to_owned();
    clusters
        .shown
        .iter()
        .for_each(|cluster| csv.push_str(&format!(",cluster_{}", cluster.label)));
    csv.push('\n');
    for (at, share) in shares.iter().enumerate() {
        let cells: Vec<String> = share.iter().map(|p| format!("{p:.4}")).collect();
        let _ = writeln!(
            csv,
            "{},{},{}",
            at * each,
            each.min(all - at * each),
            cells.join(",")
        );
    }
    csv
}
