//! The files of the system; where it has none, as in a browser, those that a program holds.

#[cfg(not(target_family = "wasm"))]
pub use std::fs::{File, create_dir_all, metadata, read, remove_file, write};

#[cfg(target_family = "wasm")]
pub use crate::held_files::{File, create_dir_all, metadata, read, remove_file, write};
