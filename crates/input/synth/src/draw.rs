//! Points drawn from figures: Gaussians, arcs, rectangles, curves.

use std::f64::consts::TAU;

/// Uniform numbers in [0, 1), one a call.
pub(crate) type Uniform<'a> = &'a mut dyn FnMut() -> f64;

/// A point of one part.
pub(crate) type Part = Box<dyn Fn(Uniform<'_>) -> Vec<f64>>;

/// Even over the band of this width around an arc; a disc where the radius is 0.
pub(crate) fn arc(
    centre: [f64; 2],
    radius: f64,
    width: f64,
    angles: [f64; 2],
    u: Uniform<'_>,
) -> [f64; 2] {
    let (inner, outer) = if radius == 0.0 {
        (0.0, width / 2.0)
    } else {
        (radius - width / 2.0, radius + width / 2.0)
    };
    let r = (inner * inner + u() * (outer * outer - inner * inner)).sqrt();
    let angle = angles[0] + u() * (angles[1] - angles[0]);
    [centre[0] + r * angle.cos(), centre[1] + r * angle.sin()]
}

pub(crate) fn rectangle(centre: [f64; 2], sides: [f64; 2], u: Uniform<'_>) -> [f64; 2] {
    [
        centre[0] + sides[0] * (u() - 0.5),
        centre[1] + sides[1] * (u() - 0.5),
    ]
}

pub(crate) fn triangle(a: [f64; 2], b: [f64; 2], c: [f64; 2], u: Uniform<'_>) -> [f64; 2] {
    let mut s = u();
    let mut t = u();
    if s + t > 1.0 {
        (s, t) = (1.0 - s, 1.0 - t);
    }
    [0, 1].map(|d| a[d] + s * (b[d] - a[d]) + t * (c[d] - a[d]))
}

/// Two independent standard normal numbers (Box and Muller).
pub(crate) fn normals(u: Uniform<'_>) -> [f64; 2] {
    let radius = (-2.0 * (1.0 - u()).ln()).sqrt();
    let angle = TAU * u();
    [radius * angle.cos(), radius * angle.sin()]
}

/// Standard normal numbers, so many.
pub(crate) fn noise(dimensions: usize, u: Uniform<'_>) -> Vec<f64> {
    let mut noise: Vec<f64> = (0..dimensions.div_ceil(2))
        .flat_map(|_| normals(u))
        .collect();
    noise.truncate(dimensions);
    noise
}

/// A round Gaussian.
pub(crate) fn blob(centre: Vec<f64>, deviation: f64) -> Part {
    Box::new(move |u| {
        noise(centre.len(), u)
            .iter()
            .zip(&centre)
            .map(|(x, mean)| mean + deviation * x)
            .collect()
    })
}

/// A Gaussian in the plane with these deviations, turned.
pub(crate) fn long_blob(centre: [f64; 2], deviations: [f64; 2], angle: f64) -> Part {
    let (sin, cos) = angle.sin_cos();
    Box::new(move |u| {
        let [a, b] = normals(u);
        let a = a * deviations[0];
        let b = b * deviations[1];
        vec![centre[0] + cos * a - sin * b, centre[1] + sin * a + cos * b]
    })
}

/// Even over a band around an arc.
pub(crate) fn band(centre: [f64; 2], radius: f64, width: f64, angles: [f64; 2]) -> Part {
    Box::new(move |u| arc(centre, radius, width, angles, u).into())
}

/// Even over a box.
pub(crate) fn even(centre: Vec<f64>, sides: Vec<f64>) -> Part {
    Box::new(move |u| {
        centre
            .iter()
            .zip(&sides)
            .map(|(c, side)| c + side * (u() - 0.5))
            .collect()
    })
}

/// Along a curve t ↦ point for t in [0, 1), with Gaussian noise.
pub(crate) fn curve(at: impl Fn(f64) -> Vec<f64> + 'static, deviation: f64) -> Part {
    Box::new(move |u| {
        let point = at(u());
        let noise = noise(point.len(), u);
        point
            .iter()
            .zip(noise)
            .map(|(x, e)| x + deviation * e)
            .collect()
    })
}

/// An arm of a spiral that starts at this radius and angle, even along the arm.
pub(crate) fn spiral_arm(start: f64, turns: f64, phase: f64, deviation: f64) -> Part {
    let end = start + turns;
    curve(
        move |t| {
            let r = (start * start + t * (end * end - start * start)).sqrt();
            let angle = TAU * r + phase;
            vec![r * angle.cos(), r * angle.sin()]
        },
        deviation,
    )
}

/// Centres drawn in a cube that grows until all are at least `separation` apart.
pub(crate) fn centres(
    clusters: usize,
    dimensions: usize,
    separation: f64,
    u: Uniform<'_>,
) -> Vec<Vec<f64>> {
    let mut half = separation.max(1.0);
    let mut centres: Vec<Vec<f64>> = Vec::new();
    while centres.len() < clusters {
        let centre: Vec<f64> = (0..dimensions).map(|_| half * (2.0 * u() - 1.0)).collect();
        let far = |other: &Vec<f64>| {
            let square: f64 = other
                .iter()
                .zip(&centre)
                .map(|(a, b)| (a - b) * (a - b))
                .sum();
            square >= separation * separation
        };
        if centres.iter().all(far) {
            centres.push(centre);
        } else {
            half *= 1.02;
        }
    }
    centres
}

/// Centres in a tight cube: the nearest of two are exactly `separation` apart.
pub(crate) fn close_centres(
    clusters: usize,
    dimensions: usize,
    separation: f64,
    u: Uniform<'_>,
) -> Vec<Vec<f64>> {
    let mut centres: Vec<Vec<f64>> = (0..clusters)
        .map(|_| (0..dimensions).map(|_| 2.0 * u() - 1.0).collect())
        .collect();
    let square =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let pairs = (0..clusters).flat_map(|a| (0..a).map(move |b| (a, b)));
    let least = pairs
        .map(|(a, b)| square(&centres[a], &centres[b]))
        .fold(f64::INFINITY, f64::min)
        .sqrt();
    let factor = if least > 0.0 && least.is_finite() {
        separation / least
    } else {
        separation
    };
    centres.iter_mut().flatten().for_each(|x| *x *= factor);
    centres
}
