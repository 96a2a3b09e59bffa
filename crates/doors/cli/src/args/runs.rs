//! Flags of the commands that look at runs instead of making one consensus: `modes` and `align`.

use std::path::PathBuf;

use clap::Args;

use super::table::{EnsembleReadArgs, FileArgs};
use super::{OutputArgs, ThreadArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita modes ensemble.npz
  partita modes labels_of_many_tools.csv -o modes/ --json

Base clusterings are divided into groups of noisy copies of one answer; as many groups as describe all labels in the
fewest nats. More than one means that no single consensus does justice to the ensemble. DIR gets modes.json, objects.csv
(the labels of every object, and how much the answers differ on it), and mode1/labels.csv, mode1/soft.csv, ….")]
pub(crate) struct ModesArgs {
    /// An ensemble: one row an object, one column a base clustering.
    pub(crate) ensemble: PathBuf,
    #[command(flatten)]
    pub(crate) read: EnsembleReadArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// A folder that gets labels and probabilities of every mode.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita align run.2.Q run.3.Q run.4.Q -o aligned/
  partita align labels_of_many_tools.csv -o aligned/
  partita align run.3.Q run.4.Q --populations samples.csv:pop -o aligned/
  partita align run.2.Q run.3.Q run.4.Q -o aligned/ --ensemble runs.npz

Runs are ADMIXTURE, fastStructure, STRUCTURE and CLUMPP files (.Q, .meanQ, _f, .indivq, .indfile, .outfile), archives of such
files (.zip), a file map of pong, tables of shares (columns name.p0, name.p1, … are one run each), or labels, a column a run.
Where they or logs beside them say how well each K fits, fit.csv holds it: errors of cross-validation, log-likelihoods, and
the delta K of Evanno. cost is |P - QM|^2 / (2n) over matched columns,
similarity 1 - sqrt(cost), as in CLUMPP. DIR gets runs.csv, modes.csv, columns.csv, alignment.json, memberships.svg and
the runs themselves in common columns under aligned/.")]
pub(crate) struct AlignArgs {
    /// Files of one or several runs each, of the same objects.
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Runs with as many clusters form one mode if they are at least so similar on average (pong takes 0.97). [default: if they
    /// differ by no more than noise, which is found from the runs themselves]
    #[arg(long, value_name = "S", value_parser = similarity)]
    pub(crate) similarity: Option<f64>,
    /// The population of every object, in their order: a file, and the column if it is not called `label` and there are
    /// several. The picture is ordered by it. [default: what STRUCTURE and CLUMPP write, or a .ind2pop, .popfile, .ind or .fam beside the runs]
    #[arg(long, value_name = "FILE[:COLUMN]")]
    pub(crate) populations: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) read: FileArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// The folder that gets everything.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Where all runs go as one ensemble, a soft base clustering a run, that `partita consensus` reads.
    #[arg(long, value_name = "ENSEMBLE.npz")]
    pub(crate) ensemble: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
}

fn similarity(text: &str) -> Result<f64, String> {
    let value = text
        .parse::<f64>()
        .ok()
        .filter(|value| (0.0..=1.0).contains(value));
    value.ok_or_else(|| "write a number between 0 and 1".into())
}
