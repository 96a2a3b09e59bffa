//! Evidence about pairs of objects: counts of all pairs, of some, or with every pair counting the same.

mod dense;
mod normalised_counts;
mod sparse;
mod view;
mod weighted;

pub use dense::Dense;
pub(crate) use dense::REMEDY;
pub use normalised_counts::NormalisedCounts;
pub use sparse::Sparse;
pub use view::Evidence;
pub(crate) use view::{Evenness, LocalPairs};
pub use weighted::WeightedPairs;
