//! Membership bars of several runs below each other, as pong and distruct draw them.

use std::fmt::Write as _;

use partita_core::ndarray::{Array2, ArrayView2};

use crate::palette::{COLOURS, hatch, hatches};
use crate::svg::{Svg, n};
use crate::text::cut;

/// Bars of a row at most: beyond, each is the mean of several objects.
const BARS: usize = 720;

/// Shares that are drawn in all, at most, since each takes some 40 bytes of the file: where rows are many they have fewer bars, down to
/// so many a row; rows beyond that are left out.
const SHARES: usize = 100_000;
const FEWEST_BARS: usize = 50;

/// One run.
#[derive(Clone, Debug)]
pub struct MembershipRow<'a> {
    /// What stands above it.
    pub title: String,
    /// The share of every object in every column, n × K.
    pub shares: ArrayView2<'a, f64>,
    /// The colour of every column, which alike columns of all rows share.
    pub colours: &'a [usize],
}

/// Draws a row of bars a run: a bar an object (or the mean of several), cut by share. Objects are ordered by population, where
/// there are some, then by their largest column in the first run, then by its share. The same rows give the same bytes.
///
/// However many rows there are, about 100,000 shares are drawn, so that the picture keeps below some 5 MB: a row of many has fewer bars,
/// and rows for which there are not even 50 bars are left out. The picture says so.
pub fn membership_rows(rows: &[MembershipRow<'_>], populations: Option<&[String]>) -> String {
    let Some(first) = rows.first() else {
        return String::new();
    };
    let order = order(first, populations);
    let (rows, left_out) = drawn(rows);
    let bars_each = (SHARES / columns(rows).max(1)).clamp(FEWEST_BARS, BARS);
    let each = order.len().div_ceil(bars_each).max(1);
    let (left, width, height, pitch) = (14.0, 760.0, 44.0, 70.0);
    let mut svg = Svg::new(left + width + 14.0, rows.len() as f64 * pitch + 40.0);
    svg.raw(&format!("<defs>{}</defs>", hatches("runs")));
    for (at, row) in rows.iter().enumerate() {
        let top = at as f64 * pitch + 22.0;
        svg.text([left, top - 6.0], "t", "start", &cut(&row.title, 90));
        bars(&mut svg, row, &order, each, [left, top, width, height]);
    }
    let bottom = rows.len() as f64 * pitch - 4.0;
    if let Some(populations) = populations {
        boundaries(&mut svg, &order, populations, [left, width, bottom]);
    }
    let mut every = if each > 1 {
        format!("Every bar is the mean of {each} objects.")
    } else {
        String::new()
    };
    if left_out > 0 {
        let _ = write!(every, " {left_out} further rows are not drawn.");
    }
    svg.text([left, bottom + 34.0], "m", "start", &every);
    let alt = format!(
        "Shares of {} objects in the clusters of {} runs, in common colours. {every}",
        order.len(),
        rows.len()
    );
    svg.alone("memberships", "Memberships of aligned runs", alt.trim())
}

/// The rows that are drawn, and how many are not.
fn drawn<'a, 'b>(rows: &'a [MembershipRow<'b>]) -> (&'a [MembershipRow<'b>], usize) {
    let enough = |&count: &usize| columns(&rows[..count]) * FEWEST_BARS <= SHARES;
    let count = (1..=rows.len()).take_while(enough).last().unwrap_or(1);
    (&rows[..count], rows.len() - count)
}

