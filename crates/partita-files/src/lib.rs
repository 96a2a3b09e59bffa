//! Tables, ensembles, labels and data sets on disk.
//!
//! Pick this crate if you read or write what Partita's programs exchange, or want its data sets. Every error is one
//! line that names the file, the row, the column and the value, and says what to do; no bytes make a reader panic or
//! take memory that the file cannot fill; files appear whole or not at all, and the same content gives the same bytes.
//!
//! | function | reads or writes | time | memory besides the result |
//! |---|---|---|---|
//! | [`read_table`] | text, NPY, NPZ, MAT, Parquet | O(n d) | text: as much again while it grows; arrays: the file |
//! | [`write_table`] | text, NPY, NPZ, Parquet | O(n d) | Parquet: the packed file |
//! | [`read_ensemble`] | text, NPY, NPZ, MAT, Parquet | O(n M) | 2 to 5 bytes a label |
//! | [`LabelGroups`] | Parquet, label rows group by group | O(n M) a pass | one group: 2 bytes a label |
//! | [`write_ensemble`] | text, NPZ, Parquet | O(n M) | Parquet: the packed file |
//! | [`read_labels`] | a column of any of these | O(n) | 4 bytes an object |
//! | [`write_labels`], [`labels_csv`] | text | O(n) | none |
//! | [`read_soft`], [`write_soft`] | a table of probabilities | O(n K) | none |
//! | [`read_sparse_npz`], [`write_sparse_npz`] | sparse counts in SciPy's NPZ | O(stored) | one array |
//! | [`catalogue`], [`verify`] | the data sets that Partita is measured on | O(size) | 64 KiB |
//! | [`synthesise`], [`draw_ensemble`] | point sets and ensembles drawn from a recipe | O(n d K) | none |
//! | [`write_whole`] | anything, beside its target and then renamed | O(size) | 64 KiB |
//!
//! Text is CSV, TSV or any other delimited text, packed where the name ends in `.gz`; formats go by the ending of the
//! name. Deliberately absent: MATLAB 7.3 (HDF5), Excel, nested Parquet columns, writing MAT.
//!
//! ```
//! use partita_files::{EnsembleOptions, TableOptions, read_ensemble, read_table, write_ensemble};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let csv = folder.path().join("ensemble.csv");
//! std::fs::write(&csv, "object,first,second,label\na,1,x,u\nb,1,,u\nc,2,y,v\n")?;
//!
//! let loaded = read_ensemble(&csv, &EnsembleOptions::default())?;
//! assert_eq!(loaded.ensemble.label(1, 1), None);
//! assert_eq!(loaded.ensemble.bases()[1].values(), ["x", "y"]);
//!
//! let npz = folder.path().join("ensemble.npz");
//! write_ensemble(&npz, &loaded.ensemble, loaded.truth.as_ref())?;
//! assert_eq!(read_ensemble(&npz, &EnsembleOptions::default())?, loaded);
//!
//! let error = read_table(&csv, &TableOptions::default()).unwrap_err().to_string();
//! assert!(error.contains("ensemble.csv, line 2, column 'second': 'x' is not a number; correct it"));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod archive;
mod catalogue;
mod coded;
mod columns;
mod ensemble;
mod ensemble_binary;
mod ensemble_npz;
mod ensemble_parquet;
mod error;
mod features;
mod input;
mod label_groups;
mod labels;
mod labels_binary;
mod mat;
mod npy;
mod npz;
mod number;
mod parquet_file;
mod parquet_pages;
mod pick;
mod raw;
mod soft;
mod sparse_npz;
mod sparse_table;
mod synth;
mod table;
mod table_binary;
mod table_parquet;
mod text;
mod whole;

use input::Compression;

pub use catalogue::{DataKind, DataSet, catalogue, data_set, verify};
pub use ensemble::{EnsembleOptions, LoadedEnsemble, read_ensemble, write_ensemble};
pub use error::{Cell, FileError, Row};
pub use label_groups::LabelGroups;
pub use labels::{LabelColumn, Labels, label_lines, labels_csv, read_labels, write_labels};
pub use pick::PickError;
pub use soft::{read_soft, write_soft};
pub use sparse_npz::{SparseCounts, read_sparse_npz, write_sparse_npz};
pub use sparse_table::{SparseTable, is_sparse_table, read_sparse_table, write_sparse_table};
pub use synth::{SynthError, SynthSettings, Synthetic, SyntheticName, draw_ensemble, synthesise, synthetic_names};
pub use table::{Table, TableOptions, read_table, write_table};
pub use table_parquet::TableGroups;
pub use text::Header;
pub use whole::write_whole;
