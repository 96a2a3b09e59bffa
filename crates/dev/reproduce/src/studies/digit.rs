//! The digit 2 of PenDigits (PCC 2015, Section 7.4): clusters that share objects, as a graph of pen paths.

use anyhow::Result;
use std::f64::consts::TAU;

use partita::generate::Recipe;
use partita::metrics::{centres, relations};
use partita::ndarray::{Array2, Axis, s};
use partita_report::Svg;

use crate::{Grid, Lab, Results, Row, SECONDS, Unit};

const DATA: &str = "pendigits";
/// Ensembles: of K to 3K clusters, in which blocks are seen, and of √n/2 to √n.
const SETTINGS: [(&str, &str); 2] = [
    ("digit 2, draws", "K to 3K clusters"),
    ("digit 2, pcc-1", "√n/2 to √n clusters"),
];
const METHOD: &str = "pcc-kl";
/// Blocks that the paper sees.
const CLUSTERS: usize = 5;
/// Points of a pen path.
const POINTS: usize = 8;
/// Probabilities below are removed, and relations below are not drawn. The paper says that there is such a number.
const LEAST: f64 = 0.05;
pub(super) const PICTURE: &str = "pcc-digit-2.svg";

pub(super) fn units() -> impl Iterator<Item = Unit> {
    SETTINGS
        .into_iter()
        .map(|(setting, _)| Unit::new(DATA, setting, 0, [METHOD]))
}

pub(super) fn is(unit: &Unit) -> bool {
    unit.data == DATA
}

/// Sizes, relations and centres of the clusters, the largest first.
pub(super) fn measure(unit: &Unit, lab: &Lab<'_>) -> Result<Vec<Row>> {
    let data = lab.data(DATA)?;
    let labels = data.truth.labels();
    // The second object of the file is a 2.
    let twos: Vec<usize> = (0..labels.len())
        .filter(|&i| labels[i] == labels[1])
        .collect();
    let values = data
        .values
        .select(Axis(0), &twos)
        .slice_move(s![.., ..2 * POINTS]);
    let recipe = match unit.setting.as_str() {
        setting if setting == SETTINGS[0].0 => Recipe::for_clusters(CLUSTERS, twos.len()),
        _ => Recipe::preset("pcc-1", CLUSTERS)?,
    };
    let ensemble = lab.ensemble(values.view(), &recipe, unit.seed)?;
    let (outcome, seconds) =
        lab.timed(|| lab.consensus(METHOD, &ensemble, None, CLUSTERS, unit.seed, &[]));
    let outcome = outcome?;
    let soft = outcome.soft.as_ref().expect("PCC is soft");
    let found = relations(soft, LEAST)?;
    let centres = centres(&found.soft, values.view())?;
    let mut order: Vec<usize> = (0..found.sizes.len())
        .filter(|&k| found.sizes[k] > 0.0)
        .collect();
    order.sort_by(|&a, &b| found.sizes[b].total_cmp(&found.sizes[a]));
    let row = |measure: String, value| unit.row(METHOD, &measure, value);
    let mut rows = vec![
        unit.row(METHOD, "objects", twos.len() as f64),
        unit.row(METHOD, SECONDS, seconds),
    ];
    for (name, &k) in (1..).zip(&order) {
        rows.push(row(format!("size {name}"), found.sizes[k]));
        let others = (1..).zip(&order);
        rows.extend(
            others.map(|(other, &l)| row(format!("m {name} {other}"), found.shares[[k, l]])),
        );
        let point = |at: usize| {
            ["x", "y"]
                .into_iter()
                .zip([centres[[k, 2 * at]], centres[[k, 2 * at + 1]]])
                .map(move |(axis, value)| row(format!("{axis} {name} {}", at + 1), value))
        };
        rows.extend((0..POINTS).flat_map(point));
    }
    Ok(rows)
}

