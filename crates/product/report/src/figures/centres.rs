//! Centres of the clusters in the table: lines over the columns, or small pictures.

use std::fmt::Write as _;

use minijinja::context;
use partita_core::Features;
use partita_core::ndarray::{Array2, Axis};
use partita_metrics::centres;

use super::Plot;
use crate::Report;
use crate::axes::{Frame, Scale, polyline};
use crate::clusters::Clusters;
use crate::palette::COLOURS;
use crate::svg::{Svg, colour};
use crate::text::{cut, field, tick};

/// Columns drawn at most; of more, those in which centres differ most.
const COLUMNS: usize = 16;

/// Clusters drawn at most.
const DRAWN: usize = 24;

pub(super) fn figure(report: &Report<'_>, table: &Features<'_>, clusters: &Clusters) -> Plot {
    let means = means(report, table, clusters);
    let mut csv = "cluster".to_owned();
    for name in table.columns() {
        let _ = write!(csv, ",{}", field(name));
    }
    for (cluster, mean) in clusters.shown.iter().zip(means.outer_iter()) {
        let _ = write!(csv, "\n{}", cluster.label);
        for value in mean {
            let _ = write!(csv, ",{value}");
        }
    }
    csv.push('\n');
    let drawn = clusters.shown.len().min(DRAWN);
    let (all, side) = (table.columns().len(), side(table.columns()));
    let range = Scale::over(means.iter().copied(), 0.0, 1.0, 0.0);
    let (svg, columns) = match side {
        Some(side) => (pictures(&means, clusters, side, range), all),
        None => lines(table, &means, clusters),
    };
    let facts = context! {
        drawn, pictures => side.is_some(), low => range.low, high => range.high, all, columns,
    };
    Plot::new("centres", svg, csv, facts)
}

/// Means of the clusters shown, K × d, weighted by probability where there is one.
fn means(report: &Report<'_>, table: &Features<'_>, clusters: &Clusters) -> Array2<f64> {
    let weighted = report
        .soft
        .filter(|soft| soft.objects() * soft.clusters() <= 20_000_000)
        .and_then(|soft| centres(soft, table.values()).ok());
    if let Some(found) = weighted {
        let labels: Vec<usize> = clusters.shown.iter().map(|cluster| cluster.label).collect();
        return found.select(Axis(0), &labels);
    }
    let mut means = Array2::zeros((clusters.shown.len(), table.values().ncols()));
    for (cluster, mut mean) in clusters.shown.iter().zip(means.outer_iter_mut()) {
        for &i in &cluster.members {
            mean += &table.values().row(i as usize);
        }
        mean /= cluster.members.len() as f64;
    }
    means
}

/// Whether the columns are the places of a square picture: their number is the square of 4 or more, and their names
/// are one word, or none, and a number.
fn side(columns: &[String]) -> Option<usize> {
    let side = columns.len().isqrt();
    let word = |name: &String| {
        name.trim_end_matches(|c: char| c.is_ascii_digit() || "_-.,x ".contains(c))
            .to_owned()
    };
    let alike = columns.iter().all(|name| {
        name.ends_with(|c: char| c.is_ascii_digit()) && word(name) == word(&columns[0])
    });
    (side >= 4 && side * side == columns.len() && alike).then_some(side)
}

fn pictures(means: &Array2<f64>, clusters: &Clusters, side: usize, range: Scale) -> Svg {
    let (cell, gap) = (128.0, 22.0);
    let shown = clusters.shown.len().min(DRAWN);
    let across = shown.min(5);
    let rows = shown.div_ceil(across) as f64;
    let mut svg = Svg::new(
        across as f64 * (cell + gap) + gap,
        rows * (cell + 40.0) + 16.0,
    );
    for (at, cluster) in clusters.shown.iter().take(shown).enumerate() {
        let x = gap + (at % across) as f64 * (cell + gap);
        let y = 12.0 + (at / across) as f64 * (cell + 40.0);
        let values = means.row(at).mapv(|mean| range.at(mean) as f32);
        svg.shades([x, y, cell, cell], side, &values.to_vec());
        svg.mark(cluster.label, [x + 6.0, y + cell + 15.0], 1.0);
        let name = cut(&cluster.title(), 18);
        svg.text([x + 16.0, y + cell + 19.0], "t", "start", name);
    }
    svg
}

