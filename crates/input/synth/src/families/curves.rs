//! Long and nested shapes: rings, arcs, spirals, stripes, curves in three dimensions.

use std::f64::consts::{PI, TAU};

use super::gaussians::AROUND;
use crate::draw::{Part, Uniform, band, blob, curve, even, spiral_arm};
use crate::family::{Family, Group, Recipe};

fn equal(parts: Vec<Part>) -> Recipe {
    Recipe::of(parts.into_iter().map(|part| (1.0, part)).collect())
}

/// Two moons with Gaussian noise.
pub(super) fn moons(deviation: f64) -> Vec<Part> {
    vec![
        curve(|t| vec![(PI * t).cos(), (PI * t).sin()], deviation),
        curve(
            |t| vec![1.0 - (PI * t).cos(), 0.5 - (PI * t).sin()],
            deviation,
        ),
    ]
}

/// Arms of a spiral, evenly turned.
pub(super) fn spirals(arms: usize, start: f64, turns: f64, deviation: f64) -> Vec<Part> {
    (0..arms)
        .map(|arm| spiral_arm(start, turns, TAU * arm as f64 / arms as f64, deviation))
        .collect()
}

/// A square's outline.
fn square(half: f64, deviation: f64) -> Part {
    curve(
        move |t| {
            let side = (4.0 * t) as usize;
            let at = (4.0 * t).fract() * 2.0 - 1.0;
            match side {
                0 => vec![half * at, -half],
                1 => vec![half, half * at],
                2 => vec![-half * at, half],
                _ => vec![-half, -half * at],
            }
        },
        deviation,
    )
}

fn helix(radius: f64, turns: f64, phase: f64, deviation: f64) -> Part {
    curve(
        move |t| {
            let angle = TAU * turns * t + phase;
            vec![radius * angle.cos(), radius * angle.sin(), 6.0 * t]
        },
        deviation,
    )
}

/// Waves above each other.
fn waves(count: usize, gap: f64, deviation: f64) -> Recipe {
    let wave = |at: usize| {
        curve(
            move |t| vec![10.0 * t, gap * at as f64 + (TAU * 1.5 * t).sin()],
            deviation,
        )
    };
    equal((0..count).map(wave).collect())
}

/// Parallel stripes, turned by chance.
fn stripes(count: usize, gap: f64, width: f64, shares: &[f64], u: Uniform<'_>) -> Recipe {
    let (sin, cos) = (PI * u()).sin_cos();
    let stripe = |at: usize| {
        let flat = even(vec![0.0, gap * at as f64], vec![10.0, width]);
        let part: Part = Box::new(move |u| {
            let point = flat(u);
            vec![
                cos * point[0] - sin * point[1],
                sin * point[0] + cos * point[1],
            ]
        });
        (shares[at % shares.len()], part)
    };
    Recipe::of((0..count).map(stripe).collect())
}

