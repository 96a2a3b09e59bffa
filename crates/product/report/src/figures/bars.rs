//! Figures of objects as bars, each cut by its shares in clusters: membership of one result, of the same objects at every number
//! of clusters (as pong draws it: Behr and others, Bioinformatics 32, 2016), and of several runs below each other.

use std::fmt::Write as _;

use minijinja::context;
use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{Ensemble, Partition, SoftPartition};

use super::Plot;
use crate::Report;
use crate::axes::Spacing;
use crate::clusters::{Cluster, Clusters, Profiles};
use crate::curves::ClusterCurves;
use crate::palette::COLOURS;
use crate::svg::{Svg, colour};
use crate::template::texts;
use crate::text::cut;
use crate::tracks::Tracks;

/// Shares below this are not drawn.
const NOTHING: f64 = 0.001;

/// Width of the bars of a row.
const WIDTH: f64 = 760.0;

/// A row of bars.
struct Bars {
    top: f64,
    height: f64,
    /// Where bars begin, and where the last one ends.
    edges: Vec<f64>,
}

/// How a column of shares is drawn: a colour, and the number of a hatching over it.
struct Fill {
    column: usize,
    colour: usize,
    hatching: usize,
}

impl Fill {
    fn new(column: usize, colour: usize, hatching: usize) -> Self {
        Self {
            column,
            colour,
            hatching,
        }
    }
}

impl Bars {
    /// Bars of `each` objects from `left` on; the last may have fewer.
    fn new([left, top, width, height]: [f64; 4], objects: usize, each: usize) -> Self {
        let edge = |bar: usize| left + (bar * each).min(objects) as f64 / objects as f64 * width;
        let edges = (0..=objects.div_ceil(each)).map(edge).collect();
        Self { top, height, edges }
    }

    /// Draws the columns on top of each other, each as the outline over all bars; one row of shares a bar.
    fn draw(&self, svg: &mut Svg, prefix: &str, shares: &Array2<f64>, fills: &[Fill]) {
        let mut floor = vec![0.0; shares.nrows()];
        let all: Vec<usize> = (0..shares.nrows()).collect();
        for fill in fills {
            let share = |bar: usize| shares[[bar, fill.column]];
            let there = |bar: usize| share(bar) >= NOTHING;
            let mut d = String::new();
            for run in all.chunk_by(|&a, &b| there(a) == there(b)) {
                if there(run[0]) {
                    let _ = write!(d, "M{} {}", self.x(run[0]), self.y(floor[run[0]]));
                    for &bar in run {
                        let high = self.y(floor[bar] + share(bar));
                        let _ = write!(d, "V{high}H{}", self.x(bar + 1));
                    }
                    for &bar in run.iter().rev() {
                        let _ = write!(d, "V{}H{}", self.y(floor[bar]), self.x(bar));
                    }
                    d.push('z');
                }
            }
            for (bar, floor) in floor.iter_mut().enumerate() {
                *floor += share(bar);
            }
            if !d.is_empty() {
                svg.path(&d, &format!("class=\"{}\"", colour(fill.colour)));
                svg.hatch(prefix, &d, fill.hatching);
            }
        }
    }

    fn x(&self, edge: usize) -> f64 {
        short(self.edges[edge])
    }

    fn y(&self, share: f64) -> f64 {
        short(self.top + self.height * (1.0 - share.min(1.0)))
    }
}

