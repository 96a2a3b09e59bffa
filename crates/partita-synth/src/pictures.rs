//! Shapes in the plane.

use std::f64::consts::{PI, TAU};

use super::Uniform;

/// A picture made of separate figures.
pub(super) struct Shape {
    /// Size of each figure in proportion.
    pub(super) shares: &'static [f64],
    /// A point of a figure.
    pub(super) draw: fn(usize, Uniform<'_>) -> [f64; 2],
}

pub(super) fn shape(name: &str) -> Option<Shape> {
    Some(match name {
        "half-rings" => Shape { shares: &[1.0, 3.0], draw: half_rings },
        "rings" => {
            Shape { shares: &[1.0, 2.0, 3.0], draw: |ring, u| arc([0.0; 2], 1.0 + ring as f64, 0.2, [0.0, TAU], u) }
        }
        "spiral" => Shape { shares: &[1.0, 1.0], draw: spiral },
        "cigar" => Shape { shares: &[4.0, 4.0, 1.0, 1.0], draw: cigar },
        "bars" => Shape { shares: &[1.0, 1.0], draw: |bar, u| rectangle([1.2 * bar as f64, 0.0], [0.6, 4.0], u) },
        "stars" => Shape { shares: &[1.0, 1.0], draw: |at, u| star([2.6 * at as f64, 0.4 * at as f64], u) },
        "face" => Shape { shares: &[10.0, 1.0, 1.0, 3.0], draw: face },
        "image" => Shape { shares: &[1.0, 4.0, 2.0, 1.5, 1.5, 1.5, 2.0], draw: image },
        _ => return None,
    })
}

fn half_rings(ring: usize, u: Uniform<'_>) -> [f64; 2] {
    match ring {
        0 => arc([1.0, 0.4], 1.0, 0.2, [PI, TAU], u),
        _ => arc([0.0, 0.0], 1.0, 0.2, [0.0, PI], u),
    }
}

/// r = 1 + θ, from 0 to one and a half turns; the second arm is half a turn ahead. Points are even along the arm.
fn spiral(arm: usize, u: Uniform<'_>) -> [f64; 2] {
    let end = 1.0 + 3.0 * PI;
    // Arc length grows as r², near enough.
    let radius = (1.0 + u() * (end * end - 1.0)).sqrt();
    let angle = radius - 1.0 + PI * arm as f64;
    let across = 0.4 * (u() - 0.5);
    [(radius + across) * angle.cos(), (radius + across) * angle.sin()]
}

/// The means and deviations of the cigar data of Fred and Jain.
fn cigar(group: usize, u: Uniform<'_>) -> [f64; 2] {
    let (centre, spread) = match group {
        0 => ([0.0, -0.1], [0.1, 1.0]),
        1 => ([1.5, -0.1], [0.1, 1.0]),
        2 => ([0.0, -4.0], [0.1, 0.1]),
        _ => ([1.5, -4.0], [0.1, 0.1]),
    };
    let [a, b] = normals(u);
    [centre[0] + spread[0] * a, centre[1] + spread[1] * b]
}

fn face(part: usize, u: Uniform<'_>) -> [f64; 2] {
    match part {
        0 => arc([0.0, 0.0], 3.0, 0.3, [0.0, TAU], u),
        1 => arc([-1.0, 1.0], 0.0, 0.7, [0.0, TAU], u),
        2 => arc([1.0, 1.0], 0.0, 0.7, [0.0, TAU], u),
        _ => arc([0.0, 0.0], 1.6, 0.3, [1.15 * PI, 1.85 * PI], u),
    }
}

fn image(figure: usize, u: Uniform<'_>) -> [f64; 2] {
    match figure {
        0 => arc([0.0, 0.0], 0.0, 0.8, [0.0, TAU], u),
        1 => arc([0.0, 0.0], 1.6, 0.3, [0.0, TAU], u),
        2 => rectangle([3.5, 0.0], [1.4, 1.4], u),
        3 => triangle([-0.8, -4.4], [0.8, -4.4], [0.0, -3.0], u),
        4 => rectangle([0.0, 2.8], [4.0, 0.4], u),
        5 => arc([3.5, -3.2], 1.0, 0.3, [0.0, PI], u),
        _ if u() < 0.5 => rectangle([3.5, 2.8], [1.6, 0.4], u),
        _ => rectangle([3.5, 2.8], [0.4, 1.6], u),
    }
}

/// Even over the band of this width around an arc; a disc where the radius is 0.
fn arc(centre: [f64; 2], radius: f64, width: f64, angles: [f64; 2], u: Uniform<'_>) -> [f64; 2] {
    let (inner, outer) = if radius == 0.0 { (0.0, width / 2.0) } else { (radius - width / 2.0, radius + width / 2.0) };
    let r = (inner * inner + u() * (outer * outer - inner * inner)).sqrt();
    let angle = angles[0] + u() * (angles[1] - angles[0]);
    [centre[0] + r * angle.cos(), centre[1] + r * angle.sin()]
}

fn rectangle(centre: [f64; 2], sides: [f64; 2], u: Uniform<'_>) -> [f64; 2] {
    [centre[0] + sides[0] * (u() - 0.5), centre[1] + sides[1] * (u() - 0.5)]
}

fn triangle(a: [f64; 2], b: [f64; 2], c: [f64; 2], u: Uniform<'_>) -> [f64; 2] {
    let (mut s, mut t) = (u(), u());
    if s + t > 1.0 {
        (s, t) = (1.0 - s, 1.0 - t);
    }
    [0, 1].map(|d| a[d] + s * (b[d] - a[d]) + t * (c[d] - a[d]))
}

/// A star of five points: ten triangles around the centre, alternately to a point at 1 and a notch at 0.4.
fn star(centre: [f64; 2], u: Uniform<'_>) -> [f64; 2] {
    let corner = |at: usize| {
        let (radius, angle) = (if at.is_multiple_of(2) { 1.0 } else { 0.4 }, PI / 2.0 + PI / 5.0 * at as f64);
        [centre[0] + radius * angle.cos(), centre[1] + radius * angle.sin()]
    };
    let slice = (10.0 * u()) as usize;
    triangle(centre, corner(slice), corner(slice + 1), u)
}

/// Two independent standard normal numbers (Box and Muller).
pub(super) fn normals(u: Uniform<'_>) -> [f64; 2] {
    let radius = (-2.0 * (1.0 - u()).ln()).sqrt();
    let angle = TAU * u();
    [radius * angle.cos(), radius * angle.sin()]
}
