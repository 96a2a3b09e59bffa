//! Mixtures of isotropic Gaussians.

use partita_core::Seed;
use rand::RngExt;

use super::shapes::normals;
use super::{Recipe, SynthError, SynthSettings, Uniform};

/// Equal shares of Gaussians with this deviation around the centres.
fn mixture(centres: Vec<Vec<f64>>, deviation: f64) -> Recipe {
    let shares = vec![1.0; centres.len()];
    let here = centres.clone();
    let draw = move |cluster: usize, uniform: Uniform<'_>| {
        let centre: &Vec<f64> = &here[cluster];
        // Normal numbers come in pairs; of an odd dimension the last is let go.
        let mut noise = (0..centre.len().div_ceil(2)).flat_map(|_| normals(uniform)).collect::<Vec<f64>>().into_iter();
        centre.iter().map(|&mean| mean + deviation * noise.next().expect("one a dimension")).collect()
    };
    let posterior = move |point: &[f64]| {
        let square = |centre: &Vec<f64>| centre.iter().zip(point).map(|(m, x)| (m - x) * (m - x)).sum::<f64>();
        let logs: Vec<f64> = centres.iter().map(|centre| -square(centre) / (2.0 * deviation * deviation)).collect();
        let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - highest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    };
    Recipe { shares, draw: Box::new(draw), posterior: Some(Box::new(posterior)) }
}

/// Centres drawn in a cube that grows until all are at least `separation` apart.
pub(super) fn gaussians(name: &str, seed: Seed, settings: &SynthSettings) -> Result<Recipe, SynthError> {
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
    let mut half = separation.max(1.0);
    let mut centres: Vec<Vec<f64>> = Vec::new();
    while centres.len() < clusters {
        let centre: Vec<f64> = (0..dimensions).map(|_| half * (2.0 * rng.random::<f64>() - 1.0)).collect();
        let far = |other: &Vec<f64>| {
            let square: f64 = other.iter().zip(&centre).map(|(a, b)| (a - b) * (a - b)).sum();
            square >= separation * separation
        };
        if centres.iter().all(far) {
            centres.push(centre);
        } else {
            half *= 1.02;
        }
    }
    Ok(mixture(centres, 1.0))
}

/// Four planar Gaussians of deviation 1, one centre a quadrant, both coordinates between 1 and 3 from the axes.
pub(super) fn pcc(seed: Seed) -> Recipe {
    let mut rng = seed.child(0).rng();
    let mut coordinate = |sign: f64| sign * rng.random_range(1.0..3.0);
    let signs = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];
    mixture(signs.iter().map(|signs| signs.iter().map(|&sign| coordinate(sign)).collect()).collect(), 1.0)
}

/// Centres uniform in [−6, 6]^d, deviation 2.
pub(super) fn blobs(name: &str, seed: Seed, settings: &SynthSettings) -> Result<Recipe, SynthError> {
    let (clusters, dimensions) = size(name, settings, 10, 5)?;
    let mut rng = seed.child(0).rng();
    let centres = (0..clusters).map(|_| (0..dimensions).map(|_| rng.random_range(-6.0..6.0)).collect()).collect();
    Ok(mixture(centres, 2.0))
}

fn size(
    name: &str,
    settings: &SynthSettings,
    clusters: usize,
    dimensions: usize,
) -> Result<(usize, usize), SynthError> {
    const MANY: usize = 1 << 16;
    let (clusters, dimensions) = (settings.clusters.unwrap_or(clusters), settings.dimensions.unwrap_or(dimensions));
    for (setting, value) in [("clusters", clusters), ("dimensions", dimensions)] {
        if !(1..=MANY).contains(&value) {
            let why = "it must lie between 1 and 65,536";
            return Err(SynthError::Setting { name: name.into(), setting, value: value.to_string(), why });
        }
    }
    Ok((clusters, dimensions))
}
