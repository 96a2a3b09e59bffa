//! Figures: curves over the numbers of clusters (consensus CDF, PAC, delta area, criteria).

use std::fmt::Write as _;

use minijinja::context;

use super::Plot;
use crate::axes::{Frame, Scale, polyline};
use crate::curves::{ClusterCurves, CurvePoint};
use crate::svg::Svg;
use crate::text::{cut, tick};

/// Reads one number of a row.
type Of = fn(&CurvePoint) -> Option<f64>;

/// All curves that were measured: what chose comes first.
pub(super) fn curves(choice: &ClusterCurves) -> Vec<Plot> {
    let mut plots = Vec::new();
    if let Some(measure) = choice.measures.first() {
        let mut values = measure.values.clone();
        values.resize(choice.rows.len(), None);
        plots.extend(curve(choice, "choice-measure", &measure.name, values));
    }
    let objective = match choice.objective_name.as_str() {
        "" => "objective",
        name => name,
    };
    let quantities: [(&str, &str, Of); 3] = [
        ("choice-pac", "PAC", |row| row.pac),
        ("choice-delta", "relative growth", |row| row.delta_area),
        ("choice-objective", objective, |row| row.objective),
    ];
    for (name, quantity, of) in quantities {
        if name == "choice-delta" {
            plots.extend(cdf(choice));
        }
        let values = choice.rows.iter().map(of).collect();
        plots.extend(curve(choice, name, quantity, values));
    }
    plots
}

/// The consensus CDF of every number of clusters.
fn cdf(choice: &ClusterCurves) -> Option<Plot> {
    let mut rows: Vec<&CurvePoint> = choice.rows.iter().filter(|row| row.cdf.len() > 1).collect();
    if rows.is_empty() {
        return None;
    }
    let (mut svg, frame) = Frame::new(460.0, 340.0);
    let (x, y) = (frame.x(0.0, 1.0), frame.y(0.0, 1.0));
    frame.draw_y(&mut svg, &y, "share of pairs", tick);
    let mut csv = "clusters,together,share\n".to_owned();
    for row in &rows {
        let last = row.cdf.len() - 1;
        // A few points carry the curve: steps of 1/1000 would be seen by nobody.
        let thin = row.cdf.len().div_ceil(120);
        let mut points = Vec::new();
        for (at, &share) in row.cdf.iter().enumerate() {
            let along = at as f64 / last as f64;
            let _ = writeln!(csv, "{},{along},{share}", row.clusters);
            if at % thin == 0 || at == last {
                points.push([x.at(along), y.at(share)]);
            }
        }
        let style = if choice.chosen == Some(row.clusters) {
            "class=\"ln al\""
        } else {
            "class=\"ln ax\" stroke-opacity=\".7\""
        };
        svg.path(&polyline(points), style);
    }
    let along = widest(&rows);
    rows.sort_by(|a, b| {
        let by_share = at_share(a, along).total_cmp(&at_share(b, along));
        by_share.then(a.clusters.cmp(&b.clusters))
    });
    // The number of clusters on each curve, by turns a little further right; the chosen one first, and others where there is room.
    let mut places: Vec<(usize, &CurvePoint)> = rows.iter().copied().enumerate().collect();
    places.sort_by_key(|(_, row)| choice.chosen != Some(row.clusters));
    let mut taken: Vec<[f64; 2]> = Vec::new();
    for (at, row) in places {
        let along = along + 0.055 * (at % 3) as f64;
        let place = [x.at(along), y.at(at_share(row, along))];
        let free = |other: &[f64; 2]| {
            (other[0] - place[0]).abs() >= 26.0 || (other[1] - place[1]).abs() >= 9.0
        };
        if taken.iter().all(free) {
            let class = format!("{} halo", choice.class(row.clusters));
            svg.text([place[0], place[1] + 4.0], &class, "middle", row.clusters);
            taken.push(place);
        }
    }
    let name = "how often two objects are together";
    frame.draw_x(&mut svg, &x, name, &x.ticks(5));
    let facts = context! { numbers => rows.len(), chosen => choice.chosen };
    Some(Plot::new("choice-cdf", svg, csv, facts))
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
    let mut best = 0.5;
    for along in [0.3, 0.7, 0.15, 0.05] {
        if range(along) > 1.2 * range(best) {
            best = along;
        }
    }
    best
}

