//! k-means on label rows: the one-hot rows of an ensemble, or its rows of shares, which are never built.

mod assignment;
mod choice;
mod climb;
mod counts;
mod exchange;
mod lloyd;
mod plan;
mod quick;
mod sample;
mod scores;
mod starts;
mod swaps;

pub use assignment::{Assignment, Utility};
pub use choice::{LabelChoice, PASSES};
pub use climb::LabelFit;
pub use counts::Counts;
pub use lloyd::{bytes, kmeans};
pub use plan::{Plan, SWAPS, base_weights};
pub use quick::quick_partition;
pub use starts::START_ROWS;
