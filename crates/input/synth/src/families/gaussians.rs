//! Gaussian clusters: apart, overlapping, of unequal size and density, long, in many dimensions.

use std::f64::consts::{PI, TAU};

use crate::draw::{Part, Uniform, blob, centres, close_centres, long_blob, noise};
use crate::family::{Family, Group, Recipe};

/// Gaussians whose centres are at least `separation` apart, with the shares and deviations given in turn.
fn apart(
    k: usize,
    d: usize,
    separation: f64,
    shares: &[f64],
    deviations: &[f64],
    u: Uniform<'_>,
) -> Recipe {
    turns(centres(k, d, separation, u), shares, deviations)
}

/// Gaussians whose nearest centres are `separation` apart.
fn close(k: usize, d: usize, separation: f64, u: Uniform<'_>) -> Recipe {
    turns(close_centres(k, d, separation, u), &[1.0], &[1.0])
}

fn turns(centres: Vec<Vec<f64>>, shares: &[f64], deviations: &[f64]) -> Recipe {
    let part = |(at, centre): (usize, Vec<f64>)| {
        (
            shares[at % shares.len()],
            blob(centre, deviations[at % deviations.len()]),
        )
    };
    Recipe::of(centres.into_iter().enumerate().map(part).collect())
}

/// Long Gaussians, each turned by chance.
fn long(k: usize, separation: f64, deviations: [f64; 2], u: Uniform<'_>) -> Recipe {
    let centres = centres(k, 2, separation, u);
    let part = |centre: Vec<f64>| (1.0, long_blob([centre[0], centre[1]], deviations, PI * u()));
    Recipe::of(centres.into_iter().map(part).collect())
}

/// Gaussians in d dimensions, each with a random linear map.
fn mapped(k: usize, d: usize, separation: f64, u: Uniform<'_>) -> Recipe {
    let centres = centres(k, d, separation, u);
    let part = |centre: Vec<f64>| {
        let map: Vec<Vec<f64>> = (0..d).map(|_| noise(d, u)).collect();
        let root = (d as f64).sqrt();
        let part: Part = Box::new(move |u| {
            let x = noise(d, u);
            let row = |row: &Vec<f64>| row.iter().zip(&x).map(|(a, x)| a * x).sum::<f64>() / root;
            map.iter()
                .zip(&centre)
                .map(|(line, mean)| mean + row(line))
                .collect()
        });
        (1.0, part)
    };
    Recipe::of(centres.into_iter().map(part).collect())
}

/// Factors from 1 to 10^`powers`, by chance.
fn powers(d: usize, powers: f64, u: Uniform<'_>) -> Vec<f64> {
    (0..d).map(|_| 10f64.powf(powers * u())).collect()
}

