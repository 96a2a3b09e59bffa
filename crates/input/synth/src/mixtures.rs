//! Mixtures of isotropic Gaussians.

use partita_core::Seed;
use rand::RngExt;

use crate::draw::{Uniform, centres, normals};
use crate::family::Recipe;
use crate::settings::{SynthError, SynthSettings, refuse};

/// Equal shares of Gaussians with this deviation around the centres.
fn mixture(centres: Vec<Vec<f64>>, deviation: f64) -> Recipe {
    let shares = vec![1.0; centres.len()];
    let here = centres.clone();
    let draw = move |cluster: usize, uniform: Uniform<'_>| {
        let centre: &Vec<f64> = &here[cluster];
        // Normal numbers come in pairs; of an odd dimension the last is let go.
        let mut noise = (0..centre.len().div_ceil(2))
            .flat_map(|_| normals(uniform))
            .collect::<Vec<f64>>()
            .into_iter();
        centre
            .iter()
            .map(|&mean| mean + deviation * noise.next().expect("one a dimension"))
            .collect()
    };
    let posterior = move |point: &[f64]| {
        let square = |centre: &Vec<f64>| {
            centre
                .iter()
                .zip(point)
                .map(|(m, x)| (m - x) * (m - x))
                .sum::<f64>()
        };
        let logs: Vec<f64> = centres
            .iter()
            .map(|centre| -square(centre) / (2.0 * deviation * deviation))
            .collect();
        let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - highest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    };
    Recipe {
        shares,
        draw: Box::new(draw),
        posterior: Some(Box::new(posterior)),
        noise: false,
    }
}

/// Centres drawn in a cube that grows until all are at least `separation` apart.
pub(crate) fn gaussians(
    name: &str,
    seed: Seed,
    settings: &SynthSettings,
) -> Result<Recipe, SynthError> {
    let separation = settings.separation.unwrap_or(4.0);
    if !(separation.is_finite() && separation >= 0.0) {
        return Err(SynthError::Setting {
            name: name.into(),
            setting: "separation",
            value: separation.to_string(),
            why: "it is a distance, 0 or more",
        });
    }
    let (clusters, dimensions) = size(name, settings, 4, 2)?;
    let mut rng = seed.child(0).rng();
    let centres = centres(clusters, dimensions, separation, &mut || rng.random());
    Ok(mixture(centres, 1.0))
}

/// Four planar Gaussians of deviation 1, one centre a quadrant, both coordinates between 1 and 3 from the axes.
pub(crate) fn pcc(name: &str, seed: Seed, settings: &SynthSettings) -> Result<Recipe, SynthError> {
    refuse(
        name,
        settings,
        &["clusters", "dimensions", "separation"],
        "the paper fixes it",
    )?;
    let mut rng = seed.child(0).rng();
    let mut coordinate = |sign: f64| sign * rng.random_range(1.0..3.0);
    let signs = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];
    let centres = signs
        .iter()
        .map(|signs| signs.iter().map(|&sign| coordinate(sign)).collect())
        .collect();
    Ok(mixture(centres, 1.0))
}

/// Centres uniform in [−6, 6]^d, deviation 2.
pub(crate) fn blobs(
    name: &str,
    seed: Seed,
    settings: &SynthSettings,
) -> Result<Recipe, SynthError> {
    refuse(
        name,
        settings,
        &["separation"],
        "centres are uniform in a cube",
    )?;
    let (clusters, dimensions) = size(name, settings, 10, 5)?;
    let mut rng = seed.child(0).rng();
    let centres = (0..clusters)
        .map(|_| {
            (0..dimensions)
                .map(|_| rng.random_range(-6.0..6.0))
                .collect()
        })
        .collect();
    Ok(mixture(centres, 2.0))
}

fn size(
    name: &str,
    settings: &SynthSettings,
    clusters: usize,
    dimensions: usize,
) -> Result<(usize, usize), SynthError> {
    const MANY: usize = 1 << 16;
    let (clusters, dimensions) = (
        settings.clusters.unwrap_or(clusters),
        settings.dimensions.unwrap_or(dimensions),
    );
    for (setting, value) in [("clusters", clusters), ("dimensions", dimensions)] {
        if !(1..=MANY).contains(&value) {
            let why = "it must lie between 1 and 65,536";
            return Err(SynthError::Setting {
                name: name.into(),
                setting,
                value: value.to_string(),
                why,
            });
        }
    }
    Ok((clusters, dimensions))
}
