//! Figure: graph of how clusters overlap.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use partita_core::SoftPartition;
use partita_core::ndarray::{Array2, Axis};
use partita_metrics::relations;

use super::certainty::left_out;
use crate::clusters::{Clusters, sample};
use crate::figure::Drawn;
use crate::palette::COLOURS;
use crate::svg::{Svg, n};
use crate::text::{count, number};

/// Clusters on the ring at most, and edges at most.
const RING: usize = 24;
const EDGES: usize = 40;

/// Edges that bear a number at most.
const NUMBERS: usize = 12;

/// What is shared less than this is not drawn, nor what is less than this share of the strongest.
const LEAST: f64 = 0.01;
const FAINT: f64 = 0.15;

/// Objects × clusters² up to which all objects take part.
const PRODUCTS: usize = 400_000_000;

/// An edge: two clusters shown, and what the first shares with the second and the second with the first.
type Edge = (usize, usize, f64, f64);

/// The graph of the probabilities, or of the evidence where there are none.
pub(crate) fn graph(soft: Option<&SoftPartition>, clusters: &Clusters) -> Option<Drawn> {
    let mut ring: Vec<usize> = (0..clusters.shown.len()).collect();
    ring.sort_by_key(|&at| (std::cmp::Reverse(clusters.shown[at].size), at));
    ring.truncate(RING);
    ring.sort_unstable();
    let shares = match soft {
        Some(soft) => of_soft(soft, clusters)?,
        None => clusters.evidence.clone()?,
    };
    if ring.len() < 2 {
        return None;
    }
    let pairs = ring
        .iter()
        .flat_map(|&a| ring.iter().filter(move |&&b| b > a).map(move |&b| (a, b)));
    let mut edges: Vec<Edge> = pairs
        .map(|(a, b)| (a, b, shares[[a, b]], shares[[b, a]]))
        .collect();
    let csv = csv(&edges, clusters);
    let strongest = edges
        .iter()
        .map(|edge| edge.2.max(edge.3))
        .fold(0.0, f64::max);
    edges.retain(|edge| edge.2.max(edge.3) >= LEAST.max(FAINT * strongest));
    edges.sort_by(|x, y| {
        y.2.max(y.3)
            .total_cmp(&x.2.max(x.3))
            .then((x.0, x.1).cmp(&(y.0, y.1)))
    });
    edges.truncate(EDGES.min(2 * ring.len() + 4));
    let svg = draw(&ring, &edges, clusters);
    let (title, what) = if soft.is_some() {
        (
            "What clusters share",
            "the share of one cluster's objects that is in the other when all are drawn again",
        )
    } else {
        (
            "What clusters share",
            "how often the base clusterings put objects of the two together",
        )
    };
    let strongest = edges.first().map_or_else(
        || " No two clusters share more than 0.01.".to_owned(),
        |edge| {
            let (a, b) = (clusters.shown[edge.0].label, clusters.shown[edge.1].label);
            format!(
                " Clusters {a} and {b} share most: {}.",
                number(edge.2.max(edge.3))
            )
        },
    );
    let alt = format!(
        "Graph of {} clusters; the number on a line is {what} (the larger of the two directions).{strongest}",
        ring.len()
    );
    Some(Drawn {
        name: "relations",
        title: title.to_owned(),
        alt,
        svg,
        csv,
        note: if ring.len() < clusters.shown.len() {
            format!(
                "The {} largest of {} clusters.",
                ring.len(),
                count(clusters.live as i64)
            )
        } else {
            left_out(clusters)
        },
        points: Vec::new(),
    })
}

/// The relation matrix of the clusters shown.
fn of_soft(soft: &SoftPartition, clusters: &Clusters) -> Option<Array2<f64>> {
    let k = soft.clusters().max(1);
    let most = (PRODUCTS / (k * k)).max(1_000);
    let some = if soft.objects() > most {
        let objects: Vec<usize> = sample(clusters, most)
            .into_iter()
            .map(|i| i as usize)
            .collect();
        Some(SoftPartition::new(soft.rows().select(Axis(0), &objects)).ok()?)
    } else {
        None
    };
    let found = relations(some.as_ref().unwrap_or(soft), 0.0).ok()?;
    let side = clusters.shown.len();
    Some(Array2::from_shape_fn((side, side), |(a, b)| {
        found.shares[[clusters.shown[a].label, clusters.shown[b].label]]
    }))
}

