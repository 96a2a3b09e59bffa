//! Tables, ensembles, labels and data sets on disk.
//!
//! Pick this crate if you read or write what Partita's programs exchange, or want its data sets. Every error is one
//! line that names the file, the row, the column and the value, and says what to do; no bytes make a reader panic or
//! take memory that the file cannot fill; files appear whole or not at all, and the same content gives the same bytes.
//!
//! | function | reads or writes | time | memory besides the result |
//! |---|---|---|---|
//! | [`read_table`], [`load_table`] | text, spreadsheets, NPY, NPZ, MAT, Parquet, Arrow, AnnData | O(n d) | text: as much again while it grows; arrays: the file |
//! | [`write_table`] | text, NPY, NPZ, Parquet | O(n d) | Parquet: the packed file |
//! | [`read_ensemble`], [`load_ensemble`] | text, NPY, NPZ, MAT, Parquet, Arrow, `obs` of AnnData | O(n M) | 2 to 5 bytes a label |
//! | [`LabelGroups`], [`TableGroups`] | Parquet, Arrow (labels: NPY too), group by group | O(n M) a pass | one group |
//! | [`Manifest`], [`ManifestRows`] | many such files as parts of one ensemble | O(n M) once | one group |
//! | [`write_ensemble`] | text, NPZ, Parquet | O(n M) | Parquet: the packed file |
//! | [`read_labels`] | a column of any of these | O(n) | 4 bytes an object |
//! | [`write_labels`], [`labels_csv`] | text, Parquet, NPY, JSON | O(n) | none |
//! | [`write_label_blocks`] | text, Parquet, NPY, block by block | O(n) | one group |
//! | [`read_runs`] | runs to be aligned: labels, shares, ADMIXTURE and STRUCTURE | O(n K) | the text |
//! | [`read_soft`], [`write_soft`] | a table of probabilities | O(n K) | none |
//! | [`read_edges`] | the edges of a graph: text, Parquet, Arrow | O(m log n) | 60 bytes an edge |
//! | [`read_sparse_table`], [`write_sparse_table`] | sparse tables in SciPy's NPZ, of any layout; Matrix Market; AnnData | O(stored) | as much again |
//! | [`catalogue`], [`verify`] | the data sets that Partita is measured on | O(size) | 64 KiB |
//! | [`write_whole`] | anything, beside its target and then renamed | O(size) | 64 KiB |
//!
//! [`ReadOptions`] say which columns are what, which words are missing values and how text is laid out, for all of these
//! alike; `load_…` also gives [`Roles`]: what every column was taken for and why. Text is CSV, TSV or any other delimited text, packed
//! where the name ends in `.gz`; formats go by the ending of the name. The features `parquet`, `arrow`, `sheets` and
//! `h5ad` are on by default; without them those endings are not known. Deliberately absent: other HDF5 (MATLAB 7.3, loom), nested columns,
//! writing MAT, Arrow and AnnData.
//!
//! ```
//! use partita_files::{ReadOptions, read_ensemble, read_table, write_ensemble};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let csv = folder.path().join("ensemble.csv");
//! std::fs::write(&csv, "object,first,second,label\na,1,x,u\nb,1,,u\nc,2,y,v\n")?;
//!
//! let loaded = read_ensemble(&csv, &ReadOptions::default())?;
//! assert_eq!(loaded.ensemble.label(1, 1), None);
//! assert_eq!(loaded.ensemble.bases()[1].values(), ["x", "y"]);
//!
//! let npz = folder.path().join("ensemble.npz");
//! write_ensemble(&npz, &loaded.ensemble, loaded.truth.as_ref())?;
//! assert_eq!(read_ensemble(&npz, &ReadOptions::default())?, loaded);
//!
//! let table = read_table(&csv, &ReadOptions::default())?;
//! assert_eq!(table.columns, ["first", "second=x", "second=y"]);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod amount;
mod atomic_write;
mod calendar;
mod catalogue;
mod dictionary;
pub mod disk;
mod error;
mod format;
#[cfg(any(target_family = "wasm", test))]
#[cfg_attr(
    not(target_family = "wasm"),
    expect(unreachable_pub, reason = "public in a browser")
)]
mod held_files;
mod label_encoder;
mod label_number;
mod meaning;
mod notation;
mod number;
mod open_file;
mod row_filter;
#[cfg(test)]
mod testing;
mod text_lines;
mod typed_array;
mod unfinished;
mod units;
mod value_kind;
mod word_lists;
mod words;

pub use atomic_write::{place_of_content, remove_whole, without_links, write_as_one, write_whole};
pub use catalogue::{DataKind, DataSet, catalogue, data_set, verify};
pub use error::{Cell, FileError, Row, WrongValue};
pub use format::cluster_table::ClusterTable;
pub use format::{Header, ending_of_content, input_parts};
pub use meaning::base_columns::FrameColumns;
pub use meaning::column_facts::{ColumnFacts, column_facts, column_names};
pub use meaning::edge_list::{EdgeList, read_edges};
pub use meaning::ensemble::{
    LoadedEnsemble, load_ensemble, load_runs, read_ensemble, write_ensemble,
};
pub use meaning::gaps::{column_means, fill_gaps};
pub use meaning::groups::{LabelGroups, TableGroups};
pub use meaning::held_rows::LabelBlock;
pub use meaning::label_column::{LabelColumn, LabelNumbers, Labels};
pub use meaning::label_file::{load_labels, read_labels};
pub use meaning::labels::{
    LabelBlocks, LabelFormat, NO_LABEL, labels_csv, write_label_blocks, write_labels,
    write_named_labels,
};
pub use meaning::manifest::{MANIFEST_VERSION, Manifest, ManifestBase, ManifestFile, ManifestPart};
pub use meaning::manifest_rows::ManifestRows;
pub use meaning::read_options::{Encode, Impute, ReadOptions, Truth};
pub use meaning::roles::{ColumnRole, Reason, Role, Roles};
pub use meaning::run_folder::{
    ListedObjects, LoggedFit, listed_objects, listed_runs, logged_fits, objects_beside,
};
pub use meaning::run_tables::{RunMemberships, RunTable, RunTables, read_runs};
pub use meaning::soft::{read_soft, write_soft};
pub use meaning::sparse_table::{
    SparseTable, is_sparse_table, read_sparse_table, write_sparse_table,
};
pub use meaning::table::{Table, load_table, read_table, write_table};
pub use row_filter::PickError;
pub use sprs;
pub use unfinished::{finished, remove_unfinished, unfinished};
pub use value_kind::ValueKind;
pub use words::MISSING_WORDS;
