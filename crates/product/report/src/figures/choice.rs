//! Figures: curves over the numbers of clusters (consensus CDF, PAC, delta area, criteria).

use std::fmt::Write as _;

use crate::axes::{Frame, Scale, polyline};
use crate::curves::{ClusterCurves, CurvePoint};
use crate::figure::Drawn;
use crate::svg::Svg;
use crate::text::tick;

/// Reads one number of a row.
type Of = fn(&CurvePoint) -> Option<f64>;

/// The consensus CDF of every number of clusters.
pub(crate) fn cdf(choice: &ClusterCurves) -> Option<Drawn> {
    let mut rows: Vec<&CurvePoint> = choice.rows.iter().filter(|row| row.cdf.len() > 1).collect();
    if rows.is_empty() {
        return None;
    }
    let (width, height) = (460.0, 340.0);
    let (mut svg, frame) = (Svg::new(width, height), Frame::new(width, height));
    let (x, y) = (frame.x(0.0, 1.0), frame.y(0.0, 1.0));
    frame.draw_y(&mut svg, &y, "share of pairs", tick);
    for row in &rows {
        let chosen = choice.chosen == Some(row.clusters);
        let last = (row.cdf.len() - 1) as f64;
        let points = row
            .cdf
            .iter()
            .enumerate()
            .map(|(at, &share)| (x.at(at as f64 / last), y.at(share)));
        // A few points carry the curve: steps of 1/1000 would be seen by nobody.
        let thin = row.cdf.len().div_ceil(120);
        let d = polyline(
            points
                .enumerate()
                .filter(|(at, _)| at % thin == 0 || *at as f64 == last)
                .map(|(_, p)| p),
        );
        svg.path(
            &d,
            if chosen {
                "class=\"ln al\""
            } else {
                "class=\"ln ax\" stroke-opacity=\".7\""
            },
        );
    }
    let mut csv = "clusters,together,share\n".to_owned();
    for row in &rows {
        for (at, share) in row.cdf.iter().enumerate() {
            let _ = writeln!(
                csv,
                "{},{},{share}",
                row.clusters,
                at as f64 / (row.cdf.len() - 1) as f64
            );
        }
    }
    let along = widest(&rows);
    rows.sort_by(|a, b| {
        at_share(a, along)
            .total_cmp(&at_share(b, along))
            .then(a.clusters.cmp(&b.clusters))
    });
    names(&mut svg, choice, &rows, [&x, &y], along);
    frame.draw_x(
        &mut svg,
        &x,
        "how often two objects are together",
        &x.ticks(5),
    );
    let alt = format!(
        "Consensus CDF for {} numbers of clusters. A curve that is flat between 0.1 and 0.9 belongs to a number on which \
         the base clusterings agree.{}",
        rows.len(),
        choice.chosen.map_or_else(String::new, |chosen| format!(
            " The chosen {chosen} is drawn in colour."
        ))
    );
    Some(drawn("choice-cdf", "Consensus CDF", alt, svg, csv))
}

/// The number of clusters on each curve, by turns a little further right; the chosen one first, and others where there is room.
fn names(
    svg: &mut Svg,
    choice: &ClusterCurves,
    rows: &[&CurvePoint],
    [x, y]: [&Scale; 2],
    along: f64,
) {
    let chosen = |row: &CurvePoint| choice.chosen == Some(row.clusters);
    let mut places: Vec<(usize, &CurvePoint)> = rows.iter().copied().enumerate().collect();
    places.sort_by_key(|(_, row)| !chosen(row));
    let mut taken: Vec<[f64; 2]> = Vec::new();
    for (at, row) in places {
        let along = along + 0.055 * (at % 3) as f64;
        let place = [x.at(along), y.at(at_share(row, along))];
        if taken
            .iter()
            .all(|other| (other[0] - place[0]).abs() >= 26.0 || (other[1] - place[1]).abs() >= 9.0)
        {
            let class = if chosen(row) { "t big halo" } else { "m halo" };
            svg.text(
                [place[0], place[1] + 4.0],
                class,
                "middle",
                &row.clusters.to_string(),
            );
            taken.push(place);
        }
    }
}

/// The CDF of a row at a place between 0 and 1.
fn at_share(row: &CurvePoint, along: f64) -> f64 {
    row.cdf[(along * (row.cdf.len() - 1) as f64).round() as usize]
}

