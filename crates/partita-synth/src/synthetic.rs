//! Point sets drawn from a recipe: shapes in the plane that no centre describes, and Gaussian mixtures with their
//! exact probabilities.

mod mixtures;
mod shapes;

use partita_core::ndarray::Array2;
use partita_core::{Ensemble, EnsembleBuilder, EnsembleError, Seed, Settings, SoftPartition};
use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::meaning::label_column::LabelColumn;
use crate::meaning::table::Table;

/// Numbers that a mixture may be given; a shape has its own. Without a value each recipe uses the one in
/// [`synthetic_names`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SynthSettings {
    /// Components of the mixture, K.
    pub clusters: Option<usize>,
    /// Numbers an object.
    pub dimensions: Option<usize>,
    /// The least distance of two centres of `gaussians`, in standard deviations.
    pub separation: Option<f64>,
}

/// A recipe that cannot be followed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SynthError {
    /// There is no such recipe.
    #[error("there is no synthetic data set '{name}'; there are {}", .known.join(", "))]
    Unknown {
        /// The name given.
        name: String,
        /// The names that exist, nearest first.
        known: Vec<String>,
    },
    /// A setting that this recipe does not have, or a value it cannot have.
    #[error("'{name}' cannot have {setting} = {value}: {why}")]
    Setting {
        /// The recipe.
        name: String,
        /// The setting.
        setting: &'static str,
        /// The value given.
        value: String,
        /// What would do.
        why: &'static str,
    },
    /// Fewer objects than clusters.
    #[error("'{name}' has {clusters} clusters; {objects} objects are too few")]
    TooFew {
        /// The recipe.
        name: String,
        /// Objects asked for.
        objects: usize,
        /// Clusters.
        clusters: usize,
    },
}

/// What a recipe makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Synthetic {
    /// The points, in random order, with their cluster as label.
    pub table: Table,
    /// Of a mixture: the probability of every component given the point.
    pub soft: Option<SoftPartition>,
}

/// A recipe and what it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntheticName {
    /// What it is called.
    pub name: &'static str,
    /// What it makes.
    pub about: &'static str,
    /// Objects of the data set that it imitates, a good number to ask for.
    pub objects: usize,
}

/// The recipes there are.
pub fn synthetic_names() -> &'static [SyntheticName] {
    &NAMES
}

const fn entry(name: &'static str, objects: usize, about: &'static str) -> SyntheticName {
    SyntheticName { name, about, objects }
}

const NAMES: [SyntheticName; 11] = [
    entry("half-rings", 400, "two interlocking half rings, one three times as dense (2 clusters)"),
    entry("rings", 600, "three rings around one centre, equally dense (3 clusters)"),
    entry("spiral", 200, "two interlocking spirals (2 clusters)"),
    entry("cigar", 250, "two long thin groups beside each other and two small ones below (4 clusters)"),
    entry("bars", 400, "two long bars beside each other (2 clusters)"),
    entry("stars", 114, "two five-pointed stars (2 clusters)"),
    entry("face", 500, "a face: outline, two eyes, mouth (4 clusters)"),
    entry("image", 739, "a picture of seven figures: disc in a ring, square, triangle, bar, arc, cross (7 clusters)"),
    entry("gaussians", 800, "isotropic Gaussians; clusters 4, dimensions 2, separation 4 standard deviations"),
    entry("pcc-gaussians", 800, "four planar Gaussians, one a quadrant, as in the PCC paper (4 clusters)"),
    entry("blobs", 1000, "Gaussians of deviation 2, centres uniform in [-6, 6]^d; clusters 10, dimensions 5"),
];

