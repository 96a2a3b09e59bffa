//! k-means on label rows: the one-hot rows of an ensemble, which are never built.

mod counts;
mod lloyd;
mod rows;
mod scores;

pub use counts::Counts;
pub use lloyd::{Fit, Plan, kmeans};
pub use rows::{RowVisitor, WeightedLabelRows, base_weights, with_rows};
pub use scores::Assignment;
