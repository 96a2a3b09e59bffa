//! Figure: graph of how clusters overlap.

use std::cmp::Reverse;
use std::f64::consts::TAU;
use std::fmt::Write as _;

use minijinja::context;
use partita_core::SoftPartition;
use partita_core::ndarray::{Array2, Axis};
use partita_metrics::relations;

use super::Plot;
use crate::clusters::{Cluster, Clusters, sample};
use crate::svg::{Svg, colour, n};
use crate::text::{cut, number};

/// Clusters on the ring at most, and edges at most.
const RING: usize = 24;
const EDGES: usize = 40;

/// Characters of a name of a cluster at most.
const NAME: usize = 12;

/// Edges that bear a number at most.
const NUMBERS: usize = 12;

/// What is shared less than this is not drawn, nor what is less than this share of the strongest.
const LEAST: f64 = 0.01;
const FAINT: f64 = 0.15;

/// Objects × clusters² up to which all objects take part.
const PRODUCTS: usize = 400_000_000;

const WIDTH: f64 = 460.0;
const RADIUS: f64 = 132.0;
const CENTRE: [f64; 2] = [0.5 * WIDTH, RADIUS + 50.0];

/// Two clusters, as places on the ring, and what they share: the larger of the two directions.
struct Edge {
    ends: [usize; 2],
    share: f64,
}

/// The graph of the probabilities, or of the evidence where there are none.
pub(super) fn graph(soft: Option<&SoftPartition>, clusters: &Clusters) -> Option<Plot> {
    let mut ring: Vec<usize> = (0..clusters.shown.len()).collect();
    ring.sort_by_key(|&at| (Reverse(clusters.shown[at].size), at));
    ring.truncate(RING);
    ring.sort_unstable();
    let shares = match soft {
        Some(soft) => of_soft(soft, clusters)?,
        None => clusters.evidence.clone()?,
    };
    if ring.len() < 2 {
        return None;
    }
    let label = |place: usize| clusters.shown[ring[place]].label;
    let mut csv = "first,second,first_with_second,second_with_first\n".to_owned();
    let mut edges = Vec::new();
    for (a, b) in (0..ring.len()).flat_map(|a| (a + 1..ring.len()).map(move |b| (a, b))) {
        let (there, back) = (shares[[ring[a], ring[b]]], shares[[ring[b], ring[a]]]);
        let _ = writeln!(csv, "{},{},{there},{back}", label(a), label(b));
        let share = there.max(back);
        edges.push(Edge {
            ends: [a, b],
            share,
        });
    }
    let strongest = edges.iter().map(|edge| edge.share).fold(0.0, f64::max);
    edges.retain(|edge| edge.share >= LEAST.max(FAINT * strongest));
    edges.sort_by(|x, y| y.share.total_cmp(&x.share).then(x.ends.cmp(&y.ends)));
    edges.truncate(EDGES.min(2 * ring.len() + 4));
    let strongest = edges.first().map(|edge| {
        let [first, second] = edge.ends.map(|place| &clusters.shown[ring[place]].name);
        context! { first, second, share => edge.share }
    });
    let facts = context! { ring => ring.len(), soft => soft.is_some(), strongest };
    let svg = draw(&ring, &edges, clusters);
    Some(Plot::new("relations", svg, csv, facts))
}

/// The relation matrix of the clusters shown.
fn of_soft(soft: &SoftPartition, clusters: &Clusters) -> Option<Array2<f64>> {
    let k = soft.clusters().max(1);
    let most = (PRODUCTS / (k * k)).max(1_000);
    let found = if soft.objects() > most {
        let objects = sample(clusters, most).into_iter().map(|i| i as usize);
        let objects: Vec<usize> = objects.collect();
        let some = SoftPartition::new(soft.rows().select(Axis(0), &objects)).ok()?;
        relations(&some, 0.0).ok()?
    } else {
        relations(soft, 0.0).ok()?
    };
    let labels: Vec<usize> = clusters.shown.iter().map(|cluster| cluster.label).collect();
    Some(
        found
            .shares
            .select(Axis(0), &labels)
            .select(Axis(1), &labels),
    )
}