/// What was measured.
struct Found {
    objects: f64,
    sizes: Vec<f64>,
    shares: Array2<f64>,
    paths: Vec<Vec<[f64; 2]>>,
}

impl Found {
    fn of(results: &Results, setting: &str) -> Option<Self> {
        let value = |measure: String| results.value(DATA, setting, METHOD, 0, &measure);
        let objects = value("objects".into())?;
        let sizes: Vec<f64> = (1..=CLUSTERS)
            .map_while(|k| value(format!("size {k}")))
            .collect();
        let live = sizes.len();
        let shares = Array2::from_shape_fn((live, live), |(k, l)| {
            value(format!("m {} {}", k + 1, l + 1)).unwrap_or(0.0)
        });
        let point = |k: usize, at: usize| {
            ["x", "y"].map(|axis| value(format!("{axis} {k} {at}")).unwrap_or(0.0))
        };
        let paths = (1..=live)
            .map(|k| (1..=POINTS).map(|at| point(k, at)).collect())
            .collect();
        Some(Self {
            objects,
            sizes,
            shares,
            paths,
        })
    }

    /// Pairs of different clusters whose relation is drawn, strongest first.
    fn edges(&self) -> Vec<(usize, usize, f64)> {
        let all = self
            .shares
            .indexed_iter()
            .map(|((k, l), &share)| (k, l, share));
        let mut edges: Vec<_> = all
            .filter(|&(k, l, share)| k != l && share >= LEAST)
            .collect();
        edges.sort_by(|a, b| b.2.total_cmp(&a.2));
        edges
    }
}

/// What the page says.
pub(super) fn section(results: &Results) -> String {
    let mut text = String::new();
    for (setting, meaning) in SETTINGS {
        let Some(found) = Found::of(results, setting) else {
            continue;
        };
        if text.is_empty() {
            text = format!(
                "## The digit 2 of PenDigits (Figures 7 and 8)\n\nAll {} objects of the class, `{METHOD}` with K = {CLUSTERS}, as many as the paper sees \
                 blocks. The paper takes a subsample that it\ndoes not describe and gives neither ensemble nor threshold; here probabilities below {LEAST} \
                 are removed. m is the share of a\ncluster's objects (line) that is in another (column) when all are drawn again; clusters are numbered by size.\n\n",
                found.objects
            );
        }
        text += &format!("Base clusterings of {meaning}:\n\n{}", table(&found));
    }
    if text.is_empty() {
        return text;
    }
    text + &format!(
        "![Centroids of the clusters as pen paths, and what they share]({PICTURE})\n\nThe picture is of the first. Points are numbered as the pen went.\n\n"
    )
}

fn table(found: &Found) -> String {
    let live = 1..=found.sizes.len();
    let names = ["cluster".into(), "expected size".into()].into_iter();
    let mut grid = Grid::new(names.chain(live.map(|k| format!("in {k}"))));
    for (k, row) in found.shares.outer_iter().enumerate() {
        let cells = [(k + 1).to_string(), format!("{:.1}", found.sizes[k])].into_iter();
        grid.row(cells.chain(row.iter().map(|share| format!("{share:.3}"))));
    }
    let strongest = found.edges().first().map_or_else(String::new, |(k, l, share)| {
        format!(
            "Strongest relation: {share:.2} of cluster {} is in cluster {}; the paper's is 0.48, of its third class.\n\n",
            k + 1,
            l + 1
        )
    });
    grid.finish() + &strongest
}

/// Side of the box in which a pen path is drawn.
const SIDE: f64 = 110.0;