/// Points of a recipe by name: the same name, number of objects, seed and settings give the same bits. The shares of
/// the clusters are fixed, so that their sizes are off by less than one; the points come in random order.
///
/// # Errors
/// [`SynthError`] if there is no such recipe, a setting does not fit it, or a cluster would be empty.
///
/// # Cost
/// O(n d), for mixtures O(n d K).
pub fn synthesise(name: &str, objects: usize, seed: Seed, settings: &SynthSettings) -> Result<Synthetic, SynthError> {
    let recipe = recipe(name, seed, settings)?;
    if objects < recipe.shares.len() {
        let clusters = recipe.shares.len();
        return Err(SynthError::TooFew { name: name.into(), objects, clusters });
    }
    let mut labels = labels(&recipe.shares, objects);
    let mut rng = seed.child(1).rng();
    labels.shuffle(&mut rng);
    let points: Vec<Vec<f64>> = labels.iter().map(|&cluster| (recipe.draw)(cluster, &mut || rng.random())).collect();
    let dimensions = points[0].len();
    let values = Array2::from_shape_fn((objects, dimensions), |(i, d)| points[i][d]);
    let columns = match dimensions {
        2 => vec!["x".into(), "y".into()],
        _ => (0..dimensions).map(|d| format!("f{d}")).collect(),
    };
    let soft = recipe.posterior.map(|posterior| {
        let rows: Vec<Vec<f64>> = points.iter().map(|point| posterior(point)).collect();
        let rows = Array2::from_shape_fn((objects, recipe.shares.len()), |(i, k)| rows[i][k]);
        SoftPartition::new(rows).expect("posteriors are on the simplex")
    });
    let values_of_label = labels.iter().map(|cluster| Some(cluster.to_string())).collect();
    let label = Some(LabelColumn { name: "label".into(), values: values_of_label });
    Ok(Synthetic { table: Table { columns, values, object_names: None, label }, soft })
}

/// Uniform numbers in [0, 1), one a call.
type Uniform<'a> = &'a mut dyn FnMut() -> f64;