fn draw(ring: &[usize], edges: &[Edge], clusters: &Clusters) -> Svg {
    // Names beside the ring need room.
    let named = clusters.shown.iter().any(Cluster::named);
    let room = if named {
        8.0 * clusters.longest(NAME) as f64
    } else {
        0.0
    };
    let centre = [CENTRE[0] + room, CENTRE[1]];
    let turn = |at: usize| TAU * (at as f64 / ring.len() as f64 - 0.25);
    // Rings of few clusters do not reach down as far as up.
    let lowest = (0..ring.len())
        .map(|at| turn(at).sin())
        .fold(-1.0, f64::max);
    let mut svg = Svg::new(2.0 * centre[0], centre[1] + RADIUS * lowest + 50.0);
    let place = |at: usize| {
        let x = centre[0] + 1.25 * RADIUS * turn(at).cos();
        [x, centre[1] + RADIUS * turn(at).sin()]
    };
    // Lines bend towards the middle, so that they keep apart from the ring.
    let bend = |[p, q]: [[f64; 2]; 2]| [0, 1].map(|i| 0.3 * (p[i] + q[i]) + 0.4 * centre[i]);
    let most = edges.first().map_or(1.0, |edge| edge.share);
    for edge in edges.iter().rev() {
        let ends = edge.ends.map(place);
        let [[px, py], [bx, by], [qx, qy]] = [ends[0], bend(ends), ends[1]].map(|at| at.map(n));
        let width = n(1.0 + 9.0 * edge.share / most.max(0.25));
        svg.path(
            &format!("M{px} {py}Q{bx} {by} {qx} {qy}"),
            &format!("class=\"al\" fill=\"none\" stroke-opacity=\".4\" stroke-width=\"{width}\""),
        );
    }
    let mut taken: Vec<[f64; 2]> = Vec::new();
    for edge in edges.iter().take(NUMBERS) {
        let ends = edge.ends.map(place);
        let ([p, q], bend) = (ends, bend(ends));
        // A number goes where there is none yet; an edge without room for one has it in the CSV.
        for t in [0.5, 0.4, 0.6, 0.3, 0.7] {
            let s = 1.0 - t;
            let [x, y] = [0, 1].map(|i| s * s * p[i] + 2.0 * t * s * bend[i] + t * t * q[i]);
            let free = |o: &[f64; 2]| (o[0] - x).abs() >= 46.0 || (o[1] - y).abs() >= 19.0;
            if taken.iter().all(free) {
                svg.text([x, y + 4.0], "t halo", "middle", number(edge.share));
                taken.push([x, y]);
                break;
            }
        }
    }
    let sizes = ring.iter().map(|&at| clusters.shown[at].size);
    let largest = sizes.max().unwrap_or(1) as f64;
    for (at, &cluster) in ring.iter().enumerate() {
        let (cluster, [x, y]) = (&clusters.shown[cluster], place(at));
        let scale = 1.6 + 3.0 * (cluster.size as f64 / largest).sqrt();
        let class = format!("{} rim", colour(cluster.label));
        svg.marker(cluster.label, [x, y], scale, &class);
        let (dx, dy) = (x - centre[0], y - centre[1]);
        let out = (5.2 * scale + 12.0) / dx.hypot(dy).max(1.0);
        let beside = [x + dx * out, y + dy * out + 4.0];
        // A name beside the ring goes away from it.
        let anchor = match dx {
            dx if dx > 0.5 * RADIUS => "start",
            dx if dx < -0.5 * RADIUS => "end",
            _ => "middle",
        };
        let anchor = if cluster.named() { anchor } else { "middle" };
        svg.text(beside, "t big", anchor, cut(&cluster.name, NAME));
    }
    svg
}
