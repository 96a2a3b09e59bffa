//! Figure: flow of objects between clusters when their number grows (Sankey diagram).

use std::fmt::Write as _;

use minijinja::context;
use partita_metrics::Contingency;

use super::Plot;
use crate::curves::ClusterCurves;
use crate::svg::{Svg, colour, n};
use crate::tracks::Tracks;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const TOP: f64 = 30.0;

/// Width of a bar.
const BAR: f64 = 12.0;

/// A cluster of one of the partitions, as a bar.
struct Bar {
    cluster: usize,
    top: f64,
    height: f64,
    /// The colour that it has in all figures over the number of clusters.
    colour: usize,
    /// How far its sides are covered by ribbons: to the next number, and from the one before.
    out: f64,
    into: f64,
}

/// Clusters of every number tried, side by side, and the objects that go from one to the next.
pub(super) fn figure(choice: &ClusterCurves, tracks: &Tracks<'_>) -> Plot {
    let numbers = tracks.numbers();
    let mut svg = Svg::new(WIDTH, HEIGHT + TOP + 14.0);
    let mut bars: Vec<Vec<Bar>> = (0..numbers.len()).map(|at| stacked(tracks, at)).collect();
    let step = (WIDTH - 60.0) / (numbers.len() - 1) as f64;
    let x = |at: usize| 24.0 + at as f64 * step;
    let mut csv = "from_column,from_cluster,to_cluster,objects\n".to_owned();
    for (at, table) in tracks.tables.iter().enumerate() {
        if let [from, to] = &mut bars[at..at + 2] {
            ribbons(&mut svg, table, from, to, [x(at) + BAR, x(at + 1)]);
        }
        for (a, b, objects) in table.cells() {
            let _ = writeln!(csv, "{},{a},{b},{objects}", numbers[at]);
        }
    }
    for (at, column) in bars.iter().enumerate() {
        let (middle, number) = (x(at) + 0.5 * BAR, numbers[at]);
        svg.text([middle, TOP - 12.0], choice.class(number), "middle", number);
        for bar in column {
            let place = [x(at), bar.top, BAR, bar.height.max(0.5)];
            svg.rect(place, &colour(bar.colour));
            if bar.height >= 13.0 {
                let centre = [middle, bar.top + 0.5 * bar.height];
                svg.marker(bar.colour, centre, 0.75, "on");
            }
        }
    }
    let facts = context! { numbers, left_out => tracks.left_out.clone() };
    Plot::new("choice-flow", svg, csv, facts)
}

/// The clusters of a partition on top of each other, near the clusters that their objects come from.
fn stacked(tracks: &Tracks<'_>, at: usize) -> Vec<Bar> {
    let (partition, order) = (tracks.partitions[at], &tracks.order[at]);
    let sizes = partition.sizes();
    let gap = (0.18 * HEIGHT / order.len() as f64).min(10.0);
    let unit = (HEIGHT - gap * (order.len() - 1) as f64) / partition.objects() as f64;
    let mut top = TOP;
    let mut bars = Vec::new();
    for &cluster in order {
        let height = sizes[cluster] as f64 * unit;
        bars.push(Bar {
            cluster,
            top,
            height,
            colour: tracks.colours[at][cluster],
            out: 0.0,
            into: 0.0,
        });
        top += height + gap;
    }
    bars
}

fn ribbons(
    svg: &mut Svg,
    table: &Contingency,
    from: &mut [Bar],
    to: &mut [Bar],
    [left, right]: [f64; 2],
) {
    let (rows, columns) = (table.row_sizes(), table.column_sizes());
    for a in from {
        for b in &mut *to {
            let mut cells = table.cells();
            let Some((_, _, objects)) = cells.find(|c| c.0 == a.cluster && c.1 == b.cluster) else {
                continue;
            };
            let out = objects as f64 / rows[a.cluster] as f64 * a.height;
            let into = objects as f64 / columns[b.cluster] as f64 * b.height;
            let (y1, y2) = (a.top + a.out, b.top + b.into);
            a.out += out;
            b.into += into;
            let [y3, y4] = [y2 + into, y1 + out].map(n);
            let [y1, y2] = [y1, y2].map(n);
            let [x1, x2, x] = [left, right, 0.5 * (left + right)].map(n);
            let d =
                format!("M{x1} {y1}C{x} {y1} {x} {y2} {x2} {y2}V{y3}C{x} {y3} {x} {y4} {x1} {y4}z");
            let style = format!("class=\"{}\" opacity=\".35\"", colour(b.colour));
            svg.path(&d, &style);
        }
    }
}
