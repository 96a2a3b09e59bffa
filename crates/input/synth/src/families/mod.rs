//! The list of all families.

mod curves;
mod gaussians;
mod mixed;

use crate::family::{Family, Group};
use crate::{mixtures, pictures};

/// Mixtures whose numbers can be set.
const MIXTURES: &[Family] = &[
    Family::of_settings(
        "gaussians",
        Group::Blobs,
        800,
        "isotropic Gaussians; clusters 4, dimensions 2, separation 4 standard deviations",
        mixtures::gaussians,
    ),
    Family::of_settings(
        "pcc-gaussians",
        Group::Overlapping,
        800,
        "four planar Gaussians, one a quadrant, as in the PCC paper (4 clusters)",
        mixtures::pcc,
    ),
    Family::of_settings(
        "blobs",
        Group::Overlapping,
        1000,
        "Gaussians of deviation 2, centres uniform in [-6, 6]^d; clusters 10, dimensions 5",
        mixtures::blobs,
    ),
];

/// All families.
#[doc(alias = "synthetic_names")]
pub fn families() -> impl Iterator<Item = &'static Family> + Clone {
    let lists = [
        pictures::PICTURES,
        MIXTURES,
        gaussians::GAUSSIANS,
        curves::CURVES,
        mixed::MIXED,
    ];
    lists.into_iter().flatten()
}