/// The place where the curves lie farthest apart, for their names.
fn widest(rows: &[&CurvePoint]) -> f64 {
    let range = |along: f64| {
        let shares = rows.iter().map(|row| at_share(row, along));
        shares.clone().fold(0.0, f64::max) - shares.fold(1.0, f64::min)
    };
    [0.5, 0.3, 0.7, 0.15, 0.05]
        .into_iter()
        .reduce(|best, along| {
            if range(along) > 1.2 * range(best) {
                along
            } else {
                best
            }
        })
        .unwrap_or(0.5)
}

fn drawn(name: &'static str, title: &str, alt: String, svg: Svg, csv: String) -> Drawn {
    Drawn {
        name,
        title: title.to_owned(),
        alt,
        svg,
        csv,
        note: String::new(),
        points: Vec::new(),
    }
}

/// Proportion of ambiguous clustering over K, and that of the null reference.
pub(crate) fn pac(choice: &ClusterCurves) -> Option<Drawn> {
    let of: Of = |row| row.pac;
    let best = best(choice, of, |a, b| a < b)?;
    let with_null = choice.rows.iter().any(|row| row.null_pac.is_some());
    let against = if with_null {
        "; the dashed line and its band are data without clusters"
    } else {
        ""
    };
    let alt = format!(
        "Proportion of pairs that the base clusterings do not agree on, by number of clusters{against}. It is lowest for {best}."
    );
    over_clusters(
        choice,
        &values(choice, of),
        "choice-pac",
        "Ambiguous pairs (PAC)",
        "PAC",
        alt,
    )
}

/// Growth of the area under the CDF.
pub(crate) fn delta(choice: &ClusterCurves) -> Option<Drawn> {
    let of: Of = |row| row.delta_area;
    choice.rows.iter().find_map(of)?;
    let alt =
        "Relative growth of the area under the consensus CDF from one number of clusters to the next: more clusters \
               than the data have add little."
            .to_owned();
    over_clusters(
        choice,
        &values(choice, of),
        "choice-delta",
        "Growth of the area (delta)",
        "relative growth",
        alt,
    )
}

/// Mean certainty of the objects.
pub(crate) fn certainty(choice: &ClusterCurves) -> Option<Drawn> {
    let of: Of = |row| row.certainty;
    let best = best(choice, of, |a, b| a > b)?;
    let alt =
        format!("Mean certainty of the objects by number of clusters. It is highest for {best}.");
    over_clusters(
        choice,
        &values(choice, of),
        "choice-certainty",
        "Mean certainty",
        "mean certainty",
        alt,
    )
}

/// The objective or criterion.
pub(crate) fn objective(choice: &ClusterCurves) -> Option<Drawn> {
    let of: Of = |row| row.objective;
    choice.rows.iter().find_map(of)?;
    let name = if choice.objective_name.is_empty() {
        "objective"
    } else {
        &choice.objective_name
    };
    let alt = format!(
        "The criterion '{}' by number of clusters.",
        crate::text::cut(name, 100)
    );
    over_clusters(
        choice,
        &values(choice, of),
        "choice-objective",
        "Criterion",
        &crate::text::cut(name, 26),
        alt,
    )
}

/// The first of the further measures: what chose, for instance.
pub(crate) fn measure(choice: &ClusterCurves) -> Option<Drawn> {
    let measure = choice.measures.first()?;
    let at = |row: usize| {
        measure
            .values
            .get(row)
            .copied()
            .flatten()
            .unwrap_or(f64::NAN)
    };
    let values: Vec<f64> = (0..choice.rows.len()).map(at).collect();
    values.iter().find(|value| value.is_finite())?;
    let name = crate::text::cut(&measure.name, 60);
    let alt = format!("The measure '{name}' by number of clusters.");
    over_clusters(
        choice,
        &values,
        "choice-measure",
        &name,
        &crate::text::cut(&name, 40),
        alt,
    )
}

/// One number of every row; NaN where there is none.
fn values(choice: &ClusterCurves, of: Of) -> Vec<f64> {
    choice
        .rows
        .iter()
        .map(|row| of(row).unwrap_or(f64::NAN))
        .collect()
}