fn draw(ring: &[usize], edges: &[Edge], clusters: &Clusters) -> Svg {
    let (width, radius) = (460.0, 132.0);
    // Rings of few clusters do not reach down as far as up.
    let lowest = (0..ring.len())
        .map(|at| (TAU * (at as f64 / ring.len() as f64 - 0.25)).sin())
        .fold(-1.0, f64::max);
    let centre = [0.5 * width, radius + 50.0];
    let mut svg = Svg::new(width, centre[1] + radius * lowest + 50.0);
    let place = |at: usize| {
        let turn = TAU * (at as f64 / ring.len() as f64 - 0.25);
        [
            centre[0] + 1.25 * radius * turn.cos(),
            centre[1] + radius * turn.sin(),
        ]
    };
    let on_ring = |cluster: usize| place(ring.iter().position(|&c| c == cluster).unwrap_or(0));
    let most = edges.first().map_or(1.0, |edge| edge.2.max(edge.3));
    for &(a, b, ab, ba) in edges.iter().rev() {
        let (p, q, share) = (on_ring(a), on_ring(b), ab.max(ba));
        // Lines bend towards the middle, so that they keep apart from the ring.
        let bend = [
            0.5 * (p[0] + q[0]) * 0.6 + 0.4 * centre[0],
            0.5 * (p[1] + q[1]) * 0.6 + 0.4 * centre[1],
        ];
        let width = 1.0 + 9.0 * share / most.max(0.25);
        let d = format!(
            "M{} {}Q{} {} {} {}",
            n(p[0]),
            n(p[1]),
            n(bend[0]),
            n(bend[1]),
            n(q[0]),
            n(q[1])
        );
        svg.path(
            &d,
            &format!(
                "class=\"al\" fill=\"none\" stroke-opacity=\".4\" stroke-width=\"{}\"",
                n(width)
            ),
        );
    }
    let mut taken: Vec<[f64; 2]> = Vec::new();
    for &(a, b, ab, ba) in edges.iter().take(NUMBERS) {
        let (p, q) = (on_ring(a), on_ring(b));
        let on_curve = |t: f64| {
            [0, 1].map(|i| {
                let bend = 0.5 * (p[i] + q[i]) * 0.6 + 0.4 * centre[i];
                (1.0 - t) * (1.0 - t) * p[i] + 2.0 * t * (1.0 - t) * bend + t * t * q[i]
            })
        };
        // A number goes where there is none yet; an edge without room for one has it in the CSV.
        let free = |at: &[f64; 2]| {
            taken
                .iter()
                .all(|o| (o[0] - at[0]).abs() >= 46.0 || (o[1] - at[1]).abs() >= 19.0)
        };
        if let Some(at) = [0.5, 0.4, 0.6, 0.3, 0.7]
            .map(on_curve)
            .into_iter()
            .find(free)
        {
            svg.text(
                [at[0], at[1] + 4.0],
                "t halo",
                "middle",
                &number(ab.max(ba)),
            );
            taken.push(at);
        }
    }
    let largest = ring
        .iter()
        .map(|&c| clusters.shown[c].size)
        .max()
        .unwrap_or(1) as f64;
    for (at, &cluster) in ring.iter().enumerate() {
        let (p, size, label) = (
            place(at),
            clusters.shown[cluster].size as f64,
            clusters.shown[cluster].label,
        );
        let scale = 1.6 + 3.0 * (size / largest).sqrt();
        svg.marker(label, p, scale, &format!("k{} rim", label % COLOURS));
        let out = [p[0] - centre[0], p[1] - centre[1]];
        let length = (out[0] * out[0] + out[1] * out[1]).sqrt().max(1.0);
        let far = 5.2 * scale + 12.0;
        svg.text(
            [
                p[0] + out[0] / length * far,
                p[1] + out[1] / length * far + 4.0,
            ],
            "t big",
            "middle",
            &label.to_string(),
        );
    }
    svg
}

fn csv(edges: &[Edge], clusters: &Clusters) -> String {
    let mut csv = "first,second,first_with_second,second_with_first\n".to_owned();
    for &(a, b, ab, ba) in edges {
        let _ = writeln!(
            csv,
            "{},{},{ab},{ba}",
            clusters.shown[a].label, clusters.shown[b].label
        );
    }
    csv
}
