//! Tables, ensembles, labels and data sets on disk.

mod archive;
mod catalogue;
mod coded;
mod columns;
mod ensemble;
mod ensemble_binary;
mod ensemble_npz;
mod ensemble_parquet;
mod error;
mod input;
mod labels;
mod labels_binary;
mod mat;
mod npy;
mod npz;
mod number;
mod parquet_file;
mod raw;
mod soft;
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
pub use labels::{LabelColumn, Labels, labels_csv, read_labels, write_labels};
pub use soft::{read_soft, write_soft};
pub use synth::{SynthError, SynthSettings, Synthetic, SyntheticName, draw_ensemble, synthesise, synthetic_names};
pub use table::{Table, TableOptions, read_table, write_table};
pub use text::Header;
pub use whole::write_whole;
