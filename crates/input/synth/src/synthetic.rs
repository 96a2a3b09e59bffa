//! Synthetic tables: a family by name becomes points and labels; base clusterings drawn from probabilities.

use partita_core::ndarray::Array2;
use partita_core::{Ensemble, EnsembleBuilder, EnsembleError, Seed, SoftPartition};
use rand::RngExt;
use rand::seq::SliceRandom;

use crate::families::families;
use crate::family::{Make, Recipe};
use crate::settings::{SynthError, SynthSettings, refuse};

/// What a recipe makes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Synthetic {
    /// Names of the columns: `x` and `y` in the plane, else `f0`, `f1`, ….
    pub columns: Vec<String>,
    /// The points, in random order: objects × columns.
    pub values: Array2<f64>,
    /// The cluster of every point; none for what belongs to no cluster.
    pub labels: Vec<Option<usize>>,
    /// Of a mixture: the probability of every component given the point.
    pub soft: Option<SoftPartition>,
}

/// Points of a recipe by name: the same name, number of objects, seed and settings give the same bits. The shares of
/// the clusters are fixed, so that their sizes are off by less than one; the points come in random order.
///
/// # Errors
/// [`SynthError`] if there is no such recipe, a setting does not fit it, or a cluster would be empty.
///
/// # Cost
/// O(n d), for mixtures O(n d K).
pub fn synthesise(
    name: &str,
    objects: usize,
    seed: Seed,
    settings: &SynthSettings,
) -> Result<Synthetic, SynthError> {
    let recipe = recipe(name, seed, settings)?;
    if objects < recipe.shares.len() {
        let clusters = recipe.shares.len();
        return Err(SynthError::TooFew {
            name: name.into(),
            objects,
            clusters,
        });
    }
    let mut labels = labels(&recipe.shares, objects);
    let mut rng = seed.child(1).rng();
    labels.shuffle(&mut rng);
    let mut points: Vec<f64> = Vec::new();
    for &cluster in &labels {
        let point = (recipe.draw)(cluster, &mut || rng.random());
        // One allocation for all points: there may be millions of them.
        points.reserve_exact(if points.is_empty() {
            objects * point.len()
        } else {
            0
        });
        points.extend(point);
    }
    let dimensions = points.len() / objects;
    let values = Array2::from_shape_vec((objects, dimensions), points)
        .expect("all points have the same dimensions");
    let columns = match dimensions {
        2 => vec!["x".into(), "y".into()],
        _ => (0..dimensions).map(|d| format!("f{d}")).collect(),
    };
    let soft = recipe.posterior.map(|posterior| {
        let rows: Vec<Vec<f64>> = values
            .outer_iter()
            .map(|point| posterior(&point.to_vec()))
            .collect();
        let rows = Array2::from_shape_fn((objects, recipe.shares.len()), |(i, k)| rows[i][k]);
        SoftPartition::new(rows).expect("posteriors are on the simplex")
    });
    let none = recipe.shares.len() - 1;
    let labels = labels
        .into_iter()
        .map(|label| (!recipe.noise || label < none).then_some(label))
        .collect();
    Ok(Synthetic {
        columns,
        values,
        labels,
        soft,
    })
}

fn recipe(name: &str, seed: Seed, settings: &SynthSettings) -> Result<Recipe, SynthError> {
    let Some(family) = families().find(|family| family.name == name) else {
        let mut known: Vec<String> = families().map(|family| family.name.to_owned()).collect();
        known.sort_by_cached_key(|known| strsim::damerau_levenshtein(known, name));
        return Err(SynthError::Unknown {
            name: name.into(),
            known,
        });
    };
    match family.make {
        Make::Layout(make) => {
            refuse(
                name,
                settings,
                &["clusters", "dimensions", "separation"],
                "the shape is fixed",
            )?;
            let mut rng = seed.child(0).rng();
            Ok(make(&mut || rng.random()))
        }
        Make::Settings(make) => make(name, seed, settings),
    }
}

