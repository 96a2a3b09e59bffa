//! Running an experiment: on rows that are held, and on rows that are read block by block.

pub(crate) mod by_blocks;
pub(crate) mod consensus;
pub(crate) mod folder;
pub(crate) mod held;
pub(crate) mod number_of_clusters;
pub(crate) mod result;
pub(crate) mod row_consensus;
pub(crate) mod row_source;
pub(crate) mod significance;
pub(crate) mod stored_labels;