/// Columns of all rows.
fn columns(rows: &[MembershipRow<'_>]) -> usize {
    rows.iter().map(|row| row.shares.ncols()).sum()
}

/// Objects by population, largest column of the first run, and its share.
fn order(first: &MembershipRow<'_>, populations: Option<&[String]>) -> Vec<usize> {
    let largest = |object: usize| {
        let row = first.shares.row(object);
        (0..row.len()).fold(0, |best, column| {
            if row[column] > row[best] {
                column
            } else {
                best
            }
        })
    };
    let mut order: Vec<usize> = (0..first.shares.nrows()).collect();
    let key = |object: usize| {
        (
            populations.map(|populations| &populations[object]),
            first.colours.get(largest(object)),
        )
    };
    let share = |object: usize| {
        first
            .shares
            .row(object)
            .get(largest(object))
            .copied()
            .unwrap_or(0.0)
    };
    order.sort_by(|&a, &b| {
        key(a)
            .cmp(&key(b))
            .then(share(b).total_cmp(&share(a)))
            .then(a.cmp(&b))
    });
    order
}

fn bars(
    svg: &mut Svg,
    row: &MembershipRow<'_>,
    order: &[usize],
    each: usize,
    [left, top, width, height]: [f64; 4],
) {
    let unit = width / order.len().max(1) as f64;
    let means = means(row.shares, order, each);
    let mut floor = vec![0.0; means.nrows()];
    let mut columns: Vec<usize> = (0..row.shares.ncols()).collect();
    columns.sort_by_key(|&column| row.colours.get(column));
    for column in columns {
        let mut d = String::new();
        let mut at = left;
        for ((group, &share), floor) in order.chunks(each).zip(means.column(column)).zip(&mut floor)
        {
            let next = at + group.len() as f64 * unit;
            if share > 1e-3 {
                let (low, high) = (
                    top + height * (1.0 - *floor),
                    top + height * (1.0 - *floor - share),
                );
                let _ = write!(
                    d,
                    "M{} {}H{}V{}H{}z",
                    n(at),
                    n(low),
                    n(next),
                    n(high),
                    n(at)
                );
            }
            *floor += share;
            at = next;
        }
        let colour = row.colours.get(column).copied().unwrap_or(column);
        svg.path(&d, &format!("class=\"k{}\"", colour % COLOURS));
        if let Some(hatch) = hatch("runs", colour / COLOURS) {
            svg.path(&d, &hatch);
        }
    }
}

/// Mean shares of so many objects each in this order. The rows are read as they lie in memory.
fn means(shares: ArrayView2<'_, f64>, order: &[usize], each: usize) -> Array2<f64> {
    let mut means = Array2::zeros((order.len().div_ceil(each), shares.ncols()));
    let mut group = vec![0; order.len()];
    order
        .iter()
        .enumerate()
        .for_each(|(place, &object)| group[object] = place / each);
    for (row, &group) in shares.outer_iter().zip(&group) {
        means
            .row_mut(group)
            .zip_mut_with(&row, |sum, share| *sum += share);
    }
    for (mut sums, group) in means.outer_iter_mut().zip(order.chunks(each)) {
        sums /= group.len() as f64;
    }
    means
}

/// Where populations end, and what they are called.
fn boundaries(
    svg: &mut Svg,
    order: &[usize],
    populations: &[String],
    [left, width, bottom]: [f64; 3],
) {
    let unit = width / order.len().max(1) as f64;
    let (mut begin, mut free) = (0, f64::NEG_INFINITY);
    while begin < order.len() {
        let name = &populations[order[begin]];
        let end = begin
            + order[begin..]
                .iter()
                .take_while(|&&object| populations[object] == *name)
                .count();
        let (from, middle) = (
            left + begin as f64 * unit,
            left + 0.5 * (begin + end) as f64 * unit,
        );
        svg.line([from, 16.0, from, bottom], "ax");
        if middle - free >= 48.0 {
            svg.text([middle, bottom + 14.0], "m", "middle", &cut(name, 12));
            free = middle;
        }
        begin = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares that move from one column to the next along the objects.
    fn shares(objects: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_fn((objects, columns), |(i, k)| {
            let place = (i * columns) as f64 / objects as f64 - 0.5;
            (1.0 - (place - k as f64).abs()).max(0.02) / (1.0 + 0.02 * (columns as f64 - 1.0))
        })
    }

    #[test]
    fn however_many_rows_the_picture_stays_small_and_says_what_it_leaves_out() {
        let (table, colours) = (shares(6000, 10), (0..10).collect::<Vec<_>>());
        let row = |at: usize| MembershipRow {
            title: format!("run {at}"),
            shares: table.view(),
            colours: &colours,
        };
        for (runs, each, left_out) in [
            (3, 9, None),
            (200, 120, None),
            (260, 120, Some("60 further rows")),
        ] {
            let drawn = membership_rows(&(0..runs).map(row).collect::<Vec<_>>(), None);
            assert!(
                drawn.len() < 5_000_000,
                "{runs} runs: {} bytes",
                drawn.len()
            );
            assert!(
                drawn.contains(&format!("Every bar is the mean of {each} objects.")),
                "{runs} runs"
            );
            assert_eq!(
                drawn.contains("further rows are not drawn"),
                left_out.is_some()
            );
            assert!(left_out.is_none_or(|text| drawn.contains(text)));
            assert_eq!(drawn.matches("run 199").count(), usize::from(runs >= 200));
        }
    }
}
