//! The list of all families.

mod curves;
mod gaussians;
mod mixed;

use crate::family::{Family, Group};
use crate::{mixtures, pictures};

/// Mixtures whose numbers can be set.
const MIXTURES: &[Family] = &[
    Family::new("gaussians", Group::Blobs, 800)
        .about("isotropic Gaussians; clusters 4, dimensions 2, separation 4 standard deviations")
        .of_settings(mixtures::gaussians),
    Family::new("pcc-gaussians", Group::Overlapping, 800)
        .about("four planar Gaussians, one a quadrant, as in the PCC paper (4 clusters)")
        .of_settings(mixtures::pcc),
    Family::new("blobs", Group::Overlapping, 1000)
        .about("Gaussians of deviation 2, centres uniform in [-6, 6]^d; clusters 10, dimensions 5")
        .of_settings(mixtures::blobs),
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