/// A tenth of a pixel is seen by nobody.
fn short(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

/// Mean shares of `each` objects after another.
fn means(shares: ArrayView2<'_, f64>, objects: &[usize], each: usize) -> Array2<f64> {
    let mut means = Array2::zeros((objects.len().div_ceil(each), shares.ncols()));
    for (mut mean, group) in means.outer_iter_mut().zip(objects.chunks(each)) {
        for &object in group {
            mean += &shares.row(object);
        }
        mean /= group.len() as f64;
    }
    means
}

/// Characters of a name below bars at most.
const NAME: usize = 14;

/// Bars at most, and pieces of bars.
const BARS: usize = 480;
const PIECES: usize = 6_000;

/// One bar an object (or the mean of several), cut into clusters by probability.
pub(super) fn membership(soft: &SoftPartition, clusters: &Clusters) -> Plot {
    let shown = &clusters.shown;
    let members = shown.iter().flat_map(|cluster| &cluster.members);
    let objects: Vec<usize> = members.map(|&i| i as usize).collect();
    let all = objects.len();
    let each = all.div_ceil((PIECES / shown.len().max(1)).clamp(60, BARS));
    let shares = means(soft.rows(), &objects, each);
    let (left, top, height) = (46.0, 14.0, 190.0);
    let bottom = top + height;
    let mut svg = Svg::new(left + WIDTH + 14.0, bottom + 44.0);
    svg.hatches("membership");
    let fill = |cluster: &Cluster| Fill::new(cluster.label, cluster.label, cluster.label);
    let fills: Vec<Fill> = shown.iter().map(fill).collect();
    Bars::new([left, top, WIDTH, height], all, each).draw(&mut svg, "membership", &shares, &fills);
    for share in [0.0, 0.5, 1.0] {
        let at = [left - 7.0, top + height * (1.0 - share) + 4.0];
        svg.text(at, "m", "end", share);
    }
    let unit = WIDTH / all as f64;
    let mut begin = left;
    let mut spacing = Spacing::new(19.0 + 7.0 * clusters.longest(NAME) as f64);
    for cluster in shown {
        let width = cluster.members.len() as f64 * unit;
        svg.line([begin, bottom, begin, bottom + 7.0], "ax");
        if spacing.fits(begin + 0.5 * width) {
            let place = [begin + 0.5 * width, bottom + 17.0];
            svg.named(cluster.label, &cut(&cluster.name, NAME), place);
        }
        begin += width;
    }
    svg.line([begin, bottom, begin, bottom + 7.0], "ax");
    let name = "objects by cluster, those most agreed on first";
    svg.text([left + 0.5 * WIDTH, bottom + 39.0], "m", "middle", name);
    let mut csv = "first,objects".to_owned();
    for cluster in shown {
        let _ = write!(csv, ",cluster_{}", cluster.label);
    }
    for (at, row) in shares.outer_iter().enumerate() {
        let _ = write!(csv, "\n{},{}", at * each, each.min(all - at * each));
        for cluster in shown {
            let _ = write!(csv, ",{:.4}", row[cluster.label]);
        }
    }
    csv.push('\n');
    let rows = soft.rows();
    let doubtful = |&&i: &&usize| rows.row(i).iter().all(|&p| p < 0.5);
    let doubtful = objects.iter().filter(doubtful).count();
    Plot::new("membership", svg, csv, context! { all, each, doubtful })
}

/// Bars of a row over the number of clusters at most, and objects that these memberships are measured from.
const BARS_BY_K: usize = 160;
const OBJECTS: usize = 20_000;

/// A cluster with less evidence than this share of the best one's is left out.
const BESIDES: f64 = 0.5;

/// Clusters of the result up to which colours are hatched too, and boundaries drawn through all rows.
const FEW: usize = 12;

/// Distance of the rows.
const PITCH: f64 = 38.0;

/// A row of bars for every number of clusters: a bar an object, cut by how much of the evidence is with each cluster.
pub(super) fn by_k(
    report: &Report<'_>,
    choice: &ClusterCurves,
    tracks: &Tracks<'_>,
    clusters: &Clusters,
) -> Plot {
    let places = places(report, tracks);
    let numbers = tracks.numbers();
    let few = tracks.result.clusters() <= FEW;
    let (left, top) = (44.0, 12.0);
    let width = WIDTH - left - 10.0;
    let bottom = top + PITCH * numbers.len() as f64;
    let mut svg = Svg::new(WIDTH, bottom + 24.0);
    svg.hatches("by-k");
    let mut csv = "clusters,bar,cluster,share\n".to_owned();
    for (row, partition) in tracks.partitions.iter().enumerate() {
        let (y, number) = (top + PITCH * row as f64, numbers[row]);
        let at = [left - 22.0, y + 19.0];
        svg.text(at, choice.class(number), "middle", number);
        let shares = shares(report.ensemble, partition, tracks.objects, &places);
        let fill = |&column: &usize| {
            let colour = tracks.colours[row][column];
            Fill::new(column, colour, if few { colour } else { 0 })
        };
        let fills: Vec<Fill> = tracks.order[row].iter().map(fill).collect();
        Bars::new([left, y, width, 30.0], places.len(), 1).draw(&mut svg, "by-k", &shares, &fills);
        for ((bar, cluster), share) in shares.indexed_iter() {
            if *share >= 0.005 {
                let _ = writeln!(csv, "{number},{bar},{cluster},{share:.3}");
            }
        }
    }
    // Where the cluster of the result changes, and its number.
    let unit = width / places.len() as f64;
    let label = |place: usize| tracks.result.labels()[place] as usize;
    let mut begin = left;
    let mut spacing = Spacing::new(23.0 + 7.0 * clusters.longest(NAME) as f64);
    for run in places.chunk_by(|&a, &b| label(a) == label(b)) {
        if begin > left {
            let end = if few { bottom - 4.0 } else { top };
            svg.line([begin, top - 6.0, begin, end], "il");
        }
        let width = run.len() as f64 * unit;
        if spacing.fits(begin + 0.5 * width) {
            let (label, place) = (label(run[0]), [begin + 0.5 * width, bottom + 11.0]);
            svg.named(label, &cut(clusters.name(label), NAME), place);
        }
        begin += width;
    }
    let facts = context! {
        numbers, evidence => report.ensemble.is_some(), drawn => places.len(), objects => tracks.result.objects(),
        left_out => tracks.left_out.clone(),
    };
    Plot::new("choice-membership", svg, csv, facts)
}

/// Places of the objects drawn: by cluster of the result, those most agreed on first, evenly thinned.
fn places(report: &Report<'_>, tracks: &Tracks<'_>) -> Vec<usize> {
    let agreement = |place: usize| report.agreement[tracks.object(place)];
    let label = |place: usize| tracks.result.labels()[place];
    let mut all: Vec<usize> = (0..tracks.result.objects()).collect();
    all.sort_by(|&a, &b| {
        let by_agreement = agreement(b).total_cmp(&agreement(a));
        label(a).cmp(&label(b)).then(by_agreement).then(a.cmp(&b))
    });
    let bars = all.len().min(BARS_BY_K);
    let middle = |bar: usize| (2 * bar + 1) * all.len() / (2 * bars);
    (0..bars).map(|bar| all[middle(bar)]).collect()
}

/// How much of the evidence of each object is with each cluster: its mean co-association with the cluster's objects, over the sum
/// for all clusters. Labels where there is no ensemble.
fn shares(
    ensemble: Option<&Ensemble>,
    partition: &Partition,
    objects: Option<&[u32]>,
    places: &[usize],
) -> Array2<f64> {
    let mut shares = Array2::zeros((places.len(), partition.clusters()));
    let label = |place: usize| partition.labels()[place] as usize;
    let object = |place: usize| objects.map_or(place, |some| some[place] as usize);
    let Some(ensemble) = ensemble else {
        for (bar, &place) in places.iter().enumerate() {
            shares[[bar, label(place)]] = 1.0;
        }
        return shares;
    };
    let step = partition.objects().div_ceil(OBJECTS).max(1);
    let mut groups = vec![Vec::new(); partition.clusters()];
    for place in (0..partition.objects()).step_by(step) {
        groups[label(place)].push(object(place) as u32);
    }
    let profiles = Profiles::of(ensemble, &groups);
    for (mut row, &place) in shares.outer_iter_mut().zip(places) {
        for (cluster, share) in row.iter_mut().enumerate() {
            *share = profiles.with(object(place) as u32, cluster);
        }
        let best = row.fold(0.0, |best: f64, &share| best.max(share));
        row.mapv_inplace(|share| if share < BESIDES * best { 0.0 } else { share });
        let sum: f64 = row.sum();
        if sum > 0.0 {
            row.mapv_inplace(|share| share / sum);
        }
    }
    shares
}

/// Bars of a run at most: beyond, each is the mean of several objects.
const BARS_OF_RUN: usize = 720;

/// Shares that are drawn in all, at most, since each takes some 40 bytes of the file: where runs are many they have fewer bars, down to
/// so many a run; runs beyond that are left out.
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

/// Draws a row of bars a run, as pong and distruct do: a bar an object (or the mean of several), cut by share. Objects are ordered by
/// population, where there are some, then by their largest column in the first run, then by its share. The same rows give the same bytes.
///
/// However many rows there are, about 100,000 shares are drawn, so that the picture keeps below some 5 MB: a row of many has fewer bars,
/// and rows for which there are not even 50 bars are left out. The picture says so.
///
/// # Panics
/// Never: the texts do not depend on the rows.
pub fn membership_rows(rows: &[MembershipRow<'_>], populations: Option<&[String]>) -> String {
    const PITCH: f64 = 70.0;
    const LEFT: f64 = 14.0;
    let Some(first) = rows.first() else {
        return String::new();
    };
    let objects = order(first, populations);
    let columns =
        |rows: &[MembershipRow<'_>]| rows.iter().map(|row| row.shares.ncols()).sum::<usize>();
    let enough = |&count: &usize| columns(&rows[..count]) * FEWEST_BARS <= SHARES;
    let drawn = (1..=rows.len()).take_while(enough).last().unwrap_or(1);
    let bars = (SHARES / columns(&rows[..drawn]).max(1)).clamp(FEWEST_BARS, BARS_OF_RUN);
    let each = objects.len().div_ceil(bars).max(1);
    let mut svg = Svg::new(LEFT + WIDTH + 14.0, drawn as f64 * PITCH + 40.0);
    svg.hatches("runs");
    for (at, row) in rows[..drawn].iter().enumerate() {
        let top = at as f64 * PITCH + 22.0;
        svg.text([LEFT, top - 6.0], "t", "start", cut(&row.title, 90));
        let mut columns: Vec<usize> = (0..row.shares.ncols()).collect();
        columns.sort_by_key(|&column| row.colours.get(column));
        let fill = |&column: &usize| {
            let colour = row.colours.get(column).copied().unwrap_or(column);
            Fill::new(column, colour, colour / COLOURS)
        };
        let fills: Vec<Fill> = columns.iter().map(fill).collect();
        let bars = Bars::new([LEFT, top, WIDTH, 44.0], objects.len(), each);
        let shares = means(row.shares, &objects, each);
        bars.draw(&mut svg, "runs", &shares, &fills);
    }
    let bottom = drawn as f64 * PITCH - 4.0;
    if let Some(populations) = populations {
        // Where populations end, and what they are called.
        let unit = WIDTH / objects.len().max(1) as f64;
        let mut begin = LEFT;
        let mut spacing = Spacing::new(48.0);
        for run in objects.chunk_by(|&a, &b| populations[a] == populations[b]) {
            let width = run.len() as f64 * unit;
            svg.line([begin, 16.0, begin, bottom], "ax");
            if spacing.fits(begin + 0.5 * width) {
                let name = cut(&populations[run[0]], 12);
                svg.text([begin + 0.5 * width, bottom + 14.0], "m", "middle", name);
            }
            begin += width;
        }
    }
    let facts = context! { each, left_out => rows.len() - drawn, objects => objects.len(), drawn };
    let [title, alt, note] =
        texts("memberships", &facts, &context! {}).expect("the texts need nothing else");
    svg.text([LEFT, bottom + 34.0], "m", "start", &note);
    svg.alone("memberships", &title, format!("{alt} {note}").trim())
}

/// Objects by population, largest column of the first run, and its share.
fn order(first: &MembershipRow<'_>, populations: Option<&[String]>) -> Vec<usize> {
    let key = |object: usize| {
        let row = first.shares.row(object);
        let mut largest = 0;
        for column in 1..row.len() {
            if row[column] > row[largest] {
                largest = column;
            }
        }
        let population = populations.map(|populations| &populations[object]);
        let share = row.get(largest).copied().unwrap_or(0.0);
        (population, first.colours.get(largest), share)
    };
    let mut order: Vec<usize> = (0..first.shares.nrows()).collect();
    order.sort_by(|&a, &b| {
        let (x, y) = (key(a), key(b));
        let by_cluster = (x.0, x.1).cmp(&(y.0, y.1));
        by_cluster.then(y.2.total_cmp(&x.2)).then(a.cmp(&b))
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares that move from one column to the next along the objects.
    fn moving(objects: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_fn((objects, columns), |(i, k)| {
            let place = (i * columns) as f64 / objects as f64 - 0.5;
            (1.0 - (place - k as f64).abs()).max(0.02) / (1.0 + 0.02 * (columns as f64 - 1.0))
        })
    }

    #[test]
    fn however_many_rows_the_picture_stays_small_and_says_what_it_leaves_out() {
        let (table, colours) = (moving(6000, 10), (0..10).collect::<Vec<_>>());
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
            let size = drawn.len();
            assert!(size < 5_000_000, "{runs} runs: {size} bytes");
            let said = format!("Every bar is the mean of {each} objects.");
            assert!(drawn.contains(&said), "{runs} runs");
            let says_so = drawn.contains("further rows are not drawn");
            assert_eq!(says_so, left_out.is_some());
            assert!(left_out.is_none_or(|text| drawn.contains(text)));
            assert_eq!(drawn.matches("run 199").count(), usize::from(runs >= 200));
        }
    }
}
