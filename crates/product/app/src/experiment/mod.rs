//! What is to be computed, from which files, with which settings.

pub(crate) mod clusters;
pub(crate) mod description;
pub(crate) mod file_names;
pub(crate) mod recipes;
