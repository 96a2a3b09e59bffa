//! What files mean: tables, ensembles, labels, soft partitions, written once over the readers of all formats.

pub(crate) mod base_columns;
pub(crate) mod column_facts;
mod complaints;
pub(crate) mod ensemble;
mod features;
mod frame;
pub(crate) mod gaps;
pub(crate) mod groups;
pub(crate) mod held_rows;
pub(crate) mod label_column;
pub(crate) mod label_file;
mod label_rows;
pub(crate) mod labels;
pub(crate) mod manifest;
pub(crate) mod manifest_rows;
mod numbers;
pub(crate) mod read_options;
pub(crate) mod roles;
mod rules;
pub(crate) mod run_folder;
pub(crate) mod run_tables;
pub(crate) mod soft;
mod soft_columns;
pub(crate) mod sparse_table;
mod stored_ensemble;
pub(crate) mod table;
mod values;