/// The number of clusters with the best value; the smaller of equals.
fn best(choice: &ClusterCurves, of: Of, better: impl Fn(f64, f64) -> bool) -> Option<usize> {
    let known = choice
        .rows
        .iter()
        .filter_map(|row| of(row).filter(|x| x.is_finite()).map(|x| (row.clusters, x)));
    known
        .reduce(|best, row| if better(row.1, best.1) { row } else { best })
        .map(|best| best.0)
}

/// A line over the numbers of clusters, with the null reference where it is PAC that is drawn.
fn over_clusters(
    choice: &ClusterCurves,
    values: &[f64],
    name: &'static str,
    title: &str,
    axis: &str,
    alt: String,
) -> Option<Drawn> {
    let rows = &choice.rows;
    let (first, last) = (rows.first()?.clusters as f64, rows.last()?.clusters as f64);
    let null = name == "choice-pac";
    let (width, height) = (460.0, 270.0);
    let (mut svg, frame) = (Svg::new(width, height), Frame::new(width, height));
    let x = frame.x(first - 0.4, last + 0.4);
    let references = rows.iter().filter(|_| null).flat_map(|row| {
        let (low, high) = row.null_range.unzip();
        [row.null_pac, low, high]
    });
    let all = values.iter().copied().chain(references.flatten());
    let mut y = Scale::over(all, frame.bottom, frame.top, 0.08);
    if null {
        y.low = 0.0;
    }
    frame.draw_y(&mut svg, &y, axis, tick);
    if null {
        reference(&mut svg, rows, &x, &y);
    }
    let points = || {
        rows.iter()
            .zip(values)
            .map(|(row, &value)| (row, x.at(row.clusters as f64), y.at(value)))
    };
    svg.path(
        &polyline(points().map(|(_, px, py)| (px, py))),
        "class=\"ln al\"",
    );
    for (row, px, py) in points().filter(|point| point.2.is_finite()) {
        let chosen = choice.chosen == Some(row.clusters);
        svg.marker(
            usize::from(chosen) * 3,
            [px, py],
            if chosen { 1.9 } else { 1.0 },
            "a rim",
        );
    }
    let step = (rows.len().div_ceil(14)).max(1);
    let ticks: Vec<f64> = rows
        .iter()
        .step_by(step)
        .map(|row| row.clusters as f64)
        .collect();
    frame.draw_x(&mut svg, &x, "clusters", &ticks);
    let mut drawn = drawn(name, title, alt, svg, csv(rows, values, null));
    if let Some(chosen) = choice
        .chosen
        .filter(|chosen| rows.iter().any(|row| row.clusters == *chosen))
    {
        drawn.note = format!("The large diamond is the chosen {chosen}.");
    }
    Some(drawn)
}

/// PAC of data without clusters: its range as a band, its mean as a dashed line.
fn reference(svg: &mut Svg, rows: &[CurvePoint], x: &Scale, y: &Scale) {
    let place = |row: &CurvePoint| x.at(row.clusters as f64);
    let range = |row: &CurvePoint| {
        row.null_range
            .map(|(low, high)| (place(row), y.at(low), y.at(high)))
    };
    let band: Vec<(f64, f64, f64)> = rows.iter().filter_map(range).collect();
    if !band.is_empty() {
        let there = band.iter().map(|&(px, _, high)| (px, high));
        let back = band.iter().rev().map(|&(px, low, _)| (px, low));
        svg.path(
            &format!("{}z", polyline(there.chain(back))),
            "class=\"b\" opacity=\".2\"",
        );
    }
    let mean = |row: &CurvePoint| (place(row), row.null_pac.map_or(f64::NAN, |pac| y.at(pac)));
    svg.path(&polyline(rows.iter().map(mean)), "class=\"ln bl dash\"");
}

/// The numbers of a line; cells of what was not measured are empty.
fn csv(rows: &[CurvePoint], values: &[f64], null: bool) -> String {
    let cell = |value: Option<f64>| {
        value
            .filter(|x| x.is_finite())
            .map_or_else(String::new, |x| x.to_string())
    };
    let mut csv = if null {
        "clusters,value,null,null_low,null_high\n"
    } else {
        "clusters,value\n"
    }
    .to_owned();
    for (row, &value) in rows.iter().zip(values) {
        let _ = write!(csv, "{},{}", row.clusters, cell(Some(value)));
        if null {
            let (low, high) = row.null_range.unzip();
            let _ = write!(csv, ",{},{},{}", cell(row.null_pac), cell(low), cell(high));
        }
        csv.push('\n');
    }
    csv
}