/// A line over the numbers of clusters, with the null reference where it is PAC that is drawn; none where nothing was measured.
fn curve(
    choice: &ClusterCurves,
    name: &'static str,
    quantity: &str,
    values: Vec<Option<f64>>,
) -> Option<Plot> {
    let rows = &choice.rows;
    let known = || {
        let values = rows.iter().zip(&values);
        values.filter_map(|(row, value)| Some((row, value.filter(|x| x.is_finite())?)))
    };
    let highest = known().reduce(|best, row| if row.1 > best.1 { row } else { best })?;
    let lowest = known().reduce(|best, row| if row.1 < best.1 { row } else { best })?;
    let (first, last) = (rows.first()?.clusters as f64, rows.last()?.clusters as f64);
    let null = name == "choice-pac";
    let (mut svg, frame) = Frame::new(460.0, 270.0);
    let x = frame.x(first - 0.4, last + 0.4);
    let references = rows.iter().filter(|_| null).flat_map(|row| {
        let (low, high) = row.null_range.unzip();
        [row.null_pac, low, high]
    });
    let all = values.iter().copied().chain(references).flatten();
    let mut y = Scale::over(all, frame.bottom, frame.top, 0.08);
    if null {
        y.low = 0.0;
    }
    let room = if name == "choice-measure" { 40 } else { 26 };
    frame.draw_y(&mut svg, &y, &cut(quantity, room), tick);
    if null {
        reference(&mut svg, rows, &x, &y);
    }
    let place = |(row, value): (&CurvePoint, &Option<f64>)| {
        [x.at(row.clusters as f64), y.at(value.unwrap_or(f64::NAN))]
    };
    let line = polyline(rows.iter().zip(&values).map(place));
    svg.path(&line, "class=\"ln al\"");
    for (row, value) in known() {
        let (shape, scale) = if choice.chosen == Some(row.clusters) {
            (3, 1.9)
        } else {
            (0, 1.0)
        };
        let place = [x.at(row.clusters as f64), y.at(value)];
        svg.marker(shape, place, scale, "a rim");
    }
    let step = rows.len().div_ceil(14).max(1);
    let ticks = rows.iter().step_by(step).map(|row| row.clusters as f64);
    frame.draw_x(&mut svg, &x, "clusters", &ticks.collect::<Vec<_>>());
    let chosen = choice
        .chosen
        .filter(|&chosen| rows.iter().any(|row| row.clusters == chosen));
    let facts = context! {
        name => quantity, chosen, lowest => lowest.0.clusters, highest => highest.0.clusters,
        decided => !choice.criterion.is_empty(), less => choice.less_is_better(),
        with_null => rows.iter().any(|row| row.null_pac.is_some()),
    };
    Some(Plot::new(name, svg, csv(rows, &values, null), facts))
}

/// PAC of data without clusters: its range as a band, its mean as a dashed line.
fn reference(svg: &mut Svg, rows: &[CurvePoint], x: &Scale, y: &Scale) {
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for row in rows {
        if let Some((low, high)) = row.null_range {
            there.push([x.at(row.clusters as f64), y.at(high)]);
            back.push([x.at(row.clusters as f64), y.at(low)]);
        }
    }
    if !there.is_empty() {
        there.extend(back.into_iter().rev());
        let band = format!("{}z", polyline(there));
        svg.path(&band, "class=\"b\" opacity=\".2\"");
    }
    let mean = |row: &CurvePoint| {
        let pac = row.null_pac.unwrap_or(f64::NAN);
        [x.at(row.clusters as f64), y.at(pac)]
    };
    let line = polyline(rows.iter().map(mean));
    svg.path(&line, "class=\"ln bl dash\"");
}

/// The numbers of a line; cells of what was not measured are empty.
fn csv(rows: &[CurvePoint], values: &[Option<f64>], null: bool) -> String {
    let cell = |value: Option<f64>| {
        let finite = value.filter(|x| x.is_finite());
        finite.map_or_else(String::new, |x| x.to_string())
    };
    let heads = if null { ",null,null_low,null_high" } else { "" };
    let mut csv = format!("clusters,value{heads}\n");
    for (row, &value) in rows.iter().zip(values) {
        let _ = write!(csv, "{},{}", row.clusters, cell(value));
        if null {
            let (low, high) = row.null_range.unzip();
            let _ = write!(csv, ",{},{},{}", cell(row.null_pac), cell(low), cell(high));
        }
        csv.push('\n');
    }
    csv
}
