//! What is written: results, records, pages.

pub(crate) mod label_blocks;
pub(crate) mod one_line;
pub(crate) mod outputs;
pub(crate) mod page;
pub(crate) mod posterior_files;
pub(crate) mod record;
pub(crate) mod result_files;
pub(crate) mod row_report;
pub(crate) mod summary;
pub(crate) mod tree_file;