pub(crate) const GAUSSIANS: &[Family] = &[
    Family::new("blobs-3", Group::Blobs, 300)
        .about("3 round Gaussians, 8 deviations apart")
        .drawn(|u| apart(3, 2, 8.0, &[1.0], &[1.0], u)),
    Family::new("blobs-5", Group::Blobs, 500)
        .about("5 round Gaussians, 6 deviations apart")
        .drawn(|u| apart(5, 2, 6.0, &[1.0], &[1.0], u)),
    Family::new("blobs-8", Group::Blobs, 800)
        .about("8 round Gaussians, 5 deviations apart")
        .drawn(|u| apart(8, 2, 5.0, &[1.0], &[1.0], u)),
    Family::new("blobs-12", Group::Blobs, 1500)
        .about("12 round Gaussians, 6 deviations apart")
        .drawn(|u| apart(12, 2, 6.0, &[1.0], &[1.0], u)),
    Family::new("blobs-4-3d", Group::Blobs, 100)
        .about("4 Gaussians in 3 dimensions")
        .drawn(|u| apart(4, 3, 5.0, &[1.0], &[1.0], u)),
    Family::new("blobs-6-8d", Group::Blobs, 600)
        .about("6 Gaussians in 8 dimensions")
        .drawn(|u| close(6, 8, 5.0, u)),
    Family::new("blobs-5-16d", Group::Blobs, 1000)
        .about("5 Gaussians in 16 dimensions")
        .drawn(|u| close(5, 16, 5.0, u)),
    Family::new("blobs-4-32d", Group::Blobs, 400)
        .about("4 Gaussians in 32 dimensions")
        .drawn(|u| close(4, 32, 6.0, u)),
    Family::new("blobs-8-64d", Group::Blobs, 800)
        .about("8 Gaussians in 64 dimensions")
        .drawn(|u| close(8, 64, 7.0, u)),
    Family::new("overlap-2", Group::Overlapping, 400)
        .about("2 Gaussians, 3 deviations apart")
        .drawn(|u| close(2, 2, 3.0, u)),
    Family::new("overlap-3", Group::Overlapping, 600)
        .about("3 Gaussians, 3.2 deviations apart")
        .drawn(|u| close(3, 2, 3.2, u)),
    Family::new("overlap-4-5d", Group::Overlapping, 500)
        .about("4 Gaussians in 5 dimensions, 3.5 deviations apart")
        .drawn(|u| close(4, 5, 3.5, u)),
    Family::new("overlap-3-16d", Group::Overlapping, 600)
        .about("3 Gaussians in 16 dimensions, 3.5 deviations apart")
        .drawn(|u| close(3, 16, 3.5, u)),
    Family::new("overlap-6-32d", Group::Overlapping, 900)
        .about("6 Gaussians in 32 dimensions, 4 deviations apart")
        .drawn(|u| close(6, 32, 4.0, u)),
    Family::new("overlap-2-64d", Group::Overlapping, 1000)
        .about("2 Gaussians in 64 dimensions, 4 deviations apart")
        .drawn(|u| close(2, 64, 4.0, u)),
    Family::new("sizes-2", Group::UnequalSizes, 300)
        .about("2 Gaussians, 9 to 1")
        .drawn(|u| close_of(&[9.0, 1.0], 2, 6.0, u)),
    Family::new("sizes-4", Group::UnequalSizes, 450)
        .about("4 Gaussians, 8 : 4 : 2 : 1")
        .drawn(|u| close_of(&[8.0, 4.0, 2.0, 1.0], 2, 6.0, u)),
    Family::new("sizes-3-far", Group::UnequalSizes, 1000)
        .about("3 Gaussians, 90 : 8 : 2")
        .drawn(|u| close_of(&[90.0, 8.0, 2.0], 2, 9.0, u)),
    Family::new("sizes-6-8d", Group::UnequalSizes, 900)
        .about("6 Gaussians in 8 dimensions, 10 : 5 : 3 : 2 : 1 : 1")
        .drawn(|u| close_of(&[10.0, 5.0, 3.0, 2.0, 1.0, 1.0], 8, 5.5, u)),
    Family::new("density-2", Group::UnequalDensity, 400)
        .about("a tight and a wide Gaussian")
        .drawn(|u| turns(close_centres(2, 2, 6.0, u), &[1.0], &[0.3, 1.8])),
    Family::new("density-4", Group::UnequalDensity, 600)
        .about("4 Gaussians of deviation 0.2 to 2")
        .drawn(|u| apart(4, 2, 7.0, &[1.0], &[0.2, 0.5, 1.0, 2.0], u)),
    Family::new("density-3-8d", Group::UnequalDensity, 450)
        .about("3 Gaussians in 8 dimensions of deviation 0.4 to 1.6")
        .drawn(|u| turns(close_centres(3, 8, 6.0, u), &[1.0], &[0.4, 0.8, 1.6])),
    Family::new("long-2", Group::Anisotropic, 300)
        .about("2 parallel Gaussians, 6 times as long as wide")
        .drawn(|_| {
            Recipe::of(vec![
                (1.0, long_blob([0.0, 0.0], [6.0, 1.0], 0.5)),
                (1.0, long_blob([-2.9, 5.3], [6.0, 1.0], 0.5)),
            ])
        }),
    Family::new("long-3", Group::Anisotropic, 450)
        .about("3 Gaussians, 4 times as long as wide, side by side")
        .drawn(|_| {
            let part = |at: f64| (1.0, long_blob([3.2 * at, -3.2 * at], [3.2, 0.8], PI / 4.0));
            Recipe::of(vec![part(0.0), part(1.0), part(2.0)])
        }),
    Family::new("long-5", Group::Anisotropic, 750)
        .about("5 long Gaussians in any direction")
        .drawn(|u| long(5, 11.0, [3.0, 0.7], u)),
    Family::new("long-4-6d", Group::Anisotropic, 600)
        .about("4 Gaussians in 6 dimensions under random maps")
        .drawn(|u| mapped(4, 6, 6.0, u)),
    Family::new("cross", Group::Anisotropic, 400)
        .about("2 long Gaussians that cross at their ends")
        .drawn(|_| {
            Recipe::of(vec![
                (1.0, long_blob([0.0, 0.0], [4.0, 0.5], 0.0)),
                (1.0, long_blob([9.0, 5.5], [0.5, 3.0], 0.0)),
            ])
        }),
    Family::new("unscaled-3", Group::Unscaled, 300)
        .about("3 Gaussians, the second column 100 times as large and of no use")
        .drawn(|u| {
            let line = vec![
                vec![0.0, 0.0, 0.0],
                vec![7.0, 0.0, 4.0],
                vec![2.0, 0.0, 9.0],
            ];
            let factor = 80.0 + 40.0 * u();
            turns(line, &[1.0], &[1.0]).scaled(vec![1.0, factor, 1.0])
        }),
    Family::new("unscaled-4-13d", Group::Unscaled, 400)
        .about("4 Gaussians in 13 dimensions, columns on scales from 1 to 1000")
        .drawn(|u| {
            let recipe = close(4, 13, 6.0, u);
            recipe.scaled(powers(13, 3.0, u))
        }),
    Family::new("unscaled-3-6d", Group::Unscaled, 600)
        .about("3 Gaussians in 6 dimensions, columns on scales from 1 to 100")
        .drawn(|u| {
            let recipe = close(3, 6, 5.5, u);
            recipe.scaled(powers(6, 2.0, u))
        }),
    Family::new("unscaled-long", Group::Unscaled, 500)
        .about("5 Gaussians, one column 40 times the other")
        .drawn(|u| apart(5, 2, 6.0, &[1.0], &[1.0], u).scaled(vec![1.0, 40.0])),
    Family::new("one-gaussian", Group::One, 200)
        .about("one Gaussian")
        .drawn(|_| one(2, &[1.0])),
    Family::new("one-gaussian-8d", Group::One, 300)
        .about("one Gaussian in 8 dimensions")
        .drawn(|_| one(8, &[1.0])),
    Family::new("one-gaussian-32d", Group::One, 400)
        .about("one Gaussian in 32 dimensions")
        .drawn(|_| one(32, &[1.0])),
    Family::new("one-long", Group::One, 300)
        .about("one Gaussian, 4 times as long as wide")
        .drawn(|_| one(2, &[4.0, 1.0])),
    Family::new("one-falling-5d", Group::One, 250)
        .about("one Gaussian in 5 dimensions of deviations 5 to 1")
        .drawn(|_| one(5, &[5.0, 3.0, 2.0, 1.0, 1.0])),
    Family::new("one-ring-of-scales", Group::One, 500)
        .about("one Gaussian in 6 dimensions, columns on scales from 1 to 100")
        .drawn(|u| {
            let scales = powers(6, 2.0, u);
            one(6, &scales)
        }),
];

fn close_of(shares: &[f64], d: usize, separation: f64, u: Uniform<'_>) -> Recipe {
    turns(
        close_centres(shares.len(), d, separation, u),
        shares,
        &[1.0],
    )
}

/// One Gaussian with the deviations given in turn.
fn one(d: usize, deviations: &[f64]) -> Recipe {
    let deviations: Vec<f64> = (0..d).map(|at| deviations[at % deviations.len()]).collect();
    Recipe::of(vec![(1.0, blob(vec![0.0; d], 1.0))]).scaled(deviations)
}

/// All around.
pub(super) const AROUND: [f64; 2] = [0.0, TAU];
