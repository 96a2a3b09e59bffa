//! k-means on label rows: the one-hot rows of an ensemble, which are never built.

mod assignment;
mod counts;
mod exchange;
mod held;
mod lloyd;
mod passes;
mod quick;
mod rounds;
mod rows;
mod scores;
mod swaps;

pub use assignment::{Assignment, Utility};
pub use counts::Counts;
pub use held::Fit;
pub use lloyd::{START_ROWS, kmeans};
pub use passes::{LabelChoice, PASSES, RowsFit, bytes_over, kmeans_over};
pub use quick::quick_partition;
pub use rounds::{Plan, SWAPS};
pub use rows::{
    RowVisitor, WeightedLabelRows, base_weights, places, with_rows, with_weighted_rows,
};