/// A point of a cluster.
type Draw = dyn Fn(usize, Uniform<'_>) -> Vec<f64>;

/// The probability of every component given a point.
type Posterior = dyn Fn(&[f64]) -> Vec<f64>;

/// How to draw a data set.
struct Recipe {
    /// Size of each cluster in proportion.
    shares: Vec<f64>,
    draw: Box<Draw>,
    posterior: Option<Box<Posterior>>,
}

fn recipe(name: &str, seed: Seed, settings: &SynthSettings) -> Result<Recipe, SynthError> {
    if let Some(shape) = shapes::shape(name) {
        refuse(name, settings, &["clusters", "dimensions", "separation"], "the shape is fixed")?;
        let (shares, draw) = (shape.shares.to_vec(), shape.draw);
        return Ok(Recipe {
            shares,
            draw: Box::new(move |cluster, uniform| draw(cluster, uniform).into()),
            posterior: None,
        });
    }
    match name {
        "gaussians" => mixtures::gaussians(name, seed, settings),
        "pcc-gaussians" => {
            refuse(name, settings, &["clusters", "dimensions", "separation"], "the paper fixes it")?;
            Ok(mixtures::pcc(seed))
        }
        "blobs" => {
            refuse(name, settings, &["separation"], "centres are uniform in a cube")?;
            mixtures::blobs(name, seed, settings)
        }
        _ => {
            let mut known: Vec<String> = NAMES.iter().map(|known| known.name.to_owned()).collect();
            known.sort_by_cached_key(|known| strsim::damerau_levenshtein(known, name));
            Err(SynthError::Unknown { name: name.into(), known })
        }
    }
}

/// Refuses settings that a recipe does not have.
fn refuse(name: &str, given: &SynthSettings, settings: &[&'static str], why: &'static str) -> Result<(), SynthError> {
    let values = [
        ("clusters", given.clusters.map(|value| value.to_string())),
        ("dimensions", given.dimensions.map(|value| value.to_string())),
        ("separation", given.separation.map(|value| value.to_string())),
    ];
    match values.into_iter().find(|(setting, value)| value.is_some() && settings.contains(setting)) {
        Some((setting, Some(value))) => Err(SynthError::Setting { name: name.into(), setting, value, why }),
        _ => Ok(()),
    }
}

/// Labels in order, in numbers that follow the shares; none is left out.
fn labels(shares: &[f64], objects: usize) -> Vec<usize> {
    let total: f64 = shares.iter().sum();
    let (mut labels, mut before) = (Vec::with_capacity(objects), 0.0);
    for (cluster, share) in shares.iter().enumerate() {
        before += share;
        let end = (objects as f64 * before / total).round() as usize;
        let others = shares.len() - 1 - cluster;
        let end = end.clamp(labels.len() + 1, objects - others);
        labels.resize(end, cluster);
    }
    labels
}

/// `bases` hard clusterings drawn from a soft partition: each object takes each cluster with its probability, as the
/// ensembles of the PCC paper are made.
///
/// # Errors
/// [`EnsembleError`] if there is nothing to draw.
///
/// # Cost
/// O(n K M) time.
pub fn draw_ensemble(soft: &SoftPartition, bases: usize, seed: Seed) -> Result<Ensemble, EnsembleError> {
    let mut builder = EnsembleBuilder::new(soft.objects());
    for base in 0..bases {
        let mut rng = seed.child(base as u64).rng();
        let draw = |row: partita_core::ndarray::ArrayView1<'_, f64>| {
            let mut left: f64 = rng.random();
            let chosen = row.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            Some(chosen.unwrap_or(row.len() - 1) as u32)
        };
        let labels: Vec<_> = soft.rows().outer_iter().map(draw).collect();
        builder.push_clusters(format!("draw-{base}"), labels, soft.clusters())?;
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Partition;

    fn make(name: &str, objects: usize) -> Synthetic {
        synthesise(name, objects, Seed::new(3), &SynthSettings::default()).unwrap()
    }

    #[test]
    fn every_recipe_makes_what_it_says() {
        for recipe in synthetic_names() {
            let made = make(recipe.name, recipe.objects);
            assert_eq!(made.table.values.nrows(), recipe.objects);
            assert!(made.table.values.iter().all(|value| value.is_finite()), "{}", recipe.name);
            assert_eq!(made, make(recipe.name, recipe.objects));
            let other = synthesise(recipe.name, recipe.objects, Seed::new(4), &SynthSettings::default()).unwrap();
            assert_ne!(made, other);
            let (clusters, few) = (made.table.label.unwrap().values.into_iter().max(), make(recipe.name, 12));
            assert_eq!(few.table.label.unwrap().values.into_iter().max(), clusters, "{}", recipe.name);
        }
    }

    #[test]
    fn clusters_of_a_shape_do_not_touch() {
        for name in ["half-rings", "rings", "spiral", "bars", "stars", "face", "image"] {
            let Table { values, label, .. } = make(name, 2000).table;
            let label = Partition::from_values(&label.unwrap().values);
            let points: Vec<_> = values.outer_iter().map(|row| (row[0], row[1])).zip(label.labels()).collect();
            let nearest = |(at, label): ((f64, f64), &u32), same: bool| {
                let others = points.iter().filter(|(there, other)| *there != at && (*other == label) == same);
                others.map(|((x, y), _)| (x - at.0).hypot(y - at.1)).fold(f64::INFINITY, f64::min)
            };
            let within = points.iter().map(|&point| nearest(point, true)).fold(0.0, f64::max);
            let between = points.iter().map(|&point| nearest(point, false)).fold(f64::INFINITY, f64::min);
            assert!(within < between, "{name}: {within} {between}");
        }
    }

    #[test]
    fn mixtures_know_their_probabilities() {
        for name in ["gaussians", "pcc-gaussians", "blobs"] {
            let made = make(name, 2000);
            let soft = made.soft.unwrap();
            let label: Vec<usize> =
                made.table.label.unwrap().values.iter().map(|v| v.as_ref().unwrap().parse().unwrap()).collect();
            // The mean probability of the component that made a point is that of the most probable one being it.
            let right = label.iter().enumerate().map(|(i, &k)| soft.rows()[[i, k]]).sum::<f64>() / 2000.0;
            let hard = soft.hard();
            let hits = hard.labels().iter().zip(&label).filter(|(a, b)| **a as usize == **b).count();
            let expected = soft.certainty().iter().sum::<f64>() / 2000.0;
            assert!((hits as f64 / 2000.0 - expected).abs() < 0.03, "{name}: {hits} {expected}");
            assert!(right > 0.5, "{name}: {right}");
        }
    }

    #[test]
    fn draws_follow_the_probabilities() {
        let soft = SoftPartition::new(partita_core::ndarray::array![[0.25, 0.75], [1.0, 0.0]]).unwrap();
        let ensemble = draw_ensemble(&soft, 4000, Seed::new(1)).unwrap();
        let first = (0..4000).filter(|&u| ensemble.label(0, u) == Some(0)).count();
        assert!((900..1100).contains(&first), "{first}");
        assert!((0..4000).all(|u| ensemble.label(1, u) == Some(0)));
    }

    #[test]
    fn what_can_not_be_made_is_refused() {
        let fail =
            |name: &str, objects, settings| synthesise(name, objects, Seed::new(0), &settings).unwrap_err().to_string();
        assert!(fail("ring", 9, SynthSettings::default()).contains("'ring'; there are rings, "));
        assert!(fail("image", 3, SynthSettings::default()).contains("7 clusters; 3 objects are too few"));
        let five = SynthSettings { clusters: Some(5), ..SynthSettings::default() };
        assert_eq!(fail("rings", 9, five), "'rings' cannot have clusters = 5: the shape is fixed");
        let none = SynthSettings { clusters: Some(0), ..SynthSettings::default() };
        assert!(fail("blobs", 9, none).contains("clusters = 0"));
    }
}
