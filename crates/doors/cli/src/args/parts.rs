//! Flags of `partita distributed plan`, `partita distributed run` and `partita distributed merge`: label rows in parts.

use std::path::PathBuf;

use clap::Args;
use partita_distributed::LabelEnding;

use super::MachineArgs;
use super::suggested::{method_names, setting_names};
use super::table::ReadArgs;
use super::values::part_labels;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita distributed plan labels/*.parquet -o m.json
  partita distributed plan labels/*.parquet --rows-per-part 1000000 -o m.json
  partita distributed plan labels/*.parquet --columns 1 -o one.json
  partita consensus m.json -m lwgp -k 3 -o out/")]
pub(crate) struct ManifestArgs {
    /// Ensembles in Parquet, Arrow or NPY whose rows follow each other, or folders of such files. All have the same columns;
    /// labels are whole numbers.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Where the manifest goes. Paths in it are relative to its folder.
    #[arg(short, long, value_name = "M.json")]
    pub(crate) output: PathBuf,
    /// Rows of a part, about: as many whole row groups as fit, at least one.
    #[arg(long, alias = "rows-a-part", value_name = "N", default_value_t = 1 << 22)]
    pub(crate) rows_per_part: u64,
    /// These columns alone are base clusterings, by name or position from 1, also one called label: true labels for `evaluate`, or the
    /// labels of another run.
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', conflicts_with_all = ["skip", "truth", "no_truth", "id"])]
    pub(crate) columns: Vec<String>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// Replace a manifest that exists.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita distributed run m.json --job fit/round1.job --part 0
  partita distributed run m.json --job fit/round1.job --part all")]
pub(crate) struct PassArgs {
    /// The manifest.
    pub(crate) manifest: PathBuf,
    /// What to do: the job that `partita distributed merge` named.
    #[arg(long, alias = "model", value_name = "JOB")]
    pub(crate) job: PathBuf,
    /// The part, from 0; parts such as 0..9; or all. A part that was done is left as it is.
    #[arg(long, value_name = "PART", value_parser = parse_parts)]
    pub(crate) part: PartsAsked,
    /// Where the sum of one part goes. Labels go beside it, to a name that ends in .csv. [default: beside the job]
    #[arg(short, long, value_name = "FILE.sum")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// Replace a file that is there and is something else.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Parts from a first to a last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartsAsked {
    pub(crate) first: usize,
    /// None is the last that there is.
    pub(crate) last: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita distributed merge m.json -m lwgp -k 3 -o fit

A consensus in rounds, on as many machines as there are, which share nothing but files:
  while :; do
    job=$(partita distributed merge m.json -m lwgp -k 10 -o fit) || exit
    [ \"$job\" ] || break
    partita distributed run m.json --job \"$job\" --part all || exit
  done
  cat fit/labels.*.csv > labels.csv

Prints the job that `partita distributed run` needs next, for every part; nothing when all labels are there.")]
pub(crate) struct FoldArgs {
    /// The manifest.
    pub(crate) manifest: PathBuf,
    /// Sums of the round, where they are not beside its job; all parts must be there then.
    pub(crate) sums: Vec<PathBuf>,
    /// The folder of the fit: jobs, sums, labels, record.json, report.html. It goes on where the one before ended.
    #[arg(short, long, value_name = "FIT/")]
    pub(crate) output: PathBuf,
    /// The consensus method: one that reads rows in blocks (`partita methods`). [default: lwgp; after the first time: the same]
    #[arg(short, long, value_name = "METHOD", value_parser = method_names(), hide_possible_values = true)]
    pub(crate) method: Option<String>,
    /// Clusters of the consensus. Needed the first time.
    #[arg(short = 'k', long = "clusters", value_name = "K")]
    pub(crate) clusters: Option<usize>,
    /// A setting of the method; may be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting_names(), hide_possible_values = true)]
    pub(crate) set: Vec<String>,
    /// Where all random numbers start. [default: 0]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Weights of the base clusterings, for methods that take them: `agreement`, or a CSV with the columns name and weight.
    #[arg(long, value_name = "agreement|FILE.csv")]
    pub(crate) base_weights: Option<PathBuf>,
    /// The format of the files that labels of parts go to. NPY has the labels alone. [default: csv]
    #[arg(long, value_name = "FORMAT", value_parser = part_labels())]
    pub(crate) labels: Option<LabelEnding>,
    /// Write no report.html when all labels are there.
    #[arg(long)]
    pub(crate) no_report: bool,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// Print what comes next, or the record, as one JSON object instead.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A part, parts from a first to a last, or all.
fn parse_parts(text: &str) -> Result<PartsAsked, String> {
    let number = |text: &str| {
        text.parse()
            .map_err(|_| "write a number, numbers as 0..9, or all".to_owned())
    };
    match text.split_once("..") {
        None if text == "all" => Ok(PartsAsked {
            first: 0,
            last: None,
        }),
        None => number(text).map(|part| PartsAsked {
            first: part,
            last: Some(part),
        }),
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last)?);
            let reversed = || format!("{text} is reversed; write the parts as 0..9");
            if first > last {
                Err(reversed())
            } else {
                Ok(PartsAsked {
                    first,
                    last: Some(last),
                })
            }
        }
    }
}
