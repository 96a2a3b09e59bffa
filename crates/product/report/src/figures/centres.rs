//! Centres of the clusters in the table: lines over the columns, or small pictures.

use std::fmt::Write as _;

use partita_core::ndarray::{Array2, Axis};
use partita_core::{Features, SoftPartition};
use partita_metrics::centres;

use super::bases::SHADE;
use super::certainty::left_out;
use crate::Report;
use crate::axes::{Frame, Scale, polyline};
use crate::clusters::Clusters;
use crate::figure::Drawn;
use crate::palette::COLOURS;
use crate::png;
use crate::svg::Svg;
use crate::text::{cut, field, number, tick};

/// Columns drawn at most; of more, those in which centres differ most.
const COLUMNS: usize = 16;

/// Clusters drawn at most.
const DRAWN: usize = 24;

/// Means of the clusters shown, K × d, weighted by probability where there is one.
pub(crate) fn means(report: &Report<'_>, table: &Features<'_>, clusters: &Clusters) -> Array2<f64> {
    let weighted = report
        .soft
        .filter(|soft| soft.objects() * soft.clusters() <= 20_000_000);
    if let Some(found) =
        weighted.and_then(|soft: &SoftPartition| centres(soft, table.values()).ok())
    {
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

pub(crate) fn figure(table: &Features<'_>, means: &Array2<f64>, clusters: &Clusters) -> Drawn {
    let csv = csv(table, means, clusters);
    let (svg, note, what) = match side(table.columns()) {
        Some(side) => pictures(means, clusters, side),
        None => lines(table, means, clusters),
    };
    let alt = format!(
        "Mean of every column in each of {} clusters, {what}.",
        clusters.shown.len().min(DRAWN)
    );
    let title = "Centres of the clusters".to_owned();
    Drawn {
        name: "centres",
        title,
        alt,
        svg,
        csv,
        note: format!("{note} {}", first_drawn(clusters))
            .trim()
            .to_owned(),
        points: Vec::new(),
    }
}

/// What to say where not all clusters are drawn.
fn first_drawn(clusters: &Clusters) -> String {
    if clusters.shown.len() <= DRAWN {
        return left_out(clusters);
    }
    format!(
        "The {DRAWN} of {} clusters with the smallest numbers.",
        clusters.live
    )
}

fn csv(table: &Features<'_>, means: &Array2<f64>, clusters: &Clusters) -> String {
    let mut csv = "cluster".to_owned();
    table
        .columns()
        .iter()
        .for_each(|name| csv.push_str(&format!(",{}", field(name))));
    csv.push('\n');
    for (cluster, mean) in clusters.shown.iter().zip(means.outer_iter()) {
        let values: Vec<String> = mean.iter().map(ToString::to_string).collect();
        let _ = writeln!(csv, "{},{}", cluster.label, values.join(","));
    }
    csv
}

fn pictures(means: &Array2<f64>, clusters: &Clusters, side: usize) -> (Svg, String, &'static str) {
    let shown = clusters.shown.len().min(DRAWN);
    let across = shown.min(5);
    let (cell, gap) = (128.0, 22.0);
    let rows = shown.div_ceil(across);
    let mut svg = Svg::new(
        across as f64 * (cell + gap) + gap,
        rows as f64 * (cell + 40.0) + 16.0,
    );
    let (low, high) = range(means.iter().copied());
    for (at, cluster) in clusters.shown.iter().take(shown).enumerate() {
        let (x, y) = (
            gap + (at % across) as f64 * (cell + gap),
            12.0 + (at / across) as f64 * (cell + 40.0),
        );
        let values: Vec<f32> = means
            .row(at)
            .iter()
            .map(|&v| ((v - low) / (high - low)) as f32)
            .collect();
        svg.image([x, y, cell, cell], &png::shares(side, &values, SHADE));
        svg.rect_with([x, y, cell, cell], "class=\"g\"");
        svg.marker(
            cluster.label,
            [x + 6.0, y + cell + 15.0],
            1.0,
            &format!("k{}", cluster.label % COLOURS),
        );
        svg.text(
            [x + 16.0, y + cell + 19.0],
            "t",
            "start",
            &format!("cluster {}", cluster.label),
        );
    }
    (
        svg,
        format!(
            "No colour is {}, full colour {}.",
            number(low),
            number(high)
        ),
        "as pictures",
    )
}

/// Smallest and largest finite number; 0 and 1 where they are the same.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let scale = Scale::over(values, 0.0, 1.0, 0.0);
    (scale.low, scale.high)
}

fn lines(
    table: &Features<'_>,
    means: &Array2<f64>,
    clusters: &Clusters,
) -> (Svg, String, &'static str) {
    let spread = spreads(table);
    // Distances from the mean of the column, in its standard deviations.
    let z = |at: usize, column: usize| (means[[at, column]] - spread[column].0) / spread[column].1;
    let mut columns: Vec<usize> = (0..table.columns().len()).collect();
    let mut note = "In standard deviations from the mean of the column.".to_owned();
    let shown = clusters.shown.len().min(DRAWN);
    if columns.len() > COLUMNS {
        let apart = |column: &usize| {
            (0..shown)
                .map(|at| z(at, *column).powi(2))
                .filter(|x| x.is_finite())
                .sum::<f64>()
        };
        columns.sort_by(|a, b| apart(b).total_cmp(&apart(a)).then(a.cmp(b)));
        columns.truncate(COLUMNS);
        columns.sort_unstable();
        let _ = write!(
            note,
            " The {COLUMNS} of {} columns in which centres differ most.",
            table.columns().len()
        );
    }
    let width = (110.0 + 46.0 * columns.len() as f64).clamp(460.0, 960.0);
    let height = 380.0;
    let (mut svg, frame) = (Svg::new(width, height), Frame::new(width, height));
    let frame = Frame {
        bottom: height - 92.0,
        left: 64.0,
        ..frame
    };
    let values = (0..shown).flat_map(|at| columns.iter().map(move |&column| (at, column)));
    let y = Scale::over(
        values.map(|(at, column)| z(at, column)),
        frame.bottom,
        frame.top,
        0.06,
    );
    let unit = (frame.right - frame.left) / columns.len() as f64;
    let x = |place: usize| frame.left + (place as f64 + 0.5) * unit;
    frame.draw_y(&mut svg, &y, "standard deviations", tick);
    for (place, &column) in columns.iter().enumerate() {
        svg.line([x(place), frame.top, x(place), frame.bottom], "g");
        let (px, py) = (
            crate::svg::n(x(place) + 3.0),
            crate::svg::n(frame.bottom + 14.0),
        );
        let name = crate::text::escape(&cut(&table.columns()[column], 14));
        svg.raw(&format!(
            "<text transform=\"translate({px} {py})rotate(-40)\" class=\"m\" text-anchor=\"end\">{name}</text>"
        ));
    }
    for (at, cluster) in clusters.shown.iter().take(shown).enumerate() {
        let colour = cluster.label % COLOURS;
        let points = || {
            columns
                .iter()
                .enumerate()
                .map(|(place, &column)| (x(place), y.at(z(at, column))))
        };
        svg.path(
            &polyline(points()),
            &format!("class=\"ln l{colour}\" stroke-opacity=\".8\""),
        );
        for (px, py) in points().filter(|p| p.1.is_finite()) {
            svg.marker(cluster.label, [px, py], 1.05, &format!("k{colour} rim"));
        }
    }
    (svg, note, "as lines over the columns")
}

/// Mean and standard deviation of every column; 1 for a constant one.
fn spreads(table: &Features<'_>) -> Vec<(f64, f64)> {
    let values = table.values();
    // A sample of rows places a scale as well as all of them.
    let step = (values.nrows() * values.ncols())
        .div_ceil(20_000_000)
        .max(1);
    let rows = values.nrows().div_ceil(step) as f64;
    let (mut sums, mut squares) = (vec![0.0; values.ncols()], vec![0.0; values.ncols()]);
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
        let deviation = (squares[column] / rows - mean * mean).max(0.0).sqrt();
        (
            mean + first[column],
            if deviation > 0.0 { deviation } else { 1.0 },
        )
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
