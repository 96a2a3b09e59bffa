//! Clusters that a bridge connects, clusters among noise, pictures of several shapes, and tables without clusters.

use std::f64::consts::PI;

use super::curves::{moons, spirals};
use super::gaussians::AROUND;
use crate::draw::{Part, band, blob, curve, even, long_blob};
use crate::family::{Family, Group, Recipe};

fn shares(parts: Vec<Part>) -> Recipe {
    Recipe::of(parts.into_iter().map(|part| (1.0, part)).collect())
}

/// A blob of which a share stands on a line towards the right.
fn blob_with_bridge(centre: [f64; 2], to: [f64; 2], share: f64) -> Part {
    let (body, line) = (
        blob(centre.to_vec(), 1.0),
        curve(
            move |t| {
                (0..2)
                    .map(|d| centre[d] + t * (to[d] - centre[d]))
                    .collect()
            },
            0.08,
        ),
    );
    Box::new(move |u| if u() < share { line(u) } else { body(u) })
}

pub(crate) const MIXED: &[Family] = &[
    Family::new("bridge-2", Group::Bridges, 400)
        .about("2 Gaussians with a thin bridge")
        .drawn(|_| {
            shares(vec![
                blob_with_bridge([0.0, 0.0], [5.0, 0.0], 0.06),
                blob_with_bridge([10.0, 0.0], [5.0, 0.0], 0.06),
            ])
        }),
    Family::new("bridge-4", Group::Bridges, 800)
        .about("4 Gaussians in a row with thin bridges")
        .drawn(|_| {
            let part = |at: usize| {
                let x = 9.0 * at as f64;
                blob_with_bridge(
                    [x, 0.0],
                    [x + if at < 3 { 9.0 } else { 0.0 }, 0.0],
                    if at < 3 { 0.06 } else { 0.0 },
                )
            };
            shares((0..4).map(part).collect())
        }),
    Family::new("bridge-rings", Group::Bridges, 500)
        .about("2 rings that a thin bridge connects")
        .drawn(|_| {
            let ring = band([0.0; 2], 1.0, 0.25, AROUND);
            let line = even(vec![1.4, 0.0], vec![0.7, 0.04]);
            let left: Part = Box::new(move |u| if u() < 0.03 { line(u) } else { ring(u) });
            shares(vec![left, band([2.9, 0.0], 1.0, 0.25, AROUND)])
        }),
    Family::new("bridge-3-5d", Group::Bridges, 450)
        .about("3 Gaussians in 5 dimensions, a few objects between two of them")
        .drawn(|_| {
            let at = |x: f64, y: f64| vec![x, y, 0.0, 0.0, 0.0];
            let body = blob(at(0.0, 0.0), 1.0);
            let between = blob(at(3.5, 0.0), 0.6);
            let first: Part = Box::new(move |u| if u() < 0.06 { between(u) } else { body(u) });
            shares(vec![
                first,
                blob(at(7.0, 0.0), 1.0),
                blob(at(2.0, 8.0), 1.0),
            ])
        }),
    Family::new("noise-blobs", Group::Noise, 500)
        .about("4 Gaussians, a tenth of the objects anywhere")
        .drawn(|_| {
            let centres = [[-5.0, -5.0], [5.0, -4.0], [-4.0, 5.0], [5.0, 5.0]];
            shares(centres.map(|centre| blob(centre.to_vec(), 1.0)).into()).with_noise(
                0.1,
                &[-9.0, -9.0],
                &[9.0, 9.0],
            )
        }),
    Family::new("noise-moons", Group::Noise, 500)
        .about("2 moons, a tenth of the objects anywhere")
        .drawn(|_| shares(moons(0.06)).with_noise(0.1, &[-1.5, -1.2], &[2.5, 1.7])),
    Family::new("noise-rings", Group::Noise, 600)
        .about("a ring around a Gaussian, 8 % of the objects anywhere")
        .drawn(|_| {
            let parts = vec![
                (1.0, blob(vec![0.0; 2], 0.35)),
                (2.0, band([0.0; 2], 2.4, 0.3, AROUND)),
            ];
            Recipe::of(parts).with_noise(0.08, &[-3.5, -3.5], &[3.5, 3.5])
        }),
    Family::new("noise-spirals", Group::Noise, 600)
        .about("2 spirals, 5 % of the objects anywhere")
        .drawn(|_| shares(spirals(2, 0.4, 1.2, 0.03)).with_noise(0.05, &[-2.0, -2.0], &[2.0, 2.0])),
    Family::new("noise-blobs-8d", Group::Noise, 600)
        .about("5 Gaussians in 8 dimensions, a tenth of the objects anywhere")
        .drawn(|u| {
            let parts = crate::draw::close_centres(5, 8, 7.0, u)
                .into_iter()
                .map(|centre| blob(centre, 1.0))
                .collect();
            shares(parts).with_noise(0.1, &[-12.0; 8], &[12.0; 8])
        }),
    Family::new("unscaled-moons", Group::Unscaled, 400)
        .about("2 moons, the second column 50 times as large")
        .drawn(|_| shares(moons(0.06)).scaled(vec![1.0, 50.0])),
    Family::new("unscaled-rings", Group::Unscaled, 400)
        .about("a ring around a Gaussian, the first column 30 times as large")
        .drawn(|_| {
            let parts = vec![
                (1.0, blob(vec![0.0; 2], 0.3)),
                (2.0, band([0.0; 2], 2.0, 0.3, AROUND)),
            ];
            Recipe::of(parts).scaled(vec![30.0, 1.0])
        }),
    Family::new("figures-3", Group::Pictures, 450)
        .about("a ring, a Gaussian and a bar")
        .drawn(|_| {
            shares(vec![
                band([0.0; 2], 2.0, 0.4, AROUND),
                blob(vec![6.0, 1.0], 0.8),
                even(vec![3.0, -4.0], vec![8.0, 0.8]),
            ])
        }),
    Family::new("figures-7", Group::Pictures, 788)
        .about("7 groups of different size, some of which nearly touch")
        .drawn(|_| {
            Recipe::of(vec![
                (1.7, long_blob([5.0, 8.0], [1.2, 0.8], 0.4)),
                (2.7, blob(vec![12.0, 8.5], 1.3)),
                (1.3, blob(vec![16.2, 6.5], 0.7)),
                (1.0, blob(vec![5.0, 2.0], 0.7)),
                (3.4, blob(vec![12.0, 1.0], 1.4)),
                (0.45, blob(vec![16.2, 9.9], 0.35)),
                (0.35, blob(vec![7.7, 2.0], 0.35)),
            ])
        }),
    Family::new("figures-4", Group::Pictures, 700)
        .about("a spiral arm, a moon, a Gaussian and a stripe")
        .drawn(|_| {
            shares(vec![
                crate::draw::spiral_arm(0.4, 1.0, 0.0, 0.05),
                band([4.0, 0.0], 1.2, 0.3, [0.0, PI]),
                blob(vec![4.0, -1.0], 0.35),
                even(vec![1.5, -2.8], vec![6.0, 0.4]),
            ])
        }),
    Family::new("letter-t", Group::Pictures, 300)
        .about("a bar above another that stands")
        .drawn(|_| {
            shares(vec![
                even(vec![0.0, 2.6], vec![4.0, 0.5]),
                even(vec![0.0, 0.0], vec![0.5, 4.0]),
            ])
        }),
    Family::new("triangle-3", Group::Pictures, 400)
        .about("3 groups on a line, of which two are close")
        .drawn(|_| {
            shares(vec![
                blob(vec![0.0, 0.0], 0.5),
                blob(vec![2.4, 0.0], 0.5),
                long_blob([8.0, 0.0], [0.5, 2.0], 0.0),
            ])
        }),
    Family::new("one-square", Group::One, 200)
        .about("an even square")
        .drawn(|_| shares(vec![even(vec![0.0; 2], vec![1.0; 2])])),
    Family::new("one-box-5d", Group::One, 300)
        .about("an even box in 5 dimensions")
        .drawn(|_| shares(vec![even(vec![0.0; 5], vec![1.0; 5])])),
    Family::new("one-stripe", Group::One, 250)
        .about("an even stripe, 5 times as long as wide")
        .drawn(|_| shares(vec![even(vec![0.0; 2], vec![5.0, 1.0])])),
    Family::new("one-disc", Group::One, 400)
        .about("an even disc")
        .drawn(|_| shares(vec![band([0.0; 2], 0.0, 2.0, AROUND)])),
];
