//! Flags of `partita update`.

use std::path::PathBuf;

use clap::Args;
use partita_app::Adding;

use super::table::EnsembleReadArgs;
use super::{OutputArgs, ThreadArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita update ensemble.npz --add more_runs.csv -o larger.npz
  partita update labels_of_many_tools.csv --add new_cells.csv -o all.csv
  partita update ensemble.npz --add more_runs.csv -o larger.npz \\
    --warm-start labels.csv --labels new_labels.csv
  partita update ensemble.npz --add more_runs.csv -o larger.npz \\
    --overlap overlap.npz

Base clusterings are matched with objects by the names of the objects, or by order where a file has none; objects with base
clusterings by the names of the columns, and labels by their values.")]
pub(crate) struct UpdateArgs {
    /// An ensemble: one row an object, one column a base clustering.
    pub(crate) ensemble: PathBuf,
    /// What is added: base clusterings of the same objects (columns that the ensemble does not have), or objects (rows with
    /// all its columns).
    #[arg(long, value_name = "RUNS|ROWS")]
    pub(crate) add: PathBuf,
    /// What the file adds, where its columns leave that open: runs or rows.
    #[arg(long = "as", value_name = "runs|rows")]
    pub(crate) adding: Option<Adding>,
    /// Where the larger ensemble goes (NPZ, CSV, TSV or Parquet); the place of the first if not given, with --force.
    #[arg(short, long, value_name = "NEW")]
    pub(crate) output: Option<PathBuf>,
    /// A table of the objects that each pair of base clusters shares: read if the file exists, counted on without another look
    /// at pairs that it has, and written.
    #[arg(long, value_name = "OVERLAP.npz")]
    pub(crate) overlap: Option<PathBuf>,
    /// Labels of the objects so far, or a model: a mixture of labels (mm) goes on from there, and clusters keep their numbers.
    #[arg(long, value_name = "LABELS.csv|MODEL.json", requires = "labels")]
    pub(crate) warm_start: Option<PathBuf>,
    /// Where the labels of all objects go that the warm start leads to (object,label,agreement).
    #[arg(long, value_name = "NEW_LABELS.csv", requires = "warm_start")]
    pub(crate) labels: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) read: EnsembleReadArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
}
