//! What a family of synthetic tables is: its name, group, usual size, and how it is drawn.

use std::fmt;

use partita_core::Seed;

use crate::draw::{Part, Uniform};
use crate::settings::{SynthError, SynthSettings};

/// What the tables of a family have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Group {
    /// Round clusters of the same size, well apart.
    Blobs,
    /// Round clusters that overlap.
    Overlapping,
    /// Clusters of very different numbers of objects.
    UnequalSizes,
    /// Clusters of very different density.
    UnequalDensity,
    /// Long Gaussians.
    Anisotropic,
    /// Rings, and clusters inside others.
    Rings,
    /// Arcs: moons, crossing and nested.
    Arcs,
    /// Spirals.
    Spirals,
    /// Stripes, straight or bent.
    Stripes,
    /// Curves and sheets in three dimensions.
    Chains,
    /// Clusters that a few objects connect.
    Bridges,
    /// Clusters among objects that belong to none.
    Noise,
    /// Columns on very different scales.
    Unscaled,
    /// Pictures of several shapes.
    Pictures,
    /// One cluster or none.
    One,
}

impl Group {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blobs => "blobs",
            Self::Overlapping => "overlapping",
            Self::UnequalSizes => "unequal sizes",
            Self::UnequalDensity => "unequal density",
            Self::Anisotropic => "anisotropic",
            Self::Rings => "rings",
            Self::Arcs => "arcs",
            Self::Spirals => "spirals",
            Self::Stripes => "stripes",
            Self::Chains => "chains",
            Self::Bridges => "bridges",
            Self::Noise => "noise",
            Self::Unscaled => "unscaled",
            Self::Pictures => "pictures",
            Self::One => "one cluster",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which half of the families one belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Looked at while defaults are chosen.
    Tuned,
    /// Kept for measuring what was chosen.
    HeldOut,
}

/// A family of synthetic tables.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Family {
    /// What it is called.
    pub name: &'static str,
    /// What its tables have in common with others.
    pub group: Group,
    /// What it draws.
    pub about: &'static str,
    /// A good number of objects to ask for.
    pub objects: usize,
    pub(crate) make: Make,
}

/// How a family's recipe is made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Make {
    /// From random numbers for its layout.
    Layout(fn(Uniform<'_>) -> Recipe),
    /// From settings.
    Settings(FromSettings),
}

type FromSettings = fn(&str, Seed, &SynthSettings) -> Result<Recipe, SynthError>;

impl Family {
    pub(crate) const fn new(name: &'static str, group: Group, objects: usize) -> Self {
        Self {
            name,
            group,
            about: "",
            objects,
            make: Make::Layout(|_| Recipe::of(Vec::new())),
        }
    }

    pub(crate) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// Drawn by a recipe that takes random numbers for its layout.
    pub(crate) const fn drawn(self, make: fn(Uniform<'_>) -> Recipe) -> Self {
        let make = Make::Layout(make);
        Self { make, ..self }
    }

    /// Drawn by a recipe that takes settings.
    pub(crate) const fn of_settings(self, make: FromSettings) -> Self {
        let make = Make::Settings(make);
        Self { make, ..self }
    }

    /// Its half: the parity of a hash of its name (FNV-1a, its upper bits).
    pub fn half(&self) -> Half {
        let hash = self
            .name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        if (hash >> 40).is_multiple_of(2) {
            Half::Tuned
        } else {
            Half::HeldOut
        }
    }
}

/// A point of a cluster.
pub(crate) type Draw = dyn Fn(usize, Uniform<'_>) -> Vec<f64>;

/// The probability of every component given a point.
pub(crate) type Posterior = dyn Fn(&[f64]) -> Vec<f64>;

/// How to draw a data set.
pub(crate) struct Recipe {
    /// Size of each cluster in proportion.
    pub(crate) shares: Vec<f64>,
    pub(crate) draw: Box<Draw>,
    pub(crate) posterior: Option<Box<Posterior>>,
    /// Whether the last share belongs to no cluster.
    pub(crate) noise: bool,
}

impl Recipe {
    /// Parts with their shares, a cluster each.
    pub(crate) fn of(parts: Vec<(f64, Part)>) -> Self {
        let (shares, parts): (Vec<f64>, Vec<Part>) = parts.into_iter().unzip();
        Self {
            shares,
            draw: Box::new(move |part, u| parts[part](u)),
            posterior: None,
            noise: false,
        }
    }

    /// The same with a last part that belongs to no cluster: a share of all objects, even over a box.
    pub(crate) fn with_noise(mut self, share: f64, low: &[f64], high: &[f64]) -> Self {
        let (last, total) = (self.shares.len(), self.shares.iter().sum::<f64>());
        self.shares.push(total * share / (1.0 - share));
        let (draw, low, high) = (self.draw, low.to_vec(), high.to_vec());
        self.draw = Box::new(move |part, u| {
            if part < last {
                draw(part, u)
            } else {
                low.iter()
                    .zip(&high)
                    .map(|(l, h)| l + u() * (h - l))
                    .collect()
            }
        });
        self.noise = true;
        self
    }

    /// The same with every column multiplied.
    pub(crate) fn scaled(mut self, factors: Vec<f64>) -> Self {
        let draw = self.draw;
        self.draw = Box::new(move |part, u| {
            draw(part, u)
                .iter()
                .zip(&factors)
                .map(|(x, f)| x * f)
                .collect()
        });
        self
    }
}
