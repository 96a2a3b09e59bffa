//! Figure: agreement of the base clusterings with each other.

use std::fmt::Write as _;

use partita_core::Ensemble;

use crate::agreement::Agreement;
use crate::axes::{Frame, Scale};
use crate::figure::Drawn;
use crate::png;
use crate::svg::Svg;
use crate::text::{count, cut, field, number, tick};

/// Colour of dark places in pictures of shares.
pub(crate) const SHADE: [u8; 3] = [0, 104, 170];

/// Agreement of every two base clusterings, and of each with the result on top.
pub(crate) fn matrix(ensemble: &Ensemble, agreement: &Agreement) -> Drawn {
    let drawn = &agreement.drawn;
    let (side, left, top) = (400.0, 16.0, 58.0);
    let mut svg = Svg::new(left + side + 90.0, top + side + 30.0);
    let shares = |values: Vec<f64>| -> Vec<f32> {
        values
            .into_iter()
            .map(|x| if x.is_finite() { x as f32 } else { 0.0 })
            .collect()
    };
    let result = shares(
        drawn
            .iter()
            .map(|&u| agreement.with_result[u as usize].nmi)
            .collect(),
    );
    let between = shares(agreement.between.iter().map(|alike| alike.nmi).collect());
    svg.text([left, top - 32.0], "m", "start", "with the result");
    svg.image(
        [left, top - 24.0, side, 14.0],
        &png::shares(drawn.len(), &result, SHADE),
    );
    svg.image(
        [left, top, side, side],
        &png::shares(drawn.len(), &between, SHADE),
    );
    for [x, y, width, height] in [[left, top - 24.0, side, 14.0], [left, top, side, side]] {
        svg.rect_with([x, y, width, height], "class=\"g\"");
    }
    svg.text(
        [left, top + side + 20.0],
        "m",
        "start",
        "← agree most with the result",
    );
    svg.text([left + side, top + side + 20.0], "m", "end", "least →");
    key(&mut svg, [left + side + 22.0, top], "NMI");
    let mut csv = "first,second,nmi,ari\n".to_owned();
    let name = |at: usize| field(ensemble.bases()[drawn[at] as usize].name());
    for (a, b) in (0..drawn.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
        let alike = agreement.between[[a, b]];
        let _ = writeln!(csv, "{},{},{},{}", name(b), name(a), alike.nmi, alike.ari);
    }
    let spread = agreement.diversity().map_or_else(String::new, |diversity| {
        format!(
            " Two of them share an NMI of {} on average.",
            number(1.0 - diversity)
        )
    });
    let alt = format!(
        "Matrix of the agreement among {} base clusterings.{spread}",
        drawn.len()
    );
    let note = note(ensemble, agreement);
    let title = "Agreement of the base clusterings".to_owned();
    Drawn {
        name: "base-agreement",
        title,
        alt,
        svg,
        csv,
        note,
        points: Vec::new(),
    }
}

/// A key for shades: dark is 1.
pub(crate) fn key(svg: &mut Svg, [x, y]: [f64; 2], name: &str) {
    let steps: Vec<f32> = (0..64).map(|at| 1.0 - at as f32 / 63.0).collect();
    svg.image([x, y, 14.0, 120.0], &png::shares(1, &steps, SHADE));
    svg.rect_with([x, y, 14.0, 120.0], "class=\"g\"");
    for (at, text) in [(0.0, "1"), (0.5, "0.5"), (1.0, "0")] {
        svg.text([x + 20.0, y + 4.0 + at * 120.0], "m", "start", text);
    }
    svg.text([x, y + 142.0], "m", "start", name);
}

fn note(ensemble: &Ensemble, agreement: &Agreement) -> String {
    let (bases, n) = (ensemble.bases().len(), ensemble.objects());
    let mut note = String::new();
    if agreement.drawn.len() < bases {
        let _ = write!(
            note,
            "{} of {} base clusterings, from all levels of agreement. ",
            agreement.drawn.len(),
            count(bases as i64)
        );
    }
    if agreement.objects_between < n {
        let _ = write!(
            note,
            "Measured on {} of the objects.",
            count(agreement.objects_between as i64)
        );
    }
    note
}

/// Every base clustering by its agreement with the others and with the result.
pub(crate) fn spread(ensemble: &Ensemble, agreement: &Agreement) -> Drawn {
    let (width, height) = (460.0, 340.0);
    let (mut svg, frame) = (Svg::new(width, height), Frame::new(width, height));
    let drawn = &agreement.drawn;
    let points: Vec<(f64, f64)> = (0..drawn.len())
        .map(|at| {
            (
                agreement.with_others(at),
                agreement.with_result[drawn[at] as usize].nmi,
            )
        })
        .collect();
    let x = Scale::over(points.iter().map(|p| p.0), frame.left, frame.right, 0.08);
    let y = Scale::over(points.iter().map(|p| p.1), frame.bottom, frame.top, 0.08);
    frame.draw_y(&mut svg, &y, "NMI with the result", tick);
    svg.open("class=\"a\" opacity=\".6\"");
    for &(others, result) in points.iter().filter(|p| p.0.is_finite() && p.1.is_finite()) {
        svg.marker(0, [x.at(others), y.at(result)], 0.9, "a");
    }
    svg.close();
    // The last ones disagree most; those that have room get their names.
    let mut named: Vec<[f64; 2]> = Vec::new();
    for at in (0..drawn.len())
        .rev()
        .take(4)
        .filter(|&at| points[at].0.is_finite() && points[at].1.is_finite())
    {
        let place = [x.at(points[at].0), y.at(points[at].1)];
        if named.iter().all(|other| {
            (other[1] - place[1]).abs() >= 22.0 || (other[0] - place[0]).abs() >= 240.0
        }) {
            let (anchor, shift) = if place[0] > 0.6 * width {
                ("end", -9.0)
            } else {
                ("start", 9.0)
            };
            let name = cut(ensemble.bases()[drawn[at] as usize].name(), 22);
            svg.text([place[0] + shift, place[1] + 4.0], "t halo", anchor, &name);
            named.push(place);
        }
    }
    frame.draw_x(
        &mut svg,
        &x,
        "mean NMI with the other base clusterings",
        &x.ticks(5),
    );
    let mut csv =
        "base_clustering,clusters,with_result_nmi,with_result_ari,with_others_nmi\n".to_owned();
    for (at, &u) in drawn.iter().enumerate() {
        let (base, alike) = (
            &ensemble.bases()[u as usize],
            agreement.with_result[u as usize],
        );
        let _ = writeln!(
            csv,
            "{},{},{},{},{}",
            field(base.name()),
            base.clusters(),
            alike.nmi,
            alike.ari,
            agreement.with_others(at)
        );
    }
    let last = drawn.last().map_or_else(String::new, |&u| {
        let (name, nmi) = (
            cut(ensemble.bases()[u as usize].name(), 40),
            agreement.with_result[u as usize].nmi,
        );
        format!(
            " '{name}' agrees least with the result, NMI {}.",
            number(nmi)
        )
    });
    let alt = format!(
        "{} base clusterings by their agreement with each other and with the result.{last}",
        drawn.len()
    );
    let title = "Which base clusterings disagree".to_owned();
    Drawn {
        name: "base-spread",
        title,
        alt,
        svg,
        csv,
        note: note(ensemble, agreement),
        points: Vec::new(),
    }
}
