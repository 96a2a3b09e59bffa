//! Figure: membership of the same objects at every number of clusters, in common colours, as pong draws it (Behr and others,
//! Bioinformatics 32, 2016).

use std::fmt::Write as _;

use partita_core::ndarray::Array2;
use partita_core::{Ensemble, Partition};

use crate::Report;
use crate::curves::ClusterCurves;
use crate::figure::Drawn;
use crate::palette::{COLOURS, hatch, hatches};
use crate::svg::Svg;
use crate::text::count;
use crate::tracks::Tracks;

/// Bars of a row at most, and objects that memberships are measured from.
const BARS: usize = 160;
const OBJECTS: usize = 20_000;

/// A cluster with less evidence than this share of the best one's is left out.
const BESIDES: f64 = 0.5;

/// Clusters of the result up to which colours are hatched too, and boundaries drawn through all rows.
const FEW: usize = 12;

/// Shares below this are not drawn.
const NOTHING: f64 = 0.005;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 30.0;
const PITCH: f64 = 38.0;

/// A row of bars for every number of clusters: a bar an object, cut by how much of the evidence is with each cluster.
pub(crate) fn figure(report: &Report<'_>, choice: &ClusterCurves, tracks: &Tracks<'_>) -> Drawn {
    let places = places(report, tracks);
    let (numbers, left, top) = (tracks.numbers(), 44.0, 12.0);
    let width = WIDTH - left - 10.0;
    let mut svg = Svg::new(WIDTH, top + PITCH * numbers.len() as f64 + 24.0);
    svg.raw(&format!("<defs>{}</defs>", hatches("by-k")));
    let mut csv = "clusters,bar,cluster,share\n".to_owned();
    for (row, partition) in tracks.partitions.iter().enumerate() {
        let y = top + PITCH * row as f64;
        let class = if choice.chosen == Some(numbers[row]) {
            "t big"
        } else {
            "m"
        };
        svg.text(
            [left - 22.0, y + 0.5 * HEIGHT + 4.0],
            class,
            "middle",
            &numbers[row].to_string(),
        );
        let shares = shares(report.ensemble, partition, tracks.objects, &places);
        let order = tracks.order[row]
            .iter()
            .map(|&cluster| (cluster, tracks.colours[row][cluster]));
        bars(
            &mut svg,
            &shares,
            order,
            [left, y, width / places.len() as f64],
            tracks.result.clusters() <= FEW,
        );
        for ((bar, cluster), share) in shares
            .indexed_iter()
            .filter(|(_, share)| **share >= NOTHING)
        {
            let _ = writeln!(csv, "{},{bar},{cluster},{share:.3}", numbers[row]);
        }
    }
    boundaries(&mut svg, tracks, &places, [left, top, width]);
    let all = tracks.result.objects();
    let mut note = "Ordered by cluster of the result; the lines are where it changes.".to_owned();
    if report.ensemble.is_some() {
        note.push_str(
            " Clusters with less than half of the evidence of an object's best one are left out.",
        );
    }
    if places.len() < all {
        let _ = write!(
            note,
            " {} of {} objects are drawn.",
            count(places.len() as i64),
            count(all as i64)
        );
    }
    if !tracks.left_out.is_empty() {
        let _ = write!(note, " {}", tracks.left_out);
    }
    let what = if report.ensemble.is_some() {
        "the share of the evidence"
    } else {
        "the label"
    };
    let alt = format!(
        "For {} clusters, {what} of the same objects for each cluster, in colours that stay with the objects: where a row \
         changes colour, a cluster has been divided.",
        super::tree::list(&numbers)
    );
    let title = "Membership by number of clusters".to_owned();
    Drawn {
        name: "choice-membership",
        title,
        alt,
        svg,
        csv,
        note,
        points: Vec::new(),
    }
}

