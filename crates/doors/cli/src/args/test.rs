//! Flags of `test`.

use std::path::PathBuf;

use clap::Args;
use partita::generate::Scale;

use super::table::TableReadArgs;
use super::{ComputeArgs, OutputArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita test labels.csv --table table.csv
  partita test out
  partita test clustered.csv:leiden -o merged.csv --tree tree.nwk
  partita test labels.csv --table table.csv --alpha 0.01 --json

Labels may come from any tool: make more clusters than there are, and test. Two clusters are separate if in a straight corridor
from one to the other there is a place that is emptier than both ends, on rows that were not used to choose the corridor or
the place. Neighbours with the largest p-value above --alpha are merged until there is none. What is left is
  established              a gap, all splits that were left in view (Holm);
  separate at alpha alone  a gap, if this is the only split that is asked about;
  cannot tell              too few rows, or values of too few kinds, to see a gap if there were one.
\"No gap seen\" does not mean \"the same\": populations whose means are less than about three standard deviations apart have no gap.
A cluster needs some 30 rows. The test merges and never splits: a cluster with parts of two populations joins them. Rows must be
independent, and not coordinates of t-SNE or UMAP, which tear gaps open, nor imputed or smoothed; batches are real gaps.
Rows with a missing value are left out of the test unless --impute mean is given; rows without a label are in no cluster, but a gap
in which they lie is not empty.")]
pub(crate) struct TestArgs {
    /// The labels: a file, and the column if it is not called `label` and there are several (FILE:COLUMN); the folder of a
    /// run, whose table is read again; or, without --table, a table that has them in a column.
    pub(crate) labels: PathBuf,
    /// The table that the clusters were made of. Objects are matched by name where both files have names, else by position.
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,
    /// Rows of the table that the labels do not have are without a label; otherwise they are refused.
    #[arg(long)]
    pub(crate) common: bool,
    /// The probability with which one population that was cut may be left split.
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    pub(crate) alpha: f64,
    /// How often the rows are divided into a half that chooses and a half that is counted; p is the median over them.
    #[arg(long, value_name = "S", default_value_t = 4)]
    pub(crate) halvings: u32,
    /// Merge clusters that cannot be tested with the neighbour from which they are least separate.
    #[arg(long)]
    pub(crate) merge_small: bool,
    /// How columns are scaled: none, zscore, minmax, mixed or auto. Use the table that was clustered. [default: as the run did,
    /// else auto: z-scores where a column's spread is more than 3 times that of the median column]
    #[arg(long, value_name = "HOW")]
    pub(crate) scale: Option<Scale>,
    #[command(flatten)]
    pub(crate) read: TableReadArgs,
    #[command(flatten)]
    pub(crate) compute: ComputeArgs,
    /// Where the merged labels go (object,label,label_name).
    #[arg(short, long, value_name = "LABELS.csv")]
    pub(crate) output: Option<PathBuf>,
    /// Where the tree over the clusters goes (Newick; nodes are called by their p-values).
    #[arg(long, value_name = "TREE.nwk")]
    pub(crate) tree: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
}
