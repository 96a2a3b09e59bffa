//! Figures: histogram of the confidence (of the certainty where there is none), and its spread within each cluster.

use std::fmt::Write as _;

use crate::axes::Frame;
use crate::clusters::Clusters;
use crate::figure::Drawn;
use crate::svg::Svg;
use crate::text::{capital, count, number, percent};
use crate::{Counted, Report};

const BINS: usize = 20;

/// Confidence of all objects, in steps of 0.05.
pub(crate) fn histogram(report: &Report<'_>) -> Drawn {
    let word = report.trust_name();
    let mut counts = report.counted.as_ref().map_or([0; BINS], Counted::bins);
    if report.counted.is_none() {
        report
            .trust()
            .iter()
            .for_each(|sure| counts[((sure * BINS as f64) as usize).min(BINS - 1)] += 1);
    }
    let (width, height) = (460.0, 270.0);
    let (mut svg, frame) = (
        Svg::new(width, height),
        Frame {
            left: 74.0,
            ..Frame::new(width, height)
        },
    );
    let most = counts.iter().copied().max().unwrap_or(1) as f64;
    let (x, y) = (frame.x(0.0, 1.0), frame.y(0.0, 1.06 * most));
    frame.draw_y(&mut svg, &y, "objects", |tick| count(tick as i64));
    for (bin, &objects) in counts
        .iter()
        .enumerate()
        .filter(|(_, objects)| **objects > 0)
    {
        let (left, right) = (
            x.at(bin as f64 / BINS as f64),
            x.at((bin + 1) as f64 / BINS as f64),
        );
        let top = y.at(objects as f64).min(frame.bottom - 1.0);
        svg.rect(
            [left + 1.0, top, right - left - 2.0, frame.bottom - top],
            "a",
        );
    }
    frame.draw_x(&mut svg, &x, word, &x.ticks(5));
    let mut csv = "from,to,objects\n".to_owned();
    for (bin, objects) in counts.iter().enumerate() {
        let _ = writeln!(
            csv,
            "{},{},{objects}",
            bin as f64 / BINS as f64,
            (bin + 1) as f64 / BINS as f64
        );
    }
    // A confidence seldom goes beyond 0.9.
    let high = if report.confidence.is_some() {
        750
    } else {
        900
    };
    let alt = format!(
        "Histogram of the {word} of {} objects: {} are at {} or above, {} below 0.5.",
        count(report.all() as i64),
        percent(report.share_from(high)),
        high as f64 / 1_000.0,
        percent(1.0 - report.share_from(500))
    );
    let title = format!("{} of the objects", capital(word));
    Drawn {
        name: "certainty",
        title,
        alt,
        svg,
        csv,
        note: String::new(),
        points: Vec::new(),
    }
}

/// Confidence within each cluster: from the lowest to the highest tenth, and the middle.
pub(crate) fn by_cluster(report: &Report<'_>, clusters: &Clusters) -> Drawn {
    let word = report.trust_name();
    let rows = clusters.shown.len();
    let (width, step) = (
        460.0,
        if rows > 24 {
            13.0
        } else {
            (200.0 / rows as f64).clamp(22.0, 44.0)
        },
    );
    let height = 14.0 + rows as f64 * step + 46.0;
    let (mut svg, frame) = (Svg::new(width, height), Frame::new(width, height));
    let frame = Frame {
        left: 96.0,
        ..frame
    };
    let x = frame.x(0.0, 1.0);
    for tick in x.ticks(5) {
        svg.line([x.at(tick), frame.top, x.at(tick), frame.bottom], "g");
    }
    let mut csv = "cluster,objects,mean,lowest_tenth,median,highest_tenth,cohesion\n".to_owned();
    for (at, cluster) in clusters.shown.iter().enumerate() {
        let (middle, label) = (frame.top + (at as f64 + 0.5) * step, cluster.label);
        let [low, median, high] = cluster.deciles.map(|sure| x.at(sure));
        let colour = format!(
            "class=\"k{}\" rx=\"3\" opacity=\".45\"",
            label % crate::palette::COLOURS
        );
        let thick = (0.44 * step).min(14.0);
        svg.rect_with(
            [low - 2.0, middle - 0.5 * thick, high - low + 4.0, thick],
            &colour,
        );
        svg.marker(
            label,
            [median, middle],
            1.0,
            &format!("k{}", label % crate::palette::COLOURS),
        );
        svg.marker(
            label,
            [frame.left - 14.0, middle],
            1.0,
            &format!("k{}", label % crate::palette::COLOURS),
        );
        svg.text(
            [frame.left - 26.0, middle + 4.0],
            "t",
            "end",
            &format!("cluster {label}"),
        );
        let cohesion = clusters
            .cohesion(at)
            .map_or_else(String::new, |cohesion| cohesion.to_string());
        let [lowest, median, highest] = cluster.deciles;
        let _ = writeln!(
            csv,
            "{label},{},{},{lowest},{median},{highest},{cohesion}",
            cluster.size, cluster.mean
        );
    }
    frame.draw_x(
        &mut svg,
        &x,
        &format!("{word}: lowest tenth, median, highest tenth"),
        &x.ticks(5),
    );
    let least = clusters
        .shown
        .iter()
        .filter(|cluster| cluster.mean < 0.9995)
        .min_by(|a, b| a.mean.total_cmp(&b.mean));
    let least = least.map_or_else(String::new, |cluster| {
        format!(
            " It is least in cluster {}: {} on average.",
            cluster.label,
            number(cluster.mean)
        )
    });
    let alt = format!("Range of the {word} in each of {rows} clusters.{least}");
    let title = format!("{} within each cluster", capital(word));
    Drawn {
        name: "certainty-by-cluster",
        title,
        alt,
        svg,
        csv,
        note: left_out(clusters),
        points: Vec::new(),
    }
}

/// What to say where not all clusters are shown.
pub(crate) fn left_out(clusters: &Clusters) -> String {
    let (shown, live) = (clusters.shown.len(), clusters.live);
    if shown == live {
        String::new()
    } else {
        format!("The {shown} largest of {} clusters.", count(live as i64))
    }
}
