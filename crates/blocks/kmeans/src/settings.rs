//! Settings of k-means, and where its centres start.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// Where centres start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[doc(alias = "init")]
pub enum Initialization {
    /// k-means++: rows drawn in proportion to their squared distance from the centres so far.
    PlusPlus,
    /// k-means++ where each centre is the best of 2 + ⌊ln k⌋ such draws.
    Greedy,
    /// Distinct rows drawn evenly.
    Random,
}

/// How far apart two rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// Squared Euclidean distance.
    Euclidean,
    /// 1 − cosine of the angle between them (spherical k-means). A row of zeros is at a right angle to all.
    Cosine,
}

/// Settings of [`kmeans`](crate::kmeans). Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct KMeansSettings {
    /// Where centres start.
    #[doc(alias = "init")]
    pub initialization: Initialization,
    /// How far apart two rows are.
    pub distance: Distance,
    /// Most iterations of assigning rows and moving centres.
    #[doc(alias = "max_iter")]
    pub iterations: NonZeroU32,
    /// Stop when the squared moves of all centres sum to no more than this times the mean variance of the
    /// columns (the meaning that scikit-learn gives it).
    #[doc(alias = "tol")]
    pub tolerance: f64,
}

impl Default for KMeansSettings {
    fn default() -> Self {
        Self {
            initialization: Initialization::PlusPlus,
            distance: Distance::Euclidean,
            iterations: NonZeroU32::new(300).expect("300 is not 0"),
            tolerance: 1e-4,
        }
    }
}
