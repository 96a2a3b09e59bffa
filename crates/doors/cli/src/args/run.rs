//! Flags of `partita run`.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Arg, Args, Command, Id};
use partita::ssce::Predictor;
use partita_app::ClustersAsked;

use super::suggested::{method_names, setting_names};
use super::table::TableReadArgs;
use super::{ComputeArgs, OutputArgs, PageArgs, RecipeArgs};

/// How a table is read and base clusterings are made is in a record, as are these.
const OF_A_NEW_RUN: [&str; 6] = ["table", "clusters", "method", "set", "seed", "describe"];

/// The flags of reading and of base clusterings.
static RECORDED: LazyLock<Vec<Id>> = LazyLock::new(|| {
    let flags = RecipeArgs::augment_args(TableReadArgs::augment_args(Command::new("run")));
    flags
        .get_arguments()
        .map(|flag| flag.get_id().clone())
        .collect()
});

fn not_with_a_record(flag: Arg) -> Arg {
    if RECORDED.contains(flag.get_id()) {
        flag.conflicts_with("from")
    } else {
        flag
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  partita run iris.csv --truth label -k 3 -o out
  partita run table.csv -o out
  partita run table.csv -k auto --scale zscore -o out
  partita run table.csv -k 8 -m eac-average,pcc-kl --base kmeans:200 \\
    --base-k 8..40 --scale zscore -o out
  partita run kddcup99.csv.gz --truth label --encode one-hot \\
    --max-categories 100 --filter-labels smurf.,neptune.,normal. \\
    --max-per-label 40000 --preset kdd -k 3 -m pcc-l2 -o out
  partita run table.csv -k 5 --model model.json -o out
  partita run --from out/record.json -o again

Writes labels.csv (object,label,agreement) and, of a method that has probabilities, soft.csv (object,p0,p1,…) of the first method named, those of the others in a folder each, a report.html beside every labels.csv, and ensemble.npz,
record.json, summary.txt; with -k auto or a range also choice.json, which says how K was chosen.
record.json says which files were read (with their SHA-256), all settings, the machine and the time; `--from` repeats
the run from it. Ctrl-C keeps what is finished, the base clusterings made so far included; the same command with
--resume goes on, also after a kill or a power cut.")]
#[command(mut_args(not_with_a_record))]
pub(crate) struct RunArgs {
    /// A table: one row an object, one column a feature (CSV, Excel, Parquet, NPY …). Or a sparse matrix of SciPy or `partita text`;
    /// .gz and .zst are read too. Labels of several tools go to `partita consensus`.
    #[arg(required_unless_present = "from")]
    pub(crate) table: Option<PathBuf>,
    /// Repeat the run that this record.json is of: the same input files, settings and seed, hence the same labels.
    #[arg(long, value_name = "RECORD.json", conflicts_with_all = OF_A_NEW_RUN)]
    pub(crate) from: Option<PathBuf>,
    /// Repeat the run although an input file has changed since.
    #[arg(long, requires = "from")]
    pub(crate) allow_changed_input: bool,
    #[command(flatten)]
    pub(crate) read: TableReadArgs,
    /// Clusters: a number, a range such as 2..12, auto (the default), significant, or method. Of a range that number is taken which
    /// `partita choose-k` finds, 1 where it finds no clusters; auto is 2..12 and up to a twelfth of the objects, 40 at most, or twice as
    /// many while the number chosen lies in the upper quarter; with significant there is one for every 100 objects at first, 40 at most,
    /// and neighbours between which a test sees no gap are merged (`partita test --help`); with method every method finds its own.
    /// Where no flag of the base clusterings but --scale is given, base clusterings are chosen too (k-means or genie).
    #[arg(short = 'k', long = "clusters", value_name = "K")]
    pub(crate) clusters: Option<ClustersAsked>,
    /// Consensus methods, separated by commas; `partita methods` lists them. [default: lwgp; with -k method eac-average]
    #[arg(short, long, value_name = "METHOD,…", value_delimiter = ',')]
    #[arg(value_parser = method_names(), hide_possible_values = true)]
    pub(crate) method: Vec<String>,
    /// A setting of the methods, such as restarts=3. Or of the one that stands before a dot: pcc-kl.restarts=3. May be given several
    /// times; `partita methods METHOD` lists them.
    #[arg(long, value_name = "[METHOD.]NAME=VALUE", value_parser = setting_names(), hide_possible_values = true)]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) recipe: RecipeArgs,
    #[command(flatten)]
    pub(crate) compute: ComputeArgs,
    /// The folder to write into.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Where a model goes that `partita predict` labels new rows of such a table with.
    #[arg(long, value_name = "MODEL.json")]
    pub(crate) model: Option<PathBuf>,
    /// What the model is: ssce (logistic regression), centroid or knn:5.
    #[arg(long, value_name = "HOW", requires = "model", default_value = "ssce")]
    pub(crate) predict_with: Predictor,
    /// Write no report.html.
    #[arg(long)]
    pub(crate) no_report: bool,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Go on where a run of the same flags into the same folder was cut short: base clusterings that it finished are taken,
    /// and the result has the bytes of an undisturbed run.
    #[arg(long, conflicts_with = "force")]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) out: OutputArgs,
}
