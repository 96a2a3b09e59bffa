//! K parts by cutting in two again and again.

use partita_core::Seed;

use super::bisect::bisect;
use super::fm::Bounds;
use super::graph::Hypergraph;
use super::{NetObjective, Stop};

/// What is still to be cut: some vertices into a range of parts.
struct Piece {
    vertices: Vec<u32>,
    graph: Hypergraph,
    /// The net of the whole hypergraph that each net was, and whether it has been cut already.
    nets: Vec<(u32, bool)>,
    parts: std::ops::Range<usize>,
}

/// Parts of a hypergraph of at least as many vertices, none of them empty and none above `most` as far as the vertices'
/// weights allow.
///
/// For [`NetObjective::Cut`] a net that is cut is done with. For [`NetObjective::Soed`] the first cut costs twice its weight,
/// every further one once; what is left of it stays on both sides. Nothing comes of it if somebody wants to stop.
pub(crate) fn recursive(
    graph: &Hypergraph,
    parts: usize,
    most: i64,
    objective: NetObjective,
    seed: Seed,
    stop: Stop<'_>,
) -> Option<Vec<u32>> {
    let mut labels = vec![0; graph.len()];
    let all: Vec<u32> = (0..graph.len() as u32).collect();
    let first = if objective == NetObjective::Soed {
        2
    } else {
        1
    };
    let (whole, origin) = graph.inside(&all, |net| Some(first * graph.net_weight(net)));
    let nets = origin.into_iter().map(|net| (net, false)).collect();
    let mut work = vec![Piece {
        vertices: all,
        graph: whole,
        nets,
        parts: 0..parts,
    }];
    while let Some(piece) = work.pop() {
        if piece.parts.len() <= 1 {
            piece
                .vertices
                .iter()
                .for_each(|&v| labels[v as usize] = piece.parts.start as u32);
            continue;
        }
        let middle = piece.parts.start + piece.parts.len() / 2;
        let ranges = [piece.parts.start..middle, middle..piece.parts.end];
        let bounds = bounds(&piece, most, [ranges[0].len(), ranges[1].len()]);
        let seed = seed.child((piece.parts.start * parts + piece.parts.len()) as u64);
        let mut side = bisect(&piece.graph, &bounds, seed, stop)?;
        enough(&mut side, bounds.least);
        for (s, range) in ranges.into_iter().enumerate() {
            work.push(inner(graph, &piece, &side, s == 1, range, objective));
        }
    }
    Some(labels)
}

/// What each side may weigh: its parts' share of the slack, spread over the cuts still to come.
fn bounds(piece: &Piece, most: i64, parts: [usize; 2]) -> Bounds {
    let total = piece.graph.total() as f64;
    let all = piece.parts.len() as f64;
    let cuts = f64::from(piece.parts.len().next_power_of_two().ilog2()).max(1.0);
    let slack = (most as f64 * all / total.max(1.0))
        .max(1.0)
        .powf(1.0 / cuts);
    let of = |parts: usize| {
        let share = (total * parts as f64 / all).ceil() as i64;
        let stretched = (total * parts as f64 / all * slack) as i64;
        // One part can be no heavier than `most`; several never need more than all of theirs.
        stretched.min(most.saturating_mul(parts as i64)).max(share)
    };
    Bounds {
        most: parts.map(of),
        least: parts,
    }
}

/// Moves vertices, last first, until either side has as many as it has parts.
fn enough(side: &mut [bool], least: [usize; 2]) {
    for (s, needed) in least.into_iter().enumerate() {
        let wanted = s == 1;
        let found = side.iter().filter(|&&side| side == wanted).count();
        let short = needed.saturating_sub(found);
        side.iter_mut()
            .rev()
            .filter(|side| **side != wanted)
            .take(short)
            .for_each(|side| *side = wanted);
    }
}

/// One side of a piece that was cut.
fn inner(
    graph: &Hypergraph,
    piece: &Piece,
    side: &[bool],
    wanted: bool,
    parts: std::ops::Range<usize>,
    objective: NetObjective,
) -> Piece {
    let kept: Vec<u32> = (0..piece.graph.len() as u32)
        .filter(|&v| side[v as usize] == wanted)
        .collect();
    let is_cut: Vec<bool> = (0..piece.graph.nets())
        .map(|net| {
            piece
                .graph
                .pins(net)
                .iter()
                .any(|&v| side[v as usize] != side[piece.graph.pins(net)[0] as usize])
        })
        .collect();
    let once_cut = |net: usize| piece.nets[net].1 || is_cut[net];
    let (inner, origin) = piece
        .graph
        .inside(&kept, |net| match (objective, once_cut(net)) {
            (_, false) => Some(piece.graph.net_weight(net)),
            (NetObjective::Cut, true) => None,
            (NetObjective::Soed, true) => Some(graph.net_weight(piece.nets[net].0 as usize)),
        });
    let nets = origin
        .into_iter()
        .map(|net| (piece.nets[net as usize].0, once_cut(net as usize)))
        .collect();
    let vertices = kept.iter().map(|&v| piece.vertices[v as usize]).collect();
    Piece {
        vertices,
        graph: inner,
        nets,
        parts,
    }
}
