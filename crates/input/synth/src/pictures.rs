//! Pictures in the plane made of separate figures, after data sets of papers on consensus clustering.

use std::f64::consts::{PI, TAU};

use crate::draw::{Uniform, arc, normals, rectangle, triangle};
use crate::family::{Family, Group, Recipe};

/// Figures with their sizes in proportion.
fn picture(shares: &[f64], draw: fn(usize, Uniform<'_>) -> [f64; 2]) -> Recipe {
    let draw = move |figure: usize, u: Uniform<'_>| draw(figure, u).to_vec();
    Recipe {
        shares: shares.to_vec(),
        draw: Box::new(draw),
        posterior: None,
        noise: false,
    }
}

pub(crate) const PICTURES: &[Family] = &[
    Family::new("half-rings", Group::Arcs, 400).about("two interlocking half rings, one three times as dense (2 clusters)").drawn(|_| picture(&[1.0, 3.0], half_rings)),
    Family::new("rings", Group::Rings, 600).about("three rings around one centre, equally dense (3 clusters)").drawn(|_| {
            picture(&[1.0, 2.0, 3.0], |ring, u| {
                arc([0.0; 2], 1.0 + ring as f64, 0.2, [0.0, TAU], u)
            })
        }),
    Family::new("spiral", Group::Spirals, 200).about("two interlocking spirals (2 clusters)").drawn(|_| picture(&[1.0, 1.0], spiral)),
    Family::new("cigar", Group::Anisotropic, 250).about("two long thin groups beside each other and two small ones below (4 clusters)").drawn(|_| picture(&[4.0, 4.0, 1.0, 1.0], cigar)),
    Family::new("bars", Group::Stripes, 400).about("two long bars beside each other (2 clusters)").drawn(|_| {
            picture(&[1.0, 1.0], |bar, u| {
                rectangle([1.2 * bar as f64, 0.0], [0.6, 4.0], u)
            })
        }),
    Family::new("stars", Group::Pictures, 114).about("two five-pointed stars (2 clusters)").drawn(|_| {
            picture(&[1.0, 1.0], |at, u| {
                star([2.6 * at as f64, 0.4 * at as f64], u)
            })
        }),
    Family::new("face", Group::Pictures, 500).about("a face: outline, two eyes, mouth (4 clusters)").drawn(|_| picture(&[10.0, 1.0, 1.0, 3.0], face)),
    Family::new("smiling-face", Group::Pictures, 1000).about("a smiling face with a nose and Gaussian eyes, after the large sets of the U-SPEC paper (5 clusters)").drawn(|_| picture(&[10.0, 2.0, 2.0, 1.0, 4.0], smiling_face)),
    Family::new("image", Group::Pictures, 739).about("a picture of seven figures: disc in a ring, square, triangle, bar, arc, cross (7 clusters)").drawn(|_| picture(&[1.0, 4.0, 2.0, 1.5, 1.5, 1.5, 2.0], image)),
];

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
    [
        (radius + across) * angle.cos(),
        (radius + across) * angle.sin(),
    ]
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

fn smiling_face(part: usize, u: Uniform<'_>) -> [f64; 2] {
    match part {
        0 => arc([0.0, 0.0], 3.0, 0.4, [0.0, TAU], u),
        1 | 2 => {
            let [a, b] = normals(u);
            [
                if part == 1 { -1.1 } else { 1.1 } + 0.14 * a,
                1.0 + 0.14 * b,
            ]
        }
        3 => triangle([-0.35, -0.3], [0.35, -0.3], [0.0, 0.5], u),
        _ => arc([0.0, 0.2], 1.7, 0.35, [1.15 * PI, 1.85 * PI], u),
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

/// A star of five points: ten triangles around the centre, alternately to a point at 1 and a notch at 0.4.
fn star(centre: [f64; 2], u: Uniform<'_>) -> [f64; 2] {
    let corner = |at: usize| {
        let (radius, angle) = (
            if at.is_multiple_of(2) { 1.0 } else { 0.4 },
            PI / 2.0 + PI / 5.0 * at as f64,
        );
        [
            centre[0] + radius * angle.cos(),
            centre[1] + radius * angle.sin(),
        ]
    };
    let slice = (10.0 * u()) as usize;
    triangle(centre, corner(slice), corner(slice + 1), u)
}
