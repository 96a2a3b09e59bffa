//! The inputs of an experiment: files, and what a program holds.

pub(crate) mod data;
pub(crate) mod file_kind;
pub(crate) mod generate;
pub(crate) mod given;
pub(crate) mod graph;
pub(crate) mod input_file;
pub(crate) mod input_notes;
pub(crate) mod inputs;
pub(crate) mod joined;
pub(crate) mod label_files;
pub(crate) mod label_like;
pub(crate) mod left_out;
pub(crate) mod matching;
pub(crate) mod objects;
pub(crate) mod pairs;
pub(crate) mod table;
pub(crate) mod variance;
pub(crate) mod weights;