/// Lines over the columns, and how many of them are drawn.
fn lines(table: &Features<'_>, means: &Array2<f64>, clusters: &Clusters) -> (Svg, usize) {
    let spread = spreads(table);
    // Distances from the mean of the column, in its standard deviations.
    let z = |at: usize, column: usize| (means[[at, column]] - spread[column].0) / spread[column].1;
    let mut columns: Vec<usize> = (0..table.columns().len()).collect();
    let shown = clusters.shown.len().min(DRAWN);
    if columns.len() > COLUMNS {
        let apart = |column: usize| {
            let squares = (0..shown).map(|at| z(at, column).powi(2));
            squares.filter(|x| x.is_finite()).sum::<f64>()
        };
        columns.sort_by(|&a, &b| apart(b).total_cmp(&apart(a)).then(a.cmp(&b)));
        columns.truncate(COLUMNS);
        columns.sort_unstable();
    }
    let width = (110.0 + 46.0 * columns.len() as f64).clamp(460.0, 960.0);
    let (mut svg, mut frame) = Frame::new(width, 380.0);
    (frame.bottom, frame.left) = (288.0, 64.0);
    let z = &z;
    let values = (0..shown).flat_map(|at| columns.iter().map(move |&column| z(at, column)));
    let y = Scale::over(values, frame.bottom, frame.top, 0.06);
    let unit = (frame.right - frame.left) / columns.len() as f64;
    let x = |place: usize| frame.left + (place as f64 + 0.5) * unit;
    frame.draw_y(&mut svg, &y, "standard deviations", tick);
    for (place, &column) in columns.iter().enumerate() {
        svg.line([x(place), frame.top, x(place), frame.bottom], "g");
        let name = cut(&table.columns()[column], 14);
        svg.turned(
            [x(place) + 3.0, frame.bottom + 14.0],
            -40,
            ["m", "end"],
            &name,
        );
    }
    for (at, cluster) in clusters.shown.iter().take(shown).enumerate() {
        let place = |(place, &column): (usize, &usize)| [x(place), y.at(z(at, column))];
        let points: Vec<[f64; 2]> = columns.iter().enumerate().map(place).collect();
        let style = format!(
            "class=\"ln l{}\" stroke-opacity=\".8\"",
            cluster.label % COLOURS
        );
        svg.path(&polyline(points.iter().copied()), &style);
        let class = format!("{} rim", colour(cluster.label));
        for point in points.into_iter().filter(|p| p[1].is_finite()) {
            svg.marker(cluster.label, point, 1.05, &class);
        }
    }
    (svg, columns.len())
}

/// Mean and standard deviation of every column; 1 for a constant one.
fn spreads(table: &Features<'_>) -> Vec<(f64, f64)> {
    let values = table.values();
    // A sample of rows places a scale as well as all of them.
    let step = (values.nrows() * values.ncols())
        .div_ceil(20_000_000)
        .max(1);
    let rows = values.nrows().div_ceil(step) as f64;
    let mut sums = vec![0.0; values.ncols()];
    let mut squares = sums.clone();
    let first = values.row(0);
    for row in values.outer_iter().step_by(step) {
        for (column, x) in row.iter().enumerate() {
            let x = x - first[column];
            sums[column] += x;
            squares[column] += x * x;
        }
    }
    let of = |column: usize| {
        let mean = sums[column] / rows;
        let variance = squares[column] / rows - mean * mean;
        let deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        (mean + first[column], deviation)
    };
    (0..values.ncols()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_of_like_columns_are_pictures() {
        let names = |word: &str, count: usize| {
            (0..count)
                .map(|at| format!("{word}{at}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(side(&names("pixel_", 64)), Some(8));
        assert_eq!(side(&names("", 16)), Some(4));
        assert_eq!((side(&names("p", 15)), side(&names("p", 9))), (None, None));
        let mut mixed = names("p", 16);
        mixed[3] = "width".into();
        assert_eq!(side(&mixed), None);
    }
}