pub(crate) const CURVES: &[Family] = &[
    Family::new("rings-2", Group::Rings, 400).about("2 rings around one centre").drawn(|_| {
            equal(vec![
                band([0.0; 2], 1.0, 0.3, AROUND),
                band([0.0; 2], 2.2, 0.3, AROUND),
            ])
        }),
    Family::new("rings-4", Group::Rings, 1200).about("4 rings around one centre").drawn(|_| {
            Recipe::of(
                (1..=4)
                    .map(|r| (f64::from(r), band([0.0; 2], f64::from(r), 0.25, AROUND)))
                    .collect(),
            )
        }),
    Family::new("ring-disc", Group::Rings, 300).about("a Gaussian inside a ring").drawn(|_| {
            Recipe::of(vec![
                (1.0, blob(vec![0.0; 2], 0.35)),
                (2.0, band([0.0; 2], 2.2, 0.4, AROUND)),
            ])
        }),
    Family::new("ring-disc-dense", Group::UnequalDensity, 600).about("a dense Gaussian inside a sparse wide ring").drawn(|_| {
            Recipe::of(vec![
                (2.0, blob(vec![0.0; 2], 0.2)),
                (1.0, band([0.0; 2], 2.5, 1.5, AROUND)),
            ])
        }),
    Family::new("rings-beside", Group::Rings, 500).about("2 rings side by side").drawn(|_| {
            equal(vec![
                band([0.0; 2], 1.0, 0.2, AROUND),
                band([2.6, 0.3], 1.0, 0.2, AROUND),
            ])
        }),
    Family::new("rings-linked", Group::Rings, 600).about("2 rings linked in 3 dimensions").drawn(|_| {
            equal(vec![
                curve(|t| vec![(TAU * t).cos(), (TAU * t).sin(), 0.0], 0.06),
                curve(|t| vec![1.0 + (TAU * t).cos(), 0.0, (TAU * t).sin()], 0.06),
            ])
        }),
    Family::new("circles-gaussians", Group::Rings, 2200).about("3 circles around one centre among 8 Gaussians, after the large sets of the U-SPEC paper").drawn(|_| {
            let circles =
                (1..=3).map(|r| (f64::from(r), band([0.0; 2], f64::from(r), 0.3, AROUND)));
            let gaussian = |at: usize| {
                let (sin, cos) = (TAU * at as f64 / 8.0).sin_cos();
                (1.0, blob(vec![5.0 * cos, 5.0 * sin], 0.3))
            };
            Recipe::of(circles.chain((0..8).map(gaussian)).collect())
        }),
    Family::new("squares-nested", Group::Rings, 500).about("a square inside a square").drawn(|_| Recipe::of(vec![(1.0, square(1.0, 0.07)), (2.0, square(2.2, 0.07))])),
    Family::new("moons", Group::Arcs, 300).about("2 moons, noise 0.05").drawn(|_| {
        equal(moons(0.05))
    }),
    Family::new("moons-noisy", Group::Arcs, 500).about("2 moons, noise 0.12").drawn(|_| equal(moons(0.12))),
    Family::new("moons-4", Group::Arcs, 800).about("2 pairs of moons").drawn(|_| {
        let mut parts = moons(0.07);
        let beside = |part: Part| -> Part {
            Box::new(move |u| {
                part(u)
                    .iter()
                    .zip([4.0, 0.8])
                    .map(|(x, by)| x + by)
                    .collect()
            })
        };
        parts.extend(moons(0.07).into_iter().map(beside));
        equal(parts)
    }),
    Family::new("arcs-nested", Group::Arcs, 450).about("3 half arcs inside each other").drawn(|_| {
            equal(
                (1..=3)
                    .map(|r| band([0.0; 2], f64::from(r), 0.3, [0.0, PI]))
                    .collect(),
            )
        }),
    Family::new("arcs-crossing", Group::Arcs, 400).about("2 half arcs that reach into each other").drawn(|_| {
            equal(vec![
                band([0.0, 0.0], 1.0, 0.15, [0.0, PI]),
                band([0.9, 0.35], 1.0, 0.15, [PI, TAU]),
            ])
        }),
    Family::new("two-bananas", Group::Arcs, 1000).about("2 bananas that face each other, after the large sets of the U-SPEC paper").drawn(|_| {
            let half = |t: f64| (PI * t).sin_cos();
            equal(vec![
                curve(move |t| vec![2.0 * half(t).1, 2.0 * half(t).0], 0.18),
                curve(
                    move |t| vec![2.0 - 2.0 * half(t).1, 0.9 - 2.0 * half(t).0],
                    0.18,
                ),
            ])
        }),
    Family::new("horseshoe", Group::Arcs, 240).about("a disc in a horseshoe").drawn(|_| {
            Recipe::of(vec![
                (1.0, band([0.0, 0.6], 0.0, 1.6, AROUND)),
                (2.0, band([0.0, 0.0], 2.0, 0.8, [PI, TAU])),
            ])
        }),
    Family::new("flame", Group::Arcs, 240).about("a disc close above a wide bowl, few objects").drawn(|_| {
            Recipe::of(vec![
                (1.0, band([0.0, 1.0], 0.0, 2.2, AROUND)),
                (1.6, band([0.0, 1.2], 2.4, 1.2, [1.05 * PI, 1.95 * PI])),
            ])
        }),
    Family::new("spirals-2", Group::Spirals, 500).about("2 spirals, 2 turns").drawn(|_| equal(spirals(2, 0.3, 2.0, 0.04))),
    Family::new("spirals-3", Group::Spirals, 450).about("3 spirals, 1 turn").drawn(|_| equal(spirals(3, 0.3, 1.0, 0.03))),
    Family::new("spirals-5", Group::Spirals, 1000).about("5 arms of a spiral, half a turn").drawn(|_| equal(spirals(5, 0.4, 0.6, 0.03))),
    Family::new("spirals-noisy", Group::Spirals, 600).about("2 spirals, 1 turn and a half, noisy").drawn(|_| equal(spirals(2, 0.3, 1.5, 0.08))),
    Family::new("spiral-disc", Group::Spirals, 500).about("a spiral around a disc").drawn(|_| {
            Recipe::of(vec![
                (1.0, band([0.0; 2], 0.0, 0.8, AROUND)),
                (3.0, spiral_arm(1.0, 1.2, 0.0, 0.06)),
            ])
        }),
    Family::new("stripes-3", Group::Stripes, 450).about("3 stripes").drawn(|u| {
        stripes(3, 2.0, 0.8, &[1.0], u)
    }),
    Family::new("stripes-5", Group::Stripes, 1000).about("5 stripes").drawn(|u| {
        stripes(5, 1.5, 0.6, &[1.0], u)
    }),
    Family::new("stripes-unequal", Group::Stripes, 600).about("4 stripes, every second one sparse").drawn(|u| stripes(4, 2.0, 0.8, &[3.0, 1.0], u)),
    Family::new("waves-2", Group::Stripes, 400).about("2 waves").drawn(|_| {
        waves(2, 1.5, 0.1)
    }),
    Family::new("waves-4", Group::Stripes, 1000).about("4 waves").drawn(|_| {
        waves(4, 1.3, 0.08)
    }),
    Family::new("helices-2", Group::Chains, 500).about("2 helices around one axis").drawn(|_| equal(vec![helix(1.0, 2.0, 0.0, 0.07), helix(1.0, 2.0, PI, 0.07)])),
    Family::new("helix-axis", Group::Chains, 400).about("a helix around a line").drawn(|_| {
            equal(vec![
                helix(1.0, 2.5, 0.0, 0.08),
                curve(|t| vec![0.0, 0.0, 6.0 * t], 0.1),
            ])
        }),
    Family::new("chains-3", Group::Chains, 600).about("3 bent curves in 3 dimensions").drawn(|u| {
            let chain = |at: usize| {
                let phase = [TAU * u(), TAU * u()];
                let offset = 2.5 * at as f64;
                curve(
                    move |t| {
                        vec![
                            8.0 * t,
                            offset + (4.0 * t + phase[0]).sin(),
                            (5.0 * t + phase[1]).cos(),
                        ]
                    },
                    0.12,
                )
            };
            equal((0..3).map(chain).collect())
        }),
    Family::new("sheets-2", Group::Chains, 800).about("2 bent sheets above each other").drawn(|_| {
            let sheet = |height: f64| -> Part {
                Box::new(move |u| {
                    let x = 6.0 * u();
                    let y = 3.0 * u();
                    vec![x, y, height + x.sin() + 0.1 * u()]
                })
            };
            equal(vec![sheet(0.0), sheet(1.1)])
        }),
    Family::new("rolls-2", Group::Chains, 1000).about("2 sheets rolled into each other").drawn(|_| {
            let arms = spirals(2, 0.5, 0.9, 0.03);
            let roll =
                |arm: Part| -> Part { Box::new(move |u| [arm(u), vec![1.5 * u()]].concat()) };
            equal(arms.into_iter().map(roll).collect())
        }),
];