/// Labels in order, in numbers that follow the shares; none is left out.
fn labels(shares: &[f64], objects: usize) -> Vec<usize> {
    let total: f64 = shares.iter().sum();
    let mut labels = Vec::with_capacity(objects);
    let mut before = 0.0;
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
pub fn draw_ensemble(
    soft: &SoftPartition,
    bases: usize,
    seed: Seed,
) -> Result<Ensemble, EnsembleError> {
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
    use crate::{Group, Half};
    use partita_core::Partition;

    fn make(name: &str, objects: usize) -> Synthetic {
        synthesise(name, objects, Seed::new(3), &SynthSettings::default()).unwrap()
    }

    #[test]
    fn every_family_makes_what_it_says() {
        for family in families() {
            let made = make(family.name, family.objects.min(500));
            assert!(
                made.values.iter().all(|value| value.is_finite()),
                "{}",
                family.name
            );
            assert_eq!(made, make(family.name, family.objects.min(500)));
            let other = synthesise(
                family.name,
                family.objects.min(500),
                Seed::new(4),
                &SynthSettings::default(),
            )
            .unwrap();
            assert_ne!(made, other);
            let clusters = |made: &Synthetic| made.labels.iter().flatten().max().copied();
            assert_eq!(
                clusters(&made),
                clusters(&make(family.name, 60)),
                "{}",
                family.name
            );
            assert_eq!(
                family.group == Group::One,
                clusters(&made) == Some(0),
                "{}",
                family.name
            );
        }
    }

    #[test]
    fn there_are_many_families_with_names_of_their_own_in_two_halves() {
        let mut names: Vec<&str> = families().map(|family| family.name).collect();
        let tuned = families()
            .filter(|family| family.half() == Half::Tuned)
            .count();
        names.sort_unstable();
        names.dedup();
        assert!(names.len() >= 60 && names.len() == families().count());
        assert!(
            (names.len() * 2 / 5..=names.len() * 3 / 5).contains(&tuned),
            "{tuned} of {}",
            names.len()
        );
    }

    #[test]
    fn clusters_of_a_shape_do_not_touch() {
        for name in [
            "half-rings",
            "rings",
            "spiral",
            "bars",
            "stars",
            "face",
            "image",
        ] {
            let Synthetic { values, labels, .. } = make(name, 2000);
            let label = Partition::from_values(&labels);
            let points: Vec<_> = values
                .outer_iter()
                .map(|row| (row[0], row[1]))
                .zip(label.labels())
                .collect();
            let nearest = |(at, label): ((f64, f64), &u32), same: bool| {
                let others = points
                    .iter()
                    .filter(|(there, other)| *there != at && (*other == label) == same);
                others
                    .map(|((x, y), _)| (x - at.0).hypot(y - at.1))
                    .fold(f64::INFINITY, f64::min)
            };
            let within = points
                .iter()
                .map(|&point| nearest(point, true))
                .fold(0.0, f64::max);
            let between = points
                .iter()
                .map(|&point| nearest(point, false))
                .fold(f64::INFINITY, f64::min);
            assert!(within < between, "{name}: {within} {between}");
        }
    }

    #[test]
    fn noise_belongs_to_no_cluster() {
        let made = make("noise-blobs", 500);
        let none = made.labels.iter().filter(|label| label.is_none()).count();
        assert!((30..100).contains(&none), "{none}");
    }

    #[test]
    fn mixtures_know_their_probabilities() {
        for name in ["gaussians", "pcc-gaussians", "blobs"] {
            let made = make(name, 2000);
            let soft = made.soft.unwrap();
            let label: Vec<usize> = made.labels.iter().map(|label| label.unwrap()).collect();
            // The mean probability of the component that made a point is that of the most probable one being it.
            let right = label
                .iter()
                .enumerate()
                .map(|(i, &k)| soft.rows()[[i, k]])
                .sum::<f64>()
                / 2000.0;
            let hard = soft.hard();
            let hits = hard
                .labels()
                .iter()
                .zip(&label)
                .filter(|(a, b)| **a as usize == **b)
                .count();
            let expected = soft.largest().iter().sum::<f64>() / 2000.0;
            assert!(
                (hits as f64 / 2000.0 - expected).abs() < 0.03,
                "{name}: {hits} {expected}"
            );
            assert!(right > 0.5, "{name}: {right}");
        }
    }

    #[test]
    fn draws_follow_the_probabilities() {
        let soft =
            SoftPartition::new(partita_core::ndarray::array![[0.25, 0.75], [1.0, 0.0]]).unwrap();
        let ensemble = draw_ensemble(&soft, 4000, Seed::new(1)).unwrap();
        let first = (0..4000)
            .filter(|&u| ensemble.label(0, u) == Some(0))
            .count();
        assert!((900..1100).contains(&first), "{first}");
        assert!((0..4000).all(|u| ensemble.label(1, u) == Some(0)));
    }

    #[test]
    fn what_can_not_be_made_is_refused() {
        let fail = |name: &str, objects, settings| {
            synthesise(name, objects, Seed::new(0), &settings)
                .unwrap_err()
                .to_string()
        };
        assert!(fail("ring", 9, SynthSettings::default()).contains("'ring'; there are rings, "));
        assert!(
            fail("image", 3, SynthSettings::default())
                .contains("7 clusters; 3 objects are too few")
        );
        let five = SynthSettings {
            clusters: Some(5),
            ..SynthSettings::default()
        };
        assert_eq!(
            fail("rings", 9, five),
            "'rings' cannot have clusters = 5: the shape is fixed"
        );
        let none = SynthSettings {
            clusters: Some(0),
            ..SynthSettings::default()
        };
        assert!(fail("blobs", 9, none).contains("clusters = 0"));
    }
}
