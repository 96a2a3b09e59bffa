//! Figures: histogram of the agreement of objects, and its spread within each cluster.

use std::fmt::Write as _;

use minijinja::context;

use super::Plot;
use crate::axes::Frame;
use crate::clusters::Clusters;
use crate::svg::colour;
use crate::text::{count, cut};
use crate::{Counted, Report};

const BINS: usize = 20;

/// Agreement of all objects, in steps of 0.05.
pub(super) fn histogram(report: &Report<'_>) -> Plot {
    let mut counts = report.counted.as_ref().map_or([0; BINS], Counted::bins);
    if report.counted.is_none() {
        for sure in report.agreement {
            counts[((sure * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
    }
    let (mut svg, mut frame) = Frame::new(460.0, 270.0);
    let most = counts.iter().copied().max().unwrap_or(1) as f64;
    let y = frame.y(0.0, 1.06 * most);
    let objects = |tick| count(tick as i64);
    frame.left = 74.0;
    frame.make_room(&y, objects);
    let x = frame.x(0.0, 1.0);
    frame.draw_y(&mut svg, &y, "objects", objects);
    let mut csv = "from,to,objects\n".to_owned();
    for (bin, &objects) in counts.iter().enumerate() {
        let [from, to] = [bin, bin + 1].map(|edge| edge as f64 / BINS as f64);
        let _ = writeln!(csv, "{from},{to},{objects}");
        if objects > 0 {
            let top = y.at(objects as f64).min(frame.bottom - 1.0);
            let width = x.at(to) - x.at(from) - 2.0;
            svg.rect([x.at(from) + 1.0, top, width, frame.bottom - top], "a");
        }
    }
    frame.draw_x(&mut svg, &x, "agreement", &x.ticks(5));
    let facts = context! {
        high => report.share_from(900), low => 1.0 - report.share_from(500),
    };
    Plot::new("object-agreement", svg, csv, facts)
}

/// Agreement within each cluster: from the lowest to the highest tenth, and the middle.
pub(super) fn by_cluster(clusters: &Clusters) -> Plot {
    let rows = clusters.shown.len();
    let step = if rows > 24 {
        13.0
    } else {
        (200.0 / rows as f64).clamp(22.0, 44.0)
    };
    let (mut svg, mut frame) = Frame::new(460.0, 60.0 + rows as f64 * step);
    let titles: Vec<String> = clusters
        .shown
        .iter()
        .map(|cluster| cut(&cluster.title(), 20))
        .collect();
    let longest = titles.iter().map(|title| title.chars().count()).max();
    frame.left = 33.0 + 7.0 * longest.unwrap_or(0).max(9) as f64;
    let x = frame.x(0.0, 1.0);
    for tick in x.ticks(5) {
        svg.line([x.at(tick), frame.top, x.at(tick), frame.bottom], "g");
    }
    let mut csv = "cluster,objects,mean,lowest_tenth,median,highest_tenth,cohesion\n".to_owned();
    for (at, cluster) in clusters.shown.iter().enumerate() {
        let (middle, label) = (frame.top + (at as f64 + 0.5) * step, cluster.label);
        let [low, median, high] = cluster.deciles.map(|sure| x.at(sure));
        let thick = (0.44 * step).min(14.0);
        svg.rect_with(
            [low - 2.0, middle - 0.5 * thick, high - low + 4.0, thick],
            &format!("class=\"{}\" rx=\"3\" opacity=\".45\"", colour(label)),
        );
        svg.mark(label, [median, middle], 1.0);
        svg.mark(label, [frame.left - 14.0, middle], 1.0);
        svg.text([frame.left - 26.0, middle + 4.0], "t", "end", &titles[at]);
        let cohesion = clusters.cohesion(at).map(|x| x.to_string());
        let [lowest, median, highest] = cluster.deciles;
        let _ = writeln!(
            csv,
            "{label},{},{},{lowest},{median},{highest},{}",
            cluster.size,
            cluster.mean,
            cohesion.unwrap_or_default()
        );
    }
    let name = "agreement: lowest tenth, median, highest tenth";
    frame.draw_x(&mut svg, &x, name, &x.ticks(5));
    let least = clusters
        .shown
        .iter()
        .filter(|cluster| cluster.mean < 0.9995)
        .min_by(|a, b| a.mean.total_cmp(&b.mean));
    let least = least.map(|cluster| context! { cluster => cluster.title(), mean => cluster.mean });
    Plot::new("object-agreement-by-cluster", svg, csv, context! { least })
}
