//! Figure: the tree of clusters over their number, as clustree draws it (Zappia and Oshlack, GigaScience 7, 2018).

use std::fmt::Write as _;

use minijinja::context;

use super::Plot;
use crate::curves::ClusterCurves;
use crate::svg::{Svg, colour, n};
use crate::text::count;
use crate::tracks::Tracks;

/// An edge is drawn where it brings this share of the cluster it leads to.
const SHARE: f64 = 0.1;

const WIDTH: f64 = 760.0;
const PITCH: f64 = 58.0;
const LEFT: f64 = 44.0;
const TOP: f64 = 30.0;

/// Clusters of every number in a row, and where their objects come from.
pub(super) fn figure(choice: &ClusterCurves, tracks: &Tracks<'_>) -> Plot {
    let numbers = tracks.numbers();
    let mut svg = Svg::new(WIDTH, TOP + PITCH * (numbers.len() - 1) as f64 + 30.0);
    let place = |row: usize, cluster: usize| {
        let order = &tracks.order[row];
        let at = order.iter().position(|&other| other == cluster);
        let along = (at.unwrap_or(0) as f64 + 0.5) / order.len() as f64;
        [
            LEFT + along * (WIDTH - LEFT - 10.0),
            TOP + PITCH * row as f64,
        ]
    };
    let mut csv = "from_clusters,from,to_clusters,to,objects,share_of_to\n".to_owned();
    let mut mixed = vec![0usize];
    for (row, table) in tracks.tables.iter().enumerate() {
        let mut feeders = vec![0usize; table.column_sizes().len()];
        for (a, b, objects) in table.cells() {
            let share = objects as f64 / table.column_sizes()[b] as f64;
            let (from, to) = (numbers[row], numbers[row + 1]);
            let _ = writeln!(csv, "{from},{a},{to},{b},{objects},{share:.4}");
            if share >= SHARE {
                feeders[b] += 1;
                edge(&mut svg, place(row, a), place(row + 1, b), share);
            }
        }
        mixed.push(feeders.iter().filter(|&&feeders| feeders > 1).count());
    }
    for (row, partition) in tracks.partitions.iter().enumerate() {
        let at = [LEFT - 22.0, TOP + PITCH * row as f64 + 4.0];
        svg.text(at, choice.class(numbers[row]), "middle", numbers[row]);
        let (sizes, objects) = (partition.sizes(), partition.objects() as f64);
        let room = (WIDTH - LEFT - 10.0) / tracks.order[row].len() as f64;
        for &cluster in &tracks.order[row] {
            let area = sizes[cluster] as f64 / objects;
            let radius = (20.0 * area.sqrt()).max(3.5).min(0.42 * room);
            let [x, y] = place(row, cluster);
            node(&mut svg, [x, y], radius, tracks.colours[row][cluster]);
            if room >= 76.0 {
                let size = count(sizes[cluster] as i64);
                svg.text([x + radius + 5.0, y + 4.0], "m halo", "start", size);
            }
        }
    }
    // Up to which number every cluster has one origin.
    let first = mixed.iter().position(|&mixed| mixed > 0);
    let first = first.map(|row| {
        context! { before => numbers[row - 1], number => numbers[row], clusters => mixed[row] }
    });
    let facts = context! {
        numbers => numbers.clone(), mixed => first, least => SHARE, left_out => tracks.left_out.clone(),
    };
    Plot::new("choice-tree", svg, csv, facts)
}

fn edge(svg: &mut Svg, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], share: f64) {
    let middle = n(0.5 * (y1 + y2));
    let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(n);
    let d = format!("M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}");
    let (width, opacity) = (n(1.0 + 3.0 * share), n(0.15 + 0.75 * share));
    let style = format!("class=\"ax\" stroke-width=\"{width}\" stroke-opacity=\"{opacity}\"");
    svg.path(&d, &style);
}

fn node(svg: &mut Svg, [x, y]: [f64; 2], radius: f64, cluster: usize) {
    let [left, middle, r, d] = [x - radius, y, radius, 2.0 * radius].map(n);
    let circle = format!("M{left} {middle}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0z");
    svg.path(&circle, &format!("class=\"{} rim\"", colour(cluster)));
    if radius >= 7.0 {
        svg.marker(cluster, [x, y], 0.8, "on");
    }
}