/// Places of the objects drawn: by cluster of the result, the most trusted first, evenly thinned.
fn places(report: &Report<'_>, tracks: &Tracks<'_>) -> Vec<usize> {
    let trust =
        |place: usize| report.trust()[tracks.objects.map_or(place, |some| some[place] as usize)];
    let mut all: Vec<usize> = (0..tracks.result.objects()).collect();
    let label = |place: usize| tracks.result.labels()[place];
    all.sort_by(|&a, &b| {
        label(a)
            .cmp(&label(b))
            .then(trust(b).total_cmp(&trust(a)))
            .then(a.cmp(&b))
    });
    let bars = all.len().min(BARS);
    (0..bars)
        .map(|bar| all[(2 * bar + 1) * all.len() / (2 * bars)])
        .collect()
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
    let object = |place: usize| objects.map_or(place, |some| some[place] as usize);
    let Some(ensemble) = ensemble else {
        places
            .iter()
            .enumerate()
            .for_each(|(bar, &place)| shares[[bar, partition.labels()[place] as usize]] = 1.0);
        return shares;
    };
    let (offsets, bases) = (ensemble.offsets(), ensemble.bases().len());
    let mut profile = Array2::<f64>::zeros((offsets[bases], partition.clusters()));
    let step = partition.objects().div_ceil(OBJECTS).max(1);
    let mut sizes = vec![0.0; partition.clusters()];
    for place in (0..partition.objects()).step_by(step) {
        let cluster = partition.labels()[place] as usize;
        sizes[cluster] += 1.0;
        let labels = (0..bases)
            .filter_map(|base| Some(offsets[base] + ensemble.label(object(place), base)?));
        labels.for_each(|label| profile[[label, cluster]] += 1.0);
    }
    for (mut row, &place) in shares.outer_iter_mut().zip(places) {
        for label in
            (0..bases).filter_map(|base| Some(offsets[base] + ensemble.label(object(place), base)?))
        {
            row.iter_mut().zip(profile.row(label)).zip(&sizes).for_each(
                |((share, together), size)| {
                    *share += if *size > 0.0 { together / size } else { 0.0 };
                },
            );
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

/// The outline of every cluster over all bars.
fn bars(
    svg: &mut Svg,
    shares: &Array2<f64>,
    clusters: impl Iterator<Item = (usize, usize)>,
    [left, top, unit]: [f64; 3],
    hatched: bool,
) {
    let mut floor = vec![0.0; shares.nrows()];
    for (cluster, colour) in clusters {
        let mut d = String::new();
        let mut bar = 0;
        while bar < floor.len() {
            let end = bar
                + (bar..floor.len())
                    .take_while(|&at| shares[[at, cluster]] >= NOTHING)
                    .count();
            if end > bar {
                outline(
                    &mut d,
                    &floor[bar..end],
                    bar,
                    shares,
                    cluster,
                    [left, top, unit],
                );
            }
            bar = end.max(bar + 1);
        }
        floor
            .iter_mut()
            .enumerate()
            .for_each(|(bar, floor)| *floor += shares[[bar, cluster]]);
        svg.path(&d, &format!("class=\"k{}\"", colour % COLOURS));
        if let Some(hatch) = hatch("by-k", colour).filter(|_| hatched && !d.is_empty()) {
            svg.path(&d, &hatch);
        }
    }
}

/// Some bars in a row as one closed line: along their upper ends, and back along their lower ones.
fn outline(
    d: &mut String,
    floor: &[f64],
    first: usize,
    shares: &Array2<f64>,
    cluster: usize,
    [left, top, unit]: [f64; 3],
) {
    let short = |x: f64| (x * 10.0).round() / 10.0;
    let y = |share: f64| short(top + HEIGHT * (1.0 - share.min(1.0)));
    let x = |bar: usize| short(left + (first + bar) as f64 * unit);
    let high = |bar: usize| y(floor[bar] + shares[[first + bar, cluster]]);
    let _ = write!(d, "M{} {}", x(0), y(floor[0]));
    for bar in 0..floor.len() {
        let _ = write!(d, "V{}H{}", high(bar), x(bar + 1));
    }
    for bar in (0..floor.len()).rev() {
        let _ = write!(d, "V{}H{}", y(floor[bar]), x(bar));
    }
    d.push('z');
}

/// Where the cluster of the result changes, and its number.
fn boundaries(svg: &mut Svg, tracks: &Tracks<'_>, places: &[usize], [left, top, width]: [f64; 3]) {
    let (unit, bottom) = (
        width / places.len() as f64,
        top + PITCH * tracks.partitions.len() as f64 - 4.0,
    );
    let (mut begin, mut free) = (0, f64::NEG_INFINITY);
    for run in places.chunk_by(|&a, &b| tracks.result.labels()[a] == tracks.result.labels()[b]) {
        let label = tracks.result.labels()[run[0]] as usize;
        let middle = left + (begin as f64 + 0.5 * run.len() as f64) * unit;
        if begin > 0 {
            let x = left + begin as f64 * unit;
            let end = if tracks.result.clusters() <= FEW {
                bottom
            } else {
                top
            };
            svg.line([x, top - 6.0, x, end], "il");
        }
        if middle - free >= 30.0 {
            svg.marker(
                label,
                [middle - 7.0, bottom + 15.0],
                1.0,
                &format!("k{}", label % COLOURS),
            );
            svg.text(
                [middle + 1.0, bottom + 19.0],
                "t",
                "start",
                &label.to_string(),
            );
            free = middle;
        }
        begin += run.len();
    }
}
