//! Drawn ensembles of many shapes, for measuring optimisers.

use partita::extend::Shares;
use partita::extend::rand::{Rng, RngExt};
use partita::{BaseWeights, Ensemble, EnsembleBuilder, ObjectWeights, Seed};

/// What is particular about a drawn ensemble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Renamed clusters with some labels wrong.
    Plain,
    /// Up to 70 % of the labels are missing.
    Missing,
    /// Few base clusterings of few clusters, so that most rows are there several times.
    Duplicates,
    /// One base clustering puts all objects into one cluster.
    Constant,
    /// One base clustering gives every object a cluster of its own.
    Singletons,
    /// Labels are drawn by chance.
    Chance,
    /// Base clusterings split and join the clusters.
    Granular,
    /// One cluster has most of the objects.
    Unequal,
}

const SHAPES: [Shape; 8] = [
    Shape::Plain,
    Shape::Missing,
    Shape::Duplicates,
    Shape::Constant,
    Shape::Singletons,
    Shape::Chance,
    Shape::Granular,
    Shape::Unequal,
];

/// An ensemble, and the number of clusters that it is asked for.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it is called.
    pub name: String,
    /// Base clusterings.
    pub ensemble: Ensemble,
    /// Clusters asked for, K.
    pub clusters: usize,
    /// Weights of base clusterings, where they count differently.
    pub base_weights: Option<BaseWeights>,
    /// Weights of objects, where they count differently.
    pub object_weights: Option<ObjectWeights>,
}

impl Case {
    /// An ensemble without weights.
    pub fn plain(name: String, ensemble: Ensemble, clusters: usize) -> Self {
        Self {
            name,
            ensemble,
            clusters,
            base_weights: None,
            object_weights: None,
        }
    }
}

/// What the labels of an ensemble are drawn by.
struct Plan {
    shape: Shape,
    bases: usize,
    clusters: usize,
    truth: Vec<usize>,
    /// Chance of a missing label, and of a wrong one.
    missing: f64,
    noise: f64,
    /// For every object a base clustering that labels it.
    kept: Vec<usize>,
}

impl Plan {
    fn draw(shape: Shape, most: usize, rng: &mut impl Rng) -> Self {
        let mut between = |low: usize, high: usize| {
            let (low, high) = (low as f64, high.max(low) as f64);
            (low * (high / low).powf(rng.random::<f64>())).round() as usize
        };
        let objects = between(6, most);
        let bases = if shape == Shape::Duplicates {
            between(2, 6)
        } else {
            between(2, 100)
        };
        let clusters = between(2, 15.min(objects / 2).max(2));
        let mut own = |i: usize| {
            if shape == Shape::Unequal && rng.random_bool(0.8) {
                0
            } else {
                i % clusters
            }
        };
        let truth = (0..objects).map(&mut own).collect();
        let (missing, noise) = (0.7 * rng.random::<f64>(), 0.4 * rng.random::<f64>());
        let kept = (0..objects).map(|_| rng.random_range(0..bases)).collect();
        Self {
            shape,
            bases,
            clusters,
            truth,
            missing,
            noise,
            kept,
        }
    }

    /// Labels of base clustering `u`.
    fn column(&self, u: usize, rng: &mut impl Rng) -> Vec<Option<usize>> {
        let &Self {
            shape,
            clusters,
            missing,
            noise,
            ..
        } = self;
        let many = if shape == Shape::Granular {
            rng.random_range(2..=2 * clusters)
        } else {
            clusters
        };
        let mut label = |(i, &truth): (usize, &usize)| {
            let own = if many > clusters {
                truth + clusters * (i / clusters % 2)
            } else {
                truth
            };
            let wrong = shape == Shape::Chance || rng.random_bool(noise);
            let label = if wrong {
                rng.random_range(0..many)
            } else {
                own % many
            };
            match (u, shape) {
                (0, Shape::Constant) => Some(0),
                (0, Shape::Singletons) => Some(i),
                (_, Shape::Missing) if self.kept[i] != u && rng.random_bool(missing) => None,
                _ => Some(label),
            }
        };
        self.truth.iter().enumerate().map(&mut label).collect()
    }
}

/// The ensemble of this number: 6 to `most` objects, 2 to 100 base clusterings, 2 to 15 clusters, in turn of every [`Shape`].
pub fn drawn(number: u64, most: usize) -> Case {
    let mut rng = Seed::new(number).child(77).rng();
    let shape = SHAPES[number as usize % SHAPES.len()];
    let plan = Plan::draw(shape, most, &mut rng);
    let mut builder = EnsembleBuilder::new(plan.truth.len());
    for u in 0..plan.bases {
        let labels = plan.column(u, &mut rng);
        // A base clustering without any label is not one.
        if labels.iter().any(Option::is_some) {
            builder
                .push(format!("u{u}"), labels)
                .expect("a label or none for every object");
        }
    }
    let ensemble = builder.finish().expect("some base clustering has labels");
    Case::plain(
        format!("{number} {shape:?}").to_lowercase(),
        ensemble,
        plan.clusters,
    )
}

/// The ensemble of this number with doubt: in every other base clustering an object has 50 to 100 % of its label and the rest of
/// others, base clusterings have weights of 1 to 3 and objects of 1 to 4.
pub fn drawn_with_doubt(number: u64, most: usize) -> Case {
    let case = drawn(number, most);
    let mut rng = Seed::new(number).child(78).rng();
    let objects = case.ensemble.objects();
    let bases = case.ensemble.bases();
    let mut builder = EnsembleBuilder::new(objects);
    for (u, base) in bases.iter().enumerate() {
        let mut shares = case.ensemble.base_shares(u).rows().to_owned();
        for mut row in shares.rows_mut() {
            let (kept, other) = (
                rng.random_range(0.5..1.0),
                rng.random_range(0..base.clusters()),
            );
            if u % 2 == 0 && row.sum() > 0.0 {
                row *= kept;
                row[other] += 1.0 - kept;
            }
        }
        let values = (0..base.clusters()).map(|j| j.to_string()).collect();
        let shares = Shares::new(shares).expect("rows that sum to 1");
        builder
            .push_soft(base.name(), values, &shares, base.clusters())
            .expect("shares of every object");
    }
    let of_bases = (0..bases.len())
        .map(|_| rng.random_range(1.0..3.0))
        .collect();
    let of_objects = (0..objects)
        .map(|_| f64::from(rng.random_range(1..=4_u8)))
        .collect();
    Case {
        ensemble: builder.finish().expect("base clusterings of these objects"),
        base_weights: Some(
            BaseWeights::new(of_bases)
                .expect("weights above 0")
                .in_proportion(),
        ),
        object_weights: Some(ObjectWeights::new(of_objects).expect("weights above 0")),
        ..case
    }
}
