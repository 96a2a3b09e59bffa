//! Ensembles to try methods on.

use partita_core::ndarray::Array2;
use partita_core::{Ensemble, EnsembleBuilder, Seed};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// An ensemble with what it was drawn from.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Noisy views of `truth`.
    pub ensemble: Ensemble,
    /// The planted cluster of every object.
    pub truth: Vec<u32>,
    /// A table of two columns in which the planted clusters are far apart.
    pub features: Array2<f64>,
    /// Number of planted clusters.
    pub clusters: usize,
}

/// Draws an ensemble: 12 to 40 objects in 2 to 4 planted clusters, 4 to 9 base clusterings of which each
/// renames the clusters, mislabels up to a quarter of the objects, sometimes splits a cluster, and leaves out up
/// to `missing` of the labels (never all of an object's).
pub fn draw(seed: Seed, missing: f64) -> Drawn {
    let mut rng = seed.rng();
    let n = rng.random_range(12..=40);
    let clusters = rng.random_range(2..=4usize);
    let truth: Vec<u32> = (0..n).map(|i| (i % clusters) as u32).collect();
    let bases = rng.random_range(4..=9);
    let mut columns: Vec<Vec<Option<u32>>> = (0..bases)
        .map(|_| noisy(&truth, clusters, &mut rng))
        .collect();
    for object in 0..n {
        let keep = rng.random_range(0..bases);
        for (u, column) in columns.iter_mut().enumerate() {
            if u != keep && rng.random_bool(missing) {
                column[object] = None;
            }
        }
    }
    columns.retain(|column| column.iter().any(Option::is_some));
    let names = (0..columns.len()).map(|u| format!("u{u}"));
    let centre = |k: u32| [f64::from(k % 2) * 9.0, f64::from(k / 2) * 9.0];
    let features = Array2::from_shape_fn((n, 2), |(i, d)| {
        centre(truth[i])[d] + rng.random_range(-1.0..1.0)
    });
    Drawn {
        ensemble: ensemble(names.zip(columns)),
        truth,
        features,
        clusters,
    }
}

fn noisy(truth: &[u32], clusters: usize, rng: &mut impl Rng) -> Vec<Option<u32>> {
    let mut names: Vec<u32> = (0..=clusters as u32).collect();
    names.shuffle(rng);
    let noise = rng.random_range(0.0..0.25);
    let split = rng.random_bool(0.3);
    let label = |&k: &u32| {
        let k = if rng.random_bool(noise) {
            rng.random_range(0..clusters as u32)
        } else {
            k
        };
        let k = if split && k == 0 && rng.random_bool(0.5) {
            clusters as u32
        } else {
            k
        };
        Some(names[k as usize])
    };
    truth.iter().map(label).collect()
}

/// An ensemble of so many objects in planted clusters, 15 % of the labels wrong.
pub fn planted(objects: usize, bases: usize, clusters: usize, seed: Seed) -> Drawn {
    let mut rng = seed.rng();
    let truth: Vec<u32> = (0..objects).map(|i| (i % clusters) as u32).collect();
    let mut label = |k: u32| {
        Some(if rng.random_bool(0.15) {
            rng.random_range(0..clusters as u32)
        } else {
            k
        })
    };
    let columns: Vec<Vec<Option<u32>>> = (0..bases)
        .map(|_| truth.iter().map(|&k| label(k)).collect())
        .collect();
    let names = (0..bases).map(|u| format!("u{u}"));
    let features = Array2::from_shape_fn((objects, 2), |(i, d)| {
        f64::from(truth[i]) * 10.0 + ((i * 7 + d) % 11) as f64
    });
    Drawn {
        ensemble: ensemble(names.zip(columns)),
        truth,
        features,
        clusters,
    }
}

/// An ensemble with one base clustering of 300 clusters, whose labels take two bytes.
pub fn many_clusters(seed: Seed) -> Drawn {
    let drawn = planted(320, 5, 3, seed);
    let fine = (0..320).map(|i| Some(i % 300)).collect();
    let column = |u: usize| {
        drawn
            .ensemble
            .column(u)
            .map(|label| label.map(|label| label as u32))
            .collect()
    };
    let columns: Vec<Vec<Option<u32>>> = (0..5).map(column).chain([fine]).collect();
    let names = (0..columns.len()).map(|u| format!("u{u}"));
    Drawn {
        ensemble: ensemble(names.zip(columns)),
        ..drawn
    }
}

/// The same ensemble with one base clustering twice.
pub fn duplicated(given: &Ensemble, base: usize) -> Ensemble {
    let column = |u: usize| {
        given
            .column(u)
            .map(|label| label.map(|label| label as u32))
            .collect()
    };
    let names = given
        .bases()
        .iter()
        .map(|base| base.name().to_owned())
        .enumerate();
    let all = names.map(|(u, name)| (name, column(u)));
    ensemble(all.chain([(
        format!("{} again", given.bases()[base].name()),
        column(base),
    )]))
}

/// An ensemble from named columns of labels.
///
/// # Panics
/// If they are not an ensemble.
pub fn ensemble(columns: impl IntoIterator<Item = (String, Vec<Option<u32>>)>) -> Ensemble {
    let mut builder: Option<EnsembleBuilder> = None;
    for (name, labels) in columns {
        let builder = builder.get_or_insert_with(|| EnsembleBuilder::new(labels.len()));
        builder.push(name, labels).expect("a column of labels");
    }
    builder
        .and_then(|builder| builder.finish().ok())
        .expect("an ensemble")
}

/// The same ensemble with objects, base clusterings and cluster numbers in another order; and for every object
/// of it, where it stood.
pub fn shuffled(given: &Ensemble, seed: Seed) -> (Ensemble, Vec<u32>) {
    let mut rng = seed.rng();
    let mut objects: Vec<u32> = (0..given.objects() as u32).collect();
    let mut bases: Vec<usize> = (0..given.bases().len()).collect();
    objects.shuffle(&mut rng);
    bases.shuffle(&mut rng);
    let column = |u: usize| {
        let mut names: Vec<u32> = (0..given.bases()[u].clusters() as u32).collect();
        names.shuffle(&mut rng);
        let labels = objects
            .iter()
            .map(|&i| given.label(i as usize, u).map(|j| names[j]))
            .collect();
        (given.bases()[u].name().to_owned(), labels)
    };
    (ensemble(bases.into_iter().map(column)), objects)
}
