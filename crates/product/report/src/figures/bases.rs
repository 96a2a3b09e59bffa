//! Figure: which base clusterings disagree.

use std::fmt::Write as _;

use minijinja::context;
use partita_core::Ensemble;

use super::Plot;
use crate::agreement::Agreement;
use crate::axes::{Frame, Scale};
use crate::svg::Svg;
use crate::text::{cut, field, tick};

/// Every base clustering by its agreement with the others and with the result.
pub(super) fn spread(ensemble: &Ensemble, agreement: &Agreement) -> Plot {
    let (mut svg, frame) = Frame::new(460.0, 340.0);
    let drawn = &agreement.drawn;
    let mut csv =
        "base_clustering,clusters,with_result_nmi,with_result_ari,with_others_nmi\n".to_owned();
    let mut points: Vec<[f64; 2]> = Vec::new();
    for (at, &u) in drawn.iter().enumerate() {
        let base = &ensemble.bases()[u as usize];
        let alike = agreement.with_result[u as usize];
        let others = agreement.with_others(at);
        points.push([others, alike.nmi]);
        let _ = writeln!(
            csv,
            "{},{},{},{},{others}",
            field(base.name()),
            base.clusters(),
            alike.nmi,
            alike.ari,
        );
    }
    let x = Scale::over(points.iter().map(|p| p[0]), frame.left, frame.right, 0.08);
    let y = Scale::over(points.iter().map(|p| p[1]), frame.bottom, frame.top, 0.08);
    frame.draw_y(&mut svg, &y, "NMI with the result", tick);
    let there = |at: &usize| points[*at].iter().all(|nmi| nmi.is_finite());
    let place = |at: usize| [x.at(points[at][0]), y.at(points[at][1])];
    svg.open("class=\"a\" opacity=\".6\"");
    for at in (0..drawn.len()).filter(there) {
        svg.marker(0, place(at), 0.9, "a");
    }
    svg.close();
    names(
        &mut svg,
        (0..drawn.len()).rev().take(4).filter(there).map(|at| {
            (
                place(at),
                cut(ensemble.bases()[drawn[at] as usize].name(), 22),
            )
        }),
    );
    frame.draw_x(
        &mut svg,
        &x,
        "mean NMI with the other base clusterings",
        &x.ticks(5),
    );
    let last = drawn.last().map(|&u| {
        context! { name => ensemble.bases()[u as usize].name(), nmi => agreement.with_result[u as usize].nmi }
    });
    let facts = context! { last, ..agreement.facts(ensemble) };
    Plot::new("base-spread", svg, csv, facts)
}

/// The last ones disagree most; those that have room get their names.
fn names(svg: &mut Svg, last: impl Iterator<Item = ([f64; 2], String)>) {
    let mut named: Vec<[f64; 2]> = Vec::new();
    for (place, name) in last {
        let free = |other: &[f64; 2]| {
            (other[1] - place[1]).abs() >= 22.0 || (other[0] - place[0]).abs() >= 240.0
        };
        if named.iter().all(free) {
            let [x, y] = place;
            let right = x > 0.6 * svg.width();
            let (anchor, shift) = if right { ("end", -9.0) } else { ("start", 9.0) };
            svg.text([x + shift, y + 4.0], "t halo", anchor, name);
            named.push(place);
        }
    }
}
