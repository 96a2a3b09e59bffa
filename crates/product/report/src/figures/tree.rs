//! Figure: the tree of clusters over their number, as clustree draws it (Zappia and Oshlack, GigaScience 7, 2018).

use std::fmt::Write as _;

use crate::curves::ClusterCurves;
use crate::figure::Drawn;
use crate::palette::COLOURS;
use crate::svg::{Svg, n};
use crate::text::count;
use crate::tracks::Tracks;

/// An edge is drawn where it brings this share of the cluster it leads to.
const SHARE: f64 = 0.1;

const WIDTH: f64 = 760.0;
const PITCH: f64 = 58.0;

/// Clusters of every number in a row, and where their objects come from.
pub(crate) fn figure(choice: &ClusterCurves, tracks: &Tracks<'_>) -> Drawn {
    let (numbers, left, top) = (tracks.numbers(), 44.0, 30.0);
    let mut svg = Svg::new(WIDTH, top + PITCH * (numbers.len() - 1) as f64 + 30.0);
    let place = |row: usize, cluster: usize| {
        let order = &tracks.order[row];
        let at = order
            .iter()
            .position(|&other| other == cluster)
            .unwrap_or(0) as f64;
        [
            left + (at + 0.5) / order.len() as f64 * (WIDTH - left - 10.0),
            top + PITCH * row as f64,
        ]
    };
    let mut csv = "from_clusters,from,to_clusters,to,objects,share_of_to\n".to_owned();
    let mut mixed = vec![0usize; numbers.len()];
    for (row, table) in tracks.tables.iter().enumerate() {
        let mut feeders = vec![0usize; table.column_sizes().len()];
        for (a, b, objects) in table.cells() {
            let share = objects as f64 / table.column_sizes()[b] as f64;
            let _ = writeln!(
                csv,
                "{},{a},{},{b},{objects},{share:.4}",
                numbers[row],
                numbers[row + 1]
            );
            if share >= SHARE {
                feeders[b] += 1;
                edge(&mut svg, [place(row, a), place(row + 1, b)], share);
            }
        }
        mixed[row + 1] = feeders.iter().filter(|&&feeders| feeders > 1).count();
    }
    for (row, partition) in tracks.partitions.iter().enumerate() {
        let chosen = choice.chosen == Some(numbers[row]);
        let class = if chosen { "t big" } else { "m" };
        svg.text(
            [left - 22.0, top + PITCH * row as f64 + 4.0],
            class,
            "middle",
            &numbers[row].to_string(),
        );
        let (sizes, objects) = (partition.sizes(), partition.objects() as f64);
        let room = (WIDTH - left - 10.0) / tracks.order[row].len() as f64;
        for &cluster in &tracks.order[row] {
            let radius = (20.0 * (sizes[cluster] as f64 / objects).sqrt())
                .max(3.5)
                .min(0.42 * room);
            node(
                &mut svg,
                place(row, cluster),
                radius,
                tracks.colours[row][cluster],
            );
            if room >= 76.0 {
                let [x, y] = place(row, cluster);
                svg.text(
                    [x + radius + 5.0, y + 4.0],
                    "m halo",
                    "start",
                    &count(sizes[cluster] as i64),
                );
            }
        }
    }
    let alt = format!(
        "A row for each number of clusters, {}; every cluster hangs from the clusters that its objects were in before. {}",
        list(&numbers),
        stability(&numbers, &mixed)
    );
    let mut note = format!(
        "Area: objects. Lines: strong where they bring most of a cluster; those that bring less than {:.0} % of it are left out.",
        100.0 * SHARE
    );
    if !tracks.left_out.is_empty() {
        let _ = write!(note, " {}", tracks.left_out);
    }
    let title = "Tree of clusters over their number".to_owned();
    Drawn {
        name: "choice-tree",
        title,
        alt,
        svg,
        csv,
        note,
        points: Vec::new(),
    }
}

pub(crate) fn list(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    numbers.join(", ")
}

/// Up to which number every cluster has one origin.
fn stability(numbers: &[usize], mixed: &[usize]) -> String {
    match mixed.iter().position(|&mixed| mixed > 0) {
        None => "Every cluster is a part of one cluster of the row above.".to_owned(),
        Some(row) => format!(
            "Up to {} every cluster is a part of one cluster of the row above; with {} {} from several.",
            numbers[row - 1],
            numbers[row],
            if mixed[row] == 1 {
                "one comes".to_owned()
            } else {
                format!("{} come", mixed[row])
            }
        ),
    }
}

fn edge(svg: &mut Svg, [[x1, y1], [x2, y2]]: [[f64; 2]; 2], share: f64) {
    let middle = 0.5 * (y1 + y2);
    let d = format!(
        "M{} {}C{0} {4} {2} {4} {2} {3}",
        n(x1),
        n(y1),
        n(x2),
        n(y2),
        n(middle)
    );
    let (width, opacity) = (n(1.0 + 3.0 * share), n(0.15 + 0.75 * share));
    svg.path(
        &d,
        &format!("class=\"ax\" style=\"stroke-width:{width};stroke-opacity:{opacity}\""),
    );
}

fn node(svg: &mut Svg, [x, y]: [f64; 2], radius: f64, colour: usize) {
    let (r, d) = (n(radius), n(2.0 * radius));
    let circle = format!(
        "M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0z",
        n(x - radius),
        n(y)
    );
    svg.path(&circle, &format!("class=\"k{} rim\"", colour % COLOURS));
    if radius >= 7.0 {
        svg.marker(colour, [x, y], 0.8, "on");
    }
}