/// The graph: every cluster a pen path, every relation above the threshold an arrow.
pub(super) fn picture(results: &Results) -> Option<String> {
    let found = Found::of(results, SETTINGS[0].0)?;
    let live = found.sizes.len();
    let place = |k: usize| {
        let turn = TAU * (k as f64 / live as f64 - 0.25);
        [330.0 + 240.0 * turn.cos(), 300.0 + 205.0 * turn.sin()]
    };
    let mut svg = Svg::new(660.0, 590.0);
    svg.raw(
        "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" class=\"a\"/></marker></defs>",
    );
    for (k, l, share) in found.edges() {
        arrow(&mut svg, place(k), place(l), share);
    }
    for (k, path) in found.paths.iter().enumerate() {
        pen(
            &mut svg,
            place(k),
            path,
            &format!("{}: {:.0} objects", k + 1, found.sizes[k]),
        );
    }
    let alt = "Every cluster is the mean path of the pen; an arrow says which share of its objects is in another cluster.";
    Some(svg.alone("digit", "Clusters of the digit 2 and what they share", alt))
}

/// An arrow from one box to another that leaves room for the one that goes back.
fn arrow(svg: &mut Svg, from: [f64; 2], to: [f64; 2], share: f64) {
    let dx = to[0] - from[0];
    let dy = to[1] - from[1];
    let length = dx.hypot(dy).max(1.0);
    let ux = dx / length;
    let uy = dy / length;
    // From edge to edge of circles around the boxes, bent to the left.
    let gap = 0.68 * SIDE;
    let start = [from[0] + gap * ux - 9.0 * uy, from[1] + gap * uy + 9.0 * ux];
    let end = [to[0] - gap * ux - 9.0 * uy, to[1] - gap * uy + 9.0 * ux];
    let bend = [
        0.5 * (start[0] + end[0]) - 24.0 * uy,
        0.5 * (start[1] + end[1]) + 24.0 * ux,
    ];
    let text = [
        0.25 * start[0] + 0.5 * bend[0] + 0.25 * end[0] - 8.0 * uy,
        0.25 * start[1] + 0.5 * bend[1] + 0.25 * end[1] + 8.0 * ux,
    ];
    let d = format!(
        "M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}",
        start[0], start[1], bend[0], bend[1], end[0], end[1]
    );
    let width = 1.0 + 6.0 * share;
    svg.path(
        &d,
        &format!("class=\"al\" fill=\"none\" stroke-width=\"{width:.1}\" marker-end=\"url(#a)\""),
    );
    svg.text(
        [text[0], text[1] + 4.0],
        "t",
        "middle",
        format!("{share:.2}"),
    );
}

/// A pen path in a box: coordinates from 0 to 100, y upwards, points numbered in the order of writing.
fn pen(svg: &mut Svg, centre: [f64; 2], path: &[[f64; 2]], name: &str) {
    let left = centre[0] - 0.5 * SIDE;
    let top = centre[1] - 0.5 * SIDE;
    let inner = SIDE - 24.0;
    let at = |point: &[f64; 2]| {
        [
            left + 12.0 + inner * point[0] / 100.0,
            top + 12.0 + inner * (1.0 - point[1] / 100.0),
        ]
    };
    let points: Vec<[f64; 2]> = path.iter().map(at).collect();
    let line: Vec<String> = points
        .iter()
        .map(|point| format!("{:.1} {:.1}", point[0], point[1]))
        .collect();
    svg.rect_with(
        [left, top, SIDE, SIDE],
        "rx=\"8\" class=\"gf\" fill-opacity=\".4\"",
    );
    svg.path(&format!("M{}", line.join("L")), "class=\"ln il\"");
    for (order, point) in (1..).zip(&points) {
        let [x, y] = *point;
        svg.path(
            &format!("M{:.1} {y:.1}a6 6 0 1 0 12 0a6 6 0 1 0-12 0z", x - 6.0),
            "class=\"bg\"",
        );
        svg.path(
            &format!("M{:.1} {y:.1}a6 6 0 1 0 12 0a6 6 0 1 0-12 0z", x - 6.0),
            "class=\"ax\"",
        );
        svg.text([x, y + 4.0], "t", "middle", order.to_string());
    }
    svg.text([centre[0], top + SIDE + 14.0], "t", "middle", name);
}
