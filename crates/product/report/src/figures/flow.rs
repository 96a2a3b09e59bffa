//! Figure: flow of objects between clusters when their number grows (Sankey diagram).

use std::fmt::Write as _;

use partita_metrics::Contingency;

use crate::curves::ClusterCurves;
use crate::figure::Drawn;
use crate::palette::COLOURS;
use crate::svg::{Svg, n};
use crate::tracks::Tracks;

/// A cluster of one of the partitions, as a bar.
struct Bar {
    cluster: usize,
    top: f64,
    height: f64,
    /// The colour that it has in all figures over the number of clusters.
    colour: usize,
}

/// Clusters of every number tried, side by side, and the objects that go from one to the next.
pub(crate) fn figure(choice: &ClusterCurves, tracks: &Tracks<'_>) -> Drawn {
    let (columns, tables) = (&tracks.partitions, &tracks.tables);
    let (width, height, top) = (760.0, 380.0, 30.0);
    let mut svg = Svg::new(width, height + top + 14.0);
    let bars: Vec<Vec<Bar>> = (0..columns.len())
        .map(|at| stacked(tracks, at, [top, height]))
        .collect();
    let step = (width - 60.0) / (columns.len() - 1) as f64;
    let x = |at: usize| 24.0 + at as f64 * step;
    for (at, table) in tables.iter().enumerate() {
        ribbons(
            &mut svg,
            table,
            [&bars[at], &bars[at + 1]],
            [x(at) + 12.0, x(at + 1)],
        );
    }
    for (at, column) in bars.iter().enumerate() {
        let found = columns[at].live_clusters();
        let class = if choice.chosen == Some(found) {
            "t big"
        } else {
            "m"
        };
        svg.text(
            [x(at) + 6.0, top - 12.0],
            class,
            "middle",
            &found.to_string(),
        );
        for bar in column {
            svg.rect(
                [x(at), bar.top, 12.0, bar.height.max(0.5)],
                &format!("k{}", bar.colour % COLOURS),
            );
            if bar.height >= 13.0 {
                svg.marker(
                    bar.colour,
                    [x(at) + 6.0, bar.top + 0.5 * bar.height],
                    0.75,
                    "on",
                );
            }
        }
    }
    let mut csv = "from_column,from_cluster,to_cluster,objects\n".to_owned();
    for (at, table) in tables.iter().enumerate() {
        table.cells().for_each(|(a, b, objects)| {
            csv.push_str(&format!(
                "{},{a},{b},{objects}\n",
                columns[at].live_clusters()
            ))
        });
    }
    let numbers: Vec<String> = columns
        .iter()
        .map(|partition| partition.live_clusters().to_string())
        .collect();
    let alt = format!(
        "Where objects go when the number of clusters grows, for {} clusters. Straight bands are clusters that stay; a \
         cluster that is fed by many has no ground of its own.",
        numbers.join(", ")
    );
    let mut note = "Colour and shape: the cluster of the result that it has most of.".to_owned();
    if !tracks.left_out.is_empty() {
        let _ = write!(note, " {}", tracks.left_out);
    }
    Drawn {
        name: "choice-flow",
        title: "Flow of objects over the number of clusters".to_owned(),
        alt,
        svg,
        csv,
        note,
        points: Vec::new(),
    }
}

/// The clusters of a partition on top of each other, near the clusters that their objects come from.
fn stacked(tracks: &Tracks<'_>, at: usize, [top, height]: [f64; 2]) -> Vec<Bar> {
    let (partition, order) = (tracks.partitions[at], &tracks.order[at]);
    let sizes = partition.sizes();
    let gap = (0.18 * height / order.len() as f64).min(10.0);
    let unit = (height - gap * (order.len() - 1) as f64) / partition.objects() as f64;
    let mut y = top;
    let bar = |&cluster: &usize| {
        let bar = Bar {
            cluster,
            top: y,
            height: sizes[cluster] as f64 * unit,
            colour: tracks.colours[at][cluster],
        };
        y += bar.height + gap;
        bar
    };
    order.iter().map(bar).collect()
}

fn ribbons(
    svg: &mut Svg,
    table: &Contingency,
    [from, to]: [&Vec<Bar>; 2],
    [left, right]: [f64; 2],
) {
    let mut used = vec![0.0; table.row_sizes().len()];
    let sizes = (table.row_sizes(), table.column_sizes());
    let mut filled = vec![0.0; table.column_sizes().len()];
    let middle = 0.5 * (left + right);
    for a in from {
        for b in to {
            let Some((_, _, objects)) = table
                .cells()
                .find(|cell| cell.0 == a.cluster && cell.1 == b.cluster)
            else {
                continue;
            };
            let out = objects as f64 / sizes.0[a.cluster] as f64 * a.height;
            let into = objects as f64 / sizes.1[b.cluster] as f64 * b.height;
            let (y1, y2) = (a.top + used[a.cluster], b.top + filled[b.cluster]);
            used[a.cluster] += out;
            filled[b.cluster] += into;
            let mut d = String::new();
            let [y3, y4] = [y2 + into, y1 + out];
            let _ = write!(
                d,
                "M{} {}C{3} {1} {3} {2} {4} {2}",
                n(left),
                n(y1),
                n(y2),
                n(middle),
                n(right)
            );
            let _ = write!(
                d,
                "V{}C{2} {0} {2} {1} {3} {1}z",
                n(y3),
                n(y4),
                n(middle),
                n(left)
            );
            svg.path(
                &d,
                &format!("class=\"k{}\" opacity=\".35\"", b.colour % COLOURS),
            );
        }
    }
}
